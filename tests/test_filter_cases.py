"""Every filter against its table of cases, and how long the tables are."""

from pathlib import Path

import pytest

from tests.filter_cases import TABLES, cases, said


@pytest.mark.parametrize("table", TABLES)
def test_table(table: str, tmp_path: Path) -> None:
    found = cases(table)
    assert len(found) >= 40
    wrong = []
    for n, case in enumerate(found):
        (tmp_path / str(n)).mkdir()
        answer = said(table, case, tmp_path / str(n))
        if case.wanted not in (answer, answer.split(" ")[0]):
            wrong.append((case.where, case.cells, answer))
    assert not wrong
