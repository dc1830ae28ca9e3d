"""Speed of the news archive reader: `python -m bench wmt [MB]`.

The loop is the plain way with the standard library: gzip, lines split at tabs, base64 of the
split text, sha256 of the third field, ids in a set. It checks and writes nothing. The reader is
the unsplit of `index`: it checks, counts sentences, leaves out duplicates and writes sorted
Parquet, in one process: several work only on signatures of near-duplicates. "One core" pins loop
and reader to one core, threads that decompress included.

The archive has 480 MB of lines in four yearly files, compressed as real ones are (about a fifth;
news in this format has 4.1 to 4.8). Its articles are sentences of real news (FACTDRIFT_DATA, else
../shared/data, else the samples) drawn by a seeded generator up to the lengths of real ones, 6.4
kB a line; one in a hundred is there twice. 1 where the reader takes more processor time than the
loop, or memory grows with the archive.
"""

import base64
import gzip
import hashlib
import os
import random
import tempfile
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pyarrow.parquet as pq

from bench import BENCH, DATA, ROOT, Figures, best, cost, made, own
from factdrift.builders.wmt.index import index_archive

MEGABYTES = 480
YEARS = (2016, 2017, 2018, 2019)
LEAST_TO_PLAIN = 1.0
"""The reader does more than the loop, and takes no more processor time for it."""
LENGTHS = (500, 4200)
"""Bytes of text of the shortest and the longest article."""


def sentences() -> list[bytes]:
    """Those of the news to repeat."""
    real = DATA / "news"
    folder, sentences_read = real if real.is_dir() else ROOT / "samples" / "news", []
    for path in sorted(folder.glob("news-docs.*.filtered.gz")):
        with gzip.open(path) as lines:
            for line in lines:
                sentences_read += base64.b64decode(line.split(b"\t")[1]).split(b"\n")
    return sentences_read


def articles(size: int, year: int) -> Iterator[bytes]:
    """Lines of one year, about `size` bytes of them, in the order of days."""
    rng, seen_texts = random.Random(year), sentences()
    yielded = number = 0
    while yielded < size:
        chosen = [b"%d" % number]
        length = rng.randint(*LENGTHS)
        while length > 0:
            chosen.append(rng.choice(seen_texts))
            length -= len(chosen[-1])
        day = date(year, 1, 1) + timedelta(min(yielded * 365 // size, 364))
        texts = (base64.b64encode(between.join(chosen)) for between in (b"\n", b" "))
        line = b"\t".join([day.strftime("%Y%m%d").encode(), *texts]) + b"\n"
        for _ in range(2 if number % 100 == 0 else 1):
            yield line
            yielded += len(line)
        number += 1


def make(size: int) -> tuple[Path, int]:
    """An archive of four files, and its bytes of lines."""

    def write(folder: Path) -> int:
        lines = 0
        for year in YEARS:
            with gzip.open(folder / f"news-docs.{year}.en.filtered.gz", "wb", 6) as out:
                lines += sum(map(out.write, articles(size // len(YEARS), year)))
        return lines

    return made(f"news-{size // 1_000_000}MB", write)


def one_core(cores: str) -> None:
    """Keep this process and its threads to so many cores."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(cores)])


def plain(path: str) -> int:
    """The loop over lines on one core; the number of articles."""
    one_core("1")
    seen = set()
    for file in sorted(Path(path).iterdir()):
        with gzip.open(file) as lines:
            for line in lines:
                day, split, unsplit = line.rstrip(b"\n").split(b"\t")
                base64.b64decode(split)
                seen.add((day, hashlib.sha256(unsplit).hexdigest()))
    return len(seen)


def read(path: str, out: str, cores: str, jobs: str, near: str = "0") -> int:
    """The unsplit of `index`; the number of articles."""
    one_core(cores)
    index_archive(path, Path(out), jobs=int(jobs), near_duplicates=float(near))
    return int(pq.read_metadata(Path(out) / "articles.parquet").num_rows)


def main(say: Figures, words: list[str]) -> None:
    """Measure, and print a line for each figure."""
    size = int(words[0] if words else MEGABYTES) * 1_000_000
    folders = [make(size // share)[0] for share in (4, 2, 1)]
    with tempfile.TemporaryDirectory(dir=BENCH) as out:
        base, one = best(own("wmt:plain", folders[-1]), own("wmt:read", folders[-1], out, 1, 1))
        say(f"plain loop over {base.answer:,} articles", base)
        say.against(base, "reader, one core", one, LEAST_TO_PLAIN)
        say.flat("two cores", (own("wmt:read", folder, out, 2, 1) for folder in folders), 1.2)
        near = cost(own("wmt:read", folders[0], out, 2, 2, 0.8))
        say.against(base, "near-duplicates too, two processes", near)
