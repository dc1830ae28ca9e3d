"""The figures of `as-of` on its card, from the tables of the release."""

from collections.abc import Iterator
from pathlib import Path

from factdrift.builders.core import duck
from factdrift.builders.core.dataset import Statistics
from factdrift.reasoning.as_of.rows import QuestionKind

_CONTENTS = """
    SELECT source, count(*) AS passages, count(DISTINCT day) AS days,
        sum(len(string_split(text, ' ')))::bigint AS words,
        count(*) FILTER (stated.passage IS NOT NULL) AS "that state a fact",
        1 - avg((stated.passage IS NOT NULL)::int) AS "share of noise"
    FROM read_parquet($1) p
        LEFT JOIN (SELECT DISTINCT passage FROM read_parquet($2)) stated ON stated.passage = p.id
    GROUP BY source ORDER BY source
"""
_KINDS = """
    SELECT kind, count(*) AS questions, count(*) / sum(count(*)) OVER () AS share,
        count(DISTINCT (subject, relation)) AS histories,
        avg((as_of < asked_on)::int) AS "share asked later",
        avg((superseded = 'yes')::int) AS "share with a newer fact",
        avg((len(evidence) > 0)::int) AS "share with a proof",
        avg(len(evidence)) AS "judged 2", avg(len(supporting)) AS "judged 1",
        avg(len(stale)) AS "judged 0", avg(len(unjudged)) AS unjudged
    FROM read_parquet($1) GROUP BY kind ORDER BY kind
"""


def statistics_of(
    prefix: str, passages_path: Path, stated_path: Path, questions_path: Path
) -> Iterator[Statistics]:
    """What the corpus holds, and what is asked."""
    corpus = "sentences made from facts" if prefix else "news and pages"
    yield Statistics(
        f"{prefix}contents",
        f"Contents: {corpus}",
        duck.records(_CONTENTS, [passages_path, stated_path]),
        "Noise is what states no fact that was found. Days are those of the passages.",
    )
    kind_rows = duck.records(_KINDS, [questions_path])
    asked_kinds = {row["kind"] for row in kind_rows}
    missing_kinds = [kind for kind in kinds_of(prefix) if kind not in asked_kinds]
    lacking = f" Without rows: {', '.join(missing_kinds)}." if missing_kinds else ""
    yield Statistics(
        f"{prefix}kinds",
        f"Kinds: {corpus}",
        kind_rows,
        "Passages are judged by day: 2 proves the answer for the day asked about, 1 states the "
        f"same term on an earlier day, 0 states the term of another object.{lacking}",
    )


def kinds_of(prefix: str) -> tuple[QuestionKind, ...]:
    """The kinds that a corpus may have: only what is made from facts takes a statement back."""
    kinds: tuple[QuestionKind, ...] = (
        "newest",
        "older",
        "change",
        "before",
        "two-hops",
        "abstain",
    )
    return (*kinds, "corrected") if prefix else kinds
