"""Families of questions that compare, measure or count terms: order, overlap, duration, count."""

import ibis
import ibis.expr.types as ir

from factdrift.reasoning.families.base import (
    DAY,
    Family,
    Scope,
    array,
    candidate,
    event_starts,
    seeded_number,
)
from factdrift.reasoning.states import INTERIM, PAIR, Knowledge

_TERM = ("object", "start_first", "start_last", "end_first", "end_last", "statements")


def _couples(terms: ir.Table, seed: int) -> ir.Table:
    """Pair each term with terms of the same relation that began soon after it.

    The two have different subjects and objects. The columns of the second term have the prefix
    `o_`. `turned` is a draw: whether the second term is named first.
    """
    start_order = ibis.window(group_by="relation", order_by=["start_last", "subject", "object"])
    couples = []
    # The next term, one near it and one further away: pairs that are hard and pairs that are easy.
    for row_distance in (1, 5, 30):
        other_columns = {
            f"o_{column}": terms[column].lead(row_distance).over(start_order)
            for column in ("subject", "closed", *_TERM)
        }
        couples.append(terms.mutate(**other_columns))
    term_pairs = ibis.union(*couples)
    term_pairs = term_pairs.filter(
        (term_pairs.subject != term_pairs.o_subject) & (term_pairs.object != term_pairs.o_object)
    )
    term_pairs = term_pairs.filter(
        (term_pairs.subject != term_pairs.o_object) & (term_pairs.object != term_pairs.o_subject)
    )
    drawn_number = seeded_number(
        seed, term_pairs.subject, term_pairs.object, term_pairs.o_subject, term_pairs.o_object
    )
    return term_pairs.mutate(turned=drawn_number % 2 == 1)


def _compared(term_pairs: ir.Table, family: str, answer_yes: ir.BooleanValue) -> ir.Table:
    first_items, second_items = (
        array(term_pairs.subject, term_pairs.object),
        array(term_pairs.o_subject, term_pairs.o_object),
    )
    return candidate(
        term_pairs,
        family,
        subject=ibis.ifelse(term_pairs.turned, term_pairs.o_subject, term_pairs.subject),
        items=ibis.ifelse(
            term_pairs.turned, second_items.concat(first_items), first_items.concat(second_items)
        ),
        relations=array(term_pairs.relation, term_pairs.relation),
        as_of=ibis.greatest(term_pairs.start_last, term_pairs.o_start_last),
        answer=ibis.ifelse(answer_yes, "yes", "no"),
        statements=term_pairs.statements.concat(term_pairs.o_statements),
        changed=ibis.greatest(term_pairs.start_last, term_pairs.o_start_last),
    )


def _orders(knowledge: Knowledge, scope: Scope) -> ir.Table:
    """Ask about two starts whose order is certain."""
    term_pairs = _couples(scope.with_phrase(event_starts(knowledge, scope), "did"), knowledge.seed)
    term_pairs = term_pairs.filter(term_pairs.start_last < term_pairs.o_start_first)
    return _compared(term_pairs, "order", ~term_pairs.turned)


def _overlaps(knowledge: Knowledge, scope: Scope) -> ir.Table:
    """Ask about two terms that surely share a day, or surely do not; at least one has ended."""
    term_pairs = _couples(
        scope.with_phrase(event_starts(knowledge, scope), "was"), knowledge.seed + 1
    )
    surely_overlap = ibis.greatest(term_pairs.start_last, term_pairs.o_start_last) <= ibis.least(
        term_pairs.end_first, term_pairs.o_end_first
    )
    surely_apart = (term_pairs.end_last < term_pairs.o_start_first) | (
        term_pairs.o_end_last < term_pairs.start_first
    )
    term_pairs = term_pairs.mutate(yes=surely_overlap).filter(
        (surely_overlap | surely_apart) & (term_pairs.closed | term_pairs.o_closed)
    )
    return _compared(term_pairs, "overlap", term_pairs.yes)


def _years(start_day: ir.DateColumn, end_day: ir.DateColumn) -> ir.IntegerValue:
    """Return the number of full years from one day to another."""
    before_anniversary = (end_day.month() * 100 + end_day.day()) < (
        start_day.month() * 100 + start_day.day()
    )
    return (end_day.year() - start_day.year()).cast("int64") - before_anniversary.cast("int64")


def _durations(knowledge: Knowledge, scope: Scope) -> ir.Table:
    """Ask for the full years of closed terms, and which of two closed terms is the longer one.

    For some people a year is full on its anniversary, for others on the day before. Only terms that
    have the same number of years under both readings are asked about.
    """
    terms = knowledge.terms.filter(knowledge.terms.closed & knowledge.terms.once)
    terms = terms.filter((terms.start_first >= scope.first) & (terms.end_last <= scope.last))
    terms = scope.with_phrase(terms, "long")
    return _lengths(terms).union(_longer(terms, knowledge))


def _lengths(terms: ir.Table) -> ir.Table:
    terms = terms.mutate(
        least=_years(terms.start_last, terms.end_first),
        most=_years(terms.start_first, (terms.end_last + DAY).cast("date")),
    )
    terms = terms.filter(
        (terms.least == terms.most)
        & (terms.least > 0)
        & (terms.start_first.year() == terms.start_last.year())
    )
    return candidate(
        terms,
        "duration",
        wording="years",
        items=array(terms.subject, terms.object),
        since=terms.start_last,
        as_of=terms.end_last,
        answer=terms.least.cast("string"),
        changed=terms.end_last,
    )


def _longer(term_pairs: ir.Table, knowledge: Knowledge) -> ir.Table:
    start_order = ibis.window(group_by=PAIR, order_by=["start_first", "object"])
    term_pairs = term_pairs.mutate(
        **{f"o_{column}": term_pairs[column].lead().over(start_order) for column in _TERM}
    )
    term_pairs = term_pairs.filter(term_pairs.o_object.notnull()).join(knowledge.shortcuts, PAIR)
    least_days, most_days, other_least, other_most = (
        term_pairs[f"{prefix}end_{end_bound}"].delta(
            term_pairs[f"{prefix}start_{start_bound}"], unit="day"
        )
        for prefix in ("", "o_")
        for start_bound, end_bound in (("last", "first"), ("first", "last"))
    )
    turned = (
        seeded_number(knowledge.seed, term_pairs.subject, term_pairs.object, term_pairs.o_object)
        % 2
        == 1
    )
    object_pair = ibis.ifelse(
        turned,
        array(term_pairs.o_object, term_pairs.object),
        array(term_pairs.object, term_pairs.o_object),
    )
    term_pairs = term_pairs.mutate(
        longer=least_days > other_most, shorter=other_least > most_days, both=object_pair
    )
    term_pairs = term_pairs.filter(term_pairs.longer | term_pairs.shorter)
    return candidate(
        term_pairs,
        "duration",
        wording="longer",
        items=array(term_pairs.subject).concat(term_pairs.both),
        as_of=ibis.greatest(term_pairs.end_last, term_pairs.o_end_last),
        answers=array(ibis.ifelse(term_pairs.longer, term_pairs.object, term_pairs.o_object)),
        statements=term_pairs.statements.concat(term_pairs.o_statements),
        others=term_pairs.both,
        changed=ibis.greatest(term_pairs.start_last, term_pairs.o_start_last),
    )


def _counts(knowledge: Knowledge, scope: Scope) -> ir.Table:
    """Ask for the number of holders in windows of years where it is certain.

    In such a window as many objects surely held as may have held. Somebody holds on its first day,
    no term begins long after all earlier ones have ended, and no term is as short as an interim.
    Otherwise the source may lack a holder, or people may not count an interim holder.
    """
    terms = scope.with_phrase(knowledge.terms, "count")
    year_range = scope.last.year - scope.first.year - 4
    drawn_number = seeded_number(knowledge.seed, terms.subject, terms.relation)
    first_year = scope.first.year + drawn_number % max(year_range, 1)
    # Windows of four to eleven years. Shorter ones mostly have a single holder.
    last_year = ibis.least(
        first_year + 3 + drawn_number // 7 % 8, ibis.literal(scope.last.year - 1)
    )
    terms = terms.mutate(
        low=ibis.date(first_year.cast("int32"), ibis.literal(1), ibis.literal(1)),
        high=ibis.date(last_year.cast("int32"), ibis.literal(12), ibis.literal(31)),
    )
    terms = terms.mutate(
        surely=(terms.start_last <= terms.high) & (terms.end_first >= terms.low),
        maybe=(terms.start_first <= terms.high) & (terms.end_last >= terms.low),
    )
    all_before = ibis.window(group_by=PAIR, order_by=["start_first", "object"], rows=(None, -1))
    covered_until = ibis.greatest(terms.end_first.max().over(all_before), terms.low).fill_null(
        terms.low
    )
    terms = terms.mutate(hole=terms.start_last.delta(covered_until, unit="day") > INTERIM)
    windows = terms.filter(terms.maybe).group_by([*PAIR, "low", "high"]).agg(
        sure=terms.object.nunique(where=terms.surely),
        most=terms.object.nunique(),
        whole=(terms.lasting & ~terms.hole).all() & (terms.start_last <= terms.low).any(),
        reached=terms.end_first.max(),
        statements=terms.statements.collect(),
        changed=terms.start_last.max(),
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
