"""Score runs of a retrieval system against a BEIR folder, by known measures and by staleness.

A run is a file of TREC's form, a line `query Q0 passage rank score tag` for each result. Measures
are those of trec_eval, by pytrec_eval, as `beir` and `mteb` take them.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hints import require_extra
from factdrift.builders.core.limits import LONGEST_LINE
from factdrift.builders.core.progress import say
from factdrift.builders.core.records import BadValueError, decode_record, numbered_lines, text_value
from factdrift.builders.release.manifest import write_json
from factdrift.scoring.export.beir import CORPUS, QRELS, QUERIES
from factdrift.scoring.intervals import SCALE, ConfidenceInterval, bundle_weights, mean_intervals

MEASURES = {
    "ndcg_cut_10": "nDCG@10",
    "recall_10": "recall@10",
    "recall_100": "recall@100",
    "recip_rank": "MRR",
}
"""The names of measures in trec_eval -> the names in our tables."""
_STALE, _MISLED, _LATER = "stale@10", "misled", "later@10"
# Stale passages are counted among this many first results, as many as nDCG@10 looks at, the measure
# that BEIR reports.
_TOP = 10
_NAMED = 3
"""Ids that a message names: enough to see whose they are."""
Judged = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


class RetrievalScores(NamedTuple):
    """The scores of a run on one split: each measure with its interval over queries."""

    split: str
    queries: int
    measures: Mapping[str, ConfidenceInterval]
    misled: Mapping[str, str]
    """Query -> the first stale passage, where it is ranked above every relevant one."""


def score_run(folder: Path, run: Path) -> list[RetrievalScores]:
    """Score a run against every split of a folder that `factdrift export --format beir` made.

    A query without results counts as 0. `stale@10`: of the first ten results, the share that names
    what held at another time, which is judged 0; `misled`: whether such a passage stands above all
    relevant ones. Both are means over the queries that have such passages. `later@10`: of the first
    ten results, the share that was published after the query was asked; such a passage is not
    relevant. `UserError`: the folder or the run is none, or the run has no query of it.
    """
    require_extra("retrieval", "scoring of runs needs pytrec_eval and SciPy")
    import pytrec_eval

    results_by_query = _run(run)
    passage_days = _check_passages(results_by_query, folder / CORPUS, run)
    asking_days = _asking_days(folder / QUERIES)
    split_scores = []
    for qrels_file in sorted((folder / QRELS).glob("*.tsv")):
        judged_passages = _judged(qrels_file)
        judged_results = {
            query_id: results_by_query.get(query_id, {}) for query_id in judged_passages
        }
        if not any(judged_results.values()):
            continue
        marks_by_measure: dict[str, list[float]] = defaultdict(list)
        misled_queries: dict[str, str] = {}
        evaluator = pytrec_eval.RelevanceEvaluator(judged_passages, set(MEASURES))
        measures_by_query = evaluator.evaluate(
            {
                query_id: ranked_results
                for query_id, ranked_results in judged_results.items()
                if ranked_results
            }
        )
        for query_id, query_results in judged_results.items():
            for measure, name in MEASURES.items():
                marks_by_measure[name].append(measures_by_query.get(query_id, {}).get(measure, 0.0))
            ranked_ids = _ranked_ids(query_results)
            if query_id in asking_days:
                later_count = sum(
                    passage_days.get(passage_id, "") > asking_days[query_id]
                    for passage_id in ranked_ids[:_TOP]
                )
                marks_by_measure[_LATER].append(later_count / _TOP)
            if 0 in judged_passages[query_id].values():
                stale_share, first_stale = _stale_in(ranked_ids, judged_passages[query_id])
                marks_by_measure[_STALE].append(stale_share)
                marks_by_measure[_MISLED].append(float(first_stale is not None))
                misled_queries |= {query_id: first_stale} if first_stale else {}
        measure_intervals = {
            name: _interval(query_values) for name, query_values in marks_by_measure.items()
        }
        split_scores.append(
            RetrievalScores(
                qrels_file.stem, len(judged_passages), measure_intervals, misled_queries
            )
        )
    if not split_scores:
        hint = f"ids of queries are those of {display_path(folder / QUERIES)}"
        raise UserError("the run has no query of this folder", where=display_path(run), hint=hint)
    return split_scores


def _asking_days(queries_file: Path) -> dict[str, str]:
    """Return the day on which each query was asked, where the queries say it."""
    asking_days: dict[str, str] = {}
    if not queries_file.is_file():
        return asking_days
    for line_number, line in numbered_lines(queries_file, LONGEST_LINE, "export it again"):
        try:
            query = decode_record(line)
            query_id, metadata = text_value(query.get("_id")), query.get("metadata")
        except BadValueError as error:
            place = display_path(queries_file)
            raise UserError(f"no query: {error}", where=place, line=line_number) from None
        if query_id and isinstance(metadata, dict) and isinstance(metadata.get("asked_on"), str):
            asking_days[query_id] = metadata["asked_on"]
    return asking_days


def _check_passages(results_by_query: Run, corpus_file: Path, run: Path) -> dict[str, str]:
    """Tell how many passages of a run are not in the corpus; return the days of those that are.

    Such a passage is judged by nobody, and counts as one that does not answer. `UserError`: none
    of them is there, so that the run is of another corpus.
    """
    days: dict[str, str] = {}
    if not corpus_file.is_file():
        return days
    unknown_ids = {passage_id for results in results_by_query.values() for passage_id in results}
    passage_count = len(unknown_ids)
    for line_number, line in numbered_lines(corpus_file, LONGEST_LINE, "export it again"):
        try:
            passage = decode_record(line)
            passage_id, metadata = text_value(passage.get("_id")), passage.get("metadata")
        except BadValueError as error:
            place = display_path(corpus_file)
            raise UserError(f"no passage: {error}", where=place, line=line_number) from None
        if passage_id in unknown_ids:
            unknown_ids.discard(passage_id)
            if isinstance(metadata, dict) and isinstance(metadata.get("day"), str):
                days[passage_id] = metadata["day"]
        if not unknown_ids:
            return days
    named_ids = ", ".join(sorted(unknown_ids)[:_NAMED])
    more_ids = ", …" if len(unknown_ids) > _NAMED else ""
    text = f"{len(unknown_ids):,} of {passage_count:,} passages are not in the corpus: "
    text += f"{named_ids}{more_ids}"
    if len(unknown_ids) == passage_count:
        hint = f"is it a run of another corpus? ids are those of {display_path(corpus_file)}"
        raise UserError(text, where=display_path(run), hint=hint)
    say(f"{display_path(run)}: {text}")
    return days


def retrieval_lines(split_scores: list[RetrievalScores]) -> Iterator[str]:
    """Yield the scores as lines of text, in per cent."""
    measure_names = [*MEASURES.values(), _STALE, _MISLED, _LATER]
    measure_names = [
        measure_name
        for measure_name in measure_names
        if any(measure_name in scores.measures for scores in split_scores)
    ]
    yield "".join(
        [f"{'split':<14}{'queries':>9}", *(f"{measure_name:>21}" for measure_name in measure_names)]
    )
    for scores in split_scores:
        measure_cells = []
        for measure_name in measure_names:
            interval = scores.measures.get(measure_name)
            measure_cells.append(f"{_cell(interval) if interval else '-':>21}")
        yield "".join([f"{scores.split:<14}{scores.queries:>9,}", *measure_cells])


def _cell(interval: ConfidenceInterval) -> str:
    return f"{100 * interval.mean:.2f} [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def _interval(query_values: list[float]) -> ConfidenceInterval:
    scaled_marks = np.array(
        [[round(query_value * SCALE) for query_value in query_values]], np.int64
    )
    query_count = scaled_marks.shape[1]
    (interval,) = mean_intervals(
        scaled_marks,
        np.ones_like(scaled_marks),
        np.array([query_count]),
        bundle_weights(query_count, 0),
    )
    return interval


def _ranked_ids(query_results: Mapping[str, float]) -> list[str]:
    """Return the ids of results, the best first, equal ones in the order of their ids."""
    return sorted(query_results, key=lambda passage_id: (-query_results[passage_id], passage_id))


def _stale_in(
    ranked_ids: Sequence[str], judged_passages: Mapping[str, int]
) -> tuple[float, str | None]:
    """Return the share of stale results, and the first one if it is above all relevant ones."""
    stale_count = sum(judged_passages.get(passage_id) == 0 for passage_id in ranked_ids[:_TOP])
    for passage_id in ranked_ids:
        if passage_id in judged_passages:
            is_stale = judged_passages[passage_id] == 0
            return stale_count / _TOP, passage_id if is_stale else None
    return stale_count / _TOP, None


def _run(run_file: Path) -> Run:
    """Read a run in TREC's format: the score of each passage, by query.

    Raises `UserError` for a malformed line, and for a passage that a query has twice.
    """
    results_by_query: Run = defaultdict(dict)
    for line_number, line in _lines(run_file):
        try:
            query_id, _, passage_id, _, score_text, *_ = line.split()
            result_score = float(score_text)
        except ValueError:
            hint = "a line is: query Q0 passage rank score tag"
            raise UserError(
                "no line of a run", where=display_path(run_file), line=line_number, hint=hint
            ) from None
        if not np.isfinite(result_score) or passage_id in results_by_query[query_id]:
            text = "a passage twice for one query" if np.isfinite(result_score) else "no number"
            raise UserError(
                text,
                where=display_path(run_file),
                line=line_number,
                hint="each passage once, a score",
            )
        results_by_query[query_id][passage_id] = result_score
    return results_by_query


def _judged(qrels_file: Path) -> Judged:
    judged_passages: Judged = defaultdict(dict)
    for line_number, line in [*_lines(qrels_file)][1:]:
        try:
            query_id, passage_id, judged_score = line.split("\t")
            judged_passages[query_id][passage_id] = int(judged_score)
        except ValueError:
            hint = "its columns are query-id, corpus-id, score"
            raise UserError(
                "no judgment", where=display_path(qrels_file), line=line_number, hint=hint
            ) from None
    return judged_passages


def _lines(text_file: Path) -> Iterator[tuple[int, str]]:
    try:
        with text_file.open(encoding="utf-8-sig") as file:
            for line_number, line in enumerate(file, 1):
                if line.strip():
                    yield line_number, line.rstrip("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot be read: {error}", where=display_path(text_file)) from None


def scores_data(split_scores: list[RetrievalScores]) -> list[dict[str, object]]:
    """Return the scores as JSON data."""
    return [
        {
            **scores._asdict(),
            "measures": {
                measure_name: interval._asdict()
                for measure_name, interval in scores.measures.items()
            },
        }
        for scores in split_scores
    ]


def write_retrieval(split_scores: list[RetrievalScores], scores_file: Path) -> None:
    """Write the scores as JSON."""
    scores_file.parent.mkdir(parents=True, exist_ok=True)
    write_json(scores_file, scores_data(split_scores), sort_keys=True)
