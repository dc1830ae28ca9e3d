"""Templates that show a date: written out as readers of the page see it, without an age."""

from collections.abc import Callable

_MONTHS = (
    "January February March April May June July August September October November December".split()
)
_NUMBERS = {m.lower(): n for n, m in enumerate(_MONTHS, 1)}
_NUMBERS |= {m[:3].lower(): n for n, m in enumerate(_MONTHS, 1)}


def written(year: str, month: str = "", day: str = "", *, day_first: bool = False) -> str:
    """`March 4, 1960`, `4 March 1960`, `March 1960` or `1960`; what is no number stays as it is."""
    year, month, day = year.strip(), month.strip(), day.strip()
    number = int(month) if month.isdecimal() else _NUMBERS.get(month.lower().rstrip("."), 0)
    name = _MONTHS[number - 1] if 1 <= number <= 12 else month
    day = day.lstrip("0")
    if not name:
        return year
    if not day:
        return f"{name} {year}".strip()
    if day_first:
        return f"{day} {name} {year}".strip()
    return f"{name} {day}, {year}" if year else f"{name} {day}"


def _day_first(given: dict[str, str]) -> bool:
    return given.get("df", "").lower() in ("y", "yes", "1", "true")


def _iso(text: str) -> list[str]:
    """The parts of `1960-03-04`; else the text alone."""
    parts = text.strip().split("-")
    good = len(parts) in (2, 3) and all(p.isdecimal() for p in parts) and len(parts[0]) == 4
    return parts if good else [text]


def _date(given: dict[str, str]) -> str:
    """`{{birth date|1960|3|4}}`, `{{start date|1960-03-04}}`, `{{birth-date|4 March 1960}}`."""
    parts = [given.get(k, "") for k in ("1", "2", "3")]
    if not parts[1]:
        parts = _iso(parts[0])
    elif not parts[0].strip()[:1].isdigit() or not (parts[1].isalpha() or parts[1].isdecimal()):
        return parts[0]
    return written(*parts, day_first=_day_first(given))


def _sortable(given: dict[str, str]) -> str:
    """`{{dts|1960|3|4}}`, `{{dts|4 March 1960}}`, `{{dts|format=dmy|1960|3|4}}`."""
    day_first = given.get("format", "").startswith("dm")
    if given.get("2"):
        return written(given.get("1", ""), given["2"], given.get("3", ""), day_first=day_first)
    return written(*_iso(given.get("1", "")), day_first=day_first)


def _film(given: dict[str, str]) -> str:
    """`{{film date|1960|3|4|Cannes|1960|5|6}}`: up to ten dates, each with its place."""
    shown = []
    for n in range(0, 40, 4):
        year, month, day, place = (given.get(str(n + k), "") for k in (1, 2, 3, 4))
        if year:
            text = written(year, month, day, day_first=_day_first(given))
            shown.append(f"{text} ({place})" if place else text)
    return ", ".join(shown)


def _circa(given: dict[str, str]) -> str:
    years = [given[k] for k in ("1", "2") if given.get(k)]
    return " – ".join(f"c. {y}" for y in years) or "c."


def _reign(given: dict[str, str]) -> str:
    return "r. " + "–".join(given.get(k, "") for k in ("1", "2")) if given.get("1") else "r."


def _floruit(given: dict[str, str]) -> str:
    return "fl. " + "–".join(given[k] for k in ("1", "2") if given.get(k))


def _as_of(given: dict[str, str]) -> str:
    if given.get("alt"):
        return given["alt"]
    start = "since" if given.get("since") else "as of"
    start = start if given.get("lc") else start.capitalize()
    day_first = given.get("df", "dmy").lower() not in ("us", "mdy")
    parts = (given.get(k, "") for k in ("1", "2", "3"))
    return f"{start} {written(*parts, day_first=day_first)}{given.get('post', '')}"


def _old_style(given: dict[str, str]) -> str:
    """`{{OldStyleDate|4 March|1960|21 February}}`."""
    return f"{given.get('1', '')} {given.get('2', '')}".strip()


def _table(names: str, render: Callable[[dict[str, str]], str]) -> dict[str, "_Render"]:
    return dict.fromkeys(names.split("|"), render)


_Render = Callable[[dict[str, str]], str]

DATES: dict[str, _Render] = {
    **_table(
        "birth date|birth date and age|birth-date|birth-date and age|bda|dob|death date|"
        "death date and age|death-date|death-date and age|dda|start date|start-date|end date|"
        "end-date|start date and age|start and end date|birth year and age|birth year|"
        "death year and age|death year|date|release date|released|launch date|opening date|"
        "birth date and age2|birth date2|bd|start date text|startdate|enddate|"
        "start date and years ago|end date and age|date of birth|date of death|sda|"
        "vgrelease date|published date|founded date|establishment date",
        _date,
    ),
    **_table("dts|date table sorting|dtsh|sort date", _sortable),
    **_table("film date|filmdate|television date|tv date", _film),
    **_table("circa|c.|ca.|c|ca|approx", _circa),
    **_table("reign|r.|ruled", _reign),
    **_table("floruit|fl.|fl", _floruit),
    **_table("as of|asof|since", _as_of),
    **_table("oldstyledate|oldstyledatedy", _old_style),
}
"""What each template shows, by its name in small letters."""
