"""How many one-operator changes of the product the tests see.

`python -m tests.mutations` draws changes by a seed (a comparison turned, `and` for `or`, a
condition negated, a whole number raised by one), makes each in a copy of the tree, and runs the
tests that import the changed module, nearest first, then the goldens of the samples; with
`--whole`, all tests where these see nothing. Results are kept in `build/mutations.jsonl`: a run
that was stopped goes on. A change that no test sees wants a case, or is code that can go.
"""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import NamedTuple

import grimp

from factdrift.builders.core.hashing import digest
from tests.house import ROOT, ROOTS

RESULTS = Path("build/mutations.jsonl")
_PAIRS = ("<", "<="), (">", ">="), ("==", "!="), ("in", "not in"), ("is", "is not"), ("and", "or")
_TURNED = {old: new for pair in _PAIRS for old, new in (pair, pair[::-1])}
_OPERATOR = re.compile(r"<=|>=|==|!=|<|>|\bnot\s+in\b|\bis\s+not\b|\bin\b|\bis\b")
_DISTANCE = 2
"""Imports between a test and the changed module, at most."""
_FILES = 10
"""Files of tests for a change, at most."""
_SECONDS = 600
"""For the tests of one change; those that never end have seen it."""


class Mutation(NamedTuple):
    """A change of the text of `path` (below the root): `old` from `start` becomes `new`."""

    path: str
    line: int
    start: int
    old: str
    new: str

    def applied(self, text: str) -> str:
        return text[: self.start] + self.new + text[self.start + len(self.old) :]

    def title(self) -> str:
        old, new = (" ".join(one.split())[:60] for one in (self.old, self.new))
        return f"{self.path}:{self.line}: {old} -> {new}"


def mutations(path: str, text: str) -> Iterator[Mutation]:
    """Every change of one module."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    data = text.encode()

    def place(line: int, column: int) -> int:
        return len(data[: starts[line - 1] + column].decode())

    def span(node: ast.expr) -> tuple[int, int]:
        end = node.end_lineno or 0, node.end_col_offset or 0
        return place(node.lineno, node.col_offset), place(*end)

    def between(first: ast.expr, second: ast.expr, pattern: re.Pattern[str]) -> Iterator[Mutation]:
        start, end = span(first)[1], span(second)[0]
        if found := pattern.search(text, start, end):
            word = " ".join(found[0].split())
            yield Mutation(path, first.end_lineno or 0, found.start(), found[0], _TURNED[word])

    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Compare():
                sides = [node.left, *node.comparators]
                for first, second in pairwise(sides):
                    yield from between(first, second, _OPERATOR)
            case ast.BoolOp():
                yield from between(node.values[0], node.values[1], re.compile(r"\b(and|or)\b"))
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                start, end = span(test)
                if "TYPE_CHECKING" not in text[start:end]:
                    old = text[start:end]
                    yield Mutation(path, test.lineno, start, old, f"(not ({old}))")
            case ast.Constant(value=int() as value) if not isinstance(value, bool):
                start, end = span(node)
                yield Mutation(path, node.lineno, start, text[start:end], str(value + 1))


def drawn(number: int, seed: int, only: Sequence[str] = ()) -> list[Mutation]:
    """So many changes of the product, or of the paths that begin with one of `only`."""
    found: list[Mutation] = []
    for path in sorted(p for root in ROOTS for p in (ROOT / root).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not only or name.startswith(tuple(only)):
            found += mutations(name, path.read_text("utf-8"))
    return Random(seed).sample(found, min(number, len(found)))


def tests_by_distance(path: str) -> list[list[str]]:
    """The files of tests that import a module: at once, by way of one other module, of two."""
    module = "factdrift." + path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    graph = grimp.build_graph("factdrift", "tests", cache_dir=None)
    known: set[str] = set()
    here, found = {module}, []
    for _ in range(_DISTANCE + 1):
        importers = {m for one in here for m in graph.find_modules_that_directly_import(one)}
        helpers = {m for m in importers if m.startswith("tests.") and ".test_" not in m}
        for one in sorted(helpers):
            importers |= graph.find_modules_that_directly_import(one)
        new = {m for m in importers if m.startswith("tests.test_")} - known
        known |= new
        found.append(sorted(new))
        here = {m for m in importers if not m.startswith("tests.")}
    return found


def chosen_tests(path: str) -> list[str]:
    """The files of tests for a change of a module: the nearest, those of similar names first."""
    words = set(re.findall(r"[a-z]+", path))

    def order(name: str) -> int:
        return -len(words.intersection(name.removeprefix("tests.").split("_")))

    levels = tests_by_distance(path)
    found = [name for level in levels for name in sorted(level, key=order)]
    return [f"{name.replace('.', '/')}.py" for name in found[:_FILES]]


def copied_tree(folder: Path) -> None:
    """What git knows or does not ignore, with the links of the package, as a repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-zco", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        source, target = ROOT / name, folder / name
        if source.is_symlink() or source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    for words in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *words], cwd=folder, check=True)


def failed(tree: Path, words: Sequence[str], without: Sequence[str]) -> str | None:
    """The first test that does not pass in a tree, empty if none could be told; null: all pass."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not slow", "-p"]
    command += ["no:cacheprovider", "--no-header", "--tb=no", "-rf", *words]
    command += [f"--deselect={name}" for name in without]
    env = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=tree, capture_output=True, text=True, env=env, timeout=_SECONDS
        )
    except subprocess.TimeoutExpired:
        return ""
    if done.returncode in (0, 5):
        return None
    first = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", done.stdout, re.M)
    return first[1] if first else ""


def tried(tree: Path, one: Mutation, known: list[str], whole: bool) -> str:
    """`seen` or `unseen`, by the nearest tests, the goldens and then, with `whole`, by all.

    `known`: tests that fail without a change, which see nothing; those found are added.
    """
    path = tree / one.path
    text = path.read_text("utf-8")
    near = chosen_tests(one.path)
    everything = ["tests", "--numprocesses", "auto", "--dist", "loadfile"]
    rows = ["tests/test_golden.py", "-n", "0"]
    for words in ([*near, "-n", "0"] if near else [], rows, everything if whole else []):
        while words:
            try:
                path.write_text(one.applied(text), "utf-8")
                first = failed(tree, words, known)
            finally:
                path.write_text(text, "utf-8")
            if first is None:
                break
            if not first or failed(tree, [first, "-n", "0"], ()) is None:
                return "seen"
            known.append(first)
    return "unseen"


def known_results(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    return {one["key"]: one["result"] for one in map(json.loads, path.read_text().splitlines())}


def main() -> None:
    """Draw, try, print."""
    parser = ArgumentParser(prog="python -m tests.mutations", description=__doc__)
    parser.add_argument("paths", nargs="*", help="only modules below these, as builders/core")
    parser.add_argument("--number", type=int, default=50, help="changes to try")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument(
        "--whole", action="store_true", help="ask all tests where the near see none"
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="what was tried before")
    given = parser.parse_args()
    known = known_results(given.results)
    given.results.parent.mkdir(parents=True, exist_ok=True)
    counts = {"seen": 0, "unseen": 0}
    failing: list[str] = []
    with tempfile.TemporaryDirectory() as folder, given.results.open("a", encoding="utf-8") as log:
        tree = Path(folder)
        copied_tree(tree)
        for one in drawn(given.number, given.seed, given.paths):
            key = digest([one.path, one.start, one.new, (tree / one.path).read_text("utf-8")])
            result = known.get(key) or tried(tree, one, failing, given.whole)
            if key not in known:
                log.write(json.dumps({"key": key, "result": result, "change": one.title()}) + "\n")
                log.flush()
            counts[result] += 1
            print(f"{result:<7} {one.title()}", flush=True)
    print(", ".join(f"{n} {name}" for name, n in counts.items() if n))


if __name__ == "__main__":
    main()
