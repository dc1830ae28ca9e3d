"""The backend `openai` against a server that is not ours: `transformers serve`, a tiny model."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import date
from importlib.util import find_spec
from pathlib import Path

import pytest
import requests

from factdrift.builders.core.errors import UserError
from factdrift.builders.generate.backends import Cached
from factdrift.builders.generate.openai_servers import OpenAI, OpenAIBackend
from factdrift.builders.generate.protocol import Query, Request
from factdrift.builders.generate.transformers_models import Transformers, TransformersBackend
from tests import tiny_model
from tests.filter_cases import FINDER
from tests.test_questions_candidates import article

NEEDED = ("torch", "fastapi", "openai", "uvicorn")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(map(find_spec, NEEDED)), reason=f"`transformers serve` needs {', '.join(NEEDED)}"
    ),
]
ARTICLE = article(
    "Zoran Milanović won the presidential election in Croatia on Sunday.",
    "Andrej Plenković is the prime minister of Croatia.",
)
REQUESTS = [Request(ARTICLE, c, date(2020, 1, 9)) for c in FINDER.find(ARTICLE)]
QUERY = Query(ARTICLE, "Who won?", date(2020, 1, 9))
STARTS = 120
"""Seconds that the server may take until it answers."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model.causal(tmp_path_factory.mktemp("served"), [ARTICLE.text] * 3, 8192)


@pytest.fixture(scope="module")
def server(model: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    log = model / "serve.log"
    words = ["serve", str(model), "--host", "127.0.0.1", "--port", port, "--device", "cpu"]
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "transformers.cli.transformers", *words],
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait(f"http://127.0.0.1:{port}/health", process, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def _wait(health: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + STARTS
    while time.monotonic() < end and process.poll() is None:
        try:
            if requests.get(health, timeout=5).ok:
                return
        except requests.ConnectionError:
            time.sleep(0.2)
    pytest.fail(f"no server: {log.read_text('utf-8', 'replace')[-2000:]}")


def backend(server: str, model: Path | str, seed: int = 3, **more: object) -> OpenAIBackend:
    values = {"base_url": server, "model": str(model), "retries": 0, "new_tokens": 8}
    return OpenAIBackend(OpenAI.model_validate(values | more), seed)


def test_it_says_what_the_model_says_here(server: str, model: Path, tmp_path: Path) -> None:
    """The same model, loaded by the backend `transformers`, writes the same."""
    here = TransformersBackend(Transformers(model=str(model), new_tokens=8, batch=1, chat=True), 3)
    kept = Cached(backend(server, model), tmp_path)
    results, expected = kept.generate(REQUESTS), here.generate(REQUESTS)
    assert len(results) == len(REQUESTS) > 3
    assert results == expected
    (answer,) = kept.answer([QUERY])
    assert [answer] == here.answer([QUERY])
    offline = Cached(backend(server, model), tmp_path, offline=True)
    assert offline.generate(REQUESTS) == results and offline.answer([QUERY]) == [answer]


def test_the_seed_reaches_it(server: str, model: Path) -> None:
    said = [backend(server, model, seed, temperature=1.0).answer([QUERY])[0] for seed in (3, 4, 3)]
    texts = [r.text or r.detail for r in said]
    assert texts[0] == texts[2] != texts[1]


@pytest.mark.parametrize(
    ("path", "name", "said"),
    [
        ("", "another-model", "HTTP 400: Server is pinned to .* requested 'another-model'"),
        ("/nowhere", None, "HTTP 404: Not Found"),
    ],
)
def test_its_refusals_are_shown(
    server: str, model: Path, path: str, name: str | None, said: str
) -> None:
    with pytest.raises(UserError, match=said):
        backend(server + path, name or model).generate(REQUESTS[:1])


def test_a_prompt_longer_than_the_model_reads(server: str, model: Path) -> None:
    """The server breaks over it and says 500: tried again, then the run ends."""
    long = article(*["Zoran Milanović won the presidential election in Croatia."] * 1000)
    request = Request(long, FINDER.find(long)[0], date(2020, 1, 9))
    with pytest.raises(UserError, match="still HTTP 500 after 2 attempts"):
        backend(server, model, retries=1, longest_wait=0.1, characters=60_000).generate([request])


def test_many_calls_at_a_time(server: str, model: Path) -> None:
    few = backend(server, model, concurrency=1).generate(REQUESTS)
    assert backend(server, model, concurrency=8).generate(REQUESTS) == few
