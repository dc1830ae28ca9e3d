"""Baselines of retrieval over the passages of a BEIR folder: BM25 by tantivy, or embeddings.

`day` leaves out what was published after the day of a query; `newest` puts the ten best of these in
the order of their days, the newest first.
"""

import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import tantivy

from factdrift.builders.core.config import shown
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import replacing
from factdrift.builders.text.words import WORD, fold_in_place
from factdrift.scoring.commands import Baseline
from factdrift.scoring.export.beir import CORPUS, QUERIES
from factdrift.scoring.search_records import records

DEPTH = 100
_NEWEST = 10
"""Results that `newest` puts in the order of their days."""
_HEAP = 64_000_000
_UNDATED = -1


Ranked = Iterator[tuple[str, list[tuple[str, float]]]]
"""Ids of queries, each with its results and their scores, best first."""


def search(
    folder: Path,
    out: Path,
    baseline: Baseline = "bm25",
    depth: int = DEPTH,
    model: Path | None = None,
) -> int:
    """Write a run of TREC's form: `depth` results a query; how many lines.

    `model`: the folder of a sentence model, for `embedding`. `UserError`: the folder is none of
    `factdrift export --format beir`, `day` and `newest` are asked of passages without days, or the
    model is none. Memory holds the writer's heap and one query; see `embeddings.ranked` for its.
    """
    if (baseline == "embedding") is (model is None):
        raise UserError("--by embedding and --model FOLDER go together")
    if model is None:
        found = _bm25(folder, baseline, depth)
    else:
        from factdrift.scoring.embeddings import Encoder, ranked

        found = ranked(folder, Encoder(model), depth)
    count = 0
    out.parent.mkdir(parents=True, exist_ok=True)
    with replacing(out) as unfinished, unfinished.open("w", encoding="utf-8") as file:
        for query, results in found:
            for rank, (name, score) in enumerate(results, 1):
                file.write(f"{query} Q0 {name} {rank} {score:.4f} {baseline}\n")
                count += 1
    return count


def _bm25(folder: Path, baseline: Baseline, depth: int) -> Ranked:
    with tempfile.TemporaryDirectory() as place:
        index = _index(folder, Path(place), dated=baseline != "bm25")
        searcher = index.searcher()
        for query in records(folder / QUERIES):
            yield query["_id"], _ranked(index, searcher, query, baseline, depth)


def _ranked(
    index: Any, searcher: Any, query: dict[str, Any], baseline: Baseline, depth: int
) -> list[tuple[str, float]]:
    words = sorted(set(WORD.findall(fold_in_place(query["text"]))))
    schema, both = index.schema, tantivy.Occur
    terms = [(both.Should, tantivy.Query.term_query(schema, "text", word)) for word in words]
    wanted = tantivy.Query.boolean_query(terms)
    if baseline != "bm25" and "day" in query["metadata"]:
        last = date.fromisoformat(query["metadata"]["day"]).toordinal()
        kind = tantivy.FieldType.Integer
        in_time = tantivy.Query.range_query(schema, "day", kind, None, last)
        filtered = tantivy.Query.const_score_query(in_time, 0.0)
        wanted = tantivy.Query.boolean_query([(both.Must, wanted), (both.Must, filtered)])
    hits = searcher.search(wanted, depth, count=False).hits
    found = [(score, searcher.doc(address).to_dict()) for score, address in hits]
    # Equal to four digits is equal: what is left depends on how a machine adds.
    rows = [(float(f"{score:.4g}"), doc["day"][0], doc["id"][0]) for score, doc in found]
    rows.sort(key=lambda row: (-row[0], -row[1], row[2]))
    if baseline == "newest":
        rows[:_NEWEST] = sorted(rows[:_NEWEST], key=lambda row: (-row[1], -row[0], row[2]))
        rows = [(float(depth - n), day, name) for n, (_, day, name) in enumerate(rows)]
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
        for passage in records(folder / CORPUS):
            day = passage["metadata"].get("day")
            if dated and day is None:
                hint = "only news have days; take bm25"
                raise UserError("its passages have no days", where=shown(folder), hint=hint)
            number = date.fromisoformat(day).toordinal() if day else _UNDATED
            text = f"{passage['title']} {passage['text']}"
            writer.add_document(tantivy.Document(id=passage["_id"], text=text, day=number))
        writer.commit()
    finally:  # its threads write into the folder, which is taken away where this fails
        writer.wait_merging_threads()
    index.reload()
    return index
