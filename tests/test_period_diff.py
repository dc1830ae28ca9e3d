"""Timelines and periods: rows and drops; when what holds is in spec_cases.tsv and the oracle."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import ibis.expr.types as ir
import pyarrow.parquet as pq
import pytest

from factdrift.builders.core.dates import Granularity, Period, periods
from factdrift.builders.core.engine import Engine, engine
from factdrift.builders.core.errors import UserError
from factdrift.builders.facts import name_overlap
from factdrift.builders.facts import period_diff as pd
from factdrift.builders.facts.timeline import snapshot_day, timeline
from factdrift.builders.rows import Delta, Entity, Fact, Gap, Segment
from tests.histories import NO_LIFE, day, fact, parquet
from tests.tables import read_table

NOW = date(2022, 9, 15)
P = Period.parse
Found = dict[str, dict[str, str]]


def kept(duck: Engine, met: ir.Table) -> Found:
    """By subject `{"2021Q4": "updated Q2>Q3 (Q4)"}`, the last a possible answer."""
    found: Found = {}
    for r in sorted(duck.rows(pd.delta_rows(met)), key=lambda r: int(r["period"])):
        text = f"{r['split']} {' '.join(r['previous_answers'])}>"
        text += "" if r["split"] == "deleted" else " ".join(r["answers"])
        text += "".join(f" ({thing})" for thing in r["possible_answers"])
        found.setdefault(r["subject"], {})[str(Period("quarter", r["period"]))] = text
    return found


def dropped(duck: Engine, met: ir.Table) -> Found:
    """By subject `{"2021Q4": "possible_holder Q3"}`."""
    found: Found = {}
    for r in duck.rows(pd.dropped_rows(met, "quarter")):
        assert r["item"] == f"{r['subject']}/{r['relation']}/{r['period']}"
        assert (r["step"], r["score"]) == ("diff", None) and r["detail"] != ""
        said = f"{r['reason']} {r['detail'] or ''}".strip()
        found.setdefault(r["subject"], {})[r["period"]] = said
    return found


def one(thing: str, start: str, end: str | None = None, subject: str = "Q1") -> Fact:
    """A fact; a boundary `?` is unknown, no end is open."""
    bounds = [(None, None) if b == "?" else day(b) if b else None for b in (start, end)]
    assert bounds[0]
    return fact(subject, "P54", thing, bounds[0], bounds[1], snapshot=NOW)


def stated(text: str, subject: str) -> Fact | Gap:
    """`Q2 2019 2020`, or a gap: its reason, its object or `-`, and its dates."""
    first, *words = text.split()
    is_fact = first[0] == "Q"
    start, end = ([*words[not is_fact :], None])[:2]
    made = one(first if is_fact else "Q1", str(start), end, subject)
    if is_fact:
        return made
    shared = {c: getattr(made, c) for c in Gap.__dataclass_fields__ if hasattr(made, c)}
    return Gap(**{**shared, "object": None if words[0] == "-" else words[0], "reason": first})


LONG = one("Q2", "2015-01-01")
CASES = read_table("period_cases")


@pytest.fixture(scope="module")
def by_hand(duck: Engine, tmp_path_factory: pytest.TempPathFactory) -> tuple[Found, Found]:
    """Rows and drops of all cases, which are compared in one table."""
    folder = tmp_path_factory.mktemp("cases")
    said = [stated(one, f"Q{n}") for n, case in enumerate(CASES) for one in case[2].split("; ")]
    facts = parquet(folder / "f.parquet", Fact, [f for f in said if isinstance(f, Fact)])
    gaps = parquet(folder / "g.parquet", Gap, [g for g in said if isinstance(g, Gap)])
    line = timeline(duck, duck.read(facts, Fact), duck.read(gaps, Gap))
    met = duck.keep(pd.compare(line.segments, periods(P("2020Q1"), P("2021Q2")), line.gaps))
    return kept(duck, met), dropped(duck, met)


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[0] for case in CASES])
def test_by_hand(by_hand: tuple[Found, Found], number: int) -> None:
    _, ends, _, *expected = CASES[number]
    first, last = map(P, ends.split())
    for found, text in zip(by_hand, expected, strict=True):
        inside = {p: v for p, v in found.get(f"Q{number}", {}).items() if first < P(p) <= last}
        assert inside == dict(one.split(": ") for one in text.split("; ") if one)


def held(duck: Engine, folder: Path, facts: Sequence[Fact]) -> ir.Table:
    """The segments of facts none of which is open with a successor."""
    made = [
        Segment(
            f.subject, f.relation, f.object, f.start_first, f.start_last,
            NOW if f.end_open else f.end_first, NOW if f.end_open else f.end_last,
            f.end_open, False, False, (f.statement,), NOW,
        )
        for f in facts
    ]  # fmt: skip
    return duck.read(parquet(folder / "s.parquet", Segment, made), Segment)


def compared(duck: Engine, folder: Path, facts: Sequence[Fact], ends: str, **how: Any) -> ir.Table:
    return duck.keep(pd.compare(held(duck, folder, facts), periods(*map(P, ends.split())), **how))


def known(duck: Engine, folder: Path, entities: Sequence[Entity]) -> ir.Table:
    return duck.read(parquet(folder / "entities.parquet", Entity, entities), Entity)


LABELS = {
    "Q3": "Lumen Field",
    "Q30": "Qwest",
    "Q31": "Lumen Technologies Field",
    "Q5": "Kia Center",
    "Q50": "Kia",
}
LEFT_OUT = [
    ("Q1", "Q10", "few_objects Q10"),
    ("Q2", "Q20 Q21", "no_page Q2 Q21"),
    ("Q3", "Q30 Q31", "name_overlap Q31/field Q31/lumen"),
    ("Q4", "Q20 Q30", "less_popular"),
    ("Q5", "Q20 Q50", "name_overlap Q50/kia"),
]
"""A subject, its objects, and why its comparison is left out."""


def test_what_was_seen_of_pairs_that_are_left_out(duck: Engine, tmp_path: Path) -> None:
    facts = [
        one(thing, begin, subject=subject)
        for subject, things, _ in LEFT_OUT
        for thing, begin in zip(things.split(), ("2015-01-01", "2020-02-01"), strict=False)
    ]
    ids = sorted({f.subject for f in facts} | {f.object for f in facts})
    entities = [
        Entity(q, LABELS.get(q, q), (), None if q in ("Q2", "Q21") else q, 1, 1, 1, *NO_LIFE)
        for q in ids
    ]
    found = compared(duck, tmp_path, facts, "2019Q4 2020Q1")
    about = known(duck, tmp_path, entities)
    met = pd.drop_few_objects(found, held(duck, tmp_path, facts))
    met = pd.drop_without_pages(met, about)
    met = pd.drop_matching(met, name_overlap.name_giveaways(duck.keep(met), about), "name_overlap")
    met = pd.drop_less_popular(met, about, 0)
    assert dropped(duck, met) == {subject: {"2020Q1": why} for subject, _, why in LEFT_OUT}


def test_the_most_popular_stay(duck: Engine, tmp_path: Path) -> None:
    entities = [
        Entity(q, q, (), q, sitelinks, statements, 1, *NO_LIFE)
        for q, sitelinks, statements in (("Q1", 3, 1), ("Q2", 3, 2), ("Q3", 4, 0), ("Q4", 3, 1))
    ]
    facts = [one("Q9", "2015", subject=e.id) for e in entities]
    met = compared(duck, tmp_path, facts, "2019Q4 2020Q1")
    about = known(duck, tmp_path, entities)
    for number, subjects in ((2, {"Q3", "Q2"}), (3, {"Q3", "Q2", "Q1"})):
        assert set(kept(duck, pd.drop_less_popular(met, about, number))) == subjects


@pytest.mark.parametrize(("ended", "still"), [("2020-08-15", ["Q2"]), ("2020-11-15", [])])
def test_what_a_deleted_row_knew_before(
    duck: Engine, tmp_path: Path, ended: str, still: list[str]
) -> None:
    """Where the row of the period before was an update, what had stayed in it."""
    facts = [one("Q2", "2015", ended), one("Q3", "2020-05-01", ended)]
    met = compared(duck, tmp_path, facts, "2019Q4 2021Q1", at="end")
    rows = {row["split"]: row for row in duck.rows(pd.delta_rows(met))}
    assert rows["updated"]["still_true"] == ["Q2"]
    assert rows["deleted"]["still_true"] == still


LIVES = [
    ("? ? ? ?", False),
    ("2020-01-15 2020-01-15 ? ?", True),  # a club that was founded
    ("2019-01-01 2020-12-31 ? ?", True),  # perhaps then
    ("2019-01-01 2019-12-31 ? ?", False),
    ("2019-01-01 2020-01-01 ? ?", True),
    ("? ? 2020-03-31 2020-03-31", True),
    ("? ? 2020-04-01 2020-04-30", False),
]
"""When the object began and ended, and whether that leaves out what is new in 2020Q1."""


def test_new_with_a_life_is_left_out(duck: Engine, tmp_path: Path) -> None:
    facts, entities = [], []
    for n, (life, _) in enumerate(LIVES):
        days = [None if d == "?" else date.fromisoformat(d) for d in life.split()]
        facts.append(one(f"Q{100 + n}", "2020-02-01", subject=f"Q{n}"))
        for q, dates in ((f"Q{n}", NO_LIFE), (f"Q{100 + n}", days)):
            entities.append(Entity(q, q, (), q, 1, 1, 1, *dates))
    met = compared(duck, tmp_path, facts, "2019Q4 2020Q1", at="end")
    met = duck.keep(pd.drop_life_changes(met, known(duck, tmp_path, entities), "quarter"))
    left = {f"Q{n}": f"life Q{100 + n}" for n, (_, left_out) in enumerate(LIVES) if left_out}
    assert dropped(duck, met) == {subject: {"2020Q1": why} for subject, why in left.items()}
    assert set(kept(duck, met)) == {f"Q{n}" for n in range(len(LIVES))} - set(left)


def test_an_end_alone_is_no_update_and_silence_may_say_nothing(
    duck: Engine, tmp_path: Path
) -> None:
    facts = [LONG, one("Q3", "2016-01-01", "2020-02-01")]
    met = compared(duck, tmp_path, facts, "2019Q4 2020Q1", at="end")
    assert dropped(duck, pd.drop_nothing_added(met)) == {"Q1": {"2020Q1": "nothing_added"}}
    assert dropped(duck, pd.drop_uninformative_absence(met, ["P54"])) == {}, (
        "neither new nor deleted"
    )
    ended = compared(duck, tmp_path, facts[1:], "2019Q4 2020Q1", at="end")
    assert dropped(duck, pd.drop_uninformative_absence(ended, ["P54"])) == {
        "Q1": {"2020Q1": "no_stated_holder"}
    }
    assert dropped(duck, pd.drop_uninformative_absence(ended, ["P6"])) == {}


def test_written_by_number_whatever_the_threads(tmp_path: Path) -> None:
    facts = [
        replace(one(f"Q{n % 7 + 1}", "2015-01-01", subject=f"Q{n // 2 + 1}"),
                relation="P6" if n % 3 else "P54")
        for n in range(10_000)
    ]  # fmt: skip
    file_bytes = []
    for threads in (1, 3):
        with engine("duckdb", tmp_path / "scratch", memory="512MB", threads=threads) as duck:
            found = compared(duck, tmp_path, facts, "2018Q1 2021Q4")
            out = tmp_path / f"{threads}.parquet"
            rows = duck.write(pd.delta_rows(found), out, Delta, pd.ORDER)
            written_table = pq.read_table(out, columns=["subject", "relation", "period"])
            places = [
                (int(q[1:]), int(r[1:]), n)
                for q, r, n in zip(*(c.to_pylist() for c in written_table.columns), strict=True)
            ]
            assert places == sorted(places) and len(places) == rows > 70_000
            file_bytes.append(out.read_bytes())
    assert file_bytes[0] == file_bytes[1]
    assert list((tmp_path / "scratch").iterdir()) == []


@pytest.mark.parametrize(
    ("ends", "snapshot", "count", "expected"),
    [
        ("2021Q1 2021Q4", "2022-09-15", 0, "2021Q1 2021Q2 2021Q3 2021Q4"),
        ("2022Q1 2023Q4", "2022-09-15", 0, "2022Q1 2022Q2"),
        ("2021Q2 2021Q2", "2022-09-15", 0, "2021Q2"),
        ("- 2021Q2", "2022-09-15", 1, "2021Q2"),
        ("2022Q1 -", "2022-09-30", 0, "2022Q1 2022Q2 2022Q3"),
        ("2022Q1 -", "2022-09-29", 0, "2022Q1 2022Q2"),
        ("- -", "2022-09-15", 2, "2022Q1 2022Q2"),
        ("- 2020M01", "2022-09-15", 2, "2019M12 2020M01"),
        ("- 0002", "2022-09-15", 9, "0001 0002"),
        ("2019 -", "2022-12-31", 2, "2021 2022"),
        ("2021 -", "2022-12-31", 9, "2021 2022"),
        ("2022Q3 -", "2022-09-15", 0, ""),
    ],
)
def test_buildable(ends: str, snapshot: str, count: int, expected: str) -> None:
    first, last = (None if text == "-" else P(text) for text in ends.split())
    kind: Granularity = next((p.granularity for p in (first, last) if p), "quarter")

    def found() -> str:
        made = pd.ended_periods(first, last, date.fromisoformat(snapshot), kind, count)
        return " ".join(map(str, made))

    if expected:
        assert found() == expected
    else:
        with pytest.raises(UserError, match="no period from 2022Q3 on had ended by the snap"):
            found()


# Timelines: rows that are alike, tables of one snapshot, files as tables.


def test_one_snapshot_a_table(duck: Engine, tmp_path: Path) -> None:
    facts = [one("Q2", "2019")]
    facts_table = duck.read(parquet(tmp_path / "a.parquet", Fact, facts), Fact)
    assert snapshot_day(duck, facts_table) == NOW
    facts.append(replace(facts[0], snapshot=date(2023, 1, 1)))
    facts_table = duck.read(parquet(tmp_path / "b.parquet", Fact, facts), Fact)
    with pytest.raises(UserError, match="several snapshot days"):
        snapshot_day(duck, facts_table)
    facts_table = duck.read(parquet(tmp_path / "c.parquet", Fact, []), Fact)
    with pytest.raises(UserError, match="no row"):
        snapshot_day(duck, facts_table)


def test_what_cannot_be_read(duck: Engine, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such Parquet file"):
        duck.read(tmp_path / "none.parquet", Fact)
    (tmp_path / "text.parquet").write_text("no")
    with pytest.raises(UserError, match=r"text\.parquet: not a Parquet file"):
        duck.read(tmp_path / "text.parquet", Fact)
    segments = parquet(tmp_path / "segments.parquet", Segment, [])
    with pytest.raises(UserError, match="no column statement, point, sighting, rank for Fact"):
        duck.read(segments, Fact)
    with pytest.raises(UserError, match="no engine 'sparc'"), engine("sparc", tmp_path):
        pass


def test_several_files_and_a_folder_are_one_table(duck: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "facts [1]*"
    folder.mkdir()
    facts = [one(f"Q{n}", "2019") for n in (2, 3)]
    paths = [parquet(folder / f"{n}.parquet", Fact, [f]) for n, f in enumerate(facts)]
    for read in (duck.read(paths, Fact), duck.read(folder, Fact)):
        assert sorted(r["object"] for r in duck.rows(read)) == ["Q2", "Q3"]


def test_equal_facts_of_many_objects(duck: Engine, tmp_path: Path) -> None:
    """Rows that sort alike stay in one segment: in which order they come is the engine's affair."""
    spells = [("2015", "2017"), ("2019-01-01", "2020"), ("2022-02-01", None)]
    facts = [
        replace(one("Q2", *spell, f"Q{n}"), statement="same")
        for n in range(1, 1_000)
        for spell in spells
        for _ in range(8)
    ]
    Random(1).shuffle(facts)
    facts_table = duck.read(parquet(tmp_path / "facts.parquet", Fact, facts), Fact)
    segments = timeline(duck, facts_table).segments
    dates = segments.select("start_first", "end_last", "statements").distinct()
    for _ in range(4):
        assert [r["statements"] for r in duck.rows(dates)] == [["same"]] * 3
