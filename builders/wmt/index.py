"""The table of a news archive: which articles it has, where each lies, and what was left out."""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from builders.engine import Engine, engine
from builders.errors import UserError
from builders.rows import ArticleRef, Dropped
from builders.wmt.archive import BLOCK, Block, Paths, find_archives, last_day
from builders.wmt.judge import judge
from builders.wmt.lines import Parsed, parse_given
from builders.wmt.near import BANDS, DEFAULT
from builders.wmt.spread import over_blocks

TABLES = ("articles.parquet", "dropped.parquet", "read.json")
_ROWS = 65_536


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
        totals = _read(files, scratch, until, threshold > 0, jobs, block)
        with engine("duckdb", scratch, memory, max(jobs, 1)) as duck:
            judge(duck, scratch, [f.name for f in files], keep, threshold)
            articles = duck.write(
                duck.con.table("articles"),
                scratch / TABLES[0],
                ArticleRef,
                ("day", "d0", "d1", "d2", "d3"),
            )
            order = ("file_number", "line")
            duck.write(duck.con.table("dropped"), scratch / TABLES[1], Dropped, order)
            summary = _summary(duck, files, totals)
        text = json.dumps(summary, indent=1, sort_keys=True, ensure_ascii=False)
        (scratch / TABLES[2]).write_text(text + "\n", "utf-8")
        (out / TABLES[2]).unlink(missing_ok=True)
        for name in TABLES:  # the summary last: where it is, the tables are whole
            (scratch / name).replace(out / name)
    except OSError as error:
        text = f"cannot be written: {error.strerror or error}"
        raise UserError(text, where=error.filename or out) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    say(f"{articles:,} articles of {sum(totals):,} lines")
    kept, dropped, about = (out / name for name in TABLES)
    return Indexed(kept, dropped, about, summary)


def _read(
    files: Sequence[Path], scratch: Path, until: date | None, near: bool, jobs: int, block: int
) -> list[int]:
    """Write what the lines hold into `raw.parquet` and `bad.parquet`; lines of each file."""
    lasts = [last_day(f, until) for f in files]
    lines, good = [0] * len(files), [0] * len(files)

    def about(file: int, found: Block) -> tuple[date, bool]:
        return lasts[file], near

    raw_schema = _raw_schema(near)
    with (
        _Table(scratch / "raw.parquet", raw_schema) as raw,
        _Table(scratch / "bad.parquet", _BAD) as bad,
    ):
        for (file, first), found in over_blocks(files, parse_given, about, jobs=jobs, block=block):
            lines[file] += found.lines
            raw.add(_columns(file, first, found, sum(good)))
            good[file] += len(found.line)
            if found.bad:
                at, reasons, details = zip(*found.bad, strict=True)
                numbers = [file] * len(at), [first + n for n in at]
                bad.add([*numbers, list(reasons), list(details)])
    if not any(good):
        hint = "a line is YYYYMMDD, base64, base64 with tabs between, or JSON with date and text"
        raise UserError("no line of it is an article", where=files[0], hint=hint)
    return lines


def _columns(file: int, first: int, found: Parsed, before: int) -> list[Any]:
    n = len(found.line)
    digest = np.frombuffer(found.digests, ">u8").reshape(n, 4).astype(np.uint64)
    columns = [
        np.arange(before, before + n, dtype=np.int64),
        np.full(n, file, np.int32),
        found.line.astype(np.int64) + first,
        found.day,
        found.sentences,
        *(np.ascontiguousarray(digest[:, i]) for i in range(4)),
    ]
    if found.signatures:
        bands = np.frombuffer(found.signatures, "<u8").reshape(n, BANDS)
        columns += [np.ascontiguousarray(bands[:, i]) for i in range(BANDS)]
    elif n == 0:
        return []
    return columns


_BAD = pa.schema(
    {"file": pa.int32(), "line": pa.int64(), "reason": pa.string(), "detail": pa.string()}
)


def _raw_schema(near: bool) -> pa.Schema:
    whole = {"n": pa.int64(), "file": pa.int32(), "line": pa.int64()}
    small = {"day": pa.int32(), "sentences": pa.int32()}
    bands = [f"b{i}" for i in range(BANDS)] if near else []
    return pa.schema(
        whole | small | dict.fromkeys([*(f"d{i}" for i in range(4)), *bands], pa.uint64())
    )


class _Table:
    """A table on disk that is written in pieces of at least `_ROWS` rows."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._schema = schema
        self._writer = pq.ParquetWriter(path, schema, compression="lz4", use_dictionary=False)
        self._held: list[pa.RecordBatch] = []
        self._rows = 0

    def __enter__(self) -> "_Table":
        return self

    def __exit__(self, *_: object) -> None:
        self._flush()
        self._writer.close()

    def add(self, columns: list[Any]) -> None:
        if columns:
            arrays = [pa.array(c, f.type) for c, f in zip(columns, self._schema, strict=True)]
            self._held.append(pa.RecordBatch.from_arrays(arrays, schema=self._schema))
            self._rows += self._held[-1].num_rows
        if self._rows >= _ROWS:
            self._flush()

    def _flush(self) -> None:
        if self._held:
            self._writer.write_table(pa.Table.from_batches(self._held))
        self._held, self._rows = [], 0


def _summary(duck: Engine, files: Sequence[Path], lines: list[int]) -> dict[str, Any]:
    """The content of `read.json`: lines, articles and drops, in all, by year and by file."""
    con = duck.con.con
    years = con.execute(
        "SELECT year(day), count(*), count(DISTINCT day) FROM articles GROUP BY 1 ORDER BY 1"
    ).fetchall()
    reasons = con.execute("SELECT reason, count(*) FROM dropped GROUP BY 1").fetchall()
    kept = dict(con.execute("SELECT file, count(*) FROM articles GROUP BY 1").fetchall())
    return {
        "lines": sum(lines),
        "articles": sum(kept.values()),
        "dropped": dict(reasons),
        "years": {str(y): {"articles": n, "days": days} for y, n, days in years},
        "files": {
            f.name: {"lines": n, "articles": kept.get(f.name, 0)}
            for f, n in zip(files, lines, strict=True)
        },
    }
