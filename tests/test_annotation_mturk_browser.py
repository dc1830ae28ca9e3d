"""A HIT as MTurk shows it, in a real browser: what its form would post has the answers."""

import base64
import csv
import html
import json
from pathlib import Path
from urllib.parse import parse_qs, urlencode

import pytest

pytest.importorskip("selenium", reason="needs selenium (extra dev)")
from selenium.webdriver.common.keys import Keys

from factdrift.annotation.batch import HitBatch
from factdrift.annotation.platforms.mturk import SITE
from factdrift.annotation.results import import_results
from tests.browser import Browser, Taker, browser, taker
from tests.simulated_workers import COLUMNS, HOSTILE, written

__all__ = ["browser", "taker"]  # fixtures

# What the requester site makes of a template: its form around it, its button below.
FRAME = """<!DOCTYPE html><html><head><meta http-equiv='Content-Type'
 content='text/html; charset=UTF-8'/></head><body>
<form name='mturk_form' method='post' id='mturk_form' action='%s/mturk/wrong'>
<input type='hidden' value='' name='assignmentId' id='assignmentId'/>
%s
<p><input type='submit' id='submitButton' value='Submit' /></p></form></body></html>"""


def template(batch: HitBatch, taker: Taker) -> str:
    """The page of the first HIT by the requester site."""
    folder = batch.folder / "mturk"
    with (folder / "hits.csv").open() as file:
        row = next(csv.DictReader(file))
    text = (folder / "template.html").read_text()
    for name, value in row.items():
        text = text.replace("${" + name + "}", html.escape(value))
    return FRAME % (taker.address, text)


def test_a_form_posts_what_was_answered(browser: Browser, taker: Taker, tmp_path: Path) -> None:
    batch = written(tmp_path / "hits", "answer_question", "mturk")
    taker.pages["/hit"] = template(batch, taker).replace(SITE, taker.address)
    asked = {
        "assignmentId": "A1",
        "hitId": "H1",
        "workerId": "W1",
        "turkSubmitTo": "https://evil.example",
    }
    browser.size("wide")
    browser.go(f"{taker.address}/hit?{urlencode(asked)}")
    browser.one("#item .option")
    assert not browser.all("#submitButton")
    assert not browser.all("#who")
    browser.keys("y")
    browser.keys(Keys.ENTER)  # in a radio button: submits no outer form
    browser.drag("succeeded Kofi Annan of Ghana")
    browser.all(".answer.text textarea")[0].send_keys("Kofi Annan =1+1 ${data} <b>")
    browser.press("Next")
    assert HOSTILE.split("\u202b")[0].strip()[:25] in browser.text("#item")
    browser.keys("n")
    assert [m for m in browser.messages() if "favicon" not in m] == []
    browser.press("Submit")
    path, body = browser.until(lambda: taker.posted, "the form").pop()
    form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
    assert path == "/mturk/externalSubmit"
    assert {k: v for k, v in form.items() if k != "submission"} == {
        "assignmentId": "A1",
        "hitId": "H1",
        "workerId": "W1",
    }
    assert taker.posted == []
    results = tmp_path / "results.csv"
    with results.open("w", newline="") as file:
        write = csv.DictWriter(file, [*COLUMNS, "Answer.submission", "Approve", "Reject"])
        write.writeheader()
        row = {"AssignmentId": "A1", "WorkerId": "W1", "Answer.submission": form["submission"]}
        write.writerow(row)
    done = import_results([str(results)], hits=tmp_path / "hits", out=tmp_path / "out")
    assert (done.new, done.refused) == (1, {})
    made = json.loads(base64.b64decode(form["submission"]))
    first, second = (made["answers"][item.id] for item in batch.hits[0].items)
    assert second == {"answerable": "no"}
    assert first["answer"] == "Kofi Annan =1+1 ${data} <b>"
    assert [s["text"] for s in first["evidence"]] == ["succeeded Kofi Annan of Ghana"]


@pytest.mark.parametrize(
    ("to", "action"),
    [
        ("https://www.mturk.com/", "https://www.mturk.com"),
        ("https://workersandbox.mturk.com", "https://workersandbox.mturk.com"),
        ("https://evil.example", "https://www.mturk.com"),
        ("https://www.mturk.com.evil.example", "https://www.mturk.com"),
        ("", "https://www.mturk.com"),
    ],
)
def test_a_template_submits_to_the_site_that_it_is_on(
    to: str, action: str, browser: Browser, taker: Taker, tmp_path: Path
) -> None:
    batch = written(tmp_path / "hits", "paraphrase", "mturk", hits=1)
    taker.pages["/hit"] = template(batch, taker)
    browser.go(f"{taker.address}/hit?{urlencode({'turkSubmitTo': to})}")
    assert browser.js("return document.getElementById('form').action") == (
        f"{action}/mturk/externalSubmit"
    )
