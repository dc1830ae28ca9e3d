"""The page of results that were shared: tables and curves, built from the folders in docs/results.

A test checks that the answers give the figures (`factdrift results`); here they are only shown.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

from factdrift.builders.release.card import escape_markdown
from factdrift.scoring.figures import WIDTHS, line_figure
from factdrift.scoring.report import TIMES
from factdrift.scoring.results import ANSWERS, SharedResults, read_results
from factdrift.scoring.score import Mean, sortable
from factdrift.scoring.summary import CHOSEN, percent_cell

WRITTEN = ("exact_match", "outdated")
FOLDER = Path(__file__).parent / "results"
INTRODUCTION = """# Results

Each line is a folder of `docs/results`: the raw answers of a model, how it was asked, and the
figures that follow, in per cent with 95 % intervals by subject. Figures of writing and of choosing
are not to be compared; the columns of a config have its rows alone. Lines that know nothing are a
floor; where one of them has a time at which its knowledge stops, it is that its answers are of
facts that held long.

`factdrift results RELEASE FOLDER` scores the answers again and refuses what differs. How a folder
is made and sent in stands in [Contributing](contributing.md#share-results).
"""


def releases() -> Iterator[tuple[str, list[tuple[Path, SharedResults]]]]:
    """Release -> the folders of its results, by their names."""
    folders = sorted(path.parent for path in FOLDER.glob(f"*/*/{ANSWERS}"))
    for release, some in groupby(folders, key=lambda folder: folder.parent.name):
        yield release, [(folder, read_results(folder)) for folder in some]


MANY = 12
"""Periods above which a curve shows years: some rows of each period say too little."""


def _curve_of(results: SharedResults, metric: str, years: bool) -> dict[str, Mean]:
    means = [m for m in results.table if m.metric == metric and m.stratum in TIMES]
    if not years:
        return {m.value: m for m in means}
    found = {}
    for year, some in groupby(sorted(means, key=lambda m: m.value), lambda m: m.value[:4]):
        parts = list(some)
        n = sum(m.n for m in parts)
        share = sum(m.n * m.mean for m in parts) / n
        found[year] = parts[0]._replace(value=year, n=n, mean=share, low=None, high=None)
    return found


def curve(every: Sequence[SharedResults], metric: str, width: float) -> bytes | None:
    """The picture of the curves by period; none where no model has two of them."""
    periods = {m.value for one in every for m in one.table if m.stratum in TIMES}
    series = {one.model: _curve_of(one, metric, len(periods) > MANY) for one in every}
    values = sorted({value for points in series.values() for value in points}, key=sortable)
    if len(values) < 2:
        return None
    with TemporaryDirectory() as scratch:
        path = Path(scratch) / "curve.png"
        line_figure(
            series,
            values,
            path,
            figure_width=width,
            axis_label=f"{metric.replace('_', ' ')}, per cent",
        )
        return path.read_bytes()


def pictures() -> Iterator[tuple[str, bytes]]:
    """Path in the documentation and bytes of every curve."""
    for release, some in releases():
        if found := curve([one for _, one in some], WRITTEN[0], WIDTHS["wide"]):
            yield f"results/{release}.png", found


def _table(some: Sequence[tuple[Path, SharedResults]], names: Sequence[str]) -> Iterator[str]:
    found = []
    for folder, one in some:
        overall = [mean for mean in one.table if mean.stratum == "all"]
        whole = None if any(mean.config is None for mean in overall) else overall[0].config
        means = {mean.metric: mean for mean in overall if mean.config == whole}
        parts = {m.config: m for m in overall if m.config != whole and m.metric == names[0]}
        if names[0] in means:
            found.append((folder, one, means, parts))
    shown = [name for name in names if any(name in means for *_, means, _ in found)]
    configs = list(dict.fromkeys(config for *_, parts in found for config in parts if config))
    if not found:
        return
    heads = [
        "model",
        "asked",
        *(name.replace("_", " ") for name in shown),
        *(f"of `{config}`" for config in configs),
        "knows what changed until",
    ]
    yield f"| {' | '.join(heads)} |"
    yield f"|:--|:--|{'--:|' * len(shown + configs)}:--|"
    for folder, one, means, parts in found:
        stop = one.knowledge
        until = f"{stop['last_known']} ({stop['low']} to {stop['high']})" if stop else "–"
        how = f"{means[names[0]].n:,} rows"
        for name in ("view", "limit"):
            how += f", {name} {one.asked[name]}" if one.asked.get(name) else ""
        place = f"results/{folder.parent.name}/{folder.name}/{ANSWERS}"
        code_version = escape_markdown(one.code_version)
        asked = f"[answers]({place}): {escape_markdown(how)}, factdrift {code_version}"
        cells = [percent_cell(means.get(name)).replace(" [", "<br>[") for name in shown]
        cells += [percent_cell(parts.get(config)).partition(" [")[0] for config in configs]
        cells = [escape_markdown(one.model), asked, *cells, escape_markdown(until)]
        yield f"| {' | '.join(cells)} |"
    yield ""


def page() -> str:
    """The page as Markdown."""
    made = [INTRODUCTION]
    drawn = {path for path, _ in pictures()}
    for release, some in releases():
        made += [f"## {release}", "", *_table(some, WRITTEN), *_table(some, CHOSEN)]
        if (picture := f"results/{release}.png") in drawn:
            made += [f"![Exact match by period]({picture})", ""]
    return "\n".join(made)
