"""What surely holds on each day: timelines cut into stretches of days without any doubt."""

from datetime import date
from typing import NamedTuple

import ibis
import ibis.expr.types as ir

from factdrift.builders.core.engine import Engine
from factdrift.builders.facts.intervals import (
    DATES,
    FIRST_DAY,
    LAST_DAY,
    IntervalColumns,
    Window,
    with_calendar_ends,
)

PAIR = ["subject", "relation"]
INTERIM = 92
"""Days: an interim holder holds for less, and may stand between two holders further apart."""
EARLY = date(1900, 1, 1)


class Knowledge(NamedTuple):
    """The tables that families are written over; `seed` is what their draws derive from.

    `states`: a row a stretch of days in which what holds of (subject, relation) is known and does
    not change: `first` to `last`, `objects` (sorted), `statements`, `since` (the last possible day
    on which one of them began). `terms`: the segments of pairs without gaps and rivals, unknown
    boundaries as the ends of the calendar; `once`: the object has no other one; `closed`: its end
    is stated; `lasting`: it surely held for longer than an interim. `shortcuts`: the `newest` and
    the `longest` object of each pair, and all `others`.
    """

    states: ir.Table
    terms: ir.Table
    shortcuts: ir.Table
    seed: int


def knowledge(
    eng: Engine, segments: ir.Table, gaps: ir.Table, last: date, seed: int, most: int = 400
) -> Knowledge:
    """The tables for the days up to `last`, kept.

    `segments`, `gaps`: `rows.Segment`, `rows.Gap`. Pairs of more than `most` segments and gaps are
    left out, for a pair's stretches are met with all of them.
    """
    sizes = segments.select(*PAIR).union(gaps.select(*PAIR)).group_by(PAIR).agg(n=ibis._.count())
    few = sizes.filter(sizes.n <= most)
    segments = segments.semi_join(few, PAIR).select(segments.columns)
    gaps = gaps.semi_join(few, PAIR).select(gaps.columns)
    return Knowledge(
        eng.keep(states(segments, gaps, EARLY, last)),
        eng.keep(terms(segments, gaps)),
        eng.keep(shortcuts(segments)),
        seed,
    )


def states(segments: ir.Table, gaps: ir.Table, first: date, last: date) -> ir.Table:
    """The stretches of days in which every object of a pair holds surely or surely does not.

    A segment surely holds from `start_last` to `end_first`, unless it is a rival, and may hold
    from `start_first` to `end_last`; a gap may hold only.
    """
    columns = [*PAIR, "object", "start_first", "start_last", "end_first", "end_last"]
    stated = segments.select(*columns, "statements", sure=~segments.rival)
    none = ibis.literal([], type=segments.schema()["statements"])
    maybe = gaps.select(*columns, statements=none, sure=ibis.literal(False))
    stated = stated.cast({"object": "string"}).union(maybe.select(stated.columns))
    low, high = ibis.literal(first), ibis.literal(last)
    day = ibis.interval(days=1)
    outside = ((low - day).cast("date"), (high + day).cast("date"))
    held_days = IntervalColumns.of(stated, doubtful=~stated.sure).ranges(
        Window(low, high, *outside)
    )
    met = stated.select(
        *PAIR,
        "object",
        "statements",
        since="start_last",
        from_=held_days.first,
        to=held_days.last,
        sure_from=held_days.certain_first,
        sure_to=held_days.certain_last,
    )
    met = met.filter(met.from_ <= met.to)
    cuts = [met.from_, (met.to + day).cast("date")]
    cuts += [met.sure_from, (met.sure_to + day).cast("date")]
    cut = met.select(*PAIR, first=ibis.array(cuts).unnest()).distinct()
    cut = cut.filter(cut.first.between(low, high))
    following = cut.first.lead().over(ibis.window(group_by=PAIR, order_by=cut.first))
    cut = cut.mutate(last=ibis.ifelse(following.isnull(), high, (following - day).cast("date")))
    held = cut.join(met, PAIR)
    held = held.filter((held.from_ <= held.first) & (held.to >= held.last))
    surely = (held.sure_from <= held.first) & (held.sure_to >= held.last)
    held = held.mutate(surely=surely)
    each = held.group_by([*PAIR, "first", "last", "object"]).agg(
        surely=held.surely.any(),
        since=held.since.max(where=held.surely),
        statements=held.statements.collect(where=held.surely),
    )
    found = each.group_by([*PAIR, "first", "last"]).agg(
        clear=each.surely.all() & each.object.notnull().all(),
        objects=each.object.collect(),
        since=each.since.max(),
        statements=each.statements.collect(),
    )
    found = found.filter(found.clear)
    return found.select(
        *PAIR,
        "first",
        "last",
        "since",
        objects=found.objects.sort(),
        statements=found.statements.flatten().flatten().unique().sort(),
    )


def terms(segments: ir.Table, gaps: ir.Table) -> ir.Table:
    """The segments of pairs that have neither gaps nor rivals."""
    unsure = segments.filter(segments.rival).select(*PAIR).union(gaps.select(*PAIR))
    sure = segments.anti_join(unsure, PAIR).select(segments.columns)
    of_object = ibis.window(group_by=[*PAIR, "object"])
    # An end of which nothing is known counts as late here; its start is then unknown as well.
    ends, starts = (sure[name].fill_null(LAST_DAY) for name in ("end_first", "start_last"))
    sure = with_calendar_ends(sure.mutate(lasting=ends.delta(starts, unit="day") >= INTERIM))
    return sure.select(
        *PAIR,
        "object",
        "statements",
        *DATES,
        closed=~sure.end_open & ~sure.end_inferred,
        once=sure.count().over(of_object) == 1,
        lasting="lasting",
    )


def shortcuts(segments: ir.Table) -> ir.Table:
    """Of each pair the object that began last and the one that held longest."""
    # What began on an unknown day is the oldest, and what ended on one is the longest.
    begun = segments.start_last.fill_null(FIRST_DAY)
    ended = segments.end_first.fill_null(LAST_DAY)
    days = ended.delta(begun, unit="day")
    segments = segments.mutate(begun=begun, days=days)
    newest = ibis.window(group_by=PAIR, order_by=[ibis.desc("begun"), "object"])
    longest = ibis.window(group_by=PAIR, order_by=[ibis.desc("days"), "object"])
    placed = segments.mutate(
        newest=ibis.row_number().over(newest), longest=ibis.row_number().over(longest)
    )
    return placed.group_by(PAIR).agg(
        newest=placed.object.max(where=placed.newest == 0),
        longest=placed.object.max(where=placed.longest == 0),
        others=placed.object.collect(distinct=True).sort(),
    )
