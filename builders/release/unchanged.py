"""Runs of `release` that would make again what is there: they say so, and make nothing.

A run that ends well leaves a note in the build folder: what it was asked for, the state of all that
it read, and what it made. The same command looks there first. Where the state is as it was, and the
files of each release still have their sha256, it tells the outcomes anew, within a second or two;
otherwise, or without a note, everything goes its usual way.

The state is that of the project's own files, byte by byte, with recipes, templates and samples; of
Python and all installed packages, by their metadata; of the files of templates and corrections,
byte by byte; and of inputs that the command names, by size and time, as `Workspace.checksum`
believes them. What comes over a network, asks a model, or is a recipe or a package of somebody else
has no note.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

import factdrift
from factdrift.builders.core.config import display_path
from factdrift.builders.core.corrections import FILE as CORRECTIONS
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import locked, replacing, resource
from factdrift.builders.core.hashing import digest, file_sha256
from factdrift.builders.core.inputs import without_day
from factdrift.builders.core.progress import is_verbose
from factdrift.builders.core.progress import say as tell
from factdrift.builders.core.seals import sealed, unsealed
from factdrift.builders.core.tidy import USED
from factdrift.builders.release.outcome import Outcome, overview_lines

OWN_FOLDERS = (
    *("annotation", "builders", "data_cards", "filters", "reasoning", "samples"),
    *("scoring", "templates"),
)
"""The folders of the project's own files that a release may depend on, beside the package."""
_RUNS = "runs"
"""The folder of the notes, beside those of what a release is made from."""
_PLUGIN_MARK = b"[factdrift."
"""What the entry points of a package of an extension have, and those of the project itself."""
Say = Callable[[str], None]
_OUTCOMES = TypeAdapter(tuple[Outcome, ...])


@dataclass(frozen=True)
class AskedRun:
    """What a command asks of `release`, as far as the result depends on it.

    `options` are those whose values are plain, by name.
    """

    recipes: Sequence[str]
    given: Mapping[str, Sequence[str]]
    out: Path
    build: Path
    templates: Path
    corrections: Path | None
    options: Mapping[str, str | int | None] = field(default_factory=dict)

    def note_path(self) -> Path:
        """Return where the note of this command lies, if there is one."""
        asked = [
            str(Path.cwd()),
            list(self.recipes),
            {name: list(paths) for name, paths in self.given.items()},
            *map(str, (self.out, self.build, self.templates, self.corrections)),
            dict(self.options),
        ]
        return self.build / USED / _RUNS / f"{digest(asked)}.json"

    def state(self) -> str | None:
        """Return a digest of all that the result depends on, or None if that cannot be told."""
        libraries = _libraries()
        input_files = [*self._input_files()]
        if libraries is None or None in input_files or not all(map(_is_bundled, self.recipes)):
            return None
        own_templates = () if self.templates == resource("templates") else (self.templates,)
        corrections = self.corrections or CORRECTIONS
        package = Path(factdrift.__file__).parent  # in a checkout, it has links to the folders
        texts = [package, *map(resource, OWN_FOLDERS), *own_templates, corrections]
        return digest([sys.version, libraries, [_sums(text) for text in texts], input_files])

    def _input_files(self) -> Iterator[list[Any] | None]:
        """Yield path, size and time of each file of the inputs; None for what is not on the disk.

        Those are addresses, days of published dumps, and patterns of names.
        """
        for paths in self.given.values():
            for path in map(Path, without_day(paths)[0]):
                if not path.exists():
                    yield None
                for file_path in [path] if path.is_file() else sorted(path.rglob("*")):
                    if file_path.is_file():
                        status = file_path.stat()
                        yield [str(file_path.resolve()), status.st_size, status.st_mtime_ns]


def outcomes(asked_run: AskedRun, make: Callable[[Say], list[Outcome]]) -> list[Outcome]:
    """Return the outcomes of a run, which `make` makes with a function that says its lines.

    Nothing is made where the same run ended well before and nothing has changed since; then its
    outcomes are told anew. Raises `UserError` if another run is at work in the build folder.
    """
    state = asked_run.state()
    if state is None:
        return make(tell)
    earlier_outcomes = _earlier_outcomes(asked_run, state)
    if earlier_outcomes is not None:
        return earlier_outcomes
    warnings: list[str] = []

    def listen(line: str) -> None:
        if line.startswith("warning: "):
            warnings.append(line)
        tell(line)

    new_outcomes = make(listen)
    if state == asked_run.state():  # nothing was edited meanwhile
        _write_note(asked_run, state, new_outcomes, warnings)
    return new_outcomes


def _earlier_outcomes(asked_run: AskedRun, state: str) -> list[Outcome] | None:
    """Return the outcomes of the same run before, and tell them; None if something has changed."""
    note_path = asked_run.note_path()
    if not note_path.is_file():
        return None
    with locked(asked_run.build, "wait for it, or give this run its own folder with --build"):
        note = _read(note_path)
        if note is None or note.get("state") != state:
            return None
        noted_outcomes = _OUTCOMES.validate_python(note["outcomes"])
        outcomes: list[Outcome] = []
        for outcome, noted_release in zip(noted_outcomes, note["releases"], strict=True):
            start = time.monotonic()
            if _release_sums(outcome.folder) != noted_release:
                return None
            outcomes.append(outcome.met_again(time.monotonic() - start))
    for outcome in outcomes:
        tell(f"{outcome.dataset}: nothing that it is made from has changed")
        tell(f"  {outcome.summary}")
        tell(f"  verified: {display_path(outcome.folder)}")
        for line in outcome.lines(every_split=is_verbose()):
            tell(line)
    for line in note["warnings"]:
        tell(line)
    for line in overview_lines(outcomes) if len(outcomes) > 1 else ():
        tell(line)
    return outcomes


def _write_note(
    asked_run: AskedRun, state: str, outcomes: Sequence[Outcome], warnings: Sequence[str]
) -> None:
    """Write the note of a run that ended well."""
    own_warnings = {
        outcome.warning_line(warning) for outcome in outcomes for warning in outcome.warnings
    }
    document = {
        "state": state,
        "outcomes": _OUTCOMES.dump_python(tuple(outcomes), mode="json"),
        "releases": [_release_sums(outcome.folder) for outcome in outcomes],
        "warnings": [line for line in warnings if line not in own_warnings],
    }
    with replacing(asked_run.note_path()) as unfinished:
        unfinished.write_bytes(TypeAdapter(dict[str, Any]).dump_json(sealed(document)) + b"\n")


def _read(note_path: Path) -> dict[str, Any] | None:
    with suppress(OSError):
        return unsealed(note_path.read_bytes())
    return None


def _release_sums(folder: Path) -> list[Any]:
    """Return the sha256 of all files of a release, and of the manifests of its dataset."""
    manifests = sorted(folder.parent.glob("*/manifest.json"))
    return [_sums(folder, are_all=True), [[str(path), _sum(path)] for path in manifests]]


def _is_bundled(recipe: str) -> bool:
    """Whether a recipe is named as one of ours, and no file of that name is meant."""
    path = Path(recipe)
    bundled_path = resource("builders/recipes") / f"{recipe.removesuffix('.yaml')}.yaml"
    return path.parent == Path() and not path.exists() and bundled_path.is_file()


def _libraries() -> list[list[str]] | None:
    """Return the metadata of all installed packages, as sha256; None if one extends the project.

    What such a package has in its modules is not in its metadata if it is being worked on.
    """
    metadata: list[list[str]] = []
    for folder in dict.fromkeys(sys.path):
        for info_folder in sorted(Path(folder or ".").glob("*.*-info")):
            entry_points = info_folder / "entry_points.txt"
            is_ours = info_folder.name.startswith("factdrift-")
            if not is_ours and entry_points.is_file() and _PLUGIN_MARK in entry_points.read_bytes():
                return None
            for name in ("METADATA", "PKG-INFO"):
                if (info_folder / name).is_file():
                    metadata.append([str(info_folder), _sum(info_folder / name)])
    return metadata


def _sums(place: Path, *, are_all: bool = False) -> list[list[str]]:
    """Return the sha256 of a file, or of all files below a folder, by path; links are not followed.

    Hidden and compiled files of a folder do not count, unless `are_all`. What is not there has
    none.
    """
    if place.is_file():
        return [["", _sum(place)]]
    sums: list[list[str]] = []
    for folder, folder_names, file_names in os.walk(place):
        for names in (folder_names, file_names):
            names[:] = sorted(
                name for name in names if are_all or (name[0] != "." and name != "__pycache__")
            )
        for name in file_names:
            path = Path(folder, name)
            sums.append([path.relative_to(place).as_posix(), _sum(path)])
    return sums


def _sum(path: Path) -> str:
    """Return the sha256 of a file; of a link, or what cannot be read, a word instead."""
    try:
        return "a link" if path.is_symlink() else file_sha256(path)
    except UserError:
        return "cannot be read"
