"""`factdrift report`: scores of one or more models as one page and figures.

The page stands alone: its figures are in it, it has no scripts, and every text of a model or a
release is escaped. The same scores give the same bytes.
"""

import base64
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from factdrift.builders.core import duck
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, replacing, resource, writable
from factdrift.builders.release.plots import COLOURS
from factdrift.scoring.figures import WIDTHS, dot_figure, line_figure
from factdrift.scoring.intervals import (
    SCALE,
    Ints,
    PairedDifference,
    paired_difference,
    subject_bundles,
)
from factdrift.scoring.metrics import VERDICTS
from factdrift.scoring.score import ROWS, Mean, Scores, sortable
from factdrift.scoring.summary import COLUMNS

REPORT = "report.html"
MOST = len(COLOURS)
"""Models of a report."""
TIMES = ("period", "quarter", "year", "decade")
_KINDS = ("relation", "answer_type")
_MAIN = tuple(COLUMNS)
_NAMES = {
    "exact_match": "exact match",
    "f1": "F1",
    "accuracy": "accuracy",
    "mrr": "MRR",
    "rouge_l": "ROUGE-L",
    "shortest": "the shortest",
    "before": "answers of before",
}
_FEW = 60
"""Values of a stratum that a table shows."""
_SEED = 0


class PairedTest(NamedTuple):
    """Two models on the rows that both have."""

    first: str
    second: str
    metric: str
    comparison: PairedDifference


def write_report(folders: Sequence[Path], to: Path) -> Path:
    """Write the page and its figures; the page's path.

    `UserError`: no scores there, scores of different releases, two of the same name, too many.
    """
    models = [Scores.read(folder) for folder in folders]
    _check(models)
    writable(to)
    with disk_errors(to):
        figures = tuple(_figures(models, to))
        text = _page(models, figures)
        with replacing(to / REPORT) as path:
            path.write_text(text, encoding="utf-8")
    return to / REPORT


def _check(models: Sequence[Scores]) -> None:
    if len(models) > MOST:
        raise UserError(f"{len(models)} models; a report shows at most {MOST} side by side")
    kinds = {(model.summary["dataset"], model.summary["version"]): model for model in models}
    if len(kinds) > 1:
        listed = ", ".join(
            f"{model.folder}: {dataset} {version}" for (dataset, version), model in kinds.items()
        )
        raise UserError(f"scores of different releases: {listed}", hint="make a report of each")
    names = [model.name for model in models]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        hint = "name them: factdrift score … --model NAME"
        raise UserError(f"two scores of a model named {twice[0]!r}", hint=hint)


def _has(model: Scores, metric: str) -> bool:
    return any(mean.metric == metric for mean in model.table)


def _mains(models: Sequence[Scores]) -> list[str]:
    """The main metrics that any model has: of writing, of choosing."""
    return [name for name in _MAIN if any(_has(model, name) for model in models)]


def _values(models: Sequence[Scores], stratum: str, metric: str) -> list[str]:
    """The values of a stratum that any model has, in order."""
    value_names = {value for model in models for value in model.means(stratum, metric, model.whole)}
    return sorted(value_names, key=sortable)


class _Drawing(NamedTuple):
    """A figure of the page, in the files `name.png` and `name-phone.png`. `marks`: model -> value
    behind which a dashed line stands; `pictures`: what the files hold, where it is drawn."""

    name: str
    stratum: str
    metric: str
    title: str
    caption: str
    marks: Mapping[str, str] | None = None
    pictures: Mapping[str, str] = {}


def _drawings(models: Sequence[Scores]) -> Iterator[_Drawing]:
    strata = {mean.stratum for model in models for mean in model.table}
    time = next((name_of_time for name_of_time in TIMES if name_of_time in strata), "period")
    for metric in _mains(models):
        main = metric == _MAIN[0]
        name, ending = _NAMES[metric], "" if main else f"-{metric}"
        title_ending = "" if main else f" ({name} of choosing)"
        dotted = "" if main else "; dotted: a choice at random among what the model was offered"
        yield _Drawing(
            f"period{ending}", time, metric, f"Score by {time}{title_ending}",
            f"{name}, per cent, by the {time} asked about; shaded: 95 % intervals by subject"
            f"{dotted}. A curve that falls shows where knowledge ends; one that is level all "
            "along may be of facts that seldom change.",
        )  # fmt: skip
        yield _Drawing(
            f"lag{ending}", "lag", metric, f"Score by lag{title_ending}",
            f"{name}, per cent, by quarters of a year from the cut-off to the time asked about"
            f"{dotted}.",
        )  # fmt: skip
        for kind in _KINDS:
            title = f"Score by {kind.replace('_', ' ')}{title_ending}"
            caption = f"{name}, per cent, with 95 % intervals by subject{dotted}."
            yield _Drawing(f"{kind}{ending}", kind, metric, title, caption)
    yield _Drawing(
        "outdated", time, "outdated", f"Outdated answers by {time}",
        "Of the rows whose fact had another answer before, the share that is answered with "
        "what was right then, per cent.",
    )  # fmt: skip
    last_known = {}
    for scored_model in models:
        if knowledge := scored_model.summary["knowledge"]:
            last_known[scored_model.name] = knowledge["last_known"]
    yield _Drawing(
        "began", "began", "stale", "When knowledge stops",
        "By the period in which the right answer began: of the answers that were ever right, the "
        "share that is no longer. Dashed: the cut that explains a model's answers best.",
        last_known,
    )  # fmt: skip


def _figures(models: Sequence[Scores], to: Path) -> Iterator[_Drawing]:
    """Each drawing that has something to show: two values in their order, or one of a kind."""
    relations = {
        relation_id: relation_label
        for model in models
        for relation_id, relation_label in model.summary["relations"].items()
    }
    for drawing in _drawings(models):
        values, of_kinds = (
            _values(models, drawing.stratum, drawing.metric),
            drawing.stratum in _KINDS,
        )
        if len(values) < 2 - of_kinds:
            continue
        # every model, so that each keeps its colour in all figures; some without points
        series, guessed = (
            {model.name: model.means(drawing.stratum, metric, model.whole) for model in models}
            for metric in (drawing.metric, "chance")
        )
        chance = guessed if drawing.metric == "accuracy" else {}
        pictures = {}
        for size, width in WIDTHS.items():
            path = to / (f"{drawing.name}.png" if size == "wide" else f"{drawing.name}-{size}.png")
            if of_kinds:
                labels = {value: relations.get(value, value) for value in values}
                label = f"{_NAMES[drawing.metric]}, per cent"
                dot_figure(series, labels, path, width=width, label=label, chance=chance)
            else:
                mark, label = drawing.marks, "per cent"
                line_figure(
                    series, values, path, width=width, label=label, marks=mark, chance=chance
                )
            pictures[size] = base64.b64encode(path.read_bytes()).decode("ascii")
        yield drawing._replace(pictures=pictures)


def paired_tests(models: Sequence[Scores]) -> Iterator[PairedTest]:
    """Each pair of models on the rows that both have: writing with writing, and choosing with
    choosing among as many."""
    for first, second in combinations(models, 2):
        for metric in _MAIN:
            if _has(first, metric) and _has(second, metric):
                mine, theirs, subject = _marks(first, second, metric)
                if len(mine):
                    difference = paired_difference(mine, theirs, *subject_bundles(subject), _SEED)
                    yield PairedTest(first.name, second.name, metric, difference)


def _marks(first: Scores, second: Scores, metric: str) -> list[Ints]:
    """Of the rows that have a metric of both, each id once: the two in units of 1/`SCALE`, and
    the number of the subject. `UserError`: no rows of scores."""
    once = "FROM {} QUALIFY row_number() OVER (PARTITION BY id ORDER BY file_row_number) = 1"
    first_rows, second_rows = (
        once.format(duck.parquet(model.folder / ROWS)) for model in (first, second)
    )
    among = "a.chance IS NOT DISTINCT FROM b.chance" if metric == "accuracy" else "true"
    query = f"""
        SELECT round({SCALE} * a.{metric})::BIGINT, round({SCALE} * b.{metric})::BIGINT,
            dense_rank() OVER (ORDER BY a.subject) - 1
        FROM ({first_rows}) a JOIN ({second_rows}) b USING (id)
        WHERE a.{metric} IS NOT NULL AND b.{metric} IS NOT NULL AND {among} ORDER BY id
    """  # noqa: S608
    try:
        with duck.connect() as db:
            arrays: dict[str, Any] = db.execute(query).fetchnumpy()
            return list(arrays.values())
    except duckdb.Error as error:
        text = f"not the rows of scores: {str(error).splitlines()[0]}"
        raise UserError(text, where=f"{first.folder}, {second.folder}") from error


def _page(models: Sequence[Scores], figures: Sequence[_Drawing]) -> str:
    environment = Environment(
        loader=FileSystemLoader(resource("scoring")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    first = models[0].summary
    return (
        environment.get_template("report.html.j2").render(
            title=first["title"],
            dataset=first["dataset"],
            version=first["version"],
            models=models,
            relations=first["relations"],
            colours=dict(zip((model.name for model in models), COLOURS, strict=False)),
            verdicts=VERDICTS,
            tables=list(_tables(models)),
            names=_NAMES,
            figures=figures,
            tests=list(paired_tests(models)),
            strata=list(_strata(models)),
        )
        + "\n"
    )


class MeansTable(NamedTuple):
    """The overall means of answers that were written, or chosen.

    `rows`: config (`together` first), model and its means by metric.
    """

    main: str
    metrics: list[str]
    rows: list[tuple[str, Scores, dict[str, Mean]]]


def _tables(models: Sequence[Scores]) -> Iterator[MeansTable]:
    for main in _mains(models):
        rows = []
        config_names = dict.fromkeys(mean.config for model in models for mean in model.table)
        for config in sorted(config_names, key=lambda config: config is not None):
            for model in models:
                means = {
                    mean.metric: mean
                    for mean in model.table
                    if (mean.config, mean.split, mean.stratum) == (config, None, "all")
                }
                if main in means:
                    rows.append((config or "together", model, means))
        metrics = [name for name in COLUMNS[main] if any(name in means for *_, means in rows)]
        yield MeansTable(main, metrics, rows)


class StratumTable(NamedTuple):
    """The means of one metric by the values of one stratum: a row a value, a cell a model."""

    stratum: str
    metric: str
    rows: list[tuple[str, list[Mean | None]]]


def _strata(models: Sequence[Scores]) -> Iterator[StratumTable]:
    """A table for each stratum and main metric that has values, over all configs together."""
    strata = dict.fromkeys(mean.stratum for model in models for mean in model.table)
    for stratum in strata:
        if stratum == "all":
            continue
        for metric in _mains(models):
            means = [model.means(stratum, metric, model.whole) for model in models]
            rows = []
            for value in _values(models, stratum, metric):
                rows.append((value, [model_means.get(value) for model_means in means]))
            if rows:
                yield StratumTable(stratum, metric, _most_frequent(rows))


def _most_frequent(
    rows: list[tuple[str, list[Mean | None]]],
) -> list[tuple[str, list[Mean | None]]]:
    """The rows of the `_FEW` values that have the most answers, in the order they came."""

    def answer_count(row: tuple[str, list[Mean | None]]) -> int:
        return max((mean.n for mean in row[1] if mean), default=0)

    frequent = sorted(rows, key=answer_count, reverse=True)[:_FEW]
    kept_values = {value for value, _ in frequent}
    return [row for row in rows if row[0] in kept_values]
