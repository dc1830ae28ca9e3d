"""Each long regular expression of the texts' grammar, with a text it finds and one it does not."""

import re
from importlib import import_module

import pytest

from factdrift.builders.text.data import language_data
from factdrift.builders.text.dates import DateReader, date_forms
from factdrift.builders.text.en.boilerplate import boilerplate_kind

LONG_FORM = 80
"""Characters of a form in `dates.yaml` from which on it has examples beside it."""

EXAMPLES = [
    # module, pattern, a text in which it is found, a text in which it is not
    ("text.en.standalone", "_OWN_ARTICLE", "according to the article", "the article about Lima"),
    ("text.en.standalone", "_CONTEXT", "Who led the company?", "Who led the company called X?"),
    ("text.en.standalone", "_CONTEXT", "What fell that night?", "What fell on the night?"),
    ("text.en.standalone", "_ON_THE_DAY", "last Friday", "last Friday, 4 June"),
    ("text.en.standalone", "_ON_THE_DAY", "who currently leads it", "who led it in 2019"),
    ("text.en.standalone", "_FIRST", "should I go", "Elizabeth I"),
    ("text.en.standalone", "_PRONOUN", "was he there", "was Hector there"),
    ("text.en.standalone", "_EMPTY_IT", "was it cold", "it was cold"),
    ("text.en.standalone", "_NAME", "who met Obama", "Who met him"),
    ("text.en.standalone", "_WHO_DID", "Which player scored", "Who did score"),
    ("text.en.question_form", "_NOT_PLAIN", "Who is [NAME]", "Who is Smith"),
    ("text.en.question_form", "_NOT_PLAIN", "It rained. Who won", "Did Dr. Who win"),
    ("text.en.questions", "_ASKS_TIME", "In which year was it", "Which year was it"),
    ("text.en.questions", "_FOR_GOOD", "Who was the first to fly", "Who was the head of it"),
    ("text.en.questions", "_TIED", "Who won because of it", "Who won it"),
    ("text.en.questions", "_WEEKDAY", "early on Friday morning", "the end of the week"),
    ("text.en.articles", "_PATTERNS", "2012 Summer Olympics", "Italy"),
    ("text.en.articles", "_PATTERNS", "Boeing 747", "Boeing"),
    ("text.en.articles", "_SAYS", " was a king", " wasp"),
    ("text.en.articles", "_A_VOWEL", "university", "unimportant"),
    ("text.en.articles", "_SPELLED", "MP", "Mp"),
    ("text.words", "_INITIALS", "F.C. Porto", "FC Porto"),
    ("text.words", "_TOKEN", "1st", "…"),
    ("text.words", "_THOUSANDS", "1,000", "1,00"),
    ("text.words", "_POSSESSIVE", "Lima's", "Limas"),
    ("text.sentences", "_INITIALS", "J.K", "12"),
    ("text.sentences", "_ABBREVIATED", "came to Mt", "came to me"),
    ("text.render", "_PARTICLES", "van der Waals", "Hugo"),
    ("text.render", "_PLAIN_WORD", "politician", "4"),
    ("text.references", "_REFERENCE", "LB&amp;SCR", "Q&A"),
    (
        *("templama.rendering", "READS_AS_ONE_ANSWER"),
        "The capital of <the subject> is <object>.",
        "<subject> plays for <object>.",
    ),
    ("wikidata.documents", "_DAY", "2026-11-09T10:00:00Z", "2026-11-09"),
    ("wikidata.shards", "_TAKEN", "20261109.json.gz", "20261109.json.md5"),
    ("wikidata.shards", "_DAY", "wikidata-20261109-all", "wikidata-202611090-all"),
    ("wikidata.sparql_client", "_CONTACT", "mine/1.0 (mailto:me@example.org)", "mine/1.0 (me)"),
    ("wikidata.sparql_client", "_OUT_OF_TIME", "Query timed out", "Query refused"),
    ("wikidata.sparql_rows", "_LOCAL", "Q42-1a", "42"),
    ("wikidata.times", "_TIME", "+2019-07-00T00:00:00Z", "2019-07"),
    ("wmt.archive", "_TAKEN", "news-docs.2019.en.filtered.gz", "notes.txt"),
    ("wmt.archive", "_UNFINISHED", "news.jsonl.part", "part.jsonl"),
    ("wmt.archive", "_YEAR", "news-docs.2019.en", "news-docs.1819.en"),
    ("wmt.lines", "ARTICLE_ID", f"20190207{'0' * 12}\0\1{'a' * 64}\0\1", "20190207"),
    ("core.records", "_DAY", "2019-02-07", "7 February 2019"),
]


@pytest.mark.parametrize(("module", "name", "finds", "misses"), EXAMPLES)
def test_an_example_is_found_and_another_is_not(
    module: str, name: str, finds: str, misses: str
) -> None:
    pattern: re.Pattern[str] = getattr(import_module(f"factdrift.builders.{module}"), name)
    assert pattern.search(finds)
    assert not pattern.search(misses)


@pytest.mark.parametrize("separator", [rb"\x00\x01", b"\0\1", b""])
def test_a_listed_id_is_found_with_any_separator(separator: bytes) -> None:
    from factdrift.builders.wmt.index import _KEY, _KEY_LINE

    listed_id = b"20190207" + b"0" * 12 + separator + b"a" * 64
    assert _KEY.search(listed_id)
    assert _KEY_LINE.fullmatch(b'"' + listed_id + separator + b'",')
    assert not _KEY.search(listed_id[1:])


def test_long_forms_of_dates_find_their_example_and_not_the_other() -> None:
    date_table = language_data("dates")
    readers: list[DateReader] = ["stated", "candidate", "question", "undated", "relative"]
    for reader in readers:
        entries = [entry for entry in date_table["forms"] if entry["for"] == reader]
        for entry, (_, form) in zip(entries, date_forms(reader), strict=True):
            if len(entry["form"]) < LONG_FORM and "finds" not in entry:
                continue
            pattern = re.compile(f"{date_table['before'].get(reader, '')}(?:{form})")
            assert pattern.search(entry["finds"]), entry
            assert not pattern.search(entry["misses"]), entry


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("The minister is seen in this file photo.", "caption"),
        ("(Photo: Getty Images)", "credit"),
        ("The company declined to comment.", "comment"),
        ("Reporting by Ana Lima", "byline"),
        ("Follow us on Twitter", "call"),
        ("Dear Mr Lima,", "letter"),
        ("All rights reserved", "notice"),
        ("The minister was seen in Lima.", None),
    ],
)
def test_a_sentence_of_each_kind_of_boilerplate(sentence: str, kind: str | None) -> None:
    assert boilerplate_kind(sentence) == kind
