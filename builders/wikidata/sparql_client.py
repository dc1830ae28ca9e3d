"""One SPARQL endpoint over HTTP: pages of answers, kept on disk, and plain words when it fails."""

import gzip
import json
import os
import re
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import requests
from SPARQLWrapper import JSON, POST, TSV, SPARQLWrapper

from factdrift.builders.core.addresses import parse_address, without_credentials
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import clear_place
from factdrift.builders.core.hashing import text_sha256
from factdrift.builders.core.http import (
    CutShortError,
    Reply,
    RetryError,
    RetryPolicy,
    Sessions,
    answered,
    pieces,
    redirect_host,
    retry,
    retry_after,
)

_CONTACT = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+|https?://\S+\.\S+")
_OUT_OF_TIME = re.compile(r"time[ds]?[\s-]?out|TimeoutException|QueryTimeout", re.I)
_MAX_ANSWER_BYTES = 128 << 20
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


class CachedPage(msgspec.Struct):
    """One file of the cache: what was asked for and the endpoint's own answer."""

    asked: list[str]
    answer: msgspec.Raw


_results = msgspec.json.Decoder(Results).decode
_page = msgspec.json.Decoder(CachedPage).decode


@dataclass(frozen=True)
class QueryTemplate:
    """A query with one slot, `{values}` or `{after}` and `{limit}`; `name` starts its files."""

    name: str
    text: str

    def asking(self, names: Sequence[str], after: str, limit: int) -> str:
        quoted_after = after.replace("\\", "\\\\").replace('"', '\\"')
        slots = {"values": " ".join(names), "after": quoted_after, "limit": str(limit)}
        return re.sub(r"\{(values|after|limit)\}", lambda slot: slots[slot[1]], self.text)


class AnswerPage(NamedTuple):
    """One page of an answer: the ids that were asked for, and the rows."""

    asked: list[str]
    rows: list[Row]


_FLOOR = 10
"""Rows of the smallest page that is asked for."""
_GONE, _GONE_SHARE = 2, 0.05
"""How many rows, and which share of them, may be gone since they were counted or listed."""


def is_short(row_count: int, expected_count: int) -> bool:
    """Whether an answer has far fewer rows than were counted; a live store is edited meanwhile."""
    return expected_count - row_count > max(_GONE, expected_count * _GONE_SHARE)


def with_contact(user_agent: str | None) -> str:
    """Return a User-Agent that has a contact, as endpoints want it; else raise `UserError`."""
    if not user_agent or not _CONTACT.search(user_agent) or not user_agent.isprintable():
        raise UserError(
            "a SPARQL endpoint is asked only with a User-Agent that holds a contact",
            hint="give --user-agent 'my-project/1.0 (mailto:me@example.org)', with yours; see "
            "https://foundation.wikimedia.org/wiki/Policy:User-Agent_policy",
        )
    return user_agent


class SparqlClient:
    """Asks one endpoint by POST, one query at a time, as its operators want it.

    Credentials in the address (`https://user:password@host/…`) are sent as HTTP Basic ones; they
    are not part of `address`, which messages and the cache use. `requests` counts what was asked;
    none is asked any more when `minutes` have passed.
    """

    def __init__(
        self,
        endpoint: str,
        user_agent: str | None,
        policy: RetryPolicy,
        minutes: float | None = None,
    ) -> None:
        service = parse_address(endpoint)
        self.address = without_credentials(service.url)
        self._service, self._policy, self._sessions = service, policy, Sessions()
        self.requests, self._minutes, self._start = 0, minutes, time.monotonic()
        self._wrapper = SPARQLWrapper(service.url, agent=with_contact(user_agent))
        self._wrapper.setOnlyConneg(True)
        self._wrapper.setMethod(POST)
        self._wrapper.addCustomHttpHeader("Accept-Encoding", "gzip")
        if service.user:
            self._wrapper.setCredentials(service.user, service.password or "")

    def answer(self, query: str) -> tuple[bytes, list[Row]]:
        """The JSON that a SELECT query is answered with, and its rows.

        `CutShortError` where it ran out of time or broke off, so that less is to be asked for;
        `RetryError` where the endpoint is busy or out of reach; `UserError` where it refuses.
        """
        with self._response(query, JSON) as response:
            reply = self._read(response)
        if reply.status != 200:
            raise self._failure(reply)
        if reply.body and not reply.body.lstrip().startswith(b"{"):
            raise self._not_results("SPARQL JSON results", reply.headers, reply.body)
        try:
            return reply.body, _results(reply.body).results.bindings
        except msgspec.DecodeError as error:
            raise CutShortError(f"the answer broke off ({error})") from error

    def tsv_pieces(self, query: str, columns: Sequence[str]) -> Iterator[bytes]:
        """Yield the tab-separated values of a SELECT query as they arrive, of any length.

        Each piece is one or more whole lines, and the line with the names of the columns is the
        first. The errors are those of `answer`. `CutShortError` also where a line is none of
        values: engines that fail when they have begun to answer write the reason into the answer.
        """
        unfinished_line = b""
        heads = b"\t".join(b"?" + column.encode() for column in columns)
        tab_count = len(columns) - 1
        with self._response(query, TSV) as response:
            if response.status_code != 200:
                raise self._failure(self._read(response))
            least_bytes = self._policy.least_bytes
            for piece in pieces(response, 2 * self._policy.timeout, least_bytes, unpacked=True):
                whole_lines, newline, unfinished_line = (unfinished_line + piece).rpartition(b"\n")
                if not newline:
                    continue
                lines = whole_lines.split(b"\n")
                if heads:
                    if lines[0].rstrip(b"\r") != heads:
                        raise self._not_results(
                            "tab-separated values", response.headers, whole_lines
                        )
                    heads = b""
                for line in lines:
                    if line.count(b"\t") != tab_count:
                        raise CutShortError("the answer broke off", self._words(line[:1000]))
                yield whole_lines + newline
        if unfinished_line or heads:
            raise CutShortError("the answer broke off", self._words(unfinished_line[:1000]))

    def _not_results(self, form: str, headers: Mapping[str, str], body: bytes) -> UserError:
        return UserError(
            f"{self.address} does not answer with {form}, but "
            f"{headers.get('Content-Type', 'nothing')}: {self._words(body)}",
            hint="is this the address of the endpoint itself, not of its web page?",
        )

    @contextmanager
    def _response(self, query: str, answer_format: str) -> Iterator[requests.Response]:
        """Send the request that SPARQLWrapper makes, and yield the response, also an error.

        The request is sent by our own transport: that of SPARQLWrapper takes the credentials along
        when an endpoint sends callers elsewhere, and follows them off the web.
        """
        if self._minutes is not None and time.monotonic() - self._start > 60 * self._minutes:
            error_text = f"stopped: {self._minutes:g} minutes have passed, with {self.requests:,} "
            hint_text = "run it again: it goes on from what it has; --minutes sets the limit"
            raise UserError(error_text + "requests", where=self.address, hint=hint_text)
        self.requests += 1
        self._wrapper.setQuery(query)
        self._wrapper.setReturnFormat(answer_format)
        request: Any = self._wrapper._createRequest()
        options = {
            "data": request.data,
            "headers": dict(request.header_items()),
            "allow_redirects": False,
            "auth": _as_it_is,
        }
        method, timeout = request.get_method(), self._policy.timeout
        with answered(self._sessions, method, request.full_url, timeout, **options) as response:
            if response.is_redirect:
                error_text = (
                    f"HTTP {response.status_code}: it sends callers on to {redirect_host(response)}"
                )
                hint_text = "give the address of the endpoint itself"
                raise UserError(error_text, where=self.address, hint=hint_text)
            yield response

    def _read(self, response: requests.Response) -> Reply:
        """Return the whole of a response that fits into memory."""
        timeout, body = self._policy.timeout, bytearray()
        for piece in pieces(response, 2 * timeout, _MAX_ANSWER_BYTES, unpacked=True):
            body += piece
            if len(body) > _MAX_ANSWER_BYTES:
                raise CutShortError(f"an answer of more than {_MAX_ANSWER_BYTES:,} bytes")
        return Reply(response.status_code, response.headers, bytes(body))

    def _failure(self, reply: Reply) -> Exception:
        """Return the exception for an HTTP error: to ask less, to ask again later, or to stop."""
        status_code, wait_seconds = reply.status, retry_after(reply.headers)
        ran_out = _OUT_OF_TIME.search(reply.body.decode(errors="replace")) and wait_seconds is None
        if status_code in (408, 413, 504) or (status_code in (429, 500, 503) and ran_out):
            return CutShortError(f"HTTP {status_code}: it ran out of time")
        error_text = self._words(reply.body)
        if status_code in (429, 500, 502, 503):
            return RetryError(f"HTTP {status_code}", error_text, wait_seconds)
        return UserError(f"{self.address} refused the query: HTTP {status_code}: {error_text}")

    def _words(self, body: bytes) -> str:
        """Return the endpoint's message without the credentials, which some endpoints send back."""
        return self._service.mask(_error_line(body))


def _as_it_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """The request with the headers that it has: nothing is looked up in .netrc."""
    return request


def _error_line(body: bytes) -> str:
    """The first line that names an error, else the first one: some endpoints echo the query."""
    text_lines = [
        line.strip() for line in body.decode(errors="replace").splitlines() if line.strip()
    ]
    error_lines = [line for line in text_lines if re.search(r"exception|error", line, re.I)]
    return (error_lines or text_lines or ["no message"])[0][:300]


class Pager:
    """Asks for long lists page by page; every answer is kept in a folder and never asked for again.

    A page that the endpoint cannot manage is halved, down to ten rows, which is asked for as often
    as the policy allows; every page that it does manage lets the next be a little larger, up to
    the size asked for. A file of the folder is one page, written whole or not at all, named by its
    question: address without credentials, text of the query and the place where the page starts.
    Its size is not part of the name, so a page that had to shrink is found again, and so is one
    made with another page size.
    """

    def __init__(self, client: SparqlClient, folder: Path, policy: RetryPolicy) -> None:
        self.client, self._folder, self._policy = client, folder, policy
        self._sizes: dict[str, int] = {}

    def one(self, query_template: QueryTemplate) -> list[Row]:
        """The rows of a query that has no slot."""
        return self._get(query_template, "", 1).rows

    def batches(
        self,
        query_template: QueryTemplate,
        entity_names: Sequence[str],
        page_size: int,
        key_column: str = "",
    ) -> Iterator[AnswerPage]:
        """Rows about each of these prefixed names, `size` names a page at most.

        With `key`, a column that has a row for every name: `UserError` where the rows of a page
        are about far fewer names than were asked for, for some stores cut answers short.
        """
        position = 0
        while position < len(entity_names):
            answer_page = self._get(
                query_template, entity_names[position], page_size, entity_names, position
            )
            if key_column:
                answered_count = len({row[key_column].value for row in answer_page.rows})
                self._check(
                    query_template, entity_names[position], answered_count, len(answer_page.asked)
                )
            yield answer_page
            position += len(answer_page.asked)

    def keyset(
        self, query_template: QueryTemplate, key_column: str, page_size: int, counted_rows: int
    ) -> Iterator[list[Row]]:
        """All rows in the order of the IRIs in column `key`, `size` rows a page at most.

        Each page starts after the last key of the one before, so that rows which come or go
        meanwhile shift nothing. Only an empty page is the end: endpoints have limits of their own.
        `UserError` where there are far fewer rows than `total`, the number that was counted: the
        store sorts texts in another order than it compares them in, or cuts answers short.
        """
        after_key, listed_count = "", 0
        while True:
            answer_page = self._get(query_template, after_key, page_size)
            if not answer_page.rows:
                self._check(query_template, after_key, listed_count, counted_rows)
                return
            yield answer_page.rows
            listed_count += len(answer_page.rows)
            last_key = answer_page.rows[-1][key_column].value
            if last_key == after_key:
                raise UserError(f"{self.client.address} gives the same page again and again")
            after_key = last_key

    def _check(
        self, query_template: QueryTemplate, start_key: str, row_count: int, expected_count: int
    ) -> None:
        """Do not believe a short answer, nor keep it; a live store is edited meanwhile."""
        if is_short(row_count, expected_count):
            self._path(query_template, start_key).unlink()
            raise UserError(
                f"{self.client.address} gave {row_count} of {expected_count} in "
                f"{query_template.name}",
                hint="run it again, with smaller pages; if that does not help, use a dump",
            )

    def _path(self, query_template: QueryTemplate, start_key: str) -> Path:
        question = json.dumps([self.client.address, query_template.text, start_key])
        return self._folder / f"{query_template.name}-{text_sha256(question)[:32]}.json.gz"

    def _get(
        self,
        query_template: QueryTemplate,
        start_key: str,
        largest_size: int,
        all_ids: Sequence[str] = (),
        position: int = 0,
    ) -> AnswerPage:
        """One page, about `ids` from `at` on, kept or as large as the endpoint can manage now."""
        path = self._path(query_template, start_key)
        if path.is_file():
            try:
                cached_page = _page(gzip.decompress(path.read_bytes()))
            except (EOFError, OSError, zlib.error, ValueError) as error:
                error_text = f"not a page of answers ({error})"
                hint_text = "remove this file: it will be asked for again"
                raise UserError(error_text, where=path, hint=hint_text) from error
            if cached_page.asked == list(all_ids[position : position + len(cached_page.asked)]):
                return AnswerPage(cached_page.asked, _results(cached_page.answer).results.bindings)

        def call(_: int) -> AnswerPage:
            while True:
                page_size = min(self._sizes.get(query_template.name, largest_size), largest_size)
                asked_ids = list(all_ids[position : position + page_size])
                try:
                    answer_json, rows = self.client.answer(
                        query_template.asking(asked_ids, start_key, page_size)
                    )
                except CutShortError as error:
                    if page_size <= _FLOOR:
                        name = query_template.name
                        error_text = (
                            f"unable to answer even small pages of {name} ({page_size} rows)"
                        )
                        raise RetryError(error_text, str(error)) from error
                    self._sizes[query_template.name] = max(_FLOOR, page_size // 2)
                else:
                    self._sizes[query_template.name] = page_size + max(1, largest_size // 20)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    page_json = msgspec.json.encode(CachedPage(asked_ids, msgspec.Raw(answer_json)))
                    temporary_path = clear_place(path.with_name(f"{path.name}.{os.getpid()}.part"))
                    temporary_path.write_bytes(gzip.compress(page_json, 6, mtime=0))
                    temporary_path.replace(path)
                    return AnswerPage(asked_ids, rows)

        hint_text = "run it again later: it goes on from what it has"
        return retry(call, self._policy, where=self.client.address, hint=hint_text)
