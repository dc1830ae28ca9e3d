"""Shortcuts on the card of TimeQA, by hand."""

from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from factdrift.builders.timeqa.shortcuts import lengths, lowest_share, most_similar, shortcuts

SEGMENTS = [
    ("Q2", date(2000, 1, 1), date(2003, 1, 1)),
    ("Q3", date(2003, 1, 1), date(2004, 1, 1)),
    ("Q2", date(2004, 1, 1), date(2005, 1, 1)),
    ("Q4", date(2006, 1, 1), None),
]
RIGHT = [
    (["Q2"], "yes", date(2001, 6, 1), ("first", "most frequent", "nearest year", "latest begun")),
    (["Q4"], "yes", date(2018, 1, 1), ("last", "nearest year", "latest begun", "longest held")),
    (["Q3"], "yes", date(2003, 9, 1), ("nearest year", "latest begun")),
    (["Q3", "Q4"], "yes", date(2005, 12, 1), ("last", "longest held")),
    (["Q2"], "not_in_page", date(2001, 6, 1), ()),
    ([], "nothing_holds", date(1999, 6, 1), ()),
]


@pytest.mark.parametrize(("objects", "answerable", "day", "expected"), RIGHT)
def test_which_shortcuts_are_right(
    objects: list[str], answerable: str, day: date, expected: tuple[str, ...], tmp_path: Path
) -> None:
    answers = {"text": ["Hull"] * (answerable == "yes"), "answer_start": []}
    question = {
        "id": "a", "difficulty": "hard", "subject": "Q1", "relation": "P54",
        "answerable": answerable, "time_first": day,
        "objects": [{"id": object_id} for object_id in objects], "time_last": None,
        "question": "Who played in Hull?", "context": "A. He was in Hull.",
        "answers": answers,
    }  # fmt: skip
    row = pa.struct([("id", pa.string())])
    table = pa.Table.from_pylist([question])
    place = table.schema.get_field_index("objects")
    typed = pa.array([question["objects"]], pa.list_(row))
    pq.write_table(table.set_column(place, "objects", typed), tmp_path / "q.parquet")
    pq.write_table(
        pa.Table.from_pylist(
            [
                {"subject": "Q1", "relation": "P54", "object": object_id, "start_first": start_day,
                 "end_first": end_day, "end_last": end_day, "snapshot": date(2019, 1, 1)}
                for object_id, start_day, end_day in SEGMENTS
            ]
        ),
        tmp_path / "s.parquet",
    )  # fmt: skip
    [figures] = shortcuts(tmp_path / "q.parquet", tmp_path / "s.parquet").rows
    names = ("first", "last", "most frequent", "nearest year", "latest begun", "longest held")
    assert {name for name in names if figures[name]} == set(expected)
    assert figures["rows"] == 1
    share = len(objects) / 3 if answerable == "yes" else 0
    assert figures["random"] == pytest.approx(share)
    assert figures["best sentence"] == (answerable == "yes")


@pytest.mark.parametrize(
    ("question", "context", "expected"),
    [
        ("Who led Hull in 2003?", "Leeds won.\nIn 2003 Ann led Hull. It rained.",
         "In 2003 Ann led Hull. "),
        ("Who?", "Leeds won.\nHull won.", "Leeds won."),
        ("Where is the rare word?", "Nobody ran.\nA rare thing.", "A rare thing."),
    ],
)  # fmt: skip
def test_the_most_similar_sentence(question: str, context: str, expected: str) -> None:
    assert most_similar(question, context) == expected


def test_what_the_length_of_a_context_tells(tmp_path: Path) -> None:
    answerable = ["yes", "yes", "not_in_page", "yes"]
    contexts = ["A long context.", "Short.", "Shorter", ""]
    table = {
        "difficulty": ["easy"] * 4, "subject": ["Q1"] * 4, "page": [7] * 4,
        "answerable": answerable, "context": contexts,
    }  # fmt: skip
    pq.write_table(pa.table(table), tmp_path / "q.parquet")
    [figures] = lengths(tmp_path / "q.parquet").rows
    assert (figures["rows"], figures["shorter than another"]) == (3, 2)
    assert figures["no answer of these"] == 0.5
    assert figures["at least"] == pytest.approx(lowest_share(0.5, 2))


@pytest.mark.parametrize(
    ("share", "count", "expected"), [(None, 0, None), (0.5, 100, 0.404), (0.0, 10, 0.0)]
)
def test_the_lower_end_of_an_interval(
    share: float | None, count: int, expected: float | None
) -> None:
    assert lowest_share(share, count) == (
        None if expected is None else pytest.approx(expected, abs=0.001)
    )
