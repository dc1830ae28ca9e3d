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
    prompts: list[str] = []
    notes: list[str] = []

    def answer(_: object, body: Any) -> tuple[int, object]:
        prompts.append(body["messages"][0]["content"])
        return 200, chat_reply(reply)

    with serve_json(answer) as address:
        settings = OpenAI(base_url=address, model="m", stop_after=0, cutoff=cutoff)

        def opened(own_settings: AnyModel) -> CachedModel:
            return open_model(own_settings, 7, folder)

        context = FilterContext(model=opened, answering=opened(settings), say=notes.append)
        questions = [item("Who won the vote in Lima?", **fields)]
        return list(FilterRun([model_filter], context).run(questions)), notes, prompts


@pytest.mark.parametrize(("reply", "reason"), CASES["news_and_unique"])
def test_news_and_unique(reply: str, reason: str, tmp_path: Path) -> None:
    ((outcome,), notes, prompts) = outcomes(NewsAndUnique(), reply, tmp_path)
    assert (outcome.reason if reason else isinstance(outcome, KeptItem) and "") == reason
    assert not notes and len(prompts) == 1
    shown = prompts[0].rpartition("Article of Tuesday, 1 May 2012")[2]
    assert "Answer: Ivo Josipović" in shown and "Who won the vote in Lima?" in shown


@pytest.mark.parametrize(("answer", "kind", "guess", "reason"), CASES["guess"])
def test_guess(answer: str, kind: str, guess: str, reason: str, tmp_path: Path) -> None:
    reply = json.dumps({"answer": guess})
    cutoff = date(2012, 4, 30)
    ((outcome,), notes, prompts) = outcomes(
        Guess(), reply, tmp_path, cutoff, answer=answer, kind=kind
    )
    assert (outcome.reason if reason else isinstance(outcome, KeptItem) and "") == reason
    assert not notes and len(prompts) == 1
    assert answer not in prompts[0] and "It says" not in prompts[0], "the article is not shown"


@pytest.mark.parametrize(
    ("cutoff", "note"), [(None, "nothing says when"), (DAY, "articles up to 2012-05-01")]
)
def test_a_model_that_knows_the_news_is_not_asked(
    cutoff: date | None, note: str, tmp_path: Path
) -> None:
    ((outcome,), notes, prompts) = outcomes(Guess(), "x", tmp_path, cutoff)
    assert isinstance(outcome, KeptItem) and outcome.skipped == ("guess",)
    assert len(notes) == 1 and note in notes[0] and not prompts
