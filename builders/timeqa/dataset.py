"""The `timeqa` dataset: time-sensitive questions over the pages of their subjects."""

import json
from collections.abc import Iterator, Mapping
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
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.run import DatasetBuilder, Run
from factdrift.builders.core.schema import PAGE_ROW_GROUP, reading
from factdrift.builders.facts import steps
from factdrift.builders.facts.card import learned_times, mining
from factdrift.builders.facts.namesakes import alike
from factdrift.builders.facts.relations import Relation, select_relations
from factdrift.builders.rows.gold import outcome_lines
from factdrift.builders.timeqa import annotations, card
from factdrift.builders.timeqa.alignment import Alignment
from factdrift.builders.timeqa.question_tables import SPLITS, AskSettings
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
    """A context with the page and a number of paragraphs of other pages."""

    pool: int = Field(ge=1, description="Paragraphs of other pages in a context")


class TimeQA(DatasetBuilder):
    """Parameters of the dataset (Chen et al. 2021).

    `relations`: property ids, or `all` that have `questions:` in their template; `min_segments`:
    dated segments that make a fact time-evolving; `text`: false, where the release is to have page
    and revision ids, offsets and checksums, and the pages' text stays out; `context`: the `page`,
    or `pool: N` for N paragraphs of other pages behind it that are close to the question and name
    no object of its history.
    """

    tasks: ClassVar[tuple[str, ...]] = ("question-answering",)
    citations: ClassVar[tuple[str, ...]] = ("chen-etal-2021-dataset",)
    layouts: ClassVar[tuple[str, ...]] = (annotations.FACTS_LAYOUT, annotations.PARAPHRASE_LAYOUT)

    next_commands: ClassVar[Mapping[str, str]] = {"easy": "export {release} --format timeqa"}

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
            timelines=steps.timelines_step(run, facts, relations),
            relations=tuple(relations),
            min_segments=self.min_segments,
            alike=alike(
                {
                    relation_id: [template.ask for template in relation.questions]
                    for relation_id, relation in relations.items()
                }
            ),
        )
        alignments = Alignments(
            histories=histories,
            pages=Pages(files=run.inputs["pages"], histories=histories),
            relations=steps.relation_labels(relations),
            settings=self.align,
            seed=run.seed,
        )
        asked_questions = AskedQuestions(
            alignments=alignments,
            asking=AskSettings(
                relations={
                    relation_id: QuestionTemplates.of(relation)
                    for relation_id, relation in relations.items()
                },
                questions=self.questions,
                text=self.text,
                seed=run.seed,
                pool=0 if self.context == "page" else self.context.pool,
            ),
        )
        dataset = _dataset(run, asked_questions)
        if "gold" in run.inputs:
            dataset = _with_checked(
                run,
                dataset,
                CheckedQuestions(gold=run.inputs["gold"], asked_questions=asked_questions),
            )
        return dataset

    def _relations(self, run: Run) -> dict[str, Relation]:
        all_relations = steps.all_relations(run)
        wanted_ids = all_relations.whole() if self.relations == "all" else self.relations
        selected = select_relations(all_relations, wanted_ids, run.templates)
        asked_relations = {
            relation_id: relation
            for relation_id, relation in selected.items()
            if relation.questions
        }
        unasked = [relation_id for relation_id in selected if relation_id not in asked_relations]
        # of `all`, those that have questions are meant
        if unasked and (self.relations != "all" or not asked_relations):
            raise UserError(
                f"no questions to ask {', '.join(unasked)} with",
                hint="add `questions:` to its template, or leave it out",
            )
        return asked_relations


def _dataset(run: Run, asked_questions: AskedQuestions) -> Dataset:
    """The configs, drops and statistics of all steps up to the questions."""
    asked_folder, aligned_folder = (
        run.folder(asked_questions),
        run.folder(asked_questions.alignments),
    )
    histories_folder, pages_folder = (
        run.folder(asked_questions.alignments.histories),
        run.folder(asked_questions.alignments.pages),
    )
    questions_file, probes_file = (
        asked_folder / "questions.parquet",
        asked_folder / "probes.parquet",
    )
    timelines = {"full": FromParquet(aligned_folder / "timelines.parquet")}
    tables = [
        _split_table("easy", rows.TimeQuestion, _EASY, questions_file, difficulty="easy"),
        _split_table("hard", rows.TimeQuestion, _HARD, questions_file, difficulty="hard"),
        _split_table("consistency", rows.TimeProbe, _CONSISTENCY, probes_file),
        Table("timelines", rows.ReleasedAlignedSegment, _TIMELINES, timelines),
    ]
    if asked_questions.asking.text:
        tables.append(_pages(pages_folder, aligned_folder))
    facts_folder = run.folder(asked_questions.alignments.histories.facts)
    mining_statistics = mining({"dump": facts_folder}, run.workspace.say)
    step_folders = (
        histories_folder,
        pages_folder,
        aligned_folder / "every",
        aligned_folder,
        asked_folder,
    )
    return Dataset(
        tables=tuple(tables),
        dropped=tuple(FromParquet(folder / "dropped.parquet") for folder in step_folders),
        statistics=(
            *card.statistics(asked_folder, aligned_folder, pages_folder),
            *learned_times(run, asked_questions.alignments.histories.timelines),
            mining_statistics,
        ),
        plots=card.plots(asked_folder),
    )


def _with_checked(run: Run, dataset: Dataset, step: CheckedQuestions) -> Dataset:
    """The dataset with the configs, drops and statistics of what annotators checked.

    Says what became of the gold rows.
    """
    checked_folder = run.folder(step)
    checked_questions = checked_folder / annotations.ASKED / "questions.parquet"
    checked_tables: list[Table] = []
    summary = json.loads((checked_folder / annotations.SUMMARY).read_text("utf-8"))
    for line in outcome_lines(summary["gold"]):
        run.workspace.say(line)
    if any(summary["gold"][annotations.FACTS_LAYOUT].values()):
        fact_splits = {"full": FromParquet(checked_folder / annotations.FACTS)}
        checked_tables += [
            _split_table("human", rows.TimeQuestion, _HUMAN, checked_questions),
            Table("human_timelines", rows.VerifiedSegment, _FACTS, fact_splits),
        ]
    if any(summary["gold"][annotations.PARAPHRASE_LAYOUT].values()):
        paraphrased_file = checked_folder / annotations.PARAPHRASED
        checked_tables.append(
            _split_table("paraphrased", rows.ParaphrasedQuestion, _PARAPHRASED, paraphrased_file)
        )
    drop_files = (
        checked_folder / "dropped.parquet",
        checked_folder / annotations.ASKED / "dropped.parquet",
    )
    return replace(
        dataset,
        tables=(*dataset.tables, *checked_tables),
        dropped=(*dataset.dropped, *map(FromParquet, drop_files)),
        statistics=(*dataset.statistics, *card.checked_statistics(checked_questions, summary)),
    )


def _split_table(name: str, row: type, description: str, path: Path, **where: str) -> Table:
    """A config of the rows of a file that have these values, by their column `split`."""
    splits = {split: FromParquet(path, {**where, "split": split}) for split in SPLITS}
    return Table(name, row, description, splits, PAGE_ROW_GROUP)


def _pages(pages_folder: Path, aligned_folder: Path) -> Table:
    """The pages of the subjects of `timelines`, a batch in memory at a time."""

    def page_batches() -> Iterator[pa.RecordBatch]:
        subject_column = pq.read_table(aligned_folder / "segments.parquet", columns=["subject"])[
            "subject"
        ]
        subject_ids = pc.unique(subject_column)
        with reading(pages_folder / "pages.parquet") as file:
            for batch in file.iter_batches(64):
                yield batch.filter(pc.is_in(batch["item"], subject_ids))

    return Table("pages", rows.Page, _PAGES, {"full": page_batches}, PAGE_ROW_GROUP)
