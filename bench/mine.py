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
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from bench import BENCH, DATA, ROOT, Figures, best, own
from factdrift.builders.core.compressed import pieces
from factdrift.builders.facts.relations import load_relations
from factdrift.builders.wikidata import mine

SIZE = 900_000_000
PARTS = (1, 2, 4)
"""Quarters of the whole in each of the dumps."""
DATED, OTHERS = 36, 8
"""A well-known entity stands in one of so many repetitions, by whether it has a time qualifier."""
TIMED = re.compile(rb'"P58[025]"')
KEYS = "type id labels descriptions aliases claims sitelinks lastrevid".split()
LEAST_SPEED = 400.0
"""MB of JSON a second, for one process beside its decompressing thread."""
MOST_TO_ISAL = 2.2
"""Times isal's wall time alone, for two jobs."""


def isal(dump: str) -> None:
    """Decompress a file and do nothing else."""
    from isal import igzip

    buffer = bytearray(8 << 20)
    with igzip.IGzipFile(dump) as file:  # type: ignore[no-untyped-call]
        while file.readinto(buffer):
            pass


def read(dump: str, out: str, jobs: str) -> int:
    """Mine a dump; the number of its statements."""
    known = load_relations(ROOT / "templates")
    undated = [name for name, relation in known.items() if relation.undated == "keep"]
    folder = Path(tempfile.mkdtemp(dir=out))
    found = mine.mine(dump, folder, undated=undated, jobs=int(jobs))
    return int(found.counts["counts"]["statements"])


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


def make_dumps() -> list[tuple[Path, int]]:
    """Dumps of one, two and four quarters, each with its bytes of JSON; made once."""
    home = BENCH / "dumps"
    sizes = home / "sizes.json"
    if not sizes.is_file():
        print(f"making {SIZE / 1e6:.0f} MB of JSON in {home}, once", flush=True)
        home.mkdir(parents=True, exist_ok=True)
        written, made = 0, {}
        lines = repeated()
        with (home / "quarters.gz").open("wb") as whole:
            for quarter in range(1, 5):
                with gzip.open(whole, "wb", compresslevel=6) as file:
                    written += file.write(b"[\n" if quarter == 1 else b"")
                    while written < SIZE * quarter / 4:
                        written += file.write(next(lines))
                    written += file.write(b"]\n" if quarter == 4 else b"")
                whole.flush()
                if quarter in PARTS:
                    name = f"wikidata-20260420-{quarter}of4.json.gz"
                    shutil.copyfile(whole.name, home / name)
                    made[name] = written
        sizes.write_text(json.dumps(made))
    return [(home / name, size) for name, size in json.loads(sizes.read_text()).items()]


def repeated() -> Iterator[bytes]:
    """Lines of the entities again and again, with new ids each time."""
    known = []
    for line, often in entities():
        name = str(json.loads(line)["id"])
        pattern = re.compile(rb'"id":"' + name.encode() + rb'(?=["$])')
        known.append((pattern, int(name[1:]), line, often))
    for copy in count():
        for place, (pattern, number, line, often) in enumerate(known):
            if (place + copy) % often == 0:
                yield pattern.sub(b'"id":"Q%d' % (number + copy * 200_000_000), line) + b",\n"


def main(say: Figures, words: list[str]) -> None:
    """Measure, and print a line for each figure."""
    dumps = make_dumps()
    dump, size = dumps[-1]
    with tempfile.TemporaryDirectory(dir=BENCH) as out:
        alone, one, two = best(
            own("mine:isal", dump), *(own("mine:read", dump, out, jobs) for jobs in (1, 2))
        )
        say(f"isal alone, {size / 1e6:.0f} MB of JSON", alone)
        rate = size / 1e6 / one.wall
        label = f"1 job, {rate:.0f} MB/s, {one.wall / alone.wall:.2f} x isal"
        say(label, one, rate >= LEAST_SPEED, f">= {LEAST_SPEED:.0f} MB/s")
        ratio = two.wall / alone.wall
        label = f"2 jobs, {size / 1e6 / two.wall:.0f} MB/s, {ratio:.2f} x isal"
        say(label, two, ratio <= MOST_TO_ISAL, f"<= {MOST_TO_ISAL} x isal")
        say("statements a MB of JSON", f"{1e6 * one.answer / size:.1f}")
        for jobs in (1, 2):
            say.flat(f"{jobs} job(s)", (own("mine:read", path, out, jobs) for path, _ in dumps))
