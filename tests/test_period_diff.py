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
from factdrift.builders.facts.table_parts import keep_in_parts
from factdrift.builders.facts.time_rules import TimeRule
from factdrift.builders.facts.timeline import GAP_ORDER, snapshot_day, timeline
from factdrift.builders.facts.timeline import ORDER as SEGMENT_ORDER
from factdrift.builders.facts.vacancies import certain_vacancies
from factdrift.builders.rows import Delta, Entity, Fact, Gap, Segment
from tests.histories import NO_LIFE, day, fact, parquet
from tests.tables import column_of, read_table

NOW = date(2022, 9, 15)
parse_period = Period.parse
Found = dict[str, dict[str | None, str]]


def kept(duck: Engine, comparisons: ir.Table) -> Found:
    """By subject `{"2021Q4": "updated Q2>Q3 (Q4)"}`, the last a possible answer."""
    texts_by_subject: Found = {}
    for row in sorted(duck.rows(pd.delta_rows(comparisons)), key=lambda row: int(row["period"])):
        text = f"{row['split']} {' '.join(row['previous_answers'])}>"
        text += "" if row["split"] == "deleted" else " ".join(row["answers"])
        text += "".join(f" ({possible_answer})" for possible_answer in row["possible_answers"])
        texts_by_subject.setdefault(row["subject"], {})[str(Period("quarter", row["period"]))] = (
            text
        )
    return texts_by_subject


def dropped(duck: Engine, comparisons: ir.Table) -> Found:
    """By subject `{"2021Q4": "possible_holder Q3"}`."""
    reasons_by_subject: Found = {}
    for row in duck.rows(pd.dropped_rows(comparisons, "quarter")):
        pair_name = f"{row['subject']}/{row['relation']}"
        of_pair = row["reason"] in pd.PAIR_REASONS
        assert row["item"] == (pair_name if of_pair else f"{pair_name}/{row['period']}")
        assert (row["step"], row["score"]) == ("diff", None) and row["detail"] != ""
        reason_text = f"{row['reason']} {row['detail'] or ''}".strip()
        reasons_by_subject.setdefault(row["subject"], {})[row["period"]] = reason_text
    return reasons_by_subject


def one(object_id: str, start: str, end: str | None = None, subject: str = "Q1") -> Fact:
    """A fact; a boundary `?` is unknown, no end is open."""
    bounds = [
        (None, None) if boundary_text == "?" else day(boundary_text) if boundary_text else None
        for boundary_text in (start, end)
    ]
    assert bounds[0]
    return fact(subject, "P54", object_id, bounds[0], bounds[1], snapshot=NOW)


def stated(statement_text: str, subject: str) -> Fact | Gap:
    """`Q2 2019 2020`, or a gap: its reason, its object or `-`, and its dates."""
    first_word, *other_words = statement_text.split()
    is_fact = first_word[0] == "Q"
    start, end = ([*other_words[not is_fact :], None])[:2]
    stated_fact = one(first_word if is_fact else "Q1", str(start), end, subject)
    if is_fact:
        return stated_fact
    shared_values = {
        column_name: getattr(stated_fact, column_name)
        for column_name in Gap.__dataclass_fields__
        if hasattr(stated_fact, column_name)
    }
    return Gap(
        **{
            **shared_values,
            "object": None if other_words[0] == "-" else other_words[0],
            "reason": first_word,
        }
    )


LONG = one("Q2", "2015-01-01")
CASES = read_table("period_cases")


@pytest.fixture(scope="module")
def by_hand(duck: Engine, tmp_path_factory: pytest.TempPathFactory) -> tuple[Found, Found]:
    """Rows and drops of all cases, which are compared in one table."""
    folder = tmp_path_factory.mktemp("cases")
    statements = []
    for case_number, case in enumerate(CASES):
        for statement_text in case[2].split("; "):
            statements.append(stated(statement_text, f"Q{case_number}"))
    facts = parquet(
        folder / "f.parquet",
        Fact,
        [stated_fact for stated_fact in statements if isinstance(stated_fact, Fact)],
    )
    gaps = parquet(
        folder / "g.parquet",
        Gap,
        [stated_gap for stated_gap in statements if isinstance(stated_gap, Gap)],
    )
    timelines = timeline(duck, duck.read(facts, Fact), duck.read(gaps, Gap))
    comparisons = duck.keep(
        pd.compare(
            timelines.segments,
            periods(parse_period("2020Q1"), parse_period("2021Q2")),
            timelines.gaps,
        )
    )
    return kept(duck, comparisons), dropped(duck, comparisons)


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[0] for case in CASES])
def test_by_hand(by_hand: tuple[Found, Found], number: int) -> None:
    _, ends, _, *expected_rows = CASES[number]
    first_period, last_period = map(parse_period, ends.split())
    for texts_by_subject, expected_text in zip(by_hand, expected_rows, strict=True):
        inside_window = {
            period_text: outcome_text
            for period_text, outcome_text in texts_by_subject.get(f"Q{number}", {}).items()
            if first_period < parse_period(str(period_text)) <= last_period
        }
        assert inside_window == dict(
            outcome_part.split(": ") for outcome_part in expected_text.split("; ") if outcome_part
        )


def held(duck: Engine, folder: Path, facts: Sequence[Fact]) -> ir.Table:
    """The segments of facts none of which is open with a successor."""
    segments = [
        Segment(
            stated_fact.subject,
            stated_fact.relation,
            stated_fact.object,
            stated_fact.start_first,
            stated_fact.start_last,
            NOW if stated_fact.end_open else stated_fact.end_first,
            NOW if stated_fact.end_open else stated_fact.end_last,
            stated_fact.end_open,
            False,
            False,
            (stated_fact.statement,),
            NOW,
        )
        for stated_fact in facts
    ]
    return duck.read(parquet(folder / "s.parquet", Segment, segments), Segment)


def compared(
    duck: Engine, folder: Path, facts: Sequence[Fact], ends: str, **options: Any
) -> ir.Table:
    return duck.keep(
        pd.compare(held(duck, folder, facts), periods(*map(parse_period, ends.split())), **options)
    )


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
        one(object_id, start_text, subject=subject)
        for subject, object_names, _ in LEFT_OUT
        for object_id, start_text in zip(
            object_names.split(), ("2015-01-01", "2020-02-01"), strict=False
        )
    ]
    item_ids = sorted(
        {stated_fact.subject for stated_fact in facts}
        | {stated_fact.object for stated_fact in facts}
    )
    entity_rows = [
        Entity(
            item_id,
            LABELS.get(item_id, item_id),
            (),
            None if item_id in ("Q2", "Q21") else item_id,
            1,
            1,
            1,
            *NO_LIFE,
        )
        for item_id in item_ids
    ]
    comparisons = compared(duck, tmp_path, facts, "2019Q4 2020Q1")
    entities_table = known(duck, tmp_path, entity_rows)
    left_out = pd.drop_few_objects(comparisons, held(duck, tmp_path, facts))
    left_out = pd.drop_without_pages(left_out, entities_table)
    left_out = pd.drop_matching(
        left_out, name_overlap.name_giveaways(duck.keep(left_out), entities_table), "name_overlap"
    )
    left_out = pd.drop_less_popular(left_out, entities_table, 0)
    expected_pairs = {}
    for subject, _, why in LEFT_OUT:
        # A pair that the recipe leaves out as a whole is told once, without a period.
        period = None if why.split()[0] in pd.PAIR_REASONS else "2020Q1"
        expected_pairs[subject] = {period: why}
    assert dropped(duck, left_out) == expected_pairs


def test_the_most_popular_stay(duck: Engine, tmp_path: Path) -> None:
    entity_rows = [
        Entity(item_id, item_id, (), item_id, sitelinks, statements, 1, *NO_LIFE)
        for item_id, sitelinks, statements in (
            ("Q1", 3, 1),
            ("Q2", 3, 2),
            ("Q3", 4, 0),
            ("Q4", 3, 1),
        )
    ]
    facts = [one("Q9", "2015", subject=subject_entity.id) for subject_entity in entity_rows]
    comparisons = compared(duck, tmp_path, facts, "2019Q4 2020Q1")
    entities_table = known(duck, tmp_path, entity_rows)
    for subject_count, subjects in ((2, {"Q3", "Q2"}), (3, {"Q3", "Q2", "Q1"})):
        assert (
            set(kept(duck, pd.drop_less_popular(comparisons, entities_table, subject_count)))
            == subjects
        )


@pytest.mark.parametrize(("ended", "still"), [("2020-08-15", ["Q2"]), ("2020-11-15", [])])
def test_what_a_deleted_row_knew_before(
    duck: Engine, tmp_path: Path, ended: str, still: list[str]
) -> None:
    """Where the row of the period before was an update, what had stayed in it."""
    facts = [one("Q2", "2015", ended), one("Q3", "2020-05-01", ended)]
    comparisons = compared(duck, tmp_path, facts, "2019Q4 2021Q1", when_counted="end")
    row_by_split = {row["split"]: row for row in duck.rows(pd.delta_rows(comparisons))}
    assert row_by_split["updated"]["still_true"] == ["Q2"]
    assert row_by_split["deleted"]["still_true"] == still


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
    facts, entity_rows = [], []
    for life_number, (life, _) in enumerate(LIVES):
        life_days = [
            None if day_text == "?" else date.fromisoformat(day_text) for day_text in life.split()
        ]
        facts.append(one(f"Q{100 + life_number}", "2020-02-01", subject=f"Q{life_number}"))
        for item_id, dates in ((f"Q{life_number}", NO_LIFE), (f"Q{100 + life_number}", life_days)):
            entity_rows.append(Entity(item_id, item_id, (), item_id, 1, 1, 1, *dates))
    comparisons = compared(duck, tmp_path, facts, "2019Q4 2020Q1", when_counted="end")
    comparisons = duck.keep(
        pd.drop_life_changes(comparisons, known(duck, tmp_path, entity_rows), "quarter")
    )
    reason_by_subject = {
        f"Q{life_number}": f"life Q{100 + life_number}"
        for life_number, (_, left_out) in enumerate(LIVES)
        if left_out
    }
    assert dropped(duck, comparisons) == {
        subject: {"2020Q1": why} for subject, why in reason_by_subject.items()
    }
    assert set(kept(duck, comparisons)) == {
        f"Q{life_number}" for life_number in range(len(LIVES))
    } - set(reason_by_subject)


def test_an_end_alone_is_no_update_and_silence_may_say_nothing(
    duck: Engine, tmp_path: Path
) -> None:
    facts = [LONG, one("Q3", "2016-01-01", "2020-02-01")]
    comparisons = compared(duck, tmp_path, facts, "2019Q4 2020Q1", when_counted="end")
    assert dropped(duck, pd.drop_nothing_added(comparisons)) == {"Q1": {"2020Q1": "nothing_added"}}
    assert dropped(duck, pd.drop_uninformative_absence(comparisons, ["P54"])) == {}, (
        "neither new nor deleted"
    )
    ended = compared(duck, tmp_path, facts[1:], "2019Q4 2020Q1", when_counted="end")
    assert dropped(duck, pd.drop_uninformative_absence(ended, ["P54"])) == {
        "Q1": {"2020Q1": "no_stated_holder"}
    }
    assert dropped(duck, pd.drop_uninformative_absence(ended, ["P6"])) == {}


@pytest.mark.parametrize(
    ("undated", "doubting", "reasons"),
    [("ignore", (), set()), ("ignore", ("P54",), {"undated_statement"}), ("accept", (), set())],
)
def test_a_relation_that_says_doubt_wins_over_the_recipe(
    duck: Engine, tmp_path: Path, undated: pd.Undated, doubting: tuple[str, ...], reasons: set[str]
) -> None:
    gap = stated("undated Q4 ?", "Q1")
    gaps = duck.read(parquet(tmp_path / "gaps.parquet", Gap, [gap]), Gap)
    comparisons = compared(
        duck, tmp_path, [LONG], "2019Q4 2020Q1", gaps=gaps, undated=undated, doubting=doubting
    )
    dropped_rows = duck.rows(pd.dropped_rows(comparisons, "quarter"))
    assert set(column_of(dropped_rows, "reason")) == reasons


SUCCESSION = "Q2 2019-01-01 2020-01-10; Q3 2020-03-01 2021-01-01"
VACANCIES = [
    (SUCCESSION, "deleted new"),
    ("Q2 2019-01-01 2020-01-10; Q3 2020-04-12 2021-01-01", "deleted new"),
    ("Q2 2019-01-01 2020-01-10; Q3 2020-04-13 2021-01-01", ""),
    ("Q2 2019-01-01 2020-01-10; Q3 2020-03 2021-01-01", "deleted new"),
    ("Q2 2019-01-01 2020-01-10", ""),
    ("Q3 2020-03-01 2021-01-01", ""),
    (SUCCESSION + "; unlabelled_object Q4 2020-01-20 2020-01-25", ""),
    (SUCCESSION + "; unlabelled_object Q4 2020-02-10 2020-04", ""),
    (SUCCESSION + "; Q4 ? 2020-02-10", "new"),
    (SUCCESSION + "; undated Q4 ?", ""),
]
"""Statements of an exclusive relation, and the months' splits that stay between the holders."""


def test_only_certain_vacancies_are_changes(duck: Engine, tmp_path: Path) -> None:
    statements = [
        stated(text, f"Q{case_number}")
        for case_number, (vacancy_case, _) in enumerate(VACANCIES)
        for text in vacancy_case.split("; ")
    ]
    facts, gaps = (
        duck.read(
            parquet(
                tmp_path / f"{row_type.__name__}.parquet",
                row_type,
                [entry for entry in statements if isinstance(entry, row_type)],
            ),
            row_type,
        )
        for row_type in (Fact, Gap)
    )
    line = timeline(duck, facts, gaps, rules={"P54": TimeRule(exclusive=True)})
    window = periods(Period.parse("2019M12"), Period.parse("2020M05"))
    comparisons = duck.keep(pd.compare(line.segments, window, line.gaps, when_counted="end"))
    days = duck.keep(pd.vacant_days(comparisons, ["P54"], "month"))
    certain = certain_vacancies(duck, days, line.segments, line.gaps, facts, ["P54"])
    comparisons = duck.keep(pd.drop_unsure_vacancies(comparisons, days, duck.keep(certain)))
    for case_number, (vacancy_case, expected) in enumerate(VACANCIES):
        splits = [
            row["split"]
            for row in duck.rows(pd.delta_rows(comparisons).order_by("period"))
            if row["subject"] == f"Q{case_number}" and row["split"] in ("new", "deleted")
        ]
        assert " ".join(splits) == expected, vacancy_case


@pytest.mark.slow
def test_written_by_number_whatever_the_threads(tmp_path: Path) -> None:
    facts = [
        replace(one(f"Q{fact_number % 7 + 1}", "2015-01-01", subject=f"Q{fact_number // 2 + 1}"),
                relation="P6" if fact_number % 3 else "P54")
        for fact_number in range(10_000)
    ]  # fmt: skip
    file_bytes = []
    for threads in (1, 3):
        with engine("duckdb", tmp_path / "scratch", memory="512MB", threads=threads) as duck:
            comparisons = compared(duck, tmp_path, facts, "2018Q1 2021Q4")
            out_path = tmp_path / f"{threads}.parquet"
            row_count = duck.write(pd.delta_rows(comparisons), out_path, Delta, pd.ORDER)
            written_table = pq.read_table(out_path, columns=["subject", "relation", "period"])
            places = [
                (int(subject_id[1:]), int(relation_id[1:]), fact_number)
                for subject_id, relation_id, fact_number in zip(
                    *(column.to_pylist() for column in written_table.columns), strict=True
                )
            ]
            assert places == sorted(places) and len(places) == row_count > 70_000
            file_bytes.append(out_path.read_bytes())
    assert file_bytes[0] == file_bytes[1]
    assert list((tmp_path / "scratch").iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("exclusive", [False, True])
def test_the_same_bytes_in_any_number_of_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exclusive: bool
) -> None:
    facts = [
        one(f"Q{fact_number % 7 + 1}", f"{2014 + fact_number % 5}-01-01", subject=f"Q{subject}")
        for subject in range(1, 600)
        for fact_number in range(subject, subject + subject % 4)
    ]
    undated_gaps = [stated("undated Q4 ?", f"Q{subject}") for subject in range(1, 600, 5)]
    facts_file = parquet(tmp_path / "facts.parquet", Fact, facts)
    gaps_file = parquet(tmp_path / "gaps.parquet", Gap, undated_gaps)
    rules = {facts[0].relation: TimeRule(exclusive=exclusive)}
    window = periods(parse_period("2014Q1"), parse_period("2019Q4"))
    written_bytes = set()
    for memory, row_bytes, parts in (("4GB", 1, 1), ("200MB", 1, 1), ("400MB", 900_000, 3)):
        monkeypatch.setattr("factdrift.builders.core.engine._ROW_BYTES", row_bytes)
        with engine("duckdb", tmp_path / "scratch", memory=memory, threads=2) as duck:
            line = timeline(
                duck, duck.read(facts_file, Fact), duck.read(gaps_file, Gap), rules=rules
            )
            assert duck.parts == parts
            comparisons = keep_in_parts(
                duck, lambda *part: pd.compare(part[0], window, part[1]), *line
            )
            tables = (
                (line.segments, Segment, SEGMENT_ORDER),
                (line.gaps, Gap, GAP_ORDER),
                (pd.delta_rows(comparisons), Delta, pd.ORDER),
            )
            for table, row, order in tables:
                assert duck.write(table, tmp_path / f"{row.__name__}.parquet", row, order) > 50
        names = [f"{row.__name__}.parquet" for _, row, _ in tables]
        written_bytes.add(tuple((tmp_path / name).read_bytes() for name in names))
    assert len(written_bytes) == 1


def stored_tables(duck: Engine) -> set[str]:
    table_rows = duck.con.con.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    return {table_name for (table_name,) in table_rows}


@pytest.mark.slow
def test_a_stored_table_is_dropped_when_nothing_reads_it(tmp_path: Path) -> None:
    facts_file = parquet(tmp_path / "f.parquet", Fact, [one("Q2", "2015-01-01")])
    with engine("duckdb", tmp_path / "scratch") as duck:
        first_table = duck.keep(duck.read(facts_file, Fact))
        second_table = duck.keep(first_table.select("object"))
        assert stored_tables(duck) == {"kept_1", "kept_2"}
        del first_table
        third_table = duck.keep(second_table.distinct())
        assert stored_tables(duck) == {"kept_2", "kept_3"}
        assert duck.rows(second_table) == duck.rows(third_table) == [{"object": "Q2"}]


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
    first_period, last_period = (
        None if text == "-" else parse_period(text) for text in ends.split()
    )
    kind: Granularity = next(
        (known_period.granularity for known_period in (first_period, last_period) if known_period),
        "quarter",
    )

    def period_names() -> str:
        built_periods = pd.ended_periods(
            first_period, last_period, date.fromisoformat(snapshot), kind, count
        )
        return " ".join(map(str, built_periods))

    if expected:
        assert period_names() == expected
    else:
        with pytest.raises(UserError, match="no period from 2022Q3 on had ended by the snap"):
            period_names()


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
    facts = [one(f"Q{fact_number}", "2019") for fact_number in (2, 3)]
    paths = [
        parquet(folder / f"{fact_number}.parquet", Fact, [stated_fact])
        for fact_number, stated_fact in enumerate(facts)
    ]
    for facts_table in (duck.read(paths, Fact), duck.read(folder, Fact)):
        assert sorted(column_of(duck.rows(facts_table), "object")) == ["Q2", "Q3"]


def test_equal_facts_of_many_objects(duck: Engine, tmp_path: Path) -> None:
    """Rows that sort alike stay in one segment: in which order they come is the engine's affair."""
    spells = [("2015", "2017"), ("2019-01-01", "2020"), ("2022-02-01", None)]
    facts = [
        replace(one("Q2", *spell, f"Q{subject_number}"), statement="same")
        for subject_number in range(1, 1_000)
        for spell in spells
        for _ in range(8)
    ]
    Random(1).shuffle(facts)
    facts_table = duck.read(parquet(tmp_path / "facts.parquet", Fact, facts), Fact)
    segments = timeline(duck, facts_table).segments
    dates = segments.select("start_first", "end_last", "statements").distinct()
    for _ in range(4):
        assert column_of(duck.rows(dates), "statements") == [["same"]] * 3
