"""Changes of one literal in a module of the project: of the code, or of what only people read.

What is presentation is found here by rules of its own, simpler than those of
`builders.core.reach`: where it is not clear what a literal is, it is left alone.
"""

import ast
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Edit(NamedTuple):
    """The line and the text of a literal, and its module before and with another one."""

    line: int
    literal: str
    before: str
    source: str


def edits(module: str, presentation: bool = False) -> Iterator[Edit]:
    """Every such change of a module, in order; `presentation`: docstrings and captions."""
    spec = importlib.util.find_spec(module)
    assert spec and spec.origin
    text = Path(spec.origin).read_bytes()
    starts = [0, *(n + 1 for n, byte in enumerate(text) if byte == ord("\n"))]
    for node, kind in _literals(ast.parse(text), "code"):
        value = node.value
        if kind != ("shown" if presentation else "code") or not isinstance(value, int | str):
            continue
        other: object = value + "x" if isinstance(value, str) else value + 1
        other = not value if isinstance(value, bool) else other
        assert node.end_lineno and node.end_col_offset
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        after = text[:begin] + repr(other).encode() + text[end:]
        yield Edit(node.lineno, text[begin:end].decode(), text.decode(), after.decode())


def _literals(node: ast.AST, kind: str) -> Iterator[tuple[ast.Constant, str]]:
    """Literals with what they are: `code`, `shown`, or `unclear`."""
    if isinstance(node, ast.Constant):
        yield node, kind
    elif isinstance(node, ast.Subscript) and getattr(node.value, "id", "") == "Annotated":
        for mark in getattr(node.slice, "elts", [])[1:]:
            yield from _literals(mark, "shown" if isinstance(mark, ast.Constant) else "unclear")
    else:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            kind = "shown"
        elif isinstance(node, ast.JoinedStr):
            kind = "unclear"
        for child in ast.iter_child_nodes(node):
            yield from _literals(child, kind)
