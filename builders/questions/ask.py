"""Questions from clauses: what each part of a clause can be asked for."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from builders.questions.ask_phrase import word_for
from builders.questions.clauses import Clause
from builders.questions.lexicon import words
from builders.questions.people import Cast, scored, which
from builders.questions.verbs import PAST_OF

_HUMAN = words("""
    appoint beat choose defeat elect meet name nominate replace succeed marry sack dismiss oust
    arrest sign endorse murder receive welcome visit honour
""") - {"visit"}
_BOUGHT = frozenset(["buy", "acquire", "purchase"])
_DATED_BY_ANOTHER = re.compile(r"\b(?:since|after|before|following)\b|\bto [a-z]+ ")
_ALONE = frozenset(["succeed", "defeat", "beat", "replace", "marry", "murder", "oust"])
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
    if " " not in rest and clause.base == "be":
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
    if clause.when is None or _DATED_BY_ANOTHER.search(clause.rest):
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
        word, answer, about = word_for(clause, cast, text)
        if word:
            yield Asked(inverted(clause, word, subject, before, _when(clause), late), answer, about)
            return
