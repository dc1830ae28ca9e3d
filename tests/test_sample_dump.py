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
    assert all(line.endswith(",") for line in lines[1:-2])
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
    several = Counter(relation for (relation, _), found in objects.items() if len(found) > 1)
    assert len({entity for _, entity in objects}) >= 150
    assert {r: n for r in RELATIONS if (n := several[r]) < 5} == {}
    assert {str(year) for year in range(2007, 2027)} <= years
    assert max(Counter((e["id"], r, object_id(s)) for e, r, s in statements()).values()) >= 3


def test_ids_are_real_or_reserved_and_statement_ids_differ() -> None:
    real = set(yaml.safe_load((FOLDER / "real_ids.yaml").read_text("utf-8")).values())
    for name in (NEWER, OLDER):
        items = [e.get("id") or e["entity"] for e in entities(name)]
        loose = [i for i in items if i[0] == "Q" and i not in real and int(i[1:]) < 900_000_000]
        assert loose == []
        assert len(set(items)) == len(items)
        named = [statement["id"] for _, _, statement in statements(name)]
        assert len(set(named)) == len(named)
    assert {s["id"] for *_, s in statements(OLDER)} - {s["id"] for *_, s in statements()}
    assert not any("mul" in (e.get("labels") or {}) for e in entities(OLDER))


@pytest.mark.parametrize(("quirk", "part", "pattern"), table_cases("sample_quirks"))
def test_quirk(quirk: str, part: str, pattern: str) -> None:
    texts = (s for *_, s in statements()) if part == "statement" else iter(entities(NEWER))
    assert any(re.search(pattern, json.dumps(text)) for text in texts), quirk


def test_quirks_between_statements() -> None:
    known = {e.get("id") or e["entity"] for e in entities(NEWER)}
    assert any(o not in known for *_, s in statements() if (o := object_id(s)))
    terms = [s.get("qualifiers", {}) for *_, s in statements()]
    assert any(len(t.get("P580", ())) == len(t.get("P582", ())) == 2 for t in terms)
    assert any(len(t.get("P580", ())) > len(t.get("P582", ())) > 0 for t in terms)
    never_closed = Counter(
        (e["id"], r)
        for e, r, s in statements()
        if r in ("P6", "P286", "P488") and "P582" not in s.get("qualifiers", {})
    )
    assert max(never_closed.values()) > 1


def test_a_mistake_names_file_and_item(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "w")
    wrong = "items:\n  A:\n    P6:\n      - B: 2019-13/..\n"
    (tmp_path / "w" / "facts" / "zz.yaml").write_text(wrong)
    done = run_process(sys.executable, tmp_path / "w" / "make.py", ok=False)
    assert done.returncode == 1
    assert "zz.yaml: A: `2019-13` is no date" in done.stderr
