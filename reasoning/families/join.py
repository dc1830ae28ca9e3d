"""Join and offset: who held something when, or some years before or after, something happened."""

import ibis
import ibis.expr.types as ir

from factdrift.reasoning.families.base import (
    Scope,
    array,
    at_quarter_end,
    candidate,
    draw,
    quarter,
    starts,
    with_shortcuts,
    without,
)
from factdrift.reasoning.names import Verbalizer
from factdrift.reasoning.rows import QuestionCandidate
from factdrift.reasoning.states import PAIR, Knowledge

_NUMBERS = ("", "one year", "two years", "three years", "four years", "five years")


class Join:
    """`Who was head of government of Italy when Christine Lagarde became president of the ECB?`"""

    def table(self, known: Knowledge, scope: Scope) -> ir.Table:
        """Each event with one stretch, drawn among those that offer themselves for its quarter."""
        s = known.states.filter(known.states.relation.isin(list(scope.having["ask"])))
        offered = with_shortcuts(at_quarter_end(s, scope, known.seed), known)
        by = ibis.window(group_by="quarter", order_by=["subject", "relation", "first"])
        size = offered.count().over(ibis.window(group_by="quarter"))
        offered = offered.mutate(nth=ibis.row_number().over(by).cast("int64"), size=size)
        sizes = offered.select("quarter", "size").distinct()
        e = starts(known, scope)
        e = e.select(
            "start_first",
            "start_last",
            quarter=quarter(e.start_last),
            drawn=draw(known.seed, e.subject, e.relation, e.object),
            event=array(e.subject, e.object),
            event_relation="relation",
            proof="statements",
        )
        e = e.join(sizes, "quarter")
        e = e.mutate(nth=(e.drawn % e.size).cast("int64")).drop("size")
        met = e.join(offered, ["quarter", "nth"])
        met = met.filter((met.first <= met.start_first) & (met.last >= met.start_last))
        met = met.filter(~met.event.contains(met.subject) & ~met.objects.contains(met.event[0]))
        met = met.filter(~met.objects.contains(met.event[1]))
        made = candidate(
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
        return without(made, "newest", "longest")

    def question(self, row: QuestionCandidate, names: Verbalizer) -> str:
        """What was asked, and the event."""
        about, subject, thing = row.items
        asked = names.ask(row.relations[0], names.name(about))
        event = names.phrase("event", row.relations[1], names.name(subject), names.name(thing))
        return f"{asked} when {event}?"


class Offset:
    """`Who was the head coach of Liverpool three years before Jürgen Klopp took over?`"""

    years = (-4, -3, -2, 2, 3, 4)

    def table(self, known: Knowledge, scope: Scope) -> ir.Table:
        """Each event, moved by a drawn number of years, with the stretch of its own pair there."""
        e = starts(known, scope)
        e = e.filter(
            e.relation.isin([r for r in scope.having["ask"] if r in scope.having["began"]])
        )
        e = e.mutate(drawn=draw(known.seed + 1, e.subject, e.relation, e.object))
        moved = []
        for place, n in enumerate(self.years):
            some = e.filter(e.drawn % len(self.years) == place)
            by = ibis.interval(years=abs(n))
            ends = [some.start_first, some.start_last]
            low, high = ((d + by if n > 0 else d - by).cast("date") for d in ends)
            moved.append(some.mutate(low=low, high=high, number=ibis.literal(n, "int64")))
        all_moved = ibis.union(*moved)
        all_moved = all_moved.select(
            *PAIR, "low", "high", "number", "start_last", thing="object", proof="statements"
        )
        met = with_shortcuts(all_moved.join(known.states, PAIR), known)
        met = met.filter((met.first <= met.low) & (met.last >= met.high))
        met = met.filter(~met.objects.contains(met.thing))
        made = candidate(
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
        return without(made, "newest", "longest")

    def question(self, row: QuestionCandidate, names: Verbalizer) -> str:
        """What was asked, so many years before or after the event."""
        subject, thing = map(names.name, row.items)
        (relation,) = row.relations
        asked = names.ask(relation, subject)
        event = names.phrase("began", relation, subject, thing)
        number = row.number or 0
        side = "before" if number < 0 else "after"
        return f"{asked} {_NUMBERS[abs(number)]} {side} {event}?"
