"""The code, data files and libraries that a step's result depends on, beside its fields.

The code of a step is its module and all modules of the project that this one imports, directly or
indirectly, also inside functions. Comments, docstrings, captions of columns
(`Annotated[int, "years"]`) and layout do not count, and neither does the version of Python. Texts
of errors count, because some become rows of `dropped.parquet`. Modules are parsed, but never run.

Packages whose `__init__` only imports names, such as `builders.rows`, are facades: a module that
imports a name from a facade depends only on the module where the name is defined.

A data file is named by literals in the call that opens it: `resource("…")`, `language_data("…")`.
Libraries are the distributions that the modules import. Optional distributions, which need not be
installed, count only if a field of the step names them (`libraries` of its model), or a module
does (see below): a release is the same whatever else is installed.

A module declares what its imports do not show by assigning literals to these names:

- `__outside_step_keys__ = True`: the module decides whether, when and where a step runs, but never
  affects the result. Almost every step uses such modules, so an edited line in them would make all
  steps run again; therefore neither they nor their imports count.
- `__data_finders__ = {"resource": "{}"}`: functions of the module that find data files, each with
  a pattern for the path, in which the literals of a call are filled in.
- `__methods_work_in__ = {"engine": "factdrift.builders.core.engine"}` (only in `steps`): methods of
  a workspace, each with the module that does its work. Code that calls one depends on the module.
- `__libraries__ = {"en_core_web_sm": "3.8.0"}`: model weights that are packages, with versions.
- `__extra_libraries__ = ("spacy",)`: optional distributions without which the module does nothing.

`modulefinder` of the standard library and `grimp` find imports, too, but they count a whole package
for one name from a facade, and do not know data files and versions.
"""

import ast
import importlib.metadata
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec, resolve_name
from inspect import getmodulename
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
"""The module and the name of an import; the name is `*` for all names, or empty for none."""


@dataclass(frozen=True)
class Reach:
    """Modules, data files (sha256 by path), libraries (version by name), and a hash of them all."""

    modules: frozenset[str]
    data: Mapping[str, str]
    libraries: Mapping[str, str]
    digest: str


class Module(NamedTuple):
    """The parts of a module's source on which a step can depend.

    `imports` holds (module, name) for `from module import name`, and (module, "") for
    `import module`. `facade` maps the names of a package that only imports to their origins; it is
    None for any other module.
    """

    normalised_source: str
    imports: frozenset[Origin]
    facade: Mapping[str, Origin] | None
    data: frozenset[str]
    libraries: Mapping[str, str]
    extra_libraries: frozenset[str]


@cache
def reach(
    module: str, extras: frozenset[str] = frozenset(), plugins: frozenset[str] = frozenset()
) -> Reach:
    """Return everything that a module depends on.

    `extras` are the optional distributions that count. `plugins` are modules of other packages
    whose models a step holds: no module of ours imports them, but they count like the module of the
    step. Raises `LookupError` if there is no such module, and `TypeError` if a data file is not
    named by literals.
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
    module_extras = {name for parsed in modules.values() for name in parsed.extra_libraries}
    library_versions = _versions(frozenset(outside_packages), extras | module_extras)
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
    """Parse a module of the project; raise `LookupError` if there is none."""
    if (module_file := _module_file(module_name)) is None:
        raise LookupError(f"no module {module_name}")
    return parse(module_name, module_file.read_bytes(), package=module_file.name == "__init__.py")


def parse(module_name: str, source: bytes | str, package: bool = False) -> Module:
    """Parse the source of a module; raise `TypeError` if a data file is not named by literals."""
    module_tree = ast.parse(source)
    nodes = _nodes(module_tree)
    imported_names = list(_imported_names(nodes, module_name, package))
    bound_names = dict(imported_names)
    imports = {origin for _, origin in imported_names}
    imports |= _names_through_modules(nodes, bound_names)
    imports |= _modules_of_methods(nodes)
    return Module(
        normalised(module_tree),
        frozenset(imports),
        bound_names if package and _only_imports(module_tree) else None,
        frozenset(_data_files(nodes, module_name, bound_names)),
        _declaration(module_tree, "__libraries__"),
        frozenset(_declaration(module_tree, "__extra_libraries__")),
    )


def normalised(module_tree: ast.Module) -> str:
    """The code of a module without comments, docstrings, captions and layout."""
    source_texts: list[str] = []
    _normalise(module_tree, source_texts)
    return "".join(source_texts)


def is_outside_keys(module_name: str) -> bool:
    """Whether a module declares that no result depends on it (`__outside_step_keys__`)."""
    return bool(_declared(module_name, "__outside_step_keys__"))


@cache
def _declared(module_name: str, variable: str) -> Any:
    """Return the literal that a module assigns to a name, or an empty mapping."""
    if (module_file := _module_file(module_name)) is None:
        return {}
    source = module_file.read_text("utf-8")
    statement_start = source.find(f"\n{variable} = ")
    if statement_start < 0:  # most modules declare nothing
        return {}
    # to parse the whole of each such module would take as long as to read those that count
    lines = source[statement_start + 1 :].split("\n")
    for line_count in range(1, len(lines) + 1):
        with suppress(SyntaxError):
            return _declaration(ast.parse("\n".join(lines[:line_count])), variable)
    return {}


def _declaration(module_tree: ast.Module, variable: str) -> Any:
    for statement in module_tree.body:
        if isinstance(statement, ast.Assign) and _last_name(statement.targets[0]) == variable:
            return ast.literal_eval(statement.value)
    return {}


def _nodes(tree: ast.AST) -> list[ast.AST]:
    """Return a syntax tree and all nodes below it, in the order of `ast.walk`.

    Each module is walked once: walking it seven times took a second of every run.
    """
    nodes = [tree]
    for node in nodes:  # it grows meanwhile
        for field_name in node._fields:
            field_value = getattr(node, field_name, None)
            if isinstance(field_value, ast.AST):
                nodes.append(field_value)
            elif isinstance(field_value, list):
                nodes += [child for child in field_value if isinstance(child, ast.AST)]
    return nodes


def _imported_names(
    nodes: Sequence[ast.AST], module_name: str, package: bool
) -> Iterator[tuple[str, Origin]]:
    """Yield the names that imports bind, with their origins, except those for type checkers."""
    skipped_nodes = _type_checking_nodes(nodes)
    parent_package = module_name if package else module_name.rpartition(".")[0]
    for node in nodes:
        if not isinstance(node, ast.Import | ast.ImportFrom) or node in skipped_nodes:
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name.partition(".")[0], (alias.name, "")
        else:
            source_module = resolve_name("." * node.level + (node.module or ""), parent_package)
            for alias in node.names:
                yield alias.asname or alias.name, (source_module, alias.name)


def _type_checking_nodes(nodes: Sequence[ast.AST]) -> set[ast.AST]:
    """Return all nodes below `if TYPE_CHECKING:`."""
    skipped_nodes: set[ast.AST] = set()
    for node in nodes:
        if isinstance(node, ast.If) and _last_name(node.test) == "TYPE_CHECKING":
            for statement in node.body:
                skipped_nodes.update(_nodes(statement))
    return skipped_nodes


def _names_through_modules(
    nodes: Sequence[ast.AST], bound_names: Mapping[str, Origin]
) -> set[Origin]:
    """Return the names used from imported modules: `Fact` for `rows.Fact`, `*` for `rows` alone."""
    attribute_names: dict[int, str] = {}
    for node in nodes:
        if isinstance(node, ast.Attribute):
            attribute_names[id(node.value)] = node.attr
    taken_names: set[Origin] = set()
    for node in nodes:
        if isinstance(node, ast.Name) and all(bound_names.get(node.id, ("", ""))):
            module_name = ".".join(bound_names[node.id])
            if _module_file(module_name):
                taken_names.add((module_name, attribute_names.get(id(node), "*")))
    return taken_names


def _modules_of_methods(nodes: Sequence[ast.AST]) -> set[Origin]:
    """Return the modules that do the work of those workspace methods that the code mentions."""
    method_modules: Mapping[str, str] = _declared(_WORKSPACE_MODULE, "__methods_work_in__")
    used_attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return {
        (module_name, "")
        for method, module_name in method_modules.items()
        if method in used_attributes
    }


def _data_files(
    nodes: Sequence[ast.AST], module_name: str, bound_names: Mapping[str, Origin]
) -> Iterator[str]:
    """Yield the paths of the data files and folders that a module opens."""
    for node in nodes:
        if isinstance(node, ast.Call):
            source_module, function_name = _function_origin(node.func, bound_names)
            if path_form := _declared(source_module, "__data_finders__").get(function_name):
                yield path_form.format(_literal_path(node, module_name))


def _function_origin(node: ast.expr, bound_names: Mapping[str, Origin]) -> Origin:
    """Return the module and name of an imported `f` or `module.f`, or empty texts."""
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
    """Return the modules of ours that an import needs, or None if it is not a module of ours.

    An import of a facade without a name needs none. The name `*` stands for all names.
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
    """Return the file of a module of ours or of a plug-in, without importing it, or None."""
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
"""The packages whose modules are read: ours, and those of plug-ins that have steps."""


def _file_sums(path: str) -> dict[str, str]:
    """Return the sha256 of a file, or of all files below a folder except Python code, by path."""
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
    """Return the versions of the distributions that contain these packages, by name."""
    ignored_names = _optional_distributions() - {_distribution_name(extra) for extra in extras}
    versions: dict[str, str] = {}
    for package in packages - sys.stdlib_module_names - _entered_packages:
        for distribution_name, version in _distributions_of(package):
            if _distribution_name(distribution_name) not in ignored_names:
                versions[distribution_name] = version
    return versions


def _plugin_versions(packages: Collection[str]) -> dict[str, str]:
    """Return the versions of the distributions with entry points in these packages, by name.

    The entry points are needed because an editable install does not list its modules.
    """
    plugin_versions = {}
    for distribution in importlib.metadata.distributions() if packages else ():
        for entry_point in distribution.entry_points:
            is_ours = entry_point.group.startswith(f"{ROOT}.")
            if is_ours and entry_point.module.partition(".")[0] in packages:
                plugin_versions[distribution.name] = distribution.version
    return plugin_versions


@cache
def _distributions_of(package: str) -> tuple[tuple[str, str], ...]:
    """Return the names and versions of the distributions that contain a package."""
    names = {distribution.name for distribution in _distributions_by_package().get(package, ())}
    return tuple((name, importlib.metadata.version(name)) for name in names)


@cache
def _distributions_by_package() -> Mapping[str, Sequence[importlib.metadata.Distribution]]:
    """Return the distributions that contain each package, as they declare or their files show.

    `importlib.metadata.packages_distributions` parses the metadata of all that is installed, and
    makes an object of each file: a fifth of a second.
    """
    by_package: dict[str, list[importlib.metadata.Distribution]] = {}
    for distribution in importlib.metadata.distributions():
        packages = set((distribution.read_text("top_level.txt") or "").split())
        if not packages:
            file_lines = (distribution.read_text("RECORD") or "").splitlines()
            packages = {_package_of(file_line.partition(",")[0]) for file_line in file_lines}
        for package in packages:
            by_package.setdefault(package, []).append(distribution)
    return by_package


def _package_of(file_name: str) -> str:
    """Return the package or module of an installed file: `ibis` of `ibis/expr/api.py`."""
    first_name, slash, _ = file_name.partition("/")
    return first_name if slash else getmodulename(first_name) or ""


@cache
def _optional_distributions() -> frozenset[str]:
    """Return the distributions that only our extras require."""
    try:
        requirement_lines = importlib.metadata.requires(ROOT) or []
    except importlib.metadata.PackageNotFoundError:
        return frozenset()
    always_required = {
        _distribution_name(line) for line in requirement_lines if "extra ==" not in line
    }
    return frozenset({_distribution_name(line) for line in requirement_lines} - always_required)


@cache
def _distribution_name(requirement: str) -> str:
    """Return the canonical name: `ibis-framework` for `Ibis_Framework[duckdb]>=11`."""
    return canonicalize_name(Requirement(requirement).name)


_NOT_CODE = frozenset({"ctx", "kind", "type_comment"})
"""`kind` is the u of u"…"; the context of a name, `ctx`, follows from where it is."""


def _normalise(node: ast.AST, texts: list[str]) -> None:
    """Append a syntax tree as text, without positions, empty fields, docstrings and captions.

    `ast.dump` is not used, because its output differs between versions of Python.
    """
    texts.append(f"({type(node).__name__}")
    for field_name in node._fields:
        field_value = None if field_name in _NOT_CODE else getattr(node, field_name, None)
        if field_value is None or field_value == []:
            continue
        texts.append(f" {field_name}=")
        children = field_value if isinstance(field_value, list) else [field_value]
        if field_name == "elts" and getattr(node, "has_caption", False):
            children = children[:1] + [child for child in children[1:] if not _is_caption(child)]
        for child in children:
            if isinstance(child, ast.Subscript) and _last_name(child.value) == "Annotated":
                child.slice.has_caption = True  # type: ignore[attr-defined]
            if not isinstance(child, ast.AST):
                texts.append(f"{child!r} ")
            elif not _is_docstring(child):
                _normalise(child, texts)
    texts.append(")")


def _is_caption(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr | ast.BinOp) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _is_docstring(node: ast.AST) -> bool:
    """Whether a statement is a constant alone: a docstring, also one of a variable."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _last_name(node: ast.AST) -> str:
    """Return `b` for `a.b`, and `a` for `a`."""
    return getattr(node, "id", "") or getattr(node, "attr", "")
