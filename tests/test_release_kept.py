"""A release of version 0.2 still verifies, scores, exports and rebuilds with today's code.

`tests/releases_0_2` holds the release, its inputs, and what version 0.2 made of them.
"""

import tarfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from factdrift.builders.release.rebuild import rebuild_release
from factdrift.builders.release.release import ReleaseOptions
from factdrift.builders.release.verify import verify_release
from factdrift.scoring.score import ScoreOptions, score_predictions
from tests.conftest import run_cli

KEPT = Path(__file__).with_name("releases_0_2")


@pytest.fixture(scope="module")
def kept_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    release_folder = tmp_path_factory.mktemp("kept")
    with tarfile.open(KEPT / "release.tar.xz") as archive:
        archive.extractall(release_folder, filter="data")
    return release_folder


def test_it_verifies(kept_release: Path) -> None:
    assert verify_release(kept_release) == []


def test_predictions_score_the_same(kept_release: Path, tmp_path: Path) -> None:
    """The overall means of every config, with their intervals."""
    score_options = ScoreOptions(
        release=kept_release, file=KEPT / "predictions.jsonl", out=tmp_path, model="kept"
    )
    means = score_predictions(score_options).table
    csv_lines = ["config\tmetric\trows\tmean\tlow\thigh"]
    for mean in means:
        if (mean.split, mean.stratum) == (None, "all"):
            figures = (mean.config, mean.metric, mean.n, mean.mean, mean.low, mean.high)
            csv_lines.append(
                "\t".join("" if mean_value is None else str(mean_value) for mean_value in figures)
            )
    assert csv_lines == (KEPT / "figures.tsv").read_text("utf-8").splitlines()


def test_it_exports_the_same(kept_release: Path, tmp_path: Path) -> None:
    run_cli("export", kept_release, "--format", "dynamic-templama", "--to", tmp_path)
    expected_bytes = (KEPT / "dynamic-templama.jsonl").read_bytes()
    assert (tmp_path / "test.jsonl").read_bytes() == expected_bytes


@pytest.mark.slow
def test_it_rebuilds_to_equal_data_files(kept_release: Path, tmp_path: Path) -> None:
    """Equal in types and rows, but for columns that came later.

    The bytes also tell the version of the Parquet library.
    """
    release_options = ReleaseOptions(
        {"dump": [str(KEPT / "wikidata-20220103-all.json")]},
        build=tmp_path / "build",
        templates=KEPT / "templates",
        say=lambda csv_line: None,
        out=tmp_path / "again",
        jobs=1,
    )
    differing = rebuild_release(kept_release, release_options)
    earlier_mean = sorted(
        release_file.relative_to(kept_release) for release_file in kept_release.rglob("*.parquet")
    )
    rebuilt = tmp_path / "again/kept/1.0.0"
    assert earlier_mean == sorted(
        release_file.relative_to(rebuilt) for release_file in rebuilt.rglob("*.parquet")
    )
    for release_file in earlier_mean:
        old_rows, new_rows = (
            pq.read_table(release_folder / release_file)
            for release_folder in (kept_release, rebuilt)
        )
        assert new_rows.select(old_rows.column_names).equals(old_rows), release_file
    # only documents and code for harnesses may differ, and the user's own templates are there now
    data_lines = [
        csv_line for csv_line in differing if not csv_line.startswith(("tasks/", "templates/"))
    ]
    assert all(csv_line.endswith(": differs") for csv_line in data_lines), differing
