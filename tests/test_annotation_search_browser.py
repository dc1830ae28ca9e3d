"""An expert searches the old corpus in a real browser, opens a passage and marks in it."""

import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("selenium", reason="needs selenium and Chromium")
pytest.importorskip("uvicorn", reason="needs uvicorn (extra serve)")

from factdrift.annotation.batch import HitBatch, read_batch
from factdrift.annotation.hits import BatchOrder, make_batch
from factdrift.annotation.layout import load_layout
from factdrift.annotation.matching import answers_mistake
from factdrift.annotation.submission import Submission, from_text
from tests.annotation_workers import hand_in
from tests.browser import Browser, browser
from tests.conftest import ROOT
from tests.receiving import received, serving

__all__ = ["browser"]
ROW = {
    "id": "0" * 16,
    "cloze": "The prime minister of Ireland is [BLANK].",
    "new_answer": "Micheál Martin",
    "question": "Who is the prime minister of Ireland?",
    "doubts": ["The chosen question was made for another answer: “93”."],
}
UNTIL = date(2020, 4, 30)


def expert_batch(tmp: Path) -> HitBatch:
    """A batch of one row for experts."""
    rows, news = hand_in(tmp, [ROW], "rows.jsonl"), [str(ROOT / "samples/news")]
    order = BatchOrder("ckl_expert", str(rows), "static", news=news, until=UNTIL)
    return read_batch(make_batch(replace(order, build=tmp / "build", out=tmp / "hits"))[0])


def options(tmp: Path) -> tuple[str, ...]:
    return ("--until", str(UNTIL), "--build", str(tmp / "build"))


def test_a_search_is_recorded_and_marked_in(tmp_path: Path, browser: Browser) -> None:
    batch, layout, words = expert_batch(tmp_path), load_layout("ckl_expert"), "Buccaneers"
    query = "Tom Brady Tampa Bay Buccaneers"
    more = (*options(tmp_path), "--code", "C0DE")
    with serving(batch.folder, tmp_path / "results", *more) as server:
        browser.size("wide")
        browser.go(f"{server.address}task.html?participant=ada")
        browser.click('[data-answer="keep"] label')
        browser.click('[data-answer="searches"] input')
        browser.insert(query)
        browser.press("Search")
        browser.click(".found button")
        browser.click('[data-answer="found"] label')
        browser.drag(words)
        browser.click('[data-answer="other_answer"] textarea')
        browser.insert("Leo Varadkar")
        browser.click('[data-answer="other_is"] label')
        browser.click('[data-answer="settled"] label')
        assert browser.overflow() == 0
        browser.press("Submit")
        browser.wait("return !document.querySelector('#end').hidden")
        (line,) = browser.until(lambda: received(tmp_path / "results", batch), "the submission")
        assert browser.text("#end h2") == "Thank you"
        browser.refresh()  # without the session of a recruiting site the code comes again, too
        assert browser.text("#code") == "C0DE"
    line.pop("received")
    given = from_text(json.dumps(line), "", 0)
    assert isinstance(given, Submission)
    assert answers_mistake(given, batch.hits[0], layout) is None
    answers: dict[str, Any]
    (answers,) = line["answers"].values()
    (search,) = answers["searches"]
    assert search["query"] == query
    assert [one["id"] for one in search["opened"]] == search["found"][:1]
    assert answers["other_evidence"]["text"] == words
    assert answers["other_evidence"]["paragraph"] == 10  # behind those that were shown
