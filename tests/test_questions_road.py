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


@pytest.mark.parametrize(("reply", "whole", "expected_result"), CASES["replies"])
def test_what_a_reply_says(reply: Any, whole: bool, expected_result: list[Any] | None) -> None:
    completion = parse_completion(reply)
    assert (completion.result(completion.text, whole=whole) if completion else None) == (
        Result(*expected_result) if expected_result else None
    )


@pytest.mark.parametrize(("text", "kind", "is_possible"), CASES["can_be_answers"])
def test_what_can_be_an_answer(text: str, kind: Any, is_possible: bool) -> None:
    assert can_be_answer(Candidate(0, len(text), text, kind, None, 1)) is is_possible


def test_what_is_not_asked_for() -> None:
    news_article = article("Ada Lovelace spoke on Monday, and again today, of 10.")
    draw = Draw("d", news_article.id, "eval", "past", news_article.day, date(2021, 1, 1), "2021Q1")
    ranked = rank_candidates(FINDER.find(news_article), news_article, draw, 9, 1)
    assert [candidate.text for candidate in ranked] == ["Ada Lovelace"]


@pytest.mark.parametrize(("batch_answer", "asked_again"), CASES["failed"])
def test_what_failed_in_a_batch_is_asked_again(
    tmp_path: Path, batch_answer: dict[str, Any], asked_again: bool
) -> None:
    settings = BatchChat(model="m", folder=tmp_path)
    assert settings.open(1).complete(["T"])[0].reason == WAITING
    call_id = json.loads((tmp_path / "requests-001.jsonl").read_text("utf-8"))["custom_id"]
    (tmp_path / "results.jsonl").write_text(
        json.dumps({"custom_id": call_id} | batch_answer) + "\n"
    )
    second_model = settings.open(1)
    (second_result,) = second_model.complete(["T"])
    assert second_result.reason == (WAITING if asked_again else "server_refused")
    (tmp_path / "more.jsonl").write_text(
        json.dumps({"custom_id": call_id, "response": {"status_code": 200, "body": CHAT}}) + "\n"
    )
    if asked_again:
        (tmp_path / "results.jsonl").rename(tmp_path / "a.jsonl")
        assert settings.open(1).complete(["T"]) == [Result("Who won?")]
        with pytest.raises(UserError, match="1 calls wait"):
            second_model.finish()


def test_one_round_of_a_batch_asks_for_all_it_may_need(tmp_path: Path) -> None:
    sentence_form = "Ada Lovelace{0} met Charles Babbage in London in 18{0}."
    news_article = article(
        *(sentence_form.format(sentence_number) for sentence_number in range(20, 40))
    )
    draw = Draw("d", news_article.id, "eval", "past", news_article.day, date(2021, 1, 1), "2021Q1")
    batch_model = BatchChat(model="m", folder=tmp_path).open(1)
    question_outcomes = generate_questions(
        [news_article],
        {news_article.id: [draw]},
        GenerateSettings(kept=2),
        1,
        finder=FINDER,
        backend=batch_model,
    )
    assert list(question_outcomes) == []
    assert len((tmp_path / "requests-001.jsonl").read_text("utf-8").splitlines()) == 4
