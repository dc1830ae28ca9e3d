"""The answer cache: what is kept stays, by namespace."""

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
    assert cache.keep_all({"a": "two", "b": "three"}) == {"a": "one", "b": "three"}
    assert AnswerCache(path, "other").get("a") is None
    assert AnswerCache(path).get("a") == ("one" if kept else None)


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    path.write_bytes(b"something else, and more of it than a header" * 9)
    with pytest.raises(UserError, match="cannot be opened: file is not a database\n  move it away"):
        AnswerCache(path)
    with pytest.raises(ValueError, match="not a name"):
        AnswerCache(None, "a; drop table b")
