"""Character references of HTML in names that should be plain text: `LB&amp;SCR E4 class`."""

import re
from html import unescape
from html.entities import html5
from unicodedata import category

# Matches `&amp;`, `&#39;` and `&#x27;`, but not the ampersand of `Q&A`.
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,30});")


_NO_CHARACTER = "\ufffd"
"""What Python writes for a number that is no character."""
_JOINERS = "\u200c\u200d"
"""Zero-width joiners, which change the meaning of words in some scripts."""


def without_references(name: str) -> str:
    """A name with each character reference replaced by its character, once.

    A reference has to end in a semicolon, because names have ampersands of their own (`Q&A`), and
    one that no list has stays, also where it begins like another (`&notable;`, `&not;`), and so
    does a number that is no character (`&#0;`, `&#xD800;`).
    """
    return _REFERENCE.sub(_character, name) if "&" in name else name


def _character(reference: re.Match[str]) -> str:
    text = reference[0]
    if text[1] != "#":
        return html5.get(text[1:], text)
    character = unescape(text)
    return text if character in ("", _NO_CHARACTER) else character


def clean_label(name: str) -> str:
    """A name for people: without references and control characters, with single spaces."""
    if (
        name.isprintable()
        and "&" not in name
        and "  " not in name
        and " " not in (name[:1], name[-1:])
    ):
        return name  # nearly all names are clean already
    unescaped_name = without_references(name)
    kept_characters = (
        character
        for character in unescaped_name
        if character.isspace() or character in _JOINERS or category(character) not in ("Cc", "Cf")
    )
    return " ".join("".join(kept_characters).split())
