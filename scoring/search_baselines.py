"""Baselines of retrieval over the passages of a BEIR folder: BM25 by tantivy, or embeddings.

Nothing is searched that was published after a query was asked (`asked_on`, where it says so), or
taken back by then (`deleted_on`). `day`
leaves out what was published after the day that a query asks about; `newest` puts the ten best of
these in the order of their days, the newest first; `guess` takes no score at all, but the newest of
these that have all words with capitals of the query.
"""

import heapq
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import replacing
from factdrift.builders.core.progress import progress
from factdrift.builders.generate.mentions import batches
from factdrift.builders.generate.transformers_models import require_torch
from factdrift.reasoning.as_of.dated_index import (
    DEPTH,
    NEWEST,
    DatedIndex,
    DatedText,
    reordered_by_day,
)
from factdrift.reasoning.as_of.text_names import name_words
from factdrift.scoring.export.beir import ASKED_ON, CORPUS, DELETED_ON, QUERIES
from factdrift.scoring.option_values import Baseline

# texts that are encoded together, on a processor
_BATCH = 64
# passages whose vectors are in memory at a time: 4,096 of 384 numbers are 6 MB
_BLOCK = 4096
# tokens of a text that are read: what sentence models such as all-MiniLM were trained for
_LENGTH = 256


Ranked = Iterator[tuple[str, list[tuple[str, float]]]]
"""Ids of queries, each with its results and their scores, best first."""


def search_passages(
    beir_folder: Path, out_file: Path, baseline: Baseline = "bm25", model_folder: Path | None = None
) -> int:
    """Write a run in TREC's form, `DEPTH` results a query; return the number of its lines.

    `model_folder`: the folder of a sentence model, for `embedding`. `UserError`: the folder is not
    one that `factdrift export --format beir` wrote, `day`, `newest` or `guess` is asked of passages
    without days, or there is no model in its folder. Memory holds the writer's heap and
    one query; for `embedding`, the vectors of the queries, their results and a block of passages.
    """
    if (baseline == "embedding") is (model_folder is None):
        raise UserError("--by embedding and --model FOLDER go together")
    results_by_query = (
        _by_words(beir_folder, baseline)
        if model_folder is None
        else _nearest(beir_folder, SentenceEncoder(model_folder))
    )
    count = 0
    out_file.parent.mkdir(parents=True, exist_ok=True)
    with (
        replacing(out_file) as unfinished_file,
        unfinished_file.open("w", encoding="utf-8") as run_file,
    ):
        for query, ranked_results in results_by_query:
            for result_rank, (passage_id, passage_score) in enumerate(ranked_results, 1):
                run_file.write(
                    f"{query} Q0 {passage_id} {result_rank} {passage_score:.4f} {baseline}\n"
                )
                count += 1
    return count


def _by_words(beir_folder: Path, baseline: Baseline) -> Ranked:
    """Yield the id of each query with its passages: by BM25, or for `guess` by names and day."""
    with tempfile.TemporaryDirectory() as index_folder:
        passages = _dated_texts(beir_folder, days_needed=baseline != "bm25")
        index = DatedIndex.build(passages, Path(index_folder))
        for query in beir_records(beir_folder / QUERIES):
            yield query["_id"], _ranked(index, query, baseline)


def _ranked(
    index: DatedIndex, query: dict[str, Any], baseline: Baseline
) -> list[tuple[str, float]]:
    """Return the ids of the best passages for a query with their scores, the best first.

    `newest` reorders the first `NEWEST` passages of `day` by their day, the newest first; it and
    `guess` score passages by their place.
    """
    last_day = _last_day(query, baseline)
    asking_day = _day_of(query, ASKED_ON)
    if baseline == "guess":
        hits = index.newest_with_all(name_words(query["text"]), last_day, DEPTH, asking_day)
    else:
        hits = index.best(query["text"], last_day, DEPTH, asking_day)
    if baseline in ("bm25", "day"):
        return [(hit.id, hit.score) for hit in hits]
    hits = reordered_by_day(hits, NEWEST) if baseline == "newest" else hits
    return [(hit.id, float(DEPTH - place)) for place, hit in enumerate(hits)]


def _last_day(query: dict[str, Any], baseline: Baseline) -> date | None:
    """Return the last day of the passages that may be found for a query; None where any may.

    Nothing that was published after the day on which a query is asked is ever searched; except for
    `bm25` and `embedding`, nothing after the day that it asks about.
    """
    day_names = [ASKED_ON] if baseline in ("bm25", "embedding") else [ASKED_ON, "day"]
    limits = [query["metadata"][name] for name in day_names if name in query["metadata"]]
    return date.fromisoformat(min(limits)) if limits else None


def _dated_texts(beir_folder: Path, days_needed: bool) -> Iterator[DatedText]:
    """Yield the passages of a folder; `UserError` where one has no day and needs one."""
    for passage in beir_records(beir_folder / CORPUS):
        day = _day_of(passage)
        if days_needed and day is None:
            hint = "only news have days; take bm25"
            raise UserError("its passages have no days", where=display_path(beir_folder), hint=hint)
        text = f"{passage['title']} {passage['text']}"
        yield DatedText(passage["_id"], day, text, _day_of(passage, DELETED_ON))


def _day_of(beir_record: Mapping[str, Any], name: str = "day") -> date | None:
    day_text = beir_record["metadata"].get(name)
    return date.fromisoformat(day_text) if day_text else None


def beir_records(records_file: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of `corpus.jsonl` or `queries.jsonl`; raise `UserError` for others."""
    if not records_file.is_file():
        hint = "factdrift export RELEASE --format beir makes such a folder"
        raise UserError("no such file", where=display_path(records_file), hint=hint)
    with records_file.open(encoding="utf-8-sig") as file:
        for line_number, record_line in enumerate(file, 1):
            try:
                beir_record = json.loads(record_line)
                beir_record["_id"], beir_record["text"], beir_record["metadata"]
            except (ValueError, KeyError, TypeError):
                raise UserError(
                    "no record of BEIR", where=display_path(records_file), line=line_number
                ) from None
            yield beir_record


class SentenceEncoder:
    """A model of sentences in a local folder, on the processor: means of its last states."""

    def __init__(self, folder: Path) -> None:
        require_torch()
        import torch
        import transformers as tf

        if not (folder / "config.json").is_file():
            hint = "the folder of a sentence model, with config.json, weights and tokenizer"
            raise UserError("no model", where=display_path(folder), hint=hint)
        transformers_logging: Any = tf.utils.logging
        transformers_logging.disable_progress_bar()
        self._torch = torch
        try:
            self._tokenizer: Any = tf.AutoTokenizer.from_pretrained(str(folder))
            self._model: Any = tf.AutoModel.from_pretrained(str(folder)).eval()
        except (OSError, ValueError) as error:
            error_text = f"cannot be loaded: {str(error).splitlines()[0]}"
            raise UserError(error_text, where=display_path(folder)) from error

    def __call__(self, texts: list[str]) -> NDArray[np.float32]:
        """A vector of length 1 for each text, a row each."""
        vector_parts = []
        for batch_texts in batches(texts, _BATCH):
            encoded_texts = self._tokenizer(
                list(batch_texts),
                padding=True,
                truncation=True,
                max_length=_LENGTH,
                return_tensors="pt",
            )
            with self._torch.inference_mode():
                last_states = self._model(**encoded_texts).last_hidden_state
            token_mask = encoded_texts["attention_mask"].unsqueeze(-1)
            mean_states = (last_states * token_mask).sum(1) / token_mask.sum(1)
            vector_parts.append((mean_states / mean_states.norm(dim=1, keepdim=True)).numpy())
        text_vectors: NDArray[np.float32] = np.concatenate(vector_parts)
        return text_vectors


def _keep_best(
    best_results: list[tuple[float, str]], score_row: NDArray[Any], passage_ids: Sequence[str]
) -> None:
    """Take the best of a block's passages among the best results of one query so far."""
    near_places = np.argpartition(-score_row, min(DEPTH, len(passage_ids) - 1))[:DEPTH]
    for block_place in near_places.tolist():
        if np.isfinite(score_row[block_place]):
            best_results.append((float(score_row[block_place]), passage_ids[block_place]))
    best_results[:] = heapq.nsmallest(
        DEPTH, best_results, key=lambda passage: (-passage[0], passage[1])
    )


def _day_numbers(
    records: Sequence[Mapping[str, Any]], field: str, unstated: date
) -> NDArray[np.int64]:
    """Return the days of a field of records as ordinal numbers, of shape (records,)."""
    days = [_day_of(record, field) or unstated for record in records]
    return np.array([day.toordinal() for day in days], dtype=np.int64)


def _nearest(beir_folder: Path, encoder: SentenceEncoder) -> Ranked:
    """Yield the id of each query with its nearest passages, by the cosine of their vectors."""
    query_records = list(beir_records(beir_folder / QUERIES))
    query_vectors = encoder([query["text"] for query in query_records])
    last_days = [_last_day(query, "embedding") or date.max for query in query_records]
    day_limits = np.array([day.toordinal() for day in last_days])
    asking_days = _day_numbers(query_records, ASKED_ON, date.min)
    best_by_query: list[list[tuple[float, str]]] = [[] for _ in query_records]
    with progress(None, "passages", "embedding") as bar:
        for passage_block in batches(beir_records(beir_folder / CORPUS), _BLOCK):
            text_vectors = encoder(
                [f"{passage['title']} {passage['text']}".strip() for passage in passage_block]
            )
            published = _day_numbers(passage_block, "day", date.min)
            deleted = _day_numbers(passage_block, DELETED_ON, date.max)
            block_scores = np.round(query_vectors @ text_vectors.T, 4)
            # what was published later is found by no query, however near it is
            block_scores[published > day_limits[:, np.newaxis]] = -np.inf
            block_scores[deleted <= asking_days[:, np.newaxis]] = -np.inf
            passage_ids = [passage["_id"] for passage in passage_block]
            for best_results, score_row in zip(best_by_query, block_scores, strict=True):
                _keep_best(best_results, score_row, passage_ids)
            bar.advance(len(passage_block))
    for query, best_results in zip(query_records, best_by_query, strict=True):
        yield (
            query["_id"],
            [(passage_id, passage_score) for passage_score, passage_id in best_results],
        )
