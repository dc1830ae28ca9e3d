"""Whether a text names an answer: by whole words, with the capitals that tell May from may."""

import re
from functools import lru_cache

from factdrift.builders.text.data import language_data, word_set
from factdrift.builders.text.words import DETERMINERS, SMALL_WORDS, folded_tokens

_LISTS = language_data("questions")
TITLES = word_set(_LISTS["titles"])
"""Titles that stand before a name and are no part of it."""
_NUMBERS = {
    number_word: str(number) for number, number_word in enumerate(_LISTS["numbers"].split())
}
_TENS = {tens_word: 10 * tens for tens, tens_word in enumerate(_LISTS["tens"].split(), 2)}
_UNITS = word_set(
    "second minute hour day week month year decade century dollar euro pound mile point"
)
_LEGAL = word_set(language_data("words")["added_to_names"])
_LONGEST_FIRST = sorted(
    (re.escape(title) for title in TITLES),
    key=lambda title_pattern: (-len(title_pattern), title_pattern),
)
_TITLE = re.compile(rf"^(?:{'|'.join(_LONGEST_FIRST)})\.?\s+(?=[A-Z])")
_ODD_FIRST = word_set(
    "who whom whose what which when where why how may will can is are was were did does do has "
    "have it us march turkey polish mark bill hope"
)
"""First words that are rarely names, although the first word has a capital."""
_TEXTS_AT_A_TIME = 256
"""Texts whose words are remembered: questions are compared with several answers, one after another,
and answers with several questions."""
_PIECES = re.compile(r"(?<=[\s\-–—/(\"“])")


def numbers_in_digits(folded_words: tuple[str, ...]) -> tuple[str, ...]:
    """Folded words with numbers in digits and units in the singular: `five years` is 5, year."""
    digit_words: list[str] = []
    for word in folded_words:
        if digit_words and digit_words[-1] in _TENS and word in _NUMBERS:
            digit_words[-1] = str(_TENS[digit_words[-1]] + int(_NUMBERS[word]))
        else:
            digit_words.append(_NUMBERS.get(word, word) if word != "one" else word)
    digit_words = [str(_TENS[w]) if w in _TENS else w for w in digit_words]
    return tuple(w[:-1] if w[:-1] in _UNITS else w for w in digit_words)


def bare_answer(answer: str) -> str:
    """An answer without a title before the name and without a legal form behind it."""
    without_title = _TITLE.sub("", answer.strip())
    answer_words = without_title.split()
    while len(answer_words) > 1 and answer_words[-1].strip(".,").casefold() in _LEGAL:
        answer_words.pop()
    return " ".join(answer_words).rstrip(",")


@lru_cache(_TEXTS_AT_A_TIME)
def _spans(original_text: str, *, unknown: bool) -> tuple[tuple[str, bool], ...]:
    """The folded words of a text with numbers in digits, and whether each has a capital.

    Where a number of several words became one word, the capitals cannot be assigned any more, and
    every word gets `unknown`.
    """
    cased_words: list[tuple[str, bool]] = []
    for text_piece in _PIECES.split(original_text.replace("’", "'")):
        has_capital = any(map(str.isupper, text_piece))
        cased_words += [(word, has_capital) for word in folded_tokens(text_piece, DETERMINERS)]
    number_words = numbers_in_digits(tuple(word for word, _ in cased_words))
    if len(number_words) < len(cased_words):
        return tuple((word, unknown) for word in number_words)
    capitals = (capital for _, capital in cased_words)
    return tuple(zip(number_words, capitals, strict=True))


def names_answer(text: str, answer: str, *, small: bool = False) -> bool:
    """Whether the words of an answer stand in a text side by side.

    Determiners are ignored, and numbers in words count as numbers. Words without capitals do not
    name an answer with capitals: `US` is not in `told us`, nor `May` in `may vote`. In a text that
    does not begin with a capital, case is ignored. With `small`, prepositions at the ends of the
    answer are ignored too, so that `London buses` names `in London`.
    """
    answer_words = _spans(answer, unknown=False)
    if small and folded_tokens(answer, SMALL_WORDS):
        content_indices = [
            start
            for start, (text_word, _) in enumerate(answer_words)
            if text_word not in SMALL_WORDS
        ]
        answer_words = answer_words[content_indices[0] : content_indices[-1] + 1]
    text_words = _spans(text, unknown=True)
    if (
        text_words
        and text_words[0][0] in _ODD_FIRST
        and text.startswith(text_words[0][0].capitalize())
    ):
        # the capital of a head says nothing
        text_words = ((text_words[0][0], False), *text_words[1:])
    starts_capital = text.strip()[:1].isupper()
    width = len(answer_words)
    return width > 0 and any(
        all(
            text_word == answer_word and (text_capital or not answer_capital or not starts_capital)
            for (text_word, text_capital), (answer_word, answer_capital) in zip(
                text_words[start : start + width], answer_words, strict=True
            )
        )
        for start in range(len(text_words) - width + 1)
    )
