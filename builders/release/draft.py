"""One release in the making: data first, then the documents that speak of a version."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from builders.dataset import Dataset, Meta, Table
from builders.errors import UserError
from builders.release import card, croissant, duck, manifest
from builders.release.manifest import (
    ColumnEntry,
    ConfigEntry,
    DropEntry,
    FigureEntry,
    FileEntry,
    InputEntry,
    Manifest,
    SplitEntry,
)
from builders.release.parquet import read, type_name, write_split
from builders.release.plots import draw
from builders.release.prose import read_prose
from builders.rows import Dropped
from builders.schema import columns

RECIPE = "recipe.yaml"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_SPLIT = re.compile(r"[A-Za-z0-9]\w*", re.ASCII)


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
        self._prose = read_prose(meta.prose)
        self._configs = tuple(self._write_table(table) for table in dataset.tables)
        self._drops = self._write_dropped()
        for plot in dataset.plots:
            draw(plot, folder / "plots" / f"{plot.name}.png")
        (folder / RECIPE).write_text(meta.recipe, encoding="utf-8")
        self._files = [file_entry(folder, path) for path in _files(folder)]

    def is_empty(self) -> bool:
        """Whether no config has a row."""
        return not any(split.rows for config in self._configs for split in config.splits)

    def losses(self) -> str:
        """Why rows were left out, the most frequent reasons: `1,204 no_page, 3 in_doubt`."""
        most = sorted(self._drops, key=lambda drop: (-drop.rows, drop.reason))[:4]
        return ", ".join(f"{drop.rows:,} {drop.reason}" for drop in most) or "nothing was found"

    def document(self, version: str) -> Manifest:
        """Write card, Croissant and manifest of this version."""
        made = self._manifest(version, self._files)
        card.save(self.folder, self._meta, made, self._prose, self._dataset.plots)
        croissant.save(self.folder, self._dataset, self._meta, made, self._prose)
        documents = [file_entry(self.folder, self.folder / f) for f in (card.FILE, croissant.FILE)]
        made = self._manifest(version, [*self._files, *documents])
        manifest.save(made, self.folder)
        return made

    def _write_table(self, table: Table) -> ConfigEntry:
        splits = []
        for name, source in table.splits.items():
            file = f"data/{table.name}/{name}.parquet"
            rows = write_split(self.folder / file, table.row, source, table.group)
            splits.append(SplitEntry(name=name, file=file, rows=rows))
        described = tuple(
            ColumnEntry(
                name=column.name,
                type=type_name(column.type),
                nullable=column.nullable,
                rendered=column.rendered,
                description=column.description,
            )
            for column in columns(table.row)
        )
        entry = ConfigEntry(
            name=table.name,
            description=table.description,
            columns=described,
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
        write_split(loose, Dropped, lambda: (b for source in sources for b in read(source)))
        with duck.connect(self.folder) as db:
            rows = f"FROM {duck.parquet(loose)}"

            def in_order() -> Iterator[pa.RecordBatch]:
                reader: pa.RecordBatchReader = db.sql(
                    f"SELECT * {rows} ORDER BY ALL NULLS FIRST"
                ).to_arrow_reader(8192)
                yield from reader

            write_split(path, Dropped, in_order)
            counted = db.execute(
                f"SELECT step, reason, count(*) {rows} GROUP BY ALL ORDER BY ALL"
            ).fetchall()
        loose.unlink()
        return tuple(DropEntry(step=step, reason=reason, rows=n) for step, reason, n in counted)

    def _manifest(self, version: str, files: list[FileEntry]) -> Manifest:
        meta, dataset = self._meta, self._dataset
        return Manifest(
            dataset=meta.dataset,
            title=meta.title,
            version=version,
            canary=manifest.canary(meta.dataset),
            builder=meta.builder,
            code_version=meta.code_version,
            libraries=dict(meta.libraries),
            licence=meta.licence,
            published=meta.published,
            seed=meta.seed,
            parameters=dict(meta.parameters),  # type: ignore[arg-type]
            recipe_sha256=hashlib.sha256(meta.recipe.encode()).hexdigest(),
            rebuild=meta.rebuild,
            inputs=tuple(InputEntry(**asdict(one)) for one in meta.inputs),
            configs=self._configs,
            drops=self._drops,
            figures=tuple(FigureEntry(**asdict(one)) for one in dataset.figures),
            files=tuple(sorted(files, key=lambda entry: entry.path)),
        )


def file_entry(folder: Path, path: Path) -> FileEntry:
    """Path in the release, sha256 and size of one of its files."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    name = path.relative_to(folder).as_posix()
    return FileEntry(path=name, sha256=digest, bytes=path.stat().st_size)


def repeated_ids(folder: Path, config: ConfigEntry, spill: Path | None = None) -> list[str]:
    """Up to three ids that more than one row of a config has; none without a column `id`."""
    paths = [manifest.locate(folder, split.file) for split in config.splits]
    if not paths or "id" not in pq.read_schema(paths[0]).names:
        return []
    every = " UNION ALL ".join(f"SELECT id FROM {duck.parquet(path)}" for path in paths)  # noqa: S608
    query = f"""
        SELECT id::VARCHAR FROM ({every}) GROUP BY id HAVING count(*) > 1
        ORDER BY id LIMIT 3
    """  # noqa: S608 - quoted by duck
    with duck.connect(spill) as db:
        return [row[0] for row in db.execute(query).fetchall()]


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def check_names(dataset: Dataset, meta: Meta) -> None:
    """Names become paths, and config and split names of the Hub: `UserError` for unfit ones."""
    for kind, names in (
        ("dataset", [meta.dataset]),
        ("config", [table.name for table in dataset.tables]),
        ("plot", [plot.name for plot in dataset.plots]),
    ):
        for name in names:
            if not _NAME.fullmatch(name):
                raise UserError(f"not a {kind} name: {name!r} (letters, digits, - and _)")
    configs = [table.name for table in dataset.tables]
    if len(set(configs)) < len(configs) or "dropped" in configs:
        raise ValueError(f"config names must differ from each other and from dropped: {configs}")
    for table in dataset.tables:
        for split in table.splits:
            if not _SPLIT.fullmatch(split) or split == "all":
                raise UserError(f"not a split name: {split!r} (letters, digits and _; not all)")
