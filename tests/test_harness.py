"""A release in lm-eval and Inspect, as their users run them: the scores are `factdrift score`'s.

They are an extra (`harness`); without them the tests skip. The model is a server that speaks the
OpenAI protocol and gives known answers: right, right in other letters, in part, wrong.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from factdrift import score
from samples.quarters.simulated import asked_rows
from tests import tiny_model
from tests.conftest import run_cli
from tests.json_server import Reply, model_reply, serve_json
from tests.release_sample import Sample, cloze, publish

pytestmark = pytest.mark.slow
ANSWERS = ("Club {}", "the CLUB {}.", "Club one", "nobody")


@pytest.fixture(scope="module")
def release_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = {
        "unchanged": {
            "2020Q4": [cloze(row_number, period="2020Q4") for row_number in range(4)],
            "2021Q3": [*(cloze(row_number) for row_number in range(8)), cloze(8, targets=())],
            "2021Q4": [],
        },
        "new": {"2021": [cloze(1, "new", "2021")]},
    }
    return publish(tmp_path_factory.mktemp("harness"), Sample(rows)).folder


def said(prompt_text: str) -> str:
    """The answer to a prompt that names a person by number."""
    number = int(prompt_text.rsplit("Person ", 1)[1].split()[0])
    return "Unanswerable." if number == 8 else ANSWERS[number % 4].format(number)


def answer(_: BaseHTTPRequestHandler, request_body: Any) -> Reply:
    return model_reply(request_body, said, lead=" ")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serve_json(answer) as address:
        yield f"{address}/v1"


@pytest.fixture(scope="module")
def expected(release_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """What `factdrift score` says of the same answers, over the config `unchanged`."""
    rows = [row for _, _, row in asked_rows(release_folder, ["unchanged"])]
    assert len(rows) == 13
    given_answers = {row["id"]: said(row["prompt"]) for row in rows}
    release_scores = score(
        release_folder, given_answers, configs=["unchanged"], out=tmp_path_factory.mktemp("scores")
    )
    return {metric_name: release_scores.mean(metric_name) for metric_name in ("exact_match", "f1")}


def harness(*words: object, cwd: Path, **further_words: str) -> None:
    env = {**os.environ, "HF_HUB_OFFLINE": "1", **further_words}
    env.pop("PYTHONPATH", None)
    command = [sys.executable, "-m", *map(str, words)]
    completed_run = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True)
    assert completed_run.returncode == 0, (
        completed_run.stdout[-3000:] + completed_run.stderr[-3000:]
    )


def inspected(release_folder: Path, folder: Path, *words: str, **further_words: str) -> Any:
    """The log of Inspect with a model."""
    command = ["inspect_ai", "eval", "tasks/inspect/ask.py", "--model", *words]
    command += ["--log-dir", str(folder / "logs"), "--log-format", "json", "--display", "none"]
    further_words |= dict.fromkeys(("XDG_DATA_HOME", "HF_HOME"), str(folder))
    harness(*command, cwd=release_folder, PYTHONDONTWRITEBYTECODE="1", **further_words)
    (log_path,) = (folder / "logs").glob("*.json")
    return json.loads(log_path.read_text())


def test_lm_eval(
    release_folder: Path, server: str, expected: dict[str, float], tmp_path: Path
) -> None:
    if not find_spec("lm_eval"):
        pytest.skip("lm-eval is not installed (extra: harness)")
    run_cli("tasks", release_folder, "--for", "lm-eval", "--out", tmp_path)
    model = f"model=m,base_url={server}/completions,tokenizer_backend=None,tokenized_requests=False"
    words = ["lm_eval", "run", "--model", "local-completions", "--model_args", model]
    words += ["--include_path", str(tmp_path / "lm-eval"), "--tasks"]
    words += ["sample,sample-unchanged-by-split,sample-new-2021"]
    words += ["--output_path", str(tmp_path / "out")]
    harness(*words, cwd=tmp_path, OPENAI_API_KEY="x", HF_HOME=str(tmp_path))
    (log_path,) = (tmp_path / "out").rglob("results_*.json")
    results = json.loads(log_path.read_text())
    # a config is one task, and the group of its splits has the same means
    for mean_scores in (
        results["results"]["sample-unchanged"],
        results["groups"]["sample-unchanged-by-split"],
    ):
        release_scores = {name: mean_scores[f"{name},none"] for name in expected}
        assert release_scores == pytest.approx(expected)
    assert {"sample-unchanged-2020Q4", "sample-unchanged-2021Q3", "sample-new-2021"} <= set(
        results["results"]
    )


@pytest.mark.parametrize(("after", "rows"), [("", 13), ("2020-12-31", 9)])
def test_inspect(
    after: str,
    rows: int,
    release_folder: Path,
    server: str,
    expected: dict[str, float],
    tmp_path: Path,
) -> None:
    if not find_spec("inspect_ai"):
        pytest.skip("Inspect is not installed (extra: harness)")
    words = ["openai-api/local/m", "-T", "config=unchanged", "-T", "by=period"]
    words += ["-T", f"after={after}"] if after else []
    log = inspected(release_folder, tmp_path, *words, LOCAL_API_KEY="x", LOCAL_BASE_URL=server)
    assert len(log["samples"]) == rows
    scores = {
        score_record["name"]: score_record["metrics"]["mean"]["value"]
        for score_record in log["results"]["scores"]
    }
    if not after:
        assert scores.keys() == {*expected, "abstained", "outdated"}
        assert {name: scores[name] for name in expected} == pytest.approx(expected)


def test_inspect_with_a_model_of_this_machine(release_folder: Path, tmp_path: Path) -> None:
    if not find_spec("inspect_ai") or not find_spec("torch"):
        pytest.skip("Inspect or PyTorch is not installed (extras: harness, lm)")
    model = tiny_model.causal(tmp_path / "model", [])
    words = ("hf/local", "-M", f"model_path={model}", "-T", "config=new")
    assert inspected(release_folder, tmp_path, *words)["status"] == "success"
