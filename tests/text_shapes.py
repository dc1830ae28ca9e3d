"""Hostile shapes of text, and the functions that read the text of strangers.

A shape is a text that is easy to write and costly to read for a careless pattern: one piece again
and again, mostly without the partner that a reader looks for. `tests/test_text_growth.py` gives
every shape to every function.
"""

from collections import deque
from collections.abc import Callable
from datetime import date
from typing import Any, NamedTuple

from factdrift.builders.core.limits import LONGEST_REPLY
from factdrift.builders.generate.mentions import body_sentences, is_usable_name, news_sentences
from factdrift.builders.generate.prompt_files import load_prompts
from factdrift.builders.generate.replies import parse_pairs, parse_reply, strip_reasoning
from factdrift.builders.rows import Article
from factdrift.builders.text import (
    dates,
    given_away,
    names,
    prompts,
    quotations,
    references,
    render,
    squad,
    words,
)
from factdrift.builders.text import sentences as sentence_rules
from factdrift.builders.text.data import word_set
from factdrift.builders.text.en import (
    answers,
    articles,
    boilerplate,
    question_form,
    question_key,
    same_answer,
    standalone,
    verbs,
)
from factdrift.builders.text.en import questions as english_questions
from factdrift.builders.wikidata.times import possible_days
from factdrift.builders.wikipedia import (
    dump,
    flags,
    html,
    infoboxes,
    inputs,
    records,
    templates,
    titles,
    wikitext,
)
from factdrift.builders.wmt import lines as news_lines
from factdrift.builders.wmt import minhash, passages
from factdrift.filters.round_trip import agreement
from factdrift.scoring import metrics, views


class Shape(NamedTuple):
    """A text: a beginning, one piece again and again, an end."""

    first: str
    piece: str
    last: str = ""

    def text(self, length: int) -> str:
        """The text, of about `length` bytes of UTF-8."""
        repeats = max(1, (length - len(self.first) - len(self.last)) // len(self.piece.encode()))
        return self.first + self.piece * repeats + self.last


class NestedShape(NamedTuple):
    """A text in which one pair of marks stands inside another, as deep as the length allows."""

    opening: str
    closing: str

    def text(self, length: int) -> str:
        """The text, of about `length` bytes."""
        depth = max(1, length // (len(self.opening) + len(self.closing)))
        return self.opening * depth + "x" + self.closing * depth


SHAPES: dict[str, Shape | NestedShape] = {
    # marks of sentences
    "dots": Shape("", "."),
    "dots and a word": Shape("He won", ".", "x"),
    "ellipses": Shape("", "…"),
    "question marks": Shape("Who", "?"),
    "marks of all kinds": Shape("", "!?.,;:"),
    "initials": Shape("", "A. "),
    "initials without spaces": Shape("", "A.B."),
    "abbreviations": Shape("", "e.g. "),
    "one long abbreviation": Shape("", "A.", "b"),
    "titles": Shape("", "Mr. "),
    "short sentences": Shape("", "He won. "),
    "a sentence without an end": Shape("", "and he said "),
    "closing marks": Shape("He won.", ")", "x"),
    "quotation marks": Shape("", '"'),
    "opening quotations": Shape("", "“a "),
    "apostrophes": Shape("", "'"),
    "possessives": Shape("", "s' "),
    "commas": Shape("", ", "),
    "commas without spaces": Shape("", ","),
    # spaces and words
    "spaces": Shape("x", " ", "x"),
    "line ends": Shape("x", "\n", "x"),
    "line ends and spaces": Shape("", " \n\t\r"),
    "strange line ends": Shape("", "\u2028a\x0b"),
    "one letter": Shape("", "a"),
    "capitals": Shape("", "A"),
    "single letters": Shape("", "a "),
    "single capitals": Shape("", "A "),
    "capitalised words": Shape("", "Leeds "),
    "different words": Shape("", "abcdefg hijklmn opqrstu "),
    "hyphens": Shape("", "a-"),
    "hyphens alone": Shape("", "-"),
    "underscores": Shape("", "_"),
    "accents on one letter": Shape("a", "\u0301"),
    "letters with accents": Shape("", "a\u0301 "),
    "letters that unfold": Shape("", "ﷺ"),
    "invisible characters": Shape("", "\u200b"),
    "control characters": Shape("", "\x01\x02\x03"),
    "articles": Shape("", "the a an "),
    "prepositions": Shape("", "of the in "),
    "names and verbs": Shape("Who ", "was he "),
    "addresses": Shape("", "a@b."),
    "web addresses": Shape("", "http://a."),
    # numbers and dates
    "digits": Shape("", "1"),
    "thousands": Shape("", "1,000,"),
    "decimals": Shape("", "1."),
    "years": Shape("", "2001 "),
    "stretches of years": Shape("", "2001-2002–2003, "),
    "days": Shape("", "12 May "),
    "days without a year": Shape("", "12 May to "),
    "months": Shape("", "May "),
    "times before a year": Shape("", "since early "),
    "born": Shape("", "(born "),
    "weekdays": Shape("", "on Monday "),
    # marks of a wiki
    "opening links": Shape("", "[["),
    "opening links with a bar": Shape("", "[[a|"),
    "closing links": Shape("", "]]"),
    "links": Shape("", "[[a|b]]"),
    "opening files": Shape("", "[[File:a|"),
    "outer links": Shape("", "[http://a "),
    "opening templates": Shape("", "{{"),
    "opening templates with a bar": Shape("", "{{a|"),
    "opening parameters": Shape("", "{{{a|"),
    "closing templates": Shape("", "}}"),
    "templates": Shape("", "{{flag|a}}"),
    "templates in templates": NestedShape("{{nowrap|", "}}"),
    "links in links": NestedShape("[[a|", "]]"),
    "brackets in brackets": NestedShape("(", ")"),
    "braces": Shape("", "{"),
    "one template of many arguments": Shape("{{infobox a", "|b=c", "}}"),
    "one template of many bars": Shape("{{ubl", "|[[", "}}"),
    "opening tables": Shape("", "{|\n"),
    "rows of a table": Shape("{|\n", "|-\n|a||b\n", "|}"),
    "one row of many cells": Shape("{|\n", "|a|"),
    "cells that go on": Shape("{|\n|a\n", "b\n", "|}"),
    "cells of many rows": Shape("{|\n", '|-\n|rowspan="99999"|a\n'),
    "cells of many rows in one row": Shape("{|\n|-\n", "|rowspan=999|a\n", "|-\n|b\n" * 99),
    "cells of many columns": Shape("{|\n", '|-\n|colspan="99999"|a\n'),
    "attributes of a cell": Shape("{|\n|", "style=a "),
    "opening comments": Shape("", "<!--"),
    "comments": Shape("", "<!-- a -->"),
    "opening references": Shape("", '<ref name="'),
    "references": Shape("", "<ref>a</ref>"),
    "references without an end": Shape("", "<ref>"),
    "formulas without an end": Shape("", "<math><ref>"),
    "references and slashes": Shape("", "<ref/>"),
    "verbatim text": Shape("", "<nowiki>"),
    "angle brackets": Shape("", "<"),
    "tags without an end": Shape("", "<a "),
    "tags": Shape("", "<b>"),
    "closing tags": Shape("", "</b>"),
    "tags in tags": NestedShape("<div>", "</div>"),
    "attributes of a tag": Shape("<ref ", "a='b' "),
    "headings": Shape("", "== a ==\n"),
    "equals signs": Shape("", "="),
    "headings without an end": Shape("", "=a\n"),
    "bold and italic": Shape("", "''a'''b"),
    "lists": Shape("", "* a\n"),
    "deep lists": Shape("", "*"),
    "brackets that templates emptied": Shape("", "( ; "),
    "one bracket": Shape("(", " ; "),
    "closed brackets": Shape("", "( ) "),
    "a redirect and spaces": Shape("#REDIRECT", " ", "x"),
    "a redirect and letters": Shape("#redirect", "a", "x"),
    "a redirect without an end": Shape("#REDIRECT [[", "a"),
    "switches": Shape("", "__A"),
    "rules": Shape("", "----\n"),
    # numbers of thousands of digits, which Python refuses to read
    "a long number in a template": Shape("{{formatnum:", "1", "}}"),
    "a long month in a template": Shape("{{birth date|1990|", "1", "|1}}"),
    "a long height in a template": Shape("{{height|ft=", "1", "|in=2}}"),
    "a long number of rows": Shape("{|\n|rowspan=", "9", "|a\n|-\n|b\n|}"),
    # references of characters, addresses, JSON
    "ampersands": Shape("", "&"),
    "references of characters": Shape("", "&amp;"),
    "unknown references": Shape("", "&abcdefghij;"),
    "numbers of characters": Shape("", "&#x"),
    "percent signs": Shape("", "%28"),
    "fragments": Shape("", "#"),
    "brackets of lists": NestedShape("[", "]"),
    "braces of objects": NestedShape('{"a":', "}"),
    "backslashes": Shape('{"title": "', "\\", '"}'),
    # what models write
    "opening thoughts": Shape("", "<think>"),
    "closing thoughts": Shape("", "</think>"),
    "thoughts of two kinds": Shape("", "<think></thought>"),
    "fences": Shape("", "```a"),
    "numbers of a list": Shape("", "1. "),
    "polite words": Shape("", "Sure! "),
    "prefaces": Shape("", "here is "),
    "answers": Shape("", "the answer "),
    # what the patterns of boilerplate wait for
    "captions": Shape("", "in this "),
    "words of a caption": Shape("in this ", "a "),
    "requests for comment": Shape("", "has asked "),
    "names of a credit": Shape("(", "Aa "),
    "bylines": Shape("By A", "b Ab"),
    "courtesies": Shape("", "courtesy of A "),
    "newsletters": Shape("", "newsletter "),
    "opinions": Shape("", "views expressed "),
    "hosts": Shape("visit ", "a."),
    "hosts of letters": Shape("", "visit a"),
    "openings": Shape("Which ", "a "),
    "labels": Shape("", "question:"),
    "early and late": Shape("", "early late on "),
    "heads of names": Shape("", "Party, "),
    "heads of names without commas": Shape("", "Bank "),
    "a photo that nobody took": Shape("", "courtesy of A."),
    "reporters": Shape("", "AP writer "),
    "views and verbs": Shape("", "views expressed are is "),
    "tips and stories": Shape("Know a ", "tip story "),
    "the same reference": Shape("according to the ", "a "),
}


def _article(text: str) -> Article:
    """An article with this text as one line below its headline."""
    return Article("a", date(2020, 1, 1), ("A headline", text), f"A headline\n{text}")


def _births(text: str) -> list[bool]:
    """Whether dates are births: every 16 characters, as close as days can stand in a text."""
    mention = dates.DateMention(0, 0, date.min, date.max)
    places = range(0, len(text), 16)
    return [dates.is_birth_date(text, mention._replace(start=place)) for place in places]


def _named(text: str) -> Any:
    return names.is_name(text, [names.Name(text)])


def _thing_names(text: str) -> Any:
    return names.other_forms(names.all_names(text, (text,), text))


def _page(text: str) -> bytes:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    xml_text = "".join(letter if letter >= " " or letter == "\n" else " " for letter in escaped)
    return (
        f"<page><title>A</title><ns>0</ns><id>1</id><revision><id>2</id><text>{xml_text}"
        "</text></revision></page>"
    ).encode("utf-8", "replace")


def _cut(text: str) -> Any:
    pages = text.replace("{{", "<page>").replace("}}", "</page>").encode("utf-8", "replace")
    pieces = [pages[start : start + 65536] for start in range(0, len(pages), 65536)]
    return list(dump.cut_pages(pieces))


def _record(text: str) -> Any:
    record = records.read_record({"title": "A", "text": text})
    try:
        return records.page_from_record(record)
    except dump.BadPageError:
        return None


def _linked_record(text: str) -> Any:
    """A text of which every tenth character is a link."""
    links = [{"start": start, "end": start + 1, "target": "A"} for start in range(0, len(text), 10)]
    record = records.read_record({"title": "A", "text": text, "links": links})
    try:
        return records.page_from_record(record)
    except dump.BadPageError:
        return None


def _head(text: str) -> Any:
    try:
        return dump.page_head(text.encode("utf-8", "replace"))
    except dump.BadPageError:
        return None


def _news_line(text: str) -> Any:
    return news_lines.parse_block(
        text.encode("utf-8", "replace"), "jsonl", date(2030, 1, 1), signatures=False
    )


def _wmt_line(text: str) -> Any:
    return news_lines.parse_block(
        text.encode("utf-8", "replace"), "wmt", date(2030, 1, 1), signatures=False
    )


def _template(text: str) -> Any:
    try:
        return render.parse_template(text)
    except ValueError:
        return None


FUNCTIONS: dict[str, Callable[[str], Any]] = {
    # builders.text
    "quotation_spans": lambda text: list(quotations.quotation_spans(text)),
    "replace_quotations": lambda text: quotations.replace_quotations(
        text, lambda quotation: " ", quotations.MIXED
    ),
    "word_set": word_set,
    "dates_in": dates.dates_in,
    "is_birth_date": _births,
    "date_candidates": lambda text: list(dates.date_candidates(text)),
    "time_in_question": dates.time_in_question,
    "undated dates": lambda text: dates.date_pattern("undated").search(text),
    "relative dates": lambda text: dates.date_pattern("relative").search(text),
    "contains_as_scored": lambda text: given_away.contains_as_scored(text, text),
    "overlaps": lambda text: given_away.overlaps(text, text[1:]),
    "gives_away": lambda text: given_away.gives_away(text, text[1:]),
    "object_names": lambda text: given_away.object_names.__wrapped__(
        text[: len(text) // 2], (text[len(text) // 2 :],)
    ),
    "without_bracket": names.without_bracket,
    "all_names": _thing_names,
    "is_name": _named,
    "initials": names.initials,
    "same_case": lambda text: names.same_case(names.Name(text), text),
    "merge_targets": lambda text: prompts.merge_targets([text]),
    "without_references": references.without_references,
    "clean_label": references.clean_label,
    "parse_template": _template,
    "query": lambda text: render.query("<the subject> is <an object>.", text),
    "written_subject": lambda text: render.written_subject("<subject> is an <object>.", text),
    "sentence": lambda text: render.sentence("<the subject> is <an object>.", text, text),
    "sentence_starts": sentence_rules.sentence_starts,
    "split_sentences": sentence_rules.split_sentences,
    "normalize_answer": squad.normalize_answer,
    "normalize_many": lambda text: squad.normalize_many([text, f"{text}é"]),
    "form_says_nothing": squad.form_says_nothing,
    "exact_match": lambda text: squad.exact_match(text, [text]),
    "f1": lambda text: squad.f1(text, [text, "Leeds"]),
    "verdict": lambda text: squad.verdict(text, ["Leeds"], [text], [text]),
    "marks": lambda text: squad.marks(text, [text, "Leeds"], ["Leeds"], [text]),
    "fold": words.fold,
    "word_tokens": words.word_tokens,
    "folded_tokens": words.folded_tokens,
    "fold_in_place": words.fold_in_place,
    "fold_without_marks": words.fold_without_marks,
    "compose_accents": words.compose_accents,
    "name_words": words.name_words.__wrapped__,
    "squeeze": words.squeeze,
    "plain_marks": words.plain_marks,
    "bare_answer": answers.bare_answer,
    "names_answer": lambda text: answers.names_answer(text, "London buses", small=True),
    "gives_answer_away": lambda text: same_answer.gives_answer_away(text, "Italian PSG"),
    "answer_key": same_answer.answer_key,
    "question_key": question_key.question_key,
    "plain_amounts": same_answer.plain_amounts,
    "has_amount": same_answer.has_amount,
    "contradict": lambda text: same_answer.contradict(text, "not guilty"),
    "full_name_words": same_answer.full_name_words,
    "is_abbreviation": lambda text: same_answer.is_abbreviation("PSG", text),
    "is_same_name": lambda text: same_answer.is_same_name(text, "Leeds United"),
    "names_in_other_words": lambda text: same_answer.names_in_other_words(text, "PSG"),
    "takes_the": articles.takes_the,
    "opening_article": lambda text: articles.opening_article(text, text[: len(text) // 2]),
    "a_or_an": articles.a_or_an,
    "boilerplate_kind": boilerplate.boilerplate_kind,
    "dateline_end": boilerplate.dateline_end,
    "malformation": lambda text: question_form.malformation(text + "?"),
    "asks_time": english_questions.asks_time,
    "asks_permanent_fact": english_questions.asks_permanent_fact,
    "article_day_reason": lambda text: english_questions.article_day_reason(
        "When?", text, relative=True
    ),
    "unresolved_pronoun": standalone.unresolved_pronoun,
    "outside_reference": lambda text: standalone.outside_reference(text, relative=True),
    "simple_past": verbs.simple_past,
    # builders.wikipedia
    "cut_pages": _cut,
    "page_head": _head,
    "newest_revision": lambda text: dump.newest_revision(_page(text)),
    "country": flags.country,
    "is_html": html.is_html,
    "html_to_text": html.html_to_text,
    "is_shown": infoboxes.is_shown.__wrapped__,
    "in_units": lambda text: list(infoboxes.in_units({text: text})),
    "english_share": lambda text: inputs.english_share([text]),
    "page_from_record": _record,
    "page_from_record with links": _linked_record,
    "json_rows": lambda text: deque(
        # the reader holds one row at a time: a list of a million would measure Python's collector
        records.json_rows(text.encode("utf-8", "replace"), 0),
        maxlen=0,
    ),
    "without_templates": lambda text: templates.without_templates(text, "A"),
    "normalise_title": titles.normalise_title,
    "redirect_target": titles.redirect_target,
    "paragraphs": wikitext.paragraphs,
    # builders.wmt, builders.wikidata, builders.generate
    "parse_block of JSON": _news_line,
    "parse_block": _wmt_line,
    "sentences_of": news_lines.sentences_of,
    "signature": minhash.signature,
    "original_article_passages": lambda text: passages.original_article_passages(0, b"a", text),
    "possible_days": lambda text: possible_days(text, 11, "Q1985727"),
    "news_sentences": lambda text: news_sentences(_article(text)),
    "body_sentences": lambda text: body_sentences(_article(text)),
    "is_usable_name": is_usable_name,
    "parse_pairs": lambda text: parse_pairs(text, load_prompts(None)),
    "strip_reasoning": strip_reasoning,
    "parse_reply": lambda text: parse_reply(text, load_prompts(None), question=True),
    # filters and scoring
    "agreement": lambda text: agreement(text, "Leeds United", "entity"),
    "rouge_l": lambda text: metrics.rouge_l(text, "Leeds United won"),
    "chosen_place": lambda text: views.chosen_place(text, ["Leeds", "York"]),
}
"""Every function that reads text from outside, by its name; a test says which are not here."""

QUESTIONS = (
    *("time_in_question", "malformation", "unresolved_pronoun", "outside_reference"),
    *("gives_answer_away", "names_answer", "names_in_other_words", "answer_key"),
    "article_day_reason",
)
LONGEST_TEXT: dict[str, int] = {
    **dict.fromkeys(QUESTIONS, 1000),
    "agreement": LONGEST_REPLY,
}
"""Bytes of the longest text of a function whose callers bound it: a question or its answer. What a
model writes has at most 300 characters, what people write 500 (`annotation.layout.Check`)."""

_OWN = "its text is the project's own"
_CALLED = "paragraphs calls it"
_PATH = "its text is the name of a file"
_PARSED = "parses a question with spaCy: what people and models write, of 500 characters at most"
_PLAIN = "copies or compares its text once"
NOT_TRIED: dict[str, str] = {
    **dict.fromkeys(("language_data", "object_last", "parse_phrase", "phrase", "question"), _OWN),
    **dict.fromkeys(("format_date", "with_preposition", "name_pattern"), _OWN),
    **dict.fromkeys(
        ("date_text", "flag", "force", "full_age", "is_box", "is_date", "team"), _CALLED
    ),
    **dict.fromkeys(("shows_nothing", "visible_text", "wiki_link", "says_nothing"), _CALLED),
    **dict.fromkeys(("block_marks", "without_blocks"), _CALLED),
    **dict.fromkeys(("check_pages", "find_pages", "is_pages", "load_tokenizer"), _PATH),
    **dict.fromkeys(("read_pages", "tokenizer_location", "view_statistics"), _PATH),
    **dict.fromkeys(("check_tokenizer", "needs_transformers"), _PATH),
    **dict.fromkeys(("add_page", "template_rows", "total_counts"), "counts names of templates"),
    **dict.fromkeys(("insert_times", "parse_text", "parsed_together"), _PARSED),
    **dict.fromkeys(("past_of_participle",), _PARSED),
    **dict.fromkeys(("is_spoken", "spoken_text"), _CALLED),
    **dict.fromkeys(("verb_forms",), _OWN),
    **dict.fromkeys(("as_of_day", "in_period", "on_day", "padded_words"), _PLAIN),
    **dict.fromkeys(("significant_words", "cuts_word", "title_hash", "title_hashes"), _PLAIN),
    **dict.fromkeys(("item_number_of", "numbers_in_digits"), _PLAIN),
    "newest_head": "newest_revision calls it",
    "normalize_or_keep": "contains_as_scored calls it",
    "token_f1": "f1 calls it",
    "verdict_of_form": "verdict calls it",
    "sentence_breaks": "sentence_starts and split_sentences call it",
}
"""Public functions that take a text which is not from outside, or that others here call."""
