"""What the prompts and targets of a release have to be, whatever its dataset."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from factdrift.builders import rows
from factdrift.builders.core.dates import Period
from factdrift.builders.core.schema import arrow_schema
from factdrift.builders.release.manifest import load_manifest
from factdrift.builders.rows import ChoiceCloze, Cloze, ParaphraseCloze, TimeQuestion
from factdrift.builders.text.squad import normalize_or_keep
from factdrift.builders.wmt.passages import day_in_words
from tests.tables import column_of, names_of

ASKING = [
    accepted_object
    for name, accepted_object in vars(rows).items()
    if hasattr(accepted_object, "roles") and name not in ("LamaCloze", "OfferedCloze")
]
"""The row types of releases that ask something."""


def asking_tables(release_folder: Path) -> Iterator[tuple[str, type, Path]]:
    """Config, row type and file of each split whose rows ask something.

    The type is `object` where it belongs to a dataset in a package of its own.
    """
    kinds = {tuple(arrow_schema(row_type).names): row_type for row_type in ASKING}
    assert len(kinds) == len(ASKING)
    for config_name in load_manifest(release_folder).configs:
        row_type = kinds.get(tuple(names_of(config_name.columns)))
        names = set(names_of(config_name.columns))
        assert (config_name.roles is None) == names.isdisjoint({"prompt", "targets"}), (
            config_name.name
        )
        if config_name.roles is not None:
            yield from (
                (config_name.name, row_type or object, release_folder / split.file)
                for split in config_name.splits
            )


def check(release_folder: Path) -> dict[str, int]:
    """Look at every row that asks; config -> number of rows."""
    config_counts: dict[str, int] = {}
    for config_name, row_type, split_path in asking_tables(release_folder):
        for row in pq.read_table(split_path).to_pylist():
            row_text = (release_folder.parent.name, config_name, row["id"])
            config_counts[config_name] = config_counts.get(config_name, 0) + 1
            asked_text, first_names, accepted_names = _expected(row_type, row)
            assert row["prompt"] == asked_text, row_text
            targets = row["targets"]
            assert set(targets[:1]) <= first_names and bool(targets) == bool(first_names), row_text
            assert len({target_name.casefold() for target_name in targets}) == len(targets), (
                row_text
            )
            assert set(targets) <= accepted_names, row_text
            assert {target_text.casefold() for target_text in targets} == {
                target_text.casefold() for target_text in accepted_names
            }, row_text
            assert all(target_name.strip() for target_name in targets), row_text
    return config_counts


def given_away(release_folder: Path) -> dict[str, int]:
    """Config -> rows whose prompt holds one of their targets, as SQuAD compares."""

    @cache
    def words(text: str) -> str:
        return f" {normalize_or_keep(text)} "

    config_counts: dict[str, int] = {}
    for config_name, row_type, split_path in asking_tables(release_folder):
        prompt_table = pq.read_table(split_path, columns=["prompt", "targets"])
        for row in prompt_table.to_pylist():
            assert row["prompt"].strip(), (config_name, row)
            assert row["targets"] or issubclass(row_type, TimeQuestion), (config_name, row)
            prompt = words(row["prompt"])
            config_counts[config_name] = config_counts.get(config_name, 0) + any(
                words(target_text) in prompt for target_text in row["targets"]
            )
    return config_counts


def _expected(row_type: type, row: Mapping[str, Any]) -> tuple[str, set[str], set[str]]:
    """The prompt, what may be the first target if there is one, and all targets in any order."""
    if row_type in (Cloze, ChoiceCloze, ParaphraseCloze):
        if row_type is ChoiceCloze:
            return (row["prompt"], {row["choices"][row["answer_index"]]}, {*row["targets"]})
        asked_period = Period.parse(row["period"])
        if row["split"] == "deleted":
            asked_period += -1
        answers = [
            accepted_object
            for accepted_object in row["answers"]
            if accepted_object not in (row.get("still_true") or [])
        ]
        asked_text = f"On {asked_period.last.day} {asked_period.last:%B %Y}: {row['query']}"
        accepted = answers + (row["possible_answers"] or [])
        return asked_text, {answers[0]["label"]}, _names(accepted)
    if row_type is rows.InvariantCloze:
        return row["query"], {row["answer"]["label"]}, _names([row["answer"]])
    if row_type is rows.NewsQuestion:
        day = datetime.fromtimestamp(row["question_ts"], UTC).date()
        asked_text = f"Today is {day_in_words(day)}. {row['question']}"
        return (asked_text, {*row["answers"][:1]}, {*row["answers"], *row["answers_additional"]})
    if issubclass(row_type, TimeQuestion):
        accepted_objects = row["objects"] if row["answerable"] == "yes" else []
        accepted_names = (
            _names(accepted_objects) | {*row["answers"]["text"]} if accepted_objects else set()
        )
        return (
            row["question"],
            set(column_of(accepted_objects, "label")),
            accepted_names,
        )
    place = row.get("new_evidence") or {"day": row.get("article_day")}
    answer = row.get("answer") or row["new_answer"]
    answer_texts = f"{place['day']:%B} {place['day'].day}, {place['day'].year}"
    return (f"As of {answer_texts}: {row.get('query') or row['cloze']}", {answer}, {answer})


def _names(answers: list[dict[str, Any]]) -> set[str]:
    return {
        name
        for accepted_object in answers
        for name in (accepted_object["label"], *accepted_object["aliases"])
    }
