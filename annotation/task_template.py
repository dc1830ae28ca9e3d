"""The template of a layout, `task.html.j2`: what Jinja may do in it, and how long it may take.

A layout may come from a stranger. Its template places fields and answers and has loops and
conditions. Only the parts of Jinja below are taken, so that a template can neither read other files
nor fill the memory: there is no multiplication, no `range`, no macro and no include.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.sandbox import SandboxedEnvironment
from markupsafe import Markup, escape

from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import require_own_file

_LONGEST_TEMPLATE = 30_000
"""The most characters of a template. Ours have a thousand at most."""
_LONGEST_PAGE = 200_000
"""The most characters that a template writes. A page of MTurk has 65,535 with everything."""
_MOST_NODES = 5_000
"""The most parts of a template: texts, names, calls and so on. Ours have two hundred at most."""
_DEEPEST = 40
"""How deep parts may be nested; Python itself takes no more than 100 levels of blocks."""
_MOST_STEPS = 200_000
"""The most parts that loops may run, each counted as often as it runs: a second at most."""

_CALLS = ("show", "answer", "everything")
_METHODS = ("items", "keys", "values")
# Filters whose result is about as long as what they are given. `center`, `replace` and `map` are
# not here: `"x" | center(10 ** 9)` is one word with a thousand million spaces.
_FILTERS = frozenset(
    """
    abs capitalize count d default dictsort e escape first float forceescape int items join last
    length list lower max min reverse round sort string striptags sum title trim unique upper
    """.split()
)
_TAKEN_NODES: tuple[type[nodes.Node], ...] = (
    *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.For, nodes.If, nodes.Assign),
    *(nodes.Const, nodes.Name, nodes.List, nodes.Tuple, nodes.Dict, nodes.Pair, nodes.Keyword),
    *(nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not, nodes.CondExpr),
    *(nodes.Add, nodes.Sub, nodes.Neg, nodes.Pos, nodes.Concat, nodes.Test),
    *(nodes.Getattr, nodes.Getitem, nodes.Slice, nodes.Call, nodes.Filter),
)
# Constructs of Jinja that the template of a layout may not use -> their names in messages.
_NAMES: Mapping[type[nodes.Node], str] = {
    nodes.Mul: "multiplication",
    nodes.Pow: "a power",
    nodes.Mod: "the operator %",
    nodes.Include: "include",
    nodes.Import: "import",
    nodes.FromImport: "import",
    nodes.Extends: "extends",
    nodes.Macro: "a macro",
    nodes.CallBlock: "call",
    nodes.ScopedEvalContextModifier: "autoescape",
    nodes.Scope: "autoescape or with",
    nodes.FilterBlock: "a filter over a block",
    nodes.AssignBlock: "set over a block",
}


class _RefusedError(Exception):
    """A part of a template that is not taken; its arguments: what is wrong, and the line."""


def template_environment(template_folder: Path, dollar_text: str = "&#36;") -> SandboxedEnvironment:
    """Return an environment for the templates of a folder of ours, which escapes every text.

    `dollar_text` replaces each `$` of a text, so that no platform takes a part of it for a
    variable.
    """

    def finalize(template_value: object) -> object:
        if isinstance(template_value, Markup | jinja2.Undefined):
            return template_value
        return Markup(str(escape(template_value)).replace("$", dollar_text))  # noqa: S704 - just escaped

    return SandboxedEnvironment(
        loader=jinja2.FileSystemLoader(template_folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalize,
    )


def render_template(template_path: Path, template_values: Mapping[str, Any]) -> str:
    """Return what the template of a layout writes.

    Raises `UserError`, with the line where it is known: the file is a link out of its folder, is
    too long or is not UTF-8; the template is wrong, does what is not taken, or takes too long.
    """
    require_own_file(template_path)
    where = display_path(template_path)
    try:
        with template_path.open(encoding="utf-8") as template_file:
            template_text = template_file.read(_LONGEST_TEMPLATE + 1)
        if len(template_text) > _LONGEST_TEMPLATE:
            raise UserError(f"has more than {_LONGEST_TEMPLATE:,} characters", where=where)
        return _render(template_path, template_text, template_values)
    except jinja2.TemplateSyntaxError as error:
        raise UserError(_shortened(error.message or ""), where=where, line=error.lineno) from None
    except _RefusedError as error:
        message_text, line_number = error.args
        hint_text = "a layout places fields and answers, with loops and conditions over them"
        refused_line = line_number or _line_of(error, template_path)
        raise UserError(message_text, where=where, line=refused_line, hint=hint_text) from None
    except RecursionError:
        raise UserError("is nested too deep", where=where) from None
    except (
        *(jinja2.TemplateError, ArithmeticError, AttributeError, LookupError),
        *(OSError, TypeError, ValueError),
    ) as error:
        error_line = _line_of(error, template_path)
        raise UserError(_shortened(str(error)), where=where, line=error_line) from None


def _render(template_path: Path, template_text: str, template_values: Mapping[str, Any]) -> str:
    environment = template_environment(template_path.parent)
    environment.globals.clear()
    steps_left = _MOST_STEPS

    def counted(loop_values: Iterable[Any], body_nodes: int) -> Iterator[Any]:
        """Yield the values of a loop, until all loops together take too long."""
        nonlocal steps_left
        for loop_value in loop_values:
            steps_left -= body_nodes
            if steps_left < 0:
                raise _RefusedError("its loops take too long", None)
            yield loop_value

    environment.filters["counted"] = counted
    try:
        template_tree = environment.parse(template_text, str(template_path))
    except ValueError:  # of Python, which reads no integer of thousands of digits
        raise _RefusedError("has a number with too many digits", None) from None
    _check_tree(template_tree)
    for loop in list(template_tree.find_all(nodes.For)):
        # the loops inside are counted for themselves, and once more with this one
        body_nodes = nodes.Const(1 + sum(1 for _ in loop.find_all(nodes.Node)))
        loop.iter = nodes.Filter(
            loop.iter, "counted", [body_nodes], [], None, None, lineno=loop.lineno
        )
        loop.iter.set_environment(environment)
    program = environment.compile(template_tree, str(template_path), str(template_path))
    template = jinja2.Template.from_code(environment, program, environment.make_globals(None))
    written_pieces: list[str] = []
    written_length = 0
    for piece in template.generate(**template_values):
        written_length += len(piece)
        if written_length > _LONGEST_PAGE:
            raise _RefusedError(f"writes more than {_LONGEST_PAGE:,} characters", None)
        written_pieces.append(piece)
    return "".join(written_pieces)


def _check_tree(template_tree: nodes.Template) -> None:
    """Raise `_RefusedError` for the first part that is not taken, and for too many or too deep."""
    node_count = 0
    waiting_nodes: list[tuple[nodes.Node, int]] = [(template_tree, 0)]
    while waiting_nodes:
        node, depth = waiting_nodes.pop()
        node_count += 1
        if depth > _DEEPEST:
            raise _RefusedError("is nested too deep", node.lineno)
        if node_count > _MOST_NODES:
            raise _RefusedError(f"has more than {_MOST_NODES:,} parts", node.lineno)
        if node_problem := _node_problem(node):
            raise _RefusedError(node_problem, node.lineno)
        inner_nodes = [(inner_node, depth + 1) for inner_node in node.iter_child_nodes()]
        waiting_nodes += reversed(inner_nodes)  # so that the first in the file is told


def _node_problem(node: nodes.Node) -> str | None:
    """What is wrong with one part of a template, or None if it is taken."""
    if not isinstance(node, _TAKEN_NODES):
        node_name = _NAMES.get(type(node)) or type(node).__name__.lower()
        return f"{node_name} is not allowed in a layout"
    if isinstance(node, nodes.For) and node.recursive:
        return "a recursive loop is not allowed in a layout"
    if isinstance(node, nodes.Filter) and node.name not in _FILTERS:
        return f"the filter {_shortened(node.name)!r} is not allowed in a layout"
    if isinstance(node, nodes.Call) and not _is_own_call(node):
        return f"only {', '.join(_CALLS)} can be called in a layout"
    # a value that is set from itself, again and again, doubles each time
    if isinstance(node, nodes.Assign) and node.node.find(nodes.Name):
        return "set takes a plain value in a layout, without names"
    return None


def _is_own_call(call: nodes.Call) -> bool:
    """Whether a call places something, or is a method of a mapping without arguments."""
    if call.dyn_args or call.dyn_kwargs:
        return False
    if isinstance(call.node, nodes.Name):
        return call.node.name in _CALLS
    is_method = isinstance(call.node, nodes.Getattr) and call.node.attr in _METHODS
    return is_method and not call.args and not call.kwargs


def _shortened(text: str) -> str:
    """A text of a template on one line for a message, with its end left out if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= 200 else f"{line[:200]}…"


def _line_of(template_error: BaseException, template_path: Path) -> int | None:
    line_number, error_traceback = None, template_error.__traceback__
    while error_traceback:
        if error_traceback.tb_frame.f_code.co_filename == str(template_path):
            line_number = error_traceback.tb_lineno
        error_traceback = error_traceback.tb_next
    return line_number
