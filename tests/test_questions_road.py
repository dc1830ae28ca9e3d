"""The way to a language model: what is asked again, what is no answer, what is not paid for."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.generate.batch_files import BatchChat
from factdrift.builders.generate.openai_servers import parse_completion
from factdrift.builders.generate.protocol import WAITING, Result
from factdrift.builders.generate.questions import (
    GenerateSettings,
    can_be_answer,
    generate_questions,
    rank_candidates,
)
from factdrift.builders.rows import Candidate, Draw
from tests.filter_cases import FINDER
from tests.tables import read_table
from tests.test_questions_candidates import article

CASES = read_table("question_cases")

CHAT = {"choices": [{"message": {"content": "Who won?"}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(("reply", "whole", "wanted"), CASES["replies"])
def test_what_a_reply_says(reply: Any, whole: bool, wanted: list[Any] | None) -> None:
    said = parse_completion(reply)
    assert (said.result(said.text, whole=whole) if said else None) == (
        Result(*wanted) if wanted else None
    )


@pytest.mark.parametrize(("text", "kind", "good"), CASES["can_be_answers"])
def test_what_can_be_an_answer(text: str, kind: Any, good: bool) -> None:
    assert can_be_answer(Candidate(0, len(text), text, kind, None, 1)) is good


def test_what_is_not_asked_for() -> None:
    text = article("Ada Lovelace spoke today of 10.")
    draw = Draw("d", text.id, "eval", "past", text.day, date(2021, 1, 1), "2021Q1")
    name = Candidate(11, 23, "Ada Lovelace", "entity", "PERSON", 1)
    today = Candidate(30, 35, "today", "date", "RELATIVE", 1)
    number = Candidate(39, 41, "10", "phrase", "CARDINAL", 1)
    assert rank_candidates([name, today, number], text, draw, 9, 1) == (name,)


@pytest.mark.parametrize(("answer", "again"), CASES["failed"])
def test_what_failed_in_a_batch_is_asked_again(
    tmp_path: Path, answer: dict[str, Any], again: bool
) -> None:
    settings = BatchChat(model="m", folder=tmp_path)
    assert settings.open(1).complete(["T"])[0].reason == WAITING
    name = json.loads((tmp_path / "requests-001.jsonl").read_text("utf-8"))["custom_id"]
    (tmp_path / "results.jsonl").write_text(json.dumps({"custom_id": name} | answer) + "\n")
    second = settings.open(1)
    (result,) = second.complete(["T"])
    assert result.reason == (WAITING if again else "server_refused")
    (tmp_path / "more.jsonl").write_text(
        json.dumps({"custom_id": name, "response": {"status_code": 200, "body": CHAT}}) + "\n"
    )
    if again:
        (tmp_path / "results.jsonl").rename(tmp_path / "a.jsonl")
        assert settings.open(1).complete(["T"]) == [Result("Who won?")]
        with pytest.raises(UserError, match="1 calls wait"):
            second.finish()


def test_one_round_of_a_batch_asks_for_all_it_may_need(tmp_path: Path) -> None:
    met = "Ada Lovelace{0} met Charles Babbage in London in 18{0}."
    text = article(*(met.format(n) for n in range(20, 40)))
    draw = Draw("d", text.id, "eval", "past", text.day, date(2021, 1, 1), "2021Q1")
    model = BatchChat(model="m", folder=tmp_path).open(1)
    made = generate_questions(
        [text], {text.id: [draw]}, GenerateSettings(kept=2), 1, finder=FINDER, backend=model
    )
    assert list(made) == []
    assert len((tmp_path / "requests-001.jsonl").read_text("utf-8").splitlines()) == 4
