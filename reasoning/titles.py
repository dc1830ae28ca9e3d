"""Titles of offices as a sentence has them: `Japanese Minister of Finance`.

Sources tell the offices of countries apart by what stands behind the title: `ambassador to France
of Japan`, `Minister of Finance (Japan)`, `president of Lombardy of Italy`. Within a sentence nobody
writes so. Ministers and ambassadors are named with their country, other titles that have no such
end stay as they are.
"""

import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import duckdb

from factdrift.builders.rows import Entity
from factdrift.builders.text.en.articles import takes_the
from factdrift.builders.text.en.lexicon import ADJECTIVES

# Of a country with several adjectives the list's first one is taken.
_ADJECTIVE_OF = {
    country.replace("_", " "): adjective.replace("_", " ")
    for adjective, country in reversed(ADJECTIVES)
}
# It matches `ambassador to France`, but not `ambassador of France`.
_ENVOY = re.compile(
    r"(?i:(?:ambassador|high commissioner|consul general|envoy|permanent representative) to )"
)
HEAD_OF_TERRITORY = (
    r"^(?i:(?:(?:deputy|lieutenant|vice|acting)[ -])?"
    r"(?:governor|president|premier|mayor|prefect|chief minister|administrator) of "
    r"(?:the (?:autonomous |metropolitan )?"
    r"(?:province|region|prefecture|county|district|canton|department|city|state|territory) of )?)"
    r"[^a-z ]"
)
"""Matches `president of the Province of Cuneo`, but not `President of the House of Lords`."""
ENVOY = r"\b(?i:ambassador|high commissioner|consul|envoy|permanent representative)\b"
"""Matches `French ambassador to Chile`: who serves elsewhere sits in no body with the others."""
BODY = r"\b(?:Bank|Board|Commission|Committee|Council|Court|Agency|Institute|University|Senate)\b"
"""Matches `Reserve Bank`, which is no territory that somebody governs."""
# It matches `Speaker of the National Assembly of Quebec`, but not `of the National Assembly`.
_HEAD_OF_ITS_PARLIAMENT = re.compile(
    r"(?i:(?:speaker|president|chairman|chairperson) of the "
    r"(?:(?:legislative|national|regional|provincial) (?:assembly|council)|house of assembly|diet) "
    r"of )[^a-z ]"
)
KIND_CUT = r" ?\(.*$| (?:of|for|to|in|on|responsible|delegate|without)\b.*$"
"""Matches what a title has behind its kind: ` of Finance` in `Minister of Finance`."""
KIND_OF_BODY = r"^ of the (?:autonomous |metropolitan )?(\w+)"
"""Matches what may stand behind a kind: the body `house` in `president of the house of lords`."""
MINISTER = "minister"
"""All ministers are of one kind: they sit in one cabinet, whatever they look after."""
CHIEF_MINISTER = "chief minister"
"""The head of government of a state of India, who is in no cabinet with others."""


def kind_of_office(label: str) -> str:
    """Return what offices of a country have in common: `governor`, `president of the house`.

    >>> kind_of_office("Italian Minister of Justice"), kind_of_office("governor of Gunma")
    ('minister', 'governor')
    """
    small_label = label.lower()
    kind_text = re.sub(KIND_CUT, "", small_label)
    if kind_text.endswith(MINISTER) and not kind_text.endswith(CHIEF_MINISTER):
        return MINISTER
    if re.search(BODY, label):  # a bank's governor is not like that of a province
        return small_label
    body_match = re.match(KIND_OF_BODY, small_label.removeprefix(kind_text))
    return f"{kind_text} of the {body_match[1]}" if body_match else kind_text


def office_title(label: str, country: str) -> str:
    """Return the title of an office of a country.

    >>> office_title("Minister of Labour", "Canada")
    'Canadian Minister of Labour'
    >>> office_title("Minister of Finance (Japan)", "Japan")
    'Japanese Minister of Finance'
    >>> office_title("president of Lombardy of Italy", "Italy")
    'president of Lombardy'
    >>> office_title("Prime Minister of Japan", "Japan")
    'Prime Minister of Japan'
    """
    in_brackets = label.removesuffix(f" ({country})")
    if in_brackets != label:
        return label if _is_of_territory(in_brackets) else _of_country(in_brackets, country)
    title = label.removesuffix(f" of {_with_article(country)}").removesuffix(f" of {country}")
    if title == label:
        is_told = names_country(label, country) or not _is_of_a_state(label)
        return label if is_told or country not in _ADJECTIVE_OF else _of_country(label, country)
    if _ENVOY.match(title):
        return _of_country(title, country)
    return title if _is_of_territory(title) else label


def telling_title(label: str, country: str) -> str:
    """Return the title of an office of a country, which always tells of which country it is.

    >>> telling_title("Chief Cabinet Secretary", "Japan")
    'Chief Cabinet Secretary (Japan)'
    >>> telling_title("Governor of Goa", "India"), telling_title("Minister of Labour", "Canada")
    ('Governor of Goa', 'Canadian Minister of Labour')
    """
    title = office_title(label, country)
    is_told = names_country(title, country) or _is_of_territory(title)
    return title if is_told else f"{title} ({country})"


def _is_of_a_state(label: str) -> bool:
    """Whether every state has such an office, so that its title does not tell of which it is."""
    return kind_of_office(label) == MINISTER or bool(_ENVOY.match(label))


def _is_of_territory(title: str) -> bool:
    """Whether a title names the part of a country that it belongs to, so that it tells enough."""
    if _HEAD_OF_ITS_PARLIAMENT.match(title):
        return True
    return bool(re.match(HEAD_OF_TERRITORY, title)) and not re.search(BODY, title)


def _of_country(title: str, country: str) -> str:
    adjective = _ADJECTIVE_OF.get(country)
    if adjective is None:
        return f"{title} of {_with_article(country)}"
    return title if title.startswith(f"{adjective} ") else f"{adjective} {title}"


def _with_article(country: str) -> str:
    return f"the {country}" if takes_the(country) else country


def names_country(title: str, country: str) -> bool:
    """Whether a title says of which country the office is."""
    adjective = _ADJECTIVE_OF.get(country, country)
    return any(re.search(rf"\b{re.escape(name)}\b", title) for name in (country, adjective))


def office_titles(
    names: Mapping[str, str],
    entities: Mapping[str, Entity],
    bearers: Callable[[Collection[str]], Mapping[str, Collection[str]]],
    title_of: Callable[[str, str], str] = office_title,
) -> dict[str, str]:
    """Return the titles of those offices that are called by another name than they have.

    `names` are those of all offices by item id. `bearers` returns the ids of the items of the dump
    that have some names, or have them with something behind an `of`. A title that some other office
    may have is not used. `title_of` makes a title of a name and a country.
    """
    titles_by_id: dict[str, str] = {}
    for item_id, office_name in names.items():
        country = entities[item_id].country
        title = title_of(office_name, country) if country else office_name
        if title != office_name:
            titles_by_id[item_id] = title
    ids_by_title: dict[str, set[str]] = {}
    for item_id, title in titles_by_id.items():
        ids_by_title.setdefault(title.lower(), set()).add(item_id)
    for title, item_ids in bearers(ids_by_title).items():
        ids_by_title[title] |= set(item_ids)
    return {
        item_id: title
        for item_id, title in titles_by_id.items()
        if ids_by_title[title.lower()] == {item_id}
    }


def bearers_in_dump(
    db: duckdb.DuckDBPyConnection, entities_path: Path, names: Collection[str]
) -> dict[str, list[str]]:
    """Return the items of the dump that have some names, in small letters.

    A label also counts without what stands behind its last `of`.
    """
    query = """
        with forms as (
            select id, unnest([label, regexp_extract(label, '^(.*) of ', 1)]) as form
            from read_parquet($path)
        ), named as (select id, lower(form) as name from forms)
        select name, list(distinct id) from named
        semi join (select unnest($names) as name) using (name) group by name
    """
    return dict(db.execute(query, {"path": str(entities_path), "names": sorted(names)}).fetchall())
