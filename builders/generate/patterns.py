"""The backend `parse`: plain questions about what one clause says of one time.

When, who, whom, which country and where. Asked of a main clause in the past tense that says its own
time to the year, names who did it, and stands alone: no pronoun, no quotation, nothing that another
sentence has to explain, and people by the full names that the article gives. Few clauses are so.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from factdrift.builders.generate.mentions import Sentence, news_sentences
from factdrift.builders.rows import AnswerType, Article, Candidate
from factdrift.builders.text.data import word_set
from factdrift.builders.text.dates import DateMention, dates_in
from factdrift.builders.text.en.lexicon import COMMON, COUNTRIES, DEMONYMS, TITLES
from factdrift.builders.text.pipeline import load_pipeline

_HINT = re.compile(
    r"\b(?:[Ii]n|[Oo]n|[Dd]uring|[Bb]y|[Bb]efore|[Aa]fter) "
    r"(?:\d{1,2} )?(?:[A-Z][a-z]+\.? )?(?:\d{1,2}, )?(?:1[89]|20)\d\d\b"
)
"""A time with its preposition: what a clause that is read has."""
_LONGEST, _SHORTEST = 25, 5
"""Words of a sentence that is read."""
_TIMES = re.compile(r"\b(?:in|on|during|by|before|after|around)$", re.I)
"""Of what began or ended then nothing says when it was."""
_NAMED = frozenset(("PERSON", "ORG", "GPE", "LOC", "FAC", "EVENT", "WORK_OF_ART", "NORP"))
_POINTING = word_set("""
    he she it they him her them his its their theirs i we us our my you your this that these those
    here there such same other another others latter former respectively also too not n't never both
    said says told according who whom which whose what then later earlier recently similar now last
    date allegedly reportedly
""")
_GENERAL = word_set(
    "say tell add note state claim believe think expect mean seem appear continue be have amount"
)
"""Verbs whose clause tells nothing by itself."""
_ALONE = word_set("die found bear launch discover write publish")
"""Verbs whose clause needs no more than its subject: `When did Fidel Castro die?`"""
_FINITE = ("VBD", "VBZ", "VBP", "MD")
_OF_WHAT = ("attr", "oprd")
"""What somebody becomes or is elected: without a name nobody knows of which country."""
_ONE_DOER = word_set("""
    become succeed replace win found discover defeat beat invent assassinate write direct buy
    acquire marry host launch design
""")
"""Verbs of what one does at a time, so that who did it is one answer."""
_OF_PEOPLE = word_set(
    "succeed replace nominate dismiss appoint sign marry elect name hire beat defeat"
)
"""Verbs of what is done to people."""
_AGAIN = word_set("""
    win lose beat defeat play meet visit hold score earn make mark host criticise criticize award
    attend report rise fall grow represent support
""")
"""Verbs of what is done again and again, so that there is no one time of it."""
_PLACES = frozenset(word for country in COUNTRIES for word in country.split())
_CLAUSES = word_set("advcl ccomp parataxis relcl acl xcomp pcomp mark neg dep intj")


class PatternQuestion(NamedTuple):
    """One question: the answer's span in the article, and the days that its clause is about."""

    question: str
    answer: Candidate
    time: DateMention
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
    written: DateMention


def questions(article: Article) -> list[PatternQuestion]:
    """Every question, in the order of the sentences; of a sentence one is to be asked."""
    wanted = [
        s
        for s in news_sentences(article)
        if _HINT.search(s.text)
        and _SHORTEST <= len(s.text.split()) <= _LONGEST
        and not re.search(r"[\"“”:;()\[\]]", s.text)
        and s.text.endswith(".")
    ]
    if not wanted:
        return []
    nlp = load_pipeline()
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
    verbs = (root, *helpers)
    if any(_elsewhere(t) or (t.tag_ in _FINITE and t not in verbs) or _vague(t) for t in doc):
        return None
    parts: list[tuple[Any, ...]] = []
    for child in root.children:
        span = tuple(child.subtree)
        if child in (subject, *helpers) or child.is_punct:
            continue
        if child.dep_ in ("cc", "conj") or (root.lemma_ == "bear" and child.dep_ != "prep"):
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
    beside = [t for t in subject.subtree if t.dep_ in ("appos", "conj")]
    if any(t.dep_ == "appos" or t.tag_ != "NNP" for t in beside):
        return None
    if subject.tag_ not in ("NNP", "NNPS"):
        return None  # `a plan of`, or half a noun phrase: "VECO chief executive pleaded guilty"
    rest = [p for p in parts if p is not time]
    every = [t for p in (tuple(subject.subtree), *rest) for t in p]
    if not _stands_alone(every, subject) or not (rest or root.lemma_ in _ALONE):
        return None
    offices = [c for c in root.children if c.dep_ in _OF_WHAT and c.tag_ == "NN"]
    if any(not any(t.tag_ == "NNP" for t in c.subtree) for c in offices):
        return None
    helper = helpers[0] if helpers else None
    return _Clause(sentence, root, subject, passive, helper, tuple(rest), time, dates[0])


def _elsewhere(t: Any) -> bool:
    """Whether a word belongs to another deed: "was born in 1920 and studied law"."""
    joined = t.lower_ == "and" and t.nbor().pos_ in ("VERB", "AUX")
    return joined or t.dep_ in _CLAUSES or (t.dep_ == "conj" and t.pos_ == "VERB")


def _vague(t: Any) -> bool:
    """Whether a word is the object, one of many or nobody knows of whom: `suffered a stroke`."""
    if t.dep_ != "dobj":
        return False
    before = [c.dep_ for c in t.children if c.i < t.i]
    named = any(c.tag_ in ("NNP", "NNPS", "CD") for c in t.subtree)
    bare = t.tag_ == "NNS" and not named and not {"det", "poss", "nummod"} & {*before}
    return bare or any(c.lower_ in ("a", "an") for c in t.children)


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
    body = article.text[len(article.sentences[0]) :]
    name = list(subject.subtree)
    bare = [t for t in name if t.text.casefold() not in _TITLES and t.dep_ != "det"]
    titled = _is(bare, "PERSON") and name[-1] is bare[-1] and len(name) > len(bare)
    shown = bare if titled else name

    def said(tokens: Sequence[Any]) -> str | None:
        return _wording(tokens, body)

    late = [p for p in clause.parts if p[0].i > root.i]
    early = _text([t for p in clause.parts if p[-1].i < root.i for t in p if t.i > subject.i])
    when = _text(clause.time)
    when = when[:1].lower() + when[1:] if root.lemma_ != "bear" else ""  # nobody is born twice
    verb = f"{clause.helper.text if clause.helper else ''} {early} {root.text}"
    did = f"{clause.helper.text} <who>" if clause.helper else "did <who>"
    base = f"{early} {root.text if clause.passive else root.lemma_}"

    def ask(
        form: str, span: Sequence[Any], kind: AnswerType, label: str, *parts: Sequence[Any]
    ) -> Iterator[PatternQuestion]:
        who = said(shown) if "<who>" in form else ""
        rest = said([t for p in parts for t in p])
        if who is None or rest is None:
            return
        text = form.replace("<who>", who).replace("<rest>", rest)
        question = " ".join(text.split()) + "?"
        question = question[0].upper() + question[1:]
        if not _covers(question, clause, span) or re.search(r"\bv\.|\bet al\b", question):
            return
        start, end = span[0].idx, span[-1].idx + len(span[-1])
        first, place = clause.sentence.start, clause.sentence.text[start:end]
        answer = Candidate(first + start, first + end, place, kind, label, clause.sentence.line)
        yield PatternQuestion(question, answer, clause.written, bool(when) and kind != "date")

    if root.lemma_ in _ONE_DOER and not clause.passive and bare:
        if _text(bare) not in COUNTRIES:
            if _is(bare, "PERSON") and len(bare) > 1 and len(name) - len(bare) <= 2:
                yield from ask(f"who {verb} <rest> {when}", bare, "entity", "PERSON", *late)
        else:
            yield from ask(f"which country {verb} <rest> {when}", bare, "entity", "GPE", *late)
    if clause.time[0].lower_ in ("in", "on") and root.lemma_ not in _AGAIN:
        yield from ask(f"when {did} {base} <rest>", clause.time[1:], "date", "DATE", *late)
    for part in late:
        others = [p for p in late if p is not part]
        head = next(t for t in part if t.head == root)
        tail = f"{did} {base} <rest> {when}"
        person = head.dep_ == "dobj" and _is(part, "PERSON") and len(part) > 1
        if person and root.lemma_ in _OF_PEOPLE:
            yield from ask(f"whom {tail}", part, "entity", "PERSON", *others)
        if head.dep_ == "prep" and head.lower_ in ("in", "at") and _is(part[1:], "GPE", "FAC"):
            yield from ask(f"where {tail}", part[1:], "entity", "GPE", *others)


_TITLES = frozenset(title.casefold() for title in TITLES)
_NO_NAMES = TITLES | COMMON | DEMONYMS | _PLACES


def _is(span: Sequence[Any], *labels: str) -> bool:
    """Whether a span is one name of these kinds, all of it."""
    kinds = {t.ent_type_ for t in span}
    begins = sum(t.ent_iob_ == "B" for t in span)
    return bool(span) and len(kinds) == 1 and kinds <= set(labels) and begins == 1


def _wording(tokens: Sequence[Any], article: str) -> str | None:
    """Words inside a sentence, people by their full names; None where the article has not one."""
    names: dict[int, str] = {}
    for t in tokens:
        near = [t.doc[n] for n in (t.i - 1, t.i + 1) if 0 <= n < len(t.doc)]
        one = ("ORG", "GPE") if t.ent_type_ in ("ORG", "GPE") else ()
        alone = not any(
            w.text[0].isupper() and (w.text not in TITLES or w.ent_type_ in one) for w in near
        )
        if t.text[0].isupper() and alone and t.text not in COUNTRIES and t.ent_type_ != "DATE":
            full = _full_names(t.text, article)
            person = t.ent_type_ == "PERSON" or (not t.ent_type_ and t.dep_.startswith("nsubj"))
            asked = t.dep_ in ("nsubj", "nsubjpass", "dobj", "conj")
            if len(full) > 1 or full == {t.text} or (not full and person) or (full and not asked):
                return None
            names[t.i] = full.pop() if full else t.text
    if not tokens:
        return ""
    text = _text(tokens, names)
    return text[:1].lower() + text[1:] if tokens[0].lower_ == "the" else text


def _full_names(last: str, article: str) -> set[str]:
    """The names in an article that end in a word; itself where it has but a title."""
    found = set()
    for m in re.finditer(rf"(?:[A-Z][\w'’-]+ ){{1,3}}{re.escape(last)}\b", article):
        *first, _ = m[0].split()
        starts = [n for n, word in enumerate(first) if word in _NO_NAMES]
        found.add(" ".join((*first[starts[-1] + 1 if starts else 0 :], last)))
    return {name for name in found if name != last} or found


def _text(tokens: Sequence[Any], names: Mapping[int, str] = MappingProxyType({})) -> str:
    """The text of tokens with the blanks that they had, in order; of some the names in place."""
    ordered = sorted(tokens, key=lambda t: t.i)
    text = ""
    for n, t in enumerate(ordered, 1):
        parted = n < len(ordered) and ordered[n].i > t.i + 1
        text += names.get(t.i, t.text) + (" " if parted else t.whitespace_)
    return text.strip(" ,")


def _covers(question: str, clause: _Clause, answer: Sequence[Any]) -> bool:
    """Whether a question and its answer have half of the sentence's content words."""
    doc = clause.root.doc
    content = [t for t in doc if t.pos_ in ("NOUN", "PROPN", "VERB", "NUM", "ADJ")]
    inside = {*question.lower().split(), *(w.strip("?,.") for w in question.lower().split())}
    answers = {t.i for t in answer}
    covered = [t for t in content if t.i in answers or {t.lower_, t.lemma_.lower()} & inside]
    return 2 * len(covered) >= len(content)
