"""`factdrift show`: a few rows of a release, to read before anything is run on them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from factdrift.builders.core import duck
from factdrift.builders.core.config import did_you_mean
from factdrift.builders.core.errors import UserError, on_a_line
from factdrift.builders.core.schema import columns as schema_columns
from factdrift.builders.core.schema import reading
from factdrift.builders.facts.relations import property_of
from factdrift.builders.release.card import DROPPED
from factdrift.builders.release.manifest import (
    ColumnEntry,
    ConfigEntry,
    Manifest,
    SplitEntry,
    load_manifest,
    locate_file,
)
from factdrift.builders.release.parquet import type_name
from factdrift.builders.release.why.histories import HistoryReader
from factdrift.builders.release.why.lookup import (
    ReleasedRow,
    detail_items,
    find_row,
    labelled_detail,
    similar_ids,
)
from factdrift.builders.release.why.tables import build_folder, build_tables
from factdrift.builders.rows import Dropped

__outside_step_keys__ = True

_BATCH_ROWS = 256
"""Rows in memory at a time: few, because a row can hold a whole page."""
_TEXT_WIDTH = 300
"""Characters of a value that are printed: a prompt whole, the beginning of an article."""
DROPS = "dropped"
"""The name that the card gives to the table of what was left out."""
LabelOf = Callable[[str], str]
"""Gives the label of an item or relation by its id; "" where none is known."""
_PLAIN_COLUMNS = 8
"""Columns that are printed of a row that asks nothing; builders put the telling ones first."""


@dataclass(frozen=True)
class RowChoice:
    """Which rows are shown: so many of each config, of one config or split, or those of ids."""

    config: str | None = None
    split: str | None = None
    rows: int = 3
    ids: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


def chosen_rows(release_folder: Path, choice: RowChoice) -> Iterator[ReleasedRow]:
    """Yield the rows of a choice, config by config in the order of the manifest.

    Rows lie evenly from the first to the last of their config, so the same ones come every time.
    Raises `UserError` if there is no such config, split, column or id.
    """
    release_manifest = load_manifest(release_folder)
    if choice.ids:
        yield from _rows_of_ids(release_folder, release_manifest, choice)
        return
    for config in _chosen_configs(release_folder, release_manifest, choice):
        splits = [split for split in config.splits if choice.split in (None, split.name)]
        positions = _even_positions(sum(split.rows for split in splits), choice.rows)
        columns = _columns(config, choice.columns)
        for split in splits:
            inner_positions = [position for position in positions if 0 <= position < split.rows]
            split_file = locate_file(release_folder, split.file)
            for values in _rows_at(split_file, inner_positions, columns):
                yield ReleasedRow(config, split, values)
            positions = [position - split.rows for position in positions]


def empty_places(release_folder: Path, choice: RowChoice) -> list[str]:
    """Return the chosen configs, or the config and the chosen split, that have no row."""
    release_manifest = load_manifest(release_folder)
    split_ending = f"/{choice.split}" if choice.split else ""
    return [
        config.name + split_ending
        for config in _chosen_configs(release_folder, release_manifest, choice)
        if not any(split.rows for split in config.splits if choice.split in (None, split.name))
    ]


@contextmanager
def label_reader(release_folder: Path, choice: RowChoice) -> Iterator[LabelOf]:
    """Yield what tells the label of an item or relation, where the build has it; "" elsewhere.

    What was left out names items by their ids alone; rows have the labels beside them.
    """
    if choice.config != DROPS:
        yield lambda name: ""
        return
    release_manifest = load_manifest(release_folder)
    build = build_tables(build_folder(release_folder), release_folder, release_manifest, ())
    with duck.connect() as db:
        reader = HistoryReader(db, release_folder, release_manifest, build)
        yield lambda name: reader.label(name) or reader.label(property_of(name))


def shown_lines(row: ReleasedRow, label_of: LabelOf, *, all_columns: bool) -> Iterator[str]:
    """Yield the values of a row for people, a line for each; the middle of long ones is left out.

    Of a row that asks something, the prompt and the answers are shown, else the first columns.
    Items of what was left out have their labels behind them.
    """
    roles = row.config.roles
    if all_columns:
        row_columns = list(row.values)
    elif roles is not None:
        row_columns = ["id", roles.prompt, roles.targets]
    else:
        row_columns = list(row.values)[:_PLAIN_COLUMNS]
    name_width = max(map(len, ("place", *row_columns)))
    yield f"  {'place':<{name_width}}  {row.place}"
    for name in row_columns:
        value = row.values[name]
        if value and row.config.name == DROPS and name == "detail":
            value = labelled_detail(value, {item: label_of(item) for item in detail_items(value)})
        elif value and row.config.name == DROPS and name in ("subject", "relation"):
            value = f"{value} {label_of(value)}"
        yield f"  {name:<{name_width}}  {_text(value)}".rstrip()


def _dropped_config(release_folder: Path) -> ConfigEntry:
    """What was left out, as a config, which the card names but the manifest does not."""
    with reading(locate_file(release_folder, DROPPED)) as dropped_file:
        row_count = dropped_file.metadata.num_rows
    columns = [
        ColumnEntry(**column._asdict() | {"type": type_name(column.type)})
        for column in schema_columns(Dropped)
    ]
    return ConfigEntry(
        name=DROPS,
        description="What was left out, and why.",
        columns=tuple(columns),
        splits=(SplitEntry(name=DROPS, file=DROPPED, rows=row_count),),
    )


def _chosen_configs(
    release_folder: Path, release_manifest: Manifest, choice: RowChoice
) -> list[ConfigEntry]:
    """The configs that have what was named; `UserError` where there is none."""
    chosen_configs = list(release_manifest.configs)
    if choice.config is not None and release_manifest.config(DROPS) is None:
        chosen_configs.append(_dropped_config(release_folder))
    for kind, wanted_name, names_of in (
        ("config", choice.config, _own_name),
        ("split", choice.split, _split_names),
        *(("column", column_name, _column_names) for column_name in choice.columns),
    ):
        if wanted_name is None:
            continue
        known_names = list(dict.fromkeys(chain.from_iterable(map(names_of, chosen_configs))))
        if wanted_name not in known_names:
            raise _unknown(kind, wanted_name, known_names, release_folder)
        chosen_configs = [config for config in chosen_configs if wanted_name in names_of(config)]
    return chosen_configs


def _own_name(config: ConfigEntry) -> list[str]:
    return [config.name]


def _split_names(config: ConfigEntry) -> list[str]:
    return [split.name for split in config.splits]


def _column_names(config: ConfigEntry) -> list[str]:
    return [column.name for column in config.columns]


def _even_positions(row_count: int, wanted_count: int) -> list[int]:
    """Positions in the middles of equal parts: 16, 50 and 83 for three of a hundred rows."""
    part_count = min(row_count, wanted_count)
    return [(2 * part + 1) * row_count // (2 * part_count) for part in range(part_count)]


def _columns(config: ConfigEntry, wanted_columns: Sequence[str]) -> list[str]:
    """The columns to read: all, or the wanted ones behind the id, where the config has one."""
    column_names = _column_names(config)
    if not wanted_columns:
        return column_names
    return list(dict.fromkeys((*(name for name in column_names if name == "id"), *wanted_columns)))


def _unknown(kind: str, name: str, known_names: Sequence[str], release_folder: Path) -> UserError:
    near_name = did_you_mean(name, known_names)
    hint_text = f"did you mean {near_name}?" if near_name else f"there are {', '.join(known_names)}"
    return UserError(f"no {kind} {on_a_line(name)!r}", where=release_folder, hint=hint_text)


def _rows_at(
    file_path: Path, positions: Sequence[int], columns: list[str]
) -> Iterator[dict[str, Any]]:
    """Yield the rows at rising positions of a file."""
    waiting_positions, first_position = list(positions), 0
    if not waiting_positions:
        return
    with reading(file_path) as split_file:
        for batch in split_file.iter_batches(_BATCH_ROWS, columns=columns):
            while waiting_positions and waiting_positions[0] < first_position + batch.num_rows:
                (row,) = batch.slice(waiting_positions.pop(0) - first_position, 1).to_pylist()
                yield {name: row[name] for name in columns}
            if not waiting_positions:
                return
            first_position += batch.num_rows


def _rows_of_ids(
    release_folder: Path, release_manifest: Manifest, choice: RowChoice
) -> Iterator[ReleasedRow]:
    """Yield the rows of ids, in the order that they were asked for."""
    with duck.connect() as db:
        for row_id in choice.ids:
            row = find_row(db, release_folder, release_manifest, row_id, choice.config)
            if row is None:
                near_ids = similar_ids(db, release_folder, release_manifest, row_id)
                hint_text = f"there are {', '.join(near_ids)}" if near_ids else None
                message = f"no row {on_a_line(row_id)!r}"
                raise UserError(message, where=release_folder, hint=hint_text)
            columns = _columns(row.config, choice.columns)
            if lacking_columns := [name for name in columns if name not in row.values]:
                known_names = list(row.values)
                raise _unknown("column", lacking_columns[0], known_names, release_folder)
            row_values = {name: row.values[name] for name in columns}
            yield replace(row, values=row_values)


def _flat(value: Any) -> str:
    """A value as words: items of a list behind each other, of an answer its label alone."""
    if isinstance(value, list):
        return " | ".join(map(_flat, value))
    if isinstance(value, dict):
        if value.get("label"):
            return str(value["label"])
        return ", ".join(f"{name} {_flat(inner)}" for name, inner in value.items())
    return str(value)


def _text(value: Any) -> str:
    """A value on one line, without its middle where it is long: `Ana Luz | Ana L.` of two texts."""
    if value is None or value == []:
        return "(none)"
    value_text = _flat(value)
    value_line = on_a_line(value_text)
    if len(value_line) <= _TEXT_WIDTH:
        return value_line
    left_out = len(value_line) - _TEXT_WIDTH
    return (
        f"{value_line[: _TEXT_WIDTH * 2 // 3]} […{left_out:,}…] {value_line[-_TEXT_WIDTH // 3 :]}"
    )
