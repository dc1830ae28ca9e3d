"""Read the wanted pages of Wikipedia files into one table.

The files are read once, in units; each gives a part on disk. Then redirects with wanted titles are
followed, the pages that they lead to are read in a second visit of their units, and all pages are
put into one table in the order of their items.
"""

import shutil
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors
from factdrift.builders.core.parallel import ordered_map
from factdrift.builders.core.progress import progress
from factdrift.builders.core.schema import writing
from factdrift.builders.rows import Dropped, Page, UnlistedTemplate
from factdrift.builders.wikipedia.files import PageFile, PageUnit, find_pages, page_file, units
from factdrift.builders.wikipedia.parts import (
    ReadingTask,
    is_whole,
    part_name,
    summary_of,
    write_part,
)
from factdrift.builders.wikipedia.titles import (
    Resolver,
    Titles,
    follow_redirects,
    pages_among,
    title_hashes,
)
from factdrift.builders.wikipedia.unlisted_counts import (
    template_rows,
    total_counts,
    unknown_templates,
)

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

    Beside them `out/templates.parquet` (`rows.UnlistedTemplate`).

    `files`: MediaWiki XML exports (plain, gz, bz2 in one or many streams, zst), JSON lines,
    Parquet, as paths, globs or folders; what a file is, its content says. `wanted`: title and
    item of each page to keep. `targets`: titles that links through redirects are followed to.
    `jobs`: processes; 1 starts none. `work`: a folder for half-done work on these very files and
    titles, in which a run that was stopped goes on; without it a run begins anew in `out/build`.

    Returns the number of pages that were seen, wanted or not. The tables are the same, byte for
    byte, for any number of jobs. Memory: 16 bytes a title, and what `jobs` processes hold of
    their units. `UserError`: no such file, no pages in it, cut short or damaged.
    """
    sources = [page_file(page_path) for page_path in find_pages(files)]
    titles, target_hashes = Titles.of(wanted), title_hashes(targets)
    parts_folder = work or out / "build"
    try:
        with disk_errors(out):
            if work is None:
                shutil.rmtree(parts_folder, ignore_errors=True)
            parts_folder.mkdir(parents=True, exist_ok=True)
            out.mkdir(parents=True, exist_ok=True)
            titles.save(parts_folder / "wanted.npy")
            task = ReadingTask(
                tuple(source.path for source in sources), parts_folder, parts_folder / "wanted.npy"
            )
            _read_all(sources, task, jobs)
            page_count = _finish(sources, task, titles, target_hashes, out, jobs)
            shutil.rmtree(parts_folder)
    except KeyboardInterrupt:
        hint = "run the same command again: it goes on where this run stopped"
        raise UserError("stopped", hint=hint if work else None) from None
    return page_count


# --- Units to parts -----------------------------------------------------------------------------


_given: tuple[ReadingTask, Titles] | None = None


def _begin(task: ReadingTask) -> None:
    global _given
    _given = task, Titles.load(task.wanted)


def _read(unit: PageUnit) -> None:
    assert _given is not None
    write_part(unit, *_given)


def _read_units(page_units: Iterable[PageUnit], task: ReadingTask, jobs: int) -> Iterator[None]:
    """Make parts of units, by `jobs` processes (1: none)."""
    hint_text = "a rerun goes on where this run stopped"
    return ordered_map(
        _read, page_units, jobs=jobs, initializer=_begin, initargs=(task,), hint=hint_text
    )


def _read_all(sources: Sequence[PageFile], task: ReadingTask, jobs: int) -> None:
    """Make a part of every unit that has none yet."""
    total_bytes = sum(s.path.stat().st_size for s in sources)
    with progress(total_bytes, "B", "reading pages") as bar:
        unread_units = (
            unit
            for file, source in enumerate(sources)
            for unit in units(source, file, bar.advance, threads=jobs)
            if not is_whole(task.parts / f"{part_name(unit, late=False)}.json")
        )
        deque(_read_units(unread_units, task, jobs), 0)


# --- Parts to tables ----------------------------------------------------------------------------

_DROP_REASONS = (
    *("redirect_loop", "redirect_to_nothing", "redirect_chain", "page_dropped"),
    "no_page",
)
"""The drop reasons of titles that lead to no page."""
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
    page_count = drop_count = 0
    for part in parts:
        summary = summary_of(part)
        page_count, drop_count = page_count + summary.seen, drop_count + len(summary.dropped)
    if not page_count and not drop_count:
        raise UserError("no page in it", where=sources[0].path)
    places = _places_in(parts)
    is_first = _firsts(places["item"])
    kept_places, second_places = places[is_first], places[~is_first]
    is_missing = ~np.isin(wanted.items, kept_places["item"])
    followed = follow_redirects(parts, wanted.hashes[is_missing])
    all_parts, redirect_places, unread_keys = _redirected(
        sources, task, parts, kept_places, followed.page, jobs
    )
    reasons = followed.reason | dict.fromkeys(unread_keys, "page_dropped")
    redirect_places["item"] = [wanted.find(int(title_key)) for title_key in redirect_places["key"]]
    kept_places = np.concatenate([kept_places, np.sort(redirect_places, order=["item", "key"])])
    kept_places = kept_places[_firsts(kept_places["item"])]
    _write_pages(out / "pages.parquet", all_parts, kept_places, Resolver(parts, targets))
    file_names = [sources[int(parts[int(row["part"])].name[:6])].path.name for row in second_places]
    dropped_rows = [_dropped("same_title", n) for n in sorted(set(wanted.doubled))]
    dropped_rows += [_dropped("bad_title", n) for n in sorted(set(wanted.unusable))]
    for name, item, page in zip(
        file_names, second_places["item"], second_places["page"], strict=True
    ):
        dropped_rows.append(_dropped("second_page", item, f"{name}:{page}"))
    for item, title_key in _pageless(wanted, is_missing, kept_places["item"]):
        dropped_rows.append(_dropped(reasons.get(title_key, "no_page"), item))
    templates = template_rows(total_counts(summary_of(part).templates for part in all_parts))
    dropped_rows += unknown_templates(templates)
    # those of one part at a time: a file may have millions of broken lines
    dropped_by_parts = chain.from_iterable(summary_of(part).dropped for part in parts)
    _write_rows(out / "dropped.parquet", Dropped, chain(dropped_by_parts, dropped_rows))
    _write_rows(out / "templates.parquet", UnlistedTemplate, templates)
    return page_count


def _pageless(wanted: Titles, is_missing: Any, kept_items: Any) -> Iterator[tuple[int, int]]:
    """Yield the item and the title's hash of each wanted page that is missing after redirects."""
    missing_items, first_indexes = np.unique(wanted.items[is_missing], return_index=True)
    missing_hashes = wanted.hashes[is_missing][first_indexes]
    has_no_page = ~np.isin(missing_items, kept_items)
    yield from zip(
        missing_items[has_no_page].tolist(), missing_hashes[has_no_page].tolist(), strict=True
    )


def _write_rows(path: Path, row_type: type, rows: Iterable[Any]) -> None:
    with writing(path, row_type) as table:
        for row in rows:
            table.append(row)


def _dropped(reason: str, item: int, place: str = "") -> Dropped:
    return Dropped("pages", reason, place or f"Q{item}", f"Q{item}", None, None, None, None)


def _redirected(
    sources: Sequence[PageFile],
    task: ReadingTask,
    parts: Sequence[Path],
    kept_places: Any,
    page_of: Mapping[int, int],
    jobs: int,
) -> tuple[list[Path], Any, list[int]]:
    """Find the pages that redirects lead to, and read those that were not read yet.

    `page_of` maps the hash of each redirect's title to the hash of its page's title. Pages that
    nobody asked for by their own title were passed over so far; their units are now read once more.

    Returns all parts, with those of this second visit last; the place of each page found, under the
    hash of its redirect; and the hashes of the redirects whose page was not found.
    """
    target_keys = np.unique(np.array(list(page_of.values()), np.uint64))
    places = kept_places[np.isin(kept_places["key"], target_keys)]
    unread_keys = target_keys[~np.isin(target_keys, places["key"])]
    late_parts: list[Path] = []
    if len(unread_keys):
        part_numbers = sorted(set(pages_among(parts, unread_keys).values()))
        Titles(unread_keys, np.zeros_like(unread_keys)).save(task.parts / "late.npy")
        second_visit = task._replace(wanted=task.parts / "late.npy", late=True)
        with progress(len(part_numbers), "units", "reading pages that redirects lead to") as bar:
            for _ in _read_units(
                _units_of([parts[n] for n in part_numbers], sources, jobs), second_visit, jobs
            ):
                bar.advance(1)
        late_parts = sorted(task.parts.glob("[0-9]*-late.npz"))
        places = np.concatenate([places, _places_in(late_parts, len(parts))])
    index_by_key = {key: n for n, key in reversed(list(enumerate(places["key"].tolist())))}
    resolved_keys = [key for key, target_key in page_of.items() if target_key in index_by_key]
    redirect_places = places[[index_by_key[page_of[key]] for key in resolved_keys]]
    redirect_places["key"] = resolved_keys
    return (
        [*parts, *late_parts],
        redirect_places,
        [key for key, target_key in page_of.items() if target_key not in index_by_key],
    )


def _units_of(parts: Sequence[Path], sources: Sequence[PageFile], jobs: int) -> Iterator[PageUnit]:
    """The units of some parts, once more; a file without streams is read from its beginning."""
    parts_by_file: dict[int, dict[int, Path]] = {}
    for part in parts:
        file_number, unit_number = map(int, part.stem.split("-"))
        parts_by_file.setdefault(file_number, {})[unit_number] = part
    for file_number, wanted in parts_by_file.items():
        if sources[file_number].packing == "streams":
            for unit_number, part in sorted(wanted.items()):
                yield PageUnit(file_number, unit_number, "xml", within=summary_of(part).within)
        else:
            file_units = units(sources[file_number], file_number, lambda byte_count: None, jobs)
            yield from (unit for unit in file_units if unit.number in wanted)


def _places_in(parts: Sequence[Path], earlier_parts: int = 0) -> Any:
    """Return the places of the pages in parts, in the order of the files.

    `earlier_parts` is the number of parts before them.
    """
    tables = [np.empty(0, _PLACE)]
    for part_number, part_path in enumerate(parts, earlier_parts):
        with np.load(part_path) as arrays:
            place_rows = arrays["found"]
        table = np.empty(len(place_rows), _PLACE)
        for name, column in zip(_PLACE.names or (), [*place_rows.T, part_number], strict=True):
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
    decode_page = msgspec.msgpack.Decoder(Page).decode
    order = np.argsort(places["item"], kind="stable")
    columns = (
        places[column_name][order].tolist() for column_name in ("item", "part", "offset", "length")
    )
    group_bytes = 0
    with writing(out, Page, ROWS) as table:
        for item_number, part_number, offset, length in zip(*columns, strict=True):
            with parts[part_number].with_suffix(".pages").open("rb") as file:
                file.seek(offset)
                page = decode_page(file.read(length))
            if group_bytes + length > GROUP:
                table.flush()
                group_bytes = 0
            group_bytes += length
            paragraphs = tuple(
                replace(
                    paragraph,
                    links=tuple(
                        replace(link, target=resolve(link.target)) for link in paragraph.links
                    ),
                )
                for paragraph in page.paragraphs
            )
            table.append(replace(page, item=f"Q{item_number}", paragraphs=paragraphs))
