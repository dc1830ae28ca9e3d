"""Neighbour: who came directly before or after somebody."""

import ibis
import ibis.expr.types as ir

from factdrift.reasoning.families.base import (
    Scope,
    array,
    candidate,
    with_shortcuts,
    without,
)
from factdrift.reasoning.names import Verbalizer
from factdrift.reasoning.rows import QuestionCandidate
from factdrift.reasoning.states import PAIR, Knowledge


class Neighbour:
    """`Who was the head coach of Liverpool directly before Jürgen Klopp?`"""

    def table(self, known: Knowledge, scope: Scope) -> ir.Table:
        """Terms next to each other in pairs whose terms surely follow one another.

        Of relations that can be counted, which are offices: nobody states every employer.
        """
        t = known.terms.filter(known.terms.relation.isin(list(scope.having["count"])))
        by = ibis.window(group_by=PAIR, order_by=["start_first", "start_last", "object"])
        names = ("object", "start_first", "start_last", "statements", "end_last", "once")
        t = t.mutate(**{f"next_{name}": t[name].lead().over(by) for name in names})
        follows = (t.start_last < t.next_start_first) & (t.end_last <= t.next_start_last)
        t = t.mutate(row=(follows | t.next_object.isnull()).all().over(ibis.window(group_by=PAIR)))
        near = t.next_start_last.delta(t.end_first, unit="day") <= 366
        t = t.filter(t.row & near & t.next_object.notnull() & t.once & t.next_once)
        inside = (t.next_start_first >= scope.first) & (t.next_start_last <= scope.last)
        t = with_shortcuts(t.filter(inside & (t.start_first >= scope.first)), known)
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
        return without(ibis.union(*found), "newest", "longest")

    def question(self, row: QuestionCandidate, names: Verbalizer) -> str:
        """What is asked, and whose neighbour."""
        subject, thing = map(names.name, row.items)
        return f"{names.ask(row.relations[0], subject)} directly {row.wording} {thing}?"
