"""Check a release folder against its manifest."""

import os
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa

from factdrift.builders.core.errors import UserError, on_a_line
from factdrift.builders.core.schema import reading
from factdrift.builders.release import card, croissant, manifest
from factdrift.builders.release.compare import column_changes
from factdrift.builders.release.manifest import ConfigEntry, FileEntry, Manifest
from factdrift.builders.release.parquet import column_kinds
from factdrift.builders.release.publish import RECIPE, file_entry, repeated_ids

# The fields of a manifest without a checksum that something else in the release shows to be wrong.
_COVERED_FIELDS = {"canary", "dataset", "files", "format", "manifest_sha256", "recipe_sha256"}
# What a page of the Hub has beside the release; README.md is the page itself.
_OF_A_PAGE = frozenset((card.OWN_CARD, card.PICTURE))
# What every release has beside what it is made of: it is read off the releases before it.
_BESIDE = frozenset((card.CHANGES,))
# What a hub or its client puts into a folder beside the release.
_NOT_OURS = (".gitattributes", ".git/", ".cache/huggingface/")


def verify_release(release_folder: Path) -> list[str]:
    """Return the problems of a release, one line each, sorted; an empty list for a sound one.

    Nothing outside the folder is read: links and paths that lead out of it are problems.
    """
    try:
        release_manifest = manifest.load_manifest(release_folder)
    except UserError as error:
        return [str(error)]
    present_paths, release_problems = _walk(release_folder)
    listed_files = {entry.path: entry for entry in release_manifest.files}
    is_page = card.OWN_CARD in present_paths
    page_files = _OF_A_PAGE if is_page else frozenset()
    for file_path in present_paths - {*listed_files, manifest.FILE} - page_files - _BESIDE:
        pyc_note = (
            " (a harness compiled its tasks; delete it)" if file_path.endswith(".pyc") else ""
        )
        release_problems.append(f"{on_a_line(file_path)}: is not in the manifest{pyc_note}")
    if len(listed_files) < len(release_manifest.files):
        release_problems.append("manifest.json: files: a path is listed twice")
    sound_paths: set[str] = set()
    for file_path, entry in listed_files.items():
        checked_path = card.OWN_CARD if is_page and file_path == card.FILE else file_path
        file_problem = (
            _check_file(release_folder, entry, checked_path)
            if file_path in present_paths
            else f"{file_path}: is missing"
        )
        if file_problem:
            release_problems.append(file_problem)
        else:
            sound_paths.add(file_path)
    release_problems += _check_manifest(release_manifest, listed_files)
    own_sha256 = release_manifest.manifest_sha256
    if own_sha256 and own_sha256 != manifest.own_sha256(release_folder):
        release_problems.append("manifest.json: its SHA-256 is not the one that it says")
    for config_entry in release_manifest.configs:
        release_problems += _check_config(release_folder, config_entry, sound_paths)
    return sorted(set(release_problems))


def not_covered(release_folder: Path) -> str | None:
    """Return a line that names what `verify_release` cannot see a change of, None for nothing.

    A manifest of a version before 0.3 has no checksum of its own. A page of the Hub is not the
    release's; the card that is lies beside it.
    """
    if manifest.load_manifest(release_folder).manifest_sha256:
        if (release_folder / card.OWN_CARD).is_file():
            page_files = f"{card.FILE}, {card.CHANGES}, {card.PICTURE}"
            return f"  not checked: {page_files}, the page on the Hub; its card is {card.OWN_CARD}"
        if (release_folder / card.CHANGES).is_file():
            return f"  not checked: {card.CHANGES}, which compares it with the releases before"
        return None
    uncovered_fields = ", ".join(sorted(set(Manifest.model_fields) - _COVERED_FIELDS))
    return f"  manifest.json has no checksum of its own; not checked in it: {uncovered_fields}"


def _walk(release_folder: Path) -> tuple[set[str], list[str]]:
    """Plain files of the folder, and a problem for everything that is neither file nor folder."""
    present_paths: set[str] = set()
    file_problems: list[str] = []
    for parent_folder, folder_names, entry_names in os.walk(release_folder):
        for entry_name in [*folder_names, *entry_names]:
            file_path = Path(parent_folder, entry_name)
            inner_path = file_path.relative_to(release_folder).as_posix()
            if f"{inner_path}/".startswith(
                tuple(name_not_ours for name_not_ours in _NOT_OURS if name_not_ours.endswith("/"))
            ):
                continue
            if file_path.is_symlink():
                link_text = "is a link, and links are not followed"
                file_problems.append(f"{on_a_line(inner_path)}: {link_text}")
            elif file_path.is_file() and inner_path not in _NOT_OURS:
                present_paths.add(inner_path)
            elif not file_path.is_dir() and not file_path.is_file():
                file_problems.append(f"{on_a_line(inner_path)}: is neither a file nor a folder")
    return present_paths, file_problems


def _check_file(release_folder: Path, entry: FileEntry, file_path: str) -> str | None:
    byte_count = (release_folder / file_path).stat().st_size
    if byte_count != entry.bytes:
        return f"{file_path}: has {byte_count} bytes, the manifest says {entry.bytes}"
    if file_entry(release_folder, release_folder / file_path).sha256 != entry.sha256:
        return f"{file_path}: its SHA-256 is not the manifest's"
    return None


def _check_manifest(
    release_manifest: Manifest, listed_files: dict[str, FileEntry]
) -> Iterator[str]:
    """Yield the problems of the manifest itself."""
    if release_manifest.canary != manifest.canary(release_manifest.dataset):
        yield f"manifest.json: canary: not that of {release_manifest.dataset}"
    if RECIPE not in listed_files or listed_files[RECIPE].sha256 != release_manifest.recipe_sha256:
        yield f"manifest.json: recipe_sha256: not that of {RECIPE}"
    config_names = [config_entry.name for config_entry in release_manifest.configs]
    if len(set(config_names)) < len(config_names):
        yield "manifest.json: configs: a name is there twice"
    for file_path in {
        split_entry.file
        for config_entry in release_manifest.configs
        for split_entry in config_entry.splits
    } - listed_files.keys():
        yield f"{file_path}: is the file of a split, but not among the manifest's files"
    for file_path in {card.FILE, croissant.FILE, card.DROPPED} - listed_files.keys():
        yield f"{file_path}: is not among the manifest's files"


def _check_config(
    release_folder: Path, config_entry: ConfigEntry, sound_paths: set[str]
) -> Iterator[str]:
    """Yield problems of the schemas, row counts and ids of one config."""
    readable = True
    for split_entry in config_entry.splits:
        if split_entry.file not in sound_paths:
            readable = False
            continue
        try:
            with reading(release_folder / split_entry.file) as parquet_file:
                row_count, schema = parquet_file.metadata.num_rows, parquet_file.schema_arrow
        except (pa.ArrowException, OSError) as error:
            readable = False
            yield f"{split_entry.file}: is not Parquet: {' '.join(str(error).split())[:200]}"
            continue
        if row_count != split_entry.rows:
            yield f"{split_entry.file}: has {row_count} rows, the manifest says {split_entry.rows}"
        for column_change in column_changes(config_entry.kinds(), column_kinds(schema)):
            yield f"{split_entry.file}: not as the manifest says: {column_change}"
    if readable:
        try:
            duplicate_ids = repeated_ids(release_folder, config_entry)
        except (duckdb.Error, UserError) as error:
            yield f"{config_entry.name}: ids cannot be read: {' '.join(str(error).split())[:200]}"
        else:
            if duplicate_ids:
                yield f"{config_entry.name}: ids that are not unique: {', '.join(duplicate_ids)}"
