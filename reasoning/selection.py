"""Draw the candidates that are asked: by hash, within caps, with answers equally frequent."""

import ibis
import ibis.expr.types as ir

from factdrift.builders.core.tables import seeded_order

_GROUP = ["family", "hops"]
# Guesses that spread a small release over many subjects and relations: no subject is asked about
# often enough to be learned, and at least four paths of relations share a family.
_PER_SUBJECT, _PER_PATH = 2, 0.25


def select(table: ir.Table, seed: int, per_family: int) -> ir.Table:
    """Return the candidates (`QuestionCandidate`) that are asked.

    A family and number of hops gets at most `per_family` rows; at most a quarter of them have the
    same path of relations, and at most two the same subject. Yes and no are taken in pairs of the
    same path. No number has more rows than the fourth most frequent one. The draw depends only on
    hashes of the rows' ids; paths take turns.
    """
    id_order = seeded_order(seed, table.id)
    table = table.mutate(drawn=id_order, kind=table.answer.fill_null(""))
    table = first_rows(table, [*_GROUP, "subject"], ["drawn"], _PER_SUBJECT)
    is_yes_no, is_item = table.kind.isin(["yes", "no"]), table.kind == ""
    table = ibis.union(
        _levelled(table.filter(is_item), [*_GROUP, "path"], 1, 1),
        _levelled(table.filter(is_yes_no), [*_GROUP, "path"], 2, 2),
        _levelled(table.filter(~is_yes_no & ~is_item), _GROUP, 1, 4),
    )
    path_order = ["nth", "kind", "drawn"]
    table = first_rows(table, [*_GROUP, "path"], path_order, _even(_PER_PATH * per_family))
    return first_rows(table, _GROUP, ["nth", "path", "kind", "drawn"], _even(per_family))


def _levelled(
    table: ir.Table, group_columns: list[str], least_answers: int, rank_taken: int
) -> ir.Table:
    """Level how often each answer occurs within a group.

    No answer keeps more rows than the `rank_taken`-th most frequent answer of its group has, or
    the least frequent one where the group has fewer answers. The rows are kept in drawn order, and
    the new column `nth` numbers those of each answer from 0. Groups with fewer than `least_answers`
    different answers are left out.
    """
    answer_counts = table.group_by([*group_columns, "kind"]).agg(rows=table.count())
    answer_counts = _numbered(answer_counts, group_columns, [ibis.desc("rows"), "kind"]).filter(
        ibis._.nth < rank_taken
    )
    group_caps = answer_counts.group_by(group_columns).agg(
        cap=answer_counts["rows"].min(), kinds=answer_counts.count()
    )
    table = _numbered(table, [*group_columns, "kind"], ["drawn"]).join(group_caps, group_columns)
    return table.filter((table.nth < table.cap) & (table.kinds >= least_answers)).drop(
        "cap", "kinds"
    )


def _even(number: float) -> int:
    """Return the largest even number up to this one, so that no yes is parted from its no."""
    return int(number) // 2 * 2


def _numbered(
    table: ir.Table, group_columns: list[str], order_columns: list[ir.Value | str]
) -> ir.Table:
    group_order = ibis.window(group_by=group_columns, order_by=order_columns)
    return table.mutate(nth=ibis.row_number().over(group_order).cast("int64"))


def first_rows(
    table: ir.Table, group_columns: list[str], order_columns: list[str], row_count: int
) -> ir.Table:
    """Return the first rows of each group."""
    group_order = ibis.window(group_by=group_columns, order_by=order_columns)
    table = table.mutate(place=ibis.row_number().over(group_order))
    return table.filter(table.place < row_count).drop("place")
