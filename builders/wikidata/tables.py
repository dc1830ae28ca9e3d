"""The SQL of `builders.wikidata.finish`: raw rows in, sorted Parquet tables out."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import fields
from datetime import date
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, get_args, get_origin, get_type_hints

from factdrift.builders.core.dates import PartialDate
from factdrift.builders.rows import Dropped, Entity, Statement
from factdrift.builders.wikidata.parts import RawEntity, RawStatement

if TYPE_CHECKING:
    import duckdb

ROW_GROUP = 65_536
"""Rows of a row group of every written file but its last."""

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


def load(con: "duckdb.DuckDBPyConnection", parts: Path) -> None:
    """Views of the raw rows of all parts."""
    tables = {
        "statements": RawStatement,
        "entities": RawEntity,
        "redirects": RawEntity,
        "dropped": Dropped,
    }
    for table, row in tables.items():
        types = dict(_sql_types(row))
        files = sorted(parts.glob(f"[!.]*/{table}.json.zst"))
        if files:
            columns = ", ".join(f"{_text(name)}: {_text(kind)}" for name, kind in types.items())
            source = f"""FROM read_json([{", ".join(map(_file, files))}],
                columns = {{{columns}}}, format = 'newline_delimited', compression = 'zstd',
                maximum_object_size = {_LONGEST})"""
        else:
            columns = ", ".join(f"NULL::{kind} AS {name}" for name, kind in types.items())
            source = f"SELECT {columns} WHERE false"
        con.execute(f"CREATE VIEW raw_{table} AS {source}")


def _sql_types(row: type) -> Iterator[tuple[str, str]]:
    """The columns of a row type, with DuckDB's names of their types."""
    for name, hint in get_type_hints(row).items():
        inner = [a for a in get_args(hint) if a is not type(None)]
        if get_origin(hint) is tuple:
            yield name, "VARCHAR[]"
        else:  # a literal's values stand where a type would
            kind = inner[0] if isinstance(hint, UnionType) else hint
            yield name, _SQL.get(kind, "VARCHAR")


def resolve_redirects(con: "duckdb.DuckDBPyConnection") -> int:
    """Make the table `redirects`, each id with its last target; the number of ids in loops.

    Every round doubles the length of the chains that are resolved; when a round changes
    nothing, what still points to a redirect leads into a loop, and is left as it is.
    """
    con.execute("""
        CREATE TEMP TABLE redirects AS
        SELECT id, min(redirect) AS target FROM raw_redirects GROUP BY id
    """)
    unresolved = -1
    while True:
        left = _number(con, "FROM redirects WHERE target IN (SELECT id FROM redirects)")
        if left == unresolved or not left:
            break
        unresolved = left
        con.execute("""
            CREATE OR REPLACE TEMP TABLE redirects AS
            SELECT a.id, coalesce(b.target, a.target) AS target
            FROM redirects a LEFT JOIN redirects b ON a.target = b.id
        """)
    if left:
        con.execute("DELETE FROM redirects WHERE target IN (SELECT id FROM redirects)")
    return left


def judge(con: "duckdb.DuckDBPyConnection", undated: Collection[str]) -> dict[str, int]:
    """Make `named` (the entities in statements) and `judged` (statements, with null or a reason).

    Of two lines about one entity the later revision counts, else the later line. What was passed
    over: such lines, statements that were there twice, and, by relation, undated ones without a
    dated one of the same subject.
    """
    con.execute("CREATE TEMP TABLE outdated (line BIGINT)")
    _resolve(con, undated)
    twice = "id IN (SELECT id FROM named GROUP BY id HAVING count(*) > 1)"
    order = "PARTITION BY id ORDER BY revision DESC, line DESC, label, aliases, statements"
    con.execute(f"""
        INSERT INTO outdated SELECT line FROM named WHERE line > 0 AND {twice}
        QUALIFY row_number() OVER ({order}) > 1
    """)  # noqa: S608
    if repeated := _number(con, "FROM outdated"):
        _resolve(con, undated)
    elif _number(con, f"FROM named WHERE {twice}"):  # an endpoint's answers overlap
        con.execute(f"""
            CREATE OR REPLACE TEMP TABLE named AS FROM named QUALIFY row_number() OVER ({order}) = 1
        """)
    # One large join or aggregate a statement: several at a time would share the memory.
    con.execute("""
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
    same = _number(con, "FROM by_both") - _number(con, "FROM judged")
    con.execute("DROP TABLE by_both; DROP TABLE needed")
    passed = dict(con.execute("FROM passed").fetchall())
    return {"duplicates": same, **passed} | ({"repeated_entities": repeated} if repeated else {})


def _resolve(con: "duckdb.DuckDBPyConnection", undated: Collection[str]) -> None:
    """Make `resolved` (statements between last targets), `passed` (counts) and `named`."""
    kept = ", ".join(map(_text, sorted(undated))) or "''"
    con.execute(f"""
        CREATE OR REPLACE TEMP TABLE stated AS
        SELECT f.* EXCLUDE (line) REPLACE (
            coalesce(s.target, f.subject) AS subject, coalesce(o.target, f.object) AS object)
        FROM (FROM raw_statements WHERE line NOT IN (FROM outdated)) f
        LEFT JOIN redirects s ON f.subject = s.id LEFT JOIN redirects o ON f.object = o.id;
        CREATE OR REPLACE TEMP TABLE resolved AS FROM stated s
        WHERE reason IS DISTINCT FROM 'undated' OR relation IN ({kept}) OR EXISTS (
            FROM stated d WHERE reason IS DISTINCT FROM 'undated'
            AND d.subject = s.subject AND d.relation = s.relation);
        CREATE OR REPLACE TEMP TABLE passed AS
        SELECT relation || '/undated' AS reason, count(DISTINCT statement) AS n
        FROM stated ANTI JOIN resolved USING (statement) GROUP BY 1;
        DROP TABLE stated;
        CREATE OR REPLACE TEMP TABLE needed AS
        SELECT subject AS id FROM resolved UNION SELECT object FROM resolved
        UNION SELECT relation FROM resolved;
        CREATE OR REPLACE TEMP TABLE named AS
        SELECT e.* EXCLUDE (redirect)
        FROM (FROM raw_entities WHERE line NOT IN (FROM outdated)) e
        SEMI JOIN needed USING (id) ANTI JOIN redirects USING (id);
    """)  # noqa: S608


def write(con: "duckdb.DuckDBPyConnection", folder: Path, snapshot: date) -> None:
    """Write the tables; whoever died on an unknown day did so between birth and snapshot."""
    day = f"DATE '{snapshot.isoformat()}'"
    con.execute(f"""
        CREATE VIEW statements AS SELECT *, {day} AS snapshot FROM judged;
        CREATE VIEW entities AS
        SELECT e.* EXCLUDE (began, ended, revision, line, classes), coalesce(n.facts, 0) AS facts,
            list_sort(list_distinct(coalesce(classes, []))) AS classes,
            nullif(began[1], DATE '{date.min}') AS began_first,
            nullif(began[2], DATE '{date.max}') AS began_last,
            CASE WHEN ended[1] > DATE '{date.min}' THEN ended[1]
                WHEN ended IS NOT NULL THEN coalesce(began[1], ended[1]) END AS ended_first,
            CASE WHEN ended[2] < DATE '{date.max}' THEN ended[2]
                WHEN ended IS NOT NULL THEN {day} END AS ended_last
        FROM (SELECT * REPLACE (coalesce(label, '') AS label) FROM named
            WHERE label IS NOT NULL OR began IS NOT NULL OR ended IS NOT NULL) e
        LEFT JOIN (
            SELECT subject AS id, count(*) AS facts FROM judged WHERE reason IS NULL
            GROUP BY subject) n
        USING (id);
    """)  # noqa: S608
    con.execute("CREATE VIEW dropped AS SELECT DISTINCT * FROM raw_dropped")
    _copy(con, "statements", _STATEMENT, [*_STATEMENT[1:], "statement"], folder)
    _copy(con, "entities", _ENTITY, ["id"], folder)
    _copy(con, "dropped", _DROPPED, _DROPPED, folder)


def later_starts(con: "duckdb.DuckDBPyConnection", day: date) -> tuple[int, int, date | None]:
    """How many statements surely begin after a day, of how many with a start; the last start."""
    later = f"start_first > DATE '{day.isoformat()}'"
    found = con.execute(
        f"SELECT count(*) FILTER ({later}), count(start_first), max(start_first) FROM judged"  # noqa: S608
    ).fetchone()
    assert found is not None
    return found


def count(con: "duckdb.DuckDBPyConnection", folder: Path) -> dict[str, int]:
    """Rows of each written table; statements by relation, and dropped rows by reason."""
    found = {
        table: _number(con, f"FROM {_file(folder / f'{table}.parquet')}")
        for table in ("statements", "entities", "dropped")
    }
    statements, dropped = (_file(folder / f"{t}.parquet") for t in ("statements", "dropped"))
    of_each = con.execute(
        f"SELECT relation || '/statements', count(DISTINCT statement) FROM {statements} GROUP BY 1"  # noqa: S608
    ).fetchall()
    reasons = con.execute(
        f"SELECT concat_ws('/', relation, reason), count(*) FROM {dropped} GROUP BY 1"  # noqa: S608
    ).fetchall()
    return {**found, **dict(of_each), **dict(reasons)}


def _copy(
    con: "duckdb.DuckDBPyConnection",
    table: str,
    columns: Iterable[str],
    order: Iterable[str],
    folder: Path,
) -> None:
    """Write a view, sorted, nulls first; ids by length, then text, so that Q9 is before Q10."""
    keys = [k for c in order for k in ([f"length({c})", c] if c in _IDS else [c])]
    con.execute(f"""
        COPY (SELECT {", ".join(columns)} FROM {table}
        ORDER BY {", ".join(f"{k} NULLS FIRST" for k in keys)})
        TO {_text(str(folder / f"{table}.parquet"))}
        (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP})
    """)  # noqa: S608


def _number(con: "duckdb.DuckDBPyConnection", source: str) -> int:
    """How many rows a FROM clause has."""
    row = con.execute(f"SELECT count(*) {source}").fetchone()
    return int(row[0]) if row else 0


def _file(path: Path) -> str:
    """A literal that names one file, whatever characters its path has."""
    return _text(re.sub(r"([*?\[])", r"[\1]", str(path)))


def _text(value: str) -> str:
    """A string literal."""
    return "'" + value.replace("'", "''") + "'"
