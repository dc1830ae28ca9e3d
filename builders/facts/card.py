"""Figures and pictures for the cards of datasets that are made from Wikidata facts."""

import json
from collections.abc import Mapping
from pathlib import Path

from factdrift.builders.core import duck
from factdrift.builders.core.dataset import Plot, Statistics
from factdrift.builders.facts.steps import COUNTS


def mining(facts: Mapping[str, Path]) -> Statistics:
    """What was read and counted for each folder of facts: all that is passed over has a row."""
    counts = {
        row_count: json.loads((folder / COUNTS).read_text("utf-8"))
        for row_count, folder in facts.items()
    }
    keys = sorted(set().union(*counts.values()))
    return Statistics(
        name="mining",
        title="What was read",
        rows=[
            {"counted": key, **{name: found.get(key, 0) for name, found in counts.items()}}
            for key in keys
        ],
        caption="Lines, entities, statements and facts of each dump, and why statements are no "
        "facts. `undated` ones have no time qualifier, `deprecated` ones a rank that says so.",
    )


def facts_by_relation(facts: Path) -> Plot:
    """Facts by relation and by what is known of their dates."""
    query = """
        select relation_label, case
            when start_first is null then 'start unknown'
            when start_first = start_last then 'start to the day'
            else 'start to the month or less' end as kind, count(*)
        from read_parquet(?) group by 1, 2
        order by sum(count(*)) over (partition by relation_label) desc, 1, 2
    """
    data: dict[str, dict[str, int]] = {}
    for label, kind, fact_count in duck.query(query, [str(facts)]):
        data.setdefault(label, {})[kind] = fact_count
    return Plot(
        name="relations",
        kind="bars",
        title="Facts by relation",
        caption="How many facts each relation has, and how precisely their start is known.",
        data=data,
    )
