"""Files and folders: the project's own data, those that users name, locks, atomic writes."""

import errno
import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from glob import glob
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator, PlainSerializer, ValidationInfo

from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError

__outside_step_keys__ = True
__data_finders__ = {"resource": "{}"}

_HOME = Path(__file__).resolve().parents[2]
"""What holds the packages and the data: the checkout, or `factdrift/` in an installation."""


_TextLoader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def resource(*parts: str) -> Path:
    """A data file or folder that comes with the project, by its path in a checkout.

    `resource("templates")`, `resource("builders/recipes")`, `resource("data_cards", name)`: in a
    checkout the file there, in an installation the copy that the wheel brought.
    """
    return _HOME / Path(*parts)


def read_texts(path: Path) -> dict[str, Any]:
    """What a YAML file of ours says, by name; every scalar is text: `on`, `no`, `1990`."""
    texts = yaml.load(path.read_text("utf-8"), _TextLoader)  # noqa: S506 - it makes nothing but text
    if not isinstance(texts, dict):
        raise TypeError(f"{path}: names are expected")
    return texts


def recipe_path(recipe: Path, path: str) -> Path:
    """The file that a recipe names by a path relative to the recipe's own folder.

    The paths of a bundled recipe are those of a checkout, wherever the project is installed.
    """
    if recipe.resolve().parent != resource("builders/recipes"):
        return recipe.parent / path
    return resource(os.path.normpath(Path("builders/recipes") / path))


def _of_recipe(path: Path, info: ValidationInfo) -> Path:
    recipe = (info.context or {}).get("path")
    return recipe_path(recipe, str(path)) if recipe else path


RecipePath = Annotated[Path, AfterValidator(_of_recipe), PlainSerializer(lambda path: path.name)]
"""A file or folder that a recipe names relative to itself; it is shown without its place."""


def _model_of_recipe(name: str, info: ValidationInfo) -> str:
    folder = _of_recipe(Path(name), info)
    return str(folder) if folder.is_dir() else name


def _placeless(name: str) -> str:
    return Path(name).name if Path(name).is_dir() else name


ModelName = Annotated[str, AfterValidator(_model_of_recipe), PlainSerializer(_placeless)]
"""A model on the hub, or its folder, which a recipe names relative to itself."""


def find_files(
    given: str | Path | Sequence[str | Path],
    taken: Callable[[str], bool],
    what: str,
    hint: str,
) -> list[Path]:
    """The files that paths, globs and folders name, each once, sorted within each of them.

    Of a folder, the files whose name is `taken`. `UserError` where one names nothing; `what` is
    what there should be (a dump), `hint` how its files are named.
    """
    found_files: dict[Path, None] = {}
    for entry in [given] if isinstance(given, str | Path) else given:
        path = Path(entry)
        if path.is_dir():
            files = [
                candidate
                for candidate in path.iterdir()
                if candidate.is_file() and taken(candidate.name)
            ]
            if not files:
                raise UserError(f"no {what} in this folder", where=path, hint=hint)
        elif path.is_file():
            files = [path]
        else:
            files = [Path(candidate) for candidate in glob(str(entry)) if Path(candidate).is_file()]  # noqa: PTH207
            if not files:
                raise UserError("no such file", where=str(entry))
        found_files.update(dict.fromkeys(sorted(files)))
    if not found_files:
        raise UserError(f"no {what} is given")
    return list(found_files)


def is_pipe(path: Path) -> bool:
    """Whether there is a pipe; what cannot be looked at is none."""
    try:
        return path.is_fifo()
    except (OSError, ValueError):
        return False


def writable(folder: Path) -> None:
    """Make a folder before hours of work for it; `UserError` where it cannot be."""
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)


_REFUSALS = (
    "Symlink loop",
    *(
        os.strerror(getattr(errno, name))
        for name in (
            *("ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EACCES", "EPERM", "EIO"),
            *("ENAMETOOLONG", "ENOTDIR", "EISDIR", "ELOOP", "EEXIST"),
        )
    ),
)


def refusal(error: Exception) -> str | None:
    """The system's words for what a disk or a path refuses, where that is what an error is about.

    Libraries that do not raise `OSError` have them in their texts.
    """
    if isinstance(error, OSError) and error.strerror in _REFUSALS:
        return error.strerror
    return next((words for words in _REFUSALS if words in str(error)), None)


@contextmanager
def disk_errors(folder: Path) -> Iterator[None]:
    """What the disk refuses, to be read or to be written, is for the user to mend."""
    try:
        yield
    except OSError as error:
        raise UserError.of_disk(error, folder) from error


@contextmanager
def locked(folder: Path, hint: str = "wait for it to end") -> Iterator[None]:
    """One run at a time in a folder, which is made; `UserError` where another is at work in it.

    The lock goes with the process, however that ends, and leaves no file.
    """
    writable(folder)
    with disk_errors(folder):
        handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            text = "another run is at work here"
            raise UserError(text, where=display_path(folder), hint=hint) from None
        yield
    finally:
        os.close(handle)


def hold_shared(path: Path) -> int:
    """Share a lock on a file, which is made, until this process ends: `wait_for_sharers` waits."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    fcntl.flock(handle, fcntl.LOCK_SH)
    return handle


def wait_for_sharers(path: Path, seconds: float) -> bool:
    """Wait until no process shares the lock on a file; False where that takes too long."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        until = time.monotonic() + seconds
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            if time.monotonic() > until:
                return False
            time.sleep(0.1)
    finally:
        os.close(handle)


@contextmanager
def atomic_folder(folder: Path) -> Iterator[Path]:
    """A hidden folder beside `folder` that takes its place at the end, if nothing failed."""
    staging = folder.with_name(f".{folder.name}.tmp")
    try:
        fresh_folder(staging)
        yield staging
        move(staging, folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` that replaces it at the end, if nothing failed.

    `UserError`: there is something else there (a folder, a device, a pipe), which stays.
    """
    if path.exists() and not path.is_file():
        raise UserError("there is something here that is no file", where=display_path(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.unlink(missing_ok=True)  # a link planted there would be written through
    try:
        yield temporary
        sync(temporary)
        temporary.replace(path)
        sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def fresh_folder(path: Path) -> None:
    """An empty folder at `path`, whatever was there before; a link there is not followed."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)


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
