"""Figures and pictures for the card of `invariant-lama`."""

from collections.abc import Mapping
from pathlib import Path

from factdrift.builders.core import duck
from factdrift.builders.core.dataset import Plot, Statistics
from factdrift.builders.invariant import invariant

LAMA = (
    "A row has one answer, so that both rules hold the same rows. LAMA's own rule is "
    "`single_token`: the label of the answer is one word of the vocabulary. The paper's answers "
    "have 1.3 tokens of T5's tokenizer on average."
)


def by_relation(chosen: Path, labels: Mapping[str, str]) -> Statistics:
    """Return a table of the pairs of each relation that were kept, and left out by reason.

    `labels` maps property ids to labels.
    """
    kept_path, dropped_path = str(chosen / "facts.parquet"), str(chosen / "dropped.parquet")
    query = "select relation, count(*) from read_parquet(?) group by 1"
    kept_counts = dict(duck.query(query, [kept_path]))
    query = """
        select relation, reason, count(*) from read_parquet(?)
        where step = 'invariant' group by 1, 2
    """
    dropped_counts = {
        (relation, reason): row_count
        for relation, reason, row_count in duck.query(query, [dropped_path])
    }
    used_reasons = {reason for _, reason in dropped_counts}
    reasons = [reason for reason in invariant.REASONS if reason in used_reasons]
    return Statistics(
        "relations",
        "Facts by relation",
        [
            {"relation": relation, "label": label, "kept": kept_counts.get(relation, 0)}
            | {reason: dropped_counts.get((relation, reason), 0) for reason in reasons}
            for relation, label in labels.items()
        ],
        "Pairs of subject and relation: those kept, and those left out by the first reason that "
        "holds. Each pair that is kept has a row for each template of its relation.",
    )


def plot(cloze: Path) -> Plot:
    """Return a bar chart of the number of facts of each relation."""
    query = """
        select relation_label, count(*) from read_parquet(?) where template like '%/1'
        group by 1 order by 2 desc, 1
    """
    counts = duck.query(query, [str(cloze)])
    caption = "Facts of each relation; each has a row for each template."
    data = {label: {"facts": fact_count} for label, fact_count in counts}
    return Plot("relations", "bars", "Facts by relation", caption, data, unit="facts")
