"""How far annotators agree: for each answer, each worker and each item of a layout.

Judgments that count are compared, of the rows of the dataset; attention items say nothing here.
An answer that an annotator was not asked, by its `when`, is missing and not a value of its own.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, combinations
from statistics import median
from typing import Any, Literal, NamedTuple

import numpy as np

from factdrift.annotation.batch import Item
from factdrift.annotation.checks import paragraph_texts, value_as_text
from factdrift.annotation.layout import Layout, LayoutAnswer
from factdrift.annotation.matching import DUPLICATE, EXCLUDED
from factdrift.annotation.quality.coefficients import (
    AlphaUnits,
    Rating,
    alpha_units,
    cohen_kappas,
    dawid_skene,
    fleiss_kappa,
    gwet_ac1,
    majority,
)
from factdrift.annotation.submission import Json
from factdrift.builders.rows import Judgment
from factdrift.builders.text.squad import normalize_or_keep

# Items that two workers need in common for a Cohen's kappa; fewer would say hardly anything.
_FEWEST_COMMON = 5
# Items in the report on which an estimate and the majority differ: a sample to look at.
_DIFFERING = 20

# What is compared in no figure: a worker's repeated work, and that of excluded people.
_NOT_COMPARED = frozenset((DUPLICATE, EXCLUDED))

ComparedBy = Literal["value", "text", "span", "none"]
_BY_KIND: dict[str, ComparedBy] = {
    "choice": "value",
    "choices": "value",
    "flag": "value",
    "text": "text",
    "span": "span",
    "spans": "span",
    "group": "none",
    "search": "none",
}


def comparison(answer: LayoutAnswer) -> ComparedBy:
    """Return how values of an answer are compared: as its layout says, else by its kind."""
    return answer.agree or _BY_KIND[answer.kind]


def compared_answers(layout: Layout) -> dict[str, LayoutAnswer]:
    """The answers of a layout that are compared at all, in its order."""
    return {
        answer_name: answer
        for answer_name, answer in layout.answers.items()
        if comparison(answer) != "none"
    }


def judgment_answers(judgment: Judgment) -> dict[str, Any]:
    """The answers of a judgment by name; one that was not asked, by its `when`, is absent."""
    return _read_answers(judgment.answers)


@lru_cache(maxsize=4096)
def _read_answers(answers_json: str) -> dict[str, Any]:
    """Parse answers. Many workers give the same ones: they are parsed once, and never changed."""
    judgment_values: dict[str, Any] = json.loads(answers_json)
    return judgment_values


def comparison_key(answer: LayoutAnswer, answer_value: Json) -> str:
    """A text that is equal for values that count as the same.

    It is the value as JSON (for `choices` in any order), or a text or a span's text after SQuAD
    normalisation.
    """
    if comparison(answer) in ("text", "span"):
        return normalize_or_keep(value_as_text(answer_value))
    if answer.kind == "choices" and isinstance(answer_value, Sequence):
        answer_value = sorted(map(str, answer_value))
    return json.dumps(answer_value, sort_keys=True, ensure_ascii=False)


def values_agree(answer: LayoutAnswer, first_value: Json, second_value: Json) -> bool:
    """Whether two values agree; an absent value agrees only with an absent one.

    Two spans agree if they share a character. Two lists of spans agree if each span of either
    list shares a character with a span of the other.
    """
    if first_value is None or second_value is None:
        return first_value is second_value
    if comparison(answer) != "span":
        return comparison_key(answer, first_value) == comparison_key(answer, second_value)
    first_spans, second_spans = _spans(first_value), _spans(second_value)
    return _each_overlaps(first_spans, second_spans) and _each_overlaps(second_spans, first_spans)


def is_known_answer(answer: LayoutAnswer, known_value: Json, given_value: Json) -> bool:
    """Whether an answer is the known one, also where two workers' answers are not compared.

    Such a text counts after SQuAD normalisation, and the entries of a group one by one. Of
    `choices` that are not compared any will do: all of them say that an item is broken.
    """
    if given_value is None or comparison(answer) != "none":
        return values_agree(answer, known_value, given_value)
    if answer.kind == "text":
        return normalize_or_keep(str(known_value)) == normalize_or_keep(str(given_value))
    if answer.kind == "group" and isinstance(known_value, list) and isinstance(given_value, list):
        return len(known_value) == len(given_value) and all(
            is_known_answer(answer.answers[name], value, given.get(name))
            for known, given in zip(known_value, given_value, strict=True)
            for name, value in known.items()
        )
    return answer.kind == "choices" or known_value == given_value


def judgments_agree(layout: Layout, first_judgment: Judgment, second_judgment: Judgment) -> bool:
    """Whether two judgments agree.

    If the layout's rule names an answer (`rule.of`), only that answer has to agree; otherwise all
    compared answers have to.
    """
    rule_answer = layout.rule.of
    compared_by_name = compared_answers(layout)
    if rule_answer:
        compared_by_name = {rule_answer: layout.answers[rule_answer]}
    first_answers, second_answers = (
        judgment_answers(first_judgment),
        judgment_answers(second_judgment),
    )
    return all(
        values_agree(answer, first_answers.get(answer_name), second_answers.get(answer_name))
        for answer_name, answer in compared_by_name.items()
    )


def rule_value(answer_value: Json) -> str:
    """Return a value as a layout's `accept` and `when` write it; a flag is `true` or `false`."""
    return (
        str(answer_value).lower() if isinstance(answer_value, bool) else value_as_text(answer_value)
    )


def marked_characters(
    answer: LayoutAnswer, answer_value: Json, item_fields: Mapping[str, Json]
) -> Any:
    """An array that says of each character of the field whether a span of the value covers it.

    The paragraphs of a field follow each other in it.
    """
    paragraph_lengths = map(len, paragraph_texts(item_fields.get(answer.field or "")))
    paragraph_ends = [*accumulate(paragraph_lengths)]
    character_marks = np.zeros(paragraph_ends[-1] if paragraph_ends else 0, bool)
    for paragraph_number, span_start, span_end in _spans(answer_value):
        paragraph_start = paragraph_ends[paragraph_number - 1] if paragraph_number else 0
        character_marks[paragraph_start + span_start : paragraph_start + span_end] = True
    return character_marks


# The paragraph of a span, its start and its end.
Span = tuple[int, int, int]


def _spans(answer_value: Any) -> list[Span]:
    span_entries = (
        answer_value
        if isinstance(answer_value, Sequence) and not isinstance(answer_value, str)
        else [answer_value]
    )
    span_list = []
    for span_entry in span_entries:
        if isinstance(span_entry, Mapping):
            span_start, span_end = span_entry.get("start") or 0, span_entry.get("end") or 0
            span_list.append((span_entry.get("paragraph") or 0, span_start, span_end))
    return span_list


def _each_overlaps(first_spans: list[Span], other_spans: list[Span]) -> bool:
    """Whether each of the spans shares a character with one of the other spans."""
    return all(
        any(_overlap(span, other_span) for other_span in other_spans) for span in first_spans
    )


def _overlap(first_span: Span, second_span: Span) -> bool:
    (first_paragraph, first_start, first_end) = first_span
    (second_paragraph, second_start, second_end) = second_span
    is_same_paragraph = first_paragraph == second_paragraph
    return is_same_paragraph and first_start < second_end and second_start < first_end


# Figures of a report by name, as `report.json` has them.
Figures = dict[str, Any]


@dataclass(frozen=True)
class Agreements:
    """The figures of each answer that is compared, by its name.

    `by_worker` holds for each pair of a worker's value with another's, over all compared answers,
    whether they agree; `by_item` does the same by item. `alphas` are the workers' alphas for the
    answer `main`.
    """

    answers: Mapping[str, Figures]
    main: str | None
    by_worker: Mapping[str, list[bool]]
    alphas: Mapping[str, float | None]
    by_item: Mapping[str, list[bool]]


def percent_agreeing(agreeing_pairs: Sequence[bool]) -> float | None:
    """Return the percentage of pairs that agree, or None if there is no pair."""
    return 100 * sum(agreeing_pairs) / len(agreeing_pairs) if agreeing_pairs else None


class _Value(NamedTuple):
    """A value of a worker for an item, and its `codes`, as `alpha_units` has them."""

    worker: str
    value: Any
    codes: Any


def measure_agreement(
    layout: Layout,
    judgments: Sequence[Judgment],
    items: Mapping[str, Item],
    *,
    excluded: bool = False,
) -> Agreements:
    """Measure the agreement of the judgments of one layout.

    With `excluded` the judgments that were set aside are measured as well, except a worker's
    repeated ones and those of people whom the register excludes. Values and texts are nominal
    (texts after SQuAD normalisation). For spans each character of the field is a unit, inside or
    outside of a mark, and a pair agrees by `values_agree`: where and how far marks overlap counts,
    and how they are cut into pieces does not.

    In the figures of an answer, `pairs` are pairs of judgments of one item. Alpha and its 95 %
    interval, `low` to `high`, are None where they are undefined. Fleiss' kappa is of
    `fleiss_items` items, and Cohen's kappas are of `cohen_pairs` pairs of workers with enough
    items in common; there is neither kappa nor Gwet's AC1 for marked text. A worker's
    alpha is 1 - observed / expected disagreement, observed in the pairs with the other workers and
    expected as for all. `main` is the answer of the layout's rule, or else the first that is
    compared.
    """
    compared_judgments = [
        judgment
        for judgment in judgments
        if judgment.row
        and (judgment.counted or (excluded and _NOT_COMPARED.isdisjoint(judgment.flags)))
    ]
    compared_judgments.sort(key=lambda judgment: (judgment.item, judgment.id))
    compared_by_name = compared_answers(layout)
    main_answer = (
        layout.rule.of if layout.rule.of in compared_by_name else next(iter(compared_by_name), None)
    )
    answer_figures: dict[str, Figures] = {}
    by_worker = defaultdict[str, list[bool]](list)
    by_item = defaultdict[str, list[bool]](list)
    worker_alphas: dict[str, float | None] = {}
    for answer_name, answer in compared_by_name.items():
        values_by_item, answer_ratings = _collect_values(
            answer_name, answer, compared_judgments, items
        )
        agreeing_pairs: list[bool] = []
        for item_id, first_value, second_value in _pairs(values_by_item):
            do_agree = values_agree(answer, first_value.value, second_value.value)
            agreeing_pairs.append(do_agree)
            by_item[item_id].append(do_agree)
            by_worker[first_value.worker].append(do_agree)
            by_worker[second_value.worker].append(do_agree)
        answer_units = alpha_units(
            [
                [worker_value.codes for worker_value in item_values]
                for item_values in values_by_item.values()
            ]
        )
        answer_figures[answer_name] = {
            "items": sum(len(item_values) > 1 for item_values in values_by_item.values()),
            "pairs": len(agreeing_pairs),
            "percent": percent_agreeing(agreeing_pairs),
            **_coefficients(answer, answer_units, answer_ratings),
            "estimate": None if excluded else _estimate(answer, answer_ratings),
        }
        if answer_name == main_answer:
            worker_alphas = _worker_alphas(values_by_item, answer_units.expected_share())
    return Agreements(answer_figures, main_answer, by_worker, worker_alphas, by_item)


def _collect_values(
    answer_name: str,
    answer: LayoutAnswer,
    judgments: Sequence[Judgment],
    items: Mapping[str, Item],
) -> tuple[dict[str, list[_Value]], list[Rating]]:
    """Return an answer's values by item, and its ratings, from which kappa is computed.

    An answer that marks spans of text has values but no ratings, because kappa needs categories.
    """
    values_by_item: dict[str, list[_Value]] = {}
    answer_ratings: list[Rating] = []
    code_by_key: dict[str, int] = {}
    for judgment in judgments:
        answer_value = judgment_answers(judgment).get(answer_name)
        if answer_value is None:
            continue
        if comparison(answer) == "span":
            value_codes = marked_characters(answer, answer_value, items[judgment.item].fields)
        else:
            value_key = comparison_key(answer, answer_value)
            answer_ratings.append(Rating(judgment.item, judgment.worker, value_key))
            value_codes = np.array([code_by_key.setdefault(value_key, len(code_by_key))])
        values_by_item.setdefault(judgment.item, []).append(
            _Value(judgment.worker, answer_value, value_codes)
        )
    return values_by_item, answer_ratings


def _coefficients(
    answer: LayoutAnswer, answer_units: AlphaUnits, ratings: Sequence[Rating]
) -> Figures:
    interval_low, interval_high = answer_units.interval() or (None, None)
    fleiss_value, fleiss_items = fleiss_kappa(ratings)
    cohen_values = [*cohen_kappas(ratings, _FEWEST_COMMON).values()]
    return {
        "alpha": answer_units.alpha(),
        "low": interval_low,
        "high": interval_high,
        "ac1": gwet_ac1(ratings, _value_count(answer)),
        "fleiss": fleiss_value,
        "fleiss_items": fleiss_items,
        "cohen_pairs": len(cohen_values),
        "cohen_median": median(cohen_values) if cohen_values else None,
        "cohen_low": min(cohen_values, default=None),
        "cohen_high": max(cohen_values, default=None),
    }


def _value_count(answer: LayoutAnswer) -> int:
    """The number of values that an answer can have; 0 where they are not counted beforehand."""
    if answer.kind == "flag":
        return 2
    return len(answer.choices) if answer.kind == "choice" else 0


def _pairs(values_by_item: Mapping[str, Sequence[_Value]]) -> Iterator[tuple[str, _Value, _Value]]:
    for item_id, item_values in values_by_item.items():
        for first_value, second_value in combinations(item_values, 2):
            yield item_id, first_value, second_value


def _worker_alphas(
    values_by_item: Mapping[str, Sequence[_Value]], expected_share: float | None
) -> dict[str, float | None]:
    compared_counts, differing_counts = Counter[str](), Counter[str]()
    for _, first_value, second_value in _pairs(values_by_item):
        for worker_id in (first_value.worker, second_value.worker):
            compared_counts[worker_id] += len(first_value.codes)
            differing_counts[worker_id] += int((first_value.codes != second_value.codes).sum())
    return {
        worker_id: 1 - differing_counts[worker_id] / compared_count / expected_share
        if expected_share and compared_count
        else None
        for worker_id, compared_count in compared_counts.items()
    }


def _estimate(answer: LayoutAnswer, ratings: Sequence[Rating]) -> Figures | None:
    """Compare the values that Dawid and Skene estimate with those of the majority.

    Only a choice from a few values is estimated. Of the `items` that two or more have judged,
    `same` have the same value by both; in `ties` the majority has none. `differing` lists a few of
    the others as (item, majority, estimate, its probability). None where there are no such items.
    """
    rating_counts = Counter(rating.item for rating in ratings)
    rated_items = sorted(
        item_id for item_id, rating_count in rating_counts.items() if rating_count > 1
    )
    is_free = answer.field or answer.kind not in ("choice", "flag") or comparison(answer) != "value"
    if is_free or not rated_items:
        return None
    majority_votes, estimated_values = majority(ratings), dawid_skene(ratings)
    differing_rows = []
    for item_id in rated_items:
        estimated_value, value_probability = next(iter(estimated_values[item_id].items()))
        majority_vote = majority_votes[item_id]
        if majority_vote is not None and majority_vote != estimated_value:
            value_texts = _key_as_text(majority_vote), _key_as_text(estimated_value)
            differing_rows.append((item_id, *value_texts, round(value_probability, 4)))
    tie_count = sum(majority_votes[item_id] is None for item_id in rated_items)
    return {
        "items": len(rated_items),
        "same": len(rated_items) - tie_count - len(differing_rows),
        "ties": tie_count,
        "differing": differing_rows[:_DIFFERING],
    }


def _key_as_text(value_key: str) -> str:
    value = json.loads(value_key)
    return value if isinstance(value, str) else value_key
