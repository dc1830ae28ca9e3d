"""Questions and answers of any server that speaks the OpenAI chat protocol."""

import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from threading import Event, Lock
from typing import Any, Literal, NamedTuple

from pydantic import Field, JsonValue, field_validator

from factdrift.builders.core import keys
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hashing import seeded_fraction
from factdrift.builders.core.http import JsonClient, Reply, RetryError, RetryPolicy, message_in
from factdrift.builders.generate import prompts as p
from factdrift.builders.generate.protocol import OnResult, Result, Shape, Usage

_HINT = "what was answered is kept; run again to go on"
_FIRST_WAIT = 0.5
"""Seconds before the second attempt."""
_VENDOR = "https://api.openai.com/v1"
_NOT_ALLOWED = frozenset({401, 403})
_OF_ONE = frozenset({400, 413, 422})
"""Statuses that may be about one prompt: too long, or against the server's rules."""


class Chat(p.ModelSettings):
    """What calls of the chat protocol have in common, whichever way they are sent."""

    new_tokens: int = Field(
        default=512,
        ge=1,
        description="longest output, in tokens; a model that reasons first wants thousands",
    )
    completion: bool = Field(
        default=False, description="ask a base model to go on with the text: no chat, no schema"
    )
    characters: int = Field(default=6000, ge=200, description="most of an article that is shown")
    structured: bool = Field(
        default=True, description="ask for JSON by a schema; a server that refuses it is not held"
    )
    request: Mapping[str, JsonValue] = Field(
        default={}, description="further fields of a call; null leaves one of ours out"
    )

    def body(self, text: str, seed: int, shape: Shape | None) -> dict[str, Any]:
        """The call for one prompt."""
        ours: dict[str, Any] = {
            "model": self.model,
            **self._asked(text),
            "max_tokens": self.new_tokens,
            "temperature": self.temperature,
            "seed": seed,
        }
        if "max_completion_tokens" in self.request:  # the same under another name
            del ours["max_tokens"]
        if shape and self.structured and not self.completion:
            schema = {"name": shape, "strict": True, "schema": _SCHEMAS[shape]}
            ours["response_format"] = {"type": "json_schema", "json_schema": schema}
        return {name: v for name, v in (ours | dict(self.request)).items() if v is not None}

    def identity(self, seed: int, **more: object) -> str:
        """All that an answer depends on besides its prompt."""
        names = {"model", "new_tokens", "temperature", "structured", "request"}
        names |= {"completion", *(["stop"] if self.stop else [])} if self.completion else set()
        return p.model_identity(**self.model_dump(include=names), seed=seed, **more)

    def _asked(self, text: str) -> dict[str, Any]:
        if self.completion:
            return {"prompt": text} | ({"stop": list(self.stop)} if self.stop else {})
        return {"messages": [{"role": "user", "content": text}]}


def _object(**fields: Any) -> dict[str, Any]:
    names = list(fields)
    return {
        "type": "object",
        "properties": fields,
        "required": names,
        "additionalProperties": False,
    }


_TEXT = {"type": "string"}
_SCHEMAS: Mapping[Shape, dict[str, Any]] = {
    "question": _object(question=_TEXT),
    "answer": _object(answer=_TEXT),
    "verdict": _object(**{name: {"type": "boolean"} for name in p.VERDICTS}),
}
"""What an answer of each form holds."""


class OpenAI(Chat):
    """A server by address and model name; its key comes from the environment alone."""

    backend: Literal["openai"] = "openai"
    base_url: str = Field(default=_VENDOR, description="up to `/v1`")
    key_variable: str = Field(
        default="OPENAI_API_KEY", description="environment variable that holds the key, if any"
    )
    concurrency: int = Field(default=4, ge=1, le=256, description="calls at a time")
    retries: int = Field(default=6, ge=0, description="further attempts after a failed call")
    timeout: float = Field(default=60.0, gt=0, description="seconds that one call may take")
    longest_wait: float = Field(default=60.0, gt=0, description="seconds between attempts at most")

    @field_validator("base_url")
    @classmethod
    def _plain(cls, url: str) -> str:
        if not url.startswith(("http://", "https://")) or "@" in url or "?" in url:
            raise ValueError("must be http(s)://host/…/v1 without user, password or query")
        return url

    def check(self, *, offline: bool = False) -> None:
        """As every model, and the key of the one server that certainly wants one."""
        super().check()
        if not offline:
            self.key()
        wanted = self.base_url.rstrip("/") == _VENDOR and not offline
        if wanted and not os.environ.get(self.key_variable):
            hint = f"export {self.key_variable}=…, or give the base_url of another server"
            raise UserError(f"the variable {self.key_variable} holds no key", hint=hint)

    def key(self) -> str | None:
        """The key, where the user allowed it to go to this server; see `builders.core.keys`."""
        named = "key_variable" in self.model_fields_set
        return keys.key_for(self.key_variable, self.base_url, required=named)

    def open(self, seed: int) -> "OpenAIBackend":
        """The model; nothing is called yet."""
        return OpenAIBackend(self, seed)


class OpenAIBackend(p.PromptedModel):
    """Calls in parallel; every result is handed to `on_result` at once, so a run that dies resumes.

    The key is in a header, in no message.
    """

    def __init__(self, settings: OpenAI, seed: int) -> None:
        self.settings = settings
        self.prompts = p.load_prompts(settings.prompts)
        self.characters = settings.characters
        self.name = f"openai:{settings.model}"
        self._url = settings.base_url.rstrip("/")
        self.identity = settings.identity(seed, backend="openai", base_url=self._url)
        self.seed = seed
        self.usage = Usage()
        self._lock = Lock()
        self._held = settings.structured
        self._first = p.FirstAnswers(settings.stop_after, self._url)

    def complete(
        self,
        texts: Sequence[str],
        on_result: OnResult | None = None,
        *,
        shape: Shape | None = None,
        parse: p.ParseText | None = None,
    ) -> list[Result]:
        """What the server says to each text."""
        out: list[Result | None] = [None] * len(texts)
        stopped = Event()
        client = self._client(stopped)

        def call(n: int) -> None:
            result = self._ask(client, texts[n], shape, strict=parse is None)

            def hand_on() -> None:
                out[n] = result
                if on_result:
                    on_result(n, result)

            with self._lock:
                self._first.see(result, parse or Result, hand_on)

        pool = ThreadPoolExecutor(self.settings.concurrency)
        calls = [pool.submit(call, n) for n in range(len(texts))]
        try:
            for ended in wait(calls, return_when=FIRST_EXCEPTION).done:
                ended.result()
        finally:  # after an error, or Ctrl-C: calls under way end, no other begins
            stopped.set()
            pool.shutdown(cancel_futures=True)
        self._first.end()
        return [r for r in out if r is not None]

    def _client(self, stopped: Event) -> JsonClient:
        """A client whose waiting ends where the run is stopped."""
        s = self.settings

        def sleep(seconds: float) -> None:
            if stopped.wait(seconds):
                raise UserError("stopped", where=self._url)

        policy = RetryPolicy(s.timeout, s.retries + 1, _FIRST_WAIT, s.longest_wait)
        address = f"{self._url}/{'' if s.completion else 'chat/'}completions"
        return JsonClient(address, policy, key=s.key(), hint=_HINT, sleep=sleep)

    def _ask(self, client: JsonClient, text: str, shape: Shape | None, *, strict: bool) -> Result:
        """The text that the server writes after `text`, or why there is none.

        `UserError` when the server refuses or keeps failing; what it refuses about one prompt is
        a result, unless `strict`. A server that does not take the schema is asked without it.
        """
        held = shape if self._held else None
        reply = self._post(client, text, held)
        if reply.status in _OF_ONE and held:
            free = self._post(client, text, None)
            if free.status == 200:
                self._held = False
                reply = free
        if reply.status == 200:
            answer = _text_of(reply)
            return answer.result(client.redact(answer.text), whole=shape is not None)
        message = f"HTTP {reply.status}: {client.words(reply)}"
        if reply.status in _NOT_ALLOWED:
            hint = f"{self.settings.key_variable} has to hold a key that this server takes"
            raise UserError(message, where=self._url, hint=hint)
        if strict or reply.status not in _OF_ONE:
            raise UserError(message, where=self._url, hint=_HINT)
        return Result(None, "server_refused", message)

    def _post(self, client: JsonClient, text: str, shape: Shape | None) -> Reply:
        def read(reply: Reply, attempt: int) -> Reply:
            if reply.status == 200:
                answer = _text_of(reply)
                self.usage.add(  # what is asked again is paid for, too
                    read=_count(answer.tokens.get("prompt_tokens")),
                    written=_count(answer.tokens.get("completion_tokens")),
                )
                if answer.bad and attempt <= self.settings.retries:
                    raise RetryError(answer.bad)
            return reply

        spread = 0.5 + seeded_fraction("wait", text)  # so that calls that failed together part
        return client.post(self.settings.body(text, self.seed, shape), read, spread=spread)


class Completion(NamedTuple):
    """What a server answered: the text, why there is none, its tokens, whether it was cut off."""

    text: str
    bad: str | None
    tokens: Mapping[str, Any]
    cut: bool = False

    def result(self, text: str, *, whole: bool) -> Result:
        """The result; one that was cut off is none where it has to be `whole`, or is empty."""
        if self.bad:
            return Result(None, self.bad, text[:80])
        if self.cut and (whole or not text.strip()):
            return Result(None, "cut_off", f"raise new_tokens: {text[:80]}")
        return Result(text)


def parse_completion(data: Any) -> Completion | None:
    """What a chat answer or a completion says; None where there is no answer.

    Without a text, what the model says of its refusal stands for it; parts are joined, those of
    reasoning left out.
    """
    try:
        choice = data["choices"][0]
        if "message" in choice:
            message = choice["message"]
            content = message["content"]
            if isinstance(content, list):
                content = "".join(part.get("text") or "" for part in content if "text" in part)
            text = str(content or message.get("refusal") or "")
        else:
            text = str(choice["text"])
        cut = choice.get("finish_reason") == "length"
    except (KeyError, IndexError, TypeError, AttributeError):
        return None
    tokens = data.get("usage")
    return Completion(text, None, tokens if isinstance(tokens, dict) else {}, cut)


def _text_of(reply: Reply) -> Completion:
    """What a reply says."""
    text = reply.body.decode("utf-8", "replace")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        html = "html" in reply.headers.get("Content-Type", "") or "<html" in text[:200]
        return Completion(text, "html" if html else "not_json", {})
    return parse_completion(data) or Completion(
        message_in(reply.body) or str(data), "no_choice", {}
    )


def _count(value: object) -> int:
    """A number of tokens as a server says it; servers need not."""
    return value if isinstance(value, int) and value > 0 else 0
