"""`factdrift score`: predictions against a release, as a folder of scores.

`scores.json` says what was scored, the table of means and some rows to read; `rows.parquet` has
the verdict and the metrics of every row. The same release and predictions give the same bytes.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from factdrift.builders.core import duck
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, replacing, writable
from factdrift.builders.core.hashing import file_sha256
from factdrift.builders.core.progress import progress
from factdrift.builders.release.manifest import write_json
from factdrift.builders.release.tasks import column_sql
from factdrift.scoring import predictions
from factdrift.scoring.intervals import SCALE, Floats, bundle_weights, mean_intervals
from factdrift.scoring.knowledge import KnowledgeStop, find_knowledge_stop
from factdrift.scoring.metrics import GUESSED, METRICS, VERDICTS, judge_answers, repeated_words
from factdrift.scoring.questions import ReleaseQuestions, read_questions, single_row

SUMMARY, ROWS = "scores.json", "rows.parquet"
EXAMPLES = 25
"""Rows to read of each verdict."""
_TOLD = 3
"""Ids that a message names."""
_LONG = 600
"""Characters of a text that is shown."""
_SEED = 0


class Mean(NamedTuple):
    """A line of the table of scores. `config`: null, all together, each row once; `split`: null,
    all of them; `low`, `high`: null where nothing can be said."""

    dataset: str
    config: str | None
    split: str | None
    stratum: str
    value: str
    metric: str
    n: int
    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreOptions:
    """What `factdrift score` is told. `partial`: rows without a prediction are left out, and
    predictions of unknown rows, instead of being refused."""

    release: Path
    file: Path
    out: Path | None = None
    configs: tuple[str, ...] | None = None
    cutoff: date | None = None
    model: str | None = None
    partial: bool = False
    rouge: bool = False
    say: Callable[[str], None] = field(default=print)


@dataclass(frozen=True)
class Scores:
    """A folder of scores, and what is in it but the rows."""

    folder: Path
    summary: Mapping[str, Any]
    table: tuple[Mean, ...]

    @classmethod
    def read(cls, folder: Path) -> "Scores":
        """`UserError`: not a folder of scores."""
        path = folder / SUMMARY
        if not folder.is_dir():
            raise UserError("there is no such folder", where=display_path(folder))
        hint = "a folder that factdrift score made?"
        try:
            summary = json.loads(path.read_bytes())
            table = tuple(Mean(**row) for row in summary["table"])
            return cls(folder, summary | {"model": str(summary["model"])}, table)
        except OSError as error:
            raise UserError(
                f"cannot be read: {error.strerror}", where=display_path(path), hint=hint
            ) from error
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise UserError("no scores", where=display_path(path), hint=hint) from error

    @property
    def name(self) -> str:
        """The model."""
        return str(self.summary["model"])

    @property
    def stop(self) -> KnowledgeStop | None:
        """Where the model's knowledge stops, if its answers say so."""
        knowledge = self.summary["knowledge"]
        return knowledge and KnowledgeStop(**knowledge)

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


def score_predictions(options: ScoreOptions) -> Scores:
    """Score a file of predictions and write the folder of scores.

    `UserError`: the file is broken, or is of other rows or of another version of their prompts;
    rows without a prediction in a split that has some, unless `partial`.
    """
    description = predictions.read_about(options.file)
    model = options.model or (description.name if description else _stem(options.file))
    with read_questions(options.release, options.configs, options.cutoff) as questions:
        manifest = questions.manifest
        out = options.out or Path("scores") / manifest.dataset / folder_name(model)
        if description and description.dataset not in (None, manifest.dataset):
            text = f"these are predictions for {description.dataset}, and the release is"
            raise UserError(f"{text} {manifest.dataset}", where=display_path(options.file))
        counts = _read(questions, options)
        judge_answers(questions, rouge=options.rouge)
        for left_out in ("undecided", "neutral"):
            query = f"SELECT count(*) FROM said WHERE verdict = '{left_out}'"  # noqa: S608
            (counts[left_out],) = single_row(questions.db, query)
        for line in _notes(questions, counts):
            options.say(line)
        verdicts = dict(
            questions.db.execute("SELECT verdict, count(*) FROM marks GROUP BY ALL").fetchall()
        )
        if not verdicts:
            raise UserError("nothing can be scored", where=display_path(options.file))
        metrics = _metrics(questions)
        weights = bundle_weights(questions.bundles, _SEED)
        table = tuple(_table(questions, metrics, weights))
        stop = find_knowledge_stop(questions, weights)
        repeated = repeated_words(questions)
        if repeated:
            options.say(repeated.warning)
        writable(out)
        with disk_errors(out):
            summary: dict[str, Any] = {
                "model": model,
                "dataset": manifest.dataset,
                "title": manifest.title,
                "version": manifest.version,
                "predictions": {"file": options.file.name, "sha256": file_sha256(options.file)},
                "cutoff": options.cutoff and options.cutoff.isoformat(),
                "counts": counts,
                "relations": questions.relations,
                "verdicts": {verdict: verdicts.get(verdict, 0) for verdict in VERDICTS},
                "repeated": repeated and repeated._asdict(),
                "knowledge": stop and stop._asdict(),
                "examples": list(_examples(questions)),
                "table": [mean._asdict() for mean in table],
            }
            _write(out, summary, questions, metrics)
    return Scores(out, summary, table)


def _read(questions: ReleaseQuestions, options: ScoreOptions) -> dict[str, int]:
    """Make the table `given`: predictions with the `row` of each that it is of; their counts.

    `UserError` as of `score`.
    """
    db = questions.db
    db.register("batch", predictions.SCHEMA.empty_table())
    db.execute("CREATE TABLE predicted AS FROM batch")
    with progress(None, "predictions", "score") as bar:
        for batch in predictions.read_predictions(options.file):
            db.register("batch", pa.Table.from_batches([batch]))
            db.execute("INSERT INTO predicted FROM batch")
            bar.advance(batch.num_rows)
    db.unregister("batch")
    db.execute("""
        CREATE TABLE given AS SELECT a.row, p.rowid AS number, p.evidence AS listed,
            p.* EXCLUDE (id, config, split, evidence)
        FROM predicted p JOIN asked a ON a.id = p.id
            AND coalesce(p.config = a.config, true) AND coalesce(p.split = a.split, true)
    """)
    dataset = f"{questions.manifest.dataset} {questions.manifest.version}"

    def refuse(query: str, message: str, hint: str, is_error: bool = True) -> int:
        """How many rows of some ids a query finds, columns `n` and `id`; an error where any is."""
        count, ids = single_row(db, f"SELECT count(*), min_by(id, n, {_TOLD}) FROM ({query})")  # noqa: S608
        if count and is_error:
            listed = ", ".join(row_id[:40] for row_id in ids) + (", …" if count > _TOLD else "")
            text = message.format(count=f"{count:,}", ids=listed)
            raise UserError(text, where=display_path(options.file), hint=hint)
        return int(count)

    (read,) = single_row(db, "SELECT count(*) FROM predicted")
    if not read:
        raise UserError("no predictions", where=display_path(options.file))
    refuse(
        """SELECT row AS n, id FROM asked
        WHERE row IN (SELECT row FROM given GROUP BY row HAVING count(*) > 1)""",
        "more than one prediction for {count} rows: {ids}",
        "one prediction a row: several answers are `candidates`, the best first",
    )
    refuse(
        "SELECT row AS n, id FROM given JOIN asked USING (row) "  # noqa: S608
        f"WHERE left(prompt_sha256, {predictions.HASH}) != prompt_hash",
        "made for another version of the prompt: {ids} ({count} of the predictions)",
        f"this is {dataset}: score them against the release that they were made for, or make them "
        "again",
    )
    refuse(
        "SELECT row AS n, id FROM given JOIN asked USING (row) "
        "WHERE len(choice_scores) != len(choices) OR len(choice_scores) = 0",
        "choice_scores of {count} rows are not as many as their choices: {ids}",
        "a number for each of the row's choices, in their order",
    )
    (rows,) = single_row(db, "SELECT count(*) FROM given")
    unknown = refuse(
        "SELECT rowid AS n, id FROM predicted p ANTI JOIN given g ON g.number = p.rowid",
        ("{count} of " + f"{read:,}" if rows else "all")
        + f" predictions are of rows that {dataset} does not have: {{ids}}",
        "is it the release that they were made for? --partial leaves them out",
        is_error=not (rows and options.partial),
    )
    missing = refuse(
        """SELECT row AS n, id FROM asked ANTI JOIN given USING (row)
        SEMI JOIN (FROM asked SEMI JOIN given USING (row)) USING (config, split)""",
        "no prediction for {count} rows of splits that have some: {ids}",
        'write {"id": …, "prediction": ""} where a model says nothing; '
        "--partial scores the rows that are there",
        is_error=not options.partial,
    )
    return {"predictions": read, "rows": rows, "missing": missing, "unknown": unknown}


def _notes(questions: ReleaseQuestions, counts: Mapping[str, int]) -> Iterator[str]:
    """What the user ought to know of what was left out."""
    if counts["unknown"]:
        yield f"{counts['unknown']:,} predictions of unknown rows are left out"
    if counts["undecided"]:
        yield (
            f"{counts['undecided']:,} rows have likelihoods of accepted answers alone, among which "
            "there is nothing to choose: they are left out"
        )
    if counts["neutral"]:
        yield (
            f"{counts['neutral']:,} predictions name what was so before and still is, where "
            "what came is asked for: they are left out"
        )
    empty_configs = []
    for config, answered_count, row_count in questions.db.execute("""
        SELECT config, count(g.row), count(*) FROM asked LEFT JOIN given g USING (row)
        GROUP BY config ORDER BY min(asked.row)
    """).fetchall():
        if not answered_count:
            empty_configs.append(config)
        elif answered_count < row_count:
            yield f"{config}: {answered_count:,} of {row_count:,} rows"
    if empty_configs:
        yield f"no predictions of {', '.join(empty_configs)}"


def _metrics(questions: ReleaseQuestions) -> list[str]:
    """The metrics that any row has."""
    counts = ", ".join(f"count({duck.name(metric)})" for metric in METRICS)
    counted = single_row(questions.db, f"SELECT {counts} FROM marks")  # noqa: S608
    return [metric for metric, row_count in zip(METRICS, counted, strict=True) if row_count]


def _table(questions: ReleaseQuestions, metrics: Sequence[str], weights: Floats) -> Iterator[Mean]:
    """Every mean: by config, by split, and by stratum; at last of all configs together."""
    whole_source = "(SELECT *, {} AS value FROM marks)"
    of_value = "marks JOIN ({}) USING (row)"
    strata: dict[str, list[str]] = {}
    for config in questions.configs:
        row_condition = f"config = {duck.text(config.name)}"
        yield from _means(
            questions, metrics, weights, whole_source.format("'all'"), row_condition, config.name
        )
        for mean in _means(
            questions, metrics, weights, whole_source.format("split"), row_condition, config.name
        ):
            yield mean._replace(split=mean.value, value="all")
        began = (
            f"SELECT row, label AS value FROM began JOIN asked USING (row) WHERE {row_condition}"  # noqa: S608
        )
        for name, query in {**config.strata, "began": began}.items():
            strata.setdefault(name, []).append(query)
            source = of_value.format(query)
            yield from _means(questions, metrics, weights, source, row_condition, config.name, name)
    if len(questions.configs) > 1:
        questions.db.execute("CREATE TABLE once AS SELECT min(row) AS row FROM asked GROUP BY id")
        row_condition = "row IN (FROM once)"
        yield from _means(questions, metrics, weights, whole_source.format("'all'"), row_condition)
        for name, queries in strata.items():
            source = of_value.format(" UNION ALL ".join(queries))
            yield from _means(questions, metrics, weights, source, row_condition, None, name)


def _means(
    questions: ReleaseQuestions,
    metrics: Sequence[str],
    weights: Floats,
    source: str,
    where: str,
    config: str | None = None,
    stratum: str = "all",
) -> Iterator[Mean]:
    """The means of each `value` of a source of marks, of the rows `where`."""
    columns = ", ".join(
        f"count({duck.name(metric_name)}), sum({duck.name(metric_name)})::BIGINT"
        for metric_name in metrics
    )
    rows = questions.db.execute(f"""
        SELECT value, bundle, {columns}
        FROM {source} WHERE {where} AND value IS NOT NULL GROUP BY value, bundle
    """).fetchall()  # noqa: S608
    order = sorted({value for value, *_ in rows}, key=sortable)
    value_places = {value: n for n, value in enumerate(order)}
    cells = np.zeros((len(order), weights.shape[1], 2 * len(metrics)), np.int64)
    for value, bundle, *numbers in rows:
        cells[value_places[value], bundle] = [number or 0 for number in numbers]
    for n, metric in enumerate(metrics):
        counts, sums = cells[:, :, 2 * n], cells[:, :, 2 * n + 1]
        present_places = np.flatnonzero(counts.any(1))
        for value_place, interval in zip(
            present_places,
            mean_intervals(
                sums[present_places],
                counts[present_places],
                (counts[present_places] > 0).sum(1),
                weights,
            ),
            strict=True,
        ):
            sure = metric not in GUESSED and not np.isnan(interval.low)
            low, high = (_round(end) if sure else None for end in interval[1:])
            yield Mean(
                dataset=questions.manifest.dataset,
                config=config,
                split=None,
                stratum=stratum,
                value=order[value_place],
                metric=metric,
                n=int(counts[value_place].sum()),
                mean=_round(interval.mean),
                low=low,
                high=high,
            )


def sortable(value: str) -> tuple[float, str]:
    """Numbers (`-3`, `+2 or more`, `2021Q3`) by size, other texts as texts."""
    number = re.match(r"[+-]?\d+", value)
    return (float(number[0]) if number else 0.0, value)


def _round(number: float) -> float:
    return round(float(number), 6) + 0.0


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONG else flat[: _LONG - 1] + "…"


def _examples(questions: ReleaseQuestions) -> Iterator[dict[str, object]]:
    """Some rows of each verdict but `right`, to be read: the same ones of every model."""
    listed = ", ".join(map(duck.text, VERDICTS[1:]))
    prompts = " UNION ALL ".join(
        f"SELECT _row AS row, {column_sql(config.roles.prompt)} AS prompt FROM {config.source}"  # noqa: S608
        for config in questions.configs
    )
    rows = questions.db.execute(f"""
        WITH shown AS (
            SELECT row FROM marks QUALIFY verdict != 'right' AND {EXAMPLES} >= row_number() OVER (
                PARTITION BY verdict ORDER BY md5(config || id), row)
        ), prompts AS (SELECT * FROM ({prompts}) SEMI JOIN shown USING (row))
        SELECT m.verdict, m.config, m.id, prompt, m.f1 / {SCALE}, raw_targets[:4],
            coalesce(s.prediction, array_to_string(s.candidates[:5], '; '),
                array_to_string(s.choice_scores[:5], '; '))
        FROM prompts JOIN marks m USING (row) JOIN asked USING (row) JOIN said s USING (row)
        ORDER BY list_position([{listed}], m.verdict), row
    """)  # noqa: S608
    for verdict, config, name, prompt, f1, targets, answer_text in rows.fetchall():
        yield {
            "verdict": verdict,
            "config": config,
            "id": name,
            "prompt": _cut(prompt),
            "prediction": None if answer_text is None else _cut(answer_text),
            "targets": [_cut(text) for text in targets],
            "f1": None if f1 is None else _round(f1),
        }


def _write(
    out: Path, summary: Mapping[str, object], questions: ReleaseQuestions, metrics: Sequence[str]
) -> None:
    values = (
        f"({duck.name(metric)} / {SCALE})::FLOAT AS {duck.name(metric)}" for metric in metrics
    )
    columns = ", ".join(["config", "split", "id", "subject", "verdict", *values])
    with replacing(out / ROWS) as path:
        query = f"COPY (SELECT {columns} FROM marks ORDER BY row) TO {duck.text(str(path))}"  # noqa: S608
        questions.db.execute(f"{query} (FORMAT parquet, COMPRESSION zstd)")
    with replacing(out / SUMMARY) as path:
        write_json(path, summary)


def _stem(file: Path) -> str:
    return (file.with_suffix("") if file.suffix in (".gz", ".zst") else file).stem


def folder_name(name: str) -> str:
    """A name as a folder."""
    return re.sub(r"[^\w.-]+", "-", name).strip(".-") or "model"
