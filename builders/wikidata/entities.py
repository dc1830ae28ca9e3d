"""Lines of the entity JSON as raw rows: what a dump says, with nothing inferred."""

import re
from collections.abc import Iterable

from msgspec import Raw

from factdrift.builders.core.hashing import text_sha256
from factdrift.builders.wikidata.claims import Claims, usable_rank
from factdrift.builders.wikidata.documents import JudgedClaim, read_document, read_judged, times
from factdrift.builders.wikidata.parts import RawEntity
from factdrift.builders.wikidata.quick import QuickReader
from factdrift.builders.wikidata.statements import shown

_COUNTED = {"item": "items", "property": "properties", "lexeme": "lexemes"}
"""What entities of a type are counted as."""


_DAY = re.compile(r"[0-9]{4}-[01][0-9]-[0-3][0-9]T")
EDITED = "edited/"
"""Before the day on which entities were last edited: how many were is counted so."""


class Rows(Claims):
    """Rows and counts of the entities that were read; `read` adds one line.

    `undated`: the relations whose undated statements are kept even where no dated one of the same
    subject stands beside them. `quick`: whether usual lines are decoded at one go.
    """

    def __init__(self, undated: Iterable[str], quick: bool = True) -> None:
        super().__init__()
        self._undated = frozenset(undated)
        self._quick = QuickReader(self._undated) if quick else None
        self.entities: list[RawEntity] = []

    def read(self, line: memoryview | bytes, number: int = 0) -> None:
        """Add one entity or redirect; `ValueError` where the line is neither.

        `number`: the place of the line in the dump; the later of two is the greater.
        """
        self.line = number
        found = self._quick.read(line) if self._quick else None
        document = found or read_document(line, self._undated)
        entity = document.entity
        if entity is not None:
            counted = _COUNTED.get(document.type, "other_entities")
            self.counts[counted] += 1
            if counted not in ("items", "properties"):
                return
            entity.line = number
            self.entities.append(entity)
            if _DAY.match(document.edited):
                self.counts[EDITED + document.edited[:10]] += 1
        for source, target in document.redirects:
            self.counts["redirects"] += 1
            self.entities.append(RawEntity(source, None, (), None, 0, 0, None, target))
        if entity is not None and document.type == "item":
            for relation, number in document.passed.items():
                self.counts[relation + "/undated"] += number
            for relation, group in document.groups.items():
                for raw in group:
                    self._claim(entity.id, relation, raw)

    def _claim(self, subject: str, relation: str, raw: Raw | JudgedClaim) -> None:
        try:
            judged = raw if isinstance(raw, JudgedClaim) else read_judged(raw)
        except ValueError as error:
            item = f"{subject}/{relation}"
            self.drop("malformed_statement", item, subject, relation, str(error))
            return
        reason = "deprecated" if judged.rank == "deprecated" else judged.reason
        if reason:
            self.counts[f"{relation}/{reason}"] += 1
            return
        rank = usable_rank(judged.rank)
        dates = times(judged.qualifiers) if judged.qualifiers else {}
        name = judged.id
        if not name:  # an id of what it says
            text = repr((subject, relation, judged.target, rank, shown(dates)))
            name = f"{subject}${text_sha256(text)[:32]}"
        self.claim(name, subject, relation, judged.target, rank, dates)
