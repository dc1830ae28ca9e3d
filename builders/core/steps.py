"""Steps: intermediate results that are made once, and again only when their sources change.

A step is a frozen model. Its fields are its parameters, the steps and files among them are its
inputs, and its method `make` writes one folder. Its key is computed from the fields, the keys of
the inputs and a digest of the code that `make` can reach (`builders.core.reach`), so nobody has to
list dependencies.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import msgspec
from pydantic import BaseModel

from factdrift.builders.core.config import Strict, display_path
from factdrift.builders.core.engine import Engine, EngineName, engine
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import alone, disk_errors, fresh_folder, locked, replacing
from factdrift.builders.core.hashing import digest, file_sha256
from factdrift.builders.core.reach import ROOT, Reach, reach
from factdrift.builders.core.seals import first_damage, write_checksums

__outside_step_keys__ = True
__methods_work_in__ = {"engine": "factdrift.builders.core.engine"}

Say = Callable[[str], None]
_MUCH_SPILLED = 100_000_000
"""Bytes on disk beyond the memory from which a run says so."""

NOT_IN_KEY = "not in the key"
"""Marks a field that does not affect the result: `offline: Annotated[bool, NOT_IN_KEY]`."""


class Step(Strict):
    """One intermediate result: a folder, made from fields, files and other steps.

    A subclass sets `name`, declares its fields and defines `make`. Fields can hold plain data,
    models, dates, other steps, `Source`s and paths. Files count by their content and not by their
    paths. A field that is marked `NOT_IN_KEY` does not count.
    """

    name: ClassVar[str]
    """The first part of the name of the folder; the key is the second."""

    def make(self, out: Path, workspace: "Workspace") -> None:
        """Write the result into the empty folder `out`, and nothing anywhere else."""
        raise NotImplementedError

    def __copy__(self) -> Self:
        """Copy without the cached key and inputs, because `model_copy` then changes fields."""
        copied = super().__copy__()
        for attribute_name in ("key", "inputs", "upstream"):
            copied.__dict__.pop(attribute_name, None)
        return copied

    def prebuilt_folder(self) -> Path | None:
        """Return a folder that somebody provided, so that nothing is made, or None."""
        return None

    def damage(self, folder: Path) -> str | None:
        """Return what was changed in the folder of this step since it was written, or None."""
        return first_damage(folder)

    @cached_property
    def key(self) -> str:
        """The key of the content of the folder: 16 hex digits, the same on every machine."""
        return digest([self.name, _of_model(self), self.code().digest])

    def code(self) -> Reach:
        """Return the code, data files and libraries that `make` depends on."""
        models: list[BaseModel] = [self]
        for value in self._inside():
            if isinstance(value, BaseModel) and not isinstance(value, Step):
                models.append(value)
        extra_names = {name for model in models for name in getattr(model, "libraries", ())}
        module_names = {type(model).__module__ for model in models}
        plugin_modules = {
            module_name for module_name in module_names if module_name.partition(".")[0] != ROOT
        }
        own_module = type(self).__module__
        return reach(own_module, frozenset(extra_names), frozenset(plugin_modules - {own_module}))

    def _inside(self) -> Iterator[Any]:
        """Yield everything inside the fields."""
        for value in _values(self):
            yield from _parts(value)

    @cached_property
    def inputs(self) -> tuple["Step", ...]:
        """The steps among the fields, each once, in the order of the fields."""
        return tuple(
            {
                input_step.key: input_step
                for input_step in self._inside()
                if isinstance(input_step, Step)
            }.values()
        )

    @cached_property
    def upstream(self) -> frozenset[str]:
        """The keys of all steps that this one is made from, however far back."""
        return frozenset().union(*({step.key} | step.upstream for step in self.inputs))


@dataclass(frozen=True)
class Workspace:
    """The build folder with the steps in it, and the settings they are made with.

    `root` is the folder `build/`, `jobs` the number of processes, and `memory` that of
    tables, such as `2GB`. Results never depend on `engine_name`, `jobs` and `memory`.
    """

    root: Path
    say: Say
    engine_name: EngineName = "duckdb"
    jobs: int = 1
    memory: str = "4GB"
    making: Step | None = None
    """The step that is being made. It can only open the folders of its own inputs."""
    folders_by_key: dict[str, Path] = field(default_factory=dict, compare=False)
    """The folders that were opened so far, by key, so that each is reported once."""
    steps: dict[str, Step] = field(default_factory=dict, compare=False)
    """The steps that were opened so far, and the steps they are made from, in order, by key."""

    def folder(self, step: Step) -> Path:
        """Return the folder of a step; first make it, and its inputs, if they are not there.

        A step is made in a temporary folder that is then renamed, so that no folder is incomplete.
        Where recipes are built side by side, the first that needs a step makes it for all.
        """
        if self.making and step.key not in self.making.upstream:
            raise LookupError(f"{self.making.name} reads {step.name}, which it is not made from")
        self.note(step)
        known_folder = step.prebuilt_folder() or self.folders_by_key.get(step.key)
        if known_folder is not None:
            return known_folder
        folder_name = f"{step.name}-{step.key}"
        finished_folder = self.root / folder_name
        with self._alone(folder_name):
            self._remove_damaged(step, finished_folder)
        if not finished_folder.is_dir():
            for input_step in step.inputs:
                self.folder(input_step)
            with self._alone(folder_name):
                if not finished_folder.is_dir():
                    self._make(step, finished_folder)
                    self.folders_by_key[step.key] = finished_folder
                    return finished_folder
        self.say(f"  {step.name}: reused ({folder_name})")
        with suppress(OSError):  # a build folder that only others may write
            os.utime(finished_folder)  # `clean` shows when a step was used last
        self.folders_by_key[step.key] = finished_folder
        return finished_folder

    def _alone(self, name: str) -> AbstractContextManager[None]:
        """Wait until no recipe beside this one works at the same thing."""
        return alone(self.root / "scratch" / "locks" / name)

    def _remove_damaged(self, step: Step, finished_folder: Path) -> None:
        """Remove the folder of a step if it was changed since it was written."""
        damage = first_damage(finished_folder) if finished_folder.is_dir() else None
        if damage is not None:
            self.say(f"  {step.name}: made anew ({finished_folder.name}: {damage})")
            fresh_folder(finished_folder)
            finished_folder.rmdir()

    def _make(self, step: Step, finished_folder: Path) -> None:
        """Make a step in a temporary folder, and rename that."""
        self.say(f"  {step.name}: making ({finished_folder.name})")
        unfinished_folder = self.root / f".{finished_folder.name}.tmp"
        fresh_folder(unfinished_folder)
        with self.damage_told():
            step.make(unfinished_folder, replace(self, making=step))
        write_checksums(unfinished_folder)
        unfinished_folder.rename(finished_folder)

    @contextmanager
    def damage_told(self) -> Iterator[None]:
        """Raise `UserError` in place of any error in the block if a folder was changed meanwhile.

        Damaged tables raise errors of many kinds, deep in the libraries that read them; only the
        checksums tell them from bugs, so the folders in use are checked when something failed.
        """
        try:
            yield
        except UserError:
            raise
        except Exception as error:
            for key, step in self.steps.items():
                folder = step.prebuilt_folder() or self.folders_by_key.get(key)
                if folder and (damage := step.damage(folder)):
                    error_text = f"was changed while it was in use: {damage}"
                    hint_text = "run it again; if that happens again, look after the disk"
                    raise UserError(error_text, where=folder, hint=hint_text) from error
            raise

    def note(self, step: Step) -> None:
        """Remember a step, after the steps that it is made from."""
        if step.key not in self.steps:
            for input_step in step.inputs:
                self.note(input_step)
            self.steps[step.key] = step

    @contextmanager
    def engine(self) -> Iterator[Engine]:
        """Open the engine of this run, with its scratch folder in the build folder.

        At the end it says how much of the tables lay on disk, if that was much.
        """
        scratch = self.root / "scratch"
        with engine(self.engine_name, scratch, self.memory, self.jobs) as opened_engine:
            yield opened_engine
        spilled_tables, waiting_rows = opened_engine.spilled
        if spilled_tables + waiting_rows >= _MUCH_SPILLED:
            text = (
                f"  {display_path(scratch)} held up to {_gigabytes(spilled_tables + waiting_rows)}"
                f" beyond --memory {self.memory}: {_gigabytes(spilled_tables)} of tables,"
                f" {_gigabytes(waiting_rows)} of rows to sort"
            )
            if opened_engine.parts > 1:
                text += f"; made in {opened_engine.parts} parts"
            self.say(text)

    def work(self, name: str) -> Path:
        """Return a folder for unfinished work or answers, with which later runs continue."""
        path = self.root / "work" / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def lock(self) -> AbstractContextManager[None]:
        """Lock the build folder for this run; raise `UserError` if another run has locked it."""
        return locked(self.root, "wait for it, or give this run its own folder with --build")

    def checksum(self, path: Path) -> str:
        """Return the sha256 of an input file, remembered until its size or its time changes."""
        known_path = self.root / "checksums.json"
        known_sums = _known_sums(known_path)
        with disk_errors(path):
            file_stat = path.stat()
        file_identity = f"{path.resolve()}|{file_stat.st_size}|{file_stat.st_mtime_ns}"
        # Each entry has a seal: a damaged one would name another input in the manifest.
        known_sum, _, seal = known_sums.get(file_identity, "").partition(" ")
        if seal != _seal(file_identity, known_sum):
            if file_stat.st_size > 1 << 30:  # it takes a second or more, so say why
                self.say(f"  checksum of {path.name} ({file_stat.st_size / 1e9:.1f} GB), once")
            known_sum = file_sha256(path)
            with self._alone("checksums"), replacing(known_path) as unfinished:
                known_sums = _known_sums(known_path)  # a recipe beside this one may have added some
                known_sums[file_identity] = f"{known_sum} {_seal(file_identity, known_sum)}"
                unfinished.write_text(json.dumps(known_sums, indent=1, sort_keys=True), "utf-8")
        return known_sum


def _gigabytes(byte_count: int) -> str:
    return f"{byte_count / 1e9:.1f} GB"


def _known_sums(known_path: Path) -> dict[str, str]:
    """Return the remembered checksums of inputs, none if there are none or the file is broken."""
    with suppress(FileNotFoundError, ValueError):
        return msgspec.json.decode(known_path.read_bytes(), type=dict[str, str])
    return {}


def _seal(file_identity: str, checksum: str) -> str:
    """Return the digest that shows a remembered checksum of an input to be unchanged."""
    return digest([file_identity, checksum])


class NotMadeError(LookupError):
    """A step has not been made, and the steps after it cannot be planned without its result."""


@dataclass(frozen=True)
class Plan(Workspace):
    """A workspace that makes no step, but tells which steps a run would make.

    If a step is not there, an earlier result of the same name takes its place, so that the steps
    after it can be planned. Raises `NotMadeError` if there is no such result.
    """

    def is_made(self, step: Step) -> bool:
        """Whether the step is there, so that a run would use it again."""
        return (
            step.prebuilt_folder() is not None or (self.root / f"{step.name}-{step.key}").is_dir()
        )

    def folder(self, step: Step) -> Path:
        """Return the folder of a step, or the newest folder of an earlier one with its name."""
        self.note(step)
        prebuilt_folder = step.prebuilt_folder()
        if prebuilt_folder or self.is_made(step):
            return prebuilt_folder or self.root / f"{step.name}-{step.key}"
        earlier_folders = [
            candidate
            for candidate in self.root.glob(f"{step.name}-*")
            if len(candidate.name) - len(step.name) == 17  # a hyphen and the key
        ]
        if not earlier_folders:
            raise NotMadeError(step.name)
        return max(earlier_folders, key=lambda path: path.stat().st_mtime_ns)


def key_data(value: Any) -> Any:
    """Return the part of a field's value that belongs to a key, as JSON data.

    Raises `TypeError` for a type whose content is not known.
    """
    match value:
        case Step():
            return value.key
        case _ if hasattr(value, "key_data"):  # such as `Source`, which decides for itself
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
            return [
                [key_data(mapping_key), key_data(mapping_value)]
                for mapping_key, mapping_value in value.items()
            ]
        case tuple() | list():
            return [key_data(inner_value) for inner_value in value]
        case set() | frozenset():
            return sorted(
                (key_data(inner_value) for inner_value in value),
                key=lambda inner_value: json.dumps(inner_value),
            )
    if is_dataclass(value) and not isinstance(value, type):
        field_values = {
            class_field.name: key_data(getattr(value, class_field.name))
            for class_field in fields(value)
        }
        return [type(value).__name__, field_values]
    raise TypeError(f"a step's field cannot hold {value!r}: its content is not known")


def _of_model(model: BaseModel) -> Any:
    counted_fields = {
        field_name: key_data(getattr(model, field_name))
        for field_name, field_info in type(model).model_fields.items()
        if NOT_IN_KEY not in field_info.metadata
    }
    return [type(model).__name__, counted_fields]


def _of_path(path: Path) -> Any:
    """Return the sha256 of a file, or the names and sha256 of all files in a folder."""
    if path.is_dir():
        file_paths = sorted(file_path for file_path in path.rglob("*") if file_path.is_file())
        return [
            [file_path.relative_to(path).as_posix(), file_sha256(file_path)]
            for file_path in file_paths
        ]
    if not path.exists():
        raise UserError("no such file", where=path)
    return file_sha256(path)


def _values(model: BaseModel) -> Iterator[Any]:
    for field_name in type(model).model_fields:
        yield getattr(model, field_name)


def _parts(value: Any) -> Iterator[Any]:
    """Yield a value and everything inside it, but nothing inside of steps."""
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
