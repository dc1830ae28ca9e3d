"""From one statement to raw facts: judged and counted alike, whatever it was read from."""

from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from builders.rows import Dropped, Rank
from builders.wikidata.parts import RawFact
from builders.wikidata.statements import UNDATED, Interval, Reason, Snak, coarse, intervals, shown


class Times(NamedTuple):
    """The time qualifiers of a statement: P580, P582, P585."""

    starts: Sequence[Snak] = ()
    ends: Sequence[Snak] = ()
    points: Sequence[Snak] = ()


NO_TIMES = Times()


def usable_rank(rank: str | None) -> Rank:
    """The rank of a statement that is not deprecated: what is not preferred is normal."""
    return "preferred" if rank == "preferred" else "normal"


class Claims:
    """Raw facts of statements, what was dropped and what was counted (`P54/undated`)."""

    def __init__(self) -> None:
        self.facts: list[RawFact] = []
        self.dropped: list[Dropped] = []
        self.counts: Counter[str] = Counter()

    def claim(
        self,
        name: str,
        subject: str,
        relation: str,
        target: str | None,
        rank: Rank,
        times: Times,
        *,
        keep_undated: bool,
    ) -> None:
        """Add a statement about an item, or about an unknown one where `target` is None.

        `name` is its id. An undated statement is kept as one open interval, or counted.
        """
        found: Sequence[Interval] | Reason = "undated"
        if any(times):
            found = intervals(*times)
            if coarse(*times):
                self.counts[f"{relation}/coarse_time"] += 1
        if found == "undated":
            if not keep_undated:
                self.counts[f"{relation}/undated"] += 1
                return
            found = [UNDATED]
        if isinstance(found, str):
            seen = f"start {shown(times.starts)}, end {shown(times.ends)}"
            self.drop(found, name, subject, relation, seen)
            return
        problem = None if target else "unknown_value"
        for one in found:
            self.facts.append(RawFact(name, subject, relation, target, *_days(one), rank, problem))

    def drop(self, reason: str, name: str, subject: str, relation: str, detail: str) -> None:
        """Drop a statement, with at most 200 characters of why."""
        place = (name, subject, relation)
        self.dropped.append(Dropped("mine", reason, *place, None, None, detail[:200]))


def _days(
    interval: Interval,
) -> tuple[date | None, date | None, date | None, date | None, bool, bool]:
    start, end = interval.start or (None, None), interval.end or (None, None)
    return (*start, *end, interval.end_open, interval.point)
