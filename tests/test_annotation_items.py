"""Rows of a dataset become items: every kind of field, what is left out, what is drawn."""

from collections.abc import Mapping, Sequence
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from factdrift.annotation.batch import Item, Ledger, attention_items, item_id
from factdrift.annotation.dataset import DatasetRows, open_dataset, sample_rows
from factdrift.annotation.hits import group_into_hits
from factdrift.annotation.items import PASSAGES, ItemSelection, TextSources, make_items
from factdrift.annotation.layout import Layout
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.steps import Workspace
from tests.annotation_items import own_layout as layout
from tests.annotation_workers import hand_in
from tests.tables import column_of, ids_of, read_table


def lines(tmp_folder: Path, table_rows: Sequence[Mapping[str, Any]]) -> DatasetRows:
    return open_dataset(str(hand_in(tmp_folder, table_rows)), tmp_folder)


def sources(tmp_folder: Path, news: Sequence[str] = (), pages: Path | None = None) -> TextSources:
    return TextSources(news, pages, None, Workspace(tmp_folder / "build", lambda text: None))


def make(
    tmp_folder: Path,
    item_layout: Layout,
    table_rows: Sequence[Mapping[str, Any]] | DatasetRows,
    *,
    number: int = 100,
    seed: int = 0,
    ledger: Ledger | None = None,
    joined: TextSources | None = None,
) -> ItemSelection:
    dataset_rows = (
        table_rows if isinstance(table_rows, DatasetRows) else lines(tmp_folder, table_rows)
    )
    return make_items(
        item_layout.with_folder(Path("some")),
        dataset_rows,
        joined or sources(tmp_folder),
        number=number,
        seed=seed,
        ledger=ledger or Ledger(),
    )


CASES = read_table("annotation_fields")


@pytest.mark.parametrize(("field_settings", "row", "expected_value"), CASES["fields"])
def test_fields(
    field_settings: dict[str, Any], row: dict[str, Any], expected_value: Any, tmp_path: Path
) -> None:
    item_layout = layout({"x": field_settings, "y": {}})
    if expected_value is None:
        with pytest.raises(UserError, match="missing x: 1"):
            make(tmp_path, item_layout, [row | {"y": "y"}])
        optional = layout({"x": field_settings | {"optional": True}, "y": {}})
        assert make(tmp_path, optional, [row | {"y": "y"}]).items[0].fields == {"y": "y"}
    else:
        (made_item,) = make(tmp_path, item_layout, [row | {"y": "y"}]).items
        assert made_item.fields == {"x": expected_value, "y": "y"}


def test_days_of_a_parquet_file(tmp_path: Path) -> None:
    file_path = tmp_path / "days.parquet"
    dates = pa.table({"x": [date(2020, 5, 6)], "id": ["a"]})
    pq.write_table(dates, file_path)
    item_layout = layout({"x": {"kind": "date"}})
    (made_item,) = make(tmp_path, item_layout, open_dataset(str(file_path), tmp_path)).items
    assert (made_item.row, made_item.fields) == ("a", {"x": "2020-05-06"})


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    table_rows: list[dict[str, Any]] = [
        {"id": "1", "a": "x", "b": "y"},
        {"id": "2", "a": "", "b": "y"},
        {"id": "3", "a": "x", "b": None},
        {"id": "4", "a": "x", "b": "y", "not": "shown"},
        {"id": "1", "a": "other", "b": "y"},
        {"id": "5", "a": "z", "b": "y"},
    ]
    selection = make(tmp_path, layout({"a": {}, "b": {}}), table_rows, ledger=Ledger({"5"}))
    shown_texts = {made_item.row: made_item.fields["a"] for made_item in selection.items}
    assert len(selection.items) == len(shown_texts)
    assert selection.counts["rows"] == 6
    assert selection.counts["sent_before"] == 1
    assert selection.counts["missing a"] == selection.counts["missing b"] == 1
    same = selection.counts.get("same_item", 0) + selection.counts.get("same_id", 0)
    assert same == 3 - len(shown_texts)
    assert sum(selection.counts.values()) - 6 + len(selection.items) == 6


def test_an_item_that_was_sent_for_another_row_is_not_sent_again(tmp_path: Path) -> None:
    item_layout = layout({"a": {}})
    sent_id = make(tmp_path, item_layout, [{"id": "1", "a": "x"}]).items[0].id
    ledger = Ledger({"1"}, {sent_id})
    selection = make(
        tmp_path,
        item_layout,
        [{"id": row_number, "a": text} for row_number, text in ("1x", "2x", "3y")],
        ledger=ledger,
    )
    assert [made_item.row for made_item in selection.items] == ["3"]
    assert (selection.counts["sent_before"], selection.counts["same_item"]) == (1, 1)
    assert ledger.rows == {"1"}
    with pytest.raises(UserError, match=r"sent_before: 1.*\n.*--again"):
        make(tmp_path, item_layout, [{"id": "1", "a": "x"}], ledger=ledger)
    with pytest.raises(UserError, match=r"same_item: 1.*\n.*--again"):
        make(tmp_path, item_layout, [{"id": "2", "a": "x"}], ledger=ledger)


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
@pytest.mark.parametrize("ids", [None, [1, 2, 3], ["", "a", "b"], [None, "a", "b"]])
def test_a_row_has_one_id_wherever_it_is_read(kind: str, ids: Any, tmp_path: Path) -> None:
    """Rows without an id of their own get one from all that they hold, shown or not."""
    table_rows = [
        {"a": text, "z": number} | ({"id": row_id} if ids else {})
        for text, number, row_id in zip("xxy", "122", ids or "...", strict=True)
    ]
    dataset_rows = lines(tmp_path, table_rows)
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(table_rows), tmp_path / "rows.parquet")
        dataset_rows = open_dataset(str(tmp_path / "rows.parquet"), tmp_path)
    selection = make(tmp_path, layout({"a": {}}), dataset_rows)
    assert selection.counts["same_item"] == 1
    sent_ledger = Ledger({made_item.row for made_item in selection.items})
    _, sample_counts, _ = sample_rows(dataset_rows, layout({"a": {}}), 1, sent_ledger.rows)
    assert sample_counts == {"rows": 3, "sent_before": 2}


def test_the_draw_is_seeded_and_a_row_does_not_depend_on_the_others(tmp_path: Path) -> None:
    table_rows = [{"id": f"r{row_number}", "a": f"text {row_number}"} for row_number in range(200)]
    item_layout = layout({"a": {}})

    def drawn(table_rows: Sequence[Mapping[str, Any]], number: int, seed: int = 0) -> list[str]:
        return [
            made_item.row
            for made_item in make(tmp_path, item_layout, table_rows, number=number, seed=seed).items
        ]

    first_draw = drawn(table_rows, 20)
    assert drawn(table_rows, 20) == drawn(table_rows[::-1], 20) == first_draw
    assert drawn(table_rows, 40)[:20] == first_draw
    assert [row_id for row_id in drawn(table_rows[:150], 150) if row_id in first_draw] == [
        row_id for row_id in first_draw if int(row_id[1:]) < 150
    ]
    assert drawn(table_rows, 20, seed=1) != first_draw
    assert sorted(drawn(table_rows, 500)) == sorted(column_of(table_rows, "id"))


def test_relations_take_turns(tmp_path: Path) -> None:
    table_rows: list[dict[str, str | None]]
    table_rows = [
        {"id": f"a{row_number}", "a": f"a{row_number}", "relation": "P39"}
        for row_number in range(90)
    ]
    table_rows += [
        {"id": f"b{row_number}", "a": f"b{row_number}", "relation": "P54"}
        for row_number in range(4)
    ]
    table_rows += [
        {"id": f"c{row_number}", "a": f"c{row_number}", "relation": None}
        for row_number in range(30)
    ]
    item_layout = layout({"a": {}}, balance="relation")
    selection = make(tmp_path, item_layout, table_rows, number=24).items
    kinds = [made_item.row[0] for made_item in selection]
    assert {kind: kinds.count(kind) for kind in "abc"} == {"a": 10, "b": 4, "c": 10}
    for row_number in range(0, 12, 3):
        assert set(kinds[row_number : row_number + 3]) == set("abc")
    nested = [{**row, "of": {"relation": row["relation"]}} for row in table_rows]
    nested_items = make(tmp_path, layout({"a": {}}, balance="of.relation"), nested, number=24).items
    assert [made_item.row for made_item in nested_items] == [
        made_item.row for made_item in selection
    ]


HISTORY = [
    {"id": f"{s}-{r}-{n}", "a": f"{s} {r} {n}", "subject": s, "relation": r}
    for n in range(3)
    for s in "KLMN"
    for r in ("P39", "P54")
]


@pytest.mark.parametrize("number", [1, 2, 3, 4, 7, 9, 23, 24, 100])
def test_a_history_stays_together(number: int, tmp_path: Path) -> None:
    item_layout = layout(
        {"a": {}}, together=["subject", "relation"], balance="relation", items_per_hit=4
    )
    selection = make(tmp_path, item_layout, HISTORY, number=number)
    names = [made_item.row[:-2] for made_item in selection.items]
    runs = [names[0]] + [
        later_name for earlier_name, later_name in pairwise(names) if earlier_name != later_name
    ]
    assert len(runs) == len(set(runs))
    assert len(names) == (min(number // 3 * 3, 24) if number >= 3 else number)
    for earlier_name, later_name in pairwise(runs[:8]):
        assert earlier_name.split("-")[1] != later_name.split("-")[1]
    hits = group_into_hits(selection.items, selection.groups, [], item_layout, 0)
    histories_by_hit = [{made_item.row[:-2] for made_item in made_hit.items} for made_hit in hits]
    assert sum(map(len, histories_by_hit)) == len(set().union(*histories_by_hit))
    assert [made_item.id for made_hit in hits for made_item in made_hit.items] == ids_of(
        selection.items
    )


def items(groups: str) -> list[Item]:
    return [
        Item(f"i{row_number}", f"r{row_number}", {"a": str(row_number)})
        for row_number in range(len(groups))
    ]


@pytest.mark.parametrize(("groups", "size", "expected_value"), CASES["packing"])
def test_packing(groups: str, size: int, expected_value: list[str]) -> None:
    item_layout = layout({"a": {}}, items_per_hit=size)
    hits = group_into_hits(items(groups), list(groups), [], item_layout, 0)
    packed_groups = [
        "".join(groups[int(made_item.row[1:])] for made_item in made_hit.items) for made_hit in hits
    ]
    assert packed_groups == expected_value
    assert len(set(ids_of(hits))) == len(hits)
    plain = group_into_hits(items(groups), [""] * len(groups), [], item_layout, 0)
    assert [len(made_hit.items) for made_hit in plain][:-1] == [size] * max(len(plain) - 1, 0)


def test_every_hit_has_one_attention_item_at_a_place_of_its_own() -> None:
    known_items = [
        {"fields": {"a": f"k{row_number}"}, "answers": {"note": "x"}} for row_number in range(3)
    ]
    item_layout = layout({"a": {}}, items_per_hit=4, attention=known_items).with_folder(
        Path("some")
    )
    attention = attention_items(item_layout)
    assert [made_item.row for made_item in attention] == ["", "", ""]
    assert attention[0].id == item_id("some", {"a": "k0"})
    hits = group_into_hits(items("x" * 400), [""] * 400, attention, item_layout, 5)
    places = [
        [row_number for row_number, made_item in enumerate(made_hit.items) if not made_item.row]
        for made_hit in hits
    ]
    assert len(hits) == 100
    for place, made_hit in zip(places, hits, strict=True):
        assert len(place) == 1 and len(made_hit.items) == 5
    assert {place for (place,) in places} == {0, 1, 2, 3, 4}
    used = [made_item.id for made_hit in hits for made_item in made_hit.items if not made_item.row]
    for made_item in attention:
        assert 10 < used.count(made_item.id) < 60
    assert hits == group_into_hits(items("x" * 400), [""] * 400, attention, item_layout, 5)
    assert hits != group_into_hits(items("x" * 400), [""] * 400, attention, item_layout, 6)


def page(made_item: str, title: str, *texts: str) -> dict[str, Any]:
    page_paragraphs = [
        {"text": paragraph_text, "section": "S", "kind": "text"} for paragraph_text in texts
    ]
    return {"item": made_item, "title": title, "paragraphs": page_paragraphs}


def test_pages_by_item_or_title(tmp_path: Path) -> None:
    pages = [page("Q1", "One", "uno", "eins"), page("Q2", "Two", "dos"), page("Q3", "Q9", "tres")]
    pq.write_table(pa.Table.from_pylist(pages), tmp_path / "pages.parquet")
    table_rows = [
        {"id": "a", "subject": "Q1"},
        {"id": "b", "title": "Two"},
        {"id": "c", "subject": "Q404"},
        {"id": "d"},
    ]
    joined = sources(tmp_path, pages=tmp_path)
    item_layout = layout({"page": {"kind": "paragraphs", "join": "page"}})
    selection = make(tmp_path, item_layout, table_rows, joined=joined)
    shown_pages = {made_item.row: made_item.fields["page"] for made_item in selection.items}
    one_paragraph = {"heading": "S", "kind": "text"}
    assert shown_pages == {
        "a": [{"text": "uno", **one_paragraph}, {"text": "eins", **one_paragraph}],
        "b": [{"text": "dos", **one_paragraph}],
    }
    assert selection.counts["missing page"] == 2
    by_text = layout({"page": {"join": "page", "column": "name"}})
    (made_item,) = make(tmp_path, by_text, [{"id": "e", "name": "One"}], joined=joined).items
    assert made_item.fields["page"] == "uno\neins"
    with pytest.raises(UserError, match="--pages"):
        make(tmp_path, item_layout, table_rows)


@pytest.mark.parametrize("columns", CASES["no_pages"])
def test_a_file_that_holds_no_pages(columns: dict[str, Any], tmp_path: Path) -> None:
    pq.write_table(pa.table(columns), tmp_path / "pages.parquet")
    item_layout = layout({"page": {"kind": "paragraphs", "join": "page"}})
    with pytest.raises(UserError, match="not a table of pages"):
        make(tmp_path, item_layout, [{"subject": "Q1"}], joined=sources(tmp_path, pages=tmp_path))


ARTICLE_ID = (
    "20070102000000000000\x00\x01"
    "d691d467fc62a9e173d4c94141144abfca00c149c5371b3a6a673e9d9c517c2c\x00\x01"
)
NEWS = [str(Path(__file__).resolve().parents[1] / "samples" / "news")]


def test_articles_and_search_of_the_sample_news(tmp_path: Path) -> None:
    joined = sources(tmp_path, NEWS)
    found_passages = joined.find("search", ["Secretary-General of the United Nations", "zzzzqqq"])
    (passages,) = found_passages.values()
    assert isinstance(passages, list)
    assert 1 <= len(passages) <= PASSAGES
    assert {tuple(passage) for passage in passages if isinstance(passage, dict)} == {("text", "id")}
    table_rows = [{"id": "a", "article": ARTICLE_ID}, {"id": "b", "article": "../../etc/passwd"}]
    kinds = {"t": {}, "l": {"kind": "list"}, "p": {"kind": "paragraphs"}}
    item_layout = layout(
        {
            kind_name: kind_settings | {"join": "article"}
            for kind_name, kind_settings in kinds.items()
        }
    )
    selection = make(tmp_path, item_layout, table_rows, joined=joined)
    (made_item,) = selection.items
    assert selection.counts["missing t"] == 1
    assert made_item.fields["l"] == made_item.fields["p"] == str(made_item.fields["t"]).split("\n")
    assert len(str(made_item.fields["t"])) > 100


@pytest.mark.parametrize(("field_settings", "more_values", "missing"), CASES["columns"])
def test_a_column_that_a_release_lacks(
    field_settings: dict[str, Any], more_values: dict[str, Any], missing: str, tmp_path: Path
) -> None:
    names = ["id", "a", "question", "relation", "subject"]
    pq.write_table(pa.table({name: ["x"] for name in names}), tmp_path / "rows.parquet")
    dataset_rows = open_dataset(str(tmp_path / "rows.parquet"), tmp_path)
    with pytest.raises(UserError, match=f"(?s)no column '{missing}'.*did you mean"):
        make(tmp_path, layout(field_settings, **more_values), dataset_rows)
