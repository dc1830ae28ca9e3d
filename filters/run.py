"""Run the filters of a recipe over questions, in batches, and keep examples of dropped ones.

Cheap filters come first. Where questions are still being written they are screened one by one, so
that a bad question can be replaced; the other filters then see what is left, in batches.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from factdrift.builders.generate.mentions import batches
from factdrift.builders.rows import Article, Dropped, Question
from factdrift.filters.base import Filter, FilterContext, FilterVerdict, QuestionItem

BATCH = 256
"""Items that a filter is given at once: enough for a scorer or a server to work on in parallel, few
enough to lie in memory with their articles."""
EXAMPLES = 3
"""Dropped items that the card shows for each reason of a filter: enough to see what it means."""


@dataclass(frozen=True, slots=True)
class KeptItem:
    """An item that every filter so far has kept."""

    item: QuestionItem
    verdicts: Annotated[tuple[FilterVerdict, ...], "one a filter, in the recipe's order"] = ()
    skipped: Annotated[tuple[str, ...], "names of filters that could not judge it"] = ()


@dataclass
class Tally:
    """The numbers of items that one filter saw and dropped, by reason."""

    filter: Annotated[str, "name in the recipe"]
    seen: Annotated[int, "items that came to it"] = 0
    dropped: Annotated[int, "items that it dropped"] = 0
    skipped: Annotated[int, "items that it could not judge"] = 0
    examples: Annotated[dict[str, list[Dropped]], "the first few dropped, by reason"] = field(
        default_factory=dict
    )

    def drop(self, item: QuestionItem, verdict: FilterVerdict) -> Dropped:
        """Count a dropped item, and return its row."""
        detail = verdict.detail or item.question.question
        dropped_row = Dropped(
            self.filter, verdict.reason, item.question.id, score=verdict.score, detail=detail
        )
        self.dropped += 1
        examples = self.examples.setdefault(verdict.reason, [])
        if len(examples) < EXAMPLES:
            examples.append(dropped_row)
        return dropped_row


@dataclass(frozen=True)
class _RunningFilter:
    """A filter with what it is given and what it has done so far."""

    filter: Filter
    context: FilterContext
    tally: Tally

    def judge(self, kept_items: Sequence[KeptItem]) -> tuple[list[KeptItem], list[Dropped]]:
        """Return the items that the filter keeps, and rows for those that it drops.

        `LookupError`: the filter gives a reason that it does not explain, which is a bug in it.
        """
        still_kept: list[KeptItem] = []
        dropped_rows: list[Dropped] = []
        items = [passed.item for passed in kept_items]
        verdicts = self.filter.judge(items, self.context) if items else ()
        for passed, verdict in zip(kept_items, verdicts, strict=True):
            self.tally.seen += 1
            if verdict.keep:
                self.tally.skipped += verdict.skipped
                skipped = (
                    (*passed.skipped, self.tally.filter) if verdict.skipped else passed.skipped
                )
                still_kept.append(KeptItem(passed.item, (*passed.verdicts, verdict), skipped))
                continue
            if verdict.reason not in self.filter.reasons:
                raise LookupError(
                    f"the filter {self.filter.filter!r} drops for {verdict.reason!r}, "
                    "which its `reasons` do not explain"
                )
            dropped_rows.append(self.tally.drop(passed.item, verdict))
        return still_kept, dropped_rows


def cheap_first(filters: Iterable[Filter]) -> tuple[Filter, ...]:
    """Return the filters in the order in which they run: cheap ones first, else as given."""
    return tuple(sorted(filters, key=lambda chosen_filter: not chosen_filter.cheap))


class FilterRun:
    """Filters that items pass, cheap ones first, no further than the first that drops them.

    `tallies` count what each saw. `UserError` at once where a filter lacks something of the
    context.
    """

    def __init__(self, filters: Sequence[Filter], context: FilterContext | None = None) -> None:
        shared = context or FilterContext()
        self._filters = [
            _RunningFilter(chosen_filter, replace(shared, memory={}), Tally(chosen_filter.filter))
            for chosen_filter in cheap_first(filters)
        ]
        self.tallies = [running_filter.tally for running_filter in self._filters]
        for running_filter in self._filters:
            # a filter that lacks something says so now, and not after an hour
            running_filter.filter.judge([], running_filter.context)

    def run(
        self, items: Iterable[QuestionItem], batch_size: int = BATCH, *, screened: bool = False
    ) -> Iterator[KeptItem | Dropped]:
        """Yield a `KeptItem` for what all filters keep and a `Dropped` for the rest.

        `size` items are judged at a time. Where they are `screened` they have passed the cheap
        filters before, and those do not run again.
        """
        running_filters = [
            running_filter
            for running_filter in self._filters
            if not (screened and running_filter.filter.cheap)
        ]
        for batch in batches(items, batch_size):
            kept_items = [KeptItem(item) for item in batch]
            for running_filter in running_filters:
                kept_items, dropped_rows = running_filter.judge(kept_items)
                yield from dropped_rows
            yield from kept_items

    def expect(self, questions: Sequence[tuple[Question, Article]]) -> None:
        """Let the cheap filters work ahead on questions that are soon screened one by one."""
        items = [QuestionItem(*question) for question in questions]
        for running_filter in self._filters:
            if running_filter.filter.cheap:
                running_filter.filter.expect(items, running_filter.context)

    def screen(self, question: Question, article: Article) -> Dropped | None:
        """Judge one question by the cheap filters; return its row if one of them drops it."""
        kept_items = [KeptItem(QuestionItem(question, article))]
        for running_filter in self._filters:
            if running_filter.filter.cheap:
                kept_items, dropped_rows = running_filter.judge(kept_items)
                if dropped_rows:
                    return dropped_rows[0]
        return None
