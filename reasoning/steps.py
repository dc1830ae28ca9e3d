"""The steps of `temporal-reasoning`: first candidates, then rows."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from datetime import date
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import ClassVar, NamedTuple

import duckdb
import ibis
import ibis.expr.types as ir
from ibis import union

from factdrift.builders import rows
from factdrift.builders.core import duck
from factdrift.builders.core.schema import typed_rows, writing
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.facts import namesakes
from factdrift.builders.facts.relations import PHRASES, NamedKind, RelationWording
from factdrift.builders.facts.steps import Facts, Timelines
from factdrift.reasoning.balance import Offer, draw_balanced
from factdrift.reasoning.families import FAMILIES
from factdrift.reasoning.families.base import Scope
from factdrift.reasoning.invented import OfficeOrigin, invent_names, kinds_of_items
from factdrift.reasoning.links import link_timelines
from factdrift.reasoning.names import Verbalizer
from factdrift.reasoning.rows import QuestionCandidate, ReasoningQuestion
from factdrift.reasoning.selection import draw_pool
from factdrift.reasoning.states import PAIR, build_knowledge, without_covered_pairs
from factdrift.reasoning.titles import (
    bearers_in_dump,
    kind_of_office,
    names_country,
    office_titles,
)
from factdrift.reasoning.writing import QuestionDraft, Writer, guessable


class DrawnRows(NamedTuple):
    """The drafts of a family that are asked, and what was dropped of it."""

    admitted: list[QuestionDraft]
    dropped: list[rows.Dropped]


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
        phrase_relations: dict[str, list[str]] = {name: [] for name in PHRASES}
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
            segments = without_covered_pairs(_of_known_pairs(segments, entities, self.phrases))
            segments = segments.select([field.name for field in fields(rows.Segment)])
            knowledge = build_knowledge(eng, segments, gaps, self.last, self.seed)
            knowledge = link_timelines(eng, knowledge, entities, self.phrases)
            family_tables = [
                eng.keep(FAMILIES[family].table(knowledge, scope)) for family in self.families
            ]
            all_candidates = union(*family_tables) if len(family_tables) > 1 else family_tables[0]
            drawn_candidates = eng.keep(
                draw_pool(all_candidates, entities, self.seed, self.per_family)
            )
            row_order = ("family", "hops", "turn")
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


def _of_known_pairs(
    segments: ir.Table, entities: ir.Table, phrases: Mapping[str, RelationWording]
) -> ir.Table:
    """Return the segments of pairs whose subject has an English page, or two of whose objects do.

    Few offices have a page of their own; those who held them do. A mere thing that is of no kind is
    not known by what owned or made it.
    """
    of_kinds = [key for key, wording in phrases.items() if wording.subject_is != "thing"]
    with_page = entities.filter(entities.enwiki.notnull()).select(paged="id")
    known_objects = segments.filter(segments.relation.isin(of_kinds)).semi_join(
        with_page, segments.object == with_page.paged
    )
    object_counts = known_objects.group_by(PAIR).agg(known=ibis._.object.nunique())
    known_pairs = (
        segments.semi_join(with_page, segments.subject == with_page.paged)
        .select(*PAIR)
        .union(object_counts.filter(object_counts.known > 1).select(*PAIR), distinct=True)
    )
    return segments.semi_join(known_pairs, PAIR)


class ReasoningRows(Step):
    """Writes the candidates as questions: alone, behind a table of facts, and renamed.

    The files are `questions.parquet`, `with_evidence.parquet` and `renamed.parquet`
    (`ReasoningQuestion`), and `dropped.parquet`. `recent` is the first day on which a change counts
    as recent.
    """

    name: ClassVar[str] = "reasoning-questions"

    candidates: ReasoningCandidates
    recent: date

    def make(self, out: Path, workspace: Workspace) -> None:
        """QuestionDraft every candidate, admit those by which no guess wins, and write them."""
        writer = self._writer(workspace)
        folder = workspace.folder(self.candidates)
        with writing(out / "dropped.parquet", rows.Dropped) as drop_writer:
            drafts: list[QuestionDraft] = []
            all_candidates = typed_rows(folder / "candidates.parquet", QuestionCandidate)
            for _, family_candidates in groupby(all_candidates, lambda row: (row.family, row.hops)):
                drawn = self._drawn(writer, family_candidates)
                drafts += drawn.admitted
                for dropped in drawn.dropped:
                    drop_writer.append(dropped)
            # Ordered by id, so that the files do not depend on the family that found a candidate.
            drafts.sort(key=lambda draft: draft.row.id)
            with (
                writing(out / "questions.parquet", ReasoningQuestion) as question_writer,
                writing(out / "with_evidence.parquet", ReasoningQuestion) as context_writer,
                writing(out / "renamed.parquet", ReasoningQuestion) as twin_writer,
            ):
                for draft in drafts:
                    question_writer.append(writer.question(draft))
                    with_context = writer.in_context(draft)
                    if isinstance(with_context, rows.Dropped):
                        drop_writer.append(with_context)
                        continue
                    context_writer.append(with_context)
                    twin_writer.append(writer.twin(draft))

    def _writer(self, workspace: Workspace) -> Writer:
        folder, candidates_step = workspace.folder(self.candidates), self.candidates
        entities = {
            entity.id: entity for entity in typed_rows(folder / "entities.parquet", rows.Entity)
        }
        segments = list(typed_rows(folder / "terms.parquet", rows.Segment))
        names = Verbalizer(
            entities,
            candidates_step.phrases,
            namesakes.namesake_subjects(folder / namesakes.NAMESAKES),
        )
        item_kinds = kinds_of_items(entities, segments, candidates_step.phrases)
        office_names = {
            item_id: names.name(item_id)
            for item_id, item_kind in item_kinds.items()
            if item_kind == "office"
        }
        mined_entities = workspace.folder(candidates_step.facts.mined) / "entities.parquet"
        with duck.connect(workspace.work("spill"), workspace.memory) as db:
            titles = office_titles(
                office_names, entities, partial(bearers_in_dump, db, mined_entities)
            )
            invented_names = invent_names(
                item_kinds,
                candidates_step.seed,
                partial(_words_in_use, db, mined_entities),
                _office_origins(office_names | titles, entities, item_kinds),
            )
        names = names._replace(titles=titles)
        invented_entities = {
            item_id: replace(entities[item_id], label=name, aliases=())
            for item_id, name in invented_names.items()
        }
        invented = Verbalizer(invented_entities, candidates_step.phrases)
        return Writer(names, segments, self.recent, candidates_step.seed, invented)

    def _drawn(self, writer: Writer, candidates: Iterable[QuestionCandidate]) -> DrawnRows:
        """Return the drafts of one family that are asked, and what is dropped of it.

        A family that is full leaves the rest of its candidates undrawn.
        """
        dropped_rows: list[rows.Dropped] = []

        def offers() -> Iterator[Offer[QuestionDraft]]:
            for candidate in candidates:
                draft = writer.draft(candidate)
                if isinstance(draft, rows.Dropped):
                    dropped_rows.append(draft)
                else:
                    yield writer.offer(draft)

        per_family = self.candidates.per_family
        drawn_rows = draw_balanced(offers(), per_family)
        if len(drawn_rows.admitted) < per_family:
            dropped_rows += map(guessable, drawn_rows.refused)
        return DrawnRows(drawn_rows.admitted, dropped_rows)


def _office_origins(
    office_names: Mapping[str, str],
    entities: Mapping[str, rows.Entity],
    item_kinds: Mapping[str, NamedKind],
) -> dict[str, OfficeOrigin]:
    """Return of what kind offices are, and the country that their name names."""
    country_ids = {
        entity.label: item_id
        for item_id, entity in entities.items()
        if item_kinds[item_id] == "place"
    }
    origins: dict[str, OfficeOrigin] = {}
    for item_id, name in office_names.items():
        country = entities[item_id].country
        is_named = bool(country) and names_country(name, country or "")
        origins[item_id] = OfficeOrigin(
            kind_of_office(entities[item_id].label),
            country_ids.get(country or "") if is_named else None,
        )
    return origins


def _words_in_use(
    db: duckdb.DuckDBPyConnection, entities_path: Path, words: Collection[str]
) -> set[str]:
    """Return those of some words, in small letters, that stand in a name of the dump."""
    query = """
        with names as (
            select label as name from read_parquet($path)
            union all select unnest(aliases) from read_parquet($path)
        ), used as (select unnest(regexp_split_to_array(lower(name), '[^\\w]+')) as word from names)
        select distinct word from used semi join (select unnest($words) as word) using (word)
    """
    found_words = db.execute(query, {"path": str(entities_path), "words": sorted(words)}).fetchall()
    return {word for (word,) in found_words}
