"""Corrections in a release: looked up before the work, made while rows are written, and cited.

A row that a correction drops goes to `dropped.parquet` with the id of the entry, and so do rows of
other configs that name it, such as its paraphrases and its choices: they ask the same and have the
same mistake. Lists, such as those of passages, name it no more. A row that it mends gets other
values; rows that name it go where its answers change.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import JsonValue

from factdrift.builders.core import duck
from factdrift.builders.core.config import did_you_mean, display_path
from factdrift.builders.core.corrections import (
    DROP_STEP,
    NO_CORRECTIONS,
    Correction,
    Corrections,
    read_corrections,
)
from factdrift.builders.core.dataset import RowSource, Table
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.schema import Column, batches, columns, reading
from factdrift.builders.facts.corrected import CORRECTED
from factdrift.builders.release.manifest import (
    AppliedCorrection,
    ConfigEntry,
    Manifest,
    SplitEntry,
    load_manifest,
    locate_file,
)
from factdrift.builders.release.parquet import read_source
from factdrift.builders.release.version import published_versions
from factdrift.builders.release.why.lookup import matching_rows, similar_ids
from factdrift.builders.rows import Dropped
from factdrift.builders.rows.roles import ColumnRoles, column_roles

# ruff: noqa: S608 - names and literals are quoted by `duck`

_STATEMENT_COLUMNS = ("statement", "statements", "old_statements", "new_statements")
"""Columns of releases that name statements of the dump, alone or in lists."""


@dataclass
class ReleaseErrata:
    """The corrections of one release, and what each of them did.

    `by_row` are those of its rows. `by_statement` are those of statements that its facts had, with
    the number of intervals; they were made before. `withdrawn` are entries that name the dataset.
    """

    by_row: Mapping[str, Correction] = field(default_factory=dict)
    by_statement: Sequence[tuple[Correction, int]] = ()
    withdrawn: Sequence[Correction] = ()

    def __post_init__(self) -> None:
        self._row_counts: Counter[str] = Counter()
        self._dropped: dict[str, Dropped] = {}
        self._all_ids = pa.array(sorted(self.by_row), pa.string())

    def table(self, table: Table) -> Table:
        """Return a config whose rows are corrected while they are read."""
        if not self.by_row:
            return table
        splits: dict[str, RowSource] = {
            name: partial(self._flow, table, row_source)
            for name, row_source in table.splits.items()
        }
        return replace(table, splits=splits)

    def dropped(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows that were dropped (`rows.Dropped`); the tables have been written."""
        yield from batches(Dropped, [self._dropped[row_id] for row_id in sorted(self._dropped)])

    def applied(self) -> tuple[AppliedCorrection, ...]:
        """Return the corrections that the release cites, sorted by id."""
        cited = [
            AppliedCorrection(**vars(correction), rows=self._row_counts[correction.id])
            for correction in self.by_row.values()
            if self._row_counts[correction.id]
        ]
        cited += [
            AppliedCorrection(**vars(correction), statements=interval_count)
            for correction, interval_count in self.by_statement
        ]
        cited += [AppliedCorrection(**vars(correction)) for correction in self.withdrawn]
        return tuple(sorted(cited, key=lambda correction: correction.id))

    def unused(self) -> list[Correction]:
        """Return the corrections of rows that the release would not have anyway."""
        return [
            correction for correction in self.by_row.values() if not self._row_counts[correction.id]
        ]

    def _flow(self, table: Table, row_source: RowSource) -> Iterator[pa.RecordBatch]:
        for batch in read_source(row_source, table.group):
            yield self._without_names(self._corrected(table, batch))

    def _corrected(self, table: Table, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return a batch without the rows that corrections drop, and with those that they mend."""
        named_rows: dict[int, Correction] = {}
        own_places: set[int] = set()
        for column_name in _text_columns(batch):
            matches = pc.is_in(
                batch.column(column_name), self._all_ids.cast(batch.column(column_name).type)
            )
            for place in pc.indices_nonzero(matches).to_pylist():
                row_id = batch.column(column_name)[place].as_py()
                if column_name == "id":
                    own_places.add(place)
                # the row itself comes before what it names
                named_rows.setdefault(place, self.by_row[row_id])
        if not named_rows:
            return batch
        roles = column_roles(table.row)
        dropped_places: set[int] = set()
        for place, correction in named_rows.items():
            is_own = place in own_places
            if correction.drop or (not is_own and _touches_answers(correction, roles)):
                dropped_places.add(place)
                self._note_drop(batch.slice(place, 1).to_pylist()[0], correction, table.name)
            elif is_own:
                batch = _mended(batch, place, correction, columns(table.row))
            else:
                continue
            self._row_counts[correction.id] += 1
        if not dropped_places:
            return batch
        kept_places = pa.array([place not in dropped_places for place in range(batch.num_rows)])
        return batch.filter(kept_places)

    def _without_names(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return a batch whose lists, such as those of passages, name no row that is dropped."""
        dropped_ids = {row for row, correction in self.by_row.items() if correction.drop}
        for place, column in enumerate(batch.schema):
            if not (pa.types.is_list(column.type) and pa.types.is_string(column.type.value_type)):
                continue
            named = pc.is_in(
                batch.column(place).flatten(), pa.array(sorted(dropped_ids), pa.string())
            )
            if pc.any(named).as_py():
                lists = [
                    names and [name for name in names if name not in dropped_ids]
                    for names in batch.column(place).to_pylist()
                ]
                batch = batch.set_column(place, column, pa.array(lists, column.type))
        return batch

    def _note_drop(self, row: Mapping[str, Any], correction: Correction, config_name: str) -> None:
        row_id = row.get("id") or f"{correction.row}/{config_name}"
        texts = {
            name: row[name] if isinstance(row.get(name), str) else None
            for name in ("subject", "relation", "period")
        }
        self._dropped[row_id] = Dropped(DROP_STEP, CORRECTED, row_id, **texts, detail=correction.id)


def _text_columns(batch: pa.RecordBatch) -> list[str]:
    """The columns that may name a row: those of texts, `id` first."""
    names = [
        column.name
        for column in batch.schema
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    ]
    return sorted(names, key=lambda name: name != "id")


def _touches_answers(correction: Correction, roles: ColumnRoles | None) -> bool:
    """Whether rows that ask the same as a mended row would have another answer than it."""
    if roles is None:
        return False
    return not {*(correction.mend or {})}.isdisjoint(_answer_columns(roles))


def _answer_columns(roles: ColumnRoles) -> set[str]:
    return {roles.targets, roles.answers.partition(".")[0]}


def _mended(
    batch: pa.RecordBatch, place: int, correction: Correction, row_columns: Sequence[Column]
) -> pa.RecordBatch:
    """Return a batch in which one row has other values."""
    columns_by_name = {column.name: column for column in row_columns}
    arrays = dict(zip(batch.schema.names, batch.columns, strict=True))
    for name, value in (correction.mend or {}).items():
        column = columns_by_name.get(name)
        if column is None:
            continue  # another config has it; `_mend_problems` looks whether any does
        try:
            new_value = typed_value(value, column.type, column.nullable)
        except ValueError as error:
            raise UserError(
                f"mend.{name}: {error}", where=f"correction {correction.id!r}"
            ) from None
        new_array = pa.array([new_value], column.type)
        old_array = arrays[name].cast(column.type)
        parts = [old_array.slice(0, place), new_array, old_array.slice(place + 1)]
        arrays[name] = pa.concat_arrays(parts)
    return pa.RecordBatch.from_arrays([*arrays.values()], names=[*arrays])


def typed_value(value: JsonValue, kind: pa.DataType, nullable: bool) -> Any:
    """Return a JSON value as Arrow takes it for a type; `ValueError` says what it has to be."""
    if value is None:
        if not nullable:
            raise ValueError("is never empty")
        return None
    if pa.types.is_list(kind):
        if not isinstance(value, list):
            raise ValueError("is a list: [one, another]")
        inner_field = kind.value_field
        return [typed_value(inner, inner_field.type, inner_field.nullable) for inner in value]
    if pa.types.is_struct(kind):
        names = [inner_field.name for inner_field in kind]
        if not isinstance(value, dict) or set(value) != set(names):
            raise ValueError(f"has these parts: {', '.join(names)}")
        return {
            inner_field.name: typed_value(
                value[inner_field.name], inner_field.type, inner_field.nullable
            )
            for inner_field in kind
        }
    return _scalar_value(value, kind)


def _scalar_value(value: JsonValue, kind: pa.DataType) -> Any:
    if pa.types.is_date(kind):
        try:
            return date.fromisoformat(str(value))
        except ValueError:
            raise ValueError("is a day: 2025-05-06") from None
    if pa.types.is_string(kind):
        # a year or a number is a text here, as it was written
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return str(value)
        raise ValueError("is a text")
    if pa.types.is_boolean(kind):
        if isinstance(value, bool):
            return value
        raise ValueError("is true or false")
    is_floating = pa.types.is_floating(kind)
    accepted_types = (int, float) if is_floating else int
    if isinstance(value, accepted_types) and not isinstance(value, bool):
        return value
    raise ValueError("is a number" if is_floating else "is a whole number")


# --- Looked up before the work -------------------------------------------------------------------


def checked_corrections(path: Path, out: Path, datasets: Collection[str] | None) -> Corrections:
    """Read a file of corrections, and look its entries up in the releases in `out`.

    `datasets` are those whose releases are opened; None: all. A release that is not in `out` is not
    looked for elsewhere: its rows are found when they are written. Raises `UserError` with file and
    line of each mistake.
    """
    corrections = read_corrections(path)
    problems: dict[str, list[tuple[str, str]]] = {}
    by_release: dict[str, list[Correction]] = {}
    for correction in corrections.corrections:
        is_wanted = datasets is None or correction.dataset in datasets
        if correction.release and correction.withdrawn is None and is_wanted:
            by_release.setdefault(correction.release, []).append(correction)
    for release_name, entries in by_release.items():
        for correction, field_name, problem in _release_problems(out, release_name, entries):
            problems.setdefault(correction.id, []).append((field_name, problem))
    if problems:
        read_corrections(path, lambda correction: problems.get(correction.id, ()))
    return corrections


def _release_problems(
    out: Path, release_name: str, entries: Sequence[Correction]
) -> Iterator[tuple[Correction, str, str]]:
    """Yield the entries of one release that are wrong, with the field and why."""
    dataset, _, version = release_name.partition(" ")
    known_versions = [str(known_version) for known_version in published_versions(out / dataset)]
    if not known_versions:
        return
    if version not in known_versions:
        for correction in entries:
            there = f"{display_path(out / dataset)} has {', '.join(known_versions)}"
            yield correction, "release", f"there is no {release_name} here; {there}"
        return
    for correction, problem in entry_problems(out / dataset / version, entries):
        yield correction, *problem


def entry_problems(
    release_folder: Path, entries: Sequence[Correction]
) -> Iterator[tuple[Correction, tuple[str, str]]]:
    """Yield entries about a release that it does not bear out, each with a field and why."""
    release_manifest = load_manifest(release_folder)
    title = f"{release_manifest.dataset} {release_manifest.version}"
    with duck.connect() as db:
        row_ids = [correction.row for correction in entries if correction.row is not None]
        places = row_places(db, release_folder, release_manifest, row_ids)
        statement_ids = [correction.statement for correction in entries if correction.statement]
        stated_ids = _stated_ids(db, release_folder, release_manifest, statement_ids)
        near_ids = {
            row_id: similar_ids(db, release_folder, release_manifest, row_id)
            for row_id in row_ids
            if row_id not in places
        }
    for correction in entries:
        if correction.row is not None and correction.row not in places:
            hint = f"; ids that begin so: {', '.join(near_ids[correction.row])}"
            hint *= bool(near_ids[correction.row])
            yield correction, ("row", f"{title} has no row of this id{hint}")
        elif correction.row is not None:
            for problem in _mend_problems(release_folder, correction, places[correction.row]):
                yield correction, problem
        elif correction.statement not in stated_ids:
            yield correction, ("statement", f"{title} names no such statement")


def row_places(
    db: duckdb.DuckDBPyConnection,
    release_folder: Path,
    release_manifest: Manifest,
    row_ids: Sequence[str],
) -> dict[str, list[tuple[ConfigEntry, SplitEntry]]]:
    """Return the configs and splits that have rows of these ids."""
    places_by_row: dict[str, list[tuple[ConfigEntry, SplitEntry]]] = {}
    for config in release_manifest.configs:
        if not row_ids or all(column.name != "id" for column in config.columns):
            continue
        for split in config.splits:
            split_file = locate_file(release_folder, split.file)
            query = f"SELECT id FROM {duck.parquet(split_file)} WHERE list_contains(?, id)"
            for (row_id,) in db.execute(query, [list(row_ids)]).fetchall():
                places_by_row.setdefault(row_id, []).append((config, split))
    return places_by_row


def _stated_ids(
    db: duckdb.DuckDBPyConnection,
    release_folder: Path,
    release_manifest: Manifest,
    statement_ids: Sequence[str],
) -> set[str]:
    """Return those of these statements that a release names; all, where no table names any."""
    stated_ids: set[str] = set()
    names_any = False
    for config in release_manifest.configs:
        for column in config.columns:
            if column.name not in _STATEMENT_COLUMNS or "string" not in column.type:
                continue
            names_any = True
            is_list = column.type.startswith("list")
            value = f"unnest({duck.name(column.name)})" if is_list else duck.name(column.name)
            for split in config.splits if statement_ids else ():
                table = duck.parquet(locate_file(release_folder, split.file))
                id_query = f"SELECT DISTINCT s FROM (SELECT {value} AS s FROM {table})"
                id_query += " WHERE list_contains(?, s)"
                found_rows = db.execute(id_query, [list(statement_ids)]).fetchall()
                stated_ids.update(statement for (statement,) in found_rows)
    return stated_ids if names_any else set(statement_ids)


def _mend_problems(
    release_folder: Path,
    correction: Correction,
    places: Sequence[tuple[ConfigEntry, SplitEntry]],
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the values that a correction gives a published row."""
    if correction.mend is None:
        return
    column_kinds, place_columns = _row_columns(release_folder, str(correction.row), places)
    roles = [config.roles for config, _ in places if config.roles]
    for name, value in correction.mend.items():
        if name not in column_kinds:
            near_name = did_you_mean(name, column_kinds)
            hint = f"; did you mean {near_name}?" if near_name else ""
            yield f"mend.{name}", f"the row has no such column{hint}"
            continue
        try:
            typed_value(value, *column_kinds[name])
        except ValueError as error:
            yield f"mend.{name}", str(error)
        if name in place_columns:
            yield f"mend.{name}", "the row's place rests on it; drop the row instead"
    for row_roles in roles:
        answer_columns = _answer_columns(row_roles)
        missing_names = sorted(answer_columns - set(correction.mend))
        if missing_names and missing_names != sorted(answer_columns):
            yield "mend", f"the answer stands in {' and '.join(sorted(answer_columns))}: mend both"


def _row_columns(
    release_folder: Path, row_id: str, places: Sequence[tuple[ConfigEntry, SplitEntry]]
) -> tuple[dict[str, tuple[pa.DataType, bool]], set[str]]:
    """Return type and nullability of a row's columns, and the columns that name its place."""
    column_kinds: dict[str, tuple[pa.DataType, bool]] = {}
    place_columns: set[str] = set()
    for config, split in places:
        split_file = locate_file(release_folder, split.file)
        with reading(split_file) as parquet_file:
            for column in parquet_file.schema_arrow:
                column_kinds[column.name] = (column.type, column.nullable)
        with duck.connect() as db:
            (row,) = matching_rows(db, split_file, "id = ?", [row_id], 1)
        place_columns |= {name for name, old in row.items() if old in (config.name, split.name)}
    return column_kinds, place_columns


def refuse_forgotten(
    dataset: str, dataset_folder: Path, below: str | None, corrections: Corrections
) -> None:
    """Raise `UserError` if the last release was corrected by an entry that is not there any more.

    Its mistake would come back, and nobody would be told. `below` is the version that is to be
    written, None for the one after all others.
    """
    versions = [version for version in published_versions(dataset_folder) if below != str(version)]
    if not versions:
        return
    last_folder = dataset_folder / str(versions[-1])
    cited_ids = {correction.id for correction in load_manifest(last_folder).corrections}
    if forgotten_ids := sorted(cited_ids - corrections.ids):
        names = ", ".join(map(repr, forgotten_ids))
        folder = display_path(last_folder)
        raise UserError(
            f"{dataset} {versions[-1]} was corrected by {names}, and the corrections given now "
            "do not have that: what was wrong would come back",
            where=folder,
            hint=f"factdrift correct --from {folder} puts the entries into corrections.yaml; "
            "one that does not hold any more says `withdrawn: why`",
        )


def release_errata(
    corrections: Corrections, dataset: str, statement_counts: Iterable[Mapping[str, int]]
) -> ReleaseErrata:
    """Return the corrections of one release; `statement_counts` are intervals by entry."""
    interval_counts: Counter[str] = Counter()
    for counts in statement_counts:
        interval_counts.update(counts)
    return ReleaseErrata(
        corrections.of_rows(dataset),
        [
            (correction, interval_counts[correction.id])
            for correction in corrections.corrections
            if correction.statement is not None and interval_counts[correction.id]
        ],
        [
            correction
            for correction in corrections.corrections
            if correction.withdrawn is not None and correction.dataset == dataset
        ],
    )


def cited_corrections(release_manifest: Manifest) -> Corrections:
    """Return the corrections of a release, as a file would have them."""
    entries = [
        Correction(**{name: getattr(cited, name) for name in Correction.model_fields})
        for cited in release_manifest.corrections
    ]
    return Corrections(corrections=tuple(entries)) if entries else NO_CORRECTIONS
