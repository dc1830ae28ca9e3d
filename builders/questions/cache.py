"""Results kept by content: a rebuild asks a backend only for what it has not answered yet."""

import fcntl
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

from builders.errors import UserError
from builders.questions.protocol import Backend, Done, Query, Request, Result, Writer
from builders.store import digest

R = TypeVar("R", Request, Query, str)


class Cached:
    """A backend whose results are appended to `folder` as they come and never asked for twice.

    One JSON line a result, named by a hash of the backend's identity and of all that the request
    holds; no key and no server answer but the text is kept. A line that a killed run left
    half-written is skipped. With `offline` the backend is never called: a missing result is a
    `UserError`.
    """

    def __init__(self, backend: Backend, folder: Path, *, offline: bool = False) -> None:
        self.backend = backend
        self.name = backend.name
        self.identity = backend.identity
        self.offline = offline
        self.hits = self.misses = 0
        self.path = folder / f"{backend.name.split(':')[0]}-{digest(backend.identity)}.jsonl"
        self._known: dict[str, Result] = {}
        if self.path.is_file():
            self._read()

    def generate(self, requests: Sequence[Request], done: Done | None = None) -> list[Result]:
        """A question for each request, from the cache where it is there."""
        keys = [request_key(self.identity, r) for r in requests]
        return self._through(keys, requests, self.backend.generate, done)

    def answer(self, queries: Sequence[Query], done: Done | None = None) -> list[Result]:
        """An answer for each query, from the cache where it is there."""
        keys = [query_key(self.identity, q) for q in queries]
        return self._through(keys, queries, self.backend.answer, done)

    def _through(
        self,
        keys: Sequence[str],
        requests: Sequence[R],
        call: Callable[[Sequence[R], Done | None], list[Result]],
        done: Done | None,
    ) -> list[Result]:
        places: dict[str, int] = {}
        for n, key in enumerate(keys):
            if key not in self._known:
                places.setdefault(key, n)
        if places and self.offline:
            raise UserError(
                f"{len(places):,} of {len(keys):,} results of {self.name} are not in the cache",
                where=self.path,
                hint="run once without `offline`, or bring the cache folder of the first run",
            )
        missing = list(places)
        if missing:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab") as file:
                call(
                    [requests[places[k]] for k in missing],
                    lambda n, result: self._keep(file.fileno(), missing[n], result),
                )
        self.misses += len(missing)
        self.hits += len(keys) - len(missing)
        out = [self._known[key] for key in keys]
        for n, result in enumerate(out if done else ()):
            done(n, result) if done else None
        return out

    def _keep(self, fd: int, key: str, result: Result) -> None:
        self._known[key] = result
        row = {"key": key} | {k: v for k, v in asdict(result).items() if v is not None}
        line = (json.dumps(row, ensure_ascii=False) + "\n").encode()
        fcntl.flock(fd, fcntl.LOCK_EX)
        try:
            if _torn(self.path):
                line = b"\n" + line
            os.write(fd, line)
        finally:
            fcntl.flock(fd, fcntl.LOCK_UN)

    def _read(self) -> None:
        with self.path.open("rb") as file:
            for line in file:
                try:
                    row = json.loads(line)
                    key = row.pop("key")
                    self._known[key] = Result(**({"text": None} | row))
                except (ValueError, TypeError, KeyError, AttributeError):
                    continue  # the last line of a run that was killed


class CachedWriter(Cached):
    """The same for a backend that goes on from any prompt."""

    def __init__(self, writer: Writer, folder: Path, *, offline: bool = False) -> None:
        super().__init__(writer, folder, offline=offline)
        self.writer = writer

    def write(self, texts: Sequence[str], done: Done | None = None) -> list[Result]:
        """What follows each text, from the cache where it is there."""
        keys = [digest(["write", self.identity, text]) for text in texts]
        return self._through(keys, texts, self.writer.write, done)


def _torn(path: Path) -> bool:
    """Whether the last line has no end."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if not size:
            return False
        file.seek(size - 1)
        return file.read(1) != b"\n"


def request_key(identity: str, request: Request) -> str:
    """Names a request to write a question: the article's text and days, the span, the backend."""
    c, a = request.candidate, request.article
    span = [c.start, c.end, c.type, c.label]
    return digest(["generate", identity, str(a.day), a.text, span, str(request.question_day)])


def query_key(identity: str, query: Query) -> str:
    """Names a request to answer a question."""
    a = query.article
    return digest(["answer", identity, str(a.day), a.text, query.question, str(query.question_day)])
