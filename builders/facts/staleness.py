"""Staleness: an open statement that nobody closes is in doubt from some day on.

Many open statements of Wikidata are not states of today: nobody closed them. So an open statement
of normal rank is trusted up to a day, by what its relation's template says:

- `usually: one`: until another object of the pair may have begun later;
- `seat: one`: until another subject of the same office may have begun later, if at least two stated
  terms of different subjects of this office are known, and no two of them surely overlap for
  `terms.LONG_OVERLAP` days;
- `open_for: N`: for N years from its first possible start on;
- `open_for: learned`: for the time by which most terms of the relation had ended (`learned`).

Later on it may hold, and it is never certain. A statement of preferred rank is always trusted.
"""

from collections.abc import Collection, Mapping

import ibis
import ibis.expr.types as ir

from factdrift.builders.facts.intervals import LAST_DAY
from factdrift.builders.facts.terms import (
    OBJECTS_OF_PAIR,
    SUBJECTS_OF_OFFICE,
    later_starts,
    shared_places,
    with_later,
    with_terms,
)
from factdrift.builders.facts.time_rules import Rules, TimeRule


def with_trust(items: ir.Table, rules: Rules, office_starts: ir.Table | None = None) -> ir.Table:
    """Add `trusted_until`: the last day on which an open fact is trusted.

    `items` are those of `timeline`, and have all of a pair or nothing. So have they all of an
    office, unless `office_starts` (`later_office_starts`) is given. `trusted_until` is the last day
    of the calendar where nothing puts a fact in doubt. Each fact is asked about before facts of one
    object are merged.
    """
    usual = [relation_id for relation_id, rule in rules.items() if rule.usually == "one"]
    seats = seat_relations(rules)
    limits = {
        relation_id: limit
        for relation_id, rule in sorted(rules.items())
        if (limit := _limit(rule)) is not None
    }
    may_be_stale = _may_be_stale(items, {*usual, *seats, *limits})
    trusted_items = items.filter(~may_be_stale).mutate(trusted_until=LAST_DAY)
    open_items = items.filter(may_be_stale)
    open_items = open_items.mutate(trusted_until=_last_days(open_items, limits))
    one_day = ibis.interval(days=1)
    for relation_ids, place in ((usual, OBJECTS_OF_PAIR), (seats, SUBJECTS_OF_OFFICE)):
        if not relation_ids:
            continue
        asking = open_items.filter(open_items.relation.isin(relation_ids))
        not_asking = open_items.filter(~open_items.relation.isin(relation_ids))
        if place is OBJECTS_OF_PAIR:
            starts = later_starts(items.filter(items.relation.isin(relation_ids)), asking, place)
        elif office_starts is None:
            starts = later_office_starts(items, rules)
        else:
            starts = office_starts
        asking = with_later(asking, starts, place)
        day_before = (asking.later - one_day).cast("date").fill_null(LAST_DAY)
        asking = asking.mutate(trusted_until=ibis.least(asking.trusted_until, day_before))
        open_items = not_asking.union(asking.select(not_asking.columns))
    return trusted_items.union(open_items.select(trusted_items.columns))


def seat_relations(rules: Rules) -> list[str]:
    """The relations whose open facts end where another subject may have taken the office."""
    return [relation_id for relation_id, rule in rules.items() if rule.seat == "one"]


def later_office_starts(items: ir.Table, rules: Rules) -> ir.Table:
    """Return from when on others may have taken the offices of open facts (`terms.later_starts`).

    `items` are those of `timeline`, and have all of an office or nothing.
    """
    seats = seat_relations(rules)
    rivals = _of_single_seats(items.filter(items.relation.isin(seats)))
    asking = items.filter(_may_be_stale(items, seats))
    return later_starts(rivals, asking, SUBJECTS_OF_OFFICE)


def _may_be_stale(items: ir.Table, relations: Collection[str]) -> ir.BooleanValue:
    is_open = items.end_open & (items.kind == "state") & (items["rank"] != "preferred")
    return items.relation.isin(sorted(relations)) & is_open


def _of_single_seats(items: ir.Table) -> ir.Table:
    """The items of offices that two subjects held by stated terms, and never two at once."""
    columns, office = items.columns, list(SUBJECTS_OF_OFFICE.columns)
    items = with_terms(items, SUBJECTS_OF_OFFICE)
    terms = items.filter(items.term_ends.notnull())
    holders = terms.group_by(office).agg(subjects=terms.subject.nunique())
    single_seats = holders.filter(holders.subjects > 1)
    single_seats = single_seats.anti_join(shared_places(items, SUBJECTS_OF_OFFICE), office)
    return items.semi_join(single_seats, office).select(columns)


def _limit(rule: TimeRule) -> ir.IntervalScalar | None:
    """The time for which an open fact is trusted; None: without limit."""
    if isinstance(rule.open_for, int):
        return ibis.interval(years=rule.open_for)
    return None if rule.learned_days is None else ibis.interval(days=rule.learned_days)


def _last_days(items: ir.Table, limits: Mapping[str, ir.IntervalScalar]) -> ir.DateValue:
    """The last day within the relation's limit, which counts from the first possible start."""
    last_days = [
        (items.relation == relation_id, (items.start_first + limit).cast("date"))
        for relation_id, limit in limits.items()
    ]
    return ibis.cases(*last_days, else_=LAST_DAY) if last_days else LAST_DAY
