"""The timeline that an answer comes from, and the objects that a guess would take from it."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from datetime import date
from typing import NamedTuple

from factdrift.builders.rows import Segment

GuessedObjects = Mapping[str, Collection[str]]
"""The name of a guess, and the objects that it cannot choose between."""


class ItemTimeline(NamedTuple):
    """All segments of a subject and relation, in the order in which they began."""

    segments: tuple[Segment, ...]

    @classmethod
    def of(cls, segments: Iterable[Segment]) -> "ItemTimeline":
        """Sort segments; what began on an unknown day is the oldest."""
        return cls(
            tuple(sorted(segments, key=lambda term: (_start(term), term.object, term.statements)))
        )

    @property
    def objects(self) -> tuple[str, ...]:
        """The objects, each once, in the order in which they first began."""
        return tuple(dict.fromkeys(segment.object for segment in self.segments))

    def guesses(
        self, named: Collection[str], near_day: date | None, table: Iterable[Segment]
    ) -> GuessedObjects:
        """Return the objects that each guess takes, without those that the question names.

        `near_day` is the day that the question names, if any, and `table` are the facts before it.
        """
        open_segments = [segment for segment in self.segments if segment.object not in named]
        if not open_segments:
            return {}
        by_start = [segment.object for segment in open_segments]
        # Of objects that came back, the last time counts.
        newest_first = list(dict.fromkeys(reversed(by_start)))
        mention_counts = Counter(
            item_id
            for segment in table
            for item_id in (segment.subject, segment.object)
            if item_id in newest_first
        )
        most_mentions = max(mention_counts.values(), default=0)
        guessed_objects = {
            "first": by_start[:1],
            "newest": newest_first[:1],
            "before newest": newest_first[1:2],
            "longest": self.longest_of(newest_first),
            "most lines": [
                object_id for object_id, count in mention_counts.items() if count == most_mentions
            ],
        }
        if near_day is not None:
            year_distances = {
                segment: abs(_start(segment).year - near_day.year) for segment in open_segments
            }
            guessed_objects["nearest year"] = _extreme_objects(
                year_distances, min(year_distances.values())
            )
        return {name: objects for name, objects in guessed_objects.items() if objects}

    def longest_of(self, object_ids: Collection[str]) -> list[str]:
        """Return those of some objects that held longest."""
        segment_days = {
            segment: _days(segment) for segment in self.segments if segment.object in object_ids
        }
        return _extreme_objects(segment_days, max(segment_days.values(), default=0))


def _extreme_objects(measures: Mapping[Segment, int], extreme: int) -> list[str]:
    return list(
        dict.fromkeys(segment.object for segment, value in measures.items() if value == extreme)
    )


def _start(segment: Segment) -> date:
    return segment.start_last or segment.start_first or date.min


def _days(segment: Segment) -> int:
    """Return how long a segment surely held; what ended on an unknown day is the longest."""
    return ((segment.end_first or date.max) - _start(segment)).days
