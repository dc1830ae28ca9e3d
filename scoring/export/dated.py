"""The tables of `as-of` that every layout is made of, with the text of news put back."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

import duckdb

from factdrift.builders.core import duck
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.release.manifest import ConfigEntry
from factdrift.reasoning.as_of.rows import AsOfQuestion, DatedPassage, PassageFact
from factdrift.scoring.export.release import Release, Row

_PASSAGES = "passages.parquet"
TEXT_CONFIG = "text"
"""The corpus of real text, which is taken where no other one is asked for."""
_TABLES = {"passages": DatedPassage, "stated": PassageFact, "questions": AsOfQuestion}
_PREFIXES = {TEXT_CONFIG: "", "statements": "statement-"}
"""The corpora of a release -> what their three configs begin with."""


def has_dated_passages(release: Release) -> bool:
    """Return whether a release is a dated corpus with questions, as `as-of` makes them."""
    column_names = [field.name for field in fields(DatedPassage)]
    for config in release.manifest.configs:
        if [column.name for column in config.columns] == column_names:
            return True
    return False


@dataclass(frozen=True)
class DatedTables:
    """The three configs of one corpus of a release.

    In SQL they are `passages` (with text), `stated` and `questions`.
    """

    release: Release
    configs_by_table: Mapping[str, list[ConfigEntry]]
    passages_sql: str

    @classmethod
    def of(cls, release: Release) -> "DatedTables":
        """Find the configs of the corpus that is asked for.

        `UserError`: the release has no such corpus, or its text is neither in the release nor in a
        folder of `factdrift corpus`.
        """
        corpus_name = release.config or TEXT_CONFIG
        if corpus_name not in _PREFIXES:
            hint = f"there are {' and '.join(_PREFIXES)}"
            raise UserError(
                f"no corpus {corpus_name!r}", where=display_path(release.folder), hint=hint
            )
        configs_by_table: dict[str, list[ConfigEntry]] = {}
        for table_name, row_type in _TABLES.items():
            config_name = f"{_PREFIXES[corpus_name]}{table_name}"
            own_configs = [
                config for config in release.configs(row_type) if config.name == config_name
            ]
            if not own_configs:
                text = f"{release.manifest.dataset} has no rows of {config_name}"
                hint = (
                    "a recipe with `statements: yes` makes them"
                    if corpus_name == "statements"
                    else "--config statements takes the sentences made from facts, if it has any"
                )
                raise UserError(text, where=display_path(release.folder), hint=hint)
            configs_by_table[table_name] = own_configs
        return cls(release, configs_by_table, _with_texts(release, configs_by_table))

    @contextmanager
    def query(self, query_sql: str) -> Iterator[Iterator[Row]]:
        """The rows of a query, in which `{passages}` stands for the passages with their text."""
        filled_sql = query_sql.replace("{passages}", self.passages_sql)
        with self.release.query(filled_sql, self.configs_by_table) as rows:
            yield rows

    @contextmanager
    def database(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A database with the views `passages_with_text`, `stated` and `questions`."""
        with self.release.database(self.configs_by_table) as db:
            db.execute(f"CREATE VIEW passages_with_text AS FROM {self.passages_sql}")
            yield db


def news_passages(corpus_folder: Path | None) -> Path:
    """Return the file of passages in a folder of `factdrift corpus`.

    Raises `UserError` if there is none.
    """
    passages_file = (corpus_folder or Path()) / _PASSAGES
    if corpus_folder is None or not passages_file.is_file():
        raise UserError(
            "the text of news is not in the release, and its passages are needed",
            where=display_path(corpus_folder) if corpus_folder else None,
            hint="factdrift corpus ARCHIVES --out FOLDER makes them; then --corpus FOLDER",
        )
    return passages_file


_TEXTS = """(
    SELECT p.* REPLACE (CASE WHEN p.text != '' THEN p.text ELSE c.text END AS text)
    FROM passages p LEFT JOIN {corpus} c ON c.id = p.place
)"""


def _with_texts(release: Release, configs_by_table: Mapping[str, list[ConfigEntry]]) -> str:
    """Return a table expression for the passages with their text."""
    without_text = "SELECT 1 FROM passages WHERE text = '' LIMIT 1"
    with release.query(without_text, configs_by_table) as rows:
        if not any(rows):
            return "passages"
    passages_file = news_passages(release.corpus)
    texts_sql = _TEXTS.format(corpus=duck.parquet(passages_file))
    lost_sql = f"SELECT count(*) AS n FROM {texts_sql} WHERE text IS NULL"  # noqa: S608 - ours
    with release.query(lost_sql, configs_by_table) as rows:
        if lost_count := next(rows)["n"]:
            hint = "make it of all the archives that the release was made from"
            raise UserError(
                f"it lacks {lost_count:,} passages of the release", where=passages_file, hint=hint
            )
    return texts_sql
