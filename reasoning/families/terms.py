"""Families that compare, measure or count terms: order, overlap, duration and count."""

import ibis
import ibis.expr.types as ir

from factdrift.reasoning.families.base import (
    DAY,
    Family,
    Scope,
    array,
    candidate,
    seeded_number,
    starts,
)
from factdrift.reasoning.states import INTERIM, PAIR, Knowledge

_TERM = ("object", "start_first", "start_last", "end_first", "end_last", "statements")


def _couples(terms: ir.Table, seed: int) -> ir.Table:
    """Terms of one relation beside another that began soon after, of another subject and object.

    The columns of the other have the prefix `o_`; `turned` is drawn: which one is named first.
    """
    by = ibis.window(group_by="relation", order_by=["start_last", "subject", "object"])
    couples = []
    for step in (1, 5, 30):
        others = {
            f"o_{name}": terms[name].lead(step).over(by) for name in ("subject", "closed", *_TERM)
        }
        couples.append(terms.mutate(**others))
    both = ibis.union(*couples)
    both = both.filter((both.subject != both.o_subject) & (both.object != both.o_object))
    both = both.filter((both.subject != both.o_object) & (both.object != both.o_subject))
    drawn = seeded_number(seed, both.subject, both.object, both.o_subject, both.o_object)
    return both.mutate(turned=drawn % 2 == 1)


def _compared(both: ir.Table, family: str, yes: ir.BooleanValue) -> ir.Table:
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


def _orders(known: Knowledge, scope: Scope) -> ir.Table:
    """Two starts whose order is sure."""
    both = _couples(scope.of(starts(known, scope), "did"), known.seed)
    both = both.filter(both.start_last < both.o_start_first)
    return _compared(both, "order", ~both.turned)


def _overlaps(known: Knowledge, scope: Scope) -> ir.Table:
    """Two terms that surely share a day, or surely do not; one at least has ended."""
    both = _couples(scope.of(starts(known, scope), "was"), known.seed + 1)
    yes = ibis.greatest(both.start_last, both.o_start_last) <= ibis.least(
        both.end_first, both.o_end_first
    )
    no = (both.end_last < both.o_start_first) | (both.o_end_last < both.start_first)
    both = both.mutate(yes=yes).filter((yes | no) & (both.closed | both.o_closed))
    return _compared(both, "overlap", both.yes)


def _years(start: ir.DateColumn, end: ir.DateColumn) -> ir.IntegerValue:
    """Full years from a day to another one."""
    early = (end.month() * 100 + end.day()) < (start.month() * 100 + start.day())
    return (end.year() - start.year()).cast("int64") - early.cast("int64")


def _durations(known: Knowledge, scope: Scope) -> ir.Table:
    """Closed terms whose length has one number of years, or is surely that of the longer.

    A year is full on the day before its anniversary for some people and on it for others: asked is
    what both count alike.
    """
    t = known.terms.filter(known.terms.closed & known.terms.once)
    t = t.filter((t.start_first >= scope.first) & (t.end_last <= scope.last))
    t = scope.of(t, "long")
    return _lengths(t).union(_longer(t, known))


def _lengths(t: ir.Table) -> ir.Table:
    t = t.mutate(
        least=_years(t.start_last, t.end_first),
        most=_years(t.start_first, (t.end_last + DAY).cast("date")),
    )
    t = t.filter(
        (t.least == t.most) & (t.least > 0) & (t.start_first.year() == t.start_last.year())
    )
    return candidate(
        t,
        "duration",
        wording="years",
        items=array(t.subject, t.object),
        since=t.start_last,
        as_of=t.end_last,
        answer=t.least.cast("string"),
        changed=t.end_last,
    )


def _longer(t: ir.Table, known: Knowledge) -> ir.Table:
    by = ibis.window(group_by=PAIR, order_by=["start_first", "object"])
    t = t.mutate(**{f"o_{name}": t[name].lead().over(by) for name in _TERM})
    t = t.filter(t.o_object.notnull()).join(known.shortcuts, PAIR)
    least, most, o_least, o_most = (
        t[f"{of}end_{end}"].delta(t[f"{of}start_{start}"], unit="day")
        for of in ("", "o_")
        for start, end in (("last", "first"), ("first", "last"))
    )
    turned = seeded_number(known.seed, t.subject, t.object, t.o_object) % 2 == 1
    pair = ibis.ifelse(turned, array(t.o_object, t.object), array(t.object, t.o_object))
    t = t.mutate(longer=least > o_most, shorter=o_least > most, both=pair)
    t = t.filter(t.longer | t.shorter)
    return candidate(
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


def _counts(known: Knowledge, scope: Scope) -> ir.Table:
    """Windows of years in which as many objects surely held as may have held, without holes.

    Somebody holds on the first day, and nobody begins long after all before have ended, nor for
    short: else the source may lack somebody, or some may not count an interim holder.
    """
    t = scope.of(known.terms, "count")
    span = scope.last.year - scope.first.year - 4
    drawn = seeded_number(known.seed, t.subject, t.relation)
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
    t = t.mutate(hole=t.start_last.delta(reached, unit="day") > INTERIM)
    found = t.filter(t.maybe).group_by([*PAIR, "low", "high"]).agg(
        sure=t.object.nunique(where=t.surely),
        most=t.object.nunique(),
        whole=(t.lasting & ~t.hole).all() & (t.start_last <= t.low).any(),
        reached=t.end_first.max(),
        statements=t.statements.collect(),
        changed=t.start_last.max(),
    )  # fmt: skip
    found = found.filter(found.whole & (found.reached >= found.high))
    found = found.filter((found.sure == found.most) & (found.most > 1))
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


ORDER = Family(_orders, {"order": "{did 0 0 1} before {event 1 2 3}?"})
OVERLAP = Family(_overlaps, {"overlap": "Was there a time when {was 0 0 1} and {was 1 2 3}?"})
DURATION = Family(
    _durations,
    {
        "years": "{long 0 0 1} from {year} on?",
        "longer": "{Ask 0 0} for longer: {name 1} or {name 2}?",
    },
)
COUNT = Family(_counts, {"window": "{Count 0 0} at any point from {months}?"})
