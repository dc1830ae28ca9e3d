"""What SPEC sections 1 and 2 say of a pair (subject, relation), computed slowly and plainly.

This module is an independent reading of SPEC: it imports nothing of the toolkit, and no line of it
was written with the toolkit's code in sight. Days are proleptic Gregorian ordinals
(`date.toordinal`), and a point is the pair (first, last) of possible days.

Where SPEC is silent or may be read in two ways, this is the reading taken, and why.

Time values
 T1. A value wholly outside the years 1 … 9999 is clamped to the nearest day that exists, so a
     start BCE is a known start on 0001-01-01, not an unknown one ("clamp").
 T2. Precisions finer than a day (12 to 14) are days; a value whose day does not exist
     (30 February) is unknown, because nothing else can be said of it.
 T3. The decade of the year y is y // 10 * 10 … + 9, whichever year of it the value names.

A statement's facts
 F1. `novalue` of any qualifier counts as the qualifier's absence (SPEC says so of P582), except
     that the statement is not "without any time qualifier": P582 `novalue` alone is an open fact
     of unknown start.
 F2. `somevalue`, and values coarser than a decade, do stand there: P580 `somevalue` with P1319 and
     P1326 is a start within these bounds; P585 `somevalue` is a sighting on an unknown day.
 F3. Several P580 and P582 pair up only where there are as many of one as of the other, each pair
     is possible (s.first <= e.last) and each end lies surely before the next start
     (e.last < s.first): 2010-2012 with 2012-2014, both in years, is a hull, since the strict "<"
     of SPEC is not sure there. Of n starts and n-1 ends the last start has no end.
 F4. An unknown value among several makes the hull unknown: it says that there is one more date.
 F5. Several P585 give one fact (sighting or point) each: the hull rule names P580 and P582 only.
 F6. A bound counts to the end of its own precision: P1319 "1950" is 1950-01-01, P1326 "1955" is
     1955-12-31. Of several values of one bound the hull counts.
 F7. P1319 and P1326 beside P580 without P582 both bound the start, beside P582 alone both the end.
 F8. Any bound on the end (P8554, P12506, P1326 alone) says that there is an end, its day unknown.
 F9. Bounds that leave no day contradict the statement as an end before the start does.
 F10. Bounds apply to each fact of a statement that gives several, and each fact may contradict
     itself alone.
 F11. What happens (a pointwise relation) and has a start alone is a point, as of P585: "it held on
     that point". A start of `somevalue` alone tells no point, and the fact is open.

Lives
 L1. Deaths count as the relation's `ends_with` says; births of the subject always.
 L2. "Unknown ends" are those of which no latest day is known: a P582 of `somevalue`, coarser than
     a decade or beyond 9999, and ends inferred from a successor. A stated P582, a year for
     instance, or a latest date is never narrowed by a death, and one that lies after it stays
     (SPEC lists sightings, unknown ends and gaps).
 L3. A start surely before the birth is cut to it: it is then the birth's own point, within the
     end. Of subject and object both have to have begun: the later of the two births counts. What
     would end before it contradicts itself, as a sighting before it does.
 L4. "Wholly outside its subject's life" after the death is asked only where `ends_with` holds the
     subject: an award may be posthumous. An open fact, a sighting or an unknown end that would
     begin after its object's end has nothing left and is a gap too; a stated term is not.
 L5. The gap of a contradictory statement is all time within the lives; its dates are not trusted.
 L6. A death of `somevalue`, or coarser than a decade, is a death on an unknown day: an open fact
     then ends on an unknown day. `novalue` is no date. Dates of deprecated rank are not read.
 L7. Where an entity has both P570 and P576 the earlier one counts; of P569 and P571 the later.

Exclusive relations
 E1. A successor may be an open or a closed fact of another object, not a gap. It must have been
     able to begin by the snapshot day: one who takes office later closes nobody yet.
 E2. The inferred end lies in [own start.first, the least start.last of all sure successors], the
     handover day included, and within the death and the snapshot. This holds for the dead too:
     the open term of a dead holder who has a successor ends on an unknown day up to the death.
 E3. Surely overlapping "stated terms" (guard b) are any facts but sightings; of an open one only
     the start is stated, so it overlaps surely where it begins surely inside another's term.
     Overlap on one common end-and-start day is a handover, none.
 E4. Closing comes first: rivals, and those in doubt beside a preferred one, are only those
     open facts that no successor closed. A dead holder's open statement is open.
 E5. Guard (a) goes before guard (c): open normal rivals of an open preferred statement of another
     object are in doubt and the preferred one is not, whatever their order. Several preferred
     ones hold together, whatever their order. It goes before guard (b), too: the governor-general
     of Australia, open and of normal rank, is in doubt beside the preferred monarch.
 E6. A fact in doubt is possible from its own first possible start on, and certain nowhere.
 E9. "Two holders that nobody closed … where the subject has had co-holders … are all in doubt":
     open statements of normal rank beside another object's open one. Those of preferred rank hold.
 E10. `open_for: N years` counts from the first possible start; from then on the fact may hold and
     does not surely. It is still open, and a rival is in doubt anyway.
 E7. The order of work is: facts, lives, exclusivity, merging, sightings inside states. A fact in
     doubt does not merge.
 E8. An open statement that begins wholly after the snapshot gives no segment.

Gaps
 G1. The gap of a statement whose object has no label has the interval that its fact would have
     (open until the snapshot or its successor); without dates, or contradictory, all time.
 G2. An undated statement of an unlabelled object is in doubt under `accept`, since scoring has no
     name to accept; under `ignore` it is ignored as undated.
 G3. `undated: keep` keeps the statement as a row of facts without days; in timelines it is the
     same gap as elsewhere. So is, in such a relation, a statement that has time qualifiers and
     tells no day and no end by them (P580 `somevalue`, P582 `novalue`): it is the same row.
 G4. Gaps of contradictory statements and of unlabelled objects put in doubt under every recipe
     option; `ignore` speaks of undated ones only.

Merging
 M1. Sightings are points too: they never merge. Merging goes on until nothing touches; merged
     start and end are the earlier and the later of the two under each reading.

Comparisons
 C1. `possible_answers` of an unchanged row are the undated objects in doubt in t+1; one that was
     so only in t (it died between) lets the row stay and is not accepted.
 C2. Where both answer sets are empty there is no row; `dropped` then tells of doubt all the same,
     with `split` None, and a caller may count it or not.
 C4. SPEC asks for a reason of its own and names none. An object that is not certain is in doubt by
     every segment and gap of its own that is possible; of all causes in t and t+1 the first of
     `CAUSES` is told.
 C5. `at: end` asks each fact about the period's last day, as if that day were the period. There an
     update that only took objects away has nothing to ask for and is dropped.
 C6. "A `deleted` row has the … targets of the row of t": where that row was an update, what it had
     added; its `still_true` come along.
 C3. "Ended by the snapshot day": the period's last day is at most the snapshot day.

Snapshot diff (of triples; a triple is in a dump if any statement not deprecated states it)
 D1. Only in the new dump: *new* where it has segments or unlabelled terms and each begins surely
     after T_old; else *added*.
 D2. Only in the old dump: *obsolete* where every term of it had a stated end by T_new, and one of
     these ends lies surely on T_old or later; else *removed*.
 D3. In both, by the new dump's timeline: *new* (and `returned`) where it has a segment that
     begins surely after T_old, none that may reach T_old, and the old dump had none that begins
     after T_old; *static* where it may reach T_new; *obsolete* where its last possible day is
     T_old or later; else it lies wholly before T_old: *static* where both dumps tell the same
     segments, *corrected* where they do not. SPEC has no word "returned": it is a flag beside new.
 D4. A triple without any segment in the new dump (only gaps) is *static* where both have it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from itertools import pairwise
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


# ---------------------------------------------------------------- what a dump says


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
    qualifiers: Mapping[str, tuple[Snak, ...]] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        object.__setattr__(self, "qualifiers", dict(self.qualifiers or {}))


@dataclass(frozen=True)
class Entity:
    """A subject or an object: its life dates by property, as (rank, snak)."""

    id: str
    labelled: bool = True
    dates: Mapping[str, tuple[tuple[str, Snak], ...]] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        object.__setattr__(self, "dates", dict(self.dates or {}))


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


# ---------------------------------------------------------------- points


class Point(NamedTuple):
    """The possible days of a date, both inclusive."""

    first: int
    last: int


UNKNOWN = Point(MIN_DAY, MAX_DAY)


def day_number(year: int, month: int, day: int) -> int:
    """The ordinal of a Gregorian day, clamped: "Clamp to the years 1 … 9999"."""
    if year < 1:
        return MIN_DAY
    if year > 9999:
        return MAX_DAY
    return date(year, month, day).toordinal()


def julian_day_number(year: int, month: int, day: int) -> int:
    """The ordinal of a Julian day: "may be Julian: convert to proleptic Gregorian"."""
    if year < 1:
        return MIN_DAY
    days_before = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]
    leap = year % 4 == 0
    count = 365 * (year - 1) + (year - 1) // 4 + days_before[month - 1] + day
    if leap and month > 2:
        count += 1
    return max(MIN_DAY, min(MAX_DAY, count - 2))  # 0001-01-03 Julian is 0001-01-01 Gregorian


def last_of_month(year: int, month: int) -> int:
    """The ordinal of the last day of a month."""
    if (year, month) >= (9999, 12):
        return MAX_DAY
    following = (year + 1, 1) if month == 12 else (year, month + 1)
    return day_number(*following, 1) - 1 if year >= 1 else MIN_DAY


def point(snak: Snak) -> Point:
    """The possible days: "A time point is an interval of possible days [first, last]"."""
    if isinstance(snak, str):
        return UNKNOWN
    year, month, day, precision, julian = snak
    try:
        if precision >= 11:
            one = (julian_day_number if julian else day_number)(year, month, day)
            return Point(one, one)
        # "Only days are converted from the Julian calendar; coarser points keep their year or
        # month."
        if precision == 10:
            return Point(day_number(year, month, 1), last_of_month(year, month))
        if precision == 9:
            return Point(day_number(year, 1, 1), day_number(year, 12, 31))
        if precision == 8:
            decade = year // 10 * 10
            return Point(day_number(decade, 1, 1), day_number(decade + 9, 12, 31))
    except (ValueError, IndexError):
        return UNKNOWN
    return UNKNOWN  # "Coarser than a decade = unknown"


def hull(points: Iterable[Point]) -> Point:
    """The least point that holds all of them."""
    some = list(points)
    return Point(min(p.first for p in some), max(p.last for p in some))


def both(one: Point, other: Point) -> Point:
    """The days of both; empty (first > last) where they have none in common."""
    return Point(max(one.first, other.first), min(one.last, other.last))


def empty(p: Point) -> bool:
    """Whether no day is left."""
    return p.first > p.last


# ---------------------------------------------------------------- a statement's facts


@dataclass(frozen=True)
class Fact:
    """One validity of an object as its statement has it; `end` is None where it is open."""

    object: str
    rank: str
    kind: str  # term, point or sighting
    start: Point
    end: Point | None

    @property
    def end_known(self) -> bool:
        """Whether a latest day of the end is stated."""
        return self.kind != "sighting" and self.end is not None and self.end.last < MAX_DAY


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
    terms: list[tuple[Point, Point | None]]
    found: list[tuple[str, Point, Point | None]] = []  # "beside P580 or P582, P585 is ignored"
    if sights and not starts and not ends:
        for each in sights:
            p = both(each, point_bound)
            if mode == "pointwise":  # "it held on one day inside that point: start = end"
                p = both(both(p, start_bound), end_bound)
                found.append(("point", p, p))
            else:  # "a sighting: … it began at or before it and ended at or after it"
                start = both(Point(MIN_DAY, p.last), start_bound)
                end = both(Point(p.first, MAX_DAY), end_bound)
                if empty(p):
                    start = p
                found.append(("sighting", start, end))
    else:
        # "P582 missing or novalue: open"; "bounds on the start alone leave the end open"
        ended = bool(ends) or EARLIEST_END in points or LATEST_END in points
        ended = ended or (LATEST in points and not starts and not ends)
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
    contradictions = 0
    for kind, start, maybe_end in found:
        if empty(start) or (maybe_end is not None and empty(maybe_end)):
            contradictions += 1
            continue
        if maybe_end is not None:
            left = narrowed(start, maybe_end)
            if left is None:  # "where nothing is left the statement contradicts itself"
                contradictions += 1
                continue
            start, maybe_end = left
        facts.append(Fact(name, rank, kind, start, maybe_end))
    return Reading(tuple(facts), contradictions)


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

    of_start, of_end, of_point = last(LATEST_START), first(EARLIEST_END), UNKNOWN
    of_end = both(of_end, last(LATEST_END))
    if START in points and END not in points:
        of_start = both(of_start, both(first(EARLIEST), last(LATEST)))
    elif END in points and START not in points:
        of_end = both(of_end, both(first(EARLIEST), last(LATEST)))
    elif POINT in points and START not in points:
        of_point = both(first(EARLIEST), last(LATEST))
    else:  # both, or neither
        of_start = both(of_start, first(EARLIEST))
        of_end = both(of_end, last(LATEST))
    return of_start, of_end, of_point


def facts_of(history: History) -> list[Fact]:
    """The rows of the fact table, undated ones (kept by `undated: keep`) with unknown days."""
    rows: list[Fact] = []
    if not history.subject.labelled:
        return rows  # "a fact with an unlabelled subject or object is dropped"
    for statement in history.statements:
        if statement.rank == "deprecated" or not history.objects[statement.object].labelled:
            continue
        read = read_statement(statement, history.relation.mode)
        rows += read.facts
        if read.undated and history.relation.undated == "keep":
            rows.append(Fact(statement.object, statement.rank, "undated", UNKNOWN, None))
    return rows


# ---------------------------------------------------------------- lives


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
        if not births:
            return None
        return Point(max(p.first for p in births), max(p.last for p in births))

    @property
    def deaths(self) -> list[Point]:
        return [p for p in (self.subject_death, self.object_death) if p is not None]

    @property
    def span(self) -> Point:
        """The days on which anything may hold."""
        first = self.both_born.first if self.both_born else MIN_DAY
        return Point(first, min([MAX_DAY, *(p.last for p in self.deaths)]))


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


def sighted(fact: Fact) -> Point:
    """The days within which a sighting saw its state."""
    assert fact.end is not None
    return Point(fact.end.first, fact.start.last)


def lived(fact: Fact, life: Life) -> Fact | None:
    """The fact within the lives (not yet ended by them); None where it contradicts them."""
    start, end = fact.start, fact.end
    about_first = sighted(fact).first if fact.kind == "sighting" else start.first
    about_last = MAX_DAY if end is None else end.last
    if fact.kind == "sighting":
        about_last = sighted(fact).last
    # "a statement wholly outside its subject's life contradicts itself (a gap)"
    if life.birth and about_last < life.birth.first:
        return None
    if life.subject_death and about_first > life.subject_death.last:
        return None
    born = life.both_born
    if born and fact.kind == "sighting" and about_last < born.first:
        return None
    if born and start.last >= born.first:  # "that may follow the birth or the inception …"
        start = Point(max(start.first, born.first), start.last)
    elif born:  # "… and one that surely lies before it is cut to it"
        start = born
    # "it bounds sightings, unknown ends and gaps as well"
    if end is not None and not fact.end_known:
        end = Point(end.first, min([end.last, *(p.last for p in life.deaths)]))
    if end is None:  # the day of death "is the last day on which it may hold"
        start = Point(start.first, min([start.last, *(p.last for p in life.deaths)]))
        return None if empty(start) else replace(fact, start=start)
    left = None if empty(end) or empty(start) else narrowed(start, end)
    return None if left is None else replace(fact, start=left[0], end=left[1])


# ---------------------------------------------------------------- timelines


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
        ends_from = a.start.first if a.end is None else a.end.first
        return ends_from > b.start.last

    return surely_after(one, other) and surely_after(other, one)


def has_co_holders(facts: Iterable[Fact]) -> bool:
    """Guard (b): "stated terms of two objects ever surely overlap"."""
    terms = [f for f in facts if f.kind != "sighting"]
    return any(
        one.object != other.object and surely_overlap(one, other)
        for i, one in enumerate(terms)
        for other in terms[i + 1 :]
    )


def surely_later(one: Fact, other: Fact) -> bool:
    """Whether `one` began later than `other` under every reading."""
    return one.start.first > other.start.last


def successors(fact: Fact, facts: Iterable[Fact], snapshot: int) -> list[Fact]:
    """Those of another object that began later under every reading (and by the snapshot)."""
    return [
        f
        for f in facts
        if f.object != fact.object and f.start.first <= snapshot and surely_later(f, fact)
    ]


def in_doubt(fact: Fact, still_open: Iterable[Fact], co_held: bool) -> bool:
    """Whether a fact of an exclusive relation, still open, is in doubt beside the others."""
    if fact not in still_open:
        return False
    rivals = [f for f in still_open if f.object != fact.object]
    if fact.rank == "preferred":
        return False  # "Two open statements of preferred rank are co-holders: both hold"
    if any(f.rank == "preferred" for f in rivals):
        return True  # "open ones of normal rank are in doubt beside it"
    if co_held and rivals:
        return True  # "are all in doubt, the later one too"
    # "open rivals whose order is not sure are all in doubt"
    return any(not surely_later(f, fact) and not surely_later(fact, f) for f in rivals)


def segment_of(fact: Fact, life: Life, snapshot: int, closers: list[Fact], doubt: bool) -> Segment:
    """The segment of a fact within its lives, closed by its successors where it has any."""
    if fact.end is not None:
        kind = "state" if fact.kind == "term" else fact.kind
        return Segment(fact.object, kind, fact.start, fact.end)
    latest = min([snapshot, *(p.last for p in life.deaths)])
    if closers:
        # "its end is unknown, between its own start and the successor's"
        end = Point(fact.start.first, min(latest, *(f.start.last for f in closers), MAX_DAY))
    elif doubt:
        end = Point(fact.start.first, latest)
    else:
        # "taken to hold until the snapshot day … It ends sooner where its subject or its object
        # ended"
        sure = min([snapshot, *(p.first for p in life.deaths)])
        if life.open_for is not None:  # "beyond it the object is in doubt, never certain"
            sure = min(sure, years_later(fact.start.first, life.open_for))
        end = Point(sure, latest)
    left = narrowed(fact.start, end)
    assert left is not None, (fact, end)
    alive = all(p.first >= snapshot for p in life.deaths)
    return Segment(
        fact.object,
        "state",
        left[0],
        left[1],
        end_open=alive and not closers,
        end_inferred=bool(closers),
        doubtful=doubt,
    )


def years_later(day: int, years: int) -> int:
    """The same day so many years later; the last of February of a leap day."""
    on = date.fromordinal(day)
    if on.year + years > 9999:
        return MAX_DAY
    return min(
        date(on.year + years, on.month, 1).toordinal() + on.day - 1,
        last_of_month(on.year + years, on.month),
    )


def touch(one: Segment, other: Segment) -> bool:
    """ "each one's start.last is at most one day after the other's end.first"."""
    return one.start.last <= other.end.first + 1 and other.start.last <= one.end.first + 1


def merged(one: Segment, other: Segment) -> Segment:
    """The one segment of two that surely touch."""
    later = max(one, other, key=lambda s: (s.end.last, s.end.first, s.end_open, not s.end_inferred))
    return replace(
        later,
        start=Point(min(one.start.first, other.start.first), min(one.start.last, other.start.last)),
        end=Point(max(one.end.first, other.end.first), max(one.end.last, other.end.last)),
    )


def merge(segments: Iterable[Segment]) -> list[Segment]:
    """Same object again: "one segment only where the two touch or overlap under every reading"."""
    done = list(segments)

    def next_pair() -> tuple[int, int] | None:
        for i, one in enumerate(done):
            for j in range(i + 1, len(done)):
                other = done[j]
                states = one.kind == other.kind == "state"  # "Points never merge"
                certain = not one.doubtful and not other.doubtful
                if one.object == other.object and states and certain and touch(one, other):
                    return i, j
        return None

    while (pair := next_pair()) is not None:
        i, j = pair
        done[i] = merged(done[i], done.pop(j))
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


def timeline(history: History, snapshot: int) -> Timeline:
    """The timeline of a pair as of the snapshot day (an ordinal): SPEC, "Timelines"."""
    if not history.subject.labelled:
        return Timeline((), ())

    def read(statement: Statement) -> Reading:
        reading = read_statement(statement, history.relation.mode)
        nothing = [f.kind == "term" and f.start == UNKNOWN and f.end is None for f in reading.facts]
        kept = history.relation.undated == "keep" and history.objects[statement.object].labelled
        if kept and nothing == [True]:
            return Reading((), undated=True)  # the same row of facts, so the same gap (G3)
        return reading

    stated = [
        Stated(
            statement.object,
            read(statement),
            life_of(history, statement.object),
            history.objects[statement.object].labelled,
        )
        for statement in history.statements
        if statement.rank != "deprecated"  # "its rank is not deprecated"
    ]
    return line_of(stated, history.relation.exclusive, snapshot)


class Stated(NamedTuple):
    """What one statement of a timeline says, and the lives that bound it."""

    object: str
    reading: Reading
    life: Life
    labelled: bool = True


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
        """The sure successors that close an open fact of an exclusive relation."""
        if not exclusive or co_held or fact.end is not None or fact.rank == "preferred":
            return []  # "a statement of preferred rank is never closed so"
        return successors(fact, named, snapshot)

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
    kept: list[tuple[Fact, Life]] = []
    for fact, life in facts:
        if fact.end is not None:
            kept.append((fact, life))
        elif fact.start.first <= snapshot:
            start = Point(fact.start.first, min(fact.start.last, snapshot))
            kept.append((replace(fact, start=start), life))
    return kept


# ---------------------------------------------------------------- periods


@cache
def periods(kind: str, first_year: int, snapshot: int) -> list[Point]:
    """The months, quarters or years from January of a year that had ended by the snapshot."""
    months = {"month": 1, "quarter": 3, "year": 12}[kind]
    built: list[Point] = []
    year, month = first_year, 1
    while True:
        last = last_of_month(year, month + months - 1)
        if last > snapshot:
            return built
        built.append(Point(date(year, month, 1).toordinal(), last))
        month += months
        if month > 12:
            year, month = year + 1, 1


def certain(segment: Segment, period: Point) -> bool:
    """ "under every reading of its points it held on some day of the period"."""
    if segment.doubtful:
        return False
    return segment.start.last <= period.last and segment.end.first >= period.first


def possible(first: int, last: int, period: Point) -> bool:
    """ "under some reading: start.first ≤ b and end.last ≥ a"."""
    return first <= period.last and last >= period.first


@dataclass(frozen=True)
class Held:
    """The objects of one period: certain, in doubt, and in doubt by undated statements alone."""

    certain: frozenset[str]
    in_doubt: frozenset[str]  # by a segment or a gap that is not undated
    undated: frozenset[str]  # in doubt by undated statements of labelled objects alone
    undated_nameless: frozenset[str] = frozenset()  # … of unlabelled objects alone
    causes: frozenset[str] = frozenset()  # why those that are not certain are in doubt

    @property
    def possible(self) -> frozenset[str]:
        return self.certain | self.in_doubt | self.undated | self.undated_nameless


def held(line: Timeline, period: Point) -> Held:
    """The three values of each object in a period."""
    sure: set[str] = set()
    doubt: set[str] = set()
    causes: set[tuple[str, str]] = set()
    undated: set[str] = set()
    nameless: set[str] = set()
    for s in line.segments:
        if possible(s.start.first, s.end.last, period):
            (sure if certain(s, period) else doubt).add(s.object)
            causes.add((s.object, "rival" if s.doubtful else "possible"))
    for g in line.gaps:
        if possible(g.first, g.last, period):
            causes.add((g.object, g.reason))
            if g.reason != "undated":
                doubt.add(g.object)
            else:
                (undated if g.labelled else nameless).add(g.object)
    doubt -= sure  # "possible by one fact and certain by none"
    undated -= sure | doubt
    nameless -= sure | doubt
    return Held(
        frozenset(sure),
        frozenset(doubt),
        frozenset(undated),
        frozenset(nameless),
        frozenset(cause for name, cause in causes if name not in sure),
    )


@dataclass(frozen=True)
class Comparison:
    """What a pair gives in a period against the one before; `split` is what it would be."""

    split: str | None
    dropped: bool
    answers: frozenset[str] = frozenset()
    previous_answers: frozenset[str] = frozenset()
    added: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    possible_answers: frozenset[str] = frozenset()
    still_true: frozenset[str] = frozenset()
    cause: str | None = None  # of CAUSES, where it is dropped


CAUSES = ("rival", "possible", "contradictory", "unlabelled", "undated")
"""Why an object may have held and does not surely: by a segment, or by a gap of that reason."""


def split_of(before: frozenset[str], after: frozenset[str]) -> str | None:
    """The table of SPEC section 2."""
    if before and after:
        return "unchanged" if before == after else "updated"
    if after:
        return "new"
    return "deleted" if before else None


def compare(line: Timeline, before: Point, after: Point, undated: str = "accept") -> Comparison:
    """The comparison of a pair; `undated` is accept, doubt or ignore."""
    return compare_held(held(line, before), held(line, after), undated)


def compare_held(old: Held, new: Held, undated: str) -> Comparison:
    """The comparison of what a pair held in t (`old`) and in t+1 (`new`)."""
    split = split_of(old.certain, new.certain)
    dropped = bool(old.in_doubt or new.in_doubt)
    accepted: frozenset[str] = frozenset()
    unnamed = old.undated_nameless | new.undated_nameless
    if undated == "doubt":
        dropped = dropped or bool(old.undated | new.undated | unnamed)
    elif undated == "accept":
        dropped = dropped or bool(unnamed)
        if split == "unchanged":
            accepted = new.undated  # "which scoring accepts and never asks for"
        else:
            dropped = dropped or bool(old.undated | new.undated)
    else:
        assert undated == "ignore", undated
    if split is None or dropped:
        causes = old.causes | new.causes
        first = next((c for c in CAUSES if c in causes), None)
        return Comparison(split, dropped, cause=first if dropped else None)
    return Comparison(
        split,
        dropped,
        answers=old.certain if split == "deleted" else new.certain,
        previous_answers=old.certain if split == "updated" else frozenset(),
        added=new.certain - old.certain,
        removed=old.certain - new.certain,
        possible_answers=accepted,
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
    if at == "during":
        values = [held(line, period) for period in built]
    else:  # "every object that is certain on the last day of t"
        values = [held(line, Point(period.last, period.last)) for period in built]
    rows = [compare_held(before, after, undated) for before, after in pairwise(values)]
    if at == "end":
        rows = [asked_at_end(n, row, values) for n, row in enumerate(rows)]
    return list(zip(built[1:], rows, strict=True))


def asked_at_end(n: int, row: Comparison, values: Sequence[Held]) -> Comparison:
    """ "The targets of an updated row are what was added; what stayed is in still_true"."""
    if row.dropped:
        return row
    if row.split == "updated":
        if not row.added:
            return Comparison("updated", True, cause="nothing_added")
        return replace(row, still_true=values[n].certain & values[n + 1].certain)
    if row.split == "deleted" and n > 0:  # "the targets of the row of t, word for word"
        before, then = values[n - 1].certain, values[n].certain
        if before and then - before:
            return replace(row, still_true=before & then)
    return row


# ---------------------------------------------------------------- snapshot diff


@dataclass(frozen=True)
class Change:
    """What became of a (subject, relation, object) between two dumps."""

    kind: str  # new, added, obsolete, static, corrected, removed
    returned: bool = False


def snapshot_diff(old: History, new: History, t_old: int, t_new: int) -> dict[str, Change]:
    """What became of each object of a pair between the dumps of two days (ordinals)."""

    def stated(history: History) -> set[str]:
        return {
            s.object
            for s in history.statements
            if s.rank != "deprecated"
            and history.subject.labelled
            and history.objects[s.object].labelled
        }

    old_line, new_line = timeline(old, t_old), timeline(new, t_new)

    def of(line: Timeline, name: str) -> list[Segment]:
        return [s for s in line.segments if s.object == name]

    changes: dict[str, Change] = {}
    for name in sorted(stated(old) | stated(new)):
        if name not in stated(new):
            changes[name] = gone([f for f in facts_of(old) if f.object == name], t_old, t_new)
        elif name not in stated(old):
            vague = any(g.object == name for g in new_line.gaps)
            changes[name] = come([f for f in facts_of(new) if f.object == name], vague, t_old)
        else:
            changes[name] = stayed(of(old_line, name), of(new_line, name), t_old, t_new)
    return changes


def come(facts: list[Fact], vague: bool, t_old: int) -> Change:
    """ "New needs a start after T_old under every reading"; else an editor's addition."""
    after = all(f.start.first > t_old for f in facts)
    return Change("new" if facts and after and not vague else "added")


def gone(facts: list[Fact], t_old: int, t_new: int) -> Change:
    """ "not by that alone obsolete: only valid time makes it so; else it is removed"."""
    ended = [f.end for f in facts if f.end is not None]
    all_ended = len(ended) == len(facts) and all(e.last <= t_new for e in ended)
    since = any(e.first >= t_old for e in ended)
    return Change("obsolete" if facts and all_ended and since else "removed")


def stayed(old: list[Segment], new: list[Segment], t_old: int, t_new: int) -> Change:
    """A triple that both dumps have."""
    if not new:
        return Change("static")

    def after(segments: list[Segment]) -> list[Segment]:
        return [s for s in segments if s.start.first > t_old]

    reach = [s for s in new if s.start.first <= t_old <= s.end.last]
    if after(new) and not reach and not after(old):
        return Change("new", returned=bool(old) or len(after(new)) < len(new))
    if any(s.end.last >= t_new for s in new):
        return Change("static")
    if any(s.end.last >= t_old for s in new):
        return Change("obsolete")
    # "its interval lies wholly before T_old, so the world did not change: an editor did"
    return Change("static" if spans(old) == spans(new) else "corrected")


def spans(segments: Iterable[Segment]) -> list[tuple[Point, Point]]:
    """Only the days of the segments."""
    return sorted({(s.start, s.end) for s in segments})
