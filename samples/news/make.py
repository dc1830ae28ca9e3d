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
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

HERE = Path(__file__).parent
FEWEST_SENTENCES = 5
MONTHS = [
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
]  # fmt: skip
WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
HEADER = re.compile(r"== (\S+) (\S.*\S)")
# "12 December 2019", "Thursday, 12 December", "Thursday 12 December 2019"
DAY = re.compile(
    rf"(?:\b({'|'.join(WEEKDAYS)}),? )?\b(\d{{1,2}}) ({'|'.join(MONTHS)})(?: (\d{{4}}))?\b"
)
# A sentence with one of these words may name a day after the article's.
AHEAD = re.compile(r"\b(will|would|should|wants?|planned|due|was to|were to|enters|ends|until)\b")
# A full stop that a sentence splitter would cut at, and not an initial as in "A. R. Rahman".
INNER_STOP = re.compile(r"(?<!\b[A-Z])\. [A-Z]")


class TextError(Exception):
    """A mistake in the text; says file, line and what is wrong."""


@dataclass(frozen=True)
class SampleArticle:
    """One dated article; `paragraphs` holds sentences, `line` is the header's 1-based line."""

    day: date
    headline: str
    paragraphs: tuple[tuple[str, ...], ...]
    line: int

    @property
    def split(self) -> str:
        """Headline, then one sentence a line."""
        return "\n".join([self.headline, *(s for p in self.paragraphs for s in p)])

    @property
    def unsplit(self) -> str:
        """Headline, then one paragraph a line."""
        return "\n".join([self.headline, *(" ".join(p) for p in self.paragraphs)])


def days_named(sentence: str, day: date) -> Iterator[tuple[str, date]]:
    """The (weekday or "", day) pairs in a sentence of an article of `day`.

    A day without a year is the one nearest to `day`; a day that no calendar has is a `ValueError`.
    """
    for weekday, number, month, year in DAY.findall(sentence):
        place = MONTHS.index(month) + 1
        years = [int(year)] if year else [day.year - 1, day.year, day.year + 1]
        named = [date(y, place, int(number)) for y in years if year or _exists(y, place, number)]
        if not named:
            raise ValueError(f"there is no {number} {month}")
        yield weekday, min(named, key=lambda d: abs(d - day))


def _exists(year: int, month: int, number: str) -> bool:
    try:
        date(year, month, int(number))
    except ValueError:
        return False
    return True


def sentence_mistake(sentence: str, day: date) -> str | None:
    """What is wrong with a sentence of an article of `day`, if anything."""
    if not sentence.endswith("."):
        return "a sentence ends in a full stop"
    if INNER_STOP.search(sentence):
        return "one sentence a line"
    if "\t" in sentence or "  " in sentence or sentence != sentence.strip():
        return "single spaces, none at the ends"
    try:
        named = list(days_named(sentence, day))
    except ValueError as error:
        return f"no such day: {error}"
    for weekday, when in named:
        if weekday and WEEKDAYS[when.weekday()] != weekday:
            return f"{when} was a {WEEKDAYS[when.weekday()]}, not a {weekday}"
        if when > day and not AHEAD.search(sentence):
            return f"{when} is after the article's day, {day}"
        if weekday and not day - timedelta(days=6) <= when <= day + timedelta(days=6):
            return f"a weekday is for the six days before {day}; {when} is not"
    return None


def read(path: Path) -> list[SampleArticle]:
    """The articles of one text file, in its order; all mistakes in one `TextError`."""
    mistakes: list[str] = []
    articles: list[SampleArticle] = []
    paragraphs: list[list[str]] = []
    head: tuple[date, str, int] | None = None

    def wrong(line: int, message: str) -> None:
        mistakes.append(f"{path.name}:{line}: {message}")

    def close() -> None:
        if head is None:
            return
        day, headline, line = head
        article = SampleArticle(day, headline, tuple(tuple(p) for p in paragraphs if p), line)
        if sum(map(len, article.paragraphs)) < FEWEST_SENTENCES:
            wrong(line, f"an article has at least {FEWEST_SENTENCES} sentences")
        articles.append(article)

    # Not splitlines(): that would also cut at characters inside a sentence.
    for number, text in enumerate(path.read_text(encoding="utf-8").rstrip("\n").split("\n"), 1):
        if text.startswith("=="):
            close()
            head, paragraphs = None, [[]]
            match = HEADER.fullmatch(text)
            try:
                if match is None:
                    raise ValueError("write `== YYYY-MM-DD Headline`")
                day = date.fromisoformat(match[1])
                if str(day.year) != path.stem:
                    raise ValueError(f"{day} does not belong in {path.name}")
                if articles and day < articles[-1].day:
                    raise ValueError(f"{day} comes before the article above it")
            except ValueError as error:
                wrong(number, str(error))
            else:
                head = day, match[2], number
        elif not text:
            paragraphs.append([])
        elif head is None:
            if not mistakes:
                wrong(number, "text before the first `== YYYY-MM-DD Headline`")
        else:
            message = sentence_mistake(text, head[0])
            if message:
                wrong(number, message)
            paragraphs[-1].append(text)
    close()
    if mistakes:
        raise TextError("\n".join(mistakes))
    return articles


def archive(articles: Iterable[SampleArticle]) -> bytes:
    """The gzip bytes of one year's archive."""
    rows = []
    for article in articles:
        split, unsplit = (
            base64.b64encode(text.encode()) for text in (article.split, article.unsplit)
        )
        day = article.day.strftime("%Y%m%d").encode()
        rows.append((day, hashlib.sha256(unsplit).hexdigest(), split, unsplit))
    lines = b"".join(
        b"\t".join((day, split, whole)) + b"\n" for day, _, split, whole in sorted(rows)
    )
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, compresslevel=9, mtime=0) as file:
        file.write(lines)
    return packed.getvalue()


def archives(folder: Path = HERE / "text") -> dict[str, bytes]:
    """File name to bytes for every year in `folder`; all mistakes in one `TextError`."""
    mistakes, made = [], {}
    headlines: dict[tuple[date, str], str] = {}
    for path in sorted(folder.glob("*.txt")):
        try:
            articles = read(path)
        except TextError as mistake:
            mistakes.append(str(mistake))
            continue
        for article in articles:
            place = f"{path.name}:{article.line}"
            first = headlines.setdefault((article.day, article.headline), place)
            if first != place:
                mistakes.append(f"{place}: this day and headline are also at {first}")
        made[f"news-docs.{path.stem}.en.filtered.gz"] = archive(articles)
    if mistakes:
        raise TextError("\n".join(mistakes))
    return made


def main() -> None:
    """Write every year's archive next to this file."""
    try:
        made = archives()
    except TextError as mistake:
        sys.exit(str(mistake))
    for name, packed in made.items():
        (HERE / name).write_bytes(packed)
    print(f"wrote {len(made)} archives, {sum(map(len, made.values()))} bytes")


if __name__ == "__main__":
    main()
