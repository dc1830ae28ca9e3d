"""Speed of the period diff: from a table of facts to written rows, against a loop over facts.

The loop is the common way to build such a data set: for every quarter it asks every fact whether
it holds, collects the objects in sets by (subject, relation), and compares neighbouring quarters.
It is given the facts as plain tuples with days as numbers, runs without the garbage collector
(which makes it twice as fast), neither merges segments nor looks for doubt, and writes JSON
lines. The engine reads Parquet, makes timelines, finds what is in doubt, and writes sorted
Parquet. The two must agree on every pair whose dates are all exact. The ratio is that of both
from facts to written rows; the loop's time without writing is shown beside it. Times are of the
wall; the engine's of the processor, which other work on the machine does not change, is shown too.
At last the engine is timed with what the loop knows nothing of: the lives of subjects and objects,
of which every third has ended, and relations of one object at a time, whose open facts are rivals.
Run: `python -m bench.period_diff`; exits 1 where the ratio is below 5.
"""

import gc
import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from factdrift.builders.core.dates import Period
from factdrift.builders.core.engine import engine
from factdrift.builders.core.schema import arrow_schema
from factdrift.builders.facts.period_diff import ORDER, buildable, compare, deltas
from factdrift.builders.facts.timeline import Rule, timeline
from factdrift.builders.rows import Delta, Entity, Fact

SIZES = (200_000, 2_000_000)
FACTS_PER_PAIR = 5
SNAPSHOT = date(2022, 9, 15)
WINDOW = buildable(Period.parse("2019Q1"), Period.parse("2022Q2"), SNAPSHOT)
LEAST_RATIO = 5.0
RELATIONS = (
    "P54", "P39", "P108", "P102", "P286", "P69", "P488", "P6", "P279", "P127", "P1001", "P106",
    "P27", "P176", "P138", "P937",
)  # fmt: skip

RULES = {relation: Rule(exclusive=True) for relation in RELATIONS[:8]}

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
        whole = exact[chosen].astype(f"M8[{unit}]")
        first[chosen] = whole.astype("M8[D]")
        last[chosen] = (whole + 1).astype("M8[D]") - 1
    return first, last


@contextmanager
def timed(into: dict[str, float], name: str) -> Iterator[None]:
    """Seconds of the wall by `name`, and of the processor by `name processor`."""
    begun, used = time.perf_counter(), time.process_time()
    yield
    into[name] = time.perf_counter() - begun
    into[f"{name} processor"] = time.process_time() - used


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
        "enwiki": none,
        **dict.fromkeys(("sitelinks", "statements", "facts"), zero),
        **dict.fromkeys(("began_first", "began_last"), born),
        **dict.fromkeys(("ended_first", "ended_last"), died),
    }
    schema = arrow_schema(Entity)
    return pa.Table.from_arrays([columns[f.name].cast(f.type) for f in schema], schema=schema)


def ours(facts: Path, out: Path, lives: Path | None = None) -> int:
    """Facts to written rows on DuckDB; the number of rows."""
    with engine("duckdb", out.parent / "scratch", memory="2GB", threads=2) as eng:
        entities = eng.read(lives, Entity) if lives else None
        rules = RULES if lives else None
        segments = timeline(eng, eng.read(facts, Fact), None, entities, rules).segments
        return eng.write(deltas(compare(segments, WINDOW)), out, Delta, ORDER)


def plain(facts: Path) -> list[Stated]:
    """The facts as the loop wants them; its time does not count."""
    table = pq.read_table(facts)
    days = {
        c: table[c].cast(pa.int32()).fill_null(-1).to_pylist() for c in ("start_last", "end_first")
    }
    now = (SNAPSHOT - date(1970, 1, 1)).days
    ends = [now if open_ else end for open_, end in zip(
        table["end_open"].to_pylist(), days["end_first"], strict=True
    )]  # fmt: skip
    names = [table[c].to_pylist() for c in ("subject", "relation", "object")]
    return list(zip(*names, days["start_last"], ends, strict=True))


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
                same = sorted(new)
                rows.append((*key, index, "unchanged", same, same, [], []))
            else:
                split = "new" if not old else "updated" if new else "deleted"
                lists = (sorted(new or old), sorted(old), sorted(new - old), sorted(old - new))
                rows.append((*key, index, split, *lists))
    return rows


def write_lines(rows: list[Row], path: Path) -> None:
    names = [n for n in Delta.__dataclass_fields__ if n != "possible_answers"]
    with path.open("w") as out:
        for row in sorted(rows, key=lambda r: r[:3]):
            out.write(json.dumps(dict(zip(names, row, strict=True))) + "\n")


def agree(facts: Path, out: Path, rows: list[Row]) -> int:
    """Check that both say the same of every pair with exact days only; the rows compared."""
    table = pq.read_table(facts, columns=["subject", "start_first", "start_last"])
    vague = {
        s
        for s, a, b in zip(*(c.to_pylist() for c in table.columns), strict=True)
        if a != b
    }  # fmt: skip
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


def main() -> int:
    """Measure both at every size and print the ratios."""
    ratios = []
    mine = []
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            facts, out = Path(folder, f"facts_{size}.parquet"), Path(folder, "deltas.parquet")
            made = facts_table(size)
            pq.write_table(made, facts)
            lives = Path(folder, f"lives_{size}.parquet")
            pq.write_table(lives_table(named(made)), lives)
            del made
            spent: dict[str, float] = {}
            count = 0
            for run in ("first", "second", "third"):
                with timed(spent, run):
                    count = ours(facts, out)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            with timed(spent, "all rules"):
                ruled = ours(facts, Path(folder, "ruled.parquet"), lives)
            stated = plain(facts)
            gc.disable()
            with timed(spent, "loop"):
                rows = loop(stated)
            with timed(spent, "lines"):
                write_lines(rows, Path(folder, "loop.jsonl"))
            same = agree(facts, out, rows)
            del rows, stated
            gc.enable()
            mine.append(sorted(spent[r] for r in ("first", "second", "third"))[1])
            ratios.append((spent["loop"] + spent["lines"]) / mine[-1])
            print(
                f"{size:>9,} facts, {len(WINDOW)} quarters, {count:,} rows: engine "
                f"{mine[-1]:.2f} s (median of 3; peak {peak:.1f} GB), loop {spent['loop']:.2f} s "
                f"and {spent['lines']:.2f} s to write: ratio {ratios[-1]:.1f} "
                f"({spent['loop'] / mine[-1]:.1f} if the loop did not write); "
                f"{same:,} rows of exact dates equal",
                flush=True,
            )
            least = min(spent[f"{run} processor"] for run in ("first", "second", "third"))
            print(
                f"{'':9} processor: engine {least:.2f} s, loop {spent['loop processor']:.2f} s and "
                f"{spent['lines processor']:.2f} s; with lives and rivals the engine makes "
                f"{ruled:,} rows in {spent['all rules']:.2f} s, "
                f"{spent['all rules processor']:.2f} s of processor",
                flush=True,
            )
    print(f"10 times the facts: {mine[-1] / mine[0]:.1f} times the engine's time")
    return 0 if ratios[-1] >= LEAST_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
