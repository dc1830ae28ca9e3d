"""Speed and memory of the reader of Wikipedia pages: `python -m bench pages [MB]`.

The dump is made here of real articles of 2016 (FACTDRIFT_DATA, else the sample's), repeated with
other titles, 100 in each bz2 stream, one redirect to two pages. The plain way is xml.etree's
iterparse and mwparserfromhell's `strip_code`, which gives text without links and drops templates,
over the first pages only. With 1 in 100 wanted, most of the time goes into decompression. 1 where
a page takes more than two thirds of the plain way's processor time, two processes are not faster
than one (by wall time, where the machine is quiet), or memory grows with the dump.
"""

import bz2
import re
import tempfile
from collections.abc import Iterator
from functools import cache
from itertools import cycle, islice
from pathlib import Path
from xml.etree.ElementTree import iterparse

import mwparserfromhell

from bench import BENCH, DATA, ROOT, Figures, best, made, own
from factdrift.builders.wikipedia.read import read_pages

MEGABYTES = 80
STREAM = 100
PLAIN_PAGES = 300
"""Six times each of the real articles, which are fifty."""
LEAST_TO_PLAIN = 1.5
"""It was 3, by wall time, until the reader learned more of what is no text; it is about 2 now."""
LEAST_TO_ONE_JOB = 1.25
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
    pages = [page for path in paths for page in ARTICLE.findall(bz2.decompress(path.read_bytes()))]
    return [page for page in pages if 2000 < len(page) < 40_000 and b"<redirect" not in page]


def make(size: int) -> tuple[Path, int, int]:
    """A dump of about `size` bytes of XML, how many it has, and its pages."""

    def write(folder: Path) -> tuple[int, int]:
        texts, written, pages = cycle(articles()), 0, 0
        with (folder / "pages.xml.bz2").open("wb") as file:
            file.write(bz2.compress(b"<mediawiki>\n"))
            while written < size:
                stream = b""
                for number in range(pages, pages + STREAM):
                    stream += b"<page><title>Page %d%s\n" % (number, next(texts))
                    stream += REDIRECT % (number, number) if number % 2 else b""
                written, pages = written + len(stream), pages + STREAM
                file.write(bz2.compress(stream))
            file.write(bz2.compress(b"</mediawiki>\n"))
        return written, pages

    folder, (written, pages) = made(f"pages-{size // 1_000_000}MB", write)
    return folder / "pages.xml.bz2", written, pages


def plain(dump: str) -> int:
    """The plain way over the first pages; how many."""

    def texts() -> Iterator[str]:
        with bz2.open(dump) as file:
            for _, element in iterparse(file):  # noqa: S314
                if element.tag == "page":
                    yield element.findtext("revision/text") or ""
                    element.clear()

    first_texts = islice(
        (text for text in texts() if not text.startswith("#REDIRECT")), PLAIN_PAGES
    )
    return sum(bool(mwparserfromhell.parse(text).strip_code()) for text in first_texts)


def read(dump: str, out: str, jobs: str, step: str, pages: str) -> int:
    """Read the paragraphs of every so many of the pages; how many pages went by."""
    wanted_pages = (
        (f"Page {number}", f"Q{number + 1}") for number in range(0, int(pages), int(step))
    )
    targets = (f"Page {number}" for number in range(int(pages)))
    folder = Path(tempfile.mkdtemp(dir=out))
    read_pages(dump, wanted_pages, folder, jobs=int(jobs), targets=targets)
    return int(pages)


def main(say: Figures, words: list[str]) -> None:
    """Measure, and print a line for each figure."""
    size = int(words[0] if words else MEGABYTES) * 1_000_000
    dumps = [make(size // n) for n in (4, 2, 1)]
    path, _, pages = dumps[-1]
    with tempfile.TemporaryDirectory(dir=BENCH) as out:
        kinds = [(jobs, step) for step in (1, 100) for jobs in (1, 2)]
        commands = [own("pages:read", path, out, *kind, pages) for kind in kinds]
        plainly, *runs = best(own("pages:plain", path), *commands, rounds=2)
        say(f"iterparse + mwparserfromhell, {plainly.answer} of {pages:,} pages", plainly)
        for (jobs, step), run in zip(kinds, runs, strict=True):
            least = LEAST_TO_PLAIN * (jobs == step == 1)
            say.against(plainly, f"1 in {step} wanted, {jobs} job(s)", run, least)
        say.against(runs[0], "2 jobs to 1", runs[1], LEAST_TO_ONE_JOB, by="wall")
        for jobs in (1, 2):
            say.flat(f"{jobs} job(s)", (own("pages:read", p, out, jobs, 1, n) for p, _, n in dumps))
