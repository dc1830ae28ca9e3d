"""The vocabulary of drop reasons: each word that code or samples have is in the one table."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from factdrift.builders.core import duck
from factdrift.builders.release.card import drop_reasons
from factdrift.filters.toxicity.scores import ATTRIBUTES
from tests.conftest import ROOT

DROP_REASONS = drop_reasons()
CALLS = {"Dropped", "DropError", "BadPageError", "UnreadableError", "Verdict", "Result"}
CALLS |= {"drop", "_drop", "_dropped", "judged", "Revised", "_cut"}
"""What is called with a reason, as a text or as the values of a choice."""
WORD = re.compile(r"[a-z]+(_[a-z0-9]+)*")
NOT_REASONS = {
    *("mine", "pages", "read", "draw", "updated", "discarded", "refused", "new"),
    *("supported", "found", "not_found", "taken", "question"),
    *("place", "object_id", "succeeded", "successor", "rival_of"),
    *("unclassed", "outside", "born", "born_last", "died", "lasts", "until"),
}
"""Other words in such calls: names of steps and columns, and what becomes of what is kept."""


def literals(path: Path) -> Iterator[tuple[int, str]]:
    """The texts with which a module calls one of `CALLS`, or that it gives as a `reason`."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        given: list[ast.expr] = []
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            given = [k.value for k in node.keywords if k.arg == "reason"]
            given += node.args[:3] if name in CALLS else []
        elif isinstance(node, ast.Assign):
            names = {getattr(target, "id", "") for target in node.targets}
            given = [node.value] if names & {"reason", "REASONS", "Reason", "why"} else []
        for one in given:
            yield from _texts(one)


def _texts(node: ast.expr) -> Iterator[tuple[int, str]]:
    """The texts that an expression may come to."""
    inside: list[ast.expr] = []
    match node:
        case ast.Constant(value=str() as text):
            yield node.lineno, text
        case ast.IfExp(body=first, orelse=second):
            inside = [first, second]
        case ast.BoolOp(values=[*_, last]):
            inside = [last]
        case ast.Tuple(elts=parts):
            inside = parts
        case ast.Subscript(value=ast.Name(id="Literal"), slice=part):
            inside = [part]
        case ast.Call(func=ast.Attribute(attr="cases" | "ifelse"), args=parts):
            inside = parts
        case ast.Call(func=ast.Attribute(attr="literal"), args=[first, *_]):
            inside = [first]
    for one in inside:
        yield from _texts(one)


def test_every_reason_in_code_is_explained() -> None:
    seen = set()
    missing = []
    for folder in ("builders", "filters"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if folder == "builders" and path.parent.name in ("core", "release"):
                continue
            for line, word in literals(path):
                if word in NOT_REASONS or not WORD.fullmatch(word):
                    continue
                if word not in DROP_REASONS:
                    missing.append(f"{path.relative_to(ROOT)}:{line}: {word}")
                seen.add(word)
    assert not missing
    assert len(seen) > 60


def test_every_reason_of_the_samples_is_explained(sample: Path) -> None:
    files = [str(path) for path in sorted((sample / "releases").glob("*/*/dropped.parquet"))]
    rows = duck.query("SELECT DISTINCT reason FROM read_parquet(?)", [files])
    assert len(rows) > 15
    assert {reason for (reason,) in rows} <= DROP_REASONS.keys()


def test_the_table_is_words_and_sentences() -> None:
    for word, text in DROP_REASONS.items():
        assert WORD.fullmatch(word)
        assert text[0].isupper() and text.endswith(".") and len(text) < 90
    assert {f"toxic_{name}" for name in ATTRIBUTES} <= DROP_REASONS.keys()
