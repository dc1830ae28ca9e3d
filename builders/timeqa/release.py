"""From aligned segments and pages to released questions, one subject after another."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

from builders import rows
from builders.cloze.templates import Relation
from builders.schema import reading, writing
from builders.timeqa.align_files import page_of
from builders.timeqa.ask import STEP, Pair, Questions, ask_pair
from builders.timeqa.contexts import Context, probe, question
from builders.timeqa.probes import probes
from builders.timeqa.splits import GROUP

T = TypeVar("T")


@dataclass(frozen=True)
class Tables:
    """The tables that questions are made of, sorted by subject (pages by item)."""

    segments: Path
    gaps: Path
    subjects: Path
    pages: Path


def write_questions(
    tables: Tables,
    out: Path,
    relations: Mapping[str, Relation],
    settings: Questions,
    seed: int,
    text: bool,
    split_of: Callable[[str, int], str],
    step: str = STEP,
) -> None:
    """Write `questions.parquet` (`rows.TimeQuestion`), `probes.parquet`, `dropped.parquet`.

    The order is that of the subjects, then of the relations, then of the asking. `step` is what
    the dropped rows name. Memory holds one subject, its page and a few hundred questions.
    """
    with ExitStack() as stack:
        asked = stack.enter_context(writing(out / "questions.parquet", rows.TimeQuestion, GROUP))
        moved = stack.enter_context(writing(out / "probes.parquet", rows.TimeProbe, GROUP))
        dropped = stack.enter_context(writing(out / "dropped.parquet", rows.Dropped))
        for pairs, page in pairs_of(tables):
            context = Context(page, text)
            split = split_of(page.item, seed)
            for pair in pairs:
                relation = relations[pair.relation]
                found, left_out = ask_pair(pair, relation, settings, seed)
                for one in found:
                    asked.append(question(one, context, split))
                for one in probes(found, pair, relation, settings, seed):
                    moved.append(probe(one, context, split))
                for drop in left_out:
                    dropped.append(drop if step == STEP else replace(drop, step=step))


def pairs_of(tables: Tables) -> Iterator[tuple[list[Pair], rows.Page]]:
    """Every subject's pairs with its page; subjects without a page have no segments by now."""
    gaps = Following(tables.gaps, rows.Gap, "subject")
    subjects = Following(tables.subjects, rows.PageSubject, "subject")
    pages = Following(tables.pages, rows.Page, "item", batch=16)
    flow = rows_of(tables.segments, rows.AlignedSegment)
    for subject, segments in groupby(flow, key=lambda row: row["subject"]):
        label = subjects.at(subject)[0]["label"]
        page = page_of(pages.at(subject)[0])
        unnamed = [typed(row, rows.Gap) for row in gaps.at(subject)]
        yield (
            [
                Pair(
                    subject,
                    label,
                    relation,
                    tuple(typed(row, rows.AlignedSegment) for row in of),
                    tuple(gap for gap in unnamed if gap.relation == relation),
                )
                for relation, of in groupby(segments, key=lambda row: row["relation"])
            ],
            page,
        )


class Following:
    """The rows of a sorted file that have a key; keys are asked for in order."""

    def __init__(self, path: Path, row: Any, key: str, batch: int = 4096) -> None:
        self._groups = groupby(rows_of(path, row, batch), key=lambda found: found[key])
        self._next: tuple[str, list[dict[str, Any]]] | None = None

    def at(self, key: str) -> list[dict[str, Any]]:
        """The rows of this key; none where the file has none."""
        wanted = len(key), key
        while self._next is None or (len(self._next[0]), self._next[0]) < wanted:
            group = next(self._groups, None)
            if group is None:
                return []
            self._next = group[0], list(group[1])
        return self._next[1] if self._next[0] == key else []


def rows_of(path: Path, row: Any, batch: int = 4096) -> Iterator[dict[str, Any]]:
    names = [f.name for f in fields(row)]
    with reading(path) as file:
        for found in file.iter_batches(batch, columns=names):
            yield from found.to_pylist()


def typed(row: Mapping[str, Any], kind: type[T]) -> T:
    return kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in row.items()})
