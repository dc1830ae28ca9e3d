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
from factdrift.builders.core.limits import whole_number
from factdrift.builders.text.dates import MONTH_NUMBER, MONTHS
from factdrift.builders.wikipedia import flags
from factdrift.builders.wikipedia.flags import wiki_link
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
# No braces but single ones; possessive, so that the time is linear in the text.
_BODY = r"((?:[^{}]++|\{(?!\{)|\}(?!\}))*+)"
# `{{convert|5|km}}` or the parameter `{{{1|}}}`, without another template inside.
_INNERMOST = re.compile(rf"\{{\{{\{{{_BODY}\}}\}}\}}|\{{\{{{_BODY}\}}\}}")
# Bars between arguments; those inside links are taken with their link.
_PIPES = re.compile(r"\[\[[^\[\]]*+\]\]|\|")
_LOOSE = re.compile(r"\{\{\{?|\}\}\}?")
# `infobox person`, `football club infobox`, `taxobox`; `navbox` is none.
_BOX = re.compile(
    r"infobox\b.*|.*\binfobox|geobox\b.*|taxobox|speciesbox|automatic taxobox|subspeciesbox"
)
# A value that is a picture alone: `Leeds.jpg`.
_FILE = re.compile(r"[^|\n]+\.(?:jpe?g|png|svg|gif|webp|tiff?|ogg|oga|webm|djvu|pdf)", re.I)
_DEPTH = 40
"""Levels of templates in templates that are read; MediaWiki itself stops at 40."""
# `{{nowrap|20em}}`-like arguments that say how wide, not what: `20em`, `50%`.
_WIDTH = re.compile(r"[\d.]+ *(?:em|px|%)?")
_PAGE_NAMES = ("pagename", "fullpagename", "basepagename", "subpagename")
# The marks of list items: `* Leeds` is `Leeds`.
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
"""The word or sign between two values of a measure."""
_UNITS = {"C": "°C", "F": "°F", "sqmi": "sq mi", "e6km2": "million km2", "e6sqmi": "million sq mi"}
_LARGE = {"ft": "in", "lb": "oz", "st": "lb", "mi": "ft", "yd": "ft"}
"""Units that a smaller one may follow: `6 ft 2 in`."""
_ENDS = {"divorced": "div.", "divorce": "div.", "div": "div.", "died": "d.", "death": "d."}


def without_templates(text: str, page_title: str) -> str:
    """Text with every template replaced by what it shows; braces that do not pair are removed."""
    if "{{" not in text and "}}" not in text:
        return text
    for _ in range(_DEPTH):
        text, replaced_count = _INNERMOST.subn(lambda match: _template(match, page_title), text)
        if not replaced_count:
            break
    text = _LOOSE.sub("", text)
    return text.replace(PIPE, "|").replace(EQUALS, "=")


def _template(match: re.Match[str], page_title: str) -> str:
    parameter, body = match.groups()
    if body is None:
        return str(parameter).partition("|")[2]
    head, _, arguments_text = body.partition("|")
    code, template_name = _template_name(head)
    if template_name in ("!", "="):
        return PIPE if template_name == "!" else EQUALS
    render = _INLINE.get(template_name)
    if render is not None:
        return render(_arguments(arguments_text))
    if code in flags.CODES:
        return flags.flag({"1": code}, spelt=True)
    if template_name in _PAGE_NAMES:
        return page_title
    if template_name.startswith("lang-"):
        return _arguments(arguments_text).get("1", "")
    if _BOX.fullmatch(template_name):
        return _infobox(_arguments(arguments_text))
    word, _, value = code.partition(":")
    return _format_number(value.strip()) if word.lower() == "formatnum" else ""


@lru_cache(4096)
def _template_name(head: str) -> tuple[str, str]:
    """The name of a template as it is written, and in small letters."""
    code = " ".join(head.replace("_", " ").split())
    return code, code.lower()


def _format_number(value: str) -> str:
    """`{{formatnum:12345}}`."""
    whole, point, rest = value.partition(".")
    number = whole_number(whole) if whole.isdecimal() else None
    return value if number is None else f"{number:,}{point}{rest}"


def _arguments(arguments_text: str) -> Arguments:
    """The arguments after a template's name; those without a name are `1`, `2`, …"""
    arguments: Arguments = {}
    next_place = 0
    for part in _parts(arguments_text):
        argument_name, equals, argument_value = part.partition("=")
        if equals and not ("[[" in argument_name or "<" in argument_name):
            arguments[" ".join(argument_name.split())] = argument_value.strip()
        else:
            next_place += 1
            arguments[str(next_place)] = part.strip()
    return arguments


def _parts(arguments_text: str) -> list[str]:
    if "[[" not in arguments_text:
        return arguments_text.split("|")
    argument_parts, part_start = [], 0
    for bar in _PIPES.finditer(arguments_text):
        if bar[0] == "|":
            argument_parts.append(arguments_text[part_start : bar.start()])
            part_start = bar.end()
    return [*argument_parts, arguments_text[part_start:]]


def _infobox(arguments: Arguments) -> str:
    shown_arguments = {name: value for name, value in arguments.items() if is_shown(name)}
    lines: list[str] = []
    for name, value in in_units(shown_arguments):
        inner_lines: list[str] = []
        own_lines: list[str] = []
        for line in value.split("\n"):
            (inner_lines if line.startswith(INFOBOX) else own_lines).append(line)
        shown_value = BREAK.join(
            stripped
            for stripped in (line.strip().lstrip("*#:; ") for line in own_lines)
            if stripped
        )
        if shown_value and not _FILE.fullmatch(shown_value):
            lines.append(f"{INFOBOX}{name}: {shown_value}")
        lines += inner_lines
    return "\n" + "\n".join(lines) + "\n"


# --- What a template shows ----------------------------------------------------------------------


def _given_values(arguments: Arguments, *names: str) -> list[str]:
    """The arguments of these names that are given and not empty."""
    return [arguments[name] for name in names if arguments.get(name)]


def _first_of(*names: str) -> Render:
    """A template that shows the first of these arguments that is given."""
    return lambda arguments: next(iter(_given_values(arguments, *names)), "")


def _quote(arguments: Arguments) -> str:
    """A paragraph, and who said it as another."""
    speakers = ", ".join(_given_values(arguments, "author", "sign", "by", "source", "title"))
    if (
        not speakers
        and arguments.get("1")
        and not (arguments.get("text") or arguments.get("quote"))
    ):
        speakers = ", ".join(_given_values(arguments, "2", "3"))
    quote = _first_of("text", "quote", "quotetext", "1")(arguments)
    return f"\n\n{quote}\n\n" + (f"— {speakers}\n\n" if speakers and quote else "")


def _unnamed_values(arguments: Arguments) -> list[str]:
    """The arguments without a name."""
    return [value for name, value in arguments.items() if name.isdigit() and value]


def _comma_separated(arguments: Arguments) -> str:
    lines = [
        line
        for value in _unnamed_values(arguments)
        for line in _LIST_MARKS.sub("", value).split("\n")
    ]
    return ", ".join(stripped for stripped in (line.strip() for line in lines) if stripped)


def _on_own_line(arguments: Arguments) -> str:
    shown_text = _first_of("content", "2", "1")(arguments)
    return "\n" if _WIDTH.fullmatch(shown_text) else f"\n{shown_text}\n"


def _titled_list(arguments: Arguments) -> str:
    list_title, items = arguments.get("title", ""), _comma_separated(arguments)
    return f"{list_title}: {items}" if list_title and items else list_title or items


def _convert(arguments: Arguments) -> str:
    """`{{convert|5|km|mi}}`, `{{convert|6|ft|2|in|m}}`, `{{cvt|5|to|10|km}}`: as it is given."""
    words = _unnamed_values(arguments)
    pieces: list[str] = words[:1]
    for place, unit_or_value in enumerate(words[1:], 1):
        if unit_or_value in _BETWEEN and words[place + 1 :]:
            pieces.append(_BETWEEN[unit_or_value])
        elif pieces[-1] in _BETWEEN.values():
            pieces.append(unit_or_value)
        else:
            pieces.append(f" {_UNITS.get(unit_or_value, unit_or_value)}")
            smaller_unit = words[place + 1 : place + 3]
            if unit_or_value in _LARGE and smaller_unit[1:] == [_LARGE[unit_or_value]]:
                pieces.append(f" {smaller_unit[0]} {smaller_unit[1]}")
            break
    middle_word = words[-1] if arguments.get("adj") == "mid" and words[-1:] != pieces else ""
    return "".join(pieces) + middle_word


def _season(title_pattern: str, arguments: Arguments) -> str:
    """`{{nbay|1998}}`: the season of a league, linked; `page` is the title with `{year}`."""
    first_year = arguments.get("1", "")
    if not (first_year.isdecimal() and len(first_year) == 4):
        return first_year
    next_year = str(int(first_year) + 1)
    short_next_year = next_year if next_year.endswith("00") else next_year[2:]
    season_label = f"{first_year}–{short_next_year}" if "{next}" in title_pattern else first_year
    wanted_part = arguments.get("2", "").lower()
    if wanted_part == "full":
        return wiki_link(title_pattern.format(year=first_year, next=short_next_year))
    link_text = (
        {"start": first_year, "end": next_year}.get(wanted_part, season_label)
        if "{next}" in title_pattern
        else first_year
    )
    return wiki_link(title_pattern.format(year=first_year, next=short_next_year), link_text)


def _ship(prefix: str, arguments: Arguments) -> str:
    """`{{USS|Enterprise|CVN-65|6}}`; the third argument says which of the parts are shown."""
    name, hull_number, shown_parts = (arguments.get(place, "") for place in ("1", "2", "3"))
    full_name = f"{prefix} {name}".strip()
    texts_by_form = {
        "1": hull_number,
        "2": name,
        "3": f"{name} ({hull_number})",
        "4": f"{prefix} {hull_number}",
        "5": f"{prefix} {hull_number}",
        "6": full_name,
    }
    page_title = f"{full_name} ({hull_number})" if hull_number else full_name
    return wiki_link(
        page_title,
        (shown_parts and hull_number and texts_by_form.get(shown_parts))
        or (shown_parts == "2" and name)
        or "",
    )


def _any_ship(arguments: Arguments) -> str:
    """`{{ship|Japanese battleship|Yamato}}`: the first argument is the prefix."""
    return _ship(
        arguments.get("1", ""),
        {str(place): arguments.get(str(place + 1), "") for place in (1, 2, 3)},
    )


def _sortname(arguments: Arguments) -> str:
    full_name = f"{arguments.get('1', '')} {arguments.get('2', '')}".strip()
    if arguments.get("nolink"):
        return full_name
    link_target = arguments.get("3") or (
        f"{full_name} ({arguments['dab']})" if arguments.get("dab") else full_name
    )
    return wiki_link(link_target, full_name)


def _nihongo(arguments: Arguments) -> str:
    in_brackets = ", ".join(_given_values(arguments, "2", "3"))
    shown_name = arguments.get("1", "")
    return (
        f"{shown_name} ({in_brackets})" if shown_name and in_brackets else shown_name or in_brackets
    )


def _marriage(arguments: Arguments) -> str:
    """`Jane Roe (m. 1990; div. 2001)`; or the two years alone."""
    start_year, end_year = arguments.get("2", ""), arguments.get("3", "")
    end_reason = arguments.get("end") or arguments.get("reason") or arguments.get("4", "")
    end_reason = _ENDS.get(end_reason.lower(), end_reason)
    spouse_name = arguments.get("1", "")
    if end_year and not end_reason:
        times = f"m. {start_year}–{end_year}" if start_year else f"ended {end_year}"
    else:
        parts = [f"m. {start_year}"] * bool(start_year) + [f"{end_reason} {end_year}"] * bool(
            end_year
        )
        times = "; ".join(parts)
    return f"{spouse_name} ({times})".strip() if times else spouse_name


def _format_date(year: str, month: str = "", day: str = "", *, day_first: bool = False) -> str:
    """`March 4, 1960`, `4 March 1960`, `March 1960` or `1960`; what is no number stays as it is."""
    year, month, day = year.strip(), month.strip(), day.strip()
    month_number = (
        whole_number(month) if month.isdecimal() else MONTH_NUMBER.get(month.lower().rstrip("."), 0)
    ) or 0
    month_name = MONTHS[month_number - 1] if 1 <= month_number <= 12 else month
    day = day.lstrip("0")
    if not month_name:
        return year
    if not day:
        return f"{month_name} {year}".strip()
    if day_first:
        return f"{day} {month_name} {year}".strip()
    return f"{month_name} {day}, {year}" if year else f"{month_name} {day}"


def _day_first(arguments: Arguments) -> bool:
    return arguments.get("df", "").lower() in ("y", "yes", "1", "true")


def _iso(text: str) -> list[str]:
    """The parts of `1960-03-04`; else the text alone."""
    parts = text.strip().split("-")
    is_iso = len(parts) in (2, 3) and all(part.isdecimal() for part in parts) and len(parts[0]) == 4
    return parts if is_iso else [text]


def _may_be_month(digits: str) -> bool:
    number = whole_number(digits)
    return number is not None and number <= 12


def _date(arguments: Arguments) -> str:
    """`{{birth date|1960|3|4}}`, `{{start date|1960-03-04}}`, `{{birth-date|4 March 1960}}`."""
    date_parts = [arguments.get(place, "") for place in ("1", "2", "3")]
    if not date_parts[1] or "-" in date_parts[0]:
        date_parts = _iso(date_parts[0])
    elif date_parts[1].isdecimal() and not _may_be_month(date_parts[1]):
        date_parts = [date_parts[0], "", ""]  # {{death year and age|1990|1920}}
    elif not date_parts[0].strip()[:1].isdigit() or not (
        date_parts[1].isalpha() or date_parts[1].isdecimal()
    ):
        return date_parts[0]
    return _format_date(*date_parts, day_first=_day_first(arguments))


def _date_range(arguments: Arguments) -> str:
    """`{{start and end dates|1990|5|6|1995|7|8}}`."""
    date_parts = [arguments.get(str(place), "") for place in range(1, 7)]
    both_ends = [
        _format_date(*date_parts[place : place + 3], day_first=_day_first(arguments))
        for place in (0, 3)
    ]
    return " – ".join(end_text for end_text in both_ends if end_text)


def _sortable(arguments: Arguments) -> str:
    """`{{dts|1960|3|4}}`, `{{dts|4 March 1960}}`, `{{dts|format=dmy|1960|3|4}}`."""
    day_first = arguments.get("format", "").startswith("dm")
    if arguments.get("2"):
        return _format_date(
            arguments.get("1", ""), arguments["2"], arguments.get("3", ""), day_first=day_first
        )
    return _format_date(*_iso(arguments.get("1", "")), day_first=day_first)


def _reign(arguments: Arguments) -> str:
    word = "reigned" if arguments.get("pre") or arguments.get("label") else "r."
    return (
        f"{word} " + "–".join(arguments.get(place, "") for place in ("1", "2"))
        if arguments.get("1")
        else word
    )


def _as_of(arguments: Arguments) -> str:
    if arguments.get("alt"):
        return arguments["alt"]
    as_of_words = "since" if arguments.get("since") else "as of"
    as_of_words = as_of_words if arguments.get("lc") else as_of_words.capitalize()
    day_first = arguments.get("df", "dmy").lower() not in ("us", "mdy")
    date_parts = (arguments.get(place, "") for place in ("1", "2", "3"))
    return (
        f"{as_of_words} {_format_date(*date_parts, day_first=day_first)}{arguments.get('post', '')}"
    )


_RENDER: dict[str, Render] = {
    "date": _date,
    "sortable": _sortable,
    "circa": lambda arguments: (
        " – ".join(f"c. {year}" for year in _given_values(arguments, "1", "2")) or "c."
    ),
    "reign": _reign,
    "as_of": _as_of,
    "stretch": _date_range,
    "old_style": lambda arguments: " ".join(_given_values(arguments, "1", "2")),
    "years": lambda arguments: "–".join(_given_values(arguments, "1", "2")),
    "first": lambda arguments: arguments.get("1", ""),
    "second": lambda arguments: arguments.get("2", ""),
    "last": _first_of("3", "2", "1"),
    "either": _first_of("2", "1"),
    "quote": _quote,
    "titled": _titled_list,
    "together": lambda arguments: "".join(_unnamed_values(arguments)),
    "any_ship": _any_ship,
    "link": lambda arguments: wiki_link(arguments.get("1", ""), arguments.get("2", "")),
    "flagcountry": partial(flags.flag, spelt=True),
    "joined": _comma_separated,
    "whole": _on_own_line,
    "convert": _convert,
    "flag": flags.flag,
    "sortname": _sortname,
    "other_language": lambda arguments: wiki_link(
        arguments.get("en") or arguments.get("1", ""), arguments.get("lt", "")
    ),
    "nihongo": _nihongo,
    "marriage": _marriage,
}
_WITH_TEXT: dict[str, Callable[[str, Arguments], str]] = {
    "constant": lambda text, arguments: text,
    "before": lambda text, arguments: text + arguments.get("1", ""),
    "season": _season,
    "ship": _ship,
}


def _templates() -> Iterator[tuple[str, Render]]:
    """Return the functions of the templates of `templates.yaml`, by name in small letters."""
    listed = read_texts(resource("builders/wikipedia/templates.yaml"))
    for kind, names in listed.items():
        if kind in _RENDER:
            yield from ((name, _RENDER[kind]) for name in _names(names))
        else:
            for text, template_names in names.items():
                render = partial(_WITH_TEXT[kind], text)
                yield from ((name, render) for name in _names(template_names))

    yield from ((name, partial(flags.team, page)) for name, page in flags.TEAMS.items())
    yield from ((name, partial(flags.force, page)) for name, page in flags.FORCES.items())


def _names(text: str) -> Sequence[str]:
    return [" ".join(name.split()) for name in text.split("|")]


_INLINE = dict(_templates())
"""The function of each template, by its name in small letters; others show nothing."""
