"""What SPEC sections 1 and 2 say of a pair (subject, relation), computed slowly and plainly.

This module is an independent reading of SPEC: it imports nothing of the toolkit, and no line of it
was written with the toolkit's code in sight. Days are proleptic Gregorian ordinals
(`date.toordinal`), and a point is the pair (first, last) of possible days. It begins with facts:
what a statement's qualifiers say of them is in `test_statements` and `spec_cases.tsv`.

Where SPEC is silent or may be read in two ways, this is the reading taken.

Lives
 L1. Deaths count as the relation's `ends_with` says; births of both always.
 L2. "Unknown ends" are those of which no latest day is known. A stated P582 or a latest date is
     never narrowed by a death, and one that lies after it stays.
 L3. A start surely before the later of the two births is cut to it: it is that birth's own point.
     What would end before it contradicts itself, as a sighting before it does.
 L4. "Wholly outside its subject's life" after the death is asked only where `ends_with` holds the
     subject. An open fact, a sighting or an unknown end that would begin after its object's end has
     nothing left and is a gap too; a stated term is not.
 L5. The gap of a contradictory statement is all time within the lives; its dates are not trusted.

Exclusive relations
 E1. A successor is an open or closed fact of another object, not a gap, that can have begun by the
     snapshot day.
 E2. The inferred end lies in [own start.first, the least start.last of all sure successors], the
     handover day included, and within death and snapshot; of the dead too.
 E3. "Stated terms" (guard b) are any facts but sightings; an open one overlaps surely where it
     begins surely inside another's term. One common end-and-start day is a handover, no overlap.
 E4. Closing comes first: rivals are only those open facts that no successor closed.
 E5. Guard (a) goes before guards (b) and (c): open normal rivals of an open preferred statement of
     another object are in doubt, it is not. Several preferred ones hold together.
 E6. A fact in doubt is possible from its own first possible start on, and certain nowhere. It does
     not merge.
 E7. "Two holders that nobody closed … where the subject has had co-holders … are all in doubt":
     open statements of normal rank beside another object's open one.
 E8. `open_for: N years` counts from the first possible start; then the fact may hold, not surely.
 E9. An open statement that begins wholly after the snapshot gives no segment.

Gaps
 G1. The gap of a statement whose object has no label has the interval that its fact would have;
     without dates, or contradictory, all time.
 G2. An undated statement of an unlabelled object is in doubt under `accept` (scoring has no name to
     accept); under `ignore` it is ignored as undated.
 G3. `undated: keep` keeps the statement as a row of facts without days, which is the same gap. So
     is, in such a relation, a fact of which neither a day nor an end is known.
 G4. `ignore` speaks of undated gaps only.

Merging
 M1. Sightings are points too: they never merge. Merging goes on until nothing touches; merged start
     and end are the earlier and the later of the two under each reading.

Comparisons
 C1. `possible_answers` of an unchanged row are the undated objects in doubt in t+1; one that was so
     only in t lets the row stay and is not accepted.
 C2. Where both answer sets are empty there is no row, and `split` is None.
 C3. "Ended by the snapshot day": the period's last day is at most the snapshot day.
 C4. Of all causes of doubt in t and t+1 the first of `CAUSES` is told.
 C5. `at: end` asks each fact about the period's last day, as if that day were the period. There an
     update that only took objects away has nothing to ask for and is dropped.
 C6. "A `deleted` row has the … targets of the row of t": where that row was an update, what it had
     added; its `still_true` come along.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from itertools import combinations, pairwise
from typing import NamedTuple

MIN_DAY = date.min.toordinal()
MAX_DAY = date.max.toordinal()


class Point(NamedTuple):
    """The possible days of a date, both inclusive."""

    first: int
    last: int


UNKNOWN = Point(MIN_DAY, MAX_DAY)


def both(*points: Point) -> Point:
    """The days of all; empty (first > last) where they have none in common."""
    first_days, last_days = zip(*points, strict=True)
    return Point(max(first_days), min(last_days))


def empty(point: Point) -> bool:
    """Whether no day is left."""
    return point.first > point.last


@dataclass(frozen=True)
class Entity:
    """A subject or an object, and when it began and ended."""

    id: str
    labelled: bool = True
    born: Point | None = None
    died: Point | None = None


@dataclass(frozen=True)
class Relation:
    """The settings of a relation's YAML that matter here."""

    id: str = "P1"
    exclusive: bool = False
    ends_with: tuple[str, ...] = ("subject", "object")
    undated: str = "drop"
    open_for: int | None = None


@dataclass(frozen=True)
class Fact:
    """One validity of an object as its statement has it; `end` is None where it is open.

    With a `reason` (undated, contradictory) it is none, and its dates say nothing.
    """

    object: str
    start: Point = UNKNOWN
    end: Point | None = None
    kind: str = "term"  # term, point or sighting
    rank: str = "normal"
    reason: str | None = None


@dataclass(frozen=True)
class History:
    """Everything that a dump says of one (subject, relation)."""

    subject: Entity
    relation: Relation
    facts: tuple[Fact, ...]
    objects: Mapping[str, Entity]


def narrowed(start: Point, end: Point) -> tuple[Point, Point] | None:
    """ "No end before the start: narrow each by the other"; None where nothing is left."""
    start = Point(start.first, min(start.last, end.last))
    end = Point(max(end.first, start.first), end.last)
    return None if empty(start) or empty(end) else (start, end)


@dataclass(frozen=True)
class Life:
    """What bounds the facts of one subject and one object."""

    birth: Point | None  # the subject's
    subject_death: Point | None  # where the relation ends with it
    both_born: Point | None  # when the later of both began
    death: Point  # when the first of both ended
    open_for: int | None = None

    @property
    def span(self) -> Point:
        """The days on which anything may hold."""
        return Point(self.both_born.first if self.both_born else MIN_DAY, self.death.last)


def life_of(history: History, object_id: str) -> Life:
    """ "a date of death (P570) or of dissolution (P576) is read from both"."""
    roles = {"subject": history.subject, "object": history.objects[object_id]}
    birth_points = [entity.born for entity in roles.values() if entity.born]
    death_points = {
        role: entity.died
        for role, entity in roles.items()
        if entity.died and role in history.relation.ends_with
    }
    return Life(
        history.subject.born,
        death_points.get("subject"),
        Point(*map(max, zip(*birth_points, strict=True))) if birth_points else None,
        Point(*map(min, zip(*death_points.values(), strict=True)))
        if death_points
        else Point(MAX_DAY, MAX_DAY),
        history.relation.open_for,
    )


def lived(fact: Fact, life: Life) -> Fact | None:
    """The fact within the lives (not yet ended by them); None where it contradicts them."""
    start, end = fact.start, fact.end
    about_days = Point(start.first, MAX_DAY if end is None else end.last)
    if fact.kind == "sighting" and end is not None:  # the days within which it saw its state
        about_days = Point(end.first, start.last)
    # "a statement wholly outside its subject's life contradicts itself (a gap)"
    if life.birth and about_days.last < life.birth.first:
        return None
    if life.subject_death and about_days.first > life.subject_death.last:
        return None
    born = life.both_born
    if born and fact.kind == "sighting" and about_days.last < born.first:
        return None
    if born and start.last >= born.first:  # "that may follow the birth or the inception …"
        start = Point(max(start.first, born.first), start.last)
    elif born:  # "… and one that surely lies before it is cut to it"
        start = born
    if end is None:  # the day of death "is the last day on which it may hold"
        start = Point(start.first, min(start.last, life.death.last))
        return None if empty(start) else replace(fact, start=start)
    # "it bounds sightings, unknown ends and gaps as well"
    if fact.kind == "sighting" or end.last == MAX_DAY:
        end = Point(end.first, min(end.last, life.death.last))
    narrowed_points = None if empty(end) or empty(start) else narrowed(start, end)
    if narrowed_points is None:
        return None
    return replace(fact, start=narrowed_points[0], end=narrowed_points[1])


@dataclass(frozen=True)
class Segment:
    """A stretch of one object; in doubt it is certain nowhere."""

    object: str
    kind: str  # state, point or sighting
    start: Point
    end: Point
    end_open: bool = False  # it holds on the snapshot day, and nothing is said of later
    end_inferred: bool = False  # a successor closed it
    doubtful: bool = False  # a rival


@dataclass(frozen=True)
class Gap:
    """ "this object may have held in this interval"."""

    object: str
    first: int
    last: int
    reason: str  # undated, contradictory or unlabelled
    labelled: bool = True


@dataclass(frozen=True)
class Timeline:
    """The segments and gaps of a pair, sorted."""

    segments: tuple[Segment, ...]
    gaps: tuple[Gap, ...]
    co_held: bool = False  # guard (b) lifted the relation's exclusivity


def surely_overlap(first_fact: Fact, second_fact: Fact) -> bool:
    """Whether two terms overlap under every reading; a handover day is no overlap."""

    def surely_after(ending_fact: Fact, beginning_fact: Fact) -> bool:
        """Whether one ends after the other begins."""
        earliest_end = ending_fact.start if ending_fact.end is None else ending_fact.end
        return earliest_end.first > beginning_fact.start.last

    return surely_after(first_fact, second_fact) and surely_after(second_fact, first_fact)


def has_co_holders(facts: Iterable[Fact]) -> bool:
    """Guard (b): "stated terms of two objects ever surely overlap"."""
    terms = [fact for fact in facts if fact.kind != "sighting"]
    return any(
        first_term.object != second_term.object and surely_overlap(first_term, second_term)
        for first_term, second_term in combinations(terms, 2)
    )


def surely_later(later_fact: Fact, earlier_fact: Fact) -> bool:
    """Whether `one` began later than `other` under every reading."""
    return later_fact.start.first > earlier_fact.start.last


def in_doubt(fact: Fact, still_open: Iterable[Fact], co_held: bool) -> bool:
    """Whether a fact of an exclusive relation, still open, is in doubt beside the others."""
    open_rivals = [rival for rival in still_open if rival.object != fact.object]
    if fact not in still_open or fact.rank == "preferred":
        return False  # "Two open statements of preferred rank are co-holders: both hold"
    return (
        # "… of normal rank are in doubt beside it"
        any(rival.rank == "preferred" for rival in open_rivals)
        or (co_held and bool(open_rivals))  # "are all in doubt, the later one too"
        # "open rivals whose order is not sure are all in doubt"
        or any(
            not surely_later(rival, fact) and not surely_later(fact, rival) for rival in open_rivals
        )
    )


def segment_of(fact: Fact, life: Life, snapshot: int, closers: list[Fact], doubt: bool) -> Segment:
    """The segment of a fact within its lives, closed by its successors where it has any."""
    if fact.end is not None:
        kind = "state" if fact.kind == "term" else fact.kind
        return Segment(fact.object, kind, fact.start, fact.end)
    latest_end = min(snapshot, life.death.last)
    if closers:  # "its end is unknown, between its own start and the successor's"
        end = Point(
            fact.start.first, min(latest_end, *(closer.start.last for closer in closers), MAX_DAY)
        )
    elif doubt:
        end = Point(fact.start.first, latest_end)
    else:  # "taken to hold until the snapshot day … ends sooner where its subject or object ended"
        sure_end = min(snapshot, life.death.first)
        if life.open_for is not None:  # "beyond it the object is in doubt, never certain"
            sure_end = min(sure_end, years_later(fact.start.first, life.open_for))
        end = Point(sure_end, latest_end)
    narrowed_points = narrowed(fact.start, end)
    assert narrowed_points is not None, (fact, end)
    return Segment(
        fact.object,
        "state",
        *narrowed_points,
        end_open=life.death.first >= snapshot and not closers,
        end_inferred=bool(closers),
        doubtful=doubt,
    )


def years_later(day: int, years: int) -> int:
    """The same day so many years later; the last of February of a leap day."""
    start_date = date.fromordinal(day)
    first_of_month = date(start_date.year + years, start_date.month, 1).toordinal()
    return min(
        first_of_month + start_date.day - 1,
        last_of_month(start_date.year + years, start_date.month),
    )


def last_of_month(year: int, month: int) -> int:
    """The ordinal of the last day of a month."""
    return date(year + month // 12, month % 12 + 1, 1).toordinal() - 1


def touch(first_segment: Segment, second_segment: Segment) -> bool:
    """ "each one's start.last is at most one day after the other's end.first"."""
    return (
        first_segment.start.last <= second_segment.end.first + 1
        and second_segment.start.last <= first_segment.end.first + 1
    )


def merged(first_segment: Segment, second_segment: Segment) -> Segment:
    """The one segment of two that surely touch."""
    later_segment = max(
        first_segment,
        second_segment,
        key=lambda segment: (
            segment.end.last,
            segment.end.first,
            segment.end_open,
            not segment.end_inferred,
        ),
    )
    start = Point(*map(min, zip(first_segment.start, second_segment.start, strict=True)))
    return replace(
        later_segment,
        start=start,
        end=Point(*map(max, zip(first_segment.end, second_segment.end, strict=True))),
    )


def merge(segments: Iterable[Segment]) -> list[Segment]:
    """Same object again: "one segment only where the two touch or overlap under every reading"."""
    all_segments = list(segments)
    for first_segment, second_segment in combinations(all_segments, 2):
        both_states = first_segment.kind == second_segment.kind == "state"  # "Points never merge"
        both_certain = not first_segment.doubtful and not second_segment.doubtful
        if (
            first_segment.object == second_segment.object
            and both_states
            and both_certain
            and touch(first_segment, second_segment)
        ):
            both_segments = (first_segment, second_segment)
            rest = [segment for segment in all_segments if segment not in both_segments]
            return merge([merged(*both_segments), *rest])
    return all_segments


def adds_nothing(segment: Segment, segments: Iterable[Segment]) -> bool:
    """ "A sighting surely inside a state of the same object adds nothing"."""
    return segment.kind == "sighting" and any(
        state.object == segment.object
        and state.kind == "state"
        and not state.doubtful
        and state.start.last <= segment.end.first
        and segment.start.last <= state.end.first
        for state in segments
    )


def timeline(history: History, snapshot: int) -> Timeline:
    """The timeline of a pair as of the snapshot day (an ordinal): SPEC, "Timelines"."""
    exclusive = history.relation.exclusive
    gaps: list[Gap] = []
    facts: list[tuple[Fact, Life]] = []  # of labelled objects
    nameless: list[tuple[Fact, Life]] = []
    for stated_fact in history.facts if history.subject.labelled else ():
        life = life_of(history, stated_fact.object)
        labelled = history.objects[stated_fact.object].labelled
        within_lives, reason = lived(stated_fact, life), stated_fact.reason
        is_vague = (
            not reason
            and stated_fact.kind == "term"
            and stated_fact.start == UNKNOWN
            and stated_fact.end is None
        )
        if is_vague and history.relation.undated == "keep" and labelled:
            reason = "undated"  # the same row of facts, so the same gap (G3)
        if reason or within_lives is None:
            if not empty(life.span):
                # "Undated, contradictory and unlabelled-object statements are gaps."
                gaps.append(
                    Gap(stated_fact.object, *life.span, reason or "contradictory", labelled)
                )
        else:
            (facts if labelled else nameless).append((within_lives, life))

    co_held = exclusive and has_co_holders([dated_fact for dated_fact, _ in facts])
    facts, nameless = begun(facts, snapshot), begun(nameless, snapshot)
    named_facts = [dated_fact for dated_fact, _ in facts]

    def closing_facts(open_fact: Fact) -> list[Fact]:
        """Those of another object that surely began later (and by the snapshot) and close it."""
        if not exclusive or co_held or open_fact.end is not None or open_fact.rank == "preferred":
            return []  # "a statement of preferred rank is never closed so"
        other_facts = [
            dated_fact
            for dated_fact in named_facts
            if dated_fact.object != open_fact.object and dated_fact.start.first <= snapshot
        ]
        return [dated_fact for dated_fact in other_facts if surely_later(dated_fact, open_fact)]

    still_open = [
        dated_fact
        for dated_fact in named_facts
        if dated_fact.end is None and not closing_facts(dated_fact)
    ]
    segments = [
        segment_of(
            dated_fact,
            life,
            snapshot,
            closing_facts(dated_fact),
            exclusive and in_doubt(dated_fact, still_open, co_held),
        )
        for dated_fact, life in facts
    ]
    for dated_fact, life in nameless:  # "A successor closes an open gap of the pair too."
        closed_segment = segment_of(dated_fact, life, snapshot, closing_facts(dated_fact), False)
        gaps.append(
            Gap(
                dated_fact.object,
                closed_segment.start.first,
                closed_segment.end.last,
                "unlabelled",
                labelled=False,
            )
        )
    segments = merge(segments)
    segments = [segment for segment in segments if not adds_nothing(segment, segments)]
    return Timeline(
        tuple(sorted(segments, key=lambda segment: (segment.start, segment.end, segment.object))),
        tuple(sorted(gaps, key=lambda gap: (gap.first, gap.last, gap.object, gap.reason))),
        co_held,
    )


def begun(facts: list[tuple[Fact, Life]], snapshot: int) -> list[tuple[Fact, Life]]:
    """ "An open fact began by the snapshot day (its start is narrowed to it)"."""
    by_then = Point(MIN_DAY, snapshot)
    begun_facts = [
        (fact if fact.end is not None else replace(fact, start=both(fact.start, by_then)), life)
        for fact, life in facts
    ]
    return [(fact, life) for fact, life in begun_facts if not empty(fact.start)]


@cache
def periods(kind: str, first_year: int, snapshot: int) -> list[Point]:
    """The months, quarters or years from January of a year that had ended by the snapshot."""
    month_count = {"month": 1, "quarter": 3, "year": 12}[kind]
    built_periods: list[Point] = []
    year, month = first_year, 1
    while (last_day := last_of_month(year, month + month_count - 1)) <= snapshot:
        built_periods.append(Point(date(year, month, 1).toordinal(), last_day))
        year, month = year + (month + month_count) // 13, (month + month_count - 1) % 12 + 1
    return built_periods


def certain(segment: Segment, period: Point) -> bool:
    """ "under every reading of its points it held on some day of the period"."""
    surely_held = segment.start.last <= period.last and segment.end.first >= period.first
    return surely_held and not segment.doubtful


def possible(first: int, last: int, period: Point) -> bool:
    """ "under some reading: start.first ≤ b and end.last ≥ a"."""
    return first <= period.last and last >= period.first


CAUSES = ("rival", "possible", "contradictory", "unlabelled", "undated")
"""Why an object may have held and does not surely: by a segment, or by a gap of that reason."""
Names = frozenset[str]
NO_NAMES: Names = frozenset()


class Held(NamedTuple):
    """The objects of one period that are certain, and those in doubt."""

    certain: Names
    in_doubt: Names  # by a segment or a gap that is not undated
    undated: Names  # in doubt by undated statements of labelled objects alone
    nameless: Names  # … of unlabelled objects alone
    causes: Names  # why those that are not certain are in doubt


def held(line: Timeline, period: Point) -> Held:
    """The three values of each object in a period."""
    segments = [
        segment
        for segment in line.segments
        if possible(segment.start.first, segment.end.last, period)
    ]
    gaps = [gap for gap in line.gaps if possible(gap.first, gap.last, period)]
    certain_objects = {segment.object for segment in segments if certain(segment, period)}
    causes = {(segment.object, "rival" if segment.doubtful else "possible") for segment in segments}
    causes |= {(gap.object, gap.reason) for gap in gaps}
    causes = {(name, doubt_cause) for name, doubt_cause in causes if name not in certain_objects}
    # "possible by one fact and certain by none"
    doubtful_objects = {name for name, doubt_cause in causes if doubt_cause != "undated"}
    undated_objects = {
        gap.object: gap.labelled
        for gap in gaps
        if gap.object not in certain_objects | doubtful_objects
    }
    return Held(
        frozenset(certain_objects),
        frozenset(doubtful_objects),
        frozenset(name for name, labelled in undated_objects.items() if labelled),
        frozenset(name for name, labelled in undated_objects.items() if not labelled),
        frozenset(doubt_cause for _, doubt_cause in causes),
    )


@dataclass(frozen=True)
class Comparison:
    """What a pair gives in a period against the one before; `split` is what it would be."""

    split: str | None
    dropped: bool
    answers: Names = NO_NAMES
    added: Names = NO_NAMES
    removed: Names = NO_NAMES
    possible_answers: Names = NO_NAMES
    still_true: Names = NO_NAMES
    cause: str | None = None  # of CAUSES, where it is dropped


def compare_held(old: Held, new: Held, undated: str) -> Comparison:
    """The comparison of what a pair held in t (`old`) and in t+1 (`new`)."""
    old_objects, new_objects = old.certain, new.certain
    split = (
        "new" if new_objects else "deleted" if old_objects else None
    )  # the table of SPEC section 2
    if old_objects and new_objects:
        split = "unchanged" if old_objects == new_objects else "updated"
    undated_names, nameless_objects = old.undated | new.undated, old.nameless | new.nameless
    is_dropped = bool(old.in_doubt | new.in_doubt)
    if undated == "doubt":
        is_dropped = is_dropped or bool(undated_names | nameless_objects)
    if undated == "accept":
        is_dropped = (
            is_dropped or bool(nameless_objects) or bool(split != "unchanged" and undated_names)
        )
    if split is None or is_dropped:
        all_causes = old.causes | new.causes
        first_cause = next((cause for cause in CAUSES if cause in all_causes), None)
        return Comparison(split, is_dropped, cause=first_cause if is_dropped else None)
    return Comparison(
        split,
        is_dropped,
        answers=old_objects if split == "deleted" else new_objects,
        added=new_objects - old_objects,
        removed=old_objects - new_objects,
        # "which scoring accepts and never asks for"
        possible_answers=new.undated if undated == "accept" else NO_NAMES,
    )


def comparisons(
    line: Timeline,
    kind: str,
    first_year: int,
    snapshot: int,
    undated: str = "accept",
    when_counted: str = "during",
) -> list[tuple[Point, Comparison]]:
    """Every period but the first ("has no split"), against the one before it."""
    built_periods = periods(kind, first_year, snapshot)
    # at the end: "every object that is certain on the last day of t"
    held_values = [
        held(line, period if when_counted == "during" else Point(period.last, period.last))
        for period in built_periods
    ]
    rows = [compare_held(before, after, undated) for before, after in pairwise(held_values)]
    if when_counted == "end":
        rows = [asked_at_end(row_number, row, held_values) for row_number, row in enumerate(rows)]
    return list(zip(built_periods[1:], rows, strict=True))


def asked_at_end(row_number: int, row: Comparison, held_values: Sequence[Held]) -> Comparison:
    """ "The targets of an updated row are what was added; what stayed is in still_true"."""
    if row.dropped or row.split not in ("updated", "deleted"):
        return row
    if row.split == "updated" and not row.added:
        return Comparison("updated", True, cause="nothing_added")
    # "A deleted row has … the targets of the row of t, word for word"
    held_place = row_number if row.split == "updated" else row_number - 1
    if held_place < 0:
        return row
    held_before, held_then = held_values[held_place].certain, held_values[held_place + 1].certain
    return replace(row, still_true=held_before & held_then) if held_then - held_before else row
