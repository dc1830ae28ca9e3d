"""The histories behind a row: the terms of a subject and relation, their statements, and lives.

Terms are the segments of a timeline, from the release where it has timelines and else from the
build folder. Statements are those of the dump as they were mined, also those that are no facts.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, Literal, NamedTuple

import duckdb

from factdrift.builders import rows
from factdrift.builders.core.schema import arrow_schema
from factdrift.builders.facts.intervals import DATES, Certainty, Interval
from factdrift.builders.facts.relations import property_of
from factdrift.builders.release.manifest import Manifest, locate_file
from factdrift.builders.release.why.lookup import Values, matching_rows
from factdrift.builders.release.why.tables import ENTITIES, STATEMENTS, BuildTables

Holds = Literal["surely", "perhaps", "not"]
"""Whether something held at the time that a row asks about."""
HOLDS: Sequence[Holds] = ("surely", "perhaps", "not")
"""From the best to the worst."""
_HOLDS: Mapping[Certainty, Holds] = {
    Certainty.CERTAIN: "surely",
    Certainty.POSSIBLE: "perhaps",
    Certainty.NO: "not",
}
MOST_ROWS = 500
"""Terms or statements of one subject and relation that are read: the longest real histories, such
as the members of a large group, have some hundreds."""
_SEGMENT_COLUMNS = set(arrow_schema(rows.Segment).names) - {"stale_until"}


class FactPair(NamedTuple):
    """A subject and a relation, `P54-club` or the property."""

    subject: str
    relation: str


@dataclass(frozen=True)
class AskedTime:
    """The days that a row asks about; None is no limit. `words` is how the row writes them."""

    first: date | None
    last: date | None
    words: str

    @property
    def is_one_day(self) -> bool:
        """Whether it is a single day."""
        return self.first is not None and self.first == self.last

    def holds(self, term: "Term") -> Holds:
        """Whether a term held on some day of this time."""
        certainty = term.interval.holds_within(self.first or date.min, self.last or date.max)
        return _HOLDS[certainty]


@dataclass(frozen=True)
class Term:
    """One stretch in which an object held. `holds` is null where no time is asked about."""

    object: str
    object_label: str
    start_first: date | None
    start_last: date | None
    end_first: date | None
    end_last: date | None
    end_open: bool
    end_inferred: bool
    rival: bool
    stale_until: date | None
    snapshot: date | None
    statements: tuple[str, ...]
    holds: Holds | None = None
    page: Mapping[str, Any] = field(default_factory=dict)
    """Where the page of the subject names it, of a release with pages (TimeQA)."""

    @property
    def interval(self) -> Interval[date]:
        """The days on which it may have begun and ended."""
        boundaries = (self.start_first, self.start_last, self.end_first, self.end_last)
        return Interval(*boundaries, doubtful=self.rival, is_open=self.end_open)


@dataclass(frozen=True)
class DumpStatement:
    """One interval of a statement, as dumps of these days state it."""

    statement: str
    subject: str
    relation: str
    """The property; a row's relation may be a part of it, as `P54-club`."""
    object: str | None
    object_label: str
    start_first: date | None
    start_last: date | None
    end_first: date | None
    end_last: date | None
    end_open: bool
    sighting: bool
    rank: str
    reason: str | None
    """Why it is no fact but a gap, or nothing; null: it is a fact."""
    snapshots: tuple[date, ...]

    @property
    def interval(self) -> Interval[date]:
        """The days on which it may have begun and ended; without any date it may be at any time."""
        boundaries = (self.start_first, self.start_last, self.end_first, self.end_last)
        return Interval(*boundaries, doubtful=self.reason is not None, is_open=self.end_open)


@dataclass(frozen=True)
class Life:
    """When an item began and ended, and what it is."""

    item: str
    label: str
    description: str | None
    began_first: date | None
    began_last: date | None
    ended_first: date | None
    ended_last: date | None


@dataclass(frozen=True)
class FactHistory:
    """What is known of one subject and relation."""

    subject: str
    subject_label: str
    relation: str
    relation_label: str
    address: str
    terms: tuple[Term, ...]
    terms_from: str
    """Where the terms are from: a config of the release, a table of the build, or nowhere."""
    statements: tuple[DumpStatement, ...]
    lives: tuple[Life, ...]
    rules: tuple[str, ...]
    """The rules of time of the relation's template, in words."""
    has_source: bool = True
    """Whether there are tables that would have its terms or statements."""

    @property
    def pair(self) -> FactPair:
        """The subject and the relation."""
        return FactPair(self.subject, self.relation)

    @property
    def is_known(self) -> bool:
        """Whether anything is stated of them, or nobody could tell it."""
        return bool(self.terms or self.statements) or not self.has_source


class HistoryReader:
    """Reads histories from a release and, where it lacks them, from the tables of its build."""

    def __init__(
        self,
        db: duckdb.DuckDBPyConnection,
        release_folder: Path,
        release_manifest: Manifest,
        build: BuildTables,
    ) -> None:
        self._db, self._build = db, build
        self._release_tables: list[tuple[str, Path]] = []
        for config in release_manifest.configs:
            if {column.name for column in config.columns} >= _SEGMENT_COLUMNS:
                for split in config.splits:
                    table_path = locate_file(release_folder, split.file)
                    self._release_tables.append((f"{config.name}/{split.name}", table_path))
        self._entities: dict[str, Values] = {}
        self._labels: dict[str, str] = {}
        self.row_labels: Mapping[str, str] = {}
        """Labels that the row itself has, for items that no table names."""

    @property
    def has_statements(self) -> bool:
        """Whether there is a mined dump."""
        return bool(self._build.mined)

    def label(self, item: str | None) -> str:
        """Return the label of an item; empty where none is known."""
        return self.stated_label(item) or self.row_labels.get(item or "", "")

    def stated_label(self, item: str | None) -> str:
        """Return the label of an item that the dump or the release's timelines have."""
        return str(self._entity(item).get("label") or self._labels.get(item, "")) if item else ""

    def stated_names(self, item: str) -> set[str]:
        """Return the label and the aliases of an item in the dump; none where it is not there."""
        entity = self._entity(item)
        return {*filter(None, (entity.get("label"), *(entity.get("aliases") or ())))}

    def pairs_of(self, statement_ids: Sequence[str]) -> list[FactPair]:
        """Return the subjects and relations of statements, as far as the tables know them."""
        wanted_ids = list(statement_ids)
        pairs: dict[FactPair, None] = {}
        covered_ids: set[str] = set()
        for _, table_path in self._segment_tables():
            sql_test = "list_has_any(statements, ?)"
            for row_values in matching_rows(
                self._db, table_path, sql_test, [wanted_ids], MOST_ROWS
            ):
                if not covered_ids.issuperset({*row_values["statements"]} & {*wanted_ids}):
                    covered_ids.update(row_values["statements"])
                    pairs[FactPair(row_values["subject"], row_values["relation"])] = None
        for mined in self._build.mined:
            open_ids = [name for name in wanted_ids if name not in covered_ids]
            sql_test = "list_contains(?, statement)"
            for row_values in matching_rows(
                self._db, mined / STATEMENTS, sql_test, [open_ids], MOST_ROWS
            ):
                covered_ids.add(row_values["statement"])
                pairs[FactPair(row_values["subject"], row_values["relation"])] = None
        return list(pairs)

    def history(
        self,
        pair: FactPair,
        asked_time: AskedTime | None,
        rules: tuple[str, ...],
        mined_count: int = 1,
    ) -> FactHistory:
        """Return what is known of a subject and relation.

        `mined_count` is how many dumps are asked for their statements, the newest first.
        """
        terms, table_name = self._terms(pair, asked_time)
        statements = self._statements(pair, mined_count)
        items = [pair.subject, *(term.object for term in terms if term.holds in ("surely", None))]
        lives = [life for item in dict.fromkeys(items) if (life := self._life(item))]
        return FactHistory(
            subject=pair.subject,
            subject_label=self.label(pair.subject),
            relation=pair.relation,
            relation_label=self.label(pair.relation) or self.label(property_of(pair.relation)),
            address=item_address(pair.subject, pair.relation),
            terms=tuple(terms),
            terms_from=table_name,
            statements=tuple(statements),
            lives=tuple(lives[:_LIVES_SHOWN]),
            rules=rules,
            has_source=self.has_statements or bool(self._release_tables),
        )

    def terms_with_ids(self, ids: Collection[str]) -> list[Values]:
        """Return the rows of the release's timelines with these ids."""
        found_rows: list[Values] = []
        for _, table_path in self._release_tables:
            found_rows += matching_rows(
                self._db, table_path, "list_contains(?, id)", [list(ids)], MOST_ROWS
            )
        return found_rows

    def _segment_tables(self) -> Iterable[tuple[str, Path]]:
        yield from self._release_tables
        for table_path in self._build.segment_tables:
            yield f"{table_path.parent.name}/{table_path.name}", table_path

    def _terms(self, pair: FactPair, asked_time: AskedTime | None) -> tuple[list[Term], str]:
        for table_name, table_path in self._segment_tables():
            sql_test = "subject = ? AND relation = ?"
            segments = matching_rows(self._db, table_path, sql_test, [*pair], MOST_ROWS)
            if segments:
                terms = [self._term(row_values) for row_values in segments]
                if asked_time is not None:
                    terms = [replace(term, holds=asked_time.holds(term)) for term in terms]
                return sorted(terms, key=_term_order), table_name
        return [], ""

    def _term(self, row_values: Values) -> Term:
        label = row_values.get("object_label")
        self._labels |= {
            row_values["subject"]: row_values.get("subject_label") or "",
            row_values["object"]: label or "",
            row_values["relation"]: row_values.get("relation_label") or "",
        }
        page_columns = ("rule", "mention", "paragraph", "start_stated", "end_stated")
        has_page = "rule" in row_values
        return Term(
            object=row_values["object"],
            object_label=label or self.label(row_values["object"]),
            **{name: row_values[name] for name in DATES},
            end_open=row_values["end_open"],
            end_inferred=row_values["end_inferred"],
            rival=row_values["rival"],
            stale_until=row_values.get("stale_until"),
            snapshot=row_values.get("snapshot"),
            statements=tuple(row_values["statements"]),
            page={name: row_values[name] for name in page_columns} if has_page else {},
        )

    def _statements(self, pair: FactPair, mined_count: int) -> list[DumpStatement]:
        by_content: dict[tuple[Any, ...], DumpStatement] = {}
        property_id = property_of(pair.relation)
        sql_test = "subject = ? AND relation = ?"
        for mined in self._build.mined[:mined_count]:
            parameters = [pair.subject, property_id]
            for row_values in matching_rows(
                self._db, mined / STATEMENTS, sql_test, parameters, MOST_ROWS
            ):
                content = tuple(
                    value for name, value in row_values.items() if name not in ("snapshot", "kind")
                )
                known_statement = by_content.get(content)
                days = (
                    *(known_statement.snapshots if known_statement else ()),
                    row_values["snapshot"],
                )
                by_content[content] = self._statement(row_values, tuple(sorted({*days})))
        return sorted(by_content.values(), key=_statement_order)

    def _statement(self, row_values: Values, snapshots: tuple[date, ...]) -> DumpStatement:
        return DumpStatement(
            statement=row_values["statement"],
            subject=row_values["subject"],
            relation=row_values["relation"],
            object=row_values["object"],
            object_label=self.label(row_values["object"]),
            **{name: row_values[name] for name in DATES},
            end_open=row_values["end_open"],
            sighting=row_values["sighting"],
            rank=row_values["rank"],
            reason=row_values["reason"],
            snapshots=snapshots,
        )

    def _life(self, item: str) -> Life | None:
        entity = self._entity(item)
        if not entity:
            return None
        day_columns = ("began_first", "began_last", "ended_first", "ended_last")
        days = {name: entity[name] for name in day_columns}
        return Life(
            item=item, label=self.label(item), description=entity.get("description"), **days
        )

    def _entity(self, item: str) -> Values:
        if item not in self._entities:
            entity: Values = {}
            for mined in self._build.mined:
                matches = matching_rows(self._db, mined / ENTITIES, "id = ?", [item], 1)
                if matches:
                    entity = matches[0]
                    break
            self._entities[item] = entity
        return self._entities[item]


_LIVES_SHOWN = 12
"""Lives of a history: of the subject, and of what held at the time asked about."""


_FIRST_MADE_UP = 900_000_000
"""The number from which items of the samples are not those of Wikidata, which had given out less
than a fifth of it by 2026."""


def item_address(item: str, relation: str = "") -> str:
    """Return the page of an item on Wikidata, at the property of a relation; "" if it has none."""
    if item.startswith("Q") and item[1:].isdecimal() and int(item[1:]) >= _FIRST_MADE_UP:
        return ""
    fragment = f"#{property_of(relation)}" if relation else ""
    return f"https://www.wikidata.org/wiki/{item}{fragment}"


def _term_order(term: Term) -> tuple[date, date, str]:
    start = term.start_first or term.start_last or date.min
    end = term.end_last or term.end_first or date.max
    return start, end, term.object


def _statement_order(statement: DumpStatement) -> tuple[date, str, str]:
    start = statement.start_first or statement.start_last or date.min
    return start, statement.statement, str(statement.snapshots)
