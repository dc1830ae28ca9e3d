"""Questions and answers of any server that speaks the OpenAI chat protocol."""

import os
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path
from threading import Lock
from typing import Literal

from pydantic import Field, field_validator

from builders.config import Strict
from builders.errors import UserError
from builders.questions import prompts as p
from builders.questions.candidates import Finder
from builders.questions.chat import Chat, UnreachableError
from builders.questions.protocol import Backend, Done, Query, Request, Result


class OpenAI(Strict):
    """A server by address and model name; its key comes from the environment alone."""

    backend: Literal["openai"] = "openai"
    base_url: str = Field(default="https://api.openai.com/v1", description="up to `/v1`")
    model: str
    key_variable: str = Field(
        default="OPENAI_API_KEY", description="environment variable that holds the key, if any"
    )
    prompts: Path | None = Field(default=None, description="prompt file; the project's by default")
    concurrency: int = Field(default=4, ge=1, le=256, description="calls at a time")
    retries: int = Field(default=6, ge=0, description="further attempts after a failed call")
    timeout: float = Field(default=60.0, gt=0, description="seconds that one call may take")
    longest_wait: float = Field(default=60.0, gt=0, description="seconds between attempts at most")
    new_tokens: int = Field(default=64, ge=1, description="longest output, in tokens")
    temperature: float = Field(default=0.0, ge=0)
    characters: int = Field(default=6000, ge=200, description="most of an article that is shown")
    prompt_price: float = Field(default=0.0, ge=0, description="dollars a million tokens read")
    answer_price: float = Field(default=0.0, ge=0, description="dollars a million tokens written")

    @field_validator("base_url")
    @classmethod
    def _plain(cls, url: str) -> str:
        if not url.startswith(("http://", "https://")) or "@" in url or "?" in url:
            raise ValueError("must be http(s)://host/…/v1 without user, password or query")
        return url

    def open(self, seed: int, finder: Finder) -> Backend:
        """The backend; nothing is called yet."""
        return OpenAIBackend(self, seed)


class OpenAIBackend:
    """Calls in parallel; every result is handed to `done` at once, so a run that dies resumes."""

    def __init__(self, settings: OpenAI, seed: int) -> None:
        self.settings = settings
        self.prompts = p.read(settings.prompts)
        self.name = f"openai:{settings.model}"
        s = settings
        self.identity = p.parameters(
            backend="openai",
            base_url=s.base_url.rstrip("/"),
            model=s.model,
            new_tokens=s.new_tokens,
            temperature=s.temperature,
            characters=s.characters,
            prompt=self.prompts.identity,
            seed=seed,
        )
        self.seed = seed
        self.prompt_tokens = self.answer_tokens = self.calls = 0
        self._lock = Lock()

    @property
    def cost(self) -> float:
        """Dollars for the tokens of this run, by the prices of the settings."""
        s = self.settings
        spent = self.prompt_tokens * s.prompt_price + self.answer_tokens * s.answer_price
        return spent / 1e6

    def generate(self, requests: Sequence[Request], done: Done | None = None) -> list[Result]:
        """A question for each request."""
        texts = [p.ask_prompt(self.prompts, r, self.settings.characters) for r in requests]
        return self._run(texts, True, done)

    def answer(self, queries: Sequence[Query], done: Done | None = None) -> list[Result]:
        """An answer for each query."""
        texts = [p.answer_prompt(self.prompts, q, self.settings.characters) for q in queries]
        return self._run(texts, False, done)

    def write(self, texts: Sequence[str], done: Done | None = None) -> list[Result]:
        """What follows each text."""
        return self._run(texts, False, done)

    def _run(self, texts: Sequence[str], question: bool, done: Done | None) -> list[Result]:
        out: list[Result | None] = [None] * len(texts)
        chat = Chat(self.settings, os.environ.get(self.settings.key_variable), self.seed)

        def one(n: int) -> None:
            result = chat.ask(texts[n], self.prompts, question)
            with self._lock:
                self.calls += result.attempts
                self.prompt_tokens += result.prompt_tokens
                self.answer_tokens += result.answer_tokens
                out[n] = result
                if done:
                    done(n, result)

        pool = ThreadPoolExecutor(self.settings.concurrency)
        calls = [pool.submit(one, n) for n in range(len(texts))]
        try:
            for call in wait(calls, return_when=FIRST_EXCEPTION).done:
                call.result()
        except UnreachableError as error:
            raise UserError(
                f"{self.settings.base_url}: {error}",
                hint="what was answered is kept; run again to go on",
            ) from error
        finally:  # after an error, or Ctrl-C: calls under way end, no other begins
            chat.stop()
            pool.shutdown(cancel_futures=True)
        return [r for r in out if r is not None]
