"""The `temporal-reasoning` dataset: questions over several facts, alone and behind a table."""

from datetime import date
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from factdrift.builders.core import duck
from factdrift.builders.core.dataset import Dataset, FromParquet, Plot, Statistics, Table
from factdrift.builders.core.dates import Period
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.run import DatasetBuilder, Run
from factdrift.builders.facts import steps
from factdrift.builders.facts.card import mining
from factdrift.reasoning.families import FAMILIES
from factdrift.reasoning.inputs import last_day, phrased
from factdrift.reasoning.rows import ReasoningQuestion
from factdrift.reasoning.steps import ReasoningCandidates, ReasoningRows

_ALONE = "Questions whose answer follows from several facts; nothing but the question is given."
_BEHIND = "The same questions behind a table of dated facts that holds those they need, shuffled."
_RECENT = 4
"""The last quarters, in which changes count as recent."""


class TemporalReasoning(DatasetBuilder):
    """Parameters of the dataset.

    `relations`: property ids, all with `phrases` by default; `families`: what is asked; `first`:
    the first day asked about; `last`: the last one, by default that of the last quarter that had
    ended on the day of the dump; `per_family`: rows of a family and number of hops at most.
    """

    tasks: ClassVar[tuple[str, ...]] = ("question-answering", "multiple-choice")
    citations: ClassVar[tuple[str, ...]] = ("tan-etal-2023-towards",)

    builder: Literal["temporal-reasoning"]
    relations: tuple[str, ...] = ()
    families: Annotated[tuple[str, ...], Field(min_length=1)] = tuple(FAMILIES)
    first: date = date(2010, 1, 1)
    last: date | None = None
    per_family: int = Field(default=500, ge=2)

    def build(self, run: Run) -> Dataset:
        """Cut the timelines into what is sure, run the families, write."""
        wordings = phrased(run, self.relations)
        relations = {relation: one for relation, (one, _) in wordings.items()}
        if wrong := [family for family in self.families if family not in FAMILIES]:
            raise UserError(f"no family {wrong[0]!r}", hint=f"there are {', '.join(FAMILIES)}")
        facts = steps.facts_step(run, "dump", relations)
        last = last_day(run, self.first, self.last)
        candidates = ReasoningCandidates(
            facts=facts,
            timelines=steps.timelines_step(facts, relations),
            phrases={relation: phrases for relation, (_, phrases) in wordings.items()},
            families=self.families,
            first=self.first,
            last=last,
            per_family=self.per_family,
            seed=run.seed,
        )
        recent = (Period.of(last, "quarter") + (1 - _RECENT)).first
        rows_folder = run.folder(ReasoningRows(candidates=candidates, recent=recent))
        alone, behind = rows_folder / "questions.parquet", rows_folder / "with_evidence.parquet"
        return Dataset(
            tables=(
                Table("questions", ReasoningQuestion, _ALONE, {"test": FromParquet(alone)}),
                Table(
                    "with_evidence", ReasoningQuestion, _BEHIND, {"test": FromParquet(behind)}, 4096
                ),
            ),
            dropped=(FromParquet(rows_folder / "dropped.parquet"),),
            statistics=(
                _families(alone),
                _shortcuts(alone),
                mining({"dump": run.folder(facts)}),
            ),
            plots=(_plot(alone),),
        )


def _families(rows: Path) -> Statistics:
    """Rows of each family and number of hops."""
    query = """
        select family, hops as "relations followed", count(*) as rows,
            avg(changed_since::int) as "share changed lately",
            avg((len(answer_ids) > 1)::int) as "share with several answers"
        from read_parquet(?) group by 1, 2 order by 1, 2
    """
    return Statistics("families", "Families", duck.records(query, [rows]))


def _shortcuts(rows: Path) -> Statistics:
    """How often guessing without reasoning is right."""
    query = """
        with asked as (
            select *, list_transform(choices, lambda c: len(c)) as lengths, count(*) over
                (partition by family, targets[1]) / count(*) over (partition by family) as share
            from read_parquet(?)
        ) select family,
            avg(coalesce(list_contains(targets, shortcut_newest), false)::int) as "newest object",
            avg(coalesce(list_contains(targets, shortcut_longest), false)::int)
                as "longest-held object",
            avg(coalesce(list_contains(targets, shortcut_first_hop), false)::int) as "first hop",
            avg(1 / len(choices)) as chance,
            avg((answer_index = 0)::int) as "first choice",
            avg((answer_index + 1 = list_position(lengths, list_min(lengths)))::int)
                as "shortest choice",
            max(share) as "most frequent answer"
        from asked group by 1 order by 1
    """
    table = [
        {name if name == "family" else f"share {name}": value for name, value in row.items()}
        for row in duck.records(query, [rows])
    ]
    caption = (
        "Right answers of models that know nothing. The first three are left out by construction; "
        "chance and what follows choose among the `choices`."
    )
    return Statistics("shortcuts", "Guessing", table, caption)


def _plot(rows: Path) -> Plot:
    """Rows by family, and by the relation that gives the answer."""
    query = "select family, relation, count(*) from read_parquet(?) group by 1, 2 order by 1, 2"
    counted = duck.query(query, [rows])
    relations = sorted({relation for _, relation, _ in counted})
    data: dict[str, dict[str, int]] = {}
    for family, relation, row_count in counted:
        data.setdefault(family, dict.fromkeys(relations, 0))[relation] = row_count
    caption = "Rows of each family, by the relation that gives the answer."
    return Plot("families", "bars", "Questions by family", caption, data)
