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

PASSAGES = 10
"""Passages that a search shows."""
TextsByKey = Mapping[str, Json]
"""What each key leads to: sentences of an article, paragraphs of a page, passages."""
KEY_COLUMNS = {
    "article": ("evidence_id", "article", "draw.article", "id"),
    "page": ("subject", "item", "title"),
    "search": ("search", "query", "question", "cloze"),
}
"""Columns that may hold a join's key, where the layout names none: the first that a row has."""
_FACT_COLUMNS = ("subject_label", "relation", "relation_label", "object_label")
_SPAN_KEYS = ("paragraph", "start", "end", "kind")
_FEWEST_DRAWN = 50
"""Rows that are looked at together, at least."""


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
        """What these keys lead to, as far as it is there."""
        wanted = sorted(set(keys))
        if join == "article":
            articles = read_articles(list(self.news), wanted, strict=False) if wanted else ()
            return {article.id: list(article.sentences) for article in articles}
        if join == "page":
            return self._pages(wanted) if wanted else {}
        find = self.searcher() if wanted else None
        return {query: hits for query in wanted if find and (hits := find(query))}

    def _pages(self, names: list[str]) -> TextsByKey:
        """Paragraphs by item, or by title where no page has such an item."""
        import pyarrow.compute as pc  # 50 MB that few layouts need
        import pyarrow.dataset as ds

        if self.pages is None:
            hint = "give --pages: the folder data/pages of a release of timeqa that holds text"
            raise UserError("this layout shows pages", hint=hint)
        own = self.pages / "pages.parquet"
        path = own if own.is_file() else self.pages
        if not path.exists():
            raise UserError("no such file or folder", where=path)
        columns = ["item", "title", "paragraphs"]
        found: dict[str, Json] = {}
        try:
            table = ds.dataset(path, format="parquet")
            chosen = pc.field("item").isin(names) | pc.field("title").isin(names)
            for batch in table.to_batches(columns=columns, filter=chosen):
                for page in batch.to_pylist():
                    paragraphs = [
                        {"text": p["text"], "heading": p["section"], "kind": p["kind"]}
                        for p in page["paragraphs"]
                    ]
                    found.setdefault(page["title"], paragraphs)
                    found[page["item"]] = paragraphs
        except (OSError, ValueError, KeyError, TypeError, NotImplementedError) as error:
            raise UserError(f"not a table of pages: {error}".splitlines()[0], where=path) from None
        return found

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


@dataclass
class ItemSelection:
    """Items in the order in which they fill HITs, the group of each, and counts of what is left
    out."""

    items: list[Item]
    groups: list[str]
    counts: dict[str, int]

    def add(self, item: Item | str, group: str, ledger: Ledger) -> None:
        """Take an item, unless its like is in the ledger; a text says why there is none."""
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
    """Up to `number` items of rows sampled from a dataset.

    `counts`: `rows` seen, `sent_before`, `not_open`, `missing <field>`, `same_item`, `same_id`.
    Where two rows show the same, or have one id, the first stays. With `together`, a group that
    does not fit is left for the next batch, unless it is the only one. `UserError` where none is
    left, or a column is missing.
    """
    for field_name, field in layout.fields.items():
        computed = field.join or field.kind in ("spans", "fact")
        if not field.optional and (field.column or not computed):
            require_columns(dataset, [(field.column or field_name).split(".")[0]])
    places, counts, has_ids = sample_rows(dataset, layout, seed, ledger.rows, ledger.open)
    made = ItemSelection([], [], counts)
    seen = Ledger(items=set(ledger.items))
    taken, size = 0, max(number, _FEWEST_DRAWN)
    while len(made.items) < number and taken < len(places):
        drawn = places[taken : taken + size]
        columns = _needed_columns(layout) if has_ids else None
        found = _items_at(layout, dataset, drawn, columns, sources)
        for item, group in found:
            if len(made.items) == number:
                break
            taken += 1
            made.add(item, group, seen)
        size *= 2
    if layout.together and taken < len(places):
        _, following = next(dataset.rows(None, {int(places[taken])}))
        group = _group_key(layout, following)
        start = made.groups.index(group) if group in made.groups else 0
        if start:  # the group goes on after the last item: all of it is left out
            del made.items[start:], made.groups[start:]
    if not made.items:
        why = ", ".join(f"{reason}: {n}" for reason, n in made.counts.items() if n)
        again = "--open sends once more what is not decided, --again everything"
        hint = again if made.counts["sent_before"] else None
        raise UserError(f"no row of {dataset.name} can be sent ({why})", hint=hint)
    return made


def _items_at(
    layout: Layout,
    dataset: DatasetRows,
    places: Any,
    columns: Sequence[str] | None,
    sources: TextSources,
) -> list[tuple[Item | str, str]]:
    """The items of the rows at these places, in their order, and the group of each.

    The dataset and the texts are read through, whatever the number of places; no row is held.
    """
    numbers = {place: n for n, place in enumerate(places.tolist())}
    joins = [field for field in layout.fields.values() if field.join]
    keys: dict[str, set[str]] = {str(field.join): set() for field in joins}
    for _, row in dataset.rows(columns, numbers) if joins else ():
        for field in joins:
            keys[str(field.join)].add(_join_key(field, row) or "")
    texts = {join: sources.find(join, wanted - {""}) for join, wanted in keys.items()}
    found: list[Any] = [None] * len(numbers)
    for place, row in dataset.rows(columns, numbers):
        found[numbers[place]] = _make_item(layout, row, texts), _group_key(layout, row)
    return found


def _needed_columns(layout: Layout) -> list[str]:
    """The columns of a row that its item is made from."""
    found = ["id", *_FACT_COLUMNS, *_SPAN_KEYS, *layout.together]
    for name, field in layout.fields.items():
        found += [field.column or name, *(KEY_COLUMNS[field.join] if field.join else ())]
    return sorted({column.split(".")[0] for column in found})


def _make_item(layout: Layout, row: Row, texts: Mapping[str, TextsByKey]) -> Item | str:
    """The item of a row; `missing <field>` where the row lacks one that is shown."""
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
    found = (column_value(row, column) for column in columns)
    return next((key for key in found if isinstance(key, str) and key), None)


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
    """A fact as its relation's first template has it; without one, its three parts."""
    names = [
        _label_or_text(to_json_value(column_value(row, f"{what}_label")))
        for what in ("subject", "object")
    ]
    relation = _relations().get(str(column_value(row, "relation")))
    if relation is None:
        relation_label = _label_or_text(to_json_value(column_value(row, "relation_label")))
        return f"{names[0]}: {relation_label}: {names[1]}"
    return sentence(relation.cloze[0], names[0], names[1])


def _as_list(value: Json) -> Sequence[Json]:
    if value is None:
        return []
    return value if isinstance(value, Sequence) and not isinstance(value, str) else [value]


def _label_or_text(value: Json) -> str:
    if isinstance(value, Mapping):
        value = next((value[k] for k in ("label", "text", "name") if value.get(k)), None)
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
