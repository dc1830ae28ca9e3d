"""The `timeqa` dataset: time-sensitive questions over the pages of their subjects."""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Literal

import ibis
import ibis.expr.types as ir
import pyarrow.parquet as pq
from pydantic import Field, model_validator

import builders.timeqa as package
import builders.wikipedia as wikipedia
from builders import rows
from builders.citations import CHEN_2021
from builders.cloze import articles, render, templates
from builders.cloze.templates import Relation, select
from builders.config import Strict
from builders.dataset import Dataset, FromParquet, Table
from builders.run import Run
from builders.store import Made, code_digest
from builders.timeqa import figures, histories, release
from builders.timeqa.align import Alignment, align_file
from builders.timeqa.align_keep import DROPPED_ORDER, keep_pairs
from builders.timeqa.asked import Questions
from builders.wikidata import present, steps, timeline
from builders.wikidata.figures import mining
from builders.wikipedia.read import read_pages

SPLITS = ("train", "dev", "test")
_ABOUT = {
    "easy": "The question names the boundaries of a segment of the history.",
    "hard": "The question names a time inside a segment, before, after, or where nothing holds.",
}


class Splits(Strict):
    """Shares of the subjects; a subject is in one split with all its questions."""

    train: float = Field(default=0.70, ge=0, le=1)
    dev: float = Field(default=0.15, ge=0, le=1)
    test: float = Field(default=0.15, ge=0, le=1)

    @model_validator(mode="after")
    def _add_up(self) -> "Splits":
        if abs(self.train + self.dev + self.test - 1) > 1e-9:
            raise ValueError(f"the shares add up to {self.train + self.dev + self.test}, not 1")
        return self

    def of(self, subject: str, seed: int) -> str:
        """The split of a subject: by its own hash, whatever else there is."""
        chance = int(sha256(f"{seed}\tsplit\t{subject}".encode()).hexdigest()[:13], 16) / 16**13
        return (
            "train" if chance < self.train else "dev" if chance < self.train + self.dev else "test"
        )


class TimeQA(Strict):
    """Parameters of the dataset (Chen et al. 2021); relations without questions are not asked.

    `min_segments`: dated segments that make a fact time-evolving; `text` false: the release has
    page and revision ids, offsets and checksums, and the pages' text stays out.
    """

    tasks: ClassVar[tuple[str, ...]] = ("question-answering",)
    citations: ClassVar[tuple[str, ...]] = (CHEN_2021,)

    builder: Literal["timeqa"]
    relations: tuple[str, ...] | Literal["all"] = "all"
    min_segments: int = Field(default=2, ge=1)
    align: Alignment = Alignment()
    questions: Questions = Questions()
    splits: Splits = Splits()
    text: bool = True

    def build(self, run: Run) -> Dataset:
        """Mine, find the histories, read their pages, align, ask."""
        relations = self._relations(run)
        facts = steps.mined(run, "dump")
        timelines = steps.segments(run, facts, relations)
        evolving = self._histories(run, facts, timelines, relations)
        pages = self._pages(run, evolving)
        aligned = self._aligned(run, evolving, pages, relations)
        asked = self._asked(run, evolving, pages, aligned, relations)
        return self._dataset(facts, evolving, pages, aligned, asked)

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
                drops = drops.union(_no_page(pageless).select(drops.columns))
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
            tables = release.Tables(
                aligned.path / "segments.parquet",
                evolving.path / "gaps.parquet",
                evolving.path / "subjects.parquet",
                pages.path / "pages.parquet",
            )
            release.write_questions(
                tables, out, relations, self.questions, run.seed, self.text, self.splits.of
            )

        return run.store.step(
            "asked",
            make,
            version=code_digest(package, render, articles, templates, rows),
            parameters={
                "questions": self.questions.model_dump(mode="json"),
                "splits": self.splits.model_dump(mode="json"),
                "text": self.text,
                "templates": {
                    r: [t.label, t.mode, [q.model_dump(mode="json") for q in t.questions]]
                    for r, t in relations.items()
                },
                "seed": run.seed,
            },
            inputs=[aligned.key],
        )

    def _dataset(
        self, facts: Made, evolving: Made, pages: Made, aligned: Made, asked: Made
    ) -> Dataset:
        def table(name: str, row: type, about: str, file: str, **where: str) -> Table:
            path = asked.path / file
            splits = {s: FromParquet(path, {**where, "split": s}) for s in SPLITS}
            return Table(name, row, about, splits, release.GROUP)

        probes = "Questions of both modes moved to other times inside the same segment."
        lines = "The histories behind the questions, and where the page names each object."
        every = FromParquet(aligned.path / "timelines.parquet")
        return Dataset(
            tables=(
                *(
                    table(d, rows.TimeQuestion, about, "questions.parquet", difficulty=d)
                    for d, about in _ABOUT.items()
                ),
                table("consistency", rows.TimeProbe, probes, "probes.parquet"),
                Table("timelines", rows.ReleasedAlignedSegment, lines, {"full": every}),
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


def _no_page(pairs: ir.Table) -> ir.Table:
    """A row of `rows.Dropped` a pair."""
    none = ibis.null("string")
    return pairs.mutate(
        step=ibis.literal("histories"),
        reason=ibis.literal("no_sitelink"),
        item=pairs.subject + "/" + pairs.relation,
        period=none,
        score=ibis.null("float64"),
        detail=none,
    )


def _columns(path: Path, *names: str) -> Iterator[tuple[Any, ...]]:
    with pq.ParquetFile(path, pre_buffer=False) as file:
        for batch in file.iter_batches(65_536, columns=list(names)):
            yield from zip(*(batch.column(n).to_pylist() for n in names), strict=True)
