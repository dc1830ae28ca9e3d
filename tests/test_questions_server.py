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
ARTICLE = article(
    *(f"Zoran Milanović{number} won in Croatia in May 20{number}." for number in range(10, 40))
)
REQUESTS = [Request(ARTICLE, candidate, date(2020, 1, 9)) for candidate in FINDER.find(ARTICLE)][
    :40
]

LOG: list[Any] = []
"""Of every call that is understood: fault, key, body, and the time."""


def logged(fault: str) -> list[Any]:
    return [row for row in LOG if row[0] == fault]


def answer(request: BaseHTTPRequestHandler, body: Any) -> Reply:
    """The first part of the path says what is wrong with the server."""
    path_fault = request.path.split("/")[1]
    prompt, key = body["messages"][0]["content"], str(request.headers.get("Authorization"))
    if path_fault == "noschema" and "response_format" in body:
        return refused(400, "response_format is not supported")
    if path_fault == "picky" and ("max_tokens" in body or "temperature" in body):
        return refused(400, "Unsupported parameter: use max_completion_tokens")
    first_time = not any(row[2]["messages"][0]["content"] == prompt for row in logged(path_fault))
    LOG.append((path_fault, key, body, time.time()))
    if path_fault == "slow" and first_time:
        request.connection.recv(1)  # until the caller has had enough of it
    if path_fault in ("slow", "drop") and first_time:
        return None
    if path_fault == "refuses-key":
        bare_key = key.split()[-1]
        return refused(401, f"Incorrect API key '{bare_key}', or key={bare_key}, see our site")
    if path_fault == "strict" and "May 2011" in prompt[-40:]:
        return refused(400, "content filter")
    if path_fault == "dies" and len(logged(path_fault)) > 10:
        return 503, "no"
    if path_fault == "htmlonce" and first_time:
        path_fault = "html"
    passing_faults: dict[str, Reply] = {
        "busy": (429, "{}", {"Retry-After": "1"}),
        "broken": (500, "oops"),
    }
    lasting_faults: dict[str, Reply] = {
        "echo": (200, "sent: " + key),
        "tell": (200, {"sent": key}),
        "html": (200, "<html>login</html>", {"Content-Type": "text/html"}),
        "garbage": (200, "not json"),
        "down": (503, "no"),
    }
    return (
        (passing_faults if first_time else {}).get(path_fault)
        or lasting_faults.get(path_fault)
        or (200, says(path_fault, prompt))
    )


def refused(status: int, message: str) -> Reply:
    return status, {"error": {"message": message}}


def says(fault: str, prompt: str) -> object:
    question = "Who is asked in call of " + prompt[-40:-10].replace("\n", " ") + "?"
    json_text = json.dumps({"question": question})
    contents: dict[str, object] = {
        "empty": "",
        "refuses": "I'm sorry, no.",
        "good": json_text,
        "chatty": f"Sure! Here is a question:\n\n**{question}**",
        "reasoning": f"<think>Who? What?\nHm.</think>{question}",
        "half": f"Hm. Who? What?</think>\n{question}",
        "endless": "<think>Who? What?\nHm.",
        "lies": f"Sure, here is the JSON: ```json\n{json_text}\n```",
        "renames": json.dumps({"q": question}),
        "truncated": json_text[: len(json_text) // 2],
        "parts": [{"type": "thinking", "thinking": "x"}, {"type": "text", "text": json_text}],
    }
    return chat_reply(contents.get(fault, question))


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serve_json(answer) as address:
        yield address


def backend(server: str, fault: str, **more: object) -> OpenAIBackend:
    setting_values = {"base_url": f"{server}/{fault}/v1", "model": "m", "retries": 2}
    setting_values["timeout"] = 3 if fault == "slow" else 60
    return OpenAIBackend(OpenAI.model_validate(setting_values | {"longest_wait": 2} | more), 3)


@pytest.fixture(autouse=True)
def allowed(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("FACTDRIFT_KEYS", f"OPENAI_API_KEY={server} OTHER_KEY={server}")


@pytest.mark.parametrize(
    "fault", ["busy", "broken", "drop", "htmlonce", pytest.param("slow", marks=pytest.mark.slow)]
)
def test_a_fault_that_passes_is_tried_again(server: str, fault: str) -> None:
    model_results = backend(server, fault).generate(REQUESTS[:4])
    for model_result in model_results:
        assert model_result.text and model_result.text.startswith("Who is asked")
    fault_log = logged(fault)
    assert len(fault_log) == 8 and {row[1] for row in fault_log} == {f"Bearer {KEY}"}
    if fault == "busy":
        assert fault_log[-1][3] - fault_log[0][3] >= 1, "Retry-After is honoured"


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
    model_results = backend(server, fault, retries=1, longest_wait=0.1).generate(REQUESTS[:3])
    assert [(model_result.text, model_result.reason) for model_result in model_results] == [
        (None, reason)
    ] * 3


@pytest.mark.parametrize(
    "fault",
    ["good", "chatty", "reasoning", "half", "lies", "renames", "plain", "parts", "noschema"],
)
def test_whatever_its_manner_the_question_is_found(server: str, fault: str) -> None:
    model_results = backend(server, fault).generate(REQUESTS[:7])
    assert len(model_results) == 7
    for model_result in model_results:
        assert (
            model_result.text
            and "Who is asked" in model_result.text
            and model_result.text.endswith("?")
        )
        assert "think" not in model_result.text and "{" not in model_result.text
    call_bodies = [call_body for _, _, call_body, _ in logged(fault)]
    if fault == "noschema":
        for call in call_bodies:
            assert "response_format" not in call
    elif fault == "good":
        for call in call_bodies:
            assert call["response_format"]["type"] == "json_schema"


def test_other_fields_of_a_call(server: str) -> None:
    with pytest.raises(UserError, match=r"no answer is of use \(server_refused.*Unsupported"):
        backend(server, "picky").generate(REQUESTS[:1])
    request_fields = {"max_completion_tokens": 500, "temperature": None, "reasoning_effort": "low"}
    (model_result,) = backend(server, "picky", request=request_fields).generate(REQUESTS[:1])
    assert model_result.text
    sent_body = logged("picky")[-1][2]
    assert sent_body["reasoning_effort"] == "low" and "max_tokens" not in sent_body


@pytest.mark.parametrize(
    ("fault", "last_detail"), [("refuses", "I'm sorry, no"), ("empty", "nothing")]
)
def test_the_first_answers_end_a_run_that_is_of_no_use(
    server: str, tmp_path: Path, fault: str, last_detail: str
) -> None:
    cached_model = CachedModel(backend(server, fault, concurrency=1), tmp_path)
    with pytest.raises(UserError, match=f"none of the first 10 answers .*{last_detail}"):
        cached_model.generate(REQUESTS)
    assert kept_in(cached_model.path) == [], "a run that is mended asks again"
    assert 10 <= len(logged(fault)) < 40


def test_a_prompt_that_is_refused_alone_is_a_counted_drop(server: str) -> None:
    model_results = backend(server, "strict", concurrency=1).generate(REQUESTS[:12])
    refused_results = [
        model_result for model_result in model_results if model_result.reason == "server_refused"
    ]
    assert 1 <= len(refused_results) < 6
    assert {model_result.detail for model_result in refused_results} == {"HTTP 400: content filter"}


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
    (model_result,) = backend(server, "echo", retries=0, key_variable="OTHER_KEY").generate(
        REQUESTS[:1]
    )
    assert model_result.reason == "not_json" and model_result.detail == "sent: Bearer …"
    (model_result,) = backend(server, "tell", retries=0, key_variable="OTHER_KEY").generate(
        REQUESTS[:1]
    )
    assert model_result.reason == "no_choice" and model_result.detail == "{'sent': 'Bearer …'}"
    with pytest.raises(ValueError, match="without user"):
        OpenAI(base_url="http://me:pw@host/v1", model="m")


def kept_in(path: Path) -> list[tuple[str, str]]:
    if not path.is_file():
        return []
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT key, result FROM results").fetchall()


def test_the_cache_goes_on_where_a_run_died(server: str, tmp_path: Path) -> None:
    broken_model = CachedModel(backend(server, "dies", longest_wait=0.1), tmp_path)
    with pytest.raises(UserError, match="run again to go on"):
        broken_model.generate(REQUESTS)
    kept_rows = kept_in(broken_model.path)
    assert 5 <= len(kept_rows) < len(REQUESTS)
    for path in tmp_path.iterdir():
        assert KEY.encode() not in path.read_bytes()
    working_backend = backend(server, "dies")
    whole_model = CachedModel(working_backend, tmp_path)
    whole_model.model = backend(server, "ok")
    model_results = whole_model.generate(REQUESTS)
    for model_result in model_results:
        assert model_result.text
    assert whole_model.prompt_counts["writing"] - whole_model.misses == len(kept_rows)
    offline_model = CachedModel(working_backend, tmp_path, offline=True)
    assert offline_model.generate([*REQUESTS, REQUESTS[0]]) == [*model_results, model_results[0]]
    assert offline_model.misses == 0
    with pytest.raises(UserError, match="1 of 1 results"):
        offline_model.answer([Query(ARTICLE, "Who won?", date(2020, 1, 9))])


def test_a_file_that_is_no_cache(tmp_path: Path) -> None:
    server_backend = backend("http://127.0.0.1:9", "x")
    cache_path = tmp_path / CachedModel(server_backend, tmp_path / "other").path.name
    cache_path.write_bytes(b"something else, and more of it than a header" * 9)
    with pytest.raises(UserError, match="cache cannot be opened: file is not a database"):
        CachedModel(server_backend, tmp_path)
