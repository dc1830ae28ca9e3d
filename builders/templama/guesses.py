"""Measure three guesses that need no knowledge of a period.

They are the object that the subject had for the longest time (by its timeline), the object that
most subjects of the relation had, and the answers of the previous period. A split that a guess
solves tests no knowledge. The last guess is wrong on `updated` by construction, unless a stale
statement says that it may still hold, so that the first one says most.
"""

from collections.abc import Iterator
from pathlib import Path

from factdrift.builders.core import duck
from factdrift.builders.core.dataset import Scalar, Statistics

GUESSES = ("longest held", "most frequent", "answers before")
SOLVED = {"answers before": frozenset({"unchanged", "deleted"})}
"""Configs that a guess solves by what they are: who is told the answers of the period before has
what did not change right, and its score of all rows says how many of them changed, and no more."""

# The label is the tie-break of each guess, so that any engine gives the same one. Where a day of a
# segment is not known, the nearest day that is known stands in for it.
_GUESSED = """
with asked as (
    select id, split, relation, period, subject, targets, previous_answers, still_true,
        period_last from read_parquet($cloze, union_by_name = true)
), longest as (
    select subject, relation, arg_max(object_label, days order by object_label) as guess from (
        select subject, relation, object_label, sum(date_diff('day',
            coalesce(start_last, start_first, end_first),
            coalesce(end_first, end_last, snapshot))) as days
        from read_parquet($timelines) group by all) group by all
), frequent as (
    select relation, mode(object_label order by object_label) as guess from (
        select distinct relation, subject, object_label from read_parquet($timelines))
    group by all
), guessed as (
    select a.*, l.guess as longest, f.guess as frequent
    from asked a left join longest l using (subject, relation)
        left join frequent f using (relation)
)
"""
# A guess that is still true is neither right nor wrong, as in scoring: its row is not counted.
_COMPARED = """, compared as (
    select split, relation,
        list_transform(targets, lambda t: lower(t)) as wanted,
        list_transform(still_true, lambda t: lower(t.label)) as neutral,
        list_transform(previous_answers, lambda t: lower(t.label)) as before,
        lower(longest) as longest, lower(frequent) as frequent
    from guessed
)
select {by}, count(*),
    avg(coalesce(list_contains(wanted, longest), false)::int) filter (
        not coalesce(list_contains(neutral, longest), false)),
    avg(coalesce(list_contains(wanted, frequent), false)::int) filter (
        not coalesce(list_contains(neutral, frequent), false)),
    avg((list_has_any(wanted, before))::int) filter (not list_has_all(neutral, before)
        or list_has_any(wanted, before) or len(before) = 0)
from compared group by all order by all
"""
# Lists of DuckDB begin at 1, and a place outside of a list is null.
_EACH = """
select id, longest, frequent,
    coalesce(list_filter(previous_answers, lambda one: not list_contains(
        list_transform(still_true, lambda t: t.id), one.id))[1], previous_answers[1]).label
from guessed order by id
"""


def guesses(
    cloze_paths: list[Path], timelines_path: Path, group_column: str = "split"
) -> list[dict[str, Scalar]]:
    """Return the share of exact matches of each guess, by `split` or `relation`.

    `cloze_paths` are Parquet files of `rows.Cloze`, `timelines_path` one of `rows.ReleasedSegment`.
    Where the previous period had several answers, the best one counts. Guesses in `still_true` are
    left out.
    """
    query = _GUESSED + _COMPARED.format(by=group_column)
    query_paths = {"cloze": [str(path) for path in cloze_paths], "timelines": str(timelines_path)}
    with duck.connect() as db:
        result_rows = db.execute(query, query_paths).fetchall()
    return [
        {
            group_column: value,
            "comparisons": comparison_count,
            **dict(zip(GUESSES, shares, strict=True)),
        }
        for value, comparison_count, *shares in result_rows
    ]


def answers(
    cloze_paths: list[Path], timelines_path: Path
) -> Iterator[tuple[str, tuple[str | None, ...]]]:
    """Yield the id of each row with the labels that the three `GUESSES` answer, ordered by id.

    The guesses are the object that the subject had for the longest time, the object that most
    subjects of the relation had, and the answer of the previous period. A guess without an answer
    is None. If the previous period had several answers, the last guess is the first of them that
    does not still hold, or the first of all.
    """
    query_paths = {"cloze": [str(path) for path in cloze_paths], "timelines": str(timelines_path)}
    with duck.connect() as db:
        result = db.execute(_GUESSED + _EACH, query_paths)
        while result_rows := result.fetchmany(1 << 14):
            yield from ((row_id, tuple(guessed_labels)) for row_id, *guessed_labels in result_rows)


def statistics(cloze_path: Path, timelines_path: Path) -> Statistics:
    """Return the scores of the guesses for the card, with those on `updated` in its first words."""
    guess_rows = guesses([cloze_path], timelines_path)
    guess_rows.sort(key=lambda row: row["split"] != "updated")
    share_rows: list[dict[str, Scalar]] = [
        {"split": row["split"], "comparisons": row["comparisons"]}
        | {f"share {name}": row[name] for name in GUESSES}
        for row in guess_rows
    ]
    lead = ""
    if guess_rows and guess_rows[0]["split"] == "updated":
        longest, frequent = (guess_rows[0][name] or 0 for name in GUESSES[:2])
        lead = (
            f"Of `updated`, who knows no date and names the object that the subject had longest is "
            f"right in {longest:.1%}, and who names the most frequent one in {frequent:.1%}. "
        )
    caption = lead + (
        "Exact match of models that know nothing of the period: the object that the subject had "
        "longest, the one that most subjects of its relation had, and the answers of the period "
        "before, which are right of `updated` only where they may still hold."
    )
    return Statistics("guesses", "What knowing nothing scores", share_rows, caption)
