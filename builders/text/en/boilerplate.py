"""Sentences in articles that are not news: captions, credits, bylines, calls, notices, …"""

import re
from functools import lru_cache

from factdrift.builders.text.data import language_data

_KINDS = {kind: re.compile("|".join(lines)) for kind, lines in language_data("boilerplate").items()}
_LONGEST_COMMENT = 30
"""Words of the longest request for comment; a longer sentence has news too."""
_SHORT = 16
"""Characters of a sentence whose kind is remembered: an article of a hundred thousand sentences has
short ones, which are few different ones."""
_NEWS = re.compile(r"\b(?:was|were) (?:seen|shown)\b|\bseen as\b")

# Where an article was written and for whom: `LONDON (Reuters) - `, `WASHINGTON — `, `(CNN) -- `;
# not `Apple - ` or `(Reuters)` alone.
_DATELINE = re.compile(
    r"^(?:[A-Z][\w.,'’ -]{0,40} )?\([A-Z][\w. /-]{1,20}\)\s*[-–—]+\s"
    r"|^[A-Z][A-Z.,'’ -]{2,40}\s[-–—]+\s"
)


def dateline_end(line: str) -> int:
    """The length of the dateline at the start of a line, or 0 where there is none."""
    dateline = _DATELINE.match(line)
    return dateline.end() if dateline else 0


def boilerplate_kind(sentence: str) -> str | None:
    """The kind of boilerplate of a sentence (caption, credit, …); None where it is news."""
    text = sentence.strip()
    return _kind_of_short(text) if len(text) <= _SHORT else _kind_of(text)


def _kind_of(text: str) -> str | None:
    for kind, kind_pattern in _KINDS.items():
        if not kind_pattern.search(text) or (kind == "caption" and _NEWS.search(text)):
            continue
        if kind != "comment" or len(text.split()) <= _LONGEST_COMMENT:
            return kind
    return None


_kind_of_short = lru_cache(4096)(_kind_of)
