"""The plans by which layouts accept work, in words, with the chance that each refuses somebody."""

from pathlib import Path

from factdrift.annotation.layout import FOLDER, Layout, layout_names, load_layout
from factdrift.annotation.quality.sampling import acceptance_plan, plan_in_words

_USUAL_BATCH = 400
"""Judgments of the batch that a list of layouts speaks of: what one good annotator may do."""


def plan_lines(layout: Layout, judgment_count: int) -> list[str]:
    """Lines on the plan of a layout for a batch of so many judgments; none without a sample."""
    if layout.rule.by != "sampled" or not judgment_count:
        return []
    whole_plan = acceptance_plan(layout.rule, judgment_count, judgment_count)
    hit_size = min(layout.items_per_hit, judgment_count)
    hit_plan = acceptance_plan(layout.rule, hit_size, judgment_count, is_one_hit=True)
    return [
        f"who does all {judgment_count:,}: {plan_in_words(whole_plan)}",
        f"who does one HIT of {hit_size}: {plan_in_words(hit_plan)}",
    ]


def layout_plans(layouts_folder: Path | None = None) -> list[str]:
    """The plans of the layouts of a folder, or of one layout, by default of ours."""
    root_folder = layouts_folder or FOLDER
    layout_folders = [root_folder / layout_name for layout_name in layout_names(root_folder)]
    if (root_folder / "layout.yaml").is_file():
        layout_folders = [root_folder]
    layout_lines = []
    for layout_folder in layout_folders:
        layout = load_layout(layout_folder.resolve())
        layout_lines += [
            f"{layout.name}: {plan_line}" for plan_line in plan_lines(layout, _USUAL_BATCH)
        ]
    return layout_lines
