"""The `dynamic-templama` dataset: cloze test sets a period, by what happened to the answer."""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, ClassVar, Literal, get_args

import ibis
import ibis.expr.types as ir
from pydantic import Field, model_validator

from builders import rows
from builders.citations import DHINGRA_2022, MARGATINA_2023
from builders.cloze import articles, figures, render, rendering, templates, tokens
from builders.cloze.templates import Relation, select
from builders.config import Strict
from builders.dataset import Dataset, FromParquet, Table
from builders.dates import Granularity, Period
from builders.engine import Engine
from builders.errors import UserError
from builders.run import DatasetBuilder, Run
from builders.store import Made, code_digest
from builders.wikidata import names, period_diff, present, steps, timeline
from builders.wikidata.figures import mining

_ABOUT = {
    "unchanged": "The answer is the same as in the period before.",
    "updated": "The answer is another than in the period before.",
    "new": "There is an answer, and there was none in the period before.",
    "deleted": "There is no answer any more; the gold answers are those of the period before.",
}


class Window(Strict):
    """The periods that are built: from `first` to `last`, or the `latest` N before the snapshot.

    The first of a window has nothing before it to compare with and so no split; of `latest`
    ones each has a split, for the period before them is built too.
    """

    granularity: Granularity = "quarter"
    first: str | None = None
    last: str | None = None
    latest: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _one_window(self) -> "Window":
        try:
            ends = [Period.parse(text) for text in (self.first, self.last) if text is not None]
        except UserError as error:
            raise ValueError(str(error)) from None
        if self.latest and self.first is not None:
            raise ValueError("give latest or first, not both")
        if wrong := [str(p) for p in ends if p.granularity != self.granularity]:
            raise ValueError(f"{wrong[0]} is not a {self.granularity}, which granularity says")
        if len(ends) > 1 and ends[0].index > ends[1].index:
            raise ValueError(f"the window ends before it begins: {self.first} to {self.last}")
        return self


class DynamicTempLAMA(DatasetBuilder):
    """Parameters of the dataset; the defaults are the paper's (Margatina et al. 2023, section 3).

    `min_objects`: a subject has at least so many different objects over its history;
    `subjects_per_relation`: the most popular ones, all with null; `require_pages`: subject and
    answers have an English Wikipedia page; `include_possible`: objects that may have held count
    as answers; `name_overlap`: whether to drop pairs whose subject's name shares a word with an
    answer's; `tokenizer`: a path (relative to the recipe) or a name on the Hub, with
    `tokenizer_revision` a commit there; `max_tokens`: the limit of the view `max_tokens_N`.
    """

    tasks: ClassVar[tuple[str, ...]] = ("fill-mask", "question-answering")
    citations: ClassVar[tuple[str, ...]] = (MARGATINA_2023, DHINGRA_2022)

    builder: Literal["dynamic-templama"]
    relations: Annotated[tuple[str, ...], Field(min_length=1)]
    window: Window
    min_objects: int = Field(default=2, ge=1)
    subjects_per_relation: int | None = Field(default=1000, ge=1)
    require_pages: bool = True
    include_possible: bool = False
    name_overlap: Literal["keep", "drop"] = "keep"
    blank: str = render.BLANK
    tokenizer: str | None = None
    tokenizer_revision: str | None = None
    max_tokens: int = Field(default=5, ge=1)

    def build(self, run: Run) -> Dataset:
        """Mine, compare the periods, render; a config a split class, and `timelines`."""
        relations = select(steps.all_relations(run), self.relations, run.templates)
        facts = steps.mined(run, "dump", relations)
        window = self._periods(run.inputs["dump"].snapshot)
        timelines = steps.segments(run, facts, relations)
        deltas = self._deltas(run, facts, timelines, relations, window)
        cloze = self._cloze(run, deltas, relations)
        path = cloze.path / "cloze.parquet"
        tables = [
            Table(
                split,
                rows.Cloze,
                _ABOUT[split],
                {str(p): FromParquet(path, {"split": split, "period": str(p)}) for p in window[1:]},
            )
            for split in get_args(rows.Split)
        ]
        about = "Timelines of the subjects and relations that are asked about."
        segments = FromParquet(deltas.path / "timelines.parquet")
        tables.append(Table("timelines", rows.ReleasedSegment, about, {"full": segments}))
        return Dataset(
            tables=tuple(tables),
            dropped=(FromParquet(deltas.path / "dropped.parquet"),),
            figures=(*figures.tables(path), mining({"dump": facts})),
            plots=figures.plots(path, [str(p) for p in window[1:]]),
        )

    def _periods(self, snapshot: date) -> list[Period]:
        w = self.window
        first, last = (Period.parse(p) if p else None for p in (w.first, w.last))
        count = w.latest + 1 if w.latest else None
        return period_diff.buildable(first, last, snapshot, count, w.granularity)

    def _deltas(
        self,
        run: Run,
        facts: Made,
        timelines: Made,
        relations: Mapping[str, Relation],
        window: Sequence[Period],
    ) -> Made:
        exclusive = [r for r, template in relations.items() if template.exclusive]

        def make(out: Path) -> None:
            with steps.open_engine(run) as eng:
                stated = eng.read(facts.path / "facts.parquet", rows.Fact)
                gaps = eng.read(facts.path / "gaps.parquet", rows.Gap)
                gaps = gaps.filter(gaps.relation.isin(list(relations)))
                entities = eng.read(facts.path / "entities.parquet", rows.Entity)
                segments = eng.read(timelines.path / "timelines.parquet", rows.Segment)
                met = period_diff.compare(
                    segments,
                    window,
                    timeline.closed(gaps, stated, exclusive),
                    self.include_possible,
                )
                met = eng.keep(self._chosen(eng.keep(met), segments, entities))
                kept = eng.keep(period_diff.deltas(met))
                named = _named(kept, entities)
                eng.write(named, out / "deltas.parquet", rows.NamedDelta, _ORDER)
                left_out = period_diff.dropped(met, self.window.granularity)
                drops = steps.dropped(eng, facts, relations)
                drops = left_out.select(drops.columns).union(drops)
                eng.write(drops, out / "dropped.parquet", rows.Dropped, steps.DROPPED_ORDER)
                _write_timelines(eng, segments, kept, entities, relations, out)

        return run.store.step(
            "deltas",
            make,
            version=code_digest(period_diff, timeline, names, present, steps, rows),
            parameters={
                "window": [str(window[0]), str(window[-1])],
                "relations": {r: t.label for r, t in relations.items()},
                "exclusive": exclusive,
                "min_objects": self.min_objects,
                "subjects_per_relation": self.subjects_per_relation,
                "require_pages": self.require_pages,
                "include_possible": self.include_possible,
                "name_overlap": self.name_overlap,
            },
            inputs=[facts.key, timelines.key],
        )

    def _chosen(self, met: ir.Table, segments: ir.Table, entities: ir.Table) -> ir.Table:
        """The comparisons with a reason for each that this dataset leaves out."""
        met = period_diff.at_least(met, segments, self.min_objects)
        if self.require_pages:
            met = period_diff.with_pages(met, entities)
        if self.name_overlap == "drop":
            met = period_diff.drop(met, names.alike(segments, entities), "name_overlap")
        if self.subjects_per_relation is not None:
            met = period_diff.most_popular(met, entities, self.subjects_per_relation)
        return met

    def _cloze(self, run: Run, deltas: Made, relations: Mapping[str, Relation]) -> Made:
        source = self._tokenizer(run)

        def make(out: Path) -> None:
            counter = tokens.tokenizer(source, self.tokenizer_revision) if source else None
            renderer = rendering.Renderer(
                relations, self.window.granularity, self.blank, counter, self.max_tokens
            )
            renderer.file(deltas.path / "deltas.parquet", out / "cloze.parquet")

        return run.store.step(
            "cloze",
            make,
            version=code_digest(rendering, render, articles, templates, tokens, rows),
            parameters={
                "templates": {r: [t.label, *t.cloze] for r, t in relations.items()},
                "blank": self.blank,
                "tokenizer": [source and tokens.identity(source), self.tokenizer_revision],
                "max_tokens": self.max_tokens,
            },
            inputs=[deltas.key],
        )

    def _tokenizer(self, run: Run) -> str | None:
        """The tokenizer's path where the recipe names one that is there, else its name."""
        if self.tokenizer is None:
            return None
        path = run.recipe.parent / self.tokenizer
        return str(path) if path.exists() else self.tokenizer


_ORDER = ("split", "period", "relation", "subject")


def _named(deltas: ir.Table, entities: ir.Table) -> ir.Table:
    """Deltas with the names of their subject and of every object in them (`rows.NamedDelta`)."""
    pair = ["subject", "relation"]
    items = deltas.select(*pair, item=deltas.answers.concat(deltas.previous_answers).unnest())
    items = items.distinct()
    met = items.join(entities, items.item == entities.id)
    answer = ibis.struct({"id": met.id, "label": met.label, "aliases": met.aliases})
    names = met.group_by(pair).agg(names=answer.collect())
    subjects = entities.select(
        "sitelinks", "statements", subject="id", subject_label="label", subject_facts="facts"
    )
    return deltas.join(names, pair).join(subjects, "subject")


def _write_timelines(
    eng: Engine,
    segments: ir.Table,
    deltas: ir.Table,
    entities: ir.Table,
    relations: Mapping[str, Relation],
    out: Path,
) -> None:
    """The timelines of every pair that has a delta."""
    pairs = deltas.select("subject", "relation").distinct()
    asked = segments.semi_join(pairs, ["subject", "relation"])
    table = present.labelled(steps.released(asked), entities, relations)
    eng.write(table, out / "timelines.parquet", rows.ReleasedSegment, timeline.ORDER)
