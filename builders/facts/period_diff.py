"""Period diff: the answers to a subject and relation in each period, and their changes.

A pair is a subject and a relation. Its answer set A_t holds the objects that certainly hold in
period t. The step from t to t+1 puts the pair into one of four splits:

    A_t        A_{t+1}      split       answers
    not empty  equal        unchanged   A_{t+1}
    not empty  another set  updated     A_{t+1}
    empty      not empty    new         A_{t+1}
    not empty  empty        deleted     A_t

An object is in doubt in a period if a segment or gap makes it possible there and no segment makes
it certain. A comparison is dropped if any object is in doubt in t or t+1; the first of `REASONS`
that fits says why. `undated` decides about objects that are in doubt because of undated statements
alone:

- `accept`, the default: an unchanged comparison stays, and lists these objects in
  `possible_answers`, which scoring accepts and never asks for. Any other split is dropped.
- `doubt`: the comparison is dropped.
- `ignore`, as in the paper: undated statements have no effect.

A relation whose template says `undated: doubt` is always treated as with `doubt`.

Objects that are in doubt because their open statements are stale are possible answers, too: an
`unchanged` or `updated` comparison stays, and `new` and `deleted` ones are dropped.

Neighbouring periods that are equal form a run (`timeline.period_runs`). Comparisons are computed
once for each run, and spread over its single periods at the very end.

After: DynamicTempLAMA (paper 002), section 3; doubt and gaps are ours.
"""

from collections.abc import Collection, Sequence
from datetime import date
from typing import Literal

import ibis
import ibis.expr.types as ir

from factdrift.builders.core.dates import Granularity, Period, periods
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.tables import period_first_day, period_last_day, period_text
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

PAIR_REASONS = ("few_objects", "less_popular")
"""The reasons for which a recipe leaves a pair out as a whole."""

_PAIR = ["subject", "relation"]
_KEY = [*_PAIR, "first"]


def ended_periods(
    first: Period | None, last: Period | None, snapshot: date, kind: Granularity, count: int = 0
) -> list[Period]:
    """Return the periods of a window that had ended by the snapshot day, in order.

    `first` and `last` are periods of this `kind`; the window has no limit where one is absent. With
    `count`, only the last `count` periods are returned. Raises `UserError` if none had ended.
    """
    newest_period = Period.of(snapshot, kind)
    if newest_period.last > snapshot:
        newest_period += -1
    end_period = min(last, newest_period) if last else newest_period
    start_period = first or Period.of(date.min, kind)
    if count:
        start_period = max(start_period, end_period + (1 - count))
    if start_period > end_period:
        raise UserError(
            f"no period from {start_period} on had ended by the snapshot of {snapshot}",
            hint=f"the last that had is {newest_period}",
        )
    return periods(start_period, end_period)


def compare(
    segments: ir.Table,
    window: Sequence[Period],
    gaps: ir.Table | None = None,
    undated: Undated = "accept",
    when_counted: WhenCounted = "during",
    doubting: Collection[str] = (),
) -> ir.Table:
    """Return the comparisons of neighbouring periods of a window, with equal ones in one row.

    Period t is compared with t+1, and A_t is the set of answers in t. Consecutive periods with the
    same answers and doubts are a *run*, from `at` to `until`; `previous` is A_t, `before` is
    A_(t-1), with which t itself was compared, and `now` are the doubts of t+1.

    `segments` and `gaps` are those of a `timeline.TimelineTables`, and `window` holds consecutive
    periods, as `ended_periods` returns them. `when_counted` says whether A_t holds what is certain
    on the last day of t, or on any of its days. The undated statements of the relations `doubting`
    put a comparison in doubt, even where those of other relations are accepted or ignored.

    Columns: `subject` as a number, `relation`; `first`, `last` (index of the first and last t+1);
    `split`, `answers`, `previous_answers`, `possible_answers`, `still_true`, `added`, `removed`
    as in `rows.Delta`; `reason` and `detail` (why it is dropped, and the items that it is about:
    here those in doubt; null: it is kept). The functions `drop_…` set further reasons, and
    `delta_rows` and `dropped_rows` make rows of the table. All of them read it, so pass it through
    `Engine.keep` first.
    """
    if gaps is not None:
        gaps = gaps_that_count(gaps, undated, doubting)
    period_run = period_runs(segments, window, gaps, when_counted)
    in_order = ibis.window(group_by=_PAIR, order_by=period_run.at)
    period_run = period_run.mutate(
        previous=period_run.objects.lag().over(in_order),
        previous_doubts=period_run.doubts.lag().over(in_order),
        # The row of the period before was compared with `before`: itself, inside a run of several.
        before=ibis.ifelse(
            period_run.at.lag().over(in_order) == period_run.at - 1,
            period_run.objects.lag(2).over(in_order),
            period_run.objects.lag().over(in_order),
        ),
    )
    # Inside a run each period is compared with one that is equal to it. Where two runs meet, the
    # last period of the earlier one is compared with the first of the later one.
    inside_runs = period_run.filter(period_run.until > period_run.at).select(
        *_PAIR,
        "objects",
        "doubts",
        first=period_run.at + 1,
        last="until",
        previous="objects",
        before="objects",
        now="doubts",
    )
    between_runs = period_run.filter(period_run.at > window[0].index).select(
        *_PAIR,
        "objects",
        doubts=sorted_set(period_run.doubts.concat(period_run.previous_doubts)),
        first="at",
        last="at",
        previous="previous",
        before="before",
        now="doubts",
    )
    comparisons = inside_runs.union(between_runs)
    # Where no object is certain, what may hold is told as well, unless nothing but undated
    # statements may: they are of no time.
    other_doubts = comparisons.doubts.filter(
        lambda doubt: doubt_cause(doubt) != CAUSES.index("undated")
    )
    has_doubt = other_doubts.length() > 0
    has_answers = (comparisons.objects.length() > 0) | (comparisons.previous.length() > 0)
    comparisons = comparisons.filter(has_answers | has_doubt)
    return _with_split_and_reason(comparisons, undated == "accept", when_counted, doubting)


def gaps_that_count(gaps: ir.Table, undated: Undated, doubting: Collection[str]) -> ir.Table:
    """Leave out the undated gaps if they are ignored, except those of the relations `doubting`."""
    if undated != "ignore":
        return gaps
    return gaps.filter((gaps.reason != "undated") | gaps.relation.isin(sorted(doubting)))


def drop_few_objects(comparisons: ir.Table, segments: ir.Table, objects: int = 2) -> ir.Table:
    """Drop the pairs that have fewer different objects in their whole history (`few_objects`).

    `detail` is the object, or one of them. It is the reason of all comparisons of a pair, whatever
    else may be in doubt, for the pair is left out once.
    Source: DynamicTempLAMA (paper 002), section 3: at least two.
    """
    if objects < 2:
        return comparisons
    object_counts = segments.group_by(_PAIR).agg(
        objects=segments.object.nunique(), detail=segments.object.min()
    )
    pairs = comparisons.select(_PAIR).distinct()
    pairs = pairs.mutate(subject=_item_id(pairs.subject))
    pairs = pairs.left_join(object_counts, _PAIR).select(*_PAIR, "objects", "detail")
    few_pairs = pairs.filter(pairs.objects.fill_null(0) < objects)
    return drop_matching(comparisons, few_pairs, "few_objects", overrides=True)


def drop_uninformative_absence(comparisons: ir.Table, relations: Collection[str]) -> ir.Table:
    """Drop the `new` and `deleted` rows of relations whose silence says nothing.

    Their reason is `no_stated_holder`. An office is not empty because nobody is stated: all real
    `new` and `deleted` rows of such relations that were read by hand had a predecessor or a
    successor whom Wikidata does not name.
    """
    has_empty_side = comparisons.split.isin(["new", "deleted"])
    without_holder = comparisons.filter(
        has_empty_side & comparisons.relation.isin(sorted(relations))
    )
    return drop_matching(comparisons, without_holder.select(_KEY), "no_stated_holder")


def vacant_days(
    comparisons: ir.Table, relations: Collection[str], granularity: Granularity
) -> ir.Table:
    """Return a day without an object for each `new` and `deleted` row of these relations.

    It is the last day of the period that is empty. The columns are those of a comparison's key, and
    `day`.
    """
    has_empty_side = comparisons.split.isin(["new", "deleted"]) & comparisons.reason.isnull()
    asked_rows = comparisons.filter(has_empty_side & comparisons.relation.isin(sorted(relations)))
    is_new = asked_rows.split == "new"
    empty_period = ibis.ifelse(is_new, asked_rows["first"] - 1, asked_rows["first"])
    return asked_rows.select(*_KEY, day=period_last_day(empty_period, granularity))


def drop_unsure_vacancies(comparisons: ir.Table, days: ir.Table, vacancies: ir.Table) -> ir.Table:
    """Drop the rows of `vacant_days` that lie in none of the certain `vacancies`.

    Their reason is `no_stated_holder`, and `vacancies` are those of `vacancies.certain_vacancies`.
    """
    unsure_rows = days.anti_join(vacancies, [*_PAIR, "day"])
    return drop_matching(comparisons, unsure_rows.select(_KEY), "no_stated_holder")


def drop_nothing_added(comparisons: ir.Table) -> ir.Table:
    """Drop the rows that an end alone has `updated` (`nothing_added`).

    A model that knew the other answers before still answers them right.
    """
    ended_only = comparisons.filter(
        (comparisons.split == "updated") & (comparisons.added.length() == 0)
    )
    return drop_matching(comparisons, ended_only.select(_KEY), "nothing_added")


def drop_life_changes(
    comparisons: ir.Table,
    entities: ir.Table,
    granularity: Granularity,
    stated_ends: Collection[str] = (),
) -> ir.Table:
    """Drop the `new` and `deleted` rows in whose period the subject or an object began or ended.

    In the relations `stated_ends` the end of an object is no such reason, because the end of each
    holder is stated.

    Their reason is `life`: the answer changed because somebody was born or died, or because
    something was founded or dissolved. `detail` names the items that may have begun or ended in the
    period.
    """
    with_empty_side = comparisons.filter(comparisons.split.isin(["new", "deleted"]))
    period_days = {
        "since": period_first_day(with_empty_side["first"], granularity),
        "until": period_first_day(with_empty_side["first"] + 1, granularity),
    }
    subjects = with_empty_side.select(
        *_KEY, **period_days, item=_item_id(with_empty_side.subject), ending=ibis.literal(True)
    )
    objects = with_empty_side.select(
        *_KEY,
        **period_days,
        item=with_empty_side.answers.unnest(),
        ending=~with_empty_side.relation.isin(sorted(stated_ends)),
    )
    items_asked = subjects.union(objects)
    lives_met = items_asked.join(entities, items_asked.item == entities.id)

    def inside(first_day: ir.DateColumn, last_day: ir.DateColumn) -> ir.BooleanValue:
        is_known = first_day.notnull() | last_day.notnull()
        not_before = last_day.isnull() | (last_day >= lives_met.since)
        return is_known & not_before & (first_day.isnull() | (first_day < lives_met.until))

    life_changes = lives_met.filter(
        inside(lives_met.began_first, lives_met.began_last)
        | (lives_met.ending & inside(lives_met.ended_first, lives_met.ended_last))
    )
    return drop_matching(comparisons, life_changes.select(*_KEY, detail="item"), "life")


def drop_without_pages(comparisons: ir.Table, entities: ir.Table) -> ir.Table:
    """Drop comparisons whose subject or any object in t or t+1 has no English page (`no_page`).

    The whole comparison is dropped, because to leave out the object alone would invent a change.
    `detail` names the items without a page.
    Source: DynamicTempLAMA (paper 002), section 3.
    """
    open_comparisons = comparisons.filter(comparisons.reason.isnull())
    item_ids = ibis.array([_item_id(open_comparisons.subject)]).concat(
        open_comparisons.answers, open_comparisons.previous_answers
    )
    named_items = open_comparisons.select(*_KEY, detail=item_ids.unnest())
    with_pages = entities.filter(entities.enwiki.notnull()).select("id")
    return drop_matching(
        comparisons,
        named_items.anti_join(with_pages, named_items.detail == with_pages.id),
        "no_page",
    )


def drop_less_popular(comparisons: ir.Table, entities: ir.Table, subjects: int) -> ir.Table:
    """Drop the pairs that are `less_popular_pairs`; call it last."""
    less_popular = less_popular_pairs(comparisons, entities, subjects)
    return drop_matching(comparisons, less_popular, "less_popular")


def less_popular_pairs(comparisons: ir.Table, entities: ir.Table, subjects: int) -> ir.Table:
    """Return the pairs of all but so many most popular subjects of each relation.

    Subjects are ranked by sitelinks, then by statements, then by the lower id. Only subjects that
    still have a row in the window are counted.
    Source: DynamicTempLAMA (paper 002), section 3: 1000.
    """
    ranked_subjects = comparisons.filter(comparisons.reason.isnull()).select(_PAIR).distinct()
    ranked_subjects = ranked_subjects.mutate(id=_item_id(ranked_subjects.subject))
    ranked_subjects = ranked_subjects.left_join(
        entities.select("id", "sitelinks", "statements"), "id"
    )
    by_popularity = [
        -ranked_subjects[column].fill_null(0) for column in ("sitelinks", "statements")
    ]
    of_relation = ibis.window(
        group_by=ranked_subjects.relation, order_by=[*by_popularity, ranked_subjects.subject]
    )
    ranked_subjects = ranked_subjects.mutate(place=ibis.row_number().over(of_relation))
    return ranked_subjects.filter(ranked_subjects.place >= subjects).select(_PAIR)


def delta_rows(comparisons: ir.Table) -> ir.Table:
    """The comparisons that are kept as rows: `rows.Delta`, and the columns of `ORDER`."""
    period_rows = _each_period(comparisons.filter(comparisons.reason.isnull()))
    set_columns = (
        "answers",
        "previous_answers",
        "possible_answers",
        "still_true",
        "added",
        "removed",
    )
    return period_rows.select(
        "subject", "relation", "subject_number", "period", "split", *set_columns
    )


def dropped_rows(comparisons: ir.Table, granularity: Granularity) -> ir.Table:
    """The comparisons that are left out: `rows.Dropped`, and the columns of `ORDER`.

    A pair that the recipe leaves out for one of `PAIR_REASONS` is one row without a period.
    """
    is_of_pair = comparisons.reason.isin(PAIR_REASONS).fill_null(False)
    period_rows = _each_period(comparisons.filter(comparisons.reason.notnull() & ~is_of_pair))
    period_name = period_text(period_rows.period, granularity)
    period_rows = period_rows.select(
        "subject",
        "relation",
        "subject_number",
        "reason",
        "detail",
        step=ibis.literal("diff"),
        item=period_rows.subject + "/" + period_rows.relation + "/" + period_name,
        period=period_name,
        score=ibis.null("float64"),
    )
    pair_rows = comparisons.filter(is_of_pair).select(*_PAIR, "reason", "detail").distinct()
    subject_id = _item_id(pair_rows.subject)
    pair_rows = pair_rows.select(
        "relation",
        "reason",
        "detail",
        subject=subject_id,
        subject_number="subject",
        step=ibis.literal("diff"),
        item=subject_id + "/" + pair_rows.relation,
        period=ibis.null("string"),
        score=ibis.null("float64"),
    )
    return period_rows.union(pair_rows.select(period_rows.columns))


def _with_split_and_reason(
    comparisons: ir.Table,
    accepts_undated: bool,
    when_counted: WhenCounted,
    doubting: Collection[str],
) -> ir.Table:
    """Add the split, the answers and the drop reason of each comparison; see `compare`.

    Objects are numbers until here, because numbers sort and join faster, and become item ids.
    """
    old_objects, new_objects = comparisons.previous, comparisons.objects
    comparisons = comparisons.mutate(before=comparisons.before.fill_null(old_objects))
    comparisons = comparisons.mutate(
        split=ibis.cases(
            (old_objects.length() == 0, "new"),
            (new_objects.length() == 0, "deleted"),
            (old_objects == new_objects, "unchanged"),
            else_="updated",
        ),
        first_doubt=ibis.ifelse(
            comparisons.doubts.length() > 0, comparisons.doubts[0], ibis.null("int64")
        ),
    )
    # Doubts are sorted by their cause, with undated and stale ones last, and objects without a name
    # come first in each cause. So the first doubt tells the reason, and an undated first doubt with
    # a name means that nothing else but stale objects is in doubt.
    doubt_place = doubt_cause(comparisons.first_doubt)
    drop_reason = doubt_place.cases(*enumerate(REASONS.values()), else_=ibis.null("string"))
    has_name = doubted_object(comparisons.first_doubt) > 0
    is_accepted = (doubt_place == CAUSES.index("stale")) & comparisons.split.isin(
        ["unchanged", "updated"]
    )
    if accepts_undated:
        is_accepted |= (
            (doubt_place == CAUSES.index("undated"))
            & has_name
            & (comparisons.split == "unchanged")
            & ~comparisons.relation.isin(sorted(doubting))
        )
    drop_reason = ibis.ifelse(is_accepted, ibis.null("string"), drop_reason)
    is_unchanged, no_items = (
        comparisons.split == "unchanged",
        ibis.literal([], type="array<string>"),
    )
    comparisons = comparisons.mutate(reason=drop_reason, cause=doubt_place)
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
    old_objects, new_objects = comparisons.previous, comparisons.objects
    is_kept = comparisons.split.isin(["unchanged", "updated"]) & comparisons.reason.isnull()
    doubted_items = ibis.ifelse(
        comparisons.seen.length() > 0, comparisons.seen.join(" "), ibis.null("string")
    )
    return comparisons.select(
        *_PAIR,
        "first",
        "last",
        "split",
        "reason",
        answers=ibis.ifelse(comparisons.split == "deleted", old_objects, new_objects),
        previous_answers=old_objects,
        possible_answers=ibis.ifelse(is_kept, comparisons.now, no_items),
        still_true=_still_true(comparisons, no_items) if when_counted == "end" else no_items,
        added=ibis.ifelse(is_unchanged, no_items, array_difference(new_objects, old_objects)),
        removed=ibis.ifelse(is_unchanged, no_items, array_difference(old_objects, new_objects)),
        detail=ibis.ifelse(comparisons.reason.isnull(), ibis.null("string"), doubted_items),
    )


def _still_true(comparisons: ir.Table, no_items: ir.ArrayValue) -> ir.ArrayValue:
    """The answers of an `updated` row that were answers in the period before, too.

    A `deleted` row asks about the period before, so that it has those of that period's row. Other
    rows have none.
    """
    later_objects = ibis.ifelse(
        comparisons.split == "deleted", comparisons.previous, comparisons.objects
    )
    earlier_objects = ibis.ifelse(
        comparisons.split == "deleted", comparisons.before, comparisons.previous
    )
    new_objects = array_difference(later_objects, earlier_objects)
    has_still_true = comparisons.split.isin(["updated", "deleted"]) & (new_objects.length() > 0)
    return ibis.ifelse(has_still_true, array_difference(later_objects, new_objects), no_items)


def _each_period(comparisons: ir.Table) -> ir.Table:
    return comparisons.mutate(
        subject=_item_id(comparisons.subject),
        subject_number="subject",
        period=ibis.range(comparisons.first, comparisons.last + 1).unnest(),
    )


def _item_id(item_number: ir.IntegerValue) -> ir.StringValue:
    return ibis.literal("Q") + item_number.cast("string")


def drop_matching(
    comparisons: ir.Table, matched_keys: ir.Table, reason: str, *, overrides: bool = False
) -> ir.Table:
    """Set the drop reason of the comparisons that match a key and have no reason yet.

    With `overrides`, it replaces the reason that they have.
    The keys are the rows of `matched_keys`. It has the columns `subject` (an id or its number) and
    `relation`, and may have `first` (a period) and `detail`, which is set with the reason. If a key
    occurs with several details, it gets them all, sorted and joined by spaces.
    """
    if matched_keys.subject.type().is_string():
        matched_keys = matched_keys.mutate(subject=item_number(matched_keys.subject))
    # Without `first` the reason counts for all periods of the pair.
    key_columns = [column for column in _KEY if column in matched_keys.columns]
    if "detail" in matched_keys.columns:
        key_details = matched_keys.group_by(key_columns).agg(
            seen=matched_keys.detail.collect().unique().sort().join(" ").nullif("")
        )
    else:
        key_details = matched_keys.select(key_columns).distinct().mutate(seen=ibis.null("string"))
    with_reasons = comparisons.left_join(
        key_details.mutate(found=ibis.literal(reason)), key_columns
    )
    is_matched = with_reasons.found.notnull()
    is_set = is_matched if overrides else is_matched & with_reasons.reason.isnull()
    with_reasons = with_reasons.mutate(
        detail=ibis.ifelse(is_set, with_reasons.seen, with_reasons.detail),
        reason=ibis.ifelse(is_set, with_reasons.found, with_reasons.reason),
    )
    return with_reasons.select(comparisons.columns)
