"""Count how many one-operator changes of the product the tests see.

`python -m tests.mutations` draws changes by a seed (a comparison turned, `and` for `or`, a
condition negated, a whole number raised by one) and makes each of them in a copy of the tree. The
nearest tests, which import the changed module, run first. What survives them is then tried against
all of `make test`, unless `--near` is given.

Results are kept in `build/mutations.jsonl`, a line for each try: a run that was stopped goes on
where it was, and more may be drawn later. A change that no test sees wants a case, or the code that
it changes can go.
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
from dataclasses import dataclass, field
from functools import cache
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
"""Modules on the way from a test to a changed one, with this, at most: tests farther off take long
and seldom see what nearer ones do not."""
_FILES = 10
"""Files of nearest tests for a change, at most."""
_NEAR_SECONDS = 600
"""For the nearest tests of one change; those that never end have seen it."""
_WHOLE_SECONDS = 3600
"""For all tests, which take five to ten minutes where nothing hangs."""
SURVIVED, SEEN, UNSEEN = "survived", "seen", "unseen"
"""Results: the nearest tests have not seen a change; some test has; none of all tests has."""


class Change(NamedTuple):
    """A part of a syntax tree, and what is to stand in one place of it."""

    node: ast.expr | ast.stmt
    holder: Any
    place: Any
    replacement: Any

    def applied(self) -> str:
        """Make the change; return the text of the node before and after it."""
        before = ast.unparse(self.node)
        self.holder[self.place] = self.replacement
        return " -> ".join(" ".join(text.split())[:60] for text in (before, ast.unparse(self.node)))


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

    def changed(self, source: str) -> tuple[str, str]:
        """Return a title, `path:line: old -> new`, and the changed text of the module."""
        tree = ast.parse(source)
        change = next(islice(changes(tree), self.number, None))
        return f"{self.path}:{change.node.lineno}: {change.applied()}", ast.unparse(tree)

    def key(self, source: str) -> str:
        """A hash of the changed module, so that a result counts only for the same text."""
        return digest([self.path, self.changed(source)[1]])


def draw_mutations(number: int, seed: int, folders: Sequence[str] = ()) -> list[Mutation]:
    """Draw changes of the product, or of the paths that begin with one of `folders`."""
    mutations: list[Mutation] = []
    for path in product_modules():
        name = path.relative_to(ROOT).as_posix()
        if not folders or name.startswith(tuple(folders)):
            tree = ast.parse(path.read_text("utf-8"))
            mutations += [Mutation(name, i) for i, _ in enumerate(changes(tree))]
    return Random(seed).sample(mutations, min(number, len(mutations)))


@cache
def import_graph() -> grimp.ImportGraph:
    """Which module of the product and of the tests imports which: some seconds to build."""
    return grimp.build_graph("factdrift", "tests", cache_dir=None)


def nearest_tests(path: str) -> list[str]:
    """The files of tests that import a module: the nearest, those of similar names first."""
    module = "factdrift." + path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    graph = import_graph()
    path_words = set(path.removesuffix(".py").replace("/", "_").split("_"))
    ranked = []
    for test in sorted(graph.modules):
        chain = graph.find_shortest_chain(test, module) if test.startswith("tests.test_") else None
        if chain:
            distance = sum(name.startswith("factdrift.") for name in chain)
            if distance <= _DISTANCE:
                common_words = len(path_words.intersection(test.split("_")))
                ranked.append((distance, len(chain), -common_words, test))
    return [f"{test.replace('.', '/')}.py" for *_, test in sorted(ranked)[:_FILES]]


def copy_tree(folder: Path) -> None:
    """Copy what git knows or does not ignore, with the links of the package, as a repository."""
    command = ["git", "ls-files", "-zco", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        source, target = ROOT / name, folder / name
        if source.is_symlink() or source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    for command in (["git", "init", "-q"], ["git", "add", "-A"]):
        subprocess.run(command, cwd=folder, check=True)


@dataclass
class Trial:
    """Changes tried in one copy of the tree."""

    tree: Path
    jobs: int
    failing: list[str] = field(default_factory=list)
    """Tests that fail without a change too, which therefore see nothing."""

    def first_failure(self, tests: Sequence[str], seconds: int) -> str | None:
        """The first test that fails, empty where the run named none; None where all pass."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not slow"]
        command += ["-p", "no:cacheprovider", "--no-header", "--tb=no", "-rfE"]
        if tests:
            command += ["-n", "0", *tests]
        else:
            command += ["-n", str(self.jobs), "--dist", "loadfile", "--no-loadscope-reorder"]
        command += [f"--deselect={name}" for name in self.failing]
        env = os.environ | {"PYTHONPATH": str(self.tree), "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            done = subprocess.run(
                command, cwd=self.tree, capture_output=True, text=True, env=env, timeout=seconds
            )
        except subprocess.TimeoutExpired:
            return ""
        if done.returncode in (0, 5):  # 5: no test was chosen
            return None
        failure = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
        return failure[1] if failure else ""

    def sees(self, mutation: Mutation, tests: Sequence[str], seconds: int) -> bool:
        """Whether a named test, or any test where none is named, fails because of a change."""
        path = self.tree / mutation.path
        source = path.read_text("utf-8")
        changed, unchanged = mutation.changed(source)[1], ast.unparse(ast.parse(source))
        try:
            while True:
                path.write_text(changed, "utf-8")
                failure = self.first_failure(tests, seconds)
                if failure is None:
                    return False
                path.write_text(unchanged, "utf-8")
                if not failure or self.first_failure([failure], seconds) is None:
                    return True
                self.failing.append(failure)
        finally:
            path.write_text(source, "utf-8")

    def result(self, mutation: Mutation, known: str | None, near: bool) -> str:
        """Try a change, or go on with one of which a result is known."""
        if known is None:
            tests = nearest_tests(mutation.path)
            seen = bool(tests) and self.sees(mutation, tests, _NEAR_SECONDS)
            return SEEN if seen else SURVIVED
        if known == SURVIVED and not near:
            return SEEN if self.sees(mutation, [], _WHOLE_SECONDS) else UNSEEN
        return known


def main() -> None:
    """Draw, try, print."""
    parser = ArgumentParser(prog="python -m tests.mutations", description=__doc__)
    parser.add_argument("paths", nargs="*", help="only modules below these, as builders/core")
    parser.add_argument("--number", type=int, default=60, help="changes to try")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--near", action="store_true", help="only the nearest tests of each change")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="for all the tests")
    parser.add_argument("--results", type=Path, default=RESULTS, help="what was tried before")
    options = parser.parse_args()
    options.results.parent.mkdir(parents=True, exist_ok=True)
    mutations = draw_mutations(options.number, options.seed, options.paths)
    with (
        tempfile.TemporaryDirectory() as folder,
        options.results.open("a+", encoding="utf-8") as log,
    ):
        log.seek(0)
        results = {line["key"]: line["result"] for line in map(json.loads, log)}
        trial = Trial(Path(folder), options.jobs)
        copy_tree(trial.tree)
        for number_of_tries in range(1 if options.near else 2):
            for mutation in mutations:
                source = (trial.tree / mutation.path).read_text("utf-8")
                key, title = mutation.key(source), mutation.changed(source)[0]
                known = results.get(key)
                if known is not None and number_of_tries == 0:
                    continue  # tried before; survivors go against all tests in the second round
                results[key] = trial.result(mutation, known, options.near)
                if results[key] != known:
                    line = {"key": key, "result": results[key], "change": title}
                    log.write(json.dumps(line) + "\n")
                    log.flush()
                    print(f"{results[key]:<8} {title}", flush=True)
        outcomes = []
        for mutation in mutations:
            outcomes.append(results[mutation.key((trial.tree / mutation.path).read_text("utf-8"))])
    print(", ".join(f"{count} {result}" for result, count in Counter(outcomes).items()))


if __name__ == "__main__":
    main()
