"""A search index over a corpus of dated articles: BM25 over passages, by tantivy."""

import json
from collections.abc import Iterable
from datetime import date
from pathlib import Path

import tantivy

from factdrift.builders.core.files import fresh_folder, replacing
from factdrift.builders.core.hashing import file_sha256
from factdrift.builders.core.seals import sealed, unsealed
from factdrift.builders.rows import Article
from factdrift.builders.wmt.passages import passage_texts
from factdrift.filters.base import SearchResult

EVERY = 20_000
"""Articles between two commits: what a killed build loses at most."""
_COMMITTED = ".committed.json"
"""The sha256 of the files of the last commit of an unfinished index."""
HEAP = 64_000_000
"""Bytes that the writer holds before it writes a segment."""


class Index:
    """A finished index, which a filter uses as its `filters.base.Search`.

    Passages begin with their date, as those that models are given. Words are folded, stemmed and
    without stop words. Results are ranked by score, equal ones (to 4 digits, which hides in what
    order a machine added its floats) by the later day, then by id. The weights of words are
    those of the whole index, also where only a part up to a day is searched.
    """

    def __init__(self, folder: Path) -> None:
        self._index = tantivy.Index.open(str(folder))
        self._schema = self._index.schema
        self._searcher = self._index.searcher()
        self._analyzer = _analyzer()

    @classmethod
    def build(cls, articles: Iterable[Article], folder: Path, commit_every: int = EVERY) -> "Index":
        """Index `articles` into `folder`; memory is bounded by the writer's 64 MB.

        A killed build goes on from its last commit, given the same articles in the same order. It
        begins anew if a file of that commit was changed meanwhile.
        """
        if (folder / _COMMITTED).exists() and not _is_unchanged(folder):
            fresh_folder(folder)
        folder.mkdir(parents=True, exist_ok=True)
        text_index = tantivy.Index(_schema(), path=str(folder), reuse=True)
        text_index.register_tokenizer("folded", _analyzer())
        done_count = _committed(text_index)
        checksums: dict[str, str] = {}
        writer = text_index.writer(heap_size=HEAP, num_threads=1)
        for article_number, article in enumerate(articles, 1):
            if article_number <= done_count:
                continue
            day_number = article.day.toordinal()
            for passage_id, passage_text in passage_texts(article):
                writer.add_document(
                    tantivy.Document(
                        id=passage_id, text=passage_text, day=day_number, number=article_number
                    )
                )
            if article_number % commit_every == 0:
                writer.commit()
                writer.wait_merging_threads()  # so that the files stay until the next commit
                checksums = _note_commit(folder, checksums)
                writer = text_index.writer(heap_size=HEAP, num_threads=1)
        writer.commit()
        writer.wait_merging_threads()
        (folder / _COMMITTED).unlink(missing_ok=True)
        return cls(folder)

    def search(self, query: str, until: date, k: int) -> list[SearchResult]:
        """Return the `k` best passages published on `until` or before, best first.

        Any text is a query: there is no query syntax. One without a known word finds nothing.
        """
        query_words = sorted(set(self._analyzer.analyze(query)))
        if not query_words or k < 1:
            return []
        term_query, occur = tantivy.Query.term_query, tantivy.Occur
        word_queries = [
            (occur.Should, term_query(self._schema, "text", word, "freq")) for word in query_words
        ]
        date_query = tantivy.Query.range_query(
            self._schema, "day", tantivy.FieldType.Integer, None, until.toordinal()
        )
        date_filter = tantivy.Query.const_score_query(date_query, 0.0)
        dated_query = tantivy.Query.boolean_query(
            [(occur.Must, tantivy.Query.boolean_query(word_queries)), (occur.Must, date_filter)]
        )
        # a few more than `k`, so that equal scores at the cut show at once
        row_limit = k + 8
        while True:
            raw_hits = self._searcher.search(dated_query, row_limit, count=False).hits
            scores = [_rounded(score) for score, _ in raw_hits]
            if len(raw_hits) < row_limit or scores[-1] < scores[k - 1]:
                break
            row_limit *= 4  # the rows at the cut are equal: see all of them before one is left out
        hits = [
            self._hit(address, score) for score, (_, address) in zip(scores, raw_hits, strict=True)
        ]
        return sorted(hits, key=lambda hit: (-hit.score, -hit.day.toordinal(), hit.id))[:k]

    def _hit(self, address: tantivy.DocAddress, score: float) -> SearchResult:
        stored_fields = self._searcher.doc(address).to_dict()
        day = date.fromordinal(stored_fields["day"][0])
        return SearchResult(
            id=stored_fields["id"][0], day=day, score=score, text=stored_fields["text"][0]
        )


def _note_commit(folder: Path, known_checksums: dict[str, str]) -> dict[str, str]:
    """Write the sha256 of the files of a commit. Those of segments, which never change, are known.

    Files that are written after the commit, and unused ones, are none of it.
    """
    checksums: dict[str, str] = {}
    for path in sorted(folder.iterdir()):
        is_segment = path.suffix not in ("", ".json", ".lock")
        if path.name != _COMMITTED and path.suffix != ".lock":
            known_checksum = known_checksums.get(path.name) if is_segment else None
            checksums[path.name] = known_checksum or file_sha256(path)
    with replacing(folder / _COMMITTED) as unfinished:
        unfinished.write_text(json.dumps(sealed(checksums)), "utf-8")
    return checksums


def _is_unchanged(folder: Path) -> bool:
    """Whether all files of the last commit of a killed build are what was written."""
    checksums = unsealed((folder / _COMMITTED).read_bytes())
    if checksums is None:
        return False
    for name, checksum in checksums.items():
        path = folder / name
        if not path.is_file() or file_sha256(path) != checksum:
            return False
    return True


def _committed(index: tantivy.Index) -> int:
    """Return the number of articles that a killed build committed, each with all its passages."""
    index.reload()
    searcher = index.searcher()
    hits = searcher.search(tantivy.Query.all_query(), 1, order_by_field="number").hits
    return int(searcher.doc(hits[0][1]).to_dict()["number"][0]) if hits else 0


def _schema() -> tantivy.Schema:
    schema_builder = tantivy.SchemaBuilder()
    schema_builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    schema_builder.add_text_field("text", stored=True, tokenizer_name="folded", index_option="freq")
    schema_builder.add_integer_field("day", stored=True, indexed=True, fast=True)
    schema_builder.add_integer_field("number", stored=True, fast=True)
    return schema_builder.build()


def _analyzer() -> tantivy.TextAnalyzer:
    """Words in small letters without accents, stemmed, without stop words."""
    token_filter = tantivy.Filter
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    for step in (
        token_filter.remove_long(40),  # addresses and the like, which nobody asks for
        token_filter.lowercase(),
        token_filter.ascii_fold(),
        token_filter.stopword("english"),
        token_filter.stemmer("english"),
    ):
        builder = builder.filter(step)
    return builder.build()


def _rounded(score: float) -> float:
    return float(f"{score:.4g}")
