"""FUAR: the paper's table, and series that have none."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from factdrift.builders.core.config import load
from factdrift.builders.core.errors import UserError
from factdrift.scoring.fuar import EXAMPLE, Series, fuar, series_scores
from tests.conftest import run_cli

TABLE = {
    # Jang et al. (2022), table 2: IL, UL, NL, FUAR; of the first row, T5-Initial, they are the base
    "T5-Initial": (24.17, 1.62, 1.88, "no gain"),
    "T5-Vanilla": (12.89, 10.17, 3.77, "1.08"),
    "T5-RecAdam": (13.20, 12.55, 4.02, "0.84"),
    "T5-MixReview": (13.92, 6.49, 2.89, "1.74"),
    "T5-LoRA": (16.58, 12.77, 4.52, "0.55"),
    "T5-Kadapters (k=2)": (19.59, 12.34, 5.03, "0.33"),
    "T5-Kadapters (k=3)": (19.76, 12.66, 4.02, "0.33"),
    "T5-Modular": (20.29, 12.66, 4.65, "0.28"),
}


def scores(scores_folder: Path, share: float, version: str = "1.0.0", **more: str) -> None:
    """A folder of scores with one mean."""
    scores_folder.mkdir(parents=True)
    mean_fields = dict.fromkeys(("config", "stratum", "value"), "all")
    mean: dict[str, object] = {
        **mean_fields,
        "dataset": "d",
        "split": None,
        "metric": "exact_match",
    }
    mean |= {"n": 100, "mean": share, "low": None, "high": None}
    score_summary = {"model": "m", "dataset": "d", "version": version, "table": [mean]}
    score_summary |= more
    (scores_folder / "scores.json").write_text(json.dumps(score_summary))


def series(scores_folder: Path, *models: tuple[float, ...]) -> Path:
    series_models = []
    for model_number, model in enumerate(models):
        for task, per_cent in zip(("il", "ul", "nl"), model, strict=True):
            scores(scores_folder / f"{model_number}/{task}", per_cent / 100)
        model_folders = {
            "forgotten": {0: f"{model_number}/il"},
            "updated": f"{model_number}/ul",
            "new": f"{model_number}/nl",
        }
        series_models.append(model_folders)
    path = scores_folder / "series.yaml"
    content = {"metric": "exact_match", "models": series_models}
    path.write_text(json.dumps(content).replace('"0"', "0"))  # YAML holds JSON
    return path


@pytest.mark.parametrize("name", TABLE)
def test_the_papers_table(tmp_path: Path, name: str) -> None:
    *old_scores, _ = TABLE["T5-Initial"]
    *new_scores, expected_figures = TABLE[name]
    error_text = run_cli("fuar", series(tmp_path, tuple(old_scores), tuple(new_scores))).stdout
    assert f"LM_1{new_scores[0]:>13.2f}{new_scores[1]:>9.2f}{new_scores[2]:>9.2f}\n" in error_text
    assert f"\nFUAR {expected_figures}: " in error_text
    as_json = json.loads(run_cli("fuar", "--json", tmp_path / "series.yaml").stdout)
    assert as_json["models"][1]["new"] == pytest.approx(new_scores[2])
    ratio = as_json["fuar"]["ratio"]
    assert expected_figures == ("no gain" if ratio is None else f"{ratio:.2f}")
    assert name != "T5-Vanilla" or error_text.endswith(": 11.28 forgotten, 10.44 gained\n")


@pytest.mark.parametrize(
    ("forgotten", "updated", "new", "ratio"),
    [
        ([{0: 10.0}, {0: 12.0}], [1.0, 3.0], [1.0, 1.0], 0.0),  # nothing forgotten
        ([{0: 10.0}, {0: 5.0}], [3.0, 1.0], [1.0, 1.0], None),  # no gain
        ([{0: 9.0}, {0: 8.0, 1: 6.0}, {0: 5.0, 1: 4.0}], [0, 1, 3], [0, 2, 2], 6 / 7),
        ([{0: 9.0}, {}, {0: 5.0}], [0, 1, 3], [0, 2, 2], 4 / 5),  # T_1^F is not defined
    ],
)
def test_longer_series(
    forgotten: list[Mapping[int, float]], updated: list[float], new: list[float], ratio: float
) -> None:
    found_ratio = fuar(forgotten, updated, new).ratio
    assert found_ratio == (ratio if ratio is None else pytest.approx(ratio))


def test_scores_that_do_not_belong_together_are_told(tmp_path: Path) -> None:
    file = series(tmp_path, (24.17, 1.62, 1.88), (12.89, 10.17, 3.77))
    scores(tmp_path / "other", 0.5, "2.0.0")
    scores(tmp_path / "rows", 0.5, release_sha256="a" * 64)
    text = file.read_text()
    for written_scores, message in (
        (text.replace("1/ul", "other"), r"scores of d 2\.0\.0, and those of other models are of"),
        (text.replace("1/ul", "rows"), "of other rows under the same name and version"),
        (text.replace("1/ul", "nowhere"), "there is no such folder"),
        (text.replace("exact_match", "f9"), "no 'f9' .*\n.* is one of exact_match"),
        ("models: []", "at least 2.*\n.*fuar --example"),
        ("scores: [a, b]", "fuar --example"),
    ):
        file.write_text(written_scores)
        with pytest.raises(UserError, match=message):
            series_scores(file)


def test_the_example_is_such_a_file(tmp_path: Path) -> None:
    printed = run_cli("fuar", "--example").stdout
    assert printed == EXAMPLE
    (tmp_path / "series.yaml").write_text(printed)
    before, after = load(tmp_path / "series.yaml", Series).models
    assert before.forgotten.keys() == after.forgotten.keys() == {0}
    assert (before.updated.config, after.updated.config) == (None, "updated")


Place = tuple[str | None, str | None]
SPLITS: dict[Place, float] = {("all", None): 0.5, ("all", "new"): 0.1, ("all", "old"): 0.9}
CONFIGS: dict[Place, float] = {
    (None, None): 0.5,
    ("unchanged", None): 0.9,
    ("updated", None): 0.2,
    ("updated", "2025Q1"): 0.3,
    ("new", None): 0.1,
}


def write_scores(scores_folder: Path, means: Mapping[Place, float], version: str = "1") -> None:
    """A folder of scores with a mean for each config and split."""
    scores_folder.mkdir(parents=True, exist_ok=True)
    common = {"dataset": "d", "stratum": "all", "value": "all", "metric": "exact_match", "n": 9}
    table = [
        {**common, "config": config, "split": split, "mean": mean, "low": None, "high": None}
        for (config, split), mean in means.items()
    ]
    score_summary = {"model": "m", "dataset": "d", "version": version, "table": table}
    (scores_folder / "scores.json").write_text(json.dumps(score_summary))


@pytest.mark.parametrize(
    ("means", "task", "score"),
    [
        (CONFIGS, "updated: s", 20),
        (CONFIGS, "new: s", 10),
        (CONFIGS, "forgotten: s", 90),
        (CONFIGS, "forgotten: {0: {scores: s, config: new}}", 10),
        (CONFIGS, "updated: {scores: s, config: updated, split: 2025Q1}", 30),
        (SPLITS, "new: s", 10),
        (SPLITS, "updated: s", 50),
        (SPLITS, "forgotten: {scores: s, split: old}", 90),
        # refused: all rows together would tell of another task
        (
            {(None, None): 0.5, ("a", None): 0.4, ("b", None): 0.6},
            "new: s",
            "several configs.*\n.* a, b",
        ),
        (CONFIGS, "new: {scores: s, config: newer}", "no 'newer'.*\n.* new, unchanged, updated"),
        (CONFIGS, "new: {scores: s, config: updated, split: x}", "splits of updated are 2025Q1"),
        (SPLITS, "new: {scores: s, split: newer}", "no 'newer'"),
    ],
)
def test_a_task_is_the_config_or_split_of_its_name(
    means: Mapping[Place, float], task: str, score: float | str, tmp_path: Path
) -> None:
    write_scores(tmp_path / "s", means)
    write_scores(tmp_path / "one", {("all", None): 0.7})
    task_name = task.partition(":")[0]
    tasks = dict.fromkeys(("forgotten", "updated", "new"), "one")
    lines = [task, *(f"{name}: {folder}" for name, folder in tasks.items() if name != task_name)]
    model = "{" + ", ".join(lines) + "}"
    (tmp_path / "series.yaml").write_text(f"models: [{model}, {model}]")
    if isinstance(score, str):
        with pytest.raises(UserError, match=score):
            series_scores(tmp_path / "series.yaml")
        return
    task_scores = series_scores(tmp_path / "series.yaml")
    values = {"forgotten": task_scores.forgotten[0].get(0), "updated": task_scores.updated[0]}
    assert {**values, "new": task_scores.new[0]}[task_name] == pytest.approx(score)


def test_models_are_asked_the_same_rows(tmp_path: Path) -> None:
    write_scores(tmp_path / "s", CONFIGS)
    model = "forgotten: s, updated: {scores: s, config: %s}, new: s"
    models = ", ".join(f"{{{model % config}}}" for config in ("updated", "new"))
    (tmp_path / "series.yaml").write_text(f"models: [{models}]")
    with pytest.raises(UserError, match=r"TnU: scores of d 1, new, and those of .* d 1, updated"):
        series_scores(tmp_path / "series.yaml")
