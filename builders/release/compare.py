"""Compare two releases row by row: what was added, removed, edited, moved, or written anew."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, get_args

import duckdb
import pyarrow as pa

from factdrift.builders.core import duck
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import replacing
from factdrift.builders.release.manifest import (
    ColumnEntry,
    ConfigEntry,
    Kinds,
    Manifest,
    load_manifest,
    locate_file,
)
from factdrift.builders.release.parquet import write_split
from factdrift.builders.release.version import Level

# ruff: noqa: S608 - names and literals are quoted by `duck`

Change = Literal["added", "removed", "edited", "moved", "rendered", "measured"]
CHANGES: tuple[Change, ...] = get_args(Change)
# who has scores of the old release can no longer compare them
_MAJOR = {"removed", "edited", "moved"}
WORDS = {"rendered": "rendered anew", "measured": "measured anew"}
# Split name and file of each split that has to be read.
_Files = Sequence[tuple[str, Path]]


@dataclass(frozen=True, slots=True)
class Difference:
    """One row that differs between two releases."""

    id: Annotated[str, "id of the row; for tables without ids, the MD5 of its content"]
    change: Annotated[Change, "how it changed; moved: in another split or config, edited or not"]
    old_config: Annotated[str | None, "config in the old release; null: not there"]
    old_split: Annotated[str | None, "split in the old release; null: not there"]
    new_config: Annotated[str | None, "config in the new release; null: not there"]
    new_split: Annotated[str | None, "split in the new release; null: not there"]
    changed: Annotated[tuple[str, ...], "columns whose values differ, in the table's order"]
    old: Annotated[str | None, "old values of these columns as JSON; removed: the whole row"]
    new: Annotated[str | None, "new values of these columns as JSON; added: the whole row"]


_COLUMNS = ", ".join(field.name for field in fields(Difference))
_TYPES = ", ".join(
    f"{field.name} VARCHAR{'[]' * (field.name == 'changed')}" for field in fields(Difference)
)


@dataclass(frozen=True)
class ReleaseDiff:
    """The changes from one release to another.

    `rows`: config -> change -> number of rows (moved rows under the config they are in now).
    `columns`, `layout`: one line for each change of columns, and of configs and splits.
    `documents`: other files that differ, and data files that differ in bytes alone.
    `corrections`: one line for each correction that is new in the release, or not in it any more.
    `level` is the smallest bump that announces it all.
    """

    old: str
    new: str
    rows: dict[str, dict[Change, int]]
    columns: tuple[str, ...]
    layout: tuple[str, ...]
    documents: tuple[str, ...]
    level: Level
    corrections: tuple[str, ...] = ()

    def totals(self) -> dict[Change, int]:
        """Change -> number of rows over all configs; only what occurs."""
        change_sums = {
            change_kind: sum(row_counts.get(change_kind, 0) for row_counts in self.rows.values())
            for change_kind in CHANGES
        }
        return {change: row_count for change, row_count in change_sums.items() if row_count}

    def brief(self) -> str:
        """One line: `12 rows edited, 3 rows added`."""
        change_parts = [
            f"{row_count} row{'s' * (row_count != 1)} {WORDS.get(change_kind, change_kind)}"
            for change_kind, row_count in self.totals().items()
        ]
        change_parts += [*self.columns, *self.layout, *self.corrections]
        if not change_parts and self.documents:
            change_texts = ", ".join(self.documents[:3])
            more_files = f" and {len(self.documents) - 3} more" if len(self.documents) > 3 else ""
            change_parts = [f"the same rows in other files ({change_texts}{more_files})"]
        return ", ".join(change_parts) or "nothing"

    def summary(self) -> str:
        """Several lines: the level, then what changed in each config."""
        summary_lines = [f"{self.old} -> {self.new}: {self.level}: {self.brief()}"]
        for config_name, row_counts in self.rows.items():
            count_text = ", ".join(
                f"{row_counts[change]} {WORDS.get(change, change)}"
                for change in CHANGES
                if row_counts.get(change)
            )
            summary_lines.append(f"  {config_name}: {count_text}")
        if self.documents:
            summary_lines.append(f"  files that differ: {_by_folder(self.documents)}")
        return "\n".join(summary_lines)


def _by_folder(file_names: Sequence[str]) -> str:
    """Files by name, several of a folder by their number: `README.md, data/updated (12)`."""
    folder_counts = Counter(str(PurePosixPath(file_name).parent) for file_name in file_names)
    shown_paths = {
        f"{folder} ({folder_counts[folder]})"
        if folder != "." and folder_counts[folder] > 1
        else file_name: None
        for file_name in file_names
        for folder in [str(PurePosixPath(file_name).parent)]
    }
    return ", ".join(shown_paths)


def compare(old_folder: Path, new_folder: Path, diff_file: Path | None = None) -> ReleaseDiff:
    """Return what changed between two release folders.

    Rows are matched by `id`, in tables without one by their whole content. Where the columns of a
    config changed, its rows are compared on those that both releases have with the same type.
    `diff_file`: the file that gets every row that differs, as Parquet rows of `Difference`, sorted
    by config, split and id. Files with the same sha256 are not read. `UserError`: a broken
    manifest, a damaged file, a place that cannot be written.
    """
    try:
        return _compared(old_folder, new_folder, diff_file)
    except duckdb.Error as error:
        error_text = f"the releases cannot be compared ({str(error).splitlines()[0]})"
        raise UserError(
            error_text, where=new_folder, hint="factdrift verify says which is damaged"
        ) from error
    except OSError as error:
        raise UserError.of_disk(error, new_folder) from error


def _compared(old_folder: Path, new_folder: Path, diff_file: Path | None) -> ReleaseDiff:
    """Compare two releases config by config; see `compare`.

    The differing rows of all configs are collected in one table, so that a row which moved from one
    config to another is found (`_pair_moves`).
    """
    old_manifest, new_manifest = load_manifest(old_folder), load_manifest(new_folder)
    if old_manifest.dataset != new_manifest.dataset:
        error_text = f"releases of two datasets, {old_manifest.dataset} and {new_manifest.dataset}"
        raise UserError(error_text, where=new_folder, hint="compare two versions of one")
    columns: list[str] = []
    with duck.connect() as db:
        db.execute(f"CREATE TEMP TABLE diff ({_TYPES})")
        for config_name in dict.fromkeys(
            config_entry.name for config_entry in (*new_manifest.configs, *old_manifest.configs)
        ):
            old_config, new_config = (
                old_manifest.config(config_name),
                new_manifest.config(config_name),
            )
            if old_config and new_config:
                changes = column_changes(old_config.kinds(), new_config.kinds())
                columns += [f"{config_name}: {change}" for change in changes]
            _compare_config(
                db, (old_folder, old_manifest, old_config), (new_folder, new_manifest, new_config)
            )
        _pair_moves(db)
        row_counts = _counts(db)
        if diff_file is not None:
            with replacing(diff_file) as path:
                write_split(path, Difference, lambda: _sorted(db))
    layout_changes, changed_documents = (
        _layout_changes(old_manifest, new_manifest),
        _documents(old_manifest, new_manifest),
    )
    return ReleaseDiff(
        old=old_manifest.version,
        new=new_manifest.version,
        rows=row_counts,
        columns=tuple(columns),
        layout=tuple(layout_changes),
        documents=changed_documents,
        level=_level(
            row_counts,
            bool(columns) or _row_corrections(old_manifest) != _row_corrections(new_manifest),
            layout_changes,
            bool(changed_documents) or old_manifest != new_manifest,
        ),
        corrections=tuple(_correction_changes(old_manifest, new_manifest)),
    )


def _row_corrections(release_manifest: Manifest) -> set[str]:
    """Return the corrections that changed rows, though it may be that only texts differ by them."""
    return {correction.id for correction in release_manifest.corrections if correction.rows}


def _correction_changes(old_manifest: Manifest, new_manifest: Manifest) -> Iterator[str]:
    """Yield a line for each correction that one release has and the other has not."""
    old_ids, new_ids = (
        {correction.id for correction in release_manifest.corrections if not correction.withdrawn}
        for release_manifest in (old_manifest, new_manifest)
    )
    for entry in sorted(new_ids - old_ids):
        yield f"correction {entry} made"
    for entry in sorted(old_ids - new_ids):
        yield f"correction {entry} not made any more"


_Side = tuple[Path, Manifest, ConfigEntry | None]


def _compare_config(db: duckdb.DuckDBPyConnection, old_release: _Side, new_release: _Side) -> None:
    """Add the differing rows of one config to the table `diff`.

    If only one release has the config, all its rows are added or removed.
    """
    (_, old_manifest, old_config), (_, new_manifest, new_config) = old_release, new_release
    either_config = new_config or old_config
    if either_config is None:
        return
    shared_columns = []
    for column in either_config.columns:
        if all(_has(config, column.name, column.type) for config in (old_config, new_config)):
            shared_columns.append(column)
    # a split whose file is the same in both releases need not be read
    same_hashes = {
        name for name, _ in _hashes(old_manifest, old_config) & _hashes(new_manifest, new_config)
    }
    split_files = [
        [
            (split_entry.name, locate_file(folder, split_entry.file))
            for split_entry in entry.splits
            if split_entry.name not in same_hashes
        ]
        if entry
        else []
        for folder, _, entry in (old_release, new_release)
    ]
    if not any(split_files):
        return
    _add_differences(db, either_config.name, shared_columns, *split_files)


def _hashes(manifest: Manifest, config_entry: ConfigEntry | None) -> set[tuple[str, str]]:
    """Return the split name and sha256 of each file of a config."""
    file_digests = manifest.sha256s()
    return {
        (split.name, file_digests[split.file])
        for split in (config_entry.splits if config_entry else ())
        if split.file in file_digests
    }


def _has(config_entry: ConfigEntry | None, name: str, column_kind: str) -> bool:
    return config_entry is None or any(
        (config_column.name, config_column.type) == (name, column_kind)
        for config_column in config_entry.columns
    )


def column_changes(old_kinds: Kinds, new_kinds: Kinds) -> list[str]:
    """One line for each column added, removed or of another type; one for a new order."""
    old_types, new_types = dict(old_kinds), dict(new_kinds)
    change_lines = [f"column {name} removed" for name in old_types if name not in new_types]
    change_lines += [f"column {name} added" for name in new_types if name not in old_types]
    change_lines += [
        f"column {name} was {old_types[name]}, is {new_types[name]}"
        for name in old_types
        if name in new_types and old_types[name] != new_types[name]
    ]
    return change_lines or ["columns in another order"] * (old_kinds != new_kinds)


def _layout_changes(old_manifest: Manifest, new_manifest: Manifest) -> list[str]:
    """One line for each config or split that came or went."""
    old_splits = {
        (config_entry.name, split_entry.name)
        for config_entry in old_manifest.configs
        for split_entry in config_entry.splits
    }
    new_splits = {
        (config_entry.name, split_entry.name)
        for config_entry in new_manifest.configs
        for split_entry in config_entry.splits
    }
    change_lines = [
        f"split {config_name}/{split} removed"
        for config_name, split in sorted(old_splits - new_splits)
    ]
    return change_lines + [
        f"split {config_name}/{split} added"
        for config_name, split in sorted(new_splits - old_splits)
    ]


def _documents(old_manifest: Manifest, new_manifest: Manifest) -> tuple[str, ...]:
    old_digests, new_digests = old_manifest.sha256s(), new_manifest.sha256s()
    return tuple(
        sorted(
            path
            for path in old_digests.keys() | new_digests.keys()
            if old_digests.get(path) != new_digests.get(path)
        )
    )


def _level(
    row_counts: dict[str, dict[Change, int]],
    always_major: bool,
    layout_changes: list[str],
    documents_changed: bool,
) -> Level:
    """Return the smallest bump of the version that the changes require.

    `always_major`: other columns, or rows that were corrected by hand.
    """
    seen_changes = {
        change
        for config_counts in row_counts.values()
        for change, row_count in config_counts.items()
        if row_count
    }
    if (
        always_major
        or seen_changes & _MAJOR
        or any(line.endswith("removed") for line in layout_changes)
    ):
        return "major"
    if "added" in seen_changes or layout_changes:
        return "minor"
    return "patch" if seen_changes or documents_changed else "none"


def _counts(db: duckdb.DuckDBPyConnection) -> dict[str, dict[Change, int]]:
    row_counts: dict[str, dict[Change, int]] = {}
    query = """
        SELECT coalesce(new_config, old_config) AS config, change, count(*)
        FROM diff GROUP BY ALL ORDER BY ALL
    """
    for config_name, change, row_count in db.execute(query).fetchall():
        row_counts.setdefault(config_name, {})[change] = row_count
    return row_counts


def _sorted(db: duckdb.DuckDBPyConnection) -> Iterator[pa.RecordBatch]:
    """The difference, the rows of one config and split together."""
    order_columns = (
        f"coalesce(new_config, old_config), coalesce(new_split, old_split), id, {_COLUMNS}"
    )
    query = f"SELECT {_COLUMNS} FROM diff ORDER BY {order_columns}"
    batch_reader: pa.RecordBatchReader = db.sql(query).to_arrow_reader(8192)
    yield from batch_reader


def _add_differences(
    db: duckdb.DuckDBPyConnection,
    config: str,
    columns: Sequence[ColumnEntry],
    before: _Files,
    after: _Files,
) -> None:
    """Add the rows of one config that differ between two releases to the table `diff`.

    Rows are matched by `id`. Each row that differs gets one change, the first that fits: `added` or
    `removed` if only one release has it, `moved` if it is in another split, `edited` if what the
    row says differs, `rendered` if only the text that was made from it differs, and `measured` if
    only values differ that are read off the dump, such as the day on which a fact was last seen.

    If the config has no column `id`, rows are matched by their whole content. Then nothing tells
    which row an edited one was before: it counts as one removed and one added. Equal rows of a
    split are numbered, and matched by their numbers.
    """
    # In the SQL, `o` is a row of the old release and `n` its match in the new one. For each column:
    # the condition that its values differ. Not every difference is an edit (see `_is_patch`).
    tests: dict[str, str] = {}
    edit_tests, render_tests, changed_names = [], [], []
    for column in columns:
        if column.name == "id":
            continue
        test = f"{_of('o', column.name)} IS DISTINCT FROM {_of('n', column.name)}"
        tests[column.name] = test
        changed_names.append(f"CASE WHEN {test} THEN {duck.text(column.name)} END")
        if not _is_patch(column):
            edit_tests.append(test + _unless(column))
        if column.rendered:
            render_tests.append(test)
    edited, rendered, either = map(_any_of, (edit_tests, render_tests, tests.values()))
    changed = ", ".join(changed_names)
    names = [column.name for column in columns]
    old_release, new_release = (_json(side_name, names) for side_name in "on")
    old_rows, new_rows = _rows(before, after, names), _rows(after, before, names)
    # With ids, the split is no part of the match, so that a row in another split counts as moved.
    # Without them, equal rows of different splits would be mixed up.
    place = "" if "id" in names else ' AND o."__split" = n."__split" AND o."__copy" = n."__copy"'
    db.execute(f"""
        INSERT INTO diff
        WITH o AS ({old_rows}), n AS ({new_rows}), d AS (
            SELECT
                coalesce(o.id, n.id) AS id, o."__split" AS old_split, n."__split" AS new_split,
                list_filter([{changed or "NULL"}]::VARCHAR[], lambda c: c IS NOT NULL) AS changed,
                ({edited}) AS edited, ({rendered}) AS written,
                {old_release} AS old, {new_release} AS new
            FROM o FULL JOIN n ON o.id = n.id{place}
            WHERE o.id IS NULL OR n.id IS NULL OR o."__split" != n."__split" OR {either}
        )
        SELECT
            id,
            CASE WHEN old_split IS NULL THEN 'added' WHEN new_split IS NULL THEN 'removed'
                WHEN old_split != new_split THEN 'moved' WHEN edited THEN 'edited'
                WHEN written THEN 'rendered' ELSE 'measured' END,
            if(old_split IS NULL, NULL, {duck.text(config)}), old_split,
            if(new_split IS NULL, NULL, {duck.text(config)}), new_split,
            if(old_split IS NULL OR new_split IS NULL, [], changed),
            {_pick("old")}, {_pick("new")}
        FROM d
    """)


def _any_of(row_conditions: Iterable[str]) -> str:
    """Return the SQL condition that one of several holds."""
    return " OR ".join(row_conditions) or "false"


def _of(side_name: str, column: str) -> str:
    return f"{side_name}.{duck.name(column)}"


def _is_patch(column: ColumnEntry) -> bool:
    """Return whether a change of this column alone is never an edit of the row."""
    return column.rendered or column.measured == "*"


def _unless(column: ColumnEntry) -> str:
    """Return the SQL condition under which a change of this column is an edit of the row."""
    if not column.measured:
        return ""  # every change of it edits the row
    return f" AND NOT ({_of('o', column.measured)} AND {_of('n', column.measured)})"


def _pair_moves(db: duckdb.DuckDBPyConnection) -> None:
    """Turn a removed row and an added row of the same id into one moved row."""
    db.execute(f"""
        CREATE TEMP TABLE pairs AS
        WITH numbered AS (
            SELECT *, rowid AS place,
                row_number() OVER (PARTITION BY id, change ORDER BY {_COLUMNS}) AS k
            FROM diff WHERE change IN ('added', 'removed')
        )
        SELECT
            r.id, 'moved' AS change, r.old_config, r.old_split, a.new_config, a.new_split,
            coalesce(list_filter(json_keys(a.new), lambda c: json_extract(a.new, '/' || c)
                IS DISTINCT FROM json_extract(r.old, '/' || c)), []) AS changed,
            r.old, a.new, r.place AS gone, a.place AS came
        FROM numbered r JOIN numbered a ON r.id = a.id AND r.k = a.k
        WHERE r.change = 'removed' AND a.change = 'added'
    """)
    db.execute(
        "DELETE FROM diff WHERE rowid IN (SELECT gone FROM pairs UNION ALL SELECT came FROM pairs)"
    )
    db.execute(f"INSERT INTO diff SELECT {_COLUMNS} FROM pairs")


def _rows(files: _Files, other_files: _Files, column_names: Sequence[str]) -> str:
    """Return SQL that selects the given columns of one side's rows, of all splits.

    If this side has no files, the query reads those of the other side and selects no row, so that
    the columns have their types. If the rows have no column `id`, the MD5 of a row's content serves
    as its id, and equal rows of a split are numbered.
    """
    listed = "".join(f", {duck.name(name)}" for name in column_names)
    where = "" if files else " WHERE false"
    union = " UNION ALL ".join(
        f'SELECT {duck.text(split)} AS "__split"{listed} FROM {duck.parquet(path)}{where}'
        for split, path in files or other_files[:1]
    )
    if "id" in column_names:
        return union
    with_ids = f"SELECT *, md5({_object('r', column_names)}::VARCHAR) AS id FROM ({union}) r"
    copy = 'row_number() OVER (PARTITION BY id, "__split") AS "__copy"'
    return f"SELECT *, {copy} FROM ({with_ids})"


def _object(side_name: str, column_names: Sequence[str]) -> str:
    pairs = ", ".join(f"{duck.text(name)}, {side_name}.{duck.name(name)}" for name in column_names)
    return f"json_object({pairs})"


def _json(side_name: str, column_names: Sequence[str]) -> str:
    """The whole row as JSON where there is one; the part that changed is picked later."""
    return f"if({side_name}.id IS NULL, NULL, {_object(side_name, column_names)})"


def _pick(side_name: str) -> str:
    """Return SQL for the changed columns of a row that both releases have, else the whole row."""
    value = f"coalesce(json_extract({side_name}, '/' || c)::VARCHAR, 'null')"
    pair = f"to_json(c)::VARCHAR || ':' || {value}"
    part = f"'{{' || array_to_string(list_transform(changed, lambda c: {pair}), ',') || '}}'"
    absent_test = f"{side_name} IS NULL OR old_split IS NULL OR new_split IS NULL"
    return f"if({absent_test}, {side_name}::VARCHAR, {part})"
