"""Metrics of rows: published cases."""

from collections import Counter
from collections.abc import Sequence
from itertools import product
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from duckdb.func import ARROW

from factdrift.builders.core import duck
from factdrift.builders.text.squad import (
    exact_match,
    f1,
    form_says_nothing,
    normalize_answer,
    normalize_many,
    normalize_or_keep,
    token_f1,
    verdict_of_form,
)
from factdrift.scoring import metrics, questions
from factdrift.scoring.metrics import _VERDICT, rouge_l


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


# signs of each kind that a rule of normalising knows, with letters whose lower case is special
_SIGNS = [
    *"aAtThe nNÉéΣİßx1_$.,'’–-\n\r\t\x1c\x85\u00a0\u2028\u200b\u0301\u00ad",
    "the",
    " a ",
    "an\n",
]


def test_many_texts_are_normalised_as_one_is() -> None:
    draw = Random(0)
    texts = ["".join(draw.choices(_SIGNS, k=draw.randrange(9))) for _ in range(5000)]
    assert normalize_many(texts) == [*map(normalize_answer, texts)]
    assert normalize_many([]) == [] and normalize_many([""]) == [""]


def test_texts_that_come_again_have_the_same_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "_REMEMBERED", 9)
    draw, normal_forms = Random(0), questions.NormalForms()
    for _ in range(40):
        texts = draw.choices(
            ["The $", "the", "$", "", None, "É", "Ann", "ann", "B.", "B", "x", "A"], k=6
        )
        assert normal_forms.of(pa.array(texts, pa.string())).to_pylist() == [
            normalize_or_keep(text or "") for text in texts
        ]


def test_words_that_come_again_count_as_often_as_in_both() -> None:
    draw = Random(0)
    for _ in range(300):
        first_words, second_words = (draw.choices("abc", k=draw.randrange(1, 6)) for _ in range(2))
        common_count = (Counter(first_words) & Counter(second_words)).total()
        expected = 2 * common_count / (len(first_words) + len(second_words))
        assert token_f1(first_words, second_words) == expected


def test_the_database_judges_as_harnesses_do() -> None:
    forms = [None, "", "unknown", "the", "$", "ann"]
    name_lists = [[], ["ann"], ["", "$"], ["unknown", "the"]]
    cases: list[tuple[Any, ...]] = [*product(forms, *[name_lists] * 4, (False, True))]
    names = ("form", "targets", "previous", "later", "neutral", "choosing")
    columns = dict(zip(names, map(list, zip(*cases, strict=True)), strict=True))
    table = pa.table({name: pa.array(column) for name, column in columns.items()})
    with duck.connect() as db:
        db.create_function("says_nothing", questions._silences, ["VARCHAR"], "BOOLEAN", type=ARROW)
        db.register("cases", table)
        query = (
            f"SELECT {_VERDICT} FROM (SELECT *, [form] AS names, false AS from_scores FROM cases)"
        )
        query += ", (SELECT NULL::DATE AS since) h"
        judged = [verdict for (verdict,) in db.execute(query).fetchall()]
    expected = [verdict_of_form(*case) for case in cases]
    assert judged == expected and len({*expected}) == 6


def test_silence_is_told_of_forms_as_of_their_texts() -> None:
    texts = ["", "the", "The The", "$", "a-b", "_", "an", "Unknown!", "I don't know", "None", "Ann"]
    texts += [
        "the passages do not say who",
        "nothing says it but Bob",
        "Ab the",
        "É",
        "a b",
        "the$",
    ]
    forms = [normalize_or_keep(text) for text in texts]
    silences = questions._silences(pa.chunked_array([[*forms, None]])).to_pylist()
    assert silences == [*(form_says_nothing(normalize_answer(form)) for form in forms), True]


def test_the_best_f1_of_a_row_is_that_of_the_harnesses() -> None:
    draw = Random(0)
    rows: list[tuple[str | None, list[str]]] = [("", [""]), (None, [""]), ("a", []), ("", ["a"])]
    for _ in range(300):
        texts = [" ".join(draw.choices("abcd", k=draw.randrange(1, 5))) for _ in range(4)]
        rows.append((texts[0], texts[1 : draw.randrange(1, 5)]))
    answers, targets = (pa.chunked_array([list(column)]) for column in zip(*rows, strict=True))
    expected = [
        max((token_f1((text or "").split(), target.split()) for target in names), default=0.0)
        for text, names in rows
    ]
    assert metrics._best_f1(answers, targets).to_pylist() == expected
