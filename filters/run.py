"""Run filters over items, in batches: the kept, the dropped, counts and examples."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from factdrift.builders.rows import Article, Dropped, Question
from factdrift.filters.base import Filter, FilterContext, FilterVerdict, QuestionItem

BATCH = 256
"""Items that a filter is given at once."""
EXAMPLES = 3
"""Dropped items that are shown for each reason of a filter."""


@dataclass(frozen=True, slots=True)
class KeptItem:
    """An item that every filter so far has kept."""

    item: QuestionItem
    verdicts: Annotated[tuple[FilterVerdict, ...], "one a filter, in the recipe's order"] = ()


@dataclass
class Tally:
    """How many items one filter saw and dropped, and why."""

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

    def drop(self, item: QuestionItem, verdict: FilterVerdict) -> Dropped:
        """The row of an item that it drops, counted."""
        dropped = _dropped(self.filter, item, verdict)
        self.reasons[verdict.reason] += 1
        shown = self.examples.setdefault(verdict.reason, [])
        if len(shown) < EXAMPLES:
            shown.append(dropped)
        return dropped


class Screen:
    """Filters that cost nothing, run over one question at a time while questions are written.

    Called with a question and its article it gives the row of the first filter that drops it, or
    None; `tallies` count what they saw.
    """

    def __init__(self, filters: Sequence[Filter], context: FilterContext) -> None:
        self._filters = [(one, replace(context, memory={}), Tally(one.filter)) for one in filters]
        for one, own, _ in self._filters:
            one.judge([], own)

    def __call__(self, question: Question, article: Article) -> Dropped | None:
        """Why the question goes, if it does."""
        item = QuestionItem(question, article)
        for one, own, tally in self._filters:
            verdict = one.judge([item], own)[0]
            tally.seen += 1
            if not verdict.keep:
                return tally.drop(item, verdict)
        return None

    @property
    def tallies(self) -> list[Tally]:
        """One a filter, in their order."""
        return [tally for _, _, tally in self._filters]


class FilterRun:
    """One pass of items through filters: iterate over it once, then read its `tallies`.

    The items pass the filters in their order and go no further than the first that drops them.
    Yields `KeptItem` for what every filter keeps and `Dropped` for the rest, `step` being the
    filter's name. Holds at most `batch` items a filter in memory. Raises UserError at once where a
    filter lacks something of the context.
    """

    def __init__(
        self,
        filters: Sequence[Filter],
        items: Iterable[QuestionItem],
        context: FilterContext | None = None,
        *,
        batch: int = BATCH,
    ) -> None:
        self.tallies = [Tally(f.filter) for f in filters]
        stream: Iterator[KeptItem | Dropped] = map(KeptItem, items)
        for filter_, tally in zip(filters, self.tallies, strict=True):
            own = replace(context or FilterContext(), memory={})
            filter_.judge([], own)  # a filter that lacks something says so now, not after an hour
            stream = _stage(filter_, stream, own, tally, batch)
        self._stream = stream

    def __iter__(self) -> Iterator[KeptItem | Dropped]:
        return self._stream


def _stage(
    filter_: Filter,
    stream: Iterator[KeptItem | Dropped],
    context: FilterContext,
    tally: Tally,
    batch: int,
) -> Iterator[KeptItem | Dropped]:
    """The stream after one filter."""
    for group, passed in _batches(stream, batch):
        yield from passed
        if not group:
            continue
        verdicts = filter_.judge([kept.item for kept in group], context)
        for kept, verdict in zip(group, verdicts, strict=True):
            tally.seen += 1
            if verdict.keep:
                yield KeptItem(kept.item, (*kept.verdicts, verdict))
                continue
            yield tally.drop(kept.item, verdict)


def _batches(
    stream: Iterator[KeptItem | Dropped], size: int
) -> Iterator[tuple[list[KeptItem], list[Dropped]]]:
    """The stream in batches of up to `size` kept items, and those that were dropped among them."""
    kept: list[KeptItem] = []
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


def _dropped(step: str, item: QuestionItem, verdict: FilterVerdict) -> Dropped:
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
