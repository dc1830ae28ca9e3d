"""What models cost: prices, agreement, the budget, and a run that is killed and goes on."""

import json
import re
import signal
import sys
import time
from collections import Counter
from datetime import date
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Lock
from typing import Any

import pytest
import yaml

from factdrift.builders.core.errors import UserError
from factdrift.builders.generate.backends import open_model
from factdrift.builders.generate.costs import (
    ModelPrice,
    Prices,
    PriceTable,
    Terms,
    allowing,
    money,
)
from factdrift.builders.generate.openai_servers import OpenAI
from factdrift.builders.generate.replies import NEWS_VERDICTS
from factdrift.builders.release.rebuild import model_of
from factdrift.builders.release.release import model_words, named_model
from factdrift.builders.streamingqa.spending import RunPlan, announce
from factdrift.builders.wmt.dates import DateSettings
from tests.conftest import ROOT, run_cli, start_process
from tests.json_server import Reply, chat_reply, serve_json

TABLE = PriceTable(
    day=date(2026, 1, 2),
    models={
        "toy-1": ModelPrice(read=1, written=10),
        "toy-0": ModelPrice(read=0.1, written=1),
        "local-1": ModelPrice(read=2, written=2),
    },
)
OURS = Prices.read().tables[-1]
PRICES = Prices((TABLE, OURS))


@pytest.mark.parametrize(
    ("model", "backend", "base_url", "expected"),
    [
        ("toy-1", "openai", None, (1, 10)),
        ("toy-1-2026-01-05", "openai", None, (1, 10)),
        ("vendor/toy-1-20260105", "openai", "https://example.org/v1", (1, 10)),
        ("toy-1", "batch", None, (0.5, 5)),
        ("toy-2", "openai", None, None),
        ("llama", "openai", "http://localhost:11434/v1", (0, 0)),
        ("llama", "transformers", None, (0, 0)),
        ("gpt-4o", "openai", "http://127.0.0.1:8000/v1", (0, 0)),
        ("local-1", "openai", "http://127.0.0.1:8000/v1", (2, 2)),
    ],
)
def test_prices(model: str, backend: str, base_url: str | None, expected: Any) -> None:
    price = PRICES.of(model, backend, base_url)
    assert (price and (price.read, price.written)) == expected


def test_the_projects_prices_have_a_day() -> None:
    assert OURS.day >= date(2026, 11, 27) and len(OURS.models) > 20
    assert "as of 2026-" in str(PRICES.of("gpt-5-mini", "openai"))


def test_cheaper_models_are_of_the_same_family() -> None:
    price = PRICES.of("toy-1", "openai")
    assert price is not None and [
        cheaper_model.model for cheaper_model in PRICES.cheaper(price)
    ] == ["toy-0"]
    assert (money(None), money(0.01234), money(1234.5)) == (
        "unknown price",
        "0.0123 USD",
        "1,234.50 USD",
    )


@pytest.mark.parametrize(
    ("terms", "cost", "expected_text"),
    [
        (Terms(PRICES), 2.0, "nobody is there to agree"),
        (Terms(PRICES), None, "nobody is there to agree"),
        (Terms(PRICES), 0.0, None),
        (Terms(PRICES, agreed=True), 2.0, None),
        (Terms(PRICES, budget=5), 2.0, None),
        (Terms(PRICES, budget=1), 2.0, None),
        (Terms(PRICES, budget=1), None, "cannot be kept without a price"),
    ],
)
def test_agreement(
    terms: Terms, cost: float | None, expected_text: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", open("/dev/null"))  # noqa: SIM115, PTH123
    if expected_text is None:
        terms.agree(cost, is_free=False, say=print)
    else:
        with pytest.raises(UserError, match=expected_text):
            terms.agree(cost, is_free=False, say=print)


def test_the_budget_stops_calls_and_what_was_answered_stays(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 100_000, "completion_tokens": 0}
    prompt_texts = [f"Who won race {race_number}?" for race_number in range(30)]
    with serve_json(lambda _, body: (200, chat_reply("Ada", usage=usage))) as address:
        settings = OpenAI(model="toy-1", base_url=f"{address}/v1", concurrency=2)
        with allowing(Terms(PRICES, budget=1.0)):
            model = open_model(settings, 1, tmp_path)
            with pytest.raises(UserError, match="the budget is reached"):
                model.complete(prompt_texts)
        spent = model.cost()
        assert spent is not None and 0.8 <= spent <= 1.05
        with allowing(Terms(PRICES, budget=5.0)):
            second_model = open_model(settings, 1, tmp_path)
            assert second_model.earlier_costs["other"].tokens_read == model.usage.tokens_read
            second_model.complete(prompt_texts)
    assert model.usage.calls + second_model.usage.calls == 30, "none is asked twice"


def test_what_an_unfinished_run_has_asked_is_not_estimated_again(tmp_path: Path) -> None:
    """The uses are none, so that only what was answered before is counted."""
    plan = RunPlan((), "candidates", 1, 9, tmp_path / "a.parquet", tmp_path, run_key="release")
    terms, said_lines = Terms(PRICES, agreed=True), list[str]()
    usage = {"prompt_tokens": 100_000, "completion_tokens": 0}
    with serve_json(lambda _, body: (200, chat_reply("Ada", usage=usage))) as address:
        settings = OpenAI(model="toy-1", base_url=f"{address}/v1")
        with allowing(terms):
            first_model = open_model(settings, 1, tmp_path)
            announce(plan, [first_model], terms, said_lines.append)
            assert "answered already" not in said_lines[-1]
            first_model.complete(["Who won?", "Who lost?"])
            announce(plan, [open_model(settings, 1, tmp_path)], terms, said_lines.append)
            assert said_lines[-1].endswith("; 2 calls are answered already")


def test_a_model_named_on_the_command_line_is_named_again_by_the_manifest() -> None:
    model_values = {"model": "my/toy-1", "base_url": "http://localhost:1/v1", "concurrency": 9}
    settings = named_model("openai", model_values)
    release_command = " ".join(
        ["factdrift release streamingqa", *model_words(settings), "--rows 9"]
    )
    remade = model_of(release_command)
    assert remade is not None
    assert remade.model_dump(exclude={"concurrency"}) == settings.model_dump(
        exclude={"concurrency"}
    )
    assert model_of("factdrift release streamingqa --limit 3") is None
    batch_settings: Any = named_model("batch", {"model": "toy-1"})
    assert batch_settings.folder == Path("batches")
    with pytest.raises(UserError, match="--base-url: the backend 'batch' has no such option"):
        named_model("batch", {"model": "m", "base_url": "http://localhost:1/v1"})


def test_dates_are_scaled_in_proportion() -> None:
    scaled = DateSettings().scaled(1_458)
    amounts = [scaled.eval, scaled.train, scaled.valid]
    assert [amount.recent for amount in amounts] == [182, 497, 50]
    assert scaled.eval.past == 182


MODULE = (sys.executable, "-m", "factdrift")


class Newsroom:
    """A chat server that writes two questions an article, judges them well, and counts prompts."""

    def __init__(self) -> None:
        self.prompts: Counter[str] = Counter()
        self.answers: dict[str, str] = {}
        self.lock = Lock()

    def reply(self, request: BaseHTTPRequestHandler, body: Any) -> Reply:
        prompt = body["messages"][0]["content"]
        with self.lock:
            self.prompts[prompt] += 1
        text = self._answer(body["response_format"]["json_schema"]["name"], prompt)
        usage = {"prompt_tokens": len(prompt) // 5, "completion_tokens": len(text) // 4}
        return 200, chat_reply(text, usage=usage)

    def _answer(self, form: str, prompt: str) -> str:
        if form == "news":
            return json.dumps(
                {"guess": "?", "reason": "a vote"} | dict.fromkeys(NEWS_VERDICTS, True)
            )
        if form == "answer":
            question = re.findall(r"Question: (.*)", prompt)[-1]
            return json.dumps({"answer": self.answers[question]})
        article = prompt.rpartition("Article of ")[2].partition("\n")[2].partition("\n\n")[0]
        pairs = []
        for sentence in article.splitlines()[1:3]:
            names = re.findall(r"[A-Z]\w+(?: [A-Z]\w+)+", sentence)
            other_words = re.findall(r"[a-z]{5,}", sentence)
            if names:
                question = f"Who did the Reuters list of May 2013 name for {' '.join(other_words)}?"
                self.answers[question] = names[0]
                pair = {"event": "a vote", "event_day": "", "sentence": sentence}
                pair |= {"question": question, "answer": names[0], "answer_type": "entity"}
                pairs.append(pair)
        return json.dumps({"pairs": pairs})


def options(address: str, folder: Path, seed: int = 1) -> list[str]:
    """The command for a recipe with the filters that ask a model alone."""
    prices = folder / "prices.yaml"
    prices.write_text("day: 2026-01-02\nmodels:\n  toy-1: {read: 1.0, written: 10.0}\n")
    recipe = yaml.safe_load((ROOT / "builders/recipes/streamingqa-lm.yaml").read_text("utf-8"))
    recipe["build"]["filters"] = [{"filter": "news_and_unique"}, {"filter": "round_trip"}]
    recipe["build"].pop("people", None)
    # the sample has few articles, and the same question about one would be asked once for two draws
    recipe["build"].setdefault("dates", {})["most_draws"] = 1
    recipe["seed"] = seed
    (folder / f"news{seed}.yaml").write_text(yaml.safe_dump(recipe))
    places = ["--build", str(folder / "build"), "--out", str(folder / "out")]
    model = ["--model", "toy-1", "--base-url", address, "--prices", str(prices)]
    news = str(ROOT / "samples/news")
    return ["release", str(folder / f"news{seed}.yaml"), "--news", news, *model, *places]


def amount(pattern: str, text: str) -> float:
    match = re.search(pattern, text)
    assert match, text
    return float(match[1].replace(",", ""))


@pytest.mark.slow
def test_a_killed_run_goes_on_and_the_estimate_is_near(tmp_path: Path) -> None:
    """A first look at 20 rows, then 150, killed on the way: 500 calls, none of them twice."""
    newsroom = Newsroom()
    with serve_json(newsroom.reply) as address:
        command_words = options(f"{address}/v1", tmp_path)
        refused_run = run_cli(*command_words, "--limit", 20, ok=False)
        assert "nobody is there to agree" in refused_run.stderr and not newsroom.prompts
        # of other draws: in so few articles the two runs would else share some answers
        first_look = run_cli(*options(f"{address}/v1", tmp_path, 2), "--limit", 20, "--yes")
        assert "the whole recipe, " in first_look.stderr
        newsroom.prompts.clear()
        killed = start_process(*MODULE, *command_words, "--rows", 150, "--yes", "--concurrency", 2)
        deadline = time.monotonic() + 120
        while newsroom.prompts.total() < 200 and time.monotonic() < deadline:
            time.sleep(0.02)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        at_kill = newsroom.prompts.total()
        finished = run_cli(*command_words, "--rows", 150, "--yes")
    twice = sum(prompt_count - 1 for prompt_count in newsroom.prompts.values())
    assert twice <= 2, "only what was under way at the kill is asked again"
    assert newsroom.prompts.total() >= 500 > at_kill
    assert "calls are answered already" in finished.stderr
    estimated = amount(r"  about ([\d.,]+) USD \(by your run of 40 draws\)", finished.stderr)
    cost = amount(r"  it cost ([\d.,]+) USD", finished.stderr)
    assert abs(estimated - cost) <= 0.15 * cost
    assert "cheaper: batch files" in finished.stderr
    rebuild = json.loads((tmp_path / "out/streamingqa-lm/1.0.0/manifest.json").read_text("utf-8"))
    assert f"--model toy-1 --base-url {address}/v1 --rows 150" in rebuild["rebuild"]
