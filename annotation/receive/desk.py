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


def refusal(status: int, text: str) -> Reply:
    """A reply that says why there is nothing else."""
    return status, {"says": text}


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
        before = self.pool.handed.get(visit)
        hit = self.pool.give(visit, named_hit, self.now())
        if hit is None and visit in self.pool.finished:
            return 200, {"done": {**self._end(visit), "more": False}}
        if hit is None:
            return refusal(
                409,
                "There is nothing left to do for you here at the moment. Please return the task "
                "where you found it, or come back later.",
            )
        if before is None or before.hit != hit:
            self._note(visit, hit, self.pool.handed[visit].until)
        return 200, {"hit": json.loads(hit_file(self.batch.hit_by_id[hit]))}

    def leave(self, visit_request: Mapping[str, Any]) -> Reply:
        """Put the HIT of a visit back into the pool."""
        visit = _visit(visit_request)
        hit = self.pool.leave(visit) if visit else None
        if visit and hit:
            self._note(visit, hit, 0)
        return 200, {}

    def search(self, search_request: Mapping[str, Any]) -> Reply:
        """Passages for a worker who has a HIT in hand; what was searched is in the answers."""
        visit, query = _visit(search_request), search_request.get("query")
        if self.find is None or visit is None or visit not in self.pool.handed:
            return refusal(409, "There is nothing to search here.")
        if not isinstance(query, str) or not 0 < len(query.strip()) <= _LONGEST_QUERY:
            return refusal(400, "Give a few words.")
        return 200, {"passages": self.find(query.strip())}

    def take(self, text: str) -> Reply:
        """Keep a submission, and only then say so, with the completion code.

        The same submission again is answered in the same way and not kept twice.
        """
        submission = submission_from_text(text, "", 0)
        if isinstance(submission, Refused):
            return refusal(400, submission.reason)
        if submission.batch != self.batch.id or submission.hit not in self.pool:
            return refusal(404, "These answers are to another batch.")
        visit, sign = _visit_of(submission), _fingerprint(submission)
        taken_signs = self._taken.setdefault((submission.hit, visit[0]), set())
        if sign in taken_signs:
            return 200, self._end(visit)
        wrong = find_answer_mistake(
            submission, self.batch.hit_by_id[submission.hit], self.batch.layout_as_sent
        )
        if wrong or not visit[0]:
            self.refused += 1
            why = ": ".join(wrong) if wrong else "no worker"
            self.not_taken.append(json.dumps({"why": why, "given": decode_json(text)}))
            return refusal(422, f"These answers cannot be taken: {why[:200]}")
        if len(taken_signs) >= _MOST_ANSWERS:
            return refusal(409, "This set of items was handed in several times already.")
        received = datetime.fromtimestamp(self.now(), UTC).isoformat(timespec="seconds")
        line = json.dumps({**decode_json(text), "received": received}, ensure_ascii=False)
        self.submissions.append(line)
        taken_signs.add(sign)
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
        until: dict[Visit, tuple[str, float]] = {}
        for line in self.given.lines():
            entry = json.loads(line)
            until[entry["worker"], entry["session"]] = entry["hit"], entry["until"]
        for visit, (hit, end) in until.items():
            if hit in self.pool and end > self.now():
                self.pool.hand(visit, hit, end)
        for number, line in enumerate(self.submissions.lines(), 1):
            submission = submission_from_text(line, "", number)
            if (
                isinstance(submission, Refused)
                or submission.batch != self.batch.id
                or submission.hit not in self.pool
            ):
                where = display_path(self.submissions.path)
                hint = "results of each batch lie in a folder of their own"
                raise UserError("not of this batch", where=where, line=number, hint=hint)
            visit = _visit_of(submission)
            self._taken.setdefault((submission.hit, visit[0]), set()).add(_fingerprint(submission))
            self.pool.record_submission(visit, submission.hit)
        self.refused = sum(1 for _ in self.not_taken.lines())

    def _end(self, visit: Visit) -> dict[str, Any]:
        # who has no session of a recruiting site may go on with the next HIT
        return {"how": "sent", **self.ending, "more": not visit[1]}

    def _note(self, visit: Visit, hit: str, until: float) -> None:
        entry = {"worker": visit[0], "session": visit[1], "hit": hit, "until": round(until)}
        self.given.append(json.dumps(entry))


@contextmanager
def open_desk(
    order: ServingOrder, *, now: Callable[[], float] = time.time, find: SearchPassages | None = None
) -> Iterator[Desk]:
    """The desk of a batch, with what earlier runs left in `<out>/<layout>-<number>`.

    `UserError`: no batch of pages, an edited one, or another server at work on it.
    """
    batch, code, complete = read_batch(order.batch), order.code, order.complete
    platform = find_platform(batch.platform)
    if not platform.serves_pages:
        served = [name for name, kind in PLATFORMS.items() if kind.serves_pages]
        text = f"a batch for {batch.platform}, which has pages of its own"
        hint = f"make one for {' or '.join(served)}"
        raise UserError(text, where=display_path(order.batch), hint=hint)
    if code and not complete:
        complete = platform.completion_link(code)
    ending = {"code": code, "complete": web_address(complete)}
    layout = batch.layout_as_sent
    minutes = order.minutes or max(30.0, 6 * float(layout.pay.minutes_per_hit))
    results = order.out / f"{batch.layout}-{batch.number:04}"
    with disk_errors(results), locked(results, "it is served already"), ExitStack() as stack:
        submissions, given, not_taken = (
            stack.enter_context(closing(Journal(results / name)))
            for name in (SUBMISSIONS, GIVEN, NOT_TAKEN)
        )
        search = find is not None
        desk = Desk(
            batch=batch,
            page=render_page(layout, [], batch=batch.id, mode="static", served=True, search=search),
            pool=HitPool([hit.id for hit in batch.hits], layout.assignments, 60 * minutes),
            submissions=submissions,
            given=given,
            not_taken=not_taken,
            ending={name: text for name, text in ending.items() if text},
            now=now,
            find=find,
        )
        desk.replay()
        yield desk


def _visit(visit_request: Mapping[str, Any]) -> Visit | None:
    worker, session = (visit_request.get(name) or "" for name in ("worker", "assignment"))
    if not isinstance(worker, str) or not isinstance(session, str):
        return None
    if not worker.strip() or max(len(worker), len(session)) > 200:
        return None
    return worker.strip(), session.strip()


def _visit_of(submission: Submission) -> Visit:
    return submission.worker.strip(), submission.assignment.strip()


def _fingerprint(submission: Submission) -> str:
    """A hash of what a submission says."""
    sender = (submission.worker, submission.assignment, submission.study, submission.seconds)
    return digest([*sender, submission.answers, submission.item_seconds])
