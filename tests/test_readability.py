"""A budget for readability: it stands in `BUDGETS`, and is only ever made tighter.

Names are measured where Python binds them: variables, parameters, loop variables. A name is vague
where it says nothing of what it holds, as `one`, `found` or `given`, or is a single letter other
than `i`. The commonest name is held down too, so that no new word takes the place of the old ones.
"""

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from radon.complexity import cc_visit
from radon.visitors import Class, Function

from tests.house import ROOT

VAGUE_NAMES = frozenset(
    """
    about asked at done every found given kept known left made many met named of one other others
    own shown some taken thing things wanted
    """.split()
)
CONVENTIONAL_LETTERS = frozenset("i_")
"""`i` counts, `_` is thrown away; `T` and the like, which name types, have a capital."""
DIRECTIVE = re.compile(r"#\s*(?:noqa|type:|fmt:|!)")
"""A comment for a tool: `# noqa: S603` is one, `# the first line has the heads` is none."""
COMPLEXITY_LIMIT = 15
"""Ways through a function (McCabe): beyond about so many, a reader loses count of the cases."""


class Budget(NamedTuple):
    """The worst figures that a tree may have."""

    vague_share: float
    commonest_share: float
    words_a_name: float
    comments_per_thousand: float
    comprehensions_per_thousand: float
    complex_functions: int
    """Over `COMPLEXITY_LIMIT` and not in `COMPLEX_FUNCTIONS`."""


TREES = {
    "product": ("annotation", "builders", "filters", "reasoning", "scoring"),
    "tests": ("tests",),
}
BUDGETS = {
    #                 vague  commonest  words  comments  comprehensions  complex
    "product": Budget(0.005, 0.0080, 1.42, 16.0, 45, 0),
    "tests": Budget(0.006, 0.0080, 1.33, 12.0, 58, 11),
}
COMMON_NAMES = frozenset("_ error folder line name path row text tmp_path value".split())
"""Names that may be common: each is the plain noun for what it holds, as a line of a file is."""
COMPLEX_FUNCTIONS: dict[str, str] = {
    "annotation/quality/report.py:make_report": "one table of figures, in the order of the report",
}
"""`path:function` -> why it is clearer whole; its docstring says so as well."""


@dataclass
class Measured:
    """Counts over the modules of one tree."""

    lines_of_code: int = 0
    comments: int = 0
    comprehensions: int = 0

    def __post_init__(self) -> None:
        self.bindings: Counter[str] = Counter()
        self.complex_functions: dict[str, int] = {}

    def add(self, path: Path) -> None:
        """Count one module."""
        module_source = path.read_text("utf-8")
        tree = ast.parse(module_source)
        self.bindings.update(bound_names(tree))
        for node in ast.walk(tree):
            comprehension = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
            self.comprehensions += isinstance(node, comprehension)
        tokens = [*tokenize.generate_tokens(io.StringIO(module_source).readline)]
        self.comments += sum(is_explanation(token) for token in tokens)
        self.lines_of_code += len(code_lines(tokens))
        module = path.relative_to(ROOT).as_posix()
        for function in functions_of(module_source):
            if function.complexity > COMPLEXITY_LIMIT:
                self.complex_functions[f"{module}:{function.name}"] = function.complexity

    @property
    def budget(self) -> Budget:
        """The figures, as a budget that is just met."""
        names = self.bindings.total()
        vague = sum(
            binding_count for name, binding_count in self.bindings.items() if is_vague(name)
        )
        own_words = {
            name: name_count
            for name, name_count in self.bindings.items()
            if name not in COMMON_NAMES
        }
        word_count = sum(
            len(words_of(name)) * binding_count for name, binding_count in self.bindings.items()
        )
        thousand = self.lines_of_code / 1000
        return Budget(
            vague / names,
            max(own_words.values()) / names,
            word_count / names,
            self.comments / thousand,
            self.comprehensions / thousand,
            len(self.complex_functions.keys() - COMPLEX_FUNCTIONS.keys()),
        )


def bound_names(tree: ast.AST) -> Iterator[str]:
    """Every variable and parameter that a module binds, as often as it does."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.arg(arg=name) if name not in ("self", "cls"):
                yield name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                yield name


def is_vague(name: str) -> bool:
    """Whether a name says nothing of what it holds."""
    letter = len(name) == 1 and name.islower() and name not in CONVENTIONAL_LETTERS
    return letter or name.strip("_") in VAGUE_NAMES


def words_of(name: str) -> list[str]:
    """The words of a name: two of `row_count`."""
    return [word for word in name.split("_") if word]


def is_explanation(token: tokenize.TokenInfo) -> bool:
    """Whether a token is a comment for people."""
    return token.type == tokenize.COMMENT and not DIRECTIVE.match(token.string)


def code_lines(tokens: list[tokenize.TokenInfo]) -> set[int]:
    """The numbers of the lines that have code: texts that stand alone, as docstrings, are none."""
    layout = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT)
    lines: set[int] = set()
    statement: list[tokenize.TokenInfo] = []
    for token in tokens:
        if token.type in (tokenize.NEWLINE, tokenize.ENDMARKER):
            if [part.type for part in statement] != [tokenize.STRING]:
                for part in statement:
                    lines.update(range(part.start[0], part.end[0] + 1))
            statement = []
        elif token.type not in layout:
            statement.append(token)
    return lines


def functions_of(source: str) -> Iterator[Function]:
    """The functions of a module and the methods of its classes."""
    for block in cc_visit(source, no_assert=True):  # a case of a test may have many
        if isinstance(block, Class):
            yield from block.methods
        else:
            yield block


@cache
def measured(tree: str) -> Measured:
    """The counts of one of `TREES`."""
    tree_counts = Measured()
    for folder in TREES[tree]:
        for path in sorted((ROOT / folder).rglob("*.py")):
            tree_counts.add(path)
    return tree_counts


@pytest.mark.slow
@pytest.mark.parametrize("tree", TREES)
def test_a_tree_keeps_its_budget(tree: str) -> None:
    counts = measured(tree)
    budget, figures = BUDGETS[tree], counts.budget
    common = ", ".join(
        f"{name} {binding_count}"
        for name, binding_count in counts.bindings.most_common(40)
        if is_vague(name)
    )
    assert figures.vague_share <= budget.vague_share, f"vague names: {common}"
    assert figures.commonest_share <= budget.commonest_share, counts.bindings.most_common(20)
    assert figures.words_a_name >= budget.words_a_name
    assert figures.comments_per_thousand >= budget.comments_per_thousand
    assert figures.comprehensions_per_thousand <= budget.comprehensions_per_thousand
    assert figures.complex_functions <= budget.complex_functions, counts.complex_functions


@pytest.mark.slow
def test_functions_that_stay_complex_are_complex() -> None:
    complex_functions = {name for tree in TREES for name in measured(tree).complex_functions}
    assert COMPLEX_FUNCTIONS.keys() <= complex_functions, "take those off the list that are simple"


def test_measures() -> None:
    source = '"""A module."""\n\nimport os  # noqa: F401\n\n\ndef add(one, row_count):\n    # why\n'
    source += '    """Sum."""\n    return [i for i in (one, row_count)]\n'
    tokens = [*tokenize.generate_tokens(io.StringIO(source).readline)]
    assert [*bound_names(ast.parse(source))] == ["one", "row_count", "i"]
    assert code_lines(tokens) == {3, 6, 9}
    assert [token.string for token in tokens if is_explanation(token)] == ["# why"]
    assert [function.name for function in functions_of(source)] == ["add"]
    vague = ("one", "_found", "k", "i", "_", "T", "row_count")
    assert [name for name in vague if is_vague(name)] == ["one", "_found", "k"]
    assert len(words_of("_row_count")) == 2
