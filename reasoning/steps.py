"""The steps of `temporal-reasoning`: first candidates, then rows."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import date
from pathlib import Path
from typing import ClassVar

from ibis import union

from factdrift.builders import rows
from factdrift.builders.core.schema import typed_rows, writing
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.facts import namesakes
from factdrift.builders.facts.relations import RelationWording
from factdrift.builders.facts.steps import Facts, Timelines
from factdrift.reasoning.families import FAMILIES
from factdrift.reasoning.families.base import Scope
from factdrift.reasoning.names import Verbalizer
from factdrift.reasoning.rows import QuestionCandidate, ReasoningQuestion
from factdrift.reasoning.selection import select
from factdrift.reasoning.states import PAIR, build_knowledge
from factdrift.reasoning.writing import Writer

_SEGMENTS = (*PAIR, "object", "start_first", "start_last", "end_first", "end_last", "statements")


class ReasoningCandidates(Step):
    """Finds the questions that have a certain answer, and draws among them.

    Writes `candidates.parquet` (`QuestionCandidate`), `terms.parquet` (`rows.Segment` of every
    subject and relation in them), `entities.parquet` (their names) and `namesakes.NAMESAKES`.
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
        """Cut timelines into certain stretches, run the families, draw candidates."""
        phrase_relations: dict[str, list[str]] = {name: [] for name in RelationWording.model_fields}
        for relation_id, relation_phrases in self.phrases.items():
            for phrase_name, relation_ids in phrase_relations.items():
                if getattr(relation_phrases, phrase_name):
                    relation_ids.append(relation_id)
        scope = Scope(self.first, self.last, phrase_relations)
        timelines_folder, facts_folder = (
            workspace.folder(self.timelines),
            workspace.folder(self.facts),
        )
        with workspace.engine() as eng:
            segments = eng.read(timelines_folder / "timelines.parquet", rows.Segment)
            gaps = eng.read(timelines_folder / "gaps.parquet", rows.Gap)
            entities = eng.read(facts_folder / "entities.parquet", rows.Entity)
            with_page = entities.filter(entities.enwiki.notnull())
            segments = segments.semi_join(with_page, segments.subject == with_page.id)
            segments = segments.select([field.name for field in fields(rows.Segment)])
            knowledge = build_knowledge(eng, segments, gaps, self.last, self.seed)
            family_tables = [
                eng.keep(FAMILIES[family].table(knowledge, scope)) for family in self.families
            ]
            all_candidates = union(*family_tables) if len(family_tables) > 1 else family_tables[0]
            drawn_candidates = eng.keep(select(all_candidates, self.seed, self.per_family))
            row_order = ("family", "hops", "id")
            eng.write(drawn_candidates, out / "candidates.parquet", QuestionCandidate, row_order)
            used_statements = drawn_candidates.select(
                statement=drawn_candidates.statements.unnest()
            ).distinct()
            statement_segments = segments.mutate(statement=segments.statements.unnest())
            used_pairs = (
                statement_segments.semi_join(used_statements, "statement").select(*PAIR).distinct()
            )
            pair_terms = eng.keep(segments.semi_join(used_pairs, PAIR).select(segments.columns))
            eng.write(pair_terms, out / "terms.parquet", rows.Segment, _SEGMENTS)
            item_ids = union(
                pair_terms.select(id="subject"),
                pair_terms.select(id="object"),
                drawn_candidates.select(id=drawn_candidates.items.unnest()),
                drawn_candidates.select(id=drawn_candidates.others.unnest()),
                drawn_candidates.select(id=drawn_candidates.answers.unnest()),
            ).distinct()
            eng.write(
                entities.semi_join(item_ids, "id"), out / "entities.parquet", rows.Entity, ("id",)
            )
            namesakes.write_namesakes(
                eng,
                out,
                namesakes.read_held(eng, timelines_folder),
                entities,
                namesakes.read_offices(eng, workspace.folder(self.facts.mined)),
                eng.keep(item_ids),
            )


class ReasoningRows(Step):
    """Writes the candidates as questions, alone and behind a table of facts.

    The files are `questions.parquet` and `with_evidence.parquet` (`ReasoningQuestion`), and
    `dropped.parquet`. `recent` is the first day on which a change counts as recent.
    """

    name: ClassVar[str] = "reasoning-questions"

    candidates: ReasoningCandidates
    recent: date

    def make(self, out: Path, workspace: Workspace) -> None:
        """Write every candidate that has a question without ambiguity."""
        folder, candidates_step = workspace.folder(self.candidates), self.candidates
        entities = {
            entity.id: entity for entity in typed_rows(folder / "entities.parquet", rows.Entity)
        }
        segments = typed_rows(folder / "terms.parquet", rows.Segment)
        names = Verbalizer(
            entities,
            candidates_step.phrases,
            namesakes.namesake_subjects(folder / namesakes.NAMESAKES),
        )
        writer = Writer(names, segments, self.recent, candidates_step.seed)
        with (
            writing(out / "questions.parquet", ReasoningQuestion) as question_writer,
            writing(out / "with_evidence.parquet", ReasoningQuestion) as context_writer,
            writing(out / "dropped.parquet", rows.Dropped) as drop_writer,
        ):
            all_candidates = typed_rows(folder / "candidates.parquet", QuestionCandidate)
            # Ordered by id, so that the files do not depend on the family that found a candidate.
            for candidate in sorted(all_candidates, key=lambda row: row.id):
                question = writer.question(candidate)
                if isinstance(question, rows.Dropped):
                    drop_writer.append(question)
                    continue
                question_writer.append(question)
                with_context = writer.in_context(candidate, question)
                (drop_writer if isinstance(with_context, rows.Dropped) else context_writer).append(
                    with_context
                )
