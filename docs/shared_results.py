"""The page of results that were shared: tables and curves, built from the folders in docs/results.

A test checks that the answers give the figures (`factdrift results`); here they are only shown. The
tables are HTML, so that they sort, and every text of a folder is escaped.
"""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, Self

from factdrift.builders.core.files import resource
from factdrift.builders.templama.guesses import SOLVED
from factdrift.scoring.figures import WIDTHS, line_figure
from factdrift.scoring.results import ANSWERS, SharedResults, read_results
from factdrift.scoring.score import TIMES, Mean, sortable
from factdrift.scoring.summary import CHOSEN

WRITTEN = ("exact_match", "outdated")
FOLDER = Path(__file__).parent / "results"
SORTING = "results/sortable.js"
"""Where the script that sorts the tables of reports lies among the pages."""
INTRODUCTION = """# Results

Models on the sample's releases, over all rows and quarter by quarter, in per cent, with 95 %
intervals by subject. A click on the head of a column sorts. Each model is a folder of
`docs/results`: its raw answers, how it was asked, and the figures that follow. Figures of writing
and of choosing are not to be compared; the column of a config has its rows alone.

Lines that know nothing are a floor. Cells are empty where a guess is told what it is asked: who
knows the answers of the period before has what did not change right, whatever it is.

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
    series: dict[str, dict[str, Mean]] = {}
    for results in shared:
        is_drawn = not _is_solved(results, None)
        series[results.model] = _curve_of(results, metric, len(periods) > MANY) if is_drawn else {}
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
    """Yield the path in the documentation and the bytes of every curve, wide and for a phone."""
    for release, shared in releases():
        for size, width in WIDTHS.items():
            picture = curve([results for _, results in shared], WRITTEN[0], width)
            if picture:
                yield f"results/{release}-{size}.png", picture


def _is_solved(results: SharedResults, config: str | None) -> bool:
    """Whether a guess has a config right by what it is, as `Scores.is_solved` says it."""
    solved_configs = SOLVED.get(str(results.asked.get("guess")), frozenset())
    if config is None:
        return any(mean.config in solved_configs for mean in results.table)
    return config in solved_configs


class ModelResults(NamedTuple):
    """The results of one model.

    `means` are those over all rows by metric, `parts` those of the first metric by config, `times`
    those of the first metric by period; there are none of what a guess solves by what it is.
    """

    folder: Path
    results: SharedResults
    rows: int
    means: dict[str, Mean]
    parts: dict[str | None, Mean]
    times: dict[str, Mean]

    @classmethod
    def read(cls, folder: Path, results: SharedResults, metric: str) -> Self | None:
        """Choose the means over all rows; where one config is all there is, it is the whole.

        None: the model has none of this metric.
        """
        overall = [mean for mean in results.table if mean.stratum == "all"]
        whole = None if any(mean.config is None for mean in overall) else overall[0].config
        means, parts = {}, {}
        for mean in overall:
            if mean.config == whole:
                means[mean.metric] = mean
            elif mean.metric == metric and not _is_solved(results, mean.config):
                parts[mean.config] = mean
        if metric not in means:
            return None
        row_count = means[metric].n
        if _is_solved(results, whole):
            return cls(folder, results, row_count, {}, parts, {})
        return cls(folder, results, row_count, means, parts, _curve_of(results, metric, False))

    def settings(self) -> str:
        """A link to the answers, and how the model was asked."""
        asked = self.results.asked
        text = f"{self.rows:,} rows"
        for name in ("view", "limit"):
            text += f", {name} {asked[name]}" if asked.get(name) else ""
        place = f"results/{self.folder.parent.name}/{self.folder.name}/{ANSWERS}"
        text = escape(f"{text}, factdrift {self.results.code_version}")
        return f'<a href="{escape(place)}">answers</a>: {text}'

    def knowledge(self) -> str:
        """The period until which the model knows what changed, with its interval."""
        stop = None if self.results.asked.get("guess") else self.results.knowledge
        if not stop:
            return ""
        interval = escape(f"{stop['low']} to {stop['high']}")
        return f"{escape(str(stop['last_known']))} <small>{interval}</small>"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table that sorts, in a box of its own that scrolls; cells are whole HTML."""
    head_cells = "".join(f"<th>{head}</th>" for head in heads)
    body = "\n".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return (
        '<div class="results"><table class="sortable">\n'
        f"<thead><tr>{head_cells}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>\n"
    )


def _cell(mean: Mean | None) -> str:
    """A mean with its interval beneath, which sorts by the mean; empty for None."""
    if mean is None:
        return "<td></td>"
    text = f"{100 * mean.mean:.1f}"
    if mean.low is not None and mean.high is not None:
        text += f" <small>{100 * mean.low:.1f} to {100 * mean.high:.1f}</small>"
    return f'<td class="number" data-sort="{mean.mean}">{text}</td>'


def _overall(models: Sequence[ModelResults], names: Sequence[str]) -> str:
    """The table of the models: a line each, over all rows and by config."""
    metrics = [name for name in names if any(name in model.means for model in models)]
    configs: dict[str, None] = {}
    for model in models:
        configs.update(dict.fromkeys(config for config in model.parts if config))
    heads = ["model", *(escape(name.replace("_", " ")) for name in metrics)]
    heads += [f"of <code>{escape(config)}</code>" for config in configs]
    is_known = any(model.knowledge() for model in models)
    rows = []
    for model in models:
        cells = [f"<td>{escape(model.results.model)}</td>"]
        cells += [_cell(model.means.get(name)) for name in metrics]
        cells += [_cell(model.parts.get(config)) for config in configs]
        if is_known:
            cells.append(f"<td>{model.knowledge()}</td>")
        rows.append([*cells, f"<td>{model.settings()}</td>"])
    heads += ["knows what changed until", "asked"] if is_known else ["asked"]
    return _table(heads, rows)


def _over_time(models: Sequence[ModelResults]) -> str:
    """The table of the periods: a line each, with a column for each model; "" without periods."""
    shown_models = [model for model in models if model.times]
    periods = sorted({period for model in shown_models for period in model.times}, key=sortable)
    rows = []
    for period in periods:
        means = [model.times.get(period) for model in shown_models]
        row_count = max(mean.n for mean in means if mean)
        cells = [f"<td>{escape(period)}</td>", f'<td class="number">{row_count:,}</td>']
        rows.append([*cells, *map(_cell, means)])
    names = [escape(model.results.model) for model in shown_models]
    return _table(["period", "rows", *names], rows) if len(rows) > 1 else ""


def _metric_part(shared: Sequence[tuple[Path, SharedResults]], names: Sequence[str]) -> list[str]:
    """The tables of the models that have the first of these metrics."""
    all_models = [ModelResults.read(folder, results, names[0]) for folder, results in shared]
    models = [model for model in all_models if model]
    if not models:
        return []
    lines = [f"### {names[0].replace('_', ' ').capitalize()}", "", _overall(models, names)]
    if over_time := _over_time(models):
        lines += [f"### {names[0].replace('_', ' ').capitalize()}, by period", "", over_time]
    return lines


def page() -> str:
    """Return the page as Markdown."""
    lines = [INTRODUCTION]
    picture_paths = {path for path, _ in pictures()}
    for release, shared in releases():
        lines += [f"## {release}", ""]
        wide, phone = (f"results/{release}-{size}.png" for size in WIDTHS)
        if wide in picture_paths:
            lines += [
                f'<picture><source media="screen and (max-width: 40rem)" srcset="{escape(phone)}">'
                f'<img src="{escape(wide)}" alt="Exact match over time"></picture>',
                "",
            ]
        lines += [*_metric_part(shared, WRITTEN), *_metric_part(shared, CHOSEN)]
    lines.append(f'<script src="{SORTING}"></script>')
    return "\n".join(lines)


def script() -> Path:
    """The script that sorts the tables: that of reports."""
    return Path(str(resource("scoring/sortable.js")))
