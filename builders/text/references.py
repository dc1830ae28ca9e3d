"""Character references of HTML in names that should be plain text: `LB&amp;SCR E4 class`."""

import re
from html import unescape

_REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,30});")


def without_references(name: str) -> str:
    """A name with its references as the characters that they stand for, each read once.

    Only what ends in a semicolon is one, for names have ampersands of their own (`Q&A`).
    """
    return _REFERENCE.sub(lambda m: unescape(m[0]), name) if "&" in name else name
