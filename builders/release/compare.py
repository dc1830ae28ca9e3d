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
_MAJOR = {"removed", "edited", "moved"}
WORDS = {"rendered": "rendered anew", "measured": "measured anew"}
_Files = Sequence[tuple[str, Path]]
"""Split name and file of each split that has to be read."""


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
    """What changed from one release to another.

    `rows`: config -> change -> number of rows (moved rows under the config they are in now).
    `columns`, `layout`: one line for each change of columns, and of configs and splits.
    `documents`: other files that differ, and data files that differ in bytes alone.
    `level` is the smallest bump that announces it all.
    """

    old: str
    new: str
    rows: dict[str, dict[Change, int]]
    columns: tuple[str, ...]
    layout: tuple[str, ...]
    documents: tuple[str, ...]
    level: Level

    def totals(self) -> dict[Change, int]:
        """Change -> number of rows over all configs; only what occurs."""
        sums = {
            change_kind: sum(by.get(change_kind, 0) for by in self.rows.values())
            for change_kind in CHANGES
        }
        return {change: row_count for change, row_count in sums.items() if row_count}

    def brief(self) -> str:
        """One line: `12 rows edited, 3 rows added`."""
        parts = [
            f"{row_count} row{'s' * (row_count != 1)} {WORDS.get(change_kind, change_kind)}"
            for change_kind, row_count in self.totals().items()
        ]
        parts += [*self.columns, *self.layout]
        if not parts and self.documents:
            change_texts = ", ".join(self.documents[:3])
            more = f" and {len(self.documents) - 3} more" if len(self.documents) > 3 else ""
            parts = [f"the same rows in other files ({change_texts}{more})"]
        return ", ".join(parts) or "nothing"

    def summary(self) -> str:
        """Several lines: the level, then what changed in each config."""
        lines = [f"{self.old} -> {self.new}: {self.level}: {self.brief()}"]
        for config, by in self.rows.items():
            counts = ", ".join(
                f"{by[change]} {WORDS.get(change, change)}" for change in CHANGES if by.get(change)
            )
            lines.append(f"  {config}: {counts}")
        if self.documents:
            lines.append(f"  files that differ: {_by_folder(self.documents)}")
        return "\n".join(lines)


def _by_folder(files: Sequence[str]) -> str:
    """Files by name, several of a folder by their number: `README.md, data/updated (12)`."""
    folders = Counter(str(PurePosixPath(file).parent) for file in files)
    paths = {
        f"{folder} ({folders[folder]})" if folder != "." and folders[folder] > 1 else file: None
        for file in files
        for folder in [str(PurePosixPath(file).parent)]
    }
    return ", ".join(paths)


def compare(old: Path, new: Path, diff: Path | None = None) -> ReleaseDiff:
    """What changed between two release folders.

    Rows are matched by `id`, in tables without one by their whole content. Where the columns of a
    config changed, its rows are compared on those that both releases have with the same type.
    `diff`: write every row that differs there, as Parquet rows of `Difference`, sorted by config,
    split and id. Files with the same sha256 are not read. `UserError`: a broken manifest, a damaged
    file, a place that cannot be written.
    """
    try:
        return _compared(old, new, diff)
    except duckdb.Error as error:
        text = f"the releases cannot be compared ({str(error).splitlines()[0]})"
        raise UserError(text, where=new, hint="factdrift verify says which is damaged") from error
    except OSError as error:
        raise UserError.of_disk(error, new) from error


def _compared(old: Path, new: Path, diff: Path | None) -> ReleaseDiff:
    before, after = load_manifest(old), load_manifest(new)
    if before.dataset != after.dataset:
        text = f"releases of two datasets, {before.dataset} and {after.dataset}"
        raise UserError(text, where=new, hint="compare two versions of one")
    columns: list[str] = []
    with duck.connect() as db:
        db.execute(f"CREATE TEMP TABLE diff ({_TYPES})")
        for name in dict.fromkeys(c.name for c in (*after.configs, *before.configs)):
            was, now = before.config(name), after.config(name)
            if was and now:
                changes = column_changes(was.kinds(), now.kinds())
                columns += [f"{name}: {change}" for change in changes]
            _compare_config(db, (old, before, was), (new, after, now))
        _pair_moves(db)
        rows = _counts(db)
        if diff is not None:
            with replacing(diff) as path:
                write_split(path, Difference, lambda: _sorted(db))
    layout, documents = _layout_changes(before, after), _documents(before, after)
    return ReleaseDiff(
        old=before.version,
        new=after.version,
        rows=rows,
        columns=tuple(columns),
        layout=tuple(layout),
        documents=documents,
        level=_level(rows, bool(columns), layout, bool(documents) or before != after),
    )


_Side = tuple[Path, Manifest, ConfigEntry | None]


def _compare_config(db: duckdb.DuckDBPyConnection, old: _Side, new: _Side) -> None:
    (_, before, was), (_, after, now) = old, new
    one = now or was
    if one is None:
        return
    shared = [c for c in one.columns if _has(was, c.name, c.type) and _has(now, c.name, c.type)]
    skip = {name for name, _ in _hashes(before, was) & _hashes(after, now)}
    sides = [
        [(s.name, locate_file(folder, s.file)) for s in entry.splits if s.name not in skip]
        if entry
        else []
        for folder, _, entry in (old, new)
    ]
    if not any(sides):
        return
    _add_differences(db, one.name, shared, *sides)


def _hashes(manifest: Manifest, config: ConfigEntry | None) -> set[tuple[str, str]]:
    """Split name and sha256 of each of its files."""
    digests = manifest.sha256s()
    return {
        (split.name, digests[split.file])
        for split in (config.splits if config else ())
        if split.file in digests
    }


def _has(config: ConfigEntry | None, name: str, kind: str) -> bool:
    return config is None or any(
        (config_column.name, config_column.type) == (name, kind) for config_column in config.columns
    )


def column_changes(was: Kinds, now: Kinds) -> list[str]:
    """One line for each column added, removed or of another type; one for a new order."""
    old, new = dict(was), dict(now)
    lines = [f"column {name} removed" for name in old if name not in new]
    lines += [f"column {name} added" for name in new if name not in old]
    lines += [
        f"column {name} was {old[name]}, is {new[name]}"
        for name in old
        if name in new and old[name] != new[name]
    ]
    return lines or ["columns in another order"] * (was != now)


def _layout_changes(before: Manifest, after: Manifest) -> list[str]:
    """One line for each config or split that came or went."""
    old = {(c.name, s.name) for c in before.configs for s in c.splits}
    new = {(c.name, s.name) for c in after.configs for s in c.splits}
    lines = [f"split {config}/{split} removed" for config, split in sorted(old - new)]
    return lines + [f"split {config}/{split} added" for config, split in sorted(new - old)]


def _documents(before: Manifest, after: Manifest) -> tuple[str, ...]:
    old, new = before.sha256s(), after.sha256s()
    return tuple(sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path)))


def _level(
    rows: dict[str, dict[Change, int]], columns: bool, layout: list[str], documents_changed: bool
) -> Level:
    seen = {change for by in rows.values() for change, row_count in by.items() if row_count}
    if columns or seen & _MAJOR or any(line.endswith("removed") for line in layout):
        return "major"
    if "added" in seen or layout:
        return "minor"
    return "patch" if seen or documents_changed else "none"


def _counts(db: duckdb.DuckDBPyConnection) -> dict[str, dict[Change, int]]:
    counts: dict[str, dict[Change, int]] = {}
    query = """
        SELECT coalesce(new_config, old_config) AS config, change, count(*)
        FROM diff GROUP BY ALL ORDER BY ALL
    """
    for config, change, row_count in db.execute(query).fetchall():
        counts.setdefault(config, {})[change] = row_count
    return counts


def _sorted(db: duckdb.DuckDBPyConnection) -> Iterator[pa.RecordBatch]:
    """The difference, the rows of one config and split together."""
    order = f"coalesce(new_config, old_config), coalesce(new_split, old_split), id, {_COLUMNS}"
    query = f"SELECT {_COLUMNS} FROM diff ORDER BY {order}"
    reader: pa.RecordBatchReader = db.sql(query).to_arrow_reader(8192)
    yield from reader


def _add_differences(
    db: duckdb.DuckDBPyConnection,
    config: str,
    columns: Sequence[ColumnEntry],
    before: _Files,
    after: _Files,
) -> None:
    """Add the rows of one config that differ, matched by `id`, else by their whole content.

    A row that differs in rendered columns alone is rendered anew, and one that differs only where
    it is read off the dump is measured anew. Without ids there is no telling which row an edited
    one was: it counts as one removed and one added; copies of a row are counted in each split.
    """
    tests: dict[str, str] = {}  # the columns that differ, whether as an edit or as a patch
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
    old, new = (_json(side, names) for side in "on")
    old_rows, new_rows = _rows(before, after, names), _rows(after, before, names)
    place = "" if "id" in names else ' AND o."__split" = n."__split" AND o."__copy" = n."__copy"'
    db.execute(f"""
        INSERT INTO diff
        WITH o AS ({old_rows}), n AS ({new_rows}), d AS (
            SELECT
                coalesce(o.id, n.id) AS id, o."__split" AS old_split, n."__split" AS new_split,
                list_filter([{changed or "NULL"}]::VARCHAR[], lambda c: c IS NOT NULL) AS changed,
                ({edited}) AS edited, ({rendered}) AS written, {old} AS old, {new} AS new
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


def _any_of(conditions: Iterable[str]) -> str:
    """The condition that one of several holds."""
    return " OR ".join(conditions) or "false"


def _of(side: str, column: str) -> str:
    return f"{side}.{duck.name(column)}"


def _is_patch(column: ColumnEntry) -> bool:
    """Whether a change of this column alone never edits a row."""
    return column.rendered or column.measured == "*"


def _unless(column: ColumnEntry) -> str:
    """The condition under which a change of this column edits the row, where there is one."""
    if not column.measured:
        return ""  # every change of it edits the row
    return f" AND NOT ({_of('o', column.measured)} AND {_of('n', column.measured)})"


def _pair_moves(db: duckdb.DuckDBPyConnection) -> None:
    """A row that went from one place and came to another was moved."""
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


def _rows(files: _Files, other_files: _Files, columns: Sequence[str]) -> str:
    """All splits of one side with the columns asked for; no files give the types and no rows.

    Without `id`, the MD5 of the content is one, and the copies in a split are numbered.
    """
    listed = "".join(f", {duck.name(name)}" for name in columns)
    where = "" if files else " WHERE false"
    union = " UNION ALL ".join(
        f'SELECT {duck.text(split)} AS "__split"{listed} FROM {duck.parquet(path)}{where}'
        for split, path in files or other_files[:1]
    )
    if "id" in columns:
        return union
    with_ids = f"SELECT *, md5({_object('r', columns)}::VARCHAR) AS id FROM ({union}) r"
    copy = 'row_number() OVER (PARTITION BY id, "__split") AS "__copy"'
    return f"SELECT *, {copy} FROM ({with_ids})"


def _object(side: str, columns: Sequence[str]) -> str:
    pairs = ", ".join(f"{duck.text(name)}, {side}.{duck.name(name)}" for name in columns)
    return f"json_object({pairs})"


def _json(side: str, columns: Sequence[str]) -> str:
    """The whole row as JSON where there is one; the part that changed is picked later."""
    return f"if({side}.id IS NULL, NULL, {_object(side, columns)})"


def _pick(side: str) -> str:
    """Of a row that both releases have, the changed columns; else the whole row."""
    pair = (
        f"to_json(c)::VARCHAR || ':' || coalesce(json_extract({side}, '/' || c)::VARCHAR, 'null')"
    )
    part = f"'{{' || array_to_string(list_transform(changed, lambda c: {pair}), ',') || '}}'"
    absent = f"{side} IS NULL OR old_split IS NULL OR new_split IS NULL"
    return f"if({absent}, {side}::VARCHAR, {part})"
