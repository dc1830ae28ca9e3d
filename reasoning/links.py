"""Which timelines share something, so that a question may bring them together.

A question that joins the head of a company with the chair of a party far away makes no sense to
anybody. Two timelines share a *key*: a subject, an object, or country and kind of their subjects,
as two ministers of one country do. Country alone is not enough.
"""

from collections.abc import Mapping

import ibis
import ibis.expr.types as ir

from factdrift.builders.core.engine import Engine
from factdrift.builders.core.tables import seeded_order
from factdrift.builders.facts.relations import RelationWording
from factdrift.reasoning.states import PAIR, Knowledge
from factdrift.reasoning.titles import (
    BODY,
    CHIEF_MINISTER,
    ENVOY,
    HEAD_OF_TERRITORY,
    KIND_CUT,
    KIND_OF_BODY,
    MINISTER,
)

# A guess: enough partners for each timeline that some give a question, and few enough that links
# grow with the timelines, whatever share the same country.
_PARTNERS = 4
"""The number of timelines with the same key that a timeline is linked with, on either side."""
_SIDE = (*PAIR, "by_object")


def link_timelines(
    eng: Engine, knowledge: Knowledge, entities: ir.Table, phrases: Mapping[str, RelationWording]
) -> Knowledge:
    """Return what is known with the table `links` of ordered couples of timelines.

    Its columns are `subject`, `relation` and `by_object` of both timelines, those of the second
    with the prefix `o_`. `by_object` is the object by which a timeline shares the key, and an
    empty text where it is the subject or its country. `phrases` say what subjects are.
    """
    shared_keys = eng.keep(_keys(knowledge.terms, _kinds(knowledge.terms, entities, phrases)))
    drawn_order = ibis.window(
        group_by="key",
        order_by=[seeded_order(knowledge.seed, shared_keys.key, shared_keys.place), "place"],
    )
    timeline_couples = []
    for row_distance in range(1, _PARTNERS + 1):
        partner_columns = {
            f"o_{column}": shared_keys[column].lead(row_distance).over(drawn_order)
            for column in _SIDE
        }
        timeline_couples.append(shared_keys.mutate(**partner_columns).drop("key", "place"))
    linked_timelines = ibis.union(*timeline_couples)
    same_timeline = (linked_timelines.subject == linked_timelines.o_subject) & (
        linked_timelines.relation == linked_timelines.o_relation
    )
    linked_timelines = linked_timelines.filter(
        linked_timelines.o_subject.notnull() & ~same_timeline
    )
    turned_couples = linked_timelines.select(
        **{column: f"o_{column}" for column in _SIDE},
        **{f"o_{column}": column for column in _SIDE},
    )
    return knowledge._replace(links=eng.keep(linked_timelines.union(turned_couples, distinct=True)))


def _keys(terms: ir.Table, subject_kinds: ir.Table) -> ir.Table:
    """Return every timeline with each of its keys; `place` tells those of one key apart."""
    pairs = terms.select(*PAIR).distinct()
    no_object = ibis.literal("")
    of_subject = pairs.select(*PAIR, by_object=no_object, key="subject")
    of_object = terms.select(*PAIR, by_object="object", key="object").distinct()
    of_kind = subject_kinds.select(
        *PAIR,
        by_object=no_object,
        key=ibis.literal("in ") + subject_kinds.country + ibis.literal(" ") + subject_kinds.kind,
    )
    timeline_keys = ibis.union(of_subject, of_object, of_kind).distinct()
    return timeline_keys.mutate(
        place=ibis.literal(" ").join(
            [timeline_keys.subject, timeline_keys.relation, timeline_keys.by_object]
        )
    )


def _kinds(terms: ir.Table, entities: ir.Table, phrases: Mapping[str, RelationWording]) -> ir.Table:
    """Return the timelines whose subject is of one country, with what such subjects share.

    That is the kind of an office, or else relation and class. Who heads one part of a country has
    nothing to do with who heads another, nor has one ambassador with the next.
    """
    pairs = terms.select(*PAIR).distinct()
    with_country = entities.filter(entities.country.notnull())
    with_country = with_country.select("id", "country", "label", "classes")
    country_pairs = pairs.join(with_country, pairs.subject == with_country.id)
    office_relations = [key for key, wording in phrases.items() if wording.subject_is == "office"]
    is_office = country_pairs.relation.isin(office_relations)
    is_territorial = country_pairs.label.re_search(
        HEAD_OF_TERRITORY
    ) & ~country_pairs.label.re_search(BODY)
    is_elsewhere = is_territorial | country_pairs.label.re_search(ENVOY)
    office_pairs = country_pairs.filter(is_office & ~is_elsewhere)
    office_pairs = office_pairs.select(*PAIR, "country", kind=office_kind(office_pairs.label))
    classed_pairs = country_pairs.filter(~is_office)
    classed_pairs = classed_pairs.mutate(class_id=classed_pairs.classes.unnest())
    classed_kind = classed_pairs.relation + ibis.literal(" ") + classed_pairs.class_id
    return office_pairs.union(classed_pairs.select(*PAIR, "country", kind=classed_kind))


def office_kind(label: ir.StringValue) -> ir.StringValue:
    """Return the kind of an office as `titles.kind_of_office` does."""
    small_label = label.fill_null("").lower()
    kind_text = small_label.re_replace(KIND_CUT, "")
    body_word = small_label.substr(kind_text.length()).re_extract(KIND_OF_BODY, 1)
    return ibis.cases(
        (
            kind_text.endswith(MINISTER) & ~kind_text.endswith(CHIEF_MINISTER),
            ibis.literal(MINISTER),
        ),
        (label.re_search(BODY), small_label),
        (body_word != "", kind_text + ibis.literal(" of the ") + body_word),
        else_=kind_text,
    )
