"""What is asked has one answer: who is told from others of the name, and who is not asked about."""

from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from factdrift.builders.core.engine import Engine
from factdrift.builders.core.schema import arrow_schema, typed_rows
from factdrift.builders.facts import namesakes
from factdrift.builders.rows import (
    AmbiguousRow,
    Answer,
    Entity,
    Gap,
    Namesake,
    Segment,
    Statement,
)
from tests.tables import column_of, read_table

CASES = {case: [*rows] for case, rows in groupby(read_table("namesakes"), lambda row: row[0])}
DAY = date(2020, 1, 1)


def table(eng: Engine, folder: Path, row: type, values: list[dict[str, Any]]) -> Any:
    """A table of rows; what they do not say is empty."""
    schema = arrow_schema(row)
    path = folder / f"{row.__name__}.parquet"
    defaults: dict[str, Any] = {"snapshot": DAY}
    for field in schema:
        for is_type, value in (
            (pa.types.is_list, []),
            (pa.types.is_boolean, False),
            (pa.types.is_integer, 0),
            (pa.types.is_string, None if field.nullable else ""),
        ):
            if is_type(field.type):
                defaults[field.name] = value
    pq.write_table(
        pa.Table.from_pylist([defaults | value for value in values], schema=schema), path
    )
    return eng.read(path, row)


def days(first: str, last: str) -> dict[str, date]:
    start, end = date(int(first), 1, 1), date(int(last), 12, 31)
    return {"start_first": start, "start_last": start, "end_first": end, "end_last": end}


class World:
    """The rows of a case as tables."""

    def __init__(self, eng: Engine, folder: Path, case: list[list[str]]) -> None:
        entity_rows: dict[str, dict[str, Any]] = {}
        facts: list[dict[str, Any]] = []
        asked_rows: list[dict[str, Any]] = []
        for _, subject, relation, label, text, country, answer, first, last, day, *_ in case:
            entity_values = {"description": text or None, "country": country or None}
            entity_rows[subject] = {"id": subject, "label": label, **entity_values}
            entity_rows[answer] = {"id": answer, "label": answer}
            fact = {"subject": subject, "relation": relation, "object": answer}
            facts.append(fact | days(first, last))
            if day:
                key = {"key": f"{subject}/{relation}", "answers": [answer]}
                middle = date(int(day), 6, 30)
                asked_rows.append(key | fact | {"first": middle, "last": middle})
        self.held = namesakes.held_objects(
            table(eng, folder, Segment, facts), table(eng, folder, Gap, [])
        )
        self.entities = table(eng, folder, Entity, [*entity_rows.values()])
        offices = [fact | {"relation": "P1308"} for fact in facts if "Minister" in
                   entity_rows[fact["subject"]]["label"]]  # fmt: skip
        statements = table(eng, folder, Statement, offices)
        self.offices = namesakes.office_names(eng, statements, self.entities)
        schema = pa.schema(
            [("key", pa.string()), ("subject", pa.string()), ("relation", pa.string()),
             ("answers", pa.list_(pa.string())), ("first", pa.date32()), ("last", pa.date32())]
        )  # fmt: skip
        pq.write_table(pa.Table.from_pylist(asked_rows, schema=schema), folder / "asked.parquet")
        self.asked = eng._read([str(folder / "asked.parquet")], ibis.schema(schema))


@pytest.mark.parametrize("case", CASES)
def test_who_is_told_apart(duck: Engine, tmp_path: Path, case: str) -> None:
    world = World(duck, tmp_path, CASES[case])
    told_tables = namesakes.tell_apart(
        duck, tmp_path, world.asked, world.held, world.entities, world.offices, {"P17": "P131"}
    )
    names = {(row["subject"], row["relation"]): row["name"] for row in duck.rows(told_tables.names)}
    ambiguous = set(column_of(duck.rows(told_tables.ambiguous), "key"))
    written_names = []
    for _, subject, relation, *_, day, _, _ in CASES[case]:
        key = f"{subject}/{relation}"
        expected_word = ("no" if key in ambiguous else "yes") if day else ""
        name = "" if expected_word == "no" else names.get((subject, relation), "")
        written_names.append((subject, relation, name, expected_word))
    assert written_names == [(row[1], row[2], row[10], row[11]) for row in CASES[case]]


def test_the_crowd_of_one_name_is_not_asked_about(duck: Engine, tmp_path: Path) -> None:
    number = namesakes._MOST_NAMESAKES + 1
    crowd_case = [
        ["", f"Q{place}", "P54", "John Smith", f"player {chr(64 + place)}", "", f"Club {place}",
         "2010", "2015", "2012", "", ""]
        for place in range(1, number + 1)
    ]  # fmt: skip
    world = World(duck, tmp_path, crowd_case)
    told_tables = namesakes.tell_apart(
        duck, tmp_path, world.asked, world.held, world.entities, world.offices, {}
    )
    assert len(duck.rows(told_tables.ambiguous)) == number


def test_items_of_texts_about_several_facts(duck: Engine, tmp_path: Path) -> None:
    both_cases = CASES["two players"] + CASES["an office of one country twice"]
    both_cases = [[*row] for row in both_cases]
    both_cases[3][1], both_cases[4][1] = "Q4", "Q5"
    world = World(duck, tmp_path, both_cases)
    namesakes.write_namesakes(duck, tmp_path, world.held, world.entities, world.offices)
    assert list(typed_rows(tmp_path / namesakes.NAMESAKES, Namesake)) == [
        Namesake("Q1", "subject", "Danilo (Brazilian footballer)", "Brazilian footballer"),
        Namesake("Q2", "subject", "Danilo (Portuguese midfielder)", "Portuguese midfielder"),
        Namesake("Q4", "subject", None, None),
        Namesake("Q5", "subject", None, None),
    ]


@pytest.mark.parametrize(
    ("description", "label", "usable"),
    [
        ("German politician", "Bundestag", True),
        ("French politician", "France", False),
        ("politician from France", "France", False),
        ("footballer at Formula 1 level", "Ferrari", True),
        ("19th-century painter", "Louvre", False),
        ("ex-footballer", "Santos", False),
        ("", "Santos", False),
        ("!!!", "Santos", False),
    ],
)
def test_what_may_stand_behind_a_name(description: str, label: str, usable: bool) -> None:
    assert namesakes.can_name(description, [Answer("Q1", label, ())]) is usable


def test_what_is_dropped_names_its_items_and_where_there_is_one_its_period(
    duck: Engine, tmp_path: Path
) -> None:
    ambiguous_row = {"key": "Q1/P54/2020", "subject": "Q1", "relation": "P54", "rivals": "Q2 Q3"}
    ambiguous = table(duck, tmp_path, AmbiguousRow, [ambiguous_row])
    for period in (None, "2020Q1"):
        period_name = None if period is None else ibis.literal(period)
        (dropped_row,) = duck.rows(namesakes.dropped_rows(ambiguous, "ask", period_name))
        assert (dropped_row["step"], dropped_row["period"]) == ("ask", period)
        assert (dropped_row["item"], dropped_row["detail"]) == ("Q1/P54/2020", "Q2 Q3")
