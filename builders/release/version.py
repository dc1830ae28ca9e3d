"""The version rule: SemVer on content.

major: rows edited, removed or moved, columns changed. minor: rows added. patch: rows rendered anew
from the same facts, figures that are read off a newer dump (popularity, its day), files serialised
anew, cards and other documents. none: the same bytes.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from factdrift.builders.core.errors import UserError

Level = Literal["none", "patch", "minor", "major"]

# `1.0.0` and `2.10.3`, but not `v1.0.0`, `1.0`, `01.0.0` or `1.0.0-rc1`
_VERSION = re.compile(r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})")


@dataclass(frozen=True, order=True)
class Version:
    """`MAJOR.MINOR.PATCH`, ordered by number."""

    major: int
    minor: int
    patch: int

    @classmethod
    def parse(cls, version_text: str) -> Self:
        """Read `1.2.3`; `UserError` for anything else, pre-releases and `v1.2.3` too."""
        version_match = _VERSION.fullmatch(version_text)
        if not version_match:
            raise UserError(
                f"not a version: {version_text!r} (write MAJOR.MINOR.PATCH, such as 1.0.0)"
            )
        return cls(int(version_match[1]), int(version_match[2]), int(version_match[3]))

    def bump(self, change_level: Level) -> "Version":
        """The smallest later version that announces a change of this level."""
        match change_level:
            case "major":
                return Version(self.major + 1, 0, 0)
            case "minor":
                return Version(self.major, self.minor + 1, 0)
            case "patch":
                return Version(self.major, self.minor, self.patch + 1)
            case "none":
                return self

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


FIRST = Version(1, 0, 0)


def published_versions(dataset_folder: Path) -> list[Version]:
    """Return the versions in the folder of a dataset, lowest first; other names are ignored."""
    if not dataset_folder.is_dir():
        return []
    folder_names = (
        folder_entry.name for folder_entry in dataset_folder.iterdir() if folder_entry.is_dir()
    )
    return sorted(
        Version.parse(folder_name)
        for folder_name in folder_names
        if _VERSION.fullmatch(folder_name)
    )
