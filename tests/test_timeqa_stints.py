"""Alignment of objects with several stints: the mention that a reader would mark for each.

In the texts `<0>` and `<12>` stand before the mentions that a reader would mark for the stints of
these numbers; where several have a number, any of them will do, and a stint without one has no
evidence. The expected answers were written before the alignment was run on them.
"""

import re

import pytest

from builders import rows
from builders.timeqa.alignment import Alignment, ObjectNames, align_page
from tests.test_timeqa_alignment import days, page

CLUB = "Leeds United"
_MARK = re.compile("<([0-9]+)>")

CASES: list[tuple[str, str, str, str]] = [
    ("prose", CLUB, "2003..2005 2012..2014",
     "In July 2003 he joined <0>Leeds United. He spent two seasons there before moving to Hull City "
     "in 2005. In 2012 he returned to <1>Leeds United."),
    ("the return's year comes a sentence later", CLUB, "2003..2005 2012-01..2014",
     "He joined <0>Leeds United in 2003. After five years in Hull he came back to <1>Leeds United. "
     "He signed a contract in January 2012 and stayed until 2014."),
    ("the return's year comes later in its paragraph", CLUB, "2003..2005 2012..2014",
     "He joined <0>Leeds United in 2003.\nHe returned to <1>Leeds United. In 2012 he was captain, "
     "and he left in 2014."),
    ("loan and return, a list", CLUB, "2003..2004 2006..2009",
     "* 2003–2004: <0>Leeds United (loan)\n* 2004–2006: Hull City\n* 2006–2009: <1>Leeds United"),
    ("loan and return, prose", CLUB, "2003-01..2003-05 2004..2009",
     "He came through the ranks at Hull City. In January 2003 he was loaned to <0>Leeds United "
     "until the end of the season. He went back to Hull, but in 2004 the move to <1>Leeds United "
     "was made permanent."),
    ("infobox of clubs", CLUB, "2003..2005 2012..2014",
     "! years: 2003–2005 | clubs: <0>Leeds United | caps: 30 | goals: 2\n"
     "! years: 2005–2012 | clubs: Hull City\n"
     "! years: 2012–2014 | clubs: → <1>Leeds United (loan)\nHe is a former footballer."),
    ("infobox and prose without dates", CLUB, "2003..2005 2012..2014",
     "! years: 2003–2005 | clubs: <0>Leeds United\n! years: 2012–2014 | clubs: <1>Leeds United\n"
     "He was twice a player of Leeds United."),
    ("season rows", CLUB, "2003..2005 2012..2014",
     "| Season | Club | Apps\n| 2003–04 | <0>Leeds United | 30\n| 2004–05 | <0>Leeds United | 31\n"
     "| 2005–06 | Hull City | 29\n| 2012–13 | <1>Leeds United | 30\n"
     "| 2013–14 | <1>Leeds United | 30"),
    ("two terms in one sentence", "Minister of Finance", "1995..1999 2003..2007",
     "He served as <0>Minister of Finance from 1995 to 1999, and again as <1>Minister of Finance "
     "from 2003 to 2007."),
    ("ranges in a bracket", "Minister of Finance", "1995..1999 2003..2007",
     "* <01>Minister of Finance (1995–99, 2003–07)\n* Minister of Justice (1999–2003)"),
    ("two marriages, named twice", "Ann Lee", "1964..1974 1975-10..1976",
     "He married <0>Ann Lee in 1964; they divorced in 1974. In October 1975 he married <1>Ann Lee "
     "again, and they parted in 1976."),
    ("two marriages, named once", "Ann Lee", "1964..1974 1975-10..1976",
     "He married <01>Ann Lee in 1964 and divorced her in 1974. They remarried in October 1975 and "
     "divorced again in 1976."),
    ("infobox of marriages", "Ann Lee", "1964..1974 1975..1976",
     "! spouse: <0>Ann Lee (m. 1964; div. 1974), <1>Ann Lee (m. 1975; div. 1976)"),
    ("first and again", "Ann Lee", "1964..1974 1975..1976",
     "His wife was <01>Ann Lee, whom he married first in 1964 and again in 1975."),
    ("a return alone is dated", CLUB, "1999..2003 2011..2013",
     "He played for <0>Leeds United as a young man. He returned to <1>Leeds United in 2011."),
    ("a stint alone is dated", CLUB, "2003..2005 2012..2014",
     "He joined <0>Leeds United in 2003. Years later he came back to <1>Leeds United."),
    ("draft year and signing year", CLUB, "2003..2005 2010..2012",
     "He was selected by Leeds United in the 2001 draft, but went to college. In 2003 he signed "
     "for <0>Leeds United. He came back to <1>Leeds United in 2010."),
    ("a colon before the date", CLUB, "2003..2005 2010..2012",
     "* <0>Leeds United: 2003–2005\n* Hull City: 2005–2010\n* <1>Leeds United: 2010–2012"),
    ("dates in the headings alone", CLUB, "2003..2005 2012..2014",
     "= Career / First spell (2003–2005)\nHe scored ten goals for <0>Leeds United.\n"
     "= Career / Return to Leeds United (2012–2014)\n<1>Leeds United bought him back. He scored "
     "twice."),
    ("headings of clubs", CLUB, "2003..2005 2012..2014",
     "= Career / Leeds United\nIn the summer of 2003 he joined <0>Leeds United.\n"
     "= Career / Hull City\nHe left Leeds United in 2005 for Hull City.\n"
     "= Career / Return to Leeds United\nOn 3 January 2012 he rejoined <1>Leeds United."),
    ("ranges of unlike form", CLUB, "2003..2005 2008..2008",
     "* <01>Leeds United (2003–05, 2008)\n* Hull City (2005–07)"),
    ("a list of a coach", CLUB, "2003..2005 2008..",
     "* <0>Leeds United (2003–05)\n* Hull City (2006–08)\n* <1>Leeds United (2008–present)"),
    ("an opponent", CLUB, "2003..2005 2012..2014",
     "He scored against Leeds United in 1999. He joined <0>Leeds United in 2003."),
    ("three spells", CLUB, "2001..2003 2005..2007 2009..2011",
     "His first spell at <0>Leeds United began in 2001. His second spell at <1>Leeds United lasted "
     "from 2005 to 2007, and his third at <2>Leeds United from 2009 to 2011."),
    ("the lead says it without dates", CLUB, "2003..2005 2012..2014",
     "He is best known for his two spells with Leeds United.\n= Career\nHe joined <0>Leeds United "
     "from Derby County in 2003. He left two years later.\n= Later career\nAfter a spell in Spain "
     "he rejoined <1>Leeds United in 2012."),
    ("the lead says it with dates", CLUB, "2003..2005 2012..2014",
     "He played for <01>Leeds United from 2003 to 2005 and from 2012 to 2014.\n= Career\n"
     "He signed for <0>Leeds United in July 2003.\n= Return\nHe signed again for <1>Leeds United "
     "in July 2012."),
    ("months", CLUB, "2003-07..2005-01 2005-08..2006-05",
     "In July 2003 he joined <0>Leeds United. In January 2005 he left Leeds United for Hull City. "
     "In August 2005 he was back at <1>Leeds United."),
    ("out and back in one year", CLUB, "2003..2005 2005..2007",
     "In 2003 he joined <0>Leeds United. He left Leeds United in 2005 for Hull City, only to "
     "return to <1>Leeds United later that year."),
    ("his father's years", CLUB, "2003..2005 2012..2014",
     "In 2012, when his father, who had played for Leeds United in the 1970s, had died, he "
     "rejoined <1>Leeds United. In 2003 he had first signed for <0>Leeds United."),
    ("departures between", CLUB, "2003..2005 2011..2013",
     "He joined <0>Leeds United in 2003. He left Leeds United in 2005. In 2011 he returned to "
     "<1>Leeds United, and he left Leeds United in 2013."),
    ("the club's cup a year before", CLUB, "2003..2005 2013..2015",
     "He joined <0>Leeds United in 2003. Leeds United won the cup in 2012 without him. He came "
     "back to <1>Leeds United in 2013."),
    ("until and since", CLUB, "..2005 2011..",
     "* <0>Leeds United (until 2005)\n* Hull City (2005–2011)\n* <1>Leeds United (since 2011)"),
    ("honours", CLUB, "2003..2005 2012..2014",
     "= Honours\n* Leeds United: Cup 2004, 2013\n= Career\nIn 2003 he moved to <0>Leeds United.\n"
     "= Return\nIn 2012 he moved back to <1>Leeds United."),
    ("prose and a table of seasons", CLUB, "2003..2005 2012..2014",
     "In 2003 he moved to <0>Leeds United.\nIn 2012 he rejoined <1>Leeds United.\n"
     "| <0>Leeds United | 2003–04 | 20\n| <1>Leeds United | 2012–13 | 4"),
    ("three governments", "Prime Minister of Italy",
     "1994-05..1995-01 2001-06..2006-05 2008-05..2011-11",
     "He was Prime Minister of Italy three times. His first government as <0>Prime Minister of "
     "Italy ran from May 1994 to January 1995. In June 2001 he became <1>Prime Minister of Italy "
     "again, until May 2006. He was <2>Prime Minister of Italy once more from May 2008 to "
     "November 2011."),
    ("succession boxes", "Prime Minister of Italy", "1994..1995 2001..2006",
     "| Preceded by Carlo Ciampi | <0>Prime Minister of Italy 1994–1995 | Succeeded by Lamberto "
     "Dini\n| Preceded by Giuliano Amato | <1>Prime Minister of Italy 2001–2006 | Succeeded by "
     "Romano Prodi"),
    ("infobox of an office", "Prime Minister of Italy", "2001-06-11..2006-05-17 2008-05-08..2011",
     "! office: <1>Prime Minister of Italy | term: 8 May 2008 – 16 November 2011\n"
     "! office: <0>Prime Minister of Italy | term: 11 June 2001 – 17 May 2006\n"
     "He is a politician."),
    ("posts with a date in front", "University of Vienna", "1984..1990 1995..2010",
     "* 1984–1990: <0>University of Vienna, assistant\n* 1990–1995: MIT, professor\n"
     "* 1995–2010: <1>University of Vienna, professor"),
    ("residences", "Berlin", "1921..1923 1926..1933",
     "He lived in <0>Berlin from 1921 to 1923, then in Prague. In 1926 he went back to <1>Berlin, "
     "where he stayed until 1933."),
    ("degrees by their ends", "Harvard University", "1987..1991 1993..1995",
     "He took his first degree at <0>Harvard University in 1991, worked in Paris, and returned to "
     "<1>Harvard University for a doctorate, which he got in 1995."),
    ("a list of degrees", "Harvard University", "1987..1991 1994..1998",
     "* 1991: BA, <0>Harvard University\n* 1993: MA, Oxford\n* 1998: PhD, <1>Harvard University"),
    ("a party left and joined again", "Labour Party", "1920..1931 1945..1960",
     "He joined the <0>Labour Party in 1920. When the government fell he left the Labour Party in "
     "1931. In 1945 he stood for the <1>Labour Party again."),
    ("caretaker, then manager", CLUB, "2003-03..2003-05 2006..2008",
     "He was caretaker of <0>Leeds United in March 2003. In 2006 he was made manager of "
     "<1>Leeds United."),
    ("the year in the sentence before", CLUB, "2003..2005 2012..2014",
     "In 2003 Hull City sold him. He joined <0>Leeds United. In 2012 he was free. He joined "
     "<1>Leeds United."),
    ("the year two sentences before", CLUB, "2003..2005 2012..2014",
     "The year 2003 began with an injury. It healed. Then <0>Leeds United came. Five years in "
     "Spain followed. The year 2012 began with another. It healed too. Then <1>Leeds United came "
     "once more."),
    ("having played", CLUB, "2003..2005 2012..2014",
     "Having played for <0>Leeds United from 2003 to 2005, he rejoined <1>Leeds United in 2012."),
    ("a long sentence", CLUB, "2003..2005 2012..2014",
     "In 2003 he moved from Hull City to <0>Leeds United for a fee of two million pounds, left in "
     "2005, and in 2012 moved from Derby County to <1>Leeds United for nothing."),
    ("seasons", CLUB, "2003..2005 2012..2014",
     "He joined <0>Leeds United before the 2003–04 season. He rejoined <1>Leeds United before the "
     "2012–13 season."),
    ("between and since", CLUB, "2003..2005 2012..",
     "He was at <0>Leeds United between 2003 and 2005 and has been at <1>Leeds United since 2012."),
    ("a stint that the page does not tell", CLUB, "1990..1991 2003..2005 2012..2014",
     "He joined <1>Leeds United in 2003. He rejoined <2>Leeds United in 2012."),
    ("seasons that nearly touch", CLUB, "2003..2004 2005..2006",
     "* 2003/04: <0>Leeds United\n* 2004/05: Hull City\n* 2005/06: <1>Leeds United"),
    ("headings of decades", CLUB, "2003..2005 2012..2014",
     "= Career / 2000s\nHe moved to <0>Leeds United.\n= Career / 2010s\nHe came back to "
     "<1>Leeds United."),
    ("headings of years", CLUB, "2003..2005 2012..2014",
     "= Life / 1990–2002\nHe loved Leeds United as a boy.\n= Life / 2003–2011\n<0>Leeds United "
     "signed him, then Hull City did.\n= Life / 2012–present\nHe was back at <1>Leeds United."),
    ("the earlier of two stays is no segment", CLUB, "2003..2005",
     "He was at Leeds United from 1998 to 1999. In 2003 he returned to <0>Leeds United."),
    ("a loan and a move in one year", CLUB, "2008-01..2008-05 2008-08..2010",
     "In January 2008 he joined <0>Leeds United on loan until May. In August 2008 he joined "
     "<1>Leeds United for good."),
    ("the return first", CLUB, "2001..2005 2008..2010",
     "<1>Leeds United took him back in 2008, three years after <0>Leeds United had sold him in "
     "2005."),
    ("a king restored", "King of Leuna", "1421-02-02..1425-05-05 1430..1440",
     "He was <01>King of Leuna (2 February 1421 – 5 May 1425 and 1430–1440)."),
    ("elected again and again", "Mayor of Leuna", "2003..2007 2007..2011 2011..2015",
     "He was elected <0>Mayor of Leuna in 2003. He was elected again as <1>Mayor of Leuna in 2007 "
     "and as <2>Mayor of Leuna in 2011."),
    ("memoirs", CLUB, "2003..2005 2012..2014",
     "In 2010 he wrote of his years with <0>Leeds United, from 2003 to 2005. In 2012 he went back "
     "to <1>Leeds United."),
    ("a bracket between", CLUB, "2003..2005 2012..2014",
     "He played 2003–05 for <0>Leeds United (2005–12 for Hull City) and 2012–14 for "
     "<1>Leeds United."),
    ("all clubs in one row", CLUB, "2003..2005 2012..2014",
     "| 2003–2005 | <0>Leeds United | 2005–2012 | Hull City | 2012–2014 | <1>Leeds United"),
    ("the year opens the paragraph", CLUB, "2003..2005 2012..2014",
     "Lee is a former captain of Leeds United.\n= Career\nIn the summer of 2003 he left home. His "
     "parents wept. A scout had seen him. So <0>Leeds United took him.\n= Return\nIn the summer of "
     "2012 he left Spain. His wife was glad. A friend had called. So <1>Leeds United took him "
     "back."),
    ("a transfer a few days off the data", CLUB, "2003-07-01..2005-06-30 2012-07-01..2014-06-30",
     "On 28 June 2003 he signed for <0>Leeds United. On 2 August 2012 he signed for "
     "<1>Leeds United again."),
    ("an anniversary", CLUB, "2003..2005 2012..2014",
     "He signed for <0>Leeds United in 2003. Nine years to the day after his first match for "
     "Leeds United he rejoined <1>Leeds United in 2012."),
    ("a title before each stint", "FC Basel", "2010..2012 2017..2018",
     "In 2010 he moved to <0>FC Basel, where he won the title in 2011 and 2012. After years abroad "
     "with Stuttgart and Bern, from 2012 to 2017, he returned to <1>FC Basel."),
    ("a stay that ended with the next one's start", "BBC", "1980..1985 1992..2000",
     "From 1980 she read the news for the <0>BBC. In 1985 she went to ITV, and in 1992, when ITV "
     "closed her programme, the <1>BBC took her back; she retired in 2000."),
    ("the employer's later history", "BBC", "1980..1985 1992..2000",
     "From 1980 she read the news for the <0>BBC. The BBC closed that programme in 1990. She "
     "worked for the <1>BBC again from 1992."),
]  # fmt: skip


def _stint(text: str) -> rows.Segment:
    start, end = text.split("..")
    return rows.Segment(
        "Q1", "P54", "Q2", *days(start), *days(end), not end, False, False, (), days("2022")[1]
    )


@pytest.mark.parametrize(
    ("label", "stints", "marked"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_a_stint_has_the_mention_that_a_reader_marks(label: str, stints: str, marked: str) -> None:
    wanted: dict[int, set[tuple[int, int]]] = {}
    lines = [line for line in marked.splitlines() if not line.startswith("=")]
    for n, line in enumerate(lines):
        own = line[2:] if line[:2] in ("* ", "| ", "! ") else line
        pieces = _MARK.split(own)
        for k in range(1, len(pieces), 2):
            at = n, sum(map(len, pieces[:k:2]))
            for digit in pieces[k]:
                wanted.setdefault(int(digit), set()).add(at)
    spans = [_stint(s) for s in stints.split()]
    names = ObjectNames(label, (), None)
    found = align_page(page(_MARK.sub("", marked)), [(s, names) for s in spans], Alignment())
    chosen = [None if r.rule == "none" else (r.paragraph, r.start) for r in found]
    expected = [wanted.get(n) for n in range(len(spans))]
    assert all(
        c in e if e else c is None for c, e in zip(chosen, expected, strict=True)
    ), (chosen, expected)
