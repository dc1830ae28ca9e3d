"""From parts to tables: redirects followed, second pages left out, rows in order."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from builders.errors import UserError
from builders.progress import progress
from builders.rows import Dropped
from builders.wikipedia.files import Source
from builders.wikipedia.reader import Task
from builders.wikipedia.redirects import REASONS, Followed, Resolver, follow, pages_among
from builders.wikipedia.spread import Pool
from builders.wikipedia.titles import Titles
from builders.wikipedia.units import Unit, units
from builders.wikipedia.write import (
    Found,
    counted,
    firsts,
    found_in,
    write_dropped,
    write_pages,
)


def finish(
    sources: Sequence[Source], task: Task, wanted: Titles, targets: Titles, out: Path, jobs: int
) -> dict[str, int]:
    """Write both tables from the parts of all units; the counts of `read_pages`."""
    parts = sorted(task.parts.glob("[0-9]*[0-9].npz"))
    counts = counted(parts)
    if not any(counts.values()) and not any(p.with_suffix(".dropped").is_file() for p in parts):
        raise UserError("no page in it", where=sources[0].path)
    found = found_in(parts)
    first = firsts(found.item)
    second = [(found.item[i], found.part[i], found.page[i]) for i in np.flatnonzero(~first)]
    found = Found(*(column[first] for column in found))
    needed = ~np.isin(wanted.items, found.item)
    followed = follow(parts, wanted.hashes[needed])
    all_parts, late = _late(sources, task, parts, found, followed, jobs)
    reached = {key: to for key, to in followed.page.items() if to in late}
    rows = [(*late[reached[k]], n, k) for n, k in sorted((wanted.find(k), k) for k in reached)]
    more = np.array([(p, o, size, n, k, page) for p, o, size, page, n, k in rows], np.uint64)
    table = np.concatenate([np.stack([c.astype(np.uint64) for c in found], 1), more.reshape(-1, 6)])
    found = Found(*table.T)
    found = Found(*(column[firsts(found.item)] for column in found))
    resolver = Resolver(parts, targets)
    written = write_pages(out / "pages.parquet", all_parts, found, resolver)
    for key, to in followed.page.items():
        if to not in late:
            at = np.searchsorted(wanted.hashes[needed], np.uint64(key))
            followed.reason[at] = REASONS.index("page_dropped")
    missing = wanted.items[needed], followed.reason
    lost = _lost(wanted, missing, found, second, parts, sources)
    dropped = write_dropped(out / "dropped.parquet", parts, lost)
    unread = np.array([*wanted.doubled, *wanted.unusable], np.uint64)
    items = np.union1d(wanted.items, unread)
    return {
        **{k: counts[k] for k in ("articles", "redirects", "other_namespace", "other_model")},
        "wanted": len(items),
        "found": len(found.item),
        "found_by_redirect": len(found.item) - int(first.sum()),
        "not_found": int((~np.isin(items, found.item)).sum()),
        "paragraphs": written.get("paragraphs", 0),
        "links": written.get("links", 0),
        "redirects_followed_to_targets": len(resolver),
        **{f"dropped/{reason}": n for reason, n in sorted(dropped.items())},
    }


def _lost(
    wanted: Titles,
    missing: tuple[Any, Any],
    found: Found,
    second: Sequence[tuple[Any, Any, Any]],
    parts: Sequence[Path],
    sources: Sequence[Source],
) -> Iterator[Dropped]:
    """Items whose title is another's or none, second pages of an item, items without a page."""
    for reason, numbers in (("same_title", wanted.doubled), ("bad_title", wanted.unusable)):
        for number in sorted(set(numbers)):
            name = f"Q{number}"
            yield Dropped("pages", reason, name, name, *(None,) * 4)
    for item, part, page in second:
        name = sources[int(parts[int(part)].name[:6])].path.name
        yield Dropped("pages", "second_page", f"{name}:{int(page)}", f"Q{int(item)}", *(None,) * 4)
    lost, first = np.unique(missing[0], return_index=True)
    for i in np.flatnonzero(~np.isin(lost, found.item)):
        name = f"Q{int(lost[i])}"
        reason = REASONS[int(missing[1][first[i]])]
        yield Dropped("pages", reason, name, name, *(None,) * 4)


def _late(
    sources: Sequence[Source],
    task: Task,
    parts: Sequence[Path],
    found: Found,
    followed: Followed,
    jobs: int,
) -> tuple[list[Path], dict[int, tuple[int, int, int, int]]]:
    """All parts, and where the pages lie that redirects lead to; those not yet read are now."""
    keys = np.unique(np.array(list(followed.page.values()), np.uint64))
    known = np.isin(found.key, keys)
    columns = (found.key, found.part, found.offset, found.length, found.page)
    places: dict[int, tuple[int, int, int, int]] = {}
    for key, *place in zip(*(c[known].tolist() for c in columns), strict=True):
        places.setdefault(key, tuple(place))
    unread = np.array(sorted(set(keys.tolist()) - set(places)), np.uint64)
    every = list(parts)
    if not len(unread):
        return every, places
    again = sorted(set(pages_among(parts, unread).values()))
    Titles(unread, np.zeros_like(unread)).save(task.parts / "late.npy")
    visit = task._replace(wanted=task.parts / "late.npy", late=True)
    with (
        progress(len(again), "units", "reading pages that redirects lead to") as bar,
        Pool(visit, jobs, lambda unit, ends: bar.advance(1)) as pool,
    ):
        for unit in _again(sources, [parts[n] for n in again], jobs):
            pool.read(unit)
        pool.finish()
    new = sorted(task.parts.glob("[0-9]*-late.npz"))
    more = found_in(new)
    every += new
    columns = (more.key, more.part + len(parts), more.offset, more.length, more.page)
    for key, *place in zip(*(c.tolist() for c in columns), strict=True):
        places.setdefault(key, tuple(place))
    return every, places


def _again(sources: Sequence[Source], parts: Sequence[Path], jobs: int) -> Iterator[Unit]:
    """The units of some parts, once more; a file that cannot be gone into is read again."""
    named: dict[int, dict[int, Path]] = {}
    for part in parts:
        file, number = part.stem.split("-")
        named.setdefault(int(file), {})[int(number) - 1] = part
    for place, numbers in named.items():
        source = sources[place]
        for n, kept_part in sorted(numbers.items()):
            kept = kept_part.with_suffix(".xml")
            if source.packing == "streams" and kept.is_file():
                yield Unit(place, n, "xml", kept.read_bytes())
            elif source.packing == "streams":
                within = json.loads(kept_part.with_suffix(".json").read_text("utf-8"))["within"]
                yield Unit(place, n, "xml", within=tuple(within))
        if source.packing != "streams":
            yield from (u for u in units(source, place, _silent, jobs) if u.number in numbers)


def _silent(n: int) -> None:
    pass
