"""Which (subject, relation) of the aligned segments become questions (paper 001, section 2.1)."""

from typing import NamedTuple

import ibis
import ibis.expr.types as ir

from builders import rows
from builders.schema import arrow_schema

_PAIR = ["subject", "relation"]

DROPPED_ORDER = ("reason", "subject", "relation")
"""Total order of `Kept.dropped`, for `Engine.write`."""


class Kept(NamedTuple):
    """Segments (`rows.AlignedSegment`) and what was left out (`rows.Dropped`, one row a pair)."""

    segments: ir.Table
    dropped: ir.Table


def keep_pairs(
    aligned: ir.Table, max_missing: float, pairs_per_relation: int | None, seed: int
) -> Kept:
    """Drop pairs that the page does not answer, and those that a relation has too many of.

    `not_in_page`: more than the share `max_missing` of the segments have rule `none`; the score
    is the share. `over_cap`: of the rest a relation keeps the `pairs_per_relation` pairs with the
    least sha256 of seed and pair, so that a pair's place in line depends on nothing else.
    """
    missing = (aligned.rule == "none").cast("int64")
    pairs = aligned.group_by(_PAIR).agg(segments=aligned.count(), missing=missing.sum())
    pairs = pairs.mutate(share=pairs.missing.cast("float64") / pairs.segments)
    pairs = pairs.mutate(
        reason=ibis.ifelse(pairs.share > max_missing, "not_in_page", ibis.null("string"))
    )
    if pairs_per_relation is not None:
        pairs = _capped(pairs, pairs_per_relation, seed)
    segments = aligned.semi_join(pairs.filter(pairs.reason.isnull()), _PAIR)
    left_out = pairs.filter(pairs.reason.notnull())
    of = left_out.missing.cast("string") + " of " + left_out.segments.cast("string")
    dropped = left_out.mutate(
        step=ibis.literal("align"),
        item=left_out.subject + "/" + left_out.relation,
        period=ibis.null("string"),
        score=left_out.share,
        detail=of + " segments are not in the page",
    )
    return Kept(segments, dropped.select(arrow_schema(rows.Dropped).names))


def _capped(pairs: ir.Table, cap: int, seed: int) -> ir.Table:
    text = ibis.literal(f"{seed}\t") + pairs.subject + "\t" + pairs.relation
    pairs = pairs.mutate(chance=text.hexdigest("sha256"))
    by = ibis.window(
        group_by=[pairs.relation, pairs.reason.isnull()],
        order_by=[pairs.chance, pairs.subject],
    )
    pairs = pairs.mutate(place=ibis.row_number().over(by))
    over = pairs.reason.isnull() & (pairs.place >= cap)
    return pairs.mutate(reason=ibis.ifelse(over, "over_cap", pairs.reason))
