"""Templates of flags: the country, team or force that is named beside the flag (`flags.yaml`)."""

from factdrift.builders.core.files import read_texts, resource

_LISTED = read_texts(resource("builders/wikipedia/flags.yaml"))


def _countries() -> dict[str, tuple[str, str]]:
    """Map each code and each shown name of a country to its shown name and its page's title."""
    countries: dict[str, tuple[str, str]] = {}
    for country, codes in _LISTED["countries"].items():
        name, _, title = (part.strip() for part in country.partition("|"))
        name_and_title = name, title or name
        countries[name] = name_and_title
        countries |= dict.fromkeys(codes.split(), name_and_title)
    return countries


_COUNTRIES = _countries()
CODES = frozenset(c for c in _COUNTRIES if c.isupper() and c.isalnum())
"""Codes that are templates themselves: `{{USA}}`."""
TEAMS = {name: page for page, names in _LISTED["teams"].items() for name in names.split(" | ")}
"""Title of a national team's page, by template."""
FORCES: dict[str, str] = _LISTED["forces"]
"""Title of an armed force's page, by template."""


def country(name: str) -> tuple[str, str]:
    """Return the name that a page shows for a country, and the title of the country's page.

    `name` is a code or a name. A country that is not listed stands for itself in both.
    """
    return _COUNTRIES.get(name, (name, name))


def wiki_link(target: str, label: str = "") -> str:
    """A link as wikitext; where there is no target the label alone."""
    if not target:
        return label
    if "[[" in target:  # a title has no link: what is given is shown as it is, and once
        return label or target
    return f"[[{target}|{label}]]" if label and label != target else f"[[{target}]]"


def flag(arguments: dict[str, str], *, spelt: bool = False) -> str:
    """`{{flag|FRA}}` shows what is given; `spelt` (`{{flagcountry|FRA}}`) the country's name."""
    name = arguments.get("1", "")
    if "[[" in name:
        return name
    shown_name, page_title = country(name)
    return wiki_link(page_title, arguments.get("name") or (shown_name if spelt else name))


def team(title_pattern: str, arguments: dict[str, str]) -> str:
    """`{{fb|ENG}}`: the country, linked to its team; `page` is the title with `{country}`."""
    first_argument, second_argument = arguments.get("1", ""), arguments.get("2", "")
    has_age = "{age}" in title_pattern
    country_name, _ = country(second_argument if has_age else first_argument)
    if not country_name or "[[" in country_name:
        return country_name
    return wiki_link(
        title_pattern.format(country=country_name, age=first_argument),
        arguments.get("name") or country_name,
    )


def force(title_pattern: str, arguments: dict[str, str]) -> str:
    """`{{army|United Kingdom}}`: the British Army."""
    country_name, _ = country(arguments.get("1", ""))
    if not country_name or "[[" in country_name:
        return country_name
    page_title = title_pattern.format(
        country=_LISTED["forces_called"].get(country_name, country_name)
    )
    page_title = _LISTED["forces_named"].get(page_title, page_title)
    return wiki_link(page_title, arguments.get("name", ""))
