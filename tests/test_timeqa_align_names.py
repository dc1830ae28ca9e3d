"""What counts as a name in a text, and which dates a text states: tables of text."""

import unicodedata
from datetime import date

import pytest

from builders import rows
from builders.timeqa.mentions import PageText
from builders.timeqa.spelling import fold, names_of
from builders.timeqa.stated import dates_in, sentence_starts

DECOMPOSED = unicodedata.normalize("NFD", "Zé")

FOUND: list[tuple[str, str, list[str]]] = [
    ("Leeds United", "He left Leeds United, and Leeds\u2011United too.", ["Leeds United"] * 2),
    ("Leeds United F.C.", "He joined Leeds United F.C. in May.", ["Leeds United F.C."]),
    ("Leeds United F.C.", "He joined Leeds United FC.", ["Leeds United FC"]),
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
    assert len(fold(text)) == len(text)
    assert fold("Łódź ÉCOLE İstanbul") == "lodz ecole istanbul"


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
