"""Figures and pictures for the card of generated questions."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

from builders.dataset import Figure, Plot, Scalar
from builders.wmt.corpus import day_plots, evenness, subsets

_PAPER = "The paper's written questions have 46.9 % entity, 40.6 % phrase and 12.4 % date answers."
_LONG = 25
"""Words from which questions and answers share the last bar."""


def tables(questions: Path, drawn: Path, summary: Mapping[str, Any]) -> tuple[Figure, ...]:
    """Draws, what generation gave, what each filter dropped, answer types, time specifications.

    `drawn` is the folder of the draws.
    """
    made: list[Mapping[str, Scalar]] = [
        {"outcome": reason, "candidates": n} for reason, n in sorted(summary["generated"].items())
    ]
    passed: list[Mapping[str, Scalar]] = [
        {
            "filter": one["filter"],
            "seen": one["seen"],
            "dropped": one["dropped"],
            "share dropped": one["dropped"] / one["seen"] if one["seen"] else 0.0,
        }
        for one in summary["filters"]
    ]
    examples: list[Mapping[str, Scalar]] = [
        {"filter": one["filter"], "reason": reason, "dropped": text}
        for one in summary["filters"]
        for reason, text in one["examples"]
    ]
    return (
        subsets(drawn / "draws.parquet"),
        evenness(drawn),
        Figure("generated", "What became of the answer candidates", made),
        Figure("filters", "Filters", passed, "In the order in which they ran."),
        Figure("filter_examples", "What filters dropped", examples, "A few for each reason."),
        _shares(questions, "answer_type", "Answer types", _PAPER),
        _shares(questions, "time_spec", "Time specifications", "Of all rows."),
        _shares(questions, "split_part(question, ' ', 1)", "First words", "Of all rows."),
    )


def plots(questions: Path, drawn: Path) -> tuple[Plot, ...]:
    """Lengths of questions and answers in words, article years, and article days of the draws."""
    lengths: dict[str, dict[str, int]] = {}
    for name, column in (
        ("words in the question", "question"),
        ("words in the answer", "answers[1]"),
    ):
        query = f"""
            select least(len(string_split({column}, ' ')), {_LONG}) as n, count(*)
            from read_parquet(?) group by 1 order by 1
        """  # noqa: S608 - our own column names
        counted = dict(duckdb.execute(query, [str(questions)]).fetchall())
        lengths[name] = {str(n): counted.get(n, 0) for n in range(1, _LONG)}
        lengths[name][f"{_LONG}+"] = counted.get(_LONG, 0)
    days = """
        select recent_or_past, year(make_timestamp(evidence_ts * 1000000))::varchar, count(*)
        from read_parquet(?) where split = 'eval' group by all order by all
    """
    years: dict[str, dict[str, int]] = {}
    found = duckdb.execute(days, [str(questions)]).fetchall()
    every = sorted({year for _, year, _ in found})
    for subset, year, n in found:
        years.setdefault(f"eval, {subset}", dict.fromkeys(every, 0))[year] = n
    first = Plot("lengths", "periods", "Lengths", "Words of questions and answers.", lengths)
    if not years:
        return (first, *day_plots(drawn))
    about = "Evaluation questions by the year of their article."
    return (first, Plot("years", "periods", "Article years", about, years), *day_plots(drawn))


def _shares(questions: Path, column: str, title: str, caption: str) -> Figure:
    query = f"""
        select {column}, count(*), count(*) / sum(count(*)) over () from read_parquet(?)
        group by 1 order by 2 desc, 1
    """  # noqa: S608 - our own column names
    found = duckdb.execute(query, [str(questions)]).fetchall()
    name = title.lower().replace(" ", "_")
    kind = title.lower().removesuffix("s")
    rows: list[Mapping[str, Scalar]] = [{kind: v, "rows": n, "share": p} for v, n, p in found]
    return Figure(name, title, rows, caption)
