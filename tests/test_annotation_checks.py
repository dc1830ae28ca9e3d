"""What answers must be like: the table that the page is tested against too, and whole items."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from factdrift.annotation.checks import broken_rules, problems, stands_in, text_problem
from factdrift.annotation.layout import FOLDER, Check, Layout, load_layout
from factdrift.annotation.submission import Json
from factdrift.builders.core.errors import UserError
from tests import annotation_items

CASES: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("annotation_checks.json").read_text("utf-8")
)


def test_texts_as_the_page_judges_them() -> None:
    wrong = []
    for case in CASES:
        check, fields = Check.model_validate(case["check"]), case.get("fields", {})
        rules = [rule for rule, _ in broken_rules(check, case["text"], fields)]
        said = text_problem(check, case["text"], fields)
        if case["problem"] not in rules if case["problem"] else rules or said:
            wrong.append((case, rules))
    assert wrong == []
    assert len(CASES) > 100


@pytest.mark.parametrize(
    ("name", "field", "answers", "refused"),
    [
        (
            "verify_facts",
            "mention",
            {"verdict": "correct", "time": "known"},
            "verdict: not one of the choices",
        ),
        ("ckl_expert", "prediction", {"supported": "yes"}, "supported: is not asked here"),
    ],
)
def test_what_needs_a_field(name: str, field: str, answers: dict[str, Json], refused: str) -> None:
    layout, shown = load_layout(name), annotation_items.FIELDS[name]
    assert refused not in problems(layout, shown, answers)
    for empty in (None, ""):
        assert refused in problems(layout, shown | {field: empty}, answers)


@pytest.mark.parametrize(
    ("name", "was", "now", "said"),
    [
        ("judge_question", "accept: [good]", "accept: [goood]", "'goood' .*mean 'good'"),
        ("easy_select", "newness: [general]", "newness: [genral]", "'genral' .*mean 'general'"),
        ("easy_select", "key: s}", "key: n}", "two choices have the key 'n'"),
        ("easy_select", "value: special", "value: none", "two choices have the value 'none'"),
        ("easy_select", "[US, GB", "[US, UK", "no country 'UK' .*mean 'GB'"),
        ("verify_facts", "needs: mention", "needs: mentoin", "'mentoin' .*mean 'mention'"),
    ],
)
def test_values_that_a_layout_misspells(
    name: str, was: str, now: str, said: str, tmp_path: Path
) -> None:
    text = (FOLDER / name / "layout.yaml").read_text("utf-8")
    assert was in text
    line = text[: text.index(was)].count("\n") + 1
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "layout.yaml").write_text(text.replace(was, now, 1), "utf-8")
    with pytest.raises(UserError, match=rf"mine/layout.yaml:{line}: .*{said}"):
        load_layout(str(tmp_path / "mine"))


LAYOUT = Layout.model_validate(
    yaml.safe_load("""
title: Every kind
summary: One of each.
instructions: [Do it.]
fields: {article: {}, parts: {kind: paragraphs}, options: {kind: list}}
answers:
  verdict: {kind: choice, label: V, choices: [{value: "yes", label: Y}, {value: "no", label: N}]}
  why:
    kind: choices
    label: W
    when: {verdict: ["no"]}
    choices: [{value: a, label: A}, {value: b, label: B}, {value: c, label: C}]
  tick: {kind: flag, label: T, required: false}
  sure: {kind: flag, label: S, when: {tick: ["true"]}}
  note: {kind: text, label: N, required: false, check: {max_length: 5}}
  blank: {kind: text, label: B, when: {why: [b]}, check: {min_length: 0}}
  mark: {kind: span, label: M, field: article, required: false}
  marks: {kind: spans, label: M, field: parts, required: false}
  line: {kind: choice, label: L, field: options, required: false}
  word: {kind: choice, label: L, field: options, within: line, required: false}
  pairs:
    kind: group
    label: P
    required: false
    max_items: 2
    answers:
      q: {kind: text, label: Q, check: {ends_with: "?"}}
      a: {kind: text, label: A, check: {not_field: q}}
pay: {per_hit: 1, minutes_per_hit: 4}
""")
)
FIELDS: dict[str, Json] = {
    "article": "Ein Käse \U0001f600 ist gut.",
    "parts": [{"text": "Kofi Annan", "heading": "H"}, "Annan led."],
    "options": ["Ban", "Ban Ki-moon's Ban succeeded Annan", "Annan", "Ann", "moon"],
}
EMOJI = {"start": 9, "end": 10, "text": "\U0001f600"}
LED = {"paragraph": 1, "start": 6, "end": 9, "text": "led"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, []),
        ({"verdict": None}, ["verdict: missing"]),
        ({"verdict": ""}, ["verdict: missing"]),
        ({"verdict": "maybe"}, ["verdict: not one of the choices"]),
        ({"verdict": True}, ["verdict: not one of the choices"]),
        ({"verdict": ["yes"]}, ["verdict: not one of the choices"]),
        ({"verdict": {"yes": 1}}, ["verdict: not one of the choices"]),
        ({"other": 1}, ["other: is not asked"]),
        ({"why": ["a"]}, ["why: is not asked here"]),
        ({"why": []}, []),
        ({"verdict": "no"}, ["why: missing"]),
        ({"verdict": "no", "why": []}, ["why: missing"]),
        ({"verdict": "no", "why": ["a", "c"]}, []),
        ({"verdict": "no", "why": ["a", "a"]}, ["why: a choice twice"]),
        ({"verdict": "no", "why": ["d"]}, ["why: not of the choices"]),
        ({"verdict": "no", "why": [["a"]]}, ["why: not of the choices"]),
        ({"verdict": "no", "why": "a"}, ["why: not of the choices"]),
        ({"verdict": "no", "why": ["a", "b"]}, []),
        ({"verdict": "no", "why": ["a", "b"], "blank": ""}, []),
        ({"verdict": "no", "why": ["a", "b"], "blank": "x"}, []),
        ({"verdict": "no", "why": ["a"], "blank": "x"}, ["blank: is not asked here"]),
        ({"tick": False}, []),
        ({"tick": 0}, ["tick: not true or false"]),
        ({"tick": "true"}, ["tick: not true or false", "sure: missing"]),
        ({"tick": True}, ["sure: missing"]),
        ({"tick": True, "sure": False}, []),
        ({"sure": False}, ["sure: is not asked here"]),
        ({"note": "abcde"}, []),
        ({"note": "  \ufeffabcde\u3000 "}, []),
        ({"note": "\U0001f600" * 5}, []),
        ({"note": "abcdef"}, ["note: longer than 5"]),
        ({"note": 5}, ["note: not a text"]),
        ({"note": ["a"]}, ["note: not a text"]),
        ({"mark": EMOJI}, []),
        ({"mark": EMOJI | {"start": 8}}, ["mark: a span that does not fit the text"]),
        ({"mark": EMOJI | {"end": 9}}, ["mark: a span outside of the text"]),
        ({"mark": EMOJI | {"end": 99}}, ["mark: a span outside of the text"]),
        ({"mark": EMOJI | {"start": -9}}, ["mark: a span outside of the text"]),
        ({"mark": EMOJI | {"start": 9.0}}, ["mark: not a span"]),
        ({"mark": EMOJI | {"start": True}}, ["mark: not a span"]),
        ({"mark": EMOJI | {"end": 10**400}}, ["mark: a span outside of the text"]),
        ({"mark": EMOJI | {"paragraph": 0}}, ["mark: not a span"]),
        ({"mark": EMOJI | {"text": None}}, ["mark: not a span"]),
        ({"mark": [EMOJI]}, ["mark: not a span"]),
        ({"mark": "Käse"}, ["mark: not a span"]),
        ({"marks": [LED]}, []),
        ({"marks": LED}, ["marks: not a list of spans"]),
        ({"marks": [EMOJI]}, ["marks: not a span"]),
        ({"marks": [LED, dict(reversed(LED.items()))]}, ["marks: two spans with one start"]),
        ({"marks": [LED | {"paragraph": 2}]}, ["marks: a span outside of the text"]),
        ({"marks": [LED | {"paragraph": -1}]}, ["marks: a span outside of the text"]),
        ({"marks": [LED | {"paragraph": 0}]}, ["marks: a span that does not fit the text"]),
        ({"line": "Ban"}, []),
        ({"line": "Someone"}, ["line: not one of the choices"]),
        ({"word": "Ban"}, ["word: not one of the choices"]),
        ({"line": "Ban Ki-moon's Ban succeeded Annan", "word": "Ban"}, []),
        ({"line": "Ban Ki-moon's Ban succeeded Annan", "word": "Annan"}, []),
        (
            {"line": "Ban Ki-moon's Ban succeeded Annan", "word": "Ann"},
            ["word: not one of the choices"],
        ),
        (
            {"line": "Ban Ki-moon's Ban succeeded Annan", "word": "moon"},
            ["word: not one of the choices"],
        ),
        ({"pairs": [{"q": "Who?", "a": "Ban"}]}, []),
        ({"pairs": [{"q": "Who?", "a": "who?  "}]}, ["pairs: a: holds q"]),
        ({"pairs": [{"q": "Who", "a": "Ban"}]}, ["pairs: q: does not end with '?'"]),
        ({"pairs": [{"q": "Who?"}]}, ["pairs: a: missing"]),
        ({"pairs": [{"q": "Who?", "a": "B", "c": 1}]}, ["pairs: c: is not asked"]),
        ({"pairs": [{"q": "W?", "a": "B"}] * 3}, ["pairs: not 1 to 2 entries"]),
        ({"pairs": {"q": "Who?", "a": "Ban"}}, ["pairs: not a list of objects"]),
        ({"pairs": [["Who?"]]}, ["pairs: not a list of objects"]),
    ],
)
def test_answers_of_an_item(given: dict[str, Any], expected: list[str]) -> None:
    assert problems(LAYOUT, FIELDS, {"verdict": "yes"} | given) == expected


@pytest.mark.parametrize(
    ("text", "part", "expected"),
    [
        ("Ban left.", "Ban", True),
        ("Ban's left.", "Ban", False),
        ("Ban's left.", "Ban's", True),
        ("Urban Ban", "Ban", True),
        ("Urbans", "Ban", False),
        ("on 1 January 2007.", "1 January 2007", True),
        ("on 11 January 2007.", "1 January 2007", False),
        ("the U.S. army", "U.S.", True),
        ("a, b", ",", False),
        ("anything", "", False),
    ],
)
def test_whole_words_of_a_text(text: str, part: str, expected: bool) -> None:
    assert stands_in(text, part) == expected
