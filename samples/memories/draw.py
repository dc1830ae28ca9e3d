"""A picture of what memories answer: right, early, outdated or else, asked at once and afterwards.

    python samples/memories/draw.py OUT.png SCORES…

`SCORES`: folders that `factdrift score` made of predictions for `as-of`; so `docs/memories.png` was
drawn.
"""

import json
import sys
from pathlib import Path
from typing import Any

from factdrift.builders.release.plots import COLOURS, INK, save_figure

_PARTS = {"right": "exact_match", "early": "early", "outdated": "outdated"}
_ASKED = {"no": "nothing newer heard", "yes": "something newer heard"}


def picture(folders: list[Path]) -> Any:
    """Bars of shares in per cent, one a memory and kind of question."""
    from matplotlib.figure import Figure

    found: dict[str, dict[str, float]] = {}
    for folder in folders:
        table = json.loads((folder / "scores.json").read_text("utf-8"))["table"]
        for value, label in _ASKED.items():
            counts = {
                one["metric"]: (one["n"], one["n"] * one["mean"])
                for one in table
                if (one["config"], one["split"]) == ("questions", None)
                and (one["stratum"], one["value"]) == ("superseded", value)
            }
            rows = counts["exact_match"][0]
            found[f"{folder.name}: {label}"] = {
                part: 100 * counts[metric][1] / rows for part, metric in _PARTS.items()
            }
    figure = Figure(figsize=(8, 0.8 + 0.45 * len(found)), facecolor="white", layout="constrained")
    panel = figure.subplots()
    left_edge = [0.0] * len(found)
    for colour, part in zip(COLOURS, _PARTS, strict=False):
        widths = [shares[part] for shares in found.values()]
        panel.barh(range(len(found)), widths, left=left_edge, height=0.62, color=colour, label=part)
        for row, (start, width) in enumerate(zip(left_edge, widths, strict=True)):
            if width >= 4:
                place = start + width / 2
                panel.text(place, row, f"{width:.0f}", color="white", ha="center", va="center")
        left_edge = [a + b for a, b in zip(left_edge, widths, strict=True)]
    panel.set_yticks(range(len(found)), list(found), color=INK)
    panel.set_ylim(len(found) - 0.4, -0.6)
    panel.set_xlim(0, 100)
    panel.set_xlabel("per cent of questions", color=INK)
    for side in ("top", "right", "left"):
        panel.spines[side].set_visible(False)
    panel.tick_params(length=0)
    handles = panel.get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper right", ncols=len(_PARTS), frameon=False)
    return figure


if __name__ == "__main__":
    save_figure(Path(sys.argv[1]), lambda: picture([Path(folder) for folder in sys.argv[2:]]))
