"""The judgments of one layout: kept as a table, settled by quality control."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from sys import intern
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from annotation.batch import Item
from annotation.layout import Layout
from annotation.matching import DUPLICATE, PIECEWISE, Batches, Edition
from annotation.quality import settle
from annotation.quality.expert import Share, shares
from annotation.quality.feedback import reason
from annotation.quality.figures import gather
from annotation.quality.flags import ACCEPTED_BATCH
from annotation.quality.report import REPORT, read_refused, render
from annotation.quality.spot_checks import read_experts, read_verdicts, write_checks
from builders.config import shown
from builders.errors import UserError
from builders.folders import replacing
from builders.rows import Gold, Judgment
from builders.schema import arrow_schema, writing
from builders.store import row_id

JUDGMENTS, GOLD = "judgments.parquet", "gold.parquet"
Key = tuple[str, str, str, str]
_ALIKE = ("layout", "batch", "hit", "item", "row", "dataset", "worker", "platform", "assignment")
"""Columns whose texts stand in many rows: each is held once."""


class Shelf:
    """The judgments of one layout: those of earlier runs, and new ones as they come."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.shares: list[Share] = []
        self.gold: list[Gold] = []
        self._known: list[Edition] = []
        self.by_id = {one.id: one for one in _judgments(folder / JUDGMENTS)}
        self.first: dict[Key, tuple[str, tuple[str, ...]]] = {}
        sets: dict[tuple[Key, str], list[str]] = {}
        for one in self.by_id.values():
            if not _further(one):
                sets.setdefault((_key(one), one.assignment), []).append(_content(one))
        for (key, assignment), contents in sets.items():
            self.first[key] = assignment, tuple(sorted(contents))

    def add(self, found: list[Judgment]) -> str:
        """Take the judgments of one submission: `new`, `known`, `further` or `corrected`.

        Where items come one by one, the same assignment with other answers is a correction of
        the judgment that there is, and the same answers once more are known.
        """
        key = _key(found[0])
        content = found[0].assignment, tuple(sorted(map(_content, found)))
        first = self.first.setdefault(key, content)
        if found[0].platform in PIECEWISE and first != content:
            if first[1] == content[1]:
                return "known"
            if first[0] == content[0]:
                self.first[key] = content
                self.by_id.update((one.id, one) for one in found)
                return "corrected"
        if first == content:
            new = [one for one in found if one.id not in self.by_id]
        else:
            found = [
                replace(
                    one,
                    id=_further_id(one),
                    flags=(DUPLICATE,),
                    counted=False,
                )
                for one in found
            ]
            new = [one for one in found if one.id not in self.by_id]
        self.by_id.update((one.id, one) for one in new)
        return "known" if not new else "new" if first == content else "further"

    def settle(self, batches: Batches) -> list[Gold]:
        """Have quality control look at all of them, write both tables and return the gold rows.

        Each batch is judged by what could be answered in it (`Batches.editions`); of a row that
        was sent again with other choices, the newest decide.
        """
        found = [_bare(self.by_id[name]) for name in sorted(self.by_id)]
        gone = next((one.batch for one in found if not batches.knows(one.batch)), None)
        if gone:
            text = f"it has judgments of the batch {gone}, which is not in {shown(batches.root)}"
            raise UserError(text, where=shown(self.folder), hint="bring the batch's folder back")
        verdicts = read_verdicts(self.folder)
        experts = read_experts(self.folder.parent)
        accepted = {one.id for one in self.by_id.values() if ACCEPTED_BATCH in one.flags}
        judged: list[Judgment] = []
        by_row: dict[str, Gold] = {}
        self.shares = []
        items: dict[str, Item] = {}
        sampled = False
        for edition in self._editions(batches):
            here = [one for one in found if one.batch in edition.pay]
            seen, rows = settle(
                edition.layout,
                here,
                edition.items,
                experts=experts,
                verdicts=verdicts,
                accepted=accepted,
            )
            judged += seen
            by_row.update((row.row, row) for row in rows)
            items |= edition.items
            if edition.layout.rule.by == "sampled":
                sampled = True
                self.shares += shares(edition.layout, seen, verdicts)
        self.by_id = {one.id: one for one in judged}
        self.gold = [by_row[row] for row in sorted(by_row)]
        write(self.folder / JUDGMENTS, Judgment, sorted(judged, key=lambda one: one.id))
        write(self.folder / GOLD, Gold, self.gold)
        if sampled:
            write_checks(self.folder, self.shares, items, verdicts)
        return self.gold

    def drawn(self, layout: Layout) -> list[Share]:
        """Where an expert's checks stand, by the judgments as they were settled last."""
        return shares(layout, self.by_id.values(), read_verdicts(self.folder))

    def reason(self, found: list[Judgment], batches: Batches) -> str | None:
        """Why a submission is rejected, as `annotation.platforms.Decide` has it."""
        one = next(e for e in self._editions(batches) if found[0].batch in e.pay)
        return reason(one.layout, self.of(found), one.items, self.shares)

    def report(self, batches: Batches, refused: Path) -> Path:
        """Write `report.html` of what `settle` came to; `refused`: what the last import refused."""
        editions = self._editions(batches)
        data = gather(editions, self.folder.name, [*self.by_id.values()], self.gold)
        path = self.folder / REPORT
        with replacing(path) as temporary:
            page = render(data, self.shares, read_refused(refused))
            temporary.write_text(page, "utf-8", newline="\n")
        return path

    def _editions(self, batches: Batches) -> list[Edition]:
        self._known = self._known or batches.editions(self.folder.name)
        return self._known

    def of(self, found: list[Judgment]) -> list[Judgment]:
        """The judgments that a submission became, as quality control left them."""
        further = [self.by_id[i] for i in map(_further_id, found) if i in self.by_id]
        return further or [self.by_id[one.id] for one in found if one.id in self.by_id]


def write(path: Path, row: type, found: Iterable[Any]) -> None:
    """Rows as a Parquet file, replaced in one step."""
    with replacing(path) as temporary, writing(temporary, row) as into:
        for one in found:
            into.append(one)


def _judgments(path: Path) -> list[Judgment]:
    if not path.is_file():
        return []
    try:
        table = pq.read_table(path, schema=arrow_schema(Judgment))
    except (OSError, pa.ArrowException, ValueError) as error:
        text = f"not a table of judgments: {error}".splitlines()[0]
        raise UserError(text, where=shown(path)) from None
    return [
        Judgment(**{**row, **{k: intern(row[k]) for k in _ALIKE}, "flags": tuple(row["flags"])})
        for part in table.to_batches(max_chunksize=1024)
        for row in part.to_pylist()
    ]


def _key(one: Judgment) -> Key:
    return one.batch, one.hit, one.worker, one.item if one.platform in PIECEWISE else ""


def _content(one: Judgment) -> str:
    return f"{one.item}\t{one.answers}"


def _further(one: Judgment) -> bool:
    """Whether it is of a worker's further submission for a HIT: its id says so."""
    return one.id != row_id(one.batch, one.hit, one.item, one.worker)


def _bare(one: Judgment) -> Judgment:
    """A judgment as it came in, without what quality control said of it last time."""
    further = _further(one)
    return replace(one, flags=(DUPLICATE,) if further else (), counted=not further)


def _further_id(one: Judgment) -> str:
    return row_id(one.id, one.assignment, _content(one))
