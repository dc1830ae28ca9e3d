"""The `as-of` dataset: dated passages, and questions about a day asked on that day or later."""

from datetime import date
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from factdrift.builders.core import duck
from factdrift.builders.core.dataset import Dataset, FromParquet, Statistics, Table
from factdrift.builders.core.run import DatasetBuilder, Run
from factdrift.builders.facts import steps
from factdrift.builders.facts.card import mining
from factdrift.builders.facts.relations import property_of
from factdrift.builders.timeqa.alignment import Alignment
from factdrift.builders.timeqa.steps import Alignments, Histories, Pages
from factdrift.builders.wmt import steps as wmt
from factdrift.reasoning.as_of.rows import AsOfQuestion, DatedPassage
from factdrift.reasoning.as_of.steps import AsOfRows, EvolvingFacts, NewsStatements, PageStatements
from factdrift.reasoning.inputs import last_day, phrased

_PASSAGES = "Dated texts, each of which states one fact: in order of their days they are a stream."
_QUESTIONS = "Questions about a day, asked on that day or after newer facts came."


class AsOf(DatasetBuilder):
    """Parameters of the dataset.

    `relations`: property ids, all with an `event` and an `ask` by default; `first`: the first day
    asked about; `last`: the last one, by default that of the last quarter that had ended on the day
    of the dump; `histories`: how many subjects with a relation are taken; `late`: the share of
    statements that come long after what they state; `questions`: how many at most; `text`: false,
    where the text of news is to stay out of the release.
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
        """Draw histories, put them into words, find them in the news, ask."""
        wordings = phrased(run, self.relations, "event", "ask")
        relations = {relation: one for relation, (one, _) in wordings.items()}
        facts = steps.facts_step(run, "dump", relations)
        evolving = EvolvingFacts(
            facts=facts,
            timelines=steps.timelines_step(facts, relations),
            phrases={relation: phrases for relation, (_, phrases) in wordings.items()},
            first=self.first,
            last=last_day(run, self.first, self.last),
            histories=self.histories,
            seed=run.seed,
        )
        news, all_relations = None, steps.all_relations(run)
        stated = {
            relation_id: one.news or all_relations[property_of(relation_id)].news
            for relation_id, one in relations.items()
        }
        cues = {relation_id: one for relation_id, one in stated.items() if one}
        if "news" in run.inputs:
            news = NewsStatements(evolving=evolving, articles=wmt.article_step(run), relations=cues)
        pages = None
        if "pages" in run.inputs:
            histories = Histories(
                facts=facts,
                timelines=evolving.timelines,
                relations=tuple(relations),
                min_segments=2,
            )
            aligned = Alignments(
                histories=histories,
                pages=Pages(files=run.inputs["pages"], histories=histories),
                relations=steps.relation_labels(relations),
                settings=Alignment(),
                seed=run.seed,
            )
            day = run.inputs["pages"].snapshot
            pages = PageStatements(evolving=evolving, aligned=aligned, relations=cues, day=day)
        rows = AsOfRows(
            evolving=evolving,
            news=news,
            pages=pages,
            text=self.text,
            late=self.late,
            questions=self.questions,
        )
        rows_folder = run.folder(rows)
        passages, questions = rows_folder / "passages.parquet", rows_folder / "questions.parquet"
        return Dataset(
            tables=(
                Table("questions", AsOfQuestion, _QUESTIONS, {"test": FromParquet(questions)}),
                Table("passages", DatedPassage, _PASSAGES, {"corpus": FromParquet(passages)}),
            ),
            dropped=(FromParquet(rows_folder / "dropped.parquet"),),
            statistics=(_contents(passages, questions), _memories(passages, questions),
                        mining({"dump": run.folder(facts)})),
        )  # fmt: skip


def _contents(passages: Path, questions: Path) -> Statistics:
    query = """
        select relation, histories, statements, late as "late ones", news as "sentences of news",
            pages as "of pages", coalesce(asked, 0) as questions,
            coalesce(superseded, 0) as "asked after a newer fact came"
        from (
            select relation, count(distinct subject) as histories,
                count(*) filter (source = 'statement') as statements,
                count(*) filter (late) as late, count(*) filter (source = 'news') as news,
                count(*) filter (source = 'page') as pages
            from read_parquet(?) group by relation
        ) left join (
            select relation, count(*) as asked, count(*) filter (superseded = 'yes') as superseded
            from read_parquet(?) group by relation
        ) using (relation) order by relation
    """
    table = duck.records(query, [passages, questions])
    return Statistics("contents", "Contents", table, "What was drawn of each relation.")


def _memories(passages: Path, questions: Path) -> Statistics:
    """What memories would answer that hold of each history what they were given."""
    query = """
        with known as (
            select q.id, q.superseded, q.as_of, p.day, p.since, p.object, q.answer_ids
            from read_parquet(?) q join read_parquet(?) p using (subject, relation)
            where p.day <= q.asked_on
        ), chosen as (
            select id, any_value(superseded) as superseded, any_value(answer_ids) as wanted,
                arg_max(object, (day, object)) as came, arg_max(object, (since, object)) as newest,
                arg_max(object, (since, object)) filter (since <= as_of) as valid
            from known group by id
        )
        select superseded as "asked after a newer fact came", count(*) as questions,
            avg(list_contains(wanted, came)::int) as "share right: what came last",
            avg(list_contains(wanted, newest)::int) as "share right: what began last",
            avg(coalesce(list_contains(wanted, valid), false)::int)
                as "share right: what began last by the day asked about"
        from chosen group by superseded order by superseded
    """
    caption = (
        "Three memories that read every fact rightly: one keeps what it heard last, one what began "
        "last, one all that it heard with its days. The last one misses only where several hold."
    )
    return Statistics("memories", "Memories", duck.records(query, [questions, passages]), caption)
