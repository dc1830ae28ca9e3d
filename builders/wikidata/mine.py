"""Mine dated facts from the JSON dump of Wikidata, in any of its forms."""

import json
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import date
from itertools import accumulate
from pathlib import Path

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import locked, wait_for_sharers
from factdrift.builders.core.hashing import text_sha256
from factdrift.builders.core.progress import progress
from factdrift.builders.rows import Dropped
from factdrift.builders.wikidata.finish import MinedTables, finish
from factdrift.builders.wikidata.parts import Blocks, pack_tables, read_parts, write_part
from factdrift.builders.wikidata.reader import DumpReading, RemainingWork, Share, Tuning, read_dump
from factdrift.builders.wikidata.shards import find_shards, snapshot_day

_VERSION = 3
"""Raise it when parts written by older code must not be gone on with."""
SHARE_FILE = "share.json"
"""What a folder with one of several shares says of itself."""
ALIVE_FILE = ".alive"
"""The file, in the folder of parts, without which tasks of a Spark stop."""
READING_LOCK = ".reading"
"""The file, in the folder of parts, that tasks of a Spark hold a lock on."""
RESUME_HINT = "run the same command again: it goes on where this run stopped"


DumpReader = Callable[[DumpReading, RemainingWork], None]
"""What makes parts of all that is left."""


def mine(
    dumps: str | Path | Sequence[str | Path],
    out: Path,
    *,
    undated: Collection[str] = (),
    snapshot: date | str | None = None,
    jobs: int = 1,
    memory: str = "600MB",
    work: Path | None = None,
    checksums: Sequence[str] | None = None,
    tuning: Tuning | None = None,
    reading: DumpReader | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> MinedTables:
    """Read dumps and write the tables of one snapshot into `out` (see `finish`).

    Kept are the statements about items that have a time, of every relation, and the undated ones
    of the same subject and relation. `dumps`: files (plain, gz, bz2, zst), globs of shards, or
    folders. `undated`: the relations whose undated statements are all kept. `snapshot`: the day,
    where the names of the files do not say it. `jobs`: processes; 1 starts none. `memory`:
    DuckDB's limit at the end. `work`: a folder for half-done work, by default `out/build`; a run
    that was stopped is gone on with there, if files and `undated` are the same. `checksums`: sha256
    of each file, in the order of `find_shards`; without them a file is known by name and size.
    `reading`: who reads, by default the processes (`builders.wikidata.tasks`: a Spark). `say` is
    told what a user should know. The tables are the same, byte for byte, for any number of jobs,
    any compression, any division into shards and any `reading`.

    `UserError`: no such file, not a dump, cut short, no day, no room on the disk, stopped by
    Ctrl-C, another run at work. Source: TimeQA (arXiv 2108.06314) section 2.1.
    """
    work = work or out / "build"
    given, day = _work(dumps, work, undated, snapshot, jobs, checksums, tuning, Share())
    with _reading(given, out):
        _read(given, say, jobs, reading)
        return _tables(given, out, day, memory, jobs, say)


def mine_share(
    dumps: str | Path | Sequence[str | Path],
    out: Path,
    share: Share,
    *,
    undated: Collection[str] = (),
    snapshot: date | str | None = None,
    jobs: int = 1,
    tuning: Tuning | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Path:
    """Read one of several shares of dumps into `out`, for `merge_shares`.

    The other arguments are those of `mine`.
    """
    given, day = _work(dumps, out, undated, snapshot, jobs, None, tuning, share)
    with _reading(given, out):
        _read(given, say, jobs)
        about = {
            "parts": given.parts.name,
            "files": [file.name for file in given.files],
            "snapshot": day.isoformat(),
            "undated": given.undated,
            "share": share,
        }
        (out / SHARE_FILE).write_text(json.dumps(about, indent=1) + "\n", "utf-8")
    return out


def merge_shares(
    shares: Sequence[Path],
    out: Path,
    *,
    jobs: int = 1,
    memory: str = "600MB",
    say: Callable[[str], None] = lambda text: None,
) -> MinedTables:
    """Make the tables of all shares of a dump: the same bytes as one run over all of it.

    `UserError`: one is missing, or of other files.
    """
    known = [json.loads((folder / SHARE_FILE).read_text("utf-8")) for folder in shares]
    first = known[0]
    of = first["share"][1]
    if any({**one, "share": None} != {**first, "share": None} for one in known):
        raise UserError("shares of different dumps, or read with other templates", where=shares[0])
    if missing := sorted(set(range(of)) - {one["share"][0] for one in known}):
        names = ", ".join(f"{index + 1}/{of}" for index in missing)
        raise UserError(f"not all shares are here: {names} is missing", hint="give every folder")
    parts = out / "build" / first["parts"]
    files = tuple(map(Path, first["files"]))
    given = DumpReading(files, parts, tuple(first["undated"]), Tuning())
    with _reading(given, out):
        for folder in shares:
            hidden = shutil.ignore_patterns(".*")
            shutil.copytree(folder / first["parts"], parts, ignore=hidden, dirs_exist_ok=True)
        return _tables(given, out, date.fromisoformat(first["snapshot"]), memory, jobs, say)


def _work(
    dumps: str | Path | Sequence[str | Path],
    base: Path,
    undated: Collection[str],
    snapshot: date | str | None,
    jobs: int,
    checksums: Sequence[str] | None,
    tuning: Tuning | None,
    share: Share,
) -> tuple[DumpReading, date]:
    """What is to be read, and the day of it."""
    files = find_shards(dumps)
    day = snapshot_day(files, snapshot)
    if jobs < 1:
        raise UserError(f"jobs has to be 1 or more, not {jobs}")
    tuning, undated = tuning or Tuning(), sorted(set(undated))
    names = list(checksums or [f"{f.name}|{f.stat().st_size}" for f in files])
    if len(names) != len(files):
        raise ValueError(f"{len(names)} checksums for {len(files)} files")
    # blocks are known by shard and number
    key = text_sha256(json.dumps([_VERSION, names, undated, [tuning.block, tuning.longest]]))
    parts = base / f"parts-{key[:16]}"
    return DumpReading(tuple(files), parts, tuple(undated), tuning, share), day


@contextmanager
def _reading(given: DumpReading, out: Path) -> Iterator[None]:
    """Hold the parts for this process alone, and say what the user can mend."""
    parts = given.parts
    try:
        with locked(parts):
            (parts / ALIVE_FILE).unlink(missing_ok=True)
            if not wait_for_sharers(parts / READING_LOCK, 10):  # they would write into these parts
                raise UserError("tasks of an earlier run are still at work", where=parts)
            yield
    except KeyboardInterrupt:
        raise UserError("stopped", hint=RESUME_HINT) from None
    except OSError as error:
        raise UserError.of_disk(error, out) from error


def _tables(
    given: DumpReading, out: Path, day: date, memory: str, jobs: int, say: Callable[[str], None]
) -> MinedTables:
    """The tables of all parts; these are gone afterwards, and their folder where it is empty."""
    _sum_up(given, say)
    tables = finish(
        given.parts,
        out,
        snapshot=day,
        undated=given.undated,
        memory=memory,
        threads=jobs,
        scratch=given.parts.parent,
    )
    if repeated := tables.counts["counts"].get("repeated_entities"):
        say(f"{repeated} lines passed over: a later revision of their entity has a line, too")
    shutil.rmtree(given.parts)
    with suppress(OSError):  # another run's parts are in it, too
        given.parts.parent.rmdir()
    return tables


def _read(
    given: DumpReading, say: Callable[[str], None], jobs: int, reading: DumpReader | None = None
) -> None:
    """Make parts of every block that no part covers yet, by processes if nobody else reads."""
    todo = remaining_work(given, covered := covered_blocks(given.parts))
    if covered:
        blocks = sum(map(len, covered.values()))
        done = len(given.files) - len(todo.files)
        say(f"going on: {blocks} blocks and {done} whole files are read already")
    if todo.files and reading:
        reading(given, todo)
    elif todo.files:
        total = sum(given.files[n].stat().st_size for n in todo.files)
        with progress(total, "B", "reading the dump") as bar:
            read_dump(given, todo, bar.advance, jobs=jobs)


def remaining_work(given: DumpReading, covered: Blocks) -> RemainingWork:
    """What of a share the parts do not cover."""
    files = []
    for n in range(len(given.files)):
        if given.share.of <= len(given.files) and not given.has(n, 0):
            continue
        held, blocks = covered.get(n, {}), _about(given.parts, n).get("blocks")
        if blocks is None or any(b not in held for b in range(blocks) if given.has(n, b)):
            files.append(n)
    return RemainingWork(covered, files)


def _about(parts: Path, shard: int) -> dict[str, int]:
    """What is known of a shard that was read to its end: `blocks`, their number, `unclosed`."""
    path = parts / f"shard-{shard:06}.json"
    known: dict[str, int] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return known


def covered_blocks(parts: Path) -> Blocks:
    """The blocks that parts hold, with their numbers of lines."""
    found: Blocks = {}
    for about in read_parts(parts):
        for shard, blocks in about.blocks.items():
            found.setdefault(shard, {}).update(blocks)
    return found


def _sum_up(given: DumpReading, say: Callable[[str], None]) -> None:
    """Write the part of what only all parts together say, such as the number of a bad line.

    `UserError` where no part holds an entity.
    """
    known = read_parts(given.parts)
    covered = covered_blocks(given.parts)
    kinds = ("items", "properties", "redirects")
    if not any(about.counts.get(kind) for about in known for kind in kinds):
        raise UserError("no entity in it", where=given.files[0])
    before: dict[int, dict[int, int]] = {}  # lines before each block of a shard
    for shard, blocks in covered.items():
        sums = accumulate((blocks[b] for b in sorted(blocks)), initial=0)
        before[shard] = dict(zip(sorted(blocks), sums, strict=False))
    dropped = [
        Dropped(
            "read",
            bad.reason,
            f"{given.files[bad.shard].name}:{before[bad.shard][bad.block] + bad.line}",
            *(None, None, None, None),
            bad.detail,
        )
        for about in known
        for bad in about.bad
    ]
    unclosed = [n for n in covered if _about(given.parts, n)["unclosed"]]
    for n in unclosed:
        say(f"{given.files[n].name}: the array has no end: the file may be cut")
    lines = sum(sum(blocks.values()) for blocks in covered.values())
    counts = {"lines": lines, "arrays_without_end": len(unclosed)}
    write_part(given.parts, "lines", pack_tables(dropped=dropped), counts=counts)
