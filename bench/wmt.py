"""Speed of the news archive reader and of the question dates: `python -m bench wmt [MB]`.

The loop is the plain way with the standard library: gzip, lines split at tabs, base64 of the
split text, sha256 of the third field, ids in a set. It checks and writes nothing. The reader is
the unsplit of `index`: it checks, counts sentences, leaves out duplicates and writes sorted
Parquet. "One core" pins either to one core, threads that decompress included.

The archive has 470 MB of lines in four yearly files, compressed as real ones are (about a fifth;
news in this format has 4.1 to 4.8). Its articles are sentences of real news (FACTDRIFT_DATA, else
../shared/data, else the samples) drawn by a seeded generator up to the lengths of real ones, 6.4
kB a line; one in a hundred is there twice. 1 where the reader on one core is not twice as fast as
the loop, is not faster with two, or memory grows with the archive.
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

import numpy as np
import pyarrow as pa
import pyarrow.compute  # the reader uses it: imported before the clock starts
import pyarrow.parquet as pq

from bench import DATA, ROOT, Figures, best, cost, own
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
        split, unsplit = base64.b64encode(b"\n".join(some)), base64.b64encode(b" ".join(some))
        line = b"%s\t%s\t%s\n" % (day.strftime("%Y%m%d").encode(), split, unsplit)
        for _ in range(2 if number % 100 == 0 else 1):
            yield line
            done += len(line)
        number += 1


def make(folder: str, size: str) -> tuple[int, int]:
    """An archive of about `size` bytes of lines in four files; bytes of lines, and of files."""
    home = Path(folder)
    home.mkdir()
    lines = 0
    for year in YEARS:
        path = home / f"news-docs.{year}.en.filtered.gz"
        with gzip.open(path, "wb", compresslevel=6) as out:
            for line in articles(int(size) // len(YEARS), year):
                lines += out.write(line)
    return lines, sum(p.stat().st_size for p in home.iterdir())


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
    counts = index(path, Path(out), jobs=int(jobs), near_duplicates=float(near))
    return int(counts["articles"])


def table_of_articles(path: str) -> None:
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


def question_dates(path: str, out: str) -> int:
    """A million draws; how many there are."""
    half = Amount(recent=DRAWS // 2, past=DRAWS // 2)
    none = Amount(recent=0, past=0)
    draws(Path(path), Path(out), DateSettings(eval=half, train=none, valid=none), 1)
    return int(pq.read_metadata(Path(out) / "draws.parquet").num_rows)


def main(words: list[str]) -> int:
    """Print the figures; 1 where one misses its mark."""
    size, say = int(words[0] if words else MEGABYTES) * 1_000_000, Figures()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        lines, packed = cost(own("wmt:make", folder / "1", size)).answer
        for share in (2, 4):
            cost(own("wmt:make", folder / str(share), size // share))
        print(f"{lines / 1e6:.0f} MB of lines, {lines / packed:.2f} times as long as their files")
        everything, out = folder / "1", folder / "out"
        base, one, two, both = best(
            own("wmt:plain", everything),
            own("wmt:read", everything, out, 1, 1),
            own("wmt:read", everything, out, 2, 1),
            own("wmt:read", everything, out, 2, 2),
        )
        equal = len({run.answer for run in (base, one, two, both)}) == 1
        say("articles", f"{base.answer:,}", equal, "as many as of the plain loop")
        say("plain loop, one core", base)
        ratios = [base.wall / run.wall for run in (one, two, both)]
        say(f"reader, one core, x {ratios[0]:.2f}", one, ratios[0] >= 2, "x 2")
        faster = max(ratios[1:]) > ratios[0]
        say(f"reader, two cores, x {ratios[1]:.2f}", two)
        say(f"reader, two processes, x {ratios[2]:.2f}", both, faster, "two cores beat one")
        parts = [cost(own("wmt:read", folder / share, out, 2, 1)) for share in "42"]
        peaks = [run.memory / 1e6 for run in (*parts, two)]
        figure = ", ".join(f"{peak:.0f}" for peak in peaks) + " MB"
        say("memory at 1/4, 1/2 and 1 x", figure, peaks[-1] < 1.2 * peaks[0], "flat")
        near = cost(own("wmt:read", folder / "4", out, 2, 2, 0.8))
        say(f"near-duplicates too, {near.answer / near.wall:,.0f} articles a second", near)
        cost(own("wmt:table_of_articles", folder / "articles.parquet"))
        [dates] = best(own("wmt:question_dates", folder / "articles.parquet", out))
        say(f"{dates.answer:,} question dates", dates)
    return say.missed
