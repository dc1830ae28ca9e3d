"""Random histories of one (subject, relation) each, full of what Wikidata leaves unsaid.

A history is input for `tests.spec_oracle` and, by `tests.history_tables`, for the product. All is
drawn from one seed; the objects are one pool shared by all histories of a batch, and each relation
stands for one set of settings.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta

from tests.spec_oracle import (
    MAX_DAY,
    MIN_DAY,
    UNKNOWN,
    Entity,
    Fact,
    History,
    Point,
    Relation,
    last_of_month,
    narrowed,
)

SNAPSHOT = date(2023, 8, 15)
# some boundaries lie after the snapshot, as plans of a dump do
FIRST_YEAR, LAST_YEAR = 2014, 2024
# ranges that do not meet, so that an id in a failure tells what it is of
FIRST_SUBJECT, FIRST_OBJECT, FIRST_OFFICE = 10_000_001, 9_000_001, 8_000_001
OFFICE_SUBJECTS = 25
"""So many subjects in a row share two offices, of which one in eight has a relation of offices."""

BOTH = ("subject", "object")
RELATIONS = (
    Relation("P99001", True, BOTH),
    Relation("P99002", False, BOTH, open_for=4),
    Relation("P99003", True, ("object",), "keep", open_for=4),
    Relation("P99004", False, ("subject",), "keep"),
    Relation("P99005", True, ()),
    Relation("P99006", False, (), "keep"),
    Relation("P99007", False, ()),
    Relation("P99008", False, BOTH, "keep"),
    Relation("P99009", False, BOTH, usually="one"),
    Relation("P99010", False, BOTH, seat="one"),
    Relation("P99011", False, BOTH, usually="one", open_for="learned", learned_days=700),
    Relation("P99012", False, BOTH, "doubt", open_for="learned"),
)
"""Made-up properties, one for each set of settings; more weight is given to the first two."""
WEIGHTS = (40, 16, 8, 6, 6, 4, 7, 5, 10, 12, 8, 4)
POINTWISE = ("P99007", "P99008")


def any_day(rng: random.Random) -> date:
    """A day of the window."""
    first_day, last_day = date(FIRST_YEAR, 1, 1).toordinal(), date(LAST_YEAR, 6, 30).toordinal()
    return date.fromordinal(rng.randint(first_day, last_day))


def late_day(rng: random.Random) -> date:
    """A day of the window, mostly late in it."""
    return max(any_day(rng) for _ in range(3))


def dated(rng: random.Random, day: date) -> Point:
    """A day told to the day, month, year or decade, or vaguely, or by one bound alone."""
    ordinal = day.toordinal()
    first_day, last_day = date(day.year, 1, 1).toordinal(), last_of_month(day.year, 12)
    month = Point(day.replace(day=1).toordinal(), last_of_month(day.year, day.month))
    decade = Point(
        date(day.year // 10 * 10, 1, 1).toordinal(), last_day + 366 * (9 - day.year % 10)
    )
    vague = Point(ordinal - rng.randint(0, 500), ordinal + rng.randint(0, 200))
    kinds = {
        Point(ordinal, ordinal): 40,
        month: 19,
        Point(first_day, last_day): 34,
        decade: 1,
        vague: 2,
        Point(ordinal, MAX_DAY): 0.5,
        Point(MIN_DAY, ordinal): 0.5,
        UNKNOWN: 3,
    }
    return rng.choices([*kinds], [*kinds.values()])[0]


def term(name: str, start: Point, end: Point | None, rank: str = "normal") -> Fact:
    """A fact, or a contradiction."""
    known_end = end and narrowed(start, end)
    if end and not known_end:
        return Fact(name, rank=rank, reason="contradictory")
    first, last = known_end or (start, None)
    return Fact(name, first, last, rank=rank)


@dataclass(frozen=True)
class Spells:
    """Facts one after another: the same object again or others, touching, lacking, at once.

    `same`, `ended`, `preferred`: how often it is the first one's object, how often its end is told,
    how often its rank is preferred; `lasts`, `steps`: days of each, and from its end to the next.
    """

    most: int
    same: float
    ended: float
    preferred: float
    lasts: tuple[int, ...]
    steps: tuple[int, ...]

    def facts(self, rng: random.Random, object_names: list[str]) -> list[Fact]:
        first_object = rng.choice(object_names)
        day = any_day(rng) - timedelta(days=rng.randint(0, 1100))
        facts_found = []
        for _ in range(rng.randint(1 + (self.most < 4), self.most)):
            term_end = day + timedelta(days=rng.choice(self.lasts))
            name = first_object if rng.random() < self.same else rng.choice(object_names)
            until = dated(rng, term_end) if rng.random() < self.ended else None
            term_start = dated(rng, day) if rng.random() < 0.93 else UNKNOWN
            fact_rank = "preferred" if rng.random() < self.preferred else "normal"
            facts_found.append(term(name, term_start, until, fact_rank))
            day = term_end + timedelta(days=rng.choice(self.steps))
        return facts_found


SPELLS = (
    Spells(4, 0.1, 0.55, 0.1, (-20, 30, 200, 700, 1400), (-2000, -900, -300, 100, 800)),
    Spells(4, 0.1, 0.6, 0.1, (20, 90, 365, 500, 900), (0, 0, 0, 1, 1, 30, 200, -1, -60)),
    Spells(3, 0.8, 0.8, 0.1, (1, 40, 300, 365, 730), (0, 1, 1, 2, 50, 300, -20)),
    Spells(3, 0.0, 0.1, 0.3, (10, 200, 500), (0, -10, -200, -500)),
    Spells(4, 0.0, 0.6, 0.1, (500, 900, 1200), (-800, -400, -60, 0)),
    Spells(4, 0.0, 0.85, 0.1, (60, 300, 700), (-89, -90, -91, -92, -40, -1, 0, 60, 93, 94)),
)
"""Terms of any kind, successions, the same again, rivals, co-holders, overlaps and vacancies."""


def sightings(rng: random.Random, object_names: list[str]) -> list[Fact]:
    """A series of points in time, with terms beside."""
    name, year = rng.choice(object_names), rng.randint(FIRST_YEAR, LAST_YEAR - 3)
    points = [
        Point(date(point_year, 1, 1).toordinal(), last_of_month(point_year, 12))
        for point_year in range(year, year + 3)
    ]
    if rng.random() < 0.4:
        points = [dated(rng, any_day(rng)) for _ in points]
    facts_found = [
        Fact(name, Point(MIN_DAY, point.last), Point(point.first, MAX_DAY), "sighting")
        for point in points[: rng.randint(1, 3)]
    ]
    return facts_found + SPELLS[0].facts(rng, [name, rng.choice(object_names)])[: rng.randint(0, 1)]


def no_facts(rng: random.Random, object_names: list[str]) -> list[Fact]:
    """Undated and contradictory statements beside dated ones."""
    reason = "undated" if rng.random() < 0.7 else "contradictory"
    fact_rank = "preferred" if rng.random() < 0.3 else "normal"
    return [
        Fact(rng.choice(object_names), rank=fact_rank, reason=reason),
        *rng.choice(SPELLS[:3]).facts(rng, object_names),
    ]


SCENES = (*(spell.facts for spell in SPELLS), sightings, no_facts)
SCENE_WEIGHTS = (24, 20, 16, 14, 8, 18, 10, 12)


def as_point(rng: random.Random, fact: Fact) -> Fact:
    """A fact of an award: mostly its start becomes its point in time."""
    if fact.kind == "sighting" and fact.end:
        day = Point(fact.end.first, fact.start.last)
    elif fact.reason or fact.start == UNKNOWN or (fact.end and rng.random() < 0.2):
        return fact
    else:
        day = fact.start
    return Fact(fact.object, day, day, "point", fact.rank)


def object_pool(rng: random.Random) -> dict[str, Entity]:
    """The objects of all histories: most live on, some end in the window, a few have no label."""
    entity_pool: dict[str, Entity] = {}
    for object_number in range(40):
        name = f"Q{FIRST_OBJECT + object_number}"
        died = dated(rng, late_day(rng)) if object_number >= 29 else None
        born = (
            dated(rng, min(any_day(rng) for _ in range(3)))
            if object_number % 6 == 5 and object_number < 29
            else None
        )
        entity_pool[name] = Entity(name, object_number not in (27, 30), born, died)
    return entity_pool


def subject_of(rng: random.Random, subject_number: int) -> Entity:
    """A subject: some of them with a birth or a death in the window."""
    birth, death = any_day(rng) - timedelta(days=1200), late_day(rng)
    born = dated(rng, birth) if rng.random() < 0.2 else None
    dies = rng.random() < 0.2 and death > birth + timedelta(days=800)
    return Entity(f"Q{subject_number}", True, born, dated(rng, death) if dies else None)


def office_terms(
    rng: random.Random, facts: list[Fact], subject_number: int
) -> tuple[list[Fact], dict[str, Entity]]:
    """The facts about two offices, which subjects of near numbers share; and the offices.

    Most offices have one holder after another, each with a place in that row; in the others terms
    lie as they come.
    """
    group = subject_number // OFFICE_SUBJECTS
    offices: dict[str, Entity] = {}
    for place in (2 * group, 2 * group + 1):
        name = f"Q{FIRST_OFFICE + place}"
        chance = random.Random(f"office {place}")
        ended = dated(chance, late_day(chance)) if chance.random() < 0.1 else None
        offices[name] = Entity(name, chance.random() > 0.05, None, ended)
    object_names = [*offices]
    if rng.random() < 0.2:
        return [replace(spell, object=rng.choice(object_names)) for spell in facts], offices
    term_start = date(FIRST_YEAR - 2, 3, 1) + timedelta(
        days=450 * (subject_number % OFFICE_SUBJECTS % 9)
    )
    term_end = term_start + timedelta(days=rng.choice((300, 449, 450, 450, 500, 560)))
    until = dated(rng, term_end) if rng.random() < 0.6 else None
    fact_rank = "preferred" if rng.random() < 0.1 else "normal"
    return [term(rng.choice(object_names), dated(rng, term_start), until, fact_rank)], offices


def random_history(rng: random.Random, pool: dict[str, Entity], subject_number: int) -> History:
    """One history of one scene, or two mixed, over one to four objects of the pool."""
    object_names = rng.sample(sorted(pool), rng.choice((1, 2, 2, 3, 3, 4)))
    facts: list[Fact] = []
    for scene in rng.choices(SCENES, SCENE_WEIGHTS, k=1 if rng.random() < 0.85 else 2):
        facts += scene(rng, object_names)
    relation = rng.choices(RELATIONS, WEIGHTS)[0]
    if relation.id in POINTWISE:
        facts = [as_point(rng, spell) for spell in facts]
    if relation.seat:
        facts, pool = office_terms(rng, facts, subject_number)
    rng.shuffle(facts)
    used = {spell.object: pool[spell.object] for spell in facts}
    return History(subject_of(rng, subject_number), relation, tuple(facts), used)


def histories(seed: int, count: int) -> Iterator[History]:
    """Random histories of subjects Q10000001 and up: the same ones for the same seed."""
    pool = object_pool(random.Random(f"{seed} objects"))
    for history_number in range(count):
        yield random_history(
            random.Random(f"{seed} {history_number}"), pool, FIRST_SUBJECT + history_number
        )


def earlier(history: History, seed: int, day: date) -> History:
    """What an older dump, of `day`, may have said: fewer facts, and ends not yet there."""
    rng = random.Random(f"{seed} {history.subject.id}")
    begun = [spell for spell in history.facts if spell.start.first <= day.toordinal()]
    kept_facts = [spell for spell in begun if rng.random() > 0.15]
    opened = [
        replace(kept_fact, end=None)
        if kept_fact.kind == "term" and rng.random() < 0.3
        else kept_fact
        for kept_fact in kept_facts
    ]
    return replace(history, facts=tuple(opened))
