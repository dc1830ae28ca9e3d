"""`factdrift quick`: the last quarters from an endpoint, a model's answers to them, and a report.

Nothing is done here that another command does not do: a recipe is written, and what `mine`,
`release`, `baselines`, `run-model`, `score` and `report` call is called. Each of them goes on where
it was stopped, and so does this command.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import NamedTuple, get_args

import requests

from factdrift.builders.core.addresses import without_credentials
from factdrift.builders.core.config import display_path
from factdrift.builders.core.dates import Granularity, Period
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, replacing
from factdrift.builders.core.hints import require_extra
from factdrift.builders.facts.mined_properties import properties_to_ask
from factdrift.builders.facts.relations import relations_with_own, select_relations
from factdrift.builders.generate.prompts import ModelSettings
from factdrift.builders.recipes.dumps import SAMPLE
from factdrift.builders.release.release import ReleaseOptions, release_all
from factdrift.builders.wikidata.finish import TABLES, mined_damage, read_summary
from factdrift.builders.wikidata.sparql import RoadName, mine_sparql
from factdrift.builders.wikidata.sparql_client import with_contact
from factdrift.scoring.baselines import write_baselines
from factdrift.scoring.report import write_report
from factdrift.scoring.run_model import ModelOrder, run_model
from factdrift.scoring.score import ScoreOptions, Scores, score_predictions

_MOST_PERIODS = 400
"""Periods of a window, a hundred years of quarters."""
_DEFAULT_WINDOW = (4, "quarter")
_SERVER_TIMEOUT = 10.0
"""Seconds in which the server of a model answers: it need not have loaded the model."""
_PICTURES = ("began", "period")
"""The curves of a report, the one that shows where knowledge stops first."""
_RECIPE = """\
# Written by `factdrift quick`. The same release again, from what was mined:
#   factdrift release recipe.yaml --dump {dump}
dataset: {dataset}
version: auto
title: DynamicTempLAMA of the last {granularity}s
summary: >-
  Cloze queries on facts that change, a test set for each of the last {granularity}s, split by what
  happened to the answer: unchanged, updated, new or deleted. From {source}.
licence: CC0-1.0
tags: [temporal-knowledge, cloze, lama, knowledge-probing]
inputs:
  dump:
    licence: CC0-1.0{about}
  learned: {{licence: CC0-1.0, optional: true}}
build:
  builder: dynamic-templama
  relations: [{relations}]
  window: {{granularity: {granularity}, first: "{before}", last: "{last}"}}
"""


SAMPLE_DAY = date(2026, 2, 2)
"""The day of the bundled sample dump."""
_SAMPLE_NOTE = "Written by hand for this sample; ids from Q900000000 on are not those of Wikidata."


@dataclass(frozen=True, kw_only=True)
class QuickOrder:
    """The options of `factdrift quick`.

    `endpoint`: what is asked, None for the bundled sample; `periods`: the first and the last period
    with a test set; `snapshot`: the day of the endpoint's data where it does not say it;
    `minutes`: how long the endpoint is asked; `limit`: rows of each config that the model is asked;
    `out`: the folder of everything.
    """

    endpoint: str | None
    user_agent: str | None
    relations: Sequence[str]
    periods: tuple[Period, Period]
    road: RoadName
    minutes: float
    snapshot: date | None
    settings: ModelSettings | None
    limit: int
    out: Path
    templates: Path
    jobs: int
    memory: str
    say: Callable[[str], None]

    @property
    def folder(self) -> Path:
        """The folder of this window: another quarter, and another length, begin anew."""
        kind = "" if self.endpoint is not None else "sample-"
        return self.out / f"{kind}{self.periods[1]}{self._length}"

    @property
    def dataset(self) -> str:
        """The name of the dataset: that of a window keeps it when the window moves on."""
        kind = "sample" if self.endpoint is None else "quick"
        return f"dynamic-templama-{kind}{self._length}"

    @property
    def _length(self) -> str:
        """What names have of the length of the window: `-12-months`, nothing of the default."""
        first, last = self.periods
        period_count, granularity = last.index - first.index + 1, last.granularity
        if (period_count, granularity) == _DEFAULT_WINDOW:
            return ""
        return f"-{period_count}-{granularity}{'s' * (period_count > 1)}"


def window_periods(window: tuple[str, str], day: date) -> tuple[Period, Period]:
    """Return the first and last period of a window: `4 quarters`, or `2025Q1 2025Q4`.

    A number counts full periods before a day. `UserError`: it is neither.
    """
    first_word, last_word = window
    granularity = last_word.removesuffix("s")
    # `4` or `12`, not `4th` or `-1`
    if re.fullmatch(r"[0-9]{1,9}", first_word) and granularity in get_args(Granularity):
        period_count = int(first_word)
        if not 1 <= period_count <= _MOST_PERIODS:
            raise UserError(f"--window: {first_word} periods; 1 to {_MOST_PERIODS} are possible")
        last = Period.of(day, granularity) + -1  # type: ignore[arg-type]
        return last + (1 - period_count), last
    hint_text = "write --window 4 quarters, --window 12 months, or --window 2025Q1 2025Q4"
    try:
        first, last = map(Period.parse, window)
    except UserError:
        error_text = f"--window: not a window: {first_word} {last_word}"
        raise UserError(error_text, hint=hint_text) from None
    if first.granularity != last.granularity or first > last:
        raise UserError(f"--window: {first} does not come before {last}", hint=hint_text)
    if last.last >= day:
        raise UserError(f"--window: {last} had not ended on {day}", hint=hint_text)
    return first, last


class QuickResult(NamedTuple):
    """What was made: folders and files, and a sentence a model about what it knows."""

    release: Path
    report: Path
    curve: Path | None
    knowledge: dict[str, str]

    def lines(self) -> Iterator[str]:
        """Yield a line for each, and what to do next; the last line of a model is its sentence."""
        yield f"report: {display_path(self.report)}"
        if self.curve is not None:
            yield f"curve: {display_path(self.curve)}"
        else:
            yield (
                "no curve: it needs two periods whose changes were answered; a longer --window has "
                "more"
            )
        for model_name, sentence in self.knowledge.items():
            yield f"{model_name}: {sentence}"
        if not self.knowledge:
            yield (
                "next: the same command with --model NAME (a folder, a name on the Hub, or with "
                "--base-url a server's); the endpoint is not asked again"
            )
        yield "the release:"


def make_quickly(order: QuickOrder) -> QuickResult:
    """Do it all, and return what was made.

    `UserError`: what the commands say that are called.
    """
    require_extra("score", "scores need SciPy, for their intervals")
    if order.settings is not None:
        _refuse_missing_model(order.settings)  # before the endpoint is asked
    select_relations(relations_with_own(order.templates), order.relations, order.templates)
    if order.endpoint is not None:
        with_contact(order.user_agent)
    recipe_file, is_new = _write_recipe(order)
    dump = SAMPLE if order.endpoint is None else _mine(order, order.endpoint, is_new)
    release_options = ReleaseOptions(
        given={"dump": [str(dump)]},
        build=order.out / "build",
        templates=order.templates,
        say=order.say,
        out=order.out / "releases",
        jobs=order.jobs,
        memory=order.memory,
    )
    (outcome,) = release_all([recipe_file], release_options)
    model_scores, baseline_scores = _score(order, outcome.folder)
    score_folders = [scores.folder for scores in (*model_scores, *baseline_scores)]
    report_page = write_report(score_folders, order.folder / "report")
    pictures = [report_page.with_name(f"{picture_name}.png") for picture_name in _PICTURES]
    return QuickResult(
        outcome.folder,
        report_page,
        next(filter(Path.is_file, pictures), None),
        {scores.name: knowledge_sentence(scores) for scores in model_scores},
    )


def _refuse_missing_model(settings: ModelSettings) -> None:
    """Raise `UserError` if a model, or the server that has it, is not there."""
    settings.kind()
    if address := getattr(settings, "base_url", None):
        try:
            # any answer will do: not every server lists its models
            requests.get(address, timeout=_SERVER_TIMEOUT, allow_redirects=False)
        except requests.RequestException:
            where = without_credentials(address)
            hint_text = "is the server running, and is this its address, up to /v1?"
            raise UserError(
                "the model's server does not answer", where=where, hint=hint_text
            ) from None


def knowledge_sentence(scores: Scores) -> str:
    """Say in which period a model's knowledge stops, or that its answers do not show it."""
    if stop := scores.stop:
        return (
            f"knowledge stops in {stop.last_known} (95 % interval {stop.low} to {stop.high}, from "
            f"{stop.n:,} answers about what changes)"
        )
    return (
        "these answers do not show where knowledge stops: it may be before or after all of these "
        "changes, or too few were asked about (--limit, --window)"
    )


def _write_recipe(order: QuickOrder) -> tuple[Path, bool]:
    """Write the recipe of this order; return its file, and whether it was another one before."""
    first, last = order.periods
    input_fields = f"\n    note: {_SAMPLE_NOTE}"
    if order.endpoint is not None:
        input_fields = f"\n    homepage: {json.dumps(without_credentials(order.endpoint))}"
    recipe_text = _RECIPE.format(
        dump=SAMPLE if order.endpoint is None else "mined",
        dataset=order.dataset,
        about=input_fields,
        source="the bundled sample" if order.endpoint is None else "a SPARQL endpoint",
        relations=", ".join(order.relations),
        granularity=last.granularity,
        before=first + -1,
        last=last,
    )
    recipe_file = order.folder / "recipe.yaml"
    with disk_errors(order.folder):
        order.folder.mkdir(parents=True, exist_ok=True)
        is_another = recipe_file.is_file() and recipe_file.read_text("utf-8") != recipe_text
        is_new = is_another or not recipe_file.is_file()
        if is_another:
            order.say(
                f"warning: {display_path(order.folder)} was made otherwise, with other relations "
                "or another endpoint: its recipe, scores and report are written anew, and the "
                "release gets a new version; --out FOLDER keeps both apart"
            )
        if is_new:
            with replacing(recipe_file) as unfinished_file:
                unfinished_file.write_text(recipe_text, encoding="utf-8")
    return recipe_file, is_new


def _mine(order: QuickOrder, endpoint: str, is_new: bool) -> Path:
    """Mine the relations from the endpoint, unless that was done for the same recipe."""
    relation_table = relations_with_own(order.templates)
    relations = select_relations(relation_table, order.relations, order.templates)
    properties, needs_classes = properties_to_ask(relations)
    mined_folder = order.folder / "mined"
    summary_file = mined_folder / TABLES[-1]
    if is_new:  # what was mined for another recipe must not pass for this one's after a kill
        summary_file.unlink(missing_ok=True)
    if summary_file.is_file() and mined_damage(mined_folder) is None:
        day = read_summary(summary_file)["snapshot"]
        if order.snapshot is None or day == str(order.snapshot):
            order.say(
                f"  mined before, of {day}: {display_path(mined_folder)}; without "
                f"{display_path(order.folder)} everything is asked anew"
            )
            return mined_folder
    answers = order.folder / "answers"
    try:
        mine_sparql(
            endpoint,
            mined_folder,
            relations=properties,
            classes=needs_classes,
            user_agent=order.user_agent,
            cache=answers,
            snapshot=order.snapshot,
            road=order.road,
            minutes=order.minutes,
            memory=order.memory,
            say=order.say,
        )
    except UserError as error:
        if any(path.is_file() for path in answers.rglob("*")):
            raise
        hint_text = "the whole way without a network: factdrift quick --sample"
        raise UserError(str(error), hint=hint_text) from error
    return mined_folder


def _score(order: QuickOrder, release_folder: Path) -> tuple[list[Scores], list[Scores]]:
    """Score the model, if there is one, and what guesses without knowledge reach."""
    predictions_folder = order.folder / "predictions"
    model_scores: list[Scores] = []
    if order.settings is not None:
        model_name = re.sub(r"[^\w-]", "-", Path(order.settings.model).name)
        model_order = ModelOrder(
            release=release_folder,
            settings=order.settings,
            say=order.say,
            limit=order.limit,
            out=predictions_folder / f"model-{model_name}.jsonl",
            build=order.out / "build",
        )
        model_scores.append(_scored(order, release_folder, run_model(model_order), order.say))
    # what is remarkable about answers, as that most are the same, is expected of guesses
    baseline_scores = [
        _scored(order, release_folder, predictions_file, lambda text: None)
        for predictions_file in write_baselines(release_folder, predictions_folder, order.limit)
    ]
    return model_scores, baseline_scores


def _scored(
    order: QuickOrder, release_folder: Path, predictions_file: Path, say: Callable[[str], None]
) -> Scores:
    return score_predictions(
        ScoreOptions(
            release=release_folder,
            file=predictions_file,
            out=order.folder / "scores" / predictions_file.stem,
            partial=True,
            say=say,
        )
    )
