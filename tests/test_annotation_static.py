"""The static platform: links, a page in a browser, posting or saving, a code, and back again."""

import csv
import json
from pathlib import Path

import pytest

from factdrift.annotation.batch import HitBatch
from factdrift.annotation.page import Delivery
from tests.annotation_workers import batch_of, refusals, take

pytest.importorskip("selenium", reason="needs selenium (extra dev)")
from tests.browser import Browser, Taker, browser, served, taker

__all__ = ["browser", "taker"]  # fixtures


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


_ANSWER = """
for (let n = 0; n < arguments[0]; n += 1) {
  document.querySelectorAll('.answer.choice input')[n % 2].click();
  const box = document.querySelector('textarea');
  box.value = arguments[1];
  box.dispatchEvent(new Event('input'));
  document.getElementById('next').click();
}
"""
NOTE = "=1+1 <b> \U0001f600 ${x}"


def _work(browser: Browser, address: str) -> None:
    browser.size("wide")
    browser.go(address)
    browser.js(_ANSWER, 4, NOTE)


def test_posted_by_a_browser(browser: Browser, taker: Taker, tmp_path: Path) -> None:
    how = Delivery(post=taker.address, code="CODE-42", complete="https://example.org/done?cc=42")
    batch = batch_of(tmp_path, delivery=how)
    with served(batch.folder / "static") as root:
        _work(browser, f"{root}task.html?hit=2&PROLIFIC_PID=5f0worker&SESSION_ID=s1")
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
    page = batch.folder / "static" / "hit-0001.html"
    _work(browser, f"{page.as_uri()}?workerId=R4WID")
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
