"""Run filters over items, in batches: the kept, the dropped, counts and examples."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from factdrift.builders.generate.mentions import batches
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
    dropped: Annotated[int, "items that it dropped"] = 0
    examples: Annotated[dict[str, list[Dropped]], "the first few dropped, by reason"] = field(
        default_factory=dict
    )

    def drop(self, item: QuestionItem, verdict: FilterVerdict) -> Dropped:
        """The row of an item that it drops, counted."""
        detail = verdict.detail or item.question.question
        score = verdict.score
        dropped = Dropped(self.filter, verdict.reason, item.question.id, score=score, detail=detail)
        self.dropped += 1
        shown = self.examples.setdefault(verdict.reason, [])
        if len(shown) < EXAMPLES:
            shown.append(dropped)
        return dropped


class FilterRun:
    """Filters that items pass in their order, no further than the first that drops them.

    `tallies` count what each saw. `UserError` at once where a filter lacks something of the
    context.
    """

    def __init__(self, filters: Sequence[Filter], context: FilterContext | None = None) -> None:
        shared = context or FilterContext()
        self._filters = [(one, replace(shared, memory={}), Tally(one.filter)) for one in filters]
        self.tallies = [tally for *_, tally in self._filters]
        for one, own, _ in self._filters:
            one.judge([], own)  # a filter that lacks something says so now, not after an hour

    def run(self, items: Iterable[QuestionItem], size: int = BATCH) -> Iterator[KeptItem | Dropped]:
        """`KeptItem` for what every filter keeps, and `Dropped` for the rest, `size` at a time."""
        for group in batches(items, size):
            kept = [KeptItem(item) for item in group]
            for one, own, tally in self._filters:
                given, kept = kept, []
                verdicts = one.judge([k.item for k in given], own) if given else ()
                for k, verdict in zip(given, verdicts, strict=True):
                    tally.seen += 1
                    if verdict.keep:
                        kept.append(KeptItem(k.item, (*k.verdicts, verdict)))
                    else:
                        yield tally.drop(k.item, verdict)
            yield from kept

    def screen(self, question: Question, article: Article) -> Dropped | None:
        """Why one question goes, if it does."""
        found = next(self.run([QuestionItem(question, article)]))
        return found if isinstance(found, Dropped) else None
