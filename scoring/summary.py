"""Print scores as a few lines of text."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from factdrift.scoring.metrics import GUESSED
from factdrift.scoring.score import CHANGED, FEWEST, Mean, Scores
from factdrift.scoring.verdict_shares import share_lines

_WRITTEN = ("exact_match", "f1", "p@1", "p@10", "mrr", "consistency", "agreement", "recall@10")
CHOSEN = ("accuracy", *GUESSED)
"""The metrics that are shown of chosen answers; `GUESSED` says what no knowledge would give."""
# from one silence in ten rows on, a score says as much of silence as of knowledge
_OFTEN_SILENT = 10
# periods of few rows that one line lists
_LISTED = 5
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
    yield from _remarks(scores)
    yield f"all of it: {scores.folder}"


def _remarks(scores: Scores) -> Iterator[str]:
    """Yield a line for each thing that a reader of the tables has to know."""
    verdict_counts = scores.summary["verdicts"]
    row_count = sum(verdict_counts.values())
    if scores.left_out:
        listed_configs = ", ".join(
            f"{config_name} ({count:,})" for config_name, count in scores.left_out.items()
        )
        yield f"together: each question once, without rows that ask one again: {listed_configs}"
    abstained_count = verdict_counts["abstained"]
    if row_count < abstained_count * _OFTEN_SILENT:
        answered_count = row_count - abstained_count
        right_text = ""
        if answered_count:
            right_percent = 100 * verdict_counts["right"] / answered_count
            right_text = (
                f"; of the {answered_count:,} others {right_percent:.1f} per cent are right"
            )
        yield (
            f"{abstained_count:,} of {row_count:,} rows have no answer (abstained), which is not "
            f"right{right_text}"
        )
    if scores.time and (few_text := few_rows_text(scores.row_counts(scores.time))):
        yield f"{time_words(scores.time)} with fewer than {FEWEST} rows say little: {few_text}"
    if stop := scores.stop:
        yield (
            f"knows what changed until {stop.last_known} "
            f"(95 % interval {stop.low} to {stop.high}), not since {stop.first_unknown}: from the "
            f"{stop.n:,} of {row_count:,} answers that "
            "are right or outdated about a fact that changed"
        )
    elif scores.no_stop:
        yield f"no stop of knowledge found: {scores.no_stop}"


def time_words(time_stratum: str) -> str:
    """Return the times of a stratum in words: `periods`, or `changes of a period`."""
    time_name = time_stratum.removeprefix(CHANGED)
    return f"changes of a {time_name}" if time_stratum != time_name else f"{time_name}s"


def few_rows_text(row_counts: Mapping[str, int]) -> str:
    """Return the times of fewer than `FEWEST` rows, in the order of tables: `2025Q4 (5)`; or "".

    Of many the last few are listed, and the number of those before them.
    """
    few_times = [f"{value} ({n})" for value, n in row_counts.items() if n < FEWEST]
    further_count = len(few_times) - _LISTED
    listed_text = ", ".join(few_times[-_LISTED:])
    return f"{further_count} earlier ones and {listed_text}" if further_count > 0 else listed_text


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
