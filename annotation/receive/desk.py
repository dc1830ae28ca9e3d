"""A batch, its pool and its journals: what a visit gets, and what becomes of a submission."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from factdrift.annotation.batch import HitBatch, read_batch
from factdrift.annotation.matching import find_answer_mistake
from factdrift.annotation.order import ServingOrder, web_address
from factdrift.annotation.page import hit_file, render_page
from factdrift.annotation.platforms import PLATFORMS, find_platform
from factdrift.annotation.receive.invitations import (
    AnybodyInvited,
    Invitation,
    Invitations,
    RegisterWatch,
    signed_links,
    watch_register,
)
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
ANYBODY = Invitation()
NOT_YOURS = "This set of items was given to somebody else, or to nobody."
# What a visitor is told: an HTTP status and JSON.
Reply = tuple[int, Mapping[str, Any]]
# Searches the old corpus: passages with `id` and `text`.
SearchPassages = Callable[[str], list[dict[str, str]]]


def refusal(http_status: int, message_text: str) -> Reply:
    """A reply that says why there is nothing else."""
    return http_status, {"says": message_text}


class _Place(NamedTuple):
    """Who has taken the place of a signed link, and with which HIT last."""

    visit: Visit
    hit: str


@dataclass
class Desk:
    """One batch that is being worked on; made by `open_desk`. Its methods are called one by one.

    Each has what the visitor asks, and the invitation that their address proves. `ending`: what is
    told once a submission is on the disk, `code` and `complete`. `most`: how many HITs a link is
    good for, or a worker who has none. `arrived` hears how many more submissions are on the disk.
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
    invitations: Invitations
    register: RegisterWatch
    most: int | None = None
    refused: int = 0
    arrived: Callable[[int], object] = lambda n: None
    _taken: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    _handed_out: set[tuple[str, str, str]] = field(default_factory=set)
    """Every HIT that was ever given: by the place of a link (else ""), the worker and the HIT."""
    _slots: dict[tuple[str, str], str] = field(default_factory=dict)
    """By which place each of them was given last, by worker and HIT."""
    _places: dict[str, _Place] = field(default_factory=dict)
    _owners: dict[str, str] = field(default_factory=dict)
    """The worker who has handed something in by a link, by the link's place."""
    _done_counts: Counter[str] = field(default_factory=Counter)
    """HITs that were handed in, by the place of a link, or by the worker who has none."""

    def give(self, visit_request: Mapping[str, Any], invitation: Invitation = ANYBODY) -> Reply:
        """A HIT for a visit, the end of a session that is done, or why there is nothing to do."""
        visit = self._visit(visit_request)
        if visit is None:
            return refusal(400, "The address lacks your participant ID.")
        self.pool.expire(self.now())
        if why_not := self._why_not(visit, visit_request, invitation):
            return refusal(403, why_not)
        named_hit = invitation.hit or str(visit_request.get("hit") or "")[:40]
        if not (visit_request.get("next") and not visit[1]) and self.pool.has_ended(
            visit, named_hit
        ):
            return 200, {"done": self._end(visit, invitation)}
        earlier_assignment = self.pool.handed.get(visit)
        hit_id = (
            self.pool.choose(visit, named_hit)
            if earlier_assignment or self._may_go_on(visit, invitation)
            else None
        )
        if hit_id is None and visit in self.pool.finished:
            return 200, {"done": {**self._end(visit, invitation), "more": False}}
        if hit_id is None:
            return refusal(
                409,
                "There is nothing left to do for you here at the moment. Please return the task "
                "where you found it, or come back later.",
            )
        self._hand(visit, hit_id, invitation)
        return 200, {"hit": json.loads(hit_file(self.batch.hit_by_id[hit_id]))}

    def leave(self, visit_request: Mapping[str, Any], invitation: Invitation = ANYBODY) -> Reply:
        """Put the HIT of a visit back into the pool, if it was given to who says so."""
        visit = self._visit(visit_request)
        open_assignment = self.pool.handed.get(visit) if visit else None
        if visit is None or open_assignment is None:
            return 200, {}
        if not self._was_given(visit, open_assignment.hit, invitation):
            return refusal(403, NOT_YOURS)
        self._note(visit, open_assignment.hit, 0, invitation.slot)
        self.pool.leave(visit)
        return 200, {}

    def search(self, search_request: Mapping[str, Any], invitation: Invitation = ANYBODY) -> Reply:
        """Passages for a worker who has a HIT in hand; what was searched is in the answers."""
        visit, query_text = self._visit(search_request), search_request.get("query")
        open_assignment = self.pool.handed.get(visit) if visit else None
        if self.find is None or visit is None or open_assignment is None:
            return refusal(409, "There is nothing to search here.")
        if not self._was_given(visit, open_assignment.hit, invitation):
            return refusal(403, NOT_YOURS)
        if not isinstance(query_text, str) or not 0 < len(query_text.strip()) <= _LONGEST_QUERY:
            return refusal(400, "Give a few words.")
        return 200, {"passages": self.find(query_text.strip())}

    def take(self, submission_text: str, invitation: Invitation = ANYBODY) -> Reply:
        """Keep a submission, and only then say so, with the completion code.

        It is taken from whom the HIT was given to, also after their time. The same submission again
        is answered in the same way and not kept twice.
        """
        submission = submission_from_text(submission_text, "", 0)
        if isinstance(submission, Refused):
            return refusal(400, submission.reason)
        if submission.batch != self.batch.id or submission.hit not in self.pool:
            return refusal(404, "These answers are to another batch.")
        visit, submission_sign = self._visit_of(submission), _fingerprint(submission)
        is_given = self._was_given(visit, submission.hit, invitation)
        if not is_given or self.register.is_erased(visit[0]):
            return refusal(403, NOT_YOURS)
        taken_signs = self._taken.setdefault((submission.hit, visit[0]), set())
        if submission_sign in taken_signs:
            return 200, self._end(visit, invitation)
        answer_mistake = find_answer_mistake(
            submission, self.batch.hit_by_id[submission.hit], self.batch.layout_as_sent
        )
        if answer_mistake:
            self.refused += 1
            mistake_text = ": ".join(answer_mistake)
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
        self._record(visit, submission, submission_sign)
        self.arrived(1)
        return 200, self._end(visit, invitation)

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
            visit = journal_entry["worker"], journal_entry["session"]
            hit_id, slot = journal_entry["hit"], journal_entry.get("slot", "")
            if hit_id not in self.pool:
                continue
            latest_assignments[visit] = hit_id, journal_entry["until"]
            self._remember(visit, hit_id, slot)
        for visit, (hit_id, hand_until) in latest_assignments.items():
            if hand_until > self.now():
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
            visit = self._visit_of(submission)
            self._record(visit, submission, _fingerprint(submission))
        self.refused = sum(1 for _ in self.not_taken.lines())

    def _why_not(
        self, visit: Visit, visit_request: Mapping[str, Any], invitation: Invitation
    ) -> str:
        """Why a visit is given nothing, whatever there is; empty where it may have something."""
        if self.register.is_shut_out(visit[0]):
            return "There is nothing to do for you here. Please return the task where you found it."
        if invitation.visit:
            study_id = visit_request.get("study") or invitation.study
            if not self._is_theirs(visit, invitation) or study_id != invitation.study:
                return NOT_YOURS
            is_known = visit in self.pool.handed or visit in self.pool.finished
            if not invitation.is_fresh and not is_known:
                return "This link has expired: open the task again where you found it."
        if invitation.slot:
            taken_place = self._places.get(invitation.slot)
            owner = self._owners.get(invitation.slot, "")
            if taken_place and self._has_in_hand(taken_place):
                owner = owner or taken_place.visit[0]
            finished_work = invitation.slot, visit[0], self.pool.finished.get(visit, "")
            if owner not in ("", visit[0]) and finished_work not in self._handed_out:
                return (
                    "This link is somebody else's, or you have used it under another participant "
                    "ID. Please use your own."
                )
        return ""

    def _may_go_on(self, visit: Visit, invitation: Invitation) -> bool:
        """Whether a visit may have another HIT: by `most`; a link of a recruiting site has one.

        Also without a session, which people can leave out of their address.
        """
        is_recruited = visit[1] or find_platform(self.batch.platform).lists_participants
        most = self.most or (1 if invitation.slot and is_recruited else None)
        return most is None or self._done_counts[invitation.slot or visit[0]] < most

    def _has_in_hand(self, place: _Place) -> bool:
        open_assignment = self.pool.handed.get(place.visit)
        return open_assignment is not None and open_assignment.hit == place.hit

    def _hand(self, visit: Visit, hit_id: str, invitation: Invitation) -> None:
        """Give a HIT to a visit. What is new is on the disk before anything is changed.

        A place holds one HIT at a time: what an earlier session of its worker has goes back.
        """
        hand_until = self.now() + self.pool.seconds
        slot = invitation.slot
        earlier_place = self._places.get(slot)
        if earlier_place and earlier_place.visit != visit and self._has_in_hand(earlier_place):
            self._note(earlier_place.visit, earlier_place.hit, 0, slot)
            self.pool.leave(earlier_place.visit)
        open_assignment = self.pool.handed.get(visit)
        is_new = open_assignment is None or open_assignment.hit != hit_id
        if is_new or (slot, visit[0], hit_id) not in self._handed_out:
            self._note(visit, hit_id, hand_until, slot)
            self._remember(visit, hit_id, slot)
        self.pool.hand(visit, hit_id, hand_until)

    def _remember(self, visit: Visit, hit_id: str, slot: str) -> None:
        """Keep to whom, and by which place, a HIT was given."""
        self._handed_out.add((slot, visit[0], hit_id))
        self._slots[visit[0], hit_id] = slot
        if slot:
            self._places[slot] = _Place(visit, hit_id)

    def _was_given(self, visit: Visit, hit_id: str, invitation: Invitation) -> bool:
        """Whether a HIT was given to a visit's worker, by this link if links are signed.

        What was given while the batch was served otherwise, before a restart, is theirs, too.
        """
        earlier_slot = self._slots.get((visit[0], hit_id))
        if earlier_slot is None or not self._is_theirs(visit, invitation):
            return False
        is_by_link = invitation.slot and earlier_slot
        return not is_by_link or (invitation.slot, visit[0], hit_id) in self._handed_out

    def _is_theirs(self, visit: Visit, invitation: Invitation) -> bool:
        """Whether a visit has the ids that its invitation proves, if it proves any."""
        if invitation.visit is None:
            return True
        worker_id, session_id = invitation.visit
        return visit == (self._person(worker_id), session_id)

    def _record(self, visit: Visit, submission: Submission, submission_sign: str) -> None:
        """Note a submission that is on the disk, and whose its place is from now on."""
        self._taken.setdefault((submission.hit, visit[0]), set()).add(submission_sign)
        if visit[0] not in self.pool.done[submission.hit]:
            slot = self._slots.get((visit[0], submission.hit), "")
            self._done_counts[slot or visit[0]] += 1
            if slot:
                self._owners[slot] = visit[0]
        self.pool.record_submission(visit, submission.hit)

    def _end(self, visit: Visit, invitation: Invitation) -> dict[str, Any]:
        # who has no session of a recruiting site may go on with the next HIT
        has_more = not visit[1] and self._may_go_on(visit, invitation)
        return {"how": "sent", **self.ending, "more": has_more}

    def _note(self, visit: Visit, hit_id: str, hand_until: float, slot: str) -> None:
        journal_entry: dict[str, Any] = {
            "worker": visit[0],
            "session": visit[1],
            "hit": hit_id,
            "until": round(hand_until),
        }
        self.given.append(json.dumps(journal_entry | ({"slot": slot} if slot else {})))

    def _visit(self, visit_request: Mapping[str, Any]) -> Visit | None:
        """The ids of a visit; None where it has none, or such as a submission cannot have."""
        worker_id, session_id = (
            visit_request.get(request_key) or "" for request_key in ("worker", "assignment")
        )
        if not isinstance(worker_id, str) or not isinstance(session_id, str):
            return None
        if not worker_id.strip() or max(len(worker_id), len(session_id)) > 200:
            return None
        return self._person(worker_id), session_id.strip()

    def _visit_of(self, submission: Submission) -> Visit:
        return self._person(submission.worker), submission.assignment.strip()

    def _person(self, worker_id: str) -> str:
        return find_platform(self.batch.platform).person_id(worker_id)


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
    invitations = _invitations(order, batch, now)
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
            invitations=invitations,
            register=watch_register(order.judgments, batch),
            most=order.most,
        )
        desk.replay()
        yield desk


def _invitations(order: ServingOrder, batch: HitBatch, now: Callable[[], float]) -> Invitations:
    """How a batch's server tells who is invited; `UserError`: the batch cannot do that."""
    if order.unsigned and order.secured:
        raise UserError("--unsigned and --secured exclude each other", hint="give one of them")
    if order.unsigned:
        return AnybodyInvited()
    if not order.secured:
        return signed_links(batch)
    platform = find_platform(batch.platform)
    if not platform.signs_visits:
        text = f"{batch.platform} secures no parameters, so that --secured would let nobody in"
        raise UserError(text, hint="without it the links that were given out are looked at")
    from factdrift.annotation.receive.tokens import KeyList, SecuredLinks

    key_list = KeyList(order.keys, now)
    key_list.fetch()
    return SecuredLinks(key_list, platform.page_host(batch.folder / batch.platform), now)


def _fingerprint(submission: Submission) -> str:
    """A hash of what a submission says."""
    sender_values = (submission.worker, submission.assignment, submission.study, submission.seconds)
    return digest([*sender_values, submission.answers, submission.item_seconds])
