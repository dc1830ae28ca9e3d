# ruff: noqa: E501 - a case a line
"""Templates and page structures of the English Wikipedia: what a person reads there, line by line.

The table was written from the pages as readers see them, before the reader's rules were.
"""

import pytest

from tests.test_pages_wikitext import shown

SEASONS = [
    ("{{nbay|1998}}", "[1998–99→1998–99 NBA season]"),
    ("{{nbay|1998|start}}–{{nbay|2003|end}}", "[1998→1998–99 NBA season]–[2004→2003–04 NBA season]"),
    ("{{nbay|1998|full}}", "[1998–99 NBA season→1998–99 NBA season]"),
    ("{{nbay|1999}}", "[1999–2000→1999–2000 NBA season]"),
    ("{{NBA Year|1998}}", "[1998–99→1998–99 NBA season]"),
    ("{{mlby|1998}}", "[1998→1998 Major League Baseball season]"),
    ("{{nhly|1998|end}}", "[1999→1998–99 NHL season]"),
    ("{{F1|2008}}", "[2008→2008 Formula One World Championship]"),
    ("{{escyr|2005}}", "[2005→Eurovision Song Contest 2005]"),
    ("{{cfby|2008}}", "2008"),
    ("{{nfly|1998|1999}}", "[1998→1998 NFL season]"),
    ("* [[St. Louis Cardinals]] ({{mlby|1974}}–{{mlby|1979}})",
     "list [St. Louis Cardinals→St. Louis Cardinals] ([1974→1974 Major League Baseball season]–"
     "[1979→1979 Major League Baseball season])"),
]  # fmt: skip

FLAGS = [
    ("{{USA}}", "[United States→United States]"),
    ("{{ENG}}", "[England→England]"),
    ("{{GER}} {{DEU}}", "[Germany→Germany] [Germany→Germany]"),
    ("{{flag|FRA}}", "[FRA→France]"),
    ("{{flag|United States}}", "[United States→United States]"),
    ("{{flagcountry|FRA}}", "[France→France]"),
    ("{{flagu|France}}", "France"),
    ("{{flag|United States|1912}}", "[United States→United States]"),
    ("{{flag|USA|name=America}}", "[America→United States]"),
    ("{{flagicon|FRA}} [[Alain Prost]]", "[Alain Prost→Alain Prost]"),
    ("{{flagicon image|Flag.svg}}x{{flagdeco|FRA}}", "x"),
    ("{{fb|ENG}}", "[England→England national football team]"),
    ("{{nft|England}}", "[England→England national football team]"),
    ("{{fbu|21|SCO}}", "[Scotland→Scotland national under-21 football team]"),
    ("{{fbw|GER}}", "[Germany→Germany women's national football team]"),
    ("{{ru|NZL}}", "[New Zealand→New Zealand national rugby union team]"),
    ("{{cr|IND}}", "[India→India national cricket team]"),
    ("{{army|United Kingdom}}", "[British Army→British Army]"),
    ("{{navy|USA}}", "[United States Navy→United States Navy]"),
    ("{{flag|Kingdom of Hanover}}", "[Kingdom of Hanover→Kingdom of Hanover]"),
]

SHIPS = [
    ("{{HMS|Victory}}", "[HMS Victory→HMS Victory]"),
    ("{{HMS|Ark Royal|91}}", "[HMS Ark Royal (91)→HMS Ark Royal (91)]"),
    ("{{USS|Enterprise|CVN-65|6}}", "[USS Enterprise→USS Enterprise (CVN-65)]"),
    ("{{USS|Monitor||2}}", "[Monitor→USS Monitor]"),
    ("{{HMS|Irresistible|1898|3}}", "[Irresistible (1898)→HMS Irresistible (1898)]"),
    ("{{SS|Great Britain}}", "[SS Great Britain→SS Great Britain]"),
    (
        "{{ship|Japanese battleship|Yamato}}",
        "[Japanese battleship Yamato→Japanese battleship Yamato]",
    ),
    ("{{ship|French battleship|Bouvet||2}}", "[Bouvet→French battleship Bouvet]"),
    ("{{ship||Titanic}}", "[Titanic→Titanic]"),
    ("{{SMU|U-9}}", "[SM U-9→SM U-9]"),
    ("{{GS|U-47|1938}}", "[German submarine U-47 (1938)→German submarine U-47 (1938)]"),
]

DATES = [
    ("{{start and end dates|1990|5|6|1995|7|8}}", "May 6, 1990 – July 8, 1995"),
    ("{{start and end dates|1990|5|6|1995|7|8|df=yes}}", "6 May 1990 – 8 July 1995"),
    ("{{start date and age|1990|5|6}}", "May 6, 1990"),
    ("{{start date|1990|5|6}} – {{end date|1995}}", "May 6, 1990 – 1995"),
    (
        "{{start-date|6 May 1990}} – {{end-date|July 8, 1995|timezone=yes}}",
        "6 May 1990 – July 8, 1995",
    ),
    ("{{death year and age|1990|1920}}", "1990"),
    ("{{death-date and age|5 June 1990|4 March 1920}}", "5 June 1990"),
    ("{{bda|1960|3|4|df=y}}", "4 March 1960"),
    ("{{dda|2000|1|2|1960|3|4}}", "January 2, 2000"),
    ("{{circa|1200|1210}}", "c. 1200 – c. 1210"),
    ("{{b.|1960}} {{d.|1990}}", "b. 1960 d. 1990"),
    ("{{date|1990-05-06|mdy}}", "May 6, 1990"),
    ("{{date|6 May 1990}}", "6 May 1990"),
    ("{{dts|1990-05-06}}", "May 6, 1990"),
    ("{{dts|6 May 1990}}", "6 May 1990"),
    ("{{Date table sorting|1990|5}}", "May 1990"),
    ("{{reign|1900|1910|pre=y}}", "reigned 1900–1910"),
    ("{{year range|1990|1995}}", "1990–1995"),
    ("{{since|1990}}", "since 1990"),
    ("{{date range|1990|5|6|1995|7|8}}", "May 6, 1990 – July 8, 1995"),
    ("{{As of|2011|df=US}}", "As of 2011"),
    ("{{as of|2011|7|5|since=y|lc=on}}", "since 5 July 2011"),
    ("{{marriage|[[A]]|1990|2000|end=d.}}", "[A→A] (m. 1990; d. 2000)"),
    ("{{marriage|[[A]]|1990}}", "[A→A] (m. 1990)"),
    ("{{married|[[A]]|1990|2000|divorced}}", "[A→A] (m. 1990; div. 2000)"),
    ("{{marriage||1990|2000}}", "(m. 1990–2000)"),
    (
        "{{USS|Ohio|SSBN-726|6}} {{small|({{start date|1981}})}}",
        "[USS Ohio→USS Ohio (SSBN-726)] (1981)",
    ),
]

LISTS = [
    ("{{vunblist|a|[[B]]}}", "a, [B→B]"),
    ("{{unbulleted list|a|b|class=x}}", "a, b"),
    ("{{longitem|a b}} {{longitem|line-height:1.2em|c}}", "a b c"),
    ("{{large|a}}{{larger|b}}{{big|c}}{{huge|d}}", "abcd"),
    ("{{smaller|a}}{{nobold|b}}{{resize|90%|c}}{{midsize|d}}", "abcd"),
    ("{{flatlist|\n* a\n* [[B]]\n}}", "a, [B→B]"),
    ("{{hlist|a|b}}", "a, b"),
    ("{{bulleted list|a|b}}", "a, b"),
    ("{{ordered list|a|b}}", "a, b"),
    ("{{ubl|{{nowrap|a (1990)}}|b (1995)}}", "a (1990), b (1995)"),
    ("{{collapsible list|title=Clubs|a|b}}", "Clubs: a, b"),
    ("{{columns-list|2|\n* a\n* [[B]]\n}}", "list a\nlist [B→B]"),
    ("{{div col}}\n* a\n* b\n{{div col end}}", "list a\nlist b"),
    ("{{columns-list|colwidth=20em|\n* a\n}}after", "list a\nafter"),
    ("{{plain list|\n* a\n* b}}", "a, b"),
    ("{{quote|To be.|[[Hamlet]]}}", "To be.\n— [Hamlet→Hamlet]"),
    ("{{cquote|To be.}}", "To be."),
    ("{{blockquote|text=To be.|author=A}}", "To be.\n— A"),
    ("{{quote box|quote=To be.|source=A}}", "To be.\n— A"),
    ("{{'}}{{\"'}}x{{' \"}}", "'\"'x'\""),
    ("{{tooltip|MVP|Most Valuable Player}}", "MVP"),
    ("{{nihongo|Aikido|合気道|aikidō}}", "Aikido (合気道, aikidō)"),
    ("{{lang-de|Wort}}", "Wort"),
    ("{{langx|de|Wort}} {{transl|ru|slovo}}", "Wort slovo"),
    ("{{interlanguage link|A|de|B}}", "[A→A]"),
    ("{{ill|A|de|B|lt=shown}}", "[shown→A]"),
    ("{{ill|en=A|de|B}}", "[A→A]"),
    ('{{noredirect|A}} {{-"}}x', '[A→A] "x'),
    ("{{linktext|word}}", "word"),
    ("{{see also|A}}x{{main|B}}{{further|C}}", "x"),
    ("{{citation needed|date=May 2020}}x{{efn|note}}{{sfn|A|1990}}{{refn|b}}{{r|c}}{{rp|5}}", "x"),
    ("{{font color|red|a}} {{color|red|b}} {{background color|red|c}}", "a b c"),
    ("{{center|a}} {{right|b}} {{align|left|c}}", "a b c"),
    ("{{thinsp}}a{{spaces|3}}b{{•}}c{{·}}d{{dot}}e{{pipe}}f", "a b • c · d · e|f"),
    ("{{increase}} 5 {{decrease}}", "5"),
    ("{{US$|5 million}} {{GBP|5}} {{INR|5}} {{Euro|5}} {{£|6}}", "US$5 million £5 ₹5 €5 £6"),
    ("{{sortname|Jane|Roe|dab=singer}} {{sort|x|[[B]]}}", "[Jane Roe→Jane Roe (singer)] [B→B]"),
    ("{{chem|H|2|O}}", "H2O"),
    ("{{party shading/Democratic}}x", "x"),
    ("{{URL|example.com|Site}} {{URL|example.com}}", "Site example.com"),
]

UNITS = [
    ("{{convert|5|km|mi}}", "5 km"),
    ("{{convert|5}}", "5"),
    ("{{convert|6|ft|2|in|m|abbr=on}}", "6 ft 2 in"),
    ("{{convert|6|ft|2|m}}", "6 ft"),
    ("{{convert|5|to|10|km|mi|abbr=on}}", "5 to 10 km"),
    ("{{convert|5|-|10|km|mi|abbr=on}}", "5–10 km"),
    ("{{convert|60|and(-)|80|kg|abbr=on}}", "60 and 80 kg"),
    ("{{convert|2|x|3|by|4|m}}", "2 × 3 by 4 m"),
    ("a {{convert|5|mi|km|adj=mid|-wide}} crater", "a 5 mi-wide crater"),
    ("{{convert|25|C|F}}", "25 °C"),
    ("{{cvt|1,234|acre|ha}}", "1,234 acre"),
    ("{{convert|100|sqmi|km2|abbr=on}}", "100 sq mi"),
]

INFOBOXES = [
    ("{{Infobox football biography\n| years1 = 1990–1995\n| clubs1 = [[Arsenal F.C.|Arsenal]]\n"
     "| caps1 = 50\n| goals1 = 10\n| years2 = 1995–\n| clubs2 = [[B]]\n}}",
     "infobox years: 1990–1995 | clubs: [Arsenal→Arsenal F.C.] | caps: 50 | goals: 10\n"
     "infobox years: 1995– | clubs: [B→B]"),
    ("{{Infobox football biography\n| clubs1 = A\n| clubs2 = B\n| years1 = 1990\n| years2 = 1991\n}}",
     "infobox years: 1990 | clubs: A\ninfobox years: 1991 | clubs: B"),
    ("{{Infobox football biography|nationalyears1=1990|nationalteam1=[[E]]|nationalcaps1=5|years1=1991|clubs1=A}}",
     "infobox nationalyears: 1990 | nationalteam: [E→E] | nationalcaps: 5\ninfobox years: 1991 | clubs: A"),
    ("{{Infobox football biography|youthyears1=1985|youthclubs1=A|manageryears1=2001–2005|managerclubs1=[[M]]}}",
     "infobox youthyears: 1985 | youthclubs: A\ninfobox manageryears: 2001–2005 | managerclubs: [M→M]"),
    ("{{Infobox officeholder|name=J|office=[[T]]|term_start=March 4, 1861|term_end=April 15, 1865"
     "|predecessor=[[A]]|successor=[[B]]|birth_date=1809}}",
     "infobox name: J\ninfobox office: [T→T] | term: March 4, 1861 – April 15, 1865 | predecessor: [A→A]"
     " | successor: [B→B]\ninfobox birth date: 1809"),
    ("{{Infobox officeholder|office1=T|term_start1=1990|term_end1=1995|office2=U|term_start2=1980}}",
     "infobox office: T | term: 1990 – 1995\ninfobox office: U | term start: 1980"),
    ("{{Infobox officeholder|order=16th|office=T|termstart=1990|termend=1995|1blankname=X}}",
     "infobox order: 16th | office: T | term: 1990 – 1995 | 1blankname: X"),
    ("{{Infobox officeholder|office=T|term_start=1990|term_end=Incumbent|president=[[P]]|deputy=D}}",
     "infobox office: T | term: 1990 – Incumbent | president: [P→P] | deputy: D"),
    ("{{Infobox royalty|succession=[[K]]|reign=1900–1910|predecessor=A|successor=B|succession1=L|reign1=1890}}",
     "infobox succession: [K→K] | reign: 1900–1910 | predecessor: A | successor: B\n"
     "infobox succession: L | reign: 1890"),
    ("{{Infobox basketball biography|years1={{nbay|1984|start}}–{{nbay|1992|end}}|team1=[[B]]|cyears1=1995|cteam1=C}}",
     "infobox years: [1984→1984–85 NBA season]–[1993→1992–93 NBA season] | team: [B→B]\n"
     "infobox cyears: 1995 | cteam: C"),
    ("{{Infobox basketball biography|draft_year=1984|draft_round=1|draft_pick=3|draft_team=[[B]]}}",
     "infobox draft year: 1984 | draft round: 1 | draft pick: 3 | draft team: [B→B]"),
    ("{{Infobox NFL biography|pastteams=\n* [[A]] ({{nfly|1992}}–{{nfly|2007}})\n* [[B]] (2008)\n}}",
     "infobox pastteams: [A→A] ([1992→1992 NFL season]–[2007→2007 NFL season]), [B→B] (2008)"),
    ("{{Infobox baseball biography|debutdate=April 5|debutyear={{mlby|1974}}|debutteam=[[A]]|finalyear=1990|finalteam=B}}",
     "infobox debutdate: April 5 | debutyear: [1974→1974 Major League Baseball season] | debutteam: [A→A]\n"
     "infobox finalyear: 1990 | finalteam: B"),
    ("{{Infobox rugby biography|repyears1=1990|repteam1=[[E]]|repcaps1=5|coachyears1=2001|coachclubs1=C}}",
     "infobox repyears: 1990 | repteam: [E→E] | repcaps: 5\ninfobox coachyears: 2001 | coachclubs: C"),
    ("{{Infobox rugby league biography|club1=A|year1start=1990|year1end=1995|appearances1=5}}",
     "infobox year: 1990 – 1995 | club: A | appearances: 5"),
    ("{{Infobox cyclist|proyears1=1990|proteam1=A|amateuryears1=1985|amateurteam1=B|manageyears1=2000|manageteam1=C}}",
     "infobox proyears: 1990 | proteam: A\ninfobox amateuryears: 1985 | amateurteam: B\n"
     "infobox manageyears: 2000 | manageteam: C"),
    ("{{Infobox college coach|coach_years1=1990|coach_team1=[[A]]|player_years1=1980|player_team1=B}}",
     "infobox coach years: 1990 | coach team: [A→A]\ninfobox player years: 1980 | player team: B"),
    ("{{Infobox cricketer|club1=A|year1=1990–1995|clubnumber1=5|club2=B|year2=1996}}",
     "infobox year: 1990–1995 | club: A | clubnumber: 5\ninfobox year: 1996 | club: B"),
    ("{{Infobox country|leader_title1=[[President]]|leader_name1=[[A]]|established_event1=Independence"
     "|established_date1=4 July 1776}}",
     "infobox leader title: [President→President] | leader name: [A→A]\n"
     "infobox established event: Independence | established date: 4 July 1776"),
    ("{{Infobox former country|event_start=Founded|date_start=1 May|year_start=1800|leader1=A|year_leader1=1800–1810}}",
     "infobox event start: Founded | date start: 1 May | year start: 1800\n"
     "infobox leader: A | year leader: 1800–1810"),
    ("{{Infobox settlement|leader_title=Mayor|leader_name=[[A]]|population_total=500|population_as_of=2010"
     "|established_title=Founded|established_date=1800}}",
     "infobox leader title: Mayor | leader name: [A→A]\ninfobox population total: 500 | population as of: 2010\n"
     "infobox established title: Founded | established date: 1800"),
    ("{{Infobox person|spouse1=A|spouse2=B|spouse={{marriage|[[C]]|1990|2000}}}}",
     "infobox spouse: A\ninfobox spouse: B\ninfobox spouse: [C→C] (m. 1990–2000)"),
    ("{{Infobox football club|clubname=A|pattern_la1=_x|pattern_b1=_y|leftarm1=FFFFFF|body1=FF0000|rightarm1=FFF"
     "|shorts1=000|socks1=000|manager=[[M]]}}",
     "infobox clubname: A\ninfobox manager: [M→M]"),
    ("{{Infobox person|image=X.jpg|caption=C in 1990|image_size=200px|alt=x|signature=s.svg|website=x.org|name=A}}",
     "infobox caption: C in 1990\ninfobox website: x.org\ninfobox name: A"),
    ("{{Infobox military person|serviceyears=1990–2000|branch={{army|USA}}|rank=General}}",
     "infobox serviceyears: 1990–2000 | branch: [United States Army→United States Army] | rank: General"),
    ("{{Infobox bishop|see=[[C]]|enthroned=1990|ended=1995|predecessor=A|successor=B}}",
     "infobox see: [C→C] | enthroned: 1990 | ended: 1995 | predecessor: A | successor: B"),
    ("{{Infobox person\n| name = '''J'''\n| logo = Y.svg | spouse = {{plainlist|\n* [[A]]\n* B}}\n| empty =\n"
     "| years = 1990<br>1991\n| module = {{Infobox player | club = [[C]]<ref>x</ref>}}\n}}\ntext",
     "infobox name: J\ninfobox spouse: [A→A], B\ninfobox years: 1990, 1991\ninfobox club: [C→C]\ntext"),
    ("{{Infobox ship begin}}\n{{Infobox ship career|Ship name=''X''|Ship launched=1 May 1898}}",
     "infobox Ship name: X\ninfobox Ship launched: 1 May 1898"),
]  # fmt: skip

TABLES = [
    ("{|\n! Year !! colspan=\"2\" | Team\n|-\n| 1990 || A || B\n|}", "table Year | Team\ntable 1990 | A | B"),
    ("{|\n|-\n| colspan=2 style=\"x\" | 1990 || A\n|}", "table 1990 | A"),
    ("{|\n|-\n! colspan=\"3\" | Clubs\n|-\n| rowspan=\"2\" | 1990 || A\n|-\n| B\n|}",
     "table Clubs\ntable 1990 | A\ntable 1990 | B"),
    ("{|\n|-\n| align=center|{{nbay|1998}} || [[A]]\n|}", "table [1998–99→1998–99 NBA season] | [A→A]"),
    ("{|\n|-\n| colspan = 2| a\n| bgcolor=#fff nowrap | b\n|}", "table a | b"),
    ("{|\n|-\n|[[File:A.jpg|x]]||\n|-\n|a|| ||b\n|}", "table a | b"),
    ("{|\n|-\n| colspan=\"2\" {{yes}} || a || b=c\n|}", "table a | b=c"),
    ("{|\n|-\n| style=x |{{IPA|a}}||style=y| b|| ||c\n|}", "table b | c"),
    ("{|\n|-\n| a ||| b\n| c ||||d\n|}", "table a | b | c | d"),
    ("{|\n|+ The ''caption''\n! scope=\"col\" | Year !! Club\n|-\n| style=\"x\" | [[B]]\n* x\n* y\n|- style=\"y\"\n"
     "|c||d\n{|\n| in\n|}\n|}\nafter",
     "table The caption\ntable Year | Club\ntable [B→B], x, y\ntable in\ntable c | d\nafter"),
    ("<table><tr><th>h</th><td>[[I]]</td></tr><tr><td>j</td></tr></table>\n{|\n| open\n== S ==\nend",
     "table h | [I→I]\ntable j\ntable open\nend"),
    ("== Managers ==\n* 1990–1995: [[A]]\n* {{flagicon|ENG}} [[B]] (1995–)\n",
     "list 1990–1995: [A→A]\nlist [B→B] (1995–)"),
    ("; 1990\n: [[A]]", "list 1990\nlist [A→A]"),
    ("{{Tracklist|title1=A|length1=3:00|title2=B}}", ""),
    ("{{football kit|pattern_b=_x|body=FF0000|title=Home}}after", "after"),
    ("{{football kit box|align=right\n|pattern_la=x|leftarm=FFF|title=1990–95}}\nafter", "after"),
    ("{{Historical populations|1990|500|2000|600}}x", "x"),
    ("{{NFL predraft|height ft=6}}x{{MLBstats}}", "x"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"), SEASONS + FLAGS + SHIPS + DATES + LISTS + UNITS + INFOBOXES + TABLES
)
def test_what_a_person_reads(text: str, expected: str) -> None:
    assert "\n".join(shown(text)) == expected
