"""Read the wanted pages of Wikipedia files into one table.

The files are read once, in units; each gives a part on disk. Then redirects with wanted titles are
followed, the pages that they lead to are read in a second visit of their units, and all pages are
put into one table in the order of their items.
"""

import shutil
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors
from factdrift.builders.core.parallel import ordered_map
from factdrift.builders.core.progress import progress
from factdrift.builders.core.schema import writing
from factdrift.builders.rows import Dropped, Page
from factdrift.builders.wikipedia.files import PageFile, PageUnit, find_pages, page_file, units
from factdrift.builders.wikipedia.parts import ReadingTask, part_name, summary_of, write_part
from factdrift.builders.wikipedia.titles import Resolver, Titles, follow, hashes_of, pages_among

GROUP = 16 << 20
"""Bytes of pages after which a row group ends."""
ROWS = 1000
"""Pages in a row group, at most."""


def read_pages(
    files: str | Path | Sequence[str | Path],
    wanted: Mapping[str, str] | Iterable[tuple[str, str]],
    out: Path,
    *,
    jobs: int = 1,
    work: Path | None = None,
    targets: Iterable[str] = (),
) -> int:
    """Write `out/pages.parquet` (`rows.Page`, sorted by item) and `out/dropped.parquet`.

    `files`: MediaWiki XML exports (plain, gz, bz2 in one or many streams, zst), JSON lines,
    Parquet, as paths, globs or folders; what a file is, its content says. `wanted`: title and
    item of each page to keep. `targets`: titles that links through redirects are followed to.
    `jobs`: processes; 1 starts none. `work`: a folder for half-done work on these very files and
    titles, in which a run that was stopped goes on; without it a run begins anew in `out/build`.

    Returns the number of pages that were seen, wanted or not. The tables are the same, byte for
    byte, for any number of jobs. Memory: 16 bytes a title, and what `jobs` processes hold of
    their units. `UserError`: no such file, no pages in it, cut short or damaged.
    """
    sources = [page_file(path) for path in find_pages(files)]
    titles, objects = Titles.of(wanted), hashes_of(targets)
    parts = work or out / "build"
    try:
        with disk_errors(out):
            if work is None:
                shutil.rmtree(parts, ignore_errors=True)
            parts.mkdir(parents=True, exist_ok=True)
            out.mkdir(parents=True, exist_ok=True)
            titles.save(parts / "wanted.npy")
            task = ReadingTask(tuple(s.path for s in sources), parts, parts / "wanted.npy")
            _read_all(sources, task, jobs)
            seen = _finish(sources, task, titles, objects, out, jobs)
            shutil.rmtree(parts)
    except KeyboardInterrupt:
        hint = "run the same command again: it goes on where this run stopped"
        raise UserError("stopped", hint=hint if work else None) from None
    return seen


# --- Units to parts -----------------------------------------------------------------------------


_given: tuple[ReadingTask, Titles] | None = None


def _begin(task: ReadingTask) -> None:
    global _given
    _given = task, Titles.load(task.wanted)


def _read(unit: PageUnit) -> None:
    assert _given is not None
    write_part(unit, *_given)


def _read_units(given: Iterable[PageUnit], task: ReadingTask, jobs: int) -> Iterator[None]:
    """Make parts of units, by `jobs` processes (1: none)."""
    hint = "a rerun goes on where this run stopped"
    return ordered_map(_read, given, jobs=jobs, initializer=_begin, initargs=(task,), hint=hint)


def _read_all(sources: Sequence[PageFile], task: ReadingTask, jobs: int) -> None:
    """Make a part of every unit that has none yet."""
    total = sum(s.path.stat().st_size for s in sources)
    with progress(total, "B", "reading pages") as bar:
        unread = (
            unit
            for file, source in enumerate(sources)
            for unit in units(source, file, bar.advance, threads=jobs)
            if not (task.parts / f"{part_name(unit, late=False)}.json").is_file()
        )
        deque(_read_units(unread, task, jobs), 0)


# --- Parts to tables ----------------------------------------------------------------------------

_PLACE = np.dtype([(n, np.uint64) for n in ("item", "key", "offset", "length", "page", "part")])
"""Where a page that is kept lies: bytes of a part; with its item, hash of its title and page id."""


def _finish(
    sources: Sequence[PageFile],
    task: ReadingTask,
    wanted: Titles,
    targets: Any,
    out: Path,
    jobs: int,
) -> int:
    """Write both tables from the parts of all units; the number of pages seen."""
    parts = sorted(task.parts.glob("[0-9]*[0-9].npz"))
    summaries = [summary_of(part) for part in parts]
    seen = sum(one.seen for one in summaries)
    lost = [row for one in summaries for row in one.dropped]
    if not seen and not lost:
        raise UserError("no page in it", where=sources[0].path)
    places = _places_in(parts)
    first = _firsts(places["item"])
    found, second = places[first], places[~first]
    needed = ~np.isin(wanted.items, found["item"])
    followed = follow(parts, wanted.hashes[needed])
    all_parts, more, unread = _redirected(sources, task, parts, found, followed.page, jobs)
    reasons = followed.reason | dict.fromkeys(unread, "page_dropped")
    more["item"] = [wanted.find(int(key)) for key in more["key"]]
    found = np.concatenate([found, np.sort(more, order=["item", "key"])])
    found = found[_firsts(found["item"])]
    _write_pages(out / "pages.parquet", all_parts, found, Resolver(parts, targets))
    names = [sources[int(parts[int(row["part"])].name[:6])].path.name for row in second]
    lost += [_dropped("same_title", n) for n in sorted(set(wanted.doubled))]
    lost += [_dropped("bad_title", n) for n in sorted(set(wanted.unusable))]
    for name, item, page in zip(names, second["item"], second["page"], strict=True):
        lost.append(_dropped("second_page", item, f"{name}:{page}"))
    missing, at = np.unique(wanted.items[needed], return_index=True)
    hashes = wanted.hashes[needed][at]
    gone = ~np.isin(missing, found["item"])
    for item, key in zip(missing[gone], hashes[gone].tolist(), strict=True):
        lost.append(_dropped(reasons.get(key, "no_page"), item))
    with writing(out / "dropped.parquet", Dropped) as table:
        for row in lost:
            table.append(row)
    return seen


def _dropped(reason: str, item: int, place: str = "") -> Dropped:
    return Dropped("pages", reason, place or f"Q{item}", f"Q{item}", None, None, None, None)


def _redirected(
    sources: Sequence[PageFile],
    task: ReadingTask,
    parts: Sequence[Path],
    found: Any,
    page_of: Mapping[int, int],
    jobs: int,
) -> tuple[list[Path], Any, list[int]]:
    """The pages that redirects lead to: all parts, their places, and redirects to no such page.

    `page_of`: hashes of redirects and of their pages; a place has the hash of the redirect. Pages
    that were not wanted themselves are read now, in a second visit of their units.
    """
    keys = np.unique(np.array(list(page_of.values()), np.uint64))
    places = found[np.isin(found["key"], keys)]
    unread = keys[~np.isin(keys, places["key"])]
    late: list[Path] = []
    if len(unread):
        again = sorted(set(pages_among(parts, unread).values()))
        Titles(unread, np.zeros_like(unread)).save(task.parts / "late.npy")
        visit = task._replace(wanted=task.parts / "late.npy", late=True)
        with progress(len(again), "units", "reading pages that redirects lead to") as bar:
            for _ in _read_units(_units_of([parts[n] for n in again], sources, jobs), visit, jobs):
                bar.advance(1)
        late = sorted(task.parts.glob("[0-9]*-late.npz"))
        places = np.concatenate([places, _places_in(late, len(parts))])
    at = {key: n for n, key in reversed(list(enumerate(places["key"].tolist())))}
    read = [key for key, to in page_of.items() if to in at]
    more = places[[at[page_of[key]] for key in read]]
    more["key"] = read
    return [*parts, *late], more, [key for key, to in page_of.items() if to not in at]


def _units_of(parts: Sequence[Path], sources: Sequence[PageFile], jobs: int) -> Iterator[PageUnit]:
    """The units of some parts, once more; a file without streams is read from its beginning."""
    numbers: dict[int, dict[int, Path]] = {}
    for part in parts:
        file, number = map(int, part.stem.split("-"))
        numbers.setdefault(file, {})[number] = part
    for file, wanted in numbers.items():
        if sources[file].packing == "streams":
            for number, part in sorted(wanted.items()):
                yield PageUnit(file, number, "xml", within=summary_of(part).within)
        else:
            again = units(sources[file], file, lambda n: None, jobs)
            yield from (unit for unit in again if unit.number in wanted)


def _places_in(parts: Sequence[Path], before: int = 0) -> Any:
    """The pages that parts hold, in the order of the files; `before`: number of earlier parts."""
    tables = [np.empty(0, _PLACE)]
    for n, path in enumerate(parts, before):
        with np.load(path) as held:
            rows = held["found"]
        table = np.empty(len(rows), _PLACE)
        for name, column in zip(_PLACE.names or (), [*rows.T, n], strict=True):
            table[name] = column
        tables.append(table)
    return np.concatenate(tables)


def _firsts(values: Any) -> Any:
    """A mask of the first of each value."""
    mask = np.zeros(len(values), bool)
    mask[np.unique(values, return_index=True)[1]] = True
    return mask


def _write_pages(out: Path, parts: Sequence[Path], places: Any, resolve: Resolver) -> None:
    """Write `pages.parquet`, Q9 before Q10.

    Memory: one row group, and the places of all pages.
    """
    decode = msgspec.msgpack.Decoder(Page).decode
    order = np.argsort(places["item"], kind="stable")
    columns = (places[n][order].tolist() for n in ("item", "part", "offset", "length"))
    held = 0
    with writing(out, Page, ROWS) as table:
        for item, part, offset, length in zip(*columns, strict=True):
            with parts[part].with_suffix(".pages").open("rb") as file:
                file.seek(offset)
                page = decode(file.read(length))
            if held + length > GROUP:
                table.flush()
                held = 0
            held += length
            paragraphs = tuple(
                replace(p, links=tuple(replace(k, target=resolve(k.target)) for k in p.links))
                for p in page.paragraphs
            )
            table.append(replace(page, item=f"Q{item}", paragraphs=paragraphs))
