"""Families that ask who held something: chain, join, offset and neighbour."""

import ibis
import ibis.expr.types as ir

from factdrift.reasoning.families.base import (
    Family,
    Scope,
    array,
    at_quarter_end,
    candidate,
    quarter,
    seeded_number,
    starts,
)
from factdrift.reasoning.states import INTERIM, PAIR, Knowledge

_YEARS = (-4, -3, -2, 2, 3, 4)
"""How far an offset goes from its event."""


def _chains(known: Knowledge, scope: Scope) -> ir.Table:
    """Stretches joined where the only object of one is the subject of the next, two or three.

    The shortcuts follow the newest object at every hop, or the one that held longest.
    """
    stretches = scope.of(known.states.filter(known.states.objects.length() == 1), "noun")
    begun = at_quarter_end(stretches, scope, known.seed, draws=4).join(known.shortcuts, PAIR)
    begun = begun.mutate(middle=ibis._.objects[0])
    path = begun.select(
        *("as_of", "newest", "longest", "statements", "since", "middle"),
        start="subject",
        items=array(begun.subject),
        relations=array(begun.relation),
        first_hop="middle",
    )
    hops = _joined(path, stretches, known)
    hops = hops.filter(~hops.items.contains(hops.objects[0]) & (hops.objects[0] != hops.first_hop))
    longer = hops.select(
        *("as_of", "newest", "longest", "start", "items", "first_hop", "relations"),
        statements="proof",
        since="began",
        middle=hops.objects[0],
    )
    return _last_hop(path, known, scope).union(_last_hop(longer, known, scope))


def _joined(path: ir.Table, states: ir.Table, known: Knowledge) -> ir.Table:
    """Each path with the stretches of its last object on its day; no relation twice.

    `newest` and `longest` go on from what they were, and are null where they lead nowhere.
    """
    next_states = states.rename(more="statements", start_of="since")
    hops = path.join(next_states, [("middle", "subject")]).drop("subject")
    hops = hops.filter((hops.first <= hops.as_of) & (hops.last >= hops.as_of))
    hops = hops.filter(~hops.relations.contains(hops.relation))
    for name in ("newest", "longest"):
        short = known.shortcuts.select(from_="subject", by="relation", next=name)
        hops = hops.left_join(short, [(name, "from_"), ("relation", "by")])
        hops = hops.drop("from_", "by", name).rename({name: "next"})
    return hops.mutate(
        relations=hops.relations.concat(array(hops.relation)),
        proof=hops.statements.concat(hops.more),
        began=ibis.greatest(hops.since, hops.start_of),
    )


def _last_hop(path: ir.Table, known: Knowledge, scope: Scope) -> ir.Table:
    hops = _joined(path, scope.of(known.states, "ask"), known)
    other_objects = known.shortcuts.select("others", of="subject", by="relation")
    hops = hops.join(other_objects, [("middle", "of"), ("relation", "by")])
    candidates = candidate(
        hops,
        "chain",
        subject=hops.start,
        items=hops.items,
        relations=hops.relations,
        as_of=hops.as_of,
        answers=hops.objects,
        statements=hops.proof,
        changed=hops.began,
    )
    return candidates.filter(~candidates.answers.contains(candidates.subject))


def _joins(known: Knowledge, scope: Scope) -> ir.Table:
    """Each event with one stretch, drawn among those that offer themselves for its quarter."""
    asked_states = scope.of(known.states, "ask")
    offered = at_quarter_end(asked_states, scope, known.seed).join(known.shortcuts, PAIR)
    by = ibis.window(group_by="quarter", order_by=["subject", "relation", "first"])
    size = offered.count().over(ibis.window(group_by="quarter"))
    offered = offered.mutate(nth=ibis.row_number().over(by).cast("int64"), size=size)
    events = starts(known, scope)
    events = events.select(
        *("start_first", "start_last"),
        quarter=quarter(events.start_last),
        drawn=seeded_number(known.seed, events.subject, events.relation, events.object),
        event=array(events.subject, events.object),
        event_relation="relation",
        proof="statements",
    )
    events = events.join(offered.select("quarter", "size").distinct(), "quarter")
    events = events.mutate(nth=(events.drawn % events.size).cast("int64")).drop("size")
    joined_events = events.join(offered, ["quarter", "nth"])
    joined_events = joined_events.filter(
        (joined_events.first <= joined_events.start_first)
        & (joined_events.last >= joined_events.start_last)
    )
    joined_events = joined_events.filter(
        ~joined_events.event.contains(joined_events.subject)
        & ~joined_events.objects.contains(joined_events.event[0])
    )
    joined_events = joined_events.filter(~joined_events.objects.contains(joined_events.event[1]))
    return candidate(
        joined_events,
        "join",
        wording="when",
        items=array(joined_events.subject).concat(joined_events.event),
        relations=array(joined_events.relation, joined_events.event_relation),
        as_of=joined_events.start_last,
        answers=joined_events.objects,
        statements=joined_events.statements.concat(joined_events.proof),
        changed=joined_events.start_last,
    )


def _offsets(known: Knowledge, scope: Scope) -> ir.Table:
    """Each event, moved by a drawn number of years, with the stretch of its own pair there."""
    events = scope.of(scope.of(starts(known, scope), "ask"), "began")
    events = events.mutate(
        drawn=seeded_number(known.seed + 1, events.subject, events.relation, events.object)
    )
    moved = []
    for place, years in enumerate(_YEARS):
        moved_events = events.filter(events.drawn % len(_YEARS) == place)
        by = ibis.interval(years=abs(years))
        ends = [moved_events.start_first, moved_events.start_last]
        low, high = ((day + by if years > 0 else day - by).cast("date") for day in ends)
        moved.append(moved_events.mutate(low=low, high=high, number=ibis.literal(years, "int64")))
    all_moved = ibis.union(*moved).select(
        *(*PAIR, "low", "high", "number", "start_last"), thing="object", proof="statements"
    )
    moved_states = all_moved.join(known.states, PAIR).join(known.shortcuts, PAIR)
    moved_states = moved_states.filter(
        (moved_states.first <= moved_states.low) & (moved_states.last >= moved_states.high)
    )
    moved_states = moved_states.filter(~moved_states.objects.contains(moved_states.thing))
    return candidate(
        moved_states,
        "offset",
        wording="years",
        items=array(moved_states.subject, moved_states.thing),
        as_of=moved_states.high,
        number=moved_states.number,
        answers=moved_states.objects,
        statements=moved_states.statements.concat(moved_states.proof),
        first_hop=moved_states.thing,
        changed=ibis.greatest(moved_states.start_last, moved_states.since),
    )


def _neighbours(known: Knowledge, scope: Scope) -> ir.Table:
    """Terms next to each other in pairs whose terms surely follow one another.

    Of relations that can be counted, which are offices: nobody states every employer.
    """
    term_table = scope.of(known.terms, "count")
    by = ibis.window(group_by=PAIR, order_by=["start_first", "start_last", "object"])
    names = ("object", "start_first", "start_last", "statements", "end_last", "once", "lasting")
    term_table = term_table.mutate(
        **{f"next_{name}": term_table[name].lead().over(by) for name in names}
    )
    follows = (term_table.start_last < term_table.next_start_first) & (
        term_table.end_last <= term_table.next_start_last
    )
    term_table = term_table.mutate(
        row=(follows | term_table.next_object.isnull()).all().over(ibis.window(group_by=PAIR))
    )
    near = term_table.next_start_last.delta(term_table.end_first, unit="day") <= 366
    near &= term_table.next_start_first.delta(term_table.end_last, unit="day") <= INTERIM
    term_table = term_table.filter(
        term_table.row
        & near
        & term_table.next_object.notnull()
        & term_table.once
        & term_table.next_once
    )
    term_table = term_table.filter(term_table.lasting & term_table.next_lasting)
    inside = (term_table.next_start_first >= scope.first) & (
        term_table.next_start_last <= scope.last
    )
    term_table = term_table.filter(inside & (term_table.start_first >= scope.first)).join(
        known.shortcuts, PAIR
    )
    sides = (
        ("before", term_table.object, term_table.next_object),
        ("after", term_table.next_object, term_table.object),
    )
    candidates = [
        candidate(
            term_table,
            "neighbour",
            wording=side,
            items=array(term_table.subject, given_object),
            as_of=term_table.next_start_last,
            answers=array(answer),
            statements=term_table.statements.concat(term_table.next_statements),
            first_hop=given_object,
            changed=term_table.next_start_last,
        )
        for side, answer, given_object in sides
    ]
    return ibis.union(*candidates)


CHAIN = Family(_chains, {"chain": "On {day}, {path}?"})
JOIN = Family(_joins, {"when": "{Ask 0 0} when {event 1 1 2}?"})
OFFSET = Family(_offsets, {"years": "{Offset} {began 0 0 1}, {ask 0 0}?"})
NEIGHBOUR = Family(
    _neighbours,
    {
        "before": "{Ask 0 0} directly before {name 1}?",
        "after": "{Ask 0 0} directly after {name 1}?",
    },
)
