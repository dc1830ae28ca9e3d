"""Chain: on a day, the relation of the object of a relation, two or three hops."""

import ibis
import ibis.expr.types as ir

from factdrift.reasoning.families.base import (
    Scope,
    array,
    at_quarter_end,
    candidate,
    without,
)
from factdrift.reasoning.names import Verbalizer, day_in_words
from factdrift.reasoning.rows import QuestionCandidate
from factdrift.reasoning.states import PAIR, Knowledge


class Chain:
    """`On 30 June 2023, who was the head coach of the team that Jude Bellingham played for?`

    The shortcuts follow the newest object at every hop, or the one that held longest.
    """

    def table(self, known: Knowledge, scope: Scope) -> ir.Table:
        """Stretches joined where the only object of one is the subject of the next."""
        nouns, asks = list(scope.having["noun"]), list(scope.having["ask"])
        s = known.states
        one = s.filter((s.objects.length() == 1) & s.relation.isin(nouns))
        begun = at_quarter_end(one, scope, known.seed, draws=4)
        begun = begun.join(known.shortcuts, PAIR).mutate(middle=ibis._.objects[0])
        path = begun.select(
            "as_of",
            "newest",
            "longest",
            "statements",
            "since",
            start="subject",
            items=array(begun.subject),
            relations=array(begun.relation),
            first_hop="middle",
            middle="middle",
        )
        found = self._last(path, known, asks)
        return found.union(self._last(self._step(path, one, known), known, asks))

    def _joined(self, path: ir.Table, states: ir.Table, known: Knowledge) -> ir.Table:
        """Each path with the stretches of its last object on its day; no relation twice.

        `newest` and `longest` go on from what they were, and are null where they lead nowhere.
        """
        of = states.rename(more="statements", began="since")
        met = path.join(of, [("middle", "subject")]).drop("subject")
        met = met.filter((met.first <= met.as_of) & (met.last >= met.as_of))
        met = met.filter(~met.relations.contains(met.relation))
        for name in ("newest", "longest"):
            short = known.shortcuts.select(
                **{"from_": "subject", "by": "relation", f"next_{name}": name}
            )
            met = met.left_join(short, [(name, "from_"), ("relation", "by")])
            met = met.drop("from_", "by", name)
            met = met.rename({name: f"next_{name}"})
        return met

    def _step(self, path: ir.Table, one: ir.Table, known: Knowledge) -> ir.Table:
        met = self._joined(path, one, known)
        met = met.filter(~met.items.contains(met.objects[0]) & (met.objects[0] != met.first_hop))
        return met.select(
            "as_of",
            "newest",
            "longest",
            "start",
            "items",
            "first_hop",
            relations=met.relations.concat(array(met.relation)),
            statements=met.statements.concat(met.more),
            since=ibis.greatest(met.since, met.began),
            middle=met.objects[0],
        )

    def _last(self, path: ir.Table, known: Knowledge, asks: list[str]) -> ir.Table:
        states = known.states.filter(known.states.relation.isin(asks))
        met = self._joined(path, states, known)
        others = known.shortcuts.select("others", of="subject", by="relation")
        met = met.join(others, [("middle", "of"), ("relation", "by")])
        made = candidate(
            met,
            "chain",
            subject=met.start,
            items=met.items,
            relations=met.relations.concat(array(met.relation)),
            as_of=met.as_of,
            answers=met.objects,
            statements=met.statements.concat(met.more),
            changed=ibis.greatest(met.since, met.began),
        )
        made = made.filter(~made.answers.contains(made.subject))
        return without(made, "newest", "longest", "first_hop")

    def question(self, row: QuestionCandidate, names: Verbalizer) -> str:
        """The last relation asked of a noun phrase that holds the other ones."""
        thing = names.name(row.items[0])
        for relation in row.relations[:-1]:
            thing = names.phrase("noun", relation, thing)
        asked = names.phrase("ask", row.relations[-1], thing)
        return f"On {day_in_words(row.as_of)}, {asked}?"
