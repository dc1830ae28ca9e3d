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
from tests.tables import ids_of
from tests.test_timeqa_questions import gap, relation
from tests.timeqa_oracle import AskedTime, Unit, answers, asked_time, verdict

ASKS = ("Which team did <subject> play for <time>?", "<time>, which team had <subject>?")
TIERS: tuple[EvidenceTier, ...] = ("both", "one", "none")
RULES: tuple[AlignmentRule, ...] = ("link", "name", "similar", "none")
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
POOL = random_histories.object_pool(Random("objects"))
NO_SHRINK = (Phase.explicit, Phase.reuse, Phase.generate)


def aligned(segment_row: Segment, rule: AlignmentRule) -> ReleasedAlignedSegment:
    """A segment with names, the rule that found it, and what the page states, by its dates."""
    number = (
        segment_row.start_first or segment_row.end_last or segment_row.snapshot
    ).toordinal() + len(segment_row.object)
    return ReleasedAlignedSegment(
        **{name: getattr(segment_row, name) for name in Segment.__slots__}, id=f"{number}",
        subject_label="Ann Lee", relation_label="team", valid_from=None, valid_to=None,
        object_label=f"Club {segment_row.object}", aliases=(), page=1, revision=2, rule=rule,
        paragraph=0, start=0, end=4, mention="Club", score=None, start_stated=number % 3 > 0,
        end_stated=number % 4 > 0, contradicted=number % 7 == 0,
        evidence="none" if rule == "none" else TIERS[number % 5 % 3],
        verification="human" if number % 2 else "automatic",
    )  # fmt: skip


def is_proved(segment_row: AlignedSegment) -> bool:
    """Whether people checked a segment, or the page states a boundary of it and nothing else."""
    stated_days = (
        segment_row.rule != "none"
        and segment_row.evidence in ("both", "one")
        and not segment_row.contradicted
    )
    return segment_row.verification == "human" or stated_days


def near(seed: int) -> Pair:
    """The segments and gaps of a random history, by the oracle of timelines."""
    chance = Random(seed)
    snapshot = date(2019, 1, 1) + timedelta(chance.randint(0, 1500))
    history = random_histories.random_history(chance, POOL, 1)
    line = spec_oracle.timeline(history, snapshot.toordinal())
    segments = [
        aligned(segment_item, chance.choice(RULES))
        for segment_item in segment_rows(history, line, snapshot)
    ]
    return Pair("Q1", "Ann Lee", "P54", tuple(segments), tuple(gap_rows(history, line, snapshot)))


def career(seed: int) -> Pair:
    """One thing after another over decades, at changing precision; some overlap."""
    chance = Random(seed)
    snapshot = date(2021, 3, 9)
    start_day = date(1960 + chance.randint(0, 55), chance.randint(1, 12), chance.randint(1, 28))
    segments_made = []
    for segment_number in range(chance.randint(1, 6)):
        start = start_day + timedelta(chance.choice((0, 0, 1, 30, 400, -200)))
        start_day = start + timedelta(chance.choice((0, 10, 50, 300, 900, 4000)))
        is_open = start_day >= snapshot or chance.random() < 0.1
        begins, ends = _known(chance, start), _known(chance, start_day)
        if is_open:
            ends = snapshot, snapshot
        if begins[0] and begins[1] and ends[0] and ends[1]:
            begins, ends = (begins[0], min(begins[1], ends[1])), (max(ends[0], begins[0]), ends[1])
            if begins[0] > begins[1] or ends[0] > ends[1]:
                continue
        segment_row = Segment(
            "Q1", "P54", f"Q{chance.randint(2, 5)}", *begins, *ends,
            is_open, False, False, (f"Q1${segment_number}",), snapshot,
        )  # fmt: skip
        segments_made.append(aligned(segment_row, chance.choice(RULES)))
    return Pair("Q1", "Ann Lee", "P54", tuple(segments_made), ())


def _known(chance: Random, start_day: date) -> Interval:
    kind = chance.choices(("%Y-%m-%d", "%Y-%m", "%Y", ""), (40, 20, 38, 2))[0]
    return day(start_day.strftime(kind)) if kind else (None, None)


def check(pair_question: PairQuestion, pair: Pair) -> AskedTime:
    """One row against its own text and all readings of its pair."""
    template = ASKS[int(pair_question.template.removeprefix("P54/")) - 1].replace(
        "<subject>", "Ann Lee"
    )
    head, _, tail = template.partition("<time>")
    text = pair_question.text.removeprefix(head).removesuffix(tail)
    text = text[0].lower() + text[1:]
    time = asked_time(text)
    assert pair_question.text == f"{head}{text if head else text[0].upper() + text[1:]}{tail}"
    assert time.kind == pair_question.time.specifier
    assert time.days() == pair_question.time.days()
    snapshot = pair.segments[0].snapshot
    for time_unit in time.units:
        assert time_unit.last <= snapshot
    for time_unit, unit_before in zip(time.units[1:], time.units, strict=False):
        assert time_unit.first > unit_before.last
    judged = time
    if time.kind == "between" and pair_question.difficulty == "hard":
        judged = AskedTime("in", (Unit(time.units[0].first, time.units[1].last, YEAR),))
    answer_indexes = answers(pair.segments, pair.gaps, judged, snapshot)
    assert answer_indexes is not None, f"{pair_question.text} is in doubt"
    object_ids = {pair.segments[segment_index].object for segment_index in answer_indexes}
    assert [segment_item.object for segment_item in pair_question.answers] == sorted(
        object_ids, key=lambda object_id: int(object_id[1:])
    )
    assert list(pair_question.chosen) == sorted(answer_indexes) and all(
        is_proved(pair.segments[segment_index]) for segment_index in answer_indexes
    )
    rules_by_object: dict[str, list[AlignmentRule]] = {}
    for segment_index in answer_indexes:
        answer = pair.segments[segment_index]
        rules_by_object.setdefault(answer.object, []).append(answer.rule)
    best = {object_id: min(rules, key=RULES.index) for object_id, rules in rules_by_object.items()}
    assert {
        segment_item.object: segment_item.rule for segment_item in pair_question.answers
    } == best
    missing = "not_in_page" if object_ids else "nothing_holds"
    assert pair_question.answerable == (
        "yes" if {*best.values()} - {"none"} and not pair_question.cut else missing
    )
    if time.kind in ("before", "after"):
        assert len(object_ids) == 1
    if pair_question.segment is None:
        assert pair_question.difficulty == "hard" and not object_ids
    else:
        assert pair_question.segment in answer_indexes and is_proved(
            pair.segments[pair_question.segment]
        )
        assert pair_question.evidence == pair.segments[pair_question.segment].evidence
    return time


def ask_all(
    pair: Pair, pointwise: bool, seed: int
) -> tuple[list[PairQuestion], list[PairQuestion]]:
    templates = relation(*ASKS, mode="pointwise" if pointwise else "accumulate")
    question_settings = Questions(several=1, unanswerable={"hard": 0.3}, windows=1, probes=2)
    questions, probes, dropped_rows = ask_pair(pair, templates, question_settings, seed)
    unproved = [
        drop for drop in dropped_rows if drop.reason in ("contradicted", "not_found", "not_stated")
    ]
    assert len(unproved) == sum(not is_proved(segment_item) for segment_item in pair.segments)
    return questions, probes


SEEDS = st.integers(0, 2**32)


@given(SEEDS, st.sampled_from((near, career)), st.booleans())
@settings(max_examples=400, deadline=None, suppress_health_check=SLOW, phases=NO_SHRINK)
def test_every_row_is_so_under_every_reading(
    seed: int, make: Callable[[int], Pair], pointwise: bool
) -> None:
    pair = make(seed)
    questions, moved = ask_all(pair, pointwise, seed)
    origins = {pair_question.id: pair_question for pair_question in questions}
    assert len(origins) == len(questions)
    time_of = {pair_question.id: check(pair_question, pair) for pair_question in questions}
    for probe in moved:
        origin = origins[probe.original or ""]
        assert check(probe, pair) != time_of[origin.id]
        probe_objects = {answer.object for answer in probe.answers}
        assert probe_objects == {answer.object for answer in origin.answers}
        assert probe.segment == origin.segment
        assert probe.time.specifier == origin.time.specifier
    assert len(set(ids_of(moved)) | set(origins)) == len(moved) + len(origins)


def test_the_generators_reach_every_kind_of_row() -> None:
    seen_kinds: Counter[tuple[str, ...]] = Counter()
    for seed in range(400):
        for make in (near, career):
            questions, moved = ask_all(make(seed), seed % 5 == 0, seed)
            seen_kinds.update(
                (pair_question.difficulty, pair_question.time.specifier, pair_question.answerable)
                for pair_question in questions
            )
            seen_kinds.update(("probe", probe.time.specifier) for probe in moved)
            seen_kinds.update(
                ("several",) for pair_question in questions if len(pair_question.answers) > 1
            )
    kinds = {
        *(
            ("easy", segment_item, pair_question)
            for segment_item in ("in", "between", "after")
            for pair_question in ("yes", "not_in_page")
        ),
        *(
            ("hard", segment_item, pair_question)
            for segment_item in ("in", "between", "before", "after")
            for pair_question in ("yes", "not_in_page")
        ),
        *(("hard", segment_item, "nothing_holds") for segment_item in ("in", "between")),
        *(("probe", segment_item) for segment_item in ("in", "between", "before", "after")),
        ("several",),
    }
    assert {kind_key for kind_key in kinds if seen_kinds[kind_key] < 5} == set()


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
        segment_row = aligned(
            Segment("Q1", "P54", "Q2", *days, False, False, False, ("s",), snapshot), "link"
        )
        if chance.random() < 0.2:
            first = chance.random() < 0.5
            segment_row = (
                replace(segment_row, start_first=None)
                if first
                else replace(segment_row, end_last=None)
            )
        if chance.random() < 0.2 and points[1] <= snapshot:
            segment_row = replace(segment_row, end_first=snapshot, end_last=snapshot, end_open=True)
        grain = chance.choice((DAY, MONTH, YEAR))
        numbers = sorted(
            unit_index(grain, (date(2010, 1, 1) + timedelta(chance.randint(0, 1400))).toordinal())
            for _ in range(2)
        )
        pair_question, second_unit = (unit(grain, segment_number) for segment_number in numbers)
        if kind == "between" and pair_question == second_unit:
            continue
        time = {
            "in": Time("in", pair_question, pair_question),
            "between": Time("between", pair_question, second_unit),
            "before": Time("before", None, pair_question),
            "after": Time("after", pair_question, None),
        }[kind]
        units = (pair_question, second_unit) if kind == "between" else (pair_question,)
        words = asked_time(
            _text(
                kind, [(date.fromordinal(time_unit.first), time_unit.grain) for time_unit in units]
            )
        )
        answer_indexes = select(time, [day_interval(segment_row)], snapshot.toordinal())
        ours = None if answer_indexes is None else bool(answer_indexes)
        theirs = verdict(segment_row, words, snapshot)
        assert ours is None or ours == theirs, (segment_row, time)
        if kind != "between":
            assert ours == theirs, (segment_row, time)
        settled[ours] += 1
    assert min(settled[outcome] for outcome in (True, False, None)) > 50


def _text(kind: str, units: Sequence[tuple[date, int]]) -> str:
    form = {DAY: "%-d %B %Y", MONTH: "%B %Y", YEAR: "%Y"}
    words = [drop.strftime(form[grain]) for drop, grain in units]
    if kind == "between":
        return f"between {words[0]} and {words[1]}"
    return f"{'on' if kind == 'in' and units[0][1] == DAY else kind} {words[0]}"


def test_a_gap_is_in_doubt_wherever_it_may_be() -> None:
    pair = career(3)
    templates = relation(*ASKS)
    with_gap = replace(pair, gaps=(gap("", None),))
    questions, _, dropped_rows = ask_pair(with_gap, templates, Questions(), 1)
    assert questions == [] and "in_doubt" in {drop.reason for drop in dropped_rows}
