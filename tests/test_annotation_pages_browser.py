"""What every page does, in a real browser: checks, drafts, keyboard, marking, ways to submit."""

import itertools
import json
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("selenium", reason="needs selenium (extra dev)")
from selenium.webdriver.common.keys import Keys

from factdrift.annotation import page
from factdrift.annotation.batch import Hit, Item
from factdrift.annotation.layout import Layout, load_layout
from factdrift.annotation.submission import Json
from tests.annotation_items import ARTICLE, hit
from tests.browser import SIZES, Browser, browser

__all__ = ["browser"]  # a fixture

BATCHES = (f"page-{n}" for n in itertools.count())

EVERYTHING = Layout.model_validate(
    {
        "title": "Every kind",
        "summary": "One of each.",
        "instructions": ["Do it."],
        "fields": {
            "article": {"join": "article", "marks": "spans", "dates": True},
            "spans": {"kind": "spans"},
            "options": {"kind": "list"},
            "parts": {"kind": "paragraphs"},
        },
        "answers": {
            "pick": {"kind": "choice", "label": "Pick", "field": "options"},
            "tick": {"kind": "flag", "label": "Tick", "required": False},
            "some": {
                "kind": "choices",
                "label": "Some",
                "choices": [{"value": v, "label": v.upper()} for v in "abc"],
            },
            "marks": {"kind": "spans", "label": "Marks", "field": "article"},
            "part": {"kind": "span", "label": "Part", "field": "parts"},
            "note": {"kind": "text", "label": "Note", "required": False},
        },
        "pay": {"per_hit": "1", "minutes_per_hit": "4"},
    }
)
HOSTILE = (
    '<script>alert(1)</script> \U0001f600\U0001f600 said "O\'Neil" ${data} =1+1 </script>\n'
    "\u202bשלום עולם\u202c U+2028 is \u2028 here, &amp; a 👩‍👩‍👧 family on 3 May 2019."
)


def every(batch: str, tmp: Path, article: str = HOSTILE, mode: page.PageMode = "preview") -> str:
    """A page of every kind of answer over a text."""
    (tmp / "task.html.j2").write_text("{{ everything() }}")
    fields: Mapping[str, Json] = {
        "article": article,
        "spans": [{"start": 26, "end": 28}],
        "options": ["first", article[:40]],
        "parts": [{"text": "One."}, {"text": article.replace("\n", " ")}],
    }
    hits = [Hit("h", (Item("i", "r", fields),))]
    return page.render(EVERYTHING.located(tmp), hits, batch=batch, mode=mode)


def shown(name: str, mode: page.PageMode, items: int = 1, **deliver: str) -> tuple[str, str]:
    """A page of a layout and its batch."""
    batch = next(BATCHES)
    hits = [] if mode == "mturk" else [hit(name, items)]
    layout = load_layout(name).model_copy(update={"practice": ()})
    return page.render(layout, hits, batch=batch, mode=mode, deliver=deliver), batch


@pytest.mark.parametrize("size", SIZES)
def test_hostile_text_is_shown_and_comes_back_unharmed(
    browser: Browser, tmp_path: Path, size: str
) -> None:
    browser.size(size)
    browser.open(every(next(BATCHES), tmp_path))
    shown_text = browser.js(
        "return [...document.querySelector('.passage').children].map((p) => p.textContent)"
    )
    assert shown_text == HOSTILE.split("\n")
    assert browser.text("mark.mention") == HOSTILE[26:28]
    assert browser.text("mark.date") == "3 May 2019"
    if size == "wide":
        browser.drag("O'Neil")
        browser.drag("עולם")
        browser.drag("family on 3")
    else:
        browser.tap_ends("O'Neil")
        browser.tap_ends("עולם")
        browser.tap_ends("family on 3")
    browser.tap_ends("family", inside=".show:nth-child(2) .passage")
    browser.click(browser.all(".option")[1])
    browser.click("fieldset.choices .option")
    note = browser.one("textarea")
    browser.js("arguments[0].focus()", note)
    browser.driver.execute_cdp_cmd("Input.insertText", {"text": HOSTILE})
    browser.press("Submit")
    answers = browser.submission()["answers"]["i"]
    for mark in answers["marks"]:
        assert HOSTILE[mark["start"] : mark["end"]] == mark["text"]
    assert [m["text"] for m in answers["marks"]] == ["O'Neil", "עולם", "family on 3"]
    whole = HOSTILE.replace("\n", " ")
    start = whole.index("family")
    assert answers["part"] == {
        "start": start,
        "end": start + 6,
        "text": "family",
        "paragraph": 1,
    }
    assert answers["pick"] == HOSTILE[:40]
    assert answers["note"] == HOSTILE.replace("\n", " ")
    assert answers["tick"] is False
    assert answers["some"] == ["a"]
    assert browser.messages() == []
    assert browser.requests() == []


def test_several_marks_can_be_removed_and_overlapping_ones_join(
    browser: Browser, tmp_path: Path
) -> None:
    browser.size("wide")
    browser.open(every(next(BATCHES), tmp_path, "one two three four five"))
    for words in ("two", "four five", "two three"):
        browser.drag(words)

    def marked() -> list[str]:
        return [text.strip("“”") for text in browser.texts(".chips q")]

    assert browser.until(lambda: marked() == ["two three", "four five"], "two marks joined")
    browser.click(browser.all(".drop")[1])
    assert browser.until(lambda: len(browser.all(".chips q")) == 1, "one mark")
    browser.click(".drop")
    assert browser.until(lambda: browser.all(".chips q") == [], "no mark")
    assert browser.all("mark.span") == []


def test_part_of_a_word_is_taken_as_the_word_and_two_clicks_mark_what_is_between(
    browser: Browser, tmp_path: Path
) -> None:
    browser.size("wide")
    browser.open(every(next(BATCHES), tmp_path, "one twofold three four five"))
    browser.drag("ofol")
    browser.tap_ends("three four")
    chips = [c.text.strip("“”") for c in browser.all(".chips q")]
    assert chips == ["twofold", "three four"]


CHECKS = [
    ("Did Ban Ki-moon succeed of Ghana on 1 January 2007?", "Starts with who, what"),
    ("Who did Ban Ki-moon succeed of Ghana on 1 January 2007", 'Ends with "?"'),
    ("Who [BLANK] did Ban Ki-moon of Ghana on 1 January 2007?", 'Does not say "BLANK"'),
    ("Who did Ban Ki-moon of Ghana succeed in Paris on 1 January 2007?", "Paris"),
    ("Who did Ban Ki-moon succeed on 1 January 2007?", "Missing: Ghana"),
    ("Who of Ghana did Ban Ki-moon succeed on 1 January?", "Missing: 2007"),
    ("Who of Ghana did Ban Ki-moon succeed on 1 January 2007?", ""),
]


def test_the_five_requirements_are_said_as_one_types(browser: Browser) -> None:
    browser.size("wide")
    browser.open(shown("easy_question", "preview")[0])
    area = browser.one("textarea")
    for text, message in CHECKS:
        area.send_keys(Keys.CONTROL, "a")
        area.send_keys(text)
        says = browser.text(".answer.text .message")
        assert message in says if message else not says
        assert (area.get_attribute("aria-invalid") == "true") == bool(message)
        described = area.get_attribute("aria-describedby").split()
        assert any(browser.text(f"#{i}") == says for i in described)
    browser.press("Submit")
    assert browser.text(".ask:nth-child(2) .message") == "Write something here."
    assert browser.js("return document.activeElement.tagName") == "TEXTAREA"
    assert browser.text("#says") == "One thing is missing or needs a change."


PARAPHRASES = [
    ("Which position did Kofi Annan hold from 1997 to 2006?", "Is not just"),
    ("What was the position of Kofi Annan until 2006?", "Missing: 1997"),
    ("Between 1997 and 2006 what was Annan?", ""),
]


def test_a_paraphrase_keeps_its_time_and_is_another_text(browser: Browser) -> None:
    browser.size("wide")
    browser.open(shown("paraphrase", "preview")[0])
    for text, message in PARAPHRASES:
        browser.one("textarea").send_keys(Keys.CONTROL, "a")
        browser.one("textarea").send_keys(text)
        says = browser.text(".answer.text .message")
        assert message in says if message else not says


def test_a_draft_survives_a_reload_and_goes_with_the_submission(browser: Browser) -> None:
    browser.size("wide")
    text, batch = shown("write_questions", "static", items=2, code="C0DE")
    address = browser.write(text)
    browser.go(address + "?workerId=W1")
    browser.one("textarea").send_keys("Who succeeded Annan in 2007?")
    browser.press("Add another")
    browser.all("textarea")[2].send_keys("Half a que")
    browser.js("window.dispatchEvent(new Event('pagehide'))")
    browser.go(address + "?workerId=W1")
    values = [a.get_attribute("value") for a in browser.all("textarea")]
    assert values == ["Who succeeded Annan in 2007?", "", "Half a que", ""]
    browser.go(address + "?workerId=W2")
    assert [a.get_attribute("value") for a in browser.all("textarea")] == ["", ""]
    browser.go(address + "?workerId=W1")
    browser.press("Remove")
    browser.all("textarea")[0].send_keys(Keys.CONTROL, "a")
    browser.all("textarea")[0].send_keys("Who followed Annan in 2007?")
    browser.all("textarea")[1].send_keys("Ban")
    browser.press("Next")
    assert browser.text("#count") == "Item 2 of 2"
    browser.press("Back")
    assert browser.all("textarea")[1].get_attribute("value") == "Ban"
    browser.press("Next")
    browser.all("textarea")[0].send_keys("Who left office in 1971?")
    browser.all("textarea")[1].send_keys("U Thant")
    browser.press("Finish")
    link = browser.one("#end a")
    assert link.get_attribute("download") == f"{batch}-hit-1-W1.json"
    browser.click(link)
    browser.press("The file is saved")
    assert browser.text("#code") == "C0DE"
    assert (
        browser.js(
            "return Object.keys(localStorage).filter((k) => k.includes(arguments[0]))",
            f"draft:{batch}:hit-1:W1",
        )
        == []
    )
    browser.go(address + "?workerId=W1")
    assert "already" in browser.text("#end h2")
    assert browser.text("#code") == "C0DE"


def test_a_submission_is_kept_until_its_file_is_saved(browser: Browser) -> None:
    """Finish, and load the page again before saving: the answers are there, and no code is."""
    browser.size("wide")
    text, batch = shown("judge_question", "static", code="C0DE")
    address = browser.write(text) + "?workerId=W1"
    browser.go(address)
    browser.keys("g")
    browser.press("Finish")
    for clear in (False, True):  # a page from disk may find its localStorage empty
        browser.one("#end a")
        if clear:
            browser.js("localStorage.clear()")
        browser.refresh()
        assert "save your answers" in browser.text("#end h2")
        assert browser.all("#code") == []
    browser.press("Back to my answers")
    browser.keys("b", "1")
    browser.press("Finish")
    browser.click("#end a")
    name = f"{batch}-hit-1-W1.json"
    assert browser.saved(name)["answers"]["item-0"]["verdict"] == "bad"
    assert browser.all("#code") == []
    browser.press("The file is saved")
    assert browser.text("#code") == "C0DE"
    browser.refresh()
    assert "already" in browser.text("#end h2")
    assert browser.one("#end a").get_attribute("download") == name


def test_the_results_file_is_the_submission(browser: Browser) -> None:
    browser.size("wide")
    text, batch = shown("judge_question", "static")
    browser.open(text, "?PROLIFIC_PID=ab%20c&SESSION_ID=s9")
    browser.keys("g")
    browser.press("Finish")
    browser.click("#end a")
    sent = browser.saved(f"{batch}-hit-1-ab_c.json")
    assert (sent["worker"], sent["assignment"]) == ("ab c", "s9")
    assert sent["answers"] == {"item-0": {"verdict": "good"}}


def test_a_worker_without_an_id_is_asked_for_it(browser: Browser) -> None:
    browser.size("phone")
    browser.js("localStorage.clear()")
    browser.open(shown("judge_question", "static")[0])
    assert not browser.all("#item fieldset")
    browser.press("Start")
    assert not browser.all("#item fieldset")
    browser.one("#worker").send_keys("me", Keys.ENTER)
    assert browser.one("#item fieldset")


@pytest.mark.parametrize(
    ("query", "question"),
    [("hit=b", "Q-b?"), ("hit=1", "Q-a?"), ("hit=3", "Q-c?"), ("hit=9", ""), ("hit=x", "")],
)
def test_a_page_of_several_hits_takes_the_one_of_its_address(
    browser: Browser, query: str, question: str
) -> None:
    name = "judge_question"
    hits = [
        Hit(x, (Item(x, x, {"question": f"Q-{x}?", "question_date": "2020-01-01"}),)) for x in "abc"
    ]
    layout = load_layout(name).model_copy(update={"practice": ()})
    text = page.render(layout, hits, batch=next(BATCHES), mode="static")
    browser.open(text, f"?workerId=w&{query}")
    if question:
        assert question in browser.text("#item")
    else:
        assert "no such set of items" in browser.text("#notice")


# Keyboard only: nothing below clicks.


def test_judging_needs_only_the_keyboard(browser: Browser) -> None:
    browser.size("wide")
    browser.open(shown("judge_question", "preview", items=2)[0])
    browser.keys("?")
    assert not browser.js("return document.getElementById('instructions').open")
    browser.keys("b", "2")
    browser.chord(Keys.CONTROL, Keys.ENTER)
    browser.keys("g")
    browser.chord(Keys.CONTROL, Keys.ENTER)
    assert browser.submission()["answers"] == {
        "item-0": {"verdict": "bad", "reasons": ["ambiguous"]},
        "item-1": {"verdict": "good"},
    }


def test_six_attributes_need_seven_keys(browser: Browser) -> None:
    browser.size("wide")
    browser.open(shown("judge_toxicity", "preview")[0])
    browser.keys("n", "y", "n", "0")
    browser.chord(Keys.CONTROL, Keys.ENTER)
    given = browser.submission()["answers"]["item-0"]
    assert [k for k, v in given.items() if v] == ["insult"]
    assert len(given) == 6


def test_marking_and_answering_need_only_the_keyboard(browser: Browser) -> None:
    browser.size("wide")
    browser.open(shown("answer_question", "preview")[0])
    browser.keys("y")
    for _ in range(30):
        browser.keys(Keys.TAB)
        if browser.js("return document.activeElement.textContent.startsWith('Marking')"):
            break
    browser.keys(Keys.ENTER)
    assert browser.js("return document.activeElement.className") == "passage"
    browser.keys(Keys.RIGHT, Keys.DOWN, Keys.DOWN, Keys.DOWN, *[Keys.RIGHT] * 4)
    browser.chord(Keys.SHIFT, Keys.RIGHT, Keys.RIGHT)
    assert browser.text("mark.cursor") == "succeeded Kofi Annan"
    browser.keys(Keys.ENTER)
    browser.keys(Keys.RIGHT, Keys.RIGHT, Keys.ENTER)
    assert len(browser.all(".chips li")) == 2
    browser.keys(Keys.DELETE)
    for _ in range(30):
        browser.keys(Keys.TAB)
        if browser.js("return document.activeElement.tagName") == "TEXTAREA":
            break
    browser.keys("Kofi Annan")
    browser.chord(Keys.CONTROL, Keys.ENTER)
    start = ARTICLE.index("succeeded Kofi")
    assert browser.submission()["answers"]["item-0"] == {
        "answerable": "yes",
        "evidence": [{"start": start, "end": start + 20, "text": "succeeded Kofi Annan"}],
        "answer": "Kofi Annan",
    }


def test_writing_needs_only_the_keyboard(browser: Browser) -> None:
    browser.size("wide")
    browser.open(shown("easy_select", "preview")[0])
    browser.keys("y", "3")
    for _ in range(30):
        browser.keys(Keys.TAB)
        if browser.js("return document.activeElement.textContent") == "eighth":
            break
    browser.keys(Keys.SPACE)
    browser.chord(Keys.CONTROL, Keys.ENTER)
    assert browser.submission()["answers"]["item-0"]["word"] == "eighth"


def test_a_choice_is_not_there_without_the_field_that_it_needs(browser: Browser) -> None:
    browser.size("wide")
    layout = load_layout("verify_facts")
    for mention, more in (("Secretary-General", 1), (None, 0)):
        shown_hit = hit("verify_facts", 1, mention=mention)
        browser.open(page.render(layout, [shown_hit], batch=next(BATCHES), mode="preview"))
        (box,) = [f for f in browser.all("fieldset") if f.is_displayed()]
        found = [o.text.split("\n")[0] for o in box.find_elements("css selector", ".option")]
        assert found == [*["Correct"] * more, "Another answer", "Not in the page"]
        assert ("(nothing was found)" in browser.text("#item")) != bool(more)


def test_search_leaves_the_passages_that_have_all_words(browser: Browser) -> None:
    browser.size("wide")
    browser.open(shown("ckl_expert", "preview")[0])
    browser.one("input[type=search]").send_keys("ANNAN ghana")
    assert [p.text.split(".")[0] for p in browser.all(".passage p")] == ["Friday, October 12, 2001"]
    assert browser.texts(".passage h4") == ["Peace Prize"]
    assert set(browser.texts("mark.hit")) == {"Annan", "Ghana"}
    browser.keys(Keys.ESCAPE)
    assert len(browser.all(".passage p")) == 7


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    """A server that takes submissions: its address and what it was sent."""
    got: list[tuple[str, bytes]] = []

    class Takes(BaseHTTPRequestHandler):
        def _say(self, status: int) -> None:
            self.send_response(status)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Access-Control-Allow-Headers", "Content-Type")
            self.end_headers()

        def do_OPTIONS(self) -> None:
            self._say(204)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((self.path, body))
            self._say(503 if self.path == "/busy" and len(got) == 1 else 200)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    made = ThreadingHTTPServer(("127.0.0.1", 0), Takes)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{made.server_port}", got
    made.shutdown()
    made.server_close()


def test_a_submission_is_posted_and_kept_where_that_fails(
    browser: Browser, server: tuple[str, list[tuple[str, bytes]]]
) -> None:
    address, got = server
    got.clear()
    browser.size("wide")
    text, batch = shown(
        "judge_question", "static", post=f"{address}/busy", code="DONE", complete="https://x.org/c"
    )
    browser.open(text, "?workerId=W")
    browser.keys("g")
    browser.press("Submit")
    browser.wait("return document.querySelector('#end h2')?.textContent === 'Not sent yet'")
    assert browser.all("#code") == []
    browser.refresh()  # what has not arrived is sent by the next load
    assert browser.text("#code") == "DONE"
    assert browser.one("#end a").get_attribute("href") == "https://x.org/c"
    assert [path for path, _ in got] == ["/busy", "/busy"]
    sent = json.loads(got[1][1])
    assert (sent["batch"], sent["worker"]) == (batch, "W")
    assert set(browser.requests()) == {f"{address}/busy"}


MTURK = "?assignmentId=A1&hitId=H1&workerId=W1&turkSubmitTo=https%3A%2F%2Fevil.example"


def _mturk(name: str) -> str:
    text, _ = shown(name, "mturk")
    return text.replace("${data}", page.data(hit(name, question="Wér? \U0001f600"), "b9"))


def test_before_it_is_accepted_a_hit_of_mturk_can_only_be_looked_at(browser: Browser) -> None:
    browser.size("wide")
    text = _mturk("judge_question")
    browser.open(text, "?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=H1")
    browser.wait("return document.querySelector('#item .option') !== null")
    browser.keys("g")
    browser.chord(Keys.CONTROL, Keys.ENTER)
    assert "preview" in browser.text("#notice")
    assert not browser.one("#next").is_enabled()
    assert browser.js("return document.querySelectorAll('#item input:enabled').length") == 0
    assert browser.requests() == []


def test_a_page_whose_data_never_came_says_so(browser: Browser) -> None:
    browser.open(shown("judge_question", "mturk")[0], MTURK)
    browser.wait("return !document.getElementById('notice').hidden")
    assert "without its items" in browser.text("#notice")


def test_only_time_in_sight_counts(browser: Browser) -> None:
    browser.size("wide")
    browser.open(shown("judge_question", "preview")[0])
    browser.js("""
      let shift = 0; const real = performance.now.bind(performance);
      performance.now = () => real() + shift;
      let seen = 'visible';
      Object.defineProperty(document, 'visibilityState', { get: () => seen });
      const turn = (to) => { seen = to; document.dispatchEvent(new Event('visibilitychange')); };
      shift += 20000; turn('hidden'); shift += 500000; turn('visible'); shift += 7000;
    """)
    browser.keys("g")
    browser.press("Submit")
    assert 27 <= browser.submission()["item_seconds"]["item-0"] < 60
