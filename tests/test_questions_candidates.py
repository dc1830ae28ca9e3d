"""Answer candidates: spans, kinds, known names."""

import base64
import gzip
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.generate.candidates import (
    CandidateSettings,
    ParseFinder,
    SpacyFinder,
    open_finder,
)
from factdrift.builders.generate.gazetteer import Gazetteer
from factdrift.builders.rows import Article, Candidate
from factdrift.builders.text.dates import candidates
from factdrift.builders.text.pipeline import pipeline
from tests.conftest import ROOT


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


SPANS = [
    ("Zoran Milanović won in Croatia.", ["entity:Zoran Milanović", "entity:Croatia"]),
    ("President Vladimir Putin spoke in Moscow.", ["entity:Vladimir Putin", "entity:Moscow"]),
    ("She came to Paris on 12 December 2019.", ["entity:Paris", "date:12 December 2019"]),
    ("She came to Paris on December 12, 2019.", ["entity:Paris", "date:December 12, 2019"]),
    ("Apple paid $3 billion for Beats.", ["phrase:$3 billion", "phrase:for Beats"]),
    ("The bomb killed 20 people.", ["phrase:20"]),
    (
        "On 17 March 2020 Spain closed its border with France because the virus had spread.",
        ["entity:Spain", "phrase:because the virus had spread"],
    ),
    ("They want to win.", []),
]


@pytest.mark.parametrize(("text", "wanted"), SPANS)
def test_spans(text: str, wanted: list[str]) -> None:
    found = [f"{c.type}:{c.text}" for c in ParseFinder().find(article(text))]
    assert not set(wanted) - set(found), found


DATES = [
    ("on 1 January 2020", "1 January 2020", "DAY"),
    ("on Nov. 7, 2014", "Nov. 7, 2014", "DAY"),
    ("in May 2017", "May 2017", "MONTH"),
    ("in 2016", "2016", "YEAR"),
    ("in the 1990s", "1990s", "DECADE"),
    ("on Thursday", "Thursday", "WEEKDAY"),
    ("won last year", "last year", "RELATIVE"),
    ("two weeks ago", "two weeks ago", "RELATIVE"),
    ("in 2016 votes-2017", "2016", "YEAR"),
    ("with 2016 votes", None, None),
]


@pytest.mark.parametrize(("text", "span", "kind"), DATES)
def test_dates(text: str, span: str | None, kind: str | None) -> None:
    found = [(text[a:b], k) for a, b, k in candidates(text)]
    assert found == ([(span, kind)] if span else [])


def test_every_candidate_is_its_span_and_no_headline_is_used() -> None:
    finder = ParseFinder()
    count = 0
    for a in list(sample())[::8]:
        for c in finder.find(a):
            assert a.text[c.start : c.end] == c.text
            assert c.sentence > 0 and c.text in a.sentences[c.sentence]
            count += 1
    assert count > 1000


NAMES = [
    ("Bank of England", "ORG"),
    ("Bank", None),
    ("Juan Carlos I", "PERSON"),
    ("Juan Carlos", "PERSON"),
    ("Thursday", None),
    ("The", None),
    ("time", None),
    ("O’Connell", "PERSON"),
    ("Mercury", "PERSON"),
    ("Mercury", "ORG"),
]


def _matched(
    text: str, names: list[tuple[str, str | None]] = NAMES
) -> list[tuple[str, str | None]]:
    known = Gazetteer.build(names)
    spans = [(t.idx, t.idx + len(t)) for t in pipeline().tokenizer(text)]
    return [(text[a:b], k) for a, b, k in known.matches(text, spans)]


def test_known_names() -> None:
    assert _matched("The Bank of England met.") == [("Bank of England", "ORG")]
    assert _matched("He saw Juan Carlos I's yacht.") == [("Juan Carlos I", "PERSON")]
    assert _matched("The time was Thursday.") == []
    assert _matched("the bank of england") == []
    assert _matched("O'Connell sang.") == [("O'Connell", "PERSON")]
    assert _matched("He saw Mercury.") == [("Mercury", None)], "two kinds: none"
    assert _matched("anything", []) == []


def test_known_names_of_tables(tmp_path: Path) -> None:
    rows = {
        "id": ["Q1", "Q2", "P54"],
        "label": ["Xy Zorblat", "FK Vosk", "member of"],
        "aliases": [["Zorb Lat"], [], ["Played For"]],
    }
    pq.write_table(pa.table(rows), tmp_path / "entities.parquet")
    facts = {"subject": ["Q1"], "relation": ["P54"], "object": ["Q2"]}
    pq.write_table(pa.table(facts), tmp_path / "facts.parquet")
    settings = CandidateSettings(
        entities=tmp_path / "entities.parquet", facts=tmp_path / "facts.parquet"
    )
    found = open_finder(settings).find(article("Then Zorb Lat joined FK Vosk."))
    assert [(c.text, c.label) for c in found] == [("Zorb Lat", "PERSON"), ("FK Vosk", "ORG")]
    with pytest.raises(UserError, match="no such table"):
        Gazetteer.from_tables(tmp_path / "none.parquet")


def test_a_spacy_pipeline(tmp_path: Path) -> None:
    import spacy

    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns(  # type: ignore[attr-defined]
        [
            {"label": "PERSON", "pattern": "Zoran Milanović"},
            {"label": "DATE", "pattern": "January 2020"},
            {"label": "CARDINAL", "pattern": "two"},
        ]
    )
    nlp.to_disk(tmp_path / "pipe")
    finder = SpacyFinder(str(tmp_path / "pipe"), None)
    text = article("A vote.", "Zoran Milanović won two seats in January 2020.")
    found = [(c.text, c.type, c.label) for c in finder.find(text)]
    assert ("Zoran Milanović", "entity", "PERSON") in found
    assert ("January 2020", "date", "DATE") in found
    assert all(text.text[c.start : c.end] == c.text for c in finder.find(text))
    with pytest.raises(UserError, match="cannot load"):
        open_finder(CandidateSettings(pipeline="xx_none_sm"))
    with pytest.raises(ValueError, match="drafts"):
        CandidateSettings(pipeline="xx_none_sm", drafts=True)


def test_candidate_row() -> None:
    found = ParseFinder().find(article("Ada Lovelace wrote to Charles Babbage."))[0]
    assert found == Candidate(11, 23, "Ada Lovelace", "entity", "PERSON", 1)
