"""The text of pages put back into a release that was made with `text: false`."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from factdrift.builders import rows
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import atomic_folder
from factdrift.builders.core.hashing import text_sha256
from factdrift.builders.core.schema import typed_rows
from factdrift.builders.release import manifest
from factdrift.builders.wikipedia.read import read_pages

_COLUMNS = ("context", "context_sha256", "left_out", "title", "subject")
_LINE_END = "\n"
_ROWS = 200


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
    made = manifest.load_manifest(release)
    splits = [
        (config.name, split)
        for config in made.configs
        if set(_COLUMNS) <= {column.name for column in config.columns}
        for split in config.splits
    ]
    if not splits:
        raise UserError("no config of this release has the text of pages", where=release)
    paths = [manifest.locate_file(release, split.file) for _, split in splits]
    wanted = {
        (title, subject) for path in paths for title, subject in _columns(path, "title", "subject")
    }
    with tempfile.TemporaryDirectory() as scratch:
        read_pages(list(pages), sorted(wanted), Path(scratch), jobs=jobs)
        texts: dict[str, tuple[int, int]] = {}
        with atomic_folder(out) as staging, (staging / "contexts.tmp").open("w+b") as kept:
            for page in typed_rows(Path(scratch) / "pages.parquet", rows.Page, 64):
                data = _LINE_END.join(p.text for p in page.paragraphs).encode()
                texts[page.item] = kept.tell(), len(data)
                kept.write(data)

            def text_of(item: str, left_out: Sequence[int], sha256: str) -> str | None:
                """The context of a row; empty where its page is another one, None without one."""
                if item not in texts:
                    return None
                start, size = texts[item]
                kept.seek(start)
                paragraphs = kept.read(size).decode().split(_LINE_END)
                lost = frozenset(left_out)
                text = _LINE_END.join(p for n, p in enumerate(paragraphs) if n not in lost)
                return text if text_sha256(text) == sha256 else ""

            found = changed = missing = 0
            for (name, split), path in zip(splits, paths, strict=True):
                target = staging / name / f"{split.name}.parquet"
                target.parent.mkdir(parents=True, exist_ok=True)
                with (
                    pq.ParquetFile(path) as table,
                    pq.ParquetWriter(target, table.schema_arrow, compression="zstd") as writer,
                ):
                    for batch in table.iter_batches(_ROWS):
                        columns = ("subject", "left_out", "context_sha256")
                        given = zip(*(batch[n].to_pylist() for n in columns), strict=True)
                        texts_of_rows = [text_of(*row) for row in given]
                        found += sum(bool(text) for text in texts_of_rows)
                        changed += texts_of_rows.count("")
                        missing += texts_of_rows.count(None)
                        filled = [text or "" for text in texts_of_rows]
                        place = batch.schema.get_field_index("context")
                        column = pa.array(filled, batch.schema.field(place).type)
                        writer.write_batch(
                            batch.set_column(place, batch.schema.field(place), column)
                        )
            kept.close()
            (staging / "contexts.tmp").unlink()
            if not found:
                inputs = ", ".join(i.file for i in made.inputs if i.name == "pages")
                text = f"no page is as the release has it ({changed:,} rows with another text, "
                text += f"{missing:,} without their page)"
                hint = f"give the files that it was made from: {inputs}" if inputs else None
                raise UserError(text, where=release, hint=hint)
    return RestoredContexts(found, changed, missing)


def _columns(path: Path, *names: str) -> list[tuple[str, ...]]:
    table = pq.read_table(path, columns=list(names))
    return list(zip(*(table[n].to_pylist() for n in names), strict=True))
