"""Per-worker batches: an expert checks a sample of each, and all of it is accepted or rejected.

`judgments/<layout>/check.csv` has a line for each sampled judgment; an expert who does not judge
the items in a batch of their own writes accept or reject into the column `verdict`, and the next
`factdrift judgments` takes it. Nothing is refused by the word of one expert: where more are called
wrong than the plan allows, another expert judges these items, or writes into the column `second`.
"""

import csv
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from factdrift.annotation.batch import Item, attention_kind
from factdrift.annotation.layout import Layout, Rejection, Rule
from factdrift.annotation.matching import DUPLICATE, hash_id
from factdrift.annotation.people import PersonEvent, today
from factdrift.annotation.quality.agreement import compared_answers, judgments_agree
from factdrift.annotation.quality.rules import (
    ACCEPTED_BATCH,
    EXPERT,
    FAILED_ATTENTION,
    FOUND_WRONG,
    REJECTED_BATCH,
    failed_answers,
)
from factdrift.annotation.quality.sampling import ErrorBound, acceptance_plan, error_bound
from factdrift.annotation.reading import csv_rows, require_entries
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import replacing
from factdrift.builders.core.hashing import seeded_hash
from factdrift.builders.rows import Judgment

CHECKS = "check.csv"
COLUMNS = ("judgment", "batch", "worker", "item", "shown", "answers", "found", "verdict", "second")
_VERDICTS = {"accept": True, "reject": False}
_WORDS = {True: "accept", False: "reject", None: ""}
_DOUBTED = "a second expert is to look"
Verdicts = Mapping[str, Sequence[bool]]
"""What experts wrote into the table of checks, one word after the other, by the judgment's id."""
_SEED = 0
_EXPERTS_TO_REFUSE = 2
"""Experts who have to call a judgment wrong before it counts against a worker."""
_SET_ASIDE_HERE = frozenset((REJECTED_BATCH, FOUND_WRONG))
"""The flags of judgments that experts' checks set aside, which stay in the worker's batch."""


@dataclass(frozen=True)
class WorkerBatch:
    """A worker's judgments of one batch of HITs.

    `sampled` holds the judgments that experts look at, and whether each was found right. One is
    wrong if two experts say so; None stands for one that nobody has looked at yet, and for one that
    a single expert calls wrong, whose id is in `doubted`. `errors` is the number of wrong ones that
    the plan allows.
    """

    batch: str
    worker: str
    judgments: tuple[Judgment, ...]
    sampled: Mapping[Judgment, bool | None]
    doubted: frozenset[str] = frozenset()
    errors: int = 0

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

        More wrong judgments than the plan allows reject it. It is accepted once all were looked at,
        if there are no more than that, also with those that a second expert has not seen.
        """
        if self.wrong > self.errors:
            return False
        called_wrong = self.wrong + len(self.doubted)
        is_all_seen = self.right + called_wrong == len(self.sampled)
        return True if is_all_seen and called_wrong <= self.errors else None

    def called_wrong(self) -> set[str]:
        """The ids of the sampled judgments that one expert or two call wrong."""
        wrong_ids = {judgment.id for judgment, verdict in self.sampled.items() if verdict is False}
        return wrong_ids | self.doubted


def worker_batches(
    layout: Layout,
    judgments: Collection[Judgment],
    verdicts: Verdicts | None = None,
    rules: Mapping[str, Rule] | None = None,
) -> list[WorkerBatch]:
    """The batches of all workers except experts, sorted by batch and worker.

    `acceptance_plan` says how many judgments of each are sampled, by the rule that `rules` have of
    the batch, or else by the layout's; a hash of batch, worker and item draws them. Judgments that
    an expert was sent in another batch, or that `verdicts` name, stay in the sample when a batch
    grows. An expert finds a sampled judgment right by accepting it in the table of checks, or by
    judging the same item alike, in `rule.of` or in all compared answers. It is right if any expert
    finds so, and wrong if two experts do not. Where a layout compares no answers, only the table
    decides.
    """
    expert_by_item: dict[str, list[Judgment]] = {}
    by_worker: dict[tuple[str, str], list[Judgment]] = {}
    for judgment in sorted(judgments, key=lambda judgment: judgment.id):
        if judgment.row and judgment.counted and EXPERT in judgment.flags:
            expert_by_item.setdefault(judgment.item, []).append(judgment)
        elif judgment.row and (judgment.counted or not _SET_ASIDE_HERE.isdisjoint(judgment.flags)):
            by_worker.setdefault((judgment.batch, judgment.worker), []).append(judgment)
    batch_sizes = Counter[str]()
    for (batch, _), worker_judgments in by_worker.items():
        batch_sizes[batch] += len(worker_judgments)
    batches = []
    for (batch, worker_id), worker_judgments in sorted(by_worker.items()):
        is_one_hit = len({judgment.hit for judgment in worker_judgments}) == 1
        batch_rule = (rules or {}).get(batch, layout.rule)
        plan = acceptance_plan(
            batch_rule, len(worker_judgments), batch_sizes[batch], is_one_hit=is_one_hit
        )
        opinions = _sample(layout, worker_judgments, plan.sample, expert_by_item, verdicts or {})
        sampled_verdicts, doubted_ids = _weighed(opinions)
        worker_part = tuple(worker_judgments)
        batches.append(
            WorkerBatch(batch, worker_id, worker_part, sampled_verdicts, doubted_ids, plan.errors)
        )
    return batches


def _weighed(
    opinions: Mapping[Judgment, Sequence[bool]],
) -> tuple[dict[Judgment, bool | None], frozenset[str]]:
    """The verdict on each judgment by what experts said, and the ids of those that are doubted."""
    sampled_verdicts: dict[Judgment, bool | None] = {}
    doubted_ids = set[str]()
    for judgment, judgment_opinions in opinions.items():
        sampled_verdicts[judgment] = None
        if any(judgment_opinions):
            sampled_verdicts[judgment] = True
        elif len(judgment_opinions) >= _EXPERTS_TO_REFUSE:
            sampled_verdicts[judgment] = False
        elif judgment_opinions:
            doubted_ids.add(judgment.id)
    return sampled_verdicts, frozenset(doubted_ids)


def _sample(
    layout: Layout,
    worker_judgments: Sequence[Judgment],
    wanted_count: int,
    expert_by_item: Mapping[str, Sequence[Judgment]],
    verdicts: Verdicts,
) -> dict[Judgment, list[bool]]:
    """Return the judgments of a worker's batch that are checked, each with the experts' opinions.

    They are the first ones in a seeded order. Judgments that an expert judged already stay in the
    sample although a batch that has grown puts others before them. Of one expert there is one
    judgment of an item, because a further one does not count.
    """
    opinions_by_judgment: dict[Judgment, list[bool]] = {}
    for sample_place, judgment in enumerate(sorted(worker_judgments, key=_sampling_order)):
        by_experts = expert_by_item.get(judgment.item, ())
        opinions = [*verdicts.get(judgment.id, ())]
        if compared_answers(layout):
            opinions += [
                judgments_agree(layout, judgment, expert_judgment) for expert_judgment in by_experts
            ]
        was_sent = any(expert_judgment.batch != judgment.batch for expert_judgment in by_experts)
        is_kept = judgment.id in verdicts or (bool(opinions) and was_sent)
        if sample_place < wanted_count or is_kept:
            opinions_by_judgment[judgment] = opinions
    return opinions_by_judgment


def _sampling_order(judgment: Judgment) -> tuple[int, str]:
    sampling_hash = seeded_hash(_SEED, judgment.batch, judgment.worker, judgment.item)
    return sampling_hash, judgment.id


def checked_share(batches: Iterable[WorkerBatch]) -> ErrorBound:
    """The share of judgments that are wrong, at most, by what the samples showed.

    What a single expert calls wrong counts as wrong here.
    """
    batch_parts = []
    for batch in batches:
        wrong_count = len(batch.called_wrong())
        batch_parts.append((len(batch.judgments), batch.right + wrong_count, wrong_count))
    return error_bound(batch_parts)


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
    sent_to = submission[0].batch, submission[0].worker
    for batch in checked:
        if (batch.batch, batch.worker) == sent_to and submission_ids.intersection(
            judgment.id for judgment in batch.judgments
        ):
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
    seen_count = batch.right + len(batch.called_wrong())
    allowed_text = f", where {batch.errors} would have been accepted" if batch.errors else ""
    return (
        f"Experts checked {seen_count} of your {len(batch.judgments)} items of this batch, drawn "
        f"at random, and two of them found {batch.wrong} not to follow the instructions"
        f"{allowed_text}. All of your work on a batch is accepted or rejected together"
    )


def add_experts(id_file: Path, salt: bytes, platform_names: Iterable[str]) -> list[PersonEvent]:
    """The worker ids of a file, one a line, as experts' on every platform, for the register.

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
    return [
        PersonEvent(
            hash_id(salt, "worker", platform_name, worker_id), "expert", platform_name, day=today()
        )
        for worker_id in worker_ids
        for platform_name in platform_names
    ]


def read_expert_verdicts(layout_folder: Path) -> dict[str, tuple[bool, ...]]:
    """The verdicts that experts wrote into the table of checks, by the id of the judgment.

    A table of earlier versions has no column `second`. `UserError`, with the line: another column
    is missing, or a verdict is another word.
    """
    checks_path = layout_folder / CHECKS
    verdicts: dict[str, tuple[bool, ...]] = {}
    for check_row in require_entries(csv_rows(checks_path)) if checks_path.is_file() else ():
        if missing_columns := [
            column_name
            for column_name in ("judgment", "verdict")
            if column_name not in check_row.value
        ]:
            raise UserError(
                f"no column {missing_columns[0]!r}", where=display_path(checks_path), line=1
            )
        verdict_words = [
            check_row.value.get(column_name, "").strip().lower()
            for column_name in ("verdict", "second")
        ]
        for verdict_word in verdict_words:
            if verdict_word and verdict_word not in _VERDICTS:
                hint_text = "write accept, reject or nothing"
                text = f"verdict {verdict_word[:40]!r}"
                raise UserError(
                    text, where=display_path(checks_path), line=check_row.line, hint=hint_text
                )
        if any(verdict_words):
            verdicts[check_row.value["judgment"].strip()] = tuple(
                _VERDICTS[verdict_word] for verdict_word in verdict_words if verdict_word
            )
    return verdicts


def write_checks(
    layout_folder: Path,
    batches: Sequence[WorkerBatch],
    items: Mapping[str, Item],
    verdicts: Verdicts,
) -> None:
    """Write the table of checks: `verdict` and `second` as written, `found` as the checks say.

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
                written_words = [_WORDS[word] for word in verdicts.get(judgment.id, ())]
                check_row = {
                    "judgment": judgment.id,
                    "batch": batch.batch,
                    "worker": batch.worker,
                    "item": judgment.item,
                    "shown": json.dumps(item_fields, sort_keys=True, ensure_ascii=False),
                    "answers": judgment.answers,
                    "found": _DOUBTED if judgment.id in batch.doubted else _WORDS[verdict],
                    "verdict": "".join(written_words[:1]),
                    "second": "".join(written_words[1:]),
                }
                csv_writer.writerow(check_row)
