"""Staleness and short overlaps: the rules by hand, and the windows against a plain walk."""

import random
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.core.engine import Engine
from factdrift.builders.core.errors import UserError
from factdrift.builders.facts import learned
from factdrift.builders.facts.learned import TermCount
from factdrift.builders.facts.time_rules import TimeRule
from factdrift.builders.facts.timeline import timeline
from factdrift.builders.rows import Entity, Fact
from tests.histories import NO_LIFE, day, fact, parquet
from tests.tables import read_table

NOW = date(2026, 2, 1)
RULES = {
    "P1": TimeRule(usually="one"),
    "P2": TimeRule(seat="one"),
    "P3": TimeRule(exclusive=True),
    "P4": TimeRule(open_for=3),
    "P5": TimeRule(open_for="learned", learned_days=100),
    "P6": TimeRule(open_for="learned"),
}
CASES = read_table("staleness")
"""Facts as `subject object start/end`, `!` behind a preferred one, and the segments of the first.

A segment is the days from which and until which it surely holds, or `rival`; behind `~` the day
until which it would surely hold if it were not stale.
"""


def facts_of(number: int, relation: str, text: str) -> Iterator[Fact]:
    for place, fact_text in enumerate(text.split("; ")):
        subject, object_id, term = fact_text.removesuffix("!").split()
        start, _, end = term.partition("/")
        yield fact(
            f"Q{number}0{subject}", relation, f"Q{number}0{object_id}",
            day(start), day(end) if end else None, snapshot=NOW, statement=f"{number}${place}",
            rank="preferred" if fact_text.endswith("!") else "normal",
        )  # fmt: skip


def told(segment: dict[str, Any]) -> str:
    sure = "rival" if segment["rival"] else f"{segment['start_last']}/{segment['end_first']}"
    return sure + (f"~{segment['stale_until']}" if segment["stale_until"] else "")


@pytest.fixture(scope="module")
def by_statement(duck: Engine, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    stated_facts: list[Fact] = []
    for case_number, (_, relation, text, _) in enumerate(CASES):
        stated_facts.extend(facts_of(case_number + 1, relation, text))
    path = parquet(tmp_path_factory.mktemp("stale") / "f.parquet", Fact, stated_facts)
    segments = duck.rows(timeline(duck, duck.read(path, Fact), rules=RULES).segments)
    segments_of: dict[str, list[str]] = {}
    for segment in sorted(segments, key=lambda row: str(row["start_last"])):
        for statement_id in segment["statements"]:
            segments_of.setdefault(statement_id, []).append(told(segment))
    return segments_of


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[0] for case in CASES])
def test_by_hand(by_statement: dict[str, list[str]], number: int) -> None:
    assert " ".join(by_statement[f"{number + 1}$0"]) == CASES[number][-1]


def random_facts(rng: random.Random, subjects: int, objects: int) -> list[Fact]:
    stated_facts = []
    for place in range(3000):
        start = date(2000, 1, 1) + timedelta(days=rng.randint(0, 2000))
        width = rng.choice([0, 0, 30, 364])
        days = rng.choice([10, 50, 100, 200, 800])
        end = start + timedelta(days=width + days)
        stated_facts.append(
            fact(
                f"Q{rng.randint(1, subjects)}", rng.choice(["P1", "P2", "P3"]),
                f"Q{1000 + rng.randint(1, objects)}", (start, start + timedelta(days=width)),
                (end, end) if rng.random() < 0.6 else None, snapshot=NOW, statement=f"${place}",
                rank="preferred" if rng.random() < 0.1 else "normal",
            )
        )  # fmt: skip
    return stated_facts


def is_followed(held: Fact, rivals: Sequence[Fact], competitor: str) -> bool:
    assert held.start_last
    return any(
        getattr(rival, competitor) != getattr(held, competitor)
        and rival.start_first is not None
        and rival.start_first > held.start_last
        for rival in rivals
    )


def sure_days(held: Fact) -> tuple[date, date]:
    assert held.start_last
    return held.start_last, NOW if held.end_open else held.end_first or NOW


def common_days(first: Fact, second: Fact) -> int:
    (first_from, first_to), (second_from, second_to) = sure_days(first), sure_days(second)
    return (min(first_to, second_to) - max(first_from, second_from)).days + 1


def terms_of(rivals: Sequence[Fact], competitor: str) -> list[Fact]:
    return [
        held_term
        for held_term in rivals
        if not held_term.end_open
        or held_term.rank == "preferred"
        or not is_followed(held_term, rivals, competitor)
    ]


def is_single_seat(rivals: Sequence[Fact]) -> bool:
    """Whether two subjects held it by stated terms, and no two of them for 92 days at once."""
    terms = terms_of(rivals, "subject")
    return len({held_term.subject for held_term in terms}) > 1 and not holds_several(terms)


def holds_several(terms: Sequence[Fact]) -> bool:
    return any(
        first.subject != second.subject
        and not (first.end_open and second.end_open)
        and common_days(first, second) >= 92
        for first, second in combinations(terms, 2)
    )


def starts_after(held: Fact, rivals: Sequence[Fact], competitor: str) -> list[date]:
    """The first possible starts of the competitors that began later under some reading."""
    assert held.start_first
    starts = []
    for rival in rivals:
        is_other = getattr(rival, competitor) != getattr(held, competitor)
        assert rival.start_first and rival.start_last
        if is_other and rival.start_last > held.start_first:
            starts.append(rival.start_first)
    return starts


@pytest.mark.parametrize(("subjects", "objects"), [(300, 40), (900, 1500)])
def test_windows_see_what_a_walk_sees(
    duck: Engine, tmp_path: Path, subjects: int, objects: int
) -> None:
    """Who is stale, from which day on, and which pairs have co-holders, in thousands of facts."""
    stated_facts = random_facts(random.Random(5), subjects, objects)
    table = duck.read(parquet(tmp_path / "f.parquet", Fact, stated_facts), Fact)
    rules = {**RULES, "P3": TimeRule(exclusive=True)}
    segments = duck.rows(timeline(duck, table, rules=rules).segments)
    segment_of = open_segments(segments)
    places: dict[tuple[str, str], list[Fact]] = {}
    for held_fact in stated_facts:
        place = held_fact.subject if held_fact.relation == "P1" else held_fact.object
        places.setdefault((held_fact.relation, place), []).append(held_fact)
    stale_count = 0
    for (relation, _), rivals in places.items():
        if relation == "P1":
            stale_count += checked(rivals, "object", segment_of)
        elif relation == "P2" and is_single_seat(rivals):
            stale_count += checked(rivals, "subject", segment_of)
    assert stale_count > 100


def open_segments(segments: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The open segments of one statement alone, by that."""
    return {
        segment["statements"][0]: segment
        for segment in segments
        if segment["end_open"] and len(segment["statements"]) == 1
    }


def checked(rivals: Sequence[Fact], competitor: str, segment_of: dict[str, dict[str, Any]]) -> int:
    """Check each open fact of normal rank of a place; return the number of stale ones."""
    stale_count = 0
    for held_term in rivals:
        segment = segment_of.get(held_term.statement)
        if segment is None or held_term.rank == "preferred":
            continue
        later_starts = starts_after(held_term, rivals, competitor)
        expected = min(later_starts) - timedelta(days=1) if later_starts else NOW
        assert held_term.start_first
        assert segment["end_first"] == max(expected, held_term.start_first), held_term
        assert (segment["stale_until"] is not None) == bool(later_starts)
        assert segment["rival"] == (expected < held_term.start_first)
        stale_count += bool(later_starts)
    return stale_count


def test_kaplan_meier() -> None:
    """Without open terms it is the nearest rank; those that last put the time off."""
    closed = [TermCount(days, 1, 0) for days in range(1, 101)]
    assert learned.days_until_ended(closed, 0.8) == 80
    assert learned.days_until_ended(closed, 0.95) == 95
    # Fifty more outlast all: of 150 terms at most 100 had ended, two thirds.
    assert learned.days_until_ended([*closed, TermCount(200, 0, 50)], 0.8) is None
    assert learned.days_until_ended([*closed, TermCount(200, 0, 50)], 0.5) == 75
    # Half leave the count unended at day 2: of ten terms two ended before, of the four left three.
    some = [TermCount(1, 2, 0), TermCount(2, 0, 4), TermCount(3, 3, 0), TermCount(4, 1, 0)]
    assert learned.days_until_ended(some, 0.8) == 3
    assert learned.days_until_ended(some, 0.81) == 4


def test_learned_from_facts(duck: Engine, tmp_path: Path) -> None:
    """Years are measured from middle to middle; the dead and what is vague are not counted."""
    stated_facts = [
        fact(
            f"Q{fact_number}",
            "P5",
            "Q9",
            day("2001"),
            day(f"{2002 + fact_number % 10}"),
            snapshot=NOW,
        )
        for fact_number in range(1, 61)
    ]
    stated_facts += [fact("Q70", "P5", "Q9", day("2010-01-01"), snapshot=NOW)]
    stated_facts += [fact("Q71", "P5", "Q9", day("1990"), snapshot=NOW)]  # dead
    stated_facts += [fact("Q72", "P5", "Q9", (date(2000, 1, 1), date(2009, 12, 31)), snapshot=NOW)]
    dead = Entity("Q71", "Q71", (), None, 0, 0, 0, None, None, day("2000")[0], day("2000")[1])
    living = Entity("Q70", "Q70", (), None, 0, 0, 0, *NO_LIFE)
    facts = duck.read(parquet(tmp_path / "f.parquet", Fact, stated_facts), Fact)
    entities = duck.read(parquet(tmp_path / "e.parquet", Entity, [dead, living]), Entity)
    rules = {**RULES, "P5": TimeRule(open_for="learned", usually="one")}
    times = {time.relation: time for time in learned.learned_times(duck, facts, entities, rules)}
    assert (times["P5"].closed, times["P5"].open) == (60, 1)
    assert times["P5"].days == (date(2010, 1, 1) - date(2001, 1, 1)).days
    assert (times["P6"].closed, times["P6"].days) == (0, None)
    second_file = tmp_path / "learned.json"
    second_file.write_text(learned.as_json(times.values()), "utf-8")
    assert learned.times_of_file(second_file, rules) == list(times.values())
    second_file.write_text('{"figures": [{"name": "other", "rows": []}]}', "utf-8")
    with pytest.raises(UserError, match="no learned times"):
        learned.times_of_file(second_file, rules)
    second_file.write_text('[{"relation": "P5", "days": -3, "share": 0.8, "closed": 1, "open": 0}]')
    with pytest.raises(UserError, match="days"):
        learned.times_of_file(second_file, rules)
