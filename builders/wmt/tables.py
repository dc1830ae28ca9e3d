"""Writing the tables of news, which appear whole or not at all."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from factdrift.builders.core.files import disk_errors
from factdrift.builders.core.schema import ROW_GROUP, arrow_schema, regrouped


@contextmanager
def writing_tables(out: Path, names: Sequence[str]) -> Iterator[Path]:
    """A scratch folder in `out`; the named files of it move into `out` at the end, in this order.

    Nothing else stays. `UserError` where the disk refuses a write.
    """
    scratch = out / ".making"
    with disk_errors(out):
        shutil.rmtree(scratch, ignore_errors=True)
        try:
            scratch.mkdir(parents=True)
            yield scratch
            for name in names:
                (scratch / name).replace(out / name)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def write_rows(path: Path, kind: Any, rows: Iterable[pa.RecordBatch]) -> None:
    """Write ordered batches of rows as Parquet, with the columns of a row type."""
    schema = arrow_schema(kind)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for group in regrouped(rows, ROW_GROUP):
            writer.write_table(group.cast(schema), row_group_size=ROW_GROUP)
