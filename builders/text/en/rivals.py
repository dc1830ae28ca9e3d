"""Other answers to a question in a sentence of another article: `Tim Cook leads Apple` for Jobs.

A sentence counts where it has every name and number of the question, half of its other content
words, and another name, number or date in the place of what is asked for: the subject or object of
the same verb, the bearer of the same office, the place of the same event. What a sentence says in
other words is not seen, so that what is found is a reason to doubt, and nothing found is no proof.
"""

import re
from collections.abc import Collection, Iterator
from datetime import date
from typing import Annotated, NamedTuple

from factdrift.builders.text.data import words
from factdrift.builders.text.dates import MONTH_NUMBER, dates_in
from factdrift.builders.text.en.answers import (
    TITLES,
    heard,
    names,
    numbers_in_digits,
    same_answer,
    spelt,
)
from factdrift.builders.text.en.lexicon import COUNTRIES
from factdrift.builders.text.pipeline import Word, below, children, read
from factdrift.builders.text.words import fold, tokens

_EMPTY = words(
    "the a an 's s do does did be is are was were been being am have has had in of at on by to for "
    "from with as many much how who whom whose what which when where why that and or his her their "
    "its not n't"
)
_NAME, _NOUN = ("NNP", "NNPS"), ("NN", "NNS")
_PLACES = ("GPE", "LOC", "FAC")
_IN_PLACE = words("in at near on outside inside")
_TITLE_WORDS = frozenset(w for title in TITLES for w in title.split())
_NEGATED = words("not n't never no")


class Asked(NamedTuple):
    """What a question asks for, as far as sentences can be compared with it."""

    kind: Annotated[str, "subject, object, role, place, day or number"]
    verb: Annotated[str, "lemma of the verb, or of the office's noun"]
    content: Annotated[frozenset[str], "content words, of which a sentence must have half"]
    named: Annotated[frozenset[str], "names and numbers among them, of which it must have all"]
    first: Annotated[frozenset[str], "names and numbers among them, folded as they are written"]
    year: int | None
    month: int | None
    label: Annotated[str, "kind of name that is asked for, or empty"]
    negated: bool

    def is_in(self, words: Collection[str]) -> bool:
        """Whether these words of a sentence are about what the question is about."""
        left = self.content - set(words)
        return not left & self.named and 2 * len(left) <= len(self.content)

    def could_be_in(self, sentence: str) -> bool:
        """Whether a sentence has the names and numbers of the question: worth reading."""
        return not self.negated and self.first <= set(tokens(sentence))


def asked_for(question: str, label: str | None) -> Asked | None:
    """What a question asks for; None where its form cannot be compared with sentences."""
    found = read(question)
    wh = next(
        (w for w in found if w.low in ("who", "whom", "what", "which", "where", "when", "how")),
        None,
    )
    if wh is None:
        return None
    head = _asked_noun(found, wh)
    finite = next((w for w in found if w.tag in ("VBZ", "VBP", "VBD", "MD") and w.at > wh.at), None)
    if finite is None:
        return None
    kind, verb = _kind(found, wh, head, finite)
    if not verb:
        return None
    skip = {head.at} if head is not None and kind != "number" else set()
    skip |= {w.at for w in found if head is not None and w.head == head.at and w.at < head.at}
    kept = [w for w in found if w.at not in skip and _has_content(w)]
    year, month = None, None
    dated: set[int] = set()
    for word in kept:
        if re.fullmatch(r"(?:1\d|20)\d\d", word.text):
            year, dated = int(word.text), dated | {word.at}
        elif word.text in _MONTHS and word.tag in _NAME:
            month, dated = MONTH_NUMBER[word.low], dated | {word.at}
    kept = [w for w in kept if w.at not in dated]
    content = frozenset(_plain(w) for w in kept)
    named = frozenset(_plain(w) for w in kept if w.tag in (*_NAME, "CD"))
    first = frozenset(t for w in kept if w.tag in (*_NAME, "CD") for t in tokens(w.text))
    if not first and year is None:
        return None
    negated = any(w.low in _NEGATED for w in found)
    return Asked(kind, verb, content, named, first, year, month, label or "", negated)


_MONTHS = frozenset(name.title() for name in MONTH_NUMBER)


def _has_content(word: Word) -> bool:
    plain = word.text[0].isalnum() and word.low not in _EMPTY
    return plain and word.text not in _TITLE_WORDS - {word.text.lower()}


def _plain(word: Word) -> str:
    """A word as it is compared: names as they are heard, others by lemma."""
    base = word.text if word.tag in (*_NAME, "CD") else word.lemma
    found = numbers_in_digits(tuple(spelt(t) for t in tokens(base))) or (fold(word.text),)
    return heard(found[0]) if len(found[0]) > 4 else found[0]


def _asked_noun(found: tuple[Word, ...], wh: Word) -> Word | None:
    """The noun that is asked for: `company` in `Which company …`, `people` in `How many people`."""
    if wh.low not in ("what", "which", "how"):
        return None
    noun = None
    for word in found[wh.at + 1 :]:
        if word.tag not in (*_NOUN, "JJ", "JJR", "VBN", "RB", "IN", *_NAME) or word.low in ("did",):
            break
        if word.tag == "IN" and word.low != "of":
            break
        if word.tag in _NOUN and (noun is None or word.at == noun.at + 1):
            noun = word
        elif noun is not None:
            break
    return noun


def _kind(found: tuple[Word, ...], wh: Word, head: Word | None, finite: Word) -> tuple[str, str]:
    """What is asked for, and of which verb or office; an empty verb where nobody can tell."""
    verbs = [w for w in found if w.tag.startswith("VB") and w.at > finite.at]
    main = next((w for w in verbs if w.tag in ("VB", "VBN", "VBG")), None)
    if finite.low in ("did", "does", "do") or finite.tag == "MD":
        if main is None:
            return "", ""
        between = any(w.tag in (*_NAME, *_NOUN, "PRP") for w in found[finite.at + 1 : main.at])
        verb, role = main.lemma, "object" if between else "subject"
    elif (
        finite.lemma == "be" and main is not None and main.tag == "VBN" and main.at - finite.at < 9
    ):
        verb, role = main.lemma, "object"
        if any(w.tag in (*_NAME, *_NOUN) for w in found[finite.at + 1 : main.at]):
            role = "whole"
    elif finite.lemma == "be":
        noun = next((w for w in found[finite.at + 1 :] if w.tag in _NOUN), None)
        return ("role", noun.lemma) if noun is not None and wh.low in ("who", "what") else ("", "")
    elif finite.lemma == "have":
        return "", ""
    else:
        verb, role = finite.lemma, "subject"
    if wh.low == "where":
        return "place", verb
    if wh.low == "when":
        return "day", verb
    if wh.low == "how":
        return ("number", verb) if head is not None and found[wh.at + 1].low == "many" else ("", "")
    return ("", "") if role == "whole" else (role, verb)


def rivals(
    asked: Asked, sentence: str, day: date, question: str, answers: Collection[str]
) -> Iterator[str]:
    """What a sentence of an article of a day gives as another answer."""
    if not asked.could_be_in(sentence) or not _in_time(asked, sentence, day):
        return
    found = read(sentence)
    content = {_plain(w) for w in found if w.text[0].isalnum()}
    if not asked.is_in(content) or any(w.low in _NEGATED for w in found):
        return
    for other in _in_its_place(asked, found, sentence):
        if _is_other(asked, other, question, answers):
            yield other


def _in_time(asked: Asked, sentence: str, day: date) -> bool:
    """Whether a sentence can be about the time of the question: it says so, or was written then."""
    written = dates_in(sentence).written
    if asked.year is not None:
        years = {w.first.year for w in written if w.first.year == w.last.year}
        if asked.year not in (years or {day.year}):
            return False
    if asked.month is not None:
        months = {w.first.month for w in written if (w.last - w.first).days < 32}
        months |= {MONTH_NUMBER[t] for t in tokens(sentence) if t.title() in _MONTHS}
        if asked.month not in (months or {day.month}):
            return False
    return True


def _in_its_place(asked: Asked, found: tuple[Word, ...], sentence: str) -> Iterator[str]:
    """The names in a sentence that stand where the answer would."""
    for word in found:
        if asked.kind == "role":
            if word.lemma == asked.verb and word.tag in _NOUN:
                yield from _bearers(found, word, sentence)
            continue
        here = word.lemma == asked.verb and word.tag.startswith("VB")
        if here and asked.is_in({_plain(w) for w in _clause(found, word)}):
            yield from _of_verb(asked, found, word, sentence)


def _clause(found: tuple[Word, ...], verb: Word) -> list[Word]:
    """The words of a verb's own clause: not those of `while …` and `and …` beside it."""
    inside = below(found, verb.at)
    if verb.dep in ("relcl", "acl"):
        inside |= below(found, verb.head)
    for child in children(found, verb.at):
        if child.dep == "advcl" or (child.dep == "conj" and child.tag.startswith("VB")):
            inside -= below(found, child.at)
    return [w for w in found if w.at in inside]


def _bearers(found: tuple[Word, ...], noun: Word, sentence: str) -> Iterator[str]:
    """Who bears an office: `Ann is the mayor`, `Ann, the mayor`, `mayor Ann`."""
    head = found[noun.head]
    if noun.dep == "attr" and head.lemma == "be":
        for child in children(found, head.at):
            if child.dep == "nsubj":
                yield from _names(found, child, sentence)
    elif noun.dep == "appos" or (head.tag in _NAME and head.at == noun.at + 1):
        yield from _names(found, head, sentence)
    for child in children(found, noun.at):
        if child.dep == "appos":
            yield from _names(found, child, sentence)


def _of_verb(asked: Asked, found: tuple[Word, ...], verb: Word, sentence: str) -> Iterator[str]:
    """The names that a verb has in the place that is asked for."""
    own = children(found, verb.at)
    passive = any(w.dep == "auxpass" for w in own) or (verb.tag == "VBN" and verb.dep == "acl")
    if asked.kind in ("place", "day"):
        for prep in _clause(found, verb):
            if asked.kind == "place" and prep.dep == "prep" and prep.low in _IN_PLACE:
                for place in children(found, prep.at):
                    if place.label in _PLACES:
                        yield from _names(found, place, sentence)
        if asked.kind == "day":
            for written in dates_in(sentence).written:
                yield sentence[written.start : written.end]
        return
    if asked.kind == "number":
        for word in found:
            if word.dep == "nummod" and _plain(found[word.head]) in asked.content:
                yield word.text
        return
    wants_agent = asked.kind == "subject"
    for word in own:
        if word.dep == "agent" and wants_agent and passive:
            for by in children(found, word.at):
                yield from _names(found, by, sentence)
        subject = word.dep in ("nsubj", "nsubjpass")
        if (subject and passive != wants_agent) or (word.dep == "dobj" and not wants_agent):
            relative = word.low in ("who", "which", "that") and verb.dep == "relcl"
            yield from _names(found, found[verb.head] if relative else word, sentence)


def _names(found: tuple[Word, ...], head: Word, sentence: str) -> Iterator[str]:
    """The name that a word is the head of, and those joined to it by `and`."""
    if head.tag in _NAME or head.label in ("PERSON", "ORG", *_PLACES):
        first = last = head
        while first.at and _same_name(found[first.at - 1], head):
            first = found[first.at - 1]
        while last.at + 1 < len(found) and _same_name(found[last.at + 1], head):
            last = found[last.at + 1]
        yield sentence[first.start : last.end]
    for child in children(found, head.at):
        if child.dep == "conj":
            yield from _names(found, child, sentence)


def _same_name(word: Word, head: Word) -> bool:
    """Whether a word beside a name's head is a part of the name."""
    return word.tag in (*_NAME, "HYPH") and (word.label == head.label or not word.label)


def _is_other(asked: Asked, other: str, question: str, answers: Collection[str]) -> bool:
    """Whether a name is none of the answers in other words, nor a name of the question."""
    if names(question, other) or any(names(other, w) for w in asked.first if len(w) > 3):
        return False
    if asked.kind == "day":
        return all(_apart(other, one) for one in answers)
    if asked.kind == "number":
        mine = [_number(one) for one in answers]
        return all(one is not None and one != _number(other) for one in mine)
    if asked.kind == "place" and any((other in COUNTRIES) != (one in COUNTRIES) for one in answers):
        return False
    return not any(_same(other, one) for one in answers)


def _number(text: str) -> str | None:
    """The first number in a text, in digits: `At least nine` is 9."""
    return next((w for w in numbers_in_digits(tokens(text)) if w[0].isdigit()), None)


def _same(one: str, other: str) -> bool:
    """`same_answer`, also where one ends in a plural: the Conservatives, the Conservative Party."""
    if same_answer(one, other):
        return True
    a, b = ([w.rstrip("s") for w in tokens(x)] for x in (one, other))
    return bool(set(a) <= set(b) or set(b) <= set(a))


def _apart(one: str, other: str) -> bool:
    """Whether two dates cannot be the same time; dates without a year say nothing."""
    a, b = dates_in(one).written, dates_in(other).written
    if not (a and b):
        return False
    one_is_over = max(w.last for w in a) < min(w.first for w in b)
    return one_is_over or max(w.last for w in b) < min(w.first for w in a)
