"""Perspective, played by a server of our own: cache, refusals, and the key that nobody sees."""

import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.filters.toxicity.perspective import Perspective
from factdrift.filters.toxicity.scores import ATTRIBUTES, Scoring, ToxicityScores
from tests.json_server import Reply, serve_json

BAD = {"idiot": "INSULT", "damn": "PROFANITY", "die!": "THREAT"}
"""Words that the server finds 0.95 bad."""


@dataclass
class Service:
    """The server's state; `faults` are used up in order, one a request."""

    key: str = "right-key"
    url: str = ""
    faults: list[str] = field(default_factory=list)
    asked_texts: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)


@contextmanager
def serve() -> Iterator[Service]:
    """The service on a free port of this machine, its key set."""
    service = Service()

    def answer(request: BaseHTTPRequestHandler, body: Any) -> Reply:
        text, key = body["comment"]["text"], request.headers.get("X-Goog-Api-Key")
        service.paths.append(request.path)
        service.asked_texts.append(text)
        fault = service.faults.pop(0) if service.faults else ""
        if key != service.key:
            return error(403, f"key {key} is blocked")
        if fault.isdigit():
            return error(int(fault), "not now")
        if fault == "truncated":
            return 200, '{"attributeScores": {"INS'
        if not text.strip():
            return error(400, "Comment must be non-empty.", {"errorType": "COMMENT_EMPTY"})
        if body["languages"] != ["en"] or body["doNotStore"] is not True:
            return error(400, "wrong call")
        bad_names = {BAD[word] for word in text.lower().replace("?", "").split() if word in BAD}
        requested_names = set(body["requestedAttributes"]) & {name.upper() for name in ATTRIBUTES}
        attribute_scores = {
            name: {"summaryScore": {"value": 0.95 if name in bad_names else 0.05}}
            for name in requested_names
        }
        return 200, {"attributeScores": attribute_scores}

    with serve_json(answer) as address, pytest.MonkeyPatch.context() as patch:
        service.url = f"{address}/v1alpha1/comments:analyze"
        patch.setenv("PERSPECTIVE_API_KEY", service.key)
        patch.setenv("FACTDRIFT_KEYS", f"PERSPECTIVE_API_KEY={service.url}")
        yield service


def error(status: int, message: str, *details: dict[str, str]) -> Reply:
    return status, {"error": {"code": status, "message": message, "details": details}}


@pytest.fixture
def service() -> Iterator[Service]:
    with serve() as running:
        yield running


def start(service: Service, cache: Path | None = None) -> Scoring:
    scorer = Perspective(endpoint=service.url, rate=1000, backoff=0.001)
    return scorer.start(cache, lambda _: None)


@pytest.mark.parametrize("fault", ["429", "truncated"])
def test_faults_are_tried_again(service: Service, fault: str) -> None:
    service.faults[:] = [fault] * 3
    (score,) = start(service)(["Who is this idiot?"])
    assert score.insult == 0.95 and len(service.asked_texts) == 4
    assert Perspective().rate == 1.0


def test_gives_up_and_goes_on(service: Service, tmp_path: Path) -> None:
    service.faults[:] = ["", "", *["503"] * 6]
    with pytest.raises(UserError, match="HTTP 503"):
        start(service, tmp_path)(["a", "b", "c", "d"])
    assert service.asked_texts == ["a", "b", *["c"] * 6]
    del service.asked_texts[:]
    scores = start(service, tmp_path)(["a", "b", "c", "d", "a"])
    assert service.asked_texts == ["c", "d"] and len(scores) == 5
    assert scores[0] == scores[4] != ToxicityScores()


def test_refused_text_is_remembered(service: Service, tmp_path: Path) -> None:
    for _ in range(2):
        assert start(service, tmp_path)([" "]) == [ToxicityScores()]
    assert len(service.asked_texts) == 1


@pytest.mark.parametrize(("key", "expected_text"), [("", "no key"), ("a b", "no key|is no key")])
def test_no_key(
    service: Service, monkeypatch: pytest.MonkeyPatch, key: str, expected_text: str
) -> None:
    monkeypatch.setenv("PERSPECTIVE_API_KEY", key)
    with pytest.raises(UserError, match=expected_text):
        start(service)


def test_key_is_seen_nowhere(
    service: Service,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("PERSPECTIVE_API_KEY", "wrong-key")
    with pytest.raises(UserError, match="refuses") as caught:
        start(service, tmp_path)(["a"])
    monkeypatch.setenv("PERSPECTIVE_API_KEY", "right-key")
    score_texts = start(service, tmp_path)
    score_texts(["a"])
    all_texts = ["".join(traceback.format_exception(caught.value)), caplog.text, repr(score_texts)]
    all_texts += [*capfd.readouterr(), *service.paths, Perspective().model_dump_json()]
    all_texts += [cache_path.read_bytes().decode("latin-1") for cache_path in tmp_path.iterdir()]
    assert not [text for text in all_texts if "wrong-key" in text or "right-key" in text]
