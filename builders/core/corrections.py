"""Corrections of published rows and of Wikidata's statements, read from `corrections.yaml`.

An entry is about one row of a published release, or about one statement. Rows are corrected when a
release is written (`builders.release.errata`), statements where they become facts
(`builders.facts.corrected`), so that every dataset made of them gets the correction.
"""

import calendar
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    JsonValue,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from factdrift.builders.core.config import Loc, Strict, did_you_mean, load, mistakes
from factdrift.builders.core.dates import PartialDate
from factdrift.builders.core.names import Name

FILE = Path("corrections.yaml")
"""The file of corrections that is taken where it lies in the current folder."""
DROP_STEP = "errata"
"""The step that dropped rows name where a correction dropped them."""
OPEN = "open"
"""What a correction says of an end that is not there: the fact lasts."""
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]
"""What a person wrote: some sentences, and no empty text."""
# `Q183$C408D619-3685-4F0A-A174-9FDFFAA7C3CA`, not `Q183-C408…`, as addresses and RDF have it
_STATEMENT = re.compile(r"[QLPqlp][1-9]\d*\$[0-9A-Fa-f-]{36}")
# `dynamic-templama 1.0.0`, not `dynamic-templama` or `dynamic-templama/1.0.0`
_RELEASE = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]{0,99}) (\d+\.\d+\.\d+)")
# `2025`, `2025-05` and `2025-05-06`, not `6 May 2025`
_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?")
_ITEM = re.compile(r"Q[1-9]\d*")
_STATEMENT_PARTS = ("object", "start", "end")


class StatementChange(Strict):
    """What a correction makes of one statement: its part that decides facts, and so step keys.

    `entry`: the id of the correction. What is None stays as it is. `end` is `open` where the
    fact lasts.
    """

    entry: str
    statement: str
    drop: bool
    object: str | None = None
    start: PartialDate | None = None
    end: PartialDate | Literal["open"] | None = None


class Correction(Strict):
    """One entry of `corrections.yaml`.

    `id`: a name of the entry, which releases cite.
    `row`: the id of a row of `release`, which names dataset and version: `timeqa 1.0.0`; or
    `statement`: the id of a Wikidata statement, with `$`.
    `wrong`: what is wrong. `source`: what shows it. `by`: who says so.
    Then one of these: `drop`: true; `mend`: other values, of a row by column, of a statement for
    `object`, `start` and `end`; `withdrawn`: why the correction does not hold any more.
    """

    id: Name
    row: Words | None = None
    statement: str | None = None
    release: str | None = None
    wrong: Words
    source: Words
    by: Words
    drop: Literal[True] | None = None
    mend: Annotated[Mapping[str, JsonValue] | None, Field(min_length=1)] = None
    withdrawn: Words | None = None

    @field_validator("statement")
    @classmethod
    def _whole_statement(cls, statement: str | None) -> str | None:
        if statement is not None and not _STATEMENT.fullmatch(statement):
            raise ValueError(
                "no id of a statement; write it as `factdrift why` and Wikidata's JSON have it: "
                "Q183$C408D619-3685-4F0A-A174-9FDFFAA7C3CA"
            )
        return statement

    @field_validator("release")
    @classmethod
    def _named_release(cls, release: str | None) -> str | None:
        if release is not None and not _RELEASE.fullmatch(release):
            raise ValueError("write dataset and version: dynamic-templama 1.0.0")
        return release

    @model_validator(mode="after")
    def _whole(self) -> "Correction":
        problems: list[tuple[Loc, str]] = []
        if (self.row is None) == (self.statement is None):
            problems.append(((), "say what it is about: either `row` or `statement`"))
        if self.row is not None and self.release is None:
            problems.append(
                (("row",), "say in which release the row is: release: dynamic-templama 1.0.0")
            )
        if sum(action is not None for action in (self.drop, self.mend, self.withdrawn)) != 1:
            problems.append(
                ((), "say what to do: one of `drop: true`, `mend: {…}` and `withdrawn: why`")
            )
        if self.statement is not None and self.mend is not None:
            problems += [(("mend", *place), text) for place, text in _mend_problems(self.mend)]
        if self.row is not None and self.mend is not None and "id" in self.mend:
            problems.append((("mend", "id"), "a row keeps its id; drop the row instead"))
        if problems:
            raise mistakes(problems)
        return self

    @property
    def dataset(self) -> str | None:
        """The dataset of the release, None where none is named."""
        return self.release.partition(" ")[0] if self.release else None

    @property
    def about(self) -> str:
        """The row or statement that it is about."""
        return self.row or self.statement or ""

    def change(self) -> StatementChange:
        """Return what it makes of its statement."""
        parts: dict[str, object] = {}
        for name, value in (self.mend or {}).items():
            parts[name] = _parsed(name, value)
        return StatementChange.model_validate(
            {"entry": self.id, "statement": self.statement, "drop": bool(self.drop), **parts}
        )


Check = Callable[[Correction], Iterable[tuple[str, str]]]
"""Looks an entry up in published releases, and yields its fields that are wrong, and why."""


class Corrections(Strict):
    """All entries of a file."""

    corrections: tuple[Correction, ...] = ()

    @field_validator("corrections", mode="before")
    @classmethod
    def _none_yet(cls, entries: Any) -> Any:
        """Take `corrections:` with nothing behind it for an empty list."""
        return () if entries is None else entries

    @model_validator(mode="after")
    def _agreeing(self, info: ValidationInfo) -> "Corrections":
        """Check entries against each other, and with the `check` of the context, if any."""
        problems = list(_clashes(self.corrections))
        check: Check | None = (info.context or {}).get("check")
        for number, correction in enumerate(self.corrections):
            if check is not None and correction.withdrawn is None:
                for field_name, problem in check(correction):
                    problems.append((("corrections", number, *field_name.split(".")), problem))
        if problems:
            raise mistakes(problems)
        return self

    @property
    def ids(self) -> frozenset[str]:
        """The ids of all entries, also of withdrawn ones."""
        return frozenset(correction.id for correction in self.corrections)

    def of_statements(self) -> tuple[StatementChange, ...]:
        """Return what is made of statements, sorted by them."""
        changes = (
            correction.change()
            for correction in self.corrections
            if correction.statement is not None and correction.withdrawn is None
        )
        return tuple(sorted(changes, key=lambda change: change.statement))

    def of_rows(self, dataset: str) -> dict[str, Correction]:
        """Return the corrections of rows of one dataset, by row."""
        return {
            correction.row: correction
            for correction in self.corrections
            if correction.row is not None
            and correction.dataset == dataset
            and correction.withdrawn is None
        }


def read_corrections(path: Path, check: Check | None = None) -> Corrections:
    """Read a file of corrections; raise `UserError` with file and line of each mistake.

    `check` looks entries up, see `Check`.
    """
    return load(path, Corrections, {"check": check})


def partial_date(text: str) -> PartialDate | None:
    """Read a day, month or year as the interval that it is; None for any other text.

    >>> partial_date("2025-05")
    PartialDate(first=datetime.date(2025, 5, 1), last=datetime.date(2025, 5, 31))
    """
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    year, month, day = (int(digits) if digits else None for digits in match.groups())
    try:
        first = date(year or 0, month or 1, day or 1)
    except ValueError:
        return None
    last_month = month or 12
    last_day = day or calendar.monthrange(first.year, last_month)[1]
    return PartialDate(first, date(first.year, last_month, last_day))


def _clashes(corrections: Sequence[Correction]) -> Iterator[tuple[Loc, str]]:
    """Yield the entries that share an id, or of which two change the same row or statement."""
    known_ids: set[str] = set()
    first_entries: dict[tuple[str, str], str] = {}
    for number, correction in enumerate(corrections):
        place = ("corrections", number)
        if correction.id in known_ids:
            yield (*place, "id"), f"another entry is called {correction.id!r}, too"
        known_ids.add(correction.id)
        if correction.withdrawn is not None:
            continue
        is_row = correction.row is not None
        subject = (correction.dataset or "" if is_row else "", correction.about)
        if subject in first_entries:
            problem = (
                f"{first_entries[subject]!r} corrects the same; withdraw one of them, or make "
                "one of both"
            )
            yield (*place, "row" if is_row else "statement"), problem
        first_entries.setdefault(subject, correction.id)


def _mend_problems(mend: Mapping[str, JsonValue]) -> Iterator[tuple[Loc, str]]:
    """Yield what is wrong with the parts of a statement that are mended."""
    for name, value in mend.items():
        if name not in _STATEMENT_PARTS:
            near_name = did_you_mean(name, _STATEMENT_PARTS)
            hint = (
                f"did you mean {near_name}?" if near_name else "a statement has object, start, end"
            )
            yield (name,), f"no part of a statement that can be mended; {hint}"
        elif _parsed(name, value) is None:
            form = "an item: Q64" if name == "object" else "a day, month or year: 2025-05-06"
            form += f", or {OPEN}: it lasts" if name == "end" else ""
            yield (name,), f"write {form}"
    start, end = (_parsed(name, mend.get(name)) for name in ("start", "end"))
    if isinstance(start, PartialDate) and isinstance(end, PartialDate) and start.first > end.last:
        yield ("end",), "it ends before it starts"


def _parsed(name: str, value: JsonValue) -> PartialDate | str | None:
    """Return a part of a statement as it is compared and written; None for what it cannot be."""
    text = str(value)  # a year is a number to YAML
    if name == "object":
        return text if _ITEM.fullmatch(text) else None
    if name == "end" and text == OPEN:
        return OPEN
    return partial_date(text)


NO_CORRECTIONS = Corrections()
