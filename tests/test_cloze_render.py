"""Queries and sentences: articles, capitals, full stops, and labels that look like templates."""

import doctest
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from factdrift.builders.text import render
from factdrift.builders.text.en.articles import a_or_an, opening_article, takes_the
from factdrift.builders.text.render import object_last, parse, query, sentence

PLAYS = "<subject> plays for <object>."
COACH = "<the object> has <subject> as its head coach."
TRADE = "<subject> is <an object> by profession."
OWNED = "<the subject> is owned by <the object>."
KIND = "<object> is a broader class than <subject>."
TEMPLATES = [PLAYS, COACH, TRADE, OWNED, KIND, "In sport, <a object> is what <the subject> is."]


NAMED = {"plays": PLAYS, "coach": COACH, "trade": TRADE, "owned": OWNED, "kind": KIND}
LINES = Path(__file__).with_name("rendered_sentences.tsv").read_text("utf-8").splitlines()[1:]


@pytest.mark.parametrize("line", LINES)
def test_sentence(line: str) -> None:
    template, subject, answer, expected = line.split("\t")
    assert sentence(NAMED[template], subject, answer) == expected


@pytest.mark.parametrize(
    ("template", "subject", "blank", "expected"),
    [
        (PLAYS, "Cristiano Ronaldo", "_X_", "Cristiano Ronaldo plays for _X_."),
        (PLAYS, "politician", "_X_", "Politician plays for _X_."),
        (COACH, "Erik", "<mask>", "<mask> has Erik as its head coach."),
        (TRADE, "Tom Hanks", "[MASK]", "Tom Hanks is [MASK] by profession."),
        (OWNED, "United Kingdom", "_X_", "The United Kingdom is owned by _X_."),
        (KIND, "Juventus F.C.", "_X_", "_X_ is a broader class than Juventus F.C."),
        (PLAYS, "_X_", "<object>", "_X_ plays for <object>."),
    ],
)  # fmt: skip
def test_query(template: str, subject: str, blank: str, expected: str) -> None:
    assert query(template, subject, blank) == expected


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("<subject> plays.", "no <object>; a template has exactly one"),
        ("<Subject> is <object>.", "unknown placeholder <Subject>, did you mean <subject>?"),
        ("<subject> is <theobject>.", "did you mean <the object>?"),
        ("<subject> is < object>.", "did you mean <object>?"),
        ("<subject> in <1999> is <object>.", "unknown placeholder <1999>, there are <subject>,"),
        ("<subject is <object>.", "an angle bracket without its partner: <subject is"),
        ("<subject> > <object>.", "an angle bracket without its partner: >"),
    ],
)  # fmt: skip
def test_templates_that_do_not_parse(template: str, message: str) -> None:
    with pytest.raises(ValueError) as e:
        parse(template)
    assert message in str(e.value)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (PLAYS, True),
        ("<subject> is owned by <the object>", True),
        (COACH, False),
        (TRADE, False),
        ("<object> is above <subject>.", False),
        ("<subject> is at <object> now.", False),
    ],
)
def test_object_last(template: str, expected: bool) -> None:
    assert object_last(template) is expected


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
    shown = query(template, subject, "⟦⟧")
    articles = ["", "a ", "an ", "A ", "An "]
    assert sentence(template, subject, answer) in [
        shown.replace("⟦⟧", a + answer) for a in articles
    ]


def test_the_examples_in_docstrings() -> None:
    assert doctest.testmod(render).failed == 0


# Articles by name and by sound.

WITH_THE = Path(__file__).with_name("names_with_the.tsv").read_text("utf-8").splitlines()[1:]


@pytest.mark.parametrize("line", WITH_THE)
def test_names_with_and_without_the(line: str) -> None:
    wanted, names = line.split("\t")
    found = {name: takes_the(name) for name in names.split("|")}
    assert found == dict.fromkeys(found, wanted == "the")


@pytest.mark.parametrize(
    ("text", "name", "wanted"),
    [
        ("The London Fire Brigade (LFB) is the fire service.", "London Fire Brigade", True),
        ("The SECR N class was a type of locomotive.", "SECR N class", True),
        ("The governor of Texas is the head of the state.", "Governor of Texas", True),
        ("The Leeds, later York, was a ship.", "Leeds", True),
        ("ThinkPad is a line of computers.", "ThinkPad", False),
        ("Labour Party, founded in 1920, is a party.", "Labour Party", False),
        ("iPhone is a telephone.", "iPhone", False),
        ("The Leeds bypass is a road.", "Leeds", None),
        ("The Leeds Castle is a house.", "Leeds", None),
        ("Leedsville is a town.", "Leeds", None),
        ("The Hague is a city.", "The Hague", None),
        ("A ThinkPad is a computer.", "ThinkPad", None),
        ("", "ThinkPad", None),
        ("The is a word.", "", None),
    ],
)
def test_what_the_opening_of_a_page_says_of_the(text: str, name: str, wanted: bool | None) -> None:
    assert opening_article(text, name) is wanted


@pytest.mark.parametrize(
    ("article", "words"),
    [
        ("an", "actor|architect|engineer|economist|Icelander|opera singer|umpire|undertaker|usher"),
        ("an", "hour|heir|honest broker|honorary consul|uninvited guest|unidentified man|École"),
        ("an", "MP|MEP|FBI agent|NBA player|LGBT activist|RAF pilot|X-ray|A-level|EU official"),
        (
            "an",
            "8-bit computer|11th man|18th-century poet|'iron' man|oneiromancer|Uzbek|Élysée aide",
        ),
        ("a", "politician|lawyer|historian|hotelier|house painter|yacht designer|Honduran|herald"),
        ("a", "university teacher|union leader|unicorn|European|eunuch|user|urologist|ukulelist"),
        ("a", "one-man band|once-feared critic|Ugandan|Ukrainian|UEFA referee|UNESCO site|U-boat"),
        (
            "a",
            "NATO general|NASA engineer|UN envoy|USB stick|DJ|TV host|CEO|BBC host|1800-metre run",
        ),
        ("a", "10-year-old|unanimous vote|"),
    ],
)
def test_a_or_an(article: str, words: str) -> None:
    assert {w: a_or_an(w) for w in words.split("|")} == dict.fromkeys(words.split("|"), article)
