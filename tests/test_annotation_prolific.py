"""Prolific: links, figures, its list of participants, and files that approve, reject and pay."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from factdrift.annotation.batch import HitBatch, load_batch_manifest, read_batch
from factdrift.annotation.hits import batch_summary, make_batch
from factdrift.annotation.layout import Pay, Qualifications
from factdrift.annotation.order import Delivery
from factdrift.annotation.platforms import find_platform
from factdrift.annotation.platforms.base import write_csv
from factdrift.annotation.platforms.prolific import read_participants, screening
from factdrift.annotation.results import ImportReport
from factdrift.builders.core.errors import UserError
from tests.annotation_workers import LAYOUT, batch_of, hand_in, order, refusals, submission, take
from tests.receiving import place_link
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


def person(person_number: int) -> str:
    return f"{person_number:024x}"


def session(person_number: int) -> str:
    return f"{0xABC0000 + person_number:024x}"


def made(tmp_folder: Path, minutes: int = 6, **more_values: Any) -> HitBatch:
    """A batch for Prolific with two checks a HIT, paid by the minutes."""
    batch_order = order(tmp_folder, platform="prolific", delivery=Delivery(url=URL), **more_values)
    text = LAYOUT.split("attention:")[0] + CHECKS
    pay = f"pay: {{per_hit: 1.50, minutes_per_hit: {minutes}, bonus: 0.25}}"
    text = text.replace("pay: {per_hit: 0.50, minutes_per_hit: 2}", pay)
    (tmp_folder / "quick" / "layout.yaml").write_text(text, "utf-8")
    return read_batch(make_batch(batch_order)[0])


def work(
    hit_batch: HitBatch, person_number: int, hit: int, fails: int = 0, **more_values: Any
) -> dict[str, Any]:
    """A submission of participant n, who fails some of the checks."""
    ids = {"worker": person(person_number), "assignment": session(person_number), "study": STUDY}
    person_submission = submission(hit_batch, person(person_number), hit) | ids
    checks = [item.id for item in hit_batch.hits[hit].items if not item.row]
    for number, item in enumerate(checks):
        person_submission["answers"][item] = {"verdict": "yes" if number < fails else "no"}
    return person_submission | more_values


def export(tmp_folder: Path, status: dict[int, str]) -> Path:
    file_path = tmp_folder / "prolific_export.csv"
    column_titles = ("Submission id", "Participant id", "Status", "Started at", "Fluent languages")
    more_values = ("2026-11-22T10:00:00Z", "English, Welsh")
    write_csv(
        file_path,
        [
            column_titles,
            *(
                (session(person_number), person(person_number), word, *more_values)
                for person_number, word in status.items()
            ),
        ],
    )
    return file_path


def taken(
    tmp_folder: Path, submissions: list[dict[str, Any]], people: Path | None, **more_values: Any
) -> ImportReport:
    return take(tmp_folder, hand_in(tmp_folder, submissions), participants=people, **more_values)


def rows(folder: Path, ending: str) -> list[list[str]]:
    csv_files = list(folder.glob(f"*{ending}"))
    return list(csv.reader(csv_files[0].open(encoding="utf-8"))) if csv_files else []


def test_links_and_figures(tmp_path: Path) -> None:
    hit_batch = made(tmp_path)
    folder = hit_batch.folder / "prolific"
    assert rows(folder, "taskflow.csv") == [
        [f"{URL}/{place_link(hit_batch, hit_number, slot_number)}&{IDS}", "1"]
        for slot_number in (1, 2)
        for hit_number in range(1, len(hit_batch.hits) + 1)
    ]
    text = (folder / "README.txt").read_text("utf-8")
    for printed_text in (
        f"{URL}/?{IDS}",
        "4 links, each signed\n   and for one person (2 HITs, 2 people each)",
        "1.50 USD (15.00 USD",
    ):
        assert printed_text in text
    assert "33.3 % (academic and non-profit), 42.8 % (corporate)" in text
    summary_text = "\n".join(batch_summary(hit_batch.folder, load_batch_manifest(hit_batch.folder)))
    assert "6.00 USD in all, without fees" in summary_text
    assert "with prolific's fee 8.00 (academic and non-profit) or 8.57 (corporate)" in summary_text
    assert "Work is rejected for 2 failed checks of the kinds instruction, nonsense" in text
    assert sorted(sum(not item.row for item in hit.items) for hit in hit_batch.hits) == [2, 2]


@pytest.mark.parametrize(
    ("qualifications", "text"),
    CASES["prolific_screening"],
)
def test_whom_a_study_is_for(qualifications: dict[str, Any], text: str) -> None:
    screening_text = screening(Qualifications.model_validate(qualifications))
    assert screening_text == text


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
    hit_batch = made(tmp_path, minutes)
    submissions = [
        work(hit_batch, person_number, person_number % 2, fails)
        for person_number, fails in GIVEN.items()
    ]
    submissions += [
        submissions[0],
        work(hit_batch, 0, 0, seconds=99.0),
    ]  # sent twice, and done twice
    people = export(tmp_path, STATUS)
    import_report = taken(tmp_path, submissions, people, feedback=tmp_path / "pay")
    assert (import_report.new, import_report.known, import_report.further) == (3, 2, 0)
    reasons = [refusal[2] for refusal in refusals(tmp_path)]
    assert reasons == ["returned by the participant", "unknown participant"]
    ids = [[STUDY, session(person_number), person(person_number)] for person_number in approved]
    approved_rows = rows(tmp_path / "pay", "approve.csv")
    assert [row[:3] for row in approved_rows[1:]] == ids
    assert [row[3:] for row in approved_rows] == [
        ["paid", "counted"],
        *(["yes", "no" if GIVEN[person_number] else "yes"] for person_number in approved),
    ]
    rejected_rows = rows(tmp_path / "pay", "reject.csv")
    assert rejected_rows[0][:4] == ["study_id", "submission_id", "participant_id", "message"]
    assert all(row[4:] == ["no", "no"] for row in rejected_rows[1:])
    assert [row[:3] for row in rejected_rows[1:]] == [
        [STUDY, session(person_number), person(person_number)] for person_number in rejected
    ]
    for row in rejected_rows[1:]:
        assert len(row[3]) >= 100
    assert rows(tmp_path / "pay", "bonus.csv") == [
        [person(person_number), "0.25"] for person_number in paid
    ]
    assert (tmp_path / "pay" / ".gitignore").read_text() == "*\n"
    outputs = [
        file_path for file_path in (tmp_path / "judgments").rglob("*") if file_path.is_file()
    ]
    for person_number in GIVEN:
        for file_path in outputs:
            assert person(person_number).encode() not in file_path.read_bytes()


def test_who_returns_the_study_later_is_taken_out(tmp_path: Path) -> None:
    hit_batch = made(tmp_path)
    submissions = [work(hit_batch, person_number, person_number % 2) for person_number in (0, 1)]
    assert taken(tmp_path, submissions, None).new == 2
    assert "nobody's id was checked" in "\n".join(taken(tmp_path, submissions, None).remarks)
    people = export(tmp_path, {0: "APPROVED", 1: "RETURNED"})
    import_report = taken(tmp_path, submissions, people)
    assert "5 earlier judgments of such participants were taken out" in import_report.remarks
    assert import_report.judgments == {"quick": 5}


def test_a_session_is_its_participants_and_an_id_looks_like_one(tmp_path: Path) -> None:
    hit_batch = made(tmp_path)
    submissions = [
        work(hit_batch, 0, 0, assignment=session(1)),
        work(hit_batch, 1, 0, worker="=cmd|calc"),
    ]
    taken(tmp_path, submissions, export(tmp_path, {0: "APPROVED", 1: "APPROVED"}))
    assert [refusal[2] for refusal in refusals(tmp_path)] == [
        "unknown session",
        "not an id of Prolific",
    ]


@pytest.mark.parametrize(
    ("text", "expected_message"),
    CASES["prolific_lists"],
)
def test_a_list_that_is_none(tmp_path: Path, text: str, expected_message: str) -> None:
    file_path = tmp_path / "list.csv"
    file_path.write_text(text)
    with pytest.raises(UserError, match=expected_message):
        read_participants(file_path)


def test_what_names_people_goes_into_no_release(tmp_path: Path) -> None:
    hit_batch = made(tmp_path)
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "manifest.json").write_text("{}")
    with pytest.raises(UserError, match="a folder of a release or batch"):
        taken(tmp_path, [work(hit_batch, 0, 0)], None, feedback=tmp_path / "release" / "pay")
    assert json.loads((tmp_path / "release" / "manifest.json").read_text()) == {}


SECOND_STUDY = "64f111111111111111111111"


def test_the_list_of_one_study_leaves_the_work_of_another_alone(tmp_path: Path) -> None:
    hit_batch = made(tmp_path)
    first_study = [work(hit_batch, person_number, person_number % 2) for person_number in (0, 1)]
    taken(tmp_path, first_study, export(tmp_path, {0: "APPROVED", 1: "APPROVED"}))
    second_study = [
        work(hit_batch, person_number, person_number % 2, study=SECOND_STUDY)
        for person_number in (2, 3)
    ]
    people = export(tmp_path, {2: "APPROVED", 3: "REJECTED"})
    report = taken(tmp_path, first_study + second_study, people)
    assert (report.known, report.new) == (2, 1)
    assert report.refused == {"rejected on the platform": 1}
    assert report.judgments == {"quick": 15}
    # a stranger of either study, and one who names a study of their own
    strangers = [
        work(hit_batch, 4, 0),
        work(hit_batch, 5, 0, study=SECOND_STUDY),
        work(hit_batch, 6, 0, study="64f222222222222222222222"),
        # by a link with the name of another study: it makes no list of that study
        work(hit_batch, 2, 1, study=STUDY),
    ]
    report = taken(tmp_path, first_study + second_study + strangers, people)
    assert report.judgments == {"quick": 20}
    reasons = [refusal[2] for refusal in refusals(tmp_path)]
    assert reasons == [
        "rejected on the platform",
        "of a study that the list is not of",
        "unknown participant",
        "of a study that the list is not of",
    ]
    # both lists in one folder, the first by the name that Prolific gives it
    (tmp_path / "lists").mkdir()
    people.rename(tmp_path / "lists" / "prolific_export_2.csv")
    people = export(tmp_path, {0: "RETURNED", 1: "APPROVED"})
    people.rename(tmp_path / "lists" / f"prolific_export_{STUDY}.csv")
    report = taken(tmp_path, first_study + second_study, tmp_path / "lists")
    assert report.refused == {"returned by the participant": 1, "rejected on the platform": 1}
    # what the platform said is remembered, and taken back by a later list
    assert taken(tmp_path, first_study, None).refused == {"returned by the participant": 1}
    people = export(tmp_path, {0: "APPROVED", 1: "APPROVED"})
    assert taken(tmp_path, first_study, people).new == 1


def test_a_page_without_a_session_is_matched_by_its_participant(tmp_path: Path) -> None:
    hit_batch = made(tmp_path)
    submissions = [work(hit_batch, 0, 0, assignment="", study=""), work(hit_batch, 1, 1)]
    people = export(tmp_path, {0: "AWAITING REVIEW", 1: "APPROVED"})
    report = taken(tmp_path, submissions, people, feedback=tmp_path / "pay")
    assert report.new == 2
    assert [row[1] for row in rows(tmp_path / "pay", "approve.csv")[1:]] == [session(0), session(1)]
    report = taken(tmp_path, submissions, None)
    assert (report.new, report.known, report.further) == (0, 2, 0)
    with people.open("a") as list_file:  # the participant came twice: which session is it?
        list_file.write(f"{session(9)},{person(0)},APPROVED,,\n")
    assert taken(tmp_path, submissions, people).known == 2
    other_out = take(tmp_path, tmp_path / "results.jsonl", participants=people, out="other")
    assert other_out.refused == {"no session, and the participant has several": 1}
