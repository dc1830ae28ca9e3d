"""Questions from clauses: what each part of a clause can be asked for."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from builders.questions.ask_phrase import word_for
from builders.questions.clauses import STATIVE, Clause
from builders.questions.lexicon import COUNTRIES, DEMONYMS, PLACES, TITLES, words
from builders.questions.nouns import ROLES, THINGS
from builders.questions.people import Cast, scored, which
from builders.questions.verbs import PARTICIPLE, PAST_OF

_HUMAN = words("""
    appoint beat choose defeat elect meet name nominate replace succeed marry sack dismiss oust
    arrest sign endorse murder receive welcome visit honour
""") - {"visit"}
_BOUGHT = frozenset(["buy", "acquire", "purchase"])
_DATED_BY_ANOTHER = re.compile(r"\b(?:since|after|before|following)\b|\bto [a-z]+ ")
_REPEATED = words("be win serve lead head coach become hold lose visit meet score play")
_TELLING = words("report announce say claim confirm reveal declare blame name")
_BEYOND_NAMES = re.compile(r"(?<!^)\b(?:in|on|for|as|of|to|with|at|from|after|over|against|by)\b")
_PASSED = frozenset(["surpass", "exceed", "top"])
_COUNTED = words("report confirm record register announce")
_COUNTS = re.compile(
    r"\b(?:its|the country's|the) (?:first|second|third|record|highest)\b|\bfirst case"
)
"""What many countries do in turn: they pass a number, they report a first case."""
_ALONE = frozenset(["succeed", "defeat", "beat", "replace", "marry", "murder", "oust"])
_STATES = ("Which country", "Which state")
_DATABLE = words("""
    win become elect appoint bear kill found establish arrest die resign sign marry join leave open
    launch begin start end close acquire buy sell beat defeat arrive visit meet release publish land
    crash ratify adopt pass approve introduce retire return host hold form create build bury convict
    sentence indict execute nominate name inaugurate move take enter invade capture liberate seize
    assassinate murder shoot divorce premiere debut graduate serve play score break record file
    acquit extradite deport ban abolish dissolve merge withdraw declare gain lose cut suspend lift
    impose repeal legalise legalize complete finish destroy sink explode erupt strike hit swear
    charge plead testify award receive replace succeed oust overthrow depose step hand surrender
    bomb attack evacuate discover reach set unveil free deploy commission decommission demolish
    rename reopen collapse disappear abduct kidnap rescue test detonate veto reject dismiss
    reappoint reelect re-elect fire sack present deliver issue ground recall
    split survive propose predict settle use represent discover teach coach
    be have lead own chair head run govern direct manage coach live rule reign remain work
""")
_PLACED = words("""
    die arrest kill hold crash land arrive sign open meet sentence explode erupt occur happen begin
    start end shoot bury attack bomb beat defeat win detain capture strike hit gather protest
    perform marry host take assassinate murder find bear crown launch break discover stab collapse
    appoint swear ask name dismiss execute extradite deport unveil convict speak play jail behead
    ambush rescue collide derail sink seize celebrate convene finish hospitalize evacuate inaugurate
""")
_LIVE = words("""
    be remain lead own chair head run govern direct manage coach
""")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the part of the clause that answers it."""

    question: str
    answer: str
    about: str  # subject, object, date, place, phrase


def _tense(clause: Clause, late: bool) -> tuple[str | None, str]:
    """Auxiliary and verb as the question day wants them; what is may have been by then."""
    if late and clause.form in ("present_be", "present_passive"):
        return {"is": "was", "are": "were"}[str(clause.aux)], clause.verb
    if late and clause.form == "present":
        return None, PAST_OF[clause.base]
    return clause.aux, clause.verb


def _join(*parts: str | None) -> str:
    return " ".join(p for p in parts if p)


def _when(clause: Clause) -> str | None:
    if clause.when is None:
        return None
    if clause.when.kind == "SPAN":
        return clause.when.text
    if clause.when.kind == "DAY_OF_YEAR":
        comma = "," if clause.when.text[0].isalpha() else ""
        return f"on {clause.when.text}{comma} {clause.year}"
    return f"{clause.when.preposition} {clause.when.text}"


def _did(clause: Clause, subject: str, late: bool) -> tuple[str, str]:
    """What goes before and after the rest in an inverted question: `did Sánchez`, `win`."""
    aux, verb = _tense(clause, late)
    subject = _the(subject)
    if aux is None:
        present = clause.form == "present" and not late
        return f"{'does' if present else 'did'} {subject} {clause.base}", ""
    return f"{aux} {subject} {verb}".strip(), ""


def inverted(
    clause: Clause, word: str, subject: str, rest: str, when: str | None, late: bool
) -> str:
    """`When did SUBJECT VERB REST WHEN?`"""
    return _join(word, _did(clause, subject, late)[0], rest, when) + "?"


def asks(clause: Clause, cast: Cast, grow: Callable[[str], str], late: bool) -> Iterator[Asked]:
    """Every question that the clause allows; `late`: asked when its present is past.

    `grow` writes the names of a text in full.
    """
    if clause.form in ("perfect", "future") and late:
        return
    subject, rest = grow(clause.subject), grow(clause.rest)
    yield from _subject(clause, cast, rest, late)
    if clause.form == "passive":
        yield from _agent(clause, cast, subject, grow)
    if clause.form in ("pluperfect", "perfect") and not (
        clause.when and clause.when.preposition == "since"
    ):
        return
    yield from _date(clause, subject, rest, late)
    if clause.form in ("past", "passive", "be"):
        yield from _object(clause, cast, subject, late, grow)
        yield from _phrases(clause, cast, subject, late, grow)


def _subject(clause: Clause, cast: Cast, rest: str, late: bool) -> Iterator[Asked]:
    name = _of_place(clause.subject, cast).removeprefix("The ")
    known = next((n for n in _names(cast, name) if name.endswith(n)), None)
    since = clause.when is not None and clause.when.preposition == "since"
    if known is None or clause.form == "pluperfect" or (clause.form == "perfect" and not since):
        return
    if clause.base == "be" and not _identity(rest):
        return
    before = name[: -len(known)].strip()
    if clause.subject.startswith("The "):
        before = f"The {before}".strip()
    kind = cast.kind(known)
    if not _prefix(before, kind, cast):
        return
    word = which(cast.whole(known), kind, rest, before, clause.apposition)
    if word is None or (clause.when and clause.when.preposition == "since" and late):
        return
    if clause.base in ("thank", "welcome") or (word in _STATES and clause.base in STATIVE - {"be"}):
        return
    if clause.base == "bear" and rest[:1].isupper():
        return  # `was born Norma Jeane Mortenson`
    if clause.base in ("work", "live", "belong") and clause.when is None:
        return
    if clause.base in _TELLING and not _BEYOND_NAMES.search(rest):
        return
    if clause.base in _PASSED or (clause.base in _COUNTED and _COUNTS.search(rest)):
        return
    aux, verb = _tense(clause, late)
    if aux in ("were", "are"):
        if not word.startswith("Which country"):
            return
        aux = {"were": "was", "are": "is"}[aux]
    question = _join(word, aux, verb, rest, _when(clause)) + "?"
    yield Asked(question, known, "subject")


def _identity(rest: str) -> bool:
    """Whether what follows `was` tells who it was: `the first …`, `president of …`, `X's …`."""
    found = rest.split()
    if len(found) < 2 or re.search(r"\band (?:his|her|its|their|has|was|is)\b", rest):
        return False
    first = found[0]
    role = first.lower() in ROLES or first in TITLES
    return first == "the" or role or (first[0].isupper() and first.endswith(("'s", "’s")))


def _of_place(subject: str, cast: Cast) -> str:
    """`Brigid Kosgei of Kenya` without her country; other subjects as they are."""
    name, of, place = subject.partition(" of ")
    person = of and any(cast.kind(n) == "PERSON" and name.endswith(n) for n in cast.first)
    there = place in COUNTRIES or place in PLACES
    return name if person and there else subject


def named_whole(subject: str, cast: Cast) -> bool:
    """Whether a subject that ends in a person's name has only her title before it."""
    name = subject.removeprefix("The ")
    known = next((n for n in _names(cast, name) if name.endswith(n)), None)
    if known is None or cast.kind(known) != "PERSON":
        return True
    return _prefix(name[: -len(known)].strip(), "PERSON", cast) or name == known


def of_subject(
    clause: Clause, cast: Cast, grow: Callable[[str], str], late: bool
) -> Iterator[Asked]:
    """The question for the subject alone."""
    yield from _subject(clause, cast, grow(clause.rest), late)


def _prefix(before: str, kind: str | None, cast: Cast) -> bool:
    """Whether the words before a name are its title or kind: `President`, `The Spanish airline`."""
    if not before or before == "The":
        return kind != "PERSON" or not before
    found = before.split()
    last = found[-1]
    if re.fullmatch(r"(?:[A-Z][a-z]+ )?[a-z-]+ and [a-z -]+", before) and last in ROLES:
        return kind == "PERSON"
    if re.match(r"(?:The |the )?[a-z]+ of ", before):
        return False
    if (
        last.lower() in ("of", "for", "and", "with", "by", "in", "the", "to", "at")
        or " and " in before
    ):
        return False
    if kind != "PERSON":
        return last in THINGS or (len(found) <= 2 and last in DEMONYMS)
    return last in TITLES or last.lower() in ROLES or last in DEMONYMS or last in ROLES


def _names(cast: Cast, text: str) -> list[str]:
    """Names of the article in a text, the longest first."""
    return sorted((n for n in cast.first if n in text), key=len, reverse=True)


def _reduced_end(text: str) -> bool:
    """Whether a text ends in a participle, which what comes next would belong to."""
    found = text.split()
    return len(found) > 1 and found[-1] in PARTICIPLE and found[-1] not in PAST_OF


def _date(clause: Clause, subject: str, rest: str, late: bool) -> Iterator[Asked]:
    if clause.when is None or _DATED_BY_ANOTHER.search(clause.rest):
        return
    if clause.base == "bear" and rest[:1].isupper():
        return
    if clause.again and clause.base in _REPEATED:
        return
    if _reduced_end(clause.rest):
        return  # `part of the deal signed in 2016`
    head, text, kind = clause.when.preposition, clause.when.text, clause.when.kind
    if clause.base not in _DATABLE or not 0 <= len(rest.split()) <= 14:
        return
    if re.match(r"(?:its|his|her) ", rest) and len(rest.split()) < 4:
        return
    if kind == "SPAN":
        if clause.form in ("be", "past") and clause.base in _LIVE:
            yield Asked(
                inverted(clause, "During which years", subject, rest, None, late), text, "phrase"
            )
        return
    word = {"until": "Until when", "since": "Since when"}.get(head, "When")
    if word == "Since when" and clause.form in ("past", "passive"):
        return
    if word == "Since when" and late and clause.form != "pluperfect":
        return
    if word == "When" and (clause.form.startswith("present") or head in ("by", "from")):
        return
    if word == "When" and clause.form == "be":
        return
    if word == "When" and kind == "YEAR":
        word = "In which year"
    if kind == "DAY_OF_YEAR":
        if word != "When" or not clause.year:
            return
        word = f"On which day of {clause.year}"
    yield Asked(inverted(clause, word, subject, rest, None, late), text, "date")


def _object(
    clause: Clause, cast: Cast, subject: str, late: bool, grow: Callable[[str], str]
) -> Iterator[Asked]:
    if clause.form != "past" or " and " in clause.rest or "," in clause.rest:
        return
    for name in _names(cast, clause.rest):
        before, _, after = clause.rest.partition(name)
        kind = cast.kind(name)
        if before not in ("", "the ") and not (kind == "PERSON" and _titled(before)):
            continue
        if (after and not after.startswith(" ")) or re.match(r" of | \d+[a-z]", after):
            continue
        word = None
        vague = clause.base not in _ALONE and not after and clause.when is None
        if clause.base in _HUMAN and kind == "PERSON" and not vague:
            word = "Whom"
        elif clause.base in ("beat", "defeat") and kind != "PERSON" and scored(after):
            word = "Which team"
        elif (
            clause.base in _BOUGHT and kind in (None, "ORG") and re.match(r" for [\d$€£]|$", after)
        ):
            word = "Which company"
        if word:
            yield Asked(
                inverted(clause, word, subject, grow(after.strip()), _when(clause), late),
                name,
                "object",
            )
        return


_AGENT = re.compile(
    r"^(.*?)\bby (.+?)((?: (?:in|at|on|for|to|from|after|with|near|as|under) .*)?)$"
)


def _agent(clause: Clause, cast: Cast, subject: str, grow: Callable[[str], str]) -> Iterator[Asked]:
    """`X was designed by Y in Z` -> `Which company designed X in Z?`"""
    m = _AGENT.match(clause.rest)
    if (
        not m
        or len(m[1].split()) > 3
        or re.search(r"ing\b|\bof\b", m[1])
        or " and " in m[2]
        or "," in m[2]
    ):
        return
    known = next((n for n in _names(cast, m[2]) if m[2].endswith(n)), None)
    if known is None:
        return
    before = m[2][: -len(known)].strip().removeprefix("the ")
    kind = cast.kind(known)
    if not _prefix(before, kind, cast):
        return
    word = which(cast.whole(known), kind, "", before)
    if word is None or clause.base == "bear":
        return
    aux = clause.aux or "was"
    question = _join("By", _lower(word), aux, _the(subject), clause.verb, grow(m[1].strip()))
    yield Asked(_join(question, grow(m[3].strip()), _when(clause)) + "?", known, "subject")


def _lower(word: str) -> str:
    return "whom" if word == "Who" else word[0].lower() + word[1:]


def _the(subject: str) -> str:
    """A subject inside a question: `the President of France`, `former chancellor X`."""
    first = subject.split()[0]
    plain = first in ("The", "Former") or (first.lower() in ROLES and first not in TITLES)
    return subject[0].lower() + subject[1:] if plain and first.istitle() else subject


def _titled(before: str) -> bool:
    """Whether what stands before a person is a title: `President `, `former president `."""
    return bool(
        re.fullmatch(
            r"(?:(?:former|prime|vice|the|[A-Z][a-z]+) ){0,3}"
            r"(?:[Pp]resident|[Mm]inister|chancellor|Chancellor|King|Queen|Pope) ",
            before,
        )
    )


_MEETING = words("meet hold speak debate talk sign discuss share")
_SENDING = words("send lose award present give hand")


def _companion(clause: Clause, cast: Cast, text: str) -> tuple[str | None, str, str]:
    """`held talks with Prime Minister X` -> `With whom`; `lost to X` -> `To whom`."""
    head, _, rest = text.partition(" ")
    known = next((n for n in _names(cast, rest) if rest.endswith(n)), None)
    if known is None or cast.kind(known) != "PERSON" or (head == "to" and not clause.when):
        return None, "", ""
    base = _MEETING if head == "with" else _SENDING
    if clause.base not in base or not _prefix(rest[: -len(known)].strip(), "PERSON", cast):
        return None, "", ""
    return f"{head.capitalize()} whom", known, "object"


def _phrases(
    clause: Clause, cast: Cast, subject: str, late: bool, grow: Callable[[str], str]
) -> Iterator[Asked]:
    """Questions for the last prepositional phrase of the rest."""
    rest = clause.rest
    for m in reversed(
        list(re.finditer(r"(?:^| )(?:for|at|by|with|to|after|in|on|under|against) ", rest))
    ):
        text = rest[m.start() :].strip()
        before = grow(rest[: m.start()].strip())
        word, answer, about = word_for(clause, cast, text)
        if not word and text.startswith(("with ", "to ")):
            word, answer, about = _companion(clause, cast, text)
        if word == "Where" and (clause.base not in _PLACED or _reduced_end(before)):
            word = None
        if word:
            yield Asked(inverted(clause, word, subject, before, _when(clause), late), answer, about)
            return
