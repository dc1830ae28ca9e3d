"""Publish a dataset as a versioned release folder: all of it, or nothing."""

import re
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from factdrift.builders.core import duck
from factdrift.builders.core.dataset import Dataset, Meta, RowSource, Table
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import fresh_folder, locked, move, refusal
from factdrift.builders.core.hashing import file_sha256, text_sha256
from factdrift.builders.core.names import NAME
from factdrift.builders.core.schema import columns
from factdrift.builders.release import card, croissant, manifest, tasks
from factdrift.builders.release.changelog import save_changelog
from factdrift.builders.release.compare import ReleaseDiff, compare
from factdrift.builders.release.continuity import EarlierRelease, KeptRows
from factdrift.builders.release.errata import ReleaseErrata
from factdrift.builders.release.manifest import (
    ColumnEntry,
    ConfigEntry,
    Continued,
    DropEntry,
    FileEntry,
    Manifest,
    SplitEntry,
)
from factdrift.builders.release.outcome import same_content
from factdrift.builders.release.parquet import read_source, type_name, write_split
from factdrift.builders.release.plots import draw_plot
from factdrift.builders.release.version import FIRST, Level, Version, published_versions
from factdrift.builders.rows import Dropped, PromptFact
from factdrift.builders.rows.roles import column_roles

# hidden, and beside the releases, so that the last step is a rename on the same disk
STAGING = ".publishing"
RECIPE = "recipe.yaml"
# split names of the Hub: `2021Q3` and `all_time`, but not `all-time`
_SPLIT = re.compile(r"[A-Za-z0-9]\w*", re.ASCII)
MOST_SPLITS = 30
"""The most splits of a config that the viewer of the Hub shows."""
_SMALL_CONFIG = 8 << 20
"""Bytes of a config's files whose ids fit into memory for sure, so that no database is opened."""
# a split that is a period: `2021`, `2021Q3` or `2021M07`, but not `test`
_PERIOD = re.compile(r"(\d{4})(?:Q\d|M\d\d)?")


class NothingLeftError(UserError):
    """A dataset has no rows, so that nothing is published."""


@dataclass(frozen=True)
class Published:
    """A release that was published: `folder` is `<out>/<dataset>/<version>`.

    `level` is the change against the latest lower release: `first` where there is none, and `none`
    where that very content had been published before. `summary` says it in a line.
    """

    folder: Path
    version: str
    level: Level | Literal["first"]
    summary: str


class Draft:
    """A folder that is to become a release.

    Making one writes everything that no version is named in; `document` adds the rest and may be
    called again with another version. `UserError`: no prose. `ValueError`: rows that do not fit
    their type, ids that are not unique (bugs of a builder).
    """

    def __init__(
        self,
        folder: Path,
        dataset: Dataset,
        meta: Meta,
        errata: ReleaseErrata | None = None,
        earlier: EarlierRelease | None = None,
    ) -> None:
        self.folder = folder
        self._errata = errata or ReleaseErrata()
        self._dataset = dataset
        self._meta = meta
        self._prose = card.read_prose(meta.prose)
        tables = [few_splits(table) for table in dataset.tables]
        self._configs = tuple(self._write_table(self._errata.table(table)) for table in tables)
        self._drops = self._write_dropped()
        self._since: Continued | None = None
        if earlier is not None:
            self._keep(tables, earlier)
        self._asked = tasks.test_configs(self._configs)
        self._examples = tuple(
            PromptFact(**row)
            for row_batch in (read_source(dataset.examples) if dataset.examples else ())
            for row in row_batch.to_pylist()
        )
        for plot in dataset.plots:
            draw_plot(plot, folder / "plots" / f"{plot.name}.png")
        (folder / RECIPE).write_text(meta.recipe, encoding="utf-8")
        for file_name, template_text in sorted(meta.templates.items()):
            template_path = folder / manifest.OWN_TEMPLATES / file_name
            template_path.parent.mkdir(exist_ok=True)
            template_path.write_text(template_text, encoding="utf-8")
        self._files = [
            file_entry(folder, path) for path in sorted(folder.rglob("*")) if path.is_file()
        ]

    def is_empty(self) -> bool:
        """Whether the release has no rows.

        If some of its configs ask questions, only the rows of those count.
        """
        asking_configs = [config for config in self._configs if config.roles]
        for config in asking_configs or self._configs:
            if any(split.rows for split in config.splits):
                return False
        return True

    def losses(self) -> tuple[str, str]:
        """Return the drop counts, `1,204 no_page, 3 in_doubt`, and the first reason in words."""
        drop_counts: Counter[str] = Counter()
        for drop in self._drops:
            drop_counts[drop.reason] += drop.rows
        most = sorted(
            drop_counts.items(), key=lambda drop_reason: (-drop_reason[1], drop_reason[0])
        )[:4]
        if not most:
            return "nothing was found", ""
        drop_reason = most[0][0]
        reason_sentences = card.drop_reasons() | dict(self._dataset.reasons)
        counted = ", ".join(f"{row_count:,} {name}" for name, row_count in most)
        return counted, f"{drop_reason}: {card.reason_text(drop_reason, reason_sentences)}"

    def document(self, version: str) -> Manifest:
        """Write card, Croissant and manifest of this version."""
        # the documents describe the data files, so that their own checksums come afterwards
        data_manifest = self._manifest(version, self._files)
        card.save_card(self.folder, self._meta, data_manifest, self._prose, self._dataset)
        croissant.save_croissant(self.folder, self._dataset, self._meta, data_manifest, self._prose)
        paths = [self.folder / name for name in (card.FILE, croissant.FILE)]
        paths += tasks.save_tasks(self.folder, data_manifest, self._asked)
        paths.append(card.save_citation(self.folder, self._meta, data_manifest))
        documents = [file_entry(self.folder, path) for path in paths]
        full_manifest = self._manifest(version, [*self._files, *documents])
        manifest.save_manifest(full_manifest, self.folder)
        return full_manifest

    def _write_table(self, table: Table) -> ConfigEntry:
        splits = []
        for name, row_source in table.splits.items():
            file = f"data/{table.name}/{name}.parquet"
            rows = write_split(self.folder / file, table.row, row_source, table.group)
            splits.append(SplitEntry(name=name, file=file, rows=rows))
        described_columns = tuple(
            ColumnEntry(**column._asdict() | {"type": type_name(column.type)})
            for column in columns(table.row)
        )
        entry = ConfigEntry(
            name=table.name,
            description=table.description,
            columns=described_columns,
            roles=column_roles(table.row),
            splits=tuple(splits),
        )
        if duplicate_ids := repeated_ids(self.folder, entry, self.folder):
            raise ValueError(f"{table.name}: ids that are not unique: {', '.join(duplicate_ids)}")
        return entry

    def _keep(self, tables: Sequence[Table], earlier: EarlierRelease) -> None:
        """Let rows stay as an earlier release published them."""
        kept_rows = KeptRows(self.folder, self._configs, earlier)
        self._configs = tuple(
            kept_rows.keep(config, table.row, table.group)
            for config, table in zip(self._configs, tables, strict=True)
        )
        self._since = kept_rows.save()

    def _write_dropped(self) -> tuple[DropEntry, ...]:
        """Write all dropped rows, sorted by every column; return the counts by step and reason."""
        path = self.folder / card.DROPPED
        loose_file = self.folder / ".dropped.parquet"
        row_sources = (*self._dataset.dropped, self._errata.dropped)
        write_split(
            loose_file,
            Dropped,
            lambda: (
                row_batch for row_source in row_sources for row_batch in read_source(row_source)
            ),
        )
        with duck.connect(self.folder) as db:
            in_order = db.sql(f"SELECT * FROM {duck.parquet(loose_file)} ORDER BY ALL NULLS FIRST")  # noqa: S608
            write_split(path, Dropped, lambda: in_order.to_arrow_reader(8192))
        loose_file.unlink()
        table = duck.parquet(path)
        query = f"SELECT step, reason, count(*) AS rows FROM {table} GROUP BY ALL ORDER BY ALL"  # noqa: S608
        return tuple(DropEntry(**row) for row in duck.records(query))

    def _manifest(self, version: str, file_entries: list[FileEntry]) -> Manifest:
        meta, drop_counts = self._meta, Manifest.model_fields
        return Manifest(
            **{name: value for name, value in vars(meta).items() if name in drop_counts},
            version=version,
            canary=manifest.canary(meta.dataset),
            recipe_sha256=text_sha256(meta.recipe),
            configs=self._configs,
            drops=self._drops,
            corrections=self._errata.applied(),
            since=self._since,
            examples=self._examples,
            figures=self._dataset.statistics,
            files=tuple(sorted(file_entries, key=lambda entry: entry.path)),
        )


def write_release(
    dataset: Dataset,
    meta: Meta,
    out: Path,
    version: str = "auto",
    errata: ReleaseErrata | None = None,
    earlier: EarlierRelease | None = None,
) -> Published:
    """Write `<out>/<meta.dataset>/<version>`; `auto` is the smallest version the rule allows.

    `errata` are the corrections that are made while rows are written, and `earlier` is the release
    whose rows stay as they were.

    Everything goes into a hidden sibling folder first and is renamed once; whatever happens on
    the way, earlier releases stay as they were. `UserError`: no row in it, other content under an
    existing version, too small a bump, a bad version, no prose, another run at work, no room on
    the disk.
    """
    wanted_version = None if version == "auto" else Version.parse(version)
    check_names(dataset, meta)
    dataset_folder = out / meta.dataset
    with _room(dataset_folder), locked(dataset_folder), _staging(dataset_folder) as folder:
        release_draft = Draft(folder, dataset, meta, errata, earlier)
        if release_draft.is_empty():
            loss_text, loss_reasons = release_draft.losses()
            text = f"nothing is left for {meta.dataset}: {loss_text}"
            hint_text = "look at the inputs and the limits of the recipe"
            raise NothingLeftError(
                text, hint=f"{loss_reasons}\n  {hint_text}" if loss_reasons else hint_text
            )
        chosen_version, level, change_summary = _settle(
            dataset_folder, release_draft, wanted_version
        )
        release_folder = dataset_folder / str(chosen_version)
        # the one step that publishes; before it, nothing is seen from outside
        if level != "none":
            save_changelog(folder)
            move(folder, release_folder)
        return Published(release_folder, str(chosen_version), level, change_summary)


def _settle(
    dataset_folder: Path, release_draft: Draft, wanted_version: Version | None
) -> tuple[Version, Level | Literal["first"], str]:
    """Choose the version to publish and write its documents; level `none`: it is there already."""
    earlier_versions = published_versions(dataset_folder)
    lower_versions = (
        earlier_versions
        if wanted_version is None
        else [version for version in earlier_versions if version <= wanted_version]
    )
    if not lower_versions:
        chosen_version = wanted_version or FIRST
        release_draft.document(str(chosen_version))
        return chosen_version, "first", f"{chosen_version}: the first release"
    base_version = lower_versions[-1]
    release_diff = _against(dataset_folder, release_draft, base_version)
    if release_diff.level == "none" and wanted_version in (None, base_version):
        return base_version, "none", same_content(str(base_version))
    level: Level = "patch" if release_diff.level == "none" else release_diff.level
    if wanted_version is not None and wanted_version < base_version.bump(level):
        text_start, text_end = (
            f"{wanted_version} announces too little after {base_version}:",
            f", a {level} change",
        )
        if wanted_version == base_version:
            text_start, text_end = f"{base_version} is published already, and", ""
        version_advice = _advice(dataset_folder, release_draft, earlier_versions[-1])
        text = f"{text_start} this changes {release_diff.brief()}{text_end}; {version_advice}"
        raise UserError(text, where=dataset_folder / str(base_version))
    chosen_version = wanted_version or base_version.bump(level)
    release_draft.document(str(chosen_version))
    return chosen_version, level, release_diff.brief()


def _against(dataset_folder: Path, release_draft: Draft, base_version: Version) -> ReleaseDiff:
    """Compare a release with the draft under the same version, so that the version is no change."""
    release_draft.document(str(base_version))
    return compare(dataset_folder / str(base_version), release_draft.folder)


def _advice(dataset_folder: Path, release_draft: Draft, latest_version: Version) -> str:
    """Return advice: the smallest version after the latest one that the rule allows."""
    level = _against(dataset_folder, release_draft, latest_version).level
    if level == "none":
        return f"it is the content of {latest_version}"
    return f"use --version {latest_version.bump(level)}"


@contextmanager
def _staging(dataset_folder: Path) -> Iterator[Path]:
    """Yield an empty folder beside the releases, and delete it after the `with` block.

    If an earlier run was killed and left such a folder, that folder is deleted first.
    """
    staging_folder = dataset_folder / STAGING
    try:
        fresh_folder(staging_folder)
        yield staging_folder
    finally:
        shutil.rmtree(staging_folder, ignore_errors=True)


@contextmanager
def _room(dataset_folder: Path) -> Iterator[None]:
    """Raise a `UserError` for a full disk, which the user can mend."""
    try:
        yield
    except (OSError, duckdb.Error) as error:
        if (refusal_text := refusal(error)) is None:
            raise
        hint_text = (
            "make room or name another folder; nothing was published, earlier releases are whole"
        )
        text = f"the release could not be written: {refusal_text}"
        raise UserError(text, where=dataset_folder, hint=hint_text) from error


def few_splits(table: Table) -> Table:
    """Return the table with at most `MOST_SPLITS` splits: periods are merged to years or decades.

    The rows and their order are the same; a column of the rows says the period. Raises `UserError`
    if too many splits are no periods.
    """
    if len(table.splits) <= MOST_SPLITS:
        return table
    for name_width, name_ending, period_unit in ((4, "", "years"), (3, "0s", "decades")):
        merged_sources: dict[str, list[RowSource]] = {}
        for name, row_source in table.splits.items():
            period_match = _PERIOD.fullmatch(name)
            merged_sources.setdefault(
                period_match[1][:name_width] + name_ending if period_match else name, []
            ).append(row_source)
        if len(merged_sources) <= MOST_SPLITS:
            description = f"{table.description} Splits are {period_unit}, for the periods are many."
            splits = {name: _chained(row_sources) for name, row_sources in merged_sources.items()}
            return replace(table, description=description, splits=splits)
    text = f"{table.name} has {len(table.splits)} splits, and the Hub shows no more than"
    raise UserError(f"{text} {MOST_SPLITS}", hint="choose a shorter window or longer periods")


def _chained(row_sources: Sequence[RowSource]) -> RowSource:
    """Return a source of the rows of several sources, one source after the other."""

    def flow() -> Iterator[pa.RecordBatch]:
        for row_source in row_sources:
            yield from read_source(row_source)

    return flow


def file_entry(folder: Path, file_path: Path) -> FileEntry:
    """Path in the release, sha256 and size of one of its files."""
    file_name = file_path.relative_to(folder).as_posix()
    return FileEntry(path=file_name, sha256=file_sha256(file_path), bytes=file_path.stat().st_size)


def repeated_ids(folder: Path, config: ConfigEntry, spill_folder: Path | None = None) -> list[str]:
    """Return up to three ids that several rows of a config share; none without a column `id`."""
    split_paths = [manifest.locate_file(folder, split_entry.file) for split_entry in config.splits]
    if not split_paths or "id" not in pq.read_schema(split_paths[0]).names:
        return []
    id_query = f"""
        SELECT id::VARCHAR FROM {duck.parquet(*split_paths)} GROUP BY id HAVING count(*) > 1
        ORDER BY id LIMIT 3
    """  # noqa: S608 - quoted by duck
    if sum(split_path.stat().st_size for split_path in split_paths) <= _SMALL_CONFIG:
        return [id_row[0] for id_row in duck.query(id_query)]
    with duck.connect(spill_folder) as db:
        return [id_row[0] for id_row in db.execute(id_query).fetchall()]


def check_names(dataset: Dataset, meta: Meta) -> None:
    """Names become paths, and config and split names of the Hub: `UserError` for unfit ones."""
    config_names = [table.name for table in dataset.tables]
    split_names = [split for table in dataset.tables for split in table.splits]
    plot_names = [plot.name for plot in dataset.plots]
    for name_kind, checked_names, name_pattern in (
        ("dataset", [meta.dataset], NAME),
        ("config", config_names, NAME),
        ("plot", plot_names, NAME),
        ("split", split_names, _SPLIT),
    ):
        for name in checked_names:
            if not name_pattern.fullmatch(name) or (name_kind == "split" and name == "all"):
                hint_text = (
                    "letters, digits and _; of a dataset or config also - and .; no split is all"
                )
                raise UserError(f"not a {name_kind} name: {name!r}", hint=hint_text)
    if len(set(config_names)) < len(config_names) or "dropped" in config_names:
        raise ValueError(
            f"config names must differ from each other and from dropped: {config_names}"
        )
