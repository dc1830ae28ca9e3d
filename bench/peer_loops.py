"""Loops over a dump for `bench.peers`, run by the Python of the folder of peers: no import of ours.

`python bench/peer_loops.py LOOP DUMP OUT` writes a line for each dated statement whose value is an
item: its subject, its id (none in kgdata, which keeps none), its relation, its object and its
times. It prints how many items the dump has.
"""

import gzip
import json
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

TIMES = ("P580", "P582", "P585", "P1319", "P1326", "P8555", "P8554", "P12506")
"""The qualifiers that make a statement dated, as in `factdrift.builders.wikidata.statements`."""

COARSEST = 8
"""The least precision of a date that counts: a decade. Ours drops coarser ones, too."""


def lines(file: Any) -> Iterator[bytes]:
    """The entities of a dump, without what the array has between them."""
    for line in file:
        line = line.rstrip(b",\r\n")
        if len(line) > 1:
            yield line


def item_id(value: dict[str, Any]) -> str:
    """The id of an item that a statement names; older dumps have its number alone."""
    return value.get("id") or f"Q{value['numeric-id']}"


def days_of(values: list[dict[str, Any]]) -> list[str]:
    """Those values that are dates of a decade or less."""
    return [value["time"] for value in values if value["precision"] >= COARSEST]


def statements(entity: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """The dated statements of an item whose values are items."""
    for relation, group in (entity["claims"] or {}).items():
        for statement in group:
            qualifiers = statement.get("qualifiers") or {}
            snaks = [snak for name in TIMES for snak in qualifiers.get(name, ())]
            days = days_of([snak["datavalue"]["value"] for snak in snaks if "datavalue" in snak])
            snak = statement["mainsnak"]
            is_item = snak.get("datatype") == "wikibase-item" and snak["snaktype"] == "value"
            if days and is_item and statement["rank"] != "deprecated":
                item = item_id(snak["datavalue"]["value"])
                yield entity["id"], statement["id"], relation, item, *days


def plain(file: Any, out: TextIO, loads: Callable[[bytes], Any]) -> int:
    """Read each line whole as JSON; the number of items."""
    items = 0
    for line in lines(file):
        entity = loads(line)
        if entity["type"] == "item":
            items += 1
            for statement in statements(entity):
                out.write("\t".join(statement) + "\n")
    return items


def kgdata(file: Any, out: TextIO, loads: Callable[[bytes], Any]) -> int:
    """Read each line as kgdata's steps do, into its model of an entity; the number of items."""
    entity_model = import_module("kgdata.wikidata.models.wdentity").WDEntity
    items = 0
    for line in lines(file):
        document = loads(line)
        for name in ("labels", "descriptions", "aliases", "claims", "sitelinks"):
            document[name] = document.get(name) or {}  # PHP writes an empty map as an empty list
        entity = entity_model.from_wikidump(document, lang="en")
        if entity.type != "item":
            continue
        items += 1
        for relation, group in entity.props.items():
            for statement in group:
                times = [time for name in TIMES for time in statement.qualifiers.get(name, ())]
                days = days_of([time.value for time in times])
                value = statement.value.value
                if days and isinstance(value, dict) and value.get("entity-type") == "item":
                    item = item_id(value)
                    out.write("\t".join((entity.id, "", relation, item, *days)) + "\n")
    return items


def main(loop: str, dump: str, path: str) -> None:
    """Run one of the loops."""
    with Path(path).open("w") as out:
        if loop == "json":
            with gzip.open(dump) as file:
                items = plain(file, out, json.loads)
        else:
            run = {"orjson": plain, "kgdata": kgdata}[loop]
            with import_module("isal.igzip").open(dump) as file:
                items = run(file, out, import_module("orjson").loads)
    print(items)


if __name__ == "__main__":
    main(*sys.argv[1:])
