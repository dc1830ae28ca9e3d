"""Matches a submission to the batch that it answers: judgments, or why it is refused.

Of the platforms' worker and assignment ids only salted hashes are kept.
"""

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
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
from factdrift.annotation.layout import Layout, LayoutAnswer
from factdrift.annotation.platforms import is_piecewise
from factdrift.annotation.submission import Json, Refused, Submission
from factdrift.builders.core.config import did_you_mean, display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors
from factdrift.builders.core.hashing import row_id
from factdrift.builders.rows import Judgment

# Flag of a worker's further submission for a HIT.
DUPLICATE = "duplicate_worker"
SALT = ".salt"
VARIABLE = "FACTDRIFT_SALT"
# Bytes.
_SHORTEST_SALT = 16


def is_repeat(judgment: Judgment) -> bool:
    """Whether it is of a worker's further submission for a HIT: its id says so."""
    return judgment.id != row_id(judgment.batch, judgment.hit, judgment.item, judgment.worker)


def submission_key(judgment: Judgment) -> tuple[str, str, str, str]:
    """What the judgments of one submission share; those of a HIT that a worker handed in piece by
    piece count as one."""
    assignment = "" if is_piecewise(judgment.platform) else judgment.assignment
    return judgment.batch, judgment.hit, judgment.worker, assignment


@dataclass
class LayoutVersion:
    """Batches of one layout in which the same can be answered and accepted.

    `layout` is as the newest of them has it: its rule holds for all of them. `pay` of a HIT by
    batch; `items` of all by id, with their known answers; `sizes`: items of each HIT. `experts`:
    the batches that were made for experts.
    """

    layout: Layout
    pay: dict[str, Decimal] = field(default_factory=dict)
    items: dict[str, Item] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    experts: set[str] = field(default_factory=set)


@dataclass
class Batches:
    """The batches under `hits/`, found by id and read, checked, when an answer names them."""

    root: Path
    places: dict[str, Path] = field(default_factory=dict)
    _read: dict[str, HitBatch] = field(default_factory=dict)
    _versions: dict[str, list[LayoutVersion]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        folders = (
            sorted(path for path in self.root.iterdir() if path.is_dir())
            if self.root.is_dir()
            else []
        )
        for folder in (
            batch_folder for layout_hits in folders for batch_folder in batch_folders(layout_hits)
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
            hint = "make one with `factdrift hits`, or name their folder with --hits"
            raise UserError("no batches here", where=display_path(self.root), hint=hint)

    def get(self, name: str) -> HitBatch | None:
        if name in self.places and name not in self._read:
            self._read[name] = read_batch(self.places[name])
        return self._read.get(name)

    def find(self, batch: str, hit: str, item: str) -> tuple[Layout, Item] | None:
        """The layout and the item of these ids; None where there is no such item."""
        hit_batch = self.get(batch)
        batch_hit = hit_batch.hit_by_id.get(hit) if hit_batch else None
        items = batch_hit.items if batch_hit else ()
        return next(
            (
                (hit_batch.layout_as_sent, candidate)
                for candidate in items
                if hit_batch and candidate.id == item
            ),
            None,
        )

    def __contains__(self, name: str) -> bool:
        return name in self.places

    def layout_versions(self, layout: str) -> list[LayoutVersion]:
        """The batches of a layout by what can be answered, that of the newest batch last."""
        if layout in self._versions:
            return self._versions[layout]
        version_by_key: dict[str, LayoutVersion] = {}
        for name, folder in self.places.items():
            if folder.parent.name != layout or (batch := self.get(name)) is None:
                continue
            batch_layout = batch.layout_as_sent
            answerable_key = _answerable_key(batch_layout)
            version_by_key[answerable_key] = version = version_by_key.pop(
                answerable_key, LayoutVersion(batch_layout)
            )
            version.layout = batch_layout
            version.pay[name] = batch_layout.pay.per_hit
            version.items |= {item.id: item for item in batch.items}
            version.sizes |= {hit.id: len(hit.items) for hit in batch.hits}
            if batch.experts or batch_layout.qualifications.expert:
                version.experts.add(name)
        if not version_by_key:
            raise UserError(f"no batch of the layout {layout!r}", where=display_path(self.root))
        return self._versions.setdefault(layout, [*version_by_key.values()])


def match_submission(
    submission: Submission, batches: Batches, platform: str, salt: bytes
) -> list[Judgment] | Refused:
    """One judgment an item, in the order of the HIT; or the first thing that is wrong with it."""

    def refused(reason: str, detail: str = "") -> Refused:
        return Refused(submission.where, submission.line, reason, detail)

    batch = batches.get(submission.batch)
    if batch is None:
        near = did_you_mean(submission.batch[:40], batches.places)
        not_listed = f"not among the {len(batches.places)} of hits/"
        return refused("unknown batch", f"did you mean {near}?" if near else not_listed)
    if batch.platform != platform:
        return refused("wrong platform", f"the batch went to {batch.platform}, not to {platform}")
    hit = batch.hit_by_id.get(submission.hit)
    if hit is None:
        return refused(
            "unknown HIT", f"{submission.hit[:40]!r} is not in {display_path(batch.folder)}"
        )
    worker_hash = hash_id(salt, "worker", platform, submission.worker.strip())
    mistake = find_answer_mistake(
        submission, hit, batch.layout_as_sent, piecewise=is_piecewise(platform)
    )
    if mistake:
        reason, detail = mistake
        return refused(
            reason, f"{detail}, worker {worker_hash}" if reason == "missing item" else detail
        )
    if not worker_hash:
        return refused("not a submission", "no worker")
    answered_items = tuple(item for item in hit.items if item.id in submission.answers)
    assignment_hash = hash_id(salt, "assignment", platform, submission.assignment.strip())
    return [
        Judgment(
            id=row_id(batch.id, hit.id, item.id, worker_hash),
            layout=batch.layout,
            batch=batch.id,
            hit=hit.id,
            item=item.id,
            row=item.row,
            dataset=batch.dataset,
            worker=worker_hash,
            platform=platform,
            assignment=assignment_hash,
            answers=intern(_canonical_answers(submission.answers[item.id])),
            seconds=_item_seconds(submission, item.id, len(answered_items)),
            flags=(),
            counted=True,
        )
        for item in answered_items
    ]


def find_answer_mistake(
    submission: Submission, hit: Hit, layout: Layout, *, piecewise: bool = False
) -> tuple[str, str] | None:
    """What is wrong with the answers to a HIT, a short reason and what was seen; None: nothing.

    `piecewise`: some of its items are enough.
    """
    items = {item.id: item for item in hit.items}
    if unknown := sorted(submission.answers.keys() - items.keys()):
        return "unknown item", f"{unknown[0][:40]!r} is not in HIT {hit.id}"
    missing = [name for name in items if name not in submission.answers]
    if missing and (not piecewise or not submission.answers):
        return "missing item", f"{missing[0]}, {len(missing)} of {len(items)} of HIT {hit.id}"
    if unknown := sorted(submission.item_seconds.keys() - items.keys()):
        return "unknown item", f"{unknown[0][:40]!r} has a time"
    for item in hit.items:
        item_problems = answer_problems(layout, item.fields, submission.answers.get(item.id, {}))
        if item.id in submission.answers and item_problems:
            more = f" (and {len(item_problems) - 1} more)" if len(item_problems) > 1 else ""
            return "invalid answer", f"item {item.id}: {item_problems[0]}{more}"
    return None


def _answerable_key(layout: Layout) -> str:
    def values(layout_answers: Mapping[str, LayoutAnswer]) -> object:
        return [
            [
                name,
                answer.kind,
                answer.field,
                sorted(choice.value for choice in answer.choices),
                values(answer.answers),
            ]
            for name, answer in sorted(layout_answers.items())
        ]

    rule = layout.rule
    return json.dumps([values(layout.answers), rule.of, sorted(rule.accept), sorted(rule.reject)])


def _canonical_answers(answers: Mapping[str, Json]) -> str:
    given_answers = {name: value for name, value in answers.items() if value not in (None, "", [])}
    return json.dumps(given_answers, sort_keys=True, ensure_ascii=False)


def _item_seconds(submission: Submission, item: str, item_count: int) -> float | None:
    item_seconds = submission.item_seconds.get(item)
    if item_seconds is not None:
        return round(float(item_seconds), 1)
    return None if submission.seconds is None else round(float(submission.seconds) / item_count, 1)


def read_salt(hits: Path) -> bytes:
    """The salt: of the environment, else of `hits/.salt`, which is made once, at random.

    Whoever has it can test a guessed id: it stays with the batches and is never published.
    `UserError`: it is too short, or cannot be read or written.
    """
    where, salt = VARIABLE, os.environ.get(VARIABLE, "").encode()
    hint = f"give at least {_SHORTEST_SALT} characters that nobody can guess"
    if not salt:
        path = hits / SALT
        where, hint = (
            display_path(path),
            f"delete it and import all results anew, or set {VARIABLE}",
        )
        with disk_errors(path):
            hits.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.touch(0o600)
                path.write_text(f"{secrets.token_hex(32)}\n", "utf-8")
            salt = path.read_bytes().strip()
    if len(salt) < _SHORTEST_SALT:
        raise UserError("too short for a salt", where=where, hint=hint)
    return salt


def check_salt(salt: bytes, out: Path) -> None:
    """`UserError` where the judgments in `out` were made with another salt: all would be new."""
    path = out / ".salt-check"
    mark = hash_id(salt, "check", "", "salt")
    if path.is_file() and path.read_text("utf-8").strip() != mark:
        text = "the judgments here were made with another salt"
        hint = f"set {VARIABLE}, or bring back hits/{SALT}, as it was when they were imported"
        raise UserError(text, where=display_path(out), hint=hint)
    if not path.is_file():
        path.write_text(mark + "\n", "utf-8")


def hash_id(salt: bytes, what: str, platform: str, name: str) -> str:
    """16 hex digits for an id of a platform; empty for none."""
    if not name:
        return ""
    text = "\t".join((what, platform, name))
    return hmac.new(salt, text.encode(), hashlib.sha256).hexdigest()[:16]
