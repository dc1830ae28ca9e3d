"""Period diff: what the answer to (subject, relation) is in each period, and what changed.

The answer set A_t holds the objects that are certain in t. Between t and t+1 a pair is

    A_t        A_{t+1}      split       answers
    not empty  equal        unchanged   A_{t+1}
    not empty  another set  updated     A_{t+1}
    empty      not empty    new         A_{t+1}
    not empty  empty        deleted     A_t

A pair is compared only where nothing is in doubt in t or t+1, that is possible by a segment or a
gap and certain by none. `undated` says what undated statements do to a comparison: `accept`, the
default: an unchanged row stays, and names their objects in `possible_answers`, which scoring
accepts and never asks for, while any other split is dropped; `doubt`: all are dropped; `ignore`, as
in the paper: nothing. Where a comparison is dropped, the first of `REASONS` that fits tells why.

Everything is computed once a run of equal periods (`timeline.runs`); rows are spread over the
single periods at the very end.

After: DynamicTempLAMA (paper 002), section 3; doubt and gaps are ours.
"""

from collections.abc import Collection, Sequence
from datetime import date
from typing import Literal

import ibis
import ibis.expr.types as ir

from factdrift.builders.core.dates import PERIODS_PER_YEAR, Granularity, Period, periods
from factdrift.builders.core.errors import UserError
from factdrift.builders.facts.timeline import (
    CAUSES,
    REASONS,
    WhenCounted,
    array_difference,
    doubt_cause,
    doubted_object,
    item_number,
    period_runs,
    sorted_set,
)

Undated = Literal["accept", "doubt", "ignore"]

ORDER = ("subject_number", "relation", "period")
"""Total order of `delta_rows` and of `dropped_rows`, for `Engine.write`."""

_PAIR = ["subject", "relation"]
_KEY = [*_PAIR, "first"]


def ended_periods(
    first: Period | None, last: Period | None, snapshot: date, kind: Granularity, count: int = 0
) -> list[Period]:
    """The periods of a window that had ended by the snapshot day, in order.

    `first`, `last`: of `kind`, and either may be absent; `count`: only the last so many of them.
    `UserError` where none had.
    """
    newest = Period.of(snapshot, kind)
    if newest.last > snapshot:
        newest += -1
    end = min(last, newest) if last else newest
    start = first or Period.of(date.min, kind)
    if count:
        start = max(start, end + (1 - count))
    if start > end:
        raise UserError(
            f"no period from {start} on had ended by the snapshot of {snapshot}",
            hint=f"the last that had is {newest}",
        )
    return periods(start, end)


def compare(
    segments: ir.Table,
    window: Sequence[Period],
    gaps: ir.Table | None = None,
    undated: Undated = "accept",
    at: WhenCounted = "during",
    doubting: Collection[str] = (),
) -> ir.Table:
    """Every comparison of neighbouring periods of a window, equal neighbours in one row.

    `segments`, `gaps`: of a `timeline.TimelineTables`; `window`: consecutive periods, as from
    `ended_periods`. `at`: the day of A_t, the period's last one, or any. `doubting`: relations
    whose undated statements are doubts although others are accepted.

    Columns: `subject` as a number, `relation`; `first`, `last` (index of the first and last t+1);
    `split`, `answers`, `previous_answers`, `possible_answers`, `still_true`, `added`, `removed`
    as in `rows.Delta`; `reason` and `detail` (why it is dropped, and the items that it is about:
    here those in doubt; null: it is kept). the functions `drop_…` set further
    reasons; `delta_rows` and `dropped_rows` make rows of it. All of them read it: `Engine.keep` it.
    """
    if gaps is not None and undated == "ignore":
        gaps = gaps.filter(gaps.reason != "undated")
    run = period_runs(segments, window, gaps, at)
    earlier = ibis.window(group_by=_PAIR, order_by=run.at)
    run = run.mutate(
        previous=run.objects.lag().over(earlier),
        previous_doubts=run.doubts.lag().over(earlier),
        # What a row of the period before was compared with: itself, inside a run of several.
        before=ibis.ifelse(
            run.at.lag().over(earlier) == run.at - 1,
            run.objects.lag(2).over(earlier),
            run.objects.lag().over(earlier),
        ),
    )
    # Inside a run, each period against its equal; where runs meet, the last against the first.
    within = run.filter(run.until > run.at).select(
        *_PAIR,
        "objects",
        "doubts",
        first=run.at + 1,
        last="until",
        previous="objects",
        before="objects",
        now="doubts",
    )
    meeting = run.filter(run.at > window[0].index).select(
        *_PAIR,
        "objects",
        doubts=sorted_set(run.doubts.concat(run.previous_doubts)),
        first="at",
        last="at",
        previous="previous",
        before="before",
        now="doubts",
    )
    comparisons = within.union(meeting)
    comparisons = comparisons.filter(
        (comparisons.objects.length() > 0) | (comparisons.previous.length() > 0)
    )
    return _with_split_and_reason(comparisons, undated == "accept", at, doubting)


def drop_few_objects(comparisons: ir.Table, segments: ir.Table, objects: int = 2) -> ir.Table:
    """Drop (`few_objects`) pairs with fewer different objects over their whole history.

    `detail` is the object, or one of them.
    Source: DynamicTempLAMA (paper 002), section 3: at least two.
    """
    counted = segments.group_by(_PAIR).agg(
        objects=segments.object.nunique(), detail=segments.object.min()
    )
    return drop_matching(comparisons, counted.filter(counted.objects < objects), "few_objects")


def drop_uninformative_absence(comparisons: ir.Table, relations: Collection[str]) -> ir.Table:
    """Drop (`no_stated_holder`) what is `new` or `deleted` in relations whose silence says nothing.

    An office is not empty because nobody is stated: of real `new` and `deleted` rows of such
    relations that were read, all were a predecessor or a successor that Wikidata does not name.
    """
    empty = comparisons.split.isin(["new", "deleted"])
    without_holder = comparisons.filter(empty & comparisons.relation.isin(sorted(relations)))
    return drop_matching(comparisons, without_holder.select(_KEY), "no_stated_holder")


def drop_nothing_added(comparisons: ir.Table) -> ir.Table:
    """Drop (`nothing_added`) what is `updated` by an end alone: whoever knew the rest is right."""
    ended_only = comparisons.filter(
        (comparisons.split == "updated") & (comparisons.added.length() == 0)
    )
    return drop_matching(comparisons, ended_only.select(_KEY), "nothing_added")


def drop_life_changes(
    comparisons: ir.Table, entities: ir.Table, granularity: Granularity
) -> ir.Table:
    """Drop (`life`) what is `new` or `deleted` as its subject or an object began or ended then.

    `detail` are the items that may have begun or ended after the period before and until this one.
    """
    empty = comparisons.filter(comparisons.split.isin(["new", "deleted"]))
    per_year = PERIODS_PER_YEAR[granularity]

    def first_day(index: ir.IntegerValue) -> ir.DateValue:
        return ibis.date(
            index // per_year, index % per_year * (12 // per_year) + 1, ibis.literal(1)
        )

    items_asked = empty.select(
        *_KEY,
        since=first_day(empty["first"]),
        until=first_day(empty["first"] + 1),
        item=ibis.array([_item_id(empty.subject)]).concat(empty.answers).unnest(),
    )
    lives_met = items_asked.join(entities, items_asked.item == entities.id)

    def inside(first: ir.DateColumn, last: ir.DateColumn) -> ir.BooleanValue:
        is_known = first.notnull() | last.notnull()
        early = last.isnull() | (last >= lives_met.since)
        return is_known & early & (first.isnull() | (first < lives_met.until))

    life_changes = lives_met.filter(
        inside(lives_met.began_first, lives_met.began_last)
        | inside(lives_met.ended_first, lives_met.ended_last)
    )
    return drop_matching(comparisons, life_changes.select(*_KEY, detail="item"), "life")


def drop_without_pages(comparisons: ir.Table, entities: ir.Table) -> ir.Table:
    """Drop (`no_page`) comparisons whose subject or any object in t or t+1 has no `enwiki`.

    The whole comparison goes: to leave out the object alone would invent a change. `detail` are
    the items without one.
    Source: DynamicTempLAMA (paper 002), section 3.
    """
    open_comparisons = comparisons.filter(comparisons.reason.isnull())
    items = ibis.array([_item_id(open_comparisons.subject)]).concat(
        open_comparisons.answers, open_comparisons.previous_answers
    )
    named_items = open_comparisons.select(*_KEY, detail=items.unnest())
    paged = entities.filter(entities.enwiki.notnull()).select("id")
    return drop_matching(
        comparisons, named_items.anti_join(paged, named_items.detail == paged.id), "no_page"
    )


def drop_less_popular(comparisons: ir.Table, entities: ir.Table, subjects: int) -> ir.Table:
    """Drop (`less_popular`) all but the most popular subjects of each relation; call it last.

    Popular by sitelinks, then statements, then the lower id. Only subjects that still have a
    row in the window are counted. Source: DynamicTempLAMA (paper 002), section 3: 1000.
    """
    ranked = comparisons.filter(comparisons.reason.isnull()).select(_PAIR).distinct()
    ranked = ranked.mutate(id=_item_id(ranked.subject))
    ranked = ranked.left_join(entities.select("id", "sitelinks", "statements"), "id")
    order = [-ranked[column].fill_null(0) for column in ("sitelinks", "statements")]
    by = ibis.window(group_by=ranked.relation, order_by=[*order, ranked.subject])
    ranked = ranked.mutate(place=ibis.row_number().over(by))
    return drop_matching(comparisons, ranked.filter(ranked.place >= subjects), "less_popular")


def delta_rows(comparisons: ir.Table) -> ir.Table:
    """The comparisons that are kept as rows: `rows.Delta`, and the columns of `ORDER`."""
    rows = _each_period(comparisons.filter(comparisons.reason.isnull()))
    sets = ("answers", "previous_answers", "possible_answers", "still_true", "added", "removed")
    return rows.select("subject", "relation", "subject_number", "period", "split", *sets)


def dropped_rows(comparisons: ir.Table, granularity: Granularity) -> ir.Table:
    """The comparisons that are left out: `rows.Dropped`, and the columns of `ORDER`."""
    rows = _each_period(comparisons.filter(comparisons.reason.notnull()))
    per_year = PERIODS_PER_YEAR[granularity]
    period = (rows.period // per_year).cast("string").lpad(4, "0")
    place = (rows.period % per_year + 1).cast("string")
    if granularity == "quarter":
        period = period + "Q" + place
    elif granularity == "month":
        period = period + "M" + place.lpad(2, "0")
    return rows.select(
        "subject",
        "relation",
        "subject_number",
        "reason",
        "detail",
        step=ibis.literal("diff"),
        item=rows.subject + "/" + rows.relation + "/" + period,
        period=period,
        score=ibis.null("float64"),
    )


def _with_split_and_reason(
    comparisons: ir.Table, accept: bool, at: WhenCounted, doubting: Collection[str]
) -> ir.Table:
    old, new = comparisons.previous, comparisons.objects
    comparisons = comparisons.mutate(before=comparisons.before.fill_null(old))
    comparisons = comparisons.mutate(
        split=ibis.cases(
            (old.length() == 0, "new"),
            (new.length() == 0, "deleted"),
            (old == new, "unchanged"),
            else_="updated",
        ),
        first_doubt=ibis.ifelse(
            comparisons.doubts.length() > 0, comparisons.doubts[0], ibis.null("int64")
        ),
    )
    # Doubts are sorted by cause, undated ones last, and of each cause what has no name is first.
    cause = doubt_cause(comparisons.first_doubt)
    drop_reason = cause.cases(*enumerate(REASONS.values()), else_=ibis.null("string"))
    if accept:
        is_accepted = (cause == CAUSES.index("undated")) & (
            doubted_object(comparisons.first_doubt) > 0
        )
        is_accepted &= ~comparisons.relation.isin(sorted(doubting))
        drop_reason = ibis.ifelse(
            is_accepted & (comparisons.split == "unchanged"), ibis.null("string"), drop_reason
        )
    is_unchanged, no_items = (
        comparisons.split == "unchanged",
        ibis.literal([], type="array<string>"),
    )
    comparisons = comparisons.mutate(reason=drop_reason, cause=cause)
    seen_doubts = comparisons.doubts.filter(
        lambda doubt: (doubt_cause(doubt) == comparisons.cause) & (doubted_object(doubt) > 0)
    )
    comparisons = comparisons.mutate(
        seen=seen_doubts.map(lambda doubt: _item_id(doubted_object(doubt))),
        now=comparisons.now.map(lambda doubt: _item_id(doubted_object(doubt))),
        **{
            column: comparisons[column].map(_item_id)
            for column in ("objects", "previous", "before")
        },
    )
    old, new = comparisons.previous, comparisons.objects
    is_kept = is_unchanged & comparisons.reason.isnull()
    detail = ibis.ifelse(
        comparisons.seen.length() > 0, comparisons.seen.join(" "), ibis.null("string")
    )
    return comparisons.select(
        *_PAIR,
        "first",
        "last",
        "split",
        "reason",
        answers=ibis.ifelse(comparisons.split == "deleted", old, new),
        previous_answers=old,
        possible_answers=ibis.ifelse(is_kept, comparisons.now, no_items),
        still_true=_still_true(comparisons, no_items) if at == "end" else no_items,
        added=ibis.ifelse(is_unchanged, no_items, array_difference(new, old)),
        removed=ibis.ifelse(is_unchanged, no_items, array_difference(old, new)),
        detail=ibis.ifelse(comparisons.reason.isnull(), ibis.null("string"), detail),
    )


def _still_true(comparisons: ir.Table, none: ir.ArrayValue) -> ir.ArrayValue:
    """What `updated` answers were answers before; of `deleted`, in the row of the period before."""
    new = ibis.ifelse(comparisons.split == "deleted", comparisons.previous, comparisons.objects)
    old = ibis.ifelse(comparisons.split == "deleted", comparisons.before, comparisons.previous)
    new_objects = array_difference(new, old)
    has_still_true = comparisons.split.isin(["updated", "deleted"]) & (new_objects.length() > 0)
    return ibis.ifelse(has_still_true, array_difference(new, new_objects), none)


def _each_period(comparisons: ir.Table) -> ir.Table:
    return comparisons.mutate(
        subject=_item_id(comparisons.subject),
        subject_number="subject",
        period=ibis.range(comparisons.first, comparisons.last + 1).unnest(),
    )


def _item_id(item_number: ir.IntegerValue) -> ir.StringValue:
    return ibis.literal("Q") + item_number.cast("string")


def drop_matching(comparisons: ir.Table, keys: ir.Table, reason: str) -> ir.Table:
    """Give the reason to comparisons that have none yet and are found by their key.

    `keys`: `subject` (an id or its number), `relation`, perhaps `first`, and perhaps `detail`, of
    which a key may have several.
    """
    if keys.subject.type().is_string():
        keys = keys.mutate(subject=item_number(keys.subject))
    key = [column for column in _KEY if column in keys.columns]
    if "detail" in keys.columns:
        details = keys.group_by(key).agg(seen=keys.detail.collect().unique().sort().join(" "))
    else:
        details = keys.select(key).distinct().mutate(seen=ibis.null("string"))
    with_reasons = comparisons.left_join(details.mutate(found=ibis.literal(reason)), key)
    with_reasons = with_reasons.mutate(
        detail=ibis.ifelse(with_reasons.reason.isnull(), with_reasons.seen, with_reasons.detail),
        reason=with_reasons.reason.coalesce(with_reasons.found),
    )
    return with_reasons.select(comparisons.columns)
