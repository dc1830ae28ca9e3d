"""What a text states about a fact and a day, and how a passage is judged for a question.

`stated_fact` is the one place that says "this text states this fact, for these days": it reads the
words of the relation and the dates on their side (`builders.facts.text_evidence`). `judge` is the
one place that says what such a passage is worth for a question about a day.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from factdrift.builders.facts.intervals import Certainty, Interval
from factdrift.builders.facts.relations import NewsWording
from factdrift.builders.facts.text_evidence import (
    FactDates,
    FactEvidence,
    FactPassage,
    fact_evidence,
)
from factdrift.builders.text.dates import DateMention, DayInterval
from factdrift.reasoning.as_of.rows import PassageFact

Grade = Literal["proves", "supports", "unjudged", "stale"]
"""Judged 2, 1, not at all, and 0."""
FRESH = timedelta(31)
"""How long a state that a text reports is taken to be proved: a month, since nobody reports anew
every day who holds an office (SPEC 8)."""
_NEWS = timedelta(60)
"""Time before a text in which a beginning is its news: the same as in `builders.generate.grounded`,
so that both datasets call the same thing news."""


@dataclass(frozen=True, slots=True)
class StatedDays:
    """The days for which a text states a fact, as far as it says so.

    `is_current`: it says that the fact holds on the day of the text. `is_change`: it tells as its
    news that the fact began. `stated_from` and `stated_until` are the days that it writes.
    """

    is_current: bool
    is_change: bool
    stated_from: date | None
    stated_until: date | None
    relation_word: str


def stated_days(
    passage: FactPassage,
    held: Interval[date],
    wording: NewsWording,
    day: date,
    evidence: FactEvidence | None = None,
) -> StatedDays | None:
    """Return for which days a text states a fact, or None if it does not state it.

    `held`: when the fact held; `day`: the day of the text. A text with the names of subject and
    object, as of news, states a state of its own day; a page about the subject states what its
    dates say. `evidence` is that of the passage where a caller has looked for it.
    """
    evidence = evidence or fact_evidence(passage, fact_dates(held, day), wording)
    if evidence.relation is None:
        return None
    starts, ends = evidence.starts or (), evidence.ends or ()
    is_open, last_day = _last_day(ends)
    is_news = passage.names is not None
    is_current = held.holds_within(day, day) is Certainty.CERTAIN
    is_current &= is_open or (is_news and last_day is None)
    if not (is_current or starts or last_day):
        return None
    # The year of a beginning proves no day of it, since what began may soon have ended.
    proves_start = is_current or last_day is not None or _is_exact(starts)
    is_fresh = is_news and held.starts_within(day - _NEWS, day) is Certainty.CERTAIN
    return StatedDays(
        is_current=is_current,
        is_change=evidence.is_change and is_fresh,
        stated_from=_first_day(starts, day) if proves_start else None,
        stated_until=last_day,
        relation_word=evidence.relation,
    )


def fact_dates(held: Interval[date], day: date) -> FactDates:
    """The boundaries of a fact, as texts of a day may state them: no text knows a later end."""
    start_days = _both(held.start_first, held.start_last)
    if held.is_open or held.holds_within(day, day) is Certainty.CERTAIN:
        return FactDates(start_days, None, is_open=True)
    return FactDates(start_days, _both(held.end_first, held.end_last))


def _both(first_day: date | None, last_day: date | None) -> DayInterval | None:
    return (first_day, last_day) if first_day and last_day else None


def _is_exact(mentions: Collection[DateMention]) -> bool:
    """Whether one of these dates is a day or a month."""
    return any(mention.last - mention.first <= FRESH for mention in mentions)


def _first_day(starts: Collection[DateMention], day: date) -> date | None:
    """The day by which something surely had begun, by the dates of a text of this day."""
    first_day = min((mention.last for mention in starts), default=None)
    return None if first_day is None or first_day > day else first_day


def _last_day(ends: Collection[DateMention]) -> tuple[bool, date | None]:
    """Whether a text says that something goes on, else the day until which it surely lasted."""
    is_open = any(mention.last == date.max for mention in ends)
    last_days = [mention.first for mention in ends if mention.last != date.max]
    return is_open, max(last_days, default=None)


def proved_days(fact: PassageFact) -> tuple[date, date] | None:
    """The first and the last day for which a text itself proves that a fact holds, if any.

    A beginning that the text tells as its news proves the days from then on, a date in it the days
    from that date on, and a text without either its own day alone. What a page says of a beginning
    proves the beginning, not how long it lasted.
    """
    first_day = fact.stated_from
    if first_day is None and fact.is_change:
        first_day = fact.since
    if fact.is_current:
        return first_day or fact.day, fact.day
    if fact.stated_until is None:
        return (first_day, first_day) if first_day else None
    return first_day or fact.stated_until - FRESH, fact.stated_until


def judge(
    fact: PassageFact, answers: Collection[str], statements: Collection[str], as_of: date
) -> Grade:
    """Say what a passage that states a fact is worth for a question about a day.

    `answers` are the objects that hold on the day `as_of`, `statements` those of their terms.

    - It proves the state where its days cover the day, or end in the 31 days up to it.
    - It supports it where it states the same term on an earlier day.
    - It is not judged where it states the same term on a later day alone, or another term of an
      answer, or where it names an answer beside another object.
    - It is stale where it states the term of another object.
    """
    if fact.object not in answers:
        return "unjudged" if set(answers) & set(fact.also_named) else "stale"
    if not set(statements) & set(fact.statements):
        return "unjudged"
    days = proved_days(fact)
    if days is None:
        return "supports"
    if as_of < days[0]:
        return "unjudged"
    return "proves" if as_of <= days[1] + FRESH else "supports"
