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
    wanted_articles: Path | Iterable[ArticleRef] | Iterable[str],
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
    archive_paths = find_archives(paths)
    article_list = wanted_articles if isinstance(wanted_articles, Path) else list(wanted_articles)
    if isinstance(article_list, list) and not all(
        isinstance(article, ArticleRef) for article in article_list
    ):
        yield from _by_id(
            archive_paths,
            [article for article in article_list if isinstance(article, str)],
            strict,
            jobs,
            block,
        )
        return
    yield from articles_at(archive_paths, article_list, make_article, jobs=jobs, block=block)  # type: ignore[arg-type]


def articles_at(
    files: Sequence[Path],
    wanted_articles: Path | Sequence[ArticleRef],
    make_item: Callable[[int, bytes, str], T],
    *,
    jobs: int,
    block: int,
) -> Iterator[T]:
    """The items that `make_item` makes of the lines that a table of articles names."""
    places = ArticlePlaces(files, wanted_articles)
    block_results = map_blocks(
        files, partial(decode_wanted, make_item), places.in_block, jobs=jobs, block=block
    )
    for block_place, (items, wrong_line) in block_results:
        if wrong_line is not None:
            error_text = "this line is not the article that the table of articles names"
            hint_text = "the archive changed: index it again"
            archive_path, line_number = files[block_place.file], block_place.first + wrong_line + 1
            raise UserError(error_text, where=archive_path, line=line_number, hint=hint_text)
        yield from items


class ArticlePlaces:
    """Yields the line numbers of the wanted articles in the file that is being read, in order.

    The wanted articles are given as rows, or as the path of an `articles.parquet`. Of that table
    only the rows that belong to the current file are in memory at a time.
    """

    def __init__(self, files: Sequence[Path], wanted_articles: Path | Sequence[ArticleRef]) -> None:
        if isinstance(wanted_articles, Path):
            self._rows = ds.dataset(wanted_articles, format="parquet")
        else:
            digests_by_place = {(ref.file, ref.line): ref.sha256 for ref in wanted_articles}
            place_rows = [(*place, sha256) for place, sha256 in digests_by_place.items()]
            columns = zip(*place_rows, strict=True) if place_rows else ([], [], [])
            arrays = [
                pa.array(column, field.type) for column, field in zip(columns, _PLACES, strict=True)
            ]
            self._rows = ds.dataset(pa.Table.from_arrays(arrays, schema=_PLACES))
        file_names: set[str] = set()
        for batch in self._rows.scanner(columns=["file"]).to_batches():
            file_names.update(pc.unique(batch.column(0)).to_pylist())
        self._names = [file.name for file in files]
        for file_name in sorted(file_names - set(self._names)):
            near_miss = did_you_mean(file_name, sorted(self._names))
            hint_text = (
                f"did you mean {near_miss}?" if near_miss else "give the archive of the table"
            )
            raise UserError(
                f"the articles name the file {file_name}, which is not given", hint=hint_text
            )
        self._file = -1
        self._lines: Any = np.empty(0, np.int64)
        self._sha: list[str] = []

    def in_block(self, block_place: BlockPlace, line_block: LineBlock) -> WantedLines | None:
        """The wanted lines of a block, or None where it has none."""
        if block_place.file != self._file:
            self._file = block_place.file
            in_file = pc.field("file") == self._names[block_place.file]
            places = self._rows.to_table(columns=["line", "sha256"], filter=in_file).sort_by("line")
            self._lines, self._sha = places["line"].to_numpy(), places["sha256"].to_pylist()
        first_line = block_place.first + 1
        low, high = np.searchsorted(self._lines, [first_line, first_line + line_block.lines()])
        if low == high:
            return None
        line_numbers = (self._lines[low:high] - first_line).tolist()
        return list(zip(line_numbers, map(bytes.fromhex, self._sha[low:high]), strict=True))


def _by_id(
    files: list[Path], article_ids: list[str], strict: bool, jobs: int, block: int
) -> Iterator[Article]:
    wanted_digests: dict[int, set[bytes]] = {}
    missing_ids = set[str]()
    for article_id in article_ids:
        id_parts = ARTICLE_ID.fullmatch(article_id)
        day_number = parse_day("".join(id_parts.groups()[:3]).encode()) if id_parts else None
        if id_parts and day_number is not None:
            wanted_digests.setdefault(day_number, set()).add(bytes.fromhex(id_parts[4]))
            missing_ids.add(article_id)
        elif strict:
            raise UserError(f"not an article's id: {article_id!r}")

    def still_wanted(place: BlockPlace, line_block: LineBlock) -> dict[int, set[bytes]] | None:
        return wanted_digests if missing_ids else None

    for _, articles in map_blocks(files, search_block, still_wanted, jobs=jobs, block=block):
        for article in articles:
            if article.id in missing_ids:
                missing_ids.discard(article.id)
                yield article
    if missing_ids and strict:
        first_missing = min(missing_ids)
        raise UserError(
            f"{len(missing_ids):,} of {len(set(article_ids)):,} articles are not in the archive, "
            f"the first is {first_missing!r}",
            hint="give the archives of their years",
        )
