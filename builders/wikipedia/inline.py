"""A line of wikitext without templates: its plain text and where its links lie in it."""

import re
from html.entities import html5

from builders.rows import Link, ParagraphKind
from builders.wikipedia.site import LANGUAGES, PROJECTS, Site
from builders.wikipedia.titles import normalise

BREAK = "\x03"
"""Stands for a line break inside a cell or a value."""
_LABEL = r"(?:[^\[\]]++|\[(?!\[)|\](?!\]))*+"
_LINK = re.compile(rf"\[\[([^\[\]|]*+)(?:\|({_LABEL}))?\]\]([a-z]*)")
_LOOSE = re.compile(r"\[\[(?:[^\[\]|]*\|)?|\]\]")
_OUTSIDE = re.compile(
    r"\[(?:(?:https?|ftps?|ircs?)://|//|mailto:|news:)[^\s\[\]<>\"]+\s*([^\[\]]*)\]"
)
_ENTITY = re.compile(r"&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_QUOTES = re.compile(r"'{2,}")
_UNSEEN = re.compile("[\x00-\x08\x0e-\x1b\x7f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_HOLLOW = re.compile(r"\(\s*(?:[;,:]\s*)*\)")
_OPENED = re.compile(r"\((?:\s*[;,])+\s*")
_BREAKS = re.compile(rf"\s*(?:{BREAK}\s*)+")


def decoded(text: str) -> str:
    """Text with its character references replaced, as a browser shows it."""
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(found: re.Match[str]) -> str:
    name = found[1]
    if name[0] != "#":
        return html5.get(name + ";", found[0])
    code = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
    good = 31 < code < 0xD800 or 0xDFFF < code <= 0x10FFFF
    return chr(code) if good else " "


def unquoted(line: str) -> str:
    """A line without the marks of bold and italic type; single apostrophes stay."""
    if "''" not in line:
        return line
    runs = list(_QUOTES.finditer(line))
    sizes = [len(m[0]) for m in runs]
    kept = [1 if n == 4 else max(n - 5, 0) for n in sizes]
    bold = sum(n >= 3 for n in sizes)
    italic = sum(n == 2 or n >= 5 for n in sizes)
    if bold % 2 and italic % 2:
        kept[_apostrophe(line, runs)] += 1
    out, at = [], 0
    for run, n in zip(runs, kept, strict=True):
        out += [line[at : run.start()], "'" * n]
        at = run.end()
    return "".join([*out, line[at:]])


def _apostrophe(line: str, runs: list[re.Match[str]]) -> int:
    """The run of three that is an apostrophe and a mark of italics, where marks do not pair up.

    After one letter (`''l'''amour`) first, else after a longer word, else after a space; this
    is how MediaWiki decides.
    """
    best, rank = 0, 9
    for n, run in enumerate(runs):
        if len(run[0]) not in (3, 4):
            continue
        before = line[max(run.start() - 2, 0) : run.start()].rjust(2)
        own = 2 if before[1] == " " else 0 if before[0] == " " else 1
        if own < rank:
            best, rank = n, own
    return best


class _Text:
    """Pieces of text put together, with single spaces."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.length = 0
        self.gap = False

    def put(self, piece: str) -> int:
        """Add a piece; the place of its first character that is no space."""
        body = " ".join(piece.split())
        if not body:
            self.gap = self.gap or bool(piece)
            return self.length
        if self.length and (self.gap or piece[0].isspace()):
            self.pieces.append(" ")
            self.length += 1
        start = self.length
        self.pieces.append(body)
        self.length += len(body)
        self.gap = piece[-1].isspace()
        return start


def inline(raw: str, kind: ParagraphKind, site: Site) -> tuple[str, tuple[Link, ...]]:
    """The plain text of a line and its links; `text[start:end]` is what a link shows.

    Links to files, categories and pages in other languages are not shown; those to other
    namespaces and wikis are, and are no links. Breaks are `, ` in tables and infoboxes.
    """
    if BREAK in raw:
        raw = _BREAKS.sub(", " if kind in ("table", "infobox") else " ", raw).strip(", ")
    if "(" in raw:
        raw = _HOLLOW.sub("", _OPENED.sub("(", raw))
    if "//" in raw or "[mailto:" in raw:
        raw = _OUTSIDE.sub(r"\1", raw)
    text = _Text()
    links: list[Link] = []
    at = 0
    if "[[" in raw:
        for found in _LINK.finditer(raw):
            text.put(_plain(raw[at : found.start()]))
            at = found.end()
            shown, target = _link(found, site)
            start = text.put(shown)
            if target and text.length > start:
                links.append(Link(start, text.length, target))
    text.put(_plain(raw[at:]))
    return "".join(text.pieces), tuple(links)


def _plain(piece: str) -> str:
    if "[[" in piece or "]]" in piece:
        piece = _LOOSE.sub("", piece)
    piece = decoded(piece)
    return piece if piece.isascii() and piece.isprintable() else _UNSEEN.sub("", piece)


def _link(found: re.Match[str], site: Site) -> tuple[str, str]:
    """What a link shows and the title it leads to; empty: not shown, no link."""
    target, label, trail = found[1], found[2], found[3]
    target = decoded(target).strip()
    colon = target.startswith(":")
    name = target[1:].lstrip() if colon else target
    shown = _plain(label) if label and label.strip() else _UNSEEN.sub("", _own_label(name, label))
    shown += trail
    prefix, between, _ = name.partition(":")
    if between:
        prefix = prefix.strip().replace("_", " ").lower()
        if not colon and (prefix in site.file or prefix in site.category or prefix in LANGUAGES):
            return trail, ""
        if prefix in site.other or prefix in PROJECTS or prefix in LANGUAGES:
            return shown, ""
    return shown, normalise(name) if name[:1] not in ("#", "/") else ""


def _own_label(name: str, label: str | None) -> str:
    """What is shown without a label; of `[[Paris (city)|]]` the name alone."""
    if label is None:
        return name.replace("_", " ") if name[:1] != "#" else name[1:]
    return re.sub(r"\s*\([^()]*\)$", "", name.rpartition(":")[2])
