"""Every layout in a real browser, from load to submission, on a wide screen and on a phone."""

import itertools
from typing import Any

import pytest

pytest.importorskip("selenium", reason="needs selenium (extra dev)")
from selenium.webdriver.common.keys import Keys

from annotation import page
from annotation.layout import FOLDER, load_layout
from tests.annotation_items import ARTICLE, FIELDS, hit
from tests.browser import SIZES, Browser, browser

__all__ = ["browser"]  # a fixture

BATCHES = (f"batch-{n}" for n in itertools.count())


def span(text: str, start: int, paragraph: int | None = None) -> dict[str, Any]:
    """A span as submissions have it."""
    value: dict[str, Any] = {"start": start, "end": start + len(text), "text": text}
    return value if paragraph is None else {**value, "paragraph": paragraph}


def do(b: Browser, size: str, step: tuple[str, ...]) -> None:
    """One thing that a worker does."""
    match step:
        case ("choose", label):
            option = next(o for o in b.all(".option") if o.text.startswith(label))
            b.click(option)
        case ("yes" | "no" as word, label):
            own = next(f for f in b.all("fieldset") if f.text.startswith(label))
            b.click(own.find_elements("css selector", ".option")[word == "no"])
        case ("type", label, text):
            box = next(a for a in b.all(".answer.text") if a.text.startswith(label))
            area = box.find_element("css selector", "textarea")
            area.send_keys(Keys.CONTROL, "a")
            area.send_keys(text)
        case ("mark", words):
            if size == "wide":
                b.drag(words)
            else:
                b.tap_ends(words)
        case ("word", text):
            b.click(next(w for w in b.all("button.word") if w.text == text))
        case ("press", label):
            b.press(label)
        case _:
            raise AssertionError(step)


STEPS: dict[str, list[tuple[str, ...]]] = {
    "write_questions": [
        ("type", "Question", "Who did Ban Ki-moon succeed in January 2007?"),
        ("type", "Answer", "Kofi Annan"),
        ("press", "Add another"),
    ],
    "judge_question": [("choose", "Bad"), ("choose", "It is ambiguous")],
    "answer_question": [
        ("choose", "Yes"),
        ("mark", "succeeded Kofi Annan of Ghana"),
        ("type", "Short answer", "  Kofi Annan "),
    ],
    "judge_toxicity": [("yes", "Insult"), ("press", "No to the rest")],
    "verify_facts": [
        ("choose", "Another answer"),
        ("mark", "scholarship"),
        ("mark", "chair"),
        ("choose", "Unknown"),
    ],
    "paraphrase": [("type", "In your own words", "Between 1997 and 2006, what was Annan's job?")],
    "ckl_question": [
        ("choose", "Who did Ban Ki-moon succeed?"),
        ("mark", "Ghana"),
        ("type", "The question, under", "Who did Ban Ki-moon succeed as head of the UN?"),
        ("type", "The statement", "Ban Ki-moon succeeded [BLANK] as head of the UN."),
    ],
    "ckl_expert": [
        ("no", "Does the old corpus support"),
        ("choose", "Yes, I mark it"),
        ("mark", "Geneva"),
        ("type", "The other answer", "Annan"),
        ("choose", "Different"),
    ],
    "easy_select": [
        ("choose", "Yes, for general readers"),
        ("choose", "Ban became the eighth"),
        ("word", "1 January 2007"),
    ],
    "easy_question": [
        ("type", "Your question", "Who of Ghana did Ban Ki-moon succeed on 1 January 2007?"),
        ("type", "Its answer", "Kofi Annan"),
    ],
}

EXPECTED: dict[str, dict[str, Any]] = {
    "write_questions": {
        "questions": [
            {"question": "Who did Ban Ki-moon succeed in January 2007?", "answer": "Kofi Annan"}
        ]
    },
    "judge_question": {"verdict": "bad", "reasons": ["ambiguous"]},
    "answer_question": {
        "answerable": "yes",
        "evidence": [span("succeeded Kofi Annan of Ghana", ARTICLE.index("succeeded"))],
        "answer": "Kofi Annan",
    },
    "judge_toxicity": {
        "identity_attack": False,
        "insult": True,
        "profanity": False,
        "severe_toxicity": False,
        "sexually_explicit": False,
        "threat": False,
    },
    "verify_facts": {
        "verdict": "other",
        "objects": [span("scholarship", 20, 3), span("chair", 6, 6)],
        "time": "unknown",
    },
    "paraphrase": {"paraphrase": "Between 1997 and 2006, what was Annan's job?"},
    "ckl_question": {
        "question": "Who did Ban Ki-moon succeed?",
        "answer": span("Ghana", ARTICLE.index("Ghana")),
        "edited": "Who did Ban Ki-moon succeed as head of the UN?",
        "cloze": "Ban Ki-moon succeeded [BLANK] as head of the UN.",
    },
    "ckl_expert": {
        "statement": "[BLANK] is the Secretary-General of the United Nations.",
        "supported": "no",
        "found": "yes",
        "other_evidence": span("Geneva", 84, 1),
        "other_answer": "Annan",
        "other_is": "different",
    },
    "easy_select": {
        "newness": "general",
        "sentence": ARTICLE.split("\n")[2],
        "word": "1 January 2007",
    },
    "easy_question": {
        "question": "Who of Ghana did Ban Ki-moon succeed on 1 January 2007?",
        "answer": "Kofi Annan",
    },
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", sorted(FIELDS))
def test_what_is_entered_is_what_is_submitted(browser: Browser, name: str, size: str) -> None:
    layout, batch = load_layout(name), next(BATCHES)
    browser.size(size)
    text = page.render(layout, name, FOLDER / name, [hit(name)], batch=batch, mode="preview")
    browser.open(text)
    assert browser.overflow() == 0
    browser.click(browser.one("#instructions > summary"))
    browser.press("Submit")  # nothing yet: it is refused, and says what is missing
    assert browser.all(".message")
    assert not browser.all("#end")
    for step in STEPS[name]:
        do(browser, size, step)
    assert browser.overflow() == 0
    assert browser.text("#says") == ""
    browser.press("Submit")
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
    assert browser.messages() == []
    assert browser.requests() == []
