"""Read the relations and days that both datasets of reasoning take from recipe and dump."""

from datetime import date, timedelta

from factdrift.builders.core.dates import Period
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.run import Run
from factdrift.builders.facts import steps
from factdrift.builders.facts.relations import Relation, RelationWording, select_relations


def relations_with_phrases(
    run: Run, wanted_relations: tuple[str, ...], *needed_phrases: str
) -> dict[str, tuple[Relation, RelationWording]]:
    """Return relations and their phrases by property id; by default all with the needed phrases.

    `UserError`: a wanted relation lacks one of the needed phrases.
    """
    all_relations = steps.all_relations(run)
    chosen_ids = wanted_relations or tuple(all_relations.whole())
    chosen_relations = select_relations(all_relations, chosen_ids, run.templates)
    with_phrases = {}
    for relation_id, relation_template in chosen_relations.items():
        if relation_template.phrases and all(
            getattr(relation_template.phrases, phrase_name) for phrase_name in needed_phrases
        ):
            with_phrases[relation_id] = relation_template, relation_template.phrases
    if without_phrases := [
        relation_id for relation_id in wanted_relations if relation_id not in with_phrases
    ]:
        phrase_names = " and ".join(f"`{phrase_name}`" for phrase_name in needed_phrases)
        hint_text = (
            f"add {phrase_names or 'some'} to the `phrases:` of its template, or leave it out"
        )
        raise UserError(f"no phrases to ask {', '.join(without_phrases)} with", hint=hint_text)
    return with_phrases


def last_day(run: Run, first: date, last: date | None) -> date:
    """Return the last day asked about.

    It is `last`, or else the end of the last quarter that had ended on the day of the dump.
    `UserError`: the days do not lie before the dump.
    """
    snapshot = run.inputs["dump"].snapshot
    last_ended = Period.of(snapshot + timedelta(days=1), "quarter").first - timedelta(days=1)
    if not first < (last or last_ended) <= snapshot:
        window = f"the days from {first} to {last or last_ended}"
        message = f"{window} do not lie before the dump's, {snapshot}"
        raise UserError(message, hint="change `first` and `last` in the recipe")
    return last or last_ended
