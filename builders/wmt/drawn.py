"""Draws, and numbers that gave none, as Parquet sorted by id: numbers until a piece is written."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from builders.rows import Draw, Dropped, Part, Subset
from builders.store import row_id
from builders.wmt.pool import Columns, Numbers, joined, take_digests
from builders.wmt.tables import column, in_hex, keys, texts, words, write_by_id

_LOST = b"article YYYY-MM-DD, question YYYY-MM-DD"


class Group(NamedTuple):
    """Draws of one part and subset; `reason`: why they are none."""

    part: Part
    subset: Subset
    columns: Columns
    reason: str = ""


def write_draws(path: Path, dataset: str, groups: Sequence[Group], articles: Path) -> None:
    """Write `rows.Draw`, by id. Memory: 85 bytes a draw."""
    ids, group, whole = _whole(dataset, groups)
    digests = take_digests(articles, whole.row)
    parts, subsets = words([g.part for g in groups]), words([g.subset for g in groups])

    def columns(places: Numbers) -> Mapping[str, pa.Array]:
        which = column(group[places], pa.int8())
        article, question = whole.article_day[places], whole.question_day[places]
        return {
            "id": texts(in_hex(ids[places])),
            "article": texts(keys(article, in_hex(digests[places]))),
            "part": parts.take(which),
            "subset": subsets.take(which),
            "article_day": column(article, pa.date32()),
            "question_day": column(question, pa.date32()),
            "quarter": _quarters(question),
        }

    write_by_id(path, Draw, ids, columns)


def write_dropped(path: Path, dataset: str, groups: Sequence[Group]) -> None:
    """Write `rows.Dropped` of step `draw`, by item. Memory: 49 bytes a row."""
    ids, group, whole = _whole(dataset, groups)
    steps, reasons = words(["draw"] * len(groups)), words([g.reason for g in groups])

    def columns(places: Numbers) -> Mapping[str, pa.Array]:
        which = column(group[places], pa.int8())
        details = np.tile(np.frombuffer(_LOST, np.uint8), (len(places), 1))
        details[:, 8:18] = _dates(whole.article_day[places])
        details[:, 29:] = _dates(whole.question_day[places])
        return {
            "step": steps.take(which),
            "reason": reasons.take(which),
            "item": texts(in_hex(ids[places])),
            "detail": texts(details),
        }

    write_by_id(path, Dropped, ids, columns)


def _whole(dataset: str, groups: Sequence[Group]) -> tuple[Numbers, Numbers, Columns]:
    """The ids of all groups, the place of each one's group, and what they are."""
    sizes = [len(g.columns.number) for g in groups]
    named = (
        row_id(dataset, g.part, g.subset, n) for g in groups for n in map(int, g.columns.number)
    )
    ids = np.fromiter((int(i, 16) for i in named), np.uint64, sum(sizes))
    group = np.repeat(np.arange(len(groups), dtype=np.int8), sizes)
    return ids, group, joined([g.columns for g in groups])


def _dates(days: Numbers) -> Numbers:
    """`2020-05-09` of each day, as characters."""
    return days.astype("datetime64[D]").astype("S10").view(np.uint8).reshape(-1, 10)


def _quarters(days: Numbers) -> pa.Array:
    """`2020Q2` of each day."""
    quarters = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) // 3
    known, places = np.unique(quarters, return_inverse=True)
    names = [f"{1970 + q // 4:04}Q{q % 4 + 1}" for q in known.tolist()]
    return words(names).take(column(places.astype(np.int32), pa.int32()))
