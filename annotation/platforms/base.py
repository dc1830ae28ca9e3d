"""The interface of a platform: write a batch, read its results, approve or reject the work."""

import csv
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from factdrift.annotation.batch import HitBatch, Item
from factdrift.annotation.layout import Layout, Rejection
from factdrift.annotation.order import Delivery
from factdrift.annotation.reading import csv_rows, is_table, json_documents
from factdrift.annotation.submission import Refused, Submission
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError


class Recognition(IntEnum):
    """The certainty with which a platform recognises a file as its results."""

    NO = 0
    """The file is of another form."""
    POSSIBLE = 1
    """The form is one that several platforms share: submissions of our own pages."""
    SURE = 2
    """Only this platform writes such files."""


@dataclass(frozen=True)
class Verdict:
    """The decision on a submission: why it is rejected (empty: it is approved), and a bonus.

    `counted` says whether its answers are used, which is another question than its pay.
    `assignment` is the platform's id of it, also where only a list of participants told it.
    """

    reason: str
    bonus: Decimal = Decimal(0)
    counted: bool = True
    assignment: str = ""


# Returns the verdict on a submission, or None while it is not known yet.
Decide = Callable[[Submission], Verdict | None]
# Whether items fit into one HIT.
FitsHit = Callable[[Sequence[Item]], bool]
# The layout and the item for the ids of batch, HIT and item; None where no such item exists.
FindItem = Callable[[str, str, str], tuple[Layout, Item] | None]
# Why a submission is set aside by the platform's list of participants; empty where it is not.
WhyExcluded = Callable[[Submission], str]
# Reads the submissions of an import once more, from the first on.
ReadAgain = Callable[[], Iterator[Submission]]

# Why work is no judgment, by the platform's status of it, in lower case with spaces.
SET_ASIDE_BY_STATUS: Mapping[str, str] = {
    "rejected": "rejected on the platform",
    "returned": "returned by the participant",
    "timed out": "timed out on the platform",
    "screened out": "screened out by the platform",
}
"""Prolific documents REJECTED, RETURNED, TIMED-OUT and SCREENED OUT; MTurk writes Rejected."""


def status_reason(status_word: str) -> str:
    """Why work of this status is set aside; empty where it is not: `TIMED-OUT`, not `APPROVED`."""
    return SET_ASIDE_BY_STATUS.get(re.sub("[ _-]+", " ", status_word.strip().lower()), "")


class Exclusion(NamedTuple):
    """Why a submission is set aside; `takes_out`: also what an earlier run took of it."""

    reason: str
    takes_out: bool = True


@dataclass(frozen=True)
class ParticipantCheck:
    """What a platform's list of participants says of submissions.

    `exclusion`: why one is set aside, or None. `status`: the platform's word on it, empty where it
    is not in the list. `completed`: the submission with ids that the list adds.
    """

    exclusion: Callable[[Submission], Exclusion | None]
    status: Callable[[Submission], str] = lambda submission: ""
    completed: Callable[[Submission], Submission] = lambda submission: submission


def write_csv(
    table_path: Path, table_rows: Iterable[Sequence[object]], **writer_options: Any
) -> str:
    """Write a CSV file and return its name. `writer_options` go to `csv.writer`."""
    with table_path.open("w", encoding="utf-8", newline="") as table_file:
        csv.writer(table_file, **{"lineterminator": "\n", **writer_options}).writerows(table_rows)
    return table_path.name


class Platform(ABC):
    """A platform on which people work. A subclass needs a name, `export` and `recognises`.

    It also needs `submission`, or `read` where one entry of a file holds several submissions.
    Everything else has a default that suits a platform without that feature.
    """

    name: ClassVar[str]
    """The name on the command line, in batches and in judgments."""
    delivery_fields: ClassVar[tuple[str, ...]] = ()
    """The fields of `Delivery` that the exported files depend on; others are refused."""
    piecewise: ClassVar[bool] = False
    """Whether single items of a HIT are handed out, so that a submission holds one of them."""
    serves_pages: ClassVar[bool] = False
    """Whether workers use our pages, which `factdrift receive` serves."""
    signs_visits: ClassVar[bool] = False
    """Whether the platform can sign the ids in a link, as Prolific's secured parameters do."""
    lists_participants: ClassVar[bool] = False
    """Whether the platform exports a list of participants, which `excluded_by` reads."""
    ids_ignore_case: ClassVar[bool] = False
    """Whether worker ids that differ in case alone are one person's: `ann` and `Ann`."""
    service_fees: ClassVar[Mapping[str, Decimal]] = {}
    """The shares of all pay that the platform charges on top, by whom it charges them."""
    rejection: ClassVar[Rejection] = Rejection()
    """The rule for rejecting work there, where a layout gives none."""

    @abstractmethod
    def export(self, batch: HitBatch, layout: Layout, folder: Path, delivery: Delivery) -> None:
        """Write the platform's files into `folder`, which exists.

        They contain nothing that a worker must not see (an item's `answers` and `row`), and
        attention items look like the others. The same batch gives the same bytes.
        """

    @abstractmethod
    def recognises(self, results_path: Path) -> Recognition:
        """Return how surely a file holds results of this platform, by the beginning of the file."""

    def read(
        self, results_path: Path, find_item: FindItem = lambda *item_ids: None
    ) -> Iterator[Submission | Refused]:
        """Yield the submissions of a results file in order, and `Refused` for a broken entry.

        The file is streamed. `find_item` returns the layout and the item of a submission.
        """
        is_table_file, where = is_table(results_path), display_path(results_path)
        for entry in csv_rows(results_path) if is_table_file else json_documents(results_path):
            if isinstance(entry, Refused):
                yield entry
            else:
                yield self.submission(entry.value, where, entry.line, table=is_table_file)

    def submission(self, value: Any, where: str, line: int, *, table: bool) -> Submission | Refused:
        """The submission in one JSON value, or in one row of a table (its cells by column)."""
        raise NotImplementedError

    def feedback(self, results_path: Path, decide: Decide, folder: Path) -> list[str]:
        """Write the files that approve or reject the work of the results in `results_path`.

        Returns their names relative to `folder`; an empty list where the platform takes no such
        files. They hold the platform's own worker ids, so they go back to it and nowhere else.
        """
        return []

    def hit_limit(self, layout: Layout) -> FitsHit:
        """A function that tells whether items fit into one HIT of a layout.

        HITs are filled so that they fit, and an item that fits into no HIT is left out.
        """
        return lambda items: True

    def completion_link(self, code: str) -> str | None:
        """The address that takes a worker back to the platform with a completion code, if any."""
        return None

    def page_host(self, folder: Path) -> str:
        """The host of the pages on the web, by the files that `export` wrote; empty if none."""
        return ""

    def person_id(self, worker_id: str) -> str:
        """The id of a worker in the one spelling that all spellings of it share."""
        worker_id = worker_id.strip()
        return worker_id.casefold() if self.ids_ignore_case else worker_id

    def check_participants(self, participants: Path, read_again: ReadAgain) -> ParticipantCheck:
        """Read the platform's list of participants, and return what it says of submissions.

        By default it says what `excluded_by` does. `read_again` reads the submissions of this
        import, which may tell of what studies the list is.
        """
        why_excluded = self.excluded_by(participants)

        def exclusion(submission: Submission) -> Exclusion | None:
            exclusion_reason = why_excluded(submission)
            return Exclusion(exclusion_reason) if exclusion_reason else None

        return ParticipantCheck(exclusion)

    def excluded_by(self, participants: Path) -> WhyExcluded:
        """Read the platform's list of participants; return a function that checks submissions.

        `UserError`: the file is not such a list, or the platform has none.
        """
        raise UserError(f"{self.name} has no list of participants")
