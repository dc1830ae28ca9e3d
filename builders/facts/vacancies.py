"""Find the vacancies of exclusive relations: times between two holders in which there was none.

That nobody is stated says little by itself: mostly a holder is missing. A vacancy is certain where

- the end of the last holder's term is stated, and not inferred;
- the start of the next holder's term is stated;
- both held certainly: neither is a rival, which may never have held;
- nothing may hold on the days in between that are empty under every reading of both terms: no
  segment, and no gap (`rows.Gap`) such as an unlabelled or undated object; so a statement of an
  acting holder bars a vacancy, whatever is wrong with it;
- it lasts at most `LONGEST` days under every reading of the dates.
"""

from collections.abc import Collection

import ibis
import ibis.expr.types as ir

from factdrift.builders.core.engine import Engine
from factdrift.builders.facts.intervals import DATES, with_calendar_ends
from factdrift.builders.facts.timeline import ORDER, item_number

LONGEST = 92
"""Days of the longest vacancy, a quarter: of those beyond two years, most lack a holder."""

_PAIR = ["subject", "relation"]


def certain_vacancies(
    engine: Engine,
    days: ir.Table,
    segments: ir.Table,
    gaps: ir.Table,
    facts: ir.Table,
    relations: Collection[str],
) -> ir.Table:
    """Return the rows of `days` that lie in a certain vacancy of one of these relations.

    `days` has the columns `subject` (a number), `relation` and `day`; `segments` and `gaps` are
    those of timelines, and `facts` are the facts (`rows.Fact`) behind them.
    """
    exclusive = sorted(relations)
    segments, gaps, facts = (
        _numbered(table.filter(table.relation.isin(exclusive))).semi_join(days, _PAIR)
        for table in (segments, gaps, facts)
    )
    by_place = ibis.window(order_by=[column for column in ORDER if column != "statements"])
    terms = engine.keep(
        with_calendar_ends(segments).mutate(number=ibis.row_number().over(by_place))
    )
    last_terms = _nearest(days, terms, is_before=True)
    next_terms = _nearest(days, terms, is_before=False)
    vacancies = last_terms.join(next_terms, [*_PAIR, "day"])
    lasting = vacancies.start_last.delta(vacancies.end_first, unit="day") - 1
    vacancies = vacancies.filter(vacancies.is_stated, vacancies.is_certain, lasting <= LONGEST)
    vacancies = engine.keep(_with_stated_ends(vacancies, facts))
    # Neither of the two terms may hold on the days that are empty under every reading.
    held_days = terms.select(*_PAIR, *DATES).union(with_calendar_ends(gaps).select(*_PAIR, *DATES))
    held_days = held_days.rename(held_first="start_first", held_last="end_last")
    barring = vacancies.select(*_PAIR, "day", "end_last", "start_first").join(
        held_days.select(*_PAIR, "held_first", "held_last"), _PAIR
    )
    barring = barring.filter(
        (barring.held_first < barring.start_first) & (barring.held_last > barring.end_last)
    )
    return vacancies.anti_join(barring, [*_PAIR, "day"]).select(*_PAIR, "day")


def _numbered(table: ir.Table) -> ir.Table:
    return table.mutate(subject=item_number(table.subject))


def _nearest(days: ir.Table, terms: ir.Table, is_before: bool) -> ir.Table:
    """The last term that ended before each day, or the first one that began after it."""
    near = days.join(terms, _PAIR)
    if is_before:
        near = near.filter(near.end_last < near.day)
        order = [near.end_last.desc(), near.end_first.desc(), near.number]
        columns = {
            "last_object": "object",
            "end_first": "end_first",
            "end_last": "end_last",
            "is_stated": ~near.end_inferred & ~near.end_open & ~near.rival,
        }
    else:
        near = near.filter(near.start_first > near.day)
        order = [near.start_first, near.start_last, near.number]
        columns = {
            "next_object": "object",
            "start_first": "start_first",
            "start_last": "start_last",
            "is_certain": ~near.rival,
        }
    place = ibis.row_number().over(ibis.window(group_by=[*_PAIR, "day"], order_by=order))
    near = near.select(*_PAIR, "day", **columns, place=place)
    return near.filter(near.place == 0).drop("place")


def _with_stated_ends(vacancies: ir.Table, facts: ir.Table) -> ir.Table:
    """The vacancies whose boundaries statements give, not a death or a birth."""
    terms = facts.filter(~facts.point & ~facts.sighting)
    ends = terms.filter(terms.end_first.notnull() & ~terms.end_open)
    ends = ends.select(*_PAIR, last_object="object", end_last="end_last").distinct()
    starts = terms.filter(terms.start_first.notnull() & terms.start_last.notnull())
    starts = starts.select(
        *_PAIR, next_object="object", stated_first="start_first", stated_last="start_last"
    )
    begun = vacancies.select(*_PAIR, "day", "next_object", "start_first", "start_last").join(
        starts, [*_PAIR, "next_object"]
    )
    begun = begun.filter(
        (begun.stated_first <= begun.start_last) & (begun.stated_last >= begun.start_first)
    )
    return vacancies.semi_join(ends, [*_PAIR, "last_object", "end_last"]).semi_join(
        begun, [*_PAIR, "day"]
    )
