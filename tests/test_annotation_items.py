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
from tests.tables import read_table


def lines(tmp: Path, rows: Sequence[Mapping[str, Any]]) -> DatasetRows:
    return open_dataset(str(hand_in(tmp, rows)), tmp)


def sources(tmp: Path, news: Sequence[str] = (), pages: Path | None = None) -> TextSources:
    return TextSources(news, pages, None, Workspace(tmp / "build", lambda text: None))


def make(
    tmp: Path,
    given: Layout,
    rows: Sequence[Mapping[str, Any]] | DatasetRows,
    *,
    number: int = 100,
    seed: int = 0,
    ledger: Ledger | None = None,
    joined: TextSources | None = None,
) -> ItemSelection:
    dataset = rows if isinstance(rows, DatasetRows) else lines(tmp, rows)
    return make_items(
        given.with_folder(Path("some")),
        dataset,
        joined or sources(tmp),
        number=number,
        seed=seed,
        ledger=ledger or Ledger(),
    )


CASES = read_table("annotation_fields")


@pytest.mark.parametrize(("shown", "row", "expected"), CASES["fields"])
def test_fields(shown: dict[str, Any], row: dict[str, Any], expected: Any, tmp_path: Path) -> None:
    given = layout({"x": shown, "y": {}})
    if expected is None:
        with pytest.raises(UserError, match="missing x: 1"):
            make(tmp_path, given, [row | {"y": "y"}])
        optional = layout({"x": shown | {"optional": True}, "y": {}})
        assert make(tmp_path, optional, [row | {"y": "y"}]).items[0].fields == {"y": "y"}
    else:
        (item,) = make(tmp_path, given, [row | {"y": "y"}]).items
        assert item.fields == {"x": expected, "y": "y"}


def test_days_of_a_parquet_file(tmp_path: Path) -> None:
    path = tmp_path / "days.parquet"
    dates = pa.table({"x": [date(2020, 5, 6)], "id": ["a"]})
    pq.write_table(dates, path)
    given = layout({"x": {"kind": "date"}})
    (item,) = make(tmp_path, given, open_dataset(str(path), tmp_path)).items
    assert (item.row, item.fields) == ("a", {"x": "2020-05-06"})


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "1", "a": "x", "b": "y"},
        {"id": "2", "a": "", "b": "y"},
        {"id": "3", "a": "x", "b": None},
        {"id": "4", "a": "x", "b": "y", "not": "shown"},
        {"id": "1", "a": "other", "b": "y"},
        {"id": "5", "a": "z", "b": "y"},
    ]
    made = make(tmp_path, layout({"a": {}, "b": {}}), rows, ledger=Ledger({"5"}))
    shown = {item.row: item.fields["a"] for item in made.items}
    assert len(made.items) == len(shown)
    assert made.counts["rows"] == 6
    assert made.counts["sent_before"] == 1
    assert made.counts["missing a"] == made.counts["missing b"] == 1
    same = made.counts.get("same_item", 0) + made.counts.get("same_id", 0)
    assert same == 3 - len(shown)
    assert sum(made.counts.values()) - 6 + len(made.items) == 6


def test_an_item_that_was_sent_for_another_row_is_not_sent_again(tmp_path: Path) -> None:
    given = layout({"a": {}})
    sent = make(tmp_path, given, [{"id": "1", "a": "x"}]).items[0].id
    ledger = Ledger({"1"}, {sent})
    made = make(tmp_path, given, [{"id": n, "a": x} for n, x in ("1x", "2x", "3y")], ledger=ledger)
    assert [item.row for item in made.items] == ["3"]
    assert (made.counts["sent_before"], made.counts["same_item"]) == (1, 1)
    assert ledger.rows == {"1"}
    with pytest.raises(UserError, match=r"sent_before: 1.*\n.*--again"):
        make(tmp_path, given, [{"id": "1", "a": "x"}], ledger=ledger)


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
@pytest.mark.parametrize("ids", [None, [1, 2, 3], ["", "a", "b"], [None, "a", "b"]])
def test_a_row_has_one_id_wherever_it_is_read(kind: str, ids: Any, tmp_path: Path) -> None:
    """Rows without an id of their own get one from all that they hold, shown or not."""
    rows = [
        {"a": x, "z": z} | ({"id": i} if ids else {})
        for x, z, i in zip("xxy", "122", ids or "...", strict=True)
    ]
    dataset = lines(tmp_path, rows)
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / "rows.parquet")
        dataset = open_dataset(str(tmp_path / "rows.parquet"), tmp_path)
    made = make(tmp_path, layout({"a": {}}), dataset)
    assert made.counts["same_item"] == 1
    sent = Ledger({item.row for item in made.items})
    _, counts, _ = sample_rows(dataset, layout({"a": {}}), 1, sent.rows)
    assert counts == {"rows": 3, "sent_before": 2}


def test_the_draw_is_seeded_and_a_row_does_not_depend_on_the_others(tmp_path: Path) -> None:
    rows = [{"id": f"r{n}", "a": f"text {n}"} for n in range(200)]
    given = layout({"a": {}})

    def drawn(rows: Sequence[Mapping[str, Any]], number: int, seed: int = 0) -> list[str]:
        return [item.row for item in make(tmp_path, given, rows, number=number, seed=seed).items]

    first = drawn(rows, 20)
    assert drawn(rows, 20) == drawn(rows[::-1], 20) == first
    assert drawn(rows, 40)[:20] == first
    assert [r for r in drawn(rows[:150], 150) if r in first] == [
        r for r in first if int(r[1:]) < 150
    ]
    assert drawn(rows, 20, seed=1) != first
    assert sorted(drawn(rows, 500)) == sorted(row["id"] for row in rows)


def test_relations_take_turns(tmp_path: Path) -> None:
    rows: list[dict[str, str | None]]
    rows = [{"id": f"a{n}", "a": f"a{n}", "relation": "P39"} for n in range(90)]
    rows += [{"id": f"b{n}", "a": f"b{n}", "relation": "P54"} for n in range(4)]
    rows += [{"id": f"c{n}", "a": f"c{n}", "relation": None} for n in range(30)]
    given = layout({"a": {}}, balance="relation")
    made = make(tmp_path, given, rows, number=24).items
    kinds = [item.row[0] for item in made]
    assert {kind: kinds.count(kind) for kind in "abc"} == {"a": 10, "b": 4, "c": 10}
    assert all(set(kinds[n : n + 3]) == set("abc") for n in range(0, 12, 3))
    nested = [{**row, "of": {"relation": row["relation"]}} for row in rows]
    again = make(tmp_path, layout({"a": {}}, balance="of.relation"), nested, number=24).items
    assert [item.row for item in again] == [item.row for item in made]


HISTORY = [
    {"id": f"{s}-{r}-{n}", "a": f"{s} {r} {n}", "subject": s, "relation": r}
    for n in range(3)
    for s in "KLMN"
    for r in ("P39", "P54")
]


@pytest.mark.parametrize("number", [1, 2, 3, 4, 7, 9, 23, 24, 100])
def test_a_history_stays_together(number: int, tmp_path: Path) -> None:
    given = layout({"a": {}}, together=["subject", "relation"], balance="relation", items_per_hit=4)
    made = make(tmp_path, given, HISTORY, number=number)
    names = [item.row[:-2] for item in made.items]
    runs = [names[0]] + [b for a, b in pairwise(names) if a != b]
    assert len(runs) == len(set(runs))
    assert len(names) == (min(number // 3 * 3, 24) if number >= 3 else number)
    assert all(a.split("-")[1] != b.split("-")[1] for a, b in pairwise(runs[:8]))
    hits = group_into_hits(made.items, made.groups, [], given, 0)
    of = [{item.row[:-2] for item in hit.items} for hit in hits]
    assert sum(map(len, of)) == len(set().union(*of))
    assert [item.id for hit in hits for item in hit.items] == [item.id for item in made.items]


def items(groups: str) -> list[Item]:
    return [Item(f"i{n}", f"r{n}", {"a": str(n)}) for n in range(len(groups))]


@pytest.mark.parametrize(("groups", "size", "expected"), CASES["packing"])
def test_packing(groups: str, size: int, expected: list[str]) -> None:
    given = layout({"a": {}}, items_per_hit=size)
    hits = group_into_hits(items(groups), list(groups), [], given, 0)
    found = ["".join(groups[int(item.row[1:])] for item in hit.items) for hit in hits]
    assert found == expected
    assert len({hit.id for hit in hits}) == len(hits)
    plain = group_into_hits(items(groups), [""] * len(groups), [], given, 0)
    assert [len(hit.items) for hit in plain][:-1] == [size] * max(len(plain) - 1, 0)


def test_every_hit_has_one_attention_item_at_a_place_of_its_own() -> None:
    known = [{"fields": {"a": f"k{n}"}, "answers": {"note": "x"}} for n in range(3)]
    given = layout({"a": {}}, items_per_hit=4, attention=known).with_folder(Path("some"))
    some = attention_items(given)
    assert [item.row for item in some] == ["", "", ""]
    assert some[0].id == item_id("some", {"a": "k0"})
    hits = group_into_hits(items("x" * 400), [""] * 400, some, given, 5)
    places = [[n for n, item in enumerate(hit.items) if not item.row] for hit in hits]
    assert len(hits) == 100
    assert all(
        len(place) == 1 and len(hit.items) == 5 for place, hit in zip(places, hits, strict=True)
    )
    assert {place for (place,) in places} == {0, 1, 2, 3, 4}
    used = [item.id for hit in hits for item in hit.items if not item.row]
    assert all(10 < used.count(item.id) < 60 for item in some)
    assert hits == group_into_hits(items("x" * 400), [""] * 400, some, given, 5)
    assert hits != group_into_hits(items("x" * 400), [""] * 400, some, given, 6)


def page(item: str, title: str, *texts: str) -> dict[str, Any]:
    inside = [{"text": t, "section": "S", "kind": "text"} for t in texts]
    return {"item": item, "title": title, "paragraphs": inside}


def test_pages_by_item_or_title(tmp_path: Path) -> None:
    pages = [page("Q1", "One", "uno", "eins"), page("Q2", "Two", "dos"), page("Q3", "Q9", "tres")]
    pq.write_table(pa.Table.from_pylist(pages), tmp_path / "pages.parquet")
    rows = [
        {"id": "a", "subject": "Q1"},
        {"id": "b", "title": "Two"},
        {"id": "c", "subject": "Q404"},
        {"id": "d"},
    ]
    joined = sources(tmp_path, pages=tmp_path)
    given = layout({"page": {"kind": "paragraphs", "join": "page"}})
    made = make(tmp_path, given, rows, joined=joined)
    found = {item.row: item.fields["page"] for item in made.items}
    one = {"heading": "S", "kind": "text"}
    assert found == {
        "a": [{"text": "uno", **one}, {"text": "eins", **one}],
        "b": [{"text": "dos", **one}],
    }
    assert made.counts["missing page"] == 2
    by_text = layout({"page": {"join": "page", "column": "name"}})
    (item,) = make(tmp_path, by_text, [{"id": "e", "name": "One"}], joined=joined).items
    assert item.fields["page"] == "uno\neins"
    with pytest.raises(UserError, match="--pages"):
        make(tmp_path, given, rows)


@pytest.mark.parametrize("columns", CASES["no_pages"])
def test_a_file_that_holds_no_pages(columns: dict[str, Any], tmp_path: Path) -> None:
    pq.write_table(pa.table(columns), tmp_path / "pages.parquet")
    given = layout({"page": {"kind": "paragraphs", "join": "page"}})
    with pytest.raises(UserError, match="not a table of pages"):
        make(tmp_path, given, [{"subject": "Q1"}], joined=sources(tmp_path, pages=tmp_path))


ARTICLE_ID = (
    "20070102000000000000\x00\x01"
    "b3f2e7af5a29224c63638763202247ea30975daa250712b1acc6a3c48b6bf577\x00\x01"
)
NEWS = [str(Path(__file__).resolve().parents[1] / "samples" / "news")]


def test_articles_and_search_of_the_sample_news(tmp_path: Path) -> None:
    joined = sources(tmp_path, NEWS)
    found = joined.find("search", ["Secretary-General of the United Nations", "zzzzqqq"])
    (passages,) = found.values()
    assert isinstance(passages, list)
    assert 1 <= len(passages) <= PASSAGES
    assert {tuple(one) for one in passages if isinstance(one, dict)} == {("text", "id")}
    rows = [{"id": "a", "article": ARTICLE_ID}, {"id": "b", "article": "../../etc/passwd"}]
    kinds = {"t": {}, "l": {"kind": "list"}, "p": {"kind": "paragraphs"}}
    given = layout({k: v | {"join": "article"} for k, v in kinds.items()})
    made = make(tmp_path, given, rows, joined=joined)
    (item,) = made.items
    assert made.counts["missing t"] == 1
    assert item.fields["l"] == item.fields["p"] == str(item.fields["t"]).split("\n")
    assert len(str(item.fields["t"])) > 100


@pytest.mark.parametrize(("shown", "more", "missing"), CASES["columns"])
def test_a_column_that_a_release_lacks(
    shown: dict[str, Any], more: dict[str, Any], missing: str, tmp_path: Path
) -> None:
    names = ["id", "a", "question", "relation", "subject"]
    pq.write_table(pa.table({name: ["x"] for name in names}), tmp_path / "rows.parquet")
    dataset = open_dataset(str(tmp_path / "rows.parquet"), tmp_path)
    with pytest.raises(UserError, match=f"(?s)no column '{missing}'.*did you mean"):
        make(tmp_path, layout(shown, **more), dataset)
