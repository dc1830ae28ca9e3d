"""Answer questions over several facts by walking over days.

Independent of the builder: it reads segments and gaps as plain rows, draws a day for every partial
date, and works the answer out with Python's dates. It shares no code with `reasoning`.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from itertools import pairwise
from typing import Any, Literal, NamedTuple

Row = Mapping[str, Any]
Reading = Literal["earliest", "latest", "long", "short", "random"]
DAY = timedelta(days=1)
MARGIN = timedelta(days=31)
EVER = (date(1, 1, 2), date(9998, 12, 30))


class Held(NamedTuple):
    """An object with its first and last day, under one reading."""

    subject: str
    relation: str
    object: str
    first: date
    last: date
    closed: bool


class World:
    """Everything that holds under one reading of all dates.

    `earliest`, `latest`: every date at the beginning or the end of what is possible; `long`,
    `short`: terms as long or as short as can be; `random`: days drawn by `seed`. What is only
    possible (rivals, gaps) is there under `long` and `latest` and, drawn, under `random`.
    """

    def __init__(
        self, segments: Iterable[Row], gaps: Iterable[Row], reading: Reading, seed: int = 0
    ) -> None:
        generator = random.Random(seed)
        self.held: dict[tuple[str, str], list[Held]] = {}
        for sure, rows in ((True, segments), (False, gaps)):
            for row in rows:
                doubtful = not sure or row.get("rival", False)
                is_there = reading in ("long", "latest") or (
                    reading == "random" and generator.random() < 0.5
                )
                if row["object"] is None or (doubtful and not is_there):
                    continue
                first_day = self._day(row["start_first"], row["start_last"], reading, 0, generator)
                last_day = self._day(row["end_first"], row["end_last"], reading, 1, generator)
                if first_day > last_day:  # of two dates that overlap one gives way
                    first_day, last_day = last_day, first_day
                term = Held(
                    row["subject"],
                    row["relation"],
                    row["object"],
                    first_day,
                    last_day,
                    not row["end_open"] and not row.get("end_inferred", False),
                )
                self.held.setdefault(term[:2], []).append(term)

    @staticmethod
    def _day(
        low: date | None, high: date | None, reading: Reading, side: int, generator: random.Random
    ) -> date:
        low, high = max(low or EVER[0], EVER[0]), min(high or EVER[1], EVER[1])
        if reading == "random":
            return low + timedelta(days=generator.randint(0, max((high - low).days, 0)))
        uses_latest = {"earliest": (0, 0), "latest": (1, 1), "long": (0, 1), "short": (1, 0)}[
            reading
        ]
        return high if uses_latest[side] else low

    def on(self, subject: str, relation: str, day: date) -> set[str]:
        """The objects on a day."""
        all_terms = self.held.get((subject, relation), [])
        return {term.object for term in all_terms if term.first <= day <= term.last}

    def only(self, subject: str, relation: str, object_id: str) -> Held:
        """The one term of an object."""
        all_terms = self.held.get((subject, relation), [])
        (only_term,) = [term for term in all_terms if term.object == object_id]
        return only_term

    def answer(self, row: Row) -> set[str]:
        """The answers of a candidate in this world: items, or yes, no or a number."""
        return {str(answer) for answer in getattr(self, f"_{row['family']}")(row)}

    def _chain(self, row: Row) -> set[str]:
        items = {row["items"][0]}
        for relation in row["relations"]:
            items = {
                next_item for item in items for next_item in self.on(item, relation, row["as_of"])
            }
        return items

    def _join(self, row: Row) -> set[str]:
        asked_subject, subject, event_object = row["items"]
        day = self.only(subject, row["relations"][1], event_object).first
        return self.on(asked_subject, row["relations"][0], day)

    def _offset(self, row: Row) -> set[str]:
        subject, event_object = row["items"]
        day = self.only(subject, row["relations"][0], event_object).first
        months = day.year * 12 + day.month - 1 + row["number"]
        year, month = months // 12, months % 12 + 1
        after = date(year + month // 12, month % 12 + 1, 1)
        moved = date(year, month, min(day.day, (after - DAY).day))
        return self.on(subject, row["relations"][0], moved)

    def _neighbour(self, row: Row) -> set[str]:
        subject, given_object = row["items"]
        all_terms = sorted(self.held[subject, row["relations"][0]], key=lambda term: term.first)
        place = [term.object for term in all_terms].index(given_object)
        neighbour = all_terms[place + (-1 if row["wording"] == "before" else 1)]
        assert len({term.first for term in all_terms}) == len(all_terms), "two began on one day"
        return {neighbour.object}

    def _order(self, row: Row) -> set[str]:
        first_term, second_term = self._two(row)
        assert abs(first_term.first - second_term.first) >= MARGIN
        is_earlier = first_term.first < second_term.first
        return {"yes" if is_earlier == (row["wording"] == "before") else "no"}

    def _overlap(self, row: Row) -> set[str]:
        first_term, second_term = self._two(row)
        days = min(first_term.last, second_term.last) - max(first_term.first, second_term.first)
        assert abs(days) >= MARGIN
        return {"yes" if days >= timedelta(0) else "no"}

    def _two(self, row: Row) -> tuple[Held, Held]:
        first_subject, first_object, second_subject, second_object = row["items"]
        first_relation, second_relation = row["relations"]
        return self.only(first_subject, first_relation, first_object), self.only(
            second_subject, second_relation, second_object
        )

    def _duration(self, row: Row) -> set[str]:
        (relation,) = row["relations"]
        subject, *objects = row["items"]
        terms = [self.only(subject, relation, object_id) for object_id in objects]
        assert all(term.closed for term in terms)
        if row["wording"] == "years":
            return {
                str(years)
                for years in (
                    _years(*terms[0][3:5]),
                    _years(terms[0].first, terms[0].last + DAY),
                    _years(terms[0].first + DAY, terms[0].last - DAY),
                )
            }
        first_term, second_term = terms
        lengths = first_term.last - first_term.first, second_term.last - second_term.first
        assert abs(lengths[0] - lengths[1]) >= max(MARGIN, max(lengths) / 10)
        return {first_term.object if lengths[0] > lengths[1] else second_term.object}

    def _count(self, row: Row) -> set[str]:
        low, high = row["since"], row["as_of"]
        all_terms = self.held[row["items"][0], row["relations"][0]]
        return {
            str(len({term.object for term in all_terms if term.first <= high and term.last >= low}))
        }

    def _when(self, row: Row) -> set[str]:
        subject, event_object = row["items"]
        day = self.only(subject, row["relations"][0], event_object).first
        assert row["since"] <= day <= row["as_of"]
        parts = {"day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}
        return {day.strftime(parts[row["wording"]])} if row["wording"] in parts else {"range"}

    def _ranking(self, row: Row) -> set[str]:
        subject, *objects = row["items"]
        terms = [self.only(subject, row["relations"][0], object_id) for object_id in objects]
        terms.sort(key=lambda term: term.first)
        assert all(later.first - earlier.first >= MARGIN for earlier, later in pairwise(terms))
        return {" ".join(term.object for term in terms)}

    def _set(self, row: Row) -> set[str]:
        low, high = row["since"], row["as_of"]
        all_terms = sorted(
            self.held[row["items"][0], row["relations"][0]], key=lambda term: term.first
        )
        held = [term for term in all_terms if term.first <= high and term.last >= low]
        assert len({term.first for term in held}) == len(held), "two began on one day"
        return {" ".join(term.object for term in held)}


def expected(row: Row) -> set[str]:
    """The answers that a candidate states, in the form in which a world answers it."""
    if row["family"] in ("ranking", "set"):
        return {" ".join(row["answers"])}
    if row["family"] == "when":
        parts = {"day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}
        precise = row["wording"] in parts
        days = (row["since"], row["as_of"])
        return {day.strftime(parts[row["wording"]]) if precise else "range" for day in days}
    return set(row["answers"]) or {row["answer"]}


def _years(first: date, last: date) -> int:
    """Birthdays from a day on up to another one."""
    return last.year - first.year - ((last.month, last.day) < (first.month, first.day))


def worlds(segments: Sequence[Row], gaps: Sequence[Row], drawn: int) -> list[World]:
    """Return the four extreme readings, and `drawn` random ones."""
    readings: tuple[Reading, ...] = ("earliest", "latest", "long", "short")
    all_worlds = [World(segments, gaps, reading) for reading in readings]
    return all_worlds + [World(segments, gaps, "random", seed) for seed in range(drawn)]
