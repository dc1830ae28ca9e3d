"""Ways out and ways in, in a real browser: broken items, remarks, consent, practice, no answer."""

import itertools
from typing import Any

import pytest

pytest.importorskip("selenium", reason="needs selenium (extra dev)")

from factdrift.annotation import page
from factdrift.annotation.checks import problems
from factdrift.annotation.layout import Consent, Layout, load_layout
from tests.annotation_items import FIELDS, hit
from tests.browser import Browser, browser

__all__ = ["browser"]  # a fixture

BATCHES = (f"ways-{n}" for n in itertools.count())
HOSTILE = '<b onclick="x">=1+1</b> </script> ${data}'


def shown(layout: Layout, mode: page.PageMode = "preview", items: int = 1, **fields: Any) -> str:
    hits = [hit(layout.name, items, **fields)]
    return page.render(layout, hits, batch=next(BATCHES), mode=mode)


def plain(name: str) -> Layout:
    return load_layout(name).model_copy(update={"practice": ()})


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_an_item_can_be_called_broken_on_every_layout(browser: Browser, name: str) -> None:
    layout = plain(name)
    browser.size("wide")
    browser.open(shown(layout))
    browser.click(".ways summary")
    browser.click(".ways .option")
    assert [
        a for a in browser.all(".work .answer") if not a.find_elements("xpath", "..//summary")
    ] == []
    browser.js("arguments[0].focus()", browser.one(".ways textarea"))
    browser.insert(HOSTILE)
    browser.press("Submit")
    given = browser.submission()["answers"]["item-0"]
    assert given == {"broken": ["unreadable"], "comment": HOSTILE}
    assert problems(layout, FIELDS[name], given) == []
    other = next(a for a in layout.answers if a not in ("broken", "comment"))
    wrong = problems(layout, FIELDS[name], {**given, other: "x"})
    assert wrong and "is not asked here" in wrong[0]


def test_no_question_may_be_about_the_news(browser: Browser) -> None:
    layout = plain("ckl_question")
    browser.size("wide")
    browser.open(shown(layout))
    browser.keys("n")
    assert len(browser.all(".answer")) == 1
    browser.press("Submit")
    given = browser.submission()["answers"]["item-0"]
    assert given == {"question": "none"}
    assert problems(layout, FIELDS["ckl_question"], given) == []


def test_without_a_prediction_nothing_is_asked_about_one(browser: Browser) -> None:
    layout = plain("ckl_expert")
    fields = {k: v for k, v in FIELDS["ckl_expert"].items() if k != "prediction"}
    browser.size("wide")
    browser.open(shown(layout, prediction=None))
    assert "prediction" not in browser.one("#item").text.lower()
    browser.keys("y")
    browser.keys("n")
    browser.press("Submit")
    given = browser.submission()["answers"]["item-0"]
    assert given == {"keep": "yes", "statement": fields["cloze"], "found": "no"}
    assert problems(layout, fields, given) == []
    assert problems(layout, FIELDS["ckl_expert"], given) == ["supported: missing"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("1997-01-01", "1 January 1997"),
        ("1997-01", "January 1997"),
        ("1997", "1997"),
        ("199X", "the 1990s"),
        ("1997-03-01/1997-05-31", "between 1 March 1997 and 31 May 1997"),
        ("-0044", "-0044"),
    ],
)
def test_dates_are_in_words(browser: Browser, given: str, said: str) -> None:
    browser.open(shown(plain("verify_facts"), valid_from=given, valid_to=None))
    facts = browser.texts(".brief .fact")
    assert f"From\n{said}" in facts
    assert "Kofi Annan was Secretary-General of the United Nations." in browser.text(".brief")


def test_consent_comes_first_and_once(browser: Browser) -> None:
    consent = Consent(text=("We study news.", HOSTILE), contact="ada@example.org")
    layout = plain("judge_question").model_copy(update={"consent": consent})
    text = page.render(layout, [hit(layout.name)], batch=next(BATCHES), mode="static")
    browser.size("phone")
    browser.open(text, "?workerId=W1")
    assert HOSTILE in browser.text("#consent")
    assert "ada@example.org" in browser.text("#consent")
    assert not browser.all("#item fieldset")
    browser.press("I do not take part")
    assert "do not take part" in browser.text("#end h2")
    browser.refresh()
    browser.press("I have read this")
    assert browser.one("#item fieldset")
    browser.refresh()
    assert browser.one("#item fieldset")


def test_practice_tells_what_was_right_and_is_not_handed_in(browser: Browser) -> None:
    layout = load_layout("judge_question")
    batch = next(BATCHES)
    text = page.render(layout, [hit(layout.name)], batch=batch, mode="static")
    browser.size("wide")
    browser.js("localStorage.clear()")
    browser.open(text, "?workerId=P1")
    assert browser.text("#count") == "Practice 1 of 2"
    browser.keys("b", "1")
    browser.press("Check")
    assert browser.text(".feedback h3") == "Not quite"
    assert "Good" in browser.text(".feedback")
    browser.press("Go on")
    browser.keys("b", "2")
    browser.press("Check")
    assert browser.text(".feedback h3") == "That is right"
    browser.refresh()  # in the middle: it goes on with the practice
    assert "Practice" in browser.text("#count")
    browser.press("Check")
    browser.press("Go on")
    assert browser.text("#count") == ""
    browser.keys("g")
    browser.press("Finish")
    browser.click("#end a")
    assert list(browser.saved(f"{batch}-hit-1-P1.json")["answers"]) == ["item-0"]
    again = page.render(layout, [hit(layout.name)], batch=next(BATCHES), mode="static")
    browser.open(again, "?workerId=P1")  # whoever has practised does not do it again
    assert browser.text("#count") == ""
