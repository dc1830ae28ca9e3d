"""The `as-of` dataset: dated passages, and questions about a day that are asked then or later."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from factdrift.builders.core import duck
from factdrift.builders.core.dataset import Dataset, FromParquet, Statistics, Table
from factdrift.builders.core.run import DatasetBuilder, Run
from factdrift.builders.facts import steps
from factdrift.builders.facts.card import learned_times, mining
from factdrift.builders.facts.relations import NewsWording, Relation, RelationWording, property_of
from factdrift.builders.timeqa.alignment import Alignment
from factdrift.builders.timeqa.steps import Alignments, Histories, Pages
from factdrift.builders.wmt import steps as wmt
from factdrift.reasoning.as_of.difficulty import (
    RESULTS,
    Difficulty,
    difficulty_statistics,
    easy_notes,
)
from factdrift.reasoning.as_of.rows import AsOfQuestion, DatedPassage, StatedFact
from factdrift.reasoning.as_of.steps import AsOfRows, EvolvingFacts, NewsStatements, PageStatements
from factdrift.reasoning.inputs import last_day, relations_with_phrases

_PASSAGES = "Dated texts, each of which states one fact: in order of their days they are a stream."
_STATED = "Which passage states which fact, for scoring and for memories that do not read."
_QUESTIONS = "Questions about a day, asked on that day or after newer facts came."


class AsOf(DatasetBuilder):
    """Parameters of the dataset.

    `relations`: property ids, by default all whose phrases have an `event` and an `ask`.
    `first`: the first day asked about.
    `last`: the last day asked about, by default the end of the last quarter that had ended on the
    day of the dump.
    `histories`: the number of pairs of a subject and a relation.
    `late`: the share of statements that come long after the fact that they state began.
    `questions`: the largest number of questions.
    `text`: false, where the text of news is to stay out of the release.
    """

    tasks: ClassVar[tuple[str, ...]] = ("question-answering", "text-retrieval")
    citations: ClassVar[tuple[str, ...]] = ("thakur-etal-2021-beir",)

    builder: Literal["as-of"]
    relations: tuple[str, ...] = ()
    first: date = date(2010, 1, 1)
    last: date | None = None
    histories: int = Field(default=5000, ge=1)
    late: float = Field(default=0.2, ge=0, le=1)
    questions: int = Field(default=2000, ge=2)
    text: bool = True

    def build(self, run: Run) -> Dataset:
        """Draw histories, put them into words, find them in news and pages, ask about them."""
        asked_relations = relations_with_phrases(run, self.relations, "event", "ask")
        relations: dict[str, Relation] = {}
        phrases: dict[str, RelationWording] = {}
        for relation_id, (relation, relation_phrases) in asked_relations.items():
            relations[relation_id], phrases[relation_id] = relation, relation_phrases
        facts_step = steps.facts_step(run, "dump", relations)
        evolving_step = EvolvingFacts(
            facts=facts_step,
            timelines=steps.timelines_step(run, facts_step, relations),
            phrases=phrases,
            first=self.first,
            last=last_day(run, self.first, self.last),
            histories=self.histories,
            seed=run.seed,
        )
        rows_step = AsOfRows(
            evolving=evolving_step,
            news=_news_step(run, evolving_step, relations) if "news" in run.inputs else None,
            pages=_pages_step(run, evolving_step, relations) if "pages" in run.inputs else None,
            text=self.text,
            late=self.late,
            questions=self.questions,
        )
        rows_folder = run.folder(rows_step)
        passages_path = rows_folder / "passages.parquet"
        stated_path = rows_folder / "stated.parquet"
        questions_path = rows_folder / "questions.parquet"
        results_path = run.folder(Difficulty(rows=rows_step, seed=run.seed)) / RESULTS
        for easy_note in easy_notes(results_path):
            run.workspace.say(f"  {easy_note}")
        return Dataset(
            tables=(
                Table("questions", AsOfQuestion, _QUESTIONS, {"test": FromParquet(questions_path)}),
                Table("passages", DatedPassage, _PASSAGES, {"corpus": FromParquet(passages_path)}),
                Table("stated", StatedFact, _STATED, {"corpus": FromParquet(stated_path)}),
            ),
            dropped=tuple(
                FromParquet(folder / "dropped.parquet")
                for folder in (rows_folder, run.folder(evolving_step))
            ),
            statistics=(
                _contents(stated_path, passages_path, questions_path),
                *difficulty_statistics(results_path),
                *learned_times(run, evolving_step.timelines),
                mining({"dump": run.folder(facts_step)}, run.workspace.say),
            ),
        )


def _news_step(
    run: Run, evolving_step: EvolvingFacts, relations: Mapping[str, Relation]
) -> NewsStatements:
    return NewsStatements(
        evolving=evolving_step,
        articles=wmt.article_step(run),
        relations=_news_wordings(run, relations),
    )


def _pages_step(
    run: Run, evolving_step: EvolvingFacts, relations: Mapping[str, Relation]
) -> PageStatements:
    histories_step = Histories(
        facts=evolving_step.facts,
        timelines=evolving_step.timelines,
        relations=tuple(relations),
        # A history that never changes is of no use here.
        min_segments=2,
    )
    aligned_step = Alignments(
        histories=histories_step,
        pages=Pages(files=run.inputs["pages"], histories=histories_step),
        relations=steps.relation_labels(relations),
        settings=Alignment(),
        seed=run.seed,
    )
    return PageStatements(
        evolving=evolving_step,
        aligned=aligned_step,
        relations=_news_wordings(run, relations),
        day=run.inputs["pages"].snapshot,
    )


def _news_wordings(run: Run, relations: Mapping[str, Relation]) -> dict[str, NewsWording]:
    """Return the words with which texts state a relation, where its template has any.

    A relation that holds part of a property, such as `P54-club`, takes those of the property.
    """
    all_relations = steps.all_relations(run)
    wordings: dict[str, NewsWording] = {}
    for relation_id, relation in relations.items():
        wording = relation.news or all_relations[property_of(relation_id)].news
        if wording:
            wordings[relation_id] = wording
    return wordings


def _contents(stated_path: Path, passages_path: Path, questions_path: Path) -> Statistics:
    query = """
        select relation, histories, statements, news as "sentences of news",
            pages as "of pages", coalesce(asked, 0) as questions,
            coalesce(superseded, 0) as "asked after a newer fact came"
        from (
            select relation, count(distinct subject) as histories,
                count(*) filter (source = 'statement') as statements,
                count(*) filter (source = 'news') as news,
                count(*) filter (source = 'page') as pages
            from read_parquet(?) s join read_parquet(?) p on p.id = s.passage group by relation
        ) left join (
            select relation, count(*) as asked, count(*) filter (superseded = 'yes') as superseded
            from read_parquet(?) group by relation
        ) using (relation) order by relation
    """
    content_rows = duck.records(query, [stated_path, passages_path, questions_path])
    return Statistics("contents", "Contents", content_rows, "What was drawn of each relation.")
