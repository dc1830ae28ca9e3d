"""Check a release folder against its manifest."""

import os
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.schema import reading
from factdrift.builders.release import card, croissant, manifest
from factdrift.builders.release.compare import column_changes
from factdrift.builders.release.manifest import ConfigEntry, FileEntry, Manifest
from factdrift.builders.release.parquet import column_kinds
from factdrift.builders.release.publish import RECIPE, file_entry, repeated_ids

# What a hub or its client puts into a folder beside the release.
_NOT_OURS = (".gitattributes", ".git/", ".cache/huggingface/")


def verify_release(folder: Path) -> list[str]:
    """All that is wrong with a release, one line each, sorted; nothing: whole and unchanged.

    Nothing outside the folder is read: links and paths that lead out of it are problems.
    """
    try:
        loaded = manifest.load_manifest(folder)
    except UserError as error:
        return [str(error)]
    present, problems = _walk(folder)
    listed = {entry.path: entry for entry in loaded.files}
    for path in present - {*listed, manifest.FILE}:
        note = " (a harness compiled its tasks; delete it)" if path.endswith(".pyc") else ""
        problems.append(f"{path}: is not in the manifest{note}")
    if len(listed) < len(loaded.files):
        problems.append("manifest.json: files: a path is listed twice")
    sound: set[str] = set()
    for path, entry in listed.items():
        problem = _check_file(folder, entry) if path in present else f"{path}: is missing"
        if problem:
            problems.append(problem)
        else:
            sound.add(path)
    problems += _check_manifest(loaded, listed)
    for config in loaded.configs:
        problems += _check_config(folder, config, sound)
    return sorted(set(problems))


def _walk(folder: Path) -> tuple[set[str], list[str]]:
    """Plain files of the folder, and a problem for everything that is neither file nor folder."""
    present: set[str] = set()
    problems: list[str] = []
    for parent, folders, names in os.walk(folder):
        for name in [*folders, *names]:
            path = Path(parent, name)
            inside = path.relative_to(folder).as_posix()
            if f"{inside}/".startswith(
                tuple(name_not_ours for name_not_ours in _NOT_OURS if name_not_ours.endswith("/"))
            ):
                continue
            if path.is_symlink():
                problems.append(f"{inside}: is a link, and links are not followed")
            elif path.is_file() and inside not in _NOT_OURS:
                present.add(inside)
            elif not path.is_dir() and not path.is_file():
                problems.append(f"{inside}: is neither a file nor a folder")
    return present, problems


def _check_file(folder: Path, entry: FileEntry) -> str | None:
    size = (folder / entry.path).stat().st_size
    if size != entry.bytes:
        return f"{entry.path}: has {size} bytes, the manifest says {entry.bytes}"
    if file_entry(folder, folder / entry.path).sha256 != entry.sha256:
        return f"{entry.path}: its SHA-256 is not the manifest's"
    return None


def _check_manifest(loaded: Manifest, listed: dict[str, FileEntry]) -> Iterator[str]:
    """The manifest by itself."""
    if loaded.canary != manifest.canary(loaded.dataset):
        yield f"manifest.json: canary: not that of {loaded.dataset}"
    if RECIPE not in listed or listed[RECIPE].sha256 != loaded.recipe_sha256:
        yield f"manifest.json: recipe_sha256: not that of {RECIPE}"
    names = [config.name for config in loaded.configs]
    if len(set(names)) < len(names):
        yield "manifest.json: configs: a name is there twice"
    for path in {split.file for c in loaded.configs for split in c.splits} - listed.keys():
        yield f"{path}: is the file of a split, but not among the manifest's files"
    for path in {card.FILE, croissant.FILE, card.DROPPED} - listed.keys():
        yield f"{path}: is not among the manifest's files"


def _check_config(folder: Path, config: ConfigEntry, sound: set[str]) -> Iterator[str]:
    """Schemas and row counts of the files that are as the manifest says; then the ids."""
    readable = True
    for split in config.splits:
        if split.file not in sound:
            readable = False
            continue
        try:
            with reading(folder / split.file) as file:
                rows, schema = file.metadata.num_rows, file.schema_arrow
        except (pa.ArrowException, OSError) as error:
            readable = False
            yield f"{split.file}: is not Parquet: {' '.join(str(error).split())[:200]}"
            continue
        if rows != split.rows:
            yield f"{split.file}: has {rows} rows, the manifest says {split.rows}"
        for change in column_changes(config.kinds(), column_kinds(schema)):
            yield f"{split.file}: not as the manifest says: {change}"
    if readable:
        try:
            repeated = repeated_ids(folder, config)
        except (duckdb.Error, UserError) as error:
            yield f"{config.name}: ids cannot be read: {' '.join(str(error).split())[:200]}"
        else:
            if repeated:
                yield f"{config.name}: ids that are not unique: {', '.join(repeated)}"
