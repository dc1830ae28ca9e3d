"""An index over dated passages, by tantivy: BM25 over words in small letters without accents.

Words are neither stemmed nor left out, as in the BM25 baselines of BEIR's tables is usual; the
index that filters search (`filters.search_index`) does both.
"""

from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple, Self

import tantivy

from factdrift.builders.text.words import WORD_PATTERN, fold_in_place

# bytes of the writer before it writes a segment; tantivy asks for at least 15 MB
_HEAP = 64_000_000
DEPTH = 100
"""Results of each query: recall@100 is the deepest measure."""
NEWEST = 10
"""Results that the search `newest` puts in the order of their days: stale@10 looks at these."""
# the day of passages that have none: before every date
_UNDATED = -1
# the day of the deletion of passages that stay: after every date
_NEVER = date.max.toordinal() + 1


class DatedText(NamedTuple):
    """A passage as it is indexed. `deleted_on`: the day on which it is taken back, if it is."""

    id: str
    day: date | None
    text: str
    deleted_on: date | None = None


class RankedPassage(NamedTuple):
    """A result of a search. `day` is the proleptic ordinal of its day, -1 where it has none."""

    id: str
    day: int
    score: float


class DatedIndex:
    """A finished index. Results are in one order on every machine."""

    def __init__(self, index: tantivy.Index, *, has_deletions: bool) -> None:
        self._has_deletions = has_deletions
        self._schema = index.schema
        self._searcher = index.searcher()

    @classmethod
    def build(cls, passages: Iterable[DatedText], folder: Path) -> Self:
        """Index passages into an empty folder; memory is bounded by the writer's heap."""
        index = tantivy.Index(_schema(), path=str(folder))
        tokenizer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        for token_filter in (tantivy.Filter.lowercase(), tantivy.Filter.ascii_fold()):
            tokenizer = tokenizer.filter(token_filter)
        index.register_tokenizer("folded", tokenizer.build())
        writer = index.writer(heap_size=_HEAP, num_threads=1)
        has_deletions = False
        try:
            for passage in passages:
                has_deletions |= passage.deleted_on is not None
                writer.add_document(_document(passage))
            writer.commit()
        finally:  # its threads write into the folder, which is taken away where this fails
            writer.wait_merging_threads()
        index.reload()
        return cls(index, has_deletions=has_deletions)

    def best(
        self, text: str, last_day: date | None, depth: int, asking_day: date | None = None
    ) -> list[RankedPassage]:
        """Return the best passages up to a day, or of all days where it is None.

        What was deleted by `asking_day` is not found.
        Scores that are equal to four digits are equal: what is left depends on how a machine adds.
        Of equals the later one comes first.
        """
        any_word = [(tantivy.Occur.Should, word) for word in self._word_queries(text)]
        matching = self._known(tantivy.Query.boolean_query(any_word), last_day, asking_day)
        hits = self._search(matching, depth)
        return sorted(hits, key=lambda hit: (-hit.score, -hit.day, hit.id))

    def newest_with_all(
        self,
        words: Iterable[str],
        last_day: date | None,
        depth: int,
        asking_day: date | None = None,
    ) -> list[RankedPassage]:
        """Return the newest passages up to a day that have every one of some words.

        What was deleted by `asking_day` is not found.
        """
        every_word = [(tantivy.Occur.Must, word) for word in self._word_queries(" ".join(words))]
        if not every_word:
            return []
        matching = self._known(tantivy.Query.boolean_query(every_word), last_day, asking_day)
        hits = self._search(matching, depth, order_by="day")
        return sorted(hits, key=lambda hit: (-hit.day, hit.id))

    def _word_queries(self, text: str) -> list[tantivy.Query]:
        words = sorted(set(WORD_PATTERN.findall(fold_in_place(text))))
        return [tantivy.Query.term_query(self._schema, "text", word) for word in words]

    def _known(
        self, matching: tantivy.Query, last_day: date | None, asking_day: date | None
    ) -> tantivy.Query:
        """Restrict a query to passages up to a day that are not deleted by the day of asking."""
        conditions: list[tantivy.Query] = []
        if last_day is not None:
            conditions.append(self._days("day", None, last_day.toordinal()))
        if asking_day is not None and self._has_deletions:
            conditions.append(self._days("deleted", asking_day.toordinal() + 1, None))
        # the day is a condition, and no part of the score
        filters = [tantivy.Query.const_score_query(condition, 0.0) for condition in conditions]
        if not filters:
            return matching
        return tantivy.Query.boolean_query(
            [(tantivy.Occur.Must, query) for query in (matching, *filters)]
        )

    def _days(self, field: str, first_day: int | None, last_day: int | None) -> tantivy.Query:
        kind = tantivy.FieldType.Integer
        return tantivy.Query.range_query(self._schema, field, kind, first_day, last_day)

    def _search(
        self, matching: tantivy.Query, depth: int, order_by: str | None = None
    ) -> list[RankedPassage]:
        hits = self._searcher.search(matching, depth, count=False, order_by_field=order_by).hits
        return [self._ranked(score, address) for score, address in hits]

    def _ranked(self, score: float, address: tantivy.DocAddress) -> RankedPassage:
        fields = self._searcher.doc(address).to_dict()
        return RankedPassage(fields["id"][0], fields["day"][0], float(f"{score:.4g}"))


def reordered_by_day(hits: Sequence[RankedPassage], head: int) -> list[RankedPassage]:
    """Return results with the first `head` of them in the order of their days, newest first."""
    by_day = sorted(hits[:head], key=lambda hit: (-hit.day, -hit.score, hit.id))
    return [*by_day, *hits[head:]]


def _document(passage: DatedText) -> tantivy.Document:
    return tantivy.Document(
        id=passage.id,
        text=passage.text,
        day=passage.day.toordinal() if passage.day else _UNDATED,
        deleted=passage.deleted_on.toordinal() if passage.deleted_on else _NEVER,
    )


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="folded")
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    # a fast field, so that results can be ordered by it
    builder.add_integer_field("day", stored=True, indexed=True, fast=True)
    builder.add_integer_field("deleted", indexed=True)
    return builder.build()
