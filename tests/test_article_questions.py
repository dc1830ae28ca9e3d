"""Style `article`: what a model on a real server wrote, as questions and drops."""

import json
import unicodedata
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.generate.article_questions import answer_span, write_article_questions
from factdrift.builders.generate.backends import open_model
from factdrift.builders.generate.openai_servers import OpenAI
from factdrift.builders.generate.prompt_files import load_prompts
from factdrift.builders.generate.protocol import WrittenPair
from factdrift.builders.generate.questions import GenerateSettings
from factdrift.builders.generate.replies import parse_pairs, parse_verdict, read_pairs
from factdrift.builders.rows import Draw, Dropped
from tests.json_server import chat_reply, serve_json
from tests.tables import read_table
from tests.test_questions_candidates import article

CASES = read_table("article_question_cases")
ARTICLE = article(
    "Lindgrove's council voted 19 to 12 on Monday to sell Harbour Hall to “Tarn & Sons”.",
    "The town of Brekvik will get 4.1\u00a0million kroner from Jose\u0301 Ruiz for  the café.",
    "Mayor Marta Oyelaran voted against the sale.",
    day=date(2013, 3, 12),
    headline="Council sells hall to brewer",
)
DRAW = Draw("d1", ARTICLE.id, "eval", "past", ARTICLE.day, date(2014, 5, 9), "2014Q2")


def pair(**fields: str) -> dict[str, str]:
    """A good pair, but for `fields`."""
    return {
        "event": "the council voted",
        "event_day": "2013-03-11",
        "sentence": ARTICLE.sentences[1],
        "question": "To whom did the council of Lindgrove vote to sell Harbour Hall?",
        "answer": "Tarn & Sons",
        "answer_type": "entity",
    } | fields


@pytest.mark.parametrize(("changes", "reasons"), CASES["pairs"])
def test_pairs_of_an_answer(
    changes: list[dict[str, str]], reasons: list[str], tmp_path: Path
) -> None:
    reply = json.dumps({"pairs": [pair(**fields) for fields in changes]})
    with serve_json(lambda _, body: (200, chat_reply(reply))) as address:
        model = open_model(OpenAI(base_url=address, model="m", stop_after=0), 7, tmp_path)
        outcomes = list(
            write_article_questions(
                [ARTICLE], {ARTICLE.id: [DRAW]}, GenerateSettings(kept=2), backend=model
            )
        )
    assert [
        outcome.reason if isinstance(outcome, Dropped) else "" for outcome in outcomes
    ] == reasons


@pytest.mark.parametrize(("sentence", "answer", "text"), CASES["spans"])
def test_the_span_of_an_answer(sentence: str, answer: str, text: str) -> None:
    written = WrittenPair("Who?", answer, "phrase", sentence, "e")
    span = answer_span(ARTICLE, written)
    if isinstance(span, str):
        assert span == text
    else:
        assert ARTICLE.text[span.start : span.end] == span.text
        assert unicodedata.normalize("NFC", span.text) == text.replace("~", "\u00a0")
        assert ARTICLE.sentences[span.sentence].find(span.text) >= 0


@pytest.mark.parametrize(("written", "questions", "reason"), CASES["replies"])
def test_what_a_model_wrote(written: str, questions: list[str], reason: str | None) -> None:
    result = parse_pairs(written, load_prompts(None))
    assert result.reason == reason
    if result.text is not None:
        assert [read.question for read in read_pairs(result.text)] == questions


@pytest.mark.parametrize(("written", "verdict"), CASES["verdicts"])
def test_what_a_judge_of_news_says(written: str, verdict: str | None) -> None:
    assert parse_verdict(written, ("new", "unique")).text == verdict


def test_the_call_is_held_to_its_form(tmp_path: Path) -> None:
    calls: list[dict[str, Any]] = []

    def answer(_: object, body: dict[str, Any]) -> tuple[int, object]:
        calls.append(body)
        return 200, chat_reply('{"pairs": []}')

    with serve_json(answer) as address:
        model = open_model(OpenAI(base_url=address, model="m"), 7, tmp_path)
        draws = {ARTICLE.id: [DRAW]}
        outcomes = [
            outcome
            for _ in range(2)
            for outcome in write_article_questions(
                [ARTICLE], draws, GenerateSettings(), backend=model
            )
        ]
    assert [outcome.reason for outcome in outcomes if isinstance(outcome, Dropped)] == [
        "no_news",
        "no_news",
    ]
    (call,) = calls  # the second time the answer is there
    assert call["response_format"]["json_schema"]["name"] == "pairs"
    prompt = call["messages"][0]["content"]
    assert "José Ruiz" in prompt and "<" not in prompt
    assert prompt.rstrip().endswith("At most 4 pairs.\nJSON:")
    assert "each question says when" in prompt.rpartition("Asked on Friday, 9 May 2014.")[2]
