"""What may be asked about histories: a draft has a kind, two days and the words of its question.

Drafts are cheap, so that many more are made than are asked. Each kind draws its days by hash around
what passages state, not on the day of an article alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

from factdrift.builders import rows
from factdrift.builders.core.dates import Period
from factdrift.builders.core.hashing import seeded_hash, seeded_index
from factdrift.reasoning.as_of.histories import History, Pair
from factdrift.reasoning.as_of.judgments import FRESH, judge
from factdrift.reasoning.as_of.rows import CertainStretch, PassageFact, QuestionKind
from factdrift.reasoning.as_of.wordings import AskedRelation, Words
from factdrift.reasoning.names import Verbalizer
from factdrift.reasoning.states import INTERIM

_FACTS_PER_HISTORY = 16
"""Statements of a history around which days are drawn: a guess that gives every kind its chance."""
_LATER_DAYS = 400
"""Days within which the day of asking lies after a newer statement or after the day asked about: a
bit over a year, a guess."""
_AROUND = 200
"""Days around a change: from a window's first day to the end of the earlier term, and from the
beginning of the later one to a passage that names it. A guess: windows are a year long at most."""
_PATHS = 3
"""First hops to one history: more would ask the same in other words."""
_DAY = timedelta(1)


class Hop(NamedTuple):
    """A history on the way to the answer, and its stretch on the day asked about."""

    history: History
    stretch: CertainStretch


@dataclass(frozen=True, slots=True)
class AskableDraft:
    """A question that may be asked; `hops` end with the history that has the answer."""

    kind: QuestionKind
    hops: tuple[Hop, ...]
    as_of: date
    asked_on: date
    question: str

    @property
    def history(self) -> History:
        """The history that has the answer."""
        return self.hops[-1].history

    @property
    def stretch(self) -> CertainStretch:
        """The stretch that has the answer."""
        return self.hops[-1].stretch


class AskableDrafts:
    """Makes the drafts of histories.

    `relations`: the words of each relation; `first` and `last`: the days that may be asked about.
    """

    def __init__(
        self,
        histories: Mapping[Pair, History],
        names: Verbalizer,
        relations: Mapping[str, AskedRelation],
        first: date,
        last: date,
        seed: int,
    ) -> None:
        self._histories, self._names, self._relations = histories, names, relations
        self._first, self._last, self._seed = first, last, seed
        self._by_object = self._histories_by_object()
        fact_days = [fact.day for history in histories.values() for fact in history.facts]
        self._last_stated = max(fact_days, default=first)

    def __iter__(self) -> Iterator[AskableDraft]:
        """All drafts, history by history."""
        for history in self._histories.values():
            for fact in self._drawn_facts(history):
                yield from self._of_states(history, fact)
                yield from self._of_change(history, fact)
                yield from self._of_predecessor(history, fact)
                yield from self._of_two_hops(history, fact)
            yield from self._of_silence(history)

    def _histories_by_object(self) -> dict[str, list[History]]:
        by_object: dict[str, list[History]] = {}
        for history in self._histories.values():
            if self._relations[history.relation].phrases.noun:
                for object_id in sorted({term.object for term in history.terms}):
                    by_object.setdefault(object_id, []).append(history)
        return by_object

    def _drawn_facts(self, history: History) -> Sequence[PassageFact]:
        """Some statements of a history: of each term one, before any has a second."""
        in_drawn_order = sorted(
            history.facts, key=lambda fact: seeded_hash(self._seed, "fact", fact.passage)
        )
        turns: dict[tuple[str, ...], int] = {}
        numbered: list[tuple[int, int]] = []
        for index, fact in enumerate(in_drawn_order):
            turns[fact.statements] = turns.get(fact.statements, -1) + 1
            numbered.append((turns[fact.statements], index))
        return [in_drawn_order[index] for _, index in sorted(numbered)[:_FACTS_PER_HISTORY]]

    def _index(self, count: int, *names: object) -> int:
        return seeded_index(count, self._seed, *names)

    def _later(self, day: date, *names: object) -> date:
        """A day from this one on, within a year and a bit, and by the last day that is asked about.

        A page may be of a day after that; then it is asked on the day of the page.
        """
        days_left = max(0, min(_LATER_DAYS, (self._last - day).days))
        return day + self._index(days_left + 1, *names) * _DAY

    def _words(self, history: History, stretch: CertainStretch, *names: object) -> Words:
        """The words for what held in a stretch of a history, drawn by some names."""
        return Words(
            self._relations[history.relation],
            self._names.name(history.subject),
            seeded_hash(self._seed, "words", history.key, *names) >> 8,
            history.relation_word(stretch.objects),
        )

    def _may_ask(self, day: date) -> bool:
        return self._first <= day <= self._last

    # --- States -----------------------------------------------------------------------------------

    def _of_states(self, history: History, fact: PassageFact) -> Iterator[AskableDraft]:
        """Ask what held on days around those that a passage states."""
        for as_of in self._days_of(history, fact):
            stretch = history.stretch_on(as_of)
            if stretch is None or fact.object not in stretch.objects or not self._may_ask(as_of):
                continue
            if history.is_handover(stretch):
                continue
            for asked_on in self._asking_days(history, stretch, fact, as_of):
                yield self._state(history, stretch, as_of, asked_on)

    def _days_of(self, history: History, fact: PassageFact) -> Iterator[date]:
        """Days around a statement: within a month after it, long after it, and before it.

        Who is told that something began takes it to go on until he hears of an end, so that days
        long after a beginning are asked about as well as those after a state that is reported.
        """
        told_day = fact.day if fact.is_current else None if fact.stated_until else fact.stated_from
        if told_day is not None:
            told_day = history.after_handover(told_day)
            stretch = history.stretch_on(told_day)
            days_left = (stretch.last - told_day).days if stretch else 0
            yield (
                told_day + self._index(min(days_left, FRESH.days) + 1, "near", fact.passage) * _DAY
            )
            if days_left > FRESH.days:
                later_days = min(days_left - FRESH.days, _LATER_DAYS)
                drawn_days = self._index(later_days, "far", fact.passage)
                yield told_day + FRESH + (1 + drawn_days) * _DAY
        last_day = fact.stated_until or (fact.day if fact.is_current else None)
        if fact.stated_from and last_day:
            drawn_days = self._index((last_day - fact.stated_from).days + 1, "old", fact.passage)
            yield fact.stated_from + drawn_days * _DAY

    def _asking_days(
        self, history: History, stretch: CertainStretch, fact: PassageFact, as_of: date
    ) -> Iterator[date]:
        """Days of asking: early, or later without newer facts, and after a newer one."""
        earliest = max(as_of, fact.day)
        is_early = self._index(2, "early", fact.passage, as_of)
        yield earliest if is_early else self._later(earliest, "asked", fact.passage, as_of)
        newer_days: list[date] = []
        for other_fact in history.facts:
            is_newer = other_fact.object not in stretch.objects and other_fact.since > as_of
            if is_newer and earliest <= other_fact.day:
                newer_days.append(other_fact.day)
        if newer_days:
            newer_day = newer_days[self._index(len(newer_days), "newer", fact.passage, as_of)]
            yield self._later(newer_day, "after", fact.passage, as_of)

    def _state(
        self,
        history: History,
        stretch: CertainStretch,
        as_of: date,
        asked_on: date,
        kind: QuestionKind | None = None,
    ) -> AskableDraft:
        """Ask what held on a day, in its month, or what holds now."""
        words = self._words(history, stretch, as_of, asked_on)
        month = Period.of(as_of, "month")
        is_whole_month = stretch.first <= month.first and month.last <= stretch.last
        question_text = words.now(as_of) if asked_on == as_of else None
        if question_text is None and is_whole_month and month.last <= asked_on and words.choice % 3:
            as_of = month.last
            question_text = words.in_month(as_of)
        if kind is None:
            is_superseded = history.is_superseded(stretch, as_of, asked_on)
            kind = "older" if is_superseded else "newest"
        hops = (Hop(history, stretch),)
        return AskableDraft(kind, hops, as_of, asked_on, question_text or words.on_day(as_of))

    # --- Changes ----------------------------------------------------------------------------------

    def _of_change(self, history: History, fact: PassageFact) -> Iterator[AskableDraft]:
        """Ask who came into a state that a passage says began, or that holds soon afterwards."""
        term = _term_of(history, fact)
        if term is None or term.start_first is None or term.start_last is None:
            return
        tells_beginning = fact.is_change or fact.stated_from is not None
        near_days = self._index(FRESH.days + 1, "changed", fact.passage) * _DAY
        as_of = history.after_handover(term.start_last) if tells_beginning else fact.day + near_days
        stretch = history.stretch_on(as_of)
        if stretch is None or stretch.objects != (fact.object,) or not self._may_ask(as_of):
            return
        asked_on = self._later(max(as_of, fact.day), "change", fact.passage)
        words = self._words(history, stretch, "change", fact.passage)
        if not tells_beginning and as_of - term.start_last > _AROUND * _DAY:
            return  # a passage long afterwards does not tell who came when
        wordings: list[str] = []
        if tells_beginning:
            wordings += self._ways_to_ask_beginning(history, stretch, term, asked_on, words)
        wordings += self._between_two_days(history, term, as_of, words)
        if wordings:
            question_text = wordings[self._index(len(wordings), "way", fact.passage)]
            yield AskableDraft("change", (Hop(history, stretch),), as_of, asked_on, question_text)

    def _ways_to_ask_beginning(
        self,
        history: History,
        stretch: CertainStretch,
        term: rows.Segment,
        asked_on: date,
        words: Words,
    ) -> Iterator[str]:
        """The questions for a beginning that a passage tells: by its month, and by who was before.

        `stretch`: the one that begins with the term.
        """
        assert term.start_last is not None, "others are not asked about"
        month = Period.of(term.start_last, "month")
        in_month = words.became_in_month(term.start_last)
        is_whole = month.last <= min(asked_on, stretch.last)
        if in_month and is_whole and history.began_alone(term.object, month.first, month.last):
            yield in_month
        earlier = _one_before(history, term)
        if earlier is not None and history.term_count(earlier.objects[0]) == 1:
            after = words.became_after(self._names.entities[earlier.objects[0]].label)
            if after:
                yield after

    def _between_two_days(
        self, history: History, term: rows.Segment, as_of: date, words: Words
    ) -> Iterator[str]:
        """The question for a beginning by a day of the term before and the day asked about."""
        earlier = _one_before(history, term)
        if earlier is None:
            return
        drawn_days = self._index(_AROUND, "between", history.key, as_of)
        first_day = max(earlier.first, earlier.last - drawn_days * _DAY)
        between = words.became_between(first_day, as_of)
        if between and history.began_alone(term.object, first_day + _DAY, as_of):
            yield between

    def _of_predecessor(self, history: History, fact: PassageFact) -> Iterator[AskableDraft]:
        """Ask who held before the successor of an object that a passage states."""
        stated_day = history.after_handover(fact.day if fact.is_current else fact.since)
        stretch = history.stretch_on(stated_day)
        successor = history.successor(stretch) if stretch else None
        if stretch is None or successor is None or fact.object not in stretch.objects:
            return
        (successor_object,) = successor.objects
        as_of = history.last_day_of(stretch)
        if history.term_count(successor_object) != 1 or not self._may_ask(as_of):
            return
        words = self._words(history, stretch, "before", successor_object)
        question_text = words.before(self._names.entities[successor_object].label)
        earliest = max(successor.first, fact.day)
        if question_text:
            asked_on = self._later(earliest, "before", fact.passage)
            hops = (Hop(history, stretch),)
            yield AskableDraft("before", hops, as_of, asked_on, question_text)

    # --- Two hops ---------------------------------------------------------------------------------

    def _of_two_hops(self, history: History, fact: PassageFact) -> Iterator[AskableDraft]:
        """Ask for the object through a history that leads to the subject.

        The office of somebody who is named by what he leads is in the question: the office of the
        head of state of Italy.
        """
        if self._relations[history.relation].phrases.object_is == "office":
            return
        paths = sorted(
            self._by_object.get(history.subject, ()),
            key=lambda path: seeded_hash(self._seed, "path", path.key, fact.passage),
        )
        path_count = 0
        for path in paths:
            for as_of in self._days_of(history, fact):
                draft = self._path_draft(path, history, fact, as_of)
                if draft is not None:
                    yield draft
                    path_count += 1
                    break
            if path_count >= _PATHS:
                return

    def _path_draft(
        self, path: History, history: History, fact: PassageFact, as_of: date
    ) -> AskableDraft | None:
        """The question through a path on a day, if passages state both hops by then or later."""
        stretch, path_stretch = history.stretch_on(as_of), path.stretch_on(as_of)
        if stretch is None or path_stretch is None or not self._may_ask(as_of):
            return None
        is_sure = path_stretch.objects == (history.subject,) and fact.object in stretch.objects
        proofs = [
            path_fact.day
            for path_fact in path.facts
            if judge(path_fact, path_stretch.objects, path_stretch.statements, as_of)
            in ("proves", "supports")
        ]
        if not is_sure or not proofs:
            return None
        earliest = max(as_of, fact.day, min(proofs))
        asked_on = self._later(earliest, "hops", fact.passage, path.key)
        noun = self._relations[path.relation].phrases.noun
        assert noun is not None, "histories without it are no paths"
        words = self._words(history, stretch, path.key, as_of)
        path_name = self._names.fill_wording("noun", path.relation, self._names.name(path.subject))
        question_text = words._replace(subject_name=path_name).on_day(as_of)
        hops = (Hop(path, path_stretch), Hop(history, stretch))
        return AskableDraft("two-hops", hops, as_of, asked_on, question_text)

    # --- Silence ----------------------------------------------------------------------------------

    def _of_silence(self, history: History) -> Iterator[AskableDraft]:
        """Ask about days of terms that no passage has stated by the day of asking.

        Nor may one have stated another term that may go on for all that was published: whoever
        heard of it gives it as the answer, and no text says that it is none.
        """
        for stretch in history.stretches:
            first_day = max(stretch.first, self._first)
            # That nothing is said after the end of the whole corpus would be no finding.
            end = min(self._last, self._last_stated)
            last_day = min(stretch.last, end, first_day + _LATER_DAYS * _DAY)
            if history.is_handover(stretch):
                continue
            if first_day > last_day:
                continue
            days = (last_day - first_day).days + 1
            as_of = first_day + self._index(days, "silent", history.key, stretch.first) * _DAY
            later = self._later(as_of, "silence", history.key, stretch.first)
            for asked_on in (as_of, later):
                known_facts = history.facts_until(asked_on)
                is_stated = any(fact.object in stretch.objects for fact in known_facts)
                if not is_stated and not _may_go_on(known_facts, as_of):
                    yield self._state(history, stretch, as_of, asked_on, "abstain")


def _one_before(history: History, term: rows.Segment) -> CertainStretch | None:
    """The stretch of one other object that ends where a term begins, if it is known."""
    if term.start_first is None:
        return None
    earlier = history.stretch_before(term.start_first, INTERIM)
    if earlier is None or len(earlier.objects) != 1 or term.object in earlier.objects:
        return None
    return earlier


def _may_go_on(facts: Iterable[PassageFact], day: date) -> bool:
    """Whether what began last by a day, for all that these facts say, may hold on that day."""
    begun_facts = [fact for fact in facts if fact.since <= day]
    if not begun_facts:
        return False
    newest_start = max(fact.since for fact in begun_facts)
    return any(
        fact.since == newest_start and (fact.stated_until is None or fact.stated_until >= day)
        for fact in begun_facts
    )


def _term_of(history: History, fact: PassageFact) -> rows.Segment | None:
    """The term that a statement is about."""
    for term in history.terms:
        if term.object == fact.object and set(fact.statements) & set(term.statements):
            return term
    return None
