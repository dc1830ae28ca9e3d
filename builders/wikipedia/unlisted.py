"""Decide which text a template shows that no list names, by its place and its arguments.

A note hangs on the word before it (`1990.{{efn|…}}`), a notice or a box of links has a line of its
own, and a template whose text belongs to the sentence stands in it as a word does. Of such a
template the arguments are shown that read as words. A colour, a width, the code of a language, a
file, an address and letters of the phonetic alphabet do not.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from factdrift.builders.core.files import read_texts, resource

PlaceKind = Literal["attached", "line", "item", "value", "sentence"]
"""Where a template stands: behind a word without a space, on a line of its own, as the whole of a
list item, as the whole of a cell or a parameter's value, or among words."""

_UNSEEN = read_texts(resource("builders/wikipedia/templates_unseen.yaml"))
_NOTHING = re.compile(
    "|".join(" ".join(part.split()) for kind in _UNSEEN.values() for part in kind.split(" | "))
)
# `== External links ==`, `=== Notes and references ===`: what stands there are other works.
_HEADING = re.compile(r"^={2,6}(.+?)={2,6}[ \t]*$", re.M)
_OF_WORKS = re.compile(
    r"links|references|sources|bibliography|reading|notes|footnotes|citations|weblinks|literatur|"
    r"einzelnachweise|see also",
    re.I,
)
# `Leeds`, `東京`, `d'A`; not `5`, `=` or one of the letters of `{{chem|H|2|O}}`.
_WORD = re.compile(r"[^\W\d_][^\w\s]?[^\W_]|[^\W\d_]\s+[^\W\d_]|\[\[|[\u0f00-\U0003ffff]")
_PHONETIC = re.compile("[\u0250-\u02af\u02c8\u02cc\u02d0]")
_FILE = re.compile(r"[^|\n]+\.(?:jpe?g|png|svg|gif|webp|tiff?|og[ag]|webm|djvu|pdf|wav|mp3)", re.I)
# `https://example.org`, `people/l/abraham_lincoln`, `art-definition`, `p0038x9t`.
_ADDRESS = re.compile(
    r"(?:https?:)?//\S*|[^\s\[\]]*[\w)]/[^\s\[\]]*|[a-z\d]+(?:[-_][a-z\d]+)+|"
    r"(?=\S*\d)(?=\S*[a-z])[\w-]{6,}"
)
# `20em`, `#FAEB86`, `color:red;`, `df`, `pt-BR`, `US`, `yes`, `left`, `darkgreen`.
_SETTING = re.compile(
    r"#[\da-fA-F]{3,8}|[a-z-]+ *: ?[^ ]*;?|[a-z]{2,3}(?:-[A-Za-z]+)*|[A-Z]{2,3}|"
    r"[\d.]+ ?(?:em|ex|px|pt|%)|yes|no|on|off|true|false|none|left|right|cent(?:er|re)|top|bottom|"
    r"auto|bold|italic|small|large|"
    r"(?:dark|light|medium|pale)? ?(?:red|green|blue|yellow|orange|purple|pink|brown|black|white|"
    r"gr[ae]y|silver|gold|cyan|magenta|navy|maroon|teal|olive|lime|violet|indigo|crimson)"
)
# `1,240`, `-3.5`, `5e6`; and the units, currencies and the like that follow a number.
_NUMBER = re.compile(r"[−-]?\d[\d,.]*(?:e\d+)?")
_UNIT = re.compile(r"[a-zµ°%][A-Za-z]{0,8}(?:[23²³]|/[a-z]+[23²³]?)?|[A-Z]{3}|m/s|[CF]")
_BETWEEN = {"-": "–", "–": "–", "to": " to ", "and": " and ", "or": " or ", "x": " × "}
_YEAR = re.compile(r"(?:c\. ?)?\d{4}[a-z]?(?:, \d{4}[a-z]?)*|n\.d\.")
_TEXT_NAMES = ("text", "quote", "quotation", "content", "contents", "body")
_CITING_NAMES = frozenset(
    "p pp loc at page pages url isbn issn doi pmid oclc publisher journal work access-date "
    "accessdate first last author1 first1 last1 date reason archive-url archiveurl wstitle".split()
)
"""Parameters of notes, of doubts and of other works."""
# `age in days`, `time ago`, `years since`: what is shown is worked out from the date.
_WORKED_OUT = re.compile(r"^(?:age|days|time|years|inflation)\b|\b(?:ago|since|in years)\b")
_ISO_DATE = re.compile(r"\d{4}-\d\d?-\d\d?")
_LIST_LINES = re.compile(r"^[*#:;]", re.M)
# `It was found in 1912 and is in use.`: the end of a sentence, maybe behind a quotation mark.
_SENTENCE_END = re.compile(r"[.!?][\"'”’)\]]*$")
_JOIN = ", "
"""Between the texts of one template in a cell, where lists are common."""
_BOX_ROWS = 3
"""Named parameters of a box; fewer are settings, as the title and the width of a list are."""
_LEAST_WORDS = 6
"""Words of a text on a line of its own, such as a quotation; a shorter one is a title or a name."""


class TemplatePlace(NamedTuple):
    """Where a template stands, and whether its section lists other works."""

    kind: PlaceKind
    of_works: bool = False


def shows_nothing(template_name: str) -> bool:
    """Whether a list names a template as a note, a notice, a picture or a box of links."""
    return _NOTHING.fullmatch(template_name) is not None


def visible_text(arguments: Mapping[str, str], place: TemplatePlace) -> str:
    """The arguments that readers see of a template that no list names; empty: none of them."""
    if place.kind == "attached" or not arguments:
        return ""
    texts = _texts(arguments)
    if place.kind == "line":
        return _own_line(arguments, texts)
    if place.kind == "item" and place.of_works:
        return ""
    return _JOIN.join(dict.fromkeys(texts))


def _texts(arguments: Mapping[str, str]) -> list[str]:
    """The arguments that read as text, in order; none where the template is no text."""
    named_texts = [arguments[name] for name in _TEXT_NAMES if arguments.get(name)]
    if named_texts:
        return named_texts
    unnamed = [value for name, value in arguments.items() if name.isdigit() and value]
    if not unnamed or _shows_other_than_text(arguments, unnamed):
        return []
    if len(unnamed) == 1:
        is_text = not (_ADDRESS.fullmatch(unnamed[0]) or _SETTING.fullmatch(unnamed[0]))
        return unnamed if is_text else []
    if measure := _measure(unnamed):
        return [measure]
    return [value for value in unnamed if _reads_as_text(value)]


def _shows_other_than_text(arguments: Mapping[str, str], unnamed: Sequence[str]) -> bool:
    """Whether a template shows a picture, a sound, a note, or what is worked out of numbers."""
    if any(_FILE.fullmatch(value) or _PHONETIC.search(value) for value in unnamed):
        return True
    if not _CITING_NAMES.isdisjoint(arguments):
        return True
    # `{{sfn|Roe|1974}}`, `{{pop density|3645257|640081|km2}}`.
    first, *others = unnamed
    if not others:
        return False
    if _NUMBER.fullmatch(first):
        return _NUMBER.fullmatch(others[0]) is not None
    # Authors are named by surname: `{{team|Leeds United|1990}}` is no note.
    return _YEAR.fullmatch(others[-1]) is not None and not any(" " in name for name in unnamed[:-1])


def _measure(values: Sequence[str]) -> str:
    """`76 km` of `76|km|0`, `3 to 4 km` of `3|to|4|km|mi`; empty where it is none."""
    if not _NUMBER.fullmatch(values[0]):
        return ""
    number = values[0]
    if len(values) > 3 and values[1] in _BETWEEN and _NUMBER.fullmatch(values[2]):
        number += _BETWEEN[values[1]] + values[2]
        values = values[2:]
    return f"{number} {values[1]}" if _UNIT.fullmatch(values[1]) else ""


def _reads_as_text(value: str) -> bool:
    is_setting = _SETTING.fullmatch(value) or _ADDRESS.fullmatch(value)
    return not is_setting and _WORD.search(value) is not None


def is_box(arguments: Mapping[str, str]) -> bool:
    """Whether a template on a line of its own is a box, by its named parameters."""
    if not _CITING_NAMES.isdisjoint(arguments):
        return False
    named_values = [value for name, value in arguments.items() if value and not name.isdigit()]
    return len(named_values) >= _BOX_ROWS and not _lists(named_values)


def is_date(template_name: str, arguments: Mapping[str, str]) -> bool:
    """Whether the first arguments are a year, a month and a day, and no age is worked out."""
    if _ISO_DATE.fullmatch(arguments.get("1", "")):
        return not _WORKED_OUT.search(template_name)
    texts = [arguments.get(place, "") for place in ("1", "2", "3")]
    if not all(text.isdecimal() and len(text) < 5 for text in texts):
        return False
    year, month, day = map(int, texts)
    is_day = year > 31 and 1 <= month <= 12 and 1 <= day <= 31
    return is_day and not _WORKED_OUT.search(template_name)


def _own_line(arguments: Mapping[str, str], texts: Sequence[str]) -> str:
    """A quotation, or the lists that a template puts into columns; not a notice or a title."""
    if lists := _lists(arguments.values()):
        return "\n" + "\n".join(lists) + "\n"
    sentences = [text for text in texts if _is_sentence(text)]
    if not sentences:
        return ""
    speakers = [text for text in texts if text not in sentences]
    said_by = f"— {', '.join(speakers)}\n\n" if speakers else ""
    return "\n\n" + "\n\n".join(sentences) + "\n\n" + said_by


def _lists(values: Iterable[str]) -> list[str]:
    """The values that hold a list of at least two items."""
    return [value for value in values if len(_LIST_LINES.findall(value)) > 1]


def _is_sentence(text: str) -> bool:
    return len(text.split()) >= _LEAST_WORDS and _SENTENCE_END.search(text) is not None


# --- Places ---------------------------------------------------------------------------------------

_SPACES = " \t"
_BEGINS_VALUE = frozenset("|=!\x03")
_ENDS = frozenset("\n|}{\x03")
"""What ends a line or a value; a brace is that of the template around this, or of the next one."""
_OPENS = frozenset("([{<>“‘–—-/$£€¥~≈+±×")
"""What a word may follow without a space."""
_QUOTES = "'\""
"""Open a quotation or type, or close it: what stands before them tells."""
_OPENING = " \t\n|=!*#:;" + "".join(sorted(_OPENS))
_LIST_MARKS = "*#:;"
_ASIDE_SPACE = 400
"""Characters before a template in which the bracket around it is looked for; asides are shorter."""


class Places:
    """Tells where the templates of a text stand; they are passed in the order of the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.headings: list[tuple[int, bool]] | None = None
        self.run_start = self.last_end = -1
        self.run_place: PlaceKind | None = None

    def follow(self, start: int, end: int) -> None:
        """Pass a template; those that stand side by side are one run."""
        if start != self.last_end:
            self.run_start, self.run_place = start, None
        self.last_end = end

    def place(self, start: int, end: int) -> TemplatePlace:
        """Return where the template from `start` to `end` stands, the last one given to `follow`.

        Templates side by side are a run and share what stands before the first of them. A template
        that begins a line, an item or a value, but has text behind it, is part of a sentence.
        """
        if self.run_place is None:
            self.run_place = self._place_before(self.run_start)
        kind = self.run_place
        if kind in ("line", "item", "value") and not self._ends(end):
            kind = "sentence"
        return TemplatePlace(kind, kind == "item" and self._is_in_list_of_works(start))

    def is_in_brackets(self, start: int) -> bool:
        """Whether a template stands in round brackets of its line, as an aside does."""
        near_start = max(start - _ASIDE_SPACE, 0)
        near_start = max(self.text.rfind("\n", near_start, start), near_start)
        bracket_start = self.text.rfind("(", near_start, start)
        return bracket_start >= 0 and self.text.find(")", bracket_start, start) < 0

    def _place_before(self, start: int) -> PlaceKind:
        """The place of a run by what stands before it."""
        before = start
        while before and self.text[before - 1] in _SPACES:
            before -= 1
        last = self.text[before - 1] if before else "\n"
        if last in "\n\x05":
            return "line"
        if last in _BEGINS_VALUE:
            return "value"
        if last in _LIST_MARKS and self._begins_item(before):
            return "item"
        if before < start or last in _OPENS:
            return "sentence"
        word_end = before
        while word_end and self.text[word_end - 1] in _QUOTES:
            word_end -= 1
        opens = word_end < before and not self.text[word_end - 1 : word_end].strip(_OPENING)
        return "sentence" if opens else "attached"

    def _ends(self, end: int) -> bool:
        """Whether a line or value ends behind this place."""
        after = end
        while after < len(self.text) and self.text[after] in _SPACES:
            after += 1
        return after == len(self.text) or self.text[after] in _ENDS

    def _begins_item(self, mark_end: int) -> bool:
        """Whether the marks of a list before this place begin their line."""
        mark_start = mark_end
        while mark_start and self.text[mark_start - 1] in _LIST_MARKS:
            mark_start -= 1
        return not mark_start or self.text[mark_start - 1] == "\n"

    def _is_in_list_of_works(self, start: int) -> bool:
        if self.headings is None:
            self.headings = [
                (heading.start(), bool(_OF_WORKS.search(heading[1])))
                for heading in _HEADING.finditer(self.text)
            ]
        index = bisect_right(self.headings, (start, True))
        return bool(index) and self.headings[index - 1][1]
