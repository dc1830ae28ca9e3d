"""Checksums beside what a later run takes up, so that a fault of the disk is not believed.

They find damage, not forgery: who may change a file may change its checksum, too.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hashing import digest, file_sha256

__outside_step_keys__ = True

CHECKSUMS = ".sha256.json"
"""The file of a folder that has the sha256 of every other file in it."""
_SEAL = "seal"
"""The key of a JSON object that holds a digest of all other keys."""


def write_checksums(folder: Path) -> None:
    """Write the sha256 of every file of a finished folder, by its path in the folder."""
    checksums_json = json.dumps(folder_checksums(folder), indent=1, sort_keys=True)
    (folder / CHECKSUMS).write_text(checksums_json + "\n", "utf-8")


def folder_checksums(folder: Path) -> dict[str, str]:
    """Return the sha256 of every file below a folder, by its path there; links are followed."""
    checksums = {}
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder).as_posix()
        if place != CHECKSUMS and not path.is_dir():
            checksums[place] = file_sha256(path)
    return checksums


def first_damage(folder: Path) -> str | None:
    """Return what differs in a folder from what was written, or None if nothing does.

    A fault of the disk or a person may have changed a file. A folder of a version before 0.3 has no
    checksums, and is made anew as well.
    """
    try:
        written = msgspec.json.decode((folder / CHECKSUMS).read_bytes(), type=dict[str, str])
        current = folder_checksums(folder)
    except FileNotFoundError:
        return "it has no checksums"
    except (ValueError, OSError, UserError):  # msgspec also raises UnicodeDecodeError
        return "it cannot be read"
    for place in sorted(written.keys() | current.keys()):
        if written.get(place) != current.get(place):
            return f"{place} is not what was written"
    return None


def sealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON object with a digest of what is in it."""
    return {**document, _SEAL: digest(document)}


def unsealed(content: bytes) -> dict[str, Any] | None:
    """Return the object that `sealed` made, without its seal; None if it was changed since."""
    try:
        document = json.loads(content)
        seal = document.pop(_SEAL)
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return None
    return document if seal == digest(document) else None
