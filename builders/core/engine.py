"""Two engines for one set of Ibis expressions: embedded DuckDB, and PySpark.

A step of the relational middle says what it wants as an Ibis table; the engine reads Parquet
into such tables and writes them back. The file that `Engine.write` makes depends on the rows
alone: one order, one row group size, one schema, whatever engine and however many threads.
"""

import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import ibis
import ibis.expr.types as ir
import pyarrow as pa
import pyarrow.parquet as pq

from factdrift.builders.core import duck, spark
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.schema import ROW_GROUP, arrow_schema, declared, reading, regrouped

EngineName = str
"""`duckdb`, `spark`, or where a Spark is: `local[2]`, `spark://host:7077`, `sc://host:15002`."""

IDS = frozenset({"subject", "relation", "object", "id"})
"""Columns sorted by length, then text, so that Q9 stands before Q10."""


class Engine(ABC):
    """What runs the expressions; get one from `engine`. Tables of two engines never mix."""

    def __init__(self, con: Any, scratch: Path) -> None:
        self.con = con
        self.scratch = scratch
        self._kept = 0

    def read(self, path: Path | Sequence[Path], row: Any) -> ir.Table:
        """Parquet files, or folders of them, as one table with the columns of a row type.

        Columns that the row type does not declare are left out. `UserError` where a file is
        missing, is no Parquet, or lacks a declared column.
        """
        files = list(_files([path] if isinstance(path, Path) else path))
        schema = arrow_schema(row)
        for file in files:
            try:
                found = pq.read_schema(file)
            except pa.ArrowInvalid as error:
                raise UserError(f"not a Parquet file ({error})", where=file) from error
            if missing := [n for n in schema.names if n not in found.names]:
                raise UserError(f"no column {', '.join(missing)} for {row.__name__}", where=file)
        table = self._read([str(f) for f in files])
        types = ibis.schema(pa.schema([pa.field(f.name, f.type) for f in schema]))
        return table.select(schema.names).cast(types)

    def write(self, expr: ir.Table, path: Path, row: Any, order_by: Sequence[str]) -> int:
        """Run an expression and write its rows as one Parquet file; the number of rows.

        `order_by` names columns of the expression, ascending, nulls first, `IDS` by number;
        together they must tell any two rows apart that are not identical. They may be columns
        that the row type does not declare: these are sorted by and left out. The rows flow in
        batches; the file appears under its name only when it is whole.
        """
        schema = arrow_schema(row)
        keys = [k for name in order_by for k in _keys(expr, name)]
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(path.name + ".part")
        with pq.ParquetWriter(unfinished, schema, compression="zstd") as writer:
            rows = 0
            with closing(self._batches(expr.order_by(keys).select(schema.names))) as batches:
                flow = (declared(batch, schema, path.name) for batch in batches)
                for group in regrouped(flow, ROW_GROUP):
                    rows += group.num_rows
                    writer.write_table(group, row_group_size=ROW_GROUP)
        unfinished.replace(path)
        return rows

    def rows(self, expr: ir.Table) -> list[dict[str, Any]]:
        """A small table as Python rows, in no order."""
        with closing(self._batches(expr)) as batches:
            return [row for batch in batches for row in batch.to_pylist()]

    def keep(self, expr: ir.Table) -> ir.Table:
        """The same table, computed once and kept in scratch until the engine closes.

        Its numbers have the types that the expression declares: engines differ in those of counts.
        """
        self._kept += 1
        numbers = {n: k.copy(nullable=True) for n, k in expr.schema().items() if k.is_numeric()}
        return self._keep(expr, f"kept_{self._kept}").cast(numbers)

    @abstractmethod
    def _read(self, files: list[str]) -> ir.Table: ...

    @abstractmethod
    def _keep(self, expr: ir.Table, name: str) -> ir.Table: ...

    @abstractmethod
    def _batches(self, expr: ir.Table) -> Generator[pa.RecordBatch, None, None]: ...


class _DuckDB(Engine):
    def _read(self, files: list[str]) -> ir.Table:
        return self.con.read_parquet(
            [duck.escape_globs(file) for file in files], hive_partitioning=False
        )

    def _keep(self, expr: ir.Table, name: str) -> ir.Table:
        return self.con.create_table(name, expr, temp=True)

    def _batches(self, expr: ir.Table) -> Generator[pa.RecordBatch, None, None]:
        # Not by Ibis's `to_pyarrow_batches`: Ibis 12 calls a method that DuckDB 2 has renamed.
        result = self.con.con.sql(self.con.compile(expr))
        fetch = getattr(result, "to_arrow_reader", None) or result.fetch_record_batch
        yield from fetch(ROW_GROUP)


class _Spark(Engine):
    def __init__(self, session: Any, scratch: Path) -> None:
        super().__init__(ibis.pyspark.connect(session), scratch)
        self.session = session

    def _read(self, files: list[str]) -> ir.Table:
        if hidden := [file for file in files if Path(file).name.startswith((".", "_"))]:
            raise ValueError(f"Spark leaves out files with such names: {', '.join(hidden)}")
        self._kept += 1
        view = f"read_{self._kept}"
        self.session.read.parquet(*map(spark.literal, files)).createOrReplaceTempView(view)
        return self.con.table(view)

    def _keep(self, expr: ir.Table, name: str) -> ir.Table:
        folder = self.scratch / name
        self.con.to_parquet(expr, spark.uri(folder), mode="overwrite")
        return self._read([str(folder)])

    def _batches(self, expr: ir.Table) -> Generator[pa.RecordBatch, None, None]:
        # A globally sorted frame is written as part files whose names follow the order.
        folder = Path(tempfile.mkdtemp(prefix="rows_", dir=self.scratch))
        try:
            self.con.to_parquet(expr, spark.uri(folder), mode="overwrite")
            for part in sorted(folder.glob("*.parquet")):
                with reading(part) as file:
                    yield from file.iter_batches(ROW_GROUP)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def engine(
    name: EngineName, scratch: Path, memory: str | None = None, threads: int | None = None
) -> Iterator[Engine]:
    """Open an engine and close it again with all it kept.

    `name`: `duckdb`; `spark`, in this process, or where spark-submit, PYSPARK_SUBMIT_ARGS or
    SPARK_REMOTE say; or the address of a Spark. `scratch`: a folder for what does not fit in
    memory, on a cluster one that every node sees; `memory`: DuckDB's limit or the Spark driver's
    heap, such as `4GB`; `threads`: cores of this machine, all by default. A session that is open
    already is joined and left open. `UserError` for an unknown name, and where PySpark, Java, the
    server, or the folder on its side is missing.
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


def ready(name: EngineName, scratch: Path) -> None:
    """`UserError` where an engine could not be opened; to be asked before long work.

    A cluster or a server is met once, a Spark in this process is not started.
    """
    address = _address(name)
    if name == "duckdb":
        return
    if spark.remote(address):
        with engine(name, scratch):
            return
    spark.require(address)


def _address(name: EngineName) -> str | None:
    """Where the name says that a Spark is, if it does."""
    return None if name in ("duckdb", "spark") else spark.checked(name)


def _open_duckdb(scratch: Path, memory: str | None, threads: int | None) -> Iterator[Engine]:
    con = ibis.duckdb.connect(**duck.options(scratch, memory, threads, ordered=False))
    try:
        yield _DuckDB(con, scratch)
    finally:
        con.disconnect()


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        file_paths = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        if not file_paths or not file_paths[0].is_file():
            raise UserError("no such Parquet file", where=path)
        yield from file_paths


def _keys(expr: ir.Table, name: str) -> list[Any]:
    column = expr[name]
    keys = [column.length(), column] if name in IDS and column.type().is_string() else [column]
    return [k.asc(nulls_first=True) for k in keys]
