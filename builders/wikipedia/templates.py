"""Templates of a page, from the innermost out: their text, an infobox's lines, or nothing.

What a template shows is told by the lists of the templates of the English Wikipedia: those whose
text belongs into a sentence are in `templates.yaml` (their functions in renders.py), flags in
`flags.yaml`, the parameters of infoboxes in `infoboxes.yaml`, and what is no part of the text in
`templates_unseen.yaml`. Any other template is read by its place and its arguments (unlisted.py),
and counted by its name.
"""

import re
from functools import lru_cache
from operator import add
from typing import NamedTuple

from factdrift.builders.wikipedia import flags, sounds
from factdrift.builders.wikipedia.infoboxes import in_units, is_shown
from factdrift.builders.wikipedia.marks import (
    BLOCK,
    BLOCK_MARK,
    BREAK,
    EQUALS,
    INFOBOX,
    PIPE,
    block_marks,
    without_blocks,
)
from factdrift.builders.wikipedia.renders import (
    FUNCTIONS,
    RENDER_BY_NAME,
    Arguments,
    date_text,
    full_age,
)
from factdrift.builders.wikipedia.unlisted import (
    Places,
    is_box,
    is_date,
    shows_nothing,
    visible_text,
)

# No braces but single ones; possessive, so that the time is linear in the text.
_BODY = r"(?!\{)((?:[^{}]++|\{(?!\{)|\}(?!\}))*+)"
# `{{convert|5|km}}` or the parameter `{{{1|}}}`, without another template inside. Of the braces in
# `\n|}}}` the first ends a table.
_INNERMOST = re.compile(
    rf"\{{\{{\{{{_BODY}\}}\}}\}}|\{{\{{{_BODY}((?<=\n[|{PIPE}])\}}(?=\}}\}}))?\}}\}}"
)
# Bars between arguments; those inside links are taken with their link.
_PIPES = re.compile(r"\[\[[^\[\]]*+\]\]|\|")
# `{|` and, at the start of a line, `|}`; `{{{!}}` and `{{!}}}` are such marks, too.
_TABLE_MARKS = re.compile(rf"\{{[|{PIPE}]|(?<=\n)[ \t]*[|{PIPE}]\}}")
# `\n| spouse =` after a table that nobody closed; `\n| align=center |` is a cell of it.
_PARAMETER_LINE = re.compile(
    r"\n[ \t]*\|[ \t]*(?!(?:align|valign|style|class|bgcolor|width|height|colspan|rowspan|scope)\b)"
    r"[A-Za-z_][\w ()-]*="
)
_LOOSE = re.compile(r"\{\{\{?|\}\}\}?")
# `infobox person`, `football club infobox`, `taxobox`; `navbox` is none.
_BOX = re.compile(
    r"infobox\b.*|.*\binfobox|geobox\b.*|(?:automatic |infraspecies |hybrid |virus )?taxobox|"
    r"(?:sub|infra)?speciesbox|virusbox|hybridbox|paraphyletic group|chembox|drugbox|elementbox|"
    r"planetbox\b.*|starbox\b.*"
)
# A box inside the one around it, whatever its name: `embed=yes`, `child = yes`, `subbox=yes`.
_IS_PART = ("embed", "child", "subbox", "module")
# `| module2 = ` before a template.
_MODULE = re.compile(r"\|[ \t]*(?:module|embed|child|subbox|misc)[ \t_]?\d*[ \t]*=\s*")
_MODULE_SPACE = 40
"""Characters before a template in which the name of its parameter is looked for."""
# A value that is a picture alone: `Leeds.jpg`.
_FILE = re.compile(r"[^|\n]+\.(?:jpe?g|png|svg|gif|webp|tiff?|ogg|oga|webm|djvu|pdf)", re.I)
_DEPTH = 40
"""Levels of templates in templates that are read; MediaWiki itself stops at 40."""
# The name of a parameter has no link, tag, table or box; before a later `=` these may stand.
_HOLDS_TEXT = re.compile(rf"\[\[|<|\{{[|{PIPE}]|{BLOCK}")
# `age at death`, `age nts`; ages in days and the like are not worked out.
_AGE = re.compile(r"age\b(?!.*(?:month|week|day))")
_LONGEST_NAME = 100
"""Characters of a template's name by which it is counted."""
_PAGE_NAMES = ("pagename", "fullpagename", "basepagename", "subpagename")


_SIGNS = {
    "!": PIPE,
    "=": EQUALS,
    "!!": PIPE * 2,
    "(!": "{" + PIPE,
    "!)": PIPE + "}",
    "!-": PIPE + "-",
    "!+": PIPE + "+",
    "!((": "[[",
    "))!": "]]",
    "(": "{",
    ")": "}",
}
"""Templates for signs that would be markup where the template stands."""


class TemplateUses(NamedTuple):
    """How often a template that no list names stands in pages.

    In `texts_shown` of the uses text is shown; in `texts_missing` nothing is, though the template
    stands in the text. The rest are notes, and boxes and notices on lines of their own.
    """

    uses: int = 0
    texts_shown: int = 0
    texts_missing: int = 0

    def plus(self, added: "TemplateUses") -> "TemplateUses":
        """The sum of these uses and others."""
        return TemplateUses(*map(add, self, added))


UnlistedTemplates = dict[str, TemplateUses]
"""Uses by the name of the template in small letters."""


def without_templates(text: str, page_title: str, unlisted: UnlistedTemplates | None = None) -> str:
    """Text with every template replaced by what it shows; braces that do not pair are removed.

    The templates that no list names are counted in `unlisted`.
    """
    if "{{" not in text and "}}" not in text:
        return text
    return _PageTemplates(page_title, {} if unlisted is None else unlisted).replace_all(text)


class _PageTemplates:
    """The templates of a page, while they are replaced from the innermost out.

    A box, and a table in a value, is cut out and kept in `blocks`; a mark with its number stands in
    the text until all templates are read. So it cannot be cut at its own bars and signs, and is
    shown whatever template it stands in.
    """

    def __init__(self, page_title: str, unlisted: UnlistedTemplates) -> None:
        self.page_title, self.unlisted = page_title, unlisted
        self.blocks: list[str] = []
        self.placed_marks: set[str] = set()
        self.places = Places("")

    def replace_all(self, text: str) -> str:
        """The text without templates, its boxes and tables each at their place."""
        for _ in range(_DEPTH):
            self.places = Places(text)
            text, replaced_count = _INNERMOST.subn(self._replace, text)
            if not replaced_count:
                break
        text = _LOOSE.sub("", text)
        for _ in range(_DEPTH):
            if BLOCK not in text:
                break
            text = BLOCK_MARK.sub(self._take_block, text)
        return text.replace(PIPE, "|").replace(EQUALS, "=")

    def _take_block(self, mark: re.Match[str]) -> str:
        """The block of a mark, the first time that it is asked for."""
        number = int(mark[1])
        block, self.blocks[number] = self.blocks[number], ""
        return f"\n{block}\n"

    def _replace(self, match: re.Match[str]) -> str:
        self.places.follow(*match.span())
        parameter, body, table_end = match.groups()
        if body is None:
            return str(parameter).partition("|")[2]
        first_new = len(self.blocks)
        shown_text = self._shown(body + (table_end or ""), match.start(), match.end())
        new_marks = [str(number) for number in range(first_new, len(self.blocks))]
        if BLOCK not in body and not new_marks:
            return shown_text
        # A block in a template that shows something else, or nothing, is read all the same.
        shown_marks = set(BLOCK_MARK.findall(shown_text))
        for mark in [*BLOCK_MARK.findall(body), *new_marks]:
            if mark not in shown_marks and mark not in self.placed_marks:
                shown_text += f"{BLOCK}{mark}{BLOCK}"
        return shown_text

    def _shown(self, body: str, start: int, end: int) -> str:
        """What a template shows, by its name and arguments."""
        head, _, arguments_text = body.partition("|")
        code, template_name = _template_name(without_blocks(head))
        if template_name in _SIGNS:
            return _SIGNS[template_name]
        render = RENDER_BY_NAME.get(template_name)
        if render is not None:
            arguments = _arguments(arguments_text)
            shown_text = render(arguments)
            if shown_text or not any(arguments.values()):
                return shown_text
            # Arguments in another form than the list says.
            return self._unlisted(template_name, arguments, start, end)
        if code in flags.CODES:
            return flags.flag({"1": code}, spelt=True)
        if template_name in _PAGE_NAMES:
            return self.page_title
        if template_name.startswith("lang-"):
            return _arguments(arguments_text).get("1", "")
        if _BOX.fullmatch(template_name):
            return self._infobox(_arguments(arguments_text))
        word, colon, value = code.partition(":")
        if colon and word.lower() in FUNCTIONS:
            return FUNCTIONS[word.lower()](value.strip())
        if sounds.is_spoken(template_name) and not self.places.is_in_brackets(start):
            return sounds.spoken_text(template_name, _arguments(arguments_text))
        if shows_nothing(template_name):
            return ""
        return self._unlisted(template_name, _arguments(arguments_text), start, end)

    def _unlisted(self, template_name: str, arguments: Arguments, start: int, end: int) -> str:
        """What readers see of a template that no list names; it is counted."""
        # A table is shown whatever template it stands in.
        arguments = {name: self._without_tables("", value) for name, value in arguments.items()}
        place = self.places.place(start, end)
        before = self.places.text[max(start - _MODULE_SPACE, 0) : start]
        if template_name.startswith("#"):
            shown_text = ""  # `{{#if:a|b}}`: nothing is worked out
        elif _is_part(arguments, before) or (place.kind == "line" and is_box(arguments)):
            shown_text = self._infobox(arguments)
        elif place.kind not in ("attached", "line") and is_date(template_name, arguments):
            shown_text = date_text(arguments)
        elif place.kind != "line" and _AGE.match(template_name):
            shown_text = full_age(arguments)
        else:
            shown_text = visible_text(arguments, place)
        name = template_name.partition(":")[0][:_LONGEST_NAME]
        is_missing = not shown_text and (
            place.kind in ("sentence", "item")
            or (place.kind == "value" and any(arguments.values()))
        )
        use = TemplateUses(1, bool(shown_text), is_missing)
        self.unlisted[name] = self.unlisted.get(name, TemplateUses()).plus(use)
        return shown_text

    def _infobox(self, arguments: Arguments) -> str:
        """The mark of a new block: the lines of an infobox, each with the blocks of its value."""
        shown_arguments: Arguments = {}
        for name, value in arguments.items():
            value_text = self._without_tables(name, value)
            # A box in a parameter that readers do not see, such as `embed`, is seen itself.
            shown_value = value_text if is_shown(name) else block_marks(value_text)
            if shown_value or is_shown(name):
                shown_arguments[name] = shown_value
        lines: list[str] = []
        for name, value in in_units(shown_arguments):
            own_lines = [line.strip().lstrip("*#:; ") for line in without_blocks(value).split("\n")]
            shown_value = BREAK.join(line for line in own_lines if line)
            if shown_value and not _FILE.fullmatch(shown_value):
                lines.append(f"{INFOBOX}{name}: {shown_value}")
            lines.append(block_marks(value))
        return self._block("\n".join(line for line in lines if line))

    def _without_tables(self, name: str, value: str) -> str:
        """A value with a mark for each table in it, whose rows are read as those of any table."""
        value_parts: list[str] = []
        copied_to = 0
        for start, end in _tables(value):
            value_parts.append(value[copied_to:start])
            first_line, line_end, rows = value[start:end].partition("\n")
            caption = f"|+ {name.replace('_', ' ')}\n" if name and is_shown(name) else ""
            end_line = "" if rows.endswith("}") else "\n|}"
            value_parts.append(self._block(f"{first_line}{line_end}{caption}{rows}{end_line}"))
            copied_to = end
        return "".join([*value_parts, value[copied_to:]])

    def _block(self, text: str) -> str:
        if not text:
            return ""
        self.blocks.append(text)
        self.placed_marks.update(BLOCK_MARK.findall(text))
        return f"{BLOCK}{len(self.blocks) - 1}{BLOCK}"


def _is_part(arguments: Arguments, before: str) -> bool:
    """Whether a template of any name is a box inside another one, which has named parameters."""
    if not any(value and not name.isdigit() for name, value in arguments.items()):
        return False
    if any(_is_yes(arguments.get(name, "")) for name in _IS_PART):
        return True
    bar = before.rfind("|")
    return bar >= 0 and _MODULE.fullmatch(before, bar) is not None


def _is_yes(value: str) -> bool:
    return value.lower() in ("y", "yes", "1", "true", "on")


def _tables(text: str) -> list[tuple[int, int]]:
    """The start and end of each outermost table in a text.

    A table that nobody closed ends before the next parameter, or with the text.
    """
    open_starts: list[int] = []
    tables: list[tuple[int, int]] = []
    if "{" not in text:
        return tables
    for mark in _TABLE_MARKS.finditer(text):
        if mark[0][0] == "{":
            open_starts.append(mark.start())
        elif open_starts:
            start = open_starts.pop()
            while tables and tables[-1][0] > start:
                tables.pop()
            tables.append((start, mark.end()))
    if open_starts and "\n" in text[open_starts[0] :]:
        start = open_starts[0]
        parameter = _PARAMETER_LINE.search(text, start)
        while tables and tables[-1][0] > start:
            tables.pop()
        tables.append((start, parameter.start() if parameter else len(text)))
    return tables


@lru_cache(4096)
def _template_name(head: str) -> tuple[str, str]:
    """The name of a template as it is written, and in small letters."""
    code = " ".join(head.replace("_", " ").split())
    return code, code.lower()


def _arguments(arguments_text: str) -> Arguments:
    """The arguments after a template's name; those without a name are `1`, `2`, …"""
    arguments: Arguments = {}
    next_place = 0
    for part in _parts(arguments_text):
        argument_name, equals, argument_value = part.partition("=")
        if equals and not _HOLDS_TEXT.search(argument_name):
            arguments[" ".join(argument_name.split())] = argument_value.strip()
        else:
            next_place += 1
            arguments[str(next_place)] = part.strip()
    return arguments


def _parts(arguments_text: str) -> list[str]:
    """The arguments; a bar inside a link or a table does not part them."""
    tables = _tables(arguments_text)
    if "[[" not in arguments_text and not tables:
        return arguments_text.split("|")
    argument_parts, part_start = [], 0
    next_table = 0
    for bar in _PIPES.finditer(arguments_text):
        while next_table < len(tables) and tables[next_table][1] <= bar.start():
            next_table += 1
        in_table = next_table < len(tables) and tables[next_table][0] < bar.start()
        if bar[0] == "|" and not in_table:
            argument_parts.append(arguments_text[part_start : bar.start()])
            part_start = bar.end()
    return [*argument_parts, arguments_text[part_start:]]
