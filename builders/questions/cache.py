"""Results kept by content: a rebuild asks a backend only for what it has not answered yet."""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from builders.errors import UserError
from builders.questions.protocol import Backend, Done, Query, Request, Result, Writer
from builders.store import digest

R = TypeVar("R", Request, Query, str)


_TIMEOUT = 60.0
"""Seconds that a write waits for other processes that write into the same file."""


class Cached:
    """A backend whose results are kept in `folder` as they come and never asked for twice.

    One row a result in an SQLite file, written before the next is taken, named by a hash of the
    backend's identity and of all that the request holds; no key and no server answer but the text
    is kept. Nothing of it is held in memory. A killed run loses only what was not answered yet, a
    power cut the last seconds too; several processes of one machine may share a file, and where
    two ask the same, the first answer stays. With `offline` the backend is never called: a
    missing result is a `UserError`.
    """

    def __init__(self, backend: Backend, folder: Path, *, offline: bool = False) -> None:
        self.backend = backend
        self.name = backend.name
        self.identity = backend.identity
        self.offline = offline
        self.hits = self.misses = 0
        self.path = folder / f"{backend.name.split(':')[0]}-{digest(backend.identity)}.sqlite"
        self._db = _open(self.path)

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
        found: dict[str, Result] = {}
        places: dict[str, int] = {}
        for n, key in enumerate(keys):
            if key in found or key in places:
                continue
            known = self._get(key)
            if known is None:
                places[key] = n
            else:
                found[key] = known
        if places and self.offline:
            raise UserError(
                f"{len(places):,} of {len(keys):,} results of {self.name} are not in the cache",
                where=self.path,
                hint="run once without `offline`, or bring the cache folder of the first run",
            )
        missing = list(places)
        if missing:
            call(
                [requests[places[k]] for k in missing],
                lambda n, result: self._keep(missing[n], result, found),
            )
        self.misses += len(missing)
        self.hits += len(keys) - len(missing)
        out = [found[key] for key in keys]
        for n, result in enumerate(out if done else ()):
            done(n, result) if done else None
        return out

    def _get(self, key: str) -> Result | None:
        row = self._db.execute("SELECT result FROM results WHERE key = ?", [key]).fetchone()
        return msgspec.json.decode(row[0], type=Result) if row else None

    def _keep(self, key: str, result: Result, found: dict[str, Result]) -> None:
        text = msgspec.json.encode(result).decode()
        self._db.execute("INSERT OR IGNORE INTO results VALUES (?, ?)", [key, text])
        found[key] = self._get(key) or result


class CachedWriter(Cached):
    """The same for a backend that goes on from any prompt."""

    def __init__(self, writer: Writer, folder: Path, *, offline: bool = False) -> None:
        super().__init__(writer, folder, offline=offline)
        self.writer = writer

    def write(self, texts: Sequence[str], done: Done | None = None) -> list[Result]:
        """What follows each text, from the cache where it is there."""
        keys = [digest(["write", self.identity, text]) for text in texts]
        return self._through(keys, texts, self.writer.write, done)


def _open(path: Path) -> sqlite3.Connection:
    """The file's results; a backend may hand them over from its threads, one at a time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(path, _TIMEOUT, isolation_level=None, check_same_thread=False)
        with suppress(sqlite3.OperationalError):  # another process is doing the same just now
            db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute(
            "CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, result TEXT) WITHOUT ROWID"
        )
    except (OSError, sqlite3.Error) as error:
        raise UserError(
            f"the cache cannot be opened: {error}", where=path, hint="move it away to begin anew"
        ) from error
    return db


def request_key(identity: str, request: Request) -> str:
    """Names a request to write a question: the article's text and days, the span, the backend."""
    c, a = request.candidate, request.article
    span = [c.start, c.end, c.type, c.label]
    return digest(["generate", identity, str(a.day), a.text, span, str(request.question_day)])


def query_key(identity: str, query: Query) -> str:
    """Names a request to answer a question."""
    a = query.article
    return digest(["answer", identity, str(a.day), a.text, query.question, str(query.question_day)])
