"""Speed of the period diff, from a table of facts to written rows: a loop, DuckDB, PySpark.

The loop is the common way to build such a data set: for every quarter it asks every fact whether
it holds, collects the objects in sets by (subject, relation), and compares neighbouring quarters.
It is given the facts as plain tuples with days as numbers, runs without the garbage collector
(which makes it twice as fast), neither merges segments nor looks for doubt, and writes JSON
lines. The engine reads Parquet, makes timelines, finds what is in doubt, and writes sorted
Parquet. The two must agree on every pair whose dates are all exact. The engine is also timed with
what the loop knows nothing of: the lives of subjects and objects, of which every third has ended,
and relations of one object at a time, whose open facts are rivals. 1 where the ratio is below 5.
`python -m bench engines` runs both engines with all of this.
"""

import gc
import json
import tempfile
from datetime import date
from itertools import pairwise
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bench import BENCH, Figures, best, cost, own, timed
from factdrift.builders.core.dates import Period, periods
from factdrift.builders.core.engine import engine
from factdrift.builders.core.schema import arrow_schema
from factdrift.builders.facts.period_diff import ORDER, compare, deltas
from factdrift.builders.facts.timeline import TimeRule, timeline
from factdrift.builders.rows import Delta, Entity, Fact

SIZES = (0.2, 2)
"""Million facts."""
SNAPSHOT = date(2022, 9, 15)
WINDOW = periods(Period.parse("2019Q1"), Period.parse("2022Q2"))
LEAST_RATIO = 5.0
RELATIONS = "P54 P39 P108 P102 P286 P69 P488 P6 P279 P127 P1001 P106 P27 P176 P138 P937".split()
RULES = {relation: TimeRule(exclusive=True) for relation in RELATIONS[:8]}
# Careers of five spells of a few years, one after another, 60 % of their dates years and 5 %
# months. They begin between 1950 and 2022; the last spell of every second one is open; one spell
# in ten is with the object of two spells before.
FACTS = f"""
CREATE MACRO chance(n, what) AS hash(n, what) % 1000003 / 1000003;
CREATE MACRO opens(day, unit) AS date_trunc(unit, day)::DATE;
CREATE MACRO closes(day, unit) AS (opens(day, unit) - INTERVAL 1 DAY + CASE unit
    WHEN 'day' THEN INTERVAL 1 DAY WHEN 'month' THEN INTERVAL 1 MONTH
    ELSE INTERVAL 1 YEAR END)::DATE;
CREATE TABLE facts AS
WITH careers AS (
    SELECT n, 'Q' || (n * 611953 % 120000007 + 1) AS subject, {RELATIONS}[n % 16 + 1] AS relation,
        1 + floor(ln(1 - chance(n, 'length')) / ln(0.8))::INT AS spells,
        CASE WHEN chance(n, 'unit') < 0.35 THEN 'day' WHEN chance(n, 'unit') < 0.4 THEN 'month'
            ELSE 'year' END AS unit,
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
    opens(starts, unit) AS start_first, closes(starts, unit) AS start_last,
    if(end_open, NULL, opens(ends, unit)) AS end_first,
    if(end_open, NULL, closes(ends, unit)) AS end_last
FROM dated ORDER BY n, k
"""
LIVES = """
SELECT id, id AS label, []::VARCHAR[] AS aliases, NULL::VARCHAR AS enwiki, 0 AS sitelinks,
    0 AS statements, 0 AS facts, DATE '1900-01-01' AS began_first, began_first AS began_last,
    if(number % 3 = 0, DATE '1960-01-01' + (number * 7919 % 22000)::INT, NULL) AS ended_first,
    ended_first AS ended_last, []::VARCHAR[] AS classes
FROM (SELECT subject AS id FROM facts UNION SELECT object FROM facts)
    CROSS JOIN LATERAL (SELECT id[2:]::BIGINT AS number)
"""
Stated = tuple[str, str, str, int, int]
"""Subject, relation, object, last possible first day, earliest possible last day."""
Row = tuple[str, str, int, str, list[str], list[str], list[str], list[str]]
COLUMNS = [f for f in arrow_schema(Delta).names if f not in ("possible_answers", "still_true")]


def make(millions: float) -> Path:
    """A folder with about so many facts, and the lives of all that they name."""
    folder = BENCH / f"facts-{millions:g}M"
    if not folder.is_dir():
        print(f"making {millions:g} M facts in {folder}", flush=True)
        with tempfile.TemporaryDirectory(dir=BENCH) as name, duckdb.connect() as con:
            made = Path(name, "made")
            made.mkdir()
            con.execute(FACTS, {"careers": int(millions * 200_000)})
            con.table("facts").write_parquet(f"{made}/facts.parquet")
            con.sql(LIVES).write_parquet(f"{made}/lives.parquet")
            made.rename(folder)
    return folder


def ours(folder: str, out: str, name: str = "duckdb", lives: str = "", memory: str = "2GB") -> int:
    """Facts to written rows on an engine; the number of rows."""
    with engine(name, Path(out, "scratch"), memory) as eng:
        entities = eng.read(Path(folder, "lives.parquet"), Entity) if lives else None
        facts = eng.read(Path(folder, "facts.parquet"), Fact)
        segments = timeline(eng, facts, None, entities, RULES if lives else None).segments
        rows = deltas(compare(segments, WINDOW))
        return eng.write(rows, Path(out, "deltas.parquet"), Delta, ORDER)


def plain(facts: Path) -> list[Stated]:
    """The facts as the loop wants them; its time does not count."""
    table = pq.read_table(facts)
    start, end = (pc.fill_null(table[c].cast(pa.int32()), -1) for c in ("start_last", "end_first"))
    end = pc.if_else(table["end_open"], (SNAPSHOT - date(1970, 1, 1)).days, end)
    columns = [*(table[c] for c in ("subject", "relation", "object")), start, end]
    return list(zip(*(column.to_pylist() for column in columns), strict=True))


def loop(facts: list[Stated]) -> list[Row]:
    """For every quarter and every fact: does it hold; then neighbours against each other."""
    epoch = date(1970, 1, 1)
    quarters: list[dict[tuple[str, str], set[str]]] = []
    for period in WINDOW:
        first, last = (period.first - epoch).days, (period.last - epoch).days
        answers: dict[tuple[str, str], set[str]] = {}
        for subject, relation, thing, start, end in facts:
            if start <= last and end >= first:
                key = (subject, relation)
                if key in answers:
                    answers[key].add(thing)
                else:
                    answers[key] = {thing}
        quarters.append(answers)
    rows: list[Row] = []
    none: set[str] = set()
    for n, (before, after) in enumerate(pairwise(quarters)):
        index = WINDOW[n + 1].index
        for key in before.keys() | after.keys():
            old, new = before.get(key, none), after.get(key, none)
            if old == new:
                kept = sorted(new)
                rows.append((*key, index, "unchanged", kept, kept, [], []))
            else:
                split = "new" if not old else "updated" if new else "deleted"
                lists = (sorted(new or old), sorted(old), sorted(new - old), sorted(old - new))
                rows.append((*key, index, split, *lists))
    return rows


def write_lines(rows: list[Row], path: Path) -> None:
    """The rows in order, as JSON lines."""
    with path.open("w") as out:
        for row in sorted(rows, key=lambda r: r[:3]):
            out.write(json.dumps(dict(zip(COLUMNS, row, strict=True))) + "\n")


def agree(facts: Path, out: Path, rows: list[Row]) -> int:
    """Check that both say the same of every pair with exact days only; the rows compared."""
    table = pq.read_table(facts, columns=["subject", "start_first", "start_last"])
    inexact = pc.not_equal(table["start_first"], table["start_last"])
    vague = set(table["subject"].filter(inexact).to_pylist())
    written = zip(*pq.read_table(out, columns=COLUMNS).to_pydict().values(), strict=True)
    mine, theirs = (
        {(*row[:4], *map(frozenset, row[4:])) for row in found if row[0] not in vague}
        for found in (written, rows)
    )
    assert mine == theirs, list(mine ^ theirs)[:5]
    return len(mine)


def main(say: Figures, words: list[str]) -> None:
    """Measure both at every size and print the ratios."""
    for millions in [float(word) for word in words] or SIZES:
        folder = make(millions)
        facts = folder / "facts.parquet"
        with tempfile.TemporaryDirectory(dir=BENCH) as out:
            [mine] = best(own("period_diff:ours", folder, out))
            ruled = cost(own("period_diff:ours", folder, f"{out}/ruled", "duckdb", "lives"))
            stated = plain(facts)
            gc.disable()
            looped = timed(loop, stated)
            writing = timed(write_lines, looped.answer, Path(out, "loop.jsonl"))
            gc.enable()
            equal = agree(facts, Path(out, "deltas.parquet"), looped.answer)
            wall, processor = looped.wall + writing.wall, looped.processor + writing.processor
            del looped, stated
        print(
            f"{millions:g} M facts, {mine.answer:,} rows of {len(WINDOW)} quarters; {equal:,} equal"
        )
        say("loop, and writing its lines", f"{wall:.2f} s, {writing.wall:.2f} s of it writing")
        say("engine, best of 3", mine)
        say(f"engine with lives and rivals, {ruled.answer:,} rows", ruled)
        good = wall >= LEAST_RATIO * mine.wall or millions < SIZES[-1]
        bound = f">= {LEAST_RATIO} at {SIZES[-1]} M"
        say("loop to engine, wall", f"{wall / mine.wall:.1f}", good, bound)
        say("loop to engine, processor", f"{processor / mine.processor:.1f}")
