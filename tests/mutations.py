"""How many one-operator changes of the product the tests see.

`python -m tests.mutations` draws changes by a seed (a comparison turned, `and` for `or`, a
condition negated, a whole number raised by one), makes each in a copy of the tree, and runs the
tests that import the changed module, nearest first, then those that look at the samples' rows.
Results are kept in `build/mutations.jsonl`: a run that was stopped goes on. A change that no test
sees wants a case, or is code that can go.
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
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import grimp

from factdrift.builders.core.hashing import digest
from tests.house import ROOT, product_modules

_TURNED: dict[type[ast.AST], type[ast.AST]] = {ast.And: ast.Or, ast.Lt: ast.LtE, ast.Gt: ast.GtE}
_TURNED |= {ast.Eq: ast.NotEq, ast.In: ast.NotIn, ast.Is: ast.IsNot}
_TURNED |= {new: old for old, new in _TURNED.items()}
RESULTS = Path("build/mutations.jsonl")
_DISTANCE = 3
"""Modules on the way from a test to a changed one, with this, at most."""
_FILES = 10
"""Files of tests for a change, at most."""
_ROWS = ["tests/test_golden.py", "tests/test_as_of.py"]
"""What looks at rows of the samples."""
_SECONDS = 600
"""For the tests of one change; those that never end have seen it."""


class Change(NamedTuple):
    """A part of a syntax tree, and what is to stand in one place of it."""

    node: ast.expr | ast.stmt
    holder: Any
    place: Any
    new: Any

    def applied(self) -> str:
        """Make the change; what it was, and what it is."""
        before = ast.unparse(self.node)
        self.holder[self.place] = self.new
        return " -> ".join(" ".join(t.split())[:60] for t in (before, ast.unparse(self.node)))


def changes(tree: ast.Module) -> Iterator[Change]:
    """Every change of one module, in an order that its text decides."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(ops=signs):
                for place, sign in enumerate(signs):
                    yield Change(node, signs, place, _TURNED[type(sign)]())
            case ast.BoolOp(op=word):
                yield Change(node, vars(node), "op", _TURNED[type(word)]())
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                if "TYPE_CHECKING" not in ast.unparse(test):
                    yield Change(node, vars(node), "test", ast.UnaryOp(ast.Not(), test))
            case ast.Constant(value=int() as value) if not isinstance(value, bool):
                yield Change(node, vars(node), "value", value + 1)


class Mutation(NamedTuple):
    """The change of this number of a module (its path below the root)."""

    path: str
    number: int

    def made(self, text: str) -> tuple[str, str]:
        """The changed text of the module, and what was changed."""
        tree = ast.parse(text)
        change = next(islice(changes(tree), self.number, None))
        return f"{self.path}:{change.node.lineno}: {change.applied()}", ast.unparse(tree)


def drawn(number: int, seed: int, only: Sequence[str] = ()) -> list[Mutation]:
    """So many changes of the product, or of the paths that begin with one of `only`."""
    found: list[Mutation] = []
    for path in product_modules():
        name = path.relative_to(ROOT).as_posix()
        if not only or name.startswith(tuple(only)):
            tree = ast.parse(path.read_text("utf-8"))
            found += [Mutation(name, n) for n, _ in enumerate(changes(tree))]
    return Random(seed).sample(found, min(number, len(found)))


def chosen_tests(path: str) -> list[str]:
    """The files of tests that import a module: the nearest, those of similar names first."""
    module = "factdrift." + path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    graph = grimp.build_graph("factdrift", "tests", cache_dir=None)
    words = set(path.removesuffix(".py").replace("/", "_").split("_"))
    found = []
    for name in sorted(one for one in graph.modules if one.startswith("tests.test_")):
        if chain := graph.find_shortest_chain(name, module):
            away = sum(one.startswith("factdrift.") for one in chain)
            if away <= _DISTANCE:
                alike = len(words.intersection(name.split("_")))
                found.append((away, len(chain), -alike, name))
    return [f"{name.replace('.', '/')}.py" for *_, name in sorted(found)[:_FILES]]


def copied_tree(folder: Path) -> None:
    """What git knows or does not ignore, with the links of the package, as a repository."""
    words = ["git", "ls-files", "-zco", "--exclude-standard"]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        source, target = ROOT / name, folder / name
        if source.is_symlink() or source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    for words in (["git", "init", "-q"], ["git", "add", "-A"]):
        subprocess.run(words, cwd=folder, check=True)


def failed(tree: Path, words: Sequence[str], without: Sequence[str] = ()) -> str | None:
    """The first test that does not pass in a tree, empty if none could be told; null: all pass."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not slow", "-p"]
    command += ["no:cacheprovider", "-n", "0", "--no-header", "--tb=no", "-rf", *words]
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


def is_seen(tree: Path, one: Mutation, known: list[str]) -> bool:
    """Whether the nearest tests see a change, or those of the samples' rows.

    `known`: tests that fail without a change, which see nothing; those found are added.
    """
    path = tree / one.path
    text = path.read_text("utf-8")
    changed, plain = one.made(text)[1], ast.unparse(ast.parse(text))
    try:
        for words in (chosen_tests(one.path), _ROWS):
            while words:
                path.write_text(changed, "utf-8")
                first = failed(tree, words, known)
                path.write_text(plain, "utf-8")
                if first is None:
                    break
                if not first or failed(tree, [first]) is None:
                    return True
                known.append(first)
    finally:
        path.write_text(text, "utf-8")
    return False


def main() -> None:
    """Draw, try, print."""
    parser = ArgumentParser(prog="python -m tests.mutations", description=__doc__)
    parser.add_argument("paths", nargs="*", help="only modules below these, as builders/core")
    parser.add_argument("--number", type=int, default=50, help="changes to try")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--results", type=Path, default=RESULTS, help="what was tried before")
    given = parser.parse_args()
    given.results.parent.mkdir(parents=True, exist_ok=True)
    failing: list[str] = []
    with tempfile.TemporaryDirectory() as folder, given.results.open("a+", encoding="utf-8") as log:
        log.seek(0)
        results = {one["key"]: one["result"] for one in map(json.loads, log)}
        tree, tried = Path(folder), []
        copied_tree(tree)
        for one in drawn(given.number, given.seed, given.paths):
            title, text = one.made((tree / one.path).read_text("utf-8"))
            key = digest([one.path, text])
            if key not in results:
                results[key] = "seen" if is_seen(tree, one, failing) else "unseen"
                line = {"key": key, "result": results[key], "change": title}
                log.write(json.dumps(line) + "\n")
                log.flush()
            tried.append(results[key])
            print(f"{results[key]:<7} {title}", flush=True)
    print(", ".join(f"{n} {name}" for name, n in Counter(tried).items()))


if __name__ == "__main__":
    main()
