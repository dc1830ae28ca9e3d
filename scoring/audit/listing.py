"""The table with its verdicts, as people read it: `rows.csv`, and of stale rows alone `stale.csv`.

Both have the columns of the table itself, and before them the verdict in columns that begin with
`audit_`. A row with several facts, as of MQuAKE, has a line for each.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import groupby, islice
from operator import attrgetter
from pathlib import Path
from typing import Any, TextIO

from factdrift.builders.core.files import replacing
from factdrift.builders.core.schema import typed_rows
from factdrift.scoring.audit.rows import STALE, JudgedFact
from factdrift.scoring.audit.tables import TableRow, cell_value, layout_of, read_table

ROWS_CSV, STALE_CSV = "rows.csv", "stale.csv"
SHOWN = 5
"""Stale rows on the screen: as many as one reads to see what goes wrong."""
_MOST_COLUMNS = 1000
"""Columns of a table that are carried over: benchmarks have at most some dozen."""
_ID_COLUMNS = ("id", "_id", "uid", "uuid", "uniq_id", "case_id", "question_id", "qid")
"""Columns that name a row, the surest first."""
_AUDIT_COLUMNS = ("line", "verdict", "reason", "subject", "property", "answers", "until", "now")


@dataclass(frozen=True, slots=True)
class StaleRow:
    """A row whose answer held before the day, and no longer; `row_id` is the table's own."""

    line: int
    row_id: str | None
    subject: str | None
    relation: str | None
    answers: Sequence[str]
    until: str
    now: Sequence[str]

    def text(self) -> str:
        """The row on a line of a screen."""
        name = f"line {self.line}" + (f" ({self.row_id})" if self.row_id is not None else "")
        now = f"now {', '.join(self.now)}" if self.now else "nothing surely holds now"
        answers = ", ".join(self.answers)
        return f"{name}: {self.subject} {self.relation}: {answers}, ended {self.until}; {now}"


def write_listings(table: Path, judged_file: Path, out: Path) -> list[StaleRow]:
    """Write `rows.csv` and `stale.csv` into a folder; return the first stale rows."""
    own_columns = _columns(table)
    stale_rows: list[StaleRow] = []
    judged_rows = groupby(typed_rows(judged_file, JudgedFact), key=attrgetter("row"))
    with ExitStack() as stack:
        all_rows, only_stale = (
            _CsvFile(stack.enter_context(_opened(out / name)), own_columns)
            for name in (ROWS_CSV, STALE_CSV)
        )
        for row, (_, judged_facts) in zip(read_table(table), judged_rows, strict=True):
            for fact in judged_facts:
                audited = _audited(fact)
                all_rows.write(audited, row.record)
                if fact.verdict in STALE:
                    only_stale.write(audited, row.record)
                    if len(stale_rows) < SHOWN:
                        stale_rows.append(_stale_row(row, fact))
    return stale_rows


def until_text(fact: JudgedFact) -> str:
    """The last day on which the answer held: a day, `between` two days, or `by` one."""
    if fact.until_last is None:
        return "on an unknown day"
    if fact.until_first == fact.until_last:
        return fact.until_last.isoformat()
    if fact.until_first is None:
        return f"by {fact.until_last}"
    return f"between {fact.until_first} and {fact.until_last}"


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    """A text file that is there when it is whole; what is no text of UTF-8 is escaped."""
    with ExitStack() as stack:
        unfinished = stack.enter_context(replacing(path))
        yield stack.enter_context(unfinished.open("w", -1, "utf-8", "backslashreplace", newline=""))


class _CsvFile:
    """A table of comma-separated values with the verdict before the columns of the table."""

    def __init__(self, file: TextIO, own_columns: Sequence[str]) -> None:
        self._writer, self._own_columns = csv.writer(file, lineterminator="\n"), own_columns
        self._writer.writerow([*(f"audit_{name}" for name in _AUDIT_COLUMNS), *own_columns])

    def write(self, audited: Sequence[object], record: Mapping[str, Any]) -> None:
        """Write a line."""
        own_cells = [cell_value(record.get(column)) for column in self._own_columns]
        self._writer.writerow([*audited, *own_cells])


def _audited(fact: JudgedFact) -> list[object]:
    """The cells of a verdict, in the order of `_AUDIT_COLUMNS`."""
    is_stale = fact.verdict in STALE
    names = ["; ".join(_answers(fact)), until_text(fact) if is_stale else None]
    labels = "; ".join(holder.label for holder in fact.now)
    cells = [fact.line, fact.verdict, fact.reason, fact.subject, fact.relation, *names, labels]
    return [cell_value(cell) for cell in cells]


def _stale_row(row: TableRow, fact: JudgedFact) -> StaleRow:
    id_column = next((name for name in _ID_COLUMNS if row.record.get(name) is not None), None)
    return StaleRow(
        line=row.line,
        row_id=row.key if id_column is None else str(row.record[id_column])[:80],
        subject=fact.subject,
        relation=fact.relation,
        answers=_answers(fact),
        until=until_text(fact),
        now=[holder.label for holder in fact.now],
    )


def _answers(fact: JudgedFact) -> Sequence[str]:
    """The answers of a row; of an id alone also the name of the item, where the dump says it."""
    if len(fact.answers) == len(fact.gone) == 1 and fact.answers != fact.gone:
        return [f"{fact.answers[0]} ({fact.gone[0]})"]
    return fact.answers


def _columns(table: Path) -> list[str]:
    """The columns of a table in order, also of JSON whose rows differ; `_MOST_COLUMNS` at most."""
    rows = read_table(table)
    if layout_of(table) in ("table", "parquet"):
        rows = islice(rows, 1)  # all rows have the same columns
    names = (name for row in rows for name in row.record)
    return list(islice(_once(names), _MOST_COLUMNS))


def _once(names: Iterator[str]) -> Iterator[str]:
    """Each name once, in order."""
    seen: set[str] = set()
    for name in names:
        if name not in seen:
            seen.add(name)
            yield name
