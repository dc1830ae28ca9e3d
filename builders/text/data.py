"""Data files of a language: word lists and patterns as YAML in the language's folder."""

from functools import cache
from typing import Any

from factdrift.builders.core.files import read_texts, resource

__outside_step_keys__ = True  # the lists count, not how they are read
__data_finders__ = {"language_data": "builders/text/en/{}.yaml"}

LANGUAGE = "en"
"""The folder of the language that all texts are in."""


@cache
def language_data(name: str) -> dict[str, Any]:
    """The entries of `<language>/<name>.yaml` by name; the file is read once.

    It is called with a literal, so that a step's key knows which lists its code reads.
    """
    return read_texts(resource("builders/text", LANGUAGE, f"{name}.yaml"))


def word_set(text: str) -> frozenset[str]:
    """The words of a text, separated by white space; `_` stands for a blank inside an entry."""
    return frozenset(word.replace("_", " ") for word in text.split())
