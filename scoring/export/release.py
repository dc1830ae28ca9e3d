"""Parts that every export needs: the rows of a release, and files that are written whole."""

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
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, replacing
from factdrift.builders.core.schema import reading
from factdrift.builders.release import manifest
from factdrift.builders.release.manifest import ConfigEntry, Manifest, SplitEntry
from factdrift.scoring.export.formats import advice
from factdrift.scoring.export.id_forms import IdForm
from factdrift.scoring.predictions import read_predictions

Row = Mapping[str, Any]
# Rows read at a time: some hold a whole page.
_ROWS = 1024
_MEMORY = "1GB"
"""Of the database: a corpus of news in order of its days is larger, and is sorted on disk."""
SESSIONS = 40
"""Sessions of a question in LongMemEval's form, as many as its smaller set has."""


@dataclass(frozen=True)
class Release:
    """A release to be exported into the folder `out`. `corpus`: the folder of its news, if given.

    `ids`: the form of ids where the original data set has one of its own. `config`: which corpus
    of `as-of`. `sessions`: how many sessions a question has in LongMemEval's form.
    `answers_before`: what a model said before edits of it, by the id of the row.

    `files`: what was written, with numbers of records; `notes`: what else is to be said, such as
    why rows are in no file -> of how many rows.
    """

    folder: Path
    out: Path
    format: str
    manifest: Manifest
    corpus: Path | None = None
    ids: IdForm = "original"
    config: str | None = None
    sessions: int = SESSIONS
    answers_before: Mapping[str, str] = field(default_factory=dict)
    files: dict[str, int] = field(default_factory=dict)
    notes: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(
        cls,
        release_folder: Path,
        out_folder: Path | None,
        format_name: str,
        corpus_folder: Path | None,
        ids: IdForm = "original",
        config: str | None = None,
        sessions: int = SESSIONS,
        predictions: Path | None = None,
    ) -> Self:
        """Read the manifest; `out_folder` is `exports/<format>/<dataset>-<version>` by default."""
        release_manifest = manifest.load_manifest(release_folder)
        place = out_folder or Path(
            "exports", format_name, f"{release_manifest.dataset}-{release_manifest.version}"
        )
        return cls(
            *(release_folder, place, format_name, release_manifest, corpus_folder),
            *(ids, config, sessions),
            answers_before=_answers_by_id(predictions) if predictions else {},
        )

    def configs(self, *row_types: type) -> list[ConfigEntry]:
        """The configs whose rows are of one of these types and that have rows.

        `UserError`: there is none.
        """
        column_names = {tuple(field.name for field in fields(row_type)) for row_type in row_types}
        matching_configs = [
            config
            for config in self.manifest.configs
            if tuple(column.name for column in config.columns) in column_names
            and any(split.rows for split in config.splits)
        ]
        if not matching_configs:
            dataset = self.manifest.dataset
            raise UserError(
                f"{dataset} has nothing for the format {self.format}",
                where=display_path(self.folder),
                hint=advice(self.format, dataset),
            )
        return matching_configs

    def rows(self, split: SplitEntry, column_names: Sequence[str] | None = None) -> Iterator[Row]:
        """The rows of a split in order, some in memory at a time."""
        split_path = manifest.locate_file(self.folder, split.file)
        with reading(split_path) as parquet_file:
            for row_batch in parquet_file.iter_batches(
                _ROWS, columns=list(column_names) if column_names else None
            ):
                yield from row_batch.to_pylist()

    @contextmanager
    def database(
        self, configs_by_table: Mapping[str, Iterable[ConfigEntry]]
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        """A database with a view for each table, the splits of its configs together.

        What is beyond its memory goes to disk. `UserError`: a file is damaged.
        """
        with duck.connect(self.out, _MEMORY) as db:
            for name, configs in configs_by_table.items():
                split_files = [
                    duck.parquet(manifest.locate_file(self.folder, split.file))
                    for config in configs
                    for split in config.splits
                ]
                part_queries = " UNION ALL ".join(f"SELECT * FROM {file}" for file in split_files)  # noqa: S608
                db.execute(f"CREATE VIEW {duck.name(name)} AS {part_queries}")
            try:
                yield db
            except duckdb.Error as error:
                hint = "factdrift verify says what is damaged"
                raise UserError(str(error).splitlines()[0], where=self.folder, hint=hint) from error

    @contextmanager
    def query(
        self, query_sql: str, configs_by_table: Mapping[str, Iterable[ConfigEntry]]
    ) -> Iterator[Iterator[Row]]:
        """The rows of a query over configs, their splits together; beyond memory, on disk."""
        with self.database(configs_by_table) as db:
            batches = db.sql(query_sql).to_arrow_reader(_ROWS)
            yield (row for row_batch in batches for row in row_batch.to_pylist())

    @contextmanager
    def text(self, file_name: str) -> Iterator[TextIO]:
        """A text file of the export, gzip by its name; it is there when all of it is."""
        target_path = self.out / file_name
        with disk_errors(target_path), ExitStack() as stack:
            unfinished = stack.enter_context(replacing(target_path))
            if not file_name.endswith(("gz", "gzip")):
                yield stack.enter_context(unfinished.open("w", encoding="utf-8", newline=""))
                return
            raw_file = stack.enter_context(unfinished.open("wb"))
            # no name and no time, so that the same rows are the same bytes
            packed_file = gzip.GzipFile("", "wb", fileobj=raw_file, mtime=0)
            stack.enter_context(packed_file)
            yield stack.enter_context(io.TextIOWrapper(packed_file, encoding="utf-8", newline=""))

    def _counted(self, file_name: str, records: Iterable[Row]) -> Iterator[Row]:
        self.files[file_name] = 0
        for record in records:
            self.files[file_name] += 1
            yield record

    def json_lines(self, file_name: str, records: Iterable[Row]) -> int:
        """Write a file of JSON lines; how many they are."""
        with self.text(file_name) as text_file:
            jsonlines.Writer(text_file, dumps=dumps).write_all(self._counted(file_name, records))
        return self.files[file_name]

    def json_list(self, file_name: str, records: Iterable[Row]) -> None:
        """Write a file that is one JSON list, a record a line."""
        with self.text(file_name) as text_file:
            separator = "[\n"
            for record in self._counted(file_name, records):
                text_file.write(separator + dumps(record))
                separator = ",\n"
            text_file.write("\n]\n" if self.files[file_name] else "[\n]\n")

    def table(self, file_name: str, column_names: Sequence[str], records: Iterable[Row]) -> None:
        """Write a file of comma-separated values with a line of names."""
        with self.text(file_name) as text_file:
            csv_writer = csv.DictWriter(
                text_file, column_names, lineterminator="\n", extrasaction="ignore"
            )
            csv_writer.writeheader()
            csv_writer.writerows(self._counted(file_name, records))


dumps: Callable[[Any], str] = partial(json.dumps, ensure_ascii=False, allow_nan=False)
"""A value as JSON on one line."""


def release_blank(manifest: Manifest) -> str:
    """Return the placeholder of the answer in the queries of a release."""
    blank_text = manifest.parameters.get("blank")
    return blank_text if isinstance(blank_text, str) else "_X_"


def _answers_by_id(path: Path) -> dict[str, str]:
    """Read a file of predictions: the written answer, or the likeliest of several, by row."""
    answers: dict[str, str] = {}
    for batch in read_predictions(path):
        for prediction in batch.to_pylist():
            candidates = prediction["candidates"] or [""]
            answers[prediction["id"]] = prediction["prediction"] or candidates[0]
    return answers
