"""Time-evolving facts: the histories that questions can be asked about, with names."""

import ibis
import ibis.expr.types as ir

_PAIR = ["subject", "relation"]


def histories(segments: ir.Table, entities: ir.Table, min_segments: int) -> ir.Table:
    """The segments (`rows.NamedSegment`) of pairs with at least so many dated ones.

    A segment is dated where its start or its end is known; undated ones of such a pair stay, for
    they put in doubt what else held. Subjects without an English Wikipedia page are left out:
    see `without_page`. After: TimeQA (paper 001), section 2.1.
    """
    asked = segments.semi_join(_evolving(segments, min_segments), _PAIR)
    paged = entities.filter(entities.enwiki.notnull())
    asked = asked.semi_join(paged, asked.subject == paged.id)
    names = entities.select(
        object_id="id", object_label="label", aliases="aliases", object_title="enwiki"
    )
    return asked.join(names, asked.object == names.object_id).drop("object_id")


def without_page(segments: ir.Table, entities: ir.Table, min_segments: int) -> ir.Table:
    """The pairs that are left out since the subject has no English Wikipedia page."""
    paged = entities.filter(entities.enwiki.notnull())
    pairs = _evolving(segments, min_segments)
    return pairs.anti_join(paged, pairs.subject == paged.id)


def no_page(pairs: ir.Table) -> ir.Table:
    """A row of `rows.Dropped` for each of the pairs of `without_page`."""
    none = ibis.null("string")
    return pairs.mutate(
        step=ibis.literal("histories"),
        reason=ibis.literal("no_sitelink"),
        item=pairs.subject + "/" + pairs.relation,
        period=none,
        score=ibis.null("float64"),
        detail=none,
    )


def subjects(named: ir.Table, entities: ir.Table) -> ir.Table:
    """Each subject of the histories with its label and page (`rows.PageSubject`)."""
    who = named.select("subject").distinct()
    met = who.join(entities, who.subject == entities.id)
    return met.select("subject", label=met.label, title=met.enwiki)


def _evolving(segments: ir.Table, least: int) -> ir.Table:
    dated = segments.filter(segments.start_first.notnull() | segments.end_first.notnull())
    return dated.group_by(_PAIR).having(dated.count() >= least).agg(dated=dated.count())
