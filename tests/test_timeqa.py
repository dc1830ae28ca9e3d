"""The sample release `timeqa`, as its users meet it."""

import hashlib
import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.conftest import ROOT, run_cli
from tests.tables import column_of

MODES = ("easy", "hard", "consistency")


@pytest.fixture(scope="module")
def rows(sample: Path) -> dict[str, list[dict[str, Any]]]:
    data = sample / "releases/timeqa/1.0.0/data"
    return {
        mode: [
            row
            for table_file in sorted((data / mode).glob("*.parquet"))
            for row in pq.read_table(table_file).to_pylist()
        ]
        for mode in MODES
    }


@pytest.mark.parametrize("mode", MODES)
def test_every_answer_stands_where_the_row_says(
    rows: dict[str, list[dict[str, Any]]], mode: str
) -> None:
    assert len(rows[mode]) > 150
    for row in rows[mode]:
        assert hashlib.sha256(row["context"].encode()).hexdigest() == row["context_sha256"]
        spans = list(zip(row["answers"]["text"], row["answers"]["answer_start"], strict=True))
        for text, answer_start in spans:
            assert row["context"][answer_start : answer_start + len(text)] == text
        assert bool(spans) == (row["answerable"] == "yes")
        assert bool(row["objects"]) == (row["answerable"] != "nothing_holds")
        assert row["question"].endswith("?")


def test_a_subject_is_in_one_split(rows: dict[str, list[dict[str, Any]]]) -> None:
    splits_by_subject: dict[str, set[str]] = {}
    for mode in MODES:
        for row in rows[mode]:
            splits_by_subject.setdefault(row["subject"], set()).add(row["split"])
    for splits in splits_by_subject.values():
        assert len(splits) == 1
    assert {split for splits in splits_by_subject.values() for split in splits} == {
        "train",
        "dev",
        "test",
    }


def test_what_has_no_answer_has_none_in_its_context(rows: dict[str, list[dict[str, Any]]]) -> None:
    assert "nothing_holds" not in set(column_of(rows["easy"], "answerable"))
    for mode, share in (("easy", 0.13), ("hard", 0.15)):
        without = [
            question_row for question_row in rows[mode] if question_row["answerable"] != "yes"
        ]
        # Most others lose paragraphs, too: length tells nothing.
        shortened = [
            question_row
            for question_row in rows[mode]
            if question_row["answerable"] == "yes" and question_row["left_out"]
        ]
        assert 2 * len(shortened) > len(rows[mode])
        assert abs(len(without) / len(rows[mode]) - share) < 0.03
        for row in without:
            assert row["context_cut"] == bool(row["objects"])
            assert row["left_out"] or not row["context_cut"]
            object_names = [
                name
                for answer in row["objects"]
                for name in (answer["label"], *answer["aliases"])
                if len(name) > 3
            ]
            for name in object_names:
                assert not re.search(rf"\b{re.escape(name)}\b", row["context"])


def test_the_page_states_a_boundary_of_what_is_asked(rows: dict[str, list[dict[str, Any]]]) -> None:
    for mode in ("easy", "hard"):
        assert {row["evidence"] for row in rows[mode] if row["segment"]} == {"both", "one"}
        assert sum(len(row["objects"]) > 1 for row in rows[mode]) < 0.15 * len(rows[mode])


def test_probes_have_the_answers_of_their_question(rows: dict[str, list[dict[str, Any]]]) -> None:
    questions_by_id = {
        question_row["id"]: question_row for mode in ("easy", "hard") for question_row in rows[mode]
    }
    assert len(rows["consistency"]) > len(questions_by_id)
    for row in rows["consistency"]:
        question = questions_by_id[row["probe_of"]]
        assert row["objects"] == question["objects"]
        assert row["question"] != question["question"]


def test_without_text_a_release_has_offsets_and_checksums(sample: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "timeqa.yaml"
    text = (ROOT / "builders/recipes/timeqa.yaml").read_text("utf-8")
    text = text.replace("../../samples", str(ROOT / "samples"))
    recipe.write_text(text + "  text: false\n", "utf-8")
    shutil.copytree(sample / "build", tmp_path / "b")
    run_cli("release", recipe, "--out", tmp_path / "r", "--build", tmp_path / "b")
    full, without = (
        pq.read_table(folder / "timeqa/1.0.0/data/easy/train.parquet").to_pylist()
        for folder in (sample / "releases", tmp_path / "r")
    )
    assert [{**row, "context": ""} for row in full] == without


@pytest.mark.parametrize(("relations", "unasked"), [("[P54]", "P54"), ("[P286, P39]", "P39")])
def test_a_named_relation_without_questions_is_refused(
    tmp_path: Path, relations: str, unasked: str
) -> None:
    """It was left out without a word, and where it was the only one there was a traceback."""
    text = (ROOT / "builders/recipes/timeqa.yaml").read_text("utf-8").replace("../../", f"{ROOT}/")
    recipe = tmp_path / "mine.yaml"
    recipe.write_text(f"{text}  relations: {relations}\n", "utf-8")
    refused = run_cli(
        "release", recipe, "--out", tmp_path / "out", "--build", tmp_path / "b", ok=False
    )
    assert f"no questions to ask {unasked} with" in refused.stderr
