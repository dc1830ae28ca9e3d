"""The steps of `temporal-reasoning`: candidates, then rows."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import date
from pathlib import Path
from typing import ClassVar

from ibis import union

from factdrift.builders import rows
from factdrift.builders.core.schema import typed_rows, writing
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.facts.relations import RelationWording
from factdrift.builders.facts.steps import Facts, Timelines
from factdrift.reasoning.families import FAMILIES
from factdrift.reasoning.families.base import Scope
from factdrift.reasoning.names import Verbalizer
from factdrift.reasoning.rows import QuestionCandidate, ReasoningQuestion
from factdrift.reasoning.selection import select
from factdrift.reasoning.states import PAIR, knowledge
from factdrift.reasoning.writing import Writer

_SEGMENTS = (*PAIR, "object", "start_first", "start_last", "end_first", "end_last", "statements")


class ReasoningCandidates(Step):
    """What can be asked with certainty, and of that what is drawn.

    `candidates.parquet` (`QuestionCandidate`), `terms.parquet` (`rows.Segment`
    of every pair in them), `entities.parquet` (their names).
    """

    name: ClassVar[str] = "reasoning-candidates"

    facts: Facts
    timelines: Timelines
    phrases: Mapping[str, RelationWording]
    families: tuple[str, ...]
    first: date
    last: date
    per_family: int
    seed: int

    def make(self, out: Path, workspace: Workspace) -> None:
        """Cut timelines into stretches, run the families, draw."""
        kinds = list(RelationWording.model_fields)
        having = {
            kind: [
                relation_id
                for relation_id, relation_wording in self.phrases.items()
                if getattr(relation_wording, kind)
            ]
            for kind in kinds
        }
        scope = Scope(self.first, self.last, having)
        lines, mined = workspace.folder(self.timelines), workspace.folder(self.facts)
        with workspace.engine() as eng:
            segments = eng.read(lines / "timelines.parquet", rows.Segment)
            gaps = eng.read(lines / "gaps.parquet", rows.Gap)
            entities = eng.read(mined / "entities.parquet", rows.Entity)
            paged = entities.filter(entities.enwiki.notnull())
            segments = segments.semi_join(paged, segments.subject == paged.id)
            segments = segments.select([field.name for field in fields(rows.Segment)])
            knowledge_tables = knowledge(eng, segments, gaps, self.last, self.seed)
            tables = [
                eng.keep(FAMILIES[family].table(knowledge_tables, scope))
                for family in self.families
            ]
            candidates = union(*tables) if len(tables) > 1 else tables[0]
            chosen = eng.keep(select(candidates, self.seed, self.per_family))
            order = ("family", "hops", "id")
            eng.write(chosen, out / "candidates.parquet", QuestionCandidate, order)
            stated = chosen.select(statement=chosen.statements.unnest()).distinct()
            each = segments.mutate(statement=segments.statements.unnest())
            pairs = each.semi_join(stated, "statement").select(*PAIR).distinct()
            terms = eng.keep(segments.semi_join(pairs, PAIR).select(segments.columns))
            eng.write(terms, out / "terms.parquet", rows.Segment, _SEGMENTS)
            named_items = union(
                terms.select(id="subject"),
                terms.select(id="object"),
                chosen.select(id=chosen.items.unnest()),
                chosen.select(id=chosen.others.unnest()),
                chosen.select(id=chosen.answers.unnest()),
            ).distinct()
            eng.write(
                entities.semi_join(named_items, "id"),
                out / "entities.parquet",
                rows.Entity,
                ("id",),
            )


class ReasoningRows(Step):
    """The candidates as questions, alone and behind a table of facts.

    `questions.parquet`, `with_evidence.parquet` (`ReasoningQuestion`),
    `dropped.parquet`. `recent`: the day from which a change counts.
    """

    name: ClassVar[str] = "reasoning-questions"

    candidates: ReasoningCandidates
    recent: date

    def make(self, out: Path, workspace: Workspace) -> None:
        """Write every candidate that reads well."""
        folder, candidates = workspace.folder(self.candidates), self.candidates
        entities = {one.id: one for one in typed_rows(folder / "entities.parquet", rows.Entity)}
        segments = typed_rows(folder / "terms.parquet", rows.Segment)
        names = Verbalizer(entities, candidates.phrases)
        writer = Writer(names, segments, self.recent, candidates.seed)
        with (
            writing(out / "questions.parquet", ReasoningQuestion) as questions,
            writing(out / "with_evidence.parquet", ReasoningQuestion) as contexts,
            writing(out / "dropped.parquet", rows.Dropped) as dropped,
        ):
            drawn_candidates = typed_rows(folder / "candidates.parquet", QuestionCandidate)
            for row in sorted(drawn_candidates, key=lambda one: one.id):
                question = writer.question(row)
                if isinstance(question, rows.Dropped):
                    dropped.append(question)
                    continue
                questions.append(question)
                behind = writer.in_context(row, question)
                (dropped if isinstance(behind, rows.Dropped) else contexts).append(behind)
