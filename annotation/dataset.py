"""The rows of a dataset that a user names, and a sample of them in random order.

Rows are those of a release, a Parquet file or JSON lines. A row's place in the order is a hash of
seed and row, so that it does not depend on the other rows.
"""

from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic_core import to_jsonable_python

from factdrift.annotation.layout import Layout, near_hint
from factdrift.annotation.reading import json_documents, require_entries
from factdrift.annotation.submission import Json
from factdrift.builders.core import duck
from factdrift.builders.core.config import did_you_mean, display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource
from factdrift.builders.core.hashing import digest, file_sha256, seeded_hash
from factdrift.builders.core.schema import reading
from factdrift.builders.release import manifest
from factdrift.builders.release.version import published_versions

Row = dict[str, Any]
_ROWS = 1024
# Values take turns: `code` is a row's value, `key` the hash of its group.
_IN_TURNS = """
    SELECT place FROM drawn
    ORDER BY dense_rank() OVER (PARTITION BY code ORDER BY key), key, place
"""


@dataclass(frozen=True)
class DatasetRows:
    """Rows in files. `name` is dataset and version (`streamingqa 1.0.0`), or the file's name.

    `sha256` is that of the release's manifest, or of the file. `columns`: the top-level columns,
    where they are known before reading.
    """

    name: str
    sha256: str
    config: str | None
    splits: tuple[str, ...]
    files: tuple[Path, ...]
    columns: tuple[str, ...] | None

    def rows(
        self, columns: Sequence[str] | None = None, places: Collection[int] | None = None
    ) -> Iterator[tuple[int, Row]]:
        """Yield the rows with their places in the dataset, counted from 0.

        `columns` and `places` limit what is read; rows of other places are not decoded.
        """
        if not _is_parquet(self.files[0]):
            for place, row in enumerate(_json_rows(self.files[0])):
                if places is None or place in places:
                    yield place, row
            return
        first_place = 0
        for file_path in self.files:
            for batch in _record_batches(file_path, columns):
                yield from _rows_of_batch(batch, first_place, places)
                first_place += batch.num_rows

    def sibling(self, config: str) -> Path | None:
        """Return the folder of another config of the same release, or None."""
        if self.config is None:
            return None
        config_folder = self.files[0].parent.with_name(config)
        return config_folder if config_folder.is_dir() else None


def row_id_of(row: Row) -> str:
    """The id of a row: the one that it has, or a hash of all its values."""
    return stored_id(row) or digest(to_json_value(row))


def stored_id(row: Row) -> str:
    """The id in the column `id`, a text or a whole number; empty where the row has none."""
    id_value = row.get("id")
    is_number = isinstance(id_value, int) and not isinstance(id_value, bool)
    return str(id_value) if is_number or isinstance(id_value, str) else ""


def open_dataset(
    source: str, releases: Path, *, config: str | None = None, split: str | None = None
) -> DatasetRows:
    """Open a release folder, the newest release of a dataset's name, a Parquet or a JSONL file.

    `config` is by default the first of the release, and all splits are taken unless `split` names
    one. `UserError`: there is no such dataset, config or split.
    """
    source_path = Path(source)
    if source_path.is_file():
        if config or split:
            raise UserError("a file has no configs and splits", where=source)
        return _open_file(source_path, source)
    if not source or not source_path.is_dir():
        source_path = _newest_release(source, releases)
    return _open_release(source_path, config, split)


def _open_file(file_path: Path, source_name: str) -> DatasetRows:
    column_names = None
    if _is_parquet(file_path):
        column_names = tuple(_open_parquet(file_path).schema_arrow.names)
    elif file_path.suffix.lower() not in (".jsonl", ".ndjson"):
        raise UserError("not a Parquet or JSONL file", where=source_name)
    return DatasetRows(file_path.name, file_sha256(file_path), None, (), (file_path,), column_names)


def _open_release(
    release_folder: Path, config_name: str | None, split_name: str | None
) -> DatasetRows:
    release_manifest = manifest.load_manifest(release_folder)
    config_names = [release_config.name for release_config in release_manifest.configs]
    chosen_config = release_manifest.config(config_name or (config_names or [""])[0])
    if chosen_config is None:
        hint_text = near_hint(config_name, config_names)
        raise UserError(
            f"no config {config_name!r}", where=display_path(release_folder), hint=hint_text
        )
    chosen_splits = [split for split in chosen_config.splits if split_name in (None, split.name)]
    if not chosen_splits:
        hint_text = near_hint(split_name, [split.name for split in chosen_config.splits])
        raise UserError(
            f"no split {split_name!r}", where=display_path(release_folder), hint=hint_text
        )
    return DatasetRows(
        name=f"{release_manifest.dataset} {release_manifest.version}",
        sha256=file_sha256(release_folder / manifest.FILE),
        config=chosen_config.name,
        splits=tuple(split.name for split in chosen_splits),
        files=tuple(manifest.locate_file(release_folder, split.file) for split in chosen_splits),
        columns=tuple(config_column.name for config_column in chosen_config.columns),
    )


def _newest_release(dataset_name: str, releases: Path) -> Path:
    is_name = bool(dataset_name) and Path(dataset_name).name == dataset_name
    if release_versions := published_versions(releases / dataset_name) if is_name else []:
        return releases / dataset_name / str(release_versions[-1])
    recipe_path = resource("builders/recipes") / f"{dataset_name}.yaml"
    if is_name and recipe_path.is_file():
        gold_option = " --gold judgments" if "GOLD=" in recipe_path.read_text("utf-8") else ""
        hint_text = f"factdrift release {dataset_name}{gold_option} makes it"
    else:
        release_names = (
            sorted(release_folder.name for release_folder in releases.iterdir())
            if releases.is_dir()
            else []
        )
        nearest_name = did_you_mean(dataset_name, release_names)
        hint_text = (
            f"did you mean {nearest_name}?"
            if nearest_name
            else "give a release folder, a Parquet or JSONL file"
        )
    raise UserError(f"no dataset {dataset_name!r} in {display_path(releases)}", hint=hint_text)


def _is_parquet(file_path: Path) -> bool:
    return file_path.suffix.lower() == ".parquet"


def _open_parquet(file_path: Path) -> pq.ParquetFile:
    try:
        return reading(file_path)
    except (OSError, pa.ArrowException) as error:
        raise UserError(f"not a Parquet file: {error}".splitlines()[0], where=file_path) from None


def _record_batches(
    file_path: Path, wanted_columns: Sequence[str] | None
) -> Iterator[pa.RecordBatch]:
    with _open_parquet(file_path) as file:
        file_columns = file.schema_arrow.names
        read_columns = None
        if wanted_columns is not None:
            read_columns = [column for column in wanted_columns if column in file_columns]
        try:
            yield from file.iter_batches(_ROWS, columns=read_columns, use_threads=False)
        except (OSError, pa.ArrowException) as error:
            raise UserError(f"damaged: {error}".splitlines()[0], where=file_path) from None


def _rows_of_batch(
    batch: pa.RecordBatch, first_place: int, places: Collection[int] | None
) -> Iterator[tuple[int, Row]]:
    """The rows of a batch at the given places; `first_place` is the place of its first row."""
    batch_places = range(first_place, first_place + batch.num_rows)
    if places is not None:
        chosen_places = [place for place in batch_places if place in places]
        if len(chosen_places) < batch.num_rows:
            # a part of the table may hold none of the places
            chosen_indices = pa.array([place - first_place for place in chosen_places], pa.int64())
            batch = batch.take(chosen_indices)
        yield from zip(chosen_places, batch.to_pylist(), strict=True)
    else:
        yield from zip(batch_places, batch.to_pylist(), strict=True)


def _json_rows(file_path: Path) -> Iterator[Row]:
    for entry in require_entries(json_documents(file_path)):
        if not isinstance(entry.value, dict):
            raise UserError("not a JSON object", where=file_path, line=entry.line)
        yield entry.value


def to_json_value(value: Any) -> Json:
    """A value of a row in JSON's types: days as `2019-04-05`, NaN and infinities as null."""
    json_value: Json = to_jsonable_python(value, inf_nan_mode="null", bytes_mode="base64")
    return json_value


def sample_rows(
    dataset: DatasetRows,
    layout: Layout,
    seed: int,
    sent_ids: set[str],
    allowed_ids: set[str] | None = None,
) -> tuple[Any, dict[str, int], bool]:
    """Put the rows that may be sent into random order.

    Returns an array of their places, counts of the rows that are left out, and whether every row
    has an id of its own in a column that can be read alone. Rows whose id is in `sent_ids` are left
    out and counted, and so are those not in `allowed_ids`, where that is given. With `together`,
    rows with the same values in these columns follow each other as one group; with `balance`, the
    values of that column take turns. 20 bytes a row are held.
    """
    needed_columns = [*layout.together, *([layout.balance] if layout.balance else [])]
    top_columns = [needed_column.split(".")[0] for needed_column in needed_columns]
    require_columns(dataset, top_columns)
    group_keys, value_codes, row_places = array("Q"), array("i"), array("q")
    code_by_value: dict[str, int] = {}
    row_counts = {"rows": 0, "sent_before": 0}
    # where a row has no id of its own, its id is a hash of all that it holds, and all of it is read
    known_columns = dataset.columns or ()
    has_ids = "id" in known_columns and all(stored_id(row) for _, row in dataset.rows(["id"]))
    for row_place, row in dataset.rows(["id", *top_columns] if has_ids else None):
        row_id = row_id_of(row)
        row_counts["rows"] += 1
        if row_id in sent_ids:
            row_counts["sent_before"] += 1
        elif allowed_ids is not None and row_id not in allowed_ids:
            row_counts["not_open"] = row_counts.get("not_open", 0) + 1
        else:
            balance_value = str(column_value(row, layout.balance)) if layout.balance else ""
            group_keys.append(seeded_hash(seed, _group_of(row, layout) or row_id))
            value_codes.append(code_by_value.setdefault(balance_value, len(code_by_value)))
            row_places.append(row_place)
    return _take_turns(group_keys, value_codes, row_places), row_counts, has_ids


def _group_of(row: Row, layout: Layout) -> str:
    """A hash of the values that the rows of a group share; empty where rows are not grouped."""
    common_values = [column_value(row, column) for column in layout.together]
    return digest(common_values) if common_values else ""


def _take_turns(group_keys: Any, value_codes: Any, row_places: Any) -> Any:
    """The places in order of their keys, with the codes of values taking turns."""
    drawn_columns = {"key": group_keys, "code": value_codes, "place": row_places}
    with duck.connect() as database:
        database.register(
            "drawn",
            pa.table(
                {
                    column_name: np.asarray(column_data)
                    for column_name, column_data in drawn_columns.items()
                }
            ),
        )
        return database.execute(_IN_TURNS).fetchnumpy()["place"]


def column_value(row: Any, column: str) -> Any:
    """The value of a dotted column; for a list of objects, the list of their values."""
    value = row
    for column_part in column.split("."):
        if isinstance(value, list):
            value = [entry.get(column_part) for entry in value if isinstance(entry, Mapping)]
        else:
            value = value.get(column_part) if isinstance(value, Mapping) else None
    return value


def require_columns(dataset: DatasetRows, needed_columns: Sequence[str]) -> None:
    """`UserError` where the dataset is known not to have a column."""
    for column_name in needed_columns:
        if dataset.columns is not None and column_name not in dataset.columns:
            hint_text = near_hint(column_name, dataset.columns).replace("there are", "it has")
            raise UserError(f"{dataset.name} has no column {column_name!r}", hint=hint_text)
