"""Facts as releases show them: names beside ids, dates at their precision, content-hash ids."""

from collections.abc import Mapping, Sequence

import ibis
import ibis.expr.types as ir

from factdrift.builders import rows
from factdrift.builders.core.schema import arrow_schema
from factdrift.builders.core.tables import row_id_of


def with_labels(
    table: ir.Table, entities: ir.Table, relation_labels: Mapping[str, str]
) -> ir.Table:
    """Add `subject_label`, `object_label` (from `rows.Entity`) and `relation_label`."""
    for role in ("subject", "object"):
        entity_names = entities.select(**{f"{role}_id": "id", f"{role}_label": "label"})
        table = table.left_join(entity_names, table[role] == entity_names[f"{role}_id"]).drop(
            f"{role}_id"
        )
    known_labels = list(relation_labels.items())
    return table.mutate(relation_label=table.relation.cases(*known_labels))


def with_content_ids(table: ir.Table, named_by: Sequence[str]) -> ir.Table:
    """Add `id`: a hash of the columns that name a row, 16 hex digits."""
    name_parts = [table[column].cast("string").fill_null("") for column in named_by]
    return table.mutate(id=row_id_of(*name_parts))


def as_dropped(table: ir.Table, step: str, **columns: ir.Value) -> ir.Table:
    """Pairs with a `reason` as `rows.Dropped`; of the other columns null where none is given."""
    null_text, item_name = ibis.null("string"), table.subject + "/" + table.relation
    given_columns = {
        "item": item_name,
        "period": null_text,
        "score": ibis.null("float64"),
        "detail": null_text,
    } | columns
    table = table.mutate(step=ibis.literal(step), **given_columns)
    return table.select(arrow_schema(rows.Dropped).names)


def with_valid_dates(table: ir.Table) -> ir.Table:
    """Add `valid_from` and `valid_to` (null where open)."""
    closed_end = edtf_text(table.end_first, table.end_last)
    return table.mutate(
        valid_from=edtf_text(table.start_first, table.start_last),
        valid_to=ibis.ifelse(table.end_open, ibis.null("string"), closed_end),
    )


def edtf_text(first: ir.DateColumn, last: ir.DateColumn) -> ir.StringValue:
    """A boundary at its precision, after EDTF: `2019-07-24`, `2019-07`, `2019`, `201X`.

    An interval of another shape is `first/last`, with `..` for a side that is unknown; null
    where both are.
    """
    is_decade = (first.year() % 10 == 0) & (last.year() == first.year() + 9)
    same_month = (first.year() == last.year()) & (first.month() == last.month())
    whole_months = (first.day() == 1) & ((last + ibis.interval(days=1)).cast("date").day() == 1)
    whole_years = whole_months & (first.month() == 1) & (last.month() == 12)
    return ibis.cases(
        (first.isnull() & last.isnull(), ibis.null("string")),
        (first == last, _day(first)),
        (whole_months & same_month, _month(first)),
        (whole_years & (first.year() == last.year()), _padded(first.year(), 4)),
        (whole_years & is_decade, _padded(first.year() // 10, 3) + "X"),
        else_=_day(first).fill_null("..") + "/" + _day(last).fill_null(".."),
    )


def _day(day: ir.DateColumn) -> ir.StringValue:
    return _month(day) + "-" + _padded(day.day(), 2)


def _month(day: ir.DateColumn) -> ir.StringValue:
    return _padded(day.year(), 4) + "-" + _padded(day.month(), 2)


def _padded(number: ir.IntegerValue, width: int) -> ir.StringValue:
    return number.cast("string").lpad(width, "0")
