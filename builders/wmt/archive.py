"""The files of a news archive: how they are found, cut into blocks of lines, and worked on."""

import os
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

import msgspec

from factdrift.builders.core.compressed import Compressed
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import find_files
from factdrift.builders.core.limits import LONGEST_LINE
from factdrift.builders.core.outside_tables import bounded_batches
from factdrift.builders.core.parallel import ordered_map
from factdrift.builders.core.progress import progress
from factdrift.builders.core.records import json_line, plain_rows, without_mark
from factdrift.builders.core.schema import reading

R = TypeVar("R")
Argument = TypeVar("Argument")
Paths = str | Path | Sequence[str | Path]
LineFormat = Literal["wmt", "jsonl"]

BLOCK_SIZE = 1 << 19
"""Bytes of a block of usual lines: it stays in the processor's cache while it is parsed, and
memory that is freed is used again."""
# Bytes that are decompressed at a time: half a block.
_PIECE = 1 << 18
# Matches `news-docs.2019.en.filtered.gz`, `a.jsonl` and `a.tsv.gz`, but not `notes.txt`.
_TAKEN = re.compile(
    r"^news-docs\.|\.(jsonl|ndjson|parquet)$|\.(jsonl|ndjson|tsv|txt)\.(gz|bz2|zst|zstd)$", re.I
)
# Names that download tools give to files while they write them.
_UNFINISHED = re.compile(r"\.(tmp|part|crdownload)$", re.I)
_YEAR = re.compile(r"^news-docs\.((?:19|20)\d\d)\.")


class LineBlock(NamedTuple):
    """Whole lines of one file.

    `form` is the format of the lines; `read` is the number of bytes of the (compressed) file that
    were read for the block.
    """

    data: bytes
    form: LineFormat
    read: int

    def lines(self) -> int:
        """The number of lines, counted anew at each call."""
        return self.data.count(b"\n") + (self.data[-1:] != b"\n")


def find_archives(paths: Paths) -> list[Path]:
    """The files that paths, globs and folders name, each once, sorted within each of them.

    From a folder come `news-docs.*` and files that end in .jsonl or .parquet. `UserError` where a
    path names nothing, or two files have the same name, because an article is identified by the
    name of its file and its line.
    """
    hint_text = "archives are named news-docs.YYYY.en.filtered.gz, *.jsonl or *.parquet"
    archives = find_files(paths, is_archive, "news archive", hint_text)
    paths_by_name: dict[str, Path] = {}
    for path in archives:
        if (same_name := paths_by_name.setdefault(path.name, path)) is not path:
            error_text = f"two archives have the name {path.name}, the other is {same_name}"
            raise UserError(
                error_text, where=path, hint="rename one: articles are known by file name"
            )
    return archives


def is_archive(name: str) -> bool:
    """Whether a file of a folder is an archive, which the published list of articles is not."""
    return bool(_TAKEN.search(name)) and not _UNFINISHED.search(name) and ".index." not in name


def last_possible_day(path: Path, until: date | None) -> date:
    """The last possible day of a file's articles: `until`, or the end of the year in its name."""
    year = _YEAR.search(path.name)
    year_end = date(int(year[1]), 12, 31) if year else date.max
    return min(year_end, until or date.max)


def line_blocks(path: Path, size: int = BLOCK_SIZE) -> Iterator[LineBlock]:
    """The lines of a file, plain, gz, bz2 or zst; rows of a Parquet file as JSON lines.

    A line's end is `\\n`; the last line may lack it; a byte order mark is no part of the first.
    `UserError` where the file cannot be read, is cut short or damaged (with how far it was read),
    has no line ends, or names its records by an `id` of their own.
    """
    hint_text = "download it again, or leave it out"
    with Compressed(path, threads=min(_cores() - 1, 1), block=_PIECE, hint=hint_text) as stream:
        if stream.head.startswith(b"PAR1"):
            yield from _parquet_blocks(path)
        else:
            yield from _line_blocks(stream, size)


def _cores() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _line_blocks(stream: Compressed, size: int) -> Iterator[LineBlock]:
    held_pieces: list[bytes | memoryview] = []
    held_bytes = position_before = 0
    line_format: LineFormat | None = None
    while True:
        next_piece = stream.read(min(size, _PIECE))
        line_end = next_piece.rfind(b"\n") + 1 if held_bytes + len(next_piece) >= size else 0
        held_bytes += len(next_piece)
        if next_piece and not line_end:
            held_pieces.append(next_piece)
            if held_bytes >= LONGEST_LINE:
                error_text = (
                    f"it has a line longer than {LONGEST_LINE >> 20} MB: not a news archive"
                )
                raise UserError(error_text, where=stream.path)
            continue
        if not held_bytes:
            return
        block_bytes = b"".join([*held_pieces, memoryview(next_piece)[:line_end]])
        held_pieces, held_bytes = [memoryview(next_piece)[line_end:]], len(next_piece) - line_end
        if line_format is None:
            block_bytes = without_mark(block_bytes, stream.path)
            line_format = "jsonl" if block_bytes[:64].lstrip(b" \t\r\n")[:1] == b"{" else "wmt"
            if line_format == "jsonl":
                _refuse_id(stream.path, block_bytes.partition(b"\n")[0])
        position = stream.position()
        yield LineBlock(block_bytes, line_format, position - position_before)
        position_before = position


def _refuse_id(path: Path, record: bytes) -> None:
    """Raise `UserError` where the first record has an `id`, which would be lost silently."""
    with suppress(msgspec.DecodeError, UnicodeError):
        first_record = msgspec.json.decode(record)
        if isinstance(first_record, dict) and "id" in first_record:
            raise _own_id(path, 1)


def _own_id(path: Path, line: int | None = None) -> UserError:
    error_text = "its records have `id`, but an article's id is made of its date and text"
    return UserError(
        error_text, where=path, line=line, hint="rename or remove `id`, such as to `url`"
    )


def _parquet_blocks(path: Path) -> Iterator[LineBlock]:
    import pyarrow as pa

    try:
        with reading(path) as file:
            all_columns = set(file.schema_arrow.names)
            if missing_columns := {"date", "text"} - all_columns:
                raise UserError(f"no column {', '.join(sorted(missing_columns))}", where=path)
            if "id" in all_columns:
                raise _own_id(path)
            column_names = [name for name in ("date", "text", "title") if name in all_columns]
            row_size = path.stat().st_size // max(file.metadata.num_rows, 1)
            for batch in bounded_batches(file, path, 1024, column_names):
                json_lines = b"".join([json_line(row) + b"\n" for row in plain_rows(batch)])
                yield LineBlock(json_lines, "jsonl", row_size * batch.num_rows)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise UserError(f"the Parquet file is damaged ({error})", where=path) from error


class BlockPlace(NamedTuple):
    """Where a block lies: the number of its file, and the number of lines before it there."""

    file: int
    first: int


def map_blocks(
    files: Sequence[Path],
    work: Callable[[bytes, LineFormat, Argument], R],
    argument_of: Callable[[BlockPlace, LineBlock], Argument | None],
    *,
    jobs: int = 1,
    block: int = BLOCK_SIZE,
    label: str = "reading the archive",
) -> Iterator[tuple[BlockPlace, R]]:
    """The results of `work(data, form, argument)` for every block, in the order of the archive.

    `argument_of(place, block)` gives the argument; a block for which it is None is skipped. With
    more than one job this process decompresses and other processes work, so that `work` has to be a
    module's function. An archive of one or two blocks starts no process. `UserError` as in
    `line_blocks`, or where a process died.
    """
    total_bytes = sum(file.stat().st_size for file in files)
    with progress(total_bytes, "B", label) as progress_bar:
        places: deque[BlockPlace] = deque()

        def calls() -> Iterator[
            tuple[Callable[[bytes, LineFormat, Argument], R], bytes, LineFormat, Argument]
        ]:
            for number, path in enumerate(files):
                lines_before = 0
                for line_block in line_blocks(path, block):
                    place = BlockPlace(number, lines_before)
                    argument = argument_of(place, line_block)
                    if argument is not None:
                        places.append(place)
                        yield work, line_block.data, line_block.form, argument
                    lines_before += line_block.lines()
                    progress_bar.advance(line_block.read)

        for result in ordered_map(_call, calls(), jobs=1 if total_bytes <= 2 * block else jobs):
            yield places.popleft(), result


def _call(
    call: tuple[Callable[[bytes, LineFormat, Argument], R], bytes, LineFormat, Argument],
) -> R:
    work, data, form, argument = call
    return work(data, form, argument)
