"""Which candidates are asked: drawn by hash, within caps, no answer more frequent than others."""

import ibis
import ibis.expr.types as ir

_GROUP = ["family", "hops"]
_FREQUENT = 3


def select(table: ir.Table, seed: int, per_family: int, per_subject: int, share: float) -> ir.Table:
    """The candidates that are asked, with their `id`, `path` and `hops`.

    Of a family's number of hops at most `per_family` rows, of which a path of relations has at
    most `share`, and a subject `per_subject`. Yes and no are taken in pairs of one relation; of
    numbers none has more rows than the fourth most frequent one. Which rows they are depends on
    the hashes of their ids alone; relations take turns.
    """
    names = [table.family, table.wording, table.items.join(" "), table.relations.join(" ")]
    names += [table.as_of.cast("string"), table.number.cast("string").fill_null("")]
    hops = ibis.ifelse(table.family == "chain", table.relations.length(), 1)
    table = table.mutate(
        id=ibis.literal("\t").join(names).hexdigest("sha256").substr(0, 16),
        path=table.relations.join(" "),
        hops=hops.cast("int64"),
        yes_no=table.answer.isin(["yes", "no"]).fill_null(False),
        kind=table.answer.fill_null(""),
    )
    drawn = ibis.literal("\t").join([ibis.literal(str(seed)), table.id]).hexdigest("sha256")
    table = table.mutate(drawn=drawn)
    table = first_rows(table, [*_GROUP, "subject"], ["drawn"], per_subject)
    numbers = table.filter((table.kind != "") & ~table.yes_no)
    table = _in_pairs(table.anti_join(numbers, "id").select(table.columns))
    table = table.union(_levelled(numbers).select(table.columns))
    table = first_rows(
        table, [*_GROUP, "path"], ["nth", "kind", "drawn"], _even(share * per_family)
    )
    table = table.mutate(turn=ibis._.nth)
    return first_rows(table, _GROUP, ["turn", "path", "kind", "drawn"], _even(per_family))


def _in_pairs(table: ir.Table) -> ir.Table:
    """As many yes as no of each path; `nth` counts the rows of a path and answer."""
    table = _nth(table, [*_GROUP, "path", ibis.ifelse(table.yes_no, table.kind, "")], ["drawn"])
    path = ibis.window(group_by=[*_GROUP, "path"])
    last = [table.nth.max(where=table.kind == one).over(path) for one in ("yes", "no")]
    both = ibis.least(*(one.fill_null(-1) for one in last))
    most = ibis.ifelse(table.yes_no, both, table.nth)
    return table.mutate(most=most).filter(ibis._.nth <= ibis._.most).drop("most")


def _levelled(table: ir.Table) -> ir.Table:
    """Of each number at most as many rows as the fourth most frequent one has."""
    counts = table.group_by([*_GROUP, "kind"]).agg(rows=table.count())
    ranked = _nth(counts, _GROUP, [ibis.desc("rows"), "kind"])
    ranked = ranked.filter(ranked.nth <= _FREQUENT)
    caps = ranked.group_by(_GROUP).agg(cap=ranked["rows"].min())
    table = _nth(table, [*_GROUP, "kind"], ["drawn"]).join(caps, _GROUP)
    return table.filter(table.nth < table.cap).drop("cap")


def _even(number: float) -> int:
    """The largest even number up to this one, so that no yes is parted from its no."""
    return int(number) // 2 * 2


def _nth(table: ir.Table, group: list[ir.Value | str], order: list[ir.Value | str]) -> ir.Table:
    by = ibis.window(group_by=group, order_by=order)
    return table.mutate(nth=ibis.row_number().over(by).cast("int64"))


def first_rows(table: ir.Table, group: list[str], order: list[str], number: int) -> ir.Table:
    """The first rows of each group; the column `nth` stays as it was where there is one."""
    by = ibis.window(group_by=group, order_by=order)
    table = table.mutate(place=ibis.row_number().over(by))
    return table.filter(table.place < number).drop("place")
