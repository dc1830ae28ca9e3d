"""The table as of a day, in its own form, and a list of what was changed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from factdrift.builders.core.files import replacing
from factdrift.builders.core.schema import typed_rows
from factdrift.scoring.audit.forms import ColumnChoice
from factdrift.scoring.audit.rows import TRUE, JudgedFact, Verdict
from factdrift.scoring.audit.steps import table_form
from factdrift.scoring.audit.tables import TableRow, read_table, writing_like

CHANGES = "changes.jsonl"
_MENDED: tuple[Verdict, ...] = ("true before", "true later")
"""The verdicts after which a row gets what surely holds on the day."""

_LEFT: dict[Verdict, str] = {
    "in doubt": "left_in_doubt",
    "never stated": "left_never_stated",
}
"""The verdicts that no repair follows, and their counts."""


class RepairCounts(NamedTuple):
    """How many rows were changed, and how many were left though they may not hold."""

    changed: int
    left_in_doubt: int
    left_never_stated: int
    left_without_answer: int


class RowChange(msgspec.Struct, frozen=True):
    """A row that was changed: the columns that changed, before and after."""

    row: int
    line: int
    verdict: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]


def write_repaired(
    table: Path,
    judged_file: Path,
    out: Path,
    columns: ColumnChoice | None,
    as_of: date | None = None,
) -> RepairCounts:
    """Write the table with the answers that hold, and `changes.jsonl`, into a folder.

    `as_of`: the day that all rows were judged by, which rows with a date of their own get.

    A row whose answers hold stays as it is, also where others hold beside them: the table keeps its
    answers as long as they are true. So do rows that the dump does not prove wrong: never stated,
    in doubt, not linked or not in the dump; and rows for whose day it states nothing that surely
    holds, or several answers where the row has place for one.
    """
    mender = _RowMender(table, columns, as_of)
    encode = msgspec.json.Encoder(enc_hook=str).encode
    judged_rows = groupby(typed_rows(judged_file, JudgedFact), key=attrgetter("row"))
    with (
        writing_like(table, out / f"repaired{table.suffix}") as write,
        replacing(out / CHANGES) as unfinished,
        unfinished.open("wb") as change_file,
    ):
        for row, (_, judged_facts) in zip(read_table(table), judged_rows, strict=True):
            facts = list(judged_facts)
            record = mender.mended(row, facts)
            write(row._replace(record=record))
            if record != row.record:
                mender.counts["changed"] += 1
                change_file.write(encode(_row_change(row, record, facts[0].verdict)) + b"\n")
    return RepairCounts(*(mender.counts[name] for name in RepairCounts._fields))


class _RowMender:
    """Mends rows of a table, and counts those that it leaves though their answers do not hold."""

    def __init__(self, table: Path, columns: ColumnChoice | None, as_of: date | None) -> None:
        self._table, self._columns, self._as_of = table, columns, as_of
        self.counts: Counter[str] = Counter()

    def mended(self, row: TableRow, facts: Sequence[JudgedFact]) -> dict[str, Any]:
        """The row as it should be; the row as it is where it is right, or cannot be mended."""
        for verdict, count in (
            ("in doubt", "left_in_doubt"),
            ("never stated", "left_never_stated"),
        ):
            if any(fact.verdict == verdict for fact in facts):
                self.counts[count] += 1
                return row.record
        fact = facts[0]
        is_outdated = _is_outdated(fact)
        if len(facts) > 1 or not (is_outdated or fact.verdict in TRUE):
            self.counts["left_without_answer"] += any(map(_is_outdated, facts))
            return row.record
        form = table_form(self._columns, row, self._table)
        record: dict[str, Any] | None = row.record
        if is_outdated:
            record = form.repaired(row.record, fact.now) if fact.now else None
        if record is None:
            self.counts["left_without_answer"] += 1
            return row.record
        has_date = self._as_of is not None and fact.row_year is not None
        return form.dated(record, self._as_of) if has_date and self._as_of else record


def _row_change(row: TableRow, record: Mapping[str, Any], verdict: str) -> RowChange:
    """What a repair changes in a row."""
    before = {name: value for name, value in row.record.items() if record[name] != value}
    after = {name: record[name] for name in before}
    return RowChange(row.number, row.line, verdict, before, after)


def _is_outdated(fact: JudgedFact) -> bool:
    """Whether an answer of a row holds no longer, or not yet.

    Of one answer that holds, `gone` has only other items of the same name.
    """
    lists_gone = len(fact.answers) > 1 and bool(fact.gone)
    return fact.verdict in _MENDED or (fact.verdict in TRUE and lists_gone)
