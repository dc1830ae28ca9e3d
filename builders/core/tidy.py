"""The contents of a build folder, and which of them can be removed.

A step's folder is named `<step>-<key>`. Which of them a release came from is written down in
`used/<dataset>.json` when it is published, so that the rest is known and can be removed.
"""

import json
import os
import re
import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal

from factdrift.builders.core.config import shown
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors

USED = "used"
"""The folder of the notes about releases."""
_STEP = re.compile(r"(?P<step>[a-z0-9]+(?:[-_][a-z0-9]+)*)-(?P<key>[0-9a-f]{16})")
_UNFINISHED = re.compile(rf"\.{_STEP.pattern}\.tmp")
_ANSWERS = ("answers", "scores")
"""Answers of models and services: they cost time or money and do not age."""

Why = Literal[
    "a release", "answers", "fetched inputs", "no release", "unfinished", "scratch", "unknown"
]
"""Why something is kept (the first three, and what nobody knows) or removed."""


_KEPT = ("a release", "answers", "fetched inputs", "unknown")


@dataclass(frozen=True)
class BuildEntry:
    """One thing in a build folder: `size` in bytes, `used` the UTC day of its last use."""

    path: Path
    step: str
    datasets: tuple[str, ...]
    size: int
    used: date
    why: Why

    def stays(self, everything: bool = False) -> bool:
        """Whether `clean` leaves it; of `everything` only what nobody knows stays."""
        kept = ("unknown",) if everything else _KEPT
        return self.why in kept


def note_use(root: Path, dataset: str, release: Path, keys: Collection[str]) -> None:
    """Write down which steps (their keys) the newest release of a dataset came from."""
    folder = root / USED
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{dataset}.json"
    temporary = path.with_suffix(".tmp")
    value = {"release": str(release.resolve()), "steps": sorted(keys)}
    temporary.write_text(json.dumps(value, indent=1) + "\n", "utf-8")
    temporary.replace(path)


def needed(root: Path) -> dict[str, list[str]]:
    """The datasets whose newest release came from a step, by its key; only releases still there."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted((root / USED).glob("*.json")):
        try:
            note = json.loads(path.read_text("utf-8"))
            there, keys = Path(note["release"]).is_dir(), [str(key) for key in note["steps"]]
        except (ValueError, KeyError, TypeError, OSError):
            text = "broken note about a release"
            raise UserError(text, where=path, hint="make that release again") from None
        for key in keys if there else ():
            found[key].append(path.stem)
    return dict(found)


def look(root: Path) -> list[BuildEntry]:
    """Everything in a build folder but notes and checksums, in the order of the names.

    `UserError`: no such folder, or it is no build folder.
    """
    if not root.is_dir():
        raise UserError("no such folder", where=shown(root), hint="name it: --build FOLDER")
    keys = needed(root)
    return [_entry(path, why, keys) for path, why in _things(root, keys)]


def clean(entries: Iterable[BuildEntry], everything: bool = False) -> int:
    """Remove what does not stay; how many bytes that were."""
    size = 0
    for one in entries:
        if one.stays(everything):
            continue
        with disk_errors(one.path):
            if one.path.is_dir() and not one.path.is_symlink():
                gone = one.path.with_name(f".{one.path.name.lstrip('.')}.tmp")
                if gone != one.path:  # so that half a step is never taken for one
                    shutil.rmtree(gone, ignore_errors=True)
                    one.path.rename(gone)
                shutil.rmtree(gone)
            else:
                one.path.unlink()
        size += one.size
    return size


def table(entries: Iterable[BuildEntry], everything: bool = False) -> Iterator[str]:
    """A line an entry: keep or remove, size, last use, name, and its datasets or why."""
    for one in sorted(entries, key=lambda x: (not x.stays(everything), -x.size, x.path.name)):
        verdict = "keep" if one.stays(everything) else "remove"
        of = ", ".join(one.datasets) or one.why
        yield f"  {verdict:7}{one.size / 1e6:9.1f} MB  {one.used}  {one.path.name}  ({of})"


def _things(root: Path, keys: Collection[str]) -> Iterator[tuple[Path, Why]]:
    for path in sorted(root.iterdir()):
        if path.name in (USED, "checksums.json"):
            continue
        if path.name == "scratch":
            yield path, "scratch"
        elif path.name == "inputs":
            yield path, "fetched inputs"
        elif path.name == "work" and path.is_dir():
            for one in sorted(path.iterdir()):
                half = _STEP.fullmatch(one.name) or _UNFINISHED.fullmatch(one.name)
                answers: Why = "answers" if one.name in _ANSWERS else "unknown"
                yield one, "unfinished" if half else answers
        elif _UNFINISHED.fullmatch(path.name) or re.fullmatch(r"checksums\.\d+\.tmp", path.name):
            yield path, "unfinished"
        elif found := _STEP.fullmatch(path.name):
            yield path, "a release" if found["key"] in keys else "no release"
        else:
            yield path, "unknown"


def _entry(path: Path, why: Why, keys: dict[str, list[str]]) -> BuildEntry:
    found = _STEP.search(path.name)
    files = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
    return BuildEntry(
        path=path,
        step=found["step"] if found else path.name,
        datasets=tuple(keys.get(found["key"], ())) if found and why == "a release" else (),
        size=sum(_size(file) for file in files),
        used=datetime.fromtimestamp(path.lstat().st_mtime, UTC).date(),
        why=why,
    )


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def touch(folder: Path) -> None:
    """Let the time of a folder say that it was used now."""
    try:
        os.utime(folder)
    except OSError:
        return  # a build folder that only others may write
