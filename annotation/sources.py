"""What judgments came from and went into: exports that were read, and gold tables by checksum.

`sources.jsonl` and `golds.jsonl` lie beside the judgments. Whoever erases a person learns from them
which files still name her, and which releases were made with her work.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from factdrift.builders.core.hashing import file_sha256
from factdrift.builders.rows import Judgment
from factdrift.builders.rows.gold import FILE as GOLD

SOURCES, GOLDS = "sources.jsonl", "golds.jsonl"
SAVED_FILE = re.compile(r"([0-9a-f]{16}-[0-9a-f]{16}-).*(\.[a-z]+)$", re.DOTALL)
"""The name of a file that a page saves, `0123456789abcdef-fedcba9876543210-Ann.json`: batch, HIT
and the worker's id, which no output may hold. `results-Ann.json` is not such a name."""


def note_sources(judgments_folder: Path, source_kind: str, named_paths: Sequence[Path]) -> None:
    """Note files or folders that name people: `results`, `participants` or `feedback`.

    A path is noted once, as it lies from the folder of judgments. Of a file that a page saved the
    folder is noted, because its own name has the worker's id.
    """
    noted_places = {
        (entry["kind"], entry["path"]) for entry in _entries(judgments_folder / SOURCES)
    }
    new_lines = []
    for source_path in named_paths:
        source_path = source_path.parent if SAVED_FILE.search(source_path.name) else source_path
        relative_path = os.path.relpath(source_path.resolve(), judgments_folder.resolve())
        if (source_kind, relative_path) not in noted_places:
            noted_places.add((source_kind, relative_path))
            new_lines.append(
                json.dumps({"kind": source_kind, "path": relative_path}, sort_keys=True)
            )
    _append(judgments_folder / SOURCES, new_lines)


def noted_sources(judgments_folder: Path) -> list[tuple[str, Path]]:
    """The kind and the place of every source, in the order in which they were read."""
    return [
        (entry["kind"], judgments_folder / entry["path"])
        for entry in _entries(judgments_folder / SOURCES)
    ]


def note_gold(layout_folder: Path, judgments: Sequence[Judgment]) -> None:
    """Note the checksum of a layout's gold table, and whose judgments count in it."""
    gold_sha256 = file_sha256(layout_folder / GOLD)
    golds_path = layout_folder.parent / GOLDS
    if any(entry["gold"] == gold_sha256 for entry in _entries(golds_path)):
        return
    worker_hashes = sorted({judgment.worker for judgment in judgments if judgment.counted})
    gold_entry = {"layout": layout_folder.name, "gold": gold_sha256, "workers": worker_hashes}
    _append(golds_path, [json.dumps(gold_entry, sort_keys=True)])


def golds_of_worker(judgments_folder: Path, worker_hash: str) -> tuple[set[str], set[str]]:
    """The checksums of the gold tables to which a worker's judgments went, and of all."""
    golds_with_worker, all_golds = set[str](), set[str]()
    for entry in _entries(judgments_folder / GOLDS):
        all_golds.add(entry["gold"])
        if worker_hash in entry["workers"]:
            golds_with_worker.add(entry["gold"])
    return golds_with_worker, all_golds


def _entries(source_path: Path) -> Iterator[Mapping[str, Any]]:
    """The entries of a file that grows; half a line that a killed run left is passed over."""
    if source_path.is_file():
        with source_path.open(encoding="utf-8") as noted_file:
            for noted_line in noted_file:
                if noted_line.endswith("\n"):
                    yield json.loads(noted_line)


def _append(source_path: Path, new_lines: Sequence[str]) -> None:
    if not new_lines:
        return
    earlier_bytes = source_path.read_bytes() if source_path.is_file() else b""
    line_break = "" if not earlier_bytes or earlier_bytes.endswith(b"\n") else "\n"
    with source_path.open("a", encoding="utf-8") as noted_file:
        noted_file.write(line_break + "".join(f"{new_line}\n" for new_line in new_lines))
