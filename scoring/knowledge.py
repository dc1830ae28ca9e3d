"""When a model's knowledge stops: which changes of the world its answers still follow.

A row's answer *began* in the first period of its fact's history in which it is accepted. A model
that knows the world up to some day is right where the answer began before that day, and outdated
where it began after it; whether a row asks about 2020 or 2024 says less, as most facts do not
change. So answers are counted by when they began, and the day is the cut that explains best which
of them are right and which outdated.
"""

from typing import NamedTuple

import duckdb
import numpy as np

from factdrift.scoring.intervals import Floats, Ints, bounds
from factdrift.scoring.questions import ReleaseQuestions, single_row

LEAST = 10.0
"""Twice the gain in log-likelihood from which a cut is believed (about 1 in 600 by chance)."""


class KnowledgeStop(NamedTuple):
    """The last period whose changes a model knows, and the first period whose changes it does not.

    `low`, `high`: the interval of `last_known` (95 %, by subject). `n`: answers that it rests on,
    of facts that changed, each question once.
    """

    last_known: str
    first_unknown: str
    low: str
    high: str
    n: int


def mark_known_changes(db: duckdb.DuckDBPyConnection) -> None:
    """Make tables of what facts had before, from `asked`, `row_names` and `histories`.

    `held`: since when a fact whose answers change had each name; `changed`: rows that had another
    answer before; `began`: of rows whose fact changes, or that name a past answer and have no
    history, the last day and the name of the period in which the answer began. Of several accepted
    answers the one that began first counts, for who knows it is right; what was a past answer
    already in the first period of its row did not begin there, and the row is in none.
    """
    db.execute(_LOOK_BACK)


_LOOK_BACK = """
-- Most facts accept the same names on every day: these say nothing of earlier answers.
CREATE TABLE held AS
    WITH changing AS (
        SELECT fact FROM histories WHERE fact IS NOT NULL AND day IS NOT NULL
        GROUP BY fact HAVING min(hash(targets)) != max(hash(targets))
    )
    SELECT fact, name, min(day) AS since FROM (
        SELECT fact, day, unnest(targets) AS name
        FROM histories SEMI JOIN changing USING (fact) WHERE day IS NOT NULL
    ) GROUP BY ALL;

CREATE TABLE changed AS
    SELECT row FROM asked SEMI JOIN (
        FROM name_sets WHERE NOT list_has_all(targets, previous)
    ) USING (name_set)
    UNION
    SELECT row FROM asked a JOIN name_sets n USING (name_set)
        JOIN held h ON h.fact = a.fact AND h.since < a.day
    WHERE NOT list_contains(n.targets, h.name);

CREATE TABLE dated AS
    SELECT row, fact, day, targets, previous FROM asked JOIN name_sets USING (name_set)
    WHERE dated AND fact IN (SELECT fact FROM asked SEMI JOIN changed USING (row));

CREATE TABLE began AS
WITH steady AS (
    -- facts of one answer, which began on their first day: most are, and need no windows
    SELECT fact, min(day) AS start FROM dated
    GROUP BY fact HAVING min(hash(targets)) = max(hash(targets))
), steady_earlier AS (
    SELECT fact, bool_or(list_has_any(previous, targets)) AS there
    FROM dated JOIN steady USING (fact) WHERE day = start GROUP BY fact
), answers AS (
    SELECT row, fact, day, dense_rank() OVER (PARTITION BY fact ORDER BY day) AS place, targets
    FROM dated ANTI JOIN steady USING (fact)
), names AS (
    -- names are told apart by their hashes, which sort faster
    SELECT * EXCLUDE (targets), hash(unnest(targets)) AS name FROM answers
), stretches AS (
    -- a name holds on as long as it is there in each period of its history
    SELECT row, fact, day, name,
        place - dense_rank() OVER (PARTITION BY fact, name ORDER BY place) AS stretch
    FROM names
), starts AS (
    SELECT fact, name, stretch, min(day) AS start FROM stretches GROUP BY ALL
), earlier AS (
    SELECT DISTINCT s.fact, s.name, stretch, true AS there FROM starts s JOIN (
        SELECT fact, day, hash(unnest(previous)) AS name FROM dated ANTI JOIN steady USING (fact)
    ) d ON d.fact = s.fact AND d.day = s.start AND d.name = s.name
), found AS (
    SELECT row, min(start) AS day
    FROM stretches JOIN starts USING (fact, name, stretch)
        LEFT JOIN earlier USING (fact, name, stretch)
    GROUP BY row HAVING NOT coalesce(bool_or(there), false)
    UNION ALL
    SELECT row, start FROM dated JOIN steady USING (fact) JOIN steady_earlier USING (fact)
    WHERE NOT there AND len(targets) > 0
    UNION ALL
    SELECT row, day FROM asked JOIN name_sets USING (name_set)
    WHERE fact IS NULL AND len(previous) > 0 AND day IS NOT NULL
), named AS (
    SELECT day, arg_min(period, row) AS label FROM release_rows
    WHERE period IS NOT NULL AND day IS NOT NULL GROUP BY day
)
SELECT row, day, coalesce(label, printf('%04dQ%d', year(day), quarter(day))) AS label
FROM found LEFT JOIN named USING (day);

DROP TABLE dated;
"""


# What was answered of rows that can show a stop, each question once: its fact changed, and it is
# known when its answer began.
_SHOWING = """
    marks m JOIN began b USING (row) SEMI JOIN changed USING (row) SEMI JOIN once USING (row)
    WHERE true
"""


def find_knowledge_stop(questions: ReleaseQuestions, draw_weights: Floats) -> KnowledgeStop | None:
    """Find where a model's knowledge stops; return None if its answers do not show it.

    `draw_weights` are the weights of `scoring.intervals.bundle_weights`.
    """
    change_rows = questions.db.execute(f"""
        SELECT b.day, any_value(label) AS label, bundle, count(*) AS n,
            count(*) FILTER (verdict = 'right') AS hits
        FROM {_SHOWING} AND verdict IN ('right', 'outdated')
        GROUP BY b.day, bundle ORDER BY b.day
    """).fetchall()  # noqa: S608
    period_labels = list(
        {cut_day: period_label for cut_day, period_label, *_ in change_rows}.values()
    )
    if len(period_labels) < 2:
        return None
    place = {
        cut_day: place_number
        for place_number, cut_day in enumerate(dict.fromkeys(row[0] for row in change_rows))
    }
    answer_counts, right_counts = np.zeros((2, draw_weights.shape[1], len(place)))
    for cut_day, _, bundle, place_number, hit_counts in change_rows:
        answer_counts[bundle, place[cut_day]], right_counts[bundle, place[cut_day]] = (
            place_number,
            hit_counts,
        )
    best_cut, cut_gain = _cuts(right_counts.sum(0)[None], answer_counts.sum(0)[None])
    if 2 * cut_gain[0] < LEAST:
        return None
    drawn_cuts, _ = _cuts(draw_weights @ right_counts, draw_weights @ answer_counts)
    drawn_cuts.sort()
    low_day, high_day = drawn_cuts[bounds(len(drawn_cuts))]
    last_known, first_unknown, low_day, high_day = (
        period_labels[place_number]
        for place_number in (best_cut[0] - 1, best_cut[0], low_day - 1, high_day - 1)
    )
    return KnowledgeStop(last_known, first_unknown, low_day, high_day, int(answer_counts.sum()))


def why_no_stop(questions: ReleaseQuestions) -> str | None:
    """Say why `find_knowledge_stop` returned None; None where no row could have shown a stop."""
    row_count, right_count, outdated_count, period_count = single_row(
        questions.db,
        f"""
        SELECT count(*), count(*) FILTER (verdict = 'right'),
            count(*) FILTER (verdict = 'outdated'),
            count(DISTINCT b.day) FILTER (verdict IN ('right', 'outdated'))
        FROM {_SHOWING}
        """,  # noqa: S608
    )
    if not row_count:
        return None
    rows_text = f"the {row_count:,} answers about facts that had another answer before"
    if not outdated_count:
        return (
            f"of {rows_text}, {right_count:,} are right and none is outdated; it may stop after "
            "the last period"
        )
    if not right_count:
        return (
            f"of {rows_text}, {outdated_count:,} are outdated and none is right; it may stop "
            "before the first period, which a release of a longer window shows (--window)"
        )
    if period_count < 2:
        return f"{rows_text} began in one period"
    return (
        f"of {rows_text}, {right_count:,} are right and {outdated_count:,} outdated, but not "
        "clearly more of them outdated from some period on"
    )


def _cuts(right_counts: Floats, answer_counts: Floats) -> tuple[Ints, Floats]:
    """Return the best cut of each row of counts, from 1, and its gain over no cut."""
    whole_right, whole_entropy = (
        right_counts.sum(1, keepdims=True),
        answer_counts.sum(1, keepdims=True),
    )
    before_right, before_counts = (
        np.cumsum(right_counts, 1)[:, :-1],
        np.cumsum(answer_counts, 1)[:, :-1],
    )
    after_right, after_counts = whole_right - before_right, whole_entropy - before_counts
    cut_gains = (
        _fit(before_right, before_counts)
        + _fit(after_right, after_counts)
        - _fit(whole_right, whole_entropy)
    )
    falls_after = before_right * after_counts > after_right * before_counts
    cut_gains = np.where(falls_after, cut_gains, 0.0)
    best_cuts = cut_gains.argmax(1)
    return best_cuts + 1, cut_gains[np.arange(len(cut_gains)), best_cuts]


def _fit(right_counts: Floats, answer_counts: Floats) -> Floats:
    """Return the log-likelihood of hits among counts, at the rate that fits them best."""
    return _entropy(right_counts) + _entropy(answer_counts - right_counts) - _entropy(answer_counts)


def _entropy(count: Floats) -> Floats:
    return count * np.log(np.maximum(count, 1))
