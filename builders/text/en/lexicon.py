"""Names that lists know: countries, places, what their people are called; and common words."""

from factdrift.builders.text.data import data, words

_LISTS = data("names")

COUNTRIES = words(_LISTS["countries"])
PLACES = words(_LISTS["places"])
DEMONYMS = words(_LISTS["demonyms"])
COMMON = words(_LISTS["common"])
"""Words that open sentences with a capital and are no names on their own."""
