"""Templates of a page, from the innermost out: their text, an infobox's lines, or nothing.

The names of the templates of the English Wikipedia whose text belongs into a sentence are in
`templates.yaml`, each with the function that renders it; flags and the parameters of infoboxes
have tables and modules of their own. Dates are written out as readers of
the page see them, without an age.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial

from factdrift.builders.core.files import read_texts, resource
from factdrift.builders.text.dates import MONTH_NUMBER, MONTHS
from factdrift.builders.wikipedia import flags
from factdrift.builders.wikipedia.flags import link as _link
from factdrift.builders.wikipedia.infoboxes import in_units, is_shown

Arguments = dict[str, str]
"""The arguments of a template, by name or place (`1`, `2`, …)."""
Render = Callable[[Arguments], str]
INFOBOX = "\x02"
"""Stands before each line of an infobox."""
BREAK = "\x03"
"""Stands for a line break inside a cell or a value."""
PIPE, EQUALS = "\x01", "\x04"
"""Stand for `{{!}}` and `{{=}}` until all templates are read."""
_BODY = r"((?:[^{}]++|\{(?!\{)|\}(?!\}))*+)"
_INNERMOST = re.compile(rf"\{{\{{\{{{_BODY}\}}\}}\}}|\{{\{{{_BODY}\}}\}}")
_PIPES = re.compile(r"\[\[[^\[\]]*+\]\]|\|")
_LOOSE = re.compile(r"\{\{\{?|\}\}\}?")
_BOX = re.compile(
    r"infobox\b.*|.*\binfobox|geobox\b.*|taxobox|speciesbox|automatic taxobox|subspeciesbox"
)
_FILE = re.compile(r"[^|\n]+\.(?:jpe?g|png|svg|gif|webp|tiff?|ogg|oga|webm|djvu|pdf)", re.I)
_DEPTH = 40
"""Levels of templates in templates that are read; MediaWiki itself stops at 40."""
_WIDTH = re.compile(r"[\d.]+ *(?:em|px|%)?")
_PAGE_NAMES = ("pagename", "fullpagename", "basepagename", "subpagename")
_LIST_MARKS = re.compile(r"^[*#:;\s]+", re.M)
_BETWEEN = {
    "-": "–",
    "–": "–",
    "to": " to ",
    "and": " and ",
    "and(-)": " and ",
    "or": " or ",
    "x": " × ",
    "by": " by ",
    "+/-": " ± ",
}
"""What stands between two values of a measure."""
_UNITS = {"C": "°C", "F": "°F", "sqmi": "sq mi", "e6km2": "million km2", "e6sqmi": "million sq mi"}
_LARGE = {"ft": "in", "lb": "oz", "st": "lb", "mi": "ft", "yd": "ft"}
"""Units that a smaller one may follow: `6 ft 2 in`."""
_ENDS = {"divorced": "div.", "divorce": "div.", "div": "div.", "died": "d.", "death": "d."}


def without_templates(text: str, title: str) -> str:
    """Text with every template replaced by what it shows; braces that do not pair are removed."""
    if "{{" not in text and "}}" not in text:
        return text
    for _ in range(_DEPTH):
        text, n = _INNERMOST.subn(lambda m: _template(m, title), text)
        if not n:
            break
    text = _LOOSE.sub("", text)
    return text.replace(PIPE, "|").replace(EQUALS, "=")


def _template(match: re.Match[str], title: str) -> str:
    parameter, body = match.groups()
    if body is None:
        return str(parameter).partition("|")[2]
    head, _, rest = body.partition("|")
    code, name = _named(head)
    if name in ("!", "="):
        return PIPE if name == "!" else EQUALS
    render = _INLINE.get(name)
    if render is not None:
        return render(_arguments(rest))
    if code in flags.CODES:
        return flags.flag({"1": code}, spelt=True)
    if name in _PAGE_NAMES:
        return title
    if name.startswith("lang-"):
        return _arguments(rest).get("1", "")
    if _BOX.fullmatch(name):
        return _infobox(_arguments(rest))
    word, _, value = code.partition(":")
    return _number(value.strip()) if word.lower() == "formatnum" else ""


@lru_cache(4096)
def _named(head: str) -> tuple[str, str]:
    """The name of a template as it is written, and in small letters."""
    code = " ".join(head.replace("_", " ").split())
    return code, code.lower()


def _number(value: str) -> str:
    """`{{formatnum:12345}}`."""
    whole, point, rest = value.partition(".")
    return f"{int(whole):,}{point}{rest}" if whole.isdecimal() else value


def _arguments(rest: str) -> Arguments:
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
    seen = {name: value for name, value in given.items() if is_shown(name)}
    lines: list[str] = []
    for name, value in in_units(seen):
        inner: list[str] = []
        own: list[str] = []
        for line in value.split("\n"):
            (inner if line.startswith(INFOBOX) else own).append(line)
        shown = BREAK.join(s for s in (line.strip().lstrip("*#:; ") for line in own) if s)
        if shown and not _FILE.fullmatch(shown):
            lines.append(f"{INFOBOX}{name}: {shown}")
        lines += inner
    return "\n" + "\n".join(lines) + "\n"


# --- What a template shows ----------------------------------------------------------------------


def _some(given: Arguments, *names: str) -> list[str]:
    """The arguments of these names that are given and not empty."""
    return [given[name] for name in names if given.get(name)]


def _first_of(*names: str) -> Render:
    """A template that shows the first of these arguments that is given."""
    return lambda given: next(iter(_some(given, *names)), "")


def _quote(given: Arguments) -> str:
    """A paragraph, and who said it as another."""
    by = ", ".join(_some(given, "author", "sign", "by", "source", "title"))
    if not by and given.get("1") and not (given.get("text") or given.get("quote")):
        by = ", ".join(_some(given, "2", "3"))
    quote = _first_of("text", "quote", "quotetext", "1")(given)
    return f"\n\n{quote}\n\n" + (f"— {by}\n\n" if by and quote else "")


def _places(given: Arguments) -> list[str]:
    """The arguments without a name."""
    return [v for k, v in given.items() if k.isdigit() and v]


def _joined(given: Arguments) -> str:
    lines = [line for v in _places(given) for line in _LIST_MARKS.sub("", v).split("\n")]
    return ", ".join(s for s in (line.strip() for line in lines) if s)


def _whole(given: Arguments) -> str:
    shown = _first_of("content", "2", "1")(given)
    return "\n" if _WIDTH.fullmatch(shown) else f"\n{shown}\n"


def _titled(given: Arguments) -> str:
    title, items = given.get("title", ""), _joined(given)
    return f"{title}: {items}" if title and items else title or items


def _measure(given: Arguments) -> str:
    """`{{convert|5|km|mi}}`, `{{convert|6|ft|2|in|m}}`, `{{cvt|5|to|10|km}}`: as it is given."""
    words = _places(given)
    shown: list[str] = words[:1]
    for n, word in enumerate(words[1:], 1):
        if word in _BETWEEN and words[n + 1 :]:
            shown.append(_BETWEEN[word])
        elif shown[-1] in _BETWEEN.values():
            shown.append(word)
        else:
            shown.append(f" {_UNITS.get(word, word)}")
            small = words[n + 1 : n + 3]
            if word in _LARGE and small[1:] == [_LARGE[word]]:
                shown.append(f" {small[0]} {small[1]}")
            break
    mid = words[-1] if given.get("adj") == "mid" and words[-1:] != shown else ""
    return "".join(shown) + mid


def _season(page: str, given: Arguments) -> str:
    """`{{nbay|1998}}`: the season of a league, linked; `page` is the title with `{year}`."""
    year = given.get("1", "")
    if not (year.isdecimal() and len(year) == 4):
        return year
    after = str(int(year) + 1)
    following = after if after.endswith("00") else after[2:]
    shown = f"{year}–{following}" if "{next}" in page else year
    part = given.get("2", "").lower()
    if part == "full":
        return _link(page.format(year=year, next=following))
    label = {"start": year, "end": after}.get(part, shown) if "{next}" in page else year
    return _link(page.format(year=year, next=following), label)


def _ship(prefix: str, given: Arguments) -> str:
    """`{{USS|Enterprise|CVN-65|6}}`; the third argument says which of the parts are shown."""
    name, number, form = (given.get(k, "") for k in ("1", "2", "3"))
    own = f"{prefix} {name}".strip()
    shown = {
        "1": number,
        "2": name,
        "3": f"{name} ({number})",
        "4": f"{prefix} {number}",
        "5": f"{prefix} {number}",
        "6": own,
    }
    title = f"{own} ({number})" if number else own
    return _link(title, (form and number and shown.get(form)) or (form == "2" and name) or "")


def _any_ship(given: Arguments) -> str:
    """`{{ship|Japanese battleship|Yamato}}`: the first argument is the prefix."""
    return _ship(given.get("1", ""), {str(n): given.get(str(n + 1), "") for n in (1, 2, 3)})


def _sortname(given: Arguments) -> str:
    name = f"{given.get('1', '')} {given.get('2', '')}".strip()
    if given.get("nolink"):
        return name
    target = given.get("3") or (f"{name} ({given['dab']})" if given.get("dab") else name)
    return _link(target, name)


def _nihongo(given: Arguments) -> str:
    inside = ", ".join(_some(given, "2", "3"))
    name = given.get("1", "")
    return f"{name} ({inside})" if name and inside else name or inside


def _marriage(given: Arguments) -> str:
    """`Jane Roe (m. 1990; div. 2001)`; or the two years alone."""
    begun, ended = given.get("2", ""), given.get("3", "")
    how = given.get("end") or given.get("reason") or given.get("4", "")
    how = _ENDS.get(how.lower(), how)
    name = given.get("1", "")
    if ended and not how:
        times = f"m. {begun}–{ended}" if begun else f"ended {ended}"
    else:
        parts = [f"m. {begun}"] * bool(begun) + [f"{how} {ended}"] * bool(ended)
        times = "; ".join(parts)
    return f"{name} ({times})".strip() if times else name


def _written(year: str, month: str = "", day: str = "", *, day_first: bool = False) -> str:
    """`March 4, 1960`, `4 March 1960`, `March 1960` or `1960`; what is no number stays as it is."""
    year, month, day = year.strip(), month.strip(), day.strip()
    number = int(month) if month.isdecimal() else MONTH_NUMBER.get(month.lower().rstrip("."), 0)
    name = MONTHS[number - 1] if 1 <= number <= 12 else month
    day = day.lstrip("0")
    if not name:
        return year
    if not day:
        return f"{name} {year}".strip()
    if day_first:
        return f"{day} {name} {year}".strip()
    return f"{name} {day}, {year}" if year else f"{name} {day}"


def _day_first(given: Arguments) -> bool:
    return given.get("df", "").lower() in ("y", "yes", "1", "true")


def _iso(text: str) -> list[str]:
    """The parts of `1960-03-04`; else the text alone."""
    parts = text.strip().split("-")
    good = len(parts) in (2, 3) and all(p.isdecimal() for p in parts) and len(parts[0]) == 4
    return parts if good else [text]


def _date(given: Arguments) -> str:
    """`{{birth date|1960|3|4}}`, `{{start date|1960-03-04}}`, `{{birth-date|4 March 1960}}`."""
    parts = [given.get(k, "") for k in ("1", "2", "3")]
    if not parts[1] or "-" in parts[0]:
        parts = _iso(parts[0])
    elif parts[1].isdecimal() and int(parts[1]) > 12:
        parts = [parts[0], "", ""]  # {{death year and age|1990|1920}}
    elif not parts[0].strip()[:1].isdigit() or not (parts[1].isalpha() or parts[1].isdecimal()):
        return parts[0]
    return _written(*parts, day_first=_day_first(given))


def _stretch(given: Arguments) -> str:
    """`{{start and end dates|1990|5|6|1995|7|8}}`."""
    parts = [given.get(str(n), "") for n in range(1, 7)]
    ends = [_written(*parts[n : n + 3], day_first=_day_first(given)) for n in (0, 3)]
    return " – ".join(e for e in ends if e)


def _sortable(given: Arguments) -> str:
    """`{{dts|1960|3|4}}`, `{{dts|4 March 1960}}`, `{{dts|format=dmy|1960|3|4}}`."""
    day_first = given.get("format", "").startswith("dm")
    if given.get("2"):
        return _written(given.get("1", ""), given["2"], given.get("3", ""), day_first=day_first)
    return _written(*_iso(given.get("1", "")), day_first=day_first)


def _reign(given: Arguments) -> str:
    word = "reigned" if given.get("pre") or given.get("label") else "r."
    return f"{word} " + "–".join(given.get(k, "") for k in ("1", "2")) if given.get("1") else word


def _as_of(given: Arguments) -> str:
    if given.get("alt"):
        return given["alt"]
    start = "since" if given.get("since") else "as of"
    start = start if given.get("lc") else start.capitalize()
    day_first = given.get("df", "dmy").lower() not in ("us", "mdy")
    parts = (given.get(k, "") for k in ("1", "2", "3"))
    return f"{start} {_written(*parts, day_first=day_first)}{given.get('post', '')}"


_RENDER: dict[str, Render] = {
    "date": _date,
    "sortable": _sortable,
    "circa": lambda given: " – ".join(f"c. {y}" for y in _some(given, "1", "2")) or "c.",
    "reign": _reign,
    "as_of": _as_of,
    "stretch": _stretch,
    "old_style": lambda given: " ".join(_some(given, "1", "2")),
    "years": lambda given: "–".join(_some(given, "1", "2")),
    "first": lambda given: given.get("1", ""),
    "second": lambda given: given.get("2", ""),
    "last": _first_of("3", "2", "1"),
    "either": _first_of("2", "1"),
    "quote": _quote,
    "titled": _titled,
    "together": lambda given: "".join(_places(given)),
    "any_ship": _any_ship,
    "link": lambda given: _link(given.get("1", ""), given.get("2", "")),
    "flagcountry": partial(flags.flag, spelt=True),
    "joined": _joined,
    "whole": _whole,
    "convert": _measure,
    "flag": flags.flag,
    "sortname": _sortname,
    "other_language": lambda given: _link(
        given.get("en") or given.get("1", ""), given.get("lt", "")
    ),
    "nihongo": _nihongo,
    "marriage": _marriage,
}
_WITH_TEXT: dict[str, Callable[[str, Arguments], str]] = {
    "constant": lambda text, given: text,
    "before": lambda text, given: text + given.get("1", ""),
    "season": _season,
    "ship": _ship,
}


def _templates() -> Iterator[tuple[str, Render]]:
    """The templates of `templates.yaml`: name in small letters and function."""
    listed = read_texts(resource("builders/wikipedia/templates.yaml"))
    for kind, names in listed.items():
        if kind in _RENDER:
            yield from ((name, _RENDER[kind]) for name in _names(names))
        else:
            for text, own in names.items():
                render = partial(_WITH_TEXT[kind], text)
                yield from ((name, render) for name in _names(own))

    yield from ((name, partial(flags.team, page)) for name, page in flags.TEAMS.items())
    yield from ((name, partial(flags.force, page)) for name, page in flags.FORCES.items())


def _names(text: str) -> Sequence[str]:
    return [" ".join(name.split()) for name in text.split("|")]


_INLINE = dict(_templates())
"""The function of each template, by its name in small letters; others show nothing."""
