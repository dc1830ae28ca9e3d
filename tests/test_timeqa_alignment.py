"""Alignment: which names are found in a page, the rules, stated dates, files, and pairs kept."""

import hashlib
import itertools
import random
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bench import alignment as measure
from factdrift.builders import rows
from factdrift.builders.core.engine import Engine, engine
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.schema import arrow_schema, batches
from factdrift.builders.text.dates import dates_in
from factdrift.builders.text.names import names_of
from factdrift.builders.text.sentences import sentence_starts
from factdrift.builders.text.words import fold_in_place
from factdrift.builders.timeqa.alignment import (
    DROPPED_ORDER,
    Alignment,
    align_file,
    align_page,
    keep_pairs,
)
from factdrift.builders.timeqa.alignment import ObjectNames as Names
from factdrift.builders.timeqa.matching import assigned
from factdrift.builders.timeqa.mentions import PageText
from factdrift.builders.timeqa.told import ReadPage, cues, hinted, life, misdated, told_days
from tests.conftest import DATA

MARKED = DATA / "timeqa/human_annotated_train.json.gz"
KINDS: dict[str, rows.ParagraphKind] = {"*": "list", "|": "table", "!": "infobox"}


def page(text: str, item: str = "Q1") -> rows.Page:
    """A page of lines: `= section`, `* list`, `| table`, `! infobox`, `[[Target|shown]]`."""
    section = ""
    paragraphs = []
    for line in filter(None, map(str.strip, text.splitlines())):
        if line[0] == "=":
            section = line[2:]
            continue
        kind = KINDS.get(line[0], "text")
        body, plain, links = line[2:] if kind != "text" else line, "", []
        for piece in re.split(r"(\[\[.*?\]\])", body):
            if piece.startswith("[["):
                target, _, shown = piece[2:-2].partition("|")
                links.append(rows.Link(len(plain), len(plain + (shown or target)), target))
                piece = shown or target
            plain += piece
        paragraphs.append(rows.Paragraph(kind, section, plain, tuple(links)))
    return rows.Page(item, "Subject", 7, 8, tuple(paragraphs))


def days(text: str | None) -> tuple[date | None, date | None]:
    """`2003`, `2003-07` or `2003-07-01` as its first and last day."""
    if not text:
        return None, None
    year, month, day = (int(p) for p in (text + "-0-0").split("-")[:3])
    if day:
        return date(year, month, day), date(year, month, day)
    if month:
        return date(year, month, 1), date(
            year, month, [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
        )
    return date(year, 1, 1), date(year, 12, 31)


def segment(start: str | None = None, end: str | None = None, of: str = "Q2") -> rows.Segment:
    return rows.Segment(
        "Q1",
        "P54",
        of,
        *days(start),
        *days(end),
        end is None,
        False,
        False,
        ("Q1$a",),
        date(2022, 9, 15),
    )


HARVARD = Names("Harvard University", (), None)
LEEDS = Names("Leeds United F.C.", ("LUFC", "The Whites"), "Leeds United F.C.")

RULES: list[tuple[str, str, str, Names, tuple[str, str | None]]] = [
    ("a link", "He joined [[Leeds United F.C.|Leeds]].", "", LEEDS, ("link", "Leeds")),
    ("a link before a name", "Leeds United F.C. won. [[Leeds United F.C.|They]] did.", "", LEEDS,
     ("link", "Leeds United F.C.")),
    ("an alias", "He joined the Whites and LUFC.", "", LEEDS, ("name", "the Whites")),
    ("without the suffix", "He joined Leeds United.", "", LEEDS, ("name", "Leeds United")),
    ("another page of that name", "He joined [[Leeds United (1880)|Leeds United]].", "",
     Names("Leeds United F.C.", (), "LUFC"), ("name", "Leeds United")),
    ("another thing of that name", "He joined [[Vitória S.C.|Vitória]].", "",
     Names("Vitória F.C.", (), "Vitória F.C."), ("none", None)),
    ("inside a longer link", "He moved to [[Manchester United F.C.|Manchester United]].", "",
     Names("Manchester", (), "Manchester"), ("none", None)),
    ("similar", "He studied. He was at the Technical University of Leuna.", "",
     Names("Technical University Leuna-Merseburg", (), None),
     ("similar", "Technical University of Leuna")),
    ("one shared word is not similar", "* Welling United", "",
     Names("Dundee United", (), None), ("none", None)),
    ("a name in another's name is not similar", "* Harvard University Press", "",
     Names("Harvard University", (), None), ("none", None)),
    ("a bank is not its governor", "* He headed the Bank of Leuna.", "",
     Names("Governor of the Bank of Leuna", (), None), ("none", None)),
    ("the governor of a bank is", "* In 2013 Governor at Bank of Leuna.", "",
     Names("Governor of the Bank of Leuna", (), None), ("similar", "Governor at Bank of Leuna")),
    ("a bank in its governor's title may be linked", "* In 2013 Governor at [[Bank of Leuna]].", "",
     Names("Governor of the Bank of Leuna", (), None), ("similar", "Governor at Bank of Leuna")),
    ("the governor of another bank", "* He was Governor of the Bank of Canada in 2008.", "",
     Names("Governor of the Bank of England", (), None), ("none", None)),
    ("a link to the governor of another bank",
     "* [[Governor of X|Governor of the Bank]]", "",
     Names("Governor of the Bank of England", (), None), ("none", None)),
    ("the next best passage",
     "* Governor of the Bank of Canada\n* Governor of the English Bank of old",
     "", Names("Governor of the Bank of England", (), None),
     ("similar", "Governor of the English Bank")),
    ("the text of a link is no name", "[[Ann Lee|His deputy]] was mayor.", "",
     Names("Ann Lee", (), "Ann Lee"), ("none", None)),
    ("an office is no name of its holder", "The [[Ann Lee|Mayor of Leuna]] came.", "",
     Names("Ann Lee", (), "Ann Lee"), ("none", None)),
    ("a word of it", "He was a [[Democratic Party|Democrat]] until 2001.", "",
     Names("Democratic Party", (), "Democratic Party"), ("link", "Democrat")),
    ("the other way round", "* Choi Tae-ji (1996-2001)", "", Names("Tae-ji Choi", (), None),
     ("name", "Choi Tae-ji")),
    ("with its bracket", "They were the Torpedo Squadron 4 (VT-4) then.", "",
     Names("Torpedo Squadron 4 (VT-4)", (), None), ("name", "Torpedo Squadron 4 (VT-4)")),
    ("initials", "She moved to the CWI in Amsterdam.", "",
     Names("Centrum Wiskunde & Informatica", (), None), ("name", "CWI")),
    ("no initials where the name stands", "CWI! The Centrum Wiskunde & Informatica.", "",
     Names("Centrum Wiskunde & Informatica", (), None), ("name", "Centrum Wiskunde & Informatica")),
    ("without the generic part", "He led the Berlin Philharmonic.", "",
     Names("Berlin Philharmonic Orchestra", (), None), ("name", "Berlin Philharmonic")),
    ("one word is not enough", "He was a Labour man.", "",
     Names("Labour Party", (), None), ("none", None)),
    ("nothing", "He played.", "", LEEDS, ("none", None)),
    ("no text", "", "", LEEDS, ("none", None)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "start", "named", "wanted"), [r[1:] for r in RULES], ids=[r[0] for r in RULES]
)
def test_the_first_rule_that_holds(
    text: str, start: str, named: Names, wanted: tuple[str, str | None]
) -> None:
    [row] = align_page(page(text), [(segment("2003", "2009"), named)], Alignment())
    assert (row.rule, row.mention) == wanted
    assert (row.page, row.revision, row.verification) == (7, 8, "automatic")
    assert (row.score is not None) == (row.rule == "similar")
    if row.rule == "none":
        assert {row.paragraph, row.start, row.end, row.start_stated, row.end_stated} == {None}
    else:
        assert row.paragraph is not None
        assert page(text).paragraphs[row.paragraph].text[row.start : row.end] == row.mention


CHOICES: list[tuple[str, str, rows.Segment, tuple[int, str]]] = [
    ("the first without dates", "He is with Leeds United. He likes Leeds United.",
     segment(), (0, "Leeds United")),
    ("text before a list", "! Leeds United\n| Leeds United\n* Leeds United\nLeeds United won.",
     segment(), (3, "Leeds United")),
    ("a list before a table", "! Leeds United\n| Leeds United\n* Leeds United",
     segment(), (2, "Leeds United")),
    ("a table before an infobox", "! Leeds United\n| Leeds United",
     segment(), (1, "Leeds United")),
    ("the sentence with both dates",
     "A man of Leeds United.\nHe moved a lot.\nHe was with Leeds United from 2003 to 2009.",
     segment("2003", "2009"), (2, "Leeds United")),
    ("a list item with both dates", "A man of Leeds United.\n* Leeds United (2003–2009)",
     segment("2003", "2009"), (1, "Leeds United")),
    ("the second stay",
     "* Leeds United (1995–1998)\n* Hull (1998–2003)\n* Leeds United (2003–2009)",
     segment("2003", "2009"), (2, "Leeds United")),
    ("the first stay",
     "* Leeds United (1995–1998)\n* Hull (1998–2003)\n* Leeds United (2003–2009)",
     segment("1995", "1998"), (0, "Leeds United")),
    ("a linked name said again with dates",
     "He played for [[Leeds United F.C.|Leeds]].\nHe left.\n"
     "From 2003 to 2009 he was with Leeds again.",
     segment("2003", "2009"), (2, "Leeds")),
    ("dates in the section", "He likes Leeds United.\n= Career / Leeds United (2003–2009)\n"
     "Leeds United bought him from 2003 on.", segment("2003", "2009"), (1, "Leeds United")),
    ("dates of another time", "In Leeds United, from 1811 to 1812, he had played.\n"
     "In 1831 he left Leeds United.", segment("1825", "1831"), (1, "Leeds United")),
    ("not the end alone", "He joined Leeds United.\nHe left Leeds United in 2009.",
     segment("2003", "2009"), (0, "Leeds United")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "one", "wanted"), [c[1:] for c in CHOICES], ids=[c[0] for c in CHOICES]
)
def test_the_mention_that_says_it_best(
    text: str, one: rows.Segment, wanted: tuple[int, str]
) -> None:
    [row] = align_page(page(text), [(one, LEEDS)], Alignment())
    assert (row.paragraph, row.mention) == wanted


STINTS: list[tuple[str, str, list[tuple[str, str | None]], list[str | None]]] = [
    ("each its own", "He joined Leeds United in 2003. He rejoined Leeds United in 2012.",
     [("2003", "2005"), ("2012", "2014")], ["0:10", "0:44"]),
    ("whatever the order", "He rejoined Leeds United in 2012. He joined Leeds United in 2003.",
     [("2003", "2005"), ("2012", "2014")], ["0:44", "0:12"]),
    ("rows of a table", "| 2003–2005; Leeds United\n| 2012–2014; Leeds United",
     [("2003", "2005"), ("2012", "2014")], ["0:11", "1:11"]),
    ("seasons in headings", "= Career / 2003–2005\nHe joined Leeds United.\n= Career / 2012\n"
     "He joined Leeds United.", [("2003", "2005"), ("2012", "2014")], ["0:10", "1:10"]),
    ("one mention for two", "He was with Leeds United from 2003 to 2005 and from 2012 to 2014.",
     [("2003", "2005"), ("2012", "2014")], ["0:12", "0:12"]),
    ("a mention without dates", "He was twice with Leeds United.",
     [("2003", "2005"), ("2012", "2014")], ["0:18", "0:18"]),
    ("an end is no return", "He left Leeds United in February 2012.",
     [("2003", "2012-02"), ("2025", None)], ["0:8", None]),
    ("a draft is no return", "Leeds United drafted him in 2003. He retired.",
     [("2003", "2005"), ("2012", "2014")], ["0:0", None]),
    ("terms that follow are one stint", "He led Leeds United from 2003.",
     [("2003", "2005"), ("2005", "2009"), ("2010", None)], ["0:7", "0:7", "0:7"]),
    ("a year of foundation", "He is with Leeds United, founded in 1919.",
     [("2003", "2005")], ["0:11"]),
    ("a term of its own", "He led Leeds United from 2003 to 2005.\nHe left.\n"
     "Asked to lead Leeds United once more, he stayed to 2009.",
     [("2003", "2005"), ("2006", "2009")], ["0:7", "2:14"]),
    ("the paragraph says more", "He led Leeds United from 2003 to 2005. He had done so in 1990.",
     [("1990", "1990"), ("2003", "2005")], ["0:7", "0:7"]),
    ("a boundary far from it", "Leeds United, which in the 1980s had won every cup that there was "
     "to be won in the whole country, made him captain in 2003.", [("2003", "2005")], ["0:0"]),
    ("a birth is no date", "The captain of Leeds United, born in 1980, left in 2014.",
     [("1979", "1981"), ("2012", "2014")], [None, "0:15"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "spans", "wanted"), [s[1:] for s in STINTS], ids=[s[0] for s in STINTS]
)
def test_mentions_and_stints(
    text: str, spans: list[tuple[str, str | None]], wanted: list[str | None]
) -> None:
    found = align_page(page(text), [(segment(*s), LEEDS) for s in spans], Alignment())
    assert [None if r.rule == "none" else f"{r.paragraph}:{r.start}" for r in found] == wanted


def test_a_place_of_birth_is_no_club() -> None:
    club = Names("Hull City A.F.C.", (), None)
    text = "Born near Hull City, he went there in 2003.\nHe was 18 at Hull City."
    [row] = align_page(page(text), [(segment("2003", "2005"), club)], Alignment())
    assert (row.paragraph, row.mention) == (1, "Hull City")


def cost(chosen: Sequence[int], shared: float) -> float:
    """What the things cost that several have."""
    return shared * (len(chosen) - len(set(chosen)))


def best_sum(scores: list[dict[int, float]], shared: float) -> float:
    """The greatest sum of all assignments, by trying each."""
    return max(
        sum(s[n] for s, n in zip(scores, chosen, strict=True)) - cost(chosen, shared)
        for chosen in itertools.product(*scores)
    )


def test_the_assignment_is_the_best() -> None:
    chance = random.Random(5)
    for _ in range(300):
        things = range(chance.randint(1, 4))
        shared = chance.choice((0.0, 0.5, 2.0))
        scores = [
            {n: round(chance.uniform(0, 4), 2) for n in things if chance.random() < 0.8} or {0: 1.0}
            for _ in range(chance.randint(1, 4))
        ]
        found = [n for n in assigned(scores, shared) if n is not None]
        total = sum(s[n] for s, n in zip(scores, found, strict=True)) - cost(found, shared)
        assert total == pytest.approx(best_sum(scores, shared), abs=0.01)
    assert assigned([{}, {1: 1.0}], 0.5) == [None, 1]


def test_what_a_page_tells_of_which_days() -> None:
    told = page(
        "He joined Leeds United in 2003. He was born in 1998.\nIn 1990 he sang, since 1992 well.\n"
        "In the 1980s he slept, from 1981 to 1985 in Hull.\nSince 2010 he has left Leeds United."
    )
    [row] = align_page(told, [(segment("2003", "2005"), LEEDS)], Alignment())
    found = told_days(ReadPage(told), [row])
    assert [(first.year, last.year) for first, last in found.anywhere] == [
        (1981, 1981), (1981, 1985), (1985, 1985), (1990, 1990), (1992, 1992), (2003, 2003),
        (2010, 2010), (2010, 9999),
    ]  # fmt: skip
    assert [first.year for first, _ in found.near] == [1990, 1992, 2003, 2010, 2010]


def test_a_list_with_one_mention_tells_near_it() -> None:
    told = page("He joined Leeds United in 2003.\n| Hull; 1998\n| Leeds United; 2003\n* 1990")
    [row] = align_page(told, [(segment("2003", "2005"), LEEDS)], Alignment())
    assert [first.year for first, _ in told_days(ReadPage(told), [row]).near] == [1998, 2003]


@pytest.mark.parametrize(
    ("text", "began", "ended"),
    [
        ("! birth date: 5 May 1985\nA man.", date(1985, 5, 5), None),
        ("! established: 1923\n! closed: 1999\nA bank.", date(1923, 12, 31), date(1999, 1, 1)),
        ("Ann Lee (1910 – 5 May 1990) sang.", date(1910, 12, 31), date(1990, 5, 5)),
        ("Ann Lee (born 5 May 1985) sings.", date(1985, 5, 5), None),
        ("A club of Hull. It was founded in 1904.", date(1904, 12, 31), None),
        ("A club of Hull. It won in 1904.", None, None),
        ("A club.\nOf Hull.\nIt was founded in 1904.", None, None),
    ],
)
def test_life_of_a_subject(text: str, began: date | None, ended: date | None) -> None:
    assert life(page(text)) == (began, ended)


ANY = (date.min.year, date.max.year)
UNDATED: list[tuple[str, str, list[tuple[int, int]]]] = [
    (
        "after the last date",
        "= Work\nIn 2005 he left. After that he settled in Hull.",
        [(2005, 9999)],
    ),
    (
        "between two dates",
        "= Work\nIn 1990 he sang. He played for Hull. In 1995 no more.",
        [(1990, 1995)],
    ),
    ("in another paragraph", "= Work\nIn 1990 he sang.\nHe played for Hull.", [(1990, 9999)]),
    ("in a section with a date", "= 1990-1995\nHe played for Hull.", [(1990, 1995)]),
    ("in a section without one", "= Work\nHe played for Hull.", [ANY]),
    ("in the opening", "In 2005 he left. He played for Hull.", [ANY]),
    ("a pair of an infobox", "! other team: Hull City", [ANY]),
    ("before what it tells", "= Work\nAfter trials in Hull he sang in 1990.", [(1, 2002)]),
    ("a beginning", "= Work\nHe began with Hull and sang in 1990.", [(1, 2002)]),
    ("and after the pair", "= Work\nHe began to sing in Hull in 2010.", [(1, 2010)]),
    ("since a day", "= Work\nHe has played for Hull since 1990.", [(1990, 9999)]),
    ("until a day", "= Work\nUntil 1990 he played for Hull.", [(1, 1990)]),
    ("since a day, named before", "= Work\nHe went. To Hull he went since 1990.", [(1990, 9999)]),
    ("since a day, named after", "= Work\nSince 1990 he has lived in Hull.", []),
    ("until a day from another", "= Work\nIn 1980 he went to Hull until 1990.", [(1980, 1990)]),
    ("since a day, the subject", "= Work\nNow Ann Lee has played since 1990.", []),
    ("after a dated event", "= Work\nAfter the Games of 1990, he saw Hull.", []),
    ("of an object of the pair", "= Work\nHe played for Leeds United in Hull.", []),
    ("without a name", "= Work\nHe played well.", []),
    ("of the subject", "= Work\nThen came Ann Lee.", []),
    ("no word of the relation", "= Work\nHe likes Hull.", []),
]


@pytest.mark.parametrize(("text", "wanted"), [u[1:] for u in UNDATED], ids=[u[0] for u in UNDATED])
def test_what_a_page_tells_without_a_date(text: str, wanted: list[tuple[int, int]]) -> None:
    one = page("He joined Leeds United in 2003.\n" + text)
    aligned = align_page(one, [(segment("2003", "2005"), LEEDS)], Alignment())
    stems = cues(["member of sports team", "Which team did <subject> play for <time>?"])
    found = told_days(ReadPage(one), aligned, "Ann Lee", stems).undated
    assert [(first.year, last.year) for first, last in found] == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("In 2005 he moved to Hull.", [2005]),
        ("He played for Hull in 2010 and 2012.", [2010]),
        ("He moved to Hull in 2004.", []),
        ("He left Leeds United for Hull in 2005.", []),
        ("He saw Hull in 2010.", []),
        ("In 2010 he moved house.", []),
    ],
)
def test_what_a_page_tells_of_others_later(text: str, wanted: list[int]) -> None:
    one = page("He joined Leeds United in 2003.\n" + text)
    aligned = align_page(one, [(segment("2003", "2005"), LEEDS)], Alignment())
    stems = cues(["member of sports team", "Which team did <subject> play for <time>?"])
    found = told_days(ReadPage(one), aligned, "Ann Lee", stems).since
    assert [(first.year, last.year) for first, last in found] == [(y, 9999) for y in wanted]


LED_UP: list[tuple[str, str, list[int]]] = [
    (
        "another name before it",
        "He played for Hull City and moved to Leeds United in 2003.",
        [2002],
    ),
    ("no word of the relation", "He left Hull City and moved to Leeds United in 2003.", []),
    ("no other name", "He played well and moved to Leeds United in 2003.", []),
    ("the subject", "In 1990 so played Ann Lee of Leeds United.", []),
    (
        "another sentence",
        "He had played for Hull City in 1990. To Leeds United he went in 2003.",
        [],
    ),
]


@pytest.mark.parametrize(("text", "wanted"), [u[1:] for u in LED_UP], ids=[u[0] for u in LED_UP])
def test_what_a_sentence_tells_before_the_first_mention(text: str, wanted: list[int]) -> None:
    one = page("= Work\n" + text)
    aligned = align_page(one, [(segment("2003", "2005"), LEEDS)], Alignment())
    stems = cues(["member of sports team", "Which team did <subject> play for <time>?"])
    found = told_days(ReadPage(one), aligned, "Ann Lee", stems).undated
    assert [last.year for first, last in found if first == date.min] == wanted


LISTED: list[tuple[str, str, list[tuple[int, int, str]]]] = [
    ("other items", "* Leeds United (2003-2005)\n* Hull (2005-2009)\n* York (2010)",
     [(2004, 2004, "Q2"), (2006, 2008, ""), (2010, 2010, "")]),
    ("other parts of a pair", "! clubs: Leeds United (2003–2005), Hull (in York, 2006–2009)",
     [(2004, 2004, "Q2"), (2007, 2008, "")]),
    ("numbered pairs",
     "! years1: 2003–2005 | clubs1: Leeds United\n! years2: 2005–2009 | clubs2: Hull",
     [(2004, 2004, "Q2"), (2006, 2008, "")]),
    ("another list", "* Leeds United (2003-2005)\n= Sons\n* Abe (1990-1999)", [(2004, 2004, "Q2")]),
    ("another pair", "! clubs: Leeds United (2003–2005)\n! nation: Hull (1990–1999)",
     [(2004, 2004, "Q2")]),
    ("a list that does not date it", "* Leeds United\n* Hull (2005-2009)", []),
    ("another spelling of it", "* Leeds United (2003-2005)\n* The Leeds men (1998-2004)",
     [(1999, 2003, "Q2"), (2004, 2004, "Q2")]),
    ("running text", "Leeds United (2003-2005), Hull (2005-2009)", []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), [u[1:] for u in LISTED], ids=[u[0] for u in LISTED])
def test_what_the_entries_beside_the_evidence_tell(
    text: str, wanted: list[tuple[int, int, str]]
) -> None:
    one = page(text)
    aligned = align_page(one, [(segment("2003", "2005"), LEEDS)], Alignment())
    found = told_days(ReadPage(one), aligned).listed
    assert [(e.first.year, e.last.year, "".join(e.objects)) for e in found] == wanted


MISDATED: list[tuple[str, str, tuple[str, str | None], bool]] = [
    ("long before", "He was replaced in 1953 by Leeds United.", ("1973", "1978"), True),
    ("some years before, and on", "He joined Leeds United in 1985.", ("1987", "1996"), False),
    ("after", "In 1933 he died at Leeds United.", ("1914", "1915"), True),
    ("a season after", "He left Leeds United in 2006.", ("2003", "2005"), False),
    ("a date that fits, farther off", "In the year 2004, when a long war had ended that nobody "
     "there could remember the beginning of, Leeds United (1919) came.", ("2003", "2005"), False),
    ("a birth", "Leeds United, led by Abe (born 1919), won.", ("2003", "2005"), False),
    ("the bracket of a life", "Leeds United (1919–1940) was a club.", ("2003", "2005"), False),
    ("of another sentence", "Leeds United won. It had lost in 1919.", ("2003", "2005"), True),
    ("in a paragraph of its time", "Leeds United won. Hull lost in 1919, York in 2004.",
     ("2003", "2005"), False),
    ("in a sentence with a date far off", "Leeds United, where men of all the towns around it had "
     "played for years, as the papers wrote, sang in 1919.", ("2003", "2005"), False),
    ("no end", "Leeds United won in 2020.", ("2003", None), False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "span", "wanted"), [u[1:] for u in MISDATED], ids=[u[0] for u in MISDATED]
)
def test_evidence_of_another_time(text: str, span: tuple[str, str | None], wanted: bool) -> None:
    one = page(text)
    [row] = align_page(one, [(segment(*span), LEEDS)], Alignment())
    assert row.rule == "name"
    assert misdated(ReadPage(one), [row]) == (frozenset([0]) if wanted else frozenset())
    assert misdated(ReadPage(one), [replace(row, verification="human")]) == frozenset()


SERVED: list[tuple[str, str, list[tuple[str, str | None]], set[int]]] = [
    ("one date for two stints", "He joined Leeds United in 2003.",
     [("2003", "2005"), ("2012", "2014")], {1}),
    ("one date for segments that follow on", "The first came from Leeds United in 1947.",
     [("1947", "1949"), ("1949", "1956")], {1}),
    ("a stretch for segments that follow on", "He was at Leeds United from 2003 to 2009.",
     [("2003", "2005"), ("2005", "2009")], set()),
    ("dates of both", "He was at Leeds United (2003–05, 2012–14).",
     [("2003", "2005"), ("2012", "2014")], set()),
    ("no date", "He was twice at Leeds United.", [("2003", "2005"), ("2012", "2014")], set()),
    ("a date far off in its sentence", "Of the last ones, Leeds United 2944 of 1905 and "
     "two more of them are owned by a club of friends of the railway, whose members met first in "
     "1909.",
     [("1902", "1906"), ("1909", "1920")], {1}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "spans", "wanted"), [u[1:] for u in SERVED], ids=[u[0] for u in SERVED]
)
def test_a_mention_that_serves_several_is_evidence_of_those_it_dates(
    text: str, spans: list[tuple[str, str | None]], wanted: set[int]
) -> None:
    one = page(text)
    found = align_page(one, [(segment(*span), LEEDS) for span in spans], Alignment())
    none = {n for n, row in enumerate(found) if row.rule == "none"}
    assert none | misdated(ReadPage(one), found) == wanted


HINTS: list[tuple[str, str, Names, bool]] = [
    ("linked in other words", "He worked for [[Harvard University|a university]].", HARVARD, True),
    ("a word of it with a date", "In 1995 he went to Harvard's law faculty.", HARVARD, True),
    ("a word of it alone", "He likes Harvard's law faculty.", HARVARD, False),
    ("a word with another date", "In 1980 he saw Harvard's law faculty.", HARVARD, False),
    ("both boundaries", "| 1993–1999; American university", HARVARD, True),
    ("one boundary", "| 1993; American university", HARVARD, False),
    ("a date in the heading", "= Years / 1993–1999\nHe was in Harvard's care.", HARVARD, True),
    ("a word in the heading", "= Harvard\nHe went to a university in 1995.", HARVARD, True),
    (
        "a word of its stem",
        "In 1995 he led the economic ministry.",
        Names("Minister of the Economy", (), None),
        True,
    ),
    ("no proper name, in any words", "He slept.", Names("member of the House", (), None), True),
    ("no proper name", "He has been an editor.", Names("editor", (), None), True),
    ("its name in a longer one", "He read the Harvard University Press.", HARVARD, True),
    ("its name in a heading", "= Harvard University\nHe slept.", HARVARD, True),
    ("nothing", "He slept.", HARVARD, False),
]


def test_what_a_page_names_at_another_time_may_be_told() -> None:
    one = page("He joined Leeds United in 1990.")
    spans = [segment("1990", "1995"), segment("2003", "2005")]
    named, missing = align_page(one, [(s, LEEDS) for s in spans], Alignment())
    missing = replace(missing, rule="none", paragraph=None, start=None, end=None, mention=None)
    assert hinted(ReadPage(one), [named, missing], "Ann Lee") == {1}
    other = replace(named, object="Q3", object_label="Hull City", aliases=(), mention="Hull City")
    assert hinted(ReadPage(page("He slept.")), [other, missing], "Ann Lee") == frozenset()


@pytest.mark.parametrize(
    ("text", "names", "wanted"), [h[1:] for h in HINTS], ids=[h[0] for h in HINTS]
)
def test_what_a_page_may_tell_in_other_words(text: str, names: Names, wanted: bool) -> None:
    one = page(text)
    [row] = align_page(one, [(segment("1993", "1999"), names)], Alignment())
    row = replace(row, rule="none", paragraph=None, start=None, end=None, mention=None)
    assert hinted(ReadPage(one), [row], "Ann Lee") == (frozenset([0]) if wanted else frozenset())
    assert hinted(ReadPage(one), [replace(row, verification="human")], "Ann Lee") == frozenset()


STATED: list[tuple[str, str | None, str | None, tuple[bool | None, bool | None]]] = [
    ("Leeds United (2003–2009)", "2003", "2009", (True, True)),
    ("From 2003 on with Leeds United.", "2003", "2009", (True, False)),
    ("From 2003 on with Leeds United.", "2003", None, (True, None)),
    ("From 2003 on with Leeds United.", None, "2009", (None, False)),
    ("From July 2003 on with Leeds United.", "2003", None, (True, None)),
    ("From 2003 on with Leeds United.", "2003-07", None, (False, None)),
    ("From 12 July 2003 with Leeds United.", "2003-07", None, (True, None)),
    ("From July 2003 with Leeds United.", "2003-07-12", None, (False, None)),
    ("With Leeds United. He came in 2003. He left.", "2003", "2009", (True, False)),
    ("With Leeds United.\nHe came in 2003.", "2003", "2009", (False, False)),
    ("= Career / 2003–2005: Leeds\nWith Leeds United.", "2003", "2009", (True, False)),
    ("= From 2003 / Leeds\nWith Leeds United.", "2003", "2009", (True, False)),
    ("= From 2003 / Leeds / 2005\nWith Leeds United.", "2003", "2009", (False, False)),
    ("In the 2000s with Leeds United.", "2003", "2009", (False, False)),
]


@pytest.mark.parametrize(("text", "start", "end", "wanted"), STATED)
def test_stated_boundaries(
    text: str, start: str | None, end: str | None, wanted: tuple[bool | None, bool | None]
) -> None:
    [row] = align_page(page(text), [(segment(start, end), LEEDS)], Alignment())
    assert (row.start_stated, row.end_stated) == wanted


def test_a_name_of_two_objects_is_no_name() -> None:
    hull, leeds = segment(of="Q3"), segment(of="Q2")
    both = [
        (leeds, Names("Leeds United F.C.", ("United",), None)),
        (hull, Names("Hull United F.C.", ("United",), None)),
    ]
    found = align_page(page("He joined United."), both, Alignment())
    assert [r.rule for r in found] == ["none", "none"]
    [alone] = align_page(page("He joined United."), both[:1], Alignment())
    assert alone.rule == "name"


def test_what_names_another_object_is_not_similar() -> None:
    text, low = "* As Governor the Bank Canada had him.", Alignment(min_similarity=0.1)
    canada = Names("Bank Canada", (), None)
    wanted = (segment(of="Q2"), Names("Governor of the Bank of England", (), None))
    [alone] = align_page(page(text), [wanted], low)
    assert (alone.rule, alone.mention) == ("similar", "Governor the Bank")
    beside = align_page(page(text), [wanted, (segment(of="Q3"), canada)], low)
    assert [r.rule for r in beside] == ["none", "name"]


def test_rows_keep_the_segment_and_its_order() -> None:
    ones = [segment("2003", "2009"), replace(segment("1995"), object="Q9"), segment("2012")]
    found = align_page(page("He joined Leeds United."), [(s, LEEDS) for s in ones], Alignment())
    assert [(r.object, r.start_first, r.statements) for r in found] == [
        (s.object, s.start_first, s.statements) for s in ones
    ]
    assert {(r.object_label, r.aliases) for r in found} == {(LEEDS.label, LEEDS.aliases)}


def test_similarity_has_a_threshold() -> None:
    text, named = "* University of Upper Leuna", Names("University of Lower Leuna", (), None)
    low = align_page(page(text), [(segment(), named)], Alignment(min_similarity=0.1))[0]
    high = align_page(page(text), [(segment(), named)], Alignment(min_similarity=0.99))[0]
    assert (low.rule, high.rule) == ("similar", "none")
    assert low.score is not None
    assert 0.5 < low.score < 1


def test_the_cosine_by_hand() -> None:
    """Two passages, three words a name: the weights are ln(3/3)+1 = 1 and ln(3/2)+1 = 1.405."""
    [row] = align_page(
        page("* alpha beta gamma\n* alpha delta"),
        [(segment(), Names("alpha beta omega", (), None))],
        Alignment(),
    )
    seen, once, never = 1.0, 1.4054651081, 2.0986122887
    dot = seen**2 + once**2
    length = (seen**2 + once**2 + never**2) ** 0.5 * (seen**2 + 2 * once**2) ** 0.5
    assert row.score == pytest.approx(dot / length, abs=1e-6)
    assert (row.paragraph, row.mention) == (0, "alpha beta")


@pytest.mark.skipif(not MARKED.is_file(), reason=f"no {MARKED}; set FACTDRIFT_DATA")
def test_what_people_marked_is_found() -> None:
    counts = measure.counted(list(measure.aligned(MARKED, label=True)))
    both = counts["develop"] + counts["held back"]
    assert both["answers"] > 1000
    assert both["any"] > 0.97 * both["answers"]
    assert both["nearest: top 1"] > 0.84 * both["answers"]
    assert both["recurring: top 1"] > 0.64 * both["recurring"]
    assert both["start stated: nearest"] > 1.1 * both["start stated: first"]


def test_the_measure_prints_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = (
        '[{"link": "/wiki/X", "type": "P54", "paras": ["X", "He played for A . B . Town , in '
        '2003 ."], "questions": [["Who did X play for in 2003?", [{"para": 1, "from": 14, '
        '"end": 24, "answer": "A . B . Town"}]]]}]'
    )
    file = tmp_path / "marked.json"
    file.write_text(record.replace('"end": 24', '"end": 26'))
    assert measure.main([str(file)]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"exact span +\d+ +[\d.]+% +\d+ +[\d.]+% +1 100\.0%", printed)
    assert measure.main([]) == 2
    assert measure.main([str(tmp_path / "none.json")]) == 1
    assert "cannot be read" in capsys.readouterr().err


DECOMPOSED = unicodedata.normalize("NFD", "Zé")

FOUND: list[tuple[str, str, list[str]]] = [
    ("Leeds United", "He left Leeds United, and Leeds\u2011United too.", ["Leeds United"] * 2),
    ("Leeds United F.C.", "He joined Leeds United F.C. in May.", ["Leeds United F.C."]),
    ("Leeds United F.C.", "He joined Leeds United FC.", ["Leeds United FC"]),
    ("Yahoo!", "He led Yahoo! from 2003.", ["Yahoo!"]),
    ("Warner Bros.", "Made by Warner Bros. in 2003.", ["Warner Bros."]),
    ("Warner Bros.", "Made by Warner Bros in 2003.", ["Warner Bros"]),
    ("Leeds United F.C.", "He joined Leeds United.", ["Leeds United"]),
    ("Leeds United F.C.", "The Leeds United F.C. Women won.", []),
    ("Leeds United", "Leeds United's ground; Leeds Unitedly.", ["Leeds United"]),
    ("C.D. Montijo", "CD Montijo, C. D. Montijo, C.D.Montijo.", ["?"] * 3),
    ("St. Louis Blues", "the St Louis Blues and St. Louis Blues", ["?"] * 2),
    ("P. J. Soles", "actress P. J. Soles and P.J. Soles", ["?"] * 2),
    ("Acme Corporation", "Acme hired her.", ["Acme"]),
    ("Paris (Texas)", "She moved to Paris.", ["Paris"]),
    ("York", "In York he worked; later New York, York City and York-based firms.", ["York"] * 2),
    ("Harvard University", "Harvard University Press; then Harvard University.", ["?"]),
    ("BBC Radio", "on BBC Radio 4 and BBC Radio.", ["BBC Radio"]),
    ("BBC Radio 4", "on BBC Radio 4.", ["BBC Radio 4"]),
    ("United Kingdom", "They united. Kingdom come. The United Kingdom.", ["United Kingdom"]),
    ("Labour", "hard labour; she joined Labour", ["Labour"]),
    ("IT", "it is in IT.", ["IT"]),
    ("politician", "Politician and politician", ["Politician", "politician"]),
    ("Minister of Defence", "was minister of defence", ["minister of defence"]),
    ("AT&T", "at AT&T.", ["AT&T"]),
    ("Rock and Roll Hall", "the Rock & Roll Hall", ["Rock & Roll Hall"]),
    ("Łódź Press", "the Lodz Press", ["Lodz Press"]),
    ("Pelé", "Pele and Pelé, not pele", ["Pele", "Pelé"]),
    ("Zé Motta", f"by {DECOMPOSED} Motta.", [f"{DECOMPOSED} Motta"]),
    ("İzmir Spor", "at İzmir Spor.", ["İzmir Spor"]),
    ("Jane Smith", "Smith wrote it.", []),
    ("Lady Margaret Hall, Oxford", "of women, Lady Margaret Hall, and she", ["Lady Margaret Hall"]),
    ("Lady Margaret Hall, Oxford", "at Lady Margaret Hall, Oxford", ["Lady Margaret Hall, Oxford"]),
    ("Trinity College, Cambridge", "Trinity College (Cambridge)", ["Trinity College"]),
    ("Trinity College, Cambridge", "at Trinity College, Dublin", []),
    ("Girton, Cambridge", "at Girton", []),
    ("Trinity College, informally", "at Trinity College", []),
    ("University of California, Berkeley", "the University of California", []),
    ("State Secretary for Education, Culture", "State Secretary for Education", []),
    ("head coach, Leeds", "the head coach", []),
    ("()", "()", []),
]


@pytest.mark.parametrize(("label", "text", "wanted"), FOUND)
def test_names(label: str, text: str, wanted: list[str]) -> None:
    paragraphs = (rows.Paragraph("text", "", "Não é.", ()), rows.Paragraph("text", "", text, ()))
    page = PageText(rows.Page("Q1", "T", 1, 1, paragraphs))
    found, _ = page.named(names_of(label, (), None), None)
    shown = [text[m.start : m.end] for m in found]
    assert all(m.paragraph == 1 for m in found)
    assert len(shown) == len(wanted)
    if "?" not in wanted:
        assert [s.replace("\u2011", " ") for s in shown] == wanted


def test_folding_keeps_the_length() -> None:
    text = "".join(
        map(chr, [*range(32, 0x3000), *range(0xFB00, 0x10000), *range(0x1D400, 0x1D800)])
    )
    text = "".join(c for c in text if not "\ud800" <= c <= "\udfff")
    assert len(fold_in_place(text)) == len(text)
    assert fold_in_place("Łódź ÉCOLE İstanbul") == "lodz ecole istanbul"


DATES: list[tuple[str, list[str], list[str]]] = [
    ("2003\u20132009", ["2003", "2009"], ["2003/2009"]),
    ("2003-09", ["2003", "2009"], ["2003/2009"]),
    ("1999/2000", ["1999", "2000"], ["1999/2000"]),
    ("1999-00", ["1999", "2000"], ["1999/2000"]),
    ("2009-03", ["2009-03"], []),
    ("1943-45,1946-47", ["1943", "1945", "1946", "1947"], ["1943/1945", "1946/1947"]),
    ("from July 2003 until 2009", ["2003-07", "2009"], ["2003-07/2009"]),
    ("since 2003", ["2003"], ["2003/.."]),
    ("2003\u2013present", ["2003"], ["2003/.."]),
    ("until 2009", ["2009"], ["../2009"]),
    ("between 2003 and 2005", ["2003", "2005"], ["2003/2005"]),
    ("12 May 2003", ["2003-05-12"], []),
    ("May 12, 2003", ["2003-05-12"], []),
    ("on the 1st of May, 2003", ["2003-05-01"], []),
    ("2003-05-12", ["2003-05-12"], []),
    ("12 May to 3 June 2003", ["2003-05-12", "2003-06-03"], ["2003-05-12/2003-06-03"]),
    ("Jan. 2003 to Sept. 2004", ["2003-01", "2004-09"], ["2003-01/2004-09"]),
    ("December 2003", ["2003-12"], []),
    ("the 1990s", ["199X"], []),
    ("31 February 2003", [], []),
    ("2,003 people, $2003, 2003 km, 12003 and no year", [], []),
]


def written(first: date, last: date) -> str:
    if first == last:
        return first.isoformat()
    if (last - first).days > 366:
        return f"{first.year // 10}X"
    return f"{first:%Y-%m}" if first.month == last.month else f"{first:%Y}"


@pytest.mark.parametrize(("text", "wanted", "stretches"), DATES)
def test_dates(text: str, wanted: list[str], stretches: list[str]) -> None:
    found = dates_in(f"It was {text}.")
    assert [written(w.first, w.last) for w in found.written] == wanted
    assert all(f"It was {text}."[w.start : w.end].strip() for w in found.written)
    ends = [
        "/".join(
            [
                next((written(*w[2:]) for w in found.written if w.first == s.first), ".."),
                next((written(*w[2:]) for w in found.written if w.last == s.last), ".."),
            ]
        )
        for s in found.stretches
    ]
    assert ends == stretches


def test_sentences() -> None:
    text = "He met Dr. A. Smith at U.S. Steel. Then he left! It ended in Jan. 2003."
    starts = sentence_starts(text)
    assert [text[s:].split()[0] for s in starts] == ["He", "Then", "It"]


BASE = [f.name for f in fields(rows.Segment)]


def named(subject: str, of: str, label: str, relation: str = "P54") -> rows.NamedSegment:
    start, end = days("2003"), days("2009")
    return rows.NamedSegment(
        subject=subject,
        relation=relation,
        object=of,
        start_first=start[0],
        start_last=start[1],
        end_first=end[0],
        end_last=end[1],
        end_open=False,
        end_inferred=False,
        rival=False,
        statements=(f"{subject}${of}",),
        snapshot=days("2022-09-15")[0] or pytest.fail(),
        object_label=label,
        aliases=(),
        object_title=None,
    )


def write(path: Path, row: Any, some: Sequence[Any], group: int = 7) -> Path:
    table = pa.Table.from_batches(batches(row, some), schema=arrow_schema(row))
    pq.write_table(table, path, row_group_size=group)
    return path


def read(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return found


def made(folder: Path, count: int) -> tuple[Path, Path]:
    """Pages of some of `count` subjects, of Q9 before Q10, and segments of others too."""
    rng = random.Random(3)
    pages, segments = [], []
    for n in range(1, count + 1):
        clubs = rng.sample(["Leeds United", "Hull City", "Aston Villa", "Bury"], 3)
        if rng.random() < 0.8:
            text = f"Subject {n}.\nHe was with {clubs[0]} from 2003 to 2009.\n* {clubs[1]} (2003)"
            pages.append(page(text, f"Q{n}"))
        if rng.random() < 0.8:
            segments += [named(f"Q{n}", f"Q{k}", club) for k, club in enumerate(clubs)]
    return (
        write(folder / "pages.parquet", rows.Page, pages),
        write(folder / "segments.parquet", rows.NamedSegment, segments, 11),
    )


def test_subjects_meet_their_pages(tmp_path: Path) -> None:
    pages, segments = made(tmp_path, 150)
    counts = align_file(pages, segments, tmp_path / "out", Alignment())
    found, dropped = (read(tmp_path / "out" / f"{n}.parquet") for n in counts)
    known = {p["item"] for p in read(pages)}
    wanted = read(segments)
    assert [{n: r[n] for n in BASE} for r in found] == [
        {n: s[n] for n in BASE} for s in wanted if s["subject"] in known
    ]
    assert [(d["item"], d["subject"], d["relation"]) for d in dropped] == [
        (f"{s['subject']}/P54/{s['object']}", s["subject"], "P54")
        for s in wanted
        if s["subject"] not in known
    ]
    assert {(d["step"], d["reason"]) for d in dropped} == {("align", "no_page")}
    assert counts == {"aligned": len(found), "dropped": len(dropped)}
    assert min(counts.values()) > 20
    assert [r["rule"] for r in found] == ["name", "name", "none"] * (len(found) // 3)
    assert {r["paragraph"] for r in found} == {1, 2, None}
    schema = pq.read_schema(tmp_path / "out" / "aligned.parquet")
    assert schema.equals(arrow_schema(rows.AlignedSegment))


def test_the_same_bytes_in_two_processes(tmp_path: Path) -> None:
    pages, segments = made(tmp_path, 120)
    for jobs in (1, 2):
        align_file(pages, segments, tmp_path / str(jobs), Alignment(), jobs)
    for name in ("aligned.parquet", "dropped.parquet"):
        one, two = ((tmp_path / str(j) / name).read_bytes() for j in (1, 2))
        assert one == two


EDGES: list[tuple[str, list[str], list[str], list[str], list[str]]] = [
    ("no pages", [], ["Q1", "Q2"], [], ["Q1", "Q2"]),
    ("no segments", ["Q1"], [], [], []),
    ("before, between and after", ["Q5", "Q10"], ["Q4", "Q5", "Q7", "Q10", "Q11"], ["Q5", "Q10"],
     ["Q4", "Q7", "Q11"]),
    ("by number", ["Q9", "Q10"], ["Q9", "Q10"], ["Q9", "Q10"], []),
]  # fmt: skip


@pytest.mark.parametrize(("items", "subjects", "met", "left"), [e[1:] for e in EDGES])
def test_edges(
    tmp_path: Path, items: list[str], subjects: list[str], met: list[str], left: list[str]
) -> None:
    pages = write(tmp_path / "p", rows.Page, [page("Text.", i) for i in items])
    ones = [named(s, "Q1", "Hull") for s in subjects]
    segments = write(tmp_path / "s", rows.NamedSegment, ones)
    align_file(pages, segments, tmp_path / "out", Alignment())
    assert [r["subject"] for r in read(tmp_path / "out/aligned.parquet")] == met
    assert [r["subject"] for r in read(tmp_path / "out/dropped.parquet")] == left


def test_many_segments_without_a_page(tmp_path: Path) -> None:
    pages = write(tmp_path / "p", rows.Page, [page("Hull.", "Q99999")])
    ones = [named(f"Q{n}", "Q1", "Hull") for n in range(10_000, 40_000)]
    ones.append(named("Q99999", "Q1", "Hull"))
    segments = write(tmp_path / "s", rows.NamedSegment, ones, 5000)
    counts = align_file(pages, segments, tmp_path / "out", Alignment())
    assert counts == {"aligned": 1, "dropped": 30_000}
    dropped = pq.read_table(tmp_path / "out/dropped.parquet").column("subject").to_pylist()
    assert dropped == [f"Q{n}" for n in range(10_000, 40_000)]


def test_wrong_files_are_told(tmp_path: Path) -> None:
    good = write(tmp_path / "p", rows.Page, [page("Text.", "Q1")])
    twice = write(tmp_path / "t", rows.Page, [page("Text.", "Q1"), page("Text.", "Q1")])
    back = write(tmp_path / "b", rows.NamedSegment, [named(q, "Q1", "A") for q in ("Q10", "Q9")])
    fine = write(tmp_path / "f", rows.NamedSegment, [named("Q1", "Q1", "A")])
    (tmp_path / "text").write_text("no Parquet")
    for pages, segments, said in (
        (tmp_path / "none", fine, "no such file"),
        (tmp_path / "text", fine, "not a Parquet file"),
        (fine, fine, "no column item, title"),
        (twice, fine, "item Q1 stands twice"),
        (good, back, "subject Q9 stands after Q10"),
    ):
        with pytest.raises(UserError, match=said):
            align_file(pages, segments, tmp_path / "out", Alignment())


@pytest.fixture(scope="module")
def duck(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with engine("duckdb", tmp_path_factory.mktemp("scratch"), threads=2) as opened:
        yield opened


def kept(
    duck: Engine, folder: Path, pairs: dict[tuple[str, str], str], cap: int | None, seed: int = 1
) -> tuple[set[tuple[str, str]], dict[str, tuple[str, float, str]]]:
    """Pairs that stay and drops, of pairs given by the first letters of their segments' rules."""
    names = {"l": "link", "n": "name", "s": "similar", "-": "none"}
    path = folder / "aligned.parquet"
    some = []
    for (subject, relation), rules in pairs.items():
        for k, letter in enumerate(rules):
            one = named(subject, f"Q{k}", "A", relation)
            base = {n: getattr(one, n) for n in BASE}
            gone = dict.fromkeys(("paragraph", "start", "end", "mention", "score"))
            stated = dict.fromkeys(("start_stated", "end_stated"))
            more = {"object_label": "A", "aliases": (), "page": 1, "revision": 1}
            rest = {"rule": names[letter], "verification": "automatic"}
            some.append(rows.AlignedSegment(**base, **more, **gone, **stated, **rest))  # type: ignore[arg-type]
    write(path, rows.AlignedSegment, some)
    settings = Alignment(pairs_per_relation=cap)
    segments, dropped = keep_pairs(duck.read(path, rows.AlignedSegment), settings, seed)
    duck.write(dropped, folder / "d.parquet", rows.Dropped, DROPPED_ORDER)
    order = ("subject", "relation", "object")
    duck.write(segments, folder / "k.parquet", rows.AlignedSegment, order)
    left = {(r["subject"], r["relation"]) for r in read(folder / "k.parquet")}
    assert sum(len(pairs[p]) for p in left) == len(read(folder / "k.parquet"))
    drops = read(folder / "d.parquet")
    assert {d["step"] for d in drops} <= {"align"}
    return left, {d["item"]: (d["reason"], d["score"], d["detail"]) for d in drops}


def test_more_than_half_missing(duck: Engine, tmp_path: Path) -> None:
    pairs = {("Q1", "P54"): "l-", ("Q2", "P54"): "n--", ("Q3", "P54"): "-", ("Q4", "P6"): "sln"}
    left, drops = kept(duck, tmp_path, pairs, None)
    assert left == {("Q1", "P54"), ("Q4", "P6")}
    assert drops == {
        "Q2/P54": ("not_in_page", pytest.approx(2 / 3), "2 of 3 segments are not in the page"),
        "Q3/P54": ("not_in_page", 1.0, "1 of 1 segments are not in the page"),
    }


def test_a_relation_is_cut_to_its_cap_by_hash(duck: Engine, tmp_path: Path) -> None:
    pairs = {(f"Q{n}", "P54"): "l" for n in range(40)} | {("Q7", "P6"): "n", ("Q8", "P54"): "--"}
    left, drops = kept(duck, tmp_path, pairs, 10, seed=5)

    def chance(subject: str) -> str:
        return hashlib.sha256(f"5\t{subject}\tP54".encode()).hexdigest()

    good = [f"Q{n}" for n in range(40) if n != 8]
    assert left == {(s, "P54") for s in sorted(good, key=chance)[:10]} | {("Q7", "P6")}
    assert drops["Q8/P54"][0] == "not_in_page"
    assert [r for r, *_ in drops.values()].count("over_cap") == 29
    other, _ = kept(duck, tmp_path, pairs, 10, seed=6)
    assert other != left
