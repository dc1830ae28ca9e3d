"""Expected outputs of the sample release, as text that is read in review.

`make golden` writes them anew.
"""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import pyarrow.parquet as pq
import pytest
from pydantic import BaseModel

from docs.gallery import gallery
from docs.hooks import section
from factdrift.builders.facts.relations import Relation
from factdrift.builders.recipes.datasets import BUILDERS
from factdrift.builders.recipes.recipe import Recipe
from factdrift.builders.release.manifest import load_manifest
from tests.asking_rows import asking_tables

FOLDER = Path(__file__).parent / "golden"
PARSED = {"as-of", "ckl-questions", "streamingqa"}


def answers(release: Path) -> str:
    """Every change of the answer to one subject of each relation, and to a few more."""
    rows = duckdb.execute(
        """
        select distinct relation, subject_label, period, split,
            list_sort([a.label for a in answers]) as answers
        from read_parquet(?, union_by_name = true) where split <> 'unchanged'
            and (md5(subject_label)[1] = 'a' or subject_label in ('Italy', 'Cristiano Ronaldo'))
        order by relation, subject_label, period
        """,
        [str(release / "data/*/20*.parquet")],
    ).fetchall()
    lines = ["\t".join([*row[:4], " | ".join(row[4])]) for row in rows]
    return "\n".join(lines) + "\n"


def queries(release: Path) -> str:
    """One query of every template."""
    rows = duckdb.execute(
        """
        select template, arg_min(query, id) from read_parquet(?, union_by_name = true)
        group by template
        order by len(split_part(template, '/', 1)), template
        """,
        [str(release / "data/*/20*.parquet")],
    ).fetchall()
    return "".join(f"{template}\t{query}\n" for template, query in rows)


def examples(release: Path) -> str:
    """The facts that prompts show, of every dataset; no row asks about their subjects."""
    lines = []
    for folder in sorted(release.parents[1].iterdir()):
        shown_examples = load_manifest(folder / "1.0.0").examples
        questions = set()
        for _, _, path in asking_tables(folder / "1.0.0"):
            if shown_examples:
                questions.update(pq.read_table(path, columns=["subject"]).column(0).to_pylist())
        assert not questions & {shown_example.subject for shown_example in shown_examples}
        lines += [
            "\t".join(
                [folder.name, shown_example.relation, shown_example.prompt, shown_example.answer]
            )
            for shown_example in shown_examples
        ]
    return "".join(f"{line}\n" for line in lines)


def prompts(release: Path) -> str:
    """Prompt and targets of the first row by id in each config that asks, of every dataset."""
    first_prompts: dict[str, tuple[str, str]] = {}
    for folder in sorted(release.parents[1].iterdir()):
        for config, _, path in asking_tables(folder / "1.0.0"):
            found_rows = duckdb.execute(
                "select id, prompt, targets from read_parquet(?) order by id limit 1", [str(path)]
            ).fetchall()
            for name, prompt, targets in found_rows:
                cells = [folder.name, config, prompt, " | ".join(targets)]
                line = "\t".join(cells).replace("\n", "\\n")
                key = f"{folder.name}/{config}"
                first_prompts[key] = min(first_prompts.get(key, (name, line)), (name, line))
    return "".join(f"{line}\n" for _, line in first_prompts.values())


def rows(release: Path) -> str:
    """A row of every dataset as its card shows it; the documentation shows these, too."""
    sections = []
    for folder in sorted(release.parents[1].iterdir()):
        card = (folder / "1.0.0" / "README.md").read_text("utf-8")
        sections.append(f"## {folder.name}\n\n{section(card, 'What a row looks like')}\n")
    return "\n".join(sections)


def tables(release: Path) -> str:
    """A fingerprint of each config and each table of the card, and how many rows a reason left out.

    Numbers that another processor may see otherwise in their last digits count by the first six on
    the card, and are left out of rows; so are datasets in which the weights of a parser decide.
    """
    lines = []
    folders = {folder.name: folder for folder in release.parents[1].iterdir()}
    for folder in (folders[name] for name in sorted(folders.keys() - PARSED)):
        manifest = load_manifest(folder / "1.0.0")
        for config in manifest.configs:
            exact = [column.name for column in config.columns if "double" not in column.type]
            split_files = [folder / "1.0.0" / split.file for split in config.splits]
            config_rows = []
            for file in split_files:
                config_rows.extend(pq.read_table(file, columns=exact).to_pylist())
            lines.append((folder.name, config.name, len(config_rows), _fingerprint(config_rows)))
        for name, figures in ((figure.name, figure.rows) for figure in manifest.figures):
            short = json.loads(
                msgspec.json.encode(figures), parse_float=lambda digits: f"{float(digits):.6g}"
            )
            lines.append((folder.name, name, len(figures), _fingerprint(short)))
        lines += [(folder.name, drop.step, drop.rows, drop.reason) for drop in manifest.drops]
    return "".join("\t".join(map(str, line)) + "\n" for line in lines)


def _fingerprint(content: object) -> str:
    return sha256(msgspec.json.encode(content)).hexdigest()[:12]


def mined(release: Path) -> str:
    """What mining counted."""
    figures = next(
        figure for figure in load_manifest(release).figures if figure.name == "mining"
    ).rows
    return "".join(f"{row['counted']}\t{row['dump']}\n" for row in figures)


GOLDEN: dict[str, Callable[[Path], str]] = {
    "answers.tsv": answers,
    "queries.tsv": queries,
    "prompts.tsv": prompts,
    "examples.tsv": examples,
    "tables.tsv": tables,
    "mined.tsv": mined,
    "rows.md": rows,
    "gallery.md": lambda release: gallery(release.parents[1]),
}


def check(name: str, text: str, request: pytest.FixtureRequest) -> None:
    """Compare with the expected output, or write it."""
    if request.config.getoption("--golden"):
        (FOLDER / name).write_text(text, "utf-8")
    assert text == (FOLDER / name).read_text("utf-8"), "read the difference, then `make golden`"


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name: str, sample: Path, request: pytest.FixtureRequest) -> None:
    check(name, GOLDEN[name](sample / "releases" / "dynamic-templama" / "1.0.0"), request)


def test_parameters(request: pytest.FixtureRequest) -> None:
    """Types, limits and defaults of every key of recipes and templates."""
    lines = {}
    models: list[type[BaseModel]] = [Recipe, Relation, *BUILDERS.values()]
    for model in models:
        schema = model.model_json_schema()
        for name, part in {model.__name__: schema, **schema.get("$defs", {})}.items():
            for key, value in part.get("properties", {}).items():
                lines[f"{name}.{key}"] = json.dumps(_without_words(value), sort_keys=True)
    check(
        "parameters.tsv",
        "".join(
            f"{parameter_name}\t{parameter_text}\n"
            for parameter_name, parameter_text in sorted(lines.items())
        ),
        request,
    )


def _without_words(schema: Any) -> Any:
    if isinstance(schema, dict):
        fields = {
            key: value for key, value in schema.items() if key not in ("description", "title")
        }
        return {key: _without_words(value) for key, value in fields.items()}
    return [_without_words(entry) for entry in schema] if isinstance(schema, list) else schema
