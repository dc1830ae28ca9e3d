"""The difference of rows from their twins, which ask the same under other names."""

import duckdb
import pytest

from factdrift.builders.release.manifest import Manifest
from factdrift.scoring.intervals import SCALE
from factdrift.scoring.questions import ReleaseQuestions
from factdrift.scoring.twins import twin_rows_differences


def questions(renamed_right: int) -> ReleaseQuestions:
    """Twenty rows that are all right, and their twins, of which some are."""
    db = duckdb.connect()
    db.execute("""
        CREATE TABLE release_rows AS
        SELECT range AS row, 'with_evidence' AS config, 'r' || range AS id, NULL AS twin,
            'Q' || range AS subject FROM range(20)
        UNION ALL SELECT 20 + range, 'renamed', 't' || range, 'r' || range, 'Q' || range
        FROM range(20)
    """)
    db.execute(
        "CREATE TABLE subjects AS SELECT 'Q' || range AS subject, range AS number FROM range(20)"
    )
    db.execute(
        "CREATE TABLE marks AS SELECT row, CASE WHEN row < 20 OR row < 20 + $right THEN $scale "
        "ELSE 0 END AS exact_match, NULL::BIGINT AS f1, NULL::BIGINT AS accuracy FROM release_rows",
        {"right": renamed_right, "scale": SCALE},
    )
    return ReleaseQuestions(db, Manifest.model_construct(), (), {}, 20)


@pytest.mark.parametrize("renamed_right", [20, 5])
def test_a_model_that_remembers_is_better_with_real_names(renamed_right: int) -> None:
    (difference,) = twin_rows_differences(questions(renamed_right))
    assert (difference.config, difference.twins) == ("renamed", "with_evidence")
    assert (difference.n, difference.twin_mean) == (20, 1.0)
    assert difference.mean == renamed_right / 20
    assert difference.difference == 1 - renamed_right / 20
    assert difference.low <= difference.difference <= difference.high
    assert (difference.low > 0) == (renamed_right == 5)
