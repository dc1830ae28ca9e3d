"""Speed of scoring: a million predictions against a release, and a plain Python loop over them.

The rows are made by rule: facts of a hundred thousand subjects in eight quarters, with one to
three names each. The loop is the common way to score: it reads both files, looks up each
prediction, takes the best exact match and F1 over the answers, and adds them up by stratum. It
makes no intervals, checks no prompts and gives no verdicts, all of which scoring does. 1 where
scoring is slower than the loop, or takes more than 40 seconds of processor or 2 GB on an idle
machine of two cores.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq

from bench import Figures, best, made, timed
from bench.period_diff import RELATIONS
from factdrift.builders.core.dataset import Dataset, Table
from factdrift.builders.core.dates import Period, periods
from factdrift.builders.core.hashing import digest
from factdrift.builders.core.schema import batches, columns
from factdrift.builders.release.publish import write_release
from factdrift.builders.rows import Answer, Cloze
from factdrift.builders.text.prompts import merge_targets
from factdrift.builders.text.squad import exact_match, f1
from factdrift.scoring.predictions import Prediction, prompt_hash, write_predictions
from tests.release_sample import Sample, cloze, meta

ROWS = 1_000_000
WINDOW = periods(Period.parse("2020Q1"), Period.parse("2021Q4"))
STRATA = ("split", "period", "relation", "template")


def clozes(period: Period) -> Iterator[Cloze]:
    """The rows of a quarter, one a pair; a third of the pairs change once."""
    chance, quarter = Random(0), WINDOW.index(period)
    for n in range(ROWS // len(WINDOW)):
        change = chance.randint(1, 3 * len(WINDOW))
        object_number = [chance.randrange(50_000) for _ in range(2)][quarter >= change]
        label = f"São Paulo Club {object_number} F.C."
        aliases = tuple(
            f"the {name} of Łódź {object_number % 8}" for name in range(object_number % 3)
        )
        yield cloze(
            n,
            "updated" if quarter == change else "unchanged",
            str(period),
            id=f"{n * len(WINDOW) + quarter:016x}",
            relation=RELATIONS[n % 8],
            template=RELATIONS[n % 8],
            answers=(Answer(f"Q{object_number}", label, aliases),),
            targets=merge_targets([label], aliases),
            sitelinks=n % 400,
        )


def write_all(folder: Path) -> None:
    """A release with a split a quarter, and predictions."""
    sources = {
        str(period): partial(lambda period: batches(Cloze, clozes(period)), period)
        for period in WINDOW
    }
    dataset = Dataset(tables=(Table("all", Cloze, "Rows made by rule.", sources),), dropped=())
    write_release(dataset, meta(Sample({})), folder / "releases", "1.0.0")
    write_predictions(folder / "given.jsonl", predictions(folder / "releases/sample/1.0.0"))


def read(release: Path, *names: str) -> Iterator[dict[str, Any]]:
    """Columns of all rows."""
    for file in sorted(release.glob("data/**/*.parquet")):
        yield from pq.read_table(file, columns=["id", *names]).to_pylist()


def predictions(release: Path) -> Iterator[Prediction]:
    """A model that is right in a half of the rows, near in a quarter, else other."""
    for number, row in enumerate(read(release, "prompt", "targets")):
        right = row["targets"][number % len(row["targets"])]
        text = (right, right, f"The {right}, of course", f"Somebody {number} else")[
            number * 7919 % 4
        ]
        yield Prediction(id=row["id"], prompt_sha256=prompt_hash(row["prompt"]), prediction=text)


def loop(release: Path, path: Path) -> dict[tuple[str, str], tuple[float, float]]:
    """The plain way to score: means by stratum and value."""
    rows = {row["id"]: row for row in read(release, "targets", *STRATA)}
    sums: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0, 0.0, 0.0])
    with path.open() as lines:
        for prediction in map(json.loads, lines):
            row = rows[prediction["id"]]
            exact = exact_match(prediction["prediction"], row["targets"])
            best = f1(prediction["prediction"], row["targets"])
            for stratum in (("all", "all"), *((name, row[name]) for name in STRATA)):
                cell = sums[stratum]
                cell[0] += 1
                cell[1] += exact
                cell[2] += best
    return {
        key: (exact / row_count, best / row_count) for key, (row_count, exact, best) in sums.items()
    }


def main(say: Figures, words: list[str]) -> None:
    """Measure both, and print the ratio."""
    folder, _ = made(
        f"score-{ROWS}-{digest([column.name for column in columns(Cloze)])}", write_all
    )
    release, predictions_path = folder / "releases/sample/1.0.0", folder / "given.jsonl"
    command: list[str | Path] = [sys.executable, "-m", "factdrift", "score", release]
    command += [
        "--predictions",
        predictions_path,
        "--out",
        folder / "scores",
        "--cutoff",
        "2020-12-31",
    ]
    [ours] = best(command)
    looped = timed(loop, release, predictions_path)._replace(answer=None)
    say(f"plain loop over {ROWS:,} predictions", looped)
    say.against(looped, "scoring", ours, 1)
    good = ours.processor < 40 and ours.memory < 2e9
    say("  its time and memory", ours, good, "< 40 s, 2000 MB")
