"""One chat call: time-outs, retries with back-off, and the answers that are of no use."""

from dataclasses import replace
from email.utils import parsedate_to_datetime
from threading import Event, local
from time import time
from typing import TYPE_CHECKING, Any

import requests

from builders.questions.prompts import Prompts, judged
from builders.questions.protocol import Result
from builders.store import row_id

if TYPE_CHECKING:
    from builders.questions.servers import OpenAI

_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})


class UnreachableError(Exception):
    """The server cannot be used: it refuses, or still fails after all retries."""


class Chat:
    """Calls to one server; many threads may use it. The key is in a header, in no message."""

    def __init__(self, settings: "OpenAI", key: str | None, seed: int) -> None:
        self.settings = settings
        self.seed = seed
        self._url = settings.base_url.rstrip("/") + "/chat/completions"
        self._key = key
        self._local = local()
        self._stopped = Event()

    def stop(self) -> None:
        """End all waiting; calls under way finish."""
        self._stopped.set()

    def ask(self, text: str, prompts: Prompts, question: bool) -> Result:
        """What the server writes after `text`, or why that is of no use.

        Raises `UnreachableError` when the server refuses or keeps failing.
        """
        problem = ""
        for attempt in range(self.settings.retries + 1):
            if self._stopped.is_set():
                raise UnreachableError("stopped")
            pause = self._pause(attempt, text)
            try:
                reply = self._session().post(
                    self._url,
                    json=self._body(text),
                    auth=self._sign,
                    allow_redirects=False,
                    timeout=(min(10.0, self.settings.timeout), self.settings.timeout),
                )
            except requests.RequestException as error:
                problem = type(error).__name__  # its text can hold an address with a key
            else:
                if reply.status_code == 200:
                    result = _read(reply, prompts, question, self._key)
                    useless = result.reason in ("not_json", "html", "no_choice")
                    if not useless or attempt == self.settings.retries:
                        return replace(result, attempts=attempt + 1)
                    problem = str(result.reason)
                elif reply.status_code in _AGAIN:
                    problem = f"HTTP {reply.status_code}"
                    pause = _asked_pause(reply.headers.get("Retry-After"), pause)
                else:
                    said = _message(reply, self._key)
                    raise UnreachableError(f"HTTP {reply.status_code}: {said}")
            if attempt < self.settings.retries:
                self._stopped.wait(min(pause, self.settings.longest_wait))
        raise UnreachableError(f"still {problem} after {self.settings.retries + 1} attempts")

    def _session(self) -> requests.Session:
        if not hasattr(self._local, "session"):
            self._local.session = requests.Session()
        session: requests.Session = self._local.session
        return session

    def _sign(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """The key as a header; given as `auth`, so that no .netrc takes its place."""
        if self._key:
            request.headers["Authorization"] = f"Bearer {self._key}"
        return request

    def _body(self, text: str) -> dict[str, Any]:
        return {
            "model": self.settings.model,
            "messages": [{"role": "user", "content": text}],
            "max_tokens": self.settings.new_tokens,
            "temperature": self.settings.temperature,
            "seed": self.seed,
        }

    def _pause(self, attempt: int, text: str) -> float:
        """Half a second, doubled each time, spread by the request so that not all come at once."""
        spread = int(row_id(text, attempt)[:4], 16) / 0xFFFF
        return float(0.5 * 2**attempt * (0.5 + spread))


def _asked_pause(header: str | None, pause: float) -> float:
    """Seconds that the server asks to wait, given as seconds or as a date."""
    if not header:
        return pause
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time())
    except ValueError:
        return pause


def _hidden(text: str, key: str | None) -> str:
    return text.replace(key, "…") if key else text


def _message(reply: requests.Response, key: str | None) -> str:
    """What the server says is wrong, shortened; `key` and what looks like one are not shown.

    `{"error": {"message": …}}` is OpenAI's form; others write `error`, `message` or, as FastAPI
    and so `transformers serve` do, `detail`.
    """
    try:
        said = reply.json()
        for name in ("error", "detail", "message"):
            if isinstance(said, dict) and said.get(name):
                said = said[name]
    except ValueError:
        said = None
    text = _hidden(said if isinstance(said, str) else reply.reason or "", key)
    words = ["…" if len(w) > 24 or w.startswith("sk-") else w for w in text.split()]
    return " ".join(words)[:160]


def _read(reply: requests.Response, prompts: Prompts, question: bool, key: str | None) -> Result:
    try:
        data = reply.json()
    except ValueError:
        html = "html" in reply.headers.get("Content-Type", "") or "<html" in reply.text[:200]
        return Result(None, "html" if html else "not_json", _hidden(reply.text, key)[:80])
    try:
        text = data["choices"][0]["message"]["content"] or ""
        usage = data.get("usage") or {}
        counts = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
        return judged(str(text), prompts, question=question, read=counts[0], wrote=counts[1])
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        return Result(None, "no_choice", _hidden(str(data), key)[:80])
