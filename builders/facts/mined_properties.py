"""The properties that relations need of a dump or an endpoint.

These stand apart from the steps, which need Ibis: `factdrift mine` starts in half the time.
"""

from collections.abc import Mapping

from factdrift.builders.facts.relations import Relation
from factdrift.builders.wikidata.documents import SUBCLASS


def properties_to_mine(relations: Mapping[str, Relation]) -> dict[str, bool]:
    """Return the properties to mine, each with whether its undated statements are kept.

    Relations that restrict classes also need the property that says what is a subclass of what.
    """
    needed_properties: dict[str, bool] = {}
    for relation in relations.values():
        is_kept = relation.undated == "keep"
        needed_properties[relation.property] = (
            needed_properties.get(relation.property, False) or is_kept
        )
    if any(relation.subject_class or relation.object_class for relation in relations.values()):
        needed_properties[SUBCLASS] = True
    return needed_properties


def properties_to_ask(relations: Mapping[str, Relation]) -> tuple[dict[str, bool], bool]:
    """Return the properties to ask an endpoint for, and whether classes are needed as well.

    Of the property that says what is a subclass of what, which has millions of statements about
    genes and stars, only those are needed that lead up from what the other statements name. It is
    among the properties if it is itself a relation to be asked about.
    """
    properties = properties_to_mine(relations)
    is_relation = any(relation.property == SUBCLASS for relation in relations.values())
    needs_classes = SUBCLASS in properties and not is_relation
    if needs_classes:
        del properties[SUBCLASS]
    return properties, needs_classes
