"""The `knowledge-edits` dataset: what changed, as edits, and what is asked to see what each did."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from factdrift.builders.core import duck
from factdrift.builders.core.dataset import Dataset, FromParquet, Plot, Statistics, Table
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.run import DatasetBuilder, Run
from factdrift.builders.facts import steps
from factdrift.builders.facts.card import learned_times, mining
from factdrift.builders.facts.namesakes import alike_relations
from factdrift.builders.facts.relations import (
    OURS,
    Relation,
    RelationWording,
    cloze_templates,
    select_relations,
)
from factdrift.builders.rows import ReleasedSegment
from factdrift.builders.templama.dataset import Window, changes_step
from factdrift.builders.templama.steps import ComparisonRules
from factdrift.builders.templama.told import ToldApart
from factdrift.builders.text.render import object_last
from factdrift.reasoning.edits.candidates import EditCandidates
from factdrift.reasoning.edits.rows import EditQuestion, KnowledgeEdit
from factdrift.reasoning.edits.steps import ASKED, EditRows
from factdrift.reasoning.edits.wordings import EditTemplates

_EDITS = "What changed, one a subject, relation and period, in the order in which it did."
_QUESTIONS = {
    "rephrases": "The edits in other words.",
    "portability": "Questions one or two relations beyond an edit, whose answer follows from it.",
    "reverse": "The edits asked the other way round, where the object has one subject.",
    "locality": "Facts that hold all the time, which an edit must leave as they are.",
}
_TIMELINES = "The facts behind edits and questions, merged into segments."


class KnowledgeEdits(ComparisonRules, DatasetBuilder):
    """Parameters of the dataset; those of `ComparisonRules` say which changes are edits.

    `relations`: property ids whose changes are edits, by default all that have `phrases` and as
    many wordings as an edit has.
    `window`: the periods whose changes are edits; an edit is true on the last day of its period.
    `per_edit`: the largest number of questions of each number of hops, and of untouched facts of
    the same subject and of others.
    """

    tasks: ClassVar[tuple[str, ...]] = ("text-generation", "question-answering")
    citations: ClassVar[tuple[str, ...]] = ("zhang-etal-2024-knowedit", "zhong-etal-2023-mquake")

    changing_configs: ClassVar[Mapping[str, tuple[str, ...]]] = {"edits": ()}
    next_commands: ClassVar[Mapping[str, str]] = {"edits": "export {release} --format knowedit"}

    builder: Literal["knowledge-edits"]
    relations: tuple[str, ...] = ()
    window: Window
    per_edit: int = Field(default=3, ge=1)

    def build(self, run: Run) -> Dataset:
        """Compare periods, find what follows from changes and what does not, write the rows."""
        edited_relations = self._edited(run)
        lasting_relations, followed_relations = _followed(run, edited_relations)
        periods = self.window.ended_periods(run.inputs["dump"].snapshot)
        told_step = ToldApart(
            changes=changes_step(
                run,
                steps.facts_step(run, "dump", edited_relations),
                edited_relations,
                periods,
                self,
            ),
            alike=alike_relations(cloze_templates(edited_relations, OURS, run.templates)),
        )
        followed_facts = steps.facts_step(run, "dump", followed_relations)
        candidates_step = EditCandidates(
            told=told_step,
            edited=tuple(edited_relations),
            facts=followed_facts,
            timelines=steps.timelines_step(run, followed_facts, followed_relations),
            phrases=_phrases(followed_relations),
            lasting=lasting_relations,
            labels=steps.relation_labels(followed_relations),
            snapshot=run.inputs["dump"].snapshot,
            seed=run.seed,
        )
        rows_folder = run.folder(
            EditRows(
                candidates=candidates_step,
                templates={
                    name: EditTemplates.of(relation)
                    for name, relation in followed_relations.items()
                },
                per_edit=self.per_edit,
            )
        )
        clipped_note = self.window.clipped_note(periods[-1], run.inputs["dump"].snapshot)
        if clipped_note:
            run.workspace.say(f"warning: {clipped_note}")
        candidates_folder = run.folder(candidates_step)
        drop_folders = [
            *(run.folder(step) for step in (told_step.changes, told_step)),
            candidates_folder,
            rows_folder,
        ]
        return Dataset(
            tables=_tables(rows_folder, candidates_folder),
            dropped=tuple(FromParquet(folder / "dropped.parquet") for folder in drop_folders),
            statistics=(
                _edit_statistics(rows_folder, clipped_note),
                _question_statistics(rows_folder),
                *learned_times(run, candidates_step.timelines),
                mining({"dump": run.folder(followed_facts)}, run.workspace.say),
            ),
            plots=(_edits_plot(rows_folder / "edits.parquet"),),
        )

    def _edited(self, run: Run) -> dict[str, Relation]:
        """Return the relations whose changes are edits; `UserError`: one cannot be written so."""
        all_relations = steps.all_relations(run)
        wanted_ids = self.relations or tuple(
            name
            for name, relation in all_relations.whole().items()
            if relation.phrases and EditTemplates.of(relation).has_rephrases
        )
        relations = select_relations(all_relations, wanted_ids, run.templates)
        if unasked_ids := [name for name, relation in relations.items() if not _is_asked(relation)]:
            hint = "a template of one needs a sentence that ends in its object, and a question"
            raise UserError(f"no edits can be written of {', '.join(unasked_ids)}", hint=hint)
        return dict(relations)


def _followed(
    run: Run, edited: Mapping[str, Relation]
) -> tuple[tuple[str, ...], dict[str, Relation]]:
    """Return the relations whose facts do not change, and all that questions follow."""
    all_relations = {
        name: relation
        for name, relation in steps.all_relations(run).whole().items()
        if any(map(object_last, relation.cloze))
    }
    dated = {name: relation for name, relation in all_relations.items() if relation.phrases}
    lasting_relations = {
        name: relation
        for name, relation in all_relations.items()
        if relation.functional and relation.undated == "keep" and _is_asked(relation)
    }
    return tuple(lasting_relations), {**dated, **lasting_relations, **edited}


def _phrases(relations: Mapping[str, Relation]) -> dict[str, RelationWording]:
    return {name: relation.phrases for name, relation in relations.items() if relation.phrases}


def _tables(rows_folder: Path, candidates_folder: Path) -> tuple[Table, ...]:
    """The configs: edits, what is asked about them, and the facts behind both."""
    edits = {"test": FromParquet(rows_folder / "edits.parquet")}
    timelines = {"full": FromParquet(candidates_folder / "timelines.parquet")}
    return (
        Table("edits", KnowledgeEdit, _EDITS, edits),
        *(
            Table(
                config,
                EditQuestion,
                _QUESTIONS[config],
                {"test": FromParquet(rows_folder / f"{config}.parquet")},
            )
            for config in ASKED
        ),
        Table("timelines", ReleasedSegment, _TIMELINES, timelines),
    )


def _is_asked(relation: Relation) -> bool:
    """Whether a template has a sentence that ends in its object, and a question."""
    has_question = any("in" in template.times for template in relation.questions)
    has_question = has_question or bool(relation.timeless_question)
    has_question = has_question or bool(relation.phrases and relation.phrases.ask)
    return has_question and any(map(object_last, relation.cloze))


def _edit_statistics(rows_folder: Path, note: str) -> Statistics:
    query = """
        select period, count(*) as edits, count(*) filter (change = 'new') as new,
            count(*) filter (len(answers) > 1) as "several answers",
            count(*) filter (superseded) as superseded
        from read_parquet(?) group by 1 order by 1
    """
    caption = "`superseded`: changed again in a later period. " + note
    return Statistics(
        "periods",
        "Edits a period",
        duck.records(query, [rows_folder / "edits.parquet"]),
        caption.strip(),
    )


def _question_statistics(rows_folder: Path) -> Statistics:
    """Count what is asked about edits, by kind, and the edits that have it."""
    query = """
        select config, kind, count(*) as rows, count(distinct edit) as edits,
            avg((len(previous_answers) > 0)::int) as "share with the answer before"
        from (select *, parse_filename(filename, true) as config
            from read_parquet([?, ?, ?, ?], filename = true))
        group by 1, 2 order by 1, 2
    """
    paths = [rows_folder / f"{config}.parquet" for config in ASKED]
    caption = "An edit has up to three of a kind, where the timelines of the dump give as many."
    return Statistics("questions", "Questions about edits", duck.records(query, paths), caption)


def _edits_plot(edits_path: Path) -> Plot:
    query = """
        select relation_label, change, count(*) from read_parquet(?)
        group by 1, 2 order by sum(count(*)) over (partition by relation_label) desc, 1, 2
    """
    counts: dict[str, dict[str, int]] = {}
    for relation_label, change, row_count in duck.query(query, [str(edits_path)]):
        counts.setdefault(relation_label, {"updated": 0, "new": 0})[change] = row_count
    return Plot("relations", "bars", "Edits by relation", "Edits by relation.", counts)
