"""Sentences made from facts, for tests of memory alone: dated, some late, some taken back later."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import ClassVar, NamedTuple

import ibis

from factdrift.builders import rows
from factdrift.builders.core.hashing import row_id, seeded_fraction, seeded_index
from factdrift.builders.core.schema import write_sorted
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.core.tables import has_label
from factdrift.builders.facts.release_columns import as_dropped
from factdrift.builders.facts.steps import DROPPED_ORDER
from factdrift.builders.text.dates import format_date
from factdrift.reasoning.as_of.corpus import PASSAGE_ORDER, PASSAGES, STATED
from factdrift.reasoning.as_of.drafts import AskableDraft, Hop
from factdrift.reasoning.as_of.histories import History, HistoryTables, read_histories, read_names
from factdrift.reasoning.as_of.judgments import FRESH
from factdrift.reasoning.as_of.rows import DatedPassage, PassageFact
from factdrift.reasoning.as_of.wordings import AskedRelation, Words
from factdrift.reasoning.names import Verbalizer, boundary
from factdrift.reasoning.states import INTERIM, PAIR

# From two months, when most texts about a change have been written, to three years and a bit: late
# enough that a newer fact may have come before. Both are guesses.
_DELAYS = 60, 1200
"""Days from the beginning of a fact to a late statement of it."""
_CORRECTED_SHARE = 0.25
"""The share of beginnings that are first told of a wrong day: a guess that leaves most plain."""
_WRONG_DAYS = 20, 60
"""Days by which a wrong day is too early: a slip that a reader would not notice."""
_CORRECTION_DELAY = 30
"""Days after the true beginning within which it is corrected: a guess."""
_WRONG = "wrong"
"""What the ids of the passages begin with that are taken back."""


class MadeSentence(NamedTuple):
    """A sentence made from a fact, and the fact."""

    passage: DatedPassage
    fact: PassageFact


class Statements(Step):
    """Puts the terms of histories into words.

    Writes `passages.parquet` (`DatedPassage`), by day and id, and `stated.parquet` (`PassageFact`),
    by history and day. `dropped.parquet` has the histories that change and are not drawn, for their
    subject cannot be asked about. `late` is the share of sentences that come long after what they
    state began.
    """

    name: ClassVar[str] = "as-of-statements"

    tables: HistoryTables
    late: float

    def make(self, out: Path, workspace: Workspace) -> None:
        """Write a sentence for each term, and two where the first one is taken back."""
        folder = workspace.folder(self.tables)
        names = read_names(folder, self.tables.phrases)
        statements: list[MadeSentence] = []
        for history in read_histories(folder, ()).values():
            statements += self._of_history(history, names)
        passages = [statement.passage for statement in statements]
        write_sorted(out / PASSAGES, DatedPassage, passages, *PASSAGE_ORDER)
        facts = [statement.fact for statement in statements]
        write_sorted(out / STATED, PassageFact, facts, "subject", "relation", "day", "passage")
        self._write_dropped(out, workspace)

    def _write_dropped(self, out: Path, workspace: Workspace) -> None:
        """Write the pairs that `HistoryTables` never draws, whatever their terms are."""
        timelines_path = workspace.folder(self.tables.timelines) / "timelines.parquet"
        entities_path = workspace.folder(self.tables.facts) / "entities.parquet"
        with workspace.engine() as eng:
            segments = eng.read(timelines_path, rows.Segment)
            segments = segments.filter(segments.relation.isin(list(self.tables.phrases)))
            pairs = segments.group_by(PAIR).agg(object_count=segments.object.nunique())
            pairs = pairs.filter(pairs.object_count > 1)
            entities = eng.read(entities_path, rows.Entity)
            pairs = pairs.left_join(entities, pairs.subject == entities.id)
            pairs = pairs.mutate(
                reason=ibis.cases(
                    (pairs.enwiki.isnull(), "no_sitelink"),
                    (~has_label(pairs.label), "unlabelled_subject"),
                )
            )
            undrawn_pairs = as_dropped(pairs.filter(pairs.reason.notnull()), self.name)
            eng.write(undrawn_pairs, out / "dropped.parquet", rows.Dropped, DROPPED_ORDER)

    def _of_history(self, history: History, names: Verbalizer) -> Iterator[MadeSentence]:
        for term in history.terms:
            if term.start_last is None or term.start_last > self.tables.last:
                continue
            wrong_day = self._wrong_day(history, term)
            if wrong_day is None:
                yield self._plain(history, term, names)
            else:
                yield from self._corrected(history, term, names, wrong_day)

    def _plain(self, history: History, term: rows.Segment, names: Verbalizer) -> MadeSentence:
        """A term in words, dated to the day by which it surely had begun, or later."""
        since = term.start_last
        assert since is not None, "no other term is put into words"
        seed, (least_delay, most_delay) = self.tables.seed, _DELAYS
        drawn_delay = seeded_index(most_delay - least_delay, seed, "delay", *term.statements)
        late_day = since + timedelta(least_delay + drawn_delay)
        drawn_late = seeded_fraction(seed, "late", *term.statements) < self.late
        is_late = drawn_late and late_day <= self.tables.last
        start_text = boundary(term.start_first, since)
        is_day = term.start_first == since or start_text.startswith("a day")
        event_text = _event(history, term, names)
        text = f"{'On' if is_day else 'In'} {start_text}, {event_text}."
        day = late_day if is_late else since
        return _statement("statement", history, term, names, day, since, text)

    def _wrong_day(self, history: History, term: rows.Segment) -> date | None:
        """A day of the term before on which a beginning is first said to lie, if any."""
        seed, start = self.tables.seed, term.start_last
        if start is None or term.start_first != start:
            return None
        earlier = history.stretch_before(start, INTERIM)
        least_days, most_days = _WRONG_DAYS
        drawn_days = seeded_index(most_days - least_days, seed, "wrong", *term.statements)
        wrong_day = start - timedelta(least_days + drawn_days)
        is_drawn = seeded_fraction(seed, "corrected", *term.statements) < _CORRECTED_SHARE
        is_inside = earlier is not None and earlier.first <= wrong_day <= earlier.last
        return wrong_day if is_drawn and is_inside else None

    def _corrected(
        self, history: History, term: rows.Segment, names: Verbalizer, wrong_day: date
    ) -> Iterator[MadeSentence]:
        """A sentence with a wrong day, and the one that takes it back."""
        start = term.start_last
        assert start is not None, "it is known to the day"
        event_text = _event(history, term, names)
        wrong_text = f"On {format_date(wrong_day)}, {event_text}."
        wrong = _statement(_WRONG, history, term, names, wrong_day, wrong_day, wrong_text)
        yield wrong._replace(fact=_without_statements(wrong.fact))
        drawn_days = seeded_index(_CORRECTION_DELAY, self.tables.seed, "back", *term.statements)
        text = (
            f"Correction: on {format_date(start)}, and not on {format_date(wrong_day)}, "
            f"{event_text}."
        )
        day = start + timedelta(drawn_days)
        yield _statement("correction", history, term, names, day, start, text)


def corrected_drafts(
    history: History,
    names: Verbalizer,
    relations: Mapping[str, AskedRelation],
    seed: int,
) -> Iterator[AskableDraft]:
    """Ask about a day on which a passage says that something had begun, after it was taken back."""
    for wrong in history.facts:
        if wrong.statements:
            continue
        corrections = [
            fact for fact in history.facts if fact.object == wrong.object and fact.day > wrong.day
        ]
        if not corrections:
            continue
        correction = corrections[0]
        days = (correction.since - wrong.since).days
        as_of = wrong.since + timedelta(seeded_index(days, seed, "corrected", wrong.passage))
        stretch = history.stretch_on(as_of)
        if stretch is None or wrong.object in stretch.objects:
            continue
        asked_on = correction.day + timedelta(
            seeded_index(FRESH.days, seed, "asked", wrong.passage)
        )
        words = Words(
            relations[history.relation],
            names.name(history.subject),
            seeded_index(1 << 32, seed, "words", wrong.passage),
        )
        hops = (Hop(history, stretch),)
        yield AskableDraft("corrected", hops, as_of, asked_on, words.on_day(as_of))


def _event(history: History, term: rows.Segment, names: Verbalizer) -> str:
    event_text = names.fill_wording(
        "event", history.relation, names.name(history.subject), names.name(term.object)
    )
    return event_text.removesuffix(".")


def _statement(
    source_name: str,
    history: History,
    term: rows.Segment,
    names: Verbalizer,
    day: date,
    since: date,
    text: str,
) -> MadeSentence:
    passage_id = row_id(source_name, since, *term.statements)
    fact = PassageFact(
        passage=passage_id,
        subject=history.subject,
        relation=history.relation,
        object=term.object,
        object_label=names.entities[term.object].label,
        since=since,
        day=day,
        relation_word="",
        is_current=False,
        is_change=True,
        stated_from=since,
        stated_until=None,
        start=0,
        end=len(text),
        also_named=(),
        statements=term.statements,
    )
    return MadeSentence(DatedPassage(passage_id, day, "", text, "statement", None), fact)


def _without_statements(fact: PassageFact) -> PassageFact:
    """A fact that no statement of the dump says, since its day is wrong."""
    return replace(fact, statements=())
