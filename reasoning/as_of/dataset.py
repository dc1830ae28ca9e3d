"""The `as-of` dataset: dated passages, and questions about a day asked on that day or later."""

from datetime import date
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from factdrift.builders.core import duck
from factdrift.builders.core.dataset import Dataset, FromParquet, Scalar, Statistics, Table
from factdrift.builders.core.run import DatasetBuilder, Run
from factdrift.builders.facts import steps
from factdrift.builders.facts.card import mining
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
    of the dump; `histories`: how many subjects with a relation are taken; `per_relation`: the share
    of them that one relation has at most; `per_fact`: sentences of news a fact at most; `late`: the
    share of statements that come long after what they state; `questions`: how many at most;
    `text`: false, where the text of news is to stay out of the release.
    """

    tasks: ClassVar[tuple[str, ...]] = ("question-answering", "text-retrieval")
    citations: ClassVar[tuple[str, ...]] = ("thakur-etal-2021-beir",)

    builder: Literal["as-of"]
    relations: tuple[str, ...] = ()
    first: date = date(2010, 1, 1)
    last: date | None = None
    histories: int = Field(default=5000, ge=1)
    per_relation: float = Field(default=0.25, gt=0, le=1)
    per_fact: int = Field(default=5, ge=1)
    late: float = Field(default=0.2, ge=0, le=1)
    questions: int = Field(default=2000, ge=2)
    text: bool = True

    def build(self, run: Run) -> Dataset:
        """Draw histories, put them into words, find them in the news, ask."""
        asked = phrased(run, self.relations, "event", "ask")
        relations = {relation: one for relation, (one, _) in asked.items()}
        facts = steps.facts(run, "dump", relations)
        evolving = EvolvingFacts(
            facts=facts,
            timelines=steps.timelines(facts, relations),
            phrases={relation: phrases for relation, (_, phrases) in asked.items()},
            first=self.first,
            last=last_day(run, self.first, self.last),
            histories=self.histories,
            share=self.per_relation,
            seed=run.seed,
        )
        news, cues = None, {r: one.news for r, one in relations.items() if one.news}
        if "news" in run.inputs:
            news = NewsStatements(
                evolving=evolving,
                articles=wmt.articles(run),
                relations=cues,
                per_fact=self.per_fact,
            )
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
                relations=steps.labels(relations),
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
        made = run.folder(rows)
        passages, questions = made / "passages.parquet", made / "questions.parquet"
        return Dataset(
            tables=(
                Table("questions", AsOfQuestion, _QUESTIONS, {"test": FromParquet(questions)}),
                Table("passages", DatedPassage, _PASSAGES, {"corpus": FromParquet(passages)}),
            ),
            dropped=(FromParquet(made / "dropped.parquet"),),
            statistics=(_contents(passages, questions), _memories(passages, questions),
                        mining({"dump": run.folder(facts)})),
        )  # fmt: skip


def _contents(passages: Path, questions: Path) -> Statistics:
    query = """
        SELECT relation, histories, statements, late, news, pages, rows, superseded FROM (
            SELECT relation, count(DISTINCT subject) AS histories,
                count(*) FILTER (source = 'statement') AS statements,
                count(*) FILTER (late) AS late, count(*) FILTER (source = 'news') AS news,
                count(*) FILTER (source = 'page') AS pages
            FROM read_parquet(?) GROUP BY relation
        ) LEFT JOIN (
            SELECT relation, count(*) AS rows, count(*) FILTER (superseded = 'yes') AS superseded
            FROM read_parquet(?) GROUP BY relation
        ) USING (relation) ORDER BY relation
    """
    names = (
        *("relation", "histories", "statements", "late ones", "sentences of news", "of pages"),
        *("questions", "asked after a newer fact came"),
    )
    table: list[dict[str, Scalar]] = [
        dict(zip(names, (n or 0 for n in row), strict=True))
        for row in duck.query(query, [str(passages), str(questions)])
    ]
    return Statistics("contents", "Contents", table, "What was drawn of each relation.")


def _memories(passages: Path, questions: Path) -> Statistics:
    """What memories would answer that hold of each history what they were given."""
    query = """
        WITH known AS (
            SELECT q.id, q.superseded, q.as_of, p.day, p.since, p.object, q.answer_ids
            FROM read_parquet(?) q JOIN read_parquet(?) p USING (subject, relation)
            WHERE p.day <= q.asked_on
        ), chosen AS (
            SELECT id, any_value(superseded) AS superseded, any_value(answer_ids) AS wanted,
                arg_max(object, (day, object)) AS came, arg_max(object, (since, object)) AS newest,
                arg_max(object, (since, object)) FILTER (since <= as_of) AS valid
            FROM known GROUP BY id
        )
        SELECT superseded, count(*), avg(list_contains(wanted, came)::int),
            avg(list_contains(wanted, newest)::int),
            avg(coalesce(list_contains(wanted, valid), false)::int)
        FROM chosen GROUP BY superseded ORDER BY superseded
    """
    names = (
        *("asked after a newer fact came", "questions", "share right: what came last"),
        *("share right: what began last", "share right: what began last by the day asked about"),
    )
    table: list[dict[str, Scalar]] = [
        dict(zip(names, row, strict=True))
        for row in duck.query(query, [str(questions), str(passages)])
    ]
    caption = (
        "Three memories that read every fact rightly: one keeps what it heard last, one what began "
        "last, one all that it heard with its days. The last one misses only where several hold."
    )
    return Statistics("memories", "Memories", table, caption)
