"""Phrases that name an office that one person holds, and say whose it is."""

import re
from itertools import pairwise

from builders.questions.english.given import GIVEN
from builders.questions.english.lexicon import COUNTRIES, DEMONYMS, PLACES, words
from builders.questions.english.nouns import ROLE_HEADS
from builders.questions.rules.tails import FINITE
from builders.questions.rules.verbs import PRESENT

MODIFIERS = words("""
    prime foreign finance defence defense interior home vice deputy chief executive managing
    opposition acting interim general attorney health education justice trade party majority
    minority economic environment transport energy immigration agriculture labour labor culture
    information communications treasury state house senate supreme central national federal
    assistant associate principal parliamentary legal financial operating technology marketing
    medical scientific research regional district military naval police fire crown head
""")

CREEDS = words("""
    Catholic Christian Muslim Jewish Islamic Islamist Orthodox Hindu Buddhist Sikh Anglican
    Protestant Sunni Shia Shiite Kurdish Arab African European Asian Western Northern Southern
    Eastern Democrat Democratic Republican Labour Labor Liberal Conservative Socialist Communist
    Tory Green Coalition GOP Marxist Maoist Hispanic Latin Tamil Olympic American_Indian
""")

NATIONALITIES = DEMONYMS - CREEDS
NOT_NOW = words("""
    former ex late then then- outgoing incoming joint ousted deposed ex- onetime longtime alleged
    suspected reputed accused self-proclaimed self-declared disputed rival would-be jailed exiled
    imprisoned fugitive purported presumed designated veteran high-ranking senior top leading
    prominent long-term controversial embattled beleaguered newly newly-appointed newly-elected
    newly-named
""")

_NAMED = re.compile(r" (?:of|for|at|to|in) (?:the )?(?:[a-z]+ ){0,2}(?:the )?[A-Z]")

_POINTING = re.compile(
    r"\b(?:his|her|its|their|our|my|your|this|that|these|who|which|another|same|other|former|"
    r"during|under|until|since|one|then|late|now|also|said|formerly|previously|current)\b"
    r"|[\"“”:;()\d–—]"
)

WORD = re.compile(r"[\w.&’'-]+")

AMERICAN_STATES = ("US", "U.S.", "American")


_PLURAL = frozenset(PRESENT.values()) - MODIFIERS - ROLE_HEADS
"""What several do: `Democrats ask Prime Minister of …`."""


def office_of(phrase: str, state: str | None) -> str | None:
    """A phrase after a name as an office that says whose it is; None: it does not."""
    bare = _DAY.sub("", phrase).strip().removeprefix("the ")
    bare = re.sub(r"^[Cc]urrent ", "", bare)
    bare = _ANOTHER_ROLE.sub(r"\1", _BESIDES.sub("", bare))
    if (
        not 2 <= len(bare.split()) <= 14
        or _POINTING.search(bare)
        or bare.startswith(("a ", "an ", "and "))
    ):
        return None
    head, link, _ = bare.partition(" of ")
    for other in (" for ", " at ", " to ", " in "):
        shorter, found, _ = bare.partition(other)
        if found and len(shorter) < len(head):
            head, link = shorter, found
    words_ = head.split()
    if not link or not words_ or len(words_) > 5 or not _NAMED.search(bare[len(head) :]):
        return None
    if "," in bare or bare.split()[-1].lower() in ("of", "for", "the", "and", "at", "in", "to"):
        return None
    owner = bare[len(head) :].split()
    verbs = [w for w in words_ if w.islower() and (w in FINITE or w in _PLURAL)]
    if owner[1:2] in (["a"], ["an"]) or verbs:
        return None
    if link == " of " and {*owner} & {"to", "into", "from"}:
        return None
    if any(w in FINITE or (w in PRESENT and w.islower()) for w in owner) or any(
        a in GIVEN and b[:1].isupper() for a, b in pairwise(owner)
    ):
        return None
    last = words_[-1] if words_[-1].isupper() else words_[-1].lower()
    if last == "member" and not (
        link == " for " and re.search(r"^(?:Federal |State |Labor |Liberal )*Member for", bare)
    ):
        return None
    if last not in ROLE_HEADS or any(w.isupper() and len(w) > 3 for w in words_):
        return None
    if re.search(r" and (?:[A-Z]|the |a )", bare[len(head) :]) and "Ministry" not in bare:
        tail = bare[bare.rfind(" and ") :]
        if any(w.strip(",").lower() in ROLE_HEADS for w in tail.split()):
            return None
    low = [w.lower() for w in words_]
    if {*low} & {
        "new",
        "longtime",
        "long-serving",
        "long-time",
        "next",
        "first",
        "late",
        "last",
        "only",
    }:
        return None
    if {*low} & NOT_NOW or low[-1] in _LASTING or one_of_several(low):
        return None
    if _THE_NATIONS.search(bare) or (low == ["head"] and " ".join(owner[1:]) in COUNTRIES):
        return None
    if "incumbent" in low or low[-2:] in _MANY or low[-1].startswith("spokes"):
        return None
    if low[-1] in ("minister", "secretary") and not _of_state(bare):
        national = state and link != " to " and "department" not in bare.lower()
        first = bare.split()[0]
        national = national and first.istitle() and first not in STATELESS
        if state in AMERICAN_STATES and low[-1] == "minister":
            return None
        return f"the {state} {bare}" if national else None
    if low[-1] in ("head", "director", "chief", "manager") and _UNIT.search(bare):
        return None
    return bare if re.match(r"(?:[A-Z][\w.-]+ )*[A-Z][\w.-]+['’]s? ", bare) else "the " + bare


def _of_state(office: str) -> bool:
    """Whether the office of a minister says of which country, or of what else it is."""
    found = office.replace("'s", "").replace("’s", "").split()
    pairs = {*found, *map(" ".join, pairwise(found))}
    return bool(
        pairs & (COUNTRIES | PLACES | DEMONYMS | {"Department", "Republic", "United Nations"})
    )


_BESIDES = re.compile(r",? and (?:an?|one|his|her|top|senior|leading|prominent|key|possible) .*$")

_ANOTHER_ROLE = re.compile(r"( (?:of|for|at) .*[A-Z][^,]*?),? and [a-z][^A-Z]*$")

_LASTING = words("""
    founder co-founder creator inventor designer author architect widow wife husband father mother
    successor predecessor winner
""")

_SOLE_DEPUTIES = ("prime minister", "premier", "leader", "attorney general", "mayor", "governor")


def one_of_several(office: list[str]) -> bool:
    """Whether several people can hold an office at a time: deputies and assistants of most."""
    beside = {"deputy", "assistant", "associate"} & {*office}
    if len(beside) > 1 and "principal" not in office:
        return True
    sole = "principal" in office or " ".join(office).endswith(_SOLE_DEPUTIES)
    return bool(beside) and not sole and office[-1] != "general"


_MANY = [
    ["board", "member"],
    ["senior", "member"],
    ["founding", "member"],
    ["vice", "premier"],
    ["vice", "president"],
    ["deputy", "premier"],
    ["deputy", "chairman"],
]

_THE_NATIONS = re.compile(rf"\bthe (?:{'|'.join(sorted(map(re.escape, COUNTRIES)))})['’]s\b")

_UNIT = re.compile(r"^[^']*\b(?:Division|Section|Branch|Unit|Team)$")

_DAY = re.compile(
    r"(?:,? (?:on )?(?:yesterday|today|tonight|[A-Z][a-z]+day)(?: (?:night|morning|afternoon))?)+$"
)

STATELESS = words("""
    Prime Former General Vice Permanent Executive State Cabinet Chief First Press Private Deputy
    Shadow Parliamentary Union Queensland Victorian Western Northern Assistant Acting Personal
""") - {"Assistant", "Acting"}
