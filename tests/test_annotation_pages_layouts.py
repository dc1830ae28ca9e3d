"""Every layout in a real browser, from load to submission, on a wide screen and on a phone."""

import itertools
from typing import Any

import pytest

pytest.importorskip("selenium", reason="needs selenium (extra dev)")
from selenium.webdriver.common.keys import Keys

from factdrift.annotation import page
from factdrift.annotation.checks import answer_problems
from factdrift.annotation.layout import load_layout
from tests.annotation_items import FIELDS, hit
from tests.browser import Browser, browser
from tests.tables import read_table

__all__ = ["browser"]  # a fixture

BATCHES = (f"batch-{n}" for n in itertools.count())


def do(browser: Browser, way: str, step: list[str]) -> None:
    """One thing that a worker does, with a mouse, a finger or keys alone."""
    match step:
        case ("choose", label):
            option = next(
                offered for offered in browser.all(".option") if offered.text.startswith(label)
            )
            choose(browser, way, option)
        case ("yes" | "no" as word, label):
            fieldset = next(
                element for element in browser.all("fieldset") if element.text.startswith(label)
            )
            choose(browser, way, fieldset.find_elements("css selector", ".option")[word == "no"])
        case ("type", label, text):
            box = next(
                answer for answer in browser.all(".answer.text") if answer.text.startswith(label)
            )
            area = box.find_element("css selector", "textarea")
            if way == "keys":
                browser.tab_to(area)
            else:
                browser.click(area)
            browser.chord(Keys.CONTROL, "a")
            browser.insert(text)
        case ("mark", words) if way == "keys":
            if browser.js("return document.activeElement.className") != "passage":
                browser.tab_to(browser.one(".answer.target button:not(.drop)"))
                browser.keys(Keys.ENTER)
            browser.mark_by_keys(words)
        case ("mark", words):
            for _ in range(3):  # a busy machine may lose a movement of the mouse
                if way == "mouse":
                    browser.drag(words)
                else:
                    browser.tap_ends(words)
                if browser.soon("marked", words):
                    break
        case ("word", text):
            press(
                browser,
                way,
                next(
                    word_button
                    for word_button in browser.all("button.word")
                    if word_button.text == text
                ),
            )
        case ("press", label):
            press(
                browser,
                way,
                next(
                    word_button
                    for word_button in browser.all("button")
                    if word_button.text.startswith(label)
                ),
            )
        case _:
            raise AssertionError(step)


def press(browser: Browser, way: str, button: Any) -> None:
    """Press a button."""
    if way == "keys":
        browser.tab_to(button)
        browser.keys(Keys.SPACE)
    else:
        browser.click(button)


def choose(browser: Browser, way: str, option: Any) -> None:
    """Choose an option; of several that exclude each other the arrow keys do."""
    if way != "keys":
        browser.click(option)
        return
    box = option.find_element("css selector", "input")
    browser.tab_to(box, group=True)
    if box.get_attribute("type") == "checkbox" or browser.ask("away", box) == 0:
        browser.keys(Keys.SPACE)
    else:
        browser.keys(*[Keys.DOWN] * browser.ask("away", box))


LAYOUTS = read_table("annotation_layouts")
WAYS = (("wide", "mouse"), ("phone", "touch"), ("wide", "keys"), ("phone", "keys"))
CASES = [
    pytest.param(name, *way, marks=[] if place == number % 4 else [pytest.mark.slow])
    for number, name in enumerate(sorted(FIELDS))
    for place, way in enumerate(WAYS)
]
"""Layouts take turns: each is quick in one of the ways."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "size", "way"), CASES)
def test_what_is_entered_is_what_is_submitted(
    browser: Browser, name: str, size: str, way: str
) -> None:
    layout, hit_batch = (
        load_layout(name).model_copy(update={"practice": (), "consent": None}),
        next(BATCHES),
    )
    browser.size(size)
    text = page.render_page(layout, [hit(name)], batch_id=hit_batch, mode="preview")
    browser.open(text)
    assert browser.overflow() == 0
    assert browser.one("#instructions")
    browser.keys("?")
    assert not browser.all("#instructions")
    submit(browser, way)  # nothing yet: it is refused, and says what is missing
    assert browser.all(".message")
    assert not browser.all("#end")
    for layout_step in LAYOUTS[name]["steps"]:
        do(browser, way, layout_step)
    assert browser.overflow() == 0
    assert browser.text("#says") == ""
    browser.refresh()  # the draft is kept
    submit(browser, way)
    sent_submission = browser.submission()
    times = sent_submission.pop("item_seconds")
    assert 0 < times["item-0"] == sent_submission.pop("seconds") < 60
    assert sent_submission == {
        "format": "factdrift-submission/1",
        "batch": hit_batch,
        "hit": "hit-1",
        "worker": "preview",
        "assignment": "",
        "answers": {"item-0": LAYOUTS[name]["submitted"]},
    }
    assert (
        answer_problems(load_layout(name), FIELDS[name], sent_submission["answers"]["item-0"]) == []
    )
    assert browser.messages() == []
    assert browser.requests() == []


def submit(browser: Browser, way: str) -> None:
    """Submit."""
    if way == "keys":
        browser.chord(Keys.CONTROL, Keys.ENTER)
    else:
        browser.press("Submit")
