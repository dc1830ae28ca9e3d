"""The interface of a platform: write a batch, read its results, approve or reject the work."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from pathlib import Path
from typing import Any

from factdrift.annotation.batch import HitBatch, Item
from factdrift.annotation.layout import Layout, Rejection
from factdrift.annotation.reading import csv_rows, is_table, json_documents
from factdrift.annotation.submission import Refused, Submission
from factdrift.builders.core.config import shown
from factdrift.builders.core.errors import UserError

_OPTIONS = {"split": "split-pages"}
"""Fields of `Delivery` whose option has another name."""


@dataclass(frozen=True)
class Verdict:
    """What a submission comes to: why it is rejected (empty: it is approved), and a bonus."""

    reason: str
    bonus: Decimal = Decimal(0)


Decide = Callable[[Submission], Verdict | None]
"""What a submission comes to; None: it is not known yet."""
Fits = Callable[[Sequence[Item]], bool]
"""Whether items fit into one HIT."""


@dataclass(frozen=True)
class Delivery:
    """Where answers go and how pages are dealt out, for the platforms that leave it open.

    `post`: an http(s) address that takes submissions as JSON; without it they are downloaded as a
    file. `code`: shown after submitting, for a recruiting site; `complete`: a link back to it.
    `split`: a page for each HIT instead of one page for all. `url`: where the pages will be.
    """

    post: str | None = None
    code: str | None = None
    complete: str | None = None
    split: bool = False
    url: str | None = None

    def check(self, platform: "Platform") -> None:
        """`UserError` where something is given that this platform would ignore."""
        given = [one.name for one in fields(self) if getattr(self, one.name)]
        ignored = [f"--{_OPTIONS.get(one, one)}" for one in given if one not in platform.heeds]
        if ignored:
            known = ", ".join(f"--{_OPTIONS.get(one, one)}" for one in platform.heeds)
            hint = f"it takes {known or 'none of these'}"
            raise UserError(f"{platform.name} cannot use {', '.join(ignored)}", hint=hint)


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
    def export(
        self, batch: HitBatch, layout: Layout, folder: Path, delivery: Delivery
    ) -> list[str]:
        """Write the platform's files into `folder`, which exists, and name them, relative to it.

        The batch comes without what a worker must not see: no item has `answers` or `row`, and
        attention items look like the others. `batch.folder` is where the batch will lie.
        The same batch gives the same bytes.
        """

    @abstractmethod
    def knows(self, path: Path) -> bool:
        """Whether a file looks like this platform's results; reads only its beginning."""

    def read(self, path: Path) -> Iterator[Submission | Refused]:
        """The submissions of a results file, streamed, in order; what is broken is `Refused`."""
        table, where = is_table(path), shown(path)
        parse = self.from_row if table else self.from_document
        for found in csv_rows(path) if table else json_documents(path):
            if isinstance(found, Refused):
                yield found
            else:
                yield from parse(found.value, where, found.line)

    @abstractmethod
    def from_document(self, value: Any, where: str, line: int) -> Iterator[Submission | Refused]:
        """The submissions in one JSON value of a results file."""

    def from_row(
        self, cells: dict[str, str], where: str, line: int
    ) -> Iterator[Submission | Refused]:
        """The submissions in one row of a table."""
        yield from self.from_document(cells, where, line)

    def feedback(self, path: Path, decide: Decide, folder: Path) -> list[str]:
        """Write into `folder` what the platform takes to approve or reject the work in `path`.

        Names the files written, relative to `folder`; none where the platform takes none. These
        files hold the platform's own worker ids: they go back to it and nowhere else.
        """
        return []

    def room(self, layout: Layout) -> Fits | None:
        """What tells whether items fit into one HIT of a layout; None: HITs of any size are taken.

        HITs are filled so that they fit, and an item that fits none is left out.
        """
        return None
