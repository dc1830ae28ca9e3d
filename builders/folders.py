"""Folders that are there whole or not at all, and files that are replaced in one step."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from builders.config import shown
from builders.errors import UserError


def writable(folder: Path) -> None:
    """Make a folder before hours of work for it; `UserError` where it cannot be."""
    with _writable(folder):
        folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """One run at a time in a folder, which is made; the lock goes with the process."""
    with _writable(folder):
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            text = "another run is at work here; wait for it"
            raise UserError(text, where=shown(folder)) from None
        finally:
            os.close(handle)


@contextmanager
def whole(folder: Path) -> Iterator[Path]:
    """A hidden folder beside `folder` that takes its place at the end, if nothing failed."""
    staging = folder.with_name(f".{folder.name}.tmp")
    shutil.rmtree(staging, ignore_errors=True)
    try:
        staging.mkdir(parents=True)
        yield staging
        move(staging, folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` that replaces it at the end, if nothing failed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        yield temporary
        sync(temporary)
        temporary.replace(path)
        sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def move(staging: Path, folder: Path) -> None:
    """Everything of a folder onto the disk, then one rename."""
    for path in [*sorted(staging.rglob("*")), staging]:
        sync(path)
    staging.rename(folder)
    sync(folder.parent)


def sync(path: Path) -> None:
    """Have a file or folder on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _writable(folder: Path) -> Iterator[None]:
    """What the disk refuses, to be read or to be written, is for the user to mend."""
    try:
        yield
    except OSError as error:
        raise UserError.of_disk(error, folder) from error
