"""The tables of a build folder that a release was made from, and its inputs.

The folder of a step is named by its key, and `used/<dataset>.json` has the keys of the releases of
a dataset. Where it lacks a release, only what was mined from a dump of the same day is taken: it
says the same whichever release it was mined for.
"""

import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path

import pyarrow as pa

from factdrift.builders import rows
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.schema import arrow_schema
from factdrift.builders.core.tidy import release_notes
from factdrift.builders.release.manifest import Manifest, load_manifest, own_sha256
from factdrift.builders.release.why.lookup import columns_of

STATEMENTS, ENTITIES = "statements.parquet", "entities.parquet"
"""The tables of a mined folder."""
_SEGMENT_TABLES = ("terms.parquet", "timelines.parquet", "segments.parquet")
"""Tables of segments by name, those that a dataset asks about first."""
_KEY_LENGTH = 16
"""Hex digits of a step's key, with which the name of its folder ends."""
_BUILD, _BUILD_BESIDE = "build", "../../../build"
"""The build folder here, and that of a release from the release, as of `releases/timeqa/1.0.0`."""
_SEGMENT_COLUMNS = set(arrow_schema(rows.Segment).names)


@dataclass(frozen=True)
class BuildTables:
    """What a build folder has of a release: the folders of its steps, and its inputs."""

    root: Path
    steps: tuple[Path, ...]
    mined: tuple[Path, ...]
    """Mined folders: of the newest dump, and maybe of an older one."""
    is_of_release: bool
    """Whether the folder has all steps of this very release."""

    @cached_property
    def segment_tables(self) -> list[Path]:
        """The tables of segments of the release's steps."""
        return self.tables_with(_SEGMENT_COLUMNS, _SEGMENT_TABLES)

    def tables_with(self, columns: Iterable[str], names: Sequence[str] = ()) -> list[Path]:
        """Return the tables of the release's steps with these columns, `names` before others."""
        wanted_columns = set(columns)
        table_paths = []
        for folder in self.steps:
            for table_path in sorted(folder.glob("*.parquet")):
                if not names or table_path.name in names:
                    with suppress(pa.ArrowException, OSError):
                        if wanted_columns <= columns_of(table_path):
                            table_paths.append(table_path)
        order = {name: place for place, name in enumerate(names)}
        return sorted(table_paths, key=lambda path: order.get(path.name, 0))

    def input_files(self, release_manifest: Manifest, input_name: str) -> list[Path]:
        """Return the files of an input that lie where the build read them, unchanged since."""
        sha256s = {entry.sha256 for entry in release_manifest.inputs if entry.name == input_name}
        files_by_sha256: dict[str, Path] = {}
        for identity, checksum in self._checksums().items():
            path_text, _, stamp = identity.partition("|")
            path, sha256 = Path(path_text), checksum.partition(" ")[0]
            with suppress(OSError):
                state = path.stat()
                if sha256 in sha256s and stamp == f"{state.st_size}|{state.st_mtime_ns}":
                    files_by_sha256[sha256] = path
        return sorted(files_by_sha256.values())

    def _checksums(self) -> Mapping[str, str]:
        """The checksums of inputs that the build remembers, by path, size and time."""
        with suppress(OSError, ValueError):
            checksums = json.loads((self.root / "checksums.json").read_text("utf-8"))
            if isinstance(checksums, dict):
                return {str(identity): str(checksum) for identity, checksum in checksums.items()}
        return {}


def build_tables(
    root: Path, release_folder: Path, release_manifest: Manifest, mined_folders: Sequence[str]
) -> BuildTables:
    """Return what a build folder has of a release; mined folders that are given come first.

    `UserError` where a given folder was not mined.
    """
    given_folders = [Path(folder) for folder in mined_folders]
    for folder in given_folders:
        if not (folder / STATEMENTS).is_file():
            hint_text = f"mine the dump first: factdrift mine {folder} --out mined"
            raise UserError("this is no mined folder", where=folder, hint=hint_text)
    step_keys = _noted_keys(root, release_folder, release_manifest.dataset)
    step_folders = _step_folders(root, step_keys)
    own_mined = [folder for folder in step_folders if (folder / STATEMENTS).is_file()]
    if not own_mined:
        snapshots = {
            entry.snapshot
            for entry in release_manifest.inputs
            if entry.snapshot and entry.name in ("dump", "older")
        }
        mined_steps = sorted(root.glob("mine-*")) if root.is_dir() else []
        own_mined = [folder for folder in mined_steps if _mined_day(folder) in snapshots]
    # the newest dump is what rows are made of; an older one is only compared with
    own_mined.sort(key=lambda folder: _mined_day(folder) or date.min, reverse=True)
    mined = (*given_folders, *own_mined)
    return BuildTables(root, tuple(step_folders), mined, 0 < len(step_keys) <= len(step_folders))


def _step_folders(root: Path, step_keys: Collection[str]) -> list[Path]:
    """Return the folders of the steps with these keys."""
    if not root.is_dir() or not step_keys:
        return []
    return [
        folder
        for folder in sorted(root.iterdir())
        if folder.is_dir() and folder.name[-_KEY_LENGTH:] in step_keys
    ]


def build_folder(release_folder: Path) -> Path:
    """Return the build folder of a release that nobody named: `build` here, or beside `releases`.

    The first of them that notes the steps of the release, else the first that is there.
    """
    release_manifest = load_manifest(release_folder)
    beside = Path(os.path.normpath(release_folder / _BUILD_BESIDE))
    folders = [folder for folder in (Path(_BUILD), beside) if folder.is_dir()]
    for folder in folders:
        if _noted_keys(folder, release_folder, release_manifest.dataset):
            return folder
    return folders[0] if folders else Path(_BUILD)


def _noted_keys(root: Path, release_folder: Path, dataset: str) -> set[str]:
    """Return the keys of a release's steps; none where the folder notes other releases alone.

    A release that was copied is known by its manifest.
    """
    manifest_sha256 = own_sha256(release_folder)
    for note in release_notes(root, dataset):
        if noted_sha256 := note.get("manifest_sha256"):
            is_of_release = noted_sha256 == manifest_sha256
        else:  # of a version before 0.3
            is_of_release = note["release"] == str(release_folder.resolve())
        if is_of_release:
            return set(note["steps"])
    return set()


def _mined_day(folder: Path) -> date | None:
    """Return the day of the dump that a folder was mined from, None where it does not say it."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        mined = json.loads((folder / "mined.json").read_text("utf-8"))
        return date.fromisoformat(mined["snapshot"])
    return None
