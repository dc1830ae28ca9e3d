"""How a model does on rows and on their twins, which ask the same under other names.

What a model gets right with the real names and wrong with invented ones it remembered, and did not
work out.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from factdrift.scoring.intervals import SCALE, paired_difference, subject_bundles
from factdrift.scoring.questions import ReleaseQuestions

# What is right or wrong about a row; other metrics are made of these.
_METRICS = ("exact_match", "f1", "accuracy")
# a fixed seed: the same predictions give the same intervals
_SEED = 0


class TwinDifference(NamedTuple):
    """The mean of a config's rows, that of their twins, and the difference with its interval.

    `twins` is the config of the rows that have real names, and `config` that of the others.
    """

    config: str
    twins: str
    metric: str
    n: int
    mean: float
    twin_mean: float
    difference: float
    low: float
    high: float
    p_value: float


def twin_rows_differences(questions: ReleaseQuestions) -> Iterator[TwinDifference]:
    """Yield the differences of every config whose rows have twins, of pairs that both have marks.

    Each is of a twin with real names minus the row with invented ones.
    """
    mark_columns = questions.db.table("marks").columns
    for metric in filter(mark_columns.__contains__, _METRICS):
        marks_by_configs = questions.db.execute(
            f"""
            SELECT own.config, real.config, list(m.{metric}), list(t.{metric}),
                list(coalesce(s.number, 0)), list(own.row)
            FROM (FROM release_rows ORDER BY row) own JOIN release_rows real ON real.id = own.twin
            JOIN marks m ON m.row = own.row JOIN marks t ON t.row = real.row
            JOIN subjects s ON s.subject = own.subject
            WHERE m.{metric} IS NOT NULL AND t.{metric} IS NOT NULL
            GROUP BY ALL ORDER BY ALL
            """  # noqa: S608
        ).fetchall()
        for config, twins, own_marks, twin_marks, subject_numbers, row_numbers in marks_by_configs:
            # One order, whatever the database does first: intervals are drawn by it.
            row_order = np.argsort(row_numbers)
            own_scores = np.array(own_marks, np.int64)[row_order]
            twin_scores = np.array(twin_marks, np.int64)[row_order]
            subjects = np.unique(np.array(subject_numbers)[row_order], return_inverse=True)[1]
            bundle_numbers, bundle_count = subject_bundles(subjects)
            difference = paired_difference(
                twin_scores, own_scores, bundle_numbers, bundle_count, _SEED
            )
            yield TwinDifference(
                config=config,
                twins=twins,
                metric=metric,
                n=difference.row_count,
                mean=round(float(own_scores.mean()) / SCALE, 6),
                twin_mean=round(float(twin_scores.mean()) / SCALE, 6),
                difference=round(difference.difference, 6),
                low=round(difference.low, 6),
                high=round(difference.high, 6),
                p_value=round(difference.p_value, 6),
            )
