"""From one statement to raw rows: judged and counted alike, whatever it was read from."""

from collections import Counter
from typing import Literal

from factdrift.builders.rows import Dropped, Rank
from factdrift.builders.wikidata.parts import RawStatement
from factdrift.builders.wikidata.statements import UNDATED, Times, held, shown, unusable


def usable_rank(rank: str | None) -> Rank:
    """The rank of a statement that is not deprecated: what is not preferred is normal."""
    return "preferred" if rank == "preferred" else "normal"


class Claims:
    """Raw rows of statements, what was dropped and what was counted (`P54/deprecated`)."""

    def __init__(self) -> None:
        self.statements: list[RawStatement] = []
        self.dropped: list[Dropped] = []
        self.counts: Counter[str] = Counter()
        self.line = 0
        """What is read now: the line of a dump, or 0."""

    def claim(
        self, name: str, subject: str, relation: str, target: str | None, rank: Rank, times: Times
    ) -> None:
        """Add a statement about an item, or about an unknown one where `target` is None.

        `name` is its id.
        """
        line = self.line
        if not times or not any(times.values()):
            raw = RawStatement(name, subject, relation, target, *UNDATED, rank, "undated", line)
            self.statements.append(raw)
            return
        if unusable(times):
            self.counts[f"{relation}/coarse_time"] += 1
        stated = held(times)
        for one in stated.intervals:
            raw = RawStatement(name, subject, relation, target, *one, rank, None, line)
            self.statements.append(raw)
        if stated.contradictory:
            self.drop("contradictory", name, subject, relation, shown(times))
            why: Literal["contradictory"] = "contradictory"
            raw = RawStatement(name, subject, relation, target, *UNDATED, rank, why, line)
            self.statements.append(raw)

    def drop(self, reason: str, name: str, subject: str, relation: str, detail: str) -> None:
        """Drop a statement, with at most 200 characters of why."""
        place = (name, subject, relation)
        self.dropped.append(Dropped("mine", reason, *place, None, None, detail[:200]))
