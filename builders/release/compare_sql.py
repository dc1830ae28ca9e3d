"""The comparison's queries: they fill a table `diff` with the rows that differ."""

from collections.abc import Sequence
from pathlib import Path

import duckdb

from builders.release import duck

Files = Sequence[tuple[str, Path]]
"""Split name and file of each split that has to be read."""

WHOLE = "id, change, old_config, old_split, new_config, new_split, changed, old, new"

DIFF_TABLE = """
CREATE TEMP TABLE diff (
    id VARCHAR, change VARCHAR,
    old_config VARCHAR, old_split VARCHAR, new_config VARCHAR, new_split VARCHAR,
    changed VARCHAR[], old VARCHAR, new VARCHAR
)
"""

# ruff: noqa: S608 - names and literals are quoted by `duck`


def rows_by_id(
    db: duckdb.DuckDBPyConnection,
    config: str,
    columns: Sequence[str],
    rendered: Sequence[str],
    sides: tuple[Files, Files],
    values: bool,
) -> None:
    """Add the rows of one config that differ, matched by `id`.

    `columns` are compared; a row that differs in `rendered` ones alone is rendered anew.
    `values`: keep old and new values as JSON.
    """
    others = [name for name in columns if name != "id"]
    tests = {name: f"o.{duck.name(name)} IS DISTINCT FROM n.{duck.name(name)}" for name in others}
    changed = ", ".join(
        f"CASE WHEN {test} THEN {duck.text(name)} END" for name, test in tests.items()
    )
    edited = " OR ".join(t for name, t in tests.items() if name not in rendered) or "false"
    either = " OR ".join(tests.values()) or "false"
    old, new = (_json(side, columns, values) for side in "on")
    before, after = sides
    one, two = _rows(before, after, columns), _rows(after, before, columns)
    db.execute(f"""
        INSERT INTO diff
        WITH o AS ({one}), n AS ({two}), d AS (
            SELECT
                coalesce(o.id, n.id) AS id, o."__split" AS old_split, n."__split" AS new_split,
                list_filter([{changed or "NULL"}]::VARCHAR[], lambda c: c IS NOT NULL) AS changed,
                ({edited}) AS edited, {old} AS old, {new} AS new
            FROM o FULL JOIN n ON o.id = n.id
            WHERE o.id IS NULL OR n.id IS NULL OR o."__split" != n."__split" OR {either}
        )
        SELECT
            id,
            CASE WHEN old_split IS NULL THEN 'added' WHEN new_split IS NULL THEN 'removed'
                WHEN old_split != new_split THEN 'moved' WHEN edited THEN 'edited'
                ELSE 'rendered' END,
            if(old_split IS NULL, NULL, {duck.text(config)}), old_split,
            if(new_split IS NULL, NULL, {duck.text(config)}), new_split,
            if(old_split IS NULL OR new_split IS NULL, [], changed),
            {_pick("old")}, {_pick("new")}
        FROM d
    """)


def rows_by_content(
    db: duckdb.DuckDBPyConnection,
    config: str,
    columns: Sequence[str],
    rendered: Sequence[str],
    sides: tuple[Files, Files],
    values: bool,
) -> None:
    """Add the rows of one config that differ, matched by their content; copies are counted.

    There is no telling which row an edited one was: it counts as one removed and one added.
    """
    del rendered
    before, after = sides
    counted = [
        f"""SELECT md5(j) AS id, "__split" AS split, any_value(j) AS j, count(*) AS n
            FROM (SELECT "__split", {_object("r", columns)}::VARCHAR AS j FROM ({rows}) r)
            GROUP BY ALL"""
        for rows in (_rows(before, after, columns), _rows(after, before, columns))
    ]
    here = duck.text(config)
    keep = "j" if values else "NULL"
    db.execute(f"""
        INSERT INTO diff
        WITH o AS ({counted[0]}), n AS ({counted[1]}), d AS (
            SELECT
                coalesce(o.id, n.id) AS id, coalesce(o.split, n.split) AS split,
                coalesce(o.j, n.j) AS j, coalesce(n.n, 0) - coalesce(o.n, 0) AS more
            FROM o FULL JOIN n ON o.id = n.id AND o.split = n.split
            WHERE o.n IS DISTINCT FROM n.n
        ), copies AS (SELECT *, unnest(range(abs(more))) FROM d)
        SELECT
            id, if(more > 0, 'added', 'removed'),
            if(more < 0, {here}, NULL), if(more < 0, split, NULL),
            if(more > 0, {here}, NULL), if(more > 0, split, NULL),
            [], if(more < 0, {keep}, NULL), if(more > 0, {keep}, NULL)
        FROM copies
    """)


def pair_moves(db: duckdb.DuckDBPyConnection) -> None:
    """A row that went from one place and came to another was moved."""
    db.execute(f"""
        CREATE TEMP TABLE pairs AS
        WITH numbered AS (
            SELECT *, rowid AS place,
                row_number() OVER (PARTITION BY id, change ORDER BY {WHOLE}) AS k
            FROM diff WHERE change IN ('added', 'removed')
        )
        SELECT
            r.id, 'moved' AS change, r.old_config, r.old_split, a.new_config, a.new_split,
            coalesce(list_filter(json_keys(a.new), lambda c: json_extract(a.new, '/' || c)
                IS DISTINCT FROM json_extract(r.old, '/' || c)), []) AS changed,
            r.old, a.new, r.place AS gone, a.place AS came
        FROM numbered r JOIN numbered a ON r.id = a.id AND r.k = a.k
        WHERE r.change = 'removed' AND a.change = 'added'
    """)
    db.execute(
        "DELETE FROM diff WHERE rowid IN (SELECT gone FROM pairs UNION ALL SELECT came FROM pairs)"
    )
    db.execute(f"INSERT INTO diff SELECT {WHOLE} FROM pairs")


def _rows(files: Files, other: Files, columns: Sequence[str]) -> str:
    """All splits of one side with the columns asked for; no files give the types and no rows."""
    listed = "".join(f", {duck.name(name)}" for name in columns)
    where = "" if files else " WHERE false"
    return " UNION ALL ".join(
        f'SELECT {duck.text(split)} AS "__split"{listed} FROM {duck.parquet(path)}{where}'
        for split, path in files or other[:1]
    )


def _object(side: str, columns: Sequence[str]) -> str:
    pairs = ", ".join(f"{duck.text(name)}, {side}.{duck.name(name)}" for name in columns)
    return f"json_object({pairs})"


def _json(side: str, columns: Sequence[str], values: bool) -> str:
    """The whole row as JSON where there is one; the part that changed is picked later."""
    if not values:
        return "NULL::JSON"
    return f"if({side}.id IS NULL, NULL, {_object(side, columns)})"


def _pick(side: str) -> str:
    """Of a row that both releases have, the changed columns; else the whole row."""
    pair = (
        f"to_json(c)::VARCHAR || ':' || coalesce(json_extract({side}, '/' || c)::VARCHAR, 'null')"
    )
    part = f"'{{' || array_to_string(list_transform(changed, lambda c: {pair}), ',') || '}}'"
    absent = f"{side} IS NULL OR old_split IS NULL OR new_split IS NULL"
    return f"if({absent}, {side}::VARCHAR, {part})"
