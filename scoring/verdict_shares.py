"""The verdicts on all rows of a config as shares that add up to one."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from factdrift.reasoning.as_of.rows import DAY_VERDICTS
from factdrift.scoring.metrics import VERDICTS
from factdrift.scoring.questions import QuestionConfig, ReleaseQuestions

_ORDER = ("right", "outdated", "early", "abstained", "wrong")
assert set(_ORDER) == set(VERDICTS)
_KIND = "kind"
"""The column by which shares are told apart where a day is asked about."""


class VerdictShares(NamedTuple):
    """The shares of verdicts among some rows.

    `config` is null for all configs together, each question once; `kind` is null for all kinds.
    """

    config: str | None
    kind: str | None
    rows: int
    shares: Mapping[str, float]


def verdict_shares(questions: ReleaseQuestions) -> list[VerdictShares]:
    """Return the shares of each config, of its kinds of questions, and of all configs together."""
    shares: list[VerdictShares] = []
    for config in questions.configs:
        shares += _of_config(questions, config)
    if len(questions.configs) > 1:
        names = _names(*questions.configs)
        for _, counts in _counts(
            questions, "SELECT NULL, verdict FROM marks SEMI JOIN once USING (row)"
        ):
            shares.append(_shares(None, None, counts, names))
    return shares


def _of_config(questions: ReleaseQuestions, config: QuestionConfig) -> Iterator[VerdictShares]:
    names = _names(config)
    own_marks = "SELECT {}, verdict FROM marks {} WHERE config = ?"
    for _, counts in _counts(questions, own_marks.format("NULL", ""), config.name):
        yield _shares(config.name, None, counts, names)
    if config.asks_about_days and _KIND in config.strata:
        by_kind = own_marks.format("value", f"JOIN ({config.strata[_KIND]}) USING (row)")
        for kind, counts in _counts(questions, by_kind, config.name):
            yield _shares(config.name, kind, counts, names)


def _names(*configs: QuestionConfig) -> Mapping[str, str]:
    return DAY_VERDICTS if any(config.asks_about_days for config in configs) else {}


def _counts(
    questions: ReleaseQuestions, rows_query: str, *parameters: str
) -> list[tuple[str | None, dict[str, int]]]:
    """Return how often each verdict is given, for each value of the first column of a query."""
    count_query = f"SELECT value, verdict, count(*) FROM ({rows_query}) rows(value, verdict)"  # noqa: S608
    count_query += " GROUP BY ALL ORDER BY ALL"
    counts_by_value: dict[str | None, dict[str, int]] = {}
    for value, verdict, count in questions.db.execute(count_query, parameters).fetchall():
        counts_by_value.setdefault(value, {})[verdict] = count
    return [*counts_by_value.items()]


def _shares(
    config: str | None, kind: str | None, counts: Mapping[str, int], names: Mapping[str, str]
) -> VerdictShares:
    row_count = sum(counts.values())
    shares: dict[str, float] = {}
    for verdict in _ORDER:
        shares[names.get(verdict, verdict)] = counts.get(verdict, 0) / row_count
    return VerdictShares(config, kind, row_count, shares)


def share_lines(shares: list[VerdictShares]) -> Iterator[str]:
    """Yield a line of heads and a line for each config and kind, in per cent."""
    if not shares:
        return
    heads = [*shares[0].shares]
    yield "".join([f"{'verdicts':<18}{'rows':>9}", *(f"{head:>11}" for head in heads)])
    for row in shares:
        name = f"  {row.kind}" if row.kind else row.config or "together"
        cells = [f"{100 * share:>11.1f}" for share in row.shares.values()]
        yield "".join([f"{name:<18}{row.rows:>9,}", *cells])
    outdated_name, early_name = heads[_ORDER.index("outdated")], heads[_ORDER.index("early")]
    yield f"in per cent of all rows; {outdated_name}: right before, {early_name}: right only later"
