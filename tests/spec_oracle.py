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
 E3. A start or an end is stated where both its days are known before the lives bound it; sightings
     state neither. The days of an overlap are those on which both terms hold under every reading;
     92 of them, both ends counted, are "92 days or more". An open term ends for this at the first
     possible death or on the snapshot day. A shared day of end and start is a handover.
 E4. Closing comes first: rivals are only those open facts that no successor closed.
 E5. Guard (a) goes before guards (b) and (c): open normal rivals of an open preferred statement of
     another object are in doubt, it is not. Several preferred ones hold together.
 E6. A fact in doubt is possible from its own first possible start on, and certain nowhere. It does
     not merge.
 E7. "Two holders that nobody closed … where the subject has had co-holders … are all in doubt":
     open statements of normal rank beside another object's open one.
 E8. An open statement that begins wholly after the snapshot gives no segment.
 E9. Days of a short overlap are taken from what is certain of both statements, and stay possible.
     Overlaps are of two statements; those of several are not added up. Where another statement of
     the same object surely holds on such a day, the object is certain. A term that
     would surely hold on such days alone is a rival (E6).

Staleness
 S1. "In doubt from a day on": the day before is the earliest last day (`end.first`), and certainty
     asks the formula. So what may have begun before that day is certain in a period that began
     before it, too, and holds the whole start. What began on or after it is certain nowhere.
 S2. A later object has a stated start, the first and the last day known. It may be of any rank,
     open or closed. Its first possible start may lie before that of the statement in doubt.
 S3. The learned time and `open_for` begin with the first possible start within the lives; the last
     day of that time is still certain.
 S4. The two terms of `seat: one` are of different subjects, an open one that counts for guard (b)
     among them.
 S5. "By staleness alone": without staleness the object would be certain in the period.

Gaps
 G1. The gap of a statement whose object has no label has the interval that its fact would have;
     without dates, or contradictory, all time. A sighting is told by its days alone.
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
 C2. Where both answer sets are empty `split` is None: a drop where anything but an undated
     statement may hold in t or t+1, else nothing.
 C3. "Ended by the snapshot day": the period's last day is at most the snapshot day.
 C4. Of all causes of doubt in t and t+1 the first of `CAUSES` is told.
 C5. `at: end` asks each fact about the period's last day, as if that day were the period. There an
     update that only took objects away has nothing to ask for and is dropped.
 C6. "A `deleted` row has the … targets of the row of t": where that row was an update, what it had
     added; its `still_true` come along.
 C7. Stale objects of t+1 are possible answers; those that were so only in t let the row stay.

Vacancies
 V1. The day without a holder is the last of t+1 for `deleted`, the last of t for `new`. The last
     holder is the latest that surely ended before it, the later one the first that surely begins
     after it, both of them certain states.
 V2. The vacancy is bounded by the possible days that make it longest; from its surely empty days
     any gap bars it, also an undated one.

Learned times
 T1. Lengths count labelled objects' terms as stated, before lives; "a year or finer" is at most 366
     possible days. "The open terms of the living": subject and object have no date of death. What
     surely begins after the snapshot is no term yet; one that will end after it counts as ended.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise
from typing import Literal, NamedTuple

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
    usually: str | None = None
    seat: str | None = None
    open_for: int | Literal["learned"] | None = None  # years
    learned_days: int | None = None


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
    stale_until: int | None = None  # it would surely hold until this day if it were not stale
    doubts: frozenset[int] = frozenset()  # days of a short overlap
    start_stated: bool = False
    end_stated: bool = False


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
    trusted: tuple[Segment, ...] = ()  # the segments if nothing were stale


@dataclass(frozen=True)
class Claim:
    """A fact within its lives, and who it speaks for: its object, or the subject of an office."""

    holder: str
    fact: Fact
    life: Life
    start_stated: bool
    end_stated: bool


def claim_of(holder: str, stated_fact: Fact, within_lives: Fact, life: Life) -> Claim:
    """The claim of a statement; its own dates tell what is stated."""

    def is_stated(point: Point | None) -> bool:
        """Whether both days of a point are known."""
        return point is not None and point.first > MIN_DAY and point.last < MAX_DAY

    is_sighting = stated_fact.kind == "sighting"
    return Claim(
        holder,
        within_lives,
        life,
        is_stated(stated_fact.start) and not is_sighting,
        is_stated(stated_fact.end) and not is_sighting,
    )


class Overlap(NamedTuple):
    """Two claims of different holders, and the days on which both hold under every reading."""

    first_claim: Claim
    second_claim: Claim
    days: Point


# SPEC: stated terms that overlap so long are of co-holders, shorter ones a wrong date or an interim
CO_HOLDING_DAYS = 92


def successors(claim: Claim, claims: Iterable[Claim], snapshot: int) -> list[Claim]:
    """Those of another holder that surely began later, and can have begun by the snapshot."""
    return [
        later_claim
        for later_claim in claims
        if later_claim.holder != claim.holder
        and later_claim.fact.start.first <= snapshot
        and surely_later(later_claim.fact, claim.fact)
    ]


def stated_terms(claims: Sequence[Claim], snapshot: int) -> list[Claim]:
    """ "A stated term has a stated start and a stated end; an open one counts too where …"."""
    return [
        claim
        for claim in claims
        if claim.start_stated
        and (
            claim.end_stated
            or (
                claim.fact.end is None
                # "it is preferred or no surely later holder follows"
                and (claim.fact.rank == "preferred" or not successors(claim, claims, snapshot))
            )
        )
    ]


def sure_overlaps(claims: Sequence[Claim], snapshot: int) -> list[Overlap]:
    """The sure overlaps of stated terms of different holders."""

    def first_end(claim: Claim) -> int:
        """The earliest last day."""
        if claim.fact.end is None:
            return min(snapshot, claim.life.death.first)
        return claim.fact.end.first

    overlaps: list[Overlap] = []
    for first_term, second_term in combinations(stated_terms(claims, snapshot), 2):
        two_open = (
            first_term.fact.end is None and second_term.fact.end is None
        )  # "are not compared here"
        if first_term.holder == second_term.holder or two_open:
            continue
        # "A handover day … is no overlap"
        ends_later = first_end(first_term) > second_term.fact.start.last
        if ends_later and first_end(second_term) > first_term.fact.start.last:
            first_day = max(first_term.fact.start.last, second_term.fact.start.last)
            overlap_days = Point(first_day, min(first_end(first_term), first_end(second_term)))
            overlaps.append(Overlap(first_term, second_term, overlap_days))
    return overlaps


def are_co_holders(overlaps: Iterable[Overlap]) -> bool:
    """Guard (b): they "surely overlap for 92 days or more"."""
    return any(
        overlap.days.last - overlap.days.first + 1 >= CO_HOLDING_DAYS for overlap in overlaps
    )


def surely_later(later_fact: Fact, earlier_fact: Fact) -> bool:
    """Whether the one began later than the other under every reading."""
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


def sure_until(claim: Claim, relation: Relation, rivals: Iterable[Claim]) -> int:
    """The last day on which an open statement is trusted; `rivals` may be later than it.

    Those are claims of other objects of the pair, or of other subjects of the office.
    """
    if claim.fact.rank == "preferred":  # "Preferred rank is trusted"
        return MAX_DAY
    last_days = [MAX_DAY]
    first_day = claim.fact.start.first
    # "from the first possible start of a later object of the same pair on"
    last_days += [
        rival.fact.start.first - 1
        for rival in rivals
        if rival.start_stated and rival.fact.start.last > first_day
    ]
    if relation.open_for == "learned":
        if relation.learned_days is not None and not relation.exclusive:
            last_days.append(first_day + relation.learned_days)
    elif relation.open_for is not None:
        last_days.append(years_later(first_day, relation.open_for))
    return min(last_days)


def segment_of(
    claim: Claim, snapshot: int, closers: list[Claim], in_doubt: bool, trusted_until: int
) -> Segment:
    """The segment of a claim, closed by its successors where it has any."""
    fact, life = claim.fact, claim.life
    if fact.end is not None:
        kind = "state" if fact.kind == "term" else fact.kind
        stated_segment = Segment(fact.object, kind, fact.start, fact.end)
        return replace(stated_segment, start_stated=claim.start_stated, end_stated=claim.end_stated)
    latest_end = min(snapshot, life.death.last)
    stale_until = None
    if closers:  # "its end is unknown, between its own start and the successor's"
        successor_starts = [closer.fact.start.last for closer in closers]
        end = Point(fact.start.first, min(latest_end, *successor_starts, MAX_DAY))
    elif in_doubt:
        end = Point(fact.start.first, latest_end)
    else:  # "taken to hold until the snapshot day … ends sooner where its subject or object ended"
        end = Point(min(snapshot, life.death.first), latest_end)
        sure_end = max(end.first, fact.start.first)  # "No end before the start"
        if trusted_until < sure_end:
            stale_until = sure_end
    narrowed_points = narrowed(fact.start, end)
    assert narrowed_points is not None, (fact, end)
    start, end = narrowed_points
    if stale_until is not None:  # "in doubt, never certain, from … on"
        in_doubt = in_doubt or trusted_until < start.first
        end = Point(max(start.first, trusted_until), end.last)
    return Segment(
        fact.object,
        "state",
        start,
        end,
        end_open=life.death.first >= snapshot and not closers,
        end_inferred=bool(closers),
        doubtful=in_doubt,
        stale_until=stale_until,
        start_stated=claim.start_stated,
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
    earlier_segment = min(first_segment, second_segment, key=lambda segment: segment.start)
    start = Point(*map(min, zip(first_segment.start, second_segment.start, strict=True)))
    end = Point(*map(max, zip(first_segment.end, second_segment.end, strict=True)))
    trusted_end = max(first_segment.stale_until or MIN_DAY, second_segment.stale_until or MIN_DAY)
    return replace(
        later_segment,
        start=start,
        end=end,
        stale_until=trusted_end if trusted_end > end.first else None,
        start_stated=earlier_segment.start_stated,
        doubts=frozenset(
            day
            for day in first_segment.doubts | second_segment.doubts
            if not surely_holds(first_segment, day) and not surely_holds(second_segment, day)
        ),
    )


def surely_holds(segment: Segment, day: int) -> bool:
    """Whether it holds on a day under every reading."""
    return certain(segment, Point(day, day))


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
        and not any(segment.end.first <= day <= segment.start.last for day in state.doubts)
        for state in segments
    )


class Offices:
    """Who holds an office, and whether one at a time does: staleness (b)."""

    def __init__(self, histories: Iterable[History], snapshot: int) -> None:
        self.claims: dict[tuple[str, str], list[Claim]] = {}
        self.snapshot = snapshot
        self.single: dict[tuple[str, str], bool] = {}
        for history in histories:
            if history.relation.seat:
                for claim in all_claims(history, snapshot).named:
                    office = (history.relation.id, claim.fact.object)
                    office_claim = replace(claim, holder=history.subject.id)
                    self.claims.setdefault(office, []).append(office_claim)

    def is_single(self, office: tuple[str, str]) -> bool:
        """ "at least two stated terms of different subjects … are known and none overlap"."""
        if office not in self.single:
            claims = self.claims[office]
            terms = stated_terms(claims, self.snapshot)
            self.single[office] = len({claim.holder for claim in terms}) > 1 and not (
                are_co_holders(sure_overlaps(claims, self.snapshot))
            )
        return self.single[office]

    def others(self, history: History, claim: Claim) -> list[Claim]:
        """The claims of other subjects to the office of a claim, where one holds it at a time."""
        office = (history.relation.id, claim.fact.object)
        if office not in self.claims or not self.is_single(office):
            return []
        return [
            claim_beside
            for claim_beside in self.claims[office]
            if claim_beside.holder != history.subject.id
        ]


class Claims(NamedTuple):
    """What the statements of a pair give."""

    named: list[Claim]
    nameless: list[Claim]  # of objects without a label
    gaps: list[Gap]


def all_claims(history: History, snapshot: int) -> Claims:
    """The facts of a pair within their lives, and the gaps of those that are none."""
    claims = Claims([], [], [])
    for stated_fact in history.facts if history.subject.labelled else ():
        life = life_of(history, stated_fact.object)
        labelled = history.objects[stated_fact.object].labelled
        reason = stated_fact.reason
        if stated_fact.kind == "sighting" and not labelled:  # a gap is no sighting (G1)
            stated_fact = replace(stated_fact, kind="term")
        within_lives = lived(stated_fact, life)
        is_vague = (
            not reason
            and stated_fact.kind == "term"
            and stated_fact.start == UNKNOWN
            and stated_fact.end is None
        )
        if is_vague and history.relation.undated == "keep" and labelled:
            reason = "undated"  # the same row of facts, so the same gap (G3)
        if reason or within_lives is None:
            # "Undated, contradictory and unlabelled-object statements are gaps."
            reason = reason or "contradictory"
            if not empty(life.span):
                claims.gaps.append(Gap(stated_fact.object, *life.span, reason, labelled))
            continue
        if within_lives.end is None:  # "An open fact began by the snapshot day"
            begun = both(within_lives.start, Point(MIN_DAY, snapshot))
            within_lives = replace(within_lives, start=begun)
        if not empty(within_lives.start):
            claim = claim_of(stated_fact.object, stated_fact, within_lives, life)
            (claims.named if labelled else claims.nameless).append(claim)
    return claims


def timeline(history: History, snapshot: int, offices: Offices | None = None) -> Timeline:
    """The timeline of a pair as of the snapshot day (an ordinal): SPEC, "Timelines"."""
    relation = history.relation
    named_claims, nameless, gaps = all_claims(history, snapshot)
    overlaps = sure_overlaps(named_claims, snapshot) if relation.exclusive else []
    co_held = are_co_holders(overlaps)

    def closers_of(claim: Claim) -> list[Claim]:
        """The claims that close an open one."""
        if not relation.exclusive or co_held or claim.fact.end is not None:
            return []
        if claim.fact.rank == "preferred":  # "is never closed so"
            return []
        return successors(claim, named_claims, snapshot)

    def later_claims(claim: Claim) -> list[Claim]:
        """Claims that put an open one in doubt where they are later."""
        rivals: list[Claim] = []
        if relation.usually:  # "an unlabelled object counts"
            rivals += [rival for rival in named_claims + nameless if rival.holder != claim.holder]
        if relation.seat and offices:
            rivals += offices.others(history, claim)
        return rivals

    still_open = [
        claim.fact for claim in named_claims if claim.fact.end is None and not closers_of(claim)
    ]
    segments: list[Segment] = []
    trusted_segments: list[Segment] = []
    for claim in named_claims:
        is_rival = relation.exclusive and in_doubt(claim.fact, still_open, co_held)
        doubt_days = frozenset() if co_held else days_in_doubt(claim, overlaps)
        trust_ends = sure_until(claim, relation, later_claims(claim)), MAX_DAY
        for trusted_until, trusted_result in zip(
            trust_ends, (segments, trusted_segments), strict=True
        ):
            segment = segment_of(claim, snapshot, closers_of(claim), is_rival, trusted_until)
            trusted_result.append(with_doubts(segment, doubt_days))
    for claim in nameless:  # "A successor closes an open gap of the pair too."
        closed_segment = segment_of(claim, snapshot, closers_of(claim), False, MAX_DAY)
        gap_days = (closed_segment.start.first, closed_segment.end.last)
        gaps.append(Gap(claim.fact.object, *gap_days, "unlabelled", labelled=False))
    return Timeline(
        clean(segments),
        tuple(sorted(gaps, key=lambda gap: (gap.first, gap.last, gap.object, gap.reason))),
        co_held,
        clean(trusted_segments),
    )


def days_in_doubt(claim: Claim, overlaps: Iterable[Overlap]) -> frozenset[int]:
    """The days on which a claim overlaps others: "both are in doubt on those days"."""
    doubt_days: set[int] = set()
    for overlap in overlaps:
        if claim is overlap.first_claim or claim is overlap.second_claim:
            doubt_days.update(range(overlap.days.first, overlap.days.last + 1))
    return frozenset(doubt_days)


def with_doubts(segment: Segment, doubt_days: frozenset[int]) -> Segment:
    """The segment with days in doubt; a rival where it is sure on no other (E9)."""
    sure_days = range(segment.start.last, segment.end.first + 1)
    is_rival = segment.doubtful or (bool(doubt_days) and doubt_days.issuperset(sure_days))
    return replace(segment, doubtful=is_rival, doubts=doubt_days)


def clean(segments: list[Segment]) -> tuple[Segment, ...]:
    """Segments merged, without sightings that add nothing, sorted."""
    segments = merge(segments)
    segments = [segment for segment in segments if not adds_nothing(segment, segments)]
    return tuple(sorted(segments, key=lambda segment: (segment.start, segment.end, segment.object)))


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
    """ "under every reading of its points it held on some day of the period", not one in doubt."""
    if segment.doubtful or segment.start.last > period.last or segment.end.first < period.first:
        return False  # certain: "start.last ≤ b and end.first ≥ a"
    # no reading lies wholly within such days: starts and ends there
    return not any(
        not empty(both(segment.start, run))
        and not empty(both(segment.end, run))
        and both(segment.start, run).first <= both(segment.end, run).last
        for run in empty_runs(segment, period)
    )


def empty_runs(segment: Segment, period: Point) -> list[Point]:
    """The runs of days that are not of the period, or in doubt."""
    all_days = [
        Point(MIN_DAY - 1, period.first - 1),
        *(Point(day, day) for day in sorted(segment.doubts) if period.first <= day <= period.last),
        Point(period.last + 1, MAX_DAY + 1),
    ]
    runs: list[Point] = []
    for days in all_days:
        if runs and days.first <= runs[-1].last + 1:
            runs[-1] = Point(runs[-1].first, days.last)
        else:
            runs.append(days)
    return runs


def possible(first: int, last: int, period: Point) -> bool:
    """ "under some reading: start.first ≤ b and end.last ≥ a"."""
    return first <= period.last and last >= period.first


CAUSES = ("rival", "possible", "contradictory", "unlabelled", "undated", "stale")
"""Why an object may have held and does not surely: by a segment, or by a gap of that reason."""
Names = frozenset[str]
NO_NAMES: Names = frozenset()


class Held(NamedTuple):
    """The objects of one period that are certain, and those in doubt."""

    certain: Names
    in_doubt: Names  # by a segment or a gap that is not undated
    undated: Names  # in doubt by undated statements of labelled objects alone
    nameless: Names  # … of unlabelled objects alone
    stale: Names  # in doubt by staleness alone
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
    trusted_objects = {segment.object for segment in line.trusted if certain(segment, period)}
    stale_objects = trusted_objects - certain_objects
    causes = {
        (segment.object, "rival" if segment.doubtful and not segment.stale_until else "possible")
        for segment in segments
    }
    causes |= {(gap.object, gap.reason) for gap in gaps}
    causes = {
        (name, doubt_cause)
        for name, doubt_cause in causes
        if name not in certain_objects | stale_objects
    }
    # "possible by one fact and certain by none"
    doubtful_objects = {name for name, doubt_cause in causes if doubt_cause != "undated"}
    undated_objects = {
        gap.object: gap.labelled
        for gap in gaps
        if gap.object not in certain_objects | doubtful_objects | stale_objects
    }
    return Held(
        frozenset(certain_objects),
        frozenset(doubtful_objects),
        frozenset(name for name, labelled in undated_objects.items() if labelled),
        frozenset(name for name, labelled in undated_objects.items() if not labelled),
        frozenset(stale_objects),
        frozenset(doubt_cause for _, doubt_cause in causes)
        | (frozenset({"stale"}) if stale_objects else NO_NAMES),
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
    if split not in ("unchanged", "updated"):
        is_dropped = is_dropped or bool(old.stale | new.stale)
    if split is None:  # "Every pair …, in every period in which one may hold, is a row or a drop"
        is_dropped = bool(old.in_doubt | new.in_doubt | old.stale | new.stale)
    if split is None or is_dropped:
        all_causes = old.causes | new.causes
        if undated == "ignore":
            all_causes -= {"undated"}
        first_cause = next((cause for cause in CAUSES if cause in all_causes), None)
        return Comparison(split, is_dropped, cause=first_cause if is_dropped else None)
    return Comparison(
        split,
        is_dropped,
        answers=old_objects if split == "deleted" else new_objects,
        added=new_objects - old_objects,
        removed=old_objects - new_objects,
        # "which scoring accepts and never asks for"
        possible_answers=new.stale | (new.undated if undated == "accept" else NO_NAMES),
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
    compared_rows = [
        compare_held(earlier_held, later_held, undated)
        for earlier_held, later_held in pairwise(held_values)
    ]
    if when_counted == "end":
        compared_rows = [
            asked_at_end(row_number, row, held_values)
            for row_number, row in enumerate(compared_rows)
        ]
    return list(zip(built_periods[1:], compared_rows, strict=True))


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


# SPEC: longer gaps are mostly of holders that nobody entered
VACANT_DAYS = 92


def is_vacant(line: Timeline, day: int) -> bool:
    """Whether a day lies in a certain vacancy of an exclusive relation."""
    earlier_segments = [segment for segment in line.segments if segment.end.last < day]
    later_segments = [segment for segment in line.segments if segment.start.first > day]
    may_hold = len(earlier_segments) + len(later_segments) < len(line.segments)
    if may_hold or not earlier_segments or not later_segments:
        return False
    segment_before = max(
        earlier_segments, key=lambda segment: (segment.end.last, segment.end.first)
    )
    segment_after = min(
        later_segments, key=lambda segment: (segment.start.first, segment.start.last)
    )
    both_sure = {segment_before.kind, segment_after.kind} == {"state"} and not (
        segment_before.doubtful or segment_after.doubtful
    )
    empty_days = Point(segment_before.end.last + 1, segment_after.start.first - 1)
    is_barred = any(possible(gap.first, gap.last, empty_days) for gap in line.gaps)
    return (
        both_sure
        and segment_before.end_stated  # "the last holder's end is stated (not inferred)"
        and segment_after.start_stated
        and not is_barred  # "nothing may hold in between"
        and segment_after.start.last - segment_before.end.first - 1 <= VACANT_DAYS
    )


class Lengths(NamedTuple):
    """How many days terms lasted; those of the open ones are as yet."""

    closed: list[Fraction]
    open: list[Fraction]


def term_lengths(histories: Iterable[History], snapshot: int) -> Lengths:
    """The terms of a relation from which its learned time is estimated."""
    lengths = Lengths([], [])
    for history in histories:
        for stated_fact in history.facts:
            named_object = history.objects[stated_fact.object]
            points = [point for point in (stated_fact.start, stated_fact.end) if point]
            is_term = stated_fact.kind == "term" and not stated_fact.reason
            # "with both boundaries of a year or finer"
            is_fine = all(point.last - point.first < 366 for point in points)
            has_begun = stated_fact.start.first <= snapshot
            if not (is_term and is_fine and has_begun and named_object.labelled):
                continue
            if stated_fact.end:  # "lengths from middle to middle"
                lengths.closed.append(middle(stated_fact.end) - middle(stated_fact.start))
            elif not (history.subject.died or named_object.died):  # "the open terms of the living"
                lengths.open.append(snapshot - middle(stated_fact.start))
    return lengths


def middle(point: Point) -> Fraction:
    """The middle of the possible days."""
    return Fraction(point.first + point.last, 2)


def learned_days(lengths: Lengths, share: Fraction) -> Fraction | None:
    """The time by which a share of the terms had ended (Kaplan-Meier); None: it is not known."""
    if len(lengths.closed) < 50:
        return None
    surviving = Fraction(1)
    for days in sorted(set(lengths.closed)):
        exposed = sum(length >= days for length in lengths.closed + lengths.open)
        surviving *= 1 - Fraction(lengths.closed.count(days), exposed)
        if 1 - surviving >= share:
            return days
    return None
