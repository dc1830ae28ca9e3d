"""Facts that prompts show with their answers: of before the window, and of nobody who is asked."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, ClassVar

import ibis
import ibis.expr.types as ir

from factdrift.builders import rows
from factdrift.builders.core.dates import Granularity, Period
from factdrift.builders.core.schema import writing
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.core.tables import has_label, seeded_order
from factdrift.builders.facts.intervals import Certainty, row_interval
from factdrift.builders.facts.relations import ClozeTemplates
from factdrift.builders.facts.timeline import PAIR
from factdrift.builders.rows.frames import EXAMPLE_COUNT
from factdrift.builders.templama.steps import PeriodChanges
from factdrift.builders.text.given_away import overlaps
from factdrift.builders.text.prompts import in_period, on_day
from factdrift.builders.text.render import query

_LOOKED_AT = 40
"""Segments of a relation that are drawn; some fall away."""


class ClozeExamples(Step):
    """Up to `SHOWN` facts of each relation: `examples.parquet` (`rows.PromptFact`).

    They had ended before the first period of the window began; no row asks about their subjects.
    `templates`: property id -> cloze sentences, of which the first is taken.
    """

    name: ClassVar[str] = "examples"

    changes: PeriodChanges
    templates: Mapping[str, ClozeTemplates]
    blank: str
    seed: int

    def make(self, out: Path, workspace: Workspace) -> None:
        """Draw segments by the seed, and keep those with one right answer."""
        mined, lines = (
            workspace.folder(self.changes.facts),
            workspace.folder(self.changes.timelines),
        )
        with workspace.engine() as eng:
            asked = eng.read(
                workspace.folder(self.changes) / "timelines.parquet", rows.ReleasedSegment
            )
            entities = eng.read(mined / "entities.parquet", rows.Entity)
            segments = eng.read(lines / "timelines.parquet", rows.Segment)
            gaps = eng.read(lines / "gaps.parquet", rows.Gap)
            first = self.changes.periods()[0].first
            ended = segments.filter(~segments.end_open, segments.end_last < first)
            ended = ended.anti_join(asked, "subject").anti_join(gaps, PAIR)
            if self.changes.require_pages:
                pages = entities.filter(entities.enwiki.notnull())
                ended = ended.semi_join(pages, ended.subject == pages.id)
            chosen = eng.keep(_drawn(ended, self.seed))
            of_pairs = segments.semi_join(chosen, PAIR)
            found = eng.rows(_named(chosen, entities))
            held = eng.rows(of_pairs)
        with writing(out / "examples.parquet", rows.PromptFact) as kept:
            for example in self._chosen(found, held):
                kept.append(example)

    def _chosen(
        self, some: Iterable[Mapping[str, Any]], held: Iterable[Mapping[str, Any]]
    ) -> Iterator[rows.PromptFact]:
        """The first segments of each relation that had no rival, each answer and subject once."""
        of_pair: defaultdict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
        for one in held:
            of_pair[one["subject"], one["relation"]].append(one)
        shown: defaultdict[str, set[str]] = defaultdict(set)
        order = sorted(some, key=lambda one: (one["relation"], one["chance"], one["object"]))
        for one in order:
            used, subject, answer = shown[one["relation"]], one["subject_label"], one["answer"]
            period = _last_before(one["end_first"], self.changes.granularity)
            right = {
                other["object"]
                for other in of_pair[one["subject"], one["relation"]]
                if row_interval(other).holds_within(period.first, period.last) is not Certainty.NO
            }
            if (
                len(used) >= 2 * EXAMPLE_COUNT
                or right != {one["object"]}
                or {subject, answer} & used
            ):
                continue
            if one["start_last"] > period.first or overlaps(subject, answer):
                continue
            used |= {subject, answer}
            relation = self.templates[one["relation"]]
            template = next(iter(relation.cloze.values()))
            text = query(template, subject, self.blank, relation.articles)
            prompt = (
                on_day(text, period.last) if self.changes.at == "end" else in_period(text, period)
            )
            yield rows.PromptFact(one["relation"], one["subject"], prompt, answer)


def _drawn(segments: ir.Table, seed: int) -> ir.Table:
    """Some segments of each relation by the hash of seed and what they say, in no order."""
    sure = segments.filter(
        segments.start_last.notnull(), segments.end_first.notnull(), ~segments.rival
    )
    sure = sure.mutate(chance=seeded_order(seed, sure.subject, sure.relation))
    by = ibis.window(group_by="relation", order_by=["chance", "object", "start_last"])
    sure = sure.mutate(place=ibis.row_number().over(by))
    return sure.filter(sure.place < _LOOKED_AT)


def _named(some: ir.Table, entities: ir.Table) -> ir.Table:
    subjects = entities.select(subject="id", subject_label="label")
    objects = entities.select(object="id", answer="label")
    met = some.join(subjects, "subject").join(objects, "object")
    return met.filter(has_label(met.subject_label), has_label(met.answer)).select(
        *PAIR, "object", "start_last", "end_first", "chance", "subject_label", "answer"
    )


def _last_before(day: date, granularity: Granularity) -> Period:
    """The last period that had ended on a day."""
    period = Period.of(day, granularity)
    return period if period.last == day else period + -1
