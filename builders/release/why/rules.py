"""The rules of a relation's template in words, and what each filter looks at."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from factdrift.builders.core.errors import UserError
from factdrift.builders.facts.relations import Relation, load_relation
from factdrift.builders.release.card import drop_reasons, reason_text
from factdrift.builders.release.manifest import Manifest
from factdrift.filters import FILTER_POINT


def rule_sentences(
    relation_id: str, templates: Path, release_manifest: Manifest
) -> tuple[str, ...]:
    """Return the rules of time of a relation."""
    try:
        relation = load_relation(templates, relation_id)
    except UserError as error:
        return (f"its template cannot be read: {str(error).splitlines()[0]}",)
    if relation is None:
        return (f"not known: there is no template {relation_id}.yaml here; give --templates",)
    return tuple(_sentences(relation, _learned_years(release_manifest, relation_id)))


def _sentences(relation: Relation, learned_years: float | None) -> Iterator[str]:
    if relation.mode == "pointwise":
        yield "it happens at one time, and does not last"
    if relation.exclusive:
        yield "one object at a time: a later one ends a term whose end is not stated"
    if relation.usually:
        yield "one object at a time as a rule: a term without an end is in doubt once another began"
    if relation.seat:
        yield "an office has one holder: a term without an end is in doubt once somebody else began"
    if isinstance(relation.open_for, int):
        yield f"a term without an end is trusted for {relation.open_for} years, then in doubt"
    if relation.open_for == "learned":
        yield (
            f"a term without an end is trusted for {learned_years:g} years, then in doubt "
            "(learned from the ends in this dump)"
            if learned_years
            else "a term without an end is trusted: too few ends to learn how long"
        )
    if relation.ends_with:
        yield f"a term without an end ends with the life of its {' or '.join(relation.ends_with)}"
    if relation.absence == "unknown":
        yield "that nobody is stated says nothing: it is never asked what is new or deleted"
    undated_words = {"keep": "counts", "drop": "is no fact", "doubt": "puts the others in doubt"}
    yield f"a statement without any date {undated_words[relation.undated]}"


def _learned_years(release_manifest: Manifest, relation_id: str) -> float | None:
    """Return the learned time of a relation, as the release's figures have it."""
    for figure in release_manifest.figures:
        if figure.name == "learned_times":
            for figure_row in figure.rows:
                years = figure_row.get("years")
                if figure_row.get("relation") == relation_id and isinstance(years, int | float):
                    return float(years)
    return None


def filter_sentence(filter_name: str) -> str:
    """Return what a filter looks at: the first sentence of its description; empty if not known."""
    try:
        description = FILTER_POINT.find(filter_name).__doc__ or ""
    except UserError:  # of a package that is not installed here
        return ""
    return " ".join(description.split("\n\n")[0].split())


def reason_sentence(step: str, drop_reason: str) -> str:
    """Return why a step leaves something out, in a sentence."""
    own_sentences: Mapping[str, str] = {}
    with suppress(UserError):  # most steps are no filters
        own_sentences = FILTER_POINT.find(step).reasons
    return reason_text(drop_reason, {**drop_reasons(), **own_sentences})
