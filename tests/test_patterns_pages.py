"""Each regular expression that reads pages, with a text that it takes and one that it does not."""

from collections.abc import Callable
from typing import Any

import pytest

from factdrift.builders.facts import boundary_sides as sides
from factdrift.builders.facts import role_words as roles
from factdrift.builders.facts import text_evidence
from factdrift.builders.timeqa import mentions
from factdrift.builders.wikipedia import (
    dump,
    files,
    html,
    infoboxes,
    inputs,
    marks,
    renders,
    sounds,
    templates,
    titles,
    unlisted,
    wikitext,
)
from factdrift.reasoning.as_of import corpus as as_of

EXAMPLES: list[tuple[Callable[[Any], object], str | bytes, str | bytes]] = [
    (dump._REDIRECT.search, b'<redirect title="Leeds" />', b"<redirected />"),
    (dump._TEXT_REDIRECT.search, b"<text>#REDIRECT [[Leeds]]", b"<text>See [[Leeds]]"),
    (files._TAKEN.search, "enwiki-pages-articles1.xml-p1.bz2", "enwiki-index.txt.bz2"),
    (
        files._INDEX.search,
        "enwiki-pages-articles-multistream-index1.txt.bz2",
        "enwiki-pages.xml.bz2",
    ),
    (files._WEB_PAGE.match, b"<!DOCTYPE html>", b"<mediawiki>"),
    (html._CLOSING.search, "Leeds</b >", "Leeds <b>"),
    (
        html._TARGET.fullmatch,
        "https://en.wikipedia.org/wiki/Leeds#History",
        "https://example.org/wiki/Leeds",
    ),
    (infoboxes._NUMBERED.fullmatch, "year6start", "1990 title"),
    (inputs._XML_LANGUAGE.search, b'<mediawiki xml:lang="fr">', b'<page xml:lang="fr">'),
    (templates._INNERMOST.search, "{{convert|5|km}}", "{{convert|5"),
    (templates._BOX.fullmatch, "infobox football club", "navbox"),
    (templates._FILE.fullmatch, "Leeds.jpg", "Leeds"),
    (templates._INNERMOST.fullmatch, "{{box|{|\n|}}}", "{{{!}}"),
    (templates._TABLE_MARKS.search, "{| class=x", "a {b"),
    (templates._PARAMETER_LINE.match, "\n| spouse = B", "\n| align=center | B"),
    (templates._MODULE.fullmatch, "| module2 = ", "| model = "),
    (templates._HOLDS_TEXT.search, "[[Leeds", "clubs1"),
    (templates._AGE.match, "age at death", "age in days"),
    (marks.BLOCK_MARK.fullmatch, "\x0512\x05", "\x05x\x05"),
    (renders._WIDTH.fullmatch, "20em", "Leeds"),
    (renders._POWER_UNIT.fullmatch, "e6km2", "em"),
    (unlisted._NOTHING.fullmatch, "citation needed", "small"),
    (unlisted._HEADING.search, "a\n== B ==\nc", "a == B == c"),
    (unlisted._OF_WORKS.search, "External links", "History"),
    (unlisted._WORD.search, "W\u2013L", "5 a 6"),
    (unlisted._PHONETIC.search, "\u02c8lis", "lis"),
    (unlisted._FILE.fullmatch, "Leeds.ogg", "Leeds"),
    (unlisted._ADDRESS.fullmatch, "people/l/abraham", "Abraham Lincoln"),
    (unlisted._SETTING.fullmatch, "#FAEB86", "mayor"),
    (unlisted._NUMBER.fullmatch, "1,240", "a 5"),
    (unlisted._UNIT.fullmatch, "km2", "Leeds"),
    (unlisted._YEAR.fullmatch, "1974, 1999", "74"),
    (unlisted._WORKED_OUT.search, "time ago", "birth date and age"),
    (unlisted._ISO_DATE.fullmatch, "1960-05-03", "1960"),
    (unlisted._LIST_LINES.search, "a\n* b", "a * b"),
    (unlisted._SENTENCE_END.search, "in use.\u201d", "in use"),
    (sounds._SPOKEN.fullmatch, "ipac-en", "ipa symbol"),
    (sounds._LANGUAGE.fullmatch, "pt-br", "/a/"),
    (titles._REDIRECT.match, " #redirect: [[Leeds", "Redirect [[Leeds]]"),
    (wikitext._ASIDE.search, '<ref name="a">', "<br>"),
    (wikitext._TAG.fullmatch, '<b title="a>b">', '<b title="a>b'),
    (wikitext._FILE_LINKS.search, "[[File:A.jpg|thumb|In [[Leeds]]]]", "[[Leeds]]"),
    (wikitext._HEADING.fullmatch, "== History ==", "== History"),
    (wikitext._ATTRIBUTES.match, "colspan=2 | Leeds", "Leeds || Hull"),
    (wikitext._ATTRIBUTES_ALONE.fullmatch, 'colspan="2" style=color', "Leeds = Hull"),
    (wikitext._CELLS.search, "Leeds || Hull", "Leeds | Hull"),
    (wikitext._SPAN.search, 'rowspan="2"', "span=2"),
    (wikitext._LINK.search, "[[Leeds|the club]]s", "[[Leeds"),
    (wikitext._OUTSIDE.search, "[https://example.org the site]", "[the site]"),
    (wikitext._HOLLOW.search, "( ; , )", "(Leeds)"),
    (wikitext._ENDED.search, "(born 1950; )", "(1,)"),
    (wikitext._OPENED.search, "(; born 1950)", "(born 1950)"),
    (text_evidence._CHANGE_VERB.search, "was appointed coach", "the disappointing coach"),
    (text_evidence.OTHER_RELATION.search, "the former coach", "the reformer"),
    (text_evidence._STATE_GOES_ON.fullmatch, "serving", "visits"),
    (roles._CAPITAL_RUN.search, "met Ann Lee", "met them"),
    (roles._PLACE_BEFORE.search, "a match in ", "a match "),
    (roles._NO_MORE.search, "is no longer coach", "is still coach"),
    (roles._NEXT_NAME.match, " Bob Ray", " of Leeds"),
    (roles._OF_PLACE.match, " of the Bank", " of the board"),
    (roles._UNDER.search, "grew under ", "went underground "),
    (roles._SOMEBODY_ELSE.search, "chosen by ", "chosen, said "),
    (as_of._FROM.search, "bought it from ", "bought it for "),
    (as_of.WORDS.search, "é2", "-!"),
    (mentions._CUT_BEFORE.search, "at Hunter-", "at "),
    (mentions._CUT_BEHIND.match, "-Lehman", "-based"),
    (mentions._QUALIFIED.search, "in South ", "the south "),
    (sides._TOKEN.fullmatch, "co-founded", "co founded"),
    (sides._LOOSE.search, "as early as the ", "in "),
    (sides._STUDY.search, "a degree from the ", "a degree in "),
    (sides._HONORARY.search, "an honorary degree", "an honour"),
    (sides._BRACKET.search, "Alien (1979)", "Alien, 1979"),
    (sides._DIRECTIONS.search, "moved from", "moved"),
    (sides._PLACES.search, "Ann Lee as", "Ann Lee"),
    (sides._ADJECTIVE.search, "the newly ", "he was "),
    (sides._OWNED.search, "after Ann's ", "after his "),
    (sides._ANY_WORD.search, "in Leeds", "2003"),
    (sides._WHEN.match, " , when he left", " , where he left"),
    (sides._AGREED.search, "a contract running until ", "he stayed until "),
    (sides._NOT_ELECTED.search, "he was not ", "he was "),
    (sides._CAPITALS.match, "Ph.D", "Leeds"),
    (sides._AFTER_MARK.search, "He left. ", "He "),
    (sides._SIDE_OF_FIELD.match, "-back", " Hull"),
    (sides._OPENING.fullmatch, " (", " and ("),
    (sides._NEXT_WORD.match, " film", ", film"),
    (sides._OWNER.search, "Disney's", "in"),
    (sides._DATE_OPENING.fullmatch, "and in", "he joined in"),
    (sides._AND.match, "and in", "android"),
    (sides._ENDS_WITH_AND.search, "he left, and ", "he left "),
    (sides._LEFT_BEHIND.search, "at leeds before", "at leeds"),
    (sides._BY_SOMEBODY.match, " as mayor by", " in 2003"),
    (sides._AUXILIARY.search, "was finally", "had"),
    (sides._events_pattern()[0].search, "she joined", "she played"),
    (sides._neutral_pattern().search, "she played", "she plays"),
]
"""How a pattern is used, a text that it takes, and one that it does not."""


@pytest.mark.parametrize(("find", "taken_text", "other_text"), EXAMPLES)
def test_a_pattern_takes_one_text_and_not_the_other(
    find: Callable[[Any], object], taken_text: str | bytes, other_text: str | bytes
) -> None:
    assert find(taken_text) is not None
    assert find(other_text) is None
