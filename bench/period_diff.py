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
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
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

SIZES = (200_000, 2_000_000)
PART = 2_000_000
FACTS_PER_PAIR = 5
SNAPSHOT = date(2022, 9, 15)
WINDOW = periods(Period.parse("2019Q1"), Period.parse("2022Q2"))
LEAST_RATIO = 5.0
RELATIONS = "P54 P39 P108 P102 P286 P69 P488 P6 P279 P127 P1001 P106 P27 P176 P138 P937".split()
RULES = {relation: TimeRule(exclusive=True) for relation in RELATIONS[:8]}

Stated = tuple[str, str, str, int, int]
"""Subject, relation, object, last possible first day, earliest possible last day."""

Row = tuple[str, str, int, str, list[str], list[str], list[str], list[str]]


def facts_table(size: int, part: int = 0, parts: int = 1) -> pa.Table:
    """Careers: spells of a few years one after another, 60 % of dates years and 5 % months.

    Histories begin between 1950 and 2022; every second one's last spell is open; one spell in
    ten is with the object of two spells before. Parts of a larger table share no subject.
    """
    chance = np.random.default_rng([size, part] if part else size)
    lengths = chance.geometric(1 / FACTS_PER_PAIR, size // FACTS_PER_PAIR)
    pair = np.repeat(np.arange(len(lengths)), lengths)[:size]
    size = len(pair)
    place = np.arange(size) - np.searchsorted(pair, pair)
    begun = (2023 - np.minimum(chance.exponential(22, len(lengths)), 72)).astype("i8")
    spell = chance.integers(300, 1400, size)
    spent = np.cumsum(spell)
    spent -= spent[np.searchsorted(pair, pair)]
    start = _days(begun[pair]) + chance.integers(0, 365, len(lengths))[pair] + spent
    start = np.minimum(start, (np.datetime64(SNAPSHOT) - 1).astype("i8"))
    end = start + spell - chance.integers(1, 300, size)
    precision = chance.choice(("D", "M", "Y"), len(lengths), p=(0.35, 0.05, 0.6))[pair]
    final = np.append(pair[1:] != pair[:-1], True)
    is_open = (final & (chance.random(size) < 0.5)) | (end > np.datetime64(SNAPSHOT).astype("i8"))
    thing = chance.zipf(1.3, size) % 200_000 + 1
    again = (place >= 2) & (chance.random(size) < 0.1)
    thing[again] = thing[np.flatnonzero(again) - 2]
    subject = chance.permutation(120_000_000 // parts)[: len(lengths)] * parts + part + 1
    relation = chance.integers(0, len(RELATIONS), len(lengths))
    columns = {
        "statement": pa.array([f"Q{s}$" for s in subject.tolist()]).take(pa.array(pair)),
        "subject": pa.array([f"Q{s}" for s in subject.tolist()]).take(pa.array(pair)),
        "relation": pa.array(RELATIONS).take(pa.array(relation[pair])),
        "object": pa.array([f"Q{o}" for o in thing.tolist()]),
        "end_open": pa.array(is_open),
        "point": pa.array(np.zeros(size, bool)),
        "sighting": pa.array(np.zeros(size, bool)),
        "rank": pa.array(["normal"] * size),
        "snapshot": pa.array(np.full(size, np.datetime64(SNAPSHOT))),
    }
    for side, day, unknown in (("start", start, None), ("end", end, is_open)):
        first, last = _bounds(day, precision)
        columns[f"{side}_first"] = pa.array(first, mask=unknown)
        columns[f"{side}_last"] = pa.array(last, mask=unknown)
    schema = arrow_schema(Fact)
    return pa.Table.from_arrays([columns[f.name].cast(f.type) for f in schema], schema=schema)


def _days(year: np.ndarray) -> np.ndarray:
    return (year - 1970).astype("M8[Y]").astype("M8[D]").astype("i8")


def _bounds(day: np.ndarray, precision: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and last possible day of each day at its precision."""
    exact = day.astype("M8[D]")
    first, last = exact.copy(), exact.copy()
    for unit in ("M", "Y"):
        chosen = precision == unit
        rounded = exact[chosen].astype(f"M8[{unit}]")
        first[chosen] = rounded.astype("M8[D]")
        last[chosen] = (rounded + 1).astype("M8[D]") - 1
    return first, last


def named(facts: pa.Table, *others: pa.Array) -> pa.Array:
    """The subjects and objects of facts, and other names, each once."""
    columns = [facts[name].combine_chunks() for name in ("subject", "object")]
    return pc.unique(pa.concat_arrays([*columns, *others]))


def lives_table(names: pa.Array) -> pa.Table:
    """An entity of each name, begun before 1950; every third one has ended."""
    number = np.arange(len(names))
    ended = np.datetime64("1960-01-01") + number * 7919 % 22_000
    died = pa.array(ended, mask=number % 3 > 0)
    born = pa.array(np.full(len(names), np.datetime64("1900-01-01")))
    none = pa.nulls(len(names), pa.string())
    zero = pa.array(np.zeros(len(names), "i8"))
    aliases = pa.array([[]] * len(names), pa.list_(pa.string()))
    columns = {
        "id": names,
        "label": names,
        "aliases": aliases,
        "classes": aliases,
        "enwiki": none,
        **dict.fromkeys(("sitelinks", "statements", "facts"), zero),
        **dict.fromkeys(("began_first", "began_last"), born),
        **dict.fromkeys(("ended_first", "ended_last"), died),
    }
    schema = arrow_schema(Entity)
    return pa.Table.from_arrays([columns[f.name].cast(f.type) for f in schema], schema=schema)


def make(size: int) -> Path:
    """A folder with `size` facts, a file each two million, and the lives of what they name."""
    folder = BENCH / f"engines-{size}"
    lives = folder / "lives.parquet"
    if not lives.is_file():
        (folder / "facts").mkdir(parents=True, exist_ok=True)
        parts = max(1, size // PART)
        names = pa.array([], pa.string())
        for part in range(parts):
            print(f"making facts: {part + 1} of {parts}", flush=True)
            facts = facts_table(size // parts, part, parts)
            pq.write_table(facts, folder / "facts" / f"{part:03}.parquet")
            names = named(facts, names)
        unfinished = lives.with_name("lives.part")
        pq.write_table(lives_table(names), unfinished)
        unfinished.rename(lives)
    return folder


def ours(folder: str, out: str, name: str = "duckdb", lives: str = "", memory: str = "2GB") -> int:
    """Facts to written rows on an engine; the number of rows."""
    with engine(name, Path(out, "scratch"), memory) as eng:
        entities = eng.read(Path(folder, "lives.parquet"), Entity) if lives else None
        rules = RULES if lives else None
        facts = eng.read(Path(folder, "facts"), Fact)
        segments = timeline(eng, facts, None, entities, rules).segments
        return eng.write(
            deltas(compare(segments, WINDOW)), Path(out, "deltas.parquet"), Delta, ORDER
        )


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
    others = ("possible_answers", "still_true")
    names = [n for n in Delta.__dataclass_fields__ if n not in others]
    with path.open("w") as out:
        for row in sorted(rows, key=lambda r: r[:3]):
            out.write(json.dumps(dict(zip(names, row, strict=True))) + "\n")


def agree(facts: Path, out: Path, rows: list[Row]) -> int:
    """Check that both say the same of every pair with exact days only; the rows compared."""
    table = pq.read_table(facts, columns=["subject", "start_first", "start_last"])
    inexact = pc.not_equal(table["start_first"], table["start_last"])
    vague = set(table["subject"].filter(inexact).to_pylist())
    written = pq.read_table(out).to_pylist()
    mine = {
        (r["subject"], r["relation"], r["period"], r["split"],
         *(frozenset(r[c]) for c in ("answers", "previous_answers", "added", "removed")))
        for r in written
        if r["subject"] not in vague
    }  # fmt: skip
    theirs = {(*r[:4], *map(frozenset, r[4:])) for r in rows if r[0] not in vague}
    assert mine == theirs, list(mine ^ theirs)[:5]
    return len(mine)


def main(words: list[str]) -> int:
    """Measure both at every size and print the ratios."""
    say = Figures()
    for size in [int(float(word) * 1e6) for word in words] or SIZES:
        folder = make(size)
        with tempfile.TemporaryDirectory(dir=BENCH) as out:
            [mine] = best(own("period_diff:ours", folder, out))
            ruled = cost(own("period_diff:ours", folder, f"{out}/ruled", "duckdb", "lives"))
            stated = plain(folder / "facts")
            gc.disable()
            wall, processor, rows = timed(partial(loop, stated))
            more = timed(partial(write_lines, rows, Path(out, "loop.jsonl")))
            gc.enable()
            equal = agree(folder / "facts", Path(out, "deltas.parquet"), rows)
            del rows, stated
        print(f"{size:,} facts, {len(WINDOW)} quarters, {mine.answer:,} rows; {equal:,} compared")
        say("loop, and writing its lines", f"{wall + more[0]:.2f} s, {more[0]:.2f} s of it writing")
        say("engine, best of 3", mine)
        say(f"engine with lives and rivals, {ruled.answer:,} rows", ruled)
        ratio = (wall + more[0]) / mine.wall
        good = ratio >= LEAST_RATIO or size < SIZES[-1]
        say("loop to engine, wall", f"{ratio:.1f}", good, f">= {LEAST_RATIO} at {SIZES[-1]:,}")
        say("loop to engine, processor", f"{(processor + more[1]) / mine.processor:.1f}")
    return say.missed
