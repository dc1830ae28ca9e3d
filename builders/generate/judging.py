"""Judge the questions that patterns make: refuse the bad ones and score the others.

Patterns make more questions than are wanted. A question is refused if any function of a table
says that it is broken, does not stand alone or fits many events. What is left has to tell enough
of its event, and gets a score, a whole number.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from factdrift.builders.generate.clauses import (
    Clause,
    alone,
    breaks,
    cut_short,
    misplaced,
    phrase,
    points_outside,
    relative,
    said_time,
)
from factdrift.builders.generate.doubts import (
    comma_gone,
    gap,
    joins_unlike,
    lost_apostrophe,
    part_of_name,
    renewed,
    runs_together,
    sentence,
)
from factdrift.builders.generate.evidence import stems
from factdrift.builders.generate.specific import (
    BODY,
    ENOUGH,
    EVERYWHERE,
    OWN,
    Weight,
    anchor,
    bare,
    least,
    least_dated,
    particulars,
    weigh,
)
from factdrift.builders.generate.trees import NAMED, Token, listed, written
from factdrift.builders.rows import AnswerType
from factdrift.builders.text.data import data, words
from factdrift.builders.text.dates import MONTHS, asked
from factdrift.builders.text.dates import written as day_in_words
from factdrift.builders.text.en.nouns import ROLES
from factdrift.builders.text.en.questions import put


@dataclass(frozen=True, slots=True)
class Span:
    """A part of an article that answers something: `text[start:end]`."""

    start: int
    end: int
    type: AnswerType
    label: str | None
    sentence: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the span that answers it, and how good it looks."""

    span: Span
    question: str
    kind: str
    score: int


@dataclass(frozen=True, slots=True)
class Made:
    """What a pattern gives: the answer, the question, and the tokens that it is told with."""

    span: Span
    tokens: Sequence[Token]
    text: str
    kind: str
    of: Sequence[Token]
    """The tokens of the answer."""


BASED = words("bear headquarter base locate bury raise")
_TOLLS = words("""
    report confirm announce record register reach surpass exceed pass top rise climb die
""")
"""What is said day by day of a figure that grows: without a day there are many answers."""
_JUNK = re.compile(
    r" -\w|\bthe['’]s\b|\bwith \d+ (?:did|was|were)\b|\b(\w{3,}) \1\b|\bto guilty\b|"
    r"\b(?:background|neighbou?ring|remaining|related|previous|recent|latest|further|similar|additional|same|"
    r"and (?:in|on|at|of|from|by|[a-z]+ing)|earlier|subsequent|following|next|another|certain|"
    r"various|current|upcoming|today|yesterday|tomorrow|tonight|"
    r"others?)\b|"
    r"\bthe (?:position|post|job|role|seat)\b(?! (?:of|at|as)\b)|"
    r"\b(\w{3,})(\w{3,}) \2 \3\b|"
    r"\b(\w+ \w+), \4\b|\b(to|of|for|in|on) \5\b|\b(?:a|the) (?:day|week|month|year) on \d|"
    r"\b(?:back in|to date|separate|latter|different|a second|a third|one of|as of the|again)\b|"
    r"\bwith while\b|\b(?:on|in) (?:after|before|while)\b|"
    r"\b(?:UTC|GMT|o['’]clock|local time|noon|midnight)\b|\b\d{1,2}[:.]\d\d [ap]\.?m\b|"
    r"\b\d+(?::\d\d)? ?[ap]\.?m\b",
    re.IGNORECASE,
)
"""What is left over in a text, times of the clock, and words that point outside a question."""


@dataclass(frozen=True)
class Case:
    """A question that a pattern made of a clause, on the point of being judged."""

    made: Made
    clause: Clause
    text: str
    capitals: Collection[str]
    """The words with a capital in the article."""
    longer: Collection[str]
    """Those among them that stand beside another one."""

    @cached_property
    def told(self) -> list[Token]:
        """The tokens that it is told with, without those of its answer."""
        own = {t.at for t in self.made.of}
        return [t for t in self.made.tokens if t.at not in own]

    @cached_property
    def asks_subject(self) -> bool:
        """Whether it asks for what the clause is about."""
        return any(t.at == self.clause.subject.at for t in self.made.of)

    @cached_property
    def dated(self) -> bool:
        """Whether question or answer says the year."""
        return any(_YEAR.fullmatch(t.text) for t in self.made.of) or any(
            said_time(p) == "absolute" for p in self.clause.parts if p in self.told
        )

    @cached_property
    def labels(self) -> set[str]:
        """The kinds of names that it is told with."""
        return {t.label for t in self.told}


def judged(
    made: Made,
    clause: Clause,
    headline: str,
    capitals: Collection[str],
    longer: Collection[str],
    *,
    drafts: bool,
) -> Asked | None:
    """The question with its score; None where a reason speaks against it, or it tells too little.

    What fits several events of a month is told with the day, where the article says which.
    `drafts`: what is unclear or tells too little, but is a whole sentence, is a draft.
    """
    text = re.sub(r"\s+", " ", made.text).strip(" ,")
    case = Case(made, clause, f"{text[0].upper()}{text[1:]}?", capitals, longer)
    if any(refuses(case) for refuses in BROKEN):
        return None
    draft = any(refuses(case) for refuses in UNCLEAR) or not _tells_enough(case)
    if draft and (not drafts or points_outside(case.told)):
        return None
    text, year = case.text, case.dated
    timed = year or any(map(_in_year, case.told))
    if clause.day is not None and not timed and made.kind != "age":
        day = day_in_words(clause.day)  # a list has its events a day late now and then
        text = put(text, f"around {day}" if clause.now else asked("on", day))
        if text.startswith("Around") and clause.day.toordinal() % 2:
            text = f"On or a{text[1:]}"  # else one word would open most questions on lists
        year = True
    if clause.source is not None:
        text = f"{text[:-1]}, according to {written(phrase(clause.source))}?"
    if not 5 <= len(text.split()) <= 28:
        return None
    score = _KINDS[made.kind] + min(_weight(case).total, 9) + 2 * year
    score += min(3, len(stems([text]) & stems([headline])))
    score -= (len(text.split()) > 18) * 2 + (clause.kind == "reported") + draft * _DRAFT
    return Asked(made.span, text, made.kind, score)


_DRAFT = 20
"""What a draft loses: more than any question that stands alone has before another."""


def _weight(case: Case) -> Weight:
    subject = () if case.asks_subject else case.clause.subject_tokens
    return weigh(case.told, case.clause.verb, subject)


def _tells_enough(case: Case) -> bool:
    """Whether a question says which event it asks about; less is enough where the day says it."""
    made, clause = case.made, case.clause
    weight = _weight(case)
    wanted = least(
        clause.verb, actor=case.asks_subject, salient=clause.shared >= _SALIENT, listed=clause.now
    )
    if made.kind == "age" or (made.kind == "where" and clause.verb.lemma in BASED):
        wanted = _BORN
    moving = made.kind in ("how many", "how much", "which") and clause.verb.lemma in _TOLLS
    if weight.holds(wanted) and not (moving and not case.dated):
        return True
    dated = least_dated(actor=case.asks_subject, listed=clause.now)
    if moving and clause.form.startswith("perfect"):
        return False  # `twenty cases have been reported`: there will be more
    if made.kind == "how many" and not clause.now and clause.verb.lemma in _COURTS:
        dated = Weight(dated.total + 1, 2, 2)
    return clause.day is not None and not case.dated and weight.holds(dated)


# -- reasons against a question


def _leftover(case: Case) -> bool:
    """It holds a day without its year, or words that point outside."""
    texts = (case.text, written(case.made.of))
    return _NO_YEAR.search(case.text) is not None or any(map(_JUNK.search, texts))


def _plaintiff(case: Case) -> bool:
    """It asks for the United States: the party of a lawsuit, a senator's country."""
    answer = "".join(t.text for t in case.made.of)
    return answer.lower() in ("unitedstates", "theunitedstates")


def _no_time(case: Case) -> bool:
    """It happened nobody knows when."""
    return not case.clause.news and not case.dated


def _any_time(case: Case) -> bool:
    """It says no time of what is in the news every day."""
    said = case.dated or any(_YEAR.fullmatch(t.text) for t in case.told)
    if said or case.clause.day is not None or case.made.kind == "age":
        return False
    return case.clause.verb.lemma in _DAILY


_DAILY = words("file sue meet visit attend speak announce arrest charge detain")


def _time_within(case: Case) -> bool:
    """A year in it is that of something else than what it asks about."""
    return any(_YEAR.fullmatch(t.text) and _inner(t) for t in case.told)


def _nameless_subject(case: Case) -> bool:
    asked = {t.at for t in case.clause.subject.subtree()} if case.asks_subject else set[int]()
    return _nameless(case.clause) or any(
        t.first and t.tag in ("NN", "NNS") and not t.children and t.name is None
        for t in case.told
        if t.at not in asked  # `Opposition leader Ann Hill denied`: which opposition leader?
    )


def _torn(case: Case) -> bool:
    """A part of its sentence, or of its answer, is missing or does not belong."""
    if any(misplaced(t) for t in case.told) or _is_cut(case.made):
        return True
    return (
        breaks(case.told) or relative(case.told) or cut_short(case.told, case.made.of, case.clause)
    )


def _no_place(case: Case) -> bool:
    """It asks where, and its answer is no name: `absentia`, `mosques`."""
    return case.made.kind == "where" and not any(t.text[0].isupper() for t in case.made.of)


def _one_of_many(case: Case) -> bool:
    """It asks for one of the many who did the same, or whom the same was done to."""
    asked_subject = case.asks_subject
    kind = case.made.kind in ("who", "which")
    if kind and not asked_subject and case.clause.verb.lemma in _COURTS:
        return True
    return kind and _many_do(case.clause, asked_subject=asked_subject)


def _not_alone(case: Case) -> bool:
    """A pronoun, or a noun with `the`, needs the article."""
    text, asked_subject = case.text, case.asks_subject
    kind = text.split()[1] if text.startswith("Which ") and asked_subject else ""
    return not alone(case.told, case.clause.subject, asked=asked_subject, kind=kind)


def _gives_away(case: Case) -> bool:
    """A word of the answer's name is in the question, or a clause with `as`."""
    shared = {t.text for t in case.made.of if t.label in NAMED and len(t.text) > 3}
    return any(t.text in shared or (t.lower == "as" and t.dep == "mark") for t in case.told)


def _everyday(case: Case) -> bool:
    """It asks who, or when, in what people do all the time: meet, visit, call for something."""
    clause, kind = case.clause, case.made.kind
    gathers = clause.verb.lemma in ("hold", "stage", "chair") and any(
        p.dep == "dobj" and p.lemma in _GATHERINGS for p in clause.parts
    )
    if kind == "where":
        return gathers and clause.now
    asked_for = kind in ("who", "which", "when", "whom")
    return asked_for and (gathers or clause.verb.lemma in _EVERYDAY)


_EVERYDAY = words(data("questions")["everyday"])
_GATHERINGS = words("debate meeting talk rally conference summit vigil hearing session")


def _whose(case: Case) -> bool:
    """A pronoun that is an object stands for somebody of another sentence."""
    return any(t.tag == "PRP" and t.lower in ("her", "him", "them", "it") for t in case.told)


def _bare_object(case: Case) -> bool:
    """It asks what somebody did, and tells no more than who and when: `What did Obama back`."""
    if case.made.kind != "what" or case.asks_subject:
        return False
    there = {t.at for t in case.told}
    return not any(p.at in there and said_time(p) is None for p in case.clause.parts)


def _titled(case: Case) -> bool:
    """A long title stands before a name: `President of Sinn Féin Gerry Adams`, `as a guest`."""
    subject = {t.at for t in case.clause.subject_tokens}
    for t in (t for t in case.told if t.dep == "prep"):
        name = t.head.head
        if (t.lower == "as" and t.at in subject) or (
            name.label == "PERSON" and t.head.label != "PERSON" and t.at < name.at
        ):
            return True
    return False


def _tells_now(case: Case) -> bool:
    """It holds another clause in a list's present tense: `who is declared persona non grata`."""
    other = (t for t in case.told if t is not case.clause.verb)
    return case.clause.now and any(t.tag in ("VBZ", "VBP") for t in other)


def _some_case(case: Case) -> bool:
    return any(_of_whom(t) for t in case.told)


def _unnamed(case: Case) -> bool:
    return not case.labels & {*NAMED, "NORP"}


_YEAR = re.compile(r"[12]\d{3}")
_ANY_MONTH = "|".join(MONTHS)
_NO_YEAR = re.compile(
    rf"\b\d+ (?:{_ANY_MONTH})\b(?! \d{{4}})|\b(?:{_ANY_MONTH}) \d{{1,2}}\b(?!,? \d{{4}})"
)
"""A day without its year."""


def _many_do(clause: Clause, *, asked_subject: bool) -> bool:
    """Whether a question for a name asks for one of the many who did the same: who enlisted.

    An office that one person holds tells which one: `joined Apple as its chief executive`.
    """
    if not asked_subject:
        return False
    if any(p.dep == "dobj" and p.lemma.lower() in _DEGREES for p in clause.parts):
        return True
    named = [p for p in clause.parts if p.dep in ("attr", "oprd")]
    named += [
        n for p in clause.parts if p.dep == "prep" and p.lower == "as" for n in p.having("pobj")
    ]
    if any(n.lemma.lower() in _OF_MANY or _one_among(n) for n in named):
        return True
    if clause.verb.lemma in _COURTS and not (clause.day and clause.now):
        return True
    one = any(n.lemma.lower() in ROLES and n.tag in ("NN", "NNP") for n in named)
    return clause.verb.lemma in _DONE_BY_MANY | _CHOOSE and not one


def _one_among(role: Token) -> bool:
    """Whether a role is that of one among others: `a minister`."""
    return role.lemma.lower() in ROLES and any(c.lower in ("a", "an") for c in role.children)


_DONE_BY_MANY = words(data("questions")["done_by_many"])
_COURTS = words("indict charge arrest detain")
_CHOOSE = words("appoint name elect nominate admit")
_DEGREES = words(data("questions")["degrees"])
_OF_MANY = words(data("questions")["held_by_many"])


def _nameless(clause: Clause) -> bool:
    """Whether a subject is one word with a capital that nothing knows as a name: a surname.

    In an article, though not in a list of events, the pipeline's label is no knowledge: it takes
    surnames for organisations.
    """
    subject = clause.subject
    name = subject.name
    if name is not None and not clause.now and not subject.text.isupper() and not name.full:
        if subject.lower in EVERYWHERE:
            return False
        one = len(name.tokens) == 1 and len(phrase(subject)) == 1
        return one and subject.label in (*NAMED, "NORP") and listed(subject.text) is None
    known = subject.label or subject.text.isupper() or subject.children
    return subject.tag == "NNP" and not known and listed(subject.text) is None


def _is_cut(made: Made) -> bool:
    """Whether an answer goes on after its end: `billions of dollars` in `… worth of deals`."""
    after = max(made.of, key=lambda t: t.at).next
    if after is None or made.span.label == "CARDINAL":
        return False
    thing_ = made.span.type == "phrase" and after.tag in ("NN", "NNS")
    return after.lower in ("worth", "of", "-") or (thing_ and after.label not in ("DATE", "TIME"))


def _in_year(token: Token) -> bool:
    """Whether a year is the time of something: in 2004, between March and May 2011."""
    head = token.head if token.dep != "pobj" else token
    while head.dep == "conj":
        head = head.head
    own = token.label == "DATE" and head.label == "DATE" and head.dep == "pobj"
    return own and head.head.head.tag.startswith("VB") and _YEAR.fullmatch(token.text) is not None


def _inner(token: Token) -> bool:
    """Whether a token stands in a clause within a noun phrase: `an embargo imposed in 2003`."""
    while token.head is not token and token.tag[0] != "V":
        token = token.head
    return token.dep in ("acl", "relcl")


def _of_whom(noun: Token) -> bool:
    """Whether a noun is one of the many lawsuits and deals, and no name says which."""
    articles = [c.lower for c in noun.children if c.dep in ("det", "poss", "nummod")]
    if noun.lemma not in _CASES or noun.tag != "NN" or not {*articles} & {"a", "an"}:
        return False
    near = [*noun.having("prep"), *(c for c in noun.head.children if c.at > noun.at)]
    return not any(
        x.label in NAMED
        for p in near
        if p.lower in ("against", "with", "on", "over", "of", "for", "to", "between")
        for x in p.having("pobj")
    )


_CASES = words("""
    lawsuit suit complaint settlement disclosure motion petition appeal indictment deal contract
    agreement investigation probe policy panel
""")
_SALIENT = 3
"""Words in the headline that make a clause the news of its day."""
_BORN = Weight(3, 0, 1)


_KINDS = {
    "who": 2, "which": 3, "what": 2, "where": 3, "when": 4, "how many": 4, "how much": 5,
    "how long": 5, "why": 7, "how": 5, "whom": 3, "age": 5,
}  # fmt: skip


def _with_gap(case: Case) -> bool:
    """Words are left out that may belong to what is told."""
    return gap(case.told, case.made.of, case.clause)


def _unlike(case: Case) -> bool:
    return joins_unlike(case.told)


def _run_in(case: Case) -> bool:
    """Its source has lost a word, a comma, or an apostrophe."""
    told = [*case.told, *case.made.of]
    if comma_gone(case.told, case.clause.verb) or lost_apostrophe(told, case.capitals):
        return True
    return runs_together(told) or renewed([*told, case.clause.subject])


def _half_named(case: Case) -> bool:
    """A name is told by one of its words."""
    return part_of_name(case.told, case.longer)


def _claimed(case: Case) -> bool:
    """Its sentence tells what somebody alleges, or a figure that went on growing."""
    return _CLAIM.search(" ".join(t.text for t in sentence(case.clause.verb))) is not None


def _points_back(case: Case) -> bool:
    """It says `the European nation` of what it asks for, or of what the article names."""
    return any(
        t.lower in _CALLED
        and any(c.lower == "the" for c in t.children)
        and not any(c.dep == "prep" or c.label in NAMED for c in t.children)
        for t in (*case.told, *case.made.of)
    )


def _casualties(case: Case) -> bool:
    """It asks for the victims of what has just happened: the next day's figure is another."""
    tokens = (case.clause.verb, *case.made.of, *case.told)
    counted = case.made.kind in ("how many", "which")
    return counted and _fresh(case) and any(t.lemma.lower() in _VICTIMS for t in tokens)


def _estimate(case: Case) -> bool:
    """Its answer is no number, or it has a source's first estimate: dozens, at least 40."""
    if _fresh(case) and _RUNNING.search(case.text):
        return True
    if case.made.kind not in ("how many", "how much", "how long"):
        return False
    answer = written(case.made.of)
    return _NO_NUMBER.search(answer) is not None or (
        _fresh(case) and _HEDGE.search(answer) is not None
    )


def _fresh(case: Case) -> bool:
    """Whether it is about what the article has as news: figures are the first ones."""
    return not case.dated or case.clause.news


_VICTIMS = words(data("questions")["victims"])
_NO_NUMBER = re.compile(
    r"\b(?:several|dozens?|scores|hundreds|thousands|few|many)\b|\+", re.IGNORECASE
)
_RUNNING = re.compile(r"\b(?:at least|as many as)\b", re.IGNORECASE)
_HEDGE = re.compile(
    r"\b(?:at least|at most|up to|(?:more|less|fewer) than|over|under|as many as|nearly|almost"
    r"|about|around|approximately|roughly|some|estimated|close to)\b",
    re.IGNORECASE,
)


def _vague(case: Case) -> bool:
    """What it tells, beside its answer, is told of many events: no name of its own, few anchors.

    What a country, a crowd or anybody does is no event without a name, and `What did Canada post?`
    asks for one of many things.
    """
    told, clause, kind = case.told, case.clause, case.made.kind
    found = {anchor(t) for t in told}
    if case.text.startswith("Which country") and found <= {"", OWN, BODY}:
        return "PERSON" not in case.labels  # one of those that approved a vaccine
    if OWN in found:
        return False
    own = {t.at for t in case.made.of}
    taking_part = [p for p in clause.parts if p.dep in ("dobj", "agent") and p in told]
    taking_part += () if case.asks_subject else (clause.subject,)
    counted = [n for n in taking_part if any(c.at in own for c in n.children)]
    if kind == "age" or any(bare(n, told) for n in taking_part if n not in counted):
        return True
    exact = (clause.day is not None and not clause.now) or _EXACT.search(case.text) is not None
    points = particulars(told) + (kind != "when") * (1 + exact)
    return points < ENOUGH or (kind == "what" and not (exact and points > ENOUGH))


def _so_today(case: Case) -> bool:
    """A word of it or of its answer is true on the article's day, or beside what it has told."""
    answer = case.made.of
    if any(_is_stale(t) for t in (*case.told, *answer)):
        return True
    new = [t for t in answer if t.lower in _NEW and t.label not in NAMED]
    content = [t for t in answer if t.tag[:2] in ("NN", "JJ", "VB") and t not in new]
    return bool(new) and len(content) < 2


def _is_stale(token: Token) -> bool:
    if token.lower in ("more", "other") and token.prev is not None and token.prev.tag == "CD":
        return True  # three more
    if token.lower == "new" and token.head.lemma.lower() in ROLES:
        return True  # the new Premier
    if token.lower == "next" and token.next is not None and token.next.lower == "to":
        return False
    return token.lower in _STALE and token.label not in NAMED


_NEW = words("new more another other")
_STALE = words(data("questions")["stale"])
_EXACT = re.compile(rf"\b(?:{_ANY_MONTH})\w* \d{{1,2}}\b|\b\d{{1,2}} (?:{_ANY_MONTH})\b")
_CLAIM = re.compile(
    r"\b(?:alleged|alleges|allegedly|so far|to date|as of|suspected)\b", re.IGNORECASE
)
_CALLED = words("""
    nation country city town capital region company firm group team agency club party organization
    organisation area project
""")


BROKEN: Sequence[Callable[[Case], bool]] = (
    _leftover, _plaintiff, _torn, _gives_away, _no_place, _with_gap, _unlike, _run_in, _titled,
    _tells_now,
)  # fmt: skip
"""Why a question is no whole sentence, or gives its answer away."""
UNCLEAR: Sequence[Callable[[Case], bool]] = (
    _no_time, _any_time, _time_within, _nameless_subject, _one_of_many,
    _not_alone, _some_case, _unnamed, _half_named, _claimed, _points_back, _casualties,
    _estimate, _vague, _so_today, _everyday, _bare_object, _whose,
)  # fmt: skip
"""Why a whole sentence does not stand alone, or fits many events: people can edit it."""
