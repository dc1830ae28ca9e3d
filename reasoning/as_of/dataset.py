"""The `as-of` dataset: a dated corpus, and questions about a day that are asked then or later."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import ClassVar, Literal

from pydantic import Field

from factdrift.builders.core.dataset import Dataset, FromParquet, Statistics, Table
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.run import DatasetBuilder, Run
from factdrift.builders.core.steps import Step
from factdrift.builders.facts import steps
from factdrift.builders.facts.card import learned_times, mining
from factdrift.builders.facts.relations import NewsWording, Relation, RelationWording, property_of
from factdrift.builders.timeqa.alignment import Alignment
from factdrift.builders.timeqa.steps import Alignments, Histories, Pages
from factdrift.builders.wmt import steps as wmt
from factdrift.reasoning.as_of.card import statistics_of
from factdrift.reasoning.as_of.corpus import (
    PASSAGES,
    STATED,
    NewsPassages,
    NewsStatements,
    PagePassages,
    PageStatements,
)
from factdrift.reasoning.as_of.difficulty import (
    RESULTS,
    Difficulty,
    difficulty_statistics,
    easy_notes,
)
from factdrift.reasoning.as_of.histories import HistoryTables
from factdrift.reasoning.as_of.rows import AsOfQuestion, DatedPassage, PassageFact
from factdrift.reasoning.as_of.statements import Statements
from factdrift.reasoning.as_of.steps import QUESTIONS, Corpus, JudgedQuestions
from factdrift.reasoning.as_of.wordings import AskedRelation
from factdrift.reasoning.inputs import last_day, relations_with_phrases

_PASSAGES = "dated passages, whether they state a fact or not; by day they are a stream."
_STATED = "which passage states which fact, for scoring and for memories that do not read."
_QUESTIONS = "questions about a day, asked on that day or later, with judged passages."

Relations = Mapping[str, Relation]
"""The relations that are asked about, by id."""


class AsOf(DatasetBuilder):
    """Parameters of the dataset.

    `relations`: property ids, by default all whose phrases have an `event` and an `ask`, and whose
    template says how texts state them.
    `first`: the first day asked about.
    `last`: the last day asked about, by default the end of the last quarter that had ended on the
    day of the dump.
    `histories`: the number of pairs of a subject and a relation.
    `questions`: the largest number of questions.
    `text`: false, where the text of news is to stay out of the release.
    `statements`: whether sentences made from facts are added, as configs of their own.
    `late`: the share of these sentences that come long after the fact that they state began.
    """

    tasks: ClassVar[tuple[str, ...]] = ("question-answering", "text-retrieval")
    citations: ClassVar[tuple[str, ...]] = ("thakur-etal-2021-beir",)

    next_commands: ClassVar[Mapping[str, str]] = {
        "questions": "export {release} --format beir",
        "statement-questions": "export {release} --format beir --config statements",
    }

    builder: Literal["as-of"]
    relations: tuple[str, ...] = ()
    first: date = date(2010, 1, 1)
    last: date | None = None
    histories: int = Field(default=5000, ge=1)
    questions: int = Field(default=2000, ge=2)
    text: bool = True
    statements: bool = False
    late: float = Field(default=0.2, ge=0, le=1)

    def build(self, run: Run) -> Dataset:
        """Write the corpus, find what it states, ask about it; and the same of statements."""
        has_texts = bool({"news", "pages"} & run.inputs.keys())
        if not has_texts and not self.statements:
            raise UserError(
                "there is no text to ask about: neither news nor pages are given",
                hint="give --news or --pages, or say `statements: yes` in the recipe",
            )
        relations = self._relations(run)
        facts_step = steps.facts_step(run, "dump", relations)
        timelines_step = steps.timelines_step(run, facts_step, relations)
        makers: list[_Configs] = []
        if has_texts:
            makers.append(self._of_texts(run, facts_step, timelines_step, relations))
        if self.statements:
            makers.append(self._of_statements(run, facts_step, timelines_step, relations))
        tables: list[Table] = []
        statistics: list[Statistics] = []
        for configs in makers:
            tables += configs.tables(run)
            statistics += configs.statistics(run)
        return Dataset(
            tables=tuple(tables),
            dropped=tuple(
                FromParquet(run.folder(step) / "dropped.parquet")
                for configs in makers
                for step in configs.dropping_steps
            ),
            statistics=(
                *statistics,
                *learned_times(run, timelines_step),
                mining({"dump": run.folder(facts_step)}, run.workspace.say),
            ),
        )

    def _relations(self, run: Run) -> dict[str, Relation]:
        """The relations that can be asked about and that texts can state.

        `UserError`: the recipe names one whose template does not say how texts state it.
        """
        with_phrases = relations_with_phrases(run, self.relations, "event", "ask")
        wordings = _news_wordings(
            run, {relation_id: relation for relation_id, (relation, _) in with_phrases.items()}
        )
        relations: dict[str, Relation] = {}
        without_wording: list[str] = []
        for relation_id, (relation, _) in with_phrases.items():
            if relation_id in wordings:
                relations[relation_id] = relation
            elif relation_id in self.relations:
                without_wording.append(relation_id)
        if without_wording:
            raise UserError(
                f"no words by which texts state {', '.join(without_wording)}",
                hint="add a `news:` block with `cues` and `ask` to its template, as "
                "templates/P488.yaml, or leave it out",
            )
        return relations

    def _of_texts(
        self, run: Run, facts: steps.Facts, timelines: steps.Timelines, relations: Relations
    ) -> "_Configs":
        """The configs of news and pages."""
        wordings = _news_wordings(run, relations)
        parts: list[NewsPassages | PagePassages] = []
        stated: list[NewsStatements | PageStatements] = []
        if "news" in run.inputs:
            articles = wmt.article_step(run)
            parts.append(NewsPassages(articles=articles))
            stated.append(
                NewsStatements(
                    articles=articles,
                    facts=facts,
                    timelines=timelines,
                    relations=wordings,
                    holders=_holders(relations),
                )
            )
        if "pages" in run.inputs:
            aligned, day = _aligned(run, facts, timelines, relations), run.inputs["pages"].snapshot
            parts.append(PagePassages(pages=aligned.pages, day=day))
            stated.append(PageStatements(aligned=aligned, relations=wordings, day=day))
        tables = self._history_tables(run, facts, timelines, relations, tuple(stated))
        return _Configs(
            prefix="",
            passages=Corpus(parts=tuple(parts), text=self.text),
            questions=self._questions(run, tables, None, tuple(parts), relations),
        )

    def _of_statements(
        self, run: Run, facts: steps.Facts, timelines: steps.Timelines, relations: Relations
    ) -> "_Configs":
        """The configs of sentences made from facts."""
        tables = self._history_tables(run, facts, timelines, relations, ())
        statements = Statements(tables=tables, late=self.late)
        return _Configs(
            prefix="statement-",
            passages=statements,
            questions=self._questions(run, tables, statements, (), relations),
        )

    def _history_tables(
        self,
        run: Run,
        facts: steps.Facts,
        timelines: steps.Timelines,
        relations: Relations,
        stated: tuple[NewsStatements | PageStatements, ...],
    ) -> HistoryTables:
        phrases: dict[str, RelationWording] = {}
        for relation_id, relation in relations.items():
            assert relation.phrases is not None, "others are left out"
            phrases[relation_id] = relation.phrases
        return HistoryTables(
            facts=facts,
            timelines=timelines,
            phrases=phrases,
            stated=stated,
            first=self.first,
            last=last_day(run, self.first, self.last),
            histories=self.histories,
            seed=run.seed,
        )

    def _questions(
        self,
        run: Run,
        tables: HistoryTables,
        statements: Statements | None,
        parts: tuple[NewsPassages | PagePassages, ...],
        relations: Relations,
    ) -> JudgedQuestions:
        wordings = _news_wordings(run, relations)
        asked_relations: dict[str, AskedRelation] = {}
        for relation_id, relation in relations.items():
            asked_relations[relation_id] = AskedRelation(
                phrases=tables.phrases[relation_id],
                questions=tuple(template.ask for template in relation.questions),
                news=wordings[relation_id],
            )
        return JudgedQuestions(
            tables=tables,
            statements=statements,
            parts=parts,
            relations=asked_relations,
            count=self.questions,
        )


@dataclass(frozen=True)
class _Configs:
    """The steps behind the three configs of one corpus, whose names begin with `prefix`."""

    prefix: str
    passages: Corpus | Statements
    questions: JudgedQuestions

    @property
    def dropping_steps(self) -> tuple[Step, ...]:
        """The steps that say what they left out."""
        return tuple(
            step
            for step in (self.passages, self.questions)
            if isinstance(step, Statements | JudgedQuestions)
        )

    def tables(self, run: Run) -> Iterator[Table]:
        """The configs."""
        questions_folder = run.folder(self.questions)
        passages_path = run.folder(self.passages) / PASSAGES
        kind = "Sentences made from facts" if self.prefix else "News and pages"
        for name, row, contents, split, path in (
            ("questions", AsOfQuestion, _QUESTIONS, "test", questions_folder / QUESTIONS),
            ("passages", DatedPassage, _PASSAGES, "corpus", passages_path),
            ("stated", PassageFact, _STATED, "corpus", questions_folder / STATED),
        ):
            sources = {split: FromParquet(path)}
            yield Table(f"{self.prefix}{name}", row, f"{kind}: {contents}", sources)

    def statistics(self, run: Run) -> Iterator[Statistics]:
        """The figures on the card."""
        questions_folder = run.folder(self.questions)
        passages_path = run.folder(self.passages) / PASSAGES
        yield from statistics_of(
            self.prefix, passages_path, questions_folder / STATED, questions_folder / QUESTIONS
        )
        difficulty = Difficulty(passages=self.passages, questions=self.questions, seed=run.seed)
        results_path = run.folder(difficulty) / RESULTS
        for easy_note in easy_notes(results_path):
            run.workspace.say(f"  {self.prefix}questions: {easy_note}")
        yield from difficulty_statistics(results_path, self.prefix)


def _holders(relations: Relations) -> dict[str, Literal["object", "subject"]]:
    """The side of each relation that has a role in the other: a person, else the object."""
    sides: dict[str, Literal["object", "subject"]] = {}
    for relation_id, relation in relations.items():
        assert relation.phrases is not None, "others are left out"
        is_subject = relation.phrases.subject_is == "person"
        is_object = relation.phrases.object_is == "person"
        sides[relation_id] = "subject" if is_subject and not is_object else "object"
    return sides


def _aligned(
    run: Run, facts: steps.Facts, timelines: steps.Timelines, relations: Relations
) -> Alignments:
    """Pages with the segments that they tell of, as TimeQA aligns them."""
    histories_step = Histories(
        facts=facts,
        timelines=timelines,
        relations=tuple(relations),
        # A history that never changes is of no use here.
        min_segments=2,
    )
    return Alignments(
        histories=histories_step,
        pages=Pages(files=run.inputs["pages"], histories=histories_step),
        relations=steps.relation_labels(relations),
        settings=Alignment(),
        seed=run.seed,
    )


def _news_wordings(run: Run, relations: Mapping[str, Relation]) -> dict[str, NewsWording]:
    """Return the words with which texts state a relation, where its template has any.

    A relation that holds part of a property, such as `P54-club`, takes those of the property.
    """
    all_relations = steps.all_relations(run)
    wordings: dict[str, NewsWording] = {}
    for relation_id, relation in relations.items():
        # the whole property may have no template
        property_relation = all_relations.get(property_of(relation_id), relation)
        if wording := relation.news or property_relation.news:
            wordings[relation_id] = wording
    return wordings
