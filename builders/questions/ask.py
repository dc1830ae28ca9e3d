"""Questions from clauses: what each part of a clause can be asked for."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from builders.questions.clauses import Clause
from builders.questions.lexicon import words
from builders.questions.people import Cast, scored, which
from builders.questions.verbs import PAST_OF

_DURATION = re.compile(
    r"^for (?:(?:almost|nearly|about|more than|less than) )?[\w-]+ (?:more )?"
    r"(?:days|weeks|months|years|decades|hours|minutes|games|matches)$"
)
_MONEY = re.compile(
    r"^for (?:about |more than |almost |nearly )?(?:[$€£])?[\d.,]+ "
    r"(?:(?:million|billion|trillion) )?(?:US |American |Canadian |Australian )?"
    r"(?:dollars|euros|pounds|yen|crowns|francs)$"
)
_AGE = re.compile(r"^at the age of \d+$")
_MARGIN = re.compile(
    r"^by (?:\d[\d,]*|one|two|three) (?:votes |seats |points )?(?:to \d[\d,]*|votes|"
    r"points|goals|runs|wickets|seats|metres|seconds)?$"
)
_SHARE = re.compile(
    r"^with (?:about |almost |nearly |more than )?[\d.]+ percent(?: of the votes?)?$"
)
_EVENT = re.compile(
    r"^after (?:the|a) (?:death|assassination|resignation|fall|collapse|retirement|"
    r"suspension|abdication|departure|defeat|victory|dissolution|murder) of [A-Z]"
)
_PLACE = re.compile(r"^(?:at|in|on|near|outside) (?:the )?[A-Z]")
_HUMAN = words("""
    appoint beat choose defeat elect meet name nominate replace succeed marry sack dismiss oust
    arrest sign endorse murder receive welcome visit honour
""") - {"visit"}
_BOUGHT = frozenset(["buy", "acquire", "purchase"])
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
    return f"{clause.when.preposition} {clause.when.text}"


def _did(clause: Clause, subject: str, late: bool) -> tuple[str, str]:
    """What goes before and after the rest in an inverted question: `did Sánchez`, `win`."""
    aux, verb = _tense(clause, late)
    if subject.startswith("The "):
        subject = "the" + subject[3:]
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
    if clause.form in ("pluperfect", "perfect") and not (
        clause.when and clause.when.preposition == "since"
    ):
        return
    yield from _date(clause, subject, rest, late)
    if clause.form in ("past", "passive", "be"):
        yield from _object(clause, cast, subject, late, grow)
        yield from _phrases(clause, cast, subject, late, grow)


def _subject(clause: Clause, cast: Cast, rest: str, late: bool) -> Iterator[Asked]:
    name = clause.subject.removeprefix("The ")
    known = next((n for n in _names(cast, name) if name.endswith(n)), None)
    if known is None or clause.form == "pluperfect":
        return
    if clause.form == "perfect" and not (clause.when and clause.when.preposition == "since"):
        return
    word = which(cast.whole(known), cast.kind(known), rest)
    before = name[: -len(known)].strip()
    if word is None or (before and cast.kind(known) != "PERSON") or re.search(r"\band\b", before):
        return
    if clause.when and clause.when.preposition == "since" and late:
        return
    aux, verb = _tense(clause, late)
    if aux in ("were", "are"):
        if not word.startswith("Which country"):
            return
        aux = {"were": "was", "are": "is"}[aux]
    question = _join(word, aux, verb, rest, _when(clause)) + "?"
    yield Asked(question, known, "subject")


def _names(cast: Cast, text: str) -> list[str]:
    """Names of the article in a text, the longest first."""
    return sorted((n for n in cast.first if n in text), key=len, reverse=True)


def _date(clause: Clause, subject: str, rest: str, late: bool) -> Iterator[Asked]:
    if clause.when is None:
        return
    head, text, kind = clause.when.preposition, clause.when.text, clause.when.kind
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
        if (after and not after.startswith(" ")) or after.startswith(" of "):
            continue
        word = None
        if clause.base in _HUMAN and kind == "PERSON":
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


def _titled(before: str) -> bool:
    """Whether what stands before a person is a title: `President `, `former president `."""
    return bool(
        re.fullmatch(
            r"(?:(?:former|prime|vice|the|[A-Z][a-z]+) ){0,3}"
            r"(?:[Pp]resident|[Mm]inister|chancellor|Chancellor|King|Queen|Pope) ",
            before,
        )
    )


def _phrases(
    clause: Clause, cast: Cast, subject: str, late: bool, grow: Callable[[str], str]
) -> Iterator[Asked]:
    """Questions for the last prepositional phrase of the rest."""
    rest = clause.rest
    for m in reversed(
        list(re.finditer(r"(?:^| )(?:for|at|by|with|after|in|on|under|against) ", rest))
    ):
        text = rest[m.start() :].strip()
        before = grow(rest[: m.start()].strip())
        word, answer, about = _word_for(clause, cast, text)
        if word:
            yield Asked(inverted(clause, word, subject, before, _when(clause), late), answer, about)
            return


def _word_for(clause: Clause, cast: Cast, text: str) -> tuple[str | None, str, str]:
    if _DURATION.match(text) and text.split()[-1] not in ("games", "matches"):
        return "For how long", text, "phrase"
    if _MONEY.match(text):
        return "For how much money", text, "phrase"
    if _AGE.match(text):
        return "At what age", text, "phrase"
    if _MARGIN.match(text):
        return "By what margin", text, "phrase"
    if _SHARE.match(text) and clause.base == "win":
        return "With what share of the vote", text, "phrase"
    if _EVENT.match(text):
        return "After what event", text, "phrase"
    name = text.partition(" ")[2].removeprefix("the ")
    if name not in cast.first:
        if (
            _PLACE.match(text)
            and text.startswith("at ")
            and name.split()[0] in " ".join(cast.first)
        ):
            return "Where", text, "phrase"
        return None, "", ""
    kind = cast.kind(name)
    if text.startswith("under ") and kind == "PERSON":
        return "Under whom", name, "object"
    if text.startswith("against ") and kind == "PERSON":
        return "Against whom", name, "object"
    if text.startswith("in ") and kind in ("GPE", "LOC") and clause.base not in ("live", "be"):
        return "Where", name, "place"
    if text.startswith("at ") and kind != "PERSON" and not re.search(r"\d", name):
        return "Where", text, "phrase"
    return None, "", ""
