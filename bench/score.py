"""Speed of scoring: a million predictions against a release, and a plain Python loop over them.

The rows are made by rule: facts of a hundred thousand subjects in eight quarters, with one to
three names each. The loop is the common way to score: it reads both files, looks up each
prediction, takes the best exact match and F1 over the answers, and adds them up by stratum. It
makes no intervals, checks no prompts and gives no verdicts, all of which scoring does. The two
must agree on every mean. 1 where scoring is slower than the loop, or takes more than 40 seconds of
processor or 2 GB on an idle machine of two cores.
"""

import gc
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench import BENCH, Figures, best, timed
from factdrift.builders.core.dataset import Dataset, Table
from factdrift.builders.core.dates import Period, periods
from factdrift.builders.core.hashing import digest
from factdrift.builders.core.schema import batches, columns
from factdrift.builders.release.publish import write_release
from factdrift.builders.rows import Answer, Cloze
from factdrift.builders.text.prompts import targets
from factdrift.builders.text.squad import exact_match, f1
from factdrift.scoring.predictions import Prediction, prompt_hash, write
from tests.release_sample import Sample, cloze, meta

ROWS = 1_000_000
WINDOW = periods(Period.parse("2020Q1"), Period.parse("2021Q4"))
MOST_SECONDS, MOST_MEGABYTES = 40.0, 2000.0
RELATIONS = ("P54", "P39", "P108", "P102", "P286", "P69", "P488", "P6")
PLACES = ("Turin", "São Paulo", "the North", "Lower Saxony", "Łódź", "St. John's", "Osaka", "Lima")


def clozes(number: int, pairs: int) -> Iterator[Cloze]:
    """The rows of a quarter, one a pair; a third of the pairs change once."""
    chance = np.random.default_rng(0)
    things = [chance.integers(0, 50_000, pairs).tolist() for _ in range(2)]
    changes = chance.integers(1, 3 * len(WINDOW), pairs).tolist()
    for n in range(pairs):
        changed = number >= changes[n]
        thing = things[changed][n]
        label = f"{PLACES[thing % 8]} Club {thing} F.C."
        aliases = tuple(f"the {name} of {PLACES[thing % 8]}" for name in range(thing % 3))
        yield cloze(
            n,
            "updated" if number == changes[n] else "unchanged",
            str(WINDOW[number]),
            id=f"{n * len(WINDOW) + number:016x}",
            relation=RELATIONS[n % 8],
            template=RELATIONS[n % 8],
            answers=(Answer(f"Q{thing}", label, aliases),),
            targets=targets([label], aliases),
            sitelinks=n % 400,
        )


def make_release(folder: Path) -> Path:
    """A release of `ROWS` rows, a split a quarter."""

    def rows(number: int) -> Iterator[pa.RecordBatch]:
        return batches(Cloze, clozes(number, ROWS // len(WINDOW)), 8192)

    sources = {str(period): partial(rows, number) for number, period in enumerate(WINDOW)}
    made = Dataset(tables=(Table("all", Cloze, "Rows made by rule.", sources),), dropped=())
    write_release(made, meta(Sample({})), folder, "1.0.0")
    return folder / "sample" / "1.0.0"


def make_predictions(release: Path, path: Path) -> None:
    """A model that is right in a half of the rows, near in a quarter, else other."""

    def rows() -> Iterator[Prediction]:
        chance = np.random.default_rng(1)
        for file in sorted((release / "data").rglob("*.parquet")):
            table = pq.read_table(file, columns=["id", "prompt", "targets"])
            kinds = chance.random(table.num_rows).tolist()
            for kind, row in zip(kinds, table.to_pylist(), strict=True):
                right = row["targets"][int(kind * 100) % len(row["targets"])]
                text = right if kind < 0.5 else f"The {right}, of course"
                text = text if kind < 0.75 else f"Somebody {int(kind * 1e6)} else"
                yield Prediction(
                    id=row["id"], prompt_sha256=prompt_hash(row["prompt"]), prediction=text
                )

    write(path, rows())


def loop(release: Path, path: Path) -> dict[tuple[str, str], tuple[int, float, float]]:
    """Stratum and value -> rows, and the means of exact match and F1."""
    rows = {}
    for file in sorted((release / "data").rglob("*.parquet")):
        wanted = ["id", "targets", "split", "period", "relation", "template"]
        for row in pq.read_table(file, columns=wanted).to_pylist():
            rows[row["id"]] = row
    sums: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0, 0.0, 0.0])
    with path.open() as lines:
        for line in lines:
            given = json.loads(line)
            row = rows[given["id"]]
            exact = exact_match(given["prediction"], row["targets"])
            best = f1(given["prediction"], row["targets"])
            strata = [(name, row[name]) for name in ("split", "period", "relation", "template")]
            for stratum in (("all", "all"), *strata):
                cell = sums[stratum]
                cell[0] += 1
                cell[1] += exact
                cell[2] += best
    return {key: (int(n), a / n, b / n) for key, (n, a, b) in sums.items()}


def agree(out: Path, expected: dict[tuple[str, str], tuple[int, float, float]]) -> int:
    """Check every mean that both have; how many."""
    table = pq.read_table(out / "scores.parquet").to_pylist()
    equal = 0
    for row in table:
        key = (row["stratum"], row["value"])
        if key in expected and row["split"] is None and row["metric"] in ("exact_match", "f1"):
            n, exact, best = expected[key]
            mean = exact if row["metric"] == "exact_match" else best
            assert row["n"] == n, (key, row)
            assert abs(row["mean"] - mean) < 2e-6, (key, row, mean)
            equal += 1
    return equal


def main(words: list[str]) -> int:
    """Measure both and print the ratio."""
    folder = BENCH / f"score-{ROWS}-{digest([c.name for c in columns(Cloze)])}"
    given, out = folder / "given.jsonl", folder / "scores"
    say = Figures()
    release = folder / "releases/sample/1.0.0"
    if not given.exists():
        make_release(folder / "releases")
        make_predictions(release, given)
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "factdrift",
        "score",
        release,
        "--predictions",
        given,
    ]
    [ours] = best([*command, "--out", out, "--cutoff", "2020-12-31"])
    gc.disable()
    wall, processor, expected = timed(lambda: loop(release, given))
    gc.enable()
    print(f"{ROWS:,} predictions, {agree(out, expected)} means are equal")
    say("plain loop", f"{wall:.1f} s, {processor:.1f} s of processor")
    ratio, peak = wall / ours.wall, ours.memory / 1e6
    say(f"scoring, x {ratio:.1f}", ours, ratio > 1, "faster than the loop")
    bound = f"< {MOST_SECONDS:.0f} s, {MOST_MEGABYTES:.0f} MB"
    good = ours.processor < MOST_SECONDS and peak < MOST_MEGABYTES
    say("  its time and memory", ours, good, bound)
    return say.missed
