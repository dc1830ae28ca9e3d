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

_DEPTH = 100
"""Results a query."""
_NEWEST = 10
"""Results that `newest` puts in the order of their days."""
_HEAP = 64_000_000
_UNDATED = -1
_BATCH, _BLOCK, _LENGTH = 64, 4096, 256
"""Texts that are read together, passages that are compared together, and tokens of a text."""


Ranked = Iterator[tuple[str, list[tuple[str, float]]]]
"""Ids of queries, each with its results and their scores, best first."""


def search_passages(
    folder: Path,
    out: Path,
    baseline: Baseline = "bm25",
    model: Path | None = None,
) -> int:
    """Write a run of TREC's form: `_DEPTH` results a query; how many lines.

    `model`: the folder of a sentence model, for `embedding`. `UserError`: the folder is none of
    `factdrift export --format beir`, `day` and `newest` are asked of passages without days, or the
    model is none. Memory holds the writer's heap and one query; of `embedding` the
    vectors of the queries, their results, and a block of passages.
    """
    if (baseline == "embedding") is (model is None):
        raise UserError("--by embedding and --model FOLDER go together")
    result_count = (
        _bm25(folder, baseline) if model is None else _nearest(folder, SentenceEncoder(model))
    )
    count = 0
    out.parent.mkdir(parents=True, exist_ok=True)
    with replacing(out) as unfinished, unfinished.open("w", encoding="utf-8") as file:
        for query, results in result_count:
            for rank, (name, score) in enumerate(results, 1):
                file.write(f"{query} Q0 {name} {rank} {score:.4f} {baseline}\n")
                count += 1
    return count


def _bm25(folder: Path, baseline: Baseline) -> Ranked:
    with tempfile.TemporaryDirectory() as place:
        index = _index(folder, Path(place), dated=baseline != "bm25")
        searcher = index.searcher()
        for query in beir_records(folder / QUERIES):
            yield query["_id"], _ranked(index, searcher, query, baseline)


def _ranked(
    index: Any, searcher: Any, query: dict[str, Any], baseline: Baseline
) -> list[tuple[str, float]]:
    words = sorted(set(WORD_PATTERN.findall(fold_in_place(query["text"]))))
    schema, both = index.schema, tantivy.Occur
    terms = [(both.Should, tantivy.Query.term_query(schema, "text", word)) for word in words]
    matching = tantivy.Query.boolean_query(terms)
    if baseline != "bm25" and "day" in query["metadata"]:
        last = date.fromisoformat(query["metadata"]["day"]).toordinal()
        kind = tantivy.FieldType.Integer
        in_time = tantivy.Query.range_query(schema, "day", kind, None, last)
        filtered = tantivy.Query.const_score_query(in_time, 0.0)
        matching = tantivy.Query.boolean_query([(both.Must, matching), (both.Must, filtered)])
    hits = searcher.search(matching, _DEPTH, count=False).hits
    scored_docs = [(score, searcher.doc(address).to_dict()) for score, address in hits]
    # Equal to four digits is equal: what is left depends on how a machine adds.
    rows = [(float(f"{score:.4g}"), doc["day"][0], doc["id"][0]) for score, doc in scored_docs]
    rows.sort(key=lambda row: (-row[0], -row[1], row[2]))
    if baseline == "newest":
        rows[:_NEWEST] = sorted(rows[:_NEWEST], key=lambda row: (-row[1], -row[0], row[2]))
        rows = [(float(_DEPTH - place), day, name) for place, (_, day, name) in enumerate(rows)]
    return [(name, score) for score, _, name in rows]


def _index(folder: Path, place: Path, dated: bool) -> Any:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="folded")
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    builder.add_integer_field("day", stored=True, indexed=True)
    index = tantivy.Index(builder.build(), path=str(place))
    tokenizer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    index.register_tokenizer(
        "folded",
        tokenizer.filter(tantivy.Filter.lowercase()).filter(tantivy.Filter.ascii_fold()).build(),
    )
    writer = index.writer(heap_size=_HEAP, num_threads=1)
    try:
        for passage in beir_records(folder / CORPUS):
            day = passage["metadata"].get("day")
            if dated and day is None:
                hint = "only news have days; take bm25"
                raise UserError("its passages have no days", where=display_path(folder), hint=hint)
            number = date.fromisoformat(day).toordinal() if day else _UNDATED
            text = f"{passage['title']} {passage['text']}"
            writer.add_document(tantivy.Document(id=passage["_id"], text=text, day=number))
        writer.commit()
    finally:  # its threads write into the folder, which is taken away where this fails
        writer.wait_merging_threads()
    index.reload()
    return index


def beir_records(path: Path) -> Iterator[dict[str, Any]]:
    """The records of `corpus.jsonl` or `queries.jsonl`; `UserError`: it is no such file."""
    if not path.is_file():
        hint = "factdrift export RELEASE --format beir makes such a folder"
        raise UserError("no such file", where=display_path(path), hint=hint)
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                record = json.loads(line)
                record["_id"], record["text"], record["metadata"]
            except (ValueError, KeyError, TypeError):
                raise UserError(
                    "no record of BEIR", where=display_path(path), line=number
                ) from None
            yield record


class SentenceEncoder:
    """A model of sentences in a local folder, on the processor: means of its last states."""

    def __init__(self, folder: Path) -> None:
        require_torch()
        import torch
        import transformers as tf

        if not (folder / "config.json").is_file():
            hint = "the folder of a sentence model, with config.json, weights and tokenizer"
            raise UserError("no model", where=display_path(folder), hint=hint)
        logging: Any = tf.utils.logging
        logging.disable_progress_bar()
        self._torch = torch
        try:
            self._tokenizer: Any = tf.AutoTokenizer.from_pretrained(str(folder))
            self._model: Any = tf.AutoModel.from_pretrained(str(folder)).eval()
        except (OSError, ValueError) as error:
            text = f"cannot be loaded: {str(error).splitlines()[0]}"
            raise UserError(text, where=display_path(folder)) from error

    def __call__(self, texts: list[str]) -> NDArray[np.float32]:
        """A vector of length 1 for each text, a row each."""
        parts = []
        for batch_texts in batches(texts, _BATCH):
            encoded = self._tokenizer(
                list(batch_texts),
                padding=True,
                truncation=True,
                max_length=_LENGTH,
                return_tensors="pt",
            )
            with self._torch.inference_mode():
                states = self._model(**encoded).last_hidden_state
            mask = encoded["attention_mask"].unsqueeze(-1)
            mean = (states * mask).sum(1) / mask.sum(1)
            parts.append((mean / mean.norm(dim=1, keepdim=True)).numpy())
        vectors: NDArray[np.float32] = np.concatenate(parts)
        return vectors


def _nearest(folder: Path, encoder: SentenceEncoder) -> Ranked:
    """Of each query its id and the nearest passages, by the cosine of their vectors."""
    queries = list(beir_records(folder / QUERIES))
    query_vectors = encoder([query["text"] for query in queries])
    best: list[list[tuple[float, str]]] = [[] for _ in queries]
    with progress(None, "passages", "embedding") as bar:
        for block in batches(beir_records(folder / CORPUS), _BLOCK):
            vectors = encoder(
                [f"{passage['title']} {passage['text']}".strip() for passage in block]
            )
            scores = np.round(query_vectors @ vectors.T, 4)
            for best_results, row in zip(best, scores, strict=True):
                near = np.argpartition(-row, min(_DEPTH, len(block) - 1))[:_DEPTH]
                best_results += [
                    (float(row[block_place]), block[block_place]["_id"])
                    for block_place in near.tolist()
                ]
                best_results[:] = heapq.nsmallest(
                    _DEPTH, best_results, key=lambda passage: (-passage[0], passage[1])
                )
            bar.advance(len(block))
    for query, best_results in zip(queries, best, strict=True):
        yield query["_id"], [(name, score) for score, name in best_results]
