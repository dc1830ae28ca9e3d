"""The step that finds edits and what may be asked about each, as tables."""

from collections.abc import Collection, Mapping
from datetime import date
from pathlib import Path
from typing import ClassVar

import ibis
import ibis.expr.types as ir
from ibis import _

from factdrift.builders import rows
from factdrift.builders.core.dates import Period
from factdrift.builders.core.engine import Engine
from factdrift.builders.core.schema import arrow_schema
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.core.tables import period_last_day, period_text, seeded_order
from factdrift.builders.facts import namesakes, release_columns, steps, timeline
from factdrift.builders.facts.intervals import FIRST_DAY, LAST_DAY
from factdrift.builders.facts.relations import PHRASES, RelationWording
from factdrift.builders.facts.steps import Facts, Timelines
from factdrift.builders.facts.timeline import array_difference, sorted_set
from factdrift.builders.invariant.invariant import unchanging_pairs
from factdrift.builders.templama.told import ToldApart
from factdrift.reasoning.edits.rows import EditChain, EditNeighbour, ReversibleEdit
from factdrift.reasoning.families.base import DAY, Scope, array
from factdrift.reasoning.families.holders import last_hop, longer_paths
from factdrift.reasoning.states import (
    EARLY,
    PAIR,
    Knowledge,
    build_knowledge,
    without_covered_pairs,
)

EDIT_KEY = (*PAIR, "as_of")
"""The columns that name an edit in the tables of this step."""
_DELTA_ORDER = ("period", "relation", "subject")
_CHAINS = 12
"""Chains of each number of hops that are written for an edit; rows take those that read well."""
_CHAIN_TYPES = {field.name: ibis.dtype(field.type) for field in arrow_schema(EditChain)}
_CO_HOLDERS = 2
"""Objects beyond which those of a relation with one at a time do not change together."""
_NEIGHBOURS = 8
"""Untouched facts of each kind that are written for an edit."""
_NEAR = 50
"""Subjects on either side of an edit's own among which those untouched are looked for: in a window
of years most may have changed since."""
_HUMAN = "Q5"
"""The class of persons."""
_SHARED_OBJECTS = 0.05
"""The share of a relation's objects that may have two subjects where it counts as one-to-one:
wrong dates make some look so, and each edit's own object is looked at besides."""


class EditCandidates(Step):
    """Writes what an edit and its questions are made of.

    - `edits.parquet` (`rows.ToldDelta`): comparisons of neighbouring periods with a new answer.
    - `chains.parquet` (`EditChain`): one or two hops beyond the only new object, on the last day of
      the period, and beyond the only old one on the last day of the period before.
    - `neighbours.parquet` (`EditNeighbour`): facts that hold from before the edit to the end of the
      window.
    - `reversible.parquet` (`ReversibleEdit`): edits whose object has no other subject on that day.
    - `timelines.parquet` (`rows.ReleasedSegment`): those behind them, `entities.parquet`, and
      `namesakes.NAMESAKES`.
    - `dropped.parquet`: comparisons after which nothing holds.

    `facts` and `timelines` are of all relations that questions follow, `phrases` those of the dated
    ones, and `lasting` the relations whose only undated object counts as one at all times.
    """

    name: ClassVar[str] = "edit-candidates"

    told: ToldApart
    edited: tuple[str, ...]
    facts: Facts
    timelines: Timelines
    phrases: Mapping[str, RelationWording]
    lasting: tuple[str, ...]
    labels: Mapping[str, str]
    snapshot: date
    seed: int

    def make(self, out: Path, workspace: Workspace) -> None:
        """Write a table for each kind of question."""
        facts_folder = workspace.folder(self.facts)
        timelines_folder = workspace.folder(self.timelines)
        with workspace.engine() as eng:
            all_deltas = eng.read(workspace.folder(self.told) / "deltas.parquet", rows.ToldDelta)
            all_deltas = all_deltas.filter(all_deltas.relation.isin(list(self.edited)))
            entity_rows = eng.read(facts_folder / "entities.parquet", rows.Entity)
            segment_rows = eng.read(timelines_folder / "timelines.parquet", rows.Segment)
            gap_rows = eng.read(timelines_folder / "gaps.parquet", rows.Gap)
            dated_facts = self._once_each(
                segment_rows.filter(segment_rows.relation.isin([*self.phrases]))
            )
            known_facts = build_knowledge(eng, dated_facts, gap_rows, self.snapshot, self.seed)
            changed_facts = eng.keep(self._settled(all_deltas, known_facts.states))
            is_one_change = self._is_one_change(changed_facts)
            self._write_dropped(eng, changed_facts, is_one_change, out)
            delta_rows = eng.keep(
                changed_facts.filter(is_one_change & (changed_facts.split != "deleted"))
            )
            eng.write(delta_rows, out / "edits.parquet", rows.ToldDelta, _DELTA_ORDER)
            edit_rows = eng.keep(self._days(delta_rows))
            lasting_facts = eng.keep(self._lasting_facts(eng, facts_folder))
            chain_rows = eng.keep(self._chains(eng, edit_rows, known_facts, lasting_facts))
            eng.write(chain_rows, out / "chains.parquet", EditChain, (*EDIT_KEY, "path", "items"))
            neighbour_facts = eng.keep(
                self._neighbours(
                    eng,
                    edit_rows,
                    self._steady(known_facts, lasting_facts),
                    known_facts,
                    entity_rows,
                )
            )
            eng.write(
                neighbour_facts,
                out / "neighbours.parquet",
                EditNeighbour,
                (*EDIT_KEY, "kind", "place", "near_subject", "near_relation"),
            )
            reversible_edits = eng.keep(self._reversible(eng, edit_rows, segment_rows, gap_rows))
            eng.write(reversible_edits, out / "reversible.parquet", ReversibleEdit, EDIT_KEY)
            self._write_names(
                eng, out, workspace, entity_rows, [delta_rows, chain_rows, neighbour_facts]
            )
            self._write_timelines(
                eng,
                out,
                self._with_lasting(segment_rows, lasting_facts),
                entity_rows,
                [delta_rows, chain_rows, neighbour_facts],
            )

    def _once_each(self, segments: ir.Table) -> ir.Table:
        """Return the segments of each subject and property in one relation only.

        That is the one whose changes are edits, else one that holds part of the property.
        """
        segments = segments.mutate(property=segments.relation.re_extract(r"^P\d+", 0))
        is_edited = segments.relation.isin(list(self.edited))
        edited_pairs = segments.filter(is_edited).select("subject", "property").distinct()
        others = segments.filter(~is_edited).anti_join(edited_pairs, ["subject", "property"])
        others = without_covered_pairs(others.select(segments.columns).drop("property"))
        of_edits = segments.filter(is_edited).drop("property")
        return of_edits.union(others.select(of_edits.columns))

    def _window(self) -> tuple[date, date]:
        """Return the last days of the first period, which is only compared with, and the last."""
        changes = self.told.changes
        return Period.parse(changes.first).last, Period.parse(changes.last).last

    def _settled(self, deltas: ir.Table, states: ir.Table) -> ir.Table:
        """Return the comparisons that changed, without objects that end on the day asked about.

        On the day of a handover both hold: the one who leaves on it is not among the new answers
        where the states of the day after are certain.
        """
        changed_facts = deltas.filter(deltas.split.isin(["updated", "new", "deleted"]))
        day_after = (
            period_last_day(changed_facts.period, self.told.changes.granularity) + DAY
        ).cast("date")
        changed_facts = changed_facts.mutate(day_after=day_after)
        next_states = states.select(*PAIR, "first", "last", later="objects")
        later_changes = changed_facts.select(*PAIR, "period", "day_after").join(next_states, PAIR)
        later_changes = later_changes.filter(
            (later_changes.first <= later_changes.day_after)
            & (later_changes.last >= later_changes.day_after)
        )
        joined_changes = changed_facts.left_join(
            later_changes.select(*PAIR, "period", "later"), [*PAIR, "period"]
        ).drop(*(f"{column}_right" for column in (*PAIR, "period")))
        is_narrowed = (
            joined_changes.later.notnull()
            & (joined_changes.added.length() > 0)
            & (
                joined_changes.later.intersect(joined_changes.added).length()
                == joined_changes.added.length()
            )
            & (
                joined_changes.later.intersect(joined_changes.answers).length()
                == joined_changes.later.length()
            )
        )
        answers = ibis.ifelse(is_narrowed, sorted_set(joined_changes.later), joined_changes.answers)
        settled_changes = joined_changes.mutate(answers=answers)
        return settled_changes.mutate(
            still_true=settled_changes.still_true.intersect(settled_changes.answers).sort(),
            removed=array_difference(
                settled_changes.previous_answers, settled_changes.answers
            ).sort(),
        ).select(deltas.columns)

    def _is_one_change(self, changed: ir.Table) -> ir.BooleanValue:
        """Whether few enough objects hold before and after for this to be one change.

        A relation with one object at a time by its template may have two in fact; where it has
        more, its subject has many seats, and its objects change one by one.
        """
        rules = self.told.changes.timelines.rules
        is_exclusive = changed.relation.isin([name for name in rules if rules[name].exclusive])
        most_objects = ibis.greatest(changed.answers.length(), changed.previous_answers.length())
        return ~is_exclusive | (most_objects <= _CO_HOLDERS)

    def _write_dropped(
        self, eng: Engine, changed: ir.Table, is_one_change: ir.BooleanValue, out: Path
    ) -> None:
        """Write the changes that are no edit: nothing holds after them, or they are several."""
        has_ended = changed.split == "deleted"
        no_edits = changed.mutate(
            reason=ibis.ifelse(has_ended, ibis.literal("no_new_object"), "many_holders"),
            period=period_text(changed.period, self.told.changes.granularity),
        ).filter(has_ended | ~is_one_change)
        dropped = release_columns.as_dropped(
            no_edits, "edits", reason=no_edits.reason, period=no_edits.period
        )
        eng.write(dropped, out / "dropped.parquet", rows.Dropped, steps.DROPPED_ORDER)

    def _days(self, deltas: ir.Table) -> ir.Table:
        granularity = self.told.changes.granularity
        return deltas.select(
            *PAIR,
            "answers",
            "previous_answers",
            as_of=period_last_day(deltas.period, granularity),
            before=period_last_day(deltas.period - 1, granularity),
        )

    def _lasting_facts(self, eng: Engine, facts_folder: Path) -> ir.Table:
        """Return subject, relation, object and statements of facts that do not change."""
        dump = steps.read_dump(eng, facts_folder, self.lasting)
        single_pairs = unchanging_pairs(dump.facts, dump.gaps)
        single_pairs = single_pairs.filter(single_pairs.reason.isnull())
        statements = dump.facts.group_by([*PAIR, "object"]).agg(
            statements=_.statement.collect().unique().sort()
        )
        return single_pairs.select(*PAIR, "object").join(statements, [*PAIR, "object"])

    def _with_lasting(self, segments: ir.Table, lasting: ir.Table) -> ir.Table:
        """Add the facts that do not change to the segments, without dates."""
        at_all_times = lasting.anti_join(segments, PAIR).mutate(
            end_open=ibis.literal(False),
            end_inferred=ibis.literal(False),
            rival=ibis.literal(False),
            snapshot=ibis.literal(self.snapshot),
        )
        schema = segments.schema()
        filled = at_all_times.select(
            **{
                name: at_all_times[name] if name in at_all_times.columns else ibis.null(column_type)
                for name, column_type in schema.items()
            }
        )
        return segments.union(filled.cast(schema))

    def _chains(
        self, eng: Engine, edits: ir.Table, knowledge: Knowledge, lasting: ir.Table
    ) -> ir.Table:
        """Follow one or two relations beyond the only new object, and beyond the only old one."""
        chain_scope = Scope(
            *self._window(),
            {
                name: [
                    relation for relation, wording in self.phrases.items() if getattr(wording, name)
                ]
                for name in PHRASES
            },
        )
        new_sides = edits.select(*PAIR, "as_of", objects="answers")
        old_sides = edits.select(*PAIR, as_of="before", objects="previous_answers")
        single_sides = new_sides.union(old_sides, distinct=True)
        single_sides = single_sides.filter(single_sides.objects.length() == 1)
        path = eng.keep(self._first_hops(chain_scope.with_phrase(single_sides, "noun"), knowledge))
        longer = eng.keep(longer_paths(path, knowledge, chain_scope))
        chain_tables: list[ir.Table] = []
        for hop_path in (path, longer):
            dated_chains = last_hop(hop_path, knowledge, chain_scope)
            chain_tables += [_chain_columns(dated_chains), _lasting_chains(hop_path, lasting)]
        chain_tables = [chain_table.cast(_CHAIN_TYPES) for chain_table in chain_tables]
        chain_rows = ibis.union(*chain_tables).distinct()
        # A chain of the day before is only used beside the same of the day after.
        after_paths = chain_rows.semi_join(new_sides, EDIT_KEY).mutate(
            hops=chain_rows.path.split(" ").length(),
            drawn=seeded_order(self.seed, chain_rows.subject, chain_rows.path),
        )
        numbered_chains = after_paths.mutate(
            turn=ibis.row_number().over(
                ibis.window(group_by=[*EDIT_KEY, "hops"], order_by=["drawn", "path", "items"])
            )
        )
        numbered_chains = numbered_chains.filter(numbered_chains.turn < _CHAINS)
        wanted_paths = numbered_chains.select(*PAIR, "path").distinct()
        return chain_rows.semi_join(wanted_paths, [*PAIR, "path"]).select(chain_rows.columns)

    def _first_hops(self, sides: ir.Table, knowledge: Knowledge) -> ir.Table:
        """Return the paths (see `last_hop`) from the subjects of edits to their single objects."""
        states = knowledge.states.rename(held="objects")
        joined = sides.join(states, PAIR)
        joined = joined.filter(
            (joined.first <= joined.as_of)
            & (joined.last >= joined.as_of)
            & (joined.held.length() == 1)
            & (joined.held[0] == joined.objects[0])
        )
        joined = joined.join(knowledge.shortcuts, PAIR)
        return joined.select(
            *("as_of", "newest", "longest", "statements", "since"),
            middle=joined.objects[0],
            start="subject",
            items=array(joined.subject),
            relations=array(joined.relation),
            first_hop=joined.objects[0],
        )

    def _steady(self, knowledge: Knowledge, lasting: ir.Table) -> ir.Table:
        """Return what holds at the end of the window, with the day `first` since when it does."""
        last_day = self._window()[1]
        states = knowledge.states
        at_the_end = states.filter(
            (states.first <= last_day) & (states.last >= last_day) & (states.objects.length() > 0)
        ).select(*PAIR, "objects", "statements", "first")
        at_all_times = lasting.select(
            *PAIR, objects=array(lasting.object), statements="statements", first=ibis.literal(EARLY)
        )
        return at_the_end.union(at_all_times.anti_join(at_the_end, PAIR))

    def _neighbours(
        self,
        eng: Engine,
        edits: ir.Table,
        steady: ir.Table,
        knowledge: Knowledge,
        entities: ir.Table,
    ) -> ir.Table:
        steady = eng.keep(steady)
        side_tables = edits.select(
            *EDIT_KEY, "before", all_objects=edits.answers.concat(edits.previous_answers)
        )
        of_subject = side_tables.join(
            steady.rename(near_subject="subject", near_relation="relation"),
            [("subject", "near_subject")],
        )
        same_property = of_subject.relation.re_extract(
            r"^P\d+", 0
        ) == of_subject.near_relation.re_extract(r"^P\d+", 0)
        of_subject = of_subject.filter(~same_property)
        drawn_pairs = seeded_order(
            self.seed, of_subject.subject, of_subject.relation, of_subject.near_relation
        )
        of_subject = of_subject.mutate(kind=ibis.literal("same subject"), rank=drawn_pairs)
        near_pairs = _near_subjects(eng, side_tables, steady, knowledge, entities)
        near_pairs = near_pairs.mutate(kind=ibis.literal("near subject"))
        neighbour_facts = of_subject.select(near_pairs.columns).union(near_pairs)
        neighbour_facts = neighbour_facts.filter(
            (neighbour_facts.first <= neighbour_facts.before)
            & (neighbour_facts.objects.intersect(neighbour_facts.all_objects).length() == 0)
        )
        best_first = ibis.window(
            group_by=[*EDIT_KEY, "kind"], order_by=["rank", "near_subject", "near_relation"]
        )
        neighbour_facts = neighbour_facts.mutate(place=ibis.row_number().over(best_first))
        neighbour_facts = neighbour_facts.filter(neighbour_facts.place < _NEIGHBOURS)
        return neighbour_facts.drop("all_objects", "rank", "before", "first")

    def _reversible(
        self, eng: Engine, edits: ir.Table, segments: ir.Table, gaps: ir.Table
    ) -> ir.Table:
        """Return the edits of relations that are one-to-one on the day after the change.

        Every statement that may hold on that day counts, also one in doubt or without a date.
        """
        askable_edits = [name for name, wording in self.phrases.items() if wording.ask_subject]
        columns = [*PAIR, "object", "start_first", "end_last", "statements"]
        stated_facts = segments.select(columns)
        in_doubt = gaps.filter(gaps.object.notnull()).mutate(statements=array(gaps.statement))
        held_facts = eng.keep(
            stated_facts.union(in_doubt.select(columns).cast(stated_facts.schema()))
        )
        single_answers = edits.filter(
            edits.relation.isin(askable_edits) & (edits.answers.length() == 1)
        )
        single_answers = single_answers.select(*EDIT_KEY, object=single_answers.answers[0])
        by_object = eng.keep(
            _on_days(
                held_facts, single_answers.select("relation", "as_of").distinct(), ["relation"]
            )
            .group_by(["relation", "as_of", "object"])
            .agg(
                subjects=_.subject.nunique(),
                statements=_.statements.collect().flatten().unique().sort(),
            )
        )
        one_to_one = by_object.group_by(["relation", "as_of"]).agg(
            shared=(by_object.subjects > 1).cast("int64").mean()
        )
        one_to_one = one_to_one.filter(one_to_one.shared <= _SHARED_OBJECTS)
        single_holders = by_object.filter(by_object.subjects == 1)
        single_holders = single_holders.semi_join(one_to_one, ["relation", "as_of"])
        reversible = single_answers.join(single_holders, ["relation", "as_of", "object"])
        # What the dump states of the object itself may lead back to the subject, and to others.
        led_back = _on_days(
            held_facts.select(
                "start_first", "end_last", back="relation", holder="subject", subject="object"
            ),
            reversible.select(holder="object", as_of="as_of").distinct(),
            ["holder"],
        )
        leading_relations = led_back.group_by(["holder", "back", "as_of"]).agg(
            led_to=led_back.subject.collect(distinct=True)
        )
        to_others = reversible.select(*EDIT_KEY, holder="object").join(
            leading_relations, ["holder", "as_of"]
        )
        to_others = to_others.filter(
            to_others.led_to.contains(to_others.subject) & (to_others.led_to.length() > 1)
        )
        return reversible.anti_join(to_others, EDIT_KEY).select(*EDIT_KEY, "object", "statements")

    def _write_names(
        self,
        eng: Engine,
        out: Path,
        workspace: Workspace,
        entities: ir.Table,
        tables: Collection[ir.Table],
    ) -> None:
        """Write the names of all items that rows name."""
        deltas, chains, neighbours = tables
        item_ids = eng.keep(
            ibis.union(
                deltas.select(id="subject"),
                deltas.select(id=deltas.answers.unnest()),
                deltas.select(id=deltas.previous_answers.unnest()),
                chains.select(id=chains.items.unnest()),
                chains.select(id=chains.answers.unnest()),
                neighbours.select(id="near_subject"),
                neighbours.select(id=neighbours.objects.unnest()),
            ).distinct()
        )
        eng.write(
            entities.semi_join(item_ids, "id"), out / "entities.parquet", rows.Entity, ("id",)
        )
        namesakes.write_namesakes(
            eng,
            out,
            namesakes.read_held(eng, workspace.folder(self.timelines)),
            entities,
            namesakes.read_offices(eng, workspace.folder(self.facts.mined)),
            item_ids,
        )

    def _write_timelines(
        self,
        eng: Engine,
        out: Path,
        segments: ir.Table,
        entities: ir.Table,
        tables: Collection[ir.Table],
    ) -> None:
        """Write the segments of all pairs that edits and their questions are made of."""
        delta_rows, chain_rows, neighbour_facts = tables
        hop_number = ibis.range(chain_rows.items.length() + 1).unnest()
        hop_pairs = chain_rows.select(
            hop_subjects=array(chain_rows.subject).concat(chain_rows.items),
            relations=chain_rows.path.split(" "),
            number=hop_number,
        )
        hop_pairs = hop_pairs.select(
            subject=hop_pairs.hop_subjects[hop_pairs.number],
            relation=hop_pairs.relations[hop_pairs.number],
        )
        asked_pairs = ibis.union(
            delta_rows.select(*PAIR),
            hop_pairs,
            neighbour_facts.select(subject="near_subject", relation="near_relation"),
        ).distinct()
        released_segments = release_columns.with_labels(
            steps.released_segments(segments.semi_join(asked_pairs, PAIR)), entities, self.labels
        )
        eng.write(
            released_segments, out / "timelines.parquet", rows.ReleasedSegment, timeline.ORDER
        )


def _on_days(held: ir.Table, days: ir.Table, keys: list[str]) -> ir.Table:
    """Return what may hold on the days `as_of` that are asked about for these keys."""
    on_days = held.join(days, keys)
    return on_days.filter(
        (on_days.start_first.fill_null(FIRST_DAY) <= on_days.as_of)
        & (on_days.end_last.fill_null(LAST_DAY) >= on_days.as_of)
    )


def _chain_columns(candidates: ir.Table) -> ir.Table:
    """Return the columns of `EditChain` of the questions that `last_hop` found.

    Two relations go through the object of the first, three also through the subject of the last.
    """
    is_long = candidates.relations.length() > 2
    return candidates.select(
        "subject",
        relation=candidates.relations[0],
        as_of="as_of",
        path=candidates.relations.join(" "),
        items=ibis.ifelse(
            is_long, array(candidates.first_hop, candidates.holder), array(candidates.first_hop)
        ),
        answers=candidates.answers.sort(),
        statements=candidates.statements.unique().sort(),
    )


def _lasting_chains(path: ir.Table, lasting: ir.Table) -> ir.Table:
    """Return the chains that go one hop beyond these paths along a fact that does not change."""
    lasting = lasting.select(middle="subject", by="relation", answer="object", proof="statements")
    joined = path.join(lasting, "middle")
    is_new = (
        ~joined.relations.contains(joined.by)
        & (joined.answer != joined.start)
        & (joined.answer != joined.first_hop)
    )
    joined = joined.filter(is_new)
    is_long = joined.relations.length() > 1
    return joined.select(
        subject="start",
        relation=joined.relations[0],
        as_of="as_of",
        path=joined.relations.concat(array(joined.by)).join(" "),
        items=ibis.ifelse(is_long, array(joined.first_hop, joined.middle), array(joined.first_hop)),
        answers=array(joined.answer),
        statements=joined.statements.concat(joined.proof).unique().sort(),
    )


def _near_subjects(
    eng: Engine, sides: ir.Table, steady: ir.Table, knowledge: Knowledge, entities: ir.Table
) -> ir.Table:
    """Return steady facts of the same relation about subjects that are near in a fixed order.

    Near is what shares a tie (see `_ties`). The order of a tie is by class and popularity, so that
    the neighbours of the mayor of a town are mayors of towns of its country as well known. `rank`
    puts nearer ties first, and then nearer subjects.
    """
    fixed_pairs = steady.semi_join(sides, "relation").select(*PAIR, "objects")
    changing_pairs = sides.group_by(PAIR).agg(objects=_.all_objects.collect().flatten())
    all_pairs = ibis.union(
        *(
            pairs.select(*PAIR, "objects", is_fixed=ibis.literal(is_fixed, "int64"))
            for pairs, is_fixed in ((fixed_pairs, 1), (changing_pairs, 0))
        )
    )
    ties = eng.keep(_ties(all_pairs, knowledge, entities))
    number = ties.is_fixed.sum().over(
        ibis.window(
            group_by=["relation", "tie"],
            order_by=["class_words", "sitelinks", "subject", "is_fixed"],
            preceding=None,
            following=0,
        )
    )
    in_order = eng.keep(ties.mutate(number=number.cast("int64")))
    fixed_places = in_order.filter(in_order.is_fixed == 1).select(
        "tie", near_relation="relation", near_subject="subject", near_number="number"
    )
    edit_places = in_order.filter(in_order.is_fixed == 0)
    edit_places = edit_places.mutate(distance=ibis.range(-_NEAR, _NEAR + 1).unnest())
    edit_places = edit_places.mutate(near_number=edit_places.number + edit_places.distance)
    near_pairs = edit_places.join(
        fixed_places, [("relation", "near_relation"), "near_number", "tie"]
    )
    near_pairs = near_pairs.filter(near_pairs.subject != near_pairs.near_subject)
    distance = near_pairs.distance.abs().cast("string").lpad(3, "0")
    near_pairs = near_pairs.group_by([*PAIR, "near_subject"]).agg(
        rank=(near_pairs.tie_rank + distance).min()
    )
    near_pairs = near_pairs.mutate(near_relation=near_pairs.relation).join(
        steady.rename(near_subject="subject", near_relation="relation"),
        ["near_subject", "near_relation"],
    )
    return sides.join(near_pairs, PAIR)


def _ties(pairs: ir.Table, knowledge: Knowledge, entities: ir.Table) -> ir.Table:
    """Return what makes the subjects of pairs near, one `tie` a row, with its `tie_rank`.

    It is the country, which for a person is that of an object. Where none is known, these are every
    object that the pair ever had and the classes, though not that two are persons. Countries are
    tied by their class.
    """
    pair_key = [*PAIR, "is_fixed"]
    object_countries = pairs.select(*pair_key, id=pairs.objects.unnest()).join(
        entities.select("id", object_country="country"), "id"
    )
    object_countries = object_countries.group_by(pair_key).agg(
        object_country=_.object_country.min()
    )
    subjects = entities.select("label", "country", "classes", "sitelinks", subject="id")
    placed = pairs.join(subjects, "subject").left_join(object_countries, pair_key)
    placed = placed.left_join(knowledge.shortcuts.select(*PAIR, "others"), PAIR)
    country = placed.country.coalesce(placed.object_country)
    classes = placed.classes.filter(lambda item: item != _HUMAN)
    is_of_country = (country != placed.label).fill_null(False)
    no_ties = ibis.literal([], type="array<string>")
    objects = placed.others.coalesce(placed.objects)
    placed = placed.select(
        *pair_key,
        "sitelinks",
        class_words=placed.classes.join(" "),
        countries=ibis.ifelse(is_of_country, array(country), no_ties),
        shared_objects=ibis.ifelse(country.isnull(), objects, no_ties),
        classes=ibis.ifelse(is_of_country, no_ties, classes),
    )
    return ibis.union(
        *(
            placed.select(
                *pair_key, "sitelinks", "class_words",
                tie=placed[column].unnest(), tie_rank=ibis.literal(str(rank)),
            ).cast({"tie": "string"})
            for rank, column in enumerate(("countries", "shared_objects", "classes"))
        )
    )  # fmt: skip
