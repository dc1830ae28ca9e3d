"""Perspective, played by a server of our own: cache, refusals, and the key that nobody sees."""

import json
import logging
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.filters.toxicity.perspective import Perspective
from factdrift.filters.toxicity.scores import ATTRIBUTES, Scoring, ToxicityScores

BAD = {"idiot": "INSULT", "damn": "PROFANITY", "die!": "THREAT"}
"""Words that the server finds 0.95 bad."""


@dataclass
class Service:
    """The server's state; `faults` are used up in order, one a request."""

    key: str = "right-key"
    url: str = ""
    faults: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)


class Handler(BaseHTTPRequestHandler):
    """One request; `service` is set on the class that `serve` makes."""

    service: Service
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.service.paths.append(self.path)
        text = body["comment"]["text"]
        self.service.asked.append(text)
        fault = self.service.faults.pop(0) if self.service.faults else ""
        if self.headers.get("X-Goog-Api-Key") != self.service.key:
            self.error(403, f"key {self.headers.get('X-Goog-Api-Key')} is blocked")
        elif fault.isdigit():
            self.error(int(fault), "not now")
        elif fault == "truncated":
            self.reply(200, b'{"attributeScores": {"INS')
        elif not text.strip():
            self.error(400, "Comment must be non-empty.", {"errorType": "COMMENT_EMPTY"})
        elif body["languages"] != ["en"] or body["doNotStore"] is not True:
            self.error(400, "wrong call")
        else:
            worst = {BAD[w] for w in text.lower().replace("?", "").split() if w in BAD}
            wanted = set(body["requestedAttributes"]) & {name.upper() for name in ATTRIBUTES}
            found = {n: {"summaryScore": {"value": 0.95 if n in worst else 0.05}} for n in wanted}
            self.reply(200, json.dumps({"attributeScores": found}).encode())

    def error(self, status: int, message: str, *details: dict[str, str]) -> None:
        error = {"code": status, "message": message, "details": details}
        self.reply(status, json.dumps({"error": error}).encode())

    def reply(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serve() -> Iterator[Service]:
    """The service on a free port of this machine, its key set."""
    service = Service()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"service": service}))
    service.url = f"http://127.0.0.1:{server.server_address[1]}/v1alpha1/comments:analyze"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERSPECTIVE_API_KEY", service.key)
        patch.setenv("FACTDRIFT_KEYS", f"PERSPECTIVE_API_KEY={service.url}")
        try:
            yield service
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


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
    (score,) = start(service).score(["Who is this idiot?"])
    assert score.insult == 0.95 and len(service.asked) == 4
    assert Perspective().rate == 1.0


def test_gives_up_and_goes_on(service: Service, tmp_path: Path) -> None:
    service.faults[:] = ["", "", *["503"] * 6]
    with pytest.raises(UserError, match="HTTP 503"):
        start(service, tmp_path).score(["a", "b", "c", "d"])
    assert service.asked == ["a", "b", *["c"] * 6]
    del service.asked[:]
    scores = start(service, tmp_path).score(["a", "b", "c", "d", "a"])
    assert service.asked == ["c", "d"] and len(scores) == 5
    assert scores[0] == scores[4] != ToxicityScores()


def test_refused_text_is_remembered(service: Service, tmp_path: Path) -> None:
    for _ in range(2):
        assert start(service, tmp_path).score([" "]) == [ToxicityScores()]
    assert len(service.asked) == 1


@pytest.mark.parametrize(("key", "said"), [("", "no key"), ("a b", "no key|is no key")])
def test_no_key(service: Service, monkeypatch: pytest.MonkeyPatch, key: str, said: str) -> None:
    monkeypatch.setenv("PERSPECTIVE_API_KEY", key)
    with pytest.raises(UserError, match=said):
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
        start(service, tmp_path).score(["a"])
    monkeypatch.setenv("PERSPECTIVE_API_KEY", "right-key")
    running = start(service, tmp_path)
    running.score(["a"])
    told = ["".join(traceback.format_exception(caught.value)), caplog.text, repr(running)]
    told += [*capfd.readouterr(), *service.paths, Perspective().model_dump_json()]
    told += [p.read_bytes().decode("latin-1") for p in tmp_path.iterdir()]
    assert not [text for text in told if "wrong-key" in text or "right-key" in text]
