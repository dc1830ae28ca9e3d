"""What `score` prints: the verdicts of a config are shares of the same rows and add up."""

import pytest

from factdrift.scoring.score import Mean
from factdrift.scoring.summary import verdict_shares


def row(metric: str, n: int, mean: float) -> Mean:
    return Mean("d", "c", None, "all", "all", metric, n, mean, None, None)


@pytest.mark.parametrize(
    ("means", "shares"),
    [
        # a memory that keeps what it heard last: 49.8, 8.0 and 54.3 % of different rows
        ([row("exact_match", 600, 0.498333), row("outdated", 500, 0.08),
          row("early", 481, 0.542620), row("abstained", 600, 0)], (299, 40, 0, 0, 261)),
        ([row("accuracy", 10, 0.5), row("outdated", 4, 0.5), row("abstained", 10, 0)],
         (5, 2, 3, 0, 0)),
        # some rows were chosen from, others answered in writing
        ([row("exact_match", 6, 0.5), row("accuracy", 4, 0.25), row("abstained", 10, 0.1)],
         (4, 0, 5, 1, 0)),
    ],
)  # fmt: skip
def test_verdicts_add_up(means: list[Mean], shares: tuple[int, ...]) -> None:
    counted = verdict_shares({mean.metric: mean for mean in means})
    row_count = means[-1].n
    assert tuple(round(row_count * share) for share in counted.values()) == shares
    assert sum(counted.values()) == pytest.approx(1)
