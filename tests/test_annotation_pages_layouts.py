"""Every layout in a real browser, from load to submission, on a wide screen and on a phone."""

import itertools
from typing import Any

import pytest

pytest.importorskip("selenium", reason="needs selenium (extra dev)")
from selenium.webdriver.common.keys import Keys

from factdrift.annotation import page
from factdrift.annotation.checks import problems
from factdrift.annotation.layout import load_layout
from factdrift.filters.toxicity.scores import ATTRIBUTES
from tests.annotation_items import ARTICLE, FIELDS, hit
from tests.browser import Browser, browser

__all__ = ["browser"]  # a fixture

BATCHES = (f"batch-{n}" for n in itertools.count())


def span(text: str, start: int, paragraph: int | None = None) -> dict[str, Any]:
    """A span as submissions have it."""
    value: dict[str, Any] = {"start": start, "end": start + len(text), "text": text}
    return value if paragraph is None else {**value, "paragraph": paragraph}


_MARKED = """
const marks = [...document.querySelectorAll('.passage mark')];
return marks.map(m => m.textContent).join('').includes(arguments[0]);
"""


def do(b: Browser, way: str, step: tuple[str, ...]) -> None:
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
                if b.soon(_MARKED, words):
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
    if box.get_attribute("type") == "checkbox" or b.js(_AWAY, box) == 0:
        b.keys(Keys.SPACE)
    else:
        b.keys(*[Keys.DOWN] * b.js(_AWAY, box))


_AWAY = """
const all = [...document.getElementsByName(arguments[0].name)];
return (all.indexOf(arguments[0]) - all.indexOf(document.activeElement) + all.length) % all.length;
"""

ODD = '\U0001f600 "O\'Neil" עולם ${x} <script>alert(1)</script> =1+1'
QUIET = ODD.replace("O'Neil", "x").replace("1", "").replace("+", "")  # no new name, no number

STEPS: dict[str, list[tuple[str, ...]]] = {
    "write_questions": [
        ("type", "Question", "Who did Ban Ki-moon succeed in January 2007?"),
        ("type", "Answer", ODD),
        ("press", "Add another"),
    ],
    "judge_question": [("choose", "Bad"), ("choose", "It is ambiguous")],
    "answer_question": [
        ("choose", "Yes"),
        ("mark", "succeeded Kofi Annan of Ghana"),
        ("type", "Short answer", "  =1+1 Kofi Annan "),
    ],
    "judge_toxicity": [("yes", "Insult"), ("press", "No to the rest")],
    "verify_facts": [
        ("choose", "Another answer"),
        ("mark", "scholarship"),
        ("mark", "chair"),
        ("choose", "Unknown"),
    ],
    "paraphrase": [("type", "In your own words", f"Between 1997 and 2006 {ODD}?")],
    "ckl_question": [
        ("choose", "Who did Ban Ki-moon succeed?"),
        ("mark", "Ghana"),
        ("type", "The question, under", "Who did Ban Ki-moon succeed as head of the UN?"),
        ("type", "The statement", f"Ban Ki-moon succeeded [BLANK] {ODD}"),
    ],
    "ckl_expert": [
        ("yes", "Is it knowledge"),
        ("no", "Does the old corpus support"),
        ("choose", "Yes, I mark it"),
        ("mark", "Geneva"),
        ("type", "The other answer", ODD),
        ("choose", "Different"),
    ],
    "easy_select": [
        ("choose", "Yes, for general readers"),
        ("choose", "Ban became the eighth"),
        ("word", "1 January 2007"),
    ],
    "easy_question": [
        ("type", "Your question", f"Who of Ghana did Ki-moon succeed on 1 January 2007 {QUIET}?"),
        ("type", "Its answer", ODD),
    ],
}

EXPECTED: dict[str, dict[str, Any]] = {
    "write_questions": {
        "questions": [{"question": "Who did Ban Ki-moon succeed in January 2007?", "answer": ODD}]
    },
    "judge_question": {"verdict": "bad", "reasons": ["ambiguous"]},
    "answer_question": {
        "answerable": "yes",
        "evidence": [span("succeeded Kofi Annan of Ghana", ARTICLE.index("succeeded"))],
        "answer": "=1+1 Kofi Annan",
    },
    "judge_toxicity": {name: name == "insult" for name in ATTRIBUTES},
    "verify_facts": {
        "verdict": "other",
        "objects": [span("scholarship", 20, 3), span("chair", 6, 6)],
        "time": "unknown",
    },
    "paraphrase": {"paraphrase": f"Between 1997 and 2006 {ODD}?"},
    "ckl_question": {
        "question": "Who did Ban Ki-moon succeed?",
        "answer": span("Ghana", ARTICLE.index("Ghana")),
        "edited": "Who did Ban Ki-moon succeed as head of the UN?",
        "cloze": f"Ban Ki-moon succeeded [BLANK] {ODD}",
    },
    "ckl_expert": {
        "keep": "yes",
        "statement": "[BLANK] is the Secretary-General of the United Nations.",
        "supported": "no",
        "found": "yes",
        "other_evidence": span("Geneva", 84, 1),
        "other_answer": ODD,
        "other_is": "different",
    },
    "easy_select": {
        "newness": "general",
        "sentence": ARTICLE.split("\n")[2],
        "word": "1 January 2007",
        "alone": ARTICLE.split("\n")[2],
    },
    "easy_question": {
        "question": f"Who of Ghana did Ki-moon succeed on 1 January 2007 {QUIET}?",
        "answer": ODD,
    },
}


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
    text = page.render(layout, [hit(name)], batch=batch, mode="preview")
    browser.open(text)
    assert browser.overflow() == 0
    assert browser.one("#instructions")
    browser.keys("?")
    assert not browser.all("#instructions")
    submit(browser, way)  # nothing yet: it is refused, and says what is missing
    assert browser.all(".message")
    assert not browser.all("#end")
    for step in STEPS[name]:
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
        "answers": {"item-0": EXPECTED[name]},
    }
    assert problems(load_layout(name), FIELDS[name], sent["answers"]["item-0"]) == []
    assert browser.messages() == []
    assert browser.requests() == []


def submit(b: Browser, way: str) -> None:
    """Submit."""
    if way == "keys":
        b.chord(Keys.CONTROL, Keys.ENTER)
    else:
        b.press("Submit")
