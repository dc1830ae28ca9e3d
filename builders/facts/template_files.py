"""Print the templates of a folder for `make templates`, and import templates from a CSV table.

The table has the columns `Wikidata ID`, `Relation` and `Template`, as that of TempLAMA has, with
one cloze sentence a row that contains `<subject>` and `<object>`. Other columns are ignored. Each
relation becomes a file `P….yaml` with the settings of a relation that changes: it is a state, may
have several objects, and its undated facts are dropped.
"""

import os
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from factdrift.builders.core.config import did_you_mean, display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.progress import say
from factdrift.builders.core.text_files import BrokenEntry, table_columns, table_rows
from factdrift.builders.facts.relations import (
    TEMPLATES,
    Example,
    Relation,
    are_ours,
    json_schema,
    load_relations,
)
from factdrift.builders.text.render import query, sentence

SCHEMA = "schema.json"
PLACEHOLDER = "placeholder"
"""The word of `factdrift new relation` that an author replaces by one for the relation."""
COLUMNS = ("Wikidata ID", "Relation", "Template")
_NONE = Example(subject="(subject)", object="(object)", reads=())
_DEFAULTS = {"mode": "accumulate", "exclusive": False, "undated": "drop"}


def check(folder: Path, names: Collection[str] = ()) -> Iterator[str]:
    """Yield a line for each relation, followed by a line with an example for each variant.

    `names` are the relations to yield, P54 with all its parts (P54-club); none: all.
    Says what of a template is still the skeleton's. Raises a `UserError` that lists every mistake,
    or says that our `schema.json` is out of date.
    """
    for relation in _named_relations(folder, names):
        yield from _template_lines(relation)
        unwritten_keys = sorted(set(_keys_with_placeholder(relation.model_dump(mode="json"))))
        if unwritten_keys:
            template_place = display_path(folder / f"{relation.relation}.yaml")
            say(
                f"warning: {template_place}: `{PLACEHOLDER}` stands yet in "
                f"{', '.join(unwritten_keys)}"
            )
    schema_path = folder / SCHEMA
    if are_ours(folder) and schema_path.read_text(encoding="utf-8") != json_schema():
        schema_place = display_path(schema_path)
        raise UserError(
            "not the schema of this version", where=schema_place, hint="run: make schema"
        )


def _named_relations(folder: Path, names: Collection[str]) -> list[Relation]:
    """Return the relations of a folder that are named, or all, the parts of a property together."""
    relations = load_relations(folder).whole()
    properties = {relation.property for relation in relations.values()}
    for name in names:
        if name not in {*relations, *properties}:
            near_name = did_you_mean(name, [*relations, *properties])
            hint_text = f"did you mean {near_name}?" if near_name else "factdrift new relation"
            raise UserError(f"no template {name!r}", where=display_path(folder), hint=hint_text)
    named_relations = [
        relation
        for relation in relations.values()
        if not names or {relation.relation, relation.property} & set(names)
    ]
    return sorted(
        named_relations,
        key=lambda relation: (len(relation.property), relation.property, relation.relation),
    )


def _keys_with_placeholder(value: object, key: str = "") -> Iterator[str]:
    """Yield the keys whose text has the skeleton's word: `label`, `phrases.did`."""
    if isinstance(value, dict):
        for name, inner_value in value.items():
            yield from _keys_with_placeholder(inner_value, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list):
        for inner_value in value:
            yield from _keys_with_placeholder(inner_value, key)
    elif isinstance(value, str) and PLACEHOLDER in value.casefold():
        yield key


def _template_lines(relation: Relation) -> Iterator[str]:
    """Yield a line about a relation, and one with an example for each sentence and question."""
    kind_words: list[str] = [relation.mode]
    kind_words += ["one object at a time"] if relation.exclusive else []
    kind_words += ["undated facts kept"] if relation.undated == "keep" else []
    kind_words += ["functional"] if relation.functional else []
    kind_words += [f"worded by {wording_name}" for wording_name in relation.wordings]
    yield f"{relation.relation} {relation.label} ({', '.join(kind_words)})"
    relation_examples = relation.examples or (_NONE,)
    for variant_place, variant_text in enumerate(relation.cloze):
        example = relation_examples[variant_place % len(relation_examples)]
        question_text = query(variant_text, example.subject, articles=relation.articles)
        sentence_text = sentence(variant_text, example.subject, example.object, relation.articles)
        yield f"  {question_text}  ->  {sentence_text}"
    for example in relation.examples:
        yield from (f"  {question_text}  ->  {example.object}" for question_text in example.asks)


def write_schema(folder: Path) -> Path:
    """Write `schema.json` beside the templates, for editors."""
    schema_path = folder / SCHEMA
    schema_path.write_text(json_schema(), encoding="utf-8")
    return schema_path


def import_templates(table: Path, folder: Path, report: Callable[[str], None] = say) -> list[Path]:
    """Write a file for each relation of `table` into `folder`, in the order of the table.

    A bad row is left out, and `report` hears of it by its line. Raises one UserError with every bad
    row if there is no good one, or with every file that is there already; then nothing is written.
    The schema for editors is written too, where there is none.
    """
    relations, mistake_lines = _relations(table)
    if not relations:
        no_rows = f"{display_path(table)}: no templates: no row below the head"
        raise UserError("\n".join(mistake_lines or [no_rows]))
    for mistake_line in mistake_lines:
        report(f"left out: {mistake_line}")
    paths = {relation: folder / f"{relation}.yaml" for relation in relations}
    if existing_paths := [
        template_path for template_path in paths.values() if os.path.lexists(template_path)
    ]:
        raise UserError(
            "\n".join(
                f"{display_path(template_path)}: is there already"
                for template_path in existing_paths
            ),
            hint="take another folder with --out, or move these files away",
        )
    folder.mkdir(parents=True, exist_ok=True)
    source_name = "".join(character if character.isprintable() else "?" for character in table.name)
    head_comment = (
        f"# yaml-language-server: $schema={SCHEMA}\n# From {source_name}: no examples yet.\n"
    )
    for relation, template_path in paths.items():
        # A text that YAML would read otherwise is quoted.
        template_text = yaml.safe_dump(
            relations[relation], sort_keys=False, allow_unicode=True, width=1000
        )
        template_path.write_text(head_comment + template_text, encoding="utf-8")
    if not os.path.lexists(folder / SCHEMA):
        write_schema(folder)
    return list(paths.values())


def _relations(table: Path) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Return the fields of each relation, and a line for each mistake in the table."""
    relations: dict[str, dict[str, Any]] = {}
    mistake_lines: list[str] = []
    for line_number, row in _rows(table):
        if isinstance(row, str):
            mistake_lines.append(f"{display_path(table)}:{line_number}: {row}")
            continue
        relation_id = row["Wikidata ID"]
        relation_fields = relations.get(
            relation_id, {"relation": relation_id, "label": row["Relation"], **_DEFAULTS}
        )
        extended_fields = relation_fields | {
            "cloze": [*relation_fields.get("cloze", ()), row["Template"]]
        }
        try:
            Relation.model_validate(extended_fields)
        except ValidationError as error:
            found_here = [mistake for mistake in error.errors() if mistake["type"] != "too_short"]
            mistake_texts = [mistake["msg"].removeprefix("Value error, ") for mistake in found_here]
            mistake_lines += [
                f"{display_path(table)}:{line_number}: {mistake_text}"
                for mistake_text in mistake_texts
            ]
            continue
        if row["Relation"] != relation_fields["label"]:
            both_names = f"{row['Relation']!r} here, {relation_fields['label']!r} above"
            mistake_lines.append(
                f"{display_path(table)}:{line_number}: {relation_id} has two names: {both_names}"
            )
            continue
        relations[relation_id] = extended_fields
    return relations, mistake_lines


def _rows(table: Path) -> Iterator[tuple[int, dict[str, str] | str]]:
    """Yield the line of each row that is not blank, and its cells, or what is wrong with it.

    Raises `UserError` for a bad table.
    """
    column_names = table_columns(table)
    if missing_columns := [name for name in COLUMNS if name not in column_names]:
        near_name = did_you_mean(missing_columns[0], column_names)
        hint_text = (
            f"is {near_name!r} meant?" if near_name else f"the columns are {', '.join(COLUMNS)}"
        )
        error_text = f"no column {', '.join(map(repr, missing_columns))}"
        raise UserError(error_text, where=display_path(table), line=1, hint=hint_text)
    for entry in table_rows(table):
        if isinstance(entry, BrokenEntry):
            yield entry.line, f"{entry.reason}: {entry.detail}".rstrip(": ")
            continue
        cells = {column_name: entry.value[column_name].strip() for column_name in COLUMNS}
        if any(cells.values()):
            yield entry.line, cells


if __name__ == "__main__":  # `make schema`
    write_schema(TEMPLATES)
