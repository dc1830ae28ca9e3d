"""A whole study for Prolific: batch, server, participants in Chromium and by HTTP, pay, gold."""

import csv
import json
import shutil
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

pytest.importorskip("selenium", reason="needs selenium (extra dev)")
pytest.importorskip("uvicorn", reason="needs uvicorn (extra serve)")
pytest.importorskip("starlette", reason="needs Starlette (extra serve)")

from factdrift.annotation.batch import HitBatch, read_batch
from factdrift.annotation.hits import BatchOrder, make_batch
from factdrift.annotation.layout import FOLDER
from factdrift.annotation.platforms.base import Delivery
from factdrift.annotation.results import import_results
from tests.browser import Browser, browser
from tests.conftest import run
from tests.receiving import Server, answers_of, call, received, serving

__all__ = ["browser"]  # a fixture

STUDY = "64f000000000000000000000"
CHECKS = """\
attention_per_hit: 2
attention:
"""
CHECK = """\
  - kind: instruction
    fields: {{statement: "This is check {n}. Choose Not in the page.", subject: Check,
      relation: check, suggested: Check, mention: check, page: ["This is check {n}."]}}
    answers: {{verdict: unanswerable}}
"""


def person(n: int) -> str:
    return f"{n:024x}"


def session(n: int) -> str:
    return f"{0xABC0000 + n:024x}"


def me(n: int) -> dict[str, str]:
    return {"worker": person(n), "assignment": session(n), "study": STUDY}


def batch_for_prolific(tmp: Path, people: int) -> HitBatch:
    """A batch of `verify_facts` of the sample, each HIT wanted often enough for these people."""
    run("release", "timeqa", "--out", tmp / "releases", "--build", tmp / "build")
    layout = tmp / "own" / "verify_facts"
    shutil.copytree(FOLDER / "verify_facts", layout)
    path = layout / "layout.yaml"
    text = path.read_text("utf-8").replace(
        "rule: {by: sampled, sampled: 2, max_error: 0.1}", "rule: {by: majority}"
    )
    text = text.replace("minutes_per_hit: 5}", "minutes_per_hit: 5, bonus: 0.30}")
    text += CHECKS + "".join(CHECK.format(n=n) for n in (1, 2, 3))
    hits = max(2, min(80, people // 6))
    text = text.replace("assignments: 1", f"assignments: {people // hits}")
    path.write_text(text, "utf-8")
    order = BatchOrder(
        str(layout),
        "timeqa",
        "prolific",
        4 * hits,
        releases=tmp / "releases",
        out=tmp / "hits",
        delivery=Delivery(url="https://annotate.example.org/study"),
    )
    return read_batch(make_batch(order)[0])


def answer(fields: Mapping[str, Any], cheats: bool) -> dict[str, Any]:
    if fields["subject"] == "Check" and not cheats:
        return {"verdict": "unanswerable"}
    found = bool(fields.get("mention"))
    return {"verdict": "correct", "time": "known"} if found else {"verdict": "unanswerable"}


def by_http(server: Server, batch: HitBatch, n: int, kind: str) -> str:
    """What a participant comes to: `done`, `left` or `none`; cheats fail every check."""
    status, given = call(server.address, "hit", me(n))
    if status == 409:
        return "none"
    hit = given["hit"]
    for item in hit["items"]:
        item["fields"] |= {k: hit["texts"][at] for k, at in item.get("same", {}).items()}
    if kind == "leaves":
        assert call(server.address, "leave", me(n))[0] == 200
        return "left"
    made = answers_of(hit, batch.id, person(n), assignment=session(n), study=STUDY)
    made["answers"] = {i["id"]: answer(i["fields"], kind == "cheats") for i in hit["items"]}
    status, reply = call(server.address, "submissions", made)
    assert (status, reply["code"]) == (200, "C0DE")
    assert reply["complete"] == "https://app.prolific.com/submissions/complete?cc=C0DE"
    return "done"


_ANSWER = """
const check = document.querySelector('#item').innerText.includes('This is check');
const pick = (text) => [...document.querySelectorAll('#item .option')]
  .find((o) => o.checkVisibility() && o.innerText.startsWith(text));
const first = (!check && pick('Correct')) || pick('Not in the page');
if (!first) return;  // it is being sent
first.click();
if (pick('Known')) pick('Known').click();
document.getElementById('next').click();
"""


def by_chromium(browser: Browser, server: Server, n: int) -> None:
    """A participant who comes by the link that Prolific has filled in."""
    ids = f"PROLIFIC_PID={person(n)}&STUDY_ID={STUDY}&SESSION_ID={session(n)}"
    address = f"{server.address}?{ids}"
    browser.own |= {server.address + name for name in ("", "hit", "submissions", "favicon.ico")}
    browser.go(address)
    for _ in range(20):
        if browser.js("return Boolean(document.querySelector('#end:not([hidden])'))"):
            break
        browser.js(_ANSWER)
    assert browser.text("#code") == "C0DE"
    browser.go(address)
    assert "already" in browser.text("#end h2")
    assert browser.text("#code") == "C0DE"
    assert browser.messages() == []
    assert browser.requests() == []


@pytest.mark.slow
@pytest.mark.parametrize(("browsers", "http"), [(2, 40), (50, 2_000)])
def test_a_study(browser: Browser, tmp_path: Path, browsers: int, http: int) -> None:
    batch = batch_for_prolific(tmp_path, (browsers + http) * 3 // 4)
    out = tmp_path / "results"
    kinds = dict.fromkeys(range(browsers), "works")
    for n in range(browsers, browsers + http):
        kinds[n] = {0: "leaves", 1: "cheats", 2: "returns", 3: "is invented"}.get(n % 10, "works")
    browser.size("wide")
    with serving(batch.folder, out, "--code", "C0DE", "--rate", "0") as server:
        came = dict.fromkeys(range(browsers), "done")
        for n in came:
            by_chromium(browser, server, n)
        # those who work come first, so that some HITs have nobody's answers set aside
        others = sorted((n for n in kinds if n not in came), key=lambda n: kinds[n] != "works")
        with ThreadPoolExecutor(16) as pool:
            how = pool.map(lambda n: by_http(server, batch, n, kinds[n]), others)
            came |= dict(zip(others, how, strict=True))
        health = call(server.address, "health")[1]
        said = server.stop()
    assert STUDY not in said and person(1) not in said
    done = {n for n, what in came.items() if what == "done"}
    lines = received(out, batch)
    assert Counter(one["worker"] for one in lines) == Counter(person(n) for n in done)
    assert {(one["worker"], one["assignment"]) for one in lines} == {
        (person(n), session(n)) for n in done
    }
    assert {one["study"] for one in lines} == {STUDY}
    assert health["received"] == health["useful"] == len(done)
    assert health["wanted"] - health["useful"] <= sum(w == "left" for w in came.values())

    export = tmp_path / "prolific_export.csv"
    with export.open("w", encoding="utf-8", newline="") as file:
        write = csv.writer(file)
        write.writerow(["Submission id", "Participant id", "Status", "Started at"])
        for n, kind in kinds.items():
            if kind != "is invented":
                gone = kind in ("leaves", "returns") or came[n] == "none"
                status = "RETURNED" if gone else "AWAITING REVIEW"
                write.writerow([session(n), person(n), status, "2026-11-22T10:00:00Z"])
    imported = import_results(
        [str(out / "verify_facts-0001")],
        hits=tmp_path / "hits",
        out=tmp_path / "judgments",
        participants=export,
        feedback=tmp_path / "pay",
    )
    good = {n for n in done if kinds[n] == "works"}
    cheats = {n for n in done if kinds[n] == "cheats"}
    refused = Counter(kinds[n] for n in done if kinds[n] in ("returns", "is invented"))
    assert imported.new == len(good | cheats)
    assert imported.refused == {
        "returned by the participant": refused["returns"],
        "unknown participant": refused["is invented"],
    }

    def people(ending: str, column: int) -> list[str]:
        (path,) = (tmp_path / "pay").glob(f"*-{ending}.csv")
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        return sorted(row[column] for row in rows if row[0] != "study_id")

    assert people("approve", 2) == sorted(map(person, good))
    assert people("reject", 2) == sorted(map(person, cheats))
    assert people("bonus", 0) == sorted(map(person, good))
    gold = pq.read_table(tmp_path / "judgments" / "verify_facts" / "gold.parquet").to_pylist()
    # what was set aside leaves rows open: they go into the next batch, with --open
    assert Counter(row["decision"] for row in gold)["accepted"] >= 2
    report = (tmp_path / "judgments" / "verify_facts" / "report.html").read_text("utf-8")
    assert "prolific" in report
    run(
        *("release", "timeqa", "--out", tmp_path / "releases", "--build", tmp_path / "build"),
        *("--gold", tmp_path / "judgments"),
    )
    (human,) = (tmp_path / "releases" / "timeqa").glob("*/data/human")
    assert pq.ParquetDataset(human).read().num_rows > 0
    ids = [person(n).encode() for n in range(0, max(done) + 1, 7)]
    for folder in ("judgments", "releases"):
        for path in (tmp_path / folder).rglob("*"):
            if path.is_file():
                data = path.read_bytes()
                assert not any(one in data for one in ids), path
    print(json.dumps({"came": Counter(came.values()), "health": health}))
