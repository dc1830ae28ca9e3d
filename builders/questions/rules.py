"""The backend that needs no model: questions from simple sentences, answers from the best one."""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import Literal

from builders.config import Strict
from builders.questions import (
    ask,
    ask_phrase,
    clauses,
    extract,
    given,
    lexicon,
    nouns,
    people,
    roles,
    specific,
    tails,
    verbs,
)
from builders.questions.ask import Asked, asks
from builders.questions.candidates import Finder, sentence_starts
from builders.questions.people import Cast, cast
from builders.questions.protocol import Backend, Done, Query, Request, Result
from builders.questions.roles import nation, offices
from builders.rows import Article, Candidate
from builders.store import code_digest, digest, row_id

_CODE = (
    ask,
    ask_phrase,
    clauses,
    extract,
    given,
    lexicon,
    nouns,
    people,
    roles,
    specific,
    tails,
    verbs,
)
_KEPT = 64
_LATE_DAYS = 45
"""After so many days what an article says in the present tense is asked in the past tense."""


class Rules(Strict):
    """Questions by rules over simple sentences: fewer than a model's, all of them grammatical."""

    backend: Literal["rules"] = "rules"

    def open(self, seed: int, finder: Finder) -> Backend:
        """The backend; `finder` tells it the names of an article."""
        return RuleBackend(seed, finder)


class RuleBackend:
    """`generate` reads clauses, `answer` compares words: neither looks at the other's work."""

    name = "rules"

    def __init__(self, seed: int, finder: Finder) -> None:
        self.seed = seed
        self.finder = finder
        code = code_digest(*_CODE)
        self.identity = digest(["rules", code, seed, finder.identity])
        self._read: OrderedDict[str, tuple[Cast, dict[tuple[int, int], list[str]], bool]] = (
            OrderedDict()
        )

    def generate(self, requests: Sequence[Request], done: Done | None = None) -> list[Result]:
        """A question for each request whose candidate stands in a sentence that the rules read."""
        out = []
        for n, request in enumerate(requests):
            result = self._one(request)
            out.append(result)
            if done:
                done(n, result)
        return out

    def answer(self, queries: Sequence[Query], done: Done | None = None) -> list[Result]:
        """An extractive answer for each query."""
        out = []
        for n, query in enumerate(queries):
            found = self.finder.find(query.article)
            text = extract.answer(query.question, query.article, found)
            result = Result(text) if text else Result(None, "no_answer")
            out.append(result)
            if done:
                done(n, result)
        return out

    def _one(self, request: Request) -> Result:
        late = (request.question_day - request.article.day).days > _LATE_DAYS
        table = self._table(request.article, late)
        choices = table.get((request.candidate.start, request.candidate.end))
        if not choices:
            return Result(None, "no_rule")
        pick = row_id(
            self.seed, request.article.id, request.candidate.start, request.question_day.isoformat()
        )
        return Result(choices[int(pick, 16) % len(choices)])

    def _table(self, article: Article, late: bool) -> dict[tuple[int, int], list[str]]:
        """Questions of an article by the span that answers them; kept for the next requests."""
        key = f"{article.id}|{late}|{len(article.text)}"
        if key not in self._read:
            found = self.finder.find(article)
            self._read[key] = (Cast(), questions(article, found, late), late)
            if len(self._read) > _KEPT:
                self._read.popitem(last=False)
        return self._read[key][1]


def questions(
    article: Article, found: Sequence[Candidate], late: bool
) -> dict[tuple[int, int], list[str]]:
    """All questions that the rules read from an article, by the span of their answer."""
    known = cast(article, found)
    starts = sentence_starts(article)
    out: dict[tuple[int, int], list[str]] = {}
    state = nation(article.text)
    held: dict[tuple[int, int], list[str]] = {}
    for index, sentence in enumerate(article.sentences[1:], 1):
        spans = [c for c in found if c.sentence == index]
        past = any(int(y) < article.day.year for y in _YEAR.findall(sentence))
        for office in (
            ()
            if past
            else offices(sentence, starts[index], [_told(c, known) for c in spans], state)
        ):
            place = (office.holder.start, office.holder.end)
            held.setdefault(place, []).append(f"Who {'was' if late else 'is'} {office.text}?")
        for name, said in _relative(sentence, spans, starts[index], known):
            clause = clauses.parse(said)
            if clause is None or clause.subject != name or not (clause.when or clause.told):
                continue
            for asked in ask.of_subject(
                _dated(clause, article), known, _grower(known, spans), late
            ):
                span = _answer_span(asked, known, spans, starts[index], article)
                if span and _good(asked, known, clause, article):
                    out.setdefault(span, []).append(asked.question)
        clause = clauses.parse(sentence)
        if clause is None or (clause.when and _two_dates(clause.rest)):
            continue
        clause = _dated(clause, article)
        fresh = _fresh(article, index, clause)
        for asked in asks(clause, known, _grower(known, spans), late):
            if not fresh and asked.about != "date" and not asked.question.startswith("For how"):
                continue
            span = _answer_span(asked, known, spans, starts[index], article)
            if span and _good(asked, known, clause, article):
                out.setdefault(span, []).append(asked.question)
    holders: dict[str, set[str]] = {}
    for place, texts in held.items():
        for text in texts:
            holders.setdefault(text, set()).add(article.text[slice(*place)].split()[-1])
    posts: dict[tuple[int, int], list[str]] = {}
    for place, texts in held.items():
        if len(article.text[slice(*place)].split()) > 1:
            sole = {q for q in texts if len(holders[q]) == 1 and specific.specific(q, own=False)}
            posts.setdefault(place, []).extend(sorted(sole))
    told = {p: [*sorted({*out.get(p, ())}), *posts.get(p, ())] for p in sorted({*out, *posts})}
    spread = _spread({p: texts for p, texts in told.items() if texts}, found, article)
    return {p: [q for q in texts if q in out.get(p, ())] or texts for p, texts in spread.items()}


def _spread(
    table: dict[tuple[int, int], list[str]], found: Sequence[Candidate], article: Article
) -> dict[tuple[int, int], list[str]]:
    """Questions with one answer given to its other mentions in turn: a span is asked once."""
    mentions: dict[str, list[tuple[int, int]]] = {}
    for c in found:
        mentions.setdefault(c.text, []).append((c.start, c.end))
    out = dict(table)
    for place, texts in table.items():
        free = [p for p in mentions.get(article.text[slice(*place)], ()) if p not in out]
        for spare, text in zip(free, texts[1:], strict=False):
            out[spare] = [text]
            out[place] = [t for t in out[place] if t != text]
    return out


_NEWS = re.compile(
    r"\b(?:today|yesterday|tonight|this (?:week|morning|afternoon|evening|month|year)"
    r"|last (?:night|week|month)"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|has|have|recently|now)\b"
)
_ONCE = re.compile(r"\b(?:years|decades)\b")
_LEAD = 3
_BODY = 12


_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_WHO = re.compile(r", (?:who|which) ([^\"“”,;:()]+)[,.]")


def _relative(
    sentence: str, spans: Sequence[Candidate], offset: int, known: Cast
) -> Iterator[tuple[str, str]]:
    """`X, who won Y in 2004, said …` as the sentence `X won Y in 2004.`, after its subject."""
    text = tails.guarded(sentence)
    for c in spans:
        end = c.end - offset
        if c.type != "entity" or text[end : end + 6] not in (", who ", ", whic"):
            continue
        if re.search(r"(?:\band|\bor|&|,) (?:the )?$", text[: c.start - offset]):
            continue
        person = known.kind(c.text) == "PERSON"
        m = _WHO.match(text, end)
        if m and person == text.startswith(", who", end):
            yield c.text, f"{c.text} {m[1]}.".replace(tails.COMMA, ",")


def _fresh(article: Article, index: int, clause: clauses.Clause) -> bool:
    """Whether a clause tells of the article's own days, or says itself of which.

    A question about the past is given the article's month: what the article only looks back on
    would be dated wrongly.
    """
    if clause.when is not None or clause.form.startswith("present") or clause.form == "future":
        return True
    if clause.base in _LIVES or (clause.base in clauses.STATIVE and _ONCE.search(clause.rest)):
        return False
    sentence = article.sentences[index]
    if clause.told or index <= _LEAD or _NEWS.search(sentence):
        return True
    near = _YEAR.findall(" ".join(article.sentences[index - 2 : index + 1]))
    return index <= _BODY and all(int(year) >= article.day.year for year in near)


_LIVES = lexicon.words("""
    bear serve work teach graduate study educate found grow enlist attend raise train
""")


def _told(candidate: Candidate, known: Cast) -> Candidate:
    """The candidate with the kind that the whole article tells."""
    kind = known.kind(candidate.text)
    return replace(candidate, label=kind) if candidate.type == "entity" and kind else candidate


def _dated(clause: clauses.Clause, article: Article) -> clauses.Clause:
    """A day without a year takes that of the article, or the one before it in the new year."""
    if clause.when is None or clause.when.kind != "DAY_OF_YEAR":
        return clause
    if clause.form not in ("past", "passive", "be"):
        return replace(clause, when=None)
    parts = clause.when.text.replace("th", "").replace("st ", " ").split()
    month = next((lexicon.MONTHS.index(p) + 1 for p in parts if p in lexicon.MONTHS), 0)
    day = next((int(n) for n in re.findall(r"\d+", clause.when.text)), 0)
    for year in (article.day.year, article.day.year - 1):
        try:
            gap = (article.day - date(year, month, day)).days
        except ValueError:
            break
        if 0 <= gap <= 180:
            return replace(clause, year=year)
    return replace(clause, when=None)


def _two_dates(rest: str) -> bool:
    from builders.questions.dates import dates

    return any(True for _ in dates(rest))


def _grower(known: Cast, spans: Sequence[Candidate]) -> Callable[[str], str]:
    """Writes short names of the sentence in full, each once."""
    short = sorted({c.text for c in spans if c.type == "entity" and c.text in known.full}, key=len)

    def grow(text: str) -> str:
        for name in reversed(short):
            whole = known.full[name]
            if whole not in text:
                text = extract.whole_word(name).sub(whole.replace("\\", ""), text, count=1)
        return text

    return grow


def _answer_span(
    asked: Asked, known: Cast, spans: Sequence[Candidate], offset: int, article: Article
) -> tuple[int, int] | None:
    """The candidate that answers: for a short name, the first mention of the full one."""
    if asked.answer in known.full:
        first = known.first[known.full[asked.answer]]
        return first.start, first.end
    for c in spans:
        if c.text == asked.answer:
            return c.start, c.end
    return None


def _good(asked: Asked, known: Cast, clause: clauses.Clause, article: Article) -> bool:
    whole = known.whole(asked.answer)
    words = {w for w in whole.casefold().split() if len(w) > 3}
    if asked.about in ("subject", "object", "place") and any(
        w in asked.question.casefold() for w in words
    ):
        return False
    if known.kind(asked.answer) == "AMBIGUOUS" or len(asked.question) > 190:
        return False
    if any(_lone(n, known, asked.question, whole) for n in known.first):
        return False
    if asked.question.startswith("Where") and re.search(r"\b[a-z]+ing\b", asked.question):
        return False
    if clause.base == "score" and not re.search(
        r" (?:in|against|at) .*[A-Z]|\d{4}", asked.question
    ):
        return False
    if asked.about != "subject" and not ask.named_whole(clause.subject, known):
        return False
    if asked.about != "subject" and not _clear(clause.subject, known, article):
        return False
    if clause.base != "be" and not specific.enough(asked.question):
        return False
    other = r"\bits\b" if asked.question.startswith(("Who ", "By whom")) else r"\b(?:his|hers?)\b"
    if asked.about == "subject" and re.search(other, asked.question):
        return False
    own = asked.about != "subject" or not re.search(r"\b(?:their|hers?)\b", asked.question)
    return specific.specific(asked.question, own=own)


def _lone(name: str, known: Cast, question: str, answer: str) -> bool:
    """Whether a person is named by one word only, and nothing in the question says who."""
    if " " in name or name in known.full or known.kind(name) not in (None, "PERSON"):
        return False
    longer = any(
        n.endswith(" " + name) and known.kind(n) in (None, "PERSON") and people.plain(n)
        for n in known.first
    )
    if known.kind(name) is None and not longer:
        return False
    if name == answer:
        return True
    if not extract.whole_word(name).search(question) or _longer(name, known, question):
        return False
    titled = re.search(rf"([A-Z][\w.-]+) {re.escape(name)}\b", question)
    return not (titled and titled[1] in lexicon.TITLES | _SECOND)


_SECOND = {t.split()[-1] for t in lexicon.TITLES if " " in t}


def _longer(name: str, known: Cast, text: str) -> bool:
    return any(name in n.split() and n != name and n in text for n in known.first)


def _clear(subject: str, known: Cast, article: Article) -> bool:
    """Whether a subject is a name that stands on its own, or is made specific by one."""
    bare = subject.removeprefix("The ")
    if any(n in bare and known.kind(n) == "AMBIGUOUS" for n in known.first):
        return False
    if " " not in bare and bare not in known.full and known.kind(bare) != "GPE":
        if re.search(rf"[A-Z][\w.'’-]* {re.escape(bare)}\b", " ".join(article.sentences[1:])):
            return False
    if " " in bare or bare in known.full or known.kind(bare) in ("GPE", "ORG"):
        return any(n in bare for n in known.first) or bare.split()[0] in lexicon.DEMONYMS
    return any(f" {bare}" in s for s in article.sentences[1:])
