"""Read the wanted pages of Wikipedia files into one table."""

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from builders.errors import UserError
from builders.progress import progress
from builders.wikipedia.files import Source, find_pages, source_of
from builders.wikipedia.finish import finish
from builders.wikipedia.reader import Ends, Task, ends_of, part_name
from builders.wikipedia.site import site_of
from builders.wikipedia.spread import Pool
from builders.wikipedia.titles import Titles
from builders.wikipedia.units import LONGEST, Unit, units

_VERSION = 1
"""Raise it when parts written by older code must not be gone on with."""


def read_pages(
    files: str | Path | Sequence[str | Path],
    wanted: Titles | Mapping[str, str] | Iterable[tuple[str, str]],
    out: Path,
    *,
    jobs: int = 1,
    work: Path | None = None,
    targets: Titles | Iterable[str] = (),
    checksums: Sequence[str] | None = None,
) -> dict[str, int]:
    """Write `out/pages.parquet` (`rows.Page`, sorted by item) and `out/dropped.parquet`.

    `files`: MediaWiki XML exports (plain, gz, bz2 in one or many streams, zst), JSON lines,
    Parquet, as paths, globs or folders; what a file is, its content says. `wanted`: title and
    item of each page to keep. `targets`: titles that links through redirects are followed to.
    `jobs`: processes; 1 starts none. `work`: a folder for half-done work, by default
    `out/build`; a run that was stopped goes on there. `checksums`: sha256 of each file,
    in the order of `find_pages`; without them a file is known by its name and size.

    Returns counts: `articles`, `redirects`, `other_namespace`, `other_model` (pages seen),
    `wanted`, `found`, `found_by_redirect`, `not_found`, `paragraphs`, `links`,
    `redirects_followed_to_targets`, and `dropped/REASON`. The tables are the same, byte for
    byte, for any number of jobs. Memory: 16 bytes a title, and what `jobs` processes hold of
    their units. `UserError`: no such file, no pages in it, cut short or damaged.
    """
    if jobs < 1:
        raise UserError(f"jobs has to be 1 or more, not {jobs}")
    sources = [source_of(path) for path in find_pages(files)]
    titles, objects = Titles.of(wanted), Titles.without_items(targets)
    base = work or out / "build"
    parts = base / f"pages-{_key(sources, checksums, titles)}"
    try:
        parts.mkdir(parents=True, exist_ok=True)
        out.mkdir(parents=True, exist_ok=True)
        titles.save(parts / "wanted.npy")
        paths = tuple(s.path for s in sources)
        sites = tuple(site_of(s.head) for s in sources)
        task = Task(paths, sites, parts, parts / "wanted.npy")
        _read_all(sources, task, jobs)
        counts = finish(sources, task, titles, objects, out, jobs)
        shutil.rmtree(parts)
    except KeyboardInterrupt:
        hint = "run the same command again: it goes on where this run stopped"
        raise UserError("stopped", hint=hint) from None
    except OSError as error:
        raise UserError.of_disk(error, out) from error
    if work is None and not any(base.iterdir()):
        base.rmdir()
    return counts


def _key(sources: Sequence[Source], checksums: Sequence[str] | None, wanted: Titles) -> str:
    """What the parts depend on, as 16 hex digits."""
    names = checksums or [f"{s.path.name}|{s.path.stat().st_size}" for s in sources]
    if len(names) != len(sources):
        raise ValueError(f"{len(names)} checksums for {len(sources)} files")
    text = json.dumps([_VERSION, list(names), wanted.digest().hex()])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _read_all(sources: Sequence[Source], task: Task, jobs: int) -> None:
    """Make a part of every unit that has none yet."""
    total = sum(s.path.stat().st_size for s in sources)
    stitch = _Stitch(task)
    with (
        progress(total, "B", "reading pages") as bar,
        Pool(task, jobs, stitch.settle) as pool,
    ):
        stitch.pool = pool
        for file, source in enumerate(sources):
            for unit in units(source, file, bar.advance, threads=jobs):
                pool.read(unit, _known(task, unit))
            pool.finish()
            stitch.end(file)
        pool.finish()


def _known(task: Task, unit: Unit) -> Ends | None:
    path = task.parts / f"{part_name(unit, task.late)}.json"
    return ends_of(path) if path.is_file() else None


class _Stitch:
    """Puts pages together that lie in two units, and has them read as units of their own."""

    def __init__(self, task: Task) -> None:
        self.pool: Pool | None = None
        self._task = task
        self._carried = b""
        self._last = -2

    def settle(self, unit: Unit, ends: Ends) -> None:
        """Take the ends of the next unit."""
        if not unit.within or unit.form != "xml":
            return
        joined = self._carried + ends.head
        self._last = unit.number
        if ends.inside and len(joined) <= 2 * LONGEST:
            self._carried = joined
            return
        self._carried = ends.tail
        self._read(joined, unit.file, unit.number - 1)

    def end(self, file: int) -> None:
        """A file has ended."""
        self._read(self._carried, file, self._last + 1)
        self._carried = b""

    def _read(self, data: bytes, file: int, number: int) -> None:
        if data.strip() and self.pool:
            unit = Unit(file, number, "xml", data)
            self.pool.read(unit, _known(self._task, unit))
