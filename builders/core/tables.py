"""Table expressions for all datasets, with the same result on both engines.

Random draws are hashes of the seed and the parts that identify a row, as in
`builders.core.hashing`, so that the result for one row does not depend on other rows.
"""

import ibis
import ibis.expr.types as ir

from factdrift.builders.core.dates import PERIODS_PER_YEAR, Granularity


def hash_of(*parts: ir.StringValue | str) -> ir.StringValue:
    """Return the sha256 of the parts, joined by tabs, in hex; null if one of them is null."""
    return ibis.literal("\t").join(parts).hexdigest("sha256")


def row_id_of(*parts: ir.StringValue | str) -> ir.StringValue:
    """Return the id of a row, 16 hex digits, the same as `builders.core.hashing.row_id`."""
    return hash_of(*parts).substr(0, 16)


def seeded_order(seed: int, *parts: ir.StringValue | str) -> ir.StringValue:
    """Return a column that sorts rows at random: the hash of the seed and the parts.

    The parts identify a row or a pair. If a row is drawn for several purposes, add a word for each.
    """
    return hash_of(str(seed), *parts)


def period_first_day(period_index: ir.IntegerValue, granularity: Granularity) -> ir.DateValue:
    """Return the first day of a period by its index (`builders.core.dates.Period.index`)."""
    per_year = PERIODS_PER_YEAR[granularity]
    month = period_index % per_year * (12 // per_year) + 1
    return ibis.date(period_index // per_year, month, ibis.literal(1))


def period_last_day(period_index: ir.IntegerValue, granularity: Granularity) -> ir.DateValue:
    """Return the last day of a period by its index."""
    next_period = period_first_day(period_index + 1, granularity)
    return (next_period - ibis.interval(days=1)).cast("date")


def period_text(period_index: ir.IntegerValue, granularity: Granularity) -> ir.StringValue:
    """Return a period as text by its index: `2021Q3`, `2021M07`, `2021`."""
    per_year = PERIODS_PER_YEAR[granularity]
    year = (period_index // per_year).cast("string").lpad(4, "0")
    place_in_year = (period_index % per_year + 1).cast("string")
    if granularity == "quarter":
        return year + "Q" + place_in_year
    if granularity == "month":
        return year + "M" + place_in_year.lpad(2, "0")
    return year


def has_label(label: ir.StringValue) -> ir.BooleanValue:
    """Whether an item has a label; the table of entities has an empty text if it has none."""
    return label != ""
