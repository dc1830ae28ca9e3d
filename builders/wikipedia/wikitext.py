"""A page's wikitext as plain paragraphs with links.

Four passes: asides, files and tags are removed; templates are replaced by what they show
(`builders.wikipedia.templates`); the text is cut into lines of paragraphs, lists, tables and
infoboxes; each line becomes plain text with links.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from factdrift.builders.core.files import read_texts, resource
from factdrift.builders.core.limits import RepeatBudget, check_page_text
from factdrift.builders.rows import Link, Paragraph, ParagraphKind
from factdrift.builders.text.references import without_references
from factdrift.builders.wikipedia.marks import BREAK, INFOBOX
from factdrift.builders.wikipedia.templates import UnlistedTemplates, without_templates
from factdrift.builders.wikipedia.titles import normalise_title

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


def paragraphs(
    text: str, page_title: str = "", unlisted: UnlistedTemplates | None = None
) -> tuple[Paragraph, ...]:
    """Return the text of a page in order: paragraphs, list items, table rows and infobox lines.

    References, comments, pictures with their captions, categories, formulas, and templates that are
    neither an infobox nor listed in `templates.yaml` are left out. Markup without its partner is
    removed, and the text around it is kept.

    `OverLimitError`: the text is longer than any page, or its tables repeat more than they may. No
    other text raises an exception.
    """
    check_page_text(text)
    body = _FILE_LINKS.sub("", _without_asides(text))
    body = without_templates(body, page_title, unlisted)
    body = _without_tags(body)
    section_titles: dict[tuple[str, ...], str] = {}
    page_paragraphs = []
    for kind, section_path, raw in _LineReader().lines(body):
        plain_text, links = _inline(raw, kind)
        if not _WORD.search(plain_text):
            continue
        section_title = section_titles.get(section_path)
        if section_title is None:
            section_title = " / ".join(_inline(heading, "text")[0] for heading in section_path)
            section_titles[section_path] = section_title
        page_paragraphs.append(Paragraph(kind, section_title, plain_text, links))
    return tuple(page_paragraphs)


# --- Asides, files and tags ---------------------------------------------------------------------

_DROPPED = (
    "ref|references|math|chem|ce|gallery|syntaxhighlight|source|score|timeline|imagemap|graph|"
    "hiero|mapframe|maplink|templatestyles|templatedata|inputbox|includeonly|categorytree|"
    "indicator|section|style|script"
)
_VERBATIM = "nowiki|pre"
# The opening tag of what readers do not see: `<!--`, `<ref name="a">`; not `<br>`.
# What stands in quotation marks behind `=` may hold a bracket or a plain tag: `name="a>b"`,
# `title="<i>a</i>, 5 < 6"`; where the marks do not pair the tag ends at the first bracket.
_QUOTED = "|".join(
    rf"{mark}(?:[^{mark}<]|</?[a-zA-Z][a-zA-Z0-9]*\s*/?>|<(?=[\s\d]))*+{mark}" for mark in "\"'"
)
_ATTRIBUTE_TEXT = rf"(?:(?:[^<>=]|=\s*(?:{_QUOTED})|=)*+|[^<>]*+)"
_ASIDE = re.compile(rf"<!--|<({_DROPPED}|{_VERBATIM})(?=[\s/>])({_ATTRIBUTE_TEXT})>", re.I)
_MARKUP = re.compile(r"[\[\]{}|'<>&*#:;=!_~\-]")
_TAG = re.compile(rf"</?([a-zA-Z][a-zA-Z0-9]*){_ATTRIBUTE_TEXT}>")
# `__NOTOC__`.
_SWITCH = re.compile(r"__[A-Z]{3,}__")
_BLOCK_TAGS = frozenset("p blockquote div center ul ol dl poem section h1 h2 h3 h4 h5 h6".split())
_WIKI_MARKS = {"li": "\n*", "dt": "\n;", "dd": "\n:", "tr": "\n|-\n", "td": "\n|", "th": "\n!"}
_CELL_MARKS = ("|", "!")
"""The marks with which a line of cells begins."""
_LINE_ENDS = ("\n", "\n\n")
"""What stands for a block tag outside of cells."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def _without_asides(text: str) -> str:
    """Text without comments, references, formulas and galleries.

    The content of `nowiki` and `pre` is written as character references, which no later step takes
    for markup. Of a tag that is never closed the tag alone is removed.
    """
    text = _CONTROL.sub(" ", text.replace("\r\n", "\n"))
    if "<" not in text:
        return text
    kept_pieces: list[str] = []
    copied_to = 0
    unclosed_tags: set[str] = set()
    lower_text = text.lower() if text.isascii() else _lower(text)
    for opening in _ASIDE.finditer(text):
        if opening.start() < copied_to:
            continue
        kept_pieces.append(text[copied_to : opening.start()])
        copied_to = opening.end()
        tag_name = opening[1].lower() if opening[1] else ""
        if tag_name and opening[2].rstrip().endswith("/"):
            continue
        closing_tag = f"</{tag_name}" if tag_name else "-->"
        close_start = (
            -1
            if closing_tag in unclosed_tags
            else lower_text.find(closing_tag, opening.end() if tag_name else copied_to)
        )
        if close_start < 0:
            unclosed_tags.add(closing_tag)
            copied_to = (
                copied_to if tag_name else len(text)
            )  # a comment without an end hides the rest
            continue
        if tag_name in ("nowiki", "pre"):
            kept_pieces.append(_escaped(text[opening.end() : close_start]))
        copied_to = text.find(">", close_start + len(closing_tag) - 1) + 1 or len(text)
    kept_pieces.append(text[copied_to:])
    return "".join(kept_pieces)


def _lower(text: str) -> str:
    """Lower case of ASCII letters alone, so that places stay the same."""
    return text.encode("utf-32-le", "replace").lower().decode("utf-32-le")


def _escaped(text: str) -> str:
    return _MARKUP.sub(lambda mark: f"&#{ord(mark[0])};", text)


def _without_tags(text: str) -> str:
    """Text without HTML; block tags are line ends, tables are as wikitext writes them.

    In a line of cells a block tag is a space, because a line end would end the cell; a tag of a
    row or cell before any table shows nothing.
    """
    if "<" in text:
        text = "".join(_replaced_tags(text))
    return _SWITCH.sub("", text) if "__" in text else text


def _replaced_tags(text: str) -> Iterator[str]:
    """The pieces of a text, with what stands for its tags."""
    copied_to, in_cells = 0, _is_cell_line(text)
    wiki_table, in_table = text.find("{|"), False
    for tag in _TAG.finditer(text):
        between = text[copied_to : tag.start()]
        copied_to = tag.end()
        last_line_end = between.rfind("\n")
        if last_line_end >= 0:
            in_cells = _is_cell_line(between[last_line_end:])
        tag_name = tag[1].lower()
        in_table = in_table or tag_name == "table" or 0 <= wiki_table < tag.start()
        yield between
        if tag_name in ("tr", "td", "th") and not in_table:
            yield " "
        else:
            replacement = _tag(tag_name, tag[0][1] == "/")
            yield " " if in_cells and replacement in _LINE_ENDS else replacement
            in_cells = in_cells and (replacement in _LINE_ENDS or "\n" not in replacement)
    yield text[copied_to:]


def _is_cell_line(line_start: str) -> bool:
    mark = line_start.lstrip()[:2]
    return mark[:1] in _CELL_MARKS and mark != "|}"


def _tag(tag_name: str, closes: bool) -> str:
    """What stands for a tag."""
    if tag_name in ("br", "hr", "wbr"):
        return "" if tag_name == "wbr" else BREAK
    if tag_name in _BLOCK_TAGS:
        return "\n\n" if tag_name == "p" else "\n"
    if tag_name == "table":
        return "\n|}\n" if closes else "\n{|\n"
    return "" if closes else _WIKI_MARKS.get(tag_name, "")


_FILE_LINKS = re.compile(
    r"\[\[[\s_]*(?:file|image|media)[\s_]*:(?:[^\[\]]++|\[\[[^\[\]]*+\]\]|\[[^\[\]]*+\](?!\](?!\]))|\](?!\]))*+\]\]",
    re.I,
)
"""Pictures and their captions."""

# --- Lines --------------------------------------------------------------------------------------

# `== History ==`: as many marks on both sides.
_HEADING = re.compile(r"(={1,6})(.+?)\1\s*")
_RULE = re.compile(r"-{4,}")
# `colspan=2 | Leeds`: what stands before a single bar; links have bars of their own.
_ATTRIBUTES = re.compile(r"([^|\[\]]*)\|(?!\|)(.*)", re.S)
_ATTRIBUTES_ALONE = re.compile(
    r"(?:\s*\b(?:(?:col|row)span|style|class|v?align|bgcolor|width|scope)\s*=\s*"
    r"(?:\"[^\"]*\"|'[^']*'|[^\s\"'|]+))++\s*"
)
"""A cell whose text is a template that shows nothing: `colspan=2 {{yes}}`."""
_CELLS = re.compile(r"\|\|(?=\|\|)|\|\|(?!\|)")
"""Between cells; of three bars the first ends the attributes of a cell that shows nothing."""
# `rowspan="2"`, `colspan=3`.
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

    def __init__(self, repeats: RepeatBudget) -> None:
        self.cells: list[tuple[str, str]] = []
        self.more_of_last: list[str] = []
        """Lines that go on with the last cell; they are joined once, when the cell ends."""
        self.spanning: dict[int, tuple[int, str]] = {}
        self.repeats = repeats

    def add(self, line: str) -> None:
        """A line that begins with `|` or `!`: one cell or several."""
        self._end_cell()
        cells_text = line[1:]
        cell_parts = _CELLS.split(cells_text.replace("!!", "||") if line[0] == "!" else cells_text)
        for part in cell_parts:
            attributes_match = _ATTRIBUTES.match(part)
            alone = not attributes_match and _ATTRIBUTES_ALONE.fullmatch(part)
            attributes, cell_text = (
                (attributes_match[1], attributes_match[2])
                if attributes_match
                else (part, "")
                if alone
                else ("", part)
            )
            if not cell_text and "=" not in attributes:
                attributes, cell_text = "", attributes
            self.cells.append((attributes, cell_text))

    def more(self, line: str) -> None:
        """A line that goes on with the last cell."""
        if self.cells and line.strip():
            between = BREAK if line[0] in _LIST_MARKS else " "
            self.more_of_last += [between, line.lstrip(_LIST_MARKS)]

    def _end_cell(self) -> None:
        if self.more_of_last:
            attributes, text = self.cells[-1]
            self.cells[-1] = attributes, "".join([text, *self.more_of_last])
            self.more_of_last = []

    def row(self) -> str:
        """The row so far, as one line; the next one begins."""
        self._end_cell()
        cells, self.cells = self.cells, []
        if not cells:
            return ""
        cell_texts: list[str] = []
        column = 0
        still_spanning: dict[int, tuple[int, str]] = {}
        for attributes, raw_text in cells:
            while column in self.spanning:
                cell_texts.append(self._repeat(column, still_spanning))
                column += 1
            cell_text = raw_text.strip().strip(BREAK)
            row_span, column_span = _spans(attributes)
            cell_texts.append(cell_text)
            if row_span > 1:
                still_spanning[column] = row_span - 1, cell_text
            column += max(column_span, 1)
        for spanned in sorted(self.spanning):
            if spanned >= column:
                cell_texts.append(self._repeat(spanned, still_spanning))
        self.spanning = still_spanning
        return " | ".join(
            cell_text for cell_text in cell_texts if cell_text and cell_text != "&nbsp;"
        )

    def _repeat(self, column: int, later: dict[int, tuple[int, str]]) -> str:
        """The text of a cell of an earlier row, which is put into `later` if it spans more rows."""
        rows_left, text = self.spanning[column]
        self.repeats.spend(text)
        if rows_left > 1:
            later[column] = rows_left - 1, text
        return text


def _spans(attributes: str) -> tuple[int, int]:
    """Return the numbers of rows and columns that a cell spans by its attributes."""
    spans = {"row": 1, "col": 1}
    if attributes:
        spans |= {kind.lower(): int(number) for kind, number in _SPAN.findall(attributes)}
    return spans["row"], spans["col"]


class _LineReader:
    """Cuts the wikitext of a page into its lines, each with the sections that hold it."""

    def __init__(self) -> None:
        self.sections: list[tuple[int, str]] = []
        """Level and title of each open section."""
        self.path: tuple[str, ...] = ()
        self.waiting: list[str] = []
        """Lines of a paragraph that goes on until something else begins."""
        self.tables: list[_Table] = []
        """The open tables, the innermost one last."""
        self.repeats = RepeatBudget()

    def lines(self, text: str) -> Iterator[_Line]:
        """The lines that a page shows, in order."""
        for source_line in text.split("\n"):
            line = source_line.strip()
            if self.tables and line[:1] != INFOBOX and not _heading(line):
                yield from self._table_line(_unquoted(line))
            elif _is_running_text(line):
                self.waiting.append(_unquoted(line))
            else:
                yield from self._end_paragraph()
                yield from self._marked_line(line)
        yield from self._end_paragraph()
        yield from self._end_tables()

    def _end_paragraph(self) -> Iterator[_Line]:
        if self.waiting:
            yield _Line("text", self.path, " ".join(self.waiting))
            self.waiting = []

    def _end_tables(self) -> Iterator[_Line]:
        for table in reversed(self.tables):
            yield _Line("table", self.path, table.row())
        self.tables = []

    def _marked_line(self, line: str) -> Iterator[_Line]:
        """A line that is empty, or whose first characters say what it is."""
        first = line[:1]
        heading = _heading(line)
        if _opens_table(line):
            self.tables.append(_Table(self.repeats))
        elif first == INFOBOX:
            yield _Line("infobox", self.path, _unquoted(line[1:]))
        elif heading:
            # A heading ends a table that nobody closed.
            yield from self._end_tables()
            self._enter_section(len(heading[1]), _unquoted(heading[2].strip()))
        elif first and first in _LIST_MARKS:
            yield _Line("list", self.path, _unquoted(line.lstrip(_LIST_MARKS + " ")))
        else:
            # Text behind a rule is shown below it.
            shown = line.lstrip("-") if _RULE.match(line) else line
            if shown:
                self.waiting.append(_unquoted(shown))

    def _enter_section(self, level: int, title: str) -> None:
        """Leave the sections of this level and below, and begin one."""
        outer = [section for section in self.sections if section[0] < level]
        self.sections = [*outer, (level, title)]
        self.path = tuple(title for _, title in self.sections)

    def _table_line(self, line: str) -> Iterator[_Line]:
        innermost = self.tables[-1]
        if line.startswith("{|"):
            if len(self.tables) < _DEEPEST:
                self.tables.append(_Table(self.repeats))
        elif line.startswith("|}"):
            yield _Line("table", self.path, innermost.row())
            self.tables.pop()
            if self.tables and line[2:].strip():
                self.tables[-1].more(line[2:])
            elif line[2:].strip():
                yield _Line("text", self.path, line[2:])
        elif line.startswith(("|-", "|+")):
            yield _Line("table", self.path, innermost.row())
            if line[1] == "+":
                attributes_match = _ATTRIBUTES.match(line[2:])
                caption = attributes_match[2] if attributes_match else line[2:]
                yield _Line("table", self.path, caption)
        elif line.startswith(("|", "!")):
            innermost.add(line)
        else:
            innermost.more(line)


def _heading(line: str) -> re.Match[str] | None:
    """The marks and the title of a heading; none where a line is another one."""
    return _HEADING.fullmatch(line) if line[:1] == "=" else None


def _opens_table(line: str) -> bool:
    """Whether a table begins, maybe indented or inside a list."""
    return line.lstrip(":*#; ").startswith("{|")


def _is_running_text(line: str) -> bool:
    """Whether a line belongs to a paragraph by its first character."""
    first = line[:1]
    if not first or first in _LIST_MARKS or first in "=-" + INFOBOX:
        return False
    return not _opens_table(line)


# --- Text and links of a line --------------------------------------------------------------------

_LABEL = r"(?:[^\[\]]++|\[(?!\[)|\](?!\]))*+"
# `[[Leeds|the club]]s`: target, label, and letters behind it that belong to the label.
_LINK = re.compile(rf"\[\[([^\[\]|]*+)(?:\|({_LABEL}))?\]\]([a-z]*)")
_LOOSE = re.compile(r"\[\[(?:[^\[\]|]*\|)?|\]\]")
# `[https://example.org the site]` shows `the site`.
_OUTSIDE = re.compile(
    r"\[(?:(?:https?|ftps?|ircs?)://|//|mailto:|news:)[^\s\[\]<>\"]+\s*([^\[\]]*)\]"
)
_QUOTES = re.compile(r"'{2,}")
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufffd]"
)
_MAY_BE_HOLLOW = re.compile(r"\([\s;,:)]|\s\)")
# Brackets in which templates left nothing: `( ; , )`.
_HOLLOW = re.compile(r"\(\s*(?:[;,:]\s*)*\)")
# `(; born 1950)`: what stood first in the brackets is gone.
_OPENED = re.compile(r"\((?:\s*[;,])+\s*")
# `(born 1950; )`: what stood last in them is gone; `(1,)` is whole.
_ENDED = re.compile(r"(?<![\s;,(])[\s;,]++(?<=\s)\)")
_BREAKS = re.compile(rf"\s*(?:{BREAK}\s*)+")


def _unquoted(line: str) -> str:
    """A line without the marks of bold and italic type; single apostrophes stay."""
    if "''" not in line:
        return line
    runs = list(_QUOTES.finditer(line))
    run_lengths = [len(quote_run[0]) for quote_run in runs]
    apostrophe_counts = [1 if count == 4 else max(count - 5, 0) for count in run_lengths]
    bold_count = sum(count >= 3 for count in run_lengths)
    italic_count = sum(count == 2 or count >= 5 for count in run_lengths)
    if bold_count % 2 and italic_count % 2 and (apostrophe := _apostrophe(line, runs)) is not None:
        apostrophe_counts[apostrophe] += 1
    kept_pieces, copied_to = [], 0
    for run, count in zip(runs, apostrophe_counts, strict=True):
        kept_pieces += [line[copied_to : run.start()], "'" * count]
        copied_to = run.end()
    return "".join([*kept_pieces, line[copied_to:]])


def _apostrophe(line: str, runs: list[re.Match[str]]) -> int | None:
    """The run of three that is an apostrophe and a mark of italics, where marks do not pair up.

    After one letter (`''l'''amour`) first, else after a longer word, else after a space; this
    is how MediaWiki decides. None where no run is of three: `'''''` alone opens both.
    """
    best_index, best_rank = None, 9
    for run_index, run in enumerate(runs):
        if len(run[0]) not in (3, 4):
            continue
        two_before = line[max(run.start() - 2, 0) : run.start()].rjust(2)
        run_rank = 2 if two_before[1] == " " else 0 if two_before[0] == " " else 1
        if run_rank < best_rank:
            best_index, best_rank = run_index, run_rank
    return best_index


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


def _inline(wikitext: str, kind: ParagraphKind) -> tuple[str, tuple[Link, ...]]:
    """The plain text of a line and its links; `text[start:end]` is what a link shows.

    Links to files, categories and pages in other languages are not shown; those to other
    namespaces and wikis are, and are no links. Breaks are `, ` in tables and infoboxes.
    """
    if BREAK in wikitext:
        wikitext = _BREAKS.sub(", " if kind in ("table", "infobox") else " ", wikitext).strip(", ")
    if "(" in wikitext and _MAY_BE_HOLLOW.search(wikitext):
        wikitext = _ENDED.sub(")", _HOLLOW.sub("", _OPENED.sub("(", wikitext)))
    if "//" in wikitext or "[mailto:" in wikitext:
        wikitext = _OUTSIDE.sub(r"\1", wikitext)
    plain_text = _Text()
    links: list[Link] = []
    copied_to = 0
    if "[[" in wikitext:
        for link_match in _LINK.finditer(wikitext):
            link_start, link_end = link_match.span()
            if link_start > copied_to:
                plain_text.put(_plain(wikitext[copied_to:link_start]))
            copied_to = link_end
            link_text, link_target = _link(link_match)
            link_start = plain_text.put(link_text)
            if link_target and plain_text.length > link_start:
                links.append(Link(link_start, plain_text.length, link_target))
    plain_text.put(_plain(wikitext[copied_to:]))
    return "".join(plain_text.pieces), tuple(links)


def _plain(piece: str) -> str:
    if "[[" in piece or "]]" in piece:
        piece = _LOOSE.sub("", piece)
    return _seen(without_references(piece))


def _seen(piece: str) -> str:
    return piece if piece.isascii() and piece.isprintable() else _UNSEEN.sub("", piece)


def _link(link_match: re.Match[str]) -> tuple[str, str]:
    """Return the text that a link shows and the title it leads to.

    The text is empty if nothing is shown, and the title if it is no link to a page.
    """
    link_target, link_label, trail = link_match[1], link_match[2], link_match[3]
    link_target = without_references(link_target).strip()
    has_colon = link_target.startswith(":")
    link_title = link_target[1:].lstrip() if has_colon else link_target
    shown_text = (
        _plain(link_label)
        if link_label and link_label.strip()
        else _seen(link_title.replace("_", " "))
    ) + trail
    prefix, between, _ = link_title.partition(":")
    if between:
        prefix = prefix.strip().replace("_", " ").lower()
        if not has_colon and prefix in _UNSEEN_PREFIXES:
            return trail, ""
        if prefix in _NAMESPACES or prefix in _PROJECTS or prefix in _LANGUAGES:
            return shown_text, ""
    return shown_text, normalise_title(link_title) if link_title[:1] not in ("#", "/") else ""
