"""Clauses of a parsed article that a question can be made of: past, plain, and whole."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

from factdrift.builders.generate.evidence import day_of, in_headline, is_day, is_listed
from factdrift.builders.generate.trees import NAMED, Token, Tree, written
from factdrift.builders.text.data import data, words
from factdrift.builders.text.dates import MONTHS, WEEKDAYS, pattern
from factdrift.builders.text.en.lexicon import COUNTRIES
from factdrift.builders.text.en.nouns import KNOWN

_SAY = words("""
    say report tell announce add confirm note explain claim state write argue reveal disclose
    believe think
""")
_SOURCES = words("""
    police official officials authority authorities statement report reports court prosecutor
    prosecutors government ministry spokesman spokeswoman spokesperson company officer officers
""")
"""Those whose plain statements of fact are asked about as facts."""
LOST = words("""
    also however meanwhile then now currently recently already still later earlier finally
    initially subsequently just even again therefore thus instead additionally today moreover
    furthermore previously immediately soon ago since thereafter afterwards nevertheless
    nonetheless indeed too here there once officially eventually yesterday tonight shortly
    ultimately quickly suddenly formally simply first last clearly actually certainly surprisingly
    unfortunately sadly originally consequently accordingly similarly likewise hence so yet
""")
"""Adverbs that a question is told without."""
_DOUBT = words("""
    reportedly allegedly apparently possibly probably perhaps supposedly purportedly maybe likely
    never not hardly nearly almost rarely seemingly presumably
""")
"""Adverbs that make a clause no statement of a fact."""
_RELATIVE = words("""
    today yesterday tomorrow tonight last next this ago now current previous past coming
    earlier later recent recently same following day days week weeks weekend month months
    morning afternoon evening night early late noon midnight that
""") | {day.lower() for day in WEEKDAYS}
_FINITE = ("VBD", "VBZ", "VBP")
_BREAKS = frozenset(("``", "''", ":", "-LRB-", "-RRB-", "NFP", "LS", "ADD", "UH", "FW", "XX"))
_IF = words("if unless whether though although while whereas")


@dataclass(slots=True)
class Clause:
    """A finite verb of the past, its subject, and what else depends on it.

    `form`: `past` (went), `present` (goes, in a list of events), `perfect` (has gone), `passive`
    (was taken), `perfect_passive`, `be` (was, with what it says). `parts`: the dependents that a
    question may hold, in order.
    """

    verb: Token
    subject: Token
    form: str
    auxiliaries: Sequence[Token]
    parts: Sequence[Token]
    kind: str
    """main, joined, reported or relative."""
    source: Token | None
    """Who said so, where it is not stated as a fact."""
    place: int
    """Where its subject stands; that of a relative clause, or of `he`, is told by its name."""
    named: bool
    now: bool
    """Whether it is told in the present tense, as lists of events do."""
    news: bool
    """Whether it happened about when the article was written, and is no background."""
    day: date | None
    """The day on which it happened, where the article says which."""
    shared: int
    """Words that the headline has, too."""

    @property
    def subject_tokens(self) -> list[Token]:
        """The subject as a question tells it."""
        name = self.subject.name
        return list(name.tokens) if self.named and name is not None else phrase(self.subject)

    @property
    def many(self) -> bool:
        """Whether the subject is a plural."""
        one = self.subject.label == "PERSON" and not self.subject.having("conj")
        if self.named or one:
            return False
        return self.subject.tag in ("NNS", "NNPS") or bool(self.subject.having("conj"))

    @property
    def whole(self) -> list[Token]:
        """Every part that a question may hold, as tokens of the article."""
        return [t for part in self.parts for t in phrase(part)]


def clauses(tree: Tree) -> Iterator[Clause]:
    """Every clause that can be asked about, in the order of the article."""
    digest = _digest(tree)
    person: Token | None = None
    for sentence in tree.sentences:
        quoted = False
        for token in sentence if _plain(sentence) else ():
            if token.text in ('"', "“", "”") or token.tag in ("``", "''"):
                quoted = not quoted
            elif not quoted:
                found = _clause(token, tree, person, digest=digest)
                if found is not None:
                    yield found
        person = _person(sentence, person)


def _person(sentence: Sequence[Token], before: Token | None) -> Token | None:
    """Whom `he` in the next sentence stands for: the subject, where no other person is named."""
    people = {t.name.full for t in sentence if t.name and t.label == "PERSON"}
    if len(people) > 1 or "" in people:
        return None
    for token in sentence:
        if token.dep in ("nsubj", "nsubjpass") and token.head.dep == "ROOT":
            if token.name is not None and token.name.root is token and token.label == "PERSON":
                return token
            same = before is not None and before.name and people <= {before.name.full}
            return before if token.lower in ("he", "she") and same else None
    return None


def _digest(tree: Tree) -> bool:
    """Whether an article tells what happened in the present tense, as lists of events do."""
    roots = [t for sentence in tree.sentences for t in sentence if t.dep == "ROOT"]
    past = sum(
        t.tag == "VBD" or any(c.tag == "VBD" for c in t.having("aux", "auxpass")) for t in roots
    )
    now = sum(
        (t.tag in ("VBZ", "VBP") and t.lemma not in _STATES)
        or any(c.tag in ("VBZ", "VBP") and c.lemma == "be" for c in t.having("auxpass"))
        for t in roots
    )
    if is_listed(tree):
        return now >= past and now > 1
    return now >= 3 * past and now > 1 and 2 * now >= len(tree.sentences)


_STATES = words("""
    be have say support believe want need include contain ensure provide remain continue hope know
    expect work help understand recognise recognize welcome think seem appear consider require
    mean allow represent demonstrate reflect pose
""")


_DISPOSED = words(data("questions")["disposed"])
_HOPES = words(
    "forecast expect believe suppose think schedule slate project predict intend hope want aim"
)
"""Verbs of what has not happened yet."""
_SPEECH = words(
    "write say tell note add comment state remark speak testify announce report confirm"
)
"""Verbs that are about what is said, which stands in another clause."""


def _plain(sentence: Sequence[Token]) -> bool:
    """Whether a sentence is prose that the parser reads well: one sentence, no list, no heading.

    What stands in it beside a plain sentence, such as the place before it, a heading that ran into
    it, or a second sentence, makes its tree wrong.
    """
    if not 6 <= len(sentence) <= _LONGEST or sentence[-1].text != ".":
        return False
    if sentence[-1].start > sentence[-2].end:
        return False  # a caption: `in action during the Australian Open .`
    if any(t.text in _ODD for t in sentence):
        return False
    if sum(t.text in ("“", "”", '"', "''", "``") for t in sentence) % 2:
        return False
    if sum(t.dep == "ROOT" for t in sentence) > 1 or any(t.dep == "dep" for t in sentence):
        return False
    if sum(t.tag.startswith("NNP") for t in sentence) > 0.6 * len(sentence):
        return False
    if any(t.lower in ("a", "an") and t.dep == "det" and t.head.tag == "NNS" for t in sentence):
        return False  # `after a bus veers`
    if any(_without_subject(t) or misplaced(t) for t in sentence):
        return False
    if any(b.start > a.end and b.text.startswith("-") for a, b in pairwise(sentence)):
        return False  # `Ontario -based`
    return not _headed(sentence)


_LONGEST = 50
"""Tokens of a sentence beyond which its tree is often wrong."""
_ODD = ("‘", "?", "!", "|", "•", "*", "…", ";", ":", "–", "—", "--", "/")


def misplaced(token: Token) -> bool:
    """Whether a small word with a capital opens what has run into a sentence: `left According`."""
    small = token.tag in ("IN", "DT", "CC", "WRB", "TO") or token.lower in _OPENERS
    before = token.prev
    quoted = before is not None and before.text in ('"', "“", "``", "''", "(")
    if not small or token.first or quoted or token.label in NAMED or not token.text[0].isupper():
        return False
    after = token.next
    return not (token.lower == "the" and after is not None and after.text[0].isupper())


_OPENERS = words("according after before during in on at by for from with when while although")


def coordinated(time: Token) -> bool:
    """Whether another time is joined to a time: `in 2007 and a second recently`."""
    last = phrase(time)[-1]
    if any(t.dep in ("cc", "conj") for t in phrase(time)):
        return True
    after = last.next
    if after is None or after.lower not in ("and", "or"):
        return False
    beyond = after.next
    return beyond is not None and beyond.tag[:2] not in ("VB", "PR", "MD")


def _without_subject(verb: Token) -> bool:
    """Whether a joined verb has lost its subject: `he held a hearing and the court met`."""
    if verb.dep != "conj" or verb.tag not in ("VBD", "VBZ") or verb.having("nsubj", "nsubjpass"):
        return False
    before = verb.prev
    while before is not None and (before.tag in ("RB", "MD") or before.dep in ("aux", "auxpass")):
        before = before.prev
    return before is not None and before.tag[:2] in ("NN", "CD") and before.label != "DATE"


def _headed(sentence: Sequence[Token]) -> bool:
    """Whether the place of a report, or a heading, has run into a sentence: `Iran Leader of`."""
    first = sentence[0]
    if not (first.text[0].isupper() or first.text[0].isdigit()):
        return True
    if first.text.isupper() and len(first.text) > 4 and first.text not in KNOWN:
        return sentence[1].text[0].isupper()
    inside = [t for t in sentence if t.name is not None and t.name is first.name] or [first]
    after = sentence[min(len(inside), len(sentence) - 1)]
    place = " ".join(t.text for t in inside) in COUNTRIES
    return place and after.text[0].isupper() and after.text not in _OFFICES


_OFFICES = words("""
    Prime President Foreign Senate Senator Supreme House Congress Congressman Department Secretary
    Army Navy Air Marine Coast Attorney Government
""")
"""What follows the name of a country with a capital in a plain sentence."""


_BACKGROUND = re.compile(
    r"\b(?:previously|prior to|already|since|until|formerly|once|in the past|used to|"
    r"(?:last|each|every) (?:year|month|week|season|time|day)|for (?:over|more than|about|nearly)|"
    r"(?:his|her|their) (?:career|life)|over the (?:past|last|years)|regularly|usually|often|"
    r"always|sometimes|originally|earlier|(?:this|in recent|recent) years?|annually|currently|"
    r"typically|ever|to date|so far|repeatedly|frequently|traditionally|historically)\b",
    re.IGNORECASE,
)
_AGREES = {1: 2, 2: 3, 3: 3}
"""Words of a clause that the headline must have, by sentence; nothing is enough further down."""


def _news(
    clause: Clause, times: Sequence[Token], tree: Tree, *, digest: bool
) -> tuple[bool, date | None]:
    """Whether a clause tells what happened about the article's day, and on which day, if it says.

    What stands further down is often background, whose time nobody says; a question that was given
    the article's month would then ask for something that never happened.
    """
    if any(t.lower == "had" for t in clause.auxiliaries):
        return False, None
    days = {day_of(written(part.subtree()), tree.article.day) for part in times}
    if None in days or len(days) > 1:
        return False, None
    sentence = _sentence(clause.verb)
    text = tree.article.text[sentence[0].start : sentence[-1].end]
    if _BACKGROUND.search(text):
        return False, None
    if days:
        return True, days.pop()
    if clause.kind == "relative":
        return False, None
    if digest:
        return clause.now, tree.article.day if clause.now and is_listed(tree) else None
    least = _AGREES.get(clause.verb.sentence)
    return least is not None and clause.shared >= least, None


def _clause(verb: Token, tree: Tree, person: Token | None, *, digest: bool) -> Clause | None:
    kind = _kind(verb)
    if kind is None or verb.tag not in ("VB", "VBD", "VBN", "VBZ", "VBP"):
        return None
    subject = _subject(verb, kind)
    if subject is None:
        return None
    place, named = subject.at, kind == "relative"
    if named:
        place = verb.having("nsubj", "nsubjpass")[0].at
    elif subject.lower in ("he", "she"):
        here = {
            t.name.full
            for t in _sentence(subject)
            if t.name and t.label == "PERSON" and t.at < subject.at
        }
        subject, named = person, True
        if subject is None or subject.name is None or here - {subject.name.full}:
            return None
    if place > verb.at:
        return None
    helpers = [t for t in verb.children if t.dep in ("aux", "auxpass") and t.at < verb.at]
    form = _form(verb, helpers)
    if form is None:
        return None
    now = (helpers[0] if helpers else verb).tag in ("VBZ", "VBP")
    if now and not digest and not form.startswith("perfect"):
        return None  # a state, or what always happens
    if (
        verb.lemma in _HOPES
        or verb.lemma == "have"
        or (now and form == "be")
        or (verb.lemma == "set" and form == "passive")
        or (form == "present" and verb.lemma in _STATES)
        or (now and form == "passive" and verb.lemma in _DISPOSED)
    ):
        return None
    if any(a.label == "PERSON" for a in subject.having("appos")) and not subject.having("det"):
        return None  # `ISIL supporter, Terrence McNeil, pleads guilty`
    if verb.lemma in _SPEECH and not verb.having("dobj", "nsubjpass"):
        return None
    if any(
        t.label in NAMED and any(c.tag in ("NN", "NNS") for c in t.having("conj"))
        for part in verb.children
        for t in part.subtree()
    ):
        return None  # `in Taiwan and the death of four people`
    parts: list[Token] = []
    for child in verb.children:
        if child.dep in _NO_FACT or child.lower in _DOUBT:
            return None
        if child.dep == "advcl" and _conditional(child):
            return None
        if child.dep == "mark" and child.lower != "that":
            return None
        if child.dep == "conj" and _shares_object(verb, child):
            return None
        if child.dep == "prep" and (
            not child.children
            or child.lower == "since"
            or (child.lower == "according" and child.at < place)
        ):
            return None
        if child.dep in _NO_PART or (
            child.dep == "advmod"
            and (child.lower in LOST or child.at < place)
            and said_time(child) is None
        ):
            continue
        parts.append(child)
    source = _source(verb) if kind == "reported" else None
    if source is not None and (source.at == subject.at or source.label not in NAMED):
        return None
    listed = {t.at for t in phrase(subject)}
    if any(t.dep == "cc" and t.at not in listed for t in subject.subtree()):
        return None  # one of those who are named with it
    if torn(subject) or any(torn(part) for part in parts):
        return None
    clause = Clause(
        verb, subject, form, helpers, parts, kind, source, place, named, now, False, None, 0
    )
    clause.shared = in_headline(tree, clause.subject_tokens, verb, clause.whole)
    times = [p for p in (*parts, *_times_before(verb, kind)) if said_time(p) == "relative"]
    times = [t for t in times if t.lower not in ("earlier", "later", "early", "late") or t.children]
    within = [] if times else [t for p in parts for t in _days_within(p) if t is not p]
    if any(_of_an_event(t) for t in within):
        return None  # `clears the last flight on Thursday`
    times = times or within
    if subject.having("relcl", "acl") and any(place < t.at < verb.at for t in times):
        return None  # `members who bombed a mosque in Iran on May 28 are hanged`
    clause.news, clause.day = _news(clause, times, tree, digest=digest)
    if times and clause.day is None:
        return None  # told of a time that nobody knows
    return clause


def _days_within(part: Token) -> list[Token]:
    """Days that the parser gave to a noun of a clause: `was held in Canberra today`."""
    found: list[Token] = []
    reached = [part]
    for one in reached:
        for child in one.children:
            if is_day(child):
                found.append(child)
            elif not _aside(child):
                reached.append(child)
    return found


def _of_an_event(day: Token) -> bool:
    """Whether a day is that of a noun which is no name, and perhaps not of the verb before it."""
    head = day.head.head if day.dep == "pobj" else day.head
    return head.tag in ("NN", "NNS") and head.label not in NAMED


def _times_before(verb: Token, kind: str) -> list[Token]:
    """The times that a joined verb has from the one before it: `On Monday, he came and went`."""
    if kind != "joined":
        return []
    first = verb.head
    start = min((t.at for t in first.having("nsubj", "nsubjpass")), default=first.at)
    return [t for t in first.children if t.at < start and said_time(t)]


_NO_FACT = ("neg", "preconj", "expl", "csubj", "csubjpass", "parataxis", "dep", "intj")
_NO_PART = ("nsubj", "nsubjpass", "aux", "auxpass", "punct", "cc", "mark", "meta", "conj")


def _shares_object(verb: Token, other: Token) -> bool:
    """Whether the object of the second verb is also that of the first: built and sold houses."""
    return (
        other.tag == verb.tag
        and not other.having("nsubj", "nsubjpass")
        and bool(other.having("dobj"))
        and not verb.having("dobj", "prep", "agent", "xcomp", "prt", "acomp")
    )


def _sentence(token: Token) -> list[Token]:
    root = token
    while root.head is not root:
        root = root.head
    return root.subtree()


def _kind(verb: Token) -> str | None:
    """What a verb's clause is to the sentence; None where it states nothing."""
    if verb.dep == "ROOT":
        return "main"
    if (
        verb.dep == "conj"
        and _kind(verb.head) in ("main", "joined")
        and verb.head.tag in (*_FINITE, "VBN")
    ):
        return "joined"
    if verb.dep == "ccomp" and verb.head.dep == "ROOT" and verb.head.lemma in _SAY:
        who = next(iter(verb.head.having("nsubj")), None)
        if who is None or verb.head.tag not in _FINITE or verb.head.having("neg", "aux"):
            return None
        return (
            "reported" if _source(verb) is None or alone(phrase(who), None, asked=False) else None
        )
    if verb.dep == "relcl" and verb.head.label in NAMED:
        return "relative"
    return None


def _source(verb: Token) -> Token | None:
    """Who said what a reported clause says, unless it is told as plain fact."""
    who = next(iter(verb.head.having("nsubj")), None)
    if who is None or verb.at < verb.head.at or who.lower in _SOURCES:
        return None
    return who


def _subject(verb: Token, kind: str) -> Token | None:
    own = verb.having("nsubj", "nsubjpass")
    if len(own) > 1:
        return None
    if kind == "relative":
        name = verb.head.name
        who = "who" if verb.head.label == "PERSON" else "which"
        if own and own[0].lower == who and name is not None and name.root is verb.head:
            return verb.head if _first(verb) is own[0] else None
        return None
    if own:
        return own[0]
    if kind == "joined":
        if verb.having("aux", "auxpass"):
            return _subject(verb.head, _kind(verb.head) or "")
        passive = any(c.dep == "auxpass" for c in verb.head.children)
        return None if passive else _subject(verb.head, _kind(verb.head) or "")
    return None


def _form(verb: Token, helpers: Sequence[Token]) -> str | None:
    said = [t.lower for t in helpers]
    if any(t.tag in ("MD", "TO") for t in helpers) or len(helpers) > 2:
        return None
    if not helpers:
        if verb.tag in ("VB", "VBN"):
            return None
        if verb.lemma == "be":
            return "be" if verb.having("attr", "acomp", "prep") else None
        return "past" if verb.tag == "VBD" else "present"
    if verb.lemma == "be":
        return None
    if said in (["was"], ["were"]) and verb.tag in ("VBN", "VBD"):
        return "passive"
    if said in (["is"], ["are"]) and verb.tag == "VBN":
        return "passive"
    if said in (["has"], ["have"], ["had"]):
        return "perfect"
    if len(said) == 2 and said[0] in ("has", "have", "had") and said[1] == "been":
        return "perfect_passive" if helpers[1].dep == "auxpass" else None
    return None


def _conditional(child: Token) -> bool:
    return any(t.dep == "mark" and t.lower in _IF for t in child.children)


def phrase(token: Token) -> list[Token]:
    """A dependent with all that belongs to it, without asides: appositions, `, who …`, brackets.

    A list that is cut is no list, so conjuncts stay.
    """
    found: list[Token] = [token]
    for one in found:
        for child in one.children:
            if not _aside(child):
                found.append(child)
    return sorted(found, key=lambda t: t.at)


def torn(token: Token) -> bool:
    """Whether something else is left out of a phrase than asides that commas set off.

    `the head of the Japanese company Toshiba` without `Toshiba`; `Saudi diplomat, X, in Dhaka`
    without the name; `the White Nile, Sennar and Gazeera states`, a list that was taken for one;
    `agreed to pay a fine, plus interest, to settle`.
    """
    return any(
        _aside(child) and not is_day(child) and _needed(child)
        for one in phrase(token)
        for child in one.children
    )


def _needed(aside: Token) -> bool:
    """Whether an aside cannot be left out, or has taken in what goes on after it."""
    tokens = aside.subtree()
    before, head = tokens[0].prev, aside.head
    if any(map(_goes_on, tokens[1:])):
        return True
    if aside.dep != "appos":
        return False
    if before is None or before.text not in (",", "(", "–", "—"):
        return True
    if any(t.dep == "cc" for t in phrase(aside)) and tokens[0].tag != "DT":
        return True
    whole = head.tag != "NN" or head.label in NAMED or bool(head.having("det", "poss"))
    return aside.label == "PERSON" and not whole


def _goes_on(token: Token) -> bool:
    """Whether a word after a comma seems to go on with the clause: `, to settle`, `, and three`."""
    if token.prev is None or token.prev.text != ",":
        return False
    by_doing = token.dep == "prep" and bool(token.having("pcomp"))
    return token.tag == "TO" or token.dep == "cc" or by_doing


def _aside(child: Token) -> bool:
    if is_day(child):
        return True
    if child.dep == "appos":
        return not (child.label and child.head.label and child.at - child.head.at == 1)
    if child.dep in ("parataxis", "meta", "intj"):
        return True
    before = _first(child).prev
    if before is not None and before.text in ("(", "["):
        return True
    comma = before is not None and before.text in (",", "–", "—", "--", "(")
    if child.dep in ("relcl", "acl", "advcl", "npadvmod") and comma:
        return not any(t.tag == "TO" for t in child.having("aux"))
    if child.dep == "prep" and child.lower in ("including", "excluding", "despite", "involving"):
        return child.at > child.head.at
    if child.dep == "prep" and comma:
        return child.at > child.head.at and not _closes(before)
    return child.dep == "punct" and child.text in ("(", ")", "[", "]")


def _closes(comma: Token | None) -> bool:
    """Whether a comma ends an aside, so that what follows goes on from before it."""
    last = comma.prev if comma is not None else None
    while last is not None and last.head is not last:
        if last.dep in ("appos", "relcl"):
            return True
        last = last.head
    return False


def _first(token: Token) -> Token:
    return min((token, *map(_first, token.children)), key=lambda t: t.at)


def said_time(part: Token) -> str | None:
    """`absolute` or `relative` where a part of a clause is a time; None where it is none."""
    if is_day(part):
        return "relative"
    inside = phrase(part)
    if part.dep == "advmod" and part.lower in ("ago", "earlier", "later"):
        return "relative"
    if part.dep not in ("prep", "npadvmod", "advmod", "nsubj", "dobj"):
        return None
    if not any(t.label in ("DATE", "TIME") for t in inside) and not any(
        t.text in WEEKDAYS or t.lower in ("today", "yesterday", "tonight") for t in inside
    ):
        return None
    if part.dep == "prep":
        heads = part.having("pobj", "pcomp", "advmod")
        if not any(
            t.label in ("DATE", "TIME") or t.text in WEEKDAYS or t.text in MONTHS for t in heads
        ):
            return None
        if (
            part.lower == "for"
            or part.head.lemma == "sentence"
            or (part.lower in ("in", "at", "of") and _stretch(heads))
        ):
            return None
    if any(t.text.isdigit() and len(t.text) == 4 and t.text[0] in "12" for t in inside):
        return "absolute"
    return "relative"


def _stretch(heads: Sequence[Token]) -> bool:
    """Whether a time is an age or a length: `at the age of 90`, `in three weeks`."""
    return any(t.lower in ("age", "years", "weeks", "months", "hours", "minutes") for t in heads)


def relative(tokens: Sequence[Token]) -> bool:
    """Whether words among these need the article's day: `last year's election`."""
    text = " ".join(t.text for t in tokens)
    if pattern("undated").search(text) or pattern("relative").search(text):
        return True
    for t in tokens:
        if t.label in ("DATE", "TIME") and t.lower in _RELATIVE and not _dated(t):
            if t.lower in ("day", "days", "week", "weeks", "month", "months", "night") and any(
                c.tag == "CD" for c in t.children
            ):
                continue
            return True
    return False


def _dated(token: Token) -> bool:
    name = token.name
    return name is not None and any(t.text.isdigit() and len(t.text) == 4 for t in name.tokens)


def cut_short(told: Sequence[Token], answer: Sequence[Token], clause: Clause) -> bool:
    """Whether words that a question is told with go on in the sentence with what they need.

    `demand Turkey` of `demand Turkey stay out`; `the states of Louisiana` of three; `killed as
    peacekeepers`, who march on; what stands before the first of two verbs holds for both.
    """
    there = {t.at for t in (*told, *answer, *clause.auxiliaries, clause.verb)}
    for t in told:
        after = t.next
        if after is not None and after.at not in there and t.tag.startswith("NN"):
            if after.tag in ("VB", "VBP", "VBZ", "MD") or after.text in _OPENING_QUOTES:
                return True
            of_many = t.head.lower == "of" and t.head.head.tag == "NNS"
            if of_many and t.label in NAMED and after.text == ",":
                return True
        if t.lower == "as" and t.dep == "prep":
            role = t.having("pobj")
            if any(r.label in NAMED or r.tag in ("NNS", "NNPS") for r in role):
                return True
    first = clause.verb.head
    if clause.verb.dep != "conj":
        return False
    before = min((s.at for s in first.having("nsubj", "nsubjpass")), default=first.at)
    return any(c.at < before and c.at not in there for c in first.having("prep"))


_OPENING_QUOTES = ('"', "“", "``")


def follows_up(tree: Tree, sentence: int) -> bool:
    """Whether a sentence goes on with what the one before it told: it names the same people."""

    def named(number: int) -> set[str]:
        names = [n for n in tree.names if n.label in ("PERSON", "ORG")]
        return {
            t.text for n in names for t in n.bare if t.sentence == number and t.text[0].isupper()
        }

    return bool(named(sentence) & named(sentence - 1))


def breaks(tokens: Sequence[Token]) -> bool:
    """Whether something among these is no plain part of a sentence."""
    return any(t.tag in _BREAKS or t.text in (";", ":", "/") for t in tokens)


_OUTSIDE = words("""
    he she they it him them i you we us me my your our mine ours yours myself ourselves this that
    these those such another other others same latter former both each either neither one ones
    here there which who whom whose what following more whether how why
""")
_OWN = words("his her its their himself herself itself themselves")
_KNOWN_THINGS = words("""
    world sun moon internet public police army military media press law country economy government
    first second third end beginning number rest age sea sky earth past future time times air
    ground environment weather climate web street road night war police poor rich elderly
    unemployed dead wounded disabled homeless
""") - words(
    "country government economy war law army military ground street road past future times"
)


def points_outside(tokens: Sequence[Token]) -> bool:
    """Whether words stand for what only the article tells: a pronoun, `that event`."""
    return any(t.lower in _OUTSIDE and not _harmless(t) for t in tokens)


def alone(tokens: Sequence[Token], owner: Token | None, *, asked: bool, kind: str = "") -> bool:
    """Whether words can be read without their article: no pronoun and no `the` for what it named.

    `owner`: the subject that `his` and `its` may stand for; `asked`: whether the question asks for
    it; `kind`: the noun that it asks with, so that `the bank` is the one asked for.
    """
    there = {id(t) for t in tokens}
    for t in tokens:
        if t.lower in _OWN:
            if (
                owner is None
                or (id(owner) in there and t.at < owner.at)
                or any(t is s for s in owner.subtree())
            ):
                return False
            many = owner.tag in ("NNS", "NNPS") or bool(owner.having("conj"))
            person = owner.label == "PERSON"
            if t.lower in ("their", "themselves") and not many:
                return False
            if t.lower in ("his", "her", "himself", "herself") and not person:
                return False
            if t.lower in ("its", "itself") and (person or many):
                return False
            others = [x for x in tokens if x.label == "PERSON" and x.name is not owner.name]
            if person and others and not asked:
                return False
            continue
        if t.lower in _OUTSIDE and not _harmless(t):
            return False
        if t.name is not None and t.label == "PERSON" and not t.name.full:
            return False
        if t.label == "NAME" and t.name is not None and len(t.name.tokens) == 1:
            return False
        own = t.lower == kind and not t.children[1:]
        if t.tag in ("NN", "NNS") and _the(t, there) and not own and not _specified(t, there):
            return False
        if t.tag in ("NNP", "NNPS") and _bare_title(t, there):
            return False
    return True


def _harmless(t: Token) -> bool:
    if t.lower in ("that", "who", "which", "whose", "whom"):
        return t.dep in ("mark", "nsubj", "nsubjpass", "dobj", "pobj", "poss") and (
            t.tag == "IN" or t.head.dep == "relcl" or t.head.head.dep == "relcl"
        )
    if t.lower == "one":
        return t.tag == "CD"
    if t.lower == "following":
        return t.dep == "prep"
    if t.lower == "more":
        return t.dep in ("amod", "advmod", "quantmod")
    if t.lower == "both":
        return t.dep in ("preconj",)
    if t.lower == "former":
        return (
            t.tag == "JJ" and t.dep == "amod" and not any(c.lower == "the" for c in t.head.children)
        )
    if t.lower == "other":
        return t.head.tag == "NNS" and not any(c.lower == "the" for c in t.head.children)
    return False


def _the(t: Token, there: set[int]) -> bool:
    return any(c.lower == "the" and id(c) in there for c in t.children)


def _specified(t: Token, there: set[int]) -> bool:
    """Whether a noun with `the` says itself which one is meant."""
    if t.lower in _KNOWN_THINGS and t.dep != "nsubj":
        return True
    inside = [x for x in phrase(t) if id(x) in there and x is not t]
    return any(
        x.label in NAMED
        or x.label == "NORP"
        or x.tag == "NNP"
        or (x.head is t and (x.tag == "JJS" or (x.dep == "prep" and x.lower == "of")))
        for x in inside
    )


_TITLES = words("""
    President Minister Senator Congressman Mayor Governor King Queen Prince Princess Court House
    Government Council Committee Commission Ministry Department Board Company Party Group
    Parliament Bank University State Republic Church Union Department Chairman Director Judge
    Senate Congress Cabinet Assembly Association Agency Authority Foundation Centre Center Act
    Bill City County Province District Secretary Treasurer Premier Prime Trust Institute Museum
    Hospital School College Coalition Opposition Team Club League Federation Society Games Cup
    Championship Championships Tournament Bureau Service Administration Office Army Navy
""")


_UNITS = words("Brigade Battalion Division Regiment Corps Squadron Platoon Kandak Fleet Wing")
"""Units whose number says nothing without their army."""


def _bare_title(t: Token, there: set[int]) -> bool:
    """Whether a capital stands for something that the article has named: the Minister."""
    if t.text not in _TITLES | _UNITS or t.dep in ("compound", "poss"):
        return False
    inside = [x for x in phrase(t) if id(x) in there and x.text not in _TITLES]
    if t.text in _UNITS:
        return not any(x.tag[:3] == "NNP" or x.label in (*NAMED, "NORP") for x in inside)
    if not any(x.tag in ("NNP", "NNPS", "JJ", "CD") or x.label for x in inside):
        return t.text not in ("Congress", "Parliament", "Senate") or _the(t, there)
    return False
