"""The interface of a platform: write a batch, read its results, approve or reject the work."""

import csv
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from factdrift.annotation.batch import HitBatch, Item
from factdrift.annotation.layout import Layout, Rejection
from factdrift.annotation.order import Delivery
from factdrift.annotation.reading import csv_rows, is_table, json_documents
from factdrift.annotation.submission import Refused, Submission
from factdrift.builders.core.config import display_path


@dataclass(frozen=True)
class Verdict:
    """What a submission comes to: why it is rejected (empty: it is approved), and a bonus."""

    reason: str
    bonus: Decimal = Decimal(0)


Decide = Callable[[Submission], Verdict | None]
"""What a submission comes to; None: it is not known yet."""
FitsHit = Callable[[Sequence[Item]], bool]
"""Whether items fit into one HIT."""
FindItem = Callable[[str, str, str], tuple[Layout, Item] | None]
"""The layout and the item of the ids of batch, HIT and item; None: there is no such item."""


def write_csv(path: Path, rows: Iterable[Sequence[object]], **how: Any) -> str:
    """Write a CSV file; returns its name."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, **{"lineterminator": "\n", **how}).writerows(rows)
    return path.name


class Platform(ABC):
    """One platform. `heeds`: the fields of `Delivery` that its files depend on.

    `piecewise`: it hands out single items of a HIT, so that a submission has one of them.
    """

    name: str
    heeds: tuple[str, ...] = ()
    piecewise = False
    rejection = Rejection()
    """What rejects work there, where a layout says nothing of it."""

    @abstractmethod
    def export(self, batch: HitBatch, layout: Layout, folder: Path, delivery: Delivery) -> None:
        """Write the platform's files into `folder`, which exists.

        They have nothing that a worker must not see, `answers` and `row` of an item, and attention
        items look like the others. The same batch gives the same bytes.
        """

    @abstractmethod
    def knows(self, path: Path) -> bool:
        """Whether a file looks like this platform's results; reads only its beginning."""

    def read(
        self, path: Path, find: FindItem = lambda *ids: None
    ) -> Iterator[Submission | Refused]:
        """The submissions of a results file, streamed, in order; what is broken is `Refused`."""
        table, where = is_table(path), display_path(path)
        for found in csv_rows(path) if table else json_documents(path):
            if isinstance(found, Refused):
                yield found
            else:
                yield self.submission(found.value, where, found.line, table=table)

    def submission(self, value: Any, where: str, line: int, *, table: bool) -> Submission | Refused:
        """The submission in the cells of a row of a table, or in one JSON value."""
        raise NotImplementedError

    def feedback(self, path: Path, decide: Decide, folder: Path) -> list[str]:
        """Write into `folder` what the platform takes to approve or reject the work in `path`.

        Names the files written, relative to `folder`; none where the platform takes none. These
        files hold the platform's own worker ids: they go back to it and nowhere else.
        """
        return []

    def room(self, layout: Layout) -> FitsHit:
        """What tells whether items fit into one HIT of a layout.

        HITs are filled so that they fit, and an item that fits none is left out.
        """
        return lambda items: True
