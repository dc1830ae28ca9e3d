"""Every filter against its table of cases."""

from pathlib import Path

import pytest

from factdrift.filters import FILTERS
from tests.filter_cases import TABLES, is_right, read_cases

WITHOUT_TABLE = {"fact_check", "guess", "lm_judge", "news_and_unique", "toxicity"}
"""Filters that ask a model, a scorer or a dump, which have tests of their own."""


@pytest.mark.parametrize("table", TABLES)
def test_table(table: str, tmp_path: Path) -> None:
    cases = read_cases(table)
    assert len(cases) >= 4, "two questions that are kept, and two that are dropped"
    wrong_cases = []
    for case_number, table_case in enumerate(cases):
        folder = tmp_path / str(case_number)
        folder.mkdir()
        is_as_said, case_result = is_right(table, table_case, folder)
        if not is_as_said:
            wrong_cases.append((table_case, case_result))
    assert not wrong_cases


def test_every_filter_has_a_table() -> None:
    assert (
        FILTERS.keys() - WITHOUT_TABLE
        == {table_path.partition("-")[0] for table_path in TABLES} & FILTERS.keys()
    )


def test_every_filter_explains_itself() -> None:
    for name, filter_class in FILTERS.items():
        assert filter_class.reasons, name
