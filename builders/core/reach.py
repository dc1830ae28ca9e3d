"""What code a step can reach: the part of its key that nobody has to keep by hand.

Starting at a class or a function, every name that it uses is followed to the statements that
define it, through imports, into the other modules of the project, and on from there. The digest
is a hash of these statements and of the data files that they name. It is made from the source
alone (no module is run) and holds no path of this machine, so that it is the same everywhere.

A unit is a top-level statement: a function, a class, an assignment. Where the source does not say
which part of a module is used (a module as a value), the whole module is.

Presentation is left out: comments, docstrings, captions of columns (`Annotated[int, "years"]`),
messages to the user. Three things are not seen, and the project does not do them: an attribute
that one module sets in another that does not use it; classes and functions that register
themselves, when subclassed or by a decorator; a data file that is not found by `RESOURCES`.
"""

import ast
import hashlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

from factdrift.builders.core import files
from factdrift.builders.core.hashing import file_sha256

ROOTS = ("factdrift",)
"""The project's packages; code of others is known by the version that is installed."""
NOT_ENTERED = frozenset(
    f"factdrift.builders.core.{name}"
    for name in ("errors", "progress", "steps", "reach", "run", "http")
)
"""Modules that decide whether, when and where a step runs and what the user is told meanwhile, but
never what it makes: the error type, progress bars, folders and keys of steps, this module, what a
run hands to its steps, and how often a request is tried again. Every step uses all of them, so
that one edited line in one of them would make everything anew."""
RESOURCES = {
    "factdrift.builders.core.files.resource": "{}",
    "factdrift.builders.text.data.data": "builders/text/en/{}.yaml",
}
"""The functions that find data files, and the path that their arguments name. These are literals,
so that they can be read here: only code that calls `data("nouns")` depends on that list. The
functions themselves are not entered."""
METHODS = {"engine": ("factdrift.builders.core.engine", "engine")}
"""Methods of objects from modules that are not entered, and what they hand out: `at.engine()`."""
_ERRORS = {"ValueError", "TypeError", "LookupError", "KeyError", "RuntimeError", "AssertionError"}
"""Errors of Python whose texts are for people. Where the text becomes data, raise one of ours."""
_USER_ERROR = "factdrift.builders.core.errors.UserError"
_TELLING = ("warnings.warn", "logging.", "factdrift.builders.core.progress.progress")
"""What else tells the user something, beside calls of something that is called `say`."""

Chain = tuple[str, ...]
"""`a.b.c` as its names."""
Target = tuple[str, str]
"""(module, name); `*` for the whole module, `""` for what all names of a module share; of what
lies outside the project, ("", the dotted name)."""


@dataclass(frozen=True)
class Reach:
    """The symbols, modules and data files (sha256 by path) that code can reach, and their hash."""

    symbols: frozenset[Target]
    modules: frozenset[str]
    data: Mapping[str, str]
    digest: str


def reach(
    target: str | type | Callable[..., object],
    *,
    stop: type | None = None,
    roots: Sequence[str] = ROOTS,
) -> Reach:
    """What `target`, a class or a function or its name (`package.module:name`), can reach.

    Subclasses of `stop` are not followed, other than `target` and its bases. `roots` are the
    packages that are entered; their modules are read once.
    `TypeError` where a data file is not named by literals, `LookupError` for an unknown target.
    """
    if isinstance(target, str):
        module, _, name = target.partition(":")
    else:
        target = getattr(target, "__func__", target)
        module, name = target.__module__, target.__qualname__.partition(".")[0]
    stop_at = f"{stop.__module__}.{stop.__qualname__}" if stop else None
    return code_of(tuple(roots)).reach((module, name or "*"), stop_at)


@dataclass(frozen=True)
class _Module:
    """A parsed module: its top-level statements and what its names stand for."""

    name: str
    package: bool
    statements: list[ast.stmt] = field(default_factory=list)
    bound: dict[str, list[int]] = field(default_factory=dict)
    """The statements that bind a name."""
    imports: dict[str, list[Chain]] = field(default_factory=dict)
    """What a name is imported from: a module, then perhaps a name in it."""
    shared: list[int] = field(default_factory=list)
    """Statements that can change what any name of the module holds."""

    def add(self, node: ast.stmt) -> None:
        """Take up a top-level statement."""
        if isinstance(node, ast.If) and _never(node):
            for one in node.orelse:
                self.add(one)
            return
        shared = not isinstance(node, ast.Assign | ast.AnnAssign | ast.FunctionDef | ast.ClassDef)
        for inner in _here(node):
            name = None
            if isinstance(inner, ast.Import | ast.ImportFrom):
                self.add_import(inner, self.imports)
            elif isinstance(inner, ast.FunctionDef | ast.ClassDef):
                name = inner.name
            elif isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load):
                name = inner.id
            elif isinstance(inner, ast.Attribute | ast.Subscript):
                shared |= not isinstance(inner.ctx, ast.Load)
            if name:
                self.bound.setdefault(name, []).append(len(self.statements))
        if isinstance(node, ast.Import | ast.ImportFrom) or _is_text(node):
            return
        if shared:
            self.shared.append(len(self.statements))
        self.statements.append(node)

    def add_import(
        self, node: ast.Import | ast.ImportFrom, imports: dict[str, list[Chain]]
    ) -> None:
        """Write down what an import binds."""
        if isinstance(node, ast.Import):
            for one in node.names:
                name = one.asname or one.name.partition(".")[0]
                imports.setdefault(name, []).append((one.name if one.asname else name,))
            return
        if node.level or node.names[0].name == "*":
            raise TypeError(f"{self.name}: modules import names from absolute modules, and no `*`")
        for one in node.names:
            imports.setdefault(one.asname or one.name, []).append((node.module or "", one.name))


def parse(name: str, package: bool, text: str) -> _Module:
    """A module, or the `__init__` of a package, from its text."""
    module = _Module(name, package)
    for node in ast.parse(text).body:
        module.add(node)
    return module


def _here(node: ast.AST) -> Iterator[ast.AST]:
    """`node` and what is in it, without what is inside of functions and classes."""
    yield node
    if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
        for inner in ast.iter_child_nodes(node):
            yield from _here(inner)


def _never(node: ast.If) -> bool:
    """Whether the body is not run on import: for type checkers, or for a module that is `main`."""
    test = node.test
    name = test.left if isinstance(test, ast.Compare) else test
    return (_chain(name) or ("",))[-1] in ("TYPE_CHECKING", "__name__")


def _is_text(node: ast.AST) -> bool:
    """Whether this is a docstring, or a text below a constant that says what it is."""
    constant = node.value if isinstance(node, ast.Expr) else None
    return isinstance(constant, ast.Constant) and isinstance(constant.value, str)


def _chain(node: ast.AST) -> Chain | None:
    """`a.b.c` as its names; None where it does not begin with a name."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return (node.id, *reversed(names)) if isinstance(node, ast.Name) else None


class _Use(NamedTuple):
    """What one statement uses, and a hash of what it says."""

    targets: frozenset[Target]
    data: frozenset[str]
    hash: str


@cache
def _folder(root: str) -> Path | None:
    spec = importlib.util.find_spec(root)
    return Path(spec.origin).parent if spec and spec.origin else None


class Code:
    """The modules of packages as they are read, with what has been found out about them."""

    def __init__(self, roots: Chain) -> None:
        self.roots = roots
        self.modules: dict[str, _Module | None] = {}
        self.uses: dict[tuple[str, int], _Use] = {}

    def module(self, name: str) -> _Module | None:
        """A module of the project; None where there is none of this name."""
        if name not in self.modules:
            path, package = self._find(name)
            self.modules[name] = parse(name, package, path.read_text("utf-8")) if path else None
        return self.modules[name]

    def _find(self, name: str) -> tuple[Path | None, bool]:
        root, *inside = name.split(".")
        top = _folder(root) if root in self.roots else None
        if top is None:
            return None, False
        folder = top.joinpath(*inside)
        if (path := folder / "__init__.py").is_file():
            return path, True
        path = folder.with_suffix(".py")
        return (path if path.is_file() else None), False

    def _below(self, name: str) -> set[str]:
        """The names of the modules of a package, where the whole of it is wanted."""
        path, package = self._find(name)
        if path is None or not package:
            return set()
        found = {p.stem if p.suffix else p.name for p in path.parent.iterdir()}
        found -= {"__init__", "__main__"}
        return {f"{name}.{one}" for one in found if self.module(f"{name}.{one}")}

    def follow(self, source: str, names: Chain, seen: frozenset[object]) -> set[Target]:
        """What `source.names` stands for, `source` being a module of whatever project."""
        module, dotted = self.module(source), ".".join((source, *names))
        if module is None or source in NOT_ENTERED or dotted in RESOURCES:
            return {("", dotted)}
        if not names or (source, names) in seen:
            return set() if names else {(source, "*")}
        name, rest = names[0], names[1:]
        found = {(source, name)} if name in module.bound else set()
        for one in module.imports.get(name, []):
            found |= self.follow(one[0], one[1:] + rest, seen | {(source, names)})
        if not found and module.package and self.module(f"{source}.{name}"):
            found = self.follow(f"{source}.{name}", rest, seen)
        return found or {(source, "*")}

    def resolve(
        self, module: _Module, chain: Chain, local: Mapping[str, list[Chain]]
    ) -> set[Target]:
        """What a chain of names in a module can stand for; nothing for a built-in name."""
        name = chain[0]
        found = {(module.name, name)} if name in module.bound else set()
        for one in (*module.imports.get(name, ()), *local.get(name, ())):
            found |= self.follow(one[0], one[1:] + chain[1:], frozenset())
        return found

    def bases(self, target: Target) -> set[Target]:
        """The classes that a class is derived from in its first line."""
        module = self.module(target[0])
        if module is None:
            return set()
        nodes = [module.statements[n] for n in module.bound.get(target[1], ())]
        above = [_chain(base) for node in nodes for base in getattr(node, "bases", ())]
        return {one for chain in above if chain for one in self.resolve(module, chain, {})}

    def derives(self, target: Target, base: str) -> bool:
        """Whether a class is `base` (a dotted name), or is derived from it."""
        if target in (("", base), tuple(base.rpartition(".")[::2])):
            return True
        return any(self.derives(one, base) for one in self.bases(target) - {target})

    def use(self, name: str, n: int) -> _Use:
        """What a statement of a module uses."""
        if (name, n) not in self.uses:
            module = self.module(name)
            assert module
            self.uses[name, n] = _Walk(self, module).use(module.statements[n])
        return self.uses[name, n]

    def reach(self, start: Target, stop: str | None) -> Reach:
        """All that `start` can reach."""
        if self.module(start[0]) is None:
            raise LookupError(f"no module {start[0]} below {', '.join(self.roots)}")
        own, above = {start}, self.bases(start)
        while above - own:
            own |= above
            above = {base for one in above for base in self.bases(one)}
        symbols: set[Target] = set()
        statements: set[tuple[str, int]] = set()
        todo = [start]
        while todo:
            target = todo.pop()
            module = self.module(target[0])
            if target in symbols or module is None:
                continue
            if stop and target not in own and self.derives(target, stop):
                continue
            symbols.add(target)
            found, more = self._part(module, target[1])
            todo += more
            for n in found:
                if (module.name, n) not in statements:
                    statements.add((module.name, n))
                    todo += self.use(module.name, n).targets - symbols
        return self._summary(symbols, statements)

    def _part(self, module: _Module, name: str) -> tuple[Sequence[int], list[Target]]:
        """The statements of a name of a module, and what comes with them."""
        if name == "":
            return module.shared, [(module.name.rpartition(".")[0], "")]
        more = [(module.name, "")]
        if name == "*" or name not in module.bound:
            more += [(module.name, bound) for bound in module.bound]
            more += [(one, "*") for one in self._below(module.name)]
            for origins in module.imports.values():
                more += [t for one in origins for t in self.follow(one[0], one[1:], frozenset())]
        return module.bound.get(name, ()), more

    def _summary(self, symbols: set[Target], statements: set[tuple[str, int]]) -> Reach:
        """The reach with its digest: statements in their order, functions by their names."""
        data: dict[str, str] = {}
        keys: list[tuple[str, str, int, str]] = []
        for name, n in statements:
            module, use = self.module(name), self.use(name, n)
            assert module
            node = module.statements[n]
            function = isinstance(node, ast.FunctionDef)
            keys.append((name, getattr(node, "name", "") if function else "", n, use.hash))
            for path in use.data:
                data |= self._data(path)
        lines = [f"{name} {hashed}" for name, _, _, hashed in sorted(keys)]
        lines += [f"{path} {sha}" for path, sha in sorted(data.items())]
        digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
        named = frozenset(s for s in symbols if s[1] not in ("", "*"))
        modules = frozenset(name for name, _ in symbols)
        return Reach(named, modules, dict(sorted(data.items())), digest)

    def _data(self, path: str) -> dict[str, str]:
        """The sha256 of a file or of all files below a folder; its code is not data."""
        place = files.resource(path)
        found = {}
        for one in sorted(place.rglob("*")) if place.is_dir() else [place]:
            inside = one.relative_to(place)
            hidden = any(part[0] == "." or part == "__pycache__" for part in inside.parts)
            if one.is_file() and not hidden and one.suffix != ".py":
                found["/".join((path, *inside.parts))] = file_sha256(one)
        return found


@cache
def code_of(roots: Chain) -> Code:
    """The code of these packages, read once."""
    return Code(roots)


class _Walk:
    """Reads one statement: writes it in a form of its own, collects the names in it.

    The form holds no places, no empty fields and nothing of a Python version, unlike `ast.dump`.
    """

    def __init__(self, code: Code, module: _Module) -> None:
        self.code, self.module = code, module
        self.out: list[str] = []
        self.chains: set[Chain] = set()
        self.local: dict[str, list[Chain]] = {}
        self.targets: set[Target] = set()
        self.data: set[str] = set()
        self.message = self.annotation = False

    def use(self, node: ast.stmt) -> _Use:
        """What the statement uses."""
        self.node(node)
        links = []
        for chain in sorted(self.chains):
            found = self.code.resolve(self.module, chain, self.local)
            if any(("", finder) in found for finder in RESOURCES):
                raise TypeError(f"{self._at(node)}: {chain[-1]}() is called by its name, at once")
            if found:
                self.targets |= found
                links.append(f"{'.'.join(chain)}={sorted(found)}")
        text = "".join(self.out) + "\n".join(links)
        hashed = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return _Use(frozenset(self.targets), frozenset(self.data), hashed)

    def node(self, node: ast.AST) -> None:
        """Write a node: some kinds in their own way, of others the type and what is not empty."""
        match node:
            case ast.Name() | ast.Attribute():
                self.name(node)
            case ast.Constant():
                self.constant(node)
            case ast.JoinedStr():
                self.joined(node)
            case ast.Import() | ast.ImportFrom():
                self.module.add_import(node, self.local)
            case ast.Subscript():
                self.subscript(node)
            case ast.Call():
                self.call(node)
            case ast.Pass():
                pass
            case _ if not _is_text(node):
                self.plain(node)

    def plain(self, node: ast.AST) -> None:
        self.out.append(f"({type(node).__name__}")
        for name in node._fields:
            value = getattr(node, name, None)
            if value is None or value == [] or name in ("ctx", "kind", "type_comment"):
                continue
            self.out.append(f" {name}=")
            if name in ("annotation", "returns"):
                self.within(value, annotation=True)
                continue
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, ast.AST):
                    self.node(one)
                else:
                    self.out.append(f"{one} ")
        self.out.append(")")

    def within(
        self, node: ast.AST, *, message: bool | None = None, annotation: bool | None = None
    ) -> None:
        """Write a node that is a message to people, or the type of something."""
        before = self.message, self.annotation
        self.message = self.message if message is None else message
        self.annotation = self.annotation if annotation is None else annotation
        self.node(node)
        self.message, self.annotation = before

    def name(self, node: ast.Name | ast.Attribute) -> None:
        chain = _chain(node)
        if chain is None:
            self.plain(node)
            return
        if isinstance(node.ctx, ast.Load):
            self.chains.add(chain)
        self.out.append(f"(Name {'.'.join(chain)})")
        if len(chain) > 1 and chain[-1] in METHODS:
            self.targets.add(METHODS[chain[-1]])

    def constant(self, node: ast.Constant) -> None:
        value = node.value
        if not isinstance(value, str):
            self.out.append(f"({type(value).__name__} {value!r})")
            return
        self.out.append("…" if self.message else f"(str {len(value)} {value})")
        if self.annotation:  # a type in quotes
            with_names = value if value.isprintable() else ""
            for inner in ast.walk(_expression(with_names)):
                chain = _chain(inner)
                self.chains |= {chain} if chain else set()
        root, dot, _ = value.partition(".")
        if dot and root in self.code.roots and self.code.module(value):  # `import_module("…")`
            self.targets.add((value, "*"))

    def joined(self, node: ast.JoinedStr) -> None:
        if self.message and not any(isinstance(n, ast.NamedExpr) for n in ast.walk(node)):
            self.out.append("…")
            return
        text = ""
        self.out.append("(f")
        for one in node.values:
            if isinstance(one, ast.Constant):
                text += str(one.value)
                continue
            self.out.append(f"{len(text)} {text}")
            text = ""
            self.node(one)
        self.out.append(f"{len(text)} {text})")

    def subscript(self, node: ast.Subscript) -> None:
        kind = (_chain(node.value) or ("",))[-1]
        if kind == "Annotated" and isinstance(node.slice, ast.Tuple):
            first, *marks = node.slice.elts
            self.out.append("(Annotated ")
            self.within(first, annotation=True)
            for mark in marks:
                text = isinstance(mark, ast.Constant | ast.JoinedStr | ast.BinOp)
                self.within(mark, message=text or None, annotation=False)
            self.out.append(")")
        elif kind == "Literal":
            before, self.annotation = self.annotation, False
            self.plain(node)
            self.annotation = before
        else:
            self.plain(node)

    def call(self, node: ast.Call) -> None:
        chain = _chain(node.func)
        found = self.code.resolve(self.module, chain, self.local) if chain else set()
        outside = {name for module, name in found if not module}
        for finder in outside & RESOURCES.keys():
            self._resource(node, finder)
            return
        tells = "say" in (getattr(node.func, "id", ""), getattr(node.func, "attr", ""))
        tells |= any(name.startswith(_TELLING) for name in outside)
        error = chain is not None and not found and chain[0] in _ERRORS
        error |= any(name.startswith(f"{_USER_ERROR}.") for name in outside)
        error |= any(self.code.derives(one, _USER_ERROR) for one in found)
        if not (tells or error):
            self.plain(node)
            return
        self.out.append("(call ")
        self.node(node.func)
        for n, one in enumerate(node.args):
            self.within(one, message=tells or n == 0 or None)
        for keyword in node.keywords:
            self.out.append(f" {keyword.arg}=")
            self.within(keyword.value, message=tells or keyword.arg in ("message", "hint") or None)
        self.out.append(")")

    def _resource(self, node: ast.Call, finder: str) -> None:
        literals = [a.value for a in node.args if isinstance(a, ast.Constant)]
        parts = [value for value in literals if isinstance(value, str)]
        if len(parts) != len(node.args) or not parts or node.keywords:
            text = f"{finder.rpartition('.')[2]}() takes literals, and nothing else"
            raise TypeError(f"{self._at(node)}: {text}")
        path = RESOURCES[finder].format("/".join(parts))
        if not files.resource(path).exists():
            raise FileNotFoundError(f"{self._at(node)}: there is no {path}")
        self.data.add(path)
        self.out.append(f"(data {path})")

    def _at(self, node: ast.AST) -> str:
        return f"{self.module.name.replace('.', '/')}.py:{getattr(node, 'lineno', 0)}"


def _expression(text: str) -> ast.AST:
    try:
        return ast.parse(text, mode="eval")
    except SyntaxError:
        return ast.Pass()
