"""The backend `facts`: questions about dated facts that a sentence of an article states.

A sentence that names subject and object of a fact, and the relation by one of its words, is the
evidence, where the timeline is certain on the article's day. What is asked and what is accepted
comes from the timeline: all that hold on the day, and nothing where anything is in doubt.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Literal, NamedTuple

import duckdb
import pyarrow as pa

from factdrift.builders.core import duck
from factdrift.builders.core.dates import Period
from factdrift.builders.core.hashing import row_id
from factdrift.builders.facts.intervals import DATES, Certainty, Interval, row_interval
from factdrift.builders.facts.relations import NewsWording
from factdrift.builders.facts.text_evidence import (
    FactDates,
    FactEvidence,
    FactPassage,
    fact_evidence,
)
from factdrift.builders.generate.mentions import (
    EntityNames,
    Mention,
    Sentence,
    batches,
    news_sentences,
)
from factdrift.builders.generate.protocol import FACTS
from factdrift.builders.rows import (
    About,
    Answer,
    AnswerType,
    Article,
    Candidate,
    Draw,
    Grounding,
    Question,
    TimeSpec,
)
from factdrift.builders.text.dates import DateMention, dates_in, format_date, with_preposition
from factdrift.builders.text.en.lexicon import ADJECTIVES, COUNTRIES, DEMONYMS
from factdrift.builders.text.render import phrase

_AT_ONCE = 2048
"""Articles that are met with the names at once."""
_EVENT = timedelta(60)
"""Days before an article in which an event is its news."""
_RECENT = timedelta(365)
"""Days before an article since when a state is recent."""
_DAY = timedelta(1)
_PEOPLES = frozenset(adjective for adjective, _ in ADJECTIVES)
_OF_SOMEBODY = re.compile(
    rf"\b(?:{'|'.join(sorted(_PEOPLES | COUNTRIES | DEMONYMS))}|United (?:States|Kingdom|Nations)"
    r"|European|[A-Z]\w+ (?:Union|Republic))\b"
)
"""What an office's name has that tells whose it is."""
_ANSWERS = 3
"""Holders at one time beyond which nobody asks for them."""

Side = Literal["object", "subject"]


class HeldTerm(NamedTuple):
    """One side's item id seen from the other, when it held, and the statements that say so."""

    id: str
    held: Interval[date]
    statements: tuple[str, ...]

    def within(self, first: date, last: date) -> bool:
        """Whether it surely holds on every day of a stretch."""
        return self.held.holds_throughout(first, last) is Certainty.CERTAIN


@dataclass
class KnownTerms:
    """Timelines of the pairs that a batch of articles names, and the names of who is in them."""

    terms: dict[tuple[Side, str, str], list[HeldTerm]] = field(default_factory=dict)
    entities: dict[str, Answer] = field(default_factory=dict)


class GroundedFact(NamedTuple):
    """A fact that a sentence states: the spans of both names in it."""

    relation: str
    subject: str
    object: str
    sentence: Sentence
    subject_at: tuple[int, int]
    object_at: tuple[int, int]
    evidence: FactEvidence


class StatedFacts:
    """Facts of a mined folder, met with articles.

    `timelines`, `gaps`, `entities`: Parquet files of the steps of facts; `relations`: those that
    are asked about.
    """

    def __init__(
        self,
        db: duckdb.DuckDBPyConnection,
        timelines: Path,
        gaps: Path,
        entities: Path,
        relations: Mapping[str, NewsWording],
    ) -> None:
        self._db = db
        self.relations = relations
        wanted = ", ".join(map(duck.text, relations))
        days = ", ".join(DATES)
        columns = f"relation, subject, coalesce(object, '') as object, {days}"
        db.execute(
            f"create table terms as select {columns}, not rival as sure, statements "  # noqa: S608
            f"from {duck.parquet(timelines)} where relation in ({wanted}) union all "
            f"select {columns}, false, [statement] from {duck.parquet(gaps)} "
            f"where relation in ({wanted})"
        )
        self._entities = entities
        sides = "select subject from terms where sure union select object from terms where sure"
        self.names = EntityNames(db, entities, sides)

    def find(
        self, articles: Iterable[Article]
    ) -> Iterator[tuple[Article, list[GroundedFact], KnownTerms]]:
        """Each article with the facts that its sentences state, in their order."""
        for group in batches(articles, _AT_ONCE):
            parts = [news_sentences(article) for article in group]
            mentions = self.names.find(list(zip(group, parts, strict=True)))
            pairs = {
                (a, b)
                for one in mentions
                for first, second in _pairs(one)
                for a in first.ids
                for b in second.ids
            }
            known, facts = self._known(pairs)
            for article, texts, one in zip(group, parts, mentions, strict=True):
                yield article, list(self._stated(article, texts, one, facts, known)), known

    def _known(
        self, pairs: set[tuple[str, str]]
    ) -> tuple[KnownTerms, dict[tuple[str, str], list[str]]]:
        """The timelines around pairs of items, and the relations between the items of each."""
        known, facts = KnownTerms(), dict[tuple[str, str], list[str]]()
        self._register("pairs", sorted(pairs), "a", "b")
        self._db.execute(
            "create or replace temp table joined as select distinct relation, subject, object "
            "from terms join pairs on a = subject and b = object where sure"
        )
        for relation, *pair in self._rows("from joined order by all"):
            facts.setdefault((pair[0], pair[1]), []).append(relation)
        sides: tuple[tuple[Side, Side], ...] = (("object", "subject"), ("subject", "object"))
        # An unknown first day comes before all others, an unknown last day after them.
        order = ", ".join(
            f"{name} nulls {'first' if name.endswith('first') else 'last'}" for name in DATES
        )
        for side, of in sides:
            asked = [r for r, one in self.relations.items() if side == "object" or one.by_object]
            chosen = ", ".join(map(duck.text, ("", *asked)))
            query = f"""
                select relation, {of}, {side}, {", ".join(DATES)}, sure, statements from terms
                semi join (select distinct relation, {of} from joined) using (relation, {of})
                where relation in ({chosen}) and {of} <> ''
                order by relation, {of}, {side}, {order}, sure, statements
            """  # noqa: S608 - names of columns and of relations
            for relation, one, *rest in self._rows(query):
                item, *days, sure, statements = rest
                held = row_interval(dict(zip(DATES, days, strict=True)), doubtful=not sure)
                term = HeldTerm(item, held, tuple(statements))
                known.terms.setdefault((side, relation, one), []).append(term)
        ids = {key[2] for key in known.terms} | {t.id for ts in known.terms.values() for t in ts}
        self._register("ids", sorted((i,) for i in ids), "id")
        query = (
            f"select id, label, aliases from {duck.parquet(self._entities)} "  # noqa: S608
            "semi join ids using (id) where label != ''"
        )
        for id_, label, aliases in self._rows(query):
            known.entities[id_] = Answer(id_, label, tuple(aliases or ()))
        return known, facts

    def _register(self, name: str, rows: Sequence[tuple[str, ...]], *columns: str) -> None:
        """A small table of texts under a name."""
        arrays = [pa.array([row[n] for row in rows], pa.string()) for n in range(len(columns))]
        self._db.register(name, pa.table(arrays, names=list(columns)))

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = self._db.execute(query).fetchall()
        return found

    def _stated(
        self,
        article: Article,
        texts: Sequence[Sentence],
        mentions: Sequence[Mention],
        facts: Mapping[tuple[str, str], Sequence[str]],
        known: KnownTerms,
    ) -> Iterator[GroundedFact]:
        """The facts that sentences state and that surely hold on the article's day."""
        for first, second in _pairs(mentions):
            sentence = texts[first.sentence]
            for subject in first.ids:
                for thing in second.ids:
                    for relation in facts.get((subject, thing), ()):
                        terms = known.terms["object", relation, subject]
                        day = article.day
                        held = [t for t in terms if t.id == thing and t.within(day, day)]
                        if not held:
                            continue
                        spans = (first.start, first.end), (second.start, second.end)
                        evidence = fact_evidence(
                            FactPassage(sentence.text, dates_in(sentence.text), names=spans),
                            FactDates(start_days(held[0]), None),
                            self.relations[relation],
                        )
                        if evidence.relation is not None:
                            yield GroundedFact(relation, subject, thing, sentence, *spans, evidence)


def _pairs(mentions: Sequence[Mention]) -> Iterator[tuple[Mention, Mention]]:
    """Every two mentions of a sentence, either first."""
    of: dict[int, list[Mention]] = {}
    for m in mentions:
        of.setdefault(m.sentence, []).append(m)
    for found in of.values():
        for a in found:
            for b in found:
                if a is not b and a.ids != b.ids:
                    yield a, b


def questions(
    article: Article,
    found: Sequence[GroundedFact],
    draw: Draw,
    known: KnownTerms,
    snapshot: date,
    relations: Mapping[str, NewsWording],
) -> list[Question]:
    """Every question that may be asked of an article's facts on the day of a draw."""
    made = [
        one
        for fact in found
        for phrases in (relations[fact.relation],)
        for one in _Asking(article, fact, draw, known, snapshot, phrases.cues).questions(phrases)
    ]
    return list({one.id: one for one in made}.values())


class _Asking(NamedTuple):
    """One stated fact, asked about on the day of one draw."""

    article: Article
    fact: GroundedFact
    draw: Draw
    known: KnownTerms
    snapshot: date
    cues: tuple[str, ...]

    def questions(self, phrases: NewsWording) -> Iterator[Question]:
        """In both directions: who is in the state, and who began it."""
        fact, day = self.fact, self.draw.article_day
        terms = self.known.terms["object", fact.relation, fact.subject]
        mine = next(t for t in terms if t.id == fact.object and t.within(day, day))
        start = mine.held.start_first
        recent = start is not None and day - _RECENT <= start
        began_lately = mine.held.starts_within(day - _EVENT, day) is Certainty.CERTAIN
        new = fact.evidence.is_change and began_lately
        month = Period.of(start or day, "month")
        in_one_month = mine.held.starts_within(month.first, month.last) is Certainty.CERTAIN
        sides: tuple[tuple[Side, str, tuple[int, int], str | None, str | None], ...] = (
            ("object", fact.subject, fact.object_at, phrases.ask, phrases.became),
            ("subject", fact.object, fact.subject_at, phrases.ask_subject, phrases.became_subject),
        )
        for side, of, span, ask, became in sides:
            line = self.known.terms.get((side, fact.relation, of), [])
            if fact.sentence.text[slice(*span)] in _PEOPLES:
                continue  # `British` names the United Kingdom, but answers nothing
            office = self.known.entities[of].label if of in self.known.entities else ""
            if side == "subject" and not self.cues and not _OF_SOMEBODY.search(office):
                continue  # many countries have a Leader of the Opposition
            if became and new and in_one_month:
                time = with_preposition("in", format_date(month.first, "month"))
                began = _began(line, month.first, month.last)
                yield from self._about("event", became, time, began, line, span, recent=True)
            if ask:
                time, holders = self._state(line, recent=recent)
                text = ask if time else in_present_tense(ask)
                if time or text != ask:
                    yield from self._about("state", text, time, holders, line, span, recent=recent)
        once = len([t for t in terms if t.id == fact.object]) == 1
        named_day = _date_of(fact.evidence, mine) if fact.evidence.is_change and once else None
        days = start_days(mine)
        if phrases.when and named_day is not None and days is not None:
            text, forms = self._text(phrases.when, ""), _day_forms(*days)
            of_event = Grounding(*fact[:3], "event", forms, (), mine.statements, True)
            yield self._question(
                text, (named_day.start, named_day.end), of_event, "none", recent=new
            )

    def _about(
        self,
        about: About,
        template: str,
        time: str,
        holders: Sequence[HeldTerm],
        line: Sequence[HeldTerm],
        span: tuple[int, int],
        *,
        recent: bool,
    ) -> Iterator[Question]:
        """The question for all that hold, where they are few and have names."""
        ids = list(dict.fromkeys(t.id for t in holders))
        names = self.known.entities
        if not 0 < len(ids) <= _ANSWERS or any(i not in names for i in ids):
            return
        ids.sort(key=lambda i: i not in self.fact[1:3])
        labels = tuple(dict.fromkeys(names[i].label for i in ids))
        aliases = dict.fromkeys(a for i in ids for a in names[i].aliases if a not in labels)
        statements = tuple(sorted({s for t in holders for s in t.statements}))
        later = self.draw.question_day
        now = _holders(line, later, later) if later <= self.snapshot else None
        holds = None if now is None else {t.id for t in now} == {*ids}
        of = Grounding(*self.fact[:3], about, labels, tuple(aliases), statements, holds)
        spec: TimeSpec = "absolute" if time else "none"
        yield self._question(self._text(template, time), span, of, spec, recent=recent)

    def _text(self, template: str, time: str) -> str:
        names = (self.known.entities[i].label for i in (self.fact.subject, self.fact.object))
        word = self.fact.evidence.relation or ""
        cue = next((c for c in self.cues if c.lower() == word.lower()), word)
        subject, thing = names
        where = "of which country" if subject in COUNTRIES else "where"
        text = phrase(template.replace("<cue>", cue).replace("<where>", where), subject, thing)
        return f"{text[:1].upper()}{text[1:]}{' ' if time else ''}{time}?"

    def _question(
        self, text: str, span: tuple[int, int], of: Grounding, spec: TimeSpec, *, recent: bool
    ) -> Question:
        place = self.fact.sentence
        start, end = place.start + span[0], place.start + span[1]
        kind: AnswerType = "date" if text.startswith("When ") else "entity"
        answer = Candidate(start, end, self.article.text[start:end], kind, None, place.line)
        id_ = row_id(self.draw.id, FACTS, text, start)
        return Question(id_, self.draw, text, answer, FACTS, spec, recent, of)

    def _state(self, line: Sequence[HeldTerm], *, recent: bool) -> tuple[str, Sequence[HeldTerm]]:
        """When a state is asked for, and who is in it then; nobody where no time is certain.

        Without a time where it is recent, asked soon, and the same on both days; else in the month
        of the article, or on its day where the month has a change and that day has none.
        """
        day, later = self.draw.article_day, self.draw.question_day
        soon = recent and self.draw.subset == "recent" and later <= self.snapshot
        if soon and (found := _holders(line, day - _DAY, later)):
            return "", found
        month = Period.of(day, "month")
        if found := _holders(line, month.first, month.last):
            return with_preposition("in", format_date(day, "month")), found
        return with_preposition("on", format_date(day)), _holders(
            line, day - _DAY, day + _DAY
        ) or []


def _holders(line: Sequence[HeldTerm], first: date, last: date) -> list[HeldTerm] | None:
    """All that hold throughout a stretch; None where it is in doubt who does."""
    sure = [t for t in line if t.within(first, last)]
    ids = {t.id for t in sure}
    others = [t for t in line if t.id not in ids]
    in_doubt = any(t.held.holds_within(first, last) is not Certainty.NO for t in others)
    return None if in_doubt else sure


def _began(line: Sequence[HeldTerm], first: date, last: date) -> list[HeldTerm]:
    """All that surely began in a stretch; none where another may have."""
    sure = [t for t in line if t.held.starts_within(first, last) is Certainty.CERTAIN]
    ids = {t.id for t in sure}
    others = [t for t in line if t.id not in ids]
    in_doubt = any(t.held.starts_within(first, last) is not Certainty.NO for t in others)
    return [] if in_doubt else sure


def start_days(term: HeldTerm) -> tuple[date, date] | None:
    """The first and the last day on which a term may have begun; None where one is unknown."""
    first, last = term.held.start_first, term.held.start_last
    return (first, last) if first is not None and last is not None else None


def _date_of(evidence: FactEvidence, term: HeldTerm) -> DateMention | None:
    """The date in a sentence that says when a term began, to the month at least."""
    days = start_days(term)
    if days is None or (days[1] - days[0]).days > 31:
        return None
    return next((w for w in evidence.starts or () if (w.last - w.first).days <= 31), None)


def _day_forms(first: date, last: date) -> tuple[str, ...]:
    """How the day or month on which a term began may be written, the most exact first."""
    month = format_date(first, "month")
    if first != last:
        return (month,)
    return format_date(first), f"{month.split()[0]} {first.day}, {first.year}", month


def in_present_tense(ask: str) -> str:
    """A question about the past as one about today: `who was` as `who is`.

    >>> in_present_tense("which team did <subject> play for")
    'which team does <subject> play for'
    """
    for past, now in (("was", "is"), ("were", "are"), ("did", "does"), ("had", "has")):
        if (text := re.sub(rf"\b{past}\b", now, ask, count=1)) != ask:
            return text
    return re.sub(r"^(who) (\w+?)e?d\b", r"\1 \2s", ask, count=1)
