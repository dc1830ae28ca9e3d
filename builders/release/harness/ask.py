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
from inspect_ai.solver import TaskState, generate

HERE = Path(__file__).resolve().parent
SETTINGS = json.loads((HERE / "tasks.json").read_text("utf-8"))
"""Which columns are read for what, which files hold them, where these are."""

LEAST = 1e-6
"""A temperature that takes the likeliest word; models of `hf/` refuse 0."""


@task
def ask(config: str = "", split: str = "", after: str = "", by: str = "") -> Task:
    """The rows of a config, in all its splits or in one.

    `after`: a day; rows that ask about a time up to it are left out. `by`: a column of which each
    value gets a score.
    """
    config = config or next(iter(SETTINGS["configs"]))
    asked = SETTINGS["configs"][config]
    chosen = [str(split)] if split != "" else list(asked["files"])
    last = str(after or SETTINGS["after"])
    rows = [
        row
        for row in _rows([asked["files"][one] for one in chosen])
        if not last or cutoff.is_after(row, date.fromisoformat(last), asked["time"])
    ]
    metrics = [mean(), stderr(cluster="subject"), *([grouped(mean(), by)] if by else [])]
    return Task(
        name="_".join([SETTINGS["dataset"], config, str(split)]).rstrip("_"),
        version=SETTINGS["version"],
        dataset=MemoryDataset([_sample(row, asked) for row in rows], name=SETTINGS["dataset"]),
        solver=[generate()],
        scorer=words_right(),
        metrics={"exact_match": metrics, "f1": metrics},
        config=GenerateConfig(max_tokens=SETTINGS["max_tokens"], temperature=LEAST),
    )


def _rows(files: list[str]) -> Any:
    """The rows of some files of a release, at an address or in a folder."""
    data = SETTINGS["data"]
    place = data if "://" in data else str((HERE / data).resolve())
    paths = [f"{place}/{file}" for file in files]
    return datasets.load_dataset("parquet", data_files={"test": paths}, split="test")


def _sample(row: dict[str, Any], asked: dict[str, Any]) -> Sample:
    kept = {name: _inside(row, name) for name in asked["strata"]}
    context = row[asked["context"]] if asked["context"] else ""
    slots = {"<context>": context or "", "<prompt>": row[asked["prompt"]]}
    heads, relation = asked["heads"], row[asked["relation"]] if asked["relation"] else ""
    put = re.sub("<context>|<prompt>", lambda slot: slots[slot[0]], asked["layout"])
    return Sample(
        id=row["id"],
        input=f"{heads.get(relation, heads[''])}\n\n{put}",
        target=row[asked["targets"]],
        metadata={**kept, "subject": _inside(row, asked["subject"])},
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
        answer = state.output.completion.strip()
        targets = [one for one in target.target if one]
        value = {"exact_match": squad.exact_match(answer, targets), "f1": squad.f1(answer, targets)}
        return Score(value=value, answer=answer)

    return score
