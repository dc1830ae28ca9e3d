"""Runs of a retrieval system against a BEIR folder: known measures, and how many results are stale.

A run is a file of TREC's form, a line `query Q0 passage rank score tag` for each result. Measures
are those of trec_eval, by pytrec_eval, as `beir` and `mteb` take them.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.release.manifest import write_json
from factdrift.scoring.export.beir import QRELS, QUERIES
from factdrift.scoring.intervals import SCALE, Interval, bundle_weights, mean_intervals

MEASURES = {
    "ndcg_cut_10": "nDCG@10",
    "recall_10": "recall@10",
    "recall_100": "recall@100",
    "recip_rank": "MRR",
}
"""Names of trec_eval, and what they are called here."""
_STALE, _MISLED = "stale@10", "misled"
_TOP = 10
Judged = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


class RetrievalScores(NamedTuple):
    """What a run scores on one split: each measure with its interval over queries."""

    split: str
    queries: int
    measures: Mapping[str, Interval]
    misled: Mapping[str, str]
    """Queries where a stale passage stands above every relevant one, and the first such passage."""


def score_run(folder: Path, run: Path) -> list[RetrievalScores]:
    """Score a run against every split of a folder that `factdrift export --format beir` made.

    A query without results counts as 0. `stale@10`: of the first ten results, the share that names
    what held at another time, which is judged 0; `misled`: whether such a passage stands above all
    relevant ones. Both are means over the queries that have such passages. `UserError`: the folder
    or the run is none, or the run has no query of it.
    """
    try:
        import pytrec_eval
    except ImportError:
        hint = "pip install 'factdrift[retrieval]'"
        raise UserError("scoring of runs needs pytrec_eval", hint=hint) from None
    results_by_query = _run(run)
    split_scores = []
    for path in sorted((folder / QRELS).glob("*.tsv")):
        judged = _judged(path)
        judged_results = {query: results_by_query.get(query, {}) for query in judged}
        if not any(judged_results.values()):
            continue
        marks: dict[str, list[float]] = defaultdict(list)
        misled: dict[str, str] = {}
        evaluator = pytrec_eval.RelevanceEvaluator(judged, set(MEASURES))
        measured = evaluator.evaluate(
            {query: results for query, results in judged_results.items() if results}
        )
        for query, results in judged_results.items():
            for measure, name in MEASURES.items():
                marks[name].append(measured.get(query, {}).get(measure, 0.0))
            if stale := {name for name, score in judged[query].items() if score == 0}:
                share, first = _stale_in(results, judged[query], stale)
                marks[_STALE].append(share)
                marks[_MISLED].append(float(first is not None))
                misled |= {query: first} if first else {}
        measures = {name: _interval(values) for name, values in marks.items()}
        split_scores.append(RetrievalScores(path.stem, len(judged), measures, misled))
    if not split_scores:
        hint = f"ids of queries are those of {display_path(folder / QUERIES)}"
        raise UserError("the run has no query of this folder", where=display_path(run), hint=hint)
    return split_scores


def retrieval_lines(split_scores: list[RetrievalScores]) -> Iterator[str]:
    """The scores as lines of text, in per cent."""
    names = [*MEASURES.values(), _STALE, _MISLED]
    names = [name for name in names if any(name in scores.measures for scores in split_scores)]
    yield "".join([f"{'split':<14}{'queries':>9}", *(f"{name:>21}" for name in names)])
    for scores in split_scores:
        cells = []
        for name in names:
            interval = scores.measures.get(name)
            cells.append(f"{_cell(interval) if interval else '-':>21}")
        yield "".join([f"{scores.split:<14}{scores.queries:>9,}", *cells])


def _cell(interval: Interval) -> str:
    return f"{100 * interval.mean:.2f} [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def _interval(values: list[float]) -> Interval:
    sums = np.array([[round(value * SCALE) for value in values]], np.int64)
    number = sums.shape[1]
    (interval,) = mean_intervals(
        sums, np.ones_like(sums), np.array([number]), bundle_weights(number, 0)
    )
    return interval


def _stale_in(
    results: Mapping[str, float], judged: Mapping[str, int], stale: set[str]
) -> tuple[float, str | None]:
    """The share of the first results that are stale, and the stale one above all relevant ones."""
    ranked = sorted(results, key=lambda name: (-results[name], name))
    first = next(
        (place for place, name in enumerate(ranked) if judged.get(name, 0) > 0), len(ranked)
    )
    misled = next((name for name in ranked[:first] if name in stale), None)
    return sum(name in stale for name in ranked[:_TOP]) / _TOP, misled


def _run(path: Path) -> Run:
    results_by_query: Run = defaultdict(dict)
    for number, line in _lines(path):
        try:
            query, _, passage, _, score, *_ = line.split()
            value = float(score)
        except ValueError:
            hint = "a line is: query Q0 passage rank score tag"
            raise UserError(
                "no line of a run", where=display_path(path), line=number, hint=hint
            ) from None
        if not np.isfinite(value) or passage in results_by_query[query]:
            text = "a passage twice for one query" if np.isfinite(value) else "no number"
            raise UserError(
                text, where=display_path(path), line=number, hint="each passage once, a score"
            )
        results_by_query[query][passage] = value
    return results_by_query


def _judged(path: Path) -> Judged:
    judgments: Judged = defaultdict(dict)
    for number, line in [*_lines(path)][1:]:
        try:
            query, passage, score = line.split("\t")
            judgments[query][passage] = int(score)
        except ValueError:
            hint = "its columns are query-id, corpus-id, score"
            raise UserError(
                "no judgment", where=display_path(path), line=number, hint=hint
            ) from None
    return judgments


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, line.rstrip("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot be read: {error}", where=display_path(path)) from None


def write_retrieval(split_scores: list[RetrievalScores], path: Path) -> None:
    """The scores as JSON."""
    rows = [
        {
            **scores._asdict(),
            "measures": {name: interval._asdict() for name, interval in scores.measures.items()},
        }
        for scores in split_scores
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, rows, sort_keys=True)
