"""Time and memory of work by people: batches of many HITs, and results of many submissions.

    python -m bench.people [HITs]

`factdrift hits` makes a batch of `judge_question`, cut to five items in a HIT as most layouts have
them, from JSON lines and from Parquet, and `factdrift judgments` reads what three workers hand in
for each of its HITs; each at a quarter, a half and all of the size, in processes of their own.
Exits 1 where 20,000 HITs take more than 60 s or 500 MB, or where time or memory grow faster than
the input. Seconds are those of the processor, which other work on the machine moves less.
"""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from factdrift.annotation.batch import LAYOUT_COPY, read_batch
from factdrift.annotation.layout import find_layout, load_layout
from factdrift.annotation.submission import FORMAT
from tests.rehearsal import answers_to

LAYOUT, ITEMS = "judge_question", 5
HITS = 20_000
PARTS = (4, 2, 1)
MOST_SECONDS, MOST_MEGABYTES = 60.0, 500.0
MOST_GROWTH = 1.35
"""Of what twice the input costs, over twice what it costs."""
WORKERS = 400
WORDS = (
    "who what which city team year won led signed opened moved named first last great old".split()
)
RUN = "import sys; from factdrift.builders.cli import main; main()"


class Spent(NamedTuple):
    """Wall and processor seconds, and the most megabytes, of one process."""

    seconds: float
    cpu: float
    megabytes: float


def question_rows(count: int) -> Iterator[dict[str, Any]]:
    """Rows as a release of StreamingQA has them, with questions of twelve words."""
    draw = random.Random(1)
    for n in range(count):
        asked = " ".join(draw.choices(WORDS, k=11))
        day = date(2020, 1, 1) + timedelta(n % 366)
        yield {"id": f"{n:016x}", "question": f"{asked.capitalize()} {n}?", "question_ts": f"{day}"}


def write_rows(count: int, lines: Path, table: Path) -> None:
    """The same rows as JSON lines and as Parquet."""
    rows = [*question_rows(count)]
    with lines.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    pq.write_table(pa.Table.from_pylist(rows), table)


def write_layout(folder: Path) -> Path:
    """The layout with fewer items in a HIT."""
    shutil.copytree(find_layout(LAYOUT), folder / LAYOUT)
    path = folder / LAYOUT / "layout.yaml"
    text = re.sub(r"(?m)^items_per_hit: .*$", f"items_per_hit: {ITEMS}", path.read_text("utf-8"))
    path.write_text(text, "utf-8")
    return path.parent


def write_results(batch: Path, path: Path) -> int:
    """What three workers hand in for each HIT; how many submissions."""
    whole, layout = read_batch(batch), load_layout(str(batch / LAYOUT_COPY))
    draw, n = random.Random(2), 0
    with path.open("w", encoding="utf-8") as file:
        for hit in whole.hits:
            for worker in draw.sample(range(WORKERS), layout.assignments):
                n += 1
                answers = {item.id: answers_to(LAYOUT, layout, item) for item in hit.items}
                one: dict[str, Any] = {
                    "format": FORMAT,
                    "batch": whole.id,
                    "hit": hit.id,
                    "answers": answers,
                }
                one |= {"worker": f"worker-{worker}", "assignment": f"session-{n}", "seconds": 200}
                file.write(json.dumps(one) + "\n")
    return n


def run(folder: Path, *words: str) -> Spent:
    """A command of ours, in a process of its own."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, *words], cwd=folder, stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"factdrift {' '.join(words)}: exit {process.returncode}")
    cpu = used.ru_utime + used.ru_stime
    return Spent(time.perf_counter() - began, cpu, used.ru_maxrss / 1024)


def said(what: str, spent: Spent) -> None:
    print(
        f"{what}: {spent.seconds:.1f} s ({spent.cpu:.1f} s of processor time), "
        f"peak {spent.megabytes:.0f} MB",
        flush=True,
    )


def grows(what: str, found: list[Spent]) -> bool:
    """Whether twice the input costs more than a little over twice as much."""
    pairs = [
        (two.cpu / one.cpu / 2, two.megabytes / one.megabytes / 2) for one, two in pairwise(found)
    ]
    text = ", ".join(f"{time:.2f} of time and {memory:.2f} of memory" for time, memory in pairs)
    print(f"{what}: for each doubling, over twice: {text}", flush=True)
    return any(max(pair) > MOST_GROWTH for pair in pairs)


def main() -> int:
    """Measure all of them."""
    hits = int(sys.argv[1]) if len(sys.argv) > 1 else HITS
    missed = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        layout = write_layout(folder)
        spent: dict[str, list[Spent]] = {"hits, JSON lines": [], "hits, Parquet": [], "results": []}
        for part in PARTS:
            count = hits // part
            lines, table = folder / "rows.jsonl", folder / "rows.parquet"
            write_rows(count * ITEMS, lines, table)
            for kind, path in (("JSON lines", lines), ("Parquet", table)):
                shutil.rmtree(folder / "hits", ignore_errors=True)
                words = ("hits", str(layout), "--dataset", str(path), "--n", str(count * ITEMS))
                found = run(folder, *words)
                said(f"{count:,} HITs from {kind}", found)
                spent[f"hits, {kind}"].append(found)
                large = count >= HITS
                missed |= large and found.cpu > MOST_SECONDS
                missed |= large and found.megabytes > MOST_MEGABYTES
            number = write_results(folder / "hits" / LAYOUT / "0001", folder / "results.jsonl")
            shutil.rmtree(folder / "judgments", ignore_errors=True)
            found = run(folder, "judgments", "results.jsonl")
            said(f"{number:,} submissions of {ITEMS} items and a known one", found)
            spent["results"].append(found)
        for what, all_of in spent.items():
            missed |= grows(what, all_of)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
