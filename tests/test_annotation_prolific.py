"""Prolific: links, figures, its list of participants, and files that approve, reject and pay."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from factdrift.annotation.batch import HitBatch, read_batch
from factdrift.annotation.hits import make_batch
from factdrift.annotation.layout import Pay, Qualifications
from factdrift.annotation.order import Delivery
from factdrift.annotation.platforms import find_platform
from factdrift.annotation.platforms.base import write_csv
from factdrift.annotation.platforms.prolific import read_participants, screening
from factdrift.annotation.results import ImportReport
from factdrift.builders.core.errors import UserError
from tests.annotation_workers import LAYOUT, batch_of, hand_in, order, refusals, submission, take
from tests.tables import read_table

CASES = read_table("annotation_platforms")
URL = "https://annotate.example.org/lab"
IDS = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
CHECKS = """\
attention_per_hit: 2
attention:
  - {kind: instruction, fields: {question: "This is a check: choose No."}, answers: {verdict: no}}
  - {kind: nonsense, fields: {question: "Were you born on 31 February?"}, answers: {verdict: no}}
"""
STUDY = "64f000000000000000000000"


def person(n: int) -> str:
    return f"{n:024x}"


def session(n: int) -> str:
    return f"{0xABC0000 + n:024x}"


def made(tmp: Path, minutes: int = 6, **more: Any) -> HitBatch:
    """A batch for Prolific with two checks a HIT, paid by the minutes."""
    asked = order(tmp, platform="prolific", delivery=Delivery(url=URL), **more)
    text = LAYOUT.split("attention:")[0] + CHECKS
    pay = f"pay: {{per_hit: 1.50, minutes_per_hit: {minutes}, bonus: 0.25}}"
    text = text.replace("pay: {per_hit: 0.50, minutes_per_hit: 2}", pay)
    (tmp / "quick" / "layout.yaml").write_text(text, "utf-8")
    return read_batch(make_batch(asked)[0])


def work(batch: HitBatch, n: int, hit: int, fails: int = 0, **more: Any) -> dict[str, Any]:
    """A submission of participant n, who fails some of the checks."""
    ids = {"worker": person(n), "assignment": session(n), "study": STUDY}
    done = submission(batch, person(n), hit) | ids
    checks = [item.id for item in batch.hits[hit].items if not item.row]
    for number, item in enumerate(checks):
        done["answers"][item] = {"verdict": "yes" if number < fails else "no"}
    return done | more


def export(tmp: Path, status: dict[int, str]) -> Path:
    path = tmp / "prolific_export.csv"
    head = ("Submission id", "Participant id", "Status", "Started at", "Fluent languages")
    more = ("2026-11-22T10:00:00Z", "English, Welsh")
    write_csv(path, [head, *((session(n), person(n), word, *more) for n, word in status.items())])
    return path


def taken(tmp: Path, given: list[dict[str, Any]], people: Path | None, **more: Any) -> ImportReport:
    return take(tmp, hand_in(tmp, given), participants=people, **more)


def rows(folder: Path, ending: str) -> list[list[str]]:
    found = list(folder.glob(f"*{ending}"))
    return list(csv.reader(found[0].open(encoding="utf-8"))) if found else []


def test_links_and_figures(tmp_path: Path) -> None:
    batch = made(tmp_path)
    folder = batch.folder / "prolific"
    assert rows(folder, "taskflow.csv") == [
        [f"{URL}/?hit={n}&{IDS}", "2"] for n in range(1, len(batch.hits) + 1)
    ]
    text = (folder / "README.txt").read_text("utf-8")
    for said in (f"{URL}/?{IDS}", "Places: 4 (2 HITs, 2 people each)", "1.50 USD (15.00 USD"):
        assert said in text
    assert "Work is rejected for 2 failed checks of the kinds instruction, nonsense" in text
    assert sorted(sum(not i.row for i in hit.items) for hit in batch.hits) == [2, 2]


@pytest.mark.parametrize(
    ("wanted", "text"),
    CASES["prolific_screening"],
)
def test_whom_a_study_is_for(wanted: dict[str, Any], text: str) -> None:
    found = screening(Qualifications.model_validate(wanted))
    assert found == f"{text}first language: English"


def test_it_needs_an_address(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="need the address of the pages"):
        batch_of(tmp_path, platform="prolific")


@pytest.mark.parametrize(("minutes", "enough"), [("4.99", 1), ("5", 2)])
def test_from_five_minutes_up_two_failures_reject(minutes: str, enough: int) -> None:
    pay = Pay.model_validate({"per_hit": "1", "minutes_per_hit": minutes})
    assert find_platform("prolific").rejection.failures_to_reject(pay) == enough


GIVEN = {0: 0, 1: 1, 2: 2, 3: 0, 4: 0}
"""Checks that each participant fails; 3 returned the study, 4 is invented."""
STATUS = {0: "AWAITING REVIEW", 1: "APPROVED", 2: "AWAITING REVIEW", 3: "RETURNED"}


@pytest.mark.parametrize(
    ("minutes", "approved", "rejected", "paid"), [(6, [0, 1], [2], [0]), (4, [0], [1, 2], [0])]
)
def test_who_is_approved_rejected_and_paid(
    tmp_path: Path, minutes: int, approved: list[int], rejected: list[int], paid: list[int]
) -> None:
    """From five minutes up two failed checks reject, below one does; one sets answers aside."""
    batch = made(tmp_path, minutes)
    given = [work(batch, n, n % 2, fails) for n, fails in GIVEN.items()]
    given += [given[0], work(batch, 0, 0, seconds=99.0)]  # sent twice, and done twice
    people = export(tmp_path, STATUS)
    done = taken(tmp_path, given, people, feedback=tmp_path / "pay")
    assert (done.new, done.known, done.further) == (3, 2, 0)
    reasons = [r[2] for r in refusals(tmp_path)]
    assert reasons == ["returned by the participant", "unknown participant"]
    ids = [[STUDY, session(n), person(n)] for n in approved]
    assert rows(tmp_path / "pay", "approve.csv")[1:] == ids
    found = rows(tmp_path / "pay", "reject.csv")
    assert found[0] == ["study_id", "submission_id", "participant_id", "message"]
    assert [row[:3] for row in found[1:]] == [[STUDY, session(n), person(n)] for n in rejected]
    assert all(len(row[3]) >= 100 for row in found[1:])
    assert rows(tmp_path / "pay", "bonus.csv") == [[person(n), "0.25"] for n in paid]
    assert (tmp_path / "pay" / ".gitignore").read_text() == "*\n"
    outputs = [p for p in (tmp_path / "judgments").rglob("*") if p.is_file()]
    for n in GIVEN:
        assert not any(person(n).encode() in p.read_bytes() for p in outputs)


def test_who_returns_the_study_later_is_taken_out(tmp_path: Path) -> None:
    batch = made(tmp_path)
    given = [work(batch, n, n % 2) for n in (0, 1)]
    assert taken(tmp_path, given, None).new == 2
    assert "nobody's id was checked" in "\n".join(taken(tmp_path, given, None).remarks)
    people = export(tmp_path, {0: "APPROVED", 1: "RETURNED"})
    done = taken(tmp_path, given, people)
    assert "5 earlier judgments of such participants were taken out" in done.remarks
    assert done.judgments == {"quick": 5}


def test_a_session_is_its_participants_and_an_id_looks_like_one(tmp_path: Path) -> None:
    batch = made(tmp_path)
    given = [work(batch, 0, 0, assignment=session(1)), work(batch, 1, 0, worker="=cmd|calc")]
    taken(tmp_path, given, export(tmp_path, {0: "APPROVED", 1: "APPROVED"}))
    assert [r[2] for r in refusals(tmp_path)] == ["unknown session", "not an id of Prolific"]


@pytest.mark.parametrize(
    ("text", "message"),
    CASES["prolific_lists"],
)
def test_a_list_that_is_none(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "list.csv"
    path.write_text(text)
    with pytest.raises(UserError, match=message):
        read_participants(path)


def test_what_names_people_goes_into_no_release(tmp_path: Path) -> None:
    batch = made(tmp_path)
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "manifest.json").write_text("{}")
    with pytest.raises(UserError, match="a folder of a release or batch"):
        taken(tmp_path, [work(batch, 0, 0)], None, feedback=tmp_path / "release" / "pay")
    assert json.loads((tmp_path / "release" / "manifest.json").read_text()) == {}
