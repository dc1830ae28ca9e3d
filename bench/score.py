"""Speed of scoring: a million predictions against a release, and a plain Python loop over them.

The release is made of rows by rule: facts of a hundred thousand subjects in eight quarters, with
one to three names each. The loop is the common way to score: it reads both files, looks up each
prediction, takes the best exact match and F1 over the answers, and adds them up by stratum. It
makes no intervals, checks no prompts and gives no verdicts, all of which scoring does. The two
must agree on every mean. Scoring runs as the command does, in a process of its own.
Run: `python -m bench.score`; exits 1 where scoring is slower than the loop, or takes more than
10 seconds or 500 MB on an idle machine of two cores.
"""

import gc
import json
import resource
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench import BENCH
from factdrift.builders.core.dates import Period, periods
from factdrift.builders.core.hashing import digest
from factdrift.builders.core.schema import arrow_schema, columns
from factdrift.builders.release import manifest
from factdrift.builders.rows import Cloze
from factdrift.builders.text.squad import exact_match, f1
from factdrift.scoring.predictions import Prediction, prompt_hash, write

ROWS = 1_000_000
WINDOW = periods(Period.parse("2020Q1"), Period.parse("2021Q4"))
MOST_SECONDS, MOST_MEGABYTES = 10.0, 500.0
PER_PAIR = len(WINDOW)
RELATIONS = ("P54", "P39", "P108", "P102", "P286", "P69", "P488", "P6")
PLACES = ("Turin", "São Paulo", "the North", "Lower Saxony", "Łódź", "St. John's", "Osaka", "Lima")
SCORE = "from factdrift.builders.cli import main; main()"


def make_release(folder: Path, rows: int) -> None:
    """`rows` rows of the type `Cloze`, a split a quarter; a third of the pairs change once."""
    chance = np.random.default_rng(0)
    pairs = rows // PER_PAIR
    first, second = (chance.integers(0, 50_000, pairs) for _ in range(2))
    changes = np.where(chance.random(pairs) < 1 / 3, chance.integers(1, PER_PAIR, pairs), PER_PAIR)
    names = pa.array([f"{PLACES[n % 8]} Club {n} F.C." for n in range(50_000)])
    short = pa.array([f"C.{n}" for n in range(50_000)])
    size = n_aliases = chance.integers(0, 3, 50_000)
    ends = np.concatenate(([0], np.cumsum(n_aliases)))
    inside = np.arange(ends[-1]) - np.repeat(ends[:-1], size)
    owner = np.repeat(np.arange(50_000), size)
    further = pa.array([f"the {n} of {PLACES[k]}" for n, k in zip(owner, inside, strict=True)])
    aliases = pa.ListArray.from_arrays(pa.array(ends, pa.int32()), further)
    answer_type = arrow_schema(Cloze).field("answers").type.value_type
    things = pa.StructArray.from_arrays(
        [short, names, aliases.cast(answer_type.field(2).type)], fields=list(answer_type)
    )
    texts = pa.array(
        [[n, *a] for n, a in zip(names.to_pylist(), aliases.to_pylist(), strict=True)],
        arrow_schema(Cloze).field("targets").type,
    )
    splits = []
    for number, period in enumerate(WINDOW):
        now, before = (np.where(changes <= at, second, first) for at in (number, number - 1))
        one_each = pa.array(np.arange(pairs + 1), pa.int32())
        listed = [
            pa.ListArray.from_arrays(one_each, things.take(pa.array(at))) for at in (now, before)
        ]
        person = [f"Person {n}" for n in range(pairs)]
        relation = pa.array(RELATIONS).take(pa.array(np.arange(pairs) % len(RELATIONS)))
        made = {
            "id": [f"{n * PER_PAIR + number:016x}" for n in range(pairs)],
            "prompt": [f"In {period}: {name} plays for _X_." for name in person],
            "targets": texts.take(pa.array(now)),
            "subject": [f"Q{n}" for n in range(pairs)],
            "subject_label": person,
            "relation": relation,
            "template": relation,
            "period": [str(period)] * pairs,
            "period_first": [period.first] * pairs,
            "period_last": [period.last] * pairs,
            "split": pa.array(["unchanged", "updated"]).take(pa.array((now != before) * 1)),
            "answers": listed[0],
            "previous_answers": listed[1],
            "sitelinks": chance.zipf(1.5, pairs).clip(0, 400),
            "views": [["multi_token"]] * pairs,
        }
        path = folder / f"data/all/{period}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays = [_column(field, made.get(field.name), pairs) for field in arrow_schema(Cloze)]
        pq.write_table(pa.Table.from_arrays(arrays, schema=arrow_schema(Cloze)), path)
        splits.append({"name": str(period), "file": f"data/all/{period}.parquet", "rows": pairs})
    described = [
        {"name": c.name, "type": "", "nullable": False, "rendered": False, "description": ""}
        for c in columns(Cloze)
    ]
    configs = [{"name": "all", "description": "", "columns": described, "splits": splits}]
    nothing: dict[str, object] = {"libraries": {}, "parameters": {}, "inputs": [], "drops": []}
    nothing["figures"] = []
    texts_of = ("dataset", "title", "version", "canary", "builder", "code_version", "licence")
    said = dict.fromkeys(texts_of, "bench") | {"rebuild": "", "published": date(2022, 1, 1)}
    made_by = {"seed": 0, "recipe_sha256": "0" * 64, "files": []}
    manifest.save(
        manifest.Manifest.model_validate({**said, **made_by, **nothing, "configs": configs}), folder
    )


def _column(field: pa.Field, values: object, size: int) -> pa.Array:
    if isinstance(values, pa.Array):
        return values.cast(field.type)
    if values is not None:
        return pa.array(values, field.type)
    if pa.types.is_list(field.type):
        return pa.array([[]] * size, field.type)
    return pa.array([0 if pa.types.is_integer(field.type) else ""] * size, field.type)


def make_predictions(release: Path, path: Path) -> None:
    """A model that is right in a half of the rows, says something near in a quarter, else other."""

    def rows() -> Iterator[Prediction]:
        chance = np.random.default_rng(1)
        for file in sorted((release / "data/all").iterdir()):
            table = pq.read_table(file, columns=["id", "prompt", "targets"])
            kinds = chance.random(table.num_rows).tolist()
            for kind, row in zip(kinds, table.to_pylist(), strict=True):
                right = row["targets"][int(kind * 100) % len(row["targets"])]
                said = right if kind < 0.5 else f"The {right}, of course"
                said = said if kind < 0.75 else f"Somebody {int(kind * 1e6)} else"
                yield Prediction(
                    id=row["id"], prompt_sha256=prompt_hash(row["prompt"]), prediction=said
                )

    write(path, rows())


def loop(release: Path, path: Path) -> dict[tuple[str, str], tuple[int, float, float]]:
    """Stratum and value -> rows, and the means of exact match and F1."""
    rows = {}
    for file in sorted((release / "data/all").iterdir()):
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
    same = 0
    for row in table:
        key = (row["stratum"], row["value"])
        if key in expected and row["split"] is None and row["metric"] in ("exact_match", "f1"):
            n, exact, best = expected[key]
            mean = exact if row["metric"] == "exact_match" else best
            assert row["n"] == n, (key, row)
            assert abs(row["mean"] - mean) < 2e-6, (key, row, mean)
            same += 1
    return same


def main() -> int:
    """Measure both and print the ratio."""
    folder = BENCH / f"score-{ROWS}-{digest([c.name for c in columns(Cloze)])}"
    release, given, out = folder / "release", folder / "given.jsonl", folder / "scores"
    if not given.exists():
        make_release(release, ROWS)
        make_predictions(release, given)
    words = ["factdrift", "score", str(release), "--predictions", str(given), "--out", str(out)]
    words += ["--cutoff", "2020-12-31"]
    spent = []
    for _ in range(3):
        begun = time.perf_counter()
        code = f"import sys; sys.argv = {words!r}; {SCORE}"
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
        spent.append(time.perf_counter() - begun)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds, peak = sorted(spent)[1], used.ru_maxrss / 1024
    gc.disable()
    begun, cpu = time.perf_counter(), time.process_time()
    expected = loop(release, given)
    looped, looped_cpu = time.perf_counter() - begun, time.process_time() - cpu
    gc.enable()
    same = agree(out, expected)
    ours_cpu = (used.ru_utime + used.ru_stime) / 3
    print(
        f"{ROWS:,} predictions: {seconds:.1f} s (median of 3; {ours_cpu:.1f} s of processor time), "
        f"peak {peak:.0f} MB; plain loop {looped:.1f} s ({looped_cpu:.1f}): "
        f"ratio {looped / seconds:.1f}; {same} means equal"
    )
    return 0 if looped > seconds < MOST_SECONDS and peak < MOST_MEGABYTES else 1


if __name__ == "__main__":
    sys.exit(main())
