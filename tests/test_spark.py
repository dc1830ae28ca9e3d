"""The relational middle on Spark: the same rows, and the same bytes, as on DuckDB.

Skipped, with the reason shown, where PySpark or Java is missing.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from random import Random

import ibis
import pyarrow.parquet as pq
import pytest

from factdrift.builders.core.dates import Period, periods
from factdrift.builders.core.engine import Engine, engine
from factdrift.builders.core.errors import UserError
from factdrift.builders.facts import period_diff, snapshot_diff, timeline
from factdrift.builders.facts.relations import RelationWording
from factdrift.builders.rows import Delta, Dropped, Entity, Fact, FactChange, Gap, SeenFact, Segment
from factdrift.reasoning.families import FAMILIES
from factdrift.reasoning.families.base import Scope
from factdrift.reasoning.links import link_timelines
from factdrift.reasoning.rows import QuestionCandidate
from factdrift.reasoning.selection import draw_pool
from factdrift.reasoning.states import build_knowledge
from tests import random_histories
from tests.histories import fact, parquet
from tests.history_tables import tables
from tests.test_reasoning import RELATIONS, histories, named_items

SNAPSHOT, OLDER = date(2022, 9, 15), date(2021, 6, 1)
# each scene of `random_histories` meets each relation; more only takes longer
PAIRS = 3_000


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    try:
        with engine("spark", tmp_path_factory.mktemp("spark"), threads=2) as opened:
            yield opened
    except UserError as error:
        pytest.skip(str(error).replace("\n", ";"))


def whole_run(eng: Engine, inputs: Path, out: Path) -> dict[str, int]:
    """Every table of the relational middle, of many random histories, written; the rows of each."""
    timelines = list(random_histories.histories(3, PAIRS))
    older = [random_histories.earlier(one_timeline, 3, OLDER) for one_timeline in timelines]
    *old_tables, more_table = tables(eng, inputs / "older", older, OLDER)
    *new_tables, rules = tables(eng, inputs / "newer", timelines, random_histories.SNAPSHOT)
    dumps, rules = (
        (snapshot_diff.Dump(*old_tables), snapshot_diff.Dump(*new_tables)),
        {**rules, **more_table},
    )
    facts, gaps, entities = dumps[1]
    rows = {}
    line = timeline.timeline(eng, facts, gaps, entities, rules)
    segments = eng.keep(line.segments)
    rows["segments"] = eng.write(segments, out / "segments.parquet", Segment, timeline.ORDER)
    rows["gaps"] = eng.write(line.gaps, out / "gaps.parquet", Gap, timeline.GAP_ORDER)
    window = periods(Period.parse("2019Q3"), Period.parse("2023Q2"))
    comparisons = eng.keep(period_diff.compare(segments, window, line.gaps))
    comparisons = period_diff.drop_without_pages(
        period_diff.drop_few_objects(comparisons, segments), entities
    )
    comparisons = eng.keep(period_diff.drop_less_popular(eng.keep(comparisons), entities, 300))
    order = period_diff.ORDER
    deltas, dropped_tables = (
        period_diff.delta_rows(comparisons),
        period_diff.dropped_rows(comparisons, "quarter"),
    )
    rows["deltas"] = eng.write(deltas, out / "deltas.parquet", Delta, order)
    rows["dropped"] = eng.write(dropped_tables, out / "dropped.parquet", Dropped, order)
    changed = snapshot_diff.changes(eng, dumps[0], dumps[1], rules)
    rows["changes"] = eng.write(
        changed, out / "changes.parquet", FactChange, snapshot_diff.CHANGE_ORDER
    )
    seen_facts = snapshot_diff.seen(eng, [dump.facts for dump in dumps])
    rows["seen"] = eng.write(seen_facts, out / "seen.parquet", SeenFact, snapshot_diff.SEEN_ORDER)
    return rows


@pytest.mark.slow
def test_same_rows_and_bytes_as_duckdb(spark: Engine, tmp_path: Path) -> None:
    with engine("duckdb", tmp_path / "scratch", threads=2) as duck:
        expected = whole_run(duck, tmp_path / "in", tmp_path / "duckdb")
    assert whole_run(spark, tmp_path / "in", tmp_path / "spark") == expected
    assert all(row_count > 100 for row_count in expected.values()), expected
    for name in expected:
        paths = [tmp_path / engine_name / f"{name}.parquet" for engine_name in ("duckdb", "spark")]
        assert pq.read_table(paths[0]).equals(pq.read_table(paths[1])), name
        assert paths[0].read_bytes() == paths[1].read_bytes(), name


@pytest.mark.slow
def test_questions_over_several_facts(spark: Engine, tmp_path: Path) -> None:
    """Candidates of every family: empty lists, counts and draws are the same on both engines."""
    segments, gaps = histories(1, 20)
    relations = dict.fromkeys(RelationWording.model_fields, RELATIONS)
    scope = Scope(date(2004, 1, 1), date(2023, 12, 31), relations)
    files = (
        (parquet(tmp_path / "segments.parquet", Segment, segments), Segment),
        (parquet(tmp_path / "gaps.parquet", Gap, gaps), Gap),
        (parquet(tmp_path / "entities.parquet", Entity, named_items(20)), Entity),
    )

    def drawn(eng: Engine, out: Path) -> bytes:
        segment_table, gap_table, entities = [eng.read(path, row) for path, row in files]
        knowledge = build_knowledge(eng, segment_table, gap_table, scope.last, 5)
        knowledge = link_timelines(eng, knowledge, entities, {})
        candidates = ibis.union(
            *(eng.keep(family.table(knowledge, scope)) for family in FAMILIES.values())
        )
        chosen_pool = draw_pool(candidates, entities, 5, 40)
        assert eng.write(chosen_pool, out, QuestionCandidate, ("family", "hops", "turn")) > 50
        return out.read_bytes()

    with engine("duckdb", tmp_path / "scratch", threads=2) as duck:
        expected = drawn(duck, tmp_path / "duckdb.parquet")
    assert drawn(spark, tmp_path / "spark.parquet") == expected


@pytest.mark.slow
def test_no_rows_many_rows_and_hidden_files(spark: Engine, tmp_path: Path) -> None:
    facts = spark.read(parquet(tmp_path / "none.parquet", Fact, []), Fact)
    segments = spark.keep(timeline.timeline(spark, facts).segments)
    out = tmp_path / "segments.parquet"
    assert spark.write(segments, out, Segment, timeline.ORDER) == 0
    assert spark.rows(spark.read(out, Segment)) == []

    single_fact = fact("Q1", "P54", "Q2", snapshot=SNAPSHOT)
    facts_written = [
        replace(single_fact, subject=f"Q{number}", statement=f"Q{number}$")
        for number in range(1, 150_001)
    ]
    Random(3).shuffle(facts_written)
    source = parquet(tmp_path / "facts.parquet", Fact, facts_written)
    out = tmp_path / "spark.parquet"
    assert spark.write(spark.read(source, Fact), out, Fact, timeline.KEY) == len(facts_written)
    with engine("duckdb", tmp_path / "scratch", threads=2) as duck:
        duck.write(duck.read(source, Fact), tmp_path / "duckdb.parquet", Fact, timeline.KEY)
    meta = pq.read_metadata(out)
    groups = [meta.row_group(number).num_rows for number in range(meta.num_row_groups)]
    assert groups == [65_536, 65_536, 18_928]
    assert out.read_bytes() == (tmp_path / "duckdb.parquet").read_bytes()

    # Spark leaves out files whose names begin with a dot, and would say that there are none
    with pytest.raises(ValueError, match="leaves out"):
        spark.read(parquet(tmp_path / ".facts.parquet", Fact, [single_fact]), Fact)
