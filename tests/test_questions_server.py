"""The backend `openai` against a real server that speaks the chat protocol badly."""

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.generate.backends import CachedModel
from factdrift.builders.generate.openai_servers import OpenAI, OpenAIBackend
from factdrift.builders.generate.protocol import Query, Request
from tests.filter_cases import FINDER
from tests.json_server import Reply, chat_reply, serve_json
from tests.test_questions_candidates import article

KEY = "sk-secret-0123456789"
ARTICLE = article(*(f"Zoran Milanović{n} won in Croatia in May 20{n}." for n in range(10, 40)))
REQUESTS = [Request(ARTICLE, c, date(2020, 1, 9)) for c in FINDER.find(ARTICLE)][:40]

LOG: list[Any] = []
"""Of every call that is understood: fault, key, body, and the time."""


def logged(fault: str) -> list[Any]:
    return [row for row in LOG if row[0] == fault]


def answer(request: BaseHTTPRequestHandler, body: Any) -> Reply:
    """The first part of the path says what is wrong with the server."""
    fault = request.path.split("/")[1]
    prompt, key = body["messages"][0]["content"], str(request.headers.get("Authorization"))
    if fault == "noschema" and "response_format" in body:
        return refused(400, "response_format is not supported")
    if fault == "picky" and ("max_tokens" in body or "temperature" in body):
        return refused(400, "Unsupported parameter: use max_completion_tokens")
    first = not any(row[2]["messages"][0]["content"] == prompt for row in logged(fault))
    LOG.append((fault, key, body, time.time()))
    if fault == "slow" and first:
        request.connection.recv(1)  # until the caller has had enough of it
    if fault in ("slow", "drop") and first:
        return None
    if fault == "refuses-key":
        own = key.split()[-1]
        return refused(401, f"Incorrect API key '{own}', or key={own}, see our site")
    if fault == "strict" and "May 2011" in prompt[-40:]:
        return refused(400, "content filter")
    if fault == "dies" and len(logged(fault)) > 10:
        return 503, "no"
    if fault == "htmlonce" and first:
        fault = "html"
    passing: dict[str, Reply] = {"busy": (429, "{}", {"Retry-After": "1"}), "broken": (500, "oops")}
    always: dict[str, Reply] = {
        "echo": (200, "sent: " + key),
        "tell": (200, {"sent": key}),
        "html": (200, "<html>login</html>", {"Content-Type": "text/html"}),
        "garbage": (200, "not json"),
        "down": (503, "no"),
    }
    return (passing if first else {}).get(fault) or always.get(fault) or (200, says(fault, prompt))


def refused(status: int, message: str) -> Reply:
    return status, {"error": {"message": message}}


def says(fault: str, prompt: str) -> object:
    question = "Who is asked in call of " + prompt[-40:-10].replace("\n", " ") + "?"
    held = json.dumps({"question": question})
    said: dict[str, object] = {
        "empty": "",
        "refuses": "I'm sorry, no.",
        "good": held,
        "chatty": f"Sure! Here is a question:\n\n**{question}**",
        "reasoning": f"<think>Who? What?\nHm.</think>{question}",
        "half": f"Hm. Who? What?</think>\n{question}",
        "endless": "<think>Who? What?\nHm.",
        "lies": f"Sure, here is the JSON: ```json\n{held}\n```",
        "renames": json.dumps({"q": question}),
        "truncated": held[: len(held) // 2],
        "parts": [{"type": "thinking", "thinking": "x"}, {"type": "text", "text": held}],
    }
    return chat_reply(said.get(fault, question))


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serve_json(answer) as address:
        yield address


def backend(server: str, fault: str, **more: object) -> OpenAIBackend:
    values = {"base_url": f"{server}/{fault}/v1", "model": "m", "retries": 2}
    values["timeout"] = 3 if fault == "slow" else 60
    return OpenAIBackend(OpenAI.model_validate(values | {"longest_wait": 2} | more), 3)


@pytest.fixture(autouse=True)
def allowed(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("FACTDRIFT_KEYS", f"OPENAI_API_KEY={server} OTHER_KEY={server}")


@pytest.mark.parametrize(
    "fault", ["busy", "broken", "drop", "htmlonce", pytest.param("slow", marks=pytest.mark.slow)]
)
def test_a_fault_that_passes_is_tried_again(server: str, fault: str) -> None:
    results = backend(server, fault).generate(REQUESTS[:4])
    assert all(r.text and r.text.startswith("Who is asked") for r in results)
    log = logged(fault)
    assert len(log) == 8 and {row[1] for row in log} == {f"Bearer {KEY}"}
    if fault == "busy":
        assert log[-1][3] - log[0][3] >= 1, "Retry-After is honoured"


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("endless", "cut_off"),
        ("truncated", "cut_off"),
        ("html", "html"),
        ("garbage", "not_json"),
        ("empty", "empty"),
        ("refuses", "refusal"),
    ],
)
def test_nonsense_is_a_counted_drop(server: str, fault: str, reason: str) -> None:
    results = backend(server, fault, retries=1, longest_wait=0.1).generate(REQUESTS[:3])
    assert [(r.text, r.reason) for r in results] == [(None, reason)] * 3


@pytest.mark.parametrize(
    "fault",
    ["good", "chatty", "reasoning", "half", "lies", "renames", "plain", "parts", "noschema"],
)
def test_whatever_its_manner_the_question_is_found(server: str, fault: str) -> None:
    results = backend(server, fault).generate(REQUESTS[:7])
    assert len(results) == 7
    assert all(r.text and "Who is asked" in r.text and r.text.endswith("?") for r in results)
    assert not any("think" in str(r.text) or "{" in str(r.text) for r in results)
    calls = [body for _, _, body, _ in logged(fault)]
    if fault == "noschema":
        assert all("response_format" not in call for call in calls)
    elif fault == "good":
        assert all(call["response_format"]["type"] == "json_schema" for call in calls)


def test_other_fields_of_a_call(server: str) -> None:
    with pytest.raises(UserError, match=r"no answer is of use \(server_refused.*Unsupported"):
        backend(server, "picky").generate(REQUESTS[:1])
    request = {"max_completion_tokens": 500, "temperature": None, "reasoning_effort": "low"}
    (result,) = backend(server, "picky", request=request).generate(REQUESTS[:1])
    assert result.text
    sent = logged("picky")[-1][2]
    assert sent["reasoning_effort"] == "low" and "max_tokens" not in sent


@pytest.mark.parametrize(("fault", "said"), [("refuses", "I'm sorry, no"), ("empty", "nothing")])
def test_the_first_answers_end_a_run_that_is_of_no_use(
    server: str, tmp_path: Path, fault: str, said: str
) -> None:
    kept = CachedModel(backend(server, fault, concurrency=1), tmp_path)
    with pytest.raises(UserError, match=f"none of the first 10 answers .*{said}"):
        kept.generate(REQUESTS)
    assert kept_in(kept.path) == [], "a run that is mended asks again"
    assert 10 <= len(logged(fault)) < 40


def test_a_prompt_that_is_refused_alone_is_a_counted_drop(server: str) -> None:
    results = backend(server, "strict", concurrency=1).generate(REQUESTS[:12])
    refused = [r for r in results if r.reason == "server_refused"]
    assert 1 <= len(refused) < 6
    assert {r.detail for r in refused} == {"HTTP 400: content filter"}


def test_a_server_that_stays_down_ends_the_run(server: str) -> None:
    with pytest.raises(UserError, match="still HTTP 503 after 3 attempts"):
        backend(server, "down", longest_wait=0.1).generate(REQUESTS)
    with pytest.raises(UserError, match="ConnectionError"):
        backend("http://127.0.0.1:9", "x", longest_wait=0.1).generate(REQUESTS[:2])


@pytest.mark.parametrize("key", ["wrong", "sk-short", "a-key-of-24-characters-0"])
def test_a_refused_key_is_not_repeated(
    server: str, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("OTHER_KEY", key)
    with pytest.raises(UserError, match="HTTP 401: Incorrect API key '…', or key=…,") as error:
        backend(server, "refuses-key", key_variable="OTHER_KEY").generate(REQUESTS[:2])
    assert key not in str(error.value)
    (result,) = backend(server, "echo", retries=0, key_variable="OTHER_KEY").generate(REQUESTS[:1])
    assert result.reason == "not_json" and result.detail == "sent: Bearer …"
    (result,) = backend(server, "tell", retries=0, key_variable="OTHER_KEY").generate(REQUESTS[:1])
    assert result.reason == "no_choice" and result.detail == "{'sent': 'Bearer …'}"
    with pytest.raises(ValueError, match="without user"):
        OpenAI(base_url="http://me:pw@host/v1", model="m")


def kept_in(path: Path) -> list[tuple[str, str]]:
    if not path.is_file():
        return []
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT key, result FROM results").fetchall()


def test_the_cache_goes_on_where_a_run_died(server: str, tmp_path: Path) -> None:
    broken = CachedModel(backend(server, "dies", longest_wait=0.1), tmp_path)
    with pytest.raises(UserError, match="run again to go on"):
        broken.generate(REQUESTS)
    kept = kept_in(broken.path)
    assert 5 <= len(kept) < len(REQUESTS)
    assert not any(KEY.encode() in path.read_bytes() for path in tmp_path.iterdir())
    ok = backend(server, "dies")
    whole = CachedModel(ok, tmp_path)
    whole.model = backend(server, "ok")
    results = whole.generate(REQUESTS)
    assert all(r.text for r in results)
    assert whole.prompt_counts["writing"] - whole.misses == len(kept)
    again = CachedModel(ok, tmp_path, offline=True)
    assert again.generate([*REQUESTS, REQUESTS[0]]) == [*results, results[0]]
    assert again.misses == 0
    with pytest.raises(UserError, match="1 of 1 results"):
        again.answer([Query(ARTICLE, "Who won?", date(2020, 1, 9))])


def test_a_file_that_is_no_cache(tmp_path: Path) -> None:
    b = backend("http://127.0.0.1:9", "x")
    path = tmp_path / CachedModel(b, tmp_path / "other").path.name
    path.write_bytes(b"something else, and more of it than a header" * 9)
    with pytest.raises(UserError, match="cache cannot be opened: file is not a database"):
        CachedModel(b, tmp_path)
