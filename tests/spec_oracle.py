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
    firsts, lasts = zip(*points, strict=True)
    return Point(max(firsts), min(lasts))


def empty(p: Point) -> bool:
    """Whether no day is left."""
    return p.first > p.last


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


def life_of(history: History, of: str) -> Life:
    """ "a date of death (P570) or of dissolution (P576) is read from both"."""
    roles = {"subject": history.subject, "object": history.objects[of]}
    births = [one.born for one in roles.values() if one.born]
    deaths = {
        r: one.died for r, one in roles.items() if one.died and r in history.relation.ends_with
    }
    return Life(
        history.subject.born,
        deaths.get("subject"),
        Point(*map(max, zip(*births, strict=True))) if births else None,
        Point(*map(min, zip(*deaths.values(), strict=True))) if deaths else Point(MAX_DAY, MAX_DAY),
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
    first = date(on.year + years, on.month, 1).toordinal()
    return min(first + on.day - 1, last_of_month(on.year + years, on.month))


def last_of_month(year: int, month: int) -> int:
    """The ordinal of the last day of a month."""
    return date(year + month // 12, month % 12 + 1, 1).toordinal() - 1


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


def timeline(history: History, snapshot: int) -> Timeline:
    """The timeline of a pair as of the snapshot day (an ordinal): SPEC, "Timelines"."""
    exclusive = history.relation.exclusive
    gaps: list[Gap] = []
    facts: list[tuple[Fact, Life]] = []  # of labelled objects
    nameless: list[tuple[Fact, Life]] = []
    for one in history.facts if history.subject.labelled else ():
        life, labelled = life_of(history, one.object), history.objects[one.object].labelled
        within, reason = lived(one, life), one.reason
        vague = not reason and one.kind == "term" and one.start == UNKNOWN and one.end is None
        if vague and history.relation.undated == "keep" and labelled:
            reason = "undated"  # the same row of facts, so the same gap (G3)
        if reason or within is None:
            if not empty(life.span):
                # "Undated, contradictory and unlabelled-object statements are gaps."
                gaps.append(Gap(one.object, *life.span, reason or "contradictory", labelled))
        else:
            (facts if labelled else nameless).append((within, life))

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
