"""Which timelines share something, so that a question may bring them together.

A question that joins the head of a company with the chair of a party far away makes no sense to
anybody. Two timelines share a *key*: a subject, an object, or country and kind of their subjects,
as two ministers or two mayors of one country do. Country alone is not enough.
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
    countries = eng.keep(_countries(knowledge.terms, entities, phrases))
    shared_keys = eng.keep(_keys(knowledge.terms, countries))
    drawn_order = ibis.window(
        group_by="key",
        order_by=[seeded_order(knowledge.seed, shared_keys.key, shared_keys.place), "place"],
    )
    timeline_couples = [_with_own_country(countries, knowledge.seed)]
    for row_distance in range(1, _PARTNERS + 1):
        partner_columns = {
            f"o_{column}": shared_keys[column].lead(row_distance).over(drawn_order)
            for column in _SIDE
        }
        timeline_couples.append(shared_keys.mutate(**partner_columns).drop("key", "place"))
    couple_columns = [*_SIDE, *(f"o_{column}" for column in _SIDE)]
    linked_timelines = ibis.union(*(couples.select(couple_columns) for couples in timeline_couples))
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


def _keys(terms: ir.Table, countries: ir.Table) -> ir.Table:
    """Return every timeline with each of its keys; `place` tells those of one key apart."""
    pairs = terms.select(*PAIR).distinct()
    no_object = ibis.literal("")
    of_subject = pairs.select(*PAIR, by_object=no_object, key="subject")
    of_object = terms.select(*PAIR, by_object="object", key="object").distinct()
    of_kind = countries.filter(countries.kind.notnull()).select(
        *PAIR,
        by_object=no_object,
        key=ibis.literal("in ") + countries.country + ibis.literal(" ") + countries.kind,
    )
    timeline_keys = ibis.union(of_subject, of_object, of_kind).distinct()
    return timeline_keys.mutate(place=_place(timeline_keys, timeline_keys.by_object))


def _place(timelines: ir.Table, *more: ir.StringValue) -> ir.StringValue:
    return ibis.literal(" ").join([timelines.subject, timelines.relation, *more])


def _countries(
    terms: ir.Table, entities: ir.Table, phrases: Mapping[str, RelationWording]
) -> ir.Table:
    """Return the timelines of countries, and those whose subject is of one.

    `kind` is what subjects of one country have in common: the kind of the office, else relation and
    class; it is null for a country. `has_name` says whether it is an office named with its country.
    """
    pairs = terms.select(*PAIR).distinct()
    with_country = entities.filter(entities.country.notnull())
    # A country is named by its label, as others state it.
    country_names = with_country.select(name="country").distinct()
    countries = entities.join(country_names, entities.label == country_names.name).select(
        "id", country="label"
    )
    of_countries = pairs.join(countries, pairs.subject == countries.id)
    of_countries = of_countries.select(
        *PAIR, "country", kind=ibis.null("string"), has_name=ibis.literal(False)
    )
    other_items = with_country.select("id", "country", "label", "classes").anti_join(
        countries, "id"
    )
    of_other_items = pairs.join(other_items, pairs.subject == other_items.id)

    office_relations = [key for key, wording in phrases.items() if wording.subject_is == "office"]
    is_office = of_other_items.relation.isin(office_relations)
    office_pairs = of_other_items.filter(is_office)
    office_pairs = office_pairs.select(
        *PAIR,
        "country",
        kind=office_kind(office_pairs.label),
        has_name=office_pairs.label.contains(office_pairs.country)
        & ~office_pairs.label.re_search(HEAD_OF_TERRITORY),
    )
    classed_pairs = of_other_items.filter(~is_office).mutate(
        class_id=of_other_items.classes.unnest()
    )
    classed_pairs = classed_pairs.select(
        *PAIR,
        "country",
        kind=classed_pairs.relation + ibis.literal(" ") + classed_pairs.class_id,
        has_name=ibis.literal(False),
    )
    return ibis.union(of_countries, office_pairs, classed_pairs)


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


def _with_own_country(countries: ir.Table, seed: int) -> ir.Table:
    """Couple the offices that have the name of a country with a few timelines of the country."""
    own_timelines = countries.filter(countries.kind.isnull())
    drawn_order = ibis.window(
        group_by="country",
        order_by=[seeded_order(seed, own_timelines.country, _place(own_timelines)), *PAIR],
    )
    own_timelines = own_timelines.mutate(nth=ibis.row_number().over(drawn_order))
    own_timelines = own_timelines.filter(own_timelines.nth < _PARTNERS).select(
        "country", o_subject="subject", o_relation="relation"
    )
    named_offices = countries.filter(countries.has_name)
    country_couples = (
        named_offices.select(*PAIR, "country").distinct().join(own_timelines, "country")
    )
    no_object = ibis.literal("")
    return country_couples.mutate(by_object=no_object, o_by_object=no_object)
