"""Speed of TimeQA's questions: from aligned timelines to easy and hard rows.

The baseline settles the same questions the plain way: it walks the days of each specifier and
asks every segment of the pair whether it holds that day under every reading. It is given the
questions, so it chooses and writes none and looks for no doubt, and it runs on fewer pairs in the
same process. The two must agree on every `in` question of the pairs whose dates are all days.
Pairs are careers of the length, precision and overlap that Wikidata has; objects recur, as in
data. Times are those of the processor, so that a busy machine does not count.
"""

import gc
import resource
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from functools import partial
from random import Random

from bench import ROOT, Figures, timed
from factdrift.builders.facts.relations import load_relations
from factdrift.builders.rows import AlignmentRule, ReleasedAlignedSegment
from factdrift.builders.timeqa.questions import (
    AskedPair,
    Pair,
    PairQuestion,
    Questions,
    QuestionTemplates,
    ask_pair,
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
LEAST_RATIO = 15.0
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


def career(chance: Random, subject: str) -> Iterator[ReleasedAlignedSegment]:
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
        yield ReleasedAlignedSegment(
            id=f"{subject}-{n}", subject=subject, subject_label=subject, relation="P54",
            relation_label="team", object=f"Q{thing}", object_label=f"Rovers {thing}",
            start_first=first[0], start_last=first[1], end_first=last[0], end_last=last[1],
            end_open=is_open, end_inferred=False, rival=False, statements=(f"{subject}${n}",),
            valid_from=None, valid_to=None, snapshot=SNAPSHOT, aliases=(f"{thing} FC", f"R{thing}"),
            page=n, revision=n, rule=chance.choice(RULES), paragraph=n, start=0, end=6,
            mention="Rovers", score=None, start_stated=None, end_stated=None, evidence="both",
            contradicted=False, verification="automatic",
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


def holds(s: ReleasedAlignedSegment, day: date) -> bool:
    """Whether a segment holds on a day under every reading."""
    if s.start_last is None or s.end_first is None:
        return False
    return s.start_last <= day <= s.end_first


def exact(pair: Pair) -> bool:
    """Whether all dates of a pair are days, so that nothing is in doubt."""
    return all(s.start_first == s.start_last and s.end_first == s.end_last for s in pair.segments)


def main(words: list[str]) -> int:
    """Measure, print a line for each figure; 1 where a bound is missed."""
    relation = QuestionTemplates.of(load_relations(ROOT / "templates")["P54-club"])
    settings, say = Questions(probes=0), Figures()
    spent = plain_spent = 0.0
    segments = rows = plain_rows = agreed = 0
    gc.disable()
    for piece in range((int(words[0]) if words else SEGMENTS) // PIECE):
        made = list(pairs(PIECE, piece))
        segments += sum(len(p.segments) for p in made)
        _, took, results = timed(partial(_ask, made, relation, settings))
        spent += took
        rows += sum(len(asked.questions) for asked in results)
        for p, asked in zip(made, results, strict=True) if piece == 0 else ():
            if plain_rows >= PLAIN:
                break
            _, took, found = timed(partial(plain, asked.questions, p))
            plain_spent += took
            plain_rows += len(asked.questions)
            for one, answers in zip(asked.questions, found, strict=True):
                if exact(p) and one.time.specifier == "in":
                    assert answers == {s.object for s in one.answers}, one
                    agreed += 1
    gc.enable()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    speed, ratio = segments / spent, (rows / spent) / (plain_rows / plain_spent)
    print(f"{segments:,} segments, {rows:,} questions; {agreed} answers of the loop compared")
    say("segments a second", f"{speed:,.0f}", speed >= LEAST_SPEED, f">= {LEAST_SPEED:,}")
    say("questions/s to plain loop", f"{ratio:.0f}", ratio >= LEAST_RATIO, f">= {LEAST_RATIO:g}")
    say("peak memory", f"{peak:.0f} MB", peak < MOST_MEMORY, f"< {MOST_MEMORY:g}")
    return say.missed


def _ask(made: Sequence[Pair], relation: QuestionTemplates, settings: Questions) -> list[AskedPair]:
    return [ask_pair(p, relation, settings, SEED) for p in made]
