"""Fetch articles from an archive by their place or their id; only wanted lines are decoded."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from factdrift.builders.core.config import did_you_mean
from factdrift.builders.core.errors import UserError
from factdrift.builders.rows import Article, ArticleRef
from factdrift.builders.wmt.archive import (
    BLOCK_SIZE,
    BlockPlace,
    LineBlock,
    Paths,
    find_archives,
    map_blocks,
)
from factdrift.builders.wmt.lines import (
    ARTICLE_ID,
    WantedLines,
    decode_wanted,
    make_article,
    parse_day,
    search_block,
)

T = TypeVar("T")
_PLACES = pa.schema({"file": pa.string(), "line": pa.int64(), "sha256": pa.string()})


def read_articles(
    paths: Paths,
    wanted: Path | Iterable[ArticleRef] | Iterable[str],
    *,
    strict: bool = True,
    jobs: int = 1,
    block: int = BLOCK_SIZE,
) -> Iterator[Article]:
    """The wanted articles, each once, in the order of the archive.

    `wanted`: an `articles.parquet` (never held whole, so it may name the whole archive), rows of
    it, or ids. Rows are found by file and line; for ids the whole archive is gone through, lines
    of other days unread. `strict`: an id that the archive does not have is a `UserError`, at the
    end; else it is passed over. `jobs`: processes.

    `UserError`: damaged archive, an article's file is not there, or the archive is another one
    than the table was made from.
    """
    files = find_archives(paths)
    listed = wanted if isinstance(wanted, Path) else list(wanted)
    if isinstance(listed, list) and not all(isinstance(one, ArticleRef) for one in listed):
        yield from _by_id(files, [w for w in listed if isinstance(w, str)], strict, jobs, block)
        return
    yield from articles_at(files, listed, make_article, jobs=jobs, block=block)  # type: ignore[arg-type]


def articles_at(
    files: Sequence[Path],
    wanted: Path | Sequence[ArticleRef],
    made: Callable[[int, bytes, str], T],
    *,
    jobs: int,
    block: int,
) -> Iterator[T]:
    """What is `made` of the lines that a table of articles, or rows of it, name."""
    places = ArticlePlaces(files, wanted)
    flow = map_blocks(files, partial(decode_wanted, made), places.in_block, jobs=jobs, block=block)
    for place, (found, wrong) in flow:
        if wrong is not None:
            text = "this line is not the article that the table of articles names"
            hint = "the archive changed: index it again"
            path, line = files[place.file], place.first + wrong + 1
            raise UserError(text, where=path, line=line, hint=hint)
        yield from found


class ArticlePlaces:
    """The places of wanted articles: the lines of the file that is being read, in order.

    `wanted`: an `articles.parquet`, of which the rows of one file are held at a time, or such rows.
    """

    def __init__(self, files: Sequence[Path], wanted: Path | Sequence[ArticleRef]) -> None:
        if isinstance(wanted, Path):
            self._rows = ds.dataset(wanted, format="parquet")
        else:
            listed = {(ref.file, ref.line): ref.sha256 for ref in wanted}
            rows = [(*place, sha256) for place, sha256 in listed.items()]
            columns = zip(*rows, strict=True) if rows else ([], [], [])
            arrays = [pa.array(c, f.type) for c, f in zip(columns, _PLACES, strict=True)]
            self._rows = ds.dataset(pa.Table.from_arrays(arrays, schema=_PLACES))
        names: set[str] = set()
        for batch in self._rows.scanner(columns=["file"]).to_batches():
            names.update(pc.unique(batch.column(0)).to_pylist())
        self._names = [f.name for f in files]
        for name in sorted(names - set(self._names)):
            near = did_you_mean(name, sorted(self._names))
            hint = f"did you mean {near}?" if near else "give the archive of the table"
            raise UserError(f"the articles name the file {name}, which is not given", hint=hint)
        self._file = -1
        self._lines: Any = np.empty(0, np.int64)
        self._sha: list[str] = []

    def in_block(self, place: BlockPlace, block: LineBlock) -> WantedLines | None:
        """The wanted lines of a block; None: it has none."""
        if place.file != self._file:
            self._file = place.file
            own = pc.field("file") == self._names[place.file]
            found = self._rows.to_table(columns=["line", "sha256"], filter=own).sort_by("line")
            self._lines, self._sha = found["line"].to_numpy(), found["sha256"].to_pylist()
        first = place.first + 1
        low, high = np.searchsorted(self._lines, [first, first + block.lines()])
        if low == high:
            return None
        numbers = (self._lines[low:high] - first).tolist()
        return list(zip(numbers, map(bytes.fromhex, self._sha[low:high]), strict=True))


def _by_id(
    files: list[Path], ids: list[str], strict: bool, jobs: int, block: int
) -> Iterator[Article]:
    wanted: dict[int, set[bytes]] = {}
    missing = set[str]()
    for key in ids:
        parts = ARTICLE_ID.fullmatch(key)
        days = parse_day("".join(parts.groups()[:3]).encode()) if parts else None
        if parts and days is not None:
            wanted.setdefault(days, set()).add(bytes.fromhex(parts[4]))
            missing.add(key)
        elif strict:
            raise UserError(f"not an article's id: {key!r}")

    def still_wanted(place: BlockPlace, found: LineBlock) -> dict[int, set[bytes]] | None:
        return wanted if missing else None

    for _, articles in map_blocks(files, search_block, still_wanted, jobs=jobs, block=block):
        for article in articles:
            if article.id in missing:
                missing.discard(article.id)
                yield article
    if missing and strict:
        first = min(missing)
        raise UserError(
            f"{len(missing):,} of {len(set(ids)):,} articles are not in the archive, "
            f"the first is {first!r}",
            hint="give the archives of their years",
        )
