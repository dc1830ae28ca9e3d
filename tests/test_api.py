"""The public interface; the example of the package runs in `test_package`."""

from pathlib import Path
from typing import Any

import pytest

import factdrift
from factdrift import DatasetRelease, UserError, open_release, score
from tests.release_sample import BASE, Sample, cloze, publish


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> DatasetRelease:
    release_rows = {**BASE, "new": {"2021Q3": [cloze(1, "new", targets=())]}}
    return open_release(publish(tmp_path_factory.mktemp("api"), Sample(release_rows)).folder)


def test_what_is_public_is_listed_and_documented() -> None:
    assert set(factdrift.__all__) < set(dir(factdrift))
    for name in factdrift.__all__:
        assert getattr(factdrift, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'builds'"):
        factdrift.builds  # noqa: B018


def test_a_release_has_typed_rows(release: DatasetRelease) -> None:
    assert (release.dataset, release.version, release.problems()) == ("sample", "1.0.0", [])
    assert {
        config_name: (release_config.asks, dict(release_config.splits))
        for config_name, release_config in release.configs.items()
    } == {
        "unchanged": (True, {"2021Q3": 5, "2021Q4": 5}),
        "updated": (True, {"2021Q3": 1, "2021Q4": 0}),
        "segments": (False, {"all_time": 4}),
        "new": (True, {"2021Q3": 1}),
    }
    config = release.configs["updated"]
    assert (config.name, config.description) == ("updated", "Rows that are `updated`.")
    (row,) = config.rows()
    assert (row.id, row.config, row.split) == ("0007-2021Q3", "updated", "2021Q3")
    assert (row.targets, row.context) == (("Club 7", "C7", "the club"), None)
    assert (row.prompt, row.values["sitelinks"]) == (cloze(7).prompt, 7)
    assert [release_row.targets for release_row in release.configs["new"].rows()] == [()]
    assert len(list(release.configs["unchanged"].rows("2021Q4"))) == 5
    assert len(list(release.rows())) == 12
    assert next(release.configs["segments"].records())["subject"] == "Q1"


@pytest.mark.parametrize("folder", ["", "nothing"])
def test_what_is_no_release(tmp_path: Path, folder: str) -> None:
    with pytest.raises(UserError, match="is this a release folder"):
        open_release(tmp_path / folder)


def test_what_a_config_refuses(release: DatasetRelease) -> None:
    with pytest.raises(UserError, match="rows of segments ask nothing"):
        next(release.configs["segments"].rows())
    with pytest.raises(UserError, match=r"updated has no split '2020'\s+there are 2021Q3, 2021Q4"):
        next(release.configs["updated"].rows("2020"))


def test_predictions_are_scored(release: DatasetRelease, tmp_path: Path) -> None:
    score_options: dict[str, Any] = {"out": tmp_path / "scores", "say": lambda line: None}
    known_answers = {row.id: "Club 0" for row in release.configs["unchanged"].rows()}
    found_scores = score(release, known_answers, configs=["unchanged"], **score_options)
    assert found_scores.mean("exact_match") == found_scores.mean("exact_match", "unchanged") == 0.2
    assert found_scores.folder == tmp_path / "scores"
    assert {mean.n for mean in found_scores.table if mean.split == "2021Q3"} == {5}
    with pytest.raises(UserError, match=r"no 'bleu' of unchanged\s+there are exact_match, f1"):
        found_scores.mean("bleu", "unchanged")
    known_answers |= {row.id: "Club 7" for row in release.configs["updated"].rows()}
    both = score(release.folder, known_answers, configs=["unchanged", "updated"], **score_options)
    assert both.mean("exact_match") == pytest.approx(3 / 11, abs=1e-4)
    assert both.mean("exact_match", "updated") == 1
    with pytest.raises(UserError, match="no prediction for 4 rows of splits"):
        score(release, {"0000-2021Q3": "x"}, **score_options)
    partial = score(release, {"0000-2021Q3": "x"}, partial=True, **score_options)
    assert partial.mean("exact_match") == 0
