"""What a question asks for a name with: `Who`, `Which country`, `Which Dutch airline`."""

from collections.abc import Sequence, Set

from factdrift.builders.generate.clauses import alone, breaks, phrase
from factdrift.builders.generate.trees import NAMED, RANKS, Name, Token, written
from factdrift.builders.text.data import words
from factdrift.builders.text.en.lexicon import COUNTRIES, DEMONYMS
from factdrift.builders.text.en.nouns import (
    FIRST_WORDS,
    KNOWN,
    LAST_WORDS,
    OFFICES,
    ROLES,
    STATES,
    THINGS,
    thing,
)


def asked_with(name: Name, verb: Token) -> tuple[str, list[Token]] | None:
    """`Who`, `Which Dutch airline`, …: how a question asks for a name; None: its kind is unknown.

    The tokens are those of the article that say what kind of thing or person it is, which the
    question then tells. `verb`: what the name does, or what is done to it: teams beat each other.
    """
    people = [c.label == "PERSON" for c in verb.children if c.label in NAMED]
    if name.label == "PERSON":
        if (
            not name.full
            or _is_thing(name)
            or _cut_name(name)
            or (name.longest is not None and _cut_name(name.longest))
            or (verb.lemma in OF_TEAMS and not all(people))
        ):
            return None
        return _kind(name, ROLES) or ("Who", [])
    if verb.lemma in OF_TEAMS:
        return ("Which team", []) if name.label in ("ORG", "GPE") and not any(people) else None
    if name.text in COUNTRIES:
        return "Which country", []
    return _kind(name, THINGS) or _kind_by_name(name)


def _cut_name(name: Name) -> bool:
    """Whether the word before a person's name may be a part of it: Emily before `Claire Hari`."""
    before = name.tokens[0].prev
    if before is None or before.tag != "NNP" or before.label or before.head is not name.root:
        return False
    return not {before.text, before.lower} & (RANKS | ROLES | DEMONYMS)


def _kind(name: Name, nouns: Set[str]) -> tuple[str, list[Token]] | None:
    """`Which Dutch airline` of the words before or after a name; None where they name no kind.

    `Swiss Judge` is a `Swiss judge`. An office without its country is no kind, nor is what was new
    on the day.
    """
    told, head = _described(name)
    if (
        head is None
        or not {head.text, head.lower} & nouns
        or any(t.lower in _NO_KIND for t in told)
    ):
        return None
    if told[0].lower != "former" and _held_by_one(told, head):
        return None
    if head is not told[-1] or head.text in nouns - THINGS:
        return (
            (f"Which {written(told)}", told) if len(told) > 1 or head.text not in OFFICES else None
        )
    of_place = any(t.label in ("NORP", "GPE") for t in told)
    if head.text != head.lower and (head.lower in OFFICES or not of_place):
        return None
    plain = thing(head.lower) if len(told) == 1 or head.lower == "giant" else None
    return " ".join(("Which", *written(told[:-1]).split(), plain or head.lower)), told


def _held_by_one(told: Sequence[Token], head: Token) -> bool:
    """Whether `which` would ask for one of one: President of East Timor, WikiLeaks founder."""
    if head.lower in _OFFICES_OF_ONE:
        return head.text != head.lower or len(told) > 1
    return head.lower in _ALONE or (head.lower in _ALONE_OF and head is not told[-1])


def _described(name: Name) -> tuple[list[Token], Token | None]:
    """What is said of a name, and its noun: `Dutch airline` KLM; KLM, `a Dutch airline`."""
    inside = {t.at for t in phrase(name.root)}
    told: list[Token] = []
    before = name.tokens[0].prev
    while before is not None and before.at in inside and before.dep != "det":
        told.insert(0, before)
        before = before.prev
    if told:
        return told, told[-1]
    for aside in name.root.having("appos"):
        tokens = [t for t in phrase(aside) if t.dep != "det" or t.head is not aside]
        if aside.having("poss"):
            continue
        if len(tokens) <= _LONGEST_KIND and alone(tokens, None, asked=False) and not breaks(tokens):
            return tokens, aside
    return [], None


_OFFICES_OF_ONE = words(
    "president premier chancellor minister governor mayor king queen emperor sultan emir pope"
)
_ALONE = words("founder owner chairman chairwoman ceo maker")
_ALONE_OF = words("head chief inventor")
"""Nouns for the only one where a phrase with `of` follows: the head of the bank."""
_LONGEST_KIND = 9
_NO_KIND = words("""
    new current then incumbent outgoing late fellow own first second third last next previous
    another disgraced embattled controversial famous noted
""")


def _kind_by_name(name: Name) -> tuple[str, list[Token]] | None:
    """The kind of a thing that its name tells, or what a comma after it says: NASA, the agency."""
    parts = name.text.split()
    asides = [a.lower for a in name.root.having("appos") if a.tag == "NN"]
    noun = "state" if name.text in STATES else KNOWN.get(name.text)
    noun = noun or next((thing(a) for a in asides if a in THINGS), None)
    if noun is None and len(parts) > 1:
        noun = LAST_WORDS.get(parts[-1]) or FIRST_WORDS.get(parts[0])
    return (f"Which {noun}", []) if noun else None


def _is_thing(name: Name) -> bool:
    """Whether what looks like a person is a ship, a storm or a club."""
    beside = (c for c in name.root.children if c.dep in ("compound", "nmod", "appos"))
    if any(c.text in _CLUBS or (c.lower in THINGS and c.tag == "NN") for c in beside):
        return True
    return any(t.lower in THINGS or t.text in _CLUBS for t in name.tokens)


OF_TEAMS = words("beat defeat thrash trounce outscore")
"""Verbs of what one team does to another."""
_CLUBS = words("FC AFC F.C. SV AC CF SC")


def pure(token: Token) -> Name | None:
    """The name that a noun phrase is, with no more than titles and origins before it."""
    name = token.name
    if name is None or name.label not in NAMED or name.root is not token:
        return None
    start = phrase(token)[0].prev
    if start is not None and start.lower in ("and", "or"):
        return None  # one of several
    inside = {t.at for t in name.tokens}
    before = name.tokens[0].prev
    if before is not None and (before.end == name.start or before.tag == "POS"):
        return None
    if any((c.dep == "punct" and c.text == "(") or c.dep == "case" for c in token.children):
        return None
    for child in phrase(token):
        if child.at in inside or child is token or (child.text == "," and child.at > name.last.at):
            continue
        if child.at > name.last.at:
            return None
        if child.dep not in ("compound", "amod", "det", "nmod", "punct"):
            return None
        if child.dep == "det" and child.lower != "the":
            return None
        if child.label in NAMED and child.dep == "compound" and name.label != "PERSON":
            return None
    return name
