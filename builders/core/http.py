"""Calls over HTTP: time limits, retries, and a key that is shown to nobody.

`retry` is the policy for any transport; `JsonClient` is our transport, JSON by POST.

The retries are not left to the adapters of `requests`: urllib3's `Retry` waits for whatever
`Retry-After` asks for, begins its time limit anew with each byte of a body, does not repeat a
request whose body breaks off, and gives up by number alone. Its reading of `Retry-After` is used.
"""

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message
from functools import partial
from threading import Lock, Thread, local
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urljoin

import requests
from urllib3.exceptions import HTTPError, InvalidHeader
from urllib3.util import Retry

from factdrift.builders.core.addresses import parse_address
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.inputs import without_credentials
from factdrift.builders.core.progress import say

__outside_step_keys__ = True

T = TypeVar("T")

RETRY_STATUSES = frozenset({408, 409, 425, 429, *range(500, 600)} - {501, 505})
"""Statuses after which the same request may succeed later."""
MAX_BYTES = 64 << 20
"""Bytes of an answer, unpacked, that are read."""
_PIECE = 1 << 20
_REPORT_EVERY = 10.0
"""Seconds between reports of failures of one server."""


class RetryError(Exception):
    """No usable answer this time. `message`: the server's; `wait`: seconds that it asks for."""

    def __init__(self, reason: str, message: str = "", wait: float | None = None) -> None:
        super().__init__(f"{reason}: {message}" if message else reason)
        self.reason, self.message, self.wait = reason, message, wait


class CutShortError(RetryError):
    """No answer in time, or only a part of one; a smaller one may come whole."""


@dataclass(frozen=True)
class RetryPolicy:
    """How long to wait for an answer, in seconds, and how often to try again.

    An answer has to come within `timeout`; of a file, `least_bytes` in each such time, or its end.
    `first_wait` is doubled each time, up to `longest_wait`; a server that asks for a longer wait
    is given up at once. So is one that still fails `give_up` seconds after its first failure,
    waits that it asked for not counted, or after so many `attempts`.
    """

    timeout: float = 75.0
    attempts: int = 7
    first_wait: float = 1.0
    longest_wait: float = 600.0
    give_up: float = 60.0
    least_bytes: int = 1 << 16


def retry(
    call: Callable[[int], T],
    policy: RetryPolicy,
    *,
    where: str,
    hint: str,
    spread: float = 1.0,
    sleep: Callable[[float], object] = time.sleep,
    report: Callable[[str], None] = say,
) -> T:
    """`call(attempt)`, from 1, repeated while it raises `RetryError` and the policy allows it.

    The first failure is reported. Our own waits are multiplied by `spread`, so that calls that
    failed together do not return together. `UserError` (`where`, the reason, `hint`) at the end.
    """
    first_failure, asked_waits, attempt = time.monotonic(), 0.0, 0
    while True:
        attempt += 1
        try:
            return call(attempt)
        except RetryError as error:
            failure = error
        now = time.monotonic()
        first_failure = now if attempt == 1 else first_failure
        pause = min(policy.first_wait * spread * 2 ** (attempt - 1), policy.longest_wait)
        if failure.wait is not None:
            pause = failure.wait
        exhausted = f"still {failure.reason} after {attempt} attempt{'s' * (attempt != 1)}"
        final_reason = ""
        if pause > policy.longest_wait:
            final_reason = f"{failure.reason}, to be asked again in {pause:.0f} seconds"
        elif attempt >= policy.attempts:
            final_reason = exhausted
        elif now + pause - first_failure - asked_waits > policy.give_up and attempt > 1:
            final_reason = f"{exhausted} in {now - first_failure:.0f} seconds"
        if final_reason:
            text = str(RetryError(final_reason, failure.message))
            raise UserError(text, where=where, hint=hint)
        if attempt == 1:
            report(f"  {where}: {failure}; it is tried again in {pause:.0f} s")
        if failure.wait is not None:
            asked_waits += pause
        sleep(pause)


def within(seconds: float, call: Callable[[], T]) -> T:
    """`call()`, or `TimeoutError` after so many seconds, whatever it still waits for.

    Time-outs of sockets begin anew with every byte, so that a server could send one now and then
    for ever. What is given up ends with its connection, at the latest with this process.
    """
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:
            outcome.set_exception(error)

    Thread(target=run, daemon=True).start()
    return outcome.result(seconds)


class GuardedSession(requests.Session):
    """A session whose redirects stay on the web and carry no credentials to another host."""

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """Where a redirect leads; `UserError` where that is no address of the web."""
        target = super().get_redirect_target(resp)
        if target is not None:
            try:
                parse_address(urljoin(resp.url, target))
            except UserError as error:
                text = f"the server sends callers on to what is refused: {error}"
                raise UserError(text, where=without_credentials(resp.url)) from None
        return target

    def rebuild_auth(
        self, prepared_request: requests.PreparedRequest, response: requests.Response
    ) -> None:
        """Drop the credentials where a redirect leaves the host, and look for none in .netrc."""
        headers = prepared_request.headers
        if "Authorization" in headers and self.should_strip_auth(
            response.request.url or "", prepared_request.url or ""
        ):
            del headers["Authorization"]


class Sessions(local):
    """A session for each thread."""

    def __init__(self) -> None:
        self.session = GuardedSession()


@contextmanager
def answered(
    sessions: Sessions, method: str, address: str, timeout: float, **more: Any
) -> Iterator[requests.Response]:
    """What a server answers, its body still to be read, with `pieces`.

    `RetryError`: none in time, or out of reach. `UserError`: no address, redirects in a circle.
    """
    times = (min(10.0, timeout), timeout)
    call = partial(sessions.session.request, method, address, stream=True, timeout=times, **more)
    try:
        response = within(sum(times), call)
    except TimeoutError:
        sessions.session = GuardedSession()  # that one is still at it
        raise CutShortError("out of time") from None
    except requests.exceptions.InvalidURL:
        raise UserError("not an address", where=without_credentials(address)) from None
    except requests.TooManyRedirects:
        text = "the server sends callers round in circles"
        raise UserError(text, where=without_credentials(address)) from None
    except requests.Timeout as error:
        raise CutShortError(f"out of time ({type(error).__name__})") from None
    except requests.RequestException as error:  # its text can hold an address with a key
        raise RetryError(f"out of reach ({type(error).__name__})", _cause(error)) from None
    with response:
        yield response


def pieces(
    response: requests.Response, seconds: float, least: int, *, unpacked: bool
) -> Iterator[bytes]:
    """The body as it comes. `RetryError`: it breaks off, or comes too slowly.

    So many `seconds` bring at least so many bytes, or its end.
    """
    period_start, byte_count = time.monotonic(), 0
    while True:
        try:
            piece = response.raw.read1(_PIECE, decode_content=unpacked)
        except (HTTPError, OSError) as error:
            late = "out of time" if "timed out" in str(error) else "an answer that breaks off"
            raise CutShortError(f"{late} ({type(error).__name__})") from None
        if not piece:
            return
        yield piece
        byte_count += len(piece)
        if time.monotonic() - period_start >= seconds:
            if byte_count < least:
                raise CutShortError(f"too slow: {byte_count:,} bytes in {seconds:g} seconds")
            period_start, byte_count = time.monotonic(), 0


def retry_after(headers: Mapping[str, str] | Message) -> float | None:
    """Seconds that `Retry-After` asks for, if it does."""
    try:
        return Retry().parse_retry_after(headers.get("Retry-After", ""))
    except InvalidHeader:
        return None


class Reply(NamedTuple):
    """What a server answered, unpacked."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class JsonClient:
    """Calls to one address by POST; many threads may use it.

    `header`: name and value of the header that holds the key, if any. It is set on the request
    itself, so that no .netrc takes its place; redirects are not followed, so that it goes to no
    other host; and `redact` leaves it out of what servers say. `rate`: requests a second at most.
    """

    def __init__(
        self,
        address: str,
        policy: RetryPolicy,
        *,
        key: str | None = None,
        header: tuple[str, str] = ("Authorization", "Bearer {}"),
        rate: float | None = None,
        max_bytes: int = MAX_BYTES,
        hint: str = "run it again later",
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self.address, self.policy = address, policy
        self._url = parse_address(address).url  # the same parts that a key was granted to
        self._key, self._header = key, header
        self._rate, self._max_bytes, self._hint, self._sleep = rate, max_bytes, hint, sleep
        self._next, self._next_report = 0.0, 0.0
        self._lock = Lock()
        self._sessions = Sessions()

    def post(self, body: Any, read: Callable[[Reply, int], T], *, spread: float = 1.0) -> T:
        """What `read(reply, attempt)` makes of the answer to a JSON body.

        Replies with a status in `RETRY_STATUSES`, time-outs and lost connections are tried again,
        and so is a reply of which `read` raises `RetryError`. `read` sees all others, refusals
        included. `UserError`: given up, a redirect, or an answer that is too large.
        """

        def call(attempt: int) -> T:
            reply = self._send(body)
            if reply.status in RETRY_STATUSES:
                wait = retry_after(reply.headers)
                raise RetryError(f"HTTP {reply.status}", self.words(reply), wait)
            return read(reply, attempt)

        return retry(
            call,
            self.policy,
            where=self.address,
            hint=self._hint,
            spread=spread,
            sleep=self._sleep,
            report=self._report,
        )

    def redact(self, text: str) -> str:
        """A text of the server's without the key."""
        return text.replace(self._key, "…") if self._key else text

    def words(self, reply: Reply) -> str:
        """What the server says is wrong, in a line; the key and what looks like one are not shown.

        `{"error": {"message": …}}` is the form of OpenAI and Google; others write `error`,
        `message` or, as FastAPI and so `transformers serve` do, `detail`.
        """
        return short(self.redact(message_in(reply.body)))

    def _send(self, body: Any) -> Reply:
        self._take_turn()
        timeout, byte_limit, body_bytes = self.policy.timeout, self._max_bytes, bytearray()
        more = {"json": body, "auth": self._sign, "allow_redirects": False}
        with answered(self._sessions, "POST", self._url, timeout, **more) as response:
            if response.is_redirect:
                text = (
                    f"HTTP {response.status_code}: it sends callers on to {redirect_host(response)}"
                )
                hint = "give the address of the service itself"
                raise UserError(text, where=without_credentials(self.address), hint=hint)
            for piece in pieces(response, timeout, byte_limit, unpacked=True):
                body_bytes += piece
                if len(body_bytes) > byte_limit:
                    text = f"its answer is longer than {byte_limit:,} bytes"
                    raise UserError(text, where=self.address)
            return Reply(response.status_code, response.headers, bytes(body_bytes))

    def _sign(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._key:
            name, form = self._header
            request.headers[name] = form.format(self._key)
        return request

    def _report(self, text: str) -> None:
        """One report for calls that fail side by side."""
        with self._lock:
            now = time.monotonic()
            if now >= self._next_report:
                self._next_report = now + _REPORT_EVERY
                say(text)

    def _take_turn(self) -> None:
        if self._rate:
            with self._lock:
                wait = self._next - time.monotonic()
                self._next = max(self._next, time.monotonic()) + 1 / self._rate
            if wait > 0:
                self._sleep(wait)


def redirect_host(response: requests.Response) -> str:
    """The host that a redirect leads to, for a message."""
    try:
        return parse_address(urljoin(response.url, response.headers["Location"])).host
    except UserError:
        return "what is no address of the web"


def message_in(body: bytes) -> str:
    """The message in a JSON error, or nothing."""
    try:
        message: Any = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    for name in ("error", "detail", "message"):
        if isinstance(message, dict) and message.get(name):
            message = message[name]
    return message if isinstance(message, str) else ""


def short(text: str) -> str:
    """A message as one line of at most 160 characters, without words that look like a key."""
    words = ["…" if len(word) > 24 or word.startswith("sk-") else word for word in text.split()]
    return " ".join(words)[:160]


def _cause(error: BaseException) -> str:
    """Why a connection failed, in the system's words: `Connection refused`."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, OSError) and seen.errno:
            return os.strerror(seen.errno)
        seen = getattr(seen, "reason", None) or seen.__cause__ or seen.__context__
    return ""
