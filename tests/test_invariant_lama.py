"""Facts that do not change: what is left out and why, two snapshots, and T-REx lines."""

import json
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from factdrift.builders.core.engine import Engine
from factdrift.builders.core.schema import arrow_schema
from factdrift.builders.facts import snapshot_diff
from factdrift.builders.facts.namesakes import alike_relations
from factdrift.builders.facts.relations import cloze_templates, load_relations
from factdrift.builders.invariant import invariant, trex
from factdrift.builders.invariant.dataset import RELATIONS
from factdrift.builders.rows import Entity, Fact, Gap, NamedInvariant
from tests.conftest import ROOT, run_cli
from tests.histories import fact
from tests.tables import columns_of, read_table

OLD, NEW = date(2023, 1, 2), date(2026, 2, 2)
ENDED = (date(2000, 1, 1), date(2000, 12, 31))
NONE = ibis.null("string")
DAY = (date(1990, 5, 1), date(1990, 5, 1))


def ibis_table(duck: Engine, folder: Path, name: str, row: type, rows: list[Any]) -> Any:
    schema = arrow_schema(row)
    path = folder / f"{name}.parquet"
    plain_rows = [
        given_row
        if isinstance(given_row, dict)
        else {field: getattr(given_row, field) for field in schema.names}
        for given_row in rows
    ]
    pq.write_table(pa.Table.from_pylist(plain_rows, schema=schema), path)
    return duck.read(path, row)


def reasons(duck: Engine, table: Any) -> dict[str, str | None]:
    return {row["subject"]: row["reason"] for row in duck.rows(table)}


PAIRS: list[tuple[str, list[tuple[str, dict[str, Any]]], str | None]] = [
    ("Q1", [("Q10", {})], None),
    ("Q2", [("Q10", {}), ("Q11", {})], "several_objects"),
    ("Q3", [("Q10", {"end": ENDED})], "ended"),
    ("Q4", [("Q10", {"end": (None, None)})], "ended"),
    ("Q5", [("Q10", {"start": DAY, "end": DAY, "point": True})], "ended"),
    ("Q6", [("Q10", {})], "in_doubt"),
    ("Q7", [("Q10", {"start": DAY})], "began"),
    ("Q8", [("Q10", {"end": ENDED}), ("Q11", {})], "several_objects"),
]
"""A subject, its objects with their dates, and why the pair is left out."""


def test_several_objects_ends_and_doubts(duck: Engine, tmp_path: Path) -> None:
    facts = []
    for subject, objects, _ in PAIRS:
        for object_id, dates in objects:
            facts.append(fact(subject, "P36", object_id, snapshot=NEW, **dates))
    nothing = (None, None, None, None)
    gap = Gap("Q6$x", "Q6", "P36", None, *nothing, True, "unknown_value", "normal", NEW)
    tables = (
        ibis_table(duck, tmp_path, "f", Fact, facts),
        ibis_table(duck, tmp_path, "g", Gap, [gap]),
    )
    assert reasons(duck, invariant.unchanging_pairs(*tables)) == {
        subject: why for subject, _, why in PAIRS
    }


WORLDS = [
    ("Q1", "Q10", "Q10", None),
    ("Q2", "Q10", "Q11", "not_in_both"),  # another object
    ("Q3", "", "Q10", "not_in_both"),  # new
    ("Q4", "Q10", "", "not_in_both"),  # gone
    ("Q5", "Q10 ended", "Q10", "not_in_both"),  # had ended, they said
]
"""A subject, its object in the older and in the newer dump, and why the pair is left out."""


def test_only_what_both_snapshots_state(duck: Engine, tmp_path: Path) -> None:
    worlds: list[list[Fact]] = [[], []]
    for subject, *objects, _ in WORLDS:
        for world, snapshot, printed_text in zip(worlds, (OLD, NEW), objects, strict=True):
            object_id, _, ended = str(printed_text).partition(" ")
            end = ENDED if ended else None
            world += (
                [fact(subject, "P36", object_id, end=end, snapshot=snapshot)]
                if printed_text
                else []
            )
    tables = [
        ibis_table(duck, tmp_path, table_name, Fact, world)
        for table_name, world in zip("on", worlds, strict=True)
    ]
    gaps, entities = (
        ibis_table(duck, tmp_path, "g", Gap, []),
        ibis_table(duck, tmp_path, "e", Entity, []),
    )
    dumps = [snapshot_diff.Dump(facts, gaps, entities) for facts in tables]
    changes = snapshot_diff.changes(duck, dumps[0], dumps[1], {})
    compared = invariant.compare_with_older(invariant.unchanging_pairs(tables[1], gaps), changes)
    assert reasons(duck, compared) == {subject: why for subject, _, _, why in WORLDS}


def test_names_come_from_the_entities(duck: Engine, tmp_path: Path) -> None:
    entity_rows = [
        Entity("Q1", "Laos", (), "Laos (country)", 7, 5, 1),
        Entity("Q10", "Vientiane", (), None, 3, 1, 1),
    ]
    facts = ibis_table(duck, tmp_path, "f", Fact, [fact("Q1", "P36", "Q10", snapshot=NEW)])
    pairs = invariant.unchanging_pairs(facts, ibis_table(duck, tmp_path, "g", Gap, []))
    (labelled_pair,) = duck.rows(
        invariant.with_labels(pairs, ibis_table(duck, tmp_path, "e", Entity, entity_rows))
    )
    columns = ("subject_label", "object_label", "sitelinks", "statements", "page")
    assert [labelled_pair[column] for column in columns] == [
        "Laos",
        "Vientiane",
        7,
        5,
        "Laos (country)",
    ]


def pairs_of(duck: Engine, folder: Path, pairs: list[dict[str, Any]], name: str = "n") -> Any:
    """Pairs of `one`, with their pages and reasons."""
    pair_table = ibis_table(duck, folder, name, NamedInvariant, pairs)
    several, pages = NONE, NONE
    for pair in pairs:
        this = (pair_table.subject == pair["subject"]) & (pair_table.relation == pair["relation"])
        several = this.ifelse(ibis.literal(pair.get("reason"), "string"), several)
        pages = this.ifelse(ibis.literal(pair.get("page"), "string"), pages)
    return pair_table.mutate(reason=several, page=pages)


CASES = {case: [*rows] for case, rows in groupby(read_table("invariant_cases"), lambda x: x[0])}
NOUNS = ("P279", "P361", "P527")


@pytest.mark.parametrize("case", CASES)
def test_which_pairs_are_asked_about(duck: Engine, tmp_path: Path, case: str) -> None:
    pairs = []
    for _, subject, relation, label, object_id, answer, page, reason, _ in CASES[case]:
        object_values = {"object": object_id, "page": None if page == "-" else page or label}
        pairs.append(
            one(subject, relation, label, answer) | object_values | {"reason": reason or None}
        )
    pair_table = pairs_of(duck, tmp_path, pairs)
    pair_settings: dict[str, Any] = {"excluded_relations": ("P190",), "pages": True}
    reason_by_subject = reasons(duck, invariant.with_reasons(pair_table, NOUNS, **pair_settings))
    assert reason_by_subject == {row[1]: row[-1] or None for row in CASES[case]}
    if case == "answers":
        (proton,) = (row[1] for row in CASES[case] if row[5] == "proton")
        assert reasons(duck, invariant.with_reasons(pair_table, ()))[proton] == "non_entity"


def test_which_relations_read_alike() -> None:
    relations = load_relations(ROOT / "templates")
    paper_relations = {relation: relations[relation] for relation in RELATIONS}
    assert alike_relations(cloze_templates(paper_relations, "ours", ROOT)) == {}
    alike = alike_relations(cloze_templates(paper_relations, "ckl", ROOT))
    assert set(alike) | set(alike.values()) == {"P17", "P30", "P131", "P276"}
    assert len(set(alike.values())) == 1


def test_the_cap_takes_the_best_known(duck: Engine, tmp_path: Path) -> None:
    pairs = [
        one(f"Q{index}", "P36", f"Land {index}", "Town")
        | {"sitelinks": index // 2, "statements": index % 2}
        for index in range(1, 41)
    ]
    unknown = [pair | {"sitelinks": None, "statements": None} for pair in pairs]

    def kept(name: str, chosen_pairs: list[dict[str, Any]], cap: int, why: str) -> set[str]:
        reason_by_subject = reasons(
            duck, invariant.cap_relations(pairs_of(duck, tmp_path, chosen_pairs, name), cap, 0)
        )
        assert set(reason_by_subject.values()) <= {None, why}
        return {subject for subject, reason in reason_by_subject.items() if reason is None}

    assert kept("all", pairs, 10, "less_popular") == {f"Q{index}" for index in range(31, 41)}
    # T-REx does not say who is known: drawn, by a hash of the row alone
    ten = kept("trex", unknown, 10, "over_cap")
    assert len(ten) == 10
    assert kept("five", unknown, 5, "over_cap") < ten
    chosen = [pair for pair in unknown if pair["subject"] in ten]
    assert kept("some", chosen, 10, "over_cap") == ten


def test_what_prompts_show_is_asked_of_nobody(duck: Engine, tmp_path: Path) -> None:
    pairs = [one(f"Q{index}", "P36", f"Land {index}", "Town") for index in range(1, 60)]
    pairs += [one(f"Q{index}", "P37", f"Land {index}", "Tongue") for index in range(1, 20)]
    pair_table = pairs_of(duck, tmp_path, pairs)
    rows_by_seed = {
        seed: duck.rows(invariant.hold_out_examples(pair_table, seed)) for seed in (0, 1)
    }
    examples_by_seed = {
        seed: {(row["subject"], row["relation"]) for row in rows if row["example"]}
        for seed, rows in rows_by_seed.items()
    }
    assert [
        sum(row == relation for _, row in examples_by_seed[0]) for relation in ("P36", "P37")
    ] == [
        3,
        1,
    ]
    assert examples_by_seed[0] != examples_by_seed[1]
    # those that are asked about once come first
    for example_subject, relation in examples_by_seed[0]:
        if relation == "P36":
            assert int(example_subject[1:]) >= 20
    subjects = {subject for subject, _ in examples_by_seed[0]}
    assert {row["subject"] for row in rows_by_seed[0] if row["reason"] == "example"} == subjects
    assert sum(row["reason"] == "example" for row in rows_by_seed[0]) == 5


def line(sub: str = "Q1", obj: str = "Q10", predicate: str = "P36", **more: object) -> str:
    line_labels = {"sub_label": f"Land {sub}", "obj_label": f"Town {obj}"}
    return json.dumps(
        {"sub_uri": sub, "obj_uri": obj, "predicate_id": predicate, **line_labels, **more}
    )


LINES = [
    (line(), None),
    (line(sub_uri="http://x/Q1"), "sub_uri is no item id"),
    (line(obj_label=" "), "no obj_label"),
    (line(obj_label=" \u200b\n"), "no obj_label"),
    (line(obj_label=[3]), "a list, not a text"),
    (line(obj_label=None), "no obj_label"),
    (line(obj_label="Town&nbsp;Q10", sub_label="a\u200b\nb"), None),
    (line(obj_label="Town\u00a0Q10", sub_uri=" Q1 "), None),
    (line(sub_label="\ud800"), "not JSON"),
    (
        line(sub_label="Orl\xe9ans").encode("unicode_escape").replace(b"\\\\u00e9", b"\xe9"),
        "Windows-1252",
    ),
    ("{", "not JSON"),
    ("[" * 100_000, "not JSON"),
    ("[1]", "not a JSON object"),
    (b"\xff\xfe{}", "not"),
]


@pytest.mark.parametrize(("text", "wrong"), LINES)
def test_a_line_of_trex(text: str | bytes, wrong: str | None) -> None:
    raw = text if isinstance(text, bytes) else text.encode()
    if wrong is None:
        assert trex.parse_fact(raw)["object_label"] == "Town Q10"
    else:
        with pytest.raises(ValueError, match=wrong):
            trex.parse_fact(raw)


@pytest.mark.slow
def test_a_release_of_trex_files(tmp_path: Path) -> None:
    # LAMA's data as people unzip and rename it, with what macOS writes beside a file
    folder = tmp_path / "t-rex"
    folder.mkdir()
    (folder / "._P36.jsonl").write_bytes(b"\0\5\x16\7")
    first_lines = [line(), "", "{", line("Q2"), line("Q2", "Q11"), line(predicate="P54"), line()]
    (folder / "P36.jsonl").write_text("\n".join(first_lines) + "\n")
    second_lines = [line("Q3", predicate="P19"), line("Q4", predicate="P19", obj_label="1998")]
    (folder / "P19.jsonl").write_text("\n".join(second_lines))
    recipe = ROOT / "builders/recipes/invariant-lama-trex.yaml"
    command_words = [
        "release",
        recipe,
        "--trex",
        tmp_path,
        "--out",
        tmp_path,
        "--build",
        tmp_path / "b",
    ]
    run_cli(*command_words, "--snapshot-date", "2019-01-01")
    release_folder = tmp_path / "invariant-lama-trex" / "1.0.0"
    released_rows = pq.read_table(release_folder / "data/all/test.parquet").to_pylist()
    assert sorted(columns_of(released_rows, "subject", "template", "source", "query")) == [
        ("Q1", "P36/ckl/1", "trex", "The capital of Land Q1 is _X_."),
        ("Q3", "P19/ckl/1", "trex", "Land Q3 was born in _X_."),
    ]
    drops = pq.read_table(release_folder / "dropped.parquet").to_pylist()
    assert set(columns_of(drops, "step", "reason", "item")) == {
        ("trex", "bad_line", "P36.jsonl:3"),
        ("trex", "other_relation", "P36.jsonl:6"),
        ("trex", "duplicate", "P36.jsonl:7"),
        ("invariant", "several_objects", "Q2/P36"),
        ("invariant", "non_entity", "Q4/P19"),
    }


def one(subject: str, relation: str, label: str, answer: str) -> dict[str, Any]:
    columns = {"subject": subject, "subject_label": label, "relation": relation, "object": "Q10"}
    return columns | {"object_label": answer, "aliases": [], "sitelinks": 1, "statements": 1}
