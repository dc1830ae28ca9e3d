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
"""What names a fact, whichever dump states it."""

SEEN_ORDER = (*KEY, *DATES, "end_open", "point", "sighting", "statement")
"""Total order of `seen`, for `Engine.write`."""


class Dump(NamedTuple):
    """What was mined of one dump: `rows.Fact`, `rows.Gap`, `rows.Entity`."""

    facts: ir.Table
    gaps: ir.Table
    entities: ir.Table


def changes(engine: Engine, old: Dump, new: Dump, rules: Rules) -> ir.Table:
    """Compare two dumps: one `rows.FactChange` for each triple, which `KEY` orders.

    `UserError` where a table of facts has not exactly one snapshot day, or the first one's is not
    before the second's.
    """
    days = _in_order(engine, [old.facts, new.facts])
    sides = [_side(engine, dump, rules, days, name) for dump, name in ((old, "old"), (new, "new"))]
    both = sides[0].outer_join(sides[1], list(KEY), rname="{name}_")
    both = both.mutate(**{key: both[key].coalesce(both[f"{key}_"]) for key in KEY})
    none = ibis.literal([], type="array<string>")
    ends = {
        f"{side}_{column}": ibis.ifelse(
            both[f"{side}_end_open"], ibis.null("date"), both[f"{side}_{column}"]
        )
        for side in ("old", "new")
        for column in ("end_first", "end_last")
    }
    return both.mutate(
        change=_change(both),
        old_snapshot=ibis.literal(days[0]),
        new_snapshot=ibis.literal(days[1]),
        old_statements=both.old_statements.fill_null(none),
        new_statements=both.new_statements.fill_null(none),
        **ends,
    )


def seen(engine: Engine, snapshots: Sequence[ir.Table]) -> ir.Table:
    """Every distinct fact of one or more tables of facts, oldest first, as `rows.SeenFact`.

    Facts are one where statement, subject, relation, object, the four dates, `end_open`, `point`
    and `sighting` are; of two ranks the newer is taken. `UserError` as in `changes`.
    """
    _in_order(engine, snapshots)
    facts = snapshots[0]
    for table in snapshots[1:]:
        facts = facts.union(table)
    facts = facts.group_by([*CONTENT, "snapshot"]).agg(rank=facts["rank"].max())
    return facts.group_by(list(CONTENT)).agg(
        rank=facts["rank"].argmax(facts.snapshot),
        first_seen=facts.snapshot.min(),
        last_seen=facts.snapshot.max(),
    )


def _in_order(engine: Engine, snapshots: Sequence[ir.Table]) -> list[date]:
    days = [snapshot_day(engine, table) for table in snapshots]
    for older, newer in pairwise(days):
        if older >= newer:
            raise UserError(
                f"the snapshot of {older} is not before that of {newer}",
                hint="give the older dump first",
            )
    return days


def _side(engine: Engine, dump: Dump, rules: Rules, days: Sequence[date], name: str) -> ir.Table:
    """What one dump says of each triple; all columns but the key begin with the side's name."""
    old, new = (ibis.literal(day) for day in days)
    line = timeline(engine, dump.facts, dump.gaps, dump.entities, rules)
    facts, gaps, segments = dump.facts, dump.gaps, line.segments
    stated = facts.select(
        "statement",
        *KEY,
        "end_open",
        later=(facts.start_first > old).fill_null(False),
        ended=~facts.end_open & (facts.end_last <= new).fill_null(False),
        since=~facts.end_open & (facts.end_first >= old).fill_null(False),
        vague=ibis.literal(False),
    )
    named_entities = dump.entities.filter(has_label(dump.entities.label))
    vague = gaps.filter(gaps.reason.isin(["undated", "contradictory"]))
    vague = vague.semi_join(named_entities, vague.object == named_entities.id).mutate(
        since=ibis.literal(False), **dict.fromkeys(("later", "ended", "vague"), ibis.literal(True))
    )
    stated = stated.union(vague.select(stated.columns))
    triples = stated.group_by(list(KEY)).agg(
        statements=stated.statement.collect().unique().sort(),
        stated_open=stated.end_open.any(),
        facts=(~stated.vague).any(),
        later=stated.later.all(),
        ended=stated.ended.all(),
        since=stated.since.any(),
    )
    after = (segments.start_first > old).fill_null(False)
    to_old = segments.end_last.isnull() | (segments.end_last >= old)
    text = ibis.literal(" ").join(
        [segments[column].cast("string").fill_null("..") for column in DATES]
    )
    held = segments.group_by(list(KEY)).agg(
        **_hull(segments),
        after=after.any(),
        before=(~after).any(),
        reaches=(~after & to_old).any(),
        to_old=to_old.any(),
        to_new=(segments.end_last.isnull() | (segments.end_last >= new)).any(),
        days=text.collect().unique().sort(),
        segments=segments.count(),
    )
    unsure = line.gaps.filter(line.gaps.object.notnull()).select(*KEY).distinct()
    for more in (unsure.mutate(vague=True), held):
        triples = triples.left_join(more, list(KEY)).drop(*(f"{key}_right" for key in KEY))
    triples = triples.mutate(has=True, end_open=triples.end_open.coalesce(triples.stated_open))
    return triples.rename(
        {f"{name}_{column}": column for column in triples.columns if column not in KEY}
    )


def _hull(segments: ir.Table) -> dict[str, ir.Value]:
    """The four dates that span those of segments; null where one has none."""

    def unless_unknown(column: ir.DateColumn, joined: ir.DateScalar) -> ir.DateScalar:
        return ibis.ifelse(column.isnull().any(), None, joined)

    return {
        "start_first": unless_unknown(segments.start_first, segments.start_first.min()),
        "start_last": segments.start_last.min(),
        "end_first": segments.end_first.max(),
        "end_last": unless_unknown(segments.end_last, segments.end_last.max()),
        "end_open": segments.end_open.any(),
    }


def _change(both: ir.Table) -> ir.StringColumn:
    def of(name: str) -> ir.BooleanColumn:
        return both[name].fill_null(False)

    old, new = of("old_has"), of("new_has")
    began = of("new_after") & ~of("new_reaches") & ~of("old_after")
    before = both.old_segments.notnull() | of("new_before")
    same = (both.old_days == both.new_days).fill_null(False)
    return ibis.cases(
        (new & ~old & of("new_facts") & of("new_later") & ~of("new_vague"), "new"),
        (new & ~old, "added"),
        (~new & of("old_facts") & of("old_ended") & of("old_since"), "obsolete"),
        (~new, "removed"),
        (both.new_segments.isnull(), "static"),
        (began & before, "returned"),
        (began, "new"),
        (of("new_to_new"), "static"),
        (of("new_to_old"), "obsolete"),
        (same, "static"),
        else_="corrected",
    )
