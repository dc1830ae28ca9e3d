"""Where a page mentions an object.

Three rules find mentions. Rule (a), `PageText.linked_mentions`: a link to the object's page. Rule
(b), `PageText.named_mentions`: one of its names stands in the text. Rule (c), `Passages`: a passage
is similar to one of its names. `builders.timeqa.evidence` chooses among them.

Names are found whatever the accents, dashes, quotes, spaces, full stops of initials (`F. C.`,
`FC`) and, but for the names below, letter case; the offsets are those of the page's own text.

- Only whole words count. A name of one word keeps a first capital; one of up to four letters or
  all in capitals keeps every letter's case.
- A name inside a longer one does not count: inside a longer link to another page, or before
  another capitalised word (`Harvard University` in `Harvard University Press`). A link of just
  that text to another page is another thing of that name.
- A span is whole words, and no part of a longer name: neither `Lehman College` of `Hunter-Lehman
  College` nor `Germany` of `East Germany`, even where the page links it alone.
- `weak` names leave out what companies and clubs add (`F.C.`, `Inc.`), or are the text of a link
  to the object. They count unless another object has the same name. Surnames alone are no names.

A passage is a sentence of a paragraph, or a list item or row. Its terms are its words, folded
(`text.words.fold_in_place`), function words too: their IDF over the passages of the page is low.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple

from factdrift.builders import rows
from factdrift.builders.text.dates import MONTHS, TextDates, dates_in
from factdrift.builders.text.names import (
    BEFORE_NAMES,
    FUNCTION_WORDS,
    NAME_AFFIXES,
    Name,
    name_pattern,
    same_case,
    without_bracket,
)
from factdrift.builders.text.sentences import sentence_starts
from factdrift.builders.text.words import (
    WORD_PATTERN,
    fold_in_place,
    fold_without_marks,
    name_words,
    squeeze,
)
from factdrift.builders.timeqa.similarity import TfIdf

# Capitalised words that do not go on with the name before them: `FC`, `In`, `May`.
_NO_PART = NAME_AFFIXES | BEFORE_NAMES | frozenset(map(fold_in_place, MONTHS))
# The word behind a name: `Press` of `Harvard University Press`.
_NEXT = re.compile(r"[ -]([^\W\d_][\w'’.&]*)")
# A part of the same word before a span: `Hunter-` of `Hunter-Lehman College`, `Leip` of `Leipzig`.
_CUT_BEFORE = re.compile(r"[^\W_](?:[^\W_]|[-\u2010\u2011'’])*$")
# A part of the same word behind a span: `zig` of `Leipzig`, `-Lehman` of `Hunter-Lehman`.
_CUT_BEHIND = re.compile(r"[^\W_]+|[-\u2010\u2011][A-Z][^\W_]*")
# A word that makes another place of the name behind it: `East ` of `East Germany`, `(South `.
_QUALIFIED = re.compile(
    r"(?<![^\W_])(?:(?:North|South|East|West)(?:ern)?|Upper|Lower|(?<=[^.!?]\s)New)\s$"
)
# The bracket that opens a page, which tells a life: `Ann Lee (1910-1990)`.
_FIRST_BRACKET = re.compile(r"[^()]{0,120}\(([^()]*)\)")


# Characters before a span that are searched for the rest of its word: a long word, a guess.
_LONGEST_WORD = 40


class PageMention(NamedTuple):
    """The characters `paragraphs[paragraph].text[start:end]` name the object.

    Only a mention that rule (c) found has a `score`, its similarity.
    """

    paragraph: int
    start: int
    end: int
    linked: bool = False
    score: float | None = None

    def overlaps(self, other_mention: "PageMention") -> bool:
        """Whether both mentions have a character of the page in common."""
        return (
            self.paragraph == other_mention.paragraph
            and self.start < other_mention.end
            and other_mention.start < self.end
        )


class PageText:
    """One page: its text made ready for the search of names, its sentences, and its dates."""

    def __init__(self, page: rows.Page) -> None:
        self.page = page
        self.texts = [paragraph.text for paragraph in page.paragraphs]
        self._dates: dict[str, TextDates] = {}
        self._sentences: dict[int, list[int]] = {}

    @cached_property
    def _parts(self) -> list[tuple[str, list[int] | None]]:
        return [fold_without_marks(text) for text in self.texts]

    @cached_property
    def folded(self) -> str:
        """The folded paragraphs, joined by line ends."""
        return "\n".join(text for text, _ in self._parts)

    @cached_property
    def starts(self) -> list[int]:
        """The places in the folded text where paragraphs begin, and one place after the end."""
        return list(accumulate((len(text) + 1 for text, _ in self._parts), initial=0))

    def words(self, mention: PageMention) -> str:
        """The page's words at a mention."""
        return self.texts[mention.paragraph][mention.start : mention.end]

    @cached_property
    def _squeezed(self) -> str:
        return squeeze(self.folded)

    def dates(self, paragraph_number: int) -> TextDates:
        """The dates of a paragraph."""
        return self._dates_of(self.texts[paragraph_number])

    def title_dates(self, paragraph_number: int) -> TextDates:
        """The dates in the innermost of a paragraph's section titles that has dates."""
        section_title = self.page.paragraphs[paragraph_number].section
        while section_title:
            section_title, _, innermost_title = section_title.rpartition(" / ")
            if (dates := self._dates_of(innermost_title)).written:
                return dates
        return TextDates((), ())

    def _dates_of(self, text: str) -> TextDates:
        if text not in self._dates:
            self._dates[text] = dates_in(text)
        return self._dates[text]

    def sentences(self, paragraph_number: int) -> list[int]:
        """The places where sentences of a paragraph start; a list item or row is one sentence."""
        if paragraph_number not in self._sentences:
            page_paragraph = self.page.paragraphs[paragraph_number]
            starts = sentence_starts(page_paragraph.text) if page_paragraph.kind == "text" else [0]
            self._sentences[paragraph_number] = starts
        return self._sentences[paragraph_number]

    @cached_property
    def opening(self) -> tuple[int, range]:
        """The first paragraph of text, and the first bracket in it, which tells a life."""
        for paragraph_number, paragraph in enumerate(self.page.paragraphs):
            if paragraph.kind == "text" and paragraph.text:
                opening_bracket = _FIRST_BRACKET.match(paragraph.text)
                return paragraph_number, range(
                    opening_bracket.start(1), opening_bracket.end(1)
                ) if opening_bracket else range(0)
        return 0, range(0)

    @cached_property
    def _links(self) -> Mapping[str, Sequence[PageMention]]:
        mentions_by_title: dict[str, list[PageMention]] = {}
        for paragraph_number, paragraph in enumerate(self.page.paragraphs):
            for link in paragraph.links:
                if link.start < link.end:
                    mention = PageMention(paragraph_number, link.start, link.end, linked=True)
                    mentions_by_title.setdefault(link.target, []).append(mention)
        return mentions_by_title

    def whole_words(self, mention: PageMention) -> PageMention:
        """A mention with the rest of the word or of the name that it was cut from, if any."""
        text, start, end = self.texts[mention.paragraph], mention.start, mention.end
        # No name is longer than this, so that the text before it is not searched to its beginning.
        lead = text[max(0, start - _LONGEST_WORD) : start]
        if cut_before := _CUT_BEFORE.search(lead) or _QUALIFIED.search(lead):
            start -= len(cut_before[0])
        if cut_behind := _CUT_BEHIND.match(text, end):
            end = cut_behind.end()
        return mention._replace(start=start, end=end)

    def linked_mentions(self, object_title: str | None) -> Sequence[PageMention]:
        """Rule (a): the links to the page of this title, in order."""
        return self._links.get(object_title, ()) if object_title else ()

    def named_mentions(self, names: Sequence[Name], object_title: str | None) -> list[PageMention]:
        """Rule (b): the mentions by these names, in order; the longest of those that overlap.

        `object_title` is that of the object's page: a link to it is no name of something else.
        """
        known_words = {name.words for name in names}
        all_mentions: list[PageMention] = []
        for name in names:
            if "".join(name.words) in self._squeezed:
                for name_match in name_pattern(name.text).finditer(self.folded):
                    paragraph_number = bisect_right(self.starts, name_match.start()) - 1
                    start, end = self._span(paragraph_number, *name_match.span())
                    if self._counts(name, paragraph_number, start, end, object_title, known_words):
                        end = self._with_mark(name, paragraph_number, end)
                        all_mentions.append(PageMention(paragraph_number, start, end))
        all_mentions.sort(key=lambda mention: (mention.paragraph, mention.start, -mention.end))
        longest_mentions: list[PageMention] = []
        for mention in all_mentions:
            last_mention = longest_mentions[-1] if longest_mentions else None
            if (
                not last_mention
                or last_mention.paragraph != mention.paragraph
                or last_mention.end <= mention.start
            ):
                longest_mentions.append(mention)
        return longest_mentions

    def _span(self, paragraph_number: int, start: int, end: int) -> tuple[int, int]:
        """A span of the folded page as one of the paragraph, without a sentence's full stop."""
        start, end = start - self.starts[paragraph_number], end - self.starts[paragraph_number]
        if places := self._parts[paragraph_number][1]:
            start, end = places[start], places[end]
        text = self.texts[paragraph_number]
        if text[end - 1] == "." and "." not in text[start : end - 1]:
            end -= 1
        return start, end

    def _with_mark(self, name: Name, paragraph_number: int, end: int) -> int:
        """The end of a span with the mark of its name (`Yahoo!`, `Warner Bros.`, `A (B)`)."""
        last_mark, last_word = name.text[-1], name.text.rsplit(None, 1)[-1]
        is_part = last_mark in "!?)" or (last_mark == "." and "." not in last_word[:-1])
        return end + (is_part and self.texts[paragraph_number][end : end + 1] == last_mark)

    def _counts(
        self,
        name: Name,
        paragraph_number: int,
        start: int,
        end: int,
        object_title: str | None,
        known_words: set[tuple[str, ...]],
    ) -> bool:
        """Whether the words there are the name, and no part of the name of something else."""
        page_paragraph = self.page.paragraphs[paragraph_number]
        if not same_case(name, page_paragraph.text[start:end]):
            return False
        whole_mention = self.whole_words(PageMention(paragraph_number, start, end))
        if (whole_mention.start, whole_mention.end) != (start, end):
            return False
        for link in page_paragraph.links:
            if link.start >= end or link.end <= start or link.target == object_title:
                continue
            linked_length = start <= link.start and link.end <= end and link.end - link.start
            if linked_length and linked_length < end - start:
                continue
            if name_words(without_bracket(link.target)) not in known_words:
                return False
        next_word = _NEXT.match(page_paragraph.text, end)
        if (
            next_word is None
            or not next_word[1][0].isupper()
            or page_paragraph.text[start:end].islower()
        ):
            return True
        return "".join(name_words(next_word[1])) in _NO_PART


class Passages:
    """The passages of a page for rule (c); they are cut when they are first needed."""

    def __init__(self, page: PageText) -> None:
        self._page = page

    @cached_property
    def _spans(self) -> list[tuple[int, int, int]]:
        """Paragraph, start and end of each."""
        texts = enumerate(self._page.texts)
        return [
            (paragraph_number, *sentence_span)
            for paragraph_number, text in texts
            for sentence_span in pairwise([*self._page.sentences(paragraph_number), len(text)])
        ]

    @cached_property
    def _known(self) -> TfIdf:
        passage_texts = (
            self._page.texts[paragraph_number][start:end]
            for paragraph_number, start, end in self._spans
        )
        return TfIdf([WORD_PATTERN.findall(fold_in_place(text)) for text in passage_texts])

    def most_similar(self, names: Sequence[Name], min_score: float) -> PageMention | None:
        """Rule (c): the passage most similar to a name, or None where none is similar enough.

        The similarity has to be greater than `min_score`. A passage is not similar to a name that
        it shares one word with, or at most half of its words. Function words do not count, nor do
        weak names and names of one word.
        """
        candidates: list[tuple[float, int, frozenset[str]]] = []
        for name in names:
            word_counts = Counter(name.words)
            content_words = frozenset(word_counts.keys() - FUNCTION_WORDS)
            if name.weak or len(name.words) < 2:
                continue
            for passage_number, passage_words in enumerate(self._known.words):
                shared_count = len(content_words & passage_words.keys())
                if shared_count >= 2 and 2 * shared_count > len(content_words):
                    score = self._known.cosine(passage_number, word_counts)
                    if score > min_score:
                        candidates.append((-score, passage_number, content_words))
        if not candidates:
            return None
        negative_score, passage_number, content_words = min(
            candidates, key=lambda candidate: candidate[:2]
        )
        paragraph_number, start, end = self._spans[passage_number]
        folded_text = fold_in_place(self._page.texts[paragraph_number])
        # The mention reaches from the first word of the name in the passage to the last one.
        word_spans = [
            word.span()
            for word in WORD_PATTERN.finditer(folded_text, start, end)
            if word[0] in content_words
        ]
        mention_start, mention_end = word_spans[0][0], word_spans[-1][1]
        score = min(1.0, round(-negative_score, 6))
        return self._page.whole_words(
            PageMention(paragraph_number, mention_start, mention_end, score=score)
        )
