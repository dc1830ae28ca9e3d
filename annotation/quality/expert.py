"""Per-worker batches: an expert checks a sample of each, and all of it is accepted or rejected.

`judgments/experts.txt` holds the hashes of the experts' worker ids. `judgments/<layout>/check.csv`
has a line for each sampled judgment; an expert who does not judge the items in a batch of their own
writes accept or reject into its last column, and the next `factdrift judgments` takes it.
"""

import csv
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from factdrift.annotation.batch import Item, attention_kind
from factdrift.annotation.layout import Layout, Rejection
from factdrift.annotation.matching import DUPLICATE, hash_id
from factdrift.annotation.quality.agreement import compared_answers, judgments_agree
from factdrift.annotation.quality.rules import (
    ACCEPTED_BATCH,
    EXPERT,
    FAILED_ATTENTION,
    REJECTED_BATCH,
    failed_answers,
)
from factdrift.annotation.quality.sampling import ErrorBound, error_bound, sample_size
from factdrift.annotation.reading import csv_rows, require_entries
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import replacing
from factdrift.builders.core.hashing import seeded_hash
from factdrift.builders.rows import Judgment

EXPERTS, CHECKS = "experts.txt", "check.csv"
COLUMNS = ("judgment", "batch", "worker", "item", "shown", "answers", "found", "verdict")
_VERDICTS = {"accept": True, "reject": False}
_WORDS = {True: "accept", False: "reject", None: ""}
_SEED = 0


@dataclass(frozen=True)
class WorkerBatch:
    """A worker's judgments of a batch of HITs.

    `sampled`: those that the expert looks at, and of each whether it was found right; None: the
    expert has not judged it yet.
    """

    batch: str
    worker: str
    judgments: tuple[Judgment, ...]
    sampled: Mapping[Judgment, bool | None]

    @property
    def right(self) -> int:
        return sum(verdict is True for verdict in self.sampled.values())

    @property
    def wrong(self) -> int:
        return sum(verdict is False for verdict in self.sampled.values())

    @property
    def accepted(self) -> bool | None:
        """Whether all that was sampled was found right: one that is wrong rejects the whole; None:
        not known yet."""
        return False if self.wrong else self.right == len(self.sampled) or None


def worker_batches(
    layout: Layout, judgments: Collection[Judgment], verdicts: Mapping[str, bool] | None = None
) -> list[WorkerBatch]:
    """The batches of all workers but experts, by batch and worker.

    `checks_wanted` says how many of each are sampled, by a hash of batch, worker and item; those
    that an expert was sent in another batch, or that `verdicts` name, stay in the sample when a
    batch grows. `verdicts`, by the id of a judgment, are what an expert wrote into the table of
    checks; without one, a sampled judgment is right if it agrees with one of an expert for the
    same item, in `rule.of` or in all compared answers. Where a layout compares none, only the
    table tells.
    """
    by_item: dict[str, list[Judgment]] = {}
    by_worker: dict[tuple[str, str], list[Judgment]] = {}
    for one in sorted(judgments, key=lambda one: one.id):
        if one.row and one.counted and EXPERT in one.flags:
            by_item.setdefault(one.item, []).append(one)
        elif one.row and (one.counted or REJECTED_BATCH in one.flags):
            by_worker.setdefault((one.batch, one.worker), []).append(one)
    verdicts = verdicts or {}
    sizes = Counter[str]()
    for (batch, _), own in by_worker.items():
        sizes[batch] += len(own)
    found = []
    for (batch, worker), own in sorted(by_worker.items()):
        order = sorted(own, key=lambda one: (seeded_hash(_SEED, batch, worker, one.item), one.id))
        wanted = checks_wanted(layout, own, sizes[batch])
        sampled: dict[Judgment, bool | None] = {}
        for n, one in enumerate(order):
            by_experts = by_item.get(one.item, ())
            verdict = verdicts.get(one.id)
            if verdict is None and by_experts and compared_answers(layout):
                verdict = any(judgments_agree(layout, one, expert) for expert in by_experts)
            elsewhere = any(other.batch != batch for other in by_experts)
            if n < wanted or one.id in verdicts or (verdict is not None and elsewhere):
                sampled[one] = verdict
        found.append(WorkerBatch(batch, worker, tuple(own), sampled))
    return found


def checks_wanted(layout: Layout, own: Sequence[Judgment], judgments: int) -> int:
    """How many of a worker's judgments of a batch are checked, of `judgments` of all workers.

    `rule.sampled` of them. With `rule.max_error` the share of the worker in a sample of the whole
    batch that could hardly miss so many wrong ones, however few or many workers there are: at
    least one, and at least `rule.sampled` of who did more than one HIT.
    """
    rule = layout.rule
    if rule.max_error is None:
        return rule.sampled
    share = ceil(sample_size(judgments, rule.max_error) * len(own) / judgments)
    fewest = rule.sampled if len({one.hit for one in own}) > 1 else 1
    return max(share, fewest)


def checked_share(found: Iterable[WorkerBatch]) -> ErrorBound:
    """How many of the judgments are wrong at most, by what was found in the samples."""
    return error_bound((len(one.judgments), one.right + one.wrong, one.wrong) for one in found)


def waiting_judgments(found: Sequence[WorkerBatch]) -> Iterator[Judgment]:
    """The sampled judgments that an expert has still to look at."""
    for batch in found:
        if batch.accepted is None:
            yield from (one for one, verdict in batch.sampled.items() if verdict is None)


def rejection_reason(
    layout: Layout,
    submission: Sequence[Judgment],
    items: Mapping[str, Item],
    checked: Sequence[WorkerBatch],
    rejection: Rejection,
) -> str | None:
    """Why the submission is rejected; empty: approved; None: an expert has not checked it yet.

    Two things reject, as `rejection` has it: items with a known answer that were failed, and an
    expert's check of the worker's batch. Work that is fast, monotonous or done twice is flagged for
    people to look at, and approved.
    """
    if any(FAILED_ATTENTION in one.flags for one in submission):
        failed = [
            found
            for one in submission
            if (found := failed_answers(layout, one, items))
            and attention_kind(layout, items[one.item]) in rejection.checks
        ]
        if len(failed) < rejection.failures_to_reject(layout.pay):
            return ""
        names = {name for found in failed for name in found}
        asked = [one.label for name, one in layout.answers.items() if name in names]
        one = len(failed) == 1
        known = "an item whose answer is" if one else f"{len(failed)} items whose answers are"
        return (
            f"This HIT holds {known} known and {'follows' if one else 'follow'} from the "
            f"instructions. {'It was' if one else 'They were'} answered otherwise: "
            f"{'; '.join(asked)}"
        )
    again = any(DUPLICATE in one.flags for one in submission)
    if not rejection.experts or layout.rule.by != "sampled" or again:
        return ""
    ids = {one.id for one in submission}
    batch = next((b for b in checked if ids & {one.id for one in b.judgments}), None)
    if batch is None or batch.accepted:
        return ""
    if batch.accepted is None:
        passed = all(ACCEPTED_BATCH in one.flags for one in submission if one.row)
        return "" if passed else None
    return (
        f"An expert checked {batch.right + batch.wrong} of your {len(batch.judgments)} items of "
        f"this batch, drawn at random, and found {batch.wrong} not to follow the instructions. "
        "All of your work on a batch is accepted or rejected together"
    )


def read_experts(out: Path) -> frozenset[str]:
    """The hashes of the worker ids that earlier runs were given as experts'."""
    path = out / EXPERTS
    return frozenset(path.read_text("utf-8").split()) if path.is_file() else frozenset()


def add_experts(out: Path, given: Path, salt: bytes, platforms: Iterable[str]) -> None:
    """Take the worker ids of a file, one a line, as experts' on every platform.

    The hashes alone are kept. `UserError`: the file cannot be read, or has no id.
    """
    try:
        lines = given.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeError) as error:
        raise UserError(f"cannot be read: {error}", where=display_path(given)) from None
    names = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if not names:
        hint = "one platform's worker id a line"
        raise UserError("no worker ids", where=display_path(given), hint=hint)
    new = {hash_id(salt, "worker", by, name) for by in platforms for name in names}
    with replacing(out / EXPERTS) as path:
        text = "".join(f"{one}\n" for one in sorted(read_experts(out) | new))
        path.write_text(text, "utf-8", newline="\n")


def read_expert_verdicts(folder: Path) -> dict[str, bool]:
    """What an expert wrote into the table of checks, by the id of the judgment."""
    path = folder / CHECKS
    found: dict[str, bool] = {}
    for row in require_entries(csv_rows(path)) if path.is_file() else ():
        word = row.value.get("verdict", "").strip().lower()
        if missing := [name for name in ("judgment", "verdict") if name not in row.value]:
            raise UserError(f"no column {missing[0]!r}", where=display_path(path), line=1)
        if word and word not in _VERDICTS:
            hint = "write accept, reject or nothing"
            raise UserError(
                f"verdict {word[:40]!r}", where=display_path(path), line=row.line, hint=hint
            )
        if word:
            found[row.value["judgment"].strip()] = _VERDICTS[word]
    return found


def write_checks(
    folder: Path,
    found: Sequence[WorkerBatch],
    items: Mapping[str, Item],
    verdicts: Mapping[str, bool],
) -> None:
    """Write the table of checks anew: `verdict` as it was written, `found` what the checks say.

    What people wrote is in cells that begin with a brace, which no spreadsheet runs.
    """
    rows = [
        {
            "judgment": one.id,
            "batch": batch.batch,
            "worker": batch.worker,
            "item": one.item,
            "shown": json.dumps(items[one.item].fields, sort_keys=True, ensure_ascii=False),
            "answers": one.answers,
            "found": _WORDS[verdict],
            "verdict": _WORDS[verdicts.get(one.id)],
        }
        for batch in found
        for one, verdict in batch.sampled.items()
    ]
    with (
        replacing(folder / CHECKS) as path,
        path.open("w", encoding="utf-8", newline="") as file,
    ):
        write = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        write.writeheader()
        write.writerows(rows)
