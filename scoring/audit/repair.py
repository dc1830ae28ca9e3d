"""The table as of a day, in its own form, and a list of what was changed."""

from collections.abc import Mapping
from datetime import date
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from factdrift.builders.core.files import replacing
from factdrift.builders.core.schema import typed_rows
from factdrift.scoring.audit.forms import ColumnChoice
from factdrift.scoring.audit.rows import JudgedFact
from factdrift.scoring.audit.steps import table_form
from factdrift.scoring.audit.tables import read_table, writing_like

CHANGES = "changes.jsonl"
_MENDED = ("true before", "true later", "never stated", "one of several")
"""The verdicts after which a row gets what surely holds; that some answers of a row that is still
true hold no longer is mended, too."""


class RepairCounts(NamedTuple):
    """How many rows were changed, and how many were left though their answers do not hold."""

    changed: int
    left_in_doubt: int
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

    Rows in doubt, not linked or not in the dump stay as they are, and so do rows for whose day the
    dump states nothing that surely holds, or several answers where the row has place for one.
    """
    changed = in_doubt = without_answer = 0
    encode = msgspec.json.Encoder(enc_hook=str).encode
    verdicts = groupby(typed_rows(judged_file, JudgedFact), key=attrgetter("row"))
    with (
        writing_like(table, out / f"repaired{table.suffix}") as write,
        replacing(out / CHANGES) as unfinished,
        unfinished.open("wb") as change_file,
    ):
        for row, (_, judged_facts) in zip(read_table(table), verdicts, strict=True):
            facts = list(judged_facts)
            repaired = None
            if any(fact.verdict == "in doubt" for fact in facts):
                in_doubt += 1
            elif len(facts) == 1 and _is_outdated(facts[0]):
                if facts[0].now:
                    form = table_form(columns, row, table)
                    repaired = form.repaired(row.record, facts[0].now)
                without_answer += repaired is None
            elif len(facts) == 1 and facts[0].verdict == "still true":
                repaired = dict(row.record)
            if repaired and as_of and facts[0].row_year is not None:
                repaired = table_form(columns, row, table).dated(repaired, as_of)
            if repaired is None or repaired == row.record:
                write(row)
                continue
            changed += 1
            write(row._replace(record=repaired))
            old = {
                name: row.record[name] for name in repaired if row.record[name] != repaired[name]
            }
            new = {name: repaired[name] for name in old}
            change = RowChange(row.number, row.line, facts[0].verdict, old, new)
            change_file.write(encode(change) + b"\n")
    return RepairCounts(changed, in_doubt, without_answer)


def _is_outdated(fact: JudgedFact) -> bool:
    """Whether the answers of a row are not what holds."""
    return fact.verdict in _MENDED or (fact.verdict == "still true" and bool(fact.gone))
