"""The code, data files and libraries that a step's result depends on, beside its fields.

A step's code is its module and every module of the project that this one imports, directly or
not, also within functions. A module's source counts without comments, docstrings and captions of
columns (`Annotated[int, "years"]`), in a form that no layout and no Python version changes. Texts
of errors count, for some become rows of `dropped.parquet`. Modules are read and never run.

A package whose `__init__` only imports names (`builders.rows`) is looked through: who takes a
name from it depends on the module that the name is from.

A data file is named by literals in the call that opens it: `resource("…")`, `language_data("…")`.
Libraries are the distributions that these modules import; of extras, which need not be installed,
only those count that a field of the step names (`libraries` of its model).

A module says what cannot be seen in its imports by assigning literals to these names:

- `__outside_step_keys__ = True`: it decides whether, when and where a step runs, and never what
  the step makes. Every step uses most such modules, so that one edited line in them would make
  everything anew; they do not count, nor do their imports.
- `__data_finders__ = {"resource": "{}"}`: its functions that find data files, each with the path
  that the literals of a call stand in.
- `__methods_work_in__ = {"engine": "factdrift.builders.core.engine"}` (`steps` alone): methods of
  a workspace, each with the module that does its work; who calls one depends on that module.
- `__libraries__ = {"en_core_web_sm": "3.8.0"}`: weights that come as a package, by version.

The standard library's `modulefinder` and `grimp` find imports, too, but count whole packages where
a facade is taken one name from, and know nothing of data files and versions.
"""

import ast
import importlib.metadata
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from factdrift.builders.core import files
from factdrift.builders.core.hashing import digest, file_sha256

__outside_step_keys__ = True

ROOT = "factdrift"
_WORKSPACE_MODULE = f"{ROOT}.builders.core.steps"

Origin = tuple[str, str]
"""The module that an import takes from and the name that it takes; `*`: all, empty: none."""


@dataclass(frozen=True)
class Reach:
    """Modules, data files (sha256 by path) and libraries (version by name), and their hash."""

    modules: frozenset[str]
    data: Mapping[str, str]
    libraries: Mapping[str, str]
    digest: str


class Module(NamedTuple):
    """The parts of a module's source on which a step can depend.

    `imports`: (module, name) of `from module import name`, (module, "") of `import module`;
    `facade`: where each name is from, of a package that only imports, else None.
    """

    normalised_source: str
    imports: frozenset[Origin]
    facade: Mapping[str, Origin] | None
    data: frozenset[str]
    libraries: Mapping[str, str]


@cache
def reach(
    module: str, extras: frozenset[str] = frozenset(), plugins: frozenset[str] = frozenset()
) -> Reach:
    """Everything that a module reaches; `extras` are the optional distributions that count.

    `plugins` are modules of other packages whose models a step holds: nothing of ours imports
    them, and they count like the step's own module.

    `LookupError`: there is no such module; `TypeError`: a data file is not named by literals.
    """
    for name in (module, *plugins):
        _entered_packages.add(name.partition(".")[0])
    modules: dict[str, Module] = {}
    waiting = {module, *plugins}
    outside_packages: set[str] = set()
    while waiting:
        module_name = waiting.pop()
        modules[module_name] = parsed = read_module(module_name)
        for source, taken in parsed.imports:
            own_modules = _own_modules(source, taken)
            if own_modules is None:
                outside_packages.add(source.partition(".")[0])
            else:
                waiting |= {m for m in own_modules if m not in modules and not is_outside_keys(m)}
    data: dict[str, str] = {}
    libraries = _versions(frozenset(outside_packages), extras)
    libraries |= _plugin_versions({name.partition(".")[0] for name in (module, *plugins)} - {ROOT})
    for parsed in modules.values():
        for place in parsed.data:
            data |= _file_sums(place)
        libraries |= parsed.libraries
    by_name = dict(sorted(libraries.items(), key=lambda item: item[0].casefold()))
    sources = {name: parsed.normalised_source for name, parsed in modules.items()}
    key = digest([sources, data, by_name])
    return Reach(frozenset(modules), dict(sorted(data.items())), by_name, key)


@cache
def read_module(name: str) -> Module:
    """A module of the project, parsed; `LookupError` where there is none."""
    if (path := _module_file(name)) is None:
        raise LookupError(f"no module {name}")
    return parse(name, path.read_bytes(), package=path.name == "__init__.py")


def parse(name: str, source: bytes | str, package: bool = False) -> Module:
    """A module's source, parsed. `TypeError`: a data file is not named by literals."""
    tree = ast.parse(source)
    bound = _bound_names(tree, name, package)
    imports = {origin for _, origin in _imported_names(tree, name, package)}
    imports |= _names_through_modules(tree, bound)
    imports |= _modules_of_methods(tree)
    return Module(
        "".join(_normalised(tree)),
        frozenset(imports),
        bound if package and _only_imports(tree) else None,
        frozenset(_data_files(tree, name, bound)),
        _declaration(tree, "__libraries__"),
    )


def is_outside_keys(name: str) -> bool:
    """Whether a module says that no step's result depends on it (`__outside_step_keys__`)."""
    return bool(_declared(name, "__outside_step_keys__"))


@cache
def _declared(name: str, variable: str) -> Any:
    """The literal that a module of ours assigns to a name, an empty mapping without one."""
    if (path := _module_file(name)) is None:
        return {}
    source = path.read_bytes()
    # most modules declare nothing, and parsing each of them twice would take a second
    return _declaration(ast.parse(source), variable) if variable.encode() in source else {}


def _declaration(tree: ast.Module, variable: str) -> Any:
    for node in tree.body:
        if isinstance(node, ast.Assign) and _last_name(node.targets[0]) == variable:
            return ast.literal_eval(node.value)
    return {}


def _imported_names(tree: ast.Module, name: str, package: bool) -> Iterator[tuple[str, Origin]]:
    """The names that imports bind, each with its origin; not those for type checkers alone."""
    skipped = _type_checking_nodes(tree)
    parent = name if package else name.rpartition(".")[0]
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name.partition(".")[0], (alias.name, "")
        elif isinstance(node, ast.ImportFrom):
            source = resolve_name("." * node.level + (node.module or ""), parent)
            for alias in node.names:
                yield alias.asname or alias.name, (source, alias.name)


def _bound_names(tree: ast.Module, name: str, package: bool) -> dict[str, Origin]:
    return dict(_imported_names(tree, name, package))


def _type_checking_nodes(tree: ast.Module) -> set[ast.AST]:
    """Every node below `if TYPE_CHECKING:`."""
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and _last_name(node.test) == "TYPE_CHECKING":
            for statement in node.body:
                skipped.update(ast.walk(statement))
    return skipped


def _names_through_modules(tree: ast.Module, bound: Mapping[str, Origin]) -> set[Origin]:
    """The names that are taken from an imported module: `Fact` of `rows.Fact`, `*` of `rows`."""
    attributes: dict[int, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            attributes[id(node.value)] = node.attr
    taken: set[Origin] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and all(bound.get(node.id, ("", ""))):
            module = ".".join(bound[node.id])
            if _module_file(module):
                taken.add((module, attributes.get(id(node), "*")))
    return taken


def _modules_of_methods(tree: ast.Module) -> set[Origin]:
    """The modules that do the work of the workspace's methods, where one is called or passed on."""
    methods: Mapping[str, str] = _declared(_WORKSPACE_MODULE, "__methods_work_in__")
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return {(module, "") for method, module in methods.items() if method in used}


def _data_files(tree: ast.Module, name: str, bound: Mapping[str, Origin]) -> Iterator[str]:
    """The paths of the data files and folders that a module opens."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            module, function = _function_origin(node.func, bound)
            if form := _declared(module, "__data_finders__").get(function):
                yield form.format(_literal_path(node, name))


def _function_origin(node: ast.expr, bound: Mapping[str, Origin]) -> Origin:
    """The module and name that `f` or `module.f` was imported from; empty: it was not."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return ".".join(filter(None, bound.get(node.value.id, ("",)))), node.attr
    return bound.get(node.id, ("", "")) if isinstance(node, ast.Name) else ("", "")


def _literal_path(node: ast.Call, name: str) -> str:
    parts: list[str] = []
    for argument in node.args:
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            parts.append(argument.value)
    if len(parts) != len(node.args) or not parts or node.keywords:
        place = f"{name.replace('.', '/')}.py:{node.lineno}"
        raise TypeError(f"{place}: a data file is named by literals, and by nothing else")
    return "/".join(parts)


def _only_imports(tree: ast.Module) -> bool:
    return all(isinstance(n, ast.Import | ast.ImportFrom) or _is_docstring(n) for n in tree.body)


def _own_modules(source: str, taken: str) -> set[str] | None:
    """The modules of ours that an import comes down to; None where it is another's.

    A package that only imports is nothing without a name; `*` stands for all of its names.
    """
    if taken and _module_file(f"{source}.{taken}"):
        source, taken = f"{source}.{taken}", ""
    if _module_file(source) is None:
        return None
    if is_outside_keys(source):
        return set()
    facade = read_module(source).facade
    if facade is None:
        return {source}
    names = facade if taken == "*" else [taken] if taken in facade else []
    modules: set[str] = set()
    for name in names:
        modules |= _own_modules(*facade[name]) or set()
    return modules


@cache
def _module_file(name: str) -> Path | None:
    """The file of a module of ours or of a plug-in, without importing it; None: another's."""
    root, *rest = name.split(".")
    if root not in _entered_packages or (spec := find_spec(root)) is None:
        return None
    if spec.submodule_search_locations is None:  # a plug-in of one module has no folder
        return Path(spec.origin) if spec.origin and not rest else None
    for folder in spec.submodule_search_locations:
        path = Path(folder).joinpath(*rest)
        for candidate in (path / "__init__.py", path.with_suffix(".py")):
            if candidate.is_file():
                return candidate
    return None


_entered_packages = {ROOT}
"""The packages that are entered: ours, and those of plug-ins that have steps."""


def _file_sums(path: str) -> dict[str, str]:
    """The sha256 of a file, or of all files below a folder, by path; its code is not data."""
    place = files.resource(path)
    if not place.exists():
        raise FileNotFoundError(f"there is no {path}")
    sums: dict[str, str] = {}
    for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
        inside = file.relative_to(place)
        hidden = any(part[0] == "." or part == "__pycache__" for part in inside.parts)
        if file.is_file() and not hidden and file.suffix != ".py":
            sums["/".join((path, *inside.parts))] = file_sha256(file)
    return sums


def _versions(packages: frozenset[str], extras: frozenset[str]) -> dict[str, str]:
    """Name and version of the distributions that these top-level packages are from."""
    ignored = _optional_distributions() - {_distribution_name(extra) for extra in extras}
    versions: dict[str, str] = {}
    for package in packages - sys.stdlib_module_names - _entered_packages:
        for distribution in _distributions().get(package, ()):
            if _distribution_name(distribution) not in ignored:
                versions[distribution] = importlib.metadata.version(distribution)
    return versions


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
def _optional_distributions() -> frozenset[str]:
    """The distributions that are in our extras alone."""
    try:
        required = importlib.metadata.requires(ROOT) or []
    except importlib.metadata.PackageNotFoundError:
        return frozenset()
    always = {_distribution_name(line) for line in required if "extra ==" not in line}
    return frozenset({_distribution_name(line) for line in required} - always)


def _distribution_name(requirement: str) -> str:
    """The name in a requirement, as the index writes it: `Ibis_Framework[duckdb]>=11`."""
    return canonicalize_name(Requirement(requirement).name)


def _normalised(node: ast.AST) -> Iterator[str]:
    """A tree as text: types and values, without places, empty fields, docstrings and captions.

    `ast.dump` would do but for its form, which differs between versions of Python.
    """
    yield f"({type(node).__name__}"
    for field in node._fields:
        value = getattr(node, field, None)
        # "kind" is the u of u"…"; the two others say nothing that the place does not say
        if value is None or value == [] or field in ("ctx", "kind", "type_comment"):
            continue
        yield f" {field}="
        children = value if isinstance(value, list) else [value]
        if field == "elts" and getattr(node, "has_caption", False):
            children = children[:1] + [child for child in children[1:] if not _is_caption(child)]
        for child in children:
            if isinstance(child, ast.Subscript) and _last_name(child.value) == "Annotated":
                child.slice.has_caption = True  # type: ignore[attr-defined]
            if not isinstance(child, ast.AST):
                yield f"{child!r} "
            elif not _is_docstring(child):
                yield from _normalised(child)
    yield ")"


def _is_caption(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr | ast.BinOp) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _is_docstring(node: ast.AST) -> bool:
    """Whether it is a constant that stands alone: a docstring, of a variable too."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _last_name(node: ast.AST) -> str:
    """The last name of `a`, `a.b`."""
    return getattr(node, "id", "") or getattr(node, "attr", "")
