"""The steps of `timeqa`: histories, their pages, the alignment of the two, and the questions."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import ibis
import ibis.expr.types as ir

from factdrift.builders import rows
from factdrift.builders.core.engine import Engine
from factdrift.builders.core.run import Source
from factdrift.builders.core.schema import reading
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.facts import namesakes, release_columns, steps, timeline
from factdrift.builders.facts.steps import Facts, Timelines
from factdrift.builders.timeqa.alignment import DROPPED_ORDER, Alignment, align_file, keep_pairs
from factdrift.builders.timeqa.annotations import write_checked
from factdrift.builders.timeqa.question_tables import AskSettings, QuestionSources, write_questions
from factdrift.builders.wikipedia.read import read_pages


class Histories(Step):
    """The time-evolving facts with names: `segments.parquet` (`rows.NamedSegment`).

    Beside it `subjects.parquet` (`rows.PageSubject`), `gaps.parquet` and `dropped.parquet`, and,
    where questions are asked about the histories, `namesakes.NAMES`. For these `alike` has the
    relations that share questions.
    """

    name: ClassVar[str] = "histories"

    facts: Facts
    timelines: Timelines
    relations: tuple[str, ...]
    min_segments: int
    alike: Mapping[str, str] | None = None

    def make(self, out: Path, workspace: Workspace) -> None:
        """Choose the pairs with enough dated segments whose subject has a page.

        A segment is dated where its start or its end is known (paper 001, section 2.1). Undated
        segments of such a pair are not left out later, for they put in doubt what else held.
        """
        facts_folder, timelines_folder = (
            workspace.folder(self.facts),
            workspace.folder(self.timelines),
        )
        pair_columns = list(timeline.PAIR)
        with workspace.engine() as engine:
            segments = engine.read(timelines_folder / "timelines.parquet", rows.Segment)
            segments = segments.filter(segments.relation.isin(list(self.relations)))
            entities = engine.read(facts_folder / "entities.parquet", rows.Entity)
            items_with_page = entities.filter(entities.enwiki.notnull())
            dated_segments = segments.filter(
                segments.start_first.notnull() | segments.end_first.notnull()
            )
            dated_pairs = dated_segments.group_by(pair_columns).having(
                dated_segments.count() >= self.min_segments
            )
            dated_pairs = dated_pairs.agg(dated=dated_segments.count())
            kept_pairs = dated_pairs.semi_join(
                items_with_page, dated_pairs.subject == items_with_page.id
            )
            dropped_rows = steps.read_dropped(engine, facts_folder)
            if self.alike is not None:
                told = self._told_apart(engine, workspace, out, kept_pairs, self.alike)
                kept_pairs = kept_pairs.anti_join(told.ambiguous, pair_columns)
                ambiguous_rows = namesakes.dropped_rows(told.ambiguous, self.name)
                dropped_rows = dropped_rows.union(ambiguous_rows.select(dropped_rows.columns))
            object_names = entities.select(
                object_id="id", object_label="label", aliases="aliases", object_title="enwiki"
            )
            segments = segments.semi_join(kept_pairs, pair_columns)
            named_segments = segments.join(
                object_names, segments.object == object_names.object_id
            ).drop("object_id")
            named_segments = engine.keep(named_segments)
            engine.write(
                named_segments, out / "segments.parquet", rows.NamedSegment, timeline.ORDER
            )
            subject_ids = named_segments.select("subject").distinct()
            subject_rows = subject_ids.join(entities, subject_ids.subject == entities.id)
            subject_rows = subject_rows.select(
                "subject",
                label=subject_rows.label,
                title=subject_rows.enwiki,
                began=subject_rows.began_last,
                ended=subject_rows.ended_first,
            )
            engine.write(subject_rows, out / "subjects.parquet", rows.PageSubject, ["subject"])
            gap_rows = engine.read(timelines_folder / "gaps.parquet", rows.Gap)
            gap_rows = gap_rows.filter(gap_rows.reason != "undated").semi_join(
                named_segments, pair_columns
            )
            engine.write(gap_rows, out / "gaps.parquet", rows.Gap, timeline.GAP_ORDER)
            pageless_pairs = dated_pairs.anti_join(
                items_with_page, dated_pairs.subject == items_with_page.id
            )
            drop_reason = ibis.literal("no_sitelink")
            dropped_rows = dropped_rows.union(
                release_columns.as_dropped(pageless_pairs, self.name, reason=drop_reason)
            )
            engine.write(dropped_rows, out / "dropped.parquet", rows.Dropped, steps.DROPPED_ORDER)

    def _told_apart(
        self,
        engine: Engine,
        workspace: Workspace,
        out: Path,
        pairs: ir.Table,
        alike: Mapping[str, str],
    ) -> namesakes.Told:
        """Tell the subjects of pairs from others of their name.

        Questions name times of the whole history, and times before and after it, so that days are
        not compared.
        """
        timelines_folder = workspace.folder(self.timelines)
        segments = engine.read(timelines_folder / "timelines.parquet", rows.Segment)
        asked = segments.semi_join(pairs, timeline.PAIR).group_by(list(timeline.PAIR))
        asked = asked.agg(answers=segments.object.collect(distinct=True))
        no_day = ibis.null("date")
        key = asked.subject + "/" + asked.relation
        return namesakes.tell_apart(
            engine,
            out,
            asked.mutate(key=key, first=no_day, last=no_day),
            namesakes.read_held(engine, timelines_folder, self.relations),
            engine.read(workspace.folder(self.facts) / "entities.parquet", rows.Entity),
            namesakes.read_offices(engine, workspace.folder(self.facts.mined)),
            alike,
        )


class Pages(Step):
    """Reads the pages of the subjects into `pages.parquet` (`rows.Page`) and `dropped.parquet`."""

    name: ClassVar[str] = "pages"

    files: Source
    histories: Histories

    def make(self, out: Path, workspace: Workspace) -> None:
        """Read the wanted pages. Links through a redirect are resolved to the object's page."""
        histories_folder = workspace.folder(self.histories)
        target_titles = _columns(histories_folder / "segments.parquet", "object_title")
        read_pages(
            self.files.files,
            _columns(histories_folder / "subjects.parquet", "title", "subject"),
            out,
            jobs=workspace.jobs,
            work=workspace.work(f"pages-{self.key}"),
            targets=(target_title for (target_title,) in target_titles if target_title),
        )


class Alignments(Step):
    """Aligns segments with pages: finds the place in the subject's page that names the object.

    Writes `segments.parquet` (`rows.AlignedSegment`) and `timelines.parquet`
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
        histories_folder, every_folder = workspace.folder(self.histories), out / "every"
        pages_file = workspace.folder(self.pages) / "pages.parquet"
        align_file(
            pages_file,
            histories_folder / "segments.parquet",
            every_folder,
            self.settings,
            workspace.jobs,
        )
        with workspace.engine() as engine:
            aligned_segments = engine.read(every_folder / "aligned.parquet", rows.AlignedSegment)
            kept_segments, dropped_rows = keep_pairs(aligned_segments, self.settings, self.seed)
            kept_segments = engine.keep(kept_segments)
            engine.write(
                kept_segments, out / "segments.parquet", rows.AlignedSegment, timeline.ORDER
            )
            subject_rows = engine.read(histories_folder / "subjects.parquet", rows.PageSubject)
            named_segments = steps.released_segments(kept_segments).join(
                subject_rows.select("subject", subject_label="label"), "subject"
            )
            named_segments = named_segments.mutate(
                relation_label=named_segments.relation.cases(*self.relations.items())
            )
            timelines_file, row = out / "timelines.parquet", rows.ReleasedAlignedSegment
            engine.write(named_segments, timelines_file, row, timeline.ORDER)
            engine.write(dropped_rows, out / "dropped.parquet", rows.Dropped, DROPPED_ORDER)


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
        histories_folder = workspace.folder(self.alignments.histories)
        return QuestionSources(
            workspace.folder(self.alignments) / "timelines.parquet",
            histories_folder / "gaps.parquet",
            histories_folder / "subjects.parquet",
            workspace.folder(self.alignments.pages) / "pages.parquet",
            histories_folder / namesakes.NAMES,
        )


class CheckedQuestions(Step):
    """Questions about facts that annotators checked; see `annotations.write_checked`."""

    name: ClassVar[str] = "human"

    gold: Source
    asked_questions: AskedQuestions

    def make(self, out: Path, workspace: Workspace) -> None:
        """Correct the segments as annotators did, ask anew, and take their paraphrases."""
        asked_step = self.asked_questions
        write_checked(
            self.gold.files,
            workspace.folder(asked_step.alignments) / "timelines.parquet",
            asked_step.sources(workspace),
            workspace.folder(asked_step) / "questions.parquet",
            out,
            asked_step.asking,
        )


def _columns(table_file: Path, *column_names: str) -> Iterator[tuple[Any, ...]]:
    with reading(table_file) as file:
        for batch in file.iter_batches(65_536, columns=list(column_names)):
            yield from zip(
                *(batch.column(column_name).to_pylist() for column_name in column_names),
                strict=True,
            )
