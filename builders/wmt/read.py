"""Fetch articles from an archive by their place or their id; only wanted lines are decoded."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.dataset as ds

from builders.config import did_you_mean
from builders.errors import UserError
from builders.rows import Article, ArticleRef
from builders.wmt.archive import BLOCK, Block, Paths, find_archives
from builders.wmt.lines import KEY, Lines, days_of, decode, search
from builders.wmt.spread import Place, over_blocks

Wanted = Path | Iterable[ArticleRef] | Iterable[str]


def read(
    paths: Paths, wanted: Wanted, *, strict: bool = True, jobs: int = 1, block: int = BLOCK
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
    if isinstance(wanted, Path):
        yield from _by_place(files, Listed(wanted, files), jobs, block)
        return
    some = list(wanted)
    refs = [w for w in some if isinstance(w, ArticleRef)]
    if len(refs) == len(some):
        yield from _by_place(files, _Given(refs, files), jobs, block)
    else:
        yield from _by_id(files, [w for w in some if isinstance(w, str)], strict, jobs, block)


class _Places:
    """The wanted lines of the file that is being read, in order."""

    def __init__(self, files: list[Path]) -> None:
        self.files = files
        self._file = -1
        self._lines: Any = np.empty(0, np.int64)
        self._sha: list[str] = []

    def of(self, file: int) -> tuple[Any, list[str]]:
        """Lines, ascending, and their sha256 in hex."""
        raise NotImplementedError

    def in_block(self, place: Place, block: Block) -> Lines | None:
        if place.file != self._file:
            self._file = place.file
            self._lines, self._sha = self.of(place.file)
        first = place.first + 1
        low, high = np.searchsorted(self._lines, [first, first + block.lines()])
        if low == high:
            return None
        places = (self._lines[low:high] - first).tolist()
        return list(zip(places, map(bytes.fromhex, self._sha[low:high]), strict=True))


class _Given(_Places):
    def __init__(self, refs: list[ArticleRef], files: list[Path]) -> None:
        super().__init__(files)
        self._of: dict[str, dict[int, str]] = {}
        for ref in refs:
            self._of.setdefault(ref.file, {})[ref.line] = ref.sha256
        require(self._of, files)

    def of(self, file: int) -> tuple[Any, list[str]]:
        found = sorted(self._of.get(self.files[file].name, {}).items())
        return np.array([line for line, _ in found], np.int64), [sha for _, sha in found]


class Listed(_Places):
    """The places that an `articles.parquet` names, read file by file."""

    def __init__(self, table: Path, files: list[Path]) -> None:
        super().__init__(files)
        if not table.is_file():
            raise UserError("no such file", where=table)
        self._table = ds.dataset(table, format="parquet")
        names: set[str] = set()
        for batch in self._table.scanner(columns=["file"]).to_batches():
            names.update(pc.unique(batch.column(0)).to_pylist())
        require(names, files)

    def of(self, file: int) -> tuple[Any, list[str]]:
        mine = pc.field("file") == self.files[file].name
        found = self._table.to_table(columns=["line", "sha256"], filter=mine).sort_by("line")
        return found["line"].to_numpy(), found["sha256"].to_pylist()


def require(names: Iterable[str], files: list[Path]) -> None:
    """`UserError` where an article's file is not among the files of the archive."""
    have = {f.name for f in files}
    for name in sorted(set(names) - have):
        near = did_you_mean(name, sorted(have))
        hint = f"did you mean {near}?" if near else "give the archive that the table was made from"
        raise UserError(f"the articles name the file {name}, which is not given", hint=hint)


def _by_place(files: list[Path], places: _Places, jobs: int, block: int) -> Iterator[Article]:
    flow = over_blocks(files, decode, places.in_block, jobs=jobs, block=block)
    for place, (articles, wrong) in flow:
        if wrong is not None:
            raise other_archive(files[place.file], place.first + wrong + 1)
        yield from articles


def other_archive(path: Path, line: int) -> UserError:
    """What is said of a line that is not the one the table of articles was made from."""
    text = "this line is not the article that the table of articles names"
    return UserError(text, where=path, line=line, hint="the archive changed: index it again")


def _by_id(
    files: list[Path], ids: list[str], strict: bool, jobs: int, block: int
) -> Iterator[Article]:
    wanted: dict[int, set[bytes]] = {}
    for key in ids:
        parts = KEY.fullmatch(key)
        days = days_of("".join(parts.groups()[:3]).encode()) if parts else None
        if not parts or days is None:
            raise UserError(f"not an article's id: {key!r}")
        wanted.setdefault(days, set()).add(bytes.fromhex(parts[4]))
    missing = set(ids)

    def about(place: Place, found: Block) -> dict[int, set[bytes]] | None:
        return wanted if missing else None

    for _, articles in over_blocks(files, search, about, jobs=jobs, block=block):
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
