"""Speed and memory of the reader of Wikipedia pages: `python -m bench pages [MB]`.

The dump is made here: pages of about 13 kB as editors write them (infobox, references with
citations, links, lists, a table), 100 in each bz2 stream, one redirect to two pages. The plain
way is xml.etree's iterparse and mwparserfromhell's `strip_code`, which gives text without links
and drops templates, over the first pages only. With 1 in 100 wanted, most of the time goes into
decompression. 1 where reading is not three times as fast as the plain way, two processes are not
faster than one, or memory grows with the dump.
"""

import bz2
import json
import random
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from xml.etree.ElementTree import iterparse
from xml.sax.saxutils import escape

from bench import BENCH, Figures, best, own
from factdrift.builders.wikipedia.read import read_pages

MEGABYTES = 80
STREAM = 100
PLAIN_PAGES = 150
LEAST_TO_PLAIN = 3.0
MOST_TO_ONE_JOB = 0.8
MOST_GROWTH = 1.5
WORDS = (
    "the of and in was to a club team league season career government party city university "
    "president minister coach signed joined moved elected appointed founded member national "
    "after before during until year match goal award film album company chairman officer"
).split()


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


def _element(title: str, number: int, text: str, to: str | None) -> str:
    sends = f'    <redirect title="{to}" />\n' if to else ""
    return (
        f"  <page>\n    <title>{title}</title>\n    <ns>0</ns>\n    <id>{number}</id>\n{sends}"
        f"    <revision>\n      <id>{number}</id>\n      <model>wikitext</model>\n"
        f'      <text xml:space="preserve">{escape(text)}</text>\n    </revision>\n  </page>\n'
    )


def make(size: int) -> tuple[Path, dict[str, int]]:
    """A dump of about `size` bytes of XML, made once; its bytes and pages."""
    path = BENCH / f"pages-articles-multistream-{size // 1_000_000}MB.xml.bz2"
    about = path.with_suffix(".json")
    if about.is_file():
        return path, json.loads(about.read_text())
    print(f"making {size / 1e6:.0f} MB of XML in {BENCH}")
    BENCH.mkdir(parents=True, exist_ok=True)
    rng = random.Random(7)
    pages = size // 13_000
    written = n = 0
    with path.open("wb") as file:
        file.write(bz2.compress(b'<mediawiki version="0.11">\n'))
        while written < size:
            group = []
            for number in range(n, n + STREAM):
                group.append(_element(f"Page {number}", number + 1, wikitext(rng, pages), None))
                if number % 2:
                    to = f"Page {number}"
                    text = f"#REDIRECT [[{to}]]"
                    group.append(_element(f"Redirect {number}", number + 10**8, text, to))
            n += STREAM
            data = "".join(group).encode()
            written += len(data)
            file.write(bz2.compress(data))
        file.write(bz2.compress(b"</mediawiki>\n"))
    about.write_text(json.dumps({"bytes": written, "pages": n}))
    return path, {"bytes": written, "pages": n}


def plain(dump: str) -> int:
    """The plain way over the first pages; how many."""
    import mwparserfromhell

    def texts() -> Iterator[str]:
        with bz2.open(dump) as file:
            for _, found in iterparse(file):  # noqa: S314
                if found.tag == "page":
                    yield found.findtext("revision/text") or ""
                    found.clear()

    some = islice((text for text in texts() if not text.startswith("#REDIRECT")), PLAIN_PAGES)
    return sum(bool(mwparserfromhell.parse(text).strip_code()) for text in some)


def read(dump: str, out: str, jobs: str, every: str, pages: str) -> None:
    """Read the paragraphs of every so many of the pages."""
    wanted = ((f"Page {n}", f"Q{n + 1}") for n in range(0, int(pages), int(every)))
    targets = (f"Page {n}" for n in range(int(pages)))
    with tempfile.TemporaryDirectory(dir=out) as folder:
        read_pages(dump, wanted, Path(folder), jobs=int(jobs), targets=targets)


def main(words: list[str]) -> int:
    """Measure, print a line for each figure; 1 where a bound is missed."""
    megabytes = int(words[0]) if words else MEGABYTES
    dumps = [make(megabytes * 1_000_000 // n) for n in (4, 2, 1)]
    path, about = dumps[-1]
    pages, say = about["pages"], Figures()
    packed = path.stat().st_size / 1e6
    print(f"{pages:,} pages, {about['bytes'] / 1e6:.0f} MB of XML, {packed:.0f} MB packed")
    kinds = [(jobs, every) for every in (1, 100) for jobs in (1, 2)]
    with tempfile.TemporaryDirectory(dir=BENCH) as out:
        commands = [own("pages:read", path, out, *kind, pages) for kind in kinds]
        plainly, *runs = best(own("pages:plain", path), *commands, rounds=2)
        say("iterparse + mwparserfromhell", f"{plainly.answer / plainly.wall:.1f} pages/s")
        for (jobs, every), run in zip(kinds, runs, strict=True):
            ratio = pages / run.wall / (plainly.answer / plainly.wall)
            good, bound = True, ""
            if every == 1 and jobs == 1:
                good, bound = ratio >= LEAST_TO_PLAIN, f">= {LEAST_TO_PLAIN:.0f} x the plain way"
            elif every == 1:
                good = run.wall <= MOST_TO_ONE_JOB * runs[0].wall
                bound = f"<= {MOST_TO_ONE_JOB} x 1 job"
            say(f"1 in {every} wanted, {jobs} job(s), x {ratio:.1f}", run, good, bound)
        for jobs in (1, 2):
            sizes = [own("pages:read", p, out, jobs, 1, a["pages"]) for p, a in dumps]
            peaks = [one.memory / 1e6 for one in best(*sizes, rounds=1)]
            figure = ", ".join(f"{p:.0f}" for p in peaks) + " MB"
            flat = peaks[-1] <= MOST_GROWTH * peaks[0]
            say(f"memory at 1/4, 1/2 and 1 x, {jobs} job(s)", figure, flat, "flat")
    return say.missed
