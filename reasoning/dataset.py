"""The `temporal-reasoning` dataset: questions over several facts, alone or with a table."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from factdrift.builders.core import duck
from factdrift.builders.core.dataset import Dataset, FromParquet, Plot, Scalar, Statistics, Table
from factdrift.builders.core.dates import Period
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.run import DatasetBuilder, Run
from factdrift.builders.facts import steps
from factdrift.builders.facts.card import learned_times, mining
from factdrift.reasoning.families import FAMILIES
from factdrift.reasoning.inputs import last_day, relations_with_phrases
from factdrift.reasoning.rows import ReasoningQuestion
from factdrift.reasoning.steps import ReasoningCandidates, ReasoningRows

_ALONE = "Questions whose answer follows from several facts; nothing but the question is given."
_BEHIND = "The same questions behind a table of dated facts that holds those they need, shuffled."
_RENAMED = (
    "The rows of `with_evidence` with names that do not exist: what a model gets right there and "
    "not here it remembered."
)
# A year: a guess at the time that a model's training data end before a dump that is used with it.
_RECENT = 4
"""The number of quarters at the end of the window in which a change counts as recent."""


class TemporalReasoning(DatasetBuilder):
    """Parameters of the dataset.

    `relations`: property ids, by default all relations that have `phrases`.
    `families`: the families of questions.
    `first`: the first day asked about.
    `last`: the last day asked about, by default the end of the last quarter that had ended on the
    day of the dump.
    `per_family`: the largest number of rows of a family and number of hops.
    """

    tasks: ClassVar[tuple[str, ...]] = ("question-answering", "multiple-choice")
    citations: ClassVar[tuple[str, ...]] = ("tan-etal-2023-towards",)

    next_commands: ClassVar[Mapping[str, str]] = {"questions": "tasks {release} --for lm-eval"}

    builder: Literal["temporal-reasoning"]
    relations: tuple[str, ...] = ()
    families: Annotated[tuple[str, ...], Field(min_length=1)] = tuple(FAMILIES)
    first: date = date(2010, 1, 1)
    last: date | None = None
    per_family: int = Field(default=500, ge=2)

    def build(self, run: Run) -> Dataset:
        """Cut the timelines into certain stretches, run the families, write the rows."""
        asked_relations = relations_with_phrases(run, self.relations)
        relations = {
            relation: relation_template
            for relation, (relation_template, _) in asked_relations.items()
        }
        if unknown_families := [family for family in self.families if family not in FAMILIES]:
            raise UserError(
                f"no family {unknown_families[0]!r}", hint=f"there are {', '.join(FAMILIES)}"
            )
        facts_step = steps.facts_step(run, "dump", relations)
        last_asked = last_day(run, self.first, self.last)
        candidates_step = ReasoningCandidates(
            facts=facts_step,
            timelines=steps.timelines_step(run, facts_step, relations),
            phrases={relation: phrases for relation, (_, phrases) in asked_relations.items()},
            families=self.families,
            first=self.first,
            last=last_asked,
            per_family=self.per_family,
            seed=run.seed,
        )
        first_recent = (Period.of(last_asked, "quarter") + (1 - _RECENT)).first
        rows_folder = run.folder(ReasoningRows(candidates=candidates_step, recent=first_recent))
        questions_path, context_path, twins_path = (
            rows_folder / f"{name}.parquet" for name in ("questions", "with_evidence", "renamed")
        )
        return Dataset(
            tables=(
                Table(
                    "questions", ReasoningQuestion, _ALONE, {"test": FromParquet(questions_path)}
                ),
                Table(
                    "with_evidence",
                    ReasoningQuestion,
                    _BEHIND,
                    {"test": FromParquet(context_path)},
                    4096,
                ),
                Table(
                    "renamed",
                    ReasoningQuestion,
                    _RENAMED,
                    {"test": FromParquet(twins_path)},
                    4096,
                ),
            ),
            dropped=(FromParquet(rows_folder / "dropped.parquet"),),
            statistics=(
                _families(questions_path),
                _shortcuts(questions_path),
                *learned_times(run, candidates_step.timelines),
                mining({"dump": run.folder(facts_step)}, run.workspace.say),
            ),
            plots=(_plot(questions_path),),
        )


def _families(questions_path: Path) -> Statistics:
    """Count the rows of each family and number of hops."""
    query = """
        select family, hops as "relations followed", count(*) as rows,
            avg(changed_since::int) as "share changed lately",
            avg((len(answer_ids) > 1)::int) as "share with several answers"
        from read_parquet(?) group by 1, 2 order by 1, 2
    """
    return Statistics("families", "Families", duck.records(query, [questions_path]))


def _shortcuts(questions_path: Path) -> Statistics:
    """Measure how often a guess without any reasoning is right."""
    query = """
        with asked as (
            select *, list_transform(choices, lambda c: len(c)) as lengths, count(*) over
                (partition by family, targets[1]) / count(*) over (partition by family) as share,
                answer_kind = 'item' and wording != 'longer' as by_object
            from read_parquet(?)
        ) select family,
            -- rounded, for threads sum such shares in an order of their own
            round(avg(1 / table_size) filter (by_object), 9) as "chance among objects",
            avg(coalesce(list_contains(targets, shortcut_first), false)::int)
                filter (by_object) as "first object",
            avg(coalesce(list_contains(targets, shortcut_before_newest), false)::int)
                filter (by_object) as "before the newest",
            avg(coalesce(list_contains(targets, shortcut_newest), false)::int)
                filter (by_object) as "newest object",
            avg(coalesce(list_contains(targets, shortcut_longest), false)::int)
                filter (by_object) as "longest-held object",
            avg(coalesce(list_contains(targets, shortcut_first_hop), false)::int)
                filter (by_object) as "first hop",
            round(avg(1 / len(choices)) filter (len(choices) > 0), 9) as "chance among choices",
            avg((answer_index = 0)::int) as "first choice",
            avg((answer_index + 1 = list_position(lengths, list_min(lengths)))::int)
                as "shortest choice",
            max(share) as "most frequent answer"
        from asked group by 1 order by 1
    """
    share_rows: list[dict[str, Scalar]] = []
    for row in duck.records(query, [questions_path]):
        shares = {f"share {guess}": value for guess, value in row.items() if guess != "family"}
        share_rows.append({"family": row["family"], **shares})
    caption = (
        "Right answers of models that know nothing. The first columns guess among the objects of "
        "the timeline that the answer comes from, where it is one of them; the answers are spread "
        "over their places, so that no guess does better than chance. The last ones choose among "
        "the `choices`."
    )
    return Statistics("shortcuts", "Guessing", share_rows, caption)


def _plot(questions_path: Path) -> Plot:
    """Plot the rows by family and by the relation that gives the answer."""
    query = "select family, relation, count(*) from read_parquet(?) group by 1, 2 order by 1, 2"
    count_rows = duck.query(query, [questions_path])
    relations = sorted({relation for _, relation, _ in count_rows})
    family_sizes: dict[str, dict[str, int]] = {}
    for family, relation, row_count in count_rows:
        family_sizes.setdefault(family, dict.fromkeys(relations, 0))[relation] = row_count
    caption = "Rows of each family, by the relation that gives the answer."
    return Plot("families", "bars", "Questions by family", caption, family_sizes)
