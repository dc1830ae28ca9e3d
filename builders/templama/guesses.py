"""What models that know nothing of a period score: three guesses, measured on the rows.

The answers of the period before; the object that the subject had longest, as its timeline has it;
the one that most subjects of the relation had. A split that they solve tests no knowledge.
"""

from collections.abc import Iterator
from pathlib import Path

from factdrift.builders.core import duck
from factdrift.builders.core.dataset import Scalar, Statistics

GUESSES = ("answers before", "longest held", "most frequent")

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
_COMPARED = """, compared as (
    select split, relation,
        list_transform(targets, lambda t: lower(t)) as wanted,
        list_transform(still_true, lambda t: lower(t.label)) as neutral,
        list_transform(previous_answers, lambda t: lower(t.label)) as before,
        lower(longest) as longest, lower(frequent) as frequent
    from guessed
)
select {by}, count(*),
    avg((list_has_any(wanted, before))::int) filter (not list_has_all(neutral, before)
        or list_has_any(wanted, before) or len(before) = 0),
    avg(coalesce(list_contains(wanted, longest), false)::int) filter (
        not coalesce(list_contains(neutral, longest), false)),
    avg(coalesce(list_contains(wanted, frequent), false)::int) filter (
        not coalesce(list_contains(neutral, frequent), false))
from compared group by all order by all
"""
_EACH = """
select id, coalesce(list_filter(previous_answers, lambda one: not list_contains(
    list_transform(still_true, lambda t: t.id), one.id))[1], previous_answers[1]).label,
    longest, frequent
from guessed order by id
"""


def guesses(cloze: list[Path], timelines: Path, by: str = "split") -> list[dict[str, Scalar]]:
    """Exact match of the three guesses by split or relation, as a table.

    `cloze`: Parquet files of `rows.Cloze`; `timelines`: of `rows.ReleasedSegment`. The best of
    several answers of the period before is taken; guesses that are in `still_true` are left out.
    """
    query = _GUESSED + _COMPARED.format(by=by)
    paths = {"cloze": [str(path) for path in cloze], "timelines": str(timelines)}
    with duck.connect() as db:
        guess_rows = db.execute(query, paths).fetchall()
    return [
        {by: value, "comparisons": row_count, **dict(zip(GUESSES, shares, strict=True))}
        for value, row_count, *shares in guess_rows
    ]


def answers(cloze: list[Path], timelines: Path) -> Iterator[tuple[str, tuple[str | None, ...]]]:
    """The id of each row and what the three guesses answer, in the order of ids; None: nothing.

    Of several answers of the period before it is the first that does not still hold.
    """
    paths = {"cloze": [str(path) for path in cloze], "timelines": str(timelines)}
    with duck.connect() as db:
        answer_rows = db.execute(_GUESSED + _EACH, paths)
        while rows := answer_rows.fetchmany(1 << 14):
            yield from ((name, tuple(guessed)) for name, *guessed in rows)


def statistics(cloze: Path, timelines: Path) -> Statistics:
    """The figures of the card."""
    table: list[dict[str, Scalar]] = [
        {"split": row["split"], "comparisons": row["comparisons"]}
        | {f"share {name}": row[name] for name in GUESSES}
        for row in guesses([cloze], timelines)
    ]
    caption = (
        "Exact match of models that know nothing of the period: the answers of the period before, "
        "the object that the subject had longest, the one that most subjects of its relation had."
    )
    return Statistics("guesses", "What knowing nothing scores", table, caption)
