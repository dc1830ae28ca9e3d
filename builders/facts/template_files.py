"""Templates of a folder as `make templates` prints them, and templates out of a CSV table.

A table has the columns `Wikidata ID`, `Relation` and `Template`, as that of TempLAMA: one cloze
sentence a row, with `<subject>` and `<object>`. Other columns are nothing. Each relation becomes a
file `P….yaml` with the defaults of one that changes: a state, several objects, undated facts
dropped.
"""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from factdrift.builders.core.config import did_you_mean, display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.facts.relations import (
    TEMPLATES,
    Example,
    Relation,
    json_schema,
    load_relations,
)
from factdrift.builders.text.render import query, sentence

SCHEMA = "schema.json"
COLUMNS = ("Wikidata ID", "Relation", "Template")
_NONE = Example(subject="(subject)", object="(object)", reads=())
_DEFAULTS = {"mode": "accumulate", "exclusive": False, "undated": "drop"}


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
        kind += [f"cloze_templates by {name}" for name in relation.wordings]
        yield f"{relation.relation} {relation.label} ({', '.join(kind)})"
        examples = relation.examples or (_NONE,)
        for place, text in enumerate(relation.cloze):
            example = examples[place % len(examples)]
            question_text = query(text, example.subject, articles=relation.articles)
            sentence_text = sentence(text, example.subject, example.object, relation.articles)
            yield f"  {question_text}  ->  {sentence_text}"
        for example in relation.examples:
            yield from (
                f"  {question_text}  ->  {example.object}" for question_text in example.asks
            )
    schema = folder / SCHEMA
    if (
        folder.resolve() == TEMPLATES.resolve()
        and schema.read_text(encoding="utf-8") != json_schema()
    ):
        where = display_path(schema)
        raise UserError("not the schema of this version", where=where, hint="run: make schema")


def write_schema(folder: Path) -> Path:
    """Write `schema.json` beside the templates, for editors."""
    path = folder / SCHEMA
    path.write_text(json_schema(), encoding="utf-8")
    return path


def import_templates(table: Path, folder: Path) -> list[Path]:
    """Write a file for each relation of `table` into `folder`, in the order of the table.

    Raises one UserError with every bad row by its line, or with every file that is there already;
    then nothing is written. The schema for editors is written too, where there is none.
    """
    relations = _relations(table)
    paths = {relation: folder / f"{relation}.yaml" for relation in relations}
    if there := [path for path in paths.values() if path.exists()]:
        raise UserError(
            "\n".join(f"{display_path(path)}: is there already" for path in there),
            hint="take another folder with --out, or move these files away",
        )
    folder.mkdir(parents=True, exist_ok=True)
    source = "".join(character if character.isprintable() else "?" for character in table.name)
    head = f"# yaml-language-server: $schema={SCHEMA}\n# From {source}: no examples yet.\n"
    for relation, path in paths.items():
        # A text that YAML would read otherwise is quoted.
        text = yaml.safe_dump(relations[relation], sort_keys=False, allow_unicode=True, width=1000)
        path.write_text(head + text, encoding="utf-8")
    if not (folder / SCHEMA).exists():
        write_schema(folder)
    return list(paths.values())


def _relations(table: Path) -> dict[str, dict[str, Any]]:
    """The fields of each relation; `UserError` with all mistakes."""
    relations: dict[str, dict[str, Any]] = {}
    wrong: list[str] = []
    for line, row in _rows(table):
        name = row["Wikidata ID"]
        this = relations.get(name, {"relation": name, "label": row["Relation"], **_DEFAULTS})
        more = this | {"cloze": [*this.get("cloze", ()), row["Template"]]}
        try:
            Relation.model_validate(more)
        except ValidationError as error:
            found_here = [mistake for mistake in error.errors() if mistake["type"] != "too_short"]
            texts = [mistake["msg"].removeprefix("Value error, ") for mistake in found_here]
            wrong += [f"{display_path(table)}:{line}: {text}" for text in texts]
            continue
        if row["Relation"] != this["label"]:
            names = f"{row['Relation']!r} here, {this['label']!r} above"
            wrong.append(f"{display_path(table)}:{line}: {name} has two names: {names}")
            continue
        relations[name] = more
    if wrong:
        raise UserError("\n".join(wrong))
    if not relations:
        raise UserError("no templates: no row below the head", where=display_path(table))
    return relations


def _rows(table: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Each row that is not blank with its line; `UserError`: no such table."""
    try:
        with table.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            there = reader.fieldnames or ()
            if missing := [name for name in COLUMNS if name not in there]:
                near = did_you_mean(missing[0], there)
                hint = f"is {near!r} meant?" if near else f"the columns are {', '.join(COLUMNS)}"
                text = f"no column {', '.join(map(repr, missing))}"
                raise UserError(text, where=display_path(table), line=1, hint=hint)
            for row in reader:
                cells = {name: (row[name] or "").strip() for name in COLUMNS}
                if any(cells.values()):
                    yield reader.line_num, cells
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"cannot be read as CSV: {error}", where=display_path(table)) from None


if __name__ == "__main__":  # `make schema`
    write_schema(TEMPLATES)
