"""From statements of answers to raw rows, judged and counted as those of a dump are."""

from pathlib import Path

from builders.wikidata.claims import Claims, Times, usable_rank
from builders.wikidata.parts import write_part
from builders.wikidata.sparql_rows import Statement


class Found(Claims):
    """Raw facts of one relation, what was dropped and what was counted."""

    def __init__(self, relation: str, keep_undated: bool) -> None:
        super().__init__()
        self.relation = relation
        self.keep_undated = keep_undated

    @property
    def named(self) -> set[str]:
        """The items that the facts name."""
        return {item for fact in self.facts for item in (fact.subject, fact.object) if item}

    def add(self, statement: Statement) -> None:
        """Add one statement of an item."""
        self.counts[f"{self.relation}/statements"] += 1
        passed_over = _passed_over(statement)
        if passed_over:
            self.counts[f"{self.relation}/{passed_over}"] += 1
            return
        times = Times(*(statement.times[time] for time in ("P580", "P582", "P585")))
        self.claim(
            statement.id,
            statement.subject,
            self.relation,
            statement.object,
            usable_rank(statement.rank),
            times,
            keep_undated=self.keep_undated,
        )

    def write(self, parts: Path, name: str) -> None:
        """Write them all as one raw part."""
        write_part(parts, name, facts=self.facts, dropped=self.dropped, counts=self.counts)


def _passed_over(statement: Statement) -> str | None:
    """Why a statement cannot be a fact, whatever its times."""
    if statement.rank == "deprecated":
        return "deprecated"
    if statement.kind == "novalue":
        return "novalue"
    return None if statement.object or statement.kind == "somevalue" else "not_an_item"
