"""Period diff: known examples and doubts by hand; random histories are in test_timelines_oracle."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from factdrift.builders.core.dates import Period, periods
from factdrift.builders.core.engine import Engine, engine
from factdrift.builders.core.errors import UserError
from factdrift.builders.facts import names
from factdrift.builders.facts import period_diff as pd
from factdrift.builders.facts.timeline import TimeRule, timeline
from factdrift.builders.rows import Delta, Dropped, Entity, Fact, Gap, Segment
from tests.histories import NO_LIFE, day, fact, parquet

NOW = date(2022, 9, 15)
P = Period.parse

RULES = {"P6": TimeRule(exclusive=True)}

Case = tuple[str, list[Fact | Gap], dict[str, str], dict[str, str]]
"""The window's ends, what is stated, the rows expected by period, the drops by period."""


@pytest.fixture(scope="module")
def duck(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with engine("duckdb", tmp_path_factory.mktemp("scratch"), threads=2) as opened:
        yield opened


def compared(
    duck: Engine,
    path: Path,
    facts: Sequence[Fact],
    window: Sequence[Period],
    gaps: Sequence[Gap] = (),
    include_possible: bool = False,
) -> Any:
    table = duck.read(parquet(path / "facts.parquet", Fact, facts), Fact)
    holes = duck.read(parquet(path / "gaps.parquet", Gap, gaps), Gap)
    line = timeline(duck, table, holes, rules=RULES)
    return duck.keep(pd.compare(line.segments, window, line.gaps, include_possible))


def delta_rows(duck: Engine, comparisons: Any) -> list[Delta]:
    rows = duck.rows(pd.deltas(comparisons).select(list(Delta.__dataclass_fields__)))
    return [Delta(**_tuples(row)) for row in rows]


def _tuples(row: dict[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in row.items()}


def dropped_rows(duck: Engine, comparisons: Any, kind: Any) -> list[Dropped]:
    names = list(Dropped.__dataclass_fields__)
    return [Dropped(**r) for r in duck.rows(pd.dropped(comparisons, kind).select(names))]


def summary(rows: Sequence[Delta], kind: Any = "quarter") -> dict[str, str]:
    """`{"2021Q4": "updated Q2>Q3"}`."""
    return {
        str(Period(kind, r.period)): f"{r.split} {' '.join(r.previous_answers)}>"
        + ("" if r.split == "deleted" else " ".join(r.answers))
        + "".join(f" ({thing})" for thing in r.possible_answers)
        for r in sorted(rows, key=lambda r: r.period)
    }


def one(thing: str, start: str, end: str | None = None, relation: str = "P54") -> Fact:
    """A fact; a boundary `?` is unknown, no end is open."""
    bounds = [(None, None) if b == "?" else day(b) if b else None for b in (start, end)]
    assert bounds[0]
    return fact("Q1", relation, thing, bounds[0], bounds[1], snapshot=NOW)


def hole(
    start: str,
    end: str | None = None,
    relation: str = "P54",
    thing: str | None = None,
    reason: str = "unknown_value",
) -> Gap:
    made = one("Q1", start, end, relation)
    shared = {c: getattr(made, c) for c in Gap.__dataclass_fields__ if hasattr(made, c)}
    return Gap(**{**shared, "object": thing, "reason": reason})


def undated(thing: str | None) -> Gap:
    return hole("?", None, "P54", thing, "undated")


CASES: dict[str, Case] = {
    "and certain for its year": (
        "2017 2020",
        [one("Q2", "2010-01-01"), one("Q3", "2019")],
        {"2018": "unchanged Q2>Q2", "2019": "updated Q2>Q2 Q3", "2020": "unchanged Q2 Q3>Q2 Q3"},
        {},
    ),
    "new and deleted, nothing between": (
        "2020M01 2020M06",
        [one("Q2", "2020-02-15", "2020-03-10"), one("Q3", "2020-06-01", "2020-06-02")],
        {
            "2020M02": "new >Q2",
            "2020M03": "unchanged Q2>Q2",
            "2020M04": "deleted Q2>",
            "2020M06": "new >Q3",
        },
        {},
    ),
    "unknown start: certain only around the end": (
        "2020Q1 2020Q4",
        [one("Q2", "?", "2020-08-01")],
        {"2020Q4": "deleted Q2>"},
        {"2020Q3": "possible_holder Q2"},
    ),
    "certain by one fact is not in doubt by another": (
        "2020Q1 2020Q3",
        [one("Q2", "2019-01-01", "2020-12-31"), one("Q2", "?", "?")],
        {"2020Q2": "unchanged Q2>Q2", "2020Q3": "unchanged Q2>Q2"},
        {},
    ),
    "a gap": (
        "2020Q1 2020Q4",
        [one("Q2", "2015-01-01"), hole("2020-05-01", "2020-05-20")],
        {"2020Q4": "unchanged Q2>Q2"},
        {"2020Q2": "unknown_value", "2020Q3": "unknown_value"},
    ),
    "doubt comes before gap": (
        "2020Q1 2020Q2",
        [one("Q2", "2015-01-01"), hole("2020-05-01", "2020-05-20"), one("Q3", "2020")],
        {},
        {"2020Q2": "possible_holder Q3"},
    ),
    "an undated one may be there as well": (
        "2020Q1 2020Q4",
        [one("Q2", "2015-01-01"), one("Q3", "2020-08-01"), undated("Q3"), undated("Q4")],
        {"2020Q2": "unchanged Q2>Q2 (Q3) (Q4)", "2020Q4": "unchanged Q2 Q3>Q2 Q3 (Q4)"},
        {"2020Q3": "undated_statement Q3 Q4"},
    ),
    "one without a name cannot be accepted": (
        "2020Q1 2020Q2",
        [one("Q2", "2015-01-01"), undated(None)],
        {},
        {"2020Q2": "undated_statement"},
    ),
    "a contradictory one is a doubt": (
        "2020Q1 2020Q2",
        [one("Q2", "2015-01-01"), hole("?", None, "P54", "Q3", "contradictory"), undated("Q4")],
        {},
        {"2020Q2": "contradictory_statement Q3"},
    ),
    "objects by number": (
        "2020Q1 2020Q2",
        [one("Q10", "2015-01-01"), one("Q9", "2015-01-01"), one("Q100", "2015-01-01")],
        {"2020Q2": "unchanged Q9 Q10 Q100>Q9 Q10 Q100"},
        {},
    ),
    "a window of one period has no split": ("2020Q1 2020Q1", [one("Q2", "2015-01-01")], {}, {}),
}


Found = dict[str, tuple[dict[str, str], list[Dropped]]]


@pytest.fixture(scope="module")
def by_hand(duck: Engine, tmp_path_factory: pytest.TempPathFactory) -> Found:
    """What came of each case; those of one granularity are compared in one table."""
    found: Found = {}
    for kind in ("month", "quarter", "year"):
        ends = {n: [P(p) for p in c[0].split()] for n, c in CASES.items()}
        chosen = [n for n, (first, _) in ends.items() if first.granularity == kind]
        window = periods(min(ends[n][0] for n in chosen), max(ends[n][1] for n in chosen))
        stated = [replace(r, subject=f"Q{i}") for i, n in enumerate(chosen) for r in CASES[n][1]]
        met = compared(
            duck,
            tmp_path_factory.mktemp(kind),
            [f for f in stated if isinstance(f, Fact)],
            window,
            [g for g in stated if isinstance(g, Gap)],
        )
        rows, dropped = delta_rows(duck, met), dropped_rows(duck, met, kind)
        for i, name in enumerate(chosen):
            first, last = ends[name]
            inside = range(first.index + 1, last.index + 1)
            found[name] = (
                summary([r for r in rows if r.subject == f"Q{i}" and r.period in inside], kind),
                [d for d in dropped
                 if d.subject == f"Q{i}" and P(str(d.period)).index in inside],
            )  # fmt: skip
    return found


@pytest.mark.parametrize("name", CASES)
def test_by_hand(by_hand: Found, name: str) -> None:
    _, _, expected, doubts = CASES[name]
    rows, dropped = by_hand[name]
    assert rows == expected
    told = {str(r.period): f"{r.reason} {r.detail or ''}".strip() for r in dropped}
    assert told == doubts
    assert {r.item for r in dropped} == {f"{r.subject}/{r.relation}/{r.period}" for r in dropped}
    assert {(r.step, r.score) for r in dropped} <= {("diff", None)}


def held(facts: Sequence[Fact]) -> list[Segment]:
    """The segments of facts none of which is open with a successor."""
    return [
        Segment(
            f.subject, f.relation, f.object, f.start_first, f.start_last,
            NOW if f.end_open else f.end_first, NOW if f.end_open else f.end_last,
            f.end_open, False, False, (f.statement,), NOW,
        )
        for f in facts
    ]  # fmt: skip


def test_possible_objects_too(duck: Engine, tmp_path: Path) -> None:
    window = periods(P("2018Q4"), P("2019Q2"))
    facts = [one("Q2", "2010-01-01"), one("Q3", "2019")]
    segments = duck.read(parquet(tmp_path / "s.parquet", Segment, held(facts)), Segment)
    gaps = duck.read(parquet(tmp_path / "g.parquet", Gap, [hole("2019-06-01")]), Gap)
    found = duck.keep(pd.compare(segments, window, gaps, include_possible=True))
    assert summary(delta_rows(duck, found)) == {"2019Q1": "updated Q2>Q2 Q3"}
    assert [(r.period, r.reason) for r in dropped_rows(duck, found, "quarter")] == [
        ("2019Q2", "unknown_value")
    ]


def test_what_was_seen_of_pairs_that_are_left_out(duck: Engine, tmp_path: Path) -> None:
    def of(subject: str, *things: str) -> list[Fact]:
        days = ("2015-01-01", "2020-02-01")
        return [
            replace(one(thing, day), subject=subject)
            for thing, day in zip(things, days, strict=False)
        ]

    facts = [
        *of("Q1", "Q10"),
        *of("Q2", "Q20", "Q21"),
        *of("Q3", "Q30", "Q31"),
        *of("Q4", "Q20", "Q30"),
        *of("Q5", "Q20", "Q50"),
    ]
    labels = {"Q3": "Lumen Field", "Q30": "Qwest", "Q31": "Lumen Technologies Field"}
    labels |= {"Q5": "Kia Center", "Q50": "Kia"}
    entities = [
        Entity(q, labels.get(q, q), (), None if q in ("Q2", "Q21") else q, 1, 1, 1, *NO_LIFE)
        for q in ("Q1", "Q2", "Q3", "Q4", "Q5", "Q10", "Q20", "Q21", "Q30", "Q31", "Q50")
    ]
    segments = duck.read(parquet(tmp_path / "s.parquet", Segment, held(facts)), Segment)
    found = duck.keep(pd.compare(segments, periods(P("2019Q4"), P("2020Q1"))))
    known = duck.read(parquet(tmp_path / "entities.parquet", Entity, entities), Entity)
    chosen = pd.with_pages(pd.at_least(found, segments), known)
    chosen = pd.drop(chosen, names.alike(duck.keep(chosen), known), "name_overlap")
    chosen = pd.most_popular(chosen, known, 0)
    told = {r.subject: (r.reason, r.detail) for r in dropped_rows(duck, chosen, "quarter")}
    assert told == {
        "Q1": ("few_objects", "Q10"),
        "Q2": ("no_page", "Q2 Q21"),
        "Q3": ("name_overlap", "Q31/field Q31/lumen"),
        "Q4": ("less_popular", None),
        "Q5": ("name_overlap", "Q50/kia"),
    }


AT_THE_END = {
    # the new one's term begins inside the quarter, the old one's ends there
    "a change inside a quarter": (
        [one("Q2", "2015-01-01", "2020-02-01"), one("Q3", "2020-02-02")],
        "2020Q1",
        "updated Q2>Q3",
    ),
    "the last day counts": (
        [one("Q2", "2015-01-01", "2020-03-31"), one("Q3", "2020-04-01")],
        "2020Q1",
        "unchanged Q2>Q2",
    ),
    "and the day before it does not": (
        [one("Q2", "2015-01-01", "2020-03-30"), one("Q3", "2020-03-31")],
        "2020Q1",
        "updated Q2>Q3",
    ),
    "what came and went inside a quarter is not there": (
        [one("Q2", "2015-01-01"), one("Q3", "2020-01-10", "2020-02-10")],
        "2020Q1",
        "unchanged Q2>Q2",
    ),
}


@pytest.mark.parametrize("case", AT_THE_END)
def test_at_the_end_of_a_period(duck: Engine, tmp_path: Path, case: str) -> None:
    facts, period, wanted = AT_THE_END[case]
    segments = duck.read(parquet(tmp_path / "s.parquet", Segment, held(facts)), Segment)
    window = periods(P("2019Q4"), P("2020Q2"))
    found = duck.keep(pd.compare(segments, window, at="end"))
    assert summary(delta_rows(duck, found))[period] == wanted


LIVES = [
    ((None, None), (None, None), None),
    (("2020-01-15", "2020-01-15"), (None, None), "life"),  # a club that was founded
    (("2019-01-01", "2020-12-31"), (None, None), "life"),  # perhaps then
    (("2019-01-01", "2019-12-31"), (None, None), None),
    ((None, None), ("2020-03-31", "2020-03-31"), "life"),
    ((None, None), ("2020-04-01", "2020-04-30"), None),
]


@pytest.mark.parametrize(("began", "ended", "reason"), LIVES)
def test_new_with_a_life_is_left_out(
    duck: Engine, tmp_path: Path, began: Any, ended: Any, reason: str | None
) -> None:
    segments = duck.read(
        parquet(tmp_path / "s.parquet", Segment, held([one("Q2", "2020-02-01")])), Segment
    )
    life = [None if d is None else date.fromisoformat(d) for d in (*began, *ended)]
    entities = [
        Entity(q, q, (), q, 1, 1, 1, *(life if q == "Q2" else NO_LIFE)) for q in ("Q1", "Q2")
    ]
    known = duck.read(parquet(tmp_path / "e.parquet", Entity, entities), Entity)
    found = duck.keep(pd.compare(segments, periods(P("2019Q4"), P("2020Q1")), at="end"))
    chosen = pd.lived(found, known, "quarter")
    assert [r.reason for r in dropped_rows(duck, chosen, "quarter")] == ([reason] if reason else [])
    assert len(delta_rows(duck, chosen)) == (reason is None)


def test_an_end_alone_is_no_update(duck: Engine, tmp_path: Path) -> None:
    facts = [one("Q2", "2015-01-01"), one("Q3", "2016-01-01", "2020-02-01")]
    segments = duck.read(parquet(tmp_path / "s.parquet", Segment, held(facts)), Segment)
    found = duck.keep(pd.compare(segments, periods(P("2019Q4"), P("2020Q1")), at="end"))
    chosen = pd.nothing_added(found)
    assert [r.reason for r in dropped_rows(duck, chosen, "quarter")] == ["nothing_added"]
    silent = pd.held_always(found, ["P54"])
    assert dropped_rows(duck, silent, "quarter") == [], "neither new nor deleted"


def test_written_by_number_whatever_the_threads(tmp_path: Path) -> None:
    facts = [
        replace(one(f"Q{n % 7 + 1}", "2015-01-01", relation="P6" if n % 3 else "P54"),
                subject=f"Q{n // 2 + 1}")
        for n in range(10_000)
    ]  # fmt: skip
    source = parquet(tmp_path / "segments.parquet", Segment, held(facts))
    written = []
    for threads in (1, 3):
        with engine("duckdb", tmp_path / "scratch", memory="512MB", threads=threads) as duck:
            window = periods(P("2018Q1"), P("2021Q4"))
            found = duck.keep(pd.compare(duck.read(source, Segment), window))
            out = tmp_path / f"{threads}.parquet"
            rows = duck.write(pd.deltas(found), out, Delta, pd.ORDER)
            table = pq.read_table(out, columns=["subject", "relation", "period"])
            places = [
                (int(q[1:]), int(r[1:]), n)
                for q, r, n in zip(*(c.to_pylist() for c in table.columns), strict=True)
            ]
            assert places == sorted(places) and len(places) == rows > 70_000
            written.append(out.read_bytes())
    assert written[0] == written[1]
    assert list((tmp_path / "scratch").iterdir()) == []


@pytest.mark.parametrize(
    ("first", "last", "snapshot", "count", "expected"),
    [
        ("2021Q1", "2021Q4", "2022-09-15", None, "2021Q1 2021Q2 2021Q3 2021Q4"),
        ("2022Q1", "2023Q4", "2022-09-15", None, "2022Q1 2022Q2"),
        ("2021Q2", "2021Q2", "2022-09-15", None, "2021Q2"),
        (None, "2021Q2", "2022-09-15", 1, "2021Q2"),
        ("2022Q1", None, "2022-09-30", None, "2022Q1 2022Q2 2022Q3"),
        ("2022Q1", None, "2022-09-29", None, "2022Q1 2022Q2"),
        (None, None, "2022-09-15", 2, "2022Q1 2022Q2"),
        (None, "2020M01", "2022-09-15", 2, "2019M12 2020M01"),
        (None, "0002", "2022-09-15", 9, "0001 0002"),
        ("2019", None, "2022-12-31", 2, "2021 2022"),
        ("2021", None, "2022-12-31", 9, "2021 2022"),
    ],
)
def test_buildable(
    first: str | None, last: str | None, snapshot: str, count: int | None, expected: str
) -> None:
    ends = [P(p) if p else None for p in (first, last)]
    found = pd.buildable(ends[0], ends[1], date.fromisoformat(snapshot), count)
    assert " ".join(map(str, found)) == expected


@pytest.mark.parametrize(
    ("first", "last", "count", "message"),
    [
        ("2022Q3", None, None, "no period from 2022Q3 on had ended by the snapshot of 2022-09-15"),
        ("2021Q2", "2021Q1", None, "the window ends before it begins: 2021Q2 to 2021Q1"),
        ("2021Q2", "2021", None, "2021Q2 and 2021 are not of one granularity"),
        (None, "2021Q1", None, "a window without a beginning"),
        ("2021Q2", None, 0, "a window of 0 periods"),
    ],
)
def test_no_window(first: str | None, last: str | None, count: int | None, message: str) -> None:
    ends = [P(p) if p else None for p in (first, last)]
    with pytest.raises(UserError, match=message):
        pd.buildable(ends[0], ends[1], NOW, count)
