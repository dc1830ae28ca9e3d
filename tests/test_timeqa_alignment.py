"""Alignment: which names are found in a page, the rules, stated dates, files, and pairs kept."""

import hashlib
import random
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from datetime import date
from pathlib import Path
from typing import NamedTuple

import pytest

from bench import alignment as measure
from factdrift.builders import rows
from factdrift.builders.core.engine import Engine, engine
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
from factdrift.builders.timeqa.evidence import Naming, PageStates
from factdrift.builders.timeqa.mentions import PageText
from tests.conftest import DATA
from tests.dumps import rows as read
from tests.histories import Interval, day, parquet

ALIGNMENT = Alignment()
BASE = [f.name for f in fields(rows.Segment)]
UNKNOWN: Interval = (None, None)
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


def segment(start: str | None = None, end: str | None = None, of: str = "Q2") -> rows.Segment:
    """A segment; no `end`: open; an empty one: ended on an unknown day."""
    begins, ends = (day(text) if text else UNKNOWN for text in (start, end))
    is_open = end is None
    return rows.Segment(
        "Q1", "P54", of, *begins, *ends, is_open, False, False, ("Q1$a",), date(2022, 9, 15)
    )


class Names(NamedTuple):
    """The names of an object."""

    label: str
    aliases: tuple[str, ...]
    title: str | None


def align(
    text: str, pairs: Sequence[tuple[rows.Segment, Names]], settings: Alignment = ALIGNMENT
) -> list[rows.AlignedSegment]:
    """Segments aligned with the page of a text."""
    return align_page(page(text), [_named(*pair) for pair in pairs], settings)


def _named(one: rows.Segment, names: Names) -> rows.NamedSegment:
    base = {name: getattr(one, name) for name in BASE}
    more = {"object_label": names.label, "aliases": names.aliases, "object_title": names.title}
    return rows.NamedSegment(**base, **more)  # type: ignore[arg-type]


LEEDS = Names("Leeds United F.C.", ("LUFC", "The Whites"), "Leeds United F.C.")

RULES: list[tuple[str, str, Names, tuple[str, str | None]]] = [
    ("a link", "He joined [[Leeds United F.C.|Leeds]].", LEEDS, ("link", "Leeds")),
    ("a link before a name", "Leeds United F.C. won. [[Leeds United F.C.|They]] did.", LEEDS,
     ("link", "Leeds United F.C.")),
    ("an alias", "He joined the Whites and LUFC.", LEEDS, ("name", "the Whites")),
    ("without the suffix", "He joined Leeds United.", LEEDS, ("name", "Leeds United")),
    ("another page of that name", "He joined [[Leeds United (1880)|Leeds United]].",
     Names("Leeds United F.C.", (), "LUFC"), ("name", "Leeds United")),
    ("another thing of that name", "He joined [[Vitória S.C.|Vitória]].",
     Names("Vitória F.C.", (), "Vitória F.C."), ("none", None)),
    ("inside a longer link", "He moved to [[Manchester United F.C.|Manchester United]].",
     Names("Manchester", (), "Manchester"), ("none", None)),
    ("similar", "He studied. He was at the Technical University of Leuna.",
     Names("Technical University Leuna-Merseburg", (), None),
     ("similar", "Technical University of Leuna")),
    ("one shared word is not similar", "* Welling United",
     Names("Dundee United", (), None), ("none", None)),
    ("the text of a link is no name", "[[Ann Lee|His deputy]] was mayor.",
     Names("Ann Lee", (), "Ann Lee"), ("none", None)),
    ("an office is no name of its holder", "The [[Ann Lee|Mayor of Leuna]] came.",
     Names("Ann Lee", (), "Ann Lee"), ("none", None)),
    ("a word of it", "He was a [[Democratic Party|Democrat]] until 2001.",
     Names("Democratic Party", (), "Democratic Party"), ("link", "Democrat")),
    ("with its bracket", "They were the Torpedo Squadron 4 (VT-4) then.",
     Names("Torpedo Squadron 4 (VT-4)", (), None), ("name", "Torpedo Squadron 4 (VT-4)")),
    ("initials", "She moved to the CWI in Amsterdam.",
     Names("Centrum Wiskunde & Informatica", (), None), ("name", "CWI")),
    ("no initials where the name stands", "CWI! The Centrum Wiskunde & Informatica.",
     Names("Centrum Wiskunde & Informatica", (), None), ("name", "Centrum Wiskunde & Informatica")),
    ("without the generic part", "He led the Berlin Philharmonic.",
     Names("Berlin Philharmonic Orchestra", (), None), ("name", "Berlin Philharmonic")),
    ("one word is not enough", "He was a Labour man.",
     Names("Labour Party", (), None), ("none", None)),
    ("nothing", "He played.", LEEDS, ("none", None)),
    ("no text", "", LEEDS, ("none", None)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "named", "wanted"), [r[1:] for r in RULES], ids=[r[0] for r in RULES]
)
def test_the_first_rule_that_holds(text: str, named: Names, wanted: tuple[str, str | None]) -> None:
    [row] = align(text, [(segment("2003", "2009"), named)])
    assert (row.rule, row.mention) == wanted
    assert (row.page, row.revision, row.verification) == (7, 8, "automatic")
    assert (row.score is not None) == (row.rule == "similar")
    if row.rule == "none":
        assert {row.paragraph, row.start, row.end, row.start_stated, row.end_stated} == {None}
        assert (row.evidence, row.contradicted) == ("none", False)
    else:
        assert row.paragraph is not None
        assert page(text).paragraphs[row.paragraph].text[row.start : row.end] == row.mention


CHOICES: list[tuple[str, str, rows.Segment, tuple[int, str]]] = [
    ("the first without dates", "He is with Leeds United. He likes Leeds United.",
     segment(), (0, "Leeds United")),
    ("text before a list", "! Leeds United\n| Leeds United\n* Leeds United\nLeeds United won.",
     segment(), (3, "Leeds United")),
    ("a list before a table", "| Leeds United\n* Leeds United", segment(), (1, "Leeds United")),
    ("an infobox before a table", "| Leeds United\n! Leeds United",
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
    ("dates of another time", "Ann.\nHe was with Leeds United (1811–1812) and Hull.\n"
     "In 1825 he came to Leeds United.", segment("1825", "1831"), (2, "Leeds United")),
    ("not the end alone", "He joined Leeds United.\nHe left Leeds United in 2009.",
     segment("2003", "2009"), (0, "Leeds United")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "one", "wanted"), [c[1:] for c in CHOICES], ids=[c[0] for c in CHOICES]
)
def test_the_mention_that_says_it_best(
    text: str, one: rows.Segment, wanted: tuple[int, str]
) -> None:
    [row] = align(text, [(one, LEEDS)])
    assert (row.paragraph, row.mention) == wanted


SEVERAL: dict[str, tuple[str, list[str]]] = {
    "each its own": (
        "He joined Leeds United in 2003. He rejoined Leeds United in 2012.", ["0:10", "0:44"]),
    "whatever the order": (
        "He rejoined Leeds United in 2012. He joined Leeds United in 2003.", ["0:44", "0:12"]),
    "rows of a table": (
        "| 2003–2005; Leeds United\n| 2012–2014; Leeds United", ["0:11", "1:11"]),
    "seasons in headings": (
        "= Career / 2003–2005\nHe joined Leeds United.\n= Career / 2012\nHe joined Leeds United.",
        ["0:10", "1:10"]),
    "one mention for two": (
        "He was with Leeds United from 2003 to 2005 and from 2012 to 2014.", ["0:12", "0:12"]),
    "a mention without dates": ("He was twice with Leeds United.", ["0:18", "0:18"]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), SEVERAL.values(), ids=SEVERAL)
def test_two_segments_of_one_object(text: str, wanted: list[str]) -> None:
    both = [(segment("2003", "2005"), LEEDS), (segment("2012", "2014"), LEEDS)]
    assert [f"{r.paragraph}:{r.start}" for r in align(text, both)] == wanted


Evidence = tuple[bool | None, bool | None, str, bool]
STATED: list[tuple[str, str | None, str | None, Evidence]] = [
    ("Leeds United (2003–2009)", "2003", "2009", (True, True, "both", False)),
    ("From 2003 on with Leeds United.", "2003", "2009", (True, False, "one", False)),
    ("Since 2003 with Leeds United.", "2003", None, (True, True, "both", False)),
    ("Since 2001 with Leeds United.", "2003", None, (False, False, "none", False)),
    ("In 2003 at Leeds United.", "2003", None, (True, False, "one", False)),
    ("From 2003 on with Leeds United.", None, "2009", (None, False, "none", False)),
    ("From 2003 on with Leeds United.", "2003-07", "2009", (True, False, "one", False)),
    ("From 12 July 2003 with Leeds United.", "2003-07", "2009", (True, False, "one", False)),
    ("In May 2003 with Leeds United.", "2003-07", "2009", (False, False, "none", False)),
    ("In July 2003 with Leeds United.", "2003-07-12", "2009", (True, False, "one", False)),
    ("With Leeds United. He came in 2003. He left.", "2003", "2009", (True, False, "one", False)),
    ("At Leeds United in the end of 2005. He came in 2003.", "2003", "2009",
     (False, False, "none", False)),
    ("In 2003 he came. He liked it. At Leeds United. He left. He died in 2009.", "2003", "2009",
     (False, False, "none", False)),
    ("With Leeds United.\nHe came in 2003.", "2003", "2009", (False, False, "none", False)),
    ("= Career / 2003–2005: Leeds\nWith Leeds United.", "2003", "2009",
     (False, False, "none", False)),
    ("= Career / 2003–2009: Leeds\nWith Leeds United.", "2003", "2009",
     (True, True, "both", False)),
    ("= From 2003 / Leeds\nWith Leeds United.", "2003", "2009", (True, False, "one", False)),
    ("= From 2003 / Leeds / 2005\nWith Leeds United.", "2003", "2009",
     (False, False, "none", False)),
    ("In the 2000s with Leeds United.", "2003", "2009", (False, False, "none", False)),
    ("He, born in 2003, knows Leeds United.", "2003", "2009", (False, False, "none", False)),
    ("Leeds United (2003–2007)", "2003", "2009", (False, False, "none", False)),
    ("Leeds United (2005–2009)", "2003", "2009", (False, False, "none", False)),
    ("Leeds United (2003–2007), then 2009", "2003", "2009", (False, True, "one", False)),
    ("Leeds United (2010–2012)", "2003", "2009", (False, False, "none", True)),
    ("Leeds United (1998–2003)", "2003", "2009", (False, False, "none", False)),
    ("Leeds United (2009–2012)", "2003", "2009", (False, False, "none", False)),
    ("* Leeds United (2003–2005, 2007–2009)", "2007", "2009", (True, True, "both", False)),
    ("Hull (2001–2003), Leeds United (2003–)", "2003", None, (True, True, "both", False)),
    ("* 1989: Leeds United", "2003", "2009", (False, False, "none", True)),
    ("* Leeds United (1919–1990), 2003–2009", "2003", "2009", (True, True, "both", False)),
    ("* Leeds United (1919–1990), back in 2003", "2003", "2009", (True, False, "one", True)),
    ("* 2005: Leeds United", "2003", "2009", (False, False, "none", True)),
    ("* 1989: Leeds United", "", "2009", (None, False, "none", False)),
    ("* 2011: Leeds United", "", "2009", (None, False, "none", False)),
    ("In 1989 he had never heard of Leeds United.", "2003", "2009",
     (False, False, "none", False)),
    ("Of Leeds United in 1989.", "", "", (None, None, "none", False)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "start", "end", "wanted"), STATED)
def test_what_the_page_states(
    text: str, start: str | None, end: str | None, wanted: Evidence
) -> None:
    [row] = align(f"Ann.\n{text}", [(segment(start, end), LEEDS)])
    assert (row.start_stated, row.end_stated, row.evidence, row.contradicted) == wanted


NAMING: list[tuple[str, str, str, Names, set[int]]] = [
    ("the label, an alias, a surname",
     "Ann Smith.\nSmith led.\nNobody.\nThe Chief came.", "Bo Lee",
     Names("Ann Smith", ("The Chief",), None), {0, 1, 3}),
    ("another form", "The Province of Hanover.\nHull.", "Bo Lee",
     Names("Hanover", (), None), {0}),
    ("initials", "At the CWI.\nHull.", "Bo Lee",
     Names("Centrum Wiskunde & Informatica", (), None), {0}),
    ("not a kind of things, nor a word of the subject",
     "The University of Hull.\nThe University of Leeds.", "Hull Museum",
     Names("University of Leeds", (), None), {1}),
    ("all of a label without such words", "The party began.\nThe new party of old.", "Bo Lee",
     Names("The New Party", (), None), {1}),
    ("what a link leads to", "He joined [[Leeds United F.C.|them]].\nHull.", "Bo Lee", LEEDS, {0}),
    ("a section's title", "= Leeds\nHe played.\n= Hull\nHe played.", "Bo Lee", LEEDS, {0}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "subject", "names", "wanted"), [n[1:] for n in NAMING], ids=[n[0] for n in NAMING]
)
def test_paragraphs_that_may_name_an_object(
    text: str, subject: str, names: Names, wanted: set[int]
) -> None:
    [row] = align(text, [(segment("2003", "2005"), names)])
    assert PageStates(PageText(page(text))).naming(Naming(row, subject)) == wanted


def test_the_days_that_a_page_states() -> None:
    text = (
        "Ann Lee (1950-2020) sang.\nHe joined Leeds United in 2003. He was born in 1998.\n"
        "In 1990 he sang, since 1992 well.\nIn the 1980s he slept.\n= Clubs\n* Hull, 1999\n"
        "* Leeds United, 2003\n= Other\n* 1991"
    )
    states = PageStates(PageText(page(text)))
    [row] = align(text, [(segment("2003", "2005"), LEEDS)])
    assert [first.year for first, _ in states.near_evidence([row])] == [1990, 1992, 1992, 2003]
    listed = replace(row, paragraph=5)
    assert [first.year for first, _ in states.near_evidence([listed])] == [1999, 2003]
    assert states.lengths == (4, 11, 7, 5, 2, 3, 1)


def test_a_name_of_two_objects_is_no_name() -> None:
    hull, leeds = segment(of="Q3"), segment(of="Q2")
    both = [
        (leeds, Names("Leeds United F.C.", ("United",), None)),
        (hull, Names("Hull United F.C.", ("United",), None)),
    ]
    found = align("He joined United.", both)
    assert [r.rule for r in found] == ["none", "none"]
    [alone] = align("He joined United.", both[:1])
    assert alone.rule == "name"


def test_similarity_has_a_threshold() -> None:
    text, named = "* University of Upper Leuna", Names("University of Lower Leuna", (), None)
    low = align(text, [(segment(), named)], Alignment(min_similarity=0.1))[0]
    high = align(text, [(segment(), named)], Alignment(min_similarity=0.99))[0]
    assert (low.rule, high.rule) == ("similar", "none")
    assert low.score is not None
    assert 0.5 < low.score < 1


def test_the_cosine_by_hand() -> None:
    """Two passages, three words a name: the weights are ln(3/3)+1 = 1 and ln(3/2)+1 = 1.405."""
    omega = Names("alpha beta omega", (), None)
    [row] = align("* alpha beta gamma\n* alpha delta", [(segment(), omega)])
    seen, once, never = 1.0, 1.4054651081, 2.0986122887
    dot = seen**2 + once**2
    length = (seen**2 + once**2 + never**2) ** 0.5 * (seen**2 + 2 * once**2) ** 0.5
    assert row.score == pytest.approx(dot / length, abs=1e-6)
    assert (row.paragraph, row.mention) == (0, "alpha beta")


@pytest.mark.skipif(not MARKED.is_file(), reason=f"no {MARKED}; set FACTDRIFT_DATA")
def test_what_people_marked_is_found() -> None:
    counts = measure.counted(MARKED, label=True)
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
    ("Leeds United", "Leeds United's ground; Leeds Unitedly.", ["Leeds United"]),
    ("C.D. Montijo", "CD Montijo, C. D. Montijo, C.D.Montijo.", ["?"] * 3),
    ("St. Louis Blues", "the St Louis Blues and St. Louis Blues", ["?"] * 2),
    ("P. J. Soles", "actress P. J. Soles and P.J. Soles", ["?"] * 2),
    ("Acme Corporation", "Acme hired her.", ["Acme"]),
    ("Paris (Texas)", "She moved to Paris.", ["Paris"]),
    ("York", "In York he worked; later York City and York-based firms.", ["York"] * 2),
    ("Harvard University", "Harvard University Press; then Harvard University.", ["?"]),
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
    ("()", "()", []),
]


@pytest.mark.parametrize(("label", "text", "wanted"), FOUND)
def test_names(label: str, text: str, wanted: list[str]) -> None:
    paragraphs = (rows.Paragraph("text", "", "Não é.", ()), rows.Paragraph("text", "", text, ()))
    page = PageText(rows.Page("Q1", "T", 1, 1, paragraphs))
    found = page.named(names_of(label, (), None), None)
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


def named(subject: str, of: str, label: str) -> rows.NamedSegment:
    one = _named(segment("2003", "2009", of), Names(label, (), None))
    return replace(one, subject=subject, statements=(f"{subject}${of}",))


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
        parquet(folder / "pages.parquet", rows.Page, pages, 7),
        parquet(folder / "segments.parquet", rows.NamedSegment, segments, 11),
    )


def test_the_same_bytes_in_two_processes(tmp_path: Path) -> None:
    pages, segments = made(tmp_path, 120)
    for jobs in (1, 2):
        align_file(pages, segments, tmp_path / str(jobs), Alignment(), jobs)
    for name in ("aligned.parquet", "dropped.parquet"):
        one, two = ((tmp_path / str(j) / name).read_bytes() for j in (1, 2))
        assert one == two
    found, dropped = (read(tmp_path / "1" / f"{n}.parquet") for n in ("aligned", "dropped"))
    known, wanted = {p["item"] for p in read(pages)}, read(segments)
    assert [{n: r[n] for n in BASE} for r in found] == [
        {n: s[n] for n in BASE} for s in wanted if s["subject"] in known
    ]
    left = [s for s in wanted if s["subject"] not in known]
    assert [(d["step"], d["reason"], d["item"], d["detail"]) for d in dropped] == [
        ("align", "no_page", f"{s['subject']}/P54/{s['object']}", s["statements"][0]) for s in left
    ]
    assert min(len(found), len(dropped)) > 20
    assert [r["rule"] for r in found] == ["name", "name", "none"] * (len(found) // 3)


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
    pages = parquet(tmp_path / "p", rows.Page, [page("Text.", i) for i in items])
    ones = [named(s, "Q1", "Hull") for s in subjects]
    segments = parquet(tmp_path / "s", rows.NamedSegment, ones)
    align_file(pages, segments, tmp_path / "out", Alignment())
    assert [r["subject"] for r in read(tmp_path / "out/aligned.parquet")] == met
    assert [r["subject"] for r in read(tmp_path / "out/dropped.parquet")] == left


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
    [bare] = align("Nothing.", [(segment(), LEEDS)])
    some = [
        replace(bare, subject=subject, relation=relation, object=f"Q{k}", rule=names[letter])  # type: ignore[arg-type]
        for (subject, relation), rules in pairs.items()
        for k, letter in enumerate(rules)
    ]
    parquet(path, rows.AlignedSegment, some)
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
