"""Relations: one YAML file each, with cloze variants and examples that read as rendered."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from factdrift.builders.core.config import Strict, did_you_mean, display_path, load, mistakes
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import require_own_file, resource
from factdrift.builders.facts.extending import extended, missing_base
from factdrift.builders.rows import Specifier
from factdrift.builders.text.render import (
    QUESTION_ROLES,
    Role,
    parse_phrase,
    parse_template,
    query,
    question,
    sentence,
)

# It matches `P54` and `P54-club`, but not `P0` or `P54-`.
_PROPERTY = "^P[1-9][0-9]*(-[a-z]+)*$"
# It matches `dynamic-templama`, but not `Dynamic` or `ckl-`.
_WORDING = "^[a-z0-9]+(-[a-z0-9]+)*$"
TEMPLATES = resource("templates")
"""The folder with the project's own templates."""
OURS = "ours"
"""The name of the sentences under `cloze`, beside the names of the sets under `wordings`."""


def _valid_relation(relation: str) -> str:
    if not re.match(_PROPERTY, relation):
        raise ValueError(f"{relation!r} is not a property id such as P54, nor P54-club")
    return relation


def property_of(relation: str) -> str:
    """The property id of a relation: `P54` of `P54-club`."""
    return relation.partition("-")[0]


def _whole_text(text: str, roles: Sequence[Role], end: str, mistake_text: str) -> str:
    """Return a template that begins with a capital letter and ends with `end`.

    Raises one `ValueError` with all that is wrong in it. A text that begins with a slot has no
    first letter to check.
    """
    mistake_texts: list[str] = []
    try:
        first_part: object = parse_template(text, tuple(roles))[0]
    except ValueError as error:
        mistake_texts.append(str(error))
        first_part = None
    if isinstance(first_part, str) and not first_part[:1].isupper():
        mistake_texts.append(
            f"begins with a small letter; a variant is a whole {mistake_text.split()[-1]}"
        )
    if not text.endswith(end):
        mistake_texts.append(mistake_text)
    if mistake_texts:
        raise ValueError("; ".join(mistake_texts))
    return text


def _valid_cloze(text: str) -> str:
    mistake_text = "has no full stop at the end; a variant is a whole sentence"
    return _whole_text(text, ("subject", "object"), ".", mistake_text)


def _valid_question(text: str) -> str:
    mistake_text = "has no question mark at the end; a variant is a whole question"
    return _whole_text(text, QUESTION_ROLES, "?", mistake_text)


def _valid_timeless(text: str) -> str:
    mistake_text = "has no question mark at the end; it is a whole question"
    return _whole_text(text, ("subject",), "?", mistake_text)


class QuestionTemplate(Strict):
    """A question variant; `times` lists the time specifiers that it reads well with."""

    ask: Annotated[str, AfterValidator(_valid_question)] = Field(
        description="A question with one <subject>, also <the subject>, and one <time>, which "
        "brings its preposition: in 2012, from 2003 to 2009, before May 2015. Past tense"
    )
    times: tuple[Specifier, ...] = Field(
        default=get_args(Specifier), min_length=1, description="Specifiers it is used for"
    )

    @model_validator(mode="before")
    @classmethod
    def _from_bare_text(cls, value: object) -> object:
        return {"ask": value} if isinstance(value, str) else value


class Example(Strict):
    """A true and widely known fact, and how every variant says it."""

    subject: str = Field(description="English label of the subject")
    object: str = Field(description="English label of the object")
    reads: tuple[str, ...] = Field(description="The sentence of each cloze variant, in order")
    time: str | None = Field(default=None, description="A time as a question says it: in 2012")
    asks: tuple[str, ...] = Field(
        default=(), description="Where `time` is given: each question variant, in order"
    )


ClozeTexts = tuple[Annotated[str, AfterValidator(_valid_cloze)], ...]


def _valid_wording(text: str) -> str:
    parse_phrase(text)
    return text


WordingText = Annotated[str, AfterValidator(_valid_wording)] | None


NamedKind = Literal[
    "person", "team", "national_team", "party", "place", "organization", "school", "league",
    "office", "thing",
]  # fmt: skip
"""What a name is of, so that an invented one is of the same kind."""


class RelationWording(Strict):
    """Parts of sentences about the past, from which questions about several facts are made.

    Each names <subject> or <object>, or both; <the ...> brings "the" where the name takes it.
    """

    subject_is: NamedKind = Field(
        default="thing", description="What subjects are, for names that are invented"
    )
    object_is: NamedKind = Field(default="thing", description="What objects are, likewise")

    noun: WordingText = Field(
        default=None, description="The object: the head coach of <the subject>"
    )
    ask: WordingText = Field(default=None, description="who was the head coach of <the subject>")
    ask_subject: WordingText = Field(
        default=None,
        description="The other way round, where an object has one subject: which team did "
        "<object> coach",
    )
    event: WordingText = Field(
        default=None, description="<object> became the head coach of <subject>"
    )
    began: WordingText = Field(
        default=None, description="The same, where both are named: <object> took over"
    )
    did: WordingText = Field(
        default=None, description="Did <object> become the head coach of <subject>"
    )
    becoming: WordingText = Field(
        default=None,
        description="becoming the head coach of <subject>: without who does it, where a question "
        "names them already",
    )
    was: WordingText = Field(default=None, description="<object> was the head coach of <subject>")
    long: WordingText = Field(default=None, description="For how many full years was <object> ...")
    count: WordingText = Field(
        default=None, description="How many people were ... of <the subject>"
    )


PHRASES = tuple(
    name for name in RelationWording.model_fields if name not in ("subject_is", "object_is")
)
"""The names of the phrases."""

# A cue begins and ends with a letter: `head coach`, but not `coach,`.
CueWord = Annotated[str, Field(pattern=r"^\w(?:.*\w)?$")]


def _valid_news_question(text: str) -> str:
    parse_phrase(text.replace("<cue>", "cue").replace("<where>", "where"))
    return text


NewsQuestionText = Annotated[str, AfterValidator(_valid_news_question)] | None


class NewsWording(Strict):
    """How news states a relation, and what is asked of a fact that a sentence of it states.

    Questions are in the past tense, without time and question mark; those about today are made of
    them, and one that is missing is not asked. <cue> is the word that the sentence has, <where> is
    "of which country" where the subject is one.
    """

    cues: tuple[CueWord, ...] = Field(
        description="Words, one of which stands in a sentence that states such a fact: coach. "
        "None: the object's name says it, as that of an office does",
    )
    changes: tuple[CueWord, ...] = Field(
        default=(), description="Words of a sentence that says that one began: appointed, named"
    )
    possessions: tuple[CueWord, ...] = Field(
        default=(),
        description="Words for what somebody in such an office has: side, as in Lee's side",
    )
    ask: NewsQuestionText = Field(
        default=None, description="who was the head coach of <the subject>"
    )
    ask_subject: NewsQuestionText = Field(default=None, description="which team did <object> coach")
    became: NewsQuestionText = Field(
        default=None, description="who became the head coach of <the subject>"
    )
    became_subject: NewsQuestionText = Field(
        default=None, description="of which team did <object> become the head coach"
    )
    when: NewsQuestionText = Field(
        default=None, description="when did <object> become the head coach of <the subject>"
    )

    @property
    def by_object(self) -> bool:
        """Whether some question names the object and asks for the subject."""
        return self.ask_subject is not None or self.became_subject is not None


class Classes(Strict):
    """The classes of a subject or object.

    An item belongs to a class if the dump says that it is an instance of the class, or of one of
    the subclasses of the class.
    """

    of: tuple[Annotated[str, Field(pattern="^Q[1-9][0-9]*$")], ...] = Field(
        default=(), description="Of one of these"
    )
    without: tuple[Annotated[str, Field(pattern="^Q[1-9][0-9]*$")], ...] = Field(
        default=(), description="Of none of these"
    )

    @model_validator(mode="before")
    @classmethod
    def _from_bare_list(cls, value: object) -> object:
        return {"of": value} if isinstance(value, list) else value


class Relation(Strict):
    """One relation as `templates/P….yaml` states it."""

    relation: Annotated[str, AfterValidator(_valid_relation)] = Field(
        description="Property id, or one and a word where a relation holds part of a property; "
        "also the name of the file",
        json_schema_extra={"pattern": _PROPERTY},
    )
    extends: str | None = Field(
        default=None,
        description="Another template, of which this one has everything that it does not say; "
        "single sentences are replaced by their place: `cloze: {2: …}`",
    )
    label: str = Field(description="English label of the property, for people")
    mode: Literal["accumulate", "pointwise"] = Field(
        description="accumulate: a state that lasts; pointwise: it happens at one time"
    )
    exclusive: bool = Field(
        default=False,
        description="One object at a time: a later-starting successor ends a fact without an end",
    )
    ends_with: tuple[Literal["subject", "object"], ...] = Field(
        default=("subject", "object"),
        description="Whose death or dissolution ends a fact without an end; none: it outlives both",
    )
    undated: Literal["keep", "drop", "doubt"] = Field(
        description="What becomes of a statement without a time qualifier; doubt: dropped, and "
        "where it is, what dated ones say of the subject is in doubt, whatever the recipe accepts"
    )
    absence: Literal["known", "unknown"] = Field(
        default="known",
        description="unknown: that no object is stated says nothing, as of an office or employer "
        "before and after a recorded one; what is new or deleted is not asked about",
    )
    usually: Literal["one"] | None = Field(
        default=None,
        description="one: a subject has one object at a time as a rule, but for a loan or the "
        "like; a fact without an end is in doubt as soon as a later object may have begun",
    )
    seat: Literal["one"] | None = Field(
        default=None,
        description="one: the objects are offices; where no two terms of an office overlap, a fact "
        "without an end is in doubt as soon as a later subject may have begun in the same office",
    )
    open_for: Annotated[int, Field(ge=1)] | Literal["learned"] | None = Field(
        default=None,
        description="How long a fact without an end is trusted; then it is in doubt. Years, or "
        "learned: until most terms of the relation had ended in the dump",
    )
    subject_class: Classes | None = Field(
        default=None, description="What the subject is: `of:` a list, `without:` a list, or both"
    )
    object_class: Classes | None = Field(default=None, description="What the object is, likewise")
    functional: bool = Field(
        default=False,
        description="A single stated object is usually all there is, as a birthplace is and one "
        "twin town of many is not: asked about in InvariantLAMA",
    )
    cloze: ClozeTexts = Field(
        min_length=1,
        description="Sentences with one <subject> and one <object>, also <the …> and <an …>; "
        "the same in every period, so no dates. Best where one ends in the object, one does not",
    )
    wordings: Mapping[Annotated[str, Field(pattern=_WORDING)], ClozeTexts] = Field(
        default_factory=dict,
        description="Other sentences by the name of their set, such as a paper's; a recipe with "
        "`wording: NAME` takes these in place of `cloze`",
    )
    questions: tuple[QuestionTemplate, ...] = Field(
        default=(),
        description="Up to five time-sensitive questions whose answer is the object; none: the "
        "relation is not asked about. Together they serve every specifier that makes sense",
    )
    timeless_question: Annotated[str, AfterValidator(_valid_timeless)] | None = Field(
        default=None,
        description="A question without a time, for facts that do not change: "
        "What is the capital of <the subject>?",
    )
    phrases: RelationWording | None = Field(
        default=None, description="For questions over several facts; none: no such question"
    )
    news: NewsWording | None = Field(
        default=None, description="For questions about facts in the news; none: no such question"
    )
    articles: Mapping[str, bool] = Field(
        default_factory=dict,
        description="Whether names take `the` in <the …>, where their form misleads: "
        "`Allied Expeditionary Force: true`",
    )
    examples: tuple[Example, ...] = Field(default=(), description="Checked against the variants")

    @model_validator(mode="before")
    @classmethod
    def _with_base(cls, fields: object, info: ValidationInfo) -> object:
        read_base = (info.context or {}).get("read_base")
        if read_base is None or not isinstance(fields, dict) or not fields.get("extends"):
            return fields
        return extended(fields, read_base, (info.context or {})["mistakes"])

    @field_validator("open_for")
    @classmethod
    def _successors_end_it(
        cls, open_for: int | str | None, info: ValidationInfo
    ) -> int | str | None:
        if open_for == "learned" and info.data.get("exclusive"):
            raise ValueError("no time is learned where `exclusive: true`: a successor ends a fact")
        return open_for

    @property
    def property(self) -> str:
        """The property id."""
        return property_of(self.relation)

    @field_validator("relation")
    @classmethod
    def _names_the_file(cls, relation: str, info: ValidationInfo) -> str:
        template_path: Path | None = (info.context or {}).get("path")
        if template_path and template_path.name != f"{relation}.yaml":
            raise ValueError(f"{relation} in a file called {template_path.name}")
        return relation

    @field_validator("wordings")
    @classmethod
    def _sets_are_named(cls, wordings: Mapping[str, ClozeTexts]) -> Mapping[str, ClozeTexts]:
        if mistake_list := [
            ((set_name,), "an empty list")
            for set_name, set_texts in wordings.items()
            if not set_texts
        ]:
            raise mistakes(mistake_list)
        if OURS in wordings:
            raise mistakes([((OURS,), "the name of what stands under `cloze`; take another")])
        return wordings

    @field_validator("cloze")
    @classmethod
    def _variants_differ(cls, cloze: ClozeTexts) -> ClozeTexts:
        # Queries are compared, because <object> and <the object> ask the same.
        _refuse_equal_variants([query(text, "S") for text in cloze])
        return cloze

    @field_validator("questions")
    @classmethod
    def _questions_differ(
        cls, questions: tuple[QuestionTemplate, ...]
    ) -> tuple[QuestionTemplate, ...]:
        if len(questions) > 5:
            raise ValueError(f"{len(questions)} question variants; give at most five")
        _refuse_equal_variants([template.ask for template in questions])
        return questions

    @field_validator("examples")
    @classmethod
    def _examples_read_as_rendered(
        cls, examples: tuple[Example, ...], info: ValidationInfo
    ) -> tuple[Example, ...]:
        """Check the examples against the sentences that are valid themselves."""
        checked_fields, example_mistakes = info.data, []
        articles = checked_fields.get("articles")
        cloze_texts = checked_fields.get("cloze") or _readable_cloze(info)
        for place, example in enumerate(examples):
            if articles is None:
                break
            rendered_texts = [
                text and sentence(text, example.subject, example.object, articles)
                for text in cloze_texts
            ]
            example_mistakes += _example_mistakes((place, "reads"), example.reads, rendered_texts)
            if example.time and "questions" in checked_fields:
                rendered_texts = [
                    question(template.ask, example.subject, example.time, articles)
                    for template in checked_fields["questions"]
                ]
                example_mistakes += _example_mistakes((place, "asks"), example.asks, rendered_texts)
        if example_mistakes:
            raise mistakes(example_mistakes)
        return examples


def _refuse_equal_variants(variant_texts: Sequence[str]) -> None:
    """Raise the mistakes of all variants that ask the same as an earlier one."""
    folded_texts = [folded_text.casefold() for folded_text in variant_texts]
    if equal_variants := [
        ((place,), f"asks the same as variant {folded_texts.index(folded_text) + 1}")
        for place, folded_text in enumerate(folded_texts)
        if folded_text in folded_texts[:place]
    ]:
        raise mistakes(equal_variants)


def _readable_cloze(info: ValidationInfo) -> list[str | None]:
    """Return the sentences of a file of which some are refused, with None for those.

    Its examples are checked against the others, so that all mistakes are told at once.
    """
    cloze_texts = (info.context or {}).get("data", {}).get("cloze")
    readable_texts: list[str | None] = []
    for text in cloze_texts if isinstance(cloze_texts, list) else ():
        try:
            readable_texts.append(_valid_cloze(str(text)))
        except ValueError:
            readable_texts.append(None)
    return readable_texts


def _example_mistakes(
    place: tuple[int | str, ...], examples: Sequence[str], rendered_texts: Sequence[str | None]
) -> list[tuple[tuple[int | str, ...], str]]:
    count_message = f"{len(examples)} sentences for {len(rendered_texts)} variants"
    return [(place, count_message)] * (len(examples) != len(rendered_texts)) + [
        ((*place, text_number), _difference_message(example_text, rendered_text))
        for text_number, (example_text, rendered_text) in enumerate(
            zip(examples, rendered_texts, strict=False)
        )
        if rendered_text is not None and example_text != rendered_text
    ]


def _difference_message(example_text: str, rendered_text: str) -> str:
    """What a template makes instead of an example, with advice where only `the` differs."""
    without_articles = [
        [word for word in text.casefold().split() if word != "the"]
        for text in (example_text, rendered_text)
    ]
    advice = "; under `articles:` stand names that take `the`, or do not: `Example Ensemble: true`"
    only_articles_differ = without_articles[0] == without_articles[1]
    return f"the template makes {rendered_text!r}{advice if only_articles_differ else ''}"


class ClozeTemplates(Strict):
    """The parts of a relation's template that its cloze rows show.

    `cloze` maps the name of each sentence to the sentence. `ask` is a question for the same object,
    with <subject> and <time>, and `timeless` one without time; None where the template has none.
    """

    label: str
    cloze: Mapping[str, str]
    ask: str | None = None
    timeless: str | None = None
    articles: Mapping[str, bool] = {}


def cloze_templates(
    relations: Mapping[str, Relation], wording: str, folder: Path
) -> dict[str, ClozeTemplates]:
    """Return the cloze sentences of these relations in one wording: `ours`, or a named set.

    Sentences are named by their place, from 1: `P54/1`, or `P54/dynamic-templama/1` in a named set.
    Raises one `UserError` that names every relation without that set, by its file in `folder`.
    """
    templates: dict[str, ClozeTemplates] = {}
    without_wording: list[str] = []
    for relation_id, relation in relations.items():
        is_ours = wording == OURS
        cloze_texts = relation.cloze if is_ours else relation.wordings.get(wording, ())
        name_start = relation_id if is_ours else f"{relation_id}/{wording}"
        named_texts = {f"{name_start}/{place}": text for place, text in enumerate(cloze_texts, 1)}
        question_texts = (
            question_template.ask
            for question_template in relation.questions
            if "in" in question_template.times
        )
        templates[relation_id] = ClozeTemplates(
            label=relation.label,
            cloze=named_texts,
            ask=next(question_texts, None) or _spoken_question(relation.phrases),
            timeless=relation.timeless_question,
            articles=relation.articles,
        )
        if not cloze_texts:
            without_wording.append(
                f"{display_path(folder / relation_id)}.yaml: no wording {wording!r}"
            )
    if without_wording:
        known_sets = sorted({OURS}.union(*(relation.wordings for relation in relations.values())))
        near_name = did_you_mean(wording, known_sets) if wording not in known_sets else None
        hint = f"did you mean {near_name}?" if near_name else f"there are {', '.join(known_sets)}"
        raise UserError("\n".join(without_wording), hint=hint)
    return templates


def _spoken_question(phrases: RelationWording | None) -> str | None:
    """`Who was the mayor of <the subject> <time>?` of the phrase without a time."""
    if phrases is None or not phrases.ask:
        return None
    return f"{phrases.ask[0].upper()}{phrases.ask[1:]} <time>?"


class Relations(dict[str, Relation]):
    """Relations by id, in numeric order.

    `wrong` maps the name of each file that cannot be read to its mistakes.
    """

    def __init__(self, read_relations: Mapping[str, Relation], wrong: Mapping[str, str]) -> None:
        super().__init__(
            sorted(read_relations.items(), key=lambda entry: (len(entry[0]), entry[0]))
        )
        self.wrong = wrong

    def whole(self) -> "Relations":
        """Return the relations; raise one `UserError` if any file has mistakes."""
        if self.wrong:
            raise UserError("\n".join(self.wrong.values()))
        return self


def load_relations(folder: Path) -> Relations:
    """Read every `*.yaml` of a folder; the mistakes of a file raise nothing until they matter.

    `Relations.whole` raises them. Raises `UserError` if the folder has no such file.
    """
    template_paths = sorted(
        folder.glob("*.yaml"),
        key=lambda template_path: (len(template_path.name), template_path.name),
    )
    if not template_paths:
        raise UserError("no templates here: no *.yaml file", where=display_path(folder))
    relations: dict[str, Relation] = {}
    reader = _TemplateReader(folder)
    wrong = {
        template_path.name: f"{display_path(template_path)}: call it {template_path.stem}.yaml"
        for template_path in sorted(folder.glob("*.yml"))
    }
    for template_file in template_paths:
        try:
            relations[template_file.stem] = reader.read(template_file)
        except UserError as e:
            wrong[template_file.stem] = str(e)
    return Relations(relations, wrong)


def is_relation_name(name: str) -> bool:
    """Whether a template can have this name: `P3300` or `P54-club`, not `p54` or `P54_club`."""
    return re.fullmatch(_PROPERTY, name) is not None


def are_ours(folder: Path) -> bool:
    """Whether a folder of templates is the project's."""
    return folder.resolve() == TEMPLATES.resolve()


def template_texts(folder: Path) -> dict[str, str]:
    """Return the texts of the templates of a folder, by file name."""
    template_paths = sorted(folder.glob("*.yaml"))
    return {
        template_path.name: template_path.read_text("utf-8")
        for template_path in template_paths
        if is_relation_name(template_path.stem)
    }


def load_relation(folder: Path, relation_id: str) -> Relation | None:
    """Read the template of one relation, from a folder or from ours; None where there is none.

    Raises `UserError` with the mistakes of its file.
    """
    for template_folder in (folder, TEMPLATES):
        template_file = template_folder / f"{relation_id}.yaml"
        # a relation of somebody's release is text of others, and may name any path
        if is_relation_name(relation_id) and template_file.is_file():
            return _TemplateReader(template_folder).read(template_file)
    return None


class _TemplateReader:
    """Reads the templates of a folder, with what they extend: templates of the folder, or ours."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._opened: list[Path] = []
        """The templates that are being read, each extended by the one before."""

    def read(self, template_file: Path) -> Relation:
        """Read a template; raises `UserError` with its mistakes."""
        require_own_file(template_file)
        self._opened.append(template_file)
        try:
            return load(template_file, Relation, {"read_base": self._read_base})
        finally:
            self._opened.pop()

    def _read_base(self, relation_id: str) -> Relation:
        """Read the template that is extended. One of the same name is ours."""
        folders = [self._folder, TEMPLATES]
        for folder in folders:
            base_file = folder / f"{relation_id}.yaml"
            if base_file.is_file() and base_file.resolve() != self._opened[-1].resolve():
                break
        else:
            known_ids = [path.stem for folder in folders for path in sorted(folder.glob("*.yaml"))]
            raise missing_base(relation_id, known_ids, display_path(TEMPLATES))
        if base_file in self._opened:
            raise ValueError(f"{relation_id} extends this template, too")
        try:
            return self.read(base_file)
        except UserError as error:
            first_line = str(error).splitlines()[0]
            raise ValueError(f"{relation_id} cannot be read: {first_line}") from None


@cache
def _our_relations() -> Relations:
    """Return the project's relations, read once: a run asks for them at several places."""
    return load_relations(TEMPLATES).whole()


def relations_with_own(folder: Path) -> Relations:
    """Return the project's relations and those of a folder, which may replace some of ours."""
    our_relations = _our_relations()
    if are_ours(folder):
        return our_relations
    own_relations = load_relations(folder)
    kept_relations = {
        relation_id: relation
        for relation_id, relation in our_relations.items()
        if relation_id not in own_relations.wrong
    }
    return Relations({**kept_relations, **own_relations}, own_relations.wrong)


def select_relations(
    relations: Relations, ids: Iterable[str], folder: Path = TEMPLATES
) -> Relations:
    """Return the relations with these ids, which were read from `folder`.

    Raises one `UserError` for all ids that have no template, with advice, and for all whose file
    has mistakes. Mistakes in other files do not matter.
    """
    wanted_ids = set(ids)
    missing_ids = sorted(
        wanted_ids - set(relations), key=lambda relation_id: (len(relation_id), relation_id)
    )
    if missing_ids:
        mistake_texts = [
            relations.wrong.get(relation_id)
            or _missing_template_message(relation_id, relations, folder)
            for relation_id in missing_ids
        ]
        raise UserError("\n".join(mistake_texts))
    return Relations(
        {
            relation_id: relation
            for relation_id, relation in relations.items()
            if relation_id in wanted_ids
        },
        {},
    )


def json_schema() -> str:
    """The text of `templates/schema.json`, by which an editor checks and completes a template."""
    schema = Relation.model_json_schema()
    # A template that extends another one needs its own name alone, and may replace sentences.
    required = schema.pop("required")
    schema |= {"required": ["relation"], "if": {"not": {"required": ["extends"]}}}
    schema["then"] = {"required": required}
    for name in ("cloze", "questions"):
        texts = schema["properties"][name]
        by_place = {"type": "object", "additionalProperties": texts["items"]}
        described = {
            key: texts.pop(key) for key in ("description", "title", "default") & texts.keys()
        }
        schema["properties"][name] = {"anyOf": [texts, by_place], **described}
    return json.dumps(schema, indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def _missing_template_message(missing_id: str, relations: Relations, folder: Path) -> str:
    id_by_label = {
        known_relation.label: relation_id for relation_id, known_relation in relations.items()
    }
    near_id = did_you_mean(missing_id, relations) or id_by_label.get(
        did_you_mean(missing_id, id_by_label) or ""
    )
    message_lines = [f"{missing_id}: no template in {display_path(folder)}"]
    if near_id:
        message_lines.append(f"did you mean {near_id} ({relations[near_id].label})?")
    # A new template can be suggested for a property id alone; an unknown label without a similar
    # one gets no hint.
    if re.match(_PROPERTY, missing_id) and relations:
        model_name = f"{near_id or next(iter(relations))}.yaml"
        own_model = folder / model_name
        model_path = display_path(own_model if own_model.is_file() else TEMPLATES / model_name)
        own_folder = "FOLDER" if folder == TEMPLATES else display_path(folder)
        message_lines.append(
            f"for a new relation, write {own_folder}/{missing_id}.yaml, "
            f"with {model_path} as a model"
        )
        message_lines += [f"and give --templates {own_folder}"] if folder == TEMPLATES else []
    return "\n  ".join(message_lines)
