"""Put facts and questions into words: names of items, phrases of relations, dates."""

import re
from collections.abc import Iterable, Mapping
from datetime import date
from types import MappingProxyType
from typing import NamedTuple, Protocol

from factdrift.builders import rows
from factdrift.builders.core.dates import Granularity, Period
from factdrift.builders.facts.namesakes import may_mean_others
from factdrift.builders.facts.relations import RelationWording
from factdrift.builders.text.dates import format_date
from factdrift.builders.text.prompts import merge_targets
from factdrift.builders.text.render import phrase
from factdrift.reasoning.clauses import (
    Clause,
    all_holders,
    ask_after_event,
    event_of_join,
    have_one_state,
    second_event,
    second_state,
    states_of_both,
)
from factdrift.reasoning.rows import QuestionCandidate

_DISTANCES = {
    6: "six months",
    12: "one year",
    18: "eighteen months",
    24: "two years",
    36: "three years",
    48: "four years",
}
"""The distances of offsets in words, by their number of months."""

_PRECISIONS: tuple[Granularity, ...] = ("year", "month")
# It matches `..` in `F.C.. In`, but not `...`.
_TWO_STOPS = re.compile(r"(?<!\.)\.\.(?!\.)")
# Phrases that begin with a question word or an auxiliary, so that no name loses its capital.
_QUESTIONS = ("did", "long", "count")


class Verbalizer(NamedTuple):
    """Writes facts and questions, with entities by item id and phrases by property id.

    `namesakes` are the subjects whose name others have, and `titles` the names of those offices
    that a sentence calls by another one than the source.
    """

    entities: Mapping[str, rows.Entity]
    phrases: Mapping[str, RelationWording]
    namesakes: Mapping[str, rows.Namesake] = MappingProxyType({})
    titles: Mapping[str, str] = MappingProxyType({})

    def name(self, item_id: str) -> str:
        """Return the label of an item, with what tells it from others of that name."""
        if item_id in self.titles:
            return self.titles[item_id]
        namesake = self.namesakes.get(item_id)
        return namesake.name if namesake and namesake.name else self.entities[item_id].label

    def accepted_names(self, item_ids: Iterable[str]) -> tuple[str, ...]:
        """Return all names of items: what a text calls an office, labels, then aliases."""
        item_ids = list(item_ids)
        all_entities = [self.entities[item_id] for item_id in item_ids]
        return merge_targets(
            [self.titles.get(entity.id, entity.label) for entity in all_entities],
            [entity.label for entity in all_entities],
            map(self.name, item_ids),
            *(entity.aliases for entity in all_entities),
        )

    def may_mean_others(self, item_ids: Iterable[str], answer_ids: Iterable[str]) -> bool:
        """Return whether the name of a subject that a question speaks of has other bearers.

        An object is named beside its subject, which tells the party of a politician from others of
        its name. What tells an item from them must not give an answer away.
        """
        answers: list[rows.Answer] = []
        for answer_id in answer_ids:
            entity = self.entities[answer_id]
            answers.append(rows.Answer(entity.id, entity.label, entity.aliases))
        return any(may_mean_others(self.namesakes.get(item_id), answers) for item_id in item_ids)

    def fill_wording(
        self, phrase_name: str, relation: str, subject_name: str, object_name: str = ""
    ) -> str:
        """Return a phrase of a relation with the names of its subject and object."""
        return phrase(getattr(self.phrases[relation], phrase_name), subject_name, object_name)

    def sentence(self, term: rows.Segment) -> str:
        """Return a fact as a sentence with its dates, at the precision that they have."""
        fact_phrase = self.fill_wording(
            "was", term.relation, self.name(term.subject), self.name(term.object)
        )
        return f"{_capital(fact_phrase)} ({term_dates(term)})."

    def question(self, template: str, row: QuestionCandidate) -> str:
        """Fill the places of a template with the words of a candidate.

        - `{was 1 2 3}` is the phrase `was` of relation 1 with items 2 and 3; `{Was 1 2 3}` begins a
          sentence. Phrases that are whole questions begin with a small letter within one: `{did 0
          0 1}` is `did Ana Lu become …`.
        - `{name 2}` is the name of item 2.
        - `{day}` is the day asked about.
        - `{path}` asks through a chain of relations.
        - `{offset}` is a distance such as `three years before`.
        - `{months}` is a window such as `January 2010 to December 2014`.
        - `{year}` is the year in which the term began.
        - `{who 0 0}` asks for everybody whom `{count 0 0}` counts.
        - `{compared}` is the event of the last two items, after the event of the first two.
        - `{joined}` is the time of the event at which something else is asked, after that; and
          `{joined_first}` is the same before `{ask_joined}`.
        - `{state_and_state}` and `{state_while_state}` are the states of four items.
        """
        # A name may bring its own full stop: "… Reds F.C.. In which year was that?"
        return _TWO_STOPS.sub(".", template.format_map(_Places(self, row)))


class _Places:
    """Computes the words for the places of a template (for `str.format_map`)."""

    def __init__(self, names: Verbalizer, row: QuestionCandidate) -> None:
        self._names, self._row = names, row
        self._items = [names.name(item) for item in row.items]

    def __getitem__(self, place: str) -> str:
        place_kind, *numbers = place.lower().split()
        if not numbers:
            text = str(getattr(self, f"_{place_kind}")())
        elif place_kind == "name":
            text = self._items[int(numbers[0])]
        else:
            relation_number, *item_numbers = map(int, numbers)
            text = self._phrase(place_kind, relation_number, *item_numbers)
            if place_kind in _QUESTIONS:
                text = text[0].lower() + text[1:]
        return _capital(text) if place[0].isupper() else text

    def _phrase(self, phrase_name: str, relation_number: int, *item_numbers: int) -> str:
        item_names = [self._items[item_number] for item_number in item_numbers]
        if phrase_name == "who":
            wording = self._names.phrases[self._row.relations[relation_number]]
            return phrase(all_holders(wording), item_names[0])
        return self._names.fill_wording(
            phrase_name, self._row.relations[relation_number], *item_names
        )

    def _day(self) -> str:
        return format_date(self._row.as_of)

    def _year(self) -> str:
        return format_date(self._row.since or self._row.as_of, "year")

    def _months(self) -> str:
        month_days = self._row.since or self._row.as_of, self._row.as_of
        return " to ".join(format_date(day, "month") for day in month_days)

    def _offset(self) -> str:
        month_count = self._row.number or 0
        return f"{_DISTANCES[abs(month_count)]} {'before' if month_count < 0 else 'after'}"

    def _path(self) -> str:
        path_text, row = self._items[0], self._row
        for relation in row.relations[:-1]:
            path_text = self._names.fill_wording("noun", relation, path_text)
        return self._names.fill_wording("ask", row.relations[-1], path_text)

    def _compared(self) -> str:
        return self._filled(second_event(self._clause(0, 0, 1), self._clause(1, 2, 3)), 2, 3)

    def _joined(self) -> str:
        return self._at_event(is_first=False)

    def _joined_first(self) -> str:
        return self._at_event(is_first=True)

    def _at_event(self, *, is_first: bool) -> str:
        """Return `when Ana Lu joined Reds F.C.`, or `on joining Reds F.C.` where it is she."""
        event_text = event_of_join(*self._joined_clauses(), is_first=is_first)
        has_agent = event_text != self._joined_clauses()[1].wording.becoming
        return f"{'when' if has_agent else 'on'} {self._filled(event_text, 1, 2)}"

    def _ask_joined(self) -> str:
        return self._filled(ask_after_event(*self._joined_clauses()), 0)

    def _joined_clauses(self) -> tuple[Clause, Clause]:
        asked_wording = self._names.phrases[self._row.relations[0]]
        return Clause(asked_wording, self._row.items[0], None), self._clause(1, 1, 2)

    def _state_and_state(self) -> str:
        return self._states("and")

    def _state_while_state(self) -> str:
        return self._states("while")

    def _states(self, joining_word: str) -> str:
        first, second = self._clause(0, 0, 1), self._clause(1, 2, 3)
        if have_one_state(first, second):
            names = list(self._items[:2])
            place = 0 if first.agent_role == "subject" else 1
            names[place] = f"{self._items[place]} and {self._items[place + 2]} both"
            return self._names.fill_wording("was", self._row.relations[0], *names)
        if both_states := states_of_both(first, second):
            first_state, second_state_text = both_states
            return f"{self._filled(first_state, 0, 1)} and {self._filled(second_state_text, 2, 3)}"
        second_text, needs_and = second_state(first, second)
        states = self._phrase("was", 0, 0, 1), self._filled(second_text, 2, 3)
        return f" {'and' if needs_and else joining_word} ".join(states)

    def _clause(self, relation_number: int, subject_number: int, object_number: int) -> Clause:
        row = self._row
        return Clause(
            self._names.phrases[row.relations[relation_number]],
            row.items[subject_number],
            row.items[object_number],
        )

    def _filled(self, template: str, subject_number: int, object_number: int = 0) -> str:
        if "<" not in template:  # a pronoun stands for all that it named
            return template
        return phrase(template, self._items[subject_number], self._items[object_number])


class DatedTerm(Protocol):
    """A term with the days on which it may have begun and ended."""

    @property
    def start_first(self) -> date | None:
        """The first day on which it may have begun."""

    @property
    def start_last(self) -> date | None:
        """The last day on which it may have begun."""

    @property
    def end_first(self) -> date | None:
        """The first day on which it may have ended."""

    @property
    def end_last(self) -> date | None:
        """The last day on which it may have ended."""

    @property
    def end_open(self) -> bool:
        """Whether no end is stated."""


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def term_dates(term: DatedTerm) -> str:
    """Return the dates of a term in words: `from 2012 to 5 May 2015`, `until 2018`.

    A boundary that reaches up to the other one was cut there, as nothing ends before it begins, so
    that it is told as the source has it: `from 2023 to May 2023`.
    """
    start_days, end_days = (term.start_first, term.start_last), (term.end_first, term.end_last)
    if term.end_open:
        return f"from {boundary(*start_days) or 'an unknown day'} to now"
    if start_days[1] is not None and start_days == (None, end_days[1]):
        return f"until {boundary(*end_days)}"
    if end_days[0] is not None and end_days == (start_days[0], None):
        return f"from {boundary(*start_days)}"
    if start_days[1] == end_days[1]:
        start_days = _uncut(start_days)
    if start_days[0] == end_days[0]:
        end_days = _uncut(end_days)
    start_text, end_text = (
        boundary(*possible_days) or "an unknown day" for possible_days in (start_days, end_days)
    )
    return f"from {start_text} to {end_text}"


def _uncut(days: tuple[date | None, date | None]) -> tuple[date | None, date | None]:
    """Return the year or month that begins or ends as some days of it do; else the days."""
    first, last = days
    if first is None or last is None or first == last:
        return days
    for precision in _PRECISIONS:
        period = Period.of(first, precision)
        if last <= period.last and (first == period.first or last == period.last):
            return period.first, period.last
    return days


def boundary(first: date | None, last: date | None) -> str:
    """Return a boundary in words at its precision, or an empty text if nothing is known of it."""
    if first is None or last is None:
        known_day = first or last
        side = "at the earliest" if first else "at the latest"
        return f"{format_date(known_day)} {side}" if known_day else ""
    if first == last:
        return format_date(first)
    for precision in _PRECISIONS:
        period = Period.of(first, precision)
        if (first, last) == (period.first, period.last):
            return format_date(first, precision)
    return f"a day between {format_date(first)} and {format_date(last)}"
