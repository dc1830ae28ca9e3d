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
_IN_TURNS = """
    SELECT place FROM drawn
    ORDER BY dense_rank() OVER (PARTITION BY code ORDER BY key), key, place
"""
"""Values take turns: `code` is a row's value, `key` the hash of its group."""


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
        """Every row with its place in the dataset, from 0; `columns` and `places` alone, where
        given. Rows of other places are not decoded."""
        if not _is_parquet(self.files[0]):
            rows = enumerate(_json_rows(self.files[0]))
            yield from (one for one in rows if places is None or one[0] in places)
            return
        first = 0
        for batch in (one for path in self.files for one in _record_batches(path, columns)):
            inside = [n for n in range(batch.num_rows) if places is None or first + n in places]
            whole = len(inside) == batch.num_rows
            found = (batch if whole else batch.take(inside)).to_pylist()
            yield from zip((first + n for n in inside), found, strict=True)
            first += batch.num_rows

    def sibling(self, config: str) -> Path | None:
        """The folder of another config of the same release; None where there is none."""
        if self.config is None:
            return None
        folder = self.files[0].parent.with_name(config)
        return folder if folder.is_dir() else None


def row_id_of(row: Row) -> str:
    """The id of a row: its own, or a hash of all of it."""
    return stored_id(row) or digest(to_json_value(row))


def stored_id(row: Row) -> str:
    """The id that a row has of its own, a text or a whole number; empty for none."""
    own = row.get("id")
    number = isinstance(own, int) and not isinstance(own, bool)
    return str(own) if number or isinstance(own, str) else ""


def open_dataset(
    given: str, releases: Path, *, config: str | None = None, split: str | None = None
) -> DatasetRows:
    """A release folder, the name of a dataset (its newest release), a Parquet or a JSONL file.

    `config`: by default the first of the release; `split`: by default all of them.
    """
    path = Path(given)
    if path.is_file():
        if config or split:
            raise UserError("a file has no configs and splits", where=given)
        columns = None
        if _is_parquet(path):
            columns = tuple(_open_parquet(path).schema_arrow.names)
        elif path.suffix.lower() not in (".jsonl", ".ndjson"):
            raise UserError("not a Parquet or JSONL file", where=given)
        return DatasetRows(path.name, file_sha256(path), None, (), (path,), columns)
    if not given or not path.is_dir():
        path = _newest_release(given, releases)
    found = manifest.load_manifest(path)
    names = [one.name for one in found.configs]
    chosen = found.config(config or (names or [""])[0])
    if chosen is None:
        raise UserError(
            f"no config {config!r}", where=display_path(path), hint=near_hint(config, names)
        )
    splits = [one for one in chosen.splits if split in (None, one.name)]
    if not splits:
        have = [one.name for one in chosen.splits]
        raise UserError(
            f"no split {split!r}", where=display_path(path), hint=near_hint(split, have)
        )
    return DatasetRows(
        name=f"{found.dataset} {found.version}",
        sha256=file_sha256(path / manifest.FILE),
        config=chosen.name,
        splits=tuple(one.name for one in splits),
        files=tuple(manifest.locate_file(path, one.file) for one in splits),
        columns=tuple(one.name for one in chosen.columns),
    )


def _newest_release(name: str, releases: Path) -> Path:
    is_name = bool(name) and Path(name).name == name
    if versions := published_versions(releases / name) if is_name else []:
        return releases / name / str(versions[-1])
    recipe = resource("builders/recipes") / f"{name}.yaml"
    if is_name and recipe.is_file():
        gold = " --gold judgments" if "GOLD=" in recipe.read_text("utf-8") else ""
        hint = f"factdrift release {name}{gold} makes it"
    else:
        have = sorted(p.name for p in releases.iterdir()) if releases.is_dir() else []
        near = did_you_mean(name, have)
        hint = f"did you mean {near}?" if near else "give a release folder, a Parquet or JSONL file"
    raise UserError(f"no dataset {name!r} in {display_path(releases)}", hint=hint)


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() == ".parquet"


def _open_parquet(path: Path) -> pq.ParquetFile:
    try:
        return reading(path)
    except (OSError, pa.ArrowException) as error:
        raise UserError(f"not a Parquet file: {error}".splitlines()[0], where=path) from None


def _record_batches(path: Path, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
    with _open_parquet(path) as file:
        have = file.schema_arrow.names
        wanted = None if columns is None else [c for c in columns if c in have]
        try:
            yield from file.iter_batches(_ROWS, columns=wanted, use_threads=False)
        except (OSError, pa.ArrowException) as error:
            raise UserError(f"damaged: {error}".splitlines()[0], where=path) from None


def _json_rows(path: Path) -> Iterator[Row]:
    for entry in require_entries(json_documents(path)):
        if not isinstance(entry.value, dict):
            raise UserError("not a JSON object", where=path, line=entry.line)
        yield entry.value


def to_json_value(value: Any) -> Json:
    """A value of a row as JSON holds it; days as `2019-04-05`, what is no number as null."""
    found: Json = to_jsonable_python(value, inf_nan_mode="null", bytes_mode="base64")
    return found


def sample_rows(
    dataset: DatasetRows, layout: Layout, seed: int, sent: set[str], wanted: set[str] | None = None
) -> tuple[Any, dict[str, int], bool]:
    """The places of all rows that may be sent, an array in random order; why others are left out;
    and whether all rows have ids of their own, in a column that can be read alone.

    20 bytes a row are held. Rows whose id is in `sent` are left out and counted, and so are those
    that are not `wanted`, where that is given. With `together`, rows with the same values in these
    columns follow each other as one group; with `balance`, the values of that column take turns.
    """
    tops = [one.split(".")[0] for one in (*layout.together, layout.balance or "id")]
    require_columns(dataset, tops[: len(tops) if layout.balance else -1])
    keys, codes, places = array("Q"), array("i"), array("q")
    values: dict[str, int] = {}
    counts = {"rows": 0, "sent_before": 0}
    # where a row has no id of its own, its id is a hash of all that it holds, and all of it is read
    columns = dataset.columns or ()
    has_ids = "id" in columns and all(stored_id(row) for _, row in dataset.rows(["id"]))
    for place, row in dataset.rows(["id", *tops] if has_ids else None):
        name = row_id_of(row)
        counts["rows"] += 1
        if name in sent:
            counts["sent_before"] += 1
            continue
        if wanted is not None and name not in wanted:
            counts["not_open"] = counts.get("not_open", 0) + 1
            continue
        common = [column_value(row, column) for column in layout.together]
        group = digest(common) if common else name
        value = str(column_value(row, layout.balance)) if layout.balance else ""
        keys.append(seeded_hash(seed, group))
        codes.append(values.setdefault(value, len(values)))
        places.append(place)
    drawn = {"key": keys, "code": codes, "place": places}
    with duck.connect() as db:
        db.register("drawn", pa.table({name: np.asarray(x) for name, x in drawn.items()}))
        return db.execute(_IN_TURNS).fetchnumpy()["place"], counts, has_ids


def column_value(row: Any, column: str) -> Any:
    """The value of a dotted column; of a list of objects, the list of their values."""
    for name in column.split("."):
        if isinstance(row, list):
            row = [one.get(name) for one in row if isinstance(one, Mapping)]
        else:
            row = row.get(name) if isinstance(row, Mapping) else None
    return row


def require_columns(dataset: DatasetRows, columns: Sequence[str]) -> None:
    """`UserError` where the dataset is known not to have a column."""
    for column in columns:
        if dataset.columns is not None and column not in dataset.columns:
            hint = near_hint(column, dataset.columns).replace("there are", "it has")
            raise UserError(f"{dataset.name} has no column {column!r}", hint=hint)
