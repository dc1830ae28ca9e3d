"""What answers must be like: the table that the page is tested against too, and whole items."""

import json
from pathlib import Path
from typing import Any

import pytest

from factdrift.annotation.checks import answer_problems, broken_rules, contains_words
from factdrift.annotation.layout import FOLDER, Check, Layout, load_layout
from factdrift.annotation.rewording import rewording_problem
from factdrift.annotation.submission import Json
from factdrift.builders.core.errors import UserError
from tests.annotation_items import FIELDS
from tests.tables import read_table

CASES: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("annotation_checks.json").read_text("utf-8")
)


def test_texts_as_the_page_judges_them() -> None:
    wrong_cases = []
    for test_case in CASES:
        check, item_fields = Check.model_validate(test_case["check"]), test_case.get("fields", {})
        rules = [rule for rule, _ in broken_rules(check, test_case["text"], item_fields)]
        if test_case["problem"] not in rules if test_case["problem"] else rules:
            wrong_cases.append((test_case, rules))
    assert wrong_cases == []
    assert len(CASES) > 100


REWORDINGS = read_table("rewordings")


def test_a_question_says_what_its_statement_says() -> None:
    refused, taken = [], []
    for entry in REWORDINGS:
        statement, day = entry["statement"], entry["day"]
        refused += [text for text in entry["same"] if rewording_problem(statement, text, day)]
        taken += [text for text in entry["other"] if not rewording_problem(statement, text, day)]
    assert (refused, taken) == ([], [])


@pytest.mark.parametrize(
    ("name", "field", "item_answers", "refused"),
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
def test_what_needs_a_field(
    name: str, field: str, item_answers: dict[str, Json], refused: str
) -> None:
    layout, item_fields = load_layout(name), FIELDS[name]
    assert refused not in answer_problems(layout, item_fields, item_answers)
    for empty in (None, ""):
        assert refused in answer_problems(layout, item_fields | {field: empty}, item_answers)


@pytest.mark.parametrize(
    ("name", "was", "now", "said"),
    [
        ("judge_question", "accept: [good]", "accept: [goood]", "'goood' .*mean 'good'"),
        ("easy_select", "newness: [general]", "newness: [genral]", "'genral' .*mean 'general'"),
        ("easy_select", "key: s}", "key: n}", "two choices have the key 'n'"),
        ("easy_select", "value: special", "value: none", "two choices have the value 'none'"),
        ("verify_facts", "needs: mention", "needs: mentoin", "'mentoin' .*mean 'mention'"),
    ],
)
def test_values_that_a_layout_misspells(
    name: str, was: str, now: str, said: str, tmp_path: Path
) -> None:
    text = (FOLDER / name / "layout.yaml").read_text("utf-8")
    assert was in text
    text_line = text[: text.index(was)].count("\n") + 1
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "layout.yaml").write_text(text.replace(was, now, 1), "utf-8")
    with pytest.raises(UserError, match=rf"mine/layout.yaml:{text_line}: .*{said}"):
        load_layout(str(tmp_path / "mine"))


ANSWERS = read_table("annotation_answers")
LAYOUT = Layout.model_validate(ANSWERS["layout"])


@pytest.mark.parametrize("test_case", ANSWERS["cases"], ids=str)
def test_answers_of_an_item(test_case: list[Any]) -> None:
    given_answers, *expected_value = test_case
    assert (
        answer_problems(LAYOUT, ANSWERS["fields"], {"verdict": "yes"} | given_answers)
        == expected_value
    )


@pytest.mark.parametrize(("text", "part", "expected_value"), ANSWERS["words"])
def test_whole_words_of_a_text(text: str, part: str, expected_value: bool) -> None:
    assert contains_words(text, part) == expected_value


@pytest.mark.parametrize(
    ("searches", "characters", "found_count", "right"),
    [(200, 300, 50, True), (201, 1, 1, False), (1, 301, 1, False), (1, 1, 51, False)],
)
def test_how_much_may_be_searched(
    searches: int, characters: int, found_count: int, right: bool
) -> None:
    opened = [{"id": "p", "text": "t"}] * found_count
    one_search: Json = {"query": "x" * characters, "found": ["p"] * found_count, "opened": opened}
    given_answers: dict[str, Json] = {"verdict": "yes", "searches": [one_search] * searches}
    assert (answer_problems(LAYOUT, ANSWERS["fields"], given_answers) == []) == right
