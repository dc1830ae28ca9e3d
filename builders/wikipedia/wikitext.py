"""A page's wikitext as plain paragraphs with links.

Four passes: asides, files and tags are removed; templates are replaced by what they show
(`builders.wikipedia.templates`); the text is cut into lines of paragraphs, lists, tables and
infoboxes; each line becomes plain text with links.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from factdrift.builders.core.files import read_texts, resource
from factdrift.builders.rows import Link, Paragraph, ParagraphKind
from factdrift.builders.text.references import without_references
from factdrift.builders.wikipedia.templates import BREAK, INFOBOX, without_templates
from factdrift.builders.wikipedia.titles import normalise

_REDIRECT = re.compile(r"\s*#redirect\w*\s*:?\s*\[\[([^\[\]|\n]*)", re.I)
_WORD = re.compile(r"\w")


_PREFIXES = read_texts(resource("builders/wikipedia/prefixes.yaml"))
_NAMESPACES = frozenset(" ".join(name.split()) for name in _PREFIXES["namespaces"].split("|"))
"""Every namespace of the English Wikipedia but that of articles, as it stands before a colon."""
_LANGUAGES = frozenset(_PREFIXES["languages"].split())
"""Link prefixes of the Wikipedias in other languages; such a link is not shown in the text."""
_PROJECTS = frozenset(_PREFIXES["projects"].split())
"""Link prefixes of other wikis; such a link is shown in the text."""
_UNSEEN_PREFIXES = frozenset({"file", "image", "media", "category"}) | _LANGUAGES
"""Link prefixes of what is no part of the text."""


def redirect_of(text: str) -> str | None:
    """The title that a page's text redirects to; None: it is no redirect."""
    found = _REDIRECT.match(text)
    return found[1] if found else None


def paragraphs(text: str, title: str = "") -> tuple[Paragraph, ...]:
    """What a page shows, in order: paragraphs, list items, rows of tables and infobox lines.

    Not kept: references, comments, pictures with their captions, categories, formulas, and
    templates that are neither an infobox nor listed in `templates.yaml`. Markup that does not pair
    is removed, what it stands around is kept. Nothing raises, whatever the text is.
    """
    body = _FILE_LINKS.sub("", _without_asides(text))
    body = without_templates(body, title)
    body = _without_tags(body)
    sections: dict[tuple[str, ...], str] = {}
    found = []
    for kind, path, raw in _lines(body):
        shown, links = _inline(raw, kind)
        if not _WORD.search(shown):
            continue
        section = sections.get(path)
        if section is None:
            section = " / ".join(_inline(s, "text")[0] for s in path)
            sections[path] = section
        found.append(Paragraph(kind, section, shown, links))
    return tuple(found)


# --- Asides, files and tags ---------------------------------------------------------------------

_DROPPED = (
    "ref|references|math|chem|ce|gallery|syntaxhighlight|source|score|timeline|imagemap|graph|"
    "hiero|mapframe|maplink|templatestyles|templatedata|inputbox|includeonly|categorytree|"
    "indicator|section|style|script"
)
_VERBATIM = "nowiki|pre"
_ASIDE = re.compile(
    rf"<!--|<({_DROPPED}|{_VERBATIM})(?=[\s/>])((?:[^<>\"']|\"[^\"<>]*\"|'[^'<>]*'|[\"'])*+)>", re.I
)
_MARKUP = re.compile(r"[\[\]{}|'<>&*#:;=!_~\-]")
_TAG = re.compile(r"</?([a-zA-Z][a-zA-Z0-9]*)[^<>]*>")
_SWITCH = re.compile(r"__[A-Z]{3,}__")
_BLOCK_TAGS = frozenset("p blockquote div center ul ol dl poem section h1 h2 h3 h4 h5 h6".split())
_WIKI_MARKS = {"li": "\n*", "dt": "\n;", "dd": "\n:", "tr": "\n|-\n", "td": "\n|", "th": "\n!"}
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def _without_asides(text: str) -> str:
    """Text without comments, references, formulas and galleries.

    The content of `nowiki` and `pre` is written as character references, which no later step takes
    for markup. Of a tag that is never closed the tag alone is removed.
    """
    text = _CONTROL.sub(" ", text.replace("\r\n", "\n"))
    if "<" not in text:
        return text
    out: list[str] = []
    at = 0
    unclosed: set[str] = set()
    folded = text.lower() if text.isascii() else _lower(text)
    for found in _ASIDE.finditer(text):
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
    out.append(text[at:])
    return "".join(out)


def _lower(text: str) -> str:
    """Lower case of ASCII letters alone, so that places stay the same."""
    return text.encode("utf-32-le", "replace").lower().decode("utf-32-le")


def _escaped(text: str) -> str:
    return _MARKUP.sub(lambda m: f"&#{ord(m[0])};", text)


def _without_tags(text: str) -> str:
    """Text without HTML; block tags are line ends, tables are as wikitext writes them."""
    if "<" in text:
        text = _TAG.sub(_tag, text)
    return _SWITCH.sub("", text) if "__" in text else text


def _tag(found: re.Match[str]) -> str:
    name = found[1].lower()
    closes = found[0][1] == "/"
    if name in ("br", "hr", "wbr"):
        return "" if name == "wbr" else BREAK
    if name in _BLOCK_TAGS:
        return "\n\n" if name == "p" else "\n"
    if name == "table":
        return "\n|}\n" if closes else "\n{|\n"
    return "" if closes else _WIKI_MARKS.get(name, "")


_FILE_LINKS = re.compile(
    r"\[\[[\s_]*(?:file|image|media)[\s_]*:(?:[^\[\]]++|\[\[[^\[\]]*+\]\]|\[[^\[\]]*+\](?!\](?!\]))|\](?!\]))*+\]\]",
    re.I,
)
"""Pictures and their captions."""

# --- Lines --------------------------------------------------------------------------------------

_HEADING = re.compile(r"(={1,6})(.+?)\1\s*")
_RULE = re.compile(r"-{4,}")
_ATTRIBUTES = re.compile(r"([^|\[\]]*)\|(?!\|)(.*)", re.S)
_ATTRIBUTES_ALONE = re.compile(
    r"(?:\s*\b(?:(?:col|row)span|style|class|v?align|bgcolor|width|scope)\s*=\s*"
    r"(?:\"[^\"]*\"|'[^']*'|[^\s\"'|]+))++\s*"
)
"""A cell whose text is a template that shows nothing: `colspan=2 {{yes}}`."""
_CELLS = re.compile(r"\|\|(?=\|\|)|\|\|(?!\|)")
"""Between cells; of three bars the first ends the attributes of a cell that shows nothing."""
_SPAN = re.compile(r"\b(row|col)span\s*=\s*[\"']?\s*(\d{1,3})", re.I)
_LIST_MARKS = "*#:;"
_DEEPEST = 20
"""Levels of tables in tables that are read as tables of their own."""


class _Line(NamedTuple):
    """A paragraph before its links are read: kind, titles of its sections, wikitext."""

    kind: ParagraphKind
    sections: tuple[str, ...]
    raw: str


class _Table:
    """The row of a table that is being read.

    A cell that spans rows is repeated in each of them, so that every row is complete.
    """

    def __init__(self) -> None:
        self.cells: list[tuple[str, str]] = []
        self.spanning: dict[int, tuple[int, str]] = {}

    def add(self, line: str) -> None:
        """A line that begins with `|` or `!`: one cell or several."""
        body = line[1:]
        parts = _CELLS.split(body.replace("!!", "||") if line[0] == "!" else body)
        for part in parts:
            found = _ATTRIBUTES.match(part)
            alone = not found and _ATTRIBUTES_ALONE.fullmatch(part)
            about, text = (found[1], found[2]) if found else (part, "") if alone else ("", part)
            if not text and "=" not in about:
                about, text = "", about
            self.cells.append((about, text))

    def more(self, line: str) -> None:
        """A line that goes on with the last cell."""
        if self.cells and line.strip():
            about, text = self.cells[-1]
            between = BREAK if line[0] in _LIST_MARKS else " "
            self.cells[-1] = about, text + between + line.lstrip(_LIST_MARKS)

    def row(self) -> str:
        """The row so far, as one line; the next one begins."""
        cells, self.cells = self.cells, []
        if not cells:
            return ""
        shown: list[str] = []
        column = 0
        spanning = self.spanning
        later: dict[int, tuple[int, str]] = {}
        queue = iter(cells)
        cell = next(queue, None)
        while cell is not None or any(c >= column for c in spanning):
            if column in spanning:
                left, text = spanning[column]
                shown.append(text)
                if left > 1:
                    later[column] = left - 1, text
                column += 1
            elif cell is None:
                column = min(c for c in spanning if c >= column)
            else:
                about, text = cell
                text = text.strip().strip(BREAK)
                spans = {k.lower(): int(n) for k, n in _SPAN.findall(about)} if about else {}
                shown.append(text)
                if spans.get("row", 1) > 1:
                    later[column] = spans["row"] - 1, text
                column += max(spans.get("col", 1), 1)
                cell = next(queue, None)
        self.spanning = later
        return " | ".join(s for s in shown if s and s != "&nbsp;")


def _lines(text: str) -> Iterator[_Line]:
    """The lines that a page shows, each with the sections that hold it."""
    sections: list[tuple[int, str]] = []
    path: tuple[str, ...] = ()
    waiting: list[str] = []
    tables: list[_Table] = []
    for source in text.split("\n"):
        line = source.strip()
        first = line[:1]
        if tables and first != INFOBOX and not (first == "=" and _HEADING.fullmatch(line)):
            yield from _in_table(_unquoted(line), tables, path)
            continue
        opens = line.lstrip(":* ").startswith("{|")
        if line and first not in _LIST_MARKS and first not in "=-" + INFOBOX and not opens:
            waiting.append(_unquoted(line))
            continue
        if waiting:
            yield _Line("text", path, " ".join(waiting))
            waiting = []
        if opens:
            tables.append(_Table())
        elif first == INFOBOX:
            yield _Line("infobox", path, _unquoted(line[1:]))
        elif first == "=" and (heading := _HEADING.fullmatch(line)):
            for table in reversed(tables):
                yield _Line("table", path, table.row())
            tables = []
            level = len(heading[1])
            sections = [s for s in sections if s[0] < level]
            sections.append((level, _unquoted(heading[2].strip())))
            path = tuple(title for _, title in sections)
        elif first and first in _LIST_MARKS:
            yield _Line("list", path, _unquoted(line.lstrip(_LIST_MARKS + " ")))
        elif first and not _RULE.match(line):
            waiting.append(_unquoted(line))
        elif first and (rest := line.lstrip("-")):
            waiting.append(_unquoted(rest))
    if waiting:
        yield _Line("text", path, " ".join(waiting))
    for table in reversed(tables):
        yield _Line("table", path, table.row())


def _in_table(line: str, tables: list[_Table], path: tuple[str, ...]) -> Iterator[_Line]:
    table = tables[-1]
    if line.startswith("{|"):
        if len(tables) < _DEEPEST:
            tables.append(_Table())
    elif line.startswith("|}"):
        yield _Line("table", path, table.row())
        tables.pop()
        if tables and line[2:].strip():
            tables[-1].more(line[2:])
        elif line[2:].strip():
            yield _Line("text", path, line[2:])
    elif line.startswith(("|-", "|+")):
        yield _Line("table", path, table.row())
        if line[1] == "+":
            found = _ATTRIBUTES.match(line[2:])
            yield _Line("table", path, found[2] if found else line[2:])
    elif line.startswith(("|", "!")):
        table.add(line)
    else:
        table.more(line)


# --- Text and links of a line --------------------------------------------------------------------

_LABEL = r"(?:[^\[\]]++|\[(?!\[)|\](?!\]))*+"
_LINK = re.compile(rf"\[\[([^\[\]|]*+)(?:\|({_LABEL}))?\]\]([a-z]*)")
_LOOSE = re.compile(r"\[\[(?:[^\[\]|]*\|)?|\]\]")
_OUTSIDE = re.compile(
    r"\[(?:(?:https?|ftps?|ircs?)://|//|mailto:|news:)[^\s\[\]<>\"]+\s*([^\[\]]*)\]"
)
_QUOTES = re.compile(r"'{2,}")
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufffd]"
)
_MAY_BE_HOLLOW = re.compile(r"\([\s;,:)]")
_HOLLOW = re.compile(r"\(\s*(?:[;,:]\s*)*\)")
_OPENED = re.compile(r"\((?:\s*[;,])+\s*")
_BREAKS = re.compile(rf"\s*(?:{BREAK}\s*)+")


def _unquoted(line: str) -> str:
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
        self.space = False

    def put(self, piece: str) -> int:
        """Add a piece; the place of its first character that is no space."""
        plain = "  " not in piece and piece.isascii() and piece.isprintable()
        body = piece.strip() if plain else " ".join(piece.split())
        if not body:
            self.space = self.space or bool(piece)
            return self.length
        if self.length and (self.space or piece[0].isspace()):
            self.pieces.append(" ")
            self.length += 1
        start = self.length
        self.pieces.append(body)
        self.length += len(body)
        self.space = piece[-1].isspace()
        return start


def _inline(raw: str, kind: ParagraphKind) -> tuple[str, tuple[Link, ...]]:
    """The plain text of a line and its links; `text[start:end]` is what a link shows.

    Links to files, categories and pages in other languages are not shown; those to other
    namespaces and wikis are, and are no links. Breaks are `, ` in tables and infoboxes.
    """
    if BREAK in raw:
        raw = _BREAKS.sub(", " if kind in ("table", "infobox") else " ", raw).strip(", ")
    if "(" in raw and _MAY_BE_HOLLOW.search(raw):
        raw = _HOLLOW.sub("", _OPENED.sub("(", raw))
    if "//" in raw or "[mailto:" in raw:
        raw = _OUTSIDE.sub(r"\1", raw)
    text = _Text()
    links: list[Link] = []
    at = 0
    if "[[" in raw:
        for found in _LINK.finditer(raw):
            start, end = found.span()
            if start > at:
                text.put(_plain(raw[at:start]))
            at = end
            shown, target = _link(found)
            start = text.put(shown)
            if target and text.length > start:
                links.append(Link(start, text.length, target))
    text.put(_plain(raw[at:]))
    return "".join(text.pieces), tuple(links)


def _plain(piece: str) -> str:
    if "[[" in piece or "]]" in piece:
        piece = _LOOSE.sub("", piece)
    return _seen(without_references(piece))


def _seen(piece: str) -> str:
    return piece if piece.isascii() and piece.isprintable() else _UNSEEN.sub("", piece)


def _link(found: re.Match[str]) -> tuple[str, str]:
    """What a link shows and the title it leads to; empty: not shown, no link."""
    target, label, trail = found[1], found[2], found[3]
    target = without_references(target).strip()
    colon = target.startswith(":")
    name = target[1:].lstrip() if colon else target
    shown = (_plain(label) if label and label.strip() else _seen(name.replace("_", " "))) + trail
    prefix, between, _ = name.partition(":")
    if between:
        prefix = prefix.strip().replace("_", " ").lower()
        if not colon and prefix in _UNSEEN_PREFIXES:
            return trail, ""
        if prefix in _NAMESPACES or prefix in _PROJECTS or prefix in _LANGUAGES:
            return shown, ""
    return shown, normalise(name) if name[:1] not in ("#", "/") else ""
