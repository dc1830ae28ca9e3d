"""Metrics of rows: published cases."""

from collections.abc import Sequence

import pytest

from factdrift.builders.text.squad import exact_match, f1
from factdrift.scoring.metrics import rouge_l


@pytest.mark.parametrize(
    ("answer_text", "answers", "exact", "word_overlap"),
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
def test_squad(answer_text: str, answers: Sequence[str], exact: float, word_overlap: float) -> None:
    assert exact_match(answer_text, answers) == exact
    assert f1(answer_text, answers) == pytest.approx(word_overlap)


@pytest.mark.parametrize(
    ("answer_text", "accepted_text", "expected"),
    [
        # Lin 2004, section 3: the candidates of the police that killed the gunman
        ("police kill the gunman", "police killed the gunman", 3 / 4),
        ("the gunman kill police", "police killed the gunman", 2 / 4),
        ("the gunman police killed", "police killed the gunman", 2 / 4),
        ("", "x", 0.0),
        ("São Paulo", "sao paulo", 2 / 5),
    ],
)
def test_rouge_l(answer_text: str, accepted_text: str, expected: float) -> None:
    assert rouge_l(answer_text, accepted_text) == pytest.approx(expected)
