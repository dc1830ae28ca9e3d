"""Run filters over items, in batches: the kept, the dropped, counts and examples."""

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

import msgspec

from builders.rows import Dropped
from filters.base import Context, Filter, Item, Surveyor, Verdict

BATCH = 256
"""Items that a filter is given at once."""
EXAMPLES = 3
"""Dropped items that are shown for each reason of a filter."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An item that every filter so far has kept."""

    item: Item
    verdicts: Annotated[tuple[Verdict, ...], "one a filter, in the recipe's order"] = ()


@dataclass
class Tally:
    """What one filter did."""

    filter: Annotated[str, "name in the recipe"]
    seen: Annotated[int, "items that came to it"] = 0
    reasons: Annotated[Counter[str], "dropped items by reason"] = field(default_factory=Counter)
    examples: Annotated[dict[str, list[Dropped]], "the first few dropped, by reason"] = field(
        default_factory=dict
    )

    @property
    def dropped(self) -> int:
        """Items that it dropped."""
        return self.reasons.total()


class Run:
    """One pass of items through filters: iterate over it once, then read its `tallies`."""

    def __init__(
        self, filters: Sequence[Filter], items: Iterable[Item], context: Context, batch: int
    ) -> None:
        self.tallies = [Tally(f.filter) for f in filters]
        stream: Iterator[Kept | Dropped] = map(Kept, items)
        for one, tally in zip(filters, self.tallies, strict=True):
            own = replace(context, memory={})
            one.judge([], own)  # says now, not after an hour, that it was not given what it needs
            stream = _stage(one, stream, own, tally, batch)
        self._stream = stream

    def __iter__(self) -> Iterator[Kept | Dropped]:
        return self._stream


def run(
    filters: Sequence[Filter],
    items: Iterable[Item],
    context: Context | None = None,
    *,
    batch: int = BATCH,
) -> Run:
    """Pass `items` through `filters` in their order; an item goes no further than its first drop.

    Yields `Kept` for what every filter keeps and `Dropped` for the rest, `step` being the filter's
    name. Holds at most `batch` items a filter in memory; a filter that must survey all items
    first has them spooled to a temporary file. Raises UserError at once where a filter lacks
    something of the context.
    """
    return Run(filters, items, context or Context(), batch)


def _stage(
    one: Filter, stream: Iterator[Kept | Dropped], context: Context, tally: Tally, batch: int
) -> Iterator[Kept | Dropped]:
    """One filter's part of the pass."""
    if isinstance(one, Surveyor):
        stream = _surveyed(one, stream, context, batch)
    for group, passed in _batches(stream, batch):
        yield from passed
        if not group:
            continue
        verdicts = one.judge([kept.item for kept in group], context)
        for kept, verdict in zip(group, verdicts, strict=True):
            tally.seen += 1
            if verdict.keep:
                yield Kept(kept.item, (*kept.verdicts, verdict))
                continue
            dropped = _dropped(one.filter, kept.item, verdict)
            tally.reasons[verdict.reason] += 1
            shown = tally.examples.setdefault(verdict.reason, [])
            if len(shown) < EXAMPLES:
                shown.append(dropped)
            yield dropped


def _batches(
    stream: Iterator[Kept | Dropped], size: int
) -> Iterator[tuple[list[Kept], list[Dropped]]]:
    """Up to `size` kept items, and what was dropped among them."""
    kept: list[Kept] = []
    dropped: list[Dropped] = []
    for row in stream:
        if isinstance(row, Dropped):
            dropped.append(row)
        else:
            kept.append(row)
        if len(kept) >= size or len(dropped) >= size:
            yield kept, dropped
            kept, dropped = [], []
    yield kept, dropped


def _surveyed(
    one: Surveyor, stream: Iterator[Kept | Dropped], context: Context, size: int
) -> Iterator[Kept | Dropped]:
    """The stream once more, after the filter has seen all of it; spooled to a file."""
    pack, unpack = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(list[Kept])
    with tempfile.TemporaryFile() as spool:
        for group, passed in _batches(stream, size):
            yield from passed
            one.survey([kept.item for kept in group], context)
            data = pack.encode(group)
            spool.write(len(data).to_bytes(8, "big") + data)
        spool.seek(0)
        while head := spool.read(8):
            yield from unpack.decode(spool.read(int.from_bytes(head, "big")))


def _dropped(step: str, item: Item, verdict: Verdict) -> Dropped:
    question = item.question
    return Dropped(
        step=step,
        reason=verdict.reason,
        item=question.id,
        subject=None,
        relation=None,
        period=None,
        score=verdict.score,
        detail=verdict.detail or question.question,
    )
