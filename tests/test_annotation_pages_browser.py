"""What every page does, in a real browser: checks, drafts, keyboard, marking, ways to submit."""

import csv
import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("selenium", reason="needs selenium (extra dev)")
from selenium.webdriver.common.keys import Keys

from factdrift.annotation import page
from factdrift.annotation.batch import Hit, HitBatch, Item
from factdrift.annotation.checks import problems
from factdrift.annotation.layout import Consent, Layout, load_layout
from factdrift.annotation.order import Delivery
from factdrift.annotation.submission import Json
from tests.annotation_items import FIELDS, hit, own_layout
from tests.annotation_workers import batch_of, refusals, take
from tests.browser import SIZES, Browser, Taker, browser, served, taker

__all__ = ["browser", "taker"]  # fixtures

BATCHES = (f"page-{n}" for n in itertools.count())

EVERYTHING = own_layout(
    {
        "article": {"join": "article", "marks": "spans", "dates": True},
        "spans": {"kind": "spans"},
        "options": {"kind": "list"},
        "parts": {"kind": "paragraphs"},
    },
    {
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


def plain(name: str) -> Layout:
    """A layout without its practice."""
    return load_layout(name).model_copy(update={"practice": ()})


def shown(
    layout: Layout | str,
    mode: page.PageMode = "preview",
    items: int = 1,
    deliver: Mapping[str, Any] = {},
    **fields: Any,
) -> tuple[str, str]:
    """A page of a layout and its batch."""
    batch, layout = next(BATCHES), plain(layout) if isinstance(layout, str) else layout
    hits = [] if mode == "mturk" else [hit(layout.name, items, **fields)]
    delivery = Delivery(**deliver)
    return page.render(layout, hits, batch=batch, mode=mode, delivery=delivery), batch


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
    assert answers["part"] == {"start": start, "end": start + 6, "text": "family", "paragraph": 1}
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
    browser.drag("hre")  # a part of a word is the word
    browser.tap_ends("four five")
    assert browser.until(lambda: marked() == ["three", "four five"], "two marks")


REQUIREMENTS = [
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
    browser.open(shown("easy_question")[0])
    area = browser.one("textarea")
    for text, message in REQUIREMENTS:
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


def test_a_draft_survives_a_reload_and_goes_with_the_submission(browser: Browser) -> None:
    browser.size("wide")
    text, batch = shown("write_questions", "static", 2, {"code": "C0DE"})
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
    text, batch = shown("judge_question", "static", deliver={"code": "C0DE"})
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


def test_a_worker_without_an_id_is_asked_for_it(browser: Browser) -> None:
    browser.size("phone")
    browser.js("localStorage.clear()")
    browser.open(shown("judge_question", "static")[0], "?PROLIFIC_PID={{%PROLIFIC_PID%}}")
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
    text = page.render(plain(name), hits, batch=next(BATCHES), mode="static")
    browser.open(text, f"?workerId=w&{query}")
    if question:
        assert question in browser.text("#item")
    else:
        assert "no such set of items" in browser.text("#notice")


# Keyboard only: nothing below clicks.


def test_the_rest_is_no_by_one_key(browser: Browser) -> None:
    browser.size("wide")
    browser.open(shown("judge_toxicity", items=2)[0])
    for keys in (("n", "y", "n", "0"), ("0",)):
        browser.keys(*keys)
        browser.chord(Keys.CONTROL, Keys.ENTER)
    given = [*browser.submission()["answers"].values()]
    assert [[k for k, v in one.items() if v] for one in given] == [["insult"], []]
    assert [len(one) for one in given] == [6, 6]


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
    browser.open(shown("ckl_expert")[0])
    browser.one("input[type=search]").send_keys("ANNAN ghana")
    assert [p.text.split(".")[0] for p in browser.all(".passage p")] == ["Friday, October 12, 2001"]
    assert browser.texts(".passage h4") == ["Peace Prize"]
    assert set(browser.texts("mark.hit")) == {"Annan", "Ghana"}
    browser.keys(Keys.ESCAPE)
    assert len(browser.all(".passage p")) == 7


def test_a_submission_is_posted_and_kept_where_that_fails(browser: Browser, taker: Taker) -> None:
    taker.busy = 1
    browser.size("wide")
    post, link = f"{taker.address}/busy", "https://x.org/c"
    deliver = {"post": post, "code": "DONE", "complete": link}
    text, batch = shown("judge_question", "static", deliver=deliver)
    browser.open(text, "?workerId=W")
    browser.keys("g")
    browser.press("Submit")
    browser.wait("return document.querySelector('#end h2')?.textContent === 'Not sent yet'")
    assert browser.all("#code") == []
    browser.refresh()  # what has not arrived is sent by the next load
    assert browser.text("#code") == "DONE"
    assert browser.one("#end a").get_attribute("href") == link
    assert [path for path, _ in taker.posted] == ["/busy", "/busy"]
    sent = json.loads(taker.posted[1][1])
    assert (sent["batch"], sent["worker"]) == (batch, "W")
    assert set(browser.requests()) == {post}


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
    browser.open(shown("judge_question")[0])
    browser.ask("look_away")
    browser.keys("g")
    browser.press("Submit")
    assert 27 <= browser.submission()["item_seconds"]["item-0"] < 60


# Ways out and ways in: broken items, remarks, consent, practice, no answer.

MARKUP = '<b onclick="x">=1+1</b> </script> ${data}'


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_an_item_can_be_called_broken_on_every_layout(browser: Browser, name: str) -> None:
    layout = plain(name)
    browser.size("wide")
    browser.open(shown(layout)[0])
    browser.click(".ways summary")
    browser.click(".ways .option")
    assert [
        a for a in browser.all(".work .answer") if not a.find_elements("xpath", "..//summary")
    ] == []
    browser.js("arguments[0].focus()", browser.one(".ways textarea"))
    browser.insert(MARKUP)
    browser.press("Submit")
    given = browser.submission()["answers"]["item-0"]
    assert given == {"broken": ["unreadable"], "comment": MARKUP}
    assert problems(layout, FIELDS[name], given) == []
    other = next(a for a in layout.answers if a not in ("broken", "comment"))
    wrong = problems(layout, FIELDS[name], {**given, other: "x"})
    assert wrong and "is not asked here" in wrong[0]


def test_no_question_may_be_about_the_news(browser: Browser) -> None:
    layout = plain("ckl_question")
    browser.size("wide")
    browser.open(shown(layout)[0])
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
    browser.open(shown(layout, prediction=None)[0])
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
    browser.open(shown("verify_facts", valid_from=given, valid_to=None)[0])
    facts = browser.texts(".brief .fact")
    assert f"From\n{said}" in facts
    assert "Kofi Annan was Secretary-General of the United Nations." in browser.text(".brief")


def test_consent_comes_first_and_once(browser: Browser) -> None:
    consent = Consent(text=("We study news.", MARKUP), contact="ada@example.org")
    layout = plain("judge_question").model_copy(update={"consent": consent})
    text, _ = shown(layout, "static")
    browser.size("phone")
    browser.open(text, "?workerId=W1")
    assert MARKUP in browser.text("#consent")
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
    text, batch = shown(layout, "static")
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
    browser.open(
        shown(layout, "static")[0], "?workerId=P1"
    )  # whoever has practised does not do it again
    assert browser.text("#count") == ""


# The static platform: links, a page in a browser, posting or saving, a code, and back again.


def links(batch: HitBatch) -> list[dict[str, str]]:
    with (batch.folder / "static" / "links.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("split", [False, True])
def test_links(split: bool, tmp_path: Path) -> None:
    batch = batch_of(tmp_path, delivery=Delivery(split_pages=split))
    one, two = (hit.id for hit in batch.hits)
    files = ["hit-0001.html?", "hit-0002.html?"]
    who = "&".join(f"{n}={{{{%{n}%}}}}" for n in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"))
    names = [p + who for p in (files if split else ["task.html?hit=1&", "task.html?hit=2&"])]
    assert [tuple(link.values()) for link in links(batch)] == [
        ("1", one, names[0]),
        ("1", two, names[1]),
        ("2", one, names[0]),
        ("2", two, names[1]),
    ]
    static = batch.folder / "static"
    pages = sorted(p.name for p in static.glob("*.html"))
    assert pages == ([p.rstrip("?") for p in files] if split else ["task.html"])
    assert sorted(p.name for p in static.glob("hits/*")) == (
        [] if split else ["0001.json", "0002.json"]
    )


NOTE = "=1+1 <b> \U0001f600 ${x}"


def _work(browser: Browser, address: str) -> None:
    browser.size("wide")
    browser.go(address)
    browser.ask("answer", 4, NOTE)


def test_posted_by_a_browser(browser: Browser, taker: Taker, tmp_path: Path) -> None:
    how = Delivery(post=taker.address, code="CODE-42", complete="https://example.org/done?cc=42")
    batch = batch_of(tmp_path, delivery=how)
    with served(batch.folder / "static") as pages:
        _work(browser, f"{pages.address}/task.html?hit=2&PROLIFIC_PID=5f0worker&SESSION_ID=s1")
        assert browser.text("#code") == "CODE-42"
        assert browser.js("return document.querySelector('#end a').href") == how.complete
    ((_, body),) = taker.posted
    made = json.loads(body)
    assert (made["batch"], made["hit"]) == (batch.id, batch.hits[1].id)
    assert (made["worker"], made["assignment"]) == ("5f0worker", "s1")
    assert {a["note"] for a in made["answers"].values()} == {NOTE}
    path = tmp_path / "posted.jsonl"
    path.write_bytes(body + b"\n")
    assert take(tmp_path, path).new == 1
    assert refusals(tmp_path) == []


def test_saved_by_a_browser(browser: Browser, tmp_path: Path) -> None:
    """Opened from disk, with no server at all: the file that a worker saves and sends."""
    batch = batch_of(tmp_path, delivery=Delivery(split_pages=True))
    first = batch.folder / "static" / "hit-0001.html"
    _work(browser, f"{first.as_uri()}?workerId=R4WID")
    assert "opened from a file" in browser.text("#notice")
    browser.click("#end a")
    path = browser.folder / f"{batch.id}-{batch.hits[0].id}-R4WID.json"
    browser.saved(path.name)
    done = take(tmp_path, path)
    assert (done.new, refusals(tmp_path)) == (1, [])
    path.write_text("{" + path.read_text("utf-8"), "utf-8")
    done = take(tmp_path, path)
    assert f"{path.name}:1: not valid JSON" in "\n".join(done.lines())
    ((name, _, reason, _),) = refusals(tmp_path)
    assert (name, reason) == (path.name.replace("R4WID", "…"), "not valid JSON")
    outputs = [p for p in (tmp_path / "judgments").rglob("*") if p.is_file()]
    assert not any(b"R4WID" in p.read_bytes() for p in outputs)


# The page refuses and takes the same texts as `annotation.checks`: one table for both.
CASES: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("annotation_checks.json").read_text("utf-8")
)
CHECKS = list({json.dumps(case["check"]): case["check"] for case in CASES}.values())
NAMES = sorted({name for case in CASES for name in case.get("fields", {})})


def checking(checks: list[Any], cases: list[dict[str, Any]], folder: Path, batch: str) -> str:
    """A page that asks for a text by each of some checks, with an item for each case."""
    texts = {"kind": "text", "label": "A", "required": False}
    layout = own_layout(
        {name: {"optional": True} for name in NAMES},
        {f"a{n}": texts | {"check": check} for n, check in enumerate(checks)},
    )
    (folder / "task.html.j2").write_text("{{ everything() }}")
    items = tuple(Item(f"i{n}", f"r{n}", case.get("fields", {})) for n, case in enumerate(cases))
    return page.render(layout.located(folder), [Hit("h", items)], batch=batch, mode="preview")


def test_the_page_finds_the_same_problems(browser: Browser, tmp_path: Path) -> None:
    browser.size("wide")
    wrong, seen = [], 0
    for first in range(0, len(CHECKS), 4):  # few answers on a page: each follows every key
        checks = CHECKS[first : first + 4]
        cases = [case for case in CASES if case["check"] in checks]
        browser.open(checking(checks, cases, tmp_path, f"checks-{first}"))
        plan = [[checks.index(case["check"]), case["text"], case is cases[-1]] for case in cases]
        for case, (refused, says, invalid) in zip(cases, browser.ask("typed", plan), strict=True):
            seen += 1
            expected = bool(case["problem"] and case["text"].strip())
            named = not refused or case["problem"] in says
            if refused != expected or (invalid == "true") != refused or not named:
                wrong.append((case, says))
        assert browser.messages() == []
    assert wrong == []
    assert seen == len(CASES)
