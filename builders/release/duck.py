"""DuckDB over the Parquet files of releases."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb


@contextmanager
def connect(spill: Path | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """A private database in memory; what does not fit goes into a folder below `spill`."""
    with TemporaryDirectory(prefix="duckdb-", dir=spill) as folder:
        options: dict[str, str | bool | int | float | list[str]] = {
            "temp_directory": folder,
            "autoinstall_known_extensions": False,
        }
        with duckdb.connect(":memory:", config=options) as connection:
            connection.execute("SET TimeZone = 'UTC'; SET enable_progress_bar = false")
            yield connection


def text(value: str) -> str:
    """A string literal."""
    return "'" + value.replace("'", "''") + "'"


def name(value: str) -> str:
    """A quoted identifier."""
    return '"' + value.replace('"', '""') + '"'


def parquet(path: Path) -> str:
    """A table expression for one file, whatever characters its path has."""
    plain = re.sub(r"([*?\[])", r"[\1]", str(path))
    return f"read_parquet({text(plain)}, hive_partitioning = false)"
