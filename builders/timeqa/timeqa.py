"""The `timeqa` dataset: time-sensitive questions over the pages of their subjects."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import ibis.expr.types as ir
from pydantic import Field

import builders.gold as gold_rows
import builders.timeqa as package
import builders.wikipedia as wikipedia
from builders import rows
from builders.citations import CHEN_2021
from builders.cloze import articles, render, templates
from builders.cloze.templates import Relation, select
from builders.dataset import Dataset
from builders.run import DatasetBuilder, Run
from builders.schema import reading
from builders.store import Made, code_digest
from builders.timeqa import histories, human, human_tables, paraphrases, release, tables, verdicts
from builders.timeqa.align import Alignment, align_file
from builders.timeqa.align_keep import DROPPED_ORDER, keep_pairs
from builders.timeqa.asked import Questions
from builders.timeqa.splits import Splits
from builders.wikidata import present, steps, timeline
from builders.wikipedia.read import read_pages


class TimeQA(DatasetBuilder):
    """Parameters of the dataset (Chen et al. 2021); relations without questions are not asked.

    `min_segments`: dated segments that make a fact time-evolving; `text` false: the release has
    page and revision ids, offsets and checksums, and the pages' text stays out.
    """

    tasks: ClassVar[tuple[str, ...]] = ("question-answering",)
    citations: ClassVar[tuple[str, ...]] = (CHEN_2021,)
    layouts: ClassVar[tuple[str, ...]] = (verdicts.LAYOUT, paraphrases.LAYOUT)

    builder: Literal["timeqa"]
    relations: Annotated[tuple[str, ...], Field(min_length=1)] | Literal["all"] = "all"
    min_segments: int = Field(default=2, ge=1)
    align: Alignment = Alignment()
    questions: Questions = Questions()
    splits: Splits = Splits()
    text: bool = True

    def build(self, run: Run) -> Dataset:
        """Mine, find the histories, read their pages, align, ask; anew where people checked."""
        relations = self._relations(run)
        facts = steps.mined(run, "dump", relations)
        timelines = steps.segments(run, facts, relations)
        evolving = self._histories(run, facts, timelines, relations)
        pages = self._pages(run, evolving)
        aligned = self._aligned(run, evolving, pages, relations)
        asked = self._asked(run, evolving, pages, aligned, relations)
        made = tables.dataset(facts, evolving, pages, aligned, asked, self.text)
        if "gold" not in run.inputs:
            return made
        checked = self._human(run, evolving, pages, aligned, asked, relations)
        return human_tables.added(made, checked.path, run.store.say)

    def _relations(self, run: Run) -> dict[str, Relation]:
        every = steps.all_relations(run)
        named = every if self.relations == "all" else select(every, self.relations, run.templates)
        return {i: relation for i, relation in named.items() if relation.questions}

    def _histories(
        self, run: Run, facts: Made, timelines: Made, relations: Mapping[str, Relation]
    ) -> Made:
        def make(out: Path) -> None:
            with steps.open_engine(run) as eng:
                segments = eng.read(timelines.path / "timelines.parquet", rows.Segment)
                segments = segments.filter(segments.relation.isin(list(relations)))
                entities = eng.read(facts.path / "entities.parquet", rows.Entity)
                named = eng.keep(histories.histories(segments, entities, self.min_segments))
                eng.write(named, out / "segments.parquet", rows.NamedSegment, timeline.ORDER)
                who = histories.subjects(named, entities)
                eng.write(who, out / "subjects.parquet", rows.PageSubject, ["subject"])
                gaps = eng.read(facts.path / "gaps.parquet", rows.Gap)
                gaps = gaps.semi_join(named, list(timeline.PAIR))
                order = (*timeline.PAIR, "statement", *timeline.DATES)
                eng.write(gaps, out / "gaps.parquet", rows.Gap, order)
                pageless = histories.without_page(segments, entities, self.min_segments)
                drops = steps.dropped(eng, facts, relations)
                drops = drops.union(histories.no_page(pageless).select(drops.columns))
                eng.write(drops, out / "dropped.parquet", rows.Dropped, steps.DROPPED_ORDER)

        return run.store.step(
            "histories",
            make,
            version=code_digest(histories, timeline, steps, rows),
            parameters={"relations": sorted(relations), "min_segments": self.min_segments},
            inputs=[facts.key, timelines.key],
        )

    def _pages(self, run: Run, evolving: Made) -> Made:
        source = run.inputs["pages"]

        def make(out: Path) -> None:
            wanted = _columns(evolving.path / "subjects.parquet", "title", "subject")
            titles = _columns(evolving.path / "segments.parquet", "object_title")
            read_pages(
                source.files,
                ((title, item) for title, item in wanted),
                out,
                jobs=run.jobs,
                work=run.store.work(f"pages-{evolving.key}"),
                targets=(title for (title,) in titles if title),
                checksums=source.sha256,
            )

        return run.store.step(
            "pages",
            make,
            version=code_digest(wikipedia, rows),
            parameters={},
            inputs=[*source.sha256, evolving.key],
        )

    def _aligned(
        self, run: Run, evolving: Made, pages: Made, relations: Mapping[str, Relation]
    ) -> Made:
        def make(out: Path) -> None:
            every = out / "every"
            align_file(
                pages.path / "pages.parquet",
                evolving.path / "segments.parquet",
                every,
                self.align,
                run.jobs,
            )
            with steps.open_engine(run) as eng:
                found = eng.read(every / "aligned.parquet", rows.AlignedSegment)
                cap = self.align.pairs_per_relation
                kept = keep_pairs(found, self.align.max_missing, cap, run.seed)
                segments = eng.keep(kept.segments)
                eng.write(segments, out / "segments.parquet", rows.AlignedSegment, timeline.ORDER)
                named = self._named(
                    eng.read(evolving.path / "subjects.parquet", rows.PageSubject),
                    segments,
                    relations,
                )
                eng.write(
                    named, out / "timelines.parquet", rows.ReleasedAlignedSegment, timeline.ORDER
                )
                eng.write(kept.dropped, out / "dropped.parquet", rows.Dropped, DROPPED_ORDER)

        return run.store.step(
            "aligned",
            make,
            version=code_digest(package, present, rows),
            parameters={
                "align": self.align.model_dump(mode="json"),
                "relations": {r: t.label for r, t in relations.items()},
                "seed": run.seed,
            },
            inputs=[evolving.key, pages.key],
        )

    def _named(
        self, subjects: ir.Table, segments: ir.Table, relations: Mapping[str, Relation]
    ) -> ir.Table:
        labels = subjects.select("subject", subject_label="label")
        known = [(relation, template.label) for relation, template in relations.items()]
        table = steps.released(segments).join(labels, "subject")
        return table.mutate(relation_label=table.relation.cases(*known))

    def _asked(
        self,
        run: Run,
        evolving: Made,
        pages: Made,
        aligned: Made,
        relations: Mapping[str, Relation],
    ) -> Made:
        def make(out: Path) -> None:
            made = self._tables(evolving, pages, aligned)
            release.write_questions(
                made, out, relations, self.questions, run.seed, self.text, self.splits.of
            )

        return run.store.step(
            "asked",
            make,
            version=code_digest(package, render, articles, templates, rows),
            parameters=self._asking(run, relations),
            inputs=[aligned.key],
        )

    def _human(
        self,
        run: Run,
        evolving: Made,
        pages: Made,
        aligned: Made,
        asked: Made,
        relations: Mapping[str, Relation],
    ) -> Made:
        gold = run.inputs["gold"]

        def make(out: Path) -> None:
            human.write_human(
                gold.files,
                aligned.path / "timelines.parquet",
                self._tables(evolving, pages, aligned),
                asked.path / "questions.parquet",
                out,
                relations,
                self.questions,
                run.seed,
                self.text,
                self.splits.of,
            )

        return run.store.step(
            "human",
            make,
            version=code_digest(package, gold_rows, render, articles, templates, rows),
            parameters=self._asking(run, relations),
            inputs=[aligned.key, asked.key, *gold.sha256],
        )

    def _tables(self, evolving: Made, pages: Made, aligned: Made) -> release.Tables:
        return release.Tables(
            aligned.path / "segments.parquet",
            evolving.path / "gaps.parquet",
            evolving.path / "subjects.parquet",
            pages.path / "pages.parquet",
        )

    def _asking(self, run: Run, relations: Mapping[str, Relation]) -> dict[str, Any]:
        return {
            "questions": self.questions.model_dump(mode="json"),
            "splits": self.splits.model_dump(mode="json"),
            "text": self.text,
            "templates": {
                r: [t.label, t.mode, [q.model_dump(mode="json") for q in t.questions]]
                for r, t in relations.items()
            },
            "seed": run.seed,
        }


def _columns(path: Path, *names: str) -> Iterator[tuple[Any, ...]]:
    with reading(path) as file:
        for batch in file.iter_batches(65_536, columns=list(names)):
            yield from zip(*(batch.column(n).to_pylist() for n in names), strict=True)
