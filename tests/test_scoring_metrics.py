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


@pytest.mark.parametrize(
    ("answer_text", "answers", "expected"),
    [
        ("", ["US dollar", "$"], 0),
        (" \u200b\u00a0", ["$"], 0),
        ("...", ["$", "USD"], 0),
        ("the", ["The The"], 0),
        ("?", ["A"], 0),
        ("-", ["–"], 0),
        ("unknown", ["Unknown Pleasures"], 0),
        ("", [""], 0),
        ("$", ["US dollar", "$"], 1),
        ("the The.", ["The The"], 1),
        ("a", ["A"], 1),
        ("Unknown", ["Unknown"], 1),
        ("2001-2002", ["2001–2002"], 1),
        ("2001−2002", ["2001-2002"], 1),
        ("Cote d'Azur", ["Cote d’Azur"], 1),
        ('The "Blue" Tower', ["„Blue“ Tower"], 1),
        ("Hawai'i", ["Hawaiʻi"], 1),
        ("'Abd al-Aziz", ["ʿAbd al‑Aziz"], 1),
        ("Les Miserables", ["« Les Miserables »"], 1),
        ("re\u00adsearch", ["research"], 1),
        ("Poincare\u0301", ["Poincaré"], 1),
        ("Poincare", ["Poincaré"], 0),
        ("", [], 1),
        ("...", [], 1),
        ("I don’t know", [], 1),
        ("$", [], 1),
        ("Lima", [], 0),
    ],
)
def test_marks_and_blanks(answer_text: str, answers: Sequence[str], expected: float) -> None:
    """Dashes and quotation marks of every kind are alike, and a blank answer is never right."""
    assert exact_match(answer_text, answers) == f1(answer_text, answers) == expected
