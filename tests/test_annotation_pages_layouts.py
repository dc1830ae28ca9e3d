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


def do(b: Browser, way: str, step: list[str]) -> None:
    """One thing that a worker does, with a mouse, a finger or keys alone."""
    match step:
        case ("choose", label):
            option = next(o for o in b.all(".option") if o.text.startswith(label))
            choose(b, way, option)
        case ("yes" | "no" as word, label):
            own = next(f for f in b.all("fieldset") if f.text.startswith(label))
            choose(b, way, own.find_elements("css selector", ".option")[word == "no"])
        case ("type", label, text):
            box = next(a for a in b.all(".answer.text") if a.text.startswith(label))
            area = box.find_element("css selector", "textarea")
            if way == "keys":
                b.tab_to(area)
            else:
                b.click(area)
            b.chord(Keys.CONTROL, "a")
            b.insert(text)
        case ("mark", words) if way == "keys":
            if b.js("return document.activeElement.className") != "passage":
                b.tab_to(b.one(".answer.target button:not(.drop)"))
                b.keys(Keys.ENTER)
            b.mark_by_keys(words)
        case ("mark", words):
            for _ in range(3):  # a busy machine may lose a movement of the mouse
                if way == "mouse":
                    b.drag(words)
                else:
                    b.tap_ends(words)
                if b.soon("marked", words):
                    break
        case ("word", text):
            press(b, way, next(w for w in b.all("button.word") if w.text == text))
        case ("press", label):
            press(b, way, next(w for w in b.all("button") if w.text.startswith(label)))
        case _:
            raise AssertionError(step)


def press(b: Browser, way: str, button: Any) -> None:
    """Press a button."""
    if way == "keys":
        b.tab_to(button)
        b.keys(Keys.SPACE)
    else:
        b.click(button)


def choose(b: Browser, way: str, option: Any) -> None:
    """Choose an option; of several that exclude each other the arrow keys do."""
    if way != "keys":
        b.click(option)
        return
    box = option.find_element("css selector", "input")
    b.tab_to(box, group=True)
    if box.get_attribute("type") == "checkbox" or b.ask("away", box) == 0:
        b.keys(Keys.SPACE)
    else:
        b.keys(*[Keys.DOWN] * b.ask("away", box))


LAYOUTS = read_table("annotation_layouts")
WAYS = (("wide", "mouse"), ("phone", "touch"), ("wide", "keys"), ("phone", "keys"))
CASES = [
    pytest.param(name, *way, marks=[] if place == number % 4 else [pytest.mark.slow])
    for number, name in enumerate(sorted(FIELDS))
    for place, way in enumerate(WAYS)
]
"""Layouts take turns: each is quick in one of the ways."""


@pytest.mark.parametrize(("name", "size", "way"), CASES)
def test_what_is_entered_is_what_is_submitted(
    browser: Browser, name: str, size: str, way: str
) -> None:
    layout, batch = load_layout(name).model_copy(update={"practice": ()}), next(BATCHES)
    browser.size(size)
    text = page.render_page(layout, [hit(name)], batch_id=batch, mode="preview")
    browser.open(text)
    assert browser.overflow() == 0
    assert browser.one("#instructions")
    browser.keys("?")
    assert not browser.all("#instructions")
    submit(browser, way)  # nothing yet: it is refused, and says what is missing
    assert browser.all(".message")
    assert not browser.all("#end")
    for step in LAYOUTS[name]["steps"]:
        do(browser, way, step)
    assert browser.overflow() == 0
    assert browser.text("#says") == ""
    browser.refresh()  # the draft is kept
    submit(browser, way)
    sent = browser.submission()
    times = sent.pop("item_seconds")
    assert 0 < times["item-0"] == sent.pop("seconds") < 60
    assert sent == {
        "format": "factdrift-submission/1",
        "batch": batch,
        "hit": "hit-1",
        "worker": "preview",
        "assignment": "",
        "answers": {"item-0": LAYOUTS[name]["submitted"]},
    }
    assert answer_problems(load_layout(name), FIELDS[name], sent["answers"]["item-0"]) == []
    assert browser.messages() == []
    assert browser.requests() == []


def submit(b: Browser, way: str) -> None:
    """Submit."""
    if way == "keys":
        b.chord(Keys.CONTROL, Keys.ENTER)
    else:
        b.press("Submit")
