"""Who holds an office, as appositions say: `X, the president of Y`, `French president X`."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from builders.questions.given import GIVEN
from builders.questions.lexicon import COMMON, COUNTRIES, DEMONYMS, ORG_HEADS, PLACES, TITLES, words
from builders.questions.nouns import KNOWN, ROLE_HEADS
from builders.questions.people import plain
from builders.questions.tails import FINITE
from builders.questions.verbs import AUXILIARIES, PAST, PRESENT
from builders.rows import Candidate

_MODIFIERS = words("""
    prime foreign finance defence defense interior home vice deputy chief executive managing
    opposition acting interim general attorney health education justice trade party majority
    minority economic environment transport energy immigration agriculture labour labor culture
    information communications treasury state house senate supreme central national federal
    assistant associate principal parliamentary legal financial operating technology marketing
    medical scientific research regional district military naval police fire crown head
""")
_SOLE = words("""
    president premier chancellor minister governor mayor king queen emperor sultan emir chairman
    chairwoman CEO speaker secretary-general taoiseach executive general
    secretary leader coach treasurer owner governor-general
""")
"""Roles that one person holds of a country or an organisation."""
_LOCAL = words("president premier mayor governor minister chancellor")
_NEED_MODIFIER = {
    "minister": None,
    "secretary": None,
    "executive": "chief",
    "general": "attorney",
    "chief": "police",
}
_CREEDS = words("""
    Catholic Christian Muslim Jewish Islamic Islamist Orthodox Hindu Buddhist Sikh Anglican
    Protestant Sunni Shia Shiite Kurdish Arab African European Asian Western Northern Southern
    Eastern Democrat Democratic Republican Labour Labor Liberal Conservative Socialist Communist
    Tory Green Coalition GOP Marxist Maoist Hispanic Latin Tamil Olympic American_Indian
""")
_PAST = words(
    """
    former ex late then then- outgoing incoming joint ousted deposed ex- onetime longtime alleged
    suspected reputed accused self-proclaimed self-declared disputed rival would-be jailed exiled
    imprisoned fugitive purported presumed designated veteran high-ranking senior top leading prominent
    long-term
"""
)
_NAMED = re.compile(r" (?:of|for|at|to|in) (?:the )?(?:[a-z]+ ){0,2}(?:the )?[A-Z]")
_POINTING = re.compile(
    r"\b(?:his|her|its|their|our|my|your|this|that|these|who|which|another|same|other|former|"
    r"during|under|until|since|one|then|late|now|also|said|formerly|previously|current)\b"
    r"|[\"“”:;()\d–—]"
)
_INTRODUCED = re.compile(
    r"(?:^|\b(?:said|says|by|with|and|to|from|including|that|when|while|like|asked|told|but)"
    r"|,[”\"]?|[”\"]) ?$"
)
_GOES_ON = re.compile(r"^, (?:the )?[A-Z][\w.'’-]*(?: (?:of|for|and|the|[A-Z][\w.'’-]*))*[,.]")
_ADJECTIVES = re.compile(
    r"^, (?!who|which|said|says|and|was|is|has|had|told|as|after|in|for|on|to|by|with|the"
    r"|a)[a-z-]+ [a-z-]+ (?:of|for)\b"
)
_TITLED = re.compile(
    rf"\b(?:{'|'.join(sorted(map(re.escape, TITLES), key=lambda w: (-len(w), w)))}"
    rf"|Member for [A-Z]\w+),? (?:the )?(?:Hon |Senator )*$"
)
_AFTERWARDS = re.compile(
    r" (?:in|on|at|during|after|as|about|with|to) (?:an?|his|her|response|reference) .*$"
)
_END = re.compile(r"[,;] |(?<![ .][A-Z])(?<!\b[A-Z][a-z])\.(?: (?![a-z])|[”\"]|$)")
_WORD = re.compile(r"[\w.&’'-]+")


@dataclass(frozen=True, slots=True)
class Office:
    """An office as a question names it, and the span of its holder in the sentence's text."""

    text: str
    holder: Candidate


def nation(text: str) -> str | None:
    """The one nation whose government an article speaks of: `Australian`; None: none, or two."""
    found = {m[1] for m in _GOVERNMENT.finditer(text) if m[1] in DEMONYMS - _CREEDS}
    if len(found) != 1:
        return None
    state = found.pop()
    counts = Counter(w[:4] for w in _WORD.findall(text) if w in _NATIONS)
    most = counts.most_common(2)
    others = max((n for stem, n in most if stem != state[:4]), default=0)
    return state if state in _US or counts[state[:4]] > 2 * others else None


_SERVANT = re.compile(
    r"\b(?:[Cc]ounsel+or|[Cc]ounsel|[Aa]dvis[eo]r|[Aa]ssistant|[Aa]ide|[Ss]ecretary|[Dd]eputy|[Ee]nvoy"
    r"|[Ss]pokes\w+|[Cc]hief of [Ss]taff|[Ll]awyer|[Aa]ttorney|[Aa]mbassador|[Ww]ife|[Ww]idow|[Ss]on"
    r"|[Dd]aughter|[Bb]rother|[Cc]andidate|[Nn]ominee|[Cc]hallenger|[Rr]unner-up|[Ss]uccessor"
    r"|[Cc]ritic|[Oo]pponent|[Rr]ival) (?:to|for|of) (?:the )?(?:[\w.’'-]+ ){0,6}$"
)
"""Whoever serves an office does not hold it: `Counselor to the President X`."""
_US = ("US", "U.S.", "American")
_NATIONS = COUNTRIES | (DEMONYMS - _CREEDS)


_GOVERNMENT = re.compile(
    r"\b((?:New Zealand|South African|South Korean|[A-Z][a-z]+|U\.S\.|UK|US)) "
    r"(?:[Gg]overnment|Parliament|Senate|Department of|Cabinet|Defence Force|Federal Police)"
)


def offices(
    sentence: str, offset: int, spans: Sequence[Candidate], state: str | None = None
) -> Iterator[Office]:
    """Offices that a sentence gives to its names; `offset` is where it starts in the article.

    `state`: the nation of ministers of whom the sentence does not say it.
    """
    for c in spans:
        if c.type != "entity" or c.label not in ("PERSON", None) or " " not in c.text:
            continue
        start, end = c.start - offset, c.end - offset
        after = _after(sentence[end:], state, bool(_TITLED.search(sentence[:start])))
        named = c.label == "PERSON" or (_INTRODUCED.search(sentence[:start]) and plain(c.text))
        if after and named:
            yield Office(after, c)
        if c.label == "PERSON":
            left, right = sentence[:start], sentence[end:]
            if led := _led(left, right, state):
                yield Office(led, c)
            if _SERVANT.search(left):
                continue
            own = _before(left, right, offset, spans) or _ministry(left, right, state)
            for before in (own, _around(left, right)):
                if before:
                    yield Office(before, c)


def _after(text: str, state: str | None, titled: bool) -> str | None:
    """The office after a name: `, the president of Croatia,`."""
    if not text.startswith(", "):
        return None
    stop = _END.search(text, 2)
    if stop is None:
        return None
    beside = re.match(r", (?:the )?(?:Hon\.? )?[A-Z]", text[stop.start() :])
    if beside and (titled or " for " in text[: stop.start()]):
        return None  # the next of a list: `Premier X, Member for Y, Z`
    phrase = _AFTERWARDS.sub("", text[2 : stop.start()])
    if phrase.split()[-1].endswith("-based") or _ADJECTIVES.match(text[stop.start() :]):
        return None
    if _GOES_ON.match(text[stop.start() :]) and not re.search(r" and |[A-Z].* [A-Z]", phrase):
        return None
    found = _WORD.findall(phrase)
    for i, word in enumerate(found):
        if i and (word in AUXILIARIES or (word in PAST and word == word.lower())):
            phrase = phrase[: re.search(rf"\b{re.escape(word)}\b", phrase).start()].strip()  # type: ignore[union-attr]
            break
    return _office(phrase, state)


def _office(phrase: str, state: str | None) -> str | None:
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
    if owner[1:2] in (["a"], ["an"]) or any(w in FINITE for w in words_ if w.islower()):
        return None
    if link == " of " and {*owner} & {"to", "into", "from"}:
        return None
    if any(w in FINITE or (w in PRESENT and w.islower()) for w in owner) or any(
        a in GIVEN and b[:1].isupper() for a, b in zip(owner, owner[1:], strict=False)
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
    if {*low} & _PAST or low[-1] in _LASTING or _one_of_several(low):
        return None
    if _THE_NATIONS.search(bare) or (low == ["head"] and " ".join(owner[1:]) in COUNTRIES):
        return None
    if "incumbent" in low or low[-2:] in _MANY or low[-1].startswith("spokes"):
        return None
    if low[-1] in ("minister", "secretary") and not _of_state(bare):
        national = state and link != " to " and "department" not in bare.lower()
        first = bare.split()[0]
        national = national and first.istitle() and first not in _STATELESS
        if state in _US and low[-1] == "minister":
            return None
        return f"the {state} {bare}" if national else None
    if low[-1] in ("head", "director", "chief", "manager") and _UNIT.search(bare):
        return None
    return bare if re.match(r"(?:[A-Z][\w.-]+ )*[A-Z][\w.-]+['’]s? ", bare) else "the " + bare


def _of_state(office: str) -> bool:
    """Whether the office of a minister says of which country, or of what else it is."""
    found = office.replace("'s", "").replace("’s", "").split()
    pairs = {*found, *map(" ".join, zip(found, found[1:], strict=False))}
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


def _one_of_several(office: list[str]) -> bool:
    """Whether several people can hold an office at a time: deputies and assistants of most."""
    beside = {"deputy", "assistant", "associate"} & {*office}
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


_LED = re.compile(
    r"(?:^(?:The )?|\b[Tt]he |[”\"] |said )(?P<role>(?:[A-Z][\w.’'-]+ |[a-z-]+ ){0,5}(?:of|for"
    r"|to|at) [^,.;:]{3,60}?)(?P<comma>,?) "
    r"(?:the )?(?:(?:Hon\.?|Honourable|Dr\.?|Mr|Ms|Mrs|Sir|Professor|Senator|General|Dame) )*$"
)


def _led(before: str, after: str, state: str | None) -> str | None:
    """The office that stands in full before a name: `The president of Croatia, X, `."""
    m = _LED.search(before)
    if not m or re.search(r"\b(?:[Ff]ormer|[Tt]hen|[Dd]eputy|ex-\w+)\b", m["role"]):
        return None
    if m["comma"] and not re.match(r"(?: MP| AC| AO)?(?:,| said| told| and|\.)", after):
        return None
    if not m["comma"] and not re.search(r"(?:[A-Z][\w.'’-]*[a-z]|U\.S\.)$", m["role"]):
        return None
    role = m["role"]
    if role.split()[-1] in TITLES or role.split()[-1] in ("Admiral", "Commander"):
        return None
    opener = role.split()[0]
    if opener in COMMON and opener not in TITLES and opener.lower() not in ROLE_HEADS | _MODIFIERS:
        return None
    if before[m.start() : m.start("role")] == "" and m.start() == 0:
        role = role[0].lower() + role[1:] if role.split()[0] in ("President", "Director") else role
    return _office(role, state)


_OFFICES = words("""
    president premier chancellor governor mayor king queen emperor sultan emir director commissioner
    attorney speaker administrator chairman chairwoman superintendent
""") | {"attorney general", "agent in charge", "prime minister", "inspector general"}
_AROUND = re.compile(
    r"^(?: MP| AC)? (?:of|for) (?P<of>(?:the )?[A-Z][\w.&’'-]*(?: (?:(?:of|for|and|the"
    r"|in) )*[A-Z][\w.&’'-]*)*)"
)


def _around(before: str, after: str) -> str | None:
    """The office on both sides of a name: `President X of Moldova`."""
    m = _AROUND.match(after)
    found = _WORD.findall(before[-60:])
    if not m or not found or not before.endswith(" "):
        return None
    for n in range(min(3, len(found)), 0, -1):
        ends = " ".join(found[-n:])
        if ends.lower() in _OFFICES and before[:-1].endswith(ends):
            break
    else:
        return None
    i = len(found) - n
    while (
        i
        and (found[i - 1].lower() in _MODIFIERS | {"special", "deputy", "u.s.", "united", "states"})
        and before[:-1].endswith(" ".join(found[i - 1 :]))
    ):
        i -= 1
    role = " ".join(found[i:])
    if _one_of_several(role.lower().split()):
        return None
    if ends.lower() in ("attorney", "director") and len(found) - i < 2:
        return None
    if i and (found[i - 1].lower() in _PAST or found[i - 1].lower() == "of"):
        return None
    if i and found[i - 1][0].isupper() and found[i - 1] not in COMMON and len(before) > 60:
        return None
    owner = m["of"].rstrip(".")
    if re.search(r"[a-z]\.[A-Z]", owner):
        return None
    owner = re.sub(r"['’]s$", "", owner)
    for cut in re.finditer(r" and ", owner):
        rest = owner[cut.end() :].split()
        if {*rest} & (TITLES | GIVEN) or any(w.lower() in ROLE_HEADS for w in rest):
            owner = owner[: cut.start()]
            break
    local = re.search(r"\b(?:Office|Division|Bureau)\b", owner)
    if "agent" in role.lower() and not local:
        return None
    if "assistant u.s." in role.lower():
        return None
    if not before[:-1].endswith(role) or owner.endswith((" of", " the", " for")):
        return None
    return f"the {role} {'for' if after.lstrip().startswith('for') else 'of'} {owner}"


_MINISTER = re.compile(
    r"(?:^(?:The )?|(?<![\w’'-])[a-z]+,? |[”\"] )((?:(?:Deputy|Acting"
    r"|Assistant) )?(?:[A-Z][a-z]+ ){1,2}(?:Minister|Secretary)|Treasurer|Attorney General"
    r"|Attorney-General),? "
    r"(?:the )?(?:(?:Hon\.?|Dr\.?|Mr|Ms|Mrs|Sir|Senator) )*$"
)


def _ministry(before: str, after: str, state: str | None) -> str | None:
    """A minister of the nation whose government the article speaks of."""
    us = state in _US
    m = _MINISTER.search(before) if state and not after.startswith((" of ", " for ")) else None
    if m and re.search(r"[A-Z][\w']+,? (?:and|&) $", before[: m.start(1)]):
        return None
    if not m or m[1].split()[0] in DEMONYMS | _STATELESS or before[: m.start(1)].endswith("ormer "):
        return None
    ours = _AMERICAN.fullmatch(m[1]) if us else not m[1].endswith("Secretary")
    return f"the {'U.S.' if us else state} {m[1]}" if ours else None


_AMERICAN = re.compile(
    r"(?:(?:Treasury|Defense|Education|Energy|Agriculture|Commerce|Labor|Transportation|Interior) "
    r"Secretary|Attorney General)"
)


_STATELESS = words("""
    Prime Former General Vice Permanent Executive State Cabinet Chief First Press Private Deputy
    Shadow Parliamentary Union Queensland Victorian Western Northern Assistant Acting Personal
""") - {"Assistant", "Acting"}


def _before(text: str, after: str, offset: int, spans: Sequence[Candidate]) -> str | None:
    """The office before a name: `French Foreign Minister `, `Croatia's president `."""
    if text.endswith(", ") and after.startswith(","):
        text = text[:-2] + " "
    found = list(_WORD.finditer(text))
    if not found or not text.endswith(" ") or found[-1].end() != len(text) - 1:
        return None
    i = len(found)
    role: list[str] = []
    while i and len(role) < 4:
        if i < len(found) and text[found[i - 1].end() : found[i].start()] != " ":
            return None
        word = found[i - 1][0]
        low = word if word.isupper() else word.lower()
        joined = role and low == "and" and i > 1 and found[i - 2][0].lower() in _SOLE
        if low not in (ROLE_HEADS if not role or role[0] == "and" else _MODIFIERS) and not joined:
            break
        role.insert(0, low)
        i -= 1
    if not role or role[-1] not in _SOLE or not i or _one_of_several(role):
        return None
    need = _NEED_MODIFIER.get(role[-1], "")
    if (need is None and len(role) < 2) or (need and need not in role[:-1]):
        return None
    owner = found[i - 1]
    if text[owner.end() : found[i].start()] != " ":
        return None
    if i > 1 and (found[i - 2][0].lower() in _PAST or found[i - 2][0].lower().startswith("ex-")):
        return None
    name = " ".join(role)
    if name.startswith(("general", "head ", "state ", "national ", "chief president")):
        return None
    if owner[0] in DEMONYMS and owner[0] not in _CREEDS:
        if i > 1 and found[i - 2][0][0].isupper() and found[i - 2].end() + 1 == owner.start():
            return None
        if role == ["leader"] or role[-1] in ("coach", "captain", "founder", "owner"):
            return None
        return f"the {owner[0]} {name}"
    for c in spans:
        end = c.end - offset
        if c.type != "entity" or c.label not in ("GPE", "ORG", None):
            continue
        if text[end:] in ("'s " + text[found[i].start() :], "’s " + text[found[i].start() :]):
            own = c.label == "GPE" or c.text in KNOWN or (c.label == "ORG" and " " in c.text)
            return f"{c.text}'s {name}" if own else None
        if (
            end == owner.end()
            and (c.label == "ORG" or c.text in KNOWN or (c.label == "GPE" and role[-1] in _LOCAL))
            and role[-1] not in ("king", "queen")
            and (c.label == "GPE" or role[-1] != "governor")
            and c.text.split()[0].lower() not in _PAST
            and c.text not in ORG_HEADS
            and not text[: c.start - offset].endswith("former ")
        ):
            return f"the {c.text} {name}"
    return None
