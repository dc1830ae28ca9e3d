"""`factdrift report`: scores of one or more models as one page and figures.

The page stands alone: its figures are in it, its only script sorts its tables, and every text of a
model or a release is escaped. The same scores give the same bytes.
"""

import base64
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from factdrift.builders.core import duck
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, replacing, writable
from factdrift.scoring.figures import WIDTHS, dot_figure, line_figure
from factdrift.scoring.intervals import (
    SCALE,
    Ints,
    paired_difference,
    subject_bundles,
)
from factdrift.scoring.metrics import VERDICTS
from factdrift.scoring.report_page import REPORT, PairedTest, check_names, filled_page
from factdrift.scoring.run_report import are_runs, write_run_report
from factdrift.scoring.score import CHANGED, FEWEST, ROWS, TIMES, Mean, Scores, sortable
from factdrift.scoring.summary import COLUMNS, few_rows_text, time_words

_KINDS = ("relation", "answer_type")
_MAIN = tuple(COLUMNS)
_NAMES = {
    "exact_match": "exact match",
    "f1": "F1",
    "accuracy": "accuracy",
    "mrr": "MRR",
    "rouge_l": "ROUGE-L",
    "shortest": "the shortest",
    "before": "answers of before",
}
# The most values of a stratum that a table shows; relations and answers can have thousands.
_FEW = 60
_SEED = 0
# Digits of a checksum in a message, as many as Git prints of a commit at least.
_SHOWN_DIGITS = 7


def write_report(score_folders: Sequence[Path], report_folder: Path) -> Path:
    """Write the page and its figures; return the path of the page.

    `UserError`: no scores there, scores of different releases, two of the same name, too many.
    """
    if are_runs(score_folders):
        return write_run_report(score_folders, report_folder)
    models = [Scores.read(score_folder) for score_folder in score_folders]
    _check(models)
    writable(report_folder)
    with disk_errors(report_folder):
        figures = tuple(_figures(models, report_folder))
        page_text = _page(models, figures)
        with replacing(report_folder / REPORT) as page_path:
            page_path.write_text(page_text, encoding="utf-8")
    return report_folder / REPORT


def _check(models: Sequence[Scores]) -> None:
    model_by_release: dict[tuple[str, str, str], Scores] = {}
    for scored_model in models:
        model_by_release.setdefault(scored_model.release, scored_model)
    if len(model_by_release) > 1:
        has_other_names = len({release[:2] for release in model_by_release}) > 1
        listed_folders = ", ".join(
            f"{display_path(scored_model.folder)}: {dataset} {version}"
            + ("" if has_other_names else f" with rows {checksum[:_SHOWN_DIGITS] or 'not stated'}")
            for (dataset, version, checksum), scored_model in model_by_release.items()
        )
        hint_text = "make a report of each"
        if not has_other_names:
            hint_text = (
                "one name and version, but other rows: score all against the same folder of a "
                "release, or make a report of each"
            )
        raise UserError(f"scores of different releases: {listed_folders}", hint=hint_text)
    model_names = [scored_model.name for scored_model in models]
    check_names(model_names, "models", "name them: factdrift score … --model NAME")


def _has(scored_model: Scores, metric: str) -> bool:
    return any(mean.metric == metric for mean in scored_model.table)


def _mains(models: Sequence[Scores]) -> list[str]:
    """Return the main metrics, of written and of chosen answers, that at least one model has."""
    return [
        main_metric
        for main_metric in _MAIN
        if any(_has(scored_model, main_metric) for scored_model in models)
    ]


def _values(models: Sequence[Scores], stratum: str, metric: str) -> list[str]:
    """Return the values of a stratum that at least one model has, in order."""
    value_names = {
        value
        for scored_model in models
        for value in scored_model.means(stratum, metric, scored_model.whole)
    }
    return sorted(value_names, key=sortable)


class _Drawing(NamedTuple):
    """A figure of the page, in the files `name.png` and `name-phone.png`.

    `axis_label`, `time_label`: the titles of the axes; the second one of a curve alone. `marks`:
    model -> value behind which a dashed line stands. `is_rest`: what is drawn is what is left of
    all rows (1 minus the metric). `is_of_models`: guesses, which know nothing, are left out where a
    model is there. `pictures`: size -> the bytes of its file in base64, once it is
    drawn.
    """

    name: str
    stratum: str
    metric: str
    title: str
    caption: str
    axis_label: str
    time_label: str = ""
    is_rest: bool = False
    marks: Mapping[str, str] | None = None
    is_of_models: bool = False
    pictures: Mapping[str, str] = {}


def _time_stratum(models: Sequence[Scores]) -> str:
    """Return the stratum of time by which these models are shown.

    It is the finest one of what changed in that time where a model has it, else of all rows.
    """
    named_strata = {model.time for model in models}
    return next(
        (name for name in (*(CHANGED + name for name in TIMES), *TIMES) if name in named_strata),
        TIMES[0],
    )


def _rows_text(models: Sequence[Scores], stratum: str, metric: str) -> str:
    """Say which rows a figure over time is of: `117 of updated and 3 of new, whose …`."""
    row_counts: dict[str, int] = {}
    for scored_model in models:
        config_names = {mean.config for mean in scored_model.table if mean.config}
        for config_name in config_names:
            means = scored_model.means(stratum, metric, config_name)
            row_count = sum(mean.n for mean in means.values())
            if scored_model.whole is None and not stratum.startswith(CHANGED):
                row_count -= scored_model.left_out.get(config_name, 0)
            row_counts[config_name] = max(row_count, row_counts.get(config_name, 0))
    ordered_counts = sorted(row_counts.items(), key=lambda counted: (-counted[1], counted[0]))
    listed_text = ", ".join(f"{count:,} of {name}" for name, count in ordered_counts if count > 0)
    condition_text = ""
    if stratum.startswith(CHANGED):
        condition_text = " whose right answer began in the time asked about"
    return f"Rows{condition_text}: {listed_text}."


def _drawings(models: Sequence[Scores]) -> Iterator[_Drawing]:
    time_stratum = _time_stratum(models)
    is_of_changes = time_stratum.startswith(CHANGED)
    time_name = time_stratum.removeprefix(CHANGED)
    subject_text = "What changed, by" if is_of_changes else "Score by"
    for metric in _mains(models):
        is_main = metric == _MAIN[0]
        metric_label, name_ending = _NAMES[metric], "" if is_main else f"-{metric}"
        title_ending = "" if is_main else f" ({metric_label} of choosing)"
        dotted_note = (
            "" if is_main else "; dotted: a choice at random among what the model was offered"
        )
        axis_label, measure_text = f"{metric_label}, per cent", metric_label.capitalize()
        meaning_text = (
            "A curve falls where knowledge ends"
            if is_of_changes
            else "A curve that is level may be of facts that seldom change"
        )
        hollow_text = f"Hollow: fewer than {FEWEST} rows, of which a figure says little."
        yield _Drawing(
            f"period{name_ending}", time_stratum, metric,
            f"{subject_text} {time_name}{title_ending}",
            f"{_rows_text(models, time_stratum, metric)} {measure_text} by the {time_name} asked "
            f"about; shaded: 95 % intervals by subject{dotted_note}. {meaning_text}. {hollow_text}",
            axis_label, f"{time_name} asked about",
        )  # fmt: skip
        lag_stratum = f"{CHANGED if is_of_changes else ''}lag"
        yield _Drawing(
            f"lag{name_ending}", lag_stratum, metric, f"{subject_text} lag{title_ending}",
            f"{_rows_text(models, lag_stratum, metric)} {measure_text} by quarters of a year from "
            f"the cut-off to the time asked about{dotted_note}. {hollow_text}",
            axis_label, "quarters after the cut-off",
        )  # fmt: skip
        for kind_stratum in _KINDS:
            figure_title = f"Score by {kind_stratum.replace('_', ' ')}{title_ending}"
            figure_caption = (
                f"{metric_label}, per cent, with 95 % intervals by subject{dotted_note}."
            )
            yield _Drawing(
                *(f"{kind_stratum}{name_ending}", kind_stratum, metric, figure_title),
                *(figure_caption, axis_label),
            )
    yield _Drawing(
        "outdated", time_name, "outdated", f"Outdated answers by {time_name}",
        "Of all rows whose fact had another answer before, however long ago: the share that is "
        "answered with what was right then.",
        "outdated, per cent", f"{time_name} asked about",
    )  # fmt: skip
    guesses_note = " Guesses, which know nothing, are left out." * _has_guesses_beside(models)
    last_known = {}
    for scored_model in models:
        if scored_model.stop:
            last_known[scored_model.name] = scored_model.stop.last_known
    yield _Drawing(
        "began", "began", "stale", "When knowledge stops",
        "By the period in which the right answer began, whatever period a row asks about: of the "
        "answers that are right or were so before, the share that is right. Rows are of facts that "
        "changed. Dashed upright: the cut that explains a model's answers best. Lines in one place "
        f"are dashed in turn.{guesses_note}",
        "still right, per cent", "period in which the right answer began", True, last_known, True,
    )  # fmt: skip


def _has_guesses_beside(models: Sequence[Scores]) -> bool:
    """Whether there are both guesses and models."""
    return len({scored_model.guess is None for scored_model in models}) > 1


def _figures(models: Sequence[Scores], report_folder: Path) -> Iterator[_Drawing]:
    """Draw the figures of a report into its folder, and yield each with its pictures.

    A figure over time or lag is a curve, which needs two values at least. A figure over kinds, such
    as relations, has one dot a kind, so that a single kind is enough. Others are left out.
    """
    relation_labels: dict[str, str] = {}
    for model in models:
        relation_labels |= model.summary["relations"]
    for figure_drawing in _drawings(models):
        drawn_models = _drawn_models(models, figure_drawing)
        drawn_names = {model.name for model in drawn_models}
        values = _values(drawn_models, figure_drawing.stratum, figure_drawing.metric)
        is_over_kinds = figure_drawing.stratum in _KINDS
        fewest_values = 1 if is_over_kinds else 2
        if len(values) < fewest_values:
            continue
        # every model, so that each keeps its colour in all figures; some have no points
        means_by_model = {
            model.name: _drawn_means(model, figure_drawing) if model.name in drawn_names else {}
            for model in models
        }
        chance_series = _chance_series(models, figure_drawing)
        encoded_pictures = {}
        for size_name, figure_width in WIDTHS.items():
            size_ending = "" if size_name == "wide" else f"-{size_name}"
            picture_path = report_folder / f"{figure_drawing.name}{size_ending}.png"
            if is_over_kinds:
                value_labels = {value: relation_labels.get(value, value) for value in values}
                dot_figure(
                    means_by_model,
                    value_labels,
                    picture_path,
                    figure_width=figure_width,
                    axis_label=figure_drawing.axis_label,
                    chance_series=chance_series,
                )
            else:
                line_figure(
                    means_by_model,
                    values,
                    picture_path,
                    figure_width=figure_width,
                    axis_label=figure_drawing.axis_label,
                    time_label=figure_drawing.time_label,
                    marked_values=figure_drawing.marks,
                    chance_series=chance_series,
                )
            encoded_pictures[size_name] = base64.b64encode(picture_path.read_bytes()).decode(
                "ascii"
            )
        yield figure_drawing._replace(pictures=encoded_pictures)


def _drawn_models(models: Sequence[Scores], figure_drawing: _Drawing) -> Sequence[Scores]:
    """Return the models that a figure shows: some leave guesses out where a model is there."""
    if figure_drawing.is_of_models and _has_guesses_beside(models):
        return [model for model in models if model.guess is None]
    return models


def _chance_series(
    models: Sequence[Scores], figure_drawing: _Drawing
) -> dict[str, Mapping[str, Mean]]:
    """Return the means of guessing, of each model; none where a figure is not of choices."""
    if figure_drawing.metric != "accuracy":
        return {}
    stratum = figure_drawing.stratum
    return {model.name: model.means(stratum, "chance", model.whole) for model in models}


def _drawn_means(model: Scores, figure_drawing: _Drawing) -> Mapping[str, Mean]:
    """Return the means of a model that a figure draws, or what is left of them."""
    model_means = model.means(figure_drawing.stratum, figure_drawing.metric, model.whole)
    if not figure_drawing.is_rest:
        return model_means
    return {value: _rest(mean) for value, mean in model_means.items()}


def _rest(mean: Mean) -> Mean:
    """Return what is left of a share: 1 minus it, with the interval turned about."""
    low, high = (None if bound is None else 1 - bound for bound in (mean.high, mean.low))
    return mean._replace(mean=1 - mean.mean, low=low, high=high)


def paired_tests(models: Sequence[Scores]) -> Iterator[PairedTest]:
    """Compare each pair of models on the rows that both have.

    Written answers are compared with written ones, and choices with choices among the same number
    of options. A guess that solves rows by what they are is compared with nobody.
    """
    tested_models = [model for model in models if not model.is_solved(model.whole)]
    for first_model, second_model in combinations(tested_models, 2):
        for metric in _MAIN:
            if _has(first_model, metric) and _has(second_model, metric):
                first_marks, second_marks, subject_numbers = _marks(
                    first_model, second_model, metric
                )
                if len(first_marks):
                    difference = paired_difference(
                        first_marks, second_marks, *subject_bundles(subject_numbers), _SEED
                    )
                    yield PairedTest(first_model.name, second_model.name, metric, difference)


def _marks(first_model: Scores, second_model: Scores, metric: str) -> list[Ints]:
    """Return a metric of two models, and the subject's number, for each row that both scored.

    The metric is in units of 1/`SCALE`. An id counts once. Raises `UserError` if there is no table
    of scored rows.
    """
    distinct_rows = (
        "FROM {} QUALIFY row_number() OVER (PARTITION BY id ORDER BY file_row_number) = 1"
    )
    first_rows, second_rows = (
        distinct_rows.format(duck.parquet(scored_model.folder / ROWS))
        for scored_model in (first_model, second_model)
    )
    same_choices = "a.chance IS NOT DISTINCT FROM b.chance" if metric == "accuracy" else "true"
    marks_query = f"""
        SELECT round({SCALE} * a.{metric})::BIGINT, round({SCALE} * b.{metric})::BIGINT,
            dense_rank() OVER (ORDER BY a.subject) - 1
        FROM ({first_rows}) a JOIN ({second_rows}) b USING (id)
        WHERE a.{metric} IS NOT NULL AND b.{metric} IS NOT NULL AND {same_choices} ORDER BY id
    """  # noqa: S608
    try:
        with duck.connect() as db:
            mark_arrays: dict[str, Any] = db.execute(marks_query).fetchnumpy()
            return list(mark_arrays.values())
    except duckdb.Error as error:
        error_text = f"not the rows of scores: {str(error).splitlines()[0]}"
        raise UserError(error_text, where=f"{first_model.folder}, {second_model.folder}") from error


def _page(models: Sequence[Scores], figures: Sequence[_Drawing]) -> str:
    first_summary = models[0].summary
    time_stratum = _time_stratum(models)
    return filled_page(
        "report.html.j2",
        [scored_model.name for scored_model in models],
        title=first_summary["title"],
        dataset=first_summary["dataset"],
        version=first_summary["version"],
        models=models,
        relations=first_summary["relations"],
        verdicts=VERDICTS,
        tables=list(_tables(models)),
        names=_NAMES,
        figures=figures,
        tests=list(paired_tests(models)),
        strata=list(_strata(models)),
        time=time_stratum,
        changed=CHANGED,
        fewest=FEWEST,
        few_words=time_words(time_stratum),
        few_rows=few_rows_text(_row_counts(models, time_stratum)),
    )


def _row_counts(models: Sequence[Scores], stratum: str) -> dict[str, int]:
    """Value of a stratum -> the rows of the model that has most of them, in order."""
    most_rows: dict[str, int] = {}
    for scored_model in models:
        for value, row_count in scored_model.row_counts(stratum).items():
            most_rows[value] = max(row_count, most_rows.get(value, 0))
    return {value: most_rows[value] for value in sorted(most_rows, key=sortable)}


class MeansTable(NamedTuple):
    """The overall means of answers that were written, or chosen.

    `rows`: config (`together` first), model, its number of rows and its means by metric, which are
    none where a guess solves the config by what it is.
    """

    main: str
    metrics: list[str]
    rows: list[tuple[str, Scores, int, dict[str, Mean]]]


def _tables(models: Sequence[Scores]) -> Iterator[MeansTable]:
    for main_metric in _mains(models):
        rows = []
        config_names = dict.fromkeys(
            mean.config for scored_model in models for mean in scored_model.table
        )
        for config in sorted(config_names, key=lambda config: config is not None):
            for scored_model in models:
                model_means = {
                    mean.metric: mean
                    for mean in scored_model.table
                    if (mean.config, mean.split, mean.stratum) == (config, None, "all")
                }
                if main_metric in model_means:
                    row_count = model_means[main_metric].n
                    if scored_model.is_solved(config):
                        model_means = {}
                    rows.append((config or "together", scored_model, row_count, model_means))
        metric_names = [
            column_name
            for column_name in COLUMNS[main_metric]
            if any(column_name in model_means for *_, model_means in rows)
        ]
        yield MeansTable(main_metric, metric_names, rows)


class StratumTable(NamedTuple):
    """The means of one metric by the values of one stratum: a row a value, a cell a model."""

    stratum: str
    metric: str
    rows: list[tuple[str, list[Mean | None]]]


def _strata(models: Sequence[Scores]) -> Iterator[StratumTable]:
    """A table for each stratum and main metric that has values, over all configs together."""
    stratum_names = dict.fromkeys(
        mean.stratum for scored_model in models for mean in scored_model.table
    )
    for stratum in stratum_names:
        if stratum == "all":
            continue
        for metric in _mains(models):
            means = [
                scored_model.means(stratum, metric, scored_model.whole) for scored_model in models
            ]
            stratum_rows = []
            for value in _values(models, stratum, metric):
                stratum_rows.append((value, [model_means.get(value) for model_means in means]))
            if stratum_rows:
                yield StratumTable(stratum, metric, _most_frequent(stratum_rows))


def _most_frequent(
    stratum_rows: list[tuple[str, list[Mean | None]]],
) -> list[tuple[str, list[Mean | None]]]:
    """Return the rows of the `_FEW` values that have the most answers, in their order."""

    def answer_count(stratum_row: tuple[str, list[Mean | None]]) -> int:
        return max((mean.n for mean in stratum_row[1] if mean), default=0)

    frequent_rows = sorted(stratum_rows, key=answer_count, reverse=True)[:_FEW]
    kept_values = {value for value, _ in frequent_rows}
    return [stratum_row for stratum_row in stratum_rows if stratum_row[0] in kept_values]
