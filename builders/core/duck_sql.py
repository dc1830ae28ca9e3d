"""Ibis expressions as SQL of DuckDB, written in one walk.

Ibis's own compiler first rewrites an expression several times: each projection, filter and sort
becomes a SELECT node, and all that stands on a changed node is built anew. That is to merge SELECTs
into one, which costs DuckDB nothing and us much: a quarter of a small release's time. Where each
node stays a SELECT of its own, the SQL follows from the nodes as they are. It is what Ibis writes
with its option `fuse_selects` off, but for the order of common table expressions.
"""

import operator
from collections import Counter
from collections.abc import Mapping
from functools import reduce
from typing import Any

import ibis.expr.operations as ops
from ibis.backends.sql import rewrites

# sqlglot as Ibis has it: with Ibis's version, its own is known
from ibis.backends.sql.compilers.base import STAR, sg, sge
from ibis.backends.sql.compilers.duckdb import DuckDBCompiler
from ibis.common.patterns import NoMatch

_SHARED = (
    *(rewrites.Select, ops.Project, ops.Filter, ops.Sort, ops.Distinct),
    *(ops.Aggregate, ops.JoinChain, ops.Set, ops.Limit, ops.Sample),
)
"""Relations that become a common table expression where several others read them."""
_NO_READERS = (ops.Field, ops.CountStar, ops.CountDistinctStar)
"""Values that name a relation, but do not read it."""
_AS_THEY_ARE = (
    *(ops.Field, ops.Literal, ops.Unary, ops.Binary, ops.SortKey),
    *(ops.PhysicalTable, ops.Reference, ops.Project, ops.Filter, ops.Aggregate, ops.JoinChain),
)
"""Nodes that no rule of Ibis's rewrites, and that are most of an expression."""


class DuckSQL(DuckDBCompiler):  # type: ignore[misc]
    """Ibis's compiler for DuckDB, with SELECTs written from the relations themselves."""

    def translate(self, op: Any, *, params: Mapping[Any, Any]) -> Any:
        """Return a query of sqlglot for an operation; with parameters, Ibis does it."""
        return super().translate(op, params=params) if params else _Walk(self, op).query()

    def visit_Project(self, op: Any, *, parent: Any, values: Any) -> Any:
        """Write the columns, or a star where they are those of the parent."""
        is_star = tuple(op.values) == op.parent.schema.names and all(
            isinstance(value, ops.Field) and (value.name, value.rel) == (name, op.parent)
            for name, value in op.values.items()
        )
        return _from(parent, *([STAR] if is_star else self._cleanup_names(values)))

    def visit_Filter(self, op: Any, *, parent: Any, predicates: Any) -> Any:
        """Write a WHERE; conditions on a window's values are a QUALIFY."""
        conditions: dict[bool, list[Any]] = {False: [], True: []}
        for predicate, written_predicate in zip(op.predicates, predicates, strict=True):
            has_window = predicate.find(ops.WindowFunction, filter=ops.Value)
            conditions[bool(has_window)].append(written_predicate)
        query = _from(parent, STAR)
        if conditions[False]:
            query = query.where(*conditions[False], copy=False)
        return query.qualify(*conditions[True], copy=False) if conditions[True] else query

    def visit_Sort(self, _op: Any, *, parent: Any, keys: Any) -> Any:
        """Write an ORDER BY."""
        return _from(parent, STAR).order_by(*keys, copy=False)

    def visit_Distinct(self, _op: Any, *, parent: Any) -> Any:
        """Write a DISTINCT."""
        return _from(parent, STAR).distinct(copy=False)

    def visit_Alias(self, _op: Any, *, arg: Any, name: str) -> Any:
        """Write the value: its name is that of its column."""
        del name
        return arg


class _Walk:
    """One walk through an expression, from its tables up."""

    def __init__(self, compiler: DuckSQL, root: Any) -> None:
        self._compiler, self._root = compiler, root
        self._rules = (
            reduce(operator.or_, compiler.lowered_ops.values()),
            reduce(operator.or_, compiler.rewrites),
            rewrites.fill_null_to_select
            | rewrites.drop_null_to_select
            | rewrites.drop_columns_to_select
            | rewrites.first_to_firstvalue,
        )
        self._written: dict[Any, Any] = {}
        self._shared_queries: list[Any] = []
        self._alias_number = 0

    def query(self) -> Any:
        """Return the whole query."""
        ordered_nodes = _children_first(self._root)
        readers = Counter(
            child
            for node in ordered_nodes
            if not isinstance(node, _NO_READERS)
            for child in node.__children__
            if isinstance(child, ops.Relation)
        )
        for node in ordered_nodes:
            ruled_node = node if isinstance(node, _AS_THEY_ARE) else self._ruled(node)
            written = self._fresh(ruled_node, (node, ruled_node))
            if node is not self._root and isinstance(node, ops.Relation):
                written = self._named(written)
                if readers[node] > 1 and isinstance(ruled_node, _SHARED):
                    written = self._shared(written)
            self._written[node] = written
        return self._with_shared(self._written[self._root])

    def _ruled(self, node: Any) -> Any:
        """Return what Ibis's rules make of a node, such as FIRST_VALUE of a window's FIRST."""
        for rule in self._rules:
            if (result := rule.match(node, {})) is not NoMatch:
                node = result
        return node

    def _fresh(self, node: Any, ruled_nodes: tuple[Any, Any]) -> Any:
        """Write a node, and what a rule has put below it."""
        for child in node.__children__:
            if child not in self._written:
                ruled_child = child if child in ruled_nodes else self._ruled(child)
                self._written[child] = self._fresh(ruled_child, ruled_nodes)
        arguments = zip(node.__argnames__, node.__args__, strict=True)
        return self._compiler.visit_node(
            node, **{name: self._argument(value) for name, value in arguments}
        )

    def _argument(self, value: Any) -> Any:
        """Return an argument of a node with all nodes in it as they were written."""
        if isinstance(value, ops.Node):
            return self._written[value]
        if isinstance(value, tuple | list):
            return tuple(map(self._argument, value))
        if isinstance(value, dict):
            return {name: self._argument(inner_value) for name, inner_value in value.items()}
        return value

    def _alias(self) -> Any:
        alias = sg.to_identifier(f"t{self._alias_number}", quoted=True)
        self._alias_number += 1
        return alias

    def _named(self, written: Any) -> Any:
        """Return a relation under the next name."""
        alias = self._alias()
        if isinstance(written, sge.Subquery):  # under another name, of the same query
            written = written.this
        if isinstance(written, sge.Select | sge.SetOperation):
            return written.subquery(alias, copy=False)
        return written.as_(alias, quoted=True, table=isinstance(written, sge.Table))

    def _shared(self, named_query: Any) -> Any:
        """Make a query a common table expression; return the table that stands for it."""
        name = named_query.alias_or_name
        alias = sg.to_identifier(name, quoted=True)
        self._shared_queries.append(sge.CTE(alias=alias, this=named_query.this))
        return sg.table(name, quoted=True).as_(self._alias(), quoted=True, table=True)

    def _with_shared(self, written: Any) -> Any:
        """Return a query with its common table expressions before it."""
        if isinstance(written, sge.Table):
            written = _from(written, STAR)
        elif isinstance(written, sge.Subquery):
            written = written.this
        for shared_query in self._shared_queries:
            alias, query = shared_query.args["alias"], shared_query.args["this"]
            written = written.with_(alias, as_=query, dialect=self._compiler.dialect, copy=False)
        return written


def _from(parent: Any, *columns: Any) -> Any:
    return sg.select(*columns, copy=False).from_(parent, copy=False)


def _children_first(root: Any) -> list[Any]:
    """Return all nodes of an expression, each once, after those that it is made of."""
    entered: set[Any] = set()
    finished: dict[Any, None] = {}
    waiting = [root]
    while waiting:
        node = waiting[-1]
        if node in entered:
            finished.setdefault(waiting.pop())
        else:
            entered.add(node)
            waiting += [child for child in reversed(node.__children__) if child not in entered]
    return list(finished)
