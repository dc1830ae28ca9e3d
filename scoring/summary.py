"""Print scores as a few lines of text."""

from collections.abc import Collection, Iterator, Sequence

from factdrift.scoring.metrics import GUESSED
from factdrift.scoring.score import Mean, Scores
from factdrift.scoring.verdict_shares import share_lines

_WRITTEN = ("exact_match", "f1", "p@1", "p@10", "mrr", "consistency", "agreement", "recall@10")
CHOSEN = ("accuracy", *GUESSED)
"""The metrics that are shown of chosen answers; `GUESSED` says what no knowledge would give."""
COLUMNS = {"exact_match": _WRITTEN, "accuracy": CHOSEN}
"""The main metric of written answers, and that of chosen ones -> the metrics that are shown."""


def summary_lines(scores: Scores) -> Iterator[str]:
    """Yield tables of the overall means, in per cent with their intervals, and the folder."""
    overall = [mean for mean in scores.table if (mean.split, mean.stratum) == (None, "all")]
    solved = {mean.config for mean in overall if scores.is_solved(mean.config)}
    for main_metric, metric_names in COLUMNS.items():
        yield from _metric_table(overall, main_metric, metric_names, solved)
    yield "in per cent, with 95 % intervals by subject"
    yield from share_lines(scores.shares)
    if any(mean.metric == "accuracy" for mean in overall):
        yield (
            "accuracy is of choosing: chance, the shortest text and the answers of before are what "
            "the same choices give without knowledge"
        )
    for twin in scores.twins:
        if twin.metric != "f1":
            yield (
                f"{twin.config}: {100 * twin.mean:.1f} of {twin.n:,} rows, and "
                f"{100 * twin.twin_mean:.1f} of their twins in {twin.twins} ({twin.metric}): "
                f"{100 * twin.difference:+.1f} [{100 * twin.low:.1f}, {100 * twin.high:.1f}] "
                "by the real names"
            )
    if stop := scores.stop:
        yield (
            f"knows what changed until {stop.last_known} ({stop.low} to {stop.high}), "
            f"not since {stop.first_unknown}; from {stop.n:,} answers"
        )
    yield f"all of it: {scores.folder}"


def _metric_table(
    overall: Sequence[Mean],
    main_metric: str,
    metric_names: Sequence[str],
    solved: Collection[str | None],
) -> Iterator[str]:
    """Yield a line of heads and a line for each config that has the main metric.

    Cells of configs that a guess has `solved` by what they are have a dash.
    """
    by_config: dict[str | None, dict[str, Mean]] = {}
    for mean in overall:
        by_config.setdefault(mean.config, {})[mean.metric] = mean
    tabulated = {config: means for config, means in by_config.items() if main_metric in means}
    if not tabulated:
        return
    present_names = set().union(*tabulated.values())
    columns = [name for name in metric_names if name in present_names]
    yield "".join([f"{'config':<18}{'rows':>9}", *(f"{name:>20}" for name in columns)])
    for config, means in tabulated.items():
        shown_means = {} if config in solved else means
        cells = (f"{percent_cell(shown_means.get(name)):>20}" for name in columns)
        yield "".join([f"{config or 'together':<18}{means[main_metric].n:>9,}", *cells])


def percent_cell(mean: Mean | None) -> str:
    """Return a mean in per cent with its interval: `57.1 [9.7, 95.7]`; a dash for None."""
    if mean is None:
        return "-"
    text = f"{100 * mean.mean:.1f}"
    if mean.low is None or mean.high is None:
        return text
    return f"{text} [{100 * mean.low:.1f}, {100 * mean.high:.1f}]"
