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
from factdrift.builders.core.files import locked, move, refusal
from factdrift.builders.core.hashing import file_sha256, text_sha256
from factdrift.builders.core.names import NAME
from factdrift.builders.core.schema import columns
from factdrift.builders.release import card, croissant, manifest, tasks
from factdrift.builders.release.compare import ReleaseDiff, compare
from factdrift.builders.release.manifest import (
    ColumnEntry,
    ConfigEntry,
    DropEntry,
    FileEntry,
    Manifest,
    SplitEntry,
)
from factdrift.builders.release.parquet import read_source, type_name, write_split
from factdrift.builders.release.plots import draw_plot
from factdrift.builders.release.version import FIRST, Level, Version, published_versions
from factdrift.builders.rows import Dropped, PromptFact
from factdrift.builders.rows.roles import column_roles

STAGING = ".publishing"
RECIPE = "recipe.yaml"
_SPLIT = re.compile(r"[A-Za-z0-9]\w*", re.ASCII)
MOST_SPLITS = 30
"""The Hub's viewer shows a config with more splits not at all."""
_PERIOD = re.compile(r"(\d{4})(?:Q\d|M\d\d)?")


class NothingLeftError(UserError):
    """A dataset has no row: nothing is published."""


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

    def __init__(self, folder: Path, dataset: Dataset, meta: Meta) -> None:
        self.folder = folder
        self._dataset = dataset
        self._meta = meta
        self._prose = card.read_prose(meta.prose)
        self._configs = tuple(self._write_table(few_splits(table)) for table in dataset.tables)
        self._asked = tasks.test_configs(self._configs)
        self._drops = self._write_dropped()
        self._examples = tuple(
            PromptFact(**row)
            for batch in (read_source(dataset.examples) if dataset.examples else ())
            for row in batch.to_pylist()
        )
        for plot in dataset.plots:
            draw_plot(plot, folder / "plots" / f"{plot.name}.png")
        (folder / RECIPE).write_text(meta.recipe, encoding="utf-8")
        self._files = [
            file_entry(folder, path) for path in sorted(folder.rglob("*")) if path.is_file()
        ]

    def is_empty(self) -> bool:
        """Whether no config has a row; of a dataset that asks, no config that asks."""
        asking = [config for config in self._configs if config.roles]
        return not any(split.rows for c in asking or self._configs for split in c.splits)

    def losses(self) -> tuple[str, str]:
        """Why rows were left out: `1,204 no_page, 3 in_doubt`, and the first reason in words."""
        counts: Counter[str] = Counter()
        for drop in self._drops:
            counts[drop.reason] += drop.rows
        most = sorted(counts.items(), key=lambda reason: (-reason[1], reason[0]))[:4]
        if not most:
            return "nothing was found", ""
        reason = most[0][0]
        sentences = card.drop_reasons() | dict(self._dataset.reasons)
        counted = ", ".join(f"{row_count:,} {name}" for name, row_count in most)
        return counted, f"{reason}: {sentences.get(reason, '')}"

    def document(self, version: str) -> Manifest:
        """Write card, Croissant and manifest of this version."""
        made = self._manifest(version, self._files)
        card.save_card(self.folder, self._meta, made, self._prose, self._dataset)
        croissant.save_croissant(self.folder, self._dataset, self._meta, made, self._prose)
        written = [self.folder / name for name in (card.FILE, croissant.FILE)]
        written += tasks.save_tasks(self.folder, made, self._asked)
        written.append(card.save_citation(self.folder, self._meta, made))
        documents = [file_entry(self.folder, path) for path in written]
        made = self._manifest(version, [*self._files, *documents])
        manifest.save_manifest(made, self.folder)
        return made

    def _write_table(self, table: Table) -> ConfigEntry:
        splits = []
        for name, source in table.splits.items():
            file = f"data/{table.name}/{name}.parquet"
            rows = write_split(self.folder / file, table.row, source, table.group)
            splits.append(SplitEntry(name=name, file=file, rows=rows))
        described = tuple(
            ColumnEntry(**column._asdict() | {"type": type_name(column.type)})
            for column in columns(table.row)
        )
        entry = ConfigEntry(
            name=table.name,
            description=table.description,
            columns=described,
            roles=column_roles(table.row),
            splits=tuple(splits),
        )
        if repeated := repeated_ids(self.folder, entry, self.folder):
            raise ValueError(f"{table.name}: ids that are not unique: {', '.join(repeated)}")
        return entry

    def _write_dropped(self) -> tuple[DropEntry, ...]:
        """All dropped rows, sorted by every column; how many for each step and reason."""
        path = self.folder / card.DROPPED
        loose = self.folder / ".dropped.parquet"
        sources = self._dataset.dropped
        write_split(
            loose, Dropped, lambda: (batch for source in sources for batch in read_source(source))
        )
        with duck.connect(self.folder) as db:
            in_order = db.sql(f"SELECT * FROM {duck.parquet(loose)} ORDER BY ALL NULLS FIRST")  # noqa: S608
            write_split(path, Dropped, lambda: in_order.to_arrow_reader(8192))
        loose.unlink()
        table = duck.parquet(path)
        query = f"SELECT step, reason, count(*) AS rows FROM {table} GROUP BY ALL ORDER BY ALL"  # noqa: S608
        return tuple(DropEntry(**row) for row in duck.records(query))

    def _manifest(self, version: str, files: list[FileEntry]) -> Manifest:
        meta, drop_counts = self._meta, Manifest.model_fields
        return Manifest(
            **{name: value for name, value in vars(meta).items() if name in drop_counts},
            version=version,
            canary=manifest.canary(meta.dataset),
            recipe_sha256=text_sha256(meta.recipe),
            configs=self._configs,
            drops=self._drops,
            examples=self._examples,
            figures=self._dataset.statistics,
            files=tuple(sorted(files, key=lambda entry: entry.path)),
        )


def write_release(dataset: Dataset, meta: Meta, out: Path, version: str = "auto") -> Published:
    """Write `<out>/<meta.dataset>/<version>`; `auto` is the smallest version the rule allows.

    Everything goes into a hidden sibling folder first and is renamed once; whatever happens on
    the way, earlier releases stay as they were. `UserError`: no row in it, other content under an
    existing version, too small a bump, a bad version, no prose, another run at work, no room on
    the disk.
    """
    wanted_version = None if version == "auto" else Version.parse(version)
    check_names(dataset, meta)
    shelf = out / meta.dataset
    with _room(shelf), locked(shelf), _staging(shelf) as folder:
        draft = Draft(folder, dataset, meta)
        if draft.is_empty():
            losses, why = draft.losses()
            text = f"nothing is left for {meta.dataset}: {losses}"
            hint = "look at the inputs and the limits of the recipe"
            raise NothingLeftError(text, hint=f"{why}\n  {hint}" if why else hint)
        chosen, level, summary = _settle(shelf, draft, wanted_version)
        place = shelf / str(chosen)
        if level != "none":
            move(folder, place)
        return Published(place, str(chosen), level, summary)


def _settle(
    shelf: Path, draft: Draft, wanted_version: Version | None
) -> tuple[Version, Level | Literal["first"], str]:
    """The version to publish, its documents written; level `none`: it is there already."""
    versions = published_versions(shelf)
    lower = (
        versions
        if wanted_version is None
        else [version for version in versions if version <= wanted_version]
    )
    if not lower:
        chosen = wanted_version or FIRST
        draft.document(str(chosen))
        return chosen, "first", f"{chosen}: the first release"
    base = lower[-1]
    change = _against(shelf, draft, base)
    if change.level == "none" and wanted_version in (None, base):
        return base, "none", f"{base} holds this very content already: nothing written"
    level: Level = "patch" if change.level == "none" else change.level
    if wanted_version is not None and wanted_version < base.bump(level):
        head, end = f"{wanted_version} announces too little after {base}:", f", a {level} change"
        if wanted_version == base:
            head, end = f"{base} is published already, and", ""
        advice = _advice(shelf, draft, versions[-1])
        text = f"{head} this changes {change.brief()}{end}; {advice}"
        raise UserError(text, where=shelf / str(base))
    chosen = wanted_version or base.bump(level)
    draft.document(str(chosen))
    return chosen, level, change.brief()


def _against(shelf: Path, draft: Draft, base: Version) -> ReleaseDiff:
    """The draft under the version of a release, so that only what really differs does."""
    draft.document(str(base))
    return compare(shelf / str(base), draft.folder)


def _advice(shelf: Path, draft: Draft, latest: Version) -> str:
    """The smallest version that would do, after the latest one."""
    level = _against(shelf, draft, latest).level
    if level == "none":
        return f"it is the content of {latest}"
    return f"use --version {latest.bump(level)}"


@contextmanager
def _staging(shelf: Path) -> Iterator[Path]:
    """A folder beside the releases, gone afterwards; what a killed run left goes first."""
    folder = shelf / STAGING
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir()
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _room(shelf: Path) -> Iterator[None]:
    """A full disk is for the user to mend."""
    try:
        yield
    except (OSError, duckdb.Error) as error:
        if (reason := refusal(error)) is None:
            raise
        hint = "make room or name another folder; nothing was published, earlier releases are whole"
        text = f"the release could not be written: {reason}"
        raise UserError(text, where=shelf, hint=hint) from error


def few_splits(table: Table) -> Table:
    """The table with at most `MOST_SPLITS` splits: periods that are more become years, or decades.

    The rows and their order are the same; a column of theirs says the period. `UserError`: more
    splits that are no periods.
    """
    if len(table.splits) <= MOST_SPLITS:
        return table
    for width, ending, unit in ((4, "", "years"), (3, "0s", "decades")):
        merged: dict[str, list[RowSource]] = {}
        for name, source in table.splits.items():
            joined_splits = _PERIOD.fullmatch(name)
            merged.setdefault(
                joined_splits[1][:width] + ending if joined_splits else name, []
            ).append(source)
        if len(merged) <= MOST_SPLITS:
            description = f"{table.description} Splits are {unit}, for the periods are many."
            splits = {name: _chained(sources) for name, sources in merged.items()}
            return replace(table, description=description, splits=splits)
    text = f"{table.name} has {len(table.splits)} splits, and the Hub shows no more than"
    raise UserError(f"{text} {MOST_SPLITS}", hint="choose a shorter window or longer periods")


def _chained(sources: Sequence[RowSource]) -> RowSource:
    """The rows of several sources, one source after the other."""

    def flow() -> Iterator[pa.RecordBatch]:
        for source in sources:
            yield from read_source(source)

    return flow


def file_entry(folder: Path, path: Path) -> FileEntry:
    """Path in the release, sha256 and size of one of its files."""
    name = path.relative_to(folder).as_posix()
    return FileEntry(path=name, sha256=file_sha256(path), bytes=path.stat().st_size)


def repeated_ids(folder: Path, config: ConfigEntry, spill: Path | None = None) -> list[str]:
    """Up to three ids that more than one row of a config has; none without a column `id`."""
    paths = [manifest.locate_file(folder, split.file) for split in config.splits]
    if not paths or "id" not in pq.read_schema(paths[0]).names:
        return []
    all_ids = " UNION ALL ".join(f"SELECT id FROM {duck.parquet(path)}" for path in paths)  # noqa: S608
    query = f"""
        SELECT id::VARCHAR FROM ({all_ids}) GROUP BY id HAVING count(*) > 1
        ORDER BY id LIMIT 3
    """  # noqa: S608 - quoted by duck
    with duck.connect(spill) as db:
        return [row[0] for row in db.execute(query).fetchall()]


def check_names(dataset: Dataset, meta: Meta) -> None:
    """Names become paths, and config and split names of the Hub: `UserError` for unfit ones."""
    configs = [table.name for table in dataset.tables]
    splits = [split for table in dataset.tables for split in table.splits]
    plots = [plot.name for plot in dataset.plots]
    for kind, names, form in (
        ("dataset", [meta.dataset], NAME),
        ("config", configs, NAME),
        ("plot", plots, NAME),
        ("split", splits, _SPLIT),
    ):
        for name in names:
            if not form.fullmatch(name) or (kind == "split" and name == "all"):
                hint = "letters, digits and _; of a dataset or config also - and .; no split is all"
                raise UserError(f"not a {kind} name: {name!r}", hint=hint)
    if len(set(configs)) < len(configs) or "dropped" in configs:
        raise ValueError(f"config names must differ from each other and from dropped: {configs}")
