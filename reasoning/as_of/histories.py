"""The histories that are asked about: terms, days on which all is certain, names."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from pathlib import Path
from typing import ClassVar, TypeVar

import ibis
import ibis.expr.types as ir

from factdrift.builders import rows
from factdrift.builders.core.engine import Engine
from factdrift.builders.core.schema import typed_rows
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.core.tables import has_label, seeded_order
from factdrift.builders.facts import namesakes
from factdrift.builders.facts.intervals import Certainty, segment_interval
from factdrift.builders.facts.relations import RelationWording
from factdrift.builders.facts.steps import Facts, Timelines
from factdrift.reasoning.as_of.corpus import STATED, NewsStatements, PageStatements
from factdrift.reasoning.as_of.rows import CertainStretch, PassageFact
from factdrift.reasoning.names import Verbalizer
from factdrift.reasoning.selection import first_rows
from factdrift.reasoning.states import (
    EARLY,
    INTERIM,
    PAIR,
    build_knowledge,
    certain_stretches,
    without_covered_pairs,
)

Pair = tuple[str, str]
"""Item id of the subject and property id of the relation."""

# Guesses that keep a release varied and the lists of judgments short: long histories, common
# relations and facts that news repeats every day would crowd out the others.
_MAX_SEGMENTS = 100
"""The largest number of segments of a history."""
_RELATION_SHARE = 0.25
"""The largest share of the histories that one relation may have."""
_MOST_STATED = 200
"""Statements of one history beyond which nobody asks about it: whoever reads any news knows it, and
each of its questions would have a hundred judgments."""
# A start that is known to the year alone has 365 days in doubt.
_MAX_DOUBT = 366
"""The largest number of days on which each start of a history without texts may lie."""


class HistoryTables(Step):
    """Draws histories and writes what is known of them.

    A history is all segments of a subject and relation. The step writes `terms.parquet`
    (`rows.Segment`), `stretches.parquet` (`CertainStretch`), `stated.parquet` (`PassageFact`, by
    history and day), `entities.parquet` and `namesakes.NAMESAKES`.

    `stated` are the steps that found the facts that texts state; the histories are those of their
    facts. Without any, histories are drawn that have two objects at least and no doubt, whatever
    any text says. `phrases` are those of the relations; `histories` is the number that is drawn.
    """

    name: ClassVar[str] = "as-of-histories"

    facts: Facts
    timelines: Timelines
    phrases: Mapping[str, RelationWording]
    stated: tuple[NewsStatements | PageStatements, ...]
    first: date
    last: date
    histories: int
    seed: int

    def make(self, out: Path, workspace: Workspace) -> None:
        """Draw histories by hash and cut them into stretches."""
        timelines_folder = workspace.folder(self.timelines)
        facts_folder = workspace.folder(self.facts)
        stated_paths = [workspace.folder(step) / STATED for step in self.stated]
        with workspace.engine() as eng:
            segments = eng.read(timelines_folder / "timelines.parquet", rows.Segment)
            gaps = eng.read(timelines_folder / "gaps.parquet", rows.Gap)
            entities = eng.read(facts_folder / "entities.parquet", rows.Entity)
            segments = segments.filter(segments.relation.isin(list(self.phrases)))
            segments = eng.keep(without_covered_pairs(segments))
            if stated_paths:
                stated = eng.read(stated_paths, PassageFact)
                pairs = eng.keep(self._stated_pairs(stated, segments))
                stated = stated.semi_join(pairs, PAIR).select(stated.columns)
                order = (*PAIR, "day", "passage", "object")
                eng.write(stated, out / STATED, PassageFact, order)
            else:
                pairs = eng.keep(self._drawn_pairs(eng, segments, gaps, entities))
            terms = eng.keep(segments.semi_join(pairs, PAIR).select(segments.columns))
            gaps = gaps.semi_join(pairs, PAIR).select(gaps.columns)
            term_order = (*PAIR, "start_last", "object", "statements")
            eng.write(terms, out / "terms.parquet", rows.Segment, term_order)
            stretches = certain_stretches(terms, gaps, EARLY, self.last)
            # Nothing is asked about days on which nobody holds.
            stretches = stretches.filter(stretches.objects.length() > 0)
            eng.write(stretches, out / "stretches.parquet", CertainStretch, (*PAIR, "first"))
            _write_names(eng, out, workspace, self.facts, timelines_folder, terms, entities)

    def _stated_pairs(self, stated: ir.Table, segments: ir.Table) -> ir.Table:
        """Draw pairs that texts state, but not every day, with segments that can be compared."""
        sizes = segments.group_by(PAIR).agg(segment_count=ibis._.count())
        pairs = stated.group_by(PAIR).agg(stated_count=ibis._.count()).join(sizes, PAIR)
        is_small = (pairs.stated_count <= _MOST_STATED) & (pairs.segment_count <= _MAX_SEGMENTS)
        return self._limited(pairs.filter(is_small))

    def _drawn_pairs(
        self, eng: Engine, segments: ir.Table, gaps: ir.Table, entities: ir.Table
    ) -> ir.Table:
        """Draw pairs (subject, relation) that change and are known well enough to ask about.

        A pair qualifies if its subject has a page; if it has two objects or more, all of them
        named; if its last segment begins after the first day of the window (`self.first`), so that
        something changes in it or later; if it begins after `EARLY`, the first day that `knowledge`
        covers, so that no beginning is cut off; and if no start is in doubt by more than
        `_MAX_DOUBT` days.
        """
        with_page = entities.filter(entities.enwiki.notnull() & has_label(entities.label))
        segments = segments.semi_join(with_page, segments.subject == with_page.id)
        knowledge = build_knowledge(eng, segments, gaps, self.last, self.seed, _MAX_SEGMENTS)
        terms = knowledge.terms
        with_label = entities.filter(has_label(entities.label)).select(named="id")
        unnamed_terms = terms.anti_join(with_label, terms.object == with_label.named)
        start_doubt = terms.start_first.delta(terms.start_last, unit="day").abs()
        terms = terms.mutate(doubt=start_doubt)
        pairs = terms.group_by(PAIR).agg(
            objects=terms["object"].nunique(),
            earliest_start=terms.start_first.min(),
            latest_start=terms.start_last.max(),
            doubt=terms.doubt.max(),
        )
        in_window = (pairs.earliest_start > EARLY) & (pairs.latest_start > self.first)
        pairs = pairs.filter((pairs.objects > 1) & in_window & (pairs.doubt <= _MAX_DOUBT))
        return self._limited(pairs.anti_join(unnamed_terms.select(*PAIR).distinct(), PAIR))

    def _limited(self, pairs: ir.Table) -> ir.Table:
        """Return so many pairs in the order of a hash; one relation has a share of them at most."""
        pairs = pairs.mutate(drawn=seeded_order(self.seed, pairs.subject, pairs.relation))
        per_relation = max(1, int(_RELATION_SHARE * self.histories))
        pairs = first_rows(pairs, ["relation"], ["drawn"], per_relation)
        return first_rows(pairs, [], ["drawn"], self.histories).select(*PAIR)


def _write_names(
    eng: Engine,
    out: Path,
    workspace: Workspace,
    facts: Facts,
    timelines_folder: Path,
    terms: ir.Table,
    entities: ir.Table,
) -> None:
    """Write the items of the histories, and which of them have to be told from others."""
    item_ids = terms.select(id="subject").union(terms.select(id="object")).distinct()
    item_ids = eng.keep(item_ids)
    eng.write(entities.semi_join(item_ids, "id"), out / "entities.parquet", rows.Entity, ("id",))
    offices = namesakes.read_offices(eng, workspace.folder(facts.mined))
    held = namesakes.read_held(eng, timelines_folder)
    namesakes.write_namesakes(eng, out, held, entities, offices, item_ids)


@dataclass
class History:
    """What is known of a subject and relation, and which passages state it.

    `terms` are by day of their beginning, `stretches` and `facts` by day.
    """

    subject: str
    relation: str
    terms: Sequence[rows.Segment]
    stretches: Sequence[CertainStretch]
    facts: Sequence[PassageFact]

    @property
    def key(self) -> str:
        """Subject and relation in one text."""
        return f"{self.subject}/{self.relation}"

    @cached_property
    def _firsts(self) -> list[date]:
        return [stretch.first for stretch in self.stretches]

    def relation_word(self, objects: Collection[str]) -> str:
        """The word that most passages about these objects have for the relation.

        Of equally many it is the first. An office may change its name with its holder, as Turkey's
        head of government was a prime minister and then a president; so where no passage is about
        these objects, the word counts only if all others agree on it.
        """
        words = Counter(fact.relation_word.lower() for fact in self.facts if fact.relation_word)
        own_words = Counter(
            fact.relation_word.lower()
            for fact in self.facts
            if fact.relation_word and fact.object in objects
        )
        if own_words:
            return own_words.most_common(1)[0][0]
        return next(iter(words)) if len(words) == 1 else ""

    def stretch_on(self, day: date) -> CertainStretch | None:
        """The stretch that holds a day, if it is certain what held then."""
        place = bisect_right(self._firsts, day) - 1
        if place < 0 or self.stretches[place].last < day:
            return None
        return self.stretches[place]

    def is_handover(self, stretch: CertainStretch) -> bool:
        """Whether a stretch is a single day on which several objects hold: one gives way then."""
        return len(stretch.objects) > 1 and stretch.first == stretch.last

    def after_handover(self, day: date) -> date:
        """The day itself, or the next one if one object gives way to another on it."""
        stretch = self.stretch_on(day)
        return day + timedelta(1) if stretch and self.is_handover(stretch) else day

    def stretch_before(self, day: date, most_days: int) -> CertainStretch | None:
        """The last stretch before a day; None if more days than these lie between them."""
        place = bisect_left(self._firsts, day) - 1
        if place < 0:
            return None
        stretch = self.stretches[place]
        days_between = (day - stretch.last).days - 1
        return stretch if 0 <= days_between <= most_days else None

    def successor(self, stretch: CertainStretch) -> CertainStretch | None:
        """The stretch of one other object that follows the end of what holds in a stretch.

        Between the two may be a day on which both hold.
        """
        last_day = self.last_day_of(stretch)
        place = bisect_right(self._firsts, last_day)
        if place == len(self.stretches):
            return None
        following = self.stretches[place]
        if (
            self.is_handover(following)
            and set(stretch.objects) <= set(following.objects)
            and place + 1 < len(self.stretches)
        ):
            following = self.stretches[place + 1]
        is_soon = (following.first - last_day).days - 1 <= INTERIM
        is_other = len(following.objects) == 1 and following.objects[0] not in stretch.objects
        return following if is_soon and is_other else None

    def last_day_of(self, stretch: CertainStretch) -> date:
        """The last day of the stretches in a row with the same objects and terms."""
        place = self._firsts.index(stretch.first)
        while place + 1 < len(self.stretches):
            following = self.stretches[place + 1]
            if (following.objects, following.statements) != (stretch.objects, stretch.statements):
                break
            place += 1
        return self.stretches[place].last

    def began_alone(self, object_id: str, first_day: date, last_day: date) -> bool:
        """Whether an object surely began within a window of days, and surely no other one did."""
        has_begun = False
        for term in self.terms:
            begins = segment_interval(term).starts_within(first_day, last_day)
            if term.object == object_id:
                has_begun |= begins is Certainty.CERTAIN
            elif begins is not Certainty.NO:
                return False
        return has_begun

    def facts_until(self, day: date) -> list[PassageFact]:
        """The facts that passages up to a day state."""
        return [fact for fact in self.facts if fact.day <= day]

    def is_superseded(self, stretch: CertainStretch, as_of: date, asked_on: date) -> bool:
        """Whether a passage up to the day of asking states what began after the day asked about."""
        return any(
            fact.object not in stretch.objects and fact.since > as_of
            for fact in self.facts_until(asked_on)
        )

    def ended_objects(self, day: date) -> set[str]:
        """The objects with a term that surely ended before a day."""
        ended: set[str] = set()
        for term in self.terms:
            if segment_interval(term).lasts_until(day) is Certainty.NO:
                ended.add(term.object)
        return ended

    def term_count(self, object_id: str) -> int:
        """How many terms an object has."""
        return sum(term.object == object_id for term in self.terms)


def read_histories(folder: Path, facts: Iterable[PassageFact]) -> dict[Pair, History]:
    """Read the tables of `HistoryTables`; `facts` are those that passages state, by day."""
    terms = _by_pair(typed_rows(folder / "terms.parquet", rows.Segment))
    stretches = _by_pair(typed_rows(folder / "stretches.parquet", CertainStretch))
    facts_by_pair = _by_pair(facts)
    histories: dict[Pair, History] = {}
    for pair in sorted(terms):
        histories[pair] = History(
            *pair, terms[pair], stretches.get(pair, ()), facts_by_pair.get(pair, ())
        )
    return histories


def read_names(folder: Path, phrases: Mapping[str, RelationWording]) -> Verbalizer:
    """Read the names of the items of histories, with what tells them from others."""
    entities = {
        entity.id: entity for entity in typed_rows(folder / "entities.parquet", rows.Entity)
    }
    by_subject = namesakes.namesake_subjects(folder / namesakes.NAMESAKES)
    return Verbalizer(entities, phrases, by_subject)


HistoryRow = TypeVar("HistoryRow", rows.Segment, CertainStretch, PassageFact)


def _by_pair(history_rows: Iterable[HistoryRow]) -> dict[Pair, list[HistoryRow]]:
    rows_by_pair: dict[Pair, list[HistoryRow]] = defaultdict(list)
    for row in history_rows:
        rows_by_pair[row.subject, row.relation].append(row)
    return rows_by_pair
