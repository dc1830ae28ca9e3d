"""What a release asks, as the table `asked` of a database: a line for each row.

Read from the columns that the manifest names; articles and pages stay where they are.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from duckdb.func import ARROW

from factdrift.builders.core import duck
from factdrift.builders.core.config import did_you_mean, display_path
from factdrift.builders.core.dates import Period
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.schema import reading
from factdrift.builders.release.manifest import ConfigEntry, Manifest, load_manifest, locate_file
from factdrift.builders.release.tasks import column_sql, column_type, day_sql
from factdrift.builders.rows.roles import ColumnRoles
from factdrift.builders.text.squad import normalize_answer
from factdrift.scoring.intervals import BUNDLES
from factdrift.scoring.predictions import HASH

_MANY = 40
"""Years up to which each is a stratum; where there are more, decades are."""
_MEMORY = "800MB"
"""Of the database; what is beyond it lies on disk meanwhile."""
_FAR = 20
"""Quarters behind a cut-off that are told apart."""
QUINTILES = ("1 (least known)", "2", "3", "4", "5 (best known)")


@dataclass(frozen=True)
class QuestionConfig:
    """A config that asks. `source`: the name of a view of its rows, whose `_row` is their number;
    `strata`: name -> a query for the `row` and `value` of all that its scores are split by."""

    name: str
    source: str
    roles: ColumnRoles
    strata: Mapping[str, str]


@dataclass(frozen=True)
class ReleaseQuestions:
    """Every row that a release asks, config after config, as the table `asked` of `db`.

    Its columns: `row` (its number), `config`, `split`, `id`, `prompt_hash`; lists of names,
    normalised: `targets`, `previous`, `later`, `neutral`; `raw_targets` and `choices` as they
    stand; `alone` (whether a row is only asked with its choices), `day` (the last one asked about),
    `subject`, `history`, `question` (what it is a variant of), `evidence`, `period`, `known` (how
    well its subject is). The table `subjects` numbers the subjects, in as many `bundles` at most
    (see `scoring.intervals`). `relations`: names of relations by id.
    """

    db: duckdb.DuckDBPyConnection
    manifest: Manifest
    configs: tuple[QuestionConfig, ...]
    relations: Mapping[str, str]
    bundles: int


@contextmanager
def read_questions(
    folder: Path, configs: Sequence[str] | None = None, cutoff: date | None = None
) -> Iterator[ReleaseQuestions]:
    """What a release asks, in all of its configs or in some.

    `cutoff`: the last day a model knows of; with it there is a stratum `lag`. `UserError`: no
    release, no such config, none that asks.
    """
    manifest = load_manifest(folder)
    chosen = question_configs(manifest, folder, configs)
    with duck.connect(memory=_MEMORY) as db:
        db.create_function("normals", _normals, ["VARCHAR[]"], "VARCHAR[]", type=ARROW)
        try:
            relations = _fill(db, folder, chosen)
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            hint = "factdrift verify says what is damaged"
            raise UserError(
                str(error).splitlines()[0], where=display_path(folder), hint=hint
            ) from error
        (subjects,) = single_row(db, "SELECT max(number) + 1 FROM subjects")
        question_configs_found = tuple(
            QuestionConfig(entry.name, _source(entry), roles, _strata(db, entry, roles, cutoff))
            for entry, roles in chosen
        )
        yield ReleaseQuestions(
            db, manifest, question_configs_found, relations, min(int(subjects or 0), BUNDLES)
        )


def question_configs(
    manifest: Manifest, folder: Path, wanted_names: Sequence[str] | None = None
) -> list[tuple[ConfigEntry, ColumnRoles]]:
    """The configs that ask, or some of them, with the roles of their columns."""
    asking_by_name = {entry.name: (entry, entry.roles) for entry in manifest.configs if entry.roles}
    if not asking_by_name:
        raise UserError("no config of this release asks anything", where=display_path(folder))
    for name in wanted_names or ():
        if name not in asking_by_name:
            raise unknown_name_error(f"no config {name!r} that asks", name, asking_by_name, folder)
    return [
        asking_by_name[name]
        for name in asking_by_name
        if wanted_names is None or name in wanted_names
    ]


def unknown_name_error(
    message: str, name: str, known_names: Iterable[str], release: Path
) -> UserError:
    """What is said of a name that a release does not have, with the one that may be meant."""
    near = did_you_mean(name, known_names)
    hint = f"did you mean {near}?" if near else f"there are {', '.join(known_names)}"
    return UserError(message, where=display_path(release), hint=hint)


@lru_cache(maxsize=1 << 19)
def _normal(text: str | None) -> str:
    return normalize_answer(text or "")


def _normals(lists: pa.ChunkedArray) -> pa.Array:
    """Lists of texts, each normalised: a function of the database."""
    whole = lists.combine_chunks()
    whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    texts = [_normal(text) for text in whole.flatten().to_pylist()]
    starts = np.concatenate(([0], np.cumsum(whole.value_lengths().fill_null(0).to_numpy())))
    return pa.ListArray.from_arrays(pa.array(starts, pa.int32()), pa.array(texts, pa.string()))


def _source(entry: ConfigEntry) -> str:
    return duck.name(f"rows of {entry.name}")


def _fill(
    db: duckdb.DuckDBPyConnection, folder: Path, chosen: Sequence[tuple[ConfigEntry, ColumnRoles]]
) -> dict[str, str]:
    """Make a view of each config's rows, and the tables of all; the names of relations."""
    first = 0
    queries: list[str] = []
    relations: dict[str, str] = {}
    for entry, roles in chosen:
        parts = []
        for split in entry.splits:
            path = locate_file(folder, split.file)
            columns = f"{first} + file_row_number AS _row, {duck.text(split.name)} AS _split, *"
            parts.append(f"SELECT {columns} FROM {duck.parquet(path)}")  # noqa: S608
            first += split.rows
        with reading(path) as file:
            schema = file.schema_arrow
        db.execute(f"CREATE VIEW {_source(entry)} AS {' UNION ALL '.join(parts)}")
        queries.append(f"SELECT {_columns(entry, roles, schema)} FROM {_source(entry)}")  # noqa: S608
        if {"relation", "relation_label"} <= set(schema.names):
            pairs = f"SELECT DISTINCT relation, relation_label FROM {_source(entry)} ORDER BY ALL"  # noqa: S608
            relations |= dict(db.execute(pairs).fetchall())
    db.execute(f"CREATE TABLE asked AS {' UNION ALL BY NAME '.join(queries)}")
    db.execute("""
        CREATE TABLE subjects AS SELECT subject, row_number() OVER (ORDER BY min(row)) - 1 AS number
        FROM asked GROUP BY subject
    """)
    return dict(sorted(relations.items()))


def _columns(entry: ConfigEntry, roles: ColumnRoles, schema: pa.Schema) -> str:
    """The columns of `asked`, of the rows of one config."""
    names = {
        "targets": _texts(roles.targets, schema),
        **{
            name: _texts(column, schema) if column else "[]::VARCHAR[]"
            for name, column in (
                ("previous", roles.previous),
                ("later", roles.later),
                ("neutral", roles.neutral),
            )
        },
    }
    choices = _texts(roles.choices, schema) if roles.choices else "[]::VARCHAR[]"
    chosen = {
        "row": "_row",
        "config": duck.text(entry.name),
        "split": "_split",
        "id": "id",
        "prompt_hash": f"left(sha256({column_sql(roles.prompt)}), {HASH})",
        **{
            name: f"CASE WHEN len({value}) > 0 THEN normals({value}) ELSE [] END"
            for name, value in names.items()
        },
        "raw_targets": names["targets"],
        "choices": choices,
        "alone": f"{not roles.free} AND len({choices}) > 0",
        "day": _first([day_sql(schema, name) for name in roles.time], "DATE"),
        "subject": column_sql(roles.subject),
        "history": _joined(roles.history),
        "question": column_sql(roles.group or "id"),
        "evidence": column_sql(roles.evidence) if roles.evidence else "NULL::VARCHAR",
        "period": f"{column_sql(roles.period)}::VARCHAR" if roles.period else "NULL::VARCHAR",
        "known": _first([column_sql(name) for name in roles.popularity], "BIGINT"),
    }
    return ", ".join(f"{value} AS {duck.name(name)}" for name, value in chosen.items())


def _texts(name: str, schema: pa.Schema) -> str:
    """Answers as a list of texts: of texts, items with label and aliases, or lists of them."""
    kind, texts = column_type(schema, name), column_sql(name)
    if not pa.types.is_list(kind):
        kind, texts = pa.list_(kind), f"list_filter([{texts}], lambda one: one IS NOT NULL)"
    if pa.types.is_struct(kind.value_type):
        texts = (
            f"list_concat(list_transform({texts}, lambda one: one.label), "
            f"flatten(list_transform({texts}, lambda one: one.aliases)))"
        )
    return f"coalesce({texts}, [])"


def _first(columns: Sequence[str], kind: str) -> str:
    return f"coalesce({', '.join([*columns, 'NULL'])})::{kind}"


def _joined(names: Sequence[str]) -> str:
    """Several columns as one text; null where one is."""
    return " || '\t' || ".join(map(column_sql, names)) or "NULL::VARCHAR"


def _strata(
    db: duckdb.DuckDBPyConnection, entry: ConfigEntry, roles: ColumnRoles, cutoff: date | None
) -> dict[str, str]:
    """The strata by which the scores of a config are split: name -> query for `row` and `value`.

    A row counts for each of its values.
    """
    strata = _column_strata(db, entry, roles)
    of_config = f"FROM asked WHERE config = {duck.text(entry.name)}"
    (year_count,) = single_row(db, f"SELECT count(DISTINCT year(day)) {of_config}")
    if year_count and roles.period is None:
        name, printed = ("year", "'%04d', year(day)")
        if year_count > _MANY:
            name, printed = ("decade", "'%04ds', year(day) // 10 * 10")
        strata[name] = f"SELECT row, printf({printed}) AS value {of_config}"
    popularity = _popularity_stratum(db, of_config)
    if popularity is not None:
        strata["popularity"] = popularity
    if year_count and cutoff is not None:
        strata["lag"] = _lag_stratum(of_config, cutoff)
    return strata


def _column_strata(
    db: duckdb.DuckDBPyConnection, entry: ConfigEntry, roles: ColumnRoles
) -> dict[str, str]:
    """A stratum for each column that the roles name, unless it only repeats config or split."""
    own_names = {entry.name, *(split.name for split in entry.splits)}
    strata = {}
    for name in roles.strata:
        value = column_sql(name)
        list_test = f"SELECT typeof({value}) LIKE '%[]' FROM {_source(entry)} LIMIT 1"  # noqa: S608
        if db.execute(list_test).fetchall() == [(True,)]:
            value = f"unnest({value})"
        query = f"SELECT _row AS row, {value}::VARCHAR AS value FROM {_source(entry)}"  # noqa: S608
        rows = db.execute(f"SELECT DISTINCT value FROM ({query})").fetchall()  # noqa: S608
        values = {value for (value,) in rows if value is not None}
        if name == roles.period or not values <= own_names:
            strata[name] = query
    return strata


def _popularity_stratum(db: duckdb.DuckDBPyConnection, of_config: str) -> str | None:
    """Fifths of the subjects by how well they are known; None where there are too few subjects."""
    of_known = f"{of_config} AND known IS NOT NULL"
    ranks = db.execute(f"SELECT max(known) {of_known} GROUP BY subject ORDER BY 1").fetchall()
    if len(ranks) < len(QUINTILES):
        return None
    tests = []
    for number in range(1, len(QUINTILES)):
        (lowest_known,) = ranks[len(ranks) * number // len(QUINTILES)]
        tests.append(f"(known >= {lowest_known})::INT")
    fifths = ", ".join(map(duck.text, QUINTILES))
    return f"SELECT row, [{fifths}][1 + {' + '.join(tests)}] AS value {of_known}"


def _lag_stratum(of_config: str, cutoff: date) -> str:
    """Quarters of a year from the cut-off to the day asked about, such as `-3` or `+1`."""
    quarters = f"year(day) * 4 + quarter(day) - 1 - {Period.of(cutoff, 'quarter').index}"
    ends = f"WHEN {quarters} <= -{_FAR} THEN '-{_FAR} or less' "
    ends += f"WHEN {quarters} >= {_FAR} THEN '+{_FAR} or more'"
    value = f"CASE {ends} ELSE printf('%+d', {quarters}) END"
    return f"SELECT row, {value} AS value {of_config}"


def single_row(db: duckdb.DuckDBPyConnection, query: str) -> tuple[Any, ...]:
    """The only row of a query."""
    (only_row,) = db.execute(query).fetchall()
    return tuple(only_row)
