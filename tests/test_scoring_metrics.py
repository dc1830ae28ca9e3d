"""Metrics of rows: published cases."""

from collections.abc import Sequence

import pytest

from factdrift.builders.text.squad import exact_match, f1
from factdrift.scoring.metrics import rouge_l


@pytest.mark.parametrize(
    ("prediction", "answers", "exact", "overlap"),
    [
        # the official SQuAD script's own idea of its rules
        ("the Denver Broncos!", ["Denver Broncos"], 1, 1),
        ("Carolina Panthers", ["Denver Broncos"], 0, 0),
        ("Denver", ["Denver Broncos"], 0, 2 / 3),
        ("gold", ["gold", "golden", "the golden colour"], 1, 1),
        ("US US", ["US"], 0, 2 / 3),
        ("", ["x"], 0, 0),
    ],
)
def test_squad(prediction: str, answers: Sequence[str], exact: float, overlap: float) -> None:
    assert exact_match(prediction, answers) == exact
    assert f1(prediction, answers) == pytest.approx(overlap)


@pytest.mark.parametrize(
    ("prediction", "reference", "expected"),
    [
        # Lin 2004, section 3: the candidates of the police that killed the gunman
        ("police kill the gunman", "police killed the gunman", 3 / 4),
        ("the gunman kill police", "police killed the gunman", 2 / 4),
        ("the gunman police killed", "police killed the gunman", 2 / 4),
        ("", "x", 0.0),
        ("São Paulo", "sao paulo", 2 / 5),
    ],
)
def test_rouge_l(prediction: str, reference: str, expected: float) -> None:
    assert rouge_l(prediction, reference) == pytest.approx(expected)
