"""What a question over several facts asks, answered by walking over days.

Independent of the builder: it reads segments and gaps as plain rows, draws a day for every partial
date, and works the answer out with Python's dates. It shares no code with `reasoning`.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Literal, NamedTuple

Row = Mapping[str, Any]
Reading = Literal["earliest", "latest", "long", "short", "random"]
DAY = timedelta(days=1)
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
        drawn = random.Random(seed)
        self.held: dict[tuple[str, str], list[Held]] = {}
        for sure, rows in ((True, segments), (False, gaps)):
            for row in rows:
                doubtful = not sure or row.get("rival", False)
                there = reading in ("long", "latest") or (
                    reading == "random" and drawn.random() < 0.5
                )
                if row["object"] is None or (doubtful and not there):
                    continue
                first = self._day(row["start_first"], row["start_last"], reading, 0, drawn)
                last = self._day(row["end_first"], row["end_last"], reading, 1, drawn)
                if first > last:  # of two dates that overlap one gives way
                    first, last = last, first
                one = Held(
                    row["subject"],
                    row["relation"],
                    row["object"],
                    first,
                    last,
                    not row["end_open"] and not row.get("end_inferred", False),
                )
                self.held.setdefault(one[:2], []).append(one)

    @staticmethod
    def _day(
        low: date | None, high: date | None, reading: Reading, side: int, drawn: random.Random
    ) -> date:
        low, high = max(low or EVER[0], EVER[0]), min(high or EVER[1], EVER[1])
        if reading == "random":
            return low + timedelta(days=drawn.randint(0, max((high - low).days, 0)))
        late = {"earliest": (0, 0), "latest": (1, 1), "long": (0, 1), "short": (1, 0)}[reading]
        return high if late[side] else low

    def on(self, subject: str, relation: str, day: date) -> set[str]:
        """The objects on a day."""
        every = self.held.get((subject, relation), [])
        return {one.object for one in every if one.first <= day <= one.last}

    def only(self, subject: str, relation: str, thing: str) -> Held:
        """The one term of an object."""
        every = self.held.get((subject, relation), [])
        (found,) = [one for one in every if one.object == thing]
        return found

    def answer(self, row: Row) -> set[str]:
        """The answers of a candidate in this world: items, or yes, no or a number."""
        return {str(one) for one in getattr(self, f"_{row['family']}")(row)}

    def _chain(self, row: Row) -> set[str]:
        things = {row["items"][0]}
        for relation in row["relations"]:
            things = {o for thing in things for o in self.on(thing, relation, row["as_of"])}
        return things

    def _join(self, row: Row) -> set[str]:
        about, subject, thing = row["items"]
        day = self.only(subject, row["relations"][1], thing).first
        return self.on(about, row["relations"][0], day)

    def _offset(self, row: Row) -> set[str]:
        subject, thing = row["items"]
        day = self.only(subject, row["relations"][0], thing).first
        year = day.year + row["number"]
        leap = (day.month, day.day) == (2, 29) and year % 4
        moved = date(year, 2, 28) if leap else day.replace(year=year)
        return self.on(subject, row["relations"][0], moved)

    def _neighbour(self, row: Row) -> set[str]:
        subject, thing = row["items"]
        every = sorted(self.held[subject, row["relations"][0]], key=lambda one: one.first)
        place = [one.object for one in every].index(thing)
        other = every[place + (-1 if row["wording"] == "before" else 1)]
        assert len({one.first for one in every}) == len(every), "two began on one day"
        return {other.object}

    def _order(self, row: Row) -> set[str]:
        one, other = self._two(row)
        assert one.first != other.first
        return {"yes" if one.first < other.first else "no"}

    def _overlap(self, row: Row) -> set[str]:
        one, other = self._two(row)
        days = min(one.last, other.last) - max(one.first, other.first)
        return {"yes" if days >= timedelta(0) else "no"}

    def _two(self, row: Row) -> tuple[Held, Held]:
        a, b, c, d = row["items"]
        first, second = row["relations"]
        return self.only(a, first, b), self.only(c, second, d)

    def _duration(self, row: Row) -> set[str]:
        (relation,) = row["relations"]
        subject, *things = row["items"]
        terms = [self.only(subject, relation, thing) for thing in things]
        assert all(one.closed for one in terms)
        if row["wording"] == "years":
            return {
                str(n)
                for n in (_years(*terms[0][3:5]), _years(terms[0].first, terms[0].last + DAY))
            }
        one, other = terms
        lengths = one.last - one.first, other.last - other.first
        assert lengths[0] != lengths[1]
        return {one.object if lengths[0] > lengths[1] else other.object}

    def _count(self, row: Row) -> set[str]:
        low, high = row["since"], row["as_of"]
        every = self.held[row["items"][0], row["relations"][0]]
        return {str(len({one.object for one in every if one.first <= high and one.last >= low}))}


def _years(first: date, last: date) -> int:
    """Birthdays from a day on up to another one."""
    return last.year - first.year - ((last.month, last.day) < (first.month, first.day))


def worlds(segments: Sequence[Row], gaps: Sequence[Row], drawn: int) -> list[World]:
    """The four extreme readings, and so many drawn ones."""
    readings: tuple[Reading, ...] = ("earliest", "latest", "long", "short")
    found = [World(segments, gaps, reading) for reading in readings]
    return found + [World(segments, gaps, "random", seed) for seed in range(drawn)]
