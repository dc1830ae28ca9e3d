"""Speed and memory of mining a dump: `python -m bench mine [MB]`.

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
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from bench import BENCH, DATA, ROOT, Figures, best, made, own
from factdrift.builders.core.compressed import pieces
from factdrift.builders.facts.relations import load_relations
from factdrift.builders.wikidata import mine

MEGABYTES = 900
DATED, OTHERS = 36, 8
"""A well-known entity stands in one of so many repetitions, by whether it has a time qualifier."""
TIMED = re.compile(rb'"P58[025]"')
KEYS = "type id labels descriptions aliases claims sitelinks lastrevid".split()
LEAST_SPEED = 400
"""MB of JSON a second, for one process beside its decompressing thread."""
LEAST_TO_ISAL = 0.45
"""The speed of two jobs, to isal alone."""


def isal(dump: str) -> None:
    """Decompress a file and do nothing else."""
    from isal import igzip

    buffer = bytearray(8 << 20)
    with igzip.IGzipFile(dump) as file:  # type: ignore[no-untyped-call]
        while file.readinto(buffer):
            pass


def read(dump: str, out: str, jobs: str) -> None:
    """Mine a dump."""
    relations = load_relations(ROOT / "templates")
    undated = [name for name, relation in relations.items() if relation.undated == "keep"]
    folder = Path(tempfile.mkdtemp(dir=out))
    mine.mine(dump, folder, undated=undated, jobs=int(jobs))


def documents(path: Path) -> list[bytes]:
    """The items of a file in the layout of the dumps: no spaces, ASCII, `\\/`."""
    lines = [line.strip(b"[], \r") for line in b"".join(pieces(path)).splitlines()]
    items = [
        document for line in lines if line and (document := json.loads(line)).get("type") == "item"
    ]
    trimmed_items = [{key: document[key] for key in KEYS if key in document} for document in items]
    dumped = (json.dumps(trimmed_item, separators=(",", ":")) for trimmed_item in trimmed_items)
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


def make(size: int) -> tuple[Path, int]:
    """A dump of about so many bytes of JSON, and how many it has."""
    name = "wikidata-20260420-all.json.gz"

    def write(folder: Path) -> int:
        lines, written = repeated(), 0
        with gzip.open(folder / name, "wb", compresslevel=6) as file:
            file.write(b"[\n")
            while written < size:
                written += file.write(next(lines))
            file.write(b"]\n")
        return written

    folder, written = made(f"dump-{size // 1_000_000}MB", write)
    return folder / name, written


def repeated() -> Iterator[bytes]:
    """Lines of the entities again and again, with new ids each time."""
    patterns = []
    for line, often in entities():
        name = str(json.loads(line)["id"])
        pattern = re.compile(rb'"id":"' + name.encode() + rb'(?=["$])')
        patterns.append((pattern, int(name[1:]), line, often))
    for copy in count():
        for place, (pattern, number, line, often) in enumerate(patterns):
            if (place + copy) % often == 0:
                yield pattern.sub(b'"id":"Q%d' % (number + copy * 200_000_000), line) + b",\n"


def main(say: Figures, words: list[str]) -> None:
    """Measure, and print a line for each figure."""
    whole = int(words[0] if words else MEGABYTES) * 1_000_000
    dumps = [make(whole // share) for share in (4, 2, 1)]
    dump, size = dumps[-1]
    with tempfile.TemporaryDirectory(dir=BENCH) as out:
        isal_cost, one_job, two_jobs = best(
            own("mine:isal", dump), *(own("mine:read", dump, out, jobs) for jobs in (1, 2))
        )
        say("isal alone", isal_cost)
        speed = size / 1e6 / one_job.wall
        say("1 job, MB of JSON a second", f"{speed:.0f}", speed >= LEAST_SPEED, f">= {LEAST_SPEED}")
        say.against(isal_cost, "1 job", one_job, by="wall")
        say.against(isal_cost, "2 jobs", two_jobs, LEAST_TO_ISAL, by="wall")
        for jobs in (1, 2):
            say.flat(f"{jobs} job(s)", (own("mine:read", path, out, jobs) for path, _ in dumps))
