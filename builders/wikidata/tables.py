"""The SQL of `builders.wikidata.finish`: raw rows in, sorted Parquet tables out."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from datetime import date
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, get_args, get_origin, get_type_hints

from builders.rows import Dropped, Entity, Fact, Gap
from builders.wikidata.parts import RawEntity, RawFact

if TYPE_CHECKING:
    import duckdb

ROW_GROUP = 65_536
"""Rows of a row group of every written file but its last."""

_LONGEST = 4 << 20
"""Bytes of the longest raw row; DuckDB has two buffers of this size a thread."""
_SQL: dict[object, str] = {int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN", date: "DATE"}
_IDS = frozenset({"subject", "relation", "object", "id"})
_FACT, _GAP, _ENTITY, _DROPPED = (
    [field.name for field in fields(row)] for row in (Fact, Gap, Entity, Dropped)
)
_BY_PLACE = [*_FACT[1:], "statement"]


def load(con: "duckdb.DuckDBPyConnection", parts: Path) -> None:
    """Views of the raw rows of all parts."""
    tables = {"facts": RawFact, "entities": RawEntity, "redirects": RawEntity, "dropped": Dropped}
    for table, row in tables.items():
        types = dict(_sql_types(row))
        files = sorted(parts.glob(f"[!.]*/{table}.json.gz"))
        if files:
            columns = ", ".join(f"{_text(name)}: {_text(kind)}" for name, kind in types.items())
            source = f"""FROM read_json([{", ".join(map(_file, files))}],
                columns = {{{columns}}}, format = 'newline_delimited', compression = 'gzip',
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


def judge(con: "duckdb.DuckDBPyConnection", relations: Mapping[str, bool]) -> int:
    """Make `named` (entities that facts name) and `judged` (facts, each with null or a reason).

    The number of facts that were there twice.
    """
    listed = ", ".join(_text(p) for p in sorted(relations)) or "''"
    con.execute(f"""
        CREATE TEMP TABLE resolved AS
        SELECT f.* REPLACE (
            coalesce(s.target, f.subject) AS subject, coalesce(o.target, f.object) AS object)
        FROM raw_facts f
        LEFT JOIN redirects s ON f.subject = s.id LEFT JOIN redirects o ON f.object = o.id;
        CREATE TEMP TABLE needed AS
        SELECT subject AS id FROM resolved UNION SELECT object FROM resolved
        UNION SELECT unnest([{listed}]);
        CREATE TEMP TABLE named AS
        SELECT e.* EXCLUDE (redirect) FROM raw_entities e SEMI JOIN needed USING (id)
        ANTI JOIN redirects USING (id);
    """)  # noqa: S608
    if _number(con, "FROM (SELECT id FROM named GROUP BY id HAVING count(*) > 1)"):
        con.execute("""
            CREATE OR REPLACE TEMP TABLE named AS FROM named
            QUALIFY row_number() OVER (
                PARTITION BY id ORDER BY statements DESC, sitelinks DESC, label, aliases, enwiki,
                kind) = 1
        """)
    # One large join or aggregate a statement: several at a time would share the memory.
    con.execute("""
        CREATE TEMP TABLE by_subject AS SELECT f.*, s.id IS NOT NULL AS subject_named
        FROM resolved f LEFT JOIN (SELECT id FROM named WHERE label IS NOT NULL) s
        ON f.subject = s.id;
        DROP TABLE resolved;
        CREATE TEMP TABLE by_both AS SELECT f.* EXCLUDE (problem, subject_named), o.kind, CASE
            WHEN NOT f.subject_named THEN 'unlabelled_subject'
            WHEN f.problem IS NOT NULL THEN f.problem
            WHEN o.kind IS NOT NULL THEN 'object_kind'
            WHEN NOT coalesce(o.named, false) THEN 'unlabelled_object'
        END AS reason
        FROM by_subject f LEFT JOIN (SELECT id, kind, label IS NOT NULL AS named FROM named) o
        ON f.object = o.id;
        DROP TABLE by_subject;
        CREATE TEMP TABLE judged AS SELECT DISTINCT * FROM by_both;
    """)
    twice = _number(con, "FROM by_both") - _number(con, "FROM judged")
    con.execute("DROP TABLE by_both; DROP TABLE needed")
    return twice


def write(
    con: "duckdb.DuckDBPyConnection",
    folder: Path,
    snapshot: date,
    relations: Mapping[str, bool],
) -> None:
    day = f"DATE '{snapshot.isoformat()}' AS snapshot"
    listed = ", ".join(_text(p) for p in sorted(relations)) or "''"
    con.execute(f"""
        CREATE VIEW facts AS SELECT *, {day} FROM judged WHERE reason IS NULL;
        CREATE VIEW gaps AS SELECT DISTINCT {", ".join(_GAP[:-1])}, {day} FROM judged
        WHERE reason IN ('unlabelled_object', 'object_kind', 'unknown_value');
        CREATE VIEW entities AS
        SELECT e.* EXCLUDE (facts), coalesce(n.facts, 0) AS facts FROM (
            SELECT *, 0 AS facts FROM named WHERE label IS NOT NULL) e
        SEMI JOIN (
            SELECT subject AS id FROM facts UNION SELECT object FROM facts
            UNION SELECT unnest([{listed}])) used USING (id)
        LEFT JOIN (SELECT subject AS id, count(*) AS facts FROM facts GROUP BY subject) n
        USING (id);
        CREATE VIEW dropped AS
        SELECT DISTINCT 'mine' AS step, reason, statement AS item, subject, relation,
            NULL::VARCHAR AS period, NULL::DOUBLE AS score,
            object || coalesce(' (' || kind || ')', '') AS detail
        FROM judged WHERE reason IS NOT NULL
        UNION ALL SELECT {", ".join(_DROPPED)} FROM raw_dropped;
    """)  # noqa: S608
    _copy(con, "facts", _FACT, _BY_PLACE, folder)
    _copy(con, "gaps", _GAP, [c for c in _BY_PLACE if c in _GAP] + ["reason"], folder)
    _copy(con, "entities", _ENTITY, ["id"], folder)
    _copy(con, "dropped", _DROPPED, _DROPPED, folder)


def count(
    con: "duckdb.DuckDBPyConnection", folder: Path
) -> tuple[dict[str, int], dict[str, int], list[tuple[str, str | None, int]]]:
    """Rows of each written table; facts by relation; dropped rows by reason and relation."""
    rows = {
        table: _number(con, f"FROM {_file(folder / f'{table}.parquet')}")
        for table in ("facts", "entities", "gaps", "dropped")
    }
    facts = _file(folder / "facts.parquet")
    by_relation = con.execute(f"SELECT relation, count(*) FROM {facts} GROUP BY 1").fetchall()  # noqa: S608
    dropped = _file(folder / "dropped.parquet")
    reasons = con.execute(
        f"SELECT reason, relation, count(*) FROM {dropped} GROUP BY 1, 2"  # noqa: S608
    ).fetchall()
    return rows, dict(by_relation), reasons


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
