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

TODAY = date(2026, 1, 1)
Held = tuple[str, str, str, str | None, str | None]
"""Subject, relation, object, earliest day of the start, latest day of the end."""


def asked(subject: str, period: str, answers: str, previous: str = "", **more: Any) -> Cloze:
    """A row about P6; answers by their ids."""
    named = [tuple(Answer(i, f"The {i}", ()) for i in ids.split()) for ids in (answers, previous)]
    values = dict(zip(("answers", "previous_answers"), named, strict=True)) | more
    own = row_id(subject, period)
    return cloze(1, period=period, id=own, subject=subject, relation="P6", **values)


def table(folder: Path, row: type, some: Iterable[Any]) -> Path:
    with writing(folder / f"{row.__name__}.parquet", row) as out:
        for one in some:
            out.append(one)
    return folder / f"{row.__name__}.parquet"


def segment(held: Held) -> rows.Segment:
    subject, relation, item, *ends = held
    first, last = (date.fromisoformat(text) if text else None for text in ends)
    ends_and_more = (first, first, last, last, False, False, False, (), TODAY)
    return rows.Segment(subject, relation, item, *ends_and_more)


def gap(subject: str, item: str | None) -> rows.Gap:
    undated = (None, None, None, None, True)
    return rows.Gap("s", subject, "P6", item, *undated, "undated", "normal", TODAY)


def found(
    folder: Path,
    clozes: Sequence[Cloze],
    held: Sequence[Held],
    gaps: Sequence[rows.Gap] = (),
    at: WhenCounted = "during",
) -> dict[str, dict[str, tuple[int, int]]]:
    """Subject -> object -> kind and place."""
    with engine("duckdb", folder / "scratch") as eng:
        tables = ((Cloze, clozes), (rows.Segment, [*map(segment, held)]), (rows.Gap, gaps))
        read, timelines, doubts = (eng.read(table(folder, row, some), row) for row, some in tables)
        met = offered(asked_days(read, "quarter", at), timelines, doubts, 7)
        names = {one.id: one.subject for one in clozes}
        told: dict[str, dict[str, tuple[int, int]]] = {one.subject: {} for one in clozes}
        for row in eng.rows(met):
            assert row["object"] not in told[names[row["id"]]], "offered once"
            told[names[row["id"]]][row["object"]] = (row["kind"], row["place"])
    return told


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
    clozes = [asked("Q1", "2019Q2", "Q12", "Q11", split="updated"), asked("Q2", "2019Q2", "Q20")]
    told = found(tmp_path, clozes, HISTORY)
    assert {told["Q1"].pop(item)[0] for item in ("Q20", "Q21")} == {2}
    assert told["Q1"] == {"Q11": (0, 1), "Q13": (1, 1), "Q10": (1, 2)}
    assert told["Q2"] == {"Q12": (1, 1), "Q21": (1, 2)}


def test_at_the_end_of_a_period_what_ended_in_it_is_offered(tmp_path: Path) -> None:
    left = ("Q1", "P6", "Q15", "2000-01-01", "2019-06-29")
    clozes = [asked("Q1", "2019Q2", "Q12", "Q15", split="updated")]
    assert "Q15" not in found(tmp_path, clozes, [*HISTORY, left])["Q1"]
    assert found(tmp_path, clozes, [*HISTORY, left], at="end")["Q1"]["Q15"] == (0, 1)


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
    told = found(tmp_path, [asked("Q1", "2019Q2", "Q12")], [*HISTORY, held])
    assert ("Q15" in told["Q1"]) is offers
    again = ("Q1", "P6", "Q15", "2019-05-01", "2019-05-02")  # another segment does hold
    assert "Q15" not in found(tmp_path, [asked("Q1", "2019Q2", "Q12")], [held, again])["Q1"]


def test_what_ended_is_asked_of_the_period_before(tmp_path: Path) -> None:
    """`deleted` in 2019Q4 asks about 2019Q3, when Q12 held: Q13 began after it, Q11 before it."""
    row = asked("Q1", "2019Q4", "Q12", "Q12", split="deleted")
    told = found(tmp_path, [row], HISTORY)["Q1"]
    assert told["Q13"] == (1, 1) and told["Q11"] == (1, 2)


def test_what_is_stated_without_dates_is_not_offered(tmp_path: Path) -> None:
    clozes = [asked("Q1", "2019Q2", "Q12", "Q11"), asked("Q2", "2019Q2", "Q20")]
    gaps = [gap("Q1", "Q11"), gap("Q1", "Q20"), gap("Q1", None), gap("Q2", "Q13")]
    told = found(tmp_path, clozes, HISTORY, gaps)
    assert set(told["Q1"]) == {"Q10", "Q13", "Q21"}


def row(names: Mapping[str, str], **more: Any) -> dict[str, Any]:
    """An offered cloze row whose distractors have these labels, by id, in order."""
    distractors = [
        {"id": item, "label": label, "aliases": ["X Y"], "kind": "other_time", "place": n}
        for n, (item, label) in enumerate(names.items(), 1)
    ]
    made = cloze(1, added=("Q5",), **more)
    found: dict[str, Any] = {name: getattr(made, name) for name in Cloze.__dataclass_fields__}
    plain = {"id": "Q5", "label": "Ann Lee", "aliases": ["A. Lee"]}
    other = {"id": "Q6", "label": "Bo Ek", "aliases": []}
    return found | {
        "targets": ("Ann Lee", "Bo Ek", "A. Lee"),
        "answers": [other, plain],
        "previous_answers": [other],
        "distractors": distractors,
    }


def test_a_choice_is_never_another_answer() -> None:
    """Names of answers, the subject, and labels that stand twice are passed over."""
    named = {
        "Q7": "a. lee",
        "Q8": "Person 1",
        "Q9": "Cy Rose",
        "Q10": "cy rose!",
        "Q11": "Di Ost",
        "Q12": "Em Alm",
    }
    made = choose(row(named), 4, 0)
    assert isinstance(made, rows.ChoiceCloze)
    assert dict(zip(made.choice_ids, made.choices, strict=True)) == {
        "Q5": "Ann Lee",  # which came with the period
        "Q9": "Cy Rose",
        "Q11": "Di Ost",
        "Q12": "Em Alm",
    }
    assert made.choices[made.answer_index] == "Ann Lee" == made.targets[0]
    assert set(made.targets) == {"Ann Lee", "Bo Ek", "A. Lee"}
    assert made.choice_kinds[made.answer_index] == "answer"
    assert isinstance(choose(row(named), 5, 0), rows.Dropped)
    assert choose(row(named), 4, 0) == made


def test_the_order_is_drawn_by_the_id() -> None:
    named = {f"Q{n}": f"Object {n}" for n in range(20, 23)}
    places = [choose(row(named, id=str(n)), 4, 0) for n in range(400)]
    count = [sum(getattr(one, "answer_index", None) == k for one in places) for k in range(4)]
    assert min(count) > 70, count


@pytest.mark.slow
def test_choices_of_the_sample(sample: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "dynamic-templama.yaml"
    text = (FOLDER / recipe.name).read_text("utf-8").replace("../../", f"{ROOT}/")
    recipe.write_text(f"{text}  choices: 4\n", "utf-8")
    shutil.copytree(sample / "build", tmp_path / "b")  # another test may be at work in its own
    run_cli("release", recipe, "--out", tmp_path / "releases", "--build", tmp_path / "b")
    release = tmp_path / "releases" / "dynamic-templama" / "1.0.0"
    assert check(release)["choices"] > 10_000
    every = pq.read_table(release / "data/choices").to_pylist()
    timelines = pq.read_table(release / "data" / "timelines" / "full.parquet").to_pylist()
    stated = {(s["subject"], s["relation"], s["object"]) for s in timelines}
    for one in every:
        right = one["choices"][one["answer_index"]]
        assert len(one["choices"]) == len(set(one["choices"])) == 4 and right == one["targets"][0]
        accepted = {normalize_or_keep(name) for name in one["targets"]}
        assert [c for c in one["choices"] if normalize_or_keep(c) in accepted] == [right]
        for item, kind in zip(one["choice_ids"], one["choice_kinds"], strict=True):
            own = (one["subject"], one["relation"], item) in stated
            assert own == (kind in ("answer", "stale", "other_time"))
    changed = [one for one in every if one["split"] == "updated" and one["previous_answers"]]
    of_updated = [one["choice_kinds"] for one in changed]
    assert sum("stale" in kinds for kinds in of_updated) > len(of_updated) / 3
