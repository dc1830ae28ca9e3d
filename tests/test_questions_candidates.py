"""Answer candidates: spans, kinds, known names."""

import base64
import gzip
from collections.abc import Iterator
from datetime import date

import pytest

from factdrift.builders.rows import Article, Candidate
from factdrift.builders.text.dates import date_candidates
from tests.conftest import ROOT
from tests.filter_cases import FINDER
from tests.tables import read_table

CASES = read_table("question_cases")


def article(*sentences: str, day: date = date(2020, 1, 6), headline: str = "A headline") -> Article:
    text = (headline, *sentences)
    return Article(f"{day:%Y%m%d}x", day, text, "\n".join(text))


def sample() -> Iterator[Article]:
    for path in sorted((ROOT / "samples/news").glob("news-docs.*.gz")):
        for n, line in enumerate(gzip.decompress(path.read_bytes()).decode().splitlines()):
            day, split, _ = line.rstrip("\n").split("\t")
            rows = tuple(s for s in base64.b64decode(split).decode().split("\n") if s)
            when = date(int(day[:4]), int(day[4:6]), int(day[6:]))
            yield Article(f"{day}-{n}", when, rows, "\n".join(rows))


@pytest.mark.parametrize(("text", "wanted"), CASES["spans"])
def test_spans(text: str, wanted: list[str]) -> None:
    found = [f"{c.type}:{c.text}" for c in FINDER.find(article(text))]
    assert not set(wanted) - set(found), found


@pytest.mark.parametrize(("text", "span", "kind"), CASES["dates"])
def test_dates(text: str, span: str | None, kind: str | None) -> None:
    found = [(text[a:b], k) for a, b, k in date_candidates(text)]
    assert found == ([(span, kind)] if span else [])


def test_every_candidate_is_its_span_and_no_headline_is_used() -> None:
    finder = FINDER
    count = 0
    for a in list(sample())[::8]:
        for c in finder.find(a):
            assert a.text[c.start : c.end] == c.text
            assert c.sentence > 0 and c.text in a.sentences[c.sentence]
            count += 1
    assert count > 1000


def test_candidate_row() -> None:
    found = FINDER.find(article("Ada Lovelace wrote to Charles Babbage."))[0]
    assert found == Candidate(11, 23, "Ada Lovelace", "entity", "PERSON", 1)
