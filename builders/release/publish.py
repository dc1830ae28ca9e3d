"""Publish a dataset as a versioned release folder, whole or not at all."""

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import duckdb

from builders.dataset import Dataset, Meta
from builders.errors import UserError
from builders.folders import move
from builders.release.compare import Comparison, compare
from builders.release.draft import Draft, check_names
from builders.release.version import FIRST, Level, Version, published

STAGING = ".publishing"
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class NothingLeftError(UserError):
    """A dataset has no row: nothing is published."""


@dataclass(frozen=True)
class Published:
    """What came of it: `folder` is `<out>/<dataset>/<version>`.

    `written` is false where that very content had been published before. `level` is the change
    against the latest lower release, `first` where there is none; `summary` says it in a line.
    """

    folder: Path
    version: str
    written: bool
    level: Level | Literal["first"]
    summary: str


def write_release(dataset: Dataset, meta: Meta, out: Path, version: str = "auto") -> Published:
    """Write `<out>/<meta.dataset>/<version>`; `auto` is the smallest version the rule allows.

    Everything goes into a hidden sibling folder first and is renamed once; whatever happens on
    the way, earlier releases stay as they were. `UserError`: no row in it, other content under an
    existing version, too small a bump, a bad version, no prose, another run at work, no room on
    the disk.
    """
    wanted = None if version == "auto" else Version.parse(version)
    check_names(dataset, meta)
    shelf = out / meta.dataset
    with _room(shelf):
        shelf.mkdir(parents=True, exist_ok=True)
        with _alone(shelf), _staging(shelf) as folder:
            folder.mkdir()
            draft = Draft(folder, dataset, meta)
            if draft.is_empty():
                text = f"nothing is left for {meta.dataset}: {draft.losses()}"
                raise NothingLeftError(text, hint="look at the inputs and the limits of the recipe")
            chosen, level, summary = _settle(shelf, draft, wanted)
            if level == "none":
                return Published(shelf / str(chosen), str(chosen), False, level, summary)
            move(folder, shelf / str(chosen))
            return Published(shelf / str(chosen), str(chosen), True, level, summary)


def _settle(
    shelf: Path, draft: Draft, wanted: Version | None
) -> tuple[Version, Level | Literal["first"], str]:
    """The version to publish, its documents written; level `none`: it is there already."""
    versions = published(shelf)
    lower = versions if wanted is None else [v for v in versions if v <= wanted]
    if not lower:
        chosen = wanted or FIRST
        draft.document(str(chosen))
        return chosen, "first", f"{chosen}: the first release"
    base = lower[-1]
    change = _against(shelf, draft, base)
    if change.level == "none" and wanted in (None, base):
        return base, "none", f"{base} holds this very content already: nothing written"
    needed = base.bump("patch" if change.level == "none" else change.level)
    if wanted == base:
        raise UserError(
            f"{base} is published already, and this changes {change.brief()}; "
            f"{_advice(shelf, draft, versions[-1])}",
            where=shelf / str(base),
        )
    if wanted is not None and wanted < needed:
        raise UserError(
            f"{wanted} announces too little after {base}: this changes {change.brief()}, "
            f"a {change.level} change; {_advice(shelf, draft, versions[-1])}",
            where=shelf / str(base),
        )
    chosen = wanted or needed
    draft.document(str(chosen))
    return chosen, change.level if change.level != "none" else "patch", change.brief()


def _against(shelf: Path, draft: Draft, base: Version) -> Comparison:
    """The draft under the version of a release, so that only what really differs does."""
    draft.document(str(base))
    return compare(shelf / str(base), draft.folder)


def _advice(shelf: Path, draft: Draft, latest: Version) -> str:
    """The smallest version that would do, after the latest one."""
    level = _against(shelf, draft, latest).level
    if level == "none":
        return f"it is the content of {latest}"
    return f"use VERSION={latest.bump(level)}"


@contextmanager
def _alone(shelf: Path) -> Iterator[None]:
    """One run at a time for each dataset; the lock goes with the process, however it ends."""
    handle = os.open(shelf, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UserError("another run is publishing here; wait for it", where=shelf) from error
        yield
    finally:
        os.close(handle)


@contextmanager
def _staging(shelf: Path) -> Iterator[Path]:
    """A folder beside the releases, gone afterwards; what a killed run left goes first."""
    folder = shelf / STAGING
    _remove(folder)
    try:
        yield folder
    finally:
        _remove(folder)


def _remove(folder: Path) -> None:
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)


@contextmanager
def _room(shelf: Path) -> Iterator[None]:
    """A full disk is for the user to mend."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.errno not in _FULL:
            raise
        raise _no_room(shelf, os.strerror(error.errno)) from error
    except duckdb.Error as error:
        words = ("No space left on device", "File too large", "Disk quota exceeded")
        found = next((w for w in words if w in str(error)), None)
        if found is None:
            raise
        raise _no_room(shelf, found) from error


def _no_room(shelf: Path, reason: str) -> UserError:
    hint = "make room or name another folder; nothing was published, earlier releases are whole"
    return UserError(f"the release could not be written: {reason}", where=shelf, hint=hint)
