"""The words of a text, as checks of answers count them (see `annotation.checks`)."""

import re
from unicodedata import category

# The end of `Ann's` (with either apostrophe) and `James'`, not of `isn't`.
_POSSESSIVE = re.compile(r"['’]s?$")


def split_words(text: str) -> list[str]:
    return [text[word_start:word_end] for word_start, word_end in word_places(text)]


def word_places(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each word.

    The letters L, N and M are the Unicode categories of letters, numbers and marks.
    """
    word_places: list[tuple[int, int]] = []
    in_word = False
    for char_index, char in enumerate(text):
        category_letter = category(char)[0]
        if in_word and (category_letter in "LNM" or char in "'’"):
            word_places[-1] = word_places[-1][0], char_index + 1
        elif in_word := category_letter in "LN":
            word_places.append((char_index, char_index + 1))
    return word_places


def word_stem(word: str) -> str:
    """A word in lower case without a final 's or apostrophe."""
    return _POSSESSIVE.sub("", word.lower())
