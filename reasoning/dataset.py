"""The `temporal-reasoning` dataset: questions over several facts, alone and behind a table."""

from collections.abc import Sequence
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
from factdrift.builders.facts.card import mining
from factdrift.reasoning.families import FAMILIES
from factdrift.reasoning.inputs import last_day, phrased
from factdrift.reasoning.rows import ReasoningQuestion
from factdrift.reasoning.steps import ReasoningCandidates, ReasoningRows

_ALONE = "Questions whose answer follows from several facts; nothing but the question is given."
_BEHIND = "The same questions behind a table of dated facts that holds those they need, shuffled."


class TemporalReasoning(DatasetBuilder):
    """Parameters of the dataset.

    `relations`: property ids, all with `phrases` by default; `families`: what is asked; `first`:
    the first day asked about; `last`: the last one, by default that of the last quarter that had
    ended on the day of the dump; `per_family`: rows of a family and number of hops at most;
    `per_subject`: rows of a subject in each of these; `per_path`: the share of them that a path of
    relations has at most; `recent`: so many quarters before the last day count as recent changes;
    `facts`: sentences of the table that a question stands behind.
    """

    tasks: ClassVar[tuple[str, ...]] = ("question-answering", "multiple-choice")
    citations: ClassVar[tuple[str, ...]] = ("tan-etal-2023-towards",)

    builder: Literal["temporal-reasoning"]
    relations: tuple[str, ...] = ()
    families: Annotated[tuple[str, ...], Field(min_length=1)] = tuple(FAMILIES)
    first: date = date(2010, 1, 1)
    last: date | None = None
    per_family: int = Field(default=500, ge=2)
    per_subject: int = Field(default=2, ge=1)
    per_path: float = Field(default=0.25, gt=0, le=1)
    recent: int = Field(default=4, ge=1)
    facts: int = Field(default=20, ge=1)

    def build(self, run: Run) -> Dataset:
        """Cut the timelines into what is sure, run the families, write."""
        asked = phrased(run, self.relations)
        relations = {relation: one for relation, (one, _) in asked.items()}
        if wrong := [family for family in self.families if family not in FAMILIES]:
            raise UserError(f"no family {wrong[0]!r}", hint=f"there are {', '.join(FAMILIES)}")
        facts = steps.facts(run, "dump", relations)
        last = last_day(run, self.first, self.last)
        candidates = ReasoningCandidates(
            facts=facts,
            timelines=steps.timelines(facts, relations),
            phrases={relation: phrases for relation, (_, phrases) in asked.items()},
            families=self.families,
            first=self.first,
            last=last,
            per_family=self.per_family,
            per_subject=self.per_subject,
            per_path=self.per_path,
            seed=run.seed,
        )
        recent = (Period.of(last, "quarter") + (1 - self.recent)).first
        made = run.folder(ReasoningRows(candidates=candidates, recent=recent, facts=self.facts))
        found = run.folder(candidates) / "found.parquet"
        alone, behind = made / "questions.parquet", made / "with_evidence.parquet"
        return Dataset(
            tables=(
                Table("questions", ReasoningQuestion, _ALONE, {"test": FromParquet(alone)}),
                Table(
                    "with_evidence",
                    ReasoningQuestion,
                    _BEHIND,
                    {"test": FromParquet(behind)},
                    4096,
                ),
            ),
            dropped=(FromParquet(made / "dropped.parquet"),),
            statistics=(
                _families(alone, found),
                _shortcuts(alone),
                mining({"dump": run.folder(facts)}),
            ),
            plots=(_plot(alone),),
        )


def _families(rows: Path, found: Path) -> Statistics:
    """Rows of each family and number of hops, beside what could be asked with certainty."""
    query = """
        select family, hops, count(*), any_value(n), avg(changed_since::int),
            avg((len(answer_ids) > 1)::int)
        from read_parquet(?) join (select family, sum(found)::bigint as n from read_parquet(?)
            group by 1) using (family) group by 1, 2 order by 1, 2
    """
    table: list[dict[str, Scalar]] = [
        {
            "family": family,
            "relations followed": hops,
            "rows": n,
            "certain in all": certain,
            "share changed lately": late,
            "share with several answers": several,
        }
        for family, hops, n, certain, late, several in duck.query(query, [str(rows), str(found)])
    ]
    caption = "`certain in all` counts every number of hops of the family, before it is drawn from."
    return Statistics("families", "Families", table, caption)


_GUESSES = {
    "newest object": "list_contains(targets, shortcut_newest)",
    "longest-held object": "list_contains(targets, shortcut_longest)",
    "first hop": "list_contains(targets, shortcut_first_hop)",
    "chance": "1.0 / len(choices)",
    "first choice": "answer_index = 0",
    "shortest choice": "choices[list_position(list_transform(choices, lambda c: len(c)), "
    "list_min(list_transform(choices, lambda c: len(c))))] = choices[answer_index + 1]",
}


def _shortcuts(rows: Path) -> Statistics:
    """How often guessing without reasoning is right."""
    columns = ", ".join(f"avg(coalesce({sql}, false)::double)" if "/" not in sql else f"avg({sql})"
                        for sql in _GUESSES.values())  # fmt: skip
    query = f"""
        select family, {columns}, max(share) from (select *, count(*) over (partition by family,
            targets[1]) / count(*) over (partition by family) as share from read_parquet(?))
        group by 1 order by 1
    """  # noqa: S608 - the columns are ours
    names = [f"share {name}" for name in (*_GUESSES, "most frequent answer")]
    table: list[dict[str, Scalar]] = [
        {"family": family, **dict(zip(names, shares, strict=True))}
        for family, *shares in duck.query(query, [str(rows)])
    ]
    caption = (
        "Right answers of models that know nothing. The first three are left out by construction, "
        "but where two are compared; chance and what follows choose among the `choices`."
    )
    return Statistics("shortcuts", "Guessing", table, caption)


def _plot(rows: Path) -> Plot:
    """Rows by family, and by the relation that gives the answer."""
    query = "select family, relation, count(*) from read_parquet(?) group by 1, 2 order by 1, 2"
    counted: Sequence[tuple[str, str, int]] = duck.query(query, [str(rows)])
    relations = sorted({relation for _, relation, _ in counted})
    data: dict[str, dict[str, int]] = {}
    for family, relation, n in counted:
        data.setdefault(family, dict.fromkeys(relations, 0))[relation] = n
    return Plot(
        "families",
        "bars",
        "Questions by family",
        "Rows of each family, by the relation that gives the answer.",
        data,
    )
