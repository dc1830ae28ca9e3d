"""Lines of the entity JSON as raw rows: what a dump says, with nothing inferred."""

import hashlib
from collections import Counter
from collections.abc import Mapping
from datetime import date

from msgspec import Raw

from builders.rows import Dropped, Rank
from builders.wikidata.documents import (
    NO_QUALIFIERS,
    Qualifiers,
    Redirects,
    main_value,
    names,
    page_kind,
    read_document,
    read_statement,
    sitelinks,
    time_snaks,
)
from builders.wikidata.parts import RawEntity, RawFact
from builders.wikidata.statements import UNDATED, Interval, Reason, coarse, intervals, shown


class Rows:
    """Rows and counts of the entities that were read; `read` adds one line."""

    def __init__(self, relations: Mapping[str, bool]) -> None:
        self._relations = dict(relations)
        self._wanted = frozenset(relations)
        self.facts: list[RawFact] = []
        self.entities: list[RawEntity] = []
        self.dropped: list[Dropped] = []
        self.counts: Counter[str] = Counter()

    def read(self, line: memoryview | bytes) -> None:
        """Add one entity or redirect; `ValueError` where the line is neither."""
        document = read_document(line)
        name = document.id
        if not name:
            if not document.entity or not document.redirect:
                raise ValueError("no entity id")
            self._redirect(document.entity, document.redirect)
            return
        kind = document.type or {"Q": "item", "P": "property", "L": "lexeme"}.get(name[0], "")
        if kind not in ("item", "property"):
            self.counts["lexemes" if kind == "lexeme" else "other_entities"] += 1
            return
        claims = document.claims if isinstance(document.claims, dict) else {}
        links, title = sitelinks(document.sitelinks)
        label, aliases = names(document)
        count = sum(map(len, claims.values()))
        page = page_kind(claims.get("P31", ()))
        self.entities.append(RawEntity(name, label, aliases, title, links, count, page, None))
        self.counts["items" if kind == "item" else "properties"] += 1
        if isinstance(document.redirects, Redirects) and document.redirects.source:
            self._redirect(document.redirects.source, document.redirects.to or name)
        if kind == "item":
            for relation in self._wanted.intersection(claims):
                self.counts[f"{relation}/statements"] += len(claims[relation])
                for raw in claims[relation]:
                    self._claim(name, relation, raw)

    def _redirect(self, source: str, target: str) -> None:
        self.counts["redirects"] += 1
        self.entities.append(RawEntity(source, None, (), None, 0, 0, None, target))

    def _claim(self, subject: str, relation: str, raw: Raw) -> None:
        counts = self.counts
        try:
            statement = read_statement(raw)
            reason, target = main_value(statement.mainsnak)
        except ValueError as error:
            item = f"{subject}/{relation}"
            self._drop("malformed_statement", item, subject, relation, str(error))
            return
        if statement.rank == "deprecated":
            reason = "deprecated"
        if reason:
            counts[f"{relation}/{reason}"] += 1
            return
        given = statement.qualifiers
        times = given if isinstance(given, Qualifiers) else NO_QUALIFIERS
        found: list[Interval] | Reason = "undated"
        if times.P580 or times.P582 or times.P585:
            starts, ends = time_snaks(times.P580), time_snaks(times.P582)
            points = time_snaks(times.P585)
            found = intervals(starts, ends, points)
            if coarse(starts, ends, points):
                counts[f"{relation}/coarse_time"] += 1
        if found == "undated":
            if not self._relations[relation]:
                counts[f"{relation}/undated"] += 1
                return
            found = [UNDATED]
        rank: Rank = "preferred" if statement.rank == "preferred" else "normal"
        name = statement.id or _made_id(subject, relation, target, rank, times)
        if isinstance(found, str):
            seen = f"start {shown(starts)}, end {shown(ends)}"
            self._drop(found, name, subject, relation, seen)
            return
        problem = None if target else "unknown_value"
        for interval in found:
            self.facts.append(
                RawFact(name, subject, relation, target, *_days(interval), rank, problem)
            )

    def _drop(self, reason: str, item: str, subject: str, relation: str, detail: str) -> None:
        self.dropped.append(
            Dropped("mine", reason, item, subject, relation, None, None, detail[:200])
        )


def _days(
    interval: Interval,
) -> tuple[date | None, date | None, date | None, date | None, bool, bool]:
    start, end = interval.start or (None, None), interval.end or (None, None)
    return (*start, *end, interval.end_open, interval.point)


def _made_id(subject: str, relation: str, target: str | None, rank: str, times: Qualifiers) -> str:
    """An id for a statement that has none: a hash of what it says."""
    said = [
        [(s.snaktype, bytes(s.datavalue.value).decode() if s.datavalue else "") for s in side]
        for side in (times.P580, times.P582, times.P585)
    ]
    text = repr((subject, relation, target, rank, said))
    return f"{subject}${hashlib.sha256(text.encode()).hexdigest()[:32]}"
