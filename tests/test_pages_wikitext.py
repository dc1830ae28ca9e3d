"""Wikitext: what is shown of it, line by line, and where its links lie."""

import time
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench import pages
from factdrift.builders.rows import Paragraph
from factdrift.builders.wikipedia.titles import normalise
from factdrift.builders.wikipedia.wikitext import namespaces_of, paragraphs, redirect_of
from tests.conftest import ROOT
from tests.exports import HEAD


def shown(text: str) -> list[str]:
    """Each paragraph with its links as `[shown→target]`, and its kind where it is no text."""
    return [_marked(p) for p in paragraphs(text, "The Page")]


def _marked(p: Paragraph) -> str:
    out, at = "", 0
    for link in p.links:
        out += f"{p.text[at : link.start]}[{p.text[link.start : link.end]}→{link.target}]"
        at = link.end
    return ("" if p.kind == "text" else p.kind + " ") + out + p.text[at:]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one\ntwo\n\nthree", ["one two", "three"]),
        ("'''B''' and ''i'' and '''''both''''' it's", ["B and i and both it's"]),
        ("''The Times'''s editor", ["The Times's editor"]),
        ("a&nbsp;&ndash;&#32;b &lt;ref&gt; &amp;amp;", ["a – b <ref> &amp;"]),
        ("AT&T &#x110000; &copy", ["AT&T &copy"]),
        ("a<ref>no</ref>b<ref name=x />c<ref name='y/z'>n {{cite|x=>}}</ref>d", ["abcd"]),
        ("a <!-- no\n\n[[x]] --> b", ["a b"]),
        ("a <!-- open", ["a"]),
        ("a <ref>open\nb", ["a open b"]),
        ("<nowiki>''[[x]] {{y}}''</nowiki>", ["''[[x]] {{y}}''"]),
        ("x<br>y<br/>z", ["x y z"]),
        ("<p>one</p><p>two</p><blockquote>three</blockquote>", ["one", "two", "three"]),
        ("<math>x [[y]]</math>z<gallery>\nA.jpg|[[b]]\n</gallery>", ["z"]),
        ("a < b and c > d", ["a < b and c > d"]),
        ("__NOTOC__seen __init__", ["seen __init__"]),
        ("[http://x.org the site], [https://y.org], http://z.org", ["the site, , http://z.org"]),
        ("----\nafter", ["after"]),
        ("see (; {{IPA|x}}; born 1960) and ( {{IPA|x}} ) end", ["see (born 1960) and end"]),
        ("", []),
        ("{{navbox|a}}\n----\n***", []),
    ],
)  # fmt: skip
def test_text(text: str, expected: list[str]) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[A]] [[b|c]]", ["[A→A] [c→B]"]),
        ("[[foo_bar  baz#Part|x]]", ["[x→Foo bar baz]"]),
        ("[[cat]]s and [[dog|hound]]s.", ["[cats→Cat] and [hounds→Dog]."]),
        ("[[A|''i'' '''b''']]", ["[i b→A]"]),
        ("[[A&amp;B]] [[C%26D%20E]]", ["[A&B→A&B] [C%26D%20E→C&D E]"]),
        ("[[ A  | b  c ]]d", ["[b c d→A]"]),
        ("x[[A| b]]y", ["x [by→A]"]),
        ("[[#Part]] [[#Part|here]] [[/Sub]]", ["#Part here /Sub"]),
        ("[[File:A.jpg|thumb|x [[b]] [y]]]z [[Image:B.png]]", ["z"]),
        ("[[File:A.jpg|x [[File:B.jpg|y [[c]]]] z]]end", ["end"]),
        ("[[Category:X|k]]a [[:Category:X]] [[:File:A.jpg|f]]", ["a Category:X f"]),
        ("[[de:Foo]]a [[:de:Foo|D]] [[wikt:foo|w]] [[s:X]]", ["a D w s:X"]),
        ("[[CSI: Miami]] [[Halo: Reach|H]]", ["[CSI: Miami→CSI: Miami] [H→Halo: Reach]"]),
        ("[[Help:X|h]] [[Talk:X|t]]", ["h t"]),
        ("[[a|b [[C]] d]]", ["b [C→C] d"]),
        ("[[open and [[B]]", ["open and [B→B]"]),
        ("a ]] b [[", ["a b"]),
        ("[[A]][[B]]", ["[A→A][B→B]"]),
        ("[[A|b\nc]]", ["[b c→A]"]),
        ("[[A{{!}}b]]", ["[b→A]"]),
        ("[[éa]] [[ßa]]", ["[éa→Éa] [ßa→ßa]"]),
        ("\u200e[[A\u200e]]", ["[A→A]"]),
        ("😀 [[A|😀b]]", ["😀 [😀b→A]"]),
    ],
)
def test_links(text: str, expected: list[str]) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{Birth date and age|1960|03|04|df=y}}", "4 March 1960"),
        ("{{death date and age|2000|1|2|1960|3|4}}", "January 2, 2000"),
        ("{{Start date|1960|5}}", "May 1960"),
        ("{{start date|1960-05-06|df=yes}}", "6 May 1960"),
        ("{{birth-date and age|4 March 1960}}", "4 March 1960"),
        ("{{birth year and age|1960}}", "1960"),
        ("{{dts|1960|May|6}}", "May 6, 1960"),
        ("{{dts|format=dmy|1960-05-06}}", "6 May 1960"),
        ("{{film date|1960|5|6|Cannes|1961}}", "May 6, 1960"),
        ("{{OldStyleDate|12 February|1809|31 January}} {{val|5.5}}", "12 February 1809 5.5"),
        ("{{née|Roe}}", "née Roe"),
        ("{{as of|2020|5|lc=y}}", "as of May 2020"),
        ("{{reign|1900|1910}}", "r. 1900–1910"),
        ("{{lang|fr|''Le'' mot}}", "Le mot"),
        ("{{nowrap|a b}}{{nbsp}}{{ndash}} c{{snd}}d", "a b – c – d"),
        ("{{plainlist|\n* a\n* [[B]]\n}}", "a, [B→B]"),
        ("{{small|x {{nowrap|y}}}}", "x y"),
        ("{{sortname|Jane|Roe}}", "[Jane Roe→Jane Roe]"),
        ("{{sortname|Jane|Roe|Jane Roe (singer)}}", "[Jane Roe→Jane Roe (singer)]"),
        ("{{sortname|Jane|Roe|nolink=1}}", "Jane Roe"),
        ("{{marriage|[[A]]|1990|2000|end=div}}", "[A→A] (m. 1990; div. 2000)"),
        ("{{abbr|A|long}} {{sort|1|one}} {{PAGENAME}}", "A one The Page"),
        ("a{{!}}b{{=}}c", "a|b=c"),
        ("{{cite web|x}}{{IPAc-en|x}}{{#if:a|b}}{{#invoke:x}}z", "z"),
        ("{{{1|d}}} {{{2}}}", "d"),
        ("a {{open|b", "a open|b"),
        ("a }} b", "a b"),
        ("{{a|{b}}}c", "}c"),
        ("{{nowrap|1=a=b}}", "a=b"),
        ("{{nowrap|" * 60 + "x" + "}}" * 60, None),
    ],
)  # fmt: skip
def test_templates(text: str, expected: str | None) -> None:
    found = shown(text)
    assert [expected] == found if expected is not None else "x" in found[0]


def test_sections_and_lists() -> None:
    text = "lead\n==A==\n* x\n** [[Y]]\n:z\n; t : d\n=== ''B'' [[c]] ===\nb\n== D ==\n# n\nt"
    found = [(p.kind, p.section, p.text) for p in paragraphs(text)]
    assert found == [
        ("text", "", "lead"),
        ("list", "A", "x"),
        ("list", "A", "Y"),
        ("list", "A", "z"),
        ("list", "A", "t : d"),
        ("text", "A / B c", "b"),
        ("list", "D", "n"),
        ("text", "D", "t"),
    ]


def test_names_of_namespaces_are_those_of_the_wiki() -> None:
    declared = namespaces_of(HEAD.encode())
    text = "[[Bestand:A.jpg|x]][[Rubrik:B]][[File:C.jpg]]a [[:Rubrik:B|r]]"
    [found] = paragraphs(text, "", declared)
    assert (found.text, found.links) == ("a r", ())


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("foo_bar", "Foo bar"), (" a  b ", "A b"), (":a", "A"), ("a#b", "A"), ("#b", ""),
        ("a%20b", "A b"), ("e\u0301", "É"), ("a|b", ""), ("", ""), ("x" * 256, ""),
        ("100%", "100%"), ("LB&amp;SCR E4 class", "LB&SCR E4 class"),
        ("Q&A", "Q&A"), ("a&copy", "A&copy"), ("A&amp;amp;B", "A&amp;B"), ("a &#8211; b", "A – b"),
        ("a&lt;b", ""), ("iPod", "IPod"), ("a\u00a0b", "A b"),
    ],
)  # fmt: skip
def test_titles(title: str, expected: str) -> None:
    assert normalise(title) == expected


def test_redirects() -> None:
    assert redirect_of("#REDIRECT [[A b#c]] {{R}}") == "A b#c"
    assert redirect_of("\n#redirect: [[a|b]]") == "a"
    assert redirect_of("see #REDIRECT [[A]]") is None


PIECES = st.sampled_from(
    "[[ ]] | {{ }} {| |} |- || ! !! ' '' ''' ''''' = == === * # : ; < > / <ref> </ref> <nowiki> "
    "</nowiki> <!-- --> <br> <table> <td> <p> &nbsp; &#91; &amp; A b é 😀 \u200e [[A]] [[b|c]]d "
    "[[File:x| {{nowrap| {{ubl| {{Infobox {{lang|fr| name= [http://x \x01 \x02 \x03 \x04 \x00 ( ; )"
    .split(" ")
) | st.sampled_from([" ", "\n", "\n\n", "\t", "\xa0", "\u2028", "\r\n"])  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=60))
def test_whatever_the_text_lines_are_plain_and_links_lie_in_them(given: list[str]) -> None:
    for p in paragraphs("".join(given)):
        assert p.text == " ".join(p.text.split()) != ""
        assert p.section == " ".join(p.section.split())
        end = 0
        for link in p.links:
            assert end <= link.start < link.end <= len(p.text)
            end = link.end
            assert not p.text[link.start].isspace() and not p.text[link.end - 1].isspace()
            assert link.target == normalise(link.target) != ""
        assert not set("\x00\x01\x02\x03\x04") & set(p.text)


LINKS = st.tuples(st.sampled_from("A Bc Déf 😀".split()), st.sampled_from("x yz 'é &amp;".split()))
WORDS = st.sampled_from([" ", "word", "&ndash;", "''", "<br>", "\xa0", "'''b'''", "<ref>r</ref>"])


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS | LINKS, max_size=25))
def test_links_show_their_label_in_order(given: list[str | tuple[str, str]]) -> None:
    # a word after each link, so that nothing trails it
    text = "".join(w if isinstance(w, str) else f"[[{w[0]}|{w[1]}]]," for w in given)
    want = [(w[1].replace("&amp;", "&"), w[0]) for w in given if not isinstance(w, str)]
    found = paragraphs("Z" + text)
    assert [(p.text[x.start : x.end], x.target) for p in found for x in p.links] == want


@pytest.mark.parametrize(
    "unit",
    ["{{", "[[", "[[File:", "[[File:a [[b]] ", "<ref>", "<!--", "{|\n", "{{a|", "'''", "\x03 ",
     "[http://x ", "{{a}} {{", "[[a|", "(;", "<nowiki>", "== ", "&", "{{{", "{{a|{", "[[File:[",
     "\n|}", '<ref name="', "{|\n|rowspan=900|a\n", "\n==a", "( ", "[[a ", "<b ", "{{a|[[b|", "]"],
)  # fmt: skip
def test_time_is_linear_in_what_does_not_pair(unit: str) -> None:
    began = time.process_time()
    paragraphs(unit * (400_000 // len(unit)))
    assert time.process_time() - began < 10


def test_mwparserfromhell_sees_the_same_links_on_whole_pages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """But for captions of images, which we leave out, and links that templates make of words."""
    parser = pytest.importorskip("mwparserfromhell")
    monkeypatch.setattr(pages, "DATA", ROOT / "none")
    equal = unlike = 0
    for article in pages.articles():
        text = ET.fromstring(b"<page><title>" + article).findtext(".//text") or ""
        code = parser.parse(text)
        for ref in code.filter_tags(matches=lambda tag: tag.tag == "ref", recursive=False):
            code.remove(ref)
        links = [normalise(str(x.title)) for x in code.filter_wikilinks()]
        want = [title for title in links if ":" not in title]
        same = [x.target for p in paragraphs(text) for x in p.links] == want
        equal, unlike = equal + same, unlike + (not same)
    assert equal > 70
    assert unlike < 12
