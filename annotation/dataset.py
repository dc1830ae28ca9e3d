"""The rows that a user names: of a release, a Parquet file or JSON lines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from annotation.batch import Json
from annotation.submission import decode
from builders.config import did_you_mean, shown
from builders.errors import UserError
from builders.files import ROOT
from builders.release import manifest
from builders.release.version import published
from builders.schema import reading
from builders.store import digest, file_sha256

Row = dict[str, Any]
_ROWS = 1024
_LONGEST = 64 << 20


@dataclass(frozen=True)
class Dataset:
    """Rows in files. `name` is dataset and version (`streamingqa 1.0.0`), or a file's own name.

    `sha256` is that of the release's manifest, or of the file. `columns` are the columns at the
    top, where they are known before reading.
    """

    name: str
    sha256: str
    config: str | None
    splits: tuple[str, ...]
    files: tuple[Path, ...]
    columns: tuple[str, ...] | None

    def rows(self, columns: Sequence[str] | None = None) -> Iterator[tuple[int, Row]]:
        """Every row with its place in the dataset, from 0; `columns` alone, where given."""
        place = 0
        for path in self.files:
            for row in _parquet(path, columns) if _is_parquet(path) else _lines(path):
                yield place, row
                place += 1

    def beside(self, config: str) -> Path | None:
        """The folder of another config of the same release; None where there is none."""
        if self.config is None:
            return None
        folder = self.files[0].parent.with_name(config)
        return folder if folder.is_dir() else None


def row_name(row: Row) -> str:
    """The id of a row: its own, or a hash of all of it."""
    return own_name(row) or digest(as_json(row))


def own_name(row: Row) -> str:
    """The id that a row has of its own, a text or a whole number; empty for none."""
    own = row.get("id")
    number = isinstance(own, int) and not isinstance(own, bool)
    return str(own) if number or isinstance(own, str) else ""


def open_dataset(
    given: str, releases: Path, *, config: str | None = None, split: str | None = None
) -> Dataset:
    """A release folder, the name of a dataset (its newest release), a Parquet or a JSONL file.

    `config`: by default the first of the release; `split`: by default all of them.
    """
    path = Path(given)
    if path.is_file():
        if config or split:
            raise UserError("a file has no configs and splits", where=given)
        columns = None
        if _is_parquet(path):
            columns = tuple(_opened(path).schema_arrow.names)
        elif path.suffix.lower() not in (".jsonl", ".ndjson"):
            raise UserError("not a Parquet or JSONL file", where=given)
        return Dataset(path.name, file_sha256(path), None, (), (path,), columns)
    if not given or not path.is_dir():
        path = _newest(given, releases)
    found = manifest.load(path)
    names = [one.name for one in found.configs]
    chosen = found.config(config or (names or [""])[0])
    if chosen is None:
        raise UserError(f"no config {config!r}", where=shown(path), hint=_near(config, names))
    splits = [one for one in chosen.splits if split in (None, one.name)]
    if not splits:
        have = [one.name for one in chosen.splits]
        raise UserError(f"no split {split!r}", where=shown(path), hint=_near(split, have))
    return Dataset(
        name=f"{found.dataset} {found.version}",
        sha256=file_sha256(path / manifest.FILE),
        config=chosen.name,
        splits=tuple(one.name for one in splits),
        files=tuple(manifest.locate(path, one.file) for one in splits),
        columns=tuple(one.name for one in chosen.columns),
    )


def _newest(name: str, releases: Path) -> Path:
    versions = published(releases / name) if name and Path(name).name == name else []
    if not versions:
        have = sorted(p.name for p in releases.iterdir()) if releases.is_dir() else []
        near = did_you_mean(name, have)
        hint = f"did you mean {near}?" if near else "give a release folder, a Parquet or JSONL file"
        hint = _made_by(name) or hint
        raise UserError(f"no dataset {name!r} in {shown(releases)}", hint=hint)
    return releases / name / str(versions[-1])


def _made_by(name: str) -> str | None:
    """The command that makes a dataset of ours; None where no recipe is named so."""
    path = Path("builders") / "recipes" / f"{name}.yaml"
    if not name or Path(name).name != name or not (ROOT / path).is_file():
        return None
    gold = " GOLD=judgments" if "GOLD=" in (ROOT / path).read_text("utf-8") else ""
    return f"make release RECIPE={path.as_posix()}{gold} makes it"


def _near(word: str | None, choices: Sequence[str]) -> str:
    near = did_you_mean(word or "", choices)
    return f"did you mean {near}?" if near else f"there are {', '.join(choices)}"


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() == ".parquet"


def _opened(path: Path) -> pq.ParquetFile:
    try:
        return reading(path)
    except (OSError, pa.ArrowException) as error:
        raise UserError(f"not a Parquet file: {error}".splitlines()[0], where=path) from None


def _parquet(path: Path, columns: Sequence[str] | None) -> Iterator[Row]:
    with _opened(path) as file:
        have = file.schema_arrow.names
        some = None if columns is None else [c for c in columns if c in have]
        try:
            for batch in file.iter_batches(_ROWS, columns=some):
                yield from batch.to_pylist() if some != [] else [{}] * batch.num_rows
        except (OSError, pa.ArrowException) as error:
            raise UserError(f"damaged: {error}".splitlines()[0], where=path) from None


def _lines(path: Path) -> Iterator[Row]:
    """The objects of a JSONL file; empty lines are passed over."""
    with path.open("rb") as file:
        number = 0
        while line := file.readline(_LONGEST):
            number += 1
            if not line.strip():
                continue
            try:
                row = decode(line.decode("utf-8-sig" if number == 1 else "utf-8"))
            except ValueError as error:
                raise UserError(f"not valid JSON: {error}", where=path, line=number) from None
            if not isinstance(row, dict):
                raise UserError("not a JSON object", where=path, line=number)
            yield row


def as_json(value: Any) -> Json:
    """A value of a row as JSON holds it; days as `2019-04-05`, what is no number as null."""
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return {str(key): as_json(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(one) for one in value]
    return str(value)
