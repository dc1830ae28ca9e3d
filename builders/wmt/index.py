"""The table of a news archive: which articles it has, where each lies, and what was left out."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from factdrift.builders.core import duck
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.schema import arrow_schema, regrouped
from factdrift.builders.rows import ArticleRef, Dropped
from factdrift.builders.wmt.archive import BLOCK, Paths, blocks, find_archives, last_day
from factdrift.builders.wmt.lines import days_of
from factdrift.builders.wmt.minhash import BANDS, similarity
from factdrift.builders.wmt.raw import ArchiveFile, FileCounts, write_raw
from factdrift.builders.wmt.tables import ROW_GROUP, column, in_hex, keys, texts, writing_tables

TABLES = ("articles.parquet", "dropped.parquet", "read.json")
_LINE = "a line is YYYYMMDD, base64, base64 with tabs between, or JSON with date and text"
_BANDS = [f"b{i}" for i in range(BANDS)]
_ORDER = "day::BIGINT * (1::BIGINT << 40) + n"
"""Earlier articles have smaller numbers: by day, which may be before 1970, then by place in the
archive: the lower 40 bits."""
_PAIRS = 65_536
_SEPARATOR = rb"(?:\x00\x01|\\x00\\x01|\\u0000\\u0001|)"
_KEY = re.compile(rb"(\d{8})0{12}" + _SEPARATOR + rb"([0-9a-f]{64})")
_KEY_LINE = re.compile(rb"[\"']?" + _KEY.pattern + _SEPARATOR + rb"[\"',]*\s*")


def index(
    paths: Paths,
    out: Path,
    *,
    keep: Path | None = None,
    near_duplicates: float = 0,
    until: date | None = None,
    jobs: int = 1,
    memory: str = "600MB",
    block: int = BLOCK,
    say: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Read archives and write `articles.parquet`, `dropped.parquet` and `read.json` into `out`.

    `paths`: files, globs or folders of `news-docs.YYYY.en.filtered.gz` (also plain, bz2, zst), or
    of records with `date` and `text` (JSON lines, Parquet). Articles are `rows.ArticleRef` sorted
    by day, then id. Of articles with one id the first in the archive stays. `keep`: a list of ids
    (`wmt_sorting_key_ids.txt.gz`); all others are left out. `near_duplicates`: the similarity
    from which an article is left out beside an earlier one (0: none is), see
    `builders.wmt.minhash`. `until`: the last day; a WMT file has none after its year either.
    `memory`: DuckDB's limit. `block`: bytes parsed at a time. The tables are the same, byte for
    byte, for any number of jobs and any block. What was left out is `rows.Dropped` of step `read`,
    item `file:line`: too_few_fields, malformed_line, bad_date, future_date, bad_base64, bad_utf8,
    empty_text, no_sentences, not_in_keep_list, duplicate, near_duplicate.

    Returns the content of `read.json`: counts of lines, articles and drops. `UserError`: no such
    file, damaged or cut short, no article in it. Source: StreamingQA (arXiv 2205.11388) section 3
    and its `extraction.py`.
    """
    files = find_archives(paths)
    if not 0 <= near_duplicates <= 1:
        raise UserError(f"near_duplicates is a similarity from 0 to 1, not {near_duplicates}")
    with writing_tables(out, TABLES) as scratch:
        given = [ArchiveFile(n, path, last_day(path, until)) for n, path in enumerate(files)]
        counts = write_raw(given, scratch, near_duplicates > 0, jobs, block)
        if not any(c.articles for c in counts):
            raise UserError("no line of it is an article", where=files[0], hint=_LINE)
        with duck.connect(scratch, memory, max(jobs, 1), ordered=False) as con:
            _load(con, scratch, files, counts)
            if keep is not None:
                _leave_out_unlisted(con, keep)
            _leave_out_equal_ids(con)
            if near_duplicates:
                _leave_out_near_duplicates(con, near_duplicates)
            _write(ArticleRef, _articles(con), scratch / TABLES[0])
            _write(Dropped, _dropped(con), scratch / TABLES[1])
            summary = _summary(con, files, counts)
        text = json.dumps(summary, indent=1, sort_keys=True, ensure_ascii=False)
        (scratch / TABLES[2]).write_text(text + "\n", "utf-8")
    say(f"{summary['articles']:,} articles of {summary['lines']:,} lines")
    return summary


def _load(con: Any, folder: Path, files: Sequence[Path], counts: Sequence[FileCounts]) -> None:
    """Make the tables of lines; `remaining` are the articles that are not `left_out`.

    They hold numbers alone, which are cheap to sort; texts are made when rows are written.
    """
    before = accumulate((c.articles for c in counts), initial=0)
    named = [
        (n, path.name, first) for n, (path, first) in enumerate(zip(files, before, strict=False))
    ]
    con.execute("CREATE TABLE files (file INTEGER, name VARCHAR, before BIGINT)")
    con.executemany("INSERT INTO files VALUES (?, ?, ?)", named)
    for kind, view in (("raw", "rows_of_files"), ("bad", "bad")):
        tables = [duck.plain(p) for p in sorted(folder.glob(f"{kind}-*.parquet"))]
        con.read_parquet(tables).create_view(view)
    con.execute("""
        CREATE VIEW raw AS
        SELECT before + row AS n, r.* FROM rows_of_files r JOIN files USING (file)
    """)
    con.execute("CREATE TABLE left_out (n BIGINT, reason VARCHAR, score DOUBLE, first BIGINT)")
    con.execute("CREATE VIEW remaining AS FROM raw ANTI JOIN left_out USING (n)")


def _leave_out_equal_ids(con: Any) -> None:
    """Of articles with one id, the first in the archive stays."""
    con.execute("""
        INSERT INTO left_out
        SELECT r.n, 'duplicate', NULL, f.n FROM remaining r JOIN (
            SELECT day, d0, d1, d2, d3, min(n) AS n FROM remaining GROUP BY ALL HAVING count(*) > 1
        ) f USING (day, d0, d1, d2, d3) WHERE r.n > f.n
    """)


def _leave_out_unlisted(con: Any, keep: Path) -> None:
    con.execute("CREATE TABLE listed (day INTEGER, d0 UBIGINT, d1 UBIGINT)")
    for batch in _listed_ids(keep):
        _insert(con, "listed", batch)
    con.execute("""
        INSERT INTO left_out SELECT n, 'not_in_keep_list', NULL, NULL
        FROM remaining ANTI JOIN listed USING (day, d0, d1)
    """)
    con.execute("DROP TABLE listed")


def _insert(con: Any, table: str, batch: pa.RecordBatch | pa.Table) -> None:
    con.register("rows_of_batch", batch)
    con.execute(f"INSERT INTO {table} FROM rows_of_batch")
    con.unregister("rows_of_batch")


def _listed_ids(path: Path) -> Iterator[pa.RecordBatch]:
    """The ids of a list, plain or compressed, one a line, as `day`, `d0`, `d1`.

    `day` is days since 1970-01-01; `d0` and `d1` are the first 16 bytes of the sha256, enough to
    tell any two articles of a day apart. The published list has 11.4 million ids. Separators may
    be written as they are, as escapes, or left out. `UserError`: a line is no id.
    """
    known: dict[bytes, int] = {}
    before = 0
    for block in blocks(path):
        found = _KEY.findall(block.data)
        if len(found) != block.data.count(b"\n") - block.data.count(b"\n\n") + (
            block.data[-1:] != b"\n"
        ):
            _refuse(path, block.data, before)
        before += block.lines()
        if not found:
            continue
        for digits in {d for d, _ in found} - known.keys():
            if (day := days_of(digits)) is None:
                raise UserError(f"{digits.decode()} is not a day", where=path)
            known[digits] = day
        digest = np.frombuffer(bytes.fromhex(b"".join([h for _, h in found]).decode()), ">u8")
        parts = digest.reshape(-1, 4).astype(np.uint64)
        yield pa.record_batch(
            {
                "day": pa.array(np.array([known[d] for d, _ in found], np.int32)),
                "d0": pa.array(np.ascontiguousarray(parts[:, 0])),
                "d1": pa.array(np.ascontiguousarray(parts[:, 1])),
            }
        )


def _refuse(path: Path, data: bytes, before: int) -> None:
    """Raise `UserError` at the first line that is no id; empty lines may stand anywhere."""
    for number, line in enumerate(data.split(b"\n"), before + 1):
        if line.strip() and not _KEY_LINE.fullmatch(line):
            raise UserError(f"not an article's id: {line[:60]!r}", where=path, line=number)


def _leave_out_near_duplicates(con: Any, threshold: float) -> None:
    """Compare every article with the earliest one of each of its bands."""
    con.execute("CREATE TABLE pairs (o BIGINT, first BIGINT)")
    for band in _BANDS:
        con.execute(f"""
            INSERT INTO pairs SELECT {_ORDER}, f.o FROM remaining r JOIN (
                SELECT {band}, min({_ORDER}) AS o FROM remaining GROUP BY 1 HAVING count(*) > 1
            ) f USING ({band}) WHERE {_ORDER} > f.o
        """)  # noqa: S608
    con.execute("CREATE TABLE near_pairs (o BIGINT, first BIGINT, score DOUBLE)")
    con.execute(f"""
        CREATE TABLE compared AS SELECT {_ORDER} AS o, {", ".join(_BANDS)}
        FROM raw WHERE {_ORDER} IN (SELECT o FROM pairs UNION SELECT first FROM pairs)
    """)  # noqa: S608
    sides = [f"{side}.{band}" for side in "ab" for band in _BANDS]
    reader = con.cursor().sql(f"""
        SELECT p.o, p.first, {", ".join(sides)} FROM (SELECT DISTINCT o, first FROM pairs) p
        JOIN compared a ON a.o = p.o JOIN compared b ON b.o = p.first
    """)  # noqa: S608
    for batch in reader.to_arrow_reader(_PAIRS):
        columns = [c.to_numpy() for c in batch.columns]
        a, b = (np.column_stack(columns[at : at + BANDS]) for at in (2, 2 + BANDS))
        score = similarity(a, b)
        enough = score >= threshold
        columns = [columns[0][enough], columns[1][enough], score[enough]]
        _insert(con, "near_pairs", pa.table(columns, names=["o", "first", "score"]))
    con.execute("""
        INSERT INTO left_out
        SELECT o & ((1::BIGINT << 40) - 1), 'near_duplicate', max(score),
            min_by(first, (-score, first)) & ((1::BIGINT << 40) - 1)
        FROM near_pairs GROUP BY o
    """)


def _write(kind: Any, rows: Iterable[pa.RecordBatch], path: Path) -> None:
    """Write ordered rows as Parquet with the columns of a row type; they flow in batches."""
    schema = arrow_schema(kind)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for group in regrouped(rows, ROW_GROUP):
            writer.write_table(group.cast(schema), row_group_size=ROW_GROUP)


def _batches(con: Any, query: str) -> Iterator[pa.RecordBatch]:
    yield from con.sql(query).to_arrow_reader(ROW_GROUP)


def _dropped(con: Any) -> Iterator[pa.RecordBatch]:
    """The columns of `rows.Dropped`, in the order of the archive."""
    return _batches(
        con,
        """
        SELECT 'read' AS step, reason, f.name || ':' || line AS item, NULL AS subject,
            NULL AS relation, NULL AS period, score, detail
        FROM (
            SELECT file, line, reason, NULL::DOUBLE AS score, detail FROM bad
            UNION ALL BY NAME
            SELECT r.file, r.line, g.reason, g.score, 'as ' || e.name || ':' || o.line AS detail
            FROM left_out g JOIN raw r USING (n) LEFT JOIN raw o ON o.n = g.first
            LEFT JOIN files e ON e.file = o.file
        ) JOIN files f USING (file) ORDER BY file, line
        """,
    )


def _articles(con: Any) -> Iterator[pa.RecordBatch]:
    """The columns of `rows.ArticleRef`, by day and sha256."""
    schema = arrow_schema(ArticleRef)
    named = pa.Table.from_batches(_batches(con, "SELECT name FROM files ORDER BY file"))
    names = named["name"].combine_chunks()
    query = """
        SELECT day, file, line, sentences, d0, d1, d2, d3 FROM remaining
        ORDER BY day, d0, d1, d2, d3
    """
    for batch in _batches(con, query):
        day, file, line, sentences, *digest = batch.columns
        sha256 = in_hex(np.column_stack([np.from_dlpack(d) for d in digest]))
        days: Any = np.from_dlpack(day)
        columns = [
            texts(keys(days, sha256)),
            day.cast(pa.date32()),
            column(days.astype(np.int64) * 86_400, pa.int64()),
            names.take(file),
            line,
            sentences,
            texts(sha256),
        ]
        yield pa.RecordBatch.from_arrays(columns, names=schema.names)


def _summary(con: Any, files: Sequence[Path], counts: Sequence[FileCounts]) -> dict[str, Any]:
    """The content of `read.json`: lines, articles and drops, in all, by year and by file."""
    years = con.execute(
        """SELECT year(DATE '1970-01-01' + day), count(*), count(DISTINCT day)
        FROM remaining GROUP BY 1 ORDER BY 1"""
    ).fetchall()
    reasons = con.execute("""
        SELECT reason, count(*)
        FROM (SELECT reason FROM bad UNION ALL SELECT reason FROM left_out) GROUP BY 1
    """).fetchall()
    kept = dict(
        con.execute(
            "SELECT name, count(*) FROM remaining JOIN files USING (file) GROUP BY 1"
        ).fetchall()
    )
    return {
        "lines": sum(c.lines for c in counts),
        "articles": sum(kept.values()),
        "dropped": dict(reasons),
        "years": {str(y): {"articles": n, "days": days} for y, n, days in years},
        "files": {
            f.name: {"lines": c.lines, "articles": kept.get(f.name, 0)}
            for f, c in zip(files, counts, strict=True)
        },
    }
