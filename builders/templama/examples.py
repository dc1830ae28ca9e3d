"""Facts that prompts show with their answers: older than the window, of other subjects."""

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

# Few are used of a relation, but a drawn segment may have a rival or a name that gives its answer
# away. How many do depends on the dump; 40 is a guess with much room.
_DRAWN_SEGMENTS = 40
"""The number of segments of a relation that are drawn as candidates."""


class ClozeExamples(Step):
    """Writes up to `EXAMPLE_COUNT` facts of each relation: `examples.parquet` (`rows.PromptFact`).

    The facts ended before the first period of the window began, and no row asks about their
    subjects, which share their names with no other subject of the relation. `templates` maps a
    property id to its cloze sentences; the first one is used.
    """

    name: ClassVar[str] = "examples"

    changes: PeriodChanges
    templates: Mapping[str, ClozeTemplates]
    blank: str
    seed: int

    def make(self, out: Path, workspace: Workspace) -> None:
        """Draw segments by the seed and keep those with exactly one right answer."""
        facts_folder, timelines_folder = (
            workspace.folder(self.changes.facts),
            workspace.folder(self.changes.timelines),
        )
        with workspace.engine() as eng:
            asked_about = eng.read(
                workspace.folder(self.changes) / "timelines.parquet", rows.ReleasedSegment
            )
            entities = eng.read(facts_folder / "entities.parquet", rows.Entity)
            segments = eng.read(timelines_folder / "timelines.parquet", rows.Segment)
            gaps = eng.read(timelines_folder / "gaps.parquet", rows.Gap)
            first_day = self.changes.periods()[0].first
            ended_segments = segments.filter(~segments.end_open, segments.end_last < first_day)
            ended_segments = ended_segments.anti_join(asked_about, "subject").anti_join(gaps, PAIR)
            if self.changes.require_pages:
                with_pages = entities.filter(entities.enwiki.notnull())
                ended_segments = ended_segments.semi_join(
                    with_pages, ended_segments.subject == with_pages.id
                )
            ended_segments = _without_namesakes(ended_segments, segments, gaps, entities)
            drawn_segments = eng.keep(_drawn(ended_segments, self.seed))
            same_pairs = segments.semi_join(drawn_segments, PAIR)
            named_segments = eng.rows(_named(drawn_segments, entities))
            pair_segments = eng.rows(same_pairs)
        with writing(out / "examples.parquet", rows.PromptFact) as example_writer:
            for example in self._prompt_facts(named_segments, pair_segments):
                example_writer.append(example)

    def _prompt_facts(
        self,
        drawn_segments: Iterable[Mapping[str, Any]],
        pair_segments: Iterable[Mapping[str, Any]],
    ) -> Iterator[rows.PromptFact]:
        """Yield the first segments of each relation that had no rival, each name once.

        `pair_segments` are all segments of the subjects and relations of `drawn_segments`.
        """
        by_pair: defaultdict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
        for segment in pair_segments:
            by_pair[segment["subject"], segment["relation"]].append(segment)
        used_names: defaultdict[str, set[str]] = defaultdict(set)
        for segment in sorted(drawn_segments, key=_drawn_order):
            relation_id, answer = segment["relation"], segment["answer"]
            names = {segment["subject_label"], answer}
            used = used_names[relation_id]
            # Each example uses two names, that of its subject and that of its answer.
            if len(used) >= 2 * EXAMPLE_COUNT or names & used:
                continue
            period = _last_before(segment["end_first"], self.changes.granularity)
            pair_history = by_pair[segment["subject"], relation_id]
            if segment["start_last"] > period.first or _possible_objects(pair_history, period) != {
                segment["object"]
            }:
                continue
            if overlaps(segment["subject_label"], answer):
                continue
            used |= names
            prompt = self._prompt(relation_id, segment["subject_label"], period)
            yield rows.PromptFact(relation_id, segment["subject"], prompt, answer)

    def _prompt(self, relation_id: str, subject_label: str, period: Period) -> str:
        """Return the first wording of a relation with the time that rows of this release have."""
        relation = self.templates[relation_id]
        cloze_text = next(iter(relation.cloze.values()))
        blanked = query(cloze_text, subject_label, self.blank, relation.articles)
        if self.changes.at == "end":
            return on_day(blanked, period.last)
        return in_period(blanked, period)


def _drawn_order(segment: Mapping[str, Any]) -> tuple[Any, ...]:
    return segment["relation"], segment["chance"], segment["object"]


def _possible_objects(segments: Iterable[Mapping[str, Any]], period: Period) -> set[str]:
    """Return the objects that may hold on some day of a period."""
    objects: set[str] = set()
    for segment in segments:
        held = row_interval(segment).holds_within(period.first, period.last)
        if held is not Certainty.NO:
            objects.add(segment["object"])
    return objects


def _without_namesakes(
    ended_segments: ir.Table, segments: ir.Table, gaps: ir.Table, entities: ir.Table
) -> ir.Table:
    """Return the segments whose subject has its name alone, among the subjects of the relation."""
    pairs = segments.select(*PAIR).union(gaps.select(*PAIR), distinct=True)
    pairs = pairs.join(entities.select(subject="id", label="label"), "subject")
    pairs = pairs.mutate(form=pairs.label.lower())
    bearers = pairs.group_by(["relation", "form"]).agg(count=pairs.count())
    shared = pairs.join(bearers.filter(bearers["count"] > 1), ["relation", "form"])
    return ended_segments.anti_join(shared, PAIR)


def _drawn(segments: ir.Table, seed: int) -> ir.Table:
    """Return some segments of each relation, drawn by a hash of seed and subject, unordered."""
    certain = segments.filter(
        segments.start_last.notnull(), segments.end_first.notnull(), ~segments.rival
    )
    certain = certain.mutate(chance=seeded_order(seed, certain.subject, certain.relation))
    drawn_order = ibis.window(group_by="relation", order_by=["chance", "object", "start_last"])
    certain = certain.mutate(place=ibis.row_number().over(drawn_order))
    return certain.filter(certain.place < _DRAWN_SEGMENTS)


def _named(drawn_segments: ir.Table, entities: ir.Table) -> ir.Table:
    subjects = entities.select(subject="id", subject_label="label")
    objects = entities.select(object="id", answer="label")
    named_segments = drawn_segments.join(subjects, "subject").join(objects, "object")
    return named_segments.filter(
        has_label(named_segments.subject_label), has_label(named_segments.answer)
    ).select(*PAIR, "object", "start_last", "end_first", "chance", "subject_label", "answer")


def _last_before(day: date, granularity: Granularity) -> Period:
    """Return the last period that had ended by the end of a day."""
    period = Period.of(day, granularity)
    return period if period.last == day else period + -1
