"""The sample dumps: the bytes come from the YAML, and every oddity of real data is in them."""

import gzip
import json
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from samples.wikidata import make
from tests.conftest import ROOT, run_process
from tests.tables import table_cases

FOLDER = ROOT / "samples" / "wikidata"
NEWER, OLDER = "wikidata-20260202-all.json.gz", "wikidata-20230102-all.json.gz"
RELATIONS = ("P54 P39 P108 P102 P286 P69 P488 P6 P279 P127 P1001 P106 P27 P176 P138 P937").split()

Entity = dict[str, Any]


@cache
def entities(name: str) -> tuple[Entity, ...]:
    lines = gzip.decompress((FOLDER / name).read_bytes()).decode().splitlines()
    assert (lines[0], lines[-1]) == ("[", "]")
    for line in lines[1:-2]:
        assert line.endswith(",")
    return tuple(json.loads(line.removesuffix(",")) for line in lines[1:-1])


def statements(name: str = NEWER) -> Iterator[tuple[Entity, str, Entity]]:
    """Each statement of the sixteen relations, with its item and property."""
    for entity in entities(name):
        claims = entity.get("claims") or {}
        for relation in RELATIONS:
            for statement in claims.get(relation, []):
                yield entity, relation, statement


def object_id(statement: Entity) -> str | None:
    value = statement["mainsnak"].get("datavalue", {}).get("value", {})
    return value.get("id") if isinstance(value, dict) else None


@pytest.mark.slow
def test_made_from_the_yaml() -> None:
    for name, content in make.build().items():
        assert (FOLDER / name).read_bytes() == content, f"run `make sample`: {name} is out of date"


def test_subjects_relations_and_years() -> None:
    objects: dict[tuple[str, str], set[str | None]] = {}
    years: set[str] = set()
    for entity, relation, statement in statements():
        objects.setdefault((relation, entity["id"]), set()).add(object_id(statement))
        years.update(re.findall(r'"time": "\+(\d{4})-', json.dumps(statement)))
    several = Counter(
        relation for (relation, _), object_ids in objects.items() if len(object_ids) > 1
    )
    assert len({entity for _, entity in objects}) >= 150
    assert {
        relation_id: subject_count
        for relation_id in RELATIONS
        if (subject_count := several[relation_id]) < 5
    } == {}
    assert {str(year) for year in range(2007, 2027)} <= years
    assert (
        max(
            Counter(
                (entity_document["id"], relation_id, object_id(item_statement))
                for entity_document, relation_id, item_statement in statements()
            ).values()
        )
        >= 3
    )


def test_ids_are_real_or_reserved_and_statement_ids_differ() -> None:
    real = set(yaml.safe_load((FOLDER / "real_ids.yaml").read_text("utf-8")).values())
    for name in (NEWER, OLDER):
        entity_ids = [entity.get("id") or entity["entity"] for entity in entities(name)]
        loose = [
            entity_id
            for entity_id in entity_ids
            if entity_id[0] == "Q" and entity_id not in real and int(entity_id[1:]) < 900_000_000
        ]
        assert loose == []
        assert len(set(entity_ids)) == len(entity_ids)
        statement_ids = [statement["id"] for _, _, statement in statements(name)]
        assert len(set(statement_ids)) == len(statement_ids)
    assert {item_statement["id"] for *_, item_statement in statements(OLDER)} - {
        item_statement["id"] for *_, item_statement in statements()
    }
    for entity in entities(OLDER):
        assert "mul" not in (entity.get("labels") or {})


@pytest.mark.parametrize(("quirk", "part", "pattern"), table_cases("sample_quirks"))
def test_quirk(quirk: str, part: str, pattern: str) -> None:
    texts = (
        (statement for *_, statement in statements())
        if part == "statement"
        else iter(entities(NEWER))
    )
    assert any(re.search(pattern, json.dumps(text)) for text in texts), quirk


def test_quirks_between_statements() -> None:
    entity_ids = {entity.get("id") or entity["entity"] for entity in entities(NEWER)}
    assert any(
        object_item not in entity_ids
        for *_, statement in statements()
        if (object_item := object_id(statement))
    )
    terms = [statement.get("qualifiers", {}) for *_, statement in statements()]
    assert any(
        len(qualifiers.get("P580", ())) == len(qualifiers.get("P582", ())) == 2
        for qualifiers in terms
    )
    assert any(
        len(qualifiers.get("P580", ())) > len(qualifiers.get("P582", ())) > 0
        for qualifiers in terms
    )
    never_closed = Counter(
        (entity["id"], relation)
        for entity, relation, statement in statements()
        if relation in ("P6", "P286", "P488") and "P582" not in statement.get("qualifiers", {})
    )
    assert max(never_closed.values()) > 1


def test_a_mistake_names_file_and_item(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "w")
    wrong_text = "items:\n  A:\n    P6:\n      - B: 2019-13/..\n"
    (tmp_path / "w" / "facts" / "zz.yaml").write_text(wrong_text)
    completed = run_process(sys.executable, tmp_path / "w" / "make.py", ok=False)
    assert completed.returncode == 1
    assert "zz.yaml: A: `2019-13` is no date" in completed.stderr
