"""What a step depends on: modules, data files and libraries, and no presentation.

Small packages are written to a temporary folder; what they must reach is in the tables.
"""

import ast
import sys
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path

import pytest

import factdrift.builders.recipes.recipe  # noqa: F401 - it imports every step
from factdrift.builders.core import files
from factdrift.builders.core.reach import is_outside_keys, parse, reach
from tests.conftest import ROOT, run_process
from tests.tables import read_table

Write = Callable[[Mapping[str, str]], str]
_numbers = count()


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write modules of a package; gives its name, which `PKG` in the texts stands for."""

    def written(tree: Mapping[str, str]) -> str:
        package = f"reached{next(_numbers)}"
        for path, text in {"__init__.py": "X = 1", **tree}.items():
            file = tmp_path / package / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text.replace("PKG", package), "utf-8")
        return package

    monkeypatch.syspath_prepend(str(tmp_path))
    return written


B = {"b.py": "def g(): pass", "c.py": "import PKG.d", "d.py": "1 / 0", "e.py": ""}
FACADE = {"p/__init__.py": '"""Rows."""\nfrom PKG.b import g\nfrom PKG.c import h as k'}


@pytest.mark.parametrize(("source", "modules"), read_table("reached_modules"))
def test_modules(source: str, modules: str, write: Write) -> None:
    package = write({"a.py": source, **B, **FACADE})
    found_modules = {name.removeprefix(f"{package}.") for name in reach(f"{package}.a").modules}
    found_modules = {"__init__" if name == package else name for name in found_modules}
    assert set(modules.split()) == {
        name
        for name in found_modules
        if not name.startswith("factdrift.") or name in modules.split()
    }


BEFORE = """from typing import Annotated
X: Annotated[int, 'years', K] = 1
def f(a=True, *, b=0):
    return 'a'
class C:
    y = f'{X:>3}' + 'z'
    'A text below.'
"""


@pytest.mark.parametrize(("old", "new", "counts"), read_table("source_edits"))
def test_what_of_a_source_counts(old: str, new: str, counts: str) -> None:
    """Texts of errors count, for some become rows of `dropped.parquet`."""
    source_after = BEFORE.replace(old, new)
    assert source_after != BEFORE
    assert (parse("a", source_after).normalised_source != parse("a", BEFORE).normalised_source) is (
        counts == "yes"
    )


def test_a_form_is_the_same_on_every_python() -> None:
    assert parse("a", "x = f'{y!r:>{z}}' + 'b'  # c").normalised_source == (
        "(Module body=(Assign targets=(Name id='x' ) value=(BinOp left=(JoinedStr values="
        "(FormattedValue value=(Name id='y' ) conversion=114  format_spec=(JoinedStr values="
        "(Constant value='>' )(FormattedValue value=(Name id='z' ) conversion=-1 ))))"
        " op=(Add) right=(Constant value='b' ))))"
    )


def test_data_files(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "resource", lambda *parts: tmp_path.joinpath(*parts))
    text = (
        "from factdrift.builders.core import files\n"
        "from factdrift.builders.core.files import resource as r\n"
        "def f():\n    r('words.txt')\n    files.resource('lists', 'deep')\n"
    )
    file_texts = {"words.txt": "one", "lists/deep/a.txt": "two", "lists/deep/b/c.txt": "three"}
    for name in (*file_texts, "lists/deep/code.py", "lists/deep/.hidden", "lists/other.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(file_texts.get(name, ""), "utf-8")
    package = write({"a.py": text})
    reach_before = reach(f"{package}.a")
    assert list(reach_before.data) == sorted(file_texts)
    digests = {reach_before.digest}
    for name in (*file_texts, "lists/deep/new.txt"):
        (tmp_path / name).write_text("changed", "utf-8")
        reach.cache_clear()
        digests.add(reach(f"{package}.a").digest)
    assert len(digests) == 5


@pytest.mark.parametrize("call", ["r(name)", "r('x', name)", "r(f'x/{name}')", "r()", "r(x='y')"])
def test_data_is_named_by_literals(call: str, write: Write) -> None:
    text = f"from factdrift.builders.core.files import resource as r\n\n{call}\n"
    with pytest.raises(TypeError, match=r"/a\.py:3: a data file is named by literals"):
        reach(f"{write({'a.py': text})}.a")


def test_no_such_data_and_no_such_module(write: Write) -> None:
    text = "from factdrift.builders.core.files import resource\nresource('no/such')"
    with pytest.raises(FileNotFoundError, match="there is no no/such"):
        reach(f"{write({'a.py': text})}.a")
    with pytest.raises(LookupError, match="no module"):
        reach(f"{write({})}.b")


STEPS = {
    "factdrift.builders.wikidata.steps": ("wikidata.mine", "facts.timeline", "duckdb", "spacy"),
    "factdrift.builders.facts.steps": ("facts.timeline", "timeqa.steps", "ibis-framework", "spacy"),
    "factdrift.builders.wmt.steps": ("wmt.archive", "wikidata.mine", "pybase64", "matplotlib"),
    "factdrift.builders.streamingqa.corpus": ("text.sentences", "generate.questions", "tantivy",
                                              "alt-profanity-check"),
    "factdrift.builders.streamingqa.questions": ("generate.questions", "release.card",
                                             "en_core_web_sm", "torch"),
}  # fmt: skip


@pytest.mark.parametrize("module", STEPS)
def test_the_projects_own_steps(module: str) -> None:
    inner_modules, outside, used, unused = STEPS[module]
    found_reach = reach(module)
    assert f"factdrift.builders.{inner_modules}" in found_reach.modules
    assert f"factdrift.builders.{outside}" not in found_reach.modules
    assert used in found_reach.libraries and unused not in found_reach.libraries
    assert not any(map(is_outside_keys, found_reach.modules))


def test_extras_count_where_a_field_names_them() -> None:
    module = "factdrift.builders.streamingqa.questions"
    pytest.importorskip("torch")
    assert "torch" in reach(module, frozenset({"torch"})).libraries


KEYS = """
import factdrift.builders.recipes.recipe
from factdrift.builders.core.reach import reach
for module in {modules}:
    print(module, reach(module).digest)
"""


@pytest.mark.slow
def test_an_upgraded_library_remakes_what_uses_it(tmp_path: Path) -> None:
    """Each library in turn, in a copy of the environment's metadata."""
    digests_before = {module: reach(module).digest for module in STEPS}
    for name in ("duckdb", "spacy", "tantivy", "matplotlib"):
        info = tmp_path / name / f"{name}-99.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 99\n")
        program_text = KEYS.format(modules=list(STEPS))
        ended_process = run_process(
            sys.executable, "-c", program_text, env={"PYTHONPATH": str(info.parent)}
        )
        digests_after = dict(line.split() for line in ended_process.stdout.splitlines())
        remade = {module for module in STEPS if digests_after[module] != digests_before[module]}
        assert remade == {module for module in STEPS if name in reach(module).libraries}
        assert bool(remade) == (name != "matplotlib")


def test_every_function_that_finds_data_files_is_declared() -> None:
    """Outside of keys no literal is looked for, so a wrapper of `resource` has to say it is one."""
    undeclared: list[str] = []
    for path in (ROOT / "builders").rglob("*.py"):
        module_source = path.read_text("utf-8")
        if "__outside_step_keys__" not in module_source or path.stem in ("files", "reach"):
            continue
        for function in ast.walk(ast.parse(module_source)):
            if not isinstance(function, ast.FunctionDef):
                continue
            calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
            finds = any(getattr(call.func, "id", "") == "resource" for call in calls)
            if finds and f'"{function.name}": "' not in module_source:
                undeclared.append(f"{path.name}: {function.name}")
    assert not undeclared
