"""Checks of what held: who a time selects is worked out anew from the terms, and compared.

A row claims that its answers surely held at a time and that nothing else did. The words of a check
say of which time and by which rule it was worked out. Where a rule needs what is not here, nothing
is said.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import date, timedelta
from typing import Any

from factdrift.builders.facts.intervals import Interval
from factdrift.builders.release.why.agreement import RowCheck, disagreement
from factdrift.builders.release.why.claims import ClaimedItem, Claims
from factdrift.builders.release.why.histories import HOLDS, AskedTime, FactHistory, Term
from factdrift.builders.release.why.lookup import Values
from factdrift.builders.timeqa.times import (
    DAY,
    MONTH,
    PART,
    YEAR,
    Time,
    TimeUnit,
    select,
    time_text,
    unit,
    unit_index,
)

_SPLITS_WITH_BEFORE = ("unchanged", "updated")
"""Of a comparison of periods: the splits whose rows say what held in the period before."""


def held_checks(
    row_values: Values, claims: Claims, histories: Sequence[FactHistory]
) -> Iterator[RowCheck]:
    """Whether the answers held when the row asks, and nothing else did."""
    own_history = next((history for history in histories if history.pair == claims.pair), None)
    if claims.pair is not None and own_history is not None and not own_history.is_known:
        pair_words = f"{claims.pair.subject} by {claims.pair.relation}"
        yield disagreement(f"nothing at all is stated of {pair_words}")
        return
    if row_values.get("specifier"):
        if own_history is not None and own_history.terms:
            yield from _selected(row_values, claims, own_history)
        return
    # a question over several facts, such as who was first, has answers of other times
    if claims.asked_time is not None and row_values.get("family") in (None, "chain"):
        yield from _held_when_asked(row_values, claims, claims.asked_time, histories, own_history)


def _held_when_asked(
    row_values: Values,
    claims: Claims,
    asked_time: AskedTime,
    histories: Sequence[FactHistory],
    own_history: FactHistory | None,
) -> Iterator[RowCheck]:
    """Whether the answers held at the time of a row and nothing else, and so in the period before.

    `own_history` is that of the subject and relation of the row, None where it has none.
    """
    # of a path the row says the answers of the last hop alone
    last_histories = [own_history] if own_history is not None else histories
    last_histories = [history for history in last_histories if history.terms]
    if not last_histories:
        return
    for claimed_item in claims.held_objects:
        yield from _held(claimed_item, asked_time, last_histories)
    if own_history is not None and claims.items:
        yield from _nothing_else(claims, asked_time, own_history)
    yield from _before(row_values, claims, last_histories)


def _before(
    row_values: Values, claims: Claims, histories: Sequence[FactHistory]
) -> Iterator[RowCheck]:
    """Whether what a row says of the period before is so, and what it says is new or gone.

    `change` of a row, or its split, says how the answers differ from those before.
    """
    change = row_values.get("change") or row_values.get("split")
    if claims.time_before is None or claims.pair is None:
        return
    items_before = [claimed_item for claimed_item in claims.items if claimed_item.part == "before"]
    if change in _SPLITS_WITH_BEFORE:
        for claimed_item in items_before:
            yield from _held(claimed_item, claims.time_before, histories)
        yield from _all_of_before(items_before, claims.time_before, histories)
    elif change in ("new", "deleted"):
        # what held in the other period; of `deleted` this is the later one
        yield from _all_of_before((), claims.time_before, histories)
    yield from _differences(row_values, claims, change)


def _differences(row_values: Values, claims: Claims, change: Any) -> Iterator[RowCheck]:
    """Whether the answers differ from those of the period before as the row says."""
    ids_now = {
        claimed_item.item
        for claimed_item in claims.items
        if claimed_item.part in ("answer", "still true")
    }
    ids_before = _ids_before(claims)
    if change == "deleted":
        ids_now, ids_before = set(), ids_now
    for column, expected_ids in (
        ("added", ids_now - ids_before),
        ("removed", ids_before - ids_now),
    ):
        stated_ids = row_values.get(column)
        if isinstance(stated_ids, list) and change is not None and set(stated_ids) != expected_ids:
            yield disagreement(
                f"`{column}` is not what the answers and those of the period before differ by"
            )
    if change == "updated" and ids_now == ids_before:
        yield disagreement("the row is `updated`, and its answers are those of the period before")
    if change == "unchanged" and ids_now != ids_before:
        yield disagreement("the row is `unchanged`, and its answers differ from those before")


def _all_of_before(
    named_items: Sequence[ClaimedItem], time_before: AskedTime, histories: Sequence[FactHistory]
) -> Iterator[RowCheck]:
    """Whether something that the row does not name held in the period before."""
    named_ids = {claimed_item.item for claimed_item in named_items}
    other_terms = _unnamed_terms(named_ids, time_before, histories)
    if other_terms:
        other_words = (
            f"{_names(other_terms)} surely held {time_before.words}, and the row does not say it"
        )
        yield disagreement(other_words)


def _nothing_else(
    claims: Claims, asked_time: AskedTime, history: FactHistory
) -> Iterator[RowCheck]:
    """Whether something surely held then that is no answer of the row."""
    answer_ids = {
        claimed_item.item for claimed_item in claims.items if claimed_item.part != "before"
    }
    other_terms = _unnamed_terms(answer_ids, asked_time, [history])
    # both hold on the day of a handover: who leaves on it is told as the answer before, if at all
    before_ids = _ids_before(claims)
    leaving_terms = [
        term
        for term in other_terms
        if term.object in before_ids and asked_time.is_one_day and term.end_last == asked_time.last
    ]
    staying_terms = [term for term in other_terms if term not in leaving_terms]
    if staying_terms:
        other_words = f"{_names(staying_terms)} surely held {asked_time.words}, too"
        yield disagreement(f"{other_words}, and is no answer of the row")
    elif leaving_terms:
        yield RowCheck(
            True, f"{_names(leaving_terms)} left on {asked_time.last}, nothing else held"
        )
    else:
        yield RowCheck(True, f"nothing else surely held {asked_time.words}")


def _unnamed_terms(
    named_ids: Collection[str], asked_time: AskedTime, histories: Sequence[FactHistory]
) -> list[Term]:
    """The terms that surely held at a time, of objects that a row does not name."""
    return [
        term
        for history in histories
        for term in history.terms
        if asked_time.holds(term) == "surely" and term.object not in named_ids
    ]


def _ids_before(claims: Claims) -> set[str]:
    """The items that a row says held in the period before."""
    return {claimed_item.item for claimed_item in claims.items if claimed_item.part == "before"}


def _held(
    claimed_item: ClaimedItem, asked_time: AskedTime, histories: Sequence[FactHistory]
) -> Iterator[RowCheck]:
    """Whether an item surely held at a time."""
    item, label = claimed_item.item, claimed_item.label
    terms = [term for history in histories for term in history.terms if term.object == item]
    item_name = f"“{label or next((term.object_label for term in terms), '')}” ({item})"
    if not terms:
        yield disagreement(f"{item_name} has no term in this history")
        return
    best_holds = min((asked_time.holds(term) for term in terms), key=HOLDS.index)
    check_words = {
        "surely": f"{item_name} surely held {asked_time.words}",
        "perhaps": f"{item_name} held perhaps, not surely, {asked_time.words}",
        "not": f"{item_name} did not hold {asked_time.words}",
    }
    yield RowCheck(best_holds == "surely", check_words[best_holds])


def _names(terms: Sequence[Term]) -> str:
    labels = {term.object: term.object_label for term in terms}
    return ", ".join(f"“{label}” ({item})" for item, label in sorted(labels.items()))


# --- Times of TimeQA ----------------------------------------------------------------------------


def _selected(row_values: Values, claims: Claims, history: FactHistory) -> Iterator[RowCheck]:
    """Whether the objects of a row are those that its time selects, by the rules of TimeQA."""
    is_easy = row_values.get("difficulty") == "easy"
    question_text = str(row_values.get("question") or claims.prompt)
    question_time = _time_of_question(row_values, question_text, is_easy)
    if question_time is None:
        named_days = f"{row_values.get('time_first')} to {row_values.get('time_last')}"
        asked_words = f"the question does not ask `{row_values['specifier']}`"
        yield disagreement(f"{asked_words} the days of the row, {named_days}")
        return
    snapshot = max((term.snapshot for term in history.terms if term.snapshot), default=date.max)
    selected_places = select(
        question_time,
        [_ordinals(term) for term in history.terms],
        snapshot.toordinal(),
        counts_touching=not is_easy,
    )
    time_words = f"“{time_text(question_time, is_easy)}”"
    if selected_places is None:
        yield disagreement(f"it is in doubt what held {time_words}")
        return
    selected_terms = [history.terms[term_place] for term_place in selected_places]
    yield from _same_objects(claims, selected_terms, time_words)


def _same_objects(
    claims: Claims, selected_terms: Sequence[Term], time_words: str
) -> Iterator[RowCheck]:
    """Whether the answers of a row are the objects of the terms that its time selects."""
    selected_ids = {term.object for term in selected_terms}
    row_ids = {claimed_item.item for claimed_item in claims.answers}
    lacking_terms = [term for term in selected_terms if term.object not in row_ids]
    if lacking_terms:
        yield disagreement(
            f"{_names(lacking_terms)} held {time_words}, and is no answer of the row"
        )
    for claimed_item in claims.answers:
        if claimed_item.item not in selected_ids:
            item_name = f"“{claimed_item.label}” ({claimed_item.item})"
            yield disagreement(
                f"{item_name} is not what held {time_words}, by the rule of the question"
            )
    if selected_ids == row_ids:
        held_words = _names(selected_terms) or "nothing"
        yield RowCheck(True, f"{held_words} held {time_words}, and nothing else, by the rule of it")


def _time_of_question(row_values: Values, question_text: str, is_easy: bool) -> Time | None:
    """The time that a question names, with its units, if it is that of the row's days.

    A row has the days alone; 2005-01-01 may be the beginning of a day, a month, a year or a part of
    a decade, and the question tells which.
    """
    specifier, first, last = (
        row_values.get(column) for column in ("specifier", "time_first", "time_last")
    )
    first_units: list[TimeUnit | None]
    last_units: list[TimeUnit | None]
    if specifier == "before":
        first_units, last_units = [None], _units_from(_moved(last, 1))
    elif specifier == "after":
        first_units, last_units = _units_until(_moved(first, -1)), [None]
    elif specifier == "in":
        same_units = [
            time_unit
            for time_unit in _units_from(first)
            if time_unit and time_unit.last == _ordinal(last)
        ]
        possible_times = [Time("in", same_unit, same_unit) for same_unit in same_units]
        return _worded(possible_times, question_text, is_easy)
    else:
        first_units, last_units = _units_from(first), _units_until(last)
    possible_times = [
        Time(specifier, first_unit, last_unit)  # type: ignore[arg-type]
        for first_unit in first_units
        for last_unit in last_units
    ]
    return _worded(possible_times, question_text, is_easy)


def _worded(possible_times: Sequence[Time], question_text: str, is_easy: bool) -> Time | None:
    """The time whose words stand in a question, the longest words first."""
    in_question = [
        possible_time
        for possible_time in possible_times
        if time_text(possible_time, is_easy) in question_text
    ]
    return max(
        in_question, key=lambda possible_time: len(time_text(possible_time, is_easy)), default=None
    )


def _units_from(first_day: Any) -> list[TimeUnit | None]:
    """The units that begin on a day."""
    return [
        time_unit
        for time_unit in _units_around(first_day)
        if time_unit and time_unit.first == _ordinal(first_day)
    ]


def _units_until(last_day: Any) -> list[TimeUnit | None]:
    """The units that end on a day."""
    return [
        time_unit
        for time_unit in _units_around(last_day)
        if time_unit and time_unit.last == _ordinal(last_day)
    ]


def _units_around(day: Any) -> Iterator[TimeUnit | None]:
    """The units that hold a day, from the finest to the coarsest."""
    if not isinstance(day, date):
        return
    for grain in (DAY, MONTH, YEAR):
        yield unit(grain, unit_index(grain, day.toordinal()))
    decade = day.year // 10
    for part_number in (decade * 2, decade * 2 + 1):
        decade_part = unit(PART, part_number)
        if decade_part.first <= day.toordinal() <= decade_part.last:
            yield decade_part


def _moved(day: Any, day_count: int) -> date | None:
    return day + timedelta(days=day_count) if isinstance(day, date) else None


def _ordinal(day: Any) -> int | None:
    return day.toordinal() if isinstance(day, date) else None


def _ordinals(term: Term) -> Interval[int]:
    """The interval of a term in numbers of days, as `select` wants it."""
    # an open term may go on after the day of the dump, which is its last day in the tables
    end_last = None if term.end_open else _ordinal(term.end_last)
    return Interval(
        _ordinal(term.start_first),
        _ordinal(term.start_last),
        _ordinal(term.end_first),
        end_last,
        doubtful=term.rival,
        is_open=term.end_open and not term.rival,
    ).narrowed()
