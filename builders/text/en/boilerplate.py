"""Sentences that are no news: captions, credits, bylines, requests for comment, calls, notices."""

import re

from factdrift.builders.text.data import language_data

_KINDS = {kind: re.compile("|".join(lines)) for kind, lines in language_data("boilerplate").items()}
_LONGEST_COMMENT = 30
"""Words: a longer sentence with a request for comment says something else, too."""
_NEWS = re.compile(r"\b(?:was|were) (?:seen|shown)\b|\bseen as\b")


def boilerplate_kind(sentence: str) -> str | None:
    """What kind of boilerplate a sentence is, if any: caption, credit, comment, byline, …"""
    text = sentence.strip()
    for kind, kind_pattern in _KINDS.items():
        if not kind_pattern.search(text) or (kind == "caption" and _NEWS.search(text)):
            continue
        if kind != "comment" or len(text.split()) <= _LONGEST_COMMENT:
            return kind
    return None
