"""The sample dumps: the bytes come from the YAML, and every oddity of real data is in them."""

import gzip
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from samples.wikidata import make
from tests.conftest import ROOT

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


def points(statement: Entity, *qualifiers: str) -> list[Entity]:
    return [
        snak
        for name in qualifiers or ("P580", "P582", "P585")
        for snak in statement.get("qualifiers", {}).get(name, [])
    ]


def times(statement: Entity) -> list[Entity]:
    return [s["datavalue"]["value"] for s in points(statement) if s["snaktype"] == "value"]


def object_id(statement: Entity) -> str | None:
    value = statement["mainsnak"].get("datavalue", {}).get("value", {})
    return value.get("id") if isinstance(value, dict) else None


@pytest.mark.slow
def test_made_from_the_yaml() -> None:
    for name, content in make.build().items():
        assert (FOLDER / name).read_bytes() == content, f"run `make sample`: {name} is out of date"


def test_subjects_relations_and_years() -> None:
    subjects: dict[str, set[str]] = {relation: set() for relation in RELATIONS}
    several: Counter[str] = Counter()
    years: Counter[int] = Counter()
    objects: dict[tuple[str, str], set[str | None]] = {}
    for entity, relation, statement in statements():
        subjects[relation].add(entity["id"])
        objects.setdefault((entity["id"], relation), set()).add(object_id(statement))
        years.update(
            int(t["time"][1:5]) for t in times(statement) if re.match(r"\+\d{4}-", t["time"])
        )
    for (_, relation), found in objects.items():
        several[relation] += len(found) > 1
    assert len(set().union(*subjects.values())) >= 150
    assert {r: n for r in RELATIONS if (n := several[r]) < 5} == {}
    assert [year for year in range(2007, 2027) if not years[year]] == []


def test_ids_are_real_or_reserved_and_statement_ids_differ() -> None:
    real = set(yaml.safe_load((FOLDER / "real_ids.yaml").read_text("utf-8")).values())
    for name in (NEWER, OLDER):
        items = [e.get("id") or e["entity"] for e in entities(name)]
        loose = [i for i in items if i[0] == "Q" and i not in real and int(i[1:]) < 900_000_000]
        assert loose == []
        assert len(set(items)) == len(items)
        named = [statement["id"] for _, _, statement in statements(name)]
        assert len(set(named)) == len(named)


def has_time(precision: int, pattern: str = "") -> Callable[[], bool]:
    def found() -> bool:
        return any(
            t["precision"] == precision and re.match(pattern, t["time"])
            for _, _, statement in statements()
            for t in times(statement)
        )

    return found


def has(test: Callable[[Entity], bool]) -> Callable[[], bool]:
    return lambda: any(test(statement) for _, _, statement in statements())


def has_entity(test: Callable[[Entity], bool], name: str = NEWER) -> Callable[[], bool]:
    return lambda: any(test(entity) for entity in entities(name))


def has_snak(name: str, kind: str) -> Callable[[], bool]:
    return has(lambda s: any(p["snaktype"] == kind for p in points(s, name)))


def has_object_of(kind: str) -> Callable[[], bool]:
    def found() -> bool:
        of_kind = {
            e["id"]
            for e in entities(NEWER)
            for s in (e.get("claims") or {}).get("P31", [])
            if object_id(s) == kind
        }
        return any(object_id(s) in of_kind for _, _, s in statements())

    return found


def count(s: Entity, name: str) -> int:
    return len(points(s, name))


def has_unclosed_predecessor() -> bool:
    """An exclusive relation with an open term before another one's start."""
    open_: dict[tuple[str, str], list[str]] = {}
    for entity, relation, statement in statements():
        if relation in ("P6", "P286", "P488") and not points(statement, "P582"):
            starts = [t["time"] for t in times(statement)]
            open_.setdefault((entity["id"], relation), []).extend(starts)
    return any(len(starts) > 1 for starts in open_.values())


def has_consecutive_terms() -> bool:
    seen = Counter((e["id"], r, object_id(s)) for e, r, s in statements())
    return max(seen.values()) >= 3


@cache
def known(name: str) -> set[str]:
    return {e.get("id") or e["entity"] for e in entities(name)}


QUIRKS: dict[str, Callable[[], bool]] = {
    "day": has_time(11),
    "month": has_time(10),
    "year": has_time(9),
    "decade": has_time(8),
    "century": has_time(7),
    "BCE": has_time(9, "-"),
    "five-digit year": has_time(9, r"\+\d{5}"),
    "Julian day": has(lambda s: any("Q1985786" in t["calendarmodel"] for t in times(s))),
    "start somevalue": has_snak("P580", "somevalue"),
    "start novalue": has_snak("P580", "novalue"),
    "end somevalue": has_snak("P582", "somevalue"),
    "end novalue": has_snak("P582", "novalue"),
    "main somevalue": has(lambda s: s["mainsnak"]["snaktype"] == "somevalue"),
    "two terms in one statement": has(lambda s: count(s, "P580") == count(s, "P582") == 2),
    "starts that do not pair up": has(lambda s: count(s, "P580") > count(s, "P582") > 0),
    "point in time alone": has(lambda s: bool(s.get("qualifiers", {}).keys() == {"P585"})),
    "point in time beside a start": has(lambda s: count(s, "P585") == count(s, "P580") == 1),
    "preferred": has(lambda s: s["rank"] == "preferred"),
    "deprecated": has(lambda s: s["rank"] == "deprecated"),
    "no time qualifier": has(lambda s: not s.get("qualifiers")),
    "a string for an item": has(lambda s: s["mainsnak"].get("datatype") == "string"),
    "numeric-id alone": has(
        lambda s: "numeric-id" in str(s["mainsnak"]) and object_id(s) is None
    ),
    "category": has_object_of("Q4167836"),
    "disambiguation page": has_object_of("Q4167410"),
    "template": has_object_of("Q11266439"),
    "list": has_object_of("Q13406463"),
    "label in mul alone": has_entity(lambda e: list(e.get("labels") or []) == ["mul"]),
    "aliases in en and mul": has_entity(lambda e: {"en", "mul"} <= set(e.get("aliases") or [])),
    "no English label": has_entity(lambda e: list(e.get("labels") or []) == ["de"]),
    "redirect": has_entity(lambda e: "redirect" in e),
    "empty maps as lists": has_entity(lambda e: e.get("labels") == [] and e["claims"] == []),
    "no sitelinks": has_entity(lambda e: e.get("type") == "item" and not e["sitelinks"]),
    "no English page": has_entity(
        lambda e: bool(e.get("sitelinks")) and "enwiki" not in e["sitelinks"]
    ),
    "property": has_entity(lambda e: e.get("type") == "property"),
    "lexeme": has_entity(lambda e: e.get("type") == "lexeme"),
    "object not in the dump": lambda: any(
        o not in known(NEWER) for _, _, s in statements() if (o := object_id(s))
    ),
    "a start after the snapshot": has(
        lambda s: any(p["datavalue"]["value"]["time"] > "+2026-02-03" for p in points(s, "P580")
                      if p["snaktype"] == "value")
    ),
    "an end after the snapshot": has_time(11, r"\+202[78]"),
    "never closed": has_unclosed_predecessor,
    "consecutive terms": has_consecutive_terms,
    "only in the older dump": lambda: bool(
        {s["id"] for _, _, s in statements(OLDER)} - {s["id"] for _, _, s in statements()}
    ),
    "labels before 2024 have no mul": lambda: not any(
        "mul" in (e.get("labels") or {}) for e in entities(OLDER)
    ),
}  # fmt: skip


@pytest.mark.parametrize("quirk", QUIRKS)
def test_quirk(quirk: str) -> None:
    assert QUIRKS[quirk]()


def test_a_mistake_names_file_and_item(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "w")
    wrong = "items:\n  A:\n    P6:\n      - B: 2019-13/..\n"
    (tmp_path / "w" / "facts" / "zz.yaml").write_text(wrong)
    done = subprocess.run(
        [sys.executable, tmp_path / "w" / "make.py"], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "zz.yaml: A: `2019-13` is no date" in done.stderr
