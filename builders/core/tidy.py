"""The contents of a build folder, and which of them can be removed.

The folder of a step is named `<step>-<key>`. When a release is published, the keys of the steps
that it was made from are written to `used/<dataset>.json`; the other steps can be removed.
"""

import json
import re
import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Literal

from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, replacing

__outside_step_keys__ = True

USED = "used"
"""The folder of the notes about releases."""
# `timelines-0123456789abcdef`, not `Timelines-0123456789abcdef` or `timelines-0123`
_STEP_NAME = r"[a-z0-9]+(?:[-_][a-z0-9]+)*-[0-9a-f]{16}"

Why = Literal[
    "a release", "answers", "fetched inputs", "no release", "unfinished", "scratch", "unknown"
]
"""The reason to keep an entry (the first three, and `unknown`) or to remove it."""
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
"""The kinds of entries by their paths, the first that matches; a used step is `a release`."""


@dataclass(frozen=True)
class BuildEntry:
    """One entry of a build folder, with its size in bytes and the UTC day of its last use."""

    path: Path
    datasets: tuple[str, ...]
    size: int
    used: date
    why: Why

    def data(self, everything: bool = False) -> dict[str, object]:
        """Return the entry as JSON data, and whether `clean` keeps it."""
        return {
            "path": self.path,
            "kept": self.stays(everything),
            "bytes": self.size,
            "used": self.used,
            "datasets": self.datasets,
            "why": self.why,
        }

    def stays(self, everything: bool = False) -> bool:
        """Whether `clean` keeps it; with `everything` only unknown entries stay."""
        kept_reasons = ("unknown",) if everything else _KEPT_REASONS
        return self.why in kept_reasons


def note_use(
    root: Path, dataset: str, release: Path, keys: Collection[str], manifest_sha256: str = ""
) -> None:
    """Write down the keys of the steps that the newest release of a dataset was made from.

    Those of earlier ones stay under `earlier` as long as their releases are there: their steps may
    be removed, but those that are left can be found.
    """
    note_path = root / USED / f"{dataset}.json"
    newest = {"release": str(release.resolve()), "manifest_sha256": manifest_sha256}
    earlier_notes = [
        note
        for note in release_notes(root, dataset)
        if note["release"] != newest["release"] and Path(note["release"]).is_dir()
    ]
    note_data = {**newest, "steps": sorted(keys), "earlier": earlier_notes}
    with replacing(note_path) as unfinished:
        unfinished.write_text(json.dumps(note_data, indent=1) + "\n", "utf-8")


def release_notes(root: Path, dataset: str) -> list[dict[str, Any]]:
    """Return the notes about releases of a dataset, the newest first; none of a broken file.

    Each has the folder of the `release`, its `steps` and, since 0.3, its `manifest_sha256`.
    """
    try:
        newest = json.loads((root / USED / f"{dataset}.json").read_text("utf-8"))
        notes = [newest, *newest.pop("earlier", ())]
        return [
            {**note, "release": str(note["release"]), "steps": list(map(str, note["steps"]))}
            for note in notes
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []


def needed(root: Path) -> dict[str, list[str]]:
    """Return the datasets whose newest release needs a step, by its key.

    A release that is no longer at its place needs nothing.
    """
    datasets_by_key: dict[str, list[str]] = defaultdict(list)
    for note_path in sorted((root / USED).glob("*.json")):
        try:
            release_note = json.loads(note_path.read_text("utf-8"))
            release_exists = Path(release_note["release"]).is_dir()
            step_keys = [str(step_key) for step_key in release_note["steps"]]
        except (ValueError, KeyError, TypeError, OSError):
            error_text = "broken note about a release"
            raise UserError(error_text, where=note_path, hint="make that release again") from None
        for step_key in step_keys if release_exists else ():
            datasets_by_key[step_key].append(note_path.stem)
    return dict(datasets_by_key)


def look(root: Path) -> list[BuildEntry]:
    """Return all entries of a build folder by name, except notes and checksums.

    Raises `UserError` if there is no such folder, or if a note in it is broken.
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
    """Remove the entries that do not stay; return how many bytes that were."""
    removed_bytes = 0
    for entry in entries:
        if entry.stays(everything):
            continue
        with disk_errors(entry.path):
            if entry.path.is_dir() and not entry.path.is_symlink():
                doomed_folder = entry.path.with_name(f".{entry.path.name.lstrip('.')}.tmp")
                if doomed_folder != entry.path:  # so that nobody uses a step that is half removed
                    shutil.rmtree(doomed_folder, ignore_errors=True)
                    entry.path.rename(doomed_folder)
                shutil.rmtree(doomed_folder)
            else:
                entry.path.unlink()
        removed_bytes += entry.size
    return removed_bytes


def table(entries: Iterable[BuildEntry], everything: bool = False) -> Iterator[str]:
    """Yield a line for each entry: keep or remove, size, last use, name, and datasets or reason."""
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
