"""Krippendorff's alpha on small tables, against the literature, by hand, and another library."""

import random

import numpy as np
import pytest
from krippendorff import alpha as oracle

from factdrift.annotation.quality.agreement import (
    alpha_interval,
    krippendorff_alpha,
    mark_units,
    value_units,
)

# K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section C: four observers,
# twelve units, missing values; nominal alpha 0.743.
CLASSIC = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""


def _columns(text: str) -> list[list[str]]:
    rows = [line.split() for line in text.strip().splitlines()]
    return [[value for value in unit if value != "."] for unit in zip(*rows, strict=True)]


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        # section B: two observers, ten units, binary; alpha 0.095
        (_columns("0 1 0 0 0 0 0 0 1 0\n1 1 1 0 0 1 0 0 0 0"), 0.095),
        # section C: nominal, two observers: 0.692
        (_columns("a a b b d c c c e d d a\nb a b b b c c c e d d d"), 0.692),
        (_columns(CLASSIC), 0.743),
        # by hand: 2 units, values a a / a b: Do = 1/2, De = 2*(3*1)/(4*3) = 1/2
        ([["a", "a"], ["a", "b"]], 0.0),
        # by hand: all differ within, alike across: Do = 1, De = 2*(2*2)/(4*3) = 2/3
        ([["a", "b"], ["b", "a"]], -0.5),
        ([["a", "a"], ["b", "b"]], 1.0),
        # a unit of one value says nothing
        ([["a", "a"], ["b", "b"], ["c"]], 1.0),
        # undefined: nothing could differ, one judge, nothing at all
        ([["a", "a"], ["a", "a"]], None),
        ([["a"], ["b"]], None),
        ([], None),
    ],
)
def test_alpha_of_known_tables(units: list[list[str]], expected: float | None) -> None:
    found = krippendorff_alpha(value_units(units))
    assert found == expected if expected is None else found == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("seed", range(5))
def test_alpha_is_what_another_library_finds(seed: int) -> None:
    rng = random.Random(seed)
    rows = [[rng.choice("aaabc.") for _ in range(30)] for _ in range(4)]
    units = [[v for v in unit if v != "."] for unit in zip(*rows, strict=True)]
    table = [[float("abc".index(v)) if v != "." else np.nan for v in row] for row in rows]
    expected = oracle(reliability_data=table, level_of_measurement="nominal")
    assert krippendorff_alpha(value_units(units)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([(4, [[(0, 2)], [(0, 2)]])], 1.0),
        # by hand: characters in/out of two judges: 11 10 00 01? -> units (1,1) (1,0) (0,1) (0,0)
        # n = 8, ones 4: Do = 4/8, De = 2*16/(8*7) = 4/7: alpha = 1 - 7/8
        ([(4, [[(0, 2)], [(0, 1), (2, 3)]])], 0.125),
        # touching pieces are the same marks as one piece
        ([(6, [[(0, 4)], [(0, 2), (2, 4)]])], 1.0),
        # nothing marked by anybody: undefined
        ([(4, [[], []])], None),
        ([(4, [[(0, 2)]])], None),
        ([(0, [[], []])], None),
    ],
)
def test_alpha_of_marked_text(
    items: list[tuple[int, list[list[tuple[int, int]]]]], expected: float | None
) -> None:
    assert krippendorff_alpha(mark_units(items)) == (
        expected if expected is None else pytest.approx(expected)
    )


def test_marked_text_is_the_nominal_alpha_of_its_characters() -> None:
    rng = random.Random(3)
    items, units = [], []
    for _ in range(6):
        judges = []
        for _ in range(3):
            start = rng.randrange(10)
            judges.append([(start, start + rng.randrange(1, 8))])
        items.append((20, judges))
        units += [
            [str(any(s <= place < e for s, e in judge)) for judge in judges] for place in range(20)
        ]
    assert krippendorff_alpha(mark_units(items)) == pytest.approx(
        krippendorff_alpha(value_units(units))
    )


def test_the_interval_is_that_of_resampled_items() -> None:
    units = _columns(CLASSIC)
    low, high = alpha_interval(value_units(units)) or (0.0, 0.0)
    rng = random.Random(1)
    drawn = (
        krippendorff_alpha(value_units([rng.choice(units) for _ in units])) for _ in range(4000)
    )
    values = [v for v in drawn if v is not None]
    least, most = np.quantile(values, [[0.005, 0.95], [0.05, 0.995]])  # few items: it jumps
    assert least[0] <= low <= most[0] and least[1] <= high <= most[1]
    assert alpha_interval(value_units(units)) == (low, high)
    assert alpha_interval(value_units(units), seed=1) != (low, high)


@pytest.mark.parametrize(
    "units", [[], [["a", "b"]], [["a", "a"], ["a", "a"]], [["a"], ["b"], ["a"]]]
)
def test_no_interval_where_nothing_can_be_said(units: list[list[str]]) -> None:
    assert alpha_interval(value_units(units)) is None


@pytest.mark.slow
def test_ten_thousand_items_with_as_many_texts() -> None:
    rng = random.Random(5)
    units = []
    for n in range(10_000):
        first = f"text {n}"
        units.append([first, first if rng.random() < 0.8 else f"other {n}"])
    low, high = alpha_interval(value_units(units)) or (0.0, 1.0)
    assert 0.78 < low < krippendorff_alpha(value_units(units)) < high < 0.82  # type: ignore[operator]
