"""Names that lists know: countries, places, what their people are called; and common words."""

from factdrift.builders.text.data import data, words

_LISTS = data("names")

COUNTRIES = words(_LISTS["countries"])
DEMONYMS = words(_LISTS["demonyms"])
ADJECTIVES = [entry.split("=") for entry in sorted(words(_LISTS["adjectives"]))]
"""What is said of a country for its name, and the name."""
COMMON = words(_LISTS["common"])
"""Words that open sentences with a capital and are no names on their own."""
TITLES = frozenset(word for title in words(data("questions")["titles"]) for word in title.split())
"""Words of what stands before a name and is no part of it: President, Prime, Minister."""
