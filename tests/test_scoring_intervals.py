"""Intervals by subject hold what they promise, and so does the test of two models."""

import numpy as np
import pytest

from factdrift.scoring.intervals import (
    DRAWS,
    SCALE,
    bundle_weights,
    mean_intervals,
    paired_difference,
    subject_bundles,
)


def right_answers(chance: np.random.Generator, subjects: int, rows: int, mean: float) -> np.ndarray:
    """Marks of `rows` rows of each subject, which a model knows more or less well as a whole."""
    known = chance.beta(2 * mean, 2 * (1 - mean), subjects)
    return (chance.random((subjects, rows)) < known[:, None]).astype(np.int64) * SCALE


@pytest.mark.parametrize(
    ("subjects", "rows", "among"), [(120, 4, 120), (3000, 2, 3000), (40, 3, 2000)]
)
def test_intervals_cover_at_their_nominal_rate(subjects: int, rows: int, among: int) -> None:
    """Of all subjects, and of a stratum of few among many."""
    chance = np.random.default_rng(subjects)
    bundle, count = subject_bundles(np.arange(among))
    bundle = bundle[:: among // subjects][:subjects]
    repeats, mean = 400, 0.3
    sums = np.zeros((repeats, count), np.int64)
    for n in range(repeats):
        marks = right_answers(chance, subjects, rows, mean).sum(1)
        sums[n] = np.bincount(bundle, weights=marks, minlength=count)
    counts = np.tile(np.bincount(bundle, minlength=count) * rows, (repeats, 1))
    found = mean_intervals(
        sums, counts, np.full(repeats, min(subjects, count)), bundle_weights(count, 1)
    )
    covered = sum(one.low <= mean <= one.high for one in found) / repeats
    assert 0.92 <= covered <= 0.98  # 95 %, give or take what 400 repeats allow
    # rows taken for independent give too narrow an interval
    naive = np.sqrt(mean * (1 - mean) / (subjects * rows))
    assert np.mean([one.high - one.low for one in found]) > 2 * 1.96 * naive


@pytest.mark.parametrize(
    ("marks", "rows", "low", "high"),
    [
        # subjects that agree are no proof
        ([0] * 10, 2, 0.0, 0.3085),
        ([2 * SCALE] * 10, 2, 0.6915, 1.0),
        # 1 of 79: Clopper and Pearson's are 0.03 and 6.9 per cent, those of draws 0 and 4
        ([SCALE] + [0] * 78, 1, 0.00032, 0.0685),
    ],
)
def test_few_hits_have_exact_bounds(marks: list[int], rows: int, low: float, high: float) -> None:
    n = len(marks)
    (found,) = mean_intervals(
        np.array([marks]), np.full((1, n), rows), np.array([n]), bundle_weights(n, 0)
    )
    assert [found.low, found.high] == pytest.approx([low, high], abs=5e-5)


def test_one_subject_that_does_not_agree_says_nothing() -> None:
    (found,) = mean_intervals(
        np.array([[SCALE]]), np.array([[2]]), np.array([1]), bundle_weights(1, 0)
    )
    assert found.mean == 0.5
    assert np.isnan(found.low)


def test_subjects_are_dealt_to_bundles_in_turn() -> None:
    assert [subject_bundles(np.arange(n))[1] for n in (0, 3, 1024, 1033)] == [0, 3, 1024, 1024]
    assert subject_bundles(np.array([0, 2, 1023, 1024]))[0].tolist() == [0, 2, 1023, 0]


def test_weights_are_the_same_everywhere() -> None:
    drawn = bundle_weights(7, 3)
    assert drawn.shape == (DRAWS, 7)
    assert (drawn.sum(1) == 7).all()
    assert drawn[0].astype(int).tolist() == bundle_weights(7, 3)[0].astype(int).tolist()
    assert not (drawn == bundle_weights(7, 4)).all()


def test_two_models_that_are_alike_differ_by_chance_as_often_as_they_should() -> None:
    chance = np.random.default_rng(9)
    low = 0
    for _ in range(60):
        mine, theirs = (right_answers(chance, 60, 3, 0.5).ravel() for _ in range(2))
        bundle, count = subject_bundles(np.repeat(np.arange(60), 3))
        found = paired_difference(mine, theirs, bundle, count, 0)
        low += found.p_value < 0.1
    assert 1 <= low <= 14  # 6 expected


def test_draws_without_a_row_and_with_one() -> None:
    one = np.array([SCALE])
    found = paired_difference(one, one - SCALE, np.array([0]), 3, 0)
    assert (found.difference, found.low, found.high) == (1, 1, 1)


def test_a_better_model_is_told() -> None:
    chance = np.random.default_rng(2)
    mine, theirs = (right_answers(chance, 150, 3, mean).ravel() for mean in (0.7, 0.5))
    bundle, count = subject_bundles(np.repeat(np.arange(150), 3))
    found = paired_difference(mine, theirs, bundle, count, 0)
    assert found.low < 0.2 < found.high
    assert found.p_value < 0.01
