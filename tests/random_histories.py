"""Random histories of one (subject, relation) each, full of what Wikidata leaves unsaid.

A history is input for `tests.spec_oracle` and, by `tests.history_tables`, for the product. All is
drawn from one seed; the objects are one pool shared by all histories of a batch, and each relation
stands for one set of settings.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta

from tests.spec_oracle import Entity, History, Relation, Snak, Statement, Time

SNAPSHOT = date(2023, 8, 15)
FIRST_YEAR, LAST_YEAR = 2014, 2024
FIRST_SUBJECT, FIRST_OBJECT = 10_000_001, 9_000_001
PRECISIONS = (9,) * 36 + (10,) * 20 + (11,) * 42 + (8,) * 2

RELATIONS: tuple[Relation, ...] = tuple(
    Relation(
        f"P99{number:03d}", mode, exclusive, ends_with, undated, 4 if number in (2, 3) else None
    )
    for number, (mode, exclusive, ends_with, undated) in enumerate(
        (
            ("accumulate", True, ("subject", "object"), "drop"),
            ("accumulate", False, ("subject", "object"), "drop"),
            ("accumulate", True, ("object",), "keep"),
            ("accumulate", False, ("subject",), "keep"),
            ("accumulate", True, (), "drop"),
            ("accumulate", False, (), "keep"),
            ("pointwise", False, (), "drop"),
            ("pointwise", False, ("subject", "object"), "keep"),
        ),
        start=1,
    )
)
"""Made-up properties, one for each set of settings; more weight is given to the first two."""
WEIGHTS = (40, 22, 8, 6, 6, 4, 9, 5)


def any_day(rng: random.Random, around: date | None = None, spread: int = 400) -> date:
    """A day of the window, or one near another day."""
    if around is not None:
        return around + timedelta(days=rng.randint(-spread, spread))
    first, last = date(FIRST_YEAR, 1, 1).toordinal(), date(LAST_YEAR, 6, 30).toordinal()
    return date.fromordinal(rng.randint(first, last))


def cut(day: date, precision: int) -> Time:
    """A day told with a precision."""
    month = day.month if precision >= 10 else 0
    return Time(day.year, month, day.day if precision >= 11 else 0, precision)


def told(rng: random.Random, day: date) -> Time:
    """A day told with a random precision, now and then in the Julian calendar."""
    time = cut(day, rng.choice(PRECISIONS))
    if time.precision == 11 and rng.random() < 0.05 and day.day <= 28:
        return time._replace(julian=True)
    return time._replace(julian=True) if rng.random() < 0.01 else time


def snak(rng: random.Random, day: date) -> Snak:
    """A day as a qualifier has it: mostly a value, now and then an odd one."""
    draw = rng.random()
    if draw < 0.95:
        return told(rng, day)
    if draw < 0.98:
        return "somevalue"
    if draw < 0.985:
        return "novalue"
    odd = (Time(day.year, 0, 0, 7), Time(-44, 3, 15, 11), Time(-300), Time(12000), Time(5, 0, 0, 8))
    return rng.choice(odd)


@dataclass(frozen=True)
class Scene:
    """What a scene draws from: the random numbers and the names of its objects."""

    rng: random.Random
    names: list[str]

    def name(self) -> str:
        return self.rng.choice(self.names)

    def rank(self) -> str:
        return self.rng.choices(("normal", "preferred", "deprecated"), (86, 11, 3))[0]

    def term(
        self, name: str, start: date | None, end: date | None, rank: str | None = None, **more: Snak
    ) -> Statement:
        """A statement of P580 and P582, each where it is given."""
        found: dict[str, tuple[Snak, ...]] = {}
        if start is not None:
            found["P580"] = (snak(self.rng, start),)
        if end is not None:
            found["P582"] = (snak(self.rng, end),)
        found |= {q: (s,) for q, s in more.items()}
        return Statement(name, rank or self.rank(), found)


@dataclass(frozen=True)
class Spells:
    """Statements one after another: the same object again or others, touching, lacking, at once.

    `same`, `ended`, `preferred`: how often it is the first one's object, how often its end is told,
    how often its rank is preferred; `lasts`, `steps`: days of each, and from its end to the next.
    """

    most: int
    same: float
    ended: float
    preferred: float
    lasts: tuple[int, ...]
    steps: tuple[int, ...]

    def __call__(self, scene: Scene) -> list[Statement]:
        rng, first = scene.rng, scene.name()
        day = any_day(rng) - timedelta(days=rng.randint(0, 1100))
        found = []
        for _ in range(rng.randint(1 + (self.most < 4), self.most)):
            end = day + timedelta(days=rng.choice(self.lasts))
            name = first if rng.random() < self.same else scene.name()
            until = end if rng.random() < self.ended else None
            start = day if rng.random() < 0.93 else None
            more: dict[str, Snak] = {} if start or until else {"P582": "novalue"}
            rank = "preferred" if rng.random() < self.preferred else None
            found.append(scene.term(name, start, until, rank, **more))
            day = end + timedelta(days=rng.choice(self.steps))
        return found


free = Spells(4, 0.1, 0.55, 0.0, (-20, 30, 200, 700, 1400), (-2000, -900, -300, 100, 800))
succession = Spells(4, 0.1, 0.6, 0.05, (20, 90, 365, 500, 900), (0, 0, 0, 1, 1, 30, 200, -1, -60))
again = Spells(3, 0.8, 0.8, 0.0, (1, 40, 300, 365, 730), (0, 1, 1, 2, 50, 300, -20))
rivals = Spells(3, 0.0, 0.1, 0.25, (10, 200, 500), (0, -10, -200, -500))
co_holders = Spells(4, 0.0, 0.6, 0.0, (500, 900, 1200), (-800, -400, -60, 0))


def sightings(scene: Scene) -> list[Statement]:
    """A series of points in time, one statement each or several in one, with terms beside."""
    rng, name = scene.rng, scene.name()
    year = rng.randint(FIRST_YEAR, LAST_YEAR - 3)
    points: list[Snak] = [Time(year + i) for i in range(rng.randint(1, 3))]
    if rng.random() < 0.4:
        points = [snak(rng, any_day(rng)) for _ in points]
    if rng.random() < 0.15:
        found = [Statement(name, scene.rank(), {"P585": tuple(dict.fromkeys(points))})]
    else:
        found = [Statement(name, scene.rank(), {"P585": (p,)}) for p in points]
    if rng.random() < 0.5:
        start = any_day(rng)
        end = start + timedelta(days=rng.randint(0, 900)) if rng.random() < 0.5 else None
        found.append(scene.term(rng.choice((name, scene.name())), start, end))
    if rng.random() < 0.1:
        found.append(scene.term(name, any_day(rng), None, P585=Time(year)))
    return found


def several(scene: Scene) -> list[Statement]:
    """Several starts and ends in one statement, which pair up or do not."""
    rng = scene.rng
    day = any_day(rng) - timedelta(days=1200)
    starts: list[Snak] = []
    ends: list[Snak] = []
    for _ in range(rng.randint(2, 3)):
        starts.append(snak(rng, day))
        day += timedelta(days=rng.choice((30, 365, 700)))
        ends.append(snak(rng, day))
        day += timedelta(days=rng.choice((0, 1, 200, 400, -100)))
    if rng.random() < 0.25:
        ends.pop()
    if rng.random() < 0.1:
        starts.pop(0)
    rng.shuffle(starts)
    rng.shuffle(ends)
    qualifiers = {"P580": tuple(dict.fromkeys(starts)), "P582": tuple(dict.fromkeys(ends))}
    found = [Statement(scene.name(), scene.rank(), qualifiers)]
    return found + (free(scene)[:1] if rng.random() < 0.5 else [])


def bounded(scene: Scene) -> list[Statement]:
    """Earliest and latest dates, alone and beside starts, ends and points."""
    rng, day = scene.rng, any_day(scene.rng) - timedelta(days=300)
    later = day + timedelta(days=rng.randint(0, 700))
    early, late = told(rng, day), told(rng, later)
    name = scene.name()
    said: dict[str, Snak] = {
        "?": "somevalue",
        "early": early,
        "late": late,
        "begin": told(rng, day),
        "end": told(rng, later),
        "near": told(rng, any_day(rng, day)),
        "sight": rng.choice(("somevalue", cut(day, 9))),
        "year": cut(day, 9),
        "month": cut(day, 10),
        "end year": cut(later, 9),
        "end month": cut(later, 10),
    }
    stated = (one.split("=") for one in rng.choice(BOUNDED).split(", "))
    found = [Statement(name, scene.rank(), {q: (said[text],) for q, text in stated})]
    return found + (free(scene)[:2] if rng.random() < 0.6 else [])


BOUNDED = """\
P580=?, P1319=early, P1326=late
P580=near, P1326=late
P582=?, P1319=early, P1326=late
P582=end, P1319=early
P580=?, P582=?, P1319=early, P1326=late
P580=begin, P582=end, P1319=early, P1326=late
P585=sight, P1319=early, P1326=late
P1319=early, P1326=late
P1319=early
P1326=late
P580=early, P8554=late
P580=early, P12506=late
P580=early, P8554=early, P12506=late
P8555=early
P580=?, P8555=early, P582=?, P12506=late
P580=year, P8555=month
P582=end year, P8554=end month, P12506=end year
""".splitlines()


def undated(scene: Scene) -> list[Statement]:
    """Undated statements beside dated ones."""
    rank = "preferred" if scene.rng.random() < 0.3 else "normal"
    return [Statement(scene.name(), rank, {}), *scene.rng.choice((free, succession))(scene)]


def contradictory(scene: Scene) -> list[Statement]:
    """An end before the start beside something good."""
    rng, day = scene.rng, any_day(scene.rng)
    before = day - timedelta(days=rng.choice((1, 40, 366, 800)))
    precision = rng.choice((9, 10, 11))
    bad = {"P580": (cut(day, precision),), "P582": (cut(before, precision),)}
    good = rng.choice((free, again, succession))(scene)
    return [Statement(scene.name(), "normal", bad), *good]


SCENES: tuple[tuple[Callable[[Scene], list[Statement]], int], ...] = (
    (free, 18), (succession, 18), (again, 14), (rivals, 14), (co_holders, 8), (sightings, 10),
    (several, 6), (bounded, 8), (undated, 8), (contradictory, 4),
)  # fmt: skip


def object_pool(rng: random.Random) -> dict[str, Entity]:
    """The objects of all histories: most live on, some end in the window, a few have no label."""
    pool: dict[str, Entity] = {}
    for number in range(40):
        name = f"Q{FIRST_OBJECT + number}"
        dates: dict[str, tuple[tuple[str, Snak], ...]] = {}
        if number >= 29:
            dates = {rng.choice(("P570", "P576")): death_dates(rng, late_day(rng))}
        if number % 6 == 5:
            born = min(any_day(rng) for _ in range(3))
            dates[rng.choice(("P569", "P571"))] = death_dates(rng, born)
        pool[name] = Entity(name, labelled=number not in (27, 30), dates=dates)
    return pool


def late_day(rng: random.Random) -> date:
    """A day of the window, mostly late in it."""
    return max(any_day(rng) for _ in range(3))


def death_dates(rng: random.Random, day: date) -> tuple[tuple[str, Snak], ...]:
    """One date of a death, sometimes two of different ranks, sometimes not known."""
    one: tuple[str, Snak] = ("normal", told(rng, day))
    draw = rng.random()
    if draw < 0.75:
        return (one,)
    other: tuple[str, Snak] = ("normal", told(rng, any_day(rng, day, 200)))
    if draw < 0.82:
        return one, other
    if draw < 0.90:
        return one, ("preferred", other[1])
    if draw < 0.94:
        return one, ("deprecated", other[1])
    return (("normal", rng.choice(("somevalue", "novalue", Time(1950, precision=7)))),)


def subject_of(rng: random.Random, number: int) -> Entity:
    """A subject: some of them with a birth or a death in the window."""
    dates: dict[str, tuple[tuple[str, Snak], ...]] = {}
    person = rng.random() < 0.6
    birth = any_day(rng) - timedelta(days=1200)
    if rng.random() < 0.12:
        dates["P569" if person else "P571"] = death_dates(rng, birth)
    elif rng.random() < 0.2:
        dates["P569" if person else "P571"] = (("normal", Time(1950, 3, 4, 11)),)
    if rng.random() < 0.2:
        death = late_day(rng)
        if death > birth + timedelta(days=800):
            dates["P570" if person else "P576"] = death_dates(rng, death)
    return Entity(f"Q{number}", labelled=True, dates=dates)


def random_history(rng: random.Random, pool: dict[str, Entity], number: int) -> History:
    """One history of one scene, or two mixed, over one to four objects of the pool."""
    scenes, weights = zip(*SCENES, strict=True)
    names = rng.sample(sorted(pool), rng.choice((1, 2, 2, 3, 3, 4)))
    scene = Scene(rng, names)
    statements: list[Statement] = []
    for _ in range(1 if rng.random() < 0.85 else 2):
        statements += rng.choices(scenes, weights)[0](scene)
    relation = rng.choices(RELATIONS, WEIGHTS)[0]
    if relation.mode == "pointwise":
        statements = [as_point(rng, s) for s in statements]
    rng.shuffle(statements)
    used = {s.object: pool[s.object] for s in statements}
    return History(subject_of(rng, number), relation, tuple(statements), used)


def as_point(rng: random.Random, statement: Statement) -> Statement:
    """A statement of an award: mostly its start becomes its point in time."""
    if "P580" not in statement.qualifiers or rng.random() < 0.2:
        return statement
    return replace(statement, qualifiers={"P585": statement.qualifiers["P580"]})


def histories(seed: int, count: int) -> Iterator[History]:
    """Random histories of subjects Q10000001 and up: the same ones for the same seed."""
    pool = object_pool(random.Random(f"{seed} objects"))
    for i in range(count):
        yield random_history(random.Random(f"{seed} {i}"), pool, FIRST_SUBJECT + i)


def earlier(history: History, seed: int, day: date) -> History:
    """What an older dump, of `day`, may have said: fewer statements, ends not yet there, others."""
    rng = random.Random(f"{seed} {history.subject.id}")
    kept: list[Statement] = []
    for statement in history.statements:
        draw = rng.random()
        stated = dict(statement.qualifiers)
        if draw < 0.15:
            continue
        begun = stated.get("P580", ())
        if any(isinstance(s, Time) and s.year > day.year for s in begun):
            continue
        if draw < 0.4:
            stated.pop("P582", None)
        elif draw < 0.5:
            stated["P580"] = (told(rng, any_day(rng)),)
        elif draw < 0.55:
            stated = {}
        kept.append(replace(statement, qualifiers=stated))
    if rng.random() < 0.2:
        kept.append(Statement(rng.choice(sorted(history.objects)), "normal", {}))
    if rng.random() < 0.2:
        start = any_day(rng, day - timedelta(days=900), 800)
        name = rng.choice(sorted(history.objects))
        ended = {"P582": (told(rng, any_day(rng, day, 500)),)} if rng.random() < 0.5 else {}
        kept.append(Statement(name, "normal", {"P580": (told(rng, start),), **ended}))
    objects = dict(history.objects)
    if rng.random() < 0.15:  # one that the newer dump no longer has
        gone = f"Q{FIRST_OBJECT}"
        start = any_day(rng)
        stated = {"P580": (told(rng, start),)}
        if rng.random() < 0.6:
            stated["P582"] = (told(rng, start + timedelta(days=rng.randint(0, 900))),)
        kept.append(Statement(gone, "normal", stated))
        objects[gone] = Entity(gone)
    return replace(history, statements=tuple(kept), objects=objects)
