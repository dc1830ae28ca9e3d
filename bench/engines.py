"""Both engines on the same facts: from Parquet to written rows, on DuckDB and on PySpark.

The facts are those of `bench.period_diff`, made by its seeded generator in parts of two million:
careers of five spells on average, 60 % of dates years, every third subject and object ended,
half of the relations with one object at a time. Each engine makes timelines, finds what is in
doubt, compares neighbouring quarters of 2019 to 2022, and writes sorted Parquet; both files must
be the same to the byte. Each run is a process of its own with all cores and 4 GB for tables (of
Spark: the heap), with its start: Spark's Java takes some seconds to start. Memory is the peak
over all its processes, `spilled` the most that lay in the engine's scratch folder.

Run: `python -m bench.engines [MILLIONS …] [--engine ADDRESS]`, by default 2; 20 takes minutes.
The ratio has no bound: Spark is for tables that one machine cannot hold.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

from bench import BENCH
from bench.cost import Cost, cost
from bench.period_diff import RULES, WINDOW, facts_table, lives_table, named
from factdrift.builders.core.engine import engine, ready
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hashing import file_sha256
from factdrift.builders.facts.period_diff import ORDER, compare, deltas
from factdrift.builders.facts.timeline import timeline
from factdrift.builders.rows import Delta, Entity, Fact

PART = 2_000_000
MEMORY = "4GB"


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


def run(name: str, folder: Path, out: Path) -> int:
    """What is measured: facts to written rows; how many."""
    with engine(name, out / "scratch", MEMORY) as eng:
        facts, lives = eng.read(folder / "facts", Fact), eng.read(folder / "lives.parquet", Entity)
        line = timeline(eng, facts, None, lives, RULES)
        return eng.write(
            deltas(compare(line.segments, WINDOW)), out / "deltas.parquet", Delta, ORDER
        )


def measured(name: str, size: int) -> tuple[Cost, str]:
    """The cost of a run in a process of its own, and the checksum of what it wrote."""
    folder = make(size)
    with TemporaryDirectory(dir=BENCH) as out:
        command = [sys.executable, "-m", "bench.engines", "--task", name, str(folder), out]
        spent = cost(command, [Path(out)])
        return spent, file_sha256(Path(out, "deltas.parquet"))


def line(label: str, spent: Cost) -> str:
    """A line of figures."""
    return (
        f"{label:12} {spent.wall:8.1f} s, {spent.processor:8.1f} s of processor, "
        f"{spent.memory / 1e9:5.2f} GB of memory, {spent.spilled / 1e9:5.2f} GB of disk meanwhile"
    )


def main(words: list[str]) -> int:
    """Measure both at every size; 1 where they do not write the same."""
    other = words[words.index("--engine") + 1] if "--engine" in words else "spark"
    try:
        ready(other, BENCH / "scratch")
    except UserError as error:
        print(f"not measured: {error}")
        return 0
    same = True
    for millions in [float(w) for w in words if w.replace(".", "").isdigit()] or [2]:
        size = int(millions * 1_000_000)
        print(f"{size:,} facts, {len(WINDOW)} quarters", flush=True)
        found = []
        for name in ("duckdb", other):
            found.append(measured(name, size))
            print(line(name, found[-1][0]), flush=True)
        (one, mine), (two, theirs) = found
        same &= mine == theirs
        print("the files are " + ("the same" if mine == theirs else "DIFFERENT"))
        ratios = two.wall / one.wall, two.processor / one.processor, two.memory / one.memory
        print(
            "{} to duckdb: {:.1f} of wall, {:.1f} of processor, {:.1f} of memory".format(
                other, *ratios
            ),
            flush=True,
        )
    return 0 if same else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--task"]:
        run(sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))
    else:
        sys.exit(main(sys.argv[1:]))
