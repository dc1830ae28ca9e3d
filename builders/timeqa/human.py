"""The gold part of a release: facts that people checked, their questions, and paraphrases."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from builders import rows
from builders.cloze.templates import Relation
from builders.gold import read_gold
from builders.schema import reading, writing
from builders.timeqa import paraphrases, verdicts
from builders.timeqa.align_files import page_of
from builders.timeqa.asked import Questions
from builders.timeqa.release import Following, Tables, rows_of, typed, write_questions
from builders.timeqa.revise import revise
from builders.timeqa.verdicts import Verdict, read_verdicts

STEP = "human"
_ASK = "ask_human"
_PAGES = 256
"""Rows read at a time: each may be a page."""
SUMMARY = "summary.json"
FACTS, SEGMENTS = "facts.parquet", "segments.parquet"
ASKED, PARAPHRASED = "asked", "paraphrased.parquet"


def write_human(
    gold: Sequence[Path],
    timelines: Path,
    tables: Tables,
    questions: Path,
    out: Path,
    relations: Mapping[str, Relation],
    settings: Questions,
    seed: int,
    text: bool,
    split_of: Callable[[str, int], str],
) -> None:
    """Write all that follows from gold tables into the folder `out`.

    `timelines`: the released segments (`rows.ReleasedAlignedSegment`) that people were shown;
    `tables`: what their questions are made of, whose segments are replaced here; `questions`: the
    automatic ones, which may have been paraphrased. Written: `facts.parquet`
    (`rows.VerifiedSegment`), `segments.parquet` (`rows.AlignedSegment`, of histories that were
    checked whole), the folder `asked` of their questions, `paraphrased.parquet`,
    `dropped.parquet`, and `summary.json` with what became of the gold rows. `UserError`: the
    tables hold no rows of these layouts.
    """
    counts: dict[str, Counter[str]] = {verdicts.LAYOUT: Counter(), paraphrases.LAYOUT: Counter()}
    texts = paraphrases.Paraphrases(counts[paraphrases.LAYOUT])
    said, lost = read_verdicts(_segments_alone(gold, texts))
    counts[verdicts.LAYOUT] += lost
    revised: Counter[str] = Counter()
    with ExitStack() as stack:
        facts = stack.enter_context(writing(out / FACTS, rows.VerifiedSegment))
        asked = stack.enter_context(writing(out / SEGMENTS, rows.AlignedSegment))
        dropped = stack.enter_context(writing(out / "dropped.parquet", rows.Dropped))
        shown, pages = out / "shown.parquet", out / "pages.parquet"
        found = _of(timelines, "id", said, ["id", "subject"])
        counts[verdicts.LAYOUT]["no_such_row"] += len(said) - found.num_rows
        subjects = set(found["subject"].to_pylist())
        _part(timelines, "subject", subjects, shown)
        _part(tables.pages, "item", subjects, pages)
        for history, page in _histories(shown, pages):
            if not any(one.id in said for one in history):
                continue
            for row in _checked(history, said, page, counts[verdicts.LAYOUT], revised):
                if isinstance(row, rows.Dropped):
                    dropped.append(row)
                    continue
                facts.append(row)
                if row.complete:
                    asked.append(row)
    mine = Tables(out / SEGMENTS, tables.gaps, tables.subjects, pages)
    (out / ASKED).mkdir()
    alone = settings.model_copy(update={"probes": 0})
    write_questions(mine, out / ASKED, relations, alone, seed, text, split_of, _ASK)
    with writing(out / PARAPHRASED, rows.ParaphrasedQuestion, 256) as into:
        for found in texts.of([out / ASKED / "questions.parquet", questions]):
            into.append(found)
    summary = {"gold": {name: dict(sorted(n.items())) for name, n in counts.items()}}
    (out / SUMMARY).write_text(json.dumps(summary | {"revised": dict(revised)}, indent=1), "utf-8")


def _segments_alone(gold: Sequence[Path], texts: "paraphrases.Paraphrases") -> Iterator[rows.Gold]:
    """The gold rows of segments; paraphrases are put aside on the way."""
    for one in read_gold(gold, verdicts.LAYOUT, paraphrases.LAYOUT):
        if one.layout == paraphrases.LAYOUT:
            texts.add(one)
        else:
            yield one


def _of(path: Path, column: str, values: Collection[str], columns: list[str]) -> pa.Table:
    """Some columns of the rows of a file that have one of these values."""
    chosen = pc.field(column).isin(pa.array(sorted(values), pa.string()))
    return ds.dataset(path, format="parquet").to_table(columns=columns, filter=chosen)


def _part(path: Path, column: str, values: Collection[str], out: Path) -> None:
    """Write the rows of a file that have one of these values, in their order."""
    wanted = pa.array(sorted(values), pa.string())
    with (
        reading(path) as file,
        pq.ParquetWriter(out, file.schema_arrow) as into,
    ):
        for batch in file.iter_batches(_PAGES):
            mine = batch.filter(pc.is_in(batch.column(column), value_set=wanted))
            if mine.num_rows:
                into.write_batch(mine)


def _histories(
    timelines: Path, pages: Path
) -> Iterator[tuple[list[rows.ReleasedAlignedSegment], rows.Page]]:
    following = Following(pages, rows.Page, "item", batch=16)
    flow = rows_of(timelines, rows.ReleasedAlignedSegment)
    for subject, segments in groupby(flow, key=lambda row: row["subject"]):
        page = page_of(following.at(subject)[0])
        for _, history in groupby(segments, key=lambda row: row["relation"]):
            yield [typed(row, rows.ReleasedAlignedSegment) for row in history], page


def _checked(
    history: Sequence[rows.ReleasedAlignedSegment],
    said: Mapping[str, Verdict],
    page: rows.Page,
    counts: Counter[str],
    revised: Counter[str],
) -> Iterable[rows.VerifiedSegment | rows.Dropped]:
    """The verified segments of a history, and what was left out."""
    found = revise(history, said, page)
    taken = 0
    for one, became in zip(history, found, strict=True):
        if became is None:
            continue
        if became.reason is not None:
            counts[became.reason] += 1
            yield _dropped(one, became.reason, one.id, None)
            continue
        taken += 1
        counts["taken"] += 1
        revised["segments"] += 1
        revised["any"] += bool(became.segments[0].revisions)
        revised.update({kind for s in became.segments for kind in s.revisions})
        yield from became.segments
    if taken < len(history):
        item = f"{history[0].subject}/{history[0].relation}"
        detail = f"{taken} of {len(history)} segments are verified"
        yield _dropped(history[0], "not_all_verified", item, detail)


def _dropped(
    one: rows.ReleasedAlignedSegment, reason: str, item: str, detail: str | None
) -> rows.Dropped:
    return rows.Dropped(STEP, reason, item, one.subject, one.relation, None, None, detail)
