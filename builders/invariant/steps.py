"""The steps of `invariant-lama`: the facts that do not change, and their cloze rows."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import ibis
import ibis.expr.types as ir
import pyarrow as pa
import pyarrow.parquet as pq

from factdrift.builders import rows
from factdrift.builders.core.engine import Engine
from factdrift.builders.core.hashing import row_id
from factdrift.builders.core.run import Source
from factdrift.builders.core.schema import arrow_schema, reading, writing
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.facts import namesakes, snapshot_diff, steps
from factdrift.builders.facts.relations import ClozeTemplates
from factdrift.builders.facts.steps import Facts, LearnedTimes
from factdrift.builders.facts.time_rules import Rules, TimeRule
from factdrift.builders.invariant import invariant, trex
from factdrift.builders.text.prompts import merge_targets
from factdrift.builders.text.render import phrase, query
from factdrift.builders.text.tokens import TokenCounter
from factdrift.builders.text.views import ViewSettings


class TrexFacts(Step):
    """The facts of LAMA's T-REx files: `trex.parquet` (`rows.TrexFact`) and `dropped.parquet`."""

    name: ClassVar[str] = "trex"

    files: Source
    relations: tuple[str, ...]

    def make(self, out: Path, workspace: Workspace) -> None:
        """Read the lines of these relations."""
        trex.read_trex(self.files.files, self.relations, out)


class InvariantFacts(Step):
    """The facts that do not change: `facts.parquet` (`rows.ToldInvariant`), `dropped.parquet`.

    `source` is T-REx, or the tables of one or two dumps, the older first. `excluded_relations` are
    left out because they are not functional. `alike` is the result of
    `namesakes.alike_relations`. The other fields are parameters of the dataset. `shown.parquet`
    holds the facts that prompts show as examples.
    """

    name: ClassVar[str] = "invariant"

    source: TrexFacts | tuple[Facts, ...]
    relations: tuple[str, ...]
    rules: Mapping[str, TimeRule]
    learned: LearnedTimes | None = None
    common_nouns: tuple[str, ...]
    excluded_relations: tuple[str, ...]
    require_pages: bool
    alike: Mapping[str, str]
    per_relation: int | None
    seed: int

    def make(self, out: Path, workspace: Workspace) -> None:
        """Give every pair that is left out its reason, and write the others as facts."""
        with workspace.engine() as engine:
            if isinstance(self.source, TrexFacts):
                lines = engine.read(workspace.folder(self.source) / "trex.parquet", rows.TrexFact)
                pair_table, drops = invariant.trex_pairs(lines)
                held, entities = invariant.trex_tables(engine.keep(lines))
                offices = _no_offices(entities)
            else:
                folders = [workspace.folder(dump_step) for dump_step in self.source]
                rules = steps.timed_rules(workspace, self.rules, self.learned)
                pair_table = _of_dumps(engine, folders, rules)
                drops = steps.read_dropped(engine, *folders)
                held, entities = _held(engine, folders[-1])
                mined_folder = workspace.folder(self.source[-1].mined)
                offices = namesakes.read_offices(engine, mined_folder)
            judged_pairs = invariant.with_reasons(
                engine.keep(pair_table),
                self.common_nouns,
                self.excluded_relations,
                self.require_pages,
            )
            judged_pairs = engine.keep(judged_pairs)
            told = namesakes.tell_apart(
                engine,
                out,
                _asked(judged_pairs),
                held.filter(~held.relation.isin(sorted(self.excluded_relations))),
                engine.keep(entities),
                offices,
                self.alike,
            )
            judged_pairs = invariant.drop_ambiguous(judged_pairs, told.ambiguous)
            judged_pairs = engine.keep(namesakes.with_subject_names(judged_pairs, told))
            if self.per_relation is not None:
                judged_pairs = invariant.cap_relations(judged_pairs, self.per_relation, self.seed)
            judged_pairs = engine.keep(
                invariant.hold_out_examples(engine.keep(judged_pairs), self.seed)
            )
            examples = judged_pairs.filter(judged_pairs.example)
            engine.write(
                examples, out / "shown.parquet", rows.ToldInvariant, ("relation", "chance")
            )
            kept_pairs = judged_pairs.filter(judged_pairs.reason.isnull())
            order = ("relation", "subject")
            engine.write(kept_pairs, out / "facts.parquet", rows.ToldInvariant, order)
            drops = invariant.dropped_pairs(judged_pairs).select(drops.columns).union(drops)
            engine.write(drops, out / "dropped.parquet", rows.Dropped, steps.DROPPED_ORDER)


class InvariantClozeRows(Step):
    """The facts as cloze rows, one for each template: `cloze.parquet` (`rows.InvariantCloze`).

    `templates` maps property ids to the relation's label and cloze sentences.
    """

    name: ClassVar[str] = "invariant-cloze"

    facts: InvariantFacts
    templates: Mapping[str, ClozeTemplates]
    blank: str
    views: ViewSettings

    def make(self, out: Path, workspace: Workspace) -> None:
        """Render every fact with every template of its relation, batch by batch."""
        folder, counter = workspace.folder(self.facts), self.views.counter()
        schema = arrow_schema(rows.InvariantCloze)
        with (
            reading(folder / "facts.parquet") as file,
            pq.ParquetWriter(out / "cloze.parquet", schema) as writer,
        ):
            for batch in file.iter_batches(4096):
                facts = batch.to_pylist()
                if counter:
                    counter.counts(fact["object_label"] for fact in facts)
                cloze_rows = [row for fact in facts for row in self._variants(fact, counter)]
                writer.write_batch(pa.RecordBatch.from_pylist(cloze_rows, schema=schema))
        with (
            reading(folder / "shown.parquet") as file,
            writing(out / "examples.parquet", rows.PromptFact) as prompt_facts,
        ):
            for fact in file.read().to_pylist():
                row = next(self._variants(fact, counter))
                columns = (row["relation"], row["subject"], row["prompt"], row["answer"]["label"])
                prompt_facts.append(rows.PromptFact(*columns))

    def _variants(
        self, fact: Mapping[str, Any], counter: TokenCounter | None
    ) -> Iterator[dict[str, Any]]:
        relation = self.templates[fact["relation"]]
        label, aliases = fact["object_label"], fact["aliases"]
        common = {
            column: fact[column] for column in ("subject", "subject_label", "relation", "sitelinks")
        }
        common |= {
            "relation_label": relation.label,
            "question": relation.timeless
            and phrase(relation.timeless, fact["subject_name"], articles=relation.articles),
            "answer": {"id": fact["object"], "label": label, "aliases": aliases},
            "targets": merge_targets([label], aliases),
            "source": "trex" if isinstance(self.facts.source, TrexFacts) else "wikidata",
            **self.views.single_answer_columns(counter, label),
        }
        for template, sentence in relation.cloze.items():
            blanked = query(sentence, fact["subject_name"], self.blank, relation.articles)
            yield common | {
                "id": row_id(fact["subject"], fact["relation"], template),
                "prompt": blanked,
                "template": template,
                "query": blanked,
            }


def _asked(pair_table: ir.Table) -> ir.Table:
    """The pairs that may be asked about, as `namesakes.tell_apart` takes them, on no day."""
    asked = pair_table.filter(pair_table.reason.isnull())
    no_day = ibis.null("date")
    return asked.select(
        "subject",
        "relation",
        key=asked.subject + "/" + asked.relation,
        first=no_day,
        last=no_day,
        answers=ibis.array([asked.object]),
    )


def _held(engine: Engine, facts_folder: Path) -> tuple[ir.Table, ir.Table]:
    """What may hold by a dump, and its entities."""
    facts = engine.read(facts_folder / "facts.parquet", rows.Fact)
    gaps = engine.read(facts_folder / "gaps.parquet", rows.Gap)
    entities = engine.read(facts_folder / "entities.parquet", rows.Entity)
    return namesakes.held_objects(facts, gaps), entities


def _no_offices(entities: ir.Table) -> ir.Table:
    """No row of `namesakes.office_names`: T-REx does not say which items are offices."""
    return entities.filter(ibis.literal(False)).select(
        "id", "label", "country", office_name="label", twin="id"
    )


def _of_dumps(engine: Engine, folders: Sequence[Path], rules: Rules) -> ir.Table:
    """The pairs of the newest of one or two dumps, oldest first, with names and reasons."""
    dumps = [steps.read_dump(engine, folder, rules) for folder in folders]
    gaps = [dump.gaps for dump in dumps]
    in_doubt = gaps[0].union(*gaps[1:]) if gaps[1:] else gaps[0]
    older = dumps[0].facts if dumps[1:] else None
    pairs = invariant.unchanging_pairs(dumps[-1].facts, in_doubt, older)
    if len(dumps) == 2:
        changes = engine.keep(snapshot_diff.changes(engine, dumps[0], dumps[1], rules))
        pairs = invariant.compare_with_older(engine.keep(pairs), changes)
    return invariant.with_labels(
        engine.keep(pairs), engine.keep(steps.newest_entities(engine, folders))
    )
