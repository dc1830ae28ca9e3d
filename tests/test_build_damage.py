"""Flipped bits and cuts anywhere in `build/`: the same release, or a message; never another one."""

import json
from pathlib import Path

import pytest

from tests.conftest import CAMPAIGNS, ROOT
from torture.damage import SampleBuild, build_samples

CASES = 200
"""The flips and cuts of a whole campaign, over the sample recipes in turn."""


@pytest.mark.slow
@pytest.mark.parametrize("dataset", ["temporal-facts", "dynamic-templama"])
def test_some_damage_to_the_build_of_a_sample(sample: Path, tmp_path: Path, dataset: str) -> None:
    build = SampleBuild(sample, tmp_path / "work", (dataset,))
    for case_number in range(10):
        damage_outcome = build.try_case(case_number, seed=7)
        assert not damage_outcome.losses, damage_outcome


@pytest.mark.slow
@pytest.mark.skipif(not CAMPAIGNS, reason="a campaign of an hour or more: set CAMPAIGNS=1")
def test_much_damage_to_the_builds_of_all_samples() -> None:
    """It takes an hour; one that is stopped goes on where it was, unless a step is another now."""
    folder = ROOT / "build/torture/damage"
    build_samples(folder)
    build = SampleBuild(folder, folder / "work")
    journal = folder / "cases.jsonl"
    lines = journal.read_text("utf-8").splitlines() if journal.is_file() else []
    tried = [entry for entry in map(json.loads, lines) if entry["build"] == build.identity]
    with journal.open("a", encoding="utf-8") as file:
        for case_number in range(len(tried), CASES):
            damage_outcome = build.try_case(case_number)
            entry = {
                "build": build.identity,
                "kind": damage_outcome.kind,
                "losses": damage_outcome.losses,
            }
            tried.append(entry)
            file.write(json.dumps(entry) + "\n")
            file.flush()
    assert [entry["losses"] for entry in tried if entry["losses"]] == []
