"""Sentences by rule: no model, the same on every machine.

A sentence ends at `.`, `!` or `?` with closing marks and white space behind it, before what is no
lower-case letter; not after an abbreviation or an initial. What is read makes two differences,
both kept because rows depend on them. In `pages` a letter alone is an initial whatever its case,
the last one of `U.S.` too, and there are abbreviations of encyclopedias (`Mt.`, `ca.`). In `news`
an ellipsis ends a sentence, any number of marks may open the next one, and a letter is an initial
where it is a whole word in capitals.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from factdrift.builders.text.data import language_data, word_set

NewsOrPages = Literal["pages", "news"]

_OPENING = "\"'“‘(["
_END: Final = {
    "pages": re.compile(r"[.!?][\"'”’)\]]*\s+(?=[\"“(\[]?[^\W_a-z])"),
    "news": re.compile(r"[.!?…]+[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[^\W_a-z])"),
}
_LISTS: Final = language_data("words")["abbreviations"]
_SHORT: Final = {kind: word_set(_LISTS["both"]) | word_set(_LISTS[kind]) for kind in _END}
_ABBREVIATED: Final = re.compile(
    r"(?:\b[^\W\d_]|\b(?:{}|[A-Z](?:\.[A-Z])+))$".format("|".join(sorted(_SHORT["pages"])))
)


def sentence_breaks(text: str, kind: NewsOrPages) -> Iterator[int]:
    """Where each sentence but the first begins."""
    sentence_start = 0
    for end_match in _END[kind].finditer(text):
        if text[end_match.start()] != "." or not _abbreviated(
            text, sentence_start, end_match.start(), kind
        ):
            sentence_start = end_match.end()
            yield sentence_start


def _abbreviated(text: str, start: int, stop: int, kind: NewsOrPages) -> bool:
    """Whether the full stop at `stop` belongs to the word before it."""
    if kind == "pages":
        return _ABBREVIATED.search(text[max(0, stop - 12) : stop]) is not None
    last_word = text[start:stop].rsplit(None, 1)[-1:] or [""]
    bare_word = last_word[0].lstrip(_OPENING)
    return bare_word in _SHORT[kind] or (len(bare_word) == 1 and bare_word.isupper())


def sentence_starts(text: str) -> list[int]:
    """Where the sentences of a paragraph of a page begin; 0 is the first."""
    return [0, *sentence_breaks(text, "pages")]


def sentence_at(starts: Sequence[int], length: int, start: int, end: int) -> tuple[int, int]:
    """First character, and the one after the last, of the sentences that hold a span."""
    first_sentence = bisect_right(starts, start) - 1
    after_last = bisect_right(starts, max(start, end - 1))
    return starts[first_sentence], starts[after_last] if after_last < len(starts) else length


def split_sentences(text: str) -> list[str]:
    """The sentences of a news text, which end with their line, too; white space single."""
    sentences = []
    for line in text.splitlines():
        starts = [0, *sentence_breaks(line, "news")]
        for start, end in zip(starts, [*starts[1:], None], strict=True):
            sentences.append(" ".join(line[start:end].split()))
    return [sentence for sentence in sentences if sentence]
