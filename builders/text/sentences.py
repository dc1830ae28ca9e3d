"""Sentences by rule: no model, the same on every machine.

A sentence ends at `.`, `!` or `?`, with closing marks and white space behind it, where no
lower-case letter follows. It does not end after an abbreviation or an initial. The rules for
`pages` and `news` differ, and stay so because rows depend on them. In `pages` a single letter in
any case is an initial, the last one of `U.S.` too. In `news` an ellipsis ends a sentence, any
number of marks may open the next one, and only capitals that are a whole word are initials (`A.`,
`J.K.`).

Numbers of references belong to the sentence before them (`resigned.[1] He`). A sentence also ends
where the space behind it is missing, between two words in usual letters (`the first.Second`).
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from factdrift.builders.text.data import language_data, word_set

NewsOrPages = Literal["pages", "news"]

_OPENING = "\"'“‘(["
# `pages` ends a sentence in `He won. The club`, not in `He won. the club` or at `won … The`;
# `news` also ends one at the ellipsis. An end is looked for at the first of several marks alone,
# and nothing is given back: ten thousand full stops are read once, not once for each of them.
# `[1]`, `[a]`, `[note 2]`, `[3]: 45` and `[citation needed]`, with the space before it; not `[sic]`
_REFERENCE: Final = (
    r"\s*+\[(?:\d{1,3}|[a-z]|(?:note|nb) \d{1,3}|citation needed)\]"
    r"(?:: ?\d{1,4}(?:[-–]\d{1,4})?)?"
)
# `first.Second`, `in 1999.Then`, `(1990).He` and `won.[1]He`, but not `U.S.Senate`, `Dr.Roe`,
# `www.Example.org` or `a.B`
_NO_SPACE: Final = (
    r"(?:(?<=[a-z][a-z])|(?<=\d\d)|(?<=[a-z\d][%)\"”]))"
    rf"[.?](?:{_REFERENCE})*+(?=[A-Z][a-z]++(?![\w.@/]))|[.?](?:{_REFERENCE})++(?=[A-Z])"
)
_END: Final = {
    "pages": re.compile(
        rf"[.!?][\"'”’)\]]*+(?:{_REFERENCE})*+\s++(?=[\"“(\[]?[^\W_a-z])|{_NO_SPACE}"
    ),
    "news": re.compile(
        rf"(?<![.!?…])[.!?…]++[\"'”’)\]]*+(?:{_REFERENCE})*+\s++(?=[\"'“‘(\[]*+[^\W_a-z])"
        rf"|{_NO_SPACE}"
    ),
}
_LISTS: Final = language_data("words")["abbreviations"]
_SHORT: Final = {kind: word_set(_LISTS["both"]) | word_set(_LISTS[kind]) for kind in _END}
_ABBREVIATED: Final = re.compile(
    r"(?:\b[^\W\d_]|\b(?:{}|[A-Z](?:\.[A-Z])+))$".format("|".join(sorted(_SHORT["pages"])))
)

# `J`, `É` and `J.K`.
_INITIALS: Final = re.compile(r"[^\W\d_](?:\.[^\W\d_])*+")

_USUAL_WORD = 32
"""Characters that hold the last word before nearly every full stop, and the space before it."""


def sentence_breaks(text: str, kind: NewsOrPages) -> Iterator[int]:
    """The places where the sentences begin, without the first one."""
    sentence_start = 0
    for end_match in _END[kind].finditer(text):
        # the number of a reference follows a sentence, no abbreviation: `Mr. X.[3] He`
        is_end = text[end_match.start()] != "." or "]" in end_match[0]
        if is_end or not _abbreviated(text, sentence_start, end_match.start(), kind):
            sentence_start = end_match.end()
            yield sentence_start


def _abbreviated(text: str, sentence_start: int, stop_position: int, kind: NewsOrPages) -> bool:
    """Whether the full stop at `stop` belongs to the word before it."""
    if kind == "pages":
        return _ABBREVIATED.search(text[max(0, stop_position - 12) : stop_position]) is not None
    bare_word = _last_word(text, sentence_start, stop_position).lstrip(_OPENING)
    is_initials = bare_word.isupper() and _INITIALS.fullmatch(bare_word) is not None
    return is_initials or bare_word in _SHORT[kind]


def _last_word(text: str, start: int, end: int) -> str:
    """The last word of `text[start:end]`; no more is copied than twice the word and its spaces.

    A sentence of a hundred thousand abbreviations would else be copied for each of them.
    """
    reach = _USUAL_WORD
    while True:
        text_before = text[max(start, end - reach) : end]
        words = text_before.rsplit(None, 1)
        if len(words) == 2 or end - reach <= start:
            return words[-1] if words else ""
        reach *= 2


def sentence_starts(text: str) -> list[int]:
    """The places where the sentences of a page's paragraph begin, from 0 on."""
    return [0, *sentence_breaks(text, "pages")]


def sentence_at(
    starts: Sequence[int], length: int, span_start: int, span_end: int
) -> tuple[int, int]:
    """Start and end of the sentences that contain a span; `length` is that of the text."""
    first_sentence = bisect_right(starts, span_start) - 1
    after_last = bisect_right(starts, max(span_start, span_end - 1))
    return starts[first_sentence], starts[after_last] if after_last < len(starts) else length


def split_sentences(text: str) -> list[str]:
    """The sentences of a news text with single spaces; a line end also ends a sentence."""
    sentences = []
    for text_line in text.splitlines():
        if not text_line or text_line.isspace():
            continue
        line_starts = [0, *sentence_breaks(text_line, "news")]
        for start, end in zip(line_starts, [*line_starts[1:], None], strict=True):
            sentences.append(" ".join(text_line[start:end].split()))
    return [sentence for sentence in sentences if sentence]
