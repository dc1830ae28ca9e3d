"""How far annotators agree: for each answer, each worker and each item of a layout.

Judgments that count are compared, of the rows of the dataset; attention items say nothing here.
An answer that an annotator was not asked, by its `when`, is missing and not a value of its own.

Krippendorff's alpha (K. Krippendorff, Content Analysis, ch. 12) is 1 - observed / expected
disagreement, here for nominal data with any number of annotators and missing values. Only units
with two values or more say anything. Where all values are the same, nothing could disagree: alpha
is undefined (None). Its interval is a bootstrap over items.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, combinations
from typing import Any, Literal, NamedTuple

import numpy as np

from factdrift.annotation.batch import Item
from factdrift.annotation.checks import paragraphs, plain
from factdrift.annotation.layout import Layout, LayoutAnswer
from factdrift.annotation.matching import DUPLICATE
from factdrift.annotation.submission import Json
from factdrift.builders.rows import Judgment
from factdrift.builders.text.squad import normal_or_all

DRAWS = 1_000
"""Bootstrap samples of an interval."""
LEVEL = 0.95
_CELLS = 4_000_000
"""Cells of the largest matrix that the bootstrap holds."""

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


class TextRange(NamedTuple):
    """Marked characters of a field, `start` to `end`; paragraphs counted as one after another."""

    start: int
    end: int


def comparison(answer: LayoutAnswer) -> ComparedBy:
    """How values of an answer are compared: as its layout says, else by its kind."""
    return answer.agree or _BY_KIND[answer.kind]


def compared_answers(layout: Layout) -> dict[str, LayoutAnswer]:
    """The answers that are compared at all, in the layout's order."""
    return {name: one for name, one in layout.answers.items() if comparison(one) != "none"}


def answers_of(judgment: Judgment) -> dict[str, Any]:
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
    by_text = comparison(answer) in ("text", "span")
    if isinstance(value, str | bool):
        return _key(value, by_text)
    if by_text:
        return normal_or_all(plain(value))
    if answer.kind == "choices" and isinstance(value, Sequence):
        value = sorted(map(str, value))
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


@lru_cache(maxsize=4096, typed=True)
def _key(value: str | bool, by_text: bool) -> str:
    return normal_or_all(plain(value)) if by_text else json.dumps(value, ensure_ascii=False)


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
    first, second = answers_of(one), answers_of(other)
    return all(values_agree(a, first.get(name), second.get(name)) for name, a in asked.items())


def value_text(value: Json) -> str:
    """A value as `accept` and `when` have it: `true` and `false` for flags."""
    return str(value).lower() if isinstance(value, bool) else plain(value)


def marked_ranges(answer: LayoutAnswer, value: Json, fields: Mapping[str, Json]) -> list[TextRange]:
    """The marked characters of a field, merged and sorted."""
    starts = [0, *accumulate(map(len, paragraphs(fields.get(answer.field or ""))))]
    found: list[TextRange] = []
    for paragraph, start, end in sorted(_spans(value)):
        base = starts[min(paragraph, len(starts) - 1)]
        marked = TextRange(base + start, base + end)
        if found and marked.start <= found[-1].end:
            marked = TextRange(found[-1].start, max(found.pop().end, marked.end))
        found.append(marked)
    return found


def field_length(answer: LayoutAnswer, fields: Mapping[str, Json]) -> int:
    """Characters of the field that spans of an answer are marked in."""
    return sum(map(len, paragraphs(fields.get(answer.field or ""))))


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


@dataclass(frozen=True)
class Agreement:
    """Of one answer. `pairs` are pairs of judgments of one item; `percent` of them agree.

    `alpha` and its 95 % interval, `low` to `high`, are None where they are undefined.
    """

    answer: str
    label: str
    items: int
    pairs: int
    percent: float | None
    alpha: float | None
    low: float | None
    high: float | None


@dataclass
class PairCounts:
    """Pairs of values, and how many of them agree; over all compared answers."""

    pairs: int = 0
    agreeing: int = 0

    def add(self, agrees: bool) -> None:
        self.pairs += 1
        self.agreeing += agrees

    @property
    def percent(self) -> float | None:
        return 100 * self.agreeing / self.pairs if self.pairs else None


@dataclass(frozen=True)
class Agreements:
    """`by_worker`: pairs of a worker with the others; `alphas` of workers are of `main`."""

    answers: tuple[Agreement, ...]
    main: str | None
    by_worker: Mapping[str, PairCounts]
    alphas: Mapping[str, float | None]
    by_item: Mapping[str, PairCounts]


class _Value(NamedTuple):
    worker: str
    value: Any


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
    the field is a unit, in or out (`mark_units`), and a pair agrees as `values_agree` has it.
    A worker's alpha is 1 - observed / expected disagreement: observed in the pairs with the
    others, expected as for all. `main` is the answer of the rule, else the first compared.
    """
    by_item: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for one in sorted(judgments, key=lambda one: (one.item, one.id)):
        if one.row and (one.counted or (excluded and DUPLICATE not in one.flags)):
            by_item.setdefault(one.item, []).append((one.worker, answers_of(one)))
    asked = compared_answers(layout)
    main = layout.rule.of if layout.rule.of in asked else next(iter(asked), None)
    answers = []
    of_workers: dict[str, PairCounts] = {}
    of_items: dict[str, PairCounts] = {}
    alphas: dict[str, float | None] = {}
    for name, answer in asked.items():
        values = {
            item: [_Value(worker, a[name]) for worker, a in found if name in a]
            for item, found in by_item.items()
        }
        counts = PairCounts()
        for item, first, second in _pairs(values):
            agrees = values_agree(answer, first.value, second.value)
            counts.add(agrees)
            of_items.setdefault(item, PairCounts()).add(agrees)
            for worker in (first.worker, second.worker):
                of_workers.setdefault(worker, PairCounts()).add(agrees)
        units = _units(answer, values, items)
        low, high = alpha_interval(units) or (None, None)
        answers.append(
            Agreement(
                answer=name,
                label=answer.label,
                items=sum(len(found) > 1 for found in values.values()),
                pairs=counts.pairs,
                percent=counts.percent,
                alpha=krippendorff_alpha(units),
                low=low,
                high=high,
            )
        )
        if name == main:
            alphas = _worker_alphas(answer, values, items, expected_disagreement(units))
    return Agreements(
        answers=tuple(answers),
        main=main,
        by_worker=dict(sorted(of_workers.items())),
        alphas=alphas,
        by_item=dict(sorted(of_items.items())),
    )


def _pairs(values: Mapping[str, Sequence[_Value]]) -> Iterator[tuple[str, _Value, _Value]]:
    for item, found in values.items():
        for first, second in combinations(found, 2):
            yield item, first, second


def _units(
    answer: LayoutAnswer, values: Mapping[str, Sequence[_Value]], items: Mapping[str, Item]
) -> "Units":
    if comparison(answer) != "span":
        keys = ([comparison_key(answer, v.value) for v in found] for found in values.values())
        return value_units(keys)
    return mark_units(
        (
            field_length(answer, items[item].fields),
            [marked_ranges(answer, v.value, items[item].fields) for v in found],
        )
        for item, found in values.items()
    )


def _worker_alphas(
    answer: LayoutAnswer,
    values: Mapping[str, Sequence[_Value]],
    items: Mapping[str, Item],
    expected: float | None,
) -> dict[str, float | None]:
    seen: dict[str, list[float]] = {}
    for item, first, second in _pairs(values):
        size, differing = 1, 0.0
        if comparison(answer) == "span":
            fields = items[item].fields
            marks = [_is_marked(answer, v.value, fields) for v in (first, second)]
            size, differing = len(marks[0]), float((marks[0] != marks[1]).sum())
        elif not values_agree(answer, first.value, second.value):
            differing = 1.0
        for worker in (first.worker, second.worker):
            sums = seen.setdefault(worker, [0.0, 0.0])
            sums[0] += size
            sums[1] += differing
    return {
        worker: 1 - differing / total / expected if expected and total else None
        for worker, (total, differing) in sorted(seen.items())
    }


def _is_marked(answer: LayoutAnswer, value: Any, fields: Mapping[str, Any]) -> Any:
    marks = np.zeros(field_length(answer, fields), bool)
    for start, end in marked_ranges(answer, value, fields):
        marks[start:end] = True
    return marks


@dataclass(frozen=True)
class Units:
    """What alpha is computed from, a row for the items, of two values or more, that are alike.

    `times`: how many items are so. `disagreeing`: the share of observed disagreement of each,
    pairs of values that differ over values less one. `counts`: how often it has each value, rows
    by values, sparse.
    """

    times: Any
    disagreeing: Any
    counts: Any


def value_units(items: Iterable[Sequence[str]]) -> Units:
    """Units of nominal values: each item is one unit, and has a value of each annotator."""
    columns: dict[str, int] = {}

    def units() -> Iterator[tuple[float, Mapping[int, int]]]:
        for values in items:
            if len(values) > 1:
                counts = {value: values.count(value) for value in sorted(set(values))}
                differing = sum(n * (len(values) - n) for n in counts.values()) / (len(values) - 1)
                yield differing, {columns.setdefault(v, len(columns)): n for v, n in counts.items()}

    return _sparse_units(units())


def mark_units(items: Iterable[tuple[int, Sequence[Sequence[tuple[int, int]]]]]) -> Units:
    """Units of marked text: each character is one, with the values in and out.

    An item is the length of its text and what each annotator marked, as [start, end) in order and
    without overlap. This is the simple form of unitising: where and how far marks overlap
    counts, how they are cut into pieces does not.
    """
    return _sparse_units(
        _marked(length, marks) for length, marks in items if len(marks) > 1 and length > 0
    )


def krippendorff_alpha(units: Units) -> float | None:
    """The coefficient: 1 perfect, 0 as by chance; None where it is undefined."""
    value = _alphas(units, units.times[np.newaxis])[0] if len(units.times) else np.nan
    return None if np.isnan(value) else float(value)


def alpha_interval(units: Units, *, seed: int = 0) -> tuple[float, float] | None:
    """A percentile interval of level `LEVEL`: `DRAWS` samples of items, with replacement.

    Samples in which it is undefined are left out; None where these are more than half, or where
    there are fewer than two items.
    """
    many = int(units.times.sum())
    if many < 2:
        return None
    rng = np.random.default_rng(seed)
    even = units.times / many
    step = max(1, _CELLS // max(units.counts.shape))
    found = [
        _alphas(units, rng.multinomial(many, even, size=min(step, DRAWS - start)))
        for start in range(0, DRAWS, step)
    ]
    values = np.concatenate(found)
    values = values[~np.isnan(values)]
    if len(values) * 2 < DRAWS:
        return None
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def expected_disagreement(units: Units) -> float | None:
    """Share of pairs of values that would differ by chance; None without any pair."""
    totals = np.asarray(units.counts.T @ units.times, float).ravel()
    n = totals.sum()
    return float((n * n - (totals**2).sum()) / (n * (n - 1))) if n > 1 else None


def _alphas(units: Units, weights: Any) -> Any:
    """Alpha for each row of weights on items; NaN where it is undefined."""
    totals = np.asarray((units.counts.T @ weights.T).T, float)
    n = totals.sum(axis=1)
    by_chance = n * n - (totals**2).sum(axis=1)
    seen = weights @ units.disagreeing
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(by_chance > 0, 1 - (n - 1) * seen / by_chance, np.nan)


def _sparse_units(items: Iterable[tuple[float, Mapping[int, int]]]) -> Units:
    """Items that are alike are drawn alike: a bootstrap of them all costs that of the different."""
    times = Counter((share, tuple(sorted(counts.items()))) for share, counts in items)
    found = [(share, dict(counts)) for share, counts in times]
    data = [n for _, counts in found for n in counts.values()]
    columns = [column for _, counts in found for column in counts]
    ends = [0, *accumulate(len(counts) for _, counts in found)]
    cells = np.array(data, np.float64), np.array(columns, np.int64), np.array(ends)
    shape = len(found), max(columns, default=0) + 1
    from scipy.sparse import csr_matrix  # 30 MB that making a batch does not need

    shares = np.array([share for share, _ in found], np.float64)
    return Units(np.array([*times.values()], np.float64), shares, csr_matrix(cells, shape))


def _marked(
    length: int, annotators: Sequence[Sequence[tuple[int, int]]]
) -> tuple[float, dict[int, int]]:
    changes = np.zeros(length + 1, int)
    for spans in annotators:
        for start, end in spans:
            changes[min(start, length)] += 1
            changes[min(end, length)] -= 1
    inside = np.cumsum(changes[:length])
    many = len(annotators)
    share = float((2 * inside * (many - inside)).sum()) / (many - 1)
    marked = int(inside.sum())
    return share, {0: length * many - marked, 1: marked}
