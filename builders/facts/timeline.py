"""Timelines: the dated statements of a dump, turned into segments and gaps with closed ends.

- A *pair* is a subject and a relation, such as (Spain, head of government).
- A *segment* is one stretch of time in which an object of the pair holds.
- A *gap* stands for a statement that makes no segment, because it is undated or contradicts itself:
  its object may have held, but nobody can say when.
- A *sighting* is a fact known only from points in time: it held on that day, and its start and
  end are unknown.
- The *rank* is Wikidata's rank of a statement, `preferred` or `normal`.
- The *lives* of a fact are the days from the beginning to the end of its subject and its object.

Every boundary is an interval of possible days, and null means unknown: `start_first` and
`end_first` null reach back without limit, `start_last` and `end_last` null reach forward without
limit. These rules are applied in order; they also close the ends that statements leave open:

1. *Lives.* No fact holds before its subject and its object began. If a start may lie before that
   day, it is narrowed to the days from then on; if it surely lies before it, it is cut to that day.
   If a fact is open, is a sighting or has a wholly unknown end, it ends with the subject or the
   object, whichever the relation's `ends_with` names; a stated end stays as it is. If these cuts
   leave a fact no day on which it can hold, the fact contradicts the lives, and it becomes a gap
   that lasts as long as the lives.
2. *Open facts.* If an open fact begins wholly after the snapshot day, it is left out. All others
   have begun by the snapshot day, and hold until that day or until the first of the two lives
   ends. From the day on which they are stale (`staleness`), they hold possibly, not surely.
3. *Exclusive relations* have one object at a time, unless the stated terms of two objects of the
   pair surely overlap for 92 days (co-holders). A successor of a fact is a fact of another object
   that surely began later, and by the snapshot day. If an open fact or gap of normal rank has a
   successor, somebody forgot to close it: it ended between its own first possible start and the
   earliest last possible start of its successors (`end_inferred`). If a fact of normal rank is
   still open beside another object, it is a `rival`: possible from its first possible start on, and
   certain nowhere. That holds with co-holders, too. On days on which the stated terms of two
   objects overlap for less, both are in doubt (`overlaps`).
4. *Merging.* If two states of one object touch or overlap under every reading, they become one
   segment: each one's `start_last` is at most a day after the other's `end_first`. Points, rivals
   and sightings never merge. If a sighting surely lies inside a state, it only adds its statement.

An undated statement is a gap here, even if its relation keeps undated statements as facts.

After: TimeQA (paper 001), section 2.1 (time-evolving facts); the rules are ours.
"""

from collections.abc import Sequence
from datetime import date
from typing import Literal, NamedTuple

import ibis
import ibis.expr.types as ir
from ibis import _

from factdrift.builders.core.dates import PERIODS_PER_YEAR, Granularity, Period
from factdrift.builders.core.engine import Engine
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.tables import has_label
from factdrift.builders.facts.intervals import (
    DATES,
    FIRST_DAY,
    LAST_DAY,
    IntervalColumns,
    TimeWindow,
    calendar_end,
    with_calendar_ends,
    without_calendar_ends,
)
from factdrift.builders.facts.overlaps import with_short_overlaps
from factdrift.builders.facts.staleness import later_office_starts, seat_relations, with_trust
from factdrift.builders.facts.table_parts import keep_in_parts, make_of_parts, table_parts
from factdrift.builders.facts.terms import OBJECTS_OF_PAIR, shared_places, with_terms
from factdrift.builders.facts.time_rules import Rules

PAIR = ("subject", "relation")
KEY = (*PAIR, "object")
ORDER = (*KEY, *DATES, "end_open", "end_inferred", "rival", "stale_until", "statements")
"""Total order of segments, for `Engine.write`."""
GAP_ORDER = (*PAIR, "statement", "object", "reason", *DATES, "end_open", "rank")
"""Total order of gaps, for `Engine.write`."""

_NO_OBJECTS = ibis.literal([], type="array<int64>")
_UNBOUNDED_REASONS = ("undated", "contradictory")
"""Reasons of gaps without days: their object may have held at any time."""


WhenCounted = Literal["end", "during"]
"""Whether a period counts what holds on its last day, or what holds on any of its days."""


class TimelineTables(NamedTuple):
    """The segments (`rows.Segment`) and gaps (`rows.Gap`) of timelines.

    An undated gap whose object has no name has no object.
    """

    segments: ir.Table
    gaps: ir.Table


def snapshot_day(engine: Engine, table: ir.Table) -> date:
    """Return the one snapshot day of a table of facts, gaps or segments.

    Raises `UserError` if the table is empty or has several days, for rows of several dumps do not
    make one timeline.
    """
    day_rows = engine.rows(table.select("snapshot").distinct().limit(3))
    if len(day_rows) != 1:
        what_is_wrong = "several snapshot days" if day_rows else "no row, so no snapshot day"
        raise UserError(
            f"a table of facts with {what_is_wrong}",
            hint="give each dump's facts as a table of its own",
        )
    only_day: date = day_rows[0]["snapshot"]
    return only_day


def timeline(
    engine: Engine,
    facts: ir.Table,
    gaps: ir.Table | None = None,
    entities: ir.Table | None = None,
    rules: Rules | None = None,
) -> TimelineTables:
    """Return the timelines of one snapshot from its facts (`rows.Fact`) and gaps (`rows.Gap`).

    `entities` (`rows.Entity`) have the days on which subjects and objects began and ended; without
    them rule 1 does nothing. Where the whole would not fit into memory, the work is done in parts
    of the subjects.
    """
    rules = rules or {}
    office_starts = None
    if engine.parts > 1 and seat_relations(rules):
        office_starts = _office_starts_in_parts(engine, facts, gaps, entities, rules)

    def of_pairs(some_facts: ir.Table, some_gaps: ir.Table | None) -> TimelineTables:
        dated_items = engine.keep(_dated(some_facts, some_gaps, entities, rules))
        dated_items = engine.keep(with_trust(dated_items, rules, office_starts))
        dated_items = engine.keep(_closed(_exclusive(engine, dated_items, rules)))
        dated_items = engine.keep(with_short_overlaps(engine, dated_items))
        return TimelineTables(_segments(dated_items), _gaps(dated_items, entities))

    return TimelineTables(*make_of_parts(engine, of_pairs, table_parts(engine, facts, gaps)))


def _dated(
    facts: ir.Table, gaps: ir.Table | None, entities: ir.Table | None, rules: Rules
) -> ir.Table:
    """Return facts and gaps as items, with what rules 1 and 2 say of each of them by itself."""
    return _by_snapshot(_lived(_items(facts, gaps, rules), entities, rules))


def _office_starts_in_parts(
    engine: Engine,
    facts: ir.Table,
    gaps: ir.Table | None,
    entities: ir.Table | None,
    rules: Rules,
) -> ir.Table:
    """Return `later_office_starts`: the holders of an office are in several parts of subjects."""
    seats = seat_relations(rules)
    seat_facts = facts.filter(facts.relation.isin(seats))
    seat_gaps = None if gaps is None else gaps.filter(gaps.relation.isin(seats))

    def of_offices(some_facts: ir.Table, some_gaps: ir.Table | None) -> ir.Table:
        dated_items = engine.keep(_dated(some_facts, some_gaps, entities, rules))
        return later_office_starts(dated_items, rules)

    return keep_in_parts(engine, of_offices, seat_facts, seat_gaps, by="object")


def item_number(column: ir.StringColumn) -> ir.IntegerColumn:
    """`Q42` as 42: ids are grouped and sorted as numbers."""
    return column.substr(1).cast("int64")


def period_runs(
    segments: ir.Table,
    window: Sequence[Period],
    gaps: ir.Table | None = None,
    when_counted: WhenCounted = "during",
) -> ir.Table:
    """Cut the history of each pair into runs of periods in which nothing begins or ends.

    A segment is *certain* in a period [a, b] where `start_last` <= b and `end_first` >= a,
    *possible* where `start_first` <= b and `end_last` >= a; a rival is never certain. Periods
    follow one another, so it is certain exactly from the period of its `start_last` to that of its
    `end_first`, and possible from that of its `start_first` to that of its `end_last`. With
    `when_counted="end"`, the same is asked of the period's last day alone, [b, b].

    `segments` and `gaps` are those of a `TimelineTables`, and `window` holds consecutive periods.
    The columns are `subject` as a number, `relation`, `at` and `until` (the indexes of the first
    and the last period), `objects` (the numbers of the certain ones, sorted) and `doubts` (a sorted
    `doubt_code` for each that is only possible). Pairs with nothing in the window have no runs.
    """
    is_rival = segments.rival & segments.stale_until.isnull()
    doubt_place = ibis.ifelse(is_rival, CAUSES.index("rival"), CAUSES.index("possible"))
    stated_segments = segments.mutate(cause=doubt_place.cast("int64"), doubtful=segments.rival)
    ranges = _ranges(stated_segments, window, when_counted)
    if gaps is not None:
        doubt_place = gaps.reason.cases(
            *((gap_reason, reason_place) for reason_place, gap_reason in enumerate(CAUSES)), else_=0
        )
        doubtful_gaps = gaps.mutate(
            cause=doubt_place.cast("int64"), doubtful=True, stale_until=ibis.null("date")
        )
        ranges = ranges.union(_ranges(doubtful_gaps, window, when_counted))
    first_index, last_index = window[0].index, window[-1].index
    cut_indexes = [
        first_index,
        ranges.first,
        ranges.last + 1,
        ranges.certain_first,
        ranges.certain_last + 1,
        ranges.stale_first,
        ranges.stale_last + 1,
    ]
    cut_points = ranges.select(*PAIR, at=ibis.array(cut_indexes).unnest()).distinct()
    cut_points = cut_points.filter(cut_points.at.between(first_index, last_index))
    next_cut = cut_points.at.lead().over(ibis.window(group_by=PAIR, order_by=cut_points.at))
    cut_points = cut_points.mutate(until=next_cut.fill_null(last_index + 1) - 1)
    cut_ranges = cut_points.join(ranges, PAIR)
    is_certain = cut_ranges.at.between(cut_ranges.certain_first, cut_ranges.certain_last)
    is_possible = cut_ranges.at.between(cut_ranges.first, cut_ranges.last)
    is_stale = cut_ranges.at.between(cut_ranges.stale_first, cut_ranges.stale_last) & ~is_certain
    period_states = cut_ranges.group_by([*PAIR, "at", "until"]).agg(
        objects=cut_ranges.object.collect(where=is_certain),
        doubts=doubt_code(cut_ranges.cause, cut_ranges.object).collect(
            where=is_possible & ~is_certain & ~is_stale
        ),
        stale=cut_ranges.object.collect(where=is_stale),
    )
    # An object that would be certain were it not stale is in doubt by that alone.
    objects, doubts, stale = (
        sorted_set(period_states[column].fill_null(_NO_OBJECTS))
        for column in ("objects", "doubts", "stale")
    )
    period_states = period_states.mutate(objects=objects, doubts=doubts, stale=stale)
    period_states = period_states.mutate(
        stale=array_difference(period_states.stale, period_states.objects)
    )
    no_doubt = period_states.objects.concat(period_states.stale)
    doubts = period_states.doubts.filter(lambda doubt: ~no_doubt.contains(doubted_object(doubt)))
    stale_code = ibis.literal(CAUSES.index("stale"), type="int64")
    stale_doubts = period_states.stale.map(lambda number: doubt_code(stale_code, number))
    all_doubts = doubts.concat(stale_doubts)
    return period_states.mutate(
        doubts=ibis.ifelse(all_doubts.length() > 0, sorted_set(all_doubts), _NO_OBJECTS)
    ).drop("stale")


REASONS = {
    "rival": "rival_holders",
    "possible": "possible_holder",
    "contradictory": "contradictory_statement",
    "unlabelled_object": "unlabelled_object",
    "object_kind": "object_kind",
    "unknown_value": "unknown_value",
    "undated": "undated_statement",
    "stale": "stale_statement",
}
"""The causes of doubt, with the reason for which each of them drops a comparison.

`rival`, `possible` and `stale` are causes in a segment, the others are the reasons of gaps. Where
several causes put a comparison in doubt, the first of them tells the reason. The last two drop less
than the others, so that they come last.
"""
CAUSES = tuple(REASONS)
"""The causes in that order."""

# Item numbers of Wikidata have nine digits; 2^48 leaves room for fifteen causes in 64 bits and more
# than enough for every number to come.
_PER_CAUSE = 1 << 48
"""The distance between the codes of two causes: more than the number of any item."""


def doubt_code(cause: ir.IntegerValue, object_number: ir.IntegerValue) -> ir.IntegerValue:
    """Return the place of a cause and the number of an object as one number.

    0 is the number of an object without a name.
    """
    return cause * _PER_CAUSE + object_number


def doubted_object(doubts: ir.IntegerValue) -> ir.IntegerValue:
    """The object's number in a `doubt_code`."""
    return doubts % _PER_CAUSE


def doubt_cause(doubts: ir.IntegerValue) -> ir.IntegerValue:
    """The place in `CAUSES` of the cause in a `doubt_code`."""
    return (doubts - doubted_object(doubts)) // _PER_CAUSE


def period_index(day: ir.DateValue, granularity: Granularity) -> ir.IntegerValue:
    """The index of the period of a day."""
    per_year = PERIODS_PER_YEAR[granularity]
    return (day.year() * per_year + (day.month() - 1) * per_year // 12).cast("int64")


def sorted_set(values: ir.ArrayColumn) -> ir.ArrayColumn:
    """The distinct elements of an array, sorted."""
    return ibis.ifelse(values.length() > 1, values.unique().sort(), values)


def array_difference(values: ir.ArrayColumn, left_out: ir.ArrayColumn) -> ir.ArrayColumn:
    """The elements of an array that another does not hold, in order."""
    return values.filter(lambda value: ~left_out.contains(value))


def _items(facts: ir.Table, gaps: ir.Table | None, rules: Rules) -> ir.Table:
    """Return facts and gaps as one table without null dates.

    The column `kind` is `state`, `point`, `sighting` or `gap`.
    """
    keeps_undated = [relation_id for relation_id, rule in rules.items() if rule.undated == "keep"]
    without_dates = ibis.and_(*(facts[column].isnull() for column in DATES)) & facts.end_open
    is_undated = without_dates & ~facts.sighting & facts.relation.isin(keeps_undated)
    items = facts.mutate(
        kind=ibis.cases(
            (is_undated, "gap"), (facts.point, "point"), (facts.sighting, "sighting"), else_="state"
        ),
        reason=ibis.ifelse(is_undated, "undated", ibis.null("string")),
    )
    if gaps is not None:
        gap_items = gaps.mutate(kind=ibis.literal("gap"))
        items = items.select(_ITEM_COLUMNS).union(gap_items.select(_ITEM_COLUMNS))
    is_unbounded = items.reason.isin(_UNBOUNDED_REASONS).fill_null(False)
    no_day = ibis.null("date")
    dated_items = items.mutate(
        **{column: ibis.ifelse(is_unbounded, no_day, items[column]) for column in DATES}
    )
    dated_items = dated_items.mutate(end_open=dated_items.end_open & ~is_unbounded)
    dated_items = with_calendar_ends(dated_items.select(_ITEM_COLUMNS))
    # A date that is not known on both sides is only bounded by others, not stated.
    is_stated = {column: (dated_items[column] != calendar_end(column)) for column in DATES}
    has_start = is_stated["start_first"] & is_stated["start_last"]
    has_end = is_stated["end_first"] & is_stated["end_last"]
    return dated_items.mutate(
        has_start=has_start & dated_items.kind.isin(["state", "gap"]),
        has_end=has_end & (dated_items.kind == "state"),
    )


_ITEM_COLUMNS = ["statement", *KEY, "rank", "kind", "reason", *DATES, "end_open", "snapshot"]


def _lived(items: ir.Table, entities: ir.Table | None, rules: Rules) -> ir.Table:
    """Rule 1. Adds the first and last possible day of the end of the lives: `life_end_…`."""
    if entities is None:
        return items.mutate(life_end_first=LAST_DAY, life_end_last=LAST_DAY)
    items = _with_lives(items, entities, rules)
    is_sighting, is_open = items.kind == "sighting", items.end_open
    about_first = ibis.ifelse(is_sighting, items.end_first, items.start_first)
    about_last = ibis.cases(
        (is_sighting, items.start_last), (is_open, LAST_DAY), else_=items.end_last
    )
    holds_nowhere = is_sighting & (about_last < items.born)
    end_unknown = ~is_open & (is_sighting | (items.end_last == LAST_DAY))
    starts_before = items.start_last < items.born
    items = items.mutate(
        wrong=(about_last < items.subject_born) | (about_first > items.died) | holds_nowhere,
        start_first=ibis.greatest(items.start_first, items.born),
        start_last=ibis.ifelse(starts_before, items.born_last, items.start_last),
        end_last=ibis.ifelse(
            end_unknown, ibis.least(items.end_last, items.life_end_last), items.end_last
        ),
    )
    items = items.mutate(
        start_last=ibis.least(
            items.start_last, ibis.ifelse(is_open, items.life_end_last, items.end_last)
        ),
        end_first=ibis.ifelse(
            is_open, items.end_first, ibis.greatest(items.end_first, items.start_first)
        ),
    )
    is_contradictory = items.wrong | (items.start_first > items.start_last)
    is_contradictory |= ~items.end_open & (items.end_first > items.end_last)
    life_boundaries = {
        "start_first": "born",
        "start_last": "life_end_last",
        "end_first": "born",
        "end_last": "life_end_last",
    }
    items = items.mutate(
        kind=ibis.ifelse(is_contradictory, "gap", items.kind),
        reason=ibis.ifelse(is_contradictory, "contradictory", items.reason),
        end_open=items.end_open & ~is_contradictory,
        **{
            column: ibis.ifelse(is_contradictory, items[life_column], items[column])
            for column, life_column in life_boundaries.items()
        },
    )
    return items.filter(items.reason.isnull() | (items.start_first <= items.end_last))


def _with_lives(items: ir.Table, entities: ir.Table, rules: Rules) -> ir.Table:
    """Adds `subject_born`; `born` to `born_last`, when both have begun; `died` of the subject and
    `life_end_first` to `life_end_last`, when the first of both ends, where they count.
    """
    life_rows = entities.select("id", "began_first", "began_last", "ended_first", "ended_last")
    life_rows = life_rows.filter(
        ibis.or_(*(life_rows[column].notnull() for column in life_rows.columns[1:]))
    )
    # A date of which one side is known reaches to the end of the calendar on the other side. An
    # item without any date of birth or death was always there.
    has_beginning = life_rows.began_first.notnull() | life_rows.began_last.notnull()
    has_ending = life_rows.ended_first.notnull() | life_rows.ended_last.notnull()
    life_rows = life_rows.mutate(
        began_first=life_rows.began_first.fill_null(FIRST_DAY),
        began_last=ibis.ifelse(has_beginning, life_rows.began_last.fill_null(LAST_DAY), FIRST_DAY),
        ended_first=ibis.ifelse(has_ending, life_rows.ended_first.fill_null(FIRST_DAY), LAST_DAY),
        ended_last=life_rows.ended_last.fill_null(LAST_DAY),
    )
    columns = items.columns
    life_days: dict[str, list[ir.DateValue]] = {column: [] for column in life_rows.columns[1:]}
    for role in ("subject", "object"):
        role_lives = life_rows.rename({f"{role}_{column}": column for column in life_rows.columns})
        items = items.left_join(role_lives, items[role] == role_lives[f"{role}_id"])
    for role in ("subject", "object"):
        outliving_relations = sorted(
            relation_id for relation_id, rule in rules.items() if role not in rule.ends_with
        )
        for life_column, days in life_days.items():
            calendar_edge = FIRST_DAY if life_column.startswith("began") else LAST_DAY
            day = items[f"{role}_{life_column}"].fill_null(calendar_edge)
            if life_column.startswith("ended"):
                day = ibis.ifelse(items.relation.isin(outliving_relations), LAST_DAY, day)
            days.append(day)
    return items.select(
        *columns,
        subject_born=life_days["began_first"][0],
        born=ibis.greatest(*life_days["began_first"]),
        born_last=ibis.greatest(*life_days["began_last"]),
        died=life_days["ended_last"][0],
        life_end_first=ibis.least(*life_days["ended_first"]),
        life_end_last=ibis.least(*life_days["ended_last"]),
    )


def _closed(items: ir.Table) -> ir.Table:
    """Close the ends of open facts by rules 2 and 3, and narrow each boundary by the other.

    `stale_until` is added: the last day on which a fact would surely hold if it were not stale.
    """
    is_open, has_successor = items.end_open, items.successor.notnull()
    latest_end = ibis.least(items.snapshot, items.life_end_last)
    # A fact holds on its first day, even where its subject may have died earlier in that year.
    unlimited_end = ibis.greatest(
        ibis.least(items.snapshot, items.life_end_first), items.start_first
    )
    is_held = is_open & ~has_successor & ~items.rival
    is_stale = is_held & (items.trusted_until < unlimited_end)
    items = items.mutate(
        end_first=ibis.cases(
            (is_held, ibis.least(unlimited_end, items.trusted_until)),
            (is_open, items.start_first),
            else_=items.end_first,
        ),
        end_last=ibis.cases(
            (is_open & has_successor, ibis.least(latest_end, items.successor)),
            (is_open, latest_end),
            else_=items.end_last,
        ),
        end_open=is_open & ~has_successor & (items.life_end_first >= items.snapshot),
        end_inferred=is_open & has_successor,
        # What is stale from its first day on surely holds on no day.
        rival=items.rival | (is_stale & (items.trusted_until < items.start_first)),
        stale_until=ibis.ifelse(is_stale, unlimited_end, ibis.null("date")),
    )
    return items.select(
        *(column for column in _ITEM_COLUMNS if column not in DATES),
        "end_inferred",
        "rival",
        "stale_until",
        "term_ends",
        "term_open",
        start_first="start_first",
        start_last=ibis.least(items.start_last, items.end_last),
        end_first=ibis.greatest(items.end_first, items.start_first),
        end_last="end_last",
    )


def _exclusive(engine: Engine, items: ir.Table, rules: Rules) -> ir.Table:
    """Apply rule 3 to the relations with one object at a time.

    `successor` is the day by which the first successor of an open fact has surely begun, or null
    without any. In pairs with co-holders it is null, as the next holder need not have replaced this
    one. `rival` marks a fact that is still open while another object of the pair is, too: only one
    can hold, and nobody knows which. A fact of preferred rank is never a rival, because editors of
    Wikidata marked it as the one that holds. `term_ends` is that of `terms.with_terms`, where no
    other object can hold at the same time.
    """
    exclusive_ids = sorted(relation_id for relation_id, rule in rules.items() if rule.exclusive)
    no_day = ibis.null("date")
    not_exclusive = {
        "successor": no_day,
        "rival": ibis.literal(False),
        "term_ends": no_day,
        "term_open": ibis.literal(False),
    }
    if not exclusive_ids:
        return items.mutate(**not_exclusive)
    other_items = items.filter(~items.relation.isin(exclusive_ids)).mutate(**not_exclusive)
    sole_items = with_terms(items.filter(items.relation.isin(exclusive_ids)), OBJECTS_OF_PAIR)
    sole_items = engine.keep(sole_items)
    co_held = engine.keep(shared_places(sole_items, OBJECTS_OF_PAIR))
    sole_items = _with_successor(sole_items, co_held)
    # A pair has more than one open object if the least or the greatest of them is not this one.
    # That needs no join of the table with itself, nor a list of the objects.
    in_pair = ibis.window(group_by=PAIR)
    still_open = sole_items.end_open & sole_items.successor.isnull() & (sole_items.kind != "gap")
    rival_objects = ibis.ifelse(still_open, sole_items.object, ibis.null("string"))
    sole_items = sole_items.mutate(
        still=still_open,
        least=rival_objects.min().over(in_pair),
        most=rival_objects.max().over(in_pair),
    )
    has_others = (sole_items.least != sole_items.object) | (sole_items.most != sole_items.object)
    is_rival = sole_items.still & (sole_items["rank"] != "preferred") & has_others
    sole_items = sole_items.mutate(rival=is_rival.fill_null(False))
    co_held = co_held.mutate(has_several=ibis.literal(True))
    sole_items = sole_items.left_join(co_held, PAIR)
    sole_items = sole_items.mutate(
        term_ends=ibis.ifelse(sole_items.has_several.isnull(), sole_items.term_ends, no_day)
    )
    return other_items.union(sole_items.select(other_items.columns))


def _by_snapshot(items: ir.Table) -> ir.Table:
    """Keep the items that have begun by the snapshot day, and narrow the starts of open ones."""
    items = items.filter(~items.end_open | (items.start_first <= items.snapshot))
    latest_start = ibis.least(items.start_last, items.snapshot)
    return items.mutate(start_last=ibis.ifelse(items.end_open, latest_start, items.start_last))


def _with_successor(items: ir.Table, co_held: ir.Table) -> ir.Table:
    """Add `successor`: the earliest `start_last` of all successors, or null if there is none."""
    columns = items.columns
    may_be_closed = items.end_open & (items["rank"] != "preferred")
    items = items.mutate(asks=may_be_closed, thing=items.object.fill_null(""))
    item_key = [*PAIR, "thing", "start_last"]
    open_items = items.filter(items.asks).anti_join(co_held, PAIR).select(item_key).distinct()
    later_starts = items.filter((items.kind != "gap") & (items.start_first <= items.snapshot))
    later_starts = later_starts.select(
        *PAIR,
        by=later_starts.object,
        begins=later_starts.start_first,
        began=later_starts.start_last,
    ).distinct()
    later_terms = open_items.join(
        later_starts,
        [*PAIR, open_items.thing != later_starts.by, open_items.start_last < later_starts.begins],
    )
    items = items.left_join(
        later_terms.group_by(item_key).agg(found=later_terms.began.min()), item_key
    )
    return items.select(*columns, successor=ibis.ifelse(items.asks, items.found, ibis.null("date")))


def _segments(items: ir.Table) -> ir.Table:
    """Make segments of the facts by rule 4.

    Most objects have a single fact, which is their segment. Only the facts of the others are sorted
    and merged, which saves most of the time.
    """
    facts = items.filter(items.kind != "gap")
    facts = facts.mutate(statements=ibis.array([facts.statement]))
    flags = ("end_open", "end_inferred", "rival", "stale_until")
    columns = (*KEY, *DATES, *flags, "statements", "snapshot")
    repeated_keys = facts.group_by(list(KEY)).having(facts.count() > 1).agg(facts=facts.count())
    several_facts = facts.semi_join(repeated_keys, list(KEY))
    single_facts = facts.anti_join(repeated_keys, list(KEY)).select(columns)
    all_segments = single_facts.union(_merged(several_facts).select(columns))
    # What surely holds by another statement is not stale.
    is_stale = all_segments.stale_until > all_segments.end_first
    all_segments = all_segments.mutate(
        stale_until=ibis.ifelse(
            all_segments.rival | is_stale, all_segments.stale_until, ibis.null("date")
        )
    )
    return without_calendar_ends(all_segments)


def _merged(merged_facts: ir.Table) -> ir.Table:
    """Merge the facts of objects that have several facts.

    A state surely holds from its `start_last` to its `end_first`, and stretches that touch become
    one segment. A sighting, or a state that surely holds on no day, joins the segment that surely
    holds around all its days, if there is one, and does not make it longer.
    """
    can_merge = (merged_facts.kind != "point") & ~merged_facts.rival
    merged_facts = merged_facts.mutate(merging=can_merge, seen=merged_facts.kind == "sighting")
    sure_days = merged_facts.end_first.delta(merged_facts.start_last, unit="day")
    merged_facts = merged_facts.mutate(
        lasts=merged_facts.merging & ~merged_facts.seen & (sure_days >= -1)
    )
    # Stretches that surely last come first at the place where they begin; what lasts on no sure day
    # is sorted behind the stretch that could hold it.
    next_day = (merged_facts.end_first + ibis.interval(days=1)).cast("date")
    merged_facts = merged_facts.mutate(
        place=ibis.cases(
            (merged_facts.lasts, merged_facts.start_last),
            (merged_facts.seen, merged_facts.end_first),
            else_=next_day,
        ),
        until=ibis.ifelse(merged_facts.lasts, merged_facts.end_first, ibis.null("date")),
    )
    of_object = [*KEY, "merging"]
    total_order = ["place", _.lasts.desc(), "until", "statement", *DATES, "kind", "end_open"]
    # The rows are numbered once: rows that are alike could come in another order in each window.
    row_number = ibis.row_number().over(ibis.window(group_by=of_object, order_by=total_order))
    merged_facts = merged_facts.mutate(number=row_number)
    rows_before = ibis.window(group_by=of_object, order_by="number", rows=(None, -1))
    merged_facts = merged_facts.mutate(reached=merged_facts.until.max().over(rows_before))
    stands_apart = merged_facts.reached.isnull() | (
        merged_facts.start_last.delta(merged_facts.reached, unit="day") > 1
    )
    merged_facts = merged_facts.mutate(parted=(merged_facts.lasts & stands_apart).cast("int64"))
    rows_so_far = ibis.window(group_by=of_object, order_by="number", rows=(None, 0))
    merged_facts = merged_facts.mutate(part=merged_facts.parted.sum().over(rows_so_far))
    merged_facts = merged_facts.mutate(
        reached=merged_facts.until.max().over(ibis.window(group_by=[*of_object, "part"]))
    )
    days_beyond = merged_facts.start_last.delta(merged_facts.reached, unit="day")
    is_inside = (days_beyond <= ibis.ifelse(merged_facts.seen, 0, 1)).fill_null(False)
    merged_facts = merged_facts.mutate(
        alone=ibis.ifelse(merged_facts.lasts | is_inside, -1, merged_facts.number)
    )
    merged_facts = merged_facts.mutate(counts=~merged_facts.seen | (merged_facts.alone >= 0))
    segment_key = [*of_object, "part", "alone"]
    latest_first = [_.counts.desc(), _.end_last.desc(), _.end_first.desc(), _.end_open.desc()]
    by_latest = ibis.window(group_by=segment_key, order_by=[*latest_first, "end_inferred"])
    merged_facts = merged_facts.mutate(leads=ibis.row_number().over(by_latest) == 0)
    is_counted = merged_facts.counts
    segments = merged_facts.group_by(segment_key).agg(
        start_first=merged_facts.start_first.min(where=is_counted),
        start_last=merged_facts.start_last.min(where=is_counted),
        end_first=merged_facts.end_first.max(where=is_counted),
        end_last=merged_facts.end_last.max(where=is_counted),
        end_open=merged_facts.end_open.any(where=merged_facts.leads),
        end_inferred=merged_facts.end_inferred.any(where=merged_facts.leads),
        rival=merged_facts.rival.any(),
        stale_until=merged_facts.stale_until.max(where=is_counted),
        statements=merged_facts.statements.collect(),
        snapshot=merged_facts.snapshot.max(),
    )
    return segments.mutate(statements=segments.statements.flatten().unique().sort())


def _gaps(items: ir.Table, entities: ir.Table | None) -> ir.Table:
    """Return the gaps of a timeline.

    An undated object without a name could not be accepted as an answer, so its gap has no object.
    """
    all_gaps = without_calendar_ends(items.filter(items.kind == "gap"))
    if entities is not None:
        named_entities = entities.filter(has_label(entities.label)).select(named="id")
        all_gaps = all_gaps.left_join(named_entities, all_gaps.object == named_entities.named)
        lacks_name = (all_gaps.reason == "undated") & all_gaps.named.isnull()
        all_gaps = all_gaps.mutate(
            object=ibis.ifelse(lacks_name, ibis.null("string"), all_gaps.object)
        )
    columns = ("statement", *KEY, *DATES, "end_open", "reason", "rank", "snapshot")
    return all_gaps.select(columns).distinct()


def _ranges(table: ir.Table, window: Sequence[Period], when_counted: WhenCounted) -> ir.Table:
    """The `intervals.Ranges` of each row in period indexes, without rows possible nowhere."""
    low, high = window[0].index, window[-1].index

    def first_index(day: ir.DateValue) -> ir.IntegerValue:
        return period_index(day, window[0].granularity)

    def last_index(day: ir.DateValue) -> ir.IntegerValue:
        """The last period that a stretch with this last day reaches, or reaches the end of."""
        if when_counted == "during":
            return first_index(day)
        return first_index((day + ibis.interval(days=1)).cast("date")) - 1

    first_day, last_day = ibis.literal(window[0].first), ibis.literal(window[-1].last)
    rows_near = table.filter(IntervalColumns.of(table).holds_within(first_day, last_day).possible)
    place_ranges = IntervalColumns.of(rows_near, doubtful=rows_near.doubtful).ranges(
        TimeWindow(low, high, low - 1, high + 1), first_index, last_index
    )
    object_ids = {
        column: item_number(rows_near[column]).fill_null(0) for column in ("subject", "object")
    }
    # Where a stale row would be certain if it were not stale; nowhere for all others.
    stale_first = first_index(rows_near.start_last).fill_null(high + 1)
    stale_last = last_index(rows_near.stale_until).fill_null(low - 1)
    ranged_rows = rows_near.select(
        "relation",
        **object_ids,
        **place_ranges._asdict(),
        stale_first=ibis.greatest(stale_first, low),
        stale_last=ibis.least(stale_last, high),
        cause="cause",
    )
    return ranged_rows.filter(ranged_rows["first"] <= ranged_rows["last"])
