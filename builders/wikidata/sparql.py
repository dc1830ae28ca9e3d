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

An endpoint that is edited all the time, as Wikidata's own, is read over hours, not at one moment:
the snapshot day is the day of the first request. For relations of many millions of statements
(P106, P27) or all of Wikidata, the dump is faster and kinder. Wikidata's query service has been
split: scholarly articles are at an endpoint of their own.
"""

import re
import shutil
from collections.abc import Iterable, Mapping
from datetime import date
from itertools import count
from pathlib import Path

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.http import RetryPolicy
from factdrift.builders.core.progress import progress
from factdrift.builders.wikidata.finish import MinedTables, finish
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
    statement_name,
    statements_query,
)
from factdrift.builders.wikidata.statements import StatementRows

WIKIDATA_ENDPOINT = "https://query.wikidata.org/sparql"
_PROPERTY = re.compile(r"P[1-9][0-9]*")


def mine_sparql(
    endpoint: str,
    out: Path,
    *,
    relations: Mapping[str, bool],
    user_agent: str | None,
    cache: Path,
    snapshot: date | str | None = None,
    page: int = 500,
    id_page: int = 50_000,
    policy: RetryPolicy | None = None,
    memory: str = "600MB",
) -> MinedTables:
    """Mine the facts of these relations from an endpoint that holds Wikidata's RDF.

    `relations`: property id to whether its undated statements are all kept; `user_agent`:
    whom the endpoint's operators can reach; `cache`: a folder where every answer is kept, so that
    a run that was cut off goes on and a finished one asks nothing again (an empty folder is a
    fresh start); `snapshot`: the day of the data, by default the day that the endpoint gives it;
    `page`: statements or entities asked about at once; `id_page`: ids listed at once; `memory`:
    DuckDB's limit.

    `UserError`: no contact in `user_agent`, no snapshot day, or the endpoint refuses or fails for
    longer than `policy` allows.
    """
    not_properties = sorted(relation for relation in relations if not _PROPERTY.fullmatch(relation))
    if not_properties:
        raise UserError(f"not property ids: {', '.join(not_properties)}", hint="write P54, P39, …")
    policy = policy or RetryPolicy()
    client = SparqlClient(endpoint, user_agent, policy)
    pager = Pager(client, cache, policy)
    work_folder = out / ".sparql"
    parts_folder = work_folder / "parts"
    try:
        shutil.rmtree(work_folder, ignore_errors=True)
        day = _day(pager) if snapshot is None else snapshot_day([], snapshot)
        entity_ids = set(relations)
        for relation in sorted(relations):
            entity_ids |= _mine(pager, relation, parts_folder, id_page, page)
        _describe(pager, entity_ids, parts_folder, page)
        kept_relations = [relation for relation, keep_undated in relations.items() if keep_undated]
        return finish(
            parts_folder,
            out,
            snapshot=day,
            undated=kept_relations,
            relations=tuple(relations),
            memory=memory,
            scratch=work_folder,
        )
    except KeyboardInterrupt:
        raise UserError("stopped", hint="run it again: it goes on from what it has") from None
    except OSError as error:
        raise UserError.of_disk(error, out) from error
    finally:
        shutil.rmtree(work_folder, ignore_errors=True)


def _day(pager: Pager) -> date:
    """The day of the endpoint's data; the first one given is kept in the cache."""
    days = [row["value"].value[:10] for row in pager.one(day_query())]
    try:
        return min(date.fromisoformat(day) for day in days)
    except ValueError:
        raise UserError(
            f"{pager.client.address} does not say of which day its data is",
            hint="pass the snapshot day, the day on which the endpoint's data was loaded",
        ) from None


def _mine(
    pager: Pager, relation: str, parts_folder: Path, id_page: int, page_size: int
) -> set[str]:
    """Write the parts of one relation, one a page of ids; the items that its facts name."""
    statement_count = int(pager.one(count_query(relation))[0]["value"].value)
    entity_ids: set[str] = set()
    with progress(statement_count, "statements", relation) as progress_bar:
        id_pages = pager.keyset(ids_query(relation), "statement", id_page, statement_count)
        for page_number, id_rows in enumerate(id_pages, 1):
            items_by_statement = {
                row["statement"].value: item_id(row["subject"].value) for row in id_rows
            }
            subjects = {
                statement_iri: item for statement_iri, item in items_by_statement.items() if item
            }
            statement_names = [statement_name(statement_iri) for statement_iri in subjects]
            page_rows = StatementRows()
            for answer_page in pager.batches(
                statements_query(relation), statement_names, page_size, "statement"
            ):
                read_statements(relation, subjects, answer_page.rows, page_rows)
                progress_bar.advance(len(answer_page.asked))
            packed_tables = pack_tables(page_rows.statements, (), page_rows.dropped)
            write_part(
                parts_folder,
                f"{relation}-{page_number:05}",
                [packed_tables],
                counts=page_rows.counts,
            )
            entity_ids.update(
                entity_id
                for statement in page_rows.statements
                for entity_id in (statement.subject, statement.object)
                if entity_id
            )
            progress_bar.advance(len(id_rows) - len(subjects))
    return entity_ids


def _describe(pager: Pager, entity_ids: Iterable[str], parts_folder: Path, page_size: int) -> None:
    """Write the parts of these entities, of their countries, and of what they redirect to."""
    described_ids: set[str] = set()
    waiting_ids, part_numbers = set(entity_ids), count()
    while waiting_ids:
        described_ids |= waiting_ids
        entity_names = [f"wd:{name}" for name in sorted(waiting_ids)]
        waiting_ids = set()
        with progress(len(entity_names), "entities", "names") as progress_bar:
            for answer_page in pager.batches(entities_query(), entity_names, page_size):
                entities = list(read_entities(answer_page.rows))
                write_part(
                    parts_folder,
                    f"entities-{next(part_numbers):07}",
                    [pack_tables(entities=entities)],
                )
                for entity in entities:
                    waiting_ids.update(
                        entity.countries, [entity.redirect] if entity.redirect else ()
                    )
                waiting_ids -= described_ids
                progress_bar.advance(len(answer_page.asked))
