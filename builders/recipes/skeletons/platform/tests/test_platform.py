"""The platform as factdrift's kit checks it: a batch goes out, and its results are recognised."""

import json
from pathlib import Path

from my_platform.platform import MyPlatform

from factdrift.testing import check_platform


def results(exported: Path, into: Path) -> Path:
    """What the site would return after one worker has answered the first HIT."""
    task = json.loads((exported / "tasks.json").read_text("utf-8"))[0]
    answers = {item: {"verdict": "good"} for item in task["items"]}
    line = {"my_platform_task": task["my_platform_task"], "worker": "w1", "answers": answers}
    path = into / "results.jsonl"
    path.write_text(json.dumps(line) + "\n", "utf-8")
    return path


def test_a_batch_and_its_results(tmp_path: Path) -> None:
    submissions = check_platform(MyPlatform(), tmp_path, results)
    assert [submission.worker for submission in submissions] == ["w1"]
