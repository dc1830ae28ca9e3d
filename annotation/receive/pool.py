"""Which HIT goes to whom: each to as many workers as wanted, and back to the pool when they leave.

A worker is handed a HIT for some minutes; every visit begins them anew. Whoever hands in later is
taken all the same, and the HIT may then have one judgment more than wanted. No step takes longer
with the number of HITs, of visits or of submissions.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

# A worker's id and the id of the session in which a recruiting site sends them; "" for none.
Visit = tuple[str, str]


class OpenAssignment(NamedTuple):
    """A HIT that a worker has in hand, until a time in seconds of the clock that is used."""

    hit: str
    until: float


@dataclass
class HitPool:
    """The HITs of a batch. HITs that others have begun go first, so that whole rows come early.

    `wanted` is the number of workers for each HIT. A HIT that was not handed in after `seconds`
    goes back. `done` has the workers who handed each HIT in, and `busy` has these and the ones who
    are working on it. `finished` has the HIT that each visit handed in last.
    """

    hits: Sequence[str]
    wanted: int
    seconds: float
    handed: dict[Visit, OpenAssignment] = field(default_factory=dict)
    done: dict[str, set[str]] = field(default_factory=dict)
    busy: dict[str, set[str]] = field(default_factory=dict)
    finished: dict[Visit, str] = field(default_factory=dict)
    _free: list[dict[str, None]] = field(default_factory=list)
    """HITs that more workers are wanted for, by the number of workers who are busy with them."""
    _visits: dict[str, set[Visit]] = field(default_factory=dict)
    """The visits that have a HIT in hand, by worker."""
    _ends: list[tuple[float, Visit]] = field(default_factory=list)
    """A heap of times at which visits may end. A visit that went on has a later one besides."""

    def __post_init__(self) -> None:
        for workers_by_hit in (self.done, self.busy):
            workers_by_hit.update({hit_id: set() for hit_id in self.hits})
        self._free = [{} for _ in range(self.wanted)]
        self._free[0].update(dict.fromkeys(self.hits))

    def __contains__(self, hit_id: str) -> bool:
        return hit_id in self.done

    def choose(self, visit: Visit, named_hit: str) -> str | None:
        """Return the HIT that a visit is to have, or None if no HIT is left for the worker.

        A visit keeps the HIT that it has; otherwise it gets the one that it names, or the next one.
        Nobody is handed a HIT twice. A named HIT that is full is replaced by another.
        """
        if visit in self.handed:
            return self.handed[visit].hit
        hit_id = self._hit(named_hit)
        if hit_id is None or not self._is_free(hit_id, visit[0]):
            hit_id = self._next(visit[0])
        return hit_id

    def give(self, visit: Visit, named_hit: str, current_time: float) -> str | None:
        """Hand out the HIT that a visit is to have, and return its id."""
        self.expire(current_time)
        hit_id = self.choose(visit, named_hit)
        if hit_id:
            self.hand(visit, hit_id, current_time + self.seconds)
        return hit_id

    def hand(self, visit: Visit, hit_id: str, hand_until: float) -> None:
        """Note that a visit has a HIT in hand, and no other."""
        if visit in self.handed and self.handed[visit].hit != hit_id:
            self.leave(visit)
        self.handed[visit] = OpenAssignment(hit_id, hand_until)
        self._visits.setdefault(visit[0], set()).add(visit)
        heapq.heappush(self._ends, (hand_until, visit))
        self._set_busy(hit_id, visit[0], is_busy=True)

    def leave(self, visit: Visit) -> str | None:
        """Put the HIT of a visit back; its id, None where there was none."""
        if visit not in self.handed:
            return None
        hit_id = self.handed.pop(visit).hit
        own_visits = self._visits[visit[0]]
        own_visits.discard(visit)
        if not own_visits:
            del self._visits[visit[0]]
        has_other = any(self.handed[other_visit].hit == hit_id for other_visit in own_visits)
        if visit[0] not in self.done[hit_id] and not has_other:
            self._set_busy(hit_id, visit[0], is_busy=False)
        return hit_id

    def record_submission(self, visit: Visit, hit_id: str) -> None:
        """Note that a worker has handed in a HIT."""
        self.done[hit_id].add(visit[0])
        self._set_busy(hit_id, visit[0], is_busy=True)
        for own_visit in [*self._visits.get(visit[0], ())]:
            if self.handed[own_visit].hit == hit_id:
                self.leave(own_visit)
        self.finished[visit] = hit_id

    def expire(self, current_time: float) -> None:
        """Put back what was in hand for too long."""
        while self._ends and self._ends[0][0] <= current_time:
            _, visit = heapq.heappop(self._ends)
            if visit in self.handed and self.handed[visit].until <= current_time:
                self.leave(visit)

    def counts(self) -> dict[str, int]:
        """Progress: HITs and judgments, wanted and there."""
        received_counts = [len(hit_workers) for hit_workers in self.done.values()]
        return {
            "hits": len(self.hits),
            "hits_finished": sum(
                received_count >= self.wanted for received_count in received_counts
            ),
            "wanted": self.wanted * len(self.hits),
            "received": sum(received_counts),
            "useful": sum(min(received_count, self.wanted) for received_count in received_counts),
            "in_hand": len(self.handed),
        }

    def has_ended(self, visit: Visit, named_hit: str) -> bool:
        """Whether a visit is the end of work that was handed in, loaded again.

        Who has no session of a recruiting site is at the end of the `named` HIT that they did, or
        else of the last one, unless another is in hand.
        """
        if visit not in self.finished or visit in self.handed:
            return False
        hit_id = self._hit(named_hit)
        return bool(visit[1]) or hit_id is None or visit[0] in self.done[hit_id]

    def _is_free(self, hit_id: str, worker_id: str) -> bool:
        return len(self.busy[hit_id]) < self.wanted and worker_id not in self.busy[hit_id]

    def _next(self, worker_id: str) -> str | None:
        """Return the HIT free for a worker that most others have begun, or None if none is free.

        Only HITs that the worker has done are passed over.
        """
        for free_hits in reversed(self._free):
            for hit_id in free_hits:
                if worker_id not in self.busy[hit_id]:
                    return hit_id
        return None

    def _set_busy(self, hit_id: str, worker_id: str, *, is_busy: bool) -> None:
        """Note whether a worker is busy with a HIT, and for how many more it is free."""
        hit_workers = self.busy[hit_id]
        if len(hit_workers) < self.wanted:
            del self._free[len(hit_workers)][hit_id]
        if is_busy:
            hit_workers.add(worker_id)
        else:
            hit_workers.discard(worker_id)
        if len(hit_workers) < self.wanted:
            self._free[len(hit_workers)][hit_id] = None

    def _hit(self, named_hit: str) -> str | None:
        """The HIT of an id or of a number from 1."""
        hit_number = int(named_hit) if named_hit.isdecimal() and len(named_hit) < 10 else 0
        hit_id = self.hits[hit_number - 1] if 0 < hit_number <= len(self.hits) else named_hit
        return hit_id if hit_id in self else None
