"""A check for the tests of datasets in other packages.

    from factdrift.testing import check_dataset

    def test_the_sample(tmp_path):
        release = check_dataset("two-hop", tmp_path)

A failure is an `AssertionError` with a message for the author of the dataset.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from factdrift.api import DatasetRelease, ReleaseConfig, open_release

_BUILD_SETTINGS = (("0", 1), ("1", 2))
"""Seeds of Python's hashes and numbers of processes, neither of which may change the release."""


def check_dataset(recipe: str | Path, folder: Path) -> DatasetRelease:
    """Build the sample of a recipe twice, check both releases, and return the first.

    The releases must have the same bytes with another hash seed and number of processes, and must
    agree with their manifests. Their rows must have what is needed to prompt a model and to score
    its answers. `recipe` is a path, or the name of a dataset in an installed package. `folder` is
    an empty folder to work in.
    """
    releases = [
        open_release(_built(recipe, folder / seed, seed, jobs)) for seed, jobs in _BUILD_SETTINGS
    ]
    for built_release in releases:
        assert not (problems := built_release.problems()), "\n".join(problems)
    release, second_release = releases
    sums_by_build = [built_release.manifest.sha256s() for built_release in releases]
    differing_paths = _differing_paths(*sums_by_build)
    assert not differing_paths, (
        f"files that differ between two builds: {', '.join(differing_paths)}"
    )
    assert release.manifest == second_release.manifest, "the manifests of two builds differ"
    asking_configs = [config for config in release.configs.values() if config.asks]
    assert asking_configs, "no config asks anything: a row type needs id, prompt and targets"
    for config in asking_configs:
        _check_rows(config)
    return release


def _differing_paths(first_sums: Mapping[str, str], second_sums: Mapping[str, str]) -> list[str]:
    """Return the paths whose checksums differ, or that are in one of two builds only."""
    differing_files = set(first_sums.items()) ^ set(second_sums.items())
    return sorted({path for path, _ in differing_files})


def _built(recipe: str | Path, folder: Path, seed: str, jobs: int) -> Path:
    """Build a release in a new process and return its folder."""
    command_line = [sys.executable, "-m", "factdrift", "release", str(recipe), "--jobs", str(jobs)]
    command_line += ["--out", str(folder / "releases"), "--build", str(folder / "build")]
    python_path = os.pathsep.join(path for path in sys.path if path)
    environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": python_path}
    completed = subprocess.run(command_line, env=environment, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    (manifest_path,) = (folder / "releases").glob("*/*/manifest.json")
    return manifest_path.parent


def _check_rows(config: ReleaseConfig) -> None:
    """Check that ids and targets are unique, and that no prompt, target or subject is missing."""
    roles = config.entry.roles
    assert roles is not None
    row_ids: set[str] = set()
    for row in config.rows():
        place = f"{config.name}/{row.split}: {row.id}"
        assert row.id and row.id not in row_ids, f"{place}: the id is empty or there twice"
        row_ids.add(row.id)
        assert row.prompt.strip(), f"{place}: the prompt is empty"
        assert all(target.strip() for target in row.targets), f"{place}: a target is empty"
        assert len(set(row.targets)) == len(row.targets), f"{place}: a target is there twice"
        subject_column = roles.subject.partition(".")[0]
        assert row.values[subject_column] is not None, f"{place}: {subject_column} is null"
    assert row_ids, f"{config.name} has no row"
