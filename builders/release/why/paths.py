"""Checks of rows that rest on several facts: paths of hops, and questions that compare terms.

What a question of a family asks is worked out anew from the terms of the statements that the row
names; a family whose answer does not follow from these alone is left out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from itertools import pairwise
from typing import NamedTuple

from factdrift.builders.facts.intervals import Certainty
from factdrift.builders.release.why.agreement import RowCheck, disagreement
from factdrift.builders.release.why.claims import Claims
from factdrift.builders.release.why.histories import AskedTime, FactHistory, Term
from factdrift.builders.release.why.lookup import Values
from factdrift.reasoning.names import term_dates

_ONE_DAY = timedelta(days=1)
NamedTerm = tuple[FactHistory, Term]
"""A term of a statement that a row names, with its history."""


def path_checks(
    row_values: Values, claims: Claims, histories: Sequence[FactHistory]
) -> Iterator[RowCheck]:
    """Yield the checks of what a row rests on beside its last fact."""
    if row_values.get("twin") is None:
        yield from _sentences(row_values, claims, histories)
    family = row_values.get("family")
    if family is None or family == "chain":
        yield from _hops(row_values, claims, histories)
    elif family in _FAMILIES:
        yield from _compared(row_values, claims, histories, _FAMILIES[family])
    elif family in ("join", "offset"):
        yield from _others_day(row_values, claims, histories)


# --- Hops ---------------------------------------------------------------------------------------


def _hops(
    row_values: Values, claims: Claims, histories: Sequence[FactHistory]
) -> Iterator[RowCheck]:
    """Whether each statement that a row names held when it asks, and leads on to the next one."""
    asked_time = claims.asked_time
    if asked_time is None or not asked_time.is_one_day or not claims.statements:
        return
    named_terms = _named_terms(claims, histories)
    not_held = list(_held_statements(claims, asked_time, named_terms))
    not_led = list(_not_led(named_terms))
    yield from (*not_held, *not_led)
    if not not_held and not not_led and _is_path(named_terms):
        yield RowCheck(True, f"each fact of the path surely held {asked_time.words}, and leads on")


def _held_statements(
    claims: Claims, asked_time: AskedTime, named_terms: Sequence[NamedTerm]
) -> Iterator[RowCheck]:
    """Whether each statement that a row names surely held at a time."""
    for statement_id in claims.statements:
        # one statement may have several terms
        of_statement = [
            (history, term) for history, term in named_terms if statement_id in term.statements
        ]
        if not of_statement or any(asked_time.holds(term) == "surely" for _, term in of_statement):
            continue
        may_hold = any(asked_time.holds(term) == "perhaps" for _, term in of_statement)
        held_words = "held perhaps, not surely," if may_hold else "did not hold"
        fact_words = f"the row rests on {_fact(*of_statement[0])}"
        yield disagreement(f"{fact_words}, and it {held_words} {asked_time.words}")


def _is_path(named_terms: Sequence[NamedTerm]) -> bool:
    """Whether terms are of several facts."""
    return len({history.pair for history, _ in named_terms}) > 1


def _not_led(named_terms: Sequence[NamedTerm]) -> Iterator[RowCheck]:
    """Whether each fact of a path but the first is about what another one has led to."""
    reached_items = {term.object for _, term in named_terms}
    first_subjects = {history.pair.subject for history, _ in named_terms} - reached_items
    if len(first_subjects) > 1:
        yield disagreement(f"no fact of the row leads to {', '.join(sorted(first_subjects))}")


def _others_day(
    row_values: Values, claims: Claims, histories: Sequence[FactHistory]
) -> Iterator[RowCheck]:
    """Whether who surely held on the day of an event, or some months from it, is the answer."""
    as_of = row_values.get("as_of")
    own_history = next((history for history in histories if history.pair == claims.pair), None)
    if not isinstance(as_of, date) or own_history is None or not own_history.terms:
        return
    holder_labels = {
        term.object: term.object_label
        for term in own_history.terms
        if term.interval.holds_within(as_of, as_of) is Certainty.CERTAIN
    }
    yield from _same_items(claims, holder_labels, f"surely held on {as_of}")


# --- Families -----------------------------------------------------------------------------------


class WorkedAnswer(NamedTuple):
    """An answer that was worked out, and what it is in words."""

    answer_text: str
    rule_words: str


FamilyRule = Callable[[Values, Sequence[Term]], WorkedAnswer | Sequence[Term] | None]
"""Works out the answer of a row from the terms that it names, as a text or as the terms of the
objects in their order; None where it does not follow from these."""


def _compared(
    row_values: Values, claims: Claims, histories: Sequence[FactHistory], family_rule: FamilyRule
) -> Iterator[RowCheck]:
    """Whether the answer of a row is the one that follows from the terms that it names."""
    named_terms = [term for _, term in _named_terms(claims, histories)]
    covered_ids = {name for term in named_terms for name in term.statements}
    if not named_terms or not covered_ids.issuperset(claims.statements):
        return
    worked_answer = family_rule(row_values, named_terms)
    if isinstance(worked_answer, WorkedAnswer):
        yield from _same_text(claims, worked_answer)
    elif worked_answer is not None:
        yield from _same_order(claims, worked_answer)


def _same_text(claims: Claims, worked_answer: WorkedAnswer) -> Iterator[RowCheck]:
    """Whether a text that was worked out is accepted as an answer."""
    worked_words = f"{worked_answer.rule_words}: {worked_answer.answer_text}"
    if worked_answer.answer_text in claims.targets:
        yield RowCheck(True, worked_words)
    else:
        yield disagreement(f"{worked_words}, and the row says {', '.join(claims.targets)}")


def _same_order(claims: Claims, worked_terms: Sequence[Term]) -> Iterator[RowCheck]:
    """Whether the answers of a row are the objects of these terms, in their order."""
    term_labels = {term.object: term.object_label for term in worked_terms}
    yield from _same_items(claims, term_labels, "follow from the terms, in this order")
    row_ids = [claimed_item.item for claimed_item in claims.answers]
    if len(term_labels) > 1 and row_ids != [*term_labels] and {*row_ids} == {*term_labels}:
        object_names = ", ".join(term_labels.values())
        yield disagreement(f"the order of the terms is {object_names}, the row has another one")


def _same_items(
    claims: Claims, item_labels: Mapping[str, str], items_words: str
) -> Iterator[RowCheck]:
    """Whether the answers of a row are these items."""
    row_ids = {claimed_item.item for claimed_item in claims.answers}
    item_names = [f"“{item_label}” ({item})" for item, item_label in item_labels.items()]
    items_words = f"{', '.join(item_names) or 'nothing'} {items_words}"
    if row_ids == set(item_labels):
        yield RowCheck(True, items_words)
    else:
        yield disagreement(f"{items_words}, and the row has {', '.join(sorted(row_ids))}")


def _overlap(row_values: Values, terms: Sequence[Term]) -> WorkedAnswer | None:
    if len(terms) != 2:
        return None
    certainty = terms[0].interval.overlaps(terms[1].interval)
    overlap_words = "whether the two terms have a day in common"
    if certainty is Certainty.CERTAIN:
        return WorkedAnswer("yes", overlap_words)
    return WorkedAnswer("no", overlap_words) if certainty is Certainty.NO else None


def _duration(row_values: Values, terms: Sequence[Term]) -> WorkedAnswer | Sequence[Term] | None:
    if row_values.get("wording") == "years" and len(terms) == 1:
        fewest_years, most_years = _years(terms[0], shorten=True), _years(terms[0], shorten=False)
        if fewest_years is not None and fewest_years == most_years:
            return WorkedAnswer(str(fewest_years), f"full years {_term_words(terms[0])}")
    if row_values.get("wording") == "longer" and len(terms) == 2:
        day_counts = [
            (_days_of(term, shortest=True), _days_of(term, shortest=False)) for term in terms
        ]
        for term_place, other_place in ((0, 1), (1, 0)):
            if day_counts[term_place][0] > day_counts[other_place][1]:
                return [terms[term_place]]
    return None


def _count(row_values: Values, terms: Sequence[Term]) -> WorkedAnswer:
    object_count = len({term.object for term in terms})
    return WorkedAnswer(str(object_count), "different objects of the facts behind it")


def _in_order(row_values: Values, terms: Sequence[Term]) -> Sequence[Term] | None:
    ordered_terms = sorted(terms, key=lambda term: term.start_first or date.min)
    starts = [(term.start_first, term.start_last) for term in ordered_terms]
    for (_, last_start), (next_start, _) in pairwise(starts):
        if next_start is None or last_start is None or next_start <= last_start:
            return None
    return ordered_terms


def _neighbour(row_values: Values, terms: Sequence[Term]) -> Sequence[Term] | None:
    ordered_terms = _in_order(row_values, terms)
    if ordered_terms is None or len(ordered_terms) != 2:
        return None
    return ordered_terms[:1] if row_values.get("wording") == "before" else ordered_terms[1:]


def _when(row_values: Values, terms: Sequence[Term]) -> WorkedAnswer | None:
    wording = row_values.get("wording")
    first_day, last_day = terms[0].start_first, terms[0].start_last
    if len(terms) != 1 or first_day is None or last_day is None:
        return None
    began_words = f"it began {_term_words(terms[0])}"
    if wording == "year" and first_day.year == last_day.year:
        return WorkedAnswer(str(first_day.year), began_words)
    if wording == "month" and (first_day.year, first_day.month) == (last_day.year, last_day.month):
        return WorkedAnswer(f"{first_day:%Y-%m}", began_words)
    if wording == "day" and first_day == last_day:
        return WorkedAnswer(first_day.isoformat(), began_words)
    return None


_FAMILIES: Mapping[str, FamilyRule] = {
    "overlap": _overlap,
    "duration": _duration,
    "count": _count,
    "set": _in_order,
    "ranking": _in_order,
    "neighbour": _neighbour,
    "when": _when,
}


# --- Terms --------------------------------------------------------------------------------------


def _named_terms(claims: Claims, histories: Sequence[FactHistory]) -> list[NamedTerm]:
    """The terms of the statements that a row names, each with its history."""
    return [
        (history, term)
        for history in histories
        for term in history.terms
        if not {*claims.statements}.isdisjoint(term.statements)
    ]


def _sentences(
    row_values: Values, claims: Claims, histories: Sequence[FactHistory]
) -> Iterator[RowCheck]:
    """Whether the sentences of a question's facts have the days of the terms behind them."""
    sentences = row_values.get("evidence")
    if "family" not in row_values or not isinstance(sentences, list):
        return
    for _, term in _named_terms(claims, histories):
        of_object = [sentence for sentence in sentences if term.object_label in str(sentence)]
        dates_words = f"({term_dates(term)})"
        if of_object and not any(dates_words in str(sentence) for sentence in of_object):
            yield disagreement(f"“{of_object[0]}”, and the term is {dates_words}")


def _fact(history: FactHistory, term: Term) -> str:
    relation_name = history.relation_label or history.relation
    return f"{history.subject_label or history.subject}: {relation_name} {term.object_label}"


def _term_words(term: Term) -> str:
    return f"of {term.object_label} ({term_dates(term)})"


def _years(term: Term, *, shorten: bool) -> int | None:
    """Full years of a term, a day shorter or longer at each end than it may be."""
    start_day = term.start_last if shorten else term.start_first
    end_day = term.end_first if shorten else term.end_last
    if start_day is None or end_day is None:
        return None
    start_day += _ONE_DAY if shorten else -_ONE_DAY
    end_day += -_ONE_DAY if shorten else _ONE_DAY
    return (
        end_day.year
        - start_day.year
        - ((end_day.month, end_day.day) < (start_day.month, start_day.day))
    )


def _days_of(term: Term, *, shortest: bool) -> int:
    """The fewest or the most days of a term; no term whose days are not known is the longer one."""
    start_day = term.start_last if shortest else term.start_first
    end_day = term.end_first if shortest else term.end_last
    if start_day is None or end_day is None:
        return -1 if shortest else date.max.toordinal()
    return (end_day - start_day).days
