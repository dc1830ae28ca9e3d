"""Alignment of one page: the rules in their order, the choice among mentions, stated dates."""

import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from builders import rows
from builders.timeqa import measure
from builders.timeqa.align import Alignment, Named, align_page
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
        "Q1", "P54", of, *days(start), *days(end), end is None, False, ("Q1$a",), date(2022, 9, 15)
    )


LEEDS = Named("Leeds United F.C.", ("LUFC", "The Whites"), "Leeds United F.C.")

RULES: list[tuple[str, str, str, Named, tuple[str, str | None]]] = [
    ("a link", "He joined [[Leeds United F.C.|Leeds]].", "", LEEDS, ("link", "Leeds")),
    ("a link before a name", "Leeds United F.C. won. [[Leeds United F.C.|They]] did.", "", LEEDS,
     ("link", "Leeds United F.C.")),
    ("an alias", "He joined the Whites and LUFC.", "", LEEDS, ("name", "the Whites")),
    ("without the suffix", "He joined Leeds United.", "", LEEDS, ("name", "Leeds United")),
    ("another page of that name", "He joined [[Leeds United (1880)|Leeds United]].", "",
     Named("Leeds United F.C.", (), "LUFC"), ("name", "Leeds United")),
    ("another thing of that name", "He joined [[Vitória S.C.|Vitória]].", "",
     Named("Vitória F.C.", (), "Vitória F.C."), ("none", None)),
    ("inside a longer link", "He moved to [[Manchester United F.C.|Manchester United]].", "",
     Named("Manchester", (), "Manchester"), ("none", None)),
    ("similar", "He studied. He was at the Technical University of Leuna.", "",
     Named("Technical University Leuna-Merseburg", (), None),
     ("similar", "Technical University of Leuna")),
    ("one shared word is not similar", "* Welling United", "",
     Named("Dundee United", (), None), ("none", None)),
    ("a name in another's name is not similar", "* Harvard University Press", "",
     Named("Harvard University", (), None), ("none", None)),
    ("a bank is not its governor", "* He headed the Bank of Leuna.", "",
     Named("Governor of the Bank of Leuna", (), None), ("none", None)),
    ("the governor of a bank is", "* In 2013 Governor at Bank of Leuna.", "",
     Named("Governor of the Bank of Leuna", (), None), ("similar", "Governor at Bank of Leuna")),
    ("a bank in its governor's title may be linked", "* In 2013 Governor at [[Bank of Leuna]].", "",
     Named("Governor of the Bank of Leuna", (), None), ("similar", "Governor at Bank of Leuna")),
    ("the governor of another bank", "* He was Governor of the Bank of Canada in 2008.", "",
     Named("Governor of the Bank of England", (), None), ("none", None)),
    ("a link to the governor of another bank",
     "* [[Governor of X|Governor of the Bank]]", "",
     Named("Governor of the Bank of England", (), None), ("none", None)),
    ("the next best passage",
     "* Governor of the Bank of Canada\n* Governor of the English Bank of old",
     "", Named("Governor of the Bank of England", (), None),
     ("similar", "Governor of the English Bank")),
    ("nothing", "He played.", "", LEEDS, ("none", None)),
    ("no text", "", "", LEEDS, ("none", None)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "start", "named", "wanted"), [r[1:] for r in RULES], ids=[r[0] for r in RULES]
)
def test_the_first_rule_that_holds(
    text: str, start: str, named: Named, wanted: tuple[str, str | None]
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
     "He played for [[Leeds United F.C.|The Peacocks]].\nHe left.\n"
     "From 2003 to 2009 he was with the Peacocks again.",
     segment("2003", "2009"), (2, "the Peacocks")),
    ("dates in the section", "He likes Leeds United.\n= Career / Leeds United (2003–2009)\n"
     "Leeds United bought him from 2003 on.", segment("2003", "2009"), (1, "Leeds United")),
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
    ("= From 2003 / Leeds\nWith Leeds United.", "2003", "2009", (False, False)),
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
        (leeds, Named("Leeds United F.C.", ("United",), None)),
        (hull, Named("Hull United F.C.", ("United",), None)),
    ]
    found = align_page(page("He joined United."), both, Alignment())
    assert [r.rule for r in found] == ["none", "none"]
    [alone] = align_page(page("He joined United."), both[:1], Alignment())
    assert alone.rule == "name"


def test_what_names_another_object_is_not_similar() -> None:
    text, low = "* As Governor the Bank Canada had him.", Alignment(min_similarity=0.1)
    canada = Named("Bank Canada", (), None)
    wanted = (segment(of="Q2"), Named("Governor of the Bank of England", (), None))
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
    text, named = "* University of Upper Leuna", Named("University of Lower Leuna", (), None)
    low = align_page(page(text), [(segment(), named)], Alignment(min_similarity=0.1))[0]
    high = align_page(page(text), [(segment(), named)], Alignment(min_similarity=0.99))[0]
    assert (low.rule, high.rule) == ("similar", "none")
    assert low.score is not None
    assert 0.5 < low.score < 1


def test_the_cosine_by_hand() -> None:
    """Two passages, three words a name: the weights are ln(3/3)+1 = 1 and ln(3/2)+1 = 1.405."""
    [row] = align_page(
        page("* alpha beta gamma\n* alpha delta"),
        [(segment(), Named("alpha beta omega", (), None))],
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
    both = counts["even"] + counts["odd"]
    assert both["answers"] > 1000
    assert both["any"] > 0.97 * both["answers"]
    assert both["nearest: top 1"] > 0.84 * both["answers"]
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
