"""Facts by hand, and rows as Parquet files."""

from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from factdrift.builders.core.schema import arrow_schema, batches
from factdrift.builders.rows import Fact
from factdrift.builders.rows.facts import Rank
from tests.tables import column_of

Interval = tuple[date | None, date | None]
NO_LIFE = (None, None, None, None)
"""The last columns of `rows.Entity` where no birth and no death is known."""


def fact(
    subject: str,
    relation: str,
    object_id: str,
    start: Interval = (None, None),
    end: Interval | None = None,
    *,
    snapshot: date,
    statement: str = "",
    point: bool = False,
    rank: Rank = "normal",
) -> Fact:
    """A fact by hand; no `end` means open."""
    return Fact(
        statement=statement or f"{subject}${relation}-{object_id}-{start[0]}",
        subject=subject,
        relation=relation,
        object=object_id,
        start_first=start[0],
        start_last=start[1],
        end_first=end[0] if end else None,
        end_last=end[1] if end else None,
        end_open=end is None,
        point=point,
        sighting=False,
        rank=rank,
        snapshot=snapshot,
    )


def day(text: str) -> tuple[date, date]:
    """`2019`, `2019-07` or `2019-07-24` as an interval of days."""
    year, month, place = ([int(part) for part in text.split("-")] + [0, 0])[:3]
    first_day = date(year, month or 1, place or 1)
    if place:
        return first_day, first_day
    next_month = date(year + (month in (0, 12)), month % 12 + 1 if month else 1, 1)
    return first_day, next_month - timedelta(days=1)


def parquet(path: Path, row: Any, rows: Sequence[Any], group: int = 5_000) -> Path:
    """Rows as a Parquet file, in row groups small enough that several threads share them."""
    arrow_table = pa.Table.from_batches(batches(row, rows), schema=arrow_schema(row))
    pq.write_table(arrow_table, path, row_group_size=group)
    return path


def timelines_with(
    build: Path, relations: set[str], statements: set[str]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The segments and the gaps of the smallest timelines of a build that have all of these."""
    rows_found = []
    for path in sorted(build.glob("timelines-*/timelines.parquet")):
        segments = pq.read_table(path).to_pylist()
        stated_ids = {
            statement_id for segment in segments for statement_id in segment["statements"]
        }
        if statements <= stated_ids and relations <= set(column_of(segments, "relation")):
            rows_found.append((len(segments), path, segments))
    _, path, segments = min(rows_found, key=lambda statement_id: statement_id[0])
    return segments, pq.read_table(path.with_name("gaps.parquet")).to_pylist()
