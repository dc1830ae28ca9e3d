"""Raw parts: what a reader writes before labels, redirects and kinds are known.

A part is a folder with `part.json` and, as JSON lines, those of `statements.json.zst`,
`entities.json.zst`, `redirects.json.zst` and `dropped.json.zst` that have a row;
`builders.wikidata.finish` reads the parts of both routes, dump and SPARQL. They are JSON and
not Parquet so that reading processes need not import Arrow, which took each of them longer than
to read 100 MB of a dump.
"""

import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import zstandard

from factdrift.builders.core.dates import PartialDate
from factdrift.builders.core.files import fresh_folder
from factdrift.builders.core.seals import first_damage, write_checksums
from factdrift.builders.rows import Dropped, Rank

_ABOUT = "part.json"

PageKind = Literal["category", "disambiguation", "template", "list"]

PAGE_KINDS: dict[str, PageKind] = {
    "Q4167836": "category",
    "Q4167410": "disambiguation",
    "Q11266439": "template",
    "Q13406463": "list",
}
"""Values of P31 whose instances are pages of a wiki, not things in the world."""
_PAGES = frozenset(PAGE_KINDS)
Revision = Annotated[int, msgspec.Meta(ge=0, le=1 << 62)]
"""The number of an edit; a line with another is malformed."""


def page_kind(classes: Collection[str]) -> PageKind | None:
    """Return the kind of page of instances of these classes, or None for things in the world."""
    if _PAGES.isdisjoint(classes):
        return None
    return next(PAGE_KINDS[class_id] for class_id in classes if class_id in PAGE_KINDS)


class RawStatement(msgspec.Struct, frozen=True, gc=False):
    """One interval of one statement (`rows.Statement`); ids are as the source has them."""

    statement: Annotated[str, "statement id, with `$`"]
    subject: Annotated[str, "item id"]
    relation: Annotated[str, "property id"]
    object: Annotated[str | None, "item id; null where the value is unknown"]
    start_first: Annotated[date | None, "earliest possible first day; null: unknown"]
    start_last: Annotated[date | None, "latest possible first day; null: unknown"]
    end_first: Annotated[date | None, "earliest possible last day; null: unknown or open"]
    end_last: Annotated[date | None, "latest possible last day; null: unknown or open"]
    end_open: Annotated[bool, "true: no end is stated; false with a null end: ended, day unknown"]
    sighting: Annotated[bool, "true: P585 alone: seen on a day from `end_first` to `start_last`"]
    rank: Annotated[Rank, "rank of the statement; deprecated ones are left out"]
    reason: Annotated[Literal["undated", "contradictory"] | None, "null: dated"]
    line: Annotated[int, "the line of the dump; 0: from no dump"] = 0


class RawEntity(msgspec.Struct, gc=False):
    """One item, property or redirect."""

    id: Annotated[str, "Wikidata id"]
    label: Annotated[str | None, "English label, else the `mul` label"]
    aliases: Annotated[tuple[str, ...], "English and `mul` aliases, sorted, without the label"]
    enwiki: Annotated[str | None, "title of the English Wikipedia page; null: none"]
    sitelinks: Annotated[int, "number of sitelinks"]
    statements: Annotated[int, "number of statements of any kind"]
    kind: Annotated[PageKind | None, "the kind of wiki page it is; null: a thing in the world"]
    redirect: Annotated[str | None, "id that it redirects to; null: an entity of its own"]
    began: Annotated[PartialDate | None, "day of birth or inception; null: none is stated"] = None
    ended: Annotated[PartialDate | None, "day of death or dissolution; null: none is stated"] = None
    revision: Annotated[int, "the newest edit by its number; 0: not stated"] = 0
    line: Annotated[int, "the line of the dump; 0: from no dump"] = 0
    classes: Annotated[tuple[str, ...], "items that it is an instance of (P31)"] = ()
    description: Annotated[str | None, "English description, else the `mul` one"] = None
    countries: Annotated[tuple[str, ...], "jurisdictions (P1001), else countries (P17)"] = ()


Blocks = dict[int, dict[int, int]]
"""Number of lines by shard and block."""


class BadLine(msgspec.Struct, frozen=True, array_like=True):
    """A line that could not be read, by its place: `line` counts from 1 within the block."""

    shard: int
    block: int
    line: int
    reason: str
    detail: str


class PartSummary(msgspec.Struct):
    """The summary of a part: its counts, the `blocks` that it was read from, and its bad lines."""

    counts: Mapping[str, int]
    blocks: Blocks
    bad: Sequence[BadLine] = ()


Tables = Mapping[str, bytes]
"""Rows by table, each as JSON lines in frames of zstd, which may stand one behind another."""


def pack_tables(
    statements: Sequence[RawStatement] = (),
    entities: Sequence[RawEntity] = (),
    dropped: Sequence[Dropped] = (),
) -> Tables:
    """Rows as they stand in a part; a table without rows is left out."""
    encode_lines = msgspec.json.Encoder().encode_lines
    rows_by_table: dict[str, Sequence[object]] = {
        "statements": statements,
        "entities": [entity for entity in entities if entity.redirect is None],
        "redirects": [entity for entity in entities if entity.redirect is not None],
        "dropped": dropped,
    }
    return {
        table_name: zstandard.compress(encode_lines(rows), 1)
        for table_name, rows in rows_by_table.items()
        if rows
    }


def write_part(
    parts_folder: Path,
    part_name: str,
    tables: Iterable[Tables],
    *,
    counts: Mapping[str, int] | None = None,
    blocks: Blocks | None = None,
    bad: Sequence[BadLine] = (),
) -> None:
    """Write one part, the folder `parts/name`, whole or not at all; an older one is replaced.

    `tables` are written one after the other, and need never be in memory all at once.

    Keys of `counts` are `reason`, or `P54/reason` for what belongs to one relation; `finish`
    adds them up over all parts.
    """
    part_folder, temporary_folder = parts_folder / part_name, parts_folder / f".{part_name}.tmp"
    fresh_folder(temporary_folder)
    for packed_tables in tables:
        for table_name, table_bytes in packed_tables.items():
            with (temporary_folder / f"{table_name}.json.zst").open("ab") as table_file:
                table_file.write(table_bytes)
    part_summary = PartSummary(counts or {}, blocks or {}, bad)
    (temporary_folder / _ABOUT).write_bytes(msgspec.json.encode(part_summary))
    write_checksums(temporary_folder)
    shutil.rmtree(part_folder, ignore_errors=True)
    temporary_folder.rename(part_folder)


def damaged_parts(parts_folder: Path) -> list[Path]:
    """Return the finished parts in a folder that were changed since they were written."""
    part_folders = sorted(path.parent for path in parts_folder.glob(f"[!.]*/{_ABOUT}"))
    return [part_folder for part_folder in part_folders if first_damage(part_folder)]


def read_parts(parts_folder: Path) -> Iterator[PartSummary]:
    """The summaries of the finished parts in a folder, one at a time, in the order of their names.

    Those of a damaged dump have millions of bad lines together.
    """
    decode_summary = msgspec.json.Decoder(PartSummary).decode
    for path in sorted(parts_folder.glob(f"[!.]*/{_ABOUT}")):
        yield decode_summary(path.read_bytes())
