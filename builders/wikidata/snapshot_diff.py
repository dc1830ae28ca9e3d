"""Snapshot diff: what two dumps of one source say of the same fact, and when they said it.

Two fact tables at T_old < T_new become timelines, each at its own snapshot day. For each
(subject, relation, object) the hull of a side's segments is its interval there. The first rule
that fits says what changed:

1. obsolete: both sides have it; in the new one it is closed and its last possible day is known
   and lies in [T_old, T_new].
2. Both sides have it, and in the new one it ends before T_old for sure: *static* where the four
   dates of both intervals are equal, else *corrected*: the world did not change, an editor did.
3. static: both sides have it otherwise.
4. Only the new side has it: *corrected* where it ends before T_old for sure, else *new*;
   `started_after_old` is true where it surely began after T_old, false where it surely had
   begun by then, else null.
5. Only the old side has it: *obsolete* where it was closed and its last possible day is known
   and lies in [T_old, T_new]; else *removed*. An open fact ends on T_old only because nothing
   is asserted after it, so it is removed: only valid time makes a fact obsolete.

An end that an exclusive successor implies (`end_inferred`) counts as closed.

After: CKL (paper 004), section 3, which sets invariant, updated and new knowledge apart; the
rules on valid time are ours.
"""

from collections.abc import Collection, Sequence
from datetime import date
from itertools import pairwise

import ibis
import ibis.expr.types as ir

from builders.engine import Engine
from builders.errors import UserError
from builders.wikidata.timeline import DATES, KEY, hull, snapshot_day, timeline

CHANGE_ORDER = KEY
"""Total order of `changes`, for `Engine.write`."""

_CONTENT = ("statement", *KEY, *DATES, "end_open", "point")

SEEN_ORDER = (*KEY, *DATES, "end_open", "point", "statement")
"""Total order of `seen`, for `Engine.write`."""


def changes(
    engine: Engine, old: ir.Table, new: ir.Table, exclusive: Collection[str] = ()
) -> ir.Table:
    """Compare two tables of facts (`rows.Fact`): one `rows.FactChange` for each triple.

    `exclusive`: ids of the relations that have one object at a time. `UserError` where a table
    has not exactly one snapshot day, or the first one's is not before the second's.
    """
    days = _in_order(engine, [old, new])
    sides = [_side(table, exclusive, name) for table, name in ((old, "old"), (new, "new"))]
    both = sides[0].outer_join(sides[1], list(KEY), rname="{name}_")
    both = both.mutate(
        **{k: both[k].coalesce(both[f"{k}_"]) for k in KEY},
        old_snapshot=ibis.literal(days[0]),
        new_snapshot=ibis.literal(days[1]),
    )
    none = ibis.literal([], type="array<string>")
    both = both.mutate(
        change=_change(both),
        old_statements=both.old_statements.fill_null(none),
        new_statements=both.new_statements.fill_null(none),
    )
    began = ibis.cases(
        (both.change != "new", ibis.null("boolean")),
        (both.new_start_first > both.old_snapshot, True),
        (both.new_start_last <= both.old_snapshot, False),
        else_=ibis.null("boolean"),
    )
    return both.mutate(started_after_old=began).drop(*(f"{k}_" for k in KEY))


def seen(engine: Engine, snapshots: Sequence[ir.Table]) -> ir.Table:
    """Every distinct fact of one or more tables of facts, oldest first, as `rows.SeenFact`.

    Facts are one where statement, subject, relation, object, the four dates, `end_open` and
    `point` are; of two ranks the newer is taken. `UserError` as in `changes`.
    """
    _in_order(engine, snapshots)
    facts = snapshots[0]
    for table in snapshots[1:]:
        facts = facts.union(table)
    facts = facts.group_by([*_CONTENT, "snapshot"]).agg(rank=facts["rank"].max())
    return facts.group_by(list(_CONTENT)).agg(
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


def _side(facts: ir.Table, exclusive: Collection[str], name: str) -> ir.Table:
    """The hull of each triple's segments; all columns but the key begin with the side's name."""
    hulls = hull(timeline(facts, exclusive), KEY)
    found = hulls.mutate(has=True)
    return found.select(
        *KEY,
        **{f"{name}_{c}": c for c in (*DATES, "end_open", "statements", "has")},
    )


def _change(both: ir.Table) -> ir.StringColumn:
    old, new = (both[f"{side}_has"].fill_null(False) for side in ("old", "new"))
    t_old, t_new = both.old_snapshot, both.new_snapshot

    def ended_between(side: str) -> ir.BooleanColumn:
        last = both[f"{side}_end_last"]
        closed = ~both[f"{side}_end_open"].fill_null(True)
        return closed & last.between(t_old, t_new).fill_null(False)

    past = (both.new_end_last < t_old).fill_null(False)
    equal = ibis.literal(True)
    for c in DATES:
        equal = equal & both[f"old_{c}"].identical_to(both[f"new_{c}"])
    return ibis.cases(
        (old & new & ended_between("new"), "obsolete"),
        (old & new & past & ~equal, "corrected"),
        (old & new, "static"),
        (new & past, "corrected"),
        (new, "new"),
        (ended_between("old"), "obsolete"),
        else_="removed",
    )
