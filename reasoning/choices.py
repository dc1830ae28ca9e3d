"""The choices of a question: the right answer, and wrong ones from its own timeline.

A wrong choice from elsewhere is told by its kind, so a timeline that has too few gives no choices.
The right one has no place of its own among them, neither by size nor by time.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import permutations

from factdrift.builders.core.hashing import seeded_hash, seeded_index
from factdrift.builders.rows import Segment
from factdrift.builders.text.dates import format_date
from factdrift.reasoning.rows import QuestionCandidate
from factdrift.reasoning.timelines import ItemTimeline

Choice = str | tuple[str, ...]
"""A text, or the ids of items, whose names are written one after the other."""

YES_NO = ("yes", "no")
# Four choices, as usual in multiple-choice tests, where the question does not name its only two.
_WRONG_CHOICES = 3
_FORMS: Mapping[str, str] = {"day": "day", "month": "month", "year": "year"}
"""The form in which the date of each wording of `when` is written."""


def wrong_choices(
    row: QuestionCandidate, timeline: ItemTimeline, distinct_objects: Sequence[str], seed: object
) -> list[Choice]:
    """Return the wrong choices of a question; none where its timeline has too few.

    `distinct_objects` are those objects of the timeline whose names are no answer and differ.
    """
    if row.answer in YES_NO:
        return [answer for answer in YES_NO if answer != row.answer]
    if row.wording == "longer":
        return [(item_id,) for item_id in row.items[1:] if item_id not in row.answers]
    if row.family == "set":
        return _other_runs(row, timeline, seed)
    if row.family == "count":
        return _near_numbers(row, len(timeline.objects), seed)
    drawn_choices = sorted(
        _possible_choices(row, timeline, distinct_objects),
        key=lambda choice: seeded_hash(seed, row.id, choice),
    )
    return drawn_choices[:_WRONG_CHOICES] if len(drawn_choices) >= _WRONG_CHOICES else []


def _possible_choices(
    row: QuestionCandidate, timeline: ItemTimeline, distinct_objects: Sequence[str]
) -> Iterable[Choice]:
    """Return everything in a timeline that may be a wrong choice."""
    if row.family == "ranking":
        return [order for order in permutations(row.answers) if order != row.answers]
    if row.family == "duration":
        return _other_lengths(row, timeline)
    if row.family == "when":
        return _other_dates(row, timeline)
    return [(object_id,) for object_id in distinct_objects if object_id not in row.items]


def _near_numbers(row: QuestionCandidate, object_count: int, seed: object) -> list[Choice]:
    """Return numbers beside the right one, which is at a drawn place by size among the four.

    No number is above that of all objects of the timeline.
    """
    right_number = int(row.answer or 0)
    possible_firsts = [
        lowest_number
        for lowest_number in range(right_number - _WRONG_CHOICES, right_number + 1)
        if lowest_number >= 1 and lowest_number + _WRONG_CHOICES <= object_count
    ]
    if not possible_firsts:
        return []
    lowest_number = possible_firsts[seeded_index(len(possible_firsts), seed, row.id, "number")]
    offered_numbers = range(lowest_number, lowest_number + _WRONG_CHOICES + 1)
    return [str(number) for number in offered_numbers if number != right_number]


def _other_lengths(row: QuestionCandidate, timeline: ItemTimeline) -> list[Choice]:
    """Return the full years of the other terms, each once."""
    other_lengths: dict[Choice, None] = {}
    for segment in timeline.segments:
        year_count = full_years(segment)
        if year_count and str(year_count) != row.answer:
            other_lengths[str(year_count)] = None
    return list(other_lengths)


def full_years(segment: Segment) -> int | None:
    """Return the full years that a term surely lasted, or None where its dates do not tell."""
    if segment.start_last is None or segment.end_first is None or segment.end_open:
        return None
    start_day, end_day = segment.start_last, segment.end_first + timedelta(days=1)
    return (
        end_day.year
        - start_day.year
        - ((end_day.month, end_day.day) < (start_day.month, start_day.day))
    )


def _other_dates(row: QuestionCandidate, timeline: ItemTimeline) -> list[Choice]:
    """Return the starts of the other terms, as precise as the one that is asked for."""
    if row.wording not in _FORMS:
        return []
    right_date = date_text(row)
    other_dates: dict[Choice, None] = {}
    for segment in timeline.segments:
        if segment.object in row.items or segment.start_first is None:
            continue
        start_text = _start_text(segment, row.wording)
        if start_text and start_text != right_date:
            other_dates[start_text] = None
    return list(other_dates)


def _start_text(segment: Segment, precision: str) -> str | None:
    """Return when a term began, or None where that is known less precisely."""
    first, last = segment.start_first, segment.start_last
    if first is None or last is None:
        return None
    date_texts = {format_date(day, _FORMS[precision]) for day in (first, last)}
    return date_texts.pop() if len(date_texts) == 1 else None


def date_text(row: QuestionCandidate) -> str:
    """Return the answer of `when` in words, at the precision of its wording."""
    first, last = row.since or row.as_of, row.as_of
    if row.wording in _FORMS:
        return format_date(first, _FORMS[row.wording])
    return f"between {format_date(first)} and {format_date(last)}"


def _other_runs(row: QuestionCandidate, timeline: ItemTimeline, seed: object) -> list[Choice]:
    """Return other lists of objects that follow one another, by which none is told from the rest.

    The four begin at either of two neighbours and end at either of two others, and which of the
    four is right is drawn, so neither the length nor what the lists share tells it.
    """
    timeline_objects = timeline.objects
    first_place = timeline_objects.index(row.answers[0])
    last_place = first_place + len(row.answers) - 1
    if timeline_objects[first_place : last_place + 1] != row.answers:
        return []
    possible_places = []
    for earlier_first in (first_place - 1, first_place):
        for earlier_last in (last_place - 1, last_place):
            is_inside = earlier_first >= 0 and earlier_last + 1 < len(timeline_objects)
            if is_inside and earlier_first + 1 < earlier_last:
                possible_places.append((earlier_first, earlier_last))
    if not possible_places:
        return []
    low_place, high_place = possible_places[
        seeded_index(len(possible_places), seed, row.id, "list")
    ]
    object_runs = [
        timeline_objects[start : end + 1]
        for start in (low_place, low_place + 1)
        for end in (high_place, high_place + 1)
    ]
    return [run for run in object_runs if run != row.answers]
