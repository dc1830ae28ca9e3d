"""Wikitext: what is shown of it, line by line, and where its links lie."""

import bz2
import re
import tarfile
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench import pages
from factdrift.builders.rows import Paragraph
from factdrift.builders.wikipedia.infoboxes import is_shown
from factdrift.builders.wikipedia.templates import UnlistedTemplates
from factdrift.builders.wikipedia.titles import normalise_title, redirect_target
from factdrift.builders.wikipedia.wikitext import paragraphs
from tests.conftest import ROOT
from tests.tables import read_table


def shown(text: str) -> list[str]:
    """Each paragraph with its links as `[shown→target]`, and its kind where it is no text."""
    return [_marked(paragraph) for paragraph in paragraphs(text, "The Page")]


def _marked(paragraph: Paragraph) -> str:
    out, position = "", 0
    for link in paragraph.links:
        link_text = paragraph.text[link.start : link.end]
        out += f"{paragraph.text[position : link.start]}[{link_text}→{link.target}]"
        position = link.end
    return (
        ("" if paragraph.kind == "text" else paragraph.kind + " ") + out + paragraph.text[position:]
    )


@pytest.mark.parametrize(("text", "expected"), read_table("wikitext_cases"))
def test_what_a_person_reads(text: str, expected: str) -> None:
    assert "\n".join(shown(text)) == expected


def test_templates_in_templates() -> None:
    [paragraphs_found] = shown("{{nowrap|" * 60 + "x" + "}}" * 60)
    assert "x" in paragraphs_found


def test_sections_and_lists() -> None:
    text = "lead\n==A==\n* x\n** [[Y]]\n:z\n; t : d\n=== ''B'' [[c]] ===\nb\n== D ==\n# n\nt"
    paragraphs_found = [
        (paragraph.kind, paragraph.section, paragraph.text) for paragraph in paragraphs(text)
    ]
    assert paragraphs_found == [
        ("text", "", "lead"),
        ("list", "A", "x"),
        ("list", "A", "Y"),
        ("list", "A", "z"),
        ("list", "A", "t : d"),
        ("text", "A / B c", "b"),
        ("list", "D", "n"),
        ("text", "D", "t"),
    ]


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
    assert normalise_title(title) == expected


def test_redirects() -> None:
    assert redirect_target("#REDIRECT [[A b#c]] {{R}}") == "A b#c"
    assert redirect_target("\n#redirect: [[a|b]]") == "a"
    assert redirect_target("see #REDIRECT [[A]]") is None


PIECES = st.sampled_from(
    "[[ ]] | {{ }} {| |} |- || ! !! ' '' ''' ''''' = == === * # : ; < > / <ref> </ref> <nowiki> "
    "</nowiki> <!-- --> <br> <table> <td> <p> &nbsp; &#91; &amp; A b é 😀 \u200e [[A]] [[b|c]]d "
    "[[File:x| {{nowrap| {{ubl| {{Infobox {{lang|fr| name= [http://x \x01 \x02 \x03 \x04 \x00 ( ; )"
    .split(" ")
) | st.sampled_from([" ", "\n", "\n\n", "\t", "\xa0", "\u2028", "\r\n"])  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=60))
def test_whatever_the_text_lines_are_plain_and_links_lie_in_them(pieces: list[str]) -> None:
    for paragraph in paragraphs("".join(pieces)):
        assert paragraph.text == " ".join(paragraph.text.split()) != ""
        assert paragraph.section == " ".join(paragraph.section.split())
        end = 0
        for link in paragraph.links:
            assert end <= link.start < link.end <= len(paragraph.text)
            end = link.end
            assert (
                not paragraph.text[link.start].isspace()
                and not paragraph.text[link.end - 1].isspace()
            )
            assert link.target == normalise_title(link.target) != ""
        assert not set("\x00\x01\x02\x03\x04") & set(paragraph.text)


LINKS = st.tuples(st.sampled_from("A Bc Déf 😀".split()), st.sampled_from("x yz 'é &amp;".split()))
WORDS = st.sampled_from([" ", "word", "&ndash;", "''", "<br>", "\xa0", "'''b'''", "<ref>r</ref>"])


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS | LINKS, max_size=25))
def test_links_show_their_label_in_order(pieces: list[str | tuple[str, str]]) -> None:
    # a word after each link, so that nothing trails it
    text = "".join(
        piece if isinstance(piece, str) else f"[[{piece[0]}|{piece[1]}]]," for piece in pieces
    )
    want = [
        (piece[1].replace("&amp;", "&"), piece[0]) for piece in pieces if not isinstance(piece, str)
    ]
    paragraphs_found = paragraphs("Z" + text)
    assert [
        (paragraph.text[link.start : link.end], link.target)
        for paragraph in paragraphs_found
        for link in paragraph.links
    ] == want


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    ["{{", "[[", "[[File:", "[[File:a [[b]] ", "<ref>", "<!--", "{|\n", "{{a|", "'''", "\x03 ",
     "[http://x ", "{{a}} {{", "[[a|", "(;", "<nowiki>", "== ", "&", "{{{", "{{a|{", "[[File:[",
     "\n|}", '<ref name="', "{|\n|rowspan=900|a\n", "\n==a", "( ", "[[a ", "<b ", "{{a|[[b|", "]",
     "{{a|b}} ", "     {{a|b c}}", "::::{{a|b}}", "''{{a|b}}", "{{HMS|", "<a b=",
     "{{Infobox a|module=", "{{a|b={|\n|c\n|}", "{{Infobox a|b={{Infobox c|d=e}}",
     "== {{a|b c}} ==\n", '<a b="c>'],
)  # fmt: skip
def test_time_is_linear_in_what_does_not_pair(unit: str) -> None:
    began = time.process_time()
    paragraphs(unit * (400_000 // len(unit)))
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    ("opened", "closed"),
    [("{{HMS|", "|1|2}}"), ("{{fb|", "}}"), ("{{army|", "}}"), ("{{sortname|", "|b}}"),
     ("{{nihongo|", "|x}}"), ("{{Infobox a|module=", "}}"), ("{{quux|", "}}"), ("{{ill|", "|de}}"),
     ("{{noredirect|", "}}"), ("{{quux|a=b|c=d|e=", "}}"), ("{{marriage|", "|1990}}")],
)  # fmt: skip
def test_templates_that_show_an_argument_twice_do_not_double_it(opened: str, closed: str) -> None:
    text = opened * 35 + "word" + closed * 35
    assert sum(len(paragraph.text) for paragraph in paragraphs(text)) < 3000


def test_templates_that_no_list_names_are_counted() -> None:
    unlisted: UnlistedTemplates = {}
    text = "He was {{Quux|mayor of}} {{quux}} it.{{quux|note}}\n\n{{Quux_box}}\n{{cn}} {{small|x}}"
    paragraphs(text, "", unlisted)
    # Uses, uses whose text is shown, uses in the text that show nothing.
    assert unlisted == {"quux": (3, 1, 1), "quux box": (1, 0, 0)}


NAMES = st.sampled_from("office clubs1 years1 module embed child misc image name1".split())
VALUES = st.sampled_from(
    ["Mayor of Orrel", "[[Beton FC]]", "1990", "a=b", "http://a?b=c", "x<br>y"]
)
BOXES = st.recursive(
    st.dictionaries(NAMES, VALUES, min_size=1, max_size=4),
    lambda inner: st.dictionaries(NAMES, VALUES | inner, min_size=1, max_size=4),
    max_leaves=12,
)


def boxed(box: dict[str, object] | str) -> str:
    if isinstance(box, str):
        return box
    box_rows = "\n".join(f"| {name} = {boxed(value)}" for name, value in box.items())  # type: ignore[arg-type]
    return "{{Infobox thing\n" + box_rows + "\n}}"


@settings(max_examples=200, deadline=None)
@given(BOXES)
def test_every_value_of_boxes_in_boxes_is_read_as_mwparserfromhell_sees_it(
    box: dict[str, object],
) -> None:
    parser = pytest.importorskip("mwparserfromhell")
    parsed_code = parser.parse(boxed(box))
    parameters = []
    for template in parsed_code.filter_templates():
        for parameter in template.params:
            if not parameter.value.filter_templates():
                parameters.append((str(parameter.name).strip(), parameter.value))
    expected_values = Counter(
        re.sub(r"\[\[|\]\]", "", str(value).strip()).replace("<br>", ", ")
        for name, value in parameters
        if name not in ("image", "embed", "child")
    )
    lines = [paragraph.text for paragraph in paragraphs(boxed(box))]
    read_values = Counter(part.partition(": ")[2] for line in lines for part in line.split(" | "))
    assert read_values == expected_values


@pytest.mark.slow
def test_boxes_of_real_pages_lose_no_value(real_data: Path) -> None:
    """Values without markup of every infobox, wherever it stands, against mwparserfromhell."""
    parser = pytest.importorskip("mwparserfromhell")
    missing: list[tuple[str, str, str]] = []
    value_count = 0
    for title, text in real_pages(real_data):
        page_text = "\n".join(paragraph.text for paragraph in paragraphs(text, title))
        for template in parser.parse(WITHOUT_NOTES.sub("", text)).filter_templates():
            if not str(template.name).strip().lower().startswith("infobox"):
                continue
            for parameter in template.params:
                name, value = str(parameter.name).strip(), str(parameter.value).strip()
                if PLAIN_VALUE.fullmatch(value) and is_shown(name):
                    value_count += 1
                    if value not in page_text:
                        missing.append((title, name, value))
    assert value_count > 500
    assert not missing


WITHOUT_NOTES = re.compile(r"(?s)<ref.*?(?:/>|</ref>)|<!--.*?-->")
PLAIN_VALUE = re.compile(r"\w[\w ,-]*\w(?<!px)")
"""`Mayor of Leeds`: a value that is shown as it is written."""


def real_pages(real_data: Path) -> Iterator[tuple[str, str]]:
    """Titles and texts of the pages of the English Wikipedia in `shared/data`."""
    for path in sorted((real_data / "wikipedia").glob("*.xml.bz2")):
        for page in ET.fromstring(bz2.decompress(path.read_bytes())).iter():
            if page.tag.endswith("}page") and page.find("{*}redirect") is None:
                yield page.findtext("{*}title") or "", page.findtext("{*}revision/{*}text") or ""
    with tarfile.open(real_data / "wikipedia/wtf-cache-half.tar.gz") as pages_file:
        for member in pages_file.getmembers():
            if content := pages_file.extractfile(member):
                yield Path(member.name).stem, content.read().decode()


def test_mwparserfromhell_sees_the_same_links_on_whole_pages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """But for captions of images, which we leave out, and links that templates make of words."""
    parser = pytest.importorskip("mwparserfromhell")
    monkeypatch.setattr(pages, "DATA", ROOT / "none")
    equal = unlike = 0
    for article in pages.articles():
        text = ET.fromstring(b"<page><title>" + article).findtext(".//text") or ""
        parsed_code = parser.parse(text)
        for ref in parsed_code.filter_tags(matches=lambda tag: tag.tag == "ref", recursive=False):
            parsed_code.remove(ref)
        links = [normalise_title(str(link.title)) for link in parsed_code.filter_wikilinks()]
        want = [title for title in links if ":" not in title]
        same = [link.target for paragraph in paragraphs(text) for link in paragraph.links] == want
        equal, unlike = equal + same, unlike + (not same)
    assert equal > 70
    assert unlike < 12
