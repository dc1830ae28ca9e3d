"""How much a question tells of the event that it asks about, in whole numbers.

`Who resigned in May 2012?` fits many events, `Who resigned as leader of the Five Star Movement?`
one. Names weigh most, then other content words; verbs of what happens every day weigh nothing.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from factdrift.builders.generate.trees import NAMED, Token
from factdrift.builders.text.data import data, words
from factdrift.builders.text.en.lexicon import COUNTRIES, DEMONYMS
from factdrift.builders.text.en.nouns import ROLES, THINGS

ROUTINE = words("""
    say call meet urge attend announce support thank agree sue ask visit travel arrive speak join
    welcome congratulate praise criticise criticize condemn discuss hold host lead return send
    write sign tell make take give get have go come fly begin start continue release issue report
    confirm warn claim express address respond react comment state note add accuse kill die wound
    injure attack shoot fire bomb explode crash hit strike find see show provide receive win lose
    beat defeat play score arrest charge detain file face remain become include pen appear end stop
    deny help work move run set leave mention consider describe regard note
""")
"""Verbs of what is in the news every day: they say little of which event is meant."""
_VAGUE = words("""
    people person man woman child number part member group official officer leader government day
    year month week time thing way area region country state city town percent million billion
    statement letter meeting report news event issue case decision move plan effort attempt action
    member other first second last new more many several least total
""")
_AUXILIARIES = words("be have do will")
EVERYWHERE = words("covid-19 coronavirus congress parliament senate")
"""Names that say no more of an event than a common noun."""
_ONE_OF_A_KIND, _LONG_NAME, _NAME, _WORD = 4, 3, 2, 1
_YEAR = re.compile(r"[12]\d{3}")


class Weight(NamedTuple):
    """What a question tells: in all, beyond its verb and subject, and in how many anchors."""

    total: int
    beyond: int
    anchors: int
    """Names, and nouns with a word of content beside them."""

    def holds(self, least: "Weight") -> bool:
        """Whether it is no less in any respect."""
        return all(a >= b for a, b in zip(self, least, strict=True))


def least(verb: Token, *, actor: bool, salient: bool, listed: bool) -> Weight:
    """The least that a question must tell which says no more than the month, if that.

    `actor`: whether it asks who acts, so that it has no subject; `salient`: the headline tells of
    the event; `listed`: it is one of many events of a day, where no headline says so.
    """
    if listed or verb.lemma in ROUTINE:
        return Weight(6, 5, 2) if actor else Weight(7, 3, 2)
    if actor:
        return Weight(5 - salient, 4 - salient, 1)
    return Weight(5 - salient, 2 - salient, 2)


def least_dated(*, actor: bool, listed: bool) -> Weight:
    """The least that a question must tell which says the day; `listed`: one of its many events."""
    if actor:
        return Weight(4 + listed, 3 + listed, 1)
    return Weight(3 + 2 * listed, 1, 1)


def weigh(told: Sequence[Token], verb: Token, subject: Sequence[Token]) -> Weight:
    """The weight of the tokens that a question is told with; `subject` is what acts in it.

    A subject that is no name, such as `the first meeting of the Council`, tells of the event.
    """
    actor = any(_is_name(t) for t in subject if _heads(t, subject))
    own = {t.at for t in subject} if actor else set[int]()
    inside, beyond, anchors = 0, 0, 0
    seen: set[str] = set()
    for token in told:
        key = (token.name.text if _is_name(token) and token.name else token.lemma).lower()
        points = 0 if key in seen or token is verb else _points(token)
        if not points:
            continue
        seen.add(key)
        if token.at in own:
            inside += points
        else:
            beyond += points
        anchors += _is_name(token) or _is_anchor(token, told)
    return Weight(inside + beyond + (verb.lemma not in ROUTINE), beyond, anchors)


OWN, PLACE, LAND, BODY = "own", "place", "land", "body"
NUMBER, FIRST, CAPITAL = "number", "first", "capital"
_PARTICULAR = {PLACE: 2, NUMBER: 2, FIRST: 2, CAPITAL: 2, BODY: 1}
"""What each kind of anchor tells of an event, and each country 1; what is its own is enough."""
ENOUGH = 4
_LISTS = data("questions")
_BODIES = ROLES | THINGS | words(_LISTS["bodies"]) | words("of the and for to in with 's &")
_PEOPLES = COUNTRIES | DEMONYMS
_BODIES |= {word.lower() for land in _PEOPLES for word in land.split()}
_LARGE = words(_LISTS["large"])
_ANYBODY = ROLES | words(_LISTS["man_or_woman"]) | words(_LISTS["anybody"])


def anchor(token: Token) -> str:
    """What a token is a part of that tells one event from another; empty where of nothing.

    `own`: a person, a work, an event of its own name, an organisation that is not in the news every
    day; `place`; `land`: a country or its people; `body`: what every country has, or what is in the
    news every day; `number`; `first`: a superlative; `capital`: what nothing knows as a name.
    """
    name = token.name
    if token.label == "NORP" or token.text in _PEOPLES:
        return LAND
    if _YEAR.fullmatch(token.text):
        return "" if token.dep == "pobj" or token.label == "DATE" else OWN
    if token.tag == "JJS" or token.lower == "first":
        return FIRST
    if name is None or token.label not in NAMED:
        if token.tag == "CD" and token.label not in ("DATE", "TIME", "ORDINAL"):
            return NUMBER * (token.lower != "one")
        if token.tag not in ("NNP", "NNPS") or token.label in ("DATE", "TIME"):
            return ""
        return BODY if token.lower in _BODIES else CAPITAL
    if name.text in COUNTRIES:
        return LAND
    if token.label in ("GPE", "LOC"):
        return PLACE
    common = all(t.lower in _BODIES for t in name.tokens)
    return BODY if common or name.text in _LARGE else OWN


def particulars(told: Sequence[Token]) -> int:
    """What words tell of an event without a name of its own: 2 for each kind of anchor, 1 less.

    A country tells 1, as do its office, a body, and many words of content. With 2 for a day that is
    known and 1 for a month, `ENOUGH` is what one event of many needs.
    """
    kinds = {anchor(t) for t in told}
    lands = {t.lower for t in told if anchor(t) == LAND}
    content = {t.lemma for t in told if t.tag[:2] in ("NN", "JJ", "VB") and _points(t) == _WORD}
    points = len(lands) + sum(_PARTICULAR.get(kind, 0) for kind in kinds)
    return points + any(map(_office, told)) + (len(content) >= _RICH)


_RICH = 6
"""Different words of content that tell as much as a country."""


def _office(token: Token) -> bool:
    """Whether a token is an office of a country: the prime minister of Japan."""
    of = [n for p in token.having("prep") if p.lower == "of" for n in p.having("pobj")]
    role = token.tag in ("NN", "NNP") and token.lemma.lower() in ROLES
    return role and any(anchor(t) == LAND for n in of for t in n.subtree())


def bare(noun: Token, told: Sequence[Token]) -> bool:
    """Whether a noun is one of many, and nothing beside it says which: a woman, prosecutors."""
    there = {t.at for t in told}
    if noun.tag not in ("NN", "NNS") or noun.lemma.lower() not in _ANYBODY:
        return False
    inside = [t for t in noun.subtree() if t.at in there]
    return not any(anchor(t) in (OWN, LAND) for t in inside)


def _heads(token: Token, phrase: Sequence[Token]) -> bool:
    return all(t is not token.head for t in phrase) or token.head is token


def _is_name(token: Token) -> bool:
    return token.name is not None and token.label in NAMED


def _points(token: Token) -> int:
    if token.name is not None and token.label in NAMED:
        text = token.name.text
        if text in COUNTRIES or text.casefold() in EVERYWHERE:
            return _WORD
        if token.label in ("EVENT", "LAW", "WORK_OF_ART"):
            return _ONE_OF_A_KIND
        return _LONG_NAME if " " in text or token.label == "PERSON" else _NAME
    if token.label == "NORP":
        return _WORD
    if _YEAR.fullmatch(token.text):
        return _WORD if token.dep == "pobj" else _NAME  # in 2008, the 2008 Nobel Prize
    if token.label in ("DATE", "TIME", "CARDINAL", "ORDINAL", "PERCENT"):
        return 0
    if token.label in ("MONEY", "QUANTITY"):
        return _WORD * (token.tag == "CD")
    content = token.tag[:2] in ("NN", "JJ", "VB") and len(token.text) > 2
    return _WORD * (content and token.lemma not in _VAGUE | ROUTINE | _AUXILIARIES)


def _is_anchor(token: Token, told: Sequence[Token]) -> bool:
    """Whether a noun has a word of content beside it, or a year is part of a name."""
    if token.tag in ("NNP", "NNPS"):
        return True
    if _YEAR.fullmatch(token.text):
        return token.dep != "pobj"
    there = {t.at for t in told}
    beside = (c for c in token.children if c.dep in ("compound", "amod"))
    return token.tag in ("NN", "NNS") and any(c.at in there and _points(c) for c in beside)
