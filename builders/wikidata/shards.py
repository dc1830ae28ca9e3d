"""The files of a dump: which they are, of what day, and their text in blocks of whole lines.

Where a block ends depends on the bytes alone, so that a later run finds the same blocks and
knows by their numbers which of them have been read.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from factdrift.builders.core.compressed import Compressed
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import find_files
from factdrift.builders.core.limits import LONGEST_LINE

if TYPE_CHECKING:  # working processes start in three quarters of the time without `requests`
    from factdrift.builders.core.streams import RemoteFile

BLOCK_SIZE = 8 << 20
"""Bytes that are read at a time, and so the size of a block of usual lines."""
_LOOK = 1 << 16
_SPACE = b" \t\r\n\xef\xbb\xbf"
_FOREIGN = {
    b"PAR1": "a Parquet file",
    b"<": "XML or HTML, perhaps an error page saved as the dump",
}
_TAKEN = re.compile(r"\.(json|jsonl|ndjson)(\.(gz|bz2|zst|zstd))?$|\.(gz|bz2|zst|zstd)$", re.I)
_DAY = re.compile(r"(?<!\d)(\d{4})(\d{2})(\d{2})(?!\d)")


def find_shards(dumps: str | Path | Sequence[str | Path]) -> list[Path]:
    """The files that paths, globs and folders name, each once, sorted within each of them.

    `UserError` where one names nothing.
    """
    hint_text = "its files end in .json, .json.gz, .json.bz2 or .json.zst"
    return find_files(dumps, is_shard, "dump", hint_text)


def is_shard(name: str) -> bool:
    """Whether a file of a folder is one of a dump, by its name."""
    return bool(_TAKEN.search(name))


def snapshot_day(paths: Sequence[Path], stated_day: date | str | None = None) -> date:
    """The day of a dump: as given, else as all of its file names say it.

    `wikidata-20261109-all.json.gz` and `20261109.json.gz` are of 9 November 2026. `UserError`:
    no name says a day, two say different ones, it is not a day of the calendar, or it is to come.
    """
    try:
        day = _named_day(paths) if stated_day is None else date.fromisoformat(str(stated_day))
    except ValueError as error:
        raise UserError(f"not a snapshot day: {stated_day!r} (write 2026-11-09)") from error
    if day > datetime.now(UTC).date():  # the clock refuses, and decides nothing
        where = paths[0] if stated_day is None else None
        raise UserError(f"the snapshot day {day} is after today", where=where)
    return day


def _named_day(paths: Sequence[Path]) -> date:
    """The day that the names of the files of a dump say."""
    hint_text = "say the day: --snapshot-date 2026-11-09, or `snapshot: 2026-11-09` in the recipe"
    paths_by_day: dict[date, Path] = {}
    for path in paths:
        for day_match in _DAY.findall(path.name):
            try:
                paths_by_day.setdefault(date(*map(int, day_match)), path)
            except ValueError:
                error_text = f"{''.join(day_match)} in its name is not a day"
                raise UserError(error_text, where=path, hint=hint_text) from None
    if not paths_by_day:
        raise UserError("its name does not say the day of the dump", where=paths[0], hint=hint_text)
    if len(paths_by_day) > 1:
        named_days = ", ".join(
            f"{path.name} ({day})" for day, path in sorted(paths_by_day.items())[:3]
        )
        raise UserError(f"files of different days: {named_days}", hint=hint_text)
    return next(iter(paths_by_day))


def open_shard(path: Path, threads: int = 0, remote: "RemoteFile | None" = None) -> Compressed:
    """One file of a dump; `threads` is how many may decompress beside the caller's.

    `remote` is the file where it is read from its address.
    """
    hint_text = "download it again; what was read before it is kept, and a rerun goes on"
    return Compressed(path, threads=threads, foreign=_FOREIGN, hint=hint_text, remote=remote)


# --- Blocks -------------------------------------------------------------------------------------


class Block(NamedTuple):
    """Whole lines, in `buffer[:end]`; `too_long` > 0: one line of so many bytes, passed over."""

    number: int
    end: int
    too_long: int = 0


class BlockCutter:
    """The blocks of one shard, in order, each put into a buffer of the caller's.

    Lines that are longer than the buffer are passed over; some of those between `longest` and
    that are not, for the caller to refuse.

    `opened` tells whether the text is a JSON array, and `closed`, after the last block, whether
    that array has its end.
    """

    def __init__(
        self, shard: Compressed, size: int = BLOCK_SIZE, longest: int = LONGEST_LINE
    ) -> None:
        self._shard, self._size, self._longest = shard, size, longest
        self._carry = b""
        self._ended = self._begun = False
        self.number = 0
        self.opened = self.closed = False

    def fill(self, buffer: memoryview) -> Block | None:
        """Put the next block into `buffer`, of `longest + size` bytes; None after the last one."""
        filled_end = len(self._carry)
        buffer[:filled_end] = self._carry
        fill_goal, searched_end = max(self._size, filled_end), 0
        while True:
            filled_end = self._read(buffer, filled_end, fill_goal)
            block_end = (
                filled_end if self._ended else _last_newline(buffer, searched_end, filled_end) + 1
            )
            if block_end or self._ended:
                break
            if filled_end >= self._longest:
                return self._pass_over(buffer, filled_end)
            fill_goal, searched_end = filled_end + self._size, filled_end
        self._carry = bytes(buffer[block_end:filled_end])
        if not block_end:
            return None
        self._look_at_ends(buffer, block_end)
        return self._block(block_end)

    def _read(self, buffer: memoryview, filled_end: int, fill_goal: int) -> int:
        if filled_end < fill_goal and not self._ended:
            byte_count = self._shard.readinto(buffer, filled_end, fill_goal)
            self._ended = byte_count < fill_goal - filled_end
            filled_end += byte_count
        return filled_end

    def _pass_over(self, buffer: memoryview, line_length: int) -> Block:
        """Read to the end of a line that is too long, and keep what stands behind it."""
        while not self._ended:
            filled_end = self._read(buffer, 0, self._size)
            newline = bytes(buffer[:filled_end]).find(b"\n")
            if newline >= 0:
                self._carry = bytes(buffer[newline + 1 : filled_end])
                return self._block(0, line_length + newline)
            line_length += filled_end
        self._carry = b""
        return self._block(0, line_length)

    def _block(self, end: int, too_long: int = 0) -> Block:
        self.number += 1
        return Block(self.number - 1, end, too_long)

    def _look_at_ends(self, buffer: memoryview, cut: int) -> None:
        """Note the first and the last byte of the text that is no space."""
        if not self._begun:
            head = bytes(buffer[: min(cut, _LOOK)]).lstrip(_SPACE)
            self._begun, self.opened = bool(head), head[:1] == b"["
        if tail := bytes(buffer[max(cut - _LOOK, 0) : cut]).rstrip(_SPACE):
            self.closed = tail[-1:] == b"]"


def line_spans(block: memoryview) -> Iterator[tuple[int, int]]:
    """Return the start and end of each line of a block, without its newline."""
    start = piece_start = 0
    while piece_start < len(block):
        piece = bytes(
            block[piece_start : piece_start + _LOOK]
        )  # memory has a fast search, a view has none
        newline = piece.find(b"\n")
        while newline >= 0:
            yield start, piece_start + newline
            start = piece_start + newline + 1
            newline = piece.find(b"\n", newline + 1)
        piece_start += len(piece)
    if start < len(block):
        yield start, len(block)


def _last_newline(buffer: memoryview, start: int, end: int) -> int:
    """The place of the last newline in `buffer[start:end]`, -1 where there is none."""
    while end > start:
        piece_start = max(start, end - _LOOK)
        newline = bytes(buffer[piece_start:end]).rfind(b"\n")
        if newline >= 0:
            return piece_start + newline
        end = piece_start
    return -1
