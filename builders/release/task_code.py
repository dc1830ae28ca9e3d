"""Whether a release brings code of its own: its `tasks/` run inside a harness, with all its rights.

The modules of `tasks/` are the same in every release of a version, so `harness/versions.json` has
the sha256 of those of all versions of this project. The other files of `tasks/` follow from the
manifest and the rows, and are written again to be compared. Anything else that could run, in
`tasks/` or beside it, is code of the release's own.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

import pyarrow as pa

import factdrift
from factdrift.builders.core.files import resource
from factdrift.builders.core.hashing import file_sha256
from factdrift.builders.core.schema import reading
from factdrift.builders.release.histories import EARLIER
from factdrift.builders.release.manifest import Manifest, load_manifest, locate_file
from factdrift.builders.release.tasks import FOLDER, test_configs, write_tasks

TABLE = resource("builders/release/harness/versions.json")
"""The sha256 of the modules in `tasks/`, by version of this project and name; several where a
version was worked on after releases had been made with it."""
_DATA_SUFFIXES = frozenset(
    (".bib", ".cff", ".csv", ".json", ".jsonl", ".md", ".parquet", ".png", ".svg", ".txt", ".yaml")
)
"""Files outside of `tasks/` with these endings are read as data. No release of ours has others."""


@dataclass(frozen=True)
class TaskCode:
    """The files of a release that are code of its own, and those that cannot be compared."""

    version: str
    own: tuple[str, ...]
    unknown: tuple[str, ...]

    def sentences(self) -> list[str]:
        """Return a line for each finding; none where all code is this project's."""
        lines = [f"has code of its own: {path}" for path in self.own]
        if self.unknown:
            more = f" and {len(self.unknown) - 1} more" if len(self.unknown) > 1 else ""
            lines.append(
                f"its code cannot be compared: {self.unknown[0]}{more} "
                f"(made by factdrift {self.version}, this is {factdrift.__version__})"
            )
        return lines


def module_checksums() -> Mapping[str, Mapping[str, list[str]]]:
    """Return the sha256 of the modules that releases carry, by version and name."""
    table: dict[str, dict[str, list[str]]] = json.loads(TABLE.read_bytes())
    return table


def compare_code(release_folder: Path) -> TaskCode:
    """Compare everything in a release that could run with what this project writes.

    `UserError`: the manifest is broken, or names a file that is missing or a link. Check the
    release with `verify_release` first, so that the files are those of the manifest.
    """
    release_manifest = load_manifest(release_folder)
    own: list[str] = []
    unknown: list[str] = []
    with TemporaryDirectory(prefix="tasks-") as scratch:
        written_again = _write_again(Path(scratch), release_folder, release_manifest)
        for path, is_ours in _compared_files(release_folder, release_manifest, written_again):
            if is_ours is None:
                unknown.append(path)
            elif not is_ours:
                own.append(path)
    return TaskCode(release_manifest.code_version, tuple(own), tuple(unknown))


def _write_again(
    scratch: Path, release_folder: Path, release_manifest: Manifest
) -> Mapping[str, Path]:
    """Write the tasks as this version does; return the files by their place in a release."""
    configs = test_configs(release_manifest.configs)
    if configs:
        write_tasks(scratch / FOLDER, release_folder, release_manifest, configs)
    return {
        path.relative_to(scratch).as_posix(): path for path in scratch.rglob("*") if path.is_file()
    }


def _compared_files(
    release_folder: Path, release_manifest: Manifest, written_again: Mapping[str, Path]
) -> Iterator[tuple[str, bool | None]]:
    """Yield each file that could run: is it ours, is it not (False), or can nobody tell (None)?"""
    modules = module_checksums().get(release_manifest.code_version)
    is_made_by_us = _has_present_modules(release_folder, release_manifest, written_again)
    for entry in sorted(release_manifest.files, key=lambda entry: entry.path):
        place = PurePosixPath(entry.path)
        if place.parts[0] != FOLDER:
            if place.suffix.lower() not in _DATA_SUFFIXES:
                yield entry.path, False
            continue
        ours = written_again.get(entry.path)
        if modules is None:
            yield entry.path, None
        elif ours is None:
            yield entry.path, False
        elif place.suffix == ".py":
            checksum = file_sha256(locate_file(release_folder, entry.path))
            yield entry.path, checksum in modules.get(place.name, ())
        elif place.name == EARLIER:
            yield entry.path, _same_rows(locate_file(release_folder, entry.path), ours)
        elif file_sha256(locate_file(release_folder, entry.path)) == file_sha256(ours):
            yield entry.path, True
        else:  # other versions, and earlier states of this one, may word the same tasks otherwise
            yield entry.path, False if is_made_by_us else None


def _has_present_modules(
    release_folder: Path, release_manifest: Manifest, written_again: Mapping[str, Path]
) -> bool:
    """Whether a release is of this version and has the modules that it would write now."""
    if release_manifest.code_version != factdrift.__version__:
        return False
    listed = {entry.path for entry in release_manifest.files}
    for path, our_path in written_again.items():
        if our_path.suffix == ".py" and (
            path not in listed
            or file_sha256(locate_file(release_folder, path)) != file_sha256(our_path)
        ):
            return False
    return True


def _same_rows(path: Path, our_path: Path) -> bool:
    """Whether two Parquet files hold the same: pyarrow's versions write it in other bytes."""
    try:
        with reading(path) as parquet_file, reading(our_path) as our_file:
            return bool(parquet_file.read().equals(our_file.read()))
    except (pa.ArrowException, OSError):
        return False
