"""Snapshot diff: what two dumps of one source say of the same fact, and when they said it.

Each (subject, relation, object) that a statement of a dump names, dated or not, is compared by what
the dumps of T_old < T_new state of it, and by its timelines at their snapshot days. The first rule
that fits says what changed:

1. Only the new dump has it: *new* where every fact of it surely begins after T_old and none of its
   statements is a gap; else *added* (an editor did).
2. Only the old dump has it: *obsolete* where each of its facts had ended by T_new by what it states
   of its end, and one surely on T_old or later; else *removed*: only valid time makes a fact
   obsolete.
3. Both have it, and the new dump's timeline has no segment of it: *static*.
4. *returned* (a second term) or *new* (none before): a new segment surely begins after T_old, none
   may reach T_old, and no old one surely began after it.
5. *static*: a new segment may reach T_new.
6. *obsolete*: one may reach T_old.
7. It all lies before T_old: *static* where both timelines have the same days, else *corrected*: the
   world did not change, an editor did.

A side's dates are the hull of its segments. In the table the ends of an open side are null: what is
open asserts no end.

After: CKL (paper 004), section 3, which sets invariant, updated and new knowledge apart; the
rules on valid time are ours.
"""

from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from typing import NamedTuple

import ibis
import ibis.expr.types as ir

from factdrift.builders.core.engine import Engine
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.tables import has_label
from factdrift.builders.facts.intervals import DATES
from factdrift.builders.facts.timeline import KEY, Rules, snapshot_day, timeline

CONTENT = ("statement", *KEY, *DATES, "end_open", "point", "sighting")
"""The columns that identify a fact in every dump."""

SEEN_ORDER = (*KEY, *DATES, "end_open", "point", "sighting", "statement")
"""Total order of `seen`, for `Engine.write`."""


class Dump(NamedTuple):
    """The tables that were mined from one dump: `rows.Fact`, `rows.Gap` and `rows.Entity`."""

    facts: ir.Table
    gaps: ir.Table
    entities: ir.Table


def changes(engine: Engine, old: Dump, new: Dump, rules: Rules) -> ir.Table:
    """Compare two dumps, and return one `rows.FactChange` for each triple; `KEY` orders them.

    Raises `UserError` if a table of facts does not have exactly one snapshot day, or if the day of
    the older dump is not before that of the newer one.
    """
    snapshot_days = _in_order(engine, [old.facts, new.facts])
    both_sides = [
        _side(engine, dump, rules, snapshot_days, side_name)
        for dump, side_name in ((old, "old"), (new, "new"))
    ]
    joined_sides = both_sides[0].outer_join(both_sides[1], list(KEY), rname="{name}_")
    joined_sides = joined_sides.mutate(
        **{key: joined_sides[key].coalesce(joined_sides[f"{key}_"]) for key in KEY}
    )
    no_statements = ibis.literal([], type="array<string>")
    end_days = {
        f"{side}_{column}": ibis.ifelse(
            joined_sides[f"{side}_end_open"], ibis.null("date"), joined_sides[f"{side}_{column}"]
        )
        for side in ("old", "new")
        for column in ("end_first", "end_last")
    }
    return joined_sides.mutate(
        change=_change(joined_sides),
        old_snapshot=ibis.literal(snapshot_days[0]),
        new_snapshot=ibis.literal(snapshot_days[1]),
        old_statements=joined_sides.old_statements.fill_null(no_statements),
        new_statements=joined_sides.new_statements.fill_null(no_statements),
        **end_days,
    )


def seen(engine: Engine, snapshots: Sequence[ir.Table]) -> ir.Table:
    """Return every distinct fact of one or more tables of facts as `rows.SeenFact`.

    The tables come in the order of their snapshots, the oldest first. Two facts are the same where
    all columns of `CONTENT` are equal; where their ranks differ, the rank of the newer one is
    taken. Raises `UserError` as `changes` does.
    """
    _in_order(engine, snapshots)
    all_facts = snapshots[0]
    for table in snapshots[1:]:
        all_facts = all_facts.union(table)
    all_facts = all_facts.group_by([*CONTENT, "snapshot"]).agg(rank=all_facts["rank"].max())
    return all_facts.group_by(list(CONTENT)).agg(
        rank=all_facts["rank"].argmax(all_facts.snapshot),
        first_seen=all_facts.snapshot.min(),
        last_seen=all_facts.snapshot.max(),
    )


def _in_order(engine: Engine, snapshots: Sequence[ir.Table]) -> list[date]:
    snapshot_days = [snapshot_day(engine, fact_table) for fact_table in snapshots]
    for older, newer in pairwise(snapshot_days):
        if older >= newer:
            raise UserError(
                f"the snapshot of {older} is not before that of {newer}",
                hint="give the older dump first",
            )
    return snapshot_days


def _side(
    engine: Engine, dump: Dump, rules: Rules, snapshot_days: Sequence[date], side_name: str
) -> ir.Table:
    """Return what one dump says of each triple.

    The names of all columns but the key begin with the name of the side, as in `old_reaches`:

    * `later`, `ended`, `since` are about the stated facts: all begin after the older day, all ended
      by the newer one, and some ended on the older day or after it.
    * `after`, `before`, `reaches`, `to_old`, `to_new` are about the segments: some begin after the
      older day, some do not, some that do not reach it, some reach it, some reach the newer day.
    * `vague` says that the timeline has a gap of this object.
    """
    old_day, new_day = (ibis.literal(day) for day in snapshot_days)
    merged_timeline = timeline(engine, dump.facts, dump.gaps, dump.entities, rules)
    facts, gaps, segments = dump.facts, dump.gaps, merged_timeline.segments
    stated_facts = facts.select(
        "statement",
        *KEY,
        "end_open",
        later=(facts.start_first > old_day).fill_null(False),
        ended=~facts.end_open & (facts.end_last <= new_day).fill_null(False),
        since=~facts.end_open & (facts.end_first >= old_day).fill_null(False),
        vague=ibis.literal(False),
    )
    named_entities = dump.entities.filter(has_label(dump.entities.label))
    # A gap without days asserts a triple, but neither when it began nor when it ended: it begins
    # late enough for `later` and ends early enough for `ended`, so that the facts decide.
    vague_gaps = gaps.filter(gaps.reason.isin(["undated", "contradictory"]))
    vague_gaps = vague_gaps.semi_join(
        named_entities, vague_gaps.object == named_entities.id
    ).mutate(
        since=ibis.literal(False), **dict.fromkeys(("later", "ended", "vague"), ibis.literal(True))
    )
    stated_facts = stated_facts.union(vague_gaps.select(stated_facts.columns))
    triple_rows = stated_facts.group_by(list(KEY)).agg(
        statements=stated_facts.statement.collect().unique().sort(),
        stated_open=stated_facts.end_open.any(),
        facts=(~stated_facts.vague).any(),
        later=stated_facts.later.all(),
        ended=stated_facts.ended.all(),
        since=stated_facts.since.any(),
    )
    begins_after = (segments.start_first > old_day).fill_null(False)
    reaches_old = segments.end_last.isnull() | (segments.end_last >= old_day)
    segment_days = ibis.literal(" ").join(
        [segments[column].cast("string").fill_null("..") for column in DATES]
    )
    held_segments = segments.group_by(list(KEY)).agg(
        **_hull(segments),
        after=begins_after.any(),
        before=(~begins_after).any(),
        reaches=(~begins_after & reaches_old).any(),
        to_old=reaches_old.any(),
        to_new=(segments.end_last.isnull() | (segments.end_last >= new_day)).any(),
        days=segment_days.collect().unique().sort(),
        segments=segments.count(),
    )
    unsure_triples = (
        merged_timeline.gaps.filter(merged_timeline.gaps.object.notnull()).select(*KEY).distinct()
    )
    for more_columns in (unsure_triples.mutate(vague=True), held_segments):
        triple_rows = triple_rows.left_join(more_columns, list(KEY)).drop(
            *(f"{key}_right" for key in KEY)
        )
    triple_rows = triple_rows.mutate(
        has=True, end_open=triple_rows.end_open.coalesce(triple_rows.stated_open)
    )
    return triple_rows.rename(
        {f"{side_name}_{column}": column for column in triple_rows.columns if column not in KEY}
    )


def _hull(segments: ir.Table) -> dict[str, ir.Value]:
    """The four dates that span those of all segments; null where one of the segments has none."""

    def unless_unknown(day_column: ir.DateColumn, joined_day: ir.DateScalar) -> ir.DateScalar:
        return ibis.ifelse(day_column.isnull().any(), None, joined_day)

    return {
        "start_first": unless_unknown(segments.start_first, segments.start_first.min()),
        "start_last": segments.start_last.min(),
        "end_first": segments.end_first.max(),
        "end_last": unless_unknown(segments.end_last, segments.end_last.max()),
        "end_open": segments.end_open.any(),
    }


def _change(joined_sides: ir.Table) -> ir.StringColumn:
    def is_true(name: str) -> ir.BooleanColumn:
        return joined_sides[name].fill_null(False)

    in_old, in_new = is_true("old_has"), is_true("new_has")
    has_begun = is_true("new_after") & ~is_true("new_reaches") & ~is_true("old_after")
    held_before = joined_sides.old_segments.notnull() | is_true("new_before")
    same_days = (joined_sides.old_days == joined_sides.new_days).fill_null(False)
    # The branches follow the rules in the module's docstring; the first that fits counts.
    return ibis.cases(
        (
            in_new & ~in_old & is_true("new_facts") & is_true("new_later") & ~is_true("new_vague"),
            "new",
        ),
        (in_new & ~in_old, "added"),
        (~in_new & is_true("old_facts") & is_true("old_ended") & is_true("old_since"), "obsolete"),
        (~in_new, "removed"),
        (joined_sides.new_segments.isnull(), "static"),
        (has_begun & held_before, "returned"),
        (has_begun, "new"),
        (is_true("new_to_new"), "static"),
        (is_true("new_to_old"), "obsolete"),
        (same_days, "static"),
        else_="corrected",
    )
