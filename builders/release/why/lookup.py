"""Find the row of a release by its id, or what was left out by its item or detail."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from factdrift.builders.core import duck
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.schema import reading
from factdrift.builders.release import card
from factdrift.builders.release.manifest import (
    ConfigEntry,
    Manifest,
    SplitEntry,
    load_manifest,
    locate_file,
)
from factdrift.builders.release.version import Version, published_versions

# ruff: noqa: S608 - names and literals are quoted by `duck`

Values = dict[str, Any]
"""A row by column, as DuckDB gives it: structs are dictionaries, and days are dates."""
_DROPS_SHOWN = 40
"""Dropped rows of one item: a pair may be dropped in each period of a window, and the list is read
by people."""
_IDS_SHOWN = 3
"""Similar ids that an error names: enough to see a slip of the hand."""
_PREFIX = 6
"""Characters that a similar id shares with the wrong one; ids have 16."""
# `Q5` and `Q7` in `Q5/Hull Q7`, which is how comparisons name what is in doubt; not `P580`
_DETAIL_ITEM = re.compile(r"(?:^|(?<= ))Q[1-9][0-9]*(?=[ /]|$)")


@dataclass(frozen=True)
class ReleasedRow:
    """A row with the config and split that hold it, and other places that have one of its id."""

    config: ConfigEntry
    split: SplitEntry
    values: Values
    other_places: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """`updated/2021Q3`."""
        return f"{self.config.name}/{self.split.name}"


def find_row(
    db: duckdb.DuckDBPyConnection,
    release_folder: Path,
    release_manifest: Manifest,
    row_id: str,
    config_name: str | None = None,
) -> ReleasedRow | None:
    """Return the first row with an id, of one config or of all; None where there is none.

    Several configs may have a row of one id: the first one is returned, and the others are named.
    """
    matches: list[ReleasedRow] = []
    wanted_splits = [*_splits_with_ids(release_manifest, config_name)]
    other_splits = [*_splits_with_ids(release_manifest, None)] if config_name else []
    for config, split in wanted_splits + other_splits:
        row_values = _first_match(db, locate_file(release_folder, split.file), "id = ?", [row_id])
        if row_values is not None:
            matches.append(ReleasedRow(config, split, row_values))
    first_match = matches[0] if matches else None
    if first_match is None or config_name not in (None, first_match.config.name):
        return None
    other_places = tuple(dict.fromkeys(match.place for match in matches[1:]))
    other_places = tuple(place for place in other_places if place != first_match.place)
    return ReleasedRow(first_match.config, first_match.split, first_match.values, other_places)


def find_drops(
    db: duckdb.DuckDBPyConnection, release_folder: Path, words: str
) -> tuple[list[Values], int]:
    """Return what was left out of this item or detail, and how many rows of it there are.

    `Q1486/P6` stands for what was left out of this subject and relation in any period.
    """
    dropped_file = locate_file(release_folder, card.DROPPED)
    sql_test = "item = ? OR detail = ? OR starts_with(item, ? || '/')"
    return _limited_rows(db, dropped_file, sql_test, [words, words, words])


def detail_items(detail: str | None) -> list[str]:
    """Return the items that the detail of what was left out names, each once.

    >>> detail_items("Q5/Hull Q7"), detail_items("Q7 person"), detail_items("P580 2031")
    (['Q5', 'Q7'], ['Q7'], [])
    """
    return list(dict.fromkeys(_DETAIL_ITEM.findall(detail or "")))


def labelled_detail(detail: str, labels: Mapping[str, str]) -> str:
    """Return a detail with labels behind its items, and commas between several.

    >>> labelled_detail("Q5/Hull Q7", {"Q5": "Hull City", "Q7": "Leeds"})
    'Q5/Hull Hull City, Q7 Leeds'
    """
    parts = detail.split(" ") if len(detail_items(detail)) > 1 else [detail]
    return (", " if len(parts) > 1 else " ").join(
        " ".join([part, *(labels[item] for item in detail_items(part) if labels.get(item))])
        for part in parts
    )


def drops_of_comparison(
    db: duckdb.DuckDBPyConnection,
    release_folder: Path,
    subject: str,
    relation: str,
    period: str | None,
) -> tuple[list[Values], int]:
    """Return what was left out of a subject and relation, in this period or without one."""
    dropped_file = locate_file(release_folder, card.DROPPED)
    sql_test = "subject = ? AND relation = ? AND (period IS NULL OR period = ?)"
    return _limited_rows(db, dropped_file, sql_test, [subject, relation, period])


def find_earlier_row(
    db: duckdb.DuckDBPyConnection,
    release_folder: Path,
    release_manifest: Manifest,
    row_id: str,
    config_name: str | None,
) -> tuple[Manifest, ReleasedRow] | None:
    """Return a row that a release lacks, of the newest version before it that lies beside it."""
    own_version = Version.parse(release_manifest.version)
    for version in reversed(published_versions(release_folder.resolve().parent)):
        earlier_folder = release_folder.resolve().parent / str(version)
        if version >= own_version:
            continue
        with suppress(UserError):  # a damaged release, or one without this config
            earlier_manifest = load_manifest(earlier_folder)
            if earlier_manifest.dataset == release_manifest.dataset:
                row = find_row(db, earlier_folder, earlier_manifest, row_id, config_name)
                if row is not None:
                    return earlier_manifest, row
    return None


def drops_of_pair(
    db: duckdb.DuckDBPyConnection, release_folder: Path, subject: str, relation: str
) -> list[tuple[str, str, int]]:
    """Return the step, reason and number of what was left out of a subject and relation."""
    dropped_file = locate_file(release_folder, card.DROPPED)
    sql_query = f"""
        SELECT step, reason, count(*) FROM {duck.parquet(dropped_file)}
        WHERE subject = ? AND relation = ? GROUP BY ALL ORDER BY ALL
    """
    return db.execute(sql_query, [subject, relation]).fetchall()


def similar_ids(
    db: duckdb.DuckDBPyConnection, release_folder: Path, release_manifest: Manifest, row_id: str
) -> list[str]:
    """Return ids that begin as a wrong one does."""
    ids: list[str] = []
    if len(row_id) < _PREFIX:
        return ids
    for _, split in _splits_with_ids(release_manifest, None):
        sql_query = f"""
            SELECT DISTINCT id FROM {duck.parquet(locate_file(release_folder, split.file))}
            WHERE starts_with(id, ?) ORDER BY id LIMIT {_IDS_SHOWN}
        """
        ids += [id_text for (id_text,) in db.execute(sql_query, [row_id[:_PREFIX]]).fetchall()]
        if len(ids) >= _IDS_SHOWN:
            break
    return list(dict.fromkeys(ids))[:_IDS_SHOWN]


def nothing_found(row_id: str, release_folder: Path, near_ids: Sequence[str]) -> UserError:
    """Return the error where neither a row nor anything left out has the id."""
    hint_text = "ids stand in the column `id`, and what was left out in dropped.parquet (`item`)"
    if near_ids:
        hint_text = f"ids that begin so: {', '.join(near_ids)}"
    return UserError(
        f"no row has the id {row_id!r}, and nothing of this name was left out",
        where=release_folder,
        hint=hint_text,
    )


def matching_rows(
    db: duckdb.DuckDBPyConnection,
    table_path: Path,
    sql_test: str,
    parameters: Sequence[Any],
    limit: int,
) -> list[Values]:
    """Return the first rows of a Parquet file that pass a test in SQL, in the order of the file."""
    sql_query = f"SELECT * FROM {duck.parquet(table_path)} WHERE {sql_test} LIMIT {limit}"
    result = db.execute(sql_query, list(parameters))
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def columns_of(table_path: Path) -> set[str]:
    """Return the names of the columns of a Parquet file."""
    with reading(table_path) as parquet_file:
        return set(parquet_file.schema_arrow.names)


def _first_match(
    db: duckdb.DuckDBPyConnection, table_path: Path, sql_test: str, parameters: Sequence[Any]
) -> Values | None:
    return next(iter(matching_rows(db, table_path, sql_test, parameters, 1)), None)


def _limited_rows(
    db: duckdb.DuckDBPyConnection, table_path: Path, sql_test: str, parameters: Sequence[Any]
) -> tuple[list[Values], int]:
    """Return the first rows that pass a test, and how many there are of them."""
    count_query = f"SELECT count(*) FROM {duck.parquet(table_path)} WHERE {sql_test}"
    count_row = db.execute(count_query, list(parameters)).fetchone()
    return (
        matching_rows(db, table_path, sql_test, parameters, _DROPS_SHOWN),
        int(count_row[0]) if count_row else 0,
    )


def _splits_with_ids(
    release_manifest: Manifest, config_name: str | None
) -> Iterator[tuple[ConfigEntry, SplitEntry]]:
    """Yield the splits whose rows have ids; `UserError` where there is no such config."""
    if config_name is not None and release_manifest.config(config_name) is None:
        config_names = ", ".join(config.name for config in release_manifest.configs)
        raise UserError(f"no config {config_name!r}", hint=f"there are {config_names}")
    for config in release_manifest.configs:
        has_ids = any(column.name == "id" for column in config.columns)
        if has_ids and config_name in (None, config.name):
            for split in config.splits:
                if split.rows:
                    yield config, split
