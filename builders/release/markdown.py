"""Text from data as Markdown that cannot become markup, a link or another table cell."""

import re
import unicodedata
from typing import Any

_SPECIAL = re.compile(r"[\\`*\[\]|~$#!{}]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_REORDERING = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f]")
_BLOCK_START = re.compile(r"^(?:[-+=]|\d(?=\d*[.)](?:\s|$)))")


class Markdown(str):
    """Text that is Markdown already: ours, or escaped."""

    __slots__ = ()


def escape(value: Any) -> Markdown:
    """Any value as inline Markdown on one line: numbers with thousands marked, null as a dash."""
    if isinstance(value, Markdown):
        return value
    if value is None:
        return Markdown("–")
    if isinstance(value, bool):
        return Markdown("yes" if value else "no")
    if isinstance(value, int):
        return Markdown(f"{value:,}")
    if isinstance(value, float):
        return Markdown(f"{value:.4g}")
    text = _SPECIAL.sub(lambda found: "\\" + found[0], flat(str(value)).translate(_ENTITIES))
    text = text.replace("://", "&#58;//").replace("@", "&#64;")
    return Markdown(_BLOCK_START.sub(lambda found: f"&#{ord(found[0])};", text))


def flat(text: str) -> str:
    """One line: white space as single spaces; without control and text-reordering characters."""
    visible = "".join(
        " " if c.isspace() else c for c in text if c.isspace() or unicodedata.category(c) != "Cc"
    )
    return " ".join(_REORDERING.sub("", visible).split())


def code(value: Any) -> Markdown:
    """A code span, for inside a table too."""
    text = flat(str(value)).replace("|", "\\|")
    fence = "`" * (_longest_run(text) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return Markdown(f"{fence}{pad}{text}{pad}{fence}" if text else "")


def block(text: str, language: str = "") -> Markdown:
    """A fenced code block whose text cannot end it."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return Markdown(f"{fence}{language}\n{text.rstrip()}\n{fence}")


def cell(ours: str) -> Markdown:
    """Markdown of ours (a description with code spans) as a table cell."""
    return Markdown(flat(ours).replace("|", "\\|"))


def link(label: str, url: str | None) -> Markdown:
    """A link where the address is a plain web address, else the label alone."""
    if url and re.fullmatch(r"https?://[^\s<>\"'`|\\()\[\]]+", url):
        return Markdown(f"[{escape(label)}](<{url}>)")
    return escape(label)


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
