"""Figures and configs of what people added to generated questions."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

from builders import rows
from builders.dataset import Figure, FromParquet, Scalar, Table
from builders.questions.gold_step import BASELINE, QUESTIONS

_BASELINE = (
    "Answers of people who were given the article, one a question, and how they score against "
    "the references: the human baseline."
)
_GOLD = (
    "`taken`: used. `rejected`, `disputed`, `open`: what quality control made of it. `changed`: "
    "people saw another question, day or article than there is now. `no_such_row`: the id is in "
    "none of the tables. `other_split`: its article is in another split. `not_understood`, "
    "`contradictory`: no answer of the layout, or several that differ."
)
_JUDGED = (
    "`good`: three of three people say so. `judged_bad`: at least one does not; left out. "
    "`unanswerable`: most of those who looked for an answer in the article found none; left out. "
    "`not_judged`: left out, since the recipe asks for a judgment; where it does not, such "
    "questions are `kept unjudged`."
)
_FILTERS = "In the order in which they ran. Written questions are filtered by themselves."
_SCORES = (
    "One of those who answered, chosen by a hash of the question's id, against the original "
    "answers and those of the others, after SQuAD normalisation. Who found no answer scores 0."
)


def tables(made: Path) -> tuple[Table, ...]:
    """The config of the human baseline, where there is one."""
    if not duckdb.execute(_ANY, [str(made / BASELINE)]).fetchall()[0][0]:
        return ()
    source = FromParquet(made / BASELINE)
    return (Table("human_baseline", rows.HumanAnswer, _BASELINE, {"full": source}),)


def figures(made: Path, summary: Mapping[str, Any]) -> tuple[Figure, ...]:
    """What became of the gold rows, of judged questions, of written ones; the baseline's scores."""
    gold: list[Mapping[str, Scalar]] = [
        {"layout": layout, "outcome": outcome, "rows": n}
        for layout, counts in summary["gold"].items()
        for outcome, n in counts.items()
        if n
    ]
    judged: list[Mapping[str, Scalar]] = [
        {"question": kind, "outcome": outcome, "rows": n} for kind, outcome, n in summary["judged"]
    ]
    passed: list[Mapping[str, Scalar]] = [
        {"filter": one["filter"], "seen": one["seen"], "dropped": one["dropped"]}
        for one in summary["filters"]
    ]
    query = """
        select q.split, q.written_or_generated, count(*), avg(b.exact_match), avg(b.f1)
        from read_parquet(?) b join read_parquet(?) q using (id) group by all order by all
    """
    names = ("split", "question", "rows", "share exact match", "share f1")
    paths = [str(made / BASELINE), str(made / QUESTIONS)]
    found = duckdb.execute(query, paths).fetchall()
    scores = [dict(zip(names, row, strict=True)) for row in found]
    return (
        Figure("gold", "What became of the gold rows", gold, _GOLD),
        Figure("judged", "Questions that people judged", judged, _JUDGED),
        Figure("written_filters", "Filters of written questions", passed, _FILTERS),
        Figure("human_baseline", "The human baseline", scores, _SCORES),
    )


_ANY = "select count(*) from read_parquet(?)"
