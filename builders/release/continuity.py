"""What a version published and the next one keeps: `factdrift release … --since VERSION`.

A window that moves on drops its oldest periods, and what lies in it was published already. There a
row stays to the letter if the new dump says the same of it, whatever its names and templates are
now; and if the new dump can only not be sure any more, as after an office's next holder came and
nobody closed the term before. Where the dump says something else, or a correction does, the new row
counts. Columns that are measured are always those of the new dump.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import duckdb
import pyarrow as pa

from factdrift.builders.core import duck
from factdrift.builders.core.config import display_path
from factdrift.builders.core.corrections import DROP_STEP, Corrections
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import replacing
from factdrift.builders.core.schema import BATCH_ROWS, batches
from factdrift.builders.release.card import DROPPED
from factdrift.builders.release.manifest import (
    ColumnEntry,
    ConfigEntry,
    Continued,
    Manifest,
    SplitEntry,
    load_manifest,
    locate_file,
    own_sha256,
)
from factdrift.builders.release.parquet import write_split
from factdrift.builders.release.version import published_versions
from factdrift.builders.rows.roles import ColumnRoles

# ruff: noqa: S608 - names and literals are quoted by `duck`

KEPT = "kept.parquet"
"""The file of a release with the rows that it keeps though its own dump is not sure of them."""
LAST = "last"
"""What `--since` says for the newest version."""
_PAIR_AND_PERIOD = ("subject", "relation", "period")


@dataclass(frozen=True, slots=True)
class KeptRow:
    """A row as an earlier version published it, which the new dump is not sure of."""

    id: Annotated[str, "id of the row"]
    config: Annotated[str, "its config"]
    split: Annotated[str, "its split"]
    reason: Annotated[str, "why the new dump alone would leave it out: a reason of dropped.parquet"]


@dataclass(frozen=True)
class EarlierRelease:
    """The release that a new version goes on from.

    `corrected_rows` and `corrected_subjects` are those that corrections are about, now or then:
    nothing of them is kept.
    """

    folder: Path
    manifest: Manifest
    corrected_rows: Collection[str] = ()
    corrected_subjects: Collection[str] = ()


def earlier_release(since: str, dataset: str, out: Path) -> EarlierRelease | None:
    """Return the release that `--since` names: a version in `out`, `last`, or a folder.

    None: `last`, and there is none yet. Raises `UserError` for a release of another dataset.
    """
    versions = [str(version) for version in published_versions(out / dataset)]
    if since == LAST and not versions:
        return None
    named_version = versions[-1] if since == LAST else since
    folder = out / dataset / named_version if named_version in versions else Path(since)
    if not folder.is_dir():
        there = ", ".join(versions) or "none"
        raise UserError(
            f"--since {since}: there is no such version of {dataset}",
            hint=f"in {display_path(out / dataset)} there is {there}; {LAST}: the newest",
        )
    release_manifest = load_manifest(folder)
    if release_manifest.dataset != dataset:
        raise UserError(
            f"is a release of {release_manifest.dataset}, and not of {dataset}",
            where=display_path(folder),
        )
    return EarlierRelease(folder, release_manifest)


class KeptRows:
    """Puts what an earlier release published into the files of a new one, config by config.

    `configs` are those of the new release, whose files and dropped rows lie in `folder`.
    """

    def __init__(
        self, folder: Path, configs: Sequence[ConfigEntry], earlier: EarlierRelease
    ) -> None:
        self._folder, self._earlier = folder, earlier
        self._asking_files = [
            (split.name, folder / split.file)
            for config in configs
            for split in config.splits
            if config.roles is not None
        ]
        self._kept: list[KeptRow] = []
        self._reworded = 0
        self._unlike: list[str] = []

    def keep(self, config: ConfigEntry, row_type: type, group: int) -> ConfigEntry:
        """Write the splits of a config anew where rows stay as they were published."""
        old_config = self._earlier.manifest.config(config.name)
        if config.roles is None or old_config is None:
            return config
        if [*config.kinds()] != [*old_config.kinds()]:
            self._unlike.append(config.name)
            return config
        old_files = {
            split.name: locate_file(self._earlier.folder, split.file) for split in old_config.splits
        }
        shared_names = [split.name for split in config.splits if split.name in old_files]
        if not shared_names:
            return config
        with duck.connect(self._folder) as db:
            self._find(db, config, config.roles, [(name, old_files[name]) for name in shared_names])
            new_splits = [
                self._written(db, config, split, old_files[split.name], row_type, group)
                if split.name in old_files
                else split
                for split in config.splits
            ]
        return config.model_copy(update={"splits": tuple(new_splits)})

    def save(self) -> Continued:
        """Write the list of what was kept though the dump is not sure; return the counts."""
        kept_rows = sorted(self._kept, key=lambda row: (row.config, row.split, row.id))
        write_split(self._folder / KEPT, KeptRow, lambda: batches(KeptRow, kept_rows))
        return Continued(
            version=self._earlier.manifest.version,
            manifest_sha256=own_sha256(self._earlier.folder),
            reworded=self._reworded,
            kept=len(kept_rows),
            unlike=tuple(self._unlike),
        )

    def _find(
        self,
        db: duckdb.DuckDBPyConnection,
        config: ConfigEntry,
        roles: ColumnRoles,
        old_files: Sequence[tuple[str, Path]],
    ) -> None:
        """Make the tables `reworded` and `kept` of rows with their splits, by id."""
        new_files = [(split.name, self._folder / split.file) for split in config.splits]
        db.execute(f"CREATE TEMP VIEW old_rows AS {_all_rows(old_files)}")
        db.execute(f"CREATE TEMP VIEW new_rows AS {_all_rows(new_files)}")
        db.execute(f"CREATE TEMP VIEW asked AS {_all_rows(self._asking_files, 'id')}")
        for table_name, values in (
            ("corrected_rows", self._earlier.corrected_rows),
            ("corrected_subjects", self._earlier.corrected_subjects),
        ):
            select = "SELECT unnest(?::VARCHAR[]) AS name"
            db.execute(f"CREATE TEMP TABLE {table_name} AS {select}", [sorted(values)])
        by_name = {column.name: column for column in config.columns}
        difference_terms = [
            f"n.{duck.name(name)} IS DISTINCT FROM o.{duck.name(name)}"
            for name, column in by_name.items()
            if name != "id" and column.measured != "*"
        ]
        agreement_terms = [
            f"{_facts_in('n', by_name[name])} IS NOT DISTINCT FROM {_facts_in('o', by_name[name])}"
            for name in sorted(_deciding_columns(roles) & by_name.keys())
        ]
        db.execute(f"""
            CREATE TEMP TABLE reworded AS
            SELECT o.id, o."__split" FROM new_rows n
            JOIN old_rows o ON n.id = o.id AND n."__split" = o."__split"
            WHERE ({" OR ".join(difference_terms) or "false"})
                AND {" AND ".join(agreement_terms) or "true"}
                AND o.id NOT IN (FROM corrected_rows)
        """)
        self._find_kept(db, by_name.keys())

    def _find_kept(self, db: duckdb.DuckDBPyConnection, column_names: Collection[str]) -> None:
        """Make the table `kept`: rows that the new dump left out, and does not contradict.

        What it left out has its reason under the row's id, or under its pair and period.
        """
        shared = [name for name in _PAIR_AND_PERIOD if name in column_names]
        places = ", ".join(["o.id", 'o."__split"', *(f"o.{name}" for name in shared)])
        of_subject = "AND o.subject NOT IN (FROM corrected_subjects)" if "subject" in shared else ""
        pair_join = (
            """UNION ALL SELECT g.id, g."__split", d.reason FROM gone g JOIN told d
                ON (g.subject, g.relation, g.period) = (d.subject, d.relation, d.period)"""
            if len(shared) == len(_PAIR_AND_PERIOD)
            else ""
        )
        db.execute(f"""
            CREATE TEMP TABLE kept AS
            WITH gone AS (
                SELECT {places} FROM old_rows o ANTI JOIN asked a ON a.id = o.id
                WHERE o.id NOT IN (FROM corrected_rows) {of_subject}
            ), told AS (
                FROM {duck.parquet(self._folder / DROPPED)} WHERE step != {duck.text(DROP_STEP)}
            ), reasons AS (
                SELECT g.id, g."__split", d.reason FROM gone g JOIN told d ON d.item = g.id
                {pair_join}
            )
            SELECT id, "__split", min(reason) AS reason FROM reasons GROUP BY ALL
        """)

    def _written(
        self,
        db: duckdb.DuckDBPyConnection,
        config: ConfigEntry,
        split: SplitEntry,
        old_file: Path,
        row_type: type,
        group: int,
    ) -> SplitEntry:
        """Write one split anew if some of its rows stay as they were; return its entry."""
        of_split = f'WHERE "__split" = {duck.text(split.name)}'
        (reworded_count,) = db.execute(f"SELECT count(*) FROM reworded {of_split}").fetchall()[0]
        kept_query = f"SELECT id, reason FROM kept {of_split} ORDER BY id"
        kept_reasons = db.execute(kept_query).fetchall()
        if not (reworded_count or kept_reasons):
            return split
        new_file = self._folder / split.file
        with replacing(new_file) as unfinished:
            query = _merged(config.columns, new_file, old_file, of_split)
            row_count = write_split(unfinished, row_type, partial(_flow, db, query), group)
        self._reworded += reworded_count
        self._kept += [
            KeptRow(row_id, config.name, split.name, reason) for row_id, reason in kept_reasons
        ]
        return split.model_copy(update={"rows": row_count})


def _flow(db: duckdb.DuckDBPyConnection, query: str) -> Iterator[pa.RecordBatch]:
    batch_reader: pa.RecordBatchReader = db.sql(query).to_arrow_reader(BATCH_ROWS)
    yield from batch_reader


def _all_rows(files: Sequence[tuple[str, Path]], columns: str = "*") -> str:
    """Return SQL for the rows of several splits, with the name of each."""
    return " UNION ALL ".join(
        f'SELECT {columns}, {duck.text(name)} AS "__split" FROM {duck.parquet(path)}'
        for name, path in files
    )


def _merged(columns: Sequence[ColumnEntry], new_file: Path, old_file: Path, of_split: str) -> str:
    """Return SQL for the rows of a split: those of the new file, then those that are kept."""
    names = [duck.name(column.name) for column in columns]
    chosen = [
        f"n.{name}" if column.measured == "*" else f"if(o.id IS NULL, n.{name}, o.{name}) AS {name}"
        for name, column in zip(names, columns, strict=True)
    ]
    new_rows, old_rows = (
        duck.parquet(path).removesuffix(")") + ", file_row_number = true)"
        for path in (new_file, old_file)
    )
    return f"""
        SELECT {", ".join(names)} FROM (
            SELECT {", ".join(chosen)}, 0 AS "__part", n.file_row_number AS "__place"
            FROM {new_rows} n LEFT JOIN (
                FROM {old_rows} SEMI JOIN (FROM reworded {of_split}) USING (id)) o ON o.id = n.id
            UNION ALL
            SELECT {", ".join(names)}, 1, file_row_number
            FROM {old_rows} SEMI JOIN (FROM kept {of_split}) USING (id)
        ) ORDER BY "__part", "__place"
    """


def _deciding_columns(roles: ColumnRoles) -> set[str]:
    """The columns that say what a row asks and what is right, apart from its words."""
    columns = (roles.answers, roles.previous, roles.later, roles.neutral, roles.subject)
    names = {name.partition(".")[0] for name in columns if name}
    return names | {*roles.time, *roles.history, *filter(None, (roles.period, roles.evidence))}


def _facts_in(side: str, column: ColumnEntry) -> str:
    """Return SQL for what a column says apart from names: of items their ids."""
    value = f"{side}.{duck.name(column.name)}"
    if column.type.startswith("list<struct<id: string"):
        return f"list_sort(list_transform({value}, lambda item: item.id))"
    if column.type.startswith("struct<id: string"):
        return f"struct_extract({value}, 'id')"
    return value


def with_changed_corrections(earlier: EarlierRelease, corrections: Corrections) -> EarlierRelease:
    """Return a release with what was corrected otherwise when it was made than it is now."""
    old_ones, new_ones = (
        {
            entry.id: (entry.row, entry.statement, entry.drop, dict(entry.mend or {}))
            for entry in entries
            if entry.withdrawn is None
        }
        for entries in (
            earlier.manifest.corrections,
            [
                entry
                for entry in corrections.corrections
                if entry.statement is not None or entry.dataset == earlier.manifest.dataset
            ],
        )
    )
    changed = [
        entry
        for old_entries, other_entries in ((old_ones, new_ones), (new_ones, old_ones))
        for entry_id, entry in old_entries.items()
        if other_entries.get(entry_id) != entry
    ]
    return replace(
        earlier,
        corrected_rows={row for row, *_ in changed if row is not None},
        corrected_subjects={
            statement.partition("$")[0].upper()
            for _, statement, *_ in changed
            if statement is not None
        },
    )
