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
# Runs of its own that a text needs to be compared.
FEWEST = 5
# Share of runs in common, of those in either (Jaccard), from which two texts are near copies.
SAME = 0.6
# A run that more texts have is no sign of copying, and is not followed.
_COMMON = 50

Runs = frozenset[tuple[str, ...]]


def find_copies(
    layout: Layout, judgments: Sequence[Judgment], items: Mapping[str, Item]
) -> set[str]:
    """The ids of judgments with a free text nearly the same as another worker's."""
    texts: list[tuple[Judgment, Runs]] = []
    for judgment in sorted(judgments, key=lambda judgment: judgment.id):
        answers = judgment_answers(judgment) if judgment.row else {}
        for text in _free_texts(layout, answers):
            shown_texts = map(value_as_text, items[judgment.item].fields.values())
            text_runs = _runs(text) - _runs(" ".join(shown_texts))
            if len(text_runs) >= FEWEST:
                texts.append((judgment, text_runs))
    by_run: dict[tuple[str, ...], list[int]] = {}
    for number, (_, text_runs) in enumerate(texts):
        for run in text_runs:
            by_run.setdefault(run, []).append(number)
    copied_ids: set[str] = set()
    for judgment, text_runs in texts:
        common_counts = Counter[int]()
        for run in text_runs:
            if len(by_run[run]) <= _COMMON:
                common_counts.update(by_run[run])
        for other_number, common_count in common_counts.items():
            other_judgment, other_runs = texts[other_number]
            is_same = common_count >= SAME * len(text_runs | other_runs)
            if is_same and other_judgment.worker != judgment.worker:
                copied_ids.add(judgment.id)
    return copied_ids


def _free_texts(layout: Layout, answers: Mapping[str, Any]) -> Iterator[str]:
    """The texts of a judgment that are not compared, and all those in its groups."""
    for name, answer in layout.answers.items():
        if answer.kind == "group":
            for entry in answers.get(name, ()):
                yield from (
                    entry[inner_name]
                    for inner_name, inner_answer in answer.answers.items()
                    if inner_answer.kind == "text" and inner_name in entry
                )
        elif answer.kind == "text" and comparison(answer) == "none" and name in answers:
            yield answers[name]


def _runs(text: str) -> Runs:
    lower_words = [word.lower() for word in split_words(text)]
    return frozenset(
        tuple(lower_words[start : start + RUN]) for start in range(len(lower_words) - RUN + 1)
    )
