"""Draw figures of scores: with the same matplotlib, the same scores give the same PNG bytes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from factdrift.builders.release.plots import COLOURS, FAINT, INK, save_figure
from factdrift.scoring.score import FEWEST, Mean

WIDTHS = {"wide": 8.0, "phone": 4.0}
"""The width of a figure in inches; a page shows the second one on a phone, where text in the first
would be too small to read."""
# one for each colour, so that models can be told apart in black and white as well
_MARKERS = "osD^vP"
_CHANCE = "chance"
_MARKED = "knowledge stops"
_INTERVAL = "95 % interval"
# a line of four points and a gap of three, so that a short one is seen to be dashed
_DASHED = (0, (4, 3))
# Dashes of a model whose line lies on those of 1, 2 … models before it, which show in its gaps; the
# last pattern stands for all further ones.
_OVER_OTHERS = ((0, (5, 3)), (0, (2, 4)), (0, (1, 5)))
# Per cent by which two means differ at most where their lines lie on each other: about the width of
# a line.
_SAME_HEIGHT = 0.8
_FEW_ROWS = "fewer than {} rows"
# Letters of a label in a narrow figure, where it takes up to half of the width; twice as many in a
# wide one.
_LABEL_LETTERS = 24
# Letters of a name in a legend: a line of a narrow figure, or half of one in a wide figure.
_LEGEND_LETTERS = 44
# Letters of the longest name that leaves room for three of them in a line of a wide figure.
_THIRD_LETTERS = 28


Series = Mapping[str, Mapping[str, Mean]]
"""Model -> value of a stratum -> mean."""


def line_figure(
    series: Series,
    value_names: Sequence[str],
    picture_file: Path,
    *,
    figure_width: float,
    axis_label: str,
    time_label: str = "",
    marked_values: Mapping[str, str] | None = None,
    chance_series: Series | None = None,
) -> None:
    """Draw means over time: a line for each model, with its interval shaded.

    `axis_label`, `time_label`: what stands beside the means, and below the values.
    `marked_values`: model -> value behind which a dashed line of its colour stands.
    `chance_series`: the score of choosing at random, dotted. The colour of a model depends on its
    position alone, so that it is the same in a figure where the model before has no points. Lines
    that lie on each other are dashed from the second on, so that all are seen. Points of fewer than
    `FEWEST` rows are hollow.
    """

    def make() -> Any:
        # a narrow figure has a line of its legend for each model
        figure_height = 3.5 if figure_width > 5 else 3.2 + 0.19 * len(series)
        figure, panel = _panel(figure_width, figure_height)
        has_few_rows = False
        for model_number, (model_name, points_by_value) in enumerate(series.items()):
            colour, marker = _look(model_number)
            value_places = [
                place_number
                for place_number, value in enumerate(value_names)
                if value in points_by_value
            ]
            if not value_places:
                continue
            low_ends, mean_percents, high_ends = zip(
                *(
                    _ends(points_by_value[value_names[place_number]])
                    for place_number in value_places
                ),
                strict=True,
            )
            panel.fill_between(
                value_places, low_ends, high_ends, color=colour, alpha=0.16, linewidth=0
            )
            line_dashes = _dashes_over(list(series.values())[:model_number], points_by_value)
            panel.plot(
                value_places,
                mean_percents,
                color=colour,
                marker=marker,
                markersize=_marker_size(model_number, len(series)),
                linestyle=line_dashes,
                linewidth=1.6,
                label=model_name,
            )
            few_points = [
                (place_number, 100 * mean.mean)
                for place_number, mean in enumerate(map(points_by_value.get, value_names))
                if mean and mean.n < FEWEST
            ]
            if few_points:
                panel.plot(
                    *zip(*few_points, strict=True),
                    color=colour,
                    marker=marker,
                    markersize=_marker_size(model_number, len(series)),
                    markerfacecolor="white",
                    linestyle="none",
                )
            has_few_rows = has_few_rows or bool(few_points)
            chance_means = (chance_series or {}).get(model_name, {})
            chance_points = [
                (place_number, 100 * chance_means[value_name].mean)
                for place_number, value_name in enumerate(value_names)
                if value_name in chance_means
            ]
            if chance_points:
                panel.plot(*zip(*chance_points, strict=True), color=colour, linestyle=":")
        if chance_series:
            panel.plot([], [], color=INK, linestyle=":", label=_CHANCE)
        _mark_values(panel, list(series), value_names, marked_values or {})
        if set((marked_values or {}).values()) & set(value_names):
            panel.axvline(-1, color=INK, linestyle=_DASHED, linewidth=1.2, label=_MARKED)
        if _has_interval(series):
            panel.fill_between([], [], [], color=INK, alpha=0.16, linewidth=0, label=_INTERVAL)
        if has_few_rows:
            hollow_style = {"marker": "o", "markersize": 3.6, "markerfacecolor": "white"}
            hollow_label = _FEW_ROWS.format(FEWEST)
            panel.plot([], [], color=INK, linestyle="none", label=hollow_label, **hollow_style)
        panel.set_ylim(-4, 104)  # room for a marker at either end
        panel.set_xlim(-0.5, len(value_names) - 0.5)
        tick_step = -(-len(value_names) // (14 if figure_width > 5 else 7))
        panel.set_xticks(
            range(0, len(value_names), tick_step), value_names[::tick_step], rotation=45, ha="right"
        )
        for label_text in panel.get_xticklabels():
            label_text.set_rotation_mode("anchor")
        panel.set_ylabel(axis_label, color=INK)
        panel.set_xlabel(time_label, color=INK)
        return _finished(figure, panel, "y", figure_width)

    save_figure(picture_file, make)


def _dashes_over(
    series_before: Sequence[Mapping[str, Mean]], points_by_value: Mapping[str, Mean]
) -> Any:
    """Return the style of a line: solid, or dashed where it lies on lines that are drawn before.

    Two lines lie on each other where two of their points do.
    """
    covered_count = 0
    for points_before in series_before:
        shared_count = sum(
            value in points_before
            and abs(points_before[value].mean - mean.mean) * 100 < _SAME_HEIGHT
            for value, mean in points_by_value.items()
        )
        covered_count += shared_count > 1
    return _OVER_OTHERS[min(covered_count, len(_OVER_OTHERS)) - 1] if covered_count else "solid"


def _marker_size(model_number: int, model_count: int) -> float:
    """Return the size of a model's markers in points: those that are drawn first are largest, and
    stand out behind later ones in the same place."""
    return 3.6 + min(1.4, 4.2 / model_count) * (model_count - 1 - model_number)


def _mark_values(
    panel: Any,
    model_names: Sequence[str],
    value_names: Sequence[str],
    marked_values: Mapping[str, str],
) -> None:
    """Draw the dashed line of each model behind its value; those in one place take turns."""
    models_by_value: dict[str, list[int]] = {}
    for model_number, model_name in enumerate(model_names):
        if marked_values.get(model_name) in value_names:
            models_by_value.setdefault(marked_values[model_name], []).append(model_number)
    dash, gap = _DASHED[1]
    for last_value, model_numbers in models_by_value.items():
        turn_length = (dash + gap) * len(model_numbers)
        for turn, model_number in enumerate(model_numbers):
            line_pattern = (-(dash + gap) * turn % turn_length, (dash, turn_length - dash))
            panel.axvline(
                value_names.index(last_value) + 0.5,
                color=_look(model_number)[0],
                linestyle=line_pattern,
                linewidth=1.2,
            )


def dot_figure(
    series: Series,
    value_names: Mapping[str, str],
    picture_file: Path,
    *,
    figure_width: float,
    axis_label: str,
    chance_series: Series | None = None,
) -> None:
    """Draw means of values that have no order: a dot for each model, with its interval.

    `value_names`: value -> its label; `chance_series` as of `line_figure`.
    """

    def make() -> Any:
        tall = 0.2 + 0.15 * len(series)
        figure, panel = _panel(figure_width, 1.0 + tall * len(value_names))
        for model_number, (model_name, points_by_value) in enumerate(series.items()):
            colour, marker = _look(model_number)
            shift = (model_number - (len(series) - 1) / 2) * 0.7 / len(series)
            dot_rows = [
                (place_number + shift, *_ends(points_by_value[value_name]))
                for place_number, value_name in enumerate(value_names)
                if value_name in points_by_value
            ]
            if not dot_rows:
                continue
            row_heights, low_ends, mean_percents, high_ends = zip(*dot_rows, strict=True)
            panel.hlines(row_heights, low_ends, high_ends, color=colour, linewidth=1.6)
            dot_style = {"marker": marker, "markersize": 4.2, "linestyle": "none"}
            panel.plot(mean_percents, row_heights, color=colour, label=model_name, **dot_style)
            chance_means = (chance_series or {}).get(model_name, {})
            for place_number, value in enumerate(value_names):
                if value in chance_means:
                    chance_percent, row_height = (
                        100 * chance_means[value].mean,
                        place_number + shift,
                    )
                    panel.vlines(
                        chance_percent,
                        row_height - 0.09,
                        row_height + 0.09,
                        color=colour,
                        linewidth=3,
                    )
        if chance_series:
            panel.plot([], [], color=INK, marker="|", linestyle="none", label=_CHANCE)
        if _has_interval(series):
            panel.plot([], [], color=INK, linewidth=1.6, label=_INTERVAL)
        panel.set_xlim(-2, 102)
        panel.set_ylim(len(value_names) - 0.4, -0.6)
        panel.set_yticks(
            range(len(value_names)),
            [_short(label_text, figure_width) for label_text in value_names.values()],
        )
        panel.set_xlabel(axis_label, color=INK)
        return _finished(figure, panel, "x", figure_width)

    save_figure(picture_file, make)


def _look(model_number: int) -> tuple[str, str]:
    """Return the colour and the marker of a model."""
    return COLOURS[model_number % len(COLOURS)], _MARKERS[model_number % len(_MARKERS)]


def _has_interval(series: Series) -> bool:
    for points_by_value in series.values():
        if any(mean.low is not None for mean in points_by_value.values()):
            return True
    return False


def _ends(mean: Mean) -> tuple[float, float, float]:
    """Return low, mean and high in per cent; all three are the mean where there is no interval."""
    low_end, high_end = (
        mean.mean if interval_end is None else interval_end
        for interval_end in (mean.low, mean.high)
    )
    return 100 * low_end, 100 * mean.mean, 100 * high_end


def _panel(figure_width: float, figure_height: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(figure_width, figure_height), facecolor="white", layout="constrained")
    return figure, figure.subplots()


def _finished(figure: Any, panel: Any, mean_axis: str, figure_width: float) -> Any:
    for spine_side in ("top", "right", "left" if mean_axis == "y" else "bottom"):
        panel.spines[spine_side].set_visible(False)
    panel.grid(axis=mean_axis, color=FAINT, linewidth=0.6)
    panel.set_axisbelow(True)
    panel.tick_params(length=0, colors=INK)
    (panel.set_yticks if mean_axis == "y" else panel.set_xticks)(range(0, 101, 25))
    handles, label_texts = panel.get_legend_handles_labels()
    label_texts = [_cut_label(legend_label, _LEGEND_LETTERS) for legend_label in label_texts]
    column_count = 1
    if figure_width > 5:
        column_count = 2 if max(map(len, label_texts), default=0) > _THIRD_LETTERS else 3
    legend_place = {"loc": "outside upper left", "ncols": column_count}
    figure.legend(handles, label_texts, frameon=False, **legend_place)
    return figure


def _short(label_text: str, figure_width: float) -> str:
    return _cut_label(label_text, _LABEL_LETTERS if figure_width < 5 else 2 * _LABEL_LETTERS)


def _cut_label(label_text: str, most_letters: int) -> str:
    flat_text = " ".join(label_text.split())
    return flat_text if len(flat_text) <= most_letters else flat_text[: most_letters - 1] + "…"
