"""Simple declarative sentences taken apart: subject, verb group, rest, adverbials at the end."""

import re
from dataclasses import dataclass

from builders.questions import dates
from builders.questions.lexicon import (
    COMMON,
    DEMONYMS,
    MONTHS,
    NAME_PARTS,
    OPENS_NAMES,
    TITLES,
    WEEKDAYS,
    words,
)
from builders.questions.nouns import ROLES, STATES, THINGS
from builders.questions.tails import COMMA, FINITE, guarded, trim, undated
from builders.questions.tokens import capital
from builders.questions.verbs import PARTICIPLE, PAST, PAST_OF, PRESENT

_REFUSED = re.compile(
    r"[\"“”„:;()\[\]?!—–•]| - |\b(?:it|he|she|they|him|them|we|us|I|you|me|there|these|those|"
    r"(?<= )-[a-z]+|According|However|this|if|whether|not|never|n't|cannot|meanwhile|however"
    r"|instead|each|both|own|same|such|other|others|"
    r"another|former|then|later|earlier|further|himself|herself|itself|themselves|one of them"
    r"|our|my|your|"
    r"their|so|how|what|why|yesterday|today|tomorrow|tonight)\b",
)
_REFUSED_SUBJECT = re.compile(_REFUSED.pattern.replace("former|", ""))
_ADVERBS = words("""
    also again first officially formally finally already now still only just immediately
    narrowly easily comfortably provisionally unanimously jointly briefly publicly today yesterday
    successfully recently subsequently previously reportedly currently personally strongly
    initially originally eventually temporarily indefinitely effectively sharply repeatedly
    controversially quickly both tonight
""")
_WEEKDAY = "|".join(sorted(WEEKDAYS))
_MONTH = "|".join(MONTHS)
_DATED_LEAD = re.compile(
    rf"^(?P<pp>(?:In|On|Since) (?P<d>(?:{_MONTH}) \d{{1,2}}, \d{{4}}"
    rf"|[^, ]+(?: [^, ]+){{0,3}}?)),? (?=[A-Z])"
)
_LEAD = re.compile(
    rf"^(?:(?:Late |Early |Earlier |Also )?(?:[Oo]n )?(?:{_WEEKDAY}|[Tt]oday|[Yy]esterday)"
    r"(?: (?:night|morning|evening|afternoon))?,? "
    r"|(?:Meanwhile|Separately|In addition|Additionally|Also|Finally|However|Earlier|Later"
    r"|Last week|Last month|"
    r"This week|In a statement|Elsewhere|(?:In|At|During|Following|After|With|Citing|Speaking"
    r"|Despite|Amid|As part of|Over|Ahead of|For)"
    r" [^,\"“”]{3,70}), )(?=[A-Z])"
)
_BETWEEN = re.compile(
    rf"(?<=[\w.)]) (?:on )?(?:{_WEEKDAY}|today|yesterday)(?: (?:night|morning|evening"
    rf"|afternoon))?(?= [a-z]+(?:ed|s|ew|old|on|et|id)? )"
)
_TOPIC = re.compile(r"^[A-Z0-9][^:,.]{2,60}: (?=[A-Z])")
_PARENTHESIS = re.compile(r" ?\([^()]*\)")
_STATES_OF = words("""
    locate situate base know expect consider call regard intend suppose list require concern
    believe make design describe schedule see estimate allege need aim entitle involve relate
    connect link surround prepare interest worry mean think say report
""")
STATIVE = words("""
    be have own lead live remain include contain consist represent chair head run govern direct
    manage coach hope want need expect believe know think like love hate fear support oppose belong
    mean seem say deny claim exist depend cost comprise produce work employ operate plan intend
    require aim continue feature mark help play suggest show allow provide stand lie sit cover use
    see look feel keep hold vow serve share border count teach practice star bear wear face consider
    describe argue insist speak offer enjoy rely refer agree value insure regard respect recognise
    recognize trade compete earn lack matter measure weigh rank reflect apply permit enable
    understand remember represent involve concern relate
""")
_ENDED = words("""
    found establish bear die resign open close launch marry arrest kill win retire execute release
    dissolve abolish build complete finish begin start end graduate divorce collapse create form
    ratify publish demolish destroy discover incorporate charter sink crash explode erupt elect
    re-elect reelect murder assassinate shoot deport free sentence convict inaugurate sign
""")
_NAME = re.compile(
    r"(?:(?:the )?(?:Hon|Dr|Mr|Ms|Mrs|Senator|General)\.? )*[A-Z][\w.'’-]+(?: [A-Z][\w.'’-]+){1,3}"
)
_NEVER_SUBJECTS = (
    COMMON - OPENS_NAMES - {t.split()[0] for t in TITLES} - {"The", "Former", "Senior"}
)
_BARE = words("in on at to for by from with as of")


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
    is the base form of `verb`. `apposition` is what stands between commas after the subject.
    """

    subject: str
    aux: str | None
    verb: str
    base: str
    form: str
    rest: str
    when: Adverbial | None
    apposition: str = ""
    told: bool = False
    """Whether the present or the perfect of the sentence was made past."""
    again: bool = False
    """Whether the sentence tells of one more time (`was also`, `won again`)."""
    year: int = 0
    """Of a day that the sentence gives without its year; 0: not known."""


def parse(sentence: str) -> Clause | None:
    """The main clause of a simple sentence; None where its reading is not certain."""
    text = sentence.strip()
    if not text.endswith(".") or len(text) > 500:
        return None
    text = guarded(_PARENTHESIS.sub("", text[:-1]))
    text, front = _lead(text)
    text = (
        _BETWEEN.sub("", text, count=1) if (m := _BETWEEN.search(text)) and m.start() < 90 else text
    )
    found = _subject(text)
    if found is None:
        return None
    subject, apposition, rest = found
    if "," in subject or _REFUSED_SUBJECT.search(subject) or re.search(r"\d|['’]s?$", subject):
        return None
    group = _verb_group(rest)
    if group is None:
        return None
    aux, verb, base, form, used = group
    tail = undated(" " + " ".join(rest[used:]))
    tail = trim(tail.strip(), base) if tail else None
    if tail and (bad := _REFUSED.search(tail)):
        tail = _before_participle(tail[: bad.start()])
    if tail is None:
        return None
    tail, when = _split_when(" " + tail)
    when = when or front
    tail = tail.replace(COMMA, ",")
    if not tail and (when is None or base not in _ENDED):
        return None
    if tail and (tail.split()[0] in ("to", "being") or tail.split()[-1] in _BARE):
        return None
    narrated = _narrated(aux, verb, base, form, tail)
    told = narrated != (aux, verb, form)
    again = bool({"also", "again"} & {*rest[:used]})
    return Clause(
        subject, narrated[0], narrated[1], base, narrated[2], tail, when, apposition, told, again
    )


def _before_participle(text: str) -> str | None:
    """`text` up to its last participle phrase (`a letter to X | calling on …`); None: it has none."""
    found = list(re.finditer(r" [a-z]{3,}ing\b", text))
    kept = text[: found[-1].start()] if found else ""
    whole = len(kept.split()) > 3 and kept.split()[-1].lower() not in _BARE | {
        "the",
        "a",
        "an",
        "and",
    }
    return kept if whole else None


def _lead(text: str) -> tuple[str, Adverbial | None]:
    """A sentence without the adverbial that opens it, and its date."""
    text = (
        text.replace(COMMA, ",")
        if text.startswith(("On ", "In ")) and _DATED_LEAD.match(text.replace(COMMA, ","))
        else text
    )
    lead = _DATED_LEAD.match(text)
    if lead:
        front = _adverbial(lead["pp"][0].lower() + lead["pp"][1:])
        if front:
            return guarded(text[lead.end() :]), front
    if lead := _LEAD.match(text):
        return text[lead.end() :], None
    return text, None


def _narrated(
    aux: str | None, verb: str, base: str, form: str, tail: str
) -> tuple[str | None, str, str]:
    """The perfect, and the present of news in brief (`X wins`), as the past that they tell."""
    lasting = re.search(
        r"\b(?:since|so far|yet|always|ever|for [\w ]+ (?:years|months|weeks|days))\b", tail
    )
    if form == "present_passive" and base not in _STATES_OF | STATIVE:
        return {"is": "was", "are": "were"}[str(aux)], verb, "passive"
    if base in STATIVE or lasting:
        return aux, verb, form
    if form == "present" or (form == "perfect" and aux == "has"):
        return None, PAST_OF[base], "past"
    return aux, verb, form


def _subject(text: str) -> tuple[str, str, list[str]] | None:
    """Subject, the apposition after it, and the words from the verb group on."""
    found = text.split(" ")
    stop = next((n for n, w in enumerate(found) if w.endswith(",")), len(found))
    size = _size(found)
    if 0 < size < min(stop, len(found) - 1):
        return " ".join(found[:size]), "", found[size:]
    head = [*found[:stop], found[stop].rstrip(",")] if stop < len(found) else []
    if not head or len(head) > 10 or not _all_subject(head):
        return None
    segments = " ".join(found[stop + 1 :]).split(", ")
    if _NAME.fullmatch(segments[0]) and any(w.lower() in ROLES or w in TITLES for w in head):
        rest = segments[1].split(" ") if len(segments) > 1 else [""]
        if rest[0] in FINITE or rest[0] in PRESENT:
            return segments[0], " ".join(head), ", ".join(segments[1:]).split(" ")
    first = segments[0].split(" ")
    n = next((n for n, w in enumerate(first) if not w[:1].isupper()), 0)
    role = head[-1].lower() in ROLES or head[-1] in TITLES or " of " in " ".join(head)
    if role and 1 < n < 5 and (first[n] in FINITE or first[n] in PRESENT):
        if any(w.lower() in ROLES or w in TITLES for w in head):
            return (
                " ".join(first[:n]),
                " ".join(head),
                ", ".join([" ".join(first[n:]), *segments[1:]]).split(" "),
            )
    for k in range(1, min(4, len(segments))):
        if not _apposed(segments[k - 1]):
            return None
        rest = segments[k].split(" ")
        n = 0
        while n < len(rest) - 1 and rest[n] in _ADVERBS:
            n += 1
        if rest[n] in FINITE or rest[n] in PRESENT or rest[n] == "will":
            return " ".join(head), ", ".join(segments[:k]), ", ".join(segments[k:]).split(" ")
    return None


def _all_subject(head: list[str]) -> bool:
    """Whether words are a subject and nothing more: the verb comes after them."""
    return _size([*head, "was", "x"]) == len(head)


def _apposed(segment: str) -> bool:
    """Whether a segment between commas tells about the name before it."""
    found = segment.split(" ")
    first = found[0]
    if (
        re.fullmatch(r"(?:aged? )?\d{1,2}|[JS]r\.?|a\.k\.a\..*|of [A-Z].*", segment)
        or segment in STATES
    ):
        return True
    if first in (
        "who",
        "which",
        "whose",
        "formerly",
        "aged",
        "also",
        "known",
        "based",
        "born",
        "himself",
        "first",
        "once",
        "previously",
    ):
        return True
    role = any(w.strip(".,") in ROLES or w.lower() in ROLES or w in THINGS for w in found)
    if first in ("the", "a", "an", "one") or (first.islower() and role):
        return not any(w in FINITE and w not in PARTICIPLE for w in found)
    return first.lower() in ROLES or (role and (" of " in segment or " for " in segment))


def _size(words: list[str]) -> int:
    """How many words the subject takes: names, `The … of Name`, `The Spanish parliament`."""
    if not words[0][:1].isupper() or (words[0] in _NEVER_SUBJECTS):
        return 0
    i = 0
    capitals = 0
    while i < len(words) and i < 12:
        word = words[i]
        low = word.lower()
        if i and word == low and (low in FINITE or low in PRESENT or low in ("will", *_ADVERBS)):
            ambiguous = low in PRESENT and words[0] == "The" and capitals == 0
            if low in ROLES and low in PRESENT:
                i += 1
                continue
            return 0 if ambiguous else (i if capitals else 0)
        if capital(word) and not (i == 0 and word in ("The", "Former")):
            capitals += 1
        elif (
            i and low not in ("of", "the", "and", "for", "in", *NAME_PARTS) and not _noun(words, i)
        ):
            return 0
        if word.endswith(","):
            return 0
        i += 1
    return 0


_BESIDE = words("""
    former prime vice foreign chief deputy defence defense interior finance opposition party
    founding acting interim right-wing left-wing far-right far-left veteran ruling state-owned
    low-cost national military rebel presidential gubernatorial mayoral senior junior top world
    tennis football basketball baseball soccer rugby cricket golf boxing cycling Olympic pop rock
    film opera folk jazz media oil energy tech technology software mining pharmaceutical drug car
    investment news satellite television TV radio telecommunications telecom space search internet
    social political human rights anti-corruption environmental labor labour union student gay
    executive general managing police army intelligence business retired serial Nobel gold
    mass climate family insurance internet online mobile shipping steel aerospace defence food
    retail electric electronics computer video game games cruise commercial cargo passenger
    supreme court village town city island holding parent group giant
""")


def _noun(words: list[str], i: int) -> bool:
    """Small words may follow `The`, `The Spanish` or stand before `of`; roles follow any name."""
    low = words[i].rstrip(",")
    if low in ROLES or low in THINGS or low in _BESIDE:
        return True
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
    if first in ("has", "have") and after == "been" and j + 2 < len(words):
        k = j + 1
        while k + 1 < len(words) and words[k] in _ADVERBS:
            k += 1
        base = PARTICIPLE.get(words[k], "")
        if base and base != "be" and k + 1 < len(words):
            return ("was" if first == "has" else "were"), words[k], base, "passive", k + 1
    if first in ("was", "were", "is", "are"):
        form = "be" if first in ("was", "were") else "present_be"
        if after in PARTICIPLE and PARTICIPLE[after] != "be" and j + 1 < len(words):
            form = "passive" if form == "be" else "present_passive"
            return first, after, PARTICIPLE[after], form, j + 1
        bad = after.endswith(("ing", "ed")) or after in (
            "to",
            "not",
            "able",
            "likely",
            "due",
            "being",
            "set",
        )
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


def _split_when(tail: str) -> tuple[str, Adverbial | None]:
    """The rest without its dated adverbial; the last absolute one is kept apart."""
    when = None
    for m in reversed(list(re.finditer(r" (?:in|on|since|until|from|by) ", tail))):
        when = _adverbial(tail[m.start() + 1 :].replace(COMMA, ","))
        if when:
            tail = tail[: m.start()]
            break
        m2 = _MID.match(tail[m.start() :])
        if m2 and (when := _adverbial(m2[1].replace(COMMA, ","))):
            tail = tail[: m.start()] + tail[m.start() + m2.end() :]
            break
    return " ".join(tail.split()), when


_MID = re.compile(
    rf" (on (?:\d{{1,2}} (?:{_MONTH})(?: \d{{4}})?|(?:{_MONTH}) \d{{1,2}}(?:{COMMA} \d{{4}})?))"
    r"(?= (?:in|at|near|with|for|to|by|after|from|against|the|a|an) )"
)


def _adverbial(phrase: str) -> Adverbial | None:
    """A phrase that is nothing but preposition and absolute date, or a span of years."""
    span = re.fullmatch(r"from (.+) (?:to|until) (.+)", phrase)
    if span:
        ok = all(_whole(p, "in ") in ("YEAR", "MONTH", "DAY") for p in span.groups())
        return Adverbial("from", phrase, "SPAN") if ok else None
    head, _, text = phrase.partition(" ")
    kind = _whole(text, "in ")
    if kind == "DAY_OF_YEAR" and head == "on":
        return Adverbial(head, text, kind)
    return Adverbial(head, text, kind) if kind in ("YEAR", "MONTH", "DAY") else None


def _whole(text: str, before: str) -> str | None:
    """The kind of date that all of `text` is."""
    for a, b, kind in dates.dates(before + text):
        if a == len(before) and b == len(before) + len(text):
            return kind
    return None
