"""Scores as a few lines of text."""

from collections.abc import Iterator

from factdrift.scoring.score import Mean, Scores

_SHOWN = (
    "exact_match",
    "f1",
    "accuracy",
    "p@1",
    "p@10",
    "mrr",
    "consistency",
    "agreement",
    "recall@10",
)
_SHARES = ("outdated", "early", "abstained")


def summary(scores: Scores) -> Iterator[str]:
    """A table of the overall means, in per cent with their intervals, and where the rest is."""
    overall = [m for m in scores.table if (m.split, m.stratum) == (None, "all")]
    names = [n for n in (*_SHOWN, *_SHARES) if any(m.metric == n for m in overall)]
    yield "".join([f"{'config':<18}{'rows':>9}", *(f"{name:>20}" for name in names)])
    for config in dict.fromkeys(m.config for m in overall):
        mine = {m.metric: m for m in overall if m.config == config}
        rows = max(m.n for m in mine.values())
        cells = (f"{_cell(mine.get(name)):>20}" for name in names)
        yield "".join([f"{config or 'together':<18}{rows:>9,}", *cells])
    yield "in per cent, with 95 % intervals by subject"
    if scores.stop:
        stop = scores.stop
        yield (
            f"knows what changed until {stop.last_known} ({stop.low} to {stop.high}), "
            f"not since {stop.first_unknown}; from {stop.n:,} answers"
        )
    yield f"all of it: {scores.folder}"


def _cell(mean: Mean | None) -> str:
    if mean is None:
        return "-"
    text = f"{100 * mean.mean:.1f}"
    if mean.low is None or mean.high is None:
        return text
    return f"{text} [{100 * mean.low:.1f}, {100 * mean.high:.1f}]"
