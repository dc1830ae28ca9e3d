"""Steps: intermediate results that are made once, and made again when what they came from changes.

A step is a frozen model. Its fields are its parameters, its inputs are the steps and files among
its fields, and its one method makes one folder. Its key is computed from the fields, the keys of
the inputs and a digest of the code that the method can reach (`builders.core.reach`), so that
nobody has to list anything and nobody can forget anything.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import msgspec
from pydantic import BaseModel

from factdrift.builders.core.config import Strict
from factdrift.builders.core.engine import Engine, EngineName, engine
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, fresh_folder, locked, replacing
from factdrift.builders.core.hashing import digest, file_sha256
from factdrift.builders.core.reach import ROOT, Reach, reach

__outside_step_keys__ = True
__methods_work_in__ = {"engine": "factdrift.builders.core.engine"}

Say = Callable[[str], None]

NOT_IN_KEY = "not in the key"
"""Marks a field that cannot change the result: `offline: Annotated[bool, NOT_IN_KEY] = False`."""


class Step(Strict):
    """One intermediate result: a folder, made from fields, files and other steps.

    A subclass sets `name`, declares its fields, and writes `make`. Fields hold plain data, models,
    dates, other steps, `Source`s and paths of files (which count by their content, not by where
    they lie). A field marked `NOT_IN_KEY` does not count.
    """

    name: ClassVar[str]
    """What the folder is called, before its key."""

    def make(self, out: Path, workspace: "Workspace") -> None:
        """Write the result into the empty folder `out`; nothing else may be written."""
        raise NotImplementedError

    def __copy__(self) -> Self:
        """A copy without the cached key and inputs, for `model_copy` may then change its fields."""
        copied = super().__copy__()
        for name in ("key", "inputs", "upstream"):
            copied.__dict__.pop(name, None)
        return copied

    def prebuilt_folder(self) -> Path | None:
        """The finished folder, where somebody gave it and nothing is to be made."""
        return None

    @cached_property
    def key(self) -> str:
        """What names the content of the folder: 16 hex digits, the same on every machine."""
        return digest([self.name, _of_model(self), self.code().digest])

    def code(self) -> Reach:
        """The code, data files and libraries that `make` depends on."""
        field_values = (one for one in self._inside() if not isinstance(one, Step))
        models = (self, *(one for one in field_values if isinstance(one, BaseModel)))
        extras = {name for one in models for name in getattr(one, "libraries", ())}
        modules = {type(model).__module__ for model in models}
        plugins = {name for name in modules if name.partition(".")[0] != ROOT}
        own = type(self).__module__
        return reach(own, frozenset(extras), frozenset(plugins - {own}))

    def _inside(self) -> Iterator[Any]:
        """Everything that the fields hold."""
        for value in _values(self):
            yield from _parts(value)

    @cached_property
    def inputs(self) -> tuple["Step", ...]:
        """The steps among the fields, each once, in the order of the fields."""
        return tuple({one.key: one for one in self._inside() if isinstance(one, Step)}.values())

    @cached_property
    def upstream(self) -> frozenset[str]:
        """The keys of all steps that this one is made from, however far back."""
        return frozenset().union(*({step.key} | step.upstream for step in self.inputs))


@dataclass(frozen=True)
class Workspace:
    """The build folder with all steps that were made in it, and what they are made with.

    `root` is the folder `build/`; `jobs` are processes; `memory` is DuckDB's limit, like `2GB`.
    Results never depend on `engine_name`, `jobs` and `memory`.
    """

    root: Path
    say: Say
    engine_name: EngineName = "duckdb"
    jobs: int = 1
    memory: str = "4GB"
    making: Step | None = None
    """The step that is being made: only what it is made from may be asked for."""
    found: dict[str, Path] = field(default_factory=dict, compare=False)
    """The folders that were asked for, by key: each is said once."""
    steps: dict[str, Step] = field(default_factory=dict, compare=False)
    """All steps that were asked for and what they are made from, in order, by key."""

    def folder(self, step: Step) -> Path:
        """The folder of a step; it and its inputs are made unless they are there already.

        A step is made in a temporary folder and renamed, so that it is there whole or not at all.
        """
        if self.making and step.key not in self.making.upstream:
            raise LookupError(f"{self.making.name} reads {step.name}, which it is not made from")
        self.note(step)
        if (path := step.prebuilt_folder() or self.found.get(step.key)) is not None:
            return path
        folder_name = f"{step.name}-{step.key}"
        finished_folder = self.root / folder_name
        damage = first_damage(finished_folder) if finished_folder.is_dir() else None
        if damage is not None:
            self.say(f"  {step.name}: made anew ({folder_name}: {damage})")
            fresh_folder(finished_folder)
            finished_folder.rmdir()
        if finished_folder.is_dir():
            self.say(f"  {step.name}: reused ({folder_name})")
            with suppress(OSError):  # a build folder that only others may write
                os.utime(finished_folder)
            self.found[step.key] = finished_folder
            return finished_folder
        for input_step in step.inputs:
            self.folder(input_step)
        self.say(f"  {step.name}: making ({folder_name})")
        unfinished_folder = self.root / f".{folder_name}.tmp"
        fresh_folder(unfinished_folder)
        step.make(unfinished_folder, replace(self, making=step))
        write_checksums(unfinished_folder)
        unfinished_folder.rename(finished_folder)
        self.found[step.key] = finished_folder
        return finished_folder

    def note(self, step: Step) -> None:
        """Remember a step, after those that it is made from."""
        if step.key not in self.steps:
            for input_step in step.inputs:
                self.note(input_step)
            self.steps[step.key] = step

    def engine(self) -> AbstractContextManager[Engine]:
        """The engine of this run, with its scratch folder in the build folder."""
        return engine(self.engine_name, self.root / "scratch", self.memory, self.jobs)

    def work(self, name: str) -> Path:
        """A folder that later runs go on from: half-done work, answers of services."""
        path = self.root / "work" / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def lock(self) -> AbstractContextManager[None]:
        """Keep other runs out of the build folder; `UserError` where one is at work in it."""
        return locked(self.root, "wait for it, or give this run its own folder with --build")

    def checksum(self, path: Path) -> str:
        """The sha256 of an input file; remembered while its size and time of change stay."""
        known_path = self.root / "checksums.json"
        known_sums: dict[str, str] = {}
        with suppress(FileNotFoundError, ValueError):
            known_sums = msgspec.json.decode(known_path.read_bytes(), type=dict[str, str])
        with disk_errors(path):
            stat = path.stat()
        file_identity = f"{path.resolve()}|{stat.st_size}|{stat.st_mtime_ns}"
        # Each entry has a seal: a damaged one would name another input in the manifest.
        known_sum, _, seal = known_sums.get(file_identity, "").partition(" ")
        if seal != _seal(file_identity, known_sum):
            if stat.st_size > 1 << 30:
                self.say(f"  checksum of {path.name} ({stat.st_size / 1e9:.1f} GB), once")
            known_sum = file_sha256(path)
            known_sums[file_identity] = f"{known_sum} {_seal(file_identity, known_sum)}"
            with replacing(known_path) as unfinished:
                unfinished.write_text(json.dumps(known_sums, indent=1, sort_keys=True), "utf-8")
        return known_sum


def _seal(file_identity: str, checksum: str) -> str:
    """What a remembered checksum of an input has to agree with."""
    return digest([file_identity, checksum])


CHECKSUMS = ".sha256.json"
"""The file of a step's folder that has the sha256 of every other file in it."""


def write_checksums(folder: Path) -> None:
    """Write the sha256 of every file of a finished step, by its path in the folder."""
    text = json.dumps(folder_checksums(folder), indent=1, sort_keys=True)
    (folder / CHECKSUMS).write_text(text + "\n", "utf-8")


def folder_checksums(folder: Path) -> dict[str, str]:
    """The sha256 of every file below a folder, by its path there; links count by what they are."""
    checksums = {}
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder).as_posix()
        if place != CHECKSUMS and not path.is_dir():
            checksums[place] = file_sha256(path)
    return checksums


def first_damage(folder: Path) -> str | None:
    """What of a step's folder is not as it was written; None where all is.

    A disk or a hand may have changed a file since. A folder of a version before 0.3 has no
    checksums, and is made anew as well.
    """
    try:
        written = msgspec.json.decode((folder / CHECKSUMS).read_bytes(), type=dict[str, str])
        current = folder_checksums(folder)
    except FileNotFoundError:
        return "it has no checksums"
    except (msgspec.DecodeError, OSError, UserError):
        return "it cannot be read"
    for place in sorted(written.keys() | current.keys()):
        if written.get(place) != current.get(place):
            return f"{place} is not what was written"
    return None


class NotMadeError(LookupError):
    """A step that has not been made, and whose result was needed to say what comes after it."""


@dataclass(frozen=True)
class Plan(Workspace):
    """A workspace in which nothing is made: it says which steps would be.

    Where a step is not there, an earlier result of the same name stands in for it, so that the
    steps after it can be told. `NotMadeError` where there is none.
    """

    def is_made(self, step: Step) -> bool:
        """Whether the step is there and a run would take it up as it is."""
        return (
            step.prebuilt_folder() is not None or (self.root / f"{step.name}-{step.key}").is_dir()
        )

    def folder(self, step: Step) -> Path:
        """The folder of a step, or an earlier one of its name."""
        self.note(step)
        prebuilt = step.prebuilt_folder()
        if prebuilt or self.is_made(step):
            return prebuilt or self.root / f"{step.name}-{step.key}"
        earlier = [
            candidate
            for candidate in self.root.glob(f"{step.name}-*")
            if len(candidate.name) - len(step.name) == 17
        ]
        if not earlier:
            raise NotMadeError(step.name)
        return max(earlier, key=lambda path: path.stat().st_mtime_ns)


def key_data(value: Any) -> Any:
    """What of a field's value belongs to a key, as plain JSON-able data.

    `TypeError`: a value of a type whose content cannot be told.
    """
    match value:
        case Step():
            return value.key
        case _ if hasattr(value, "key_data"):  # it says itself what of it belongs to a key
            return value.key_data()
        case BaseModel():
            return _of_model(value)
        case None | str() | bool() | int() | float():
            return value
        case date():
            return value.isoformat()
        case Path():
            return _of_path(value)
        case Mapping():
            return [[key_data(k), key_data(v)] for k, v in value.items()]
        case tuple() | list():
            return [key_data(one) for one in value]
        case set() | frozenset():
            return sorted((key_data(one) for one in value), key=lambda one: json.dumps(one))
    if is_dataclass(value) and not isinstance(value, type):
        field_values = {f.name: key_data(getattr(value, f.name)) for f in fields(value)}
        return [type(value).__name__, field_values]
    raise TypeError(f"a step's field cannot hold {value!r}: its content is not known")


def _of_model(model: BaseModel) -> Any:
    counted_fields = {
        name: key_data(getattr(model, name))
        for name, field_info in type(model).model_fields.items()
        if NOT_IN_KEY not in field_info.metadata
    }
    return [type(model).__name__, counted_fields]


def _of_path(path: Path) -> Any:
    """A file by its content; a folder by the names and contents of all files below it."""
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if p.is_file())
        return [[p.relative_to(path).as_posix(), file_sha256(p)] for p in files]
    if not path.exists():
        raise UserError("no such file", where=path)
    return file_sha256(path)


def _values(model: BaseModel) -> Iterator[Any]:
    for name in type(model).model_fields:
        yield getattr(model, name)


def _parts(value: Any) -> Iterator[Any]:
    """A value and everything inside it; a step is one part, and nothing inside it is looked at."""
    yield value
    inner: Iterable[Any] = ()
    match value:
        case Step():
            pass
        case BaseModel():
            inner = _values(value)
        case Mapping():
            inner = value.values()
        case tuple() | list() | set() | frozenset():
            inner = value
    for inner_value in inner:
        yield from _parts(inner_value)
