"""Order and overlap: which of two came first, and whether two held at the same time."""

import ibis
import ibis.expr.types as ir

from factdrift.reasoning.families.base import Scope, array, candidate, draw, starts
from factdrift.reasoning.names import Verbalizer
from factdrift.reasoning.rows import QuestionCandidate
from factdrift.reasoning.states import Knowledge

_COPIED = ("subject", "object", "start_first", "start_last", "end_first", "end_last", "statements")


def _couples(terms: ir.Table, seed: int) -> ir.Table:
    """Terms of one relation beside another that began soon after, of another subject and object.

    The columns of the other have the prefix `o_`; `turned` is drawn: which one is named first.
    """
    by = ibis.window(group_by="relation", order_by=["start_last", "subject", "object"])
    couples = []
    for step in (1, 5, 30):
        others = {f"o_{name}": terms[name].lead(step).over(by) for name in _COPIED}
        couples.append(terms.mutate(**others))
    both = ibis.union(*couples)
    both = both.filter((both.subject != both.o_subject) & (both.object != both.o_object))
    both = both.filter((both.subject != both.o_object) & (both.object != both.o_subject))
    drawn = draw(seed, both.subject, both.object, both.o_subject, both.o_object)
    return both.mutate(turned=drawn % 2 == 1)


def _made(both: ir.Table, family: str, yes: ir.BooleanValue) -> ir.Table:
    one, other = array(both.subject, both.object), array(both.o_subject, both.o_object)
    return candidate(
        both,
        family,
        subject=ibis.ifelse(both.turned, both.o_subject, both.subject),
        items=ibis.ifelse(both.turned, other.concat(one), one.concat(other)),
        relations=array(both.relation, both.relation),
        as_of=ibis.greatest(both.start_last, both.o_start_last),
        answer=ibis.ifelse(yes, "yes", "no"),
        statements=both.statements.concat(both.o_statements),
        changed=ibis.greatest(both.start_last, both.o_start_last),
    )


class Order:
    """`Did Sanna Marin become the head of government of Finland before …?`"""

    def table(self, known: Knowledge, scope: Scope) -> ir.Table:
        """Two starts whose order is sure."""
        events = starts(known, scope)
        events = events.filter(events.relation.isin(list(scope.having["did"])))
        both = _couples(events, known.seed)
        both = both.filter(both.start_last < both.o_start_first)
        return _made(both, "order", ~both.turned)

    def question(self, row: QuestionCandidate, names: Verbalizer) -> str:
        """The first event as a question, before the second."""
        a, b, c, d = map(names.name, row.items)
        first, second = row.relations
        event = names.phrase("event", second, c, d)
        return f"{names.phrase('did', first, a, b)} before {event}?"


class Overlap:
    """`Was there a time when Klopp was head coach of Liverpool and Arteta that of Arsenal?`"""

    def table(self, known: Knowledge, scope: Scope) -> ir.Table:
        """Two terms that surely share a day, or surely do not; each the only one of its object."""
        t = starts(known, scope)
        t = t.filter(t.relation.isin(list(scope.having["was"])))
        both = _couples(t, known.seed + 1)
        yes = ibis.greatest(both.start_last, both.o_start_last) <= ibis.least(
            both.end_first, both.o_end_first
        )
        no = (both.end_last < both.o_start_first) | (both.o_end_last < both.start_first)
        both = both.mutate(yes=yes)
        return _made(both.filter(yes | no), "overlap", both.filter(yes | no).yes)

    def question(self, row: QuestionCandidate, names: Verbalizer) -> str:
        """Both terms as one time."""
        a, b, c, d = map(names.name, row.items)
        first, second = row.relations
        one, other = names.phrase("was", first, a, b), names.phrase("was", second, c, d)
        return f"Was there a time when {one} and {other}?"
