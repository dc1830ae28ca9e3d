"""Score runs of a retrieval system against a BEIR folder, by known measures and by their time.

A run is a file of TREC's form, a line `query Q0 passage rank score tag` for each result. Measures
are those of trec_eval, by pytrec_eval, as `beir` and `mteb` take them. Beside them stand, of the
first ten results:

- `stale@10`: the share that states what held before the day asked about, over the queries that have
  such passages; `early@10`: the share that states what held only afterwards; `other@10`: either,
  where the folder does not say which;
- `later@10`: the share that was published after the query was asked; `deleted@10`: the share that
  had been taken back by then;

and `misled`: whether a passage of another time stands above every relevant one.

A folder of scores has `retrieval.json`, the means, and `queries.jsonl`, the measures of each query.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, replacing, writable
from factdrift.builders.core.hints import require_extra
from factdrift.builders.core.limits import LONGEST_LINE
from factdrift.builders.core.progress import say
from factdrift.builders.core.records import BadValueError, decode_record, numbered_lines, text_value
from factdrift.builders.release.manifest import write_json
from factdrift.scoring.export.beir import (
    ASKED_ON,
    CORPUS,
    DELETED_ON,
    QRELS,
    QUERIES,
    STALE,
    STALE_COLUMNS,
)
from factdrift.scoring.intervals import SCALE, bundle_weights, mean_intervals

SCORES, QUERY_SCORES = "retrieval.json", "queries.jsonl"
"""The files of a folder of scores of a run."""
FIRST = "nDCG@10"
"""The measure that BEIR reports. Every query has it."""
MEASURES = {
    "ndcg_cut_10": FIRST,
    "recall_10": "recall@10",
    "recall_100": "recall@100",
    "recip_rank": "MRR",
}
"""The names of measures in trec_eval -> the names in our tables."""
_OTHER_TIMES: Mapping[str, str] = {
    "stale": "stale@10",
    "early": "early@10",
    "other": "other@10",
}
"""When what a passage states held (`when` in `stale.tsv`) -> the measure of such passages."""
_MISLED, _LATER, _DELETED = "misled", "later@10", "deleted@10"
ALL_MEASURES = (*MEASURES.values(), *_OTHER_TIMES.values(), _MISLED, _LATER, _DELETED)
"""The names of all measures, in the order in which they are shown."""
LEGEND = {
    "stale@10": "of the first ten results, the share that states what held before the day asked "
    "about",
    "early@10": "the share that states what held only after it",
    "other@10": "the share that states what held at another time",
    _MISLED: "a passage of another time stands above every relevant one",
    _LATER: "of the first ten results, the share published after the query was asked",
    _DELETED: "the share taken back by then",
}
_MUCH_LATER = 0.01
"""The share of results of the future above which a run is told of it: a search that obeys the days
has none, and one that does not has a tenth and more."""
_ALL_KINDS = None
"""The kind under which the marks of all queries are kept."""
# Passages of another time are counted among this many first results, as many as nDCG@10 looks at.
_TOP = 10
_NAMED = 3
"""Ids that a message names: enough to see whose they are."""
Judged = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


class MeasureMean(NamedTuple):
    """The mean of a measure over `n` queries, with its interval; a single query may have none."""

    n: int
    mean: float
    low: float | None
    high: float | None


class RetrievalScores(NamedTuple):
    """The scores of a run on one split: each measure over the queries that have it."""

    split: str
    queries: int
    without_results: int
    measures: Mapping[str, MeasureMean]
    kinds: Mapping[str, Mapping[str, MeasureMean]]
    """The measures by kind of query, where the queries say it."""
    misled: Mapping[str, str]
    """Query -> the first passage of another time, where it is above every relevant one."""
    judgments_sha256: str
    """Of the file of judgments: runs can be compared where it is the same."""
    query_scores: Sequence[Mapping[str, str | float | None]]
    """Of each query its id (`query`), `kind` and measures, in the order of the judgments."""


@dataclass(frozen=True)
class _Folder:
    """What a BEIR folder says of its queries and of the passages of a run."""

    asking_days: Mapping[str, str]
    kinds: Mapping[str, str]
    passages: Mapping[str, Mapping[str, str]]
    times: Mapping[tuple[str, str], str]
    """Query and passage -> when what the passage states held, where `stale.tsv` says it."""


def score_run(folder: Path, run: Path) -> list[RetrievalScores]:
    """Score a run against every split of a folder that `factdrift export --format beir` made.

    A query without results counts as 0, and their number is told. The measures are explained above.
    `UserError`: the folder or the run is none, or the run has no query of it.
    """
    require_extra("retrieval", "scoring of runs needs pytrec_eval and SciPy")
    results_by_query = _run(run)
    query_metadata = _query_metadata(folder / QUERIES)
    beir_folder = _Folder(
        asking_days=_texts_of(query_metadata, ASKED_ON),
        kinds=_texts_of(query_metadata, "kind"),
        passages=_check_passages(results_by_query, folder / CORPUS, run),
        times=_times(folder / STALE),
    )
    split_scores: list[RetrievalScores] = []
    for qrels_file in sorted((folder / QRELS).glob("*.tsv")):
        judged_passages = _judged(qrels_file)
        judged_results = {
            query_id: results_by_query.get(query_id, {}) for query_id in judged_passages
        }
        if any(judged_results.values()):
            split_scores.append(
                _split_scores(qrels_file, judged_passages, judged_results, beir_folder)
            )
    if not split_scores:
        hint = f"ids of queries are those of {display_path(folder / QUERIES)}"
        raise UserError("the run has no query of this folder", where=display_path(run), hint=hint)
    return split_scores


def _split_scores(
    qrels_file: Path, judged_passages: Judged, results_by_query: Run, beir_folder: _Folder
) -> RetrievalScores:
    import pytrec_eval

    marks_by_kind: dict[str | None, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    misled_queries: dict[str, str] = {}
    query_scores: list[dict[str, str | float | None]] = []
    evaluator = pytrec_eval.RelevanceEvaluator(judged_passages, set(MEASURES))
    answered_queries = {query_id: hits for query_id, hits in results_by_query.items() if hits}
    measures_by_query = evaluator.evaluate(answered_queries)
    for query_id, query_results in results_by_query.items():
        ranked_ids = _ranked_ids(query_results)
        query_measures = measures_by_query.get(query_id, {})
        query_marks = {name: query_measures.get(measure, 0.0) for measure, name in MEASURES.items()}
        query_marks |= _time_marks(query_id, ranked_ids[:_TOP], beir_folder)
        query_judgments = judged_passages[query_id]
        query_marks |= _other_marks(query_id, ranked_ids[:_TOP], query_judgments, beir_folder)
        if 0 in query_judgments.values():
            misleading = _misleading(ranked_ids, query_judgments)
            query_marks[_MISLED] = float(misleading is not None)
            misled_queries |= {query_id: misleading} if misleading else {}
        query_kind = beir_folder.kinds.get(query_id)
        query_scores.append({"query": query_id, "kind": query_kind, **query_marks})
        for kind in {_ALL_KINDS, query_kind}:
            for name, mark in query_marks.items():
                marks_by_kind[kind][name].append(mark)
    means_by_kind = {
        kind: {name: _mean(marks) for name, marks in sorted(kind_marks.items())}
        for kind, kind_marks in marks_by_kind.items()
    }
    measures = means_by_kind.pop(_ALL_KINDS)
    return RetrievalScores(
        split=qrels_file.stem,
        queries=len(results_by_query),
        without_results=len(results_by_query) - len(answered_queries),
        measures=measures,
        kinds={kind: means_by_kind[kind] for kind in sorted(filter(None, means_by_kind))},
        misled=misled_queries,
        judgments_sha256=sha256(qrels_file.read_bytes()).hexdigest(),
        query_scores=query_scores,
    )


def _other_marks(
    query_id: str, first_ids: Sequence[str], judgments: Mapping[str, int], beir_folder: _Folder
) -> dict[str, float]:
    """Return the shares of first results with another answer: one of before, of later, or either.

    Only what the query has such passages for is there.
    """
    other_passages = {
        passage_id: _OTHER_TIMES[beir_folder.times.get((query_id, passage_id), "other")]
        for passage_id, judgment in judgments.items()
        if judgment == 0
    }
    return {
        name: sum(other_passages.get(hit) == name for hit in first_ids) / _TOP
        for name in sorted(set(other_passages.values()))
    }


def _time_marks(query_id: str, first_ids: Sequence[str], beir_folder: _Folder) -> dict[str, float]:
    """Return the shares of first results that were not known on the day of asking, if it is known.

    `deleted@10` is there only where passages of the run have a day of deletion.
    """
    asking_day = beir_folder.asking_days.get(query_id)
    if asking_day is None:
        return {}
    hits = [beir_folder.passages.get(passage_id, {}) for passage_id in first_ids]
    later_count = sum(hit.get("day", "") > asking_day for hit in hits)
    marks = {_LATER: later_count / _TOP}
    if any(DELETED_ON in metadata for metadata in beir_folder.passages.values()):
        deleted_count = sum(DELETED_ON in hit and hit[DELETED_ON] <= asking_day for hit in hits)
        marks[_DELETED] = deleted_count / _TOP
    return marks


def _query_metadata(queries_file: Path) -> dict[str, dict[str, Any]]:
    """Return the metadata of each query, where the folder has its queries."""
    metadata_by_query: dict[str, dict[str, Any]] = {}
    if not queries_file.is_file():
        return metadata_by_query
    for line_number, line in numbered_lines(queries_file, LONGEST_LINE, "export it again"):
        try:
            query = decode_record(line)
            query_id, metadata = text_value(query.get("_id")), query.get("metadata")
        except BadValueError as error:
            place = display_path(queries_file)
            raise UserError(f"no query: {error}", where=place, line=line_number) from None
        if query_id and isinstance(metadata, dict):
            metadata_by_query[query_id] = metadata
    return metadata_by_query


def _texts_of(metadata_by_query: Mapping[str, Mapping[str, Any]], name: str) -> dict[str, str]:
    """Return the value of one field by query, where it is a text."""
    values = {query_id: metadata.get(name) for query_id, metadata in metadata_by_query.items()}
    return {query_id: value for query_id, value in values.items() if isinstance(value, str)}


def _times(stale_file: Path) -> dict[tuple[str, str], str]:
    """Return when held what passages that are judged 0 state, as far as a folder says it."""
    times: dict[tuple[str, str], str] = {}
    if not stale_file.is_file():
        return times
    numbered_rows = _lines(stale_file)
    heads = next(numbered_rows, (1, ""))[1].split("\t")
    if not set(STALE_COLUMNS) <= set(heads):  # of an older version
        return times
    for line_number, line in numbered_rows:
        cells = dict(zip(heads, line.split("\t"), strict=False))
        if cells.get("when") not in _OTHER_TIMES:
            hint = f"`when` is one of {', '.join(_OTHER_TIMES)}"
            place = display_path(stale_file)
            raise UserError("no passage of another time", where=place, line=line_number, hint=hint)
        times[cells["query-id"], cells["corpus-id"]] = cells["when"]
    return times


def _check_passages(
    results_by_query: Run, corpus_file: Path, run: Path
) -> dict[str, dict[str, str]]:
    """Tell how many passages of a run are not in the corpus; return the days of those that are.

    They are `day` and `deleted_on`, as far as a passage has them.

    Such a passage is judged by nobody, and counts as one that does not answer. `UserError`: none
    of them is there, so that the run is of another corpus.
    """
    days: dict[str, dict[str, str]] = {}
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
            if isinstance(metadata, dict):
                named_days = {name: metadata.get(name) for name in ("day", DELETED_ON)}
                days[passage_id] = {
                    name: day for name, day in named_days.items() if isinstance(day, str)
                }
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
    """Yield the scores as lines of text, in per cent: measures, kinds of queries, a legend."""
    for scores in split_scores:
        yield f"{scores.split}: {scores.queries:,} queries"
        yield f"{'measure':<14}{'queries':>9}{'per cent':>22}"
        for name in _in_order(scores.measures):
            mean = scores.measures[name]
            yield f"{name:<14}{mean.n:>9,}{_cell(mean):>22}"
        yield from _kind_lines(scores)
    measured_names = {name for scores in split_scores for name in scores.measures}
    for name, meaning in LEGEND.items():
        if name in measured_names:
            yield f"{name}: {meaning}"
    if measured_names & LEGEND.keys():
        yield "queries: those that a measure is over; of stale@10, early@10 and misled, those that"
        yield "have such passages"


def _kind_lines(scores: RetrievalScores) -> Iterator[str]:
    """Yield a line of heads and a line for each kind of query, if the queries have kinds."""
    if not scores.kinds:
        return
    names = _in_order(scores.measures)
    yield "".join([f"{'kind':<14}{'queries':>9}", *(f"{name:>12}" for name in names)])
    for kind, means in scores.kinds.items():
        cells = [
            f"{100 * means[name].mean:>12.1f}" if name in means else f"{'-':>12}" for name in names
        ]
        yield "".join([f"{kind:<14}{means[FIRST].n:>9,}", *cells])


def _in_order(measures: Mapping[str, MeasureMean]) -> list[str]:
    return [name for name in ALL_MEASURES if name in measures]


def retrieval_notes(split_scores: list[RetrievalScores]) -> Iterator[str]:
    """Yield what a user has to know of a run: results that are missing, or of the future."""
    for scores in split_scores:
        if scores.without_results:
            yield (
                f"warning: {scores.without_results:,} of {scores.queries:,} queries of "
                f"{scores.split} have no results; each counts as 0"
            )
        later = scores.measures.get(_LATER)
        if later and later.mean > _MUCH_LATER:
            yield (
                f"warning: {later.mean:.1%} of the first ten results of {scores.split} were "
                "published after the query was asked: leave out passages whose `day` is later than "
                f"the query's `{ASKED_ON}` (BEIR's loader drops both; they are in the files)"
            )


def _cell(mean: MeasureMean) -> str:
    cell_text = f"{100 * mean.mean:.2f}"
    if mean.low is None or mean.high is None:
        return cell_text
    return f"{cell_text} [{100 * mean.low:.1f}, {100 * mean.high:.1f}]"


def _mean(query_values: list[float]) -> MeasureMean:
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
    low, high = (None if np.isnan(bound) else bound for bound in (interval.low, interval.high))
    return MeasureMean(query_count, interval.mean, low, high)


def _ranked_ids(query_results: Mapping[str, float]) -> list[str]:
    """Return the ids of results, the best first, equal ones in the order of their ids."""
    return sorted(query_results, key=lambda passage_id: (-query_results[passage_id], passage_id))


def _misleading(ranked_ids: Sequence[str], judged_passages: Mapping[str, int]) -> str | None:
    """Return the first judged result if it is of another time; None if it is relevant."""
    for passage_id in ranked_ids:
        if passage_id in judged_passages:
            return passage_id if judged_passages[passage_id] == 0 else None
    return None


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
    """Return the scores as JSON data, without those of each query."""
    return [
        {
            "split": scores.split,
            "queries": scores.queries,
            "without_results": scores.without_results,
            "measures": _as_data(scores.measures),
            "kinds": {kind: _as_data(means) for kind, means in scores.kinds.items()},
            "misled": scores.misled,
            "judgments_sha256": scores.judgments_sha256,
        }
        for scores in split_scores
    ]


def _as_data(measures: Mapping[str, MeasureMean]) -> dict[str, dict[str, float]]:
    return {name: mean._asdict() for name, mean in measures.items()}


def write_retrieval(split_scores: list[RetrievalScores], scores_folder: Path) -> None:
    """Write the scores into a folder: means as JSON, and a line of JSON for each query."""
    writable(scores_folder)
    with disk_errors(scores_folder):
        with replacing(scores_folder / QUERY_SCORES) as lines_path:
            lines_path.write_text("".join(_query_lines(split_scores)), encoding="utf-8")
        with replacing(scores_folder / SCORES) as scores_path:
            write_json(scores_path, scores_data(split_scores), sort_keys=True)


def _query_lines(split_scores: list[RetrievalScores]) -> Iterator[str]:
    for scores in split_scores:
        for query_score in scores.query_scores:
            yield json.dumps({"split": scores.split, **query_score}) + "\n"
