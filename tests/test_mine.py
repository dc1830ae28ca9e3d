"""From dump files to tables: the same facts from every form, and what is left out and why."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.schema import arrow_schema
from factdrift.builders.rows import Dropped, Entity, Statement
from factdrift.builders.wikidata.finish import TABLES, MinedTables
from factdrift.builders.wikidata.mine import merge_shares, mine, mine_share
from factdrift.builders.wikidata.reader import Share, Tuning
from tests.conftest import checksums
from tests.conftest import run_cli as command
from tests.dumps import (
    Json,
    array,
    compressed,
    facts_of,
    item,
    lines,
    prop,
    rows,
    shards,
    statement,
    world,
)
from tests.tables import case_lists, column_of, columns_of, keyed_by_id, names_of

UNDATED = ("P27",)
DAY = date(2026, 1, 1)
# blocks so small that entities span them, and several row groups
SMALL = Tuning(block=4096, longest=65_536, blocks=2, rows=50)


def run(dumps: Any, out: Path, **more: Any) -> MinedTables:
    return mine(dumps, out, **{"undated": UNDATED, "snapshot": DAY, **more})


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Checksums of the tables of `world()`, read plainly."""
    folder = tmp_path_factory.mktemp("expected")
    run(compressed(array(world()), folder / "dump.json"), folder / "out")
    return checksums(folder / "out")


def test_the_tables(tmp_path: Path) -> None:
    tables_found = run(compressed(array(world(2)), tmp_path / "dump.json"), tmp_path / "out")
    assert sorted(names_of((tmp_path / "out").iterdir())) == sorted(TABLES)
    folder = facts_of(tables_found, tmp_path / "build", ["P27", "P54"], UNDATED)
    facts = rows(folder / "facts.parquet")
    assert [" ".join((fact["subject"], fact["relation"], fact["object"])) for fact in facts] == [
        *("Q1000 P27 Q10", "Q1000 P54 Q10", "Q1000 P54 Q13"),
        *("Q1001 P27 Q10", "Q1001 P54 Q11", "Q1001 P54 Q14"),
    ]
    days = [date(1990, 1, 1), date(1990, 12, 31), date(1995, 6, 1), date(1995, 6, 30)]
    assert list(facts[1].values()) == [
        *("Q1000$P54-0", "Q1000", "P54", "Q10"),
        *(*days, False, False, False, "normal", DAY),
    ]
    entities_by_id = keyed_by_id(rows(folder / "entities.parquet"))
    assert list(entities_by_id) == ["P54", "Q10", "Q11", "Q13", "Q14", "Q1000", "Q1001"]
    nothing = dict.fromkeys(("began_first", "began_last", "ended_first", "ended_last"))
    names = {"id": "Q1000", "label": "Player 0", "aliases": [], "enwiki": "Player 0", "classes": []}
    nothing |= {"description": None, "country": None}
    assert entities_by_id["Q1000"] == names | nothing | {
        "sitelinks": 1,
        "statements": 3,
        "facts": 2,
    }
    assert entities_by_id["P54"]["label"] == "member of sports team"
    assert not rows(folder / "gaps.parquet")
    assert not rows(tables_found.dropped)
    for path, row in zip(
        (tables_found.statements, tables_found.entities, tables_found.dropped),
        (Statement, Entity, Dropped),
        strict=True,
    ):
        kinds = [
            [
                (fact.name, str(fact.type).replace("element", "item").replace(" not null", ""))
                for fact in schema
            ]
            for schema in (pq.read_schema(path), arrow_schema(row))
        ]
        assert kinds[0] == kinds[1]
    mined_summary = json.loads(tables_found.summary.read_text("utf-8"))
    table_names = set(names_of((tmp_path / "out").glob("*.parquet")))
    assert mined_summary.pop("sha256").keys() == table_names
    assert len(mined_summary.pop("seal")) == 16
    assert mined_summary == tables_found.counts
    assert mined_summary["snapshot"] == "2026-01-01"
    assert mined_summary["relations"] == {"P27": {"statements": 2}, "P54": {"statements": 4}}
    assert mined_summary["counts"]["lines"] == 15
    assert mined_summary["counts"]["items"] == 12


@pytest.mark.parametrize(
    ("name", "before", "between", "behind"), case_lists("dump_layouts")["layouts"]
)
@pytest.mark.parametrize("tuning", [Tuning(), SMALL], ids=["", "small"])
def test_every_layout_gives_the_same_facts(
    name: str,
    before: str,
    between: str,
    behind: str,
    tuning: Tuning,
    expected: dict[str, str],
    tmp_path: Path,
) -> None:
    start, comma, end = (text.encode("latin-1") for text in (before, between, behind))
    path = compressed(start + comma.join(lines(world())) + end, tmp_path / name)
    expected_tables = run(path, tmp_path / "out", tuning=tuning)
    assert not rows(expected_tables.dropped)
    mined_tables = checksums(tmp_path / "out")
    del mined_tables["mined.json"]  # it counts lines, and there may be more of them
    assert mined_tables.items() <= expected.items()


@pytest.mark.parametrize(
    ("jobs", "forms"),
    [
        (1, ["json"]),
        (3, ["json.gz", "json.bz2", "json.zst"]),
        pytest.param(3, ["json"], marks=pytest.mark.slow),
        pytest.param(1, ["json.gz", "json.bz2", "json.zst"], marks=pytest.mark.slow),
    ],
)
def test_any_number_of_processes_and_shards_gives_the_same_bytes(
    jobs: int, forms: list[str], expected: dict[str, str], tmp_path: Path
) -> None:
    # the order in which shards are given says nothing either
    paths = shards(world(), tmp_path, *forms)[::-1]
    run(paths, tmp_path / "out", jobs=jobs, tuning=SMALL)
    mined_tables = checksums(tmp_path / "out")
    if len(forms) > 1:
        assert mined_tables.pop("mined.json")
    assert mined_tables.items() <= expected.items()


def tables(
    entities: list[Json], tmp_path: Path, **more: Any
) -> tuple[MinedTables, Path, list[str]]:
    """What was mined, the folder of facts, and these as `subject object`."""
    path = compressed(array([prop("P54", "member"), *entities]), tmp_path / "dump.json")
    mined_tables = run(path, tmp_path / "out", **more)
    folder = facts_of(mined_tables, tmp_path / "build", ["P54"])
    facts = [f"{fact['subject']} {fact['object']}" for fact in rows(folder / "facts.parquet")]
    return mined_tables, folder, facts


def dropped_in(folder: Path) -> list[str]:
    """Dropped rows as `reason item detail`."""
    mined_tables = rows(folder / "dropped.parquet")
    return [
        f"{dropped_row['reason']} {dropped_row['item']} {dropped_row['detail']}"
        for dropped_row in mined_tables
    ]


def member_of(*clubs: str) -> dict[str, list[Json]]:
    return {"P54": [statement(member_id, "2019") for member_id in clubs]}


def test_what_cannot_be_named_is_dropped_or_a_gap(tmp_path: Path) -> None:
    somevalue = statement({"snaktype": "somevalue"}, "2019", id="Q1$gap")
    kind = {"P31": [statement("Q4167410")]}
    _, folder, facts = tables(
        [
            item("Q1", "A", {"P54": [*member_of("Q2", "Q3", "Q4", "Q5")["P54"], somevalue]}),
            item("Q2", "Named"),
            item("Q3"),
            item("Q4", "Named, but a page", kind),
            item("Q6", None, member_of("Q2")),
        ],
        tmp_path,
    )
    assert facts == ["Q1 Q2"]
    assert dropped_in(folder) == [
        "object_kind Q1$P54-2 Q4 (disambiguation)",
        "unknown_value Q1$gap None",
        "unlabelled_object Q1$P54-1 Q3",
        "unlabelled_object Q1$P54-3 Q5",
        "unlabelled_subject Q6$P54-0 Q2",
    ]
    gaps = columns_of(rows(folder / "gaps.parquet"), "object", "reason", "start_first")
    day = date(2019, 1, 1)
    assert gaps == [
        (None, "unknown_value", day),
        ("Q3", "unlabelled_object", day),
        ("Q4", "object_kind", day),
        ("Q5", "unlabelled_object", day),
    ]
    assert column_of(rows(folder / "entities.parquet"), "id") == [
        "Q1",
        "Q2",
        "Q4",
        "P54",
    ]
    mined_counts = json.loads((folder / "counts.json").read_text("utf-8"))
    assert (mined_counts["facts"], mined_counts["gaps"], mined_counts["dropped"]) == (1, 4, 5)
    assert (mined_counts["unlabelled_object"], mined_counts["statements"]) == (2, 6)


def test_redirects_are_resolved(tmp_path: Path) -> None:
    chain = [
        {"entity": f"Q{item_number}", "redirect": f"Q{item_number + 1}"}
        for item_number in range(1000, 1300)
    ]
    mined_tables, folder, facts = tables(
        [
            *chain,
            item("Q1300", "End", member_of("Q1150")),
            {"entity": "Q20", "redirect": "Q21"},
            item("Q1", "A", member_of("Q20", "Q22", "Q2", "Q30", "Q31", "Q32", "Q40")),
            item("Q2", "Target"),
            {"entity": "Q21", "redirect": "Q22"},
            {"entity": "Q22", "redirect": "Q2"},
            {"entity": "Q30", "redirect": "Q31"},
            {"entity": "Q31", "redirect": "Q30"},
            {"entity": "Q32", "redirect": "Q32"},
            item("Q41", "To itself", redirects={"from": "Q40", "to": "Q41"}),
            item("Q50", "Old subject", member_of("Q2")),
            {"entity": "Q50", "redirect": "Q1"},
        ],
        tmp_path,
    )
    assert facts == ["Q1 Q2"] * 4 + ["Q1 Q41", "Q1300 Q1300"]
    assert [dropped_row.split()[2] for dropped_row in dropped_in(folder)] == ["Q30", "Q31", "Q32"]
    assert mined_tables.counts["counts"]["redirect_loops"] == 3
    assert mined_tables.counts["counts"]["redirects"] == 308


@pytest.mark.parametrize(
    ("revisions", "label"),
    [((0, 0), "second"), ((7, 8), "second"), ((8, 7), "first"), ((7, 7), "second")],
)
def test_of_two_lines_of_an_entity_the_later_revision_counts(
    revisions: tuple[int, int], label: str, tmp_path: Path
) -> None:
    """Else the later line; its statements alone are there, whatever the other says."""
    two = [
        item("Q1", name, {"P54": [statement(club, "2000", id=f"Q1${name}")]}, lastrevid=revision)
        for name, club, revision in zip(("first", "second"), ("Q2", "Q3"), revisions, strict=True)
    ]
    clubs = [item("Q2", "A club"), item("Q3", "Another")]
    heard: list[str] = []
    dump = compressed(array([two[0], *clubs, two[1]]), tmp_path / "dump.json")
    mined_tables = run(dump, tmp_path / "out", tuning=SMALL, say=heard.append)
    assert column_of(rows(mined_tables.statements), "statement") == [f"Q1${label}"]
    assert {entity_row["id"]: entity_row["label"] for entity_row in rows(mined_tables.entities)}[
        "Q1"
    ] == label
    assert mined_tables.counts["counts"]["repeated_entities"] == 1
    assert heard[-1].startswith("1 lines passed over")


@pytest.mark.parametrize(
    ("edited", "later", "other_count", "message"),
    [
        ("2026-01-08T23:59:59Z", 0, 80, None),
        ("2026-01-09T00:00:00Z", 0, 80, "last edited on 2026-01-09"),
        ("", 10, 80, None),
        ("", 11, 80, "11 of its 91 starts are later, to 2027-01-01"),
        ("", 11, 1088, "11 of its 1,099 starts are later"),
        ("", 11, 1089, None),
    ],
)
def test_a_day_before_what_the_dump_says_is_refused(
    edited: str, later: int, other_count: int, message: str | None, tmp_path: Path
) -> None:
    """A dump is written for days, and what is planned may begin after it."""
    years = ["2027"] * later + ["1990"] * (other_count % 2)
    plans = [
        statement("Q10", year, id=f"Q1$plan-{plan_number}")
        for plan_number, year in enumerate(years)
    ]
    dump_entities = [*world(other_count // 2), item("Q1", "A", {"P54": plans}, modified=edited)]
    dump = compressed(array(dump_entities), tmp_path / "dump.json")
    if message is None:
        for key in run(dump, tmp_path / "out").counts["counts"]:
            assert "edited" not in key
    else:
        with pytest.raises(UserError, match=message):
            run(dump, tmp_path / "out")


def test_rows_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    names = ["Q9", "Q10", "Q100", "Q2", "Q1000000000"]
    clubs = ["Q30", "Q4", "Q200"]
    people = [item(item_id, item_id, member_of(*clubs)) for item_id in names]
    _, _, facts = tables([*people, *(item(club, club) for club in clubs)], tmp_path)
    order = sorted(names, key=lambda person: int(person[1:]))
    assert facts == [
        f"{statement_row} {club_id}" for statement_row in order for club_id in ("Q4", "Q30", "Q200")
    ]


def test_jobs_are_checked(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="jobs"):
        run(compressed(array(world(1)), tmp_path / "a.json"), tmp_path / "out", jobs=0)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("jobs", "forms"),
    [
        (2, ["json", "json.gz", "json.bz2", "json.zst"]),
        pytest.param(1, ["json", "json.gz", "json.bz2", "json.zst"], marks=pytest.mark.slow),
        pytest.param(1, ["json.gz"], marks=pytest.mark.slow),
        pytest.param(2, ["json.gz"], marks=pytest.mark.slow),
    ],
)
def test_shares_of_several_machines_merge_to_the_same_bytes(
    jobs: int, forms: list[str], tmp_path: Path
) -> None:
    dump_entities = [*world(), item("Q9", None, member_of("Q8"))]
    paths = shards(dump_entities, tmp_path, *forms, bad=b"{")
    run(paths, tmp_path / "whole", tuning=SMALL)
    run_options: dict[str, Any] = {
        "undated": UNDATED,
        "snapshot": DAY,
        "jobs": jobs,
        "tuning": SMALL,
    }
    share_folders = [
        mine_share(paths, tmp_path / f"share{share_number}", Share(share_number, 3), **run_options)
        for share_number in (2, 0, 1)
    ]
    with pytest.raises(UserError, match="not all shares are here: 2/3 is missing"):
        merge_shares(share_folders[:2], tmp_path / "merged")
    merge_shares(share_folders, tmp_path / "merged", jobs=jobs)
    assert checksums(tmp_path / "merged") == checksums(tmp_path / "whole")
    assert len(rows(tmp_path / "whole/dropped.parquet")) == len(forms)


@pytest.mark.slow
def test_the_command_line_reads_shares_and_merges_them(tmp_path: Path) -> None:
    path = compressed(array(world(3)), tmp_path / "dump.json.gz")
    dated = f"{path}@2026-01-01"
    for share_number in (1, 2):
        command(
            "mine", dated, "--shard", f"{share_number}/2", "--out", tmp_path / str(share_number)
        )
    merging_run = command("mine", tmp_path / "1", tmp_path / "2", "--out", tmp_path / "both")
    assert "statements of 2026-01-01" in merging_run.stderr + merging_run.stdout
    refused_command = command("mine", dated, "--shard", "3/2", "--out", tmp_path / "3", ok=False)
    assert "not a share: '3/2'" in refused_command.stderr
    refused_command = command(
        "mine", dated, "--snapshot", "2026-01-02", "--out", tmp_path / "3", ok=False
    )
    assert "two days are given: 2026-01-01 and 2026-01-02" in refused_command.stderr
