"""`factdrift report` of retrieval runs: their measures side by side, and each two against another.

What is compared was scored by `factdrift score FOLDER --run`, against the same judgments.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, replacing, writable
from factdrift.builders.core.limits import LONGEST_LINE
from factdrift.builders.core.records import (
    BadValueError,
    decode_record,
    numbered_lines,
)
from factdrift.scoring.intervals import SCALE, paired_difference, subject_bundles
from factdrift.scoring.report_page import REPORT, PairedTest, check_names, filled_page
from factdrift.scoring.retrieval import (
    ALL_MEASURES,
    FIRST,
    LEGEND,
    QUERY_SCORES,
    SCORES,
    MeasureMean,
)
from factdrift.scoring.score import SUMMARY

_SCORE_AGAIN = "score the run again: factdrift score FOLDER --run FILE"
# a fixed seed: the same scores give the same page
_SEED = 0


class SplitMeans(NamedTuple):
    """What `retrieval.json` says of one split."""

    split: str
    judgments_sha256: str
    queries: int
    without_results: int
    measures: Mapping[str, MeasureMean]
    kinds: Mapping[str, Mapping[str, MeasureMean]]


@dataclass(frozen=True)
class ScoredRun:
    """A folder of scores of a run, whose name is the run's."""

    folder: Path
    splits: Mapping[str, SplitMeans]

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.folder.resolve().name

    @cached_property
    def first_scores(self) -> Mapping[tuple[str, str], float]:
        """Split and query -> its nDCG@10."""
        lines_path = self.folder / QUERY_SCORES
        if not lines_path.is_file():
            raise UserError("cannot be read", where=display_path(lines_path), hint=_SCORE_AGAIN)
        first_scores: dict[tuple[str, str], float] = {}
        for line_number, line in numbered_lines(lines_path, LONGEST_LINE, _SCORE_AGAIN):
            try:
                record = decode_record(line)
                query_place = str(record["split"]), str(record["query"])
                first_scores[query_place] = float(record[FIRST])
            except (BadValueError, KeyError, TypeError, ValueError):
                raise UserError(
                    "no scores of a query",
                    where=display_path(lines_path),
                    line=line_number,
                    hint=_SCORE_AGAIN,
                ) from None
        return first_scores


def are_runs(score_folders: Sequence[Path]) -> bool:
    """Whether folders of scores are of retrieval runs; `UserError` if only some of them are."""
    run_folders = [
        score_folder
        for score_folder in score_folders
        if (score_folder / SCORES).is_file() and not (score_folder / SUMMARY).is_file()
    ]
    if run_folders and len(run_folders) < len(score_folders):
        other_folder = next(folder for folder in score_folders if folder not in run_folders)
        raise UserError(
            f"{display_path(run_folders[0])} has scores of a run, {display_path(other_folder)} not",
            hint="make a report of runs, and another one of answers",
        )
    return bool(run_folders)


def read_run(score_folder: Path) -> ScoredRun:
    """Read the scores of a run; raise `UserError` if they are none."""
    scores_path = score_folder / SCORES
    try:
        split_values = json.loads(scores_path.read_bytes())
        splits = {str(values["split"]): _split_means(values) for values in split_values}
    except OSError as error:
        text = f"cannot be read: {error.strerror}"
        raise UserError(text, where=display_path(scores_path)) from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        text = "no scores of a run, or of an older version"
        raise UserError(text, where=display_path(scores_path), hint=_SCORE_AGAIN) from error
    return ScoredRun(score_folder, splits)


def _split_means(values: Mapping[str, Any]) -> SplitMeans:
    return SplitMeans(
        split=str(values["split"]),
        judgments_sha256=str(values["judgments_sha256"]),
        queries=int(values["queries"]),
        without_results=int(values["without_results"]),
        measures=_means(values["measures"]),
        kinds={kind: _means(means) for kind, means in values["kinds"].items()},
    )


def _means(means_by_name: Mapping[str, Mapping[str, Any]]) -> dict[str, MeasureMean]:
    """Return the means of known measures; `ValueError` if one of them has a text for a number."""
    means: dict[str, MeasureMean] = {}
    for name in ALL_MEASURES:
        if name in means_by_name:
            mean = MeasureMean(**means_by_name[name])
            if not all(isinstance(number, int | float | None) for number in mean):
                raise ValueError(name)
            means[name] = mean
    return means


def write_run_report(score_folders: Sequence[Path], report_folder: Path) -> Path:
    """Write the page of some runs; return its path.

    `UserError`: scores that cannot be read, runs against other judgments, two of the same name, too
    many.
    """
    runs = [read_run(score_folder) for score_folder in score_folders]
    run_names = [run.name for run in runs]
    check_names(run_names, "runs", "factdrift score … --out FOLDER: the folder's name is the run's")
    split_names = _common_splits(runs)
    page_text = filled_page(
        "run_report.html.j2",
        run_names,
        splits=[_split_tables(runs, split_name) for split_name in split_names],
        legend=LEGEND,
    )
    writable(report_folder)
    with disk_errors(report_folder), replacing(report_folder / REPORT) as page_path:
        page_path.write_text(page_text, encoding="utf-8")
    return report_folder / REPORT


def _common_splits(runs: Sequence[ScoredRun]) -> list[str]:
    """Return the splits that all runs have; `UserError` for none, or for other judgments of one."""
    split_names = [name for name in runs[0].splits if all(name in run.splits for run in runs)]
    if not split_names:
        raise UserError("these runs have no split in common", hint="make a report of each")
    for split_name in split_names:
        for run in runs:
            first_sha256 = runs[0].splits[split_name].judgments_sha256
            if run.splits[split_name].judgments_sha256 != first_sha256:
                text = f"{runs[0].name} and {run.name} were scored against other judgments"
                raise UserError(text, hint="score both against the same folder")
    return split_names


class KindTable(NamedTuple):
    """The means of one measure by kind of query: a row a kind, a cell a run."""

    measure: str
    rows: Sequence[tuple[str, Sequence[MeasureMean | None]]]


class SplitTables(NamedTuple):
    """What the page says of one split; `runs` has each run with its means."""

    split: str
    measures: Sequence[str]
    runs: Sequence[tuple[str, SplitMeans]]
    tests: Sequence[PairedTest]
    kinds: Sequence[KindTable]


def _split_tables(runs: Sequence[ScoredRun], split_name: str) -> SplitTables:
    split_means = [run.splits[split_name] for run in runs]
    measured_names = {name for means in split_means for name in means.measures}
    measures = [name for name in ALL_MEASURES if name in measured_names]
    return SplitTables(
        split=split_name,
        measures=measures,
        runs=[(run.name, means) for run, means in zip(runs, split_means, strict=True)],
        tests=list(_differences(runs, split_name)),
        kinds=list(_kind_tables(split_means, measures)),
    )


def _kind_tables(split_means: Sequence[SplitMeans], measures: Sequence[str]) -> Iterator[KindTable]:
    """Yield a table for each measure that a kind of query has."""
    kind_names = sorted({kind for means in split_means for kind in means.kinds})
    for measure in measures:
        kind_rows = []
        for kind in kind_names:
            kind_means = [means.kinds.get(kind, {}).get(measure) for means in split_means]
            if any(kind_means):
                kind_rows.append((kind, kind_means))
        if kind_rows:
            yield KindTable(measure, kind_rows)


def _differences(runs: Sequence[ScoredRun], split_name: str) -> Iterator[PairedTest]:
    """Compare each two runs by nDCG@10 over the queries of a split, each query a subject."""
    for first_run, second_run in combinations(runs, 2):
        query_places = [place for place in first_run.first_scores if place[0] == split_name]
        if unscored := [place for place in query_places if place not in second_run.first_scores]:
            raise UserError(
                f"query {unscored[0][1]} is not there",
                where=display_path(second_run.folder / QUERY_SCORES),
                hint=_SCORE_AGAIN,
            )
        first_marks, second_marks = (
            np.array([round(run.first_scores[place] * SCALE) for place in query_places], np.int64)
            for run in (first_run, second_run)
        )
        query_bundles = subject_bundles(np.arange(len(query_places)))
        difference = paired_difference(first_marks, second_marks, *query_bundles, _SEED)
        yield PairedTest(first_run.name, second_run.name, FIRST, difference)
