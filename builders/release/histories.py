"""What each fact's answer was at earlier times, for the harness tasks of a release.

A row asks about one time. Whether an answer is outdated also depends on the other rows of the same
fact. A harness does not see them while it scores one row, so their names stand in a file.
"""

from collections.abc import Sequence
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from factdrift.builders.core import duck
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.schema import reading
from factdrift.builders.release import manifest
from factdrift.builders.release.manifest import ConfigEntry, Manifest
from factdrift.builders.release.sql import column_sql, day_sql, first_sql, joined_sql

EARLIER = "earlier.parquet"
"""The file beside the tasks: `history`, in order, and its `names` with the first `day` of each."""
SCHEMA = pa.schema(
    [
        pa.field("history", pa.string(), nullable=False),
        pa.field("names", pa.list_(pa.struct([("name", pa.string()), ("day", pa.date32())]))),
    ]
)
# histories that are written at a time; each has some dozens of names
_ROWS = 1 << 12
# A fact whose rows all accept the same names has no earlier answer: it is left out.
_NAMES = """
    WITH names AS (
        SELECT history, unnest(targets) AS name, day FROM rows
        WHERE history IS NOT NULL AND day IS NOT NULL
    ), changing AS (
        SELECT history FROM rows WHERE day IS NOT NULL
        GROUP BY history HAVING count(DISTINCT list_sort(targets)) > 1
    ), first_days AS (
        SELECT history, name, min(day) AS day FROM names SEMI JOIN changing USING (history)
        GROUP BY ALL
    )
    SELECT history, list({'name': name, 'day': day} ORDER BY day, name) AS names
    FROM first_days GROUP BY history ORDER BY history
"""


def rows_sql(release_folder: Path, configs: Sequence[ConfigEntry]) -> str | None:
    """Return SQL for `history`, `day`, `targets` of all rows of facts with a history, or None."""
    queries = []
    for config in configs:
        roles = config.roles
        if roles is None or not roles.history or not roles.time:
            continue
        for split in config.splits:
            split_path = manifest.locate_file(release_folder, split.file)
            with reading(split_path) as split_file:
                schema = split_file.schema_arrow
            day = first_sql([day_sql(schema, name) for name in roles.time], "DATE")
            columns = f"{joined_sql(roles.history)} AS history, {day} AS day"
            queries.append(
                f"SELECT {columns}, {column_sql(roles.targets)} AS targets "  # noqa: S608
                f"FROM {duck.parquet(split_path)}"
            )
    return " UNION ALL ".join(queries) or None


def write_histories(path: Path, release_folder: Path, release_manifest: Manifest) -> bool:
    """Write the names of each fact that had several answers; return whether there is one.

    Without such a fact no file is written.
    """
    query = rows_sql(release_folder, release_manifest.configs)
    if query is None:
        return False
    try:
        with duck.connect(path.parent) as db:
            db.execute(f"CREATE VIEW rows AS {query}")
            batches = db.sql(_NAMES).to_arrow_reader(_ROWS)
            first_batch = next((batch for batch in batches if batch.num_rows), None)
            if first_batch is None:
                return False
            with pq.ParquetWriter(path, SCHEMA, compression="zstd") as writer:
                writer.write_batch(first_batch.cast(SCHEMA))
                for batch in batches:
                    writer.write_batch(batch.cast(SCHEMA))
    except duckdb.Error as error:
        raise UserError(str(error).splitlines()[0], where=release_folder) from error
    return True
