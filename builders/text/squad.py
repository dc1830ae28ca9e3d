"""Exact match and F1 of short answers, as SQuAD scores them (Rajpurkar et al. 2016)."""

import re
import string
from collections import Counter
from collections.abc import Sequence

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_MARKS = str.maketrans("", "", string.punctuation)


def normal(text: str) -> str:
    """A text in lower case, without ASCII punctuation, English articles and further spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_NO_MARKS)).split())


def normal_or_all(text: str) -> str:
    """`normal`; where nothing is left, `The The`, the text itself, case and spaces aside."""
    return normal(text) or " ".join(text.lower().split())


def exact_match(answer: str | None, references: Sequence[str]) -> float:
    """1 if an answer is one of the references once normalised, else 0; None is no answer."""
    return float(answer is not None and normal(answer) in map(normal, references))


def f1(answer: str | None, references: Sequence[str]) -> float:
    """The best F1 of an answer's words with a reference's, from 0 to 1.

    Where either has no words left, 1 if neither has, else 0.
    """
    if answer is None:
        return 0.0
    words = normal(answer).split()
    return max((overlap(words, normal(one).split()) for one in references), default=0.0)


def overlap(words: Sequence[str], wanted: Sequence[str]) -> float:
    """The F1 of two lists of normalised words."""
    if not words or not wanted:
        return float(words == wanted)
    common = (Counter(words) & Counter(wanted)).total()
    return 2 * common / (len(words) + len(wanted))
