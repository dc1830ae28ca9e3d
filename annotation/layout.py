"""Layouts: a folder with `layout.yaml` and `task.html.j2` each; adding one needs no Python."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr, model_validator

from factdrift.builders.core.config import Loc, Strict, did_you_mean, display_path, load, mistakes
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import require_own_file, resource

FOLDER = resource("annotation/layouts")

# Where a mistake in `layout.yaml` is, and what is wrong there.
Mistake = tuple[Loc, str]
FieldKind = Literal["choice", "choices", "flag", "text", "span", "spans", "group", "search"]
FieldName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]


class LayoutField(Strict):
    """A field of an item: text, or a list of paragraphs, that the worker sees.

    `column` is the column of the dataset's row that it comes from, dotted for a nested one
    (`draw.article`); by default it has the field's name. `join` takes the text to which an id in
    the row leads: an article's or a page's (for kind `list`, the article's sentences), or the
    passages of a search. `marks` names another field with spans to highlight in this one, and
    `dates` highlights what looks like a date.

    The kinds: a `date` is a day (`2020-05-06`) or UTC seconds, and the page writes it out; so it
    does a `partial_date` of releases (`2019-07`, `201X`, `2019-03-01/2019-05-31`). A `fact` is
    the row's subject, relation and object as a sentence of the relation's template. Each of
    `paragraphs` is a text, or an object with `text` and perhaps `heading` and `kind`
    (`builders.rows.Paragraph`). `spans` are a list of `{"start", "end"}` in code points, with
    "paragraph" for `paragraphs` and perhaps "kind" (mention or date). Where the row has no column
    of that name, its own `paragraph`, `start` and `end` are the only span; if they are null there
    is none.
    """

    label: str | None = None
    kind: Literal["text", "paragraphs", "list", "spans", "date", "partial_date", "fact"] = "text"
    column: str | None = None
    join: Literal["article", "page", "search"] | None = None
    optional: bool = False
    empty: str | None = None
    """The text that the page shows if a row lacks the field."""
    marks: FieldName | None = None
    dates: bool = False


class Choice(Strict):
    """One value of a choice; `key` is its key on the keyboard.

    `needs` names a field. Where a row has nothing in that field, the value cannot be chosen.
    """

    value: str
    label: str
    help: str | None = None
    key: Annotated[str, Field(pattern=r"^[a-z0-9]$")] | None = None
    needs: FieldName | None = None


class Check(Strict):
    """The rules for a text. The page checks them as one types, and the import checks them again.

    - `min_length`, `max_length`: the text has this number of characters at least, and at most.
    - `starts_with`: the text starts with one of these whole words, in any case.
    - `ends_with`: the text ends with this, in exactly this case.
    - `contains_once`: the text contains this exactly once, in exactly this case.
    - `excludes`: the text contains none of these; case matters only for those with capitals.
    - `not_field`: the text does not contain the text of this field; case and spaces do not matter.
    - `has_field`: the text contains the text of this field; case and spaces do not matter.
    - `words_from`: the text has no capitalised word and no number that this field lacks, except its
      own first word.
    - `keeps_words`: the text has every capitalised word and number of this field, except the
      field's first word and words in [brackets].
    - `keeps_numbers`: the text has every number of this field.
    - `has_word`: the text has one of these words, anywhere and in any case.
    - `rewords`: the text says what this field says, without a fact more or less (see
      `annotation.rewording`); `dated_by` is the field with the day whose date may be added.
    - `gap`: the text has exactly one gap, of one of these kinds: `[BLANK-PERSON]`.

    The rules for words compare words in lower case and without a final 's. A rule that names a
    field may name an earlier answer instead.
    """

    min_length: int = Field(default=1, ge=0)
    max_length: int = Field(default=500, ge=1)
    starts_with: tuple[str, ...] = ()
    ends_with: str | None = None
    contains_once: str | None = None
    excludes: tuple[str, ...] = ()
    not_field: FieldName | None = None
    has_field: FieldName | None = None
    words_from: FieldName | None = None
    keeps_words: FieldName | None = None
    keeps_numbers: FieldName | None = None
    has_word: tuple[str, ...] = ()
    rewords: FieldName | None = None
    dated_by: FieldName | None = None
    gap: tuple[Annotated[str, Field(pattern="^[A-Z]+$")], ...] = ()


class LayoutAnswer(Strict):
    """An answer that a layout asks for.

    `field` names the field to mark a span in, the `list` field whose entries are the choices, or
    the `paragraphs` to which a search adds the passages that the worker opens (see
    `annotation.checks`). For a choice from a list, `hints` names a `list` field with a small text
    for each entry, and `within` an earlier answer: only entries that are words of that answer can
    be chosen, by a click in its text. `offers` names a `list` field whose entries are marked by one
    click where the text has them; of entries that are hints of a choice, the chosen one's. `when`
    asks only if an earlier answer has one of these values, `unless` only if it has none of them,
    `needs` only if that field is not empty.
    `answers` are those of each of the `min_items` to `max_items` entries of a group. `agree` says
    how two workers' values are compared: by value, by the text after SQuAD normalisation, by
    overlapping spans, or not at all.
    """

    kind: FieldKind
    label: str
    help: str | None = None
    required: bool = True
    choices: tuple[Choice, ...] = ()
    field: FieldName | None = None
    within: FieldName | None = None
    hints: FieldName | None = None
    offers: FieldName | None = None
    check: Check = Check()
    when: Mapping[FieldName, tuple[str, ...]] = {}
    unless: Mapping[FieldName, tuple[str, ...]] = {}
    needs: FieldName | None = None
    answers: Mapping[FieldName, "LayoutAnswer"] = {}
    min_items: int = Field(default=1, ge=0)
    max_items: int = Field(default=1, ge=1, le=100)
    initial: FieldName | None = None
    """A shown field, or an earlier answer, whose text the answer starts with, to be edited."""
    agree: Literal["value", "text", "span", "none"] | None = None


class Pay(Strict):
    """Pay for one HIT; the hourly rate it implies is printed wherever the pay is."""

    currency: str = "USD"
    # limits far beyond what anybody pays, so that sums of pay can be printed
    per_hit: Decimal = Field(gt=0, le=10**6)
    minutes_per_hit: Decimal = Field(ge=Decimal("0.001"), le=10**6)
    bonus: Decimal = Field(default=Decimal(0), ge=0, le=10**6)
    """Paid beside it for work that is approved and failed no check, where the platform can."""

    @property
    def hourly(self) -> Decimal:
        return (self.per_hit * 60 / self.minutes_per_hit).quantize(Decimal("0.01"))


class Qualifications(Strict):
    """Who may work on it; each platform has its own words for these."""

    approval_percent: int | None = Field(default=95, ge=0, le=100)
    approved_hits: int | None = Field(default=500, ge=0)
    countries: tuple[Annotated[str, Field(pattern="^[A-Z]{2}$")], ...] = ()
    first_languages: tuple[str, ...] = ("English",)
    """One of which a worker has to have learned first; empty: any."""
    education: str | None = None
    """The lowest degree that a worker needs, in the words of the platform."""
    expert: bool = False
    """Only people whom you name may take part."""
    adult: bool = False
    """What is shown may upset; workers are told so before, and are of age."""


# What an attention item is: one whose answer is known, one that says what to answer, one that
# makes no sense.
CheckKind = Literal["known", "instruction", "nonsense"]


class KnownItem(Strict):
    """An item whose answers are known, all of them or some."""

    fields: Mapping[FieldName, Any]
    answers: Mapping[FieldName, Any]
    kind: CheckKind = "known"
    reserve: bool = False
    """Whether it is kept back from a layout's first batch, for people who have seen the others."""


class Rejection(Strict):
    """When a submission is rejected, so that it is not paid; a platform has its own defaults.

    It is rejected for `failures` failed attention items of the kinds in `checks`, or for
    `long_failures` where a HIT is paid for `long_minutes` or more. With `experts` it is also
    rejected if experts reject the worker's batch; without, such work is set aside and paid. One
    failed item sets the answers of a submission aside in any case.
    """

    checks: tuple[CheckKind, ...] = ("known", "instruction", "nonsense")
    failures: int = Field(default=1, ge=1)
    long_failures: int = Field(default=1, ge=1)
    long_minutes: Decimal = Field(default=Decimal(5), gt=0)
    experts: bool = False

    def failures_to_reject(self, pay: Pay) -> int:
        """The number of failed attention items that rejects a HIT with this pay."""
        return self.long_failures if pay.minutes_per_hit >= self.long_minutes else self.failures


class Rule(Strict):
    """When a row is decided.

    `majority` and `unanimous` compare the answer `of`, or all answers that are compared where no
    `of` is given. `any` takes every judgment that counts as it is. Under `sampled` an expert
    checks a sample of each worker's batch, which is accepted or rejected as a whole: it is
    rejected where more than `errors` of the sample are wrong by the word of two experts. The paper
    of TimeQA takes two items of a batch, both of which have to be right: `{sample: 2, errors: 0}`.
    `accept` lists the values of `of` that accept a row; any other agreed value rejects it. Where
    `accept` is empty, `reject` lists the values that reject it. A row that workers call broken
    (see `Layout`) is never accepted.
    """

    by: Literal["majority", "unanimous", "any", "sampled"] = "majority"
    of: FieldName | None = None
    accept: tuple[str, ...] = ()
    reject: tuple[str, ...] = ()
    sample: int | float | None = Field(default=None, gt=0)
    """For `sampled`: how many of a worker's judgments are checked, or a share of them below 1."""
    sampled: int = Field(default=2, ge=1)
    """The same as a number, which holds where no `sample` is given; with `max_error` the fewest."""
    max_error: float | None = Field(default=None, gt=0, lt=1)
    """The share of wrong judgments in a whole batch that the checks of it have to rule out."""
    errors: int = Field(default=0, ge=0, le=1000)
    """Wrong judgments that a sample may hold; with `max_error` that of a whole batch, of which a
    worker's sample has its share."""

    @model_validator(mode="after")
    def _check_plan(self) -> "Rule":
        """Refuse a plan that contradicts itself, or that nobody could fail."""
        if self.sample is not None and self.max_error is not None:
            raise mistakes([(("sample",), "give `sample` or `max_error`, not both")])
        if self.sample is not None and self.sample > 1 and self.sample != int(self.sample):
            mistake_text = "a number of judgments, such as 2, or a share of them, such as 0.1"
            raise mistakes([(("sample",), mistake_text)])
        fixed_sample = self.sampled if self.sample is None else self.sample
        if self.max_error is None and fixed_sample >= 1 and self.errors >= fixed_sample:
            mistake_text = f"fewer than the {fixed_sample:g} that are checked: nobody could fail"
            raise mistakes([(("errors",), mistake_text)])
        return self


class Consent(Strict):
    """The text that a worker agrees to before the first item, and the address for questions."""

    text: tuple[str, ...] = Field(min_length=1)
    contact: str
    agree: str = "I have read this and want to take part"


class Practice(KnownItem):
    """An item to practise on; afterwards the worker learns whether it was right, and `why`."""

    why: str


# Answers that a layout need not define: what is wrong with an item, and a remark on it.
BROKEN, COMMENT = "broken", "comment"
WAYS_OUT = (BROKEN, COMMENT)
_BROKEN = (
    {"value": "unreadable", "label": "A text is missing or cannot be read"},
    {"value": "senseless", "label": "It makes no sense"},
    {"value": "upsetting", "label": "I would rather not: it is upsetting or private"},
)


class Layout(Strict):
    """The content of a `layout.yaml`; `folder` contains it and the layout's `task.html.j2`.

    `broken` lets a worker say that an item is broken: `true`, or choices of one's own. The answer
    `broken` is then beside those of the layout, which are not asked of such an item. `comment` adds
    a box for a remark, the answer `comment`. Both stand below the other answers.
    """

    _folder: Path = PrivateAttr(default=Path())

    title: str
    summary: str
    instructions: tuple[str, ...] = Field(min_length=1)
    """Paragraphs of plain text."""
    examples: tuple[Mapping[str, str], ...] = ()
    """Worked examples: a label and a text each."""
    dataset: str | None = None
    """The dataset whose rows it shows, `streamingqa`; a folder or file given by hand otherwise."""
    config: str | None = None
    split: str | None = None
    """The split of a release whose rows alone are sent, unless an order names another."""
    fields: Mapping[FieldName, LayoutField]
    answers: Mapping[FieldName, LayoutAnswer]
    broken: bool | tuple[Choice, ...] = False
    comment: bool = False
    consent: Consent | None = None
    practice: tuple[Practice, ...] = ()
    assignments: int = Field(default=3, ge=1, le=1000)
    items_per_hit: int = Field(default=5, ge=1, le=1000)
    pay: Pay
    qualifications: Qualifications = Qualifications()
    rule: Rule = Rule()
    together: tuple[str, ...] = ()
    """Columns: rows with the same values in them go into one HIT, `[subject, relation]`."""
    balance: str | None = None
    """A column of the dataset over whose values the sampled rows are spread evenly: `relation`."""
    attention: tuple[KnownItem, ...] = ()
    attention_per_hit: int = Field(default=1, ge=1, le=1000)
    """Attention items that are mixed into a HIT."""
    rejects: Mapping[str, Rejection] = {}
    """By the name of a platform, what rejects there, in place of the platform's own rule."""
    min_seconds: float = Field(default=3, ge=0)
    """Less time on an item than this is flagged as too fast."""

    @property
    def folder(self) -> Path:
        """The folder that contains the layout."""
        return self._folder

    @property
    def name(self) -> str:
        """The layout's name: that of its folder."""
        return self._folder.name

    def with_folder(self, folder: Path) -> "Layout":
        """A copy of the layout that lies in `folder`."""
        layout = self.model_copy()
        layout._folder = folder
        return layout

    @model_validator(mode="before")
    @classmethod
    def _with_ways_out(cls, layout_settings: object) -> object:
        """Add the answers `broken` and `comment`, where the layout asks for them."""
        if not isinstance(layout_settings, Mapping) or not isinstance(
            layout_settings.get("answers"), Mapping
        ):
            return layout_settings
        answer_settings = dict(layout_settings["answers"])
        broken_setting = layout_settings.get("broken")
        broken_choices = _BROKEN if broken_setting is True else broken_setting
        if (
            isinstance(broken_choices, list | tuple)
            and broken_choices
            and BROKEN not in answer_settings
        ):
            choice_values = [
                choice["value"] for choice in broken_choices if isinstance(choice, Mapping)
            ]
            for answer_name, answer in answer_settings.items():
                if isinstance(answer, Mapping):
                    broken_condition = {
                        **(answer.get("unless") or {}),
                        BROKEN: choice_values,
                    }
                    answer_settings[answer_name] = {**answer, "unless": broken_condition}
            question_label = "This item cannot be answered, because"
            question_settings = {
                "kind": "choices",
                "required": False,
                "label": question_label,
                "agree": "none",
            }
            answer_settings = {
                BROKEN: {**question_settings, "choices": broken_choices},
                **answer_settings,
            }
        if layout_settings.get("comment") is True and COMMENT not in answer_settings:
            question_settings = {
                "kind": "text",
                "required": False,
                "label": "Your remark",
                "agree": "none",
            }
            answer_settings[COMMENT] = {**question_settings, "check": {"max_length": 1000}}
        return {**layout_settings, "answers": answer_settings}

    @model_validator(mode="before")
    @classmethod
    def _check_characters(cls, layout_settings: object) -> object:
        """Refuse characters that no XML can have: a labelling configuration is XML."""
        found_mistakes = list[Mistake]()
        for place, text in _walk_texts((), layout_settings):
            if refused_character := NO_XML.search(text):
                mistake_text = f"has the control character {refused_character[0]!a}"
                found_mistakes.append((place, mistake_text))
        if found_mistakes:
            raise mistakes(found_mistakes)
        return layout_settings

    @model_validator(mode="after")
    def _check_names_and_values(self) -> "Layout":
        rule, found_mistakes = self.rule, list[Mistake]()
        for answer_name, field in self.fields.items():
            if field.marks and self._kind(field.marks) != "spans":
                mistake_text = f"no field {field.marks!r} of kind spans"
                found_mistakes.append((("fields", answer_name, "marks"), mistake_text))
        for answer_name in self.answers.keys() & self.fields:
            found_mistakes.append((("answers", answer_name), "a field has this name"))
        if rule.of and rule.of not in self.answers:
            found_mistakes.append((("rule", "of"), f"no answer {rule.of!r}"))
        for place, answer, earlier_answers in _walk_answers(("answers",), self.answers, {}):
            found_mistakes += self._answer_mistakes(place, answer, earlier_answers)
        decided_values = _possible_values(self.answers.get(rule.of or ""))
        accept_place = ("rule", "accept")
        found_mistakes += _unknown_values(accept_place, rule.accept, decided_values, repr(rule.of))
        if found_mistakes:
            raise mistakes(found_mistakes)
        return self

    def _answer_mistakes(
        self,
        place: Loc,
        answer: LayoutAnswer,
        earlier_answers: Mapping[str, LayoutAnswer],
    ) -> Iterator[Mistake]:
        """Yield what is wrong with an answer; `earlier_answers` are asked before it."""
        yield from self._name_mistakes(place, answer, earlier_answers)
        yield from _condition_mistakes(place, answer, earlier_answers)
        yield from self._needs_mistakes(place, answer)
        yield from self._kind_mistakes(place, answer)
        yield from _repeated_choices(place, answer)

    def _name_mistakes(
        self,
        place: Loc,
        answer: LayoutAnswer,
        earlier_answers: Mapping[str, LayoutAnswer],
    ) -> Iterator[Mistake]:
        """Names of fields or earlier answers that do not exist."""
        name_by_option = {
            option_name: getattr(answer, option_name) for option_name in _NAMING_OPTIONS
        }
        for option_name in _NAMING_CHECKS:
            name_by_option[option_name] = getattr(answer.check, option_name)
        for option_name, named_field in name_by_option.items():
            if (
                named_field
                and named_field not in self.fields
                and named_field not in earlier_answers
            ):
                nearest_name = did_you_mean(named_field, [*self.fields, *earlier_answers])
                hint_text = f", did you mean {nearest_name!r}?" if nearest_name else ""
                # the options of the check are told at `check`, where they are written
                option_key = option_name if option_name in _NAMING_OPTIONS else "check"
                yield (*place, option_key), f"no field {named_field!r}{hint_text}"

    def _needs_mistakes(self, place: Loc, answer: LayoutAnswer) -> Iterator[Mistake]:
        """Fields that `needs` of the answer or of a choice names and that do not exist."""
        needed_by = [(place, answer.needs)]
        for choice_number, choice in enumerate(answer.choices):
            needed_by.append(((*place, "choices", choice_number), choice.needs))
        for option_place, field_name in needed_by:
            if field_name:
                field_names = [*self.fields]
                yield from _unknown_values(
                    (*option_place, "needs"), [field_name], field_names, "the fields"
                )

    def _kind_mistakes(self, place: Loc, answer: LayoutAnswer) -> Iterator[Mistake]:
        """Options that the answer lacks for its kind, and a field whose kind does not fit."""
        field_kinds = _FIELD_KINDS.get(answer.kind)
        is_choice = answer.kind in ("choice", "choices")
        if is_choice and not answer.choices and not answer.field:
            yield place, "a choice needs `choices`, or the `field` that lists them"
        if field_kinds and not is_choice and not answer.field:
            yield place, f"a {answer.kind} needs the `field` to mark in"
        if (answer.kind == "group") != bool(answer.answers):
            yield place, "a group, and only a group, has `answers`"
        field_kind = self._kind(answer.field or "")
        if field_kinds and field_kind and field_kind not in field_kinds:
            yield (
                (*place, "field"),
                f"{answer.field!r} is not of kind {' or '.join(field_kinds)}",
            )

    def _kind(self, field_name: str) -> str | None:
        return self.fields[field_name].kind if field_name in self.fields else None


# Characters that XML 1.0 cannot have, and the other control characters; not a tab or a line end.
NO_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def _walk_texts(place: Loc, settings: object) -> Iterator[tuple[Loc, str]]:
    """Yield every text in the settings of a layout, also names, with its place."""
    if isinstance(settings, str):
        yield place, settings
    elif isinstance(settings, Mapping):
        for setting_name, setting in settings.items():
            yield (*place, setting_name), str(setting_name)
            yield from _walk_texts((*place, setting_name), setting)
    elif isinstance(settings, list | tuple):
        for entry_number, entry in enumerate(settings):
            yield from _walk_texts((*place, entry_number), entry)


# The options of an answer that name a field or an earlier answer.
_NAMING_OPTIONS = ("field", "initial", "within", "hints", "offers")
# The options of a check that do so.
_NAMING_CHECKS = (
    *("not_field", "has_field", "words_from", "keeps_words", "keeps_numbers"),
    *("rewords", "dated_by"),
)
# The kinds of field that an answer of a kind can refer to.
_FIELD_KINDS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("choice", "choices"), ("list",)),
    **dict.fromkeys(("span", "spans"), ("text", "paragraphs")),
    "search": ("paragraphs",),
}


def _condition_mistakes(
    place: Loc, answer: LayoutAnswer, earlier_answers: Mapping[str, LayoutAnswer]
) -> Iterator[Mistake]:
    """Conditions on answers that are not asked before, or on values that they cannot have."""
    for option_name in ("when", "unless"):
        for condition_name, condition_values in getattr(answer, option_name).items():
            if condition_name not in earlier_answers:
                yield (*place, option_name), f"{condition_name!r} is not asked before"
            possible_values = _possible_values(earlier_answers.get(condition_name))
            yield from _unknown_values(
                (*place, option_name, condition_name),
                condition_values,
                possible_values,
                repr(condition_name),
            )


def _repeated_choices(place: Loc, answer: LayoutAnswer) -> Iterator[Mistake]:
    """Choices that have the key or the value of an earlier choice."""
    for attribute_name in ("key", "value"):
        seen_contents: set[str] = set()
        for choice_number, choice in enumerate(answer.choices):
            attribute_value = getattr(choice, attribute_name)
            if attribute_value in seen_contents:
                mistake_text = f"two choices have the {attribute_name} {attribute_value!r}"
                yield (*place, "choices", choice_number), mistake_text
            if attribute_value is not None:
                seen_contents.add(attribute_value)


def _walk_answers(
    place: Loc,
    layout_answers: Mapping[str, LayoutAnswer],
    earlier_answers: Mapping[str, LayoutAnswer],
) -> Iterator[tuple[Loc, LayoutAnswer, Mapping[str, LayoutAnswer]]]:
    """Yield every answer, also those inside of groups, with its place and the answers before it."""
    for answer_name, answer in layout_answers.items():
        yield (*place, answer_name), answer, earlier_answers
        yield from _walk_answers((*place, answer_name, "answers"), answer.answers, earlier_answers)
        earlier_answers = {**earlier_answers, answer_name: answer}


def _possible_values(answer: LayoutAnswer | None) -> list[str] | None:
    """Return the values that an answer can have; None if they are free or depend on the data."""
    if answer is not None and answer.kind == "flag":
        return ["true", "false"]
    if answer is None or answer.kind not in ("choice", "choices") or answer.field:
        return None
    return [choice.value for choice in answer.choices]


def _unknown_values(
    place: Loc, named_values: Sequence[str], known_values: list[str] | None, value_source: str
) -> Iterator[tuple[Loc, str]]:
    for value_number, named_value in enumerate(named_values):
        if known_values is not None and named_value not in known_values:
            yield (
                (*place, value_number),
                f"{named_value!r} is not of {value_source}, {near_hint(named_value, known_values)}",
            )


def near_hint(unknown_word: str | None, known_words: Iterable[str]) -> str:
    """A hint for a word that is none of the choices: the nearest of them, or all."""
    known_words = [*known_words]
    nearest_word = did_you_mean(unknown_word or "", known_words)
    return (
        f"did you mean {nearest_word!r}?" if nearest_word else f"there are {', '.join(known_words)}"
    )


def layout_names(layouts_folder: Path = FOLDER) -> list[str]:
    return sorted(layout_path.parent.name for layout_path in layouts_folder.glob("*/layout.yaml"))


def load_layout(name: str | Path) -> Layout:
    """Load a layout of ours by its name, or any layout by the path of its folder.

    `UserError`: there is no such layout, or it has mistakes, with file and line of each.
    """
    layout_folder = FOLDER / name
    if not (layout_folder / "layout.yaml").is_file():
        layout_folder = Path(name)
    if not (layout_folder / "layout.yaml").is_file():
        hint_text = near_hint(str(name), layout_names())
        raise UserError(f"no layout {str(name)!r} in {display_path(FOLDER)}", hint=hint_text)
    require_own_file(layout_folder / "layout.yaml")
    layout = load(layout_folder / "layout.yaml", Layout).with_folder(layout_folder.resolve())
    if not (layout_folder / "task.html.j2").is_file():
        raise UserError("no task.html.j2 beside layout.yaml", where=display_path(layout_folder))
    return layout
