"""Questions by hand: which times are asked, what they say and who answers them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from typing import Any, Literal

import pytest

from factdrift.builders.facts.relations import QuestionTemplate
from factdrift.builders.rows import Dropped, Gap, ReleasedAlignedSegment
from factdrift.builders.timeqa.question_tables import _targets, places_of
from factdrift.builders.timeqa.questions import (
    Pair,
    PairQuestion,
    Questions,
    QuestionTemplates,
    ask_pair,
)
from tests.histories import Interval, day
from tests.tables import ids_of, read_table

NOW = date(2022, 9, 15)
UNKNOWN: Interval = (None, None)
SPECIFIERS = {"in": 1, "between": 1, "before": 1, "after": 1}
SEED = 7


def relation(*asks: Any, mode: str = "accumulate") -> QuestionTemplates:
    """A relation with these question variants."""
    return QuestionTemplates.model_construct(
        relation="P54",
        label="member of sports team",
        mode=mode,
        questions=tuple(
            QuestionTemplate.model_validate(pair_question)
            for pair_question in asks or ("Which team had <subject> <time>?",)
        ),
    )


def segment(object_id: str, start: str, end: str | None, **more: Any) -> ReleasedAlignedSegment:
    """An aligned segment; no start: unknown; no `end`: open; an empty one: ended, day unknown."""
    begins = day(start) if start else UNKNOWN
    ends = (NOW, NOW) if end is None else day(end) if end else UNKNOWN
    asked_pair = ReleasedAlignedSegment(
        id=f"{object_id}-{start}", subject="Q1", subject_label="Ann Lee", relation="P54",
        relation_label="team", object=object_id, object_label=f"Club {object_id}", aliases=(),
        start_first=begins[0], start_last=begins[1], end_first=ends[0], end_last=ends[1],
        end_open=end is None, end_inferred=False, rival=False,
        statements=(f"Q1${object_id}-{start}",), valid_from=None, valid_to=None,
        snapshot=NOW, page=11, revision=12, rule="link",
        paragraph=0, start=0, end=4, mention="Club", score=None, start_stated=True, end_stated=True,
        evidence="both", contradicted=False, verification="automatic",
    )  # fmt: skip
    return replace(asked_pair, **more)


def gap(start: str, end: str | None) -> Gap:
    """Something unnamed that held."""
    segment_row = segment("Q0", start, end)
    dates = (
        segment_row.start_first,
        segment_row.start_last,
        segment_row.end_first,
        segment_row.end_last,
    )
    if end is None:
        dates = (*dates[:2], None, None)
    return Gap("s", "Q1", "P54", None, *dates, segment_row.end_open, "unknown_value", "normal", NOW)


def pair_of(*segments: ReleasedAlignedSegment, label: str = "Ann Lee", **more: Any) -> Pair:
    return Pair("Q1", label, "P54", segments, **more)


def asked_of(
    pair: Pair, seeds: int = 1, about: QuestionTemplates | None = None, **settings: Any
) -> list[PairQuestion]:
    """The questions of a pair under so many seeds; all can be answered, without probes."""
    question_settings = Questions(**{"unanswerable": {}, "probes": 0, **settings})
    questions: list[PairQuestion] = []
    for seed_offset in range(seeds):
        asked_pair = ask_pair(pair, about or relation(), question_settings, SEED + seed_offset)
        questions += asked_pair.questions
    return questions


def of_difficulty(
    questions: Iterable[PairQuestion], difficulty: Literal["easy", "hard"]
) -> list[PairQuestion]:
    return [pair_question for pair_question in questions if pair_question.difficulty == difficulty]


def reasons_of(dropped_rows: Iterable[Dropped]) -> set[str]:
    return {dropped_row.reason for dropped_row in dropped_rows}


def ask(
    *segments: ReleasedAlignedSegment,
    gaps: tuple[Gap, ...] = (),
    about: QuestionTemplates | None = None,
    label: str = "Ann Lee",
    **settings: Any,
) -> tuple[list[PairQuestion], list[Dropped]]:
    question_settings = Questions(**{"several": 1, "unanswerable": {}, "probes": 0, **settings})
    asked_pair = ask_pair(
        pair_of(*segments, label=label, gaps=gaps), about or relation(), question_settings, SEED
    )
    return asked_pair.questions, asked_pair.dropped


def easy(*segments: ReleasedAlignedSegment, **more: Any) -> list[tuple[str, str]]:
    """Time and answers of the easy questions, one variant."""
    questions, _ = ask(*segments, **more)
    return [*map(_short, of_difficulty(questions, "easy"))]


def hard(*segments: ReleasedAlignedSegment, seeds: int = 200, **more: Any) -> set[tuple[str, str]]:
    """Time and answers of the hard questions under many seeds; of years where those have room."""
    settings = {"several": 1, "months": 0, "mix": SPECIFIERS, **more}
    questions = asked_of(pair_of(*segments), seeds, **settings)
    return set(map(_short, of_difficulty(questions, "hard")))


def _short(pair_question: PairQuestion) -> tuple[str, str]:
    time = pair_question.text.removeprefix("Which team had Ann Lee ").removesuffix("?")
    return time, " ".join(answer.object for answer in pair_question.answers)


def segments_of(text: str) -> list[ReleasedAlignedSegment]:
    """`Q2 2003..2009; Q3 2009-05..`: `?` is unknown, no end open, `2000s` a decade."""
    results = []
    for segment_row in text.split("; "):
        object_id, _, dates = segment_row.partition(" ")
        dates, *flags = dates.split()
        start, end = dates.split("..")
        end_values: dict[str, Any] = {"end_inferred": "inferred" in flags}
        if start.endswith("s"):
            first, last = int(start[:4]), int(start[:4]) + 9
            end_values |= {"start_first": date(first, 1, 1), "start_last": date(last, 12, 31)}
        if "announced" in flags:
            end_values |= {"end_first": None, "end_last": None}
        end_ = None if not end else end.strip("?")
        results.append(segment(object_id, start.strip("?s"), end_, **end_values))
    return results


@pytest.mark.parametrize(
    "case", read_table("timeqa_times"), ids=lambda case: f"{case[2]}: {case[0]}"
)
def test_times(case: tuple[str, ...]) -> None:
    _, text, kinds, expected = case
    segments, mode = segments_of(text), kinds.split()
    if mode[0] == "easy":
        templates = relation(mode="pointwise" if "point" in mode else "accumulate")
        results = easy(*segments, about=templates)
    else:
        mix = {kind: 1 for kind in mode if kind not in ("by", "month")}
        results = sorted(hard(*segments, mix=mix, months="month" in mode))
    assert "; ".join(map(": ".join, results)) == expected


def test_hard_pointwise_looks_on_and_back() -> None:
    templates = relation(mode="pointwise")
    results = hard(segment("Q2", "2003", "2003"), segment("Q3", "2009", "2009"), about=templates)
    questions = dict(results)
    years = {
        kind: {time_name for time_name in questions if time_name.startswith(kind)}
        for kind in SPECIFIERS
    }
    assert years["before"] == {f"before {first_year}" for first_year in (2004, 2005, 2006, 2007)}
    assert years["after"] == {f"after {first_year}" for first_year in (2005, 2006, 2007, 2008)}
    assert years["in"] == set()
    assert {questions[time_name] for time_name in years["before"] | years["after"]} == {"Q2", "Q3"}
    assert {(time_name[8:12], time_name[-4:]) for time_name in years["between"]} == {
        (str(pair_question), str(later_year))
        for first_year in (2003, 2009)
        for pair_question in range(first_year - 4, first_year)
        for later_year in range(first_year + 1, first_year + 5)
    }
    for year, expected in ((1992, {"in the early 1990s"}), (1995, set())):
        segment_row = segment("Q2", str(year), str(year))
        assert {
            time_name for time_name, _ in hard(segment_row, about=templates, mix={"decade": 1})
        } == expected


def test_the_mix_is_weighed() -> None:
    questions = asked_of(pair_of(segment("Q2", "1980", "1999")), 400, mix={"in": 3, "between": 1})
    hard_questions = of_difficulty(questions, "hard")
    kinds = Counter(pair_question.time.specifier for pair_question in hard_questions)
    assert kinds.keys() == {"in", "between"}
    assert 0.68 < kinds["in"] / kinds.total() < 0.82
    with pytest.raises(ValueError, match="no kind of hard question has a weight"):
        Questions(mix={"in": 0})


def test_what_is_asked_for_stands_first() -> None:
    """What the page does not name comes last."""
    own_segment = segment("Q9", "2003", "2009", paragraph=5, mention="Nine", verification="human")
    short = segment("Q2", "2007", "2008", paragraph=1, mention="Two")
    gone = {"rule": "none", "paragraph": None, "mention": None}
    unnamed = segment("Q4", "2003", "2009", verification="human", **gone)
    questions, _ = ask(own_segment, short, unnamed)
    [segment_row] = [
        easy_question
        for easy_question in of_difficulty(questions, "easy")
        if easy_question.segment == 0
    ]
    words = tuple(place.words for place in places_of(segment_row))
    assert words == ("Nine", "Two")
    assert _targets(segment_row, words) == ("Club Q9", "Club Q2", "Club Q4", "Nine", "Two")
    segment_row.cut, segment_row.without_answer = (5,), True
    assert _targets(segment_row, words) == () and segment_row.answerable == "not_in_page"


NOT_FOUND = {"rule": "none", "evidence": "none"}
PROVED: list[tuple[dict[str, Any], str, str | None]] = [
    ({}, "one", None),
    ({"evidence": "one"}, "one", None),
    ({"evidence": "one"}, "both", "not_stated"),
    ({"evidence": "none"}, "one", "not_stated"),
    ({"evidence": "none"}, "none", None),
    ({"contradicted": True}, "one", "contradicted"),
    ({"contradicted": True}, "none", None),
    (NOT_FOUND, "none", "not_found"),
    ({**NOT_FOUND, "verification": "human"}, "both", None),
    ({"contradicted": True, "evidence": "none", "verification": "human"}, "both", None),
]


@pytest.mark.parametrize(("more", "least", "reason"), PROVED)
def test_what_the_page_has_to_prove(more: dict[str, Any], least: str, reason: str | None) -> None:
    """Of what is asked about, and of all else that answers the question."""
    questions, dropped_rows = ask(segment("Q2", "2003", "2009", **more), evidence=least)
    assert reasons_of(dropped_rows) == ({reason} if reason else set())
    expected = "not_in_page" if more.get("rule") == "none" else "yes"
    assert {pair_question.answerable for pair_question in questions} == (
        set() if reason else {expected}
    )
    assert {pair_question.evidence for pair_question in questions} <= {more.get("evidence", "both")}
    own_segment, other_segment = (
        segment("Q9", "2003", "2009"),
        segment("Q2", "2003", "2009", **more),
    )
    questions, dropped_rows = ask(own_segment, other_segment, evidence=least)
    assert {drop.reason for drop in dropped_rows if drop.item == own_segment.statements[0]} == (
        {"unproved"} if reason else {"ambiguous"} & reasons_of(dropped_rows)
    )


def year(first_year: int, until: int = 0) -> tuple[date, date]:
    return date(first_year, 1, 1), date(until or first_year, 12, 31)


@pytest.mark.parametrize(
    ("other_segment", "never"),
    [(None, ""), (2000, "before"), (2001, ""), (2012, "after"), (2011, "")],
)
def test_before_and_after_are_not_asked_where_the_page_states_others(
    other_segment: int | None, never: str
) -> None:
    pair = pair_of(
        segment("Q2", "2003", "2009"),
        dates_near_evidence=(year(other_segment),) if other_segment else (),
    )
    for kind in SPECIFIERS:
        ask_options: dict[str, Any] = {"mix": {kind: 1}, "unanswerable": {}}
        asked_pair = ask_pair(pair, relation(), Questions(**ask_options), SEED)
        hard_questions = of_difficulty(asked_pair.questions, "hard")
        specifiers = [hard_question.time.specifier for hard_question in hard_questions]
        assert specifiers == [kind] * (kind != never)
        assert [drop.reason for drop in asked_pair.dropped] == ["others_stated"] * (kind == never)


@pytest.mark.parametrize(
    ("listed", "mode", "expected"),
    [
        (year(2003), "pointwise", set()),
        (year(2003), "accumulate", {"easy", "hard"}),
        (year(2001), "pointwise", {"easy", "hard"}),
        (year(2002, 2003), "pointwise", {"easy"}),
    ],
)
def test_points_in_time_that_the_page_states_of_others(
    listed: tuple[date, date], mode: str, expected: set[str]
) -> None:
    pair = pair_of(segment("Q2", "2003", "2003"), other_dates=(listed,))
    seen_kinds = set()
    for pair_question in asked_of(pair, 20, relation(mode=mode), mix={"between": 1}, months=0):
        first_day, last_day = pair_question.time.days()
        assert first_day and last_day
        is_listed = first_day <= listed[0] and listed[1] <= last_day
        assert pair_question.difficulty == "easy" or not is_listed
        seen_kinds.add(pair_question.difficulty)
    assert seen_kinds >= expected - ({"hard"} if mode == "accumulate" else set())
    assert ("easy" in seen_kinds) == ("easy" in expected)


def test_several_answers_are_a_share() -> None:
    shared = []
    for first_year in (1990, 2001, 2004, 2007, 2010):
        for seed_offset in (2, 3):
            shared.append(segment(f"Q{seed_offset}", str(first_year), str(first_year + 1)))
    single = [
        segment(f"Q{seed_offset}", f"{seed_offset}", f"{seed_offset + 5}")
        for seed_offset in range(1810, 1985, 9)
    ]
    pair = pair_of(*single, *shared)
    for share, expected in ((0, {0}), (0.1, {2, 3}), (1, {5})):
        counts = set()
        for seed in range(30):
            question_settings = Questions(several=share, unanswerable={}, probes=0)
            questions, _, dropped_rows = ask_pair(pair, relation(), question_settings, seed)
            easy_questions = of_difficulty(questions, "easy")
            counts.add(sum(len(pair_question.answers) > 1 for pair_question in easy_questions))
            assert ("several_answers" in reasons_of(dropped_rows)) == (share < 1)
        assert counts == expected


def test_answers_are_cut_out_of_the_page() -> None:
    segments = [
        segment(f"Q{seed_offset}", f"{seed_offset}", f"{seed_offset + 5}")
        for seed_offset in range(1810, 2010, 9)
    ]
    naming = tuple(
        frozenset({seed_offset, seed_offset + 1}) for seed_offset in range(len(segments))
    )
    counts: Counter[tuple[str, bool]] = Counter()
    for lengths, possible in (((10,) * 40, True), ((20, 20, *([1] * 30)), True), ((0,), False)):
        pair = pair_of(*segments, naming=naming * possible, lengths=lengths)
        for seed in range(40):
            questions, probes, _ = ask_pair(pair, relation(), Questions(windows=0), seed)
            for pair_question in questions:
                is_cut = pair_question.without_answer
                counts[pair_question.difficulty, is_cut] += len(lengths) == 40
                assert pair_question.answerable == ("not_in_page" if is_cut else "yes")
                own_naming = naming[pair_question.segment or 0]
                if is_cut:
                    assert set(pair_question.cut) == own_naming and possible
                else:
                    assert own_naming.isdisjoint(pair_question.cut)
                    assert bool(pair_question.cut) == possible
                assert 4 * pair.words_of(pair_question.cut) <= sum(lengths)
            questions_by_id = {pair_question.id: pair_question for pair_question in questions}
            for place in probes:
                assert place.cut == questions_by_id[place.original or ""].cut
    for mode, share in (("easy", 0.13), ("hard", 0.15)):
        results = counts[mode, True] / (counts[mode, True] + counts[mode, False])
        assert results == pytest.approx(share, abs=0.01)


OPEN = (date(2001, 1, 1), date.max)


@pytest.mark.parametrize(
    ("entry", "is_cut"),
    [
        (year(2006), False),
        (year(2003), True),
        (year(2009), True),
        (year(1999), True),
        (year(2001, 2012), True),
        (OPEN, False),
        ((date(2009, 1, 1), date.max), True),
    ],
)
def test_no_answer_is_cut_out_where_another_entry_gives_one(
    entry: tuple[date, date], is_cut: bool
) -> None:
    segment_row = segment("Q2", "2003", "2009")
    page: dict[str, Any] = {"naming": (frozenset({1}),), "lengths": (10, 5, 5, 10)}
    for own_segment in (0, 1):
        pair = pair_of(segment_row, listed={own_segment: (entry,)}, **page)
        questions = asked_of(pair, 20, unanswerable={"easy": 0.99})
        easy_questions = of_difficulty(questions, "easy")
        cut = {easy_question.without_answer for easy_question in easy_questions}
        assert (True in cut) == (is_cut or own_segment == 1)


# ten years before a segment of 2003 to 2005, and ten years after it
EARLY, LATE = {*range(1993, 2003)}, {*range(2006, 2016)}
Window = tuple[dict[str, Any], list[int], int | None, int | None, set[int]]
EMPTY: list[Window] = [
    ({}, [], 1950, None, EARLY | LATE),
    ({}, [2008], 1950, None, EARLY | {2006, 2007}),
    ({}, [1996], 1950, None, EARLY - {1996} | LATE),
    ({}, [1985, 2006], 1950, None, EARLY),
    ({"start_stated": False}, [], 1950, None, LATE),
    ({"start_stated": None}, [], 1950, None, LATE),
    ({"end_stated": False}, [], 1950, None, EARLY),
    ({"end_inferred": True}, [], 1950, None, EARLY),
    ({}, [], None, None, LATE),
    ({}, [], 1990, 2005, set()),
    ({}, [], 1980, 2010, {*range(1998, 2003), *range(2006, 2011)}),
    ({"end_open": True}, [], 1950, None, EARLY),
]


@pytest.mark.parametrize(("more", "near", "born", "died", "expected"), EMPTY)
def test_windows_are_near_and_empty(
    more: dict[str, Any], near: list[int], born: int | None, died: int | None, expected: set[int]
) -> None:
    life = date(born, 1, 1) if born else None, date(died, 12, 30) if died else None
    segment_row = segment("Q2", "2003", "2005", **more)
    pair = pair_of(segment_row, dates_near_evidence=tuple(map(year, near)), life=life)
    years, specifiers = set(), set()
    for pair_question in asked_of(pair, 300, unanswerable={"hard": 0.6}, windows=1):
        if pair_question.answerable == "nothing_holds":
            years |= {boundary.year for boundary in pair_question.time.days() if boundary}
            specifiers.add(pair_question.time.specifier)
            assert (pair_question.evidence, pair_question.difficulty) == ("none", "hard")
            assert pair_question.segment is None
    assert years == expected
    assert specifiers == ({"in", "between"} if expected else set())


@pytest.mark.parametrize(
    ("the", "label", "expected_text"),
    [
        (True, "London Fire Brigade", "the London Fire Brigade"),
        (None, "London Fire Brigade", "London Fire Brigade"),
        (None, "Labour Party", "the Labour Party"),
        (False, "Labour Party", "Labour Party"),
    ],
)
def test_the_page_says_whether_its_subject_takes_the(
    the: bool | None, label: str, expected_text: str
) -> None:
    templates = relation("Who commanded <the subject> <time>?")
    questions = asked_of(pair_of(segment("Q2", "2003", "2009"), label=label, the=the), 1, templates)
    assert questions[0].text == f"Who commanded {expected_text} from 2003 to 2009?"


DROPS: list[tuple[str, list[ReleasedAlignedSegment], dict[str, Any], set[str]]] = [
    ("near the snapshot", [segment("Q2", "2022-07-02", None)], {"mix": {"after": 1}},
     {"near_snapshot"}),
    ("no room", [segment("Q2", "1995", "1995")], {}, {"no_room"}),
    ("undated", [segment("Q2", "", "")], {}, {"coarse_boundary", "no_room"}),
    ("a gap", [segment("Q2", "2003", "2005")], {"gaps": (gap("2001", None),)}, {"in_doubt"}),
    ("two of the same years", [segment("Q2", "2003", "2009"), segment("Q3", "2003", "2009")],
     {"mix": {"before": 1, "after": 1}}, {"ambiguous"}),
    ("after the snapshot", [segment("Q2", "2019", "2025")], {"mix": {"after": 1}},
     {"after_snapshot"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("segments", "more", "reasons"), [drop[1:] for drop in DROPS], ids=[drop[0] for drop in DROPS]
)
def test_every_segment_is_asked_about_or_dropped(
    segments: list[ReleasedAlignedSegment], more: dict[str, Any], reasons: set[str]
) -> None:
    _, dropped_rows = ask(*segments, **more)
    assert reasons_of(dropped_rows) == reasons
    assert {(drop.step, drop.subject, drop.relation) for drop in dropped_rows} == {
        ("ask", "Q1", "P54")
    }
    assert {drop.item for drop in dropped_rows} <= {answer.statements[0] for answer in segments}


@pytest.mark.parametrize(
    ("label", "object_id", "aliases", "is_kept"),
    [
        ("Ann Lee", "Club Q2", (), True),
        ("Ann Lee", "Lee", (), False),
        ("Ann Lee", "Club", ("Ann",), False),
        ("Ann Lee", "Club", ("IN",), True),
        ("Bangor City Stadium", "Bangor Town", (), True),
        ("Bangor City Stadium", "Bangor", (), False),
        ("Zoë Brontë", "Bronte Zoe", (), False),
        ("Ann Lee", "Which Team Had", (), False),
        ("Ann Lee", "Team Sky", (), True),
        ("Ann Lee", "Club", ("March",), False),
        ("Ann Lee", "2003 Club", (), True),
    ],
)
def test_gives_answer(label: str, object_id: str, aliases: tuple[str, ...], is_kept: bool) -> None:
    segment_row = segment("Q2", "2003-03", "2009", object_label=object_id, aliases=aliases)
    questions, dropped_rows = ask(segment_row, label=label)
    assert len(of_difficulty(questions, "easy")) == is_kept
    assert ("gives_answer" in reasons_of(dropped_rows)) == (not is_kept)


def test_the_words_of_the_page_give_an_answer_away() -> None:
    segment_row = segment("Q2", "2003-03", "2009-01", object_label="Lola Racing", mention="March")
    questions, dropped_rows = ask(segment_row)
    assert questions and not [
        pair_question.text for pair_question in questions if "March" in pair_question.text
    ]
    assert ("gives_answer", "from March 2003 to January 2009") in {
        (drop.reason, drop.detail) for drop in dropped_rows
    }


def test_one_object_twice_has_its_best_rule() -> None:
    checked = {"verification": "human", "rule": "none"}
    questions, _ = ask(
        segment("Q2", "2003", "2006", **checked),
        segment("Q3", "2004", "2012"),
        segment("Q2", "2007", "2009", rule="similar"),
    )
    over = next(
        pair_question
        for pair_question in questions
        if pair_question.time.first and pair_question.time.first.number == 2004
    )
    assert over.time.last and over.time.last.number == 2012
    assert [answer.rule for answer in over.answers] == ["similar", "link"]
    assert over.verification == "automatic"


def test_templates() -> None:
    templates = relation(
        {"ask": "Which side had <subject> <time>?", "times": ["between"]},
        {"ask": "<time>, which team had <subject>?", "times": ["in"]},
        {"ask": "What team had <subject> <time>?", "times": ["between"]},
    )
    segment_row, seen_templates = segment("Q2", "2003", "2009"), set[str]()
    for pair_question in asked_of(pair_of(segment_row), 20, templates):
        seen_templates.add(f"{pair_question.template} {pair_question.time.specifier}")
    assert seen_templates == {"P54/1 between", "P54/2 in", "P54/3 between"}
    questions, dropped_rows = ask(
        segment_row, segment("Q3", "2009", None), about=templates, mix={"after": 1}
    )
    assert "In 2009, which team had Ann Lee?" in {pair_question.text for pair_question in questions}
    assert reasons_of(dropped_rows) == {"no_template", "no_room"}


def test_a_choice_does_not_hang_on_other_rows() -> None:
    """A segment far away changes nothing in what is asked of the first."""
    first = segment("Q2", "1980-05-01", "1990-06-30")
    asked_alone, _ = ask(first, mix={"in": 1, "between": 1})
    asked_beside, _ = ask(segment("Q3", "2001", "2002"), first, mix={"in": 1, "between": 1})
    assert [pair_question.difficulty for pair_question in asked_alone] == ["easy", "hard"]
    assert set(ids_of(asked_alone)) <= set(ids_of(asked_beside))
    assert ask(first) == ask(first)


def test_probes_move_inside_the_segment() -> None:
    templates = relation("Which team had <subject> <time>?", "What team had <subject> <time>?")
    both = segment("Q2", "1980", "2000"), segment("Q3", "2000", None)
    asked_pair = ask_pair(pair_of(*both), templates, Questions(unanswerable={}), SEED)
    questions_by_id = {pair_question.id: pair_question for pair_question in asked_pair.questions}
    for place in asked_pair.probes:
        origin = questions_by_id[place.original or ""]
        assert (place.template, place.chosen, place.difficulty) == (
            origin.template,
            origin.chosen,
            "hard",
        )
    numbers = [
        [place.number for place in asked_pair.probes if place.original == original_id]
        for original_id in questions_by_id
    ]
    assert numbers == [[1, 2, 3]] * len(questions_by_id)
