"""Calls over HTTP with time limits and retries, and with keys that no message shows.

`retry` applies a retry policy to any transport. `JsonClient` sends JSON by POST.

The retries of `requests` (urllib3's `Retry`) are not enough: they wait as long as `Retry-After`
says, restart their time limit with each byte of a body, do not repeat a request whose body breaks
off, and stop only after a number of attempts. Its parser of `Retry-After` is used here.
"""

import json
import os
import socket
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

from factdrift.builders.core.addresses import parse_address, without_credentials
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.progress import say

__outside_step_keys__ = True

T = TypeVar("T")

RETRY_STATUSES = frozenset({408, 409, 425, 429, *range(500, 600)} - {501, 505})
"""HTTP statuses after which the same request may succeed later.

Of those from 500 on, 501 and 505 say that the server does not know the method or the protocol.
"""
MAX_BYTES = 64 << 20
"""Bytes of an unpacked answer that are read at most.

Answers of models are thousands of times smaller; the limit keeps a hostile server from filling
the memory.
"""
_PIECE_SIZE = 1 << 20
_REPORT_EVERY = 10.0
"""Seconds between two reports about one server, so that many threads do not flood the screen."""


class RetryError(Exception):
    """There is no usable answer this time. `wait` is the number of seconds the server asks for.

    `message` is the server's own.
    """

    def __init__(self, reason: str, message: str = "", wait: float | None = None) -> None:
        super().__init__(f"{reason}: {message}" if message else reason)
        self.reason, self.message, self.wait = reason, message, wait


class CutShortError(RetryError):
    """The answer is late or incomplete. A smaller request may succeed."""


@dataclass(frozen=True)
class RetryPolicy:
    """How long to wait for an answer, and how often to try again. All times are in seconds.

    An answer must arrive within `timeout`. For a file, `least_bytes` or its end must arrive in each
    such period. The wait between attempts starts with `first_wait` and doubles up to
    `longest_wait`. A call is given up at once if the server asks for a longer wait, after
    `attempts` attempts, or if it still fails `give_up` seconds after its first failure. Waits that
    the server asked for do not count.
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
    """Return `call(attempt)`, repeated while it raises `RetryError` and the policy allows it.

    `attempt` counts from 1. The first failure is reported. Waits that the server did not ask for
    are multiplied by `spread`, so that calls that failed together do not return together. Raises
    `UserError` at `where` with the reason and `hint` when the call is given up.
    """
    first_failure, asked_waits, attempt = time.monotonic(), 0.0, 0
    while True:
        attempt += 1
        try:
            return call(attempt)
        except RetryError as error:
            last_failure = error
        failed_at = time.monotonic()
        first_failure = failed_at if attempt == 1 else first_failure
        next_wait = min(policy.first_wait * spread * 2 ** (attempt - 1), policy.longest_wait)
        if last_failure.wait is not None:
            next_wait = last_failure.wait
        exhausted_reason = (
            f"still {last_failure.reason} after {attempt} attempt{'s' * (attempt != 1)}"
        )
        final_reason = ""
        if next_wait > policy.longest_wait:
            final_reason = f"{last_failure.reason}, to be asked again in {next_wait:.0f} seconds"
        elif attempt >= policy.attempts:
            final_reason = exhausted_reason
        elif failed_at + next_wait - first_failure - asked_waits > policy.give_up and attempt > 1:
            final_reason = f"{exhausted_reason} in {failed_at - first_failure:.0f} seconds"
        if final_reason:
            error_text = str(RetryError(final_reason, last_failure.message))
            raise UserError(error_text, where=where, hint=hint)
        if attempt == 1:
            report(f"  {where}: {last_failure}; it is tried again in {next_wait:.0f} s")
        if last_failure.wait is not None:
            asked_waits += next_wait
        sleep(next_wait)


def within(seconds: float, call: Callable[[], T]) -> T:
    """Return `call()`, or raise `TimeoutError` after a number of seconds.

    Time-outs of sockets restart with every byte, so a slow server could make a call last for ever.
    The thread of an abandoned call ends with its connection, at the latest with this process.
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
                error_text = f"the server sends callers on to what is refused: {error}"
                raise UserError(error_text, where=without_credentials(resp.url)) from None
        return target

    def rebuild_auth(
        self, prepared_request: requests.PreparedRequest, response: requests.Response
    ) -> None:
        """Drop the credentials where a redirect leaves the host, and look for none in .netrc."""
        headers = prepared_request.headers
        source_url, target_url = response.request.url or "", prepared_request.url or ""
        leaves_host = self.should_strip_auth(source_url, target_url)  # type: ignore[no-untyped-call]
        if "Authorization" in headers and leaves_host:
            del headers["Authorization"]


class Sessions(local):
    """Holds one session for each thread."""

    def __init__(self) -> None:
        self.session = GuardedSession()


@contextmanager
def answered(
    sessions: Sessions, method: str, address: str, timeout: float, **request_options: Any
) -> Iterator[requests.Response]:
    """Send a request and yield the response, whose body is then read with `pieces`.

    Raises `RetryError` if the answer is late or the server out of reach, and `UserError` if the
    address is not valid or redirects form a circle.
    """
    # to connect, and to read: a server that is there accepts a connection within seconds
    time_limits = (min(10.0, timeout), timeout)
    send_request = partial(
        sessions.session.request,
        method,
        address,
        stream=True,
        timeout=time_limits,
        **request_options,
    )
    try:
        response = within(sum(time_limits), send_request)
    except TimeoutError:
        sessions.session = GuardedSession()  # that one is still at it
        raise CutShortError("out of time") from None
    except requests.exceptions.InvalidURL:
        raise UserError("not an address", where=without_credentials(address)) from None
    except requests.TooManyRedirects:
        error_text = "the server sends callers round in circles"
        raise UserError(error_text, where=without_credentials(address)) from None
    except requests.Timeout as error:
        raise CutShortError(f"out of time ({type(error).__name__})") from None
    except requests.RequestException as error:  # its text can hold an address with a key
        raise RetryError(f"out of reach ({type(error).__name__})", _cause(error)) from None
    with response:
        yield response


def pieces(
    response: requests.Response, seconds: float, least_bytes: int, *, unpacked: bool
) -> Iterator[bytes]:
    """Yield the body as it arrives.

    Raises `RetryError` if the body breaks off, or if fewer than `least_bytes` bytes arrive in a
    period of `seconds`.
    """
    period_start, byte_count = time.monotonic(), 0
    while True:
        try:
            piece = response.raw.read1(_PIECE_SIZE, decode_content=unpacked)
        except (HTTPError, OSError) as error:
            failure_reason = (
                "out of time" if "timed out" in str(error) else "an answer that breaks off"
            )
            raise CutShortError(f"{failure_reason} ({type(error).__name__})") from None
        if not piece:
            return
        yield piece
        byte_count += len(piece)
        if time.monotonic() - period_start >= seconds:
            if byte_count < least_bytes:
                raise CutShortError(f"too slow: {byte_count:,} bytes in {seconds:g} seconds")
            period_start, byte_count = time.monotonic(), 0


def retry_after(headers: Mapping[str, str] | Message) -> float | None:
    """Return the seconds in the header `Retry-After`, or None if there are none.

    It is the server's own number, so that a message can tell it; who waits has a limit of its own.
    """
    header_reader = Retry()
    header_reader.retry_after_max = _LONGEST_AGE  # urllib3 would say 21600 for all that is longer
    try:
        return min(header_reader.parse_retry_after(headers.get("Retry-After", "")), _LONGEST_AGE)
    except (InvalidHeader, ValueError, OverflowError):
        return None


_LONGEST_AGE = 10**10
"""Seconds that are as good as for ever, some 300 years: a larger number is told as this one."""


class Reply(NamedTuple):
    """The answer of a server, unpacked."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class JsonClient:
    """Sends POST requests to one address. Several threads can use a client.

    `header` holds the name and the value of the header for the key, if there is one. It is set on
    the request itself, so that no .netrc replaces it. Redirects are not followed, so that no other
    host gets the key, and `redact` removes the key from messages of the server. `rate` is the
    largest number of requests in a second.
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
        """Send a JSON body and return `read(reply, attempt)`.

        The request is repeated after replies with a status in `RETRY_STATUSES`, time-outs, lost
        connections, and if `read` raises `RetryError`. `read` gets all other replies, also
        refusals. Raises `UserError` when the request is given up, for a redirect, and for an answer
        that is too large.
        """

        def call(attempt: int) -> T:
            reply = self._send(body)
            if reply.status in RETRY_STATUSES:
                asked_wait = retry_after(reply.headers)
                raise RetryError(f"HTTP {reply.status}", self.words(reply), asked_wait)
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
        """Return a text of the server without the key."""
        return text.replace(self._key, "…") if self._key else text

    def words(self, reply: Reply) -> str:
        """Return the error message of the server on one line, without anything like a key.

        OpenAI and Google send `{"error": {"message": …}}`. Others send `error`, `message` or, like
        FastAPI and therefore `transformers serve`, `detail`.
        """
        return short(self.redact(message_in(reply.body)))

    def _send(self, body: Any) -> Reply:
        self._take_turn()
        timeout, byte_limit, body_bytes = self.policy.timeout, self._max_bytes, bytearray()
        request_options = {"json": body, "auth": self._sign, "allow_redirects": False}
        with answered(self._sessions, "POST", self._url, timeout, **request_options) as response:
            if response.is_redirect:
                target_host = redirect_host(response)
                error_text = f"HTTP {response.status_code}: it sends callers on to {target_host}"
                hint_text = "give the address of the service itself"
                raise UserError(error_text, where=without_credentials(self.address), hint=hint_text)
            for piece in pieces(response, timeout, byte_limit, unpacked=True):
                body_bytes += piece
                if len(body_bytes) > byte_limit:
                    error_text = f"its answer is longer than {byte_limit:,} bytes"
                    raise UserError(error_text, where=self.address)
            return Reply(response.status_code, response.headers, bytes(body_bytes))

    def _sign(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._key:
            header_name, header_form = self._header
            request.headers[header_name] = header_form.format(self._key)
        return request

    def _report(self, text: str) -> None:
        """Print one report for calls that fail at about the same time."""
        with self._lock:
            now = time.monotonic()
            if now >= self._next_report:
                self._next_report = now + _REPORT_EVERY
                say(text)

    def _take_turn(self) -> None:
        if self._rate:
            with self._lock:
                turn_wait = self._next - time.monotonic()
                self._next = max(self._next, time.monotonic()) + 1 / self._rate
            if turn_wait > 0:
                self._sleep(turn_wait)


def redirect_host(response: requests.Response) -> str:
    """The host that a redirect leads to, for a message."""
    try:
        return parse_address(urljoin(response.url, response.headers["Location"])).host
    except UserError:
        return "what is no address of the web"


def message_in(body: bytes) -> str:
    """Return the message in a JSON error, or an empty text."""
    try:
        message: Any = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    for field_name in ("error", "detail", "message"):
        if isinstance(message, dict) and message.get(field_name):
            message = message[field_name]
    return message if isinstance(message, str) else ""


def short(text: str) -> str:
    """Return a message as one line of at most 160 characters, without words like keys.

    Keys of the services are longer than 24 characters; few words of a message are.
    """
    words = ["…" if len(word) > 24 or word.startswith("sk-") else word for word in text.split()]
    return " ".join(words)[:160]


def _cause(error: BaseException) -> str:
    """Return the system's message for a failed connection, such as `Connection refused`."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, socket.gaierror):
            return "its name is not known here: is this machine online?"
        if isinstance(cause, OSError) and cause.errno:
            return os.strerror(cause.errno)
        cause = getattr(cause, "reason", None) or cause.__cause__ or cause.__context__
    return ""
