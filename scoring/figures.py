"""Figures of scores: the same scores give the same PNG bytes under the same matplotlib."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from factdrift.builders.release.plots import COLOURS, FAINT, INK, save_figure
from factdrift.scoring.score import Mean

WIDTHS = {"wide": 8.0, "phone": 4.0}
"""Inches; a phone shows the second one."""
_MARKERS = "osD^vP"
_CHANCE = "chance"
_MOST = 24
"""Letters of a label."""


Series = Mapping[str, Mapping[str, Mean]]
"""Model -> value of a stratum -> mean."""


def line_figure(
    series: Series,
    values: Sequence[str],
    path: Path,
    *,
    width: float,
    label: str,
    marks: Mapping[str, str] | None = None,
    chance: Series | None = None,
) -> None:
    """Means over time, a line a model with its interval shaded.

    `marks`: model -> value behind which a dashed line of its colour stands; `chance`: what choosing
    at random gives, dotted. A model's colour is that of its place, also where it has no points.
    """

    def make() -> Any:
        figure, panel = _panel(width, 3.2 if width > 5 else 2.9)
        for number, (model, points) in enumerate(series.items()):
            colour, marker = _look(number)
            value_places = [
                place_number for place_number, value in enumerate(values) if value in points
            ]
            if not value_places:
                continue
            low, means, high = zip(
                *(_ends(points[values[place_number]]) for place_number in value_places), strict=True
            )
            panel.fill_between(value_places, low, high, color=colour, alpha=0.16, linewidth=0)
            panel.plot(
                value_places,
                means,
                color=colour,
                marker=marker,
                markersize=3.6,
                linewidth=1.6,
                label=model,
            )
            mark = (marks or {}).get(model)
            if mark in values:
                place = values.index(mark) + 0.5
                panel.axvline(place, color=colour, linestyle=(0, (4, 3)), linewidth=1.2)
            random = (chance or {}).get(model, {})
            chance_points = [
                (place_number, 100 * random[value_name].mean)
                for place_number, value_name in enumerate(values)
                if value_name in random
            ]
            if chance_points:
                panel.plot(*zip(*chance_points, strict=True), color=colour, linestyle=":")
        if chance:
            panel.plot([], [], color=INK, linestyle=":", label=_CHANCE)
        panel.set_ylim(-2, 102)
        panel.set_xlim(-0.5, len(values) - 0.5)
        step = -(-len(values) // (14 if width > 5 else 7))
        panel.set_xticks(range(0, len(values), step), values[::step], rotation=45, ha="right")
        for text in panel.get_xticklabels():
            text.set_rotation_mode("anchor")
        panel.set_ylabel(label, color=INK)
        return _finished(figure, panel, "y", width)

    save_figure(path, make)


def dot_figure(
    series: Series,
    values: Mapping[str, str],
    path: Path,
    *,
    width: float,
    label: str,
    chance: Series | None = None,
) -> None:
    """Means of values that have no order, a dot a model with its interval.

    `values`: value -> its label; `chance` as of `lines`.
    """

    def make() -> Any:
        tall = 0.2 + 0.15 * len(series)
        figure, panel = _panel(width, 1.0 + tall * len(values))
        for number, (model, points) in enumerate(series.items()):
            colour, marker = _look(number)
            shift = (number - (len(series) - 1) / 2) * 0.7 / len(series)
            rows = [
                (place_number + shift, *_ends(points[value_name]))
                for place_number, value_name in enumerate(values)
                if value_name in points
            ]
            if not rows:
                continue
            places, low, means, high = zip(*rows, strict=True)
            panel.hlines(places, low, high, color=colour, linewidth=1.6)
            dot = {"marker": marker, "markersize": 4.2, "linestyle": "none"}
            panel.plot(means, places, color=colour, label=model, **dot)
            random = (chance or {}).get(model, {})
            for place_number, value in enumerate(values):
                if value in random:
                    chance_percent, row_height = 100 * random[value].mean, place_number + shift
                    panel.vlines(
                        chance_percent,
                        row_height - 0.09,
                        row_height + 0.09,
                        color=colour,
                        linewidth=3,
                    )
        if chance:
            panel.plot([], [], color=INK, marker="|", linestyle="none", label=_CHANCE)
        panel.set_xlim(-2, 102)
        panel.set_ylim(len(values) - 0.4, -0.6)
        panel.set_yticks(range(len(values)), [_short(text, width) for text in values.values()])
        panel.set_xlabel(label, color=INK)
        return _finished(figure, panel, "x", width)

    save_figure(path, make)


def _look(number: int) -> tuple[str, str]:
    """Colour and marker of a model."""
    return COLOURS[number % len(COLOURS)], _MARKERS[number % len(_MARKERS)]


def _ends(mean: Mean) -> tuple[float, float, float]:
    """The interval with the mean in it, in per cent; the mean alone where there is none."""
    low, high = (mean.mean if end is None else end for end in (mean.low, mean.high))
    return 100 * low, 100 * mean.mean, 100 * high


def _panel(width: float, height: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), facecolor="white", layout="constrained")
    return figure, figure.subplots()


def _finished(figure: Any, panel: Any, axis: str, width: float) -> Any:
    for side in ("top", "right", "left" if axis == "y" else "bottom"):
        panel.spines[side].set_visible(False)
    panel.grid(axis=axis, color=FAINT, linewidth=0.6)
    panel.set_axisbelow(True)
    panel.tick_params(length=0, colors=INK)
    (panel.set_yticks if axis == "y" else panel.set_xticks)(range(0, 101, 25))
    handles, names = panel.get_legend_handles_labels()
    names = [_short(name, width) for name in names]
    place = {"loc": "outside upper left", "ncols": 3 if width > 5 else 1}
    figure.legend(handles, names, frameon=False, **place)
    return figure


def _short(text: str, width: float) -> str:
    most = _MOST if width < 5 else 2 * _MOST
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: most - 1] + "…"
