"""Templates of a page, from the innermost out: their text, an infobox's lines, or nothing."""

import re

from builders.wikipedia.inline import BREAK
from builders.wikipedia.inline_templates import INLINE, Arguments

INFOBOX = "\x02"
"""Stands before each line of an infobox."""
PIPE, EQUALS = "\x01", "\x04"
"""Stand for `{{!}}` and `{{=}}` until all templates are read."""
_BODY = r"((?:[^{}]++|\{(?!\{)|\}(?!\}))*+)"
_INNERMOST = re.compile(rf"\{{\{{\{{{_BODY}\}}\}}\}}|\{{\{{{_BODY}\}}\}}")
_PIPES = re.compile(r"\[\[[^\[\]]*+\]\]|\|")
_LOOSE = re.compile(r"\{\{\{?|\}\}\}?")
_BOX = re.compile(
    r"infobox\b.*|.*\binfobox|geobox\b.*|taxobox|speciesbox|automatic taxobox|subspeciesbox"
)
_UNSHOWN = re.compile(
    r"(?:.*[ _])?(?:image|img|size|width|alt|upright|colou?r|style|zoom|imagesize|embed|"
    r"bodystyle|child|subbox)\d*|(?:image|map|logo|flag|pushpin|coord|nocat).*|name_?list_style"
)
_FILE = re.compile(r"[^|\n]+\.(?:jpe?g|png|svg|gif|webp|tiff?|ogg|oga|webm|djvu|pdf)", re.I)
_DEPTH = 40
"""Levels of templates in templates that are read; MediaWiki itself stops at 40."""


def without_templates(text: str, title: str) -> str:
    """Text in which every template is replaced by what it shows; braces that do not pair go."""
    if "{{" not in text and "}}" not in text:
        return text
    for _ in range(_DEPTH):
        text, n = _INNERMOST.subn(lambda m: _template(m, title), text)
        if not n:
            break
    return _LOOSE.sub("", text).replace(PIPE, "|").replace(EQUALS, "=")


def _template(found: re.Match[str], title: str) -> str:
    parameter, body = found.groups()
    if body is None:
        return str(parameter).partition("|")[2]
    head, _, rest = body.partition("|")
    name = " ".join(head.replace("_", " ").split()).lower()
    if name in ("!", "="):
        return PIPE if name == "!" else EQUALS
    if name in ("pagename", "fullpagename", "basepagename", "subpagename"):
        return title
    if name.startswith("formatnum:"):
        return name.partition(":")[2]
    render = INLINE.get(name)
    if render is not None:
        return render(arguments(rest))
    if name.startswith("lang-"):
        return arguments(rest).get("1", "")
    return _infobox(arguments(rest)) if _BOX.fullmatch(name) else ""


def arguments(rest: str) -> Arguments:
    """The arguments after a template's name; those without a name are `1`, `2`, …"""
    found: Arguments = {}
    place = 0
    for part in _parts(rest):
        key, equals, value = part.partition("=")
        if equals and not ("[[" in key or "<" in key):
            found[" ".join(key.split())] = value.strip()
        else:
            place += 1
            found[str(place)] = part.strip()
    return found


def _parts(rest: str) -> list[str]:
    if "[[" not in rest:
        return rest.split("|")
    parts, start = [], 0
    for found in _PIPES.finditer(rest):
        if found[0] == "|":
            parts.append(rest[start : found.start()])
            start = found.end()
    return [*parts, rest[start:]]


def _infobox(given: Arguments) -> str:
    lines: list[str] = []
    for name, value in given.items():
        inner: list[str] = []
        own: list[str] = []
        for line in value.split("\n"):
            (inner if line.startswith(INFOBOX) else own).append(line)
        shown = BREAK.join(s for s in (line.strip().lstrip("*#:; ") for line in own) if s)
        if shown and not (name.isdigit() or _UNSHOWN.fullmatch(name) or _FILE.fullmatch(shown)):
            lines.append(f"{INFOBOX}{name.replace('_', ' ')}: {shown}")
        lines += inner
    return "\n" + "\n".join(lines) + "\n"
