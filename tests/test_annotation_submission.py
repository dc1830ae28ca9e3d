"""A submission as it is read: what is taken, and what is wrong with anything else."""

import json
from typing import Any

import msgspec
import pytest

from factdrift.annotation.submission import (
    SUBMISSION_FORMAT,
    Refused,
    Submission,
    decode_json,
    submission_from_text,
    submission_from_value,
)
from factdrift.builders.core.limits import LONGEST_ROW
from tests.annotation_workers import handed_in
from tests.tables import read_table

CASES = read_table("annotation_platforms")
GOOD = handed_in("b", "h", "A1", {"i": {"verdict": "yes"}}, assignment="s", seconds=84.2)


def test_a_submission() -> None:
    read_submission = submission_from_text(json.dumps(GOOD), "f.jsonl", 3)
    assert isinstance(read_submission, Submission)
    more_values = {"where": "f.jsonl", "line": 3, "study": "", "received": "", "status": ""}
    more_values |= {"consent": None, "reading_seconds": None}
    assert msgspec.structs.asdict(read_submission) == GOOD | more_values


def test_a_consent_and_what_a_page_cannot_say() -> None:
    consent = {"text": "ab" * 32, "day": "2026-11-27"}
    said = GOOD | {"consent": consent, "reading_seconds": 31.5, "status": "APPROVED"}
    read_submission = submission_from_text(json.dumps(said), "f", 1)
    assert isinstance(read_submission, Submission) and read_submission.consent is not None
    assert (read_submission.consent.day, read_submission.reading_seconds) == ("2026-11-27", 31.5)
    assert read_submission.status == ""
    for wrong in ({"text": "yes", "day": "2026-11-27"}, {**consent, "day": "today"}, {}, "yes"):
        refused = submission_from_value(GOOD | {"consent": wrong}, "f", 1)
        assert isinstance(refused, Refused) and "consent" in refused.detail


@pytest.mark.parametrize("left_out", ["assignment", "seconds", "item_seconds"])
def test_what_may_be_absent(left_out: str) -> None:
    for changed_submission in (
        {key: answer_value for key, answer_value in GOOD.items() if key != left_out},
        GOOD | {left_out: None},
    ):
        read_submission = submission_from_text(json.dumps(changed_submission), "f", 1)
        assert isinstance(read_submission, Submission) and not getattr(read_submission, left_out)


def test_ids_that_the_platform_tells() -> None:
    read_submission = submission_from_value(GOOD, "f", 1, worker="W", assignment="A")
    assert isinstance(read_submission, Submission)
    assert (read_submission.worker, read_submission.assignment) == ("W", "A")
    refused_submission = submission_from_value(GOOD, "f", 1, worker="")
    assert isinstance(refused_submission, Refused) and "$.worker" in refused_submission.detail


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        *CASES["refused"],
        ({"worker": "w" * 201}, "length <= 200 - at `$.worker`"),
        ({"seconds": 10**400}, "$.seconds"),
        ({"item_seconds": {"i": 10**400}}, "$.item_seconds"),
    ],
)
def test_what_is_no_submission(change: dict[str, Any], detail: str) -> None:
    read_submission = submission_from_text(json.dumps(GOOD | change), "f", 7)
    assert isinstance(read_submission, Refused)
    assert (read_submission.where, read_submission.line, read_submission.reason) == (
        "f",
        7,
        "not a submission",
    )
    assert detail in read_submission.detail


def test_limits_belong_to_what_is_taken() -> None:
    for most in ({"worker": "w" * 200}, {"seconds": 0}, {"item_seconds": {"i": 0}}):
        assert isinstance(submission_from_value(GOOD | most, "f", 1), Submission)


@pytest.mark.parametrize("text", ["[]", "5", '"x"', "null", "{}"])
def test_other_json(text: str) -> None:
    assert submission_from_text(text, "f", 1) == Refused(
        "f", 1, "not a submission", f"no format {SUBMISSION_FORMAT}"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        *CASES["not_json"],
        ('{"a": 1' + "0" * 5000 + "}", "Exceeds the limit"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
    ],
)
def test_json_that_is_none(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        decode_json(text)
    read_submission = submission_from_text(text, "f", 1)
    assert isinstance(read_submission, Refused)
    assert read_submission.reason == "not valid JSON"
    assert len(read_submission.detail) <= 120


def test_text_that_stays_as_it_is() -> None:
    text = "=1+1 <script> ${x} \U0001f600 \u202eabc \u2028 \ufffd \x7f"
    assert decode_json(json.dumps({"a": text})) == decode_json(
        json.dumps({"a": text}, ensure_ascii=False)
    )
    assert decode_json(json.dumps({"a": text})) == {"a": text}


def test_the_longest() -> None:
    read_submission = submission_from_text(" " * (LONGEST_ROW + 1), "f", 1)
    assert read_submission == Refused("f", 1, "too long", f"{LONGEST_ROW + 1:,} characters")
