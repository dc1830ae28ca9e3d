"""Speed of aligning timelines with pages, against a plain loop that takes the first mention.

The pages are made: about 1,800 words, the mean of TimeQA's, in paragraphs, lists and an infobox,
with a link in every second sentence. Each subject has six segments; a third of the objects is
linked, a third named by label or alias, a sixth named only in part and a sixth nowhere. The loop
reads the same files, looks for each segment's label in each paragraph by `str.find` and writes
the first place as a JSON line: no aliases, no word boundaries, no dates, no similarity. Each
figure is the best of several rounds, taken in turn; those of files include reading and writing.
One core is measured in processor time, two jobs in wall time with the start of their processes.
Run: `python -m bench.align`; exits 1 where a bound is missed.
"""

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from factdrift.builders import rows
from factdrift.builders.core.schema import arrow_schema, batches
from factdrift.builders.timeqa.alignment import (
    Alignment,
    ObjectNames,
    align_file,
    align_page,
)

PAGES = 4_000
SEGMENTS = 6
ROUNDS = 2
MOST_TO_LOOP = 20.0
"""Times the loop's processor time from files to files, for one job."""
LEAST_GAIN = 1.3
"""Times one job's speed, for two."""

_ENDS = [a + b for a in ("ber", "dal", "kor", "mis", "ran", "tol", "ven") for b in "aeiou"]
_WORDS = [a + b for a in _ENDS for b in _ENDS]
_ADDED = ("F.C.", "United", "University", "Institute", "Party", "Inc.")


def name(chance: random.Random) -> str:
    """A name of two or three made-up words."""
    words = [w.capitalize() for w in chance.choices(_WORDS, k=chance.randint(1, 2))]
    return " ".join([*words, chance.choice(_ADDED)])


def sentence(chance: random.Random, named: str, day: str) -> tuple[str, int]:
    """A sentence that says a name and a date, and where the name begins."""
    left = " ".join(chance.choices(_WORDS, k=chance.randint(5, 9))).capitalize() + " "
    right = " ".join(chance.choices(_WORDS, k=chance.randint(5, 9)))
    return f"{left}{named} {right} {day}.", len(left)


def page(number: int, chance: random.Random) -> tuple[rows.Page, list[rows.NamedSegment]]:
    """A subject's page and its segments."""
    segments = list(timeline(number, chance))
    named = []
    for n, one in enumerate(segments):
        shown = (one.object_label, one.object_label, one.aliases[0], one.object_label.split()[0])
        text = shown[n % 4] if n < 5 else None
        if text:
            years = f"in {one.start_first:%Y}" if n % 2 else "later"
            named += [(text, years, one.object_title if n < 2 else None)] * 2
    while len(named) < 135:
        title = name(chance)
        named.append((title, f"in {chance.randint(1950, 2020)}", title))
    chance.shuffle(named)
    paragraphs: list[rows.Paragraph] = []
    for start in range(0, len(named), 4):
        kind: rows.ParagraphKind = "text"
        if start % 12 == 0:
            kind = "list" if start else "infobox"
        text, links = "", []
        for shown_text, day, title_of in named[start : start + (4 if kind == "text" else 1)]:
            more, at = sentence(chance, shown_text, day)
            text += " " if text else ""
            if title_of and (title_of != shown_text or chance.random() < 0.5):
                at += len(text)
                links.append(rows.Link(at, at + len(shown_text), title_of))
            text += more
        paragraphs.append(rows.Paragraph(kind, f"Section {start // 20}", text, tuple(links)))
    return rows.Page(f"Q{number}", name(chance), number, number, tuple(paragraphs)), segments


def timeline(number: int, chance: random.Random) -> Iterator[rows.NamedSegment]:
    """Segments one after another."""
    year = chance.randint(1950, 1990)
    for n in range(SEGMENTS):
        label = name(chance)
        length = chance.randint(1, 6)
        yield rows.NamedSegment(
            subject=f"Q{number}",
            relation="P54",
            object=f"Q{n + 1}",
            start_first=date(year, 1, 1),
            start_last=date(year, 12, 31),
            end_first=date(year + length, 1, 1),
            end_last=date(year + length, 12, 31),
            end_open=False,
            end_inferred=False,
            rival=False,
            statements=(f"Q{number}${n}",),
            snapshot=date(2022, 9, 15),
            object_label=label,
            aliases=tuple(sorted(name(chance) for _ in range(3))),
            object_title=f"{label} (club)",
        )
        year += length


def make(folder: Path) -> tuple[Path, Path]:
    """The files of pages and segments."""
    chance = random.Random(1)
    made = [page(n, chance) for n in range(10_000, 10_000 + PAGES)]
    tables: dict[str, tuple[Any, list[Any]]] = {
        "pages": (rows.Page, [p for p, _ in made]),
        "segments": (rows.NamedSegment, [s for _, some in made for s in some]),
    }
    for file, (row, some) in tables.items():
        table = pa.Table.from_batches(batches(row, some), schema=arrow_schema(row))
        pq.write_table(table, folder / file, row_group_size=200)
    return folder / "pages", folder / "segments"


def loop(pages: Path, segments: Path, out: Path) -> int:
    """The plain loop; the number of segments it found."""
    wanted: dict[str, list[dict[str, object]]] = {}
    for row in pq.read_table(segments).to_pylist():
        wanted.setdefault(row["subject"], []).append(row)
    found = 0
    with out.open("w") as file, pq.ParquetFile(pages) as source:
        for batch in source.iter_batches(32):
            for one in batch.to_pylist():
                for segment in wanted.get(one["item"], ()):
                    label = str(segment["object_label"])
                    place = None
                    for n, paragraph in enumerate(one["paragraphs"]):
                        start = paragraph["text"].find(label)
                        if start >= 0:
                            place = n, start, start + len(label)
                            found += 1
                            break
                    file.write(json.dumps({**segment, "place": place}, default=str) + "\n")
    return found


def best(*measures: Callable[[], object]) -> list[tuple[float, float]]:
    """The least seconds of several rounds of each, wall and processor, measures in turn."""
    rounds = [[timed(measure) for measure in measures] for _ in range(ROUNDS)]
    return [
        (min(wall for wall, _ in times), min(core for _, core in times))
        for times in zip(*rounds, strict=True)
    ]


def timed(measure: Callable[[], object]) -> tuple[float, float]:
    """Wall seconds, and processor seconds of this process."""
    wall, core = time.perf_counter(), time.process_time()
    measure()
    return time.perf_counter() - wall, time.process_time() - core


def main() -> int:
    """Measure, print a line for each figure; 1 where a bound is missed."""
    missed = []

    def say(label: str, figure: str, good: bool, bound: str) -> None:
        print(f"{label:34} {figure:>34}   {'ok' if good else 'MISSED'} ({bound})", flush=True)
        if not good:
            missed.append(label)

    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = Path(name_of_folder)
        pages, segments = make(folder)
        ready = msgspec.convert(pq.read_table(pages).to_pylist(), list[rows.Page])
        wanted: dict[str, list[tuple[rows.Segment, ObjectNames]]] = {}
        for row in pq.read_table(segments).to_pylist():
            one = msgspec.convert(row, rows.NamedSegment)
            names = ObjectNames(one.object_label, one.aliases, one.object_title)
            wanted.setdefault(one.subject, []).append((one, names))
        words = sum(len(x.text.split()) for p in ready for x in p.paragraphs) / PAGES
        links = sum(len(x.links) for p in ready for x in p.paragraphs) / PAGES
        print(f"{PAGES} pages of {words:.0f} words, {links:.0f} links and {SEGMENTS} segments")

        def alone() -> None:
            for p in ready:
                align_page(p, wanted[p.item], Alignment())

        def ours(jobs: int) -> None:
            align_file(pages, segments, folder / f"out-{jobs}", Alignment(), jobs)

        plain, only, one_job, two_jobs = best(
            lambda: loop(pages, segments, folder / "loop.jsonl"),
            alone,
            lambda: ours(1),
            lambda: ours(2),
        )
        rules = pq.read_table(folder / "out-1/aligned.parquet", columns=["rule"]).column(0)
        counts = {c["values"]: c["counts"] for c in rules.value_counts().to_pylist()}
        both = [(folder / f"out-{j}/aligned.parquet").read_bytes() for j in (1, 2)]
        found = loop(pages, segments, folder / "loop.jsonl")
    print(f"rules {counts}; the loop found {found} of {PAGES * SEGMENTS}")
    print(f"{'loop, files to file':34} {PAGES / plain[1]:>20,.0f} pages a second")
    print(f"{'align_page alone, in memory':34} {PAGES / only[1]:>20,.0f} pages a second")
    ratio = one_job[1] / plain[1]
    figure = f"{PAGES / one_job[1]:,.0f} pages a second, {ratio:.1f} x loop"
    say("align_file, 1 job", figure, ratio <= MOST_TO_LOOP, f"<= {MOST_TO_LOOP:.0f} x loop")
    gain = one_job[0] / two_jobs[0]
    figure = f"{PAGES / two_jobs[0]:,.0f} pages a second, {gain:.2f} x 1 job"
    say("align_file, 2 jobs", figure, gain >= LEAST_GAIN, f">= {LEAST_GAIN} x 1 job")
    say("the same bytes", str(both[0] == both[1]), both[0] == both[1], "1 and 2 jobs")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
