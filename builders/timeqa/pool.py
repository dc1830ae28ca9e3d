"""Paragraphs of other pages that contexts are filled up with: close to the question, no answer."""

from collections.abc import Callable
from pathlib import Path

import tantivy

from factdrift.builders import rows
from factdrift.builders.core.schema import typed_rows
from factdrift.builders.text.words import WORD_PATTERN, fold_in_place

LEAST = 20
"""Words of a paragraph that may be added."""
_HEAP = 64_000_000
_SYNTAX = ("and", "or", "not", "in")


class Pool:
    """The paragraphs of many pages in a search index; `search` ranks them by TF-IDF (BM25)."""

    def __init__(self, pages: Path, folder: Path) -> None:
        fields = tantivy.SchemaBuilder()
        fields.add_text_field("item", stored=True, tokenizer_name="raw", index_option="basic")
        fields.add_text_field("title", stored=True, tokenizer_name="raw", index_option="basic")
        fields.add_text_field("text", stored=True, tokenizer_name="en_stem", index_option="freq")
        fields.add_integer_field("paragraph", stored=True, fast=True)
        self._schema = fields.build()
        self._index = tantivy.Index(self._schema, path=str(folder))
        writer = self._index.writer(heap_size=_HEAP, num_threads=1)
        for page in typed_rows(pages, rows.Page, 64):
            for n, one in enumerate(page.paragraphs):
                if len(one.text.split()) >= LEAST:
                    place = {"item": page.item, "title": page.title, "paragraph": n}
                    writer.add_document(tantivy.Document(text=one.text, **place))
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()
        self._searcher = self._index.searcher()

    def search(
        self, question: str, count: int, is_wanted: Callable[[str, str], bool]
    ) -> tuple[rows.AddedParagraph, ...]:
        """The `count` paragraphs that are closest to a question, best first, then by page.

        `is_wanted`: whether a paragraph may be taken, by the item of its page and its text.
        """
        plain = " ".join(
            w for w in WORD_PATTERN.findall(fold_in_place(question)) if w not in _SYNTAX
        )
        query = self._index.parse_query(plain, ["text"])
        limit = 8 * count
        while True:
            hits = self._searcher.search(query, limit, count=False).hits
            found: list[tuple[float, str, int, rows.AddedParagraph]] = []
            for score, address in hits:
                one = self._searcher.doc(address).to_dict()
                item, text, place = one["item"][0], one["text"][0], one["paragraph"][0]
                if is_wanted(item, text):
                    added = rows.AddedParagraph(one["title"][0], place, text)
                    found.append((-float(f"{score:.4g}"), item, place, added))
            # Equal scores at the cut are seen to the end, so that the machine's order is not ours.
            best = sorted(found, key=lambda f: f[:3])[:count]
            is_open = len(best) < count or best[-1][0] == -float(f"{hits[-1][0]:.4g}")
            if len(hits) < limit or not is_open:
                return tuple(added for *_, added in best)
            limit *= 4
