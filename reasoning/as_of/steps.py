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
            named = entities.filter(has_label(entities.label)).select(named="id")
            paged = entities.filter(entities.enwiki.notnull() & has_label(entities.label))
            segments = segments.semi_join(paged, segments.subject == paged.id)
            known = knowledge(eng, segments, gaps, self.last, self.seed, _MANY)
            t = known.terms
            t = t.mutate(doubt=t.start_first.delta(t.start_last, unit="day").abs())
            unnamed = t.anti_join(named, t.object == named.named).select(*PAIR).distinct()
            of = t.group_by(PAIR).agg(
                objects=t["object"].nunique(),
                first=t.start_first.min(),
                last=t.start_last.max(),
                doubt=t.doubt.max(),
            )
            of = of.filter((of.objects > 1) & (of["first"] > EARLY) & (of["last"] > self.first))
            of = of.filter(of.doubt <= 366)
            of = of.anti_join(unnamed, PAIR)
            of = of.mutate(drawn=seeded_order(self.seed, of.subject, of.relation))
            of = first_rows(of, ["relation"], ["drawn"], int(_SHARE * self.histories))
            pairs = eng.keep(first_rows(of, [], ["drawn"], self.histories).select(*PAIR))
            terms = eng.keep(segments.semi_join(pairs, PAIR).select(segments.columns))
            order = (*PAIR, "start_last", "object", "statements")
            eng.write(terms, out / "terms.parquet", rows.Segment, order)
            states = known.states.semi_join(pairs, PAIR).select(known.states.columns)
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
        found: dict[tuple[str, ...], dict[str, DatedPassage]] = defaultdict(dict)
        with duck.connect(workspace.work("spill"), workspace.memory) as db:
            articles = read_articles(self.articles.news.files, refs, jobs=workspace.jobs)
            for article, stated, known in StatedFacts(db, *paths, self.relations).find(articles):
                for one in stated:
                    passage = _of_news(article, one, known)
                    same = found[passage.statements]
                    same[passage.id] = passage  # an article may say a sentence twice
                    if len(same) > _PER_FACT:
                        del same[max(same)]
        none.unlink()
        with writing(out / "passages.parquet", DatedPassage) as passages:
            for passage in sorted(
                (p for some in found.values() for p in some.values()), key=_by_day
            ):
                passages.append(passage)


def _of_news(article: rows.Article, one: GroundedFact, known: KnownTerms) -> DatedPassage:
    """A sentence of an article that states a fact."""
    terms = known.terms["object", one.relation, one.subject]
    day, text = article.day, one.sentence.text.strip()
    term = next(t for t in terms if t.id == one.object and t.within(day, day))
    place, passage = list(passage_texts(article))[one.sentence.line // SENTENCES]
    start = passage.index(text)
    id_ = row_id("news", article.id, text, *term.statements)
    fact = one.subject, one.relation, one.object, known.entities[one.object].label
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
        term = next((t for t in history if t.statements == one.statements), None)
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
        others = (entities[t.object] for t in history if t.object != term.object)
        if any(
            contains_as_scored(sentence.text, name)
            for o in others
            for name in (o.label, *o.aliases)
        ):
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
        asked: dict[str, list[AsOfQuestion]] = {"yes": [], "no": []}
        with writing(out / "dropped.parquet", rows.Dropped) as dropped:
            for one in typed_rows(folder / "days.parquet", AskedDay):
                pair = one.subject, one.relation
                history = _History(names, terms[pair], by_pair[pair])
                for on in self._asked_on(one, by_pair[pair]):
                    made = history.question(one, on)
                    if isinstance(made, AsOfQuestion):
                        asked[made.superseded].append(made)
                    else:
                        dropped.append(made)
        number = min(self.questions // 2, *map(len, asked.values()))
        seed, kept = self.evolving.seed, list[AsOfQuestion]()
        for some in asked.values():
            kept += sorted(some, key=lambda one: seeded_hash(seed, "as-of", one.id))[:number]
        with writing(out / "questions.parquet", AsOfQuestion) as questions:
            for question in sorted(kept, key=lambda q: q.id):
                questions.append(question)

    def _asked_on(self, one: AskedDay, stated: Iterable[DatedPassage]) -> Iterator[date]:
        """The day itself, the last day of a later quarter, and that of the subject's page."""
        yield one.as_of
        yield from {p.day for p in stated if p.source == "page" and p.day > one.as_of}
        first, last = (Period.of(day, "quarter") for day in (one.as_of, self.evolving.last))
        if later := last.index - first.index:
            drawn = seeded_index(later, self.evolving.seed, one.subject, one.relation, one.as_of)
            yield (first + (1 + drawn)).last

    def _statement(self, one: rows.Segment, names: Verbalizer) -> DatedPassage:
        """A segment in words, on the day when it surely had begun, or late."""
        since = one.start_last
        assert since is not None  # of no other history is asked
        seed, (low, high) = self.evolving.seed, _DELAYS
        day = since + timedelta(days=low + seeded_index(high - low, seed, "delay", *one.statements))
        late = (
            day <= self.evolving.last and seeded_fraction(seed, "late", *one.statements) < self.late
        )
        subject, thing = names.name(one.subject), names.name(one.object)
        when = boundary(one.start_first, since)
        exact = one.start_first == since or when.startswith("a day")
        event = names.fill_wording("event", one.relation, subject, thing)
        text = f"{'On' if exact else 'In'} {when}, {event.removesuffix('.')}."
        id_ = row_id("statement", since, *one.statements)
        day = day if late else since
        stated = one.subject, one.relation, one.object, thing, since, one.statements
        return DatedPassage(id_, day, text, "statement", late, *stated, None, None, None)


class _History(NamedTuple):
    """The segments of a subject and relation, and the passages that state them, by day."""

    names: Verbalizer
    terms: Sequence[rows.Segment]
    passages: Sequence[DatedPassage]

    def question(self, one: AskedDay, on: date) -> AsOfQuestion | rows.Dropped:
        """What held on a day, asked on a day, or why it is not asked."""
        names = self.names
        asked = names.fill_wording("ask", one.relation, names.name(one.subject))
        question = f"On {format_date(one.as_of)}, {asked}?"
        answers = names.accepted(one.objects)
        right, stated = {normalize_or_keep(name) for name in answers}, set(one.statements)
        known = [p for p in self.passages if p.day <= on]
        evidence = [p for p in known if stated & set(p.statements)]
        id_ = row_id("as-of", one.subject, one.relation, one.as_of, on)
        reason = None
        if {p.object for p in evidence} != set(one.objects):
            reason = "not_yet_stated"
        elif any(form in normalize_or_keep(question) for form in right):
            reason = "answer_in_question"
        if reason:
            return rows.Dropped(
                step="as-of", reason=reason, item=id_, subject=one.subject, relation=one.relation
            )
        others = [p for p in known if normalize_or_keep(p.object_label) not in right]
        before = {
            t.object
            for t in self.terms
            if segment_interval(t).lasts_until(one.as_of) is Certainty.NO
        }
        every = {t.object for t in self.terms}
        earlier, later = (
            tuple(
                name
                for name in names.accepted(sorted(some.difference(one.objects)))
                if normalize_or_keep(name) not in right
            )
            for some in (before, every - before)
        )
        return AsOfQuestion(
            id=id_,
            prompt=f"{question_prefix(on)}{_INTRODUCTION}\n{question}",
            targets=answers,
            question=question,
            subject=one.subject,
            subject_label=names.name(one.subject),
            relation=one.relation,
            as_of=one.as_of,
            asked_on=on,
            superseded="yes" if any(p.since > one.as_of for p in others) else "no",
            age=_age((one.as_of - one.since).days),
            answer_ids=one.objects,
            earlier=earlier,
            later=later,
            evidence=tuple(sorted(p.id for p in evidence)),
            stale=tuple(sorted(p.id for p in others)),
            statements=one.statements,
            sitelinks=names.entities[one.subject].sitelinks,
        )


T = TypeVar("T", rows.Segment, DatedPassage)


def _grouped(found: Iterable[T]) -> dict[tuple[str, str], list[T]]:
    groups: dict[tuple[str, str], list[T]] = defaultdict(list)
    for one in found:
        groups[one.subject, one.relation].append(one)
    return groups


def _by_day(one: DatedPassage) -> tuple[date, str]:
    return one.day, one.id


def _age(days: int) -> Age:
    return next((name for most, name in _AGES if days < most), "36 months and more")
