"""The HTTP client against a real server: retries, refusals, size, redirects, and the key."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import partial
from http.server import BaseHTTPRequestHandler
from types import SimpleNamespace
from typing import Any

import pytest

from factdrift.builders.core import http
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.http import (
    JsonClient,
    RetryError,
    RetryPolicy,
    retry,
    retry_after,
    short,
)
from tests.json_server import Reply, serve_json

KEY = "sk-secret"
# a service is given a minute, but the waits of tests are short
HASTE = RetryPolicy(timeout=60, attempts=3, first_wait=0.01, longest_wait=1.5)
# for a slow server: the call ends while it still writes
SHORT = RetryPolicy(timeout=1.5, attempts=3, first_wait=0.01, longest_wait=1.5)


DOWN: Reply = (503, {"error": "tired"}, {"Retry-After": "1"})
ANSWERS: dict[str, Reply] = {
    "moved": (307, "", {"Location": "http://localhost:9/x"}),
    "refused": (403, {"error": {"message": f"no such key {KEY}, " + "long " * 99}}),
    "full": (200, "x" * 1000),
    "large": (200, "x" * 1001),
    "short": (200, "abc", {"Content-Length": "100"}),
    "down": DOWN,
}


@pytest.fixture
def server() -> Iterator[tuple[str, list[Any]]]:
    seen_requests: list[tuple[str, str | None]] = []

    def answer(handler: BaseHTTPRequestHandler, _: Any) -> Reply:
        kind = handler.path.strip("/")
        is_first = kind not in dict(seen_requests)
        seen_requests.append((kind, handler.headers.get("Authorization")))
        if kind == "slow" and is_first:
            handler.connection.recv(1)  # until the caller has had enough of it
            return None
        handler.close_connection = kind == "short"
        return DOWN if kind == "busy" and is_first else ANSWERS.get(kind, (200, "fine"))

    with serve_json(answer) as server_url:
        yield server_url, seen_requests


def read(reply: http.Reply, attempt: int) -> tuple[int, bytes, int]:
    return reply.status, reply.body, attempt


@pytest.mark.parametrize(
    ("kind", "expected", "at_least"),
    [
        ("ok", (200, b"fine", 1), 0.0),
        ("busy", (200, b"fine", 2), 1.0),
        ("slow", (200, b"fine", 2), 1.5),
        ("full", (200, b"x" * 1000, 1), 0.0),
        ("moved", "307: it sends callers on to localhost", 0.0),
        ("large", "its answer is longer than 1,000 bytes", 0.0),
        ("short", r"still an answer that breaks off \(ProtocolError\) after 3 attempts", 0.0),
        ("down", "still HTTP 503 after 3 attempts: tired\n  rest", 2.0),
    ],
)
def test_answers_of_a_server(
    server: tuple[str, list[Any]], kind: str, expected: Any, at_least: float
) -> None:
    policy = SHORT if kind == "slow" else HASTE
    client = JsonClient(f"{server[0]}/{kind}", policy, key=KEY, max_bytes=1000, hint="rest")
    begun = time.monotonic()
    if isinstance(expected, str):
        with pytest.raises(UserError, match=expected):
            client.post({}, read)
    else:
        assert client.post({}, read) == expected
    assert time.monotonic() - begun >= at_least
    assert {(name, key) for name, key in server[1]} == {(kind, f"Bearer {KEY}")}


def test_statuses_that_are_tried_again_and_the_largest_answer() -> None:
    retried_statuses = [408, 409, 425, 429, 500, 502, 503, 504, 506, 599]
    refused_statuses = [400, 401, 403, 404, 410, 426, 430, 501, 505, 600]
    assert [
        reply_status
        for reply_status in (*refused_statuses, *retried_statuses)
        if reply_status in http.RETRY_STATUSES
    ] == retried_statuses
    assert http.MAX_BYTES == 67_108_864


def test_the_key_is_not_shown(server: tuple[str, list[Any]]) -> None:
    client = JsonClient(f"{server[0]}/refused", HASTE, key=KEY)
    reply_words = client.post({}, lambda reply, _: client.words(reply))
    assert reply_words.startswith("no such key …, long long") and len(reply_words) <= 160
    assert short(f"key sk-abc or\n{'x' * 25} is wrong") == "key … or … is wrong"
    assert short("x" * 24) == "x" * 24
    with pytest.raises(
        UserError, match=r"still out of reach \(ConnectionError\) .*refused"
    ) as raised_error:
        JsonClient("http://127.0.0.1:9/x", HASTE, key=KEY).post({}, read)
    assert KEY not in str(raised_error.value)


def test_rate(server: tuple[str, list[Any]]) -> None:
    client = JsonClient(f"{server[0]}/ok", HASTE, rate=10)
    begun = time.monotonic()
    for _ in range(4):
        client.post({}, read)
    assert 0.3 <= time.monotonic() - begun < 2


@pytest.mark.parametrize(
    ("asked", "spread", "waits", "end"),
    [
        ([None] * 5, 1.0, [1, 2, 4, 5], "there: still busy after 5 attempts"),
        ([None] * 5, 0.5, [0.5, 1, 2, 4], "there: still busy after 5 attempts"),
        ([3.0, None, 0.0, None, None], 1.0, [3, 2, 0, 5], "still busy after 5 attempts"),
        ([5.0, None, None, None, None], 1.0, [5, 2, 4, 5], "still busy after 5 attempts"),
        ([0.0, 5.1], 1.0, [0], "asked again in 5 seconds"),
    ],
)
def test_waits(asked: list[float | None], spread: float, waits: list[float], end: str) -> None:
    slept: list[float] = []
    reports: list[str] = []
    waits_left = iter(asked)

    def call(attempt: int) -> int:
        raise RetryError("busy", "so much to do", wait=next(waits_left))

    policy = RetryPolicy(attempts=5, first_wait=1, longest_wait=5)
    with pytest.raises(UserError, match=end):
        retry_more = partial(retry, spread=spread, sleep=slept.append, report=reports.append)
        retry_more(call, policy, where="there", hint="")
    assert slept == waits
    assert reports == [f"  there: busy: so much to do; it is tried again in {waits[0]:.0f} s"]


@pytest.mark.parametrize(
    ("wait", "give_up", "attempts"), [(None, 7.0, 4), (None, 6.9, 3), (1.0, 1.0, 9), (1.1, 1.0, 2)]
)
def test_a_failing_server_is_given_up(
    wait: float | None, give_up: float, attempts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After our own waits, which double; those that it asked for before do not count."""
    now = 0.0

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    def call(attempt: int) -> int:
        raise RetryError("busy", wait=wait)

    monkeypatch.setattr(http, "time", SimpleNamespace(monotonic=lambda: now))
    policy = RetryPolicy(attempts=9, first_wait=1, give_up=give_up)
    with pytest.raises(UserError, match=f"still busy after {attempts} attempts"):
        retry(call, policy, where="there", hint="", sleep=sleep, report=lambda _: None)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (None, None),
        ("7", 7.0),
        (" 15 ", 15.0),
        ("soon", None),
        ("100000", 100_000.0),
        ("9" * 400, 1e10),
        ("9" * 5000, None),
        (format_datetime(datetime.now(UTC) - timedelta(9999), usegmt=True), 0.0),
        (format_datetime(datetime.now(UTC) + timedelta(hours=2), usegmt=True), 7200),
    ],
    ids=[
        *("none", "seconds", "spaces", "no number", "a day and more", "ages", "too long"),
        *("a day past", "a day to come"),
    ],
)
def test_retry_after(text: str | None, seconds: float | None) -> None:
    found_seconds = retry_after({"Retry-After": text} if text else {})
    assert found_seconds == pytest.approx(seconds, abs=600) if seconds else found_seconds == seconds
