"""Prompts, targets, and the table that says which columns are read for what."""

from datetime import date
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.types as pt
import pytest

from factdrift.builders import rows
from factdrift.builders.core.dates import Period
from factdrift.builders.core.schema import arrow_schema, columns
from factdrift.builders.release.sql import column_type
from factdrift.builders.rows.roles import column_roles
from factdrift.builders.text.prompts import as_of_day, in_period, merge_targets
from tests.asking_rows import ASKING, check, given_away

counted = cache(check)
"""The rows of a release, each looked at once for all tests."""
STATEMENT = "Cristiano Ronaldo plays for _X_."


@pytest.mark.parametrize(
    ("period", "expected"),
    [
        ("2021Q1", "In the first quarter of 2021 (January to March 2021): "),
        ("2021Q3", "In the third quarter of 2021 (July to September 2021): "),
        ("2019Q4", "In the fourth quarter of 2019 (October to December 2019): "),
        ("2021M07", "In July 2021: "),
        ("2021M12", "In December 2021: "),
        ("2021", "In 2021: "),
        ("0987", "In 987: "),
        ("9999Q4", "In the fourth quarter of 9999 (October to December 9999): "),
    ],
)
def test_a_period_in_words(period: str, expected: str) -> None:
    assert in_period(STATEMENT, Period.parse(period)) == expected + STATEMENT


def test_a_day_in_words() -> None:
    assert as_of_day(STATEMENT, date(2020, 5, 6)) == f"As of May 6, 2020: {STATEMENT}"


@pytest.mark.parametrize(
    ("forms", "expected"),
    [
        ([], ()),
        ([[]], ()),
        ([["a"], ["b", "a"]], ("a", "b")),
        ([["b", "a"], ["c"], ["a", "d"]], ("b", "a", "c", "d")),
        ([["A"], ["a", "A"]], ("A",)),
        ([["", " ", "a"]], ("a",)),
    ],
)
def test_targets_are_in_order_and_once(forms: list[list[str]], expected: tuple[str, ...]) -> None:
    assert merge_targets(*forms) == expected


def kind_of(row: type, name: str) -> pa.DataType:
    return column_type(arrow_schema(row), name)


def is_answer(kind: pa.DataType) -> bool:
    """A text, an item with names, spans, or a list of the first two."""
    if pt.is_list(kind):
        kind = kind.value_type
    if pt.is_struct(kind):
        names = {kind.field(index).name for index in range(kind.num_fields)}
        return names in ({"id", "label", "aliases"}, {"text", "answer_start"})
    return bool(kind == pa.string())


@pytest.mark.parametrize("row", ASKING, ids=lambda row: row.__name__)
def test_the_columns_that_are_named_are_there_and_of_their_type(row: type) -> None:
    asking = column_roles(row)
    assert asking is not None
    columns_by_name = {column.name: column for column in columns(row)}
    prompt, accepted = columns_by_name[asking.prompt], columns_by_name[asking.targets]
    assert (prompt.type, prompt.nullable, prompt.rendered) == (pa.string(), False, True)
    list_type = pa.list_(pa.field("item", pa.string(), nullable=False))
    assert (accepted.type, accepted.nullable, accepted.rendered) == (list_type, False, True)
    assert is_answer(kind_of(row, asking.answers))
    assert asking.previous is None or is_answer(kind_of(row, asking.previous))
    assert asking.choices is None or kind_of(row, asking.choices) == kind_of(row, asking.targets)
    assert asking.answer_index is None or kind_of(row, asking.answer_index) == pa.int64()
    for text in (asking.context, asking.group, asking.subject, asking.evidence, *asking.history):
        assert text is None or kind_of(row, text) == pa.string()
    assert all(kind_of(row, name) in (pa.date32(), pa.int64()) for name in asking.time)
    assert all(kind_of(row, name) == pa.int64() for name in asking.popularity)
    for name in asking.strata:
        kind = kind_of(row, name)
        assert (kind.value_type if pt.is_list(kind) else kind) in (pa.string(), pa.int64())
    assert asking.period is None or asking.period in asking.strata
    role_columns = [*asking.strata, *asking.time, *asking.popularity]
    assert len(set(role_columns)) == len(role_columns)


def test_the_row_types_with_a_prompt_are_those_that_ask() -> None:
    row_types = {
        row_type for name in dir(rows) if isinstance(row_type := getattr(rows, name), type)
    }
    prompted = {
        row_type
        for row_type in row_types
        if "prompt" in getattr(row_type, "__dataclass_fields__", ())
    }
    types_that_do_not_ask = {rows.ColumnRoles, rows.LamaCloze, rows.OfferedCloze, rows.PromptFact}
    assert prompted - types_that_do_not_ask == set(ASKING)


@pytest.mark.parametrize(
    ("dataset", "configs"),
    [
        ("dynamic-templama", "unchanged updated new deleted paraphrases"),
        ("invariant-lama", "all"),
        ("timeqa", "easy hard consistency"),
        ("streamingqa", "recent past all eval_by_quarter"),
        *((facts, "") for facts in ("temporal-facts", "wmt-question-dates", "ckl-questions")),
    ],
)
def test_every_row_of_the_samples_says_what_is_asked_and_accepted(
    sample: Path, dataset: str, configs: str
) -> None:
    assert counted(sample / "releases" / dataset / "1.0.0").keys() == {*configs.split()}


@pytest.mark.parametrize(
    ("dataset", "most"),
    # names of three letters are below what two names may share: `Kia Center is named after Kia`
    [("dynamic-templama", 0.001), ("invariant-lama", 0.0), ("timeqa", 0.0), ("streamingqa", 0.0)],
)
def test_a_prompt_does_not_hold_its_answer(sample: Path, dataset: str, most: float) -> None:
    release = sample / "releases" / dataset / "1.0.0"
    row_count = sum(counted(release).values())
    assert sum(given_away(release).values()) <= most * row_count
