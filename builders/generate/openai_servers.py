"""Questions and answers by any server that speaks the OpenAI chat protocol."""

import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from threading import Event, Lock
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import Field, JsonValue, field_validator

from factdrift.builders.core import keys
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hashing import seeded_fraction
from factdrift.builders.core.http import JsonClient, Reply, RetryError, RetryPolicy, message_in
from factdrift.builders.core.steps import NOT_IN_KEY
from factdrift.builders.generate import prompts as p
from factdrift.builders.generate.protocol import OnResult, Result, Shape, Usage
from factdrift.builders.generate.replies import NEWS_VERDICTS, VERDICTS
from factdrift.builders.rows import AnswerType

_HINT = "what was answered is kept; run again to go on"
_FIRST_WAIT = 0.5
"""Seconds before the second attempt; each further wait is twice as long."""
_VENDOR = "https://api.openai.com/v1"
_NOT_ALLOWED = frozenset({401, 403})
"""Statuses of a key that the server does not take: no other prompt would fare better."""
_PROMPT_ERRORS = frozenset({400, 413, 422})
"""Statuses that may be about one prompt: too long, or against the server's rules."""


class Chat(p.ModelSettings):
    """Settings of all calls of the chat protocol, whichever way they are sent."""

    new_tokens: int = Field(
        default=2000,
        ge=1,
        description="longest output, in tokens; a model that reasons first wants more",
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

    def body(self, prompt_text: str, seed: int, shape: Shape | None) -> dict[str, Any]:
        """Return the body of the call for one prompt."""
        call_fields: dict[str, Any] = {
            "model": self.model,
            **self._asked(prompt_text),
            "max_tokens": self.new_tokens,
            "temperature": self.temperature,
            "seed": seed,
        }
        if "max_completion_tokens" in self.request:  # the same under another name
            del call_fields["max_tokens"]
        if shape and self.structured and not self.completion:
            schema = {"name": shape, "strict": True, "schema": _SCHEMAS[shape]}
            call_fields["response_format"] = {"type": "json_schema", "json_schema": schema}
        return {
            field_name: value
            for field_name, value in (call_fields | dict(self.request)).items()
            if value is not None
        }

    def identity(self, seed: int, **more_values: object) -> str:
        """Return a text with everything that an answer depends on besides its prompt."""
        field_names = {"model", "new_tokens", "temperature", "structured", "request"}
        field_names |= (
            {"completion", *(["stop"] if self.stop else [])} if self.completion else set()
        )
        return p.model_identity(**self.model_dump(include=field_names), seed=seed, **more_values)

    def _asked(self, prompt_text: str) -> dict[str, Any]:
        if self.completion:
            return {"prompt": prompt_text} | ({"stop": list(self.stop)} if self.stop else {})
        return {"messages": [{"role": "user", "content": prompt_text}]}


def _object(**fields: Any) -> dict[str, Any]:
    field_names = list(fields)
    return {
        "type": "object",
        "properties": fields,
        "required": field_names,
        "additionalProperties": False,
    }


TOXICITY_ATTRIBUTES = (
    *("identity_attack", "insult", "profanity"),
    *("severe_toxicity", "sexually_explicit", "threat"),
)
"""The scores that a rubric asks for, in the order of the columns of a release."""
_TEXT = {"type": "string"}
_SCHEMAS: Mapping[Shape, dict[str, Any]] = {
    "question": _object(question=_TEXT),
    "pairs": _object(
        pairs={
            "type": "array",
            "items": _object(
                event=_TEXT,
                event_day=_TEXT,
                sentence=_TEXT,
                question=_TEXT,
                answer=_TEXT,
                answer_type={"type": "string", "enum": list(get_args(AnswerType))},
            ),
        }
    ),
    "answer": _object(answer=_TEXT),
    "guess": _object(answer=_TEXT),
    "verdict": _object(**{name: {"type": "boolean"} for name in VERDICTS}),
    "toxicity": _object(**{name: {"type": "number"} for name in TOXICITY_ATTRIBUTES}),
    # the reason first, so that the model thinks before it decides
    "news": _object(
        guess=_TEXT, reason=_TEXT, **{name: {"type": "boolean"} for name in NEWS_VERDICTS}
    ),
}
"""The JSON schema of an answer of each form."""


class OpenAI(Chat):
    """A server by address and model name; its key comes from the environment alone."""

    backend: Literal["openai"] = "openai"
    base_url: str = Field(default=_VENDOR, description="up to `/v1`")
    key_variable: str = Field(
        default="OPENAI_API_KEY", description="environment variable that holds the key, if any"
    )
    concurrency: Annotated[int, NOT_IN_KEY] = Field(
        default=4, ge=1, le=256, description="calls at a time"
    )
    retries: Annotated[int, NOT_IN_KEY] = Field(
        default=6, ge=0, description="further attempts after a failed call"
    )
    timeout: Annotated[float, NOT_IN_KEY] = Field(
        default=60.0, gt=0, description="seconds that one call may take"
    )
    longest_wait: Annotated[float, NOT_IN_KEY] = Field(
        default=60.0, gt=0, description="seconds between attempts at most"
    )

    @field_validator("base_url")
    @classmethod
    def _plain(cls, url: str) -> str:
        if not url.startswith(("http://", "https://")) or "@" in url or "?" in url:
            raise ValueError("must be http(s)://host/…/v1 without user, password or query")
        return url

    def check(self, *, offline: bool = False) -> None:
        """Check what every model checks, and that the vendor's own server has a key."""
        super().check()
        if not offline:
            self.key()
        needs_key = self.base_url.rstrip("/") == _VENDOR and not offline
        if needs_key and not os.environ.get(self.key_variable):
            hint_text = f"export {self.key_variable}=…, or give the base_url of another server"
            raise UserError(f"the variable {self.key_variable} holds no key", hint=hint_text)

    def key(self) -> str | None:
        """Return the key if the user allowed it for this server; see `builders.core.keys`."""
        variable_given = "key_variable" in self.model_fields_set
        return keys.key_for(self.key_variable, self.base_url, required=variable_given)

    def open(self, seed: int) -> "OpenAIBackend":
        """Return the model; nothing is called yet."""
        return OpenAIBackend(self, seed)


class OpenAIBackend(p.PromptedModel):
    """Calls a server in parallel; results go to `on_result` at once, so that a dead run resumes.

    The key travels in a header and stands in no message.
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
        """Return the server's answer to each text."""
        results: list[Result | None] = [None] * len(texts)
        stop_event = Event()
        client = self._client(stop_event)

        has_failed = Event()

        def call(index: int) -> None:
            if has_failed.is_set():  # a call costs money, so none begins after the end
                return
            try:
                answer(index)
            except BaseException:
                has_failed.set()
                raise

        def answer(index: int) -> None:
            result = self._ask(client, texts[index], shape, strict=parse is None)

            def hand_on() -> None:
                results[index] = result
                if on_result:
                    on_result(index, result)

            with self._lock:
                self._first.see(result, parse or Result, hand_on)

        thread_pool = ThreadPoolExecutor(self.settings.concurrency)
        call_futures = [thread_pool.submit(call, index) for index in range(len(texts))]
        try:
            for future in wait(call_futures, return_when=FIRST_EXCEPTION).done:
                future.result()
        finally:  # after an error, or Ctrl-C: calls under way end, no other begins
            stop_event.set()
            thread_pool.shutdown(cancel_futures=True)
        self._first.end()
        return [result for result in results if result is not None]

    def _client(self, stop_event: Event) -> JsonClient:
        """A client whose waiting ends where the run is stopped."""
        settings = self.settings

        def sleep(seconds: float) -> None:
            if stop_event.wait(seconds):
                raise UserError("stopped", where=self._url)

        retry_policy = RetryPolicy(
            settings.timeout, settings.retries + 1, _FIRST_WAIT, settings.longest_wait
        )
        address = f"{self._url}/{'' if settings.completion else 'chat/'}completions"
        return JsonClient(address, retry_policy, key=settings.key(), hint=_HINT, sleep=sleep)

    def _ask(
        self, client: JsonClient, prompt_text: str, shape: Shape | None, *, strict: bool
    ) -> Result:
        """The text that the server writes after `text`, or why there is none.

        `UserError` when the server refuses or keeps failing; what it refuses about one prompt is
        a result, unless `strict`. A server that does not take the schema is asked without it.
        """
        held_shape = shape if self._held else None
        reply = self._post(client, prompt_text, held_shape)
        if reply.status in _PROMPT_ERRORS and held_shape:
            free_reply = self._post(client, prompt_text, None)
            if free_reply.status == 200:
                self._held = False
                reply = free_reply
        if reply.status == 200:
            completion = _text_of(reply)
            return completion.result(client.redact(completion.text), whole=shape is not None)
        message = f"HTTP {reply.status}: {client.words(reply)}"
        if reply.status in _NOT_ALLOWED:
            hint_text = f"{self.settings.key_variable} has to hold a key that this server takes"
            raise UserError(message, where=self._url, hint=hint_text)
        if strict or reply.status not in _PROMPT_ERRORS:
            raise UserError(message, where=self._url, hint=_HINT)
        return Result(None, "server_refused", message)

    def _post(self, client: JsonClient, prompt_text: str, shape: Shape | None) -> Reply:
        def read(reply: Reply, attempt: int) -> Reply:
            if reply.status == 200:
                completion = _text_of(reply)
                self.usage.add(  # what is asked again is paid for, too
                    read=_count(completion.tokens.get("prompt_tokens")),
                    written=_count(completion.tokens.get("completion_tokens")),
                )
                if completion.bad and attempt <= self.settings.retries:
                    raise RetryError(completion.bad)
            return reply

        wait_spread = 0.5 + seeded_fraction(
            "wait", prompt_text
        )  # so that calls that failed together part
        return client.post(
            self.settings.body(prompt_text, self.seed, shape), read, spread=wait_spread
        )


class Completion(NamedTuple):
    """A server's answer: its text and tokens, and whether it was cut off.

    `bad` says why the reply holds no answer, and is None if it holds one.
    """

    text: str
    bad: str | None
    tokens: Mapping[str, Any]
    cut: bool = False

    def result(self, text: str, *, whole: bool) -> Result:
        """Return the result of a text; one that was cut off is none if it has to be `whole`."""
        if self.bad:
            return Result(None, self.bad, text[:80])
        if self.cut and (whole or not text.strip()):
            return Result(None, "cut_off", f"raise new_tokens: {text[:80]}")
        return Result(text)


def parse_completion(reply_data: Any) -> Completion | None:
    """Read a chat answer or a completion; return None if there is no answer.

    Without a text, the model's words of refusal stand for it. Parts of a text are joined, without
    those of reasoning.
    """
    try:
        choice = reply_data["choices"][0]
        if "message" in choice:
            message = choice["message"]
            content = message["content"]
            if isinstance(content, list):
                content = "".join(part.get("text") or "" for part in content if "text" in part)
            answer_text = str(content or message.get("refusal") or "")
        else:
            answer_text = str(choice["text"])
        cut_off = choice.get("finish_reason") == "length"
    except (KeyError, IndexError, TypeError, AttributeError):
        return None
    token_counts = reply_data.get("usage")
    return Completion(
        answer_text, None, token_counts if isinstance(token_counts, dict) else {}, cut_off
    )


def _text_of(reply: Reply) -> Completion:
    """Return the completion that a reply holds.

    If the reply holds none, the completion has the server's message as its text and a fault: `html`
    or `not_json` for another format, `no_choice` for JSON without a completion.
    """
    body_text = reply.body.decode("utf-8", "replace")
    try:
        reply_data = json.loads(body_text)
    except (ValueError, RecursionError):
        is_html = "html" in reply.headers.get("Content-Type", "") or "<html" in body_text[:200]
        return Completion(body_text, "html" if is_html else "not_json", {})
    return parse_completion(reply_data) or Completion(
        message_in(reply.body) or str(reply_data), "no_choice", {}
    )


def _count(value: object) -> int:
    """Return a server's number of tokens, or 0 if it sent none: servers need not send it."""
    return value if isinstance(value, int) and value > 0 else 0
