"""The table of a news archive: which articles it has, where each lies, and what was left out."""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from builders.errors import UserError
from builders.rows import ArticleRef, Dropped
from builders.schema import arrow_schema, regrouped
from builders.wmt.archive import BLOCK, Paths, find_archives, last_day
from builders.wmt.judge import judge
from builders.wmt.near import DEFAULT
from builders.wmt.raw import Counts, Task, write_raw
from builders.wmt.tables import ROW_GROUP, column, in_hex, keys, texts

TABLES = ("articles.parquet", "dropped.parquet", "read.json")
_LINE = "a line is YYYYMMDD, base64, base64 with tabs between, or JSON with date and text"


@dataclass(frozen=True)
class Indexed:
    """The tables of one archive, and what was counted: the content of `read.json`."""

    articles: Path
    dropped: Path
    summary: Path
    counts: Mapping[str, Any]


def index(
    paths: Paths,
    out: Path,
    *,
    keep: Path | None = None,
    near_duplicates: bool | float = False,
    until: date | None = None,
    jobs: int = 1,
    memory: str = "600MB",
    block: int = BLOCK,
    say: Callable[[str], None] = lambda text: None,
) -> Indexed:
    """Read archives and write `articles.parquet`, `dropped.parquet` and `read.json` into `out`.

    `paths`: files, globs or folders of `news-docs.YYYY.en.filtered.gz` (also plain, bz2, zst), or
    of records with `date` and `text` (JSON lines, Parquet). Articles are `rows.ArticleRef` sorted
    by day, then id. Of articles with one id the first in the archive stays. `keep`: a list of ids
    (`wmt_sorting_key_ids.txt.gz`); all others are left out. `near_duplicates`: the similarity
    (True: 0.8) from which an article is left out beside an earlier one, see `builders.wmt.near`.
    `until`: the last day; a WMT file has none after its year either. `memory`: DuckDB's limit.
    `block`: bytes parsed at a time. The tables are the same, byte for byte, for any number of
    jobs and any block. What was left out is `rows.Dropped` of step `read`, item `file:line`:
    too_few_fields, malformed_line, bad_date, future_date, bad_base64, bad_utf8, empty_text,
    no_sentences, not_in_keep_list, duplicate, near_duplicate.

    `UserError`: no such file, damaged or cut short, no article in it. Source: StreamingQA
    (arXiv 2205.11388) section 3 and its `extraction.py`.
    """
    files = find_archives(paths)
    threshold = DEFAULT if near_duplicates is True else float(near_duplicates)
    if not 0 <= threshold <= 1:
        raise UserError(f"near_duplicates is a similarity from 0 to 1, not {threshold}")
    scratch = out / ".reading"
    shutil.rmtree(scratch, ignore_errors=True)
    try:
        scratch.mkdir(parents=True)
        tasks = [Task(n, path, last_day(path, until)) for n, path in enumerate(files)]
        counts = write_raw(tasks, scratch, threshold > 0, jobs, block)
        if not any(c.articles for c in counts):
            raise UserError("no line of it is an article", where=files[0], hint=_LINE)
        named = [(f.name, c.articles) for f, c in zip(files, counts, strict=True)]
        with duckdb.connect(config=_settings(scratch, memory, jobs)) as con:
            judge(con, scratch, named, keep, threshold)
            _write(ArticleRef, _articles(con), scratch / TABLES[0])
            _write(Dropped, _dropped(con), scratch / TABLES[1])
            summary = _summary(con, files, counts)
        text = json.dumps(summary, indent=1, sort_keys=True, ensure_ascii=False)
        (scratch / TABLES[2]).write_text(text + "\n", "utf-8")
        (out / TABLES[2]).unlink(missing_ok=True)
        for name in TABLES:  # the summary last: where it is, the tables are whole
            (scratch / name).replace(out / name)
    except OSError as error:
        raise UserError.of_disk(error, out) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    say(f"{summary['articles']:,} articles of {summary['lines']:,} lines")
    kept, dropped, about = (out / name for name in TABLES)
    return Indexed(kept, dropped, about, summary)


def _settings(scratch: Path, memory: str, jobs: int) -> dict[str, Any]:
    return {
        "temp_directory": str(scratch / "spilled"),
        "memory_limit": memory,
        "threads": max(jobs, 1),
        "preserve_insertion_order": False,
        "autoinstall_known_extensions": False,
    }


def _write(kind: Any, rows: Iterable[pa.RecordBatch], path: Path) -> None:
    """Write ordered rows as Parquet with the columns of a row type; they flow in batches."""
    schema = arrow_schema(kind)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for group in regrouped(rows, ROW_GROUP):
            writer.write_table(group.cast(schema), row_group_size=ROW_GROUP)


def _batches(con: Any, query: str) -> Iterator[pa.RecordBatch]:
    found = con.sql(query)
    fetch = getattr(found, "to_arrow_reader", None) or found.fetch_record_batch
    yield from fetch(ROW_GROUP)


def _dropped(con: Any) -> Iterator[pa.RecordBatch]:
    columns = ", ".join(arrow_schema(Dropped).names)
    return _batches(con, f"SELECT {columns} FROM dropped ORDER BY file_number, line")  # noqa: S608


def _articles(con: Any) -> Iterator[pa.RecordBatch]:
    """The columns of `rows.ArticleRef`, by day and sha256."""
    schema = arrow_schema(ArticleRef)
    named = pa.Table.from_batches(_batches(con, "SELECT name FROM files ORDER BY file"))
    names = named["name"].combine_chunks()
    for batch in _batches(con, "FROM articles ORDER BY day, d0, d1, d2, d3"):
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


def _summary(con: Any, files: Sequence[Path], counts: Sequence[Counts]) -> dict[str, Any]:
    """The content of `read.json`: lines, articles and drops, in all, by year and by file."""
    years = con.execute(
        """SELECT year(DATE '1970-01-01' + day), count(*), count(DISTINCT day)
        FROM articles GROUP BY 1 ORDER BY 1"""
    ).fetchall()
    reasons = con.execute("SELECT reason, count(*) FROM dropped GROUP BY 1").fetchall()
    kept = dict(
        con.execute(
            "SELECT name, count(*) FROM articles JOIN files USING (file) GROUP BY 1"
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
