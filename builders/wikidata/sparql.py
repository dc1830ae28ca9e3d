"""Facts from a SPARQL endpoint: the same tables as from a dump, without the dump.

What Wikibase's RDF does not keep, and this route therefore cannot give back:

- an impossible day is gone: 30 February has become the last of the month, and a day or month of
  0 under a precision of a day has become 01, so a date that the dump route takes as unreadable or
  as a whole month or year is one day here;
- counts of statements and sitelinks are page properties, which can be a few edits behind;
- statements have no order: of an object that is two kinds of wiki page, another kind may be named;
- nor has an unknown value a type: of a relation whose values are no items, which a dump passes
  over as such, the unknown ones become gaps;
- a statement id that two items share (there are none by Wikibase's rules) would be one statement.

Two roads lead to the same rows. Careful pages ask for what one request of Wikidata's own service
can bear; of engines that answer large queries a whole relation is asked at once (`ENDPOINTS`).

An endpoint that is edited all the time, as Wikidata's own, is read over hours, not at one moment:
the snapshot day is the day of the first request. For relations of many millions of statements
(P106, P27) or all of Wikidata, the dump is faster and kinder. Wikidata's query service has been
split: scholarly articles are at an endpoint of their own.
"""

import re
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import count, islice
from pathlib import Path
from typing import Literal, NamedTuple

from factdrift.builders.core.addresses import parse_address
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.http import RetryPolicy
from factdrift.builders.core.progress import progress
from factdrift.builders.wikidata.documents import SUBCLASS
from factdrift.builders.wikidata.finish import MinedTables, finish, write_named_items
from factdrift.builders.wikidata.parts import pack_tables, write_part
from factdrift.builders.wikidata.shards import snapshot_day
from factdrift.builders.wikidata.sparql_client import Pager, SparqlClient
from factdrift.builders.wikidata.sparql_rows import (
    count_query,
    day_query,
    entities_query,
    ids_query,
    item_id,
    read_entities,
    read_statements,
    read_superclasses,
    statement_name,
    statements_of_subjects_query,
    statements_query,
)
from factdrift.builders.wikidata.sparql_whole import WholeAnswers
from factdrift.builders.wikidata.statements import StatementRows

_PROPERTY = re.compile(r"P[1-9][0-9]*")
RoadName = Literal["auto", "pages", "whole"]
_NAMES_AT_ONCE = 100_000
"""Names of items in memory at a time; many pages of any size."""


class Road(NamedTuple):
    """How an endpoint is asked: in careful `pages`, or for `whole` relations.

    `page`: statements or entities in one request; `timeout`: seconds to wait for an answer to
    begin; `seconds`: what a request takes as a rule, for an estimate.
    """

    name: RoadName
    page: int
    timeout: float
    seconds: float


PAGES = Road("pages", 500, 75.0, 1.0)
"""A page of 500 takes Wikidata's service, which ends a query after 60 seconds, about one."""
WHOLE = Road("whole", 5_000, 600.0, 15.0)
"""An engine that joins whole predicates takes seconds for any number of rows; then it sends."""
ENDPOINTS: Mapping[str, Road] = {
    "query.wikidata.org": PAGES,
    "query-main.wikidata.org": PAGES,
    "qlever.dev": WHOLE,
    "qlever.cs.uni-freiburg.de": WHOLE,
}
"""The road of each host that is known; any other is asked in pages unless told otherwise."""


def choose_road(endpoint: str, road: RoadName = "auto") -> Road:
    """Return the road that is named, or with `auto` the one that suits the endpoint's host."""
    if road == "auto":
        return ENDPOINTS.get(parse_address(endpoint).host, PAGES)
    return WHOLE if road == "whole" else PAGES


def mine_sparql(
    endpoint: str,
    out: Path,
    *,
    relations: Mapping[str, bool],
    user_agent: str | None,
    cache: Path,
    classes: bool = False,
    snapshot: date | str | None = None,
    road: RoadName = "auto",
    page: int | None = None,
    id_page: int = 50_000,
    minutes: float | None = None,
    policy: RetryPolicy | None = None,
    memory: str = "600MB",
    say: Callable[[str], None] = lambda text: None,
) -> MinedTables:
    """Mine the facts of these relations from an endpoint that holds Wikidata's RDF.

    `relations`: property id to whether its undated statements are all kept; `user_agent`:
    whom the endpoint's operators can reach; `cache`: a folder where every answer is kept, so that
    a run that was cut off goes on and a finished one asks nothing again (an empty folder is a
    fresh start); `classes`: also ask what the named items and their classes are subclasses of;
    `snapshot`: the day of the data, by default the day that the endpoint gives it; `road`: how it
    is asked, with `auto` as its host is known to like it; `page`: statements or entities asked
    about at once; `id_page`: ids listed at once; `minutes`: ask nothing more after so long;
    `memory`: DuckDB's limit; `say` receives messages for the user.

    `UserError`: no contact in `user_agent`, no snapshot day, more requests than `minutes` can hold,
    or the endpoint refuses or fails for longer than `policy` allows.
    """
    not_properties = sorted(relation for relation in relations if not _PROPERTY.fullmatch(relation))
    if not_properties:
        raise UserError(f"not property ids: {', '.join(not_properties)}", hint="write P54, P39, …")
    chosen_road = choose_road(endpoint, road)
    policy = policy or replace(RetryPolicy(), timeout=chosen_road.timeout)
    client = SparqlClient(endpoint, user_agent, policy, minutes)
    work_folder = out / ".sparql"
    kept_relations = [relation for relation, keep_undated in relations.items() if keep_undated]
    mining = _Mining(
        pager=Pager(client, cache, policy),
        whole=WholeAnswers(client, cache, policy, work_folder / "spill", memory),
        road=chosen_road if page is None else chosen_road._replace(page=page),
        id_page=id_page,
        work_folder=work_folder,
        classes=classes,
    )
    try:
        shutil.rmtree(work_folder, ignore_errors=True)
        day = mining.day() if snapshot is None else snapshot_day([], snapshot)
        statement_counts = {relation: mining.count(relation) for relation in sorted(relations)}
        say(f"  {_planned(mining, statement_counts, minutes)}")
        for relation, statement_count in statement_counts.items():
            mining.mine_relation(relation, statement_count)
        mining.describe(sorted(relations), kept_relations, memory)
        say(f"  {client.requests:,} requests were made")
        partial = [SUBCLASS] if classes else []
        return finish(
            mining.parts_folder,
            out,
            snapshot=day,
            undated=[*kept_relations, *partial],
            relations=(*relations, *partial),
            partial=partial,
            memory=memory,
            scratch=work_folder,
        )
    except KeyboardInterrupt:
        raise UserError("stopped", hint="run it again: it goes on from what it has") from None
    except OSError as error:
        raise UserError.of_disk(error, out) from error
    finally:
        shutil.rmtree(work_folder, ignore_errors=True)


def _planned(mining: "_Mining", statement_counts: Mapping[str, int], minutes: float | None) -> str:
    """Say how many requests it will take; `UserError` where `minutes` cannot hold them."""
    road = mining.road
    request_counts = {
        relation: mining.requests_for(statement_count)
        for relation, statement_count in statement_counts.items()
    }
    for_statements, statement_count = (sum(request_counts.values()), sum(statement_counts.values()))
    # A statement names two items. Many statements name the same ones, which are asked about once;
    # countries and classes come on top.
    for_items = 2 * -(-statement_count // road.page) + 1
    likely_minutes = for_statements * road.seconds / 60
    if minutes is not None and likely_minutes > minutes:
        largest = max(request_counts, key=lambda relation: request_counts[relation])
        raise UserError(
            f"{for_statements:,} requests for {statement_count:,} statements take about "
            f"{likely_minutes:,.0f} minutes, more than the {minutes:g} allowed",
            where=mining.pager.client.address,
            hint=f"leave out {largest} ({statement_counts[largest]:,} statements), or allow more: "
            "--minutes; what was answered is kept",
        )
    limit_text = "" if minutes is None else f"; no request after {minutes:g} minutes"
    return (
        f"{mining.pager.client.address} ({road.name}): {statement_count:,} statements of "
        f"{len(statement_counts)} relations: {for_statements:,} more requests for them, and about "
        f"{for_items:,} for what they name{limit_text}"
    )


@dataclass
class _Mining:
    """What one run asks an endpoint for, and the parts that it writes."""

    pager: Pager
    whole: WholeAnswers
    road: Road
    id_page: int
    work_folder: Path
    classes: bool

    def __post_init__(self) -> None:
        self.parts_folder = self.work_folder / "parts"
        self._part_numbers = count()
        self._subclasses: set[str] = set()

    def day(self) -> date:
        """The day of the endpoint's data; the first one given is kept in the cache."""
        updated_days: list[str] = []
        modified_days: list[str] = []
        for row in self.pager.one(day_query()):
            days = updated_days if row["source"].value == "updates" else modified_days
            days.append(row["value"].value[:10])
        try:
            # Of several dumps that were loaded, what the oldest says may be old.
            return max(map(date.fromisoformat, [*sorted(modified_days)[:1], *updated_days]))
        except ValueError:
            raise UserError(
                f"{self.pager.client.address} does not say of which day its data is",
                hint="pass the snapshot day, the day on which the endpoint's data was loaded",
            ) from None

    def count(self, relation: str) -> int:
        """The number of statements of a relation."""
        return int(self.pager.one(count_query(relation))[0]["value"].value)

    def requests_for(self, statement_count: int) -> int:
        """The requests for so many statements of a relation, if no answer is too large."""
        if self.road.name == "whole":
            return 1
        # the last page of ids is empty
        return -(-statement_count // self.id_page) + 1 + -(-statement_count // self.road.page)

    def mine_relation(self, relation: str, statement_count: int) -> None:
        """Write the parts of one relation."""
        if self.road.name == "pages":
            self._mine_pages(relation, statement_count)
            return
        for chunk_number, chunk in enumerate(self.whole.chunks(relation, statement_count), 1):
            subjects = _items_of(chunk.subjects)
            item_rows = (row for row in chunk.rows if row["statement"].value in subjects)
            chunk_rows = StatementRows()
            read_statements(relation, subjects, item_rows, chunk_rows)
            self._write_statements(f"{relation}-{chunk_number:05}", chunk_rows)

    def _mine_pages(self, relation: str, statement_count: int) -> None:
        """Write the parts of one relation, one a page of ids."""
        with progress(statement_count, "statements", relation) as progress_bar:
            id_pages = self.pager.keyset(
                ids_query(relation), "statement", self.id_page, statement_count
            )
            for page_number, id_rows in enumerate(id_pages, 1):
                subjects = _items_of(
                    {row["statement"].value: row["subject"].value for row in id_rows}
                )
                statement_names = [statement_name(statement_iri) for statement_iri in subjects]
                page_rows = StatementRows()
                for answer_page in self.pager.batches(
                    statements_query(relation), statement_names, self.road.page, "statement"
                ):
                    read_statements(relation, subjects, answer_page.rows, page_rows)
                    progress_bar.advance(len(answer_page.asked))
                self._write_statements(f"{relation}-{page_number:05}", page_rows)
                progress_bar.advance(len(id_rows) - len(subjects))

    def _write_statements(self, part_name: str, statement_rows: StatementRows) -> None:
        packed_tables = pack_tables(statement_rows.statements, (), statement_rows.dropped)
        write_part(self.parts_folder, part_name, [packed_tables], counts=statement_rows.counts)

    def describe(
        self, relations: Sequence[str], kept_relations: Collection[str], memory: str
    ) -> None:
        """Write the parts of what the relations' statements name, and of these properties.

        So are those of the countries of what is named, of what redirects lead to, and with
        `classes` of the classes and of all that is above them.
        """
        items_file = self.work_folder / "named.csv"
        item_count = write_named_items(
            self.parts_folder, items_file, undated=kept_relations, memory=memory
        )
        more_ids: set[str] = set()
        with progress(item_count + len(relations), "entities", "names") as progress_bar:
            for entity_ids in _read_names(relations, items_file):
                more_ids |= self._describe_ids(entity_ids, progress_bar.advance, is_named=True)
        described_ids: set[str] = set()
        while more_ids:
            described_ids |= more_ids
            with progress(len(more_ids), "entities", "more names") as progress_bar:
                more_ids = self._describe_ids(sorted(more_ids), progress_bar.advance)
            more_ids -= described_ids
        if self.classes:
            self._mine_subclasses()

    def _describe_ids(
        self, entity_ids: Sequence[str], advance: Callable[[int], None], is_named: bool = False
    ) -> set[str]:
        """Write the parts of these entities; return the ids that have to be described for them.

        Classes count for the classes of what is named, not for those of classes.
        """
        more_ids: set[str] = set()
        entity_names = [f"wd:{entity_id}" for entity_id in entity_ids]
        for answer_page in self.pager.batches(
            entities_query(self.classes), entity_names, self.road.page
        ):
            entities = list(read_entities(answer_page.rows))
            write_part(
                self.parts_folder,
                f"entities-{next(self._part_numbers):07}",
                [pack_tables(entities=entities)],
            )
            for entity in entities:
                more_ids.update(entity.countries, [entity.redirect] if entity.redirect else ())
                if self.classes and is_named:
                    more_ids.update(entity.classes)
            for subclass, superclass in read_superclasses(answer_page.rows):
                self._subclasses.add(subclass)
                more_ids.add(superclass)
            advance(len(answer_page.asked))
        return more_ids

    def _mine_subclasses(self) -> None:
        """Write the parts of what the described items are subclasses of."""
        subject_names = [f"wd:{entity_id}" for entity_id in sorted(self._subclasses)]
        query = statements_of_subjects_query(SUBCLASS)
        for answer_page in self.pager.batches(query, subject_names, self.road.page):
            subjects = _items_of(
                {row["statement"].value: row["subject"].value for row in answer_page.rows}
            )
            page_rows = StatementRows()
            read_statements(SUBCLASS, subjects, answer_page.rows, page_rows)
            self._write_statements(f"{SUBCLASS}-{next(self._part_numbers):07}", page_rows)


def _items_of(subject_iris: Mapping[str, str]) -> dict[str, str]:
    """The items among the subjects of statements, by the IRI of the statement."""
    subjects = {iri: item_id(subject_iri) for iri, subject_iri in subject_iris.items()}
    return {iri: item for iri, item in subjects.items() if item}


def _read_names(relations: Iterable[str], items_file: Path) -> Iterator[list[str]]:
    """Yield the ids of properties, then those in a file, some at a time; P is before Q."""
    with items_file.open(encoding="utf-8") as lines:
        names = (name for source in (relations, map(str.rstrip, lines)) for name in source)
        while some_names := list(islice(names, _NAMES_AT_ONCE)):
            yield some_names
