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
    lines = (headline, *sentences)
    return Article(f"{day:%Y%m%d}x", day, lines, "\n".join(lines))


def sample() -> Iterator[Article]:
    for path in sorted((ROOT / "samples/news").glob("news-docs.*.gz")):
        for line_number, line in enumerate(
            gzip.decompress(path.read_bytes()).decode().splitlines()
        ):
            day_digits, split_text, _ = line.rstrip("\n").split("\t")
            sentences = tuple(
                sentence
                for sentence in base64.b64decode(split_text).decode().split("\n")
                if sentence
            )
            article_day = date(int(day_digits[:4]), int(day_digits[4:6]), int(day_digits[6:]))
            yield Article(
                f"{day_digits}-{line_number}", article_day, sentences, "\n".join(sentences)
            )


@pytest.mark.parametrize(("text", "expected_spans"), CASES["spans"])
def test_spans(text: str, expected_spans: list[str]) -> None:
    candidate_texts = [
        f"{candidate.type}:{candidate.text}" for candidate in FINDER.find(article(text))
    ]
    assert not set(expected_spans) - set(candidate_texts), candidate_texts


@pytest.mark.parametrize(("text", "span", "kind"), CASES["dates"])
def test_dates(text: str, span: str | None, kind: str | None) -> None:
    date_spans = [(text[start:end], date_kind) for start, end, date_kind in date_candidates(text)]
    assert date_spans == ([(span, kind)] if span else [])


@pytest.mark.slow
def test_every_candidate_is_its_span_and_no_headline_is_used() -> None:
    finder = FINDER
    candidate_count = 0
    for sample_article in list(sample())[::8]:
        for candidate in finder.find(sample_article):
            assert sample_article.text[candidate.start : candidate.end] == candidate.text
            assert (
                candidate.sentence > 0
                and candidate.text in sample_article.sentences[candidate.sentence]
            )
            candidate_count += 1
    assert candidate_count > 1000


def test_candidate_row() -> None:
    first_candidate = FINDER.find(article("Ada Lovelace wrote to Charles Babbage."))[0]
    assert first_candidate == Candidate(11, 23, "Ada Lovelace", "entity", "PERSON", 1)
