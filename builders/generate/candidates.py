"""Answer candidates for language models: names, dates and phrases as spans of an article."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from factdrift.builders.rows import AnswerType, Article, Candidate
from factdrift.builders.text.data import word_set
from factdrift.builders.text.dates import date_candidates, date_pattern
from factdrift.builders.text.en.answers import numbers_in_digits
from factdrift.builders.text.en.boilerplate import boilerplate_kind, dateline_end
from factdrift.builders.text.en.standalone import outside_reference
from factdrift.builders.text.pipeline import load_pipeline
from factdrift.builders.text.words import folded_tokens

Span = tuple[int, int, AnswerType, str | None]

_LONGEST = 12
"""Tokens of a prepositional phrase that can be an answer, at most: longer ones hold clauses."""
_NUMBERS = frozenset(("CARDINAL", "MONEY", "PERCENT", "QUANTITY"))
"""The pipeline's labels of amounts, which are phrases: ordinals (`first`) are no answer."""
_ENTITY_LABELS = frozenset(
    ("PERSON", "ORG", "GPE", "LOC", "FAC", "EVENT", "WORK_OF_ART", "PRODUCT", "LAW")
)
_NAME_LABELS = _ENTITY_LABELS | {"NORP"}
"""The labels of names; peoples and religions (NORP) are names, but answer nothing."""
_NOT_FOR_NAMES = ("tagger", "attribute_ruler", "lemmatizer")
"""Parts of the pipeline that names do not depend on; the parser tells where a sentence ends, and no
name goes on behind it."""
_TIMES = frozenset(("DATE", "TIME"))
"""The pipeline's labels of times."""
_SHORTEST_NOUN = 3
"""Letters of a noun that carries news, at least: shorter ones are abbreviations."""
_JOINS_SENTENCES = word_set(
    "for_example for_instance in_fact in_addition in_general in_particular in_turn in_part "
    "of_course at_least at_most at_first at_last on_average for_now in_all in_total in_short "
    "by_contrast in_contrast as_well at_all"
)
"""Phrases that join a sentence to the one before it, or say nothing alone."""
_NO_ADVERBIAL = frozenset("of as like including according than such per".split())
"""Words before a noun that give examples, sources and comparisons: `such as Delaware`.
`of` belongs to the noun before it: `of Italy` answers nothing."""
# what an answer may begin and end with beside letters and digits: `$3`, `5%`, `"Hello"`, not a dash
_EDGE = re.compile(r"^[^\w$€£¥\"“‘(]+|[^\w%\"”’).]+$")
_CURRENCIES = "$€£¥"


def sentence_starts(article: Article) -> list[int]:
    """Return the offset of each sentence in the article's text."""
    return list(accumulate((len(sentence) + 1 for sentence in article.sentences[:-1]), initial=0))


class SpacyFinder:
    """Finds entities and prepositional phrases with the small pipeline."""

    def __init__(self) -> None:
        self.nlp = load_pipeline()

    def find(self, article: Article) -> list[Candidate]:
        """Return the candidates of every sentence but the headline.

        Lines that are no news give none: boilerplate, bylines and other lines without a verb.
        """
        with self.nlp.memory_zone():
            body = list(_news_lines(article, self.nlp.pipe(article.sentences[1:])))
            return _candidates(article, body)

    def find_with_nouns(self, article: Article) -> tuple[list[Candidate], list[tuple[int, int]]]:
        """Return the candidates as `find` does, and the spans of common nouns that carry the news.

        They are the nouns of the body whose base form the headline has, too; times are none. The
        article is parsed once for both: parsing is nearly all of the time.
        """
        with self.nlp.memory_zone():
            headline, *parsed_lines = self.nlp.pipe(article.sentences)
            body = list(_news_lines(article, parsed_lines))
            return _candidates(article, body), list(_news_nouns(headline, body))

    def names(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the named entities of each text, in order; dates and numbers are none."""
        with self.nlp.memory_zone():
            text_names = []
            for parsed_text in self.nlp.pipe(texts, disable=_NOT_FOR_NAMES):
                entities = (entity for entity in parsed_text.ents if entity.label_ in _NAME_LABELS)
                text_names.append([entity.text for entity in entities])
            return text_names


class _NewsLine(NamedTuple):
    """A line of the body that tells news: its number, its offset in the text, and its parse."""

    number: int
    offset: int
    parse: Any


def _news_lines(article: Article, parsed_lines: Iterable[Any]) -> Iterator[_NewsLine]:
    """Yield the lines behind the headline that tell news."""
    offsets = sentence_starts(article)[1:]
    for number, (offset, parsed_line) in enumerate(zip(offsets, parsed_lines, strict=True), 1):
        if _tells_news(parsed_line):
            yield _NewsLine(number, offset, parsed_line)


def _candidates(article: Article, body: Iterable[_NewsLine]) -> list[Candidate]:
    """Return the candidates of lines, in their order."""
    candidates: list[Candidate] = []
    for line in body:
        line_spans = sorted(
            set(_answer_spans(line.parse)), key=lambda span: (span[0], -span[1], span[2])
        )
        for span_start, span_end, answer_type, entity_label in line_spans:
            start, end = line.offset + span_start, line.offset + span_end
            answer = article.text[start:end]
            candidates.append(Candidate(start, end, answer, answer_type, entity_label, line.number))
    return candidates


def _news_nouns(headline: Any, body: Iterable[_NewsLine]) -> Iterator[tuple[int, int]]:
    """Yield the spans of the nouns of lines whose base form stands in the headline."""
    told = {token.lemma_.lower() for token in headline if token.is_alpha}
    for line in body:
        for token in line.parse:
            is_noun = token.tag_ in ("NN", "NNS") and token.ent_type_ not in _TIMES
            if is_noun and len(token) >= _SHORTEST_NOUN and token.lemma_.lower() in told:
                start = line.offset + token.idx
                yield start, start + len(token)


def _tells_news(parsed_line: Any) -> bool:
    """Whether a line is a sentence of the news: it has a verb and is no boilerplate."""
    has_verb = any(token.tag_.startswith("VB") or token.tag_ == "MD" for token in parsed_line)
    return has_verb and boilerplate_kind(parsed_line.text) is None


def _answer_spans(parsed_line: Any) -> Iterator[Span]:
    """The spans of a line that can be answers, behind its dateline."""
    line_text = parsed_line.text
    news_start = dateline_end(line_text)
    for span_start, span_end, answer_type, label in (
        *_entity_spans(parsed_line),
        *_phrase_spans(parsed_line),
    ):
        start, end = _without_signs(line_text, span_start, span_end)
        if start >= news_start and end > start:
            yield start, end, answer_type, label


def _entity_spans(parsed_line: Any) -> Iterator[Span]:
    """The names, dates and amounts that the pipeline finds."""
    for entity in parsed_line.ents:
        span_start, span_end = entity.start_char, entity.end_char
        if entity.label_ == "DATE":
            date_type = _type_of_date(entity.text)
            if date_type is not None:
                yield span_start, span_end, date_type, entity.label_
        elif entity.label_ in _ENTITY_LABELS:
            span_start += 4 if entity.text.lower().startswith("the ") else 0
            span_end -= 2 if entity.text.endswith(("'s", "’s")) else 0
            yield span_start, span_end, "entity", entity.label_
        elif entity.label_ in _NUMBERS:
            if span_start and parsed_line.text[span_start - 1] in _CURRENCIES:
                span_start -= 1  # the pipeline leaves the sign out: `$200 million`
            yield span_start, span_end, "phrase", entity.label_


def _phrase_spans(parsed_line: Any) -> Iterator[Span]:
    """The prepositional phrases that say something by themselves."""
    for token in parsed_line:
        if token.dep_ != "prep" or token.lower_ in _NO_ADVERBIAL:
            continue
        span = parsed_line[token.left_edge.i : token.right_edge.i + 1]
        if not 1 < len(span) <= _LONGEST or span.text.lower() in _JOINS_SENTENCES:
            continue
        if not _depends_on_article(span.text):
            yield span.start_char, span.end_char, "phrase", token.text.upper()


def _type_of_date(date_text: str) -> AnswerType | None:
    """The type of the answer that a date of the pipeline makes; None where it makes none.

    A calendar's date is a `date`; a length of time or an age (`five years`) is a `phrase`; `years`,
    `daily` and times that depend on the article's day answer nothing.
    """
    if _depends_on_article(date_text) or date_text.endswith(" ago"):
        return None
    # a year counts as a date only behind a preposition
    if any(True for _ in date_candidates(f"in {date_text}")):
        return "date"
    words = numbers_in_digits(folded_tokens(date_text))
    return "phrase" if any(word[0].isdigit() for word in words) else None


def _depends_on_article(text: str) -> bool:
    """Whether a text points at its article or its day: `on Monday`, `last week`, `at the time`."""
    kinds = {kind for _, _, kind in date_candidates(text)}
    if kinds and kinds <= {"WEEKDAY", "RELATIVE"}:
        return True
    if any(date_pattern(reader).search(text) for reader in ("undated", "relative")):
        return True
    return outside_reference(text, relative=True)[0] is not None


def _without_signs(text: str, start: int, end: int) -> tuple[int, int]:
    """A span without the signs at its ends; empty where it has nothing else."""
    span_text = text[start:end]
    if not any(map(str.isalnum, span_text)):
        return start, start
    stripped_text = _EDGE.sub("", span_text)
    stripped_start = start + span_text.index(stripped_text)
    return stripped_start, stripped_start + len(stripped_text)
