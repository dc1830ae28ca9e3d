"""Names from lists: countries, the names and adjectives of their people, and common words."""

from factdrift.builders.text.data import language_data, word_set

_LISTS = language_data("names")

COUNTRIES = word_set(_LISTS["countries"])
DEMONYMS = word_set(_LISTS["demonyms"])
ADJECTIVES = [entry.split("=") for entry in sorted(word_set(_LISTS["adjectives"]))]
"""The adjective of each country, and the name of the country."""
COMMON = word_set(_LISTS["common"])
"""Words that often open a sentence and are not names on their own."""
TITLES = frozenset(
    word for title in word_set(language_data("questions")["titles"]) for word in title.split()
)
"""The words of titles, which stand before a name and are no part of it: President, Prime, …"""
