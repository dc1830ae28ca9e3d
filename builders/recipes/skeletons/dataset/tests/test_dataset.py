"""The dataset as factdrift's kit checks it, and what of its rows a person can foresee."""

from pathlib import Path

from factdrift.testing import check_dataset


def test_the_sample(tmp_path: Path) -> None:
    release = check_dataset("my-dataset", tmp_path)
    rows = {row.prompt: row.targets for row in release.rows()}
    assert rows == {
        "On 2023-06-30: Ann Example plays for _X_.": ("Club One", "C1"),
        "On 2024-06-30: Ann Example plays for _X_.": ("Club Two",),
    }
