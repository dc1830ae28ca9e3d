"""Which HIT goes to whom: each to as many workers as wanted, and back to the pool when they leave.

A worker is handed a HIT for some minutes; every visit begins them anew. Whoever hands in later is
taken all the same, and the HIT may then have one judgment more than wanted.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

Visit = tuple[str, str]
"""A worker's id and the id of the session in which a recruiting site sends them; "" for none."""


@dataclass(frozen=True)
class Handed:
    """A HIT that a worker has in hand, until a time in seconds of the clock that is used."""

    hit: str
    until: float


@dataclass
class HitPool:
    """The HITs of a batch. HITs that others have begun go first, so that whole rows come early.

    `wanted`: workers for each; `seconds`: after which a HIT that is not handed in goes back.
    """

    hits: Sequence[str]
    wanted: int
    seconds: float
    handed: dict[Visit, Handed] = field(default_factory=dict)
    done: dict[str, set[str]] = field(default_factory=dict)
    finished: dict[Visit, str] = field(default_factory=dict)
    """The HIT that each visit has handed in last."""
    _places: dict[str, int] = field(default_factory=dict)
    _out: dict[str, set[Visit]] = field(default_factory=dict)
    _free: list[tuple[int, int]] = field(default_factory=list)
    _ends: list[tuple[float, Visit]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._places = {hit: n for n, hit in enumerate(self.hits)}
        self._free = [(0, n) for n in range(len(self.hits))]

    def __contains__(self, hit: str) -> bool:
        return hit in self._places

    def give(self, visit: Visit, named: str, now: float) -> str | None:
        """The HIT of a visit: the one in hand, else the `named` one, else the next; None: no more.

        Nobody is handed a HIT twice. A named HIT that is full is replaced by another.
        """
        self.expire(now)
        before = self.handed.get(visit)
        hit = before.hit if before else self._named(visit, named) or self._next(visit)
        if hit:
            self.hand(visit, hit, now + self.seconds)
        return hit

    def hand(self, visit: Visit, hit: str, until: float) -> None:
        """Note that a visit has a HIT in hand, as on a restart."""
        if visit in self.handed and self.handed[visit].hit != hit:
            self.leave(visit)
        self.handed[visit] = Handed(hit, until)
        self._out.setdefault(hit, set()).add(visit)
        heapq.heappush(self._ends, (until, visit))
        self._changed(hit)

    def leave(self, visit: Visit) -> str | None:
        """Put the HIT of a visit back; its id, None where there was none."""
        had = self.handed.pop(visit, None)
        if had is None:
            return None
        self._out[had.hit].discard(visit)
        self._changed(had.hit)
        return had.hit

    def took(self, visit: Visit, hit: str) -> None:
        """Note that a worker has handed in a HIT."""
        self.done.setdefault(hit, set()).add(visit[0])
        for other in [v for v in self._out.get(hit, ()) if v == visit or v[0] == visit[0]]:
            self.leave(other)
        self.finished[visit] = hit
        self._changed(hit)

    def expire(self, now: float) -> None:
        """Put back what was in hand for too long."""
        while self._ends and self._ends[0][0] <= now:
            _, visit = heapq.heappop(self._ends)
            had = self.handed.get(visit)
            if had and had.until <= now:
                self.leave(visit)

    def load(self, hit: str) -> int:
        """How many workers have handed a HIT in or have it in hand."""
        return len(self.done.get(hit, ())) + len(self._out.get(hit, ()))

    def counts(self) -> dict[str, int]:
        """Progress: HITs and judgments, wanted and there."""
        given = [len(self.done.get(hit, ())) for hit in self.hits]
        return {
            "hits": len(self.hits),
            "hits_finished": sum(n >= self.wanted for n in given),
            "wanted": self.wanted * len(self.hits),
            "received": sum(given),
            "useful": sum(min(n, self.wanted) for n in given),
            "in_hand": len(self.handed),
        }

    def ended(self, visit: Visit, named: str) -> bool:
        """Whether a visit is the end of work that was handed in, loaded again.

        Who has no session of a recruiting site is at the end of the `named` HIT that they did, or
        else of the last one, unless another is in hand.
        """
        if visit not in self.finished or visit in self.handed:
            return False
        hit = self._hit(named)
        return bool(visit[1]) or hit is None or visit[0] in self.done.get(hit, ())

    def _hit(self, named: str) -> str | None:
        """The HIT of an id or of a number from 1."""
        number = int(named) - 1 if named.isdecimal() and len(named) < 10 else -1
        hit = self.hits[number] if 0 <= number < len(self.hits) else named
        return hit if hit in self else None

    def _named(self, visit: Visit, named: str) -> str | None:
        hit = self._hit(named)
        free = hit and self.load(hit) < self.wanted and self._may(visit, hit)
        return hit if free else None

    def _next(self, visit: Visit) -> str | None:
        passed, found = [], None
        while self._free and found is None:
            entry = heapq.heappop(self._free)
            hit = self.hits[entry[1]]
            if -entry[0] != self.load(hit) or self.load(hit) >= self.wanted:
                continue  # a newer entry says how many have it now, or there is none to be had
            passed.append(entry)
            if self._may(visit, hit):
                found = hit
        for entry in passed:
            heapq.heappush(self._free, entry)
        return found

    def _may(self, visit: Visit, hit: str) -> bool:
        has = visit[0] in self.done.get(hit, ())
        return not has and all(other[0] != visit[0] for other in self._out.get(hit, ()))

    def _changed(self, hit: str) -> None:
        if self.load(hit) < self.wanted:
            heapq.heappush(self._free, (-self.load(hit), self._places[hit]))
