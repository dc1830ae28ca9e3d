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


def right_answers(
    random_source: np.random.Generator, subject_count: int, row_count: int, true_mean: float
) -> np.ndarray:
    """Marks of `rows` rows of each subject, which a model knows more or less well as a whole."""
    subject_chances = random_source.beta(2 * true_mean, 2 * (1 - true_mean), subject_count)
    return (random_source.random((subject_count, row_count)) < subject_chances[:, None]).astype(
        np.int64
    ) * SCALE


@pytest.mark.parametrize(
    ("subject_count", "row_count", "subject_rows"), [(120, 4, 120), (3000, 2, 3000), (40, 3, 2000)]
)
def test_intervals_cover_at_their_nominal_rate(
    subject_count: int, row_count: int, subject_rows: int
) -> None:
    """Of all subjects, and of a stratum of few among many."""
    random_source = np.random.default_rng(subject_count)
    bundle_numbers, count = subject_bundles(np.arange(subject_rows))
    bundle_numbers = bundle_numbers[:: subject_rows // subject_count][:subject_count]
    repeat_count, true_mean = 400, 0.3
    sums = np.zeros((repeat_count, count), np.int64)
    for run_number in range(repeat_count):
        marks = right_answers(random_source, subject_count, row_count, true_mean).sum(1)
        sums[run_number] = np.bincount(bundle_numbers, weights=marks, minlength=count)
    counts = np.tile(np.bincount(bundle_numbers, minlength=count) * row_count, (repeat_count, 1))
    found_intervals = mean_intervals(
        sums, counts, np.full(repeat_count, min(subject_count, count)), bundle_weights(count, 1)
    )
    covered_share = (
        sum(any_interval.low <= true_mean <= any_interval.high for any_interval in found_intervals)
        / repeat_count
    )
    assert 0.92 <= covered_share <= 0.98  # 95 %, give or take what 400 repeats allow
    # rows taken for independent give too narrow an interval
    naive_error = np.sqrt(true_mean * (1 - true_mean) / (subject_count * row_count))
    assert (
        np.mean([any_interval.high - any_interval.low for any_interval in found_intervals])
        > 2 * 1.96 * naive_error
    )


@pytest.mark.parametrize(
    ("marks", "row_count", "low_bound", "high_bound"),
    [
        # subjects that agree are no proof
        ([0] * 10, 2, 0.0, 0.3085),
        ([2 * SCALE] * 10, 2, 0.6915, 1.0),
        # 1 of 79: Clopper and Pearson's are 0.03 and 6.9 per cent, those of draws 0 and 4
        ([SCALE] + [0] * 78, 1, 0.00032, 0.0685),
    ],
)
def test_few_hits_have_exact_bounds(
    marks: list[int], row_count: int, low_bound: float, high_bound: float
) -> None:
    run_number = len(marks)
    (found_intervals,) = mean_intervals(
        np.array([marks]),
        np.full((1, run_number), row_count),
        np.array([run_number]),
        bundle_weights(run_number, 0),
    )
    assert [found_intervals.low, found_intervals.high] == pytest.approx(
        [low_bound, high_bound], abs=5e-5
    )


def test_one_subject_that_does_not_agree_says_nothing() -> None:
    (found_intervals,) = mean_intervals(
        np.array([[SCALE]]), np.array([[2]]), np.array([1]), bundle_weights(1, 0)
    )
    assert found_intervals.mean == 0.5
    assert np.isnan(found_intervals.low)


def test_subjects_are_dealt_to_bundles_in_turn() -> None:
    assert [subject_bundles(np.arange(run_number))[1] for run_number in (0, 3, 1024, 1033)] == [
        0,
        3,
        1024,
        1024,
    ]
    assert subject_bundles(np.array([0, 2, 1023, 1024]))[0].tolist() == [0, 2, 1023, 0]


def test_weights_are_the_same_everywhere() -> None:
    drawn_weights = bundle_weights(7, 3)
    assert drawn_weights.shape == (DRAWS, 7)
    assert (drawn_weights.sum(1) == 7).all()
    assert drawn_weights[0].astype(int).tolist() == bundle_weights(7, 3)[0].astype(int).tolist()
    assert not (drawn_weights == bundle_weights(7, 4)).all()


def test_two_models_that_are_alike_differ_by_chance_as_often_as_they_should() -> None:
    random_source = np.random.default_rng(9)
    low_bound = 0
    for _ in range(60):
        first_marks, second_marks = (
            right_answers(random_source, 60, 3, 0.5).ravel() for _ in range(2)
        )
        bundle_numbers, count = subject_bundles(np.repeat(np.arange(60), 3))
        found_intervals = paired_difference(first_marks, second_marks, bundle_numbers, count, 0)
        low_bound += found_intervals.p_value < 0.1
    assert 1 <= low_bound <= 14  # 6 expected


def test_draws_without_a_row_and_with_one() -> None:
    any_interval = np.array([SCALE])
    found_intervals = paired_difference(any_interval, any_interval - SCALE, np.array([0]), 3, 0)
    assert (found_intervals.difference, found_intervals.low, found_intervals.high) == (1, 1, 1)


def test_a_better_model_is_told() -> None:
    random_source = np.random.default_rng(2)
    first_marks, second_marks = (
        right_answers(random_source, 150, 3, true_mean).ravel() for true_mean in (0.7, 0.5)
    )
    bundle_numbers, count = subject_bundles(np.repeat(np.arange(150), 3))
    found_intervals = paired_difference(first_marks, second_marks, bundle_numbers, count, 0)
    assert found_intervals.low < 0.2 < found_intervals.high
    assert found_intervals.p_value < 0.01
