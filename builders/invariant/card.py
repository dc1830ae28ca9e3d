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
    """Pairs of each relation (`labels`: property id -> label) that were kept or left out."""
    kept, drops = str(chosen / "facts.parquet"), str(chosen / "dropped.parquet")
    query = "select relation, count(*) from read_parquet(?) group by 1"
    facts = dict(duck.query(query, [kept]))
    query = """
        select relation, reason, count(*) from read_parquet(?)
        where step = 'invariant' group by 1, 2
    """
    left = {(r, why): n for r, why, n in duck.query(query, [drops])}
    reasons = [why for why in invariant.REASONS if any(w == why for _, w in left)]
    return Statistics(
        "relations",
        "Facts by relation",
        [
            {"relation": r, "label": label, "kept": facts.get(r, 0)}
            | {why: left.get((r, why), 0) for why in reasons}
            for r, label in labels.items()
        ],
        "Pairs of subject and relation: those kept, and those left out by the first reason that "
        "holds. Each pair that is kept has a row for each template of its relation.",
    )


def plot(cloze: Path) -> Plot:
    """Facts of each relation."""
    query = """
        select relation_label, count(*) from read_parquet(?) where template like '%/1'
        group by 1 order by 2 desc, 1
    """
    found = duck.query(query, [str(cloze)])
    caption = "Facts of each relation; each has a row for each template."
    data = {label: {"facts": n} for label, n in found}
    return Plot("relations", "bars", "Facts by relation", caption, data, unit="facts")
