"""A batch, its pool and its journals: what a visit gets, and what becomes of a submission."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from factdrift.annotation.batch import HitBatch, read_batch
from factdrift.annotation.matching import find_answer_mistake
from factdrift.annotation.order import ServingOrder, web_address
from factdrift.annotation.page import hit_file, render_page
from factdrift.annotation.platforms import PLATFORMS, find_platform
from factdrift.annotation.receive.journal import Journal
from factdrift.annotation.receive.pool import HitPool, Visit
from factdrift.annotation.submission import Refused, Submission, decode_json, submission_from_text
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, locked
from factdrift.builders.core.hashing import digest

SUBMISSIONS, GIVEN, NOT_TAKEN = "submissions.jsonl", "given.log", "not-taken.log"
_LONGEST_QUERY = 300
# Different submissions of one worker for one HIT that are kept.
_MOST_ANSWERS = 5
# What a visitor is told: an HTTP status and JSON.
Reply = tuple[int, Mapping[str, Any]]
# Searches the old corpus: passages with `id` and `text`.
SearchPassages = Callable[[str], list[dict[str, str]]]


def refusal(http_status: int, message_text: str) -> Reply:
    """A reply that says why there is nothing else."""
    return http_status, {"says": message_text}


@dataclass
class Desk:
    """One batch that is being worked on; made by `open_desk`. Its methods are called one by one.

    `ending`: what is told once a submission is on the disk, `code` and `complete`. `arrived` hears
    how many more submissions are on the disk.
    """

    batch: HitBatch
    page: str
    pool: HitPool
    submissions: Journal
    given: Journal
    not_taken: Journal
    ending: Mapping[str, str]
    now: Callable[[], float]
    find: SearchPassages | None
    refused: int = 0
    arrived: Callable[[int], object] = lambda n: None
    _taken: dict[tuple[str, str], set[str]] = field(default_factory=dict)

    def give(self, visit_request: Mapping[str, Any]) -> Reply:
        """A HIT for a visit, the end of a session that is done, or why there is nothing to do."""
        visit = _visit(visit_request)
        if visit is None:
            return refusal(400, "The address lacks your participant ID.")
        self.pool.expire(self.now())
        named_hit = str(visit_request.get("hit") or "")[:40]
        if not (visit_request.get("next") and not visit[1]) and self.pool.has_ended(
            visit, named_hit
        ):
            return 200, {"done": self._end(visit)}
        earlier_assignment = self.pool.handed.get(visit)
        hit_id = self.pool.give(visit, named_hit, self.now())
        if hit_id is None and visit in self.pool.finished:
            return 200, {"done": {**self._end(visit), "more": False}}
        if hit_id is None:
            return refusal(
                409,
                "There is nothing left to do for you here at the moment. Please return the task "
                "where you found it, or come back later.",
            )
        if earlier_assignment is None or earlier_assignment.hit != hit_id:
            self._note(visit, hit_id, self.pool.handed[visit].until)
        return 200, {"hit": json.loads(hit_file(self.batch.hit_by_id[hit_id]))}

    def leave(self, visit_request: Mapping[str, Any]) -> Reply:
        """Put the HIT of a visit back into the pool."""
        visit = _visit(visit_request)
        hit_id = self.pool.leave(visit) if visit else None
        if visit and hit_id:
            self._note(visit, hit_id, 0)
        return 200, {}

    def search(self, search_request: Mapping[str, Any]) -> Reply:
        """Passages for a worker who has a HIT in hand; what was searched is in the answers."""
        visit, query_text = _visit(search_request), search_request.get("query")
        if self.find is None or visit is None or visit not in self.pool.handed:
            return refusal(409, "There is nothing to search here.")
        if not isinstance(query_text, str) or not 0 < len(query_text.strip()) <= _LONGEST_QUERY:
            return refusal(400, "Give a few words.")
        return 200, {"passages": self.find(query_text.strip())}

    def take(self, submission_text: str) -> Reply:
        """Keep a submission, and only then say so, with the completion code.

        The same submission again is answered in the same way and not kept twice.
        """
        submission = submission_from_text(submission_text, "", 0)
        if isinstance(submission, Refused):
            return refusal(400, submission.reason)
        if submission.batch != self.batch.id or submission.hit not in self.pool:
            return refusal(404, "These answers are to another batch.")
        visit, submission_sign = _visit_of(submission), _fingerprint(submission)
        taken_signs = self._taken.setdefault((submission.hit, visit[0]), set())
        if submission_sign in taken_signs:
            return 200, self._end(visit)
        answer_mistake = find_answer_mistake(
            submission, self.batch.hit_by_id[submission.hit], self.batch.layout_as_sent
        )
        if answer_mistake or not visit[0]:
            self.refused += 1
            mistake_text = ": ".join(answer_mistake) if answer_mistake else "no worker"
            self.not_taken.append(
                json.dumps({"why": mistake_text, "given": decode_json(submission_text)})
            )
            return refusal(422, f"These answers cannot be taken: {mistake_text[:200]}")
        if len(taken_signs) >= _MOST_ANSWERS:
            return refusal(409, "This set of items was handed in several times already.")
        received_at = datetime.fromtimestamp(self.now(), UTC).isoformat(timespec="seconds")
        journal_line = json.dumps(
            {**decode_json(submission_text), "received": received_at}, ensure_ascii=False
        )
        self.submissions.append(journal_line)
        taken_signs.add(submission_sign)
        self.pool.record_submission(visit, submission.hit)
        self.arrived(1)
        return 200, self._end(visit)

    def health(self) -> dict[str, Any]:
        """Counts, and nothing of any worker."""
        self.pool.expire(self.now())
        batch_ids = {"layout": self.batch.layout, "batch": self.batch.id}
        return {"status": "ok", **batch_ids, **self.pool.counts(), "not_taken": self.refused}

    def replay(self) -> None:
        """Take up what the journals say of earlier runs; forget what is in hand no more."""
        latest_assignments: dict[Visit, tuple[str, float]] = {}
        for journal_line in self.given.lines():
            journal_entry = json.loads(journal_line)
            latest_assignments[journal_entry["worker"], journal_entry["session"]] = (
                journal_entry["hit"],
                journal_entry["until"],
            )
        for visit, (hit_id, hand_until) in latest_assignments.items():
            if hit_id in self.pool and hand_until > self.now():
                self.pool.hand(visit, hit_id, hand_until)
        for line_number, journal_line in enumerate(self.submissions.lines(), 1):
            submission = submission_from_text(journal_line, "", line_number)
            if (
                isinstance(submission, Refused)
                or submission.batch != self.batch.id
                or submission.hit not in self.pool
            ):
                journal_path = display_path(self.submissions.path)
                hint_text = "results of each batch lie in a folder of their own"
                raise UserError(
                    "not of this batch", where=journal_path, line=line_number, hint=hint_text
                )
            visit = _visit_of(submission)
            self._taken.setdefault((submission.hit, visit[0]), set()).add(_fingerprint(submission))
            self.pool.record_submission(visit, submission.hit)
        self.refused = sum(1 for _ in self.not_taken.lines())

    def _end(self, visit: Visit) -> dict[str, Any]:
        # who has no session of a recruiting site may go on with the next HIT
        return {"how": "sent", **self.ending, "more": not visit[1]}

    def _note(self, visit: Visit, hit_id: str, hand_until: float) -> None:
        journal_entry = {
            "worker": visit[0],
            "session": visit[1],
            "hit": hit_id,
            "until": round(hand_until),
        }
        self.given.append(json.dumps(journal_entry))


@contextmanager
def open_desk(
    order: ServingOrder, *, now: Callable[[], float] = time.time, find: SearchPassages | None = None
) -> Iterator[Desk]:
    """The desk of a batch, with what earlier runs left in `<out>/<layout>-<number>`.

    `UserError`: no batch of pages, an edited one, or another server at work on it.
    """
    batch, completion_code, completion_link = (
        read_batch(order.batch),
        order.code,
        order.complete,
    )
    platform = find_platform(batch.platform)
    if not platform.serves_pages:
        serving_platforms = [
            journal_name
            for journal_name, platform_type in PLATFORMS.items()
            if platform_type.serves_pages
        ]
        text = f"a batch for {batch.platform}, which has pages of its own"
        hint_text = f"make one for {' or '.join(serving_platforms)}"
        raise UserError(text, where=display_path(order.batch), hint=hint_text)
    if completion_code and not completion_link:
        completion_link = platform.completion_link(completion_code)
    ending = {"code": completion_code, "complete": web_address(completion_link)}
    layout = batch.layout_as_sent
    hand_minutes = order.minutes or max(30.0, 6 * float(layout.pay.minutes_per_hit))
    results_folder = order.out / f"{batch.layout}-{batch.number:04}"
    with (
        disk_errors(results_folder),
        locked(results_folder, "it is served already"),
        ExitStack() as exit_stack,
    ):
        submission_journal, given_journal, not_taken = (
            exit_stack.enter_context(closing(Journal(results_folder / journal_name)))
            for journal_name in (SUBMISSIONS, GIVEN, NOT_TAKEN)
        )
        can_search = find is not None
        desk = Desk(
            batch=batch,
            page=render_page(
                layout, [], batch_id=batch.id, mode="static", served=True, search=can_search
            ),
            pool=HitPool(
                [hit.id for hit in batch.hits],
                layout.assignments,
                60 * hand_minutes,
            ),
            submissions=submission_journal,
            given=given_journal,
            not_taken=not_taken,
            ending={journal_name: text for journal_name, text in ending.items() if text},
            now=now,
            find=find,
        )
        desk.replay()
        yield desk


def _visit(visit_request: Mapping[str, Any]) -> Visit | None:
    worker_id, session_id = (
        visit_request.get(request_key) or "" for request_key in ("worker", "assignment")
    )
    if not isinstance(worker_id, str) or not isinstance(session_id, str):
        return None
    if not worker_id.strip() or max(len(worker_id), len(session_id)) > 200:
        return None
    return worker_id.strip(), session_id.strip()


def _visit_of(submission: Submission) -> Visit:
    return submission.worker.strip(), submission.assignment.strip()


def _fingerprint(submission: Submission) -> str:
    """A hash of what a submission says."""
    sender_values = (submission.worker, submission.assignment, submission.study, submission.seconds)
    return digest([*sender_values, submission.answers, submission.item_seconds])
