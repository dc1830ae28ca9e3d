"""What every page does, in a real browser: checks, drafts, keyboard, marking, ways to submit."""

import csv
import itertools
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("selenium", reason="needs selenium (extra dev)")
from selenium.webdriver.common.keys import Keys

from factdrift.annotation import page
from factdrift.annotation.batch import Hit, Item
from factdrift.annotation.checks import answer_problems
from factdrift.annotation.layout import Consent, Layout, load_layout
from factdrift.annotation.order import Delivery
from factdrift.annotation.people import consent_sha256
from factdrift.annotation.submission import Json, Submission, submission_from_value
from tests.annotation_items import FIELDS, hit, own_layout
from tests.annotation_workers import batch_of, hand_in, refusals, take
from tests.browser import SIZES, Browser, Taker, browser, served, taker
from tests.receiving import place_link
from tests.tables import column_of, read_table

__all__ = ["browser", "taker"]  # fixtures

CASES = read_table("annotation_pages")
BATCHES = (f"page-{n}" for n in itertools.count())

EVERYTHING = own_layout(CASES["everything"]["fields"], CASES["everything"]["answers"])
HOSTILE = (
    '<script>alert(1)</script> \U0001f600\U0001f600 said "O\'Neil" ${data} =1+1 </script>\n'
    "\u202bשלום עולם\u202c U+2028 is \u2028 here, &amp; a 👩‍👩‍👧 family on 3 May 2019."
)


def every(
    hit_batch: str, tmp_folder: Path, article: str = HOSTILE, mode: page.PageMode = "preview"
) -> str:
    """A page of every kind of answer over a text."""
    (tmp_folder / "task.html.j2").write_text("{{ everything() }}")
    item_fields: Mapping[str, Json] = {
        "article": article,
        "spans": [{"start": 26, "end": 28}],
        "options": ["first", article[:40]],
        "parts": [{"text": "One."}, {"text": article.replace("\n", " ")}],
    }
    hits = [Hit("h", (Item("i", "r", item_fields),))]
    return page.render_page(EVERYTHING.with_folder(tmp_folder), hits, batch_id=hit_batch, mode=mode)


def plain(layout_name: str) -> Layout:
    """A layout without its practice."""
    return load_layout(layout_name).model_copy(update={"practice": (), "consent": None})


def shown(
    layout: Layout | str,
    mode: page.PageMode = "preview",
    items: int = 1,
    deliver: Mapping[str, Any] = {},
    **item_fields: Any,
) -> tuple[str, str]:
    """A page of a layout and its batch."""
    hit_batch, layout = next(BATCHES), plain(layout) if isinstance(layout, str) else layout
    hits = [] if mode == "mturk" else [hit(layout.name, items, **item_fields)]
    delivery = Delivery(**deliver)
    return page.render_page(
        layout, hits, batch_id=hit_batch, mode=mode, delivery=delivery
    ), hit_batch


def start(browser: Browser, layout: Layout | str, query: str = "", **more_values: Any) -> str:
    """Open a page of a layout on a wide screen; its batch."""
    browser.size("wide")
    shown_text, hit_batch = shown(layout, **more_values)
    browser.open(shown_text, query)
    return hit_batch


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
    command_words = ["O'Neil", "עולם", "family on 3"]
    for word in command_words:
        (browser.drag if size == "wide" else browser.tap_ends)(word)
    browser.tap_ends("family", inside=".show:nth-child(2) .passage")
    browser.click(browser.all(".option")[1])
    browser.click("fieldset.choices .option")
    browser.js("arguments[0].focus()", browser.one("textarea"))
    browser.insert(HOSTILE)
    browser.press("Submit")
    one_line = HOSTILE.replace("\n", " ")
    starts = {word: one_line.index(word) for word in [*command_words, "family"]}
    shown_marks = [
        {"start": word_start, "end": word_start + len(word), "text": word}
        for word, word_start in starts.items()
    ]
    assert browser.submission()["answers"]["i"] == {
        "pick": HOSTILE[:40],
        "tick": False,
        "some": ["a"],
        "marks": shown_marks[:3],
        "part": {**shown_marks[3], "paragraph": 1},
        "note": one_line,
    }
    assert (browser.messages(), browser.requests()) == ([], [])


def _equal(shown_texts: Callable[[], list[str]], expected_texts: list[str]) -> bool:
    return shown_texts() == expected_texts


def test_several_marks_can_be_removed_and_overlapping_ones_join(
    browser: Browser, tmp_path: Path
) -> None:
    browser.size("wide")
    browser.open(every(next(BATCHES), tmp_path, "one two three four five"))

    def marked() -> list[str]:
        return [shown_text.strip("“”") for shown_text in browser.texts(".chips q")]

    # each mark draws the text anew, which the next one has to wait for
    for command_words, expected_marks in (
        ("two", ["two"]),
        ("four five", ["two", "four five"]),
        ("two three", ["two three", "four five"]),
    ):
        browser.drag(command_words)
        assert browser.until(partial(_equal, marked, expected_marks), command_words)
    browser.click(browser.all(".drop")[1])
    assert browser.until(lambda: marked() == ["two three"], "one mark")
    browser.click(".drop")
    assert browser.until(lambda: browser.all(".chips q") == [], "no mark")
    assert browser.all("mark.span") == []
    browser.drag("hre")  # a part of a word is the word
    assert browser.until(lambda: marked() == ["three"], "a whole word")
    browser.tap_ends("four five")
    assert browser.until(lambda: marked() == ["three", "four five"], "two marks")


def test_the_five_requirements_are_said_as_one_types(browser: Browser) -> None:
    start(browser, "easy_question")
    area = browser.one("textarea")
    for shown_text, expected_message in CASES["requirements"]:
        area.send_keys(Keys.CONTROL, "a")
        area.send_keys(shown_text)
        says = browser.text(".answer.text .message")
        assert expected_message in says if expected_message else not says
        assert (area.get_attribute("aria-invalid") == "true") == bool(expected_message)
        described = area.get_attribute("aria-describedby").split()
        assert any(browser.text(f"#{element_id}") == says for element_id in described)
    browser.press("Submit")
    assert browser.text(".ask:nth-child(2) .message") == "Write something here."
    assert browser.js("return document.activeElement.tagName") == "TEXTAREA"
    assert browser.text("#says") == "One thing is missing or needs a change."


def test_a_draft_survives_a_reload_and_goes_with_the_submission(browser: Browser) -> None:
    browser.size("wide")
    shown_text, hit_batch = shown("write_questions", "static", 2, {"code": "C0DE"})
    address = f"{browser.write(shown_text)}?workerId="

    def fill(*texts: str) -> None:
        for area, new_text in zip(browser.all("textarea"), texts, strict=True):
            area.send_keys(Keys.CONTROL, "a")
            area.send_keys(new_text or Keys.DELETE)

    def filled(worker_id: str = "") -> list[str]:
        if worker_id:
            browser.go(address + worker_id)
        return [area.get_attribute("value") for area in browser.all("textarea")]

    browser.go(f"{address}W1")
    browser.press("Add another")
    fill("Who succeeded Annan in 2007?", "", "Half a que", "")
    browser.js("window.dispatchEvent(new Event('pagehide'))")
    assert filled("W1") == ["Who succeeded Annan in 2007?", "", "Half a que", ""]
    assert filled("W2") == ["", ""]
    browser.go(f"{address}W1")
    browser.press("Remove")
    fill("Who followed Annan in 2007?", "Ban")
    browser.press("Next")
    assert browser.text("#count") == "Item 2 of 2"
    browser.press("Back")
    assert filled()[1] == "Ban"
    browser.press("Next")
    fill("Who left office in 1971?", "U Thant")
    browser.press("Finish")
    link = browser.one("#end a")
    assert link.get_attribute("download") == f"{hit_batch}-hit-1-W1.json"
    browser.click(link)
    browser.press("The file is saved")
    assert browser.text("#code") == "C0DE"
    drafts_script = "return Object.keys(localStorage).filter((k) => k.includes(arguments[0]))"
    assert browser.js(drafts_script, f"draft:{hit_batch}:hit-1:W1") == []
    browser.go(f"{address}W1")
    assert "already" in browser.text("#end h2")
    assert browser.text("#code") == "C0DE"


def test_a_submission_is_kept_until_its_file_is_saved(browser: Browser) -> None:
    """Finish, and load the page again before saving: the answers are there, and no code is."""
    code_setting = {"code": "C0DE"}
    hit_batch = start(
        browser, "judge_question", "?workerId=W1", mode="static", deliver=code_setting
    )
    layout_name = f"{hit_batch}-hit-1-W1.json"
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
    assert browser.saved(layout_name)["answers"]["item-0"]["verdict"] == "bad"
    assert browser.all("#code") == []
    browser.press("The file is saved")
    assert browser.text("#code") == "C0DE"
    browser.refresh()
    assert "already" in browser.text("#end h2")
    assert browser.one("#end a").get_attribute("download") == layout_name


def test_a_worker_without_an_id_is_asked_for_it(browser: Browser) -> None:
    browser.js("localStorage.clear()")
    start(browser, "judge_question", "?PROLIFIC_PID={{%PROLIFIC_PID%}}", mode="static")
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
    layout_name = "judge_question"
    hits = [
        Hit(hit_letter, hit(layout_name, question=f"Q-{hit_letter}?").items) for hit_letter in "abc"
    ]
    shown_text = page.render_page(plain(layout_name), hits, batch_id=next(BATCHES), mode="static")
    browser.open(shown_text, f"?workerId=w&{query}")
    if question:
        assert question in browser.text("#item")
    else:
        assert "no such set of items" in browser.text("#notice")


# Keyboard only: nothing below clicks.


@pytest.mark.parametrize(("layout", "changes", "keys", "answers"), CASES["by_keys"])
def test_answers_by_keys_alone(
    browser: Browser, layout: str, changes: Json, keys: list[list[str]], answers: list[Any]
) -> None:
    """What is not asked, because of an answer or of a field that is not there, is not needed."""
    more_values = changes if isinstance(changes, dict) else {}
    start(browser, layout, items=len(keys), **more_values)
    shown_text = browser.one("#item").text.lower()
    for layout_name, answer_value in more_values.items():
        if answer_value is None:
            assert layout_name not in shown_text
    for pressed_keys in keys:
        browser.keys(*pressed_keys)
        browser.chord(Keys.CONTROL, Keys.ENTER)
    given_answers = [*browser.submission()["answers"].values()]
    assert given_answers == answers
    item_fields = {
        layout_name: answer_value
        for layout_name, answer_value in (FIELDS[layout] | more_values).items()
        if answer_value is not None
    }
    assert [
        answer_problems(plain(layout), item_fields, item_answers) for item_answers in given_answers
    ] == [[]] * len(given_answers)


@pytest.mark.parametrize(("mention", "more_values"), [("Secretary-General", 1), (None, 0)])
def test_a_choice_is_not_there_without_the_field_that_it_needs(
    browser: Browser, mention: str | None, more_values: int
) -> None:
    start(browser, "verify_facts", mention=mention)
    (box,) = [fieldset for fieldset in browser.all("fieldset") if fieldset.is_displayed()]
    shown_options = [
        option.text.split("\n")[0] for option in box.find_elements("css selector", ".option")
    ]
    assert shown_options == [*["Correct"] * more_values, "Another answer", "Not in the page"]
    assert ("(nothing was found)" in browser.text("#item")) != bool(more_values)


def test_search_leaves_the_passages_that_have_all_words(browser: Browser) -> None:
    start(browser, "ckl_expert")
    browser.one("input[type=search]").send_keys("ANNAN ghana")
    assert [passage.text.split(".")[0] for passage in browser.all(".passage p")] == [
        "Friday, October 12, 2001"
    ]
    assert browser.texts(".passage h4") == ["Peace Prize"]
    assert set(browser.texts("mark.hit")) == {"Annan", "Ghana"}
    browser.keys(Keys.ESCAPE)
    assert len(browser.all(".passage p")) == 7


def test_a_submission_is_posted_and_kept_where_that_fails(browser: Browser, taker: Taker) -> None:
    taker.busy = 1
    post, link = f"{taker.address}/busy", "https://x.org/c"
    deliver = {"post": post, "code": "DONE", "complete": link}
    hit_batch = start(browser, "judge_question", "?workerId=W", mode="static", deliver=deliver)
    browser.keys("g")
    browser.press("Submit")
    browser.wait("return document.querySelector('#end h2')?.textContent === 'Not sent yet'")
    assert browser.all("#code") == []
    browser.refresh()  # what has not arrived is sent by the next load
    assert browser.text("#code") == "DONE"
    assert browser.one("#end a").get_attribute("href") == link
    assert [file_path for file_path, _ in taker.posted] == ["/busy", "/busy"]
    sent_submission = json.loads(taker.posted[1][1])
    assert (sent_submission["batch"], sent_submission["worker"]) == (hit_batch, "W")
    assert set(browser.requests()) == {post}


def test_before_it_is_accepted_a_hit_of_mturk_can_only_be_looked_at(browser: Browser) -> None:
    browser.size("wide")
    shown_text, hit_batch = shown("judge_question", "mturk")
    shown_text = shown_text.replace("${data}", page.packed_hit(hit("judge_question"), hit_batch))
    browser.open(shown_text, "?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=H1")
    browser.wait("return document.querySelector('#item .option') !== null")
    browser.keys("g")
    browser.chord(Keys.CONTROL, Keys.ENTER)
    assert "preview" in browser.text("#notice")
    assert not browser.one("#next").is_enabled()
    assert browser.js("return document.querySelectorAll('#item input:enabled').length") == 0
    assert browser.requests() == []


def test_a_page_whose_data_never_came_says_so(browser: Browser) -> None:
    start(browser, "judge_question", "?assignmentId=A1&hitId=H1&workerId=W1", mode="mturk")
    browser.wait("return !document.getElementById('notice').hidden")
    assert "without its items" in browser.text("#notice")


def test_only_time_in_sight_counts(browser: Browser) -> None:
    start(browser, "judge_question")
    browser.ask("look_away")
    browser.keys("g")
    browser.press("Submit")
    assert 27 <= browser.submission()["item_seconds"]["item-0"] < 60


# Ways out and ways in: broken items, remarks, consent, practice, no answer.

MARKUP = '<b onclick="x">=1+1</b> </script> ${data}'


@pytest.mark.slow
@pytest.mark.parametrize("layout_name", sorted(FIELDS))
def test_an_item_can_be_called_broken_on_every_layout(browser: Browser, layout_name: str) -> None:
    layout = plain(layout_name)
    start(browser, layout)
    browser.click(".ways summary")
    browser.click(".ways .option")
    shown_summaries = [
        answer.find_elements("xpath", "..//summary") for answer in browser.all(".work .answer")
    ]
    assert all(shown_summaries)
    browser.js("arguments[0].focus()", browser.one(".ways textarea"))
    browser.insert(MARKUP)
    browser.press("Submit")
    given_answers = browser.submission()["answers"]["item-0"]
    assert given_answers == {"broken": ["unreadable"], "comment": MARKUP}
    assert answer_problems(layout, FIELDS[layout_name], given_answers) == []
    other_answer = next(answer for answer in layout.answers if answer not in ("broken", "comment"))
    wrong_answers = answer_problems(
        layout, FIELDS[layout_name], {**given_answers, other_answer: "x"}
    )
    assert wrong_answers and "is not asked here" in wrong_answers[0]


@pytest.mark.parametrize(("given_day", "said"), CASES["dates"])
def test_dates_are_in_words(browser: Browser, given_day: str, said: str) -> None:
    start(browser, "verify_facts", valid_from=given_day, valid_to=None)
    assert f"From\n{said}" in browser.texts(".brief .fact")
    assert "Kofi Annan was Secretary-General of the United Nations." in browser.text(".brief")


def test_consent_comes_first_and_once_and_goes_with_the_answers(browser: Browser) -> None:
    consent = Consent(text=("We study news.", MARKUP), contact="ada@example.org")
    layout = plain("judge_question").model_copy(update={"consent": consent})
    browser.js("localStorage.clear()")
    hit_batch = start(browser, layout, "?workerId=C1", mode="static")
    consent_text = browser.text("#consent")
    assert MARKUP in consent_text and "ada@example.org" in consent_text
    assert not browser.all("#item fieldset")
    browser.press("I do not take part")
    assert "do not take part" in browser.text("#end h2")
    browser.refresh()
    browser.press("I have read this")
    assert not browser.all("#item fieldset")  # the instructions, which take time
    assert browser.one("#instructions")
    browser.press("Begin")
    assert browser.one("#item fieldset")
    assert not browser.all("#instructions")
    browser.refresh()
    browser.keys("?")  # a key away
    assert browser.one("#instructions")
    browser.keys("g")
    browser.press("Finish")
    browser.click("#end a")
    handed_in = browser.saved(f"{hit_batch}-hit-1-C1.json")
    consent_day = datetime.now(UTC).date().isoformat()
    assert handed_in["consent"] == {"text": consent_sha256(consent), "day": consent_day}
    assert isinstance(submission_from_value(handed_in, "", 0), Submission)
    start(browser, layout, "?workerId=C1", mode="static")  # the next set of items
    assert browser.one("#item fieldset")
    assert not browser.all("#instructions")


def test_one_click_marks_what_is_offered_and_a_gap_says_its_kind(browser: Browser) -> None:
    offers = ["Kofi Annan", "ten years", "Ban", "South Korea"]
    start(browser, "ckl_question", written_for=offers)
    browser.click(browser.all(".option")[1])
    assert set(browser.texts("mark.offer")) == {"ten years"}
    browser.click(browser.all(".option")[0])
    assert browser.texts("mark.offer") == ["Kofi Annan"]
    browser.click("mark.offer")
    assert browser.until(lambda: browser.texts(".chips q"), "the mark")[0].strip("“”") == offers[0]
    browser.click(".chips .drop")
    browser.press("Mark “Kofi Annan”")  # the same by a button, which keys reach
    area = browser.all("textarea")[1]
    browser.click(area)
    browser.chord(Keys.CONTROL, "a")
    browser.insert("Ban Ki-moon succeeded")
    assert "one gap" in browser.text(".answer.text:has(.gaps) .message")
    browser.press("Place")
    browser.press("Person")  # in place of the other
    browser.insert(".")
    browser.press("Submit")
    given = browser.submission()["answers"]["item-0"]
    assert given["answer"]["text"] == "Kofi Annan"
    assert given["cloze"] == "Ban Ki-moon succeeded[BLANK-PERSON]."


LONG = "\n".join(f"Sentence {number} of an article of some length." for number in range(60))
# Room for a text beside its question: less is no reading.
_LEAST_READ = 70


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
def test_the_item_is_on_the_screen(browser: Browser, width: int, height: int) -> None:
    """What it is about, a part of what is read, and the first thing to answer; no scrolling."""
    wrong = []
    for layout_name in sorted(FIELDS):
        changes = {"article": LONG} if "article" in FIELDS[layout_name] else {}
        start(browser, layout_name, **changes)
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 400}
        browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        browser.js("document.getElementById('instructions').open = false")
        seen = browser.ask("onScreen")
        if not (seen["brief"] and seen["first"] and min(seen["read"], default=99) > _LEAST_READ):
            wrong.append((layout_name, seen))
    assert wrong == []


def test_practice_tells_what_was_right_and_is_not_handed_in(browser: Browser) -> None:
    layout = load_layout("judge_question")
    layout = layout.model_copy(update={"consent": None, "practice": layout.practice[:2]})
    browser.js("localStorage.clear()")
    hit_batch = start(browser, layout, "?workerId=P1", mode="static")
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
    assert list(browser.saved(f"{hit_batch}-hit-1-P1.json")["answers"]) == ["item-0"]
    start(browser, layout, "?workerId=P1", mode="static")
    assert browser.text("#count") == ""  # whoever has practised does not do it again


# The static platform: links, a page in a browser, posting or saving, a code, and back again.


@pytest.mark.parametrize("split", [False, True])
def test_links(split: bool, tmp_path: Path) -> None:
    hit_batch = batch_of(tmp_path, delivery=Delivery(split_pages=split))
    static = hit_batch.folder / "static"
    pages = ["hit-0001.html", "hit-0002.html"] if split else ["task.html"]
    parts = [] if split else ["hits/0001.json", "hits/0002.json"]
    made_files = sorted(
        file_path.relative_to(static).as_posix() for file_path in static.rglob("*.*")
    )
    assert made_files == sorted([*pages, *parts, "links.csv"])
    who = "&".join(
        f"{parameter}={{{{%{parameter}%}}}}"
        for parameter in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
    )
    turns = []
    for slot_number, hit_number in ((1, 1), (1, 2), (2, 1), (2, 2)):
        place = place_link(hit_batch, hit_number, slot_number)
        name = f"{pages[hit_number - 1]}?" if split else f"task.html{place}&"
        turns.append([str(slot_number), hit_batch.hits[hit_number - 1].id, name + who])
    with (static / "links.csv").open(encoding="utf-8", newline="") as file:
        assert [*csv.reader(file)] == [["assignment", "hit", "link"], *turns]
    assert not split or "sign=" not in turns[0][2]


NOTE = "=1+1 <b> \U0001f600 ${x}"


def _work(browser: Browser, address: str) -> None:
    browser.size("wide")
    browser.go(address)
    browser.ask("answer", 4, NOTE)


def test_posted_by_a_browser(browser: Browser, taker: Taker, tmp_path: Path) -> None:
    end = "https://example.org/done?cc=42"
    delivery_options = Delivery(post=taker.address, code="CODE-42", complete=end)
    hit_batch = batch_of(tmp_path, delivery=delivery_options)
    with served(hit_batch.folder / "static") as pages:
        _work(browser, f"{pages.address}/task.html?hit=2&PROLIFIC_PID=5f0worker&SESSION_ID=s1")
        assert browser.text("#code") == "CODE-42"
        assert browser.js("return document.querySelector('#end a').href") == end
    ((_, posted_body),) = taker.posted
    posted_submission = json.loads(posted_body)
    told_lines = [
        posted_submission[layout_name] for layout_name in ("batch", "hit", "worker", "assignment")
    ]
    assert told_lines == [hit_batch.id, hit_batch.hits[1].id, "5f0worker", "s1"]
    assert set(column_of(posted_submission["answers"].values(), "note")) == {NOTE}
    assert take(tmp_path, hand_in(tmp_path, [posted_submission])).new == 1
    assert refusals(tmp_path) == []


def test_saved_by_a_browser(browser: Browser, tmp_path: Path) -> None:
    """Opened from disk, with no server at all: the file that a worker saves and sends."""
    hit_batch = batch_of(tmp_path, delivery=Delivery(split_pages=True))
    first_page = hit_batch.folder / "static" / "hit-0001.html"
    _work(browser, f"{first_page.as_uri()}?workerId=R4WID")
    assert "opened from a file" in browser.text("#notice")
    browser.click("#end a")
    file_path = browser.folder / f"{hit_batch.id}-{hit_batch.hits[0].id}-R4WID.json"
    browser.saved(file_path.name)
    assert (take(tmp_path, file_path).new, refusals(tmp_path)) == (1, [])
    file_path.write_text("{" + file_path.read_text("utf-8"), "utf-8")
    import_report = take(tmp_path, file_path)
    assert f"{file_path.name}:1: not valid JSON" in "\n".join(import_report.lines())
    ((layout_name, _, reason, _),) = refusals(tmp_path)
    assert (layout_name, reason) == (file_path.name.replace("R4WID", "…"), "not valid JSON")
    outputs = [output for output in (tmp_path / "judgments").rglob("*") if output.is_file()]
    for output in outputs:
        assert b"R4WID" not in output.read_bytes()


# The page refuses and takes the same texts as `annotation.checks`: one table for both.
TEXTS: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("annotation_checks.json").read_text("utf-8")
)
TEXTS += [
    {
        "check": {"rewords": "cloze", "dated_by": "day"},
        "fields": {"cloze": entry["statement"], "day": entry["day"]},
        "text": question,
        "problem": None if kind == "same" else "rewords",
    }
    for entry in read_table("rewordings")
    for kind in ("same", "other")
    for question in entry[kind]
]
CHECKS = list({json.dumps(case["check"]): case["check"] for case in TEXTS}.values())
NAMES = sorted({name for case in TEXTS for name in case.get("fields", {})})


def checking(checks: list[Any], cases: list[dict[str, Any]], folder: Path, hit_batch: str) -> str:
    """A page that asks for a text by each of some checks, with an item for each case."""
    text_settings = {"kind": "text", "label": "A", "required": False}
    layout = own_layout(
        {layout_name: {"optional": True} for layout_name in NAMES},
        {
            f"a{check_number}": text_settings | {"check": check}
            for check_number, check in enumerate(checks)
        },
    )
    (folder / "task.html.j2").write_text("{{ everything() }}")
    items = tuple(
        Item(f"i{check_number}", f"r{check_number}", test_case.get("fields", {}))
        for check_number, test_case in enumerate(cases)
    )
    return page.render_page(
        layout.with_folder(folder), [Hit("h", items)], batch_id=hit_batch, mode="preview"
    )


@pytest.mark.slow
def test_the_page_finds_the_same_problems(browser: Browser, tmp_path: Path) -> None:
    browser.size("wide")
    wrong_cases, seen_count = [], 0
    for first_check in range(0, len(CHECKS), 4):  # few answers on a page: each follows every key
        checks = CHECKS[first_check : first_check + 4]
        cases = [test_case for test_case in TEXTS if test_case["check"] in checks]
        browser.open(checking(checks, cases, tmp_path, f"checks-{first_check}"))
        plan = [
            [checks.index(test_case["check"]), test_case["text"], test_case is cases[-1]]
            for test_case in cases
        ]
        for test_case, (refused_answers, says, invalid) in zip(
            cases, browser.ask("typed", plan), strict=True
        ):
            seen_count += 1
            expected_value = bool(test_case["problem"] and test_case["text"].strip())
            is_named = not refused_answers or test_case["problem"] in says
            if (
                refused_answers != expected_value
                or (invalid == "true") != refused_answers
                or not is_named
            ):
                wrong_cases.append((test_case, says))
        assert browser.messages() == []
    assert wrong_cases == []
    assert seen_count == len(TEXTS)
