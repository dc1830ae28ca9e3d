"""What people's word makes of a segment, case by case."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from factdrift.builders.rows import Page, Paragraph, ReleasedAlignedSegment
from factdrift.builders.timeqa.annotations import read_verdicts, revise
from tests.gold_rows import gold_row
from tests.tables import ids_of, read_table
from tests.test_timeqa_questions import segment

CASES = read_table("timeqa_human")
TEXTS, SPANS, CORRECT = CASES["texts"], CASES["spans"], CASES["answers"]["correct"]
PAGE = Page("Q1", "Ann Lee", 1, 2, tuple(Paragraph("text", "", text, ()) for text in TEXTS))
NOWHERE = dict.fromkeys(("paragraph", "start", "end", "mention"))
SEGMENT = replace(segment("Q3", "2003", "2007"), valid_from="2003", valid_to="2007", id="3")
MADRID = replace(
    SEGMENT, object_label="Real Madrid CF", aliases=("Real Madrid",),
    paragraph=0, start=19, end=30, mention="Real Madrid",
)  # fmt: skip
TOWN = replace(SEGMENT, **NOWHERE, id="4", object="Q4", object_label="Bay Town", rule="none")  # type: ignore[arg-type]
HISTORY = (MADRID, TOWN)


def shown(segment_row: ReleasedAlignedSegment, **more: Any) -> Mapping[str, Any]:
    """The fields that people see of it."""
    labels = {name: f"{name}_label" for name in ("subject", "relation")}
    names = labels | {"suggested": "object_label"}
    names |= {name: name for name in ("valid_from", "valid_to", "mention")}
    fields = {name: getattr(segment_row, column) for name, column in names.items()}
    page = [{"text": text, "heading": "", "kind": "text"} for text in TEXTS]
    return {
        field_name: value
        for field_name, value in (fields | {"page": page} | more).items()
        if value is not None
    }


def other(*marks: str) -> Mapping[str, Any]:
    return {"verdict": "other", "objects": [SPANS[name] for name in marks], "time": "known"}


@pytest.mark.parametrize("case", CASES["revised"])
def test_a_segment_becomes_what_people_said(case: str) -> None:
    name, answers, expected = CASES["revised"][case]
    segment_row = {"MADRID": MADRID, "TOWN": TOWN}[name]
    verdicts, lost = read_verdicts(
        [gold_row("verify_facts", segment_row.id, shown(segment_row), answers)]
    )
    assert not lost
    (became,) = (outcome for outcome in revise(HISTORY, verdicts, PAGE) if outcome)
    if isinstance(became, str):
        assert became == expected
        return
    assert [
        [revised.object_label, revised.rule, revised.mention, [*revised.revisions]]
        for revised in became
    ] == expected
    for revised in became:
        assert (revised.segment, revised.suggested, revised.verification) == (
            segment_row.id,
            segment_row.object_label,
            "human",
        )
        assert not revised.complete
        assert (revised.start_first, revised.end_last) == (
            segment_row.start_first,
            segment_row.end_last,
        )
        if revised.paragraph is not None:
            assert TEXTS[revised.paragraph][revised.start : revised.end] == revised.mention


def test_the_same_words_are_the_same_object_and_other_words_another() -> None:
    printed_text = [
        gold_row("verify_facts", "3", shown(MADRID), other("northside")),
        gold_row("verify_facts", "4", shown(TOWN), other("northside", "madrid")),
    ]
    segment_row, two = revise(HISTORY, read_verdicts(printed_text)[0], PAGE)
    assert isinstance(segment_row, tuple) and isinstance(two, tuple)
    assert [revised.object for revised in two] == ["Q3", segment_row[0].object]
    assert segment_row[0].object.startswith("text-")
    assert {revised.complete for revised in (*segment_row, *two)} == {True}
    assert {(revised.start_stated, revised.end_stated) for revised in segment_row} == {
        (False, False)
    }  # looked for again
    assert len(set(ids_of((*segment_row, *two)))) == 3


def test_what_people_saw_must_be_what_is_there() -> None:
    changes: list[dict[str, Any]] = [
        {"suggested": "Real Madrid"},
        {"valid_to": "2008"},
        {"valid_from": None},
        {"mention": "Madrid"},
        {"subject": "Anne Lee"},
        {"page": [*shown(MADRID)["page"], {"text": "More."}]},
        {"page": [*TEXTS[:2]]},
    ]
    for change in changes:
        row = gold_row("verify_facts", "3", shown(MADRID, **change), CORRECT)
        became, _ = revise(HISTORY, read_verdicts([row])[0], PAGE)
        assert became == "changed", change
    row = gold_row("verify_facts", "3", shown(MADRID, page=list(TEXTS)), CORRECT)
    became, _ = revise(HISTORY, read_verdicts([row])[0], PAGE)
    assert isinstance(became, tuple)


@pytest.mark.parametrize("case", CASES["lost"])
def test_what_cannot_be_taken_is_counted(case: str) -> None:
    changes, expected = CASES["lost"][case]
    right_row = gold_row("verify_facts", "3", shown(MADRID), CORRECT)
    for segment_row in changes:
        segment_row |= {
            name: json.dumps(value)
            for name, value in segment_row.items()
            if isinstance(value, Mapping)
        }
    verdicts, lost = read_verdicts([replace(right_row, **segment_row) for segment_row in changes])
    assert dict(lost) == expected
    assert bool(verdicts) == (not expected)
