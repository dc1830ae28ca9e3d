"""Which of the articles that were read stay: the keep list, equal ids, near-duplicates (SQL)."""

import re
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from builders.wmt.keep import read_keys
from builders.wmt.near import BANDS, similarity

_NAMES = [f"b{i}" for i in range(BANDS)]
_ORDER = "day::BIGINT * (1::BIGINT << 40) + n"
"""Earlier articles have smaller numbers: by day, which may be before 1970, then by place in the
archive: the lower 40 bits."""
_PAIRS = 65_536


def judge(
    con: Any,
    folder: Path,
    files: Sequence[tuple[str, int]],
    keep: Path | None,
    threshold: float,
) -> None:
    """Make the views `articles` and `dropped` from the tables of `write_raw` in `folder`.

    `articles` has numbers alone, which are cheap to sort; their texts are made when it is read.
    `files`: the name of each file and how many articles its raw table has. `keep`: a list of ids;
    `threshold`: the similarity of near-duplicates, 0: they stay.
    """
    before = [0, *accumulate(n for _, n in files)]
    named = [(i, name, before[i]) for i, (name, _) in enumerate(files)]
    con.execute("CREATE TABLE files (file INTEGER, name VARCHAR, before BIGINT)")
    con.executemany("INSERT INTO files VALUES (?, ?, ?)", named)
    con.read_parquet(_tables(folder, "raw")).create_view("rows_of_files")
    con.read_parquet(_tables(folder, "bad")).create_view("bad")
    con.execute("""
        CREATE VIEW raw AS
        SELECT before + row AS n, r.* FROM rows_of_files r JOIN files USING (file)
    """)
    con.execute("CREATE TABLE gone (n BIGINT, reason VARCHAR, score DOUBLE, first BIGINT)")
    con.execute("CREATE VIEW left_over AS FROM raw ANTI JOIN gone USING (n)")
    if keep is not None:
        _keep(con, keep)
    con.execute("""
        INSERT INTO gone
        SELECT r.n, 'duplicate', NULL, f.n FROM left_over r JOIN (
            SELECT day, d0, d1, d2, d3, min(n) AS n FROM left_over GROUP BY ALL HAVING count(*) > 1
        ) f USING (day, d0, d1, d2, d3) WHERE r.n > f.n
    """)
    if threshold:
        _near(con, threshold)
    con.execute("""
        CREATE VIEW articles AS
        SELECT day, file, line, sentences, d0, d1, d2, d3 FROM left_over
    """)
    con.execute("""
        CREATE VIEW dropped AS
        SELECT 'read' AS step, reason, f.name || ':' || line AS item, NULL AS subject,
            NULL AS relation, NULL AS period, score, detail, file AS file_number, line
        FROM (
            SELECT file, line, reason, NULL::DOUBLE AS score, detail FROM bad
            UNION ALL BY NAME
            SELECT r.file, r.line, g.reason, g.score, 'as ' || e.name || ':' || o.line AS detail
            FROM gone g JOIN raw r USING (n) LEFT JOIN raw o ON o.n = g.first
            LEFT JOIN files e ON e.file = o.file
        ) JOIN files f USING (file)
    """)


def _tables(folder: Path, kind: str) -> list[str]:
    """The tables of a kind, as DuckDB's patterns that match no other file."""
    paths = sorted(folder.glob(f"{kind}-*.parquet"))
    return [re.sub(r"([*?\[])", r"[\1]", str(p)) for p in paths]


def _keep(con: Any, keep: Path) -> None:
    con.execute("CREATE TABLE listed (day INTEGER, d0 UBIGINT, d1 UBIGINT)")
    for batch in read_keys(keep):
        con.register("rows_of_batch", batch)
        con.execute("INSERT INTO listed FROM rows_of_batch")
        con.unregister("rows_of_batch")
    con.execute("""
        INSERT INTO gone SELECT n, 'not_in_keep_list', NULL, NULL
        FROM left_over ANTI JOIN listed USING (day, d0, d1)
    """)
    con.execute("DROP TABLE listed")


def _near(con: Any, threshold: float) -> None:
    """Compare every article with the earliest one of each of its bands."""
    con.execute("CREATE TABLE pairs (o BIGINT, first BIGINT)")
    for band in _NAMES:
        con.execute(f"""
            INSERT INTO pairs SELECT {_ORDER}, f.o FROM left_over r JOIN (
                SELECT {band}, min({_ORDER}) AS o FROM left_over GROUP BY 1 HAVING count(*) > 1
            ) f USING ({band}) WHERE {_ORDER} > f.o
        """)  # noqa: S608
    con.execute("CREATE TABLE alike (o BIGINT, first BIGINT, score DOUBLE)")
    con.execute(f"""
        CREATE TABLE compared AS SELECT {_ORDER} AS o, {", ".join(_NAMES)}
        FROM raw WHERE {_ORDER} IN (SELECT o FROM pairs UNION SELECT first FROM pairs)
    """)  # noqa: S608
    sides = [f"{side}.{band}" for side in "ab" for band in _NAMES]
    reader = con.cursor().sql(f"""
        SELECT p.o, p.first, {", ".join(sides)} FROM (SELECT DISTINCT o, first FROM pairs) p
        JOIN compared a ON a.o = p.o JOIN compared b ON b.o = p.first
    """)  # noqa: S608
    fetch = getattr(reader, "to_arrow_reader", None) or reader.fetch_record_batch
    for batch in fetch(_PAIRS):
        columns = [c.to_numpy() for c in batch.columns]
        a, b = (np.column_stack(columns[at : at + BANDS]) for at in (2, 2 + BANDS))
        score = similarity(a, b)
        alike = score >= threshold
        names = {"o": columns[0][alike], "first": columns[1][alike], "score": score[alike]}
        con.register("rows_of_batch", pa.table(names))
        con.execute("INSERT INTO alike FROM rows_of_batch")
        con.unregister("rows_of_batch")
    con.execute("""
        INSERT INTO gone
        SELECT o & ((1::BIGINT << 40) - 1), 'near_duplicate', max(score),
            min_by(first, (-score, first)) & ((1::BIGINT << 40) - 1)
        FROM alike GROUP BY o
    """)
