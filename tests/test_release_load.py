"""A release as its users load it: `datasets`, offline, every config and split."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.release.manifest import load
from tests.release_sample import BASE, Sample, cloze, publish

SPLITS = ("2021Q3", "2021M07", "2021")


@pytest.fixture
def datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The library, offline, with a cache of its own."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "datasets")
    return datasets


@pytest.fixture
def release(tmp_path: Path) -> Path:
    rows = {
        **BASE,
        "new": {
            "2021Q3": [cloze(1, "new")],
            "2021M07": [cloze(2, "new", "2021M07"), cloze(1, "new", "2021M07")],
            "2021": [cloze(3, "new", "2021", subject_label='<b>"`|\n')],
        },
        "deleted": {"2021Q3": [], "2021Q4": []},
    }
    return publish(tmp_path, Sample(rows)).folder


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
    row = rows[0]
    assert row["subject_label"] == '<b>"`|\n'
    assert row["period_first"] == date(2021, 1, 1)
    assert row["answers"] == [{"id": "Q1003", "label": "Club 3", "aliases": ["C3", "the club"]}]
    assert row["answer_tokens"] == [3]
    assert datasets.load_dataset(str(release), split="2021Q3").num_rows == 5  # of the first config
