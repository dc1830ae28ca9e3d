"""The steps of `as-of`: histories and days, sentences of news, then passages and questions."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import ClassVar, NamedTuple, TypeVar

from factdrift.builders import rows
from factdrift.builders.core import duck
from factdrift.builders.core.dates import Period
from factdrift.builders.core.hashing import row_id, seeded_fraction, seeded_hash, seeded_index
from factdrift.builders.core.schema import typed_rows, writing
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.core.tables import has_label, seeded_order
from factdrift.builders.facts.intervals import Certainty, segment_interval
from factdrift.builders.facts.relations import NewsWording, RelationWording
from factdrift.builders.facts.steps import Facts, Timelines
from factdrift.builders.facts.text_evidence import NO_DATES, FactDates, fact_evidence
from factdrift.builders.generate.grounded import GroundedFact, KnownTerms, StatedFacts
from factdrift.builders.text.dates import format_date
from factdrift.builders.text.given_away import contains_as_scored
from factdrift.builders.text.squad import normalize_or_keep
from factdrift.builders.timeqa.evidence import passage_of
from factdrift.builders.timeqa.mentions import PageMention, PageText
from factdrift.builders.timeqa.steps import Alignments
from factdrift.builders.wmt.passages import SENTENCES, passage_texts, question_prefix
from factdrift.builders.wmt.read import read_articles
from factdrift.builders.wmt.steps import Articles
from factdrift.reasoning.as_of.rows import Age, AskedDay, AsOfQuestion, DatedPassage
from factdrift.reasoning.families.base import Scope, at_quarter_end
from factdrift.reasoning.names import Verbalizer, boundary
from factdrift.reasoning.selection import first_rows
from factdrift.reasoning.states import EARLY, PAIR, knowledge

_MANY = 100
"""Segments of a history at most."""
_SHARE = 0.25
"""Of the histories, at most, of one relation."""
_PER_FACT = 5
"""Sentences of news that state a fact, at most."""
_DRAWS = 2
"""Days that are drawn of a stretch at most."""
_DELAYS = 60, 1200
"""Days after its beginning on which a late statement comes."""
_INTRODUCTION = "Answer the question with a name."
_AGES: tuple[tuple[int, Age], ...] = (
    (92, "00-02 months"),
    (366, "03-11 months"),
    (1096, "12-35 months"),
)


class EvolvingFacts(Step):
    """Histories of two objects and more without gaps and rivals, and days of which all is known.

    `terms.parquet` (`rows.Segment`), `days.parquet` (`AskedDay`), `entities.parquet`. `phrases`:
    relations with an `event` and an `ask`; `histories`: how many are drawn.
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
        """Draw histories by hash, cut them into stretches, draw days of these."""
        lines, mined = workspace.folder(self.timelines), workspace.folder(self.facts)
        with workspace.engine() as eng:
            segments = eng.read(lines / "timelines.parquet", rows.Segment)
            gaps = eng.read(lines / "gaps.parquet", rows.Gap)
            entities = eng.read(mined / "entities.parquet", rows.Entity)
            segments = segments.filter(segments.relation.isin(list(self.phrases)))
            named_entities = entities.filter(has_label(entities.label)).select(named="id")
            paged = entities.filter(entities.enwiki.notnull() & has_label(entities.label))
            segments = segments.semi_join(paged, segments.subject == paged.id)
            knowledge_tables = knowledge(eng, segments, gaps, self.last, self.seed, _MANY)
            term_table = knowledge_tables.terms
            term_table = term_table.mutate(
                doubt=term_table.start_first.delta(term_table.start_last, unit="day").abs()
            )
            unnamed = (
                term_table.anti_join(named_entities, term_table.object == named_entities.named)
                .select(*PAIR)
                .distinct()
            )
            histories = term_table.group_by(PAIR).agg(
                objects=term_table["object"].nunique(),
                first=term_table.start_first.min(),
                last=term_table.start_last.max(),
                doubt=term_table.doubt.max(),
            )
            histories = histories.filter(
                (histories.objects > 1)
                & (histories["first"] > EARLY)
                & (histories["last"] > self.first)
            )
            histories = histories.filter(histories.doubt <= 366)
            histories = histories.anti_join(unnamed, PAIR)
            histories = histories.mutate(
                drawn=seeded_order(self.seed, histories.subject, histories.relation)
            )
            histories = first_rows(histories, ["relation"], ["drawn"], int(_SHARE * self.histories))
            pairs = eng.keep(first_rows(histories, [], ["drawn"], self.histories).select(*PAIR))
            terms = eng.keep(segments.semi_join(pairs, PAIR).select(segments.columns))
            order = (*PAIR, "start_last", "object", "statements")
            eng.write(terms, out / "terms.parquet", rows.Segment, order)
            states = knowledge_tables.states.semi_join(pairs, PAIR).select(
                knowledge_tables.states.columns
            )
            states = states.filter(states.objects.length() > 0)
            scope = Scope(self.first, self.last, {})
            days = at_quarter_end(states, scope, self.seed, draws=_DRAWS)
            eng.write(days, out / "days.parquet", AskedDay, (*PAIR, "as_of"))
            ids = terms.select(id="subject").union(terms.select(id="object")).distinct()
            eng.write(entities.semi_join(ids, "id"), out / "entities.parquet", rows.Entity, ("id",))


class NewsStatements(Step):
    """Sentences of news that state a fact of the histories: `passages.parquet` (`DatedPassage`).

    Their days are those of the articles, on which the fact surely held.
    """

    name: ClassVar[str] = "news-statements"

    evolving: EvolvingFacts
    articles: Articles
    relations: Mapping[str, NewsWording]

    def make(self, out: Path, workspace: Workspace) -> None:
        """Meet every article with the facts of the histories."""
        folder = workspace.folder(self.evolving)
        refs = workspace.folder(self.articles) / "articles.parquet"
        none = out / "gaps.parquet"
        with writing(none, rows.Gap):
            pass  # histories with gaps are not asked about
        paths = folder / "terms.parquet", none, folder / "entities.parquet"
        passages_by_fact: dict[tuple[str, ...], dict[str, DatedPassage]] = defaultdict(dict)
        with duck.connect(workspace.work("spill"), workspace.memory) as db:
            articles = read_articles(self.articles.news.files, refs, jobs=workspace.jobs)
            for article, stated, known_terms in StatedFacts(db, *paths, self.relations).find(
                articles
            ):
                for fact in stated:
                    passage = _of_news(article, fact, known_terms)
                    same = passages_by_fact[passage.statements]
                    same[passage.id] = passage  # an article may say a sentence twice
                    if len(same) > _PER_FACT:
                        del same[max(same)]
        none.unlink()
        with writing(out / "passages.parquet", DatedPassage) as passages:
            for passage in sorted(
                (p for of_fact in passages_by_fact.values() for p in of_fact.values()), key=_by_day
            ):
                passages.append(passage)


def _of_news(article: rows.Article, one: GroundedFact, known_terms: KnownTerms) -> DatedPassage:
    """A sentence of an article that states a fact."""
    terms = known_terms.terms["object", one.relation, one.subject]
    day, text = article.day, one.sentence.text.strip()
    term = next(held for held in terms if held.id == one.object and held.within(day, day))
    place, passage = list(passage_texts(article))[one.sentence.line // SENTENCES]
    start = passage.index(text)
    id_ = row_id("news", article.id, text, *term.statements)
    fact = one.subject, one.relation, one.object, known_terms.entities[one.object].label
    since = term.held.start_last
    assert since is not None  # it surely held on the article's day
    stated = *fact, since, term.statements
    return DatedPassage(id_, day, text, "news", False, *stated, place, start, start + len(text))


class PageStatements(Step):
    """Sentences of pages that state one fact of the histories: `passages.parquet` (`DatedPassage`).

    They are the sentences that TimeQA's alignment points at, for they name the object. Each states
    the relation and the beginning or the end of the fact by `fact_evidence`, and names no other
    object of its history. The title stands before them, for a sentence says "he". `day`: that of
    the pages.
    """

    name: ClassVar[str] = "page-statements"

    evolving: EvolvingFacts
    aligned: Alignments
    relations: Mapping[str, NewsWording]
    day: date

    def make(self, out: Path, workspace: Workspace) -> None:
        """Cut the sentences of the mentions out of the pages."""
        folder, aligned = workspace.folder(self.evolving), workspace.folder(self.aligned) / "every"
        terms = _grouped(typed_rows(folder / "terms.parquet", rows.Segment))
        entities = {one.id: one for one in typed_rows(folder / "entities.parquet", rows.Entity)}
        mentioned: dict[str, list[rows.AlignedSegment]] = defaultdict(list)
        for one in typed_rows(aligned / "aligned.parquet", rows.AlignedSegment):
            able = one.evidence != "none" and one.relation in self.relations
            if able and (one.subject, one.relation) in terms:
                mentioned[one.subject].append(one)
        found: dict[str, DatedPassage] = {}
        pages = workspace.folder(self.aligned.pages) / "pages.parquet"
        for page in typed_rows(pages, rows.Page, 64):
            text = PageText(page)
            for one in mentioned.get(page.item, ()):
                made = self._passage(text, one, terms[one.subject, one.relation], entities)
                if made is not None:
                    found[made.id] = made
        with writing(out / "passages.parquet", DatedPassage) as passages:
            for passage in sorted(found.values(), key=_by_day):
                passages.append(passage)

    def _passage(
        self,
        page: PageText,
        one: rows.AlignedSegment,
        history: Sequence[rows.Segment],
        entities: Mapping[str, rows.Entity],
    ) -> DatedPassage | None:
        """The sentence of a mention; none where it does not state this fact alone."""
        term = next((segment for segment in history if segment.statements == one.statements), None)
        if term is None or one.paragraph is None or one.start is None or one.end is None:
            return None
        if term.start_last is None or page.page.paragraphs[one.paragraph].kind != "text":
            return None
        sentence = passage_of(page, PageMention(one.paragraph, one.start, one.end))
        # What stands around the sentence is no part of the released passage, so it is no evidence.
        alone = replace(sentence, nearby_dates=NO_DATES)
        dates = FactDates.of_segment(term)
        evidence = fact_evidence(alone, dates, self.relations[one.relation])
        if evidence.relation is None or not (evidence.starts or evidence.ends):
            return None
        names = (
            name
            for segment in history
            if segment.object != term.object
            for name in (entities[segment.object].label, *entities[segment.object].aliases)
        )
        if any(contains_as_scored(sentence.text, name) for name in names):
            return None
        text = sentence.text.rstrip()
        start = sentence.start
        about = page.page
        id_ = row_id("page", about.page, about.revision, text, term.start_last, *term.statements)
        fact = one.subject, one.relation, term.object, one.object_label
        stated = *fact, term.start_last, term.statements
        place = f"{about.page}-{about.revision}-{one.paragraph}", start, start + len(text)
        return DatedPassage(id_, self.day, f"{about.title}: {text}", "page", False, *stated, *place)


class AsOfRows(Step):
    """`passages.parquet` (`DatedPassage`, by day), `questions.parquet` (`AsOfQuestion`, by id),
    `dropped.parquet`. `late`: the share of statements that come long after what they state;
    `questions`: how many at most, half of them with a newer fact that may be known; `text`: false,
    where the text of news stays out.
    """

    name: ClassVar[str] = "as-of-rows"

    evolving: EvolvingFacts
    news: NewsStatements | None
    pages: PageStatements | None
    text: bool
    late: float
    questions: int

    def make(self, out: Path, workspace: Workspace) -> None:
        """Put histories into words, ask of the drawn days what the passages answer."""
        folder = workspace.folder(self.evolving)
        entities = {one.id: one for one in typed_rows(folder / "entities.parquet", rows.Entity)}
        names = Verbalizer(entities, self.evolving.phrases)
        terms = _grouped(typed_rows(folder / "terms.parquet", rows.Segment))
        stated = [self._statement(one, names) for history in terms.values() for one in history]
        for step in (self.news, self.pages):
            if step is not None:
                stated += typed_rows(workspace.folder(step) / "passages.parquet", DatedPassage)
        stated.sort(key=_by_day)
        with writing(out / "passages.parquet", DatedPassage) as passages:
            for passage in stated:
                hidden = passage.source == "news" and not self.text
                passages.append(replace(passage, text="") if hidden else passage)
        by_pair = _grouped(stated)
        questions_by_kind: dict[str, list[AsOfQuestion]] = {"yes": [], "no": []}
        with writing(out / "dropped.parquet", rows.Dropped) as dropped:
            for one in typed_rows(folder / "days.parquet", AskedDay):
                pair = one.subject, one.relation
                history = _History(names, terms[pair], by_pair[pair])
                for on in self._asked_on(one, by_pair[pair]):
                    question_or_drop = history.question(one, on)
                    if isinstance(question_or_drop, AsOfQuestion):
                        questions_by_kind[question_or_drop.superseded].append(question_or_drop)
                    else:
                        dropped.append(question_or_drop)
        number = min(self.questions // 2, *map(len, questions_by_kind.values()))
        seed, kept_questions = self.evolving.seed, list[AsOfQuestion]()
        for candidates in questions_by_kind.values():
            kept_questions += sorted(
                candidates, key=lambda one: seeded_hash(seed, "as-of", one.id)
            )[:number]
        with writing(out / "questions.parquet", AsOfQuestion) as questions:
            for question in sorted(kept_questions, key=lambda q: q.id):
                questions.append(question)

    def _asked_on(self, asked_day: AskedDay, stated: Iterable[DatedPassage]) -> Iterator[date]:
        """The day itself, the last day of a later quarter, and that of the subject's page."""
        yield asked_day.as_of
        yield from {
            passage.day
            for passage in stated
            if passage.source == "page" and passage.day > asked_day.as_of
        }
        first, last = (Period.of(day, "quarter") for day in (asked_day.as_of, self.evolving.last))
        if later := last.index - first.index:
            drawn = seeded_index(
                later, self.evolving.seed, asked_day.subject, asked_day.relation, asked_day.as_of
            )
            yield (first + (1 + drawn)).last

    def _statement(self, segment: rows.Segment, names: Verbalizer) -> DatedPassage:
        """A segment in words, on the day when it surely had begun, or late."""
        since = segment.start_last
        assert since is not None  # of no other history is asked
        seed, (low, high) = self.evolving.seed, _DELAYS
        day = since + timedelta(
            days=low + seeded_index(high - low, seed, "delay", *segment.statements)
        )
        late = (
            day <= self.evolving.last
            and seeded_fraction(seed, "late", *segment.statements) < self.late
        )
        subject, object_label = names.name(segment.subject), names.name(segment.object)
        when = boundary(segment.start_first, since)
        exact = segment.start_first == since or when.startswith("a day")
        event = names.fill_wording("event", segment.relation, subject, object_label)
        text = f"{'On' if exact else 'In'} {when}, {event.removesuffix('.')}."
        id_ = row_id("statement", since, *segment.statements)
        day = day if late else since
        stated = (
            segment.subject,
            segment.relation,
            segment.object,
            object_label,
            since,
            segment.statements,
        )
        return DatedPassage(id_, day, text, "statement", late, *stated, None, None, None)


class _History(NamedTuple):
    """The segments of a subject and relation, and the passages that state them, by day."""

    names: Verbalizer
    terms: Sequence[rows.Segment]
    passages: Sequence[DatedPassage]

    def question(self, asked_day: AskedDay, on: date) -> AsOfQuestion | rows.Dropped:
        """What held on a day, asked on a day, or why it is not asked."""
        names = self.names
        question_words = names.fill_wording(
            "ask", asked_day.relation, names.name(asked_day.subject)
        )
        question = f"On {format_date(asked_day.as_of)}, {question_words}?"
        answers = names.accepted(asked_day.objects)
        right, stated = {normalize_or_keep(name) for name in answers}, set(asked_day.statements)
        known_passages = [passage for passage in self.passages if passage.day <= on]
        evidence = [passage for passage in known_passages if stated & set(passage.statements)]
        id_ = row_id("as-of", asked_day.subject, asked_day.relation, asked_day.as_of, on)
        reason = None
        if {passage.object for passage in evidence} != set(asked_day.objects):
            reason = "not_yet_stated"
        elif any(form in normalize_or_keep(question) for form in right):
            reason = "answer_in_question"
        if reason:
            return rows.Dropped(
                step="as-of",
                reason=reason,
                item=id_,
                subject=asked_day.subject,
                relation=asked_day.relation,
            )
        other_passages = [
            passage
            for passage in known_passages
            if normalize_or_keep(passage.object_label) not in right
        ]
        earlier, later = self._earlier_and_later(asked_day, right)
        return AsOfQuestion(
            id=id_,
            prompt=f"{question_prefix(on)}{_INTRODUCTION}\n{question}",
            targets=answers,
            question=question,
            subject=asked_day.subject,
            subject_label=names.name(asked_day.subject),
            relation=asked_day.relation,
            as_of=asked_day.as_of,
            asked_on=on,
            superseded="yes"
            if any(passage.since > asked_day.as_of for passage in other_passages)
            else "no",
            age=_age((asked_day.as_of - asked_day.since).days),
            answer_ids=asked_day.objects,
            earlier=earlier,
            later=later,
            evidence=tuple(sorted(passage.id for passage in evidence)),
            stale=tuple(sorted(passage.id for passage in other_passages)),
            statements=asked_day.statements,
            sitelinks=names.entities[asked_day.subject].sitelinks,
        )

    def _earlier_and_later(
        self, asked_day: AskedDay, right: set[str]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of what held before the day and not on it, and of what held only after it."""
        before, after = set[str](), set[str]()
        for term in self.terms:
            ended = segment_interval(term).lasts_until(asked_day.as_of) is Certainty.NO
            (before if ended else after).add(term.object)
        names = []
        for objects in (before, after - before):
            accepted = self.names.accepted(sorted(objects.difference(asked_day.objects)))
            names.append(tuple(name for name in accepted if normalize_or_keep(name) not in right))
        return names[0], names[1]


T = TypeVar("T", rows.Segment, DatedPassage)


def _grouped(pair_rows: Iterable[T]) -> dict[tuple[str, str], list[T]]:
    groups: dict[tuple[str, str], list[T]] = defaultdict(list)
    for row in pair_rows:
        groups[row.subject, row.relation].append(row)
    return groups


def _by_day(passage: DatedPassage) -> tuple[date, str]:
    return passage.day, passage.id


def _age(days: int) -> Age:
    return next((name for most, name in _AGES if days < most), "36 months and more")
