"""Publish a dataset as a versioned release folder, whole or not at all."""

from dataclasses import dataclass
from pathlib import Path

from builders.release.dataset import Dataset, Meta


@dataclass(frozen=True)
class Published:
    """What came of it: `folder` is `<out>/<dataset>/<version>`.

    `written` is false where that very content had been published before. `level` is the change
    against the latest lower release: first, none, patch, minor, major; `summary` says it in words.
    """

    folder: Path
    version: str
    written: bool
    level: str
    summary: str


def write_release(dataset: Dataset, meta: Meta, out: Path, version: str = "auto") -> Published:
    """Write `<out>/<meta.dataset>/<version>`; `auto` is the smallest version the rule allows.

    Everything goes into a hidden sibling folder first and is renamed once; whatever happens on
    the way, earlier releases stay as they were. `UserError`: other content under an existing
    version, too small a bump, a bad version, no prose, another run at work, no room on the disk.
    """
    raise NotImplementedError
