"""A living benchmark rehearsed: four quarterly dumps, four releases by the example workflow."""

import os
import re
import sys
from datetime import date
from pathlib import Path

import pytest
import yaml

from factdrift.builders.release.manifest import load_manifest
from factdrift.scoring.score import ScoreOptions, score_predictions
from samples.quarters.make import DAYS, build
from samples.quarters.simulated import predict, stops_on
from samples.wikidata.make import MistakeError
from tests.conftest import ROOT, run_cli, run_process
from tests.tables import names_of

RECIPE = ROOT / "samples/quarters/recipe.yaml"
NAME = "dynamic-templama-quarters"
HEADS = "P6"
"""The relation of the workflow's year: heads of government."""


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("{item: Nowhere, relation: P6, object: Nobody, said: absent}", "0 such facts"),
        (
            "{item: Japan, relation: P6, object: Shigeru Ishiba}",
            "day, item, relation, object, said",
        ),
        ("{item: Japan, relation: P6, object: Shigeru Ishiba, said: soon}", "is no date"),
    ],
)
def test_a_mistake_in_the_corrections_is_told(tmp_path: Path, line: str, error: str) -> None:
    path = tmp_path / "corrections.yaml"
    path.write_text(f"20250707:\n  - {line}\n", "utf-8")
    with pytest.raises(MistakeError, match=error):
        build(path)


def shell(text: str, folder: Path, env: dict[str, str]) -> None:
    run_process("bash", "-euo", "pipefail", "-c", text, cwd=folder, env=env)


@pytest.fixture
def shop(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A folder with the samples, and `factdrift` and `python` on the path."""
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, program_words in {"python": "", "factdrift": "-m factdrift"}.items():
        (tools / name).write_text(f'#!/bin/sh\nexec {sys.executable} {program_words} "$@"\n')
        (tools / name).chmod(0o755)
    return tmp_path, {"PATH": f"{tools}:{os.environ['PATH']}"}


@pytest.mark.slow
def test_the_walk_runs_as_it_is_written(shop: tuple[Path, dict[str, str]]) -> None:
    folder, shop_environment = shop
    text = (ROOT / "samples/quarters/README.md").read_text("utf-8")
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S):
        shell(block, folder, shop_environment)
    assert (folder / "report/report.html").is_file()
    counted = re.findall(r"^\| (\d\.0\.0) \| .* \| ([\d,]+) \| [\d,]+ \| ([\d,]+) \|$", text, re.M)
    for version, added, measured in counted:
        old_version = f"{int(version[0]) - 1}.0.0"
        shelf = folder / "releases" / NAME
        printed_text = run_cli("diff", shelf / old_version, shelf / version).stdout
        assert f"{added} rows added".replace(",", "") in printed_text
        assert f"{measured} rows measured anew".replace(",", "") in printed_text
    assert len(counted) == 3


@pytest.mark.slow
def test_the_example_workflow_makes_the_year(shop: tuple[Path, dict[str, str]]) -> None:
    """Each dump adds a quarter, and a model of the first one grows stale."""
    folder, shop_environment = shop
    workflow = yaml.safe_load((ROOT / "samples/workflows/rebuild.yml").read_text("utf-8"))
    steps = {
        workflow_step["name"]: workflow_step["run"]
        for workflow_step in workflow["jobs"]["rebuild"]["steps"]
        if "name" in workflow_step
    }
    shop_environment |= {
        "RECIPE": "recipe.yaml",
        "DATASET": NAME,
        "OLD": "",
        "GITHUB_ENV": str(folder / "env"),
    }
    recipe = yaml.safe_load(RECIPE.read_text("utf-8"))
    recipe["build"]["relations"] = [HEADS]
    (folder / "recipe.yaml").write_text(yaml.safe_dump(recipe), "utf-8")
    for name, file_content in build(only={HEADS}).items():
        (folder / name).write_bytes(file_content)
        shell(steps["Build"], folder, shop_environment | {"DUMP": name})
        shop_environment |= dict(re.findall(r"^(\w+)=(.*)$", (folder / "env").read_text(), re.M))
        shell(steps["Say what changed"], folder, shop_environment)
        notes = (folder / "notes.md").read_text("utf-8")
        expected_notes = (
            f"# {NAME} {shop_environment['NEW']}\n"
            if shop_environment["OLD"]
            else "The first release.\n"
        )
        assert notes.startswith(expected_notes)
        shop_environment["OLD"] = shop_environment["NEW"]
    assert (
        shop_environment["NEW"].startswith("4.")
        and (folder / f"changes-{shop_environment['NEW']}.parquet").is_file()
    )

    quarters, stale = [f"2025Q{quarter_number}" for quarter_number in (1, 2, 3, 4)], []
    releases = sorted((folder / "releases" / NAME).iterdir())
    knows = stops_on(releases[0], date(2025, 4, 7))
    for release, quarter, day in zip(releases, quarters, DAYS, strict=True):
        manifest = load_manifest(release)
        config = manifest.config("updated")
        assert config and max(names_of(config.splits)) == quarter
        assert manifest.inputs[0].snapshot == date.fromisoformat(day)
        file = predict(release, folder / f"{release.name}.jsonl", knows)
        scores_folder = folder / "scores" / release.name
        score_options = ScoreOptions(
            release=release, file=file, out=scores_folder, model="simulated", say=lambda _: None
        )
        expected_row = ("updated", None, "all", "outdated")
        score_table = score_predictions(score_options).table
        stale += [
            score_row.mean
            for score_row in score_table
            if (score_row.config, score_row.split, score_row.stratum, score_row.metric)
            == expected_row
        ]
    assert stale[0] == 0 and stale[-1] > 0.05
    assert stale == sorted(stale) and len(stale) == 4
