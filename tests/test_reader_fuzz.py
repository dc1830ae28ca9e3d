"""The quick reader against the msgspec one, on lines with every kind of damage and oddity."""

import copy
import gzip
import json
from collections import Counter
from random import Random
from typing import Any

import pytest

from factdrift.builders.wikidata.entities import Rows
from tests.conftest import DATA
from tests.dumps import Json, item, prop, statement, time_snak, world
from torture.mutations import damaged

UNDATED = ("P19", "P31")


def read(line: bytes, quick: bool) -> tuple[Any, ...]:
    """Everything that a line gives, or the kind of error that it is."""
    rows = Rows(UNDATED, quick)
    try:
        rows.read(line)
    except (ValueError, RecursionError) as error:
        return (isinstance(error, Exception),)
    return rows.statements, rows.entities, rows.dropped, {k: n for k, n in rows.counts.items() if n}


def twice(line: bytes) -> bool:
    """Whether a key stands twice in one object."""
    found: list[str] = []

    def pairs(given: list[tuple[str, Any]]) -> dict[str, Any]:
        found.extend(key for key, n in Counter(k for k, _ in given).items() if n > 1)
        return dict(given)

    try:
        json.loads(line, object_pairs_hook=pairs)
    except (ValueError, RecursionError):
        return False
    return bool(found)


def base() -> list[Json]:
    """Entities with everything that is read."""
    time = [statement(time_snak("1950")), statement({"snaktype": "somevalue"}, rank="preferred")]
    claims = {
        "P6": [statement("Q2", "2019", "2020"), statement("Q3"), statement("Q4", point="2001")],
        "P19": [statement("Q5")],
        "P31": [statement("Q4167836"), statement("Q5")],
        "P569": time[:1],
        "P570": time[1:],
        "P1082": [statement({"snaktype": "value", "datatype": "quantity"}, point="2001")],
    }
    names = {
        "aliases": {"en": [{"value": "x"}], "mul": [{"value": "é\ud83e\udd86"}], "de": []},
        "sitelinks": {"enwiki": {"site": "enwiki", "title": "A (b)"}, "dewiki": {"title": "A"}},
    }
    return [*world(2), item("Q1", "A", claims, **names), prop("P6", "head")]


ODD: tuple[Any, ...] = (
    None, True, 0, -1, 11.0, 1e300, "", "Q7", "\ud800", [], {}, [[]], {"id": "Q9"}, {"en": None},
    "somevalue", "novalue", "deprecated", 10**30,
)  # fmt: skip


def bitten(chance: Random, line: bytes) -> bytes:
    """A line with some of its bytes cut out, doubled or changed."""
    start = chance.randrange(len(line))
    stop = min(start + chance.choice((1, 1, 2, 5, 40)), len(line))
    kind = chance.randrange(4)
    middle = (b"", line[start:stop] * 2, bytes([chance.randrange(256)]), b"\\ud800")[kind]
    return line[:start] + middle + line[stop:]


def shuffled(chance: Random, part: Any) -> Any:
    """The same JSON with the members of every object in another order."""
    if isinstance(part, list):
        return [shuffled(chance, one) for one in part]
    if not isinstance(part, dict):
        return part
    keys = chance.sample(list(part), len(part))
    return {key: shuffled(chance, part[key]) for key in keys}


def respelled(chance: Random, line: bytes) -> bytes:
    """The same JSON with some letters of time qualifiers and their key as escapes."""
    names = [b"qualifiers", b"P580", b"P582", b"P585", b"mainsnak", b"claims"]
    name = chance.choice(names)
    at = chance.randrange(len(name))
    return line.replace(b'"%s"' % name, b'"%s\\u%04x%s"' % (name[:at], name[at], name[at + 1 :]))


def test_the_quick_reader_reads_every_layout() -> None:
    """Spaces between tokens, other orders of members, escapes in keys, keys within strings."""
    chance = Random(11)
    trap = 'x"claims":{"P6":[{"qualifiers":{"P580":[{"'
    for number in range(800):
        entity = copy.deepcopy(base()[-2])
        if number % 2:
            entity = damaged(chance, entity, ODD)
        if number % 3 == 0:
            entity["labels"] = {"en": {"language": "en", "value": trap}, trap: {"value": trap}}
            entity["descriptions"] = {"en": {"language": "en", "value": trap}}
        if number % 4:
            entity = shuffled(chance, entity)
        space, indent = chance.choice(((", ", ": "), (",", ":"), (" ,", " : "))), chance.random()
        text = json.dumps(entity, separators=space, indent=0 if indent < 0.2 else None)
        line = text.replace("\n", "\t").encode("utf-8", "surrogatepass")
        line = respelled(chance, line) if number % 5 == 0 else line
        slow, quick = read(line, False), read(line, True)
        assert slow == quick or twice(line), line


def test_the_quick_reader_gives_the_same_rows() -> None:
    chance = Random(7)
    entities = base()
    seen = Counter[str]()
    for number in range(3_000):
        entity = chance.choice(entities)
        if number % 3:
            entity = damaged(chance, entity, ODD)
        spaces = (", ", ": ") if chance.random() < 0.1 else (",", ":")
        text = json.dumps(entity, separators=spaces, ensure_ascii=chance.random() < 0.5)
        line = text.encode("utf-8", "surrogatepass")
        if number % 3 == 0:
            line = bitten(chance, line)
        slow, quick = read(line, False), read(line, True)
        seen["refused" if len(slow) == 1 else "read"] += 1
        if slow != quick:
            assert twice(line), line
            seen["twice"] += 1
    assert seen["read"] > 1000 and seen["refused"] > 300 and seen["twice"] < 30


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"item","id":"Q1","claims":{},"id":"Q2"}',
        b'{"type":"item","id":"Q1","claims":{"P6":[],"P6":[{"mainsnak":{"snaktype":"somevalue"}}]}}',
        b'{"type":"item","id":"Q1","claims":{"P6":[]}}',
        b'{"type":"item","id":"Q1","x":123456789012345678901234567890}',
        b'{"type":"item","id":"Q1","x":1e999}',
        b'{"type":"item","id":"Q1","x":"\\ud83e"}',
        b'{"type":"item","id":"Q1","labels":{"en":{"value":"\\ud83e"}}}',
        b'{"type":"item","id":"Q1","x":' + b"[" * 1500 + b"]" * 1500 + b"}",
        b'{"type":"item","id":"Q1","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"type":"item","id":"Q1","claims":{"P6":[{"mainsnak":{"snaktype":"somevalue"},"id":"a",'
        b'"rank":"normal","qualifiers":{"P580":[{"snaktype":"somevalue"}]},"qualifiers":{}}]}}',
        b'{"type":"item","id":"Q1","claims":{"P6":["mainsnak",["mainsnak","id"],7,null]}}',
        b'{"type":"item","id":"Q1","claims":{"P19":[{"mainsnak":{"snaktype":"somevalue"},"id":1}]}}',
        b'{"type":"item","id":"Q1","claims":{"P6":[{"qualifiers":["P580"]}]}}',
        b'{"type":"item","id":"Q1"}\x00',
        b'{"type":"item","id":"Q1","x":"\xff"}',
        b'{"type":"lexeme","id":"L1"}',
        b'{"entity":"Q1","redirect":"Q2"}',
    ],
)
def test_exotic_lines_are_read_or_refused_alike(line: bytes) -> None:
    assert read(line, True) == read(line, False)


@pytest.mark.skipif(
    not (DATA / "wikidata/entities.jsonl.gz").is_file(),
    reason=f"no real entities in {DATA}; set FACTDRIFT_DATA",
)
@pytest.mark.parametrize("layout", ["compact", "other"])
def test_real_entities_are_read_alike(layout: str) -> None:
    chance = Random(3)
    readers = {quick: Rows(UNDATED, quick) for quick in (False, True)}
    lines = gzip.decompress((DATA / "wikidata/entities.jsonl.gz").read_bytes()).splitlines()
    if layout == "other":
        lines = [json.dumps(shuffled(chance, json.loads(x))).encode() for x in lines[::10]]
    for line in lines:
        for rows in readers.values():
            rows.read(line)
    slow, quick = readers.values()
    assert (slow.statements, slow.entities) == (quick.statements, quick.entities)
    assert (slow.counts, slow.dropped) == (quick.counts, quick.dropped)
