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
        other_columns = {
            f"o_{name}": terms[name].lead(step).over(by) for name in ("subject", "closed", *_TERM)
        }
        couples.append(terms.mutate(**other_columns))
    both = ibis.union(*couples)
    both = both.filter((both.subject != both.o_subject) & (both.object != both.o_object))
    both = both.filter((both.subject != both.o_object) & (both.object != both.o_subject))
    drawn = seeded_number(seed, both.subject, both.object, both.o_subject, both.o_object)
    return both.mutate(turned=drawn % 2 == 1)


def _compared(both: ir.Table, family: str, yes: ir.BooleanValue) -> ir.Table:
    first_items, other_items = (
        array(both.subject, both.object),
        array(both.o_subject, both.o_object),
    )
    return candidate(
        both,
        family,
        subject=ibis.ifelse(both.turned, both.o_subject, both.subject),
        items=ibis.ifelse(
            both.turned, other_items.concat(first_items), first_items.concat(other_items)
        ),
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
    term_table = known.terms.filter(known.terms.closed & known.terms.once)
    term_table = term_table.filter(
        (term_table.start_first >= scope.first) & (term_table.end_last <= scope.last)
    )
    term_table = scope.of(term_table, "long")
    return _lengths(term_table).union(_longer(term_table, known))


def _lengths(term_table: ir.Table) -> ir.Table:
    term_table = term_table.mutate(
        least=_years(term_table.start_last, term_table.end_first),
        most=_years(term_table.start_first, (term_table.end_last + DAY).cast("date")),
    )
    term_table = term_table.filter(
        (term_table.least == term_table.most)
        & (term_table.least > 0)
        & (term_table.start_first.year() == term_table.start_last.year())
    )
    return candidate(
        term_table,
        "duration",
        wording="years",
        items=array(term_table.subject, term_table.object),
        since=term_table.start_last,
        as_of=term_table.end_last,
        answer=term_table.least.cast("string"),
        changed=term_table.end_last,
    )


def _longer(term_table: ir.Table, known: Knowledge) -> ir.Table:
    by = ibis.window(group_by=PAIR, order_by=["start_first", "object"])
    term_table = term_table.mutate(
        **{f"o_{name}": term_table[name].lead().over(by) for name in _TERM}
    )
    term_table = term_table.filter(term_table.o_object.notnull()).join(known.shortcuts, PAIR)
    least, most, o_least, o_most = (
        term_table[f"{prefix}end_{end}"].delta(term_table[f"{prefix}start_{start}"], unit="day")
        for prefix in ("", "o_")
        for start, end in (("last", "first"), ("first", "last"))
    )
    turned = (
        seeded_number(known.seed, term_table.subject, term_table.object, term_table.o_object) % 2
        == 1
    )
    pair = ibis.ifelse(
        turned,
        array(term_table.o_object, term_table.object),
        array(term_table.object, term_table.o_object),
    )
    term_table = term_table.mutate(longer=least > o_most, shorter=o_least > most, both=pair)
    term_table = term_table.filter(term_table.longer | term_table.shorter)
    return candidate(
        term_table,
        "duration",
        wording="longer",
        items=array(term_table.subject).concat(term_table.both),
        as_of=ibis.greatest(term_table.end_last, term_table.o_end_last),
        answers=array(ibis.ifelse(term_table.longer, term_table.object, term_table.o_object)),
        statements=term_table.statements.concat(term_table.o_statements),
        others=term_table.both,
        changed=ibis.greatest(term_table.start_last, term_table.o_start_last),
    )


def _counts(known: Knowledge, scope: Scope) -> ir.Table:
    """Windows of years in which as many objects surely held as may have held, without holes.

    Somebody holds on the first day, and nobody begins long after all before have ended, nor for
    short: else the source may lack somebody, or some may not count an interim holder.
    """
    term_table = scope.of(known.terms, "count")
    span = scope.last.year - scope.first.year - 4
    drawn = seeded_number(known.seed, term_table.subject, term_table.relation)
    from_ = scope.first.year + drawn % max(span, 1)
    to = ibis.least(from_ + 3 + drawn // 7 % 8, ibis.literal(scope.last.year - 1))
    term_table = term_table.mutate(
        low=ibis.date(from_.cast("int32"), ibis.literal(1), ibis.literal(1)),
        high=ibis.date(to.cast("int32"), ibis.literal(12), ibis.literal(31)),
    )
    term_table = term_table.mutate(
        surely=(term_table.start_last <= term_table.high)
        & (term_table.end_first >= term_table.low),
        maybe=(term_table.start_first <= term_table.high) & (term_table.end_last >= term_table.low),
    )
    before = ibis.window(group_by=PAIR, order_by=["start_first", "object"], rows=(None, -1))
    reached = ibis.greatest(term_table.end_first.max().over(before), term_table.low).fill_null(
        term_table.low
    )
    term_table = term_table.mutate(hole=term_table.start_last.delta(reached, unit="day") > INTERIM)
    is_covered = term_table.lasting & ~term_table.hole
    windows = term_table.filter(term_table.maybe).group_by([*PAIR, "low", "high"]).agg(
        sure=term_table.object.nunique(where=term_table.surely),
        most=term_table.object.nunique(),
        whole=is_covered.all() & (term_table.start_last <= term_table.low).any(),
        reached=term_table.end_first.max(),
        statements=term_table.statements.collect(),
        changed=term_table.start_last.max(),
    )  # fmt: skip
    windows = windows.filter(windows.whole & (windows.reached >= windows.high))
    windows = windows.filter((windows.sure == windows.most) & (windows.most > 1))
    return candidate(
        windows,
        "count",
        wording="window",
        items=array(windows.subject),
        since=windows.low,
        as_of=windows.high,
        answer=windows.most.cast("string"),
        statements=windows.statements.flatten(),
        changed=windows.changed,
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
