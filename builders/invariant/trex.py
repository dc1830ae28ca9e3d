"""T-REx as LAMA publishes it: JSON lines with a subject, an object and a relation each."""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from factdrift.builders.core.schema import arrow_schema
from factdrift.builders.rows import Dropped, TrexFact

BATCH = 4096
_FIELDS = ("sub_uri", "sub_label", "predicate_id", "obj_uri", "obj_label")
_ITEM = re.compile("Q[1-9][0-9]{0,18}")


def read_trex(files: Sequence[Path], relations: Collection[str], out: Path) -> None:
    """Write `trex.parquet` (`rows.TrexFact`) and `dropped.parquet` (`rows.Dropped`), by line.

    A line that is no fact is dropped as `bad_line`, with what is wrong; one of a relation that
    is not asked for as `other_relation`. Blank lines are nothing. Memory: a batch of lines.
    """
    facts, drops = arrow_schema(TrexFact), arrow_schema(Dropped)
    with (
        pq.ParquetWriter(out / "trex.parquet", facts) as kept,
        pq.ParquetWriter(out / "dropped.parquet", drops) as left,
    ):
        waiting: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
        for fact, drop in _lines(files, relations):
            waiting[0].extend([fact] if fact else [])
            waiting[1].extend([drop] if drop else [])
            if sum(map(len, waiting)) >= BATCH:
                _flush(waiting, kept, left)
        _flush(waiting, kept, left)


def _flush(
    waiting: tuple[list[dict[str, Any]], list[dict[str, Any]]],
    kept: pq.ParquetWriter,
    left: pq.ParquetWriter,
) -> None:
    for rows, writer in zip(waiting, (kept, left), strict=True):
        writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=writer.schema))
        rows.clear()


def _lines(
    files: Sequence[Path], relations: Collection[str]
) -> Iterator[tuple[dict[str, Any] | None, dict[str, Any] | None]]:
    for path in sorted(files, key=lambda p: (p.name, str(p))):
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    found = parse(line)
                except BadLineError as error:
                    yield None, _dropped(path, number, "bad_line", str(error))
                    continue
                if found["relation"] not in relations:
                    yield None, _dropped(path, number, "other_relation", found["relation"])
                    continue
                yield {**found, "file": path.name, "line": number}, None


class BadLineError(ValueError):
    """A line that states no fact; its text is kept in the list of what was dropped."""


def parse(line: bytes) -> dict[str, Any]:
    """The columns of `rows.NamedInvariant` of a line; `BadLineError` says what is wrong."""
    try:
        read = json.loads(line)
    except UnicodeDecodeError:
        raise BadLineError("not UTF-8") from None
    except (ValueError, RecursionError):
        raise BadLineError("not JSON") from None
    if not isinstance(read, dict):
        raise BadLineError("not a JSON object")
    for name in _FIELDS:
        text = read.get(name)
        if not isinstance(text, str) or not text.strip():
            raise BadLineError(f"no {name}")
        if not text.isprintable():
            raise BadLineError(f"{name} has characters that cannot be printed")
    for name in ("sub_uri", "obj_uri"):
        if not _ITEM.fullmatch(read[name]):
            raise BadLineError(f"{name} is no item id: {read[name][:40]}")
    return {
        "subject": read["sub_uri"],
        "subject_label": " ".join(read["sub_label"].split()),
        "relation": read["predicate_id"],
        "object": read["obj_uri"],
        "object_label": " ".join(read["obj_label"].split()),
        "aliases": [],
        "sitelinks": None,
        "statements": None,
    }


def _dropped(path: Path, line: int, reason: str, detail: str) -> dict[str, Any]:
    none = dict.fromkeys(("subject", "relation", "period", "score"))
    found = {"step": "trex", "reason": reason, "item": f"{path.name}:{line}", "detail": detail}
    return {**none, **found}
