"""Duration and count: how long something lasted, and how many there were."""

import ibis
import ibis.expr.types as ir

from factdrift.reasoning.families.base import (
    DAY,
    Scope,
    array,
    candidate,
    draw,
    with_shortcuts,
    without,
)
from factdrift.reasoning.names import Verbalizer
from factdrift.reasoning.rows import QuestionCandidate
from factdrift.reasoning.states import PAIR, Knowledge


def _years(start: ir.DateColumn, end: ir.DateColumn) -> ir.IntegerValue:
    """Full years from a day to another one."""
    early = (end.month() * 100 + end.day()) < (start.month() * 100 + start.day())
    return (end.year() - start.year()).cast("int64") - early.cast("int64")


class Duration:
    """`For how many full years was Jürgen Klopp the head coach of Liverpool?`, and who for longer.

    A year is full on the day before its anniversary for some people and on it for others: asked is
    what both count alike.
    """

    def table(self, known: Knowledge, scope: Scope) -> ir.Table:
        """Closed terms whose length has one number of years, or is surely that of the longer."""
        t = known.terms.filter(known.terms.closed & known.terms.once)
        t = t.filter((t.start_first >= scope.first) & (t.end_last <= scope.last))
        return self._number(t, scope).union(self._longer(t, known, scope))

    def _number(self, t: ir.Table, scope: Scope) -> ir.Table:
        t = t.filter(t.relation.isin(list(scope.having["long"])))
        t = t.mutate(
            least=_years(t.start_last, t.end_first),
            most=_years(t.start_first, (t.end_last + DAY).cast("date")),
        )
        t = t.filter((t.least == t.most) & (t.least > 0))
        return candidate(
            t,
            "duration",
            wording="years",
            items=array(t.subject, t.object),
            as_of=t.end_last,
            answer=t.least.cast("string"),
            changed=t.end_last,
        )

    def _longer(self, t: ir.Table, known: Knowledge, scope: Scope) -> ir.Table:
        t = t.filter(t.relation.isin(list(scope.having["ask"])))
        by = ibis.window(group_by=PAIR, order_by=["start_first", "object"])
        names = ("object", "start_first", "start_last", "end_first", "end_last", "statements")
        t = t.mutate(**{f"o_{name}": t[name].lead().over(by) for name in names})
        t = with_shortcuts(t.filter(t.o_object.notnull()), known)
        least, most = (
            t.end_first.delta(t.start_last, unit="day"),
            t.end_last.delta(t.start_first, unit="day"),
        )
        o_least = t.o_end_first.delta(t.o_start_last, unit="day")
        o_most = t.o_end_last.delta(t.o_start_first, unit="day")
        turned = draw(known.seed, t.subject, t.object, t.o_object) % 2 == 1
        pair = ibis.ifelse(turned, array(t.o_object, t.object), array(t.object, t.o_object))
        t = t.mutate(longer=least > o_most, shorter=o_least > most, both=pair)
        t = t.filter(t.longer | t.shorter)
        made = candidate(
            t,
            "duration",
            wording="longer",
            items=array(t.subject).concat(t.both),
            as_of=ibis.greatest(t.end_last, t.o_end_last),
            answers=array(ibis.ifelse(t.longer, t.object, t.o_object)),
            statements=t.statements.concat(t.o_statements),
            others=t.both,
            changed=ibis.greatest(t.start_last, t.o_start_last),
        )
        return without(made, "longest")

    def question(self, row: QuestionCandidate, names: Verbalizer) -> str:
        """How many years, or which of two."""
        (relation,) = row.relations
        if row.wording == "years":
            return f"{names.phrase('long', relation, *map(names.name, row.items))}?"
        subject, one, other = map(names.name, row.items)
        return f"{names.ask(relation, subject)} longer: {one} or {other}?"


class Count:
    """`How many people were head coach of Liverpool at some time from 2010 to 2019?`"""

    def table(self, known: Knowledge, scope: Scope) -> ir.Table:
        """Windows of years in which as many objects surely held as may have held, without holes.

        Somebody holds on the first day, and nobody begins more than a quarter after all before
        have ended: else the source may lack somebody.
        """
        t = known.terms.filter(known.terms.relation.isin(list(scope.having["count"])))
        span = scope.last.year - scope.first.year - 4
        drawn = draw(known.seed, t.subject, t.relation)
        from_ = scope.first.year + drawn % max(span, 1)
        to = ibis.least(from_ + 3 + drawn // 7 % 8, ibis.literal(scope.last.year - 1))
        t = t.mutate(
            low=ibis.date(from_.cast("int32"), ibis.literal(1), ibis.literal(1)),
            high=ibis.date(to.cast("int32"), ibis.literal(12), ibis.literal(31)),
        )
        t = t.mutate(
            surely=(t.start_last <= t.high) & (t.end_first >= t.low),
            maybe=(t.start_first <= t.high) & (t.end_last >= t.low),
        )
        before = ibis.window(group_by=PAIR, order_by=["start_first", "object"], rows=(None, -1))
        reached = ibis.greatest(t.end_first.max().over(before), t.low).fill_null(t.low)
        t = t.mutate(hole=t.start_last.delta(reached, unit="day") > 92)
        found = t.filter(t.maybe).group_by([*PAIR, "low", "high"]).agg(
            sure=t.object.nunique(where=t.surely),
            most=t.object.nunique(),
            whole=~t.hole.any() & (t.start_last <= t.low).any() & (t.end_first >= t.high).any(),
            statements=t.statements.collect(),
            changed=t.start_last.max(),
        )  # fmt: skip
        found = found.filter(found.whole & (found.sure == found.most) & (found.most > 1))
        return candidate(
            found,
            "count",
            wording="window",
            items=array(found.subject),
            since=found.low,
            as_of=found.high,
            answer=found.most.cast("string"),
            statements=found.statements.flatten(),
            changed=found.changed,
        )

    def question(self, row: QuestionCandidate, names: Verbalizer) -> str:
        """How many, and the first and last year."""
        asked = names.phrase("count", row.relations[0], names.name(row.items[0]))
        assert row.since is not None
        first, last = row.since.year, row.as_of.year
        return f"{asked} at some time from January {first} to December {last}?"
