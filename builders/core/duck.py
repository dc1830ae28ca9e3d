"""DuckDB as every part of the toolkit opens it, and queries over the Parquet files of releases."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

Settings = dict[str, str | bool | int | float | list[str]]


def options(
    spill: Path, memory: str | None = None, threads: int | None = None, *, ordered: bool = True
) -> Settings:
    """The settings of a database: nothing is ever downloaded, and what is large goes to `spill`.

    `memory`: a limit such as `600MB`, by default DuckDB's own; `threads`: by default all cores.
    `ordered`: whether rows without ORDER BY keep the order of their file, which takes memory.
    """
    limits: dict[str, str | int | None] = {"memory_limit": memory, "threads": threads}
    return {
        "temp_directory": str(spill),
        "preserve_insertion_order": ordered,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        **{name: value for name, value in limits.items() if value is not None},
    }


@contextmanager
def connect(
    spill: Path | None = None,
    memory: str | None = None,
    threads: int | None = None,
    *,
    ordered: bool = True,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A private database in memory; what does not fit goes into a new folder below `spill`.

    That folder is gone afterwards. The other settings: see `options`.
    """
    with TemporaryDirectory(prefix="duckdb-", dir=spill, ignore_cleanup_errors=True) as folder:
        config = options(Path(folder), memory, threads, ordered=ordered)
        with duckdb.connect(":memory:", config=config) as connection:
            connection.execute("SET TimeZone = 'UTC'; SET enable_progress_bar = false")
            yield connection


def query(sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """The rows of one small query, such as counts over Parquet files; paths may be parameters."""
    values = [
        str(parameter) if isinstance(parameter, Path) else parameter for parameter in parameters
    ]
    with connect() as connection:
        return connection.execute(sql, values).fetchall()


def records(sql: str, parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
    """The rows of one small query as the query names their columns: a table of a card."""
    with connect() as connection:
        result = connection.execute(sql, [str(parameter) for parameter in parameters])
        names = [column[0] for column in result.description or ()]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def text(value: str) -> str:
    """A string literal."""
    return "'" + value.replace("'", "''") + "'"


def name(value: str) -> str:
    """A quoted identifier."""
    return '"' + value.replace('"', '""') + '"'


def parquet(path: Path) -> str:
    """A table expression for one file, whatever characters its path has."""
    return f"read_parquet({text(escape_globs(path))}, hive_partitioning = false)"


def escape_globs(path: Path | str) -> str:
    """A path in which DuckDB sees no glob."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))
