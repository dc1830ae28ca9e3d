"""The names of items, the phrases of relations with names in them, and dates in words."""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import NamedTuple

from factdrift.builders import rows
from factdrift.builders.core.dates import Granularity, Period
from factdrift.builders.facts.relations import RelationWording
from factdrift.builders.text.dates import format_date
from factdrift.builders.text.prompts import merge_targets
from factdrift.builders.text.render import phrase
from factdrift.reasoning.rows import QuestionCandidate

_NUMBERS = ("", "one year", "two years", "three years", "four years", "five years")


class Verbalizer(NamedTuple):
    """Entities by item id, and phrases by property id."""

    entities: Mapping[str, rows.Entity]
    phrases: Mapping[str, RelationWording]

    def name(self, item: str) -> str:
        """The label of an item."""
        return self.entities[item].label

    def accepted(self, items: Iterable[str]) -> tuple[str, ...]:
        """All names of items, labels before aliases."""
        entities = [self.entities[item] for item in items]
        return merge_targets(
            [entity.label for entity in entities], *(entity.aliases for entity in entities)
        )

    def fill_wording(self, kind: str, relation: str, subject: str, thing: str = "") -> str:
        """A phrase of a relation with names."""
        return phrase(getattr(self.phrases[relation], kind), subject, thing)

    def sentence(self, term: rows.Segment) -> str:
        """A fact with its dates, at the precision that they have."""
        was = self.fill_wording(
            "was", term.relation, self.name(term.subject), self.name(term.object)
        )
        start = boundary(term.start_first, term.start_last) or "an unknown day"
        end = "now" if term.end_open else boundary(term.end_first, term.end_last)
        return f"{_capital(was)} (from {start} to {end or 'an unknown day'})."

    def question(self, template: str, row: QuestionCandidate) -> str:
        """A template with the words of a candidate in its places.

        `{was 1 2 3}` is the phrase `was` of its relation 1 with its items 2 and 3 (`{Was` begins
        a sentence), `{name 2}` a name, `{day}` the day; `{path}` asks a chain of relations,
        `{offset}` is `three years before`, `{months}` `January 2010 to December 2014`, `{year}` the
        year in which it began.
        """
        return template.format_map(_Places(self, row))


class _Places:
    """What the places of a template hold."""

    def __init__(self, names: Verbalizer, row: QuestionCandidate) -> None:
        self._names, self._row = names, row
        self._items = [names.name(item) for item in row.items]

    def __getitem__(self, place: str) -> str:
        kind, *numbers = place.lower().split()
        if not numbers:
            text = str(getattr(self, f"_{kind}")())
        elif kind == "name":
            text = self._items[int(numbers[0])]
        else:
            relation, *items = map(int, numbers)
            text = self._phrase(kind, relation, *items)
        return _capital(text) if place[0].isupper() else text

    def _phrase(self, kind: str, relation: int, *items: int) -> str:
        item_labels = [self._items[number] for number in items]
        return self._names.fill_wording(kind, self._row.relations[relation], *item_labels)

    def _day(self) -> str:
        return format_date(self._row.as_of)

    def _year(self) -> str:
        return format_date(self._row.since or self._row.as_of, "year")

    def _months(self) -> str:
        days = self._row.since or self._row.as_of, self._row.as_of
        return " to ".join(format_date(day, "month") for day in days)

    def _offset(self) -> str:
        number = self._row.number or 0
        return f"{_NUMBERS[abs(number)]} {'before' if number < 0 else 'after'}"

    def _path(self) -> str:
        path_text, row = self._items[0], self._row
        for relation in row.relations[:-1]:
            path_text = self._names.fill_wording("noun", relation, path_text)
        return self._names.fill_wording("ask", row.relations[-1], path_text)


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def boundary(first: date | None, last: date | None) -> str:
    """A boundary at its precision; empty where nothing is known of it."""
    if first is None or last is None:
        known_day = first or last
        side = "at the earliest" if first else "at the latest"
        return f"{format_date(known_day)} {side}" if known_day else ""
    if first == last:
        return format_date(first)
    forms: tuple[Granularity, ...] = "year", "month"
    for form in forms:
        period = Period.of(first, form)
        if (first, last) == (period.first, period.last):
            return format_date(first, form)
    return f"a day between {format_date(first)} and {format_date(last)}"
