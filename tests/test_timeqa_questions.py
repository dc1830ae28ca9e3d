"""Questions by hand: which times are asked, what they say and who answers them."""

from collections import Counter
from dataclasses import replace
from datetime import date
from typing import Any

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
from tests.tables import read_table

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
            QuestionTemplate.model_validate(a)
            for a in asks or ("Which team had <subject> <time>?",)
        ),
    )


def segment(thing: str, start: str, end: str | None, **more: Any) -> ReleasedAlignedSegment:
    """An aligned segment; no start: unknown; no `end`: open; an empty one: ended, day unknown."""
    begins = day(start) if start else UNKNOWN
    ends = (NOW, NOW) if end is None else day(end) if end else UNKNOWN
    made = ReleasedAlignedSegment(
        id=f"{thing}-{start}", subject="Q1", subject_label="Ann Lee", relation="P54",
        relation_label="team", object=thing, object_label=f"Club {thing}", aliases=(),
        start_first=begins[0], start_last=begins[1], end_first=ends[0], end_last=ends[1],
        end_open=end is None, end_inferred=False, rival=False, statements=(f"Q1${thing}-{start}",),
        valid_from=None, valid_to=None, snapshot=NOW, page=11, revision=12, rule="link",
        paragraph=0, start=0, end=4, mention="Club", score=None, start_stated=True, end_stated=True,
        evidence="both", contradicted=False, verification="automatic",
    )  # fmt: skip
    return replace(made, **more)


def gap(start: str, end: str | None) -> Gap:
    """Something unnamed that held."""
    one = segment("Q0", start, end)
    dates = (one.start_first, one.start_last, one.end_first, one.end_last)
    if end is None:
        dates = (*dates[:2], None, None)
    return Gap("s", "Q1", "P54", None, *dates, one.end_open, "unknown_value", "normal", NOW)


def pair_of(*segments: ReleasedAlignedSegment, label: str = "Ann Lee", **more: Any) -> Pair:
    return Pair("Q1", label, "P54", segments, **more)


def asked_of(
    pair: Pair, seeds: int = 1, about: QuestionTemplates | None = None, **settings: Any
) -> list[list[PairQuestion]]:
    """The questions of a pair under each of so many seeds; all can be answered, without probes."""
    how = Questions(**{"unanswerable": {}, "probes": 0, **settings})
    return [ask_pair(pair, about or relation(), how, SEED + n).questions for n in range(seeds)]


def ask(
    *segments: ReleasedAlignedSegment,
    gaps: tuple[Gap, ...] = (),
    about: QuestionTemplates | None = None,
    label: str = "Ann Lee",
    **settings: Any,
) -> tuple[list[PairQuestion], list[Dropped]]:
    how = Questions(**{"several": 1, "unanswerable": {}, "probes": 0, **settings})
    made = ask_pair(pair_of(*segments, label=label, gaps=gaps), about or relation(), how, SEED)
    return made.questions, made.dropped


def easy(*segments: ReleasedAlignedSegment, **more: Any) -> list[tuple[str, str]]:
    """Time and answers of the easy questions, one variant."""
    asked, _ = ask(*segments, **more)
    return [_short(a) for a in asked if a.difficulty == "easy"]


def hard(*segments: ReleasedAlignedSegment, seeds: int = 200, **more: Any) -> set[tuple[str, str]]:
    """Time and answers of the hard questions under many seeds; of years where those have room."""
    settings = {"several": 1, "months": 0, "mix": SPECIFIERS, **more}
    found = asked_of(pair_of(*segments), seeds, **settings)
    return {_short(a) for asked in found for a in asked if a.difficulty == "hard"}


def _short(a: PairQuestion) -> tuple[str, str]:
    time = a.text.removeprefix("Which team had Ann Lee ").removesuffix("?")
    return time, " ".join(s.object for s in a.answers)


def segments_of(text: str) -> list[ReleasedAlignedSegment]:
    """`Q2 2003..2009; Q3 2009-05..`: `?` is unknown, no end open, `2000s` a decade."""
    found = []
    for one in text.split("; "):
        thing, _, dates = one.partition(" ")
        dates, *flags = dates.split()
        start, end = dates.split("..")
        more: dict[str, Any] = {"end_inferred": "inferred" in flags}
        if start.endswith("s"):
            first, last = int(start[:4]), int(start[:4]) + 9
            more |= {"start_first": date(first, 1, 1), "start_last": date(last, 12, 31)}
        if "announced" in flags:
            more |= {"end_first": None, "end_last": None}
        end_ = None if not end else end.strip("?")
        found.append(segment(thing, start.strip("?s"), end_, **more))
    return found


@pytest.mark.parametrize(
    "case", read_table("timeqa_times"), ids=lambda case: f"{case[2]}: {case[0]}"
)
def test_times(case: tuple[str, ...]) -> None:
    _, text, kinds, wanted = case
    segments, mode = segments_of(text), kinds.split()
    if mode[0] == "easy":
        about = relation(mode="pointwise" if "point" in mode else "accumulate")
        found = easy(*segments, about=about)
    else:
        mix = {kind: 1 for kind in mode if kind not in ("by", "month")}
        found = sorted(hard(*segments, mix=mix, months="month" in mode))
    assert "; ".join(map(": ".join, found)) == wanted


def test_hard_pointwise_looks_on_and_back() -> None:
    about = relation(mode="pointwise")
    found = hard(segment("Q2", "2003", "2003"), segment("Q3", "2009", "2009"), about=about)
    asked = dict(found)
    years = {kind: {t for t in asked if t.startswith(kind)} for kind in SPECIFIERS}
    assert years["before"] == {f"before {y}" for y in (2004, 2005, 2006, 2007)}
    assert years["after"] == {f"after {y}" for y in (2005, 2006, 2007, 2008)}
    assert years["in"] == set()
    assert {asked[t] for t in years["before"] | years["after"]} == {"Q2", "Q3"}
    assert {(t[8:12], t[-4:]) for t in years["between"]} == {
        (str(a), str(b)) for y in (2003, 2009) for a in range(y - 4, y) for b in range(y + 1, y + 5)
    }
    for year, wanted in ((1992, {"in the early 1990s"}), (1995, set())):
        one = segment("Q2", str(year), str(year))
        assert {t for t, _ in hard(one, about=about, mix={"decade": 1})} == wanted


def test_the_mix_is_weighed() -> None:
    found = asked_of(pair_of(segment("Q2", "1980", "1999")), 400, mix={"in": 3, "between": 1})
    kinds = Counter(a.time.specifier for asked in found for a in asked if a.difficulty == "hard")
    assert kinds.keys() == {"in", "between"}
    assert 0.68 < kinds["in"] / kinds.total() < 0.82
    with pytest.raises(ValueError, match="no kind of hard question has a weight"):
        Questions(mix={"in": 0})


def test_what_is_asked_for_stands_first() -> None:
    """What the page does not name comes last."""
    own = segment("Q9", "2003", "2009", paragraph=5, mention="Nine", verification="human")
    short = segment("Q2", "2007", "2008", paragraph=1, mention="Two")
    gone = {"rule": "none", "paragraph": None, "mention": None}
    unnamed = segment("Q4", "2003", "2009", verification="human", **gone)
    asked, _ = ask(own, short, unnamed)
    [one] = [a for a in asked if a.segment == 0 and a.difficulty == "easy"]
    words = tuple(p.words for p in places_of(one))
    assert words == ("Nine", "Two")
    assert _targets(one, words) == ("Club Q9", "Club Q2", "Club Q4", "Nine", "Two")
    one.cut = (5,)
    assert _targets(one, words) == () and one.answerable == "not_in_page"


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
    asked, dropped = ask(segment("Q2", "2003", "2009", **more), evidence=least)
    assert {d.reason for d in dropped} == ({reason} if reason else set())
    wanted = "not_in_page" if more.get("rule") == "none" else "yes"
    assert {a.answerable for a in asked} == (set() if reason else {wanted})
    assert {a.evidence for a in asked} <= {more.get("evidence", "both")}
    own, other = segment("Q9", "2003", "2009"), segment("Q2", "2003", "2009", **more)
    asked, dropped = ask(own, other, evidence=least)
    assert {d.reason for d in dropped if d.item == own.statements[0]} == (
        {"unproved"} if reason else {"ambiguous"} & {d.reason for d in dropped}
    )


def year(y: int, until: int = 0) -> tuple[date, date]:
    return date(y, 1, 1), date(until or y, 12, 31)


@pytest.mark.parametrize(
    ("other", "never"), [(None, ""), (2000, "before"), (2001, ""), (2012, "after"), (2011, "")]
)
def test_before_and_after_are_not_asked_where_the_page_states_others(
    other: int | None, never: str
) -> None:
    pair = pair_of(
        segment("Q2", "2003", "2009"), dates_near_evidence=(year(other),) if other else ()
    )
    for kind in SPECIFIERS:
        how: dict[str, Any] = {"mix": {kind: 1}, "unanswerable": {}}
        made = ask_pair(pair, relation(), Questions(**how), SEED)
        asked = [a.time.specifier for a in made.questions if a.difficulty == "hard"]
        assert asked == [kind] * (kind != never)
        assert [d.reason for d in made.dropped] == ["others_stated"] * (kind == never)


@pytest.mark.parametrize(
    ("listed", "mode", "wanted"),
    [
        (year(2003), "pointwise", set()),
        (year(2003), "accumulate", {"easy", "hard"}),
        (year(2001), "pointwise", {"easy", "hard"}),
        (year(2002, 2003), "pointwise", {"easy"}),
    ],
)
def test_points_in_time_that_the_page_states_of_others(
    listed: tuple[date, date], mode: str, wanted: set[str]
) -> None:
    pair = pair_of(segment("Q2", "2003", "2003"), other_dates=(listed,))
    seen = set()
    for asked in asked_of(pair, 20, relation(mode=mode), mix={"between": 1}, months=0):
        for a in asked:
            days = a.time.days()
            assert a.difficulty == "easy" or not (days[0] <= listed[0] and listed[1] <= days[1])  # type: ignore[operator]
            seen.add(a.difficulty)
    assert seen >= wanted - ({"hard"} if mode == "accumulate" else set())
    assert ("easy" in seen) == ("easy" in wanted)


def test_several_answers_are_a_share() -> None:
    shared = [
        segment(f"Q{n}", str(y), str(y + 1)) for y in (1990, 2001, 2004, 2007, 2010) for n in (2, 3)
    ]
    single = [segment(f"Q{n}", f"{n}", f"{n + 5}") for n in range(1810, 1985, 9)]
    pair = pair_of(*single, *shared)
    for share, wanted in ((0, {0}), (0.1, {2, 3}), (1, {5})):
        counts = set()
        for seed in range(30):
            how = Questions(several=share, unanswerable={}, probes=0)
            asked, _, dropped = ask_pair(pair, relation(), how, seed)
            easy_ones = [a for a in asked if a.difficulty == "easy"]
            counts.add(sum(len(a.answers) > 1 for a in easy_ones))
            assert any(d.reason == "several_answers" for d in dropped) == (share < 1)
        assert counts == wanted


def test_answers_are_cut_out_of_the_page() -> None:
    segments = [segment(f"Q{n}", f"{n}", f"{n + 5}") for n in range(1810, 2010, 9)]
    naming = tuple(frozenset({n, n + 1}) for n in range(len(segments)))
    counts: Counter[tuple[str, bool]] = Counter()
    for lengths, possible in (((10,) * 40, True), ((20, 20, *([1] * 30)), True), ((0,), False)):
        pair = pair_of(*segments, naming=naming * possible, lengths=lengths)
        for seed in range(40):
            asked, probes, _ = ask_pair(pair, relation(), Questions(windows=0), seed)
            for a in asked:
                counts[a.difficulty, bool(a.cut)] += len(lengths) == 40
                assert a.answerable == ("not_in_page" if a.cut else "yes")
                if a.cut:
                    assert set(a.cut) == naming[a.segment or 0] and possible
                    assert set(a.cut) != {0, 1} or lengths[0] == lengths[2]
            of = {a.id: a for a in asked}
            assert all(p.cut == of[p.original or ""].cut for p in probes)
    for mode, share in (("easy", 0.13), ("hard", 0.15)):
        found = counts[mode, True] / (counts[mode, True] + counts[mode, False])
        assert found == pytest.approx(share, abs=0.01)


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
    one = segment("Q2", "2003", "2009")
    page: dict[str, Any] = {"naming": (frozenset({1}),), "lengths": (10, 5)}
    for own in (0, 1):
        found = asked_of(
            pair_of(one, listed={own: (entry,)}, **page), 20, unanswerable={"easy": 0.99}
        )
        cut = {bool(a.cut) for asked in found for a in asked if a.difficulty == "easy"}
        assert (True in cut) == (is_cut or own == 1)


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


@pytest.mark.parametrize(("more", "near", "born", "died", "wanted"), EMPTY)
def test_windows_are_near_and_empty(
    more: dict[str, Any], near: list[int], born: int | None, died: int | None, wanted: set[int]
) -> None:
    life = date(born, 1, 1) if born else None, date(died, 12, 30) if died else None
    one = segment("Q2", "2003", "2005", **more)
    pair = pair_of(one, dates_near_evidence=tuple(map(year, near)), life=life)
    found = asked_of(pair, 300, unanswerable={"hard": 0.6}, windows=1)
    empty = [a for asked in found for a in asked if a.answerable == "nothing_holds"]
    assert {d.year for a in empty for d in a.time.days() if d} == wanted
    assert {(a.evidence, a.difficulty, a.segment) for a in empty} <= {("none", "hard", None)}
    assert {a.time.specifier for a in empty} == ({"in", "between"} if wanted else set())


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
    [asked] = asked_of(pair_of(segment("Q2", "2003", "2009"), label=label, the=the), 1, about)
    assert asked[0].text == f"Who commanded {shown} from 2003 to 2009?"


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
    ("segments", "more", "reasons"), [d[1:] for d in DROPS], ids=[d[0] for d in DROPS]
)
def test_every_segment_is_asked_about_or_dropped(
    segments: list[ReleasedAlignedSegment], more: dict[str, Any], reasons: set[str]
) -> None:
    _, dropped = ask(*segments, **more)
    assert {d.reason for d in dropped} == reasons
    assert {(d.step, d.subject, d.relation) for d in dropped} == {("ask", "Q1", "P54")}
    assert {d.item for d in dropped} <= {s.statements[0] for s in segments}


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
    asked, dropped = ask(one, label=label)
    assert [a.difficulty for a in asked if a.difficulty == "easy"] == (["easy"] if kept else [])
    assert ("gives_answer" in {d.reason for d in dropped}) == (not kept)


def test_the_words_of_the_page_give_an_answer_away() -> None:
    one = segment("Q2", "2003-03", "2009-01", object_label="Lola Racing", mention="March")
    asked, dropped = ask(one)
    assert asked and not [a.text for a in asked if "March" in a.text]
    assert ("gives_answer", "from March 2003 to January 2009") in {
        (d.reason, d.detail) for d in dropped
    }


def test_one_object_twice_has_its_best_rule() -> None:
    checked = {"verification": "human", "rule": "none"}
    asked, _ = ask(
        segment("Q2", "2003", "2006", **checked),
        segment("Q3", "2004", "2012"),
        segment("Q2", "2007", "2009", rule="similar"),
    )
    over = next(a for a in asked if a.time.first and a.time.first.number == 2004)
    assert over.time.last and over.time.last.number == 2012
    assert [s.rule for s in over.answers] == ["similar", "link"]
    assert over.verification == "automatic"


def test_templates() -> None:
    about = relation(
        {"ask": "Which side had <subject> <time>?", "times": ["between"]},
        {"ask": "<time>, which team had <subject>?", "times": ["in"]},
        {"ask": "What team had <subject> <time>?", "times": ["between"]},
    )
    one = segment("Q2", "2003", "2009")
    found = asked_of(pair_of(one), 20, about)
    assert {f"{a.template} {a.time.specifier}" for asked in found for a in asked} == {
        *("P54/1 between", "P54/2 in", "P54/3 between")
    }
    asked, dropped = ask(one, segment("Q3", "2009", None), about=about, mix={"after": 1})
    assert "In 2009, which team had Ann Lee?" in {a.text for a in asked}
    assert {d.reason for d in dropped} == {"no_template", "no_room"}


def test_a_choice_does_not_hang_on_other_rows() -> None:
    """A segment far away changes nothing in what is asked of the first."""
    first = segment("Q2", "1980-05-01", "1990-06-30")
    alone, _ = ask(first, mix={"in": 1, "between": 1})
    beside, _ = ask(segment("Q3", "2001", "2002"), first, mix={"in": 1, "between": 1})
    assert [a.difficulty for a in alone] == ["easy", "hard"]
    assert {a.id for a in alone} <= {a.id for a in beside}
    assert ask(first) == ask(first)


def test_probes_move_inside_the_segment() -> None:
    about = relation("Which team had <subject> <time>?", "What team had <subject> <time>?")
    both = segment("Q2", "1980", "2000"), segment("Q3", "2000", None)
    made = ask_pair(pair_of(*both), about, Questions(unanswerable={}), SEED)
    of = {a.id: a for a in made.questions}
    for p in made.probes:
        origin = of[p.original or ""]
        assert (p.template, p.chosen, p.difficulty) == (origin.template, origin.chosen, "hard")
    numbers = [[p.number for p in made.probes if p.original == i] for i in of]
    assert numbers == [[1, 2, 3]] * len(of)
