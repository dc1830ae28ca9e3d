"""The steps of `as-of`: histories and days, sentences of texts, then passages and questions."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import chain
from pathlib import Path
from typing import ClassVar, NamedTuple, TypeVar

import ibis
import ibis.expr.types as ir

from factdrift.builders import rows
from factdrift.builders.core import duck
from factdrift.builders.core.dates import Period
from factdrift.builders.core.hashing import row_id, seeded_fraction, seeded_hash, seeded_index
from factdrift.builders.core.schema import typed_rows, write_sorted, writing
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.core.tables import has_label, seeded_order
from factdrift.builders.facts import namesakes
from factdrift.builders.facts.intervals import Certainty, segment_interval
from factdrift.builders.facts.relations import NewsWording, RelationWording
from factdrift.builders.facts.steps import DROPPED_ORDER, Facts, Timelines
from factdrift.builders.facts.text_evidence import NO_DATES, FactDates, FactPassage, fact_evidence
from factdrift.builders.generate.grounded import GroundedFact, KnownTerms, StatedFacts
from factdrift.builders.text.dates import format_date
from factdrift.builders.text.given_away import contains_as_scored
from factdrift.builders.text.squad import normalize_or_keep
from factdrift.builders.timeqa.evidence import passage_of
from factdrift.builders.timeqa.mentions import PageMention, PageText
from factdrift.builders.timeqa.steps import Alignments
from factdrift.builders.wmt.passages import SENTENCES, passage_texts, printable_id, question_prefix
from factdrift.builders.wmt.read import read_articles
from factdrift.builders.wmt.steps import Articles
from factdrift.reasoning.as_of.rows import (
    Age,
    AskedDay,
    AsOfQuestion,
    DatedPassage,
    StatedFact,
    StatedPassage,
)
from factdrift.reasoning.families.base import Scope, at_quarter_end
from factdrift.reasoning.names import Verbalizer, boundary
from factdrift.reasoning.selection import first_rows
from factdrift.reasoning.states import EARLY, PAIR, build_knowledge

# Guesses that keep a release varied: long histories, common relations and facts that news repeat
# would crowd out the others.
_MAX_SEGMENTS = 100
"""The largest number of segments of a history."""
_RELATION_SHARE = 0.25
"""The largest share of the histories that one relation may have."""
_PER_FACT = 5
"""The largest number of sentences of news that state the same fact."""
_DRAWS = 2
"""The largest number of days that are drawn from a stretch."""
# From two months, when most texts about a change have been written, to three years and a bit: late
# enough that a newer fact may have come before. Both are guesses.
_DELAYS = 60, 1200
"""Days from the beginning of a fact to a late statement of it."""
# A start that is known to the year alone has 365 days in doubt.
_MAX_DOUBT = 366
"""The largest number of days on which each start of a history may lie."""
_INTRODUCTION = "Answer the question with a name."
# One quarter, one year and three years, each with the longest number of days it can have.
_AGES: tuple[tuple[int, Age], ...] = (
    (92, "00-02 months"),
    (366, "03-11 months"),
    (1096, "12-35 months"),
)


WHOLE = "whole.parquet"
"""The passages with all their text, where that of news stays out of the release."""


class EvolvingFacts(Step):
    """Draws histories with at least two objects and no doubts, and days on which all is certain.

    A history is all segments of a subject and relation. The step writes `terms.parquet`
    (`rows.Segment`), `days.parquet` (`AskedDay`), `entities.parquet`, `namesakes.NAMES` and
    `dropped.parquet`. `phrases` are those of
    the relations, each with an `event` and an `ask`; `histories` is the number that is drawn.
    """

    name: ClassVar[str] = "evolving-facts"

    facts: Facts
    timelines: Timelines
    phrases: Mapping[str, RelationWording]
    first: date
    last: date
    histories: int
    seed: int

    def make(self, out: Path, workspace: Workspace) -> None:
        """Draw histories by hash, cut them into stretches, and draw days from these."""
        timelines_folder = workspace.folder(self.timelines)
        facts_folder = workspace.folder(self.facts)
        with workspace.engine() as eng:
            segments = eng.read(timelines_folder / "timelines.parquet", rows.Segment)
            gaps = eng.read(timelines_folder / "gaps.parquet", rows.Gap)
            entities = eng.read(facts_folder / "entities.parquet", rows.Entity)
            segments = segments.filter(segments.relation.isin(list(self.phrases)))
            with_page = entities.filter(entities.enwiki.notnull() & has_label(entities.label))
            segments = segments.semi_join(with_page, segments.subject == with_page.id)
            knowledge = build_knowledge(eng, segments, gaps, self.last, self.seed, _MAX_SEGMENTS)
            pairs = eng.keep(self._drawn_pairs(knowledge.terms, entities))
            drawn_terms = eng.keep(segments.semi_join(pairs, PAIR).select(segments.columns))
            term_order = (*PAIR, "start_last", "object", "statements")
            eng.write(drawn_terms, out / "terms.parquet", rows.Segment, term_order)
            states = knowledge.states.semi_join(pairs, PAIR).select(knowledge.states.columns)
            # Nothing is asked about days on which nobody holds.
            states = states.filter(states.objects.length() > 0)
            scope = Scope(self.first, self.last, {})
            asked_days = eng.keep(at_quarter_end(states, scope, self.seed, draws=_DRAWS))
            asked_days = asked_days.mutate(
                key=ibis.literal("/").join(
                    [asked_days.subject, asked_days.relation, asked_days.as_of.cast("string")]
                )
            )
            asked = asked_days.select(
                "key", *PAIR, first="as_of", last="as_of", answers=asked_days["objects"]
            )
            told = namesakes.tell_apart(
                eng,
                out,
                asked,
                namesakes.read_held(eng, timelines_folder, self.phrases),
                entities,
                namesakes.read_offices(eng, workspace.folder(self.facts.mined)),
                namesakes.alike(
                    {
                        relation_id: [relation_phrases.ask or ""]
                        for relation_id, relation_phrases in self.phrases.items()
                    }
                ),
            )
            asked_days = namesakes.not_ambiguous(asked_days, told, "key")
            eng.write(asked_days, out / "days.parquet", AskedDay, (*PAIR, "as_of"))
            dropped_rows = namesakes.dropped_rows(told.ambiguous, self.name)
            eng.write(dropped_rows, out / "dropped.parquet", rows.Dropped, DROPPED_ORDER)
            subject_ids, object_ids = (
                drawn_terms.select(id="subject"),
                drawn_terms.select(id="object"),
            )
            item_ids = subject_ids.union(object_ids).distinct()
            eng.write(
                entities.semi_join(item_ids, "id"), out / "entities.parquet", rows.Entity, ("id",)
            )

    def _drawn_pairs(self, terms: ir.Table, entities: ir.Table) -> ir.Table:
        """Draw pairs (subject, relation) that change and are known well enough to ask about.

        A pair qualifies if it has two objects or more, all of them named; if its last segment
        begins after the first day of the window (`self.first`), so that something changes in it or
        later; if it begins after `EARLY`, the first day that `knowledge` covers, so that no
        beginning is cut off; and if no start is in doubt by more than `_MAX_DOUBT` days. The end of
        the window is not tested here: `make` draws days up to `self.last` only.

        One relation has at most `_RELATION_SHARE` of the pairs, and at most `self.histories` pairs
        are drawn in all, both in the order of a seeded hash.
        """
        with_label = entities.filter(has_label(entities.label)).select(named="id")
        unnamed_terms = terms.anti_join(with_label, terms.object == with_label.named)
        start_doubt = terms.start_first.delta(terms.start_last, unit="day").abs()
        terms = terms.mutate(doubt=start_doubt)
        pairs = terms.group_by(PAIR).agg(
            objects=terms["object"].nunique(),
            earliest_start=terms.start_first.min(),
            latest_start=terms.start_last.max(),
            doubt=terms.doubt.max(),
        )
        in_window = (pairs.earliest_start > EARLY) & (pairs.latest_start > self.first)
        pairs = pairs.filter((pairs.objects > 1) & in_window & (pairs.doubt <= _MAX_DOUBT))
        pairs = pairs.anti_join(unnamed_terms.select(*PAIR).distinct(), PAIR)
        pairs = pairs.mutate(drawn=seeded_order(self.seed, pairs.subject, pairs.relation))
        per_relation = int(_RELATION_SHARE * self.histories)
        pairs = first_rows(pairs, ["relation"], ["drawn"], per_relation)
        return first_rows(pairs, [], ["drawn"], self.histories).select(*PAIR)


class NewsStatements(Step):
    """Finds sentences of news that state a fact of a history: `passages.parquet` (`StatedPassage`).

    Each has the day of its article, on which the fact surely held.
    """

    name: ClassVar[str] = "news-statements"

    evolving: EvolvingFacts
    articles: Articles
    relations: Mapping[str, NewsWording]

    def make(self, out: Path, workspace: Workspace) -> None:
        """Search every article for the facts of the histories."""
        facts_folder = workspace.folder(self.evolving)
        articles_path = workspace.folder(self.articles) / "articles.parquet"
        no_gaps = out / "gaps.parquet"
        with writing(no_gaps, rows.Gap):
            pass  # histories with gaps are not asked about
        table_paths = facts_folder / "terms.parquet", no_gaps, facts_folder / "entities.parquet"
        passages_by_fact: dict[tuple[str, ...], dict[str, StatedPassage]] = defaultdict(dict)
        with duck.connect(workspace.work("spill"), workspace.memory) as db:
            articles = read_articles(self.articles.news.files, articles_path, jobs=workspace.jobs)
            fact_search = StatedFacts(db, *table_paths, self.relations)
            for article, stated_facts, known_terms in fact_search.find(articles):
                for fact in stated_facts:
                    passage = _news_passage(article, fact, known_terms)
                    same_fact = passages_by_fact[passage.fact.statements]
                    same_fact[passage.passage.id] = passage  # an article may say a sentence twice
                    if len(same_fact) > _PER_FACT:
                        del same_fact[max(same_fact)]
        no_gaps.unlink()
        with writing(out / "passages.parquet", StatedPassage) as passage_writer:
            every_passage = chain.from_iterable(
                same_fact.values() for same_fact in passages_by_fact.values()
            )
            for passage in sorted(every_passage, key=_by_day):
                passage_writer.append(passage)


def _news_passage(
    article: rows.Article, fact: GroundedFact, known_terms: KnownTerms
) -> StatedPassage:
    """Return the sentence of an article that states a fact."""
    sentence_text = fact.sentence.text.strip()
    for term in known_terms.terms["object", fact.relation, fact.subject]:
        if term.id == fact.object and term.within(article.day, article.day):
            break
    else:
        raise AssertionError(f"{article.id}: no term of {fact.object} on that day")
    since = term.held.start_last
    assert since is not None  # it surely held on the article's day
    passage_id, passage_text = list(passage_texts(article))[fact.sentence.line // SENTENCES]
    start_place = passage_text.index(sentence_text)
    passage = DatedPassage(
        printable_id(passage_id), article.day, "", passage_text, "news", passage_id
    )
    stated_fact = StatedFact(
        passage=passage.id,
        subject=fact.subject,
        relation=fact.relation,
        object=fact.object,
        object_label=known_terms.entities[fact.object].label,
        since=since,
        day=article.day,
        is_current=True,
        is_change=fact.evidence.is_change,
        stated_from=None,
        stated_until=None,
        start=start_place,
        end=start_place + len(sentence_text),
        also_named=(),
        statements=term.statements,
    )
    return StatedPassage(passage, stated_fact)


class PageStatements(Step):
    """Finds sentences of pages that state one fact of a history: `passages.parquet`.

    The rows are `StatedPassage`. Candidates are the sentences that TimeQA's alignment found, which
    name the object. By `fact_evidence` a sentence has to state the relation and the beginning or
    the end of the fact, and it must not name another object of the history. The page's title stands
    before it, for the sentence itself may only say "he". `day` is the day of the pages.
    """

    name: ClassVar[str] = "page-statements"

    evolving: EvolvingFacts
    aligned: Alignments
    relations: Mapping[str, NewsWording]
    day: date

    def make(self, out: Path, workspace: Workspace) -> None:
        """Cut the sentences with the mentions out of the pages."""
        facts_folder = workspace.folder(self.evolving)
        aligned_folder = workspace.folder(self.aligned) / "every"
        terms = _grouped(typed_rows(facts_folder / "terms.parquet", rows.Segment))
        entities = _entities_by_id(facts_folder)
        mentioned: dict[str, list[rows.AlignedSegment]] = defaultdict(list)
        for mention in typed_rows(aligned_folder / "aligned.parquet", rows.AlignedSegment):
            has_sentence = mention.evidence != "none" and mention.relation in self.relations
            if has_sentence and (mention.subject, mention.relation) in terms:
                mentioned[mention.subject].append(mention)
        passages_by_id: dict[str, StatedPassage] = {}
        pages_path = workspace.folder(self.aligned.pages) / "pages.parquet"
        for page in typed_rows(pages_path, rows.Page, 64):
            page_text = PageText(page)
            for mention in mentioned.get(page.item, ()):
                new_passage = self._passage(
                    page_text, mention, terms[mention.subject, mention.relation], entities
                )
                if new_passage is not None:
                    passages_by_id[new_passage.passage.id] = new_passage
        with writing(out / "passages.parquet", StatedPassage) as passage_writer:
            for passage in sorted(passages_by_id.values(), key=_by_day):
                passage_writer.append(passage)

    def _passage(
        self,
        page: PageText,
        mention: rows.AlignedSegment,
        history: Sequence[rows.Segment],
        entities: Mapping[str, rows.Entity],
    ) -> StatedPassage | None:
        """Return the sentence of a mention, or None if it does not state this fact alone."""
        term = _term_of(mention, history)
        if term is None or term.start_last is None:
            return None
        sentence = _sentence_of(page, mention)
        if sentence is None or not self._states_fact(sentence, term, mention.relation):
            return None
        other_items = (entities[other.object] for other in history if other.object != term.object)
        if any(_names_item(sentence.text, item) for item in other_items):
            return None
        sentence_text = sentence.text.rstrip()
        place = f"{page.page.page}-{page.page.revision}-{mention.paragraph}"
        passage_id = row_id("page", place)
        assert mention.paragraph is not None
        passage_text = page.texts[mention.paragraph]
        passage = DatedPassage(passage_id, self.day, page.page.title, passage_text, "page", place)
        stated_fact = StatedFact(
            passage=passage_id,
            subject=mention.subject,
            relation=mention.relation,
            object=term.object,
            object_label=mention.object_label,
            since=term.start_last,
            day=self.day,
            is_current=False,
            is_change=False,
            stated_from=term.start_last,
            stated_until=None,
            start=sentence.start,
            end=sentence.start + len(sentence_text),
            also_named=(),
            statements=term.statements,
        )
        return StatedPassage(passage, stated_fact)

    def _states_fact(self, sentence: FactPassage, term: rows.Segment, relation: str) -> bool:
        """Return whether a sentence states the relation and a boundary of a term by itself."""
        # What stands around the sentence is no part of the released passage, so it is no evidence.
        lone_sentence = replace(sentence, nearby_dates=NO_DATES)
        evidence = fact_evidence(
            lone_sentence, FactDates.of_segment(term), self.relations[relation]
        )
        return evidence.relation is not None and bool(evidence.starts or evidence.ends)


def _term_of(mention: rows.AlignedSegment, history: Sequence[rows.Segment]) -> rows.Segment | None:
    for term in history:
        if term.statements == mention.statements:
            return term
    return None


def _sentence_of(page: PageText, mention: rows.AlignedSegment) -> FactPassage | None:
    """Return the sentence of a mention; None if it has no place, or one in a table or list."""
    if mention.paragraph is None or mention.start is None or mention.end is None:
        return None
    if page.page.paragraphs[mention.paragraph].kind != "text":
        return None
    return passage_of(page, PageMention(mention.paragraph, mention.start, mention.end))


def _names_item(text: str, entity: rows.Entity) -> bool:
    return any(contains_as_scored(text, name) for name in (entity.label, *entity.aliases))


class AsOfRows(Step):
    """Writes the passages, by day, and the questions, by id.

    The files are `passages.parquet` (`DatedPassage`), `questions.parquet` (`AsOfQuestion`) and
    `dropped.parquet`.

    - `late` is the share of statements that come long after the fact that they state began.
    - `questions` is the largest number of questions. For half of them a newer fact may be known.
    - `text` is false if the text of news stays out of the release.
    """

    name: ClassVar[str] = "as-of-rows"

    evolving: EvolvingFacts
    news: NewsStatements | None
    pages: PageStatements | None
    text: bool
    late: float
    questions: int

    def make(self, out: Path, workspace: Workspace) -> None:
        """Put histories into words and ask about the drawn days what the passages answer."""
        facts_folder = workspace.folder(self.evolving)
        names = Verbalizer(_entities_by_id(facts_folder), self.evolving.phrases)
        subject_names = namesakes.names_by_pair(facts_folder / namesakes.NAMES)
        terms = _grouped(typed_rows(facts_folder / "terms.parquet", rows.Segment))
        all_passages = self._passages(
            chain.from_iterable(terms.values()), names, subject_names, workspace
        )
        with writing(out / "passages.parquet", DatedPassage) as passage_writer:
            written_ids: set[str] = set()
            for stated in all_passages:
                passage = stated.passage
                if passage.id in written_ids:
                    continue
                written_ids.add(passage.id)
                hidden = passage.source == "news" and not self.text
                passage_writer.append(replace(passage, text="") if hidden else passage)
        if not self.text:
            with writing(out / WHOLE, DatedPassage) as whole_writer:
                for stated in all_passages:
                    whole_writer.append(stated.passage)
        all_facts = [stated.fact for stated in all_passages]
        write_sorted(out / "stated.parquet", StatedFact, all_facts)
        passages_by_pair = _grouped(all_facts)
        possible_questions: dict[str, list[AsOfQuestion]] = {"yes": [], "no": []}
        with writing(out / "dropped.parquet", rows.Dropped) as drop_writer:
            for asked_day in typed_rows(facts_folder / "days.parquet", AskedDay):
                pair = asked_day.subject, asked_day.relation
                subject_name = subject_names.get(pair, names.name(asked_day.subject))
                history = _History(names, subject_name, terms[pair], passages_by_pair[pair])
                for asked_on in self._asked_on(asked_day, passages_by_pair[pair]):
                    question_or_drop = history.question(asked_day, asked_on)
                    if isinstance(question_or_drop, AsOfQuestion):
                        possible_questions[question_or_drop.superseded].append(question_or_drop)
                    else:
                        drop_writer.append(question_or_drop)
        with writing(out / "questions.parquet", AsOfQuestion) as question_writer:
            for question in self._drawn_questions(list(possible_questions.values())):
                question_writer.append(question)

    def _passages(
        self,
        segments: Iterable[rows.Segment],
        names: Verbalizer,
        subject_names: Mapping[tuple[str, str], str],
        workspace: Workspace,
    ) -> list[StatedPassage]:
        """Return the passages of the dump, the news and the pages, by day."""
        passages: list[StatedPassage] = []
        for segment in segments:
            subject_name = subject_names.get((segment.subject, segment.relation))
            passages.append(self._statement(segment, names, subject_name))
        for step in (self.news, self.pages):
            if step is not None:
                passages += typed_rows(workspace.folder(step) / "passages.parquet", StatedPassage)
        passages.sort(key=_by_day)
        return passages

    def _drawn_questions(
        self, question_kinds: Sequence[Sequence[AsOfQuestion]]
    ) -> list[AsOfQuestion]:
        """Draw equally many questions of each kind, and return them by id."""
        seed = self.evolving.seed
        per_kind = min(self.questions // 2, *map(len, question_kinds))
        drawn_questions: list[AsOfQuestion] = []
        for questions in question_kinds:
            in_drawn_order = sorted(
                questions, key=lambda question: seeded_hash(seed, "as-of", question.id)
            )
            drawn_questions += in_drawn_order[:per_kind]
        return sorted(drawn_questions, key=lambda question: question.id)

    def _asked_on(self, asked_day: AskedDay, passages: Iterable[StatedFact]) -> Iterator[date]:
        """Yield the day itself, the page's day if it is later, and the end of a later quarter."""
        yield asked_day.as_of
        page_days: set[date] = set()
        for passage in passages:
            if not (passage.is_current or passage.is_change) and passage.day > asked_day.as_of:
                page_days.add(passage.day)
        yield from page_days
        first_quarter = Period.of(asked_day.as_of, "quarter")
        last_quarter = Period.of(self.evolving.last, "quarter")
        if later_count := last_quarter.index - first_quarter.index:
            pair = asked_day.subject, asked_day.relation
            drawn_place = seeded_index(later_count, self.evolving.seed, *pair, asked_day.as_of)
            yield (first_quarter + (1 + drawn_place)).last

    def _statement(
        self, segment: rows.Segment, names: Verbalizer, subject_name: str | None
    ) -> StatedPassage:
        """Return a segment in words, dated to the day by which it surely had begun, or later."""
        since = segment.start_last
        assert since is not None  # of no other history is asked
        seed, (least_delay, most_delay) = self.evolving.seed, _DELAYS
        drawn_delay = seeded_index(most_delay - least_delay, seed, "delay", *segment.statements)
        late_day = since + timedelta(days=least_delay + drawn_delay)
        drawn_late = seeded_fraction(seed, "late", *segment.statements) < self.late
        is_late = drawn_late and late_day <= self.evolving.last
        subject_label = subject_name or names.name(segment.subject)
        object_label = names.name(segment.object)
        start_text = boundary(segment.start_first, since)
        is_day = segment.start_first == since or start_text.startswith("a day")
        event_text = names.fill_wording("event", segment.relation, subject_label, object_label)
        day = late_day if is_late else since
        text = f"{'On' if is_day else 'In'} {start_text}, {event_text.removesuffix('.')}."
        passage_id = row_id("statement", since, *segment.statements)
        passage = DatedPassage(passage_id, day, "", text, "statement", None)
        stated_fact = StatedFact(
            passage=passage_id,
            subject=segment.subject,
            relation=segment.relation,
            object=segment.object,
            object_label=object_label,
            since=since,
            day=day,
            is_current=False,
            is_change=True,
            stated_from=since,
            stated_until=None,
            start=0,
            end=len(text),
            also_named=(),
            statements=segment.statements,
        )
        return StatedPassage(passage, stated_fact)


def _entities_by_id(facts_folder: Path) -> dict[str, rows.Entity]:
    entities = typed_rows(facts_folder / "entities.parquet", rows.Entity)
    return {entity.id: entity for entity in entities}


class _History(NamedTuple):
    """The segments of a subject and relation, and the passages that state them, by day."""

    names: Verbalizer
    subject_name: str
    terms: Sequence[rows.Segment]
    passages: Sequence[StatedFact]

    def question(self, day: AskedDay, asked_on: date) -> AsOfQuestion | rows.Dropped:
        """Return the question about a day that is asked on `asked_on`, or why it is not asked."""
        names = self.names
        asked_words = names.fill_wording("ask", day.relation, self.subject_name)
        question_text = f"On {format_date(day.as_of)}, {asked_words}?"
        accepted_names = names.accepted_names(day.objects)
        accepted_forms = set(map(normalize_or_keep, accepted_names))
        known_passages = [passage for passage in self.passages if passage.day <= asked_on]
        evidence = _evidence(day, known_passages)
        question_id = row_id("as-of", day.subject, day.relation, day.as_of, asked_on)
        reason = None
        if {passage.object for passage in evidence} != set(day.objects):
            reason = "not_yet_stated"
        elif any(form in normalize_or_keep(question_text) for form in accepted_forms):
            reason = "answer_in_question"
        if reason:
            return rows.Dropped(
                step="as-of",
                reason=reason,
                item=question_id,
                subject=day.subject,
                relation=day.relation,
            )
        stale_passages = _stale_passages(known_passages, accepted_forms)
        superseded = any(passage.since > day.as_of for passage in stale_passages)
        ended_objects = self._ended_objects(day.as_of)
        later_objects = {term.object for term in self.terms} - ended_objects
        return AsOfQuestion(
            id=question_id,
            kind="older" if superseded else "newest",
            prompt=f"{question_prefix(asked_on)}{_INTRODUCTION}\n{question_text}",
            targets=accepted_names,
            question=question_text,
            subject=day.subject,
            subject_label=names.name(day.subject),
            relation=day.relation,
            as_of=day.as_of,
            asked_on=asked_on,
            superseded="yes" if superseded else "no",
            age=_age((day.as_of - day.since).days),
            answer_ids=day.objects,
            earlier=self._other_names(ended_objects, day, accepted_forms),
            later=self._other_names(later_objects, day, accepted_forms),
            evidence=_sorted_ids(evidence),
            supporting=(),
            unjudged=(),
            stale=_sorted_ids(stale_passages),
            statements=day.statements,
            sitelinks=names.entities[day.subject].sitelinks,
        )

    def _ended_objects(self, day: date) -> set[str]:
        """Return the objects with a term that surely ended before a day."""
        ended_objects: set[str] = set()
        for term in self.terms:
            if segment_interval(term).lasts_until(day) is Certainty.NO:
                ended_objects.add(term.object)
        return ended_objects

    def _other_names(
        self, objects: set[str], day: AskedDay, accepted_forms: Collection[str]
    ) -> tuple[str, ...]:
        """Return the names of objects that are no answer and have no name of one."""
        other_names: list[str] = []
        for name in self.names.accepted_names(sorted(objects.difference(day.objects))):
            if normalize_or_keep(name) not in accepted_forms:
                other_names.append(name)
        return tuple(other_names)


def _evidence(day: AskedDay, passages: Iterable[StatedFact]) -> list[StatedFact]:
    """Return the passages that state an answer of a day."""
    statements = set(day.statements)
    return [passage for passage in passages if statements & set(passage.statements)]


def _stale_passages(
    passages: Iterable[StatedFact], accepted_forms: Collection[str]
) -> list[StatedFact]:
    """Return the passages that state another object."""
    stale_passages: list[StatedFact] = []
    for passage in passages:
        if normalize_or_keep(passage.object_label) not in accepted_forms:
            stale_passages.append(passage)
    return stale_passages


def _sorted_ids(passages: Iterable[StatedFact]) -> tuple[str, ...]:
    return tuple(sorted({passage.passage for passage in passages}))


T = TypeVar("T", rows.Segment, StatedFact)


def _grouped(fact_rows: Iterable[T]) -> dict[tuple[str, str], list[T]]:
    rows_by_pair: dict[tuple[str, str], list[T]] = defaultdict(list)
    for row in fact_rows:
        rows_by_pair[row.subject, row.relation].append(row)
    return rows_by_pair


def _by_day(passage: StatedPassage) -> tuple[date, str, str, str]:
    fact = passage.fact
    return fact.day, fact.passage, fact.subject, fact.object


def _age(days: int) -> Age:
    return next((name for upper_days, name in _AGES if days < upper_days), "36 months and more")
