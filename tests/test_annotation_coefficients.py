"""Coefficients against the literature, by hand, and beside those of the usual libraries."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from krippendorff import alpha as oracle

from factdrift.annotation.quality.coefficients import (
    AlphaUnits,
    Rating,
    alpha_units,
    cohen_kappas,
    dawid_skene,
    fleiss_kappa,
    majority,
)

TABLES = json.loads(Path(__file__).with_name("annotation_agreement_tables.json").read_text())

CLASSIC = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""


def _columns(text: str) -> list[list[int]]:
    """A row an annotator, a column an item; `.` is missing."""
    rows = [line.split() for line in text.strip().splitlines()]
    return [[ord(v) for v in unit if v not in ".-"] for unit in zip(*rows, strict=True)]


def _units(text: str) -> AlphaUnits:
    return alpha_units(_columns(text))


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        # K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), sections B and C
        ("0 1 0 0 0 0 0 0 1 0\n1 1 1 0 0 1 0 0 0 0", 0.095),
        ("a a b b d c c c e d d a\nb a b b b c c c e d d d", 0.692),
        (CLASSIC, 0.743),
        # by hand: 2 units, values a a / a b: Do = 1/2, De = 2*(3*1)/(4*3) = 1/2
        ("a a\na b", 0.0),
        # by hand: all differ within, alike across: Do = 1, De = 2*(2*2)/(4*3) = 2/3
        ("a b\nb a", -0.5),
        ("a b\na b", 1.0),
        ("a b c\na b .", 1.0),  # a unit of one value says nothing
        # undefined: nothing could differ, one judge, nothing at all
        ("a a\na a", None),
        ("a b", None),
        ("", None),
    ],
)
def test_alpha_of_known_tables(table: str, expected: float | None) -> None:
    found = _units(table).alpha()
    assert found == expected if expected is None else found == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("seed", range(5))
def test_alpha_is_what_another_library_finds(seed: int) -> None:
    rng = random.Random(seed)
    rows = [[rng.choice("aaabc.") for _ in range(30)] for _ in range(4)]
    table = [[float("abc".index(v)) if v != "." else np.nan for v in row] for row in rows]
    expected = oracle(reliability_data=table, level_of_measurement="nominal")
    assert _units("\n".join(map(" ".join, rows))).alpha() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("judges", "expected"),
    [
        (["1100", "1100"], 1.0),
        # units (1,1) (1,0) (0,1) (0,0): n = 8, ones 4: Do = 4/8, De = 2*16/(8*7): 1 - 7/8
        (["1100", "1010"], 0.125),
        (["0000", "0000"], None),  # nothing marked by anybody
        (["1100"], None),
        (["", ""], None),
    ],
)
def test_alpha_of_an_item_of_many_units(judges: list[str], expected: float | None) -> None:
    marks = [np.array([c == "1" for c in judge], bool) for judge in judges]
    found = alpha_units([marks]).alpha()
    assert found == (expected if expected is None else pytest.approx(expected))
    one_by_one = [[int(c) for c in unit] for unit in zip(*judges, strict=True)]
    assert found == alpha_units(one_by_one).alpha()


def test_the_interval_is_that_of_resampled_items() -> None:
    columns = _columns(CLASSIC)
    units = alpha_units(columns)
    low, high = units.interval() or (0.0, 0.0)
    rng = random.Random(1)
    drawn = (alpha_units([rng.choice(columns) for _ in columns]).alpha() for _ in range(2000))
    values = [v for v in drawn if v is not None]
    least, most = np.quantile(values, [[0.005, 0.95], [0.05, 0.995]])  # few items: it jumps
    assert least[0] <= low <= most[0] and least[1] <= high <= most[1]
    assert units.interval() == (low, high) != units.interval(seed=1)


@pytest.mark.parametrize("table", ["", "a\nb", "a a\na a", "a b a", "a b\nb a"])
def test_an_interval_needs_two_items_that_could_differ(table: str) -> None:
    assert (_units(table).interval() is None) == (table != "a b\nb a")


@pytest.mark.slow
def test_ten_thousand_items_with_as_many_texts() -> None:
    rng = random.Random(5)
    units = alpha_units([[n, n if rng.random() < 0.8 else n + 20_000] for n in range(10_000)])
    low, high = units.interval() or (0.0, 1.0)
    assert 0.78 < low < units.alpha() < high < 0.82  # type: ignore[operator]


@pytest.mark.parametrize("table", TABLES["tables"])
def test_random_tables_come_out_as_by_the_usual_libraries(table: dict[str, Any]) -> None:
    full = [
        Rating(f"{item:03}", str(worker), value)
        for worker, row in enumerate(table["full"])
        for item, value in enumerate(row)
    ]
    part = _units("\n".join(map(" ".join, table["part"])))
    assert part.alpha() == pytest.approx(table["alpha"], abs=1e-12)
    assert fleiss_kappa(full)[0] == pytest.approx(table["fleiss"], abs=1e-12)
    assert cohen_kappas(full)["0", "1"] == pytest.approx(table["cohen"], abs=1e-12)
    best = dawid_skene(full)
    assert "".join(next(iter(best[item])) for item in sorted(best)) == table["labels"]


ANAESTHETISTS = """
1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 2223343
1111111 2223212 1211111 1112111 1111111 1111111 2222221 2221322 2222222 2222221 2223222 2212222
1111111 1111111 2322222 1111111 1111111 1121121 1111111 3333233 1111111 2222222 2223232 4334343
2212232 2323233 3333432 1111111 1111111 1212111 2322222 1211111 2222222
""".split()
"""Table 1 of Dawid and Skene: 45 patients; three ratings of the first of five anaesthetists, then
one of each other."""


def test_the_anaesthetists_of_dawid_and_skene() -> None:
    rated = [
        Rating(f"{patient:02}", observer, value)
        for patient, values in enumerate(ANAESTHETISTS, 1)
        for observer, value in zip("1112345", values, strict=True)
    ]
    found = dawid_skene(rated)
    shares = [sum(values[v] for values in found.values()) / len(found) for v in "1234"]
    assert [round(share, 2) for share in shares] == [0.40, 0.42, 0.11, 0.07]  # table 4
    assert next(iter(found["03"])) == "2" and majority(rated)["03"] == "2"


def _ratings(*rows: str) -> list[Rating]:
    """A text for each item, a value a worker; `.` is none."""
    return [
        Rating(str(item), worker, value)
        for item, row in enumerate(rows)
        for worker, value in zip("uvwx", row, strict=False)
        if value != "."
    ]


@pytest.mark.parametrize(
    ("rows", "kappa", "items"),
    [
        ([], None, 0),
        (["a"], None, 0),
        (["aa", "aa"], None, 2),  # nothing could differ
        (["ab", "ba"], -1.0, 2),
        (["aab", "ab", "ba"], -1.0, 2),  # the most frequent number of ratings
        (["aab", "bba", "ab", "aa"], -1 / 3, 2),  # of two as frequent the larger
    ],
)
def test_fleiss_takes_items_of_one_size(rows: list[str], kappa: float | None, items: int) -> None:
    assert fleiss_kappa(_ratings(*rows)) == (None if kappa is None else pytest.approx(kappa), items)


def test_cohen_is_of_pairs_with_enough_in_common() -> None:
    ratings = _ratings("aa", "ab", "bb", "bbb", "..b")
    assert cohen_kappas(ratings) == {("u", "v"): pytest.approx(0.5)}
    assert cohen_kappas(ratings, 4).keys() == {("u", "v")}
    assert cohen_kappas(ratings, 5) == {}
    assert cohen_kappas(_ratings("aa", "aa")) == {}  # undefined


def test_a_tie_has_no_majority() -> None:
    assert majority(_ratings("aab", "ab", "b")) == {"0": "a", "1": None, "2": "b"}
    assert dawid_skene([]) == {}
    assert dawid_skene(_ratings("a")) == {"0": {"a": 1.0}}
