"""Simple declarative sentences taken apart: subject, verb group, rest, adverbials at the end."""

import re
from dataclasses import dataclass

from builders.questions import dates
from builders.questions.lexicon import COMMON, DEMONYMS, MONTHS, NAME_PARTS, WEEKDAYS, words
from builders.questions.tokens import capital
from builders.questions.verbs import AUXILIARIES, PARTICIPLE, PAST, PRESENT

_CUT = re.compile(
    r",? (?:after (?:he|she|it|they|a|an)|because|while|but|although|before (?:he|she|it|they)"
    r"|so that|when|who|whom|whose|which|where|until (?:he|she|it|they|the))\b.*$"
    r"|,? after \w+ing .*$|, (?:the|a|an|with|[a-z]+ing)\b[^,]*$"
)
_UNDATED = (
    (
        r"(?: early| late)?(?:(?:(?: on)? (?:WEEKDAY)| yesterday| today)"
        r"(?: (?:night|morning|evening|afternoon))?"
        r"| (?:last|this|next) (?:week|month|year|night|spring|summer|autumn|winter)"
        r"| in (?:MONTH)(?! \d)| on \d{1,2} (?:MONTH)(?! \d)| on (?:MONTH) \d{1,2}(?!,? \d)"
        r"| (?:a few|two|three|four|five|six|seven|eight|nine|ten|\d+)"
        r" (?:days|weeks|months|years) ago)"
        r"(?=[ ,]|$)"
    )
    .replace("WEEKDAY", "|".join(sorted(WEEKDAYS)))
    .replace("MONTH", "|".join(MONTHS))
)
_DROPPED = re.compile(_UNDATED)
_REFUSED = re.compile(
    r"[\"“”„:;()\[\]?!—–]| - |\b(?:that|it|he|she|they|him|them|we|us|I|you|me|there|these|those|"
    r"this|if|whether|not|never|n't|cannot|meanwhile|however|instead|each|both|own|same|such|other|others|"
    r"another|former|then|later|earlier|further|himself|herself|itself|themselves|one of them)\b",
)
_ADVERBS = words("""
    also again first officially formally finally already now still only just immediately
    narrowly easily comfortably provisionally unanimously jointly briefly publicly
""")
_FINITE = (frozenset(PAST) | AUXILIARIES) - {"been", "being", "be", "read", "set", "put", "cut"}
_LEAD = re.compile(r"^(?P<pp>(?:In|On|Since) (?P<d>[^,]{4,22}?)),? (?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Adverbial:
    """A dated phrase at the end of a clause: `in May 2017` is preposition, text, kind."""

    preposition: str
    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class Clause:
    """`subject` `aux` `verb` `rest` `when`; undated adverbials (`on Sunday`) are left out.

    `form` is past, passive (was elected), be (was the leader), future, perfect or present; `base`
    is the base form of `verb`. `offset` is where the subject starts in the sentence.
    """

    subject: str
    aux: str | None
    verb: str
    base: str
    form: str
    rest: str
    when: Adverbial | None
    offset: int


def parse(sentence: str) -> Clause | None:
    """The main clause of a simple sentence; None where its reading is not certain."""
    text = sentence.strip()
    if not text.endswith(".") or len(text) > 220:
        return None
    text, offset, front = text[:-1], 0, None
    lead = _LEAD.match(text)
    if lead:
        front = _adverbial(lead["pp"][0].lower() + lead["pp"][1:])
        if front is None:
            return None
        offset = lead.end()
        text = text[offset:]
    words = text.split(" ")
    size = _subject(words)
    if size == 0 or size >= len(words) - 1:
        return None
    subject = " ".join(words[:size])
    if "," in subject or _REFUSED.search(subject) or re.search(r"\d|['’]s?$", subject):
        return None
    rest = words[size:]
    group = _verb_group(rest)
    if group is None:
        return None
    aux, verb, base, form, used = group
    whole = _CUT.sub("", " ".join(rest[used:]))
    tail = _uncoordinated(_CUT.sub("", whole))
    if tail is None or not tail or _REFUSED.search(tail):
        return None
    tail, when = _split_when(" " + tail)
    when = when or front
    if "," in _without_numbers(tail) or _finite(tail.split()) or tail.startswith("to "):
        return None
    return Clause(subject, aux, verb, base, form, tail, when, offset)


def _without_numbers(text: str) -> str:
    text = re.sub(r"(\d),(\d{3})", r"\1\2", text)
    return re.sub(r"(\w) (\d{1,2}), (\d{4})", r"\1 \2 \3", text)


def _finite(words: list[str]) -> bool:
    return any(w.strip(",") in _FINITE for w in words)


def _subject(words: list[str]) -> int:
    """How many words the subject takes: names, `The … of Name`, `The Spanish parliament`."""
    if words[0] in COMMON - {"The"} or not (words[0][:1].isupper()):
        return 0
    i = 0
    capitals = 0
    while i < len(words) and i < 10:
        word = words[i]
        low = word.lower()
        if i and (low in _FINITE or low in PRESENT or low in ("will", *_ADVERBS)) and word == low:
            ambiguous = low in PRESENT and words[0] == "The" and capitals == 0
            return 0 if ambiguous else (i if capitals else 0)
        if capital(word) and not (i == 0 and word == "The"):
            capitals += 1
        elif (
            i and low not in ("of", "the", "and", "for", "in", *NAME_PARTS) and not _noun(words, i)
        ):
            return 0
        i += 1
    return 0


def _noun(words: list[str], i: int) -> bool:
    """Small words may follow `The`, `The Spanish` or stand before `of`; not after a bare name."""
    return words[0] == "The" or (words[0] in DEMONYMS and i < 3)


def _verb_group(words: list[str]) -> tuple[str | None, str, str, str, int] | None:
    """Auxiliary, verb, its base, form, and how many words they take."""
    i = 0
    while i < len(words) and words[i] in _ADVERBS:
        i += 1
    if i + 1 >= len(words):
        return None
    first = words[i]
    j = i + 1
    while j < len(words) and words[j] in _ADVERBS:
        j += 1
    after = words[j] if j < len(words) else ""
    if first in ("was", "were", "is", "are"):
        form = "be" if first in ("was", "were") else "present_be"
        if after in PARTICIPLE and PARTICIPLE[after] != "be" and j + 1 < len(words):
            form = "passive" if form == "be" else "present_passive"
            return first, after, PARTICIPLE[after], form, j + 1
        bad = after.endswith("ing") or after in ("to", "not", "able", "likely", "due", "being")
        return None if bad else (first, "", "be", form, j)
    if first == "will" and after and after not in ("be", "have", "not"):
        known = after in PAST.values()
        return ("will", after, after, "future", j + 1) if known else None
    if first in ("has", "have", "had"):
        known = after in PARTICIPLE
        form = "perfect" if first != "had" else "pluperfect"
        return (first, after, PARTICIPLE[after], form, j + 1) if known else None
    if first in PAST:
        base = PAST[first]
        if base in ("do", "have", "be"):
            return None
        return None, first, base, "past", i + 1
    if first in PRESENT and PRESENT[first] not in ("be", "have", "do"):
        return None, first, PRESENT[first], "present", i + 1
    return None


def _uncoordinated(tail: str) -> str | None:
    """`tail` up to an `and` that joins another clause; None where that cannot be told."""
    parts = tail.split(" and ")
    for n in range(1, len(parts)):
        words = parts[n].split()
        present = any(
            w in PRESENT and (m == 0 or capital(words[m - 1])) for m, w in enumerate(words)
        )
        if _finite(words) or present:
            kept = " and ".join(parts[:n])
            return kept.rstrip(",") or None
    return tail


def _split_when(tail: str) -> tuple[str, Adverbial | None]:
    """The rest without its dated adverbials; the last absolute one is kept apart."""
    tail = _DROPPED.sub("", tail)
    when = None
    m = re.search(r" (in|on|since|until|from|by) ((?:early |late )?[^ ]+(?: [^ ]+){0,4})$", tail)
    for m in reversed(list(re.finditer(r" (?:in|on|since|until|from|by) ", tail))):
        when = _adverbial(tail[m.start() + 1 :])
        if when:
            tail = tail[: m.start()]
            break
    return " ".join(tail.split()), when


def _adverbial(phrase: str) -> Adverbial | None:
    """A phrase that is nothing but preposition and absolute date, or a span of years."""
    span = re.fullmatch(r"from (.+) (?:to|until) (.+)", phrase)
    if span:
        ok = all(_whole(p, "in ") in ("YEAR", "MONTH", "DAY") for p in span.groups())
        return Adverbial("from", phrase, "SPAN") if ok else None
    head, _, text = phrase.partition(" ")
    kind = _whole(text, "in ")
    return Adverbial(head, text, kind) if kind in ("YEAR", "MONTH", "DAY") else None


def _whole(text: str, before: str) -> str | None:
    """The kind of date that all of `text` is."""
    for a, b, kind in dates.dates(before + text):
        if a == len(before) and b == len(before) + len(text):
            return kind
    return None
