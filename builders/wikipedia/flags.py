"""Templates of flags: the country, team or force that is named beside the flag (`flags.yaml`)."""

from factdrift.builders.core.files import read_texts, resource

_LISTED = read_texts(resource("builders/wikipedia/flags.yaml"))


def _countries() -> dict[str, tuple[str, str]]:
    """What is shown and the title of the page, by code and by what is shown."""
    found: dict[str, tuple[str, str]] = {}
    for country, codes in _LISTED["countries"].items():
        name, _, title = (part.strip() for part in country.partition("|"))
        about = name, title or name
        found[name] = about
        found |= dict.fromkeys(codes.split(), about)
    return found


_COUNTRIES = _countries()
CODES = frozenset(c for c in _COUNTRIES if c.isupper() and c.isalnum())
"""Codes that are templates themselves: `{{USA}}`."""
TEAMS = {name: page for page, names in _LISTED["teams"].items() for name in names.split(" | ")}
"""Title of a national team's page, by template."""
FORCES: dict[str, str] = _LISTED["forces"]
"""Title of an armed force's page, by template."""


def country(name: str) -> tuple[str, str]:
    """What is shown of a country, and the title of its page, for a code or a name."""
    return _COUNTRIES.get(name, (name, name))


def link(target: str, label: str = "") -> str:
    """A link as wikitext; where there is no target the label alone."""
    if not target:
        return label
    return f"[[{target}|{label}]]" if label and label != target else f"[[{target}]]"


def flag(given: dict[str, str], *, spelt: bool = False) -> str:
    """`{{flag|FRA}}` shows what is given; `spelt` (`{{flagcountry|FRA}}`) the country's name."""
    name = given.get("1", "")
    if "[[" in name:
        return name
    shown, title = country(name)
    return link(title, given.get("name") or (shown if spelt else name))


def team(page: str, given: dict[str, str]) -> str:
    """`{{fb|ENG}}`: the country, linked to its team; `page` is the title with `{country}`."""
    first, second = given.get("1", ""), given.get("2", "")
    age = "{age}" in page
    shown, _ = country(second if age else first)
    if not shown:
        return ""
    return link(page.format(country=shown, age=first), given.get("name") or shown)


def force(page: str, given: dict[str, str]) -> str:
    """`{{army|United Kingdom}}`: the British Army."""
    shown, _ = country(given.get("1", ""))
    if not shown:
        return ""
    title = page.format(country=_LISTED["forces_called"].get(shown, shown))
    title = _LISTED["forces_named"].get(title, title)
    return link(title, given.get("name", ""))
