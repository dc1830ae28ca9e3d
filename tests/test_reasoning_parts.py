"""Parts of questions over facts and of their export that need no release of the samples."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.rows import Segment
from factdrift.reasoning.as_of.histories import History
from factdrift.reasoning.rows import QuestionCandidate
from factdrift.reasoning.timelines import ItemTimeline
from factdrift.reasoning.writing import Writer
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
    history = History("Q1", "P6", terms, (), ())
    assert history.ended_objects(date(2003, 5, 1)) == set()
    assert history.ended_objects(date(2011, 1, 1)) == {"Q2"}
    assert history.ended_objects(date(2013, 1, 1)) == {"Q2", "Q3"}


@pytest.mark.parametrize(
    ("family", "answers", "choices", "ranked"),
    [
        ("chain", ("Q3",), [("Q4",), ("Q2",), ("Q3",)], [("Q2",), ("Q3",), ("Q4",)]),
        ("set", ("Q2",), [("Q2", "Q3"), ("Q3",), ("Q2",)], [("Q2",), ("Q3",), ("Q2", "Q3")]),
        ("ranking", ("Q2",), [("Q3", "Q2"), ("Q2", "Q3")], []),
        ("count", (), ["10", "9"], ["9", "10"]),
    ],
)
def test_choices_rank_by_their_time_or_size(
    family: str, answers: tuple[str, ...], choices: list[Any], ranked: list[Any]
) -> None:
    days = [date(year, 1, 1) for year in (2000, 2003, 2012)]
    terms = [term(f"Q{place}", day, None, None) for place, day in enumerate(days, 2)]
    row_values: dict[str, Any] = dict.fromkeys(QuestionCandidate.__dataclass_fields__)
    row = QuestionCandidate(**row_values | {"family": family, "answers": answers})
    writer: Any = None  # nothing of a release is needed
    assert Writer._ranked(writer, row, ItemTimeline.of(terms), choices) == ranked


def test_passages_of_news_are_in_the_folder_of_a_corpus(tmp_path: Path) -> None:
    for folder, named in ((None, ""), (tmp_path, str(tmp_path))):
        with pytest.raises(UserError, match="the text of news is not in the release") as error:
            news_passages(folder)
        assert str(error.value).startswith(named)
    (tmp_path / "passages.parquet").touch()
    assert news_passages(tmp_path) == tmp_path / "passages.parquet"
