"""The questions of a release, as views and tables of a database: one line for each row.

They are read from the columns that the manifest names. The texts of articles and pages are not
read. What concerns the whole release is asked of its files, a few columns at a time; the table
`asked` has those rows alone that a score depends on.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal

import duckdb
import numpy as np
import pyarrow as pa
from duckdb.func import ARROW

from factdrift.builders.core import duck
from factdrift.builders.core.arrays import (
    BLANK,
    NO_LENGTH,
    flag_array,
    number_array,
    numbers_of,
    text_array,
)
from factdrift.builders.core.config import did_you_mean, display_path
from factdrift.builders.core.dates import Period
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.schema import reading
from factdrift.builders.release.histories import rows_sql
from factdrift.builders.release.manifest import ConfigEntry, Manifest, load_manifest, locate_file
from factdrift.builders.release.sql import (
    column_sql,
    column_type,
    day_sql,
    first_sql,
    joined_sql,
)
from factdrift.builders.rows.roles import ColumnRoles
from factdrift.builders.text.squad import (
    form_says_nothing,
    normalize_answer,
    normalize_many,
    normalize_or_keep,
)
from factdrift.scoring.intervals import BUNDLES

# The most years that are a stratum each; of more, decades are. A guess that the samples do not
# contradict: a figure of more points is crowded, and TimeQA asks about centuries.
_MANY = 40
# A second thread would wait while the first one is in a function of Python, and takes memory.
_THREADS = 1
# Megabytes of the database at most; tables that need more are spilled to disk. Each further config
# adds to what must stay in memory: the files and joins of a query for all of them.
_MEMORY, _MEMORY_OF_CONFIG = 300, 40
# Quarters before and after the cut-off that are told apart: five years, beyond which groups become
# small.
_FAR = 20
# Rows of a release that are read at a time: about 30 MB, and enough that names repeat among them.
_ROWS = 1 << 16
# Texts whose normal forms are remembered: about 30 MB, and enough for the names of a period.
_REMEMBERED = 1 << 17
_NAME_LISTS = ("targets", "previous", "later", "neutral")
"""The columns of `row_names` that are lists of normalised names."""
_ASKING_DAY = "asked_on"
"""The column that has the day on which a row is asked."""
QUINTILES = ("1 (least known)", "2", "3", "4", "5 (best known)")


@dataclass(frozen=True)
class QuestionConfig:
    """A config whose rows ask questions.

    `source`: the name of a view of its rows, whose column `_row` has their number. `columns` and
    `names` are SQL over it: the columns of `release_rows`, and the lists of names of a row;
    `names_key` has a hash of what these lists are made of. `strata`: name -> a query for the `row`
    and `value` of everything that its scores are split by. `asks_about_days`: whether its rows have
    a day of asking beside the day that they ask about.
    """

    name: str
    source: str
    columns: str
    names: str
    names_key: str
    roles: ColumnRoles
    strata: Mapping[str, str]
    asks_about_days: bool = False


@dataclass(frozen=True)
class ReleaseQuestions:
    """The questions of a release, config after config, as the view `release_rows` of `db`.

    Its columns: `row` (its number), `config`, `split`, `id`, `choices` as they stand, `alone`
    (whether a row is only asked with its choices), `day` (the last one asked about), `subject`,
    `history`, `question` (what it is a variant of), `twin` (the id of its twin), `evidence`,
    `period`, `known` (how well its subject is). The view `accepted` has `row` and `raw_targets`,
    the answers as they stand, and the view `prompts` has `row` and `prompt`. The table
    `subjects` numbers the subjects, in as many `bundles` at most (see `scoring.intervals`).
    `relations`: names of relations by id. `read_asked` makes the table `asked`, of the rows that a
    score depends on, and adds what takes longest to read.
    """

    db: duckdb.DuckDBPyConnection
    manifest: Manifest
    configs: tuple[QuestionConfig, ...]
    relations: Mapping[str, str]
    bundles: int


@contextmanager
def read_questions(
    release_folder: Path, configs: Sequence[str] | None = None, cutoff_day: date | None = None
) -> Iterator[ReleaseQuestions]:
    """Read the questions of a release, of all its configs or of some.

    `cutoff_day`: the last day that a model knows of; with it there is a stratum `lag`. `UserError`:
    there is no release, no such config, or no config that asks questions.
    """
    manifest = load_manifest(release_folder)
    chosen_configs = question_configs(manifest, release_folder, configs)
    megabytes = _MEMORY + _MEMORY_OF_CONFIG * (len(chosen_configs) - 1)
    with duck.connect(memory=f"{megabytes}MB", threads=_THREADS) as db:
        db.create_function("normals", _normals, ["VARCHAR[]"], "VARCHAR[]", type=ARROW)
        db.create_function("says_nothing", _silences, ["VARCHAR"], "BOOLEAN", type=ARROW)
        with reading_release(release_folder):
            schemas = _fill(db, release_folder, chosen_configs)
            (subject_count,) = single_row(db, "SELECT max(number) + 1 FROM subjects")
            configs_asked = tuple(
                QuestionConfig(
                    name=entry.name,
                    source=_source(entry),
                    columns=_columns(entry, roles, schema),
                    names=_name_lists(roles, schema),
                    names_key=_names_key(roles, schema),
                    roles=roles,
                    strata=_strata(db, entry, roles, cutoff_day),
                    asks_about_days=any(column.name == _ASKING_DAY for column in entry.columns),
                )
                for (entry, roles), schema in zip(chosen_configs, schemas, strict=True)
            )
            relation_labels = _relation_labels(db, chosen_configs, schemas)
        yield ReleaseQuestions(
            db, manifest, configs_asked, relation_labels, min(int(subject_count or 0), BUNDLES)
        )


@contextmanager
def reading_release(release_folder: Path) -> Iterator[None]:
    """Raise `UserError` for what goes wrong where files of a release are read."""
    try:
        yield
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        hint = "factdrift verify says what is damaged"
        raise UserError(
            str(error).splitlines()[0], where=display_path(release_folder), hint=hint
        ) from error


def question_configs(
    manifest: Manifest, release_folder: Path, wanted_names: Sequence[str] | None = None
) -> list[tuple[ConfigEntry, ColumnRoles]]:
    """Return the configs that ask questions, or some of them, with the roles of their columns."""
    asking_by_name = {entry.name: (entry, entry.roles) for entry in manifest.configs if entry.roles}
    if not asking_by_name:
        raise UserError(
            "no config of this release asks anything", where=display_path(release_folder)
        )
    for config_name in wanted_names or ():
        if config_name not in asking_by_name:
            raise unknown_name_error(
                f"no config {config_name!r} that asks", config_name, asking_by_name, release_folder
            )
    return [
        asking_by_name[config_name]
        for config_name in asking_by_name
        if wanted_names is None or config_name in wanted_names
    ]


def unknown_name_error(
    message: str, config_name: str, known_names: Iterable[str], release: Path
) -> UserError:
    """Return an error for a name that a release does not have; it suggests a similar name."""
    nearest_name = did_you_mean(config_name, known_names)
    hint = (
        f"did you mean {nearest_name}?" if nearest_name else f"there are {', '.join(known_names)}"
    )
    return UserError(message, where=display_path(release), hint=hint)


class NormalForms:
    """Normalises columns of texts: each distinct text of a column once, and of columns to come.

    The rows of a fact repeat its names in every period. What is remembered is bounded: where it
    would be more than `_REMEMBERED` texts, it is forgotten.
    """

    def __init__(self) -> None:
        self._forms: dict[str, str] = {}

    def of(self, texts: pa.Array) -> pa.Array:
        """Return the form of each text, as `normalize_or_keep` gives it; that of null is blank."""
        encoded = texts.fill_null(BLANK).dictionary_encode()
        distinct_texts = encoded.dictionary.to_pylist()
        if len(self._forms) + len(distinct_texts) > _REMEMBERED:
            self._forms.clear()
        new_texts = [text for text in distinct_texts if text not in self._forms]
        self._forms.update(zip(new_texts, _forms(new_texts), strict=True))
        distinct_forms = text_array([self._forms[text] for text in distinct_texts])
        return distinct_forms.take(encoded.indices)


def _forms(answer_texts: Sequence[str]) -> list[str]:
    return [
        normal_text or normalize_or_keep(answer_text)
        for normal_text, answer_text in zip(normalize_many(answer_texts), answer_texts, strict=True)
    ]


def _with_items(lists: pa.Array, items: pa.Array) -> pa.Array:
    """Return lists with other items, in the place of theirs; null is a list without any."""
    list_lengths = numbers_of(lists.value_lengths().fill_null(NO_LENGTH))
    list_starts = np.concatenate(([0], np.cumsum(list_lengths))).astype(np.int32)
    return pa.ListArray.from_arrays(number_array(list_starts), items)


def _normals(answer_lists: pa.ChunkedArray) -> pa.Array:
    """Normalise the texts of lists: a function that the database calls."""
    whole_lists = answer_lists.combine_chunks()
    whole_lists = whole_lists.chunk(0) if isinstance(whole_lists, pa.ChunkedArray) else whole_lists
    answer_texts = whole_lists.flatten().fill_null(BLANK).to_pylist()
    return _with_items(whole_lists, text_array(_forms(answer_texts)))


# What `normalize_or_keep` leaves of a text of articles or of marks alone begins with one of them.
_KEPT = re.compile(r"(?:a|an|the)\b|\W|_|\Z")


def _silences(normal_texts: pa.ChunkedArray) -> pa.Array:
    """Whether answers say that there is none: a function that the database calls.

    `normal_texts` are forms of `normalize_or_keep`.
    """
    return flag_array(
        [
            form_says_nothing(normalize_answer(form) if _KEPT.match(form) else form)
            for form in normal_texts.fill_null(BLANK).to_pylist()
        ]
    )


def _source(entry: ConfigEntry) -> str:
    return duck.name(f"rows of {entry.name}")


def _fill(
    db: duckdb.DuckDBPyConnection,
    release_folder: Path,
    chosen_configs: Sequence[tuple[ConfigEntry, ColumnRoles]],
) -> list[pa.Schema]:
    """Create views of the rows of each config and of all, and the tables of subjects.

    Return the schema of the rows of each config.
    """
    first_row = 0
    config_queries: list[str] = []
    prompt_queries: list[str] = []
    target_queries: list[str] = []
    subject_queries: list[str] = []
    schemas: list[pa.Schema] = []
    for entry, roles in chosen_configs:
        split_queries = []
        for split in entry.splits:
            split_path = locate_file(release_folder, split.file)
            row_columns = (
                f"{first_row} + file_row_number AS _row, {duck.text(split.name)} AS _split, *"
            )
            split_queries.append(f"SELECT {row_columns} FROM {duck.parquet(split_path)}")  # noqa: S608
            first_row += split.rows
        with reading(split_path) as split_file:
            schema = split_file.schema_arrow
        schemas.append(schema)
        db.execute(f"CREATE VIEW {_source(entry)} AS {' UNION ALL '.join(split_queries)}")
        columns = _columns(entry, roles, schema)
        config_queries.append(f"SELECT {columns} FROM {_source(entry)}")  # noqa: S608
        prompt = f"{column_sql(roles.prompt)} AS prompt"
        prompt_queries.append(f"SELECT _row AS row, {prompt} FROM {_source(entry)}")  # noqa: S608
        raw_targets = f"{_texts(roles.targets, schema)} AS raw_targets"
        target_queries.append(f"SELECT _row AS row, {raw_targets} FROM {_source(entry)}")  # noqa: S608
        subject_queries.append(f"""
            SELECT {duck.text(entry.name)} AS config, {column_sql(roles.subject)} AS subject,
                min(_row) AS first_row, max({_known(roles)}) AS known
            FROM {_source(entry)} GROUP BY {column_sql(roles.subject)}
        """)  # noqa: S608
    db.execute(f"CREATE VIEW accepted AS {' UNION ALL '.join(target_queries)}")
    db.execute(f"CREATE VIEW prompts AS {' UNION ALL '.join(prompt_queries)}")
    db.execute(f"CREATE VIEW release_rows AS {' UNION ALL BY NAME '.join(config_queries)}")
    db.execute(f"""
        CREATE TABLE config_subjects AS {" UNION ALL ".join(subject_queries)};
        CREATE TABLE subjects AS
            SELECT subject, row_number() OVER (ORDER BY min(first_row)) - 1 AS number
            FROM config_subjects GROUP BY subject
    """)  # noqa: S608
    return schemas


def _relation_labels(
    db: duckdb.DuckDBPyConnection,
    chosen_configs: Sequence[tuple[ConfigEntry, ColumnRoles]],
    schemas: Sequence[pa.Schema],
) -> dict[str, str]:
    relation_labels: dict[str, str] = {}
    for (entry, _), schema in zip(chosen_configs, schemas, strict=True):
        if {"relation", "relation_label"} <= set(schema.names):
            label_query = (
                f"SELECT DISTINCT relation, relation_label FROM {_source(entry)} ORDER BY ALL"  # noqa: S608
            )
            relation_labels |= dict(db.execute(label_query).fetchall())
    return dict(sorted(relation_labels.items()))


def read_asked(questions: ReleaseQuestions, release_folder: Path) -> None:
    """Make the tables of the rows that scores depend on, from `given` with the rows that have one.

    `asked` has the answered rows and all rows of their histories, with some of the columns of
    `release_rows`, and `fact`, the number of the history; `bundle`, that of the subject; `dated`,
    whether it has a day and a period; `name_set`. The view `row_names` has lists of normalised
    names of the same rows: `targets`, `previous`, `later` and `neutral`; rows of a fact that have
    the same names share them in `name_sets`. The view `histories` has `fact`, `day` and `targets`
    of all configs of the release: so the verdict on an answer does not depend on which configs are
    scored, and a few answers are judged without reading all rows.
    """
    db = questions.db
    with reading_release(release_folder):
        _create(questions, "given_histories", "columns", "given", "SELECT row, history FROM {rows}")
        db.execute("""
            CREATE TABLE facts AS SELECT history, (row_number() OVER ())::INT AS fact FROM (
                SELECT DISTINCT history FROM given_histories WHERE history IS NOT NULL
            );
            CREATE TABLE needed AS
                SELECT row, fact FROM release_rows JOIN facts USING (history)
                UNION ALL SELECT row, NULL FROM given_histories WHERE history IS NULL;
            DROP TABLE given_histories
        """)
        key_query = "SELECT row, fact, key FROM {rows} JOIN needed USING (row)"
        _create(questions, "name_keys", "names_key", "needed", key_query)
        db.execute("""
            CREATE TABLE shared_names AS
                SELECT fact, key, min(row) AS name_set FROM name_keys
                WHERE fact IS NOT NULL GROUP BY fact, key
        """)
        _create_asked(questions)
        db.execute("""
            DROP TABLE name_keys;
            DROP TABLE shared_names;
            CREATE TABLE name_rows AS SELECT DISTINCT name_set AS row FROM asked
        """)
        set_query = "SELECT * RENAME (row AS name_set) FROM {rows}"
        name_queries = list(_row_queries(questions, "names", "name_rows", set_query))
        _create_normalised(db, "name_sets", name_queries, _NAME_LISTS)
        db.execute("""
            CREATE VIEW row_names AS
                SELECT row, s.* EXCLUDE (name_set) FROM asked JOIN name_sets s USING (name_set)
        """)
        scored_names = {config.name for config in questions.configs}
        other_entries = [
            entry for entry in questions.manifest.configs if entry.name not in scored_names
        ]
        other_rows = rows_sql(release_folder, other_entries)
        own_rows = "SELECT fact, day, targets FROM asked JOIN name_sets USING (name_set)"
        if other_rows is not None:
            other_query = f"SELECT fact, day, targets FROM ({other_rows})"  # noqa: S608
            other_query += " JOIN facts USING (history)"
            _create_normalised(db, "other_histories", [other_query], ["targets"])
            own_rows += " UNION ALL FROM other_histories"
        db.execute(f"CREATE VIEW histories AS {own_rows}")


def _create_asked(questions: ReleaseQuestions) -> None:
    """Create `asked`, with the columns that some config has: others would take memory."""
    has_choices = any(config.roles.choices for config in questions.configs)
    has_evidence = any(config.roles.evidence for config in questions.configs)
    has_others = len(questions.configs) > 1
    has_variants = has_others or any(config.roles.group for config in questions.configs)
    asked_query = f"""
        SELECT row, config, split, alone, day, fact, coalesce(name_set, row) AS name_set,
            {"choices," if has_choices else ""} {"evidence," if has_evidence else ""}
            {"question," if has_variants else ""} {"id," if has_others else ""}
            number % {BUNDLES} AS bundle, day IS NOT NULL AND period IS NOT NULL AS dated
        FROM {{rows}} JOIN name_keys USING (row)
            LEFT JOIN shared_names USING (fact, key) LEFT JOIN subjects USING (subject)
    """  # noqa: S608
    _create(questions, "asked_rows", "columns", "needed", asked_query)
    questions.db.execute(f"""
        CREATE VIEW asked AS SELECT * {"" if has_choices else ", []::VARCHAR[] AS choices"}
            {"" if has_evidence else ", NULL::VARCHAR AS evidence"}
            {"" if has_variants else ", NULL::VARCHAR AS question"} FROM asked_rows
    """)  # noqa: S608


def _row_queries(
    questions: ReleaseQuestions,
    columns: Literal["columns", "names", "names_key"],
    chosen_table: str,
    query: str,
) -> Iterator[str]:
    """Yield a query for each config, of the rows whose number is in a table, in place of `{rows}`.

    The rows are chosen before anything is made of their columns. A query for all configs would
    hold the tables of as many joins at once.
    """
    for config in questions.configs:
        yield query.format(
            rows=f"(SELECT {getattr(config, columns)} FROM {config.source} "  # noqa: S608
            f"SEMI JOIN {chosen_table} ON {chosen_table}.row = _row)"
        )


def _create(
    questions: ReleaseQuestions,
    table_name: str,
    columns: Literal["columns", "names", "names_key"],
    chosen_table: str,
    query: str,
) -> None:
    """Create a table from the queries of `_row_queries`."""
    for place, row_query in enumerate(_row_queries(questions, columns, chosen_table, query)):
        beginning = (
            f"INSERT INTO {table_name} BY NAME" if place else f"CREATE TABLE {table_name} AS"
        )
        questions.db.execute(f"{beginning} {row_query}")


def _create_normalised(
    db: duckdb.DuckDBPyConnection,
    table_name: str,
    queries: Sequence[str],
    list_names: Sequence[str],
) -> None:
    """Create a table from queries, with normalised texts in some lists of its columns."""
    normal_forms = NormalForms()
    db.execute(f"CREATE TABLE {table_name} AS FROM ({queries[0]}) LIMIT 0")
    for query in queries:
        for batch in db.cursor().sql(query).to_arrow_reader(_ROWS):
            for name in list_names:
                place = batch.schema.get_field_index(name)
                lists = batch.column(place)
                items = normal_forms.of(lists.flatten())
                batch = batch.set_column(place, name, _with_items(lists, items))
            db.register("batch", pa.Table.from_batches([batch]))
            db.execute(f"INSERT INTO {table_name} BY NAME FROM batch")
            db.unregister("batch")


def _names_key(roles: ColumnRoles, schema: pa.Schema) -> str:
    """Return the number of the rows of one config and a hash of the columns with names, as SQL.

    The database hashes lists as their items in a row, so that lengths have to tell them apart.
    """
    hashed: list[str] = []
    for column in (roles.targets, roles.previous, roles.later, roles.neutral):
        if column is None:
            hashed.append("-1")
            continue
        if pa.types.is_list(column_type(schema, column)):
            hashed.append(f"len({column_sql(column)})")
        hashed.append(column_sql(column))
    return f"_row AS row, hash({', '.join(hashed)}) AS key"


def _name_lists(roles: ColumnRoles, schema: pa.Schema) -> str:
    """Return the lists of names of the rows of one config as SQL, not yet normalised."""
    columns = (roles.targets, roles.previous, roles.later, roles.neutral)
    list_texts = [_texts(column, schema) if column else "[]::VARCHAR[]" for column in columns]
    named_texts = [
        f"{texts} AS {name}" for name, texts in zip(_NAME_LISTS, list_texts, strict=True)
    ]
    return ", ".join(["_row AS row", *named_texts])


def _columns(entry: ConfigEntry, roles: ColumnRoles, schema: pa.Schema) -> str:
    """Return the columns of the table `asked`, as SQL over the rows of one config."""
    choices_sql = _texts(roles.choices, schema) if roles.choices else "[]::VARCHAR[]"
    column_expressions = {
        "row": "_row",
        "config": duck.text(entry.name),
        "split": "_split",
        "id": "id",
        "choices": choices_sql,
        "alone": f"{not roles.free} AND len({choices_sql}) > 0",
        "day": first_sql([day_sql(schema, name) for name in roles.time], "DATE"),
        "subject": column_sql(roles.subject),
        "history": joined_sql(roles.history),
        "question": column_sql(roles.group or "id"),
        "twin": column_sql(roles.twin) if roles.twin else "NULL::VARCHAR",
        "evidence": column_sql(roles.evidence) if roles.evidence else "NULL::VARCHAR",
        "period": f"{column_sql(roles.period)}::VARCHAR" if roles.period else "NULL::VARCHAR",
        "known": _known(roles),
    }
    return ", ".join(f"{value} AS {duck.name(name)}" for name, value in column_expressions.items())


def _known(roles: ColumnRoles) -> str:
    """Return SQL for how well known the subject of a row is."""
    return first_sql([column_sql(name) for name in roles.popularity], "BIGINT")


def _texts(name: str, schema: pa.Schema) -> str:
    """Return SQL for the texts of answers: of texts, items with aliases, or lists of these."""
    column_kind, texts_sql = column_type(schema, name), column_sql(name)
    if not pa.types.is_list(column_kind):
        column_kind, texts_sql = (
            pa.list_(column_kind),
            f"list_filter([{texts_sql}], lambda one: one IS NOT NULL)",
        )
    if pa.types.is_struct(column_kind.value_type):
        texts_sql = (
            f"list_concat(list_transform({texts_sql}, lambda one: one.label), "
            f"flatten(list_transform({texts_sql}, lambda one: one.aliases)))"
        )
    return f"coalesce({texts_sql}, [])"


def _strata(
    db: duckdb.DuckDBPyConnection, entry: ConfigEntry, roles: ColumnRoles, cutoff_day: date | None
) -> dict[str, str]:
    """Return the strata of a config's scores: name -> query for `row` and `value`.

    A row counts for each of its values.
    """
    config_strata = _column_strata(db, entry, roles)
    of_config = f"FROM asked WHERE config = {duck.text(entry.name)}"
    year_query = "SELECT count(DISTINCT year(day)) FROM release_rows WHERE config = ?"
    ((year_count,),) = db.execute(year_query, [entry.name]).fetchall()
    if year_count and roles.period is None:
        stratum_name, print_arguments = ("year", "'%04d', year(day)")
        if year_count > _MANY:
            stratum_name, print_arguments = ("decade", "'%04ds', year(day) // 10 * 10")
        config_strata[stratum_name] = f"SELECT row, printf({print_arguments}) AS value {of_config}"
    popularity_query = _popularity_stratum(db, entry)
    if popularity_query is not None:
        config_strata["popularity"] = popularity_query
    if year_count and cutoff_day is not None:
        config_strata["lag"] = _lag_stratum(of_config, cutoff_day)
    return config_strata


def _column_strata(
    db: duckdb.DuckDBPyConnection, entry: ConfigEntry, roles: ColumnRoles
) -> dict[str, str]:
    """Return a stratum for each column that the roles name, unless it repeats config or split."""
    own_names = ", ".join(map(duck.text, [entry.name, *(split.name for split in entry.splits)]))
    column_strata = {}
    for name in roles.strata:
        value = column_sql(name)
        list_test = f"SELECT typeof({value}) LIKE '%[]' FROM {_source(entry)} LIMIT 1"  # noqa: S608
        if db.execute(list_test).fetchall() == [(True,)]:
            value = f"unnest({value})"
        value_query = f"SELECT _row AS row, {value}::VARCHAR AS value FROM {_source(entry)}"  # noqa: S608
        other_test = f"SELECT 1 FROM ({value_query}) WHERE value NOT IN ({own_names}) LIMIT 1"  # noqa: S608
        if name == roles.period or db.execute(other_test).fetchall():
            column_strata[name] = value_query
    return column_strata


def _popularity_stratum(db: duckdb.DuckDBPyConnection, entry: ConfigEntry) -> str | None:
    """Return a query for fifths of the subjects by popularity; None for fewer than five."""
    known_ranks = db.sql(f"""
        SELECT known FROM config_subjects
        WHERE config = {duck.text(entry.name)} AND known IS NOT NULL ORDER BY known
    """).to_arrow_table()["known"]  # noqa: S608
    if len(known_ranks) < len(QUINTILES):
        return None
    fifth_tests = []
    for fifth_number in range(1, len(QUINTILES)):
        lowest_known = known_ranks[len(known_ranks) * fifth_number // len(QUINTILES)].as_py()
        fifth_tests.append(f"(known >= {lowest_known})::INT")
    fifth_names = ", ".join(map(duck.text, QUINTILES))
    of_release = f"FROM release_rows WHERE config = {duck.text(entry.name)}"
    fifth = f"[{fifth_names}][1 + {' + '.join(fifth_tests)}]"
    return f"SELECT row, {fifth} AS value {of_release} AND known IS NOT NULL"


def _lag_stratum(of_config: str, cutoff_day: date) -> str:
    """Return a query for the quarters from the cut-off to the day asked about: `-3`, `+1`."""
    quarters_behind = f"year(day) * 4 + quarter(day) - 1 - {Period.of(cutoff_day, 'quarter').index}"
    end_cases = f"WHEN {quarters_behind} <= -{_FAR} THEN '-{_FAR} or less' "
    end_cases += f"WHEN {quarters_behind} >= {_FAR} THEN '+{_FAR} or more'"
    value = f"CASE {end_cases} ELSE printf('%+d', {quarters_behind}) END"
    return f"SELECT row, {value} AS value {of_config}"


def single_row(db: duckdb.DuckDBPyConnection, row_query: str) -> tuple[Any, ...]:
    """Run a query that has one row, and return it."""
    (only_row,) = db.execute(row_query).fetchall()
    return tuple(only_row)
