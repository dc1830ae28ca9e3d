"""DuckDB connections with the settings of the toolkit, and queries over Parquet files."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any

import duckdb

Settings = dict[str, str | bool | int | float | list[str]]

# times in Parquet are UTC, and days must not depend on where the machine is
_OF_SESSIONS = "SET TimeZone = 'UTC'; SET enable_progress_bar = false"


def options(
    spill: Path, memory: str | None = None, threads: int | None = None, *, ordered: bool = True
) -> Settings:
    """Return the settings of a database, which never downloads anything.

    `spill` is the folder for data that does not fit into memory. `memory` is a limit such as
    `600MB`, by default DuckDB's own. `threads` is by default the number of cores. If `ordered` is
    true, rows without ORDER BY keep the order of their file, which takes memory.
    """
    optional_limits: dict[str, str | int | None] = {"memory_limit": memory, "threads": threads}
    return {
        "temp_directory": str(spill),
        "preserve_insertion_order": ordered,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        **{name: value for name, value in optional_limits.items() if value is not None},
    }


@contextmanager
def connect(
    spill: Path | None = None,
    memory: str | None = None,
    threads: int | None = None,
    *,
    ordered: bool = True,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a private database in memory, with a temporary folder in `spill` for what does not fit.

    The folder is removed at the end. For the other settings see `options`.
    """
    with TemporaryDirectory(prefix="duckdb-", dir=spill, ignore_cleanup_errors=True) as folder:
        config = options(Path(folder), memory, threads, ordered=ordered)
        with duckdb.connect(":memory:", config=config) as connection:
            connection.execute(_OF_SESSIONS)
            yield connection


@cache
def _for_small_queries() -> tuple[duckdb.DuckDBPyConnection, TemporaryDirectory[str], Lock]:
    """The database of this process for small queries, with its folder and its lock.

    To open one takes longer than to ask most of what cards ask. Working processes are spawned, not
    forked, so that each has its own.
    """
    spill_folder = TemporaryDirectory(prefix="duckdb-", ignore_cleanup_errors=True)
    # nothing is remembered of files, because they may be written anew between two queries
    memory_settings = options(Path(spill_folder.name)) | {"enable_external_file_cache": False}
    connection = duckdb.connect(":memory:", config=memory_settings)
    connection.execute(_OF_SESSIONS)
    return connection, spill_folder, Lock()


def query(sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """Return the rows of a small query, such as a count. Paths can be parameters."""
    parameter_values = [
        str(parameter) if isinstance(parameter, Path) else parameter for parameter in parameters
    ]
    connection, _, query_lock = _for_small_queries()
    with query_lock:
        return connection.execute(sql, parameter_values).fetchall()


def records(sql: str, parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
    """Return the rows of a small query as dictionaries by column, such as a table of a card."""
    connection, _, query_lock = _for_small_queries()
    with query_lock:
        query_result = connection.execute(sql, [str(parameter) for parameter in parameters])
        column_names = [column[0] for column in query_result.description or ()]
        return [dict(zip(column_names, row, strict=True)) for row in query_result.fetchall()]


def text(value: str) -> str:
    """Return a string literal of SQL."""
    return "'" + value.replace("'", "''") + "'"


def name(value: str) -> str:
    """Return a quoted identifier of SQL."""
    return '"' + value.replace('"', '""') + '"'


def parquet(*paths: Path | str) -> str:
    """Return a table expression for files, whatever characters their paths contain."""
    file_list = ", ".join(text(escape_globs(path)) for path in paths)
    return f"read_parquet([{file_list}], hive_partitioning = false)"


def escape_globs(path: Path | str) -> str:
    """Return a path in which DuckDB finds no glob pattern: `a*` becomes `a[*]`."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))
