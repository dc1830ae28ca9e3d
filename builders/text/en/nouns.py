"""Nouns beside names: roles of people, kinds of things, and names whose kind all readers know."""

from collections.abc import Mapping

from factdrift.builders.text.data import data, words

_LISTS = data("nouns")


def _by_entry(table: Mapping[str, str]) -> dict[str, str]:
    """The noun of each entry of a table of entries by noun."""
    return {entry: noun for noun, entries in table.items() for entry in words(entries)}


OFFICES = words(_LISTS["role_heads"])
"""Nouns for who holds an office that one person holds."""
ROLES = OFFICES | words(_LISTS["roles"])
"""Nouns for people."""
THINGS = words(_LISTS["things"])
_PLAIN = _by_entry(_LISTS["plain"])


def thing(noun: str) -> str | None:
    """The noun that a question asks with for a kind word: `giant` -> `company`; None: no kind."""
    return _PLAIN.get(noun, noun) if noun in THINGS else None


LAST_WORDS = _by_entry(_LISTS["last_words"])
FIRST_WORDS = _by_entry(_LISTS["first_words"])
KNOWN = _by_entry(_LISTS["known"])
"""Names that tell their kind to every reader of news."""
STATES = words(_LISTS["states"])
