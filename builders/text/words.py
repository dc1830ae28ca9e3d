"""The words of a text, folded so that they can be compared.

- `fold`: case-folded, without accents and compatibility forms; the length may change.
  `word_tokens` are all runs of letters and digits of the folded text. `folded_tokens` are the words
  of a short answer: without possessives and determiners, `U.S.` and `1,000` as one word each.
- `fold_in_place`: each character is folded alone, so that offsets stay. Characters that do not
  decompose (dashes, quotes, `ł`, `ø`) are replaced as well. `name_words` are the words of a name
  folded in this way; initials with full stops (`F.C.`) are one word.
- `plain_marks`: letters stay; apostrophes, hyphens and blanks become plain ones.
- Answers are scored with SQuAD's normalisation, `builders.text.squad.normalize_answer`.
"""

import re
import unicodedata
from functools import lru_cache
from itertools import filterfalse

from factdrift.builders.text.data import language_data, word_set

DETERMINERS = word_set(language_data("words")["determiners"])
SMALL_WORDS = DETERMINERS | word_set(language_data("words")["small"])
"""Determiners, prepositions and conjunctions, which alone do not identify an answer."""

# Each finds the first text and not the second: `Lima's`, `Limas`; `U.S.`, `US`; `1,000`, `1,00`.
_POSSESSIVE = re.compile(r"(?<=[\w.])['’]s\b|(?<=s)['’](?=\W|$)")
_DOTTED = re.compile(r"\b(?:[^\W\d_]\.){2,}")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_TH = "|".join(language_data("dates")["parts"]["th"])
_TOKEN = re.compile(rf"\d+(?:\.\d+)?(?:{_TH})?(?![^\W_])|[^\W_]+|[$€£¥%]")
WORD_PATTERN = re.compile(r"[^\W_]+")

_ODD = str.maketrans("łŁøØđĐıſ‐‑‒–—−’‘`´“”ʼ\u00a0\u2009\u202f", "llooddis------''''\"\"'   ")
_MARK = re.compile("[\u0300-\u036f]")
_NAME_WORD = re.compile(r"[^\W_]+|&")
_APART = re.compile(r"[\W_]+")
# Matches `F.C. ` and `J. K. ` (full stops after single letters), but not `FC` or `St. `.
_INITIALS = re.compile(
    r"(?<![^\W_])(?:[^\W\d_]\.\s?){2,}|(?<![^\W_])(?:[^\W\d_]\.)+[^\W\d_](?![^\W_])"
)


def fold(text: str) -> str:
    """`text` case-folded, without accents and compatibility forms."""
    if text.isascii():
        return text.lower()
    decomposed_text = unicodedata.normalize("NFKD", text.casefold())
    return "".join(filterfalse(unicodedata.combining, decomposed_text)).lower()


def word_tokens(text: str) -> list[str]:
    """All words of `text`, folded."""
    return WORD_PATTERN.findall(fold(text))


def folded_tokens(text: str, ignore: frozenset[str] = DETERMINERS) -> tuple[str, ...]:
    """The folded words of an answer or a question: `The U.S.'s 1,000 men` gives us, 1000, men."""
    plain_text = _POSSESSIVE.sub("", fold(text))
    plain_text = _DOTTED.sub(lambda abbreviation: abbreviation[0].replace(".", ""), plain_text)
    token_texts = _TOKEN.findall(_THOUSANDS.sub("", plain_text))
    return tuple(token for token in token_texts if token not in ignore)


def cuts_word(text: str, start: int, end: int) -> bool:
    """Whether a span begins or ends inside a word or a number."""
    return _split(text, start) or _split(text, end)


def _split(text: str, position: int) -> bool:
    """Whether the place `at` is inside a word or a number."""
    if not 0 < position < len(text):
        return False
    if text[position - 1].isalnum() and text[position].isalnum():
        return True
    nearby_parts = text[max(0, position - 2) : position + 1], text[position - 1 : position + 2]
    return any(re.fullmatch(r"\d[.,]\d", part) for part in nearby_parts)


@lru_cache(maxsize=8192)
def _folded(character: str) -> str:
    plain_character = unicodedata.normalize("NFKD", character.translate(_ODD))[0].lower()
    return plain_character if len(plain_character) == 1 else character


def fold_in_place(text: str) -> str:
    """The text for comparing, of the same length: small letters without accents, plain marks."""
    if text.isascii():
        return text.lower()
    return "".join(
        [character if character < "\x80" else _folded(character) for character in text]
    ).lower()


def fold_without_marks(text: str) -> tuple[str, list[int] | None]:
    """`fold_in_place` without combining accents, and the place of each character in `text`.

    The places are None where every character stays where it is. The last one is the text's length.
    """
    if text.isascii() or not _MARK.search(text):
        return fold_in_place(text), None
    character_places = [
        index for index, character in enumerate(text) if not "\u0300" <= character <= "\u036f"
    ]
    return fold_in_place("".join(text[index] for index in character_places)), [
        *character_places,
        len(text),
    ]


def compose_accents(name: str) -> str:
    """A name in NFC; accents that no letter can take are left out."""
    return _MARK.sub("", unicodedata.normalize("NFC", name))


@lru_cache(maxsize=65536)
def name_words(text: str) -> tuple[str, ...]:
    """The folded words of a name; initials with full stops are one word, `&` is `and`."""
    plain_name = _INITIALS.sub(
        lambda initials: re.sub(r"[.\s]", "", initials[0]) + " ", compose_accents(text)
    )
    return tuple(
        "and" if word == "&" else word for word in _NAME_WORD.findall(fold_in_place(plain_name))
    )


def squeeze(folded: str) -> str:
    """The letters and digits of a folded text, joined, so that spacing and marks do not count."""
    return _APART.sub("", folded.replace("&", "and"))


def plain_marks(name: str) -> str:
    """A name for use as a key: NFC, with plain apostrophes and hyphens and single blanks."""
    plain_name = name.replace("’", "'").replace("–", "-").replace("‑", "-")
    if not plain_name.isascii():
        plain_name = unicodedata.normalize("NFC", plain_name)
    return " ".join(plain_name.split())
