"""What a layout is: a folder with `layout.yaml` and `task.html.j2`; adding one needs no Python."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr, model_validator

from factdrift.builders.core.config import Loc, Strict, did_you_mean, display_path, load, mistakes
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource

FOLDER = resource("annotation/layouts")

FieldKind = Literal["choice", "choices", "flag", "text", "span", "spans", "group", "search"]
FieldName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]


class LayoutField(Strict):
    """A field of an item: text (or a list of paragraphs) that the worker sees.

    `column` is where it comes from in the dataset's row, dotted for nested ones
    (`draw.article`), the field's own name by default; `join` names the text that the row's article
    or page id leads to; of kind `list`, its sentences. `marks`: another field with spans to
    highlight in it; `dates`: highlight what looks like a date in it, too.

    On the page: a `date` is a day (`2020-05-06`) or UTC seconds, and is written out, and so is a
    `partial_date` of releases (`2019-07`, `201X`, `2019-03-01/2019-05-31`); a `fact` is the row's
    subject, relation and object as a sentence by the relation's template; of
    `paragraphs` each is a text, or an object with `text` and perhaps `heading` and `kind`
    (`builders.rows.Paragraph`); `spans` is a list of `{"start", "end"}` in code points (with
    "paragraph" for `paragraphs`, and perhaps "kind", one of mention or date). Where the row has
    no column of that name, its own `paragraph`, `start` and `end` are the one span; none, if null.
    """

    label: str | None = None
    kind: Literal["text", "paragraphs", "list", "spans", "date", "partial_date", "fact"] = "text"
    column: str | None = None
    join: Literal["article", "page", "search"] | None = None
    optional: bool = False
    empty: str | None = None
    """What stands in its place where a row has none of it."""
    marks: FieldName | None = None
    dates: bool = False


class Choice(Strict):
    """One value of a choice; `key` is its key on the keyboard.

    `needs`: a shown field; where a row has nothing in it, this cannot be chosen.
    """

    value: str
    label: str
    help: str | None = None
    key: Annotated[str, Field(pattern=r"^[a-z0-9]$")] | None = None
    needs: FieldName | None = None


class Check(Strict):
    """What a text must be like; the page says it as one types and the import checks it again.

    `not_field` and `has_field`: the text of that shown field must not, or must, be in it (case
    and spaces aside). `words_from`: no capitalised word or number that the named field lacks, its
    first word aside; `keeps_words`: each one that the field has, its first word and what stands in
    [brackets] aside; `keeps_numbers`: each number that it has. A word counts without its case and
    a final 's. `starts_with` is whole words, case aside; the others are exact. Each name may be a
    field or an earlier answer.
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


class LayoutAnswer(Strict):
    """One thing that is asked for.

    `field`: of a span, the shown field to mark in; of a choice, a shown `list` field whose
    entries are the choices; of a search, the shown `paragraphs` to which passages are added that
    the worker opens (see `annotation.checks`). `hints`: of a choice from a list, a shown `list`
    field with a small text for each entry. `when`: asked only where an earlier answer has one of
    these values. `answers`: of a group, what each of its `min_items` to `max_items` entries holds.
    `agree`: how two workers' values are compared: the same value, the same text after SQuAD
    normalisation, overlapping spans, or not at all. `within`: of a choice from a list, an earlier
    answer; only entries that are words of it can be chosen, and they are clicked in its text.
    """

    kind: FieldKind
    label: str
    help: str | None = None
    required: bool = True
    choices: tuple[Choice, ...] = ()
    field: FieldName | None = None
    within: FieldName | None = None
    hints: FieldName | None = None
    check: Check = Check()
    when: Mapping[FieldName, tuple[str, ...]] = {}
    unless: Mapping[FieldName, tuple[str, ...]] = {}
    needs: FieldName | None = None
    answers: Mapping[FieldName, "LayoutAnswer"] = {}
    min_items: int = Field(default=1, ge=0)
    max_items: int = Field(default=1, ge=1)
    initial: FieldName | None = None
    """A shown field, or an earlier answer, whose text the answer starts with, to be edited."""
    agree: Literal["value", "text", "span", "none"] | None = None


class Pay(Strict):
    """Pay for one HIT; the hourly rate it implies is printed wherever the pay is."""

    currency: str = "USD"
    per_hit: Decimal = Field(gt=0)
    minutes_per_hit: Decimal = Field(gt=0)
    bonus: Decimal = Field(default=Decimal(0), ge=0)
    """Paid beside it for work that is approved and failed no check, where the platform can."""

    @property
    def hourly(self) -> Decimal:
        return (self.per_hit * 60 / self.minutes_per_hit).quantize(Decimal("0.01"))


class Qualifications(Strict):
    """Who may work on it; each platform has its own words for these."""

    approval_percent: int | None = Field(default=95, ge=0, le=100)
    approved_hits: int | None = Field(default=500, ge=0)
    countries: tuple[Annotated[str, Field(pattern="^[A-Z]{2}$")], ...] = ()
    expert: bool = False
    adult: bool = False


CheckKind = Literal["known", "instruction", "nonsense"]
"""What an attention item is: one whose answer is known, one that says what to answer, one that
makes no sense."""


class KnownItem(Strict):
    """An item whose answers are known, all of them or some."""

    fields: Mapping[FieldName, Any]
    answers: Mapping[FieldName, Any]
    kind: CheckKind = "known"


class Rejection(Strict):
    """What rejects a submission, and so its pay; a platform has its own defaults.

    That many failed attention items of these kinds: `failures`, or `long_failures` where a HIT is
    paid for `long_minutes` or more. `experts`: an expert's no to a worker's batch, too. One failed
    item sets the answers of a submission aside in any case.
    """

    checks: tuple[CheckKind, ...] = ("known", "instruction", "nonsense")
    failures: int = Field(default=1, ge=1)
    long_failures: int = Field(default=1, ge=1)
    long_minutes: Decimal = Field(default=Decimal(5), gt=0)
    experts: bool = True

    def failures_to_reject(self, pay: Pay) -> int:
        """How many failures reject a HIT that is paid so."""
        return self.long_failures if pay.minutes_per_hit >= self.long_minutes else self.failures


class Rule(Strict):
    """When a row is decided.

    `majority` or `unanimous` over the answer `of` (all answers that are compared, without it);
    `any`: every counted judgment is taken as it is; `sampled`: per-worker batches of which an
    expert checks `sampled` items, the batch accepted or rejected whole. `accept`: the values of
    `of` that accept a row; another agreed value rejects it. `reject`: values of `of` that reject
    one where `accept` names none. What is said to be broken (see `Layout`) is never accepted.
    """

    by: Literal["majority", "unanimous", "any", "sampled"] = "majority"
    of: FieldName | None = None
    accept: tuple[str, ...] = ()
    reject: tuple[str, ...] = ()
    sampled: int = Field(default=2, ge=1)
    max_error: float | None = Field(default=None, gt=0, lt=1)
    """Of `sampled`: the share of wrong judgments that an expert's checks of a batch exclude."""


class Consent(Strict):
    """What a worker reads and agrees to before the first item, and whom to write to."""

    text: tuple[str, ...] = Field(min_length=1)
    contact: str
    agree: str = "I have read this and want to take part"


class Practice(KnownItem):
    """An item to learn on: after it the worker is told whether it was right, and `why`."""

    why: str


BROKEN, COMMENT = "broken", "comment"
"""Answers that a layout need not define: what is wrong with an item, and a remark on it."""
WAYS_OUT = (BROKEN, COMMENT)
_BROKEN = (
    {"value": "unreadable", "label": "A text is missing or cannot be read"},
    {"value": "senseless", "label": "It makes no sense"},
    {"value": "upsetting", "label": "I would rather not: it is upsetting or private"},
)


class Layout(Strict):
    """What `layout.yaml` says; `folder` is where it and the layout's `task.html.j2` lie.

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
    fields: Mapping[FieldName, LayoutField]
    answers: Mapping[FieldName, LayoutAnswer]
    broken: bool | tuple[Choice, ...] = False
    comment: bool = False
    consent: Consent | None = None
    practice: tuple[Practice, ...] = ()
    assignments: int = Field(default=3, ge=1)
    items_per_hit: int = Field(default=5, ge=1)
    pay: Pay
    qualifications: Qualifications = Qualifications()
    rule: Rule = Rule()
    together: tuple[str, ...] = ()
    """Columns: rows with the same values in them go into one HIT, `[subject, relation]`."""
    balance: str | None = None
    """A column of the dataset over whose values the sampled rows are spread evenly: `relation`."""
    attention: tuple[KnownItem, ...] = ()
    attention_per_hit: int = Field(default=1, ge=1)
    """Attention items that are mixed into a HIT."""
    rejects: Mapping[str, Rejection] = {}
    """By the name of a platform, what rejects there, in place of the platform's own rule."""
    min_seconds: float = Field(default=3, ge=0)
    """Less time on an item than this is flagged as too fast."""

    @property
    def folder(self) -> Path:
        """Where the layout lies."""
        return self._folder

    @property
    def name(self) -> str:
        """The layout's name: that of its folder."""
        return self._folder.name

    def with_folder(self, folder: Path) -> "Layout":
        """The same layout, lying in this folder."""
        found = self.model_copy()
        found._folder = folder
        return found

    @model_validator(mode="before")
    @classmethod
    def _with_ways_out(cls, given: object) -> object:
        """The answers `broken` and `comment`, where the layout has them."""
        if not isinstance(given, Mapping) or not isinstance(given.get("answers"), Mapping):
            return given
        answers = dict(given["answers"])
        broken = given.get("broken")
        choices = _BROKEN if broken is True else broken
        if isinstance(choices, list | tuple) and choices and BROKEN not in answers:
            values = [one["value"] for one in choices if isinstance(one, Mapping)]
            for name, answer in answers.items():
                if isinstance(answer, Mapping):
                    unless = {**(answer.get("unless") or {}), BROKEN: values}
                    answers[name] = {**answer, "unless": unless}
            label = "This item cannot be answered, because"
            ask = {"kind": "choices", "required": False, "label": label, "agree": "none"}
            answers = {BROKEN: {**ask, "choices": choices}, **answers}
        if given.get("comment") is True and COMMENT not in answers:
            ask = {"kind": "text", "required": False, "label": "Your remark", "agree": "none"}
            answers[COMMENT] = {**ask, "check": {"max_length": 1000}}
        return {**given, "answers": answers}

    @model_validator(mode="after")
    def _check_names_and_values(self) -> "Layout":
        rule, found = self.rule, list[tuple[Loc, str]]()
        for name, field in self.fields.items():
            if field.marks and self._kind(field.marks) != "spans":
                found.append((("fields", name, "marks"), f"no field {field.marks!r} of kind spans"))
        for name in self.answers.keys() & self.fields:
            found.append((("answers", name), "a field has this name"))
        if rule.of and rule.of not in self.answers:
            found.append((("rule", "of"), f"no answer {rule.of!r}"))
        for place, answer, before in _walk_answers(("answers",), self.answers, {}):
            found += self._answer_mistakes(place, answer, before)
        decided = _possible_values(self.answers.get(rule.of or ""))
        found += _unknown_values(("rule", "accept"), rule.accept, decided, repr(rule.of))
        if found:
            raise mistakes(found)
        return self

    def _answer_mistakes(
        self, place: Loc, answer: LayoutAnswer, before: Mapping[str, LayoutAnswer]
    ) -> Iterator[tuple[Loc, str]]:
        fields = [*self.fields]
        names = [(what, getattr(answer, what)) for what in ("field", "initial", "within", "hints")]
        names += [("check", getattr(answer.check, what)) for what in _NAMING_CHECKS]
        for what, name in names:
            if name and name not in self.fields and name not in before:
                near = did_you_mean(name, [*fields, *before])
                hint = f", did you mean {near!r}?" if near else ""
                yield (*place, what), f"no field {name!r}{hint}"
        for what in ("when", "unless"):
            for other, values in getattr(answer, what).items():
                if other not in before:
                    yield (*place, what), f"{other!r} is not asked before"
                known = _possible_values(before.get(other))
                yield from _unknown_values((*place, what, other), values, known, repr(other))
        needing = [(place, answer.needs)]
        needing += [((*place, "choices", n), one.needs) for n, one in enumerate(answer.choices)]
        for where, needs in needing:
            given = [needs] if needs else []
            yield from _unknown_values((*where, "needs"), given, fields, "the fields")
        wanted = _FIELD_KINDS.get(answer.kind)
        is_choice = answer.kind in ("choice", "choices")
        if is_choice and not answer.choices and not answer.field:
            yield place, "a choice needs `choices`, or the `field` that lists them"
        if wanted and not is_choice and not answer.field:
            yield place, f"a {answer.kind} needs the `field` to mark in"
        if (answer.kind == "group") != bool(answer.answers):
            yield place, "a group, and only a group, has `answers`"
        kind = self._kind(answer.field or "")
        if wanted and kind and kind not in wanted:
            yield (*place, "field"), f"{answer.field!r} is not of kind {' or '.join(wanted)}"
        for what in ("key", "value"):
            own = [getattr(choice, what) for choice in answer.choices]
            for number, one in enumerate(own):
                if one is not None and one in own[:number]:
                    yield (*place, "choices", number), f"two choices have the {what} {one!r}"

    def _kind(self, field: str) -> str | None:
        return self.fields[field].kind if field in self.fields else None


_NAMING_CHECKS = ("not_field", "has_field", "words_from", "keeps_words", "keeps_numbers")
_FIELD_KINDS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("choice", "choices"), ("list",)),
    **dict.fromkeys(("span", "spans"), ("text", "paragraphs")),
    "search": ("paragraphs",),
}
"""By kind of answer, the kinds of field that it can be of."""


def _walk_answers(
    place: Loc, answers: Mapping[str, LayoutAnswer], before: Mapping[str, LayoutAnswer]
) -> Iterator[tuple[Loc, LayoutAnswer, Mapping[str, LayoutAnswer]]]:
    for name, answer in answers.items():
        yield (*place, name), answer, before
        yield from _walk_answers((*place, name, "answers"), answer.answers, before)
        before = {**before, name: answer}


def _possible_values(answer: LayoutAnswer | None) -> list[str] | None:
    """The values that an answer can have; None where they are in the data, or free."""
    if answer is not None and answer.kind == "flag":
        return ["true", "false"]
    if answer is None or answer.kind not in ("choice", "choices") or answer.field:
        return None
    return [choice.value for choice in answer.choices]


def _unknown_values(
    place: Loc, values: Sequence[str], known: list[str] | None, where: str
) -> Iterator[tuple[Loc, str]]:
    for number, value in enumerate(values):
        if known is not None and value not in known:
            yield (*place, number), f"{value!r} is not of {where}, {near_hint(value, known)}"


def near_hint(word: str | None, choices: Iterable[str]) -> str:
    """A hint for a word that is none of the choices: the nearest of them, or all."""
    choices = [*choices]
    near = did_you_mean(word or "", choices)
    return f"did you mean {near!r}?" if near else f"there are {', '.join(choices)}"


def layout_names(folder: Path = FOLDER) -> list[str]:
    return sorted(p.parent.name for p in folder.glob("*/layout.yaml"))


def load_layout(name: str | Path) -> Layout:
    """A layout of ours by name, or one by the path of its folder.

    `UserError`: there is none, or with file:line what is wrong in it.
    """
    found = (path for path in (FOLDER / name, Path(name)) if (path / "layout.yaml").is_file())
    path = next(found, None)
    if path is None:
        hint = near_hint(str(name), layout_names())
        raise UserError(f"no layout {str(name)!r} in {display_path(FOLDER)}", hint=hint)
    layout = load(path / "layout.yaml", Layout).with_folder(path.resolve())
    if not (path / "task.html.j2").is_file():
        raise UserError("no task.html.j2 beside layout.yaml", where=display_path(path))
    return layout
