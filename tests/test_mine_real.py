"""Real entities of many years: plausible counts, and facts that anyone can check."""

import gzip
import json
from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from factdrift.builders.wikidata.finish import MinedTables
from factdrift.builders.wikidata.mine import mine
from tests.conftest import DATA, checksums
from tests.dumps import facts_of, rows

needs_data = pytest.mark.skipif(
    not (DATA / "wikidata/entities.jsonl.gz").is_file(),
    reason=f"no real entities in {DATA}; set FACTDRIFT_DATA",
)


@pytest.fixture(scope="module")
def mined(tmp_path_factory: pytest.TempPathFactory) -> MinedTables:
    home = DATA / "wikidata"
    dumps = [home / "entities.jsonl.gz", home / "properties.jsonl.gz"]
    real_folder = tmp_path_factory.mktemp("real")
    return mine(dumps, real_folder, undated=["P36"], snapshot=date(2026, 4, 20))


@pytest.mark.slow
@needs_data
def test_every_statement_is_accounted_for(mined: MinedTables) -> None:
    """Counted by hand, of every relation: kept, passed over, or of an entity without a label."""
    statements = Counter[str]()
    passed = ("undated", "deprecated", "novalue", "not_an_item")
    for line in gzip.decompress((DATA / "wikidata/entities.jsonl.gz").read_bytes()).splitlines():
        claims = json.loads(line)["claims"] or {}
        for relation, group in claims.items():
            if any(claim["mainsnak"].get("datatype") == "wikibase-item" for claim in group):
                statements[relation] += len(group)
    for relation, statement_count in statements.items():
        relation_counts = mined.counts["relations"].get(relation, {})
        counted = relation_counts.get("statements", 0) + sum(
            relation_counts.get(reason, 0) for reason in passed
        )
        assert counted >= statement_count, relation


@needs_data
def test_facts_that_anyone_can_check(mined: MinedTables, tmp_path: Path) -> None:
    facts = facts_of(mined, tmp_path, ["P6", "P36"], ["P36"])
    names = {
        entity_row["id"]: entity_row["label"] for entity_row in rows(facts / "entities.parquet")
    }
    facts_found = {
        (names[fact["subject"]], fact["relation"], names[fact["object"]]): (
            f"{fact['start_first']}/{fact['start_last']}",
            "open" if fact["end_open"] else f"{fact['end_first']}/{fact['end_last']}",
        )
        for fact in rows(facts / "facts.parquet")
    }
    assert names["P6"] == "head of government"
    known_facts = {
        ("United Kingdom", "P6", "Theresa May"): ("2016-07-13/2016-07-13", "2019-07-24/2019-07-24"),
        ("Tallinn", "P6", "Ivi Eenmaa"): ("1997-01-01/1997-12-31", "1999-01-01/1999-12-31"),
        ("Soviet Union", "P36", "Moscow"): ("1922-12-30/1922-12-30", "1991-12-26/1991-12-26"),
        ("Estonia", "P36", "Tallinn"): ("None/None", "open"),
    }
    assert known_facts.items() <= facts_found.items()


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("sample", sorted((DATA / "wikidata/samples").glob("*.json*")), ids=str)
def test_verbatim_pieces_of_dumps(sample: Path, tmp_path: Path) -> None:
    for jobs in (1, 2):
        jobs_folder = tmp_path / str(jobs)
        facts_found = mine(
            sample, jobs_folder, undated=["P36"], snapshot=date(2026, 4, 20), jobs=jobs
        )
        assert not [
            dropped_row
            for dropped_row in rows(facts_found.dropped)
            if dropped_row["step"] == "read"
        ]
        assert facts_found.counts["counts"]["items"] >= 19
        assert facts_found.counts["counts"]["arrays_without_end"] == ("first48" in sample.name)
    assert checksums(tmp_path / "1") == checksums(tmp_path / "2")
