"""Relation templates out of a table of cloze sentences, as TempLAMA and LAMA have them.

A CSV file with the columns `Wikidata ID`, `Relation` and `Template`, one sentence a row; the
sentence has `<subject>` and `<object>`. Other columns are nothing. Each relation becomes a file
`P….yaml` with the defaults of one that changes: a state, several objects, undated facts dropped.
"""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from factdrift.builders.core.config import did_you_mean, shown
from factdrift.builders.core.errors import UserError
from factdrift.builders.facts.check import SCHEMA, write_schema
from factdrift.builders.facts.relations import Relation

COLUMNS = ("Wikidata ID", "Relation", "Template")
_DEFAULTS = {"mode": "accumulate", "exclusive": False, "undated": "drop"}


def import_templates(table: Path, folder: Path) -> list[Path]:
    """Write a file for each relation of `table` into `folder`, in the order of the table.

    Raises one UserError with every bad row by its line, or with every file that is there already;
    then nothing is written. The schema for editors is written too, where there is none.
    """
    relations = _relations(table)
    paths = {relation: folder / f"{relation}.yaml" for relation in relations}
    if there := [path for path in paths.values() if path.exists()]:
        raise UserError(
            "\n".join(f"{shown(path)}: is there already" for path in there),
            hint="take another folder with --out, or move these files away",
        )
    folder.mkdir(parents=True, exist_ok=True)
    for relation, path in paths.items():
        path.write_text(_text(relations[relation], table.name), encoding="utf-8")
    if not (folder / SCHEMA).exists():
        write_schema(folder)
    return list(paths.values())


def _relations(table: Path) -> dict[str, dict[str, Any]]:
    """The fields of each relation; `UserError` with all mistakes."""
    found: dict[str, dict[str, Any]] = {}
    wrong: list[str] = []
    for line, row in _rows(table):
        name = row["Wikidata ID"]
        this = found.get(name, {"relation": name, "label": row["Relation"], **_DEFAULTS})
        more = this | {"cloze": [*this.get("cloze", ()), row["Template"]]}
        try:
            Relation.model_validate(more)
        except ValidationError as error:
            found_here = [e for e in error.errors() if e["type"] != "too_short"]
            texts = [e["msg"].removeprefix("Value error, ") for e in found_here]
            wrong += [f"{shown(table)}:{line}: {text}" for text in texts]
            continue
        if row["Relation"] != this["label"]:
            names = f"{row['Relation']!r} here, {this['label']!r} above"
            wrong.append(f"{shown(table)}:{line}: {name} has two names: {names}")
            continue
        found[name] = more
    if wrong:
        raise UserError("\n".join(wrong))
    if not found:
        raise UserError("no templates: no row below the head", where=shown(table))
    return found


def _rows(table: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Each row that is not blank with its line; `UserError`: no such table."""
    try:
        with table.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            _require_columns(table, reader.fieldnames or ())
            for row in reader:
                cells = {name: (row[name] or "").strip() for name in COLUMNS}
                if any(cells.values()):
                    yield reader.line_num, cells
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"cannot be read as CSV: {error}", where=shown(table)) from None


def _require_columns(table: Path, there: Any) -> None:
    if missing := [name for name in COLUMNS if name not in there]:
        near = did_you_mean(missing[0], there)
        hint = f"is {near!r} meant?" if near else f"the columns are {', '.join(COLUMNS)}"
        text = f"no column {', '.join(map(repr, missing))}"
        raise UserError(text, where=shown(table), line=1, hint=hint)


def _text(fields: Mapping[str, Any], source: str) -> str:
    """A template file; a text that YAML would read otherwise is quoted."""
    head = f"# yaml-language-server: $schema={SCHEMA}\n# From {_plain(source)}: no examples yet.\n"
    return head + yaml.safe_dump(dict(fields), sort_keys=False, allow_unicode=True, width=1000)


def _plain(name: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in name)
