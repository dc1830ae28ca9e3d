"""Queries and sentences: articles, capitals, full stops, and labels that look like templates."""

import doctest
from collections.abc import Callable

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from factdrift.builders.templama.rendering import READS_AS_ONE_ANSWER
from factdrift.builders.text import render
from factdrift.builders.text.en.articles import a_or_an, opening_article, takes_the
from factdrift.builders.text.render import object_last, parse_template, query, sentence
from tests.tables import read_table

PLAYS = "<subject> plays for <object>."
COACH = "<the object> has <subject> as its head coach."
TRADE = "<subject> is <an object> by profession."
OWNED = "<the subject> is owned by <the object>."
KIND = "<object> is a broader class than <subject>."
TEMPLATES = [PLAYS, COACH, TRADE, OWNED, KIND, "In sport, <a object> is what <the subject> is."]


NAMED = {"plays": PLAYS, "coach": COACH, "trade": TRADE, "owned": OWNED, "kind": KIND}
FUNCTIONS: dict[str, Callable[[str, str, str], object]] = {
    "query": lambda text, subject, blank: query(NAMED[text], subject, blank),
    "parse": lambda text, *_: parse_template(text),
    "object last": lambda text, *_: object_last(NAMED.get(text, text)),
    "opening": lambda text, name, _: opening_article(text, name),
    "a or an": lambda words, *_: " ".join({a_or_an(word) for word in words.split("|")}),
}


@pytest.mark.parametrize(
    ("function", "text", "more", "blank", "expected"), read_table("render_cases")
)
def test_parts(function: str, text: str, more: str, blank: str, expected: str) -> None:
    try:
        part_text = str(FUNCTIONS[function](text, more, blank))
    except ValueError as error:
        part_text = str(error)
    assert part_text.startswith(expected)


@pytest.mark.parametrize(
    ("template", "subject", "answer", "expected"), read_table("rendered_sentences")
)
def test_sentence(template: str, subject: str, answer: str, expected: str) -> None:
    assert sentence(NAMED[template], subject, answer) == expected


@pytest.mark.parametrize(("expected_article", "names"), read_table("names_with_the"))
def test_names_with_and_without_the(expected_article: str, names: str) -> None:
    takes_article = {name: takes_the(name) for name in names.split("|")}
    assert takes_article == dict.fromkeys(takes_article, expected_article == "the")


LABELS = st.text(min_size=1) | st.sampled_from(["<object>", "<the subject>", "{0}", r"\1", "F.C."])


def same(label: str, text: str) -> bool:
    """Whether the label stands in the text, its first letter maybe a capital."""
    return label in text or label[:1].upper() + label[1:] in text


@given(st.sampled_from(TEMPLATES), LABELS, LABELS)
@example(PLAYS, "<object>", "<subject>")
def test_labels_come_out_unharmed(template: str, subject: str, answer: str) -> None:
    text = sentence(template, subject, answer)
    assert same(subject, text)
    assert same(answer, text)
    assert same(subject, query(template, subject))


@given(st.sampled_from(TEMPLATES), st.from_regex(r"[A-Z][a-z]{1,9}", fullmatch=True), LABELS)
def test_a_query_is_its_sentence_with_the_answer_covered(
    template: str, answer: str, subject: str
) -> None:
    assume("⟦" not in subject)
    covered = query(template, subject, "⟦⟧")
    articles = ["", "a ", "an ", "A ", "An "]
    assert sentence(template, subject, answer) in [
        covered.replace("⟦⟧", article + answer) for article in articles
    ]


def test_a_sentence_that_reads_as_if_there_were_one_answer() -> None:
    for text in ("The capital of <the subject> is <object>.", "It is <object> that leads it."):
        assert READS_AS_ONE_ANSWER.match(text)
    for text in (PLAYS, COACH, TRADE, "The team <subject> plays for is a rival of <object>."):
        assert not READS_AS_ONE_ANSWER.match(text)


def test_the_examples_in_docstrings() -> None:
    assert doctest.testmod(render).failed == 0
