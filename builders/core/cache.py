"""A cache on disk for answers of slow or paid services, so that no request is sent twice.

diskcache does the same, but by default it evicts entries at a size limit, and it stores values as
pickles, which no other program reads. One table of SQLite needs no package.
"""

import sqlite3
from contextlib import suppress
from pathlib import Path

from factdrift.builders.core.errors import UserError

_WRITE_TIMEOUT = 60.0
"""Seconds that a write waits for other processes that write into the same file.

Writes are single rows and take milliseconds, so a minute passes only if a process hangs.
"""


class AnswerCache:
    """Texts by key in an SQLite file, each of which is written before the next request.

    `namespace` is the name of the table; one file can hold several. Nothing is held in memory. A
    killed run loses only requests without an answer; a power cut can also lose those of the last
    seconds. Several processes and threads of one machine can share a file (threads one at a time).
    If two of them store an answer for the same key, the first one stays. Without a path the
    answers are lost with the object. Raises `UserError` if the file cannot be opened or is not a
    cache.
    """

    def __init__(self, path: Path | None, namespace: str = "results") -> None:
        if not namespace.isidentifier():
            raise ValueError(f"not a name of a table: {namespace!r}")
        self.path = path
        create_table = f"CREATE TABLE IF NOT EXISTS {namespace} (key TEXT PRIMARY KEY, result TEXT)"
        self._find = f"SELECT * FROM {namespace} WHERE key = ?"  # noqa: S608 - a checked name
        self._insert = f"INSERT OR IGNORE INTO {namespace} VALUES (?, ?)"  # noqa: S608
        try:
            if path:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                path or ":memory:", _WRITE_TIMEOUT, isolation_level=None, check_same_thread=False
            )
            with suppress(sqlite3.OperationalError):  # another process is doing the same just now
                self._db.execute("PRAGMA journal_mode = WAL")
            # FULL would wait for the disk at every answer; with WAL this cannot corrupt the file
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute(f"{create_table} WITHOUT ROWID")
        except (OSError, sqlite3.Error) as error:
            raise UserError(
                f"the cache cannot be opened: {error}",
                where=path,
                hint="move it away to begin anew",
            ) from error

    def get(self, key: str) -> str | None:
        """Return the text stored under `key`, or None."""
        cached_row = self._db.execute(self._find, [key]).fetchone()
        return str(cached_row[1]) if cached_row else None

    def keep(self, key: str, text: str) -> str:
        """Store a text under `key` unless there is one; return the text that is stored now."""
        self._db.execute(self._insert, [key, text])
        return self.get(key) or text
