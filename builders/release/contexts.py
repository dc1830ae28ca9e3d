"""The text of pages put back into a release that was made with `text: false`."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from factdrift.builders import rows
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import atomic_folder
from factdrift.builders.core.hashing import text_sha256
from factdrift.builders.core.schema import typed_rows
from factdrift.builders.release import manifest
from factdrift.builders.release.manifest import Manifest, SplitEntry
from factdrift.builders.wikipedia.read import read_pages

_COLUMNS = ("context", "context_sha256", "left_out", "title", "subject")
_LINE_END = "\n"
_ROWS = 200
"""Rows at a time: each has the text of a whole page."""
_CONTEXT_KEYS = ("subject", "left_out", "context_sha256")
"""The columns that decide which text a row has."""


class RestoredContexts(NamedTuple):
    """Numbers of rows: those that have their text, rows whose page is another one or is missing."""

    rows: int
    changed: int
    missing: int


def restore_contexts(
    release: Path, pages: Sequence[str], out: Path, *, jobs: int
) -> RestoredContexts:
    """Write the configs of a release with the text of their pages to `out/CONFIG/SPLIT.parquet`.

    Files of pages are those that the release was made from (its manifest names them); a row gets
    the text of its page where the checksum is that of the release, else its `context` stays empty.
    `UserError`: no release, no such config in it, no row has its text.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError("there is something already", where=out, hint="give a new folder")
    loaded = manifest.load_manifest(release)
    splits = _splits_with_context(loaded)
    if not splits:
        raise UserError("no config of this release has the text of pages", where=release)
    wanted_pages: set[tuple[str, str]] = set()
    for _, split in splits:
        wanted_pages.update(_columns(manifest.locate_file(release, split.file)))
    with tempfile.TemporaryDirectory() as scratch:
        read_pages(list(pages), sorted(wanted_pages), Path(scratch), jobs=jobs)
        with atomic_folder(out) as staging, tempfile.TemporaryFile(dir=staging) as text_file:
            texts = _PageTexts(text_file)
            for page in typed_rows(Path(scratch) / "pages.parquet", rows.Page, 64):
                texts.add(page)
            total = RestoredContexts(0, 0, 0)
            for config_name, split in splits:
                target = staging / config_name / f"{split.name}.parquet"
                target.parent.mkdir(parents=True, exist_ok=True)
                source = manifest.locate_file(release, split.file)
                counts = _restore_split(source, target, texts)
                total = RestoredContexts(*map(sum, zip(total, counts, strict=True)))
            if not total.rows:
                raise _nothing_restored(release, loaded, total)
    return total


def _splits_with_context(loaded: Manifest) -> list[tuple[str, SplitEntry]]:
    """Config name and split of every split whose rows have the text of a page."""
    splits = []
    for config in loaded.configs:
        if set(_COLUMNS) <= {column.name for column in config.columns}:
            splits += [(config.name, split) for split in config.splits]
    return splits


class _PageTexts:
    """The texts of pages by the item they are of, in a file: memory holds where each stands."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._places: dict[str, tuple[int, int]] = {}

    def add(self, page: rows.Page) -> None:
        data = _LINE_END.join(paragraph.text for paragraph in page.paragraphs).encode()
        self._places[page.item] = self._file.tell(), len(data)
        self._file.write(data)

    def context(self, item: str, left_out: Sequence[int], sha256: str) -> str | None:
        """The context of a row; empty where its page is another one, None without a page."""
        if item not in self._places:
            return None
        start, size = self._places[item]
        self._file.seek(start)
        kept_paragraphs = []
        for number, paragraph in enumerate(self._file.read(size).decode().split(_LINE_END)):
            if number not in left_out:
                kept_paragraphs.append(paragraph)
        text = _LINE_END.join(kept_paragraphs)
        return text if text_sha256(text) == sha256 else ""


def _restore_split(source: Path, target: Path, texts: _PageTexts) -> RestoredContexts:
    """Copy the rows of one file with their contexts; the numbers of rows."""
    restored = changed = missing = 0
    with (
        pq.ParquetFile(source) as table,
        pq.ParquetWriter(target, table.schema_arrow, compression="zstd") as writer,
    ):
        place = table.schema_arrow.get_field_index("context")
        field = table.schema_arrow.field(place)
        for batch in table.iter_batches(_ROWS):
            columns = (batch[name].to_pylist() for name in _CONTEXT_KEYS)
            contexts = [texts.context(*keys) for keys in zip(*columns, strict=True)]
            restored += sum(bool(text) for text in contexts)
            changed += contexts.count("")
            missing += contexts.count(None)
            column = pa.array([text or "" for text in contexts], field.type)
            writer.write_batch(batch.set_column(place, field, column))
    return RestoredContexts(restored, changed, missing)


def _nothing_restored(release: Path, loaded: Manifest, counts: RestoredContexts) -> UserError:
    """The error where no row has its text, with the files that the release was made from."""
    inputs = ", ".join(entry.file for entry in loaded.inputs if entry.name == "pages")
    text = f"no page is as the release has it ({counts.changed:,} rows with another text, "
    text += f"{counts.missing:,} without their page)"
    hint = f"give the files that it was made from: {inputs}" if inputs else None
    return UserError(text, where=release, hint=hint)


def _columns(path: Path) -> list[tuple[str, str]]:
    """Title and subject of each row."""
    table = pq.read_table(path, columns=["title", "subject"])
    return list(zip(table["title"].to_pylist(), table["subject"].to_pylist(), strict=True))
