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
from factdrift.annotation.matching import DUPLICATE
from factdrift.annotation.quality.coefficients import (
    AlphaUnits,
    Rating,
    alpha_units,
    cohen_kappas,
    dawid_skene,
    fleiss_kappa,
    majority,
)
from factdrift.annotation.submission import Json
from factdrift.builders.rows import Judgment
from factdrift.builders.text.squad import normalize_or_keep

# Items that two workers need in common for a Cohen's kappa; fewer would say hardly anything.
_FEWEST_COMMON = 5
# Items in the report on which an estimate and the majority differ: a sample to look at.
_DIFFERING = 20

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
    """How values of an answer are compared: as its layout says, else by its kind."""
    return answer.agree or _BY_KIND[answer.kind]


def compared_answers(layout: Layout) -> dict[str, LayoutAnswer]:
    """The answers of a layout that are compared at all, in its order."""
    return {name: answer for name, answer in layout.answers.items() if comparison(answer) != "none"}


def judgment_answers(judgment: Judgment) -> dict[str, Any]:
    """The answers of a judgment by name; one that was not asked, by its `when`, is absent."""
    return _read_answers(judgment.answers)


@lru_cache(maxsize=4096)
def _read_answers(text: str) -> dict[str, Any]:
    """Parse answers. Many workers give the same ones: they are parsed once, and never changed."""
    answers: dict[str, Any] = json.loads(text)
    return answers


def comparison_key(answer: LayoutAnswer, value: Json) -> str:
    """A text that is equal for values that count as the same.

    It is the value as JSON (for `choices` in any order), or a text or a span's text after SQuAD
    normalisation.
    """
    if comparison(answer) in ("text", "span"):
        return normalize_or_keep(value_as_text(value))
    if answer.kind == "choices" and isinstance(value, Sequence):
        value = sorted(map(str, value))
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def values_agree(answer: LayoutAnswer, first: Json, second: Json) -> bool:
    """Whether two values agree; an absent value agrees only with an absent one.

    Two spans agree if they share a character. Two lists of spans agree if each span of either
    list shares a character with a span of the other.
    """
    if first is None or second is None:
        return first is second
    if comparison(answer) != "span":
        return comparison_key(answer, first) == comparison_key(answer, second)
    first_spans, second_spans = _spans(first), _spans(second)
    return _each_overlaps(first_spans, second_spans) and _each_overlaps(second_spans, first_spans)


def judgments_agree(layout: Layout, first: Judgment, second: Judgment) -> bool:
    """Whether two judgments agree: in `rule.of`, or in all answers that are compared."""
    rule_answer = layout.rule.of
    compared = compared_answers(layout)
    if rule_answer:
        compared = {rule_answer: layout.answers[rule_answer]}
    first_answers, second_answers = judgment_answers(first), judgment_answers(second)
    return all(
        values_agree(answer, first_answers.get(name), second_answers.get(name))
        for name, answer in compared.items()
    )


def rule_value(value: Json) -> str:
    """A value as `accept` and `when` of a layout write it: `true` and `false` for flags."""
    return str(value).lower() if isinstance(value, bool) else value_as_text(value)


def marked_characters(answer: LayoutAnswer, value: Json, fields: Mapping[str, Json]) -> Any:
    """An array that says of each character of the field whether a span of the value covers it.

    The paragraphs of a field follow each other in it.
    """
    lengths = map(len, paragraph_texts(fields.get(answer.field or "")))
    ends = [*accumulate(lengths)]
    marks = np.zeros(ends[-1] if ends else 0, bool)
    for paragraph, start, end in _spans(value):
        base = ends[paragraph - 1] if paragraph else 0
        marks[base + start : base + end] = True
    return marks


# The paragraph of a span, its start and its end.
Span = tuple[int, int, int]


def _spans(value: Any) -> list[Span]:
    entries = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    spans = []
    for entry in entries:
        if isinstance(entry, Mapping):
            start, end = entry.get("start") or 0, entry.get("end") or 0
            spans.append((entry.get("paragraph") or 0, start, end))
    return spans


def _each_overlaps(spans: list[Span], other_spans: list[Span]) -> bool:
    """Whether each of the spans shares a character with one of the other spans."""
    return all(any(_overlap(span, other_span) for other_span in other_spans) for span in spans)


def _overlap(first: Span, second: Span) -> bool:
    (first_paragraph, first_start, first_end) = first
    (second_paragraph, second_start, second_end) = second
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


def percent_agreeing(agreeing: Sequence[bool]) -> float | None:
    """The percentage of pairs that agree; None without any pair."""
    return 100 * sum(agreeing) / len(agreeing) if agreeing else None


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
    repeated ones. Values and texts are nominal (texts after SQuAD normalisation). For spans each
    character of the field is a unit, inside or outside of a mark, and a pair agrees by
    `values_agree`: where and how far marks overlap counts, and how they are cut into pieces does
    not.

    In the figures of an answer, `pairs` are pairs of judgments of one item. Alpha and its 95 %
    interval, `low` to `high`, are None where they are undefined. Fleiss' kappa is of
    `fleiss_items` items, and Cohen's kappas are of `cohen_pairs` pairs of workers with enough
    items in common; there is no kappa for marked text. A worker's alpha is 1 - observed / expected
    disagreement, observed in the pairs with the other workers and expected as for all. `main` is
    the answer of the layout's rule, or else the first that is compared.
    """
    compared_judgments = [
        judgment
        for judgment in judgments
        if judgment.row and (judgment.counted or (excluded and DUPLICATE not in judgment.flags))
    ]
    compared_judgments.sort(key=lambda judgment: (judgment.item, judgment.id))
    compared = compared_answers(layout)
    main = layout.rule.of if layout.rule.of in compared else next(iter(compared), None)
    figures: dict[str, Figures] = {}
    by_worker = defaultdict[str, list[bool]](list)
    by_item = defaultdict[str, list[bool]](list)
    alphas: dict[str, float | None] = {}
    for name, answer in compared.items():
        values, ratings = _collect_values(name, answer, compared_judgments, items)
        pairs: list[bool] = []
        for item, first, second in _pairs(values):
            agrees = values_agree(answer, first.value, second.value)
            pairs.append(agrees)
            by_item[item].append(agrees)
            by_worker[first.worker].append(agrees)
            by_worker[second.worker].append(agrees)
        units = alpha_units(
            [[value.codes for value in item_values] for item_values in values.values()]
        )
        figures[name] = {
            "items": sum(len(item_values) > 1 for item_values in values.values()),
            "pairs": len(pairs),
            "percent": percent_agreeing(pairs),
            **_coefficients(units, ratings),
            "estimate": None if excluded else _estimate(answer, ratings),
        }
        if name == main:
            alphas = _worker_alphas(values, units.expected_share())
    return Agreements(figures, main, by_worker, alphas, by_item)


def _collect_values(
    name: str, answer: LayoutAnswer, judgments: Sequence[Judgment], items: Mapping[str, Item]
) -> tuple[dict[str, list[_Value]], list[Rating]]:
    """The values of an answer by item, and its ratings for kappa, of which marked text has none."""
    values: dict[str, list[_Value]] = {}
    ratings: list[Rating] = []
    code_by_key: dict[str, int] = {}
    for judgment in judgments:
        value = judgment_answers(judgment).get(name)
        if value is None:
            continue
        if comparison(answer) == "span":
            codes = marked_characters(answer, value, items[judgment.item].fields)
        else:
            key = comparison_key(answer, value)
            ratings.append(Rating(judgment.item, judgment.worker, key))
            codes = np.array([code_by_key.setdefault(key, len(code_by_key))])
        values.setdefault(judgment.item, []).append(_Value(judgment.worker, value, codes))
    return values, ratings


def _coefficients(units: AlphaUnits, ratings: Sequence[Rating]) -> Figures:
    low, high = units.interval() or (None, None)
    fleiss, fleiss_items = fleiss_kappa(ratings)
    cohen = [*cohen_kappas(ratings, _FEWEST_COMMON).values()]
    return {
        "alpha": units.alpha(),
        "low": low,
        "high": high,
        "fleiss": fleiss,
        "fleiss_items": fleiss_items,
        "cohen_pairs": len(cohen),
        "cohen_median": median(cohen) if cohen else None,
        "cohen_low": min(cohen, default=None),
        "cohen_high": max(cohen, default=None),
    }


def _pairs(values: Mapping[str, Sequence[_Value]]) -> Iterator[tuple[str, _Value, _Value]]:
    for item, item_values in values.items():
        for first, second in combinations(item_values, 2):
            yield item, first, second


def _worker_alphas(
    values: Mapping[str, Sequence[_Value]], expected: float | None
) -> dict[str, float | None]:
    size, differing = Counter[str](), Counter[str]()
    for _, first, second in _pairs(values):
        for worker in (first.worker, second.worker):
            size[worker] += len(first.codes)
            differing[worker] += int((first.codes != second.codes).sum())
    return {
        worker: 1 - differing[worker] / total / expected if expected and total else None
        for worker, total in size.items()
    }


def _estimate(answer: LayoutAnswer, ratings: Sequence[Rating]) -> Figures | None:
    """Compare the values that Dawid and Skene estimate with those of the majority.

    Only a choice from a few values is estimated. Of the `items` that two or more have judged,
    `same` have the same value by both; in `ties` the majority has none. `differing` lists a few of
    the others as (item, majority, estimate, its probability). None where there are no such items.
    """
    counts = Counter(rating.item for rating in ratings)
    items = sorted(item for item, count in counts.items() if count > 1)
    is_free = answer.field or answer.kind not in ("choice", "flag") or comparison(answer) != "value"
    if is_free or not items:
        return None
    votes, estimates = majority(ratings), dawid_skene(ratings)
    differing = []
    for item in items:
        value, probability = next(iter(estimates[item].items()))
        vote = votes[item]
        if vote is not None and vote != value:
            texts = _key_as_text(vote), _key_as_text(value)
            differing.append((item, *texts, round(probability, 4)))
    ties = sum(votes[item] is None for item in items)
    return {
        "items": len(items),
        "same": len(items) - ties - len(differing),
        "ties": ties,
        "differing": differing[:_DIFFERING],
    }


def _key_as_text(key: str) -> str:
    value = json.loads(key)
    return value if isinstance(value, str) else key
