"""Draw the pool of candidates that rows are written from: by hash, in turns, as large as needed."""

import ibis
import ibis.expr.types as ir

from factdrift.builders.core.tables import seeded_order

_GROUP = ["family", "hops"]
# A guess that spreads a small release over many subjects: none is asked about often enough in one
# family to be learned.
_PER_SUBJECT = 8
# Rows are left out where names coincide or where a guess would win; about one in four stays.
_POOL = 12
"""Candidates that are drawn for each row that is asked for."""
# Powers of four of the sitelinks: 0, 1 to 3, 4 to 15, 16 to 63, 64 and more. Fixed, so that a
# subject's band does not depend on what else is in a dump.
_BANDS = (1, 4, 16, 64)


def draw_pool(table: ir.Table, entities: ir.Table, seed: int, per_family: int) -> ir.Table:
    """Return the candidates (`QuestionCandidate`) that rows are written from, with their `turn`.

    A family and number of hops gets at most `_POOL` times `per_family`. Within it paths of
    relations, bands of popularity, wordings and answers that are no items take turns, and within
    these the subjects, of which each has at most `_PER_SUBJECT`. Rows are written in the order of
    `turn`. The draw depends only on hashes of the rows' ids.
    """
    table = table.left_join(
        entities.select(known="id", sitelinks="sitelinks"), [("subject", "known")]
    ).drop("known")
    sitelinks = table.sitelinks.fill_null(0)
    popularity_band = sum(
        ((sitelinks >= least).cast("int64") for least in _BANDS), ibis.literal(0, "int64")
    )
    table = table.mutate(
        band=popularity_band, kind=table.answer.fill_null(""), drawn=seeded_order(seed, table.id)
    )
    # The same question may be reached in two ways.
    table = first_rows(table, ["id"], ["drawn"], 1)
    table = _numbered(table, [*_GROUP, "subject"], ["drawn"], "nth")
    table = table.filter(table.nth < _PER_SUBJECT)
    turn_columns = [*_GROUP, "path", "band", "wording", "kind"]
    table = _numbered(table, turn_columns, ["nth", "drawn"], "round")
    table = _numbered(table, _GROUP, ["round", "drawn"], "turn")
    table = table.filter(table.turn < _POOL * per_family)
    return table.drop("sitelinks", "band", "kind", "drawn", "nth", "round")


def _numbered(
    table: ir.Table, group_columns: list[str], order_columns: list[str], number_column: str
) -> ir.Table:
    """Number the rows of each group from 0."""
    group_order = ibis.window(group_by=group_columns, order_by=order_columns)
    return table.mutate(**{number_column: ibis.row_number().over(group_order).cast("int64")})


def first_rows(
    table: ir.Table, group_columns: list[str], order_columns: list[str], row_count: int
) -> ir.Table:
    """Return the first rows of each group."""
    group_order = ibis.window(group_by=group_columns, order_by=order_columns)
    table = table.mutate(place=ibis.row_number().over(group_order))
    return table.filter(table.place < row_count).drop("place")
