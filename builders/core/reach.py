"""What a step's result depends on beside its fields: code, data files and libraries.

A step's code is its module and every module of the project that this one imports, directly or
not, also within functions. A module's source counts without comments, docstrings and captions of
columns (`Annotated[int, "years"]`), in a form that no layout and no Python version changes. Texts
of errors count, for some become rows of `dropped.parquet`. Modules are read and never run.

A package whose `__init__` only imports names (`builders.rows`) is looked through: who takes a
name from it depends on the module that the name is from.

Data files are those that a module names by literals: `resource("…")`, `data("…")`. Libraries are
the distributions that these modules import; of extras, which need not be installed, only those
that a field of the step names (`libraries` of its model). Weights that come as a package are named
by the module that loads them: `__libraries__ = {"name": "version"}`.
"""

import ast
import importlib.metadata
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from factdrift.builders.core import files
from factdrift.builders.core.hashing import digest, file_sha256

ROOT = "factdrift"
_CORE = f"{ROOT}.builders.core"
PLUMBING = frozenset(
    f"{_CORE}.{name}"
    for name in (
        *("errors", "files", "http", "inputs", "parallel", "progress", "reach", "remote", "run"),
        *("spark", "steps", "tidy"),
    )
) | {f"{ROOT}.builders.text.data"}
"""Modules that decide whether, when and where a step runs, and never what it makes. Every step
uses most of them, so that one edited line would make everything anew."""
RESOURCES = {
    (f"{_CORE}.files", "resource"): "{}",
    (f"{ROOT}.builders.text.data", "data"): "builders/text/en/{}.yaml",
}
"""The functions that find data files, and the path that their literals name."""
METHODS = {"engine": f"{_CORE}.engine"}
"""Methods of what a step is given, and the module that does their work: `workspace.engine()`."""


@dataclass(frozen=True)
class Reach:
    """Modules, data files (sha256 by path) and libraries (version by name), and their hash."""

    modules: frozenset[str]
    data: Mapping[str, str]
    libraries: Mapping[str, str]
    digest: str


class Module(NamedTuple):
    """What a module's source says.

    `imports`: (module, name) of `from module import name`, (module, "") of `import module`;
    `facade`: where each name is from, of a package that only imports.
    """

    form: str
    imports: frozenset[tuple[str, str]]
    facade: Mapping[str, tuple[str, str]] | None
    data: frozenset[str]
    libraries: Mapping[str, str]


@cache
def reach(
    module: str, extras: frozenset[str] = frozenset(), plugins: frozenset[str] = frozenset()
) -> Reach:
    """What a module reaches; `extras` are the optional distributions that count.

    `plugins` are modules of other packages whose models a step holds: nothing of ours imports
    them, and they count like the step's own module.

    `LookupError`: there is no such module; `TypeError`: a data file is not named by literals.
    """
    for name in (module, *plugins):
        _roots.add(name.partition(".")[0])
    seen: dict[str, Module] = {}
    todo = {module, *plugins}
    outside: set[str] = set()
    while todo:
        name = todo.pop()
        seen[name] = found = read(name)
        for source, taken in found.imports:
            origin = _origin(source, taken)
            if origin is None:
                outside.add(source.partition(".")[0])
            else:
                todo |= origin - seen.keys() - PLUMBING
    data = {path: sha for one in seen.values() for place in one.data for path, sha in _data(place)}
    libraries = {name: version for one in seen.values() for name, version in one.libraries.items()}
    libraries |= _versions(frozenset(outside), extras)
    libraries |= _plugin_versions({name.partition(".")[0] for name in (module, *plugins)} - {ROOT})
    by_name = dict(sorted(libraries.items(), key=lambda item: item[0].casefold()))
    key = digest([{name: one.form for name, one in seen.items()}, data, by_name])
    return Reach(frozenset(seen), dict(sorted(data.items())), by_name, key)


@cache
def read(name: str) -> Module:
    """A module of the project, parsed; `LookupError` where there is none."""
    if (path := _file(name)) is None:
        raise LookupError(f"no module {name}")
    return parse(name, path.read_bytes(), package=path.name == "__init__.py")


def parse(name: str, source: bytes | str, package: bool = False) -> Module:
    """A module's source, parsed."""
    tree = ast.parse(source)
    skipped = {
        node
        for one in ast.walk(tree)
        if isinstance(one, ast.If) and _name(one.test) == "TYPE_CHECKING"
        for part in one.body
        for node in ast.walk(part)
    }
    imports: set[tuple[str, str]] = set()
    bound: dict[str, tuple[str, str]] = {}
    data: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and node not in skipped:
            for local, origin in _imported(node, name, package):
                imports.add(origin)
                bound[local] = origin
        elif isinstance(node, ast.Attribute) and node.attr in METHODS:
            imports.add((METHODS[node.attr], ""))
    bases = {id(n.value): n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and all(bound.get(node.id, ("", ""))):
            inner = ".".join(bound[node.id])
            if _file(inner):  # `rows.Fact`, or `rows` itself
                imports.add((inner, bases.get(id(node), "*")))
        elif isinstance(node, ast.Call) and (finder := RESOURCES.get(_from(node.func, bound))):
            data.add(finder.format(_literals(node, name)))
    plain = all(isinstance(n, ast.Import | ast.ImportFrom) or _is_text(n) for n in tree.body)
    libraries: dict[str, str] = {}
    for one in tree.body:
        if isinstance(one, ast.Assign) and _name(one.targets[0]) == "__libraries__":
            libraries = ast.literal_eval(one.value)
    return Module(
        "".join(_form(tree)),
        frozenset(imports),
        bound if package and plain else None,
        frozenset(data),
        libraries,
    )


def _imported(
    node: ast.Import | ast.ImportFrom, name: str, package: bool
) -> Iterator[tuple[str, tuple[str, str]]]:
    """What an import binds, and where that is from."""
    if isinstance(node, ast.Import):
        for one in node.names:
            yield one.asname or one.name.partition(".")[0], (one.name, "")
        return
    parent = name if package else name.rpartition(".")[0]
    source = resolve_name("." * node.level + (node.module or ""), parent)
    for one in node.names:
        yield one.asname or one.name, (source, one.name)


def _origin(source: str, taken: str) -> set[str] | None:
    """The modules of ours that an import comes down to; None: it is another's.

    A package that only imports is nothing without a name; `*` stands for all of its names.
    """
    if taken and _file(f"{source}.{taken}"):
        source, taken = f"{source}.{taken}", ""
    if source in PLUMBING or _file(source) is None:
        return set() if source in PLUMBING else None
    facade = read(source).facade
    if facade is None:
        return {source}
    names = facade if taken == "*" else [taken] if taken in facade else []
    return {one for name in names for one in _origin(*facade[name]) or ()}


@cache
def _file(name: str) -> Path | None:
    """The file of a module of ours or of a plug-in, without importing it; None: another's."""
    root, *rest = name.split(".")
    if root not in _roots or (spec := find_spec(root)) is None:
        return None
    if not spec.submodule_search_locations:  # a package of one file
        return Path(spec.origin) if spec.origin and not rest else None
    path = Path(next(iter(spec.submodule_search_locations))).joinpath(*rest)
    return next((p for p in (path / "__init__.py", path.with_suffix(".py")) if p.is_file()), None)


_roots = {ROOT}
"""The packages that are entered: ours, and those of plug-ins that have steps."""


def _from(node: ast.expr, bound: Mapping[str, tuple[str, str]]) -> tuple[str, str]:
    """The module and name that `f` or `module.f` was imported from."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return ".".join(filter(None, bound.get(node.value.id, ("",)))), node.attr
    return bound.get(node.id, ("", "")) if isinstance(node, ast.Name) else ("", "")


def _literals(node: ast.Call, name: str) -> str:
    parts = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    if len(parts) != len(node.args) or not parts or node.keywords:
        place = f"{name.replace('.', '/')}.py:{node.lineno}"
        raise TypeError(f"{place}: a data file is named by literals, and by nothing else")
    return "/".join(parts)


def _data(path: str) -> Iterator[tuple[str, str]]:
    """The sha256 of a file, or of all files below a folder; its code is not data."""
    place = files.resource(path)
    if not place.exists():
        raise FileNotFoundError(f"there is no {path}")
    for one in sorted(place.rglob("*")) if place.is_dir() else [place]:
        inside = one.relative_to(place)
        hidden = any(part[0] == "." or part == "__pycache__" for part in inside.parts)
        if one.is_file() and not hidden and one.suffix != ".py":
            yield "/".join((path, *inside.parts)), file_sha256(one)


def _versions(modules: frozenset[str], extras: frozenset[str]) -> dict[str, str]:
    """Name and version of the distributions that these top-level modules are from."""
    optional = _optional() - {_plain(one) for one in extras}
    found = {}
    for module in modules - sys.stdlib_module_names - _roots:
        for name in _distributions().get(module, ()):
            if _plain(name) not in optional:
                found[name] = importlib.metadata.version(name)
    return found


def _plugin_versions(packages: Collection[str]) -> dict[str, str]:
    """Name and version of the distributions that offer us something from these packages.

    They are found by their entry points, for a development install does not list its modules.
    """
    found = {}
    for distribution in importlib.metadata.distributions() if packages else ():
        for entry in distribution.entry_points:
            ours = entry.group.startswith(f"{ROOT}.")
            if ours and entry.module.partition(".")[0] in packages:
                found[distribution.name] = distribution.version
    return found


_distributions = cache(importlib.metadata.packages_distributions)


@cache
def _optional() -> frozenset[str]:
    """The distributions that are in our extras alone."""
    try:
        required = importlib.metadata.requires(ROOT) or []
    except importlib.metadata.PackageNotFoundError:
        return frozenset()
    always = {_plain(line) for line in required if "extra ==" not in line}
    return frozenset({_plain(line) for line in required} - always)


def _plain(requirement: str) -> str:
    """The name in a requirement, as the index writes it: `Ibis_Framework[duckdb]>=11`."""
    return canonicalize_name(Requirement(requirement).name)


def _form(node: ast.AST) -> Iterator[str]:
    """A tree as text: types and values, without places, empty fields, docstrings and captions."""
    yield f"({type(node).__name__}"
    for name in node._fields:
        value = getattr(node, name, None)
        if value is None or value == [] or name in ("ctx", "kind", "type_comment"):
            continue
        yield f" {name}="
        many = value if isinstance(value, list) else [value]
        if name == "elts" and getattr(node, "caption", False):
            many = many[:1] + [one for one in many[1:] if not _is_caption(one)]
        for one in many:
            if isinstance(one, ast.Subscript) and _name(one.value) == "Annotated":
                one.slice.caption = True  # type: ignore[attr-defined]
            if not isinstance(one, ast.AST):
                yield f"{one!r} "
            elif not _is_text(one):
                yield from _form(one)
    yield ")"


def _is_caption(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr | ast.BinOp) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _is_text(node: ast.AST) -> bool:
    """A docstring, also below a name."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _name(node: ast.AST) -> str:
    """The last name of `a`, `a.b`."""
    return getattr(node, "id", "") or getattr(node, "attr", "")
