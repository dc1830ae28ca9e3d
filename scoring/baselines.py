"""What models that know nothing of a period score on a release, as lines of text."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq

from factdrift.builders.core.config import shown
from factdrift.builders.core.errors import UserError
from factdrift.builders.release.manifest import load, locate
from factdrift.builders.templama.guesses import GUESSES, guesses

_COLUMNS = {"split", "relation", "targets", "previous_answers", "still_true"}


def baselines(folder: Path) -> Iterator[str]:
    """A line for each split, then for each relation of what is updated; in per cent.

    `UserError`: the release has no timelines, or no rows that name the answers of before.
    """
    files = {
        config.name: [locate(folder, split.file) for split in config.splits]
        for config in load(folder).configs
    }
    cloze = {
        name: some
        for name, some in files.items()
        if name not in ("choices", "paraphrases")
        and some
        and _COLUMNS.issubset(pq.read_schema(some[0]).names)
    }
    if not cloze or len(files.get("timelines", ())) != 1:
        raise UserError(
            "its rows name no answers of the period before, or it has no timelines",
            where=shown(folder),
            hint="these figures are of cloze releases such as dynamic-templama",
        )
    (timelines,) = files["timelines"]
    yield "".join([f"{'':<16}{'comparisons':>12}", *(f"{name:>17}" for name in GUESSES)])
    every = [path for some in cloze.values() for path in some]
    for by, paths in (("split", every), ("relation", cloze.get("updated", []))):
        if by == "relation" and paths:
            yield "updated, by relation"
        for row in guesses(paths, timelines, by) if paths else ():
            shares = ("-" if row[n] is None else f"{100 * float(row[n] or 0):.1f}" for n in GUESSES)
            yield "".join(
                [f"{row[by]!s:<16}{row['comparisons']:>12,}", *(f"{s:>17}" for s in shares)]
            )
