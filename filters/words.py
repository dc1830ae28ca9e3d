"""Words as filters compare them: folded, without determiners, aligned to tokens."""

import re
import unicodedata
from collections.abc import Sequence


def word_set(text: str) -> frozenset[str]:
    """The words of `text`, parted by blanks."""
    return frozenset(text.split())


DETERMINERS = word_set("a an the this that these those")
SMALL = DETERMINERS | word_set(
    "about above across after against along amid among around as at before behind below beneath "
    "beside between beyond by despite down during for from in inside into near of off on onto "
    "out outside over past per since than through throughout to toward towards under until up "
    "upon via with within without and or"
)
"""Determiners, prepositions, conjunctions: alone they say nothing about an answer."""

_POSSESSIVE = re.compile(r"(?<=[\w.])['’]s\b|(?<=s)['’](?=\W|$)")
_INITIALS = re.compile(r"\b(?:[^\W\d_]\.){2,}")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_TOKEN = re.compile(r"\d+(?:\.\d+)?(?:st|nd|rd|th)?(?![^\W_])|[^\W_]+|[$€£¥%]")


def folded(text: str) -> str:
    """`text` case-folded, without accents and compatibility forms."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in parts if not unicodedata.combining(c))


def tokens(text: str, ignore: frozenset[str] = DETERMINERS) -> tuple[str, ...]:
    """The folded words of `text`: `The U.S.'s 1,000 men` gives us, 1000, men."""
    plain = _POSSESSIVE.sub("", folded(text))
    plain = _INITIALS.sub(lambda m: m[0].replace(".", ""), plain)
    found = _TOKEN.findall(_THOUSANDS.sub("", plain))
    return tuple(t for t in found if t not in ignore)


def holds(text: Sequence[str], span: Sequence[str]) -> bool:
    """Whether the tokens `span` stand in `text` side by side; an empty span stands nowhere."""
    n = len(span)
    wanted = tuple(span)
    return n > 0 and any(tuple(text[i : i + n]) == wanted for i in range(len(text) - n + 1))


def span_in(text: str, span: str) -> bool:
    """Whether the words of `span` stand side by side in `text`."""
    return holds(tokens(text), tokens(span))
