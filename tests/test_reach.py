"""What a step's code reaches: every name that it uses, no presentation, the same on every machine.

Small packages are written to a temporary folder; what they must reach is in the tables.
"""

import ast
import hashlib
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import count, islice
from pathlib import Path

import pytest

import factdrift.builders.recipes.recipe  # noqa: F401 - it imports every step
from factdrift.builders.core import files
from factdrift.builders.core.reach import NOT_ENTERED, ROOTS, Code, Reach, code_of, parse, reach
from factdrift.builders.core.steps import Step
from factdrift.builders.facts.steps import Timelines
from factdrift.builders.streamingqa.steps import NewsQuestions
from factdrift.builders.timeqa.steps import Alignments
from factdrift.builders.wmt.steps import QuestionDates
from tests.edits import Edit, edits

Tree = Mapping[str, str]
Write = Callable[[Tree], str]
_numbers = count()


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Write modules and data of a package; gives its name, which `PKG` in the texts stands for."""

    def written(tree: Tree) -> str:
        package = f"reached{next(_numbers)}"
        for path, text in {"__init__.py": "", **tree}.items():
            file = tmp_path / package / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text.replace("PKG", package), "utf-8")
        return package

    monkeypatch.syspath_prepend(str(tmp_path))
    yield written


def reached(package: str, start: str = "a:f", source: str | None = None) -> Reach:
    """What a package reaches, with another text of its module `a`."""
    code = Code((package,))
    if source:
        code.modules[f"{package}.a"] = parse(f"{package}.a", False, source.replace("PKG", package))
    return code.reach((f"{package}.{start.partition(':')[0]}", start.partition(":")[2]), None)


def edited(step: type[Step], module: str, source: str) -> Reach:
    """What a step reaches where one module has another text that binds and imports the same."""
    before = code_of(ROOTS)
    code, old = Code(ROOTS), before.module(module)
    assert old
    new = parse(module, old.package, source)
    code.modules = {**before.modules, module: new}
    same = {
        n for n, one in enumerate(new.statements) if ast.dump(one) == ast.dump(old.statements[n])
    }
    code.uses = {at: use for at, use in before.uses.items() if at[0] != module or at[1] in same}
    return code.reach(
        (step.__module__, step.__qualname__), f"{Step.__module__}.{Step.__qualname__}"
    )


def names(package: str, start: str = "a:f") -> set[str]:
    found = reached(package, start).symbols
    return {f"{module.removeprefix(package + '.')}:{name}" for module, name in found}


B = "X = 1\nY = 2\ndef g():\n    return X\ndef h():\n    return Y\n"

REACHED: dict[str, tuple[Tree, set[str]]] = {
    "only what is used": ({"a.py": "def f():\n    return g()\n" + B}, {"a:f", "a:g", "a:X"}),
    "from import": (
        {"a.py": "from PKG.b import g\ndef f():\n    return g()", "b.py": B},
        {"a:f", "b:g", "b:X"},
    ),
    "from import as": (
        {"a.py": "from PKG.b import g as n\ndef f():\n    return n()", "b.py": B},
        {"a:f", "b:g", "b:X"},
    ),
    "module attribute": (
        {"a.py": "from PKG import b\ndef f():\n    return b.g()", "b.py": B},
        {"a:f", "b:g", "b:X"},
    ),
    "dotted import": (
        {"a.py": "import PKG.b\ndef f():\n    return PKG.b.g()", "b.py": B},
        {"a:f", "b:g", "b:X"},
    ),
    "dotted import as": (
        {"a.py": "import PKG.b as c\ndef f():\n    return c.g.__name__", "b.py": B},
        {"a:f", "b:g", "b:X"},
    ),
    "import in a function": (
        {"a.py": "def f():\n    from PKG.b import g\n    return g()", "b.py": B},
        {"a:f", "b:g", "b:X"},
    ),
    "import of a module in a function": (
        {
            "a.py": "def f():\n    def inner():\n        return c.h()\n    import PKG.b as c",
            "b.py": B,
        },
        {"a:f", "b:h", "b:Y"},
    ),
    "re-export": (
        {
            "a.py": "from PKG import p\ndef f():\n    return p.n()",
            "p/__init__.py": "from PKG.p.b import g as n, h\nZ = 1",
            "p/b.py": B,
        },
        {"a:f", "p.b:g", "p.b:X"},
    ),
    "re-export of a re-export, named like its module": (
        {
            "a.py": "from PKG import g\ndef f():\n    return g()",
            "__init__.py": "from PKG.g import g",
            "g.py": "from PKG.b import g, h",
            "b.py": B,
        },
        {"a:f", "b:g", "b:X"},
    ),
    "name imported for type checkers": (
        {
            "a.py": "import typing\nif typing.TYPE_CHECKING:\n    from PKG.b import g\n"
            "def f(x: 'g'):\n    pass",
            "b.py": B,
        },
        {"a:f"},
    ),
    "else of type checkers": (
        {
            "a.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from PKG.b import g\n"
            "else:\n    from PKG.b import h as g\ndef f():\n    g()",
            "b.py": B,
        },
        {"a:f", "b:h", "b:Y"},
    ),
    "conditional import": (
        {
            "a.py": "try:\n    from PKG.b import g\n"
            "except ImportError:\n    from PKG.b import h as g\n"
            "def f():\n    g()",
            "b.py": B,
        },
        {"a:f", "b:g", "b:X", "b:h", "b:Y"},
    ),
    "conditional definition": (
        {"a.py": "if X:\n    def g():\n        return Y\nX = 1\nY = 2\ndef f():\n    g()"},
        {"a:f", "a:g", "a:X", "a:Y"},
    ),
    "tuple, starred, walrus and annotated targets": (
        {
            "a.py": "A, (B, *C) = 1, (2, 3)\nD = (E := 4)\nF: int = 5\nN = 6\n"
            "def f():\n    return A, C, E, F"
        },
        {"a:f", "a:A", "a:C", "a:E", "a:F"},
    ),
    "base class, method, field": (
        {
            "a.py": "import PKG.b as b\nclass Base:\n    x: 'Field'\nclass Field:\n    z = b.X\n"
            "class f(Base):\n    y: int = b.Y\n    def m(self):\n        return g()\n"
            "def g(): pass\ndef n(): pass",
            "b.py": B,
        },
        {"a:f", "a:Base", "a:Field", "a:g", "b:X", "b:Y"},
    ),
    "decorator and default": (
        {"a.py": "from PKG.b import g, Y\n@g\ndef f(x=Y):\n    pass", "b.py": B},
        {"a:f", "b:g", "b:X", "b:Y"},
    ),
    "names in annotations that are text": (
        {"a.py": "class T: pass\nclass U: pass\ndef f(x: 'list[T] | None') -> 'U': pass"},
        {"a:f", "a:T", "a:U"},
    ),
    "words of a Literal are no names": (
        {"a.py": "from typing import Literal\ndef run(): pass\ndef f(x: Literal['run']): pass"},
        {"a:f"},
    ),
    "a local name hides nothing": (
        {
            "a.py": "from PKG.b import g\ndef X(): pass\ndef f(X):\n    g = X\n    return g",
            "b.py": B,
        },
        {"a:f", "a:X", "b:g", "b:X"},
    ),
    "circle": (
        {
            "a.py": "from PKG import b\ndef f(n):\n    return b.g(n)",
            "b.py": "from PKG.a import f\ndef g(n):\n    return n and f(n - 1)",
        },
        {"a:f", "b:g"},
    ),
    "module as a value": (
        {"a.py": "from PKG import b\ndef f(n):\n    return getattr(b, n)", "b.py": B},
        {"a:f", "b:g", "b:h", "b:X", "b:Y"},
    ),
    "package as a value": (
        {"a.py": "from PKG import p\nf = [p]", "p/__init__.py": "Z = 1", "p/b.py": "X = 1"},
        {"a:f", "p:Z", "p.b:X"},
    ),
    "module by its name": (
        {"a.py": "from importlib import import_module as i\nf = i('PKG.b').X", "b.py": B},
        {"a:f", "b:g", "b:h", "b:X", "b:Y"},
    ),
    "changed at the top level": (
        {"a.py": "X = {}\nX |= {1: A}\nX[2] = B\nX.update(C)\nA = B = C = D = 1\nf = X"},
        {"a:f", "a:X", "a:A", "a:B", "a:C"},
    ),
    "filled by a loop": (
        {"a.py": "X = {}\nfor n in N:\n    X[n] = g(n)\nN = [1]\ndef g(n): pass\ndef f():\n    X"},
        {"a:f", "a:X", "a:N", "a:n", "a:g"},
    ),
    "not entered": (
        {
            "a.py": "from factdrift.builders.core.errors import UserError\n"
            "def f():\n    raise UserError('x')"
        },
        {"a:f"},
    ),
}


@pytest.mark.parametrize("case", REACHED)
def test_names_are_followed(case: str, write: Write) -> None:
    tree, expected = REACHED[case]
    assert names(write(tree)) == expected


BEFORE = '''
"""What it is for."""
import warnings, logging
from typing import Annotated, NamedTuple
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.progress import progress
from PKG.b import MARK, Lost, g

LIMIT = 3
"""How many."""

class Row(NamedTuple):
    """A row."""
    n: Annotated[int, "how many", MARK, 7]
    """In words."""

def f(rows: list[Row], say, log):
    """Do it."""
    say(f"{len(rows)} rows")
    log.say("so many " + "rows")
    warnings.warn("slow")
    logging.info("well")
    with progress(len(rows), "rows", "reading") as bar:
        bar.advance(1)  # one
    if len(rows) > LIMIT:
        raise UserError("too many", hint=f"at most {LIMIT}", line=4)
    if not rows:
        raise Lost("none " + ("at all" if rows else "here"))
    return g("first") + f"{rows[0]:>4} of {LIMIT}"
'''
B_TEXT = """
from factdrift.builders.core.errors import UserError
MARK = object()
class Lost(UserError): pass
def g(x):
    return x.upper()
"""
STAYS = [
    ("What it is for", "What for"),
    ("How many.", "The limit."),
    ("A row.", "One row."),
    ("In words.", ""),
    ("Do it.", "Do that."),
    ("# one", "# once more"),
    ('"how many"', '"the number of them"'),
    ("{len(rows)} rows", "{len(rows)} of {LIMIT:,} lines"),
    ("so many ", "this many "),
    ("slow", "very slow"),
    ("well", "good"),
    ('"reading"', '"being read"'),
    ("too many", "more than can be"),
    ("at most {LIMIT}", "take {LIMIT - 1}"),
    ("none ", "nothing "),
    ("at all", "whatever"),
    ("    return g", "\n    return   g"),
    ('"first"', "'first'"),
]
CHANGES = [
    ("LIMIT = 3", "LIMIT = 4"),
    ("MARK, 7", "7"),
    ("MARK, 7", "MARK, 8"),
    ("Annotated[int", "Annotated[str"),
    ("advance(1)", "advance(2)"),
    ("line=4", "line=5"),
    ('"first"', '"second"'),
    (">4} of", ">5} of"),
    ("} of {", "} or {"),
    ("> LIMIT", ">= LIMIT"),
    ("import MARK, Lost, g", "import MARK, Lost, MARK as g"),
    ("import warnings, logging", "import warnings, logging2 as logging"),
]


@pytest.mark.parametrize("old, new", [*STAYS, *CHANGES])
def test_only_presentation_is_left_out(old: str, new: str, write: Write) -> None:
    package = write({"a.py": BEFORE, "b.py": B_TEXT})
    assert old in BEFORE
    before = reached(package)
    after = reached(package, source=BEFORE.replace(old, new))
    assert (after.digest == before.digest) == ((old, new) in STAYS)


OTHERS = [  # of two sources of `a`, in which only the order or the place of something differs
    (
        "import of another name",
        "from PKG.b import g as x, h as y",
        "from PKG.b import h as x, g as y",
    ),
    (
        "import from elsewhere",
        "from re import match as x\ny = 1",
        "from os import match as x\ny = 1",
    ),
    ("re-export of another", "from PKG import x, y", "from PKG import y as x, x as y"),
    ("order of what is run", "x = {1}\ny = x.copy()\nx |= {2}", "x = {1}\nx |= {2}\ny = x.copy()"),
]


@pytest.mark.parametrize("what, one, other", OTHERS)
def test_what_a_name_stands_for_counts(what: str, one: str, other: str, write: Write) -> None:
    tail = "\ndef f():\n    return x, y"
    package = write(
        {"a.py": one + tail, "b.py": B, "__init__.py": "from PKG.b import g as x, h as y"}
    )
    before = reached(package)
    assert reached(package, source=other + tail).digest != before.digest
    assert reached(package, source=one + "\nz = 1" + tail).digest == before.digest


def test_data_files(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found: Callable[..., Path] = tmp_path.joinpath
    monkeypatch.setattr(files, "resource", found)
    package = write(
        {
            "a.py": "from factdrift.builders.core import files\n"
            "from factdrift.builders.core.files import resource as r\n"
            "def f(n):\n    r('PKG/words.txt')\n    files.resource('PKG', 'lists')\n"
            "def g():\n    r('PKG/own.yaml')\n",
            "words.txt": "one",
            "lists/b.txt": "two",
            "lists/deep/a.txt": "three",
            "lists/code.py": "",
            "lists/.hidden": "",
            "own.yaml": "four",
        }
    )
    texts = {"words.txt": "one", "lists/b.txt": "two", "lists/deep/a.txt": "three"}
    wanted = {f"{package}/{n}": hashlib.sha256(t.encode()).hexdigest() for n, t in texts.items()}
    before = reached(package)
    assert before.data == wanted and list(before.data) == sorted(wanted)
    for name in (*wanted, f"{package}/lists/new.txt"):
        (tmp_path / name).write_text("changed", "utf-8")
        after = reached(package)
        assert after.digest != before.digest
        before = after
    assert set(reached(package, "a:g").data) == {f"{package}/own.yaml"}


def test_a_word_list_is_known_by_its_name() -> None:
    assert set(reach("factdrift.builders.text.en.nouns:*").data) == {"builders/text/en/nouns.yaml"}
    assert "builders/text/en/nouns.yaml" not in QuestionDates.code().data


def test_other_steps_are_not_followed(write: Write) -> None:
    package = write(
        {
            "a.py": "from PKG.b import Base, Other\n"
            "class f(Base):\n    one: Other\n    def make(self):\n        X\nX = 1\n",
            "b.py": "class Step: pass\nclass Base(Step):\n    def other(self): Z\n"
            "class Other(Step):\n    y = Y\nY = Z = 1",
        }
    )
    step = type("Step", (), {"__module__": f"{package}.b"})
    found = reach(f"{package}.a:f", stop=step, roots=(package,))
    left = {f"{m.removeprefix(package + '.')}:{n}" for m, n in found.symbols}
    assert left == {"a:f", "a:X", "b:Base", "b:Step", "b:Z"}


@pytest.mark.parametrize(
    "line",
    ["resource(name)", "resource('x', name)", "resource(f'x/{name}')", "resource()", "[resource]"],
)
def test_data_is_named_by_literals(line: str, write: Write) -> None:
    text = (
        f"from factdrift.builders.core.files import resource\n\ndef f(name):\n    return {line}\n"
    )
    package = write({"a.py": text})
    with pytest.raises(TypeError, match=rf"{package}/a\.py:[34]: resource\(\)"):
        reached(package)


def test_no_such_data_and_no_such_target(write: Write) -> None:
    package = write(
        {"a.py": "from factdrift.builders.core.files import resource\nf = resource('no/such')"}
    )
    with pytest.raises(FileNotFoundError, match=rf"{package}/a\.py:2: there is no no/such"):
        reached(package)
    with pytest.raises(LookupError, match="no module elsewhere"):
        reach("elsewhere:f")


def test_the_digest_is_the_same_everywhere(write: Write, tmp_path: Path) -> None:
    """A golden number: any Python and any folder give it."""
    text = BEFORE.replace("PKG", "reached_everywhere")
    for name, source in (("__init__", ""), ("a", text), ("b", B_TEXT)):
        file = tmp_path / "reached_everywhere" / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(source, "utf-8")
    assert (
        reach("reached_everywhere.a:f", roots=("reached_everywhere",)).digest == "2e948d1c39dc4c18"
    )


def test_no_module_is_run(write: Write) -> None:
    package = write(
        {
            "a.py": "from PKG import p\ndef f():\n    p.b.X",
            "p/__init__.py": "",
            "p/b.py": "X = 1\n1 / 0",
        }
    )
    assert names(package) == {"a:f", "p.b:X"}
    assert not any(name.startswith(f"{package}.") for name in sys.modules)


REAL: list[tuple[type[Step], set[tuple[str, str]], set[tuple[str, str]]]] = [
    (
        Timelines,
        {
            ("factdrift.builders.core.engine", "Engine"),
            ("factdrift.builders.core.schema", "arrow_schema"),
        },
        {
            ("factdrift.builders.facts.relations", "Relation"),
            ("factdrift.builders.rows.news", "Article"),
        },
    ),
    (
        Alignments,
        {
            ("factdrift.builders.timeqa.alignment", "align_file"),
            ("factdrift.builders.rows.timeqa", "AlignedSegment"),
        },
        {
            ("factdrift.builders.wikipedia.read", "read_pages"),
            ("factdrift.builders.release.card", "render"),
        },
    ),
    (
        NewsQuestions,
        {("filters", "AnyFilter"), ("factdrift.filters.toxicity_filter", "Toxicity")},
        {
            ("factdrift.builders.wmt.index", "index"),
            ("factdrift.builders.timeqa.dataset", "TimeQA"),
        },
    ),
]


def test_the_projects_own_code() -> None:
    for step, inside, outside in REAL:
        found = step.code()
        assert inside <= found.symbols
        assert not outside & found.symbols
        assert not NOT_ENTERED & found.modules


def test_another_process_gives_the_same_digest() -> None:
    script = (
        "from factdrift.builders.timeqa.steps import Alignments\nprint(Alignments.code().digest)"
    )
    command = [sys.executable, "-c", script]
    shown = subprocess.run(
        command, cwd=files.resource("builders").parent, capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == Alignments.code().digest


@pytest.mark.slow
def test_every_step_sees_a_change_in_each_of_its_modules_and_no_caption() -> None:
    """One constant of each module that a step's code reaches, then one caption or message."""
    before = {step: step.code() for step in steps()}
    seen = {True: 0, False: 0}
    for module in sorted({module for found in before.values() for module in found.modules}):
        for presentation in (False, True):
            tried: dict[Edit, list[type[Step]]] = {}
            for step, found in before.items():
                names = {name for place, name in found.symbols if place == module}
                for edit in islice(edits(module, names, presentation), 1):
                    tried.setdefault(edit, []).append(step)
            for edit, concerned in tried.items():
                for step in concerned:
                    stays = edited(step, module, edit.source).digest == before[step].digest
                    assert stays == presentation, (step, module, edit.line, edit.literal)
                    seen[presentation] += 1
    assert seen[False] > 400 and seen[True] > 400


def steps() -> list[type[Step]]:
    """The classes of all steps of the bundled recipes' builders, sorted by name."""
    known, todo = set(), list(Step.__subclasses__())
    while todo:
        step = todo.pop()
        todo += step.__subclasses__()
        known |= {step} if step.__module__.startswith("builders.") else set()
    return sorted(known, key=lambda step: (step.__module__, step.__qualname__))
