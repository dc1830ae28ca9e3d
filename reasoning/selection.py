"""Which candidates are asked: drawn by hash, within caps, no answer more frequent than others."""

import ibis
import ibis.expr.types as ir

from factdrift.builders.core.tables import seeded_order

_GROUP = ["family", "hops"]
_PER_SUBJECT, _PER_PATH = 2, 0.25


def select(table: ir.Table, seed: int, per_family: int) -> ir.Table:
    """The candidates (`QuestionCandidate`) that are asked.

    Of a family's number of hops at most `per_family` rows, of which a path of relations has at
    most a quarter, and a subject two. Yes and no are taken in pairs of one path; of
    numbers none has more rows than the fourth most frequent one. Which rows they are depends on
    the hashes of their ids alone; paths take turns.
    """
    drawn = seeded_order(seed, table.id)
    table = table.mutate(drawn=drawn, kind=table.answer.fill_null(""))
    table = first_rows(table, [*_GROUP, "subject"], ["drawn"], _PER_SUBJECT)
    yes_no, item = table.kind.isin(["yes", "no"]), table.kind == ""
    table = ibis.union(
        _levelled(table.filter(item), [*_GROUP, "path"], 1, 1),
        _levelled(table.filter(yes_no), [*_GROUP, "path"], 2, 2),
        _levelled(table.filter(~yes_no & ~item), _GROUP, 1, 4),
    )
    order = ["nth", "kind", "drawn"]
    table = first_rows(table, [*_GROUP, "path"], order, _even(_PER_PATH * per_family))
    return first_rows(table, _GROUP, ["nth", "path", "kind", "drawn"], _even(per_family))


def _levelled(table: ir.Table, group: list[str], least: int, most: int) -> ir.Table:
    """Of each answer as many rows as the one has that is `most`-th in frequency; `nth` counts them.

    Groups of fewer than `least` answers are left out.
    """
    counts = table.group_by([*group, "kind"]).agg(rows=table.count())
    counts = _numbered(counts, group, [ibis.desc("rows"), "kind"]).filter(ibis._.nth < most)
    caps = counts.group_by(group).agg(cap=counts["rows"].min(), kinds=counts.count())
    table = _numbered(table, [*group, "kind"], ["drawn"]).join(caps, group)
    return table.filter((table.nth < table.cap) & (table.kinds >= least)).drop("cap", "kinds")


def _even(number: float) -> int:
    """The largest even number up to this one, so that no yes is parted from its no."""
    return int(number) // 2 * 2


def _numbered(table: ir.Table, group: list[str], order: list[ir.Value | str]) -> ir.Table:
    by = ibis.window(group_by=group, order_by=order)
    return table.mutate(nth=ibis.row_number().over(by).cast("int64"))


def first_rows(table: ir.Table, group: list[str], order: list[str], number: int) -> ir.Table:
    """The first rows of each group."""
    by = ibis.window(group_by=group, order_by=order)
    table = table.mutate(place=ibis.row_number().over(by))
    return table.filter(table.place < number).drop("place")
