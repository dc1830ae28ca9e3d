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
    judged_texts: list[tuple[Judgment, Runs]] = []
    for judgment in sorted(judgments, key=lambda judgment: judgment.id):
        given_answers = judgment_answers(judgment) if judgment.row else {}
        for free_text in _free_texts(layout, given_answers):
            shown_texts = map(value_as_text, items[judgment.item].fields.values())
            text_runs = _runs(free_text) - _runs(" ".join(shown_texts))
            if len(text_runs) >= FEWEST:
                judged_texts.append((judgment, text_runs))
    by_run: dict[tuple[str, ...], list[int]] = {}
    for text_number, (_, text_runs) in enumerate(judged_texts):
        for word_run in text_runs:
            by_run.setdefault(word_run, []).append(text_number)
    copied_ids: set[str] = set()
    for judgment, text_runs in judged_texts:
        common_counts = Counter[int]()
        for word_run in text_runs:
            if len(by_run[word_run]) <= _COMMON:
                common_counts.update(by_run[word_run])
        for other_number, common_count in common_counts.items():
            other_judgment, other_runs = judged_texts[other_number]
            is_same = common_count >= SAME * len(text_runs | other_runs)
            if is_same and other_judgment.worker != judgment.worker:
                copied_ids.add(judgment.id)
    return copied_ids


def _free_texts(layout: Layout, given_answers: Mapping[str, Any]) -> Iterator[str]:
    """The texts of a judgment that are not compared, and all those in its groups."""
    for answer_name, answer in layout.answers.items():
        if answer.kind == "group":
            for group_entry in given_answers.get(answer_name, ()):
                yield from (
                    group_entry[inner_name]
                    for inner_name, inner_answer in answer.answers.items()
                    if inner_answer.kind == "text" and inner_name in group_entry
                )
        elif (
            answer.kind == "text" and comparison(answer) == "none" and answer_name in given_answers
        ):
            yield given_answers[answer_name]


def _runs(free_text: str) -> Runs:
    lower_words = [text_word.lower() for text_word in split_words(free_text)]
    return frozenset(
        tuple(lower_words[run_start : run_start + RUN])
        for run_start in range(len(lower_words) - RUN + 1)
    )
