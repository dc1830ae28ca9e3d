"""Free texts that are nearly the same from different workers.

A text is compared by its runs of `RUN` words that nothing shown with its item has: two people who
reword the same statement share its words, but seldom whole runs of their own.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from factdrift.annotation.batch import Item
from factdrift.annotation.checks import split_words, value_as_text
from factdrift.annotation.layout import Layout
from factdrift.annotation.quality.agreement import comparison, judgment_answers
from factdrift.builders.rows import Judgment

RUN = 3
FEWEST = 5
"""Runs of its own that a text needs to be compared."""
SAME = 0.6
"""Share of runs in common, of those in either (Jaccard), from which two texts are near copies."""
_COMMON = 50
"""A run that more texts have is no sign of copying, and is not followed."""

Runs = frozenset[tuple[str, ...]]


def find_copies(
    layout: Layout, judgments: Sequence[Judgment], items: Mapping[str, Item]
) -> set[str]:
    """Ids of judgments with a text nearly the same as another worker's."""
    texts: list[tuple[Judgment, Runs]] = []
    for one in sorted(judgments, key=lambda one: one.id):
        given = [*_free_texts(layout, judgment_answers(one))] if one.row else []
        fields = items[one.item].fields if given else {}
        shown = _runs(" ".join(map(value_as_text, fields.values())))
        for text in given:
            own = _runs(text) - shown
            if len(own) >= FEWEST:
                texts.append((one, own))
    by_run: dict[tuple[str, ...], list[int]] = {}
    for number, (_, own) in enumerate(texts):
        for run in own:
            by_run.setdefault(run, []).append(number)
    found: set[str] = set()
    for one, own in texts:
        common = Counter(
            other for run in own if len(by_run[run]) <= _COMMON for other in by_run[run]
        )
        for other, n in common.items():
            judgment, runs = texts[other]
            if judgment.worker != one.worker and n >= SAME * len(own | runs):
                found.add(one.id)
    return found


def _free_texts(layout: Layout, given: Mapping[str, Any]) -> Iterator[str]:
    """The texts of a judgment that are not compared, and all those in its groups."""
    for name, answer in layout.answers.items():
        if answer.kind == "group":
            for entry in given.get(name, ()):
                yield from (
                    entry[n] for n, a in answer.answers.items() if a.kind == "text" and n in entry
                )
        elif answer.kind == "text" and comparison(answer) == "none" and name in given:
            yield given[name]


def _runs(text: str) -> Runs:
    found = [word.lower() for word in split_words(text)]
    return frozenset(tuple(found[n : n + RUN]) for n in range(len(found) - RUN + 1))
