"""One SPARQL endpoint over HTTP: how it is retried, and plain words when it fails."""

import ast
import gzip
import re
import time
import zlib
from email.message import Message
from http.client import HTTPException, IncompleteRead
from io import BytesIO
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit, urlunsplit

import msgspec
from SPARQLWrapper import JSON, POST, SPARQLExceptions, SPARQLWrapper

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.http import RetryError, RetryPolicy, retry, retry_after, within

_CONTACT = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+|https?://\S+\.\S+")
_OUT_OF_TIME = re.compile(r"time[ds]?[\s-]?out|TimeoutException|QueryTimeout", re.I)
_CODES = {
    SPARQLExceptions.QueryBadFormed: 400,
    SPARQLExceptions.Unauthorized: 401,
    SPARQLExceptions.EndPointNotFound: 404,
    SPARQLExceptions.URITooLong: 414,
    SPARQLExceptions.EndPointInternalError: 500,
}


_LARGEST_ANSWER = 128 << 20
"""Bytes of an answer, packed or not, that are read; more are asked for in smaller pages."""


class SparqlTerm(msgspec.Struct, frozen=True):
    """One value of an answer; `type` is uri, bnode, literal or typed-literal."""

    type: str
    value: str
    lang: str = msgspec.field(default="", name="xml:lang")


Row = dict[str, SparqlTerm]


class _Bindings(msgspec.Struct):
    bindings: list[Row]


class Results(msgspec.Struct):
    """The SPARQL 1.1 JSON results of a SELECT query."""

    results: _Bindings


RESULTS = msgspec.json.Decoder(Results)


class TooMuchError(Exception):
    """The endpoint could not answer that much at once: ask for less."""


class SelectResult(NamedTuple):
    """The endpoint's own JSON, and its rows."""

    raw: bytes
    rows: list[Row]


class Client:
    """Asks one endpoint by POST, one query at a time, as its operators want it.

    Credentials in the address (`https://user:password@host/…`) are sent as HTTP Basic ones; they
    are not part of `address`, which messages and the cache use.
    """

    def __init__(self, endpoint: str, user_agent: str | None, policy: RetryPolicy) -> None:
        if not user_agent or not _CONTACT.search(user_agent) or not user_agent.isprintable():
            raise UserError(
                "a SPARQL endpoint is asked only with a User-Agent that holds a contact",
                hint="pass one such as 'my-project/1.0 (mailto:me@example.org)'; see "
                "https://foundation.wikimedia.org/wiki/Policy:User-Agent_policy",
            )
        parts = urlsplit(endpoint)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UserError(f"not the address of a SPARQL endpoint: {parts.scheme or endpoint!r}")
        public = parts._replace(netloc=parts.netloc.rpartition("@")[2])
        self.address = urlunsplit(public._replace(query="", fragment=""))
        self.policy = policy
        self._wrapper = SPARQLWrapper(urlunsplit(public), agent=user_agent)
        self._wrapper.setOnlyConneg(True)
        self._wrapper.setMethod(POST)
        self._wrapper.setReturnFormat(JSON)
        self._wrapper.setTimeout(max(1, round(policy.timeout)))
        self._wrapper.addCustomHttpHeader("Accept-Encoding", "gzip")
        self._password = parts.password
        if parts.username:
            self._wrapper.setCredentials(parts.username, parts.password or "")

    def select(self, query: str) -> SelectResult:
        """The answer to a SELECT query.

        `TooMuchError` where it ran out of time or broke off; `UserError` where the query was
        refused, or the endpoint stayed busy or out of reach for all tries.
        """
        hint = "run it again later: it goes on from what it has"
        return retry(lambda _: self._answer(query), self.policy, where=self.address, hint=hint)

    def pause(self, seconds: float) -> None:
        """Wait, but never longer than the policy allows."""
        time.sleep(min(max(seconds, 0.0), self.policy.longest_wait))

    def _answer(self, query: str) -> SelectResult:
        raw, kind = self._fetch(query)
        if raw and not raw.lstrip().startswith(b"{"):
            raise UserError(
                f"{self.address} does not answer with SPARQL JSON results, but {kind}: "
                f"{self._words(raw)}",
                hint="is this the address of the endpoint itself, not of its web page?",
            )
        try:
            return SelectResult(raw, RESULTS.decode(raw).results.bindings)
        except msgspec.DecodeError as error:
            raise TooMuchError(f"the answer broke off ({error})") from error

    def _fetch(self, query: str) -> tuple[bytes, str]:
        """The body of one answer and its content type."""
        self._wrapper.setQuery(query)
        try:
            return within(2 * self.policy.timeout, self._read)
        except SPARQLExceptions.SPARQLWrapperException as error:
            quoted = str(error).partition("Response:\n")[2]
            body = _unpacked(ast.literal_eval(quoted)) if quoted else b""
            raise self._failure(_CODES.get(type(error), 500), body, Message()) from error
        except (IncompleteRead, EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise TooMuchError("the answer broke off") from error
        except TimeoutError as error:
            raise TooMuchError(f"no answer within {self.policy.timeout:g} s") from error
        except URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise TooMuchError(f"no answer within {self.policy.timeout:g} s") from error
            raise RetryError("out of reach", str(error.reason)) from error
        except (ConnectionError, HTTPException) as error:
            raise RetryError("a dropped connection", str(error)) from error

    def _read(self) -> tuple[bytes, str]:
        try:
            response: Any = self._wrapper.query().response
        except HTTPError as error:
            raise self._failure(error.code, _body(error), error.headers) from error
        return _unpacked(response.read(_LARGEST_ANSWER + 1)), response.headers.get(
            "Content-Type", "nothing"
        )

    def _failure(self, code: int, body: bytes, headers: Message) -> Exception:
        """What an HTTP error means for us."""
        asked_to_wait = retry_after(headers)
        ran_out = _OUT_OF_TIME.search(body.decode(errors="replace")) and asked_to_wait is None
        if code in (408, 413, 504) or (code in (429, 500, 503) and ran_out):
            return TooMuchError(f"HTTP {code}: it ran out of time")
        words = self._words(body)
        if code in (429, 500, 502, 503):
            return RetryError(f"HTTP {code}", words, asked_to_wait)
        return UserError(f"{self.address} refused the query: HTTP {code}: {words}")

    def _words(self, body: bytes) -> str:
        """What the endpoint says, without the password: some send back what they were sent."""
        line = _error_line(body)
        return line.replace(self._password, "…") if self._password else line


def _unpacked(body: bytes) -> bytes:
    """A body as it was before it was packed. `TooMuchError`: larger than is read."""
    if body.startswith(b"\x1f\x8b"):
        with gzip.open(BytesIO(body)) as file:
            body = file.read(_LARGEST_ANSWER + 1)
    if len(body) > _LARGEST_ANSWER:
        raise TooMuchError(f"an answer of more than {_LARGEST_ANSWER:,} bytes")
    return body


def _body(error: HTTPError) -> bytes:
    """What came with an HTTP error; nothing where that broke off too."""
    try:
        return _unpacked(error.read(_LARGEST_ANSWER + 1))
    except (HTTPException, OSError, EOFError, zlib.error):
        return b""


def _error_line(body: bytes) -> str:
    """The first line that names an error, else the first one: some endpoints echo the query."""
    lines = [line.strip() for line in body.decode(errors="replace").splitlines() if line.strip()]
    named = [line for line in lines if re.search(r"exception|error", line, re.I)]
    return (named or lines or ["no message"])[0][:300]
