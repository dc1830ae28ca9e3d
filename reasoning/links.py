"""Which timelines share something, so that a question may bring them together.

A question that joins the head of a company with the chair of a party far away makes no sense to
anybody. Two timelines share a *key*: a subject, an object, or the country of their subjects.
"""

import ibis
import ibis.expr.types as ir

from factdrift.builders.core.engine import Engine
from factdrift.builders.core.tables import seeded_order
from factdrift.reasoning.states import PAIR, Knowledge

# A guess: enough partners for each timeline that some give a question, and few enough that links
# grow with the timelines, whatever share the same country.
_PARTNERS = 4
"""The number of timelines with the same key that a timeline is linked with, on either side."""
_SIDE = (*PAIR, "by_object")


def link_timelines(eng: Engine, knowledge: Knowledge, entities: ir.Table) -> Knowledge:
    """Return what is known with the table `links` of ordered couples of timelines.

    Its columns are `subject`, `relation` and `by_object` of both timelines, those of the second
    with the prefix `o_`. `by_object` is the object by which a timeline shares the key, and an
    empty text where it is the subject or its country.
    """
    shared_keys = eng.keep(_keys(knowledge.terms, entities))
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


def _keys(terms: ir.Table, entities: ir.Table) -> ir.Table:
    """Return every timeline with each of its keys; `place` tells those of one key apart."""
    pairs = terms.select(*PAIR).distinct()
    no_object = ibis.literal("")
    of_subject = pairs.select(*PAIR, by_object=no_object, key="subject")
    of_object = terms.select(*PAIR, by_object="object", key="object").distinct()
    # A country is named by its label: that of the country's own item, and what others state.
    countries = entities.filter(entities.country.notnull()).select(name="country").distinct()
    own_country = entities.join(countries, entities.label == countries.name).select(
        "id", country="label"
    )
    stated_country = entities.filter(entities.country.notnull()).select("id", "country")
    country_labels = own_country.union(stated_country, distinct=True)
    of_country = pairs.join(country_labels, pairs.subject == country_labels.id)
    of_country = of_country.select(
        *PAIR, by_object=no_object, key=ibis.literal("in ") + of_country.country
    )
    timeline_keys = ibis.union(of_subject, of_object, of_country).distinct()
    return timeline_keys.mutate(
        place=ibis.literal(" ").join(
            [timeline_keys.subject, timeline_keys.relation, timeline_keys.by_object]
        )
    )
