"""The `timeqa` dataset: time-sensitive questions over the pages of their subjects."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import Field, model_validator

from factdrift.builders import rows
from factdrift.builders.core.config import Strict
from factdrift.builders.core.dataset import Dataset, FromParquet, Table
from factdrift.builders.core.run import DatasetBuilder, Run
from factdrift.builders.core.schema import reading
from factdrift.builders.facts import steps
from factdrift.builders.facts.card import mining
from factdrift.builders.facts.relations import Relation, select_relations
from factdrift.builders.rows.gold import outcome_lines
from factdrift.builders.timeqa import annotations, card
from factdrift.builders.timeqa.alignment import Alignment
from factdrift.builders.timeqa.question_tables import GROUP, SPLITS, AskSettings
from factdrift.builders.timeqa.questions import Questions, QuestionTemplates
from factdrift.builders.timeqa.steps import (
    Alignments,
    AskedQuestions,
    CheckedQuestions,
    Histories,
    Pages,
)

_EASY = "The question names the boundaries of a segment of the history."
_HARD = "The question names a time inside a segment, before, after, or where nothing holds."
_CONSISTENCY = "Questions of both modes moved to other times inside the same segment."
_TIMELINES = "The histories behind the questions, and where the page names each object."
_PAGES = "The pages of the subjects of `timelines`, in paragraphs, as the offsets count them."
_HUMAN = (
    "Questions of both modes (`difficulty`), asked anew from facts that people checked. An object "
    "whose id begins with `text-` is known by the words alone that people marked in the page."
)
_FACTS = (
    "The segments that people checked, as they left them; `segment` is the row of `timelines` "
    "that they were shown."
)
_PARAPHRASED = "Questions in people's words, with the answers of the question that they were shown."


class PoolContext(Strict):
    """A context of the page and so many paragraphs of other pages."""

    pool: int = Field(ge=1, description="Paragraphs of other pages in a context")


class TimeQA(DatasetBuilder):
    """Parameters of the dataset (Chen et al. 2021); relations without questions are not asked.

    `relations`: property ids, or `all`; `min_segments`: dated segments that make a fact
    time-evolving; `text`: false, where the release is to have page and revision ids, offsets and
    checksums, and the pages' text stays out; `context`: the `page`, or `pool: N` for N paragraphs
    of other pages behind it that are close to the question and name no object of its history.
    """

    tasks: ClassVar[tuple[str, ...]] = ("question-answering",)
    citations: ClassVar[tuple[str, ...]] = ("chen-etal-2021-dataset",)
    layouts: ClassVar[tuple[str, ...]] = (annotations.FACTS_LAYOUT, annotations.PARAPHRASE_LAYOUT)

    builder: Literal["timeqa"]
    relations: Annotated[tuple[str, ...], Field(min_length=1)] | Literal["all"] = "all"
    min_segments: int = Field(default=2, ge=1)
    align: Alignment = Alignment()
    questions: Questions = Questions()
    text: bool = True
    context: Literal["page"] | PoolContext = "page"

    @model_validator(mode="after")
    def _pool_has_text(self) -> "TimeQA":
        if self.context != "page" and not self.text:
            raise ValueError("a `pool` needs `text: true`: other pages are not put back")
        return self

    def build(self, run: Run) -> Dataset:
        """Mine, find the histories, read their pages, align, ask; anew where people checked."""
        relations = self._relations(run)
        facts = steps.facts_step(run, "dump", relations)
        histories = Histories(
            facts=facts,
            timelines=steps.timelines_step(facts, relations),
            relations=tuple(relations),
            min_segments=self.min_segments,
        )
        alignments = Alignments(
            histories=histories,
            pages=Pages(files=run.inputs["pages"], histories=histories),
            relations=steps.relation_labels(relations),
            settings=self.align,
            seed=run.seed,
        )
        asked = AskedQuestions(
            alignments=alignments,
            asking=AskSettings(
                relations={r: QuestionTemplates.of(relation) for r, relation in relations.items()},
                questions=self.questions,
                text=self.text,
                seed=run.seed,
                pool=0 if self.context == "page" else self.context.pool,
            ),
        )
        dataset = _dataset(run, asked)
        if "gold" in run.inputs:
            dataset = _with_checked(
                run, dataset, CheckedQuestions(gold=run.inputs["gold"], asked=asked)
            )
        return dataset

    def _relations(self, run: Run) -> dict[str, Relation]:
        every = steps.all_relations(run)
        asked = every.whole() if self.relations == "all" else self.relations
        named = select_relations(every, asked, run.templates)
        return {i: relation for i, relation in named.items() if relation.questions}


def _dataset(run: Run, asked: AskedQuestions) -> Dataset:
    """The configs, drops and statistics of all steps up to the questions."""
    made, aligned = run.folder(asked), run.folder(asked.alignments)
    histories, pages = run.folder(asked.alignments.histories), run.folder(asked.alignments.pages)
    questions, probes = made / "questions.parquet", made / "probes.parquet"
    timelines = {"full": FromParquet(aligned / "timelines.parquet")}
    tables = [
        _split_table("easy", rows.TimeQuestion, _EASY, questions, difficulty="easy"),
        _split_table("hard", rows.TimeQuestion, _HARD, questions, difficulty="hard"),
        _split_table("consistency", rows.TimeProbe, _CONSISTENCY, probes),
        Table("timelines", rows.ReleasedAlignedSegment, _TIMELINES, timelines),
    ]
    if asked.asking.text:
        tables.append(_pages(pages, aligned))
    mined = mining({"dump": run.folder(asked.alignments.histories.facts)})
    folders = (histories, pages, aligned / "every", aligned, made)
    return Dataset(
        tables=tuple(tables),
        dropped=tuple(FromParquet(folder / "dropped.parquet") for folder in folders),
        statistics=(*card.statistics(made, aligned), mined),
        plots=card.plots(made),
    )


def _with_checked(run: Run, made: Dataset, step: CheckedQuestions) -> Dataset:
    """The dataset with the configs, drops and statistics of what annotators checked.

    Says what became of the gold rows.
    """
    checked = run.folder(step)
    asked = checked / annotations.ASKED / "questions.parquet"
    tables: list[Table] = []
    summary = json.loads((checked / annotations.SUMMARY).read_text("utf-8"))
    for line in outcome_lines(summary["gold"]):
        run.workspace.say(line)
    if any(summary["gold"][annotations.FACTS_LAYOUT].values()):
        facts = {"full": FromParquet(checked / annotations.FACTS)}
        tables += [
            _split_table("human", rows.TimeQuestion, _HUMAN, asked),
            Table("human_timelines", rows.VerifiedSegment, _FACTS, facts),
        ]
    if any(summary["gold"][annotations.PARAPHRASE_LAYOUT].values()):
        path = checked / annotations.PARAPHRASED
        tables.append(_split_table("paraphrased", rows.ParaphrasedQuestion, _PARAPHRASED, path))
    drops = (checked / "dropped.parquet", checked / annotations.ASKED / "dropped.parquet")
    return replace(
        made,
        tables=(*made.tables, *tables),
        dropped=(*made.dropped, *map(FromParquet, drops)),
        statistics=(*made.statistics, *card.checked_statistics(asked, summary)),
    )


def _split_table(name: str, row: type, about: str, path: Path, **where: str) -> Table:
    """A config of the rows of a file that have these values, by their column `split`."""
    splits = {s: FromParquet(path, {**where, "split": s}) for s in SPLITS}
    return Table(name, row, about, splits, GROUP)


def _pages(pages: Path, aligned: Path) -> Table:
    """The pages of the subjects of `timelines`, a batch in memory at a time."""

    def found() -> Iterator[pa.RecordBatch]:
        column = pq.read_table(aligned / "segments.parquet", columns=["subject"])["subject"]
        subjects = pc.unique(column)
        with reading(pages / "pages.parquet") as file:
            for batch in file.iter_batches(64):
                yield batch.filter(pc.is_in(batch["item"], subjects))

    return Table("pages", rows.Page, _PAGES, {"full": found}, GROUP)
