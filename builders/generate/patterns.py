"""The backend `parse`: seven plain questions about what one clause says of one time.

When, who as subject and as object, which country, where, how many and how much, at what age. Asked
of a main clause in the past tense that says its own time to the year, names who did it, and stands
alone: no pronoun, no quotation, nothing that another sentence has to explain. Few clauses are so.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from factdrift.builders.generate.mentions import Sentence, sentences
from factdrift.builders.rows import AnswerType, Article, Candidate
from factdrift.builders.text.data import words
from factdrift.builders.text.dates import Written, dates_in
from factdrift.builders.text.en.lexicon import COMMON, COUNTRIES, DEMONYMS, TITLES
from factdrift.builders.text.pipeline import pipeline

_HINT = re.compile(
    r"\b(?:[Ii]n|[Oo]n|[Dd]uring|[Bb]y|[Bb]efore|[Aa]fter) "
    r"(?:\d{1,2} )?(?:[A-Z][a-z]+\.? )?(?:\d{1,2}, )?(?:1[89]|20)\d\d\b"
)
"""A time with its preposition: what a clause that is read has."""
_LONGEST, _SHORTEST = 40, 5
"""Words of a sentence that is read."""
_TIMES = re.compile(r"\b(?:in|on|during|by|before|after|around)$", re.I)
"""Of what began or ended then nothing says when it was."""
_AGE = re.compile(r"at (?:the )?age(?: of)? \d+$")
_NAMED = frozenset(("PERSON", "ORG", "GPE", "LOC", "FAC", "EVENT", "WORK_OF_ART", "NORP"))
_AMOUNT = frozenset(("MONEY", "CARDINAL", "QUANTITY", "PERCENT"))
_POINTING = words("""
    he she it they him her them his its their theirs i we us our my you your this that these those
    here there such same other another others latter former respectively also too not n't never both
    said says told according who whom which whose what then later earlier recently similar now
""")
_GENERAL = words(
    "say tell add note state claim believe think expect mean seem appear continue be have amount"
)
"""Verbs whose clause tells nothing by itself."""
_ALONE = words("die found bear launch discover write publish")
"""Verbs whose clause needs no more than its subject: `When did Fidel Castro die?`"""
_OF_WHAT = ("attr", "oprd")
"""What somebody becomes or is elected: without a name nobody knows of which country."""
_ONE_DOER = words("""
    become succeed replace win found discover defeat beat invent assassinate write direct buy
    acquire marry host launch design
""")
"""Verbs of what one does at a time, so that who did it is one answer."""
_AGAIN = words("""
    win lose beat defeat play meet visit hold score earn make mark host criticise criticize award
    attend report rise fall grow represent support
""")
"""Verbs of what is done again and again, so that there is no one time of it."""
_PLACES = frozenset(word for country in COUNTRIES for word in country.split())
_CLAUSES = ("advcl", "ccomp", "conj", "parataxis", "relcl", "acl", "xcomp")
_MODIFIERS = frozenset(("of", "in", "for", "at", "on", "between", "to", "from", "against", "with"))


class PatternQuestion(NamedTuple):
    """One question: the answer's span in the article, and the days that its clause is about."""

    question: str
    answer: Candidate
    time: Written
    has_time: bool


class _Clause(NamedTuple):
    """The main clause of a parsed sentence; `time` are the places of its time phrase."""

    sentence: Sentence
    root: Any
    subject: Any
    passive: bool
    helper: Any | None
    parts: tuple[tuple[Any, ...], ...]
    time: tuple[Any, ...]
    written: Written


def questions(article: Article) -> list[PatternQuestion]:
    """Every question, in the order of the sentences; of a sentence one is to be asked."""
    wanted = [
        s
        for s in sentences(article)
        if _HINT.search(s.text)
        and _SHORTEST <= len(s.text.split()) <= _LONGEST
        and not re.search(r"[\"“”:;()\[\]]", s.text)
        and s.text.endswith(".")
    ]
    if not wanted:
        return []
    nlp = pipeline()
    found: list[PatternQuestion] = []
    with nlp.memory_zone():
        for sentence, doc in zip(wanted, nlp.pipe([s.text for s in wanted]), strict=True):
            clause = _clause(sentence, doc)
            if clause is not None:
                found += _forms(clause, article)
    return found


def _clause(sentence: Sentence, doc: Any) -> _Clause | None:
    """The main clause, if it says who did what at which time and stands alone."""
    dates = dates_in(sentence.text).written
    if len(dates) != 1 or sum(1 for _ in doc.sents) != 1:
        return None
    root = next(t for t in doc if t.dep_ == "ROOT")
    helpers = [c for c in root.children if c.dep_ in ("aux", "auxpass")]
    passive = root.tag_ == "VBN" and [h.lower_ for h in helpers] in (["was"], ["were"])
    if not (passive or (root.tag_ == "VBD" and not helpers)) or root.lemma_ in _GENERAL:
        return None
    subjects = [c for c in root.children if c.dep_ in ("nsubj", "nsubjpass")]
    if len(subjects) != 1 or subjects[0].i > root.i:
        return None
    subject = subjects[0]
    parts: list[tuple[Any, ...]] = []
    for child in root.children:
        span = tuple(child.subtree)
        if child in (subject, *helpers) or child.is_punct:
            continue
        if child.dep_ in _CLAUSES or child.dep_ in ("mark", "cc", "neg", "dep", "intj"):
            return None
        if any(t.dep_ in ("relcl", "advcl", "ccomp", "parataxis", "pcomp", "acl") for t in span):
            return None
        if any(t.dep_ == "conj" and t.pos_ == "VERB" for t in span):
            return None
        if root.lemma_ == "bear" and child.dep_ != "prep":
            return None  # born Peter Edward Baker
        if span[-1].i < root.i and child.dep_ != "advmod" and span[0].i > 0:
            return None
        parts.append(span)
    time = next(
        (p for p in parts if p[0].idx <= dates[0].start and dates[0].end <= p[-1].idx + len(p[-1])),
        None,
    )
    if time is None or not _TIMES.search(time[0].lower_) or time[0].dep_ != "prep":
        return None
    inside = sentence.text[time[1].idx : time[-1].idx + len(time[-1])] if len(time) > 1 else ""
    if inside != sentence.text[dates[0].start : dates[0].end]:
        return None
    if (dates[0].last - dates[0].first).days > 366:
        return None
    if any(t.dep_ in ("relcl", "acl", "appos") for t in subject.subtree):
        return None
    if any(t.dep_ == "conj" and t.tag_ != "NNP" for t in subject.subtree):
        return None
    if subject.tag_ == "NN" and not any(c.dep_ in ("det", "poss") for c in subject.children):
        return None  # half a noun phrase: "VECO chief executive pleaded guilty"
    rest = [p for p in parts if p is not time]
    ageless = [p for p in rest if not _AGE.match(_text(p))]
    every = [t for p in (tuple(subject.subtree), *ageless) for t in p]
    if not _stands_alone(every, subject) or not (rest or root.lemma_ in _ALONE):
        return None
    offices = [c for c in root.children if c.dep_ in _OF_WHAT and c.tag_ == "NN"]
    if any(not any(t.tag_ == "NNP" for t in c.subtree) for c in offices):
        return None
    helper = helpers[0] if helpers else None
    return _Clause(sentence, root, subject, passive, helper, tuple(rest), time, dates[0])


def _stands_alone(tokens: Sequence[Any], subject: Any) -> bool:
    """Whether nothing points out of the clause, and its subject has a name."""
    if any(
        t.lower_ in _POINTING or t.tag_ in ("PRP", "PRP$", "WDT", "WP", "DT-WH") for t in tokens
    ):
        return False
    names = [t for t in subject.subtree if t.tag_ in ("NNP", "NNPS")]
    if not any(t.ent_type_ in _NAMED for t in names) and names != list(subject.subtree):
        return False
    for t in tokens:
        if t.lower_ in ("the", "a", "an") and t.head.tag_ in ("NN", "NNS"):
            said = [c for c in t.head.subtree if c.ent_type_ in _NAMED or c.tag_ == "CD"]
            if t.lower_ == "the" and not said:
                return False
        if t.ent_type_ in ("DATE", "TIME"):
            return False
    return True


def _forms(clause: _Clause, article: Article) -> Iterator[PatternQuestion]:
    """Every question about a clause."""
    root, subject = clause.root, clause.subject
    name = list(subject.subtree)
    when = _text(clause.time)
    when = when[:1].lower() + when[1:]
    did = clause.helper.lower_ if clause.passive and clause.helper is not None else "did"
    who = _full(name, article.text[len(article.sentences[0]) :])
    if who is None:
        return

    def ask(
        text: str,
        span: Sequence[Any],
        kind: AnswerType,
        label: str | None,
        *,
        timed: bool = True,
    ) -> Iterator[PatternQuestion]:
        question = " ".join(text.split()) + "?"
        question = question[0].upper() + question[1:]
        if not _covers(question, clause, span) or re.search(r"\bv\.|\bet al\b", question):
            return
        start = clause.sentence.start + span[0].idx
        end = clause.sentence.start + span[-1].idx + len(span[-1])
        words_ = clause.sentence.text[span[0].idx : span[-1].idx + len(span[-1])]
        answer = Candidate(start, end, words_, kind, label, clause.sentence.line)
        yield PatternQuestion(question, answer, clause.written, timed)

    late = [p for p in clause.parts if p[0].i > root.i]
    rest = _text([t for p in late for t in p])
    bare = [t for t in name if t.text not in TITLES and t.dep_ != "det"]
    early = _text([t for p in clause.parts if p[-1].i < root.i for t in p if t.i > subject.i])
    base = f"{early} {root.text if clause.passive else root.lemma_}"
    verb = f"{clause.helper.text} {early} {root.text}" if clause.helper else f"{early} {root.text}"
    one = root.lemma_ in _ONE_DOER and not clause.passive
    if one and _is(bare, "PERSON") and len(bare) > 1 and len(name) - len(bare) <= 2:
        yield from ask(f"who {verb} {rest} {when}", bare, "entity", "PERSON")
    if one and bare and _text(bare) in COUNTRIES:
        yield from ask(f"which country {verb} {rest} {when}", bare, "entity", "GPE")
    inside = clause.time[1:]
    if clause.time[0].lower_ in ("in", "on") and root.lemma_ not in _AGAIN:
        yield from ask(f"when {did} {who} {base} {rest}", inside, "date", "DATE", timed=False)
    for part in late:
        others = _text([t for p in late if p is not part for t in p])
        head = next(t for t in part if t.head == root)
        tail = f"{did} {who} {base} {others} {when}"
        if head.dep_ == "dobj" and _is(part, "PERSON") and len(part) > 1 and root.lemma_ != "join":
            yield from ask(f"whom {tail}", part, "entity", "PERSON")
        if head.dep_ == "prep" and head.lower_ in ("in", "at") and _is(part[1:], "GPE", "FAC"):
            yield from ask(f"where {tail}", part[1:], "entity", "GPE")
        if head.dep_ == "dobj" and head.tag_ == "NNS":
            number = [t for t in part if t.dep_ == "nummod" and t.head == head]
            amount = [t for t in part if t.ent_type_ == "CARDINAL" and t.i < head.i]
            if number and amount and amount == list(part[: len(amount)]):
                noun = _text(part[len(amount) :])
                yield from ask(f"how many {noun} {tail}", amount, "phrase", "CARDINAL")
        if _is(part, "MONEY") and head.dep_ == "dobj" and root.lemma_ in _PAID:
            yield from ask(f"how much {tail}", part, "phrase", "MONEY")
        if head.dep_ == "prep" and _AGE.match(_text(part)):
            yield from ask(f"at what age {tail}", part[-1:], "phrase", "CARDINAL")


_PAID = words("pay cost raise spend earn donate invest receive win lose owe borrow")


def _full(name: Sequence[Any], text: str) -> str | None:
    """A subject as a question says it: a person by the full name that the article gives.

    None where it gives none, or several, and where one of several people has but a surname.
    """
    if any(t.dep_ == "conj" for t in name):
        whole = all(" " in part for part in re.split(r",? and |, ", _text(name)))
        return _said(name) if whole or all(t.ent_type_ != "PERSON" for t in name) else None
    bare = [t for t in name if t.text not in TITLES and t.dep_ != "det"]
    if len(bare) != 1 or bare[0] is not name[-1]:
        return _said(name)
    kind, last = bare[0].ent_type_, bare[0].text
    if kind in ("GPE", "LOC", "NORP"):
        return _said(name)
    found = {m[0] for m in re.finditer(rf"(?:[A-Z][\w'’-]+ ){{1,2}}{re.escape(last)}\b", text)}
    full = {f for f in found if not {*f.split()[:-1]} & (TITLES | COMMON | DEMONYMS | _PLACES)}
    if not full and kind in _NAMED and kind != "PERSON":
        return None if name[0].text in TITLES else _said(name)
    return full.pop() if len(full) == 1 else None


def _is(span: Sequence[Any], *labels: str) -> bool:
    """Whether a span is one name of these kinds, all of it."""
    kinds = {t.ent_type_ for t in span}
    begins = sum(t.ent_iob_ == "B" for t in span)
    return bool(span) and len(kinds) == 1 and kinds <= set(labels) and begins == 1


def _said(tokens: Sequence[Any]) -> str:
    """The words of a phrase, inside a sentence."""
    text = _text(tokens)
    first = tokens[0]
    named = first.tag_ in ("NNP", "NNPS") or (first.ent_type_ and first.lower_ != "the")
    return text if named else text[:1].lower() + text[1:]


def _text(tokens: Sequence[Any]) -> str:
    """The text of tokens with the blanks that they had, in order."""
    ordered = sorted(tokens, key=lambda t: t.i)
    return "".join(t.text_with_ws if i + 1 < len(ordered) else t.text
                   for i, t in enumerate(ordered)).strip(" ,")  # fmt: skip


def _covers(question: str, clause: _Clause, answer: Sequence[Any]) -> bool:
    """Whether a question and its answer have half of the sentence's content words."""
    doc = clause.root.doc
    content = [t for t in doc if t.pos_ in ("NOUN", "PROPN", "VERB", "NUM", "ADJ")]
    inside = {*question.lower().split(), *(w.strip("?,.") for w in question.lower().split())}
    answers = {t.i for t in answer}
    told = [t for t in content if t.i in answers or {t.lower_, t.lemma_.lower()} & inside]
    return 2 * len(told) >= len(content)
