"""Questions by hand: which times are asked, what they say and who answers them."""

from collections import Counter
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from factdrift.builders.facts.relations import Ask
from factdrift.builders.rows import AlignedSegment, Dropped, Gap
from factdrift.builders.timeqa.question_tables import best_first
from factdrift.builders.timeqa.questions import (
    Pair,
    PairQuestion,
    Questions,
    QuestionTemplates,
    ask_pair,
    perturbed,
)
from tests.histories import Interval, day

NOW = date(2022, 9, 15)
UNKNOWN: Interval = (None, None)
SPECIFIERS = {"in": 1, "between": 1, "before": 1, "after": 1}
SEED = 7
WINDOWS = Questions(unanswerable={"hard": 0.6}, windows=1)


def relation(*asks: Any, mode: str = "accumulate") -> QuestionTemplates:
    """A relation with these question variants."""
    return QuestionTemplates.model_construct(
        relation="P54",
        label="member of sports team",
        mode=mode,
        questions=tuple(
            Ask.model_validate(a) for a in asks or ("Which team had <subject> <time>?",)
        ),
    )


def segment(thing: str, start: str, end: str | None, **more: Any) -> AlignedSegment:
    """An aligned segment; no start: unknown; no `end`: open; an empty one: ended, day unknown."""
    begins = day(start) if start else UNKNOWN
    ends = (NOW, NOW) if end is None else day(end) if end else UNKNOWN
    made = AlignedSegment(
        subject="Q1",
        relation="P54",
        object=thing,
        start_first=begins[0],
        start_last=begins[1],
        end_first=ends[0],
        end_last=ends[1],
        end_open=end is None,
        end_inferred=False,
        rival=False,
        statements=(f"Q1${thing}-{start}",),
        snapshot=NOW,
        object_label=f"Club {thing}",
        aliases=(),
        page=11,
        revision=12,
        rule="link",
        paragraph=0,
        start=0,
        end=4,
        mention="Club",
        score=None,
        start_stated=True,
        end_stated=True,
        evidence="both",
        contradicted=False,
        verification="automatic",
    )
    return replace(made, **more)


def gap(start: str, end: str | None) -> Gap:
    """Something unnamed that held."""
    one = segment("Q0", start, end)
    dates = (one.start_first, one.start_last, one.end_first, one.end_last)
    if end is None:
        dates = (*dates[:2], None, None)
    return Gap("s", "Q1", "P54", None, *dates, one.end_open, "unknown_value", "normal", NOW)


def ask(
    *segments: AlignedSegment,
    gaps: tuple[Gap, ...] = (),
    about: QuestionTemplates | None = None,
    label: str = "Ann Lee",
    **settings: Any,
) -> tuple[list[PairQuestion], list[Dropped]]:
    pair = Pair("Q1", label, "P54", segments, gaps)
    return ask_pair(
        pair, about or relation(), Questions(**{"several": 1, "unanswerable": {}, **settings}), SEED
    )


def easy(*segments: AlignedSegment, **more: Any) -> list[tuple[str, str]]:
    """Time and answers of the easy questions, one variant."""
    asked, _ = ask(*segments, **more)
    return [_short(a) for a in asked if a.difficulty == "easy"]


def hard(*segments: AlignedSegment, seeds: int = 60, **more: Any) -> set[tuple[str, str]]:
    """Time and answers of the hard questions under many seeds; of years where those have room."""
    about = more.pop("about", relation())
    pair = Pair("Q1", "Ann Lee", "P54", segments, more.pop("gaps", ()))
    settings = Questions(
        **{"hard": 4, "unanswerable": {}, "several": 1, "months": 0, "mix": SPECIFIERS, **more}
    )
    asked = [a for seed in range(seeds) for a in ask_pair(pair, about, settings, seed)[0]]
    return {_short(a) for a in asked if a.difficulty == "hard"}


def _short(a: PairQuestion) -> tuple[str, str]:
    time = a.text.removeprefix("Which team had Ann Lee ").removesuffix("?")
    return time, " ".join(o.id for o in a.answers.objects)


EASY: dict[str, tuple[list[AlignedSegment], list[tuple[str, str]]]] = {
    "years": ([segment("Q2", "2003", "2009")], [("from 2003 to 2009", "Q2")]),
    "months": (
        [segment("Q2", "2003-02", "2009-11")],
        [("from February 2003 to November 2009", "Q2")],
    ),
    "days": (
        [segment("Q2", "2003-02-05", "2009-11-30")],
        [("from 5 February 2003 to 30 November 2009", "Q2")],
    ),
    "mixed": ([segment("Q2", "2003", "2009-11-30")], [("from 2003 to 30 November 2009", "Q2")]),
    "one year": ([segment("Q2", "2003", "2003")], [("in 2003", "Q2")]),
    "one day": ([segment("Q2", "2003-02-05", "2003-02-05")], [("on 5 February 2003", "Q2")]),
    "a year and a month of it": ([segment("Q2", "2003-01", "2003")], [("in 2003", "Q2")]),
    "two months": ([segment("Q2", "2003-02-05", "2003-04-01")], [("in February 2003", "Q2")]),
    "two years": ([segment("Q2", "2003", "2004")], [("from 2003 to 2004", "Q2")]),
    "open": ([segment("Q2", "2003-02", None)], [("after February 2003", "Q2")]),
    "two open": (
        [segment("Q2", "2003", None), segment("Q3", "2004", None)],
        [("in 2003", "Q2"), ("in 2004", "Q2 Q3")],
    ),
    "open in the year of the snapshot": ([segment("Q2", "2022", None)], []),
    "open since 30 days before the snapshot": (
        [segment("Q2", "2022-08-16", None)],
        [("after 16 August 2022", "Q2")],
    ),
    "open since 29 days before it": (
        [segment("Q2", "2022-08-17", None)],
        [("on 17 August 2022", "Q2")],
    ),
    "open since the month before it": (
        [segment("Q2", "2022-08", None)],
        [("in August 2022", "Q2")],
    ),
    "announced": ([segment("Q2", "2023", None, end_first=None, end_last=None)], []),
    "ends after the snapshot": ([segment("Q2", "2019", "2025")], []),
    "decade": (
        [
            segment(
                "Q2", "2001", "2009", start_first=date(2000, 1, 1), start_last=date(2009, 12, 31)
            )
        ],
        [("in 2009", "Q2")],
    ),
    "inferred end": ([segment("Q2", "2001", "2009", end_inferred=True)], [("in 2001", "Q2")]),
    "start unknown": ([segment("Q2", "", "2009-05")], [("in May 2009", "Q2")]),
    "end unknown": ([segment("Q2", "2009-05", "")], [("in May 2009", "Q2")]),
    "undated": ([segment("Q2", "", "")], []),
    "before Christ": (
        [segment("Q2", "2001", "2009", start_first=date.min, start_last=date.min)],
        [("in 2009", "Q2")],
    ),
    "first century": ([segment("Q2", "0037-05", "0041")], [("from May AD 37 to AD 41", "Q2")]),
    "successor in the year of the end": (
        [segment("Q2", "2003", "2009"), segment("Q3", "2009", "2012")],
        [("from 2003 to 2009", "Q2"), ("from 2009 to 2012", "Q3")],
    ),
    "overlap": (
        [segment("Q10", "2003", "2009"), segment("Q9", "2005", "2012")],
        [("from 2003 to 2009", "Q9 Q10"), ("from 2005 to 2012", "Q9 Q10")],
    ),
    "the same years": (
        [segment("Q2", "2003", "2009"), segment("Q3", "2003", "2009")],
        [("from 2003 to 2009", "Q2 Q3")],
    ),
    "begins and ends in the year of the end": (
        [segment("Q2", "2003", "2009"), segment("Q3", "2009", "2009")],
        [("in 2009", "Q2 Q3")],
    ),
    "undated beside it": ([segment("Q2", "2003", "2009"), segment("Q3", "", "")], []),
}


@pytest.mark.parametrize("case", EASY)
def test_easy(case: str) -> None:
    segments, expected = EASY[case]
    assert easy(*segments) == expected


def test_pointwise_easy_asks_in() -> None:
    about = relation(mode="pointwise")
    assert easy(segment("Q2", "2003-05", "2003-05"), about=about) == [("in May 2003", "Q2")]
    assert easy(segment("Q2", "2003-05", "2009"), about=about) == [("in May 2003", "Q2")]
    assert easy(segment("Q2", "2003-05-01", None), about=about) == [("on 1 May 2003", "Q2")]


def test_hard_years() -> None:
    found = hard(
        segment("Q2", "2003", "2006"), segment("Q3", "2006", "2009"), segment("Q4", "2009", "2010")
    )
    assert found == {
        ("in 2004", "Q2"),
        ("in 2005", "Q2"),
        ("between 2004 and 2005", "Q2"),
        ("before 2004", "Q2"),
        ("before 2005", "Q2"),
        ("before 2006", "Q2"),
        ("in 2007", "Q3"),
        ("in 2008", "Q3"),
        ("between 2007 and 2008", "Q3"),
        ("after 2009", "Q4"),
    }


def test_hard_grain() -> None:
    """A day is named only where it is a boundary; months are, whatever the data."""
    assert hard(segment("Q2", "2003-02-05", "2003-02-08"), short_months=0) == {
        ("before 8 February 2003", "Q2"),
        ("after 5 February 2003", "Q2"),
    }
    assert not hard(segment("Q2", "2003-02-05", "2003-04-28"), mix={"between": 1}), "no two months"
    months = hard(segment("Q2", "2003-02-05", "2003-04"))
    assert {t for t, _ in months} == {
        "in March 2003",
        "before March 2003",
        "before April 2003",
        "after March 2003",
        "after 5 February 2003",
    }


def test_months_are_named_where_they_are_certain() -> None:
    found = hard(segment("Q2", "2003", "2005"), segment("Q3", "2005", "2006"), months=1)
    named = {t for t, _ in found}
    assert "before 2005" not in named, "no edge that is a year"
    assert {t.split()[-1] for t in named if t.split()[0] in ("in", "between")} == {"2004"}
    assert len({t for t in named if t.startswith("in")}) == 12
    assert all(len(t.split()) in (3, 6) for t in named if not t.startswith("after"))


def test_a_part_of_a_decade_lies_inside() -> None:
    one = segment("Q2", "1986", "1998")
    assert hard(one, mix={"decade": 1}) == {
        ("in the late 1980s", "Q2"),
        ("in the early 1990s", "Q2"),
    }
    award = relation(mode="pointwise")
    assert hard(segment("Q2", "1992", "1992"), about=award, mix={"decade": 1}) == {
        ("in the early 1990s", "Q2")
    }
    assert not hard(segment("Q2", "1995", "1995"), about=award, mix={"decade": 1})
    _, dropped = ask(segment("Q2", "1995", "1995"), mix={"decade": 1}, unanswerable={})
    assert {d.reason for d in dropped} == {"no_room"}


def test_the_mix_is_weighed() -> None:
    pair = Pair("Q1", "Ann Lee", "P54", (segment("Q2", "1980", "1999"),))
    kinds: Counter[str] = Counter()
    for seed in range(400):
        settings = Questions(mix={"in": 3, "between": 1}, unanswerable={})
        asked, _ = ask_pair(pair, relation(), settings, seed)
        kinds.update(a.time.specifier for a in asked if a.difficulty == "hard")
    assert kinds.keys() == {"in", "between"}
    assert 0.68 < kinds["in"] / kinds.total() < 0.82
    with pytest.raises(ValueError, match="no kind of hard question has a weight"):
        Questions(mix={"in": 0})


def test_every_segment_is_asked_about_or_dropped() -> None:
    segments = [segment("Q2", "2003", "2003"), segment("Q3", "2003", "2009"), segment("Q4", "", "")]
    asked, dropped = ask(*segments)
    found = {j for a in asked if a.difficulty == "hard" for j in a.answers.segments}
    left = {d.item for d in dropped if d.reason != "coarse_boundary"}
    assert [
        n for n, s in enumerate(segments) if n not in found and s.statements[0] not in left
    ] == []


def test_the_object_that_is_asked_for_stands_first() -> None:
    """What the page does not name comes last."""
    own = segment("Q9", "2003", "2009", paragraph=5, mention="Nine")
    short = segment("Q2", "2007", "2008", paragraph=1, mention="Two")
    long = segment("Q3", "2004", "2007", paragraph=2, mention="Three")
    unnamed = replace(
        segment("Q4", "2003", "2009"),
        rule="none",
        evidence="none",
        paragraph=None,
        start=None,
        mention=None,
    )
    asked, _ = ask(own, short, long, unnamed, unanswerable={})
    found = [best_first(a) for a in asked if a.segment == 0 and a.difficulty == "easy"]
    assert [[o.id for o, _ in ranked] for ranked in found] == [["Q9", "Q2", "Q3", "Q4"]]
    assert [[p.words for p in places] for _, places in found[0]] == [
        ["Nine"], ["Two"], ["Three"], [],
    ]  # fmt: skip


PROVED: list[tuple[dict[str, Any], str, str | None]] = [
    ({}, "one", None),
    ({"evidence": "one"}, "one", None),
    ({"evidence": "one"}, "both", "not_stated"),
    ({"evidence": "none"}, "one", "not_stated"),
    ({"evidence": "none"}, "none", None),
    ({"contradicted": True}, "one", "contradicted"),
    ({"contradicted": True}, "none", None),
    ({"rule": "none", "evidence": "none"}, "none", "not_found"),
    ({"rule": "none", "evidence": "none", "verification": "human"}, "both", None),
    ({"contradicted": True, "evidence": "none", "verification": "human"}, "both", None),
]


@pytest.mark.parametrize(("more", "least", "reason"), PROVED)
def test_what_the_page_has_to_prove(more: dict[str, Any], least: str, reason: str | None) -> None:
    asked, dropped = ask(segment("Q2", "2003", "2009", **more), evidence=least)
    assert {d.reason for d in dropped} == ({reason} if reason else set())
    wanted = "not_in_page" if more.get("rule") == "none" else "yes"
    assert {a.answerable for a in asked} == (set() if reason else {wanted})
    assert {a.evidence for a in asked} <= {more.get("evidence", "both")}


def test_before_and_after_are_not_asked_where_the_page_states_others() -> None:
    one = segment("Q2", "2003", "2009")
    for year, wanted in (
        (None, {"before", "after"}),
        (2000, {"after"}),
        (2001, {"before", "after"}),
        (2012, {"before"}),
        (2011, {"before", "after"}),
    ):
        dates = ((date(year, 1, 1), date(year, 12, 31)),) if year else ()
        pair = Pair("Q1", "Ann Lee", "P54", (one,), near_evidence=dates)
        asked, dropped = ask_pair(pair, relation(), Questions(hard=4, unanswerable={}), SEED)
        kinds = {a.time.specifier for a in asked if a.difficulty == "hard"} - {"in", "between"}
        assert kinds == wanted
        assert {d.reason for d in dropped} == ({"others_stated"} if len(kinds) < 2 else set())


def test_several_answers_are_a_share() -> None:
    shared = [segment("Q2", "1990", "1999"), segment("Q3", "1990", "1999")]
    single = [segment(f"Q{n}", f"{n}", f"{n + 5}") for n in range(1810, 1990, 9)]
    for share, wanted in ((0, {0}), (0.1, {2, 3}), (1, {2})):
        counts = set()
        for seed in range(30):
            pair = Pair("Q1", "Ann Lee", "P54", (*single, *shared, *more(shared)))
            asked, dropped = ask_pair(
                pair, relation(), Questions(several=share, unanswerable={}), seed
            )
            easy_ones = [a for a in asked if a.difficulty == "easy"]
            counts.add(sum(len(a.answers.objects) > 1 for a in easy_ones))
            left_out = [d for d in dropped if d.reason == "several_answers"]
            assert bool(left_out) == (share < 1)
        assert counts == (wanted if share < 1 else {max(counts)})


def more(shared: list[AlignedSegment]) -> list[AlignedSegment]:
    """The same objects together in other years."""
    return [
        replace(s, start_first=date(y, 1, 1), start_last=date(y, 12, 31),
                end_first=date(y + 1, 1, 1), end_last=date(y + 1, 12, 31))
        for y in (2001, 2004, 2007, 2010) for s in shared
    ]  # fmt: skip


def test_answers_are_cut_out_of_the_page() -> None:
    segments = tuple(segment(f"Q{n}", f"{n}", f"{n + 5}") for n in range(1810, 2010, 9))
    naming = tuple(frozenset({n, n + 1}) for n in range(len(segments)))
    counts: Counter[tuple[str, bool]] = Counter()
    for lengths, possible in (((10,) * 40, True), ((20, 20, *([1] * 30)), True), ((0,), False)):
        pair = Pair("Q1", "Ann Lee", "P54", segments, naming=naming * possible, lengths=lengths)
        for seed in range(40):
            asked, _ = ask_pair(pair, relation(), Questions(windows=0), seed)
            for a in asked:
                counts[a.difficulty, bool(a.cut)] += len(lengths) == 40
                assert a.answerable == ("not_in_page" if a.cut else "yes")
                if a.cut:
                    assert set(a.cut) == naming[a.segment or 0] and possible
                    assert set(a.cut) != {0, 1} or lengths[0] == lengths[2]
            probes = perturbed(asked, pair, relation(), Questions(), seed)
            of = {a.id: a for a in asked}
            assert all(p.cut == of[p.original or ""].cut for p in probes)
    for mode, share in (("easy", 0.13), ("hard", 0.15)):
        found = counts[mode, True] / (counts[mode, True] + counts[mode, False])
        assert found == pytest.approx(share, abs=0.01)


def test_no_window_where_the_page_states_a_date() -> None:
    first = segment("Q2", "2003", "2005")
    life = (date(1950, 1, 1), None)
    early, late = {*range(1993, 2003)}, {*range(2006, 2016)}
    for near, wanted in (
        ((), early | late),
        ((2008,), early | {2006, 2007}),
        ((1996,), early - {1996} | late),
        ((1985, 2006), early),
    ):
        days = tuple((date(y, 1, 1), date(y, 12, 31)) for y in near)
        pair = Pair("Q1", "Ann Lee", "P54", (first,), near_evidence=days, life=life)
        found = [a for seed in range(300) for a in ask_pair(pair, relation(), WINDOWS, seed)[0]]
        empty = [a for a in found if a.answerable == "nothing_holds"]
        assert {d.year for a in empty for d in a.time.days() if d} == wanted
        assert {a.evidence for a in empty} == {"none"}


@pytest.mark.parametrize(
    ("the", "label", "shown"),
    [
        (True, "London Fire Brigade", "the London Fire Brigade"),
        (None, "London Fire Brigade", "London Fire Brigade"),
        (None, "Labour Party", "the Labour Party"),
        (False, "Labour Party", "Labour Party"),
    ],
)
def test_the_page_says_whether_its_subject_takes_the(
    the: bool | None, label: str, shown: str
) -> None:
    about = relation("Who commanded <the subject> <time>?")
    pair = Pair("Q1", label, "P54", (segment("Q2", "2003", "2009"),), the=the)
    asked, _ = ask_pair(pair, about, Questions(), SEED)
    assert asked[0].text == f"Who commanded {shown} from 2003 to 2009?"


@pytest.mark.parametrize(("stated", "wanted"), [(True, True), (None, True), (False, False)])
def test_what_came_after_wants_an_end_that_the_page_tells(
    stated: bool | None, wanted: bool
) -> None:
    pair = Pair("Q1", "Ann Lee", "P54", (segment("Q2", "2003", "2009", end_stated=stated),))
    asked = [a for seed in range(50) for a in ask_pair(pair, relation(), WINDOWS, seed)[0]]
    after = {a.time.days()[0] for a in asked if a.answers.answerable == "nothing_holds"}
    assert any(d and d > date(2009, 12, 31) for d in after) == wanted


def test_nobody_is_asked_about_before_birth() -> None:
    life = (date(2001, 5, 1), date(2010, 3, 1))
    pair = Pair("Q1", "Ann Lee", "P54", (segment("Q2", "2003", "2005"),), life=life)
    days = [
        d
        for seed in range(200)
        for a in ask_pair(pair, relation(), WINDOWS, seed)[0]
        if a.answers.answerable == "nothing_holds"
        for d in a.time.days()
        if d
    ]
    assert min(days) >= life[0] and max(days) <= life[1]


def test_what_was_before_wants_a_known_beginning_and_years_to_grow_up() -> None:
    first = segment("Q2", "2003", "2005")
    for began, wanted in (
        (None, set()),
        (date(1990, 1, 1), set()),
        (date(1980, 1, 1), {*range(1998, 2003)}),
    ):
        pair = Pair("Q1", "Ann Lee", "P54", (first,), life=(began, date(2005, 12, 31)))
        asked = [a for seed in range(200) for a in ask_pair(pair, relation(), WINDOWS, seed)[0]]
        empty = [a for a in asked if a.answers.answerable == "nothing_holds"]
        assert {d.year for a in empty for d in a.time.days() if d} == wanted


def test_hard_open_stops_at_the_snapshot() -> None:
    assert {t for t, _ in hard(segment("Q2", "2019", None))} == {
        "in 2020",
        "in 2021",
        "between 2020 and 2021",
        "before 2020",
        "before 2021",
        "after 2020",
        "after 2021",
    }


def test_after_leaves_a_month_to_the_snapshot() -> None:
    open_one = segment("Q2", "2022-05-20", None)
    found = {t for t, _ in hard(open_one) if t.startswith("after")}
    assert found == {"after June 2022", "after July 2022"}
    wide = {t for t, _ in hard(open_one, after_days=0) if t.startswith("after")}
    assert wide == found | {"after August 2022"}
    _, dropped = ask(segment("Q2", "2022-07-02", None), mix={"after": 1})
    assert {"near_snapshot"} == {d.reason for d in dropped}


@pytest.mark.parametrize(
    ("other", "never", "asked"),
    [
        (segment("Q3", "2007-08-31", None), "2007", ("between 2004 and 2006", "Q2")),
        (segment("Q3", "1990", "2004-05"), "2004", ("between 2005 and 2008", "Q2")),
        (segment("Q3", "2006", "2006"), "2006", ("between 2005 and 2007", "Q2 Q3")),
    ],
)
def test_hard_between_is_the_same_with_its_units(
    other: AlignedSegment, never: str, asked: tuple[str, str]
) -> None:
    """What came or went in a year of it is beside the segment, neither after nor before it."""
    found = {t for t in hard(segment("Q2", "2003", "2009"), other) if t[0].startswith("between")}
    assert asked in found
    ends = {(year, a) for t, a in found for year in t.split()[1::2]}
    assert (never, "Q2") not in ends


def test_hard_between_is_in_doubt_with_its_units() -> None:
    """The end of the first is known to the year alone: it may have been in any month of it."""
    first, second = segment("Q2", "1996", "2018"), segment("Q3", "2018-05-23", "2019-11-29")
    found = {t for t, _ in hard(first, second) if "2018" in t and t.startswith("between")}
    assert found == set()


def test_hard_pointwise_looks_on_and_back() -> None:
    about = relation(mode="pointwise")
    found = hard(segment("Q2", "2003", "2003"), segment("Q3", "2005", "2005"), about=about)
    assert {a for t, a in found if t.startswith("before")} == {"Q2"}
    assert {t for t, _ in found if t.startswith("before")} == {"before 2004", "before 2005"}
    assert {t for t, _ in found if t.startswith("after")} == {"after 2004", "after 2003"}
    assert ("between 2002 and 2004", "Q2") in found
    assert ("between 2002 and 2006", "Q2 Q3") in found
    assert not {t for t, _ in found if t.startswith("in")}


def test_before_and_after_have_one_answer() -> None:
    same = [segment("Q2", "2003", "2009"), segment("Q3", "2003", "2009")]
    assert not {t for t, _ in hard(*same) if t.split()[0] in ("before", "after")}
    _, dropped = ask(*same, hard=4)
    assert {d.reason for d in dropped} == {"ambiguous"}


def test_nothing_is_asked_of_a_stretch_of_which_an_answer_holds_a_small_part() -> None:
    own = segment("Q2", "2003", "2012")
    for other, wanted in (
        (segment("Q3", "2004", "2007"), {"Q2 Q3"}),
        (segment("Q3", "2000", "2005"), {"Q2 Q3"}),
        (segment("Q3", "2000", "2004"), set()),
        (segment("Q3", "2012-05", None), {"Q2"}),
    ):
        asked, dropped = ask(own, other, hard=4)
        found = {
            " ".join(o.id for o in a.answers.objects)
            for a in asked
            if a.difficulty == "easy" and a.segment == 0
        }
        assert found == wanted
        partial = ("ambiguous", "from 2003 to 2012") in {(d.reason, d.detail) for d in dropped}
        assert partial == (not wanted)


def test_unanswerable_is_near_and_empty() -> None:
    segments = [segment("Q2", "2003", "2005"), segment("Q3", "2006", "2008")]
    found: list[PairQuestion] = []
    for seed in range(80):
        pair = Pair("Q1", "Ann Lee", "P54", tuple(segments), life=(date(1950, 1, 1), None))
        asked, _ = ask_pair(pair, relation(), WINDOWS, seed)
        found += [a for a in asked if a.answers.answerable == "nothing_holds"]
    assert {a.difficulty for a in found} == {"hard"}
    assert {a.answers.objects + a.answers.rules + a.answers.segments for a in found} == {()}
    assert {a.time.specifier for a in found} == {"in", "between"}
    years = {d.year for a in found for d in a.time.days() if d}
    assert years == {*range(1993, 2003), *range(2009, 2019)}
    held = ask(
        *segments,
        segment("Q4", "2010", None),
        segment("Q5", "", "2002"),
        unanswerable={"hard": 0.9},
        windows=1,
    )
    assert not [a for a in held[0] if a.answers.answerable == "nothing_holds"]


def test_gap_puts_all_it_may_touch_in_doubt() -> None:
    segments = [segment("Q2", "2003", "2005"), segment("Q3", "2006", "2008")]
    asked, dropped = ask(*segments, gaps=(gap("2007", None),))
    assert {a.answers.objects[0].id for a in asked if a.answers.objects} == {"Q2"}
    assert {d.reason for d in dropped} == {"in_doubt"}


@pytest.mark.parametrize(
    ("label", "thing", "aliases", "kept"),
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
def test_gives_answer(label: str, thing: str, aliases: tuple[str, ...], kept: bool) -> None:
    one = segment("Q2", "2003-03", "2009", object_label=thing, aliases=aliases)
    asked, dropped = ask(one, label=label, hard=1, unanswerable={})
    assert [a.difficulty for a in asked if a.difficulty == "easy"] == (["easy"] if kept else [])
    assert {d.reason for d in dropped} == (set() if kept else {"gives_answer"})


def test_the_words_of_the_page_give_an_answer_away() -> None:
    one = segment("Q2", "2003-03", "2009-01", object_label="Lola Racing", mention="March")
    asked, dropped = ask(one, hard=4, unanswerable={})
    assert asked and not [a.text for a in asked if "March" in a.text]
    assert ("gives_answer", "from March 2003 to January 2009") in {
        (d.reason, d.detail) for d in dropped
    }


def test_one_object_twice_has_its_best_rule() -> None:
    asked, _ = ask(
        segment("Q2", "2003", "2006", rule="none"),
        segment("Q3", "2004", "2012", rule="link"),
        segment("Q2", "2007", "2009", rule="similar"),
    )
    over = next(a for a in asked if a.time.first and a.time.first.number == 2004)
    assert (over.time.last and over.time.last.number, over.answers.rules) == (
        2012,
        ("similar", "link"),
    )


def test_templates() -> None:
    about = relation(
        {"ask": "Which side had <subject> <time>?", "times": ["between"]},
        {"ask": "<time>, which team had <subject>?", "times": ["in"]},
        {"ask": "What team had <subject> <time>?", "times": ["between"]},
    )
    asked, dropped = ask(
        segment("Q2", "2003", "2005"), segment("Q3", "2006", "2006"), segment("Q4", "2007", None),
        about=about, variants=2, hard=4, unanswerable={},
    )  # fmt: skip
    assert sorted({(a.template, a.time.specifier) for a in asked}) == [
        ("P54/1", "between"),
        ("P54/2", "in"),
        ("P54/3", "between"),
    ]
    assert "In 2006, which team had Ann Lee?" in {a.text for a in asked}
    assert {(d.step, d.reason) for d in dropped} == {("ask", "no_template"), ("ask", "no_room")}
    assert all(d.item.startswith("Q1$") and d.subject == "Q1" for d in dropped)


def test_a_choice_does_not_hang_on_other_rows() -> None:
    """A segment far away changes nothing in what is asked of the first."""
    first = segment("Q2", "1980-05-01", "1990-06-30")
    alone, _ = ask(first, unanswerable={})
    beside, _ = ask(segment("Q3", "2001", "2002"), first, unanswerable={})
    hard_alone = [a for a in alone if a.difficulty == "hard"]
    assert hard_alone[0].time.specifier in ("in", "between", "before")
    assert {a.id for a in hard_alone} <= {a.id for a in beside}
    assert ask(first) == ask(first)


def test_probes_move_inside_the_segment() -> None:
    about = relation("Which team had <subject> <time>?", "What team had <subject> <time>?")
    pair = Pair(
        "Q1", "Ann Lee", "P54", (segment("Q2", "1980", "2000"), segment("Q3", "2000", None))
    )
    asked, _ = ask_pair(pair, about, Questions(hard=4), SEED)
    made = perturbed(asked, pair, about, Questions(), SEED)
    of = {a.id: a for a in asked}
    assert len({p.id for p in made} | set(of)) == len(made) + len(of)
    for p in made:
        origin = of[p.original or ""]
        assert (p.template, p.time.specifier, p.answers.objects) == (
            origin.template, origin.time.specifier, origin.answers.objects,
        )  # fmt: skip
        assert p.time != origin.time
    counts = {a.id: [p.number for p in made if p.original == a.id] for a in asked}
    assert {tuple(c) for i, c in counts.items() if of[i].answers.objects} == {(1, 2, 3)}
    assert {tuple(c) for i, c in counts.items() if not of[i].answers.objects} <= {()}
    assert made == perturbed(asked, pair, about, Questions(), SEED)
