"""Figures and pictures for the cards of datasets that are made from Wikidata facts."""

import json
from collections.abc import Mapping
from pathlib import Path

from factdrift.builders.core import duck
from factdrift.builders.core.dataset import Plot, Statistics
from factdrift.builders.facts.steps import COUNTS


def mining(facts: Mapping[str, Path]) -> Statistics:
    """Return a table of the counts of each folder of facts, with a row for all that is left out."""
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
        "facts. `undated` ones have no time qualifier, `deprecated` ones a rank that says so.",
    )


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
