"""The `dynamic-templama` dataset: cloze test sets a period, by what happened to the answer."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import Field, model_validator

from factdrift.builders import rows
from factdrift.builders.core.config import Strict
from factdrift.builders.core.dataset import Dataset, FromParquet, Table
from factdrift.builders.core.dates import Granularity, Period
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.run import Run
from factdrift.builders.facts import period_diff, steps
from factdrift.builders.facts.card import mining
from factdrift.builders.facts.relations import OURS, cloze_templates, select_relations
from factdrift.builders.templama import card, guesses
from factdrift.builders.templama.choices import ChoiceRows
from factdrift.builders.templama.examples import ClozeExamples
from factdrift.builders.templama.rendering import ClozeRows
from factdrift.builders.templama.steps import ComparisonRules, PeriodChanges
from factdrift.builders.text.views import ClozeBuilder

_TABLES: dict[str, tuple[type, str]] = {
    "unchanged": (rows.Cloze, "The answer is the same as in the period before."),
    "updated": (rows.Cloze, "The answer is another than in the period before."),
    "new": (rows.Cloze, "There is an answer, and there was none in the period before."),
    "deleted": (
        rows.Cloze,
        "There is no answer any more; the gold answers are those of the period before.",
    ),
    "choices": (
        rows.ChoiceCloze,
        "Rows of the other configs, each once, with choices: one answer, and others that were "
        "right at another time or are of the same kind.",
    ),
    "paraphrases": (
        rows.ParaphraseCloze,
        "Rows of the other configs in the other wordings of their relation.",
    ),
}


class Window(Strict):
    """The periods that are built: from `first` to `last`, or the `latest` N before the snapshot.

    `granularity`: the length of a period; `first`: the first period, such as `2019Q1`, `2021M07`
    or `2021`, with which the next one is compared, so that it has no test set of its own; `last`:
    the last one, by default the last that had ended on the day of the dump; `latest`: so many
    periods before the snapshot, in place of `first`, each with a test set.
    """

    granularity: Granularity = "quarter"
    first: str | None = None
    last: str | None = None
    latest: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _one_window(self) -> "Window":
        try:
            ends = [Period.parse(text) for text in (self.first, self.last) if text is not None]
        except UserError as error:
            raise ValueError(str(error)) from None
        if (self.latest is None) == (self.first is None):
            raise ValueError("give either latest or first")
        if wrong := [str(period) for period in ends if period.granularity != self.granularity]:
            raise ValueError(f"{wrong[0]} is not a {self.granularity}, which granularity says")
        if len(ends) > 1 and ends[0].index > ends[1].index:
            raise ValueError(f"the window ends before it begins: {self.first} to {self.last}")
        return self


class DynamicTempLAMA(ComparisonRules, ClozeBuilder):
    """Parameters of the dataset; the defaults are the paper's (Margatina et al. 2023, section 3),
    but for `at`, `undated`, `vacant` and `name_overlap`, of which it has `during`, `ignore`, `keep`
    and `keep`.

    `relations`: property ids, of which each has a template; `wording`: the cloze sentences, `ours`
    or a named set of the templates; `choices`: how many choices the rows of the config `choices`
    have, without which there is none.
    """

    tasks: ClassVar[tuple[str, ...]] = ("fill-mask", "question-answering")
    citations: ClassVar[tuple[str, ...]] = ("margatina-etal-2023-dynamic", "dhingra-etal-2022-time")

    builder: Literal["dynamic-templama"]
    relations: Annotated[tuple[str, ...], Field(min_length=1)]
    window: Window
    wording: str = OURS
    choices: int | None = Field(default=None, ge=2, le=26)

    def build(self, run: Run) -> Dataset:
        """Mine, compare the periods, render; a config a split class, and `timelines`."""
        relations = select_relations(steps.all_relations(run), self.relations, run.templates)
        templates = cloze_templates(relations, self.wording, run.templates)
        facts = steps.facts_step(run, "dump", relations)
        window = self._periods(run.inputs["dump"].snapshot)
        clipped = self._clipped(window[-1], run.inputs["dump"].snapshot)
        if clipped:
            run.workspace.say(f"  {clipped}")
        changes = PeriodChanges(
            facts=facts,
            timelines=steps.timelines_step(facts, relations),
            first=str(window[0]),
            last=str(window[-1]),
            granularity=self.window.granularity,
            relations=steps.relation_labels(relations),
            silent=tuple(
                relation_id
                for relation_id, one in relations.items()
                if one.exclusive or one.absence == "unknown"
            ),
            **{name: getattr(self, name) for name in ComparisonRules.model_fields},
        )
        cloze = ClozeRows(
            changes=changes, templates=templates, blank=self.blank, views=self.views(run)
        )
        path = run.folder(cloze) / "cloze.parquet"
        periods = [str(period) for period in window[1:]]
        timelines_text = "Timelines of the subjects and relations that are asked about."
        segments = FromParquet(run.folder(changes) / "timelines.parquet")
        folders = [run.folder(changes)]
        examples_step = ClozeExamples(
            changes=changes, templates=templates, blank=self.blank, seed=run.seed
        )
        configs = dict.fromkeys(get_args(rows.Split), path)
        if self.choices:
            cloze_folder = ChoiceRows(cloze=cloze, number=self.choices, seed=run.seed)
            folders.append(run.folder(cloze_folder))
            configs["choices"] = folders[-1] / "choices.parquet"
        if any(len(one.cloze) > 1 for one in templates.values()):
            configs["paraphrases"] = path.with_name("paraphrases.parquet")
        return Dataset(
            tables=(
                *(_by_period(name, file, periods) for name, file in configs.items()),
                Table("timelines", rows.ReleasedSegment, timelines_text, {"full": segments}),
            ),
            examples=FromParquet(run.folder(examples_step) / "examples.parquet"),
            dropped=tuple(FromParquet(folder / "dropped.parquet") for folder in folders),
            statistics=(
                *card.statistics(path, clipped),
                guesses.statistics(path, segments.path),
                mining({"dump": run.folder(facts)}),
            ),
            plots=card.plots(path, periods),
        )

    def _periods(self, snapshot: date) -> list[Period]:
        window = self.window
        first, last = (Period.parse(p) if p else None for p in (window.first, window.last))
        count = window.latest + 1 if window.latest else 0
        return period_diff.ended_periods(first, last, snapshot, window.granularity, count)

    def _clipped(self, last: Period, snapshot: date) -> str:
        """That the window ends sooner than the recipe says; nothing where it does not."""
        wanted_last = self.window.last
        if wanted_last is None or Period.parse(wanted_last) <= last:
            return ""
        return (
            f"The window ends with {last}, not {wanted_last}: no later period had ended on "
            f"{snapshot}, the day of the dump."
        )


def _by_period(name: str, file: Path, periods: Sequence[str]) -> Table:
    """A config, with a split of the Hub for each period; of the cloze rows those of its class."""
    row, about = _TABLES[name]
    of_class = {"split": name} if row is rows.Cloze else {}
    splits = {p: FromParquet(file, {**of_class, "period": p}) for p in periods}
    return Table(name, row, about, splits)
