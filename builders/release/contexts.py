"""Put the text of pages back into a release that was made with `text: false`."""

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
# Rows at a time: each has the text of a whole page.
_ROWS = 200
# The columns that decide which text a row has.
_CONTEXT_KEYS = ("subject", "left_out", "context_sha256")


class RestoredContexts(NamedTuple):
    """Numbers of rows: those that have their text, rows whose page is another one or is missing."""

    rows: int
    changed: int
    missing: int


def restore_contexts(
    release_folder: Path, page_files: Sequence[str], out_folder: Path, *, jobs: int
) -> RestoredContexts:
    """Write the configs of a release with the text of their pages to `out/CONFIG/SPLIT.parquet`.

    Files of pages are those that the release was made from (its manifest names them); a row gets
    the text of its page where the checksum is that of the release, else its `context` stays empty.
    `UserError`: no release, no such config in it, no row has its text.
    """
    if out_folder.exists() and (not out_folder.is_dir() or any(out_folder.iterdir())):
        raise UserError("there is something already", where=out_folder, hint="give a new folder")
    release_manifest = manifest.load_manifest(release_folder)
    context_splits = _splits_with_context(release_manifest)
    if not context_splits:
        raise UserError("no config of this release has the text of pages", where=release_folder)
    wanted_pages: set[tuple[str, str]] = set()
    for _, split in context_splits:
        wanted_pages.update(_columns(manifest.locate_file(release_folder, split.file)))
    with tempfile.TemporaryDirectory() as scratch_folder:
        read_pages(list(page_files), sorted(wanted_pages), Path(scratch_folder), jobs=jobs)
        with (
            atomic_folder(out_folder) as staging_folder,
            tempfile.TemporaryFile(dir=staging_folder) as text_file,
        ):
            page_texts = _PageTexts(text_file)
            for page in typed_rows(Path(scratch_folder) / "pages.parquet", rows.Page, 64):
                page_texts.add(page)
            total_counts = RestoredContexts(0, 0, 0)
            for config_name, split in context_splits:
                target_file = staging_folder / config_name / f"{split.name}.parquet"
                target_file.parent.mkdir(parents=True, exist_ok=True)
                source_file = manifest.locate_file(release_folder, split.file)
                split_counts = _restore_split(source_file, target_file, page_texts)
                total_counts = RestoredContexts(
                    *map(sum, zip(total_counts, split_counts, strict=True))
                )
            # an empty release would look as if it had worked: say which files are asked for
            if not total_counts.rows:
                raise _nothing_restored(release_folder, release_manifest, total_counts)
    return total_counts


def _splits_with_context(release_manifest: Manifest) -> list[tuple[str, SplitEntry]]:
    """Config name and split of every split whose rows have the text of a page."""
    context_splits = []
    for config in release_manifest.configs:
        if set(_COLUMNS) <= {column.name for column in config.columns}:
            context_splits += [(config.name, split) for split in config.splits]
    return context_splits


class _PageTexts:
    """The texts of pages by the item they are of, in a file: memory holds where each stands."""

    def __init__(self, text_file: BinaryIO) -> None:
        self._file = text_file
        self._places: dict[str, tuple[int, int]] = {}

    def add(self, page: rows.Page) -> None:
        page_bytes = _LINE_END.join(paragraph.text for paragraph in page.paragraphs).encode()
        self._places[page.item] = self._file.tell(), len(page_bytes)
        self._file.write(page_bytes)

    def context(self, item_id: str, left_out: Sequence[int], sha256: str) -> str | None:
        """The context of a row; empty where its page is another one, None without a page."""
        if item_id not in self._places:
            return None
        text_start, text_size = self._places[item_id]
        self._file.seek(text_start)
        kept_paragraphs = []
        for paragraph_number, paragraph in enumerate(
            self._file.read(text_size).decode().split(_LINE_END)
        ):
            if paragraph_number not in left_out:
                kept_paragraphs.append(paragraph)
        text = _LINE_END.join(kept_paragraphs)
        return text if text_sha256(text) == sha256 else ""


def _restore_split(
    source_file: Path, target_file: Path, page_texts: _PageTexts
) -> RestoredContexts:
    """Copy the rows of one file with their contexts; the numbers of rows."""
    restored_count = changed_count = missing_count = 0
    with (
        pq.ParquetFile(source_file) as parquet_file,
        pq.ParquetWriter(
            target_file, parquet_file.schema_arrow, compression="zstd"
        ) as parquet_writer,
    ):
        context_place = parquet_file.schema_arrow.get_field_index("context")
        context_field = parquet_file.schema_arrow.field(context_place)
        for row_batch in parquet_file.iter_batches(_ROWS):
            key_columns = (row_batch[column_name].to_pylist() for column_name in _CONTEXT_KEYS)
            context_texts = [
                page_texts.context(*context_keys) for context_keys in zip(*key_columns, strict=True)
            ]
            restored_count += sum(bool(text) for text in context_texts)
            changed_count += context_texts.count("")
            missing_count += context_texts.count(None)
            context_column = pa.array([text or "" for text in context_texts], context_field.type)
            parquet_writer.write_batch(
                row_batch.set_column(context_place, context_field, context_column)
            )
    return RestoredContexts(restored_count, changed_count, missing_count)


def _nothing_restored(
    release_folder: Path, release_manifest: Manifest, row_counts: RestoredContexts
) -> UserError:
    """The error where no row has its text, with the files that the release was made from."""
    input_names = ", ".join(
        entry.file for entry in release_manifest.inputs if entry.name == "pages"
    )
    error_text = (
        f"no page is as the release has it ({row_counts.changed:,} rows with another text, "
    )
    error_text += f"{row_counts.missing:,} without their page)"
    hint_text = f"give the files that it was made from: {input_names}" if input_names else None
    return UserError(error_text, where=release_folder, hint=hint_text)


def _columns(split_file: Path) -> list[tuple[str, str]]:
    """Title and subject of each row."""
    page_table = pq.read_table(split_file, columns=["title", "subject"])
    return list(
        zip(page_table["title"].to_pylist(), page_table["subject"].to_pylist(), strict=True)
    )
