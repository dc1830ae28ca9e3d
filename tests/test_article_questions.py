"""Style `article`: what a model on a real server wrote, as questions and drops."""

import json
import unicodedata
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import yaml

from factdrift.builders.core.errors import UserError
from factdrift.builders.generate.article_questions import answer_span, write_article_questions
from factdrift.builders.generate.backends import open_model
from factdrift.builders.generate.openai_servers import OpenAI
from factdrift.builders.generate.prompt_files import DEFAULT_PROMPTS, load_prompts
from factdrift.builders.generate.protocol import WrittenPair
from factdrift.builders.generate.questions import GenerateSettings
from factdrift.builders.generate.replies import parse_pairs, parse_verdict, read_pairs
from factdrift.builders.rows import Draw, Dropped
from factdrift.builders.streamingqa.dataset import StreamingQA
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


@pytest.mark.parametrize(("pair_changes", "drop_reasons"), CASES["pairs"])
def test_pairs_of_an_answer(
    pair_changes: list[dict[str, str]], drop_reasons: list[str], tmp_path: Path
) -> None:
    reply_text = json.dumps({"pairs": [pair(**fields) for fields in pair_changes]})
    with serve_json(lambda _, body: (200, chat_reply(reply_text))) as address:
        writing_model = open_model(OpenAI(base_url=address, model="m", stop_after=0), 7, tmp_path)
        draw_outcomes = list(
            write_article_questions(
                [ARTICLE], {ARTICLE.id: [DRAW]}, GenerateSettings(kept=2), backend=writing_model
            )
        )
    assert [
        draw_outcome.reason if isinstance(draw_outcome, Dropped) else ""
        for draw_outcome in draw_outcomes
    ] == drop_reasons


@pytest.mark.parametrize(("sentence_text", "answer_text", "span_text"), CASES["spans"])
def test_the_span_of_an_answer(sentence_text: str, answer_text: str, span_text: str) -> None:
    written_pair = WrittenPair("Who?", answer_text, "phrase", sentence_text, "e")
    answer_place = answer_span(ARTICLE, written_pair)
    if isinstance(answer_place, str):
        assert answer_place == span_text
    else:
        assert ARTICLE.text[answer_place.start : answer_place.end] == answer_place.text
        assert unicodedata.normalize("NFC", answer_place.text) == span_text.replace("~", "\u00a0")
        assert ARTICLE.sentences[answer_place.sentence].find(answer_place.text) >= 0


@pytest.mark.parametrize(("written_text", "question_texts", "drop_reason"), CASES["replies"])
def test_what_a_model_wrote(
    written_text: str, question_texts: list[str], drop_reason: str | None
) -> None:
    pairs_result = parse_pairs(written_text, load_prompts(None))
    assert pairs_result.reason == drop_reason
    if pairs_result.text is not None:
        assert [read_pair.question for read_pair in read_pairs(pairs_result.text)] == question_texts


@pytest.mark.parametrize(("written_text", "expected_verdict"), CASES["verdicts"])
def test_what_a_judge_of_news_says(written_text: str, expected_verdict: str | None) -> None:
    assert parse_verdict(written_text, ("new", "unique")).text == expected_verdict


def test_the_call_is_held_to_its_form(tmp_path: Path) -> None:
    sent_calls: list[dict[str, Any]] = []

    def answer_call(_: object, request_body: dict[str, Any]) -> tuple[int, object]:
        sent_calls.append(request_body)
        return 200, chat_reply('{"pairs": []}')

    with serve_json(answer_call) as address:
        writing_model = open_model(OpenAI(base_url=address, model="m"), 7, tmp_path)
        article_draws = {ARTICLE.id: [DRAW]}
        draw_outcomes = [
            draw_outcome
            for _ in range(2)
            for draw_outcome in write_article_questions(
                [ARTICLE], article_draws, GenerateSettings(), backend=writing_model
            )
        ]
    assert [
        draw_outcome.reason for draw_outcome in draw_outcomes if isinstance(draw_outcome, Dropped)
    ] == [
        "no_news",
        "no_news",
    ]
    (only_call,) = sent_calls  # the second time the answer is there
    assert only_call["response_format"]["json_schema"]["name"] == "pairs"
    prompt_text = only_call["messages"][0]["content"]
    assert "José Ruiz" in prompt_text and "<" not in prompt_text
    assert prompt_text.rstrip().endswith("At most 4 pairs.\nJSON:")
    assert "each question says when" in prompt_text.rpartition("Asked on Friday, 9 May 2014.")[2]


@pytest.mark.parametrize(("generate", "input_names", "error_message"), CASES["refused"])
def test_who_would_write_nothing_is_refused(
    generate: dict[str, Any], input_names: list[str], error_message: str, tmp_path: Path
) -> None:
    prompt_file = tmp_path / "mine.yaml"
    own_prompts = yaml.safe_load(DEFAULT_PROMPTS.read_text("utf-8"))
    del own_prompts["article"]
    prompt_file.write_text(yaml.safe_dump(own_prompts), "utf-8")
    if "backend" in generate:
        generate["backend"]["prompts"] = str(prompt_file)
    dataset_builder = StreamingQA.model_validate(
        {"builder": "streamingqa", "generate": generate, "filters": []}
    )
    recipe_run = cast(Any, SimpleNamespace(inputs=dict.fromkeys(input_names)))
    if not error_message:
        dataset_builder._refuse_without_writer(recipe_run)
        return
    with pytest.raises(UserError, match=error_message):
        dataset_builder._refuse_without_writer(recipe_run)
