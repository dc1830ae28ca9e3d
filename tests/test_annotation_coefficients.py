"""Coefficients against the literature, by hand, and beside those of the usual libraries."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

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
from tests.tables import read_table

TABLES = json.loads(Path(__file__).with_name("annotation_agreement_tables.json").read_text())

CASES = read_table("annotation_coefficients")


def _columns(text: str) -> list[list[int]]:
    """A row an annotator, a column an item; `.` is missing."""
    table_rows = [text_line.split() for text_line in text.split("/")]
    return [
        [ord(letter) for letter in unit if letter not in ".-"]
        for unit in zip(*table_rows, strict=True)
    ]


def _units(text: str) -> AlphaUnits:
    return alpha_units(_columns(text))


@pytest.mark.parametrize(("table_rows", "expected_value"), CASES["alpha"])
def test_alpha_of_known_tables(table_rows: str, expected_value: float | None) -> None:
    measured_alpha = _units(table_rows).alpha()
    assert (
        measured_alpha == expected_value
        if expected_value is None
        else measured_alpha == pytest.approx(expected_value, abs=5e-4)
    )


@pytest.mark.parametrize(("judges", "expected_value"), CASES["marks"])
def test_alpha_of_an_item_of_many_units(judges: list[str], expected_value: float | None) -> None:
    marked_units = [np.array([character == "1" for character in judge], bool) for judge in judges]
    measured_alpha = alpha_units([marked_units]).alpha()
    assert measured_alpha == (
        expected_value if expected_value is None else pytest.approx(expected_value)
    )
    one_by_one = [[int(character) for character in unit] for unit in zip(*judges, strict=True)]
    assert measured_alpha == alpha_units(one_by_one).alpha()


def test_the_interval_is_that_of_resampled_items() -> None:
    columns = _columns(CASES["classic"])
    units = alpha_units(columns)
    low, high = units.interval() or (0.0, 0.0)
    random_source = random.Random(1)
    drawn_alphas = (
        alpha_units([random_source.choice(columns) for _ in columns]).alpha() for _ in range(2000)
    )
    known_alphas = [drawn_alpha for drawn_alpha in drawn_alphas if drawn_alpha is not None]
    least, most = np.quantile(known_alphas, [[0.005, 0.95], [0.05, 0.995]])  # few items: it jumps
    assert least[0] <= low <= most[0] and least[1] <= high <= most[1]
    assert units.interval() == (low, high) != units.interval(seed=1)


@pytest.mark.parametrize("table_rows", ["", "a / b", "a a / a a", "a b a", "a b / b a"])
def test_an_interval_needs_two_items_that_could_differ(table_rows: str) -> None:
    assert (_units(table_rows).interval() is None) == (table_rows != "a b / b a")


@pytest.mark.slow
def test_ten_thousand_items_with_as_many_texts() -> None:
    random_source = random.Random(5)
    units = alpha_units(
        [
            [item_number, item_number if random_source.random() < 0.8 else item_number + 20_000]
            for item_number in range(10_000)
        ]
    )
    low, high = units.interval() or (0.0, 1.0)
    assert 0.78 < low < units.alpha() < high < 0.82  # type: ignore[operator]


@pytest.mark.parametrize("drawn", TABLES["tables"])
def test_random_tables_come_out_as_by_the_usual_libraries(drawn: dict[str, Any]) -> None:
    full = []
    for worker_id, row in enumerate(drawn["full"]):
        for item, answer_value in enumerate(row):
            full.append(Rating(f"{item:03}", str(worker_id), answer_value))
    part = _units(" / ".join(map(" ".join, drawn["part"])))
    assert part.alpha() == pytest.approx(drawn["alpha"], abs=1e-12)
    with_gaps = _ratings(*map("".join, zip(*drawn["part"], strict=True)))
    assert gwet_ac1(with_gaps) == pytest.approx(drawn["ac1"], abs=1e-9)
    assert fleiss_kappa(full)[0] == pytest.approx(drawn["fleiss"], abs=1e-12)
    assert cohen_kappas(full)["0", "1"] == pytest.approx(drawn["cohen"], abs=1e-12)
    best = dawid_skene(full)
    assert "".join(next(iter(best[item])) for item in sorted(best)) == drawn["labels"]


def test_the_anaesthetists_of_dawid_and_skene() -> None:
    rated = []
    for patient, values in enumerate(CASES["anaesthetists"].split(), 1):
        for observer, answer_value in zip("1112345", values, strict=True):
            rated.append(Rating(f"{patient:02}", observer, answer_value))
    estimates = dawid_skene(rated)
    grade_shares = [
        sum(values[grade] for values in estimates.values()) / len(estimates) for grade in "1234"
    ]
    assert [round(grade_share, 2) for grade_share in grade_shares] == [
        0.40,
        0.42,
        0.11,
        0.07,
    ]  # table 4
    assert next(iter(estimates["03"])) == "2" and majority(rated)["03"] == "2"


def _ratings(*table_rows: str) -> list[Rating]:
    """A text for each item, a value a worker; `.` is none."""
    return [
        Rating(str(item), worker_id, answer_value)
        for item, row in enumerate(table_rows)
        for worker_id, answer_value in zip("uvwxyz", row, strict=False)
        if answer_value not in ".-"
    ]


@pytest.mark.parametrize(("table_rows", "kappa", "items"), CASES["fleiss"])
def test_fleiss_takes_items_of_one_size(
    table_rows: list[str], kappa: float | None, items: int
) -> None:
    assert fleiss_kappa(_ratings(*table_rows)) == (
        None if kappa is None else pytest.approx(kappa),
        items,
    )


def test_ac1_stays_high_where_nearly_all_is_one_value() -> None:
    """49 of 50 items agree: alpha takes that for chance, and AC1 does not."""
    ratings = _ratings(*["yy"] * 49, "yn")
    assert _units("/".join(["y " * 50, "y " * 49 + "n"])).alpha() == pytest.approx(0, abs=0.01)
    assert gwet_ac1(ratings) == pytest.approx(0.98, abs=0.001)


@pytest.mark.parametrize(
    ("table_rows", "category_count", "ac1"),
    [
        (["yy", "yy"], 0, None),  # one value was given, and others are not known
        (["yy", "yy"], 2, 1.0),  # nobody took the other choice
        (["y", "n"], 2, None),  # nobody to compare with
        (["yn", "ny"], 2, -1.0),
        ([], 2, None),
    ],
)
def test_ac1_at_its_ends(table_rows: list[str], category_count: int, ac1: float | None) -> None:
    assert gwet_ac1(_ratings(*table_rows), category_count) == ac1


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
