"""Speed and memory of mining a dump: `make bench BENCHES=mine`.

A dump is made in `build/bench` in the layout of the real ones, of real entities
(`FACTDRIFT_DATA`), repeated with new ids, gzipped at the usual level. It is as dense as all of
Wikidata is thought to be: 12 statements about items with a time qualifier a MB of JSON (20 million
at the most in 1.7 TB) and, of the relations whose undated statements are kept, 57 (97 million, by
published counts of April 2025). The 635 entities of a minute of recent changes have 7 and 67;
well-known entities make up the rest. Every ratio is to isal decompressing the same file in the
same run and doing nothing else. Memory is the peak, over all processes of a run, of the sum of
their proportional set sizes.
"""

import gzip
import json
import re
import shutil
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyarrow.compute import field

from bench import BENCH, DATA, ROOT, Figures, best, own
from factdrift.builders.core.compressed import pieces
from factdrift.builders.facts.relations import load_relations
from factdrift.builders.wikidata import mine

SIZE = 900_000_000
QUARTERS = 4
DATED, OTHERS = 36, 8
"""A well-known entity stands in one of so many repetitions, by whether it has a time qualifier."""
TIMED = re.compile(rb'"P58[025]"')
KEYS = "type id labels descriptions aliases claims sitelinks lastrevid".split()
LEAST_SPEED = 450.0
"""MB of JSON a second, for one process beside its decompressing thread, reading."""
MOST_TO_ISAL = 2.0
"""Times isal's wall time alone, for two jobs, reading."""
MOST_FINISH = 0.1
"""Times of reading."""
MOST_MEMORY = 1000.0
"""MB, over all processes."""
MOST_GROWTH = 1.5
"""Times the memory of a quarter of the dump."""


def isal(dump: str) -> None:
    """Decompress a file and do nothing else."""
    from isal import igzip

    buffer = bytearray(8 << 20)
    with igzip.IGzipFile(dump) as file:  # type: ignore[no-untyped-call]
        while file.readinto(buffer):
            pass


def read(dump: str, out: str, jobs: str) -> dict[str, Any]:
    """Mine a dump; seconds of reading and of making tables, statements, and those with a time."""
    module: Any = mine
    finish, marks = module.finish, []

    def marked(*parts: Any, **options: Any) -> Any:
        marks.append(time.perf_counter())
        return finish(*parts, **options)

    module.finish = marked
    known = load_relations(ROOT / "templates")
    undated = [name for name, relation in known.items() if relation.undated == "keep"]
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=out) as folder:
        found = mine.mine(dump, Path(folder), undated=undated, jobs=int(jobs))
        ended = time.perf_counter()
        stated = (
            ~field("end_open") | field("start_first").is_valid() | field("start_last").is_valid()
        )
        return {
            "reading": marks[0] - began,
            "finish": ended - marks[0],
            "statements": found.counts["counts"]["statements"],
            "dated": pq.read_table(found.statements, filters=stated).num_rows,
        }


def documents(path: Path) -> list[bytes]:
    """The items of a file in the layout of the dumps: no spaces, ASCII, `\\/`."""
    lines = [line.strip(b"[], \r") for line in b"".join(pieces(path)).splitlines()]
    found = [known for line in lines if line and (known := json.loads(line)).get("type") == "item"]
    kept = [{key: known[key] for key in KEYS if key in known} for known in found]
    dumped = (json.dumps(made, separators=(",", ":")) for made in kept)
    return [text.replace("/", "\\/").encode() for text in dumped]


def entities() -> list[tuple[bytes, int]]:
    """Entity documents, each with how many repetitions have it once."""
    home = DATA / "wikidata"
    if not home.is_dir():
        print("no real entities: those of the sample, which are ten times denser in facts")
        paths = sorted(ROOT.glob("samples/wikidata/*.json.gz"))
        return [(line, 1) for path in paths for line in documents(path)]
    usual = documents(home / "samples/recentchanges-entities-2019-04-02.jsonl.bz2")
    famous = documents(home / "entities.jsonl.gz")
    often = [(line, DATED if TIMED.search(line) else OTHERS) for line in famous]
    return [*((line, 1) for line in usual), *often]


def quarter_of_dump(quarter: int, folder: Path) -> int:
    """Write one quarter of the dump as a gzip member of its own; its bytes of JSON."""
    known = []
    for line, often in entities():
        name = str(json.loads(line)["id"])
        pattern = re.compile(rb'"id":"' + name.encode() + rb'(?=["$])')
        known.append((pattern, int(name[1:]), line, often))
    copy, written = quarter, 0
    with gzip.open(folder / f"{quarter}.gz", "wb", compresslevel=6) as file:
        written += file.write(b"[\n" if quarter == 0 else b"")
        while written < SIZE / QUARTERS:
            for place, (pattern, number, line, often) in enumerate(known):
                if (place + copy) % often == 0 and written < SIZE / QUARTERS:
                    new = b'"id":"Q%d' % (number + copy * 200_000_000)
                    written += file.write(pattern.sub(new, line) + b",\n")
            copy += QUARTERS
        written += file.write(b"]\n" if quarter == QUARTERS - 1 else b"")
    return written


def make_dumps() -> list[tuple[Path, int]]:
    """Dumps of one, two and four quarters, each with its bytes of JSON; made once."""
    home, wanted = BENCH / "usual", (1, 2, 4)
    paths = [home / f"wikidata-20260420-{n}of4.json.gz" for n in wanted]
    sizes = home / "sizes.json"
    if not sizes.is_file():
        print(f"making {SIZE / 1e6:.0f} MB of JSON in {home}", flush=True)
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home) as name, ProcessPoolExecutor() as pool:
            folder = Path(name)
            made = [*pool.map(quarter_of_dump, range(QUARTERS), [folder] * QUARTERS)]
            for n, path in zip(wanted, paths, strict=True):
                with path.open("wb") as out:
                    for quarter in range(n):
                        with (folder / f"{quarter}.gz").open("rb") as source:
                            shutil.copyfileobj(source, out)
        sizes.write_text(json.dumps([sum(made[:n]) for n in wanted]))
    return list(zip(paths, json.loads(sizes.read_text()), strict=True))


def main(words: list[str]) -> int:
    """Measure, print a line for each figure; 1 where a bound is missed."""
    say, dumps = Figures(), make_dumps()
    dump, size = dumps[-1]
    with tempfile.TemporaryDirectory(dir=BENCH) as out:
        commands = [own("mine:read", dump, out, jobs) for jobs in (1, 2)]
        alone, *runs = best(own("mine:isal", dump), *commands)
        say(f"isal alone, {size / 1e6:.0f} MB of JSON", f"{alone.wall:.2f} s")
        for jobs, run in enumerate(runs, 1):
            made = run.answer
            say(f"whole run, {jobs} job(s)", run)
            rate, ratio = size / 1e6 / made["reading"], made["reading"] / alone.wall
            good = rate >= LEAST_SPEED if jobs == 1 else ratio <= MOST_TO_ISAL
            bound = f">= {LEAST_SPEED:.0f} MB/s" if jobs == 1 else f"<= {MOST_TO_ISAL} x isal"
            say("  reading", f"{rate:.0f} MB/s, {ratio:.2f} x isal", good, bound)
            share = made["finish"] / made["reading"]
            figure = f"{made['finish']:.2f} s, {share:.2f} of reading"
            say("  making the tables", figure, share <= MOST_FINISH, f"<= {MOST_FINISH}")
        say("statements a MB of JSON", f"{1e6 * runs[0].answer['statements'] / size:.1f}")
        say("  with a time", f"{1e6 * runs[0].answer['dated'] / size:.1f}")
        for jobs in (1, 2):
            found = best(*(own("mine:read", path, out, jobs) for path, _ in dumps), rounds=1)
            peaks = [one.memory / 1e6 for one in found]
            figure = ", ".join(f"{p:.0f}" for p in peaks) + " MB"
            good = max(peaks) < MOST_MEMORY and peaks[-1] <= MOST_GROWTH * peaks[0]
            bound = f"< {MOST_MEMORY:.0f}, flat"
            say(f"memory at 1/4, 1/2 and 1 x, {jobs} job(s)", figure, good, bound)
    return say.missed
