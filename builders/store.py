"""The `build/` folder: intermediate tables, keyed by the content of what they came from."""

import fcntl
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from builders.errors import UserError
from builders.folders import writable

Say = Callable[[str], None]


def digest(value: Any) -> str:
    """A hash of plain JSON-able data: 16 hex digits, the same on every machine."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def row_id(*parts: object) -> str:
    """The id of a row: a hash of what names it, 16 hex digits."""
    return hashlib.sha256("\t".join(map(str, parts)).encode()).hexdigest()[:16]


def code_digest(*modules: ModuleType) -> str:
    """A hash of the source of these modules and packages: changed code makes a step anew."""
    paths = [p for m in modules for p in _sources(m)]
    return digest([hashlib.sha256(p.read_bytes()).hexdigest() for p in paths])


def _sources(module: ModuleType) -> list[Path]:
    """The file of a module; of a package all code and YAML below its folder."""
    path = Path(str(module.__file__))
    if path.name != "__init__.py":
        return [path]
    return sorted(p for p in path.parent.rglob("*") if p.suffix in (".py", ".yaml"))


def file_sha256(path: Path) -> str:
    """The sha256 of a file, in hex, read in bounded memory."""
    try:
        with path.open("rb") as f:
            return hashlib.file_digest(f, "sha256").hexdigest()
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", where=path) from error


def files_sha256(settings: Any) -> list[str]:
    """The sha256 of each file that settings name: what a step's key holds beside their paths.

    `settings`: mappings and sequences, as `model_dump()` gives them; a file is a `Path` in them.
    """
    if isinstance(settings, Path):
        return [file_sha256(settings)]
    if isinstance(settings, Mapping):
        return [sha for _, value in sorted(settings.items()) for sha in files_sha256(value)]
    if isinstance(settings, (list, tuple)):
        return [sha for value in settings for sha in files_sha256(value)]
    return []


@dataclass(frozen=True)
class Made:
    """A finished step: its folder and the key that names its content."""

    path: Path
    key: str


@dataclass
class Store:
    """Steps that were made once and are reused while their inputs stay the same.

    A step is a folder `<name>-<key>`; the key hashes the step's name, version, parameters and
    the keys of its inputs. It is made in a temporary folder and renamed, so that it is there
    whole or not at all. A step that resumes finds its half-done work in that temporary folder,
    or keeps it under `work`, where steps with other keys can go on from it too.
    """

    root: Path
    say: Say

    def step(
        self,
        name: str,
        make: Callable[[Path], None],
        *,
        version: int | str,
        parameters: Mapping[str, Any],
        inputs: Iterable[str] = (),
        resumes: bool = False,
    ) -> Made:
        """The folder of this step, made by `make(folder)` unless it is there already.

        `version`: a number that is raised by hand, or a digest of the code that `make` calls; the
        module in which `make` is written need not be in it. `resumes`: `make` goes on from what a
        killed run with the same key left in the folder; else it begins with an empty one.
        """
        if isinstance(version, str):
            version = digest([version, code_digest(sys.modules[make.__module__])])
        key = digest([name, version, dict(parameters), list(inputs)])
        done = self.root / f"{name}-{key}"
        if done.is_dir():
            self.say(f"  {name}: reused ({done.name})")
            return Made(done, key)
        self.say(f"  {name}: making ({done.name})")
        temporary = self.root / f".{done.name}.tmp"
        if not resumes:
            shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True, exist_ok=True)
        make(temporary)
        temporary.rename(done)
        return Made(done, key)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other runs out of this folder; `UserError` where one is at work in it."""
        writable(self.root)
        with (self.root / ".lock").open("w") as f:
            try:
                fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UserError(
                    "another run is at work in this folder",
                    where=self.root,
                    hint="wait for it, or give this run its own folder with --build",
                ) from None
            yield

    def work(self, name: str) -> Path:
        """A folder for half-done work that a later run goes on from."""
        path = self.root / "work" / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def checksum(self, path: Path) -> str:
        """The sha256 of an input file; remembered while its size and time of change stay."""
        known_path = self.root / "checksums.json"
        known: dict[str, str] = {}
        if known_path.is_file():
            try:
                known = json.loads(known_path.read_text("utf-8"))
            except ValueError:
                known = {}
        try:
            stat = path.stat()
        except OSError as error:
            raise UserError(f"cannot be read: {error.strerror}", where=path) from error
        name = f"{path.resolve()}|{stat.st_size}|{stat.st_mtime_ns}"
        if name not in known:
            if stat.st_size > 1 << 30:
                self.say(f"  checksum of {path.name} ({stat.st_size / 1e9:.1f} GB), once")
            known[name] = file_sha256(path)
            self.root.mkdir(parents=True, exist_ok=True)
            temporary = known_path.with_suffix(f".{os.getpid()}.tmp")
            temporary.write_text(json.dumps(known, indent=1, sort_keys=True), "utf-8")
            temporary.replace(known_path)
        return known[name]
