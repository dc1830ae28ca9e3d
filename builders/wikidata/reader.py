"""Read blocks of lines into raw parts: the work of one process."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import msgspec

from builders.errors import UserError
from builders.wikidata.blocks import LONGEST, SIZE, Block, lines
from builders.wikidata.entities import Rows
from builders.wikidata.parts import BadLine, Blocks, write_part

_FRAME = b" \t\r\n,[]\xef\xbb\xbf"
"""What may stand around an entity on its line: the array's brackets, commas, a byte order mark."""
_NO_ENTITY = (msgspec.MsgspecError, ValueError, RecursionError)
_COMMA, _OPEN, _CLOSE = b",{}"


@dataclass(frozen=True)
class Tuning:
    """Sizes that change no result; tests make them small.

    `block` and `longest` are bytes of a block and of the longest line; a part is written every
    `blocks` blocks or `rows` rows, whichever comes first: so much is lost when a run is killed.
    """

    block: int = SIZE
    longest: int = LONGEST
    blocks: int = 64
    rows: int = 50_000


class _Mark(NamedTuple):
    """How many rows there were before a block."""

    shard: int
    block: int
    facts: int
    entities: int
    dropped: int
    bad: int
    counts: Counter[str]


class Reader:
    """Parses blocks and writes what they hold as parts, each under a name of its own."""

    def __init__(
        self,
        files: Sequence[Path],
        parts: Path,
        relations: Mapping[str, bool],
        tuning: Tuning,
    ) -> None:
        self._files, self._parts = files, parts
        self._relations, self._tuning = relations, tuning
        self._start()

    def _start(self) -> None:
        self._rows = Rows(self._relations)
        self._blocks: Blocks = {}
        self._bad: list[BadLine] = []
        self._before: _Mark | None = None
        self._held = 0

    def read(self, shard: int, block: Block, buffer: memoryview) -> None:
        """Add one block of a shard. `UserError` where the first one holds no entity at all."""
        before = self._before = self._mark(shard, block)
        number = 0
        if block.too_long:
            number = 1
            self._too_long(shard, block, 1, block.too_long)
        text = buffer[: block.end]
        for start, stop in lines(text):
            number += 1
            try:
                if stop - start > self._tuning.longest:
                    self._too_long(shard, block, number, stop - start)
                else:
                    self._line(text, start, stop)
            except _NO_ENTITY as error:
                detail = f"{stop - start:,} bytes: {error}"[:200]
                self._bad.append(BadLine(shard, block.number, number, "malformed_line", detail))
        if block.number == 0 and self._rows.counts == before.counts:
            self._refuse(shard, self._bad[before.bad :])
        self._blocks.setdefault(shard, {})[block.number] = number
        self._held += 1
        rows = len(self._rows.entities) + len(self._rows.facts) + len(self._bad)
        if self._held >= self._tuning.blocks or rows >= self._tuning.rows:
            self.flush()

    def _mark(self, shard: int, block: Block) -> "_Mark":
        rows = self._rows
        sizes = (len(rows.facts), len(rows.entities), len(rows.dropped), len(self._bad))
        return _Mark(shard, block.number, *sizes, Counter(rows.counts))

    def _drop_half_a_block(self) -> None:
        """Forget what Ctrl-C left of the block that was being read; a rerun reads it again."""
        mark = self._before
        if mark and mark.block not in self._blocks.get(mark.shard, {}):
            del self._rows.facts[mark.facts :]
            del self._rows.entities[mark.entities :]
            del self._rows.dropped[mark.dropped :]
            del self._bad[mark.bad :]
            self._rows.counts = mark.counts

    def _refuse(self, shard: int, bad: Sequence[BadLine]) -> None:
        """`UserError` for a file whose first block holds nothing but malformed lines."""
        first = next((line for line in bad if line.reason == "malformed_line"), None)
        if first:
            raise UserError(
                f"no entity: {first.detail}",
                where=self._files[shard],
                line=first.line,
                hint="a dump is a JSON array with one entity a line, or JSON lines",
            )

    def _too_long(self, shard: int, block: Block, line: int, length: int) -> None:
        detail = f"{length:,} bytes"
        self._bad.append(BadLine(shard, block.number, line, "line_too_long", detail))

    def _line(self, text: memoryview, start: int, stop: int) -> None:
        """Add what stands on one line, which may be nothing but the array's frame."""
        if stop > start and text[stop - 1] == _COMMA:
            stop -= 1
        line: memoryview | bytes = text[start:stop]
        if not line or line[0] != _OPEN or line[-1] != _CLOSE:
            line = bytes(line).strip(_FRAME)
            if not line:
                return
        self._rows.read(line)

    def flush(self) -> None:
        """Write what is held as a part. `UserError` where the disk does not take it."""
        self._drop_half_a_block()
        if not self._blocks:
            return
        shard = min(self._blocks)
        name = f"{shard:06}-{min(self._blocks[shard]):08}"
        rows = self._rows
        try:
            write_part(
                self._parts,
                name,
                facts=rows.facts,
                entities=rows.entities,
                dropped=rows.dropped,
                counts=rows.counts,
                blocks=self._blocks,
                bad=self._bad,
            )
        except OSError as error:
            hint = "make room; a rerun goes on where this run stopped"
            text = f"cannot be written: {error.strerror or error}"
            raise UserError(text, where=self._parts, hint=hint) from error
        self._start()
