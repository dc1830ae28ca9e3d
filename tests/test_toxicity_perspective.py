"""Perspective: faults, quota, cache, and the key that nobody sees."""

import logging
import time
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.filters.toxicity.perspective import Perspective
from factdrift.filters.toxicity.scores import Scoring, ToxicityScores
from tests.test_toxicity_server import Service, serve


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    with serve() as running:
        monkeypatch.setenv("PERSPECTIVE_API_KEY", running.key)
        monkeypatch.setenv("FACTDRIFT_KEYS", f"PERSPECTIVE_API_KEY={running.url}")
        yield running


def start(service: Service, cache: Path | None = None, **settings: float) -> Scoring:
    fast = {"rate": 1000.0, "backoff": 0.001} | settings
    scorer = Perspective.model_validate({"endpoint": service.url} | fast)
    return scorer.start(cache, lambda _: None)


@pytest.mark.parametrize("fault", ["429", "500", "503", "hang up", "truncated"])
def test_faults_are_tried_again(service: Service, fault: str) -> None:
    service.faults[:] = [fault] * 3
    (score,) = start(service).score(["Who is this idiot?"])
    assert score.insult == 0.95 and len(service.asked) == 4


def test_gives_up_and_goes_on(service: Service, tmp_path: Path) -> None:
    service.faults[:] = ["", "", *["503"] * 6]
    with pytest.raises(UserError, match="HTTP 503"):
        start(service, tmp_path).score(["a", "b", "c", "d"])
    assert service.asked == ["a", "b", *["c"] * 6]
    del service.asked[:]
    scores = start(service, tmp_path).score(["a", "b", "c", "d", "a"])
    assert service.asked == ["c", "d"] and len(scores) == 5
    assert scores[0] == scores[4] != ToxicityScores()


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after(service: Service, form: str) -> None:
    service.faults[:] = ["429"]
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    service.retry_after = "1" if form == "seconds" else when
    began = time.monotonic()
    start(service).score(["a"])
    assert time.monotonic() - began >= 0.9


def test_retry_after_too_long(service: Service) -> None:
    service.faults[:] = ["429"]
    service.retry_after = "86400"
    with pytest.raises(UserError, match=r"asked again in \d+ seconds"):
        start(service).score(["a"])
    assert len(service.asked) == 1


def test_quota(service: Service) -> None:
    assert Perspective().rate == 1.0
    began = time.monotonic()
    start(service, rate=20).score(["a", "b", "c", "d", "e", "a"])
    assert 0.2 <= time.monotonic() - began < 2


def test_refused_text_is_remembered(service: Service, tmp_path: Path) -> None:
    for _ in range(2):
        assert start(service, tmp_path).score([" "]) == [ToxicityScores()]
    assert len(service.asked) == 1


def test_nobody_listens() -> None:
    with serve() as gone:
        pass
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERSPECTIVE_API_KEY", "secret-key")
        patch.setenv("FACTDRIFT_KEYS", f"PERSPECTIVE_API_KEY={gone.url}")
        with pytest.raises(UserError, match="ConnectionError") as caught:
            start(gone, attempts=2).score(["a"])
    assert "secret-key" not in repr(caught.value)


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
    seen = [
        "".join(traceback.format_exception(caught.value)),
        str(caught.value),
        caplog.text,
        repr(running),
    ]
    seen += [*capfd.readouterr(), *service.paths, Perspective().model_dump_json()]
    seen += [p.read_bytes().decode("latin-1") for p in tmp_path.iterdir()]
    assert not [text for text in seen if "wrong-key" in text or "right-key" in text]
