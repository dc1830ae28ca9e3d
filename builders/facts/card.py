"""Figures and pictures for the cards of datasets that are made from Wikidata facts."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from factdrift.builders.core import duck
from factdrift.builders.core.dataset import Plot, Scalar, Statistics
from factdrift.builders.core.run import Run
from factdrift.builders.facts import learned
from factdrift.builders.facts.steps import (
    COUNTS,
    UNCLASSED,
    UNSTATED,
    LearnedTimes,
    Timelines,
    read_learned,
)

_DAYS_A_YEAR = 365.2425


def mining(facts: Mapping[str, Path], say: Callable[[str], None] = lambda text: None) -> Statistics:
    """Return a table of the counts of each folder of facts, with a row for all that is left out.

    Relations of which a dump states nothing, and those whose classes it lacks, are named in its
    caption, and by `say`.
    """
    unstated_texts: list[str] = []
    for input_name, folder in facts.items():
        of_input = f" ({input_name})" if len(facts) > 1 else ""
        if relation_ids := (folder / UNSTATED).read_text("utf-8").split():
            names = ", ".join(relation_ids)
            unstated_texts.append(f"{names}: no statement in this dump{of_input}")
            say(f"  {unstated_texts[-1]}")
        for relation_id, classes in json.loads((folder / UNCLASSED).read_text("utf-8")).items():
            unstated_texts.append(
                f"{relation_id}: statements, but of no item of its classes: the dump{of_input} "
                f"lacks P31 or P279 that lead to {', '.join(classes)}"
            )
            say(f"  {unstated_texts[-1]}")
    counts = {
        input_name: json.loads((folder / COUNTS).read_text("utf-8"))
        for input_name, folder in facts.items()
    }
    count_names = sorted(set().union(*counts.values()))
    return Statistics(
        name="mining",
        title="What was read",
        rows=[
            {
                "counted": count_name,
                **{
                    input_name: folder_counts.get(count_name, 0)
                    for input_name, folder_counts in counts.items()
                },
            }
            for count_name in count_names
        ],
        caption="Lines, entities, statements and facts of each dump, and why statements are no "
        "facts. `undated` ones have no time qualifier, `deprecated` ones a rank that says so."
        + "".join(f" {text}." for text in unstated_texts),
    )


def learned_times(run: Run, timelines: Timelines) -> tuple[Statistics, ...]:
    """Return the table of learned times, by which another release can use them again.

    There is none where no relation learns a time.
    """
    if timelines.learned is None:
        return ()
    return (_learned_table(run, timelines.learned),)


def _learned_table(run: Run, step: LearnedTimes) -> Statistics:
    rows: list[dict[str, Scalar]] = []
    for time in read_learned(run.folder(step)):
        years = None if time.days is None else round(time.days / _DAYS_A_YEAR, 1)
        rows.append(
            {
                "relation": time.relation,
                "days": time.days,
                "years": years,
                "share": time.share,
                "closed": time.closed,
                "open": time.open,
            }
        )
    return Statistics(
        name=learned.FIGURES,
        title="How long an open statement is trusted",
        rows=rows,
        caption="The time after which this share of a relation's terms had ended, closed and open "
        "ones taken together (Kaplan-Meier). From then on an open statement of normal rank may "
        "hold and is never asked for. No time is learned from fewer than "
        f"{learned.LEAST_TERMS} closed terms.",
    )


def staleness(timelines: Path, dropped: Path) -> tuple[Statistics, ...]:
    """Return what staleness costs, by relation; none where no open statement is stale.

    `timelines` and `dropped` are the Parquet files of segments and of dropped comparisons.
    """
    query = """
        select relation, open, stale, coalesce(comparisons, 0) as "comparisons dropped"
        from (
            select relation, count(*) as open, count(stale_until) as stale
            from read_parquet(?) where end_open group by 1
        )
        left join (
            select relation, count(*) as comparisons from read_parquet(?)
            where reason = 'stale_statement' group by 1
        ) using (relation)
        where stale > 0 order by relation
    """
    rows = duck.records(query, [str(timelines), str(dropped)])
    caption = (
        "Open terms of each relation on the day of the dump, and those that nobody may have "
        "closed: they are possible answers, which scoring accepts and never asks for. Rows are "
        "dropped where no other object is certain."
    )
    return (Statistics("staleness", "Stale statements", rows, caption),) if rows else ()


def facts_by_relation(facts: Path) -> Plot:
    """Plot the number of facts by relation, and how precisely their start is known."""
    query = """
        select relation_label, case
            when start_first is null then 'start unknown'
            when start_first = start_last then 'start to the day'
            else 'start to the month or less' end as kind, count(*)
        from read_parquet(?) group by 1, 2
        order by sum(count(*)) over (partition by relation_label) desc, 1, 2
    """
    facts_of_kind: dict[str, dict[str, int]] = {}
    for relation_label, date_kind, fact_count in duck.query(query, [str(facts)]):
        facts_of_kind.setdefault(relation_label, {})[date_kind] = fact_count
    return Plot(
        name="relations",
        kind="bars",
        title="Facts by relation",
        caption="How many facts each relation has, and how precisely their start is known.",
        data=facts_of_kind,
    )
