"""How far judges agree: for each answer, each worker and each item of a layout.

Judgments that count are compared, of the rows of the dataset; attention items say nothing here.
An answer that a judge was not asked, by its `when`, is missing and not a value of its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from annotation.batch import Item
from annotation.layout import Answer, Layout
from annotation.quality.alpha import Units, alpha, expected, interval, of_marks, of_values
from annotation.quality.values import compared, how, key, length, said, same, stretches
from builders.rows import Judgment


@dataclass(frozen=True)
class Agreement:
    """Of one answer. `pairs` are pairs of judgments of one item; `percent` of them agree.

    `alpha` and its 95 % interval, `low` to `high`, are None where they are undefined.
    """

    answer: str
    label: str
    how: str
    items: int
    pairs: int
    percent: float | None
    alpha: float | None
    low: float | None
    high: float | None


class Share(NamedTuple):
    """Pairs of values, and how many of them agree; over all compared answers."""

    pairs: int
    agreeing: int

    @property
    def percent(self) -> float | None:
        """Share of them that agree, of 100; None without any."""
        return 100 * self.agreeing / self.pairs if self.pairs else None


@dataclass(frozen=True)
class Agreements:
    """`by_worker`: pairs of a worker with the others; `alphas` of workers are of `main`."""

    answers: tuple[Agreement, ...]
    main: str | None
    by_worker: Mapping[str, Share]
    alphas: Mapping[str, float | None]
    by_item: Mapping[str, Share]


class _Value(NamedTuple):
    worker: str
    value: Any


def measure(layout: Layout, judgments: Sequence[Judgment], items: Mapping[str, Item]) -> Agreements:
    """Agreement of the judgments of one layout.

    Values and texts are nominal (texts after SQuAD normalisation); of spans each character of
    the field is a unit, in or out (`alpha.of_marks`), and a pair agrees as `values.same` has it.
    A worker's alpha is 1 - observed / expected disagreement: observed in the pairs with the
    others, expected as for all. `main` is the answer of the rule, else the first compared.
    """
    by_item: dict[str, list[Judgment]] = {}
    for one in sorted(judgments, key=lambda one: one.id):
        if one.row and one.counted:
            by_item.setdefault(one.item, []).append(one)
    given = {
        item: [(one.worker, said(one)) for one in found] for item, found in sorted(by_item.items())
    }
    asked = compared(layout)
    main = layout.rule.of if layout.rule.of in asked else next(iter(asked), None)
    answers = []
    workers: dict[str, list[int]] = {}
    rows: dict[str, list[int]] = {}
    alphas: dict[str, float | None] = {}
    for name, answer in asked.items():
        values = {
            item: [_Value(worker, a[name]) for worker, a in found if name in a]
            for item, found in given.items()
        }
        pairs = agreeing = 0
        for item, first, second in _pairs(values):
            is_same = same(answer, first.value, second.value)
            pairs, agreeing = pairs + 1, agreeing + is_same
            for place in (
                workers.setdefault(first.worker, [0, 0]),
                workers.setdefault(second.worker, [0, 0]),
                rows.setdefault(item, [0, 0]),
            ):
                place[0] += 1
                place[1] += is_same
        units = _units(answer, values, items)
        ends = interval(units)
        answers.append(
            Agreement(
                answer=name,
                label=answer.label,
                how=how(answer),
                items=sum(len(found) > 1 for found in values.values()),
                pairs=pairs,
                percent=Share(pairs, agreeing).percent,
                alpha=alpha(units),
                low=ends[0] if ends else None,
                high=ends[1] if ends else None,
            )
        )
        if name == main:
            alphas = _by_worker(answer, values, items, expected(units))
    return Agreements(
        answers=tuple(answers),
        main=main,
        by_worker={name: Share(*n) for name, n in sorted(workers.items())},
        alphas=alphas,
        by_item={name: Share(*n) for name, n in sorted(rows.items())},
    )


def _pairs(values: Mapping[str, Sequence[_Value]]) -> Iterator[tuple[str, _Value, _Value]]:
    for item, found in values.items():
        for first, second in combinations(found, 2):
            yield item, first, second


def _units(
    answer: Answer, values: Mapping[str, Sequence[_Value]], items: Mapping[str, Item]
) -> Units:
    if how(answer) != "span":
        return of_values([key(answer, v.value) for v in found] for found in values.values())
    return of_marks(
        (
            length(answer, items[item].fields),
            [stretches(answer, v.value, items[item].fields) for v in found],
        )
        for item, found in values.items()
    )


def _by_worker(
    answer: Answer,
    values: Mapping[str, Sequence[_Value]],
    items: Mapping[str, Item],
    by_chance: float | None,
) -> dict[str, float | None]:
    """One answer's alpha of each worker against the others."""
    seen: dict[str, list[float]] = {}
    for item, first, second in _pairs(values):
        size, differing = 1, 0.0
        if how(answer) == "span":
            fields = items[item].fields
            marks = [_inside(answer, v.value, fields) for v in (first, second)]
            size, differing = len(marks[0]), float((marks[0] != marks[1]).sum())
        elif not same(answer, first.value, second.value):
            differing = 1.0
        for worker in (first.worker, second.worker):
            place = seen.setdefault(worker, [0.0, 0.0])
            place[0] += size
            place[1] += differing
    return {
        worker: 1 - differing / total / by_chance if by_chance and total else None
        for worker, (total, differing) in sorted(seen.items())
    }


def _inside(answer: Answer, value: Any, fields: Mapping[str, Any]) -> Any:
    marks = np.zeros(length(answer, fields), bool)
    for start, end in stretches(answer, value, fields):
        marks[start:end] = True
    return marks
