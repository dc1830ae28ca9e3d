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
            asked_segments = eng.read(
                workspace.folder(self.changes) / "timelines.parquet", rows.ReleasedSegment
            )
            entities = eng.read(mined / "entities.parquet", rows.Entity)
            segments = eng.read(lines / "timelines.parquet", rows.Segment)
            gaps = eng.read(lines / "gaps.parquet", rows.Gap)
            first = self.changes.periods()[0].first
            ended = segments.filter(~segments.end_open, segments.end_last < first)
            ended = ended.anti_join(asked_segments, "subject").anti_join(gaps, PAIR)
            if self.changes.require_pages:
                pages = entities.filter(entities.enwiki.notnull())
                ended = ended.semi_join(pages, ended.subject == pages.id)
            chosen = eng.keep(_drawn(ended, self.seed))
            of_pairs = segments.semi_join(chosen, PAIR)
            candidates = eng.rows(_named(chosen, entities))
            held = eng.rows(of_pairs)
        with writing(out / "examples.parquet", rows.PromptFact) as examples:
            for example in self._chosen(candidates, held):
                examples.append(example)

    def _chosen(
        self, candidates: Iterable[Mapping[str, Any]], held: Iterable[Mapping[str, Any]]
    ) -> Iterator[rows.PromptFact]:
        """The first segments of each relation that had no rival, each answer and subject once."""
        of_pair: defaultdict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
        for segment in held:
            of_pair[segment["subject"], segment["relation"]].append(segment)
        used_names: defaultdict[str, set[str]] = defaultdict(set)
        order = sorted(
            candidates,
            key=lambda segment: (segment["relation"], segment["chance"], segment["object"]),
        )
        for segment in order:
            used, subject, answer = (
                used_names[segment["relation"]],
                segment["subject_label"],
                segment["answer"],
            )
            period = _last_before(segment["end_first"], self.changes.granularity)
            right = {
                neighbour["object"]
                for neighbour in of_pair[segment["subject"], segment["relation"]]
                if row_interval(neighbour).holds_within(period.first, period.last)
                is not Certainty.NO
            }
            if (
                len(used) >= 2 * EXAMPLE_COUNT
                or right != {segment["object"]}
                or {subject, answer} & used
            ):
                continue
            if segment["start_last"] > period.first or overlaps(subject, answer):
                continue
            used |= {subject, answer}
            relation = self.templates[segment["relation"]]
            template = next(iter(relation.cloze.values()))
            text = query(template, subject, self.blank, relation.articles)
            prompt = (
                on_day(text, period.last) if self.changes.at == "end" else in_period(text, period)
            )
            yield rows.PromptFact(segment["relation"], segment["subject"], prompt, answer)


def _drawn(segments: ir.Table, seed: int) -> ir.Table:
    """Some segments of each relation by the hash of seed and what they say, in no order."""
    sure = segments.filter(
        segments.start_last.notnull(), segments.end_first.notnull(), ~segments.rival
    )
    sure = sure.mutate(chance=seeded_order(seed, sure.subject, sure.relation))
    by = ibis.window(group_by="relation", order_by=["chance", "object", "start_last"])
    sure = sure.mutate(place=ibis.row_number().over(by))
    return sure.filter(sure.place < _LOOKED_AT)


def _named(segments: ir.Table, entities: ir.Table) -> ir.Table:
    subjects = entities.select(subject="id", subject_label="label")
    objects = entities.select(object="id", answer="label")
    labelled = segments.join(subjects, "subject").join(objects, "object")
    return labelled.filter(has_label(labelled.subject_label), has_label(labelled.answer)).select(
        *PAIR, "object", "start_last", "end_first", "chance", "subject_label", "answer"
    )


def _last_before(day: date, granularity: Granularity) -> Period:
    """The last period that had ended on a day."""
    period = Period.of(day, granularity)
    return period if period.last == day else period + -1
