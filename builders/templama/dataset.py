"""The `dynamic-templama` dataset: cloze test sets for each period, split by how answers changed."""

from collections.abc import Mapping, Sequence
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
from factdrift.builders.facts.card import learned_times, mining, staleness
from factdrift.builders.facts.namesakes import alike_relations
from factdrift.builders.facts.relations import OURS, Relation, cloze_templates, select_relations
from factdrift.builders.templama import card, guesses
from factdrift.builders.templama.choices import ChoiceRows
from factdrift.builders.templama.examples import ClozeExamples
from factdrift.builders.templama.rendering import ClozeRows
from factdrift.builders.templama.steps import ComparisonRules, PeriodChanges
from factdrift.builders.templama.told import ToldApart
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

    `granularity`: the length of a period.
    `first`: the first period, such as `2019Q1`, `2021M07` or `2021`. It has no test set of its own,
    for the next period is compared with it.
    `last`: the last period, by default the last one that had ended on the day of the dump.
    `latest`: in place of `first`, the number of periods before the snapshot that have a test set.
    """

    granularity: Granularity = "quarter"
    first: str | None = None
    last: str | None = None
    latest: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _one_window(self) -> "Window":
        try:
            period_ends = [
                Period.parse(text) for text in (self.first, self.last) if text is not None
            ]
        except UserError as error:
            raise ValueError(str(error)) from None
        if (self.latest is None) == (self.first is None):
            raise ValueError("give either latest or first")
        if wrong_lengths := [
            str(period) for period in period_ends if period.granularity != self.granularity
        ]:
            raise ValueError(
                f"{wrong_lengths[0]} is not a {self.granularity}, which granularity says"
            )
        if len(period_ends) > 1 and period_ends[0].index > period_ends[1].index:
            raise ValueError(f"the window ends before it begins: {self.first} to {self.last}")
        return self

    def ended_periods(self, snapshot: date) -> list[Period]:
        """Return the periods that had ended by the snapshot day; the first is compared with."""
        first, last = (
            Period.parse(period_text) if period_text else None
            for period_text in (self.first, self.last)
        )
        # One period more than there are test sets: the first is only compared with.
        period_count = self.latest + 1 if self.latest else 0
        return period_diff.ended_periods(first, last, snapshot, self.granularity, period_count)

    def clipped_note(self, last: Period, snapshot: date) -> str:
        """Return a note that the window ends sooner than asked for, or an empty text."""
        if self.last is None or Period.parse(self.last) <= last:
            return ""
        return (
            f"The window ends with {last}, not {self.last}: no later period had ended on "
            f"{snapshot}, the day of the dump."
        )


class DynamicTempLAMA(ComparisonRules, ClozeBuilder):
    """Parameters of the dataset. The defaults are those of the paper (Margatina et al. 2023,
    section 3), except for `at`, `undated`, `vacant` and `name_overlap`, of which the paper has
    `during`, `ignore`, `keep` and `keep`.

    `relations`: property ids, each of which needs a template.
    `wording`: the cloze sentences, either `ours` or a named set of the templates.
    `choices`: the number of choices of a row in the config `choices`, without which there is no
    such config.
    """

    tasks: ClassVar[tuple[str, ...]] = ("fill-mask", "question-answering")
    citations: ClassVar[tuple[str, ...]] = ("margatina-etal-2023-dynamic", "dhingra-etal-2022-time")

    changing_configs: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "updated": (),
        "new": (),
        "deleted": (),
    }
    next_commands: ClassVar[Mapping[str, str]] = {"timelines": "baselines {release}"}

    builder: Literal["dynamic-templama"]
    relations: Annotated[tuple[str, ...], Field(min_length=1)]
    window: Window
    wording: str = OURS
    choices: int | None = Field(default=None, ge=2, le=26)

    def build(self, run: Run) -> Dataset:
        """Run the steps and return the dataset that releases are written from.

        Facts are mined from the dump and merged into timelines. Each period of the window is
        compared with the one before it, and each subject and relation then belongs to a class of
        `rows.Split`, such as `updated`. Each comparison is rendered as cloze sentences.

        There is a config for each class, with a split for each period, and one with the
        `timelines`. `choices` is there only if the recipe asks for it, and `paraphrases` only if
        some relation has several cloze sentences.
        """
        relations = select_relations(steps.all_relations(run), self.relations, run.templates)
        templates = cloze_templates(relations, self.wording, run.templates)
        facts_step = steps.facts_step(run, "dump", relations)
        window = self.window.ended_periods(run.inputs["dump"].snapshot)
        clipped_note = self.window.clipped_note(window[-1], run.inputs["dump"].snapshot)
        if clipped_note:
            run.workspace.say(f"warning: {clipped_note}")
        compared_step = changes_step(run, facts_step, relations, window, self)
        told_step = ToldApart(changes=compared_step, alike=alike_relations(templates))
        cloze_step = ClozeRows(
            told=told_step, templates=templates, blank=self.blank, views=self.views(run)
        )
        cloze_path = run.folder(cloze_step) / "cloze.parquet"
        empty_note = card.empty_splits(cloze_path)
        notes = " ".join(filter(None, (clipped_note, empty_note)))
        # The first period of the window has none to be compared with, and so no rows.
        periods = [str(period) for period in window[1:]]
        timelines_file = FromParquet(run.folder(told_step) / "timelines.parquet")
        drop_folders = [run.folder(compared_step), run.folder(told_step)]
        examples_step = ClozeExamples(
            changes=compared_step, templates=templates, blank=self.blank, seed=run.seed
        )
        # All classes are in one file; `_by_period` filters the rows of each config from it.
        config_files = dict.fromkeys(get_args(rows.Split), cloze_path)
        if self.choices:
            choices_step = ChoiceRows(cloze=cloze_step, number=self.choices, seed=run.seed)
            drop_folders.append(run.folder(choices_step))
            config_files["choices"] = drop_folders[-1] / "choices.parquet"
        if any(len(template.cloze) > 1 for template in templates.values()):
            config_files["paraphrases"] = cloze_path.with_name("paraphrases.parquet")
        tables = [_by_period(config, file, periods) for config, file in config_files.items()]
        timelines_caption = "Timelines of the subjects and relations that are asked about."
        timelines_split = {"full": timelines_file}
        tables.append(Table("timelines", rows.ReleasedSegment, timelines_caption, timelines_split))
        return Dataset(
            tables=tuple(tables),
            examples=FromParquet(run.folder(examples_step) / "examples.parquet"),
            dropped=tuple(FromParquet(folder / "dropped.parquet") for folder in drop_folders),
            statistics=(
                guesses.statistics(cloze_path, timelines_file.path),
                *card.statistics(cloze_path, notes),
                *staleness(
                    run.folder(compared_step.timelines) / "timelines.parquet",
                    drop_folders[0] / "dropped.parquet",
                ),
                *learned_times(run, compared_step.timelines),
                mining({"dump": run.folder(facts_step)}, run.workspace.say),
            ),
            plots=card.plots(cloze_path, periods),
        )


def changes_step(
    run: Run,
    facts_step: steps.Facts,
    relations: Mapping[str, Relation],
    periods: Sequence[Period],
    rules: ComparisonRules,
) -> PeriodChanges:
    """Return the step that compares the answers of neighbouring periods by these rules."""
    silent_relations = [
        relation_id for relation_id, relation in relations.items() if relation.absence == "unknown"
    ]
    return PeriodChanges(
        facts=facts_step,
        timelines=steps.timelines_step(run, facts_step, relations),
        first=str(periods[0]),
        last=str(periods[-1]),
        granularity=periods[0].granularity,
        relations=steps.relation_labels(relations),
        silent=tuple(silent_relations),
        **{name: getattr(rules, name) for name in ComparisonRules.model_fields},
    )


def _by_period(config_name: str, file: Path, periods: Sequence[str]) -> Table:
    """Return a config with a split of the Hub for each period; cloze rows are filtered by class."""
    row_type, description = _TABLES[config_name]
    class_filter = {"split": config_name} if row_type is rows.Cloze else {}
    splits = {period: FromParquet(file, {**class_filter, "period": period}) for period in periods}
    return Table(config_name, row_type, description, splits)
