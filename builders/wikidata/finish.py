"""From raw parts to the tables of one snapshot; the last step of both routes, dump and SPARQL.

Everything is SQL on DuckDB, which spills what does not fit: labels of 100 million entities
never stand in memory. The bytes of the tables depend on the rows alone, not on how these were
spread over parts, nor on the number of threads.
"""

import json
import re
import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import date, timedelta
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import duckdb

from factdrift.builders.core import duck
from factdrift.builders.core.dates import PartialDate
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import fresh_folder
from factdrift.builders.core.hashing import file_sha256
from factdrift.builders.core.schema import ROW_GROUP
from factdrift.builders.core.seals import sealed, unsealed
from factdrift.builders.rows import Dropped, Entity, Statement
from factdrift.builders.wikidata.documents import DEPRECATED, EDITED_PREFIX
from factdrift.builders.wikidata.parts import RawEntity, RawStatement, read_parts

_WRITING = timedelta(days=7)
"""A dump is named by the day on which its writing began, and is edited meanwhile."""
_PLANNED = 10
"""So many starts, or one in a hundred, may be after the day of a dump: what is planned."""
_CHECKSUMS = "sha256"
"""The key of the sha256 of the tables in `mined.json`, which goes wherever the tables go."""
LOOKED_UP = "looked-up.parquet"
"""The table of ids that were looked up, and of the objects of deprecated statements: `id`, its last
`target` over redirects, whether that is `present` in the dump, its `label` and `aliases`."""
PARTIAL = "partial"
"""The key, in `mined.json`, of properties that were mined of what other statements name alone."""
TABLES = ("statements.parquet", "entities.parquet", "dropped.parquet", "mined.json")


_LONGEST = 4 << 20
"""Bytes of the longest raw row; DuckDB has two buffers of this size a thread."""
_SQL: dict[object, str] = {
    int: "BIGINT",
    float: "DOUBLE",
    bool: "BOOLEAN",
    date: "DATE",
    PartialDate: "DATE[]",
}
_IDS = frozenset({"subject", "relation", "object", "id"})
_STATEMENT, _ENTITY, _DROPPED = (
    [field.name for field in fields(row)] for row in (Statement, Entity, Dropped)
)


@dataclass(frozen=True)
class MinedTables:
    """The tables of one snapshot, and what was counted: the content of `mined.json`."""

    statements: Path
    entities: Path
    dropped: Path
    summary: Path
    snapshot: date
    counts: Mapping[str, Any]


def finish(
    parts_folder: Path,
    out: Path,
    *,
    snapshot: date,
    undated: Collection[str],
    relations: Collection[str] | None = None,
    partial: Collection[str] = (),
    memory: str = "600MB",
    threads: int = 2,
    scratch: Path | None = None,
    looked_up: Path | None = None,
) -> MinedTables:
    """Make the tables of one snapshot from raw parts (`builders.wikidata.parts.write_part`).

    Redirects are resolved. A statement that is no fact keeps its row, with the reason: its subject
    or object has no label, its object is unknown or a page of a wiki (category, disambiguation,
    template, list), it contradicts itself, or it is undated beside a dated one of its subject and
    relation. Writes `statements.parquet`, `entities.parquet`, `dropped.parquet` (`rows.Statement`
    and so on, sorted) and `mined.json` into `out`: all of them, or, on an error, none of them.

    `UserError` also where `snapshot` is before the newest edit, or starts that cannot be plans.
    `undated`: the relations whose undated statements are kept in any case; `relations`: those
    that were asked for, None: all; `partial`: those of them of which only the statements about what
    others name were asked for; `memory`: DuckDB's limit; `scratch`: a folder for what does not
    fit, by default `out/build`; `looked_up`: a Parquet file of ids, for the table `LOOKED_UP`.
    Source: TimeQA (arXiv 2108.06314) section 2.1.
    """
    scratch = scratch or out / "build"
    temporary_folder = out / ".tables.tmp"
    fresh_folder(temporary_folder)
    counts: Counter[str] = Counter()
    for part_summary in read_parts(parts_folder):
        counts.update(part_summary.counts)
    last_edit = max(
        (key for key in counts if key.startswith(EDITED_PREFIX)), default=""
    ).removeprefix(EDITED_PREFIX)
    if last_edit > str(snapshot + _WRITING):
        raise _too_early(snapshot, f"an entity in it was last edited on {last_edit}")
    counts = Counter(
        {key: count for key, count in counts.items() if not key.startswith(EDITED_PREFIX)}
    )
    with _connect(scratch / "spill", memory, threads) as connection:
        _load(connection, parts_folder)
        counts["redirect_loops"] = _resolve_redirects(connection)
        counts.update(_judge(connection, undated, asks_endpoint=relations is not None))
        later_starts, dated_starts, newest_start = _later_starts(connection, snapshot)
        if later_starts > _PLANNED and later_starts * 100 > dated_starts:
            raise _too_early(
                snapshot,
                f"{later_starts:,} of its {dated_starts:,} starts are later, to {newest_start}",
            )
        _write(connection, temporary_folder, snapshot)
        if looked_up is not None:
            _look_up(connection, looked_up, out / LOOKED_UP)
        counts.update(_count(connection, temporary_folder))
    summary = _summary(snapshot, undated, relations, counts)
    if partial:
        summary[PARTIAL] = sorted(partial)
    checksums = {name: file_sha256(temporary_folder / name) for name in TABLES[:-1]}
    sealed_summary = sealed({**summary, _CHECKSUMS: checksums})
    summary_text = json.dumps(sealed_summary, indent=1, sort_keys=True, ensure_ascii=False)
    (temporary_folder / TABLES[-1]).write_text(summary_text + "\n", "utf-8")
    (out / TABLES[-1]).unlink(missing_ok=True)
    for table_name in TABLES:  # the summary last: where it is, the tables are whole
        (temporary_folder / table_name).replace(out / table_name)
    temporary_folder.rmdir()
    statements, entities, dropped, mined = (out / table_name for table_name in TABLES)
    return MinedTables(statements, entities, dropped, mined, snapshot, summary)


def write_named_items(
    parts_folder: Path, items_file: Path, *, undated: Collection[str], memory: str
) -> int:
    """Write the items that the statements to be kept name, one a line, sorted; their number.

    An endpoint need not describe the others, which are most of a relation like employer: undated
    statements of subjects that have no dated one are passed over (see `finish`).
    """
    with _connect(items_file.parent / "spill", memory, 2) as connection:
        _load(connection, parts_folder)
        connection.execute(f"""
            CREATE TEMP VIEW stated AS FROM raw_statements;
            CREATE TEMP TABLE resolved AS {_to_be_kept(undated)};
            COPY (
                SELECT subject AS id FROM resolved
                UNION SELECT object FROM resolved WHERE object IS NOT NULL ORDER BY id
            ) TO {duck.text(str(items_file))} (FORMAT csv, HEADER false, DELIMITER '|')
        """)  # noqa: S608
        items = (
            f"read_csv({duck.text(str(items_file))}, columns = {{id: 'VARCHAR'}}, header = false)"
        )
        return _number(connection, f"FROM {items}")


def _too_early(snapshot: date, why: str) -> UserError:
    hint_text = "say the day on which the dump was made, with --snapshot-date or as PATH@YYYY-MM-DD"
    return UserError(
        f"the snapshot day {snapshot} is before what the dump says: {why}", hint=hint_text
    )


@contextmanager
def _connect(spill: Path, memory: str, threads: int) -> Iterator[duckdb.DuckDBPyConnection]:
    spill.mkdir(parents=True, exist_ok=True)
    try:
        with duck.connect(spill, memory, threads, ordered=False) as connection:
            yield connection
    except duckdb.OutOfMemoryException as error:
        first_line = str(error).splitlines()[0]
        hint_text = "give it more (a quarter of Wikidata takes 600MB); a rerun reads nothing again"
        raise UserError(
            f"{memory} of memory is too little ({first_line})", hint=hint_text
        ) from error
    except duckdb.IOException as error:
        raise UserError(f"the tables cannot be written: {error}", where=spill.parent) from error
    finally:
        shutil.rmtree(spill, ignore_errors=True)


def mined_damage(folder: Path) -> str | None:
    """Return what was changed in a mined folder since it was mined, or None if nothing was.

    One that was mined before version 0.3, or whose `mined.json` has lost `sha256` and `seal`
    because somebody changed a table on purpose, is taken as it is.
    """
    content = (folder / TABLES[-1]).read_bytes()
    if not re.search(rb'"(sha256|seal)"', content):
        return None
    summary = unsealed(content)
    if summary is None:
        return f"{TABLES[-1]} is not what was written"
    for name, checksum in summary.get(_CHECKSUMS, {}).items():
        path = folder / name
        if not path.is_file() or file_sha256(path) != checksum:
            return f"{name} is not what was mined"
    return None


def read_summary(path: Path) -> dict[str, Any]:
    """The content of a `mined.json`; `UserError` where it is none, or one of an older edition."""
    try:
        summary: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if {"snapshot", "asked", "undated", "relations"} <= summary.keys():
            return summary
    except (ValueError, AttributeError):
        pass
    error_text = "not what mining writes now: it comes from an older version, or from elsewhere"
    raise UserError(error_text, where=path, hint="mine the dump again")


def _summary(
    snapshot: date,
    undated: Collection[str],
    asked_relations: Collection[str] | None,
    counts: Mapping[str, int],
) -> dict[str, Any]:
    """The content of `mined.json`: what was kept, dropped and seen, in all and by relation."""
    relation_counts: dict[str, dict[str, int]] = {
        relation: {} for relation in (*undated, *(asked_relations or ()))
    }
    total_counts: Counter[str] = Counter()
    for key, count in counts.items():
        relation, _, count_name = key.rpartition("/")
        if relation:
            relation_counts.setdefault(relation, {})[count_name] = count
        else:
            total_counts[count_name] += count
    return {
        "snapshot": snapshot.isoformat(),
        "asked": sorted(asked_relations) if asked_relations is not None else None,
        "undated": sorted(undated),
        "relations": relation_counts,
        "counts": dict(total_counts),
    }


# --- SQL: raw rows in, sorted Parquet tables out --------------------------------------------------


def _load(connection: duckdb.DuckDBPyConnection, parts_folder: Path) -> None:
    """Views of the raw rows of all parts."""
    tables = {
        "statements": RawStatement,
        "entities": RawEntity,
        "redirects": RawEntity,
        "dropped": Dropped,
    }
    for table_name, row_type in tables.items():
        types = dict(_sql_types(row_type))
        part_files = sorted(parts_folder.glob(f"[!.]*/{table_name}.json.zst"))
        if part_files:
            file_names = ", ".join(duck.text(duck.escape_globs(file)) for file in part_files)
            column_types = ", ".join(
                f"{duck.text(name)}: {duck.text(kind)}" for name, kind in types.items()
            )
            source = f"""FROM read_json([{file_names}],
                columns = {{{column_types}}}, format = 'newline_delimited', compression = 'zstd',
                maximum_object_size = {_LONGEST})"""
        else:
            column_types = ", ".join(f"NULL::{kind} AS {name}" for name, kind in types.items())
            source = f"SELECT {column_types} WHERE false"
        connection.execute(f"CREATE VIEW raw_{table_name} AS {source}")


def _sql_types(row_type: type) -> Iterator[tuple[str, str]]:
    """The columns of a row type, with DuckDB's names of their types."""
    for column_name, type_hint in get_type_hints(row_type).items():
        inner_types = [argument for argument in get_args(type_hint) if argument is not type(None)]
        if get_origin(type_hint) is tuple:
            yield column_name, "VARCHAR[]"
        else:  # a literal's values stand where a type would
            column_type = inner_types[0] if isinstance(type_hint, UnionType) else type_hint
            yield column_name, _SQL.get(column_type, "VARCHAR")


def _resolve_redirects(connection: duckdb.DuckDBPyConnection) -> int:
    """Make the table `redirects`, each id with its last target; the number of ids in loops.

    Every round doubles the length of the chains that are resolved; when a round changes
    nothing, what still points to a redirect leads into a loop, and is left as it is.
    """
    connection.execute("""
        CREATE TEMP TABLE redirects AS
        SELECT id, min(redirect) AS target FROM raw_redirects GROUP BY id
    """)
    previous_count = -1
    while True:
        unresolved_count = _number(
            connection, "FROM redirects WHERE target IN (SELECT id FROM redirects)"
        )
        if unresolved_count == previous_count or not unresolved_count:
            break
        previous_count = unresolved_count
        connection.execute("""
            CREATE OR REPLACE TEMP TABLE redirects AS
            SELECT a.id, coalesce(b.target, a.target) AS target
            FROM redirects a LEFT JOIN redirects b ON a.target = b.id
        """)
    if unresolved_count:
        connection.execute("DELETE FROM redirects WHERE target IN (SELECT id FROM redirects)")
    return unresolved_count


def _judge(
    connection: duckdb.DuckDBPyConnection, undated: Collection[str], asks_endpoint: bool
) -> dict[str, int]:
    """Make `named` (the entities in statements) and `judged` (statements, with null or a reason).

    Of two lines about one entity the later revision counts, else the later line. What was passed
    over: such lines, statements that were there twice, and, by relation, undated ones without a
    dated one of the same subject.
    """
    connection.execute("CREATE TEMP TABLE outdated (line BIGINT)")
    _resolve(connection, undated, asks_endpoint)
    twice = "id IN (SELECT id FROM named GROUP BY id HAVING count(*) > 1)"
    order = "PARTITION BY id ORDER BY revision DESC, line DESC, label, aliases, statements"
    connection.execute(f"""
        INSERT INTO outdated SELECT line FROM named WHERE line > 0 AND {twice}
        QUALIFY row_number() OVER ({order}) > 1
    """)  # noqa: S608
    if repeated := _number(connection, "FROM outdated"):
        _resolve(connection, undated, asks_endpoint)
    elif _number(connection, f"FROM named WHERE {twice}"):  # an endpoint's answers overlap
        connection.execute(f"""
            CREATE OR REPLACE TEMP TABLE named AS FROM named QUALIFY row_number() OVER ({order}) = 1
        """)
    # One large join or aggregate a statement: several at a time would share the memory.
    connection.execute("""
        CREATE TEMP TABLE by_subject AS SELECT f.*, s.id IS NOT NULL AS subject_named
        FROM resolved f LEFT JOIN (SELECT id FROM named WHERE label IS NOT NULL) s
        ON f.subject = s.id;
        DROP TABLE resolved;
        CREATE TEMP TABLE by_both AS SELECT f.* EXCLUDE (reason, subject_named), o.kind, CASE
            WHEN NOT f.subject_named THEN 'unlabelled_subject'
            WHEN o.kind IS NOT NULL THEN 'object_kind'
            WHEN f.reason IS NOT NULL THEN f.reason
            WHEN f.object IS NULL THEN 'unknown_value'
            WHEN NOT coalesce(o.named, false) THEN 'unlabelled_object'
        END AS reason
        FROM by_subject f LEFT JOIN (SELECT id, kind, label IS NOT NULL AS named FROM named) o
        ON f.object = o.id;
        DROP TABLE by_subject;
        CREATE TEMP TABLE judged AS SELECT DISTINCT * FROM by_both;
    """)
    same = _number(connection, "FROM by_both") - _number(connection, "FROM judged")
    connection.execute("DROP TABLE by_both; DROP TABLE needed")
    passed = dict(connection.execute("FROM passed").fetchall())
    return {"duplicates": same, **passed} | ({"repeated_entities": repeated} if repeated else {})


def _resolve(
    connection: duckdb.DuckDBPyConnection, undated: Collection[str], asks_endpoint: bool
) -> None:
    """Make `resolved` (statements between last targets), `passed` (counts) and `named`.

    A dump's countries are the objects of statements that mining keeps. An endpoint is not asked for
    these statements, but describes the countries (`asks_endpoint`).
    """
    countries = " UNION SELECT unnest(countries) FROM raw_entities" if asks_endpoint else ""
    connection.execute(f"""
        CREATE OR REPLACE TEMP TABLE stated AS
        SELECT f.* EXCLUDE (line) REPLACE (
            coalesce(s.target, f.subject) AS subject, coalesce(o.target, f.object) AS object)
        FROM (FROM raw_statements WHERE line NOT IN (FROM outdated)) f
        LEFT JOIN redirects s ON f.subject = s.id LEFT JOIN redirects o ON f.object = o.id;
        CREATE OR REPLACE TEMP TABLE resolved AS {_to_be_kept(undated)};
        CREATE OR REPLACE TEMP TABLE passed AS
        SELECT relation || '/undated' AS reason, count(DISTINCT statement) AS n
        FROM stated ANTI JOIN resolved USING (statement) GROUP BY 1;
        DROP TABLE stated;
        CREATE OR REPLACE TEMP TABLE needed AS
        SELECT subject AS id FROM resolved UNION SELECT object FROM resolved
        UNION SELECT relation FROM resolved{countries};
        CREATE OR REPLACE TEMP TABLE named AS
        SELECT e.* EXCLUDE (redirect)
        FROM (FROM raw_entities WHERE line NOT IN (FROM outdated)) e
        SEMI JOIN needed USING (id) ANTI JOIN redirects USING (id);
    """)  # noqa: S608


def _to_be_kept(undated: Collection[str]) -> str:
    """The query for the statements in `stated` that are not passed over as undated."""
    kept_relations = ", ".join(map(duck.text, sorted(undated))) or "''"
    return f"""FROM stated s
        WHERE reason IS DISTINCT FROM 'undated' OR relation IN ({kept_relations}) OR EXISTS (
            FROM stated d WHERE reason IS DISTINCT FROM 'undated'
            AND d.subject = s.subject AND d.relation = s.relation)"""


def _write(connection: duckdb.DuckDBPyConnection, folder: Path, snapshot: date) -> None:
    """Write the tables; whoever died on an unknown day did so between birth and snapshot."""
    snapshot_literal = f"DATE '{snapshot.isoformat()}'"
    connection.execute(f"""
        CREATE VIEW statements AS SELECT *, {snapshot_literal} AS snapshot FROM judged;
        CREATE VIEW entities AS
        SELECT e.* EXCLUDE (began, ended, revision, line, classes, countries),
            coalesce(n.facts, 0) AS facts, c.label AS country,
            list_sort(list_distinct(coalesce(classes, []))) AS classes,
            nullif(began[1], DATE '{date.min}') AS began_first,
            nullif(began[2], DATE '{date.max}') AS began_last,
            CASE WHEN ended[1] > DATE '{date.min}' THEN ended[1]
                WHEN ended IS NOT NULL THEN coalesce(began[1], ended[1]) END AS ended_first,
            CASE WHEN ended[2] < DATE '{date.max}' THEN ended[2]
                WHEN ended IS NOT NULL THEN {snapshot_literal} END AS ended_last
        FROM (SELECT * REPLACE (coalesce(label, '') AS label) FROM named
            WHERE label IS NOT NULL OR began IS NOT NULL OR ended IS NOT NULL) e
        LEFT JOIN (
            SELECT subject AS id, count(*) AS facts FROM judged WHERE reason IS NULL
            GROUP BY subject) n
        USING (id)
        LEFT JOIN (
            SELECT b.id, a.label FROM (SELECT id, countries[1] AS country FROM named) b
            LEFT JOIN redirects r ON r.id = b.country
            JOIN named a ON a.id = coalesce(r.target, b.country)) c
        USING (id);
    """)  # noqa: S608
    connection.execute("CREATE VIEW dropped AS SELECT DISTINCT * FROM raw_dropped")
    _copy(connection, "statements", _STATEMENT, [*_STATEMENT[1:], "statement"], folder)
    _copy(connection, "entities", _ENTITY, ["id"], folder)
    _copy(connection, "dropped", _DROPPED, _DROPPED, folder)


def _look_up(connection: duckdb.DuckDBPyConnection, ids: Path, table: Path) -> None:
    """Write the table `LOOKED_UP`, sorted; of two lines about one entity the later one counts."""
    connection.execute(f"""
        CREATE TEMP TABLE asked_ids AS SELECT i.id, coalesce(r.target, i.id) AS target FROM (
            SELECT id FROM {duck.parquet(ids)} UNION
            SELECT detail FROM raw_dropped WHERE reason = {duck.text(DEPRECATED)}) i
        LEFT JOIN redirects r USING (id);
        COPY (
            SELECT i.id, i.target, e.id IS NOT NULL AS present, e.label,
                coalesce(e.aliases, []) AS aliases
            FROM asked_ids i LEFT JOIN (
                SELECT id, arg_max(label, line) AS label, arg_max(aliases, line) AS aliases
                FROM raw_entities SEMI JOIN (SELECT target AS id FROM asked_ids) USING (id)
                GROUP BY id) e ON e.id = i.target
            ORDER BY length(i.id), i.id)
        TO {duck.text(str(table))} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP})
    """)  # noqa: S608


def _later_starts(connection: duckdb.DuckDBPyConnection, day: date) -> tuple[int, int, date | None]:
    """Return the numbers of statements that surely begin after a day and of those with a start.

    The third result is the last start.
    """
    is_later = f"start_first > DATE '{day.isoformat()}'"
    start_counts = connection.execute(
        f"SELECT count(*) FILTER ({is_later}), count(start_first), max(start_first) FROM judged"  # noqa: S608
    ).fetchone()
    assert start_counts is not None
    return start_counts


def _count(connection: duckdb.DuckDBPyConnection, folder: Path) -> dict[str, int]:
    """Rows of each written table; statements by relation, and dropped rows by reason."""
    statements, entities, dropped = (duck.parquet(folder / name) for name in TABLES[:3])
    row_counts = {
        "statements": _number(connection, f"FROM {statements}"),
        "entities": _number(connection, f"FROM {entities}"),
        "dropped": _number(connection, f"FROM {dropped}"),
    }
    statement_counts = connection.execute(
        f"SELECT relation || '/statements', count(DISTINCT statement) FROM {statements} GROUP BY 1"  # noqa: S608
    ).fetchall()
    reason_counts = connection.execute(
        f"SELECT concat_ws('/', relation, reason), count(*) FROM {dropped} GROUP BY 1"  # noqa: S608
    ).fetchall()
    return {**row_counts, **dict(statement_counts), **dict(reason_counts)}


def _copy(
    connection: duckdb.DuckDBPyConnection,
    view_name: str,
    columns: Iterable[str],
    sort_columns: Iterable[str],
    folder: Path,
) -> None:
    """Write a view, sorted, nulls first; ids by length, then text, so that Q9 is before Q10."""
    sort_keys = [
        key
        for column in sort_columns
        for key in ([f"length({column})", column] if column in _IDS else [column])
    ]
    connection.execute(f"""
        COPY (SELECT {", ".join(columns)} FROM {view_name}
        ORDER BY {", ".join(f"{key} NULLS FIRST" for key in sort_keys)})
        TO {duck.text(str(folder / f"{view_name}.parquet"))}
        (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP})
    """)  # noqa: S608


def _number(connection: duckdb.DuckDBPyConnection, source: str) -> int:
    """Return the number of rows of a FROM clause."""
    row = connection.execute(f"SELECT count(*) {source}").fetchone()
    return int(row[0]) if row else 0
