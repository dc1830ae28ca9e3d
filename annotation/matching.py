"""Matches a submission to the batch that it answers: judgments, or why it is refused.

Of the platforms' worker and assignment ids only salted hashes are kept.
"""

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from sys import intern

from factdrift.annotation.batch import (
    Hit,
    HitBatch,
    Item,
    batch_folders,
    load_batch_manifest,
    read_batch,
)
from factdrift.annotation.checks import answer_problems
from factdrift.annotation.layout import Layout, LayoutAnswer, Rule
from factdrift.annotation.platforms import find_platform, is_piecewise
from factdrift.annotation.submission import Json, Refused, Submission
from factdrift.builders.core.config import did_you_mean, display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors
from factdrift.builders.core.hashing import row_id
from factdrift.builders.rows import Judgment

# Flag of a worker's further submission for a HIT.
DUPLICATE = "duplicate_worker"
# Flag of the work of a person whom the register excludes.
EXCLUDED = "excluded"
SALT = ".salt"
VARIABLE = "FACTDRIFT_SALT"
# Bytes.
_SHORTEST_SALT = 16


def is_repeat(judgment: Judgment) -> bool:
    """Whether it is of a worker's further submission for a HIT: its id says so."""
    return judgment.id != row_id(judgment.batch, judgment.hit, judgment.item, judgment.worker)


def submission_key(judgment: Judgment) -> tuple[str, str, str, str]:
    """Return the key that the judgments of one submission share.

    All judgments of a HIT that a worker handed in piece by piece belong to one submission.
    """
    assignment_hash = "" if is_piecewise(judgment.platform) else judgment.assignment
    return judgment.batch, judgment.hit, judgment.worker, assignment_hash


@dataclass
class LayoutVersion:
    """Batches of one layout in which the same can be answered and accepted.

    `layout` is as the newest of them has it: its rule decides rows of all of them. `rules` by batch
    say by what plan each was sent, which holds for its workers whatever is planned later. `pay` of
    a HIT by batch; `items` of all by id, with their known answers; `sizes`: items of each HIT.
    `experts`: the batches that were made for experts.
    """

    layout: Layout
    pay: dict[str, Decimal] = field(default_factory=dict)
    items: dict[str, Item] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    experts: set[str] = field(default_factory=set)
    rules: dict[str, Rule] = field(default_factory=dict)


@dataclass
class Batches:
    """The batches under `hits/`, found by id and read, checked, when an answer names them."""

    root: Path
    places: dict[str, Path] = field(default_factory=dict)
    _read: dict[str, HitBatch] = field(default_factory=dict)
    _versions: dict[str, list[LayoutVersion]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        layout_folders = (
            sorted(layout_path for layout_path in self.root.iterdir() if layout_path.is_dir())
            if self.root.is_dir()
            else []
        )
        for folder in (
            batch_folder
            for layout_hits in layout_folders
            for batch_folder in batch_folders(layout_hits)
        ):
            manifest = load_batch_manifest(folder)
            if manifest.layout != folder.parent.name:
                text = f"a batch of the layout {manifest.layout}, in the folder of another"
                raise UserError(text, where=display_path(folder))
            first_folder = self.places.setdefault(manifest.id, folder)
            if first_folder != folder:
                text = f"the same batch as {display_path(first_folder)}"
                raise UserError(text, where=display_path(folder), hint="remove the copy")
        if not self.places:
            hint_text = "make one with `factdrift hits`, or name their folder with --hits"
            raise UserError("no batches here", where=display_path(self.root), hint=hint_text)

    def get(self, batch_id: str) -> HitBatch | None:
        if batch_id in self.places and batch_id not in self._read:
            self._read[batch_id] = read_batch(self.places[batch_id])
        return self._read.get(batch_id)

    def find(self, batch_id: str, hit_id: str, item_id: str) -> tuple[Layout, Item] | None:
        """Return the layout and the item of these ids, or None if there is no such item."""
        hit_batch = self.get(batch_id)
        batch_hit = hit_batch.hit_by_id.get(hit_id) if hit_batch else None
        hit_items = batch_hit.items if batch_hit else ()
        return next(
            (
                (hit_batch.layout_as_sent, candidate)
                for candidate in hit_items
                if hit_batch and candidate.id == item_id
            ),
            None,
        )

    def __contains__(self, batch_id: str) -> bool:
        return batch_id in self.places

    def layout_versions(self, name: str) -> list[LayoutVersion]:
        """Return the versions of a layout, that of the newest batch last.

        Batches are of one version if the same can be answered in them.
        """
        if name in self._versions:
            return self._versions[name]
        version_by_key: dict[str, LayoutVersion] = {}
        for batch_id, batch_folder in self.places.items():
            if batch_folder.parent.name != name or (hit_batch := self.get(batch_id)) is None:
                continue
            batch_layout = hit_batch.layout_as_sent
            answerable_key = _answerable_key(batch_layout)
            version_by_key[answerable_key] = version = version_by_key.pop(
                answerable_key, LayoutVersion(batch_layout)
            )
            version.layout = batch_layout
            version.pay[batch_id] = batch_layout.pay.per_hit
            version.rules[batch_id] = batch_layout.rule
            version.items |= {item.id: item for item in hit_batch.items}
            version.sizes |= {batch_hit.id: len(batch_hit.items) for batch_hit in hit_batch.hits}
            if hit_batch.experts or batch_layout.qualifications.expert:
                version.experts.add(batch_id)
        if not version_by_key:
            raise UserError(f"no batch of the layout {name!r}", where=display_path(self.root))
        return self._versions.setdefault(name, [*version_by_key.values()])


def match_submission(
    submission: Submission, batches: Batches, platform_name: str, salt: bytes
) -> list[Judgment] | Refused:
    """Return one judgment for each answered item, in the order of the HIT.

    If the submission cannot be taken, return its first mistake as a `Refused` instead.
    """

    def refused(reason: str, detail: str = "") -> Refused:
        return Refused(submission.where, submission.line, reason, detail)

    hit_batch = batches.get(submission.batch)
    if hit_batch is None:
        nearest_id = did_you_mean(submission.batch[:40], batches.places)
        not_listed = f"not among the {len(batches.places)} of hits/"
        return refused("unknown batch", f"did you mean {nearest_id}?" if nearest_id else not_listed)
    if hit_batch.platform != platform_name:
        return refused(
            "wrong platform", f"the batch went to {hit_batch.platform}, not to {platform_name}"
        )
    hit = hit_batch.hit_by_id.get(submission.hit)
    if hit is None:
        return refused(
            "unknown HIT", f"{submission.hit[:40]!r} is not in {display_path(hit_batch.folder)}"
        )
    worker_hash = hash_id(salt, "worker", platform_name, submission.worker.strip())
    reading_seconds = submission.reading_seconds
    answer_mistake = find_answer_mistake(
        submission, hit, hit_batch.layout_as_sent, piecewise=is_piecewise(platform_name)
    )
    if answer_mistake:
        reason, detail = answer_mistake
        return refused(
            reason, f"{detail}, worker {worker_hash}" if reason == "missing item" else detail
        )
    if not worker_hash:
        return refused("not a submission", "no worker")
    answered_items = tuple(item for item in hit.items if item.id in submission.answers)
    assignment_hash = hash_id(salt, "assignment", platform_name, submission.assignment.strip())
    return [
        Judgment(
            id=row_id(hit_batch.id, hit.id, item.id, worker_hash),
            layout=hit_batch.layout,
            batch=hit_batch.id,
            hit=hit.id,
            item=item.id,
            row=item.row,
            dataset=hit_batch.dataset,
            worker=worker_hash,
            platform=platform_name,
            assignment=assignment_hash,
            answers=intern(_canonical_answers(submission.answers[item.id])),
            seconds=_item_seconds(submission, item.id, len(answered_items)),
            flags=(),
            counted=True,
            reading=None if reading_seconds is None else round(reading_seconds, 1),
        )
        for item in answered_items
    ]


def find_answer_mistake(
    submission: Submission, hit: Hit, layout: Layout, *, piecewise: bool = False
) -> tuple[str, str] | None:
    """Return the first mistake in the answers to a HIT as a reason and a detail, or None.

    With `piecewise`, answers to some of the items are enough.
    """
    item_by_id = {item.id: item for item in hit.items}
    if unknown_items := sorted(submission.answers.keys() - item_by_id.keys()):
        return "unknown item", f"{unknown_items[0][:40]!r} is not in HIT {hit.id}"
    missing_items = [item_id for item_id in item_by_id if item_id not in submission.answers]
    if missing_items and (not piecewise or not submission.answers):
        return (
            "missing item",
            f"{missing_items[0]}, {len(missing_items)} of {len(item_by_id)} of HIT {hit.id}",
        )
    if unknown_items := sorted(submission.item_seconds.keys() - item_by_id.keys()):
        return "unknown item", f"{unknown_items[0][:40]!r} has a time"
    for item in hit.items:
        item_problems = answer_problems(layout, item.fields, submission.answers.get(item.id, {}))
        if item.id in submission.answers and item_problems:
            more_text = f" (and {len(item_problems) - 1} more)" if len(item_problems) > 1 else ""
            return "invalid answer", f"item {item.id}: {item_problems[0]}{more_text}"
    return None


def _answerable_key(layout: Layout) -> str:
    def values(layout_answers: Mapping[str, LayoutAnswer]) -> object:
        return [
            [
                answer_name,
                answer.kind,
                answer.field,
                sorted(choice.value for choice in answer.choices),
                values(answer.answers),
            ]
            for answer_name, answer in sorted(layout_answers.items())
        ]

    rule = layout.rule
    return json.dumps(
        [
            values(layout.answers),
            rule.of,
            sorted(rule.accept),
            sorted(rule.reject),
        ]
    )


def _canonical_answers(item_answers: Mapping[str, Json]) -> str:
    given_answers = {
        answer_name: answer_value
        for answer_name, answer_value in item_answers.items()
        if answer_value not in (None, "", [])
    }
    return json.dumps(given_answers, sort_keys=True, ensure_ascii=False)


def _item_seconds(submission: Submission, item_id: str, item_count: int) -> float | None:
    item_seconds = submission.item_seconds.get(item_id)
    if item_seconds is not None:
        return round(float(item_seconds), 1)
    return None if submission.seconds is None else round(float(submission.seconds) / item_count, 1)


def read_salt(hits_folder: Path) -> bytes:
    """The salt: of the environment, else of `hits/.salt`, which is made once, at random.

    Whoever has it can test a guessed id: it stays with the batches and is never published.
    `UserError`: it is too short, or cannot be read or written.
    """
    salt_source, salt = VARIABLE, os.environ.get(VARIABLE, "").encode()
    hint_text = f"give at least {_SHORTEST_SALT} characters that nobody can guess"
    if not salt:
        salt_path = hits_folder / SALT
        salt_source, hint_text = (
            display_path(salt_path),
            f"delete it and import all results anew, or set {VARIABLE}",
        )
        with disk_errors(salt_path):
            hits_folder.mkdir(parents=True, exist_ok=True)
            if not salt_path.exists():
                salt_path.touch(0o600)
                salt_path.write_text(f"{secrets.token_hex(32)}\n", "utf-8")
            salt = salt_path.read_bytes().strip()
    if len(salt) < _SHORTEST_SALT:
        raise UserError("too short for a salt", where=salt_source, hint=hint_text)
    return salt


def check_salt(salt: bytes, judgments_folder: Path) -> None:
    """Raise `UserError` if ids of the judgments in a folder were hashed with another salt.

    None of them would be recognised, and every one would count as new.
    """
    check_path = judgments_folder / ".salt-check"
    salt_hash = hash_id(salt, "check", "", "salt")
    if check_path.is_file() and check_path.read_text("utf-8").strip() != salt_hash:
        text = "the judgments here were made with another salt"
        hint_text = f"set {VARIABLE}, or bring back hits/{SALT}, as it was when they were imported"
        raise UserError(text, where=display_path(judgments_folder), hint=hint_text)
    if not check_path.is_file():
        check_path.write_text(salt_hash + "\n", "utf-8")


def hash_id(salt: bytes, id_kind: str, platform_name: str, platform_id: str) -> str:
    """16 hex digits for an id of a platform; empty for none.

    Worker ids that are one person's by the platform's rule (see `Platform.person_id`) have one
    hash.
    """
    if not platform_id:
        return ""
    if id_kind == "worker":
        platform_id = find_platform(platform_name).person_id(platform_id)
    return exact_hash(salt, id_kind, platform_name, platform_id)


def exact_hash(salt: bytes, id_kind: str, platform_name: str, platform_id: str) -> str:
    """The hash of an id as it is spelled, as all judgments of versions before the register have."""
    text = "\t".join((id_kind, platform_name, platform_id))
    return hmac.new(salt, text.encode(), hashlib.sha256).hexdigest()[:16]


def with_worker(judgments: Sequence[Judgment], worker_hash: str) -> list[Judgment]:
    """The judgments of one submission as those of another hash of its worker."""
    return [
        replace(
            judgment,
            id=row_id(judgment.batch, judgment.hit, judgment.item, worker_hash),
            worker=worker_hash,
        )
        for judgment in judgments
    ]
