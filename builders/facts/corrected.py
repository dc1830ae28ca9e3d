"""Statements as corrections have them: this is the one place where a correction meets the facts.

A dump is read as it is, and the mined tables keep what it says. When facts are selected from them,
a statement that a correction drops counts as if nobody had made it, and one that it mends has its
other object, start or end. So every dataset that is made of facts is corrected.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import ibis
import ibis.expr.types as ir

from factdrift.builders import rows
from factdrift.builders.core.corrections import OPEN, StatementChange
from factdrift.builders.core.dates import PartialDate
from factdrift.builders.core.engine import Engine
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.schema import arrow_schema
from factdrift.builders.core.tables import has_label
from factdrift.builders.facts.intervals import DATES

CORRECTED = "corrected"
"""The reason of a statement, or of a row, that a correction drops."""
_MENDED = ("object", *DATES, "end_open", "reason", "kind")
"""The columns of a statement that a correction changes, or that follow from those."""
_OF_OBJECT = ("unlabelled_object", "object_kind", "unknown_value")
"""Reasons for which a statement is no fact that another object does away with."""
_OF_DATES = ("undated", "contradictory")
"""Those that other dates do away with."""


def corrected(
    eng: Engine, statements: ir.Table, entities: ir.Table, changes: Sequence[StatementChange]
) -> ir.Table:
    """Apply corrections to the mined statements of a dump (`rows.Statement`).

    Those that are dropped stay in the table with the reason `CORRECTED`, by which they are neither
    facts nor gaps. A statement that the dump does not have is passed over, see `applied`.

    Raises `UserError` where a correction cannot be applied: another object that the dump does not
    name, or other dates for a statement that has several intervals.
    """
    if not changes:
        return statements
    touched_facts = statements.filter(
        statements.statement.isin([change.statement for change in changes])
    )
    untouched_facts = statements.anti_join(
        touched_facts.select("statement").distinct(), "statement"
    )
    dropped_ids = [change.statement for change in changes if change.drop]
    is_dropped = touched_facts.statement.isin(dropped_ids)
    dropped = touched_facts.filter(is_dropped).mutate(reason=ibis.literal(CORRECTED))
    mended_facts = touched_facts.filter(~is_dropped)
    if mend_rows := [change for change in changes if not change.drop]:
        mended_facts = _mended(eng, mended_facts, entities, mend_rows)
    columns = arrow_schema(rows.Statement).names
    return (
        untouched_facts.select(columns)
        .union(dropped.select(columns))
        .union(mended_facts.select(columns))
    )


def entries_of(statements: ir.Table, changes: Sequence[StatementChange]) -> ir.StringValue:
    """Return the ids of the corrections of statements, as a column."""
    return statements.statement.cases(*((change.statement, change.entry) for change in changes))


def applied(
    eng: Engine,
    statements: ir.Table,
    changes: Sequence[StatementChange],
    properties: Sequence[str],
) -> dict[str, dict[str, int]]:
    """Return what corrections find in a dump, by entry.

    `stated`: the intervals of their statement in the dump; `of_relations`: those of them that are
    of these properties, and so of the dataset.
    """
    statement_counts: dict[str, dict[str, int]] = {
        change.entry: {"of_relations": 0, "stated": 0} for change in changes
    }
    if not changes:
        return statement_counts
    change_entries = {change.statement: change.entry for change in changes}
    touched_ids = statements.filter(statements.statement.isin([*change_entries]))
    for row in eng.rows(touched_ids.group_by(["statement", "relation"]).agg(n=touched_ids.count())):
        entry_counts = statement_counts[change_entries[row["statement"]]]
        entry_counts["stated"] += row["n"]
        entry_counts["of_relations"] += row["n"] * (row["relation"] in properties)
    return statement_counts


def _mended(
    eng: Engine, statements: ir.Table, entities: ir.Table, mends: Sequence[StatementChange]
) -> ir.Table:
    """Return the statements with their other objects and dates."""
    stated_rows: dict[str, list[Mapping[str, Any]]] = {}
    for row in eng.rows(statements):
        stated_rows.setdefault(row["statement"], []).append(row)
    _refuse_unnamed(eng, entities, mends)
    values_by_statement: dict[str, dict[str, Any]] = {}
    for change in mends:
        interval_columns = stated_rows.get(change.statement, [])
        if len(interval_columns) > 1 and (change.start or change.end):
            raise UserError(
                f"{change.statement} has {len(interval_columns)} intervals in this dump, and the "
                "correction does not say whose dates it mends",
                where=f"correction {change.entry!r}",
                hint="drop the statement, or mend its object alone",
            )
        if interval_columns:
            values_by_statement[change.statement] = _new_values(interval_columns[0], change)
    if not values_by_statement:
        return statements
    schema = statements.schema()
    new_columns: dict[str, ir.Value] = {}
    for column in _MENDED:
        value_branches = [
            (statements.statement == statement, ibis.literal(values[column], schema[column]))
            for statement, values in values_by_statement.items()
            if column in values
        ]
        if value_branches:
            new_columns[column] = ibis.cases(*value_branches, else_=statements[column])
    return statements.mutate(**new_columns)


def _refuse_unnamed(eng: Engine, entities: ir.Table, mends: Sequence[StatementChange]) -> None:
    """Raise `UserError` for an object that the dump has no name of."""
    object_ids = [change.object for change in mends if change.object is not None]
    if not object_ids:
        return
    named = entities.filter(has_label(entities.label) & entities.id.isin(object_ids))
    named_ids = {row["id"] for row in eng.rows(named.select("id"))}
    for change in mends:
        if change.object is not None and change.object not in named_ids:
            raise UserError(
                f"the dump has no English name of {change.object}, the other object of "
                f"{change.statement}",
                where=f"correction {change.entry!r}",
                hint="drop the statement, or name an item that some statement of the dump names",
            )


def _new_values(stated: Mapping[str, Any], change: StatementChange) -> dict[str, Any]:
    """Return the columns of a statement that change, with their other values."""
    new_values: dict[str, Any] = {}
    reason = stated["reason"]
    if change.object is not None:
        new_values |= {"object": change.object, "kind": None}
        reason = None if reason in _OF_OBJECT else reason
    if isinstance(change.start, PartialDate):
        new_values |= {"start_first": change.start.first, "start_last": change.start.last}
    if change.end == OPEN:
        new_values |= {"end_first": None, "end_last": None, "end_open": True}
    elif isinstance(change.end, PartialDate):
        new_values |= {
            "end_first": change.end.first,
            "end_last": change.end.last,
            "end_open": False,
        }
    if change.start or change.end:
        if stated["sighting"]:
            raise UserError(
                f"{change.statement} says on which day the fact was seen (P585), and not when it "
                "began and ended",
                where=f"correction {change.entry!r}",
                hint="drop the statement, or mend its object alone",
            )
        reason = None if reason in _OF_DATES else reason
        dates = dict(stated) | new_values
        if dates["start_first"] and dates["end_last"] and dates["start_first"] > dates["end_last"]:
            raise UserError(
                f"{change.statement} would end on {dates['end_last']}, before it starts on "
                f"{dates['start_first']}",
                where=f"correction {change.entry!r}",
                hint="mend the other date, too",
            )
    return new_values | {"reason": reason}
