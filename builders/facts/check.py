"""What `make templates` prints: every variant of every relation, as asked and as answered."""

from collections.abc import Iterator
from pathlib import Path

from factdrift.builders.core.config import shown
from factdrift.builders.core.errors import UserError
from factdrift.builders.facts.relations import TEMPLATES, Example, json_schema, load_relations
from factdrift.builders.text.render import query, sentence

SCHEMA = "schema.json"
_NONE = Example(subject="(subject)", object="(object)", reads=())


def check(folder: Path) -> Iterator[str]:
    """A line for each relation and, below it, one for each variant with an example.

    Raises a UserError that lists every mistake, or says that our `schema.json` is out of date.
    """
    relations = load_relations(folder).whole()
    for relation in relations.values():
        kind: list[str] = [relation.mode]
        kind += ["one object at a time"] if relation.exclusive else []
        kind += ["undated facts kept"] if relation.undated == "keep" else []
        kind += ["functional"] if relation.functional else []
        kind += [f"worded by {name}" for name in relation.wordings]
        yield f"{relation.relation} {relation.label} ({', '.join(kind)})"
        examples = relation.examples or (_NONE,)
        for i, text in enumerate(relation.cloze):
            example = examples[i % len(examples)]
            asked = query(text, example.subject, articles=relation.articles)
            made = sentence(text, example.subject, example.object, relation.articles)
            yield f"  {asked}  ->  {made}"
        for example in relation.examples:
            yield from (f"  {asked}  ->  {example.object}" for asked in example.asks)
    schema = folder / SCHEMA
    if (
        folder.resolve() == TEMPLATES.resolve()
        and schema.read_text(encoding="utf-8") != json_schema()
    ):
        hint = "write it anew with builders.facts.check.write_schema"
        raise UserError("not the schema of this version", where=shown(schema), hint=hint)


def write_schema(folder: Path) -> Path:
    """Write `schema.json` beside the templates, for editors."""
    path = folder / SCHEMA
    path.write_text(json_schema(), encoding="utf-8")
    return path
