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
    for module_name in (module, *plugins):
        _entered_packages.add(module_name.partition(".")[0])
    modules: dict[str, Module] = {}
    waiting_modules = {module, *plugins}
    outside_packages: set[str] = set()
    while waiting_modules:
        module_name = waiting_modules.pop()
        modules[module_name] = parsed_module = read_module(module_name)
        for import_source, imported_name in parsed_module.imports:
            own_modules = _own_modules(import_source, imported_name)
            if own_modules is None:
                outside_packages.add(import_source.partition(".")[0])
            else:
                waiting_modules |= {
                    own_module
                    for own_module in own_modules
                    if own_module not in modules and not is_outside_keys(own_module)
                }
    data_sums: dict[str, str] = {}
    library_versions = _versions(frozenset(outside_packages), extras)
    library_versions |= _plugin_versions(
        {module_name.partition(".")[0] for module_name in (module, *plugins)} - {ROOT}
    )
    for parsed_module in modules.values():
        for data_path in parsed_module.data:
            data_sums |= _file_sums(data_path)
        library_versions |= parsed_module.libraries
    sorted_libraries = dict(sorted(library_versions.items(), key=lambda item: item[0].casefold()))
    module_sources = {
        module_name: parsed_module.normalised_source
        for module_name, parsed_module in modules.items()
    }
    reach_digest = digest([module_sources, data_sums, sorted_libraries])
    return Reach(
        frozenset(modules), dict(sorted(data_sums.items())), sorted_libraries, reach_digest
    )


@cache
def read_module(module_name: str) -> Module:
    """A module of the project, parsed; `LookupError` where there is none."""
    if (module_file := _module_file(module_name)) is None:
        raise LookupError(f"no module {module_name}")
    return parse(module_name, module_file.read_bytes(), package=module_file.name == "__init__.py")


def parse(module_name: str, source: bytes | str, package: bool = False) -> Module:
    """A module's source, parsed. `TypeError`: a data file is not named by literals."""
    module_tree = ast.parse(source)
    bound_names = _bound_names(module_tree, module_name, package)
    imports = {origin for _, origin in _imported_names(module_tree, module_name, package)}
    imports |= _names_through_modules(module_tree, bound_names)
    imports |= _modules_of_methods(module_tree)
    return Module(
        "".join(_normalised(module_tree)),
        frozenset(imports),
        bound_names if package and _only_imports(module_tree) else None,
        frozenset(_data_files(module_tree, module_name, bound_names)),
        _declaration(module_tree, "__libraries__"),
    )


def is_outside_keys(module_name: str) -> bool:
    """Whether a module says that no step's result depends on it (`__outside_step_keys__`)."""
    return bool(_declared(module_name, "__outside_step_keys__"))


@cache
def _declared(module_name: str, variable: str) -> Any:
    """The literal that a module of ours assigns to a name, an empty mapping without one."""
    if (module_file := _module_file(module_name)) is None:
        return {}
    source = module_file.read_bytes()
    # most modules declare nothing, and parsing each of them twice would take a second
    return _declaration(ast.parse(source), variable) if variable.encode() in source else {}


def _declaration(module_tree: ast.Module, variable: str) -> Any:
    for statement in module_tree.body:
        if isinstance(statement, ast.Assign) and _last_name(statement.targets[0]) == variable:
            return ast.literal_eval(statement.value)
    return {}


def _imported_names(
    module_tree: ast.Module, module_name: str, package: bool
) -> Iterator[tuple[str, Origin]]:
    """The names that imports bind, each with its origin; not those for type checkers alone."""
    skipped_nodes = _type_checking_nodes(module_tree)
    parent_package = module_name if package else module_name.rpartition(".")[0]
    for node in ast.walk(module_tree):
        if node in skipped_nodes:
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name.partition(".")[0], (alias.name, "")
        elif isinstance(node, ast.ImportFrom):
            source_module = resolve_name("." * node.level + (node.module or ""), parent_package)
            for alias in node.names:
                yield alias.asname or alias.name, (source_module, alias.name)


def _bound_names(module_tree: ast.Module, module_name: str, package: bool) -> dict[str, Origin]:
    return dict(_imported_names(module_tree, module_name, package))


def _type_checking_nodes(module_tree: ast.Module) -> set[ast.AST]:
    """Every node below `if TYPE_CHECKING:`."""
    skipped_nodes: set[ast.AST] = set()
    for node in ast.walk(module_tree):
        if isinstance(node, ast.If) and _last_name(node.test) == "TYPE_CHECKING":
            for statement in node.body:
                skipped_nodes.update(ast.walk(statement))
    return skipped_nodes


def _names_through_modules(
    module_tree: ast.Module, bound_names: Mapping[str, Origin]
) -> set[Origin]:
    """The names that are taken from an imported module: `Fact` of `rows.Fact`, `*` of `rows`."""
    attribute_names: dict[int, str] = {}
    for node in ast.walk(module_tree):
        if isinstance(node, ast.Attribute):
            attribute_names[id(node.value)] = node.attr
    taken_names: set[Origin] = set()
    for node in ast.walk(module_tree):
        if isinstance(node, ast.Name) and all(bound_names.get(node.id, ("", ""))):
            module_name = ".".join(bound_names[node.id])
            if _module_file(module_name):
                taken_names.add((module_name, attribute_names.get(id(node), "*")))
    return taken_names


def _modules_of_methods(module_tree: ast.Module) -> set[Origin]:
    """The modules that do the work of the workspace's methods, where one is called or passed on."""
    method_modules: Mapping[str, str] = _declared(_WORKSPACE_MODULE, "__methods_work_in__")
    used_attributes = {
        node.attr for node in ast.walk(module_tree) if isinstance(node, ast.Attribute)
    }
    return {
        (module_name, "")
        for method, module_name in method_modules.items()
        if method in used_attributes
    }


def _data_files(
    module_tree: ast.Module, module_name: str, bound_names: Mapping[str, Origin]
) -> Iterator[str]:
    """The paths of the data files and folders that a module opens."""
    for node in ast.walk(module_tree):
        if isinstance(node, ast.Call):
            source_module, function_name = _function_origin(node.func, bound_names)
            if path_form := _declared(source_module, "__data_finders__").get(function_name):
                yield path_form.format(_literal_path(node, module_name))


def _function_origin(node: ast.expr, bound_names: Mapping[str, Origin]) -> Origin:
    """The module and name that `f` or `module.f` was imported from; empty: it was not."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return ".".join(filter(None, bound_names.get(node.value.id, ("",)))), node.attr
    return bound_names.get(node.id, ("", "")) if isinstance(node, ast.Name) else ("", "")


def _literal_path(call_node: ast.Call, module_name: str) -> str:
    literal_parts: list[str] = []
    for argument in call_node.args:
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            literal_parts.append(argument.value)
    if len(literal_parts) != len(call_node.args) or not literal_parts or call_node.keywords:
        call_place = f"{module_name.replace('.', '/')}.py:{call_node.lineno}"
        raise TypeError(f"{call_place}: a data file is named by literals, and by nothing else")
    return "/".join(literal_parts)


def _only_imports(module_tree: ast.Module) -> bool:
    return all(
        isinstance(statement, ast.Import | ast.ImportFrom) or _is_docstring(statement)
        for statement in module_tree.body
    )


def _own_modules(module_name: str, imported_name: str) -> set[str] | None:
    """The modules of ours that an import comes down to; None where it is another's.

    A package that only imports is nothing without a name; `*` stands for all of its names.
    """
    if imported_name and _module_file(f"{module_name}.{imported_name}"):
        module_name, imported_name = f"{module_name}.{imported_name}", ""
    if _module_file(module_name) is None:
        return None
    if is_outside_keys(module_name):
        return set()
    facade = read_module(module_name).facade
    if facade is None:
        return {module_name}
    facade_names = (
        facade if imported_name == "*" else [imported_name] if imported_name in facade else []
    )
    own_modules: set[str] = set()
    for facade_name in facade_names:
        own_modules |= _own_modules(*facade[facade_name]) or set()
    return own_modules


@cache
def _module_file(module_name: str) -> Path | None:
    """The file of a module of ours or of a plug-in, without importing it; None: another's."""
    root_package, *inner_names = module_name.split(".")
    if root_package not in _entered_packages or (package_spec := find_spec(root_package)) is None:
        return None
    if package_spec.submodule_search_locations is None:  # a plug-in of one module has no folder
        return Path(package_spec.origin) if package_spec.origin and not inner_names else None
    for folder in package_spec.submodule_search_locations:
        module_path = Path(folder).joinpath(*inner_names)
        for candidate in (module_path / "__init__.py", module_path.with_suffix(".py")):
            if candidate.is_file():
                return candidate
    return None


_entered_packages = {ROOT}
"""The packages that are entered: ours, and those of plug-ins that have steps."""


def _file_sums(path: str) -> dict[str, str]:
    """The sha256 of a file, or of all files below a folder, by path; its code is not data."""
    data_path = files.resource(path)
    if not data_path.exists():
        raise FileNotFoundError(f"there is no {path}")
    sums_by_path: dict[str, str] = {}
    for data_file in sorted(data_path.rglob("*")) if data_path.is_dir() else [data_path]:
        inner_path = data_file.relative_to(data_path)
        is_hidden = any(
            path_part[0] == "." or path_part == "__pycache__" for path_part in inner_path.parts
        )
        if data_file.is_file() and not is_hidden and data_file.suffix != ".py":
            sums_by_path["/".join((path, *inner_path.parts))] = file_sha256(data_file)
    return sums_by_path


def _versions(packages: frozenset[str], extras: frozenset[str]) -> dict[str, str]:
    """Name and version of the distributions that these top-level packages are from."""
    ignored_names = _optional_distributions() - {_distribution_name(extra) for extra in extras}
    versions: dict[str, str] = {}
    for package in packages - sys.stdlib_module_names - _entered_packages:
        for distribution_name in _distributions_by_package().get(package, ()):
            if _distribution_name(distribution_name) not in ignored_names:
                versions[distribution_name] = importlib.metadata.version(distribution_name)
    return versions


def _plugin_versions(packages: Collection[str]) -> dict[str, str]:
    """Name and version of the distributions that offer us something from these packages.

    They are found by their entry points, for a development install does not list its modules.
    """
    plugin_versions = {}
    for distribution in importlib.metadata.distributions() if packages else ():
        for entry_point in distribution.entry_points:
            is_ours = entry_point.group.startswith(f"{ROOT}.")
            if is_ours and entry_point.module.partition(".")[0] in packages:
                plugin_versions[distribution.name] = distribution.version
    return plugin_versions


_distributions_by_package = cache(importlib.metadata.packages_distributions)


@cache
def _optional_distributions() -> frozenset[str]:
    """The distributions that are in our extras alone."""
    try:
        requirement_lines = importlib.metadata.requires(ROOT) or []
    except importlib.metadata.PackageNotFoundError:
        return frozenset()
    always_required = {
        _distribution_name(line) for line in requirement_lines if "extra ==" not in line
    }
    return frozenset({_distribution_name(line) for line in requirement_lines} - always_required)


def _distribution_name(requirement: str) -> str:
    """The name in a requirement, as the index writes it: `Ibis_Framework[duckdb]>=11`."""
    return canonicalize_name(Requirement(requirement).name)


def _normalised(node: ast.AST) -> Iterator[str]:
    """A tree as text: types and values, without places, empty fields, docstrings and captions.

    `ast.dump` would do but for its form, which differs between versions of Python.
    """
    yield f"({type(node).__name__}"
    for field_name in node._fields:
        field_value = getattr(node, field_name, None)
        # "kind" is the u of u"…"; the two others say nothing that the place does not say
        if (
            field_value is None
            or field_value == []
            or field_name in ("ctx", "kind", "type_comment")
        ):
            continue
        yield f" {field_name}="
        children = field_value if isinstance(field_value, list) else [field_value]
        if field_name == "elts" and getattr(node, "has_caption", False):
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
