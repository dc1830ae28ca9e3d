"""Character references of HTML in names that should be plain text: `LB&amp;SCR E4 class`."""

import re
from html import unescape
from unicodedata import category

_REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,30});")


_JOINERS = "\u200c\u200d"
"""Joiners, by which some scripts tell words apart."""


def without_references(name: str) -> str:
    """A name with its references as the characters that they stand for, each read once.

    Only what ends in a semicolon is one, for names have ampersands of their own (`Q&A`).
    """
    return _REFERENCE.sub(lambda reference: unescape(reference[0]), name) if "&" in name else name


def clean_label(name: str) -> str:
    """A name as it is shown: without references and control characters, its spaces collapsed."""
    if (
        name.isprintable()
        and "&" not in name
        and "  " not in name
        and " " not in (name[:1], name[-1:])
    ):
        return name  # as nearly all are
    unescaped_name = without_references(name)
    kept_characters = (
        character
        for character in unescaped_name
        if character.isspace() or character in _JOINERS or category(character) not in ("Cc", "Cf")
    )
    return " ".join("".join(kept_characters).split())
