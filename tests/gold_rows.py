"""Batches of the sample release, and gold tables as `make judgments` would write them."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from factdrift.annotation.batch import Item, read_batch
from factdrift.annotation.hits import make_batch
from factdrift.annotation.order import BatchOrder
from factdrift.builders.core.schema import batches
from factdrift.builders.rows import Decision, Gold
from tests.conftest import ROOT


def batch_items(layout: str, dataset: Path, out: Path, **more: Any) -> list[Item]:
    """The items of a batch drawn from a release, attention items left out."""
    news = [str(ROOT / "samples" / "news")]
    order = BatchOrder(
        layout=layout, dataset=str(dataset), out=out, build=out / "build", news=news, **more
    )
    folder, manifest = make_batch(order)
    assert not [
        reason for reason, number in manifest.counts.items() if number and "missing" in reason
    ]
    return [item for hit in read_batch(folder).hits for item in hit.items if item.row]


def gold_row(
    layout: str,
    row: str,
    fields_seen: Mapping[str, Any],
    answers: Mapping[str, Any],
    decision: Decision = "accepted",
    judgments: int = 1,
    agreeing: int = 1,
    dataset: str = "timeqa 1.0.0",
) -> Gold:
    """One gold row."""
    printed_text, seen_text = (
        json.dumps(value, sort_keys=True, ensure_ascii=False) for value in (answers, fields_seen)
    )
    return Gold(row, layout, dataset, decision, printed_text, seen_text, judgments, agreeing)


def write_gold(folder: Path, gold_rows: Iterable[Gold]) -> Path:
    """A gold table in a layout's folder."""
    folder.mkdir(parents=True)
    sorted_rows = sorted(gold_rows, key=lambda gold: gold.row)
    pq.write_table(pa.Table.from_batches(list(batches(Gold, sorted_rows))), folder / "gold.parquet")
    return folder


def config_rows(release: Path, name: str) -> list[dict[str, Any]]:
    """All rows of a config of a release."""
    split_table = ds.dataset(sorted((release / "data" / name).glob("*.parquet"))).to_table()
    split_rows: list[dict[str, Any]] = split_table.to_pylist()
    return split_rows


def figure_rows(release: Path, name: str) -> list[dict[str, Any]]:
    """The rows of a figure of the manifest."""
    manifest = json.loads((release / "manifest.json").read_text("utf-8"))
    printed_rows: list[dict[str, Any]] = next(
        figure["rows"] for figure in manifest["figures"] if figure["name"] == name
    )
    return printed_rows
