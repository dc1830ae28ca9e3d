"""The filters that ask a model whether a question is about news, by a real server."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.generate.backends import AnyModel, CachedModel, open_model
from factdrift.builders.generate.openai_servers import OpenAI
from factdrift.filters.base import FilterContext, ModelFilter
from factdrift.filters.guess import Guess
from factdrift.filters.lm_judge import NewsAndUnique
from factdrift.filters.run import FilterRun, KeptItem
from tests.filter_cases import item
from tests.json_server import chat_reply, serve_json
from tests.tables import read_table

CASES = read_table("filter_news_cases")
DAY = date(2012, 5, 1)
"""The day of the articles of `item`."""


def outcomes(
    model_filter: ModelFilter, reply: str, folder: Path, cutoff: date | None = None, **fields: Any
) -> tuple[list[Any], list[str], list[str]]:
    """What becomes of one item, what is said, and the prompts of all calls."""
    prompt_texts: list[str] = []
    said_notes: list[str] = []

    def answer_call(_: object, request_body: Any) -> tuple[int, object]:
        prompt_texts.append(request_body["messages"][0]["content"])
        return 200, chat_reply(reply)

    with serve_json(answer_call) as address:
        server_settings = OpenAI(base_url=address, model="m", stop_after=0, cutoff=cutoff)

        def opened(own_settings: AnyModel) -> CachedModel:
            return open_model(own_settings, 7, folder)

        filter_context = FilterContext(
            model=opened, answering=opened(server_settings), say=said_notes.append
        )
        filter_items = [item("Who won the vote in Lima?", **fields)]
        return (
            list(FilterRun([model_filter], filter_context).run(filter_items)),
            said_notes,
            prompt_texts,
        )


@pytest.mark.parametrize(("reply", "reason"), CASES["news_and_unique"])
def test_news_and_unique(reply: str, reason: str, tmp_path: Path) -> None:
    ((filter_outcome,), said_notes, prompt_texts) = outcomes(NewsAndUnique(), reply, tmp_path)
    assert (
        filter_outcome.reason if reason else isinstance(filter_outcome, KeptItem) and ""
    ) == reason
    assert not said_notes and len(prompt_texts) == 1
    shown_part = prompt_texts[0].rpartition("Article of Tuesday, 1 May 2012")[2]
    assert "Answer: Ivo Josipović" in shown_part and "Who won the vote in Lima?" in shown_part


@pytest.mark.parametrize(("answer", "kind", "guess", "reason"), CASES["guess"])
def test_guess(answer: str, kind: str, guess: str, reason: str, tmp_path: Path) -> None:
    reply_text = json.dumps({"answer": guess})
    cutoff = date(2012, 4, 30)
    ((filter_outcome,), said_notes, prompt_texts) = outcomes(
        Guess(), reply_text, tmp_path, cutoff, answer=answer, kind=kind
    )
    assert (
        filter_outcome.reason if reason else isinstance(filter_outcome, KeptItem) and ""
    ) == reason
    assert not said_notes and len(prompt_texts) == 1
    assert answer not in prompt_texts[0] and "It says" not in prompt_texts[0], (
        "the article is not shown"
    )


@pytest.mark.parametrize(
    ("cutoff", "note"), [(None, "nothing says when"), (DAY, "articles up to 2012-05-01")]
)
def test_a_model_that_knows_the_news_is_not_asked(
    cutoff: date | None, note: str, tmp_path: Path
) -> None:
    ((filter_outcome,), said_notes, prompt_texts) = outcomes(Guess(), "x", tmp_path, cutoff)
    assert isinstance(filter_outcome, KeptItem) and filter_outcome.skipped == ("guess",)
    assert len(said_notes) == 1 and note in said_notes[0] and not prompt_texts
