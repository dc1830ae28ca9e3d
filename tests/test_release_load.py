"""A release as its users load it: `datasets`, offline, every config and split."""

import os
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.release.manifest import load
from tests.release_sample import BASE, Sample, cloze, publish

SPLITS = ("2021Q3", "2021M07", "2021")


@pytest.fixture(scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The library, offline, with a cache of its own."""
    names = ("HF_HUB_OFFLINE", "HF_HOME", "HF_DATASETS_CACHE", "HF_DATASETS_DISABLE_PROGRESS_BARS")
    before = {name: os.environ.get(name) for name in names}
    home = tmp_path_factory.mktemp("hf")
    os.environ |= dict(zip(names, ("1", str(home), str(home / "datasets"), "1"), strict=True))
    import datasets

    datasets.config.HF_DATASETS_CACHE = home / "datasets"
    yield datasets
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = {
        **BASE,
        "new": {
            "2021Q3": [cloze(1, "new")],
            "2021M07": [cloze(2, "new", "2021M07"), cloze(1, "new", "2021M07")],
            "2021": [cloze(3, "new", "2021", subject_label='<b>"`|\n')],
        },
        "deleted": {"2021Q3": [], "2021Q4": []},
    }
    return publish(tmp_path_factory.mktemp("load"), Sample(rows)).folder


def test_every_split_loads(datasets: Any, release: Path) -> None:
    loaded = {
        (name, split): rows.num_rows
        for name in datasets.get_dataset_config_names(str(release))
        for split, rows in datasets.load_dataset(str(release), name).items()
    }
    expected = {(c.name, s.name): s.rows for c in load(release).configs for s in c.splits if s.rows}
    assert loaded == {**expected, ("dropped", "dropped"): 2}
    for split in SPLITS:
        rows = datasets.load_dataset(str(release), "new", split=split)
        assert rows.num_rows == expected["new", split]


def test_values(datasets: Any, release: Path) -> None:
    row = datasets.load_dataset(str(release), "new", split="2021")[0]
    assert row["subject_label"] == '<b>"`|\n'
    assert row["period_first"] == date(2021, 1, 1)
    assert row["answers"] == [{"id": "Q1003", "label": "Club 3", "aliases": ["C3", "the club"]}]
    assert row["answer_tokens"] == [3]


def test_the_first_config_is_the_default(datasets: Any, release: Path) -> None:
    assert datasets.load_dataset(str(release), split="2021Q3").num_rows == 5


def test_why_empty_splits_are_not_listed(datasets: Any, release: Path) -> None:
    """When `datasets` learns to load them, they can be listed: `card.hub_configs`."""
    files = {"full": "data/unchanged/2021Q3.parquet", "empty": "data/deleted/2021Q3.parquet"}
    with pytest.raises(ValueError, match="corresponds to no data"):
        datasets.load_dataset("parquet", data_dir=str(release), data_files=files)
