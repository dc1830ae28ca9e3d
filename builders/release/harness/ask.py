"""A release as tasks of Inspect: `inspect eval ask.py -T config=… -T split=… -T after=2024-06-30`.

It needs Inspect and `datasets`, the two files beside it, and the release two folders above.
"""

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import after as cutoff
import datasets
import squad
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Score, Target, grouped, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate, system_message

HERE = Path(__file__).resolve().parent
TOLD = json.loads((HERE / "tasks.json").read_text("utf-8"))
"""Which columns are read for what, which files hold them, where these are."""


@task
def ask(config: str = "", split: str = "", after: str = "", data: str = "", by: str = "") -> Task:
    """The rows of a config, in all its splits or in one.

    `after`: a day; rows that ask about a time up to it are left out. `data`: the folder of the
    release, or its address. `by`: a column of which each value gets a score.
    """
    config = config or next(iter(TOLD["configs"]))
    told = TOLD["configs"][config]
    chosen = [str(split)] if split != "" else list(told["files"])
    last = str(after or TOLD["after"])
    rows = [
        row
        for row in _rows(data or TOLD["data"], [told["files"][one] for one in chosen])
        if not last or cutoff.is_after(row, date.fromisoformat(last), told["time"])
    ]
    metrics = [mean(), stderr(cluster="subject"), *([grouped(mean(), by)] if by else [])]
    return Task(
        name="_".join([TOLD["dataset"], config, str(split)]).rstrip("_"),
        version=TOLD["version"],
        dataset=MemoryDataset([_sample(row, told) for row in rows], name=TOLD["dataset"]),
        solver=[system_message(told["instruction"]), generate()],
        scorer=words_right(),
        metrics={"exact_match": metrics, "f1": metrics},
        config=GenerateConfig(max_tokens=TOLD["max_tokens"], temperature=0.0),
    )


def _rows(data: str, files: list[str]) -> Any:
    """The rows of some files of a release, at an address or in a folder."""
    place = data if "://" in data else str((HERE / data).resolve())
    paths = [f"{place}/{file}" for file in files]
    return datasets.load_dataset("parquet", data_files={"test": paths}, split="test")


def _sample(row: dict[str, Any], told: dict[str, Any]) -> Sample:
    kept = {name: _inside(row, name) for name in told["strata"]}
    context = row[told["context"]] if told["context"] else ""
    slots = {"<context>": context or "", "<prompt>": row[told["prompt"]]}
    return Sample(
        id=row["id"],
        input=re.sub("<context>|<prompt>", lambda slot: slots[slot[0]], told["layout"]),
        target=row[told["targets"]],
        metadata={**kept, "subject": _inside(row, told["subject"])},
    )


def _inside(row: dict[str, Any], name: str) -> Any:
    value: Any = row
    for part in name.split("."):
        value = value[part]
    return value


@scorer(metrics={"exact_match": [mean(), stderr()], "f1": [mean(), stderr()]})
def words_right() -> Any:
    """Exact match and token F1, the best over the accepted answers."""

    async def score(state: TaskState, target: Target) -> Score:
        said = state.output.completion.strip()
        targets = [one for one in target.target if one]
        value = {"exact_match": squad.exact_match(said, targets), "f1": squad.f1(said, targets)}
        return Score(value=value, answer=said)

    return score
