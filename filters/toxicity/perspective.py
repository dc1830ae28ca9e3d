"""The Perspective API: its documented REST call, slow, cached, and going away."""

import hashlib
import os
import re
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import asdict
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Literal

import msgspec
import requests
from pydantic import NonNegativeFloat, PositiveFloat, PositiveInt

from builders.config import Strict
from builders.errors import UserError
from filters.toxicity.base import Surroundings
from filters.toxicity.scores import ATTRIBUTES, PAPER, Thresholds, ToxicityScores

ENDS = "the Perspective API ends on 31 December 2026: later runs need another scorer, or its cache"
_OF_TEXT = {"COMMENT_EMPTY", "COMMENT_TOO_LONG", "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE"}
"""Error types that speak of the text, not of the call: the text stays without scores."""
_LONGEST = 600.0
"""Seconds: the longest wait that is done as told; asked for more, the run stops."""


class Perspective(Strict):
    """Scores from `comments:analyze`, with the paper's thresholds.

    The key is read from the environment variable `key_env` and travels in a header: it is in no
    URL, log, cache or message. Scores are kept by content, so a stopped run goes on where it was.
    """

    scorer: Literal["perspective"] = "perspective"
    thresholds: Thresholds = PAPER
    key_env: str = "PERSPECTIVE_API_KEY"
    endpoint: str = "https://commentanalyzer.googleapis.com/v1alpha1/comments:analyze"
    rate: PositiveFloat = 1.0
    attempts: PositiveInt = 6
    backoff: NonNegativeFloat = 2.0
    timeout: PositiveFloat = 30.0

    def start(self, surroundings: Surroundings) -> "_Running":
        """Look for the key and say that the service ends; UserError where there is no key."""
        key = os.environ.get(self.key_env, "").strip()
        if not key:
            raise UserError(
                f"no key for the Perspective API in ${self.key_env}",
                hint=f"export {self.key_env}=…, or use the scorer 'local' or 'transformers'",
            )
        if not re.fullmatch(r"[\x21-\x7e]+", key):
            raise UserError(f"${self.key_env} is no key: it has blanks or odd characters")
        surroundings.say(ENDS)
        return _Running(self, key, surroundings.cache)


class _Running:
    def __init__(self, settings: Perspective, key: str, folder: Path | None) -> None:
        self._settings, self._key = settings, key
        self._cache = Cache(folder / "perspective.sqlite" if folder else None)
        self._session = requests.Session()
        self._next = 0.0

    def score(self, texts: Sequence[str]) -> Sequence[ToxicityScores]:
        """Scores of each text; each different text is asked for once, ever."""
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> ToxicityScores:
        body = {
            "comment": {"text": text},
            "languages": ["en"],
            "requestedAttributes": {name.upper(): {} for name in ATTRIBUTES},
            "doNotStore": True,
        }
        name = hashlib.sha256(
            msgspec.json.encode([self._settings.endpoint, body], order="sorted")
        ).hexdigest()
        known = self._cache.get(name)
        if known is None:
            known = self._ask(body)
            self._cache.put(name, known)
        return known

    def _ask(self, body: dict[str, Any]) -> ToxicityScores:
        why = ""
        for attempt in range(self._settings.attempts):
            self._wait(self._next - time.monotonic())
            self._next = time.monotonic() + 1 / self._settings.rate
            told: float | None = None
            try:
                reply = self._session.post(
                    self._settings.endpoint,
                    json=body,
                    headers={"X-Goog-Api-Key": self._key},
                    timeout=self._settings.timeout,
                    allow_redirects=False,
                )
                if reply.status_code == 200:
                    return _scores(reply.content)
                if reply.status_code != 429 and reply.status_code < 500:
                    return self._refused(reply)
                why, told = f"status {reply.status_code}", _told(reply.headers.get("Retry-After"))
            except requests.RequestException as error:
                why = type(error).__name__
            except (msgspec.DecodeError, UnicodeDecodeError):
                why = "an answer that is no JSON of scores"
            if told is not None and told > _LONGEST:
                why += f", to be asked again in {told:.0f} seconds"
                break
            if attempt + 1 < self._settings.attempts:
                self._wait(self._settings.backoff * 2**attempt if told is None else told)
        raise UserError(
            f"the Perspective API gives no scores: {why}",
            where=self._settings.endpoint,
            hint="what it has scored is kept; run again to go on",
        ) from None

    def _refused(self, reply: requests.Response) -> ToxicityScores:
        """No scores where the text was refused; UserError where the call was."""
        try:
            error = msgspec.json.decode(reply.content, type=_Refusal).error
        except msgspec.DecodeError:
            error = _Error()
        if any(detail.get("errorType") in _OF_TEXT for detail in error.details):
            return ToxicityScores()
        said = error.message.replace(self._key, "…")
        raise UserError(
            f"the Perspective API refuses the call: status {reply.status_code} {said}".rstrip(),
            where=self._settings.endpoint,
            hint=f"check the key in ${self._settings.key_env}, and that the API is enabled for it",
        )

    def _wait(self, seconds: float) -> None:
        if seconds > 0:
            time.sleep(seconds)


class Cache:
    """Scores by the hash of what was asked; each is on disk before the next is asked for."""

    def __init__(self, path: Path | None) -> None:
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path or ":memory:", isolation_level=None)
        self._db.execute("CREATE TABLE IF NOT EXISTS scores (key TEXT PRIMARY KEY, scores TEXT)")

    def get(self, key: str) -> ToxicityScores | None:
        """The scores kept under `key`, if any."""
        row = self._db.execute("SELECT scores FROM scores WHERE key = ?", [key]).fetchone()
        return msgspec.json.decode(row[0], type=ToxicityScores) if row else None

    def put(self, key: str, scores: ToxicityScores) -> None:
        """Keep `scores` under `key`."""
        text = msgspec.json.encode(asdict(scores)).decode()
        self._db.execute("INSERT OR REPLACE INTO scores VALUES (?, ?)", [key, text])


class _Value(msgspec.Struct):
    value: float


class _Attribute(msgspec.Struct):
    summaryScore: _Value  # noqa: N815 the service's name


class _Reply(msgspec.Struct):
    attributeScores: dict[str, _Attribute]  # noqa: N815 the service's name


class _Error(msgspec.Struct):
    message: str = ""
    details: list[dict[str, Any]] = []


class _Refusal(msgspec.Struct):
    error: _Error


def _scores(content: bytes) -> ToxicityScores:
    """The six scores of an answer; what it leaves out is null."""
    found = msgspec.json.decode(content, type=_Reply).attributeScores
    values = {name: found.get(name.upper()) for name in ATTRIBUTES}
    return ToxicityScores(**{n: a.summaryScore.value if a else None for n, a in values.items()})


def _told(header: str | None) -> float | None:
    """Seconds to wait by a `Retry-After` header: a number, or a day and time."""
    if header is None:
        return None
    if re.fullmatch(r"\d+(\.\d+)?", header.strip()):
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return None
