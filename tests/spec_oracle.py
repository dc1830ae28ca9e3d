"""What SPEC sections 1 and 2 say of a pair (subject, relation), computed slowly and plainly.

This module is an independent reading of SPEC: it imports nothing of the toolkit, and no line of it
was written with the toolkit's code in sight. Days are proleptic Gregorian ordinals
(`date.toordinal`), and a point is the pair (first, last) of possible days.

Where SPEC is silent or may be read in two ways, this is the reading taken.

Time values
 T1. A value wholly outside the years 1 … 9999 is clamped to the nearest day that exists.
 T2. Precisions finer than a day are days; a day that does not exist (30 February) is unknown.
 T3. The decade of the year y is y // 10 * 10 … + 9, whichever year of it the value names.

A statement's facts
 F1. `novalue` of any qualifier counts as its absence, but the statement is not "without any time
     qualifier": P582 `novalue` alone is an open fact of unknown start.
 F2. `somevalue`, and values coarser than a decade, do stand there: P580 `somevalue` with P1319 is a
     start bounded by it, P585 `somevalue` a sighting on an unknown day.
 F3. Several P580 and P582 pair up only where each pair is possible (s.first <= e.last) and each end
     lies surely before the next start (e.last < s.first).
 F4. An unknown value among several makes the hull unknown: it says that there is one more date.
 F5. Several P585 give one fact (sighting or point) each.
 F6. A bound counts to the end of its own precision; of several values of one bound the hull counts.
 F7. P1319 and P1326 beside P580 without P582 both bound the start, beside P582 alone both the end.
 F8. Any bound on the end (P8554, P12506, P1326 alone) says that there is an end, its day unknown.
 F9. Bounds that leave no day contradict the statement as an end before the start does.
 F10. Each fact of a statement that gives several is bounded, and may contradict itself, alone.
 F11. What happens (a pointwise relation) and has a start alone is a point, as of P585. A start of
      `somevalue` alone tells no point, and the fact is open.

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
 L6. A death of `somevalue`, or coarser than a decade, is a death on an unknown day. `novalue` is no
     date. Dates of deprecated rank are not read.
 L7. Where an entity has both P570 and P576 the earlier one counts; of P569 and P571 the later.

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
     is, in such a relation, a statement whose time qualifiers tell no day and no end.
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

Snapshot diff (of triples; a triple is in a dump if any statement not deprecated states it)
 D1. Only in the new dump: *new* where it has terms, each begins surely after T_old, and none of it
     is a gap; else *added*.
 D2. Only in the old dump: *obsolete* where every term of it had a stated end by T_new, and one of
     these ends lies surely on T_old or later; else *removed*.
 D3. In both, by the new dump's timeline: *new* (*returned* after a term before) where a segment
     begins surely after T_old, none may reach T_old, and the old dump had none that begins after
     T_old; *static* where one may reach T_new; *obsolete* where one may reach T_old; else *static*
     where both dumps tell the same segments, *corrected* where they do not.
 D4. A triple without any segment in the new dump (only gaps) is *static* where both have it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from itertools import combinations, pairwise
from typing import NamedTuple

MIN_DAY = date.min.toordinal()
MAX_DAY = date.max.toordinal()

START, END, POINT = "P580", "P582", "P585"
EARLIEST, LATEST = "P1319", "P1326"
LATEST_START, EARLIEST_END, LATEST_END = "P8555", "P8554", "P12506"
TIME_QUALIFIERS = (
    START, END, POINT, EARLIEST, LATEST, LATEST_START, EARLIEST_END, LATEST_END,
)  # fmt: skip
BIRTHS = ("P569", "P571")
DEATHS = ("P570", "P576")


class Time(NamedTuple):
    """A time value as Wikidata has it; month and day are 0 where the precision has none."""

    year: int
    month: int = 0
    day: int = 0
    precision: int = 9
    julian: bool = False


Snak = Time | str
"""A time, or `somevalue` or `novalue`."""


@dataclass(frozen=True)
class Statement:
    """One claim of the pair: its object, its rank and its time qualifiers."""

    object: str
    rank: str = "normal"
    qualifiers: Mapping[str, tuple[Snak, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Entity:
    """A subject or an object: its life dates by property, as (rank, snak)."""

    id: str
    labelled: bool = True
    dates: Mapping[str, tuple[tuple[str, Snak], ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Relation:
    """The settings of a relation's YAML that matter here."""

    id: str = "P1"
    mode: str = "accumulate"
    exclusive: bool = False
    ends_with: tuple[str, ...] = ("subject", "object")
    undated: str = "drop"
    open_for: int | None = None


@dataclass(frozen=True)
class History:
    """Everything that a dump says of one (subject, relation)."""

    subject: Entity
    relation: Relation
    statements: tuple[Statement, ...]
    objects: Mapping[str, Entity]


class Point(NamedTuple):
    """The possible days of a date, both inclusive."""

    first: int
    last: int


UNKNOWN = Point(MIN_DAY, MAX_DAY)


def day_number(year: int, month: int, day: int, julian: bool = False) -> int:
    """The ordinal of a day: "Clamp to the years 1 … 9999", "may be Julian: convert"."""
    if julian and year >= 1:
        days_before = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334][month - 1]
        count = 365 * (year - 1) + (year - 1) // 4 + days_before + day
        count += year % 4 == 0 and month > 2
        return max(MIN_DAY, min(MAX_DAY, count - 2))  # 0001-01-03 Julian is 0001-01-01 Gregorian
    if not 1 <= year <= 9999:
        return MIN_DAY if year < 1 else MAX_DAY
    return date(year, month, day).toordinal()


def last_of_month(year: int, month: int) -> int:
    """The ordinal of the last day of a month."""
    if year < 1 or (year, month) >= (9999, 12):
        return MIN_DAY if year < 1 else MAX_DAY
    return day_number(year + month // 12, month % 12 + 1, 1) - 1


def point(snak: Snak) -> Point:
    """The possible days: "A time point is an interval of possible days [first, last]"."""
    if isinstance(snak, str) or snak.precision < 8:  # "Coarser than a decade = unknown"
        return UNKNOWN
    year, month, day, precision, julian = snak
    try:
        # "Only days are converted from the Julian calendar; coarser points keep their year"
        if precision >= 11:
            one = day_number(year, month, day, julian)
            return Point(one, one)
        if precision == 10:
            return Point(day_number(year, month, 1), last_of_month(year, month))
    except (ValueError, IndexError):
        return UNKNOWN
    first, last = (year, year) if precision == 9 else (year // 10 * 10, year // 10 * 10 + 9)
    return Point(day_number(first, 1, 1), day_number(last, 12, 31))


def hull(points: Iterable[Point]) -> Point:
    """The least point that holds all of them."""
    firsts, lasts = zip(*points, strict=True)
    return Point(min(firsts), max(lasts))


def both(*points: Point) -> Point:
    """The days of all; empty (first > last) where they have none in common."""
    firsts, lasts = zip(*points, strict=True)
    return Point(max(firsts), min(lasts))


def empty(p: Point) -> bool:
    """Whether no day is left."""
    return p.first > p.last


@dataclass(frozen=True)
class Fact:
    """One validity of an object as its statement has it; `end` is None where it is open."""

    object: str
    rank: str
    kind: str  # term, point or sighting
    start: Point
    end: Point | None


@dataclass(frozen=True)
class Reading:
    """What a statement gives: facts, and how many of them contradict themselves."""

    facts: tuple[Fact, ...]
    contradictions: int = 0
    undated: bool = False


def narrowed(start: Point, end: Point) -> tuple[Point, Point] | None:
    """ "No end before the start: narrow each by the other"; None where nothing is left."""
    start = Point(start.first, min(start.last, end.last))
    end = Point(max(end.first, start.first), end.last)
    return None if empty(start) or empty(end) else (start, end)


def paired(starts: list[Point], ends: list[Point]) -> bool:
    """ "where, sorted, they pair up without overlap (s1 ≤ e1 < s2 ≤ e2 …)"; both sorted.

    "n starts with n-1 ends that pair up so give n-1 closed facts and one open one".
    """
    return (
        len(ends) <= len(starts) <= len(ends) + 1
        and all(s.first <= e.last for s, e in zip(starts, ends, strict=False))
        and all(e.last < s.first for e, s in zip(ends, starts[1:], strict=False))
    )


def read_statement(statement: Statement, mode: str) -> Reading:
    """The facts of one statement, nothing inferred: SPEC, "A statement's facts"."""
    stated = {q: v for q, v in statement.qualifiers.items() if q in TIME_QUALIFIERS and v}
    if not stated:
        return Reading((), undated=True)  # "A statement without any time qualifier"
    points = {q: sorted(point(s) for s in snaks if s != "novalue") for q, snaks in stated.items()}
    points = {q: some for q, some in points.items() if some}
    return read_points(statement.object, statement.rank, points, mode)


def read_points(name: str, rank: str, points: Mapping[str, list[Point]], mode: str) -> Reading:
    """The facts of a dated statement from the sorted points of its qualifiers."""
    starts, ends, sights = (points.get(q, []) for q in (START, END, POINT))
    start_bound, end_bound, point_bound = bounds(points)
    found: list[tuple[str, Point, Point | None]] = []  # "beside P580 or P582, P585 is ignored"
    if sights and not starts and not ends:
        for p in (both(each, point_bound) for each in sights):
            if mode == "pointwise":  # "it held on one day inside that point: start = end"
                p = both(p, start_bound, end_bound)
                found.append(("point", p, p))
            elif empty(p):
                found.append(("sighting", p, None))
            else:  # "a sighting: … it began at or before it and ended at or after it"
                start = both(Point(MIN_DAY, p.last), start_bound)
                found.append(("sighting", start, both(Point(p.first, MAX_DAY), end_bound)))
    else:
        # "P582 missing or novalue: open"; "bounds on the start alone leave the end open"
        ended = bool(ends) or EARLIEST_END in points or LATEST_END in points
        ended = ended or (LATEST in points and not starts and not ends)
        terms: list[tuple[Point, Point | None]]
        if len(starts) > 1 and paired(starts, ends):
            terms = list(zip(starts, [*ends, None], strict=False))
        else:  # "else start and end are the hulls of what is stated of each"
            terms = [(hull(starts or [UNKNOWN]), hull(ends or [UNKNOWN]) if ended else None)]
        for first, last in terms:
            start = both(first, start_bound)
            until = None if last is None else both(last, end_bound)
            if mode == "pointwise" and until is None and start != UNKNOWN:
                found.append(("point", start, start))
            else:
                found.append(("term", start, until))
    facts: list[Fact] = []
    for kind, start, end in found:
        # "where nothing is left the statement contradicts itself"
        if empty(start) or (end is not None and (empty(end) or not narrowed(start, end))):
            continue
        start, end = (start, None) if end is None else narrowed(start, end) or (start, end)
        facts.append(Fact(name, rank, kind, start, end))
    return Reading(tuple(facts), len(found) - len(facts))


def bounds(points: Mapping[str, list[Point]]) -> tuple[Point, Point, Point]:
    """What P1319, P1326, P8555, P8554 and P12506 leave to the start, the end and the point.

    "P1319 (earliest date) and P1326 (latest date) bound the point that they stand beside, or alone
    the start and the end; P8555, P8554 and P12506 bound what they name. Beside both P580 and P582,
    P1319 bounds the start and P1326 the end."
    """

    def first(q: str) -> Point:
        return Point(hull(points[q]).first, MAX_DAY) if q in points else UNKNOWN

    def last(q: str) -> Point:
        return Point(MIN_DAY, hull(points[q]).last) if q in points else UNKNOWN

    of_start, of_end, of_point = (
        last(LATEST_START),
        both(first(EARLIEST_END), last(LATEST_END)),
        UNKNOWN,
    )
    beside = both(first(EARLIEST), last(LATEST))
    if START in points and END not in points:
        of_start = both(of_start, beside)
    elif END in points and START not in points:
        of_end = both(of_end, beside)
    elif POINT in points and START not in points:
        of_point = beside
    else:  # both, or neither
        of_start, of_end = both(of_start, first(EARLIEST)), both(of_end, last(LATEST))
    return of_start, of_end, of_point


def facts_of(history: History, of: str) -> list[Fact]:
    """The facts of an object, undated ones (kept by `undated: keep`) with unknown days."""
    rows: list[Fact] = []
    for statement in history.statements:
        if statement.rank == "deprecated" or statement.object != of:
            continue
        read = read_statement(statement, history.relation.mode)
        rows += read.facts
        if read.undated and history.relation.undated == "keep":
            rows.append(Fact(of, statement.rank, "undated", UNKNOWN, None))
    return rows


def life_date(entity: Entity, properties: Iterable[str], later: bool) -> Point | None:
    """The date of a birth (the later of the two properties') or of a death (the earlier)."""
    dates: list[Point] = []
    for p in properties:
        snaks = [(r, s) for r, s in entity.dates.get(p, ()) if s != "novalue" and r != "deprecated"]
        best = [(r, s) for r, s in snaks if r == "preferred"] or snaks
        if best:  # "Of several dates … the preferred rank counts, else their hull"
            dates.append(hull(point(s) for _, s in best))
    if not dates:
        return None
    pick = max if later else min
    return Point(pick(p.first for p in dates), pick(p.last for p in dates))


@dataclass(frozen=True)
class Life:
    """What bounds the facts of one subject and one object."""

    birth: Point | None  # the subject's
    subject_death: Point | None  # where the relation ends with it
    object_death: Point | None
    object_birth: Point | None = None
    open_for: int | None = None

    @property
    def both_born(self) -> Point | None:
        """When the later of subject and object began."""
        births = [p for p in (self.birth, self.object_birth) if p is not None]
        return Point(*map(max, zip(*births, strict=True))) if births else None

    @property
    def death(self) -> Point:
        """When the first of both ended."""
        deaths = [p for p in (self.subject_death, self.object_death) if p is not None]
        return Point(*map(min, zip(*deaths, strict=True))) if deaths else Point(MAX_DAY, MAX_DAY)

    @property
    def span(self) -> Point:
        """The days on which anything may hold."""
        return Point(self.both_born.first if self.both_born else MIN_DAY, self.death.last)


def life_of(history: History, of: str) -> Life:
    """ "a date of death (P570) or of dissolution (P576) is read from both"."""
    ends_with = history.relation.ends_with
    subject, object_ = history.subject, history.objects[of]
    return Life(
        life_date(subject, BIRTHS, later=True),
        life_date(subject, DEATHS, later=False) if "subject" in ends_with else None,
        life_date(object_, DEATHS, later=False) if "object" in ends_with else None,
        life_date(object_, BIRTHS, later=True),
        history.relation.open_for,
    )


def lived(fact: Fact, life: Life) -> Fact | None:
    """The fact within the lives (not yet ended by them); None where it contradicts them."""
    start, end = fact.start, fact.end
    about = Point(start.first, MAX_DAY if end is None else end.last)
    if fact.kind == "sighting" and end is not None:  # the days within which it saw its state
        about = Point(end.first, start.last)
    # "a statement wholly outside its subject's life contradicts itself (a gap)"
    if life.birth and about.last < life.birth.first:
        return None
    if life.subject_death and about.first > life.subject_death.last:
        return None
    born = life.both_born
    if born and fact.kind == "sighting" and about.last < born.first:
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
    left = None if empty(end) or empty(start) else narrowed(start, end)
    return None if left is None else replace(fact, start=left[0], end=left[1])


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


def surely_overlap(one: Fact, other: Fact) -> bool:
    """Whether two terms overlap under every reading; a handover day is no overlap."""

    def surely_after(a: Fact, b: Fact) -> bool:  # a ends after b begins
        return (a.start.first if a.end is None else a.end.first) > b.start.last

    return surely_after(one, other) and surely_after(other, one)


def has_co_holders(facts: Iterable[Fact]) -> bool:
    """Guard (b): "stated terms of two objects ever surely overlap"."""
    terms = [f for f in facts if f.kind != "sighting"]
    return any(a.object != b.object and surely_overlap(a, b) for a, b in combinations(terms, 2))


def surely_later(one: Fact, other: Fact) -> bool:
    """Whether `one` began later than `other` under every reading."""
    return one.start.first > other.start.last


def in_doubt(fact: Fact, still_open: Iterable[Fact], co_held: bool) -> bool:
    """Whether a fact of an exclusive relation, still open, is in doubt beside the others."""
    rivals = [f for f in still_open if f.object != fact.object]
    if fact not in still_open or fact.rank == "preferred":
        return False  # "Two open statements of preferred rank are co-holders: both hold"
    return (
        any(f.rank == "preferred" for f in rivals)  # "… of normal rank are in doubt beside it"
        or (co_held and bool(rivals))  # "are all in doubt, the later one too"
        # "open rivals whose order is not sure are all in doubt"
        or any(not surely_later(f, fact) and not surely_later(fact, f) for f in rivals)
    )


def segment_of(fact: Fact, life: Life, snapshot: int, closers: list[Fact], doubt: bool) -> Segment:
    """The segment of a fact within its lives, closed by its successors where it has any."""
    if fact.end is not None:
        kind = "state" if fact.kind == "term" else fact.kind
        return Segment(fact.object, kind, fact.start, fact.end)
    latest = min(snapshot, life.death.last)
    if closers:  # "its end is unknown, between its own start and the successor's"
        end = Point(fact.start.first, min(latest, *(f.start.last for f in closers), MAX_DAY))
    elif doubt:
        end = Point(fact.start.first, latest)
    else:  # "taken to hold until the snapshot day … ends sooner where its subject or object ended"
        sure = min(snapshot, life.death.first)
        if life.open_for is not None:  # "beyond it the object is in doubt, never certain"
            sure = min(sure, years_later(fact.start.first, life.open_for))
        end = Point(sure, latest)
    left = narrowed(fact.start, end)
    assert left is not None, (fact, end)
    return Segment(
        fact.object,
        "state",
        *left,
        end_open=life.death.first >= snapshot and not closers,
        end_inferred=bool(closers),
        doubtful=doubt,
    )


def years_later(day: int, years: int) -> int:
    """The same day so many years later; the last of February of a leap day."""
    on = date.fromordinal(day)
    year = on.year + years
    if year > 9999:
        return MAX_DAY
    first = date(year, on.month, 1).toordinal()
    return min(first + on.day - 1, last_of_month(year, on.month))


def touch(one: Segment, other: Segment) -> bool:
    """ "each one's start.last is at most one day after the other's end.first"."""
    return one.start.last <= other.end.first + 1 and other.start.last <= one.end.first + 1


def merged(one: Segment, other: Segment) -> Segment:
    """The one segment of two that surely touch."""
    later = max(one, other, key=lambda s: (s.end.last, s.end.first, s.end_open, not s.end_inferred))
    start = Point(*map(min, zip(one.start, other.start, strict=True)))
    return replace(later, start=start, end=Point(*map(max, zip(one.end, other.end, strict=True))))


def merge(segments: Iterable[Segment]) -> list[Segment]:
    """Same object again: "one segment only where the two touch or overlap under every reading"."""
    done = list(segments)
    for one, other in combinations(done, 2):
        states = one.kind == other.kind == "state"  # "Points never merge"
        certain = not one.doubtful and not other.doubtful
        if one.object == other.object and states and certain and touch(one, other):
            return merge([merged(one, other), *(s for s in done if s not in (one, other))])
    return done


def adds_nothing(segment: Segment, segments: Iterable[Segment]) -> bool:
    """ "A sighting surely inside a state of the same object adds nothing"."""
    return segment.kind == "sighting" and any(
        s.object == segment.object
        and s.kind == "state"
        and not s.doubtful
        and s.start.last <= segment.end.first
        and segment.start.last <= s.end.first
        for s in segments
    )


class Stated(NamedTuple):
    """What one statement of a timeline says, and the lives that bound it."""

    object: str
    reading: Reading
    life: Life
    labelled: bool = True


def timeline(history: History, snapshot: int) -> Timeline:
    """The timeline of a pair as of the snapshot day (an ordinal): SPEC, "Timelines"."""
    stated = []
    for statement in history.statements if history.subject.labelled else ():
        if statement.rank == "deprecated":  # "its rank is not deprecated"
            continue
        reading = read_statement(statement, history.relation.mode)
        labelled = history.objects[statement.object].labelled
        nothing = [f.kind == "term" and f.start == UNKNOWN and f.end is None for f in reading.facts]
        if history.relation.undated == "keep" and labelled and nothing == [True]:
            reading = Reading((), undated=True)  # the same row of facts, so the same gap (G3)
        life = life_of(history, statement.object)
        stated.append(Stated(statement.object, reading, life, labelled))
    return line_of(stated, history.relation.exclusive, snapshot)


def line_of(stated: Sequence[Stated], exclusive: bool, snapshot: int) -> Timeline:
    """The timeline of what the statements of a pair say."""
    gaps: list[Gap] = []
    facts: list[tuple[Fact, Life]] = []  # of labelled objects
    nameless: list[tuple[Fact, Life]] = []
    for one in stated:
        within = [lived(f, one.life) for f in one.reading.facts]
        (facts if one.labelled else nameless).extend((f, one.life) for f in within if f is not None)
        contradictory = one.reading.contradictions > 0 or None in within
        if (one.reading.undated or contradictory) and not empty(one.life.span):
            # "Undated, contradictory and unlabelled-object statements are gaps."
            reason = "undated" if one.reading.undated else "contradictory"
            gaps.append(Gap(one.object, *one.life.span, reason, one.labelled))

    co_held = exclusive and has_co_holders([f for f, _ in facts])
    facts, nameless = begun(facts, snapshot), begun(nameless, snapshot)
    named = [f for f, _ in facts]

    def closers(fact: Fact) -> list[Fact]:
        """Those of another object that surely began later (and by the snapshot) and close it."""
        if not exclusive or co_held or fact.end is not None or fact.rank == "preferred":
            return []  # "a statement of preferred rank is never closed so"
        others = [f for f in named if f.object != fact.object and f.start.first <= snapshot]
        return [f for f in others if surely_later(f, fact)]

    still_open = [f for f in named if f.end is None and not closers(f)]
    segments = [
        segment_of(f, life, snapshot, closers(f), exclusive and in_doubt(f, still_open, co_held))
        for f, life in facts
    ]
    for f, life in nameless:  # "A successor closes an open gap of the pair too."
        seg = segment_of(f, life, snapshot, closers(f), False)
        gaps.append(Gap(f.object, seg.start.first, seg.end.last, "unlabelled", labelled=False))
    segments = merge(segments)
    segments = [s for s in segments if not adds_nothing(s, segments)]
    return Timeline(
        tuple(sorted(segments, key=lambda s: (s.start, s.end, s.object))),
        tuple(sorted(gaps, key=lambda g: (g.first, g.last, g.object, g.reason))),
        co_held,
    )


def begun(facts: list[tuple[Fact, Life]], snapshot: int) -> list[tuple[Fact, Life]]:
    """ "An open fact began by the snapshot day (its start is narrowed to it)"."""
    by_then = Point(MIN_DAY, snapshot)
    found = [
        (f if f.end is not None else replace(f, start=both(f.start, by_then)), life)
        for f, life in facts
    ]
    return [(f, life) for f, life in found if not empty(f.start)]


@cache
def periods(kind: str, first_year: int, snapshot: int) -> list[Point]:
    """The months, quarters or years from January of a year that had ended by the snapshot."""
    months = {"month": 1, "quarter": 3, "year": 12}[kind]
    built: list[Point] = []
    year, month = first_year, 1
    while (last := last_of_month(year, month + months - 1)) <= snapshot:
        built.append(Point(date(year, month, 1).toordinal(), last))
        year, month = year + (month + months) // 13, (month + months - 1) % 12 + 1
    return built


def certain(segment: Segment, period: Point) -> bool:
    """ "under every reading of its points it held on some day of the period"."""
    surely = segment.start.last <= period.last and segment.end.first >= period.first
    return surely and not segment.doubtful


def possible(first: int, last: int, period: Point) -> bool:
    """ "under some reading: start.first ≤ b and end.last ≥ a"."""
    return first <= period.last and last >= period.first


CAUSES = ("rival", "possible", "contradictory", "unlabelled", "undated")
"""Why an object may have held and does not surely: by a segment, or by a gap of that reason."""
Names = frozenset[str]
NONE: Names = frozenset()


class Held(NamedTuple):
    """The objects of one period that are certain, and those in doubt."""

    certain: Names
    in_doubt: Names  # by a segment or a gap that is not undated
    undated: Names  # in doubt by undated statements of labelled objects alone
    nameless: Names  # … of unlabelled objects alone
    causes: Names  # why those that are not certain are in doubt


def held(line: Timeline, period: Point) -> Held:
    """The three values of each object in a period."""
    segments = [s for s in line.segments if possible(s.start.first, s.end.last, period)]
    gaps = [g for g in line.gaps if possible(g.first, g.last, period)]
    sure = {s.object for s in segments if certain(s, period)}
    causes = {(s.object, "rival" if s.doubtful else "possible") for s in segments}
    causes |= {(g.object, g.reason) for g in gaps}
    causes = {(name, cause) for name, cause in causes if name not in sure}
    # "possible by one fact and certain by none"
    doubt = {name for name, cause in causes if cause != "undated"}
    undated = {g.object: g.labelled for g in gaps if g.object not in sure | doubt}
    return Held(
        frozenset(sure),
        frozenset(doubt),
        frozenset(name for name, labelled in undated.items() if labelled),
        frozenset(name for name, labelled in undated.items() if not labelled),
        frozenset(cause for _, cause in causes),
    )


@dataclass(frozen=True)
class Comparison:
    """What a pair gives in a period against the one before; `split` is what it would be."""

    split: str | None
    dropped: bool
    answers: Names = NONE
    added: Names = NONE
    removed: Names = NONE
    possible_answers: Names = NONE
    still_true: Names = NONE
    cause: str | None = None  # of CAUSES, where it is dropped


def compare(line: Timeline, before: Point, after: Point, undated: str = "accept") -> Comparison:
    """The comparison of a pair; `undated` is accept, doubt or ignore."""
    return compare_held(held(line, before), held(line, after), undated)


def compare_held(old: Held, new: Held, undated: str) -> Comparison:
    """The comparison of what a pair held in t (`old`) and in t+1 (`new`)."""
    before, after = old.certain, new.certain
    split = "new" if after else "deleted" if before else None  # the table of SPEC section 2
    if before and after:
        split = "unchanged" if before == after else "updated"
    vague, unnamed = old.undated | new.undated, old.nameless | new.nameless
    dropped = bool(old.in_doubt | new.in_doubt)
    if undated == "doubt":
        dropped = dropped or bool(vague | unnamed)
    if undated == "accept":
        dropped = dropped or bool(unnamed) or bool(split != "unchanged" and vague)
    if split is None or dropped:
        causes = old.causes | new.causes
        first = next((c for c in CAUSES if c in causes), None)
        return Comparison(split, dropped, cause=first if dropped else None)
    return Comparison(
        split,
        dropped,
        answers=before if split == "deleted" else after,
        added=after - before,
        removed=before - after,
        # "which scoring accepts and never asks for"
        possible_answers=new.undated if undated == "accept" else NONE,
    )


def comparisons(
    line: Timeline,
    kind: str,
    first_year: int,
    snapshot: int,
    undated: str = "accept",
    at: str = "during",
) -> list[tuple[Point, Comparison]]:
    """Every period but the first ("has no split"), against the one before it."""
    built = periods(kind, first_year, snapshot)
    # at the end: "every object that is certain on the last day of t"
    values = [held(line, p if at == "during" else Point(p.last, p.last)) for p in built]
    rows = [compare_held(before, after, undated) for before, after in pairwise(values)]
    if at == "end":
        rows = [asked_at_end(n, row, values) for n, row in enumerate(rows)]
    return list(zip(built[1:], rows, strict=True))


def asked_at_end(n: int, row: Comparison, values: Sequence[Held]) -> Comparison:
    """ "The targets of an updated row are what was added; what stayed is in still_true"."""
    if row.dropped or row.split not in ("updated", "deleted"):
        return row
    if row.split == "updated" and not row.added:
        return Comparison("updated", True, cause="nothing_added")
    # "A deleted row has … the targets of the row of t, word for word"
    place = n if row.split == "updated" else n - 1
    if place < 0:
        return row
    before, then = values[place].certain, values[place + 1].certain
    return replace(row, still_true=before & then) if then - before else row


def snapshot_diff(old: History, new: History, t_old: int, t_new: int) -> dict[str, str]:
    """What became of each object of a pair between the dumps of two days (ordinals)."""

    def stated(history: History) -> set[str]:
        return {
            s.object
            for s in history.statements
            if s.rank != "deprecated"
            and history.subject.labelled
            and history.objects[s.object].labelled
        }

    lines = timeline(old, t_old), timeline(new, t_new)
    changes: dict[str, str] = {}
    for name in sorted(stated(old) | stated(new)):
        if name not in stated(new):
            changes[name] = gone(facts_of(old, name), t_old, t_new)
        elif name not in stated(old):
            vague = any(g.object == name for g in lines[1].gaps)
            facts = facts_of(new, name)
            # "New needs a start after T_old under every reading"; else an editor's addition
            later = bool(facts) and all(f.start.first > t_old for f in facts)
            changes[name] = "new" if later and not vague else "added"
        else:
            before, after = ([s for s in one.segments if s.object == name] for one in lines)
            changes[name] = stayed(before, after, t_old, t_new)
    return changes


def gone(facts: list[Fact], t_old: int, t_new: int) -> str:
    """ "not by that alone obsolete: only valid time makes it so; else it is removed"."""
    ended = [f.end for f in facts if f.end is not None]
    all_ended = len(ended) == len(facts) and all(e.last <= t_new for e in ended)
    since = any(e.first >= t_old for e in ended)
    return "obsolete" if facts and all_ended and since else "removed"


def stayed(old: list[Segment], new: list[Segment], t_old: int, t_new: int) -> str:
    """A triple that both dumps have."""
    if not new:
        return "static"
    came, had = ([s for s in some if s.start.first > t_old] for some in (new, old))
    reach = [s for s in new if s.start.first <= t_old <= s.end.last]
    if came and not reach and not had:
        return "returned" if old or len(came) < len(new) else "new"
    if any(s.end.last >= t_new for s in new):
        return "static"
    if any(s.end.last >= t_old for s in new):
        return "obsolete"
    # "its interval lies wholly before T_old, so the world did not change: an editor did"
    same = {(s.start, s.end) for s in old} == {(s.start, s.end) for s in new}
    return "static" if same else "corrected"
