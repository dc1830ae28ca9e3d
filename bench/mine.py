"""Speed and memory of mining a dump, from the start of Python to the written tables.

Two dumps are made in `build/bench`, in the layout of the real ones, of real entities
(`FACTDRIFT_DATA`), whole, repeated with new ids, gzipped at the usual level. `usual` is as dense as
all of Wikidata is thought to be: 12 statements about items with a time qualifier a MB of JSON
(20 million at the most in 1.7 TB) and, of the relations whose undated statements are kept, 57
(97 million, by published counts of April 2025); the 635 entities of a minute of recent
changes have 7 and 67, and some well-known entities make up the rest. `dense` is well-known entities
alone; it has no bounds. The statements that were kept are printed. Every ratio is to
isal decompressing the same file in the same run and doing nothing else, so that a busy or slow
machine changes both. Each figure is the best of several rounds, taken in turn. `gzip -dc` into
npm's wikibase-dump-filter is measured too where that is installed, on the PATH or by
`npm install --prefix build/bench wikibase-dump-filter`. Memory is the peak, over all processes
of a run, of the sum of their proportional set sizes. Run: `python -m bench.mine`; exits 1 where
a bound is missed.
"""

import contextlib
import functools
import gzip
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from bench import BENCH, DATA, ROOT
from factdrift.builders.core.compressed import pieces
from factdrift.builders.facts.relations import load_relations

QUARTERS = 4
TIMED = re.compile(rb'"P58[025]"')
KEYS = (
    "type", "id", "labels", "descriptions", "aliases", "claims", "sitelinks", "lastrevid",
)  # fmt: skip
"""The members of a dump's line, in its order."""
RELATIONS = (
    "P54", "P39", "P108", "P102", "P286", "P69", "P488", "P6", "P279", "P127", "P1001", "P106",
    "P27", "P176", "P138", "P937",
)  # fmt: skip
ROUNDS = 3


class Mix(NamedTuple):
    """A dump: bytes of its JSON, and what it is made of.

    `usual`: whether every repetition has the 635 entities of a minute of recent changes; well-known
    entities with a time qualifier stand in one of `dated` repetitions, the others in one of
    `others`.
    """

    name: str
    size: int
    usual: bool
    dated: int
    others: int


MIXES = (Mix("usual", 900_000_000, True, 36, 8), Mix("dense", 300_000_000, False, 1, 1))
LEAST_SPEED = 450.0
"""MB of JSON a second, for one process beside its decompressing thread, reading."""
MOST_TO_ISAL = 2.0
"""Times isal's wall time alone, for two jobs, reading."""
MOST_FINISH = 0.1
"""Times of reading."""
MOST_TO_NPM = 1 / 5
MOST_MEMORY = 1000.0
"""MB, over all processes."""
MOST_GROWTH = 1.5
"""Times the memory of a quarter of the dump: rows wait for their part, and no more of them."""

ISAL = """
import sys, time
from isal import igzip
buffer = bytearray(8 << 20)
began = time.perf_counter()
with igzip.open(sys.argv[1], "rb") as f:
    while f.readinto(buffer):
        pass
print(time.perf_counter() - began)
"""
MINE = """
import resource, sys, time
from pathlib import Path
from factdrift.builders.wikidata import mine
dump, out, jobs, undated = sys.argv[1:]
marks = []
finish = mine.finish
def timed(*parts, **options):
    marks.append(time.perf_counter())
    return finish(*parts, **options)
mine.finish = timed
began = time.perf_counter()
mined = mine.mine(dump, Path(out), undated=undated.split(","), jobs=int(jobs))
ended = time.perf_counter()
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
processor = sum(one.ru_utime + one.ru_stime for one in used)
statements = mined.counts["counts"]["statements"]
import pyarrow.parquet as pq
from pyarrow.compute import field
timed = ~field("end_open") | field("start_first").is_valid() | field("start_last").is_valid()
dated = pq.read_table(mined.statements, filters=timed).num_rows
size = mined.statements.stat().st_size
print(marks[0] - began, ended - marks[0], processor, statements, dated, size, flush=True)
"""


def documents(path: Path) -> list[bytes]:
    """The entities of a file in the layout of the dumps: no spaces, ASCII, `\\/`.

    Redirects and properties are left out.
    """
    found = []
    for line in b"".join(pieces(path)).splitlines():
        line = line.strip(b"[], \r")
        known = json.loads(line) if line else {}
        if known.get("type") == "item":
            made = {key: known[key] for key in KEYS if key in known}
            found.append(json.dumps(made, separators=(",", ":")).replace("/", "\\/").encode())
    return found


def entities(mix: Mix) -> list[tuple[bytes, int]]:
    """Entity documents, each with how many repetitions have it once."""
    home = DATA / "wikidata"
    if not home.is_dir():
        lines = [x for p in sorted(ROOT.glob("samples/wikidata/*.json.gz")) for x in documents(p)]
        print("no real entities: those of the sample, which are ten times denser in facts")
        return [(line, 1) for line in lines]
    famous = documents(home / "entities.jsonl.gz")
    usual = documents(home / "samples/recentchanges-entities-2019-04-02.jsonl.bz2")
    return [(line, 1) for line in usual if mix.usual] + [
        (line, mix.dated if TIMED.search(line) else mix.others) for line in famous
    ]


def piece(quarter: int, mix: Mix, folder: Path) -> tuple[Path, int]:
    """One quarter of the dump as a gzip member of its own, and its bytes of JSON."""
    path = folder / f"piece-{quarter}.gz"
    known = []
    for line, often in entities(mix):
        name = str(json.loads(line)["id"])
        known.append(
            (re.compile(rb'"id":"' + name.encode() + rb'(?=["$])'), int(name[1:]), line, often)
        )
    written = 0
    with gzip.open(path, "wb", compresslevel=6) as f:
        written += f.write(b"[\n" if quarter == 0 else b"")
        copy = quarter
        while written < mix.size / QUARTERS:
            for place, (pattern, number, line, often) in enumerate(known):
                if (place + copy) % often:
                    continue
                new = number + copy * 200_000_000
                written += f.write(pattern.sub(b'"id":"Q%d' % new, line) + b",\n")
                if written >= mix.size / QUARTERS:
                    break
            copy += QUARTERS
        written += f.write(b"]\n" if quarter == QUARTERS - 1 else b"")
    return path, written


def make_dumps(mix: Mix) -> list[tuple[Path, int]]:
    """Dumps of one, two and four quarters, each with its bytes of JSON; made once."""
    wanted = (1, 2, 4)
    home = BENCH / mix.name
    paths = [home / f"wikidata-20260420-{n}of4.json.gz" for n in wanted]
    sizes = home / "sizes.json"
    if not sizes.is_file():
        print(f"making {mix.size / 1e6:.0f} MB of JSON in {home}")
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home) as name, ProcessPoolExecutor() as pool:
            done = [pool.submit(piece, q, mix, Path(name)) for q in range(QUARTERS)]
            pieces = [d.result() for d in done]
            for n, path in zip(wanted, paths, strict=True):
                with path.open("wb") as f:
                    for part, _ in pieces[:n]:
                        with part.open("rb") as source:
                            shutil.copyfileobj(source, f)
        sizes.write_text(json.dumps([sum(s for _, s in pieces[:n]) for n in wanted]))
    return list(zip(paths, json.loads(sizes.read_text()), strict=True))


def isal(dump: Path) -> float:
    """Seconds that isal alone takes to decompress."""
    command = [sys.executable, "-c", ISAL, str(dump)]
    return float(subprocess.run(command, check=True, capture_output=True).stdout)


@functools.cache
def undated() -> list[str]:
    """The relations of the templates whose undated statements are kept."""
    known = load_relations(ROOT / "templates")
    return [name for name, relation in known.items() if relation.undated == "keep"]


@contextlib.contextmanager
def mining(dump: Path, jobs: int) -> Iterator[subprocess.Popen[bytes]]:
    """A whole run in a process of its own, with an empty folder for the tables."""
    with tempfile.TemporaryDirectory(dir=BENCH) as out:
        command = [sys.executable, "-c", MINE, str(dump), out, str(jobs), ",".join(undated())]
        with subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            yield process
        if process.returncode or not Path(out, "mined.json").is_file():
            raise RuntimeError(f"the run failed with status {process.returncode}")


class Ours(NamedTuple):
    """Seconds of a run: all of it, reading, making tables, of the processor; rows kept.

    `dated` are the rows with a time; `size` is the bytes of the table.
    """

    whole: float
    reading: float
    finish: float
    processor: float
    statements: int
    dated: int
    size: int


def ours(dump: Path, jobs: int) -> Ours:
    """One whole run, from the start of Python."""
    began = time.perf_counter()
    with mining(dump, jobs) as process:
        told = process.communicate()[0].split()
    whole = time.perf_counter() - began
    reading, finish, processor = map(float, told[:3])
    return Ours(whole, reading, finish, processor, *map(int, told[3:]))


def memory(dump: Path, jobs: int) -> float:
    """Peak megabytes of a whole run and all its processes."""
    peak = 0
    with mining(dump, jobs) as process:
        while process.poll() is None:
            peak = max(peak, sum(proportional(pid) for pid in family(process.pid)))
            time.sleep(0.01)
    return peak / 1000


def family(pid: int) -> list[int]:
    """A process and all below it."""
    try:
        below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        below = []
    return [pid, *(p for child in below for p in family(int(child)))]


def proportional(pid: int) -> int:
    """Kilobytes of a process, memory shared with others divided among them."""
    with contextlib.suppress(OSError):
        found = re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M)
        return int(found[1]) if found else 0
    return 0


def dump_filter() -> str | None:
    """The program of the npm package, where it is installed."""
    local = BENCH / "node_modules/.bin/wikibase-dump-filter"
    return str(local) if local.exists() else shutil.which("wikibase-dump-filter")


def npm(dump: Path, program: str) -> float:
    """Seconds that the npm filter takes to keep entities with one of the relations."""
    began = time.perf_counter()
    with subprocess.Popen(["gzip", "-dc", str(dump)], stdout=subprocess.PIPE) as unzip:
        subprocess.run(
            [program, "--claim", "|".join(RELATIONS), "--keep", "id,labels,aliases,claims"],
            stdin=unzip.stdout,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )
    return time.perf_counter() - began


def best(*measures: Callable[[], Any]) -> list[Any]:
    """The least of several rounds of each, the measures taken in turn."""
    rounds = [[measure() for measure in measures] for _ in range(ROUNDS)]
    return [min(times) for times in zip(*rounds, strict=True)]


class Said:
    """Prints a line for each figure, and knows which bounds were missed."""

    def __init__(self) -> None:
        self.missed: list[str] = []

    def plain(self, label: str, figure: str) -> None:
        print(f"{label:42} {figure:>30}", flush=True)

    def bound(self, label: str, figure: str, good: bool, bound: str) -> None:
        print(f"{label:42} {figure:>30}   {'ok' if good else 'MISSED'} ({bound})", flush=True)
        self.missed += [] if good else [label]


def speed(mix: Mix, dump: Path, size: int, said: Said) -> Ours:
    """Say how fast a dump is read with one and with two jobs, beside isal; the run with two."""
    megabytes = size / 1e6
    print(f"{mix.name}: {megabytes:.0f} MB of JSON, {dump.stat().st_size / 1e6:.0f} MB gzipped")
    one: Ours
    two: Ours
    alone, one, two = best(lambda: isal(dump), lambda: ours(dump, 1), lambda: ours(dump, 2))
    said.plain("isal alone", f"{alone:.2f} s")
    said.plain("statements kept, a MB of JSON", f"{one.statements / megabytes:.1f}")
    said.plain("  with a time", f"{one.dated / megabytes:.1f}")
    said.plain("  bytes of the table each", f"{one.size / one.statements:.1f}")
    for jobs, run in ((1, one), (2, two)):
        figure = f"{run.whole:.2f} s, {run.processor:.2f} s of processor"
        said.plain(f"whole run, {jobs} job(s)", figure)
        rate, ratio = megabytes / run.reading, run.reading / alone
        reading = f"{rate:.0f} MB/s, {ratio:.2f} x isal"
        share = run.finish / run.reading
        finish = f"{run.finish:.2f} s, {share:.2f} of reading"
        if not mix.usual:
            said.plain("  reading", reading)
            said.plain("  making the tables", finish)
            continue
        good = rate >= LEAST_SPEED if jobs == 1 else ratio <= MOST_TO_ISAL
        bound = f">= {LEAST_SPEED:.0f} MB/s" if jobs == 1 else f"<= {MOST_TO_ISAL} x isal"
        said.bound("  reading", reading, good, bound)
        said.bound("  making the tables", finish, share <= MOST_FINISH, f"<= {MOST_FINISH}")
    return two


def main() -> int:
    """Measure, print a line for each figure; 1 where a bound is missed."""
    said = Said()
    usual, dense = MIXES
    dumps = make_dumps(usual)
    dump, size = dumps[-1]
    two = speed(usual, dump, size, said)
    program = dump_filter()
    if program:
        other = npm(dump, program)
        figure = f"{other:.1f} s, ours 1/{other / two.whole:.1f}"
        good = two.whole <= other * MOST_TO_NPM
        said.bound("gzip -dc | wikibase-dump-filter", figure, good, "ours <= 1/5")
    else:
        said.plain("gzip -dc | wikibase-dump-filter", "not installed")
    for jobs in (1, 2):
        peaks = [memory(path, jobs) for path, _ in dumps]
        figure = ", ".join(f"{p:.0f}" for p in peaks) + " MB"
        good = max(peaks) < MOST_MEMORY and peaks[-1] <= MOST_GROWTH * peaks[0]
        said.bound(
            f"memory at 1/4, 1/2 and 1 x, {jobs} job(s)", figure, good, f"< {MOST_MEMORY:.0f}, flat"
        )
    speed(dense, *make_dumps(dense)[-1], said)
    return 1 if said.missed else 0


if __name__ == "__main__":
    sys.exit(main())
