"""The index of a news archive: its articles, the place of each, and the lines left out."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from factdrift.builders.core import duck
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.schema import ROW_GROUP
from factdrift.builders.rows import ArticleRef, Dropped
from factdrift.builders.wmt.archive import (
    BLOCK_SIZE,
    Paths,
    find_archives,
    last_possible_day,
    line_blocks,
)
from factdrift.builders.wmt.dropped import dropped_rows
from factdrift.builders.wmt.lines import parse_day
from factdrift.builders.wmt.minhash import BANDS, HASHES
from factdrift.builders.wmt.raw import ArchiveFile, write_raw
from factdrift.builders.wmt.tables import write_rows, writing_tables

TABLES = ("articles.parquet", "dropped.parquet")
_LINE = "a line is YYYYMMDD, base64, base64 with tabs between, or JSON with date and text"
_DROP_REASONS = ("duplicate", "not_in_keep_list", "near_duplicate")
"""The drop reasons that the queries of this module give."""
_BANDS = [f"signature[{8 * band + 1}:{8 * band + 8}]" for band in range(BANDS)]
_ORDER = "day::BIGINT * (1::BIGINT << 40) + n"
"""Earlier articles have smaller numbers: by day, which may be before 1970, then by place in the
archive: the lower 40 bits."""
# Pairs that are compared at once: their signatures take 32 MB.
_PAIRS = 65_536
_START = 12
"""Bytes of a sha256 that tell any two articles of a day apart; DuckDB keeps so many in place."""
_SEPARATOR = rb"(?:\x00\x01|\\x00\\x01|\\u0000\\u0001|)"
# Matches `20190207000000000000` + separator + 64 hexadecimal digits; not a date with a time.
_KEY = re.compile(rb"(\d{8})0{12}" + _SEPARATOR + rb"([0-9a-f]{64})")
_KEY_LINE = re.compile(rb"[\"']?" + _KEY.pattern + _SEPARATOR + rb"[\"',]*\s*")


def index_archive(
    paths: Paths,
    out: Path,
    *,
    keep: Path | None = None,
    near_duplicates: float = 0,
    until: date | None = None,
    jobs: int = 1,
    memory: str = "600MB",
    block: int = BLOCK_SIZE,
    say: Callable[[str], None] = lambda text: None,
) -> None:
    """Read archives and write `articles.parquet` and `dropped.parquet` into `out`.

    `paths`: files, globs or folders of `news-docs.YYYY.en.filtered.gz` (also plain, bz2, zst), or
    of records with `date` and `text` (JSON lines, Parquet). Articles are `rows.ArticleRef` sorted
    by day, then id. Of articles with one id the first in the archive stays. `keep`: a list of ids
    (`wmt_sorting_key_ids.txt.gz`); all others are left out. `near_duplicates`: the similarity
    from which an article is left out beside an earlier one (0: none is), see
    `builders.wmt.minhash`. `until`: the last day; a WMT file has none after its year either.
    `jobs`: processes that compute signatures for `near_duplicates`, and threads of the sorting.
    `memory`: DuckDB's limit. `block`: bytes parsed at a time. The tables are the same, byte for
    byte, for any number of jobs and any block. What was left out is `rows.Dropped` of step `read`,
    item `file:line`: too_few_fields, malformed_line, bad_date, future_date, bad_base64, bad_utf8,
    empty_text, no_sentences, not_in_keep_list, duplicate, near_duplicate.

    `UserError`: no such file, damaged or cut short, no article in it. Source: StreamingQA (arXiv
    2205.11388) section 3 and its `extraction.py`.
    """
    archive_paths = find_archives(paths)
    with writing_tables(out, TABLES) as scratch:
        archive_files = [
            ArchiveFile(number, path, last_possible_day(path, until))
            for number, path in enumerate(archive_paths)
        ]
        article_counts = write_raw(archive_files, scratch, near_duplicates > 0, jobs, block)
        if not any(article_counts):
            raise UserError("no line of it is an article", where=archive_paths[0], hint=_LINE)
        with duck.connect(scratch, memory, max(jobs, 1), ordered=False) as connection:
            _load(connection, scratch, archive_paths, article_counts)
            if keep is not None:
                _leave_out_unlisted(connection, keep)
            _leave_out_equal_ids(connection)
            if near_duplicates:
                _leave_out_near_duplicates(connection, near_duplicates)
            articles = connection.sql(_ARTICLES).to_arrow_reader(ROW_GROUP)
            write_rows(scratch / TABLES[0], ArticleRef, articles)
            left_out = connection.sql(_LEFT_OUT).to_arrow_reader(ROW_GROUP)
            dropped = dropped_rows(scratch, [path.name for path in archive_paths], left_out)
            write_rows(scratch / TABLES[1], Dropped, dropped)
    kept_count, dropped_count = (pq.read_metadata(out / name).num_rows for name in TABLES)
    say(f"{kept_count:,} articles of {kept_count + dropped_count:,} lines")


def _load(
    connection: Any, table_folder: Path, files: Sequence[Path], article_counts: Sequence[int]
) -> None:
    """Make the tables of lines; `remaining` are the articles that are not `left_out`."""
    articles_before = accumulate(article_counts, initial=0)
    file_rows = [
        (number, path.name, first)
        for number, (path, first) in enumerate(zip(files, articles_before, strict=False))
    ]
    connection.execute("CREATE TABLE files (file INTEGER, name VARCHAR, before BIGINT)")
    connection.executemany("INSERT INTO files VALUES (?, ?, ?)", file_rows)
    table_paths = [duck.escape_globs(path) for path in sorted(table_folder.glob("raw-*.parquet"))]
    connection.read_parquet(table_paths).create_view("rows_of_files")
    connection.execute("""
        CREATE VIEW raw AS
        SELECT before + row AS n, r.* FROM rows_of_files r JOIN files USING (file)
    """)
    connection.execute(
        "CREATE TABLE left_out (n BIGINT, reason VARCHAR, score DOUBLE, first BIGINT)"
    )
    connection.execute("CREATE VIEW remaining AS FROM raw ANTI JOIN left_out USING (n)")


def _leave_out_equal_ids(connection: Any) -> None:
    """Leave out every article with the id of an earlier one in the archive."""
    connection.execute("""
        INSERT INTO left_out
        SELECT r.n, 'duplicate', NULL, f.n FROM remaining r JOIN (
            SELECT day, sha256, min(n) AS n FROM remaining GROUP BY ALL HAVING count(*) > 1
        ) f USING (day, sha256) WHERE r.n > f.n
    """)


def _leave_out_unlisted(connection: Any, keep: Path) -> None:
    connection.execute("CREATE TABLE listed (day INTEGER, start BLOB)")
    for batch in _listed_ids(keep):
        _insert(connection, "listed", batch)
    connection.execute(f"""
        INSERT INTO left_out SELECT n, 'not_in_keep_list', NULL, NULL FROM remaining r
        ANTI JOIN listed l ON r.day = l.day AND r.sha256[1:{_START}] = l.start
    """)  # noqa: S608
    connection.execute("DROP TABLE listed")


def _insert(connection: Any, table: str, batch: pa.RecordBatch | pa.Table) -> None:
    connection.register("rows_of_batch", batch)
    connection.execute(f"INSERT INTO {table} FROM rows_of_batch")
    connection.unregister("rows_of_batch")


def _listed_ids(path: Path) -> Iterator[pa.RecordBatch]:
    """The ids of a list, plain or compressed, one a line, as `day` and `start`.

    `day` is days since 1970-01-01; `start` the first bytes of the sha256. The published list has
    11.4 million ids. Separators may be written as they are, as escapes, or left out. `UserError`:
    a line is no id.
    """
    day_numbers: dict[bytes, int] = {}
    lines_before = 0
    for line_block in line_blocks(path):
        id_matches = _KEY.findall(line_block.data)
        if len(id_matches) != line_block.data.count(b"\n") - line_block.data.count(b"\n\n") + (
            line_block.data[-1:] != b"\n"
        ):
            _refuse(path, line_block.data, lines_before)
        lines_before += line_block.lines()
        if not id_matches:
            continue
        for digits in {day_digits for day_digits, _ in id_matches} - day_numbers.keys():
            if (day := parse_day(digits)) is None:
                raise UserError(f"{digits.decode()} is not a day", where=path)
            day_numbers[digits] = day
        digest_starts = [bytes.fromhex(digits[: 2 * _START].decode()) for _, digits in id_matches]
        listed_days = pa.array([day_numbers[day] for day, _ in id_matches], pa.int32())
        yield pa.record_batch({"day": listed_days, "start": pa.array(digest_starts, pa.binary())})


def _refuse(path: Path, data: bytes, lines_before: int) -> None:
    """Raise `UserError` at the first line that is no id; empty lines may stand anywhere."""
    for number, line in enumerate(data.split(b"\n"), lines_before + 1):
        if line.strip() and not _KEY_LINE.fullmatch(line):
            raise UserError(f"not an article's id: {line[:60]!r}", where=path, line=number)


def _leave_out_near_duplicates(connection: Any, threshold: float) -> None:
    """Compare every article with the earliest one of each of its bands."""
    connection.execute("CREATE TABLE pairs (o BIGINT, first BIGINT)")
    for band in _BANDS:
        connection.execute(f"""
            INSERT INTO pairs SELECT {_ORDER}, f.o FROM remaining r JOIN (
                SELECT {band} AS band, min({_ORDER}) AS o FROM remaining
                GROUP BY 1 HAVING count(*) > 1
            ) f ON r.{band} = f.band WHERE {_ORDER} > f.o
        """)  # noqa: S608
    connection.execute("CREATE TABLE near_pairs (o BIGINT, first BIGINT, score DOUBLE)")
    connection.execute(f"""
        CREATE TABLE compared AS SELECT {_ORDER} AS o, signature
        FROM raw WHERE {_ORDER} IN (SELECT o FROM pairs UNION SELECT first FROM pairs)
    """)  # noqa: S608
    signature_pairs = connection.cursor().sql("""
        SELECT p.o, p.first, a.signature, b.signature FROM (SELECT DISTINCT o, first FROM pairs) p
        JOIN compared a ON a.o = p.o JOIN compared b ON b.o = p.first
    """)
    for batch in signature_pairs.to_arrow_reader(_PAIRS):
        later_orders, earlier_orders, *signatures = batch.columns
        later_hashes, earlier_hashes = (
            np.frombuffer(b"".join(side.to_pylist()), "<u2").reshape(-1, HASHES)
            for side in signatures
        )
        similarity = (later_hashes == earlier_hashes).mean(axis=1)
        above_threshold = pa.array((similarity >= threshold).tolist(), pa.bool_())
        columns = [
            column.filter(above_threshold)
            for column in (later_orders, earlier_orders, pa.array(similarity.tolist()))
        ]
        _insert(connection, "near_pairs", pa.table(columns, names=["o", "first", "score"]))
    connection.execute("""
        INSERT INTO left_out
        SELECT o & ((1::BIGINT << 40) - 1), 'near_duplicate', max(score),
            min_by(first, (-score, first)) & ((1::BIGINT << 40) - 1)
        FROM near_pairs GROUP BY o
    """)


_ARTICLES = """
    SELECT strftime(date, '%Y%m%d') || '000000000000' || mark || hex || mark AS id, date AS day,
        days * 86400 AS ts, name AS file, line, sentences, hex AS sha256
    FROM (
        SELECT *, DATE '1970-01-01' + day AS date, day::BIGINT AS days, lower(hex(sha256)) AS hex,
            chr(0) || chr(1) AS mark
        FROM remaining JOIN files USING (file)
    ) ORDER BY days, hex
"""
"""`rows.ArticleRef` by day and sha256."""
_LEFT_OUT = """
    SELECT r.file, r.line, g.reason, g.score, 'as ' || e.name || ':' || o.line AS detail
    FROM left_out g JOIN raw r USING (n) LEFT JOIN raw o ON o.n = g.first
    LEFT JOIN files e ON e.file = o.file ORDER BY r.file, r.line
"""
"""Articles that were left out, as `dropped.LINE_COLUMNS`, in the order of the archive."""
