"""The steps of `timeqa`: histories, their pages, the alignment of the two, and the questions."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import ibis

from factdrift.builders import rows
from factdrift.builders.core.run import Source
from factdrift.builders.core.schema import reading
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.facts import release_columns, steps, timeline
from factdrift.builders.facts.steps import Facts, Timelines
from factdrift.builders.timeqa.alignment import DROPPED_ORDER, Alignment, align_file, keep_pairs
from factdrift.builders.timeqa.annotations import write_checked
from factdrift.builders.timeqa.question_tables import AskSettings, QuestionSources, write_questions
from factdrift.builders.wikipedia.read import read_pages


class Histories(Step):
    """The time-evolving facts with names: `segments.parquet` (`rows.NamedSegment`).

    Beside it `subjects.parquet` (`rows.PageSubject`), `gaps.parquet` and `dropped.parquet`.
    """

    name: ClassVar[str] = "histories"

    facts: Facts
    timelines: Timelines
    relations: tuple[str, ...]
    min_segments: int

    def make(self, out: Path, workspace: Workspace) -> None:
        """Choose the pairs with enough dated segments whose subject has a page.

        A segment is dated where its start or its end is known (paper 001, section 2.1). Undated
        segments of such a pair are not left out later, for they put in doubt what else held.
        """
        facts_folder, timelines_folder = (
            workspace.folder(self.facts),
            workspace.folder(self.timelines),
        )
        pair = list(timeline.PAIR)
        with workspace.engine() as eng:
            segments = eng.read(timelines_folder / "timelines.parquet", rows.Segment)
            segments = segments.filter(segments.relation.isin(list(self.relations)))
            entities = eng.read(facts_folder / "entities.parquet", rows.Entity)
            items_with_page = entities.filter(entities.enwiki.notnull())
            dated = segments.filter(segments.start_first.notnull() | segments.end_first.notnull())
            pairs = dated.group_by(pair).having(dated.count() >= self.min_segments)
            pairs = pairs.agg(dated=dated.count())
            kept_pairs = pairs.semi_join(items_with_page, pairs.subject == items_with_page.id)
            names = entities.select(
                object_id="id", object_label="label", aliases="aliases", object_title="enwiki"
            )
            segments = segments.semi_join(kept_pairs, pair)
            named_segments = segments.join(names, segments.object == names.object_id).drop(
                "object_id"
            )
            named_segments = eng.keep(named_segments)
            eng.write(named_segments, out / "segments.parquet", rows.NamedSegment, timeline.ORDER)
            ids = named_segments.select("subject").distinct()
            subjects = ids.join(entities, ids.subject == entities.id)
            subjects = subjects.select(
                "subject",
                label=subjects.label,
                title=subjects.enwiki,
                began=subjects.began_last,
                ended=subjects.ended_first,
            )
            eng.write(subjects, out / "subjects.parquet", rows.PageSubject, ["subject"])
            gaps = eng.read(timelines_folder / "gaps.parquet", rows.Gap)
            gaps = gaps.filter(gaps.reason != "undated").semi_join(named_segments, pair)
            eng.write(gaps, out / "gaps.parquet", rows.Gap, timeline.GAP_ORDER)
            dropped_rows = steps.read_dropped(eng, facts_folder)
            pageless_pairs = pairs.anti_join(items_with_page, pairs.subject == items_with_page.id)
            drop_reason = ibis.literal("no_sitelink")
            dropped_rows = dropped_rows.union(
                release_columns.as_dropped(pageless_pairs, self.name, reason=drop_reason)
            )
            eng.write(dropped_rows, out / "dropped.parquet", rows.Dropped, steps.DROPPED_ORDER)


class Pages(Step):
    """The pages of the subjects: `pages.parquet` (`rows.Page`) and `dropped.parquet`."""

    name: ClassVar[str] = "pages"

    files: Source
    histories: Histories

    def make(self, out: Path, workspace: Workspace) -> None:
        """Read the wanted pages, with links through redirects followed to the objects' pages."""
        histories = workspace.folder(self.histories)
        target_titles = _columns(histories / "segments.parquet", "object_title")
        read_pages(
            self.files.files,
            _columns(histories / "subjects.parquet", "title", "subject"),
            out,
            jobs=workspace.jobs,
            work=workspace.work(f"pages-{self.key}"),
            targets=(title for (title,) in target_titles if title),
        )


class Alignments(Step):
    """The segments with the place in the page that names their object.

    `segments.parquet` (`rows.AlignedSegment`) and `timelines.parquet`
    (`rows.ReleasedAlignedSegment`) of the pairs that are kept, `dropped.parquet`, and the folder
    `every` with all pairs. `relations`: property id -> label.
    """

    name: ClassVar[str] = "aligned"

    histories: Histories
    pages: Pages
    relations: Mapping[str, str]
    settings: Alignment
    seed: int

    def make(self, out: Path, workspace: Workspace) -> None:
        """Align page by page, then keep the pairs that are found often enough."""
        histories, every_folder = workspace.folder(self.histories), out / "every"
        pages = workspace.folder(self.pages) / "pages.parquet"
        align_file(
            pages, histories / "segments.parquet", every_folder, self.settings, workspace.jobs
        )
        with workspace.engine() as eng:
            aligned_segments = eng.read(every_folder / "aligned.parquet", rows.AlignedSegment)
            segments, dropped = keep_pairs(aligned_segments, self.settings, self.seed)
            segments = eng.keep(segments)
            eng.write(segments, out / "segments.parquet", rows.AlignedSegment, timeline.ORDER)
            subjects = eng.read(histories / "subjects.parquet", rows.PageSubject)
            named_segments = steps.released_segments(segments).join(
                subjects.select("subject", subject_label="label"), "subject"
            )
            named_segments = named_segments.mutate(
                relation_label=named_segments.relation.cases(*self.relations.items())
            )
            lines, row = out / "timelines.parquet", rows.ReleasedAlignedSegment
            eng.write(named_segments, lines, row, timeline.ORDER)
            eng.write(dropped, out / "dropped.parquet", rows.Dropped, DROPPED_ORDER)


class AskedQuestions(Step):
    """The questions of aligned histories, and the probes of them.

    `questions.parquet` (`rows.TimeQuestion`), `probes.parquet` (`rows.TimeProbe`) and
    `dropped.parquet`.
    """

    name: ClassVar[str] = "asked"

    alignments: Alignments
    asking: AskSettings

    def make(self, out: Path, workspace: Workspace) -> None:
        """Ask about one subject after another."""
        write_questions(self.sources(workspace), out, self.asking)

    def sources(self, workspace: Workspace) -> QuestionSources:
        """The tables that the questions are made from."""
        histories = workspace.folder(self.alignments.histories)
        return QuestionSources(
            workspace.folder(self.alignments) / "timelines.parquet",
            histories / "gaps.parquet",
            histories / "subjects.parquet",
            workspace.folder(self.alignments.pages) / "pages.parquet",
        )


class CheckedQuestions(Step):
    """Questions about facts that annotators checked; see `annotations.write_checked`."""

    name: ClassVar[str] = "human"

    gold: Source
    asked: AskedQuestions

    def make(self, out: Path, workspace: Workspace) -> None:
        """Correct the segments as annotators did, ask anew, and take their paraphrases."""
        asked_step = self.asked
        write_checked(
            self.gold.files,
            workspace.folder(asked_step.alignments) / "timelines.parquet",
            asked_step.sources(workspace),
            workspace.folder(asked_step) / "questions.parquet",
            out,
            asked_step.asking,
        )


def _columns(path: Path, *names: str) -> Iterator[tuple[Any, ...]]:
    with reading(path) as file:
        for batch in file.iter_batches(65_536, columns=list(names)):
            yield from zip(*(batch.column(name).to_pylist() for name in names), strict=True)
