"""What people's word makes of a segment, case by case."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from factdrift.builders.rows import AlignmentRule, Gold, Page, Paragraph, ReleasedAlignedSegment
from factdrift.builders.timeqa.annotations import read_verdicts, revise
from tests.gold_rows import gold
from tests.test_timeqa_questions import segment

TEXTS = (
    "Ann Lee played for Real Madrid from 2003 to 2007.",
    "She then joined Bay Town \U0001f600 and later Northside, in 2009.",
    "Lee coached Real Madrid's youth.",
)
PAGE = Page("Q1", "Ann Lee", 1, 2, tuple(Paragraph("text", "", text, ()) for text in TEXTS))
NOWHERE = (None, None, None, None)


def released(
    id_: str, label: str, *at: Any, rule: AlignmentRule = "link", aliases: tuple[str, ...] = ()
) -> ReleasedAlignedSegment:
    """A segment of Ann Lee's history as a release shows it."""
    place = dict(zip(("paragraph", "start", "end", "mention"), at or NOWHERE, strict=True))
    names = {"object_label": label, "aliases": aliases, "id": id_}
    times = {"valid_from": "2003", "valid_to": "2007"}
    one = segment(f"Q{id_}", "2003", "2007", rule=rule)
    return replace(one, **{**place, **names, **times})


MADRID = released("3", "Real Madrid CF", 0, 19, 30, "Real Madrid", aliases=("Real Madrid",))
TOWN = released("4", "Bay Town", rule="none")
HISTORY = (MADRID, TOWN)


def shown(one: ReleasedAlignedSegment, **more: Any) -> Mapping[str, Any]:
    """The fields that people see of it."""
    fields = {
        "subject": one.subject_label,
        "relation": one.relation_label,
        "valid_from": one.valid_from,
        "valid_to": one.valid_to,
        "suggested": one.object_label,
        "mention": one.mention,
        "page": [{"text": text, "heading": "", "kind": "text"} for text in TEXTS],
        **more,
    }
    return {name: value for name, value in fields.items() if value is not None}


def mark(paragraph: int, text: str) -> dict[str, Any]:
    start = TEXTS[paragraph].index(text)
    return {"paragraph": paragraph, "start": start, "end": start + len(text), "text": text}


def other(*marks: Mapping[str, Any], time: str = "known") -> Mapping[str, Any]:
    return {"verdict": "other", "objects": list(marks), "time": time}


CORRECT = {"verdict": "correct", "time": "known"}
UNTIMED = {"verdict": "correct", "time": "unknown"}
NOT_THERE = {"verdict": "unanswerable"}

# What was said of a segment -> label, rule, mention and revisions of each row, or the reason.
CASES: dict[str, tuple[ReleasedAlignedSegment, Mapping[str, Any], Any]] = {
    "right": (MADRID, CORRECT, [("Real Madrid CF", "link", "Real Madrid", ())]),
    "not there": (MADRID, NOT_THERE, [("Real Madrid CF", "none", None, ("unanswerable",))]),
    "no time": (MADRID, UNTIMED, [("Real Madrid CF", "none", None, ("time",))]),
    "the same words marked": (MADRID, other(mark(0, "Real Madrid")),
                              [("Real Madrid CF", "name", "Real Madrid", ())]),
    "other words for it": (MADRID, other(mark(2, "Real Madrid")),
                           [("Real Madrid CF", "name", "Real Madrid", ("place",))]),
    "another object": (MADRID, other(mark(1, "Northside")),
                       [("Northside", "name", "Northside", ("object",))]),
    "another object of the history": (MADRID, other(mark(1, "Bay Town")),
                                      [("Bay Town", "name", "Bay Town", ("object",))]),
    "two, in the order of the page": (
        MADRID, other(mark(1, "Northside"), mark(1, "Bay Town"), mark(1, "Northside")),
        [("Bay Town", "name", "Bay Town", ("object",)),
         ("Northside", "name", "Northside", ("object",))]),
    "another object, no time": (MADRID, other(mark(1, "Northside"), time="unknown"),
                                [("Northside", "none", None, ("object", "time"))]),
    "found at last": (TOWN, other(mark(1, "Bay Town")),
                      [("Bay Town", "name", "Bay Town", ("span",))]),
    "another object where none was found": (TOWN, other(mark(1, "Northside")),
                                            [("Northside", "name", "Northside", ("object",))]),
    "still not there": (TOWN, NOT_THERE, [("Bay Town", "none", None, ())]),
    "right, but where?": (TOWN, CORRECT, "no_words"),
    "right at an unknown time": (TOWN, UNTIMED, [("Bay Town", "none", None, ("time",))]),
    "an edited span": (MADRID, other({**mark(1, "Northside"), "start": 0}), "not_in_page"),
    "past the page": (MADRID, other({**mark(1, "Northside"), "paragraph": 3}), "not_in_page"),
    "past the paragraph": (
        MADRID, other({"paragraph": 1, "start": 900, "end": 909, "text": "Northside"}),
        "not_in_page"),
    "no word": (MADRID, other(mark(1, "\U0001f600")), "not_in_page"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_segment_becomes_what_people_said(case: str) -> None:
    one, answers, expected = CASES[case]
    found, lost = read_verdicts([gold("verify_facts", one.id, shown(one), answers)])
    assert not lost
    (became,) = (r for r in revise(HISTORY, found, PAGE) if r)
    if isinstance(became, str):
        assert became == expected
        return
    assert [(s.object_label, s.rule, s.mention, s.revisions) for s in became] == expected
    for s in became:
        assert (s.segment, s.suggested, s.verification) == (one.id, one.object_label, "human")
        assert not s.complete
        assert (s.start_first, s.end_last) == (one.start_first, one.end_last)
        if s.paragraph is not None:
            assert TEXTS[s.paragraph][s.start : s.end] == s.mention


def test_dates_near_the_marked_words_are_looked_for_again() -> None:
    found, _ = read_verdicts([gold("verify_facts", "4", shown(TOWN), other(mark(1, "Bay Town")))])
    (became,) = (r for r in revise(HISTORY, found, PAGE) if isinstance(r, tuple))
    assert (became[0].start_stated, became[0].end_stated) == (False, False)


def test_the_same_words_are_the_same_object_and_other_words_another() -> None:
    said = [
        gold("verify_facts", "3", shown(MADRID), other(mark(1, "Northside"))),
        gold("verify_facts", "4", shown(TOWN), other(mark(1, "Northside"), mark(0, "Real Madrid"))),
    ]
    one, two = revise(HISTORY, read_verdicts(said)[0], PAGE)
    assert isinstance(one, tuple) and isinstance(two, tuple)
    assert [s.object for s in two] == ["Q3", one[0].object]
    assert one[0].object.startswith("text-")
    assert {s.complete for s in (*one, *two)} == {True}
    assert len({s.id for s in (*one, *two)}) == 3


def test_what_people_saw_must_be_what_is_there() -> None:
    changes: list[Mapping[str, Any]] = [
        {"suggested": "Real Madrid"},
        {"valid_to": "2008"},
        {"valid_from": None},
        {"mention": "Madrid"},
        {"subject": "Anne Lee"},
        {"page": [*shown(MADRID)["page"], {"text": "More."}]},
        {"page": [*TEXTS[:2]]},
    ]
    for change in changes:
        row = gold("verify_facts", "3", shown(MADRID, **change), CORRECT)
        became, _ = revise(HISTORY, read_verdicts([row])[0], PAGE)
        assert became == "changed", change
    row = gold("verify_facts", "3", shown(MADRID, page=list(TEXTS)), CORRECT)
    became, _ = revise(HISTORY, read_verdicts([row])[0], PAGE)
    assert isinstance(became, tuple)


def bad(**changes: Any) -> Gold:
    row = gold("verify_facts", "3", shown(MADRID), CORRECT)
    return Gold(**{name: getattr(row, name) for name in Gold.__slots__} | changes)


BAD = {"not_understood": 1}
SPAN = mark(1, "Northside")
LOST: dict[str, tuple[list[Gold], dict[str, int]]] = {
    "no JSON": ([bad(answers="{")], BAD),
    "nested too deeply": ([bad(answers="[" * 100_000)], BAD),
    "no object": ([bad(answers="[]")], BAD),
    "no page": ([bad(shown="{}")], BAD),
    "a page of numbers": ([bad(shown='{"page": [1]}')], BAD),
    "no verdict": ([bad(answers='{"time": "known"}')], BAD),
    "a list of verdicts": (
        [bad(answers='{"verdict": ["correct", "other"], "time": "known"}')], BAD),
    "no time": ([bad(answers='{"verdict": "correct"}')], BAD),
    "nothing marked": ([bad(answers=json.dumps(other()))], BAD),
    "a span of one": ([bad(answers=json.dumps(other({"paragraph": 0, "start": 1})))], BAD),
    "a negative place": ([bad(answers=json.dumps(other({**SPAN, "start": -1})))], BAD),
    "no number": ([bad(answers=json.dumps(other({**SPAN, "start": True})))], BAD),
    "not accepted": ([bad(decision="open"), bad(decision="disputed"), bad(decision="rejected")],
                     {"open": 1, "disputed": 1, "rejected": 1}),
    "the same twice": ([bad(), bad()], {}),
    "two that differ": ([bad(), bad(answers=json.dumps(NOT_THERE)), bad()], {"contradictory": 3}),
}  # fmt: skip


@pytest.mark.parametrize("case", LOST)
def test_what_cannot_be_taken_is_counted(case: str) -> None:
    rows, expected = LOST[case]
    found, lost = read_verdicts(rows)
    assert dict(lost) == expected
    assert bool(found) == (not expected)
