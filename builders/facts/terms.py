"""Compare the terms of those who compete for one place, such as two ministers for one office.

Two questions are answered: which places two competitors held for long at the same time, and from
when on another competitor may have begun later. A *place* is what one holder has at a time: a pair,
for the objects of an exclusive relation, or an office, for its subjects. `HeldPlace` names the
columns of both. The tables are the items of `builders.facts.timeline`: facts and gaps without null
dates, each with its possible days.

Windows over sorted rows answer both, and no table is joined with itself, because an office such as
a seat in a parliament can have a hundred thousand holders.
"""

from typing import NamedTuple

import ibis
import ibis.expr.types as ir

from factdrift.builders.facts.intervals import FIRST_DAY

LONG_OVERLAP = 92
"""Days from which on two terms at once are no slip and no stand-in: the longest quarter."""

# Days since the year 1 have 22 bits; item numbers of Wikidata have 27, and 40 leave enough room.
_PER_DAY = 1 << 40
"""The distance between the codes of two days: more than the number of any item."""


class HeldPlace(NamedTuple):
    """The columns of a place, and the column of those who compete for it."""

    columns: tuple[str, ...]
    competitor: str

    def number(self, items: ir.Table) -> ir.IntegerValue:
        """The item numbers of the competitors; 0: it is not known who that is."""
        return items[self.competitor].substr(1).cast("int64").fill_null(0)


OBJECTS_OF_PAIR = HeldPlace(("subject", "relation"), "object")
SUBJECTS_OF_OFFICE = HeldPlace(("relation", "object"), "subject")


def with_terms(items: ir.Table, place: HeldPlace) -> ir.Table:
    """Add `term_ends`: the last day on which a stated term surely lasts; null: it is none.

    `term_open` says that no end is stated.

    A stated term has a stated start and a stated end. An open one is a term, too, if it is of
    preferred rank or if no competitor surely began later. It lasts until the snapshot day, or the
    end of the first of the lives.
    """
    columns = items.columns
    held_facts = items.filter((items.kind != "gap") & (items.start_first <= items.snapshot))
    latest_starts = held_facts.group_by([*place.columns, place.competitor]).agg(
        begins=held_facts.start_first.max()
    )
    latest_holders = latest_starts.group_by(list(place.columns)).agg(
        latest_holder=latest_starts[place.competitor].argmax(latest_starts.begins),
        latest=latest_starts.begins.max(),
    )
    rest = latest_starts.join(latest_holders.drop("latest"), list(place.columns))
    rest = rest.filter(rest[place.competitor] != rest.latest_holder)
    second_starts = rest.group_by(list(place.columns)).agg(second=rest.begins.max())
    items = items.left_join(latest_holders, list(place.columns)).drop(
        *(f"{column}_right" for column in place.columns)
    )
    items = items.left_join(second_starts, list(place.columns))
    others_latest = ibis.ifelse(
        items.latest_holder == items[place.competitor], items.second, items.latest
    )
    is_followed = (others_latest > items.start_last).fill_null(False)
    is_last = (items["rank"] == "preferred") | ~is_followed
    is_term = items.has_start & (items.kind == "state") & (items.has_end | is_last)
    last_day = ibis.ifelse(
        items.end_open, ibis.least(items.snapshot, items.life_end_first), items.end_first
    )
    return items.select(
        *columns,
        term_ends=ibis.ifelse(is_term & (items.has_end | items.end_open), last_day, None),
        term_open="end_open",
    )


def shared_places(items: ir.Table, place: HeldPlace) -> ir.Table:
    """The places that two competitors surely held for `LONG_OVERLAP` days at the same time.

    `items` have the column `term_ends`. Two open terms are not compared.
    """
    days = items.term_ends.delta(items.start_last, unit="day") + 1
    terms = items.filter(items.term_ends.notnull() & (days >= LONG_OVERLAP))
    terms = terms.select(
        *place.columns,
        "term_open",
        competitor=place.number(terms),
        begins="start_last",
        ends="term_ends",
    ).distinct()
    closed_terms = terms.filter(~terms.term_open)
    by_begin = ["begins", "ends", "competitor"]
    numbered = closed_terms.mutate(
        number=ibis.row_number().over(ibis.window(group_by=place.columns, order_by=by_begin))
    )
    so_far = ibis.window(group_by=[*place.columns, "competitor"], order_by="number", rows=(None, 0))
    numbered = numbered.mutate(reach=numbered.ends.max().over(so_far))
    # If any two terms of two competitors overlap, a term and the next one of another competitor do,
    # where a term reaches as far as the earlier ones of its competitor.
    in_order = ibis.window(group_by=place.columns, order_by="number")
    numbered = numbered.mutate(
        next_begins=numbered.begins.lead().over(in_order),
        next_competitor=numbered.competitor.lead().over(in_order),
    )
    common_days = numbered.reach.delta(numbered.next_begins, unit="day") + 1
    meets_other = (numbered.next_competitor != numbered.competitor) & (common_days >= LONG_OVERLAP)
    shared = numbered.filter(meets_other.fill_null(False)).select(place.columns).distinct()
    # In the other places long closed terms follow one another, so that they are few.
    few_terms = closed_terms.anti_join(shared, list(place.columns))
    open_terms = terms.filter(terms.term_open).rename(
        other="competitor", open_begins="begins", open_ends="ends", other_open="term_open"
    )
    pairs = few_terms.join(open_terms, list(place.columns))
    first_day = ibis.greatest(pairs.begins, pairs.open_begins)
    common_days = ibis.least(pairs.ends, pairs.open_ends).delta(first_day, unit="day") + 1
    beside_open = pairs.filter((pairs.competitor != pairs.other) & (common_days >= LONG_OVERLAP))
    return shared.union(beside_open.select(place.columns).distinct(), distinct=True)


def later_starts(items: ir.Table, asking: ir.Table, place: HeldPlace) -> ir.Table:
    """Return from when on another competitor than those of the items `asking` may have begun later.

    `later` is the earliest possible start of the competitors of `items` that began later under some
    reading. Their start is stated. A competitor whose name is not known counts like any other, an
    undated or contradictory statement does not. There is a row for each place, `competitor` (a
    number) and first possible start (`day`) of `asking`, unless nobody began later.
    """
    key = _question_key(place)
    is_clear = ~items.reason.isin(["undated", "contradictory"]).fill_null(False)
    started = items.filter(items.has_start & is_clear)
    # An interval of starts by its last day, and a question by the day after which starts count.
    starts = started.select(
        *place.columns,
        competitor=place.number(started),
        day="start_last",
        begins="start_first",
        asks=ibis.literal(False),
    ).distinct()
    starts = starts.mutate(
        code=starts.begins.delta(FIRST_DAY, unit="day") * _PER_DAY + starts.competitor
    )
    questions = _with_question(asking, place).select(key).distinct()
    questions = questions.select(
        *key, begins=ibis.null("date"), asks=ibis.literal(True), code=ibis.null("int64")
    )
    listed = starts.select(questions.columns).union(questions)
    latest_first = [ibis.desc("day"), ibis.desc("asks"), "code", "competitor"]
    listed = listed.mutate(
        number=ibis.row_number().over(ibis.window(group_by=place.columns, order_by=latest_first))
    )
    before = ibis.window(group_by=place.columns, order_by="number", rows=(None, -1))
    listed = listed.mutate(earliest=listed.code.min().over(before))
    # The least code of another competitor than that of the least one: of each row and the least
    # one before it, the greater loses, where they are not of one competitor.
    is_same = listed.earliest % _PER_DAY == listed.competitor
    lost = ibis.ifelse(
        listed.asks | listed.earliest.isnull() | is_same,
        ibis.null("int64"),
        ibis.greatest(listed.code, listed.earliest),
    )
    listed = listed.mutate(lost=lost)
    listed = listed.mutate(second=listed.lost.min().over(before))
    answers = listed.filter(listed.asks)
    is_own = (answers.earliest % _PER_DAY == answers.competitor).fill_null(False)
    answers = answers.select(*key, code=ibis.ifelse(is_own, answers.second, answers.earliest))
    days_of_codes = starts.select(*place.columns, "code", later="begins").distinct()
    return answers.join(days_of_codes, [*place.columns, "code"]).select(*key, "later")


def with_later(asking: ir.Table, starts: ir.Table, place: HeldPlace) -> ir.Table:
    """Add `later`, of `later_starts`, to the items that asked; null: nobody began later."""
    asked = _with_question(asking, place)
    return asked.left_join(starts, _question_key(place)).select(*asking.columns, "later")


def _question_key(place: HeldPlace) -> list[str]:
    return [*place.columns, "competitor", "day"]


def _with_question(asking: ir.Table, place: HeldPlace) -> ir.Table:
    return asking.mutate(competitor=place.number(asking), day=asking.start_first)
