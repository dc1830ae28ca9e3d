"""Snapshot diff: what two dumps of one source say of the same fact, and when they said it.

A fact is a subject, a relation and an object, and it may hold in several terms. Its segments in the
timelines of the dumps of T_old < T_new are compared one by one: those that have a statement in
common belong together, and of the others those whose days may overlap. A fact that a dump states
without a segment, undated or with dates that contradict each other, stands in one row without days.
The first rule that fits says what changed:

1. Only the new dump has the segment: *added* (an editor did) unless it surely begins after T_old;
   then *returned* where the object held before T_old and not at it, else *new*. If the new dump
   states it without a date, too, and the old one not at all, it is *added*.
2. Only the old dump has it: *obsolete* where its end is stated, and it lies between the dumps; else
   *removed*: only valid time makes a fact obsolete.
3. Both have it with the same days: *static*.
4. *returned* or *new*, as in rule 1: it surely begins after T_old now, and did not before.
5. *obsolete*: it may reach T_old, and surely does not reach T_new.
6. Else *corrected*: the world did not change, an editor did. `differs` names what differs.

In the table the ends of an open side are null: what is open asserts no end.

After: CKL (paper 004), section 3, which sets invariant, updated and new knowledge apart; the
rules on valid time are ours.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from itertools import pairwise
from typing import NamedTuple

import ibis
import ibis.expr.types as ir
from ibis import _

from factdrift.builders.core.engine import Engine
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.tables import has_label
from factdrift.builders.facts.intervals import DATES, calendar_end, with_calendar_ends
from factdrift.builders.facts.time_rules import Rules
from factdrift.builders.facts.timeline import KEY, snapshot_day, timeline

CONTENT = ("statement", *KEY, *DATES, "end_open", "point", "sighting")
"""The columns that identify a fact in every dump."""

CHANGE_ORDER = (*KEY, "place")
"""Total order of `changes`, for `Engine.write`; `place` numbers the rows of a fact."""

SEEN_ORDER = (*KEY, *DATES, "end_open", "point", "sighting", "statement")
"""Total order of `seen`, for `Engine.write`."""


class Dump(NamedTuple):
    """The tables that were mined from one dump: `rows.Fact`, `rows.Gap` and `rows.Entity`."""

    facts: ir.Table
    gaps: ir.Table
    entities: ir.Table


def changes(engine: Engine, old: Dump, new: Dump, rules: Rules) -> ir.Table:
    """Compare two dumps, and return one `rows.FactChange` for each segment of a fact.

    `CHANGE_ORDER` orders them. Raises `UserError` if a table of facts does not have exactly one
    snapshot day, or if the day of the older dump is not before that of the newer one.
    """
    old_day, new_day = _in_order(engine, [old.facts, new.facts])
    sides = {
        side_name: engine.keep(_side(engine, dump, rules, ibis.literal(old_day)))
        for side_name, dump in (("old", old), ("new", new))
    }
    named_sides = [
        table.rename(
            {f"{side_name}_{column}": column for column in table.columns if column not in KEY}
        )
        for side_name, table in sides.items()
    ]
    old_rows, new_rows = named_sides
    matches = engine.keep(_matches(engine, old_rows, new_rows))
    old_rows = old_rows.left_join(matches, [*KEY, "old_place"]).drop(
        *(f"{column}_right" for column in (*KEY, "old_place"))
    )
    joined_sides = old_rows.rename(match="new_place").outer_join(
        new_rows,
        [*((old_rows[key] == new_rows[key]) for key in KEY), _.match == new_rows.new_place],
        rname="{name}_",
    )
    joined_sides = joined_sides.mutate(
        **{key: joined_sides[key].coalesce(joined_sides[f"{key}_"]) for key in KEY}
    )
    joined_sides = _with_facts(joined_sides, sides)
    no_statements = ibis.literal([], type="array<string>")
    is_open = {side: joined_sides[f"{side}_end_open"].fill_null(False) for side in sides}
    end_days = {
        f"{side}_{column}": ibis.ifelse(
            is_open[side], ibis.null("date"), joined_sides[f"{side}_{column}"]
        )
        for side in sides
        for column in ("end_first", "end_last")
    }
    joined_sides = joined_sides.mutate(**end_days)
    same_days = _same_days(joined_sides, ibis.literal(old_day), ibis.literal(new_day))
    change = _change(joined_sides, same_days, ibis.literal(old_day), ibis.literal(new_day))
    differing = [
        ibis.ifelse(~same_boundary, boundary, ibis.null("string"))
        for boundary, same_boundary in same_days.items()
    ]
    by_time = [
        joined_sides[f"new_{column}"].coalesce(joined_sides[f"old_{column}"]).asc(nulls_first=True)
        for column in DATES
    ]
    by_time += [joined_sides[f"{side}_place"].asc(nulls_first=True) for side in sides]
    return joined_sides.mutate(
        change=change,
        differs=ibis.ifelse(
            change == "corrected",
            ibis.array(differing).filter(lambda boundary: boundary.notnull()),
            no_statements,
        ),
        place=ibis.row_number().over(ibis.window(group_by=list(KEY), order_by=by_time)),
        old_snapshot=ibis.literal(old_day),
        new_snapshot=ibis.literal(new_day),
        old_statements=joined_sides.old_statements.fill_null(no_statements),
        new_statements=joined_sides.new_statements.fill_null(no_statements),
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


def _side(engine: Engine, dump: Dump, rules: Rules, old_day: ir.DateScalar) -> ir.Table:
    """Return the segments of one dump, and a row without days for each fact without a segment.

    `place` numbers the rows of a fact. `dated` says that the row is a segment, `vague` that the
    dump states its fact without days as well. `at_old` says that the segment may hold on the older
    day, `by_old` that it may have begun by then.
    """
    merged_timeline = timeline(engine, dump.facts, dump.gaps, dump.entities, rules)
    segments = merged_timeline.segments
    named_entities = dump.entities.filter(has_label(dump.entities.label))
    vague_gaps = dump.gaps.filter(dump.gaps.reason.isin(["undated", "contradictory"]))
    vague_gaps = vague_gaps.semi_join(named_entities, vague_gaps.object == named_entities.id)
    stated = dump.facts.select("statement", *KEY, "end_open").union(
        vague_gaps.select("statement", *KEY, "end_open")
    )
    undated_facts = (
        stated.anti_join(segments, list(KEY))
        .group_by(list(KEY))
        .agg(end_open=stated.end_open.any(), statements=stated.statement.collect().unique().sort())
    )
    columns = [*KEY, *DATES, "end_open", "end_inferred", "statements", "dated"]
    no_days = {column: ibis.null("date") for column in DATES}
    side_rows = segments.mutate(dated=ibis.literal(True)).select(columns)
    side_rows = side_rows.union(
        undated_facts.mutate(
            **no_days, end_inferred=ibis.literal(False), dated=ibis.literal(False)
        ).select(columns)
    )
    by_time = [side_rows[column].asc(nulls_first=True) for column in (*DATES, "statements")]
    may_begin = side_rows.dated & (side_rows.start_first <= old_day).fill_null(True)
    may_last = (side_rows.end_last >= old_day).fill_null(True)
    side_rows = side_rows.mutate(
        place=ibis.row_number().over(ibis.window(group_by=list(KEY), order_by=by_time)),
        at_old=may_begin & may_last,
        by_old=may_begin,
    )
    stated_gaps = merged_timeline.gaps.filter(merged_timeline.gaps.object.notnull())
    vague_facts = stated_gaps.select(*KEY).distinct().mutate(vague=ibis.literal(True))
    side_rows = side_rows.left_join(vague_facts, list(KEY)).drop(*(f"{key}_right" for key in KEY))
    return side_rows.mutate(vague=side_rows.vague.fill_null(False))


def _matches(engine: Engine, old_rows: ir.Table, new_rows: ir.Table) -> ir.Table:
    """Return the places of the rows of both dumps that belong together, each at most once.

    Those with a statement in common are matched first, then those whose days may overlap. Of
    several the one with the nearest start is taken.
    """
    pairs = with_calendar_ends(
        old_rows.join(new_rows, list(KEY)),
        [f"{side}_{column}" for side in ("old", "new") for column in DATES],
    )
    shared = pairs.old_statements.intersect(pairs.new_statements).length() > 0
    may_overlap = (pairs.old_start_first <= pairs.new_end_last) & (
        pairs.new_start_first <= pairs.old_end_last
    )
    pairs = pairs.select(
        *KEY,
        "old_place",
        "new_place",
        shared=shared,
        overlap=may_overlap,
        distance=_distance(pairs, "start_first") + _distance(pairs, "start_last"),
        end_distance=_distance(pairs, "end_first") + _distance(pairs, "end_last"),
    )
    pairs = engine.keep(pairs.filter(pairs.shared | pairs.overlap))
    by_statement = engine.keep(_nearest_pairs(pairs.filter(pairs.shared)))
    rest = pairs.filter(pairs.overlap)
    for side in ("old_place", "new_place"):
        rest = rest.anti_join(by_statement, [*KEY, side])
    return by_statement.union(_nearest_pairs(rest))


def _distance(pairs: ir.Table, column: str) -> ir.IntegerValue:
    return pairs[f"old_{column}"].delta(pairs[f"new_{column}"], unit="day").abs()


def _nearest_pairs(pairs: ir.Table) -> ir.Table:
    """The pairs whose two rows are each the nearest one to the other."""
    order = ["distance", "end_distance", "old_place", "new_place"]
    ranks = {
        side: ibis.row_number().over(ibis.window(group_by=[*KEY, side], order_by=order))
        for side in ("old_place", "new_place")
    }
    ranked = pairs.mutate(old_rank=ranks["old_place"], new_rank=ranks["new_place"])
    nearest = ranked.filter((ranked.old_rank == 0) & (ranked.new_rank == 0))
    return nearest.select(*KEY, "old_place", "new_place")


def _with_facts(joined_sides: ir.Table, sides: Mapping[str, ir.Table]) -> ir.Table:
    """Add what each dump says of the whole fact: `old_fact_dated`, `new_fact_at_old` and the like.

    They are null where the dump does not have the fact, and else true where they are of any row.
    """
    for side_name, table in sides.items():
        fact_rows = table.group_by(list(KEY)).agg(
            **{
                f"{side_name}_fact_{column}": table[column].any()
                for column in ("dated", "vague", "at_old", "by_old")
            }
        )
        joined_sides = joined_sides.left_join(fact_rows, list(KEY)).drop(
            *(f"{key}_right" for key in KEY)
        )
    return joined_sides


def _same_days(
    joined_sides: ir.Table, old_day: ir.DateScalar, new_day: ir.DateScalar
) -> dict[str, ir.BooleanValue]:
    """Whether both sides have the same start, and the same end.

    The start of an open fact is narrowed to its snapshot day, which is no difference.
    """
    days = {
        f"{side}_{column}": joined_sides[f"{side}_{column}"].fill_null(calendar_end(column))
        for side in ("old", "new")
        for column in DATES
    }
    is_open = {side: joined_sides[f"{side}_end_open"].fill_null(False) for side in ("old", "new")}
    old_start, new_start = days["old_start_last"], days["new_start_last"]
    same_start_last = (
        (old_start == new_start)
        | (is_open["old"] & (old_start == old_day) & (new_start >= old_day))
        | (is_open["new"] & (new_start == new_day) & (old_start >= new_day))
    )
    same_dates = {column: days[f"old_{column}"] == days[f"new_{column}"] for column in DATES}
    return {
        "start": same_dates["start_first"] & same_start_last,
        "end": (is_open["old"] == is_open["new"])
        & same_dates["end_first"]
        & same_dates["end_last"],
    }


def _change(
    joined_sides: ir.Table,
    same_days: Mapping[str, ir.BooleanValue],
    old_day: ir.DateScalar,
    new_day: ir.DateScalar,
) -> ir.StringValue:
    """Return the change of each row, from what the old and the new dump and timelines say."""

    def is_true(name: str) -> ir.BooleanColumn:
        return joined_sides[name].fill_null(False)

    in_old, in_new = joined_sides.old_place.notnull(), joined_sides.new_place.notnull()
    is_fact_of_old = joined_sides.old_fact_dated.notnull()
    starts_later = {
        side: is_true(f"{side}_dated")
        & (joined_sides[f"{side}_start_first"] > old_day).fill_null(False)
        for side in ("old", "new")
    }
    held_before = is_true("old_fact_dated") | is_true("new_fact_by_old")
    returned = held_before & ~is_true("new_fact_at_old")
    begun = ibis.ifelse(returned, "returned", "new")
    only_vague = ~is_fact_of_old & is_true("new_vague")
    old_end_stated = is_true("old_dated") & ~is_true("old_end_open") & ~is_true("old_end_inferred")
    ended_between = (joined_sides.old_end_last <= new_day) & (joined_sides.old_end_first >= old_day)
    new_end = joined_sides.new_end_last
    reaches_new = is_true("new_end_open") | (new_end >= new_day).fill_null(True)
    reaches_old = (new_end >= old_day).fill_null(True)
    # The branches follow the rules in the module's docstring; the first that fits counts.
    return ibis.cases(
        (in_new & ~in_old & (~starts_later["new"] | only_vague), "added"),
        (in_new & ~in_old, begun),
        (~in_new & old_end_stated & ended_between.fill_null(False), "obsolete"),
        (~in_new, "removed"),
        (same_days["start"] & same_days["end"], "static"),
        (~is_true("new_dated"), "corrected"),
        (starts_later["new"] & ~starts_later["old"], begun),
        (reaches_old & ~reaches_new, "obsolete"),
        else_="corrected",
    )
