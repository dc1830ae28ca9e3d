"""Draw figures of scores: with the same matplotlib, the same scores give the same PNG bytes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from factdrift.builders.release.plots import COLOURS, FAINT, INK, save_figure
from factdrift.scoring.score import Mean

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
    marked_values: Mapping[str, str] | None = None,
    chance_series: Series | None = None,
) -> None:
    """Draw means over time: a line for each model, with its interval shaded.

    `marked_values`: model -> value behind which a dashed line of its colour stands.
    `chance_series`: the score of choosing at random, dotted. The colour of a model depends on its
    position alone, so that it is the same in a figure where the model before has no points.
    """

    def make() -> Any:
        # a narrow figure has a line of its legend for each model
        figure_height = 3.2 if figure_width > 5 else 2.5 + 0.19 * len(series)
        figure, panel = _panel(figure_width, figure_height)
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
            panel.plot(
                value_places,
                mean_percents,
                color=colour,
                marker=marker,
                markersize=3.6,
                linewidth=1.6,
                label=model_name,
            )
            last_value = (marked_values or {}).get(model_name)
            if last_value in value_names:
                mark_place = value_names.index(last_value) + 0.5
                panel.axvline(mark_place, color=colour, linestyle=_DASHED, linewidth=1.2)
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
        if set((marked_values or {}).values()) & set(value_names):
            panel.axvline(-1, color=INK, linestyle=_DASHED, linewidth=1.2, label=_MARKED)
        if _has_interval(series):
            panel.fill_between([], [], [], color=INK, alpha=0.16, linewidth=0, label=_INTERVAL)
        panel.set_ylim(-2, 102)
        panel.set_xlim(-0.5, len(value_names) - 0.5)
        tick_step = -(-len(value_names) // (14 if figure_width > 5 else 7))
        panel.set_xticks(
            range(0, len(value_names), tick_step), value_names[::tick_step], rotation=45, ha="right"
        )
        for label_text in panel.get_xticklabels():
            label_text.set_rotation_mode("anchor")
        panel.set_ylabel(axis_label, color=INK)
        return _finished(figure, panel, "y", figure_width)

    save_figure(picture_file, make)


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
