"""Past forms of verbs: irregular ones by a table, the others by spelling."""

import re

from builders.text.data import data

_ROWS = [row.split() for row in data("verbs")["irregular"].split(";")]
_PAST = {base: past for base, past, _ in _ROWS}
_OF_PARTICIPLE = {participle: past for _, past, participle in _ROWS}
_DOUBLED = re.compile(
    r"[^aeiou]*[aeiou][bdglmnprt]|\w*(?:mit|fer|cur|pel|trol|bar|cel|dnap|quip|gret|bel)"
)


def past(base: str) -> str:
    """The simple past of a verb: take, took; ban, banned; try, tried."""
    if base in _PAST:
        return _PAST[base]
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2:-1] not in tuple("aeiou"):
        return base[:-1] + "ied"
    return base + (base[-1] if _DOUBLED.fullmatch(base) else "") + "ed"


def past_of(participle: str) -> str | None:
    """The simple past by the participle: taken, took; None where no table has it."""
    word = participle.lower()
    return _OF_PARTICIPLE.get(word) or (word if word.endswith("ed") else None)
