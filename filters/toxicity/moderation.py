"""Scores of a moderation endpoint: the one of OpenAI, or another that speaks its protocol."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from pydantic import Field, PositiveFloat, PositiveInt, field_validator

from factdrift.builders.core.cache import AnswerCache
from factdrift.builders.core.config import Strict, did_you_mean
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hashing import text_sha256
from factdrift.builders.core.http import JsonClient, Reply, RetryError, RetryPolicy
from factdrift.builders.core.keys import key_for
from factdrift.filters.toxicity.scores import ATTRIBUTES, Scoring, Thresholds, ToxicityScores

_VENDOR = "https://api.openai.com/v1"
_CATEGORIES: Mapping[str, tuple[str, ...]] = {
    "identity_attack": ("hate", "hate/threatening"),
    "insult": ("harassment", "harassment/threatening"),
    "severe_toxicity": ("hate/threatening", "harassment/threatening"),
    "sexually_explicit": ("sexual", "sexual/minors"),
    "threat": ("hate/threatening", "harassment/threatening"),
}
"""OpenAI's categories of each attribute. `violence` is about violence that is told, and so is most
news; profanity has no category."""
_LONGEST_WAIT = 600.0
"""Seconds: the longest wait that the service can ask for; where it asks for more, the run stops."""


class Moderation(Strict):
    """Scores from `POST {base_url}/moderations`, the highest of an attribute's categories.

    Scores are kept by content, so a stopped run goes on where it was. OpenAI has no category for
    profanity, whose score is null. The thresholds are a beginning, not measured: `factdrift bands`
    sets them on your own rows.

    `model`: the endpoint's model; `base_url`: its address, up to `/v1`; `key_variable`: the
    environment variable that holds the key, if it wants one; `categories`: of each attribute, the
    names of the endpoint's scores; `together`: texts of one call; `attempts`: how often one call is
    tried; `backoff`: seconds before the second attempt, doubled for each further one; `timeout`:
    seconds that a call may take.
    """

    scorer: Literal["moderation"] = "moderation"
    model: str = "omni-moderation-latest"
    base_url: str = _VENDOR
    key_variable: str = "OPENAI_API_KEY"
    categories: Mapping[str, tuple[str, ...]] = _CATEGORIES
    thresholds: Thresholds = Thresholds(**dict.fromkeys(_CATEGORIES, 0.5))
    together: int = Field(default=32, ge=1, le=1000)
    attempts: PositiveInt = 6
    backoff: PositiveFloat = 2.0
    timeout: PositiveFloat = 30.0

    @field_validator("categories")
    @classmethod
    def _attributes(
        cls, categories: Mapping[str, tuple[str, ...]]
    ) -> Mapping[str, tuple[str, ...]]:
        for name in categories:
            if name not in ATTRIBUTES:
                near_name = did_you_mean(name, ATTRIBUTES)
                suggestion = f"; did you mean {near_name!r}?" if near_name else ""
                names = ", ".join(ATTRIBUTES)
                raise ValueError(f"{name!r} is no attribute, they are {names}{suggestion}")
        return categories

    def start(self, cache: Path | None, say: Callable[[str], None]) -> Scoring:
        """Look for the key; `UserError` where OpenAI's own endpoint has none."""
        address = f"{self.base_url.rstrip('/')}/moderations"
        key_given = "key_variable" in self.model_fields_set
        key = key_for(self.key_variable, address, required=key_given)
        if not key and self.base_url.rstrip("/") == _VENDOR:
            hint_text = f"export {self.key_variable}=…, or give the base_url of another endpoint"
            raise UserError(f"the variable {self.key_variable} holds no key", hint=hint_text)
        return _RunningEndpoint(self, address, key, cache).score


class _RunningEndpoint:
    def __init__(
        self, settings: Moderation, address: str, key: str | None, folder: Path | None
    ) -> None:
        self._settings, self._address = settings, address
        self._cache = AnswerCache(folder / "moderation.sqlite" if folder else None, "scores")
        policy = RetryPolicy(settings.timeout, settings.attempts, settings.backoff, _LONGEST_WAIT)
        hint_text = "what it has scored is kept; run again to go on"
        self._client = JsonClient(address, policy, key=key, hint=hint_text)

    def score(self, texts: Sequence[str]) -> Sequence[ToxicityScores]:
        """Scores of each text; each different text is asked for once, ever."""
        keys = [text_sha256(f"{self._address}\n{self._settings.model}\n{text}") for text in texts]
        missing = {
            key: text for key, text in zip(keys, texts, strict=True) if self._cache.get(key) is None
        }
        for some_keys in _portions(list(missing), self._settings.together):
            call_body = {
                "model": self._settings.model,
                "input": [missing[key] for key in some_keys],
            }
            all_scores = self._client.post(call_body, self._reader(len(some_keys)))
            for key, categories in zip(some_keys, all_scores, strict=True):
                self._cache.keep(key, msgspec.json.encode(categories).decode())
        return [self._scores(key) for key in keys]

    def _scores(self, key: str) -> ToxicityScores:
        """The scores of a kept answer, by the categories that the recipe names now."""
        categories = msgspec.json.decode(self._cache.get(key) or "{}", type=dict[str, float])
        attributes: dict[str, float | None] = {}
        for attribute, names in self._settings.categories.items():
            scores = [categories[name] for name in names if name in categories]
            attributes[attribute] = round(max(scores), 4) if scores else None
        return ToxicityScores(**attributes)

    def _reader(self, text_count: int) -> Callable[[Reply, int], list[dict[str, float]]]:
        """Read the scores by category of so many texts; `UserError` where the call is refused."""

        def read(reply: Reply, attempt: int) -> list[dict[str, float]]:
            if reply.status != 200:
                words = f"status {reply.status} {self._client.words(reply)}".rstrip()
                hint_text = f"check the key in ${self._settings.key_variable}, and `model`"
                error_text = f"the moderation endpoint refuses the call: {words}"
                raise UserError(error_text, where=self._address, hint=hint_text)
            try:
                results = msgspec.json.decode(reply.body, type=_ModerationReply).results
            except (msgspec.DecodeError, UnicodeDecodeError):
                results = []
            if len(results) != text_count:
                raise RetryError("an answer that has not the scores of each text")
            return [result.category_scores for result in results]

        return read


def _portions(keys: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(keys), size):
        yield keys[start : start + size]


class _Result(msgspec.Struct):
    category_scores: dict[str, float]


class _ModerationReply(msgspec.Struct):
    results: list[_Result] = []
