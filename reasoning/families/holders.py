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
    one = scope.of(known.states.filter(known.states.objects.length() == 1), "noun")
    begun = at_quarter_end(one, scope, known.seed, draws=4).join(known.shortcuts, PAIR)
    begun = begun.mutate(middle=ibis._.objects[0])
    path = begun.select(
        *("as_of", "newest", "longest", "statements", "since", "middle"),
        start="subject",
        items=array(begun.subject),
        relations=array(begun.relation),
        first_hop="middle",
    )
    met = _joined(path, one, known)
    met = met.filter(~met.items.contains(met.objects[0]) & (met.objects[0] != met.first_hop))
    longer = met.select(
        *("as_of", "newest", "longest", "start", "items", "first_hop", "relations"),
        statements="proof",
        since="began",
        middle=met.objects[0],
    )
    return _last_hop(path, known, scope).union(_last_hop(longer, known, scope))


def _joined(path: ir.Table, states: ir.Table, known: Knowledge) -> ir.Table:
    """Each path with the stretches of its last object on its day; no relation twice.

    `newest` and `longest` go on from what they were, and are null where they lead nowhere.
    """
    of = states.rename(more="statements", start_of="since")
    met = path.join(of, [("middle", "subject")]).drop("subject")
    met = met.filter((met.first <= met.as_of) & (met.last >= met.as_of))
    met = met.filter(~met.relations.contains(met.relation))
    for name in ("newest", "longest"):
        short = known.shortcuts.select(from_="subject", by="relation", next=name)
        met = met.left_join(short, [(name, "from_"), ("relation", "by")])
        met = met.drop("from_", "by", name).rename({name: "next"})
    return met.mutate(
        relations=met.relations.concat(array(met.relation)),
        proof=met.statements.concat(met.more),
        began=ibis.greatest(met.since, met.start_of),
    )


def _last_hop(path: ir.Table, known: Knowledge, scope: Scope) -> ir.Table:
    met = _joined(path, scope.of(known.states, "ask"), known)
    others = known.shortcuts.select("others", of="subject", by="relation")
    met = met.join(others, [("middle", "of"), ("relation", "by")])
    made = candidate(
        met,
        "chain",
        subject=met.start,
        items=met.items,
        relations=met.relations,
        as_of=met.as_of,
        answers=met.objects,
        statements=met.proof,
        changed=met.began,
    )
    return made.filter(~made.answers.contains(made.subject))


def _joins(known: Knowledge, scope: Scope) -> ir.Table:
    """Each event with one stretch, drawn among those that offer themselves for its quarter."""
    asked = scope.of(known.states, "ask")
    offered = at_quarter_end(asked, scope, known.seed).join(known.shortcuts, PAIR)
    by = ibis.window(group_by="quarter", order_by=["subject", "relation", "first"])
    size = offered.count().over(ibis.window(group_by="quarter"))
    offered = offered.mutate(nth=ibis.row_number().over(by).cast("int64"), size=size)
    e = starts(known, scope)
    e = e.select(
        *("start_first", "start_last"),
        quarter=quarter(e.start_last),
        drawn=seeded_number(known.seed, e.subject, e.relation, e.object),
        event=array(e.subject, e.object),
        event_relation="relation",
        proof="statements",
    )
    e = e.join(offered.select("quarter", "size").distinct(), "quarter")
    e = e.mutate(nth=(e.drawn % e.size).cast("int64")).drop("size")
    met = e.join(offered, ["quarter", "nth"])
    met = met.filter((met.first <= met.start_first) & (met.last >= met.start_last))
    met = met.filter(~met.event.contains(met.subject) & ~met.objects.contains(met.event[0]))
    met = met.filter(~met.objects.contains(met.event[1]))
    return candidate(
        met,
        "join",
        wording="when",
        items=array(met.subject).concat(met.event),
        relations=array(met.relation, met.event_relation),
        as_of=met.start_last,
        answers=met.objects,
        statements=met.statements.concat(met.proof),
        changed=met.start_last,
    )


def _offsets(known: Knowledge, scope: Scope) -> ir.Table:
    """Each event, moved by a drawn number of years, with the stretch of its own pair there."""
    e = scope.of(scope.of(starts(known, scope), "ask"), "began")
    e = e.mutate(drawn=seeded_number(known.seed + 1, e.subject, e.relation, e.object))
    moved = []
    for place, n in enumerate(_YEARS):
        some = e.filter(e.drawn % len(_YEARS) == place)
        by = ibis.interval(years=abs(n))
        ends = [some.start_first, some.start_last]
        low, high = ((d + by if n > 0 else d - by).cast("date") for d in ends)
        moved.append(some.mutate(low=low, high=high, number=ibis.literal(n, "int64")))
    every = ibis.union(*moved).select(
        *(*PAIR, "low", "high", "number", "start_last"), thing="object", proof="statements"
    )
    met = every.join(known.states, PAIR).join(known.shortcuts, PAIR)
    met = met.filter((met.first <= met.low) & (met.last >= met.high))
    met = met.filter(~met.objects.contains(met.thing))
    return candidate(
        met,
        "offset",
        wording="years",
        items=array(met.subject, met.thing),
        as_of=met.high,
        number=met.number,
        answers=met.objects,
        statements=met.statements.concat(met.proof),
        first_hop=met.thing,
        changed=ibis.greatest(met.start_last, met.since),
    )


def _neighbours(known: Knowledge, scope: Scope) -> ir.Table:
    """Terms next to each other in pairs whose terms surely follow one another.

    Of relations that can be counted, which are offices: nobody states every employer.
    """
    t = scope.of(known.terms, "count")
    by = ibis.window(group_by=PAIR, order_by=["start_first", "start_last", "object"])
    names = ("object", "start_first", "start_last", "statements", "end_last", "once", "lasting")
    t = t.mutate(**{f"next_{name}": t[name].lead().over(by) for name in names})
    follows = (t.start_last < t.next_start_first) & (t.end_last <= t.next_start_last)
    t = t.mutate(row=(follows | t.next_object.isnull()).all().over(ibis.window(group_by=PAIR)))
    near = t.next_start_last.delta(t.end_first, unit="day") <= 366
    near &= t.next_start_first.delta(t.end_last, unit="day") <= INTERIM
    t = t.filter(t.row & near & t.next_object.notnull() & t.once & t.next_once)
    t = t.filter(t.lasting & t.next_lasting)
    inside = (t.next_start_first >= scope.first) & (t.next_start_last <= scope.last)
    t = t.filter(inside & (t.start_first >= scope.first)).join(known.shortcuts, PAIR)
    sides = (("before", t.object, t.next_object), ("after", t.next_object, t.object))
    found = [
        candidate(
            t,
            "neighbour",
            wording=side,
            items=array(t.subject, given),
            as_of=t.next_start_last,
            answers=array(answer),
            statements=t.statements.concat(t.next_statements),
            first_hop=given,
            changed=t.next_start_last,
        )
        for side, answer, given in sides
    ]
    return ibis.union(*found)


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
