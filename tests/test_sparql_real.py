"""The bundled sample and real entities of Wikidata: an endpoint gives what a dump gives."""

from pathlib import Path

import pytest

from factdrift.builders.facts.relations import load_relations
from factdrift.builders.facts.steps import needed_of
from factdrift.builders.wikidata.documents import BIRTHS, DEATHS
from tests.conftest import DATA, ROOT
from tests.sparql_server import serve
from tests.test_sparql_mine import assert_same, mine_dump, mine_endpoint

REAL = {
    **dict.fromkeys(("P6", "P39", "P54", "P108", "P102", "P286", "P69", "P488", "P127"), False),
    **dict.fromkeys(("P27", "P106", "P131", "P361"), True),
}


@pytest.mark.slow
def test_the_bundled_sample_is_the_same(tmp_path: Path) -> None:
    sample = ROOT / "samples/wikidata/wikidata-20260202-all.json.gz"
    if not sample.exists():
        pytest.skip(f"no {sample}")
    relations = needed_of(load_relations(ROOT / "templates"))
    dump = mine_dump([sample], tmp_path / "dump", relations)
    with serve(sample, relations=(*relations, *BIRTHS, *DEATHS)) as server:
        compared = assert_same(
            dump, mine_endpoint(server, tmp_path / "sparql", relations), tmp_path, relations
        )
        print(f"sample: {compared} rows compared, {len(server.log())} requests")
    assert compared > 100


@pytest.mark.slow
def test_real_entities_are_the_same(tmp_path: Path) -> None:
    home = DATA / "wikidata"
    paths = [home / "entities.jsonl.gz", home / "properties.jsonl.gz"]
    if not paths[0].exists():
        pytest.skip(f"no real entities in {home}: set FACTDRIFT_DATA")
    dump = mine_dump(paths, tmp_path / "dump", REAL, "2026-06-01")
    read = (*REAL, *BIRTHS, *DEATHS)
    with serve(*paths, relations=read, dated="2026-06-01T00:00:00Z") as server:
        compared = assert_same(
            dump, mine_endpoint(server, tmp_path / "sparql", REAL), tmp_path, REAL
        )
        print(f"real: {compared} rows compared, {len(server.log())} requests")
    assert compared > 1000
