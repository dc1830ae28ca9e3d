"""The page of results that were shared: tables and curves, built from the folders in docs/results.

A test checks that the answers give the figures (`factdrift results`); here they are only shown.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, Self

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
    """Yield each release with the folders of its results and what they hold, by name."""
    folders = sorted(path.parent for path in FOLDER.glob(f"*/*/{ANSWERS}"))
    for release, result_folders in groupby(folders, key=lambda folder: folder.parent.name):
        yield release, [(folder, read_results(folder)) for folder in result_folders]


MANY = 12
"""Periods above which a curve shows years: some rows of each period say too little."""


def _curve_of(results: SharedResults, metric: str, years: bool) -> dict[str, Mean]:
    """The means of a model by period, or by year with the rows of its periods as weights."""
    means = [mean for mean in results.table if mean.metric == metric and mean.stratum in TIMES]
    if not years:
        return {mean.value: mean for mean in means}
    by_year = {}
    means.sort(key=lambda mean: mean.value)
    for year, means_of_year in groupby(means, lambda mean: mean.value[:4]):
        parts = list(means_of_year)
        row_count = sum(part.n for part in parts)
        share = sum(part.n * part.mean for part in parts) / row_count
        by_year[year] = parts[0]._replace(value=year, n=row_count, mean=share, low=None, high=None)
    return by_year


def curve(shared: Sequence[SharedResults], metric: str, width: float) -> bytes | None:
    """Return the picture of the curves by period; None where no model has two periods."""
    periods: set[str] = set()
    for results in shared:
        periods.update(mean.value for mean in results.table if mean.stratum in TIMES)
    series = {}
    for results in shared:
        series[results.model] = _curve_of(results, metric, len(periods) > MANY)
    values = sorted(set().union(*series.values()), key=sortable)
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
    """Yield the path in the documentation and the bytes of every curve."""
    for release, shared in releases():
        picture = curve([results for _, results in shared], WRITTEN[0], WIDTHS["wide"])
        if picture:
            yield f"results/{release}.png", picture


class ModelResults(NamedTuple):
    """The results of one model: means over all rows by metric, and of the first by config."""

    folder: Path
    results: SharedResults
    means: dict[str, Mean]
    parts: dict[str | None, Mean]

    @classmethod
    def read(cls, folder: Path, results: SharedResults, metric: str) -> Self:
        """Choose the means over all rows; where one config is all there is, it is the whole."""
        overall = [mean for mean in results.table if mean.stratum == "all"]
        whole = None if any(mean.config is None for mean in overall) else overall[0].config
        means, parts = {}, {}
        for mean in overall:
            if mean.config == whole:
                means[mean.metric] = mean
            elif mean.metric == metric:
                parts[mean.config] = mean
        return cls(folder, results, means, parts)

    def settings(self, metric: str) -> str:
        """A link to the answers, and how the model was asked."""
        asked = self.results.asked
        text = f"{self.means[metric].n:,} rows"
        for name in ("view", "limit"):
            text += f", {name} {asked[name]}" if asked.get(name) else ""
        place = f"results/{self.folder.parent.name}/{self.folder.name}/{ANSWERS}"
        code_version = escape_markdown(self.results.code_version)
        return f"[answers]({place}): {escape_markdown(text)}, factdrift {code_version}"

    def knowledge(self) -> str:
        """The period until which the model knows what changed, with its interval."""
        stop = self.results.knowledge
        return f"{stop['last_known']} ({stop['low']} to {stop['high']})" if stop else "–"


def _table(shared: Sequence[tuple[Path, SharedResults]], names: Sequence[str]) -> Iterator[str]:
    """The lines of the table of the models that have the first of these metrics."""
    rows = [ModelResults.read(folder, results, names[0]) for folder, results in shared]
    rows = [row for row in rows if names[0] in row.means]
    if not rows:
        return
    metrics = [name for name in names if any(name in row.means for row in rows)]
    configs: dict[str, None] = {}
    for row in rows:
        configs.update(dict.fromkeys(config for config in row.parts if config))
    heads = [
        "model",
        "asked",
        *(name.replace("_", " ") for name in metrics),
        *(f"of `{config}`" for config in configs),
        "knows what changed until",
    ]
    yield f"| {' | '.join(heads)} |"
    yield f"|:--|:--|{'--:|' * (len(metrics) + len(configs))}:--|"
    for row in rows:
        cells = [escape_markdown(row.results.model), row.settings(names[0])]
        for name in metrics:
            cells.append(percent_cell(row.means.get(name)).replace(" [", "<br>["))
        for config in configs:
            cells.append(percent_cell(row.parts.get(config)).partition(" [")[0])
        cells.append(escape_markdown(row.knowledge()))
        yield f"| {' | '.join(cells)} |"
    yield ""


def page() -> str:
    """Return the page as Markdown."""
    lines = [INTRODUCTION]
    picture_paths = {path for path, _ in pictures()}
    for release, shared in releases():
        lines += [f"## {release}", "", *_table(shared, WRITTEN), *_table(shared, CHOSEN)]
        if (picture := f"results/{release}.png") in picture_paths:
            lines += [f"![Exact match by period]({picture})", ""]
    return "\n".join(lines)
