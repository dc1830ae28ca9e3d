"""The backend `facts`: questions about dated facts that a sentence of an article states.

A sentence that names subject and object of a fact, and the relation by one of its words, is the
evidence, where the timeline is certain on the article's day. The questions and their accepted
answers come from the timeline: every holder on the day is accepted, and no question is asked where
the holders are in doubt.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import permutations, product
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import duckdb
import pyarrow as pa

from factdrift.builders.core import duck
from factdrift.builders.core.dates import Period
from factdrift.builders.core.hashing import row_id
from factdrift.builders.facts.intervals import DATES, Certainty, Interval, row_interval
from factdrift.builders.facts.namesakes import may_mean_others
from factdrift.builders.facts.relations import NewsWording
from factdrift.builders.facts.role_words import Role, role_of
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
    Span,
    batches,
    body_sentences,
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
    Namesake,
    Question,
    TimeSpec,
)
from factdrift.builders.text.dates import DateMention, dates_in, format_date, with_preposition
from factdrift.builders.text.en.lexicon import ADJECTIVES, COUNTRIES, DEMONYMS
from factdrift.builders.text.render import phrase
from factdrift.builders.wmt.passages import SENTENCES

_ARTICLES_AT_ONCE = 2048
"""Articles that are joined with the names at once: many, since each join reads all names, and few
enough to lie in memory."""
_EVENT = timedelta(60)
"""Time before an article in which an event is news: a guess that the samples do not contradict;
`streamingqa.stated` has the same days for clauses."""
_RECENT = timedelta(365)
"""Time before an article since when a state is recent: a guess that the samples do not contradict.
Of a recent state a question may ask without a time."""
_DAY = timedelta(1)
_MONTH_DAYS = 31
"""Days between the first and the last day on which a term may have begun, at most, for a question
about its date: the longest month, since a month is the least exact answer."""
_PEOPLES = frozenset(adjective for adjective, _ in ADJECTIVES)
_HAS_COUNTRY = re.compile(
    rf"\b(?:{'|'.join(sorted(_PEOPLES | COUNTRIES | DEMONYMS))}|United (?:States|Kingdom|Nations)"
    r"|European|[A-Z]\w+ (?:Union|Republic))\b"
)
"""A country, a people or a union in the name of an office, which tells the office from others.

`Prime Minister of Italy` has one, `Leader of the Opposition` has none.
"""
_WHO_DID = re.compile(r"^(who) (\w+?)e?d\b")
"""A regular past after `who`: in `who chaired <subject>`, not in `who is <subject>`."""
_MOST_ANSWERS = 3
"""Holders at one time beyond which nobody asks for them: members of a parliament, for example."""

EVENTS: tuple[About, ...] = ("event",)
"""What is news about facts: that they began, not that they hold."""

Side = Literal["object", "subject"]


class HeldTerm(NamedTuple):
    """One side's item id seen from the other, when it held, and the ids of its statements."""

    id: str
    held: Interval[date]
    statements: tuple[str, ...]

    def within(self, first_day: date, last_day: date) -> bool:
        """Whether it certainly holds on every day from `first_day` to `last_day`."""
        return self.held.holds_throughout(first_day, last_day) is Certainty.CERTAIN

    def certainly_starts_within(self, first_day: date, last_day: date) -> bool:
        """Whether it certainly began on a day from `first_day` to `last_day`."""
        return self.held.starts_within(first_day, last_day) is Certainty.CERTAIN


@dataclass
class KnownTerms:
    """Timelines of the pairs that a batch of articles names, and the names of the items in them.

    `namesakes` are the items whose name others have.
    `places` has, for each relation, the named items that somebody may have a role in.
    `terms` has the terms by the side whose items they hold, the relation, and the other side's id.
    """

    terms: dict[tuple[Side, str, str], list[HeldTerm]] = field(default_factory=dict)
    places: dict[str, set[str]] = field(default_factory=dict)
    entities: dict[str, Answer] = field(default_factory=dict)
    namesakes: dict[tuple[Side, str], Namesake] = field(default_factory=dict)


class GroundedFact(NamedTuple):
    """A fact that a sentence states, with the spans of both names in it and the term that holds.

    `other_sentence` names the other item, where the sentence itself gives a role to one name alone;
    both spans are then those of that name.
    """

    relation: str
    subject: str
    object: str
    sentence: Sentence
    subject_span: Span
    object_span: Span
    evidence: FactEvidence
    term: HeldTerm
    other_sentence: Sentence | None = None


class ArticleFacts(NamedTuple):
    """The facts that the sentences of an article state, in their order, and the names in it."""

    article: Article
    facts: list[GroundedFact]
    known_terms: KnownTerms
    mentions: list[Mention]


class _ArticleNames(NamedTuple):
    """An article with the names in its sentences, and what is known of each two of them."""

    article: Article
    sentences: Sequence[Sentence]
    mentions: Sequence[Mention]
    relation_ids: Mapping[tuple[str, str], Sequence[str]]
    known_terms: KnownTerms


class StatedFacts:
    """Finds the facts of a mined folder that articles state.

    `timelines`, `gaps`, `entities`: Parquet files of the steps of facts; `relations`: the relations
    that questions are asked about, by id; `namesakes`: a file of `rows.Namesake`, if any.
    `holders`: the side of each relation that has a role in the other one, where a passage may state
    a fact whose two names stand in different sentences of it; by default a sentence names both.
    """

    def __init__(
        self,
        db: duckdb.DuckDBPyConnection,
        timelines: Path,
        gaps: Path,
        entities: Path,
        relations: Mapping[str, NewsWording],
        namesakes: Path | None = None,
        holders: Mapping[str, Side] | None = None,
    ) -> None:
        self._db, self._namesakes, self._holders = db, namesakes, holders
        self.relations = relations
        relation_list = ", ".join(map(duck.text, relations))
        day_columns = ", ".join(DATES)
        term_columns = f"relation, subject, coalesce(object, '') as object, {day_columns}"
        db.execute(
            f"create table terms as select {term_columns}, not rival as sure, statements "  # noqa: S608
            f"from {duck.parquet(timelines)} where relation in ({relation_list}) union all "
            f"select {term_columns}, false, [statement] from {duck.parquet(gaps)} "
            f"where relation in ({relation_list})"
        )
        self._entities = entities
        item_query = (
            "select subject from terms where sure union select object from terms where sure"
        )
        self.names = EntityNames(db, entities, item_query)

    def find(self, articles: Iterable[Article]) -> Iterator[ArticleFacts]:
        """Yield each article with the facts that its sentences state."""
        for batch in batches(articles, _ARTICLES_AT_ONCE):
            sentences = [body_sentences(article) for article in batch]
            mentions = self.names.find(sentences, only_news=True)
            if self._holders is None:
                known_terms, relation_ids = self.read_terms(_item_pairs(mentions))
            else:
                self._join_passages(sentences, mentions)
                known_terms, relation_ids = self._read_joined()
                self._read_places(known_terms)
            for article, article_sentences, article_mentions in zip(
                batch, sentences, mentions, strict=True
            ):
                article_names = _ArticleNames(
                    article, article_sentences, article_mentions, relation_ids, known_terms
                )
                facts = list(self._stated(article_names))
                if self._holders is not None:
                    facts += self._stated_apart(article_names)
                yield ArticleFacts(article, facts, known_terms, article_mentions)

    def read_terms(
        self, item_pairs: set[tuple[str, str]]
    ) -> tuple[KnownTerms, dict[tuple[str, str], list[str]]]:
        """Return the timelines around pairs of items, and the relations between those of each."""
        self._register("pairs", sorted(item_pairs), "subject_id", "object_id")
        self._db.execute(
            "create or replace temp table joined as select distinct relation, subject, object "
            "from terms join pairs on subject_id = subject and object_id = object where sure"
        )
        return self._read_joined()

    def _join_passages(
        self, sentences: Sequence[Sequence[Sentence]], mentions: Sequence[Sequence[Mention]]
    ) -> None:
        """Find the facts whose two items are named in one passage."""
        columns: dict[str, list[Any]] = {"passage": [], "id": []}
        for number, (article_sentences, article_mentions) in enumerate(
            zip(sentences, mentions, strict=True)
        ):
            named_items: set[tuple[str, str]] = set()
            for mention in article_mentions:
                line = article_sentences[mention.sentence].line
                passage = f"{number}/{line // SENTENCES}"
                named_items.update((passage, item_id) for item_id in mention.ids)
            for passage, item_id in sorted(named_items):
                columns["passage"].append(passage)
                columns["id"].append(item_id)
        texts = {name: pa.array(values, pa.string()) for name, values in columns.items()}
        self._db.register("named", pa.table(texts))
        self._db.execute(
            "create or replace temp table joined as select distinct relation, subject, object "
            "from terms join named s on s.id = subject "
            "join named o on o.id = object and o.passage = s.passage where sure"
        )

    def _read_places(self, known_terms: KnownTerms) -> None:
        """Read which named items may be what somebody has a role in, by relation."""
        assert self._holders is not None, "asked for where passages count"
        for relation_id, holder_side in self._holders.items():
            place_side = "subject" if holder_side == "object" else "object"
            place_query = (
                f"select distinct {place_side} from terms semi join named on id = {place_side} "  # noqa: S608
                f"where relation = {duck.text(relation_id)}"
            )
            known_terms.places[relation_id] = {item_id for (item_id,) in self._fetch(place_query)}

    def _read_joined(self) -> tuple[KnownTerms, dict[tuple[str, str], list[str]]]:
        """Read the timelines of the joined facts, with the names of all items in them."""
        known_terms, relation_ids = KnownTerms(), dict[tuple[str, str], list[str]]()
        for relation, subject, object_id in self._fetch("from joined order by all"):
            relation_ids.setdefault((subject, object_id), []).append(relation)
        for side in get_args(Side):
            self._read_side(side, known_terms)
        item_ids = {key[2] for key in known_terms.terms}
        for terms in known_terms.terms.values():
            item_ids.update(term.id for term in terms)
        self._register("ids", [(item_id,) for item_id in sorted(item_ids)], "id")
        entity_query = (
            f"select id, label, aliases from {duck.parquet(self._entities)} "  # noqa: S608
            "semi join ids using (id) where label != ''"
        )
        for item_id, label, aliases in self._fetch(entity_query):
            known_terms.entities[item_id] = Answer(item_id, label, tuple(aliases or ()))
        if self._namesakes:
            name_query = (
                f"select id, role, name, description from {duck.parquet(self._namesakes)} "  # noqa: S608
                "semi join ids using (id)"
            )
            for item_id, role, name, description in self._fetch(name_query):
                known_terms.namesakes[role, item_id] = Namesake(item_id, role, name, description)
        return known_terms, relation_ids

    def _read_side(self, side: Side, known_terms: KnownTerms) -> None:
        """Read the terms of one side of the joined facts, by the items of the other side."""
        other_side = "subject" if side == "object" else "object"
        relation_ids = [""]  # a list in SQL has to have an element
        for relation_id, wording in self.relations.items():
            if side == "object" or wording.by_object:
                relation_ids.append(relation_id)
        # an unknown first day comes before all others, an unknown last day after them
        date_order = ", ".join(
            f"{name} nulls {'first' if name.endswith('first') else 'last'}" for name in DATES
        )
        term_query = f"""
            select relation, {other_side}, {side}, {", ".join(DATES)}, sure, statements from terms
            semi join (select distinct relation, {other_side} from joined)
                using (relation, {other_side})
            where relation in ({", ".join(map(duck.text, relation_ids))}) and {other_side} <> ''
            order by relation, {other_side}, {side}, {date_order}, sure, statements
        """  # noqa: S608 - names of columns and of relations
        for relation, other_id, item_id, *days, sure, statements in self._fetch(term_query):
            held = row_interval(dict(zip(DATES, days, strict=True)), doubtful=not sure)
            term = HeldTerm(item_id, held, tuple(statements))
            known_terms.terms.setdefault((side, relation, other_id), []).append(term)

    def _register(
        self, table_name: str, rows: Sequence[tuple[str, ...]], *column_names: str
    ) -> None:
        """Register a small table of texts under a name."""
        arrays = [
            pa.array([row[index] for row in rows], pa.string())
            for index in range(len(column_names))
        ]
        self._db.register(table_name, pa.table(arrays, names=list(column_names)))

    def _fetch(self, query: str) -> list[tuple[Any, ...]]:
        result_rows: list[tuple[Any, ...]] = self._db.execute(query).fetchall()
        return result_rows

    def _stated(self, article_names: _ArticleNames) -> Iterator[GroundedFact]:
        """The facts that sentences state and that certainly hold on the article's day."""
        article, sentences, mentions, relation_ids, known_terms = article_names
        for first_mention, second_mention in _mention_pairs(mentions):
            sentence = sentences[first_mention.sentence]
            name_spans = (
                (first_mention.start, first_mention.end),
                (second_mention.start, second_mention.end),
            )
            for subject, object_id in product(first_mention.ids, second_mention.ids):
                for relation in relation_ids.get((subject, object_id), ()):
                    terms = known_terms.terms["object", relation, subject]
                    term = _term_on(terms, object_id, article.day)
                    if term is None:
                        continue
                    evidence = fact_evidence(
                        FactPassage(sentence.text, dates_in(sentence.text), names=name_spans),
                        FactDates(start_days(term), None),
                        self.relations[relation],
                    )
                    if evidence.relation is not None:
                        yield GroundedFact(
                            relation, subject, object_id, sentence, *name_spans, evidence, term
                        )

    def _stated_apart(self, article_names: _ArticleNames) -> Iterator[GroundedFact]:
        """The facts that certainly hold and that a passage states in several sentences.

        A sentence gives the holder a role, and the passage names one place only that the role may
        be in; or the sentence itself names that place and no other.
        """
        assert self._holders is not None, "asked for where passages count"
        article, sentences, mentions, relation_ids, known_terms = article_names
        by_passage: dict[int, list[Mention]] = {}
        for mention in mentions:
            line = sentences[mention.sentence].line
            by_passage.setdefault(line // SENTENCES, []).append(mention)
        for passage_mentions in by_passage.values():
            for holder, place in permutations(passage_mentions, 2):
                for relation, pair in self._roles(holder, place, relation_ids):
                    terms = known_terms.terms["object", relation, pair[0]]
                    term = _term_on(terms, pair[1], article.day)
                    places = known_terms.places[relation]
                    if term is None or not _is_only_place(place, holder, passage_mentions, places):
                        continue
                    role = self._role(relation, holder, sentences, passage_mentions, places)
                    if role is not None:
                        span, sentence = (holder.start, holder.end), sentences[holder.sentence]
                        evidence = FactEvidence(role.word, role.is_change, None, None)
                        yield GroundedFact(
                            *(relation, *pair, sentence, span, span, evidence, term),
                            sentences[place.sentence],
                        )

    def _roles(
        self, holder: Mention, place: Mention, relation_ids: Mapping[tuple[str, str], Sequence[str]]
    ) -> Iterator[tuple[str, tuple[str, str]]]:
        """The relations in which one mention may have a role in the other, with both items."""
        assert self._holders is not None, "asked for where passages count"
        for holder_id, place_id in product(holder.ids, place.ids):
            for pair, side in (
                ((holder_id, place_id), "subject"),
                ((place_id, holder_id), "object"),
            ):
                for relation in relation_ids.get(pair, ()):
                    if self._holders[relation] == side:
                        yield relation, pair

    def _role(
        self,
        relation: str,
        holder: Mention,
        sentences: Sequence[Sentence],
        passage_mentions: Sequence[Mention],
        places: Collection[str],
    ) -> Role | None:
        """The role that the holder's sentence gives to the holder, or None."""
        assert self._holders is not None, "asked for where passages count"
        place_spans = [
            (mention.start, mention.end)
            for mention in passage_mentions
            if mention.sentence == holder.sentence and not set(mention.ids).isdisjoint(places)
        ]
        return role_of(
            sentences[holder.sentence].text,
            (holder.start, holder.end),
            self.relations[relation],
            is_member=self._holders[relation] == "subject",
            places=place_spans,
        )


def _is_only_place(
    place: Mention,
    holder: Mention,
    passage_mentions: Sequence[Mention],
    place_ids: Collection[str],
) -> bool:
    """Whether no other place of the relation is named in the passage.

    Where the holder's own sentence names the place, other sentences do not count.
    """
    is_beside = place.sentence == holder.sentence
    for mention in passage_mentions:
        is_near = not is_beside or mention.sentence == holder.sentence
        is_other = not set(mention.ids) & {*place.ids, *holder.ids}
        if is_near and is_other and not set(mention.ids).isdisjoint(place_ids):
            return False
    return True


def _item_pairs(mentions: Sequence[Sequence[Mention]]) -> set[tuple[str, str]]:
    """Every two items that a sentence names, in both orders."""
    item_pairs: set[tuple[str, str]] = set()
    for article_mentions in mentions:
        for first_mention, second_mention in _mention_pairs(article_mentions):
            item_pairs.update(product(first_mention.ids, second_mention.ids))
    return item_pairs


def _mention_pairs(mentions: Sequence[Mention]) -> Iterator[tuple[Mention, Mention]]:
    """Every two mentions of a sentence, in both orders."""
    by_sentence: dict[int, list[Mention]] = {}
    for mention in mentions:
        by_sentence.setdefault(mention.sentence, []).append(mention)
    for sentence_mentions in by_sentence.values():
        for first_mention, second_mention in permutations(sentence_mentions, 2):
            if first_mention.ids != second_mention.ids:
                yield first_mention, second_mention


def _term_on(held_terms: Sequence[HeldTerm], item_id: str, day: date) -> HeldTerm | None:
    """The first term of an item that certainly holds on a day."""
    for term in held_terms:
        if term.id == item_id and term.within(day, day):
            return term
    return None


class StatedFactQuestions(NamedTuple):
    """Questions about facts: those to ask, and those whose text may mean something else."""

    asked: list[Question]
    ambiguous: list[Question]


def questions(
    article: Article,
    facts: Sequence[GroundedFact],
    draw: Draw,
    known_terms: KnownTerms,
    snapshot_day: date,
    relation_wordings: Mapping[str, NewsWording],
    about: Collection[About] = EVENTS,
) -> StatedFactQuestions:
    """Return every question that may be asked about an article's facts on the day of a draw.

    Each question has its own id: a fact that a sentence states twice is asked about once. By
    default it is asked only who came into a state; a state that an article mentions is not its
    news, and is asked for where `about` has it.
    """
    by_id: dict[str, Question] = {}
    ambiguous_by_id: dict[str, Question] = {}
    for fact in facts:
        fact_question = _FactQuestion(
            article, fact, draw, known_terms, snapshot_day, relation_wordings[fact.relation]
        )
        for question in fact_question.questions():
            assert question.grounding is not None, "it is made of a fact"
            # when an old change happened is no news either
            is_asked = question.recent or question.grounding.about == "state"
            if question.grounding.about not in about or not is_asked:
                continue
            if fact_question.is_ambiguous(question):
                ambiguous_by_id[question.id] = question
            else:
                by_id[question.id] = question
    return StatedFactQuestions(list(by_id.values()), list(ambiguous_by_id.values()))


class _Wording(NamedTuple):
    """How one side of a fact, its subject or its object, is asked for.

    `other_id` is the entity on the other side, which the question names. `span` is where the
    sentence names the side that is asked for. `ask_state` is the template that asks who or what is
    in the state, `ask_event` the one that asks who or what came into it.
    """

    side: Side
    other_id: str
    span: Span
    ask_state: str | None
    ask_event: str | None


class _FactQuestion(NamedTuple):
    """Makes the questions about one fact that an article states.

    `draw` is one draw of that article; its days say when the questions are asked.
    """

    article: Article
    fact: GroundedFact
    draw: Draw
    known_terms: KnownTerms
    snapshot: date
    news_wording: NewsWording

    def questions(self) -> Iterator[Question]:
        """Ask for the object and for the subject, and when the fact began."""
        fact, wording = self.fact, self.news_wording
        terms = self.known_terms.terms["object", fact.relation, fact.subject]
        term = _term_on(terms, fact.object, self.draw.article_day)
        assert term is not None, "the sentence is evidence of it"
        yield from self._ask_side(
            _Wording("object", fact.subject, fact.object_span, wording.ask, wording.became), term
        )
        yield from self._ask_side(
            _Wording(
                "subject",
                fact.object,
                fact.subject_span,
                wording.ask_subject,
                wording.became_subject,
            ),
            term,
        )
        began_once = sum(other_term.id == fact.object for other_term in terms) == 1
        if wording.when and fact.evidence.is_change and began_once:
            yield from self._ask_date(wording.when, term)

    def _is_new(self, term: HeldTerm) -> bool:
        """Whether the article tells of the beginning of a term as of its news."""
        article_day = self.draw.article_day
        began_lately = term.certainly_starts_within(article_day - _EVENT, article_day)
        return self.fact.evidence.is_change and began_lately

    def _ask_side(self, wording: _Wording, term: HeldTerm) -> Iterator[Question]:
        """The questions for one side of the fact: who came into the state, and who is in it."""
        if not self._can_ask(wording):
            return
        timeline = self.known_terms.terms.get(
            (wording.side, self.fact.relation, wording.other_id), []
        )
        start_day = term.held.start_first
        month = Period.of(start_day or self.draw.article_day, "month")
        in_one_month = term.certainly_starts_within(month.first, month.last)
        if wording.ask_event and self._is_new(term) and in_one_month:
            time_phrase = with_preposition("in", format_date(month.first, "month"))
            newcomers = _began(timeline, month.first, month.last)
            yield from self._ask(
                "event",
                wording.ask_event,
                time_phrase,
                newcomers,
                timeline,
                wording.span,
                recent=True,
            )
        if wording.ask_state:
            recent_since = self.draw.article_day - _RECENT
            is_recent = start_day is not None and recent_since <= start_day
            time_phrase, holders = self._state(timeline, recent=is_recent)
            question_template = (
                wording.ask_state if time_phrase else in_present_tense(wording.ask_state)
            )
            # a template without a present tense needs a time
            if time_phrase or question_template != wording.ask_state:
                yield from self._ask(
                    "state",
                    question_template,
                    time_phrase,
                    holders,
                    timeline,
                    wording.span,
                    recent=is_recent,
                )

    def _can_ask(self, wording: _Wording) -> bool:
        """Whether the name in the sentence can be an answer that the question identifies.

        Where the answer is the subject, an office identifies it only if the country stands in the
        office's name or in the sentence.
        """
        if self.fact.sentence.text[slice(*wording.span)] in _PEOPLES:
            return False  # `British` names the United Kingdom, but answers nothing
        entities = self.known_terms.entities
        office_name = entities[wording.other_id].label if wording.other_id in entities else ""
        # many countries have a Leader of the Opposition
        named_office = self.news_wording.cues or _HAS_COUNTRY.search(office_name)
        return wording.side == "object" or bool(named_office)

    def _ask_date(self, question_template: str, term: HeldTerm) -> Iterator[Question]:
        """The question when the fact began, where the sentence says the day or the month."""
        date_mention = _date_of(self.fact.evidence, term)
        days = start_days(term)
        if date_mention is None or days is None:
            return
        grounding = Grounding(
            *self.fact[:3], "event", _date_forms(*days), (), term.statements, True
        )
        answer_span = date_mention.start, date_mention.end
        question_text, is_recent = self._text(question_template, ""), self._is_new(term)
        yield self._question(question_text, answer_span, grounding, "none", recent=is_recent)

    def _ask(
        self,
        about: About,
        question_template: str,
        time_phrase: str,
        holders: Sequence[HeldTerm],
        timeline: Sequence[HeldTerm],
        answer_span: Span,
        *,
        recent: bool,
    ) -> Iterator[Question]:
        """The question for all holders, where they are few and have names."""
        entities = self.known_terms.entities
        item_ids = list(dict.fromkeys(term.id for term in holders))
        any_nameless = any(item_id not in entities for item_id in item_ids)
        if any_nameless or not 0 < len(item_ids) <= _MOST_ANSWERS:
            return
        # the item of the sentence is the first answer
        item_ids.sort(key=lambda item_id: item_id not in self.fact[1:3])
        labels = dict.fromkeys(entities[item_id].label for item_id in item_ids)
        aliases: dict[str, None] = {}
        for item_id in item_ids:
            aliases |= dict.fromkeys(entities[item_id].aliases)
        for label in labels:
            aliases.pop(label, None)
        statement_ids: set[str] = set()
        for term in holders:
            statement_ids.update(term.statements)
        holds = self._still_hold(timeline, item_ids)
        grounding = Grounding(
            *self.fact[:3],
            about,
            tuple(labels),
            tuple(aliases),
            tuple(sorted(statement_ids)),
            holds,
        )
        time_spec: TimeSpec = "absolute" if time_phrase else "none"
        question_text = self._text(question_template, time_phrase)
        yield self._question(question_text, answer_span, grounding, time_spec, recent=recent)

    def _still_hold(self, timeline: Sequence[HeldTerm], item_ids: Sequence[str]) -> bool | None:
        """Whether the same items hold on the question's day; None if that is not known."""
        question_day = self.draw.question_day
        holders = (
            _holders(timeline, question_day, question_day)
            if question_day <= self.snapshot
            else None
        )
        return None if holders is None else {term.id for term in holders} == set(item_ids)

    def _text(self, question_template: str, time_phrase: str) -> str:
        """The template with the names and the relation's word of the sentence in its places."""
        subject_name = self._name("subject", self.fact.subject)
        object_name = self._name("object", self.fact.object)
        cue = self.fact.evidence.relation or ""
        for known_cue in self.news_wording.cues:
            if known_cue.lower() == cue.lower():
                cue = known_cue
                break
        place_question = "of which country" if subject_name in COUNTRIES else "where"
        question_template = question_template.replace("<cue>", cue).replace(
            "<where>", place_question
        )
        question_text = phrase(question_template, subject_name, object_name)
        question_text = question_text[:1].upper() + question_text[1:]
        return f"{question_text} {time_phrase}?" if time_phrase else f"{question_text}?"

    def _name(self, side: Side, item_id: str) -> str:
        """The label of an item, with what tells it from others of that name."""
        namesake = self.known_terms.namesakes.get((side, item_id))
        if namesake and namesake.name:
            return namesake.name
        return self.known_terms.entities[item_id].label

    def is_ambiguous(self, question: Question) -> bool:
        """Whether a question names an item by a name that others have, too.

        What tells them apart must not give the answer away.
        """
        grounding = question.grounding
        assert grounding is not None
        answers = [Answer("", name, ()) for name in (*grounding.answers, *grounding.aliases)]
        sides: tuple[tuple[Side, str], ...] = (
            ("subject", self.fact.subject),
            ("object", self.fact.object),
        )
        # An object that is named beside its subject is that subject's.
        for side, item_id in sides:
            if self.known_terms.entities[item_id].label in question.question:
                return may_mean_others(self.known_terms.namesakes.get((side, item_id)), answers)
        return False

    def _question(
        self,
        question_text: str,
        answer_span: Span,
        grounding: Grounding,
        time_spec: TimeSpec,
        *,
        recent: bool,
    ) -> Question:
        sentence = self.fact.sentence
        answer_start, answer_end = sentence.start + answer_span[0], sentence.start + answer_span[1]
        answer_type: AnswerType = "date" if question_text.startswith("When ") else "entity"
        answer_text = self.article.text[answer_start:answer_end]
        answer = Candidate(answer_start, answer_end, answer_text, answer_type, None, sentence.line)
        question_id = row_id(self.draw.id, FACTS, question_text, answer_start)
        return Question(
            question_id, self.draw, question_text, answer, FACTS, time_spec, recent, grounding
        )

    def _state(
        self, timeline: Sequence[HeldTerm], *, recent: bool
    ) -> tuple[str, Sequence[HeldTerm]]:
        """The time for which a state is asked, and its holders then; none where nothing is certain.

        The time is empty where the state is recent, the question is asked soon, and the holders are
        the same on both days. Else it is the month of the article, or its day where the holders
        change within the month but not around that day.
        """
        article_day, question_day = self.draw.article_day, self.draw.question_day
        holders: Sequence[HeldTerm] | None
        asked_soon = recent and self.draw.subset == "recent" and question_day <= self.snapshot
        if asked_soon and (holders := _holders(timeline, article_day - _DAY, question_day)):
            return "", holders
        month = Period.of(article_day, "month")
        if holders := _holders(timeline, month.first, month.last):
            return with_preposition("in", format_date(article_day, "month")), holders
        holders = _holders(timeline, article_day - _DAY, article_day + _DAY)
        return with_preposition("on", format_date(article_day)), holders or []


def _holders(
    timeline: Sequence[HeldTerm], first_day: date, last_day: date
) -> list[HeldTerm] | None:
    """Return all terms that certainly hold from `first_day` to `last_day`.

    If one of another object may hold, too, the answer is in doubt, and the result is None.
    """
    holders = [term for term in timeline if term.within(first_day, last_day)]
    item_ids = {term.id for term in holders}
    for term in timeline:
        may_hold = term.held.holds_within(first_day, last_day) is not Certainty.NO
        if may_hold and term.id not in item_ids:
            return None
    return holders


def _began(timeline: Sequence[HeldTerm], first_day: date, last_day: date) -> list[HeldTerm]:
    """Return all terms that certainly began in a span of days.

    If one of another object may have begun in it, too, the list is empty: the answer is in doubt.
    """
    newcomers = [term for term in timeline if term.certainly_starts_within(first_day, last_day)]
    item_ids = {term.id for term in newcomers}
    for term in timeline:
        may_begin = term.held.starts_within(first_day, last_day) is not Certainty.NO
        if may_begin and term.id not in item_ids:
            return []
    return newcomers


def start_days(term: HeldTerm) -> tuple[date, date] | None:
    """Return the first and the last day on which a term may have begun; None if one is unknown."""
    first_day, last_day = term.held.start_first, term.held.start_last
    return (first_day, last_day) if first_day is not None and last_day is not None else None


def _date_of(evidence: FactEvidence, term: HeldTerm) -> DateMention | None:
    """The date in a sentence that says when a term began, to the month at least."""
    days = start_days(term)
    if days is None or (days[1] - days[0]).days > _MONTH_DAYS:
        return None
    for date_mention in evidence.starts or ():
        if (date_mention.last - date_mention.first).days <= _MONTH_DAYS:
            return date_mention
    return None


def _date_forms(first_day: date, last_day: date) -> tuple[str, ...]:
    """The ways to write the day or month on which a term began, the most exact first."""
    month = format_date(first_day, "month")
    if first_day != last_day:
        return (month,)
    american_form = f"{month.split()[0]} {first_day.day}, {first_day.year}"
    return format_date(first_day), american_form, month


def in_present_tense(question_template: str) -> str:
    """Turn a question about the past into one about today; one that it cannot turn stays.

    >>> in_present_tense("which team did <subject> play for")
    'which team does <subject> play for'
    >>> in_present_tense("who chaired <subject>")
    'who chairs <subject>'
    """
    for past_form, present_form in (
        ("was", "is"),
        ("were", "are"),
        ("did", "does"),
        ("had", "has"),
    ):
        if (
            present_question := re.sub(
                rf"\b{past_form}\b", present_form, question_template, count=1
            )
        ) != question_template:
            return present_question
    return _WHO_DID.sub(r"\1 \2s", question_template, count=1)
