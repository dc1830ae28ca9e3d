"""From raw parts to the tables of one snapshot; the last step of both routes, dump and SPARQL.

Everything is SQL on DuckDB, which spills what does not fit: labels of 100 million entities
never stand in memory. The bytes of the tables depend on the rows alone, not on how these were
spread over parts, nor on the number of threads.
"""

import json
import shutil
from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factdrift.builders.core import duck
from factdrift.builders.core.errors import UserError
from factdrift.builders.wikidata.entities import EDITED
from factdrift.builders.wikidata.parts import read_parts
from factdrift.builders.wikidata.tables import (
    count,
    judge,
    later_starts,
    load,
    resolve_redirects,
    write,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

_WRITING = timedelta(days=7)
"""A dump is named by the day on which its writing began, and is edited meanwhile."""
_PLANNED = 10
"""So many starts, or one in a hundred, may be after the day of a dump: what is planned."""
TABLES = ("statements.parquet", "entities.parquet", "dropped.parquet", "mined.json")


@dataclass(frozen=True)
class Mined:
    """The tables of one snapshot, and what was counted: the content of `mined.json`."""

    statements: Path
    entities: Path
    dropped: Path
    summary: Path
    snapshot: date
    counts: Mapping[str, Any]


def finish(
    parts: Path,
    out: Path,
    *,
    snapshot: date,
    undated: Collection[str],
    relations: Collection[str] | None = None,
    memory: str = "600MB",
    threads: int = 2,
    scratch: Path | None = None,
) -> Mined:
    """Make the tables of one snapshot from raw parts (`builders.wikidata.parts.write_part`).

    Redirects are resolved. A statement that is no fact keeps its row, with the reason: its subject
    or object has no label, its object is unknown or a page of a wiki (category, disambiguation,
    template, list), it contradicts itself, or it is undated beside a dated one of its subject and
    relation. Writes `statements.parquet`, `entities.parquet`, `dropped.parquet` (`rows.Statement`
    and so on, sorted) and `mined.json` into `out`: all of them, or, on an error, none of them.

    `UserError` also where `snapshot` is before the newest edit, or starts that cannot be plans.
    `undated`: the relations whose undated statements are kept in any case; `relations`: those
    that were asked for, None: all; `memory`: DuckDB's limit; `scratch`: a folder for what does not
    fit, by default `out/build`. Source: TimeQA (arXiv 2108.06314) section 2.1.
    """
    scratch = scratch or out / "build"
    temporary = out / ".tables.tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    counts: Counter[str] = Counter()
    for about in read_parts(parts).values():
        counts.update(about.counts)
    edited = max((key for key in counts if key.startswith(EDITED)), default="").removeprefix(EDITED)
    if edited > str(snapshot + _WRITING):
        raise _too_early(snapshot, f"an entity in it was last edited on {edited}")
    counts = Counter({key: n for key, n in counts.items() if not key.startswith(EDITED)})
    with _connect(scratch / "spill", memory, threads) as con:
        load(con, parts)
        counts["redirect_loops"] = resolve_redirects(con)
        counts.update(judge(con, undated))
        later, dated, newest = later_starts(con, snapshot)
        if later > _PLANNED and later * 100 > dated:
            raise _too_early(snapshot, f"{later:,} of its {dated:,} starts are later, to {newest}")
        write(con, temporary, snapshot)
        counts.update(count(con, temporary))
    summary = _summary(snapshot, undated, relations, counts)
    text = json.dumps(summary, indent=1, sort_keys=True, ensure_ascii=False)
    (temporary / TABLES[-1]).write_text(text + "\n", "utf-8")
    (out / TABLES[-1]).unlink(missing_ok=True)
    for name in TABLES:  # the summary last: where it is, the tables are whole
        (temporary / name).replace(out / name)
    temporary.rmdir()
    statements, entities, dropped, mined = (out / name for name in TABLES)
    return Mined(statements, entities, dropped, mined, snapshot, summary)


def _too_early(snapshot: date, why: str) -> UserError:
    hint = "say the day on which the dump was made, with --snapshot-date or as PATH@YYYY-MM-DD"
    return UserError(f"the snapshot day {snapshot} is before what the dump says: {why}", hint=hint)


@contextmanager
def _connect(spill: Path, memory: str, threads: int) -> "Iterator[duckdb.DuckDBPyConnection]":
    import duckdb

    spill.mkdir(parents=True, exist_ok=True)
    try:
        with duck.connect(spill, memory, threads, ordered=False) as con:
            yield con
    except duckdb.OutOfMemoryException as error:
        first = str(error).splitlines()[0]
        hint = "give it more (a quarter of Wikidata takes 600MB); a rerun reads nothing again"
        raise UserError(f"{memory} of memory is too little ({first})", hint=hint) from error
    except duckdb.IOException as error:
        raise UserError(f"the tables cannot be written: {error}", where=spill.parent) from error
    finally:
        shutil.rmtree(spill, ignore_errors=True)


def read_summary(path: Path) -> dict[str, Any]:
    """The content of a `mined.json`; `UserError` where it is none, or one of an older edition."""
    try:
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if {"snapshot", "asked", "undated", "relations"} <= found.keys():
            return found
    except (ValueError, AttributeError):
        pass
    text = "not what mining writes now: it comes from an older version, or from elsewhere"
    raise UserError(text, where=path, hint="mine the dump again")


def _summary(
    snapshot: date,
    undated: Collection[str],
    asked: Collection[str] | None,
    counts: Mapping[str, int],
) -> dict[str, Any]:
    """The content of `mined.json`: what was kept, dropped and seen, in all and by relation."""
    of: dict[str, dict[str, int]] = {relation: {} for relation in (*undated, *(asked or ()))}
    total: Counter[str] = Counter()
    for key, n in counts.items():
        relation, _, name = key.rpartition("/")
        if relation:
            of.setdefault(relation, {})[name] = n
        else:
            total[name] += n
    return {
        "snapshot": snapshot.isoformat(),
        "asked": sorted(asked) if asked is not None else None,
        "undated": sorted(undated),
        "relations": of,
        "counts": dict(total),
    }
