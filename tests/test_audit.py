"""Audits: every verdict on a dump made by hand, the forms of benchmarks, hostile cells, repairs."""

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factdrift.builders.core.errors import UserError
from factdrift.builders.facts.intervals import Interval
from factdrift.scoring.audit.forms import (
    ColumnChoice,
    column_choice,
    days_of,
    form_of,
    item_id,
    property_id,
)
from factdrift.scoring.audit.rows import Holder, TableAnswer
from factdrift.scoring.audit.run import AuditOptions, audit
from factdrift.scoring.audit.summary import Summary, decay_picture, decay_points
from factdrift.scoring.audit.tables import TableRow, read_table, writing_like
from factdrift.scoring.audit.verdicts import PairHistory, Stretch, judge
from tests.conftest import ROOT, checksums, run_cli
from tests.dumps import Json, array, compressed, item, prop, statement, term

DAY = "2026-01-01"
PLACES = {"Q11": "Rome", "Q12": "Milan", "Q13": "Turin", "Q14": "Naples", "Q15": "Genoa"}


def entities() -> list[Json]:
    """A city for each kind of statement; mayors are cities, for names alone matter."""
    mayors = {
        "Q101": [statement("Q11", "2000", "2009"), statement("Q12", "2010-01-01")],
        "Q102": [statement("Q11", "2000", "2025"), statement("Q12", "2025")],
        "Q103": [statement("Q11")],
        "Q104": [statement("Q11", "2010"), statement("Q13", "1990", "2000", rank="deprecated")],
        "Q105": [statement("Q11", "2010"), statement("?", "2010", "2012")],
        "Q106": [statement("Q13", "2000", "2010", rank="deprecated")],
        "Q107": [statement("Q11", "2020", "somevalue")],
    }
    teams = {
        "Q120": [
            statement("Q11", "2019"),
            statement("Q12", "2020"),
            statement("Q13", "2001", "2002"),
        ]
    }
    births = {"Q130": [statement("Q14")]}
    # no relation of ours: P9901
    unknown = {"Q140": [statement("Q11", "2001", "2005"), statement("Q12", "2005-06")]}
    cities = [
        *(item(name, f"City {name}", {"P6": mayor}) for name, mayor in mayors.items()),
        *(item(name, f"Player {name}", {"P54": clubs}) for name, clubs in teams.items()),
        *(item(name, f"Person {name}", {"P19": places}) for name, places in births.items()),
        *(item(name, f"Thing {name}", {"P9901": values}) for name, values in unknown.items()),
        item("Q150", "Quiet city", {"P31": [statement("Q15")]}),
        {"entity": "Q151", "redirect": "Q101"},
        *(
            item(name, label, aliases={"en": [term(f"{label} city")]})
            for name, label in PLACES.items()
        ),
    ]
    properties = {"P6": "head of government", "P54": "team", "P19": "born", "P9901": "odd"}
    return [*(prop(name, label) for name, label in properties.items()), *cities]


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compressed(
        array(entities()), tmp_path_factory.mktemp("dump") / "wikidata-20260101-all.json"
    )


def run(table: Path, dump: Path, **more: Any) -> Summary:
    folder = table.parent
    options = {"build": folder / "build", "out": folder / "out", "say": lambda text: None, **more}
    return audit(AuditOptions(file=table, dump=[str(dump)], jobs=1, **options))


def judged_rows(folder: Path) -> list[Json]:
    return [json.loads(line) for line in (folder / "out/rows.jsonl").read_text().splitlines()]


CASES: list[tuple[Sequence[Any], str, str | None]] = [
    # subject, property, answer, own date -> verdict, reason
    (("Q101", "P6", "Q12", None), "still true", None),
    (("Q101", "head of government", "Milan City", None), "still true", None),
    (("Q151", "P6", "Q12", None), "still true", None),
    (("wd:Q101", "P6", ["Q11"], None), "true before", None),
    (("Q101", "P6", "Q12", "2005"), "true later", None),
    (("Q101", "P6", "Q11", "2005"), "still true", None),
    (("Q101", "P6", "Q11", "2031"), "in doubt", "after the day of the dump"),
    (("Q101", "P6", "Q13", None), "never stated", None),
    (("Q101", "P6", "the  Turin.", None), "never stated", None),
    (("Q102", "P6", "Q12", "2025-06"), "in doubt", "other readings"),
    (("Q102", "P6", "Q11", None), "true before", None),
    (("Q103", "P6", "Q11", None), "in doubt", "undated"),
    (("Q104", "P6", "Q13", None), "in doubt", "deprecated statement"),
    (("Q104", "P6", "Turin", None), "in doubt", "deprecated statement"),
    (("Q105", "P6", "Q14", None), "in doubt", "unknown value"),
    (("Q106", "P6", "Q13", None), "in doubt", "deprecated statement"),
    (("Q107", "P6", "Q11", None), "in doubt", "open or unknown dates"),
    (("Q120", "P54", "Q11", None), "one of several", None),
    (("Q120", "P54", ["Q11", "Q12"], None), "still true", None),
    (("Q120", "P54", ["Q11", "Q12", "Q13"], None), "still true", None),
    (("Q130", "P19", "Naples", None), "still true", None),
    (("Q130", "P19", "Rome", None), "never stated", None),
    (("Q140", "P9901", "Q12", None), "still true", None),
    (("Q140", "P9901", "Rome", None), "true before", None),
    (("Q150", "P6", "Q12", None), "not in the dump", "no statement of the property"),
    (("Q999", "P6", "Q12", None), "not in the dump", "no such subject"),
    (("Rome", "P6", "Q12", None), "not linked", "no id of the subject"),
    (("Q101", "mayor of hearts", "Q12", None), "not linked", "unknown property"),
    (("Q101", "P6", "", None), "not linked", "no answer"),
    (("Q101", "P6", "Q12", "soon"), "not linked", "no date"),
]
COLUMNS = ColumnChoice(subject="s", relation="p", answers="a", date="d")


@pytest.fixture(scope="module")
def audited(dump: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audit")
    records = [dict(zip("spad", values, strict=True)) for values, _, _ in CASES]
    table = folder / "table.jsonl"
    table.write_text("".join(json.dumps(record) + "\n" for record in records))
    run(table, dump, columns=COLUMNS, repair=True)
    return folder


def test_every_verdict(audited: Path) -> None:
    verdicts = [(row["verdict"], row.get("reason")) for row in judged_rows(audited)]
    assert verdicts == [(verdict, reason) for _, verdict, reason in CASES]
    assert {verdict for verdict, _ in verdicts} == {verdict for _, verdict, _ in CASES}


def test_until_when_and_what_is_true_now(audited: Path) -> None:
    before = judged_rows(audited)[3]
    assert (before["until_first"], before["until_last"]) == ("2009-01-01", "2009-12-31")
    assert before["now"] == [{"id": "Q12", "label": "Milan"}]
    assert judged_rows(audited)[19]["gone"] == ["Turin"]


def test_the_summary_the_table_and_the_picture(audited: Path) -> None:
    summary = json.loads((audited / "out/summary.json").read_text())
    assert summary["facts"] == len(CASES)
    assert summary["properties"]["P19"] == {"never stated": 1, "still true": 1}
    assert summary["row_years"]["2005"] == {"still true": 1, "true later": 1}
    table = pq.read_table(audited / "out/rows.parquet")
    assert table.column("row").to_pylist() == list(range(1, len(CASES) + 1))
    assert (audited / "out/decay.png").read_bytes().startswith(b"\x89PNG")


def test_a_repaired_table_is_true(audited: Path, dump: Path, tmp_path: Path) -> None:
    """What was changed is true when it is audited again, and all else is as it was."""
    lines = (audited / "out/repaired.jsonl").read_text().splitlines()
    changes = [
        json.loads(line) for line in (audited / "out/changes.jsonl").read_text().splitlines()
    ]
    changed_rows = {change["row"] for change in changes}
    for number, (old_line, new_line) in enumerate(
        zip((audited / "table.jsonl").read_text().splitlines(), lines, strict=True), 1
    ):
        assert (old_line != new_line) == (number in changed_rows)
    assert changes[0]["before"] == {"a": ["Q11"]}
    assert changes[0]["after"] == {"a": ["Q12"]}
    again = tmp_path / "again.jsonl"
    again.write_text("\n".join(lines) + "\n")
    run(again, dump, columns=COLUMNS, build=audited / "build")
    verdicts = {row["row"]: row["verdict"] for row in judged_rows(tmp_path)}
    assert {verdicts[number] for number in changed_rows} == {"still true"}
    was_verdicts = {number: verdict for number, (_, verdict, _) in enumerate(CASES, 1)}
    changed = {was_verdicts[number] for number in changed_rows}
    assert changed == {"true before", "true later", "still true"}
    still_true = [number for number in changed_rows if was_verdicts[number] == "still true"]
    assert still_true == [20], "it lists one that holds no longer"


@pytest.mark.slow
def test_the_same_bytes_from_nothing(audited: Path, dump: Path, tmp_path: Path) -> None:
    table = tmp_path / "table.jsonl"
    table.write_bytes((audited / "table.jsonl").read_bytes())
    run(table, dump, columns=COLUMNS, repair=True, memory="200MB")
    assert checksums(tmp_path / "out") == checksums(audited / "out")


def test_as_of_a_day(audited: Path, dump: Path, tmp_path: Path) -> None:
    table, places = audited / "table.jsonl", {"out": tmp_path / "out", "columns": COLUMNS}
    summary = run(table, dump, as_of=date(2004, 5, 1), repair=True, **places)
    verdicts = [row["verdict"] for row in judged_rows(tmp_path)]
    assert verdicts[:5] == ["true later", "true later", "true later", "still true", "true later"]
    assert summary.repair is not None
    assert summary.repair["changed"] == 8
    repaired = (tmp_path / "out/repaired.jsonl").read_text().splitlines()
    assert json.loads(repaired[1])["a"] == "Rome"
    assert json.loads(repaired[4]) == {"s": "Q101", "p": "P6", "a": "Q11", "d": "2004"}
    assert json.loads(repaired[5])["d"] == "2004", "true then and now, and so it says now"
    with pytest.raises(UserError, match="after 2026-01-01, the day of the dump"):
        run(table, dump, as_of=date(2027, 1, 1), **places)


def test_listings_carry_over_the_columns_of_the_table(audited: Path, dump: Path) -> None:
    with (audited / "out/rows.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["audit_verdict"] for line in lines] == [verdict for _, verdict, _ in CASES]
    assert [line["s"] for line in lines] == [values[0] for values, *_ in CASES]
    before = lines[3]
    assert (before["audit_line"], before["audit_now"]) == ("4", "Milan")
    assert (before["a"], before["audit_until"]) == (
        '["Q11"]',
        "between 2009-01-01 and 2009-12-31",
    )
    with (audited / "out/stale.csv").open(newline="") as file:
        stale = list(csv.DictReader(file))
    assert stale == [line for line in lines if line["audit_verdict"] == "true before"]


@pytest.mark.parametrize(
    ("name", "row_id"),
    [("id", "id"), ("case_id", "7"), ("audit_verdict", None), ("x", None)],
)
def test_a_stale_row_is_named_by_its_own_id(
    name: str, row_id: str | None, dump: Path, tmp_path: Path
) -> None:
    table = tmp_path / "t.jsonl"
    value = row_id if row_id != "7" else 7
    rows = [
        {"s": "Q101", "p": "P6", "a": "Q11", name: value},
        # columns of one row alone, and what is no text
        {"s": "Q101", "p": "P6", "a": "Q12", "more": ["\ud800", "=1+1"]},
    ]
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    summary = run(table, dump, columns=COLUMNS)
    assert [(stale.line, stale.row_id) for stale in summary.stale] == [(1, row_id)]
    header, first, second = list(csv.reader((tmp_path / "out/rows.csv").open(newline="")))
    assert header[-2:] == [name, "more"] and len(header) == len(first) == len(second)
    assert json.loads((tmp_path / "out/summary.json").read_text())["stale"][0]["line"] == 1


@pytest.mark.parametrize(
    ("values", "verdict", "counts"),
    [
        (("Q120", "P54", "Q11"), "one of several", (0, 0, 0, 0)),
        (("Q120", "P54", ["Q11"]), "one of several", (0, 0, 0, 0)),
        (("Q120", "P54", ["Q11", "Q13"]), "one of several", (1, 0, 0, 0)),
        (("Q120", "P54", "Q13"), "true before", (0, 0, 0, 1)),
        (("Q130", "P19", "Rome"), "never stated", (0, 0, 1, 0)),
        (("Q103", "P6", "Q11"), "in doubt", (0, 1, 0, 0)),
        (("Q150", "P6", "Q11"), "not in the dump", (0, 0, 0, 0)),
        (("Q101", "P6", "Q11"), "true before", (1, 0, 0, 0)),
    ],
)
def test_what_holds_or_may_hold_is_not_rewritten(
    values: Sequence[Any], verdict: str, counts: Sequence[int], dump: Path, tmp_path: Path
) -> None:
    """Changed, in doubt, never stated, without one answer."""
    table = tmp_path / "t.jsonl"
    table.write_text(json.dumps(dict(zip("spa", values, strict=True))) + "\n")
    columns = COLUMNS.model_copy(update={"date": None})
    summary = run(table, dump, columns=columns, repair=True)
    assert [*summary.verdicts] == [verdict]
    assert tuple((summary.repair or {}).values()) == counts
    is_same = (tmp_path / "out/repaired.jsonl").read_text() == table.read_text()
    assert is_same is not bool(counts[0])


@pytest.mark.parametrize(
    ("told_by_year", "points"),
    [
        ({2020: 5, 2022: 7}, [(2020, 2020, 5), (2022, 2022, 7)]),
        ({2009: 2, 2010: 1, 2011: 2, 2014: 6, 2025: 1}, [(2009, 2011, 5), (2014, 2025, 7)]),
        (
            {2009: 6, 2014: 6, 2019: 6, 2025: 4},
            [(2009,) * 2 + (6,), (2014,) * 2 + (6,), (2019, 2025, 10)],
        ),
        ({2001: 2, 2002: 2}, []),
        ({1900: 0, 2001: 6, 2030: 0}, [(2001, 2001, 6)]),
        ({}, []),
    ],
)
def test_years_with_few_facts_are_taken_together(
    told_by_year: dict[int, int], points: list[tuple[int, int, int]]
) -> None:
    years = {str(year): {"still true": told, "in doubt": 9} for year, told in told_by_year.items()}
    decay_line = list(decay_points(years))
    assert [(point.first, point.last, point.told) for point in decay_line] == points
    assert all(point.first <= point.middle <= point.last for point in decay_line)


@pytest.mark.parametrize("told_by_year", [{2014: 6}, {2009: 6, 2025: 6}, {2009: 1}])
def test_the_axis_has_the_years_of_the_facts(told_by_year: dict[int, int]) -> None:
    years = {str(year): {"true before": told} for year, told in told_by_year.items()}
    (panel,) = decay_picture(Summary(None, 9, {}, {}, {}, {}, years)).axes
    if max(told_by_year.values()) > 5:
        assert panel.get_xlim() == (min(told_by_year) - 1, max(told_by_year) + 1)
    else:
        assert not len(panel.get_xticks())


POPQA = {
    "id": 1, "subj": "City", "prop": "place of birth", "obj": "Rome", "subj_id": 5, "prop_id": 2,
    "obj_id": 7, "s_aliases": "[]", "o_aliases": "[]", "s_uri": "http://www.wikidata.org/entity/Q130",
    "o_uri": "http://www.wikidata.org/entity/Q11", "s_wiki_title": "C", "o_wiki_title": "Rome",
    "s_pop": 3, "o_pop": 4, "question": "?", "possible_answers": '["Rome", "Roma"]',
}  # fmt: skip
TEMPLAMA = {
    "query": "City is led by _X_.", "answer": [{"wikidata_id": "Q12", "name": "Milan"}],
    "date": "2005", "id": "Q101_P6_2005", "relation": "P6",
}  # fmt: skip
QUARTER = {**TEMPLAMA, "date": "2005-Q3", "id": "Q101_P6_2005-Q3", "most_frequent_answer": {}}
MQUAKE = {
    "case_id": 1, "requested_rewrite": [{"relation_id": "P6"}],
    "orig": {"triples": [["Q101", "P6", "Q11"], ["Q130", "P19", "Q14"]],
             "triples_labeled": [["City", "led by", "Rome"], ["P", "born", "Naples"]]},
}  # fmt: skip
TREX = {
    "uuid": "u", "sub_uri": "Q130", "obj_uri": "Q11", "obj_label": "Rome", "predicate_id": "P19",
    "evidences": [{"obj_surface": "Rome"}],
}  # fmt: skip
PAT = {
    "question": "Who leads?", "subject": {"subject": "Q101", "subLabel": "City"},
    "text answers": ["Rome"], "answer annotations": [{"ID": "Q11", "Label": "Rome"}],
    "relations": ["P6"], "template": "Who leads {subject}?", "uniq_id": 1,
}  # fmt: skip
TWO_HOPS = {
    **PAT, "question": "Two?", "relations": ["P6", "P19"],
    "intermediate entities": [{"ID": "Q12", "Label": "Milan"}],
}  # fmt: skip
BEFORE = {**PAT, "template": "Who was the previous leader of {subject}?"}


@pytest.mark.parametrize(
    ("record", "form_name", "claims"),
    [
        (POPQA, "PopQA", [("Q130", "P19", "Q11")]),
        (TEMPLAMA, "TempLAMA", [("Q101", "P6", "Q12")]),
        (QUARTER, "TempLAMA", [("Q101", "P6", "Q12")]),
        (MQUAKE, "MQuAKE", [("Q101", "P6", "Q11"), ("Q130", "P19", "Q14")]),
        (TREX, "LAMA (T-REx)", [("Q130", "P19", "Q11")]),
        (PAT, "PAT-Questions", [("Q101", "P6", "Q11")]),
        (TWO_HOPS, "PAT-Questions", [("Q101", "P6", "Q12"), ("Q12", "P19", "Q11")]),
        (BEFORE, "PAT-Questions", [(None, None, None)]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_forms_are_known_by_their_columns(record: Json, form_name: str, claims: list[Any]) -> None:
    form = form_of(record)
    assert form is not None
    assert form.name == form_name
    row_claims = form.claims(record, {"place of birth": "P19"})
    ids = [answers[0].id if answers else None for _, _, answers, *_ in row_claims]
    assert [
        (claim.subject, claim.relation, name) for claim, name in zip(row_claims, ids, strict=True)
    ] == (claims)


def test_forms_are_repaired_in_their_own_columns() -> None:
    holders = (Holder("Q14", "Naples", ("Napoli",)), Holder("Q15", "Genoa", ()))
    repaired = [
        form.repaired(record, holders)
        for record in (POPQA, TEMPLAMA, PAT, TREX, MQUAKE, TWO_HOPS)
        if (form := form_of(record))
    ]
    popqa, templama, pat, *rest = repaired
    assert popqa is not None
    assert (popqa["obj"], popqa["o_uri"][-3:], popqa["obj_id"]) == ("Naples", "Q14", None)
    assert json.loads(popqa["possible_answers"]) == ["Naples", "Napoli", "Genoa"]
    assert templama is not None
    assert templama["answer"][1] == {"wikidata_id": "Q15", "name": "Genoa"}
    assert pat is not None
    assert pat["text answers"] == ["Naples", "Genoa"]
    assert rest == [None, None, None]
    quarter = (form_of(QUARTER) or pytest.fail()).dated(QUARTER, date(2024, 11, 5))
    assert (quarter["date"], quarter["id"]) == ("2024-Q4", "Q101_P6_2024-Q4")
    trex = form_of(TREX)
    assert trex is not None
    assert (trex.repaired(TREX, holders[:1]) or {})["obj_uri"] == "Q14"


LAYOUTS = {
    "lines.jsonl": "".join(json.dumps(record) + "\n" for record in (POPQA, POPQA)),
    "array.json": json.dumps([POPQA, POPQA], indent=2),
    "object.json": json.dumps({"a": POPQA, "b": POPQA}, indent=1),
}


def write_table(folder: Path, name: str) -> Path:
    path = folder / name
    if name.endswith((".csv", ".tsv")):
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(
                file, list(POPQA), delimiter="\t" if name.endswith("tsv") else ","
            )
            writer.writeheader()
            writer.writerows([POPQA, POPQA])
    elif name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist([POPQA, POPQA]), path)
    else:
        path.write_text(LAYOUTS[name])
    return path


@pytest.mark.parametrize("name", [*LAYOUTS, "table.csv", "table.tsv", "table.parquet"])
def test_every_layout_is_read_and_written_again(name: str, tmp_path: Path) -> None:
    table = write_table(tmp_path, name)
    rows = list(read_table(table))
    assert [row.number for row in rows] == [1, 2]
    again = tmp_path / f"again{table.suffix}"
    with writing_like(table, again) as write:
        for row in rows:
            write(row)
    assert [row.record for row in read_table(again)] == [row.record for row in rows]
    assert [row.key for row in read_table(again)] == [row.key for row in rows]


BROKEN = {"s_uri": 1, "prop": 2, "possible_answers": 3}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.jsonl", json.dumps(BROKEN).encode() + b'\n{"a"\n', "t.jsonl:2: not valid JSON"),
        ("t.jsonl", b"[1, 2]\n", "t.jsonl:1: a row is no object"),
        ("t.jsonl", b'{"b": 1}\n', "t.jsonl:1: columns of no known form: b"),
        ("t.csv", b"s,p\nx,y,z\n", "t.csv:2: not a CSV row"),
        ("t.csv", b"s_uri,prop,possible_answers\n\xff,b,c\n", "t.csv:2: not UTF-8"),
        ("t.parquet", b"PAR1", "t.parquet: not a Parquet file"),
        ("t.jsonl", b"", "no row has the id of a subject"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(
    name: str, content: bytes, message: str, dump: Path, tmp_path: Path
) -> None:
    table = tmp_path / name
    table.write_bytes(content)
    with pytest.raises(UserError) as error:
        run(table, dump)
    assert message in str(error.value)


HOSTILE: list[Any] = [
    *(None, "", "\ud800", [], {}, 5, 1e308, True, ["x", None], "[1, {", '["\\ud800"]', "[" * 9000),
    *("Q0", "Q" + "9" * 40, "P54", {"subject": {"subject": []}}, [[[]]], "\x00", "wd:Q1 "),
]


@pytest.mark.parametrize("record", [POPQA, TEMPLAMA, MQUAKE, TREX, PAT, TWO_HOPS])
def test_hostile_cells_are_not_linked_or_answers(record: Json) -> None:
    form = form_of(record)
    assert form is not None
    for column in record:
        for value in HOSTILE:
            for claim in form.claims({**record, column: value}, {}):
                assert claim.unlinked or (claim.subject and claim.relation and claim.answers)
                for answer in claim.answers:
                    "".join(answer.names).encode()


def test_ids_and_dates_of_cells() -> None:
    assert item_id(" https://www.wikidata.org/wiki/Q42 ") == "Q42"
    assert property_id("wdt:P54", {}) == "P54"
    assert days_of("2019-Q1") == (date(2019, 1, 1), date(2019, 3, 31))
    assert days_of("2019-02") == (date(2019, 2, 1), date(2019, 2, 28))
    assert days_of("2019-02-03") == days_of(date(2019, 2, 3))
    assert days_of(2019) == (date(2019, 1, 1), date(2019, 12, 31))
    assert [days_of(text) for text in ("2019-13", "0000", "x", [1])] == [None] * 4


def test_columns_that_do_not_belong_together() -> None:
    assert column_choice(None, None, None, None, None, None) is None
    with pytest.raises(UserError, match="not all that are needed"):
        column_choice("s", "p", "P54", "a", None, None)


possible_days = st.integers(0, 40).map(lambda number: date.fromordinal(730_000 + number))


@st.composite
def stretches(draw: st.DrawFn) -> Stretch:
    days = sorted(draw(st.lists(possible_days, min_size=4, max_size=4)))
    start_first, end_last = (draw(st.sampled_from((day, None))) for day in (days[0], days[3]))
    interval = Interval(start_first, days[1], days[2], end_last)
    return Stretch(draw(st.sampled_from(["Q1", "Q2", "Q3", None])), interval, "")


@given(st.lists(stretches(), max_size=5), possible_days)
def test_verdicts_are_those_of_every_reading(drawn: list[Stretch], day: date) -> None:
    """True: it holds under all readings of its dates; untrue: under none."""
    judgment = judge(PairHistory(drawn), (TableAnswer("Q1", ()),), day, day)
    own_intervals = [stretch.interval for stretch in drawn if stretch.item == "Q1"]
    surely = any(
        interval.start_last <= day <= interval.end_first
        for interval in own_intervals
        if interval.start_last and interval.end_first
    )
    perhaps = any(
        (interval.start_first or day) <= day <= (interval.end_last or day)
        for interval in own_intervals
    )
    if not drawn:
        assert judgment.verdict == "not in the dump"
    elif surely:
        assert judgment.verdict in ("still true", "one of several")
    elif perhaps:
        assert judgment.verdict == "in doubt"
    elif own_intervals:
        assert judgment.verdict in ("true before", "true later")
    else:
        unknown = any(stretch.item is None for stretch in drawn)
        assert judgment.verdict == ("in doubt" if unknown else "never stated")


def test_the_command(audited: Path, dump: Path, tmp_path: Path) -> None:
    columns = ("--subject", "s", "--relation", "p", "--answers", "a", "--date", "d")
    words = (audited / "table.jsonl", *columns, "--dump", dump, "--build", audited / "build")
    audited_table = run_cli("audit", *words, "--out", tmp_path / "out")
    assert audited_table.stdout.strip() == str(tmp_path / "out")
    assert re.search(r"true before +3 +[\d.]+ %  stale: it held before", audited_table.stderr)
    listed = "line 4: Q101 P6: Q11 (Rome), ended between 2009-01-01 and 2009-12-31; now Milan"
    assert listed in audited_table.stderr
    assert "not in the dump: no statement of the property: 1" in audited_table.stderr
    assert "told: all but in doubt, not in the dump, not linked; true: " in audited_table.stderr
    summary = json.loads(run_cli("audit", *words, "--json", "--out", tmp_path / "out").stdout)
    assert summary["verdicts"]["never stated"] == 3
    assert (audited / "table.jsonl").is_file()
    beside = run_cli("audit", *words, "--out", audited, ok=False)
    assert "give another folder" in beside.stderr
    assert run_cli("audit", tmp_path / "none.csv", "--dump", dump, ok=False).returncode == 1


def test_rows_of_an_object_keep_their_keys(tmp_path: Path) -> None:
    table = write_table(tmp_path, "object.json")
    assert [row.key for row in read_table(table)] == ["a", "b"]
    assert isinstance(next(read_table(table)), TableRow)


@pytest.mark.slow
def test_the_page_runs_as_it_is_written(tmp_path: Path) -> None:
    page = (ROOT / "docs/audit.md").read_text("utf-8")
    blocks = re.findall(r"```(sh|text)\n(.*?)```", page, re.S)
    commands = [text for kind, text in blocks if kind == "sh"]
    factdrift = f'factdrift() {{ "{sys.executable}" -m factdrift "$@"; }}'
    shell = ["bash", "-ec", "\n".join((factdrift, *commands))]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    printed = subprocess.run(shell, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert printed.returncode == 0, printed.stderr
    assert printed.stdout == "audits/leaders\n" + dict(blocks)["text"]
