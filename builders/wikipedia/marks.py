"""Control characters that stand in wikitext while it is read; no page has them (`wikitext`)."""

import re

PIPE, EQUALS = "\x01", "\x04"
"""Stand for `{{!}}` and `{{=}}` until all templates are read."""
INFOBOX = "\x02"
"""Stands before each line of an infobox."""
BREAK = "\x03"
"""Stands for a line break inside a cell or a value."""
BLOCK = "\x05"
"""Stands before and behind the number of a box or table that was cut out of a value."""
# What stands for the box with the number 12: so the bars and signs in it are not of the box around.
BLOCK_MARK = re.compile(rf"{BLOCK}(\d+){BLOCK}")


def block_marks(text: str) -> str:
    """The marks of the boxes and tables that stand in a text, without the text."""
    if BLOCK not in text:
        return ""
    return "".join(mark[0] for mark in BLOCK_MARK.finditer(text))


def without_blocks(text: str) -> str:
    """A text without the marks of boxes and tables."""
    return BLOCK_MARK.sub("", text).strip(" ,\n") if BLOCK in text else text
