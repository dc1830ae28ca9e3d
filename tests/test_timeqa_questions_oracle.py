"""Questions of random histories, each row judged by readings, by an oracle of its own."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from factdrift.builders.rows import (
    AlignedSegment,
    AlignmentRule,
    EvidenceTier,
    ReleasedAlignedSegment,
    Segment,
)
from factdrift.builders.timeqa.questions import Pair, PairQuestion, Questions, ask_pair
from factdrift.builders.timeqa.times import (
    DAY,
    MONTH,
    YEAR,
    Time,
    day_interval,
    select,
    unit,
    unit_index,
)
from tests import random_histories, spec_oracle
from tests.histories import Interval, day
from tests.history_tables import gap_rows, segment_rows
from tests.test_timeqa_questions import gap, relation
from tests.timeqa_oracle import AskedTime, Unit, answers, asked_time, verdict

ASKS = ("Which team did <subject> play for <time>?", "<time>, which team had <subject>?")
TIERS: tuple[EvidenceTier, ...] = ("both", "one", "none")
RULES: tuple[AlignmentRule, ...] = ("link", "name", "similar", "none")
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
POOL = random_histories.object_pool(Random("objects"))
NO_SHRINK = (Phase.explicit, Phase.reuse, Phase.generate)


def aligned(one: Segment, rule: AlignmentRule) -> ReleasedAlignedSegment:
    """A segment with names, the rule that found it, and what the page states, by its dates."""
    number = (one.start_first or one.end_last or one.snapshot).toordinal() + len(one.object)
    return ReleasedAlignedSegment(
        **{name: getattr(one, name) for name in Segment.__slots__}, id=f"{number}",
        subject_label="Ann Lee", relation_label="team", valid_from=None, valid_to=None,
        object_label=f"Club {one.object}", aliases=(), page=1, revision=2, rule=rule, paragraph=0,
        start=0, end=4, mention="Club", score=None, start_stated=number % 3 > 0,
        end_stated=number % 4 > 0, contradicted=number % 7 == 0,
        evidence="none" if rule == "none" else TIERS[number % 5 % 3],
        verification="human" if number % 2 else "automatic",
    )  # fmt: skip


def is_proved(one: AlignedSegment) -> bool:
    """Whether people checked a segment, or the page states a boundary of it and nothing else."""
    stated = one.rule != "none" and one.evidence in ("both", "one") and not one.contradicted
    return one.verification == "human" or stated


def near(seed: int) -> Pair:
    """The segments and gaps of a random history, by the oracle of timelines."""
    chance = Random(seed)
    snapshot = date(2019, 1, 1) + timedelta(chance.randint(0, 1500))
    history = random_histories.random_history(chance, POOL, 1)
    line = spec_oracle.timeline(history, snapshot.toordinal())
    segments = [aligned(s, chance.choice(RULES)) for s in segment_rows(history, line, snapshot)]
    return Pair("Q1", "Ann Lee", "P54", tuple(segments), tuple(gap_rows(history, line, snapshot)))


def career(seed: int) -> Pair:
    """One thing after another over decades, at changing precision; some overlap."""
    chance = Random(seed)
    snapshot = date(2021, 3, 9)
    at = date(1960 + chance.randint(0, 55), chance.randint(1, 12), chance.randint(1, 28))
    made = []
    for n in range(chance.randint(1, 6)):
        start = at + timedelta(chance.choice((0, 0, 1, 30, 400, -200)))
        at = start + timedelta(chance.choice((0, 10, 50, 300, 900, 4000)))
        is_open = at >= snapshot or chance.random() < 0.1
        begins, ends = _known(chance, start), _known(chance, at)
        if is_open:
            ends = snapshot, snapshot
        if begins[0] and begins[1] and ends[0] and ends[1]:
            begins, ends = (begins[0], min(begins[1], ends[1])), (max(ends[0], begins[0]), ends[1])
            if begins[0] > begins[1] or ends[0] > ends[1]:
                continue
        one = Segment(
            "Q1", "P54", f"Q{chance.randint(2, 5)}", *begins, *ends,
            is_open, False, False, (f"Q1${n}",), snapshot,
        )  # fmt: skip
        made.append(aligned(one, chance.choice(RULES)))
    return Pair("Q1", "Ann Lee", "P54", tuple(made), ())


def _known(chance: Random, at: date) -> Interval:
    kind = chance.choices(("%Y-%m-%d", "%Y-%m", "%Y", ""), (40, 20, 38, 2))[0]
    return day(at.strftime(kind)) if kind else (None, None)


def check(a: PairQuestion, pair: Pair) -> AskedTime:
    """One row against its own text and all readings of its pair."""
    template = ASKS[int(a.template.removeprefix("P54/")) - 1].replace("<subject>", "Ann Lee")
    head, _, tail = template.partition("<time>")
    text = a.text.removeprefix(head).removesuffix(tail)
    text = text[0].lower() + text[1:]
    time = asked_time(text)
    assert a.text == f"{head}{text if head else text[0].upper() + text[1:]}{tail}"
    assert time.kind == a.time.specifier
    assert time.days() == a.time.days()
    snapshot = pair.segments[0].snapshot
    assert all(u.last <= snapshot for u in time.units)
    assert all(u.first > v.last for u, v in zip(time.units[1:], time.units, strict=False))
    judged = time
    if time.kind == "between" and a.difficulty == "hard":
        judged = AskedTime("in", (Unit(time.units[0].first, time.units[1].last, YEAR),))
    found = answers(pair.segments, pair.gaps, judged, snapshot)
    assert found is not None, f"{a.text} is in doubt"
    things = {pair.segments[i].object for i in found}
    assert [s.object for s in a.answers] == sorted(things, key=lambda q: int(q[1:]))
    assert list(a.chosen) == sorted(found) and all(is_proved(pair.segments[i]) for i in found)
    best = {
        q: min((pair.segments[i].rule for i in found if pair.segments[i].object == q),
               key=RULES.index)
        for q in things
    }  # fmt: skip
    assert {s.object: s.rule for s in a.answers} == best
    missing = "not_in_page" if things else "nothing_holds"
    assert a.answerable == ("yes" if {*best.values()} - {"none"} and not a.cut else missing)
    if time.kind in ("before", "after"):
        assert len(things) == 1
    if a.segment is None:
        assert a.difficulty == "hard" and not things
    else:
        assert a.segment in found and is_proved(pair.segments[a.segment])
        assert a.evidence == pair.segments[a.segment].evidence
    return time


def ask_all(
    pair: Pair, pointwise: bool, seed: int
) -> tuple[list[PairQuestion], list[PairQuestion]]:
    about = relation(*ASKS, mode="pointwise" if pointwise else "accumulate")
    how = Questions(several=1, unanswerable={"hard": 0.3}, windows=1, probes=2)
    asked, probes, dropped = ask_pair(pair, about, how, seed)
    unproved = [d for d in dropped if d.reason in ("contradicted", "not_found", "not_stated")]
    assert len(unproved) == sum(not is_proved(s) for s in pair.segments)
    return asked, probes


SEEDS = st.integers(0, 2**32)


@given(SEEDS, st.sampled_from((near, career)), st.booleans())
@settings(max_examples=400, deadline=None, suppress_health_check=SLOW, phases=NO_SHRINK)
def test_every_row_is_so_under_every_reading(
    seed: int, make: Callable[[int], Pair], pointwise: bool
) -> None:
    pair = make(seed)
    asked, moved = ask_all(pair, pointwise, seed)
    origins = {a.id: a for a in asked}
    assert len(origins) == len(asked)
    time_of = {a.id: check(a, pair) for a in asked}
    for p in moved:
        origin = origins[p.original or ""]
        assert check(p, pair) != time_of[origin.id]
        assert ({s.object for s in p.answers}, p.segment, p.time.specifier) == (
            {s.object for s in origin.answers}, origin.segment, origin.time.specifier,
        )  # fmt: skip
    assert len({p.id for p in moved} | set(origins)) == len(moved) + len(origins)


def test_the_generators_reach_every_kind_of_row() -> None:
    seen: Counter[tuple[str, ...]] = Counter()
    for seed in range(400):
        for make in (near, career):
            asked, moved = ask_all(make(seed), seed % 5 == 0, seed)
            seen.update((a.difficulty, a.time.specifier, a.answerable) for a in asked)
            seen.update(("probe", p.time.specifier) for p in moved)
            seen.update(("several",) for a in asked if len(a.answers) > 1)
    kinds = {
        *(("easy", s, a) for s in ("in", "between", "after") for a in ("yes", "not_in_page")),
        *(
            ("hard", s, a)
            for s in ("in", "between", "before", "after")
            for a in ("yes", "not_in_page")
        ),
        *(("hard", s, "nothing_holds") for s in ("in", "between")),
        *(("probe", s) for s in ("in", "between", "before", "after")),
        ("several",),
    }
    assert {k for k in kinds if seen[k] < 5} == set()


@pytest.mark.parametrize("kind", ["in", "between", "before", "after"])
def test_select_on_a_small_calendar(kind: str) -> None:
    """Any span against any time: what is settled is so; but for `between` all that is so is."""
    chance = Random(f"small {kind}")
    snapshot = date(2013, 6, 30)
    settled: Counter[bool | None] = Counter()
    for _ in range(1500):
        points = sorted(date(2010, 1, 1) + timedelta(chance.randint(0, 1400)) for _ in range(4))
        if chance.random() < 0.5:
            points[1], points[2] = points[2], points[1]
        days = points[0], points[1], points[2], points[3]
        one = aligned(
            Segment("Q1", "P54", "Q2", *days, False, False, False, ("s",), snapshot), "link"
        )
        if chance.random() < 0.2:
            first = chance.random() < 0.5
            one = replace(one, start_first=None) if first else replace(one, end_last=None)
        if chance.random() < 0.2 and points[1] <= snapshot:
            one = replace(one, end_first=snapshot, end_last=snapshot, end_open=True)
        grain = chance.choice((DAY, MONTH, YEAR))
        numbers = sorted(
            unit_index(grain, (date(2010, 1, 1) + timedelta(chance.randint(0, 1400))).toordinal())
            for _ in range(2)
        )
        a, b = (unit(grain, n) for n in numbers)
        if kind == "between" and a == b:
            continue
        time = {
            "in": Time("in", a, a),
            "between": Time("between", a, b),
            "before": Time("before", None, a),
            "after": Time("after", a, None),
        }[kind]
        units = (a, b) if kind == "between" else (a,)
        words = asked_time(_text(kind, [(date.fromordinal(u.first), u.grain) for u in units]))
        found = select(time, [day_interval(one)], snapshot.toordinal())
        ours = None if found is None else bool(found)
        theirs = verdict(one, words, snapshot)
        assert ours is None or ours == theirs, (one, time)
        if kind != "between":
            assert ours == theirs, (one, time)
        settled[ours] += 1
    assert min(settled[x] for x in (True, False, None)) > 50


def _text(kind: str, units: Sequence[tuple[date, int]]) -> str:
    form = {DAY: "%-d %B %Y", MONTH: "%B %Y", YEAR: "%Y"}
    words = [d.strftime(form[grain]) for d, grain in units]
    if kind == "between":
        return f"between {words[0]} and {words[1]}"
    return f"{'on' if kind == 'in' and units[0][1] == DAY else kind} {words[0]}"


def test_a_gap_is_in_doubt_wherever_it_may_be() -> None:
    pair = career(3)
    about = relation(*ASKS)
    with_gap = replace(pair, gaps=(gap("", None),))
    asked, _, dropped = ask_pair(with_gap, about, Questions(), 1)
    assert asked == [] and "in_doubt" in {d.reason for d in dropped}
