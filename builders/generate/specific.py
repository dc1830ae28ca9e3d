"""How much a question tells of the event that it asks about, in whole numbers.

`Who resigned in May 2012?` fits many events, `Who resigned as leader of the Five Star Movement?`
one. Names weigh most, then other content words; verbs of what happens every day weigh nothing.
"""

from collections.abc import Sequence
from typing import NamedTuple

from builders.generate.trees import NAMED, Token
from builders.text.data import words
from builders.text.en.lexicon import COUNTRIES

ROUTINE = words("""
    say call meet urge attend announce support thank agree sue ask visit travel arrive speak join
    welcome congratulate praise criticise criticize condemn discuss hold host lead return send
    write sign tell make take give get have go come fly begin start continue begin release issue
    report confirm warn claim express call address respond react comment state note add accuse
    kill die wound injure attack shoot fire bomb explode crash hit strike find see show provide
    receive win lose beat defeat play score arrest charge detain file launch reach sentence plead
    introduce vote pass approve reject face remain become include pen appear open close end stop
    deny refuse decide plan help work move run set leave resign elect appoint name
""")
"""Verbs of what is in the news every day: they say little of which event is meant."""
_VAGUE = words("""
    people person man woman child number part member group official officer leader government day
    year month week time thing way area region country state city town percent million billion
    statement letter meeting report news event issue case decision move plan effort attempt action
    member other first second last new more many several least total least least
""")
_UNKNOWN = 1
_NAME, _PLACE, _LONG_NAME, _PEOPLE = 2, 2, 3, 1


class Weight(NamedTuple):
    """What a question tells: in all, beyond its verb and subject, and in how many anchors."""

    total: int
    beyond: int
    anchors: int
    """Names, and nouns with a word of content beside them."""


def weigh(told: Sequence[Token], verb: Token, subject: Sequence[Token]) -> Weight:
    """The weight of the tokens that a question is told with; `subject` is what acts in it.

    A subject that is no name, such as `the first meeting of the Council`, tells of the event.
    """
    actor = any(_is_name(t) and t.name and t.name.root is t for t in subject if _heads(t, subject))
    own = {t.at for t in subject} if actor else set[int]()
    inside, beyond, anchors = 0, 0, 0
    seen: set[str] = set()
    for token in told:
        key = (token.name.text if _is_name(token) and token.name else token.lemma).lower()
        if key in seen or token is verb:
            continue
        points = _points(token)
        if not points:
            continue
        seen.add(key)
        if token.at in own:
            inside += points
        else:
            beyond += points
        anchors += _is_name(token) or _is_anchor(token, told)
    routine = verb.lemma in ROUTINE
    return Weight(inside + beyond + (not routine), beyond, anchors)


def _heads(token: Token, phrase: Sequence[Token]) -> bool:
    return all(t is not token.head for t in phrase) or token.head is token


def _is_name(token: Token) -> bool:
    return token.name is not None and token.label in NAMED


def _points(token: Token) -> int:
    if _is_name(token) and token.name is not None:
        text = token.name.text
        if text in COUNTRIES:
            return _UNKNOWN
        if token.label == "PERSON":
            return _LONG_NAME
        return _LONG_NAME if " " in text else _PLACE
    if token.label == "NORP":
        return _PEOPLE
    if token.label in ("DATE", "TIME", "CARDINAL", "ORDINAL", "PERCENT"):
        return 0
    if token.label in ("MONEY", "QUANTITY"):
        return int(token.tag == "CD")
    content = token.tag[:2] in ("NN", "JJ", "VB")
    return int(content and len(token.text) > 2 and token.lemma not in _VAGUE | ROUTINE | _AUX)


_AUX = words("be have do will")


def _is_anchor(token: Token, told: Sequence[Token]) -> bool:
    """Whether a noun has a word of content beside it: `plane crash`, `cost of living`."""
    there = {t.at for t in told}
    return token.tag.startswith("NN") and any(
        c.at in there and _points(c) for c in token.children if c.dep in ("compound", "amod")
    )
