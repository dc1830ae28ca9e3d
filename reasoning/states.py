"""Cut timelines into stretches of days on which it is certain what holds."""

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
    TimeWindow,
    with_calendar_ends,
)

PAIR = ["subject", "relation"]
# A quarter, as for timelines, which take two holders for co-holders from this overlap on.
INTERIM = 92
"""Days. A shorter term may be that of an interim holder; a longer gap may hide such a holder."""
# A guess: recipes ask about days long after it, and few dates of the sources are older.
EARLY = date(1900, 1, 1)
"""The first day of the stretches."""
# A guess with much room: joins within a pair grow with the square of its segments.
_MOST_SEGMENTS = 400


class Knowledge(NamedTuple):
    """The tables from which families make their questions, and the seed of their draws.

    - `states` has one row for each stretch of days on which the objects of a subject and relation
      are known and do not change. It lasts from `first` to `last`; `objects` are sorted, and
      `since` is the last possible day on which one of them began.
    - `terms` are the segments of pairs without gaps and rivals; unknown boundaries are the ends of
      the calendar. `once` says that the object has no other segment, `closed` that its end is
      stated, and `lasting` that it surely held for at least `INTERIM` days.
    - `shortcuts` has the `newest` and the `longest` object of each pair, and in `others` all its
      objects.
    - `links` has the couples of pairs that share something (see `reasoning.links`).
    """

    states: ir.Table
    terms: ir.Table
    shortcuts: ir.Table
    seed: int
    links: ir.Table | None = None


def build_knowledge(
    eng: Engine,
    segments: ir.Table,
    gaps: ir.Table,
    last: date,
    seed: int,
    most_segments: int = _MOST_SEGMENTS,
) -> Knowledge:
    """Make the tables for the days from `EARLY` to `last`.

    `segments` and `gaps` are rows of `rows.Segment` and `rows.Gap`. Pairs with more than
    `most_segments` of both are left out, for each stretch of a pair is joined with all of them.
    """
    pair_sizes = (
        segments.select(*PAIR).union(gaps.select(*PAIR)).group_by(PAIR).agg(n=ibis._.count())
    )
    small_pairs = pair_sizes.filter(pair_sizes.n <= most_segments)
    segments = segments.semi_join(small_pairs, PAIR).select(segments.columns)
    gaps = gaps.semi_join(small_pairs, PAIR).select(gaps.columns)
    return Knowledge(
        eng.keep(certain_stretches(segments, gaps, EARLY, last)),
        eng.keep(certain_terms(segments, gaps)),
        eng.keep(shortcut_objects(segments)),
        seed,
    )


def certain_stretches(segments: ir.Table, gaps: ir.Table, first: date, last: date) -> ir.Table:
    """Return the stretches of days on which every object of a pair surely holds or surely does not.

    A segment surely holds from `start_last` to `end_first`, unless it is a rival, and may hold from
    `start_first` to `end_last`. The object of a gap may hold, but never surely.
    """
    interval_columns = [*PAIR, "object", "start_first", "start_last", "end_first", "end_last"]
    all_intervals = segments.select(*interval_columns, "statements", sure=~segments.rival)
    no_statements = ibis.literal([], type=segments.schema()["statements"])
    gap_intervals = gaps.select(
        *interval_columns, statements=no_statements, sure=ibis.literal(False)
    )
    all_intervals = all_intervals.cast({"object": "string"}).union(
        gap_intervals.select(all_intervals.columns)
    )
    first_day, last_day = ibis.literal(first), ibis.literal(last)
    one_day = ibis.interval(days=1)
    outside = ((first_day - one_day).cast("date"), (last_day + one_day).cast("date"))
    held_days = IntervalColumns.of(all_intervals, doubtful=~all_intervals.sure).ranges(
        TimeWindow(first_day, last_day, *outside)
    )
    intervals = all_intervals.select(
        *PAIR,
        "object",
        "statements",
        since="start_last",
        from_=held_days.first,
        to=held_days.last,
        sure_from=held_days.certain_first,
        sure_to=held_days.certain_last,
    )
    intervals = intervals.filter(intervals.from_ <= intervals.to)
    # What holds can only change on the days on which something begins, or after it ends.
    change_days = [intervals.from_, (intervals.to + one_day).cast("date")]
    change_days += [intervals.sure_from, (intervals.sure_to + one_day).cast("date")]
    stretches = intervals.select(*PAIR, first=ibis.array(change_days).unnest()).distinct()
    stretches = stretches.filter(stretches.first.between(first_day, last_day))
    next_first = stretches.first.lead().over(ibis.window(group_by=PAIR, order_by=stretches.first))
    stretches = stretches.mutate(
        last=ibis.ifelse(next_first.isnull(), last_day, (next_first - one_day).cast("date"))
    )
    held_intervals = stretches.join(intervals, PAIR)
    held_intervals = held_intervals.filter(
        (held_intervals.from_ <= held_intervals.first) & (held_intervals.to >= held_intervals.last)
    )
    surely_held = (held_intervals.sure_from <= held_intervals.first) & (
        held_intervals.sure_to >= held_intervals.last
    )
    held_intervals = held_intervals.mutate(surely=surely_held)
    object_stretches = held_intervals.group_by([*PAIR, "first", "last", "object"]).agg(
        surely=held_intervals.surely.any(),
        since=held_intervals.since.max(where=held_intervals.surely),
        statements=held_intervals.statements.collect(where=held_intervals.surely),
    )
    pair_stretches = object_stretches.group_by([*PAIR, "first", "last"]).agg(
        clear=object_stretches.surely.all() & object_stretches.object.notnull().all(),
        objects=object_stretches.object.collect(),
        since=object_stretches.since.max(),
        statements=object_stretches.statements.collect(),
    )
    pair_stretches = pair_stretches.filter(pair_stretches.clear)
    return pair_stretches.select(
        *PAIR,
        "first",
        "last",
        "since",
        objects=pair_stretches.objects.sort(),
        statements=pair_stretches.statements.flatten().flatten().unique().sort(),
    )


def certain_terms(segments: ir.Table, gaps: ir.Table) -> ir.Table:
    """Return the segments of pairs without gaps and without rivals (segments that may never hold).

    `closed`: its end is stated. `once`: its object has no other segment in the pair. `lasting`: it
    surely held for `INTERIM` or longer.
    """
    unsure_pairs = segments.filter(segments.rival).select(*PAIR).union(gaps.select(*PAIR))
    sure_segments = segments.anti_join(unsure_pairs, PAIR).select(segments.columns)
    of_object = ibis.window(group_by=[*PAIR, "object"])
    # Unknown days become the last day of the calendar. Without a known end a segment has no known
    # start either, so its length is 0, and it is not `lasting`.
    ends, starts = (sure_segments[name].fill_null(LAST_DAY) for name in ("end_first", "start_last"))
    sure_segments = with_calendar_ends(
        sure_segments.mutate(lasting=ends.delta(starts, unit="day") >= INTERIM)
    )
    return sure_segments.select(
        *PAIR,
        "object",
        "statements",
        *DATES,
        closed=~sure_segments.end_open & ~sure_segments.end_inferred,
        once=sure_segments.count().over(of_object) == 1,
        lasting="lasting",
    )


def shortcut_objects(segments: ir.Table) -> ir.Table:
    """Return for each pair the object that began last and the one that held longest."""
    # What began on an unknown day is the oldest, and what ended on one is the longest.
    begin_day = segments.start_last.fill_null(FIRST_DAY)
    end_day = segments.end_first.fill_null(LAST_DAY)
    held_days = end_day.delta(begin_day, unit="day")
    segments = segments.mutate(begun=begin_day, days=held_days)
    newest_first = ibis.window(group_by=PAIR, order_by=[ibis.desc("begun"), "object"])
    longest_first = ibis.window(group_by=PAIR, order_by=[ibis.desc("days"), "object"])
    ranked = segments.mutate(
        newest=ibis.row_number().over(newest_first), longest=ibis.row_number().over(longest_first)
    )
    return ranked.group_by(PAIR).agg(
        newest=ranked.object.max(where=ranked.newest == 0),
        longest=ranked.object.max(where=ranked.longest == 0),
        others=ranked.object.collect(distinct=True).sort(),
    )


def without_covered_pairs(segments: ir.Table) -> ir.Table:
    """Leave out pairs of a property where a relation that holds part of it has the subject, too.

    So clubs are asked about as clubs where the dump says what is a club, else as teams.
    """
    segments = segments.mutate(property=segments.relation.re_extract(r"^P\d+", 0))
    is_part = segments.relation != segments.property
    of_parts = segments.filter(is_part).select("subject", "property").distinct()
    whole_pairs = segments.filter(~is_part).anti_join(of_parts, ["subject", "property"])
    return segments.filter(is_part).union(whole_pairs.select(segments.columns)).drop("property")
