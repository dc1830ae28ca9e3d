"""Speed of scoring: predictions against a release of as many rows, beside a plain Python loop.

The rows are made by rule: facts of a hundred thousand subjects in eight quarters, with one to
three names each. The loop (`bench.score_loop`) is what one writes in an hour: it makes no
intervals, checks no prompts and gives no verdicts, all of which scoring does. Both are whole
processes that take turns, and must agree on the means of every split. A release is read whole even
for one prediction: that is measured, too. 1 where scoring a million takes more processor time than
the loop, or more than 500 MB, or where reading a million rows takes more than 2 seconds.
"""

import json
import sys
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq

from bench import ROOT, Figures, best, made
from bench.period_diff import RELATIONS
from factdrift.builders.core.dataset import Dataset, Table
from factdrift.builders.core.dates import Period, periods
from factdrift.builders.core.hashing import digest
from factdrift.builders.core.schema import batches, columns
from factdrift.builders.release.publish import write_release
from factdrift.builders.rows import Answer, Cloze
from factdrift.builders.text.prompts import merge_targets
from factdrift.scoring.predictions import Prediction, prompt_hash, write_predictions
from tests.release_sample import Sample, cloze, meta

SIZES = (100_000, 1_000_000)
"""Rows of a release, and predictions."""
WINDOW = periods(Period.parse("2020Q1"), Period.parse("2021Q4"))


def clozes(period: Period, row_count: int) -> Iterator[Cloze]:
    """The rows of a quarter, one a pair; a third of the pairs change once."""
    chance, quarter = Random(0), WINDOW.index(period)
    for n in range(row_count // len(WINDOW)):
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


def write_all(folder: Path, row_count: int) -> None:
    """A release with a split a quarter, predictions of all of its rows, and of one."""
    sources = {
        str(period): partial(lambda period: batches(Cloze, clozes(period, row_count)), period)
        for period in WINDOW
    }
    dataset = Dataset(tables=(Table("all", Cloze, "Rows made by rule.", sources),), dropped=())
    write_release(dataset, meta(Sample({})), folder / "releases", "1.0.0")
    release = folder / "releases/sample/1.0.0"
    write_predictions(folder / "given.jsonl", predictions(release))
    write_predictions(folder / "single.jsonl", islice(predictions(release), 1))


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


def main(say: Figures, words: list[str]) -> None:
    """Measure both at each size, and print the ratios."""
    columns_key = digest([column.name for column in columns(Cloze)])
    for row_count in SIZES:
        write = partial(write_all, row_count=row_count)
        folder, _ = made(f"score-{row_count}-{columns_key}", write)
        release, scores = folder / "releases/sample/1.0.0", folder / "scores"
        scoring: list[str | Path] = [sys.executable, "-m", "factdrift", "score", release]
        single = [*scoring, "--out", scores, "--partial", "--predictions", folder / "single.jsonl"]
        whole = [*scoring, "--out", scores, "--predictions", folder / "given.jsonl"]
        whole += ["--cutoff", "2020-12-31"]
        loop_path, means_path = ROOT / "bench/score_loop.py", folder / "means.json"
        plain: list[str | Path] = [
            sys.executable,
            loop_path,
            release,
            folder / "given.jsonl",
            means_path,
        ]
        reading, looped, ours = best(single, plain, whole)
        refuse_other_means(means_path, scores / "scores.json")
        is_bound = row_count == SIZES[-1]
        say(f"plain loop over {row_count:,} predictions", looped)
        say.against(looped, "scoring", ours, 1 if is_bound else 0)
        bound = "< 500 MB" if is_bound else ""
        say("  its memory", f"{ours.memory / 1e6:.0f} MB", not bound or ours.memory < 5e8, bound)
        bound = "< 2 s of processor" if is_bound else ""
        say("  a single prediction", reading, not bound or reading.processor < 2, bound)


def refuse_other_means(means_path: Path, scores_path: Path) -> None:
    """Raise `AssertionError` where the loop and scoring have other means of a split."""
    table = json.loads(scores_path.read_bytes())["table"]
    for place, loop_means in json.loads(means_path.read_bytes()).items():
        own_means = [
            mean["mean"]
            for name in ("exact_match", "f1")
            for mean in table
            if f"{mean['config']}/{mean['split']}" == place and mean["metric"] == name
        ]
        assert own_means == [round(mean, 6) for mean in loop_means], (place, own_means, loop_means)
