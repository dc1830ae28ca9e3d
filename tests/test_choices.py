"""Choices: what is offered beside an answer."""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from factdrift.builders import rows
from factdrift.builders.core.engine import engine
from factdrift.builders.core.hashing import row_id
from factdrift.builders.core.schema import writing
from factdrift.builders.facts.timeline import WhenCounted
from factdrift.builders.recipes.recipe import FOLDER
from factdrift.builders.rows import Answer, Cloze
from factdrift.builders.templama.choices import asked_days, choose, offered
from factdrift.builders.text.squad import normalize_or_keep
from tests.asking_rows import check
from tests.conftest import ROOT, run_cli
from tests.release_sample import cloze
from tests.tables import column_of, columns_of

TODAY = date(2026, 1, 1)
Held = tuple[str, str, str, str | None, str | None]
"""Subject, relation, object, earliest day of the start, latest day of the end."""


def asking_row(subject: str, period: str, answers: str, previous: str = "", **more: Any) -> Cloze:
    """A row about P6; answers by their ids."""
    answer_columns = [
        tuple(Answer(item_id, f"The {item_id}", ()) for item_id in id_list.split())
        for id_list in (answers, previous)
    ]
    row_values = dict(zip(("answers", "previous_answers"), answer_columns, strict=True)) | more
    cloze_id = row_id(subject, period)
    return cloze(1, period=period, id=cloze_id, subject=subject, relation="P6", **row_values)


def write_table(folder: Path, row_type: type, items: Iterable[Any]) -> Path:
    with writing(folder / f"{row_type.__name__}.parquet", row_type) as table_writer:
        for item in items:
            table_writer.append(item)
    return folder / f"{row_type.__name__}.parquet"


def segment(held: Held) -> rows.Segment:
    subject, relation, item, *ends = held
    first_day, last = (date.fromisoformat(text) if text else None for text in ends)
    ends_and_more = (first_day, first_day, last, last, False, False, False, (), TODAY)
    return rows.Segment(subject, relation, item, *ends_and_more)


def gap(subject: str, item: str | None) -> rows.Gap:
    undated = (None, None, None, None, True)
    return rows.Gap("s", subject, "P6", item, *undated, "undated", "normal", TODAY)


def offers_of(
    folder: Path,
    clozes: Sequence[Cloze],
    held: Sequence[Held],
    gaps: Sequence[rows.Gap] = (),
    when_counted: WhenCounted = "during",
) -> dict[str, dict[str, tuple[int, int]]]:
    """Subject -> object -> kind and place."""
    with engine("duckdb", folder / "scratch") as eng:
        tables = ((Cloze, clozes), (rows.Segment, [*map(segment, held)]), (rows.Gap, gaps))
        read_choices, timelines, doubts = (
            eng.read(write_table(folder, row, items), row) for row, items in tables
        )
        candidates = offered(
            asked_days(read_choices, "quarter", when_counted), timelines, doubts, 7
        )
        subjects = {cloze_row.id: cloze_row.subject for cloze_row in clozes}
        offers_by_subject: dict[str, dict[str, tuple[int, int]]] = {
            cloze_row.subject: {} for cloze_row in clozes
        }
        for row in eng.rows(candidates):
            assert row["object"] not in offers_by_subject[subjects[row["id"]]], "offered once"
            offers_by_subject[subjects[row["id"]]][row["object"]] = (row["kind"], row["place"])
    return offers_by_subject


HISTORY: list[Held] = [
    ("Q1", "P6", "Q10", "2010-01-01", "2014-12-31"),
    ("Q1", "P6", "Q11", "2015-01-01", "2019-03-31"),
    ("Q1", "P6", "Q12", "2019-04-01", "2019-09-30"),
    ("Q1", "P6", "Q13", "2019-10-01", None),
    ("Q2", "P6", "Q20", "2015-01-01", None),
    ("Q2", "P6", "Q12", "2005-01-01", "2006-01-01"),
    ("Q2", "P6", "Q21", "2000-01-01", "2004-01-01"),
]


def test_the_hardest_first(tmp_path: Path) -> None:
    """Q1 in 2019Q2: Q12 came, Q11 is stale; of the others Q10 ended four years before, and Q13
    comes after three months. Q12 was also held by Q2, as were Q20 and Q21; Q20 is Q2's own answer.
    """
    clozes = [
        asking_row("Q1", "2019Q2", "Q12", "Q11", split="updated"),
        asking_row("Q2", "2019Q2", "Q20"),
    ]
    offers_by_subject = offers_of(tmp_path, clozes, HISTORY)
    assert {offers_by_subject["Q1"].pop(item)[0] for item in ("Q20", "Q21")} == {2}
    assert offers_by_subject["Q1"] == {"Q11": (0, 1), "Q13": (1, 1), "Q10": (1, 2)}
    assert offers_by_subject["Q2"] == {"Q12": (1, 1), "Q21": (1, 2)}


def test_at_the_end_of_a_period_what_ended_in_it_is_offered(tmp_path: Path) -> None:
    ended_inside = ("Q1", "P6", "Q15", "2000-01-01", "2019-06-29")
    clozes = [asking_row("Q1", "2019Q2", "Q12", "Q15", split="updated")]
    assert "Q15" not in offers_of(tmp_path, clozes, [*HISTORY, ended_inside])["Q1"]
    assert offers_of(tmp_path, clozes, [*HISTORY, ended_inside], when_counted="end")["Q1"][
        "Q15"
    ] == (0, 1)


@pytest.mark.parametrize(
    ("held", "offers"),
    [
        (("Q1", "P6", "Q15", "2000-01-01", "2019-03-31"), True),
        (("Q1", "P6", "Q15", "2000-01-01", "2019-04-01"), False),
        (("Q1", "P6", "Q15", None, "2019-03-31"), True),
        (("Q1", "P6", "Q15", "2000-01-01", None), False),
        (("Q1", "P6", "Q15", None, None), False),
        (("Q1", "P6", "Q15", "2019-06-30", "2020-01-01"), False),
        (("Q1", "P6", "Q15", "2019-07-01", None), True),
    ],
)
def test_what_may_have_held_is_not_offered(tmp_path: Path, held: Held, offers: bool) -> None:
    offers_by_subject = offers_of(tmp_path, [asking_row("Q1", "2019Q2", "Q12")], [*HISTORY, held])
    assert ("Q15" in offers_by_subject["Q1"]) is offers
    later_segment = ("Q1", "P6", "Q15", "2019-05-01", "2019-05-02")  # another segment does hold
    assert (
        "Q15"
        not in offers_of(tmp_path, [asking_row("Q1", "2019Q2", "Q12")], [held, later_segment])["Q1"]
    )


def test_what_ended_is_asked_of_the_period_before(tmp_path: Path) -> None:
    """`deleted` in 2019Q4 asks about 2019Q3, when Q12 held: Q13 began after it, Q11 before it."""
    row = asking_row("Q1", "2019Q4", "Q12", "Q12", split="deleted")
    offers_by_subject = offers_of(tmp_path, [row], HISTORY)["Q1"]
    assert offers_by_subject["Q13"] == (1, 1) and offers_by_subject["Q11"] == (1, 2)


def test_what_is_stated_without_dates_is_not_offered(tmp_path: Path) -> None:
    clozes = [asking_row("Q1", "2019Q2", "Q12", "Q11"), asking_row("Q2", "2019Q2", "Q20")]
    gaps = [gap("Q1", "Q11"), gap("Q1", "Q20"), gap("Q1", None), gap("Q2", "Q13")]
    offers_by_subject = offers_of(tmp_path, clozes, HISTORY, gaps)
    assert set(offers_by_subject["Q1"]) == {"Q10", "Q13", "Q21"}


def offered_row(names: Mapping[str, str], **more: Any) -> dict[str, Any]:
    """An offered cloze row whose distractors have these labels, by id, in order."""
    distractors = [
        {
            "id": item,
            "label": object_label,
            "aliases": ["X Y"],
            "kind": "other_time",
            "place": place,
        }
        for place, (item, object_label) in enumerate(names.items(), 1)
    ]
    cloze_row = cloze(1, added=("Q5",), **more)
    row_values: dict[str, Any] = {
        name: getattr(cloze_row, name) for name in Cloze.__dataclass_fields__
    }
    new_answer = {"id": "Q5", "label": "Ann Lee", "aliases": ["A. Lee"]}
    still_answer = {"id": "Q6", "label": "Bo Ek", "aliases": []}
    return row_values | {
        "targets": ("Ann Lee", "Bo Ek", "A. Lee"),
        "answers": [still_answer, new_answer],
        "previous_answers": [still_answer],
        "distractors": distractors,
    }


def test_a_choice_is_never_another_answer() -> None:
    """Names of answers, the subject, and labels that stand twice are passed over."""
    labels_by_id = {
        "Q7": "a. lee",
        "Q8": "Person 1",
        "Q9": "Cy Rose",
        "Q10": "cy rose!",
        "Q11": "Di Ost",
        "Q12": "Em Alm",
    }
    choice_row = choose(offered_row(labels_by_id), 4, 0)
    assert isinstance(choice_row, rows.ChoiceCloze)
    assert dict(zip(choice_row.choice_ids, choice_row.choices, strict=True)) == {
        "Q5": "Ann Lee",  # which came with the period
        "Q9": "Cy Rose",
        "Q11": "Di Ost",
        "Q12": "Em Alm",
    }
    assert choice_row.choices[choice_row.answer_index] == "Ann Lee" == choice_row.targets[0]
    assert set(choice_row.targets) == {"Ann Lee", "Bo Ek", "A. Lee"}
    assert choice_row.choice_kinds[choice_row.answer_index] == "answer"
    assert isinstance(choose(offered_row(labels_by_id), 5, 0), rows.Dropped)
    assert choose(offered_row(labels_by_id), 4, 0) == choice_row


def test_the_order_is_drawn_by_the_id() -> None:
    labels_by_id = {f"Q{item_number}": f"Object {item_number}" for item_number in range(20, 23)}
    choice_rows = [
        choose(offered_row(labels_by_id, id=str(item_number)), 4, 0) for item_number in range(400)
    ]
    place_counts = [
        sum(getattr(choice_row, "answer_index", None) == place for choice_row in choice_rows)
        for place in range(4)
    ]
    assert min(place_counts) > 70, place_counts


@pytest.mark.slow
def test_choices_of_the_sample(sample: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "dynamic-templama.yaml"
    text = (FOLDER / recipe.name).read_text("utf-8").replace("../../", f"{ROOT}/")
    recipe.write_text(f"{text}  choices: 4\n", "utf-8")
    shutil.copytree(sample / "build", tmp_path / "b")  # another test may be at work in its own
    run_cli("release", recipe, "--out", tmp_path / "releases", "--build", tmp_path / "b")
    release = tmp_path / "releases" / "dynamic-templama" / "1.0.0"
    assert check(release)["choices"] > 10_000
    choice_rows = pq.read_table(release / "data/choices").to_pylist()
    timelines = pq.read_table(release / "data" / "timelines" / "full.parquet").to_pylist()
    stated_objects = set(columns_of(timelines, "subject", "relation", "object"))
    for choice_row in choice_rows:
        right_choice = choice_row["choices"][choice_row["answer_index"]]
        assert (
            len(choice_row["choices"]) == len(set(choice_row["choices"])) == 4
            and right_choice == choice_row["targets"][0]
        )
        accepted = {normalize_or_keep(name) for name in choice_row["targets"]}
        assert [
            choice for choice in choice_row["choices"] if normalize_or_keep(choice) in accepted
        ] == [right_choice]
        for item, kind in zip(choice_row["choice_ids"], choice_row["choice_kinds"], strict=True):
            is_stated = (choice_row["subject"], choice_row["relation"], item) in stated_objects
            assert is_stated == (kind in ("answer", "stale", "other_time"))
    updated_rows = [
        choice_row
        for choice_row in choice_rows
        if choice_row["split"] == "updated" and choice_row["previous_answers"]
    ]
    of_updated = column_of(updated_rows, "choice_kinds")
    assert sum("stale" in kinds for kinds in of_updated) > len(of_updated) / 3
