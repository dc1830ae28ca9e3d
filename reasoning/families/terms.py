"""Families of questions that compare or measure terms: order, overlap, duration."""

import ibis
import ibis.expr.types as ir

from factdrift.builders.core.tables import seeded_order
from factdrift.reasoning.families.base import (
    DAY,
    MARGIN,
    Family,
    Scope,
    array,
    candidate,
    event_starts,
    seeded_number,
)
from factdrift.reasoning.states import PAIR, Knowledge

_TERM = ("object", "start_first", "start_last", "end_first", "end_last", "statements")
_SIDE = ("subject", "relation", "closed", *_TERM)
# Guesses: a term is compared with few others, so that comparisons grow with the terms.
_IN_TIMELINE, _IN_LINKED = 3, 2
# A tenth, as SPEC 7 has it: four years against four years and a month are not worth comparing.
_SHARE = 10


def _linked_couples(terms: ir.Table, knowledge: Knowledge) -> ir.Table:
    """Pair terms of timelines that share something.

    The columns of the second term have the prefix `o_`. Where timelines share an object of theirs,
    the term is that of this object; else a few terms of each are drawn.
    """
    if knowledge.links is None:
        raise ValueError("comparisons need the links between timelines")
    drawn_place = ibis.row_number().over(
        ibis.window(
            group_by=PAIR,
            order_by=[seeded_order(knowledge.seed, terms.subject, terms.object), "object"],
        )
    )
    terms = terms.mutate(place=drawn_place)
    first_terms = terms.select(*_SIDE, "place")
    second_terms = terms.select(**{f"o_{column}": column for column in _SIDE}, o_place=terms.place)
    term_couples = first_terms.join(knowledge.links, PAIR)
    term_couples = term_couples.join(second_terms, ["o_subject", "o_relation"])
    by_link = ((term_couples.by_object == "") & (term_couples.place < _IN_LINKED)) | (
        term_couples.by_object == term_couples.object
    )
    by_other_link = ((term_couples.o_by_object == "") & (term_couples.o_place < _IN_LINKED)) | (
        term_couples.o_by_object == term_couples.o_object
    )
    term_couples = term_couples.filter(by_link & by_other_link)
    return term_couples.drop("place", "o_place", "by_object", "o_by_object").filter(
        (term_couples.subject != term_couples.o_object)
        | (term_couples.object != term_couples.o_subject)
    )


def _own_couples(terms: ir.Table, knowledge: Knowledge) -> ir.Table:
    """Pair each term with a few terms of its own timeline, in a drawn order."""
    drawn_order = ibis.window(
        group_by=PAIR,
        order_by=[seeded_order(knowledge.seed + 1, terms.subject, terms.object), "object"],
    )
    term_couples = []
    for row_distance in range(1, _IN_TIMELINE + 1):
        other_columns = {
            f"o_{column}": terms[column].lead(row_distance).over(drawn_order) for column in _SIDE
        }
        term_couples.append(terms.select(*_SIDE, **other_columns))
    return ibis.union(*term_couples).filter(ibis._.o_object.notnull())


def _compared(term_pairs: ir.Table, family: str, wording: str, answer_yes: str) -> ir.Table:
    """Return the question about each couple; the column `answer_yes` says whether it is so.

    Links have every couple in both orders, of which the lower one of their names is asked.
    """
    first_items = array(term_pairs.subject, term_pairs.object)
    second_items = array(term_pairs.o_subject, term_pairs.o_object)
    return candidate(
        term_pairs,
        family,
        wording=wording,
        items=first_items.concat(second_items),
        relations=array(term_pairs.relation, term_pairs.o_relation),
        as_of=ibis.greatest(term_pairs.start_last, term_pairs.o_start_last),
        answer=ibis.ifelse(term_pairs[answer_yes], "yes", "no"),
        statements=term_pairs.statements.concat(term_pairs.o_statements),
        changed=ibis.greatest(term_pairs.start_last, term_pairs.o_start_last),
    )


def _one_order(drawn_pairs: ir.Table, seed: int) -> ir.Table:
    """Return each couple of terms once, in the order of a draw that does not know their dates."""
    names = [
        ibis.literal(" ").join([drawn_pairs[f"{side}{column}"] for column in (*PAIR, "object")])
        for side in ("", "o_")
    ]
    drawn_pairs = drawn_pairs.mutate(first_name=names[0], second_name=names[1])
    drawn_couples = drawn_pairs.mutate(
        pair_name=ibis.ifelse(
            drawn_pairs.first_name < drawn_pairs.second_name,
            drawn_pairs.first_name + ibis.literal(" ") + drawn_pairs.second_name,
            drawn_pairs.second_name + ibis.literal(" ") + drawn_pairs.first_name,
        )
    )
    drawn_order = ibis.window(
        group_by="pair_name",
        order_by=[
            seeded_order(seed, drawn_couples.first_name, drawn_couples.second_name),
            "first_name",
        ],
    )
    drawn_couples = drawn_couples.mutate(nth=ibis.row_number().over(drawn_order))
    return drawn_couples.filter(drawn_couples.nth == 0).drop(
        "nth", "first_name", "second_name", "pair_name"
    )


def _orders(knowledge: Knowledge, scope: Scope) -> ir.Table:
    """Ask about two starts whose order is certain, and which are a margin apart."""
    terms = scope.with_phrase(event_starts(knowledge, scope), "did")
    own_couples = _own_couples(terms, knowledge)
    linked_couples = _linked_couples(terms, knowledge).select(own_couples.columns)
    term_couples = _one_order(own_couples.union(linked_couples), knowledge.seed)
    term_couples = term_couples.mutate(
        earlier=term_couples.o_start_first.delta(term_couples.start_last, unit="day") >= MARGIN,
        later=term_couples.start_first.delta(term_couples.o_start_last, unit="day") >= MARGIN,
        drawn=seeded_number(
            knowledge.seed,
            term_couples.subject,
            term_couples.object,
            term_couples.o_subject,
            term_couples.o_object,
        )
        % 2,
    )
    term_couples = term_couples.filter(term_couples.earlier | term_couples.later)
    return _compared(
        term_couples.filter(term_couples.drawn == 0), "order", "before", "earlier"
    ).union(_compared(term_couples.filter(term_couples.drawn == 1), "order", "after", "later"))


def _overlaps(knowledge: Knowledge, scope: Scope) -> ir.Table:
    """Ask about two terms that surely share a month, or are surely a month apart.

    At least one has ended, and they are of different timelines.
    """
    terms = scope.with_phrase(event_starts(knowledge, scope), "was")
    term_couples = _one_order(_linked_couples(terms, knowledge), knowledge.seed + 1)
    term_couples = term_couples.filter(~_told_twice(term_couples))
    common_days = ibis.least(term_couples.end_first, term_couples.o_end_first).delta(
        ibis.greatest(term_couples.start_last, term_couples.o_start_last), unit="day"
    )
    days_between = ibis.greatest(
        term_couples.o_start_first.delta(term_couples.end_last, unit="day"),
        term_couples.start_first.delta(term_couples.o_end_last, unit="day"),
    )
    term_couples = term_couples.mutate(yes=common_days >= MARGIN, apart=days_between >= MARGIN)
    term_couples = term_couples.filter(
        (term_couples.yes | term_couples.apart) & (term_couples.closed | term_couples.o_closed)
    )
    return _compared(term_couples, "overlap", "overlap", "yes")


def _told_twice(term_couples: ir.Table) -> ir.BooleanValue:
    """Whether two terms of one person may be the same fact in two relations.

    Who becomes mayor of Hamburg takes the office of First Mayor of Hamburg, on that day or so.
    """
    shares_person = (
        (term_couples.subject == term_couples.o_object)
        | (term_couples.object == term_couples.o_subject)
        | (term_couples.object == term_couples.o_object)
    )
    days_between = ibis.greatest(
        term_couples.o_start_first.delta(term_couples.start_last, unit="day"),
        term_couples.start_first.delta(term_couples.o_start_last, unit="day"),
    )
    other_relation = term_couples.relation != term_couples.o_relation
    return other_relation & shares_person & (days_between < MARGIN)


def _years(start_day: ir.DateColumn, end_day: ir.DateColumn) -> ir.IntegerValue:
    """Return the number of full years from one day to another."""
    before_anniversary = (end_day.month() * 100 + end_day.day()) < (
        start_day.month() * 100 + start_day.day()
    )
    return (end_day.year() - start_day.year()).cast("int64") - before_anniversary.cast("int64")


def _durations(knowledge: Knowledge, scope: Scope) -> ir.Table:
    """Ask for the full years of closed terms, and which of two closed terms is the longer one.

    For some people a year is full on its anniversary, for others on the day before, and a source
    may be a day out. Only terms that have the same number of years with a day less at either end
    and a day more are asked about.
    """
    terms = knowledge.terms.filter(knowledge.terms.closed & knowledge.terms.once)
    terms = terms.filter((terms.start_first >= scope.first) & (terms.end_last <= scope.last))
    terms = scope.with_phrase(terms, "long")
    return _lengths(scope.with_phrase(terms, "event")).union(_longer(terms, knowledge))


def _lengths(terms: ir.Table) -> ir.Table:
    terms = terms.mutate(
        least=_years((terms.start_last + DAY).cast("date"), (terms.end_first - DAY).cast("date")),
        most=_years((terms.start_first - DAY).cast("date"), (terms.end_last + DAY).cast("date")),
    )
    terms = terms.filter(
        (terms.least == terms.most)
        & (terms.least > 0)
        & (terms.start_first.year() == terms.start_last.year())
    )
    return candidate(
        terms,
        "duration",
        wording="years",
        items=array(terms.subject, terms.object),
        since=terms.start_last,
        as_of=terms.end_last,
        answer=terms.least.cast("string"),
        changed=terms.end_last,
    )


def _longer(terms: ir.Table, knowledge: Knowledge) -> ir.Table:
    term_couples = _one_order(_own_couples(terms, knowledge), knowledge.seed + 2)
    least_days, most_days, other_least, other_most = (
        term_couples[f"{prefix}end_{end_bound}"].delta(
            term_couples[f"{prefix}start_{start_bound}"], unit="day"
        )
        for prefix in ("", "o_")
        for start_bound, end_bound in (("last", "first"), ("first", "last"))
    )

    def surely_longer(shortest: ir.IntegerValue, longest_other: ir.IntegerValue) -> ir.BooleanValue:
        difference = shortest - longest_other
        return (difference >= MARGIN) & (difference * _SHARE >= shortest)

    term_couples = term_couples.mutate(
        longer=surely_longer(least_days, other_most),
        shorter=surely_longer(other_least, most_days),
    )
    term_couples = term_couples.filter(term_couples.longer | term_couples.shorter)
    return candidate(
        term_couples,
        "duration",
        wording="longer",
        items=array(term_couples.subject, term_couples.object, term_couples.o_object),
        as_of=ibis.greatest(term_couples.end_last, term_couples.o_end_last),
        answers=array(ibis.ifelse(term_couples.longer, term_couples.object, term_couples.o_object)),
        statements=term_couples.statements.concat(term_couples.o_statements),
        changed=ibis.greatest(term_couples.start_last, term_couples.o_start_last),
    )


ORDER = Family(
    _orders,
    {
        "before": (
            "{Did 0 0 1} before {compared}?",
            "Is it true that {event 0 0 1} before {compared}?",
        ),
        "after": (
            "{Did 0 0 1} after {compared}?",
            "Is it true that {event 0 0 1} after {compared}?",
        ),
    },
)
OVERLAP = Family(
    _overlaps,
    {
        "overlap": (
            "Was there a time when {state_and_state}?",
            "Was there ever a day when {state_while_state}?",
        )
    },
)
DURATION = Family(
    _durations,
    {
        # No calendar years are meant: both say where the count begins.
        "years": (
            "{Long 0 0 1} from {year} on?",
            "{Event 0 0 1} in {year}. For how many full years did that last?",
        ),
        "longer": (
            "{Ask 0 0} for longer: {name 1} or {name 2}?",
            "{Name 1} or {name 2}: {ask 0 0} for the longer time?",
        ),
    },
)
