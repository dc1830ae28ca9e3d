"""Speed of the news archive reader and of the question dates.

The loop is the plain way with the standard library: gzip, lines split at tabs, base64 of the
split text, sha256 of the third field, ids in a set. It checks and writes nothing. The reader is
the whole of `index`: it checks, counts sentences, leaves out duplicates and writes sorted
Parquet; modules are imported before the clock starts. "One core" pins either to one core,
threads that decompress included.

The archive has 470 MB of lines in four yearly files, compressed as real ones are (about a fifth;
news in this format has 4.1 to 4.8). Its articles are sentences of real news (FACTDRIFT_DATA, else
../shared/data, else the samples) drawn by a seeded generator up to the lengths of real ones, 6.4
kB a line; one in a hundred is there twice.

Run: `python -m bench.wmt [MB]`; exits 1 where the reader on one core is not twice as fast as the
loop, is not faster with two, or memory grows with the archive.
"""

import base64
import gzip
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import date, timedelta
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute  # the reader uses it: imported before the clock starts
import pyarrow.parquet as pq

from bench import DATA, ROOT
from factdrift.builders.core.schema import arrow_schema
from factdrift.builders.rows import ArticleRef
from factdrift.builders.wmt.dates import Amount, DateSettings, draws
from factdrift.builders.wmt.index import index

MEGABYTES = 470
YEARS = (2016, 2017, 2018, 2019)
LENGTHS = (500, 4200)
"""Bytes of text of the shortest and the longest article."""
ARTICLES = 11_400_000 // 8
DRAWS = 1_000_000
REPEATS = 3


def news() -> list[Path]:
    """The archives to repeat."""
    real = DATA / "news"
    folder = real if real.is_dir() else ROOT / "samples" / "news"
    return sorted(folder.glob("news-docs.*.filtered.gz"))


def sentences() -> list[bytes]:
    """Those of real news."""
    found = []
    for path in news():
        with gzip.open(path) as lines:
            for line in lines:
                found += base64.b64decode(line.split(b"\t")[1]).split(b"\n")
    return found


def articles(size: int, year: int) -> Iterator[bytes]:
    """Lines of one year, about `size` bytes of them, in the order of days."""
    rng = random.Random(year)
    known = sentences()
    days = [date(year, 1, 1) + timedelta(n) for n in range(365)]
    done = number = 0
    while done < size:
        some = [b"%d" % number]
        length = rng.randint(*LENGTHS)
        while length > 0:
            some.append(rng.choice(known))
            length -= len(some[-1])
        day = days[min(done * 365 // size, 364)]
        split, whole = base64.b64encode(b"\n".join(some)), base64.b64encode(b" ".join(some))
        line = b"%s\t%s\t%s\n" % (day.strftime("%Y%m%d").encode(), split, whole)
        for _ in range(2 if number % 100 == 0 else 1):
            yield line
            done += len(line)
        number += 1


def make(folder: Path, size: int) -> tuple[int, int]:
    """An archive of about `size` bytes of lines in four files; bytes of lines, and of files."""
    folder.mkdir()
    lines = 0
    for year in YEARS:
        path = folder / f"news-docs.{year}.en.filtered.gz"
        with gzip.open(path, "wb", compresslevel=6) as out:
            for line in articles(size // len(YEARS), year):
                lines += out.write(line)
    return lines, sum(p.stat().st_size for p in folder.iterdir())


def plain(path: str, out: str) -> int:
    """The loop over lines; the number of articles."""
    seen = set()
    for file in sorted(Path(path).iterdir()):
        with gzip.open(file) as lines:
            for line in lines:
                day, split, whole = line.rstrip(b"\n").split(b"\t")
                base64.b64decode(split)
                seen.add((day, hashlib.sha256(whole).hexdigest()))
    return len(seen)


def reader(path: str, out: str, jobs: int, near: bool = False) -> int:
    """The whole of `index`; the number of articles."""
    counts = index(path, Path(out), jobs=jobs, near_duplicates=0.8 if near else 0)
    return int(counts["articles"])


def question_dates(path: str, out: str) -> int:
    """A million draws; how many there are."""
    half = Amount(recent=DRAWS // 2, past=DRAWS // 2)
    none = Amount(recent=0, past=0)
    draws(Path(path), Path(out), DateSettings(eval=half, train=none, valid=none), 1)
    return int(pq.read_metadata(Path(out) / "draws.parquet").num_rows)


TASKS = {
    "plain": plain,
    "reader 1": lambda path, out: reader(path, out, 1),
    "reader 2": lambda path, out: reader(path, out, 2),
    "near 2": lambda path, out: reader(path, out, 2, True),
    "dates": question_dates,
}


def measured(task: str, path: Path, cores: int, folder: Path) -> dict[str, Any]:
    """Seconds, greatest memory (MB, processes it started added) and answer of a fresh process."""
    words = [sys.executable, "-m", "bench.wmt", "--task", task, path, cores, folder / "out"]
    done = subprocess.run(
        [str(w) for w in words], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def best(task: str, path: Path, cores: int, folder: Path) -> dict[str, Any]:
    """The fastest of a few runs: other work on the machine only ever slows one down."""
    runs = [measured(task, path, cores, folder) for _ in range(REPEATS)]
    return min(runs, key=lambda r: float(r["seconds"]))


def run_task(task: str, path: str, cores: str, out: str) -> None:
    """What `measured` starts."""
    import resource

    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(cores)])
    began = time.perf_counter()
    answer = TASKS[task](path, out)
    took = time.perf_counter() - began
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    memory = sum(resource.getrusage(kind).ru_maxrss for kind in kinds) / 1024
    print(json.dumps({"seconds": took, "memory": memory, "answer": answer}))


def table_of_articles(path: Path) -> Path:
    """An eighth as many articles as WMT has, over all days of 2007 to 2020."""
    rng = np.random.default_rng(1)
    days = np.sort(rng.integers(0, 14 * 365, ARTICLES))
    start = date(2007, 1, 1)
    known = [start + timedelta(n) for n in range(14 * 365)]
    sha = [rng.bytes(32).hex() for _ in range(ARTICLES)]
    columns = [
        [f"{known[d]:%Y%m%d}{'0' * 12}\0\1{s}\0\1" for d, s in zip(days, sha, strict=True)],
        [known[d] for d in days],
        *([0] * ARTICLES, ["f"] * ARTICLES, range(ARTICLES), [9] * ARTICLES),
        sha,
    ]
    schema = arrow_schema(ArticleRef)
    arrays = [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), path, row_group_size=65_536)
    return path


def main(megabytes: int) -> int:
    """Print the figures; 1 where one misses its mark.

    What is read is made in a process of its own: a process's greatest memory counts from that of
    the one that started it.
    """
    apart = ProcessPoolExecutor(1, get_context("spawn"))
    with tempfile.TemporaryDirectory() as temporary, apart:
        folder = Path(temporary)
        size = megabytes * 1_000_000
        lines, packed = apart.submit(make, folder / "whole", size).result()
        for share in (2, 4):
            apart.submit(make, folder / f"{share}", size // share).result()
        whole = folder / "whole"
        print(f"{lines / 1e6:.0f} MB of lines, {lines / packed:.2f} times as long as their files")
        runs = {
            "plain loop, one core": best("plain", whole, 1, folder),
            "reader, one core": best("reader 1", whole, 1, folder),
            "reader, two cores": best("reader 1", whole, 2, folder),
            "reader, two processes": best("reader 2", whole, 2, folder),
        }
        base, one, two, _ = runs.values()
        print(f"{base['answer']:,} articles, best of {REPEATS}")
        for name, found in runs.items():
            ratio = base["seconds"] / found["seconds"]
            print(f"{name:22} {found['seconds']:6.2f} s  x{ratio:.2f}  {found['memory']:.0f} MB")
        parts = {p: measured("reader 1", folder / f"{p}", 2, folder)["memory"] for p in (4, 2)}
        print(f"memory: a quarter {parts[4]:.0f} MB, a half {parts[2]:.0f} MB, ", end="")
        print(f"the whole {two['memory']:.0f} MB")
        near = measured("near 2", folder / "4", 2, folder)
        rate = near["answer"] / near["seconds"]
        print(f"near-duplicates too, two processes: {rate:,.0f} articles a second")
        table = apart.submit(table_of_articles, folder / "articles.parquet").result()
        dates = best("dates", table, 2, folder)
        print(f"{dates['answer']:,} question dates: {dates['seconds']:.2f} s, ", end="")
        print(f"{dates['memory']:.0f} MB")
    fastest = min(two["seconds"], runs["reader, two processes"]["seconds"])
    good = (
        len({r["answer"] for r in runs.values()}) == 1
        and base["seconds"] >= 2 * one["seconds"]
        and fastest < one["seconds"]
        and two["memory"] < 1.2 * parts[4]
    )
    return 0 if good else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--task"]:
        run_task(*sys.argv[2:])
    else:
        sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else MEGABYTES))
