"""A release as tasks of Inspect: `inspect eval ask.py -T config=… -T split=… -T after=2024-06-30`.

It needs Inspect and `datasets`, the files beside it, and the release two folders above.
"""

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import after as cutoff
import datasets
import judge
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Score, Target, grouped, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate

HERE = Path(__file__).resolve().parent
SETTINGS = json.loads((HERE / "tasks.json").read_text("utf-8"))
"""Which columns are read for what, which files hold them, where these are."""

METRICS = ("exact_match", "f1", "outdated", "early", "abstained")
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
        for row in _rows([asked["files"][name] for name in chosen])
        if not last or cutoff.is_after(row, date.fromisoformat(last), asked["time"])
    ]
    rows.sort(key=lambda row: cutoff.order_key(row["id"]))
    metrics = [mean(), stderr(cluster="subject"), *([grouped(mean(), by)] if by else [])]
    return Task(
        name="_".join([SETTINGS["dataset"], config, str(split)]).rstrip("_"),
        version=SETTINGS["version"],
        dataset=MemoryDataset([_sample(row, config) for row in rows], name=SETTINGS["dataset"]),
        solver=[generate()],
        scorer=judged(),
        metrics=dict.fromkeys(asked["metrics"], metrics),
        config=GenerateConfig(max_tokens=SETTINGS["max_tokens"], temperature=LEAST),
    )


def _rows(files: list[str]) -> Any:
    """The rows of some files of a release, at an address or in a folder."""
    data = SETTINGS["data"]
    place = data if "://" in data else str((HERE / data).resolve())
    paths = [f"{place}/{file}" for file in files]
    return datasets.load_dataset("parquet", data_files={"test": paths}, split="test")


def _sample(row: dict[str, Any], config: str) -> Sample:
    asked = SETTINGS["configs"][config]
    strata = {name: cutoff.inside(row, name) for name in asked["strata"]}
    context = row[asked["context"]] if asked["context"] else ""
    slots = {"<context>": context or "", "<prompt>": row[asked["prompt"]]}
    heads, relation = asked["heads"], row[asked["relation"]] if asked["relation"] else ""
    put = re.sub("<context>|<prompt>", lambda slot: slots[slot[0]], asked["layout"])
    names = judge.answers_of(row, config)
    return Sample(
        id=row["id"],
        input=f"{heads.get(relation, heads[''])}\n\n{put}",
        target=names["targets"],
        metadata={**strata, "subject": cutoff.inside(row, asked["subject"]), "names": names},
    )


@scorer(metrics={"exact_match": [mean(), stderr()], "f1": [mean(), stderr()]})
def judged() -> Any:
    """What `factdrift score` says of each answer; a metric that a row cannot have is no number."""

    async def score(state: TaskState, target: Target) -> Score:
        answer, names = state.output.completion.strip(), state.metadata["names"]
        marks = judge.marks_of(answer, names)
        value = {name: marks.get(name, float("nan")) for name in METRICS}
        verdict = judge.squad.verdict(answer, **names)
        return Score(value=value, answer=answer, metadata={"verdict": verdict})

    return score
