"""Small things about texts that several steps share."""

import re

from builders.questions.squad import normal_or_all

BLANK = "[BLANK]"
"""The gap, as people write and see it."""


def plain(value: object) -> str | None:
    """A text on one line without white space around it; None for what is no text or empty."""
    return " ".join(value.split()) or None if isinstance(value, str) else None


def same_length(text: str) -> str:
    """A text with each white space a space, so that offsets in it stay."""
    return re.sub(r"\s", " ", text)


def places(word: str, text: str) -> list[int]:
    """Where `word` stands in `text` as whole words, as it is written."""
    return [m.start() for m in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text)]


def says(text: str, answer: str) -> bool:
    """Whether a text has an answer in it, as whole words after normalisation."""
    return f" {normal_or_all(answer)} " in f" {normal_or_all(text)} "
