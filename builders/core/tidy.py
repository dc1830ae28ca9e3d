"""The contents of a build folder, and which of them can be removed.

A step's folder is named `<step>-<key>`. Which of them a release came from is written down in
`used/<dataset>.json` when it is published, so that the rest is known and can be removed.
"""

import json
import re
import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal

from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, replacing

__outside_step_keys__ = True

USED = "used"
"""The folder of the notes about releases."""
_STEP_NAME = r"[a-z0-9]+(?:[-_][a-z0-9]+)*-[0-9a-f]{16}"

Why = Literal[
    "a release", "answers", "fetched inputs", "no release", "unfinished", "scratch", "unknown"
]
"""Why something is kept (the first three, and what nobody knows) or removed."""
_KEPT_REASONS = ("a release", "answers", "fetched inputs", "unknown")
_ENTRY_KINDS: tuple[tuple[re.Pattern[str], Why], ...] = (
    (re.compile("scratch"), "scratch"),
    (re.compile("inputs"), "fetched inputs"),
    (re.compile("work/(answers|scores)"), "answers"),  # they cost time or money and do not age
    (re.compile(rf"work/({_STEP_NAME}|\.{_STEP_NAME}\.tmp)"), "unfinished"),
    (re.compile(rf"\.({_STEP_NAME}|checksums\.json)\.tmp"), "unfinished"),
    (re.compile(_STEP_NAME), "no release"),
    (re.compile(".*", re.DOTALL), "unknown"),
)
"""What is in a build folder, by its place there; of a step, unless a release came from it."""


@dataclass(frozen=True)
class BuildEntry:
    """One thing in a build folder: `size` in bytes, `used` the UTC day of its last use."""

    path: Path
    datasets: tuple[str, ...]
    size: int
    used: date
    why: Why

    def stays(self, everything: bool = False) -> bool:
        """Whether `clean` leaves it; of `everything` only what nobody knows stays."""
        kept_reasons = ("unknown",) if everything else _KEPT_REASONS
        return self.why in kept_reasons


def note_use(root: Path, dataset: str, release: Path, keys: Collection[str]) -> None:
    """Write down which steps (their keys) the newest release of a dataset came from."""
    note_path = root / USED / f"{dataset}.json"
    note_data = {"release": str(release.resolve()), "steps": sorted(keys)}
    with replacing(note_path) as unfinished:
        unfinished.write_text(json.dumps(note_data, indent=1) + "\n", "utf-8")


def needed(root: Path) -> dict[str, list[str]]:
    """The datasets whose newest release came from a step, by its key; only releases still there."""
    datasets_by_key: dict[str, list[str]] = defaultdict(list)
    for note_path in sorted((root / USED).glob("*.json")):
        try:
            release_note = json.loads(note_path.read_text("utf-8"))
            release_exists, step_keys = (
                Path(release_note["release"]).is_dir(),
                [str(step_key) for step_key in release_note["steps"]],
            )
        except (ValueError, KeyError, TypeError, OSError):
            text = "broken note about a release"
            raise UserError(text, where=note_path, hint="make that release again") from None
        for step_key in step_keys if release_exists else ():
            datasets_by_key[step_key].append(note_path.stem)
    return dict(datasets_by_key)


def look(root: Path) -> list[BuildEntry]:
    """Everything in a build folder but notes and checksums, in the order of the names.

    `UserError`: no such folder, or it is no build folder.
    """
    if not root.is_dir():
        raise UserError("no such folder", where=display_path(root), hint="name it: --build FOLDER")
    datasets_by_key = needed(root)
    entry_places = [
        place
        for place in sorted(root.iterdir())
        if place.name not in (USED, "checksums.json", "work")
    ]
    entry_places += sorted((root / "work").glob("*"))
    return [_entry(root, path, datasets_by_key) for path in entry_places]


def clean(entries: Iterable[BuildEntry], everything: bool = False) -> int:
    """Remove what does not stay; how many bytes that were."""
    removed_bytes = 0
    for entry in entries:
        if entry.stays(everything):
            continue
        with disk_errors(entry.path):
            if entry.path.is_dir() and not entry.path.is_symlink():
                doomed_folder = entry.path.with_name(f".{entry.path.name.lstrip('.')}.tmp")
                if doomed_folder != entry.path:  # so that half a step is never taken for one
                    shutil.rmtree(doomed_folder, ignore_errors=True)
                    entry.path.rename(doomed_folder)
                shutil.rmtree(doomed_folder)
            else:
                entry.path.unlink()
        removed_bytes += entry.size
    return removed_bytes


def table(entries: Iterable[BuildEntry], everything: bool = False) -> Iterator[str]:
    """A line an entry: keep or remove, size, last use, name, and its datasets or why."""
    for entry in sorted(
        entries, key=lambda row: (not row.stays(everything), -row.size, row.path.name)
    ):
        verdict = "keep" if entry.stays(everything) else "remove"
        why_text = ", ".join(entry.datasets) or entry.why
        size = f"{entry.size / 1e6:9.1f} MB"
        yield f"  {verdict:7}{size}  {entry.used}  {entry.path.name}  ({why_text})"


def _entry(root: Path, path: Path, datasets_by_key: dict[str, list[str]]) -> BuildEntry:
    place = path.relative_to(root).as_posix()
    why = next(why for place_form, why in _ENTRY_KINDS if place_form.fullmatch(place))
    dataset_names = tuple(datasets_by_key.get(path.name[-16:], ())) if why == "no release" else ()
    file_paths = (
        [path]
        if path.is_file()
        else [inner_path for inner_path in path.rglob("*") if inner_path.is_file()]
    )
    return BuildEntry(
        path=path,
        datasets=dataset_names,
        size=sum(_size(file_path) for file_path in file_paths),
        used=datetime.fromtimestamp(path.lstat().st_mtime, UTC).date(),
        why="a release" if dataset_names else why,
    )


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0
