"""Table expressions that every dataset needs, with the same result on both engines.

The draws are those of `builders.core.hashing`: a hash of the seed and of what a row is about, so
that a row's place does not depend on the rows around it.
"""

import ibis
import ibis.expr.types as ir


def hash_of(*parts: ir.StringValue | str) -> ir.StringValue:
    """The sha256 of the parts, joined by tabs, in hex; null where one of them is null."""
    return ibis.literal("\t").join(parts).hexdigest("sha256")


def row_id_of(*parts: ir.StringValue | str) -> ir.StringValue:
    """The id of a row, as `builders.core.hashing.row_id` makes it: 16 hex digits."""
    return hash_of(*parts).substr(0, 16)


def seeded_order(seed: int, *parts: ir.StringValue | str) -> ir.StringValue:
    """A column to sort by, to draw rows at random: the hash of the seed and the parts.

    The parts name a row or a pair; add a word for the purpose where one row is drawn for two.
    """
    return hash_of(str(seed), *parts)


def has_label(label: ir.StringValue) -> ir.BooleanValue:
    """Whether an item has a label; the table of entities holds an empty text where it has none."""
    return label != ""
