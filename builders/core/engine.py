"""Two engines that run the same Ibis expressions: embedded DuckDB and PySpark.

The relational steps describe their results as Ibis tables. An engine reads Parquet files into such
tables and writes them back. The file that `Engine.write` makes depends only on its rows: it has
the same order, row groups and schema with either engine and any number of threads.
"""

import shutil
import tempfile
import weakref
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import duckdb
import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir
import pyarrow as pa
import pyarrow.parquet as pq

from factdrift.builders.core import duck, sort_ranges, spark
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import clear_place
from factdrift.builders.core.schema import ROW_GROUP, arrow_schema, declared, reading, regrouped
from factdrift.builders.core.sizes import byte_count

EngineName = str
"""`duckdb`, `spark`, or the address of a Spark: `local[2]`, `spark://host:7077`, `sc://host`."""

_DUCKDB_SHARE = 0.8
"""The share of the memory that is DuckDB's limit: the rest is for what its limit does not count,
above all its allocator's spare pages and the rows that Arrow takes over."""
_RANGES_IN_MEMORY = 8
"""How many ranges of rows that are sorted fit into DuckDB's limit. A range is held several times
while it is sorted, beside stored tables that are not all moved to disk. With more ranges, what is
held of each until it is written would be too little for a file."""
_SORTING = "sorting_"
"""The prefix of the folders of rows that wait to be sorted."""
_ROW_BYTES = 500
"""Bytes of memory that timelines and comparisons take at most for each row that they are made of:
a million facts, whose tables were the largest that were measured, took 270 to 450 MB."""

IDS = frozenset({"subject", "relation", "object", "id"})
"""Columns that are sorted by length and then by text, so that Q9 comes before Q10."""


class Spilled(NamedTuple):
    """Bytes on disk: of tables and of what is computed, and of rows that wait to be sorted."""

    tables: int
    rows: int


class Engine(ABC):
    """Runs expressions; `engine` opens one. Tables of two engines cannot be combined."""

    def __init__(self, connection: Any, scratch: Path) -> None:
        self.con = connection
        self.scratch = scratch
        self._named = Counter[str]()
        self._unread: list[str] = []
        self._most_rows = 0
        self.spilled = Spilled(0, 0)
        """The most that was seen on disk because it did not fit into memory."""

    def read(self, path: Path | Sequence[Path], row: Any) -> ir.Table:
        """Read Parquet files, or folders of them, as one table with the columns of a row type.

        Other columns are left out. Raises `UserError` if a file is missing, is not Parquet, or
        lacks a column of the row type.
        """
        file_paths = list(_files([path] if isinstance(path, Path) else path))
        row_schema = arrow_schema(row)
        row_count = 0
        for file_path in file_paths:
            try:
                metadata = pq.read_metadata(file_path)
            except pa.ArrowInvalid as error:
                raise UserError(f"not a Parquet file ({error})", where=file_path) from error
            row_count += metadata.num_rows
            file_columns = metadata.schema.to_arrow_schema().names
            if missing_columns := [
                column_name for column_name in row_schema.names if column_name not in file_columns
            ]:
                raise UserError(
                    f"no column {', '.join(missing_columns)} for {row.__name__}", where=file_path
                )
        self._most_rows = max(self._most_rows, row_count)
        column_types = ibis.schema(
            pa.schema([pa.field(field.name, field.type) for field in row_schema])
        )
        return self._read([str(file_path) for file_path in file_paths], column_types)

    def write(self, expr: ir.Table, path: Path, row: Any, order_by: Sequence[str]) -> int:
        """Run an expression, write its rows as one Parquet file, and return their number.

        `order_by` names columns of the expression to sort by, ascending, nulls first, and `IDS` by
        their number. Any two rows that are not identical must differ in one of them, or the file
        would depend on the engine. Columns that the row type does not have are sorted by and left
        out. The rows are written in batches; the file gets its name only when it is complete.
        """
        row_schema = arrow_schema(row)
        unsorted_table = expr.select(list(dict.fromkeys([*row_schema.names, *order_by])))
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished_file = clear_place(path.with_name(path.name + ".part"))
        with pq.ParquetWriter(unfinished_file, row_schema, compression="zstd") as writer:
            row_count = 0
            with closing(self._sorted_batches(unsorted_table, order_by)) as batches:
                declared_batches = (declared(batch, row_schema, path.name) for batch in batches)
                for row_group in regrouped(declared_batches, ROW_GROUP):
                    self._note_spilled()
                    row_count += row_group.num_rows
                    writer.write_table(row_group, row_group_size=ROW_GROUP)
        unfinished_file.replace(path)
        return row_count

    def rows(self, expr: ir.Table) -> list[dict[str, Any]]:
        """Return the rows of a small table as dictionaries, in no particular order."""
        with closing(self._batches(expr)) as batches:
            return [row for batch in batches for row in batch.to_pylist()]

    def keep(self, expr: ir.Table) -> ir.Table:
        """Compute a table once, store it, and return the stored table.

        It is stored as long as an expression reads it, and dropped before the next one is stored.
        Numbers get the types that the expression declares, because engines differ in those of
        counts.
        """
        self._drop_unread()
        table_name = self._new_name("kept")
        stored_table = self._keep(expr, table_name)
        self._note_spilled()
        # The table may lose its last reader while rows of another are read: drop it afterwards.
        weakref.finalize(stored_table.op(), self._unread.append, table_name)
        other_types = {
            column_name: declared_type
            for column_name, column_type in expr.schema().items()
            if column_type.is_numeric()
            and (declared_type := column_type.copy(nullable=True))
            != stored_table[column_name].type()
        }
        return stored_table.cast(other_types) if other_types else stored_table

    def _new_name(self, prefix: str) -> str:
        self._named[prefix] += 1
        return f"{prefix}_{self._named[prefix]}"

    @property
    def parts(self) -> int:
        """The number of parts to work in so that the tables of each fit into memory.

        It is chosen by the rows of the largest table that was read, and 1 where the engine divides
        the work itself.
        """
        return 1

    def _sorted_batches(
        self, table: ir.Table, order_by: Sequence[str]
    ) -> Generator[pa.RecordBatch, None, None]:
        """Yield the rows of a table in the order of `write`."""
        sort_keys = [sort_key for column_name in order_by for sort_key in _keys(table, column_name)]
        # Nothing follows the sorting, so that no engine need keep the order of a subquery.
        yield from self._batches(table.order_by(sort_keys))

    def _note_spilled(self) -> None:  # noqa: B027 - Spark's disk is not looked at
        """Remember how much lies on disk, if that is the most so far."""

    def _drop_unread(self) -> None:
        while self._unread:
            self._drop(self._unread.pop())

    @abstractmethod
    def _read(self, file_paths: list[str], schema: ibis.Schema) -> ir.Table:
        """Return the columns of a schema, cast to its types."""

    @abstractmethod
    def _keep(self, expr: ir.Table, table_name: str) -> ir.Table: ...

    @abstractmethod
    def _drop(self, table_name: str) -> None: ...

    @abstractmethod
    def _batches(self, expr: ir.Table) -> Generator[pa.RecordBatch, None, None]: ...


class _DuckDB(Engine):
    """DuckDB, told in SQL what to read and to store.

    Ibis's own `read_parquet` and `create_table` copy the whole query several times and ask DuckDB
    for a schema that is known. A view that casts keeps the casts out of every expression that
    reads it, and most of a small release's time goes into compiling expressions.
    """

    def __init__(self, connection: Any, scratch: Path, limit: int | None) -> None:
        from factdrift.builders.core.duck_sql import DuckSQL  # the half of Ibis that compiles

        super().__init__(connection, scratch)
        connection.compiler = DuckSQL()
        self._limit = limit

    @property
    def parts(self) -> int:
        return ceil(self._most_rows * _ROW_BYTES / self._limit) or 1 if self._limit else 1

    def _note_spilled(self) -> None:
        own_files = [path for path in self.scratch.iterdir() if not path.is_dir()]
        sorted_files = self.scratch.glob(f"{_SORTING}*/**/*.parquet")
        on_disk = Spilled(_bytes_on_disk(own_files), _bytes_on_disk(sorted_files))
        self.spilled = max(self.spilled, on_disk, key=sum)

    def _sorted_batches(
        self, table: ir.Table, order_by: Sequence[str]
    ) -> Generator[pa.RecordBatch, None, None]:
        if self._limit is None or self.parts == 1:
            yield from super()._sorted_batches(table, order_by)
            return
        # The tables that were worked at in parts would not fit either where they are sorted.
        range_bytes = self._limit // _RANGES_IN_MEMORY
        with TemporaryDirectory(prefix=_SORTING, dir=self.scratch) as folder:
            stored_file = Path(folder, "rows.parquet")
            stored_rows = f"SELECT {self._casts(table.schema())} FROM ({self.con.compile(table)})"  # noqa: S608 - quoted
            sort_ranges.store(self.con.con, stored_rows, stored_file, range_bytes)
            sort_values = [
                value for column_name in order_by for value in _sql_keys(table, column_name)
            ]
            range_files = sort_ranges.distribute(
                self.con.con, stored_file, sort_values, range_bytes
            )
            self._note_spilled()
            if range_files != [[stored_file]]:
                stored_file.unlink()
            for file_paths in range_files:
                range_table = self._read(list(map(str, file_paths)), table.schema())
                yield from super()._sorted_batches(range_table, order_by)
                for file_path in file_paths:
                    file_path.unlink()

    def _read(self, file_paths: list[str], schema: ibis.Schema) -> ir.Table:
        view_name = self._new_name("read")
        view_query = f"SELECT {self._casts(schema)} FROM {duck.parquet(*file_paths)}"  # noqa: S608 - quoted
        self.con.con.execute(f"CREATE TEMP VIEW {view_name} AS {view_query}")
        return ibis.table(schema, name=view_name)

    def _keep(self, expr: ir.Table, table_name: str) -> ir.Table:
        stored_schema = ibis.schema(
            {
                column_name: _with_nulls(column_type)
                for column_name, column_type in expr.schema().items()
            }
        )
        declared_columns = ", ".join(
            f"{column_name} {type_name}" for column_name, type_name in self._types(stored_schema)
        )
        self.con.con.execute(f"CREATE TEMP TABLE {table_name} ({declared_columns})")
        self.con.con.execute(f"INSERT INTO {table_name} {self.con.compile(expr)}")
        return ibis.table(stored_schema, name=table_name)

    def _casts(self, schema: ibis.Schema) -> str:
        """The columns of a schema, cast to its types, as they stand behind SELECT."""
        return ", ".join(
            f"CAST({column_name} AS {type_name}) AS {column_name}"
            for column_name, type_name in self._types(schema)
        )

    def _types(self, schema: ibis.Schema) -> list[tuple[str, str]]:
        """The quoted columns of a schema, each with DuckDB's name of its type."""
        type_mapper = self.con.compiler.type_mapper
        return [
            (duck.name(column_name), type_mapper.to_string(column_type))
            for column_name, column_type in schema.items()
        ]

    def _drop(self, table_name: str) -> None:
        # Ibis's own `drop_table` fails: Ibis 12 writes a statement that DuckDB 2 cannot read.
        self.con.con.execute(f"DROP TABLE {duck.name(table_name)}")

    def _batches(self, expr: ir.Table) -> Generator[pa.RecordBatch, None, None]:
        # Ibis's own `to_pyarrow_batches` fails: Ibis 12 calls a method that DuckDB 2 renamed.
        query_result = self.con.con.sql(self.con.compile(expr))
        fetch_batches = (
            getattr(query_result, "to_arrow_reader", None) or query_result.fetch_record_batch
        )
        yield from fetch_batches(ROW_GROUP)


class _Spark(Engine):
    def __init__(self, session: Any, scratch: Path) -> None:
        super().__init__(ibis.pyspark.connect(session), scratch)
        self.session = session

    def _read(self, file_paths: list[str], schema: ibis.Schema) -> ir.Table:
        return self._view(file_paths).select(schema.names).cast(schema)

    def _view(self, file_paths: list[str]) -> ir.Table:
        if hidden_files := [file for file in file_paths if Path(file).name.startswith((".", "_"))]:
            raise ValueError(f"Spark leaves out files with such names: {', '.join(hidden_files)}")
        view_name = self._new_name("read")
        self.session.read.parquet(*map(spark.literal, file_paths)).createOrReplaceTempView(
            view_name
        )
        return self.con.table(view_name)

    def _keep(self, expr: ir.Table, table_name: str) -> ir.Table:
        kept_folder = self.scratch / table_name
        self.con.to_parquet(expr, spark.uri(kept_folder), mode="overwrite")
        return self._view([str(kept_folder)])

    def _drop(self, table_name: str) -> None:
        shutil.rmtree(self.scratch / table_name)

    def _batches(self, expr: ir.Table) -> Generator[pa.RecordBatch, None, None]:
        # Spark writes a sorted frame as part files, whose names are in the order of the rows.
        rows_folder = Path(tempfile.mkdtemp(prefix="rows_", dir=self.scratch))
        try:
            self.con.to_parquet(expr, spark.uri(rows_folder), mode="overwrite")
            for part_path in sorted(rows_folder.glob("*.parquet")):
                with reading(part_path) as part_file:
                    yield from part_file.iter_batches(ROW_GROUP)
        finally:
            shutil.rmtree(rows_folder, ignore_errors=True)


@contextmanager
def engine(
    name: EngineName, scratch: Path, memory: str | None = None, threads: int | None = None
) -> Iterator[Engine]:
    """Open an engine, and close it at the end with all tables that it stored.

    `name` is `duckdb`, `spark` or the address of a Spark. `spark` runs in this process unless
    spark-submit, PYSPARK_SUBMIT_ARGS or SPARK_REMOTE set another place. `scratch` is a folder for
    data that does not fit into memory; on a cluster every node must see it. `memory`, such as
    `4GB`, is what DuckDB takes, most of it under its own limit, or the heap of the Spark driver.
    `threads` is the number of cores to use, by default all. An open session is joined and stays
    open. Raises `UserError` if the name is unknown, if PySpark, Java, the server, or the folder on
    its side is missing, or if tables do not fit into memory and disk.
    """
    address = _address(name)
    scratch.mkdir(parents=True, exist_ok=True)
    scratch_folder = Path(tempfile.mkdtemp(prefix="engine_", dir=scratch)).absolute()
    try:
        if name == "duckdb":
            yield from _open_duckdb(scratch_folder, memory, threads)
        else:
            with spark.session(address, scratch_folder, memory, threads) as session:
                yield _Spark(session, scratch_folder)
    finally:
        shutil.rmtree(scratch_folder, ignore_errors=True)


def ready(engine_name: EngineName, scratch: Path) -> None:
    """Raise `UserError` if an engine could not be opened; call this before long work.

    A cluster or a server is contacted once. A Spark in this process is not started.
    """
    address = _address(engine_name)
    if engine_name == "duckdb":
        return
    if spark.remote(address):
        with engine(engine_name, scratch):
            return
    spark.require(address)


def _address(engine_name: EngineName) -> str | None:
    """Return the address of a Spark, or None if the name is not an address."""
    return None if engine_name in ("duckdb", "spark") else spark.checked(engine_name)


def _open_duckdb(scratch: Path, memory: str | None, threads: int | None) -> Iterator[Engine]:
    limit = int(byte_count(memory) * _DUCKDB_SHARE) if memory else None
    limit_text = f"{limit}B" if limit else None
    connection = ibis.duckdb.connect(**duck.options(scratch, limit_text, threads, ordered=False))
    try:
        yield _DuckDB(connection, scratch, limit)
    except duckdb.OutOfMemoryException as error:
        error_text = f"{memory or 'the machine'} of memory is too little for the tables"
        hint_text = "give --memory more, or clear the disk that holds what does not fit"
        raise UserError(f"{error_text} ({str(error).splitlines()[0]})", hint=hint_text) from error
    finally:
        connection.disconnect()


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        file_paths = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        if not file_paths or not file_paths[0].is_file():
            raise UserError("no such Parquet file", where=path)
        yield from file_paths


def _with_nulls(column_type: dt.DataType) -> dt.DataType:
    """Return a type in which everything may be null, as in a table that declares nothing else."""
    if isinstance(column_type, dt.Array):
        column_type = dt.Array(_with_nulls(column_type.value_type))
    elif isinstance(column_type, dt.Struct):
        column_type = dt.Struct(
            {field_name: _with_nulls(field_type) for field_name, field_type in column_type.items()}
        )
    return column_type.copy(nullable=True)


def _bytes_on_disk(paths: Iterable[Path]) -> int:
    byte_count = 0
    for path in paths:
        with suppress(FileNotFoundError):  # DuckDB removes files meanwhile
            byte_count += path.stat().st_size
    return byte_count


def _is_id(table: ir.Table, column_name: str) -> bool:
    """Whether a column is sorted by length first; see `IDS`."""
    return column_name in IDS and table[column_name].type().is_string()


def _keys(table: ir.Table, column_name: str) -> list[Any]:
    column = table[column_name]
    sort_keys = [column.length(), column] if _is_id(table, column_name) else [column]
    return [sort_key.asc(nulls_first=True) for sort_key in sort_keys]


def _sql_keys(table: ir.Table, column_name: str) -> list[str]:
    """The same as `_keys`, in DuckDB's SQL, without the direction."""
    column = duck.name(column_name)
    return [f"length({column})", column] if _is_id(table, column_name) else [column]
