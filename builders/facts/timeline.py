"""Timelines: what a dump states of an object, as segments and gaps with every end closed.

Every boundary is an interval of possible days and null is unknown: `start_first` and `end_first`
null reach back without limit, `start_last` and `end_last` null reach forward without limit. What a
statement leaves open is closed by rule, never by guess. In order:

1. *Lives.* Nothing holds before its subject and its object began; a start that may lie before is
   narrowed, and one that surely does is cut to that day. What is open, was sighted, or ended on a
   day that is not known at all ends with its subject or its object, where the relation's
   `ends_with` names it. What is left without a day contradicts itself and becomes a gap as long as
   the lives; a stated end stays as it is.
2. *Open facts* have begun by the snapshot day (one that begins wholly after it is left out) and
   hold until it, or until the first of the two lives ends; where the relation trusts them for so
   many years only (`open_for`), they may hold after these, and do so surely no more.
3. *Exclusive relations* have one object at a time, unless the terms of two objects of the pair
   surely overlap (co-holders). An open fact or gap of normal rank with a successor, a fact of
   another object that surely began later and by the snapshot day, was never closed: it ended
   between its own first possible start and the earliest last possible start of its successors
   (`end_inferred`). Of those still open, one of normal rank beside another object is a `rival`:
   possible from its first possible start on, and certain nowhere; with co-holders, too.
4. *Merging.* Two states of one object are one segment where they touch or overlap under every
   reading: each one's `start_last` is at most a day after the other's `end_first`. Points, rivals
   and sightings never merge; a sighting surely inside a state adds its statement alone.

An undated statement that its relation keeps is a gap here, as any other undated one.

After: TimeQA (paper 001), section 2.1 (time-evolving facts); the rules are ours.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Literal, NamedTuple

import ibis
import ibis.expr.types as ir
from ibis import _

from factdrift.builders.core.config import Strict
from factdrift.builders.core.dates import PERIODS_PER_YEAR, Granularity, Period
from factdrift.builders.core.engine import Engine
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.tables import has_label
from factdrift.builders.facts.intervals import (
    DATES,
    FIRST_DAY,
    LAST_DAY,
    IntervalColumns,
    Window,
    with_calendar_ends,
    without_calendar_ends,
)

PAIR = ("subject", "relation")
KEY = (*PAIR, "object")
ORDER = (*KEY, *DATES, "end_open", "end_inferred", "rival", "statements")
"""Total order of segments, for `Engine.write`."""
GAP_ORDER = (*PAIR, "statement", "object", "reason", *DATES, "end_open", "rank")
"""Total order of gaps, for `Engine.write`."""

_NONE = ibis.literal([], type="array<int64>")
_UNBOUNDED = ("undated", "contradictory")
"""Reasons of gaps that may have held at any time."""


class TimeRule(Strict):
    """What a relation's template says of time; see `builders.facts.relations.Relation`."""

    exclusive: bool = False
    ends_with: tuple[Literal["subject", "object"], ...] = ("subject", "object")
    undated: Literal["keep", "drop", "doubt"] = "drop"
    open_for: int | None = None


WhenCounted = Literal["end", "during"]
"""When what holds counts for a period: on its last day, or on any of its days."""

Rules = Mapping[str, TimeRule]
"""By property id; a relation that is not named has the defaults."""


class TimelineTables(NamedTuple):
    """`rows.Segment` and `rows.Gap`; an undated gap whose object has no name has no object."""

    segments: ir.Table
    gaps: ir.Table


def snapshot_day(engine: Engine, table: ir.Table) -> date:
    """The one snapshot day of a table of facts, gaps or segments.

    `UserError` where the table is empty or holds several: their rows do not make one timeline.
    """
    days = engine.rows(table.select("snapshot").distinct().limit(3))
    if len(days) != 1:
        what = "several snapshot days" if days else "no row, so no snapshot day"
        raise UserError(
            f"a table of facts with {what}", hint="give each dump's facts as a table of its own"
        )
    day: date = days[0]["snapshot"]
    return day


def timeline(
    engine: Engine,
    facts: ir.Table,
    gaps: ir.Table | None = None,
    entities: ir.Table | None = None,
    rules: Rules | None = None,
) -> TimelineTables:
    """The timelines of one snapshot: of `rows.Fact` and `rows.Gap`, with `rows.Entity` for lives.

    What both tables come from is computed once (`Engine.keep`).
    """
    rules = rules or {}
    items = _items(facts, gaps, rules)
    items = engine.keep(_begun(_exclusive(engine, _lived(items, entities, rules), rules), rules))
    return TimelineTables(_segments(items), _gaps(items, entities))


def item_number(column: ir.StringColumn) -> ir.IntegerColumn:
    """`Q42` as 42: ids are grouped and sorted as numbers."""
    return column.substr(1).cast("int64")


def period_runs(
    segments: ir.Table,
    window: Sequence[Period],
    gaps: ir.Table | None = None,
    at: WhenCounted = "during",
) -> ir.Table:
    """Each (subject, relation) cut into runs of periods in which nothing begins or ends.

    A segment is *certain* in a period [a, b] where `start_last` <= b and `end_first` >= a,
    *possible* where `start_first` <= b and `end_last` >= a; a rival is never certain. Periods
    follow one another, so it is certain exactly from the period of its `start_last` to that of its
    `end_first`, and possible from that of its `start_first` to that of its `end_last`. `at="end"`
    asks the same of the period's last day alone, [b, b].

    `segments`, `gaps`: of a `TimelineTables`; `window`: consecutive periods. Columns: `subject`
    as a number, `relation`; `at` to `until` (indexes, together the window); `objects`, the certain
    ones, and `doubts`, why what is possible only is so (`doubt`), both sorted numbers. Pairs with
    nothing in the window have no runs.
    """
    cause = ibis.ifelse(segments.rival, CAUSES.index("rival"), CAUSES.index("possible"))
    stated = segments.mutate(cause=cause.cast("int64"), doubtful=segments.rival)
    ranges = _ranges(stated, window, at)
    if gaps is not None:
        cause = gaps.reason.cases(
            *((reason, place) for place, reason in enumerate(CAUSES)), else_=0
        )
        holes = gaps.mutate(cause=cause.cast("int64"), doubtful=True)
        ranges = ranges.union(_ranges(holes, window, at))
    low, high = window[0].index, window[-1].index
    cuts = [low, ranges.first, ranges.last + 1, ranges.certain_first, ranges.certain_last + 1]
    cut = ranges.select(*PAIR, at=ibis.array(cuts).unnest()).distinct()
    cut = cut.filter(cut.at.between(low, high))
    following = cut.at.lead().over(ibis.window(group_by=PAIR, order_by=cut.at))
    cut = cut.mutate(until=following.fill_null(high + 1) - 1)
    cut_ranges = cut.join(ranges, PAIR)
    certain = cut_ranges.at.between(cut_ranges.certain_first, cut_ranges.certain_last)
    possible = cut_ranges.at.between(cut_ranges.first, cut_ranges.last)
    period_states = cut_ranges.group_by([*PAIR, "at", "until"]).agg(
        objects=cut_ranges.object.collect(where=certain),
        doubts=doubt_code(cut_ranges.cause, cut_ranges.object).collect(where=possible & ~certain),
    )
    period_states = period_states.mutate(objects=sorted_set(period_states.objects.fill_null(_NONE)))
    doubts = period_states.doubts.fill_null(_NONE)
    doubts = doubts.filter(lambda doubt: ~period_states.objects.contains(doubted_object(doubt)))
    return period_states.mutate(
        doubts=ibis.ifelse(period_states.doubts.length() > 0, sorted_set(doubts), _NONE)
    )


REASONS = {
    "rival": "rival_holders",
    "possible": "possible_holder",
    "contradictory": "contradictory_statement",
    "unlabelled_object": "unlabelled_object",
    "object_kind": "object_kind",
    "unknown_value": "unknown_value",
    "undated": "undated_statement",
}
"""Why an object may have held, and does not surely: by a segment, or by a gap of that reason; and
why a comparison is dropped by what put it in doubt, the first before the next."""
CAUSES = tuple(REASONS)

_PER_CAUSE = 1 << 48  # more than the number of any item


def doubt_code(cause: ir.IntegerValue, thing: ir.IntegerValue) -> ir.IntegerValue:
    """An object's number, 0 for one without a name, and the place of its cause as one number."""
    return cause * _PER_CAUSE + thing


def doubted_object(doubts: ir.IntegerValue) -> ir.IntegerValue:
    """The object's number of a `doubt`."""
    return doubts % _PER_CAUSE


def doubt_cause(doubts: ir.IntegerValue) -> ir.IntegerValue:
    """The place of the cause of a `doubt` in `CAUSES`."""
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
    """Facts and gaps as one table without null dates; `kind`: state, point, sighting or gap."""
    keeping = [relation_id for relation_id, rule in rules.items() if rule.undated == "keep"]
    unknown = ibis.and_(*(facts[column].isnull() for column in DATES)) & facts.end_open
    undated = unknown & ~facts.sighting & facts.relation.isin(keeping)
    items = facts.mutate(
        kind=ibis.cases(
            (undated, "gap"), (facts.point, "point"), (facts.sighting, "sighting"), else_="state"
        ),
        reason=ibis.ifelse(undated, "undated", ibis.null("string")),
    )
    if gaps is not None:
        more = gaps.mutate(kind=ibis.literal("gap"))
        items = items.select(_ITEM).union(more.select(_ITEM))
    always = items.reason.isin(_UNBOUNDED).fill_null(False)
    no_day = ibis.null("date")
    dated = items.mutate(**{column: ibis.ifelse(always, no_day, items[column]) for column in DATES})
    dated = dated.mutate(end_open=dated.end_open & ~always)
    return with_calendar_ends(dated.select(_ITEM))


_ITEM = ["statement", *KEY, "rank", "kind", "reason", *DATES, "end_open", "snapshot"]


def _lived(items: ir.Table, entities: ir.Table | None, rules: Rules) -> ir.Table:
    """Rule 1. Adds the first and last possible day of the end of the lives: `life_end_…`."""
    if entities is None:
        return items.mutate(life_end_first=LAST_DAY, life_end_last=LAST_DAY)
    items = _with_lives(items, entities, rules)
    sighting, open_ = items.kind == "sighting", items.end_open
    about_first = ibis.ifelse(sighting, items.end_first, items.start_first)
    about_last = ibis.cases((sighting, items.start_last), (open_, LAST_DAY), else_=items.end_last)
    nowhere = sighting & (about_last < items.born)
    unknown = ~open_ & (sighting | (items.end_last == LAST_DAY))
    before = items.start_last < items.born
    items = items.mutate(
        wrong=(about_last < items.subject_born) | (about_first > items.died) | nowhere,
        start_first=ibis.greatest(items.start_first, items.born),
        start_last=ibis.ifelse(before, items.born_last, items.start_last),
        end_last=ibis.ifelse(
            unknown, ibis.least(items.end_last, items.life_end_last), items.end_last
        ),
    )
    items = items.mutate(
        start_last=ibis.least(
            items.start_last, ibis.ifelse(open_, items.life_end_last, items.end_last)
        ),
        end_first=ibis.ifelse(
            open_, items.end_first, ibis.greatest(items.end_first, items.start_first)
        ),
    )
    wrong = items.wrong | (items.start_first > items.start_last)
    wrong |= ~items.end_open & (items.end_first > items.end_last)
    always = {
        "start_first": "born",
        "start_last": "life_end_last",
        "end_first": "born",
        "end_last": "life_end_last",
    }
    items = items.mutate(
        kind=ibis.ifelse(wrong, "gap", items.kind),
        reason=ibis.ifelse(wrong, "contradictory", items.reason),
        end_open=items.end_open & ~wrong,
        **{
            column: ibis.ifelse(wrong, items[edge], items[column])
            for column, edge in always.items()
        },
    )
    return items.filter(items.reason.isnull() | (items.start_first <= items.end_last))


def _with_lives(items: ir.Table, entities: ir.Table, rules: Rules) -> ir.Table:
    """Adds `subject_born`; `born` to `born_last`, when both have begun; `died` of the subject and
    `life_end_first` to `life_end_last`, when the first of both ends, where they count.
    """
    lives = entities.select("id", "began_first", "began_last", "ended_first", "ended_last")
    lives = lives.filter(ibis.or_(*(lives[column].notnull() for column in lives.columns[1:])))
    # A date that is known at all has no first day where that is unknown, and no last one.
    began = lives.began_first.notnull() | lives.began_last.notnull()
    ended = lives.ended_first.notnull() | lives.ended_last.notnull()
    lives = lives.mutate(
        began_first=lives.began_first.fill_null(FIRST_DAY),
        began_last=ibis.ifelse(began, lives.began_last.fill_null(LAST_DAY), FIRST_DAY),
        ended_first=ibis.ifelse(ended, lives.ended_first.fill_null(FIRST_DAY), LAST_DAY),
        ended_last=lives.ended_last.fill_null(LAST_DAY),
    )
    columns = items.columns
    life_days: dict[str, list[ir.DateValue]] = {column: [] for column in lives.columns[1:]}
    for role in ("subject", "object"):
        theirs = lives.rename({f"{role}_{column}": column for column in lives.columns})
        items = items.left_join(theirs, items[role] == theirs[f"{role}_id"])
    for role in ("subject", "object"):
        outliving = sorted(
            relation_id for relation_id, rule in rules.items() if role not in rule.ends_with
        )
        for name, days in life_days.items():
            edge = FIRST_DAY if name.startswith("began") else LAST_DAY
            day = items[f"{role}_{name}"].fill_null(edge)
            if name.startswith("ended"):
                day = ibis.ifelse(items.relation.isin(outliving), LAST_DAY, day)
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


def _begun(items: ir.Table, rules: Rules) -> ir.Table:
    """Rule 2, and what rule 3 says of ends; each boundary narrowed by the other."""
    open_, closed = items.end_open, items.successor.notnull()
    latest = ibis.least(items.snapshot, items.life_end_last)
    sure = ibis.least(items.snapshot, items.life_end_first, _trusted(items, rules))
    items = items.mutate(
        end_first=ibis.cases(
            (open_ & ~closed & ~items.rival, sure),
            (open_, items.start_first),
            else_=items.end_first,
        ),
        end_last=ibis.cases(
            (open_ & closed, ibis.least(latest, items.successor)),
            (open_, latest),
            else_=items.end_last,
        ),
        end_open=open_ & ~closed & (items.life_end_first >= items.snapshot),
        end_inferred=open_ & closed,
    )
    return items.select(
        *(column for column in _ITEM if column not in DATES),
        "end_inferred",
        "rival",
        start_first="start_first",
        start_last=ibis.least(items.start_last, items.end_last),
        end_first=ibis.greatest(items.end_first, items.start_first),
        end_last="end_last",
    )


def _trusted(items: ir.Table, rules: Rules) -> ir.DateValue:
    """Until when an open fact surely goes on: for so many years after its first possible start."""
    until = [
        (
            items.relation == relation_id,
            (items.start_first + ibis.interval(years=rule.open_for)).cast("date"),
        )
        for relation_id, rule in sorted(rules.items())
        if rule.open_for
    ]
    return ibis.cases(*until, else_=LAST_DAY) if until else LAST_DAY


def _exclusive(engine: Engine, items: ir.Table, rules: Rules) -> ir.Table:
    """Rule 3: adds `successor`, its last possible first day, and `rival`; cuts rule 2's starts."""
    ids = sorted(relation_id for relation_id, rule in rules.items() if rule.exclusive)
    none = {"successor": ibis.null("date"), "rival": ibis.literal(False)}
    if not ids:
        return _by_snapshot(items).mutate(**none)
    items = engine.keep(items)
    shared = _by_snapshot(items.filter(~items.relation.isin(ids))).mutate(**none)
    sole = items.filter(items.relation.isin(ids))
    sole = _with_successor(_by_snapshot(sole), _co_held(sole))
    pair = ibis.window(group_by=PAIR)
    still = sole.end_open & sole.successor.isnull() & (sole.kind != "gap")
    rivals = ibis.ifelse(still, sole.object, ibis.null("string"))
    sole = sole.mutate(still=still, least=rivals.min().over(pair), most=rivals.max().over(pair))
    has_others = (sole.least != sole.object) | (sole.most != sole.object)
    rival = sole.still & (sole["rank"] != "preferred") & has_others
    return shared.union(sole.mutate(rival=rival.fill_null(False)).select(shared.columns))


def _by_snapshot(items: ir.Table) -> ir.Table:
    """What has begun by the snapshot day: an open start is narrowed to it."""
    items = items.filter(~items.end_open | (items.start_first <= items.snapshot))
    cut = ibis.least(items.start_last, items.snapshot)
    return items.mutate(start_last=ibis.ifelse(items.end_open, cut, items.start_last))


def _co_held(items: ir.Table) -> ir.Table:
    """The pairs with terms of two objects that overlap: each ends after the other began, surely."""
    terms = items.filter(items.kind.isin(["state", "point"]))
    ends = ibis.ifelse(terms.end_open, terms.start_first, terms.end_first)
    terms = terms.select(*PAIR, "object", began=terms.start_last, ends=ends).distinct()
    other_terms = terms.rename(other="object", other_began="began", other_ends="ends")
    overlap = (terms.ends > other_terms.other_began) & (other_terms.other_ends > terms.began)
    both = terms.join(other_terms, [*PAIR, terms.object < other_terms.other, overlap])
    return both.select(PAIR).distinct()


def _with_successor(items: ir.Table, co_held: ir.Table) -> ir.Table:
    """Adds `successor`: the earliest last possible start of all successors; null: there is none."""
    columns = items.columns
    asks = items.end_open & (items["rank"] != "preferred")
    items = items.mutate(asks=asks, thing=items.object.fill_null(""))
    key = [*PAIR, "thing", "start_last"]
    open_items = items.filter(items.asks).anti_join(co_held, PAIR).select(key).distinct()
    later_starts = items.filter((items.kind != "gap") & (items.start_first <= items.snapshot))
    later_starts = later_starts.select(
        *PAIR,
        by=later_starts.object,
        begins=later_starts.start_first,
        began=later_starts.start_last,
    ).distinct()
    later = open_items.join(
        later_starts,
        [*PAIR, open_items.thing != later_starts.by, open_items.start_last < later_starts.begins],
    )
    items = items.left_join(later.group_by(key).agg(found=later.began.min()), key)
    return items.select(*columns, successor=ibis.ifelse(items.asks, items.found, ibis.null("date")))


def _segments(items: ir.Table) -> ir.Table:
    """Rule 4. Most objects have one fact, which is their segment: the others alone are sorted."""
    facts = items.filter(items.kind != "gap")
    facts = facts.mutate(statements=ibis.array([facts.statement]))
    columns = (*KEY, *DATES, "end_open", "end_inferred", "rival", "statements", "snapshot")
    repeated = facts.group_by(list(KEY)).having(facts.count() > 1).agg(facts=facts.count())
    several = facts.semi_join(repeated, list(KEY))
    single = facts.anti_join(repeated, list(KEY)).select(columns)
    segments = single.union(_merged(several).select(columns))
    return without_calendar_ends(segments)


def _merged(facts: ir.Table) -> ir.Table:
    """The facts of objects with several, merged.

    A state surely holds from its `start_last` to its `end_first`; such stretches that touch are one
    segment. A state that surely holds on no day, or a sighting, belongs to the segment that surely
    holds around all its days, which it does not lengthen.
    """
    merging = (facts.kind != "point") & ~facts.rival
    facts = facts.mutate(merging=merging, seen=facts.kind == "sighting")
    sure = facts.end_first.delta(facts.start_last, unit="day")
    facts = facts.mutate(lasts=facts.merging & ~facts.seen & (sure >= -1))
    next_day = (facts.end_first + ibis.interval(days=1)).cast("date")
    facts = facts.mutate(
        place=ibis.cases(
            (facts.lasts, facts.start_last), (facts.seen, facts.end_first), else_=next_day
        ),
        until=ibis.ifelse(facts.lasts, facts.end_first, ibis.null("date")),
    )
    by = [*KEY, "merging"]
    order = ["place", _.lasts.desc(), "until", "statement", *DATES, "kind", "end_open"]
    # Numbered once, for rows that are alike come in an order that is each window's own affair.
    number = ibis.row_number().over(ibis.window(group_by=by, order_by=order))
    facts = facts.mutate(number=number)
    before = ibis.window(group_by=by, order_by="number", rows=(None, -1))
    facts = facts.mutate(reached=facts.until.max().over(before))
    apart = facts.reached.isnull() | (facts.start_last.delta(facts.reached, unit="day") > 1)
    facts = facts.mutate(parted=(facts.lasts & apart).cast("int64"))
    so_far = ibis.window(group_by=by, order_by="number", rows=(None, 0))
    facts = facts.mutate(part=facts.parted.sum().over(so_far))
    facts = facts.mutate(reached=facts.until.max().over(ibis.window(group_by=[*by, "part"])))
    beyond = facts.start_last.delta(facts.reached, unit="day")
    inside = (beyond <= ibis.ifelse(facts.seen, 0, 1)).fill_null(False)
    facts = facts.mutate(alone=ibis.ifelse(facts.lasts | inside, -1, facts.number))
    facts = facts.mutate(counts=~facts.seen | (facts.alone >= 0))
    segment = [*by, "part", "alone"]
    latest = [_.counts.desc(), _.end_last.desc(), _.end_first.desc(), _.end_open.desc()]
    place = ibis.window(group_by=segment, order_by=[*latest, "end_inferred"])
    facts = facts.mutate(leads=ibis.row_number().over(place) == 0)
    counts = facts.counts
    segments = facts.group_by(segment).agg(
        start_first=facts.start_first.min(where=counts),
        start_last=facts.start_last.min(where=counts),
        end_first=facts.end_first.max(where=counts),
        end_last=facts.end_last.max(where=counts),
        end_open=facts.end_open.any(where=facts.leads),
        end_inferred=facts.end_inferred.any(where=facts.leads),
        rival=facts.rival.any(),
        statements=facts.statements.collect(),
        snapshot=facts.snapshot.max(),
    )
    return segments.mutate(statements=segments.statements.flatten().unique().sort())


def _gaps(items: ir.Table, entities: ir.Table | None) -> ir.Table:
    """The gaps; an undated object without a name cannot be accepted, so it is left out of its."""
    gaps = without_calendar_ends(items.filter(items.kind == "gap"))
    if entities is not None:
        named_entities = entities.filter(has_label(entities.label)).select(named="id")
        gaps = gaps.left_join(named_entities, gaps.object == named_entities.named)
        unnamed = (gaps.reason == "undated") & gaps.named.isnull()
        gaps = gaps.mutate(object=ibis.ifelse(unnamed, ibis.null("string"), gaps.object))
    columns = ("statement", *KEY, *DATES, "end_open", "reason", "rank", "snapshot")
    return gaps.select(columns).distinct()


def _ranges(table: ir.Table, window: Sequence[Period], at: WhenCounted) -> ir.Table:
    """The `intervals.Ranges` of each row in period indexes; rows possible nowhere are gone."""
    low, high = window[0].index, window[-1].index

    def first_index(day: ir.DateValue) -> ir.IntegerValue:
        return period_index(day, window[0].granularity)

    def last_index(day: ir.DateValue) -> ir.IntegerValue:
        """The last period that a stretch with this last day reaches, or reaches the end of."""
        if at == "during":
            return first_index(day)
        return first_index((day + ibis.interval(days=1)).cast("date")) - 1

    first_day, last_day = ibis.literal(window[0].first), ibis.literal(window[-1].last)
    near = table.filter(IntervalColumns.of(table).holds_within(first_day, last_day).possible)
    places = IntervalColumns.of(near, doubtful=near.doubtful).ranges(
        Window(low, high, low - 1, high + 1), first_index, last_index
    )
    ids = {column: item_number(near[column]).fill_null(0) for column in ("subject", "object")}
    ranged = near.select("relation", **ids, **places._asdict(), cause="cause")
    return ranged.filter(ranged["first"] <= ranged["last"])
