"""Put two terms of an exclusive relation in doubt on the days on which they overlap shortly.

If the stated terms of two objects of an exclusive relation surely overlap for less than
`terms.LONG_OVERLAP` days, a date is wrong or somebody stood in. Nobody knows which of the two held
on these days. So the end of the earlier term and the start of the later one become uncertain: they
lie before, on or after these days. A term inside another one cuts that in two, and becomes a rival,
which held perhaps and surely never. If one term ends on the day on which the other begins, they do
not overlap.
"""

import ibis
import ibis.expr.types as ir

from factdrift.builders.core.engine import Engine
from factdrift.builders.facts.terms import LONG_OVERLAP, OBJECTS_OF_PAIR

_PAIR = list(OBJECTS_OF_PAIR.columns)


def with_short_overlaps(engine: Engine, items: ir.Table) -> ir.Table:
    """Return the items with uncertain boundaries around the days on which two terms overlap.

    `items` have the columns of `terms.with_terms`; `term_ends` is null in all items that are no
    term of a relation with one object at a time. Both are left out of the result.
    """
    other_items = items.filter(items.term_ends.isnull()).drop("term_ends", "term_open")
    terms = items.filter(items.term_ends.notnull())
    columns = terms.columns
    terms = engine.keep(terms.mutate(number=ibis.row_number().over(ibis.window(order_by=columns))))
    laps = engine.keep(_laps(terms))
    cut_terms = terms.filter(~terms.rival).semi_join(laps, "number")
    whole_terms = terms.anti_join(cut_terms, "number")
    return other_items.union(
        whole_terms.select(other_items.columns),
        _pieces(cut_terms, laps).select(other_items.columns),
    )


def _laps(terms: ir.Table) -> ir.Table:
    """The stretches of days on which each term overlaps others: `number`, `lap_first`, `lap_last`.

    Stretches that touch are joined.
    """
    sides = terms.select(
        *_PAIR, "object", "number", "term_open", begins="start_last", ends="term_ends"
    )
    others = sides.select(
        *_PAIR, other="object", other_open="term_open", other_begins="begins", other_ends="ends"
    ).distinct()
    both = sides.join(
        others,
        [
            *_PAIR,
            sides.object != others.other,
            ~(sides.term_open & others.other_open),
            sides.ends > others.other_begins,
            others.other_ends > sides.begins,
        ],
    )
    both = both.select(
        "number",
        lap_first=ibis.greatest(both.begins, both.other_begins),
        lap_last=ibis.least(both.ends, both.other_ends),
    ).distinct()
    days = both.lap_last.delta(both.lap_first, unit="day") + 1
    both = both.filter(days.between(1, LONG_OVERLAP - 1))
    in_order = ["lap_first", "lap_last"]
    before = ibis.window(group_by="number", order_by=in_order, rows=(None, -1))
    both = both.mutate(reached=both.lap_last.max().over(before))
    is_apart = both.reached.isnull() | (both.lap_first.delta(both.reached, unit="day") > 1)
    both = both.mutate(apart=is_apart.cast("int64"))
    so_far = ibis.window(group_by="number", order_by=in_order, rows=(None, 0))
    both = both.mutate(stretch=both.apart.sum().over(so_far))
    stretches = both.group_by(["number", "stretch"]).agg(
        lap_first=both.lap_first.min(), lap_last=both.lap_last.max()
    )
    return stretches.drop("stretch")


def _pieces(terms: ir.Table, laps: ir.Table) -> ir.Table:
    """The terms, cut where they overlap others; one that overlaps them on all days is a rival."""
    one_day = ibis.interval(days=1)
    terms = terms.mutate(surely_from=terms.start_last, surely_until=terms.end_first)
    laps = laps.join(terms.select("number", "surely_from", "surely_until"), "number")
    by_day = ibis.window(group_by="number", order_by="lap_first")
    day_after = (laps.lap_last + one_day).cast("date")
    laps = laps.mutate(day_after=day_after, day_before=(laps.lap_first - one_day).cast("date"))
    laps = laps.mutate(
        resumes=laps.day_after.lag().over(by_day).fill_null(laps.surely_from),
        is_last=laps.lap_first.lead().over(by_day).isnull(),
    )
    last_laps = laps.filter(laps.is_last)
    sure_parts = laps.select("number", begins="resumes", ends="day_before").union(
        last_laps.select("number", begins="day_after", ends="surely_until")
    )
    sure_parts = sure_parts.filter(sure_parts.begins <= sure_parts.ends)
    by_begin = ibis.window(group_by="number", order_by="begins")
    sure_parts = sure_parts.mutate(
        ends_before=sure_parts.ends.lag().over(by_begin),
        begins_after=sure_parts.begins.lead().over(by_begin),
    )
    pieces = terms.left_join(sure_parts, "number")
    is_cut = pieces.begins.notnull()
    ends_inside = pieces.begins_after.notnull()
    return pieces.mutate(
        start_first=(pieces.ends_before + one_day).cast("date").fill_null(pieces.start_first),
        start_last=pieces.begins.fill_null(pieces.start_last),
        end_first=pieces.ends.fill_null(pieces.end_first),
        end_last=(pieces.begins_after - one_day).cast("date").fill_null(pieces.end_last),
        end_open=pieces.end_open & ~ends_inside,
        end_inferred=pieces.end_inferred | ends_inside,
        rival=~is_cut,
    )
