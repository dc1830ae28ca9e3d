"""Metrics of rows: published cases, and over columns what is meant of one row."""

import random
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factdrift.builders.text.squad import exact_match, f1
from factdrift.scoring.metrics import rouge_l
from factdrift.scoring.words import Words, distinct, f1_of_pairs
from tests.conftest import examples

TEXTS = st.one_of(
    st.text(st.sampled_from("aAnthe 'é.,\t\x1c\x00-_3Σß"), max_size=14), st.text(max_size=8)
)
_VOCABULARY = "the a an of Juventus F.C. Turin U.S. São Paulo 1,5 x-y Æ it's club".split()


def random_pairs(count: int) -> list[tuple[str, list[str]]]:
    """Predictions and answers with words in common."""
    draw = random.Random(count)

    def text(most: int) -> str:
        return " ".join(draw.choices(_VOCABULARY, k=draw.randint(1, most)))

    return [(text(5), [text(4) for _ in range(draw.randint(1, 3))]) for _ in range(count)]


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=12))
def test_f1_over_columns_is_that_of_each_pair(pairs: list[tuple[str, str]]) -> None:
    pairs = [(a, b) for a, b in pairs if (a + b).isprintable()]
    left, right = (Words.of(pa.array([p[n] for p in pairs], pa.string())) for n in (0, 1))
    every = np.arange(len(pairs))
    found = f1_of_pairs(left, right, every, every)
    assert found == pytest.approx([f1(a, [b]) for a, b in pairs])


def test_a_part_of_an_array_is_normalised_alone() -> None:
    texts = pa.array(["The cat", "é dog", "a  mouse", "An owl"])
    assert Words.of(texts[1:3]).texts.to_pylist() == ["é dog", "mouse"]
    assert Words.of(pa.array([None, "x"])).texts.to_pylist() == ["", "x"]


def test_distinct_numbers() -> None:
    assert distinct(np.array([3, 1, 3, 2, 1])).tolist() == [1, 2, 3]
    assert distinct(np.array([], np.int64)).tolist() == []


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


@pytest.mark.parametrize("number", range(examples(3)))
def test_f1_of_many_words_at_once(number: int) -> None:
    pairs = [(p, a[0]) for p, a in random_pairs(500 + number)]
    left = Words.of(pa.array([a for a, _ in pairs]))
    right = Words.of(pa.array([b for _, b in pairs]))
    every = np.arange(len(pairs))
    assert f1_of_pairs(left, right, every, every) == pytest.approx([f1(a, [b]) for a, b in pairs])
