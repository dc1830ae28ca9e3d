"""Small tables of columns as sorted Parquet."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from builders.schema import arrow_schema

ROW_GROUP = 65_536


def write_table(path: Path, row: Any, columns: Mapping[str, Any], by: str) -> None:
    """Write columns of a row type, sorted by one of them that holds ASCII text and no value twice.

    The bytes depend on the rows alone. Memory: the table is held whole.
    """
    schema = arrow_schema(row)
    arrays = []
    order = pa.array(np.argsort(np.array(columns[by], "S"), kind="stable"))
    for field in schema:
        column = columns[field.name]
        whole = column if isinstance(column, pa.Array) else pa.array(column, field.type)
        arrays.append(whole.cast(field.type).take(order))
    table = pa.Table.from_arrays(arrays, schema=schema)
    pq.write_table(table, path, row_group_size=ROW_GROUP, compression="zstd")
