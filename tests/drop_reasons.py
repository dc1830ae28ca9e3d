"""Find every drop reason that the product can give, by reading its syntax trees.

A *place* is an expression that becomes the reason of a drop: the argument `reason` of a class that
has such a field (`REASON_CLASSES`), of a function with a parameter of that name, or of `mutate` and
`select` of a table. `Reasons.of` follows the expression to the texts that it may be: through
conditions, table expressions, local variables, parameters (to the calls) and constants. Whatever
it cannot follow is listed as `unknown`; there the code has to name its reasons in a constant.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

from tests.house import ROOT, product_modules

REASON_CLASSES = {
    "Dropped": 1,
    "DropError": 0,
    "FilterVerdict": 1,
    "Result": 1,
    "Completion": 1,
    "PageBytes": 1,
    "BadPageError": 0,
    "UnreadableError": 0,
}
"""Classes whose instances carry a drop reason, and the position of the argument."""
DECLARATIONS = frozenset({"DROP_REASONS", "REASONS", "NoFact"})
"""Constants of modules that list reasons, perhaps after an underscore: texts, a mapping to them, or
a `Literal` type. A filter lists its own in the class attribute `reasons`."""
CARRIERS = frozenset({"reason", "decision", "fate", "fault", "bad", "found"})
"""Attributes that carry a reason on, from a place that is read itself."""
REASON = re.compile(r"[a-z]+(_[a-z0-9]+)*")
"""`no_page` is a reason; `no page` and `{role}_id` are none."""
TABLE_METHODS = frozenset({"mutate", "select"})
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Module:
    """One module of the product."""

    path: Path
    tree: ast.Module
    constants: dict[str, ast.expr] = field(default_factory=dict)
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)
    imported: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, path: Path) -> "Module":
        module = cls(path, ast.parse(path.read_text("utf-8")))
        for node in ast.walk(module.tree):
            for child in ast.iter_child_nodes(node):
                module.parents[child] = node
            if isinstance(node, ast.ImportFrom) and node.module:
                module.imported.add(node.module)
                module.imported.update(f"{node.module}.{name.name}" for name in node.names)
        for statement in module.tree.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    module.constants[name] = value
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    module.constants[name] = value
        return module

    @property
    def name(self) -> str:
        """`factdrift.builders.core.files` of `builders/core/files.py`."""
        parts = self.path.relative_to(ROOT).with_suffix("").parts
        return ".".join(("factdrift", *(part for part in parts if part != "__init__")))

    def reaches(self, other: "Module") -> bool:
        """Whether it is the other module, or imports it or something of it."""
        return other is self or other.name in self.imported

    def functions_around(self, node: ast.AST) -> Iterator[Function]:
        """The functions that hold a node, the nearest first."""
        while (parent := self.parents.get(node)) is not None:
            if isinstance(parent, Function):
                yield parent
            node = parent


class Reasons:
    """The reasons of the whole product."""

    def __init__(self) -> None:
        self.modules = [Module.read(path) for path in product_modules()]
        self.calls: dict[str, list[tuple[Module, ast.Call]]] = defaultdict(list)
        self.found: dict[str, str] = {}
        self.unknown: list[str] = []
        self.functions: dict[str, list[Function]] = defaultdict(list)
        self.home: dict[Function, Module] = {}
        self._seen: set[tuple[str, int]] = set()
        for module in self.modules:
            for node in ast.walk(module.tree):
                if isinstance(node, ast.Call):
                    self.calls[_called(node)].append((module, node))
                elif isinstance(node, Function):
                    self.functions[node.name].append(node)
                    self.home[node] = module
        self._lenient = 0
        self._declaring: list[Module] = []
        self._read_declarations()
        self._read_places()

    def _read_declarations(self) -> None:
        for module in self.modules:
            for name in module.constants:
                if name.lstrip("_") in DECLARATIONS:
                    declared = getattr(import_module(module.name), name)
                    for reason in declared_reasons(declared):
                        self.found.setdefault(reason, f"{module.name}.{name}")
            for node in ast.walk(module.tree):
                if isinstance(node, ast.ClassDef):
                    self._read_class(module, node)

    def _read_class(self, module: Module, node: ast.ClassDef) -> None:
        """Add the reasons of a filter, which are the keys of its `reasons`."""
        for statement in node.body:
            match statement:
                case ast.AnnAssign(target=ast.Name(id="reasons"), value=ast.Dict(keys=keys)):
                    self.follow_all(module, [key for key in keys if key is not None])
                    self._declaring.append(module)

    def _read_places(self) -> None:
        for name, argument_place in REASON_CLASSES.items():
            for module, call in self.calls[name]:
                if (value := argument(call, "reason", argument_place)) is not None:
                    self.follow(module, value)
        for method in TABLE_METHODS:
            for module, call in self.calls[method]:
                if (value := argument(call, "reason", None)) is not None:
                    self.follow(module, value)
        for functions in self.functions.values():
            for function in functions:
                names = [parameter.arg for parameter in function.args.args]
                if "reason" in names and function.name != "__init__":
                    self.follow_parameter(function, "reason", names)

    def add_texts(self, module: Module, value: ast.expr) -> None:
        """Add the texts of a declaration: the values of a mapping, or all texts of a list."""
        parts = value.values if isinstance(value, ast.Dict) else [value]
        for part in parts:
            for node in ast.walk(part):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    self.add(module, node)

    def add(self, module: Module, node: ast.Constant) -> None:
        if REASON.fullmatch(str(node.value)):
            place = f"{module.path.relative_to(ROOT)}:{node.lineno}"
            self.found.setdefault(str(node.value), place)

    def follow(self, module: Module, value: ast.expr) -> None:
        """Add the texts that an expression may be."""
        if (key := (str(module.path), id(value))) in self._seen:
            return
        self._seen.add(key)
        match value:
            case ast.Constant(value=str()):
                self.add(module, value)
            case ast.Constant():
                pass  # null
            case ast.Attribute(attr=name) if name in CARRIERS:
                pass
            case ast.IfExp(body=first, orelse=second):
                self.follow_all(module, [first, second])
            case ast.BoolOp(values=parts):
                self.follow_all(module, parts)
            case ast.NamedExpr(value=inner):
                self.follow(module, inner)
            case ast.Subscript(value=ast.Name(id=name)) if name in module.constants:
                self.add_texts(module, module.constants[name])
            case ast.Name(id=name):
                self.follow_name(module, value, name)
            case ast.Call():
                self.follow_call(module, value)
            case _:
                self.note(module, value)

    def follow_all(self, module: Module, values: list[ast.expr]) -> None:
        for value in values:
            self.follow(module, value)

    def follow_call(self, module: Module, call: ast.Call) -> None:
        match _called(call), call:
            case "literal" | "null", _:
                self.follow_all(module, call.args[:1] if _called(call) == "literal" else [])
            case "ifelse", _:
                self.follow_all(module, call.args[1:])
            case "cases", _:
                for arm in call.args:
                    if isinstance(arm, ast.Tuple):
                        self.follow(module, arm.elts[1])
                self.follow_all(module, [word.value for word in call.keywords])
            case "fill_null" | "coalesce", ast.Call(func=ast.Attribute(value=table)):
                self.follow_all(module, [table, *call.args])
            case "get", ast.Call(func=ast.Attribute(value=ast.Dict() as options)):
                self.follow_all(module, [*options.values, *call.args[1:]])
            case name, _:
                functions = [
                    function
                    for function in self.functions[name]
                    if module.reaches(self.home[function])
                ]
                if not functions:
                    self.note(module, call)
                for function in functions:
                    self.follow_returns(function)

    def follow_returns(self, function: Function) -> None:
        """Add the texts that a function may return, alone or in a tuple."""
        self._lenient += 1  # other parts of what is returned are no reasons
        for node in ast.walk(function):
            if isinstance(node, ast.Return | ast.Yield) and node.value is not None:
                returned_values = (
                    node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                )
                self.follow_all(self.home[function], returned_values)
        self._lenient -= 1

    def follow_name(self, module: Module, node: ast.Name, name: str) -> None:
        """Add the texts of a variable, a parameter or a constant."""
        for function in module.functions_around(node):
            is_assigned = False
            for value in assigned(function, name):
                is_assigned = True
                self.follow(module, value)
            if is_assigned:
                return
            parameters = [*function.args.posonlyargs, *function.args.args]
            names = [parameter.arg for parameter in parameters]
            if name in names or name in [word.arg for word in function.args.kwonlyargs]:
                self.follow_parameter(function, name, names)
                return
        for home in self.modules:
            if name in home.constants and (
                home is module or f"{home.name}.{name}" in module.imported
            ):
                self.add_texts(home, home.constants[name])
                return
        self.note(module, node)

    def follow_parameter(self, function: Function, name: str, names: list[str]) -> None:
        """Add the texts that callers give for a parameter."""
        argument_place = names.index(name) if name in names else None
        if argument_place is not None and names[0] in ("self", "cls"):
            argument_place -= 1
        for caller, call in self.calls[function.name]:
            if (
                caller.reaches(self.home[function])
                and (value := argument(call, name, argument_place)) is not None
            ):
                self.follow(caller, value)

    def note(self, module: Module, node: ast.expr) -> None:
        """List an expression that cannot be followed, unless the module declares its reasons."""
        names = {name.lstrip("_") for name in module.constants}
        declares = names.intersection(DECLARATIONS) or module in self._declaring
        if not self._lenient and not declares:
            place = f"{module.path.relative_to(ROOT)}:{node.lineno}"
            self.unknown.append(f"{place}: {ast.unparse(node)[:80]}")


def declared_reasons(declared: Any) -> Iterator[str]:
    """The reasons that a constant lists."""
    if isinstance(declared, Mapping):
        yield from declared.values()
    elif isinstance(declared, tuple):
        yield from declared
    else:
        for part in get_args(declared):
            if isinstance(part, str):
                yield part
            else:
                yield from declared_reasons(part)


def _called(call: ast.Call) -> str:
    """The name of what is called, without the object or the module before it."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def argument(call: ast.Call, name: str, position: int | None) -> ast.expr | None:
    """The argument of a call by name, else by position; None where the call leaves it out."""
    for word in call.keywords:
        if word.arg == name:
            return word.value
    if position is None or position >= len(call.args):
        return None
    value = call.args[position]
    return (
        None
        if any(isinstance(argument, ast.Starred) for argument in call.args[: position + 1])
        else value
    )


def assigned(function: Function, name: str) -> Iterator[ast.expr]:
    """What a function assigns to a variable."""
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=targets, value=value):
                for assigned_target in targets:
                    yield from _matching(assigned_target, value, name)
            case ast.AnnAssign(target=ast.Name(id=target_name), value=ast.expr() as value):
                if target_name == name:
                    yield value
            case ast.NamedExpr(target=ast.Name(id=target_name), value=value):
                if target_name == name:
                    yield value


def _matching(target: ast.expr, value: ast.expr, name: str) -> Iterator[ast.expr]:
    """The part of an assigned value that goes to one name."""
    match target, value:
        case ast.Name(id=target_name), _:
            if target_name == name:
                yield value
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            for part, part_value in zip(targets, values, strict=True):
                yield from _matching(part, part_value, name)
        case ast.Tuple(elts=targets), _:
            if any(isinstance(part, ast.Name) and part.id == name for part in targets):
                yield value
