"""Figures and pictures for the card of a cloze dataset."""

from pathlib import Path
from typing import get_args

from factdrift.builders.core import duck
from factdrift.builders.core.dataset import Plot, Statistics
from factdrift.builders.rows import Split
from factdrift.builders.text import views

PAPER = (
    "The paper's test sets of 2019-Q2 to 2022-Q2 have 8.4k to 9.0k examples a quarter, of which "
    "90 to 98 % are unchanged and 0.7 to 3.3 % updated."
)
LOST = "Of the paper's rows about 94.6 % are lost to `single_token_any`, which is its rule."


def empty_splits(cloze_path: Path) -> str:
    """Return a note that some splits have no row in any period; empty if all have one."""
    rows = duck.query("select distinct split from read_parquet(?)", [str(cloze_path)])
    filled = {split for (split,) in rows}
    empty = [f"`{split}`" for split in get_args(Split) if split not in filled]
    if not empty:
        return ""
    return f"No comparison is {' or '.join(empty)}: dropped.parquet has those that were left out."


def statistics(cloze_path: Path, note: str) -> tuple[Statistics, ...]:
    """Return the counts of comparisons by period and split, and the rows that each view loses.

    `note` says that the window ends sooner than the recipe asks for, or that a split has no row; it
    is empty if there is nothing to say.
    """
    return (_periods(cloze_path, note), views.view_statistics(cloze_path, LOST))


def plots(cloze_path: Path, periods: list[str]) -> tuple[Plot, ...]:
    """Plot the rows of each period by split, and the comparisons of each relation."""
    split_sizes: dict[str, dict[str, int]] = {
        split: dict.fromkeys(periods, 0) for split in ("unchanged", "updated", "new", "deleted")
    }
    count_query = "select split, period, count(*) from read_parquet(?) group by 1, 2"
    for split, period, row_count in duck.query(count_query, [str(cloze_path)]):
        split_sizes[split][period] = row_count
    relation_sizes: dict[str, dict[str, int]] = {}
    relation_query = """
        select relation_label, split, count(*) from read_parquet(?)
        group by 1, 2 order by sum(count(*)) over (partition by relation_label) desc, 1, 2
    """
    for relation_label, split, row_count in duck.query(relation_query, [str(cloze_path)]):
        relation_sizes.setdefault(relation_label, dict.fromkeys(split_sizes, 0))[split] = row_count
    return (
        Plot("periods", "periods", "Rows in each period", "Rows a period, each split on its own "
             "scale.", split_sizes),
        Plot("relations", "bars", "Comparisons by relation", "Comparisons (one a subject and "
             "period, however many templates) by relation and split.", relation_sizes),
    )  # fmt: skip


def _periods(cloze_path: Path, note: str) -> Statistics:
    period_rows = duck.records(
        """
        select *, unchanged / comparisons as "share unchanged",
            updated / comparisons as "share updated"
        from (
            select period, count(*) as comparisons,
                count(*) filter (split = 'unchanged') as unchanged,
                count(*) filter (split = 'updated') as updated,
                count(*) filter (split = 'new') as new,
                count(*) filter (split = 'deleted') as deleted
            from read_parquet(?) group by 1
        ) order by 1
        """,
        [cloze_path],
    )
    caption = "One a subject, relation and period. " + PAPER + (note and f" {note}")
    return Statistics("periods", "Comparisons a period", period_rows, caption)
