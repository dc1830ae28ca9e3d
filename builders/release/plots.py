"""Pictures for cards: the same data give the same PNG bytes under the same matplotlib."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from factdrift.builders.core.dataset import Plot

_DPI = 144
_WIDTH = 8.0
INK = "#222222"
FAINT = "#d9d9d9"
# Colours of Okabe and Ito, told apart with every common colour blindness.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def draw_plot(plot: Plot, path: Path) -> None:
    """Write one plot as PNG on white; no clock, no software name in the file."""
    save_figure(path, lambda: period_plot(plot) if plot.kind == "periods" else _bars(plot.data))


def save_figure(path: Path, make: Callable[[], Any]) -> None:
    """Write the figure that a function makes, in the project's look, whatever the user's is."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    with mpl.rc_context():
        mpl.rcdefaults()  # whatever the user's matplotlibrc says
        mpl.rcParams.update(
            {"font.family": "DejaVu Sans", "font.size": 9.0, "text.parse_math": False}
        )
        figure = make()
        FigureCanvasAgg(figure)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="png", dpi=_DPI, metadata={"Software": None})


def period_plot(plot: Plot) -> Any:
    """One panel a series below each other, each with its own scale, so that small ones show."""
    from matplotlib.figure import Figure

    data = plot.data
    periods = list(dict.fromkeys(period for counts in data.values() for period in counts))
    places = range(len(periods))
    figure = Figure(
        figsize=(_WIDTH, 0.7 + 1.25 * len(data)), facecolor="white", layout="constrained"
    )
    panels = figure.subplots(max(len(data), 1), 1, sharex=True, squeeze=False)[:, 0]
    for number, (panel, (series, counts)) in enumerate(zip(panels, data.items(), strict=False)):
        heights = [counts.get(period, 0) for period in periods]
        panel.bar(places, heights, width=0.72, color=COLOURS[number % len(COLOURS)])
        total = sum(heights)
        title = f"{series}: {total:,} {plot.unit}"
        panel.set_title(title, loc="left", fontsize=10, color=INK)
        means = [plot.expected.get(series, {}).get(period, 0.0) for period in periods]
        if any(means):
            low, high = (
                [period_name - 0.48 for period_name in places],
                [period_name + 0.48 for period_name in places],
            )
            panel.hlines(means, low, high, color=INK, linewidth=1.3)
        panel.set_ylim(0, max([*heights, *means, 1]) * 1.28)
        panel.set_xlim(-0.6, max(len(periods), 1) - 0.4)
        if len(periods) <= 16:
            for place, height, mean in zip(places, heights, means, strict=True):
                positions, more = (place, max(height, mean)), {"fontsize": 7.5, "color": INK}
                shift = {"xytext": (0, 2), "textcoords": "offset points", "ha": "center"}
                panel.annotate(f"{height:,}", positions, **shift, **more)
        _plain(panel, "y")
    step = -(-len(periods) // 16) or 1
    turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    panels[-1].set_xticks(
        list(places)[::step], periods[::step], **(turned if len(periods) > 10 else {})
    )
    return figure


def _bars(data: Mapping[str, Mapping[str, int]]) -> Any:
    """Horizontal bars on a logarithmic scale, one a part, beside each other within a label."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    parts = list(dict.fromkeys(part for counts in data.values() for part in counts))
    tall = 0.26 * max(len(parts), 1)
    height = 0.9 + (tall + 0.14) * max(len(data), 1)
    figure = Figure(figsize=(_WIDTH, height), facecolor="white", layout="constrained")
    panel = figure.subplots()
    thick = 0.82 / max(len(parts), 1)
    for number, part in enumerate(parts):
        places = [row + (number - (len(parts) - 1) / 2) * thick for row in range(len(data))]
        widths = [counts.get(part, 0) for counts in data.values()]
        colour = COLOURS[number % len(COLOURS)]
        bar_values = [max(width, 0.7) for width in widths]
        bars = panel.barh(places, bar_values, height=thick * 0.9, color=colour, label=part)
        labels = [f"{width:,}" for width in widths]
        panel.bar_label(bars, labels, padding=3, fontsize=7, color=INK)
    most = max([position for counts in data.values() for position in counts.values()] or [1])
    panel.set_xscale("log")
    panel.set_xlim(0.7, max(most, 10) * 3)
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    panel.set_xlabel("rows, logarithmic scale", color=INK)
    panel.set_yticks(range(len(data)), [_short(label) for label in data])
    panel.set_ylim(len(data) - 0.4, -0.6)
    if len(parts) > 1:
        figure.legend(
            *panel.get_legend_handles_labels(),
            loc="outside upper right",
            ncols=len(parts),
            frameon=False,
        )
    _plain(panel, "x")
    return figure


def _plain(panel: Any, axis: str) -> None:
    """White panel, faint lines along the counted axis, whole numbers with thousands marked."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    for side in ("top", "right", "left" if axis == "y" else "bottom"):
        panel.spines[side].set_visible(False)
    panel.grid(axis=axis, color=FAINT, linewidth=0.6)
    panel.set_axisbelow(True)
    panel.tick_params(length=0, colors=INK)
    panel.tick_params(which="minor", length=0)
    if axis == "y":
        panel.yaxis.set_major_locator(MaxNLocator(3, integer=True))
        panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def _short(label: str) -> str:
    flat = " ".join(label.split())
    return flat if len(flat) <= 42 else flat[:41] + "…"
