"""The steps of `streamingqa`: questions of facts, of clauses and of models, filters, rows."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, ClassVar

import pyarrow.parquet as pq

from factdrift.builders import rows
from factdrift.builders.core import duck
from factdrift.builders.core.config import Strict
from factdrift.builders.core.hashing import row_id, seeded_hash
from factdrift.builders.core.parallel import ordered_map
from factdrift.builders.core.progress import progress
from factdrift.builders.core.run import Source
from factdrift.builders.core.schema import typed_rows, write_sorted
from factdrift.builders.core.steps import NOT_IN_KEY, Step, Workspace
from factdrift.builders.facts.relations import NewsWording
from factdrift.builders.facts.steps import Facts, Timelines
from factdrift.builders.generate import grounded, patterns
from factdrift.builders.generate.backends import AnyModel, CachedModel, open_model
from factdrift.builders.generate.candidates import SpacyFinder
from factdrift.builders.generate.grounded import StatedFacts
from factdrift.builders.generate.mentions import batches
from factdrift.builders.generate.protocol import PATTERNS
from factdrift.builders.generate.questions import GenerateSettings, generate_questions
from factdrift.builders.generate.selection import select_questions
from factdrift.builders.streamingqa import annotators
from factdrift.builders.streamingqa.annotators import AnnotatorSettings
from factdrift.builders.streamingqa.corpus import SearchIndex
from factdrift.builders.text.dates import time_in_question
from factdrift.builders.text.prompts import merge_targets
from factdrift.builders.wmt.passages import question_prefix
from factdrift.builders.wmt.read import read_articles
from factdrift.builders.wmt.steps import QuestionDates
from factdrift.filters import AnyFilter
from factdrift.filters.base import FilterContext, QuestionItem
from factdrift.filters.run import FilterRun, KeptItem, Tally
from factdrift.filters.search_index import Index
from factdrift.filters.time_spec import TimedQuestion, add_time_spec
from factdrift.filters.toxicity.scores import ToxicityScores

_COUNTED = frozenset({"same_question"})
"""Candidates that gave no question: counted on the card, not listed among the dropped rows."""
_SPARE = 2
"""Draws that a model is asked about for each row of a limited run."""
_MANY = 3
"""Draws of an article at which a run says so before a model is asked."""
_AT_ONCE = 64
"""Articles that a process reads at a time."""
_LATELY = 60
"""Days before an article in which what it tells is recent."""


def is_free(one: AnyFilter) -> bool:
    """Whether a filter costs nothing and looks at one question: it runs while they are written."""
    return one.needs == {"nothing"} or one.needs == {"names"}


class StatedQuestions(Step):
    """Questions about facts that sentences state, and about clauses that say their own time.

    `questions.parquet` (`rows.Question`), `dropped.parquet`, `summary.json`. `facts`, `timelines`:
    of the dump beside the news, if any; `relations`: how news states them; `parse`: whether clauses
    are asked about, where a line states no fact; `share`, `kept`: see
    `generate.selection.select`; `screen`: filters that run while questions are written.
    """

    name: ClassVar[str] = "stated-questions"

    draws: QuestionDates
    facts: Facts | None
    timelines: Timelines | None
    relations: Mapping[str, NewsWording]
    parse: bool
    share: float
    kept: int
    screen: tuple[AnyFilter, ...]
    seed: int

    def make(self, out: Path, workspace: Workspace) -> None:
        """Meet the drawn articles with the facts, parse the others, choose what is asked."""
        draws = draws_by_article(workspace, self.draws)
        files = self.draws.articles.news.files
        screen = FilterRun(self.screen, FilterContext(names=SpacyFinder()))
        counts: Counter[str] = Counter()
        lost: list[rows.Dropped] = []
        found: list[rows.Question] = []

        def take(article: rows.Article, options: Iterable[rows.Question]) -> None:
            for one in options:
                refused = screen.screen(one, article)
                lost.append(refused) if refused else found.append(one)

        with progress(len(draws), "articles", "asking") as bar:
            for article, options in self._grounded(workspace, draws, counts):
                take(article, options)
                bar.advance(0 if self.parse else 1)
            if self.parse:
                groups = batches(read_articles(files, sorted(draws), jobs=workspace.jobs), _AT_ONCE)
                for group in ordered_map(_parsed, groups, jobs=workspace.jobs):
                    for article, asked in group:
                        take(article, _of_clauses(asked, draws[article.id]))
                        bar.advance(1)
        counts["questions that could be asked"] = len(found)
        chosen, left = select_questions(found, self.seed, self.kept, self.share)
        counts["question"] = len(chosen)
        write_sorted(out / QUESTIONS, rows.Question, chosen)
        summed(out, [*lost, *left], screen.tallies, generated=counts)

    def _grounded(
        self, workspace: Workspace, draws: Mapping[str, Sequence[rows.Draw]], counts: Counter[str]
    ) -> Iterator[tuple[rows.Article, list[rows.Question]]]:
        """Each drawn article with its questions of facts."""
        if self.facts is None or self.timelines is None:
            return
        mined, lines = workspace.folder(self.facts), workspace.folder(self.timelines)
        articles = read_articles(self.draws.articles.news.files, sorted(draws), jobs=workspace.jobs)
        paths = lines / "timelines.parquet", lines / "gaps.parquet", mined / "entities.parquet"
        newest = duck.query("select max(snapshot) from read_parquet(?)", [str(paths[0])])[0][0]
        if newest is None:
            return
        with duck.connect(workspace.work("spill"), workspace.memory) as db:
            for article, stated, known in StatedFacts(db, *paths, self.relations).find(articles):
                counts["articles that state a fact"] += bool(stated)
                counts["facts stated"] += len(stated)
                yield (
                    article,
                    [
                        one
                        for draw in draws[article.id]
                        for one in grounded.questions(
                            article, stated, draw, known, newest, self.relations
                        )
                    ],
                )


def _parsed(
    articles: Sequence[rows.Article],
) -> list[tuple[rows.Article, list[patterns.PatternQuestion]]]:
    return [(article, patterns.questions(article)) for article in articles]


def _of_clauses(
    asked: Sequence[patterns.PatternQuestion], draws: Sequence[rows.Draw]
) -> Iterator[rows.Question]:
    """The questions of clauses for every draw of their article."""
    for draw in draws:
        for one in asked:
            age = (draw.article_day - one.time.last).days
            recent = 0 <= age <= _LATELY and (one.time.last - one.time.first).days < _LATELY
            id_ = row_id(draw.id, PATTERNS, one.question, one.answer.start)
            spec: rows.TimeSpec = "own" if one.has_time else "none"
            yield rows.Question(id_, draw, one.question, one.answer, PATTERNS, spec, recent)


class ModelQuestions(Step):
    """Questions that a language model writes: the same files as of `StatedQuestions`.

    `stated`: a step whose articles are not asked about again; `limit`: of so many rows, so that
    only twice as many draws are asked about, chosen by hash, one question each.
    """

    name: ClassVar[str] = "model-questions"

    draws: QuestionDates
    stated: StatedQuestions | None
    generate: GenerateSettings
    screen: tuple[AnyFilter, ...]
    seed: int
    limit: int | None
    offline: Annotated[bool, NOT_IN_KEY]

    def make(self, out: Path, workspace: Workspace) -> None:
        """Ask about every draw, in rounds, until enough questions may pass."""
        settings = self.generate
        assert settings.model is not None
        finder = SpacyFinder()
        model = open_model(
            settings.model, self.seed, workspace.work("answers"), offline=self.offline
        )
        screen = FilterRun(self.screen, FilterContext(names=finder))
        draws, of_all = self._asked(workspace)
        number = sum(map(len, draws.values()))
        files = self.draws.articles.news.files
        if self.limit:
            settings = settings.model_copy(update={"kept": 1})
        if number > _MANY * len(draws):
            text = f"  {number:,} draws of {len(draws):,} articles: about"
            workspace.say(
                f"{text} {number / len(draws):,.0f} times each; fewer `dates` ask fewer times"
            )
        counts: Counter[str] = Counter()
        found: list[rows.Question] = []
        lost: list[rows.Dropped] = []

        def usage() -> str:
            return f"{cost([model])}, {len(found):,} questions"

        with progress(number, "draws", "asking", usage) as bar:
            model.on_answer = lambda: bar.advance(0)

            def passing() -> Iterator[rows.Article]:
                for article in read_articles(files, sorted(draws), jobs=workspace.jobs):
                    yield article
                    bar.advance(len(draws[article.id]))

            for one in generate_questions(
                passing(),
                draws,
                settings,
                self.seed,
                finder=finder,
                backend=model,
                accept=screen.screen,
            ):
                counts[one.reason if isinstance(one, rows.Dropped) else "question"] += 1
                if isinstance(one, rows.Question):
                    found.append(one)
                elif one.reason not in _COUNTED:
                    lost.append(one)
        model.finish()
        found.sort(key=lambda one: one.id)
        extra = {"calls": dict(model.asked), "draws": number, "of": of_all, "cost": cost([model])}
        write_sorted(out / QUESTIONS, rows.Question, found)
        summed(out, lost, screen.tallies, generated=counts, **extra)
        workspace.say(f"  models: {cost([model])}; {len(found):,} questions of {number:,} draws")
        if self.limit and number and number < of_all:
            times = of_all / number * self.generate.kept
            text = f"{of_all:,} draws: about {model.asked.total() * times:,.0f} calls"
            workspace.say(f"  the whole recipe, {text}, {len(found) * times:,.0f} questions")

    def _asked(self, workspace: Workspace) -> tuple[dict[str, list[rows.Draw]], int]:
        """The draws that are asked about, by article, and how many there are without a limit."""
        found = draws_by_article(workspace, self.draws)
        if self.stated is not None:
            done = typed_rows(workspace.folder(self.stated) / QUESTIONS, rows.Question)
            for name in {one.draw.article for one in done if one.grounding is not None}:
                found.pop(name, None)
        every = [draw for draws in found.values() for draw in draws]
        if not self.limit:
            return found, len(every)
        by_hash = sorted(every, key=lambda draw: seeded_hash(self.seed, "limit", draw.id))
        chosen = {draw.id for draw in by_hash[: _SPARE * self.limit]}
        kept = {n: [d for d in draws if d.id in chosen] for n, draws in found.items()}
        return {name: draws for name, draws in kept.items() if draws}, len(every)


class Judges(Strict):
    """The filters that cost something, and what they are given.

    `index`: None where no filter searches; `writer`: the model that wrote the questions, if one
    did; `offline`: from kept answers alone.
    """

    filters: tuple[AnyFilter, ...]
    index: SearchIndex | None
    writer: AnyModel | None
    seed: int
    offline: Annotated[bool, NOT_IN_KEY]

    def open(self, workspace: Workspace) -> tuple[FilterContext, list[CachedModel]]:
        """What the filters are given, and the models that they have opened so far."""
        models: list[CachedModel] = []

        def model(settings: AnyModel) -> CachedModel:
            new = open_model(settings, self.seed, workspace.work("answers"), offline=self.offline)
            for one in models:
                if (one.identity, one.prompts) == (new.identity, new.prompts):
                    return one
            models.append(new)
            return new

        wants = frozenset[str]().union(*(one.needs for one in self.filters))
        context = FilterContext(
            answering=model(self.writer) if self.writer and "answering" in wants else None,
            names=SpacyFinder() if "names" in wants else None,
            model=model,
            search=Index(workspace.folder(self.index) / "index") if self.index else None,
            cache=workspace.work("scores"),
            say=workspace.say,
        )
        return context, models


class NewsQuestions(Step):
    """The released questions: `questions.parquet` (`rows.NewsQuestion`), of those filters keep.

    Beside it `dropped.parquet`, and `summary.json` with what each filter did. `filters`: names of
    all that they passed; `limit`: at most so many rows, chosen by hash.
    """

    name: ClassVar[str] = "questions"

    sources: tuple[StatedQuestions | ModelQuestions, ...]
    judges: Judges
    filters: tuple[str, ...]
    seed: int
    limit: int | None

    def make(self, out: Path, workspace: Workspace) -> None:
        """Run the filters over what the sources wrote; say when, where a question does not."""
        context, models = self.judges.open(workspace)
        by_article: dict[str, list[rows.Question]] = {}
        for source in self.sources:
            for one in typed_rows(workspace.folder(source) / QUESTIONS, rows.Question):
                by_article.setdefault(one.draw.article, []).append(one)
        draws = self.sources[0].draws

        def items() -> Iterator[QuestionItem]:
            for article in read_articles(
                draws.articles.news.files, sorted(by_article), jobs=workspace.jobs
            ):
                for one in by_article[article.id]:
                    yield QuestionItem(one, article)

        flow = FilterRun(self.judges.filters, context)
        found: list[rows.NewsQuestion] = []
        lost: list[rows.Dropped] = []
        for row in flow.run(items()):
            if isinstance(row, rows.Dropped):
                lost.append(row)
            else:
                found.append(released(row.item.question, _scores(row), self.filters, self.seed))
        for model in models:
            model.finish()
        found.sort(key=lambda one: seeded_hash(self.seed, "limit", one.id))
        for over in found[self.limit or len(found) :]:
            lost.append(rows.Dropped(self.name, "over_limit", over.id, detail=over.question))
        del found[self.limit or len(found) :]
        calls = sum((one.asked for one in models), Counter())
        write_sorted(out / QUESTIONS, rows.NewsQuestion, found, *ORDER)
        summed(out, lost, flow.tallies, calls=dict(sorted(calls.items())))
        if models:
            workspace.say(f"  models of filters: {cost(models)}")
        number = sum(map(len, draws_by_article(workspace, draws).values()))
        text = f"  {len(found):,} rows of {number:,} draws"
        workspace.say(f"{text}; more draws (`dates`) give more rows")


class AnnotatedQuestions(Step):
    """All questions after annotators' judgments and answers, and those that annotators wrote.

    `questions.parquet` (`rows.NewsQuestion`), `baseline.parquet` (`rows.HumanAnswer`),
    `dropped.parquet` and `summary.json`. Generated rows change only in what gold rows say of them.
    `shown`: the draws that annotators were shown.
    """

    name: ClassVar[str] = annotators.STEP

    gold: Source
    questions: NewsQuestions
    screen: tuple[AnyFilter, ...]
    shown: QuestionDates
    people: AnnotatorSettings

    def make(self, out: Path, workspace: Workspace) -> None:
        """Filter the written questions, and review all; `UserError`: gold has none of the rows."""
        counts: dict[str, Counter[str]] = {layout: Counter() for layout in annotators.LAYOUTS}
        written, reviews = annotators.read_annotations(self.gold.files, counts)
        outcomes: Counter[tuple[str, str]] = Counter()
        tallies: list[Tally] = []
        kept: list[rows.NewsQuestion] = []
        dropped: list[rows.Dropped] = []
        baseline: list[rows.HumanAnswer] = []
        for row in chain(
            typed_rows(workspace.folder(self.questions) / QUESTIONS, rows.NewsQuestion),
            self._written(workspace, written, counts[annotators.WRITE], tallies),
        ):
            if isinstance(row, rows.Dropped):
                dropped.append(row)
                continue
            after, answer = reviews.review(row, self.people.judged, self.questions.seed)
            if isinstance(after, rows.Dropped):
                dropped.append(after)
                outcomes[row.written_or_generated, after.reason] += 1
                continue
            kept.append(after)
            judgment = reviews.known.get((annotators.JUDGE, row.id))
            good = judgment is not None and judgment.question == row.question
            outcomes[row.written_or_generated, "good" if good else "kept unjudged"] += 1
            if answer:
                baseline.append(answer)
        reviews.finish()
        write_sorted(out / QUESTIONS, rows.NewsQuestion, kept, *ORDER)
        write_sorted(out / BASELINE, rows.HumanAnswer, baseline, "id")
        gold = {layout: dict(sorted(n.items())) for layout, n in counts.items()}
        judged = [[*key, n] for key, n in sorted(outcomes.items())]
        summed(out, dropped, tallies, gold=gold, judged=judged)

    def _written(
        self,
        workspace: Workspace,
        written: Mapping[str, annotators.WrittenQuestions],
        count: Counter[str],
        tallies: list[Tally],
    ) -> Iterator[rows.NewsQuestion | rows.Dropped]:
        """The written questions that pass their filters, and those that do not."""
        draws = self._draws(workspace, written, count)
        if not draws:
            return
        judges = self.questions.judges
        context, models = judges.open(workspace)
        finder = SpacyFinder()
        context = replace(context, names=finder)
        answers: dict[str, tuple[str, ...]] = {}

        def items() -> Iterator[QuestionItem]:
            articles = read_articles(
                self.shown.articles.news.files, sorted(draws), jobs=workspace.jobs
            )
            for item, given in annotators.written_items(articles, draws, written, finder, count):
                answers[item.question.id] = given
                yield item

        every = (*self.screen, *judges.filters)
        filters = tuple(one for one in every if one.filter not in self.people.skip)
        names = tuple(one.filter for one in filters)
        flow = FilterRun(filters, context)
        for row in flow.run(items()):
            if isinstance(row, KeptItem):
                question = row.item.question
                given = answers[question.id]
                yield released(question, _scores(row), names, self.questions.seed, given)
            else:
                yield row
        for model in models:
            model.finish()
        tallies += flow.tallies

    def _draws(
        self, workspace: Workspace, written: Mapping[str, object], count: Counter[str]
    ) -> dict[str, list[rows.Draw]]:
        """The draws that annotators wrote for, by article.

        Left out and counted: those in neither table (`no_such_row`), and those whose article is
        in another split of the generated questions (`other_split`).
        """
        if not written:
            return {}
        for_annotators, generated = (
            workspace.folder(draws) / "draws.parquet"
            for draws in (self.shown, self.questions.sources[0].draws)
        )
        found: dict[str, rows.Draw] = {}
        for table in (for_annotators, generated):
            for draw in typed_rows(table, rows.Draw):
                if draw.id in written:
                    found.setdefault(draw.id, draw)
        count["no_such_row"] += len(written) - len(found)
        articles = {draw.article for draw in found.values()}
        splits = {
            d.article: d.split for d in typed_rows(generated, rows.Draw) if d.article in articles
        }
        by_article: dict[str, list[rows.Draw]] = {}
        for draw in sorted(found.values(), key=lambda draw: draw.id):
            if splits.setdefault(draw.article, draw.split) != draw.split:
                count["other_split"] += 1
            else:
                by_article.setdefault(draw.article, []).append(draw)
        return by_article


QUESTIONS, BASELINE = "questions.parquet", "baseline.parquet"
ORDER = ("split", "recent_or_past", "id")


def draws_by_article(workspace: Workspace, draws: QuestionDates) -> dict[str, list[rows.Draw]]:
    """All draws by their article."""
    found: dict[str, list[rows.Draw]] = {}
    for draw in typed_rows(workspace.folder(draws) / "draws.parquet", rows.Draw):
        found.setdefault(draw.article, []).append(draw)
    return found


def summed(
    out: Path,
    dropped: Sequence[rows.Dropped],
    tallies: Sequence[Tally],
    **more: Any,
) -> None:
    """`dropped.parquet`, and `summary.json` with what each filter did and what else is told."""
    write_sorted(out / "dropped.parquet", rows.Dropped, dropped, "step", "reason", "item")
    filters = [
        {
            "filter": tally.filter,
            "seen": tally.seen,
            "dropped": tally.dropped,
            "examples": [
                [reason, d.detail or ""]
                for reason in sorted(tally.examples)
                for d in tally.examples[reason]
            ],
        }
        for tally in tallies
    ]
    (out / "summary.json").write_text(json.dumps({"filters": filters} | more, indent=1), "utf-8")


def cost(models: Sequence[CachedModel]) -> str:
    """What models have cost in this run."""
    usages = [one.usage for one in models]
    read_ = sum(one.tokens_read for one in usages)
    wrote = sum(one.tokens_written for one in usages)
    calls = sum(one.misses for one in models)
    return f"{calls:,} calls, {read_:,} tokens read, {wrote:,} written"


def _scores(kept: KeptItem) -> ToxicityScores:
    """The toxicity scores of an item, or none."""
    return next((v.scores for v in kept.verdicts if v.scores), ToxicityScores())


def released(
    question: rows.Question,
    scores: ToxicityScores,
    filters: tuple[str, ...],
    seed: int,
    answers: tuple[str, ...] | None = None,
) -> rows.NewsQuestion:
    """The row of a question that passed `filters`.

    `answers`: those of the annotators who wrote it; their question stays as it is. One that was
    generated has the span that it was made for or what its timeline accepts, and may be given a
    time specification.
    """
    if answers is not None:
        dated = TimedQuestion(
            question.question, "own" if time_in_question(question.question) else "none"
        )
    elif question.time_spec is not None:
        dated = TimedQuestion(question.question, question.time_spec)
    else:
        dated = add_time_spec(question, seed)
    of = question.grounding
    accepted = (of.answers if of else (question.answer.text,)) if answers is None else answers
    additional = of.aliases if of else ()
    subset = question.draw.subset if question.recent is not False else "past"
    place = question.answer
    return rows.NewsQuestion(
        id=question.id,
        prompt=question_prefix(question.draw.question_day) + dated.text,
        targets=merge_targets(accepted, additional),
        qa_id=question.id,
        question=dated.text,
        answers=accepted,
        answers_additional=additional,
        question_ts=_seconds(question.draw.question_day),
        evidence_ts=_seconds(question.draw.article_day),
        evidence_id=question.draw.article,
        recent_or_past=subset,
        written_or_generated="generated" if answers is None else "written",
        toxicity_identity_attack=scores.identity_attack,
        toxicity_insult=scores.insult,
        toxicity_profanity=scores.profanity,
        toxicity_severe_toxicity=scores.severe_toxicity,
        toxicity_sexually_explicit=scores.sexually_explicit,
        toxicity_threat=scores.threat,
        split=question.draw.split,
        quarter=question.draw.quarter,
        answer_type=place.type,
        answer_start=place.start,
        evidence_sentence=place.sentence,
        time_spec=dated.kind,
        relation=of.relation if of else None,
        about=of.about if of else None,
        statements=of.statements if of else (),
        holds=of.holds if of else None,
        generator=question.generator,
        filters=filters,
    )


def summary_of(folder: Path) -> dict[str, Any]:
    """The summary that a step wrote beside its rows."""
    found: dict[str, Any] = json.loads((folder / "summary.json").read_text("utf-8"))
    return found


def summarised(folders: Sequence[Path], questions: Path) -> dict[str, Any]:
    """The summaries of the steps that write and filter questions as one, for the card."""
    parts = [summary_of(folder) for folder in folders]
    generated: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    for part in parts:
        generated.update(part.get("generated", {}))
        calls.update(part.get("calls", {}))
    return {
        "generated": dict(sorted(generated.items())),
        "filters": [tally for part in parts for tally in part["filters"]],
        "calls": dict(sorted(calls.items())),
        "kept": pq.read_metadata(questions).num_rows,
    }


def _seconds(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
