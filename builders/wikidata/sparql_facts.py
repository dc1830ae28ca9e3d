"""From statements of answers to raw rows, judged and counted as those of a dump are."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from builders.dates import PartialDate
from builders.rows import Dropped
from builders.wikidata.parts import RawFact, write_part
from builders.wikidata.sparql_rows import Statement
from builders.wikidata.statements import UNDATED, Interval, Reason, coarse, intervals, shown


class Found:
    """Raw facts of one relation, what was dropped and what was counted.

    The same statement gives the same rows and counts as in `builders.wikidata.entities`.
    """

    def __init__(self, relation: str, keep_undated: bool) -> None:
        self.relation = relation
        self.keep_undated = keep_undated
        self.facts: list[RawFact] = []
        self.dropped: list[Dropped] = []
        self.counts: Counter[str] = Counter()

    @property
    def named(self) -> set[str]:
        """The items that the facts name."""
        return {item for fact in self.facts for item in (fact.subject, fact.object) if item}

    def add(self, statement: Statement) -> None:
        """Add one statement of an item."""
        self._count("statements")
        passed_over = _passed_over(statement)
        if passed_over:
            self._count(passed_over)
            return
        times = (statement.times["P580"], statement.times["P582"], statement.times["P585"])
        found: Sequence[Interval] | Reason = intervals(*times)
        if coarse(*times):
            self._count("coarse_time")
        if found == "undated":
            if not self.keep_undated:
                self._count("undated")
                return
            found = [UNDATED]
        if isinstance(found, str):
            self._drop(found, statement, f"start {shown(times[0])}, end {shown(times[1])}")
            return
        for interval in found:
            self.facts.append(self._fact(statement, interval))

    def write(self, parts: Path, name: str) -> None:
        """Write them all as one raw part."""
        write_part(parts, name, facts=self.facts, dropped=self.dropped, counts=self.counts)

    def _fact(self, statement: Statement, interval: Interval) -> RawFact:
        unknown: tuple[None, None] = (None, None)
        start: PartialDate | tuple[None, None] = interval.start or unknown
        end: PartialDate | tuple[None, None] = interval.end or unknown
        return RawFact(
            statement=statement.id,
            subject=statement.subject,
            relation=self.relation,
            object=statement.object,
            start_first=start[0],
            start_last=start[1],
            end_first=end[0],
            end_last=end[1],
            end_open=interval.end_open,
            point=interval.point,
            rank="preferred" if statement.rank == "preferred" else "normal",
            problem=None if statement.object else "unknown_value",
        )

    def _count(self, reason: str) -> None:
        self.counts[f"{self.relation}/{reason}"] += 1

    def _drop(self, reason: str, of: Statement, detail: str) -> None:
        place = (of.id, of.subject, self.relation)
        self.dropped.append(Dropped("mine", reason, *place, None, None, detail[:200]))


def _passed_over(statement: Statement) -> str | None:
    """Why a statement cannot be a fact, whatever its times."""
    if statement.rank == "deprecated":
        return "deprecated"
    if statement.kind == "novalue":
        return "novalue"
    return None if statement.object or statement.kind == "somevalue" else "not_an_item"
