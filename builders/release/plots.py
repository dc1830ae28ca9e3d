"""Draw the plots of cards: with the same matplotlib, the same data give the same PNG bytes."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from factdrift.builders.core.dataset import Plot

# twice the 72 points of an inch, for screens of high resolution
_DPI = 144
# inches; the card shows it as wide as its text
_WIDTH = 8.0
INK = "#222222"
FAINT = "#d9d9d9"
# Colours of Okabe and Ito, told apart with every common colour blindness.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def draw_plot(card_plot: Plot, picture_path: Path) -> None:
    """Write one plot as PNG on white; no clock, no software name in the file."""
    save_figure(
        picture_path,
        lambda: period_plot(card_plot) if card_plot.kind == "periods" else _bars(card_plot.data),
    )


def save_figure(picture_path: Path, make_figure: Callable[[], Any]) -> None:
    """Write the figure that a function makes, in the project's look, whatever the user's is."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    with mpl.rc_context():
        mpl.rcdefaults()  # whatever the user's matplotlibrc says
        mpl.rcParams.update(
            # the font that matplotlib brings along: the same letters on every machine
            {"font.family": "DejaVu Sans", "font.size": 9.0, "text.parse_math": False}
        )
        figure = make_figure()
        figure.dpi = _DPI
        picture_path.parent.mkdir(parents=True, exist_ok=True)
        # `savefig` would lay out and draw everything twice
        canvas: Any = FigureCanvasAgg(figure)
        canvas.print_png(picture_path, metadata={"Software": None})


def period_plot(card_plot: Plot) -> Any:
    """Draw a panel for each series, each with its own scale, so that small counts show."""
    from matplotlib.figure import Figure

    plot_data = card_plot.data
    period_names = list(
        dict.fromkeys(period for period_counts in plot_data.values() for period in period_counts)
    )
    bar_places = range(len(period_names))
    figure = Figure(
        figsize=(_WIDTH, 0.7 + 1.25 * len(plot_data)), facecolor="white", layout="constrained"
    )
    plot_panels = figure.subplots(max(len(plot_data), 1), 1, sharex=True, squeeze=False)[:, 0]
    expected_lines = None
    for series_number, (panel, (series_name, period_counts)) in enumerate(
        zip(plot_panels, plot_data.items(), strict=False)
    ):
        bar_heights = [period_counts.get(period, 0) for period in period_names]
        panel.bar(bar_places, bar_heights, width=0.72, color=COLOURS[series_number % len(COLOURS)])
        series_total = sum(bar_heights)
        panel_title = f"{series_name}: {series_total:,} {card_plot.unit}"
        panel.set_title(panel_title, loc="left", fontsize=10, color=INK)
        expected_means = [
            card_plot.expected.get(series_name, {}).get(period, 0.0) for period in period_names
        ]
        if any(expected_means):
            line_starts, line_ends = (
                [period_name - 0.48 for period_name in bar_places],
                [period_name + 0.48 for period_name in bar_places],
            )
            expected_lines = panel.hlines(
                expected_means, line_starts, line_ends, color=INK, linewidth=1.3
            )
        panel.set_ylim(0, max([*bar_heights, *expected_means, 1]) * 1.28)
        panel.set_xlim(-0.6, max(len(period_names), 1) - 0.4)
        if len(period_names) <= 16:
            for bar_place, bar_height, expected_mean in zip(
                bar_places, bar_heights, expected_means, strict=True
            ):
                label_position, label_style = (
                    (bar_place, max(bar_height, expected_mean)),
                    {"fontsize": 7.5, "color": INK},
                )
                label_shift = {"xytext": (0, 2), "textcoords": "offset points", "ha": "center"}
                bar_label = panel.annotate(
                    f"{bar_height:,}", label_position, **label_shift, **label_style
                )
                # it stands inside its panel, and to measure it takes a tenth of the drawing
                bar_label.set_in_layout(False)
        _plain(panel, "y")
    if expected_lines:
        figure.legend([expected_lines], ["expected"], loc="outside upper right", frameon=False)
    tick_step = -(-len(period_names) // 16) or 1
    turned_labels = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    plot_panels[-1].set_xticks(
        list(bar_places)[::tick_step],
        period_names[::tick_step],
        **(turned_labels if len(period_names) > 10 else {}),
    )
    return figure


def _bars(plot_data: Mapping[str, Mapping[str, int]]) -> Any:
    """Draw horizontal bars on a logarithmic scale: a group for each label, a bar for each part."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    part_names = list(
        dict.fromkeys(
            part_name for period_counts in plot_data.values() for part_name in period_counts
        )
    )
    row_height = 0.26 * max(len(part_names), 1)
    figure_height = 0.9 + (row_height + 0.14) * max(len(plot_data), 1)
    figure = Figure(figsize=(_WIDTH, figure_height), facecolor="white", layout="constrained")
    panel = figure.subplots()
    bar_thickness = 0.82 / max(len(part_names), 1)
    for part_number, part_name in enumerate(part_names):
        bar_places = [
            row_number + (part_number - (len(part_names) - 1) / 2) * bar_thickness
            for row_number in range(len(plot_data))
        ]
        bar_widths = [period_counts.get(part_name, 0) for period_counts in plot_data.values()]
        bar_colour = COLOURS[part_number % len(COLOURS)]
        bar_values = [max(bar_width, 0.7) for bar_width in bar_widths]
        panel_bars = panel.barh(
            bar_places, bar_values, height=bar_thickness * 0.9, color=bar_colour, label=part_name
        )
        bar_labels = [f"{bar_width:,}" for bar_width in bar_widths]
        panel.bar_label(panel_bars, bar_labels, padding=3, fontsize=7, color=INK)
    highest_count = max(
        [
            part_count
            for period_counts in plot_data.values()
            for part_count in period_counts.values()
        ]
        or [1]
    )
    # counts of a few and of millions side by side; none is drawn as a sliver
    panel.set_xscale("log")
    panel.set_xlim(0.7, max(highest_count, 10) * 3)
    panel.xaxis.set_major_formatter(FuncFormatter(lambda tick_value, _: f"{tick_value:,.0f}"))
    panel.set_xlabel("rows, logarithmic scale", color=INK)
    panel.set_yticks(range(len(plot_data)), [_short(row_label) for row_label in plot_data])
    panel.set_ylim(len(plot_data) - 0.4, -0.6)
    if len(part_names) > 1:
        figure.legend(
            *panel.get_legend_handles_labels(),
            loc="outside upper right",
            ncols=len(part_names),
            frameon=False,
        )
    _plain(panel, "x")
    return figure


def _plain(panel: Any, counted_axis: str) -> None:
    """Style a panel: faint lines along the counted axis, whole numbers with thousands marked."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    for spine_side in ("top", "right", "left" if counted_axis == "y" else "bottom"):
        panel.spines[spine_side].set_visible(False)
    panel.grid(axis=counted_axis, color=FAINT, linewidth=0.6)
    panel.set_axisbelow(True)
    panel.tick_params(length=0, colors=INK)
    panel.tick_params(which="minor", length=0)
    if counted_axis == "y":
        panel.yaxis.set_major_locator(MaxNLocator(3, integer=True))
        panel.yaxis.set_major_formatter(FuncFormatter(lambda tick_value, _: f"{tick_value:,.0f}"))


def _short(row_label: str) -> str:
    flat_label = " ".join(row_label.split())
    return flat_label if len(flat_label) <= 42 else flat_label[:41] + "…"
