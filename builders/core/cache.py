"""Answers of slow or paid services kept by content, so that nothing is asked for twice.

diskcache would do the same, but evicts at a size limit unless told otherwise and stores values by
pickle, and its files could be read by nothing else; one table of SQLite needs no package.
"""

import sqlite3
from contextlib import suppress
from pathlib import Path

from factdrift.builders.core.errors import UserError

_TIMEOUT = 60.0
"""Seconds that a write waits for other processes that write into the same file."""


class AnswerCache:
    """Texts by key in an SQLite file, each on disk before the next is asked for.

    `namespace` names the table: one file may hold several. Nothing is held in memory. A killed
    run loses only what was not answered yet, a power cut the last seconds too; several processes
    and threads of one machine may share a file (threads one at a time), and where two keep an
    answer to one key, the first stays. Without a path the answers live as long as the object.
    `UserError` where the file cannot be opened or is something else.
    """

    def __init__(self, path: Path | None, namespace: str = "results") -> None:
        if not namespace.isidentifier():
            raise ValueError(f"not a name of a table: {namespace!r}")
        self.path = path
        create = f"CREATE TABLE IF NOT EXISTS {namespace} (key TEXT PRIMARY KEY, result TEXT)"
        self._find = f"SELECT * FROM {namespace} WHERE key = ?"  # noqa: S608 - a checked name
        self._insert = f"INSERT OR IGNORE INTO {namespace} VALUES (?, ?)"  # noqa: S608
        try:
            if path:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                path or ":memory:", _TIMEOUT, isolation_level=None, check_same_thread=False
            )
            with suppress(sqlite3.OperationalError):  # another process is doing the same just now
                self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute(f"{create} WITHOUT ROWID")
        except (OSError, sqlite3.Error) as error:
            raise UserError(
                f"the cache cannot be opened: {error}",
                where=path,
                hint="move it away to begin anew",
            ) from error

    def get(self, key: str) -> str | None:
        """What is kept under `key`, if anything."""
        row = self._db.execute(self._find, [key]).fetchone()
        return str(row[1]) if row else None

    def keep(self, key: str, text: str) -> str:
        """Keep a text under `key` unless there is one; what is kept there now."""
        self._db.execute(self._insert, [key, text])
        return self.get(key) or text
