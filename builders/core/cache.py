"""A cache on disk for answers of slow or paid services, so that no request is sent twice.

diskcache does the same, but by default it evicts entries at a size limit, and it stores values as
pickles, which no other program reads. SQLite needs no package.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hashing import fast_hash
from factdrift.builders.core.progress import say

_WRITE_TIMEOUT = 60.0
"""Seconds that a write waits for other processes that write into the same file.

Writes are single rows and take milliseconds, so a minute passes only if a process hangs.
"""
_SEAL_BYTES = 8
"""Bytes of a seal: a damaged row passes once in 2**64 times."""


class AnswerCache:
    """Texts by key in an SQLite file, each of which is written before the next request.

    `namespace` is the name of the table; one file can hold several. A table beside it has a seal of
    each row, because SQLite does not notice a flipped bit. All rows are checked when the file is
    opened: a changed one is removed, which is said, and will be asked for again. The rows of a file
    of an older version are sealed as they are.

    Nothing is held in memory. A killed run loses only requests without an answer; a power cut can
    also lose those of the last seconds. Several processes and threads of one machine can share a
    file (threads one at a time). If two of them store an answer for the same key, the first one
    stays. Without a path the answers are lost with the object. Raises `UserError` if the file
    cannot be opened, is damaged as a whole, or is not a cache.
    """

    def __init__(self, path: Path | None, namespace: str = "results") -> None:
        if not namespace.isidentifier():
            raise ValueError(f"not a name of a table: {namespace!r}")
        self.path = path
        self._rows, self._seals = namespace, f"{namespace}_seals"
        try:
            if path:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                path or ":memory:", _WRITE_TIMEOUT, isolation_level=None, check_same_thread=False
            )
        except (OSError, sqlite3.Error) as error:
            raise self._refusal(error) from error
        self._db.text_factory = bytes  # a flipped bit can make a text that is no UTF-8
        with self._errors(), ExitStack() as at_error:
            at_error.callback(self._db.close)
            with suppress(sqlite3.OperationalError):  # another process is doing the same just now
                self._db.execute("PRAGMA journal_mode = WAL")
            # FULL would wait for the disk at every answer; with WAL this cannot corrupt the file
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._prepare()
            at_error.pop_all()

    def _prepare(self) -> None:
        """Make the tables if they are not there, and check or seal the rows that are."""
        (first_problem,) = self._db.execute("PRAGMA integrity_check(1)").fetchone()
        if first_problem != b"ok":
            raise sqlite3.DatabaseError(first_problem.decode("utf-8", "replace"))
        self._db.create_function("seal_of", 2, _seal_of, deterministic=True)
        rows, seals = self._rows, self._seals
        # as bytes, because a text that is damaged need not be UTF-8
        seal = "seal_of(CAST(key AS BLOB), CAST(result AS BLOB))"
        if not self._has_table(seals):
            columns = "(key TEXT PRIMARY KEY, {} TEXT) WITHOUT ROWID"
            with self._transaction():
                self._db.execute(f"CREATE TABLE IF NOT EXISTS {rows} {columns.format('result')}")
                self._db.execute(f"CREATE TABLE IF NOT EXISTS {seals} {columns.format('seal')}")
                self._db.execute(f"INSERT OR IGNORE INTO {seals} SELECT key, {seal} FROM {rows}")  # noqa: S608
            return
        written_seal = f"(SELECT seal FROM {seals} s WHERE s.key = {rows}.key)"  # noqa: S608
        changed = f"FROM {rows} WHERE {written_seal} IS NOT {seal}"
        lost = f"FROM {seals} WHERE key NOT IN (SELECT key FROM {rows})"  # noqa: S608
        (is_damaged,) = self._db.execute(
            f"SELECT EXISTS (SELECT 1 {changed}) OR EXISTS (SELECT 1 {lost})"
        ).fetchone()
        if is_damaged:
            with self._transaction():
                counts = [self._db.execute(f"DELETE {part}").rowcount for part in (changed, lost)]
            place = display_path(self.path) if self.path else ""
            text = "answers were changed since they were written; they will be asked for again"
            say(f"  {place}: {max(counts)} {text}")

    def _has_table(self, name: str) -> bool:
        found = self._db.execute("SELECT count(*) FROM sqlite_master WHERE name = ?", [name])
        return bool(found.fetchone()[0])

    def get(self, key: str) -> str | None:
        """Return the text stored under `key`, or None."""
        with self._errors():
            find = f"SELECT result FROM {self._rows} WHERE key = ?"  # noqa: S608
            cached_row = self._db.execute(find, [key]).fetchone()
            return cached_row[0].decode() if cached_row else None

    def texts(self) -> Iterator[str]:
        """Yield all texts that are stored, in no order that means something."""
        with self._errors():
            for (answer_text,) in self._db.execute(f"SELECT result FROM {self._rows}"):  # noqa: S608
                yield answer_text.decode()

    def keep(self, key: str, text: str) -> str:
        """Store a text under `key` unless there is one; return the text that is stored now."""
        with self._errors():
            with self._transaction():
                insert = f"INSERT OR IGNORE INTO {self._rows} VALUES (?, ?)"  # noqa: S608
                self._db.execute(insert, [key, text])
                stored_text = self.get(key) or text
                insert = f"INSERT OR IGNORE INTO {self._seals} VALUES (?, ?)"  # noqa: S608
                self._db.execute(insert, [key, _seal_of(key.encode(), stored_text.encode())])
            return stored_text

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Write all of the block or nothing; other processes wait for its end."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._refusal(error) from error

    def _refusal(self, error: Exception) -> UserError:
        hint_text = "move it away to begin anew, or bring a copy of it from elsewhere"
        return UserError(f"the cache cannot be opened: {error}", where=self.path, hint=hint_text)


def _seal_of(key: bytes, text: bytes | None) -> str:
    """Return the seal of a row, in hex."""
    return fast_hash(key + b"\0" + (text or b""), _SEAL_BYTES).hex()
