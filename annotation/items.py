"""Turn rows of a dataset into items for annotators: the fields that are shown, and the article."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import Any

from factdrift.annotation.batch import Item, Ledger, item_id
from factdrift.annotation.checks import value_as_text
from factdrift.annotation.dataset import (
    DatasetRows,
    Row,
    column_value,
    require_columns,
    row_id_of,
    sample_rows,
    to_json_value,
)
from factdrift.annotation.layout import Layout, LayoutField
from factdrift.annotation.submission import Json
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource
from factdrift.builders.core.hashing import digest
from factdrift.builders.core.run import RecipeInput, Source
from factdrift.builders.core.steps import Workspace
from factdrift.builders.facts.relations import Relation, load_relations
from factdrift.builders.streamingqa.corpus import SearchIndex
from factdrift.builders.text.render import sentence
from factdrift.builders.wmt.archive import find_archives
from factdrift.builders.wmt.passages import printable_id
from factdrift.builders.wmt.read import read_articles
from factdrift.builders.wmt.steps import Articles
from factdrift.filters.search_index import Index

# Passages that a search shows.
PASSAGES = 10
# What each key leads to: sentences of an article, paragraphs of a page, passages.
TextsByKey = Mapping[str, Json]
# Columns that may hold a join's key, where the layout names none: the first that a row has.
KEY_COLUMNS = {
    "article": ("evidence_id", "article", "draw.article", "id"),
    "page": ("subject", "item", "title"),
    "search": ("search", "query", "question", "cloze"),
}
_FACT_COLUMNS = ("subject_label", "relation", "relation_label", "object_label")
_SPAN_KEYS = ("paragraph", "start", "end", "kind")
# Rows that are looked at together, at least.
_FEWEST_DRAWN = 50


@dataclass(frozen=True)
class TextSources:
    """The sources of the texts that annotators read beside a row.

    `news` are news archives, and `pages` is a folder or file of a release of TimeQA. `until` is the
    last day of the corpus that is searched.
    """

    news: Sequence[str]
    pages: Path | None
    until: date | None
    workspace: Workspace

    def find(self, join_kind: str, join_keys: Iterable[str]) -> TextsByKey:
        """Return the texts that belong to the keys; a key without a text is left out.

        The kind says what the keys are: ids of news articles (`article`), items or titles of
        Wikipedia pages (`page`), or else queries for which passages of the corpus are searched.
        """
        wanted_keys = sorted(set(join_keys))
        if not wanted_keys:
            return {}
        if join_kind == "article":
            news_articles = read_articles(list(self.news), wanted_keys, strict=False)
            return {news_article.id: list(news_article.sentences) for news_article in news_articles}
        if join_kind == "page":
            return self._pages(wanted_keys)
        find = self.searcher()
        passages_by_query = {query_text: find(query_text) for query_text in wanted_keys}
        return {
            query_text: found_passages
            for query_text, found_passages in passages_by_query.items()
            if found_passages
        }

    def _pages(self, item_names: list[str]) -> TextsByKey:
        """Paragraphs by item, or by title where no page has such an item."""
        import pyarrow.compute as pc  # 50 MB that few layouts need
        import pyarrow.dataset as ds

        if self.pages is None:
            hint_text = "give --pages: the folder data/pages of a release of timeqa that holds text"
            raise UserError("this layout shows pages", hint=hint_text)
        pages_path = self.pages / "pages.parquet"
        if not pages_path.is_file():
            pages_path = self.pages
        if not pages_path.exists():
            raise UserError("no such file or folder", where=pages_path)
        page_columns = ["item", "title", "paragraphs"]
        paragraphs_by_name: dict[str, Json] = {}
        try:
            page_table = ds.dataset(pages_path, format="parquet")
            named_pages = pc.field("item").isin(item_names) | pc.field("title").isin(item_names)
            for page_batch in page_table.to_batches(columns=page_columns, filter=named_pages):
                for page in page_batch.to_pylist():
                    page_paragraphs = [
                        _page_paragraph(paragraph) for paragraph in page["paragraphs"]
                    ]
                    paragraphs_by_name.setdefault(page["title"], page_paragraphs)
                    paragraphs_by_name[page["item"]] = page_paragraphs
        except (OSError, ValueError, KeyError, TypeError, NotImplementedError) as error:
            raise UserError(
                f"not a table of pages: {error}".splitlines()[0], where=pages_path
            ) from None
        return paragraphs_by_name

    def searcher(self) -> Callable[[str], list[dict[str, str]]]:
        """Make the index, and return a function that finds passages for a query, the best first."""
        archive_files = tuple(find_archives(list(self.news)))
        file_sums = tuple(self.workspace.checksum(archive_file) for archive_file in archive_files)
        last_day = self.until or date.max
        news_source = Source(
            "news", archive_files, file_sums, last_day, RecipeInput(kind="news", licence="unknown")
        )
        search_corpus = SearchIndex(
            articles=Articles(news=news_source, keep=None, near_duplicates=None)
        )
        search_engine = Index(self.workspace.folder(search_corpus) / "index")

        def find(query_text: str) -> list[dict[str, str]]:
            search_hits = search_engine.search(query_text, last_day, PASSAGES)
            return [{"text": hit.text, "id": printable_id(hit.id)} for hit in search_hits]

        return find


def _page_paragraph(page_paragraph: Mapping[str, Json]) -> Json:
    return {
        "text": page_paragraph["text"],
        "heading": page_paragraph["section"],
        "kind": page_paragraph["kind"],
    }


@dataclass
class ItemSelection:
    """Items in the order in which they fill HITs, their groups, and counts of rows left out."""

    items: list[Item]
    groups: list[str]
    counts: dict[str, int]

    def add(self, item_or_reason: Item | str, group_key: str, ledger: Ledger) -> None:
        """Take an item, unless the ledger has this item or its row already.

        If `item_or_reason` is a string, it is the reason why there is no item, and is counted.
        """
        if not isinstance(item_or_reason, str):
            if item_or_reason.id not in ledger.items and item_or_reason.row not in ledger.rows:
                ledger.items.add(item_or_reason.id)
                ledger.rows.add(item_or_reason.row)
                self.items.append(item_or_reason)
                self.groups.append(group_key)
                return
            item_or_reason = "same_item" if item_or_reason.id in ledger.items else "same_id"
        self.counts[item_or_reason] = self.counts.get(item_or_reason, 0) + 1


def make_items(
    layout: Layout,
    dataset: DatasetRows,
    sources: TextSources,
    *,
    number: int,
    seed: int,
    ledger: Ledger,
) -> ItemSelection:
    """Make up to `number` items of rows sampled from a dataset.

    The counts are of `rows` seen, and of rows left out: `sent_before`, `not_open`,
    `missing <field>`, `same_item`, `same_id`. Where two rows show the same, or have one id, the
    first stays. With `together`, a group that does not fit is left for the next batch, unless it
    is the only one. `UserError`: no row is left, or the dataset lacks a column.
    """
    _require_field_columns(layout, dataset)
    row_places, row_counts, has_ids = sample_rows(dataset, layout, seed, ledger.rows, ledger.open)
    needed_columns = _needed_columns(layout) if has_ids else None
    selection = ItemSelection([], [], row_counts)
    seen_ledger = Ledger(items=set(ledger.items))
    taken_count, draw_size = 0, max(number, _FEWEST_DRAWN)
    while len(selection.items) < number and taken_count < len(row_places):
        drawn_places = row_places[taken_count : taken_count + draw_size]
        for item_or_reason, group_key in _items_at(
            layout, dataset, drawn_places, needed_columns, sources
        ):
            if len(selection.items) == number:
                break
            taken_count += 1
            selection.add(item_or_reason, group_key, seen_ledger)
        draw_size *= 2  # each draw reads the dataset once: few reads even if most rows are left out
    if layout.together and taken_count < len(row_places):
        _, following_row = next(dataset.rows(None, {int(row_places[taken_count])}))
        _cut_unfinished_group(selection, _group_key(layout, following_row))
    if not selection.items:
        raise _no_row_error(dataset, selection.counts)
    return selection


def _require_field_columns(layout: Layout, dataset: DatasetRows) -> None:
    """`UserError` where the dataset lacks the column of a field that every item needs."""
    for field_name, field in layout.fields.items():
        is_computed = field.join or field.kind in ("spans", "fact")
        if not field.optional and (field.column or not is_computed):
            require_columns(dataset, [(field.column or field_name).split(".")[0]])


def _cut_unfinished_group(selection: ItemSelection, next_group: str) -> None:
    """Take a group out that goes on after the last item, unless it is the only group."""
    if next_group in selection.groups:
        group_start = selection.groups.index(next_group)
        if group_start:
            del selection.items[group_start:], selection.groups[group_start:]


def _no_row_error(dataset: DatasetRows, row_counts: Mapping[str, int]) -> UserError:
    reason_counts = ", ".join(f"{reason}: {count}" for reason, count in row_counts.items() if count)
    again_hint = "--open sends once more what is not decided, --again everything"
    was_sent = row_counts.get("sent_before") or row_counts.get("same_item")
    hint_text = again_hint if was_sent else None
    return UserError(f"no row of {dataset.name} can be sent ({reason_counts})", hint=hint_text)


def _items_at(
    layout: Layout,
    dataset: DatasetRows,
    row_places: Any,
    needed_columns: Sequence[str] | None,
    sources: TextSources,
) -> list[tuple[Item | str, str]]:
    """The items of the rows at these places, in their order, and the group of each.

    An item is a text where it cannot be made: the reason. The dataset and the texts are read
    through once, whatever the number of places; no row is held.
    """
    order_by_place = {
        row_place: place_order for place_order, row_place in enumerate(row_places.tolist())
    }
    joined_fields = [field for field in layout.fields.values() if field.join]
    keys: dict[str, set[str]] = {str(field.join): set() for field in joined_fields}
    for _, row in dataset.rows(needed_columns, order_by_place) if joined_fields else ():
        for field in joined_fields:
            keys[str(field.join)].add(_join_key(field, row) or "")
    texts_by_join = {
        join_kind: sources.find(join_kind, join_keys - {""})
        for join_kind, join_keys in keys.items()
    }
    grouped_items: list[Any] = [None] * len(order_by_place)
    for row_place, row in dataset.rows(needed_columns, order_by_place):
        grouped_items[order_by_place[row_place]] = (
            _make_item(layout, row, texts_by_join),
            _group_key(layout, row),
        )
    return grouped_items


def _needed_columns(layout: Layout) -> list[str]:
    """The columns of a row from which its item is made."""
    needed_columns = ["id", *_FACT_COLUMNS, *_SPAN_KEYS, *layout.together]
    for field_name, field in layout.fields.items():
        needed_columns += [
            field.column or field_name,
            *(KEY_COLUMNS[field.join] if field.join else ()),
        ]
    return sorted({column_name.split(".")[0] for column_name in needed_columns})


def _make_item(layout: Layout, row: Row, texts_by_join: Mapping[str, TextsByKey]) -> Item | str:
    """Return the item of a row, or `missing <field>` if the row lacks a field that items need."""
    item_fields: dict[str, Json] = {}
    for field_name, field in layout.fields.items():
        field_value = _field_value(field_name, field, row, texts_by_join)
        if not _is_empty(field_value) or field.kind == "spans":
            item_fields[field_name] = field_value
        elif not field.optional:
            return f"missing {field_name}"
    return Item(item_id(layout.name, item_fields), row_id_of(row), item_fields)


def _is_empty(field_value: Json) -> bool:
    if isinstance(field_value, str):
        return not field_value.strip()
    if isinstance(field_value, Sequence):
        return not any(value_as_text(list_entry).strip() for list_entry in field_value)
    return field_value is None


def _group_key(layout: Layout, row: Row) -> str:
    common_values = [
        to_json_value(column_value(row, group_column)) for group_column in layout.together
    ]
    return digest(common_values) if common_values else ""


def _join_key(field: LayoutField, row: Row) -> str | None:
    key_columns = (field.column,) if field.column else KEY_COLUMNS[field.join or "article"]
    for key_column in key_columns:
        join_key = column_value(row, key_column)
        if isinstance(join_key, str) and join_key:
            return join_key
    return None


def _field_value(
    field_name: str,
    field: LayoutField,
    row: Row,
    texts_by_join: Mapping[str, TextsByKey],
) -> Json:
    """Return the value of a layout's field for a row, in the form that the field's kind asks for.

    The value is a text that the row leads to (`join`), a sentence that states the row's fact
    (kind `fact`), or the value of a column.
    """
    if field.join:
        field_value = texts_by_join[field.join].get(_join_key(field, row) or "")
        return (
            "\n".join(map(_label_or_text, _as_list(field_value)))
            if field.kind == "text"
            else field_value
        )
    if field.kind == "fact":
        return _fact_sentence(row)
    field_value = to_json_value(column_value(row, field.column or field_name))
    match field.kind:
        case "spans":
            return _span_objects(
                field_value,
                row if not field.column and field_name not in row else None,
            )
        case "date":
            return _iso_day(field_value)
        case "list":
            return [
                entry_text
                for entry_text in map(_label_or_text, _as_list(field_value))
                if entry_text.strip()
            ]
        case "paragraphs":
            return (
                field_value.split("\n")
                if isinstance(field_value, str)
                else [*map(_paragraph, _as_list(field_value))]
            )
    return "; ".join(map(_label_or_text, _as_list(field_value)))


@cache
def _relations() -> Mapping[str, Relation]:
    return load_relations(resource("templates")).whole()


def _fact_sentence(row: Row) -> str:
    """A fact as its relation's first template states it; without a template, its three parts."""
    subject_label, relation_label, object_label = (
        _label_or_text(to_json_value(column_value(row, column)))
        for column in ("subject_label", "relation_label", "object_label")
    )
    fact_relation = _relations().get(str(column_value(row, "relation")))
    if fact_relation is None:
        return f"{subject_label}: {relation_label}: {object_label}"
    return sentence(fact_relation.cloze[0], subject_label, object_label)


def _as_list(value: Json) -> Sequence[Json]:
    if value is None:
        return []
    return value if isinstance(value, Sequence) and not isinstance(value, str) else [value]


def _label_or_text(value: Json) -> str:
    if isinstance(value, Mapping):
        value = next(
            (value[label_key] for label_key in ("label", "text", "name") if value.get(label_key)),
            None,
        )
    return "" if value is None else str(value)


def _paragraph(value: Json) -> Json:
    if not isinstance(value, Mapping):
        return _label_or_text(value)
    heading = value.get("heading") or value.get("section") or ""
    return {
        "text": _label_or_text(value),
        "heading": heading,
        "kind": value.get("kind") or "text",
    }


def _iso_day(field_value: Json) -> Json:
    """A day as `2019-04-05`, from that (a time may follow) or from UTC seconds."""
    try:
        if isinstance(field_value, int) and not isinstance(field_value, bool):
            return datetime.fromtimestamp(field_value, UTC).date().isoformat()
        return (
            date.fromisoformat(field_value[:10]).isoformat()
            if isinstance(field_value, str)
            else None
        )
    except (ValueError, OverflowError, OSError):
        return None


def _span_objects(field_value: Any, row: Row | None) -> Json:
    """Spans as a list of objects: from such a list, or the row's own."""
    if row is not None:
        field_value = {span_key: row.get(span_key) for span_key in _SPAN_KEYS[:3]}
    return [
        {span_key: span[span_key] for span_key in _SPAN_KEYS if span.get(span_key) is not None}
        for span in _as_list(field_value)
        if isinstance(span, Mapping) and _is_range(span.get("start"), span.get("end"))
    ]


def _is_range(range_start: Any, range_end: Any) -> bool:
    return (
        isinstance(range_start, int) and isinstance(range_end, int) and 0 <= range_start < range_end
    )
