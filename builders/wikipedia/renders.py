"""Functions that return the text which a template of `templates.yaml` shows, from its arguments.

Dates are written out as readers of the page see them. An age is worked out only where the template
gives both of its days.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from factdrift.builders.core.files import read_texts, resource
from factdrift.builders.core.limits import whole_number
from factdrift.builders.text.dates import MONTH_NUMBER, MONTHS
from factdrift.builders.wikipedia import flags
from factdrift.builders.wikipedia.flags import wiki_link

Arguments = dict[str, str]
"""The arguments of a template, by name or place (`1`, `2`, …)."""
Render = Callable[[Arguments], str]
# `{{nowrap|20em}}`-like arguments that say how wide, not what: `20em`, `50%`.
_WIDTH = re.compile(r"[\d.]+ *(?:em|px|%)?")
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
    "±": " ± ",
    "&": " & ",
    "×": " × ",
    "xx": " × ",
    "*": " × ",
    "to(-)": " to ",
    "by(-)": " by ",
    ",": ", ",
    "+": " + ",
}
"""The word or sign between two values of a measure."""
_UNITS = {"C": "°C", "F": "°F", "sqmi": "sq mi"}
# `e6km2`: millions of square kilometres.
_POWER_UNIT = re.compile(r"e(3|6|9|12)([a-zA-Z].*)")
_POWERS = {"3": "thousand", "6": "million", "9": "billion", "12": "trillion"}
_LARGE = {"ft": "in", "lb": "oz", "st": "lb", "mi": "ft", "yd": "ft"}
"""Units that a smaller one may follow: `6 ft 2 in`."""
_ENDS = {"divorced": "div.", "divorce": "div.", "div": "div.", "died": "d.", "death": "d."}


def _format_number(value: str) -> str:
    """`{{formatnum:12345}}`."""
    whole, point, rest = value.partition(".")
    number = whole_number(whole) if whole.isdecimal() else None
    return value if number is None else f"{number:,}{point}{rest}"


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
            pieces.append(f" {_unit(unit_or_value)}")
            smaller_unit = words[place + 1 : place + 3]
            if unit_or_value in _LARGE and smaller_unit[1:] == [_LARGE[unit_or_value]]:
                pieces.append(f" {smaller_unit[0]} {smaller_unit[1]}")
            break
    middle_word = words[-1] if arguments.get("adj") == "mid" and words[-1:] != pieces else ""
    return "".join(pieces) + middle_word


def _unit(code: str) -> str:
    if power_unit := _POWER_UNIT.fullmatch(code):
        return f"{_POWERS[power_unit[1]]} {_unit(power_unit[2])}"
    return _UNITS.get(code, code)


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
    extra_names = ("4" if arguments.get("4") else "extra",)
    in_brackets = ", ".join(_given_values(arguments, "2", "3", *extra_names))
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
    named_month = MONTH_NUMBER.get(month.lower().rstrip("."))
    month_number = (whole_number(month) if month.isdecimal() else named_month) or 0
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


def date_text(arguments: Arguments) -> str:
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
    date_parts = _iso(arguments.get("1") or arguments.get("3", ""))
    return _format_date(*date_parts, day_first=day_first)


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


def full_age(arguments: Arguments) -> str:
    """`{{age|1960|3|4|2000|1|1}}` is `39`; an age today is none of a page's."""
    texts = [arguments.get(str(place), "") for place in range(1, 7)]
    if not all(text.isdecimal() and len(text) < 5 for text in texts):
        return ""
    year, month, day, later_year, later_month, later_day = map(int, texts)
    return str(later_year - year - ((later_month, later_day) < (month, day)))


def _birth_or_death(arguments: Arguments) -> str:
    """`{{BirthDeathAge|B|1960|3|4|2001|6|5}}`: the birth; with another first argument the death."""
    first_place = 2 if arguments.get("1", "").upper().startswith("B") else 5
    date_parts = [arguments.get(str(first_place + place), "") for place in range(3)]
    return _format_date(*date_parts, day_first=_day_first(arguments)) if date_parts[0] else ""


def _fraction(arguments: Arguments) -> str:
    """`{{frac|1|2}}` is `1/2`, `{{frac|3|1|2}}` is `3 1/2`, `{{frac|2}}` is `1/2`."""
    numbers = _unnamed_values(arguments)
    if len(numbers) == 1:
        numbers = ["1", *numbers]
    return " ".join([*numbers[:-2], "/".join(numbers[-2:])])


def _ordinal(arguments: Arguments) -> str:
    """`{{ordinal|3}}` is `3rd`."""
    number = arguments.get("1", "")
    if not number.isdecimal():
        return number
    ending = {"1": "st", "2": "nd", "3": "rd"}.get(number[-1], "th")
    return number + ("th" if number[-2:-1] == "1" else ending)


def _height(arguments: Arguments) -> str:
    """`{{height|ft=5|in=11}}`, `{{height|m=1.80}}`."""
    measures = [
        f"{arguments[unit]} {unit}"
        for unit in ("m", "cm", "ft", "in", "st", "lb", "kg")
        if arguments.get(unit)
    ]
    return " ".join(measures)


_SCRIPTS = {
    "c": "Chinese", "t": "traditional Chinese", "s": "simplified Chinese", "p": "pinyin",
    "hp": "pinyin", "w": "Wade–Giles", "j": "Jyutping", "cy": "Yale", "l": "lit.", "tr": "",
}  # fmt: skip
_KOREAN_SCRIPTS = {"hangul": "Korean", "hanja": "Hanja", "rr": "RR", "mr": "MR", "lit": "lit."}


def _in_scripts(scripts: dict[str, str], arguments: Arguments) -> str:
    """`{{zh|c=川杯|p=Kawa}}`: each form behind the name of its script, as the page shows them."""
    forms = [
        f"{script}: {arguments[name]}".removeprefix(": ")
        for name, script in scripts.items()
        if arguments.get(name)
    ]
    return "; ".join(forms) or _nihongo(arguments)


def _value(arguments: Arguments) -> str:
    """`{{val|3.5|0.2|u=km}}` is `3.5 ± 0.2 km`."""
    number = " ± ".join(_given_values(arguments, "1", "2")[:2])
    number = f"{arguments.get('p', '')}{number}{arguments.get('s', '')}"
    power = f"× 10^{arguments['e']}" if arguments.get("e") else ""
    unit = _first_of("u", "ul")(arguments)
    per = _first_of("up", "upl")(arguments)
    return " ".join(filter(None, (number, power, f"{unit}/{per}" if per else unit)))


def _birth_by_age(arguments: Arguments) -> str:
    """`{{birth based on age as of date|40|2000|1|1}}` is `1959 or 1960`."""
    age, year = arguments.get("1", ""), arguments.get("2", "")
    if not (age.isdecimal() and year.isdecimal() and len(age) < 4 and len(year) < 5):
        return ""
    return f"{int(year) - int(age) - 1} or {int(year) - int(age)}"


def _author_year(arguments: Arguments) -> str:
    """`{{harvtxt|Boole|Jeffrey|1974}}` in a sentence: `Boole & Jeffrey (1974)`."""
    *authors, year = _unnamed_values(arguments) or [""]
    return f"{' & '.join(authors)} ({year})" if authors else year


def _based_on(arguments: Arguments) -> str:
    return " by ".join(_given_values(arguments, "1", "2"))


def _bible_verse(arguments: Arguments) -> str:
    """`{{bibleverse||Mark|3:25|NIV}}`: book and verse; the number of the book may be empty."""
    values = [arguments.get(place, "") for place in ("1", "2", "3")]
    verse_end = next((index for index, value in enumerate(values) if ":" in value), 1)
    return " ".join(value for value in values[: verse_end + 1] if value)


def _music_sign(arguments: Arguments) -> str:
    name = arguments.get("1", "")
    return {"flat": "♭", "b": "♭", "sharp": "♯", "#": "♯", "natural": "♮"}.get(name, name)


def _as_written(arguments: Arguments) -> str:
    return " ".join([*_given_values(arguments, "1"), "[sic]"])


def _predecessor(arguments: Arguments) -> str:
    """`{{s-bef|before=A|rows=2}}`: the first cell of a row in a table of offices."""
    return _office_cell("Preceded by", arguments, "before", "as")


def _successor(arguments: Arguments) -> str:
    return _office_cell("Succeeded by", arguments, "after", "as") + "\n|-\n"


def _held_office(arguments: Arguments) -> str:
    return _office_cell("", arguments, "title", "years", "dates")


def _office_cell(label: str, arguments: Arguments, *names: str) -> str:
    values = ", ".join(value.replace("\n", " ") for value in _given_values(arguments, *names))
    rows = arguments.get("rows", "")
    span = f" rowspan={rows} |" if rows.isdecimal() else ""
    return f"\n|{span} {label} {values}".rstrip() if values else "\n| "


def _succession(arguments: Arguments) -> str:
    """`{{succession box|before=A|title=Mayor|years=1990|after=B}}`: a row of such a table."""
    cells = _predecessor(arguments) + _held_office(arguments) + _successor(arguments)
    return "\n{|" + cells + "|}\n"


def _medal(label: str, arguments: Arguments) -> str:
    """`{{MedalGold|1996 Atlanta|Singles}}`: a line of its own in a list of medals."""
    values = ", ".join(_unnamed_values(arguments))
    return f"\n{label}: {values}\n" if label and values else f"\n{values}\n"


def _any_medal(arguments: Arguments) -> str:
    """`{{medal|Gold|1996 Atlanta|Singles}}`, `{{medal|Sport|Tennis}}`; `{{medal|Top}}` is none."""
    first, *values = _unnamed_values(arguments) or [""]
    kind = first.capitalize()
    if not values or kind not in ("Gold", "Silver", "Bronze", "Sport", "Country", "Competition"):
        return "\n"
    return _medal(
        f"{kind} medal" if kind in ("Gold", "Silver", "Bronze") else "",
        dict(zip("123456789", values, strict=False)),
    )


_RENDER: dict[str, Render] = {
    "age": full_age,
    "birth_or_death": _birth_or_death,
    "fraction": _fraction,
    "ordinal": _ordinal,
    "height": _height,
    "chinese": partial(_in_scripts, _SCRIPTS),
    "korean": partial(_in_scripts, _KOREAN_SCRIPTS),
    "value": _value,
    "birth_by_age": _birth_by_age,
    "author_year": _author_year,
    "based_on": _based_on,
    "bible_verse": _bible_verse,
    "music_sign": _music_sign,
    "as_written": _as_written,
    "predecessor": _predecessor,
    "held_office": _held_office,
    "successor": _successor,
    "succession": _succession,
    "any_medal": _any_medal,
    "date": date_text,
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
    "medal": _medal,
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


RENDER_BY_NAME = dict(_templates())
"""The function of each template, by its name in small letters; others show nothing."""
FUNCTIONS: dict[str, Callable[[str], str]] = {
    "formatnum": _format_number,
    "lc": str.lower,
    "uc": str.upper,
    "lcfirst": lambda value: value[:1].lower() + value[1:],
    "ucfirst": lambda value: value[:1].upper() + value[1:],
}
"""What is written as `{{lc:TEXT}}`."""
