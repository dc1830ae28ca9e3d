"""The Perspective API: its documented REST call, slow, cached, and going away."""

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import msgspec
from pydantic import NonNegativeFloat, PositiveFloat, PositiveInt

from factdrift.builders.core.cache import AnswerCache
from factdrift.builders.core.config import Strict
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hashing import text_sha256
from factdrift.builders.core.http import JsonClient, Reply, RetryError, RetryPolicy
from factdrift.builders.core.keys import key_for
from factdrift.filters.toxicity.scores import (
    ATTRIBUTES,
    PAPER_THRESHOLDS,
    Scoring,
    Thresholds,
    ToxicityScores,
)

ENDS = "the Perspective API ends on 31 December 2026: later runs need another scorer, or its cache"
_TEXT_ERRORS = {"COMMENT_EMPTY", "COMMENT_TOO_LONG", "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE"}
"""Types of errors that are about the text, not the call: the text stays without scores."""
_LONGEST_WAIT = 600.0
"""Seconds: the longest wait that the service can ask for; where it asks for more, the run stops."""


class Perspective(Strict):
    """Scores from `comments:analyze`, with the paper's thresholds.

    The key is read from the environment variable `key_env` and travels in a header: it is in no
    URL, log, cache or message. Scores are kept by content, so a stopped run goes on where it was.

    `key_env`: the environment variable that holds the key; `endpoint`: the address that is asked;
    `rate`: calls a second; `attempts`: how often one call is tried; `backoff`: seconds before the
    second attempt, doubled for each further one; `timeout`: seconds that a call may take.
    """

    scorer: Literal["perspective"] = "perspective"
    thresholds: Thresholds = PAPER_THRESHOLDS
    key_env: str = "PERSPECTIVE_API_KEY"
    endpoint: str = "https://commentanalyzer.googleapis.com/v1alpha1/comments:analyze"
    rate: PositiveFloat = 1.0
    attempts: PositiveInt = 6
    backoff: NonNegativeFloat = 2.0
    timeout: PositiveFloat = 30.0

    def start(self, cache: Path | None, say: Callable[[str], None]) -> Scoring:
        """Look for the key and say that the service ends; UserError where there is no key."""
        key = key_for(self.key_env, self.endpoint, required=True)
        if not key:
            raise UserError(
                f"no key for the Perspective API in ${self.key_env}",
                hint=f"export {self.key_env}=…, or use the scorer 'local' or 'transformers'",
            )
        # visible ASCII, as headers take it: `AIza-1`, not `a b`
        if not re.fullmatch(r"[\x21-\x7e]+", key):
            raise UserError(f"${self.key_env} is no key: it has blanks or odd characters")
        say(ENDS)
        return _RunningService(self, key, cache).score


class _RunningService:
    def __init__(self, settings: Perspective, key: str, folder: Path | None) -> None:
        self._settings = settings
        self._cache = AnswerCache(folder / "perspective.sqlite" if folder else None, "scores")
        policy = RetryPolicy(settings.timeout, settings.attempts, settings.backoff, _LONGEST_WAIT)
        self._client = JsonClient(
            settings.endpoint,
            policy,
            key=key,
            header=("X-Goog-Api-Key", "{}"),
            rate=settings.rate,
            hint="what it has scored is kept; run again to go on",
        )

    def score(self, texts: Sequence[str]) -> Sequence[ToxicityScores]:
        """Scores of each text; each different text is asked for once, ever."""
        return [self._score(text) for text in texts]

    def _score(self, text: str) -> ToxicityScores:
        call_body = {
            "comment": {"text": text},
            "languages": ["en"],
            "requestedAttributes": {cache_key.upper(): {} for cache_key in ATTRIBUTES},
            "doNotStore": True,
        }
        request = msgspec.json.encode([self._settings.endpoint, call_body], order="sorted")
        cache_key = text_sha256(request.decode())
        known_scores = self._cache.get(cache_key)
        if known_scores is None:
            scores = self._client.post(call_body, self._read)
            known_scores = self._cache.keep(cache_key, msgspec.json.encode(asdict(scores)).decode())
        return msgspec.json.decode(known_scores, type=ToxicityScores)

    def _read(self, reply: Reply, attempt: int) -> ToxicityScores:
        """The scores of a reply, empty if the text was refused; `UserError` if the call was."""
        try:
            reply_data = msgspec.json.decode(reply.body, type=_Reply)
        except (msgspec.DecodeError, UnicodeDecodeError):
            reply_data = _Reply()
        if reply.status == 200:
            if reply_data.attributeScores is None:
                raise RetryError("an answer that is no JSON of scores")
            attributes = {name: reply_data.attributeScores.get(name.upper()) for name in ATTRIBUTES}
            scores = {
                name: attribute.summaryScore.value if attribute else None
                for name, attribute in attributes.items()
            }
            return ToxicityScores(**scores)
        if any(detail.get("errorType") in _TEXT_ERRORS for detail in reply_data.error.details):
            return ToxicityScores()
        answer_text = f"status {reply.status} {self._client.words(reply)}".rstrip()
        raise UserError(
            f"the Perspective API refuses the call: {answer_text}",
            where=self._settings.endpoint,
            hint=f"check the key in ${self._settings.key_env}, and that the API is enabled for it",
        )


class _SummaryScore(msgspec.Struct):
    value: float


class _Attribute(msgspec.Struct):
    summaryScore: _SummaryScore  # noqa: N815 the service's name


class _Error(msgspec.Struct, frozen=True):
    details: Sequence[dict[str, Any]] = ()


class _Reply(msgspec.Struct):
    attributeScores: dict[str, _Attribute] | None = None  # noqa: N815 the service's name
    error: _Error = _Error()
