"""What goes before wikitext is read: comments, references, tags and files."""

import re
from functools import cache

from builders.wikipedia.inline import BREAK
from builders.wikipedia.site import Site

_DROPPED = (
    "ref|references|math|chem|ce|gallery|syntaxhighlight|source|score|timeline|imagemap|graph|"
    "hiero|mapframe|maplink|templatestyles|templatedata|inputbox|includeonly|categorytree|"
    "indicator|section|style|script"
)
_LITERAL = "nowiki|pre"
_OPENS = re.compile(
    rf"<!--|<({_DROPPED}|{_LITERAL})(?=[\s/>])((?:[^<>\"']|\"[^\"<>]*\"|'[^'<>]*'|[\"'])*+)>", re.I
)
_MARKUP = re.compile(r"[\[\]{}|'<>&*#:;=!_~\-]")
_TAG = re.compile(r"</?([a-zA-Z][a-zA-Z0-9]*)[^<>]*>")
_HIDDEN = re.compile(r"<(span|div)\b[^<>]*display:\s*none[^<>]*>[^<]*</\1>", re.I)
_SWITCH = re.compile(r"__[A-Z]{3,}__")
_LINES = frozenset("p blockquote div center ul ol dl poem section h1 h2 h3 h4 h5 h6".split())
_MARKS = {"li": "\n*", "dt": "\n;", "dd": "\n:", "tr": "\n|-\n", "td": "\n|", "th": "\n!"}
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_DEPTH = 3
"""How deep files may stand in captions of files."""


def without_asides(text: str) -> str:
    """Text without comments, references, formulas and galleries.

    What `nowiki` and `pre` hold is written as character references, which no later step takes
    for markup. A tag that is never closed goes alone: what follows it stays.
    """
    text = _CONTROL.sub(" ", text.replace("\r\n", "\n"))
    if "<" not in text:
        return text
    out: list[str] = []
    at = 0
    unclosed: set[str] = set()
    folded = text.lower() if text.isascii() else _lower(text)
    for found in _OPENS.finditer(text):
        if found.start() < at:
            continue
        out.append(text[at : found.start()])
        at = found.end()
        name = found[1].lower() if found[1] else ""
        if name and found[2].rstrip().endswith("/"):
            continue
        close = f"</{name}" if name else "-->"
        end = -1 if close in unclosed else folded.find(close, found.end() if name else at)
        if end < 0:
            unclosed.add(close)
            at = at if name else len(text)  # a comment without an end hides the rest
            continue
        if name in ("nowiki", "pre"):
            out.append(_escaped(text[found.end() : end]))
        at = text.find(">", end + len(close) - 1) + 1 or len(text)
        if not name and _alone(text, found.start(), at):
            at += 1
    out.append(text[at:])
    return "".join(out)


def _lower(text: str) -> str:
    """Lower case of ASCII letters alone, so that places stay the same."""
    return text.encode("utf-32-le", "replace").lower().decode("utf-32-le")


def _escaped(text: str) -> str:
    return _MARKUP.sub(lambda m: f"&#{ord(m[0])};", text)


def _alone(text: str, start: int, end: int) -> bool:
    """Whether a comment is all that a line holds."""
    return (start == 0 or text[start - 1] == "\n") and text[end : end + 1] == "\n"


def without_tags(text: str) -> str:
    """Text without HTML; block tags are line ends, tables are as wikitext writes them."""
    if "<" in text:
        text = _TAG.sub(_tag, _HIDDEN.sub("", text))
    return _SWITCH.sub("", text) if "__" in text else text


def _tag(found: re.Match[str]) -> str:
    name = found[1].lower()
    closes = found[0][1] == "/"
    if name in ("br", "hr", "wbr"):
        return "" if name == "wbr" else BREAK
    if name in _LINES:
        return "\n\n" if name == "p" else "\n"
    if name == "table":
        return "\n|}\n" if closes else "\n{|\n"
    return "" if closes else _MARKS.get(name, "")


@cache
def _files(site: Site) -> re.Pattern[str]:
    names = "|".join(sorted(map(re.escape, site.file)))
    return re.compile(
        rf"\[\[[\s_]*(?:{names})[\s_]*:(?:[^\[\]]++|\[\[[^\[\]]*+\]\]|\[[^\[\]]*+\](?!\](?!\]))|\](?!\]))*+\]\]",
        re.I,
    )


def without_files(text: str, site: Site) -> str:
    """Text without pictures and their captions."""
    pattern = _files(site)
    for _ in range(_DEPTH):
        text, n = pattern.subn("", text)
        if not n:
            break
    return text
