"""What the datasets ask of their recipe and dump: relations with phrases, and days."""

from datetime import date, timedelta

from factdrift.builders.core.dates import Period
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.run import Run
from factdrift.builders.facts import steps
from factdrift.builders.facts.relations import Relation, RelationWording, select_relations


def phrased(
    run: Run, wanted: tuple[str, ...], *needed: str
) -> dict[str, tuple[Relation, RelationWording]]:
    """Relations with the phrases to ask with, by id; all that have the `needed` ones by default."""
    all_relations = steps.all_relations(run)
    wordings = {}
    for relation, relation_template in select_relations(
        all_relations, wanted or tuple(all_relations.whole()), run.templates
    ).items():
        if relation_template.phrases and all(
            getattr(relation_template.phrases, kind) for kind in needed
        ):
            wordings[relation] = relation_template, relation_template.phrases
    if wrong := [relation for relation in wanted if relation not in wordings]:
        kinds = " and ".join(f"`{kind}`" for kind in needed)
        hint = f"add {kinds or 'some'} to the `phrases:` of its template, or leave it out"
        raise UserError(f"no phrases to ask {', '.join(wrong)} with", hint=hint)
    return wordings


def last_day(run: Run, first: date, last: date | None) -> date:
    """The last day asked about: given, or that of the last quarter that had ended by the dump."""
    snapshot = run.inputs["dump"].snapshot
    ended = Period.of(snapshot + timedelta(days=1), "quarter").first - timedelta(days=1)
    if not first < (last or ended) <= snapshot:
        text = f"the days from {first} to {last or ended} do not lie before the dump's, {snapshot}"
        raise UserError(text, hint="change `first` and `last` in the recipe")
    return last or ended
