"""Speed and memory of the reader of Wikipedia pages.

The dump is made here: pages of about 13 kB as editors write them (infobox, references with
citations, links, lists, a table), 100 in each bz2 stream, one redirect to two pages. The plain
way is xml.etree's iterparse and mwparserfromhell's `strip_code`, which gives text without links
and drops templates; without that package, four regular expressions stand in for it. It reads the
first pages only, as it takes minutes for all. "All wanted" parses every page; with 1 in 100
wanted, most of the time goes into decompression. Memory is as in `bench.mine`.

Run: `python -m bench.pages [MB]`; exits 1 where reading is not three times as fast as the plain
way, two processes are not faster than one, or memory grows with the dump.
"""

import bz2
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from xml.etree.ElementTree import iterparse
from xml.sax.saxutils import escape

from bench import BENCH, ROOT
from bench.mine import family, proportional

MEGABYTES = 80
STREAM = 100
PLAIN_PAGES = 150
ROUNDS = 2
LEAST_TO_PLAIN = 3.0
MOST_TO_ONE_JOB = 0.8
MOST_GROWTH = 1.5
WORDS = (
    "the of and in was to a club team league season career government party city university "
    "president minister coach signed joined moved elected appointed founded member national "
    "after before during until year match goal award film album company chairman officer"
).split()

READ = """
import sys
from pathlib import Path
from factdrift.builders.wikipedia.read import read_pages
dump, out, jobs, every, pages = sys.argv[1:]
wanted = ((f"Page {n}", f"Q{n + 1}") for n in range(0, int(pages), int(every)))
targets = (f"Page {n}" for n in range(int(pages)))
read_pages(dump, wanted, Path(out), jobs=int(jobs), targets=targets)
"""


def wikitext(rng: random.Random, pages: int) -> str:
    """A page with all that a real one has."""

    def link() -> str:
        n = rng.randrange(pages)
        title = f"Redirect {n}" if rng.random() < 0.1 else f"Page {n}"
        return rng.choice([f"[[{title}]]", f"[[{title}|{rng.choice(WORDS)} {n}]]"])

    def cite() -> str:
        words = " ".join(rng.choices(WORDS, k=8))
        year = rng.randint(1990, 2025)
        return (
            f"<ref>{{{{cite web |url=https://example.org/{rng.random()} |title={words} "
            f"|website=[[Page {rng.randrange(pages)}]] |date=4 March {year} |access-date={year}"
            "}}</ref>"
        )

    def sentence() -> str:
        words = rng.choices(WORDS, k=rng.randint(8, 24))
        words[3] = link()
        words[5] = f"''{words[5]}''" if rng.random() < 0.2 else words[5]
        words[6] = f"in {rng.randint(1950, 2025)}&nbsp;{words[6]}"
        return " ".join(words).capitalize() + "." + (cite() if rng.random() < 0.5 else "")

    def paragraph() -> str:
        return " ".join(sentence() for _ in range(rng.randint(3, 7)))

    box = "\n".join(
        f"| years{n} = {1990 + n}–{1992 + n} | clubs{n} = {link()} | caps{n} = {n}"
        for n in range(1, 6)
    )
    born = f"{{{{birth date and age|{rng.randint(1940, 2000)}|3|4|df=y}}}}"
    parts = [
        f"{{{{short description|A page}}}}\n{{{{Infobox person\n| name = X\n| image = X.jpg\n"
        f"| birth_date = {born}\n{box}\n| height = {{{{convert|1.8|m|ft}}}}\n}}}}",
        f"'''X''' (born {born}) {paragraph()}\n\n{paragraph()}",
    ]
    for n in range(rng.randint(3, 8)):
        parts.append(f"== Part {n} ==\n<!-- note -->\n{paragraph()}\n\n{paragraph()}")
        parts.append("\n".join(f"* {link()} {rng.choice(WORDS)}" for _ in range(4)))
    rows = "\n".join(f"|-\n| {1990 + n} || {link()} || {n}" for n in range(12))
    parts.append(f'{{| class="wikitable"\n! Year !! Team !! Goals\n{rows}\n|}}')
    parts.append("== References ==\n{{reflist}}\n{{Navbox x}}\n[[Category:People]]\n")
    return "\n\n".join(parts)


def element(title: str, number: int, text: str, to: str | None) -> str:
    sends = f'    <redirect title="{to}" />\n' if to else ""
    return (
        f"  <page>\n    <title>{title}</title>\n    <ns>0</ns>\n    <id>{number}</id>\n{sends}"
        f"    <revision>\n      <id>{number}</id>\n      <model>wikitext</model>\n"
        f'      <text xml:space="preserve">{escape(text)}</text>\n    </revision>\n  </page>\n'
    )


def make(folder: Path, size: int) -> tuple[Path, dict[str, int]]:
    """A dump of about `size` bytes of XML, made once; its bytes and pages."""
    path = folder / f"pages-articles-multistream-{size // 1_000_000}MB.xml.bz2"
    about = path.with_suffix(".json")
    if about.is_file():
        return path, json.loads(about.read_text())
    print(f"making {size / 1e6:.0f} MB of XML in {folder}")
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(7)
    pages = size // 13_000
    written = n = 0
    with path.open("wb") as file:
        file.write(bz2.compress(b'<mediawiki version="0.11">\n'))
        while written < size:
            group = []
            for number in range(n, n + STREAM):
                group.append(element(f"Page {number}", number + 1, wikitext(rng, pages), None))
                if number % 2:
                    to = f"Page {number}"
                    text = f"#REDIRECT [[{to}]]"
                    group.append(element(f"Redirect {number}", number + 10**8, text, to))
            n += STREAM
            data = "".join(group).encode()
            written += len(data)
            file.write(bz2.compress(data))
        file.write(bz2.compress(b"</mediawiki>\n"))
    about.write_text(json.dumps({"bytes": written, "pages": n}))
    return path, {"bytes": written, "pages": n}


def regex_strip(text: str) -> str:
    """What stands in for a parser where none is installed."""
    text = re.sub(r"<ref.*?</ref>|<!--.*?-->", "", text, flags=re.S)
    for _ in range(4):
        text = re.sub(r"\{\{[^{}]*\}\}", "", text)
    text = re.sub(r"\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]", r"\1", text)
    return re.sub(r"'{2,}|<[^<>]*>", "", text)


def plain(path: Path) -> tuple[str, float]:
    """The plain way over the first pages: its name, and pages a second."""
    name, strip = "iterparse + regular expressions", regex_strip
    try:
        import mwparserfromhell

        def strip(text: str) -> str:
            return str(mwparserfromhell.parse(text).strip_code())

        name = "iterparse + mwparserfromhell"
    except ImportError:
        pass

    def texts() -> Iterator[str]:
        with bz2.open(path) as file:
            for _, found in iterparse(file):  # noqa: S314
                if found.tag == "page":
                    text = found.findtext("revision/text") or ""
                    if not text.startswith("#REDIRECT"):
                        yield text
                    found.clear()

    began = time.perf_counter()
    n = sum(1 for text in islice(texts(), PLAIN_PAGES) if strip(text))
    return name, n / (time.perf_counter() - began)


def run(path: Path, jobs: int, every: int, pages: int) -> tuple[float, float]:
    """Seconds of a whole run in a process of its own, and its peak megabytes."""
    with tempfile.TemporaryDirectory(dir=BENCH) as out:
        command = [sys.executable, "-c", READ, str(path), out, str(jobs), str(every), str(pages)]
        peak = 0
        began = time.perf_counter()
        with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL) as process:
            while process.poll() is None:
                peak = max(peak, sum(proportional(pid) for pid in family(process.pid)))
                time.sleep(0.02)
        took = time.perf_counter() - began
        if process.returncode or not Path(out, "pages.parquet").is_file():
            raise RuntimeError(f"the run failed with status {process.returncode}")
    return took, peak / 1000


def main() -> int:
    """Measure, print a line for each figure; 1 where a bound is missed."""
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else MEGABYTES
    dumps = [make(BENCH, megabytes * 1_000_000 // n) for n in (4, 2, 1)]
    path, about = dumps[-1]
    size, pages = about["bytes"] / 1e6, about["pages"]
    packed = path.stat().st_size / 1e6
    print(f"{pages:,} pages, {size:.0f} MB of XML, {packed:.0f} MB packed, {os.cpu_count()} cores")
    missed = []

    def say(label: str, figure: str, good: bool = True, bound: str = "") -> None:
        verdict = f"   {'ok' if good else 'MISSED'} ({bound})" if bound else ""
        print(f"{label:44} {figure:>30}{verdict}", flush=True)
        if not good:
            missed.append(label)

    name, speed = plain(path)
    say(name, f"{speed:.1f} pages/s")
    for every, label in ((1, "all wanted"), (100, "1 in 100 wanted")):
        best = {}
        for jobs in (1, 2):
            best[jobs] = min(run(path, jobs, every, pages)[0] for _ in range(ROUNDS))
            figure = f"{best[jobs]:.1f} s, {pages / best[jobs]:.0f} pages/s, "
            figure += f"{size / best[jobs]:.1f} MB/s"
            good, bound = True, ""
            if every == 1 and jobs == 1:
                good = pages / best[1] >= LEAST_TO_PLAIN * speed
                bound = f">= {LEAST_TO_PLAIN:.0f} x the plain way"
            elif every == 1:
                good = best[2] <= MOST_TO_ONE_JOB * best[1]
                bound = f"<= {MOST_TO_ONE_JOB} x 1 job"
            say(f"{label}, {jobs} job(s)", figure, good, bound)
    for jobs in (1, 2):
        peaks = [run(p, jobs, 1, a["pages"])[1] for p, a in dumps]
        figure = ", ".join(f"{p:.0f}" for p in peaks) + " MB"
        good = peaks[-1] <= MOST_GROWTH * peaks[0]
        say(f"memory at 1/4, 1/2 and 1 x, {jobs} job(s)", figure, good, "flat")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
