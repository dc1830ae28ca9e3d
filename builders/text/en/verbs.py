"""The forms of English verbs, from a list of the irregular ones; no parser is needed."""

import re

from factdrift.builders.text.data import language_data, word_set

_VERBS = language_data("verbs")
_ROWS = [row.split() for row in _VERBS["irregular"].split(";")]
_PAST: dict[str, str] = {base: past for base, past, _ in _ROWS}
_PARTICIPLES: dict[str, str] = {base: participle for base, _, participle in _ROWS}
_OF_PARTICIPLE: dict[str, str] = {participle: past for _, past, participle in _ROWS}
_SHORT = re.compile(r"[^aeiou]*[aeiou][bdglmnprt]")
_DOUBLED = word_set(_VERBS["doubled"])


def simple_past(base: str) -> str:
    """The simple past of a verb: take, took; ban, banned; try, tried."""
    if base in _PAST:
        return _PAST[base]
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2:-1] not in tuple("aeiou"):
        return base[:-1] + "ied"
    return base + (base[-1] if _SHORT.fullmatch(base) or base in _DOUBLED else "") + "ed"


def verb_forms(base: str) -> tuple[str, ...]:
    """The forms of a verb but its base form: joins, joined, joining; leaves, left, leaving."""
    past = simple_past(base)
    participle = _PARTICIPLES.get(base, past)
    if base.endswith("y") and base[-2:-1] not in tuple("aeiou"):
        third_person = base[:-1] + "ies"
    else:
        third_person = base + ("es" if base.endswith(("s", "sh", "ch", "x", "z")) else "s")
    doubled = _SHORT.fullmatch(base) or base in _DOUBLED
    if base.endswith("e") and not base.endswith("ee"):
        stem = base[:-2] + "y" if base.endswith("ie") else base[:-1]
    else:
        stem = base + (base[-1] if doubled else "")
    return tuple(dict.fromkeys((third_person, past, participle, stem + "ing")))


def past_of_participle(word: str) -> str:
    """The simple past of an irregular participle: beat for `beaten`; another word as it is."""
    return _OF_PARTICIPLE.get(word, word)
