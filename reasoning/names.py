"""The names of items, the phrases of relations with names in them, and dates in words."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from factdrift.builders import rows
from factdrift.builders.facts.relations import Phrases
from factdrift.builders.text.dates import MONTHS
from factdrift.builders.text.prompts import targets
from factdrift.builders.text.render import phrase


@dataclass(frozen=True)
class Verbalizer:
    """Entities by item id, and phrases by property id."""

    entities: Mapping[str, rows.Entity]
    phrases: Mapping[str, Phrases]

    def name(self, item: str) -> str:
        """The label of an item."""
        return self.entities[item].label

    def accepted(self, items: Iterable[str]) -> tuple[str, ...]:
        """All names of items, labels before aliases."""
        every = [self.entities[item] for item in items]
        return targets([one.label for one in every], *(one.aliases for one in every))

    def phrase(self, kind: str, relation: str, subject: str, thing: str = "") -> str:
        """A phrase of a relation with names."""
        return phrase(getattr(self.phrases[relation], kind), subject, thing)

    def ask(self, relation: str, subject: str) -> str:
        """`Who was the head coach of Liverpool`: the question of a relation as a beginning."""
        return capital(self.phrase("ask", relation, subject))

    def sentence(self, term: rows.Segment) -> str:
        """A fact with its dates, at the precision that they have."""
        was = self.phrase("was", term.relation, self.name(term.subject), self.name(term.object))
        start = written(term.start_first, term.start_last) or "an unknown day"
        end = "now" if term.end_open else written(term.end_first, term.end_last) or "an unknown day"
        return f"{capital(was)} (from {start} to {end})."


def capital(text: str) -> str:
    """A text with a capital in front."""
    return text[0].upper() + text[1:]


def day_in_words(day: date) -> str:
    """`30 June 2023`."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def written(first: date | None, last: date | None) -> str:
    """A boundary at its precision; empty where nothing is known of it."""
    if first is None or last is None:
        known = first or last
        side = "at the earliest" if first else "at the latest"
        return f"{day_in_words(known)} {side}" if known else ""
    if first == last:
        return day_in_words(first)
    ends_month = last == date.max or (last + timedelta(days=1)).day == 1
    if first.day == 1 and ends_month and first.year == last.year:
        if (first.month, last.month) == (1, 12):
            return str(first.year)
        if first.month == last.month:
            return f"{MONTHS[first.month - 1]} {first.year}"
    return f"a day between {day_in_words(first)} and {day_in_words(last)}"
