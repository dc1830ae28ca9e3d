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
    """A worker's judgments of one batch of HITs.

    `sampled` holds the judgments that the expert looks at, and whether each was found right; None
    where the expert has not looked at it yet.
    """

    batch: str
    worker: str
    judgments: tuple[Judgment, ...]
    sampled: Mapping[Judgment, bool | None]

    @property
    def right(self) -> int:
        """The number of sampled judgments that were found right."""
        return sum(verdict is True for verdict in self.sampled.values())

    @property
    def wrong(self) -> int:
        """The number of sampled judgments that were found wrong."""
        return sum(verdict is False for verdict in self.sampled.values())

    @property
    def accepted(self) -> bool | None:
        """Whether the batch is accepted; None while sampled judgments remain to be checked.

        One wrong judgment rejects the batch; it is accepted if all sampled ones are right.
        """
        if self.wrong:
            return False
        return True if self.right == len(self.sampled) else None


def worker_batches(
    layout: Layout, judgments: Collection[Judgment], verdicts: Mapping[str, bool] | None = None
) -> list[WorkerBatch]:
    """The batches of all workers except experts, sorted by batch and worker.

    `checks_wanted` says how many judgments of each are sampled; a hash of batch, worker and item
    draws them. Judgments that an expert was sent in another batch, or that `verdicts` name, stay
    in the sample when a batch grows. `verdicts` are what an expert wrote into the table of checks,
    by the judgment's id. Without a verdict, a sampled judgment is right if it agrees with an
    expert's judgment of the same item, in `rule.of` or in all compared answers. Where a layout
    compares no answers, only the table decides.
    """
    expert_by_item: dict[str, list[Judgment]] = {}
    by_worker: dict[tuple[str, str], list[Judgment]] = {}
    for judgment in sorted(judgments, key=lambda judgment: judgment.id):
        if judgment.row and judgment.counted and EXPERT in judgment.flags:
            expert_by_item.setdefault(judgment.item, []).append(judgment)
        elif judgment.row and (judgment.counted or REJECTED_BATCH in judgment.flags):
            by_worker.setdefault((judgment.batch, judgment.worker), []).append(judgment)
    batch_sizes = Counter[str]()
    for (batch, _), worker_judgments in by_worker.items():
        batch_sizes[batch] += len(worker_judgments)
    batches = []
    for (batch, worker_id), worker_judgments in sorted(by_worker.items()):
        wanted_count = checks_wanted(layout, worker_judgments, batch_sizes[batch])
        sampled_verdicts = _sample(
            layout, worker_judgments, wanted_count, expert_by_item, verdicts or {}
        )
        batches.append(WorkerBatch(batch, worker_id, tuple(worker_judgments), sampled_verdicts))
    return batches


def _sample(
    layout: Layout,
    worker_judgments: Sequence[Judgment],
    wanted_count: int,
    expert_by_item: Mapping[str, Sequence[Judgment]],
    verdicts: Mapping[str, bool],
) -> dict[Judgment, bool | None]:
    """Return the judgments of a worker's batch that an expert checks, each with its verdict.

    They are the first ones in a seeded order. Judgments that an expert judged already stay in the
    sample although a batch that has grown puts others before them.
    """
    sampled_verdicts: dict[Judgment, bool | None] = {}
    for sample_place, judgment in enumerate(sorted(worker_judgments, key=_sampling_order)):
        by_experts = expert_by_item.get(judgment.item, ())
        verdict = verdicts.get(judgment.id)
        if verdict is None and by_experts and compared_answers(layout):
            verdict = any(
                judgments_agree(layout, judgment, expert_judgment) for expert_judgment in by_experts
            )
        was_sent = any(expert_judgment.batch != judgment.batch for expert_judgment in by_experts)
        is_kept = judgment.id in verdicts or (verdict is not None and was_sent)
        if sample_place < wanted_count or is_kept:
            sampled_verdicts[judgment] = verdict
    return sampled_verdicts


def _sampling_order(judgment: Judgment) -> tuple[int, str]:
    sampling_hash = seeded_hash(_SEED, judgment.batch, judgment.worker, judgment.item)
    return sampling_hash, judgment.id


def checks_wanted(layout: Layout, worker_judgments: Sequence[Judgment], batch_size: int) -> int:
    """Return the number of a worker's judgments of a batch that an expert checks.

    It is `rule.sampled` if the rule has no `max_error`. Otherwise it is the worker's share of a
    sample of the whole batch (`batch_size` judgments of all workers), which would hardly miss a
    share of `max_error` wrong judgments (see `sample_size`). It is at least one, and at least
    `rule.sampled` for a worker who did more than one HIT.
    """
    rule = layout.rule
    if rule.max_error is None:
        return rule.sampled
    worker_share = ceil(
        sample_size(batch_size, rule.max_error) * len(worker_judgments) / batch_size
    )
    worker_hits = {judgment.hit for judgment in worker_judgments}
    fewest_checks = rule.sampled if len(worker_hits) > 1 else 1
    return max(worker_share, fewest_checks)


def checked_share(batches: Iterable[WorkerBatch]) -> ErrorBound:
    """The share of judgments that are wrong, at most, by what the samples showed."""
    return error_bound(
        (len(batch.judgments), batch.right + batch.wrong, batch.wrong) for batch in batches
    )


def waiting_judgments(batches: Sequence[WorkerBatch]) -> Iterator[Judgment]:
    """Yield the sampled judgments that an expert has still to look at."""
    for batch in batches:
        if batch.accepted is None:
            for judgment, verdict in batch.sampled.items():
                if verdict is None:
                    yield judgment


def rejection_reason(
    layout: Layout,
    submission: Sequence[Judgment],
    items: Mapping[str, Item],
    checked: Sequence[WorkerBatch],
    rule: Rejection,
) -> str | None:
    """Why a submission is rejected; empty if it is approved, None while an expert has to check it.

    Two things reject, by the rule `rejection`: failed items with a known answer, and an expert's
    check of the worker's batch. Work that is fast, monotonous or done twice is flagged for people
    to look at, and approved.
    """
    if any(FAILED_ATTENTION in judgment.flags for judgment in submission):
        return _failed_items_reason(layout, submission, items, rule)
    is_repeated = any(DUPLICATE in judgment.flags for judgment in submission)
    if not rule.experts or layout.rule.by != "sampled" or is_repeated:
        return ""
    submission_ids = {judgment.id for judgment in submission}
    for batch in checked:
        if submission_ids.intersection(judgment.id for judgment in batch.judgments):
            return _batch_reason(batch, submission)
    return ""


def _failed_items_reason(
    layout: Layout,
    submission: Sequence[Judgment],
    items: Mapping[str, Item],
    rule: Rejection,
) -> str:
    """The reason where enough items with known answers were failed; empty where they are fewer."""
    failed_count = 0
    failed_names: set[str] = set()
    for judgment in submission:
        wrong_answers = failed_answers(layout, judgment, items)
        if wrong_answers and attention_kind(layout, items[judgment.item]) in rule.checks:
            failed_count += 1
            failed_names.update(wrong_answers)
    if failed_count < rule.failures_to_reject(layout.pay):
        return ""
    failed_labels = [
        answer.label
        for answer_name, answer in layout.answers.items()
        if answer_name in failed_names
    ]
    if failed_count == 1:
        return (
            "This HIT holds an item whose answer is known and follows from the instructions. "
            f"It was answered otherwise: {'; '.join(failed_labels)}"
        )
    return (
        f"This HIT holds {failed_count} items whose answers are known and follow from the "
        f"instructions. They were answered otherwise: {'; '.join(failed_labels)}"
    )


def _batch_reason(batch: WorkerBatch, submission: Sequence[Judgment]) -> str | None:
    """Return why an expert's check rejects a submission.

    The reason is empty if the check accepts it, and None while the check is not complete.
    """
    if batch.accepted:
        return ""
    if batch.accepted is None:
        has_passed = all(
            ACCEPTED_BATCH in judgment.flags for judgment in submission if judgment.row
        )
        return "" if has_passed else None
    return (
        f"An expert checked {batch.right + batch.wrong} of your {len(batch.judgments)} items of "
        f"this batch, drawn at random, and found {batch.wrong} not to follow the instructions. "
        "All of your work on a batch is accepted or rejected together"
    )


def read_experts(judgments_folder: Path) -> frozenset[str]:
    """The hashes of the worker ids that earlier runs were given as experts'."""
    experts_path = judgments_folder / EXPERTS
    return (
        frozenset(experts_path.read_text("utf-8").split())
        if experts_path.is_file()
        else frozenset()
    )


def add_experts(
    judgments_folder: Path, id_file: Path, salt: bytes, platform_names: Iterable[str]
) -> None:
    """Take the worker ids of a file, one a line, as experts' ids on every platform.

    Only their hashes are kept. `UserError`: the file cannot be read, or has no id.
    """
    try:
        id_lines = id_file.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeError) as error:
        raise UserError(f"cannot be read: {error}", where=display_path(id_file)) from None
    worker_ids = [
        id_line.strip() for id_line in id_lines if id_line.strip() and not id_line.startswith("#")
    ]
    if not worker_ids:
        hint_text = "one platform's worker id a line"
        raise UserError("no worker ids", where=display_path(id_file), hint=hint_text)
    expert_hashes = set(read_experts(judgments_folder))
    for platform_name in platform_names:
        expert_hashes.update(
            hash_id(salt, "worker", platform_name, worker_id) for worker_id in worker_ids
        )
    with replacing(judgments_folder / EXPERTS) as experts_path:
        hash_lines = "".join(f"{expert_hash}\n" for expert_hash in sorted(expert_hashes))
        experts_path.write_text(hash_lines, "utf-8", newline="\n")


def read_expert_verdicts(layout_folder: Path) -> dict[str, bool]:
    """The verdicts that an expert wrote into the table of checks, by the id of the judgment.

    `UserError`, with the line: a column is missing, or a verdict is another word.
    """
    checks_path = layout_folder / CHECKS
    verdicts: dict[str, bool] = {}
    for check_row in require_entries(csv_rows(checks_path)) if checks_path.is_file() else ():
        verdict_word = check_row.value.get("verdict", "").strip().lower()
        if missing_columns := [
            column_name
            for column_name in ("judgment", "verdict")
            if column_name not in check_row.value
        ]:
            raise UserError(
                f"no column {missing_columns[0]!r}", where=display_path(checks_path), line=1
            )
        if verdict_word and verdict_word not in _VERDICTS:
            hint_text = "write accept, reject or nothing"
            text = f"verdict {verdict_word[:40]!r}"
            raise UserError(
                text, where=display_path(checks_path), line=check_row.line, hint=hint_text
            )
        if verdict_word:
            verdicts[check_row.value["judgment"].strip()] = _VERDICTS[verdict_word]
    return verdicts


def write_checks(
    layout_folder: Path,
    batches: Sequence[WorkerBatch],
    items: Mapping[str, Item],
    verdicts: Mapping[str, bool],
) -> None:
    """Write the table of checks: `verdict` as the expert wrote it, `found` as the checks say.

    What people wrote is in cells that begin with a brace, which no spreadsheet runs as a formula.
    """
    with (
        replacing(layout_folder / CHECKS) as checks_path,
        checks_path.open("w", encoding="utf-8", newline="") as checks_file,
    ):
        csv_writer = csv.DictWriter(checks_file, COLUMNS, lineterminator="\n")
        csv_writer.writeheader()
        for batch in batches:
            for judgment, verdict in batch.sampled.items():
                item_fields = items[judgment.item].fields
                check_row = {
                    "judgment": judgment.id,
                    "batch": batch.batch,
                    "worker": batch.worker,
                    "item": judgment.item,
                    "shown": json.dumps(item_fields, sort_keys=True, ensure_ascii=False),
                    "answers": judgment.answers,
                    "found": _WORDS[verdict],
                    "verdict": _WORDS[verdicts.get(judgment.id)],
                }
                csv_writer.writerow(check_row)
