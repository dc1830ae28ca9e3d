"""`factdrift report`: scores of one or more models as one page and figures.

The page stands alone: its figures are in it, it has no scripts, and every text of a model or a
release is escaped. The same scores give the same bytes.
"""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from factdrift.builders.core.config import shown
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, replacing, resource, writable
from factdrift.builders.release.plots import COLOURS
from factdrift.scoring.figures import WIDTHS, Point, Series, dots, lines
from factdrift.scoring.intervals import Paired, bundles, paired
from factdrift.scoring.metrics import SCALE, VERDICTS
from factdrift.scoring.score import ROWS, SUMMARY, Mean
from factdrift.scoring.words import found

REPORT = "report.html"
MOST = len(COLOURS)
"""Models of a report."""
_TIMES = ("period", "quarter", "year", "decade")
_KINDS = ("relation", "answer_type")
_MAIN = ("exact_match", "accuracy")
_COLUMNS = (
    *_MAIN,
    "f1",
    "p@1",
    "mrr",
    "consistency",
    "recall@10",
    "outdated",
    "early",
    "abstained",
)
_NAMES = {
    "exact_match": "exact match",
    "f1": "F1",
    "accuracy": "accuracy",
    "mrr": "MRR",
    "rouge_l": "ROUGE-L",
}
_FEW = 60
"""Values of a stratum that a table shows."""
_READ = 8
"""Rows to read, of each verdict and model."""
_SEED = 0


@dataclass(frozen=True)
class Model:
    """A folder of scores."""

    folder: Path
    name: str
    summary: Mapping[str, Any]
    table: tuple[Mean, ...]

    @classmethod
    def read(cls, folder: Path) -> "Model":
        """`UserError`: not a folder of scores."""
        path = folder / SUMMARY
        hint = "a folder that factdrift score made?"
        try:
            summary = json.loads(path.read_bytes())
            table = tuple(Mean(**row) for row in summary["table"])
            return cls(folder, str(summary["model"]), summary, table)
        except OSError as error:
            raise UserError(
                f"cannot be read: {error.strerror}", where=shown(path), hint=hint
            ) from error
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise UserError("no scores", where=shown(path), hint=hint) from error

    @cached_property
    def whole(self) -> str | None:
        """The config that stands for all: together, or the only one."""
        configs = {mean.config for mean in self.table}
        return None if None in configs else next(iter(configs))

    def means(self, stratum: str, metric: str, config: str | None) -> dict[str, Mean]:
        """Value -> mean, of all splits, in the order of the table."""
        return {
            mean.value: mean
            for mean in self.table
            if (mean.config, mean.split, mean.stratum, mean.metric)
            == (config, None, stratum, metric)
        }

    @cached_property
    def rows(self) -> pa.Table:
        """Every scored row, each id once."""
        path = self.folder / ROWS
        try:
            table = pq.read_table(path)
        except (OSError, pa.ArrowException) as error:
            raise UserError("not the rows of scores", where=shown(path)) from error
        ids = table.column("id").combine_chunks().dictionary_encode().indices.to_numpy()
        _, first = np.unique(ids, return_index=True)
        return table.take(pa.array(np.sort(first)))


class Figure(NamedTuple):
    """A figure of the page: its files are `name.png` and `name-phone.png`."""

    name: str
    title: str
    caption: str
    wide: str
    phone: str


class Test(NamedTuple):
    """Two models on the rows that both have."""

    first: str
    second: str
    metric: str
    found: Paired


def report(folders: Sequence[Path], to: Path) -> Path:
    """Write the page and its figures; the page's path.

    `UserError`: no scores there, scores of different releases, two of the same name, too many.
    """
    models = [Model.read(folder) for folder in folders]
    _check(models)
    writable(to)
    with disk_errors(to):
        figures = tuple(_figures(models, to))
        text = _page(models, figures)
        with replacing(to / REPORT) as path:
            path.write_text(text, encoding="utf-8")
    return to / REPORT


def _check(models: Sequence[Model]) -> None:
    if len(models) > MOST:
        raise UserError(f"{len(models)} models; a report shows at most {MOST} side by side")
    kinds = {(m.summary["dataset"], m.summary["version"]): m for m in models}
    if len(kinds) > 1:
        told = ", ".join(f"{m.folder}: {d} {v}" for (d, v), m in kinds.items())
        raise UserError(f"scores of different releases: {told}", hint="make a report of each")
    names = [m.name for m in models]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        hint = "name them: factdrift score … --model NAME"
        raise UserError(f"two scores of a model named {twice[0]!r}", hint=hint)


def _main_metric(models: Sequence[Model]) -> str:
    every = {mean.metric for model in models for mean in model.table}
    return next((name for name in _MAIN if name in every), _MAIN[0])


def _series(models: Sequence[Model], stratum: str, metric: str) -> Series:
    found = {
        model.name: {
            value: Point(mean.mean, mean.low, mean.high)
            for value, mean in model.means(stratum, metric, model.whole).items()
        }
        for model in models
    }
    return {name: points for name, points in found.items() if points}


def _values(models: Sequence[Model], stratum: str, metric: str) -> list[str]:
    """The values of a stratum that any model has, in the order of the tables."""
    lists = [list(model.means(stratum, metric, model.whole)) for model in models]
    longest = max(lists, key=len, default=[])
    return longest + sorted({v for values in lists for v in values} - set(longest))


def _figures(models: Sequence[Model], to: Path) -> Iterator[Figure]:
    metric = _main_metric(models)
    name = _NAMES[metric]
    strata = {mean.stratum for model in models for mean in model.table}
    time = next((one for one in _TIMES if one in strata), None)
    stops = {
        model.name: model.summary["knowledge"]["last_known"]
        for model in models
        if model.summary["knowledge"]
    }
    if time:
        yield from _line(
            models, time, metric, to, "period", f"Score by {time}",
            f"{name}, per cent, by the {time} asked about; shaded: 95 % intervals by subject.",
        )  # fmt: skip
        yield from _line(
            models, time, "outdated", to, "outdated", f"Outdated answers by {time}",
            "Of the rows whose fact had another answer before, the share that is answered with "
            "what was right then, per cent.",
        )  # fmt: skip
    yield from _line(
        models, "began", "stale", to, "began", "When knowledge stops",
        "By the period in which the right answer began: of the answers that were ever right, the "
        "share that is no longer. Dashed: the cut that explains a model's answers best.",
        stops,
    )  # fmt: skip
    yield from _line(
        models, "lag", metric, to, "lag", "Score by lag",
        f"{name}, per cent, by quarters of a year from the cut-off to the time asked about.",
    )  # fmt: skip
    for kind in _KINDS:
        values = _values(models, kind, metric) if kind in strata else []
        if values:
            named = {k: v for model in models for k, v in model.summary["relations"].items()}
            labels = {value: named.get(value, value) for value in values}
            series = _series(models, kind, metric)
            files = {}
            for size, width in WIDTHS.items():
                files[size] = to / _file(kind, size)
                dots(series, labels, files[size], width=width, label=f"{name}, per cent")
            caption = f"{name}, per cent, with 95 % intervals by subject."
            title = f"Score by {kind.replace('_', ' ')}"
            yield Figure(kind, title, caption, *(_inline(files[size]) for size in WIDTHS))


def _line(
    models: Sequence[Model],
    stratum: str,
    metric: str,
    to: Path,
    name: str,
    title: str,
    caption: str,
    marks: Mapping[str, str] | None = None,
) -> Iterator[Figure]:
    values = _values(models, stratum, metric)
    if len(values) < 2:
        return
    series = _series(models, stratum, metric)
    files = {}
    for size, width in WIDTHS.items():
        files[size] = to / _file(name, size)
        lines(series, values, files[size], width=width, label="per cent", marks=marks)
    yield Figure(name, title, caption, *(_inline(files[size]) for size in WIDTHS))


def _file(name: str, size: str) -> str:
    return f"{name}.png" if size == "wide" else f"{name}-{size}.png"


def _inline(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode("ascii")


def tests(models: Sequence[Model]) -> Iterator[Test]:
    """Each pair of models on the rows that both have, by the main metric."""
    for first, second in combinations(models, 2):
        metric = _main_metric([first, second])
        if not {metric} <= set(first.rows.column_names) & set(second.rows.column_names):
            continue
        ids = [model.rows.column("id").combine_chunks() for model in (first, second)]
        at = found(ids[0], ids[1])
        here = np.flatnonzero(at >= 0)
        if not len(here):
            continue
        mine = _marks(first.rows.column(metric))[here]
        theirs = _marks(second.rows.column(metric))[at[here]]
        subjects = first.rows.column("subject").combine_chunks().dictionary_encode()
        bundle, count = bundles(subjects.indices.to_numpy().astype(np.int64)[here])
        result = paired(mine, theirs, bundle, count, _SEED)
        if result is not None:
            yield Test(first.name, second.name, metric, result)


def _marks(column: pa.ChunkedArray) -> Any:
    values = pc.fill_null(column.combine_chunks(), -1.0).to_numpy(zero_copy_only=False)
    return np.where(values < 0, -1, np.round(values * SCALE)).astype(np.int64)


def _page(models: Sequence[Model], figures: Sequence[Figure]) -> str:
    environment = Environment(
        loader=FileSystemLoader(resource("scoring")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"percent": percent, "span": span, "p": _p}
    metrics = [
        name
        for name in (
            *_MAIN,
            "f1",
            "p@1",
            "mrr",
            "consistency",
            "recall@10",
            "outdated",
            "abstained",
        )
        if any(mean.metric == name for model in models for mean in model.table)
    ]
    first = models[0].summary
    return (
        environment.get_template("report.html.j2").render(
            title=first["title"],
            dataset=first["dataset"],
            version=first["version"],
            models=models,
            relations=first["relations"],
            colours=dict(zip((m.name for m in models), COLOURS, strict=False)),
            verdicts=VERDICTS,
            metrics=metrics,
            names=_NAMES,
            configs=_configs(models),
            figures=figures,
            tests=list(tests(models)),
            strata=list(_strata(models)),
            main=_main_metric(models),
            examples=[(model, verdict, rows) for model in models for verdict, rows in _read(model)],
        )
        + "\n"
    )


def _configs(models: Sequence[Model]) -> list[tuple[str, list[tuple[Model, dict[str, Mean]]]]]:
    """Config (`together` first) -> model -> metric -> mean of all its rows."""
    every = dict.fromkeys(mean.config for model in models for mean in model.table)
    every = dict.fromkeys(sorted(every, key=lambda config: config is not None))
    return [
        (
            config or "together",
            [
                (
                    model,
                    {
                        mean.metric: mean
                        for mean in model.table
                        if (mean.config, mean.split, mean.stratum) == (config, None, "all")
                    },
                )
                for model in models
            ],
        )
        for config in every
    ]


def _strata(models: Sequence[Model]) -> Iterator[tuple[str, list[tuple[str, list[Mean | None]]]]]:
    """Stratum -> value -> mean of each model, of what stands for all."""
    metric = _main_metric(models)
    every = dict.fromkeys(mean.stratum for model in models for mean in model.table)
    for stratum in every:
        values = _values(models, stratum, metric)
        if stratum == "all" or not values:
            continue
        means = [model.means(stratum, metric, model.whole) for model in models]
        rows = [(value, [one.get(value) for one in means]) for value in values]
        rows.sort(key=lambda row: -max((m.n for m in row[1] if m), default=0))
        chosen = {value for value, _ in rows[:_FEW]}
        yield (
            stratum,
            [
                row
                for row in ((v, [one.get(v) for one in means]) for v in values)
                if row[0] in chosen
            ],
        )


def _read(model: Model) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    for verdict in VERDICTS[1:]:
        rows = [row for row in model.summary["examples"] if row["verdict"] == verdict][:_READ]
        if rows:
            yield verdict, rows


def percent(share: float) -> str:
    """`12.3` of 0.1234."""
    return f"{100 * share:.1f}"


def span(mean: Mean | Paired) -> str:
    """`11.0 to 13.5`, or nothing."""
    if mean.low is None or mean.high is None:
        return ""
    return f"{100 * mean.low:.1f} to {100 * mean.high:.1f}"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
