"""Files and folders: the project's own data, files that users name, locks and atomic writes."""

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

_DATA_HOME = Path(__file__).resolve().parents[2]
"""The folder of the packages and the data: the checkout, or `factdrift/` in an installation."""

# every scalar stays text, so that `on: July 1` is not the boolean true
_TextLoader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def resource(*path_parts: str) -> Path:
    """Return the path of a data file or folder of the project, given by its path in a checkout.

    Examples are `resource("templates")` and `resource("data_cards", name)`. In an installation
    it is the copy in the wheel.
    """
    return _DATA_HOME / Path(*path_parts)


def read_texts(path: Path) -> dict[str, Any]:
    """Read a YAML file of the project as a mapping; all scalars are text, even `on` and `1990`."""
    texts = yaml.load(path.read_text("utf-8"), _TextLoader)  # noqa: S506 - it makes nothing but text
    if not isinstance(texts, dict):
        raise TypeError(f"{path}: names are expected")
    return texts


def recipe_path(recipe_file: Path, path: str) -> Path:
    """Resolve a path in a recipe, which is relative to the folder of the recipe.

    Paths in a bundled recipe are those of a checkout, also if the project is installed elsewhere.
    """
    if recipe_file.resolve().parent != resource("builders/recipes"):
        return recipe_file.parent / path
    return resource(os.path.normpath(Path("builders/recipes") / path))


def _of_recipe(path: Path, info: ValidationInfo) -> Path:
    recipe_file = (info.context or {}).get("path")
    return recipe_path(recipe_file, str(path)) if recipe_file else path


RecipePath = Annotated[Path, AfterValidator(_of_recipe), PlainSerializer(lambda path: path.name)]
"""A path in a recipe, relative to the recipe. It is serialized as its name alone."""


def _model_of_recipe(model_name: str, info: ValidationInfo) -> str:
    model_folder = _of_recipe(Path(model_name), info)
    return str(model_folder) if model_folder.is_dir() else model_name


def _placeless(model_name: str) -> str:
    return Path(model_name).name if Path(model_name).is_dir() else model_name


ModelName = Annotated[str, AfterValidator(_model_of_recipe), PlainSerializer(_placeless)]
"""The name of a model on the Hub, or of a folder with a model, relative to the recipe."""


def find_files(
    named_paths: str | Path | Sequence[str | Path],
    accepts_name: Callable[[str], bool],
    file_kind: str,
    hint: str,
) -> list[Path]:
    """Return the files that paths, globs and folders name, each once, sorted within each of them.

    Of a folder, these are the files whose name `accepts_name` accepts, but for hidden ones: macOS
    writes `._NAME` beside what it unpacks. Raises `UserError` if one
    of the paths names no file. For its message, `file_kind` says what the files are ("dump"), and
    `hint` how they are named.
    """
    found_files: dict[Path, None] = {}
    for named_path in [named_paths] if isinstance(named_paths, str | Path) else named_paths:
        path = Path(named_path)
        if path.is_dir():
            entry_files = [
                candidate
                for candidate in path.iterdir()
                if candidate.is_file()
                and accepts_name(candidate.name)
                and not candidate.name.startswith(".")
            ]
            if not entry_files:
                raise UserError(f"no {file_kind} in this folder", where=path, hint=hint)
        elif path.is_file():
            entry_files = [path]
        else:
            matches = map(Path, glob(str(named_path)))  # noqa: PTH207 - the pattern may be absolute
            entry_files = [match for match in matches if match.is_file()]
            if not entry_files:
                raise UserError("no such file", where=str(named_path))
        found_files.update(dict.fromkeys(sorted(entry_files)))
    if not found_files:
        raise UserError(f"no {file_kind} is given")
    return list(found_files)


def require_own_file(path: Path) -> None:
    """Raise `UserError` if a file is a link that leads out of its folder.

    A stranger's folder of templates could have one, and messages or pages would show its text. In
    our own folders it is taken, because some installers make links of all files.
    """
    try:
        is_own = path.resolve().is_relative_to(path.parent.resolve())
    except (OSError, RuntimeError):  # a link that leads to itself
        is_own = False
    our_folders = (resource("templates"), resource("annotation/layouts"))
    if not is_own and not any(map(path.parent.resolve().is_relative_to, our_folders)):
        hint_text = "put the file itself there"
        raise UserError(
            "is a link that leads out of its folder", where=display_path(path), hint=hint_text
        )


def is_pipe(path: Path) -> bool:
    """Whether a path is a named pipe; False if the path cannot be examined."""
    try:
        return path.is_fifo()
    except (OSError, ValueError):
        return False


def writable(folder: Path) -> None:
    """Make a folder before hours of work for it; raise `UserError` if that fails."""
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def new_folder(folder: Path) -> Iterator[None]:
    """Make a folder for work that may refuse: then it goes again, and so do its new parents.

    What was there before, or has something in it, stays. Raises `UserError` if it cannot be made.
    """
    made_folders = [path for path in (folder, *folder.parents) if not path.exists()]
    writable(folder)
    try:
        yield
    except BaseException:
        for made_folder in made_folders:
            with suppress(OSError):  # something lies in it
                made_folder.rmdir()
        raise


# The system's messages for errors that the user can mend: the disk is full, a permission is
# lacking, a path is too long, and the like.
_REFUSAL_TEXTS = (
    "Symlink loop",  # pathlib's own words for ELOOP
    *(
        os.strerror(getattr(errno, name))
        for name in (
            *("ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EACCES", "EPERM", "EIO"),
            *("ENAMETOOLONG", "ENOTDIR", "EISDIR", "ELOOP", "EEXIST"),
        )
    ),
)


def refusal(error: Exception) -> str | None:
    """Return the system's message if an error comes from a disk or a path, or None.

    Some libraries raise errors of their own, which contain the message of the system.
    """
    if isinstance(error, OSError) and error.strerror in _REFUSAL_TEXTS:
        return error.strerror
    return next(
        (refusal_text for refusal_text in _REFUSAL_TEXTS if refusal_text in str(error)), None
    )


@contextmanager
def disk_errors(folder: Path) -> Iterator[None]:
    """Turn errors of the disk, from reading or writing, into `UserError`."""
    try:
        yield
    except OSError as error:
        raise UserError.of_disk(error, folder) from error


@contextmanager
def locked(folder: Path, hint: str = "wait for it to end") -> Iterator[None]:
    """Lock a folder, which is made if necessary, for one run at a time.

    Raises `UserError` if another run has locked it. The lock ends with the process in any case,
    and leaves no file.
    """
    writable(folder)
    with disk_errors(folder):
        folder_handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(folder_handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            error_text = "another run is at work here"
            raise UserError(error_text, where=display_path(folder), hint=hint) from None
        yield
    finally:
        os.close(folder_handle)


@contextmanager
def alone(lock_path: Path) -> Iterator[None]:
    """Wait until no other process is in a block with this lock file, which is made if necessary.

    The lock ends with the process in any case; the file stays.
    """
    lock_path.parent.mkdir(parents=True, exist_ok=True)
    lock_handle = os.open(lock_path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    try:
        fcntl.flock(lock_handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock_handle)


def hold_shared(lock_path: Path) -> int:
    """Share a lock on a file until this process ends; `wait_for_sharers` waits for that.

    The file is made if necessary. Returns its handle.
    """
    lock_handle = os.open(lock_path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    fcntl.flock(lock_handle, fcntl.LOCK_SH)
    return lock_handle


def wait_for_sharers(lock_path: Path, seconds: float) -> bool:
    """Wait until no process shares the lock on a file; return False if that takes too long."""
    lock_handle = os.open(lock_path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    try:
        deadline = time.monotonic() + seconds
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(lock_handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            if time.monotonic() > deadline:
                return False
            time.sleep(0.1)  # flock has no time limit of its own
    finally:
        os.close(lock_handle)


@contextmanager
def atomic_folder(folder: Path) -> Iterator[Path]:
    """Make a hidden folder beside `folder` that is renamed to it at the end, if nothing failed."""
    staging_folder = folder.with_name(f".{folder.name}.tmp")
    try:
        fresh_folder(staging_folder)
        yield staging_folder
        move(staging_folder, folder)
    finally:
        shutil.rmtree(staging_folder, ignore_errors=True)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary file that replaces `path` at the end, if nothing failed.

    Raises `UserError` if `path` is a folder, a device or a pipe, which then stays.
    """
    if path.exists() and not path.is_file():
        raise UserError("there is something here that is no file", where=display_path(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary_path = clear_place(path.with_name(f".{path.name}.tmp"))
    try:
        yield temporary_path
        sync(temporary_path)
        temporary_path.replace(path)
        sync(path.parent)
    finally:
        temporary_path.unlink(missing_ok=True)


def clear_place(temporary_path: Path) -> Path:
    """Remove what lies at the place of a temporary file, and return the place.

    A link that somebody planted there would be written through.
    """
    with suppress(IsADirectoryError):  # which no file can be written to, as the caller will say
        temporary_path.unlink(missing_ok=True)
    return temporary_path


def fresh_folder(path: Path) -> None:
    """Make an empty folder at `path` and remove what was there; a link is not followed."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)


def move(staging_folder: Path, folder: Path) -> None:
    """Flush all files of a folder to the disk, and then rename it."""
    for inner_path in [*sorted(staging_folder.rglob("*")), staging_folder]:
        sync(inner_path)
    staging_folder.rename(folder)
    sync(folder.parent)


def sync(path: Path) -> None:
    """Flush a file or folder to the disk."""
    file_handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file_handle)
    finally:
        os.close(file_handle)
