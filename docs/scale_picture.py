"""A picture of what the whole costs, drawn from the table of SCALE.md: it says nothing else."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from factdrift.builders.release.plots import COLOURS, INK, save_figure

TABLE = Path(__file__).parents[1] / "SCALE.md"
# `| mine a dump, two processes | … | **1,700 GB of JSON**: 2.4 h of processor, …`
_WHOLE = re.compile(r"^\| ([^|]+?) \|.*\*\*([^*]+)\*\*: ([\d.]+) (h|min) of processor", re.M)
_MINUTES = {"h": 60.0, "min": 1.0}


def processor_minutes() -> dict[str, float]:
    """Each step with the size of the whole -> minutes of processor that it takes."""
    minutes = {}
    for step, size, number, unit in _WHOLE.findall(TABLE.read_text("utf-8")):
        minutes[f"{step.replace('`', '').partition(',')[0]}\n{size}"] = (
            float(number) * _MINUTES[unit]
        )
    return minutes


def _duration(minutes: float) -> str:
    return f"{minutes / 60:.1f} h" if minutes >= 60 else f"{minutes:.0f} min"


def draw() -> bytes:
    """The picture as PNG."""
    minutes = processor_minutes()

    def make() -> Any:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8.0, 0.6 * len(minutes) + 0.5), layout="constrained")
        panel = figure.subplots()
        bars = panel.barh(list(minutes), list(minutes.values()), color=COLOURS[0], height=0.6)
        labels = list(map(_duration, minutes.values()))
        panel.bar_label(bars, labels, padding=4, color=INK)
        panel.invert_yaxis()
        panel.set_xlim(0, max(minutes.values()) * 1.15)
        panel.set_xticks([])
        panel.tick_params(length=0, colors=INK)
        for side in ("top", "right", "bottom"):
            panel.spines[side].set_visible(False)
        return figure

    with TemporaryDirectory() as scratch:
        path = Path(scratch) / "scale.png"
        save_figure(path, make)
        return path.read_bytes()
