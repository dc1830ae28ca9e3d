"""The answer cache: what is kept stays, by namespace, and older files are still read."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from factdrift.builders.core.cache import AnswerCache
from factdrift.builders.core.errors import UserError


@pytest.mark.parametrize("kept", [True, False])
def test_the_first_answer_stays(kept: bool, tmp_path: Path) -> None:
    path = tmp_path / "new" / "file.sqlite" if kept else None
    cache = AnswerCache(path)
    assert cache.get("a") is None
    assert cache.keep("a", "one") == "one"
    assert (cache.keep("a", "two"), cache.get("a")) == ("one", "one")
    assert AnswerCache(path, "other").get("a") is None
    assert AnswerCache(path).get("a") == ("one" if kept else None)


@pytest.mark.parametrize("table", ["results (key TEXT PRIMARY KEY, result TEXT) WITHOUT ROWID",
                                   "scores (key TEXT PRIMARY KEY, scores TEXT)"])  # fmt: skip
def test_files_of_before_are_read(table: str, tmp_path: Path) -> None:
    path, name = tmp_path / "old.sqlite", table.split()[0]
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"CREATE TABLE {table}")
        db.execute(f"INSERT INTO {name} VALUES ('a', 'kept')")
    cache = AnswerCache(path, name)
    assert (cache.get("a"), cache.keep("b", "new"), cache.get("b")) == ("kept", "new", "new")


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    path.write_bytes(b"something else, and more of it than a header" * 9)
    with pytest.raises(UserError, match="cannot be opened: file is not a database\n  move it away"):
        AnswerCache(path)
    with pytest.raises(ValueError, match="not a name"):
        AnswerCache(None, "a; drop table b")
