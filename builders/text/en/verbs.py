"""Past forms of verbs: irregular ones by a table, the others by spelling."""

import re

from factdrift.builders.text.data import data, words

_ROWS = [row.split() for row in data("verbs")["irregular"].split(";")]
_PAST: dict[str, str] = {base: past for base, past, _ in _ROWS}
_OF_PARTICIPLE: dict[str, str] = {participle: past for _, past, participle in _ROWS}
_SHORT = re.compile(r"[^aeiou]*[aeiou][bdglmnprt]")
_DOUBLED = words(data("verbs")["doubled"])


def past(base: str) -> str:
    """The simple past of a verb: take, took; ban, banned; try, tried."""
    if base in _PAST:
        return _PAST[base]
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2:-1] not in tuple("aeiou"):
        return base[:-1] + "ied"
    return base + (base[-1] if _SHORT.fullmatch(base) or base in _DOUBLED else "") + "ed"


def past_of(participle: str) -> str | None:
    """The simple past by the participle: taken, took; None where no table has it."""
    word = participle.lower()
    return _OF_PARTICIPLE.get(word) or (word if word.endswith("ed") else None)
