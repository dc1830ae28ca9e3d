"""What every format needs: the rows of a release, and files written whole."""

import csv
import gzip
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any, Self, TextIO

import duckdb
import jsonlines

from factdrift.builders.core import duck
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, replacing
from factdrift.builders.core.schema import reading
from factdrift.builders.release import manifest
from factdrift.builders.release.manifest import ConfigEntry, Manifest, SplitEntry

Row = Mapping[str, Any]
_ROWS = 1024
"""Rows read at a time: some hold a whole page."""


@dataclass(frozen=True)
class Release:
    """A release to be exported into the folder `out`. `corpus`: the folder of its news, if given.

    `files`: what was written, with numbers of records; `notes`: what else is to be said, such as
    why rows are in no file -> of how many rows.
    """

    folder: Path
    out: Path
    format: str
    manifest: Manifest
    corpus: Path | None = None
    files: dict[str, int] = field(default_factory=dict)
    notes: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, folder: Path, out: Path | None, name: str, corpus: Path | None) -> Self:
        """Read the manifest; `out` is `exports/<format>/<dataset>-<version>` by default."""
        loaded = manifest.load_manifest(folder)
        place = out or Path("exports", name, f"{loaded.dataset}-{loaded.version}")
        return cls(folder, place, name, loaded, corpus)

    def configs(self, *types: type) -> list[ConfigEntry]:
        """The configs whose rows are of one of these types and that have rows.

        `UserError`: there is none.
        """
        column_names = {tuple(field.name for field in fields(row_type)) for row_type in types}
        matching_configs = [
            config
            for config in self.manifest.configs
            if tuple(column.name for column in config.columns) in column_names
            and any(split.rows for split in config.splits)
        ]
        if not matching_configs:
            text = f"{self.manifest.dataset} has nothing for the format {self.format}"
            names = " or ".join(row.__name__ for row in types)
            raise UserError(text, where=self.folder, hint=f"it needs rows of {names}")
        return matching_configs

    def rows(self, split: SplitEntry, columns: Sequence[str] | None = None) -> Iterator[Row]:
        """The rows of a split in order, some in memory at a time."""
        path = manifest.locate_file(self.folder, split.file)
        with reading(path) as file:
            for batch in file.iter_batches(_ROWS, columns=list(columns) if columns else None):
                yield from batch.to_pylist()

    @contextmanager
    def query(
        self, sql: str, tables: Mapping[str, Iterable[ConfigEntry]]
    ) -> Iterator[Iterator[Row]]:
        """The rows of a query over configs, their splits together; beyond memory, on disk."""
        with duck.connect(self.out) as db:
            for name, configs in tables.items():
                files = [
                    duck.parquet(manifest.locate_file(self.folder, split.file))
                    for config in configs
                    for split in config.splits
                ]
                part_queries = " UNION ALL ".join(f"SELECT * FROM {file}" for file in files)  # noqa: S608
                db.execute(f"CREATE VIEW {duck.name(name)} AS {part_queries}")
            try:
                batches = db.sql(sql).to_arrow_reader(_ROWS)
                yield (row for batch in batches for row in batch.to_pylist())
            except duckdb.Error as error:
                hint = "factdrift verify says what is damaged"
                raise UserError(str(error).splitlines()[0], where=self.folder, hint=hint) from error

    @contextmanager
    def text(self, name: str) -> Iterator[TextIO]:
        """A text file of the export, gzip by its name; it is there when all of it is."""
        path = self.out / name
        with disk_errors(path), ExitStack() as stack:
            unfinished = stack.enter_context(replacing(path))
            if not name.endswith(("gz", "gzip")):
                yield stack.enter_context(unfinished.open("w", encoding="utf-8", newline=""))
                return
            raw = stack.enter_context(unfinished.open("wb"))
            # no name and no time, so that the same rows are the same bytes
            packed = gzip.GzipFile("", "wb", fileobj=raw, mtime=0)
            stack.enter_context(packed)
            yield stack.enter_context(io.TextIOWrapper(packed, encoding="utf-8", newline=""))

    def _counted(self, name: str, records: Iterable[Row]) -> Iterator[Row]:
        self.files[name] = 0
        for record in records:
            self.files[name] += 1
            yield record

    def json_lines(self, name: str, records: Iterable[Row]) -> int:
        """Write a file of JSON lines; how many they are."""
        with self.text(name) as file:
            jsonlines.Writer(file, dumps=dumps).write_all(self._counted(name, records))
        return self.files[name]

    def json_list(self, name: str, records: Iterable[Row]) -> None:
        """Write a file that is one JSON list, a record a line."""
        with self.text(name) as file:
            before = "[\n"
            for record in self._counted(name, records):
                file.write(before + dumps(record))
                before = ",\n"
            file.write("\n]\n" if self.files[name] else "[\n]\n")

    def table(self, name: str, columns: Sequence[str], records: Iterable[Row]) -> None:
        """Write a file of comma-separated values with a line of names."""
        with self.text(name) as file:
            writer = csv.DictWriter(file, columns, lineterminator="\n", extrasaction="ignore")
            writer.writeheader()
            writer.writerows(self._counted(name, records))


dumps: Callable[[Any], str] = partial(json.dumps, ensure_ascii=False, allow_nan=False)
"""A value as JSON on one line."""


def release_blank(manifest: Manifest) -> str:
    """What stands for the answer in the queries of a release."""
    blank = manifest.parameters.get("blank")
    return blank if isinstance(blank, str) else "_X_"
