"""Compare two releases row by row: what was added, removed, edited, moved, rendered anew."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import duckdb
import pyarrow as pa

from builders.errors import UserError
from builders.release import duck
from builders.release.compare_sql import DIFF_TABLE, WHOLE, pair_moves, rows_by_content, rows_by_id
from builders.release.manifest import ConfigEntry, Manifest, load, locate
from builders.release.parquet import write_split
from builders.release.version import Level

Change = Literal["added", "removed", "edited", "moved", "rendered"]
CHANGES: tuple[Change, ...] = ("added", "removed", "edited", "moved", "rendered")
_MAJOR = {"removed", "edited", "moved"}
_WORDS = {"rendered": "rendered anew"}


@dataclass(frozen=True, slots=True)
class Difference:
    """One row that differs between two releases."""

    id: Annotated[str, "id of the row; for tables without ids, the MD5 of its content"]
    change: Annotated[Change, "what became of it; moved: in another split or config, edited or not"]
    old_config: Annotated[str | None, "config in the old release; null: not there"]
    old_split: Annotated[str | None, "split in the old release; null: not there"]
    new_config: Annotated[str | None, "config in the new release; null: not there"]
    new_split: Annotated[str | None, "split in the new release; null: not there"]
    changed: Annotated[tuple[str, ...], "columns whose values differ, in the table's order"]
    old: Annotated[str | None, "old values of these columns as JSON; removed: the whole row"]
    new: Annotated[str | None, "new values of these columns as JSON; added: the whole row"]


@dataclass(frozen=True)
class Comparison:
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
        sums = {c: sum(by.get(c, 0) for by in self.rows.values()) for c in CHANGES}
        return {change: n for change, n in sums.items() if n}

    def brief(self) -> str:
        """One line: `12 rows edited, 3 rows added`."""
        parts = [f"{n} row{'s' * (n != 1)} {_WORDS.get(c, c)}" for c, n in self.totals().items()]
        parts += [*self.columns, *self.layout]
        if not parts and self.documents:
            shown = ", ".join(self.documents[:3])
            more = f" and {len(self.documents) - 3} more" if len(self.documents) > 3 else ""
            parts = [f"the same rows in other files ({shown}{more})"]
        return ", ".join(parts) or "nothing"

    def summary(self) -> str:
        """Several lines: the level, then what changed in each config."""
        lines = [f"{self.old} -> {self.new}: {self.level}: {self.brief()}"]
        for config, by in self.rows.items():
            counts = ", ".join(f"{by[c]} {_WORDS.get(c, c)}" for c in CHANGES if by.get(c))
            lines.append(f"  {config}: {counts}")
        if self.documents:
            lines.append(f"  files that differ: {', '.join(self.documents)}")
        return "\n".join(lines)


def compare(old: Path, new: Path, diff: Path | None = None) -> Comparison:
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


def _compared(old: Path, new: Path, diff: Path | None) -> Comparison:
    before, after = load(old), load(new)
    if before.dataset != after.dataset:
        text = f"releases of two datasets, {before.dataset} and {after.dataset}"
        raise UserError(text, where=new, hint="compare two versions of one")
    columns: list[str] = []
    with duck.connect() as db:
        db.execute(DIFF_TABLE)
        for name in dict.fromkeys(c.name for c in (*after.configs, *before.configs)):
            was, now = before.config(name), after.config(name)
            if was and now and was.columns != now.columns:
                columns += _column_changes(was, now)
            _compare_config(db, (old, before, was), (new, after, now), values=diff is not None)
        pair_moves(db)
        rows = _counts(db)
        if diff is not None:
            write_split(diff, Difference, lambda: _sorted(db))
    layout = _layout_changes(before, after)
    documents = _documents(before, after)
    return Comparison(
        old=before.version,
        new=after.version,
        rows=rows,
        columns=tuple(columns),
        layout=tuple(layout),
        documents=documents,
        level=_level(rows, bool(columns), layout, bool(documents) or before != after),
    )


_Side = tuple[Path, Manifest, ConfigEntry | None]


def _compare_config(db: duckdb.DuckDBPyConnection, old: _Side, new: _Side, values: bool) -> None:
    (_, before, was), (_, after, now) = old, new
    one = now or was
    if one is None:
        return
    shared = [c for c in one.columns if _has(was, c.name, c.type) and _has(now, c.name, c.type)]
    skip = {name for name, _ in _hashes(before, was) & _hashes(after, now)}
    sides = [
        [(s.name, locate(folder, s.file)) for s in entry.splits if s.name not in skip]
        if entry
        else []
        for folder, _, entry in (old, new)
    ]
    if not any(sides):
        return
    names = [c.name for c in shared]
    rendered = [c.name for c in shared if c.rendered]
    work = rows_by_id if "id" in names else rows_by_content
    work(db, one.name, names, rendered, (sides[0], sides[1]), values)


def _hashes(manifest: Manifest, config: ConfigEntry | None) -> set[tuple[str, str]]:
    """Split name and sha256 of each of its files."""
    known = manifest.sha256s()
    return {(s.name, known[s.file]) for s in (config.splits if config else ()) if s.file in known}


def _has(config: ConfigEntry | None, name: str, kind: str) -> bool:
    return config is None or any((c.name, c.type) == (name, kind) for c in config.columns)


def _column_changes(was: ConfigEntry, now: ConfigEntry) -> list[str]:
    """One line for each column added, removed or of another type; one for a new order."""
    old = {c.name: (c.type, c.nullable) for c in was.columns}
    new = {c.name: (c.type, c.nullable) for c in now.columns}
    lines = [f"{now.name}: column {name} removed" for name in old if name not in new]
    lines += [f"{now.name}: column {name} added" for name in new if name not in old]
    lines += [
        f"{now.name}: column {name} was {_kind(*old[name])}, is {_kind(*new[name])}"
        for name in old
        if name in new and old[name] != new[name]
    ]
    if not lines and list(old) != list(new):
        lines = [f"{now.name}: columns in another order"]
    return lines


def _kind(kind: str, nullable: bool) -> str:
    return kind + (" or null" if nullable else "")


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
    rows: dict[str, dict[Change, int]], columns: bool, layout: list[str], other: bool
) -> Level:
    seen = {change for by in rows.values() for change, n in by.items() if n}
    if columns or seen & _MAJOR or any(line.endswith("removed") for line in layout):
        return "major"
    if "added" in seen or layout:
        return "minor"
    return "patch" if seen or other else "none"


def _counts(db: duckdb.DuckDBPyConnection) -> dict[str, dict[Change, int]]:
    found: dict[str, dict[Change, int]] = {}
    query = """
        SELECT coalesce(new_config, old_config) AS config, change, count(*)
        FROM diff GROUP BY ALL ORDER BY ALL
    """
    for config, change, n in db.execute(query).fetchall():
        found.setdefault(config, {})[change] = n
    return found


def _sorted(db: duckdb.DuckDBPyConnection) -> Iterator[pa.RecordBatch]:
    """The difference, the rows of one config and split together."""
    order = f"coalesce(new_config, old_config), coalesce(new_split, old_split), id, {WHOLE}"
    query = f"SELECT {WHOLE} FROM diff ORDER BY {order}"  # noqa: S608
    reader: pa.RecordBatchReader = db.sql(query).to_arrow_reader(8192)
    yield from reader
