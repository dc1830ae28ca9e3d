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

ASKING = [
    one
    for name, one in vars(rows).items()
    if hasattr(one, "roles") and name not in ("LamaCloze", "OfferedCloze")
]
"""The row types of releases that ask something."""


def asking_tables(release: Path) -> Iterator[tuple[str, type, Path]]:
    """Config, row type and file of each split whose rows ask something.

    The type is `object` where it belongs to a dataset in a package of its own.
    """
    kinds = {tuple(arrow_schema(kind).names): kind for kind in ASKING}
    assert len(kinds) == len(ASKING)
    for config in load_manifest(release).configs:
        kind = kinds.get(tuple(column.name for column in config.columns))
        names = {column.name for column in config.columns}
        assert (config.roles is None) == names.isdisjoint({"prompt", "targets"}), config.name
        if config.roles is not None:
            yield from (
                (config.name, kind or object, release / split.file) for split in config.splits
            )


def check(release: Path) -> dict[str, int]:
    """Look at every row that asks; config -> number of rows."""
    counts: dict[str, int] = {}
    for config, kind, path in asking_tables(release):
        for row in pq.read_table(path).to_pylist():
            told = (release.parent.name, config, row["id"])
            counts[config] = counts.get(config, 0) + 1
            asked, first, every = _expected(kind, row)
            assert row["prompt"] == asked, told
            targets = row["targets"]
            assert set(targets[:1]) <= first and bool(targets) == bool(first), told
            assert len({target.casefold() for target in targets}) == len(targets), told
            assert set(targets) <= every, told
            assert {t.casefold() for t in targets} == {t.casefold() for t in every}, told
            assert all(target.strip() for target in targets), told
    return counts


def given_away(release: Path) -> dict[str, int]:
    """Config -> rows whose prompt holds one of their targets, as SQuAD compares."""

    @cache
    def words(text: str) -> str:
        return f" {normalize_or_keep(text)} "

    counts: dict[str, int] = {}
    for config, kind, path in asking_tables(release):
        table = pq.read_table(path, columns=["prompt", "targets"])
        for row in table.to_pylist():
            assert row["prompt"].strip(), (config, row)
            assert row["targets"] or issubclass(kind, TimeQuestion), (config, row)
            prompt = words(row["prompt"])
            counts[config] = counts.get(config, 0) + any(words(t) in prompt for t in row["targets"])
    return counts


def _expected(kind: type, row: Mapping[str, Any]) -> tuple[str, set[str], set[str]]:
    """The prompt, what may be the first target if there is one, and all targets in any order."""
    if kind in (Cloze, ChoiceCloze, ParaphraseCloze):
        if kind is ChoiceCloze:
            return row["prompt"], {row["choices"][row["answer_index"]]}, {*row["targets"]}
        period = Period.parse(row["period"])
        if row["split"] == "deleted":
            period += -1
        answers = [one for one in row["answers"] if one not in (row.get("still_true") or [])]
        asked = f"On {period.last.day} {period.last:%B %Y}: {row['query']}"
        accepted = answers + (row["possible_answers"] or [])
        return asked, {answers[0]["label"]}, _names(accepted)
    if kind is rows.InvariantCloze:
        return row["query"], {row["answer"]["label"]}, _names([row["answer"]])
    if kind is rows.NewsQuestion:
        day = datetime.fromtimestamp(row["question_ts"], UTC).date()
        asked = f"Today is {day_in_words(day)}. {row['question']}"
        return asked, {*row["answers"][:1]}, {*row["answers"], *row["answers_additional"]}
    if issubclass(kind, TimeQuestion):
        things = row["objects"] if row["answerable"] == "yes" else []
        every = _names(things) | {*row["answers"]["text"]} if things else set()
        return row["question"], {one["label"] for one in things}, every
    place = row.get("new_evidence") or {"day": row.get("article_day")}
    answer = row.get("answer") or row["new_answer"]
    written = f"{place['day']:%B} {place['day'].day}, {place['day'].year}"
    return f"As of {written}: {row.get('query') or row['cloze']}", {answer}, {answer}


def _names(answers: list[dict[str, Any]]) -> set[str]:
    return {name for one in answers for name in (one["label"], *one["aliases"])}
