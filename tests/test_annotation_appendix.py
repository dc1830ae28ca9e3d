"""Coefficients and estimates beside those of the usual libraries, and the report made of them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from factdrift.annotation.batch import read_batch
from factdrift.annotation.hits import make_batch
from factdrift.annotation.quality.agreement import krippendorff_alpha, value_units
from factdrift.annotation.quality.kappa import (
    Rating,
    cohen_kappas,
    dawid_skene,
    fleiss_kappa,
    majority,
)
from factdrift.builders.core.errors import UserError
from factdrift.builders.release.people import people_statistics
from tests.annotation_anaesthetists import OBSERVERS, RATINGS
from tests.annotation_workers import batch_of, hand_in, order, submission, take

TABLES = json.loads(Path(__file__).with_name("annotation_agreement_tables.json").read_text())


@pytest.mark.parametrize("table", TABLES["tables"])
def test_random_tables_come_out_as_by_the_usual_libraries(table: dict[str, Any]) -> None:
    full = [
        Rating(f"{item:03}", str(worker), value)
        for worker, row in enumerate(table["full"])
        for item, value in enumerate(row)
    ]
    units = value_units([[v for v in c if v != "-"] for c in zip(*table["part"], strict=True)])
    assert krippendorff_alpha(units) == pytest.approx(table["alpha"], abs=1e-12)
    assert fleiss_kappa(full).kappa == pytest.approx(table["fleiss"], abs=1e-12)
    (pair,) = (one for one in cohen_kappas(full) if one.workers == ("0", "1"))
    assert pair.kappa == pytest.approx(table["cohen"], abs=1e-12)
    assert "".join(v for _, (v, _) in sorted(dawid_skene(full).values.items())) == table["labels"]


def test_the_anaesthetists_of_dawid_and_skene() -> None:
    rated = [
        Rating(f"{patient:02}", observer, value)
        for patient, values in enumerate(RATINGS, 1)
        for observer, value in zip(OBSERVERS, values, strict=True)
    ]
    found = dawid_skene(rated)
    marginals = [round(found.marginals[value], 2) for value in "1234"]
    assert marginals == [0.40, 0.42, 0.11, 0.07]  # table 4 of the paper
    assert found.values["03"][0] == "2" and majority(rated)["03"] == "2"
    assert max(found.accuracy, key=lambda name: found.accuracy[name]) == "4"


@pytest.mark.parametrize("many", [0, 1])
def test_too_little_says_nothing(many: int) -> None:
    one = [Rating("i", "w", "a")][:many]
    assert fleiss_kappa(one).kappa is None
    assert cohen_kappas(one) == []
    assert dawid_skene(one).values == ({"i": ("a", 1.0)} if many else {})
    same = [Rating(str(n), w, "a") for n in range(4) for w in "uv"]
    assert fleiss_kappa(same).kappa is None and cohen_kappas(same)[0].kappa is None


def test_the_files_of_an_appendix(tmp_path: Path) -> None:
    batch = batch_of(tmp_path)
    given = [
        submission(batch, worker, hit, received=f"2026-11-{day}T10:00:00+00:00")
        for worker, day in (("u", "03"), ("v", "05"))
        for hit in (0, 1)
    ]
    for answers in given[3]["answers"].values():
        answers["verdict"] = "no"  # v fails the known item of the second HIT, too
    take(tmp_path, hand_in(tmp_path, given))
    folder = tmp_path / "judgments/quick"
    found = json.loads((folder / "report.json").read_text("utf-8"))
    assert found["days"] == ["2026-11-03", "2026-11-05"]
    assert (found["workers"], found["experts"], found["judgments"]) == (2, 0, 16)
    (verdict,) = (one for one in found["agreement"] if one["answer"] == "verdict")
    assert (verdict["before"]["items"], verdict["after"]["items"]) == (6, 3)
    assert verdict["after"]["percent"] == 100 > verdict["before"]["percent"]
    # 0.50 for four items of 4 seconds each
    assert found["paid_workers"]["hourly"] == [112.5, 112.5, 112.5]
    assert (found["paid_workers"]["hits"], found["paid_workers"]["due"]) == (3, "1.5")
    assert [(one["asked"], one["passed"]) for one in found["checks"]] == [(4, 3)]
    page = (folder / "report.html").read_text("utf-8")
    assert "Before and after exclusions" in page and "Dawid–Skene" in page
    work, told = people_statistics([folder / "gold.parquet"])
    (row,) = work.rows
    assert (row["annotators"], row["days"]) == (2, "2026-11-03 to 2026-11-05")
    assert row["platform"] == "static" and str(row["agreement"]).startswith(("alpha", "one"))
    assert told.rows[0]["instructions"] == "Read it."
    before = (folder / "report.json").read_bytes()
    take(tmp_path)  # settled anew: the days stay
    assert (folder / "report.json").read_bytes() == before
    assert people_statistics([tmp_path / "gold.parquet"]) == ()


OWN = {"fields": {"question": "Is fire cold?"}, "answers": {"verdict": "no"}}


def test_known_answers_of_ones_own(tmp_path: Path) -> None:
    known = hand_in(tmp_path, [OWN], "known.jsonl")
    batch = read_batch(make_batch(replace(order(tmp_path), known=known, number=20))[0])
    checks = {str(i.fields["question"]) for i in batch.items if i.answers is not None}
    assert checks == {"Is water wet?", "Is fire cold?"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"fields": {"question": "Q"}}, "needs `fields` and `answers`"),
        ({**OWN, "fields": {"q": "Q"}}, "no field 'q'"),
        ({**OWN, "fields": {}}, "lacks the field 'question'"),
        ({**OWN, "answers": {"verdict": "perhaps"}}, "verdict: not one of the choices"),
    ],
)
def test_known_answers_that_are_none(tmp_path: Path, line: Any, message: str) -> None:
    known = hand_in(tmp_path, [OWN, line], "known.jsonl")
    with pytest.raises(UserError, match=f"known.jsonl:2.*{message}"):
        make_batch(replace(order(tmp_path), known=known))
