"""Makes items of a dataset's rows: what is shown of each, with the text that it leads to."""

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
    """Where the texts come from that rows lead to.

    `news` are archives, `pages` a folder or file of a release of TimeQA; `until` is the last day
    of the corpus that is searched.
    """

    news: Sequence[str]
    pages: Path | None
    until: date | None
    workspace: Workspace

    def find(self, join: str, keys: Iterable[str]) -> TextsByKey:
        """The texts to which the keys lead, as far as they exist."""
        wanted_keys = sorted(set(keys))
        if not wanted_keys:
            return {}
        if join == "article":
            articles = read_articles(list(self.news), wanted_keys, strict=False)
            return {article.id: list(article.sentences) for article in articles}
        if join == "page":
            return self._pages(wanted_keys)
        find = self.searcher()
        passages = {query: find(query) for query in wanted_keys}
        return {query: hits for query, hits in passages.items() if hits}

    def _pages(self, names: list[str]) -> TextsByKey:
        """Paragraphs by item, or by title where no page has such an item."""
        import pyarrow.compute as pc  # 50 MB that few layouts need
        import pyarrow.dataset as ds

        if self.pages is None:
            hint = "give --pages: the folder data/pages of a release of timeqa that holds text"
            raise UserError("this layout shows pages", hint=hint)
        path = self.pages / "pages.parquet"
        if not path.is_file():
            path = self.pages
        if not path.exists():
            raise UserError("no such file or folder", where=path)
        columns = ["item", "title", "paragraphs"]
        pages: dict[str, Json] = {}
        try:
            table = ds.dataset(path, format="parquet")
            named_pages = pc.field("item").isin(names) | pc.field("title").isin(names)
            for batch in table.to_batches(columns=columns, filter=named_pages):
                for page in batch.to_pylist():
                    paragraphs = [_page_paragraph(paragraph) for paragraph in page["paragraphs"]]
                    pages.setdefault(page["title"], paragraphs)
                    pages[page["item"]] = paragraphs
        except (OSError, ValueError, KeyError, TypeError, NotImplementedError) as error:
            raise UserError(f"not a table of pages: {error}".splitlines()[0], where=path) from None
        return pages

    def searcher(self) -> Callable[[str], list[dict[str, str]]]:
        """What finds passages of the corpus for a query, the best first; makes the index."""
        files = tuple(find_archives(list(self.news)))
        sums = tuple(self.workspace.checksum(file) for file in files)
        until = self.until or date.max
        news = Source("news", files, sums, until, RecipeInput(kind="news", licence="unknown"))
        corpus = SearchIndex(articles=Articles(news=news, keep=None, near_duplicates=None))
        engine = Index(self.workspace.folder(corpus) / "index")

        def find(query: str) -> list[dict[str, str]]:
            hits = engine.search(query, until, PASSAGES)
            return [{"text": hit.text, "id": printable_id(hit.id)} for hit in hits]

        return find


def _page_paragraph(paragraph: Mapping[str, Json]) -> Json:
    return {
        "text": paragraph["text"],
        "heading": paragraph["section"],
        "kind": paragraph["kind"],
    }


@dataclass
class ItemSelection:
    """Items in the order in which they fill HITs, their groups, and counts of rows left out."""

    items: list[Item]
    groups: list[str]
    counts: dict[str, int]

    def add(self, item: Item | str, group: str, ledger: Ledger) -> None:
        """Take an item, unless the ledger has the item or its row; count a text as a reason."""
        if not isinstance(item, str):
            if item.id not in ledger.items and item.row not in ledger.rows:
                ledger.items.add(item.id)
                ledger.rows.add(item.row)
                self.items.append(item)
                self.groups.append(group)
                return
            item = "same_item" if item.id in ledger.items else "same_id"
        self.counts[item] = self.counts.get(item, 0) + 1


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
    places, counts, has_ids = sample_rows(dataset, layout, seed, ledger.rows, ledger.open)
    columns = _needed_columns(layout) if has_ids else None
    selection = ItemSelection([], [], counts)
    seen = Ledger(items=set(ledger.items))
    taken_count, draw_size = 0, max(number, _FEWEST_DRAWN)
    while len(selection.items) < number and taken_count < len(places):
        drawn_places = places[taken_count : taken_count + draw_size]
        for item, group in _items_at(layout, dataset, drawn_places, columns, sources):
            if len(selection.items) == number:
                break
            taken_count += 1
            selection.add(item, group, seen)
        draw_size *= 2  # each draw reads the dataset once: few reads even if most rows are left out
    if layout.together and taken_count < len(places):
        _, following_row = next(dataset.rows(None, {int(places[taken_count])}))
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
        start = selection.groups.index(next_group)
        if start:
            del selection.items[start:], selection.groups[start:]


def _no_row_error(dataset: DatasetRows, counts: Mapping[str, int]) -> UserError:
    reasons = ", ".join(f"{reason}: {count}" for reason, count in counts.items() if count)
    again = "--open sends once more what is not decided, --again everything"
    hint = again if counts["sent_before"] else None
    return UserError(f"no row of {dataset.name} can be sent ({reasons})", hint=hint)


def _items_at(
    layout: Layout,
    dataset: DatasetRows,
    places: Any,
    columns: Sequence[str] | None,
    sources: TextSources,
) -> list[tuple[Item | str, str]]:
    """The items of the rows at these places, in their order, and the group of each.

    An item is a text where it cannot be made: the reason. The dataset and the texts are read
    through once, whatever the number of places; no row is held.
    """
    order = {place: index for index, place in enumerate(places.tolist())}
    joined_fields = [field for field in layout.fields.values() if field.join]
    keys: dict[str, set[str]] = {str(field.join): set() for field in joined_fields}
    for _, row in dataset.rows(columns, order) if joined_fields else ():
        for field in joined_fields:
            keys[str(field.join)].add(_join_key(field, row) or "")
    texts = {join: sources.find(join, join_keys - {""}) for join, join_keys in keys.items()}
    items: list[Any] = [None] * len(order)
    for place, row in dataset.rows(columns, order):
        items[order[place]] = _make_item(layout, row, texts), _group_key(layout, row)
    return items


def _needed_columns(layout: Layout) -> list[str]:
    """The columns of a row from which its item is made."""
    columns = ["id", *_FACT_COLUMNS, *_SPAN_KEYS, *layout.together]
    for name, field in layout.fields.items():
        columns += [field.column or name, *(KEY_COLUMNS[field.join] if field.join else ())]
    return sorted({column.split(".")[0] for column in columns})


def _make_item(layout: Layout, row: Row, texts: Mapping[str, TextsByKey]) -> Item | str:
    """The item of a row; `missing <field>` where the row lacks a field that every item needs."""
    fields: dict[str, Json] = {}
    for field_name, field in layout.fields.items():
        value = _field_value(field_name, field, row, texts)
        if not _is_empty(value) or field.kind == "spans":
            fields[field_name] = value
        elif not field.optional:
            return f"missing {field_name}"
    return Item(item_id(layout.name, fields), row_id_of(row), fields)


def _is_empty(value: Json) -> bool:
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, Sequence):
        return not any(value_as_text(entry).strip() for entry in value)
    return value is None


def _group_key(layout: Layout, row: Row) -> str:
    common = [to_json_value(column_value(row, column)) for column in layout.together]
    return digest(common) if common else ""


def _join_key(field: LayoutField, row: Row) -> str | None:
    columns = (field.column,) if field.column else KEY_COLUMNS[field.join or "article"]
    for column in columns:
        key = column_value(row, column)
        if isinstance(key, str) and key:
            return key
    return None


def _field_value(name: str, field: LayoutField, row: Row, texts: Mapping[str, TextsByKey]) -> Json:
    if field.join:
        value = texts[field.join].get(_join_key(field, row) or "")
        return "\n".join(map(_label_or_text, _as_list(value))) if field.kind == "text" else value
    if field.kind == "fact":
        return _fact_sentence(row)
    value = to_json_value(column_value(row, field.column or name))
    match field.kind:
        case "spans":
            return _span_objects(value, row if not field.column and name not in row else None)
        case "date":
            return _iso_day(value)
        case "list":
            return [text for text in map(_label_or_text, _as_list(value)) if text.strip()]
        case "paragraphs":
            return (
                value.split("\n") if isinstance(value, str) else [*map(_paragraph, _as_list(value))]
            )
    return "; ".join(map(_label_or_text, _as_list(value)))


@cache
def _relations() -> Mapping[str, Relation]:
    return load_relations(resource("templates")).whole()


def _fact_sentence(row: Row) -> str:
    """A fact as its relation's first template states it; without a template, its three parts."""
    subject, relation_label, object_ = (
        _label_or_text(to_json_value(column_value(row, column)))
        for column in ("subject_label", "relation_label", "object_label")
    )
    relation = _relations().get(str(column_value(row, "relation")))
    if relation is None:
        return f"{subject}: {relation_label}: {object_}"
    return sentence(relation.cloze[0], subject, object_)


def _as_list(value: Json) -> Sequence[Json]:
    if value is None:
        return []
    return value if isinstance(value, Sequence) and not isinstance(value, str) else [value]


def _label_or_text(value: Json) -> str:
    if isinstance(value, Mapping):
        value = next((value[key] for key in ("label", "text", "name") if value.get(key)), None)
    return "" if value is None else str(value)


def _paragraph(value: Json) -> Json:
    if not isinstance(value, Mapping):
        return _label_or_text(value)
    heading = value.get("heading") or value.get("section") or ""
    return {"text": _label_or_text(value), "heading": heading, "kind": value.get("kind") or "text"}


def _iso_day(value: Json) -> Json:
    """A day as `2019-04-05`, from that (a time may follow) or from UTC seconds."""
    try:
        if isinstance(value, int) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC).date().isoformat()
        return date.fromisoformat(value[:10]).isoformat() if isinstance(value, str) else None
    except (ValueError, OverflowError, OSError):
        return None


def _span_objects(value: Any, row: Row | None) -> Json:
    """Spans as a list of objects: from such a list, or the row's own."""
    if row is not None:
        value = {key: row.get(key) for key in _SPAN_KEYS[:3]}
    return [
        {key: span[key] for key in _SPAN_KEYS if span.get(key) is not None}
        for span in _as_list(value)
        if isinstance(span, Mapping) and _is_range(span.get("start"), span.get("end"))
    ]


def _is_range(start: Any, end: Any) -> bool:
    return isinstance(start, int) and isinstance(end, int) and 0 <= start < end
