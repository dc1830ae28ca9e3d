"""The `build/` folder: intermediate tables, keyed by the content of what they came from."""

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from builders.errors import UserError

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
    """The files of a module; of a package all that lie in its folder."""
    path = Path(str(module.__file__))
    return sorted(path.parent.rglob("*.py")) if path.name == "__init__.py" else [path]


def file_sha256(path: Path) -> str:
    """The sha256 of a file, in hex, read in bounded memory."""
    try:
        with path.open("rb") as f:
            return hashlib.file_digest(f, "sha256").hexdigest()
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", where=path) from error


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
    whole or not at all. A step that resumes keeps its half-done work under `work`.
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
    ) -> Made:
        """The folder of this step, made by `make(folder)` unless it is there already."""
        key = digest([name, version, dict(parameters), list(inputs)])
        done = self.root / f"{name}-{key}"
        if done.is_dir():
            self.say(f"  {name}: reused ({done.name})")
            return Made(done, key)
        self.say(f"  {name}: making ({done.name})")
        temporary = self.root / f".{done.name}.tmp"
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        make(temporary)
        temporary.rename(done)
        return Made(done, key)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other runs out of this folder; `UserError` where one is at work in it."""
        self.root.mkdir(parents=True, exist_ok=True)
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
