"""What a release of time-sensitive questions holds, from the folders of its steps."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from builders import rows
from builders.dataset import Dataset, FromParquet, Table
from builders.schema import reading
from builders.store import Made
from builders.timeqa import figures
from builders.timeqa.splits import GROUP, split_table
from builders.wikidata.figures import mining

_ABOUT = {
    "easy": "The question names the boundaries of a segment of the history.",
    "hard": "The question names a time inside a segment, before, after, or where nothing holds.",
}


def dataset(
    facts: Made, evolving: Made, pages: Made, aligned: Made, asked: Made, text: bool
) -> Dataset:
    """Configs `easy`, `hard`, `consistency`, `timelines` and, with `text`, `pages`.

    With the drops and figures of every step.
    """
    asking = asked.path / "questions.parquet"
    probes = "Questions of both modes moved to other times inside the same segment."
    lines = "The histories behind the questions, and where the page names each object."
    every = FromParquet(aligned.path / "timelines.parquet")
    return Dataset(
        tables=(
            *(
                split_table(d, rows.TimeQuestion, about, asking, difficulty=d)
                for d, about in _ABOUT.items()
            ),
            split_table("consistency", rows.TimeProbe, probes, asked.path / "probes.parquet"),
            Table("timelines", rows.ReleasedAlignedSegment, lines, {"full": every}),
            *([_pages(pages.path, aligned.path)] if text else []),
        ),
        dropped=tuple(
            FromParquet(path / "dropped.parquet")
            for path in (
                evolving.path,
                pages.path,
                aligned.path / "every",
                aligned.path,
                asked.path,
            )
        ),
        figures=(*figures.tables(asked.path, aligned.path), mining({"dump": facts})),
        plots=figures.plots(asked.path),
    )


def _pages(pages: Path, aligned: Path) -> Table:
    """The pages of the subjects of `timelines`, a batch in memory at a time."""

    def found() -> Iterator[pa.RecordBatch]:
        column = pq.read_table(aligned / "segments.parquet", columns=["subject"])["subject"]
        subjects = pc.unique(column)
        with reading(pages / "pages.parquet") as file:
            for batch in file.iter_batches(64):
                yield batch.filter(pc.is_in(batch["item"], subjects))

    about = "The pages of the subjects of `timelines`, in paragraphs, as the offsets count them."
    return Table("pages", rows.Page, about, {"full": found}, GROUP)
