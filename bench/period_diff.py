"""Speed of the period diff, from a table of facts to written rows, on DuckDB and in a plain loop.

The loop is the common way to build such a data set: for every quarter it asks every fact whether
it holds, collects the objects in sets by (subject, relation), and compares neighbouring quarters.
It is given the facts as plain tuples with days as numbers, runs without the garbage collector
(which makes it twice as fast), neither merges segments nor looks for doubt, and writes JSON
lines. The engine reads Parquet, makes timelines, finds what is in doubt, and writes sorted
Parquet; it is also timed with what the loop knows nothing of: the lives of subjects and objects,
of which every third has ended, and relations of one object at a time, whose open facts are rivals.
1 where the ratio is below 5. `python -m bench period_diff [MILLIONS …] [spark]`: the latter, or the
address of a Spark, runs that engine on all of this, too; both must write the same bytes. `python -m
bench period_diff [MILLIONS …] 1GB` measures only the steps of a release, with so much memory; 1
where the process takes more than 1.3 times as much.
"""

import json
import sys
import tempfile
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bench import BENCH, Figures, best, cost, made, own, timed
from factdrift.builders.core.dates import Period, periods
from factdrift.builders.core.engine import engine
from factdrift.builders.core.hashing import file_sha256
from factdrift.builders.core.schema import arrow_schema
from factdrift.builders.core.sizes import byte_count
from factdrift.builders.core.steps import Workspace
from factdrift.builders.facts.period_diff import ORDER, compare, delta_rows
from factdrift.builders.facts.steps import Facts, Timelines
from factdrift.builders.facts.table_parts import keep_in_parts
from factdrift.builders.facts.time_rules import TimeRule
from factdrift.builders.facts.timeline import timeline
from factdrift.builders.rows import Delta, Dropped, Entity, Fact, Gap
from factdrift.builders.templama.steps import PeriodChanges

SIZES = (0.2, 2)
"""Million facts."""
SNAPSHOT = date(2022, 9, 15)
WINDOW = periods(Period.parse("2019Q1"), Period.parse("2022Q2"))
LEAST_RATIO = 5.0
MOST_MEMORY = 1.3
"""The most memory of the whole process, in units of `--memory`."""
RELATIONS = "P54 P39 P108 P102 P286 P69 P488 P6 P279 P127 P1001 P106 P27 P176 P138 P937".split()
RULES = {relation: TimeRule(exclusive=True) for relation in RELATIONS[:8]}
# Careers of five spells of a few years, one after another, two thirds of their dates years. They
# begin between 1950 and 2022; the last spell of every second one is open; one spell in ten is with
# the object of two spells before.
FACTS = f"""
CREATE MACRO chance(n, what) AS hash(n, what) % 1000003 / 1000003;
CREATE MACRO opens(day, exact) AS if(exact, day, make_date(year(day), 1, 1));
CREATE MACRO closes(day, exact) AS if(exact, day, make_date(year(day), 12, 31));
CREATE TABLE facts AS
WITH careers AS (
    SELECT n, 'Q' || (n * 611953 % 120000007 + 1) AS subject, {RELATIONS}[n % 16 + 1] AS relation,
        1 + floor(ln(1 - chance(n, 'length')) / ln(0.8))::INT AS spells,
        chance(n, 'unit') < 0.35 AS exact,
        DATE '2023-01-01' + (365 * (chance(n, 'day')
            - least(round(-22 * ln(1 - chance(n, 'year'))), 72)))::INT AS begun
    FROM range($careers) careers(n)
), spells AS (
    SELECT *, unnest(range(spells)) AS k, hash(n, k) AS draw, 300 + (draw % 1100)::INT AS days,
        pow(chance(draw, 'object') + 1e-6, -1 / 0.3)::HUGEINT % 200000 + 1 AS thing
    FROM careers
), dated AS (
    SELECT *, least(begun + (sum(days) OVER career - days)::INT, DATE '{SNAPSHOT}' - 1) AS starts,
        starts + days - 1 - (chance(draw, 'gap') * 299)::INT AS ends,
        k = spells - 1 AND chance(n, 'open') < 0.5 OR ends > DATE '{SNAPSHOT}' AS end_open,
        'Q' || if(k > 1 AND chance(draw, 'again') < 0.1, lag(thing, 2) OVER career, thing) AS object
    FROM spells WINDOW career AS (PARTITION BY n ORDER BY k)
)
SELECT subject || '$' AS statement, subject, relation, object, end_open, false AS point,
    false AS sighting, 'normal' AS rank, DATE '{SNAPSHOT}' AS snapshot,
    opens(starts, exact) AS start_first, closes(starts, exact) AS start_last,
    if(end_open, NULL, opens(ends, exact)) AS end_first,
    if(end_open, NULL, closes(ends, exact)) AS end_last
FROM dated ORDER BY n, k
"""
LIVES = """
SELECT id, id AS label, []::VARCHAR[] AS aliases, NULL::VARCHAR AS enwiki, 0 AS sitelinks,
    0 AS statements, 0 AS facts, DATE '1900-01-01' AS began_first, began_first AS began_last,
    if(number % 3 = 0, DATE '1960-01-01' + (number * 7919 % 22000)::INT, NULL) AS ended_first,
    ended_first AS ended_last, []::VARCHAR[] AS classes, NULL::VARCHAR AS description,
    NULL::VARCHAR AS country
FROM (SELECT subject AS id FROM facts UNION SELECT object FROM facts)
    CROSS JOIN LATERAL (SELECT id[2:]::BIGINT AS number)
"""
Stated = tuple[str, str, str, int, int]
"""Subject, relation, object, last possible first day, earliest possible last day."""
Row = tuple[str, str, int, str, list[str], list[str]]
"""Subject, relation, quarter, split, objects before and now."""


def make(millions: float) -> Path:
    """A folder with about so many facts, and the lives of all that they name."""

    def write(folder: Path) -> None:
        with duckdb.connect() as con:
            con.execute(FACTS, {"careers": int(millions * 200_000)})
            con.table("facts").write_parquet(f"{folder}/facts.parquet")
            con.sql(LIVES).write_parquet(f"{folder}/lives.parquet")

    return made(f"careers-{millions:g}M", write)[0]


def ours(folder: str, out: str, name: str = "duckdb", lives: str = "", memory: str = "2GB") -> int:
    """Facts to written rows on an engine; the number of rows."""
    with engine(name, Path(out, "scratch"), memory) as eng:
        entities = eng.read(Path(folder, "lives.parquet"), Entity) if lives else None
        facts = eng.read(Path(folder, "facts.parquet"), Fact)
        segments = timeline(eng, facts, None, entities, RULES if lives else None).segments
        comparisons = keep_in_parts(eng, lambda part: compare(part, WINDOW), segments)
        rows = delta_rows(comparisons)
        return eng.write(rows, Path(out, "deltas.parquet"), Delta, ORDER)


def released(folder: str, out: str, memory: str = "4GB") -> int:
    """Facts to timelines and to named differences by the steps of a release; the number of rows.

    The facts have no pages and no popularity, so that no subject is left out for these.
    """
    facts_folder = Path(out, "facts")
    facts_folder.mkdir()
    for name, source in (("facts", "facts"), ("entities", "lives")):
        (facts_folder / f"{name}.parquet").symlink_to(Path(folder, f"{source}.parquet"))
    for name, row in (("gaps", Gap), ("dropped", Dropped)):
        pq.write_table(arrow_schema(row).empty_table(), facts_folder / f"{name}.parquet")
    fields: dict[str, Any] = {"mined": None, "relations": tuple(RELATIONS)}
    facts = Facts.model_construct(pointwise=(), undated=(), **fields)
    changes = PeriodChanges(
        facts=facts,
        timelines=Timelines(facts=facts, rules=RULES | dict.fromkeys(RELATIONS[8:], TimeRule())),
        first=str(WINDOW[0]),
        last=str(WINDOW[-1]),
        granularity="quarter",
        relations=dict.fromkeys(RELATIONS, "relation"),
        silent=(),
        require_pages=False,
        subjects_per_relation=None,
    )
    workspace = Workspace(Path(out, "build"), print_error, memory=memory, jobs=2)
    workspace.folders_by_key[facts.key] = facts_folder
    row_count: int = pq.read_metadata(workspace.folder(changes) / "deltas.parquet").num_rows
    return row_count


def print_error(text: str) -> None:
    """What a run says; standard output has the figures."""
    print(text, file=sys.stderr, flush=True)


def plain(facts: Path) -> list[Stated]:
    """The facts as the loop wants them; its time does not count."""
    table = pq.read_table(facts)
    start, end = (
        pc.fill_null(table[column_name].cast(pa.int32()), -1)
        for column_name in ("start_last", "end_first")
    )
    end = pc.if_else(table["end_open"], (SNAPSHOT - date(1970, 1, 1)).days, end)
    columns = [
        *(table[column_name] for column_name in ("subject", "relation", "object")),
        start,
        end,
    ]
    return list(zip(*(column.to_pylist() for column in columns), strict=True))


def loop(facts: list[Stated], path: Path) -> None:
    """For every quarter and every fact: does it hold; then neighbours against each other."""
    epoch = date(1970, 1, 1)
    quarters: list[dict[tuple[str, str], set[str]]] = []
    for period in WINDOW:
        first, last = (period.first - epoch).days, (period.last - epoch).days
        answers: dict[tuple[str, str], set[str]] = {}
        for subject, relation, object_id, start, end in facts:
            if start <= last and end >= first:
                key = (subject, relation)
                if key in answers:
                    answers[key].add(object_id)
                else:
                    answers[key] = {object_id}
        quarters.append(answers)
    rows: list[Row] = []
    none: set[str] = set()
    for place, (before, after) in enumerate(pairwise(quarters)):
        for key in before.keys() | after.keys():
            old, new = before.get(key, none), after.get(key, none)
            split = "new" if not old else "updated" if new else "deleted"
            split = "unchanged" if old == new else split
            rows.append((*key, WINDOW[place + 1].index, split, sorted(old), sorted(new)))
    with path.open("w") as out:
        out.writelines(json.dumps(row) + "\n" for row in sorted(rows, key=lambda r: r[:3]))


def within(say: Figures, millions: float, memory: str) -> None:
    """Measure the steps of a release with so much memory, and what lies on disk meanwhile."""
    folder = make(millions)
    with tempfile.TemporaryDirectory(dir=BENCH) as out:
        spent = cost(own("period_diff:released", folder, out, memory), Path(out), interval=0.1)
    label = f"{millions:g} M facts, {memory}, {spent.spilled / 1e9:.2f} GB of disk"
    most = MOST_MEMORY * byte_count(memory)
    say(label, spent, spent.memory <= most, f"<= {most / 1e9:g} GB of memory")


def main(say: Figures, words: list[str]) -> None:
    """Measure both at every size and print the ratios."""
    memories = [word for word in words if word.endswith("B")]
    for memory in memories:
        for word in words:
            if word not in memories:
                within(say, float(word), memory)
    if memories:
        return
    numbers = [word for word in words if word.replace(".", "").isdigit()]
    for millions in map(float, numbers or SIZES):
        folder = make(millions)
        with tempfile.TemporaryDirectory(dir=BENCH) as out:
            [mine] = best(own("period_diff:ours", folder, out))
            looped = timed(loop, plain(folder / "facts.parquet"), Path(out, "loop.jsonl"))
        print(f"{millions:g} M facts, {mine.answer:,} rows of {len(WINDOW)} quarters")
        say("loop", looped)
        least = LEAST_RATIO * (millions >= SIZES[-1])
        say.against(looped, "engine, best of 3", mine, least, by="wall")
        say("loop to engine, processor", f"{looped.processor / mine.processor:.1f}")
        engine_runs = []
        for name in ("duckdb", *(word for word in words if word not in numbers)):
            with tempfile.TemporaryDirectory(dir=BENCH) as out:
                command = own("period_diff:ours", folder, out, name, "lives", "4GB")
                engine_runs.append(
                    (cost(command, Path(out)), file_sha256(Path(out, "deltas.parquet")))
                )
            (duck, ours_), (spent, theirs) = engine_runs[0], engine_runs[-1]
            spilled = f"{spent.spilled / 1e9:.2f} GB of disk"
            say(f"{name}, lives and rivals, {spilled}", spent, ours_ == theirs, "the same bytes")
            ratios = f"{spent.processor / duck.processor:.1f}, {spent.memory / duck.memory:.1f}"
            say("to DuckDB: processor, memory", ratios)
