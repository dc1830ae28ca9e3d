"""What every family of questions has, and what their tables share."""

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
    """What is asked about: days, and the relations that have a phrase, by its name."""

    first: date
    last: date
    having: Mapping[str, Sequence[str]]

    def of(self, table: ir.Table, phrase: str) -> ir.Table:
        """The rows of the relations that have a phrase."""
        return table.filter(table.relation.isin(list(self.having[phrase])))


class Family(NamedTuple):
    """One family of questions.

    `table` gives its candidates (`QuestionCandidate`, most made by `candidate`); `texts` the
    template of each wording (see `Verbalizer.question`).
    """

    table: Callable[[Knowledge, Scope], ir.Table]
    texts: Mapping[str, str]


CANDIDATE = schema(pa.schema([pa.field(f.name, f.type) for f in arrow_schema(QuestionCandidate)]))
_OWN = ("subject", "relation", "statements", "newest", "longest", "first_hop", "others")


def candidate(table: ir.Table, family: str, **columns: Any) -> ir.Table:
    """A table with the columns of `QuestionCandidate`.

    One that is not given is the table's own where `_OWN` names it, else empty; `wording` is the
    family's name, `relations` the one relation. Those whose answer is a shortcut's are left out.
    """
    given_columns: dict[str, Any] = {"family": family, "wording": family}
    given_columns |= {name: table[name] for name in _OWN if name in table.columns}
    given_columns |= {"relations": array(table.relation)} | columns
    given_columns["statements"] = given_columns["statements"].unique().sort()
    given_columns["path"] = given_columns["relations"].join(" ")
    given_columns["hops"] = (
        given_columns["relations"].length() if family == "chain" else ibis.literal(1)
    )
    made_columns = {}
    for name, kind in CANDIDATE.items():
        value = given_columns.get(name, ibis.null(kind))
        value = ibis.literal(value) if isinstance(value, str) else value
        # Spark gives an empty literal its type only beside a column that has one.
        made_columns[name] = value.fill_null(ibis.literal([], kind)) if kind.is_array() else value
    table = table.select(**made_columns).cast(CANDIDATE)
    short = [table.newest, table.longest, table.first_hop]
    table = table.filter([~table.answers.contains(shortcut).fill_null(False) for shortcut in short])
    names = [table.family, table.wording, table.items.join(" "), table.path]
    names += [table.as_of.strftime("%Y-%m-%d"), table.number.cast("string").fill_null("")]
    return table.mutate(id=row_id_of(*names))


def array(*items: ir.Value) -> ir.ArrayValue:
    """An array of columns or literals of one type."""
    return ibis.array([ibis.literal(item) if isinstance(item, str) else item for item in items])


def seeded_number(seed: int, *items: ir.StringColumn) -> ir.IntegerValue:
    """A number drawn for items or properties, not below 0."""
    found = ibis.literal(seed, "int64")
    for item in items:
        found = found * 31 % 1_000_003 + item.re_extract(r"\d+", 0).cast("int64")
    return found % 1_000_003


def quarter(day: ir.DateColumn) -> ir.IntegerValue:
    """The index of the quarter that a day lies in."""
    return (day.year() * 4 + (day.month() - 1) // 3).cast("int64")


def quarter_end(index: ir.IntegerValue) -> ir.DateValue:
    """The last day of the quarter with this index."""
    following = index + 1
    first = ibis.date(
        (following // 4).cast("int32"), (following % 4 * 3 + 1).cast("int32"), ibis.literal(1)
    )
    return (first - DAY).cast("date")


def at_quarter_end(states: ir.Table, scope: Scope, seed: int, draws: int = 1) -> ir.Table:
    """The stretches that hold the last day of a quarter, with such days drawn: `as_of`."""
    low = quarter(ibis.greatest(states.first, ibis.literal(scope.first)))
    high = quarter((ibis.least(states.last, ibis.literal(scope.last)) + DAY).cast("date")) - 1
    states = states.mutate(low=low, high=high, place=ibis.range(draws).unnest())
    size = states.high - states.low + 1
    states = states.filter(states.place < size)
    drawn = seeded_number(seed, states.subject, states.relation, states.objects[0])
    size = states.high - states.low + 1
    apart = ibis.greatest(size // draws, 1)
    picked = states.low + (drawn + states.place.cast("int64") * apart) % size
    return states.mutate(as_of=quarter_end(picked), quarter=picked).drop("low", "high", "place")


def starts(known: Knowledge, scope: Scope) -> ir.Table:
    """The terms whose start is an event: of those that last, a year or less in doubt, in scope."""
    term_table = known.terms
    near = term_table.start_first.delta(term_table.start_last, unit="day").abs() <= 366
    inside = (term_table.start_first >= scope.first) & (term_table.start_last <= scope.last)
    return scope.of(
        term_table.filter(inside & near & term_table.once & term_table.lasting), "event"
    )
