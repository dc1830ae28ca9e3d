"""Families of questions about windows and dates: count, set, ranking, when."""

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
from factdrift.reasoning.states import INTERIM, PAIR, Knowledge

_WINDOWS = 8
"""The number of windows of years that are drawn for a timeline."""
# A list of more names is long to write and to compare.
_LONGEST_SET = 5
_RANKED = 3
"""The number of objects that are put in order."""


def _windows(knowledge: Knowledge, scope: Scope) -> ir.Table:
    """Return windows of years in which it is certain who held, with their holders.

    In such a window as many objects held for a month as may have held for a day. Somebody holds on
    its first day, no term begins long after all earlier ones have ended, and no term is as short as
    an interim. Otherwise the source may lack a holder, or people may not count an interim holder.
    """
    office_terms = scope.with_phrase(knowledge.terms, "count")
    year_range = scope.last.year - scope.first.year - 4
    drawn_number = seeded_number(knowledge.seed, office_terms.subject, office_terms.relation)
    office_terms = office_terms.mutate(drawn=drawn_number, place=ibis.range(_WINDOWS).unnest())
    # A prime far from the numbers of years, so that the windows of a timeline differ.
    drawn_window = office_terms.drawn + office_terms.place.cast("int64") * 101
    first_year = scope.first.year + drawn_window % max(year_range, 1)
    # Windows of four to fifteen years. Shorter ones mostly have a single holder.
    last_year = ibis.least(
        first_year + 3 + drawn_window // 7 % 12, ibis.literal(scope.last.year - 1)
    )
    office_terms = office_terms.mutate(
        low=ibis.date(first_year.cast("int32"), ibis.literal(1), ibis.literal(1)),
        high=ibis.date(last_year.cast("int32"), ibis.literal(12), ibis.literal(31)),
    )
    shortest_stay = ibis.least(office_terms.end_first, office_terms.high).delta(
        ibis.greatest(office_terms.start_last, office_terms.low), unit="day"
    )
    office_terms = office_terms.mutate(
        surely=shortest_stay >= MARGIN,
        maybe=(office_terms.start_first <= (office_terms.high + DAY).cast("date"))
        & (office_terms.end_last >= (office_terms.low - DAY).cast("date")),
    )
    window = [*PAIR, "low", "high"]
    all_before = ibis.window(group_by=window, order_by=["start_first", "object"], rows=(None, -1))
    covered_until = ibis.greatest(
        office_terms.end_first.max().over(all_before), office_terms.low
    ).fill_null(office_terms.low)
    office_terms = office_terms.mutate(
        hole=office_terms.start_last.delta(covered_until, unit="day") > INTERIM
    )
    start_order = ibis.window(group_by=window, order_by=["start_first", "start_last", "object"])
    held_terms = office_terms.filter(office_terms.maybe)
    next_start = held_terms.start_first.lead().over(start_order)
    held_terms = held_terms.mutate(
        nth=ibis.row_number().over(start_order),
        follows=(next_start > held_terms.start_last).fill_null(True),
    )
    certain_windows = held_terms.group_by(window).agg(
        sure=held_terms.object.nunique(where=held_terms.surely),
        most=held_terms.object.nunique(),
        terms=held_terms.count(),
        whole=(held_terms.lasting & ~held_terms.hole).all()
        & (held_terms.start_last <= held_terms.low).any(),
        ordered=held_terms.follows.all(),
        reached=held_terms.end_first.max(),
        statements=held_terms.statements.collect(),
        # Objects in the order in which they began: texts sort as their numbers do.
        ranked=(held_terms.nth.cast("string").lpad(4, "0") + " " + held_terms.object)
        .collect()
        .sort(),
        changed=held_terms.start_last.max(),
    )  # fmt: skip
    certain_windows = certain_windows.filter(
        certain_windows.whole & (certain_windows.reached >= certain_windows.high)
    )
    certain_windows = certain_windows.filter(
        (certain_windows.sure == certain_windows.most) & (certain_windows.most > 1)
    )
    return certain_windows.mutate(statements=certain_windows.statements.flatten())


def _window_candidate(windows: ir.Table, family: str, **columns: ir.Value) -> ir.Table:
    """Return the candidates of a family that asks about whole windows."""
    return candidate(
        windows,
        family,
        wording="window",
        items=array(windows.subject),
        since=windows.low,
        as_of=windows.high,
        statements=windows.statements,
        changed=windows.changed,
        **columns,
    )


def _counts(knowledge: Knowledge, scope: Scope) -> ir.Table:
    """Ask for the number of holders in windows where it is certain."""
    certain_windows = _windows(knowledge, scope)
    holder_count = certain_windows.most.cast("string")
    return _window_candidate(certain_windows, "count", answer=holder_count)


def _sets(knowledge: Knowledge, scope: Scope) -> ir.Table:
    """Ask for all holders in such windows, in the order in which they began."""
    certain_windows = scope.with_phrase(_windows(knowledge, scope), "ask")
    # Who held twice would stand twice in the list.
    certain_windows = certain_windows.filter(
        certain_windows.ordered
        & (certain_windows.most <= _LONGEST_SET)
        & (certain_windows.terms == certain_windows.most)
    )
    holders_in_order = certain_windows.ranked.map(lambda entry: entry.substr(5))
    return _window_candidate(certain_windows, "set", answers=holders_in_order)


def _rankings(knowledge: Knowledge, scope: Scope) -> ir.Table:
    """Ask for the order of three objects of a timeline, whose starts are a margin apart.

    The three follow one another in a drawn order, in which the question names them.
    """
    named_terms = scope.with_phrase(event_starts(knowledge, scope), "ask")
    drawn_order = ibis.window(
        group_by=PAIR,
        order_by=[
            seeded_order(knowledge.seed + 3, named_terms.subject, named_terms.object),
            "object",
        ],
    )
    columns = ("object", "start_first", "start_last", "statements")
    object_triples = named_terms.select(
        *PAIR,
        **{
            f"{column}_{place}": named_terms[column].lead(place).over(drawn_order)
            for column in columns
            for place in range(_RANKED)
        },
    )
    object_triples = object_triples.filter(object_triples[f"object_{_RANKED - 1}"].notnull())
    ordered_triples = []
    for first, second, third in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
        in_order = object_triples.filter(
            (
                object_triples[f"start_first_{second}"].delta(
                    object_triples[f"start_last_{first}"], unit="day"
                )
                >= MARGIN
            )
            & (
                object_triples[f"start_first_{third}"].delta(
                    object_triples[f"start_last_{second}"], unit="day"
                )
                >= MARGIN
            )
        )
        ordered_triples.append(
            in_order.mutate(
                answers=array(*(in_order[f"object_{place}"] for place in (first, second, third)))
            )
        )
    ranked_triples = ibis.union(*ordered_triples)
    return candidate(
        ranked_triples,
        "ranking",
        wording="three",
        items=array(
            ranked_triples.subject, *(ranked_triples[f"object_{place}"] for place in range(_RANKED))
        ),
        as_of=ibis.greatest(*(ranked_triples[f"start_last_{place}"] for place in range(_RANKED))),
        answers=ranked_triples.answers,
        statements=ranked_triples.statements_0.concat(ranked_triples.statements_1).concat(
            ranked_triples.statements_2
        ),
        changed=ibis.greatest(*(ranked_triples[f"start_last_{place}"] for place in range(_RANKED))),
    )


def _dates(knowledge: Knowledge, scope: Scope) -> ir.Table:
    """Ask when a term began, at the precision that its source has: a day, a month or a year."""
    named_terms = scope.with_phrase(event_starts(knowledge, scope), "did")
    first_day, last_day = named_terms.start_first, named_terms.start_last
    month_end = (first_day.truncate("M") + ibis.interval(months=1) - DAY).cast("date")
    is_year = (
        (first_day.year() == last_day.year())
        & (first_day.strftime("%m-%d") == "01-01")
        & (last_day.strftime("%m-%d") == "12-31")
    )
    date_precision = ibis.cases(
        (first_day == last_day, "day"),
        ((first_day.day() == 1) & (last_day == month_end), "month"),
        (is_year, "year"),
        else_="range",
    )
    named_terms = named_terms.mutate(precision=date_precision)
    return candidate(
        named_terms,
        "when",
        wording=named_terms.precision,
        items=array(named_terms.subject, named_terms.object),
        since=named_terms.start_first,
        as_of=named_terms.start_last,
        changed=named_terms.start_last,
    )


COUNT = Family(
    _counts,
    {
        "window": (
            "{Count 0 0} at any point from {months}?",
            "From {months}, {count 0 0} at one time or another?",
        )
    },
)
SET = Family(
    _sets,
    {
        "window": (
            "{Who 0 0} at any point from {months}? List them all, from first to last.",
            "From {months}, {who 0 0} at one time or another? Name them all, from first to last.",
        )
    },
)
RANKING = Family(
    _rankings,
    {
        "three": (
            "Of {name 1}, {name 2} and {name 3}, {ask 0 0} first, second and third?",
            "{Ask 0 0} first, second and third: {name 1}, {name 2} or {name 3}?",
        )
    },
)
WHEN = Family(
    _dates,
    {
        "day": ("On which day {did 0 0 1}?", "{Event 0 0 1}. On which day was that?"),
        "month": (
            "In which month and year {did 0 0 1}?",
            "{Event 0 0 1}. In which month and year was that?",
        ),
        "year": ("In which year {did 0 0 1}?", "{Event 0 0 1}. In which year was that?"),
        "range": ("When {did 0 0 1}?", "{Event 0 0 1}. When was that?"),
    },
)
