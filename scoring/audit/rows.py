"""The tables of an audit: what is asked of a dump, and what it says."""

from dataclasses import dataclass
from datetime import date
from typing import Annotated, Literal

Verdict = Literal[
    "still true",
    "one of several",
    "true before",
    "true later",
    "never stated",
    "in doubt",
    "not in the dump",
    "not linked",
]
"""still true: an answer surely holds on the day. one of several: likewise, beside others that the
row does not list. true before, true later: it surely held before the day, or holds after it, and
surely not on it. never stated: the dump states the relation of this subject, and never with this
answer. in doubt: the dump has something of it that cannot be read in one way. not in the dump: it
has no such subject, or states nothing of the relation, so that nothing is said of the answer. not
linked: the row names no subject or no property that can be looked up, so that it is not judged."""
VERDICTS: tuple[Verdict, ...] = (
    *("still true", "one of several", "true before", "true later"),
    *("never stated", "in doubt", "not in the dump", "not linked"),
)
TRUE: tuple[Verdict, ...] = ("still true", "one of several")
"""The verdicts on answers that hold."""
STALE: tuple[Verdict, ...] = ("true before",)
"""The verdicts on answers that held, and no longer do."""
MEANINGS: dict[Verdict, str] = {
    "still true": "the answer holds",
    "one of several": "it holds, beside others that the row does not list",
    "true before": "stale: it held before the day, and no longer",
    "true later": "it began to hold after the day",
    "never stated": "the dump states others, and never this one",
    "in doubt": "the dump can be read in more than one way",
    "not in the dump": "the dump is silent: nothing is said of the answer",
    "not linked": "no id or property to look it up by: not judged",
}
"""Verdict -> what it means, in the words of the screen."""
TOLD: tuple[Verdict, ...] = VERDICTS[:5]
"""The verdicts by which the dump tells something of the answer."""


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """One answer of a row: the item, where the table has its id, and its names."""

    id: Annotated[str | None, "item id; null: only names"]
    names: Annotated[tuple[str, ...], "names that count as this answer, the first one its own"]


@dataclass(frozen=True, slots=True)
class TableFact:
    """One fact that a row of the table holds to be true."""

    row: Annotated[int, "number of the row in the table, from 1"]
    place: Annotated[int, "place of the fact in the row, from 0: rows of MQuAKE have several"]
    line: Annotated[int, "line of the file where the row begins"]
    subject: Annotated[str | None, "item id of the subject"]
    relation: Annotated[str | None, "property id"]
    first_day: Annotated[date | None, "first day of the row's own date; null: it has none"]
    last_day: Annotated[date | None, "last day of the row's own date"]
    answers: Annotated[tuple[TableAnswer, ...], "the answers of the row"]
    unlinked: Annotated[str | None, "why the row cannot be linked; null: it is"]


@dataclass(frozen=True, slots=True)
class LookedUpId:
    """An id that the table names."""

    id: Annotated[str, "item id"]


@dataclass(frozen=True, slots=True)
class Holder:
    """An item that the dump states as object of the relation."""

    id: Annotated[str, "item id"]
    label: Annotated[str, "its label"]
    aliases: Annotated[tuple[str, ...], "its other names"]


@dataclass(frozen=True, slots=True)
class JudgedFact:
    """A fact of the table with the verdict of the dump."""

    row: Annotated[int, "number of the row in the table, from 1"]
    place: Annotated[int, "place of the fact in the row, from 0"]
    line: Annotated[int, "line of the file where the row begins"]
    subject: Annotated[str | None, "item id of the subject, as the table has it"]
    relation: Annotated[str | None, "property id"]
    answers: Annotated[tuple[str, ...], "the first name, else the id, of each answer"]
    verdict: Annotated[str, "still true, one of several, true before, true later, …"]
    reason: Annotated[str | None, "why in doubt, what the dump lacks, or why not linked"]
    first_day: Annotated[date | None, "first day that the verdict is about"]
    last_day: Annotated[date | None, "last day that the verdict is about"]
    until_first: Annotated[date | None, "true before: earliest possible last day"]
    until_last: Annotated[date | None, "true before: latest possible last day"]
    from_year: Annotated[int | None, "year in which the fact of the answer began, where known"]
    row_year: Annotated[int | None, "year of the row's own date"]
    now: Annotated[tuple[Holder, ...], "what surely holds on the day"]
    gone: Annotated[tuple[str, ...], "answers of the row that surely do not hold on the day"]
