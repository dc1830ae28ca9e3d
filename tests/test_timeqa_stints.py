"""Alignment of objects with several stints: the mention that a reader would mark for each.

In the texts `<0>` and `<12>` stand before the mentions that a reader would mark for the stints of
these numbers; where several have a number, any of them will do, and a stint without one has no
evidence. The expected answers were written before the alignment was run on them.
"""

import re
from datetime import date

import pytest

from factdrift.builders import rows
from factdrift.builders.timeqa.alignment import Alignment, ObjectNames, align_page
from tests.test_timeqa_alignment import days, page

CLUB = "Leeds United"
_MARK = re.compile("<([0-9]+)>")

CASES: list[tuple[str, str, str, str]] = [
    ("prose", CLUB, "2003..2005 2012..2014",
     "In July 2003 he joined <0>Leeds United. He spent two seasons there before he went to Hull "
     "in 2005. In 2012 he returned to <1>Leeds United."),
    ("the return's year comes a sentence later", CLUB, "2003..2005 2012-01..2014",
     "He joined <0>Leeds United in 2003. After five years in Hull he came back to <1>Leeds United. "
     "He signed a contract in January 2012 and stayed until 2014."),
    ("the return's year comes later in its paragraph", CLUB, "2003..2005 2012..2014",
     "He joined <0>Leeds United in 2003.\nHe returned to <1>Leeds United. In 2012 he was captain, "
     "and he left in 2014."),
    ("an undated visit, and a pair with the dates", CLUB, "1940..1955",
     "! teams: Hull City (1914–1933), <0>Leeds United (1940–1955)\nHe was visiting Leeds United "
     "when the letter came."),
    ("a year just after, and a stretch inside", CLUB, "1814..1818",
     "At Leeds United in 1819 he met his wife.\nBetween 1815 and 1817 he wrote a book at "
     "<0>Leeds United."),
    ("a year just after alone", CLUB, "1814..1818",
     "At <0>Leeds United in 1819 he met his wife.\nHe liked Leeds United."),
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
    # Written after the rules were set on the cases above, and not looked at before.
    ("a manager's two spells in sections", "Parma", "1996..1998 2004..2007",
     "= Managerial career / Early years\nHe was appointed by <0>Parma in the summer of 1996 and "
     "led them to second place. He was sacked in 1998.\n= Managerial career / Turin\nHe replaced "
     "Lippi in February 1999. His side lost to Parma in 2000.\n= Managerial career / Return\nIn "
     "2004 the bankrupt <1>Parma called him back."),
    ("a mayor's terms with others between", "Mayor of Leuna", "1950..1954 1960..1966",
     "* <0>Mayor of Leuna, 1950–1954\n* Member of the Landtag, 1954–1960\n"
     "* <1>Mayor of Leuna, 1960–1966"),
    ("terms in a table of dates", "Leuna", "1949-10-07..1952-07-25 1990-10-03..",
     "| 7 October 1949 | 25 July 1952 | <0>Leuna\n| 25 July 1952 | 2 October 1990 | Halle\n"
     "| 3 October 1990 | | <1>Leuna"),
    ("capital lost and regained", "Leuna", "1871..1945 1990-10..",
     "<0>Leuna was the capital from 1871 to 1945. Bonn followed. Since October 1990 the capital is "
     "<1>Leuna again."),
    ("a band left and joined again", "The Whites", "1985..1993 2007..",
     "Lee sang with <0>The Whites until 1993, for eight years. He rejoined <1>The Whites in 2007 "
     "and is with them today."),
    ("record labels of albums", "Ariola", "1973..1979 1995..2003",
     "* Rito (<0>Ariola, 1973)\n* Forgesound (<0>Ariola, 1977)\n* Fuga (Movieplay, 1981)\n"
     "* Paseo (<1>Ariola, 1996)\n* Aire (<1>Ariola, 2003)"),
    ("a navy, a sale and a return", "United States", "1945-02..1953-04 2007..2008",
     "She served the <0>United States from February 1945. In 1953 she was lent to Japan, and in "
     "1966 to Thailand. In 2007 she was given back to the <1>United States."),
    ("a professor's years in Roman order", "Charles University", "1911..1912 1920..1925",
     "In 1911 he accepted a chair at <0>Charles University, but left for Zurich a year later. From "
     "1912 to 1920 he taught in Zurich, and then, until 1925, at <1>Charles University once more."),
    ("the second first", "Charles University", "1911..1912 1920..1925",
     "He ended his career at <1>Charles University, where he taught from 1920 to 1925. He had held "
     "a post at <0>Charles University before, in 1911 and 1912."),
    ("a broken contract", CLUB, "2003..2005 2012..2014",
     "= Career\nLee signed for <0>Leeds United on 4 August 2003.\nHe broke a leg in 2004, and "
     "Leeds United let him go a year later.\n= Comeback\nHe signed for <1>Leeds United a second "
     "time on 5 August 2012."),
    ("a rumour", CLUB, "2003..2005 2012..2014",
     "Lee signed for <0>Leeds United in 2003. In 2009 a return to Leeds United was in the papers. "
     "It came in 2012, when <1>Leeds United bought him."),
    ("goals against", CLUB, "2003..2005 2012..2014",
     "After he had moved to <0>Leeds United in 2003 he scored ten times.\nHe scored against Leeds "
     "United for Hull City in 2008.\nIn July 2012 <1>Leeds United took him back."),
    ("youth and senior rows", CLUB, "1999..2001 2003..2005",
     "! youth years: 1999–2001 | youth clubs: <0>Leeds United\n! years: 2001–2003 | clubs: Hull\n"
     "! years: 2003–2005 | clubs: <1>Leeds United"),
    ("teams of a player, one pair", CLUB, "2003..2005 2012..2014",
     "! teams: <0>Leeds United (2003–2005), Hull City (2006–2011), <1>Leeds United (2012–2014)"),
    ("a spouse before and after a war", "Ann Lee", "1938..1941 1946..1950",
     "In 1938 he married <0>Ann Lee. They were divorced in 1941, when he went to the front. Back "
     "home he looked for Ann Lee, and in 1946 he married <1>Ann Lee again."),
    ("a minister in two cabinets", "Minister of Justice", "1969-10..1974-05 1982-10..1983-03",
     "He entered the first cabinet in October 1969 as <0>Minister of Justice. When that fell in "
     "May 1974 he went to the bench. In October 1982 he was sworn in as <1>Minister of Justice of "
     "the next one, which lasted to March 1983."),
    ("a paper's editor", "The Leuna Times", "1901..1908 1919..1922",
     "He edited <0>The Leuna Times from 1901 to 1908. His novel, printed by The Leuna Times in "
     "1911, sold well. After the war, in 1919, he took over <1>The Leuna Times again."),
    ("a residence with visits", "Paris", "1920..1924 1930..1939",
     "From 1920 he lived in <0>Paris. He moved to Vienna in 1924, saw Paris in 1927 for a week, "
     "and settled in <1>Paris for good in 1930."),
    ("a season heading", CLUB, "2003..2004 2006..2007",
     "= Seasons / 2003–04\n<0>Leeds United came fifth.\n= Seasons / 2005–06\nHull beat Leeds "
     "United twice.\n= Seasons / 2006–07\nWith <1>Leeds United he came tenth."),
    ("the lead with the years of both stays", "Berlin", "1921..1923 1926..1933",
     "Lee (1890–1960) lived in <01>Berlin (1921–23 and 1926–33) and in Prague.\n= Life\n"
     "Lee was fond of Berlin."),
    ("a loan made permanent in the next season", CLUB, "2010..2011 2013..2016",
     "* 2009–2013: Hull City\n* 2010–2011: → <0>Leeds United (loan)\n* 2013–2016: "
     "<1>Leeds United"),
    ("chairs of a party", "Ann Lee", "1990-09..2000-09 2004-09..2014-11",
     "<0>Ann Lee won the leadership in September 1990. John Swin followed when she stood down in "
     "2000. He stood down in 2004, and <1>Ann Lee was elected again.\nIn 2014 Ann Lee resigned."),
]  # fmt: skip


# Only a reader who understands the clauses knows whose year it is.
_NOT_YET = {"out and back in one year", "his father's years"}


def _stint(text: str) -> rows.Segment:
    start, end = text.split("..")
    return rows.Segment(
        "Q1", "P54", "Q2", *days(start), *days(end), not end, False, False, (), date(2022, 9, 15)
    )


@pytest.mark.parametrize(
    ("label", "stints", "marked"),
    [
        pytest.param(*c[1:], id=c[0], marks=[pytest.mark.xfail(strict=True)] * (c[0] in _NOT_YET))
        for c in CASES
    ],
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
    assert all(c in e if e else c is None for c, e in zip(chosen, expected, strict=True)), (
        chosen,
        expected,
    )
