"""The verdict on one fact of a table, from all that a dump states of its subject and relation.

Only what holds under every reading of the dates makes an answer true, and only what holds under
none makes it untrue (`facts.intervals`). Where the source is silent, nothing is said of the fact:
it is not in the dump. Where it cannot be read in one way, the fact is in doubt: unknown or open
dates that the timelines do not trust, deprecated statements, unknown values, objects without a
name.

Statements without any date are facts where none of the pair has a date and the relation's template
keeps such statements, or there is no template; those of preferred rank then count before others.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import NamedTuple

from factdrift.builders.facts.intervals import Certainty, Interval
from factdrift.builders.text.squad import normalize_or_keep
from factdrift.scoring.audit.rows import Holder, TableAnswer, Verdict

MOST_HOLDERS = 100
"""Items that are listed as holding on a day: a club has fewer players, a prize fewer winners."""
NAMELESS, OTHER_READINGS = "object without a name", "other readings"
CAUSE_WORDS = {
    "contradictory": "contradictory statement",
    "object_kind": "object of another kind",
    "unknown_value": "unknown value",
    "unlabelled_object": NAMELESS,
    "unlabelled_subject": "subject without a name",
}
"""The reasons of gaps and drops (`rows.NoFact`) in the words of an audit, where they differ."""


class Stretch(NamedTuple):
    """A stretch of time in which an item holds, or may hold: a segment or gap of the timelines.

    `cause` is why it is only possible, as `rival` or `undated`; empty: it is a segment. `item` is
    None where the value is unknown, or has no name. `stated_first` is the first day that statements
    give as its start, where the inception of its subject or object may have cut it; None: none.
    """

    item: str | None
    interval: Interval[date]
    cause: str
    preferred: bool = False
    stated_first: date | None = None

    @property
    def tells(self) -> bool:
        """Whether it surely held at some time: its dates are no worse for want of a name."""
        return not self.interval.doubtful or self.cause == "unlabelled_object"


@dataclass(frozen=True)
class PairHistory:
    """All that a dump states of one subject and relation.

    `names`: items -> label and aliases; `keeps_undated`: whether undated statements are facts.
    """

    stretches: Sequence[Stretch] = ()
    deprecated: Collection[str] = ()
    names: Mapping[str, Holder] = field(default_factory=dict)
    keeps_undated: bool = False

    @cached_property
    def normal_names(self) -> dict[str, frozenset[str]]:
        """The normalized names of each item."""
        return {
            item: normal_forms((holder.label, *holder.aliases))
            for item, holder in self.names.items()
        }

    @cached_property
    def items(self) -> list[str]:
        """The items that statements which are not deprecated name, sorted by number."""
        named_items = {stretch.item for stretch in self.stretches if stretch.item}
        return sorted(named_items, key=lambda item: (len(item), item))

    @cached_property
    def timeless(self) -> bool:
        """Whether no statement has a date, so that undated ones are facts."""
        return self.keeps_undated and all(stretch.cause == "undated" for stretch in self.stretches)

    @cached_property
    def by_item(self) -> dict[str, list[Stretch]]:
        """The stretches of each item."""
        stretches: dict[str, list[Stretch]] = {}
        for stretch in self.stretches:
            if stretch.item:
                stretches.setdefault(stretch.item, []).append(stretch)
        return stretches

    def state(self, item: str, first_day: date, last_day: date) -> Certainty:
        """Whether an item holds on some day of a window."""
        stretches = self.by_item[item]
        if self.timeless:
            has_preferred = any(stretch.preferred for stretch in self.stretches)
            is_best = not has_preferred or any(stretch.preferred for stretch in stretches)
            return Certainty.of(is_best and item in self.names, True)
        states = [stretch.interval.holds_within(first_day, last_day) for stretch in stretches]
        is_possible = any(state is not Certainty.NO for state in states)
        return Certainty.of(Certainty.CERTAIN in states, is_possible)

    def holders(self, first_day: date, last_day: date) -> list[Holder]:
        """What surely holds in a window; `MOST_HOLDERS` of it at most."""
        certain = Certainty.CERTAIN
        held_items = [
            item for item in self.items if self.state(item, first_day, last_day) is certain
        ]
        return [self.names.get(item, Holder(item, item, ())) for item in held_items[:MOST_HOLDERS]]


class AuditVerdict(NamedTuple):
    """The verdict on a fact; the fields are those of `JudgedFact`."""

    verdict: Verdict
    reason: str | None = None
    until_first: date | None = None
    until_last: date | None = None
    from_year: int | None = None
    holders: Sequence[Holder] = ()
    gone: Sequence[str] = ()


def normal_forms(names: Collection[str]) -> frozenset[str]:
    """The names as scoring compares them, without blank ones."""
    return frozenset(form for form in map(normalize_or_keep, names) if form)


def judge(
    history: PairHistory,
    answers: Sequence[TableAnswer],
    first_day: date,
    last_day: date,
    is_present: Callable[[str], bool] = lambda item: True,
) -> AuditVerdict:
    """The verdict on answers in a window of days.

    An answer is an item by its id, and also by its names where it has no id or the dump lacks the
    item (`is_present`), as those of removed items and those that a cut dump leaves out.
    """
    if not history.stretches:
        if history.deprecated:
            return AuditVerdict("in doubt", "deprecated statement")
        return AuditVerdict("not in the dump", "no statement of the property")
    items = _items_of(history, answers, is_present)
    states = {item: history.state(item, first_day, last_day) for item in items}
    holders = history.holders(first_day, last_day)
    stretches = [stretch for item in items for stretch in history.by_item[item]]
    judgment = AuditVerdict(
        "in doubt",
        from_year=_first_year(stretches),
        holders=holders,
        gone=[item for item in items if states[item] is Certainty.NO],
    )
    if Certainty.CERTAIN in states.values():
        listed = {*items, *_named_items(history, answers)}
        is_alone = all(holder.id in listed for holder in holders)
        return judgment._replace(verdict="still true" if is_alone else "one of several")
    if Certainty.POSSIBLE in states.values():
        return judgment._replace(reason=_cause(stretches, first_day, last_day))
    if doubt := _doubt(history, answers, items):
        return judgment._replace(reason=doubt)
    if not items:
        return judgment._replace(verdict="never stated")
    return _past_or_later(stretches, (first_day, last_day), judgment)


def _items_of(
    history: PairHistory, answers: Sequence[TableAnswer], is_present: Callable[[str], bool]
) -> list[str]:
    """The items of the history that the answers name, in its order."""
    ids = {answer.id for answer in answers if answer.id}
    unlinked = [answer for answer in answers if not answer.id or not is_present(answer.id)]
    named_items = _named_items(history, unlinked)
    return [item for item in history.items if item in ids or item in named_items]


def _named_items(history: PairHistory, answers: Sequence[TableAnswer]) -> set[str]:
    """The items of the history, also of deprecated statements, that bear a name of an answer."""
    answer_names = normal_forms([name for answer in answers for name in answer.names])
    return {item for item, names in history.normal_names.items() if names & answer_names}


def _doubt(
    history: PairHistory, answers: Sequence[TableAnswer], items: Sequence[str]
) -> str | None:
    """Why the source does not tell that an answer is untrue; None: it does."""
    ids = {answer.id for answer in answers}
    namesakes = _named_items(history, answers)
    if any(item in ids or item in namesakes for item in history.deprecated):
        return "deprecated statement"
    if items:
        return None
    if namesakes:
        return "another item of this name"
    if any(stretch.item is None for stretch in history.stretches):
        return "unknown value"
    has_names = all(history.names.get(item) for item in history.items)
    if not has_names and any(not answer.id for answer in answers):
        return NAMELESS
    return None


def _cause(stretches: Sequence[Stretch], first_day: date, last_day: date) -> str:
    """Why what may hold in a window does not surely hold."""
    return _first_cause(
        stretch
        for stretch in stretches
        if stretch.interval.holds_within(first_day, last_day) is not Certainty.NO
    )


def _first_cause(stretches: Iterable[Stretch]) -> str:
    """The first of the causes for which stretches are in doubt, in words."""
    causes = {
        CAUSE_WORDS.get(stretch.cause, stretch.cause)
        or ("open or unknown dates" if _is_loose(stretch) else OTHER_READINGS)
        for stretch in stretches
    }
    return min(causes, default=OTHER_READINGS)


def _is_loose(stretch: Stretch) -> bool:
    return None in stretch.interval.boundaries


def _past_or_later(
    stretches: Sequence[Stretch], days: tuple[date, date], judgment: AuditVerdict
) -> AuditVerdict:
    """The verdict on answers that are stated, and surely do not hold on these days.

    What may never have held, such as an undated statement, makes nothing untrue; but it may have
    held until after what surely did.
    """
    first_day, last_day = days
    past_stretches = [
        stretch
        for stretch in stretches
        if stretch.interval.lasts_until(first_day) is Certainty.NO and stretch.interval.end_last
    ]
    if any(stretch.tells for stretch in past_stretches):
        return _past(past_stretches, judgment)
    if not any(stretch.tells or stretch.cause == "rival" for stretch in stretches):
        return judgment._replace(reason=_first_cause(stretches))
    if any(stretch.stated_first and stretch.stated_first <= last_day for stretch in stretches):
        return judgment._replace(reason=OTHER_READINGS)
    return judgment._replace(verdict="true later")


def _past(past_stretches: Sequence[Stretch], judgment: AuditVerdict) -> AuditVerdict:
    """The verdict on answers of which something surely held; the last day lies where it may."""
    ends = [
        (stretch.interval.end_last or date.min, stretch.interval.end_first, stretch.tells)
        for stretch in past_stretches
    ]
    told_last = max((end for end in ends if end[2]), key=lambda end: end[0])
    return judgment._replace(
        verdict="true before",
        until_first=told_last[1],
        until_last=max(end_last for end_last, _, _ in ends),
    )


def _first_year(stretches: Sequence[Stretch]) -> int | None:
    """The year in which the first of these surely began; None where that is not known."""
    years = set()
    for stretch in stretches:
        start_first, start_last = stretch.interval.boundaries[:2]
        if start_first is None or start_last is None or start_first.year != start_last.year:
            return None
        years.add(start_first.year)
    return min(years) if years else None
