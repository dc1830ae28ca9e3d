"""Both engines on the same facts: `python -m bench engines [MILLIONS …] [ADDRESS OF A SPARK]`.

The facts are those of `bench.period_diff`, by default 2 million; both files must be the same to
the byte. Each run is a process of its own with all cores and 4 GB for tables (of Spark: the heap),
with its start: Spark's Java takes some seconds to start. The ratio has no bound: Spark is for
tables that one machine cannot hold.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from bench import BENCH, Figures, cost, own
from bench.period_diff import make
from factdrift.builders.core.engine import ready
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hashing import file_sha256


def main(say: Figures, words: list[str]) -> None:
    """Measure both at every size, and compare what they write."""
    sizes = [float(word) for word in words if word.replace(".", "").isdigit()]
    other = next((word for word in words if not word.replace(".", "").isdigit()), "spark")
    try:
        ready(other, BENCH / "scratch")
    except UserError as error:
        say(f"not measured: {error}", "")
        return
    for millions in sizes or [2]:
        folder, found = make(millions), {}
        for name in ("duckdb", other):
            with TemporaryDirectory(dir=BENCH) as out:
                command = own("period_diff:ours", folder, out, name, "lives", "4GB")
                spent = cost(command, Path(out))
                found[name] = spent, file_sha256(Path(out, "deltas.parquet"))
            say(f"{millions:g} M facts, {name}", f"{spent}, {spent.spilled / 1e9:.2f} GB of disk")
        (duck, ours), (spark, theirs) = found.values()
        ratio = f"{spark.processor / duck.processor:.1f}, {spark.memory / duck.memory:.1f}"
        say("to DuckDB: processor, memory", ratio)
        say("the same bytes", ours == theirs, ours == theirs, "both engines")
