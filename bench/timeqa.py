"""Speed of TimeQA's questions: from aligned timelines to easy and hard rows, and perturbed ones.

The baseline settles the same questions the plain way: it walks the days of each specifier and
asks every segment of the pair whether it holds that day under every reading. It is given the
questions, so it chooses and writes none and looks for no doubt, and it runs on fewer pairs in the
same process. The two must agree on every `in` question of the pairs whose dates are all days.
Pairs are careers of the length, precision and overlap that Wikidata has; objects recur, as in
data. Times are those of the process on its core, so that a busy machine does not count.
Run: `python -m bench.timeqa`; exits 1 where a bound is missed.
"""

import gc
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from random import Random

from bench import ROOT
from factdrift.builders.facts.relations import load_relations
from factdrift.builders.rows import AlignedSegment, AlignmentRule
from factdrift.builders.timeqa.questions import (
    Pair,
    PairQuestion,
    Questions,
    QuestionTemplates,
    ask_pair,
    perturbed,
)

SEGMENTS = 1_000_000
PIECE = 50_000
"""Segments in memory at a time; making them is not measured."""
PLAIN = 10_000
SNAPSHOT = date(2022, 9, 15)
OBJECTS = 20_000
SEED = 7
LEAST_SPEED = 12_000
"""Segments a second on one core, easy and hard questions together."""
LEAST_RATIO = 20.0
MOST_MEMORY = 600.0
RULES: tuple[AlignmentRule, ...] = ("link",) * 6 + ("name",) * 3 + ("none",)


def pairs(segments: int, seed: int) -> Iterator[Pair]:
    """Careers of about five spells, 60 % of their dates years and 5 % months."""
    chance = Random(seed)
    made = number = 0
    while made < segments:
        number += 1
        subject = f"Q{number * 1000 + seed}"
        spells = list(career(chance, subject))
        made += len(spells)
        yield Pair(subject, f"Ann {subject}", "P54", tuple(spells), ())


def career(chance: Random, subject: str) -> Iterator[AlignedSegment]:
    """One spell after another, the last one open in every second career."""
    form = chance.choices(("day", "month", "year"), (35, 5, 60))[0]
    at = date(1950, 1, 1) + timedelta(chance.randint(0, 22_000))
    length = chance.randint(2, 8)
    for n in range(length):
        end = at + timedelta(chance.randint(300, 1400))
        is_open = end >= SNAPSHOT or (n == length - 1 and chance.random() < 0.5)
        thing = int(OBJECTS ** chance.random())
        first, last = around(at, form), (SNAPSHOT, SNAPSHOT) if is_open else around(end, form)
        first = first[0], min(first[1], last[1])
        last = max(last[0], first[0]), last[1]
        yield AlignedSegment(
            subject, "P54", f"Q{thing}", *first, *last, is_open, False, False, (f"{subject}${n}",),
            SNAPSHOT, f"Rovers {thing}", (f"{thing} FC", f"R{thing}"), n, n, chance.choice(RULES),
            n, 0, 6, "Rovers", None, None, None, "both", False, "automatic",
        )  # fmt: skip
        if is_open:
            return
        at = end + timedelta(chance.choice((0, 0, 1, 30, 300, -100)))


def around(day: date, form: str) -> tuple[date, date]:
    """A day at a precision."""
    if form == "day":
        return day, day
    if form == "year":
        return day.replace(month=1, day=1), day.replace(month=12, day=31)
    first = day.replace(day=1)
    return first, (first + timedelta(31)).replace(day=1) - timedelta(1)


def plain(asked: Sequence[PairQuestion], pair: Pair) -> list[set[str]]:
    """Who answers each question, by asking every segment about every day of its time."""
    found = []
    for one in asked:
        first, until = one.time.days()
        day = first or min(s.start_first or SNAPSHOT for s in pair.segments)
        last = until or SNAPSHOT
        answers = set()
        while day <= last:
            for s in pair.segments:
                if holds(s, day):
                    answers.add(s.object)
            day += timedelta(1)
        found.append(answers)
    return found


def holds(s: AlignedSegment, day: date) -> bool:
    """Whether a segment holds on a day under every reading."""
    if s.start_last is None or s.end_first is None:
        return False
    return s.start_last <= day <= s.end_first


def exact(pair: Pair) -> bool:
    """Whether all dates of a pair are days, so that nothing is in doubt."""
    return all(s.start_first == s.start_last and s.end_first == s.end_last for s in pair.segments)


def main() -> int:
    """Measure, print a line for each figure; 1 where a bound is missed."""
    relation = QuestionTemplates.of(load_relations(ROOT / "templates")["P54"])
    settings = Questions()
    spent = probing = 0.0
    segments = rows = moved = dropped = 0
    plain_spent, plain_rows, agreed = 0.0, 0, 0
    gc.disable()
    for piece in range(SEGMENTS // PIECE):
        made = list(pairs(PIECE, piece))
        segments += sum(len(p.segments) for p in made)
        began = time.process_time()
        results = [ask_pair(p, relation, settings, SEED) for p in made]
        spent += time.process_time() - began
        rows += sum(len(asked) for asked, _ in results)
        dropped += sum(len(left) for _, left in results)
        if piece:
            continue
        began = time.process_time()
        for p, (asked, _) in zip(made, results, strict=True):
            moved += len(perturbed(asked, p, relation, settings, SEED))
        probing = time.process_time() - began
        for p, (asked, _) in zip(made, results, strict=True):
            if plain_rows >= PLAIN:
                break
            began = time.process_time()
            found = plain(asked, p)
            plain_spent += time.process_time() - began
            plain_rows += len(asked)
            for one, answers in zip(asked, found, strict=True):
                if exact(p) and one.time.specifier == "in":
                    assert answers == {o.id for o in one.answers.objects}, one
                    agreed += 1
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    speed, ratio = segments / spent, (rows / spent) / (plain_rows / plain_spent)
    print(f"{segments:,} segments, {rows:,} questions, {dropped:,} dropped in {spent:.1f} s")
    print(f"plain loop: {plain_rows / plain_spent:,.0f} questions/s, {agreed} compared")
    print(f"perturbed: {moved:,} of {PIECE:,} segments, {moved / probing:,.0f} a second")
    missed = 0
    for label, figure, good, bound in (
        ("segments a second", f"{speed:,.0f}", speed >= LEAST_SPEED, f">= {LEAST_SPEED:,}"),
        ("questions/s to plain loop", f"{ratio:.0f}", ratio >= LEAST_RATIO, f">= {LEAST_RATIO:g}"),
        ("peak memory, MB", f"{peak:.0f}", peak < MOST_MEMORY, f"< {MOST_MEMORY:g}"),
    ):
        print(f"{label:30} {figure:>12}   {'ok' if good else 'MISSED'} ({bound})")
        missed += not good
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
