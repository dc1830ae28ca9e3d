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

_FEWEST_COMMON = 5
"""Items that two workers have in common for a Cohen's kappa of theirs."""
_DIFFERING = 20
"""Items listed on which an estimate and the majority differ."""

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
    """The answers that are compared at all, in the layout's order."""
    return {name: one for name, one in layout.answers.items() if comparison(one) != "none"}


def judgment_answers(judgment: Judgment) -> dict[str, Any]:
    """The answers of a judgment; one that was not asked, by its `when`, is absent."""
    return _read_answers(judgment.answers)


@lru_cache(maxsize=4096)
def _read_answers(text: str) -> dict[str, Any]:
    """Many workers give the same answers: they are read once, and never changed."""
    found: dict[str, Any] = json.loads(text)
    return found


def comparison_key(answer: LayoutAnswer, value: Json) -> str:
    """A text that is equal for values that count as the same; of a span its text.

    A value as JSON (of `choices` in any order), a text after SQuAD normalisation.
    """
    if comparison(answer) in ("text", "span"):
        return normalize_or_keep(value_as_text(value))
    if answer.kind == "choices" and isinstance(value, Sequence):
        value = sorted(map(str, value))
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def values_agree(answer: LayoutAnswer, one: Json, other: Json) -> bool:
    """Whether two values agree; one that is absent agrees with an absent one alone.

    Spans agree where they share a character; lists of spans where each span of either shares one
    with a span of the other.
    """
    if one is None or other is None:
        return one is other
    if comparison(answer) != "span":
        return comparison_key(answer, one) == comparison_key(answer, other)
    first, second = _spans(one), _spans(other)
    return _each_overlaps(first, second) and _each_overlaps(second, first)


def judgments_agree(layout: Layout, one: Judgment, other: Judgment) -> bool:
    """Whether two judgments agree: in `rule.of`, or in all answers that are compared."""
    of = layout.rule.of
    asked = {of: layout.answers[of]} if of else compared_answers(layout)
    first, second = judgment_answers(one), judgment_answers(other)
    return all(values_agree(a, first.get(name), second.get(name)) for name, a in asked.items())


def rule_value(value: Json) -> str:
    """A value as `accept` and `when` have it: `true` and `false` for flags."""
    return str(value).lower() if isinstance(value, bool) else value_as_text(value)


def marked_characters(answer: LayoutAnswer, value: Json, fields: Mapping[str, Json]) -> Any:
    """Of each character of the field that spans are marked in, whether it is in one; paragraphs
    stand one after another."""
    ends = [*accumulate(map(len, paragraph_texts(fields.get(answer.field or ""))))]
    found = np.zeros(ends[-1] if ends else 0, bool)
    for paragraph, start, end in _spans(value):
        base = ends[paragraph - 1] if paragraph else 0
        found[base + start : base + end] = True
    return found


def _spans(value: Any) -> list[tuple[int, int, int]]:
    many = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    return [
        (one.get("paragraph") or 0, one.get("start") or 0, one.get("end") or 0)
        for one in many
        if isinstance(one, Mapping)
    ]


def _each_overlaps(spans: list[tuple[int, int, int]], others: list[tuple[int, int, int]]) -> bool:
    return all(
        any(p == q and start < to and begin < end for q, begin, to in others)
        for p, start, end in spans
    )


Figures = dict[str, Any]
"""Figures of a report by name, as `report.json` has them."""


@dataclass(frozen=True)
class Agreements:
    """Figures of each answer that is compared, by its name.

    `by_worker`: of each pair of a worker's values with the others', over all compared answers,
    whether they agree; `by_item`: of each pair of an item. `alphas` of workers are of `main`.
    """

    answers: Mapping[str, Figures]
    main: str | None
    by_worker: Mapping[str, list[bool]]
    alphas: Mapping[str, float | None]
    by_item: Mapping[str, list[bool]]


def percent_agreeing(agreeing: Sequence[bool]) -> float | None:
    """How many pairs of a hundred agree; None without any."""
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
    """Agreement of the judgments of one layout; with `excluded` also of those set aside, but for
    a worker's repeated ones.

    Values and texts are nominal (texts after SQuAD normalisation); of spans each character of
    the field is a unit, in or out, and a pair agrees as `values_agree` has it: where and how far
    marks overlap counts, how they are cut into pieces does not.
    `pairs` are pairs of judgments of one item. Alpha and its 95 % interval, `low` to `high`, are
    None where they are undefined; Fleiss' kappa is of `fleiss_items`, and Cohen's are of
    `cohen_pairs` of workers with enough items in common. Of marked text there is no kappa.
    A worker's alpha is 1 - observed / expected disagreement: observed in the pairs with the
    others, expected as for all. `main` is the answer of the rule, else the first compared.
    """
    compared = [
        one
        for one in sorted(judgments, key=lambda one: (one.item, one.id))
        if one.row and (one.counted or (excluded and DUPLICATE not in one.flags))
    ]
    asked = compared_answers(layout)
    main = layout.rule.of if layout.rule.of in asked else next(iter(asked), None)
    found: dict[str, Figures] = {}
    of_workers = defaultdict[str, list[bool]](list)
    of_items = defaultdict[str, list[bool]](list)
    alphas: dict[str, float | None] = {}
    for name, answer in asked.items():
        values: dict[str, list[_Value]] = {}
        ratings: list[Rating] = []
        codes: dict[str, int] = {}
        for one in compared:
            if (value := judgment_answers(one).get(name)) is not None:
                if comparison(answer) == "span":
                    code = marked_characters(answer, value, items[one.item].fields)
                else:
                    key = comparison_key(answer, value)
                    ratings.append(Rating(one.item, one.worker, key))
                    code = np.array([codes.setdefault(key, len(codes))])
                values.setdefault(one.item, []).append(_Value(one.worker, value, code))
        pairs: list[bool] = []
        for item, first, second in _pairs(values):
            agrees = values_agree(answer, first.value, second.value)
            for of in (pairs, of_items[item], of_workers[first.worker], of_workers[second.worker]):
                of.append(agrees)
        units = alpha_units([[v.codes for v in given] for given in values.values()])
        low, high = units.interval() or (None, None)
        fleiss, fleiss_items = fleiss_kappa(ratings)
        cohen = [*cohen_kappas(ratings, _FEWEST_COMMON).values()]
        found[name] = {
            "items": sum(len(given) > 1 for given in values.values()),
            "pairs": len(pairs),
            "percent": percent_agreeing(pairs),
            "alpha": units.alpha(),
            "low": low,
            "high": high,
            "fleiss": fleiss,
            "fleiss_items": fleiss_items,
            "cohen_pairs": len(cohen),
            "cohen_median": median(cohen) if cohen else None,
            "cohen_low": min(cohen, default=None),
            "cohen_high": max(cohen, default=None),
            "estimate": None if excluded else _estimate(answer, ratings),
        }
        if name == main:
            alphas = _worker_alphas(values, units.expected_share())
    return Agreements(found, main, of_workers, alphas, of_items)


def _pairs(values: Mapping[str, Sequence[_Value]]) -> Iterator[tuple[str, _Value, _Value]]:
    for item, found in values.items():
        for first, second in combinations(found, 2):
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
    """Values by Dawid and Skene beside those of the majority, of a choice from a few values.

    `same` of the `items` that two or more have judged are the same; in `ties` the majority has
    none. `differing`: a few of the others, as (item, majority, estimate, its probability). None
    where there are no such items.
    """
    counts = Counter(one.item for one in ratings)
    items = sorted(item for item, n in counts.items() if n > 1)
    free = answer.field or answer.kind not in ("choice", "flag") or comparison(answer) != "value"
    if free or not items:
        return None
    votes, best = majority(ratings), dawid_skene(ratings)
    differing = []
    for item in items:
        value, probability = next(iter(best[item].items()))
        vote = votes[item]
        if vote is not None and vote != value:
            differing.append((item, _key_as_text(vote), _key_as_text(value), round(probability, 4)))
    ties = sum(votes[item] is None for item in items)
    same = len(items) - ties - len(differing)
    return {
        "items": len(items),
        "same": same,
        "ties": ties,
        "differing": differing[:_DIFFERING],
    }


def _key_as_text(key: str) -> str:
    found = json.loads(key)
    return found if isinstance(found, str) else key
