"""Figures and pictures for the card of a cloze dataset."""

from pathlib import Path

from factdrift.builders.core import duck
from factdrift.builders.core.dataset import Plot, Statistics
from factdrift.builders.text import views

PAPER = (
    "The paper's test sets of 2019-Q2 to 2022-Q2 have 8.4k to 9.0k examples a quarter, of which "
    "90 to 98 % are unchanged and 0.7 to 3.3 % updated."
)
LOST = "Of the paper's rows about 94.6 % are lost to `single_token_any`, which is its rule."


def statistics(cloze: Path, clipped: str) -> tuple[Statistics, ...]:
    """Comparisons a period and split, and what each tokenizer view loses.

    `clipped`: that the window ends sooner than was asked for, if it does.
    """
    return (_periods(cloze, clipped), views.view_statistics(cloze, LOST))


def plots(cloze: Path, periods: list[str]) -> tuple[Plot, ...]:
    """Rows a period in each split, and comparisons a relation."""
    sizes: dict[str, dict[str, int]] = {
        split: dict.fromkeys(periods, 0) for split in ("unchanged", "updated", "new", "deleted")
    }
    counted = "select split, period, count(*) from read_parquet(?) group by 1, 2"
    for split, period, row_count in duck.query(counted, [str(cloze)]):
        sizes[split][period] = row_count
    relations: dict[str, dict[str, int]] = {}
    by_relation = """
        select relation_label, split, count(*) from read_parquet(?)
        group by 1, 2 order by sum(count(*)) over (partition by relation_label) desc, 1, 2
    """
    for label, split, row_count in duck.query(by_relation, [str(cloze)]):
        relations.setdefault(label, dict.fromkeys(sizes, 0))[split] = row_count
    return (
        Plot("periods", "periods", "Rows in each period", "Rows a period, each split on its own "
             "scale.", sizes),
        Plot("relations", "bars", "Comparisons by relation", "Comparisons (one a subject and "
             "period, however many templates) by relation and split.", relations),
    )  # fmt: skip


def _periods(cloze: Path, clipped: str) -> Statistics:
    rows = duck.records(
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
        [cloze],
    )
    caption = "One a subject, relation and period. " + PAPER + (clipped and f" {clipped}")
    return Statistics("periods", "Comparisons a period", rows, caption)
