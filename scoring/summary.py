"""Scores as a few lines of text."""

from collections.abc import Iterator

from factdrift.scoring.metrics import GUESSED
from factdrift.scoring.score import Mean, Scores

_WRITTEN = (
    *("exact_match", "f1", "p@1", "p@10", "mrr", "consistency", "agreement", "recall@10"),
    *("outdated", "early", "abstained"),
)
CHOSEN = ("accuracy", *GUESSED, "outdated")
"""What is shown of answers that it chose among others, beside what needs no knowledge."""
COLUMNS = {"exact_match": _WRITTEN, "accuracy": CHOSEN}
"""The main metric of answers that a model wrote, and of those that it chose -> what is shown."""


def summary_lines(scores: Scores) -> Iterator[str]:
    """Tables of the overall means, in per cent with their intervals, and where the rest is."""
    overall = [m for m in scores.table if (m.split, m.stratum) == (None, "all")]
    for of, names in COLUMNS.items():
        configs = list(dict.fromkeys(m.config for m in overall if m.metric == of))
        shown = [n for n in names if any(m.metric == n and m.config in configs for m in overall)]
        if configs:
            yield "".join([f"{'config':<18}{'rows':>9}", *(f"{name:>20}" for name in shown)])
        for config in configs:
            mine = {m.metric: m for m in overall if m.config == config}
            cells = (f"{percent_cell(mine.get(name)):>20}" for name in shown)
            yield "".join([f"{config or 'together':<18}{mine[of].n:>9,}", *cells])
    yield "in per cent, with 95 % intervals by subject"
    if any(m.metric == "accuracy" for m in overall):
        yield (
            "accuracy is of choosing: chance, the shortest text and the answers of before are what "
            "the same choices give without knowledge"
        )
    if stop := scores.stop:
        yield (
            f"knows what changed until {stop.last_known} ({stop.low} to {stop.high}), "
            f"not since {stop.first_unknown}; from {stop.n:,} answers"
        )
    yield f"all of it: {scores.folder}"


def percent_cell(mean: Mean | None) -> str:
    if mean is None:
        return "-"
    text = f"{100 * mean.mean:.1f}"
    if mean.low is None or mean.high is None:
        return text
    return f"{text} [{100 * mean.low:.1f}, {100 * mean.high:.1f}]"
