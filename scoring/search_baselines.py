"""Baselines of retrieval over the passages of a BEIR folder: BM25 by tantivy, or embeddings.

`day` leaves out what was published after the day of a query; `newest` puts the ten best of these in
the order of their days, the newest first.
"""

import heapq
import json
import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import tantivy
from numpy.typing import NDArray

from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import replacing
from factdrift.builders.core.progress import progress
from factdrift.builders.generate.mentions import batches
from factdrift.builders.generate.transformers_models import require_torch
from factdrift.builders.text.words import WORD_PATTERN, fold_in_place
from factdrift.scoring.export.beir import CORPUS, QUERIES
from factdrift.scoring.option_values import Baseline

# Results of each query: recall@100 is the deepest measure.
_DEPTH = 100
# Results that `newest` puts in the order of their days: those that stale@10 looks at.
_NEWEST = 10
# bytes of the writer before it writes a segment; tantivy asks for at least 15 MB
_HEAP = 64_000_000
# the day of passages that have none: before every date
_UNDATED = -1
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
    """Write a run in TREC's form, `_DEPTH` results a query; return the number of its lines.

    `model_folder`: the folder of a sentence model, for `embedding`. `UserError`: the folder is not
    one that `factdrift export --format beir` wrote, `day` or `newest` is asked of passages without
    days, or there is no model in its folder. Memory holds the writer's heap and
    one query; for `embedding`, the vectors of the queries, their results and a block of passages.
    """
    if (baseline == "embedding") is (model_folder is None):
        raise UserError("--by embedding and --model FOLDER go together")
    result_count = (
        _bm25(beir_folder, baseline)
        if model_folder is None
        else _nearest(beir_folder, SentenceEncoder(model_folder))
    )
    count = 0
    out_file.parent.mkdir(parents=True, exist_ok=True)
    with (
        replacing(out_file) as unfinished_file,
        unfinished_file.open("w", encoding="utf-8") as run_file,
    ):
        for query, ranked_results in result_count:
            for result_rank, (passage_id, passage_score) in enumerate(ranked_results, 1):
                run_file.write(
                    f"{query} Q0 {passage_id} {result_rank} {passage_score:.4f} {baseline}\n"
                )
                count += 1
    return count


def _bm25(beir_folder: Path, baseline: Baseline) -> Ranked:
    with tempfile.TemporaryDirectory() as index_folder:
        index = _index(beir_folder, Path(index_folder), dated=baseline != "bm25")
        searcher = index.searcher()
        for query in beir_records(beir_folder / QUERIES):
            yield query["_id"], _ranked(index, searcher, query, baseline)


def _ranked(
    index: Any, searcher: Any, query: dict[str, Any], baseline: Baseline
) -> list[tuple[str, float]]:
    """Return the ids of the best passages for a query with their scores, the best first.

    All baselines rank by BM25. Except for `bm25`, a query with a day finds only passages up to that
    day. `newest` reorders the first `_NEWEST` passages by their day, the newest first, and scores
    all passages by their place.
    """
    query_words = sorted(set(WORD_PATTERN.findall(fold_in_place(query["text"]))))
    schema, word_and_day = index.schema, tantivy.Occur
    terms = [
        (word_and_day.Should, tantivy.Query.term_query(schema, "text", word))
        for word in query_words
    ]
    matching = tantivy.Query.boolean_query(terms)
    if baseline != "bm25" and "day" in query["metadata"]:
        last_day = date.fromisoformat(query["metadata"]["day"]).toordinal()
        kind = tantivy.FieldType.Integer
        in_time = tantivy.Query.range_query(schema, "day", kind, None, last_day)
        filtered = tantivy.Query.const_score_query(in_time, 0.0)
        matching = tantivy.Query.boolean_query(
            [(word_and_day.Must, matching), (word_and_day.Must, filtered)]
        )
    search_hits = searcher.search(matching, _DEPTH, count=False).hits
    scored_docs = [
        (passage_score, searcher.doc(hit_address).to_dict())
        for passage_score, hit_address in search_hits
    ]
    # Equal to four digits is equal: what is left depends on how a machine adds.
    rows = [
        (float(f"{passage_score:.4g}"), doc["day"][0], doc["id"][0])
        for passage_score, doc in scored_docs
    ]
    rows.sort(key=lambda result_row: (-result_row[0], -result_row[1], result_row[2]))
    if baseline == "newest":
        rows[:_NEWEST] = sorted(
            rows[:_NEWEST], key=lambda result_row: (-result_row[1], -result_row[0], result_row[2])
        )
        rows = [
            (float(_DEPTH - place), day, passage_id)
            for place, (_, day, passage_id) in enumerate(rows)
        ]
    return [(passage_id, passage_score) for passage_score, _, passage_id in rows]


def _index(beir_folder: Path, index_folder: Path, dated: bool) -> Any:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="folded")
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    builder.add_integer_field("day", stored=True, indexed=True)
    index = tantivy.Index(builder.build(), path=str(index_folder))
    tokenizer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    index.register_tokenizer(
        "folded",
        tokenizer.filter(tantivy.Filter.lowercase()).filter(tantivy.Filter.ascii_fold()).build(),
    )
    writer = index.writer(heap_size=_HEAP, num_threads=1)
    try:
        for passage in beir_records(beir_folder / CORPUS):
            day = passage["metadata"].get("day")
            if dated and day is None:
                hint = "only news have days; take bm25"
                raise UserError(
                    "its passages have no days", where=display_path(beir_folder), hint=hint
                )
            number = date.fromisoformat(day).toordinal() if day else _UNDATED
            text = f"{passage['title']} {passage['text']}"
            writer.add_document(tantivy.Document(id=passage["_id"], text=text, day=number))
        writer.commit()
    finally:  # its threads write into the folder, which is taken away where this fails
        writer.wait_merging_threads()
    index.reload()
    return index


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


def _nearest(beir_folder: Path, encoder: SentenceEncoder) -> Ranked:
    """Yield the id of each query with its nearest passages, by the cosine of their vectors."""
    query_records = list(beir_records(beir_folder / QUERIES))
    query_vectors = encoder([query["text"] for query in query_records])
    best_by_query: list[list[tuple[float, str]]] = [[] for _ in query_records]
    with progress(None, "passages", "embedding") as bar:
        for passage_block in batches(beir_records(beir_folder / CORPUS), _BLOCK):
            text_vectors = encoder(
                [f"{passage['title']} {passage['text']}".strip() for passage in passage_block]
            )
            block_scores = np.round(query_vectors @ text_vectors.T, 4)
            for best_results, score_row in zip(best_by_query, block_scores, strict=True):
                near_places = np.argpartition(-score_row, min(_DEPTH, len(passage_block) - 1))[
                    :_DEPTH
                ]
                best_results += [
                    (float(score_row[block_place]), passage_block[block_place]["_id"])
                    for block_place in near_places.tolist()
                ]
                best_results[:] = heapq.nsmallest(
                    _DEPTH, best_results, key=lambda passage: (-passage[0], passage[1])
                )
            bar.advance(len(passage_block))
    for query, best_results in zip(query_records, best_by_query, strict=True):
        yield (
            query["_id"],
            [(passage_id, passage_score) for passage_score, passage_id in best_results],
        )
