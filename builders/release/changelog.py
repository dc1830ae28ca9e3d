"""The changes of a dataset over all its versions: `CHANGELOG.md` of a release, and of its page.

It is read off the releases that lie beside, so it is no part of what a release is made of: the
manifest does not list it, and a release is the same without it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from factdrift.builders.core.errors import UserError
from factdrift.builders.release import manifest
from factdrift.builders.release.card import CHANGES
from factdrift.builders.release.compare import compare
from factdrift.builders.release.notes import release_notes
from factdrift.builders.release.version import Version, published_versions

_ENTRY_HEAD = re.compile(r"^## (\d+\.\d+\.\d+)$", re.MULTILINE)
"""The line that begins an entry of `CHANGELOG.md`: `## 1.1.0`."""


@dataclass(frozen=True)
class VersionEntry:
    """One version in the list of changes, with what is said of it in Markdown."""

    version: str
    text: str

    @property
    def line(self) -> str:
        """The first paragraph of the text, on one line."""
        return " ".join(self.text.strip().split("\n\n")[0].split())


def save_changelog(release_folder: Path) -> None:
    """Write the changes over all versions up to this release beside its data."""
    changes_file = release_folder / CHANGES
    changes_file.write_text(changes_text(changelog(release_folder)), encoding="utf-8")


def changelog(release_folder: Path) -> list[VersionEntry]:
    """Return an entry for each version up to this one, the newest first.

    They are read off the releases that lie beside it. Of versions that do not, the entries in the
    changes of one that does are taken.
    """
    own_manifest = manifest.load_manifest(release_folder)
    own_version = Version.parse(own_manifest.version)
    release_folders = {own_version: release_folder}
    for version in published_versions(release_folder.parent):
        neighbour_folder = release_folder.parent / str(version)
        if version < own_version and _is_of(neighbour_folder, own_manifest.dataset):
            release_folders[version] = neighbour_folder
    version_texts: dict[Version, str] = {}
    for _, folder in sorted(release_folders.items()):
        version_texts |= _written_entries(folder)
    known_versions = sorted(
        {*release_folders, *(version for version in version_texts if version < own_version)}
    )
    for number, version in enumerate(known_versions):
        before = known_versions[number - 1] if number else None
        # a page may have been written again since, with more versions beside it
        if version not in version_texts or (version == own_version and before in release_folders):
            version_texts[version] = _entry_text(release_folders, before, version)
    return [
        VersionEntry(str(version), version_texts[version]) for version in reversed(known_versions)
    ]


def _is_of(folder: Path, dataset: str) -> bool:
    try:
        return manifest.load_manifest(folder).dataset == dataset
    except UserError:
        return False


def _written_entries(release_folder: Path) -> dict[Version, str]:
    """Return the entries in the changes of a release, by version; none where it has none."""
    changes_file = release_folder / CHANGES
    if not changes_file.is_file() or changes_file.is_symlink():
        return {}
    _, *parts = _ENTRY_HEAD.split(changes_file.read_text("utf-8"))
    return {
        Version.parse(version): text.strip()
        for version, text in zip(parts[::2], parts[1::2], strict=True)
    }


def _entry_text(folders: Mapping[Version, Path], before: Version | None, version: Version) -> str:
    """Return what an entry says of a version after the one before it."""
    after = folders[version]
    day = f"Sources up to {manifest.load_manifest(after).published}."
    if before is None:
        return f"{day} The first version."
    if before not in folders:
        return f"{day} After {before}, which was not at hand to compare with."
    with TemporaryDirectory() as scratch:
        diff_file = Path(scratch, "diff.parquet")
        try:
            release_diff = compare(folders[before], after, diff_file)
        except UserError:  # a damaged release of before is no reason to write none now
            return f"{day} After {before}, which could not be compared with it."
        _, _, *note_lines = release_notes(folders[before], after, release_diff, diff_file)
    # the heads of notes stand one level below that of the entry
    notes = "\n".join(f"#{line}" if line.startswith("#") else line for line in note_lines)
    changes = release_diff.brief()
    return f"{day} {changes[:1].upper()}{changes[1:]}.\n\n{notes.strip()}"


def changes_text(entries: Sequence[VersionEntry]) -> str:
    parts = ["# Changes\n"]
    parts += [f"## {entry.version}\n\n{entry.text}\n" for entry in entries]
    return "\n".join(parts)
