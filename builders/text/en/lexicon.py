"""Names that lists know: countries, places, what their people are called; and common words."""

from factdrift.builders.text.data import language_data, word_set

_LISTS = language_data("names")

COUNTRIES = word_set(_LISTS["countries"])
DEMONYMS = word_set(_LISTS["demonyms"])
ADJECTIVES = [entry.split("=") for entry in sorted(word_set(_LISTS["adjectives"]))]
"""What is said of a country for its name, and the name."""
COMMON = word_set(_LISTS["common"])
"""Words that open sentences with a capital and are no names on their own."""
TITLES = frozenset(
    word for title in word_set(language_data("questions")["titles"]) for word in title.split()
)
"""Words of what stands before a name and is no part of it: President, Prime, Minister."""
