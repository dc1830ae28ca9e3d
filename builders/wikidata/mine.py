"""Mine dated facts from the JSON dump of Wikidata, in any of its forms."""

import json
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import date
from itertools import accumulate
from pathlib import Path
from typing import Any

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import locked, wait_for_sharers
from factdrift.builders.core.hashing import text_sha256
from factdrift.builders.core.progress import progress
from factdrift.builders.core.seals import sealed, unsealed
from factdrift.builders.core.streams import DifferingStreamError, RemoteFile
from factdrift.builders.rows import Dropped
from factdrift.builders.wikidata.finish import MinedTables, finish
from factdrift.builders.wikidata.parts import (
    Blocks,
    Tables,
    damaged_parts,
    pack_tables,
    read_parts,
    write_part,
)
from factdrift.builders.wikidata.reader import DumpReading, RemainingWork, Share, Tuning, read_dump
from factdrift.builders.wikidata.shards import find_shards, snapshot_day

_VERSION = 4
"""The version of parts. Raise it when a run must not go on with parts of older code."""
SHARE_FILE = "share.json"
"""The file that describes a folder with one of several shares."""
ALIVE_FILE = ".alive"
"""The file, in the folder of parts, without which tasks of a Spark stop."""
READING_LOCK = ".reading"
"""The file, in the folder of parts, that tasks of a Spark hold a lock on."""
RESUME_HINT = "run the same command again: it goes on where this run stopped"


_WORTH_PROCESSES = 4 << 20
"""Bytes of dumps from which on processes gain more than the half second that their start takes."""

DumpReader = Callable[[DumpReading, RemainingWork], None]
"""A function that writes parts for all remaining work."""
Dumps = str | Path | Sequence[str | Path | RemoteFile]
"""Files of dumps, or all of them files that are read from their addresses."""


def mine(
    dumps: Dumps,
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
    looked_up: Path | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> MinedTables:
    """Read dumps and write the tables of one snapshot into `out` (see `finish`).

    The tables hold the statements about items that have a time, of every relation, and the undated
    statements of the same subject and relation.

    - `dumps` are files (plain, gz, bz2, zst), globs of shards, or folders; or files at addresses,
      which are read as they come, and again from their beginning after a run that was stopped.
    - `undated` names the relations whose undated statements are all kept.
    - `snapshot` is the day of the dump, needed where the names of the files do not say it.
    - `jobs` is the number of processes; 1 starts none.
    - `memory` is DuckDB's limit at the end.
    - `work` is a folder for half-done work, by default `out/build`. A run that was stopped goes on
      there if files and `undated` are the same.
    - `checksums` are the sha256 of each file, in the order of `find_shards`; without them a file is
      known by name and size.
    - `reading` reads the dump, by default in processes (`builders.wikidata.tasks`: on a Spark).
    - `looked_up` is a Parquet file of ids (`id`): the table `finish.LOOKED_UP` says which of them
      the dump has, and deprecated statements of the relations `undated` are dropped one by one.
    - `say` receives messages for the user.

    The tables are the same, byte for byte, for any number of jobs, any compression, any division
    into shards and any `reading`.

    `UserError`: no such file, not a dump, cut short, no day, no room on the disk, stopped by
    Ctrl-C, another run at work. Source: TimeQA (arXiv 2108.06314) section 2.1.
    """
    work = work or out / "build"
    dump_reading, snapshot_date = _plan_reading(
        dumps,
        work,
        undated,
        snapshot,
        jobs,
        checksums,
        tuning,
        Share(),
        tells_deprecated=looked_up is not None,
    )
    with _reading(dump_reading, out):
        _read(dump_reading, say, jobs, reading)
        return _tables(dump_reading, out, snapshot_date, memory, jobs, say, looked_up)


def mine_share(
    dumps: Dumps,
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
    dump_reading, snapshot_date = _plan_reading(
        dumps, out, undated, snapshot, jobs, None, tuning, share
    )
    with _reading(dump_reading, out):
        _read(dump_reading, say, jobs)
        share_summary = {
            "parts": dump_reading.parts.name,
            "files": [file.name for file in dump_reading.files],
            "snapshot": snapshot_date.isoformat(),
            "undated": dump_reading.undated,
            "share": share,
        }
        share_text = json.dumps(sealed(share_summary), indent=1)
        (out / SHARE_FILE).write_text(share_text + "\n", "utf-8")
    return out


def merge_shares(
    shares: Sequence[Path],
    out: Path,
    *,
    jobs: int = 1,
    memory: str = "600MB",
    say: Callable[[str], None] = lambda text: None,
) -> MinedTables:
    """Make the tables from all shares of a dump, with the same bytes as one run over all of it.

    `UserError`: one is missing, or of other files.
    """
    share_summaries = [_read_share(share_folder) for share_folder in shares]
    first_summary = share_summaries[0]
    share_count = first_summary["share"][1]
    if any(
        {**summary, "share": None} != {**first_summary, "share": None}
        for summary in share_summaries
    ):
        raise UserError("shares of different dumps, or read with other templates", where=shares[0])
    if missing_shares := sorted(
        set(range(share_count)) - {summary["share"][0] for summary in share_summaries}
    ):
        share_names = ", ".join(f"{index + 1}/{share_count}" for index in missing_shares)
        raise UserError(
            f"not all shares are here: {share_names} is missing", hint="give every folder"
        )
    parts_folder = out / "build" / first_summary["parts"]
    files = tuple(map(Path, first_summary["files"]))
    dump_reading = DumpReading(files, parts_folder, tuple(first_summary["undated"]), Tuning())
    with _reading(dump_reading, out):
        for share_folder in shares:
            ignore_hidden = shutil.ignore_patterns(".*")
            shutil.copytree(
                share_folder / first_summary["parts"],
                parts_folder,
                ignore=ignore_hidden,
                dirs_exist_ok=True,
            )
        return _tables(
            dump_reading, out, date.fromisoformat(first_summary["snapshot"]), memory, jobs, say
        )


def _read_share(share_folder: Path) -> dict[str, Any]:
    """Return what a share says of itself; `UserError` where it or one of its parts was changed."""
    share_file = share_folder / SHARE_FILE
    share_summary = unsealed(share_file.read_bytes())
    hint_text = "read this share again, or copy it again from where it was read"
    if share_summary is None:
        error_text = "was changed since it was written, or is of an older version"
        raise UserError(error_text, where=share_file, hint=hint_text)
    if damaged := damaged_parts(share_folder / share_summary["parts"]):
        raise UserError("was changed since it was read", where=damaged[0], hint=hint_text)
    return share_summary


def _plan_reading(
    dumps: Dumps,
    base_folder: Path,
    undated: Collection[str],
    snapshot: date | str | None,
    jobs: int,
    checksums: Sequence[str] | None,
    tuning: Tuning | None,
    share: Share,
    tells_deprecated: bool = False,
) -> tuple[DumpReading, date]:
    """Return the files to read with the settings of the reading, and the snapshot day."""
    remote_files, dump_files = _dump_files(dumps)
    snapshot_date = snapshot_day(dump_files, snapshot)
    if jobs < 1:
        raise UserError(f"jobs has to be 1 or more, not {jobs}")
    tuning, undated = tuning or Tuning(), sorted(set(undated))
    # the same for a file and its address, so that one goes on where the other stopped
    sizes = [file.size for file in remote_files] or [file.stat().st_size for file in dump_files]
    file_names = list(checksums or [])
    if not file_names:
        file_names = [f"{file.name}|{size}" for file, size in zip(dump_files, sizes, strict=True)]
    if len(file_names) != len(dump_files):
        raise ValueError(f"{len(file_names)} checksums for {len(dump_files)} files")
    # a finished block is recognised by its shard and number alone, so the key covers all that
    # decides where blocks begin
    key_data = [_VERSION, file_names, undated, [tuning.block, tuning.longest]]
    parts_key = text_sha256(json.dumps([*key_data, "deprecated"] if tells_deprecated else key_data))
    parts = base_folder / f"parts-{parts_key[:16]}"
    dump_reading = DumpReading(
        tuple(dump_files), parts, tuple(undated), tuning, share, remote_files, tells_deprecated
    )
    return dump_reading, snapshot_date


def _dump_files(dumps: Dumps) -> tuple[tuple[RemoteFile, ...], list[Path]]:
    """Return the files at addresses, if there are any, and all files or their names."""
    if isinstance(dumps, str | Path):
        return (), find_shards(dumps)
    remote_files = tuple(dump for dump in dumps if isinstance(dump, RemoteFile))
    if remote_files:
        return remote_files, [Path(remote_file.name) for remote_file in remote_files]
    return (), find_shards([dump for dump in dumps if not isinstance(dump, RemoteFile)])


@contextmanager
def _reading(dump_reading: DumpReading, out: Path) -> Iterator[None]:
    """Lock the parts for this process, and turn errors that the user can mend into `UserError`."""
    parts = dump_reading.parts
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
    dump_reading: DumpReading,
    out: Path,
    snapshot_date: date,
    memory: str,
    jobs: int,
    say: Callable[[str], None],
    looked_up: Path | None = None,
) -> MinedTables:
    """Make the tables from all parts, then remove the parts, and their folder where it is empty."""
    _sum_up(dump_reading, say)
    tables = finish(
        dump_reading.parts,
        out,
        snapshot=snapshot_date,
        undated=dump_reading.undated,
        memory=memory,
        threads=jobs,
        scratch=dump_reading.parts.parent,
        looked_up=looked_up,
    )
    if repeated := tables.counts["counts"].get("repeated_entities"):
        say(f"{repeated} lines passed over: a later revision of their entity has a line, too")
    shutil.rmtree(dump_reading.parts)
    with suppress(OSError):  # another run's parts are in it, too
        dump_reading.parts.parent.rmdir()
    return tables


def _read(
    dump_reading: DumpReading,
    say: Callable[[str], None],
    jobs: int,
    reading: DumpReader | None = None,
) -> None:
    """Write parts for every block that no part covers yet, by `reading` or in processes."""
    for part_folder in damaged_parts(dump_reading.parts):
        say(f"{part_folder.name}: changed since it was read from the dump; it is read again")
        shutil.rmtree(part_folder)
    remaining = remaining_work(dump_reading, covered := covered_blocks(dump_reading.parts))
    if covered:
        block_count = sum(map(len, covered.values()))
        whole_files = len(dump_reading.files) - len(remaining.files)
        say(f"going on: {block_count} blocks and {whole_files} whole files are read already")
    if remaining.files and reading:
        reading(dump_reading, remaining)
    elif remaining.files:
        total_bytes = sum(map(dump_reading.size, remaining.files))
        jobs = jobs if total_bytes >= _WORTH_PROCESSES else 1
        with progress(total_bytes, "B", "reading the dump") as progress_bar:
            try:
                read_dump(dump_reading, remaining, progress_bar.advance, jobs=jobs)
            except DifferingStreamError:  # nothing of it can be trusted
                shutil.rmtree(dump_reading.parts)
                raise


def remaining_work(dump_reading: DumpReading, covered: Blocks) -> RemainingWork:
    """Return the work of this share that its parts do not cover yet.

    Each file with a missing block is read again, and blocks that parts cover are passed over.
    """
    # If there are at least as many files as shares, each file belongs as a whole to one share, so
    # that the share of its block 0 is the share of the file. If there are fewer files, the blocks
    # of every file are divided among the shares.
    shares_are_files = dump_reading.share.total <= len(dump_reading.files)
    files = []
    for file_number in range(len(dump_reading.files)):
        if shares_are_files and not dump_reading.has(file_number, 0):
            continue
        covered_here = covered.get(file_number, {})
        block_count = _about(dump_reading.parts, file_number).get("blocks")
        # The number of blocks is known only once the file has been read to its end.
        if block_count is None:
            files.append(file_number)
            continue
        own_blocks = (block for block in range(block_count) if dump_reading.has(file_number, block))
        if any(block not in covered_here for block in own_blocks):
            files.append(file_number)
    return RemainingWork(covered, files)


def _about(parts_folder: Path, shard: int) -> dict[str, int]:
    """Return the number of `blocks` of a shard and whether it is `unclosed`.

    The result is empty as long as the shard was not read to its end.
    """
    summary_path = parts_folder / f"shard-{shard:06}.json"
    shard_summary = unsealed(summary_path.read_bytes()) if summary_path.is_file() else None
    return shard_summary or {}


def covered_blocks(parts_folder: Path) -> Blocks:
    """Return the blocks that parts hold, with the number of lines of each."""
    blocks_by_shard: Blocks = {}
    for part_summary in read_parts(parts_folder):
        for shard, blocks in part_summary.blocks.items():
            blocks_by_shard.setdefault(shard, {}).update(blocks)
    return blocks_by_shard


def _sum_up(dump_reading: DumpReading, say: Callable[[str], None]) -> None:
    """Write one more part, with the bad lines by their numbers in the file and the line counts.

    These need all other parts. `UserError` where no part holds an entity.
    """
    files = dump_reading.files
    covered = covered_blocks(dump_reading.parts)
    if not any(_has_entity(part_summary.counts) for part_summary in read_parts(dump_reading.parts)):
        raise UserError("no entity in it", where=files[0])
    lines_before: dict[int, dict[int, int]] = {}  # by shard and block
    for shard, blocks in covered.items():
        line_sums = accumulate((blocks[block] for block in sorted(blocks)), initial=0)
        lines_before[shard] = dict(zip(sorted(blocks), line_sums, strict=False))
    unclosed_shards = [shard for shard in covered if _about(dump_reading.parts, shard)["unclosed"]]
    for shard in unclosed_shards:
        say(f"{files[shard].name}: the array has no end: the file may be cut")
    line_count = sum(sum(blocks.values()) for blocks in covered.values())
    counts = {"lines": line_count, "arrays_without_end": len(unclosed_shards)}
    file_names = [path.name for path in files]
    dropped_tables = _dropped_lines(dump_reading.parts, file_names, lines_before)
    write_part(dump_reading.parts, "lines", dropped_tables, counts=counts)


def _dropped_lines(
    parts_folder: Path, file_names: Sequence[str], lines_before: dict[int, dict[int, int]]
) -> Iterator[Tables]:
    """The bad lines of all parts as dropped rows, a table for each part."""
    for part_summary in read_parts(parts_folder):
        dropped = []
        for bad_line in part_summary.bad:
            line_number = lines_before[bad_line.shard][bad_line.block] + bad_line.line
            place = f"{file_names[bad_line.shard]}:{line_number}"
            no_statement = (None, None, None, None)
            dropped.append(Dropped("read", bad_line.reason, place, *no_statement, bad_line.detail))
        yield pack_tables(dropped=dropped)


def _has_entity(counts: Mapping[str, int]) -> bool:
    return any(counts.get(kind) for kind in ("items", "properties", "redirects"))
