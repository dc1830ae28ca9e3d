"""Parts of `as-of` and of its export that need no release of the samples."""

from datetime import date
from pathlib import Path

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.rows import Segment
from factdrift.reasoning.as_of.steps import _History
from factdrift.reasoning.names import Verbalizer
from factdrift.scoring.export.dated import news_passages

NOW = date(2024, 1, 1)


def term(object_id: str, start: date, end: date | None, latest_end: date | None) -> Segment:
    days = (start, start, end, latest_end)
    return Segment("Q1", "P6", object_id, *days, False, False, False, ("s",), NOW)


def test_an_object_has_ended_where_a_term_of_it_surely_has() -> None:
    terms = [
        term("Q2", date(2000, 1, 1), date(2003, 5, 1), date(2003, 5, 1)),
        term("Q3", date(2003, 5, 1), date(2010, 1, 1), date(2012, 12, 31)),
        term("Q4", date(2012, 1, 1), None, None),
    ]
    history = _History(Verbalizer({}, {}), "Ann Lee", terms, ())
    assert history._ended_objects(date(2003, 5, 1)) == set()
    assert history._ended_objects(date(2011, 1, 1)) == {"Q2"}
    assert history._ended_objects(date(2013, 1, 1)) == {"Q2", "Q3"}


def test_passages_of_news_are_in_the_folder_of_a_corpus(tmp_path: Path) -> None:
    for folder, named in ((None, ""), (tmp_path, str(tmp_path))):
        with pytest.raises(UserError, match="the text of news is not in the release") as error:
            news_passages(folder)
        assert str(error.value).startswith(named)
    (tmp_path / "passages.parquet").touch()
    assert news_passages(tmp_path) == tmp_path / "passages.parquet"
