"""Figures that stand on a page of the documentation: of which day, commit and code they are.

A bench that has `--write` puts its figures between two comments of its page. With them stands a
hash of the code that was measured, package by package, without its comments and docstrings. `python
-m bench moved` says which packages have another hash today: their figures are older than the code.
It says so and fails nothing, for a figure that an edit did not change is still right.
"""

import ast
import hashlib
import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from bench import ROOT
from factdrift.builders.core.reach import normalised

COMPILED = frozenset((".c", ".cc", ".cpp", ".h", ".hpp", ".pyx", ".rs"))
"""What the compiled parts of a package are written in."""
# `<!-- code: builders/core 0123456789ab, bench/scale.py 456789abcdef -->`
_CODE = re.compile(r"<!-- code: (.+) -->")


class FigureBlock(NamedTuple):
    """The figures of a bench on its page, and the folders and files whose code they are of."""

    bench: str
    page: Path
    code: tuple[str, ...]

    def pattern(self) -> re.Pattern[str]:
        """The comments around the figures, and what stands between them."""
        name = re.escape(self.bench)
        return re.compile(rf"(<!-- figures of bench\.{name} -->\n).*?(<!-- end -->)", re.DOTALL)

    def text(self) -> str:
        """What stands on the page. `ValueError`: the page has no place for these figures."""
        match = self.pattern().search(self.page.read_text("utf-8"))
        if not match:
            raise ValueError(f"{self.page} has no figures of bench.{self.bench}")
        return match[0]

    def write(self, figures: str) -> None:
        """Put figures on the page, with the day, the commit and the hashes of the code."""
        hashes = ", ".join(f"{path} {code_hash(ROOT / path)}" for path in self.code)
        words = f"Measured on {datetime.now(UTC):%Y-%m-%d} at commit {commit()}."
        block = f"{figures.strip()}\n\n{words}\n\n<!-- code: {hashes} -->\n"
        self.text()
        page_text = self.pattern().sub(
            lambda match: f"{match[1]}\n{block}\n{match[2]}", self.page.read_text("utf-8")
        )
        self.page.write_text(page_text, "utf-8")

    def measured(self) -> dict[str, str]:
        """The hash of each folder or file as the page has it; empty where it has none."""
        match = _CODE.search(self.text())
        entries = match[1].split(", ") if match else []
        return {path: code for path, _, code in (entry.rpartition(" ") for entry in entries)}

    def moved(self) -> list[str]:
        """The folders and files whose code is not what was measured."""
        measured = self.measured()
        return [path for path in self.code if measured.get(path) != code_hash(ROOT / path)]


def code_hash(path: Path) -> str:
    """Twelve digits of a hash of the code in a folder or file, without comments and docstrings."""
    sources = sorted(path.rglob("*")) if path.is_dir() else [path]
    summed = hashlib.sha256()
    for source in sources:
        if source.suffix == ".py":
            code = normalised(ast.parse(source.read_bytes())).encode()
        elif source.suffix in COMPILED:
            code = source.read_bytes()
        else:
            continue
        summed.update(f"{source.relative_to(path).as_posix()} {len(code)}\n".encode() + code)
    return summed.hexdigest()[:12]


def commit() -> str:
    """The commit of the tree, and whether files were edited since; `unknown` without a git."""
    git = ["git", "-C", str(ROOT)]
    try:
        name = subprocess.check_output([*git, "rev-parse", "--short=8", "HEAD"], text=True).strip()
        edited = subprocess.check_output([*git, "status", "--porcelain", "-uno"], text=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{name} and edits" if edited.strip() else name


_READING = ("builders/core", "builders/wikidata")
SCALE = FigureBlock(
    "scale",
    ROOT / "SCALE.md",
    (
        *_READING,
        "builders/facts",
        "builders/release",
        "builders/wikipedia",
        "builders/wmt",
        "bench/scale.py",
    ),
)
PEERS = FigureBlock(
    "peers", ROOT / "docs/peers.md", (*_READING, "bench/peers.py", "bench/peer_loops.py")
)
BLOCKS = (SCALE, PEERS)


def notices() -> Iterator[str]:
    """A line for each page whose figures are older than the code."""
    for block in BLOCKS:
        if moved_paths := block.moved():
            yield (
                f"{block.page.relative_to(ROOT)}: {', '.join(moved_paths)} changed since the "
                f"figures were taken: python -m bench {block.bench} --write"
            )
