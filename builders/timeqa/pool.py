"""Paragraphs of other pages that contexts are filled up with: close to the question, no answer."""

from collections.abc import Callable
from pathlib import Path

import tantivy

from factdrift.builders import rows
from factdrift.builders.core.schema import typed_rows
from factdrift.builders.text.words import WORD_PATTERN, fold_in_place

LEAST = 20
"""The fewest words of a paragraph that may be added: shorter ones are remarks, not context."""
# Bytes that the index may hold in memory while it is written.
_HEAP = 64_000_000
# Words that the query language of the index reads as operators.
_SYNTAX = ("and", "or", "not", "in")


class Pool:
    """The paragraphs of many pages in a search index; `search` ranks them by TF-IDF (BM25)."""

    def __init__(self, pages: Path, folder: Path) -> None:
        schema_builder = tantivy.SchemaBuilder()
        schema_builder.add_text_field(
            "item", stored=True, tokenizer_name="raw", index_option="basic"
        )
        schema_builder.add_text_field(
            "title", stored=True, tokenizer_name="raw", index_option="basic"
        )
        schema_builder.add_text_field(
            "text", stored=True, tokenizer_name="en_stem", index_option="freq"
        )
        schema_builder.add_integer_field("paragraph", stored=True, fast=True)
        self._schema = schema_builder.build()
        self._index = tantivy.Index(self._schema, path=str(folder))
        index_writer = self._index.writer(heap_size=_HEAP, num_threads=1)
        for page in typed_rows(pages, rows.Page, 64):
            for paragraph_number, paragraph in enumerate(page.paragraphs):
                if len(paragraph.text.split()) >= LEAST:
                    place = {"item": page.item, "title": page.title, "paragraph": paragraph_number}
                    index_writer.add_document(tantivy.Document(text=paragraph.text, **place))
        index_writer.commit()
        index_writer.wait_merging_threads()
        self._index.reload()
        self._searcher = self._index.searcher()

    def search(
        self, question: str, count: int, is_wanted: Callable[[str, str], bool]
    ) -> tuple[rows.AddedParagraph, ...]:
        """The `count` paragraphs that are closest to a question, best first, then by page.

        `is_wanted` says whether a paragraph may be taken, given the item of its page and its text.
        """
        query_words = " ".join(
            word for word in WORD_PATTERN.findall(fold_in_place(question)) if word not in _SYNTAX
        )
        query = self._index.parse_query(query_words, ["text"])
        hit_limit = 8 * count
        while True:
            hits = self._searcher.search(query, hit_limit, count=False).hits
            ranked: list[tuple[float, str, int, rows.AddedParagraph]] = []
            for score, address in hits:
                document = self._searcher.doc(address).to_dict()
                page_item, paragraph_text, paragraph_number = (
                    document["item"][0],
                    document["text"][0],
                    document["paragraph"][0],
                )
                if is_wanted(page_item, paragraph_text):
                    added_paragraph = rows.AddedParagraph(
                        document["title"][0], paragraph_number, paragraph_text
                    )
                    ranked.append(
                        (-float(f"{score:.4g}"), page_item, paragraph_number, added_paragraph)
                    )
            # Equal scores at the cut are seen to the end, so that the machine's order is not ours.
            best_paragraphs = sorted(ranked, key=lambda entry: entry[:3])[:count]
            is_open = len(best_paragraphs) < count or best_paragraphs[-1][0] == -float(
                f"{hits[-1][0]:.4g}"
            )
            if len(hits) < hit_limit or not is_open:
                return tuple(added_paragraph for *_, added_paragraph in best_paragraphs)
            hit_limit *= 4
