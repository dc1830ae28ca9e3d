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
import pyarrow.compute as pc

from factdrift.builders.core import duck
from factdrift.builders.core.arrays import number_array, numbers_of, text_array
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, replacing, writable
from factdrift.builders.core.hashing import text_sha256
from factdrift.builders.core.hints import require_extra
from factdrift.builders.core.progress import progress
from factdrift.builders.release.manifest import Manifest, locate_file, write_json
from factdrift.builders.templama.guesses import SOLVED
from factdrift.scoring import predictions
from factdrift.scoring.intervals import SCALE, Floats, bundle_weights, mean_intervals
from factdrift.scoring.knowledge import KnowledgeStop, find_knowledge_stop, why_no_stop
from factdrift.scoring.metrics import GUESSED, METRICS, VERDICTS, judge_answers, repeated_words
from factdrift.scoring.questions import (
    QuestionConfig,
    ReleaseQuestions,
    read_asked,
    read_questions,
    reading_release,
    single_row,
)
from factdrift.scoring.sentences import sentence_answers
from factdrift.scoring.twins import TwinDifference, twin_rows_differences
from factdrift.scoring.verdict_shares import VerdictShares, verdict_shares

SUMMARY, ROWS = "scores.json", "rows.parquet"
TIMES = ("period", "quarter", "year", "decade")
"""The strata that are times, the finest first."""
CHANGED = "changed_by_"
"""What the names of strata begin with whose rows are of what changed in that time."""
FEWEST = 10
"""Rows from which a figure of a period is read: of fewer, none being right leaves up to a third
open (the 95 % interval of 0 of 9 ends at 34 %)."""
EXAMPLES = 25
"""Examples of each verdict in `scores.json`: as many as a person reads to see what goes wrong."""
# Ids that a message names: enough to find the rows, and few enough for one line.
_TOLD = 3
# Characters of a prompt or an answer in an example; prompts with the text of a page are longer.
_LONG = 600
# a fixed seed: the same predictions give the same intervals
_SEED = 0


# The rows that count where configs are taken together, as the table `once`: each question once.
# Left out is what is asked again: in other words (a paraphrase names its question), behind a table
# of facts, or word for word (a row that tells of an end asks about the day before it).
_COUNTED_ONCE = f"""
    -- step by step, since joins and groups of one query hold their memory at the same time
    CREATE TABLE first_asked AS
        SELECT row, id, name_set, alone FROM given JOIN asked USING (row)
        WHERE question = id OR question NOT IN (SELECT id FROM given JOIN asked USING (row));
    CREATE TABLE hashed_prompts AS
        SELECT row, {predictions.prompt_hash_sql("prompt")} AS prompt_hash
        FROM prompts SEMI JOIN first_asked USING (row);
    CREATE TABLE first_worded AS
        SELECT min(row) AS row FROM first_asked JOIN hashed_prompts USING (row)
            JOIN name_sets USING (name_set)
        GROUP BY prompt_hash, targets, alone;
    CREATE TABLE once AS
        SELECT min(row) AS row FROM first_asked GROUP BY id
        INTERSECT SELECT row FROM first_worded;
    DROP TABLE first_asked;
    DROP TABLE hashed_prompts;
    DROP TABLE first_worded;
"""  # noqa: S608 - ours
_ASKED_AGAIN = """
    SELECT config, count(*) FROM marks ANTI JOIN once USING (row) GROUP BY config ORDER BY config
"""
_COUNTED_ALL = "CREATE TABLE once AS SELECT row FROM given"


class Mean(NamedTuple):
    """A line of the table of scores.

    `config` is null for all configs together, each question once; `split` is null for all splits.
    `low`, `high`: the interval, null where there is none.
    """

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
    """The options of `factdrift score`.

    `partial`: rows without a prediction and predictions of unknown rows are left out instead of
    being refused.
    """

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
    """A folder of scores: its summary and its table of means, without the rows."""

    folder: Path
    summary: Mapping[str, Any]
    table: tuple[Mean, ...]

    @classmethod
    def read(cls, score_folder: Path) -> "Scores":
        """Read a folder of scores; raise `UserError` if it is not one."""
        summary_path = score_folder / SUMMARY
        if not score_folder.is_dir():
            raise UserError("there is no such folder", where=display_path(score_folder))
        hint = "a folder that factdrift score made?"
        try:
            score_summary = json.loads(summary_path.read_bytes())
            mean_table = tuple(Mean(**table_row) for table_row in score_summary["table"])
            return cls(
                score_folder, score_summary | {"model": str(score_summary["model"])}, mean_table
            )
        except OSError as error:
            raise UserError(
                f"cannot be read: {error.strerror}", where=display_path(summary_path), hint=hint
            ) from error
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise UserError("no scores", where=display_path(summary_path), hint=hint) from error

    @property
    def name(self) -> str:
        """The name of the model."""
        return str(self.summary["model"])

    @property
    def release(self) -> tuple[str, str, str]:
        """Dataset, version and `release_sha256`; scores of versions before 0.3 have no checksum."""
        return (
            str(self.summary["dataset"]),
            str(self.summary["version"]),
            str(self.summary.get("release_sha256", "")),
        )

    @property
    def stop(self) -> KnowledgeStop | None:
        """The period at which the model's knowledge stops, if its answers show it.

        A guess has none: it knows nothing, whatever its answers look like.
        """
        knowledge = self.summary["knowledge"]
        return KnowledgeStop(**knowledge) if knowledge and not self.guess else None

    @property
    def no_stop(self) -> str | None:
        """Why no stop was found; None where there is one, no row could show it, or for a guess."""
        return None if self.guess else self.summary.get("no_stop")

    @property
    def left_out(self) -> Mapping[str, int]:
        """Config -> scored rows that `together` leaves out, as they ask again what others ask."""
        left_out: dict[str, int] = self.summary.get("asked_again", {})
        return left_out

    @property
    def time(self) -> str | None:
        """The finest stratum of time: of what changed in it, where there are such rows; else of
        all rows. None where no time is asked about."""
        own_strata = {mean.stratum for mean in self.table if mean.config == self.whole}
        time_strata = [*(CHANGED + name for name in TIMES), *TIMES]
        return next((name for name in time_strata if name in own_strata), None)

    @property
    def guess(self) -> str | None:
        """The guess that was scored in place of a model; scores of older versions name none."""
        return self.summary.get("guess")

    def is_solved(self, config_name: str | None) -> bool:
        """Whether a guess has a config right by what it is; None: one of all configs."""
        solved_configs = SOLVED.get(self.guess or "", frozenset())
        if config_name is None:
            return any(mean.config in solved_configs for mean in self.table)
        return config_name in solved_configs

    def row_counts(self, stratum: str) -> dict[str, int]:
        """Value -> rows of a stratum of all configs together, in the order of the table."""
        counts: dict[str, int] = {}
        for mean in self.table:
            if (mean.config, mean.split, mean.stratum) == (self.whole, None, stratum):
                counts[mean.value] = max(mean.n, counts.get(mean.value, 0))
        return counts

    @cached_property
    def twins(self) -> tuple[TwinDifference, ...]:
        """The differences of rows from their twins; scores of older versions have none."""
        return tuple(TwinDifference(**line) for line in self.summary.get("twins", ()))

    @cached_property
    def whole(self) -> str | None:
        """The config that stands for all: together (None), or the only one."""
        config_names = {mean.config for mean in self.table}
        return None if None in config_names else next(iter(config_names))

    @cached_property
    def shares(self) -> list[VerdictShares]:
        """The shares of verdicts among all rows; scores of older versions have none."""
        return [VerdictShares(**line) for line in self.summary.get("shares", ())]

    def means(self, stratum: str, metric: str, config_name: str | None) -> dict[str, Mean]:
        """Value -> mean, of all splits, in the order of the table; none of what a guess solves."""
        if self.is_solved(config_name):
            return {}
        return {
            mean.value: mean
            for mean in self.table
            if (mean.config, mean.split, mean.stratum, mean.metric)
            == (config_name, None, stratum, metric)
        }


def score_predictions(score_options: ScoreOptions) -> Scores:
    """Score a file of predictions and write the folder of scores.

    `UserError`: the file is broken, or is of other rows or of another version of their prompts;
    rows without a prediction in a split that has some, unless `partial`.
    """
    require_extra("score", "scores need SciPy, for their intervals")
    description = predictions.read_about(score_options.file)
    model_name = _model_name(score_options, description)
    with read_questions(
        score_options.release, score_options.configs, score_options.cutoff
    ) as questions:
        manifest = questions.manifest
        scores_folder = score_options.out or Path("scores") / manifest.dataset / folder_name(
            model_name
        )
        _refuse_other_dataset(description, manifest.dataset, score_options.file)
        counts = _judge(questions, score_options)
        verdict_counts = dict(
            questions.db.execute(
                "SELECT verdict, count(*) FROM marks SEMI JOIN once USING (row) GROUP BY ALL"
            ).fetchall()
        )
        if not verdict_counts:
            raise UserError("nothing can be scored", where=display_path(score_options.file))
        metrics = _metrics(questions)
        draw_weights = bundle_weights(questions.bundles, _SEED)
        mean_table = tuple(_table(questions, metrics, draw_weights))
        twin_differences = _twin_differences(questions)
        knowledge_stop = find_knowledge_stop(questions, draw_weights)
        # that it is often the same is how a guess is made
        is_guess = getattr(description, "guess", None) is not None
        repeated_answer = None if is_guess else repeated_words(questions)
        sentences = sentence_answers(questions)
        warnings = [repeated_answer.warning] if repeated_answer else []
        for warning in [*warnings, *([sentences.warning] if sentences.are_many else [])]:
            score_options.say(warning)
        writable(scores_folder)
        with disk_errors(scores_folder):
            score_summary: dict[str, Any] = {
                "model": model_name,
                "guess": getattr(description, "guess", None),
                "dataset": manifest.dataset,
                "title": manifest.title,
                "version": manifest.version,
                "release_sha256": release_sha256(manifest),
                "predictions": {
                    "file": score_options.file.name,
                    "sha256": predictions.predictions_sha256(score_options.file),
                },
                "cutoff": score_options.cutoff and score_options.cutoff.isoformat(),
                "counts": counts,
                "asked_again": dict(questions.db.execute(_ASKED_AGAIN).fetchall()),
                "relations": questions.relations,
                "verdicts": {
                    verdict_name: verdict_counts.get(verdict_name, 0) for verdict_name in VERDICTS
                },
                "shares": [row._asdict() for row in verdict_shares(questions)],
                "repeated": repeated_answer and repeated_answer._asdict(),
                "sentences": sentences._asdict(),
                "knowledge": knowledge_stop and knowledge_stop._asdict(),
                "no_stop": None if knowledge_stop else why_no_stop(questions),
                "examples": list(_examples(questions)),
                "twins": [difference._asdict() for difference in twin_differences],
                "table": [mean._asdict() for mean in mean_table],
            }
            _write(scores_folder, score_summary, questions, list(metrics))
    return Scores(scores_folder, score_summary, mean_table)


def release_sha256(manifest: Manifest) -> str:
    """The checksum of the files whose rows ask something: a name and a version may be of several
    releases, as where two folders of `quick` have other windows."""
    file_sums = manifest.sha256s()
    asking_files = [
        split.file for config in manifest.configs if config.roles for split in config.splits
    ]
    return text_sha256("\n".join(f"{file_sums[file]} {file}" for file in asking_files))


def _twin_differences(questions: ReleaseQuestions) -> list[TwinDifference]:
    have_twins = any(config.roles.twin for config in questions.configs)
    return list(twin_rows_differences(questions)) if have_twins else []


def _refuse_other_dataset(
    description: predictions.PredictionsAbout | None, dataset: str, file: Path
) -> None:
    """Raise `UserError` if predictions say that they are for another dataset."""
    if description and description.dataset not in (None, dataset):
        text = f"these are predictions for {description.dataset}, and the release is {dataset}"
        raise UserError(text, where=display_path(file))


def _judge(questions: ReleaseQuestions, score_options: ScoreOptions) -> dict[str, int]:
    """Read and judge the answers, say what is left out of them, and return the counts."""
    counts = _read(questions, score_options)
    judge_answers(questions, rouge=score_options.rouge)
    for verdict in ("undecided", "neutral"):
        count_query = f"SELECT count(*) FROM said WHERE verdict = '{verdict}'"  # noqa: S608
        (counts[verdict],) = single_row(questions.db, count_query)
    for note_line in _notes(questions, counts):
        score_options.say(note_line)
    return counts


def _model_name(
    score_options: ScoreOptions, description: predictions.PredictionsAbout | None
) -> str:
    """The name of the model: the option's, else the file's own, else that of the file."""
    stated_name = description.name if description else predictions.model_of_logs(score_options.file)
    return score_options.model or stated_name or _stem(score_options.file)


def _read(questions: ReleaseQuestions, score_options: ScoreOptions) -> dict[str, int]:
    """Create the table `given`, a line for each row that a prediction is for; return the counts.

    `UserError`: as `score_predictions` raises it.
    """
    db = questions.db
    predicted_count = _store_predictions(questions, score_options.file)
    with reading_release(score_options.release):
        db.execute("""
            CREATE TABLE given AS SELECT r.row, p.number
            FROM predicted p JOIN release_rows r ON r.id = p.id
                AND coalesce(p.config = r.config, true) AND coalesce(p.split = r.split, true)
        """)
    release_name = f"{questions.manifest.dataset} {questions.manifest.version}"

    def refuse(
        id_query: str, message: str, hint: str, *, is_error: bool = True, line: int | None = None
    ) -> int:
        """Count the rows of a query with columns `n` and `id`; raise an error if it has any."""
        count_query = f"SELECT count(*), min_by(id, n, {_TOLD}) FROM ({id_query})"  # noqa: S608
        row_count, row_ids = single_row(db, count_query)
        if row_count and is_error:
            listed_ids = ", ".join(row_id[:40] for row_id in row_ids) + (
                ", …" if row_count > _TOLD else ""
            )
            text = message.format(count=f"{row_count:,}", ids=listed_ids)
            raise UserError(text, where=display_path(score_options.file), line=line, hint=hint)
        return int(row_count)

    if not predicted_count:
        raise UserError("no predictions", where=display_path(score_options.file))
    refuse(
        """SELECT row AS n, min(id) AS id FROM given JOIN predicted USING (number)
        GROUP BY row HAVING count(*) > 1""",
        "more than one prediction for {count} rows: {ids}",
        "one prediction a row: several answers are `candidates`, the best first",
    )
    prompt_hash = predictions.prompt_hash_sql("prompt")
    with reading_release(score_options.release):
        refuse(
            "SELECT row AS n, id FROM given JOIN predicted USING (number) "  # noqa: S608
            "JOIN prompts USING (row) "
            # as a case it is computed of the rows that are joined, and not of all
            f"WHERE CASE WHEN prompt_sha256 IS NOT NULL "
            f"THEN left(prompt_sha256, {predictions.HASH}) != {prompt_hash} END",
            "made for another version of the prompt: {ids} ({count} of the predictions)",
            f"this is {release_name}: score them against the release that they were made for, or "
            "make them again",
        )
    with reading_release(score_options.release):
        refuse(
            "SELECT row AS n, r.id FROM (FROM predicted WHERE choice_scores IS NOT NULL) "
            "JOIN given USING (number) JOIN release_rows r USING (row) "
            "WHERE len(choice_scores) != len(choices) OR len(choice_scores) = 0",
            "choice_scores of {count} rows are not as many as their choices: {ids}",
            "a number for each of the row's choices, in their order",
        )
    (given_count,) = single_row(db, "SELECT count(*) FROM given")
    elsewhere_count = _leave_to_other_configs(questions, score_options.release)
    if elsewhere_count and not given_count:
        scored_names = ", ".join(config.name for config in questions.configs)
        raise UserError(
            f"all predictions are of rows of other configs than {scored_names}",
            where=display_path(score_options.file),
            hint="--config names one that they are of; without it all that ask are scored",
        )
    if not given_count and predictions.is_answer_map(score_options.file):
        refuse(
            "SELECT number AS n, id FROM predicted",
            f"one object, and none of its names is the id of a row of {release_name}: {{ids}}",
            f"{predictions.FORM_HINT}; one object alone is answers by id",
            line=1,
        )
    unknown_count = refuse(
        "SELECT number AS n, id FROM predicted ANTI JOIN given USING (number)",
        ("{count} of " + f"{predicted_count:,}" if given_count else "all")
        + f" predictions are of rows that {release_name} does not have: {{ids}}",
        "is it the release that they were made for? --partial leaves them out",
        is_error=not (given_count and score_options.partial),
    )
    with reading_release(score_options.release):
        missing_count = refuse(
            """SELECT row AS n, id FROM release_rows ANTI JOIN given USING (row)
            SEMI JOIN (
                SELECT DISTINCT config, split FROM release_rows SEMI JOIN given USING (row)
            ) USING (config, split)
            -- who chooses has nothing to say of a row without choices
            WHERE len(choices) > 0 OR config NOT IN (
                SELECT r.config FROM (FROM predicted WHERE choice_scores IS NOT NULL)
                JOIN given USING (number) JOIN release_rows r USING (row))""",
            "no prediction for {count} rows of splits that have some: {ids}",
            'write {"id": …, "prediction": ""} where a model says nothing; '
            "--partial scores the rows that are there",
            is_error=not score_options.partial,
        )
    # what was compared is not needed again, and takes as much memory as the rest
    for name in ("id", "config", "split", "prompt_sha256"):
        db.execute(f"ALTER TABLE predicted DROP COLUMN {name}")
    read_asked(questions, score_options.release)
    db.execute(_COUNTED_ONCE if len(questions.configs) > 1 else _COUNTED_ALL)
    return {
        "predictions": predicted_count,
        "rows": given_count,
        "missing": missing_count,
        "unknown": unknown_count,
        "elsewhere": elsewhere_count,
    }


def _store_predictions(questions: ReleaseQuestions, file: Path) -> int:
    """Create the table `predicted` of the predictions of a file; return their number.

    Its columns are those of `predictions.SCHEMA`, and `number`, the place in the file from 0.
    """
    db = questions.db
    db.register("batch", pa.Table.from_batches([], schema=predictions.SCHEMA))
    db.execute("CREATE TABLE predicted AS SELECT *, 0 AS number FROM batch")
    task_places = {
        f"{questions.manifest.dataset}-{config.name}-{split.name}": (config.name, split.name)
        for config in questions.manifest.configs
        for split in config.splits
    }
    predicted_count = 0
    with progress(None, "predictions", "score") as bar:
        for prediction_batch in predictions.read_predictions(file, task_places):
            places = np.arange(prediction_batch.num_rows, dtype=np.int32) + predicted_count
            numbered_batch = prediction_batch.append_column("number", number_array(places))
            db.register("batch", pa.Table.from_batches([numbered_batch]))
            db.execute("INSERT INTO predicted FROM batch")
            predicted_count += prediction_batch.num_rows
            bar.advance(prediction_batch.num_rows)
    db.unregister("batch")
    return predicted_count


def _leave_to_other_configs(questions: ReleaseQuestions, release_folder: Path) -> int:
    """Delete from `predicted` what is of configs that are not scored; return the number."""
    scored_names = {config.name for config in questions.configs}
    id_queries = [
        f"SELECT id FROM {duck.parquet(locate_file(release_folder, split.file))}"  # noqa: S608
        for config in questions.manifest.configs
        if config.roles and config.name not in scored_names
        for split in config.splits
    ]
    if not id_queries:
        return 0
    (deleted_count,) = single_row(
        questions.db,
        "DELETE FROM predicted WHERE number NOT IN (SELECT number FROM given) "  # noqa: S608
        f"AND id IN ({' UNION ALL '.join(id_queries)})",
    )
    return int(deleted_count)


def _notes(questions: ReleaseQuestions, counts: Mapping[str, int]) -> Iterator[str]:
    """Yield a line about each group of rows or predictions that was left out."""
    if counts["elsewhere"]:
        elsewhere_text = _amount(counts["elsewhere"], "prediction")
        yield f"left out: {elsewhere_text} of other configs, which are not scored"
    if counts["unknown"]:
        yield f"left out: {_amount(counts['unknown'], 'prediction')} of unknown rows"
    if counts["undecided"]:
        yield (
            f"left out: {_amount(counts['undecided'], 'row')} with likelihoods of accepted answers "
            "alone, among which there is nothing to choose"
        )
    if counts["neutral"]:
        yield (
            f"left out: {_amount(counts['neutral'], 'prediction')} of what was so before and still "
            "is, where what came is asked for"
        )
    empty_configs = []
    for config_name, answered_count, row_count in questions.db.execute("""
        SELECT config, count(g.row), count(*) FROM release_rows r LEFT JOIN given g USING (row)
        GROUP BY config ORDER BY min(r.row)
    """).fetchall():
        if not answered_count:
            empty_configs.append(config_name)
        elif answered_count < row_count:
            yield f"{config_name}: {answered_count:,} of {row_count:,} rows"
    if empty_configs:
        yield f"no predictions of {', '.join(empty_configs)}"


def _amount(count: int, noun: str) -> str:
    """Return `1 row`, or `1,234 rows`."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def _metrics(questions: ReleaseQuestions) -> dict[str, str]:
    """Return the metrics that at least one row has: name -> SQL that counts the rows that have it.

    Of metrics that the same rows have, the rows are counted once.
    """
    mark_columns = questions.db.table("marks").columns
    metric_names = [metric for metric in METRICS if metric in mark_columns]
    count_columns = ", ".join(f"count({duck.name(metric)})" for metric in metric_names)
    all_rows, *metric_counts = single_row(
        questions.db,
        f"SELECT count(*), {count_columns} FROM marks",  # noqa: S608
    )
    return {
        metric: "count(*)" if row_count == all_rows else f"count({duck.name(metric)})"
        for metric, row_count in zip(metric_names, metric_counts, strict=True)
        if row_count
    }


def _table(
    questions: ReleaseQuestions, metrics: Mapping[str, str], draw_weights: Floats
) -> Iterator[Mean]:
    """Yield every mean: by config, by split and by stratum; last, those of all configs together."""
    whole_source = "(SELECT *, {} AS value FROM marks)"
    of_value = "marks JOIN ({}) USING (row)"
    queries_by_stratum: dict[str, list[str]] = {}
    for config in questions.configs:
        row_condition = f"config = {duck.text(config.name)}"
        yield from _means(
            questions,
            metrics,
            draw_weights,
            whole_source.format("'all'"),
            row_condition,
            config.name,
        )
        for mean in _means(
            questions,
            metrics,
            draw_weights,
            whole_source.format("split"),
            row_condition,
            config.name,
        ):
            yield mean._replace(split=mean.value, value="all")
        began_query = (
            f"SELECT row, label AS value FROM began JOIN asked USING (row) WHERE {row_condition}"  # noqa: S608
        )
        config_strata = {**config.strata, **_changed_strata(config), "began": began_query}
        for stratum_name, stratum_query in config_strata.items():
            queries_by_stratum.setdefault(stratum_name, []).append(stratum_query)
            mark_source = of_value.format(stratum_query)
            yield from _means(
                questions,
                metrics,
                draw_weights,
                mark_source,
                row_condition,
                config.name,
                stratum_name,
            )
    if len(questions.configs) > 1:
        row_condition = "row IN (FROM once)"
        yield from _means(
            questions, metrics, draw_weights, whole_source.format("'all'"), row_condition
        )
        for stratum_name, stratum_queries in queries_by_stratum.items():
            mark_source = of_value.format(" UNION ALL ".join(stratum_queries))
            yield from _means(
                questions, metrics, draw_weights, mark_source, row_condition, None, stratum_name
            )


def _changed_strata(config: QuestionConfig) -> dict[str, str]:
    """Return the strata over time again, of the rows alone whose answer began in the time asked
    about: name -> query, as in `QuestionConfig.strata`.

    Most rows of a release are of facts that have not changed for long, and a model that stopped
    learning has them right: among them those that tell when it stopped would not be seen.
    """
    return {
        CHANGED + name: f"""
            SELECT row, value FROM ({query}) SEMI JOIN once USING (row)
            SEMI JOIN (FROM changed JOIN began USING (row) JOIN asked USING (row, day)) USING (row)
        """  # noqa: S608
        for name, query in config.strata.items()
        if name in (*TIMES, "lag")
    }


def _means(
    questions: ReleaseQuestions,
    metrics: Mapping[str, str],
    draw_weights: Floats,
    mark_source: str,
    where: str,
    config_name: str | None = None,
    stratum: str = "all",
) -> Iterator[Mean]:
    """Yield the mean of every metric over some rows, with its interval, for each `value` of them.

    A *mark* is what one row scored in one metric. `mark_source` is SQL for the table `marks` (a row
    for each row that was answered, a column for each metric) with a column `value`: the rows of
    each value, such as each relation, have a mean of their own. `where` selects the rows. `metrics`
    has SQL for the number of rows that have each, as `_metrics` returns it.

    Intervals come from a bootstrap: the mean is taken anew over many random draws of the data. What
    is drawn are whole *bundles* of subjects and not rows, because the rows of one subject tend to
    be right or wrong together. `draw_weights` says how often each draw takes each bundle (see
    `bundle_weights`). It is made once and handed in, so that all means are of the same draws.
    """
    metric_names = list(metrics)
    metric_columns = ", ".join(
        f"{row_count}, coalesce(sum({duck.name(metric_name)}), 0)::BIGINT"
        for metric_name, row_count in metrics.items()
    )
    cell_table = questions.db.sql(f"""
        SELECT value, bundle, {metric_columns}
        FROM {mark_source} WHERE {where} AND value IS NOT NULL GROUP BY value, bundle
    """).to_arrow_table()  # noqa: S608
    value_column, bundle_column, *number_columns = cell_table.combine_chunks().columns
    value_order = sorted(value_column.unique().to_pylist(), key=sortable)
    value_places = numbers_of(pc.index_in(value_column, text_array(value_order)))
    # Axes: for each metric the number of rows that have it, and the sum of their scores; the value
    # of the stratum; the bundle (rows that the bootstrap draws together).
    mean_cells = np.zeros((len(metrics), 2, len(value_order), draw_weights.shape[1]), np.int64)
    bundle_places = numbers_of(bundle_column)
    for place, numbers in enumerate(number_columns):
        cells_of_numbers = mean_cells[divmod(place, 2)]
        cells_of_numbers[value_places, bundle_places] = numbers_of(numbers)
    row_counts, metric_sums = mean_cells.swapaxes(0, 1).reshape(2, -1, draw_weights.shape[1])
    # A value whose rows do not have a metric has no mean of it.
    present_places = np.flatnonzero(row_counts.any(1))
    row_counts, metric_sums = row_counts[present_places], metric_sums[present_places]
    intervals = mean_intervals(metric_sums, row_counts, (row_counts > 0).sum(1), draw_weights)
    for place, row_count, mean_interval in zip(
        present_places.tolist(), row_counts.sum(1).tolist(), intervals, strict=True
    ):
        metric_number, value_number = divmod(place, len(value_order))
        has_interval = metric_names[metric_number] not in GUESSED and not np.isnan(
            mean_interval.low
        )
        low_bound, high_bound = (
            _round(interval_end) if has_interval else None for interval_end in mean_interval[1:]
        )
        yield Mean(
            dataset=questions.manifest.dataset,
            config=config_name,
            split=None,
            stratum=stratum,
            value=value_order[value_number],
            metric=metric_names[metric_number],
            n=row_count,
            mean=_round(mean_interval.mean),
            low=low_bound,
            high=high_bound,
        )


def sortable(value_text: str) -> tuple[float, str]:
    """Return a sort key: texts that begin with a number sort by it, other texts by themselves.

    >>> sorted(["+2 or more", "-3", "10"], key=sortable)
    ['-3', '+2 or more', '10']
    >>> sortable("P54")
    (0.0, 'P54')
    """
    leading_number = re.match(r"[+-]?\d+", value_text)
    return (float(leading_number[0]) if leading_number else 0.0, value_text)


def _round(mean_value: float) -> float:
    return round(float(mean_value), 6) + 0.0


def _cut(shown_text: str) -> str:
    flat_text = " ".join(shown_text.split())
    return flat_text if len(flat_text) <= _LONG else flat_text[: _LONG - 1] + "…"


def _examples(questions: ReleaseQuestions) -> Iterator[dict[str, object]]:
    """Yield examples of each verdict but `right`; every model is shown with the same rows."""
    verdict_list = ", ".join(map(duck.text, VERDICTS[1:]))
    rows = questions.db.execute(f"""
        WITH hashed AS (
            SELECT row, config, id, verdict, md5(config || id) AS hash
            FROM marks JOIN release_rows USING (row, config) WHERE verdict != 'right'
        ), shown AS (
            SELECT unnest(min({{hash: hash, row: row, id: id}}, {EXAMPLES}), recursive := true)
            FROM hashed GROUP BY verdict
        ), targets AS (FROM accepted SEMI JOIN shown USING (row))
        SELECT m.verdict, m.config, id, prompt, m.f1 / {SCALE}, raw_targets[:4],
            coalesce(prediction, array_to_string(candidates[:5], '; '),
                array_to_string(choice_scores[:5], '; '))
        FROM shown JOIN prompts USING (row) JOIN targets USING (row) JOIN marks m USING (row)
        JOIN given USING (row) JOIN predicted USING (number)
        ORDER BY list_position([{verdict_list}], m.verdict), row
    """)  # noqa: S608
    for (
        verdict_name,
        config_name,
        row_id,
        prompt_text,
        f1,
        target_texts,
        answer_text,
    ) in rows.fetchall():
        yield {
            "verdict": verdict_name,
            "config": config_name,
            "id": row_id,
            "prompt": _cut(prompt_text),
            "prediction": None if answer_text is None else _cut(answer_text),
            "targets": [_cut(target_text) for target_text in target_texts],
            "f1": None if f1 is None else _round(f1),
        }


def _write(
    scores_folder: Path,
    score_summary: Mapping[str, object],
    questions: ReleaseQuestions,
    metrics: Sequence[str],
) -> None:
    metric_values = (
        f"({duck.name(metric)} / {SCALE})::FLOAT AS {duck.name(metric)}" for metric in metrics
    )
    row_columns = ["m.config", "m.split", "id", "subject", "verdict", *metric_values]
    # of a table it is known which columns have no nulls, which decides the bytes of the file
    questions.db.execute("""
        CREATE TABLE labels AS SELECT row, id, subject FROM release_rows SEMI JOIN marks USING (row)
    """)
    with replacing(scores_folder / ROWS) as rows_path:
        copy_query = (
            f"COPY (SELECT {', '.join(row_columns)} FROM marks m JOIN labels USING (row) "  # noqa: S608
            f"ORDER BY row) TO {duck.text(str(rows_path))}"
        )
        questions.db.execute(f"{copy_query} (FORMAT parquet, COMPRESSION zstd)")
    with replacing(scores_folder / SUMMARY) as rows_path:
        write_json(rows_path, score_summary)


def _stem(file: Path) -> str:
    return (file.with_suffix("") if file.suffix in (".gz", ".zst") else file).stem


def folder_name(model_name: str) -> str:
    """Return a name as the name of a folder.

    >>> folder_name("acme/m-1 (rank)"), folder_name("m-1.5_b")
    ('acme-m-1-rank', 'm-1.5_b')
    """
    return re.sub(r"[^\w.-]+", "-", model_name).strip(".-") or "model"
