"""Write the sample news archives from the articles in `text/*.txt`.

    python samples/news/make.py

The archives have the form of the WMT News Crawl document-split files: one article a line, three
tab-separated fields, `YYYYMMDD`, base64 of the headline and one sentence a line, base64 of the
headline and one paragraph a line; sorted by date, then by the sha256 of the third field. The same
text gives the same bytes. The form of the text files is explained in `README.md`.
"""

import base64
import gzip
import hashlib
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

HERE = Path(__file__).parent
FEWEST_SENTENCES = 5  # of an article; a brief of `samples/newswire` has fewer
MOST_WORDS_WITHOUT_END = 20  # a dateline, byline, subheading or score; a longer line lost its mark
HEADER = re.compile(r"^== (\S+) (\S.*\S)\n", re.M)
# `It rained.`, `"Who knows?"` and `(It had rained.)`, but neither `PARIS —` nor `By our staff`.
SENTENCE_END = re.compile(r"""[.?!…]["'”’)\]]*$""")
# `It rained. Nobody came.`, but not `Gov. Bill Lee`: abbreviations before a name are short.
TWO_SENTENCES = re.compile(r"""[a-z]{4}[.?!] ["“]?[A-Z]""")


class TextError(Exception):
    """A mistake in the text; says file, line and what is wrong."""


@dataclass(frozen=True)
class SampleArticle:
    """One dated article; `line` is its header's 1-based line.

    `paragraphs` holds sentences and the lines around them that are none: datelines and bylines.
    """

    day: date
    headline: str
    paragraphs: tuple[tuple[str, ...], ...]
    line: int

    @property
    def split(self) -> str:
        """Headline, then one sentence a line."""
        return "\n".join(
            [self.headline, *(sentence for paragraph in self.paragraphs for sentence in paragraph)]
        )

    @property
    def unsplit(self) -> str:
        """Headline, then one paragraph a line."""
        return "\n".join([self.headline, *(" ".join(paragraph) for paragraph in self.paragraphs)])


def ends_sentence(text: str) -> bool:
    """Whether a line ends as a sentence does, closing quotation marks aside."""
    return SENTENCE_END.search(text) is not None


def line_mistake(text: str) -> str | None:
    """What is wrong with one line of an article."""
    if text != text.strip():
        return "spaces around a line"
    if TWO_SENTENCES.search(text):
        return "one sentence a line"
    if not ends_sentence(text) and len(text.split()) > MOST_WORDS_WITHOUT_END:
        return "a sentence has its end mark"
    return None


def read(path: Path, fewest_sentences: int = FEWEST_SENTENCES) -> Iterator[SampleArticle]:
    """The articles of one text file, in its order; `TextError` at the first mistake."""
    first, *parts = HEADER.split(path.read_text(encoding="utf-8").rstrip("\n") + "\n")
    before = [date(int(path.stem), 1, 1)]
    line = 1 + first.count("\n")
    for number, headline, body in zip(*[iter(parts)] * 3, strict=True):
        where = f"{path.name}:{line}"
        paragraphs = [tuple(filter(None, part.split("\n"))) for part in body.split("\n\n")]
        paragraphs = [paragraph for paragraph in paragraphs if paragraph]
        article = SampleArticle(date.fromisoformat(number), headline, tuple(paragraphs), line)
        lines = [text for paragraph in paragraphs for text in paragraph]
        if first or article.day < before[-1] or article.day.year != before[0].year:
            raise TextError(f"{where}: days of {path.stem} in order, each `== YYYY-MM-DD Headline`")
        if sum(map(ends_sentence, lines)) < fewest_sentences:
            raise TextError(f"{where}: an article has at least {fewest_sentences} sentences")
        for text in lines:
            if mistake := line_mistake(text):
                raise TextError(f"{where}: {mistake}: {text}")
        before.append(article.day)
        line += 1 + body.count("\n")
        yield article


def archive(articles: Iterable[SampleArticle]) -> bytes:
    """The gzip bytes of one year's archive."""
    rows = []
    for article in articles:
        split, unsplit = (
            base64.b64encode(text.encode()) for text in (article.split, article.unsplit)
        )
        day = article.day.strftime("%Y%m%d").encode()
        rows.append((day, hashlib.sha256(unsplit).hexdigest(), split, unsplit))
    lines = b"".join(b"\t".join((day, split, text)) + b"\n" for day, _, split, text in sorted(rows))
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, compresslevel=9, mtime=0) as file:
        file.write(lines)
    return packed.getvalue()


def archives(folder: Path = HERE / "text") -> dict[str, bytes]:
    """File name to bytes for every year in `folder`."""
    paths = sorted(folder.glob("*.txt"))
    return {f"news-docs.{path.stem}.en.filtered.gz": archive(read(path)) for path in paths}


if __name__ == "__main__":
    for name, packed in archives().items():
        (HERE / name).write_bytes(packed)
