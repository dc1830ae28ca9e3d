"""From plain articles, through real batches and people's gold rows, to the CKL releases."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.release.compare import compare
from factdrift.builders.rows import Gold
from factdrift.builders.wmt.read import read_articles
from tests.asking_rows import check
from tests.ckl_walk import (
    CLOZES,
    Walk,
    chat_server,
    dropped,
    experts,
    gold,
    rows,
    workers,
)
from tests.tables import column_of, columns_of

FULL = "data/all/full.parquet"


class FailsOnce:
    """What fills gaps, and fails at the fourth call."""

    calls = 0

    def __call__(self, prompt: str) -> str | None:
        self.calls += 1
        statement = prompt.split("Statement: ")[-1].split("\n")[0]
        known_predictions = {
            cloze_case["cloze"]: str(cloze_case["predicted"]) for cloze_case in CLOZES.values()
        }
        return None if self.calls == 4 else known_predictions.get(statement, "nothing")


ANSWERS = FailsOnce()


@pytest.fixture(scope="module")
def model() -> Iterator[dict[str, Any]]:
    with chat_server(ANSWERS) as prompted_step:
        yield prompted_step


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory, model: dict[str, Any]) -> Walk:
    """The chain to `updated-lama` and `new-lama`, with a model that fails once on the way."""
    new_walk = Walk(tmp_path_factory.mktemp("ckl"))
    new_walk.release("ckl-questions")
    new_walk.judge("ckl_question", workers(new_walk.items("ckl_question")))
    with pytest.raises(UserError, match="run again to go on"):
        new_walk.release("ckl-clozes", predict=model)
    new_walk.release("ckl-clozes", predict=model)
    new_walk.judge("ckl_expert", experts(new_walk.items("ckl_expert")))
    return new_walk


@pytest.fixture
def other_walk(walk: Walk, tmp_path: Path) -> Walk:
    return walk.beside(tmp_path)


def latest(walk: Walk, name: str) -> Path:
    return max((walk.folder / "releases" / name).iterdir())


def test_questions_and_words_of_recent_articles(walk: Walk) -> None:
    folder = latest(walk, "ckl-questions")
    questions = rows(folder, "data/questions/full.parquet")
    word_rows = rows(folder, "data/words/full.parquet")
    assert len(word_rows) >= len(questions) > 12
    assert {len(row["questions"]) == len(row["answers"]) > 0 for row in questions} == {True}
    assert min(column_of(questions, "article_day")) >= date(2020, 5, 1)
    assert max(len(row["questions"]) for row in questions) > 4
    castex = next(row for row in word_rows if "Jean Castex" in row["candidates"])
    assert len(set(castex["candidates"])) == len(castex["candidates"])


def test_clozes_are_checked_against_their_articles_and_predicted(walk: Walk) -> None:
    folder = latest(walk, "ckl-clozes")
    clozes_by_answer = {cloze_row["new_answer"]: cloze_row for cloze_row in rows(folder, FULL)}
    assert {answer: cloze_row["cloze"] for answer, cloze_row in clozes_by_answer.items()} == {
        cloze_case["answer"]: cloze_case["cloze"] for cloze_case in CLOZES.values()
    }
    for article in read_articles(
        str(walk.news), column_of(clozes_by_answer.values(), "evidence_id")
    ):
        (row,) = [
            cloze_row
            for cloze_row in clozes_by_answer.values()
            if cloze_row["evidence_id"] == article.id
        ]
        end = row["answer_start"] + len(row["new_answer"])
        assert article.text[row["answer_start"] : end] == row["new_answer"]
    assert check(folder) == {"all": len(clozes_by_answer)}
    assert clozes_by_answer["Yoshihide Suga"]["prediction"] == "Shinzo Abe"
    assert (
        clozes_by_answer["Atlético Madrid"]["prediction"] is None
    )  # it said that it does not know
    assert set(column_of(clozes_by_answer.values(), "predictor")) == {"openai:m"}
    bad_reasons = "answer_in_cloze answer_not_in_article damaged_gold no_article not_one_blank open"
    assert dropped(folder) == {"ckl-clozes": bad_reasons.split()}
    assert ANSWERS.calls == len(CLOZES) + 1  # one failed, and nothing was asked twice


UPDATED = [
    ("Atlético Madrid", "Luis Suárez plays football for _X_.", "Barcelona", "found", None,
     "Barcelona agreed to sign Luis Suárez"),
    ("Yoshihide Suga", "The prime minister of Japan is _X_.", "Shinzo Abe", "supported",
     "Shinzo Abe", "parliament elected Shinzo Abe as prime minister"),
]  # fmt: skip
"""New answer, query, old answer, grounds, prediction, and what the old article says."""


def test_updated_and_new(walk: Walk) -> None:
    updated, new_release = walk.release("updated-lama"), walk.release("new-lama")

    def said(place: dict[str, Any], old: bool) -> str:
        (article,) = read_articles(str(walk.news), [place["article"]])
        assert article.day == place["day"]
        assert (article.day <= date(2020, 4, 30)) is old
        return article.text[place["start"] : place["end"]]

    updated_rows = []
    for lama_row in rows(updated.folder):
        assert said(lama_row["new_evidence"], old=False) == lama_row["answer"]
        cells = [
            lama_row[column]
            for column in ("answer", "query", "old_answer", "grounds", "prediction")
        ]
        updated_rows.append((*cells, said(lama_row["old_evidence"], old=True)))
    assert sorted(updated_rows) == UPDATED
    (row,) = rows(new_release.folder)
    assert row["query"] == "_X_ resigned as chief executive of Wirecard in June 2020."
    assert [row[column] for column in ("answer", "grounds", "prediction")] == [
        *("Markus Braun", "not_found", "Tim Cook")
    ]
    assert "old_answer" not in row
    assert (check(updated.folder), check(new_release.folder)) == ({"all": 2}, {"all": 1})
    decided = ["known_answer", "known_prediction", "not_judged"]
    assert dropped(updated.folder)["ckl-decide"] == sorted([*decided, "new"])
    assert dropped(new_release.folder)["ckl-decide"] == sorted([*decided, "updated", "updated"])


@pytest.mark.slow
def test_the_same_bytes_with_two_jobs_in_another_folder(walk: Walk, other_walk: Walk) -> None:
    for name in ("ckl-questions", "updated-lama", "new-lama"):
        release = other_walk.release(name)
        walk.release(name)
        release_files = sorted(path for path in release.folder.rglob("*") if path.is_file())
        assert release_files
        for file in release_files:
            twin = latest(walk, name) / file.relative_to(release.folder)
            assert file.read_bytes() == twin.read_bytes(), file


def test_offline_from_the_cache_alone(walk: Walk, other_walk: Walk, model: dict[str, Any]) -> None:
    calls = ANSWERS.calls
    with pytest.raises(UserError, match="not in the cache"):
        other_walk.release("ckl-clozes", predict=model, offline=True)
    answers = other_walk.folder / "build" / "work" / "answers"
    answers.rename(answers.with_name("none"))
    answers.symlink_to(walk.folder / "build" / "work" / "answers")
    release = other_walk.release("ckl-clozes", predict=model, offline=True)
    assert rows(release.folder, FULL) == rows(latest(walk, "ckl-clozes"), FULL)
    assert ANSWERS.calls == calls


def test_without_a_model_the_step_is_skipped_and_says_so(other_walk: Walk) -> None:
    release = other_walk.release("ckl-clozes")
    clozes = rows(release.folder, FULL)
    assert set(columns_of(clozes, "prediction", "predictor")) == {(None, None)}
    assert "  prediction: skipped (the recipe names no backend for it)" in other_walk.said
    assert "skipped: no backend" in (release.folder / "README.md").read_text("utf-8")
    items = other_walk.items("ckl_expert")
    assert len(items) == len(CLOZES)
    for item in items:
        assert "prediction" not in item.fields


def test_a_further_judgment_is_a_new_version_with_just_its_row(walk: Walk, tmp_path: Path) -> None:
    other_walk = Walk(tmp_path)
    expert_answers = {
        layout: [Gold(**row) for row in rows(walk.folder / "judgments" / layout, "gold.parquet")]
        for layout in ("ckl_question", "ckl_expert")
    }
    for layout, gold_rows in expert_answers.items():
        other_walk.judge(layout, gold_rows)
    first_release = other_walk.release("new-lama")
    (juventus,) = [
        item for item in walk.items("ckl_expert") if item.fields["new_answer"] == "Andrea Pirlo"
    ]
    answers = {"statement": juventus.fields["cloze"], "supported": "no", "found": "no"}
    further = gold("ckl_expert", juventus, {"settled": "yes", **answers}, judgments=2)
    other_walk.judge("ckl_expert", [*expert_answers["ckl_expert"], further])
    second_release = other_walk.release("new-lama")
    assert (first_release.version, second_release.version, second_release.level) == (
        "1.0.0",
        "1.1.0",
        "minor",
    )
    difference_summary = compare(
        first_release.folder, second_release.folder, tmp_path / "diff.parquet"
    ).summary()
    assert "1 added" in difference_summary or "+1" in difference_summary, difference_summary
    assert set(column_of(rows(second_release.folder), "answer")) == {"Markus Braun", "Andrea Pirlo"}


def test_gold_of_other_layouts_alone_is_refused(tmp_path: Path) -> None:
    other_walk = Walk(tmp_path)
    other_walk.judge(
        "easy_select", [gold("easy_select", "0" * 16, {"newness": "none"}, "rejected")]
    )
    for name in ("ckl-clozes", "updated-lama", "new-lama"):
        with pytest.raises(UserError, match="no gold rows of ckl_question"):
            other_walk.release(name)
