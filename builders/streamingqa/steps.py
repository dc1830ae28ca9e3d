"""The steps of `streamingqa`: the search index, questions, what annotators add; and their rows."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, date, datetime
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple

import pyarrow.parquet as pq

from factdrift.builders import rows
from factdrift.builders.core.config import Strict
from factdrift.builders.core.hashing import bits
from factdrift.builders.core.progress import progress
from factdrift.builders.core.run import Source
from factdrift.builders.core.schema import typed_rows, writing
from factdrift.builders.core.steps import NOT_IN_KEY, Step, Workspace
from factdrift.builders.facts import steps
from factdrift.builders.facts.steps import Facts
from factdrift.builders.generate.backends import AnyModel, Cached, open_model
from factdrift.builders.generate.candidates import Finder, open_finder
from factdrift.builders.generate.parsed import Parsed
from factdrift.builders.generate.protocol import Backend
from factdrift.builders.generate.questions import Accept, GenerateSettings, generate_questions
from factdrift.builders.streamingqa import annotators
from factdrift.builders.streamingqa.annotators import AnnotatorSettings
from factdrift.builders.streamingqa.corpus import PARSES, Parses, SearchIndex
from factdrift.builders.text.dates import time_of
from factdrift.builders.text.prompts import targets
from factdrift.builders.wmt.passages import question_prefix
from factdrift.builders.wmt.read import read
from factdrift.builders.wmt.steps import QuestionDates
from factdrift.filters import AnyFilter
from factdrift.filters.base import FilterContext, ItemFilter, QuestionItem
from factdrift.filters.entity_required import EntityRequired, name_finder
from factdrift.filters.run import FilterRun, KeptItem, Tally
from factdrift.filters.search_index import Index
from factdrift.filters.time_spec import Specified, specify
from factdrift.filters.toxicity.judged import mistakes
from factdrift.filters.toxicity.scores import ToxicityScores
from factdrift.filters.toxicity_filter import Toxicity

_COUNTED = frozenset({"no_pattern", "enough_questions", "same_question"})
"""Candidates that gave no question: counted on the card, not listed among the dropped rows."""
_SPARE, _SPARE_PARSED = 2, 10
"""Draws that are asked about for each row of a limited run: of a model, and of a parse."""


class QuestionTools(Strict):
    """The settings of all that writes and filters questions.

    `index`: None where no filter searches; `parses`: None where articles are parsed one by one;
    `facts`: a dump whose names are known, if any; `offline`: from cached answers alone.
    """

    index: SearchIndex | None
    parses: Parses | None
    facts: Facts | None
    generate: GenerateSettings
    filters: tuple[AnyFilter, ...]
    seed: int
    offline: Annotated[bool, NOT_IN_KEY]

    def open(self, at: Workspace) -> "Opened":
        """The finder of candidates, the backend, and what filters are given."""
        candidates = self.generate.candidates
        if self.facts is not None and candidates.entities is None:
            mined = at.folder(self.facts)
            known = {name: mined / f"{name}.parquet" for name in ("entities", "facts")}
            candidates = candidates.model_copy(update=known)
        table = at.folder(self.parses) / PARSES if self.parses else None
        finder = open_finder(candidates, table)
        answers = at.work("answers")
        models: list[Cached] = []

        def model(settings: AnyModel) -> Cached:
            new = open_model(settings, self.seed, answers, offline=self.offline)
            for one in models:
                if (one.identity, one.prompts) == (new.identity, new.prompts):
                    return one
            models.append(new)
            return new

        settings = self.generate.backend
        backend: Backend
        if isinstance(settings, Parsed):
            backend = settings.open(self.seed, finder)
        else:
            backend = model(settings)
        context = FilterContext(
            answering=backend,
            names=name_finder(finder),
            model=model,
            search=Index(at.folder(self.index) / "index") if self.index else None,
            cache=at.work("scores"),
            say=at.say,
        )
        cheap = [f for f in self.filters if isinstance(f, ItemFilter | EntityRequired)]

        def accept(question: rows.Question, article: rows.Article) -> bool:
            item = [QuestionItem(question, article)]
            return all(one.judge(item, context)[0].keep for one in cheap)

        return Opened(finder, backend, context, accept, models)


class Opened(NamedTuple):
    """What writes and filters questions, ready to work; `models` grows as filters open theirs."""

    finder: Finder
    backend: Backend
    context: FilterContext
    accept: Accept
    models: list[Cached]

    def told(self) -> str:
        """What the models of this run have cost so far."""
        usages = [one.usage for one in self.models]
        read = sum(one.tokens_read for one in usages)
        written = sum(one.tokens_written for one in usages)
        calls = sum(one.misses for one in self.models)
        return f"{calls:,} calls, {read:,} tokens read, {written:,} written"

    def finish(self) -> None:
        """`UserError` where answers of a model are still to come."""
        for one in self.models:
            one.finish()


class NewsQuestions(Step):
    """The generated questions that pass the filters: `questions.parquet` (`rows.NewsQuestion`).

    Beside it `dropped.parquet`, and `summary.json` with what each filter did and how many calls
    of models were needed, kept answers among them. `limit`: at most so many rows, of draws that
    are chosen by hash, one question each.
    """

    name: ClassVar[str] = "questions"

    draws: QuestionDates
    tools: QuestionTools
    limit: int | None = None

    def make(self, out: Path, at: Workspace) -> None:
        """Ask about every draw, filter, and date what passed."""
        opened = self.tools.open(at)
        draws, of_all = self._drawn(at)
        number = sum(map(len, draws.values()))
        names = tuple(one.filter for one in self.tools.filters)
        counts: dict[str, int] = {}
        loose, lost = out / "kept.parquet", out / "lost.parquet"
        passed = 0

        def told() -> str:
            return f"{opened.told()}, {passed:,} rows kept"

        # what the models cost is for the terminal: with kept answers a second run costs nothing
        asking = progress(number, "draws", "asking", told) if opened.models else nullcontext()
        with (
            writing(loose, rows.NewsQuestion) as kept,
            writing(lost, rows.Dropped) as dropped,
            asking as bar,
        ):
            for one in opened.models if bar else ():
                one.told = lambda: bar.advance(0) if bar else None
            advance = bar.advance if bar else lambda n: None
            items = self._items(at, draws, opened, counts, dropped.append, advance)
            flow = FilterRun(self.tools.filters, items, opened.context)
            few: list[rows.NewsQuestion] = []
            for row in flow:
                if isinstance(row, rows.Dropped):
                    dropped.append(row)
                    continue
                passed += 1
                made = released(row, names, self.tools.seed)
                few.append(made) if self.limit else kept.append(made)
            few.sort(key=lambda row: bits(self.tools.seed, "limit", row.id))
            for n, made in enumerate(few):
                over = rows.Dropped(
                    self.name, "over_limit", made.id, None, None, None, None, made.question
                )
                kept.append(made) if n < (self.limit or 0) else dropped.append(over)
        opened.finish()
        in_order(at, loose, rows.NewsQuestion, out / QUESTIONS, ORDER)
        in_order(at, lost, rows.Dropped, out / "dropped.parquet", steps.DROPPED_ORDER)
        calls = sum((one.asked for one in opened.models), Counter())
        scorers = [one for one in self.tools.filters if isinstance(one, Toxicity)]
        summary = {
            "generated": counts,
            "filters": tallied(flow.tallies),
            "calls": dict(sorted(calls.items())),
            "kept": passed,
            "scorers": [_scorer(one, opened.context) for one in scorers],
        }
        (out / "summary.json").write_text(json.dumps(summary, indent=1), "utf-8")
        if opened.models:
            self._tell(at, opened, passed, number, of_all)
        else:
            at.say(f"  {passed:,} rows of {number:,} draws; more draws (`dates`) give more rows")

    def _drawn(self, at: Workspace) -> tuple[dict[str, list[rows.Draw]], int]:
        """The draws that are asked about, by article, and how many there are in all."""
        found = list(typed_rows(at.folder(self.draws) / "draws.parquet", rows.Draw))
        chosen = found
        if self.limit:
            spare = _SPARE_PARSED if isinstance(self.tools.generate.backend, Parsed) else _SPARE
            by_hash = sorted(found, key=lambda draw: bits(self.tools.seed, "limit", draw.id))
            wanted = {draw.id for draw in by_hash[: spare * self.limit]}
            chosen = [draw for draw in found if draw.id in wanted]
        draws: dict[str, list[rows.Draw]] = {}
        for draw in chosen:
            draws.setdefault(draw.article, []).append(draw)
        return draws, len(found)

    def _items(
        self,
        at: Workspace,
        draws: Mapping[str, Sequence[rows.Draw]],
        opened: Opened,
        counts: dict[str, int],
        drop: Callable[[rows.Dropped], None],
        advance: Callable[[int], None],
    ) -> Iterator[QuestionItem]:
        """Every generated question with its article; other candidates are counted or dropped."""
        files = self.draws.articles.news.files
        waiting: dict[str, rows.Article] = {}
        settings = self.tools.generate
        if self.limit:
            settings = settings.model_copy(update={"kept": 1})

        def passing() -> Iterator[rows.Article]:
            for article in read(files, sorted(draws), jobs=at.jobs):
                waiting[article.id] = article
                yield article
                advance(len(draws[article.id]))

        for found in generate_questions(
            passing(),
            draws,
            settings,
            self.tools.seed,
            finder=opened.finder,
            backend=opened.backend,
            accept=opened.accept,
        ):
            reason = found.reason if isinstance(found, rows.Dropped) else "question"
            counts[reason] = counts.get(reason, 0) + 1
            if isinstance(found, rows.Question):
                while next(iter(waiting)) != found.draw.article:  # questions come in their order
                    del waiting[next(iter(waiting))]
                yield QuestionItem(found, waiting[found.draw.article])
            elif found.reason not in _COUNTED:
                drop(found)

    def _tell(self, at: Workspace, opened: Opened, kept: int, draws: int, of_all: int) -> None:
        """Say what the models cost; of a limited run also what the whole would."""
        asked = sum(one.asked.total() for one in opened.models)
        a_row = f"{asked / kept:.1f} calls a row" if kept else "no row"
        at.say(f"  models: {opened.told()} in this run; {kept:,} rows kept, {a_row}")
        if self.limit and draws:
            times = of_all / draws * self.tools.generate.kept
            calls = sum(one.usage.calls for one in opened.models)
            text = f"  the whole recipe, {of_all:,} draws: about {asked * times:,.0f} calls"
            for word in ("read", "written") if calls else ():
                tokens = sum(getattr(one.usage, f"tokens_{word}") for one in opened.models)
                text += f", {tokens / calls * asked * times:,.0f} tokens {word}" if tokens else ""
            at.say(f"{text}, {kept * times:,.0f} rows")


class AnnotatedQuestions(Step):
    """All questions after annotators' judgments and answers, and those that annotators wrote.

    `questions.parquet` (`rows.NewsQuestion`), `baseline.parquet` (`rows.HumanAnswer`),
    `dropped.parquet` and `summary.json`. Generated rows change only in what gold rows say of them.
    `shown`: the draws that annotators were shown.
    """

    name: ClassVar[str] = annotators.STEP

    gold: Source
    questions: NewsQuestions
    shown: QuestionDates
    people: AnnotatorSettings

    def make(self, out: Path, at: Workspace) -> None:
        """Filter the written questions, and review all; `UserError`: gold has none of the rows."""
        counts: dict[str, Counter[str]] = {layout: Counter() for layout in annotators.LAYOUTS}
        written, reviews = annotators.read_annotations(self.gold.files, counts)
        loose, lost, base = out / "loose.parquet", out / "lost.parquet", out / "base.parquet"
        outcomes: Counter[tuple[str, str]] = Counter()
        tallies: list[dict[str, Any]] = []
        with (
            writing(loose, rows.NewsQuestion) as kept,
            writing(lost, rows.Dropped) as dropped,
            writing(base, rows.HumanAnswer) as baseline,
        ):
            for row in chain(
                typed_rows(at.folder(self.questions) / QUESTIONS, rows.NewsQuestion),
                self._written(at, written, counts[annotators.WRITE], tallies),
            ):
                if isinstance(row, rows.Dropped):
                    dropped.append(row)
                    continue
                seed = self.questions.tools.seed
                after, answer = reviews.review(row, self.people.judged, seed)
                if isinstance(after, rows.Dropped):
                    dropped.append(after)
                    outcomes[row.written_or_generated, after.reason] += 1
                    continue
                kept.append(after)
                judgment = reviews.judged.get(row.id)
                good = judgment is not None and judgment.question == row.question
                outcomes[row.written_or_generated, "good" if good else "kept unjudged"] += 1
                if answer:
                    baseline.append(answer)
        reviews.finish()
        in_order(at, loose, rows.NewsQuestion, out / QUESTIONS, ORDER)
        in_order(at, lost, rows.Dropped, out / "dropped.parquet", steps.DROPPED_ORDER)
        in_order(at, base, rows.HumanAnswer, out / BASELINE, ("id",))
        summary = {
            "gold": {layout: dict(sorted(n.items())) for layout, n in counts.items()},
            "judged": [[*key, n] for key, n in sorted(outcomes.items())],
            "filters": tallies,
        }
        (out / "summary.json").write_text(json.dumps(summary, indent=1), "utf-8")

    def _written(
        self,
        at: Workspace,
        written: Mapping[str, annotators.WrittenQuestions],
        count: Counter[str],
        tallies: list[dict[str, Any]],
    ) -> Iterator[rows.NewsQuestion | rows.Dropped]:
        """The written questions that pass their filters, and those that do not."""
        draws = self._draws(at, written, count)
        if not draws:
            return
        tools = self.questions.tools
        opened = tools.open(at)
        finder, context = opened.finder, opened.context
        answers: dict[str, tuple[str, ...]] = {}

        def items() -> Iterator[QuestionItem]:
            articles = read(self.shown.articles.news.files, sorted(draws), jobs=at.jobs)
            for item, given in annotators.written_items(articles, draws, written, finder, count):
                answers[item.question.id] = given
                yield item

        filters = tuple(one for one in tools.filters if one.filter not in self.people.skip)
        names = tuple(one.filter for one in filters)
        flow = FilterRun(filters, items(), context)
        for row in flow:
            if isinstance(row, KeptItem):
                yield released(row, names, tools.seed, answers[row.item.question.id])
            else:
                yield row
        opened.finish()
        tallies += tallied(flow.tallies)

    def _draws(
        self, at: Workspace, written: Mapping[str, object], count: Counter[str]
    ) -> dict[str, list[rows.Draw]]:
        """The draws that annotators wrote for, by article.

        Left out and counted: those in neither table (`no_such_row`), and those whose article is
        in another split of the generated questions (`other_split`).
        """
        if not written:
            return {}
        shown, drawn = (
            at.folder(draws) / "draws.parquet" for draws in (self.shown, self.questions.draws)
        )
        found: dict[str, rows.Draw] = {}
        for table in (shown, drawn):
            for draw in typed_rows(table, rows.Draw):
                if draw.id in written:
                    found.setdefault(draw.id, draw)
        count["no_such_row"] += len(written) - len(found)
        articles = {draw.article for draw in found.values()}
        splits = {d.article: d.split for d in typed_rows(drawn, rows.Draw) if d.article in articles}
        by_article: dict[str, list[rows.Draw]] = {}
        for draw in sorted(found.values(), key=lambda draw: draw.id):
            if splits.setdefault(draw.article, draw.split) != draw.split:
                count["other_split"] += 1
            else:
                by_article.setdefault(draw.article, []).append(draw)
        return by_article


QUESTIONS, BASELINE = "questions.parquet", "baseline.parquet"
ORDER = ("split", "recent_or_past", "id")
_NO_SCORES = ToxicityScores()


def released(
    kept: KeptItem, filters: tuple[str, ...], seed: int, answers: tuple[str, ...] | None = None
) -> rows.NewsQuestion:
    """The row of a question that passed `filters`.

    `answers`: those of the annotators who wrote it; their question stays as it is. A generated
    one has the span that it was made for, and may be given a time specification.
    """
    question = kept.item.question
    if answers is None:
        dated = specify(question, seed)
    else:
        dated = Specified(question.question, "own" if time_of(question.question) else "none")
    accepted = (question.answer.text,) if answers is None else answers
    scores = next((v.scores for v in kept.verdicts if v.scores), None) or _NO_SCORES
    return rows.NewsQuestion(
        id=question.id,
        prompt=question_prefix(question.draw.question_day) + dated.text,
        targets=targets(accepted),
        qa_id=question.id,
        question=dated.text,
        answers=accepted,
        answers_additional=(),
        question_ts=_seconds(question.draw.question_day),
        evidence_ts=_seconds(question.draw.article_day),
        evidence_id=question.draw.article,
        recent_or_past=question.draw.subset,
        written_or_generated="generated" if answers is None else "written",
        toxicity_identity_attack=scores.identity_attack,
        toxicity_insult=scores.insult,
        toxicity_profanity=scores.profanity,
        toxicity_severe_toxicity=scores.severe_toxicity,
        toxicity_sexually_explicit=scores.sexually_explicit,
        toxicity_threat=scores.threat,
        split=question.draw.split,
        quarter=question.draw.quarter,
        answer_type=question.answer.type,
        answer_start=question.answer.start,
        time_spec=dated.kind,
        generator=question.generator,
        filters=filters,
    )


def _scorer(one: Toxicity, context: FilterContext) -> dict[str, Any]:
    """What the scorer of a run gets wrong, for the card."""
    scoring = one.scorer.start(context.cache, lambda _: None)
    found = mistakes(scoring, one.scorer.thresholds)
    return {"scorer": one.scorer.scorer, "mistakes": [line._asdict() for line in found]}


def tallied(tallies: Sequence[Tally]) -> list[dict[str, Any]]:
    """The counts and examples of filters, for the summary of a step."""
    return [
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


def eval_quarters(path: Path) -> list[str]:
    """The quarters that evaluation questions of a file are asked in, sorted."""
    chosen = [("split", "=", "eval")]
    return sorted(
        set(pq.read_table(path, columns=["quarter"], filters=chosen)["quarter"].to_pylist())
    )


def summary_of(folder: Path) -> dict[str, Any]:
    """The summary that a step wrote beside its rows."""
    found: dict[str, Any] = json.loads((folder / "summary.json").read_text("utf-8"))
    return found


def in_order(at: Workspace, loose: Path, row: type, path: Path, order: Sequence[str]) -> None:
    """Sort a file of rows into another one; the first is deleted."""
    with at.engine() as eng:
        eng.write(eng.read(loose, row), path, row, order)
    loose.unlink()


def _seconds(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
