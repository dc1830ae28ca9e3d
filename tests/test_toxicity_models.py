"""Toxicity scores of a language model by a rubric, and of a moderation endpoint."""

import json
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.generate.backends import CachedModel
from factdrift.builders.generate.openai_servers import TOXICITY_ATTRIBUTES, OpenAI
from factdrift.filters.base import FilterContext
from factdrift.filters.toxicity.moderation import Moderation
from factdrift.filters.toxicity.rubric import ModelScorer, parse_scores
from factdrift.filters.toxicity.scores import ATTRIBUTES, ToxicityScores
from factdrift.filters.toxicity_filter import Toxicity
from tests.json_server import Reply, chat_reply, serve_json
from tests.test_filters_run import item

ALL_FINE = dict.fromkeys(ATTRIBUTES, 0.0)


def rubric_server(prompts: list[str]) -> Callable[[BaseHTTPRequestHandler, Any], Reply]:
    def answer(request: BaseHTTPRequestHandler, body: Any) -> Reply:
        prompt = body["messages"][0]["content"]
        prompts.append(prompt)
        assert body["response_format"]["json_schema"]["name"] == "toxicity"
        question = prompt.rpartition("Question: ")[2]
        if "unscored" in question:
            return 200, chat_reply('{"insult": "very"}')
        return 200, chat_reply(json.dumps(ALL_FINE | {"insult": 0.9 * ("vermin" in question)}))

    return answer


def test_a_model_scores_by_the_rubric(tmp_path: Path) -> None:
    prompts: list[str] = []
    with serve_json(rubric_server(prompts)) as address:
        settings = OpenAI(model="m", base_url=f"{address}/v1", key_variable="NO_KEY_AT_ALL")
        settings = settings.model_copy(update={"retries": 0})
        items = [item(), item("Why are they vermin?"), item("unscored?"), item()]
        for _ in range(2):
            model = CachedModel(settings.open(1), tmp_path)
            toxicity_filter = Toxicity(scorer=ModelScorer())
            assert toxicity_filter.resources() == {"model"}
            fine, bad_verdict, none, repeated_verdict = toxicity_filter.judge(
                items, FilterContext(answering=model)
            )
    assert fine.keep and repeated_verdict.keep and fine.scores == ToxicityScores(**ALL_FINE)
    assert (bad_verdict.reason, bad_verdict.score, none.reason) == (
        "toxic_insult",
        0.9,
        "no_scores",
    )
    assert model.prompt_counts == {"scoring": 3}
    assert len(prompts) == 3, "each question is asked once, ever"


def test_the_rubric_needs_a_model() -> None:
    with pytest.raises(UserError, match="needs a language model"):
        Toxicity(scorer=ModelScorer()).judge([], FilterContext())


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        (json.dumps(ALL_FINE), True),
        ("```json\n" + json.dumps(ALL_FINE) + "\n```", True),
        ("<think>hm {}</think>" + json.dumps(ALL_FINE | {"threat": 1}), True),
        (json.dumps(ALL_FINE | {"threat": 1.5}), False),
        (json.dumps(ALL_FINE | {"threat": True}), False),
        (json.dumps({"threat": 0.5}), False),
        ("[0, 0]", False),
        ("none", False),
    ],
)
def test_what_is_a_score(text: str, is_read: bool) -> None:
    assert parse_scores(text).empty is not is_read


def test_the_schema_has_the_columns_of_a_release() -> None:
    assert TOXICITY_ATTRIBUTES == ATTRIBUTES


def moderation_server(
    calls: list[Sequence[str]], faults: list[int]
) -> Callable[[BaseHTTPRequestHandler, Any], Reply]:
    def answer(request: BaseHTTPRequestHandler, body: Any) -> Reply:
        if faults:
            return faults.pop(), {"error": {"message": "not now"}}
        assert request.path == "/v1/moderations"
        calls.append(body["input"])
        results = []
        for text in body["input"]:
            scores = {"hate": 0.8 * ("vermin" in text), "violence": 0.99, "harassment": 0.12344}
            results.append({"flagged": False, "category_scores": scores})
        return 200, {"id": "x", "model": body["model"], "results": results}

    return answer


def test_moderation(tmp_path: Path) -> None:
    calls: list[Sequence[str]] = []
    faults = [503, 429]
    texts = ["Who was shot?", "Why are they vermin?", "Who won?", "Who was shot?"]
    with serve_json(moderation_server(calls, faults)) as address:
        scorer = Moderation(base_url=f"{address}/v1", together=2, backoff=0.001)
        scores = scorer.start(tmp_path, print)(texts)
        assert scorer.start(tmp_path, print)(texts) == scores
    assert calls == [texts[:2], texts[2:3]], "two texts a call, each once, ever"
    assert scores[1] == ToxicityScores(identity_attack=0.8, insult=0.1234)
    assert scorer.thresholds.over(scores[1]) == "identity_attack"
    assert scorer.thresholds.over(scores[0]) is None, "violence in news is no toxicity"


def test_what_moderation_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UserError, match="OPENAI_API_KEY holds no key"):
        Moderation().start(None, print)
    with pytest.raises(ValueError, match="did you mean 'insult'"):
        Moderation(categories={"insults": ("harassment",)})
    with serve_json(moderation_server([], [401])) as address:
        score = Moderation(base_url=f"{address}/v1", backoff=0.001).start(None, print)
        with pytest.raises(UserError, match="refuses the call: status 401 not now"):
            score(["Who won?"])
