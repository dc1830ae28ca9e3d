"""Speed and memory of the reader of Wikipedia pages: `python -m bench pages [MB]`.

The dump is made here of real articles of 2016 (FACTDRIFT_DATA, else the sample's), repeated with
other titles, 100 in each bz2 stream, one redirect to two pages. The plain way is xml.etree's
iterparse and mwparserfromhell's `strip_code`, which gives text without links and drops templates,
over the first pages only. With 1 in 100 wanted, most of the time goes into decompression. 1 where
reading is not three times as fast as the plain way, two processes are not faster than one, or
memory grows with the dump.
"""

import bz2
import json
import re
import tempfile
from collections.abc import Iterator
from functools import cache
from itertools import cycle, islice
from pathlib import Path
from xml.etree.ElementTree import iterparse

from bench import BENCH, DATA, ROOT, Figures, best, own
from factdrift.builders.wikipedia.read import read_pages

MEGABYTES = 80
STREAM = 100
PLAIN_PAGES = 150
LEAST_TO_PLAIN = 3.0
MOST_TO_ONE_JOB = 0.8
ARTICLE = re.compile(rb"<page>\s*<title>[^<]*(</title>\s*<ns>0</ns>.*?</page>)", re.DOTALL)
REDIRECT = (
    b"<page><title>Redirect %d</title><ns>0</ns><id>0</id><redirect title='Page %d'/><revision>"
    b"<id>0</id><model>wikitext</model><text>#REDIRECT</text></revision></page>\n"
)


@cache
def articles() -> list[bytes]:
    """Pages of articles from the end of their titles on, about as long as Wikipedia's."""
    real = sorted(DATA.glob("wikipedia/enwiki-*-pages-articles*.xml.bz2"))
    paths = real or sorted(ROOT.glob("samples/wikipedia/*-multistream.xml.bz2"))
    found = [one for path in paths for one in ARTICLE.findall(bz2.decompress(path.read_bytes()))]
    return [one for one in found if 2000 < len(one) < 40_000 and b"<redirect" not in one]


def make(size: int) -> tuple[Path, int, int]:
    """A dump of about `size` bytes of XML, made once; its bytes, and its pages."""
    path, about = (BENCH / f"pages-{size // 1_000_000}MB.{end}" for end in ("xml.bz2", "json"))
    if not about.is_file():
        print(f"making {size / 1e6:.0f} MB of XML in {BENCH}", flush=True)
        texts, written, pages = cycle(articles()), 0, 0
        with path.open("wb") as file:
            file.write(bz2.compress(b"<mediawiki>\n"))
            while written < size:
                stream = b""
                for n in range(pages, pages + STREAM):
                    stream += b"<page><title>Page %d%s\n" % (n, next(texts))
                    stream += REDIRECT % (n, n) if n % 2 else b""
                written, pages = written + len(stream), pages + STREAM
                file.write(bz2.compress(stream))
            file.write(bz2.compress(b"</mediawiki>\n"))
        about.write_text(json.dumps([written, pages]))
    return path, *json.loads(about.read_text())


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
    folder = Path(tempfile.mkdtemp(dir=out))
    read_pages(dump, wanted, folder, jobs=int(jobs), targets=targets)


def main(say: Figures, words: list[str]) -> None:
    """Measure, and print a line for each figure."""
    size = int(words[0] if words else MEGABYTES) * 1_000_000
    dumps = [make(size // n) for n in (4, 2, 1)]
    path, written, pages = dumps[-1]
    print(f"{pages:,} pages, {written / 1e6:.0f} MB of XML, {path.stat().st_size / 1e6:.0f} packed")
    kinds = [(jobs, every) for every in (1, 100) for jobs in (1, 2)]
    with tempfile.TemporaryDirectory(dir=BENCH) as out:
        commands = [own("pages:read", path, out, *kind, pages) for kind in kinds]
        plainly, *runs = best(own("pages:plain", path), *commands, rounds=2)
        speed = plainly.answer / plainly.wall
        say("iterparse + mwparserfromhell", f"{speed:.1f} pages/s")
        alone, both = (pages / run.wall / speed for run in runs[:2])
        bounds = {
            (1, 1): (alone >= LEAST_TO_PLAIN, f">= {LEAST_TO_PLAIN:.0f} x the plain way"),
            (2, 1): (alone <= MOST_TO_ONE_JOB * both, f"<= {MOST_TO_ONE_JOB} x 1 job"),
        }
        for kind, run in zip(kinds, runs, strict=True):
            label = f"1 in {kind[1]} wanted, {kind[0]} job(s), x {pages / run.wall / speed:.1f}"
            say(label, run, *bounds.get(kind, ()))
        for jobs in (1, 2):
            say.flat(f"{jobs} job(s)", (own("pages:read", p, out, jobs, 1, n) for p, _, n in dumps))
