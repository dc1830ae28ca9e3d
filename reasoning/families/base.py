"""The parts that all families of questions share."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

import ibis
import ibis.expr.types as ir
import pyarrow as pa
from ibis import schema

from factdrift.builders.core.schema import arrow_schema
from factdrift.builders.core.tables import row_id_of
from factdrift.reasoning.rows import QuestionCandidate
from factdrift.reasoning.states import Knowledge

DAY = ibis.interval(days=1)


class Scope(NamedTuple):
    """The days that are asked about, and the ids of the relations that have each phrase."""

    first: date
    last: date
    phrase_relations: Mapping[str, Sequence[str]]

    def with_phrase(self, table: ir.Table, phrase: str) -> ir.Table:
        """Return the rows whose relation has a phrase."""
        return table.filter(table.relation.isin(list(self.phrase_relations[phrase])))


class Family(NamedTuple):
    """One family of questions.

    `table` returns its candidates (rows of `QuestionCandidate`, usually made by `candidate`).
    `texts` maps each wording to its templates, of which one is drawn for a row (see
    `Verbalizer.question`).
    """

    table: Callable[[Knowledge, Scope], ir.Table]
    texts: Mapping[str, Sequence[str]]


CANDIDATE = schema(
    pa.schema(
        [
            pa.field(field.name, field.type)
            for field in arrow_schema(QuestionCandidate)
            if field.name != "turn"  # the draw numbers them
        ]
    )
)
# Columns that a candidate takes from the family's table unless the family gives its own.
_OWN = ("subject", "relation", "statements", "newest", "longest", "first_hop")
# A month, as the shortest one has it at least: what differs by less may hang on one wrong day.
MARGIN = 31
"""Days by which two dates or lengths that are compared have to differ under every reading."""


def candidate(table: ir.Table, family: str, **columns: Any) -> ir.Table:
    """Return a table with the columns of `QuestionCandidate`.

    A column that is not given comes from `table` where `_OWN` names it, else it is empty. By
    default `wording` is the name of the family, `relations` is the relation of the row, and
    `holder` is its subject.
    """
    given_values: dict[str, Any] = {"family": family, "wording": family}
    given_values |= {name: table[name] for name in _OWN if name in table.columns}
    given_values |= {"relations": array(table.relation)} | columns
    given_values.setdefault("holder", given_values["subject"])
    given_values["statements"] = given_values["statements"].unique().sort()
    given_values["path"] = given_values["relations"].join(" ")
    given_values["hops"] = (
        given_values["relations"].length() if family == "chain" else ibis.literal(1)
    )
    column_values = {}
    for name, column_type in CANDIDATE.items():
        value = given_values.get(name, ibis.null(column_type))
        value = ibis.literal(value) if isinstance(value, str) else value
        # Spark gives an empty literal its type only beside a column that has one.
        column_values[name] = (
            value.fill_null(ibis.literal([], column_type)) if column_type.is_array() else value
        )
    table = table.select(**column_values).cast(CANDIDATE)
    id_parts = [table.family, table.wording, table.items.join(" "), table.path]
    id_parts += [table.as_of.strftime("%Y-%m-%d"), table.number.cast("string").fill_null("")]
    id_parts += [table.since.strftime("%Y-%m-%d").fill_null("")]
    return table.mutate(id=row_id_of(*id_parts))


def array(*items: ir.Value) -> ir.ArrayValue:
    """Return an array of columns or literals of one type."""
    return ibis.array([ibis.literal(item) if isinstance(item, str) else item for item in items])


def seeded_number(seed: int, *items: ir.StringColumn) -> ir.IntegerValue:
    """Return a number from 0 to 1,000,002 that is drawn for items or properties.

    It is plain arithmetic on the digits of their ids, so that every engine draws the same number.
    """
    drawn_number = ibis.literal(seed, "int64")
    for item in items:
        # A small prime, so that no product leaves 64 bits, far above the sizes that are drawn from.
        drawn_number = drawn_number * 31 % 1_000_003 + item.re_extract(r"\d+", 0).cast("int64")
    return drawn_number % 1_000_003


def quarter(day: ir.DateColumn) -> ir.IntegerValue:
    """Return the index of the quarter that a day lies in, counted from the year 0."""
    return (day.year() * 4 + (day.month() - 1) // 3).cast("int64")


def quarter_end(index: ir.IntegerValue) -> ir.DateValue:
    """Return the last day of the quarter with this index."""
    next_quarter = index + 1
    first_after = ibis.date(
        (next_quarter // 4).cast("int32"), (next_quarter % 4 * 3 + 1).cast("int32"), ibis.literal(1)
    )
    return (first_after - DAY).cast("date")


def at_quarter_end(states: ir.Table, scope: Scope, seed: int, draws: int = 1) -> ir.Table:
    """Return the stretches that hold the last day of a quarter, with up to `draws` such days.

    The drawn day is in `as_of`. Draws of one stretch lie as far apart as its length allows.
    """
    first_quarter = quarter(ibis.greatest(states.first, ibis.literal(scope.first)))
    last_quarter = (
        quarter((ibis.least(states.last, ibis.literal(scope.last)) + DAY).cast("date")) - 1
    )
    states = states.mutate(low=first_quarter, high=last_quarter, place=ibis.range(draws).unnest())
    quarter_count = states.high - states.low + 1
    states = states.filter(states.place < quarter_count)
    drawn_number = seeded_number(seed, states.subject, states.relation, states.objects[0])
    quarter_count = states.high - states.low + 1
    draw_distance = ibis.greatest(quarter_count // draws, 1)
    drawn_quarter = (
        states.low + (drawn_number + states.place.cast("int64") * draw_distance) % quarter_count
    )
    return states.mutate(as_of=quarter_end(drawn_quarter), quarter=drawn_quarter).drop(
        "low", "high", "place"
    )


def surely_within(
    states: ir.Table, first_day: ir.DateValue, last_day: ir.DateValue
) -> ir.BooleanValue:
    """Whether a stretch holds some days and the day on either side of them.

    What changes on the very day of an event is not asked: sources often differ by a day.
    """
    return (states.first < first_day) & (states.last > last_day)


def event_starts(knowledge: Knowledge, scope: Scope) -> ir.Table:
    """Return the terms whose start can be named as an event.

    They start within the scope, last longer than an interim, are the only term of their object, and
    their start is known to about a year.
    """
    terms = knowledge.terms
    # A start that is known to the year alone has 365 days in doubt.
    precise = terms.start_first.delta(terms.start_last, unit="day").abs() <= 366
    in_scope = (terms.start_first >= scope.first) & (terms.start_last <= scope.last)
    return scope.with_phrase(terms.filter(in_scope & precise & terms.once & terms.lasting), "event")
