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

_VERSION = re.compile(r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})")


@dataclass(frozen=True, order=True)
class Version:
    """`MAJOR.MINOR.PATCH`, ordered by number."""

    major: int
    minor: int
    patch: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `1.2.3`; `UserError` for anything else, pre-releases and `v1.2.3` too."""
        match = _VERSION.fullmatch(text)
        if not match:
            raise UserError(f"not a version: {text!r} (write MAJOR.MINOR.PATCH, such as 1.0.0)")
        return cls(int(match[1]), int(match[2]), int(match[3]))

    def bump(self, level: Level) -> "Version":
        """The smallest later version that announces a change of this level."""
        match level:
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


def published_versions(shelf: Path) -> list[Version]:
    """The versions in the folder of one dataset, lowest first; other names are passed over."""
    if not shelf.is_dir():
        return []
    names = (entry.name for entry in shelf.iterdir() if entry.is_dir())
    return sorted(Version.parse(name) for name in names if _VERSION.fullmatch(name))
