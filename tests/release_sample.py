"""A small dataset for the tests of releases: rows made by rule, easily edited."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa

import factdrift
from factdrift.builders.core.dataset import Dataset, Input, Meta, Plot, RowSource, Statistics, Table
from factdrift.builders.core.dates import Period
from factdrift.builders.core.schema import batches
from factdrift.builders.release.manifest import own_sha256, write_json
from factdrift.builders.release.publish import Published, write_release
from factdrift.builders.rows import Answer, Cloze, Dropped, Segment, Split
from factdrift.builders.text.prompts import in_period, merge_targets
from factdrift.reasoning.rows import ReasoningQuestion

PROSE = Path(__file__).parents[1] / "data_cards" / "dynamic-templama" / "prose.md"
PERIODS = ("2021Q3", "2021Q4")
SAMPLED = (
    *("as-of", "ckl-questions", "dynamic-templama", "invariant-lama", "knowledge-edits"),
    *("streamingqa", "temporal-facts", "temporal-reasoning", "timeqa", "wmt-question-dates"),
)
"""The datasets that are made of the samples."""


def cloze(n: int, split: Split = "unchanged", period: str = "2021Q3", **changes: Any) -> Cloze:
    """Row number `n`; ids differ by number and period."""
    asked_period = Period.parse(period)
    answer = Answer(f"Q{n + 1000}", f"Club {n}", (f"C{n}", "the club"))
    cloze_values: dict[str, Any] = {
        "id": f"{n:04}-{period}",
        "prompt": in_period(f"Person {n} plays for _X_.", asked_period),
        "targets": merge_targets([answer.label], answer.aliases),
        "subject": f"Q{n}",
        "subject_label": f"Person {n}",
        "relation": "P54",
        "relation_label": "member of sports team",
        "template": "P54/1",
        "query": f"Person {n} plays for _X_.",
        "question": f"Which team did Person {n} play for on {asked_period.last}?",
        "period": period,
        "period_first": asked_period.first,
        "period_last": asked_period.last,
        "split": split,
        "answers": (answer,),
        "previous_answers": () if split == "new" else (answer,),
        "still_true": (),
        "possible_answers": (),
        "added": (),
        "removed": (),
        "sitelinks": n,
        "statements": 3 * n,
        "subject_facts": 2,
        "answer_tokens": (3,),
        "views": ("multi_token", "max_tokens_5"),
    }
    return Cloze(**(cloze_values | changes))


def segment(n: int, **changes: Any) -> Segment:
    """A row of a table without ids."""
    segment_values: dict[str, Any] = {
        "subject": f"Q{n}",
        "relation": "P54",
        "object": "Q9",
        "start_first": date(2020, 1, 1),
        "start_last": date(2020, 12, 31),
        "end_first": None,
        "end_last": None,
        "end_open": True,
        "end_inferred": False,
        "rival": False,
        "statements": (f"Q{n}$a",),
        "snapshot": date(2026, 2, 2),
    }
    return Segment(**(segment_values | changes))


def drop(item: str, reason: str = "in_doubt") -> Dropped:
    """A dropped row."""
    return Dropped("diff", reason, item, "Q1", "P54", "2021Q3", None, None)


def from_rows(row: type, rows: Iterable[Any], size: int = 8192) -> RowSource:
    """A source of typed rows."""
    row_tuple = tuple(rows)

    def flow() -> Iterator[pa.RecordBatch]:
        return batches(row, row_tuple, size)

    return flow


Rows = Mapping[str, Mapping[str, Iterable[Any]]]
"""Config -> split -> rows."""

BASE: Rows = {
    "unchanged": {p: [cloze(n, period=p) for n in range(5)] for p in PERIODS},
    "updated": {"2021Q3": [cloze(7, "updated")], "2021Q4": []},
    "segments": {"all_time": [segment(n) for n in (1, 2, 3, 3)]},
}


@dataclass(frozen=True)
class Sample:
    """What a test may change of the sample."""

    rows: Rows
    title: str = "A sample"
    libraries: Mapping[str, str] | None = None
    drops: tuple[str, ...] = ("b", "a")
    pictures: bool = False


def dataset(sample: Sample) -> Dataset:
    """The sample as a builder would hand it over."""
    tables = []
    for name, splits in sample.rows.items():
        row_types = {"segments": Segment, "questions": ReasoningQuestion}
        row = row_types.get(name, Cloze)
        sources = {split: from_rows(row, split_rows) for split, split_rows in splits.items()}
        tables.append(Table(name, row, f"Rows that are `{name}`.", sources))
    sizes = {"unchanged": {"2021Q3": 5, "2021Q4": 5}, "updated": {"2021Q3": 1, "2021Q4": 0}}
    picture = Plot("splits", "periods", "Rows a period", "Each panel has its scale.", sizes)
    return Dataset(
        tables=tuple(tables),
        dropped=(from_rows(Dropped, [drop(item) for item in sample.drops]),),
        statistics=(
            Statistics(
                "views", "Rows of each view", [{"view": "single_token", "share lost": 0.9512}]
            ),
        ),
        plots=(picture,) if sample.pictures else (),
    )


def meta(sample: Sample) -> Meta:
    """The metadata of the sample."""
    return Meta(
        dataset="sample",
        title=sample.title,
        summary="Cloze queries made by rule.",
        builder="sample-builder",
        licence="CC0-1.0",
        published=date(2026, 2, 2),
        prose=PROSE,
        recipe="dataset: sample\n",
        seed=7,
        rebuild="make release RECIPE=sample.yaml",
        code_version=factdrift.__version__,
        libraries=sample.libraries or {"pyarrow": "1.2.3"},
        parameters={"window": {"granularity": "quarter"}},
        inputs=(
            Input("dump", "d.json.gz", "0" * 64, 12, "CC0-1.0", date(2026, 2, 2), "https://x.org"),
        ),
        citations=("@inproceedings{margatina, title={Dynamic}}",),
        tasks=("fill-mask",),
        tags=("temporal-knowledge",),
    )


def publish(out: Path, sample: Sample | None = None, version: str = "auto") -> Published:
    """Publish the sample."""
    sample = sample or Sample(BASE)
    return write_release(dataset(sample), meta(sample), out, version)


def changed(splits: Mapping[str, Any], **settings: Any) -> Sample:
    """The sample with other splits (`new/2021Q3`); null: the config or split is gone.

    Rows are given by number, or with other values: `{"n": 0, "query": "?"}`.
    """
    rows: dict[str, dict[str, Any]] = {
        name: dict(rows_by_split) for name, rows_by_split in BASE.items()
    }
    for place, row_changes in splits.items():
        config, _, split = place.partition("/")
        if row_changes is None:
            rows[config] = {
                config_name: rows_by_split
                for config_name, rows_by_split in rows[config].items()
                if split and config_name != split
            }
        else:
            rows.setdefault(config, {})[split] = [
                _changed(config, split, row_change) for row_change in row_changes
            ]
    return Sample(
        {config: rows_by_split for config, rows_by_split in rows.items() if rows_by_split},
        **settings,
    )


def _changed(config: str, split: str, row_changes: Any) -> Any:
    row_values: dict[str, Any] = {} if config == "segments" else {"split": config, "period": split}
    row_values |= {"n": row_changes} if isinstance(row_changes, int) else row_changes
    changed_values: Any = {
        name: tuple(row_value) if isinstance(row_value, list) else row_value
        for name, row_value in row_values.items()
    }
    return segment(**changed_values) if config == "segments" else cloze(**changed_values)


def edited(config: str, split: str, rows: Iterable[Any]) -> Sample:
    """The sample with other rows in one split."""
    return Sample({**BASE, config: {**BASE[config], split: tuple(rows)}})


def edit(release: Path, place: str, value: Any) -> None:
    """Set one value of a manifest, or change it by a function; `configs.0.name` is its place.

    The manifest's own checksum is that of what it says then, as a careful forger would have it.
    """
    path = release / "manifest.json"
    whole_document = part = json.loads(path.read_text())
    *outer_keys, last = (int(step) if step.isdigit() else step for step in place.split("."))
    for step in outer_keys:
        part = part[step]
    part[last] = value(part[last]) if callable(value) else value
    whole_document["manifest_sha256"] = "0" * 64
    write_json(path, whole_document, sort_keys=True)
    write_json(path, whole_document | {"manifest_sha256": own_sha256(release)}, sort_keys=True)
